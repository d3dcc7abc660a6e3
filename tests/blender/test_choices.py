"""The items of choices: each choice of the table is offered, and its items are different."""

import re
from collections import defaultdict
from pathlib import Path

from usdphys_ext.usdphys_addon.bridge import choices
from usdphys_ext.usdphys_addon.core import tables

ROOT = Path(__file__).resolve().parents[2]


def test_every_choice_of_the_table_is_offered_and_no_item_twice():
    items = defaultdict(list)
    for row in tables.rows(Path(choices.__file__).with_suffix(".tsv")):
        items[row["choice"]].append(row["identifier"])
    assert all(len(set(names)) == len(names) > 1 for names in items.values())
    code = [path.read_text(encoding="utf-8") for folder in ("operators", "usdphys_addon") for path in
            (ROOT / folder).rglob("*.py")] + [(ROOT / "preferences.py").read_text(encoding="utf-8")]  # fmt: skip
    offered = {name for text in code for name in re.findall(r'items_of\("([^"]+)"\)', text)}
    assert offered == items.keys()


def test_items_are_in_the_order_of_the_table():
    assert [identifier for identifier, _, _ in choices.items_of("purpose of a collider")] == [
        "AUTO", "DEFAULT", "GUIDE", "PROXY", "RENDER"
    ]  # fmt: skip
