# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints posed by hand: which bodies go along and where they come to be, against what geometry says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, METERS, File, Units, about, block
from .catalogue import SCENES
from .helpers import made, place, row_of, run, turn, world_of

W = "/World"
INSIDE = {"size": (1.0, 0.1, 0.1), "mass": 1.0, "inertia": (0.002, 0.08, 0.08)}


def arm(units: Units = METERS, *, reduced: bool = False, backwards: bool = False, floats: bool = False) -> World:
    """Two links of 1 m along X that turn about Y: shoulder at (0, 0, 2), elbow at (1, 0, 2), a cap at the end.

    backwards: both joints have the link nearer to the world as body 1. floats: nothing holds the first link.
    """
    file = File(units)
    up = f"{W}/Arm"
    ends = {"Shoulder": ("", f"{up}/Upper", (0, 0, 2), (-0.5, 0, 0)),
            "Elbow": (f"{up}/Upper", f"{up}/Lower", (0.5, 0, 0), (-0.5, 0, 0))}  # fmt: skip
    joints = []
    for name, (first, second, pos0, pos1) in ends.items():
        if name == "Shoulder" and floats:
            continue
        low, high = -2.5, 1.5
        if backwards:
            first, second, pos0, pos1, low, high = second, first, pos1, pos0, -high, -low
        joints.append(file.joint(name, "Revolute", first, second, pos0=pos0, pos1=pos1, axis="Y", low=low, high=high))
    joints.append(file.joint("Glue", "Fixed", f"{up}/Lower", f"{up}/Cap", pos0=(0.5, 0, 0), pos1=(-0.1, 0, 0)))
    bodies = [
        file.body("Upper", (0.5, 0, 2), **INSIDE), file.body("Lower", (1.5, 0, 2), **INSIDE),
        file.body("Cap", (2.1, 0, 2), size=(0.2, 0.2, 0.2)),
    ]  # fmt: skip
    file.add(block("Xform", "Arm", [*bodies, *joints], ["PhysicsArticulationRootAPI"] if reduced else []))
    world = world_of(file)
    assert world.is_reduced(f"{up}/Elbow") == reduced
    return world


def along(angle: float) -> np.ndarray:
    """Direction of a link turned about Y."""
    return np.array([math.cos(angle), 0.0, -math.sin(angle)])


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("reduced", [False, True])
def test_two_link_arm(reduced: bool, backwards: bool) -> None:
    world = arm(CENTIMETERS, reduced=reduced, backwards=backwards)
    sign = -1.0 if backwards else 1.0
    shoulder, elbow = f"{W}/Arm/Shoulder", f"{W}/Arm/Elbow"
    assert set(world.pose_joint(elbow, "angular", sign * 0.7)) == {f"{W}/Arm/Lower", f"{W}/Arm/Cap"}
    everything = {f"{W}/Arm/{name}" for name in ("Upper", "Lower", "Cap")}
    assert set(world.pose_joint(shoulder, "angular", sign * -0.4)) == everything
    start = np.array([0.0, 0.0, 2.0])
    middle = start + along(-0.4)
    assert place(world, "Upper") == pytest.approx(start + along(-0.4) / 2, abs=1e-5)
    assert place(world, "Lower") == pytest.approx(middle + along(0.3) / 2, abs=1e-5)
    assert place(world, "Cap") == pytest.approx(middle + along(0.3) * 1.1, abs=1e-5)
    positions = world.joint_positions()
    assert positions[shoulder]["angular"] == pytest.approx(sign * -0.4, abs=1e-5)
    assert positions[elbow]["angular"] == pytest.approx(sign * 0.7, abs=1e-5)
    assert positions[f"{W}/Arm/Glue"] == {}
    assert world.frame == 0


@pytest.mark.parametrize("reduced", [False, True])
def test_it_goes_on_from_the_pose_and_resets_to_the_bit(reduced: bool) -> None:
    world = arm(reduced=reduced)
    before = world.positions.tobytes() + world.rotations.tobytes()
    run(world, 0.3)
    free = world.positions.tobytes() + world.rotations.tobytes()
    world.reset()
    world.pose_joint(f"{W}/Arm/Elbow", "angular", 1.0)
    world.pose_joint(f"{W}/Arm/Shoulder", "angular", -1.2)
    posed = place(world, "Cap").copy()
    world.step()
    assert np.linalg.norm(place(world, "Cap") - posed) < 0.01
    run(world, 0.1)
    # It still hangs together, and it falls.
    elbow = place(world, "Upper") + turn(world, "Upper") @ (0.5, 0, 0)
    assert place(world, "Lower") + turn(world, "Lower") @ (-0.5, 0, 0) == pytest.approx(elbow, abs=2e-3)
    assert place(world, "Cap")[2] < posed[2] - 0.01
    world.reset()
    assert world.positions.tobytes() + world.rotations.tobytes() == before
    run(world, 0.3)
    assert world.positions.tobytes() + world.rotations.tobytes() == free


@pytest.mark.parametrize("reduced", [False, True])
def test_what_floats_moves_on_the_side_of_body_1(reduced: bool) -> None:
    world = arm(reduced=reduced, floats=True)
    assert set(world.pose_joint(f"{W}/Arm/Elbow", "angular", 1.0)) == {f"{W}/Arm/Lower", f"{W}/Arm/Cap"}
    assert place(world, "Upper") == pytest.approx((0.5, 0, 2), abs=1e-6)
    assert place(world, "Lower") == pytest.approx(np.array((1.0, 0, 2)) + along(1.0) / 2, abs=1e-5)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_kinematic_body_stays_where_its_animation_has_it(swapped: bool) -> None:
    """Whichever side of the joint it is on, the other body goes along."""
    file = File()
    file.add(file.body("Post", (0, 0, 2), size=(0.1,) * 3, kinematic=True), file.body("Upper", (0.5, 0, 2), **INSIDE))
    ends = [(f"{W}/Post", (0, 0, 0)), (f"{W}/Upper", (-0.5, 0, 0))]
    (first, pos0), (second, pos1) = reversed(ends) if swapped else ends
    file.add(file.joint("Hinge", "Revolute", first, second, pos0=pos0, pos1=pos1, axis="Y"))
    world = world_of(file)
    assert world.pose_joint(f"{W}/Hinge", "angular", 0.7) == (f"{W}/Upper",)
    assert place(world, "Post") == pytest.approx((0, 0, 2))
    sign = -1.0 if swapped else 1.0
    assert place(world, "Upper") == pytest.approx(np.array((0, 0, 2)) + along(sign * 0.7) / 2, abs=1e-5)
    assert world.joint_positions()[f"{W}/Hinge"]["angular"] == pytest.approx(0.7, abs=1e-5)


@pytest.mark.parametrize("reduced", [False, True])
def test_limits_are_kept(reduced: bool) -> None:
    world = arm(reduced=reduced)
    elbow = f"{W}/Arm/Elbow"
    for wanted, reached in ((9.0, 1.5), (-9.0, -2.5), (0.2, 0.2)):
        world.pose_joint(elbow, "angular", wanted)
        assert world.joint_positions()[elbow]["angular"] == pytest.approx(reached, abs=1e-5)


def test_prismatic_slider() -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Slider", (1, 2, 3), about("Y", 30), size=(0.3, 0.3, 0.3)))
    file.add(file.joint("Rail", "Prismatic", "", f"{W}/Slider", pos0=(1, 2, 3), rot0=about("Y", 30), axis="X",
                        low=-0.5, high=0.8))  # fmt: skip
    world = world_of(file)
    direction = np.array([math.cos(math.pi / 6), 0.0, -math.sin(math.pi / 6)])
    for wanted, reached in ((0.4, 0.4), (2.0, 0.8), (-3.0, -0.5)):
        assert world.pose_joint(f"{W}/Rail", "linear", wanted) == (f"{W}/Slider",)
        assert place(world, "Slider") == pytest.approx(np.array((1, 2, 3)) + direction * reached, abs=1e-5)
        assert world.joint_positions()[f"{W}/Rail"] == {"linear": pytest.approx(reached, abs=1e-5)}


@pytest.mark.parametrize("reduced", [False, True])
def test_generic_joint_of_three_rotations(reduced: bool) -> None:
    """What is set is what is read, and the other angles stay."""
    file = File()
    never = dict.fromkeys(("transX", "transY", "transZ"), (1.0, -1.0))
    joint = file.joint("D6", "D6", "", f"{W}/Arm/Top", pos0=(0, 0, 2), pos1=(0, 0, 0.5), limits=never)
    file.add(block("Xform", "Arm", [file.body("Top", (0, 0, 1.5), mass=1.0), joint],
                   ["PhysicsArticulationRootAPI"] if reduced else []))  # fmt: skip
    world = world_of(file)
    path = f"{W}/Arm/D6"
    assert world.is_reduced(path) == reduced
    angles = {"rotX": 0.5, "rotY": -0.8, "rotZ": 1.1}
    for dof, value in angles.items():
        world.pose_joint(path, dof, value)
    assert world.joint_positions()[path] == pytest.approx(angles, abs=1e-4)
    anchor = place(world, "Top") + turn(world, "Top") @ (0, 0, 0.5)
    assert anchor == pytest.approx((0, 0, 2), abs=1e-5)


def test_distance() -> None:
    world = made(SCENES["distance_max"])
    world.pose_joint(f"{W}/Rope", "distance", 9.0)
    assert place(world, "Bob") == pytest.approx((4, 0, 9), abs=1e-5)
    world.pose_joint(f"{W}/Rope", "distance", 1.5)
    assert place(world, "Bob") == pytest.approx((1.5, 0, 9), abs=1e-5)


def test_closed_loop_is_refused() -> None:
    file = File()
    file.add(file.body("A", (0.5, 0, 2), **INSIDE), file.body("B", (1.5, 0, 2), **INSIDE))
    file.add(file.joint("First", "Revolute", "", f"{W}/A", pos0=(0, 0, 2), pos1=(-0.5, 0, 0), axis="Y"))
    file.add(file.joint("Second", "Revolute", f"{W}/A", f"{W}/B", pos0=(0.5, 0, 0), pos1=(-0.5, 0, 0), axis="Y"))
    file.add(file.joint("Third", "Revolute", "", f"{W}/B", pos0=(2, 0, 2), pos1=(0.5, 0, 0), axis="Y",
                        break_force=1e-3))  # fmt: skip
    world = world_of(file)
    before = world.positions.copy()
    with pytest.raises(InputError, match=r"^\S*Second\S* is part of a closed loop.*instead\.$"):
        world.pose_joint(f"{W}/Second", "angular", 0.3)
    assert (world.positions == before).all()
    # What is broken closes no loop.
    run(world, 0.1)
    assert world.broken_joints == (f"{W}/Third",)
    assert world.pose_joint(f"{W}/Second", "angular", 0.3) == (f"{W}/B",)


def test_a_joint_of_a_ring_that_floats_is_refused() -> None:
    """Whatever it moves, both of its bodies go along."""
    file = File()
    for name, place_ in (("A", (0, 0, 0)), ("B", (1, 0, 0)), ("C", (0, 0, 1))):
        file.add(file.body(name, place_, **INSIDE))
    for first, second in ("AB", "BC", "CA"):
        file.add(file.joint(f"{first}{second}", "Revolute", f"{W}/{first}", f"{W}/{second}", axis="Y"))
    with pytest.raises(InputError, match="closed loop"):
        world_of(file).pose_joint(f"{W}/AB", "angular", 0.3)


def test_what_cannot_be_posed() -> None:
    world = arm()
    for path, dof in (("/Nothing", "angular"), (f"{W}/Arm/Elbow", "linear"), (f"{W}/Arm/Glue", "transX")):
        with pytest.raises(KeyError):
            world.pose_joint(path, dof, 0.0)
        with pytest.raises(KeyError):
            world.aim_joint(path, dof, 0.0)


@pytest.mark.parametrize("reduced", [False, True])
def test_a_drive_brings_it_there(reduced: bool) -> None:
    """A firm one where there is none; the arm then holds its weight nearly straight."""
    world = arm(reduced=reduced)
    world.aim_joint(f"{W}/Arm/Shoulder", "angular", -1.0)
    world.aim_joint(f"{W}/Arm/Elbow", "angular", 9.0)
    run(world, 3.0)
    positions = world.joint_positions()
    assert positions[f"{W}/Arm/Shoulder"]["angular"] == pytest.approx(-1.0, abs=0.1)
    assert positions[f"{W}/Arm/Elbow"]["angular"] == pytest.approx(1.5, abs=0.1)
    assert world.unstable == {}
    world.reset()
    run(world, 1.0)
    assert world.joint_positions()[f"{W}/Arm/Shoulder"]["angular"] > 0.1


def test_a_firm_drive_is_as_firm_as_what_hangs_far_away_needs() -> None:
    """Four times a second without overshoot, whether the weight is at the hinge or two metres from it."""
    for distance in (0.0, 2.0):
        file = File()
        file.gravity = (0, 0, 0)
        file.add(file.body("Weight", (distance, 0, 1), size=(0.1,) * 3, mass=3.0, inertia=(2.0,) * 3))
        file.add(file.joint("Hinge", "Revolute", "", f"{W}/Weight", pos0=(0, 0, 1), pos1=(-distance, 0, 0), axis="Y"))
        world = world_of(file)
        world.aim_joint(f"{W}/Hinge", "angular", 1.0)
        angles = [run(world, 1 / 60).joint_position(f"{W}/Hinge", "angular") for _ in range(45)]
        assert angles[-1] == pytest.approx(1.0, abs=0.02)
        assert max(angles) < 1.05


def test_a_drive_that_is_there_keeps_its_gains() -> None:
    file = File()
    file.add(file.body("Slider", (0, 0, 1), size=(0.3, 0.3, 0.3)))
    file.add(file.joint("Rail", "Prismatic", "", f"{W}/Slider", pos0=(0, 0, 1), axis="Z",
                        drives={"linear": {"stiffness": 100.0, "damping": 20.0}}))  # fmt: skip
    world = world_of(file)
    world.aim_joint(f"{W}/Rail", "linear", 0.5)
    run(world, 4.0)
    assert place(world, "Slider")[2] == pytest.approx(1.5 - 9.81 / 100, abs=0.003)


def test_a_hinge_beyond_half_a_turn() -> None:
    file = File()
    file.add(file.body("Wheel", (0, 0, 1), mass=1.0))
    file.gravity = (0, 0, 0)
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Wheel", pos0=(0, 0, 1), axis="X", low=-1.0, high=9.0))
    world = world_of(file)
    world.pose_joint(f"{W}/Hinge", "angular", 7.0)
    run(world, 0.5)
    assert turn(world, "Wheel")[2, 1] == pytest.approx(math.sin(7.0), abs=0.01)
    assert world.positions[row_of(world, "Wheel")] == pytest.approx((0, 0, 1), abs=1e-4)
