# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists the texts that a window shows in English whatever its language is: they have no line in operators/*.tsv.

    .venv/bin/python scripts/untranslated.py [--all]

`make check` runs it, and nothing fails for what it lists. Labels and tooltips are read from the registered extension,
which needs bpy; with another Python only messages are listed. Without --all, at most 20 texts of a language and a file.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import message_texts
from bench import load_extension
from message_texts import NO_WORDS, is_sentence, shape

ROOT = Path(__file__).resolve().parent.parent
LABELS, TOOLTIPS, REPORTS = TABLES = ("labels.tsv", "tooltips.tsv", "reports.tsv")
#: Lines that are printed of a language and a file.
MOST = 20


class Missing(NamedTuple):
    """A text without a translation. table: the file that its line belongs to. place: where the code has it."""

    table: str
    text: str
    place: str = ""


@cache
def rows(table: str) -> dict[str, tuple[str, ...]]:
    """English text -> its translations, one for each language; "" where there is none."""
    languages, found = len(language_columns()), {}
    for line in (ROOT / "operators" / table).read_text(encoding="utf-8").splitlines():
        english, *others = line.split("\t")
        found[english] = tuple([*others, *[""] * languages][:languages])
    return found


def language_columns() -> dict[str, int]:
    """Columns of the files by language."""
    return _constant("LANGUAGES")


def own_files() -> list[str]:
    """Names of the files that hold one language."""
    return sorted(set(_constant("OWN_FILES").values()))


def _constant(name: str) -> dict[str, Any]:
    """A table of operators/translations.py, which cannot be imported without bpy."""
    text = (ROOT / "operators" / "translations.py").read_text(encoding="utf-8")
    found = re.search(rf"^{name} = (\{{.*\}})$", text, re.MULTILINE)
    assert found is not None
    table: dict[str, Any] = ast.literal_eval(found[1])
    return table


def messages(texts: dict[str, list[tuple[int, str]]], counts: Iterable[str], known: Iterable[str]) -> Iterator[Missing]:
    """Messages of the code that are not among the known texts, which are English. See `message_texts.collect`."""
    exact = set(known)
    shapes = {shape(text) for text in exact} | NO_WORDS
    for module, found in texts.items():
        for line, text in found:
            if is_sentence(text) and text not in shapes:
                yield Missing(REPORTS, text, f"{module}:{line}")
    # A phrase is looked up by its exact template.
    yield from (Missing(REPORTS, text) for text in sorted(set(counts) - exact))


def register(folder: str) -> None:
    """Register the extension as `usdphys_ext`. folder: for the files of a user, of which it reads none."""
    # Blender reads this when bpy is imported.
    os.environ["BLENDER_USER_RESOURCES"] = folder
    import bpy

    if hasattr(bpy.utils, "expose_bundled_modules"):
        bpy.utils.expose_bundled_modules()
    load_extension().register()


def drawn() -> Iterator[Missing]:
    """Labels, tooltips and effects of fixes without a line. The extension is registered as `usdphys_ext`."""
    import label_texts

    labels, tooltips = label_texts.words()
    fixes = {fix.label for fix in label_texts.product("usdphys_addon.checks.fixes").FIXES.values()}
    for table, texts in ((LABELS, labels), (TOOLTIPS, tooltips), (REPORTS, fixes)):
        yield from (Missing(table, text) for text in sorted(texts - rows(table).keys()))


def print_missing(missing: Iterable[Missing], most: int) -> None:
    """Print the texts without a line, and for each language those whose line has no text in its column."""
    without_line = list(dict.fromkeys(missing))
    for language, column in language_columns().items():
        for table in TABLES:
            found = [each for each in without_line if each.table == table]
            found += [Missing(table, text) for text, texts in rows(table).items() if not texts[column - 1]]
            _print(found, f"operators/{table}: {len(found)} without a translation for '{language}'", most)
    for name in own_files():
        known = rows(name)
        found = [each for each in without_line if each.text not in known]
        found += [Missing(table, text) for table in TABLES for text in rows(table) if text not in known]
        _print(found, f"operators/{name}: {len(found)} without a line", most)


def _print(found: Sequence[Missing], heading: str, most: int) -> None:
    if found:
        print(f"{heading}, shown in English:")
    for each in found[:most]:
        print(f"    {each.text}" + (f"    ({each.place})" if each.place else ""))
    if len(found) > most:
        print(f"    and {len(found) - most} more; scripts/untranslated.py --all prints them")


def main(arguments: list[str]) -> int:
    """Print what is missing. Returns 0: a text in English is no fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="print every text")
    options = parser.parse_args(arguments)
    texts, counts = message_texts.collect()
    missing = list(messages(texts, counts, (text for table in TABLES for text in rows(table))))
    if importlib.util.find_spec("bpy") is None:
        print("Labels and tooltips are not looked at, because this Python has no bpy; 'make env' makes one.")
    else:
        with tempfile.TemporaryDirectory(prefix="usdphys-blender-") as folder:
            register(folder)
            missing += drawn()
    print_missing(missing, sys.maxsize if options.all else MOST)
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    # bpy may hang or crash while the interpreter shuts down.
    os._exit(status)
