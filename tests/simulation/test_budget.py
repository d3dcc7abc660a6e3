# SPDX-License-Identifier: GPL-3.0-or-later
"""The seconds of a proof are a promise: what does not fit is not begun, and is said to be left out."""

from __future__ import annotations

from typing import Any

import pytest
from usdphys_ext.usdphys_addon.core import clock
from usdphys_ext.usdphys_addon.proving import budget as budget_module
from usdphys_ext.usdphys_addon.proving import programs, runs
from usdphys_ext.usdphys_addon.proving.budget import Budget, OutOfTimeError, Pace
from usdphys_ext.usdphys_addon.proving.prove import Wish, prove
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.usd import read

from .author import METERS
from .demos import DEMOS
from .test_proving import stage_of


class Clock:
    """A clock that a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(clock, "now", lambda: self.now)


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def slow_steps(monkeypatch: pytest.MonkeyPatch, ticking: Clock, seconds: float) -> None:
    own = World.step

    def step(world: World) -> None:
        ticking.now += seconds
        own(world)

    monkeypatch.setattr(World, "step", step)


@pytest.mark.parametrize("seconds", [0.3, 12.0, 40.0])
def test_no_step_is_begun_that_takes_longer_than_what_is_left(
    monkeypatch: pytest.MonkeyPatch, ticking: Clock, seconds: float
) -> None:
    """A foot with 46 springs took 117 s of 90, of which one step took 12."""
    slow_steps(monkeypatch, ticking, seconds)
    stage = stage_of(DEMOS["crates"](METERS))
    proof = prove(Wish("asset.usda", read.read_stage(stage), stage, budget=90.0))
    # Nobody knows what the first step takes.
    assert proof.certificate.seconds <= max(90.0, seconds)
    assert proof.certificate.having("skipped")
    assert not proof.certificate.having("fail")


def test_the_first_piece_of_a_run_takes_as_long_as_that_of_the_last_run_of_its_kind(ticking: Clock) -> None:
    budget = Budget(100.0)
    with budget_module.ending_with(budget):
        for kind, fits in (("mesh", True), ("mesh", False), ("box", True)):
            pace = Pace(kind)
            if not fits:
                with pytest.raises(OutOfTimeError):
                    pace.begin()
                continue
            pace.begin()
            ticking.now += 60.0 if kind == "mesh" else 20.0
            pace.end()
    assert budget.used == 80.0


def test_a_piece_takes_as_long_as_the_one_before_it(ticking: Clock) -> None:
    with budget_module.ending_with(Budget(10.0)):
        pace = Pace()
        for took in (4.0, 4.0):
            pace.begin()
            ticking.now += took
            pace.end()
        with pytest.raises(OutOfTimeError):
            pace.begin()
    assert ticking.now == 8.0


@pytest.mark.parametrize(("seconds", "used", "share", "left"), [
    (120.0, 0.0, 0.5, 60.0), (120.0, 59.0, 0.5, 20.0), (120.0, 110.0, 0.5, 10.0), (15.0, 0.0, 0.5, 15.0),
    (15.0, 16.0, 1.0, 0.0),
])  # fmt: skip
def test_a_program_gets_at_least_20_s_and_never_more_than_the_budget_has(
    ticking: Clock, seconds: float, used: float, share: float, left: float
) -> None:
    budget = Budget(seconds)
    ticking.now = used
    assert budget.left(share) == left


def test_no_program_is_started_where_nothing_is_left(monkeypatch: pytest.MonkeyPatch, ticking: Clock) -> None:
    stage = stage_of(DEMOS["crates"](METERS))
    model = read.read_stage(stage)
    budget = Budget(10.0)
    ticking.now = 10.0
    motion = programs.run_asset(stage, model, "newton", "/no/such/python", 1.0, budget, 1.0)
    assert motion.problem == "it takes longer than the budget leaves"


def test_the_seconds_begin_when_the_file_is_read(ticking: Clock) -> None:
    stage = stage_of(DEMOS["pendulum"](METERS))
    wish = Wish("a", read.read_stage(stage), stage, budget=30.0, used=29.0, sections=frozenset({"words"}))
    assert prove(wish).certificate.seconds == 29.0


def test_a_run_knows_the_loads_of_joints_that_are_watched() -> None:
    model: Any = read.read_stage(stage_of(DEMOS["pendulum"](METERS)))
    motion = runs.simulated(model, 0.2, watched=["/World/Pin", "/World/None"])
    assert list(motion.loads) == ["/World/Pin"]
    assert motion.loads["/World/Pin"][:, 0].max() > 1.0
