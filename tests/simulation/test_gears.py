# SPDX-License-Identifier: GPL-3.0-or-later
"""Gears, racks and pinions in the preview, against the momentum and the statics of a textbook."""

from __future__ import annotations

import math

import pytest
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import File, block
from .helpers import codes, place, run
from .helpers import world_of as built
from .test_vendor_settings import UNITS, world_of

#: Moments of inertia about the axes (kg m2), and the mass of the rack (kg).
DRIVING, DRIVEN, RACK = 0.5, 0.2, 3.0
SPIN = math.radians(90.0)
W = "/World"


def machine(
    coupling: str, meters: float, kilograms: float, *, gravity: float = 0.0, drive: str = "", is_tree: bool = False,
    reversed_: bool = False, inertia: float = DRIVING,
) -> World:  # fmt: skip
    """Two wheels about Z, and a rack along Z, each on a joint to the world. The first wheel turns."""
    area = kilograms * meters**2
    bodies = "".join(
        f"""
def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
{{
    float physics:mass = {RACK / kilograms}
    float3 physics:diagonalInertia = ({moment / area}, {moment / area}, {moment / area})
    vector3f physics:angularVelocity = (0, 0, {spin})
    double3 xformOp:translate = ({place / meters}, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}}"""
        for name, moment, spin, place in (("A", inertia, 90 * (not drive), 0), ("B", DRIVEN, 0, 2), ("C", 1, 0, 4))
    )
    own, other = (0, 1) if reversed_ else (1, 0)
    root = '["PhysicsArticulationRootAPI"]' if is_tree else "[]"
    first = '["PhysicsDriveAPI:angular"]' if drive else root
    joints = f"""
def PhysicsRevoluteJoint "First" (apiSchemas = {first})
{{
    rel physics:body1 = </A>
    uniform token physics:axis = "Z"
    {drive}
}}
def PhysicsRevoluteJoint "Second" (apiSchemas = {root})
{{
    rel physics:body{own} = </B>
    uniform token physics:axis = "Z"
    point3f physics:localPos{other} = ({2 / meters}, 0, 0)
}}
def PhysicsPrismaticJoint "Slide"
{{
    rel physics:body1 = </C>
    uniform token physics:axis = "Z"
    point3f physics:localPos0 = ({4 / meters}, 0, 0)
}}
"""
    return world_of(f"{bodies}{joints}{coupling}", meters, kilograms, gravity)


GEAR = """
def PhysxPhysicsGearJoint "Gear"
{
    rel physics:body0 = </A>
    rel physics:body1 = </B>
    rel physics:hinge0 = </First>
    rel physics:hinge1 = </Second>
    float physics:gearRatio = 3
}
"""


def rack(degrees: float, meters: float) -> str:
    """degrees: of the pinion for each metre."""
    return f"""
def PhysxPhysicsRackAndPinionJoint "Rack"
{{
    rel physics:body0 = </A>
    rel physics:body1 = </C>
    rel physics:hinge = </First>
    rel physics:prismatic = </Slide>
    float physics:ratio = {degrees * meters}
}}
"""


def spin_of(world: World, body: str) -> float:
    return float(world.velocities()[1][world.paths.index(f"/{body}")][2])


@pytest.mark.parametrize("kind", ["maximal", "articulation", "reversed"])
@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
def test_a_gear_shares_the_momentum_between_both_wheels(meters, kilograms, kind) -> None:
    """The other wheel turns the other way; both feel each other: I w / (I + ratio^2 I2)."""
    world = machine(GEAR, meters, kilograms, is_tree=kind == "articulation", reversed_=kind == "reversed")
    run(world, 0.5)
    expected = DRIVING * SPIN / (DRIVING + 9.0 * DRIVEN)
    assert spin_of(world, "A") == pytest.approx(expected, rel=0.01)
    assert spin_of(world, "B") == pytest.approx(-3.0 * expected, rel=0.01)
    assert "VendorNotSimulated" not in codes(world)


@pytest.mark.slow
@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
def test_a_pinion_moves_its_rack_and_feels_its_weight(meters, kilograms) -> None:
    """Without gravity momentum is shared; with it the rack falls as if the wheel were heavier."""
    ratio = 2.0  # radians for each metre
    degrees = math.degrees(ratio)
    world = machine(rack(degrees, meters), meters, kilograms)
    run(world, 0.5)
    expected = DRIVING * SPIN / (DRIVING + RACK / ratio**2)
    assert spin_of(world, "A") == pytest.approx(expected, rel=0.01)
    assert world.joint_position("/Slide", "linear") == pytest.approx(expected * 0.5 / ratio, rel=0.02)
    falling = machine(rack(degrees, meters), meters, kilograms, gravity=9.81)
    run(falling, 0.5)
    slowed = 9.81 * RACK / (RACK + DRIVING * ratio**2)
    assert float(falling.velocities()[0][2][2]) == pytest.approx(expected / ratio - slowed * 0.5, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("meters", "kilograms"), UNITS[1:])
def test_a_light_motor_turns_a_heavy_wheel_to_the_place_of_its_target(meters, kilograms) -> None:
    drive = f"""
    float drive:angular:physics:stiffness = {50.0 / kilograms / meters**2}
    float drive:angular:physics:damping = {10.0 / kilograms / meters**2}
    float drive:angular:physics:targetPosition = 40
"""
    world = machine(GEAR, meters, kilograms, drive=drive, inertia=0.001)
    run(world, 2.5)
    assert world.joint_position("/First", "angular") == pytest.approx(math.radians(40.0), abs=0.01)
    assert world.joint_position("/Second", "angular") == pytest.approx(math.radians(-120.0), abs=0.02)


def test_a_gear_of_other_bodies_than_its_hinges_move_is_named() -> None:
    """PhysX ignores it, too."""
    world = machine(GEAR.replace("body0 = </A>", "body0 = </C>"), 1.0, 1.0)
    run(world, 0.2)
    assert spin_of(world, "B") == 0.0
    assert "VendorNotSimulated" in codes(world)


def coupled(kind: str, name: str, first: str, second: str, ratio: float) -> str:
    """A gear, or a rack and pinion, of two bodies whose joints have their names in small letters."""
    words = ("hinge0", "hinge1", "gearRatio") if kind == "Gear" else ("hinge", "prismatic", "ratio")
    return block(f"PhysxPhysics{kind}Joint", name, [
        f"rel physics:body0 = <{W}/{first}>", f"rel physics:body1 = <{W}/{second}>",
        f"rel physics:{words[0]} = <{W}/{first.lower()}>", f"rel physics:{words[1]} = <{W}/{second.lower()}>",
        f"float physics:{words[2]} = {ratio}",
    ])  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 3, 6])
def test_a_light_sun_shares_its_momentum_with_heavy_planets(number: int) -> None:
    """Each turns the other way, as fast: I w / (I + n I2)."""
    file = File(gravity=(0, 0, 0))
    file.add(file.body("Sun", inertia=(0.01,) * 3, spin=(0, 0, 10), shape="Sphere", size=(0.1,)),
             file.joint("sun", "Revolute", body1=f"{W}/Sun", axis="Z"))  # fmt: skip
    for index in range(number):
        at, name = (2.0 * index + 2.0, 0.0, 0.0), f"Planet{index}"
        file.add(file.body(name, at, inertia=(0.05,) * 3, shape="Sphere", size=(0.1,)),
                 file.joint(name.lower(), "Revolute", body1=f"{W}/{name}", pos0=at, axis="Z"),
                 coupled("Gear", f"Gear{index}", "Sun", name, 1.0))  # fmt: skip
    world = run(built(file), 0.5)
    shared = 10.0 * 0.01 / (0.01 + number * 0.05)
    spins = world.velocities()[1][:, 2]
    for path, spin in zip(world.paths, spins, strict=True):
        assert spin == pytest.approx(shared if path.endswith("Sun") else -shared, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "rate"), [(1.0, 60), (0.03, 120), (0.03, 30)])
def test_two_racks_on_a_pinion_are_an_atwood_machine(size: float, rate: int) -> None:
    """(m - m2) g / (m + m2 + I / r2), and the racks stay level with each other, however few steps their fall takes."""
    radius, masses, inertia, file = 0.25 * size, (3.0, 2.0), 0.05 * size**2, File()
    file.add(file.body("Wheel", (0, 0, size), inertia=(inertia,) * 3, shape="Sphere", size=(0.05 * size,)),
             file.joint("wheel", "Revolute", body1=f"{W}/Wheel", pos0=(0, 0, size), axis="Y"))  # fmt: skip
    for name, x, mass in (("Left", -radius, masses[1]), ("Right", radius, masses[0])):
        file.add(file.body(name, (x, 0, 0), mass=mass, size=(0.05 * size,) * 3),
                 file.joint(name.lower(), "Prismatic", body1=f"{W}/{name}", pos0=(x, 0, 0), axis="Z"),
                 coupled("RackAndPinion", f"Teeth{name}", "Wheel", name, -math.degrees(1.0 / x)))  # fmt: skip
    acceleration = (masses[0] - masses[1]) * 9.81 / (sum(masses) + inertia / radius**2)
    world = built(file, time_step=1.0 / rate)
    seconds = 0.8 * math.sqrt(size)
    run(world, seconds)
    way = 0.5 * acceleration * (round(seconds * rate) / rate) ** 2
    assert place(world, "Right")[2] == pytest.approx(-way, rel=0.03)
    assert place(world, "Left")[2] == pytest.approx(-place(world, "Right")[2], rel=0.01)
