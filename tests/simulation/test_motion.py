# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies against what a textbook says, in two unit systems."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, DEGREE, METERS, File, Units, about
from .helpers import codes, model_in, place, run, turn, world_of

G = 9.81
W = "/World"


def test_free_fall() -> None:
    file = File(CENTIMETERS)
    world = world_of(file.add(file.body("Ball", (1, 2, 100), shape="Sphere", size=(0.2,))))
    for second in (1, 2, 3):
        run(world, 1.0)
        assert place(world, "Ball") == pytest.approx((1, 2, 100 - G / 2 * second**2), abs=0.003 * G * second**2)
    assert codes(world) == []
    assert world.time == pytest.approx(3.0)


def test_projectile_starts_in_body_space() -> None:
    """Linear and angular velocity are in the space of the body: "Rigid Body" of the specification."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, -3.7)
    rotation = frames.matrix_of(about("Z", 90))
    file.add(file.body("Ball", (0, 0, 50), about("Z", 90), velocity=(4, 1, 3), spin=(1.0, 0, 0)))
    world = run(world_of(file), 1.0)
    expected = rotation @ (4, 1, 3) + (0, 0, 50 - 3.7 / 2)
    assert place(world, "Ball") == pytest.approx(expected, abs=0.02)
    # About the body's own X, which is the world's Y.
    assert turn(world, "Ball") == pytest.approx(frames.matrix_of(about("Y", 1 / DEGREE)) @ rotation, abs=0.002)


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
def test_scaled_body_moves_at_its_velocity_as_in_other_simulators(units: Units) -> None:
    """PhysX and Newton turn the velocity with the prim and do not scale it."""
    file = File(units)
    file.gravity = (0, 0, 0)
    body = file.xform(
        "Ball", (0, 0, 5), about("Z", 90), apis=["PhysicsRigidBodyAPI"], scale=(2, 2, 2),
        lines=[f"vector3f physics:velocity = ({file.length(1.5)}, 0, 0)"],
        inside=[file.shape("Shape", "Sphere", (0.25,))],
    )  # fmt: skip
    world = run(world_of(file.add(body)), 1.0)
    assert place(world, "Ball") == pytest.approx((0, 1.5, 5), abs=1e-3)
    assert world.stretches[0] == pytest.approx(2 * np.eye(3))
    turned = frames.matrix_of(about("Z", 90))
    assert world.matrices()[0] == pytest.approx(frames.transform((0, 1.5, 5), turned, (2, 2, 2)), abs=1e-3)
    (notice,) = world.notices
    assert (notice.code, notice.path) == ("VelocityScaled", f"{W}/Ball")
    assert "1.5 m/s" in notice.message and "3 m/s" in notice.message


def test_a_scale_that_converts_units_converts_the_velocity_too() -> None:
    """A part in centimetres below a root that scales by 0.01: 150 cm/s are 1.5 m/s."""
    file = File()
    file.gravity = (0, 0, 0)
    file.add(file.xform("Ball", (0, 0, 5), apis=["PhysicsRigidBodyAPI"], scale=(0.01,) * 3,
                        lines=["vector3f physics:velocity = (150, 0, 0)"],
                        inside=[file.shape("Shape", "Sphere", (25.0,))]))  # fmt: skip
    model = model_in(file)
    world = run(World(model), 0.5)
    assert place(world, "Ball") == pytest.approx((0.75, 0, 5), abs=1e-3)
    assert codes(world) == ["VelocityScaled"]
    assert place(run(World(world.moved_copy(model)), 0.5), "Ball") == pytest.approx((1.5, 0, 5), abs=1e-3)


@pytest.mark.parametrize("scale", [0.1, 10.0, 12.0, 1.0])
def test_a_scale_that_objects_have_for_other_reasons_converts_no_velocity(scale: float) -> None:
    file = File()
    file.gravity = (0, 0, 0)
    file.add(file.xform("Ball", (0, 0, 5), apis=["PhysicsRigidBodyAPI"], scale=(scale,) * 3,
                        lines=["vector3f physics:velocity = (1.5, 0, 0)"],
                        inside=[file.shape("Shape", "Sphere", (0.25,))]))  # fmt: skip
    assert place(run(World(model_in(file)), 0.5), "Ball") == pytest.approx((0.75, 0, 5), abs=1e-3)


def test_a_scaled_body_keeps_its_speed_over_a_restart() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.xform("Ball", (0, 0, 5), about("X", 30), apis=["PhysicsRigidBodyAPI"], scale=(3, 3, 3),
                        lines=[f"vector3f physics:velocity = (0, {file.length(2.0)}, 0)"],
                        inside=[file.shape("Shape", "Sphere", (0.25,))]))  # fmt: skip
    model = model_in(file)
    world = run(World(run(World(model), 0.5).moved_copy(model)), 0.5)
    turned = frames.matrix_of(about("X", 30))
    assert place(world, "Ball") == pytest.approx(np.array((0, 0, 5)) + turned @ (0, 2.0, 0), abs=2e-3)


@pytest.mark.parametrize(
    ("gravity", "expected"),
    [("", -G / 2), ("vector3f physics:gravityDirection = (0, 0, 0)", -G / 2),
     ("float physics:gravityMagnitude = -inf", -G / 2), ("float physics:gravityMagnitude = -5", -G / 2),
     ("float physics:gravityMagnitude = 0", 0.0), ("float physics:gravityMagnitude = 162", -0.81),
     ("vector3f physics:gravityDirection = (0, 2, 0)", G / 2)],
)  # fmt: skip
def test_gravity_and_its_sentinels(gravity: str, expected: float) -> None:
    file = File(CENTIMETERS)
    file.add(f'def PhysicsScene "Scene"\n{{\n    {gravity}\n}}', file.body("Ball", (0, 0, 20)))
    world = run(made_from(file.text(scene=False)), 1.0)
    assert place(world, "Ball")[2] - 20 == pytest.approx(expected, abs=0.02)


def made_from(text: str, **options):
    from usdphys_ext.usdphys_addon.simulation.world import World

    from .helpers import model_of, stages

    model, stage = model_of(text)
    stages.append(stage)
    return World(model, **options)


def test_no_scene_is_earth_and_said() -> None:
    file = File()
    file.add(file.body("Ball", (0, 0, 20)))
    world = run(made_from(file.text(scene=False)), 1.0)
    assert place(world, "Ball")[2] == pytest.approx(20 - G / 2, abs=0.02)
    assert codes(world) == ["SceneMissing"]


def test_every_scene_is_a_world_of_its_own() -> None:
    file = File(CENTIMETERS)
    file.add(
        file.scene("Moon", (0, 0, -1.62)),
        file.body("Here", (0, 0, 5), owner=f"{W}/Scene"), file.body("There", (0, 0, 5), owner=f"{W}/Moon"),
        file.body("Default", (9, 0, 5)),
        file.body("Floor", (0, 0, 3.5), dynamic=False, size=(3, 3, 1), owner=f"{W}/Moon"),
    )  # fmt: skip
    world = run(world_of(file), 1.0)
    # They pass through each other, and only the one on the moon meets the floor of the moon.
    assert place(world, "Here")[2] == pytest.approx(5 - G / 2, abs=0.02)
    assert place(world, "Default")[2] == pytest.approx(5 - G / 2, abs=0.02)
    assert place(world, "There")[2] == pytest.approx(4.5, abs=0.31)
    run(world, 1.0)
    assert place(world, "There")[2] == pytest.approx(4.5, abs=0.01)
    world.set_gravity((0, 0, 5), f"{W}/Moon")
    run(world, 0.5)
    assert place(world, "There")[2] == pytest.approx(4.5 + 2.5 / 4, abs=0.03)


def test_owner_that_is_no_scene_is_said() -> None:
    file = File()
    world = world_of(file.add(file.body("Ball", (0, 0, 5), owner=f"{W}/Nowhere")))
    assert codes(world) == ["SceneOwner"]


# --------------------------------------------------------------------------- friction and restitution


def incline(friction: float, other: float, degrees: float, seconds: float = 1.0) -> float:
    """Metres that a box slides down an incline."""
    file = File(CENTIMETERS)
    angle = degrees * DEGREE
    up = np.array((math.sin(angle), 0, math.cos(angle))) * 0.25
    file.add(
        file.material("A", friction), file.material("B", other), file.ground(material=f"{W}/A", tilt=degrees),
        file.body("Box", up, about("Y", degrees), size=(0.8, 0.8, 0.5), mass=2.0, material=f"{W}/B"),
    )  # fmt: skip
    world = run(world_of(file), seconds)
    return float(np.linalg.norm(place(world, "Box") - up))


@pytest.mark.parametrize("friction", [0.2, 0.6])
def test_friction_angle(friction: float) -> None:
    """Holds a degree below the angle of friction, slides a degree above it."""
    limit = math.degrees(math.atan(friction))
    assert incline(friction, friction, limit - 1) < 0.005
    angle = (limit + 1.0) * DEGREE
    expected = G / 2 * (math.sin(angle) - friction * math.cos(angle))
    assert incline(friction, friction, limit + 1) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("friction", "degrees"), [(0.0, 20), (0.3, 30), (0.5, 40)])
def test_sliding_down(friction: float, degrees: float) -> None:
    angle = degrees * DEGREE
    expected = G / 2 * (math.sin(angle) - friction * math.cos(angle))
    assert incline(friction, friction, degrees) == pytest.approx(expected, rel=0.02)


def test_friction_is_the_average() -> None:
    angle = 30 * DEGREE
    expected = G / 2 * (math.sin(angle) - 0.4 * math.cos(angle))
    assert incline(0.1, 0.7, 30) == pytest.approx(expected, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("ball", "ground"), [(0.8, 0.8), (0.5, 0.5), (1.0, 0.2), (0.0, 0.0)])
def test_restitution_heights(ball: float, ground: float) -> None:
    """Bounces to the square of the averaged restitution of the height it fell from."""
    file = File(CENTIMETERS)
    file.add(
        file.material("A", 0.0, ground), file.material("B", 0.0, ball), file.ground(material=f"{W}/A"),
        file.body("Ball", (0, 0, 1.25), shape="Sphere", size=(0.25,), material=f"{W}/B"),
    )  # fmt: skip
    world = world_of(file, time_step=1 / 240)
    heights = []
    for _ in range(400):
        world.step()
        heights.append(place(world, "Ball")[2] - 0.25)
    touched = int(np.argmin(heights[:140]))
    expected = ((ball + ground) / 2) ** 2
    assert max(heights[touched:]) == pytest.approx(expected, abs=0.03)


def test_momentum_in_a_collision_of_unequal_masses() -> None:
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(
        file.material("M", 0.0, 0.5),
        file.body("Light", (-1, 0, 0), shape="Sphere", size=(0.25,), velocity=(3, 0, 0), material=f"{W}/M"),
        file.body("Heavy", (0, 0, 0), shape="Sphere", size=(0.25,), mass=4.0, material=f"{W}/M"),
    )  # fmt: skip
    world = run(world_of(file), 0.5)
    before = world.positions.copy()
    run(world, 1.0)
    light, heavy = (world.positions - before)[:, 0]
    assert light + 4 * heavy == pytest.approx(3.0, abs=1e-3)
    assert heavy - light == pytest.approx(0.5 * 3.0, abs=1e-2)


# --------------------------------------------------------------------------- mass


def test_center_of_mass_offset_is_a_pendulum() -> None:
    """A box on a ball joint at its middle swings about its centre of mass, d away: omega^2 = m g d / (I + m d^2)."""
    file = File(CENTIMETERS)
    mass, offset, moment = 2.0, 0.3, 0.05
    angle = 0.1
    hang = about("Y", 90 + angle / DEGREE)
    file.add(file.body("Box", (0, 0, 2), hang, mass=mass, center=(offset, 0, 0), inertia=(moment,) * 3))
    file.add(file.joint("Ball", "Spherical", "", f"{W}/Box", pos0=(0, 0, 2), rot0=hang, axis="X"))
    world = world_of(file)
    omega = math.sqrt(mass * G * offset / (moment + mass * offset**2))
    crossing = zero_crossings(world, lambda: turn(world, "Box")[0, 0], 4 * math.pi / omega)
    assert crossing[1] - crossing[0] == pytest.approx(math.pi / omega, rel=0.01)


def zero_crossings(world, value, seconds: float) -> list[float]:
    times = []
    last = value()
    for _ in range(round(seconds / world.time_step)):
        world.step()
        now = value()
        if last * now < 0:
            times.append(world.time - world.time_step * now / (now - last))
        last = now
    return times


def test_box_on_quad_of_the_specification() -> None:
    """A cube with its centre of mass in one corner comes to rest with that corner down."""
    file = File(CENTIMETERS)
    quad = file.mesh("Quad", [(-7.5, 7.5, 0), (7.5, 7.5, 0), (7.5, -7.5, 0), (-7.5, -7.5, 0)], [(3, 2, 1, 0)],
                     "convexHull")  # fmt: skip
    cube = file.body("Box", (0, 0, 2), about("X", 10), mass=1.0, center=(-0.4, -0.4, -0.4), inertia=(0.1, 0.1, 0.1))
    world = world_of(file.add(file.body("Ground", dynamic=False, geometry=quad), cube))
    assert codes(world) == ["FlatCollider"]
    run(world, 5.0)
    corner = turn(world, "Box") @ (-0.5, -0.5, -0.5) + place(world, "Box")
    assert corner[2] == pytest.approx(0.0, abs=0.02)
    center = turn(world, "Box") @ (-0.4, -0.4, -0.4) + place(world, "Box")
    assert center[2] == pytest.approx(0.1, abs=0.03)


def test_inertia_and_principal_axes() -> None:
    """Torque-free: a body that spins about a principal axis that is turned goes on doing so."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    axes = about("Z", 30)
    spin = frames.matrix_of(axes) @ (0, 2.0, 0)
    file.add(file.body("Brick", mass=3.0, inertia=(0.1, 0.4, 0.2), axes=axes, spin=tuple(spin)))
    world = run(world_of(file), 2.0)
    axis = turn(world, "Brick") @ spin / 2.0
    assert axis == pytest.approx(spin / 2.0, abs=0.01)
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Brick", mass=3.0, inertia=(0.1, 0.4, 0.2), axes=axes, spin=(0.0, 2.0, 0)))
    world = run(world_of(file), 2.0)
    assert abs(turn(world, "Brick")[1, 1]) < 0.999


def test_density_decides_who_pushes_whom() -> None:
    """Two balls meet; the denser one keeps most of its speed, as the masses from the volume say."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    options = {"shape": "Sphere", "size": (0.25,), "mass": None, "material": f"{W}/M"}
    file.add(
        file.material("M", 0.0, 1.0), file.body("Iron", (-1, 0, 0), density=7800.0, velocity=(1, 0, 0), **options),
        file.body("Wood", density=600.0, **options),
    )  # fmt: skip
    world = run(world_of(file), 1.0)
    before = world.positions.copy()
    run(world, 1.0)
    speeds = (world.positions - before)[:, 0]
    assert speeds == pytest.approx(((7800 - 600) / 8400, 2 * 7800 / 8400), rel=1e-3)


# --------------------------------------------------------------------------- kinds of bodies


def test_kinematic_body_carries_its_rider() -> None:
    file = File(CENTIMETERS)
    file.add(
        file.body("Tray", (0, 0, 0), size=(2, 2, 0.2), kinematic=True),
        file.body("Box", (0, 0, 0.35), size=(0.5, 0.5, 0.5)),
    )  # fmt: skip
    world = world_of(file)
    run(world, 0.5)
    path = next(path for path in world.paths if path.endswith("Tray"))
    for step in range(120):
        # Gently to 0.6 m/s: less than friction bears.
        speed = 0.6 * min(1.0, step / 30)
        world.set_kinematic_pose(path, place(world, "Tray") + np.array((speed / 60, 0, 0)), (1, 0, 0, 0))
        world.step()
    tray, box = place(world, "Tray")[0], place(world, "Box")[0]
    assert tray == pytest.approx(0.6 * (120 - 15.5) / 60, abs=1e-3)
    assert box == pytest.approx(tray, abs=0.03)
    # It stops when nobody moves it any more.
    run(world, 0.2)
    assert place(world, "Tray")[0] == pytest.approx(tray, abs=1e-6)
    with pytest.raises(KeyError):
        world.set_kinematic_pose(next(item for item in world.paths if item != path), (0, 0, 0), (1, 0, 0, 0))


def test_kinematic_rotation_throws() -> None:
    """The velocity of a turning bat at its end is imparted."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    file.add(
        file.material("M", 0.0, 1.0),
        file.body("Bat", size=(2, 0.1, 0.1), kinematic=True, material=f"{W}/M"),
        file.body("Ball", (0.9, 0.35, 0), shape="Sphere", size=(0.1,), material=f"{W}/M"),
    )  # fmt: skip
    world = world_of(file)
    bat = next(path for path in world.paths if path.endswith("Bat"))
    for step in range(30):
        world.set_kinematic_pose(bat, (0, 0, 0), about("Z", 2.0 * (step + 1)))
        world.step()
    before = place(world, "Ball").copy()
    run(world, 1.0)
    speed = float(np.linalg.norm(place(world, "Ball") - before))
    at_contact = math.hypot(0.9, 0.2) * 120 * DEGREE
    assert speed == pytest.approx(2 * at_contact, rel=0.1)


def test_velocity_of_a_kinematic_body_is_said_to_do_nothing() -> None:
    file = File()
    world = world_of(file.add(file.body("Tray", kinematic=True, velocity=(1, 0, 0))))
    assert codes(world) == ["KinematicVelocity"]
    assert run(world, 0.5).positions[0] == pytest.approx((0, 0, 0))


def test_asleep_until_touched() -> None:
    file = File(CENTIMETERS)
    file.add(
        file.body("Sleeper", (0, 0, 5), asleep=True), file.body("Waker", (0, 0, 8)),
    )  # fmt: skip
    world = run(world_of(file), 0.4)
    assert place(world, "Sleeper") == pytest.approx((0, 0, 5), abs=1e-6)
    assert world.awake.tolist() == [False, True]
    assert world.awake_count == 1
    run(world, 0.6)
    assert place(world, "Sleeper")[2] < 4.7


def test_disabled_body_is_static() -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Shelf", (0, 0, 1), enabled=False), file.body("Box", (0, 0, 3)))
    world = run(world_of(file), 2.0)
    assert world.paths == (f"{W}/Box",)
    assert place(world, "Box")[2] == pytest.approx(2.0, abs=0.01)


def test_disabled_collider_does_not_collide() -> None:
    file = File(CENTIMETERS)
    shape = file.shape("Shape", "Cube", (4, 4, 1), lines=["bool physics:collisionEnabled = 0"])
    file.add(file.body("Floor", dynamic=False, geometry=shape), file.body("Box", (0, 0, 2)))
    world = run(world_of(file), 1.0)
    assert place(world, "Box")[2] == pytest.approx(2 - G / 2, abs=0.02)


def test_nested_bodies_move_on_their_own() -> None:
    file = File(CENTIMETERS)
    inner = file.xform("Inner", (0, 0, 3), apis=["PhysicsRigidBodyAPI"], nested=True,
                       lines=[f"vector3f physics:velocity = ({file.length(1)}, 0, 0)"],
                       inside=[file.shape("Shape", "Cube", (0.5, 0.5, 0.5))])  # fmt: skip
    file.add(file.ground(), file.body("Outer", (0, 0, 0.5), children=[inner]))
    world = world_of(file)
    assert world.paths == (f"{W}/Outer", f"{W}/Outer/Inner")
    run(world, 0.5)
    assert place(world, "Outer") == pytest.approx((0, 0, 0.5), abs=0.01)
    assert place(world, "Inner") == pytest.approx((0.5, 0, 3.5 - G / 8), abs=0.02)


def test_resting_pile_falls_asleep() -> None:
    file = File(CENTIMETERS)
    file.add(file.ground(), *(file.body(f"Box{i}", (0, 0, 0.5 + i)) for i in range(3)))
    world = run(world_of(file), 4.0)
    assert world.awake_count == 0
    assert world.contact_count() == 3
    assert place(world, "Box2") == pytest.approx((0, 0, 2.5), abs=0.01)


@pytest.mark.slow
def test_slow_pendulum_does_not_fall_asleep() -> None:
    file = File()
    file.add(file.body("Bob", (0.05, 0, 0), mass=1.0, inertia=(0.01, 0.01, 0.01)))
    file.add(file.joint("Ball", "Spherical", "", f"{W}/Bob", pos0=(0, 0, 4), pos1=(-0.05, 0, 4)))
    world = run(world_of(file), 10.0)
    assert world.awake_count == 1


def test_small_things_rest_as_exactly_as_large_ones() -> None:
    for size in (0.01, 0.1, 1.0):
        file = File()
        file.add(file.ground(), file.body("Box", (0, 0, size * 0.6), size=(size,) * 3, mass=1000 * size**3))
        world = run(world_of(file), 2.0)
        assert place(world, "Box")[2] == pytest.approx(size / 2, rel=0.03)


@pytest.mark.parametrize("quality", ["draft", "normal"])
def test_a_wheel_that_turns_fast_keeps_its_speed(quality: str) -> None:
    """3,800 turns a minute; the solver slows bodies to an eighth of a turn in a step unless it is told."""
    file = File(METERS)
    file.gravity = (0, 0, 0)
    file.add(file.body("Wheel", mass=2.0, inertia=(0.1, 0.1, 0.2), spin=(0, 0, 400.0)))
    world = world_of(file, quality=quality)
    for _ in range(30):
        world.step()
    assert world.velocities()[1][0] == pytest.approx((0, 0, 400), abs=1)
