"""Blender's rigid body world -> properties. What Bullet does is simulated in Blender itself, not assumed."""

import itertools
import math
import random

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.authoring import blender_rigid_bodies
from usdphys_ext.usdphys_addon.authoring.blender_rigid_bodies import convert_scene
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.bridge.animated import curves_of
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

LINEAR = ("lin_x", "lin_y", "lin_z")
ANGULAR = ("ang_x", "ang_y", "ang_z")
FPS, SUBSTEPS = 24, 10
#: A lever across each axis, and the direction of gravity that turns it right-handed about that axis.
LEVERS = {"x": ((0, 2, 0), (0, 0, 1)), "y": ((0, 0, 2), (1, 0, 0)), "z": ((2, 0, 0), (0, 1, 0))}


@pytest.fixture
def scene():
    bpy.ops.rigidbody.world_add()
    scene = bpy.context.scene
    world = scene.rigidbody_world
    world.collection = bpy.data.collections.new("Bodies")
    world.constraints = bpy.data.collections.new("Constraints")
    world.substeps_per_frame, scene.render.fps = SUBSTEPS, FPS
    world.point_cache.frame_end = scene.frame_end = 500
    scene.gravity = (0, 0, -10)
    return scene


def add_box(name, half=(0.5, 0.5, 0.5), *, location=(0, 0, 0), offset=(0, 0, 0), parent=None, member=True, **settings):
    """A box-shaped mesh with a rigid body that has no damping and never sleeps."""
    signs = list(itertools.product((-1, 1), repeat=3))
    vertices = [[sign * size + shift for sign, size, shift in zip(row, half, offset, strict=True)] for row in signs]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    obj = bpy.data.objects.new(name, mesh)
    obj.location, obj.parent = location, parent
    scene = bpy.context.scene
    scene.collection.objects.link(obj)
    if member:
        scene.rigidbody_world.collection.objects.link(obj)
        defaults = {"linear_damping": 0, "angular_damping": 0, "use_deactivation": False, "collision_shape": "BOX"}
        for key, value in {**defaults, **settings}.items():
            setattr(obj.rigid_body, key, value)
    return obj


def add_constraint(kind, object1, object2, **settings):
    obj = bpy.data.objects.new(f"{kind} constraint", None)
    scene = bpy.context.scene
    scene.collection.objects.link(obj)
    scene.rigidbody_world.constraints.objects.link(obj)
    for key, value in {"type": kind, "object1": object1, "object2": object2, **settings}.items():
        setattr(obj.rigid_body_constraint, key, value)
    return obj


def layers(*numbers):
    return [index + 1 in numbers for index in range(20)]


def add_pair(location=(0, 0, 0), gravity=(0, 0, -10), **settings):
    """A static body and an active one that pass through each other."""
    bpy.context.scene.gravity = gravity
    anchor = add_box("Anchor", type="PASSIVE", collision_collections=layers(1))
    return anchor, add_box("Arm", location=location, collision_collections=layers(2), **settings)


def limits(low, high, *names):
    return {
        key: value
        for name in names
        for key, value in {
            f"use_limit_{name}": True, f"limit_{name}_lower": low, f"limit_{name}_upper": high,
        }.items()
    }  # fmt: skip


def simulate(frames, obj):
    """World matrices of an object at every frame from the first, (frames, 4, 4)."""
    scene = bpy.context.scene
    poses = []
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
        poses.append(np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world))
    scene.frame_set(1)
    return np.array(poses)


def angle_about(matrix, axis):
    """Right-handed angle of a rotation about one axis."""
    one, two = ("xyz".index(axis) + 1) % 3, ("xyz".index(axis) + 2) % 3
    return math.atan2(matrix[two, one], matrix[one, one])


def authored(group):
    """Everything that is set in a property group, recursively."""
    found = {}
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if name == "rna_type":
            continue
        value = getattr(group, name)
        if prop.type == "POINTER" and isinstance(value, bpy.types.PropertyGroup):
            found[name] = authored(value)
        elif prop.type == "COLLECTION":
            found[name] = [authored(item) for item in value]
        elif group.is_property_set(name):
            found[name] = tuple(value) if getattr(prop, "is_array", False) else value
    return {name: value for name, value in found.items() if value not in ({}, [], None)}


def everything():
    scene = bpy.context.scene
    return (
        {obj.name: authored(obj.usdphys) for obj in scene.objects},
        authored(scene.usdphys),
        {material.name: authored(material.usdphys) for material in bpy.data.materials},
    )


def read_model():
    return scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model


# ---------------------------------------------------------------------- bodies


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"is_applied": True}),
        ({"kinematic": True}, {"is_applied": True, "kinematic_enabled": True}),
        ({"enabled": False}, {"is_applied": True, "rigid_body_enabled": False}),
        ({"enabled": False, "kinematic": True}, {"is_applied": True, "kinematic_enabled": True}),
        ({"use_deactivation": True, "use_start_deactivated": True}, {"is_applied": True, "starts_asleep": True}),
        ({"use_deactivation": False, "use_start_deactivated": True}, {"is_applied": True}),
        ({"type": "PASSIVE"}, {}),
        ({"type": "PASSIVE", "enabled": False}, {}),
        ({"type": "PASSIVE", "kinematic": True}, {"is_applied": True, "kinematic_enabled": True}),
    ],
)
def test_body(scene, settings, expected):
    obj = add_box("Box", mass=3.5, **settings)
    result = convert_scene(scene)
    assert authored(obj.usdphys.rigid_body) == expected
    active = settings.get("type") != "PASSIVE"
    assert authored(obj.usdphys.mass) == ({"is_applied": True, "mass": 3.5} if active else {})
    assert (result.bodies, result.colliders) == (bool(expected), 1)


def test_body_asleep_as_in_blender(scene):
    asleep = add_box("Asleep", use_deactivation=True, use_start_deactivated=True)
    awake = add_box("Awake", location=(5, 0, 0), use_deactivation=False, use_start_deactivated=True)
    assert simulate(10, asleep)[-1, 2, 3] == 0
    assert simulate(10, awake)[-1, 2, 3] < -0.1


@pytest.mark.parametrize("is_modified", [False, True])
def test_keys_have_their_easing_and_modifiers_are_named(scene, is_modified):
    box = add_box("Heavy", mass=1.0)
    for frame, mass in ((1, 1.0), (21, 5.0)):
        box.rigid_body.mass = mass
        box.rigid_body.keyframe_insert("mass", frame=frame)
    ((curve, _),) = curves_of(box)
    curve.keyframe_points[0].interpolation, curve.keyframe_points[0].easing = "BOUNCE", "EASE_IN"
    if is_modified:
        curve.modifiers.new("CYCLES")
    result = convert_scene(scene)
    assert bool([note for note in result.notes if "Animated, Enabled and Mass" in str(note)]) == is_modified
    (made,) = [one for one, _ in curves_of(box) if one.data_path.startswith("usdphys")]
    # Within the keys the cycles change nothing.
    assert [made.evaluate(frame) for frame in (1, 6, 11, 21)] == pytest.approx(
        [curve.evaluate(frame) for frame in (1, 6, 11, 21)]
    )


@pytest.mark.parametrize("how", ["keys", "driver"])
def test_keyed_animated_and_enabled_are_converted(scene, how):
    box = add_box("Thrown", collision_shape="CONVEX_HULL", kinematic=True)
    if how == "keys":
        for frame, kinematic, enabled in ((1, True, True), (13, False, True), (25, False, False)):
            box.rigid_body.kinematic, box.rigid_body.enabled = kinematic, enabled
            box.rigid_body.keyframe_insert("kinematic", frame=frame)
            box.rigid_body.keyframe_insert("enabled", frame=frame)
    else:
        for name, until in (("kinematic", 13), ("enabled", 25)):
            box.rigid_body.driver_add(name).driver.expression = f"frame < {until}"
    box.rigid_body.friction = 0.4
    box.rigid_body.keyframe_insert("friction", frame=1)
    scene.frame_set(1)
    result = convert_scene(scene)
    assert [note for note in result.notes if "Animated, Enabled and Mass" in str(note)]
    body = box.usdphys.rigid_body
    for frame, kinematic, enabled in ((1, True, True), (12, True, True), (13, False, True), (25, False, False)):
        scene.frame_set(frame)
        assert (body.kinematic_enabled, body.rigid_body_enabled) == (kinematic, enabled)


def test_body_passive_animated(scene):
    obj = add_box("Lift", type="PASSIVE")
    obj.keyframe_insert("location", frame=1)
    result = convert_scene(scene)
    assert authored(obj.usdphys.rigid_body) == {"is_applied": True, "kinematic_enabled": True}
    assert any("'Lift'" in note and "kinematic" in note for note in result.notes)


def test_body_passive_below_active_does_not_join_it(scene):
    parent = add_box("Parent")
    child = add_box("Child", parent=parent, type="PASSIVE")
    convert_scene(scene)
    assert child.usdphys.rigid_body.kinematic_enabled


def test_centre_of_mass_is_the_origin(scene):
    """Bullet turns a body about its origin, wherever its mesh is: the arm balances on its origin."""
    anchor, arm = add_pair()
    for vertex in arm.data.vertices:
        vertex.co.x += 3
    arm.rigid_body.collision_shape = "CONVEX_HULL"
    add_constraint("HINGE", anchor, arm).rotation_euler = (math.pi / 2, 0, 0)
    convert_scene(scene)
    assert tuple(arm.usdphys.mass.center_of_mass) == (0, 0, 0)
    assert arm.usdphys.mass.is_property_set("center_of_mass")
    assert angle_about(simulate(48, arm)[-1], "y") == pytest.approx(0, abs=1e-3)


# ---------------------------------------------------------------------- colliders

HALF = (0.3, 0.5, 0.7)
UNEVEN = (2.0, 1.5, 3.0)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("BOX", {"shape": "CUBE", "size": (0.6, 1.0, 1.4)}),
        ("SPHERE", {"shape": "SPHERE", "radius": 0.7}),
        ("CAPSULE", {"shape": "CAPSULE", "radius": 0.5, "height": 0.4}),
        ("CYLINDER", {"shape": "CYLINDER", "radius": 0.5, "height": 1.4}),
        ("CONE", {"shape": "CONE", "radius": 0.5, "height": 1.4}),
    ],
)
def test_primitive_around_the_origin(scene, shape, expected):
    obj = add_box("Box", HALF, offset=(5, 6, 7), collision_shape=shape)
    obj.scale = (4, 4, 4)
    convert_scene(scene)
    (item,) = obj.usdphys.colliders
    values = authored(item)
    assert values.pop("location") == (0, 0, 0)
    assert set(values) == set(expected)
    for name, value in expected.items():
        assert values[name] == (value if name == "shape" else pytest.approx(value, abs=1e-5))


def lowest(prim):
    """How far a primitive reaches below the origin of its prim."""
    down, kind = -prim.world[2, :3], prim.get(usd_geom.Gprim)
    across, along = math.hypot(down[0], down[1]), down[2]
    if isinstance(kind, usd_geom.Cube):
        return float(np.abs(down).sum() * kind.size / 2)
    if isinstance(kind, usd_geom.Sphere):
        return kind.radius * float(np.linalg.norm(down))
    if isinstance(kind, usd_geom.Capsule):
        return kind.radius * float(np.linalg.norm(down)) + abs(along) * kind.height / 2
    if isinstance(kind, usd_geom.Cylinder):
        return kind.radius * across + abs(along) * kind.height / 2
    return max(along * kind.height / 2, kind.radius * across - along * kind.height / 2)


# Bullet's bounding box of an uneven cylinder is not its shape: lying on that side it sinks in and is thrown out again.
@pytest.mark.parametrize(
    ("shape", "turn"),
    [
        pair
        for pair in itertools.product(
            ("BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE"),
            ((0, 0, 0), (math.pi / 2, 0, 0), (0, math.pi / 2, 0)),
        )
        if pair != ("CYLINDER", (math.pi / 2, 0, 0))
    ],
)
def test_primitive_is_as_large_as_in_bullet(scene, shape, turn):
    """An unevenly scaled object comes to rest in Blender as high as the exported primitive reaches down."""
    add_box("Floor", (50, 50, 1), location=(0, 0, -1), type="PASSIVE")
    obj = add_box("Box", HALF, location=(0, 0, 2.4), collision_shape=shape, use_margin=True, collision_margin=0)
    obj.rotation_euler, obj.scale, obj.lock_rotation, obj.lock_location = turn, UNEVEN, (True,) * 3, (True, True, False)
    convert_scene(scene)
    (prim,) = (prim for prim in read_model().prims.values() if prim.label == "Box" and prim.get(usd_geom.Gprim))
    assert simulate(100, obj)[-1, 2, 3] == pytest.approx(lowest(prim), abs=0.02)


@pytest.mark.parametrize(
    ("shape", "kind", "approximation", "noted"),
    [
        ("CONVEX_HULL", "ACTIVE", "convexHull", False),
        ("CONVEX_HULL", "PASSIVE", "convexHull", False),
        ("MESH", "PASSIVE", "none", False),
        ("MESH", "ACTIVE", "convexDecomposition", True),
    ],
)
def test_mesh_shape(scene, shape, kind, approximation, noted):
    obj = add_box("Box", collision_shape=shape, type=kind)
    result = convert_scene(scene)
    assert [authored(item) for item in obj.usdphys.colliders] == [{"shape": "MESH", "approximation": approximation}]
    assert any("decomposition" in note for note in result.notes) == noted


def test_kinematic_mesh_keeps_its_triangles(scene):
    obj = add_box("Box", collision_shape="MESH", kinematic=True)
    convert_scene(scene)
    assert obj.usdphys.colliders[0].approximation == "none"


def test_mesh_without_faces_collides_as_box(scene):
    obj = add_box("Box", collision_shape="MESH", type="PASSIVE")
    obj.data.clear_geometry()
    obj.data.from_pydata([(-1, -1, -1), (1, 1, 1)], [], [])
    convert_scene(scene)
    assert obj.usdphys.colliders[0].shape == "CUBE"
    assert tuple(obj.usdphys.colliders[0].size) == (2, 2, 2)


def test_bounding_box_has_the_modifiers(scene):
    obj = add_box("Box")
    array = obj.modifiers.new("Array", "ARRAY")
    array.use_relative_offset, array.use_constant_offset = False, True
    array.constant_offset_displace = (0, 0, 2)
    convert_scene(scene)
    assert tuple(obj.usdphys.colliders[0].size) == pytest.approx((1, 1, 3))


def test_compound(scene):
    parent = add_box("Parent", collision_shape="COMPOUND", friction=0.9, mass=7)
    child = add_box("Child", parent=parent, friction=0.1, mass=2, collision_shape="SPHERE")
    grandchild = add_box("Grandchild", parent=child)
    result = convert_scene(scene)
    assert parent.usdphys.rigid_body.is_applied and parent.usdphys.mass.mass == 7
    assert len(parent.usdphys.colliders) == 0 and parent.usdphys.physics_material is None
    assert authored(child.usdphys.rigid_body) == authored(child.usdphys.mass) == {}
    assert [item.shape for item in child.usdphys.colliders] == ["SPHERE"]
    assert child.usdphys.physics_material.usdphys.physics_material.static_friction == pytest.approx(0.9)
    # Only what is right below a compound is a shape of it.
    assert grandchild.usdphys.rigid_body.is_applied
    assert (result.bodies, result.colliders) == (2, 2)


@pytest.mark.parametrize("shape", ["BOX", "SPHERE", "CAPSULE", "CYLINDER"])
def test_compound_ignores_the_scale_of_its_children(scene, shape):
    add_box("Floor", (50, 50, 1), location=(0, 0, -1), type="PASSIVE")
    parent = add_box("Parent", location=(0, 0, 2.2), collision_shape="COMPOUND")
    parent.lock_rotation, parent.scale = (True,) * 3, (2, 2, 2)
    child = add_box("Child", (0.2, 0.2, 0.5), parent=parent, collision_shape=shape)
    child.scale = (3, 4, 5)
    convert_scene(scene)
    (prim,) = (prim for prim in read_model().prims.values() if prim.label == "Child")
    assert simulate(100, parent)[-1, 2, 3] == pytest.approx(1, abs=0.02)
    assert lowest(prim) == pytest.approx(1, abs=1e-4)


# ---------------------------------------------------------------------- materials


def test_materials_are_shared_and_reused(scene):
    objects = [add_box(f"Box{i}", friction=value, restitution=0.25) for i, value in enumerate((0.5, 0.5, 0.8))]
    result = convert_scene(scene)
    names = [obj.usdphys.physics_material.name for obj in objects]
    assert names == ["Friction 0.5 Restitution 0.25"] * 2 + ["Friction 0.8 Restitution 0.25"]
    assert result.materials == 2
    values = authored(objects[2].usdphys.physics_material.usdphys.physics_material)
    assert values == {
        "is_applied": True, "static_friction": pytest.approx(0.8), "dynamic_friction": pytest.approx(0.8),
        "restitution": 0.25,
    }  # fmt: skip
    convert_scene(scene, replace=True)
    assert len(bpy.data.materials) == 2


def test_material_that_was_changed_is_not_reused(scene):
    obj = add_box("Box")
    convert_scene(scene)
    first = obj.usdphys.physics_material
    first.usdphys.physics_material.dynamic_friction = 0.1
    convert_scene(scene, replace=True)
    assert obj.usdphys.physics_material != first
    assert obj.usdphys.physics_material.usdphys.physics_material.dynamic_friction == pytest.approx(0.5)


# ---------------------------------------------------------------------- collision groups


def groups_of(model, path):
    """Groups that a prim belongs to; the most specific include or exclude decides, as in a USD collection."""
    found = set()
    for group_path, group in groups_in(model).items():
        listed = {**dict.fromkeys(group.includes or (), True), **dict.fromkeys(group.excludes or (), False)}
        above = [name for name in listed if path == name or path.startswith(f"{name}/")]
        if above and listed[max(above, key=len)]:
            found.add(group_path)
    return found


def groups_in(model):
    found = {prim.path: prim.get(usd_physics.CollisionGroup) for prim in model.prims.values()}
    return {path: group for path, group in found.items() if group is not None}


def pairs_that_collide(model, objects):
    groups = groups_in(model)
    paths = {prim.label: prim.path for prim in model.prims.values() if prim.get(usd_physics.CollisionAPI)}

    def filters(one, other):
        return any(
            target in groups_of(model, paths[other])
            for group in groups_of(model, paths[one])
            for target in groups[group].filtered_groups or ()
        )

    return {(a, b) for a, b in itertools.combinations(objects, 2) if not (filters(a, b) or filters(b, a))}


@pytest.mark.parametrize("seed", range(6))
def test_groups_filter_the_same_pairs(scene, seed):
    """Blender's rule: objects collide when they share a collision collection. Some are parented to each other."""
    rng = random.Random(seed)
    objects = {}
    for index in range(12):
        parent = rng.choice(list(objects.values())) if objects and rng.random() < 0.5 else None
        pattern = [rng.random() < 0.4 for _ in range(4)] + [False] * 16
        objects[f"Box{index}"] = add_box(f"Box{index}", parent=parent, collision_collections=pattern)
    convert_scene(scene)
    expected = {
        (a, b)
        for a, b in itertools.combinations(objects, 2)
        if any(map(min, objects[a].rigid_body.collision_collections, objects[b].rigid_body.collision_collections))
    }
    assert pairs_that_collide(read_model(), objects) == expected
    assert 0 < len(expected) < 66


def test_groups_rule_is_bullets(scene):
    add_box("Floor", (50, 50, 1), location=(0, 0, -1), type="PASSIVE", collision_collections=layers(1, 3))
    rests = add_box("Rests", location=(0, 0, 1), collision_collections=layers(2, 3))
    falls = add_box("Falls", location=(5, 0, 1), collision_collections=layers(2))
    convert_scene(scene)
    assert pairs_that_collide(read_model(), ["Floor", "Rests", "Falls"]) == {("Floor", "Rests"), ("Rests", "Falls")}
    assert simulate(40, rests)[-1, 2, 3] == pytest.approx(0.5, abs=0.02)
    assert simulate(40, falls)[-1, 2, 3] < -2


@pytest.mark.parametrize(("patterns", "count"), [((layers(1),) * 2, 0), ((layers(2, 4),) * 2, 0), ((layers(),) * 2, 1)])
def test_groups_only_where_needed(scene, patterns, count):
    objects = [add_box(f"Box{i}", collision_collections=pattern) for i, pattern in enumerate(patterns)]
    assert convert_scene(scene).groups == count
    assert len(scene.usdphys.collision_groups) == count
    assert [len(obj.usdphys.collision_groups) for obj in objects] == [count] * 2


# ---------------------------------------------------------------------- joints


@pytest.mark.parametrize(
    ("kind", "settings", "expected"),
    [
        ("FIXED", {}, {"type": "FIXED"}),
        ("POINT", {}, {"type": "SPHERICAL"}),
        ("HINGE", {}, {"type": "REVOLUTE", "axis": "Z"}),
        ("HINGE", limits(0.5, -0.5, "ang_z"), {"type": "REVOLUTE", "axis": "Z"}),
        ("HINGE", limits(-0.25, 0.5, "ang_z"),
         {"type": "REVOLUTE", "axis": "Z", "revolute": {"lower_limit": -0.5, "upper_limit": 0.25}}),
        ("SLIDER", {}, {"type": "PRISMATIC", "axis": "X"}),
        ("SLIDER", limits(-0.25, 0.5, "lin_x"),
         {"type": "PRISMATIC", "axis": "X", "prismatic": {"lower_limit": -0.25, "upper_limit": 0.5}}),
        ("PISTON", limits(-0.25, 0.5, "ang_x"),
         {"type": "GENERIC", "limits": {
             "rotX": {"is_applied": True, "low": -0.25, "high": 0.5},
             **{dof: {"is_applied": True, "low": 1, "high": -1} for dof in ("transY", "transZ", "rotY", "rotZ")}}}),
        ("GENERIC", {}, {"type": "GENERIC"}),
        ("GENERIC", {**limits(0, 0, "lin_x"), **limits(-0.25, 0.5, "lin_y", "ang_y"), **limits(1, -1, "lin_z")},
         {"type": "GENERIC", "limits": {
             "transX": {"is_applied": True, "low": 1, "high": -1},
             "transY": {"is_applied": True, "low": -0.25, "high": 0.5},
             "rotY": {"is_applied": True, "low": -0.5, "high": 0.25}}}),
        ("MOTOR", {}, {"type": "GENERIC"}),
        # Settings that Blender shows for other types of constraint have no effect.
        ("FIXED", {**limits(-1, 1, *LINEAR, *ANGULAR), "use_spring_x": True, "use_motor_lin": True}, {"type": "FIXED"}),
    ],
)  # fmt: skip
def test_joint(scene, kind, settings, expected):
    one, two = add_box("One"), add_box("Two")
    obj = add_constraint(kind, one, two, **settings)
    result = convert_scene(scene)
    shared = {"is_applied": True, "body0": one, "body0_name": "One", "body1": two, "body1_name": "Two"}
    assert authored(obj.usdphys.joint) == {**shared, **expected}
    assert result.joints == 1


def test_joint_flags(scene):
    one, two = add_box("One"), add_box("Two")
    obj = add_constraint("FIXED", one, two, enabled=False, disable_collisions=False)
    convert_scene(scene)
    assert obj.usdphys.joint.joint_enabled is False
    assert obj.usdphys.joint.collision_enabled is True


@pytest.mark.parametrize(
    ("kind", "name", "sign"),
    [
        *((*row, sign) for row in (("HINGE", "ang_z"), ("SLIDER", "lin_x"), ("PISTON", "lin_x"), ("PISTON", "ang_x"))
          for sign in (1, -1)),
        *itertools.product(("GENERIC",), (*LINEAR, *ANGULAR), (1, -1)),
        # Generic joints with springs: the same, by name.
        ("GENERIC_SPRING", "lin_y", 1), ("GENERIC_SPRING", "ang_z", -1), ("OLD_SPRING", "lin_z", -1),
        ("OLD_SPRING", "ang_x", 1),
    ],
)  # fmt: skip
def test_joint_limits_hold_where_blender_holds(scene, kind, name, sign):
    """Gravity pushes object 2 against asymmetric limits; it stops at those that USD states of body 1 against body 0."""
    axis, turns = name[-1], name in ANGULAR
    lever, torque = LEVERS[axis]
    push = torque if turns else tuple(float(letter == axis) for letter in "xyz")
    settings = limits(-0.3, 0.8, name)
    if kind.startswith(("GENERIC", "OLD")):
        settings |= limits(0, 0, *(other for other in (*LINEAR, *ANGULAR) if other != name))
    elif kind == "PISTON":
        settings |= limits(0, 0, "ang_x" if name == "lin_x" else "lin_x")
    if kind == "OLD_SPRING":
        kind, settings["spring_type"] = "GENERIC_SPRING", "SPRING1"
    anchor, arm = add_pair(lever, tuple(10 * sign * part for part in push))
    obj = add_constraint(kind, anchor, arm, **settings)
    convert_scene(scene)
    joint = obj.usdphys.joint
    if kind == "HINGE":
        low, high = joint.revolute.lower_limit, joint.revolute.upper_limit
    elif kind == "SLIDER":
        low, high = joint.prismatic.lower_limit, joint.prismatic.upper_limit
    else:
        limit = getattr(joint.limits, f"{'rot' if turns else 'trans'}{axis.upper()}")
        low, high = limit.low, limit.high
    pose = simulate(96, arm)[-1]
    value = angle_about(pose, axis) if turns else pose["xyz".index(axis), 3] - lever["xyz".index(axis)]
    assert value == pytest.approx(high if sign > 0 else low, abs=0.01)


@pytest.mark.parametrize("spring_type", ["SPRING1", "SPRING2"])
@pytest.mark.parametrize("name", ["x", "z", "ang_z"])
def test_spring_swings_as_the_drive_does(scene, name, spring_type):
    """A body on a spring, pushed by gravity, against the equation of the drive: I q'' = Q - k q - c q'."""
    # At Blender's default of 10 a spring that turns a long lever has not converged and is too soft.
    scene.rigidbody_world.solver_iterations = 50
    turns = name.startswith("ang")
    mass, stiffness, damping = (2.0, 50.0, 3.0) if spring_type == "SPRING2" else (2.0, 50.0, 0.0)
    lever, torque = LEVERS["z"] if turns else ((0, 0, 0), tuple(float(letter == name) for letter in "xyz"))
    anchor, arm = add_pair(lever, torque, mass=mass)
    dof = f"lin_{name}" if not turns else name
    obj = add_constraint(
        "GENERIC_SPRING", anchor, arm, spring_type=spring_type,
        **limits(0, 0, *(other for other in (*LINEAR, *ANGULAR) if other != dof)),
        **{f"use_spring_{name}": True, f"spring_stiffness_{name}": stiffness, f"spring_damping_{name}": damping},
    )  # fmt: skip
    result = convert_scene(scene)
    assert any("damping of Blender 2.7 springs" in note for note in result.notes) == (spring_type == "SPRING1")
    drives = obj.usdphys.joint.drives
    drive = drives.rotZ if turns else getattr(drives, f"trans{name.upper()}")
    assert [dof for dof in usd_physics.DriveAPI.instances if getattr(drives, dof).is_applied] == (
        ["rotZ"] if turns else [f"trans{name.upper()}"]
    )
    per_radian = math.degrees(1) if turns else 1
    inertia = mass / 6 + mass * 4 if turns else mass
    force = 2 * mass if turns else mass
    k, c = drive.stiffness * per_radian, drive.damping * per_radian
    frames = 48
    poses = simulate(frames + 1, arm)
    measured = [angle_about(pose, "z") if turns else pose["xyz".index(name), 3] for pose in poses]
    assert np.abs(measured - swing(inertia, k, c, force, frames)).max() < 0.05 * np.ptp(measured)


def swing(inertia, k, c, force, frames):
    """Under-damped oscillator from rest at zero under a constant force, at every frame."""
    times = np.arange(frames + 1) / FPS
    rest, decay = force / k, c / (2 * inertia)
    omega = math.sqrt(k / inertia - decay**2)
    return rest * (1 - np.exp(-decay * times) * (np.cos(omega * times) + decay / omega * np.sin(omega * times)))


@pytest.mark.parametrize("velocity", [0.5, -0.5])
@pytest.mark.parametrize("name", ["lin", "ang"])
def test_motor_turns_as_the_drive_does(scene, name, velocity):
    anchor, arm = add_pair(gravity=(0, 0, 0))
    settings = {f"use_motor_{name}": True, f"motor_{name}_target_velocity": velocity, f"motor_{name}_max_impulse": 50}
    obj = add_constraint("MOTOR", anchor, arm, **settings)
    convert_scene(scene)
    drives = obj.usdphys.joint.drives
    drive = drives.rotX if name == "ang" else drives.transX
    assert [dof for dof in usd_physics.DriveAPI.instances if getattr(drives, dof).is_applied] == (
        ["rotX"] if name == "ang" else ["transX"]
    )
    poses = simulate(49, arm)
    values = [angle_about(pose, "x") if name == "ang" else pose[0, 3] for pose in poses]
    assert values[48] - values[24] == pytest.approx(drive.target_velocity, rel=0.01)


@pytest.mark.parametrize("name", ["lin", "ang"])
def test_motor_force(scene, name):
    """Far from its target velocity the motor pushes with the drive's greatest force, which its gain reaches too."""
    anchor, arm = add_pair(gravity=(0, 0, 0), mass=3)
    settings = {f"use_motor_{name}": True, f"motor_{name}_target_velocity": -100, f"motor_{name}_max_impulse": 0.5}
    obj = add_constraint("MOTOR", anchor, arm, **settings)
    convert_scene(scene)
    drive = obj.usdphys.joint.drives.rotX if name == "ang" else obj.usdphys.joint.drives.transX
    pose = simulate(FPS + 1, arm)[-1]
    moved, inertia = (angle_about(pose, "x"), 3 / 6) if name == "ang" else (pose[0, 3], 3)
    assert drive.max_force == pytest.approx(2 * inertia * moved, rel=0.02)
    per_radian = math.degrees(1) if name == "ang" else 1
    assert drive.damping * per_radian * 100 * 0.01 == pytest.approx(drive.max_force)


@pytest.mark.parametrize("substeps", [5, 10])
@pytest.mark.parametrize("kind", ["FIXED", "POINT", "HINGE"])
@pytest.mark.parametrize("share", [0.9, 1.1])
def test_break_force(scene, kind, substeps, share):
    """A hanging weight breaks the joint in Blender when its weight is above the break force."""
    scene.rigidbody_world.substeps_per_frame = substeps
    weight = 3 * 10
    anchor, arm = add_pair(mass=3)
    obj = add_constraint(kind, anchor, arm, use_breaking=True, breaking_threshold=share * weight / (FPS * substeps))
    convert_scene(scene)
    joint = obj.usdphys.joint
    assert joint.break_force == pytest.approx(share * weight, rel=1e-4)
    assert joint.break_torque == pytest.approx(share * weight, rel=1e-4)
    fell = simulate(30, arm)[-1, 2, 3] < -1
    assert fell == (weight > joint.break_force)


def test_no_break_force_unless_used(scene):
    obj = add_constraint("FIXED", *add_pair(), breaking_threshold=3)
    convert_scene(scene)
    assert not obj.usdphys.joint.is_property_set("break_force")


def test_joint_forces_in_other_units(scene):
    """Blender simulates in its own units: forces hold one length, torques two; plain gains hold none."""
    scene.unit_settings.scale_length = 0.1
    anchor, arm = add_pair()
    spring = add_constraint(
        "GENERIC_SPRING", anchor, arm, use_spring_x=True, use_spring_ang_x=True, spring_stiffness_x=10,
        spring_stiffness_ang_x=10, use_breaking=True, breaking_threshold=1,
    )  # fmt: skip
    motor = add_constraint("MOTOR", anchor, arm, use_motor_lin=True, use_motor_ang=True)
    convert_scene(scene)
    joint, drives = spring.usdphys.joint, motor.usdphys.joint.drives
    assert (joint.break_force, joint.break_torque) == (pytest.approx(24), pytest.approx(2.4))
    assert joint.drives.transX.stiffness == 10
    assert joint.drives.rotX.stiffness == pytest.approx(0.1 * math.radians(1))
    assert (drives.transX.max_force, drives.rotX.max_force) == (pytest.approx(0.1), pytest.approx(0.01))
    assert drives.transX.target_velocity == -1


def incomplete(case):
    box = add_box("Box")
    if case == "one object":
        return box, None
    if case == "no rigid body":
        return box, add_box("Plain", member=False)
    return box, add_box("Part", parent=add_box("Parent", collision_shape="COMPOUND"))


@pytest.mark.parametrize("case", ["one object", "no rigid body", "part of a compound"])
def test_joint_that_blender_does_not_simulate(scene, case):
    one, two = incomplete(case)
    obj = add_constraint("FIXED", two, one)
    result = convert_scene(scene)
    joint = obj.usdphys.joint
    assert joint.is_applied and joint.joint_enabled is False
    assert (joint.body0, joint.body1) == (two, one)
    assert any(obj.name in note and "disabled" in note for note in result.notes)
    assert simulate(20, one)[-1, 2, 3] < -1


def test_joint_to_an_object_of_another_scene(scene):
    box, other = add_box("Box"), add_box("Elsewhere")
    scene.collection.objects.unlink(other)
    obj = add_constraint("FIXED", box, other)
    convert_scene(scene)
    assert obj.usdphys.joint.joint_enabled is False
    assert (obj.usdphys.joint.body0, obj.usdphys.joint.body1) == (box, None)


def test_joint_without_objects_is_skipped(scene):
    obj = add_constraint("FIXED", None, None)
    result = convert_scene(scene)
    assert not obj.usdphys.joint.is_applied
    assert result.joints == 0 and any(obj.name in note for note in result.notes)


# ---------------------------------------------------------------------- the whole


def build_everything():
    floor = add_box("Floor", (9, 9, 1), location=(0, 0, -1), type="PASSIVE", collision_shape="MESH")
    parent = add_box("Parent", collision_shape="COMPOUND", collision_collections=layers(1, 2))
    add_box("Part", parent=parent, collision_shape="CONE")
    ball = add_box("Ball", location=(3, 0, 0), collision_shape="SPHERE", collision_collections=layers(3), friction=1)
    add_constraint("HINGE", parent, ball, **limits(-0.2, 0.4, "ang_z"))
    add_constraint("GENERIC_SPRING", floor, ball, use_spring_x=True, use_breaking=True)
    add_constraint("MOTOR", floor, ball, use_motor_ang=True)


@pytest.mark.parametrize("replace", [False, True])
def test_running_twice_changes_nothing(scene, replace):
    build_everything()
    first = convert_scene(scene)
    before = everything()
    second = convert_scene(scene, replace=replace)
    assert everything() == before
    assert first.joints == 3 and first.colliders == 3 and first.groups == 3
    assert (second.joints, second.colliders) == ((3, 3) if replace else (0, 0))


def test_blenders_own_settings_stay(scene):
    build_everything()

    def settings():
        return {
            obj.name: [
                tuple(value) if getattr(prop, "is_array", False) else value
                for group in (obj.rigid_body, obj.rigid_body_constraint) if group is not None
                for prop in group.bl_rna.properties if prop.identifier != "rna_type"
                for value in [getattr(group, prop.identifier)]
            ]
            for obj in scene.objects
        }  # fmt: skip

    before = settings()
    convert_scene(scene)
    assert settings() == before


def test_what_is_authored_is_kept(scene):
    obj = add_box("Box", mass=5)
    physics = obj.usdphys
    physics.rigid_body.is_applied = physics.rigid_body.starts_asleep = True
    physics.colliders.add().shape = "CAPSULE"
    physics.collision_groups.add().name = "Mine"
    material = physics.physics_material = bpy.data.materials.new("Rubber")
    joint = add_constraint("FIXED", obj, add_box("Other"))
    joint.usdphys.joint.is_applied = True
    before = authored(physics), authored(joint.usdphys)
    result = convert_scene(scene)
    assert (authored(physics), authored(joint.usdphys)) == before
    assert any("kept" in note and "'Box'" in note for note in result.notes)
    convert_scene(scene, replace=True)
    assert authored(physics.rigid_body) == {"is_applied": True}
    assert physics.mass.mass == 5
    assert [item.shape for item in physics.colliders] == ["CUBE"]
    assert not len(physics.collision_groups) and physics.physics_material != material
    assert joint.usdphys.joint.body0 == obj


def test_only_the_objects_that_are_asked_for(scene):
    one, two = add_box("One", collision_collections=layers(1)), add_box("Two", collision_collections=layers(2))
    convert_scene(scene, [one])
    assert one.usdphys.rigid_body.is_applied and not authored(two.usdphys)
    convert_scene(scene, [two])
    assert pairs_that_collide(read_model(), ["One", "Two"]) == set()


def test_objects_outside_the_world_are_skipped(scene):
    obj, other = add_box("Outside"), add_box("Inside")
    joint = add_constraint("FIXED", other, other)
    scene.rigidbody_world.collection = bpy.data.collections.new("Smaller")
    scene.rigidbody_world.collection.objects.link(other)
    scene.rigidbody_world.constraints = None
    result = convert_scene(scene)
    assert not authored(obj.usdphys) and not authored(joint.usdphys) and other.usdphys.rigid_body.is_applied
    (note,) = (note for note in result.notes if note.startswith("Skipped, because Blender simulates only objects"))
    assert "'Outside'" in note and "'FIXED constraint'" in note


def test_a_scene_without_a_world():
    result = convert_scene(bpy.context.scene)
    assert (result.bodies, result.colliders, result.joints, len(result.notes)) == (0, 0, 0, 1)


def past_the_start(scene):
    scene.frame_set(1)
    scene.frame_set(2)


def scaled_child(scene):
    parent = add_box("Parent", collision_shape="COMPOUND")
    add_box("Child", parent=parent, collision_shape="CONVEX_HULL").scale = (1, 1, 2)


def modified(kind, source):
    settings = {"collision_shape": "MESH", "type": "PASSIVE", "mesh_source": source}
    return lambda scene: add_box("Box", **settings).modifiers.new("Modifier", kind)


NOTED = {
    "muted": lambda scene: setattr(scene.rigidbody_world, "enabled", False),
    "time_scale": lambda scene: setattr(scene.rigidbody_world, "time_scale", 2),
    "gravity": lambda scene: setattr(scene.rigidbody_world.effector_weights, "gravity", 0.5),
    "fields": lambda scene: bpy.ops.object.effector_add(type="WIND"),
    "frame": past_the_start,
    "damping": lambda scene: setattr(add_box("Box").rigid_body, "linear_damping", 0.5),
    "locks": lambda scene: setattr(add_box("Box"), "lock_location", (True, False, False)),
    "gap": lambda scene: add_box("Box", collision_shape="CONVEX_HULL", use_margin=True, collision_margin=0.2),
    "source": modified("SUBSURF", "DEFORM"),
    "deforms": lambda scene: add_box("Box", collision_shape="MESH", type="PASSIVE", use_deform=True),
    "flat": lambda scene: add_box("Box", (1, 1, 0)),
    "child_scale": scaled_child,
    "empty_compound": lambda scene: add_box("Box", collision_shape="COMPOUND"),
    "below": lambda scene: add_box("Child", parent=add_box("Box"), type="PASSIVE"),
}


@pytest.mark.parametrize("key", NOTED)
def test_note(scene, key):
    add_box("Base")
    text = blender_rigid_bodies.NOTES[key]
    assert not any(note.startswith(text) for note in convert_scene(scene).notes)
    NOTED[key](scene)
    notes = [note for note in convert_scene(scene).notes if note.startswith(text)]
    assert len(notes) == 1 and notes[0].endswith(".")


@pytest.mark.parametrize("build", [modified("SUBSURF", "FINAL"), modified("CAST", "DEFORM")])
def test_mesh_source_that_loses_nothing_is_not_noted(scene, build):
    build(scene)
    assert not any(note.startswith(blender_rigid_bodies.NOTES["source"]) for note in convert_scene(scene).notes)


def test_a_plain_scene_has_one_note(scene):
    add_box("Floor", type="PASSIVE")
    add_box("Box")
    assert [note.split(",")[0] for note in convert_scene(scene).notes] == [
        "Blender multiplies the friction and the restitution of two objects"
    ]


@pytest.mark.parametrize("settings", [{"type": "PASSIVE"}, {"kinematic": True}, {"enabled": False}])
def test_damping_of_what_does_not_move_is_not_noted(scene, settings):
    add_box("Box", linear_damping=0.5, **settings)
    assert not any("damping" in note for note in convert_scene(scene).notes)


def test_a_note_names_three_and_counts_the_rest(scene):
    for index in range(5):
        add_box(f"Box{index}", linear_damping=0.1)
    (note,) = (note for note in convert_scene(scene).notes if "damping" in note)
    assert note.endswith(": 'Box0', 'Box1', 'Box2' and 2 more.")


# ---------------------------------------------------------------------- the operator


def test_operator(scene, capsys):
    one, two = add_box("One", linear_damping=0.5), add_box("Two")
    bpy.context.view_layer.update()
    one.select_set(True)
    assert bpy.ops.usdphys.from_rigid_bodies(selected_only=True) == {"FINISHED"}
    assert one.usdphys.rigid_body.is_applied and not two.usdphys.rigid_body.is_applied
    assert "USD Physics: Linear and angular damping" in capsys.readouterr().out
    two.usdphys.colliders.add().shape = "PLANE"
    assert bpy.ops.usdphys.from_rigid_bodies(keep_in_blender=True) == {"FINISHED"}
    assert [item.shape for item in two.usdphys.colliders] == ["PLANE"]
    assert bpy.ops.usdphys.from_rigid_bodies(replace=True) == {"FINISHED"}
    assert [item.shape for item in two.usdphys.colliders] == ["CUBE"]


def test_operator_needs_a_world():
    assert not bpy.ops.usdphys.from_rigid_bodies.poll()
    with pytest.raises(RuntimeError, match="no rigid body world"):
        bpy.ops.usdphys.from_rigid_bodies()


# ---------------------------------------------------------------------- out of Blender's world


def test_what_is_converted_is_moved_by_the_preview_alone(scene):
    """The object stays where it is authored in the timeline, with Blender's settings kept."""
    box, floor = add_box("Box", location=(0, 0, 5), mass=3), add_box("Floor", type="PASSIVE")
    scene.frame_set(1)
    scene.frame_set(12)
    assert bpy.ops.usdphys.from_rigid_bodies() == {"FINISHED"}
    scene.frame_set(1)
    for frame in range(2, 20):
        scene.frame_set(frame)
    assert box.matrix_world.translation.z == pytest.approx(5)
    assert box.rigid_body.mass == 3 and floor.name in scene.rigidbody_world.collection.objects
    assert box.usdphys.rigid_body.is_applied and box.usdphys.mass.mass == 3


def test_an_object_of_a_collection_below_is_led_where_it_cannot_be_taken_out(scene):
    inner = bpy.data.collections.new("Inner")
    scene.rigidbody_world.collection.children.link(inner)
    box = add_box("Box", location=(0, 0, 5), member=False)
    inner.objects.link(box)
    bpy.context.view_layer.objects.active = box
    box.select_set(True)
    if box.rigid_body is None:
        bpy.ops.rigidbody.object_add()
        scene.rigidbody_world.collection.objects.unlink(box)
    notes = convert_scene(scene, takes_out=True).notes
    assert any("Set to Animated" in note for note in notes)
    assert not box.usdphys.rigid_body.kinematic_enabled
    for frame in range(1, 12):
        scene.frame_set(frame)
    assert box.matrix_world.translation.z == pytest.approx(5)


def test_a_body_in_both_worlds_is_reported_and_taken_out(scene):
    box = add_box("Box", location=(0, 0, 5))
    convert_scene(scene)
    found = [issue for issue in scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).issues
             if issue.code == "BlenderSimulatesToo"]  # fmt: skip
    assert [issue.label for issue in found] == ["Box"]
    assert bpy.ops.usdphys.check() == {"FINISHED"}
    bpy.ops.usdphys.check_fix_all()
    assert box.name not in scene.rigidbody_world.collection.objects


def test_the_conversion_waits_for_the_reset_and_reads_no_body_as_animated(scene):
    """While it plays, Bullet follows what the preview moves, as if it were animated."""
    box = add_box("Box")
    box.usdphys.rigid_body.is_applied = True
    box.usdphys.colliders.add()
    bpy.context.view_layer.update()
    preview_guard.start(bpy.context)
    with pytest.raises(RuntimeError, match="Reset the preview first"):
        bpy.ops.usdphys.from_rigid_bodies()
    preview_guard.stop()
    assert bpy.ops.usdphys.from_rigid_bodies() == {"FINISHED"}
    assert box.usdphys.rigid_body.is_applied and not box.usdphys.rigid_body.kinematic_enabled
