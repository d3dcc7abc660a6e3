# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures that are inertia of the bodies of a joint act as a textbook says, also where something hits them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, METERS, File, Units
from .helpers import place, run, world_of

#: Limits that lock an axis.
LOCKED = (1.0, -1.0)
BAR = 1.0 / 3.0
"""Moment of inertia, kg m2, of a bar of 1 m and 1 kg about its end."""


def with_armature(file: File, armature: float) -> dict[str, list[str]]:
    """What gives a joint an armature, kg m2."""
    return {"apis": ["NewtonJointAPI"], "lines": [f"float newton:armature = {file.torque(armature)}"]}


def bar_and_ball(armature: float, restitution: float, units: Units, *, offset: float, axis: str = "Z") -> File:
    """A bar along X on a hinge at its end, and a ball of 0.3 kg that flies at it at 2 m/s, 0.8 m from the hinge."""
    file = File(units, gravity=(0.0, 0.0, 0.0))
    file.add(file.material("Smooth", 0.0, restitution))
    file.add(file.body("Bar", (0.5, 0, 0), size=(1, 0.05, 0.05), mass=1.0, inertia=(0.01, 1 / 12, 1 / 12),
                       material="/World/Smooth"))  # fmt: skip
    file.add(file.joint("Hinge", "Revolute", "", "/World/Bar", axis=axis, pos1=(-0.5, 0, 0),
                        **with_armature(file, armature)))  # fmt: skip
    file.add(file.body("Ball", (0.8, -0.125 - offset, 0), shape="Sphere", size=(0.1, 0, 0), mass=0.3,
                       velocity=(0, 2.0, 0), material="/World/Smooth"))  # fmt: skip
    return file


def spin_after_blow(world: World) -> float:
    """The speed of the bar, rad/s, soon after the ball has hit it."""
    for _ in range(60):
        world.step()
        if abs(world.velocities()[1][0][2]) > 0.05:
            run(world, 4 * world.time_step)
            return float(world.velocities()[1][0][2])
    raise AssertionError("The ball missed the bar.")


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize(("armature", "restitution"), [
    (0.02, 0.0), (0.02, 1.0), (0.2, 0.0), (0.2, 1.0), (1.0, 0.0), (1.0, 1.0), (5.0, 0.0),
])  # fmt: skip
def test_a_blow_meets_the_armature_of_a_hinge(armature: float, restitution: float, units: Units) -> None:
    """With a motor in its place, a ball that bounces gave the bar 1.3 times its speed."""
    expected = (1.0 + restitution) * 0.3 * 2.0 * 0.8 / (BAR + armature + 0.3 * 0.8**2)
    for offset in (0.05, 0.08):
        found = spin_after_blow(world_of(bar_and_ball(armature, restitution, units, offset=offset)))
        # A bar that is heavy to turn and light to move is held by its hinge only after the ball has left.
        assert found == pytest.approx(expected, rel=0.08 if restitution and armature > BAR else 0.02)


@pytest.mark.slow
def test_a_joint_that_lets_go_takes_its_armature_along() -> None:
    """The bar is free then, and turns about its middle."""
    world = world_of(bar_and_ball(0.2, 1.0, METERS, offset=0.1))
    snapshot = world.snapshot()
    world.set_joint_enabled("/World/Hinge", False)
    # A ball at a bar that is free: an impulse p at the distance r from its middle.
    impulse = 2.0 * 2.0 / (1.0 / 0.3 + 1.0 + 0.3**2 * 12.0)
    free = impulse * 0.3 * 12.0
    assert spin_after_blow(world) == pytest.approx(free, rel=0.02)
    world.restore(snapshot)
    held = 2.0 * 0.3 * 2.0 * 0.8 / (BAR + 0.2 + 0.3 * 0.8**2)
    assert spin_after_blow(world) == pytest.approx(held, rel=0.02)


def two_balls(armature: float, damping: float, units: Units, moments: tuple[float, float]) -> File:
    """Two balls about one point on a ball joint that is damped; the second one turns."""
    file = File(units, gravity=(0.0, 0.0, 0.0))
    for name, moment, spin in (("One", moments[0], (0, 0, 0)), ("Two", moments[1], (1.0, -2.0, 2.0))):
        file.add(file.body(name, (0.3, 0.1, 0.2), shape="Sphere", size=(0.1, 0, 0), inertia=(moment,) * 3, spin=spin,
                           collides=False))  # fmt: skip
    drive: dict[str, float | str] = {"stiffness": 0.0, "damping": damping}
    file.add(file.joint(
        "Joint", "D6", "/World/One", "/World/Two", limits=dict.fromkeys(("transX", "transY", "transZ"), LOCKED),
        drives=dict.fromkeys(("rotX", "rotY", "rotZ"), drive), **with_armature(file, armature),
    ))  # fmt: skip
    return file


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize(("armature", "moments"), [
    (0.1, (1.0, 1.0)), (0.5, (1.0, 0.6)), (0.3, (3.0, 0.2)), (0.02, (0.1, 5.0)),
])  # fmt: skip
def test_two_bodies_share_the_armature_of_their_ball_joint(armature, moments, units) -> None:
    """What is between them slows down as with an armature, and the angular momentum stays."""
    one, two = moments
    reduced = one * two / (one + two)
    damping = (reduced + armature) / 0.4
    world = world_of(two_balls(armature, damping, units, moments))
    start = np.array(world.velocities()[1])
    run(world, 0.4)
    now = np.array(world.velocities()[1])
    assert now[1] - now[0] == pytest.approx((start[1] - start[0]) / math.e, rel=0.03)
    assert one * now[0] + two * now[1] == pytest.approx(two * start[1], rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("armature", [0.1, 1.0, 30.0])
def test_heavy_rotors_turn_with_their_bodies(armature: float, units: Units) -> None:
    """A motor turns the first body, and takes the second one along by the armature of the joint between them."""
    file, torque, seconds = two_balls(armature, 0.0, units, (1.0, 1.0)), 3.0, 0.1
    motor: dict[str, float | str] = {"damping": 1e6, "targetVelocity": 500.0, "maxForce": torque}
    file.add(file.joint("Motor", "Revolute", "", "/World/One", pos0=(0.3, 0.1, 0.2), axis="Z",
                        drives={"angular": motor}))  # fmt: skip
    world = world_of(file)
    start = np.array(world.velocities()[1])[:, 2]
    run(world, seconds)
    gained = np.linalg.solve([[1.0 + armature, -armature], [-armature, 1.0 + armature]], [torque * seconds, 0.0])
    assert np.array(world.velocities()[1])[:, 2] - start == pytest.approx(gained, rel=0.05, abs=0.01)


def arm(armature: float, units: Units) -> File:
    """Four rods on limited ball joints in a row that falls from the horizontal."""
    file, before = File(units), ""
    for number in range(4):
        name, long = f"L{number}", 0.4
        file.add(file.body(name, (long * (number + 0.5), 0, 0), size=(long, 0.04, 0.04), mass=1.0,
                           inertia=(0.004, 1 / 75, 1 / 75), collides=False))  # fmt: skip
        file.add(file.joint(
            f"J{number}", "D6", before, f"/World/{name}", pos0=(long / 2 if before else 0.0, 0, 0),
            pos1=(-long / 2, 0, 0),
            limits={**dict.fromkeys(("transX", "transY", "transZ"), LOCKED),
                    **dict.fromkeys(("rotX", "rotY", "rotZ"), (-2.5, 2.5))},
            **with_armature(file, armature),
        ))  # fmt: skip
        before = f"/World/{name}"
    return file


@pytest.mark.slow
@pytest.mark.parametrize("armature", [0.0, 0.002, 0.01])
def test_a_row_of_ball_joints_with_armatures_falls_as_in_mujoco(armature: float) -> None:
    worlds = [world_of(arm(armature, METERS), engine=engine) for engine in ("preview", "mujoco")]
    for world in worlds:
        run(world, 0.5)
    for name in ("L0", "L1", "L2", "L3"):
        ours, theirs = (place(world, name) for world in worlds)
        assert math.dist(ours, theirs) < 0.02 * max(-theirs[2], 0.05)


def test_such_joints_take_no_more_steps_of_the_solver() -> None:
    """A ragdoll in an articulation played in four times the time that it showed."""
    plain, geared = (world_of(arm(armature, METERS)).substeps for armature in (0.0, 0.002))
    assert geared == plain
