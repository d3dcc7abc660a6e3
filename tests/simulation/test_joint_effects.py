# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction, armature, largest speeds, soft limits, bounces and springs of joints, against what a textbook says."""

from __future__ import annotations

import math

import pytest
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.simulation.record import record
from usdphys_ext.usdphys_addon.simulation.world import World

from .helpers import codes, run
from .test_vendor_settings import UNITS, world_of

#: Mass, kg, and moment of inertia, kg m2, of what moves.
MASS, INERTIA = 2.0, 0.5


def joint(
    kind: str, apis: str, values: str, meters: float = 1.0, kilograms: float = 1.0, *, body: str = "",
    is_tree: bool = False, gravity: float = 0.0,
) -> World:  # fmt: skip
    """A body on a joint to the world, along or about Z. is_tree: in an articulation."""
    inertia = INERTIA / kilograms / meters**2
    axis = 'uniform token physics:axis = "Z"' if kind in ("Revolute", "Prismatic") else ""
    return world_of(
        f"""
def Cube "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
{{
    float physics:mass = {MASS / kilograms}
    float3 physics:diagonalInertia = ({inertia}, {inertia}, {inertia})
    {body}
}}
def Physics{kind}Joint "Joint" (prepend apiSchemas = [{apis}{', "PhysicsArticulationRootAPI"' if is_tree else ""}])
{{
    rel physics:body1 = </Body>
    {axis}
    {values}
}}
""",
        meters, kilograms, gravity,
    )  # fmt: skip


def spin(degrees: float) -> str:
    return f"vector3f physics:angularVelocity = (0, 0, {degrees})"


def speed_of(world: World, dof: str = "angular") -> float:
    linear, angular = world.velocities()
    return float((angular if dof == "angular" else linear)[0][2])


@pytest.mark.slow
@pytest.mark.parametrize("is_tree", [False, True])
@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
@pytest.mark.parametrize("api", ["NewtonJointAPI", "PhysxJointAxisAPI:angular"])
def test_friction_stops_a_hinge(api, meters, kilograms, is_tree) -> None:
    """Angle until rest: I w^2 / 2 T. Beyond half a turn."""
    torque, w = 0.8, math.radians(200)
    value = torque / kilograms / meters**2
    name = "newton:friction" if api.startswith("Newton") else "physxJointAxis:angular:dynamicFrictionEffort"
    world = joint("Revolute", f'"{api}"', f"float {name} = {value}", meters, kilograms, body=spin(200),
                  is_tree=is_tree)  # fmt: skip
    run(world, 0.5)
    assert speed_of(world) == pytest.approx(w - torque / INERTIA * 0.5, rel=0.01)
    run(world, 3.0)
    angle = INERTIA * w**2 / (2 * torque)
    assert angle > math.pi
    assert world.joint_position("/Joint", "angular") == pytest.approx(angle - 2 * math.pi, abs=0.02)
    assert "VendorNotSimulated" not in codes(world)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), [
    ("frictionloss", lambda w: w - 0.8 / INERTIA * 0.5), ("damping", lambda w: w * math.exp(-0.8 / INERTIA * 0.5)),
    ("armature", lambda w: w),
])  # fmt: skip
def test_words_of_mujoco_act_and_are_not_said_to_be_ignored(name, expected) -> None:
    world = joint("Revolute", '"MjcJointAPI"', f"uniform double mjc:{name} = 0.8", body=spin(200))
    run(world, 0.5)
    assert speed_of(world) == pytest.approx(expected(math.radians(200)), rel=0.02)
    assert "VendorNotSimulated" not in codes(world)


@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
def test_friction_holds_a_slide_up_to_its_force(meters, kilograms) -> None:
    for force, falls in ((1.01 * MASS * 9.81, False), (0.9 * MASS * 9.81, True)):
        values = f"float newton:friction = {force / kilograms / meters}"
        world = joint("Prismatic", '"NewtonJointAPI"', values, meters, kilograms, gravity=9.81)
        run(world, 1.0)
        # What is held does not creep: ragdolls never came to rest.
        wanted, near = (-0.5 * 0.1 * 9.81, 0.01) if falls else (0.0, 1e-4)
        assert world.joint_position("/Joint", "linear") == pytest.approx(wanted, abs=near)


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_friction_beside_a_motor_keeps_it_behind(friction) -> None:
    """A velocity drive of damping d turns more slowly by T / d."""
    values = f"""
    float newton:friction = {friction}
    float drive:angular:physics:damping = {math.radians(2.0)}
    float drive:angular:physics:targetVelocity = 90
    """
    world = joint("Revolute", '"NewtonJointAPI", "PhysicsDriveAPI:angular"', values)
    run(world, 4.0)
    assert speed_of(world) == pytest.approx(math.pi / 2 - friction / 2.0, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("is_tree", [False, True])
@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
def test_an_armature_is_inertia(meters, kilograms, is_tree) -> None:
    """T = (I + A) * acceleration, for a drive of constant torque."""
    torque, armature = 1.5, 1.0
    unit = kilograms * meters**2
    values = f"""
    float newton:armature = {armature / unit}
    float drive:angular:physics:damping = 1e6
    float drive:angular:physics:targetVelocity = 1e4
    float drive:angular:physics:maxForce = {torque / unit}
    """
    world = joint("Revolute", '"NewtonJointAPI", "PhysicsDriveAPI:angular"', values, meters, kilograms,
                  is_tree=is_tree)  # fmt: skip
    run(world, 1.0)
    assert speed_of(world) == pytest.approx(torque / (INERTIA + armature), rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("is_tree", [False, True])
@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
def test_a_joint_does_not_exceed_its_speed(kind, is_tree) -> None:
    dof = "angular" if kind == "Revolute" else "linear"
    values = f"""
    float newton:velocityLimit = {30 if dof == "angular" else 0.5}
    float drive:{dof}:physics:damping = 1e6
    float drive:{dof}:physics:targetVelocity = 1000
    float drive:{dof}:physics:maxForce = 2
    """
    world = joint(kind, f'"NewtonJointAPI", "PhysicsDriveAPI:{dof}"', values, is_tree=is_tree)
    run(world, 2.0)
    most = math.radians(30) if dof == "angular" else 0.5
    before = world.joint_position("/Joint", dof)
    run(world, 1.0)
    gone = world.joint_position("/Joint", dof) - before
    # What the drive gives in a step of the solver is more.
    assert gone == pytest.approx(most, rel=0.04)


@pytest.mark.slow
@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
@pytest.mark.parametrize("api", ["NewtonJointAPI", "PhysxLimitAPI:linear"])
def test_a_soft_limit_gives_way_by_force_over_stiffness(api, meters, kilograms) -> None:
    k, d = 200.0, 30.0
    newton = api.startswith("Newton")
    stiffness, damping = ("newton:limitStiffness", "newton:limitDamping") if newton else (
        "physxLimit:linear:stiffness", "physxLimit:linear:damping")  # fmt: skip
    values = f"""
    float {stiffness} = {k / kilograms}
    float {damping} = {d / kilograms}
    float physics:lowerLimit = {-0.5 / meters}
    float physics:upperLimit = {0.5 / meters}
    """
    world = joint("Prismatic", f'"{api}"', values, meters, kilograms, gravity=9.81)
    run(world, 5.0)
    assert world.joint_position("/Joint", "linear") == pytest.approx(-0.5 - MASS * 9.81 / k, abs=0.002)


SOFTNESS = "physxLimit:angular:stiffness"


@pytest.mark.parametrize(("api", "word", "of_radian"), [
    ("NewtonJointAPI", "newton:limitStiffness", math.radians(1)), ("PhysxLimitAPI:angular", SOFTNESS, 1),
    ('NewtonJointAPI", "PhysxLimitAPI:angular', f"{SOFTNESS} = 7\nfloat newton:limitStiffness", math.radians(1)),
])  # fmt: skip
def test_a_soft_limit_is_a_spring(api, word, of_radian) -> None:
    """The time beyond the limit is half a period of the oscillator. PhysX takes its own word per radian."""
    k, w = 20.0, math.radians(60)
    values = f"float {word} = {k * of_radian}\nfloat physics:upperLimit = 30"
    world = joint("Revolute", f'"{api}"', values, body=spin(60))
    period = math.pi * math.sqrt(INERTIA / k)
    run(world, math.radians(30) / w + period / 2)
    assert world.joint_position("/Joint", "angular") == pytest.approx(
        math.radians(30) + w * math.sqrt(INERTIA / k), abs=0.01
    )
    run(world, period / 2 + math.radians(30) / w)
    assert world.joint_position("/Joint", "angular") == pytest.approx(0.0, abs=0.03)


@pytest.mark.parametrize("bounce", [0.0, 0.5, 1.0])
def test_a_limit_gives_speed_back(bounce) -> None:
    values = f"float physxLimit:angular:restitution = {bounce}\nfloat physics:upperLimit = 30"
    world = joint("Revolute", '"PhysxLimitAPI:angular"', values, body=spin(60))
    run(world, 1.0)
    assert speed_of(world) == pytest.approx(-bounce * math.radians(60), abs=0.02)


def test_a_slow_joint_does_not_bounce() -> None:
    values = "float physxLimit:angular:restitution = 1\nfloat physics:upperLimit = 30\n" \
             "float physxLimit:angular:bounceThreshold = 90"  # fmt: skip
    world = joint("Revolute", '"PhysxLimitAPI:angular"', values, body=spin(60))
    run(world, 1.0)
    assert speed_of(world) == pytest.approx(0.0, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (1.0, 1.0), (0.5, 1.0)])
def test_a_distance_spring_sags_by_weight_over_stiffness(low, high, meters, kilograms) -> None:
    k, d = 50.0, 20.0
    at = f"double3 xformOp:translate = (0, 0, {-1.0 / meters})\n" \
         'uniform token[] xformOpOrder = ["xformOp:translate"]'  # fmt: skip
    values = f"""
    float physics:minDistance = {low / meters if low > 0 else -1}
    float physics:maxDistance = {high / meters}
    bool physxPhysicsDistanceJoint:springEnabled = 1
    float physxPhysicsDistanceJoint:springStiffness = {k / kilograms}
    float physxPhysicsDistanceJoint:springDamping = {d / kilograms}
    """
    world = joint("Distance", '"PhysxPhysicsDistanceJointAPI"', values, meters, kilograms, body=at, gravity=9.81)
    run(world, 6.0)
    assert world.positions[0][2] == pytest.approx(-1.0 - MASS * 9.81 / k, abs=0.004)


@pytest.mark.slow
@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
def test_a_soft_limit_of_a_distance_sags_by_weight_over_stiffness(meters, kilograms) -> None:
    """That of a generic joint, as in PhysX, where 2 kg on 200 N/m hang 0.1 m below the limit."""
    k, d = 200.0, 20.0
    at = f"double3 xformOp:translate = (0, 0, {-0.9 / meters})\n" \
         'uniform token[] xformOpOrder = ["xformOp:translate"]'  # fmt: skip
    values = f"""
    float limit:distance:physics:high = {1.0 / meters}
    float physxLimit:distance:stiffness = {k / kilograms}
    float physxLimit:distance:damping = {d / kilograms}
    """
    apis = '"PhysicsLimitAPI:distance", "PhysxLimitAPI:distance"'
    world = joint("", apis, values, meters, kilograms, body=at, gravity=9.81)
    run(world, 6.0)
    assert world.positions[0][2] == pytest.approx(-1.0 - MASS * 9.81 / k, abs=0.004)
    assert "VendorNotSimulated" not in codes(world)


@pytest.mark.parametrize(("kind", "value", "expected"), [
    ("Distance", "stiffness", True), ("Distance", "restitution", True), ("", "restitution", True),
    ("", "damping", False),
])  # fmt: skip
def test_what_the_limit_of_a_distance_cannot_do_is_named(kind: str, value: str, expected: bool) -> None:
    """PhysX reads no softness of a limit of a distance joint, whose spring is elsewhere, and no rebound."""
    apis = '"PhysxLimitAPI:distance"' if kind else '"PhysicsLimitAPI:distance", "PhysxLimitAPI:distance"'
    world = joint(kind, apis, f"float physxLimit:distance:{value} = 0.5")
    assert ("VendorNotSimulated" in codes(world)) is expected


def test_loads_and_breaks_of_joints_are_recorded() -> None:
    """A weight on a fixed joint: its force is m g; a weaker joint breaks, and says when and at which force."""
    held = joint("Fixed", '"PhysicsFilteredPairsAPI"', "", gravity=9.81)
    found = record(held, 20, with_loads=True)
    table = found.as_json(StageUnits())["joints"]["/Joint"]
    assert table["force_newtons"][-1] == pytest.approx(MASS * 9.81, rel=0.01) and "broken_seconds" not in table
    assert table["torque_newton_metres"][-1] == pytest.approx(0.0, abs=0.01)
    assert table["force_on_body1"][-1] == pytest.approx((0, 0, MASS * 9.81), rel=0.01)
    assert table["torque_on_body1"][-1] == pytest.approx((0, 0, 0), abs=0.01)
    weak = joint("Fixed", '"PhysicsFilteredPairsAPI"', "float physics:breakForce = 5", gravity=9.81)
    table = record(weak, 20, with_loads=True).as_json(StageUnits())["joints"]["/Joint"]
    assert 0.0 < table["broken_seconds"] < 0.1
    assert table["broken_under_newtons"] == table["largest_force_newtons"] > 5.0
    assert max(table["force_newtons"]) > 5.0 and table["force_newtons"][-1] == 0.0
    assert weak.joint_load("/Joint")[0] == max(table["force_newtons"])


def test_a_recording_without_loads_has_none() -> None:
    found = record(joint("Fixed", '"PhysicsFilteredPairsAPI"', "", gravity=9.81), 2)
    assert "joints" not in found.as_json(StageUnits())
