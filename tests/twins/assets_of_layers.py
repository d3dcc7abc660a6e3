# SPDX-License-Identifier: GPL-3.0-or-later
"""Twins of many layers: payloads as converters write them, references into crates, variants, instances; and URDF.

CRATES are binary files, which `write` of this package makes from the text that is here.
"""

from __future__ import annotations

from usd_text import BODY, COLLIDER, CRATE, SCENE, at, crate, joint, prim, scaled, stage, turned

from .stages import BOUND, box_lines, colour, preview_material, tetra_lines

HEAD = """#usda 1.0
(
    customLayerData = {
        string creator = "a twin"
    }
    defaultPrim = "Robot"
    kilogramsPerUnit = 1
    metersPerUnit = 1
%s    upAxis = "Z"
)

"""


def _layer(below: str, more: str = "") -> str:
    """A layer of an asset: prims below its root, and after it what is at the top."""
    indented = "".join(f"{line}\n" for line in below.splitlines())
    return HEAD % "" + f'def Xform "Robot"\n{{\n{indented}}}\n' + more


def _over(name: str, *lines: str, apis: tuple[str, ...] = (), below: str = "") -> str:
    """Opinions over a prim of another layer."""
    return prim("", name, *lines, apis=apis, below=below).replace("def ", "over", 1)


def _again(name: str, *lines: str, apis: tuple[str, ...] = (), below: str = "") -> str:
    """A prim whose type another layer says: of bodies, so that the joints of a layer find them in it."""
    return prim("", name, *lines, apis=apis, below=below)


def _asset(geometry: str, physics: str, materials: str) -> dict[str, str]:
    """Layers of an asset as converters write it: the file, whose payload is the sum of three layers."""
    layers = (
        "    subLayers = [\n        @./Physics.usda@,\n        @./Geometry.usda@,\n        @./Materials.usda@\n    ]\n"
    )
    root = (
        'def Xform "Robot" (\n    prepend apiSchemas = ["GeomModelAPI"]\n    assetInfo = {\n'
        '        string name = "Robot"\n    }\n    kind = "component"\n'
        "    prepend payload = @./Payload/Contents.usda@\n)\n{\n"
        "    float3[] extentsHint = [(-2, -2, -1), (2, 2, 2)]\n}\n\n"
        'def PhysicsScene "PhysicsScene" (\n    prepend payload = @./Payload/Contents.usda@</PhysicsScene>\n)\n{\n}\n'
    )
    return {
        "": HEAD % "" + root,
        "Payload/Contents.usda": HEAD % layers + 'def Xform "Robot"\n{\n}\n',
        "Payload/Geometry.usda": _layer(geometry),
        "Payload/Physics.usda": _layer(physics, '\ndef PhysicsScene "PhysicsScene"\n{\n}\n'),
        "Payload/Materials.usda": _layer(materials),
    }


def _placed(folder: str, name: str, layers: dict[str, str]) -> dict[str, str]:
    return {f"{folder}/{part or name}": text for part, text in layers.items()}


def _limbs(meshes: bool) -> dict[str, str]:
    """A base, two limbs and a hand, each below the one before; the geometry in one layer, its physics in another.

    meshes: the shapes are meshes and looks that are referred to in crates.
    """
    bound = "rel material:binding = </Robot/Materials/Paint>"
    at_once = ("MaterialBindingAPI",)

    def shapes(number: int) -> str:
        if meshes:
            return "".join(
                prim("", name, bound, *lines, *at(0, 0, 0.25, scaled(0.25, 0.25, 0.25)), apis=at_once,
                     meta=f"prepend references = @./GeometryLibrary.usdc@</Geometry/{shape}>")
                for name, shape, lines in (
                    ("look", ("box", "wedge")[number % 2], ()),
                    ("shape", "box", ('uniform token purpose = "guide"',)))
            )  # fmt: skip
        size = ("double height = 0.4", "double radius = 0.1")
        kind = ("Cylinder", "Capsule", "Cone")[number % 3]
        return prim(
            kind, "look", *size, bound, *at(0, 0, 0.25), apis=at_once, meta='displayName = "what is seen"'
        ) + prim(kind, "shape", *size, 'uniform token purpose = "guide"', *at(0, 0, 0.25))

    names = ("base", "upper", "lower", "hand")
    geometry, physics = "", ""
    for number, name in reversed(list(enumerate(names))):
        turn = "quatf xformOp:orient = (0.8, 0, 0.6, 0)" if number == 2 else "quatf xformOp:orient = (1, 0, 0, 0)"
        geometry = prim(
            "Xform", name, *at(0.125 * number, 0, 0.5 if number else 0, turn), below=shapes(number) + geometry
        )
        masses = (f"float physics:mass = {4.0 - number}", "point3f physics:centerOfMass = (0, 0, 0.25)",
                  "float3 physics:diagonalInertia = (0.03125, 0.0625, 0.09375)",
                  "quatf physics:principalAxes = (1, 0, 0, 0)")  # fmt: skip
        apis = BODY if number else (*BODY, "PhysicsArticulationRootAPI", "NewtonArticulationRootAPI")
        hull = ('uniform token physics:approximation = "convexHull"',) if meshes else ()
        shape = _over("shape", "rel material:binding:physics = </Robot/Physics/Rubber>",
            "float newton:contactGap = 0.01",
                      *hull, apis=(*BOUND, "NewtonCollisionAPI", *(("PhysicsMeshCollisionAPI",
                      ) if meshes else ())))  # fmt: skip
        physics = _again(name, *masses, apis=apis, below=shape + physics)
    path = "/Robot/Geometry/base"
    joints = ""
    for number, (name, kind) in enumerate(zip(names[1:], ("Revolute", "Prismatic", "Revolute"), strict=True)):
        child = f"{path}/{name}"
        dof = "linear" if kind == "Prismatic" else "angular"
        joints += joint(f"{kind}Joint", f"{name}_joint", path, child,
                        f"point3f physics:localPos0 = ({0.125 * (number + 1)}, 0, 0.5)",
                        f"quatf physics:localRot0 = {(0.8, 0, 0.6, 0) if number == 1 else (1, 0, 0, 0)}",
                        'uniform token physics:axis = "Z"', "float physics:lowerLimit = -0.5",
                        "float physics:upperLimit = 0.25", f"float drive:{dof}:physics:maxForce = {100 + number}",
                        "float newton:armature = 0.01", f"float newton:damping = {0.125 * (number + 1)}",
                        *(("float newton:mimicCoef1 = 0.5", "rel newton:mimicJoint = </Robot/Physics/upper_joint>")
                          if number == 2 else ()),
                        apis=(f"PhysicsDriveAPI:{dof}", "NewtonJointAPI", *(("NewtonMimicAPI",
                        ) if number == 2 else ())))  # fmt: skip
        path = child
    rubber = prim("Material", "Rubber", "float physics:dynamicFriction = 0.75", "float physics:staticFriction = 0.875",
                  "float newton:rollingFriction = 0.0001", apis=("PhysicsMaterialAPI",
                  "NewtonMaterialAPI"))  # fmt: skip
    material = (prim("Material", "Paint", meta="prepend references = @./MaterialsLibrary.usdc@</Materials/Paint>")
                if meshes else preview_material("/Robot/Materials", "Paint", 0.5))  # fmt: skip
    found = _asset(
        prim("Scope", "Geometry", below=geometry),
        prim("Scope", "Physics", below=rubber + joints) + _again("Geometry", below=physics),
        prim("Scope", "Materials", below=material),
    )
    if meshes:
        normals = (
            "normal3f[] normals = ["
            + ", ".join(["(0, 0, 1)"] * 24)
            + ']  (\n            interpolation = "faceVarying"\n        )'
        )
        found["Payload/GeometryLibrary.usdc"] = (
            '#usda 1.0\nclass Scope "Geometry"\n{\n' + prim("Mesh", "box", *box_lines(), normals)
            + prim("Mesh", "wedge", *tetra_lines(), colour(0, 1, 0)) + "}\n"
        )  # fmt: skip
        found["Payload/MaterialsLibrary.usdc"] = (
            '#usda 1.0\nclass Scope "Materials"\n{\n' + preview_material("/Materials", "Paint", 0.375) + "}\n"
        )
    return found


def _boxes() -> dict[str, str]:
    """Eight boxes and a floor as payload, in one level: physics and values of vendors laid over all of them."""
    geometry, physics = prim("Plane", "floor", "double width = 4", "double length = 4", colour(0.75, 0.75, 0.75)), ""
    physics += _over("floor", "uniform double[] mjc:solref = [0.02, 1]", apis=(*COLLIDER, "MjcCollisionAPI"))
    for number in range(8):
        geometry += prim("Cube", f"box{number}", "double size = 0.5", "float[] primvars:displayOpacity = [0.5]",
                         *at(number, number % 2, 1 + number, turned(5 * number, 0, 0), scaled(1, 1,
                         1 + number / 4)))  # fmt: skip
        physics += prim("Cube", f"box{number}", f"float physics:mass = {1 + number}",
            f"bool physics:startsAsleep = {number % 2}",
                         f"float3 physics:diagonalInertia = (1, 1, {1 + number / 8})",
                         "quatf physics:principalAxes = (1, 0, 0, 0)", f"uniform int mjc:priority = {number}",
                         f"float newton:contactGap = {number / 100}", f"uniform double mjc:gravcomp = {number / 8}",
                         apis=(*CRATE, "MjcCollisionAPI", "NewtonCollisionAPI", "MjcBodyAPI"))  # fmt: skip
    pairs = prim("PhysicsCollisionGroup", "excluded", "rel collection:colliders:includes = [</Robot/Geometry/box0>]",
                 "rel physics:filteredGroups = [</Robot/Physics/excluded>]", apis=("CollectionAPI:colliders",
                 ))  # fmt: skip
    return _asset(
        prim("Scope", "Geometry", below=geometry),
        prim("Scope", "Physics", below=pairs) + _again("Geometry", below=physics),
        prim("Scope", "Materials"),
    )


def _ball_joints() -> dict[str, str]:
    """A pendulum of balls, each joint with limits of Newton and MuJoCo; the asset binds looks over the payload."""
    geometry, physics, joints = "", "", ""
    for number in range(4):
        geometry += prim("Sphere", f"ball{number}", "double radius = 0.25", *at(0, 0, 3 - number))
        physics += prim("Sphere", f"ball{number}", "float physics:density = 800", apis=CRATE)
        joints += joint("SphericalJoint", f"ball{number}_joint", f"/Robot/Geometry/ball{number - 1}" if number else "",
                        f"/Robot/Geometry/ball{number}", 'uniform token physics:axis = "Z"',
                        f"point3f physics:localPos0 = (0, 0, {-0.5 if number else 3.5})",
                        "point3f physics:localPos1 = (0, 0, 0.5)",
                        f"float physics:coneAngle0Limit = {10 + 10 * number}",
                        f"float physics:coneAngle1Limit = {10 + 10 * number}", "uniform double mjc:stiffness = 2",
                        "float newton:friction = 0.25", apis=("MjcJointAPI", "NewtonJointAPI"))  # fmt: skip
    return _asset(
        prim("Scope", "Geometry", below=geometry),
        prim("Scope", "Physics", below=joints) + _again("Geometry", below=physics),
        prim("Scope", "Materials", below=preview_material("/Robot/Materials", "Chrome", 0.25)),
    )


def _universal() -> dict[str, str]:
    """A cross between two forks, whose meshes are in a crate beside it; the joint is one of two hinges."""

    def fork(name: str, x: float) -> str:
        shape = prim("Mesh", "shape", 'uniform token physics:approximation = "convexDecomposition"', *at(0, 0, 0.5),
                     apis=("PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"),
                     meta=f"prepend references = @./Geometry/surfaces.usd@</Surfaces/{name}>")  # fmt: skip
        return prim("Xform", name, "float physics:mass = 1", "float3 physics:diagonalInertia = (0.5, 0.5, 0.25)",
                    "quatf physics:principalAxes = (1, 0, 0, 0)", *at(x, 0, 1), apis=BODY, below=shape)  # fmt: skip

    hinge = ("point3f physics:localPos0 = (0.5, 0, 0)", "point3f physics:localPos1 = (-0.5, 0, 0)")
    free = ("rotX", "transX", "transY", "transZ")
    locked = tuple(
        f"float limit:{dof}:physics:{side} = {value}" for dof in free for side, value in (("low", 1), ("high", -1))
    )
    root = stage(
        SCENE + fork("Input", -0.5) + fork("Output", 0.5)
        + joint("Joint", "Universal", "/World/Input", "/World/Output", *hinge, *locked,
                apis=tuple(f"PhysicsLimitAPI:{dof}" for dof in free))
        + joint("RevoluteJoint", "Drive", "", "/World/Input", 'uniform token physics:axis = "X"',
                "point3f physics:localPos0 = (-0.5, 0, 1)", "float drive:angular:physics:targetVelocity = 90",
                "float drive:angular:physics:damping = 5", apis=("PhysicsDriveAPI:angular",))
    )  # fmt: skip
    library = '#usda 1.0\ndef Scope "Surfaces"\n{\n' + prim("Mesh", "Input", *box_lines(0.5)) + prim(
        "Mesh", "Output", *tetra_lines(), colour(1, 0, 0)) + "}\n"  # fmt: skip
    return {"universal.usda": root, "Geometry/surfaces.usd": library}


def _variants() -> dict[str, str]:
    """Mass, shape and looks by variants, one of them within another; a payload within a variant."""
    crate_at = crate("Crate", "float physics:mass = 2", *at(0, 0, 1))
    text = stage(SCENE + prim("Xform", "Car", meta=(
        'variants = {\n            string body = "light"\n            string paint = "red"\n        }\n'
        '        prepend variantSets = ["body", "paint"]'), below=crate_at))  # fmt: skip
    bodies = "".join(
        f'            "{name}" {{\n                over "Crate"\n                {{\n'
        f"                    float physics:mass = {mass}\n                }}\n{more}            }}\n"
        for name, mass, more in (
            ("light", 3, ""),
            ("heavy", 30,
            '                def Xform "Load" (\n                    prepend payload = @./Parts/load.usda@\n'
                          "                )\n                {\n                }\n"))
    )  # fmt: skip
    paints = "".join(
        f'            "{name}" {{\n                over "Crate"\n                {{\n'
        f"                    color3f[] primvars:displayColor = [({red}, 0, 0)]\n                }}\n            }}\n"
        for name, red in (("red", 1), ("black", 0))
    )
    sets = f'        variantSet "body" = {{\n{bodies}        }}\n        variantSet "paint" = {{\n{paints}        }}\n'
    head, brace, rest = text.partition('def Xform "Car"')
    opening, start, inside = rest.partition("    {\n")
    return {
        "variants.usda": head + brace + opening + start + sets + inside,
        "Parts/load.usda": stage(crate("Sack", *at(0, 0, 2), size=0.5)),
    }


def _instances() -> dict[str, str]:
    """Wheels that are instances of an asset in another file, two of them bodies; and a cart that is referred to."""
    wheel = stage(
        prim("Cylinder", "Tyre", "double radius = 0.5", "double height = 0.25", 'uniform token axis = "Y"',
        apis=COLLIDER)
        + prim("Mesh", "Hub", *tetra_lines(0.25), "rel material:binding = </World/Looks/Rim>",
            apis=("MaterialBindingAPI",))
        + prim("Scope", "Looks", below=preview_material("/World/Looks", "Rim", 0.625))
    )  # fmt: skip
    cart = stage(prim("Xform", "Body", "float physics:mass = 4", *at(0, 0, 1), apis=BODY,
                      below=prim("Cube", "Box", apis=COLLIDER)
                      + prim("Sphere", "Knob", "double radius = 0.25", *at(0, 0, 0.5), apis=COLLIDER))
                 + crate("Tow", *at(2, 0, 1), size=0.5)
                 + joint("RevoluteJoint", "Hitch", "/World/Body", "/World/Tow", 'uniform token physics:axis = "Z"',
                         "point3f physics:localPos0 = (1, 0, 0)",
                         "point3f physics:localPos1 = (-1, 0, 0)"))  # fmt: skip

    def instance(name: str, file: str, x: float, apis: tuple[str, ...] = (), *lines: str) -> str:
        return prim("Xform", name, *lines, *at(x, 3, 0), apis=apis,
                    meta=f"instanceable = true\n        prepend references = @./Parts/{file}@")  # fmt: skip

    return {
        "instances.usda": stage(
            SCENE + instance("WheelLeft", "wheel.usda", -2, BODY, "float physics:mass = 3")
            + instance("WheelRight", "wheel.usda", 2, BODY, "float physics:mass = 3.5")
            + instance("Spare", "wheel.usda", 6)
            + prim("Xform", "Cart", *at(10, 3, 0), meta="prepend references = @./Parts/cart.usda@")
            + joint("RevoluteJoint", "Axle", "/World/WheelLeft", "/World/WheelRight",
                'uniform token physics:axis = "Y"',
                    "point3f physics:localPos0 = (2, 0, 0)", "point3f physics:localPos1 = (-2, 0, 0)")
        ),
        "Parts/wheel.usda": wheel,
        "Parts/cart.usda": cart,
    }  # fmt: skip


#: Files by their name in the folder of USD files.
STAGES: dict[str, str] = {
    **_placed("boxes", "boxes.usda", _boxes()),
    **_placed("ball_joints", "ball_joints.usda", _ball_joints()),
    **_placed("slider", "A slider with spaces.usda", _limbs(meshes=False)),
    **{f"universal/{name}": text for name, text in _universal().items()},
    **{f"variants/{name}": text for name, text in _variants().items()},
    **{f"instances/{name}": text for name, text in _instances().items()},
}

_URDF = """<?xml version="1.0"?>
<robot name="{name}">
  <material name="paint"><color rgba="0.5 0.5 0.25 1"/></material>
  <link name="base"><visual><geometry><box size="0.4 0.4 0.2"/></geometry><material name="paint"/></visual>
    <collision><geometry><box size="0.4 0.4 0.2"/></geometry></collision>
    <inertial><mass value="4"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="upper"><visual><geometry><cylinder length="0.4" radius="0.1"/></geometry></visual>
    <collision><origin xyz="0 0 0.25"/><geometry><cylinder length="0.4" radius="0.1"/></geometry></collision>
    <inertial><mass value="3"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="upper_joint" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.5"/>
    <axis xyz="0 0 1"/><limit lower="-0.5" upper="0.25" effort="100" velocity="2"/></joint>
</robot>
"""
#: The same for robots: what a converter would be given, and the kind of asset that it would make of it.
ROBOTS: dict[str, str] = {
    **{f"{name}/data/{name}.urdf": _URDF.format(name=name) for name in ("arm", "arm_of_meshes")},
    **_placed("arm/reference_usd", "arm.usda", _limbs(meshes=False)),
    **_placed("arm_of_meshes/reference_usd", "arm_of_meshes.usda", _limbs(meshes=True)),
}
#: Names of those that are binary.
CRATES = frozenset({"universal/Geometry/surfaces.usd", *(name for name in ROBOTS if name.endswith(".usdc"))})
