# SPDX-License-Identifier: GPL-3.0-or-later
"""One thing in a scene does not change the physics of what is not connected to it, until they meet."""

from __future__ import annotations

import importlib
import sys
from random import Random
from typing import Any

import assets
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.engine import Engine
from usdphys_ext.usdphys_addon.simulation.rapier.groups import GroupedSpace
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import File
from .helpers import made, place, require_pxr, run

require_pxr()
sys.path.insert(0, str(assets.ROOT / "scripts"))
lab: Any = importlib.import_module("laboratory")
sys.path.remove(str(assets.ROOT / "scripts"))
W = "/World"
TROUBLE = sorted(name for name in lab.TRANSFORMS if name.startswith("beside_"))


def groups(world: World) -> int:
    return len(world.spaces[0].spaces)


@pytest.mark.slow
@pytest.mark.parametrize("trouble", TROUBLE)
@pytest.mark.parametrize("exhibit", sorted(lab.scenes.EXHIBITS))
def test_what_stands_far_away_changes_nothing(exhibit: str, trouble: str) -> None:
    """To the noise of the pose of the first body, which wheels that skid make larger."""
    model = lab.scenes.scene_of(sum(map(ord, exhibit + trouble)), exhibit)
    said = lab.TRANSFORMS[trouble].make(model, Random(0))
    if said is None:
        pytest.skip("beside others there is gravity")
    alone, beside = (lab.simulated(one, 0.5) for one in (lab.Statement(model), said))
    rows = [beside.paths.index(path) for path in alone.paths]
    near = 1e-4 if exhibit == "car" else 1e-6
    assert alone.positions == pytest.approx(beside.positions[:, rows], abs=near)
    assert alone.rotations == pytest.approx(beside.rotations[:, rows], abs=5.0 * near)


def test_a_scene_answers_all_that_an_engine_is_asked() -> None:
    """What is not written there would do nothing, without a word. Nothing is held in another process."""
    asked = {name for name in (*vars(Engine), *Engine.__annotations__) if name[0] != "_"}
    missing = asked - set(vars(GroupedSpace)) - set(vars(made(meeting).spaces[0]))
    assert missing == {"close", "delay"}


def test_many_equal_things_share_a_world() -> None:
    def fill(file: File) -> None:
        file.add(file.ground())
        for number in range(20):
            file.add(
                file.body(f"Crate{number}", (3 * number, 10, 0.6)),
                file.body(f"Ball{number}", (3 * number, 20, 0.5), shape="Sphere", size=(0.4, 0, 0), mass=2.0),
                file.body(f"Lever{number}", (3 * number, 0, 2), mass=3.0),
                file.joint(f"Hinge{number}", "Revolute", "", f"{W}/Lever{number}", pos0=(3 * number, 0, 2),
                           pos1=(0.4, 0, 0), axis="Y"),
            )  # fmt: skip

    assert groups(made(fill)) == 2


def meeting(file: File) -> None:
    """A sled on a rail, which has a group of its own, slides into a crate that weighs as much; on ice."""
    file.add(
        file.material("Ice", 0.0), file.ground(material=f"{W}/Ice"),
        file.body("Crate", (0, 0, 0.5), material=f"{W}/Ice", mass=4.0),
        file.body("Sled", (-6, 0, 0.6), size=(1, 1, 0.8), velocity=(4, 0, 0), material=f"{W}/Ice", mass=4.0),
        file.joint("Rail", "Prismatic", "", f"{W}/Sled", pos0=(-6, 0, 0.6), axis="X"),
        file.body("Far", (0, 40, 0.01), size=(0.02, 0.02, 0.02), mass=0.001),
    )  # fmt: skip


@pytest.mark.slow
def test_groups_become_one_before_their_bodies_touch() -> None:
    world = made(meeting)
    assert groups(world) == 3
    frames = 0
    while groups(world) == 3:
        world.step()
        frames += 1
        assert frames < 120
    # Its front is 5 m away at the start; nothing has touched yet, and the tiny cube is left alone.
    assert 0.3 < -0.5 - (place(world, "Sled")[0] + 0.5) + 0.1 < 2.5 and groups(world) == 2
    assert place(world, "Crate")[0] == pytest.approx(0.0, abs=1e-4)
    run(world, 2.0)
    speeds = world.velocities()[0][:, 0]
    sled, crate = (speeds[world.index(f"{W}/{name}")] for name in ("Sled", "Crate"))
    assert sled + crate == pytest.approx(4.0, rel=0.02) and crate >= sled - 1e-3
    assert crate == pytest.approx(2.0, rel=0.05)


def test_groups_whose_bodies_are_the_last_of_the_scene_become_one() -> None:
    def fill(file: File) -> None:
        file.add(file.body("First", (0, 40, 0.01), size=(0.02, 0.02, 0.02), mass=0.001))
        meeting(file)

    world = run(made(fill), 2.0)
    assert groups(world) == 2
    assert place(world, "Crate")[0] > 0.1


@pytest.mark.slow
def test_moments_before_and_after_a_meeting_come_back_to_the_bit() -> None:
    world = made(meeting)
    run(world, 0.5)
    early = world.snapshot()
    run(world, 1.5)
    late, first = world.snapshot(), world.positions.copy()
    run(world, 0.5)
    last = world.positions.copy()
    assert groups(world) == 2
    world.restore(early)
    assert groups(world) == 3
    assert np.array_equal(run(world, 1.5).positions, first)
    world.restore(late)
    assert np.array_equal(run(world, 0.5).positions, last)
    world.reset()
    assert groups(world) == 3 and world.frame == 0


@pytest.mark.slow
def test_a_body_that_is_dragged_into_another_group_pushes_it() -> None:
    world = made(meeting)
    world.set_mass(f"{W}/Far", 0.002)
    crate = world.grab(f"{W}/Crate", (0, 0, 0.5))
    for frame in range(300):
        world.move_grab(crate, (0.0, min(0.15 * frame, 45.0), 0.5))
        world.step()
    assert place(world, "Crate")[1] > 38 and place(world, "Far")[1] > 40.1
    assert world.grab_point(crate) == pytest.approx(place(world, "Crate"), abs=1e-3)
    world.release(crate)
    assert world.grabs == []


def edited(world: World) -> World:
    """With one edit of each kind, before anything meets."""
    world.set_mass(f"{W}/Crate", 12.0)
    world.set_friction(f"{W}/Ice", 0.0, 0.0)
    world.set_drive(f"{W}/Rail", "linear", damping=400.0, target_velocity=4.0)
    world.set_gravity((0, 0, -5.0))
    (ground,) = world.static_colliders
    world.set_static_pose(ground, (0, 0, -0.5), (1, 0, 0, 0))
    return world


@pytest.mark.slow
def test_edits_hold_after_a_meeting() -> None:
    world = run(edited(made(meeting)), 3.0)
    assert groups(world) == 2
    assert world.spaces[0].weights[f"{W}/Crate"].mass == 12.0 and world.spaces[0].gravity == (0.0, 0.0, -5.0)
    speed = world.velocities()[0][world.index(f"{W}/Crate")]
    assert speed == pytest.approx((4.0, 0, 0), abs=0.05)
    world.set_joint_enabled(f"{W}/Rail", False)
    run(world, 1.0)
    assert not world.spaces[0].is_holding(f"{W}/Rail")


@pytest.mark.slow
def test_a_kinematic_body_pushes_those_of_all_groups() -> None:
    def fill(file: File) -> None:
        meeting(file)
        file.add(file.body("Wall", (-20, 0, 1), size=(0.5, 200, 2), kinematic=True))

    world = made(fill)
    for frame in range(600):
        world.set_kinematic_pose(f"{W}/Wall", (-20 + 0.05 * frame, 0, 1), (1, 0, 0, 0))
        world.step()
    for name in ("Crate", "Far", "Sled"):
        assert place(world, name)[0] > 10.0, name


@pytest.mark.parametrize("articulated", [False, True])
def test_a_hinge_that_has_turned_often_goes_on_after_a_meeting(articulated: bool) -> None:
    """To a target that is some turns ahead."""

    def fill(file: File, stone: str) -> None:
        file.add(
            file.body("Wheel", (0, 0, 5), size=(1, 0.2, 1), mass=1.0),
            file.joint("Axle", "Revolute", "", f"{W}/Wheel", pos0=(0, 0, 5), axis="Y",
                       apis=["PhysicsArticulationRootAPI"] if articulated else [],
                       drives={"angular": {"stiffness": 20.0, "damping": 20.0, "targetPosition": 40.0}}),
            stone,
        )  # fmt: skip

    def far(file: File) -> None:
        fill(file, file.body("Stone", (20, 0, 5), size=(0.05,) * 3, mass=1e-5))

    def flying(file: File) -> None:
        fill(file, file.body("Stone", (20, 0, 5), size=(0.05,) * 3, mass=1e-5, velocity=(-20, 0, 4.9)))

    alone, world = run(made(far), 1.5), made(flying)
    assert groups(world) == 2
    run(world, 1.5)
    assert groups(world) == 1 and world.is_reduced(f"{W}/Axle") == articulated
    speeds = [each.velocities()[1][each.index(f"{W}/Wheel")] for each in (world, alone)]
    assert speeds[0] == pytest.approx(speeds[1], rel=0.03, abs=1e-3) and np.linalg.norm(speeds[1]) > 2.0
