"""Attach: the physics of a file goes onto objects that are there, by name, and means the same there."""

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.bridge import props
from usdphys_ext.usdphys_addon.bridge.identity import remembered
from usdphys_ext.usdphys_addon.core import difference, frames
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.exchange import usd_export, usd_import
from usdphys_ext.usdphys_addon.exchange.attaching import attach as attaching
from usdphys_ext.usdphys_addon.usd import read as usd_read

from . import scenes
from .scenes import add, add_box, add_joint, assign, define_group, join_group, make_body, make_collider, placed
from .test_import import FILES, share_of

pytestmark = pytest.mark.slow

# --------------------------------------------------------------------------- a scene with all of it


def build(meters=1.0):
    """Objects without physics, the same in the world whatever a Blender unit is."""
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1.0 / meters

    def box(name, half=(0.5, 0.5, 0.5), at=(0, 0, 0), euler=(0, 0, 0), scale=(1, 1, 1), parent=None):
        obj = add_box(name, np.multiply(half, unit), parent=parent)
        obj.matrix_basis = placed(np.multiply(at, unit), euler, scale)
        return obj

    box("Ground", (10, 10, 0.1), (0, 0, -0.1))
    base = box("Base", at=(0, 0, 1), euler=(0.1, 0.2, 0.3))
    box("Arm", (1, 0.2, 0.2), (1.5, 0, 1), (0, 0, 0.5))
    box("Stretched", at=(4, 1, 2), euler=(0.5, 0, 0.7), scale=(1, 2, 3))
    box("Mirrored", at=(-4, 1, 2), euler=(0.5, 0, 0.7), scale=(-1, 1, 1))
    box("Sheared", at=(0.5, 0.2, 0.1), euler=(0.4, 0.5, 0.6), parent=bpy.data.objects["Stretched"])
    box("Small", (5, 5, 5), (0, 4, 2), scale=(0.1, 0.1, 0.1))
    box("Lamp", at=(1, 0, 0.5), parent=base)
    bpy.context.view_layer.update()


def add_physics(meters=1.0):
    """Bodies, colliders of every kind, joints of every type, limits, drives, groups, pairs, materials, owners."""
    unit, objects, scene = 1.0 / meters, bpy.data.objects, bpy.context.scene
    for name in ("Main", "Other"):
        assign(scene.usdphys.physics_scenes.add(), name=name, gravity_magnitude=5.0 * unit)
    rubber = scenes.physics_material("Rubber", static_friction=0.5, dynamic_friction=0.25, restitution=0.1, density=900)
    steel = scenes.physics_material("Steel", static_friction=0.75)
    define_group("Machines", ("Machines", "Floors"), invert_filtered_groups=True)
    define_group("Floors", merge_group="flat")
    ground, base, arm = (objects[name] for name in ("Ground", "Base", "Arm"))
    make_collider(ground, approximation="none", simulation_owner="Main")
    ground.usdphys.physics_material = rubber
    join_group(ground, "Floors")
    make_body(base, kinematic_enabled=True, velocity=(unit, 0, 2 * unit), angular_velocity=(1, 2, 3),
              simulation_owner="Other", starts_asleep=True)  # fmt: skip
    assign(base.usdphys.articulation_root, is_applied=True)
    assign(base.usdphys.mass, is_applied=True, mass=3.5, center_of_mass=(0.1 * unit, 0.2 * unit, 0),
           diagonal_inertia=(1, 2, 3), principal_axes=(0.5, 0.5, 0.5, 0.5))  # fmt: skip
    make_collider(base, approximation="boundingCube")
    make_collider(objects["Lamp"], approximation="convexHull", collision_enabled=False)
    make_body(arm)
    make_collider(arm, approximation="convexDecomposition").physics_material = steel
    join_group(arm, "Machines")
    join_group(objects["Lamp"], "Machines", exclude=True)
    for name in ("Stretched", "Mirrored", "Sheared", "Small"):
        make_body(objects[name])
        add_primitives(objects[name], unit * (10 if name == "Small" else 1))
    item = objects["Small"].usdphys.colliders[1]
    assign(item.mass, is_applied=True, density=100, center_of_mass=(0.1 * unit, 0, 0))
    item.physics_material = rubber
    join_group(item_owner(item), "Floors")
    assign(arm.usdphys.filtered_pairs, is_applied=True).filtered_pairs.add().object = objects["Small"]
    add_joints(unit)


class item_owner:  # noqa: N801
    """A collider as what holds groups."""

    def __init__(self, item):
        self.usdphys = item


def add_primitives(obj, unit):
    """One of each kind, beside the centre and turned."""
    turned = (0.8, 0.6, 0.0, 0.0)
    sizes = {"radius": 0.25 * unit, "height": 0.75 * unit}
    kinds = {
        "CUBE": {"size": (0.5 * unit, 0.25 * unit, 0.75 * unit)},
        "SPHERE": {"radius": 0.25 * unit},
        "CAPSULE": {**sizes, "axis": "X"},
        "CYLINDER": {**sizes, "axis": "Y"},
        "CONE": {**sizes, "axis": "Z"},
    }
    for index, (kind, values) in enumerate(kinds.items()):
        for name, rotation in (("straight", None), ("turned", turned)):
            item = make_collider(obj, kind, name=f"{kind}_{name}", location=(0.5 * unit * index, 0, 0.25 * unit))
            assign(item, **values)
            if rotation:
                item.rotation = rotation


def add_joints(unit):
    objects = bpy.data.objects
    base, arm, small = objects["Base"], objects["Arm"], objects["Small"]
    at = [value * unit for value in (0.75, 0, 1)]
    kinds = {"Weld": "FIXED", "Hinge": "REVOLUTE", "Rail": "PRISMATIC", "Ball": "SPHERICAL", "Rope": "DISTANCE",
             "Six": "GENERIC", "Apart": "REVOLUTE", "Anchor": "FIXED"}  # fmt: skip
    joints = {}
    for name, kind in kinds.items():
        joints[name] = add_joint(name, kind, base, arm)
        joints[name].matrix_basis = placed(at, (0.3, 0.2, 0.1))
    groups = {name: joint.usdphys.joint for name, joint in joints.items()}
    assign(groups["Hinge"], axis="Y", break_force=10, exclude_from_articulation=True)
    assign(groups["Hinge"].revolute, lower_limit=-1, upper_limit=0.5)
    assign(groups["Hinge"].drives.angular, is_applied=True, type="acceleration", stiffness=10, target_position=0.5)
    assign(groups["Rail"].prismatic, lower_limit=-0.5 * unit, upper_limit=unit)
    assign(groups["Rail"].drives.linear, is_applied=True, damping=10, max_force=100, target_velocity=unit)
    assign(groups["Ball"].spherical, cone_angle0_limit=0.5, cone_angle1_limit=0.25)
    assign(groups["Rope"].distance, min_distance=0.1 * unit, max_distance=0.5 * unit)
    assign(groups["Six"].limits.transX, is_applied=True, low=-unit, high=unit)
    assign(groups["Six"].limits.rotZ, is_applied=True, low=1, high=-1)
    assign(groups["Apart"], local_pos1=(0.1 * unit, 0.2 * unit, 0.3 * unit), local_rot1=(0.5, 0.5, 0.5, 0.5))
    assign(groups["Anchor"], body0=None, body1=small)


def strip():
    """Take all physics away, and the objects that are nothing but joints."""
    for obj in list(bpy.data.objects):
        if obj.type == "EMPTY" and obj.usdphys.joint.is_applied:
            bpy.data.objects.remove(obj)
            continue
        for name in ("rigid_body", "mass", "joint", "articulation_root", "filtered_pairs", "physics_material"):
            obj.usdphys.property_unset(name)
        obj.usdphys.colliders.clear()
        obj.usdphys.collision_groups.clear()
    for material in list(bpy.data.materials):
        bpy.data.materials.remove(material)
    bpy.context.scene.usdphys.physics_scenes.clear()
    bpy.context.scene.usdphys.collision_groups.clear()


# --------------------------------------------------------------------------- what becomes of it


def attach(path, **options):
    issues = []
    written = attaching.attach(bpy.context.scene, usd_read.read_stage(usd_read.open_stage(path)), issues, **options)
    return written, issues


def export(path, units=None, **options):
    bpy.context.view_layer.update()
    options = usd_export.ExportOptions(units or StageUnits(), **options)
    usd_export.export_usd(bpy.context, path, options)
    return path


def model_of(path):
    return usd_read.read_stage(usd_read.open_stage(path))


def assert_same(path, other, monkeypatch):
    assert_same_models(model_of(path), model_of(other), monkeypatch)


def assert_same_models(one, two, monkeypatch):
    """Same prims, schemas, values and shapes in the world, purposes and materials."""
    monkeypatch.setattr(difference, "ABSOLUTE", 1e-5)
    monkeypatch.setattr(difference, "RELATIVE", 1e-5)
    one, two = in_world(one), in_world(two)
    assert sorted(one.prims) == sorted(two.prims)
    found = difference.difference(one, two)
    assert not found.added and not found.removed
    assert {path: (edit.values, edit.cleared, edit.added, edit.removed) for path, edit in found.edits.items()} == {}
    for path, prim in one.prims.items():
        same = two.prims[path]
        assert prim.type_name == same.type_name and prim.purpose == same.purpose, path
        assert prim.materials == same.materials and prim.physics_binding == same.physics_binding, path
        if prim.get(usd_physics.CollisionAPI) is not None:
            np.testing.assert_allclose(prim.world[:3, 3], same.world[:3, 3], atol=2e-5, err_msg=path)
            rotations = [frames.rotation_of(one.world) for one in (prim, same)]
            np.testing.assert_allclose(*rotations, atol=2e-5, err_msg=path)


def in_world(model):
    """All that lies in the space of a prim as it is in the world: spaces of files of different units differ."""
    for prim in model.prims.values():
        # Prims that are alike share their schemas.
        prim.schemas = {name: value.copy() for name, value in prim.schemas.items()}
    for prim in model.joints.values():
        joint = prim.get(usd_physics.Joint)
        for side in (0, 1):
            body = getattr(joint, f"body{side}")
            position, rotation = (joint.resolved(f"local_{what}{side}") for what in ("pos", "rot"))
            if body and body[0] not in model.prims:
                continue
            frame = frames.world_frame(model.prims[body[0]].world if body else None, position, rotation)
            setattr(joint, f"local_pos{side}", tuple(frame[:3, 3]))
            setattr(joint, f"local_rot{side}", frames.quaternion_of(frame[:3, :3]))
    for prim in model.prims.values():
        body, mass, gprim = (prim.get(cls) for cls in (usd_physics.RigidBodyAPI, usd_physics.MassAPI, usd_geom.Gprim))
        if body is not None and body.velocity is not None:
            body.velocity = tuple(prim.world[:3, :3] @ body.velocity)
        if mass is not None and mass.center_of_mass is not None:
            mass.center_of_mass = tuple((prim.world @ (*mass.center_of_mass, 1.0))[:3])
        if gprim is not None and not isinstance(gprim, usd_geom.Plane):
            sizes = [float(size) for size in measures(prim)]
            if isinstance(gprim, usd_geom.Cube):
                gprim.size, prim.materials = sizes[0], (*prim.materials, f"{np.round(sizes, 4)}")
            elif isinstance(gprim, usd_geom.Sphere):
                gprim.radius = sizes[0]
            else:
                gprim.height, gprim.radius = sizes
    return model


@pytest.fixture
def full_file(tmp_path):
    build()
    add_physics()
    return export(tmp_path / "full.usda")


def test_physics_comes_back(tmp_path, full_file, monkeypatch):
    strip()
    before = {obj.name: np.array(obj.matrix_world) for obj in bpy.data.objects}
    assert not scenes.read_model().bodies
    written, issues = attach(full_file)
    assert not issues and not written.missing
    assert written.counts == {"scenes": 2, "materials": 2, "groups": 2, "bodies": 6, "colliders": 44, "joints": 8,
                              "articulations": 1}  # fmt: skip
    assert_same(full_file, export(tmp_path / "back.usda"), monkeypatch)
    for name, place in before.items():
        np.testing.assert_array_equal(place, np.array(bpy.data.objects[name].matrix_world))
    joints = [obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    assert all(obj.users_collection[0].name == "Physics Joints" for obj in joints)
    apart = [obj.name for obj in joints if obj.usdphys.joint.is_property_set("local_pos1")]
    assert apart == ["Apart"] and not any(obj.usdphys.joint.is_property_set("local_pos0") for obj in joints)
    assert not any(obj.usdphys.prim.path for obj in bpy.data.objects)
    assert not bpy.context.scene.usdphys.source.filepath
    assert bpy.data.materials["Steel"].use_fake_user


@pytest.mark.parametrize("stage_meters", [1.0, 0.01])
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_units(tmp_path, monkeypatch, meters, stage_meters):
    """Into a scene of another unit, from a stage of another unit and up axis: the same metres, kilograms, newtons."""
    build()
    add_physics()
    units = StageUnits(stage_meters, 0.001, "Y") if stage_meters != 1.0 else StageUnits()
    original = export(tmp_path / "original.usda", units)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    build(meters)
    written, issues = attach(original)
    assert not issues and not written.missing
    # Blender's exporter takes a Blender unit for a metre: what was attached is compared as it is read.
    assert_same_models(model_of(original), scenes.read_model(), monkeypatch)
    arm = bpy.data.objects["Base"].usdphys
    assert arm.rigid_body.velocity[2] * meters == pytest.approx(2.0)
    assert arm.mass.mass == pytest.approx(3.5)


def test_twice_is_once(tmp_path, full_file, monkeypatch):
    strip()
    attach(full_file)
    names = sorted(bpy.data.objects.keys()), sorted(bpy.data.materials.keys()), sorted(bpy.data.collections.keys())
    attach(full_file)
    assert names == (
        sorted(bpy.data.objects.keys()), sorted(bpy.data.materials.keys()), sorted(bpy.data.collections.keys())
    )  # fmt: skip
    assert_same(full_file, export(tmp_path / "back.usda"), monkeypatch)


def test_onto_the_very_scene(tmp_path, full_file, monkeypatch):
    """What is there is replaced, not doubled; joints keep their objects."""
    before = sorted(bpy.data.objects.keys())
    bpy.data.objects["Arm"].usdphys.rigid_body.velocity = (1, 1, 1)
    bpy.data.objects["Hinge"].usdphys.joint.break_torque = 7
    _, issues = attach(full_file)
    assert not issues and sorted(bpy.data.objects.keys()) == before
    assert_same(full_file, export(tmp_path / "back.usda"), monkeypatch)


def test_onto_an_imported_scene(tmp_path, full_file, monkeypatch):
    """Objects that remember their prims get the physics back that was taken from them."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    usd_import.import_usd(bpy.context, full_file, usd_import.ImportOptions())
    before = sorted(bpy.data.objects.keys())
    original = export(tmp_path / "imported.usda")
    for obj in bpy.data.objects:
        obj.usdphys.rigid_body.property_unset("velocity")
        obj.usdphys.colliders.clear()
    _, issues = attach(full_file)
    assert not issues and sorted(bpy.data.objects.keys()) == before
    assert_same(original, export(tmp_path / "back.usda"), monkeypatch)


def test_other_physics_stays(tmp_path, full_file):
    strip()
    extra = scenes.solid("Extra")
    join_group(extra, "Machines")
    join_group(bpy.data.objects["Arm"], "Mine")
    assign(bpy.data.objects["Small"].usdphys.mass, is_applied=True, mass=2)
    attach(full_file)
    assert len(extra.usdphys.colliders) == 1 and extra.usdphys.collision_groups[0].name == "Machines"
    assert [item.name for item in bpy.data.objects["Arm"].usdphys.collision_groups] == ["Mine", "Machines"]
    assert bpy.data.objects["Small"].usdphys.mass.mass == 2


def test_moved_objects_take_their_physics_along(tmp_path, full_file):
    """What belongs to a body is where the body is now; the joint is where its first body has brought it."""
    strip()
    motion = placed((5, 6, 7), (0.2, 0.4, 0.6))
    for obj in bpy.data.objects:
        if obj.parent is None:
            obj.matrix_basis = motion @ obj.matrix_basis
    attach(full_file)
    before, after = model_of(full_file), model_of(export(tmp_path / "moved.usda"))
    move = np.array(motion)
    for path, prim in before.colliders.items():
        np.testing.assert_allclose(move @ prim.world, after.prims[path].world, atol=1e-5, err_msg=path)
    for path, prim in before.joints.items():
        joint, moved = prim.get(usd_physics.Joint), after.prims[path].get(usd_physics.Joint)
        for name in ("local_pos0", "local_rot0", "local_pos1", "local_rot1"):
            if path == "/root/Anchor" and name.endswith("0"):
                continue
            np.testing.assert_allclose(getattr(joint, name), getattr(moved, name), atol=1e-5, err_msg=path)
    # The world has not moved: the two frames of what hangs on it are apart.
    anchor = bpy.data.objects["Anchor"].usdphys.joint
    assert anchor.is_property_set("local_pos1") and not anchor.is_property_set("local_pos0")
    assert not bpy.data.objects["Hinge"].usdphys.joint.is_property_set("local_pos1")


def test_joint_of_bodies_that_moved_apart(tmp_path, full_file):
    strip()
    bpy.data.objects["Arm"].location.x += 1
    attach(full_file)
    before, after = model_of(full_file), model_of(export(tmp_path / "moved.usda"))
    for name in ("local_pos0", "local_rot0", "local_pos1", "local_rot1"):
        values = [getattr(model.prims["/root/Hinge"].get(usd_physics.Joint), name) for model in (before, after)]
        np.testing.assert_allclose(*values, atol=1e-5)
    assert bpy.data.objects["Hinge"].usdphys.joint.is_property_set("local_pos1")


def test_existing_joint_keeps_its_place(tmp_path, full_file):
    strip()
    add("Hinge").location = (9, 9, 9)
    attach(full_file)
    hinge = bpy.data.objects["Hinge"]
    assert tuple(hinge.location) == (9, 9, 9) and hinge.usdphys.joint.is_property_set("local_pos0")
    before, after = model_of(full_file), model_of(export(tmp_path / "kept.usda"))
    for name in ("local_pos0", "local_rot0", "local_pos1", "local_rot1"):
        values = [getattr(model.prims["/root/Hinge"].get(usd_physics.Joint), name) for model in (before, after)]
        np.testing.assert_allclose(*values, atol=1e-5)


@pytest.mark.parametrize("scale", [(2, 2, 2), (0.5, 2, 3), (1, 1, -1), (-2, -1, -3)])
def test_scaled_objects_keep_the_lengths_of_the_file(tmp_path, full_file, scale):
    """An object that is larger now has a collider that is as large as that of the file."""
    strip()
    small = bpy.data.objects["Small"]
    origin = placed(small.location)
    # An object that is mirrored mirrors where its colliders are, and which way they point.
    motion = np.array(origin @ placed(scale=np.sign(scale)) @ origin.inverted())
    small.scale = np.multiply(small.scale, scale)
    attach(full_file)
    before, after = model_of(full_file), model_of(export(tmp_path / "scaled.usda"))
    colliders = [path for path in before.colliders if "/Small/" in path]
    assert len(colliders) == 10
    for path in colliders:
        one, two = before.prims[path], after.prims[path]
        np.testing.assert_allclose((motion @ one.world)[:3, 3], two.world[:3, 3], atol=1e-5, err_msg=path)
        axes = [prim.world[:3, :3] / np.linalg.norm(prim.world[:3, :3], axis=0) for prim in (one, two)]
        axis = "XYZ".index(getattr(one.get(usd_geom.Gprim), "axis", "Z"))
        tips = (motion[:3, :3] @ axes[0])[:, axis], axes[1][:, axis]
        if "CONE" in path:
            np.testing.assert_allclose(*tips, atol=1e-5, err_msg=path)
        elif "SPHERE" not in path:
            assert abs(tips[0] @ tips[1]) == pytest.approx(1.0, abs=1e-5), path
        np.testing.assert_allclose(measures(one), measures(two), rtol=1e-4, err_msg=path)
    anchor = after.prims["/root/Anchor"].get(usd_physics.Joint)
    place = frames.world_frame(after.prims["/root/Small"].world, anchor.local_pos1, anchor.local_rot1)
    np.testing.assert_allclose(place[:3, 3], (motion @ (0.75, 0, 1, 1))[:3], atol=1e-5)


def measures(prim):
    """Lengths in the world of what makes a primitive."""
    gprim = prim.get(usd_geom.Gprim)
    lengths = np.linalg.norm(prim.world[:3, :3], axis=0)
    if isinstance(gprim, usd_geom.Cube):
        return lengths * gprim.resolved("size")
    if isinstance(gprim, usd_geom.Sphere):
        return [lengths.max() * gprim.resolved("radius")]
    axis = "XYZ".index(gprim.resolved("axis"))
    return [lengths[axis] * gprim.resolved("height"), np.delete(lengths, axis).max() * gprim.resolved("radius")]


def test_slots_bring_their_material(tmp_path, monkeypatch):
    """A material that the object shows needs no binding of its own."""
    obj = scenes.solid("Crate")
    obj.data.materials.append(scenes.physics_material("Wood", static_friction=0.5))
    original = export(tmp_path / "original.usda")
    obj.usdphys.colliders.clear()
    bpy.data.materials["Wood"].usdphys.property_unset("physics_material")
    attach(original)
    assert obj.usdphys.physics_material is None and bpy.data.materials["Wood"].usdphys.physics_material.is_applied
    assert_same(original, export(tmp_path / "back.usda"), monkeypatch)


# --------------------------------------------------------------------------- files of others


def write(path, body, head=""):
    path.write_text(f"#usda 1.0\n(\n    {head}\n)\n{body}")
    return path


CRATES = """
def Xform "World"
{
    def PhysicsScene "Scene" {}
    def Cube "Crate" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"]
    )
    {
        double size = 50
        float physics:mass = 3000
        vector3f physics:velocity = (100, 0, 0)
        double3 xformOp:translate = (0, 200, 0)
        float3 xformOp:scale = (1, 2, 1)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }
    def Mesh "Stone" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "NewtonMeshAPI"]
    )
    {
        uniform token physics:approximation = "convexHull"
    }
    def Xform "Wall"
    {
        double3 xformOp:translate = (100, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Sphere "Knob" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {
            double radius = 10
            double3 xformOp:translate = (0, 50, 0)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }
        def Mesh "shape" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {
        }
    }
    def Xform "Zone" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
    {
        def PhysicsPrismaticJoint "Rail"
        {
            rel physics:body0 = </World/Wall>
            rel physics:body1 = </World/Crate>
            point3f physics:localPos0 = (10, 0, 0)
            float physics:lowerLimit = -50
        }
    }
    def PhysicsCollisionGroup "All" (
        prepend apiSchemas = ["CollectionAPI:colliders"]
    )
    {
        prepend rel collection:colliders:includes = [</World>]
    }
}
"""
CM = 'upAxis = "Y"\n    metersPerUnit = 0.01\n    kilogramsPerUnit = 0.001'


def test_gprims_and_meshes_that_are_objects(tmp_path):
    """A centimetre file of another maker with Y up: half a metre wide, one high; a mesh that is the object itself."""
    add_box("Crate", (0.25, 0.25, 0.5))
    add_box("Stone")
    add_box("Wall").location = (1, 0, 0)
    add("Zone")
    path = write(tmp_path / "crates.usda", CRATES, CM)
    vendor = usd_read.count_vendor_prims(usd_read.open_stage(path))
    assert vendor == 1
    written, issues = attach(path, vendor_prims=vendor)
    assert scenes.codes(issues) == [("AttachVendorSkipped", "info")] and not written.missing
    crate, stone, wall = (bpy.data.objects[name].usdphys for name in ("Crate", "Stone", "Wall"))
    assert crate.mass.mass == pytest.approx(3.0) and tuple(crate.rigid_body.velocity) == pytest.approx((1, 0, 0))
    assert [item.shape for item in crate.colliders] == ["CUBE"]
    # Y of the file is up, and so is Z of Blender; the object itself stands without a turn.
    assert sorted(crate.colliders[0].size) == pytest.approx([0.5, 0.5, 1.0])
    assert [item.approximation for item in stone.colliders] == ["convexHull"]
    assert [(item.shape, item.name) for item in wall.colliders] == [("SPHERE", "Knob"), ("MESH", "")]
    assert wall.colliders[0].radius == pytest.approx(0.1)
    assert np.linalg.norm(wall.colliders[0].location) == pytest.approx(0.5)
    rail = bpy.data.objects["Rail"]
    bpy.context.view_layer.update()
    assert rail.parent == bpy.data.objects["Zone"] and rail.usdphys.joint.body0 == bpy.data.objects["Wall"]
    assert tuple(rail.matrix_world.translation) == pytest.approx((1.1, 0, 0))
    assert rail.usdphys.joint.prismatic.lower_limit == pytest.approx(-0.5)
    members = [obj.name for obj in bpy.data.objects if len(obj.usdphys.collision_groups)]
    assert members == ["Crate", "Stone", "Wall", "Zone"]


def test_missing_objects(tmp_path):
    add_box("Stone")
    written, issues = attach(write(tmp_path / "crates.usda", CRATES, CM))
    missing = [issue.path for issue in issues if issue.code == "AttachMissing"]
    assert missing == ["/World/Crate", "/World/Wall/Knob", "/World/Wall/shape", "/World/Zone", "/World/Zone/Rail"]
    assert all(issue.severity == "warning" and issue.fix for issue in issues)
    assert "Rail" not in bpy.data.objects and written.counts["bodies"] == 1


TWO = """
def Xform "root"
{
    def Xform "A"
    {
        def Xform "Wheel" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
        {
        }
    }
    def Xform "B"
    {
        def Xform "Wheel" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
        {
            bool physics:kinematicEnabled = 1
        }
    }
}
"""


def test_parents_decide(tmp_path):
    """Of two prims of one name each finds the object below its own parent, numbered as Blender numbers them."""
    for name in ("A", "B"):
        add("Wheel", parent=add(name))
    assert "Wheel.001" in bpy.data.objects
    _, issues = attach(write(tmp_path / "two.usda", TWO))
    assert not issues
    assert not bpy.data.objects["Wheel"].usdphys.rigid_body.kinematic_enabled
    assert bpy.data.objects["Wheel.001"].usdphys.rigid_body.kinematic_enabled


def test_two_prims_for_one_object(tmp_path):
    wheel = add("Wheel")
    written, issues = attach(write(tmp_path / "two.usda", TWO))
    assert [issue.code for issue in issues] == ["AttachAmbiguous"] * 2
    assert issues[0].path == "/root/A/Wheel" and "'Wheel'" in issues[0].message
    assert "'/root/B/Wheel'" in issues[0].message
    assert not wheel.usdphys.rigid_body.is_applied and written.missing == ["/root/A/Wheel", "/root/B/Wheel"]


def test_two_objects_for_one_prim(tmp_path):
    boxes = [add_box(name) for name in ("Crate.1", "Crate_1")]
    text = 'def Xform "Crate_1" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}'
    _, issues = attach(write(tmp_path / "one.usda", text))
    assert scenes.codes(issues) == [("AttachAmbiguous", "warning")]
    assert "'Crate.1'" in issues[0].message and "'Crate_1'" in issues[0].message
    assert not any(obj.usdphys.rigid_body.is_applied for obj in boxes)


def test_linked_objects_are_left_alone(tmp_path):
    stone = add_box("Stone")
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {stone})
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Stone"]
    linked = bpy.data.objects["Stone"]
    bpy.context.scene.collection.objects.link(linked)
    text = 'def Mesh "Stone" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {}'
    _, issues = attach(write(tmp_path / "stone.usda", text))
    assert scenes.codes(issues) == [("AttachLinked", "warning")] and issues[0].label == "Stone"
    assert not linked.usdphys.rigid_body.is_applied
    add_box("Stone")
    _, issues = attach(tmp_path / "stone.usda")
    assert not issues, "an object of the file itself comes first"


def test_scaled_to_nothing(tmp_path):
    add_box("Crate", scale=(0, 0, 0))
    add_box("Wall")
    add_box("Stone")
    _, issues = attach(write(tmp_path / "crates.usda", CRATES, CM))
    assert ("ZeroScale", "warning") in scenes.codes(issues)


def test_failure_leaves_the_scene_alone(full_file, monkeypatch):
    strip()
    before = holds(), [sorted(getattr(bpy.data, kind).keys()) for kind in ("objects", "materials", "collections")]

    def fail(*_):
        raise RuntimeError

    monkeypatch.setattr(frames, "world_frame", fail)
    with pytest.raises(RuntimeError):
        attach(full_file)
    monkeypatch.undo()
    assert before[0] == holds() == []
    assert before[1] == [sorted(getattr(bpy.data, kind).keys()) for kind in ("objects", "materials", "collections")]


def holds():
    """Names of what has physics."""
    physics = bpy.context.scene.usdphys
    objects = [obj.name for obj in bpy.data.objects if props.is_physical(obj)]
    return objects + [item.name for item in (*physics.physics_scenes, *physics.collision_groups)]


def test_joint_names_that_are_taken(tmp_path, monkeypatch):
    """A joint whose name belongs to an object with a mesh gets a numbered one, and that again the next time."""
    scenes.solid("Hinge")
    text = """
def Xform "Hinge" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}
def Xform "Joints"
{
    def PhysicsFixedJoint "Hinge"
    {
        rel physics:body1 = </Hinge>
    }
}
"""
    path = write(tmp_path / "hinge.usda", text)
    for _ in range(2):
        _, issues = attach(path)
        assert not issues
        joints = [obj.name for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
        assert joints == ["Hinge.001"]


def test_names_are_found_quickly():
    """Numbered copies are known by their name."""
    copy = add("Wheel.001", parent=add("Car"))
    things = {thing.owner: thing for thing in remembered.objects_of(bpy.context.scene, "")}
    assert things[copy].name_chain() == [("Car", ""), ("Wheel_001", "Wheel")]


def test_collider_of_a_body_that_it_would_not_move_with(tmp_path):
    body, loose = add_box("Body"), add_box("Loose")
    text = """
def Xform "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Xform "Loose"
    {
        def Mesh "Mesh" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
        }
    }
}
"""
    path = write(tmp_path / "loose.usda", text)
    written, issues = attach(path)
    assert scenes.codes(issues) == [("AttachMissing", "warning")] and "not parented" in issues[0].message
    assert not len(loose.usdphys.colliders) and written.missing == ["/Body/Loose/Mesh"]
    loose.parent = body
    assert not attach(path)[1] and len(loose.usdphys.colliders) == 1


def test_members_that_are_parented_elsewhere(tmp_path):
    """A group of all that is below a prim holds its objects wherever they are parented."""
    for name in ("Shelf", "Book"):
        add_box(name)
    add_box("Cup", parent=bpy.data.objects["Shelf"])
    head = '(prepend apiSchemas = ["PhysicsRigidBodyAPI"])'
    bodies = "".join(f'    def Xform "{name}" {head}\n    {{\n    }}\n' for name in ("Book", "Cup"))
    group = """
def PhysicsCollisionGroup "All" (prepend apiSchemas = ["CollectionAPI:colliders"])
{
    prepend rel collection:colliders:includes = [</Shelf>]
}
"""
    path = write(tmp_path / "shelf.usda", f'def Xform "Shelf"\n{{\n{bodies}}}\n{group}')
    assert not attach(path)[1]
    assert [obj.name for obj in bpy.data.objects if len(obj.usdphys.collision_groups)] == ["Book", "Shelf"]


def forget():
    """Leave nothing of an import but its objects and materials."""
    for obj in bpy.data.objects:
        for name in obj.usdphys.bl_rna.properties.keys():
            if name not in ("rna_type", "name"):
                obj.usdphys.property_unset(name)
    for material in bpy.data.materials:
        material.usdphys.property_unset("physics_material")
        material.usdphys.property_unset("prim")
    for name in ("physics_scenes", "collision_groups", "source"):
        bpy.context.scene.usdphys.property_unset(name)


@pytest.mark.parametrize("path", share_of(FILES), ids=lambda path: path.name)
def test_files_of_others(shared, path):
    """Onto the objects that an import brought and that have forgotten where they are from."""
    usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
    imported = scenes.read_model(root="")
    forget()
    assert not scenes.read_model(root="").prims.keys() - {"/PhysicsScene"}
    _, issues = attach(path)
    assert not issues
    attached = scenes.read_model(root="")
    assert amounts(attached) == amounts(imported)
    attach(path)
    assert scenes.read_model(root="").prims.keys() == attached.prims.keys()
    original, attached = in_world(model_of(path)), in_world(attached)
    for joint in original.joints.keys() & attached.joints.keys():
        one, two = (model.prims[joint].get(usd_physics.Joint) for model in (original, attached))
        for side in (0, 1):
            body = getattr(one, f"body{side}")
            if body and not (body[0] in original.prims and body == getattr(two, f"body{side}")):
                continue
            if body and body[0] not in attached.prims:
                continue
            place, other = (getattr(value, f"local_pos{side}") for value in (one, two))
            np.testing.assert_allclose(place, other, atol=1e-4, err_msg=joint)


def amounts(model):
    return [len(getattr(model, kind)) for kind in ("bodies", "colliders", "joints", "groups", "materials")]


def test_joint_of_an_object_with_a_mesh(tmp_path, monkeypatch):
    """Its prim is below that of the object; attached again it is still the object's own."""
    frame, door = scenes.solid("Frame"), scenes.solid("Door", location=(1, 0, 0))
    assign(door.usdphys.joint, is_applied=True, type="REVOLUTE", body0=frame, body1=door)
    original = export(tmp_path / "door.usda")
    assert "/root/Door/Door_joint" in model_of(original).joints
    _, issues = attach(original)
    assert not issues and sorted(bpy.data.objects.keys()) == ["Door", "Frame"]
    assert_same(original, export(tmp_path / "back.usda"), monkeypatch)


def test_by_the_word_of_an_independent_judge(tmp_path, compare, full_file):
    strip()
    attach(full_file)
    figures = compare(full_file, export(tmp_path / "back.usda"))
    assert figures["score"] == 1.0 and figures["facts"] > 300, figures["text"]


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 1, 1), (1, 1, -1)])
@pytest.mark.parametrize("above", [(1, 1, 1), (1, 2, 3), (-1, 1, 1)])
def test_spin_and_principal_axes_stay_in_the_world_below_uneven_scale(tmp_path, above, scale):
    """The body of the file is below the prim of the object, turned and scaled: in the world it spins as in the file."""
    top, local = placed((1, 2, 3), (0.3, 0.5, 0.7), above), placed((0.5, 0, 0), (0.1, -0.6, 0.4), scale)
    text = f"""
def Xform "Top"
{{
    matrix4d xformOp:transform = {matrix_text(top)}
    uniform token[] xformOpOrder = ["xformOp:transform"]

    def Mesh "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        vector3f physics:velocity = (1, 2, 3)
        vector3f physics:angularVelocity = (90, 45, 30)
        point3f physics:centerOfMass = (0.1, 0.2, 0.3)
        quatf physics:principalAxes = (0.5, 0.1, -0.4, 0.2)
        matrix4d xformOp:transform = {matrix_text(local)}
        uniform token[] xformOpOrder = ["xformOp:transform"]
    }}
}}
"""
    obj = add_box("Top")
    obj.data.name = "Body"
    obj.matrix_world = top
    path = write(tmp_path / "spin.usda", text, 'upAxis = "Z"\n    metersPerUnit = 1')
    assert not attach(path)[1]
    bpy.context.view_layer.update()
    (before,), (after,) = model_of(path).bodies.values(), scenes.read_model().bodies.values()
    for one, other in zip(motion_in_world(before), motion_in_world(after), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def matrix_text(matrix):
    return "( " + ", ".join(str(tuple(row)) for row in np.array(matrix).T.tolist()) + " )"


def motion_in_world(prim):
    """Velocity, angular velocity, centre of mass and principal axes of a body, in the world."""
    body, mass = prim.get(usd_physics.RigidBodyAPI), prim.get(usd_physics.MassAPI)
    rotation = frames.rotation_of(prim.world)
    return (
        prim.world[:3, :3] @ body.velocity,
        rotation @ body.angular_velocity,
        (prim.world @ [*mass.center_of_mass, 1.0])[:3],
        rotation @ frames.matrix_of(mass.principal_axes),
    )
