# SPDX-License-Identifier: GPL-3.0-or-later
"""Twins in one file each: small files that each show one thing, as of test suites, and robots of three vendors."""

from __future__ import annotations

from textwrap import dedent

from usd_text import BODY, COLLIDER, CRATE, SCENE, at, crate, joint, prim, scaled, stage, turned

MASS = ("PhysicsCollisionAPI", "PhysicsMassAPI")
BOUND = ("PhysicsCollisionAPI", "MaterialBindingAPI")
#: Corners and faces of a box with an edge of 2, faces outwards.
BOX_POINTS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
BOX_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
TETRA_POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
TETRA_FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))


def mesh_lines(
    points: list[tuple[int, int, int]], faces: tuple[tuple[int, ...], ...], size: float = 1.0
) -> tuple[str, ...]:
    """Properties of a mesh that is not smoothed."""
    corners = ", ".join(str(tuple(size * part for part in point)) for point in points)
    return (
        f"int[] faceVertexCounts = {[len(face) for face in faces]}",
        f"int[] faceVertexIndices = {[corner for face in faces for corner in face]}",
        f"point3f[] points = [{corners}]",
        'uniform token subdivisionScheme = "none"',
    )


def box_lines(size: float = 1.0) -> tuple[str, ...]:
    return mesh_lines(BOX_POINTS, BOX_FACES, size)


def tetra_lines(size: float = 1.0) -> tuple[str, ...]:
    return mesh_lines(TETRA_POINTS, TETRA_FACES, size)


def colour(red: float, green: float, blue: float) -> str:
    return f"color3f[] primvars:displayColor = [({red}, {green}, {blue})]"


def preview_material(folder: str, name: str, red: float, *lines: str, apis: tuple[str, ...] = ()) -> str:
    """A material with a preview surface, and any further opinions. folder: path of its parent."""
    shader = prim(
        "Shader", "Surface", 'uniform token info:id = "UsdPreviewSurface"',
        f"color3f inputs:diffuseColor = ({red}, 0.5, 0.25)", "float inputs:roughness = 0.75",
        "float inputs:metallic = 0", "token outputs:surface",
    )  # fmt: skip
    out = f"token outputs:surface.connect = <{folder}/{name}/Surface.outputs:surface>"
    return prim("Material", name, out, *lines, apis=apis, below=shader)


def without_root(body: str, head: str = "") -> str:
    """A file whose prims are at the top."""
    return f"#usda 1.0\n{head}\n{dedent(body)}"


def physics_material(name: str, friction: float, *lines: str) -> str:
    values = (f"float physics:staticFriction = {friction}", f"float physics:dynamicFriction = {friction / 2}")
    return prim("Material", name, *values, *lines, apis=("PhysicsMaterialAPI",))


# --------------------------------------------------------------------------- one thing each


def _box_on_quad() -> str:
    """In centimetres with Y up: a mesh falls onto a mesh."""
    quad = (
        "int[] faceVertexCounts = [4]", "int[] faceVertexIndices = [0, 1, 2, 3]",
        "normal3f[] normals = [(0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0)]",
        "point3f[] points = [(-300, 0, 300), (300, 0, 300), (300, 0, -300), (-300, 0, -300)]",
    )  # fmt: skip
    rubber = "rel material:binding:physics = </World/Rubber>"
    return stage(
        prim("PhysicsScene", "Scene", "vector3f physics:gravityDirection = (0, -1, 0)",
             "float physics:gravityMagnitude = 981")
        + prim("Mesh", "Quad", *quad, colour(0.5, 0.5, 0.5), rubber, apis=BOUND)
        + crate("Box", "vector3f physics:velocity = (20, 10, 0)", "vector3f physics:angularVelocity = (45, 0, 90)",
                colour(0.25, 0.25, 0.75), "float physics:density = 0.0005", rubber, *at(0, 200, 0, turned(10, 20, 30)),
                apis=(*CRATE, "MaterialBindingAPI"), size=40.0)
        + prim("Mesh", "Sign", *box_lines(15.0), colour(1, 1, 0), *at(0, 20, 100))
        + physics_material("Rubber", 0.75, "float physics:restitution = 0.25", "float physics:density = 0.0011"),
        meters=0.01, up="Y",
    )  # fmt: skip


def _groups() -> str:
    """Four groups of which two are merged and one is inverted; members by their prim and by what is below one."""

    def group(name: str, *lines: str) -> str:
        return prim("PhysicsCollisionGroup", name, *lines, apis=("CollectionAPI:colliders",))

    balls = "".join(
        prim("Sphere", f"Ball{number}", "double radius = 0.25", *at(number, 0, 2), apis=CRATE) for number in range(4)
    )
    return stage(
        SCENE + prim("Xform", "Balls", below=balls) + crate("Floor", *at(0, 0, -1), apis=COLLIDER, size=2.0)
        + group("Red", "rel collection:colliders:includes = [</World/Balls/Ball0>, </World/Balls/Ball1>]",
                "rel physics:filteredGroups = </World/Green>", 'string physics:mergeGroup = "warm"')
        + group("Yellow", "rel collection:colliders:includes = </World/Balls/Ball2>",
                'string physics:mergeGroup = "warm"')
        + group("Green", "rel collection:colliders:includes = </World/Balls>",
                "rel collection:colliders:excludes = [</World/Balls/Ball1>]",
                "rel physics:filteredGroups = [</World/Red>, </World/Green>]")
        + group("Ground", "rel collection:colliders:includes = </World/Floor>",
                "rel physics:filteredGroups = </World/Green>", "bool physics:invertFilteredGroups = 1"),
        meters=0.01,
    )  # fmt: skip


def _merged_groups() -> str:
    """Nothing but groups, with lists that are edited."""

    def group(name: str, *lines: str) -> str:
        return prim("PhysicsCollisionGroup", name, *lines)

    return without_root(
        group("left", "prepend rel physics:filteredGroups = </top>", 'string physics:mergeGroup = "sides"')
        + group("right", 'string physics:mergeGroup = "sides"')
        + group("top", 'string physics:mergeGroup = "ends"')
        + group("bottom", 'string physics:mergeGroup = "ends"', "append rel physics:filteredGroups = </bottom>")
    )


def _joints() -> str:
    """Every type of joint, between bodies and to the world, in centimetres and grams."""
    slots = [crate(f"Part{number}", "float physics:mass = 500", *at(150 * number, 0, 100, turned(0, 0, 15 * number)),
                   size=50.0) for number in range(6)]  # fmt: skip
    one, two, three, four, five, six = (f"/World/Part{number}" for number in range(6))
    between = ("point3f physics:localPos0 = (75, 0, 0)", "point3f physics:localPos1 = (-75, 0, 0)")
    half = ("quatf physics:localRot0 = (0.7071068, 0, 0, 0.7071068)",
            "quatf physics:localRot1 = (0.7071068, 0, 0, 0.7071068)")  # fmt: skip
    drive = tuple(f"float drive:angular:physics:{name} = {value}" for name, value in (
        ("stiffness", 4000.0), ("damping", 200.0), ("targetPosition", 15.0), ("maxForce", 9000.0)))  # fmt: skip
    slide = tuple(f"float drive:linear:physics:{name} = {value}" for name, value in (
        ("stiffness", 100.0), ("damping", 10.0), ("targetVelocity", 5.0)))  # fmt: skip
    return stage(
        SCENE + "".join(slots)
        + joint("FixedJoint", "Post", "", one, "point3f physics:localPos0 = (0, 0, 100)")
        + joint("RevoluteJoint", "Hinge", one, two, *between, *half, 'uniform token physics:axis = "Z"',
                "float physics:lowerLimit = -30", "float physics:upperLimit = 60", *drive,
                apis=("PhysicsDriveAPI:angular",))
        + joint("PrismaticJoint", "Rail", two, three, *between, 'uniform token physics:axis = "Y"',
                "float physics:lowerLimit = -20", "float physics:upperLimit = 40", "float physics:breakForce = 50000",
                'uniform token drive:linear:physics:type = "acceleration"', *slide, apis=("PhysicsDriveAPI:linear",))
        + joint("SphericalJoint", "Ball", three, four, *between, "float physics:coneAngle0Limit = 30",
                "float physics:coneAngle1Limit = 45", "bool physics:collisionEnabled = 1")
        + joint("DistanceJoint", "Rope", four, five, *between, "float physics:minDistance = 10",
                "float physics:maxDistance = 120", "bool physics:excludeFromArticulation = 1")
        + joint("Joint", "Free", five, six, *between, "float limit:transX:physics:low = -5",
                "float limit:transX:physics:high = 5", "float limit:rotZ:physics:low = 1",
                "float limit:rotZ:physics:high = -1", "bool physics:jointEnabled = 0",
                "float physics:breakTorque = 800000", apis=("PhysicsLimitAPI:transX", "PhysicsLimitAPI:rotZ"))
        + joint("FixedJoint", "Weld", six, "", "point3f physics:localPos1 = (750, 0, 100)"),
        meters=0.01, kilograms=0.001, up="Z",
    )  # fmt: skip


def _nested_articulation() -> str:
    """A body within a body, joints that name their bodies by relative paths, masses on a collider and on a body."""
    hand = prim("Cube", "Palm", "double size = 2", *at(0, 0.5, 0, scaled(0.1, 0.5, 0.1)), apis=COLLIDER)
    hinge = prim(
        "PhysicsRevoluteJoint", "Elbow", 'uniform token physics:axis = "X"', "rel physics:body0 = <../..>",
        "rel physics:body1 = <..>", "point3f physics:localPos0 = (0, 0.75, 0)", "point3f physics:localPos1 = (0, 0, 0)",
        "float physics:lowerLimit = -80", "float physics:upperLimit = 20",
    )  # fmt: skip
    upper = (
        prim("Cube", "Bone", "double size = 2", "float physics:mass = 1.25",
             *at(0, 0.25, 0, scaled(0.1, 0.5, 0.1)), apis=MASS)
        + prim("Xform", "Lower", "float physics:mass = 0.5", *at(0, 0.75, 0), apis=BODY, below=hand + hinge)
        + prim("PhysicsFixedJoint", "Shoulder", "rel physics:body0 = <../..>", "rel physics:body1 = <..>",
               "point3f physics:localPos0 = (0, 0, 1)")
    )  # fmt: skip
    return stage(
        SCENE + prim("Xform", "Upper", *at(0, 0, 1), below=upper,
                     apis=("PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI"))
    )  # fmt: skip


def _bare_joint() -> str:
    """No units, no scene, no colliders: two bodies, a joint, and one whose frames are said in part."""
    return without_root(
        prim("Xform", "first", *at(1, 1, 1), apis=("PhysicsRigidBodyAPI",))
        + prim("Xform", "second", apis=("PhysicsRigidBodyAPI",))
        + joint("FixedJoint", "weld", "/first", "/second", "point3f physics:localPos1 = (1, 1, 1)",
                "float physics:breakForce = 500", "float physics:breakTorque = 1500",
                "bool physics:excludeFromArticulation = 1")
    )  # fmt: skip


def _world_joint() -> str:
    """A joint at the top that ties a scaled body to the world."""
    return without_root(
        prim("Cube", "block", *at(0, 2, 0, scaled(3, 3, 3)), apis=CRATE)
        + joint("SphericalJoint", "hook", "/block", "", "point3f physics:localPos0 = (0, 0.5, 0)",
                "point3f physics:localPos1 = (0, 3.5, 0)", 'uniform token physics:axis = "Y"',
                "float physics:coneAngle0Limit = 20", "float physics:coneAngle1Limit = 30")
    )  # fmt: skip


def _two_scenes() -> str:
    """Bodies and a collider that say which of two scenes they are in."""
    owner = "rel physics:simulationOwner = </{}>"
    return without_root(
        prim("PhysicsScene", "earth") + prim("PhysicsScene", "moon", "float physics:gravityMagnitude = 1.62")
        + prim("Xform", "body", owner.format("moon"), "bool physics:startsAsleep = 1", *at(100, 20, 10),
               apis=("PhysicsRigidBodyAPI",),
               below=prim("Cube", "skin", owner.format("moon"), apis=COLLIDER))
        + prim("Plane", "ground", owner.format("earth"), 'uniform token axis = "Y"', apis=COLLIDER)
    )  # fmt: skip


def _filtered_pairs() -> str:
    """Pairs of bodies and of colliders, with lists that are edited."""
    pairs = "PhysicsFilteredPairsAPI"
    return without_root(
        SCENE
        + prim("Xform", "one", apis=("PhysicsRigidBodyAPI",), below=prim("Cube", "skin", apis=COLLIDER))
        + prim("Xform", "two", "prepend rel physics:filteredPairs = </one>", *at(5, 0, 0),
               apis=("PhysicsRigidBodyAPI", pairs),
               below=prim("Cube", "skin", "append rel physics:filteredPairs = [</one/skin>]",
                          apis=("PhysicsCollisionAPI", pairs)))
    )  # fmt: skip


def _face_materials() -> str:
    """A mesh whose faces have a material each, physics and looks apart."""

    def faces(name: str, indices: list[int], material: str, purpose: str) -> str:
        return prim("GeomSubset", name, 'uniform token elementType = "face"', f"int[] indices = {indices}",
                    'uniform token familyName = "materialBind"', f"rel material:binding{purpose} = </World/{material}>",
                    apis=("MaterialBindingAPI",))  # fmt: skip

    return stage(
        SCENE + physics_material("Ice", 0.125) + physics_material("Sand", 0.875, "float physics:restitution = 0")
        + prim("Mesh", "Floor", *box_lines(), "rel material:binding = </World/Ice>",
               'uniform token subsetFamily:materialBind:familyType = "partition"', apis=(*BOUND,
               "PhysicsMeshCollisionAPI"),
               below=faces("slippery", [0, 1, 2], "Ice", "") + faces("rough", [3, 4, 5], "Sand", ""))
    )  # fmt: skip


def _decagrams() -> str:
    """A mass in a unit that few use."""
    return without_root(
        prim("Cube", "weight", "float physics:mass = 20", "double size = 1", apis=CRATE),
        "(\n    kilogramsPerUnit = 0.01\n    metersPerUnit = 1\n)",
    )


def _compound() -> str:
    """A body of four colliders: the density of the body, of a collider, of a material, and a mass."""
    below = (
        prim("Cube", "Core", "double size = 2", apis=COLLIDER)
        + prim("Sphere", "Left", "double radius = 0.5", "float physics:density = 200", *at(-2, 0, 0), apis=MASS)
        + prim("Cylinder", "Right", "double radius = 0.5", "double height = 2", "float physics:mass = 30",
               *at(2, 0, 0, turned(0, 90, 0)), apis=MASS)
        + prim("Capsule", "Top", "double radius = 0.25", "double height = 1", 'uniform token axis = "X"',
               "rel material:binding:physics = </World/Lead>", *at(0, 0, 2), apis=BOUND)
    )  # fmt: skip
    told = (
        "float physics:mass = 12", "point3f physics:centerOfMass = (0.1, 0.2, 0.3)",
        "float3 physics:diagonalInertia = (1, 2, 2.5)", "quatf physics:principalAxes = (0.5, 0.5, 0.5, 0.5)",
    )  # fmt: skip
    return stage(
        prim("Xform", "Compound", "float physics:density = 500", *at(0, 0, 5), apis=BODY, below=below)
        + crate("Told", *told, *at(6, 0, 5))
        + physics_material("Lead", 0.5, "float physics:density = 11340")
    )


def _mirrored_meshes() -> str:
    """A mesh and its mirror image by a negative scale, each a body with a hull."""

    def half(name: str, x: float, sign: int) -> str:
        part = prim("Mesh", "Shell", *tetra_lines(), 'uniform token physics:approximation = "convexHull"',
                    *at(0.25, 0, 0, scaled(sign, 1, 1)),
                    apis=("PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"))  # fmt: skip
        return prim("Xform", name, *at(x, 0, 1), apis=("PhysicsRigidBodyAPI",), below=part)

    return stage(SCENE + half("Left", -2, -1) + half("Right", 2, 1))


def _fourbar() -> str:
    """A loop of four bars, which no tree of joints can hold; one bar is tied to the world."""
    places = ((0, 0, 1), (1, 0, 2), (0, 0, 3), (-1, 0, 2))
    bars = "".join(
        crate(f"Bar{number}", f"float physics:mass = {1 + number}", "float3 physics:diagonalInertia = (0.1, 0.2, 0.2)",
              "quatf physics:principalAxes = (1, 0, 0, 0)",
              *at(*place, turned(0, 90 * (number % 2), 0)), apis=CRATE, size=0.25)
        for number, place in enumerate(places)
    )  # fmt: skip
    pins = "".join(
        joint("RevoluteJoint", f"Pin{number}", f"/World/Bar{number}", f"/World/Bar{(number + 1) % 4}",
              'uniform token physics:axis = "Y"', "point3f physics:localPos0 = (0.5, 0, 0)",
              "point3f physics:localPos1 = (-0.5, 0, 0)", *([] if number else ["float physics:lowerLimit = -90",
                                                                               "float physics:upperLimit = 90"]))
        for number in range(4)
    )  # fmt: skip
    return stage(SCENE + bars + pins + joint("FixedJoint", "Base", "", "/World/Bar0",
                                             "point3f physics:localPos0 = (0, 0, 1)"))  # fmt: skip


def _generic_joint() -> str:
    """Limits and drives on all six degrees of freedom."""
    lines, apis = [], []
    for number, dof in enumerate(("transX", "transY", "transZ", "rotX", "rotY", "rotZ")):
        lines += [f"float limit:{dof}:physics:low = {-1.0 - number}",
        f"float limit:{dof}:physics:high = {2.0 + number}",
                  f"float drive:{dof}:physics:stiffness = {100.0 + number}",
                  f"float drive:{dof}:physics:damping = {10.0 + number}",
                  f"float drive:{dof}:physics:maxForce = {500.0 + number}",
                  f'uniform token drive:{dof}:physics:type = "{("force", "acceleration")[number % 2]}"']  # fmt: skip
        apis += [f"PhysicsLimitAPI:{dof}", f"PhysicsDriveAPI:{dof}"]
    return stage(
        SCENE + crate("Base", "bool physics:kinematicEnabled = 1", *at(0, 0, 1)) + crate("Tool", *at(2, 0, 1))
        + joint("Joint", "Six", "/World/Base", "/World/Tool", *lines, "point3f physics:localPos0 = (1, 0, 0)",
                "point3f physics:localPos1 = (-1, 0, 0)", "quatf physics:localRot0 = (0.7071068, 0, 0.7071068, 0)",
                "quatf physics:localRot1 = (0.7071068, 0, 0.7071068, 0)", apis=tuple(apis))
    )  # fmt: skip


def _round_shapes(kind: str) -> str:
    """One kind of shape about each axis, scaled and not, as dynamic bodies and as still colliders."""
    size = {"Cone": ("double radius = 0.5", "double height = 1.5"), "Sphere": ("double radius = 0.5",)}[kind]
    axes = ("X", "Y", "Z")
    moving = "".join(
        prim(kind, f"Moving{axis}", *size, *([f'uniform token axis = "{axis}"'] if kind == "Cone" else []),
             *at(2 * number, 0, 2, turned(0, 0, 30 * number)), apis=CRATE)
        for number, axis in enumerate(axes)
    )  # fmt: skip
    stretch = scaled(2, 2, 2) if kind == "Cone" else scaled(1, 2, 3)
    return stage(SCENE + moving + prim(kind, "Still", *size, *at(0, 5, 0, stretch), apis=COLLIDER))


def _named_operations() -> str:
    """Transforms that have suffixes, as matrices, with Y up: a rod that swings from an axle."""
    rod = prim("Cylinder", "Geometry", 'token axis = "Z"', "double height = 1", "double radius = 0.0625", apis=COLLIDER)
    start = ("matrix4d xformOp:transform:start = ( (1, 0, 0, 0), (0, 0.8, 0.6, 0), (0, -0.6, 0.8, 0), (0, 1, 0.5, 1) )",
             'uniform token[] xformOpOrder = ["xformOp:transform:start"]')  # fmt: skip
    axle = prim("Cylinder", "Geometry", 'token axis = "X"', "double height = 0.5", "double radius = 0.0625",
                apis=COLLIDER)  # fmt: skip
    return stage(
        prim("Xform", "Axle", *at(0, 2, 0, "float3 xformOp:rotateXYZ:lean = (0, 0, 10)"), below=axle,
             apis=("PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI"))
        + prim("Xform", "Rod", *start, apis=("PhysicsRigidBodyAPI",), below=rod)
        + joint("RevoluteJoint", "HingeJoint", "/World/Axle", "/World/Rod", "point3f physics:localPos0 = (0, 0, 0)",
                "point3f physics:localPos1 = (0, 0, 0.5)", "quatf physics:localRot0 = (0, 1, 0, 0)",
                "quatf physics:localRot1 = (0, 1, 0, 0)")
        + joint("FixedJoint", "Hold", "", "/World/Axle", "point3f physics:localPos0 = (0, 2, 0)"),
        up="Y",
    )  # fmt: skip


def _nested_by_mistake() -> str:
    """A body below a body by a reset of its transforms, in a file without units that ends in .usd."""
    below = prim("Cube", "cube", *at(0, 0, 0, "quatd xformOp:orient = (1, 0, 0, 0)", reset=True),
                 apis=("PhysicsRigidBodyAPI", "PhysicsCollisionAPI"))  # fmt: skip
    return without_root(prim("Xform", "Shell", apis=("PhysicsRigidBodyAPI",), below=below))


def _kinematic_root() -> str:
    """An articulation whose root is moved by hand: an error of OpenUSD's until 25.11."""
    return without_root(prim("Cube", "Cube", "bool physics:kinematicEnabled = 1",
                             apis=("PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI")))  # fmt: skip


# --------------------------------------------------------------------------- robots of three vendors


def _walker() -> str:
    """Eight hinges with drives, looks, an invisible floor, custom text: schemas of PhysX and Newton on all of it."""
    looks = prim("Scope", "Looks", below=(
        preview_material("/World/Looks", "Orange", 0.75) + preview_material("/World/Looks", "Grey", 0.25)))  # fmt: skip
    paint = "rel material:binding = </World/Looks/{}>"
    vendor = (
        "float physxRigidBody:linearDamping = 0.05", "float physxRigidBody:maxAngularVelocity = 3000",
        "bool physxRigidBody:enableGyroscopicForces = 1", "int physxRigidBody:solverPositionIterationCount = 8",
    )  # fmt: skip
    shape = ("float physxCollision:contactOffset = 0.02", "float newton:contactGap = 0.01")
    body = ("PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysxRigidBodyAPI")
    skin = ("PhysicsCollisionAPI", "PhysxCollisionAPI", "NewtonCollisionAPI", "MaterialBindingAPI")
    parts = prim("Xform", "Torso", "float physics:mass = 5", *vendor, *at(0, 0, 1),
                 apis=(*body, "PhysicsArticulationRootAPI", "PhysxArticulationAPI"),
                 below=prim("Sphere", "Skin", "double radius = 0.25", paint.format("Orange"), *shape, apis=skin)
                 + prim("Mesh", "Emblem", *tetra_lines(0.125), paint.format("Grey"), *at(0, 0, 0.25),
                        apis=("MaterialBindingAPI",)))  # fmt: skip
    joints = ""
    for number in range(4):
        x, y = ((1, 1), (-1, 1), (-1, -1), (1, -1))[number]
        for level, name in enumerate(("Thigh", "Shin")):
            reach = 0.4 + 0.4 * level
            limb = prim("Capsule", "Skin", "double radius = 0.08", "double height = 0.4", 'uniform token axis = "Z"',
                        paint.format("Orange" if level else "Grey"), *shape, apis=skin)  # fmt: skip
            parts += prim("Xform", f"{name}{number}", f"float physics:mass = {0.5 - 0.125 * level}", *vendor,
                          *at(x * reach, y * reach, 1, turned(-45 * y, 45 * x, 0)), apis=body, below=limb)  # fmt: skip
            before = f"/World/Robot/Thigh{number}" if level else "/World/Robot/Torso"
            joints += joint(
                "RevoluteJoint", f"{name}{number}Joint", before, f"/World/Robot/{name}{number}",
                f'uniform token physics:axis = "{"ZX"[level]}"',
                f"point3f physics:localPos0 = ({0.2 * x}, {0.2 * y}, 0)",
                "point3f physics:localPos1 = (0, 0, -0.2)", f"quatf physics:localRot0 = (0.8, 0, {0.6 * x}, 0)",
                f"float physics:lowerLimit = {-40 - 10 * level}", "float physics:upperLimit = 40",
                "float drive:angular:physics:stiffness = 20", "float drive:angular:physics:damping = 0.5",
                f"float drive:angular:physics:targetPosition = {5 * number}",
                "float drive:angular:physics:maxForce = 80",
                'uniform token drive:angular:physics:type = "acceleration"', "float physxJoint:jointFriction = 0.1",
                "float physxLimit:angular:stiffness = 300", "float physxLimit:angular:damping = 3",
                "float newton:armature = 0.01", "float state:angular:physics:position = 0",
                apis=("PhysicsDriveAPI:angular", "PhysxJointAPI", "PhysxLimitAPI:angular", "NewtonJointAPI",
                      "PhysicsJointStateAPI:angular"),
            )  # fmt: skip
    robot = prim("Xform", "Robot", 'custom string note = "four legs"', meta='kind = "component"', below=parts + joints)
    floor = prim("Plane", "Floor", 'uniform token axis = "Z"', "double width = 10", "double length = 10",
                 'token visibility = "invisible"', apis=COLLIDER)  # fmt: skip
    scene = prim("PhysicsScene", "Scene", "uint physxScene:timeStepsPerSecond = 240", "bool physxScene:enableCCD = 1",
                 "int newton:timeStepsPerSecond = 500", apis=("PhysxSceneAPI", "NewtonSceneAPI"))  # fmt: skip
    return stage(scene + floor + robot + looks)


def _cart() -> str:
    """A pole on a cart on rails: schemas and actuators of MuJoCo, sites, bodies within bodies."""
    site = prim(
        "Cube",
        "Sensor",
        "double size = 2",
        'uniform token purpose = "guide"',
        "uniform int mjc:group = 3",
        *at(0, 0, 0, scaled(0.2, 0.1, 0.05)),
        apis=("MjcSiteAPI",),
        meta='displayName = "cart sensor"',
    )
    ground = "rel material:binding:physics = </World/Physics/Ground>"
    shape = ("MjcCollisionAPI",)
    solver = ("uniform double[] mjc:solref = [0.02, 1]", "uniform int mjc:condim = 3")
    pole = prim("Xform", "Pole", *at(0, 0, 0), apis=("PhysicsRigidBodyAPI",), below=(
        prim("Capsule", "Rod", "double radius = 0.045", "double height = 0.6", ground, *solver,
             "float[] primvars:displayOpacity = [1]", colour(0, 0.75, 0.75), *at(0, 0, 0.3), apis=(*BOUND, *shape))
        + prim("PhysicsRevoluteJoint", "Pin", 'uniform token physics:axis = "Y"',
            "rel physics:body0 = </World/Geometry/Cart>",
               "rel physics:body1 = </World/Geometry/Cart/Pole>", "float physics:lowerLimit = -90",
               "float physics:upperLimit = 90", "uniform double mjc:armature = 0.005",
               "uniform double mjc:damping = 0.05",
               apis=("MjcJointAPI",))))  # fmt: skip
    cart = prim("Xform", "Cart", *at(0, 0, 0), apis=("PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI"), below=(
        prim("Cube", "Box", "double size = 2", ground, *solver, colour(0.75, 0.75, 0),
             *at(0, 0, 0, scaled(0.2, 0.1, 0.05)), apis=(*BOUND, *shape))
        + prim("Mesh", "Flag", *tetra_lines(0.1), "rel material:binding = </World/Materials/Red>", *at(0, 0, 0.1),
               apis=("MaterialBindingAPI",))
        + site + pole
        + prim("PhysicsPrismaticJoint", "Slide", 'uniform token physics:axis = "X"',
               "rel physics:body0 = </World>", "rel physics:body1 = </World/Geometry/Cart>",
               "float physics:lowerLimit = -1", "float physics:upperLimit = 1", "uniform double mjc:damping = 0.01",
               apis=("MjcJointAPI",))))  # fmt: skip
    actuator = prim("MjcActuator", "Motor", "rel mjc:target = </World/Geometry/Cart/Slide>",
                    "uniform double mjc:ctrlRange:max = 3", "uniform double mjc:ctrlRange:min = -3",
                    "uniform double[] mjc:gear = [50, 0, 0, 0, 0, 0]")  # fmt: skip
    rails = "".join(
        prim("Capsule", f"Rail{side}", "double radius = 0.02", "double height = 2.4", 'uniform token axis = "X"',
        ground,
             *at(0, y, 0), apis=(*BOUND, *shape))
        for side, y in (("Left", 0.1), ("Right", -0.1))
    )  # fmt: skip
    floor = prim("Plane", "Floor", "double width = 8", "double length = 8", ground, *at(0, 0, -1),
                 apis=(*BOUND, *shape))  # fmt: skip
    scene = prim("PhysicsScene", "Scene", 'uniform token mjc:option:integrator = "rk4"',
                 "uniform double mjc:option:timestep = 0.01", apis=("MjcSceneAPI",))  # fmt: skip
    ground_material = prim("Material", "Ground", "float physics:dynamicFriction = 0.75",
                           "float physics:staticFriction = 0.75", "uniform double mjc:torsionalfriction = 0.005",
                           apis=("PhysicsMaterialAPI", "MjcMaterialAPI"))  # fmt: skip
    return stage(
        scene + prim("Scope", "Geometry", below=floor + rails + cart)
        + prim("Scope", "Physics", below=ground_material + actuator)
        + prim("Scope", "Materials", below=preview_material("/World/Materials", "Red", 0.875)),
    )  # fmt: skip


def _mesh_arm() -> str:
    """An arm of meshes, each with another approximation; looks with coordinates for textures."""
    kinds = ("convexHull", "convexDecomposition", "boundingCube", "boundingSphere", "meshSimplification", "none")
    meshes = ("PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "MaterialBindingAPI")
    corners = ", ".join(["(0, 0), (1, 0), (1, 1), (0, 1)"] * 6)
    coordinates = f'texCoord2f[] primvars:st = [{corners}] (\n            interpolation = "faceVarying"\n        )'
    links, hinges = "", ""
    for number, kind in enumerate(kinds):
        look = ("rel material:binding = </World/Looks/Steel>", coordinates)
        shape = prim(
            "Mesh", "shape", *box_lines(0.5), *look, f'uniform token physics:approximation = "{kind}"', apis=meshes
        )
        cover = prim("Mesh", "cover", *box_lines(0.5), *look, *at(0, 0, 0.5), apis=("MaterialBindingAPI",))
        still = kind in ("meshSimplification", "none")
        links += prim("Xform", f"Link{number}", *at(1.5 * number, 0, 1), below=shape + cover,
                      apis=() if still else ("PhysicsRigidBodyAPI",))  # fmt: skip
        if number and not still:
            hinges += joint("RevoluteJoint", f"Hinge{number}", f"/World/Link{number - 1}", f"/World/Link{number}",
                            'uniform token physics:axis = "Z"', "point3f physics:localPos0 = (0.75, 0, 0)",
                            "point3f physics:localPos1 = (-0.75, 0, 0)", "float physics:lowerLimit = -45",
                            "float physics:upperLimit = 45")  # fmt: skip
    looks = prim("Scope", "Looks", below=preview_material("/World/Looks", "Steel", 0.5))
    return stage(SCENE + links + hinges + looks)


def _tendon() -> str:
    """A row of boxes with joints of PhysX between them, coupled by a tendon, with a mimic joint and forces."""

    def wheel(number: int) -> str:
        return crate(f"Wheel{number}", "float physics:mass = 0.5", "float3 physics:diagonalInertia = (0.1, 0.1, 0.1)",
                     "quatf physics:principalAxes = (1, 0, 0, 0)",
                     colour(0.75, 0.125, 0.125), "float physxRigidBody:angularDamping = 0.25",
                     *at(2 * number, 0, 0, scaled(1, 0.5, 0.25)), apis=(*CRATE, "PhysxRigidBodyAPI"))  # fmt: skip

    root = ("float physxTendon:root:stiffness = 1000", "float physxTendon:root:damping = 10",
            "float physxTendon:root:limitStiffness = 5", "float physxTendon:root:offset = 0.5")  # fmt: skip
    axis = "float[] physxTendon:{0}:gearing = [{1}]", "float[] physxTendon:{0}:forceCoefficient = [1]"
    joints = ""
    for number in range(4):
        name = "root" if number == 0 else "chain"
        lines = [line.format(name, number + 1) for line in axis]
        apis = ["PhysxTendonAxisRootAPI:root" if number == 0 else "PhysxTendonAxisAPI:chain",
                "PhysxJointAPI", "PhysicsDriveAPI:angular"]  # fmt: skip
        if number == 3:
            apis.append("PhysxMimicJointAPI:rotX")
            lines += ["float physxMimicJoint:rotX:gearing = -2",
                      "rel physxMimicJoint:rotX:referenceJoint = </World/Joint0>"]  # fmt: skip
        joints += joint("RevoluteJoint", f"Joint{number}", f"/World/Wheel{number}", f"/World/Wheel{number + 1}",
                        'uniform token physics:axis = "X"', "point3f physics:localPos0 = (1, 0, 0)",
                        "point3f physics:localPos1 = (-1, 0, 0)", "float drive:angular:physics:stiffness = 2",
                        "float physxJoint:maxJointVelocity = 360", *lines, *(root if number == 0 else ()),
                        apis=tuple(apis))  # fmt: skip
    fan = crate("Fan", "vector3f physxForce:force = (0, 0, 5)", "bool physxForce:worldFrameEnabled = 0",
                *at(0, 5, 0), apis=(*CRATE, "PhysxForceAPI"))  # fmt: skip
    scene = prim("PhysicsScene", "Scene", 'uniform token physxScene:solverType = "TGS"', apis=("PhysxSceneAPI",))
    return stage(scene + "".join(map(wheel, range(5))) + joints + fan)


def _two_arms() -> str:
    """Two articulations whose roots are no bodies, applied as explicit lists; a range of time."""

    def arm(name: str, x: float) -> str:
        links = "".join(
            crate(f"Link{number}", colour(number / 4, 0.5, 0), *at(x, number, 3, scaled(0.25, 0.75, 0.25)),
                  apis=("PhysicsCollisionAPI", "PhysicsRigidBodyAPI"))
            for number in range(4)
        )  # fmt: skip
        joints = "".join(
            joint("RevoluteJoint", f"Joint{number}", f"/World/{name}/Link{number - 1}", f"/World/{name}/Link{number}",
                  'uniform token physics:axis = "X"', "point3f physics:localPos0 = (0, 0.6666667, 0)",
                  "point3f physics:localPos1 = (0, -0.6666667, 0)", "float drive:angular:physics:damping = 1000",
                  "float physics:lowerLimit = -6", "float physics:upperLimit = 6", apis=("PhysicsDriveAPI:angular",))
            for number in range(1, 4)
        )  # fmt: skip
        base = joint("FixedJoint", "Base", "", f"/World/{name}/Link0", f"point3f physics:localPos0 = ({x}, 0, 3)")
        return prim("Xform", name, apis=("PhysicsArticulationRootAPI",), below=links + joints + base)

    text = stage(SCENE + arm("Left", -2.5) + arm("Right", 2.5)).replace("prepend apiSchemas", "apiSchemas")
    return text.replace('    upAxis = "Z"', '    upAxis = "Z"\n    startTimeCode = 0\n    endTimeCode = 48\n'
                                            "    timeCodesPerSecond = 24")  # fmt: skip


#: Files by their name in the folder of USD files.
FILES: dict[str, str] = {
    "box_on_quad.usda": _box_on_quad(),
    "groups.usda": _groups(),
    "merged_groups.usda": _merged_groups(),
    "joints.usda": _joints(),
    "nested_articulation.usda": _nested_articulation(),
    "bare_joint.usda": _bare_joint(),
    "world_joint.usda": _world_joint(),
    "two_scenes.usda": _two_scenes(),
    "filtered_pairs.usda": _filtered_pairs(),
    "face_materials.usda": _face_materials(),
    "decagrams.usda": _decagrams(),
    "compound.usda": _compound(),
    "mirrored_meshes.usda": _mirrored_meshes(),
    "fourbar.usda": _fourbar(),
    "generic_joint.usda": _generic_joint(),
    "cones.usda": _round_shapes("Cone"),
    "ellipsoids.usda": _round_shapes("Sphere"),
    "named_operations.usda": _named_operations(),
    "nested_by_mistake.usd": _nested_by_mistake(),
    "kinematic_root.usd": _kinematic_root(),
    "walker.usda": _walker(),
    "cart.usda": _cart(),
    "mesh_arm.usda": _mesh_arm(),
    "tendon.usda": _tendon(),
    "two_arms.usda": _two_arms(),
}
