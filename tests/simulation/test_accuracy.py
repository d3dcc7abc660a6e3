# SPDX-License-Identifier: GPL-3.0-or-later
"""The measured scenes, in both systems of units and at the qualities that promise to meet their tolerances."""

from __future__ import annotations

import pytest

from .author import CENTIMETERS, METERS, File, Units
from .helpers import world_of
from .measures import MEASURES, Measure
from .measuring import moved


@pytest.mark.parametrize(("units", "quality"), [(METERS, "normal"), (CENTIMETERS, "normal"), (METERS, "exact")])
@pytest.mark.parametrize("case", MEASURES, ids=lambda case: f"{case.group}: {case.name}")
def test_answer_is_that_of_the_textbook(case: Measure, units: Units, quality: str) -> None:
    file = File(units)
    case.fill(file)
    motion = moved(world_of(file, quality=quality), case)
    assert case.value(motion) == pytest.approx(case.expected, abs=case.tolerance + 1e-9)
