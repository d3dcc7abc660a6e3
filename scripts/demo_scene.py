# SPDX-License-Identifier: GPL-3.0-or-later
"""The two scenes of the demonstration: a playground of USD Physics, and one of Blender's own rigid bodies.

Needs Blender (bpy) with the properties of the extension registered. `demo_scene.py FOLDER` registers them, saves both
scenes, that of `demo_generators.py` and a picture there, and expected.json: what the files made of them must hold.
"""

from __future__ import annotations

import json
import math
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy

# isort: split
# Outside Blender bpy brings these.
import bmesh
from mathutils import Euler, Matrix, Vector

Triple = tuple[float, float, float]
ORIGIN: Triple = (0.0, 0.0, 0.0)
FRAMES = 120

#: Colour, and (density kg/m3, static friction, dynamic friction, restitution) of what is a material of physics, too.
MATERIALS: dict[str, tuple[str, tuple[float, float, float, float] | None]] = {
    "Ground": ("e6e1d6", (2400.0, 0.8, 0.7, 0.1)),
    "Concrete": ("a9adb5", (2400.0, 0.8, 0.7, 0.1)),
    "Steel": ("9fb4c8", (7850.0, 0.5, 0.4, 0.1)),
    "Wood": ("e0a868", (650.0, 0.6, 0.5, 0.2)),
    "Rubber": ("50555e", (1200.0, 1.0, 0.9, 0.6)),
    "Oak": ("a87148", None),
    "Brass": ("f2c14e", None),
    "Dark": ("5d636d", None),
    "Red": ("ee5a4f", None),
    "Blue": ("4d8fe6", None),
    "Green": ("6cc070", None),
    "Orange": ("fb9a3c", None),
    "Cream": ("faf2e2", None),
    "Teal": ("45c0b4", None),
    "Violet": ("a47bd6", None),
    "Sky": ("8fd0f5", None),
    "Mat": ("cfdbe4", None),
}

#: What the playground holds, by our own count.
COUNTS = {"scenes": 1, "bodies": 59, "colliders": 86, "joints": 28, "groups": 2, "materials": 5, "articulations": 7}
#: The same as OpenUSD's parsing utilities see it, by object type.
PARSED = {
    "Scene": 1, "RigidBody": 59, "RigidBodyMaterial": 5, "CollisionGroup": 2, "Articulation": 7,
    "CubeShape": 44, "SphereShape": 15, "CylinderShape": 13, "CapsuleShape": 12, "MeshShape": 2,
    "FixedJoint": 5, "RevoluteJoint": 8, "PrismaticJoint": 1, "SphericalJoint": 13, "D6Joint": 1,
}  # fmt: skip
#: What they see in the scene of Blender's own rigid bodies.
PARSED_RIGID = {
    "Scene": 1, "RigidBody": 17, "RigidBodyMaterial": 7,
    "CubeShape": 17, "SphereShape": 1, "CylinderShape": 1, "CapsuleShape": 1, "ConeShape": 1,
    "FixedJoint": 1, "RevoluteJoint": 1, "PrismaticJoint": 1, "SphericalJoint": 1, "D6Joint": 1,
}  # fmt: skip

#: Metres per second; the ball flies for two seconds and touches nothing.
BALL_VELOCITY: Triple = (0.8, 0.4, 9.9)


# --------------------------------------------------------------------------- shapes


@dataclass(slots=True)
class Part:
    """One shape of a mesh, and a collider of the same size and place where it `collides`.

    size: edge lengths of a box; (radius, height) of what is round, the height of a capsule without its caps.
    """

    shape: str
    size: Sequence[float]
    material: str
    center: Triple = ORIGIN
    axis: str = "Z"
    collides: bool = True
    bevel: float = 0.015


def _part(text: str) -> Part:
    """As demo_parts.toml has it: "CUBE 1.7 0.74 0.2 Red at 0 0 1 along X bevel 0.05 seen"."""
    shape, *words = text.split()
    number = next(place for place, word in enumerate(words) if word in MATERIALS)
    part = Part(shape, tuple(map(float, words[:number])), words[number], collides=words[-1] != "seen")
    for place, word in enumerate(words):
        if word == "at":
            x, y, z = map(float, words[place + 1 : place + 4])
            part.center = (x, y, z)
        elif word == "along":
            part.axis = words[place + 1]
        elif word == "bevel":
            part.bevel = float(words[place + 1])
    return part


#: Parts of the things that are alike in every scene, by name.
PARTS = {
    name: list(map(_part, texts))
    for name, texts in tomllib.loads(Path(__file__).with_name("demo_parts.toml").read_text(encoding="utf-8")).items()
}


def _box(bm: bmesh.types.BMesh, part: Part) -> list[Any]:
    verts = bmesh.ops.create_cube(bm, size=1.0)["verts"]
    bmesh.ops.scale(bm, vec=Vector(part.size), verts=verts)
    edges = {edge for vert in verts for edge in vert.link_edges}
    width = min(part.bevel, 0.2 * min(part.size))
    bmesh.ops.bevel(bm, geom=list(edges), offset=width, segments=2, profile=0.5, affect="EDGES")
    return []


def _cylinder(bm: bmesh.types.BMesh, part: Part) -> list[Any]:
    radius, height = part.size
    tip = 0.0 if part.shape == "CONE" else radius
    verts = bmesh.ops.create_cone(
        bm, cap_ends=True, segments=40, radius1=radius, radius2=tip, depth=height
    )["verts"]  # fmt: skip
    faces = {face for vert in verts for face in vert.link_faces}
    return [face for face in faces if len(face.verts) <= 4]


def _sphere(bm: bmesh.types.BMesh, part: Part) -> list[Any]:
    radius = part.size[0]
    half = part.size[1] / 2 if part.shape == "CAPSULE" else 0.0
    verts = bmesh.ops.create_uvsphere(bm, u_segments=24, v_segments=13, radius=radius)["verts"]
    for vert in verts:
        vert.co.z += math.copysign(half, vert.co.z)
    return list({face for vert in verts for face in vert.link_faces})


_MAKERS: dict[str, Callable[[bmesh.types.BMesh, Part], list[Any]]] = {
    "CUBE": _box, "CYLINDER": _cylinder, "CONE": _cylinder, "SPHERE": _sphere, "CAPSULE": _sphere,
}  # fmt: skip
_TURNS = {
    "X": Matrix.Rotation(math.pi / 2, 4, "Y"), "Y": Matrix.Rotation(-math.pi / 2, 4, "X"), "Z": Matrix.Identity(4),
}  # fmt: skip


def _mesh(name: str, parts: Sequence[Part]) -> bpy.types.Mesh:
    mesh = bpy.data.meshes.new(name)
    names = list(dict.fromkeys(part.material for part in parts))
    whole = bmesh.new()
    for part in parts:
        bm = bmesh.new()
        smooth = set(_MAKERS[part.shape](bm, part))
        for face in bm.faces:
            face.smooth = face in smooth
            face.material_index = names.index(part.material)
        place = Matrix.Translation(part.center)
        bm.transform(place if part.shape == "CUBE" else place @ _TURNS[part.axis])
        piece = bpy.data.meshes.new("piece")
        bm.to_mesh(piece)
        bm.free()
        whole.from_mesh(piece)
        bpy.data.meshes.remove(piece)
    whole.to_mesh(mesh)
    whole.free()
    for material in names:
        mesh.materials.append(material_of(material))
    return mesh


def material_of(name: str) -> bpy.types.Material:
    """The material of this name, made at its first use."""
    material = bpy.data.materials.get(name)
    if material is not None:
        return material
    material = bpy.data.materials.new(name)
    colour, physics = MATERIALS[name]
    linear = [(int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (0, 2, 4)]
    material.diffuse_color = (*linear, 1.0)
    if material.node_tree is None:
        material.use_nodes = True
    shader = material.node_tree.nodes.get("Principled BSDF")
    shader.inputs["Base Color"].default_value = (*linear, 1.0)
    if physics is not None:
        values = zip(("density", "static_friction", "dynamic_friction", "restitution"), physics, strict=True)
        apply(material.usdphys.physics_material, **dict(values))
    return material


# --------------------------------------------------------------------------- physics


def apply(group: Any, **values: Any) -> Any:
    """Apply a schema and author these values of it."""
    group.is_applied = True
    for name, value in values.items():
        setattr(group, name, value)
    return group


def place(obj: bpy.types.Object, parent: Any, location: Triple, turn: Triple = ORIGIN) -> bpy.types.Object:
    """Put an object into the scene, below a parent, turned by degrees."""
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = parent
    obj.location = location
    obj.rotation_euler = Euler([math.radians(angle) for angle in turn])
    return obj


def station(name: str, location: Triple = ORIGIN, turn: float = 0.0) -> bpy.types.Object:
    """An empty that carries one exhibit."""
    return place(bpy.data.objects.new(name, None), None, location, (0.0, 0.0, turn))


def thing(
    name: str, parts: Part | Sequence[Part], parent: Any, location: Triple = ORIGIN, turn: Triple = ORIGIN
) -> bpy.types.Object:
    """An object with a mesh and colliders; the collider of a single part is fitted, several have their own sizes."""
    listed = [parts] if isinstance(parts, Part) else list(parts)
    obj = place(bpy.data.objects.new(name, _mesh(name, listed)), parent, location, turn)
    for part in listed:
        if part.collides:
            collider(obj, part, fitted=len(listed) == 1)
    return obj


def made(name: str, parent: Any, location: Triple = ORIGIN, turn: Triple = ORIGIN) -> bpy.types.Object:
    """A thing of `PARTS`."""
    return thing(name, PARTS[name], parent, location, turn)


def collider(obj: bpy.types.Object, part: Part, *, fitted: bool) -> Any:
    """Add a primitive collider."""
    item = obj.usdphys.colliders.add()
    item.shape = part.shape
    if part.shape not in ("CUBE", "SPHERE"):
        item.axis = part.axis
    if fitted:
        return item
    item.location = part.center
    if part.shape == "CUBE":
        item.size = part.size
        return item
    item.radius = part.size[0]
    if part.shape != "SPHERE":
        item.height = part.size[1]
    return item


def body(obj: bpy.types.Object, mass: float | None = None, **values: Any) -> bpy.types.Object:
    """Make a rigid body of an object; without a mass the densities of its materials decide."""
    apply(obj.usdphys.rigid_body, **values)
    if mass is not None:
        apply(obj.usdphys.mass, mass=mass)
    return obj


def joint(kind: str, name: str, parent: Any, location: Triple, body0: Any, body1: Any, **values: Any) -> Any:
    """A joint on an empty of its own, which is its frame."""
    empty = place(bpy.data.objects.new(name, None), parent, location)
    empty.empty_display_type, empty.empty_display_size = "ARROWS", 0.25
    return apply(empty.usdphys.joint, type=kind, body0=body0, body1=body1, **values)


def drive(of: Any, dof: str, **values: Any) -> None:
    """Add a drive to a degree of freedom of a joint."""
    apply(getattr(of.drives, dof), **values)


def limits(of: Any, low: float, high: float, *dofs: str) -> None:
    """Limit degrees of freedom; low above high locks."""
    for dof in dofs:
        apply(getattr(of.limits, dof), low=low, high=high)


def setting(obj: bpy.types.Object, schema: str, name: str, kind: str, text: str) -> None:
    """Apply a schema of a simulator, with one of its attributes."""
    for row_name, row_type, row_text in (("", "", ""), (name, kind, text)):
        row = obj.usdphys.vendor.add()
        row.applied, row.name, row.type, row.text = schema, row_name, row_type, row_text


def fixed_base(root: bpy.types.Object, base: bpy.types.Object, mass: float) -> None:
    """Make an articulation of what is below `root`, with a base that a joint holds to the world.

    In Newton what a joint holds to an object without a body stands still.
    """
    apply(root.usdphys.articulation_root)
    joint("FIXED", f"{base.name}Anchor", root, ORIGIN, None, body(base, mass=mass))


def join_group(name: str, objects: Iterable[bpy.types.Object]) -> None:
    """Make objects members of a collision group."""
    for obj in objects:
        obj.usdphys.collision_groups.add().name = name


# --------------------------------------------------------------------------- exhibits


def _ground() -> None:
    made("Ground", None)


def _door() -> None:
    """A driven hinge: 0 to 110 degrees, driven to 70."""
    room = station("Doorway", (-0.5, 2.7, 0.0))
    frame = made("Frame", room)
    panel = made("Panel", room, (0.535, -0.2, 0.0))
    body(panel, mass=30.0)
    fixed_base(room, frame, 100.0)
    hinge = joint("REVOLUTE", "Hinge", room, (0.535, -0.2, 1.15), frame, panel, axis="Z")
    hinge.revolute.lower_limit, hinge.revolute.upper_limit = 0.0, math.radians(110)
    drive(hinge, "angular", target_position=math.radians(70), stiffness=4.0, damping=1.6, max_force=400.0)


def _stack() -> None:
    """Ten boxes, steel below and rubber on top; one starts asleep."""
    pile = station("Stack", (-2.7, 0.3, 0.0), 8.0)
    number = 0
    for row, (count, material) in enumerate(((4, "Steel"), (3, "Wood"), (2, "Wood"), (1, "Rubber"))):
        for column in range(count):
            number += 1
            x = (column - (count - 1) / 2) * 0.52
            obj = thing(f"Box{number:02}", Part("CUBE", (0.44,) * 3, material, bevel=0.03), pile,
                        (x, 0.0, 0.22 + 0.44 * row))  # fmt: skip
            body(obj, **({"starts_asleep": True} if number == 1 else {}))


def _cart() -> None:
    """A compound body with its own mass and centre of mass; the rear wheels are driven."""
    cart = station("Cart", (0.1, -2.8, 0.0))
    chassis = made("Chassis", cart, (0.0, 0.0, 0.42))
    body(chassis)
    apply(chassis.usdphys.articulation_root)
    apply(chassis.usdphys.mass, mass=120.0, center_of_mass=(0.0, 0.0, -0.08))
    for name, x, y in (("RearLeft", -0.55, 0.48), ("RearRight", -0.55, -0.48),
                       ("FrontLeft", 0.55, 0.48), ("FrontRight", 0.55, -0.48)):  # fmt: skip
        wheel = thing(f"Wheel{name}", PARTS["Wheel"], cart, (x, y, 0.28))
        body(wheel, mass=8.0)
        axle = joint("REVOLUTE", f"Axle{name}", cart, (x, y, 0.28), chassis, wheel, axis="Y")
        if name.startswith("Rear"):
            drive(axle, "angular", target_velocity=math.radians(240), damping=2.0, max_force=150.0)


def _gallows() -> None:
    """A chain of capsules, and a weight on a rod, on ball joints. MuJoCo's solver in Newton has no distance joints."""
    frame = station("Gantry", (-4.6, 2.7, 0.0))
    beam = made("Beam", frame)
    chain, pitch, lean = station("Chain", (-5.3, 2.7, 3.76)), 0.26, math.radians(32)
    swing, before = math.radians(30), None
    for index in range(12):
        at = [Vector((0.0, -math.sin(lean), -math.cos(lean))) * (pitch * (index + half)) for half in (0.0, 0.5)]
        link = thing(f"Link{index + 1:02}", Part("CAPSULE", (0.06, 0.14), "Brass" if index % 2 else "Dark"), chain,
                     tuple(at[1]), (-math.degrees(lean), 0.0, 0.0))  # fmt: skip
        body(link, mass=0.8)
        ball = joint("SPHERICAL", f"Ball{index + 1:02}", chain, tuple(at[0]), before, link, axis="Z")
        if before is not None:
            ball.spherical.cone_angle0_limit = ball.spherical.cone_angle1_limit = math.radians(75)
        else:
            apply(link.usdphys.articulation_root)
            # Newton needs the articulation, in which PhysX loses such thin links at 60 steps a second.
            setting(link, "PhysxArticulationAPI", "physxArticulation:articulationEnabled", "bool", "false")
        before = link
    weight = made("Weight", frame, (0.6, -2.1 * math.sin(swing), 3.8 - 2.1 * math.cos(swing)), (-30.0, 0.0, 0.0))
    body(weight, mass=15.0)
    fixed_base(frame, beam, 900.0)
    joint("SPHERICAL", "Rod", frame, (0.6, 0.0, 3.8), beam, weight, axis="Z")


def _arm() -> None:
    """An articulation with a fixed base; each link is parented to the one before."""
    arm = station("Arm", (2.6, 0.1, 0.0), 20.0)
    base = made("Base", arm, (0.0, 0.0, 0.15))
    turret = body(made("Turret", base, (0.0, 0.0, 0.31)), mass=25.0)
    upper = body(made("Upper", turret, (0.0, 0.0, 0.25), (0.0, -14.0, 0.0)), mass=16.0)
    fore = body(made("Fore", upper, (0.0, 0.0, 1.2), (0.0, 26.0, 0.0)), mass=9.0)
    fixed_base(arm, base, 60.0)
    yaw = joint("REVOLUTE", "Yaw", base, (0.0, 0.0, 0.16), base, turret, axis="Z")
    shoulder = joint("REVOLUTE", "Shoulder", turret, (0.0, 0.0, 0.25), turret, upper, axis="Y")
    elbow = joint("REVOLUTE", "Elbow", upper, (0.0, 0.0, 1.2), upper, fore, axis="Y")
    for each, target in ((yaw, -50.0), (shoulder, 30.0), (elbow, 25.0)):
        each.revolute.lower_limit, each.revolute.upper_limit = math.radians(-120), math.radians(120)
        drive(each, "angular", target_position=math.radians(target), stiffness=120.0, damping=16.0)


def _ghosts(scene: bpy.types.Scene) -> None:
    """Two collision groups that pass through each other and rest on the same floor."""
    yard = station("Ghosts", (-5.0, -2.9, 0.0))
    for name in ("GhostsRed", "GhostsBlue"):
        scene.usdphys.collision_groups.add().name = name
    scene.usdphys.collision_groups["GhostsRed"].filtered_groups.add().name = "GhostsBlue"
    for column in range(6):
        x, y = (column % 3 - 1) * 0.8, (column // 3 - 0.5) * 0.8
        for colour, height in (("Blue", 0.55), ("Red", 1.15 + 0.25 * (column % 3))):
            ball = thing(f"{colour}{column + 1}", Part("SPHERE", (0.25,), colour), yard, (x, y, height))
            join_group(f"Ghosts{colour}", [body(ball, mass=2.0)])


def _filters() -> None:
    """A crate that a pair filter lets through a table, beside one that rests on it."""
    corner = station("Filters", (5.4, -0.5, 0.0))
    table = made("Table", corner)
    through = body(made("CrateThrough", corner, (-0.4, 0.0, 1.5)))
    body(made("CrateOn", corner, (0.4, 0.0, 1.35)))
    apply(through.usdphys.filtered_pairs).filtered_pairs.add().object = table
    apply(through.usdphys.mass, density=300.0)


def _hologram() -> None:
    """A box whose collider is disabled, and a ball that falls through it."""
    show = station("Show", (-2.3, -2.6, 0.0), -12.0)
    hologram = made("Hologram", show, (0.0, 0.0, 0.46))
    collider(hologram, Part("CUBE", (0.88,) * 3, "Teal"), fitted=True).collision_enabled = False
    drop = made("Drop", show, (0.0, 0.0, 1.3))
    body(drop, mass=2.0)


def _lift() -> None:
    """A platform that keyframes move, with a crate on it."""
    lift = station("Lift", (-5.6, -0.1, 0.0))
    platform = made("Platform", lift, (0.0, 0.0, 0.5))
    body(platform, kinematic_enabled=True)
    for frame, height in ((1, 0.5), (FRAMES // 2, 1.4), (FRAMES, 0.5)):
        platform.location.z = height
        platform.keyframe_insert("location", index=2, frame=frame)
    platform.location.z = 0.5
    body(made("Cargo", lift, (0.1, 0.0, 0.87)))


def _slider() -> None:
    """A carriage on two rails, driven to one end of its limits."""
    track = station("Slider", (2.5, 2.9, 0.0))
    rails = made("Rails", track)
    carriage = body(made("Carriage", track, (-0.7, 0.0, 1.12)), mass=20.0)
    fixed_base(track, rails, 300.0)
    slide = joint("PRISMATIC", "Slide", track, (-0.7, 0.0, 1.12), rails, carriage, axis="X")
    slide.prismatic.lower_limit, slide.prismatic.upper_limit = -0.1, 1.5
    drive(slide, "linear", target_position=1.2, stiffness=300.0, damping=140.0, max_force=500.0)


def _turntable() -> None:
    """A generic joint: a disc that turns freely and sits on a spring, with a gem on it."""
    post = station("Turntable", (5.7, 2.4, 0.0))
    column = made("Column", post, (0.0, 0.0, 0.25))
    disc = body(made("Disc", post, (0.0, 0.0, 0.85)), mass=25.0)
    fixed_base(post, column, 90.0)
    # PhysX has no such joint in reduced coordinates.
    setting(post, "PhysxArticulationAPI", "physxArticulation:articulationEnabled", "bool", "false")
    generic = joint("GENERIC", "SpringTurn", post, (0.0, 0.0, 0.85), column, disc)
    limits(generic, 1.0, -1.0, "transX", "transY", "rotX", "rotY")
    limits(generic, -0.2, 0.2, "transZ")
    # Newton locks what has no limits.
    limits(generic, -math.inf, math.inf, "rotZ")
    drive(generic, "transZ", stiffness=6000.0, damping=300.0)
    drive(generic, "rotZ", target_velocity=math.radians(90), damping=1.0)
    gem = place(bpy.data.objects.new("Gem", _gem_mesh()), post, (0.0, 0.0, 1.26))
    gem.usdphys.colliders.add().shape = "MESH"
    gem.usdphys.colliders[0].approximation = "convexHull"
    body(gem, mass=3.0)


def _gem_mesh() -> bpy.types.Mesh:
    mesh, bm = bpy.data.meshes.new("Gem"), bmesh.new()
    bmesh.ops.create_icosphere(bm, subdivisions=1, radius=0.36)
    bm.to_mesh(mesh)
    bm.free()
    mesh.materials.append(material_of("Teal"))
    return mesh


def _suzanne() -> None:
    """A mesh with a convex decomposition falls on a plinth."""
    made("Plinth", None, (-0.15, -0.35, 0.15))
    bpy.ops.mesh.primitive_monkey_add(size=1.1, location=(-0.15, -0.35, 0.98))
    monkey = bpy.context.object
    monkey.name = monkey.data.name = "Suzanne"
    monkey.rotation_euler.z = math.radians(18)
    monkey.data.materials.append(material_of("Brass"))
    monkey.data.polygons.foreach_set("use_smooth", [True] * len(monkey.data.polygons))
    item = monkey.usdphys.colliders.add()
    item.shape, item.approximation = "MESH", "convexDecomposition"
    monkey.usdphys.physics_material = material_of("Wood")
    body(monkey)


def _cannon() -> None:
    """A ball in free flight for two seconds, from an initial velocity and gravity alone."""
    gun = station("Cannon", (4.9, -3.1, 0.0))
    made("Mount", gun, (0.0, 0.0, 0.15))
    made("Barrel", gun, (0.0, 0.0, 0.7), (0.0, 7.0, 0.0))
    ball = made("Ball", gun, (0.12, 0.0, 1.5))
    body(ball, mass=5.0, velocity=BALL_VELOCITY)


def build_playground() -> None:
    """Build the playground in the current scene, which is empty."""
    scene = bpy.context.scene
    scene.name = "Playground"
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.usdphys.physics_scenes.add().name = "Earth"
    scene.usdphys.physics_scenes["Earth"].gravity_magnitude = 9.81
    _ground()
    for exhibit in (_door, _stack, _cart, _gallows, _arm, _filters, _hologram, _lift, _slider, _turntable,
                    _suzanne, _cannon):  # fmt: skip
        exhibit()
    _ghosts(scene)
    bpy.context.view_layer.update()


# --------------------------------------------------------------------------- Blender's own rigid bodies


def _rigid(name: str, part: Part, location: Triple, kind: str = "ACTIVE", **values: Any) -> bpy.types.Object:
    obj = thing(name, replace(part, collides=False), None, location)
    bpy.context.scene.rigidbody_world.collection.objects.link(obj)
    obj.rigid_body.type = kind
    obj.rigid_body.collision_shape = {"CUBE": "BOX"}.get(part.shape, part.shape)
    for key, value in values.items():
        setattr(obj.rigid_body, key, value)
    return obj


def _constraint(kind: str, name: str, location: Triple, one: Any, two: Any, **values: Any) -> None:
    empty = place(bpy.data.objects.new(name, None), None, location)
    bpy.context.scene.rigidbody_world.constraints.objects.link(empty)
    settings = {"type": kind, "object1": one, "object2": two, **values}
    for key, value in settings.items():
        setattr(empty.rigid_body_constraint, key, value)


def build_rigid_bodies() -> None:
    """Build a scene of Blender's own rigid bodies and constraints in the current scene, which is empty."""
    bpy.ops.rigidbody.world_add()
    world = bpy.context.scene.rigidbody_world
    world.collection = bpy.data.collections.new("RigidBodies")
    world.constraints = bpy.data.collections.new("Constraints")
    _rigid("Floor", Part("CUBE", (12.0, 6.0, 0.4), "Ground"), (0.0, 0.0, -0.2), "PASSIVE", friction=0.7)
    for index in range(9):
        _rigid(f"Domino{index + 1}", Part("CUBE", (0.08, 0.4, 0.8), "Wood"), (index * 0.42 - 4.0, -1.6, 0.4), mass=2.0)
    _rigid("Marble", Part("SPHERE", (0.3,), "Steel"), (-4.8, -1.6, 1.4), mass=6.0, friction=0.3, restitution=0.4)
    _rigid("Drum", Part("CYLINDER", (0.3, 0.6), "Red"), (2.0, -1.6, 0.3), mass=8.0)
    _rigid("Hat", Part("CONE", (0.4, 0.8), "Violet"), (3.2, -1.6, 0.4), mass=3.0)
    post = _rigid("Post", Part("CUBE", (0.2, 0.2, 2.0), "Concrete"), (-4.0, 1.0, 1.0), "PASSIVE")
    gate = _rigid("Gate", Part("CUBE", (1.2, 0.08, 1.4), "Wood"), (-3.2, 1.0, 1.0), mass=12.0)
    _constraint("HINGE", "GateHinge", (-3.85, 1.0, 1.0), post, gate, use_limit_ang_z=True,
                limit_ang_z_lower=math.radians(-90), limit_ang_z_upper=math.radians(90))  # fmt: skip
    rail = _rigid("Rail", Part("CUBE", (2.4, 0.2, 0.2), "Steel"), (-0.6, 1.0, 0.6), "PASSIVE")
    sled = _rigid("Sled", Part("CUBE", (0.4, 0.4, 0.2), "Teal"), (-1.2, 1.0, 0.85), mass=4.0)
    _constraint("SLIDER", "SledSlide", (-1.2, 1.0, 0.85), rail, sled, use_limit_lin_x=True,
                limit_lin_x_lower=0.0, limit_lin_x_upper=1.2)  # fmt: skip
    hook = _rigid("Hook", Part("CUBE", (0.3, 0.3, 0.3), "Dark"), (2.0, 1.0, 2.6), "PASSIVE")
    lamp = _rigid("Lamp", Part("CAPSULE", (0.15, 0.6), "Brass"), (2.0, 1.0, 1.9), mass=3.0)
    _constraint("POINT", "LampBall", (2.0, 1.0, 2.4), hook, lamp)
    tray = _rigid("Tray", Part("CUBE", (0.8, 0.8, 0.1), "Green"), (3.6, 1.0, 1.2), mass=5.0)
    handle = _rigid("Handle", Part("CUBE", (0.1, 0.1, 0.4), "Red"), (3.6, 1.0, 1.5), mass=0.5)
    _constraint("FIXED", "Glue", (3.6, 1.0, 1.27), tray, handle)
    _constraint("GENERIC_SPRING", "Spring", (3.6, 1.0, 0.8), hook, tray, use_spring_z=True,
                spring_stiffness_z=200.0, spring_damping_z=5.0)  # fmt: skip
    bpy.context.view_layer.update()


# --------------------------------------------------------------------------- picture


def set_up_picture(width: int = 960, height: int = 540) -> None:
    """Camera and Workbench settings of the current scene."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    place(camera, None, (5.0, -17.3, 10.4))
    camera.rotation_euler = (Vector((0.05, -0.5, 0.8)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    camera.data.lens = 41.0
    scene.camera = camera
    render = scene.render
    render.engine = "BLENDER_WORKBENCH"
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    render.image_settings.compression, render.dither_intensity = 100, 0.0
    scene.view_settings.view_transform, scene.view_settings.exposure = "Standard", 0.3
    scene.display.render_aa = "16"
    scene.display.light_direction = (0.45, 0.4, 0.8)
    scene.display.shadow_focus = 0.4
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    if "paint.sl" in bpy.context.preferences.studio_lights:
        shading.studio_light = "paint.sl"
    shading.show_shadows, shading.shadow_intensity = True, 0.35
    shading.show_cavity, shading.cavity_type = True, "BOTH"
    shading.show_specular_highlight = True


def draw_picture(path: Path) -> None:
    """Render the current scene in front of a sky, which is not kept: Blender would export it as a light."""
    scene = bpy.context.scene
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.50, 0.62, 0.72)
    # A picture that goes into the repository names no folders of the machine that made it.
    for stamp in ("filename", "date", "time", "hostname", "render_time", "memory"):
        setattr(scene.render, f"use_stamp_{stamp}", False)
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)


def main(folder: Path) -> None:
    """Make both scenes, the picture and the expected figures in a folder."""
    import demo_generators

    from usdphys_addon.bridge import props

    props.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.preferences.filepaths.save_version = 0
    demo_generators.build()
    generators_joints = {
        "generators.usda": demo_generators.joints(bpy.context.scene.objects),
        "generators_newton.usda": demo_generators.joints(bpy.data.collections[demo_generators.NEWTON].objects),
    }
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "generators.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.preferences.filepaths.save_version = 0
    build_rigid_bodies()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "rigid.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.preferences.filepaths.save_version = 0
    build_playground()
    set_up_picture()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "demo.blend"))
    expected = {
        "counts": COUNTS, "parsed": PARSED, "parsed_rigid": PARSED_RIGID, "parsed_generators": demo_generators.PARSED,
        "parsed_newton": demo_generators.PARSED_NEWTON, "generators_joints": generators_joints,
        "ball_velocity": BALL_VELOCITY,
    }  # fmt: skip
    (folder / "expected.json").write_text(json.dumps(expected, indent=1), encoding="utf-8")
    draw_picture(folder / "demo.png")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    main(Path(sys.argv[1]).resolve())
