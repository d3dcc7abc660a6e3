# SPDX-License-Identifier: GPL-3.0-or-later
"""The measured scenes, in both systems of units and at the qualities that promise to meet their tolerances."""

from __future__ import annotations

from pathlib import Path

import pytest
from shares import in_turn

from .author import CENTIMETERS, METERS, File, Units
from .helpers import world_of
from .measures import MEASURES, Measure
from .measuring import moved

FORMS = [(METERS, "normal"), (CENTIMETERS, "normal"), (METERS, "exact")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "units", "quality"),
    [
        pytest.param(case, units, quality, id=f"{case.group}: {case.name}, {units.name}, {quality}")
        for case, (units, quality) in in_turn(MEASURES, FORMS)
    ],
)
def test_answer_is_that_of_the_textbook(case: Measure, units: Units, quality: str) -> None:
    file = File(units)
    case.fill(file)
    motion = moved(world_of(file, quality=quality), case)
    assert case.value(motion) == pytest.approx(case.expected, abs=case.tolerance + 1e-9)


def test_the_manual_has_a_row_for_every_measure() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "accuracy.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[:2] for line in text.splitlines() if line.startswith("| ")][1:]
    wanted = [
        [f"| {case.group}: {case.name}", f"{case.expected:.4g} ± {case.tolerance:.3g} {case.unit}"] for case in MEASURES
    ]  # fmt: skip
    assert rows == wanted
