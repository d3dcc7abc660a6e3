# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of PhysX and Newton in the preview, against what a textbook says, in metres and in centimetres."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rapier3d import Isometry3, SharedShape
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.model import PhysicsModel
from usdphys_ext.usdphys_addon.simulation.notices import Notices
from usdphys_ext.usdphys_addon.simulation.rapier.shapes import shape_of
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import File
from .helpers import codes, model_in, model_of, place, run, stages

G = 9.81
#: (metres per unit, kilograms per unit)
UNITS = [(1.0, 1.0), (0.01, 0.001)]


def read(
    prims: str, meters: float = 1.0, kilograms: float = 1.0, gravity: float = G,
    leads: tuple[tuple[str, str, str, str], ...] = (),
) -> PhysicsModel:  # fmt: skip
    """leads: (joint, applied schema, field, target) of relationships."""
    head = f"""#usda 1.0
(
    metersPerUnit = {meters}
    kilogramsPerUnit = {kilograms}
    upAxis = "Z"
)
def PhysicsScene "Scene"
{{
    vector3f physics:gravityDirection = (0, 0, -1)
    float physics:gravityMagnitude = {gravity / meters}
}}
"""
    model, stage = model_of(head + prims)
    stages.append(stage)
    for path, schema, field, target in leads:
        setattr(model.prims[path].schemas[schema], field, (target,))
    return model


def world_of(*values, **named) -> World:
    return World(read(*values, **named))


def ball(
    values: str, apis: str, meters: float = 1.0, kilograms: float = 1.0, *, place=(0, 0, 0), velocity=(0, 0, 0)
) -> str:  # fmt: skip
    at = tuple(part / meters for part in place)
    speed = tuple(part / meters for part in velocity)
    return f"""
def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI", {apis}])
{{
    double radius = {0.1 / meters}
    double3 xformOp:translate = {at}
    uniform token[] xformOpOrder = ["xformOp:translate"]
    vector3f physics:velocity = {speed}
    float physics:mass = {2.0 / kilograms}
    {values}
}}
"""


BODY = '"PhysxRigidBodyAPI"'


@pytest.mark.parametrize("units", UNITS)
def test_linear_damping_is_exponential(units) -> None:
    prims = ball("float physxRigidBody:linearDamping = 0.5", BODY, *units, velocity=(3, 0, 0))
    world = run(world_of(prims, *units, gravity=0.0), 2.0)
    assert world.positions[0][0] == pytest.approx(3 / 0.5 * (1 - math.exp(-0.5 * 2)), rel=0.01)
    assert codes(world) == []


def test_angular_damping_is_exponential() -> None:
    prims = ball("float physxRigidBody:angularDamping = 2\n    vector3f physics:angularVelocity = (0, 0, 90)", BODY)
    world = run(world_of(prims, gravity=0.0), 1.0)
    angle = 2 * math.atan2(world.rotations[0][3], world.rotations[0][0])
    assert math.degrees(angle) == pytest.approx(90 / 2 * (1 - math.exp(-2)), rel=0.02)


def test_a_body_without_gravity_keeps_its_velocity() -> None:
    prims = ball("bool physxRigidBody:disableGravity = 1", BODY, velocity=(1, 0, 0))
    assert run(world_of(prims), 1.0).positions[0] == pytest.approx((1, 0, 0), abs=1e-4)


def test_locked_positions_are_along_the_axes_of_the_world() -> None:
    """X and Z are locked: only the motion along Y stays, and neither gravity nor the start moves the others."""
    prims = ball("int physxRigidBody:lockedPosAxis = 5", BODY, velocity=(1, 2, 3))
    assert run(world_of(prims), 1.0).positions[0] == pytest.approx((0, 2, 0), abs=1e-4)
    prims = ball("int physxRigidBody:lockedRotAxis = 3\n    vector3f physics:angularVelocity = (90, 90, 90)", BODY)
    world = run(world_of(prims, gravity=0.0), 1.0)
    assert world.rotations[0] == pytest.approx((math.cos(math.pi / 4), 0, 0, math.sin(math.pi / 4)), abs=0.01)


@pytest.mark.parametrize("up_axis", ["Z", "Y"])
@pytest.mark.parametrize("locked", [(), (0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2)])
def test_locked_rotations_are_about_the_axes_of_the_world(up_axis, locked) -> None:
    """As in PhysX, whatever way the body lies, and however it turns: what is left of its spin goes on."""
    half = math.sqrt(0.5)
    bits = sum(1 << axis for axis in locked)
    prims = ball(
        f"int physxRigidBody:lockedRotAxis = {bits}\n    vector3f physics:angularVelocity = (90, 45, 60)", BODY
    )
    prims = prims.replace(
        'token[] xformOpOrder = ["xformOp:translate"]',
        f'token[] xformOpOrder = ["xformOp:orient"]\n    quatf xformOp:orient = ({half}, 0, {half}, 0)',
    )
    model, stage = model_of(f'#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "{up_axis}"\n)\n{prims}')
    stages.append(stage)
    before = World(model)
    first = frames.matrix_of(tuple(np.array(before.rotations[0])))
    from_file = model.units.to_z_up
    # In the axes of the file: a quarter turn about its Y takes Z to X.
    spin = np.radians([60.0, 45.0, -90.0])
    spin[list(locked)] = 0.0
    spin = from_file @ spin * 0.5
    world = run(before, 0.5)
    turned = frames.matrix_of(tuple(world.rotations[0])) @ first.T
    angle = float(np.linalg.norm(spin))
    wanted = frames.matrix_of((
        math.cos(angle / 2), *(math.sin(angle / 2) * spin / (angle or 1.0)).tolist()
    ))  # fmt: skip
    assert np.allclose(turned, wanted, atol=0.02)
    assert codes(world) == ["SceneMissing"]


@pytest.mark.parametrize("is_trigger", [True, False])
def test_a_trigger_stops_nothing(is_trigger) -> None:
    floor = f"""
def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"{', "PhysxTriggerAPI"' if is_trigger else ""}])
{{
    double size = 1
    double3 xformOp:translate = (0, 0, -1)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}}
"""
    height = run(world_of(ball("", BODY) + floor), 1.0).positions[0][2]
    assert height == pytest.approx(-G / 2 if is_trigger else -0.4, abs=0.1)


@pytest.mark.parametrize(
    ("mode", "friction"),
    [("average", 0.4), ("min", 0.2), ("max", 0.6), ("multiply", 0.12)],
)
def test_combine_modes_decide_how_far_a_box_slides(mode, friction) -> None:
    """v^2 / (2 mu g), with frictions of 0.2 and 0.6."""

    def material(name: str, value: float, apis: str = "", more: str = "") -> str:
        return f"""
def Material "{name}" (prepend apiSchemas = ["PhysicsMaterialAPI"{apis}])
{{
    float physics:staticFriction = {value}
    float physics:dynamicFriction = {value}
    {more}
}}
"""

    def bound(name: str) -> str:
        return f"rel material:binding:physics = </{name}>"

    box = f"""
def Cube "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "MaterialBindingAPI"])
{{
    double size = 0.4
    double3 xformOp:translate = (0, 0, 0.2)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    vector3f physics:velocity = (3, 0, 0)
    {bound("Slow")}
}}
def Plane "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
{{
    uniform token axis = "Z"
    {bound("Plain")}
}}
"""
    token = f'uniform token physxMaterial:frictionCombineMode = "{mode}"'
    materials = material("Slow", 0.2, ', "PhysxMaterialAPI"', token) + material("Plain", 0.6)
    world = run(world_of(box + materials), 4.0)
    assert world.positions[0][0] == pytest.approx(9 / (2 * friction * G), rel=0.05)


def joint(kind: str, apis: str, values: str) -> str:
    return f"""
def {kind} "Joint" (prepend apiSchemas = [{apis}])
{{
    rel physics:body1 = </Ball>
    uniform token physics:axis = "Z"
    {values}
}}
"""


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("runtime", ["Newton", "PhysX"])
def test_a_damped_slider_falls_towards_its_terminal_velocity(units, runtime) -> None:
    """z = -v (t - m/c (1 - exp(-c t/m))), with v = m g / c; damping in kg/s. m = 2 kg, c = 4 kg/s."""
    damping = 4.0 / units[1]
    apis, name = ('"NewtonJointAPI"', "newton:damping") if runtime == "Newton" else (
        '"PhysxJointAxisAPI:linear"', "physxJointAxis:linear:viscousFrictionCoefficient")  # fmt: skip
    prims = ball("", BODY, *units) + joint("PhysicsPrismaticJoint", apis, f"float {name} = {damping}")
    world = run(world_of(prims, *units), 2.0)
    v, tau = 2 * G / 4, 2.0 / 4
    assert world.positions[0][2] == pytest.approx(-v * (2.0 - tau * (1 - math.exp(-2.0 / tau))), rel=0.02)


def test_a_damped_drive_reaches_the_velocity_of_both_dampings() -> None:
    """A motor of 6 kg/s towards 1 m/s with a joint damping of 2 kg/s settles at 6 / 8 m/s."""
    drive = """float newton:damping = 2
    float drive:linear:physics:damping = 6
    float drive:linear:physics:targetVelocity = 1
    float drive:linear:physics:stiffness = 0"""
    prims = ball("", BODY) + joint("PhysicsPrismaticJoint", '"NewtonJointAPI", "PhysicsDriveAPI:linear"', drive)
    world = run(world_of(prims, gravity=0.0), 4.0)
    before = float(world.positions[0][2])
    assert float(run(world, 1.0).positions[0][2]) - before == pytest.approx(0.75, rel=0.01)


@pytest.mark.parametrize(("apis", "values"), [
    ('"PhysxLimitAPI:cone"', "float physxLimit:cone:stiffness = 20"),
    ('"NewtonJointAPI"', "float newton:limitStiffness = 20"),
])  # fmt: skip
def test_the_soft_cone_of_a_ball_joint_is_named(apis, values) -> None:
    """The cone of the preview is hard; that of a hinge may be soft."""
    for kind, expected in (("Spherical", ["VendorNotSimulated"]), ("Revolute", [])):
        world = world_of(ball("", BODY) + joint(f"Physics{kind}Joint", apis, values))
        assert [code for code in codes(world) if code == "VendorNotSimulated"] == expected


def test_joints_slower_than_they_may_be_cost_a_step_little(count_calls) -> None:
    """A body turns at 90°/s about Z on a generic joint; at 1°/s it is held back, and its speed has to be measured.

    What is slower costs less than half of that, beyond the step of a joint without a largest speed.
    """
    turning = ball("vector3f physics:angularVelocity = (0, 0, 90)", BODY)
    calls, speeds = [], []
    for most in (None, 400, 1):
        axes = [f"rot{axis}" for axis in "XYZ"] if most else []
        apis = ", ".join(f'"PhysicsLimitAPI:trans{axis}"' for axis in "XYZ")
        bounds = "float limit:trans{0}:physics:low = 1\nfloat limit:trans{0}:physics:high = -1\n"
        locks = "".join(bounds.format(axis) for axis in "XYZ")
        apis += "".join(f', "PhysxJointAxisAPI:{axis}"' for axis in axes)
        locks += "".join(f"float physxJointAxis:{axis}:maxJointVelocity = {most}\n" for axis in axes)
        world = world_of(turning + joint("PhysicsJoint", apis, locks), gravity=0.0)
        run(world, 0.1)
        speeds.append(math.degrees(abs(float(world.velocities()[1][0, 2]))))
        calls.append(count_calls(world.step))
    assert speeds == [*[pytest.approx(90.0, rel=0.01)] * 2, pytest.approx(1.0, rel=0.05)]
    plain, slow, held_back = calls
    assert slow - plain < 0.5 * (held_back - plain)


def test_what_is_not_simulated_is_named() -> None:
    prims = ball("float physxRigidBody:maxContactImpulse = 1", BODY, velocity=(1, 0, 0))
    values = "float physxJointAxis:linear:staticFrictionEffort = 1"
    world = world_of(prims + joint("PhysicsPrismaticJoint", '"PhysxJointAxisAPI:linear"', values))
    messages = [issue.message for issue in world.notices if issue.code == "VendorNotSimulated"]
    assert len(messages) == 2 and np.all([
        any(name in message for message in messages) for name in ("maxContactImpulse", "staticFrictionEffort")
    ])  # fmt: skip


@pytest.mark.parametrize(("static", "is_named"), [(1, False), (2, False), (3, True)])
def test_a_static_friction_is_named_where_it_is_more_than_the_dynamic_one(static, is_named) -> None:
    values = f"""float physxJointAxis:linear:staticFrictionEffort = {static}
    float physxJointAxis:linear:dynamicFrictionEffort = 2"""
    world = world_of(ball("", BODY) + joint("PhysicsPrismaticJoint", '"PhysxJointAxisAPI:linear"', values))
    assert ("VendorNotSimulated" in codes(world)) == is_named


@pytest.mark.parametrize(("applied", "value", "is_named"), [
    ("PhysxCollisionAPI", "float physxCollision:restOffset = 0.02", True),
    ("PhysxCollisionAPI", "float physxCollision:contactOffset = 0.02", False),
    ("PhysxCollisionAPI", "float physxCollision:torsionalPatchRadius = 0.02", True),
    ("NewtonCollisionAPI", "float newton:contactMargin = 0.02", True),
    ("NewtonCollisionAPI", "float newton:contactMargin = 0", False),
    ("NewtonCollisionAPI", "float newton:contactGap = 0.02", False),
    ("MjcCollisionAPI", "uniform double mjc:margin = 0.02", True),
])  # fmt: skip
@pytest.mark.parametrize("is_body", [True, False])
def test_a_setting_of_a_collider_that_changes_the_motion_is_named(applied, value, is_named, is_body) -> None:
    body = '"PhysicsRigidBodyAPI", ' if is_body else ""
    apis = f'{body}"PhysicsCollisionAPI", "{applied}"'
    world = world_of(f'def Sphere "Ball" (prepend apiSchemas = [{apis}])\n{{\n    {value}\n}}\n')
    messages = [issue.message for issue in world.notices if issue.code == "VendorNotSimulated"]
    assert len(messages) == is_named and all(value.split()[-3] in message for message in messages)


def test_a_scene_without_gravity_in_the_words_of_newton_is_named() -> None:
    text = """#usda 1.0
def PhysicsScene "Scene" (prepend apiSchemas = ["NewtonSceneAPI"])
{
    bool newton:gravityEnabled = 0
    int newton:timeStepsPerSecond = 500
}
"""
    world = World(model_of(text)[0])
    (message,) = [issue.message for issue in world.notices if issue.code == "VendorNotSimulated"]
    assert "newton:gravityEnabled" in message and "timeSteps" not in message


ROBOT = """
def Xform "Robot"{root}
{{
    def Cube "Base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = {kg1}
    }}
    def Cube "Arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = {kg1}
        float3 physics:diagonalInertia = ({inertia}, {inertia}, {inertia})
    }}
    def Cube "Finger" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = {kg1}
        float3 physics:diagonalInertia = ({inertia}, {inertia}, {inertia})
    }}
    def PhysicsFixedJoint "Foot"
    {{
        rel physics:body0 = </Robot/Base>
    }}
    def PhysicsRevoluteJoint "Leads" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
    {{
        rel physics:body0 = </Robot/Base>
        rel physics:body1 = </Robot/Arm>
        uniform token physics:axis = "Z"
        uniform token drive:angular:physics:type = "acceleration"
        float drive:angular:physics:damping = 1000
        float drive:angular:physics:targetVelocity = {speed}
    }}
    def Physics{kind}Joint "Follows" (prepend apiSchemas = ["{applied}"])
    {{
        rel physics:body0 = </Robot/Base>
        rel physics:body1 = </Robot/Finger>
        uniform token physics:axis = "{axis}"
        {values}
    }}
}}
"""
#: Degrees per second of the joint that leads.
SPEED = 40.0


def robot(values: str, *, applied: str = "NewtonMimicAPI", kind: str = "Revolute", axis: str = "Z", root: str = "",
          meters: float = 1.0, kilograms: float = 1.0, leader: str = "/Robot/Leads") -> World:  # fmt: skip
    prims = ROBOT.format(
        root=root, kg1=1.0 / kilograms, inertia=0.1 / kilograms / meters**2, speed=SPEED, kind=kind, applied=applied,
        axis=axis, values=values,
    )  # fmt: skip
    field = "mimic_joint" if applied == "NewtonMimicAPI" else "reference_joint"
    return world_of(prims, meters, kilograms, 0.0, (("/Robot/Follows", applied, field, leader),))


@pytest.mark.parametrize("root", ["", ' (prepend apiSchemas = ["PhysicsArticulationRootAPI"])'])
@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
def test_a_hinge_follows_another(root, meters, kilograms) -> None:
    world = robot(
        "float newton:mimicCoef0 = 10\nfloat newton:mimicCoef1 = -1.5",
        root=root, meters=meters, kilograms=kilograms,
    )  # fmt: skip
    for _ in range(4):
        run(world, 0.5)
        led, found = (world.joint_position(f"/Robot/{name}", "angular") for name in ("Leads", "Follows"))
        assert led == pytest.approx(math.radians(SPEED * world.time), abs=0.02)
        # It is behind by one step of the solver: a quarter of a degree at 60 degrees a second.
        assert found == pytest.approx(math.radians(10.0) - 1.5 * led, abs=0.004)
    assert "JointFollows" in codes(world) and "VendorNotSimulated" not in codes(world)


@pytest.mark.parametrize("root", ["", ' (prepend apiSchemas = ["PhysicsArticulationRootAPI"])'])
def test_a_driven_joint_leads_the_one_without_a_drive_that_it_is_said_to_follow(root) -> None:
    """The fingers of a gripper, of which the first has the drive and is said to follow the second: both stayed."""
    prims = ROBOT.format(
        root=root, kg1=1.0, inertia=0.1, speed=SPEED, kind="Revolute", applied="NewtonJointAPI", axis="Z", values=""
    ).replace(
        '(prepend apiSchemas = ["PhysicsDriveAPI:angular"])\n    {',
        '(prepend apiSchemas = ["PhysicsDriveAPI:angular", "NewtonMimicAPI"])\n    {\n'
        "        float newton:mimicCoef0 = 10\n        float newton:mimicCoef1 = -0.5",
    )  # fmt: skip
    world = world_of(prims, 1.0, 1.0, 0.0, (("/Robot/Leads", "NewtonMimicAPI", "mimic_joint", "/Robot/Follows"),))
    run(world, 1.0)
    driven, other = (world.joint_position(f"/Robot/{name}", "angular") for name in ("Leads", "Follows"))
    assert driven == pytest.approx(math.radians(SPEED), abs=0.02)
    assert driven == pytest.approx(math.radians(10.0) - 0.5 * other, abs=0.004)
    assert "JointFollows" in codes(world) and "VendorNotSimulated" not in codes(world)


@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
def test_a_slide_follows_a_hinge(meters, kilograms) -> None:
    """The ratio is in metres per radian."""
    world = robot(
        f"float newton:mimicCoef0 = {0.2 / meters}", kind="Prismatic", axis="X",
        meters=meters, kilograms=kilograms,
    )  # fmt: skip
    run(world, 1.0)
    led = world.joint_position("/Robot/Leads", "angular")
    assert led > 0.5
    assert world.joint_position("/Robot/Follows", "linear") == pytest.approx(0.2 + led, abs=0.002)


def test_physx_counts_the_other_way_round() -> None:
    """q + gearing * q of the reference + offset = 0."""
    world = robot(
        "float physxMimicJoint:rotZ:gearing = -0.5\n"
        "float physxMimicJoint:rotZ:offset = 15", applied="PhysxMimicJointAPI:rotZ",
    )  # fmt: skip
    run(world, 1.0)
    led, found = (world.joint_position(f"/Robot/{name}", "angular") for name in ("Leads", "Follows"))
    assert found == pytest.approx(0.5 * led - math.radians(15.0), abs=0.002)


def test_a_restored_follower_goes_on_as_before() -> None:
    world = robot("")
    run(world, 0.5)
    saved = world.snapshot()
    run(world, 0.5)
    wanted = world.positions.copy(), world.rotations.copy()
    world.restore(saved)
    run(world, 0.5)
    assert np.array_equal(world.positions, wanted[0]) and np.array_equal(world.rotations, wanted[1])


@pytest.mark.parametrize("leader", ["/Robot/Follows", "/Robot/Nowhere", "/Robot/Foot"])
def test_a_joint_that_follows_nothing_is_free(leader) -> None:
    """Itself, nothing, and a joint that does not move."""
    world = robot("float newton:mimicCoef0 = 30", leader=leader)
    run(world, 0.5)
    assert world.joint_position("/Robot/Follows", "angular") == pytest.approx(0.0, abs=1e-3)
    assert "JointFollows" not in codes(world) and "VendorNotSimulated" in codes(world)


def test_a_leader_of_a_file_leads() -> None:
    prims = ROBOT.format(root="", kg1=1.0, inertia=0.1, speed=SPEED,
                         kind="Revolute", applied="NewtonMimicAPI", axis="Z",
                         values="rel newton:mimicJoint = </Robot/Leads>")  # fmt: skip
    assert "VendorNotSimulated" not in codes(world_of(prims, gravity=0.0))


def test_a_follower_is_free_once_its_leader_is_off() -> None:
    """It goes on with the speed that it has, instead of staying where it was aimed at."""
    world = run(robot(""), 0.5)
    world.set_joint_enabled("/Robot/Leads", False)
    before = world.joint_position("/Robot/Follows", "angular")
    run(world, 1.0)
    gone = world.joint_position("/Robot/Follows", "angular") - before
    assert gone == pytest.approx(math.radians(SPEED), rel=0.05)
    world.set_joint_enabled("/Robot/Leads", True)
    run(world, 0.5)
    led, found = (world.joint_position(f"/Robot/{name}", "angular") for name in ("Leads", "Follows"))
    assert math.remainder(found - led, 2 * math.pi) == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize(("meters", "kilograms"), UNITS)
def test_a_body_is_no_faster_than_its_largest_speeds(meters, kilograms) -> None:
    values = f"float physxRigidBody:maxLinearVelocity = {2 / meters}\nfloat physxRigidBody:maxAngularVelocity = 45\n" \
             "vector3f physics:angularVelocity = (0, 0, 900)"  # fmt: skip
    world = run(world_of(ball(values, BODY, meters, kilograms, velocity=(3, 4, 0)), meters, gravity=0.0), 1.0)
    assert world.velocities()[0][0] == pytest.approx([1.2, 1.6, 0.0], rel=1e-3)
    assert world.velocities()[1][0][2] == pytest.approx(math.radians(45), rel=1e-3)


def test_a_body_that_is_hit_is_no_faster_than_its_largest_speeds() -> None:
    """What is slow is not looked at in each step of the solver; a hit makes it fast within one."""
    values = "float physxRigidBody:maxLinearVelocity = 2\nfloat physxRigidBody:maxAngularVelocity = 300"
    file = File(gravity=(0, 0, 0))
    file.add(file.material("M", 0.8),
             *(file.body(f"Target{number}", (0, 2 * number, 0), shape="Sphere", size=(0.2,), material="/World/M",
                         apis=["PhysxRigidBodyAPI"], extra=values.split("\n")) for number in range(5)),
             file.body("Bullet", (-1, 0.1, 0), shape="Sphere", size=(0.1,), mass=5.0, velocity=(20, 0, 0),
                       material="/World/M"))  # fmt: skip
    world = World(model_in(file))
    fastest = spin = 0.0
    for _ in range(40):
        world.step()
        linear, angular = world.velocities()
        target = world.index("/World/Target0")
        fastest, spin = max(fastest, np.linalg.norm(linear[target])), max(spin, np.linalg.norm(angular[target]))
    assert fastest == pytest.approx(2.0, rel=1e-3)
    assert 1.0 < spin < math.radians(300) * 1.001


BELT = """
def Cube "Belt" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysxSurfaceVelocityAPI"])
{{
    double size = {size}
    bool physics:kinematicEnabled = 1
    {values}
    double3 xformOp:translate = (0, 0, {down})
    float xformOp:rotateZ = {turn}
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
}}
def Cube "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
{{
    double size = {box}
    float physics:mass = 1
    {extra}
    double3 xformOp:translate = ({x}, 0, {up})
    uniform token[] xformOpOrder = ["xformOp:translate"]
}}
"""


def belt(
    values: str, meters: float = 1.0, *, turn: float = 0.0, x: float = 0.0, away: float = 0.0, extra: str = ""
) -> World:  # fmt: skip
    """away: how far the belt is from the origin along X, m."""
    text = BELT.replace("(0, 0, {down})", f"({away / meters}, 0, {{down}})")
    prims = text.format(values=values, size=20 / meters, down=-10 / meters, turn=turn, box=0.2 / meters,
                        extra=extra, x=x / meters, up=0.1 / meters)  # fmt: skip
    return world_of(prims, meters)


@pytest.mark.parametrize("meters", [1.0, 0.01])
@pytest.mark.parametrize(("turn", "is_local"), [(0, True), (90, True), (90, False)])
def test_a_box_is_carried_along_by_a_belt(turn, is_local, meters) -> None:
    """It slides until it has the speed of the belt, v / (mu g), and rides on."""
    values = f"vector3f physxSurfaceVelocity:surfaceVelocity = ({1.5 / meters}, 0, 0)\n" \
             f"bool physxSurfaceVelocity:surfaceVelocityLocalSpace = {int(is_local)}"  # fmt: skip
    world = run(belt(values, meters, turn=turn), 2.0)
    row = world.paths.index("/Box")
    along, across = (1, 0) if turn and is_local else (0, 1)
    assert world.velocities()[0][row][along] == pytest.approx(1.5, rel=0.02)
    friction = 0.5
    assert world.positions[row][along] == pytest.approx(1.5 * 2.0 - 1.5**2 / (2 * friction * G), rel=0.05)
    assert world.positions[row][across] == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("away", [0.0, 5.0])
def test_a_turntable_carries_a_box_round(away: float) -> None:
    world = belt("vector3f physxSurfaceVelocity:surfaceAngularVelocity = (0, 0, 40)", x=1.0 + away, away=away)
    row = run(world, 2.25).paths.index("/Box")
    x, y, _ = world.positions[row] - (away, 0.0, 0.0)
    assert math.hypot(x, y) == pytest.approx(1.0, rel=0.1)
    # It needs time to come up to speed.
    assert 60 < math.degrees(math.atan2(y, x)) < 90


@pytest.mark.parametrize("turn", [0.0, 90.0])
def test_what_goes_with_a_surface_that_turns_stays_on_its_circle(turn: float) -> None:
    """It neither slides nor spins on it; it had drifted outwards by 7 %, and a notice said that it turns too little."""
    spin = math.degrees(2.0)
    values = f"vector3f physxSurfaceVelocity:surfaceAngularVelocity = (0, 0, {spin})"
    world = belt(values, turn=turn, x=0.8, extra=f"vector3f physics:velocity = (0, 1.6, 0)\n"
                 f"vector3f physics:angularVelocity = (0, 0, {spin})")  # fmt: skip
    row = run(world, 2.0).paths.index("/Box")
    x, y, _ = world.positions[row]
    assert math.hypot(x, y) == pytest.approx(0.8, rel=0.02)
    assert math.atan2(y, x) == pytest.approx(4.0 - 2.0 * math.pi, abs=0.05)
    assert [notice.code for notice in world.notices] == []


def test_a_belt_runs_on_after_a_reset() -> None:
    world = belt("vector3f physxSurfaceVelocity:surfaceVelocity = (1.5, 0, 0)")
    saved = world.snapshot()
    run(world, 1.0)
    wanted = world.positions.copy()
    world.restore(saved)
    assert np.array_equal(run(world, 1.0).positions, wanted)


def test_a_belt_that_is_off_carries_nothing() -> None:
    values = "vector3f physxSurfaceVelocity:surfaceVelocity = (1.5, 0, 0)\n" \
             "bool physxSurfaceVelocity:surfaceVelocityEnabled = 0"  # fmt: skip
    world = run(belt(values), 1.0)
    assert world.positions[world.paths.index("/Box")][0] == pytest.approx(0.0, abs=0.01)


# --------------------------------------------------------------------------- glTF


@pytest.mark.parametrize("factor", [0.25, -1.0, 3.0])
def test_body_falls_by_its_gravity_factor_of_gltf(factor):
    model = read(ball("", '"PhysxRigidBodyAPI"'))
    model.prims["/Ball"].extras["motion"] = {"gravityFactor": factor}
    world = run(World(model), 1.0)
    assert place(world, "Ball")[2] == pytest.approx(-0.5 * factor * G, rel=0.02)
    assert codes(world) == []


def tapered(kind: str, axis: str, extras: dict) -> SharedShape:
    model = read(f"""
def {kind} "Post" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{{
    uniform token axis = "{axis}"
    double radius = 0.5
    double height = 2
}}
""")
    model.prims["/Post"].extras["shape"] = {kind.lower(): extras}
    placed = shape_of(model.prims["/Post"], None, np.eye(3), Notices(), moves=False)
    assert placed is not None
    return placed[0]


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_tapered_cylinder_of_gltf_has_the_volume_and_the_centre_of_a_frustum(axis):
    """Of radii 0.5 and 0.1 and height 2; 32 corners have 0.6 % less than a circle, and the solver leaves the border out
    by which it rounds a shape."""
    wide, thin, height = 0.5, 0.1, 2.0
    shape = tapered("Cylinder", axis, {"height": 2, "radiusBottom": wide, "radiusTop": thin})
    found = shape.compute_mass_properties(1.0)
    sums = wide**2 + wide * thin + thin**2
    corners = 32 * math.sin(2 * math.pi / 32) / (2 * math.pi)
    assert found.mass == pytest.approx(math.pi * height / 3 * sums * corners, rel=0.03)
    center = height / 4 * (wide**2 + 2 * wide * thin + 3 * thin**2) / sums - height / 2
    assert found.local_com.to_tuple()["XYZ".index(axis)] == pytest.approx(center, abs=0.01)


def test_tapered_capsule_of_gltf_ends_where_its_two_balls_end():
    shape = tapered("Capsule", "Z", {"height": 2, "radiusBottom": 0.5, "radiusTop": 0.1})
    box = shape.compute_aabb(Isometry3.identity())
    assert box.mins.to_tuple() == pytest.approx((-0.5, -0.5, -1.5), abs=0.01)
    assert box.maxs.to_tuple() == pytest.approx((0.5, 0.5, 1.1), abs=0.01)


def test_shape_with_another_radius_than_in_the_gltf_file_is_not_tapered():
    whole = tapered("Cylinder", "Z", {"height": 2, "radiusBottom": 0.4, "radiusTop": 0.1})
    assert whole.compute_mass_properties(1.0).mass == pytest.approx(0.5 * math.pi, rel=0.04)
