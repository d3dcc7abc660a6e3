# SPDX-License-Identifier: GPL-3.0-or-later
"""What generators make, at random settings of their whole range: it stands, and nothing starts inside of something."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import validate

from . import scenes
from .test_ropes import bodies, widest_gap
from .test_walls import floor, select

pytestmark = pytest.mark.slow


def boxes(objects):
    """World bounds (n, 2, 3) of objects."""
    found = []
    for obj in objects:
        corners = np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])
        found.append((corners.min(axis=0), corners.max(axis=0)))
    return np.array(found)


def wall_settings(seed: int) -> tuple[str, tuple[int, int, int], tuple[float, float, float]]:
    random = np.random.default_rng(seed)
    kind = ("WALL", "STACK", "PYRAMID", "CHIMNEY")[seed % 4]
    counts = tuple(int(one) for one in random.integers((1, 1, 1), (7, 4, 7)))
    half = random.uniform(0.04, 0.12, 3)
    if kind == "CHIMNEY":
        # Bricks that are longer than deep reach over the gaps.
        counts, half[0] = (int(random.integers(6, 13)), 1, counts[2]), half[1] * random.uniform(1.2, 2.0)
    # No towers.
    half[2] = min(half[2], half[:2].min())
    return kind, counts, tuple(half.tolist())


WALLS = [("WALL", (1, 1, 6), (0.1, 0.05, 0.04)), ("WALL", (2, 1, 5), (0.1, 0.05, 0.04)),
         ("PYRAMID", (6, 2, 5), (0.1, 0.1, 0.05)), ("WALL", (5, 1, 3), (0.1, 0.05, 0.04)),
         ("WALL", (3, 1, 5), (0.1, 0.05, 0.04)), ("WALL", (12, 2, 7), (0.1, 0.05, 0.04)),
         *map(wall_settings, range(16))]  # fmt: skip


@pytest.mark.parametrize(("kind", "counts", "half"), WALLS, ids=str)
def test_every_brick_rests_on_others_and_stays(kind, counts, half):
    floor()
    brick = scenes.add_box("Brick", half, location=(0, 0, half[2]))
    select(brick)
    bpy.ops.usdphys.wall(kind=kind, counts=counts)
    made = list(bpy.context.selected_objects)
    bounds = boxes(made)
    for number, (low, _) in enumerate(bounds):
        below = np.abs(bounds[:, 1, 2] - low[2]) < 1e-4
        covers = np.minimum(bounds[:, 1, :2], bounds[number, 1, :2]) - np.maximum(bounds[:, 0, :2], low[:2])
        assert abs(low[2]) < 1e-4 or (below & (covers.min(axis=1) > 1e-3)).any(), f"brick {number} floats"
    before = np.array([obj.matrix_world.translation for obj in made])
    session = scenes.play(4.0)
    # Edges of chimneys turn a little until they bear.
    after = np.array([obj.matrix_world.translation for obj in made])
    assert np.linalg.norm(after - before, axis=1).max() < 0.01
    assert np.abs(session.world.velocities()[0]).max() < 0.02


def rope_settings(seed: int):
    random = np.random.default_rng(seed)
    kind = ("ROPE", "CHAIN", "CABLE")[seed % 3]
    height, distance = random.uniform(0.8, 3.0), random.uniform(1.0, 4.0)
    return kind, height, distance, float(random.uniform(0.0, 1.0)), int(random.integers(8, 60))


ROPES = [("CHAIN", 1.0, 4.0, 1.0, 40), ("ROPE", 3.0, 4.0, 0.1, 200), *map(rope_settings, range(6))]  # fmt: skip


@pytest.mark.parametrize(("kind", "height", "distance", "slack", "count"), ROPES, ids=str)
def test_a_row_starts_above_the_floor_and_holds_together(kind, height, distance, slack, count):
    floor()
    ends = [scenes.add("Post", location=(x, 0, height)) for x in (0, distance)]
    select(*ends)
    radius = 0.01
    assert bpy.ops.usdphys.rope(kind=kind, slack=slack, segments=count, radius=radius) == {"FINISHED"}
    row = bodies()
    row.sort(key=lambda obj: int(obj.name.rsplit(" ", 1)[1]))
    length = distance * (1 + slack) / count
    low = min(corner[2] for obj in row for corner in (obj.matrix_world @ v.co for v in obj.data.vertices))
    assert low > -1e-4
    session = scenes.play(2.0)
    assert widest_gap(row, [length] * count) < 0.005
    low = min(obj.matrix_world.translation.z for obj in row)
    assert low > 0.0
    assert np.isfinite(session.world.positions).all()


# --------------------------------------------------------------------------- bridges, nets, lifts, vehicles, doors


def held():
    """(joint, body, place in it, other body, place in that) of the joints that hold their bodies at a point."""
    found = []
    for obj in bpy.context.scene.objects:
        joint = obj.usdphys.joint
        limits = (joint.limits.transX, joint.limits.transY, joint.limits.transZ)
        is_point = joint.type in ("REVOLUTE", "SPHERICAL", "FIXED") or all(
            limit.is_applied and limit.low > limit.high for limit in limits
        )
        if joint.is_applied and is_point:
            place = obj.matrix_world.translation
            sides = [
                (body, None if body is None else body.matrix_world.inverted() @ place)
                for body in (joint.body0, joint.body1)
            ]
            found.append((obj.name, *sides, place.copy()))
    return found


def separation(joints) -> float:
    """The widest gap between the two sides of joints, Blender units."""
    widest = 0.0
    for _, *sides, place in joints:
        ends = [place if body is None else body.matrix_world @ local for body, local in sides]
        widest = max(widest, (ends[0] - ends[1]).length)
    return widest


def check_start():
    """Nothing starts inside of something else."""
    bpy.context.view_layer.update()
    issues = validate.validate(scenes.read_model(), "physx")
    assert [issue.message for issue in issues if issue.code == "BodiesOverlap"] == []


def check_rest(session, most=0.02):
    assert np.isfinite(session.world.positions).all()
    assert np.abs(session.world.velocities()[0][:, :3]).max(initial=0.0) < most


def one_of(random, *choices):
    return choices[int(random.integers(len(choices)))]


@pytest.mark.parametrize("seed", range(3))
def test_a_bridge_bears_a_crate_and_comes_to_rest(seed):
    random = np.random.default_rng(seed)
    span, height = float(random.uniform(2.0, 6.0)), 3.0
    posts = [scenes.add_box("Post", (0.3, 1.0, 0.2), location=(x, 0, height)) for x in (0.0, span)]
    select(*posts)
    assert bpy.ops.usdphys.rope(
        kind="BRIDGE", segments=int(random.integers(6, 24)), slack=float(random.uniform(0.02, 0.15)),
        width=float(random.uniform(0.5, 1.5)), articulation=bool(random.integers(2)),
    ) == {"FINISHED"}  # fmt: skip
    crate = scenes.solid("Crate", (0.2, 0.2, 0.2), location=(0.5 * span, 0, height + 0.5))
    scenes.make_body(crate)
    check_start()
    joints = held()
    session = scenes.play(8.0)
    assert separation(joints) < 0.005
    assert crate.matrix_world.translation.z > height - 0.4 * span
    check_rest(session, 0.05)


@pytest.mark.parametrize("seed", range(3))
def test_a_net_hangs_together(seed):
    random = np.random.default_rng(seed)
    bpy.context.scene.cursor.location = (0, 0, 3)
    knots = tuple(int(one) for one in random.integers(3, 9, 2))
    size = tuple(float(one) for one in random.uniform(0.5, 3.0, 2))
    bpy.ops.usdphys.net(size=size, knots=knots, held=one_of(random, "CORNERS", "EDGES"))
    check_start()
    joints = held()
    session = scenes.play(6.0)
    assert separation(joints) < 0.005
    assert min(obj.matrix_world.translation.z for obj in bodies()) > 3.0 - max(size)
    check_rest(session, 0.05)


@pytest.mark.parametrize("stages", [1, 3, 6])
def test_a_lift_rises_as_far_as_it_was_asked(stages):
    random = np.random.default_rng(stages)
    floor()
    size = float(random.uniform(0.5, 1.5))
    gap = size * stages * float(random.uniform(0.25, 0.4))
    base = scenes.add_box("Base", (size, 0.6 * size, 0.05), location=(0, 0, 0.05))
    platform = scenes.add_box("Platform", (size, 0.6 * size, 0.05), location=(0, 0, 0.15 + gap))
    select(base, platform)
    rise = 0.3 * gap
    assert bpy.ops.usdphys.mechanism(kind="SCISSOR_LIFT", stages=stages, rise=rise) == {"FINISHED"}
    joints, before = held(), platform.matrix_world.translation.z
    session = scenes.play(6.0)
    assert platform.matrix_world.translation.z - before == pytest.approx(rise, rel=0.05)
    assert separation(joints) < 0.005 * max(1.0, gap)
    check_rest(session)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 304])
def test_a_vehicle_stands_on_its_wheels(seed):
    random = np.random.default_rng(seed)
    size = float(random.choice((0.1, 1.0, 4.0)))
    axles = int(random.integers(2, 4))
    floor()
    radius = size * float(random.uniform(0.2, 0.3))
    chassis = scenes.add_box("Body", (size, 0.45 * size, 0.2 * size), location=(0, 0, 2.0 * radius))
    wheels = []
    for x in np.linspace(-0.7, 0.7, axles):
        for y in (-0.6, 0.6):
            bpy.ops.mesh.primitive_cylinder_add(radius=radius, depth=0.15 * size, vertices=32)
            wheel = bpy.context.object
            wheel.name, wheel.location = "Wheel", (x * size, y * size, radius)
            wheel.rotation_euler = (np.pi / 2, 0, 0)
            wheels.append(wheel)
    select(chassis, *wheels)
    assert bpy.ops.usdphys.vehicle(
        driven="NONE", shape=one_of(random, "SPHERE", "CYLINDER"), articulation=bool(random.integers(2)),
        frequency=float(random.uniform(1.5, 4.0)),
    ) == {"FINISHED"}  # fmt: skip
    before = chassis.matrix_world.copy()
    session = scenes.play(4.0)
    assert (chassis.matrix_world.translation - before.translation).length < 0.05 * size
    assert chassis.matrix_world.col[2].z > 0.999
    check_rest(session, 0.05)


@pytest.mark.parametrize("seed", range(4))
def test_parts_of_mechanisms_stay_where_they_are_until_they_are_moved(seed):
    random = np.random.default_rng(seed)
    size = float(random.choice((0.1, 1.0, 5.0)))
    kind, place, half = (
        ("DOOR", (0.55, 0, 1), (0.4, 0.03, 1)), ("LID", (0, 0, 2.05), (0.4, 0.4, 0.04)),
        ("DRAWER", (0.0, -0.3, 2.2), (0.3, 0.3, 0.15)), ("LEVER", (0, 0, 2.4), (0.03, 0.03, 0.4)),
    )[seed]  # fmt: skip
    base = scenes.add_box("Base", (0.1 * size, 0.1 * size, size), location=(0, 0, size))
    part = scenes.add_box("Part", [one * size for one in half], location=[one * size for one in place])
    select(base, part)
    assert bpy.ops.usdphys.mechanism(kind=kind, articulation=bool(random.integers(2))) == {"FINISHED"}
    before = part.matrix_world.translation.copy()
    session = scenes.play(3.0)
    if kind in ("DOOR", "DRAWER"):
        assert (part.matrix_world.translation - before).length < 0.01 * size
    assert separation(held()) < 0.005
    check_rest(session)
