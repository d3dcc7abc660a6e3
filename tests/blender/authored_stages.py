# SPDX-License-Identifier: GPL-3.0-or-later
"""USD files of our own, one per corner of UsdPhysics that files of others seldom have. Pure text: no USD, no Blender.

write(folder) puts them all into a folder, as `name.usda`.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

from usd_text import BODY, COLLIDER, CRATE, SCENE, at, crate, joint, prim, scaled, stage, turned


def _asleep() -> str:
    awake = "bool physics:startsAsleep = 0"
    asleep = "bool physics:startsAsleep = 1"
    return stage(
        SCENE
        + crate("Sleeper", asleep, "float physics:mass = 3", *at(0, 0, 2))
        + crate("Moving", asleep, "vector3f physics:velocity = (1, 2, 3)",
                "vector3f physics:angularVelocity = (10, 20, 30)", *at(3, 0, 2))
        + crate("Awake", awake, *at(6, 0, 2))
        + crate("Silent", *at(9, 0, 2))
    )  # fmt: skip


def _disabled() -> str:
    return stage(
        SCENE
        + crate("Off", "bool physics:rigidBodyEnabled = 0", *at(0, 0, 1))
        + crate("Ghost", "bool physics:collisionEnabled = 0", *at(2, 0, 1))
        + crate("Both", "bool physics:collisionEnabled = 0", "bool physics:rigidBodyEnabled = 0", *at(4, 0, 1))
        + crate("Kinematic", "bool physics:kinematicEnabled = 1", *at(6, 0, 1))
        + crate("KinematicOff", "bool physics:kinematicEnabled = 1", "bool physics:rigidBodyEnabled = 0", *at(8, 0, 1))
        + prim("Xform", "Static", *at(0, 5, 0), below=crate(
            "Wall", "bool physics:collisionEnabled = 0", apis=COLLIDER))
        + joint("FixedJoint", "Broken", "/World/Off", "/World/Ghost", "bool physics:jointEnabled = 0",
                "point3f physics:localPos0 = (1, 0, 0)", "point3f physics:localPos1 = (-1, 0, 0)")
        + joint("RevoluteJoint", "Hinge", "/World/Ghost", "/World/Kinematic", "bool physics:jointEnabled = 0",
                "bool physics:collisionEnabled = 1", "bool physics:excludeFromArticulation = 1",
                'uniform token physics:axis = "Z"')
    )  # fmt: skip


def _reset_stack(**units: Any) -> str:
    """!resetXformStack! on a nested body, on bodies of joints, and below parents that are turned and scaled."""
    inner = crate("Inner", *at(1, 0, 0.5, turned(0, 0, 30)))
    nested = crate("Reset", *at(4, 1, 2, turned(10, 20, 30), scaled(1, 2, 3), reset=True), below=inner)
    outer = crate("Outer", *at(0, 0, 2, turned(0, 45, 0)), below=nested)
    scaled_parent = prim(
        "Xform", "Tilted", *at(5, -3, 1, turned(15, -25, 40), scaled(2, 0.5, 1.5)),
        below=crate("Plain", *at(1, 1, 1)) + crate("Upright", *at(-5, -3, 1, turned(0, 0, 90), reset=True))
        + prim("Xform", "Group", *at(0, 1, 0, reset=True), below=crate("Below", *at(0, 0, 3)))
        + crate("Matter", "uniform token[] xformOpOrder = [\"!resetXformStack!\"]", apis=COLLIDER),
    )  # fmt: skip
    loose = prim("Xform", "Loose", *at(0, 9, 1), apis=BODY, below=crate("Skin", *at(1, 0, 0), apis=COLLIDER)
                 + crate("Left", *at(0, 8, 1, reset=True), apis=COLLIDER))  # fmt: skip
    offset = ("point3f physics:localPos0 = (0.5, 0.25, -1)", "quatf physics:localRot0 = (0.5, 0.5, 0.5, 0.5)",
              "point3f physics:localPos1 = (0, 1, 0)", "quatf physics:localRot1 = (0.8, 0, 0.6, 0)")  # fmt: skip
    return stage(
        SCENE + outer + scaled_parent + loose
        + joint("FixedJoint", "Weld", "/World/Outer", "/World/Outer/Reset", *offset)
        + joint("RevoluteJoint", "Hinge", "/World/Outer/Reset", "/World/Tilted/Upright", *offset,
                "float physics:lowerLimit = -30", "float physics:upperLimit = 60")
        + joint("SphericalJoint", "Ball", "/World/Tilted/Group/Below", "", *offset)
        + joint("PrismaticJoint", "Rail", "/World/Outer/Reset/Inner", "/World/Tilted/Plain", *offset),
        **units,
    )  # fmt: skip


def _groups() -> str:
    def group(name: str, *lines: str) -> str:
        return prim("PhysicsCollisionGroup", name, *lines, apis=("CollectionAPI:colliders",))

    return stage(
        SCENE
        + prim("Xform", "Left", below=crate("A", *at(0, 0, 1)) + crate("B", *at(0, 2, 1)))
        + prim("Xform", "Right", *at(5, 0, 0), below=crate("C", *at(0, 0, 1)) + crate("D", *at(0, 2, 1)))
        + group("Included", "rel collection:colliders:includes = </World/Left>",
                "rel collection:colliders:excludes = </World/Left/B>",
                "rel physics:filteredGroups = [</World/Inverted>, </World/Named>]",
                'string physics:mergeGroup = "crates"')
        + group("Inverted", "rel collection:colliders:includes = [</World/Right/C>, </World/Left/B>]",
                "bool physics:invertFilteredGroups = 1", "rel physics:filteredGroups = </World/Included>")
        + group("Expressed", 'pathExpression collection:colliders:membershipExpression = "/World/Right//"',
                'uniform token collection:colliders:expansionRule = "expandPrims"',
                'string physics:mergeGroup = "crates"', "bool physics:invertFilteredGroups = 0")
        + group("Explicit", 'uniform token collection:colliders:expansionRule = "explicitOnly"',
                "rel collection:colliders:includes = </World/Right/D>",
                "rel physics:filteredGroups = </World/Explicit>")
        + group("Everything", "uniform bool collection:colliders:includeRoot = 1",
                "rel collection:colliders:excludes = [</World/Left>, </World/Right>]")
        + group("Named", 'string physics:mergeGroup = "other"')
    )  # fmt: skip


def _scenes() -> str:
    def scene(name: str, *lines: str) -> str:
        return prim("PhysicsScene", name, *lines)

    def owned(path: str) -> str:
        return f"rel physics:simulationOwner = </World/{path}>"

    return stage(
        scene("Earth", "vector3f physics:gravityDirection = (0, 0, -1)", "float physics:gravityMagnitude = 9.81")
        + scene("Moon", "float physics:gravityMagnitude = 1.62")
        + prim("Scope", "More", below=scene("Side", "vector3f physics:gravityDirection = (0.6, 0, -0.8)",
                                             "float physics:gravityMagnitude = 5"))
        + scene("Weightless", "float physics:gravityMagnitude = 0")
        + scene("Automatic", "float physics:gravityMagnitude = -inf")
        + crate("OnEarth", owned("Earth"), *at(0, 0, 1))
        + crate("OnMoon", owned("Moon"), *at(2, 0, 1))
        + crate("Sideways", owned("More/Side"), *at(4, 0, 1))
        + crate("Floating", owned("Weightless"), *at(6, 0, 1))
        + crate("Floor", owned("Moon"), *at(0, 0, -1), apis=COLLIDER)
        + crate("Nowhere", *at(8, 0, 1))
    )  # fmt: skip


def _all_quantities(length: float, **units: Any) -> str:
    """Every kind of quantity in other units. length: units of the file in about a metre."""

    def size(*values: float) -> str:
        parts = ", ".join(f"{value * length:.9g}" for value in values)
        return f"({parts})" if len(values) > 1 else parts

    high = (0.0, 2 * length, 0.0) if units.get("up") == "Y" else (0.0, 0.0, 2 * length)
    mass = ("float physics:mass = 12.5", f"point3f physics:centerOfMass = {size(0.1, 0.2, 0.3)}",
            f"float3 physics:diagonalInertia = ({2 * length**2:.9g}, {3 * length**2:.9g}, {4 * length**2:.9g})",
            "quatf physics:principalAxes = (0.6, 0, 0.8, 0)")  # fmt: skip
    scene = ("vector3f physics:gravityDirection = (0, -0.6, -0.8)", f"float physics:gravityMagnitude = {size(3.7)}")
    drive = ("float drive:angular:physics:stiffness = 120", "float drive:angular:physics:damping = 3.5",
             "float drive:angular:physics:maxForce = 777", "float drive:angular:physics:targetPosition = 25",
             "float drive:angular:physics:targetVelocity = -90")  # fmt: skip
    accelerates = ('uniform token drive:linear:physics:type = "acceleration"',
                   "float drive:linear:physics:stiffness = 40", "float drive:linear:physics:damping = 4",
                   f"float drive:linear:physics:targetPosition = {size(0.2)}",
                   f"float drive:linear:physics:targetVelocity = {size(0.4)}",
                   f"float drive:linear:physics:maxForce = {size(60.0)}")  # fmt: skip
    return stage(
        prim("PhysicsScene", "Scene", *scene)
        + crate("One", *mass, f"vector3f physics:velocity = {size(1, 2, 3)}",
                "vector3f physics:angularVelocity = (30, 60, 90)", "float physics:density = 250",
                *at(*high, turned(10, 20, 30)), size=length)
        + prim("Capsule", "Two", f"double radius = {size(0.25)}", f"double height = {size(0.75)}",
               'uniform token axis = "X"', *at(2 * length, 0, 0, scaled(2, 2, 2)), apis=CRATE)
        + prim("Sphere", "Three", f"double radius = {size(0.5)}", *at(4 * length, 0, 0), apis=CRATE)
        + prim("Cylinder", "Four", f"double radius = {size(0.5)}", f"double height = {size(2)}",
               'uniform token axis = "Y"', *at(6 * length, 0, 0), apis=CRATE)
        + prim("Material", "Rubber", "float physics:density = 1.25", "float physics:staticFriction = 0.9",
               "float physics:dynamicFriction = 0.7", "float physics:restitution = 0.3",
               apis=("PhysicsMaterialAPI",))
        + joint("RevoluteJoint", "Hinge", "/World/One", "/World/Two", *drive,
                f"point3f physics:localPos0 = {size(1, 0, 0)}", "float physics:lowerLimit = -45",
                "float physics:upperLimit = 135", f"float physics:breakForce = {size(5000)}",
                f"float physics:breakTorque = {300 * length**2:.9g}", apis=("PhysicsDriveAPI:angular",))
        + joint("PrismaticJoint", "Rail", "/World/Two", "/World/Three", *accelerates,
                f"float physics:lowerLimit = {size(-0.5)}", f"float physics:upperLimit = {size(0.75)}",
                apis=("PhysicsDriveAPI:linear",))
        + joint("DistanceJoint", "Rope", "/World/Three", "", f"float physics:minDistance = {size(0.25)}",
                f"float physics:maxDistance = {size(3)}", f"point3f physics:localPos1 = {size(4, 1, 2)}",
                "quatf physics:localRot1 = (0.8, 0, 0.6, 0)")
        + joint("SphericalJoint", "Ball", "/World/Three", "/World/Four", "float physics:coneAngle0Limit = 30",
                "float physics:coneAngle1Limit = 45", 'uniform token physics:axis = "Y"')
        + joint("Joint", "World", "", "/World/Four", f"float limit:transX:physics:low = {size(-1)}",
                f"float limit:transX:physics:high = {size(2)}", "float limit:rotY:physics:low = -20",
                "float limit:rotY:physics:high = 70", f"point3f physics:localPos0 = {size(6, 1, 0)}",
                apis=("PhysicsLimitAPI:transX", "PhysicsLimitAPI:rotY")),
        **units,
    )  # fmt: skip


def _mirrored() -> str:
    """Negative scale: on a body, on a collider below it, above it, and on bodies of joints."""
    wedge = (
        "int[] faceVertexCounts = [3, 3, 3, 3]", "int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]",
        "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)]", 'uniform token subdivisionScheme = "none"',
    )  # fmt: skip
    hull = ("PhysicsCollisionAPI", "PhysicsMeshCollisionAPI")
    shape = prim("Mesh", "Wedge", *wedge, 'uniform token physics:approximation = "convexHull"', apis=hull)
    mirror = prim("Mesh", "Mirror", *wedge, 'uniform token physics:approximation = "convexDecomposition"',
                  *at(1, 0, 0, scaled(1, -1, 1)), apis=hull)  # fmt: skip
    local = ("point3f physics:localPos0 = (1, 2, 3)", "quatf physics:localRot0 = (0.8, 0.6, 0, 0)",
             "point3f physics:localPos1 = (-1, 0.5, 2)")  # fmt: skip
    return stage(
        SCENE
        + prim("Xform", "Left", *at(-3, 0, 1, turned(0, 0, 20), scaled(-1, 1, 1)), apis=BODY, below=shape + mirror)
        + prim("Xform", "Right", *at(3, 0, 1), apis=BODY, below=shape)
        + prim("Xform", "Inside", *at(0, 6, 0, turned(30, 0, 0), scaled(-2, -2, -2)),
               below=crate("Crate", *at(1, 1, 1, turned(0, 0, 15)))
               + prim("Capsule", "Pill", 'uniform token axis = "X"', "double radius = 0.2", "double height = 0.6",
                      *at(0, 0, 2, scaled(-1, -1, -1)), apis=COLLIDER))
        + joint("FixedJoint", "Weld", "/World/Left", "/World/Right", *local)
        + joint("RevoluteJoint", "Hinge", "/World/Right", "/World/Left", *local, 'uniform token physics:axis = "Y"',
                "float physics:lowerLimit = -10", "float physics:upperLimit = 50")
        + joint("PrismaticJoint", "Rail", "/World/Inside/Crate", "/World/Left", *local)
    )  # fmt: skip


def _deep() -> str:
    """Bodies below bodies, six levels, with joints at every level and across."""
    path, below = "", ""
    for level in range(6, 0, -1):
        above = "/World/" + "/".join(f"Level{number}" for number in range(1, level))
        path = f"{above.rstrip('/')}/Level{level}"
        links = "" if level == 1 else joint(
            "RevoluteJoint", f"Hinge{level}", above, path, "point3f physics:localPos0 = (0, 0, 1)",
            "point3f physics:localPos1 = (0, 0, -0.5)", f"float physics:upperLimit = {10 * level}",
            "float physics:lowerLimit = -5")  # fmt: skip
        skin = crate("Skin", *at(0.25, 0, 0, scaled(0.5, 0.5, 0.5)), apis=COLLIDER)
        moved = at(0.5, 0, 1, turned(5 * level, 10, -3), scaled(1, 1.1, 0.9))
        below = prim("Xform", f"Level{level}", *moved, f"float physics:mass = {level}", apis=BODY, below=skin + below)
        below += links
    last = "/World/" + "/".join(f"Level{number}" for number in range(1, 7))
    return stage(
        SCENE + below
        + joint("DistanceJoint", "Rope", "/World/Level1", last, "float physics:maxDistance = 20")
        + joint("FixedJoint", "Anchor", "", last, "point3f physics:localPos0 = (1, 2, 3)")
    )  # fmt: skip


def _fallbacks() -> str:
    """Everything is said, and everything said is what USD would assume anyway."""
    frames = ("point3f physics:localPos0 = (0, 0, 0)", "quatf physics:localRot0 = (1, 0, 0, 0)",
              "point3f physics:localPos1 = (0, 0, 0)", "quatf physics:localRot1 = (1, 0, 0, 0)",
              "bool physics:jointEnabled = 1", "bool physics:collisionEnabled = 0",
              "bool physics:excludeFromArticulation = 0", "float physics:breakForce = inf",
              "float physics:breakTorque = inf")  # fmt: skip
    limits = ("float physics:lowerLimit = -inf", "float physics:upperLimit = inf")
    axis = 'uniform token physics:axis = "X"'
    one, two = "/World/Crate", "/World/Other"
    degrees = tuple(f"float limit:rotX:physics:{name}" for name in ("low = -inf", "high = inf"))
    drive = ('uniform token drive:rotX:physics:type = "force"', "float drive:rotX:physics:maxForce = inf",
             *(f"float drive:rotX:physics:{name} = 0"
               for name in ("targetPosition", "targetVelocity", "damping", "stiffness")))  # fmt: skip
    body = (
        "bool physics:rigidBodyEnabled = 1", "bool physics:kinematicEnabled = 0", "bool physics:startsAsleep = 0",
        "vector3f physics:velocity = (0, 0, 0)", "vector3f physics:angularVelocity = (0, 0, 0)",
        "float physics:mass = 0", "float physics:density = 0", "point3f physics:centerOfMass = (-inf, -inf, -inf)",
        "float3 physics:diagonalInertia = (0, 0, 0)", "quatf physics:principalAxes = (0, 0, 0, 0)",
        "bool physics:collisionEnabled = 1",
    )  # fmt: skip
    mesh = ("int[] faceVertexCounts = [3]", "int[] faceVertexIndices = [0, 1, 2]",
            "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]",
            'uniform token physics:approximation = "none"', "bool physics:collisionEnabled = 1")  # fmt: skip
    return stage(
        prim("PhysicsScene", "Scene", "vector3f physics:gravityDirection = (0, 0, 0)",
             "float physics:gravityMagnitude = -inf")
        + crate("Crate", *body, *at(0, 0, 1))
        + crate("Other", *at(3, 0, 1))
        + prim("Mesh", "Ground", *mesh, apis=("PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"))
        + prim("Material", "Stuff", "float physics:staticFriction = 0", "float physics:dynamicFriction = 0",
               "float physics:restitution = 0", "float physics:density = 0", apis=("PhysicsMaterialAPI",))
        + prim("PhysicsCollisionGroup", "Group", 'string physics:mergeGroup = ""',
               "bool physics:invertFilteredGroups = 0", "uniform bool collection:colliders:includeRoot = 0",
               'uniform token collection:colliders:expansionRule = "expandPrims"',
               apis=("CollectionAPI:colliders",))
        + joint("FixedJoint", "Fixed", one, two, *frames)
        + joint("RevoluteJoint", "Revolute", one, two, *frames, *limits, axis)
        + joint("PrismaticJoint", "Prismatic", one, two, *frames, *limits, axis)
        + joint("SphericalJoint", "Spherical", one, two, *frames, axis, "float physics:coneAngle0Limit = -1",
                "float physics:coneAngle1Limit = -1")
        + joint("DistanceJoint", "Distance", one, two, *frames, "float physics:minDistance = -1",
                "float physics:maxDistance = -1")
        + joint("Joint", "Generic", one, two, *frames, *degrees, *drive,
                apis=("PhysicsLimitAPI:rotX", "PhysicsDriveAPI:rotX"))
    )  # fmt: skip


def _all_axes() -> str:
    """Limits and drives of a generic joint on every degree of freedom, with free, limited and locked ones."""
    lines, apis = [], []
    for number, dof in enumerate(("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance")):
        low, high = ((-1.0 - number, 2.0 + number), (1.0, -1.0), (float("-inf"), 4.0))[number % 3]
        lines += [f"float limit:{dof}:physics:low = {low}", f"float limit:{dof}:physics:high = {high}"]
        apis.append(f"PhysicsLimitAPI:{dof}")
    for number, dof in enumerate(("transX", "transY", "transZ", "rotX", "rotY", "rotZ")):
        if number % 2:
            lines.append(f'uniform token drive:{dof}:physics:type = "acceleration"')
        lines += [f"float drive:{dof}:physics:{name} = {value + number}" for name, value in (
            ("stiffness", 100.0), ("damping", 10.0), ("targetPosition", 0.25), ("targetVelocity", -1.5),
            ("maxForce", 500.0))]  # fmt: skip
        apis.append(f"PhysicsDriveAPI:{dof}")
    both = ("float limit:linear:physics:high = 3", "float drive:linear:physics:stiffness = 5",
            "float drive:angular:physics:damping = 6", "float limit:rotZ:physics:low = -15")  # fmt: skip
    return stage(
        SCENE + crate("One", *at(0, 0, 1)) + crate("Two", *at(2, 0, 1)) + crate("Three", *at(4, 0, 1))
        + joint("Joint", "All", "/World/One", "/World/Two", *lines, "point3f physics:localPos0 = (1, 0, 0)",
                "point3f physics:localPos1 = (-1, 0, 0)", apis=tuple(apis))
        + joint("Joint", "Empty", "/World/Two", "/World/Three",
                apis=("PhysicsLimitAPI:transX", "PhysicsDriveAPI:rotZ"))
        + joint("Joint", "Few", "/World/Two", "/World/Three", *both,
                apis=("PhysicsLimitAPI:linear", "PhysicsDriveAPI:linear", "PhysicsDriveAPI:angular",
                      "PhysicsLimitAPI:rotZ"))
    )  # fmt: skip


def _vendor() -> str:
    """Attributes of nobody and schemas that no plugin declares, between those of UsdPhysics."""
    return stage(
        prim("PhysicsScene", "Scene", "uint physxScene:timeStepsPerSecond = 240",
             'uniform token physxScene:broadphaseType = "GPU"', "custom int mine:answer = 42", apis=("PhysxSceneAPI",))
        + crate("Crate", "float physxRigidBody:linearDamping = 0.5", "bool physxRigidBody:enableCCD = 1",
                "custom string mine:note = \"kept\"", "custom double3[] mine:points = [(1, 2, 3), (4, 5, 6)]",
                "custom rel mine:friend = </World/Other>", "float newton:contact_ke = 1000.5",
                *at(0, 0, 1), apis=("PhysxRigidBodyAPI", *CRATE, "NewtonBodyAPI"))
        + crate("Other", "custom float physics:mine = 3", *at(3, 0, 1))
        + joint("RevoluteJoint", "Hinge", "/World/Crate", "/World/Other",
                "float physxJoint:maxJointVelocity = 180", "float state:angular:physics:position = 12",
                "custom bool mine:squeaks = 1", apis=("PhysxJointAPI", "PhysicsJointStateAPI:angular"))
        + prim("Material", "Stuff", "float physics:staticFriction = 0.5", "float physxMaterial:compliance = 0.1",
               'uniform token physxMaterial:frictionCombineMode = "max"',
               apis=("PhysicsMaterialAPI", "PhysxMaterialAPI"))
        + prim("PhysicsCollisionGroup", "Group", "rel collection:colliders:includes = </World/Crate>",
               "custom int mine:layer = 3", apis=("CollectionAPI:colliders",))
    )  # fmt: skip


def _materials() -> str:
    """Bindings for all purposes, for one, on faces, inherited, stronger than below, and of what is no physics."""

    def material(name: str, friction: float | None) -> str:
        if friction is None:
            return prim("Material", name)
        return prim("Material", name, f"float physics:staticFriction = {friction}",
                    f"float physics:dynamicFriction = {friction / 2}", apis=("PhysicsMaterialAPI",))  # fmt: skip

    def bound(name: str, purpose: str = "") -> str:
        return f"rel material:binding{purpose} = </World/Looks/{name}>"

    def subset(name: str, faces: str, *lines: str, family: str = "materialBind") -> str:
        return prim("GeomSubset", name, 'uniform token elementType = "face"', f"int[] indices = [{faces}]",
                    f'uniform token familyName = "{family}"', *lines, apis=("MaterialBindingAPI",))  # fmt: skip

    box = (
        "int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]",
        "int[] faceVertexIndices = [0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3]",
        "point3f[] points = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)]",
        'uniform token subdivisionScheme = "none"',
    )  # fmt: skip
    mesh = ("PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "MaterialBindingAPI")
    both = (*CRATE, "MaterialBindingAPI")
    looks = "".join(material(*row) for row in (
        ("Wood", 0.5), ("Ice", 0.0625), ("Rubber", 1.0), ("Paint", None), ("Unused", 0.75)))  # fmt: skip
    return stage(
        SCENE
        + prim("Scope", "Looks", below=looks)
        + crate("Plain", bound("Wood"), *at(0, 0, 1), apis=both)
        + crate("ForPhysics", bound("Paint"), bound("Ice", ":physics"), *at(2, 0, 1), apis=both)
        + crate("Only", bound("Rubber", ":physics"), *at(4, 0, 1), apis=both)
        + prim("Mesh", "Painted", *box, bound("Wood", ":physics"), *at(6, 0, 1), apis=mesh,
               below=subset("front", "0, 1", bound("Paint")) + subset("back", "2, 3, 4, 5", bound("Wood")))
        + prim("Mesh", "Faces", *box, bound("Wood"), *at(8, 0, 1), apis=mesh,
               below=subset("cold", "0, 1, 2", bound("Ice")) + subset("soft", "3, 4, 5", bound("Rubber")))
        + prim("Mesh", "Divided", *box, *at(10, 0, 1), apis=mesh,
               below=subset("cold", "0, 1, 2", bound("Ice", ":physics"))
               + subset("soft", "3, 4, 5", bound("Rubber", ":physics")))
        + prim("Xform", "Parent", bound("Ice", ":physics"), *at(0, 4, 1), apis=(*BODY, "MaterialBindingAPI"),
               below=crate("Heir", apis=COLLIDER) + crate("Own", bound("Rubber", ":physics"), *at(1, 0, 0),
                                                             apis=("PhysicsCollisionAPI", "MaterialBindingAPI")))
        + prim("Xform", "Bystander", bound("Rubber", ":physics"), apis=("MaterialBindingAPI",),
               below=crate("Wall", *at(0, 8, 0), apis=COLLIDER))
    )  # fmt: skip


def _families() -> str:
    """An articulation, filtered pairs, a mass below a body, purposes, scopes and prims without a type between."""
    pairs = "PhysicsFilteredPairsAPI"
    hinge = ("point3f physics:localPos0 = (0, 0, 1)", "point3f physics:localPos1 = (0, 0, -1)")
    part = prim("Sphere", "Part", "double radius = 0.25", "float physics:mass = 2", 'uniform token purpose = "guide"',
                *at(0, 0, 1), apis=("PhysicsCollisionAPI", "PhysicsMassAPI"))  # fmt: skip
    return stage(
        SCENE
        + prim("Scope", "Robot", apis=("PhysicsArticulationRootAPI",), below=(
            crate("Base", *at(0, 0, 1), below=part)
            + prim("Scope", "Parts", below=prim("", "Untyped", below=crate(
                "Arm", "rel physics:filteredPairs = [</World/Robot/Base>, </World/Floor>]", *at(0, 0, 3),
                apis=(*CRATE, pairs))))
            + joint("RevoluteJoint", "Shoulder", "/World/Robot/Base", "/World/Robot/Parts/Untyped/Arm", *hinge)
            + joint("FixedJoint", "Mount", "", "/World/Robot/Base", "point3f physics:localPos0 = (0, 0, 1)")))
        + crate("Floor", 'uniform token purpose = "proxy"', *at(0, 0, -1), apis=COLLIDER)
        + prim("Plane", "Ground", 'uniform token axis = "Z"', 'uniform token purpose = "guide"', apis=COLLIDER)
        + prim("Cone", "Cone", "double radius = 0.5", "double height = 1.5", 'uniform token axis = "X"',
               'uniform token purpose = "render"', *at(3, 0, 1), apis=CRATE)
    )  # fmt: skip


def _point_instancer() -> str:
    """Physics on the prototypes of an instancer, and on the instancer itself."""
    fields = (
        "int[] protoIndices = [0, 1, 0, 1]", "point3f[] positions = [(0, 0, 1), (2, 0, 1), (4, 0, 1), (6, 0, 1)]",
        "quath[] orientations = [(1, 0, 0, 0), (0.5, 0.5, 0.5, 0.5), (1, 0, 0, 0), (1, 0, 0, 0)]",
        "rel prototypes = [</World/Many/Prototypes/Crate>, </World/Many/Prototypes/Ball>]",
        "vector3f[] velocities = [(1, 0, 0), (0, 0, 0), (0, 0, 0), (0, 1, 0)]",
    )  # fmt: skip
    prototypes = prim(
        "Scope",
        "Prototypes",
        below=(crate("Crate", "float physics:mass = 4") + prim("Sphere", "Ball", "double radius = 0.5", apis=CRATE)),
    )
    return stage(
        SCENE
        + prim("PointInstancer", "Many", *fields, "bool physics:startsAsleep = 1", apis=("PhysicsRigidBodyAPI",),
               below=prototypes)
        + crate("Floor", *at(0, 0, -1), apis=COLLIDER)
    )  # fmt: skip


def _instanceable() -> str:
    """Two instances of one prototype with a body, its collider and a joint inside, and a body that is an instance."""
    inside = (
        crate("Base", "float physics:mass = 5", *at(0, 0, 1))
        + crate("Arm", *at(0, 0, 3))
        + joint("RevoluteJoint", "Hinge", "/Template/Base", "/Template/Arm",
                "point3f physics:localPos0 = (0, 0, 1)", "point3f physics:localPos1 = (0, 0, -1)")
    )  # fmt: skip
    skin = crate("Skin", apis=COLLIDER)
    classes = "".join(
        dedent(prim("Xform", name, below=below)).replace("def", "class", 1)
        for name, below in (("Template", inside), ("Looks", skin))
    )
    one, two, three = (
        prim("Xform", name, *at(x, 0, 0), apis=apis, meta=f"instanceable = true\n        prepend references = <{path}>")
        for name, x, apis, path in (
            ("One", 0, (), "/Template"), ("Two", 3, (), "/Template"), ("Single", 6, BODY, "/Looks"))
    )  # fmt: skip
    return f"{stage(SCENE + one + two + three)}\n{classes}"


#: Text of the files by name.
STAGES: dict[str, str] = {
    "asleep": _asleep(),
    "disabled": _disabled(),
    "reset_stack": _reset_stack(),
    "groups": _groups(),
    "scenes": _scenes(),
    "reset_stack_y_up": _reset_stack(meters=0.01, up="Y"),
    "grams": _all_quantities(1.0, kilograms=0.001),
    "pounds_inches": _all_quantities(40.0, meters=0.0254, kilograms=0.45359237),
    "centimetres_y_up": _all_quantities(100.0, meters=0.01, kilograms=None, up="Y"),
    "grams_millimetres_y_up": _all_quantities(1000.0, meters=0.001, kilograms=0.001, up="Y"),
    "untyped_root": _all_quantities(100.0, meters=0.01, up="Y", root=""),
    "scope_root": _all_quantities(100.0, meters=0.01, up="Y", root="Scope "),
    "mirrored": _mirrored(),
    "deep": _deep(),
    "fallbacks": _fallbacks(),
    "all_axes": _all_axes(),
    "vendor": _vendor(),
    "materials": _materials(),
    "families": _families(),
    "point_instancer": _point_instancer(),
    "instanceable": _instanceable(),
}


def write(folder: Path) -> list[Path]:
    """Write all files into a folder, which is made; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in STAGES.items():
        path = folder / f"{name}.usda"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths
