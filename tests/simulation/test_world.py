# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator does with a world: moments, hands, live edits, read-outs, failures."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.errors import EngineError
from usdphys_ext.usdphys_addon.core.frames import matrix_of, transform
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.rules.base import Issue
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.simulation.engine import PREVIEW
from usdphys_ext.usdphys_addon.simulation.notices import NOTICE_KINDS
from usdphys_ext.usdphys_addon.simulation.rapier import trees
from usdphys_ext.usdphys_addon.simulation.rapier.bodies import BodyMaker
from usdphys_ext.usdphys_addon.simulation.rapier.rescue import Rescuer
from usdphys_ext.usdphys_addon.simulation.record import record
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, METERS, File, about, block
from .catalogue import SCENES
from .helpers import codes, made, model_of, place, run, world_of

G = 9.81
W = "/World"
HERE = Path(__file__).resolve().parent


def pile(count: int = 30) -> PhysicsModel:
    """Boxes that tumble onto each other on a plane; made without USD."""
    model = PhysicsModel()
    floor = model.add(Prim("/Floor", "Plane"))
    floor.add(usd_geom.Plane())
    floor.add(usd_physics.CollisionAPI())
    for index in range(count):
        side = max(1, round(count ** (1 / 3)))
        place_ = (index % side * 1.1, index // side % side * 1.1, 0.6 + index // side**2 * 1.2 + 0.05 * (index % 3))
        box = model.add(Prim(f"/Box{index}", "Cube", transform(place_)))
        for value in (usd_geom.Cube(size=1.0), usd_physics.CollisionAPI(), usd_physics.RigidBodyAPI()):
            box.add(value)
    return model


def state(world: World) -> bytes:
    return world.positions.tobytes() + world.rotations.tobytes() + world.awake.tobytes()


# --------------------------------------------------------------------------- moments


@pytest.mark.parametrize("name", ["pile", "articulated_arm", "spherical_cone", "distance_min"])
def test_two_builds_run_the_same(name: str) -> None:
    first, second = (World(pile()) if name == "pile" else made(SCENES[name]) for _ in range(2))
    for _ in range(60):
        first.step()
        second.step()
    assert state(first) == state(second)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pile", *sorted(SCENES)])
def test_snapshots_are_exact(name: str) -> None:
    world = World(pile()) if name == "pile" else made(SCENES[name])
    start = state(world)
    run(world, 0.5)
    middle, kept = state(world), world.snapshot()
    run(world, 0.5)
    end = state(world)
    for _ in range(2):
        world.restore(kept)
        assert state(world) == middle
        assert world.time == pytest.approx(0.5)
        assert state(run(world, 0.5)) == end
    world.reset()
    assert state(world) == start
    run(world, 0.5)
    assert state(world) == middle


def test_reset_undoes_live_edits_and_breaks() -> None:
    file = File()
    file.add(file.body("Load", (0, 0, 3), mass=2.0), file.body("Slider", (5, 0, 0)))
    file.add(file.joint("Hook", "Fixed", "", f"{W}/Load", pos0=(0, 0, 3), break_force=30.0))
    file.add(file.joint("Rail", "Prismatic", "", f"{W}/Slider", pos0=(5, 0, 0), axis="X",
                        drives={"linear": {"stiffness": 100.0, "damping": 20.0}}))  # fmt: skip
    world = world_of(file)
    authored = [state(run(world, 0.1)) for _ in range(5)]
    world.reset()
    world.set_gravity((0, 0, -30))
    world.set_mass(f"{W}/Load", 3.0)
    world.set_drive(f"{W}/Rail", "linear", target_position=2.0)
    held = world.grab(f"{W}/Slider", (5, 0, 0))
    world.move_grab(held, (5, 3, 0))
    run(world, 0.5)
    assert world.broken_joints == (f"{W}/Hook",)
    world.reset()
    assert world.broken_joints == ()
    assert [state(run(world, 0.1)) for _ in range(5)] == authored
    world.release(held)


@pytest.mark.parametrize(
    "name", ["projectile", "tumbling", "spherical_pendulum", "fixed_weld", "d6_driven", "articulated_arm", "incline"]
)
def test_restart_goes_on_where_things_are(name: str) -> None:
    """A new world of an edited model, here one that is not edited, goes on as the old one would."""
    file = File(CENTIMETERS)
    SCENES[name](file)
    model, stage = model_of(file.text())
    old = run(World(model), 0.4)
    again, other = model_of(file.text())
    old.move_model(again)
    new = World(again)
    assert new.positions == pytest.approx(old.positions, abs=1e-6)
    assert new.matrices() == pytest.approx(old.matrices(), abs=1e-5)
    for first, second in zip(old.velocities(), new.velocities(), strict=True):
        assert first == pytest.approx(second, abs=1e-4)
    assert run(new, 0.4).positions == pytest.approx(run(old, 0.4).positions, abs=0.01)
    del stage, other


def test_a_restart_leaves_asleep_what_sleeps_and_in_place_what_is_not_carried() -> None:
    file = File()
    left = file.shape("Left", "Cube", (1, 1, 1), (5, 0, 0)).replace('["xformOp', '["!resetXformStack!", "xformOp')
    file.add(file.ground(), file.body("Still", (0, 0, 0.5)),
             file.body("Falls", (0, 9, 50), children=[left, file.shape("Part", "Cube", (1, 1, 1), (0, 0, 2))]),
             file.body("Lift", (0, 30, 0), kinematic=True))  # fmt: skip
    model, stage = model_of(file.text())
    world = run(World(model), 3.0)
    world.set_kinematic_pose(f"{W}/Lift", (0, 30, 1), (1, 0, 0, 0))
    world.step()
    moved = world.moved_copy(model)

    def body_of(name: str) -> usd_physics.RigidBodyAPI:
        return moved.prims[f"{W}/{name}"].get(usd_physics.RigidBodyAPI)

    assert (body_of("Still").starts_asleep, body_of("Falls").starts_asleep) == (True, False)
    assert body_of("Falls").velocity[2] == pytest.approx(-G * 3.0, rel=0.02)
    # Its animation moves it, whatever its velocity says.
    assert body_of("Lift").velocity is None
    assert moved.prims[f"{W}/Falls/Part"].world[:3, 3] == pytest.approx(
        place(world, "Falls") + np.array((0, 0, 2)), abs=1e-5
    )
    assert moved.prims[f"{W}/Falls/Left"].world[:3, 3] == pytest.approx((5, 0, 0))
    assert model.prims[f"{W}/Falls"].world[2, 3] == pytest.approx(50)
    assert World(moved).notices == []
    del stage


# --------------------------------------------------------------------------- hands


@pytest.mark.parametrize("mass", [0.01, 1.0, 500.0])
def test_grab_pulls_bodies_of_any_mass_the_same(mass: float) -> None:
    file = File()
    file.add(file.body("Thing", (0, 0, 1), size=(0.4, 0.4, 0.4), mass=mass, inertia=(mass * 0.03,) * 3))
    world = world_of(file)
    held = world.grab(f"{W}/Thing", (0, 0, 1.2))
    for step in range(90):
        world.move_grab(held, (min(2.0, step / 30), 0, 1.2 + step / 100))
        world.step()
    run(world, 2.0)
    # It hangs below the point that is held, lower by what its weight pulls out of the spring.
    assert world.grab_point(held)[:2] == pytest.approx((2.0, 0), abs=0.02)
    sagged = 1.2 + 0.89 - world.grab_point(held)[2]
    assert sagged == pytest.approx(G / (2 * math.pi * 3) ** 2, abs=0.01)
    world.release(held)
    world.release(held)
    before = place(world, "Thing")[2]
    run(world, 0.5)
    assert place(world, "Thing")[2] - before == pytest.approx(-G / 8, abs=0.05)


def test_grabbed_body_is_thrown() -> None:
    file = File()
    file.gravity = (0, 0, 0)
    world = world_of(file.add(file.body("Ball", shape="Sphere", size=(0.2,))))
    held = world.grab(f"{W}/Ball", (0, 0, 0))
    for step in range(60):
        world.move_grab(held, (4.0 * (step + 1) / 60, 0, 0))
        world.step()
    world.release(held)
    before = place(world, "Ball").copy()
    run(world, 1.0)
    assert (place(world, "Ball") - before)[0] == pytest.approx(4.0, rel=0.05)


def test_grab_wakes_and_refuses() -> None:
    file = File()
    file.add(file.ground(), file.body("Box", (0, 0, 0.5)), file.body("Tray", (5, 0, 0.5), kinematic=True))
    world = run(world_of(file), 3.0)
    assert world.awake_count == 0
    held = world.grab(f"{W}/Box", (0, 0, 1))
    world.move_grab(held, (0, 0, 3))
    run(world, 1.0)
    assert place(world, "Box")[2] > 2.0
    for path in (f"{W}/Tray", f"{W}/Ground", "/Nothing"):
        with pytest.raises(KeyError):
            world.grab(path, (0, 0, 0))


# --------------------------------------------------------------------------- live edits


def test_gravity_changes_live_and_wakes() -> None:
    file = File()
    world = run(world_of(file.add(file.ground(), file.body("Box", (0, 0, 0.5)))), 3.0)
    assert world.awake_count == 0
    world.set_gravity((0, 0, 2.0))
    run(world, 1.0)
    assert place(world, "Box")[2] == pytest.approx(1.5, abs=0.05)


def test_gravity_of_one_scene_changes_alone() -> None:
    file = File()
    file.add(file.scene("Other"))
    for name, x in (("Scene", 0), ("Other", 5)):
        file.add(file.body(f"In{name}", (x, 0, 9), owner=f"{W}/{name}"))
    world = world_of(file)
    world.set_gravity((0, 0, 0), f"{W}/Other")
    run(world, 1.0)
    assert place(world, "InScene")[2] == pytest.approx(9 - G / 2, abs=0.1)
    assert place(world, "InOther")[2] == pytest.approx(9)


def test_friction_changes_live() -> None:
    file = File()
    file.add(file.material("M", 1.0), file.ground(material=f"{W}/M", tilt=20))
    angle = math.radians(20)
    up = (0.25 * math.sin(angle), 0, 0.25 * math.cos(angle))
    file.add(file.body("Box", up, about("Y", 20), size=(0.8, 0.8, 0.5), material=f"{W}/M"))
    world = run(world_of(file), 2.0)
    held = place(world, "Box").copy()
    assert np.linalg.norm(held - up) < 0.01
    world.set_friction(f"{W}/M", 0.0, 0.0)
    run(world, 1.0)
    assert np.linalg.norm(place(world, "Box") - held) == pytest.approx(G / 2 * math.sin(angle), rel=0.02)


@pytest.mark.parametrize("crowd", [0, 120])
def test_static_friction_holds_what_rests_and_changes_live(crowd: int) -> None:
    file = File()
    file.add(file.material("M", 0.1, static=0.9), file.ground(material=f"{W}/M", tilt=20))
    up = 0.25 * np.array((math.sin(math.radians(20)), 0, math.cos(math.radians(20))))
    file.add(file.body("Box", up, about("Y", 20), size=(0.8, 0.8, 0.5), material=f"{W}/M"))
    file.add(*(file.body(f"More{i}", (5.0 * i, 0, 500), collides=False, inertia=(1, 1, 1)) for i in range(crowd)))
    world = run(world_of(file), 0.5)
    # Of many bodies the solver does not ask, which is said.
    assert codes(world) == ["StaticFriction"] * (crowd > 0)
    moved = np.linalg.norm(place(world, "Box") - up)
    if crowd:
        assert moved == pytest.approx(G / 8 * (math.sin(math.radians(20)) - 0.1 * math.cos(math.radians(20))), rel=0.1)
        return
    assert moved < 0.001
    world.set_friction(f"{W}/M", 0.1, 0.0, static=0.2)
    run(world, 0.5)
    assert np.linalg.norm(place(world, "Box") - up) > 0.2
    world.reset()
    run(world, 0.5)
    assert np.linalg.norm(place(world, "Box") - up) < 0.001


def test_mass_changes_live() -> None:
    file = File()
    file.add(file.body("Load", (0, 0, 2), mass=1.0))
    file.add(file.joint("Spring", "Prismatic", "", f"{W}/Load", pos0=(0, 0, 2), axis="Z",
                        drives={"linear": {"stiffness": 200.0, "damping": 40.0}}))  # fmt: skip
    world = run(world_of(file), 3.0)
    assert place(world, "Load")[2] == pytest.approx(2 - G / 200, abs=0.002)
    world.set_mass(f"{W}/Load", 5.0)
    run(world, 4.0)
    assert place(world, "Load")[2] == pytest.approx(2 - 5 * G / 200, abs=0.002)
    with pytest.raises(KeyError):
        world.set_mass(f"{W}/Load", 0.0)


def test_static_collider_is_moved() -> None:
    file = File()
    world = run(world_of(file.add(file.ground(), file.body("Box", (0, 0, 0.5)))), 1.0)
    world.set_static_pose(f"{W}/Ground/Shape", (0, 0, -3.5), (1, 0, 0, 0))
    world.set_gravity((0, 0, -9.8))
    run(world, 2.0)
    assert place(world, "Box")[2] == pytest.approx(-2.5, abs=0.02)
    with pytest.raises(KeyError):
        world.set_static_pose(f"{W}/Box", (0, 0, 0), (1, 0, 0, 0))


def test_static_collider_is_turned() -> None:
    """A floor that tips by 30 degrees lets the box slide down towards X."""
    file = File()
    file.add(file.material("Ice", 0.0), file.ground(material=f"{W}/Ice"))
    file.add(file.body("Box", (0, 0, 0.5), material=f"{W}/Ice"))
    world = run(world_of(file), 0.5)
    world.set_static_pose(f"{W}/Ground/Shape", (0, 0, -1.2), about("Y", 30))
    world.set_gravity((0, 0, -9.8))
    run(world, 1.5)
    assert place(world, "Box")[0] > 1.0 and place(world, "Box")[2] < -0.5


def test_inertia_follows_a_mass_that_changes_live() -> None:
    """A torque of 1 N m on a wheel of 0.5 kg m2, then on one of three times the mass."""
    angles = []
    for mass in (1.0, 3.0):
        file = File()
        file.gravity = (0, 0, 0)
        file.add(file.body("Wheel", mass=1.0, inertia=(0.5, 0.5, 0.5)))
        file.add(file.joint("Hinge", "Revolute", "", f"{W}/Wheel", axis="Z",
                            drives={"angular": {"damping": 1e3, "targetVelocity": 99.0, "maxForce": 1.0}}))  # fmt: skip
        world = world_of(file)
        world.set_mass(f"{W}/Wheel", mass)
        angles.append(run(world, 0.5).joint_position(f"{W}/Hinge", "angular"))
    assert angles == pytest.approx([0.5 * 2.0 * 0.25, 0.5 * 2.0 / 3 * 0.25], rel=0.03)


def test_a_recording_follows_what_others_move_at_every_frame() -> None:
    """Kinematic bodies are where they are moved to at the end of each frame, static colliders at its beginning."""
    file = File()
    file.gravity = (0, 0, 0)
    file.add(file.body("Lift", kinematic=True, size=(0.2,) * 3), file.body("Wall", (9, 0, 0), dynamic=False))
    file.add(file.body("Ball", (8, 0, 0), shape="Sphere", size=(0.25,)))

    def movers(frame: int) -> dict[str, np.ndarray]:
        turned = matrix_of(about("Z", 10.0 * frame))
        return {f"{W}/Lift": transform((0.1 * frame, 0, 0), turned, (2, 2, 2)),
                f"{W}/Wall/Shape": transform((9 - 0.05 * frame, 0, 0))}  # fmt: skip

    world = world_of(file)
    found = record(world, 20, movers)
    assert (found.fps, len(found.matrices)) == (pytest.approx(60.0), 21)
    lift = found.paths.index(f"{W}/Lift")
    assert found.kinematic.tolist() == [path == f"{W}/Lift" for path in found.paths]
    for frame in range(1, 21):
        assert found.positions[frame, lift] == pytest.approx((0.1 * frame, 0, 0), abs=1e-5)
        assert matrix_of(found.rotations[frame, lift]) == pytest.approx(matrix_of(about("Z", 10.0 * frame)), abs=1e-5)
    # The wall has come to 8 m and pushes the ball out of itself.
    assert found.positions[20, found.paths.index(f"{W}/Ball")][0] < 7.9


# --------------------------------------------------------------------------- read-outs and failures


def test_every_pose_is_in_the_row_of_its_body() -> None:
    """Each moves and turns in its own way, those between them sleep."""
    file = File()
    file.gravity = (0, 0, 0)
    for index in range(4):
        speed, spin = [0.0] * 3, [0.0] * 3
        speed[index % 3], spin[(index + 1) % 3] = 1.0 + index, 0.5 + index
        file.add(file.body(f"Moving{index}", (0, 0, 9 * index), shape="Sphere", size=(0.2,), velocity=speed, spin=spin))
        file.add(file.body(f"Asleep{index}", (90, 0, 9 * index), asleep=True))
    world = run(world_of(file), 0.5)
    assert world.awake.tolist() == [path.startswith(f"{W}/Moving") for path in world.paths]
    for row, path in enumerate(world.paths):
        index = int(path[-1])
        position, rotation = np.array((90.0, 0, 9 * index)), np.array((1.0, 0, 0, 0))
        if world.awake[row]:
            half = 0.25 * (0.5 + index)
            position[0] = 0.0
            position[index % 3] += 0.5 * (1.0 + index)
            rotation[:] = (math.cos(half), 0, 0, 0)
            rotation[1 + (index + 1) % 3] = math.sin(half)
        assert world.positions[row] == pytest.approx(position, abs=1e-3)
        assert abs(world.rotations[row] @ rotation) == pytest.approx(1.0, abs=1e-4)
        assert world.rotations[row, 1:] @ rotation[1:] >= 0
        assert world.index(path) == row
        assert world.matrices()[row] == pytest.approx(
            transform(world.positions[row], matrix_of(world.rotations[row])), abs=1e-6
        )


def test_read_outs() -> None:
    world = run(World(pile(8)), 3.0)
    assert world.contact_count() >= 4
    assert world.step_milliseconds > 0
    assert world.kinetic_energy() < 1e-3
    assert world.substeps == 2
    assert world.frame == 180
    assert World(pile(1), substeps=7).substeps == 7
    assert World(PhysicsModel()).paths == ()


def test_a_body_that_is_too_fast_is_named() -> None:
    file = File()
    file.add(file.body("Bullet", velocity=(5000, 0, 0)), file.body("Calm", (0, 50, 0)))
    world = run(world_of(file), 0.1)
    assert list(world.unstable) == [f"{W}/Bullet"]
    notice = world.notices[-1]
    assert (notice.code, notice.path) == ("Unstable", f"{W}/Bullet")
    assert "Bullet" in notice.message
    world.reset()
    assert world.unstable == {}


def test_a_velocity_beyond_the_solver_is_named() -> None:
    file = File()
    file.add(file.body("Ball", (0, 0, 3), velocity=(1e20, 0, 0)))
    world = run(world_of(file), 0.1)
    assert list(world.unstable) == [f"{W}/Ball"]


def test_a_body_that_is_not_finite_any_more_stays_and_is_named() -> None:
    file = File()
    rail = file.joint("Rail", "Prismatic", "", f"{W}/Lost", pos0=(1, 2, 3), axis="X",
                      drives={"linear": {"stiffness": 1.0}})  # fmt: skip
    file.add(file.body("Lost", (1, 2, 3)), file.body("Calm", (0, 50, 0)), rail)
    world = run(world_of(file), 0.1)
    before = place(world, "Lost").copy()
    world.set_drive(f"{W}/Rail", "linear", target_position=math.nan)
    run(world, 0.2)
    assert list(world.unstable) == [f"{W}/Lost"]
    assert np.isfinite(world.positions).all()
    assert np.isfinite(world.rotations).all()
    assert np.linalg.norm(place(world, "Lost") - before) < 1.0
    assert place(world, "Calm")[2] < 0


def test_an_articulation_goes_on_in_reduced_coordinates_when_another_body_is_lost() -> None:
    file = File()
    rail = file.joint("Rail", "Prismatic", "", f"{W}/Lost", pos0=(1, 2, 3), axis="X",
                      drives={"linear": {"stiffness": 1.0}})  # fmt: skip
    inside = [
        file.body("Upper", (0, 20, 5)), file.body("Lower", (2, 20, 5)),
        file.joint("Shoulder", "Fixed", "", f"{W}/Sound/Upper", pos0=(-1, 20, 5), pos1=(-1, 0, 0)),
        file.joint("Elbow", "Revolute", f"{W}/Sound/Upper", f"{W}/Sound/Lower", pos0=(1, 0, 0), pos1=(-1, 0, 0)),
    ]  # fmt: skip
    SCENES["articulated_arm"](file)
    file.add(file.body("Lost", (1, 2, 3)), rail, block("Xform", "Sound", inside, ["PhysicsArticulationRootAPI"]))
    world = run(world_of(file), 0.1)
    joints = [f"{W}/Sound/Shoulder", f"{W}/Sound/Elbow", f"{W}/Arm/Joint0", f"{W}/Arm/Joint1"]
    assert all(map(world.is_reduced, joints))
    world.set_drive(f"{W}/Rail", "linear", target_position=math.nan)
    before = place(world, "Lost").copy()
    run(world, 0.2)
    assert list(world.unstable) == [f"{W}/Lost"]
    assert all(map(world.is_reduced, joints))
    world.set_drive(f"{W}/Arm/Joint1", "angular", target_position=math.nan)
    run(world, 0.5)
    assert list(map(world.is_reduced, joints)) == [True, True, False, False]
    # The body that was lost before stays where it is.
    assert place(world, "Lost") == pytest.approx(before, abs=0.1)
    assert np.isfinite(world.positions).all()


def test_articulation_that_blows_up_goes_on_in_maximal_coordinates() -> None:
    world = made(SCENES["articulated_arm"])
    run(world, 0.2)
    assert world.is_reduced(f"{W}/Arm/Joint1")
    world.set_drive(f"{W}/Arm/Joint1", "angular", target_position=math.nan)
    run(world, 0.5)
    assert world.unstable != {}
    assert np.isfinite(world.positions).all()
    assert not world.is_reduced(f"{W}/Arm/Joint1")
    world.reset()
    assert world.is_reduced(f"{W}/Arm/Joint1")


def test_joints_with_a_largest_speed_can_leave_their_articulation() -> None:
    """A joint that has left the articulation within the step has no link whose speed could be limited."""
    file = File()
    SCENES["articulated_arm"](file)
    api, limit = '"PhysxJointAxisAPI:angular"', "float physxJointAxis:angular:maxJointVelocity = 10"
    text = file.text().replace('"PhysicsDriveAPI:angular"', f'"PhysicsDriveAPI:angular", {api}')
    assert text.count(api) == 3
    model, stage = model_of(text.replace("uniform token physics:axis", f"{limit}\n    uniform token physics:axis"))
    assert stage
    world = run(World(model), 0.2)
    assert world.is_reduced(f"{W}/Arm/Joint2")
    world.set_drive(f"{W}/Arm/Joint1", "angular", target_position=math.nan)
    run(world, 0.5)
    assert world.unstable and not world.is_reduced(f"{W}/Arm/Joint2")
    assert np.isfinite(world.positions).all()


def test_a_rescued_articulation_goes_on_from_its_last_good_state() -> None:
    """Whatever the bodies had become: they are where they were shortly before, and not as fast (1e33 m/s) as the drive
    had made them, which still pulls without bounds."""
    world = made(SCENES["articulated_arm"])
    run(world, 0.5)
    before, fastest = world.positions.copy(), float(np.abs(world.velocities()).max())
    world.set_drive(f"{W}/Arm/Joint1", "angular", stiffness=1e35, target_position=1e35)
    world.step()
    assert not world.is_reduced(f"{W}/Arm/Joint1") and world.unstable != {}
    assert np.abs(world.positions - before).max() < 0.5
    now = float(np.abs(world.velocities()).max())
    assert 0.2 * fastest < now < 1e4


def test_a_panic_of_the_solver_is_an_error_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no Exception in Python, so that nobody would catch it."""

    class PanicException(BaseException):
        """As pyo3 names its own."""

    def panics(*_args: Any, **_options: Any) -> None:
        raise PanicException("index out of bounds:\n the len is 3")

    world = World(pile(2))
    with monkeypatch.context() as patch:
        patch.setattr(Rescuer, "remember", panics)
        with pytest.raises(EngineError, match="index out of bounds: the len is 3") as caught:
            world.step()
        assert "\n" not in str(caught.value)
    monkeypatch.setattr(BodyMaker, "template", panics)
    with pytest.raises(EngineError):
        World(pile(2))


def test_an_articulation_on_which_the_solver_panics_is_simulated_in_maximal_coordinates(monkeypatch) -> None:
    """As on a robot arm with moments of inertia that no body has: the preview of its file ended with the panic."""

    class PanicException(BaseException):
        """As pyo3 names its own."""

    class Panics:
        def __init__(self, *values: Any) -> None:
            self._world = real(*values)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._world, name)

        def step(self) -> None:
            raise PanicException("min > max, or either was NaN")

    real = trees.PhysicsWorld
    monkeypatch.setattr(trees, "PhysicsWorld", Panics)
    world = run(made(SCENES["articulated_arm"]), 0.1)
    assert "ArticulationUnstable" in codes(world) and not world.is_reduced(f"{W}/Arm/Joint1")
    assert world.unstable == {}


def test_the_body_with_the_most_contacts_is_found() -> None:
    file = File()
    file.add(file.ground(), file.body("High", (0, 0, 90)), file.body("Low", (0, 0, 0.5)))
    assert run(world_of(file), 0.1).busiest() == f"{W}/Low"
    assert World(PhysicsModel()).busiest() == ""


def test_notices_are_issues_in_sentences() -> None:
    assert list(NOTICE_KINDS) == sorted(NOTICE_KINDS)
    for kind in NOTICE_KINDS.values():
        assert kind.meaning.endswith(".")
        assert kind.fix.endswith(".")
        assert kind.severity in ("info", "warning")
    world = World(PhysicsModel())
    (notice,) = world.notices
    assert isinstance(notice, Issue)
    assert notice.path == "/"


def test_every_notice_has_a_test() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py"))
    assert [code for code in NOTICE_KINDS if f'"{code}"' not in text] == []


def test_documentation_names_every_notice() -> None:
    text = (HERE.parent.parent / "docs" / "preview.md").read_text(encoding="utf-8")
    rows = {code: f"| {code} | {kind.meaning} | {kind.fix} |" for code, kind in NOTICE_KINDS.items()}
    assert [code for code, row in rows.items() if row not in text] == []


def test_building_a_world_is_the_same_work_for_each_body(count_calls: Callable[[Callable[[], Any]], int]) -> None:
    World(pile(10))
    few = count_calls(lambda: World(pile(100)))
    assert count_calls(lambda: World(pile(400))) < 5 * few


def test_equal_bodies_are_weighed_once_however_they_are_turned(count_calls: Callable[[Callable[[], Any]], int]) -> None:
    def turned(by: float) -> PhysicsModel:
        model = pile(100)
        for number, prim in enumerate(model.bodies.values()):
            prim.world = prim.world @ transform((0, 0, 0), matrix_of(about("Y", by * number)))
        return model

    World(turned(0.0))
    assert count_calls(lambda: World(turned(3.0))) < 1.1 * count_calls(lambda: World(turned(0.0)))
    masses = [World(turned(by)).kinetic_energy() for by in (0.0, 3.0)]
    assert masses == [0.0, 0.0]


@pytest.mark.parametrize("degrees", [0.0, 35.0, 180.0])
def test_a_turned_body_has_the_mass_and_inertia_of_its_own_shape(degrees: float) -> None:
    """Two bricks of the same sides and one of others, all spun about their own X."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    for name, turned, size in (("A", 0.0, (1, 2, 3)), ("B", degrees, (1, 2, 3)), ("C", degrees, (2, 2, 3))):
        file.add(
            file.body(name, (20 * "ABC".index(name), 0, 0), about("Z", turned), size=size, mass=6.0, spin=(1, 0, 0))
        )
    alone = []
    for name in "ABC":
        only = File(CENTIMETERS)
        only.gravity = (0, 0, 0)
        turned = 0.0 if name == "A" else degrees
        size = (2, 2, 3) if name == "C" else (1, 2, 3)
        only.add(only.body(name, (0, 0, 0), about("Z", turned), size=size, mass=6.0, spin=(1, 0, 0)))
        alone.append(world_of(only).kinetic_energy())
    # 1/2 I w^2 with I = 6 kg / 12 * (2^2 + 3^2)
    assert alone == pytest.approx([3.25, 3.25, 3.25], rel=1e-6)
    assert world_of(file).kinetic_energy() == pytest.approx(9.75, rel=1e-6)


@pytest.mark.slow
def test_nothing_that_starts_with_blender_imports_the_solver() -> None:
    """Of the simulation, the door for engines alone, which holds the list of them."""
    code = (
        "import importlib.util, sys\n"
        f"sys.path.insert(0, {str(HERE.parent)!r})\n"
        "import conftest\n"
        "import usdphys_ext.usdphys_addon.core.validate, usdphys_ext.usdphys_addon.cli\n"
        "found = [name for name in sys.modules if 'rapier3d' in name or 'simulation.' in name]\n"
        "assert all(name.endswith('simulation.engine') for name in found), found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=900)


@pytest.mark.slow
@pytest.mark.parametrize("engine", [PREVIEW, "mujoco"])
def test_a_world_that_is_built_anew_holds_what_the_one_before_held(engine) -> None:
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    file = File(METERS, gravity=(0, 0, 0))
    file.add(file.body("Old", (0, 0, 0)), file.body("Fixed", (4, 0, 0)))
    before = world_of(file, engine=engine)
    numbers = [before.grab(f"{W}/{name}", before.positions[before.index(f"{W}/{name}")]) for name in ("Old", "Fixed")]
    for number, target in zip(numbers, ((0, 0, 1), (4, 0, 1)), strict=True):
        before.move_grab(number, target)
    run(before, 0.2)
    anew = File(METERS, gravity=(0, 0, 0))
    anew.add(anew.body("New", (0, 0, 0)), anew.body("Fixed", (4, 0, 0), kinematic=True))
    world = world_of(anew, engine=engine)
    world.hold_on(before, {f"{W}/New": f"{W}/Old"})
    assert len(world.grabs) == 1
    run(world, 2.0)
    assert world.positions[world.index(f"{W}/New")] == pytest.approx([0, 0, 1], abs=0.01)
    assert world.grab(f"{W}/New", (0, 0, 1)) not in numbers
    world.release(numbers[0])
    assert len(world.grabs) == 1
