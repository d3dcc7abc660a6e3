"""Messages in lines: nothing is lost, no line is too wide, Japanese and Chinese are broken between their characters."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from usdphys_ext.usdphys_addon.core import lines

TABLES = Path(__file__).resolve().parents[2] / "operators"
PARTS = st.sampled_from([*"物理のをカーあ中文设为「」。、“” ,", "USD", "'Door'", "0.5"])
#: Signs that do not begin a line, and that do not end one.
CLOSING, OPENING = "、。，：；？」』）”ー", "「『（“"  # noqa: RUF001


@given(st.lists(PARTS, max_size=40).map("".join), st.integers(2, 30))
@example("「」」」」」」", 4)
def test_nothing_is_lost_and_no_line_is_too_wide(text: str, length: int) -> None:
    found = lines.lines(text, length)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(0 < lines.cells(line) <= length for line in found)


@pytest.mark.parametrize("name", ["ja.tsv", "zh_hans.tsv"])
@pytest.mark.parametrize("length", [24, 40])
def test_lines_of_the_translations_begin_and_end_as_is_usual(name: str, length: int) -> None:
    """A sentence without a space was one line, of which a panel showed both ends."""
    texts = [row.split("\t")[1] for row in (TABLES / name).read_text(encoding="utf-8").splitlines()]
    assert len(texts) > 3000
    wrong = []
    for text in texts:
        found = lines.lines(text, length)
        wrong += [line for line in found[1:] if line[0] in CLOSING]
        wrong += [line for line in found[:-1] if line[-1] in OPENING]
        wrong += [line for line in found if lines.cells(line) > length]
    assert wrong == []


@given(st.text("abc .,", max_size=60), st.integers(3, 30))
def test_other_languages_are_broken_at_their_spaces(text: str, length: int) -> None:
    assert lines.lines(text, length) == textwrap.wrap(text, length)


def test_a_sentence_is_broken_where_the_line_is_full() -> None:
    sentence = "ドライブはありますが、剛性と減衰が 0 です"
    assert lines.lines(sentence, 20) == ["ドライブはあります", "が、剛性と減衰が 0", "です"]
    assert lines.lines("选择物体。按“动态”", 10) == ["选择物体。", "按“动态”"]
