# SPDX-License-Identifier: GPL-3.0-or-later
"""The first moment: bodies that sleep, joints whose frames are apart."""

from __future__ import annotations

import math
import random
import tracemalloc

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.simulation import ball_rows
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, IDENTITY, METERS, File, Units, about, block, multiply
from .catalogue import NEVER
from .helpers import apart, codes, model_in, place, run, turn, world_of

W = "/World"


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
@pytest.mark.parametrize(
    "kind", ["on the ground", "a stack", "in the ground", "joint", "hinge", "drive", "tree", "lift", "hook"]
)
def test_bodies_that_start_asleep_stay_asleep(kind: str, units: Units) -> None:
    file = File(units)
    file.add(file.ground(size=20))
    if kind == "on the ground":
        file.add(file.body("A", (0, 0, 0.2), size=(0.4,) * 3, asleep=True))
    elif kind == "a stack":
        file.add(*(file.body(f"Box{i}", (0.01 * i, 0, 0.1 + 0.2 * i), size=(0.2,) * 3, asleep=True) for i in range(5)))
    elif kind == "in the ground":
        file.add(file.body("A", (0, 0, 0.15), size=(0.4,) * 3, asleep=True))
    elif kind == "lift":
        file.add(file.body("Lift", (0, 0, 2), size=(1, 1, 0.2), kinematic=True),
                 *(file.body(f"Box{i}", (0, 0, 2.2 + 0.2 * i), size=(0.2,) * 3, asleep=True)
                   for i in range(2)))  # fmt: skip
    elif kind == "hook":
        file.add(file.body("Hook", (0, 0, 3), size=(0.2,) * 3, kinematic=True),
                 file.body("A", (0.7, 0, 3), size=(0.2,) * 3, asleep=True),
                 file.joint("J", "Revolute", f"{W}/Hook", f"{W}/A", pos1=(-0.7, 0, 0), axis="Y"))  # fmt: skip
    elif kind == "joint":
        file.add(file.body("A", (0, 0, 3), asleep=True), file.body("B", (0, 0, 5), asleep=True),
                 file.joint("J", "Spherical", f"{W}/A", f"{W}/B", pos0=(0, 0, 1), pos1=(0, 0, -1)))  # fmt: skip
    else:
        drives = {"angular": {"stiffness": 100.0, "targetPosition": 1.0}} if kind == "drive" else {}
        file.add(block("Xform", "R", [
            file.body("A", (0.7, 0, 3), asleep=True),
            file.joint("J", "Revolute", "", f"{W}/R/A", pos0=(0, 0, 3), pos1=(-0.7, 0, 0), axis="Y", drives=drives),
        ], ["PhysicsArticulationRootAPI"] if kind == "tree" else []))  # fmt: skip
    world = world_of(file)
    before = world.positions.copy()
    run(world, 1.0)
    assert world.awake_count == 0
    assert world.positions == pytest.approx(before, abs=1e-7)
    # And after a reset.
    world.reset()
    assert run(world, 0.1).awake_count == 0


def test_what_starts_asleep_wakes_when_it_is_hit_and_the_rest_keeps_its_velocity() -> None:
    file = File(CENTIMETERS)
    file.add(file.ground(size=50), file.body("Target", (3, 0, 0.25), size=(0.5,) * 3, asleep=True),
             file.body("Ball", (0, 0, 0.25), shape="Sphere", size=(0.2,), velocity=(4, 0, 0), spin=(0, 3, 0)),
             )  # fmt: skip
    inside = [file.body("Arm", (0.5, 9, 5), velocity=(0, 2, 0), spin=(0, 0, 4), inertia=(0.1,) * 3),
              file.joint("Pin", "Revolute", "", f"{W}/R/Arm", pos0=(0, 9, 5), pos1=(-0.5, 0, 0), axis="Z")]  # fmt: skip
    file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"]))
    world = world_of(file)
    linear, angular = world.velocities()
    ball, arm = world.index(f"{W}/Ball"), world.index(f"{W}/R/Arm")
    assert linear[ball] == pytest.approx((4, 0, 0)) and angular[ball] == pytest.approx((0, 3, 0))
    assert angular[arm] == pytest.approx((0, 0, 4), abs=1e-5)
    run(world, 0.3)
    assert not world.awake[world.index(f"{W}/Target")]
    run(world, 1.0)
    assert place(world, "Target")[0] > 3.05


@pytest.mark.parametrize("speed", [-1.0, -0.1, 1.0])
@pytest.mark.parametrize("count", [1, 3])
def test_what_starts_asleep_on_a_lift_rides_on_it(count: int, speed: float) -> None:
    file = File(METERS)
    file.add(file.body("Lift", (0, 0, 2), size=(1, 1, 0.2), kinematic=True),
             *(file.body(f"Box{i}", (0, 0, 2.2 + 0.2 * i), size=(0.2,) * 3, asleep=True)
               for i in range(count)))  # fmt: skip
    world = world_of(file)
    for frame in range(120):
        moved = speed * min(max(frame / 60 - 0.5, 0.0), 1.0)
        world.set_kinematic_pose(f"{W}/Lift", (0, 0, 2 + moved), IDENTITY)
        world.step()
    for number in range(count):
        assert place(world, f"Box{number}") == pytest.approx((0, 0, 2.2 + 0.2 * number + speed), abs=0.003)


@pytest.mark.parametrize("seed", range(12))
def test_a_wall_of_which_any_part_starts_asleep_stands_while_something_flies_by(seed: int) -> None:
    """Columns that touch or do not, on a static or a kinematic floor so large that a window of it is simulated."""
    chance = random.Random(seed)
    size, file = 10.0 ** chance.uniform(-1, 1), File(chance.choice([METERS, CENTIMETERS]))
    width = size * chance.choice([1.0, 1.05, 5.0])
    places = [(width * column, 0.0, size * (0.5 + row)) for column in range(3) for row in range(3)]
    asleep = [chance.random() < chance.choice([0.5, 0.9, 1.0]) for _ in places]
    if seed % 3:
        file.add(file.ground(size=200 * size))
    else:
        file.add(file.body("Floor", (0, 0, -size), size=(200 * size, 200 * size, 2 * size), kinematic=True))
    file.add(*(file.body(f"Brick{number}", at, size=(size, size, size), asleep=is_asleep)
               for number, (at, is_asleep) in enumerate(zip(places, asleep, strict=True))))  # fmt: skip
    file.add(file.body("Rod", (-6 * size, 4 * size, 6 * size), shape="Capsule", size=(0.2 * size, size),
                       velocity=(12 * size, -2 * size, math.sqrt(20 * size))))  # fmt: skip
    world = run(world_of(file), 1.5)
    for number, start in enumerate(places):
        assert place(world, f"Brick{number}") == pytest.approx(start, abs=0.02 * size)


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
def test_slides_through_the_middles_of_bodies_far_along_them_have_no_gap(units: Units) -> None:
    """No arm says how large the bodies of such a joint are, and their places are rounded."""
    file, rotation = File(units), multiply(about("X", 63), about("Z", 37))
    line = frames.matrix_of(np.array(rotation))[:, 2]
    for number in range(1, 6):
        file.add(file.body(f"Bead{number}", 1.06 * number * line, rotation, shape="Sphere", size=(0.1,)),
                 file.joint(f"Rail{number}", "Prismatic", body1=f"{W}/Bead{number}", axis="Z",
                            rot0=rotation))  # fmt: skip
    assert "JointApart" not in codes(world_of(file))


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
@pytest.mark.parametrize("kind", ["Revolute", "Spherical", "Fixed", "Prismatic", "D6"])
@pytest.mark.parametrize("size", [0.05, 1.0, 20.0])
def test_frames_that_are_apart_are_closed_before_the_start_and_leave_no_speed(
    kind: str, size: float, units: Units
) -> None:
    """Two bodies in space, frames a quarter of their size apart and turned by 20 degrees where the joint locks."""
    file = File(units)
    file.gravity = (0, 0, 0)
    inertia = (0.1 * size**2,) * 3
    file.add(file.body("A", (0, 0, 0), size=(size,) * 3, mass=1.0, inertia=inertia),
             file.body("B", (2.0 * size, 0.25 * size, 0), about("Y", 20), size=(size,) * 3, mass=3.0,
                       inertia=tuple(3 * part for part in inertia)))  # fmt: skip
    limits = {"limits": dict.fromkeys(("transX", "transY", "transZ", "rotX", "rotY"), NEVER)} if kind == "D6" else {}
    file.add(file.joint("J", kind, f"{W}/A", f"{W}/B", pos0=(size, 0, 0), pos1=(-size, 0, 0), **limits))
    model = model_in(file)
    world = World(model)
    (notice,) = world.notices
    assert (notice.code, notice.path) == ("JointApart", f"{W}/J")
    # The first moment shows what the file says, which a bake keeps; the joint is closed when the first step begins.
    assert world.positions[1] == pytest.approx((2.0 * size, 0.25 * size, 0), abs=1e-6 * size)
    world.step()
    if kind != "Prismatic":
        assert apart(model, world, f"{W}/J") < 1e-4 * size
    start = world.positions.copy()
    # The centre of mass of both has not moved.
    assert (start[0] + 3 * start[1]) / 4 == pytest.approx(np.array((6.0, 0.75, 0)) / 4 * size, abs=1e-4 * size)
    run(world, 1.0)
    assert world.positions == pytest.approx(start, abs=1e-4 * size)
    linear, angular = world.velocities()
    assert np.abs(linear).max() < 1e-3 * size and np.abs(angular).max() < 1e-3


def test_bodies_keep_their_velocities_where_a_joint_is_closed() -> None:
    """A wheel 5 cm beside its axle begins to turn at the speed that is authored."""
    file = File()
    file.gravity = (0, 0, 0)
    file.add(file.body("Wheel", (0, 0.05, 2), shape="Cylinder", size=(0.3, 0.1), inertia=(0.1,) * 3, spin=(0, 0, 7)),
             file.joint("Axle", "Revolute", "", f"{W}/Wheel", pos0=(0, 0, 2), axis="Z"))  # fmt: skip
    world = run(world_of(file), 1.0)
    assert place(world, "Wheel") == pytest.approx((0, 0, 2), abs=1e-3)
    assert world.velocities()[1][0] == pytest.approx((0, 0, 7), abs=0.05)
    assert "50 mm" in world.notices[0].message


def test_a_chain_of_gaps_is_closed_as_a_whole() -> None:
    """Ten links of 0.1 and 10 kg in turn, each 3 mm too far from the last, below a hook."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    previous, anchor = "", (0.0, 0.0, 3.0)
    for index in range(10):
        path = f"{W}/Link{index}"
        file.add(file.body(f"Link{index}", (0, 0, 2.9 - 0.203 * index), size=(0.04, 0.04, 0.2),
                           mass=10.0 if index % 2 else 0.1, inertia=(0.01,) * 3))  # fmt: skip
        file.add(file.joint(f"J{index}", "Spherical", previous, path, pos0=anchor, pos1=(0, 0, 0.1)))
        previous, anchor = path, (0.0, 0.0, -0.1)
    model = model_in(file)
    world = World(model)
    world.step()
    assert all(apart(model, world, path) < 1e-4 for path in world.joints)
    run(world, 0.5)
    assert all(apart(model, world, path) < 1e-4 for path in world.joints)
    assert np.abs(world.velocities()[0]).max() < 1e-3


def test_frames_that_fit_leave_every_body_where_it_is_and_say_nothing() -> None:
    file = File(CENTIMETERS)
    file.add(file.body("A", (1, 2, 3), about("X", 33)),
             file.body("B", (1, 2, 5), about("X", 33)))  # fmt: skip
    down = np.array((0, -math.sin(math.radians(33)), math.cos(math.radians(33))))
    offset = np.array((0, 0, 2.0))
    local = (0.0, float(offset @ (0, math.cos(math.radians(33)), math.sin(math.radians(33)))), float(offset @ down))
    file.add(file.joint("J", "Fixed", f"{W}/A", f"{W}/B", pos0=local))
    world = world_of(file)
    assert codes(world) == []
    assert place(world, "A") == pytest.approx((1, 2, 3), abs=1e-9)
    assert turn(world, "B") == pytest.approx(turn(world, "A"), abs=1e-9)


@pytest.mark.parametrize("kind", ["Fixed", "Prismatic", "D6"])
@pytest.mark.parametrize("units", [Units("in_lb_Y", 0.0254, 0.4536, "Y"), Units("ft_g_Z", 0.3048, 0.001, "Z")])
def test_a_gap_that_is_rounding_of_the_file_is_none(kind: str, units: Units) -> None:
    """The frames are in the middle of the body, 7 m away: USD holds them in single precision, its place in double."""
    file = File(units)
    place_ = (0.3, -7.1, 2.3)
    limits = dict.fromkeys(("transX", "transY", "transZ"), NEVER) if kind == "D6" else None
    file.add(file.body("Box", place_, size=(0.2, 0.2, 0.2)),
             file.joint("J", kind, "", f"{W}/Box", pos0=place_, axis="X" if kind == "Prismatic" else "",
                        limits=limits))  # fmt: skip
    world = world_of(file)
    assert "JointApart" not in codes(world)


@pytest.mark.parametrize(("shape", "gap"), [("Sphere", 0.0), ("Cube", 0.0), ("Sphere", 0.01)])
def test_bodies_that_bounce_in_a_row_are_said(shape: str, gap: float) -> None:
    file = File()
    file.gravity = (0, 0, 0)
    file.add(file.material("Steel", 0.0, 1.0))
    size = (0.5,) if shape == "Sphere" else (1.0, 1.0, 1.0)
    file.add(*(file.body(f"B{i}", (0, (1.0 + gap) * i, 0), shape=shape, size=size, material=f"{W}/Steel")
               for i in range(3)))  # fmt: skip
    world = world_of(file)
    assert codes(world) == ["BouncesInRow"] * (gap == 0.0)
    assert all("smaller" in issue.message for issue in world.notices) == (shape == "Sphere")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["preview", "mujoco"])
def test_a_row_that_bounces_is_found_among_thousands_of_balls_in_little_memory(engine: str) -> None:
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    file = File()
    file.gravity = (0, 0, 0)
    file.add(file.material("Steel", 0.0, 1.0))
    spots = [(2.0 * (number % 50), 2.0 * (number // 50), 9.0) for number in range(2500)] + [(i, 0, 0) for i in range(3)]
    file.add(*(file.body(f"B{number}", spot, shape="Sphere", size=(0.5,), material=f"{W}/Steel")
               for number, spot in enumerate(spots)))  # fmt: skip
    model = model_in(file)
    tracemalloc.start()
    try:
        world = World(model, engine=engine)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [issue.message.split()[0] for issue in world.notices if issue.code == "BouncesInRow"] == [f"{W}/B2501"]
    # A distance of each ball to each takes eight bytes.
    assert most < 8.0 * len(spots) ** 2


def test_rows_that_bounce_are_told_apart() -> None:
    """A row along X of small balls, one along Z of large ones, two that touch, one in a corner, one deep in others."""
    row = [(0.1 * i, 0, 0) for i in range(4)]
    large = [(50, 0, 30.0 * i) for i in range(3)]
    pair = [(0, 5, 0), (0, 5.1, 0)]
    corner = [(0, 9, 0), (0.1, 9, 0), (0, 9.1, 0)]
    deep = [(0, 20, 0), (0.01, 20, 0), (-0.01, 20, 0)]
    places = np.array([*row, *large, *pair, *corner, *deep], float)
    sizes = np.array([0.1] * 4 + [30.0] * 3 + [0.1] * 8)
    bounces = np.full(len(places), 0.9)
    found = [(rows[0], sorted(rows)) for rows in ball_rows.rows_that_bounce(places, sizes, bounces)]
    assert found == [(1, [0, 1, 2, 3]), (5, [4, 5, 6])]
    bounces[2] = 0.0  # its contacts still bounce by 0.45, which is too little
    assert [rows[0] for rows in ball_rows.rows_that_bounce(places, sizes, bounces)] == [5]


def test_thousands_of_bodies_that_bounce_inside_of_one_are_no_row_and_take_little_memory() -> None:
    spots = np.random.default_rng(0).uniform(-1.0, 1.0, (4000, 3))
    places, sizes = np.concatenate((spots, np.zeros((1, 3)))), np.append(np.full(4000, 0.001), 10.0)
    tracemalloc.start()
    try:
        assert ball_rows.rows_that_bounce(places, sizes, np.ones(4001)) == []
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1 * 4001**2


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
@pytest.mark.parametrize("kind", ["Revolute", "Fixed", "Prismatic"])
def test_a_joint_whose_frames_are_back_to_back_is_closed(kind: str, units: Units) -> None:
    """As on a prim that a parent mirrors, whose frame without the mirroring is turned by half a turn."""
    file = File(units)
    file.add(file.body("Rod", (-0.5, 0, 3), about("X", 180), size=(0.8, 0.1, 0.1)),
             file.joint("Hinge", kind, "", f"{W}/Rod", pos0=(0, 0, 3), pos1=(0.5, 0, 0), axis="Y"))  # fmt: skip
    world = world_of(file)
    assert codes(world) == ["JointApart"]
    world.step()
    assert turn(world, "Rod") == pytest.approx(np.eye(3), abs=1e-3) or kind == "Revolute"
    lowest = 3.0
    for _ in range(60):
        world.step()
        lowest = min(lowest, place(world, "Rod")[2])
        assert apart(model_in(file), world, f"{W}/Hinge") < 0.001
    assert lowest == pytest.approx(2.5 if kind == "Revolute" else 3.0, abs=0.01)
    assert world.unstable == {}


@pytest.mark.parametrize("length", [0.01, 0.1, 1.0, 10.0])
def test_a_tree_starts_with_what_its_joints_leave_of_the_velocities(length: float) -> None:
    """As a plain joint does: about the axis, the spin that has the same angular momentum, in all sizes alike."""
    mass, inertia, arm, spin = 2.0, 0.5 * length**2, 0.8 * length, 3.0
    file = File(METERS)
    file.add(block("Xform", "R", [
        file.body("Arm", (arm, 0, 5), size=(0.1 * length,) * 3, mass=mass, inertia=(inertia,) * 3, spin=(1, 2, spin)),
        file.joint("Pin", "Revolute", "", f"{W}/R/Arm", pos0=(0, 0, 5), pos1=(-arm, 0, 0), axis="Z"),
    ], ["PhysicsArticulationRootAPI"]))  # fmt: skip
    world = world_of(file)
    world.step()
    _, angular = world.velocities()
    left = inertia * spin / (inertia + mass * arm**2)
    assert angular[world.index(f"{W}/R/Arm")] == pytest.approx((0, 0, left), abs=1e-3)
