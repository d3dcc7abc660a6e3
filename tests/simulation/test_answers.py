# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of random numbers, units and rates, whose motion is known: see `answers.py`, `answers_of_machines.py`."""

from __future__ import annotations

import pytest
from shares import each_of
from usdphys_ext.usdphys_addon.simulation.engine import PREVIEW

from . import answers_of_machines as _machines  # noqa: F401  # adds its generators
from .answers import ANSWERS, run_of

#: Of each generator: these found what was wrong when they were written, beside some that are just random.
SEEDS = {
    "head_on": (25, 32), "hangs_as_a_chain": (0, 8, 12, 21), "rolls_on_its_side": (0, 10, 30, 58), "slides_down": (32,),
}  # fmt: skip


def cases(seeds: range) -> list[tuple[str, int]]:
    return [(name, seed) for name in ANSWERS for seed in (*seeds, *SEEDS.get(name, ()))]


#: Where MuJoCo says that it cannot, and where it is off by more than the tolerance of the preview.
NOT_IN_MUJOCO = {
    "breaks_by_weight": "a slide that closes no loop does not break there, and a notice says so",
    "cone_rolls_round_its_tip": "a cone is a hull of 128 sides, which loses a tenth of its speed in 2.5 s",
    "shaken_platform": "at 24 and 30 frames a second a rider is up to 15 mm behind",
}


def wrong(name: str, seed: int, engine: str = PREVIEW) -> list[str]:
    _, checks, file = run_of(name, seed, engine)
    assert checks
    return [f"{check}, in {file.units.name}" for check in checks if not check.holds]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), cases(range(1000, 1002)))
def test_the_preview_moves_as_the_textbook_says(name: str, seed: int) -> None:
    assert wrong(name, seed) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", each_of(list(ANSWERS), 4))
def test_the_preview_moves_as_the_textbook_says_for_many_numbers(name: str) -> None:
    assert [found for seed in range(2000, 2006) for found in wrong(name, seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ANSWERS if name not in NOT_IN_MUJOCO])
def test_mujoco_moves_as_the_textbook_says(name: str) -> None:
    pytest.importorskip("mujoco")
    assert wrong(name, 0, "mujoco") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", each_of([name for name in ANSWERS if name not in NOT_IN_MUJOCO], 4))
def test_mujoco_moves_as_the_textbook_says_for_many_numbers(name: str) -> None:
    pytest.importorskip("mujoco")
    assert [found for seed in range(1, 3) for found in wrong(name, seed, "mujoco")] == []
