# SPDX-License-Identifier: GPL-3.0-or-later
"""Aims: bodies meet targets in random set-ups that have a solution; variations are the same for the same seed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.aiming import aim
from usdphys_ext.usdphys_addon.aiming.aim import Run, Setup, Target, aim_steps, run_with, variations
from usdphys_ext.usdphys_addon.aiming.freedoms import PLACE, Freedom, varied, with_values
from usdphys_ext.usdphys_addon.core.errors import InputError, UsageError
from usdphys_ext.usdphys_addon.core.frames import matrix_of, transform
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics

BODY = usd_physics.RigidBodyAPI.usd_name
STEP = 1.0 / 60.0
FAST = 9.0


def add(model, path, shape, where, *, moves=True, restitution=0.5, friction=0.4):
    prim = model.add(Prim(path, type(shape).usd_name, where))
    prim.add(shape)
    prim.add(usd_physics.CollisionAPI())
    if moves:
        prim.add(usd_physics.RigidBodyAPI())
    material = model.add(Prim(f"{path}Matter", "Material"))
    material.add(usd_physics.MaterialAPI(static_friction=friction, dynamic_friction=friction, restitution=restitution))
    prim.materials = (material.path,)
    return prim


def turned(place, axis, angle):
    axis = np.array(axis) / np.linalg.norm(axis)
    quaternion = (math.cos(angle / 2), *(math.sin(angle / 2) * axis))
    matrix = transform(place)
    matrix[:3, :3] = matrix_of(quaternion)
    return matrix


def velocities(*paths, fast=FAST):
    return [Freedom(path, BODY, "velocity", axis, -fast, fast) for path in paths for axis in range(3)]


def room(chance):
    """A ball, a floor, and walls and ramps about it."""
    model = PhysicsModel()
    add(model, "/Floor", usd_geom.Plane(), np.eye(4), moves=False, restitution=chance.uniform(0.2, 0.9))
    add(model, "/Ball", usd_geom.Sphere(radius=0.1), transform((0, 0, chance.uniform(0.2, 1.5))))
    for number in range(chance.integers(1, 5)):
        where = chance.uniform((-4, -4, 0), (4, 4, 1.5))
        if np.linalg.norm(where[:2]) < 1.2:
            where[:2] *= 2.5
        tilt = 0.0 if chance.random() < 0.5 else chance.uniform(-0.6, 0.6)
        matrix = turned(where, (chance.normal(), chance.normal(), 0.1), tilt)
        matrix[:3, :3] = matrix[:3, :3] @ np.diag(chance.uniform((0.1, 0.6, 0.3), (0.8, 2.0, 1.5)))
        add(model, f"/Wall{number}", usd_geom.Cube(size=1.0), matrix, moves=False, restitution=chance.uniform(0.2, 0.9))
    return model


def solvable(seed):
    """(set-up, target) 4 m away, which the ball reaches after it has touched something."""
    chance = np.random.default_rng(seed)
    while True:
        model = room(chance)
        frame = int(chance.integers(50, 110))
        setup = Setup(model, STEP)
        for _ in range(40):
            values = chance.uniform(-0.75 * FAST, 0.75 * FAST, 3)
            run = run_with(setup, velocities("/Ball"), values, frame)
            way = run.positions[:, run.paths.index("/Ball")]
            speeds = np.diff(way, axis=0) / STEP
            kicks = np.abs(np.diff(speeds, axis=0) - (0, 0, -9.81 * STEP)).max(axis=1) > 0.3
            if 3.9 < np.linalg.norm((way[-1] - way[0])[:2]) < 4.1 and kicks.any():
                return setup, Target("/Ball", frame, tuple(way[-1].tolist()))


def searched(setup, freedoms, targets, **options) -> tuple[Run, int]:
    steps = aim_steps(setup, freedoms, targets, **options)
    count = 0
    while True:
        try:
            next(steps)
            count += 1
        except StopIteration as found:
            return found.value, count


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_ball_lands_at_a_target_four_metres_away(seed):
    setup, target = solvable(seed)
    best, count = searched(setup, velocities("/Ball"), [target])
    assert count < 200
    again = run_with(setup, velocities("/Ball"), best.values, target.frame)
    assert np.linalg.norm(again.positions[-1, again.paths.index("/Ball")] - target.place) <= 0.02


@pytest.mark.parametrize("face", range(6))
def test_a_die_shows_a_chosen_face(face):
    """The axes of the die at its start tell the faces; any of the six can be on top at the end."""
    model = PhysicsModel()
    add(model, "/Floor", usd_geom.Plane(), np.eye(4), moves=False, restitution=0.3)
    add(model, "/Die", usd_geom.Cube(size=0.1), transform((0, 0, 0.8)), restitution=0.3)
    axis = [0.0, 0.0, 0.0]
    axis[face // 2] = 1.0 if face % 2 else -1.0
    target = Target("/Die", 150, axis=tuple(axis), facing=(0.0, 0.0, 1.0), angle=math.radians(5))
    spin = [Freedom("/Die", BODY, "angular_velocity", axis, -12.0, 12.0) for axis in range(3)]
    best, count = searched(Setup(model, STEP), [*velocities("/Die", fast=1.0), *spin], [target])
    again = run_with(Setup(model, STEP), [*velocities("/Die", fast=1.0), *spin], best.values, 150)
    top = matrix_of(again.rotations[-1, again.paths.index("/Die")]) @ axis
    assert top[2] > math.cos(math.radians(5)) and count < 200


@pytest.mark.slow
def test_ten_balls_land_in_ten_cups():
    """Bodies that do not meet are searched in the same runs, so ten take hardly more runs than the slowest one."""
    chance = np.random.default_rng(7)
    model = PhysicsModel()
    add(model, "/Floor", usd_geom.Plane(), np.eye(4), moves=False, restitution=0.1)
    targets, balls = [], [f"/Ball{number}" for number in range(10)]
    for number, path in enumerate(balls):
        add(model, path, usd_geom.Sphere(radius=0.05), transform((-2.0, 0.6 * number, 0.5)), restitution=0.1)
        place = (float(chance.uniform(1, 3)), 0.6 * number, 0.05)
        for side, (x, y) in enumerate(((0.2, 0), (-0.2, 0), (0, 0.2), (0, -0.2))):
            wall = transform((place[0] + x, place[1] + y, 0.1))
            wall[:3, :3] = np.diag((0.02 if x else 0.4, 0.02 if y else 0.4, 0.2))
            add(model, f"/Cup{number}_{side}", usd_geom.Cube(size=1.0), wall, moves=False, restitution=0.1)
        targets.append(Target(path, 100, place, tolerance=0.18))
    # Thrown up and forward: as far as the artist lets them change.
    ranges = ((1.0, 5.0), (-1.0, 1.0), (3.0, 9.0))
    freedoms = [Freedom(path, BODY, "velocity", axis, *ranges[axis]) for path in balls for axis in range(3)]
    best, count = searched(Setup(model, STEP), freedoms, targets)
    assert best.miss <= 1.0 and count < 200


def test_the_authored_values_are_tried_first_and_kept_where_they_meet_the_target():
    model = room(np.random.default_rng(1))
    here = run_with(Setup(model, STEP), [], np.zeros(0), 20).positions[20, 0]
    best, count = searched(Setup(model, STEP), velocities("/Ball"), [Target("/Ball", 20, tuple(here.tolist()))])
    assert count == 1 and not best.values.any()


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
