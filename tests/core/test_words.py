"""Counts in messages: nobody reads "1 joints"."""

import re
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.core import summary, words
from usdphys_ext.usdphys_addon.core.model import PhysicsModel


@pytest.mark.parametrize(
    ("number", "what", "text"),
    [(0, "joint", "0 joints"), (1, "joint", "1 joint"), (2, "joint", "2 joints"), (1, "body", "1 body"),
     (2, "body", "2 bodies"), (2, "mass", "2 masses"), (1, "unstable body", "1 unstable body")],
)  # fmt: skip
def test_one_thing_is_not_told_as_many(number: int, what: str, text: str) -> None:
    assert words.counted(number, what) == text


def test_kinds_of_a_summary_are_told_in_the_singular_where_there_is_one() -> None:
    kinds = tuple(summary.counts(PhysicsModel()))
    assert {words.tally(1, kind) for kind in kinds} == {
        "1 scene", "1 body", "1 collider", "1 joint", "1 group", "1 material", "1 articulation",
    }  # fmt: skip
    assert all(words.tally(number, kind) == f"{number} {kind}" for number in (0, 2) for kind in kinds)


@pytest.mark.parametrize(("meters", "text"), [
    (0.6, "600 mm"), (0.0123, "12 mm"), (0.00012, "0.12 mm"), (123.4, "120 m"), (7890.0, "7.9 km"), (1e6, "1000 km"),
])  # fmt: skip
def test_a_length_of_two_digits_has_no_exponent(meters: float, text: str) -> None:
    """It said that parts are 6e+02 mm apart."""
    assert words.length_text(meters, 2) == text


@pytest.mark.parametrize(("value", "text"), [
    (1570.4, "1570"), (-12345.0, "-12300"), (0.12345, "0.123"), (99999.0, "100000"), (1.234e8, "1.23e+08"), (0.0, "0"),
])  # fmt: skip
def test_a_number_has_an_exponent_only_where_it_is_very_large(value: float, text: str) -> None:
    """A load was shown as 1.57e+03 N m."""
    assert words.number_text(value) == text


@pytest.mark.parametrize(("message", "shown"), [
    ("Switch on Animation (--animation) to write time samples.", "Switch on Animation to write time samples."),
    ("Say where the package is (--package arm=FOLDER).", "Say where the package is."),
    ("请指定\uff08--engine-python\uff0cPHYSX\uff09。", "请指定。"),
    ("'A' has no mesh -- choose (one) shape", "'A' has no mesh -- choose (one) shape"),
])  # fmt: skip
def test_a_window_names_no_options_of_the_command_line(message: str, shown: str) -> None:
    assert words.without_options(message) == shown


def test_options_stand_in_brackets_in_each_language() -> None:
    """Else the window could not leave them out."""
    tables = Path(words.__file__).parents[2] / "operators"
    bare = re.compile(r"(?<![(\uff08\w-])--[a-z]")
    texts = [(tables / f"{name}.tsv").read_text(encoding="utf-8") for name in ("reports", "ja", "zh_hans")]
    rows = [row for text in texts for row in text.split("\n")]
    assert any("(--" in row for row in rows)
    # --onto is for the command line alone.
    assert [row for row in rows if bare.search(row) and "--onto" not in row] == []
