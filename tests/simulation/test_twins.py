# SPDX-License-Identifier: GPL-3.0-or-later
"""Twins beside a shown world: they get what that gets, and part where physics says that they must."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import clock, coasting
from usdphys_ext.usdphys_addon.core.steps import finished
from usdphys_ext.usdphys_addon.proving import twins as twins_module
from usdphys_ext.usdphys_addon.proving.twins import Kind, Twins, Verdict, kinds_beside
from usdphys_ext.usdphys_addon.simulation.engine import PREVIEW
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import METERS, File
from .helpers import model_in, row_of

W = "/World"


@pytest.fixture(autouse=True)
def _time_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """No twin is stopped because this machine is slow."""
    monkeypatch.setattr(clock, "now", lambda: 0.0)


def beside(file: File, *kinds: Kind, **options) -> Twins:
    model = model_in(file)
    world = World(model.copied(), **options)
    return finished(Twins.steps(world, model, kinds or (Kind(PREVIEW, 2),)))


def run(twins: Twins, seconds: float) -> None:
    for _ in range(round(seconds / twins.shown.time_step)):
        twins.shown.step()
        twins.step()


def verdict(twins: Twins, name: str) -> Verdict:
    return Verdict(int(twins.verdicts()[row_of(twins.shown, name)]))


def boxes(*heights: float, floor: bool = True) -> File:
    file = File(METERS)
    for number, height in enumerate(heights):
        file.add(file.body(f"Box{number}", (0, 0, height), size=(0.4, 0.4, 0.4), mass=1.0))
    return file.add(file.ground()) if floor else file


def test_a_fall_and_a_stack_at_rest_are_alike_at_twice_the_rate() -> None:
    falling = beside(boxes(5.0, floor=False))
    run(falling, 0.5)
    assert verdict(falling, "Box0") in (Verdict.ALIKE, Verdict.CLOSE)
    # Explicit steps of h fall by g h t / 2 too far, so the twin is apart by a quarter of that at least, and seen.
    assert 0.0 < falling.twins[0].apart[0] < 9.81 / 60.0 * 0.5
    stack = beside(boxes(0.2, 0.6, 1.0))
    run(stack, 1.0)
    assert {verdict(stack, f"Box{number}") for number in range(3)} == {Verdict.ALIKE}
    assert stack.first() is None


def double_pendulum() -> File:
    """Two links that begin level, and so turn over."""
    file = File(METERS)
    link = {"shape": "Sphere", "size": (0.05, 0, 0), "mass": 1.0, "inertia": (1e-3, 1e-3, 1e-3), "collides": False}
    return file.add(
        file.body("Upper", (1, 0, 0), **link), file.body("Lower", (2, 0, 0), **link),
        file.joint("A", "Revolute", "", f"{W}/Upper", pos1=(-1, 0, 0), axis="Y"),
        file.joint("B", "Revolute", f"{W}/Upper", f"{W}/Lower", pos1=(-1, 0, 0), pos0=(0, 0, 0), axis="Y"),
    )  # fmt: skip


def test_a_push_that_reaches_one_world_alone_parts_there_and_is_told_with_time_and_distance() -> None:
    file = boxes(0.2)
    twins = beside(file)
    run(twins, 0.5)
    world = twins.twins[0].world
    assert world is not None
    # Friction of 0.5 holds it below 4.9 m/s2.
    world.set_gravity((6.5, 0.0, -9.81))
    run(twins, 1.0)
    assert verdict(twins, "Box0") is Verdict.STEPS
    found = twins.first()
    assert found is not None
    _, split = found
    assert 0.5 < split.time < 1.0
    assert split.apart > split.allowed > 0.0
    text = twins.sentence(*found)
    assert "Box0" in text
    assert "at the contact with" in text
    assert "Ground" in text
    assert twins.why(0)[0] == text


def test_a_reset_is_to_the_bit_and_what_is_said_begins_anew() -> None:
    twins = beside(boxes(0.2, 1.5))

    def played() -> list[bytes]:
        found = []
        for _ in range(60):
            twins.shown.step()
            twins.step()
            world = twins.twins[0].world
            assert world is not None
            found.append(world.positions.tobytes() + world.rotations.tobytes() + twins.twins[0].share.tobytes())
        return found

    first = played()
    twins.shown.set_gravity((9.0, 0.0, 0.0))
    run(twins, 0.5)
    twins.shown.reset()
    twins.reset()
    assert not twins.twins[0].apart.any()
    assert twins.first() is None
    assert played() == first


@pytest.mark.parametrize("edit", [
    lambda world: world.set_gravity((0.0, 0.0, -1.0)),
    lambda world: world.set_friction("", 0.05),
    lambda world: world.set_mass(f"{W}/Box0", 3.0),
    lambda world: world.set_collider_enabled(world.static_colliders[0], False),
    lambda world: world.set_static_pose(world.static_colliders[0], (0, 0, -3.0), (1.0, 0.0, 0.0, 0.0)),
])  # fmt: skip
def test_an_edit_of_the_shown_world_reaches_the_twin(edit) -> None:
    twins = beside(boxes(0.2))
    run(twins, 0.2)
    edit(twins.shown)
    run(twins, 0.5)
    assert verdict(twins, "Box0") < Verdict.ENGINE
    assert twins.shown.positions[0, 2] == pytest.approx(twins.twins[0].poses()[0][0, 2], abs=0.05)


def test_a_grab_pulls_in_both_worlds_and_lets_go_in_both() -> None:
    twins = beside(boxes(0.2))
    held = twins.shown.grab(f"{W}/Box0", (0, 0, 0.4))
    twins.shown.move_grab(held, (0, 0, 2.0))
    run(twins, 2.0)
    assert twins.twins[0].poses()[0][0, 2] == pytest.approx(twins.shown.positions[0, 2], abs=0.02)
    assert twins.shown.positions[0, 2] > 1.0
    twins.shown.release(held)
    run(twins, 2.0)
    assert twins.twins[0].poses()[0][0, 2] == pytest.approx(0.2, abs=0.01)


def test_a_kinematic_body_is_led_on_the_same_way_at_twice_the_rate() -> None:
    file = File(METERS)
    file.add(file.body("Lift", (0, 0, 0), size=(2, 2, 0.2), kinematic=True))
    twins = beside(file)
    for number in range(1, 31):
        twins.shown.set_kinematic_pose(f"{W}/Lift", (0, 0, number / 60.0), (1.0, 0.0, 0.0, 0.0))
        run(twins, 1.0 / 60.0)
        assert twins.twins[0].poses()[0][0] == pytest.approx(twins.shown.positions[0], abs=1e-6)
    assert twins.shown.positions[0, 2] == pytest.approx(0.5)


def test_a_kinematic_body_that_keeps_its_velocity_does_so_in_each_world() -> None:
    file = File(METERS)
    file.add(file.body("Belt", (0, 0, 0), size=(2, 2, 0.2), kinematic=True, velocity=(0.5, 0, 0), spin=(0, 0, 30.0)))
    model = model_in(file)
    coasting.set_kept(model.prims[f"{W}/Belt"])
    twins = finished(Twins.steps(World(model.copied()), model, [Kind(PREVIEW, 2)]))
    run(twins, 1.0)
    assert twins.shown.positions[0, 0] == pytest.approx(0.5, abs=1e-3)
    assert twins.twins[0].poses()[0][0] == pytest.approx(twins.shown.positions[0], abs=1e-4)
    assert np.abs(twins.twins[0].poses()[1][0]) == pytest.approx(np.abs(twins.shown.rotations[0]), abs=1e-4)


@pytest.mark.slow
def test_chaos_is_no_difference_of_engines() -> None:
    pytest.importorskip("mujoco")
    twins = beside(double_pendulum(), Kind(PREVIEW, 2), Kind("mujoco"))
    # They agree for seconds, and then none repeats another.
    run(twins, 5.0)
    assert {verdict(twins, "Upper"), verdict(twins, "Lower")} == {Verdict.ALIKE}
    run(twins, 13.0)
    assert {verdict(twins, "Upper"), verdict(twins, "Lower")} == {Verdict.STEPS}


@pytest.mark.slow
def test_what_smaller_steps_do_not_change_is_a_difference_of_engines() -> None:
    pytest.importorskip("mujoco")
    twins = beside(boxes(0.2), Kind(PREVIEW, 2), Kind("mujoco"))
    other = twins.twins[1].world
    assert other is not None
    other.set_gravity((6.5, 0.0, -9.81))
    run(twins, 1.0)
    assert verdict(twins, "Box0") is Verdict.ENGINE
    told = " ".join(twins.why(0))
    assert "MuJoCo" in told
    assert "Prove names the attribute" in told


def test_the_engines_that_run_beside_are_those_that_are_here() -> None:
    assert kinds_beside(PREVIEW, has_steps=True)[0] == Kind(PREVIEW, 2)
    assert kinds_beside("mujoco", has_steps=False) == [Kind(PREVIEW)]


def test_without_another_engine_the_same_one_runs_at_twice_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    only = {PREVIEW: twins_module.solvers()[PREVIEW]}
    monkeypatch.setattr(twins_module, "solvers", lambda: only)
    assert kinds_beside(PREVIEW, has_steps=False) == [Kind(PREVIEW, 2)]
    assert kinds_beside(PREVIEW, has_steps=True) == [Kind(PREVIEW, 2)]


def test_a_twin_that_is_too_slow_beside_the_shown_world_ends_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    twins = beside(boxes(0.2))
    own = twins.twins[0].world
    assert own is not None
    step = own.step

    def slow() -> None:
        step()
        own.step_milliseconds = 200.0

    monkeypatch.setattr(own, "step", slow)
    run(twins, 0.1)
    assert twins.twins[0].runs
    run(twins, 0.5)
    assert "too long to run beside" in twins.twins[0].problem
    assert not twins.twins[0].runs


def test_a_twin_that_cannot_be_built_says_why_and_the_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from usdphys_ext.usdphys_addon.core.errors import InputError

    whole = World.steps

    def steps(model, **options):
        if options["engine"] == "mujoco":
            raise InputError("It is refused.")
        return (yield from whole(model, **options))

    monkeypatch.setattr(World, "steps", steps)
    twins = beside(boxes(0.2), Kind(PREVIEW, 2), Kind("mujoco"))
    run(twins, 0.1)
    assert [twin.problem for twin in twins.twins] == ["", "It is refused."]


def test_twins_of_a_world_that_already_runs_go_on_from_where_it_is() -> None:
    model = model_in(boxes(3.0))
    world = World(model.copied())
    for _ in range(20):
        world.step()
    twins = finished(Twins.steps(world, world.moved_copy(model), [Kind(PREVIEW, 2)], is_late=True))
    assert twins.twins[0].poses()[0][0] == pytest.approx(world.positions[0], abs=1e-6)
    run(twins, 0.2)
    assert math.isclose(twins.twins[0].poses()[0][0, 2], world.positions[0, 2], abs_tol=0.05)
    twins.end()
    assert not world.followers
