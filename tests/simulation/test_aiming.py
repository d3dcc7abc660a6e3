# SPDX-License-Identifier: GPL-3.0-or-later
"""Aims: bodies meet targets in random set-ups that have a solution; variations are the same for the same seed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from shares import each_of
from usdphys_ext.usdphys_addon.aiming import aim
from usdphys_ext.usdphys_addon.aiming.aim import Run, Setup, Target, run_with, variations
from usdphys_ext.usdphys_addon.aiming.freedoms import PLACE, Freedom, varied, with_values
from usdphys_ext.usdphys_addon.aiming.parts import parts_of
from usdphys_ext.usdphys_addon.core.errors import InputError, UsageError
from usdphys_ext.usdphys_addon.core.frames import matrix_of, transform
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics

from .aim_setups import BODY, STEP, Aim, add, bounced, cups, die, room, thrown, turned, velocities


def searched(setup, freedoms, targets, **options) -> tuple[Run, int]:
    return Aim(setup, freedoms, targets).searched(**options)


def assert_met(wanted, best):
    again = wanted.again(best)
    assert [again.miss_of(target) <= 1.0 for target in wanted.targets] == [True] * len(wanted.targets)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "seed"), each_of([*((thrown, seed) for seed in range(8)), *((bounced, seed) for seed in range(4))], 4)
)
def test_a_ball_lands_at_a_target_four_metres_away(seed, kind):
    wanted = kind(seed)
    best, count = wanted.searched()
    assert_met(wanted, best)
    assert count < 200
    here, there = (wanted.again(best).positions[at, 0][:2] for at in (0, -1))
    assert 3.8 < np.linalg.norm(there - here) < 4.2


def test_a_ball_that_nothing_stops_flies_there_at_once():
    """By gravity alone: the first throw after the authored one."""
    model = PhysicsModel()
    scene = model.add(Prim("/Scene", "PhysicsScene"))
    scene.add(usd_physics.PhysicsScene(gravity_direction=(0.0, 0.6, -0.8), gravity_magnitude=1.6))
    add(model, "/Ball", usd_geom.Sphere(radius=0.1), turned((0, 0, 1), (1, 2, 3), 2.0))
    wanted = Aim(Setup(model, STEP), velocities("/Ball"), [Target("/Ball", 60, (3.0, -1.0, 2.0), tolerance=0.05)])
    best, count = wanted.searched()
    assert count == 2
    assert_met(wanted, best)


@pytest.mark.slow
@pytest.mark.parametrize("face", each_of(range(6), 3))
def test_a_die_shows_a_chosen_face(face):
    """The axes of the die at its start tell the faces; any of the six can be on top at the end."""
    wanted = die(face)
    best, count = wanted.searched()
    again = wanted.again(best)
    top = matrix_of(again.rotations[-1, again.paths.index("/Die")]) @ wanted.targets[0].axis
    assert top[2] > math.cos(math.radians(5)) and count < 200


@pytest.mark.slow
def test_a_body_comes_to_rest_where_it_is_to_be():
    """A puck on ice that brakes it; without At Rest it may still slide there."""
    model = PhysicsModel()
    add(model, "/Floor", usd_geom.Plane(), np.eye(4), moves=False, friction=0.3)
    add(model, "/Puck", usd_geom.Cube(size=0.2), transform((0, 0, 0.1)), friction=0.3)
    target = Target("/Puck", 90, (1.5, 0.4, 0.1), tolerance=0.02, at_rest=True)
    wanted = Aim(Setup(model, STEP), velocities("/Puck")[:2], [target])
    best, _ = wanted.searched()
    assert_met(wanted, best)
    ends = wanted.again(best).positions[-5:, 0]
    assert np.abs(np.diff(ends, axis=0)).max() / STEP < 0.05
    # v^2 = 2 mu g s, to a tenth.
    assert np.linalg.norm(best.values) == pytest.approx(math.sqrt(2 * 0.3 * 9.81 * math.hypot(1.5, 0.4)), rel=0.1)


@pytest.mark.slow
def test_ten_balls_land_in_ten_cups():
    """Bodies that nothing connects are searched in the same runs, each as if alone."""
    wanted = cups(7)
    best, count = wanted.searched()
    assert_met(wanted, best)
    assert count < 60


@pytest.mark.slow
def test_balls_that_are_in_the_way_of_each_other_are_searched_again_beside_the_others():
    """Both fly to their places through the same point at the same time, unless one begins beside it."""
    model = PhysicsModel()
    for name, side in (("A", 1.0), ("B", -1.0)):
        add(model, f"/{name}", usd_geom.Sphere(radius=0.1), transform((side, 0, 1)))
    targets = [Target("/A", 30, (-1.0, 0, 1), 0.05), Target("/B", 30, (1.0, 0, 1), 0.05)]
    freedoms = [*velocities("/A", "/B"), Freedom("/B", "", PLACE, 1, -0.8, 0.8)]
    wanted = Aim(Setup(model, STEP), freedoms, targets)
    alone = [part.bodies for part in parts_of(model, wanted.freedoms, ["/A", "/B"])]
    assert alone == [{"/A"}, {"/B"}]
    best, count = wanted.searched()
    assert_met(wanted, best)
    assert count > 3
    # Past each other, with a radius of 0.1 m each.
    ways = wanted.again(best).positions
    assert np.linalg.norm(ways[:, 0] - ways[:, 1], axis=1).min() > 0.19


def test_bodies_that_joints_or_materials_connect_are_one_part():
    model = PhysicsModel()
    for name in "ABCD":
        add(model, f"/{name}", usd_geom.Sphere(radius=0.1), np.eye(4))
    joint = model.add(Prim("/Joint", "PhysicsRevoluteJoint"))
    joint.add(usd_physics.RevoluteJoint(body0=("/A",), body1=("/B",)))
    model.prims["/D"].materials = ("/CMatter",)
    freedoms = [*velocities("/A", "/C", "/D"), *varied(model, ["/CMatter:restitution=0..1"])[0]]
    found = parts_of(model, freedoms, ["/B", "/C", "/D"])
    assert [(part.freedoms, part.targets, part.bodies) for part in found] == [
        ((0, 1, 2), (0,), {"/A", "/B"}), ((3, 4, 5, 6, 7, 8, 9), (1, 2), {"/C", "/D"}),
    ]  # fmt: skip
    # Something changes that has no target: it has to meet those that have one.
    assert len(parts_of(model, freedoms, ["/B", "/C"])) == 2
    assert len(parts_of(model, freedoms, ["/B"])) == 1


@pytest.mark.slow
def test_the_speed_of_a_motor_takes_a_crank_to_a_place():
    """A crank of 0.5 m whose motor has a second: the angle is the speed times the time."""
    model = PhysicsModel()
    crank = add(model, "/Crank", usd_geom.Cube(size=0.1), transform((0.5, 0, 0)))
    crank.add(usd_physics.MassAPI(mass=1.0, diagonal_inertia=(0.01, 0.01, 0.01)))
    joint = model.add(Prim("/Joint", "PhysicsRevoluteJoint"))
    joint.add(usd_physics.RevoluteJoint(body1=("/Crank",), axis="Z", local_pos1=(-0.5, 0.0, 0.0)))
    joint.add(usd_physics.DriveAPI(type="force", damping=1e4), "angular")
    scene = model.add(Prim("/Scene", "PhysicsScene"))
    scene.add(usd_physics.PhysicsScene(gravity_magnitude=0.0))
    freedoms = varied(model, ["/Joint:target_velocity=-3..3"])[0]
    target = Target("/Crank", 60, (0.5 * math.cos(1.2), 0.5 * math.sin(1.2), 0.0), 0.005)
    best, _ = searched(Setup(model, STEP), freedoms, [target])
    assert best.miss <= 1.0
    assert best.values[0] == pytest.approx(1.2, rel=0.03)


def test_the_authored_values_are_tried_first_and_kept_where_they_meet_the_target():
    model = room(np.random.default_rng(1))
    here = run_with(Setup(model, STEP), [], np.zeros(0), 20).positions[20, 0]
    best, count = searched(Setup(model, STEP), velocities("/Ball"), [Target("/Ball", 20, tuple(here.tolist()))])
    assert count == 1 and not best.values.any()


@pytest.mark.slow
def test_a_search_without_a_solution_gives_its_best_run():
    model = room(np.random.default_rng(1))
    best, count = searched(Setup(model, STEP), velocities("/Ball"), [Target("/Ball", 30, (90.0, 0, 1))], most_runs=40)
    assert count == 40 and best.miss > 1.0 and np.isfinite(best.values).all()


def test_a_scene_that_no_run_can_simulate_says_why(monkeypatch):
    def lost(*_arguments):
        raise InputError("the ball is nowhere")

    monkeypatch.setattr(aim, "run_with", lost)
    model = room(np.random.default_rng(1))
    with pytest.raises(InputError, match="the ball is nowhere"):
        searched(Setup(model, STEP), velocities("/Ball"), [Target("/Ball", 30, (1.0, 0, 1))], most_runs=5)


@pytest.mark.slow
def test_values_that_nobody_owns_are_searched_together():
    """A ball is to be pushed to a place by another one, whose velocity alone may change."""
    model = PhysicsModel()
    add(model, "/Floor", usd_geom.Plane(), np.eye(4), moves=False, friction=0.2)
    add(model, "/Cue", usd_geom.Sphere(radius=0.1), transform((-1, 0, 0.1)))
    add(model, "/Ball", usd_geom.Sphere(radius=0.1), transform((0, 0, 0.1)))
    goal = Freedom("/Cue", BODY, "velocity", 0, 0.0, 8.0)
    setup = Setup(model, STEP)
    wanted = run_with(setup, [goal], np.array([4.3]), 60)
    place = tuple(wanted.positions[-1, wanted.paths.index("/Ball")].tolist())
    best, _ = searched(setup, [goal], [Target("/Ball", 60, place)])
    assert best.miss <= 1.0


@pytest.mark.slow
def test_places_friction_and_restitution_may_change_too():
    model = PhysicsModel()
    add(model, "/Floor", usd_geom.Plane(), np.eye(4), moves=False, restitution=0.9)
    add(model, "/Ball", usd_geom.Sphere(radius=0.1), transform((0, 0, 1.0)), restitution=0.9)
    groups = varied(model, ["/Ball:place.x=-1..1", "restitution=0..1", "friction=0.3..0.7"])
    assert [len(group) for group in groups] == [1, 2, 4]
    assert groups[0][0].field == PLACE
    changed = with_values(model, groups[0], np.array([0.25]))
    assert changed.prims["/Ball"].world[0, 3] == 0.25 and model.prims["/Ball"].world[0, 3] == 0.0
    runs = list(variations(Setup(model, STEP), groups, 90, 12, seed=3))
    again = list(variations(Setup(model, STEP), groups, 90, 12, seed=3))
    assert all(np.array_equal(one.positions, other.positions) for one, other in zip(runs, again, strict=True))
    assert len({run.values.tobytes() for run in runs}) == 12
    for run in runs:
        assert -1 <= run.values[0] <= 1 and run.values[1] == run.values[2]
        assert run.values[3] == run.values[4] and 0.3 <= run.values[3] <= 0.7
    # The higher it bounces, the bouncier it is.
    heights = [run.positions[40:, 0, 2].max() for run in runs]
    bounces = [run.values[1] for run in runs]
    assert np.corrcoef(heights, bounces)[0, 1] > 0.8


def test_what_resets_the_transform_stack_stays_where_a_body_above_it_is_moved():
    model = PhysicsModel()
    paths = ("/Ball", "/Ball/Skin", "/Ball/Loose", "/Ball/Loose/Part", "/Ballast")
    for path in paths:
        model.add(Prim(path, world=transform((1.0, 2.0, 3.0)), resets_xform_stack=path == "/Ball/Loose"))
    model.prims["/Ball"].add(usd_physics.RigidBodyAPI())
    moved = with_values(model, [Freedom("/Ball", "", PLACE, 0, 0.0, 9.0)], np.array([5.0]))
    assert [moved.prims[path].world[0, 3] for path in paths] == [5.0, 5.0, 1.0, 1.0, 1.0]
    assert all(prim.world[0, 3] == 1.0 for prim in model.prims.values())


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("friction", "no range"), ("friction=1..0", "smaller one first"), ("friction=a..b", "numbers"),
        ("colour=0..1", "'colour'"), ("/Nowhere:friction=0..1", "/Nowhere"), ("friction=0..inf", "numbers"),
    ],
)  # fmt: skip
def test_a_range_that_means_nothing_is_refused(text, part):
    with pytest.raises(UsageError, match=part):
        varied(room(np.random.default_rng(1)), [text])


def test_an_aim_without_targets_or_values_is_refused():
    model = room(np.random.default_rng(1))
    with pytest.raises(InputError, match="target"):
        searched(Setup(model, STEP), velocities("/Ball"), [])
    with pytest.raises(InputError, match="no body"):
        searched(Setup(model, STEP), velocities("/Ball"), [Target("/Floor", 5, (0, 0, 0))])
