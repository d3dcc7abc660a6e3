"""Blender scene -> model: places, units, instances, joints, groups, materials."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.schemas import usd_physics

from . import scenes
from .scenes import codes, placed, read, read_model, the

TURNED = placed((1, 2, 3), (0.3, -0.7, 1.1))
#: World places that are awkward, by name.
PLACES = {
    "plain": Matrix.Identity(4),
    "turned": TURNED,
    "uneven": TURNED @ placed(scale=(2, 0.5, 3)),
    "mirrored": TURNED @ placed(scale=(2, -0.5, 3)),
    "mirrored in all": TURNED @ placed(scale=(-1, -1, -1)),
    "turned by mirrors": placed((4, 5, 6), (0.1, 0.2, 0.3), (-2, -2, 1)),
}
places = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)


def close(first: Any, second: Any, tolerance: float = 1e-5) -> bool:
    return bool(np.allclose(np.array(first), np.array(second), atol=tolerance))


def rigid(matrix: Any) -> np.ndarray:
    """Position and orientation of a matrix of mathutils, without scale."""
    location, rotation, _ = matrix.decompose()
    return np.array(Matrix.LocRotScale(location, rotation, None))


def frame_of(joint: Any, side: int, model: Any) -> np.ndarray:
    """World frame of one side of a joint, from what is written for it."""
    value = joint.get(usd_physics.Joint)
    target = getattr(value, f"body{side}")
    body = model.prims[target[0]].world if target else None
    return frames.world_frame(body, getattr(value, f"local_pos{side}"), getattr(value, f"local_rot{side}"))


# --------------------------------------------------------------------------- places


def test_a_scene_without_physics_gives_nothing():
    scenes.add_box("Plain")
    reading = read()
    assert (reading.model.prims, reading.issues) == ({}, [])


@places
def test_world_matrix_of_nested_objects(place):
    top = scenes.add("Top", matrix_world=place)
    middle = scenes.add("Middle", parent=top, location=(0, 1, 0), rotation_euler=(0, 0, 0.5))
    body = scenes.solid("Body", parent=middle, scale=(1, 2, 3))
    model = read_model()
    expected = place @ placed((0, 1, 0), (0, 0, 0.5)) @ placed(scale=(1, 2, 3))
    assert list(model.bodies) == ["/root/Top/Middle/Body"]
    assert close(the(model.bodies).world, expected)
    assert list(model.colliders) == ["/root/Top/Middle/Body/Body"]
    assert close(the(model.colliders).world, expected)
    assert model.body_of("/root/Top/Middle/Body/Body") is the(model.bodies)
    assert close(the(model.bodies).world, scenes.world_of(body))


def test_metres():
    """100 Blender units of a scene in centimetres are one metre."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01
    body = scenes.solid("Body", (100, 50, 50), location=(100, 0, 0), scale=(1, 2, 1))
    scenes.assign(body.usdphys.rigid_body, velocity=(100, 0, 0), angular_velocity=(1, 0, 0))
    scenes.assign(body.usdphys.mass, is_applied=True, mass=2.0, density=1000.0, center_of_mass=(10, 0, 0))
    model = read_model()
    prim = the(model.bodies)
    assert model.units.meters_per_unit == pytest.approx(0.01)
    assert close(prim.world, placed((1, 0, 0), scale=(1, 2, 1)))
    value, mass = prim.get(usd_physics.RigidBodyAPI), prim.get(usd_physics.MassAPI)
    assert value.velocity == pytest.approx((1, 0, 0))
    assert value.angular_velocity == pytest.approx((1, 0, 0))
    assert (mass.mass, mass.density) == pytest.approx((2, 1000))
    assert mass.center_of_mass == pytest.approx((0.1, 0, 0))
    mesh = the(model.colliders).mesh()
    assert close(np.ptp(mesh.points, axis=0), (2, 1, 1))


def test_only_what_is_set_is_authored():
    body = scenes.make_body(scenes.add("Body"), starts_asleep=False)
    body.usdphys.mass.is_applied = True
    prim = the(read_model().bodies)
    assert [(attribute.field, value) for attribute, value in prim.get(usd_physics.RigidBodyAPI).authored()] == [
        ("starts_asleep", False)
    ]
    assert list(prim.get(usd_physics.MassAPI).authored()) == []


def test_objects_that_share_a_mesh():
    first = scenes.solid("First")
    second = scenes.add("Second", first.data, location=(5, 0, 0), scale=(1, 1, 2))
    scenes.make_collider(second)
    model = read_model()
    assert list(model.colliders) == ["/root/First/First", "/root/Second/First"]
    assert model.body_of("/root/Second/First") is None
    assert close(model.colliders["/root/Second/First"].world, placed((5, 0, 0), scale=(1, 1, 2)))


@pytest.mark.parametrize("how", ["hide_viewport", "hide_set", "collection", "view layer"])
def test_hidden_objects_are_absent(how):
    collection = scenes.new_collection("Hidden", linked=True)
    scenes.solid("Shown")
    hidden = scenes.solid("Hidden", collection=collection)
    if how == "hide_viewport":
        hidden.hide_viewport = True
    elif how == "hide_set":
        hidden.hide_set(True)
    elif how == "collection":
        collection.hide_viewport = True
    else:
        bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True
    assert list(read_model().bodies) == ["/root/Shown"]


def test_physics_in_a_collection_whose_eye_is_closed_is_there_and_reported():
    """Blender evaluates and exports it; only the 3D view does not show it."""
    above = scenes.new_collection("Above", linked=True)
    collection = bpy.data.collections.new("Hidden")
    above.children.link(collection)
    scenes.solid("Shown")
    scenes.solid("Unseen", collection=collection)
    for layer_collection in (
        bpy.context.view_layer.layer_collection.children["Above"],
        bpy.context.view_layer.layer_collection.children["Above"].children["Hidden"],
    ):
        layer_collection.hide_viewport = True
        result = scenes.read()
        assert sorted(result.model.bodies) == ["/root/Shown", "/root/Unseen"]
        assert [(issue.code, issue.severity, issue.label) for issue in result.issues] == [
            ("NotShown", "info", "Unseen")
        ]  # fmt: skip
        layer_collection.hide_viewport = False
    assert not scenes.read().issues


def test_physics_is_reported_where_all_of_it_is_hidden():
    scenes.add("Plain")
    scenes.solid("Hidden").hide_viewport = True
    result = scenes.read()
    assert not result.model.prims
    assert [(issue.code, issue.label) for issue in result.issues] == [("NotExported", "Hidden")]


def test_child_of_a_hidden_parent_keeps_its_place():
    parent = scenes.add("Parent", location=(1, 0, 0), hide_viewport=True)
    scenes.solid("Child", parent=parent, location=(0, 2, 0))
    prim = the(read_model().bodies)
    assert prim.path == "/root/Parent/Child"
    assert close(prim.world, placed((1, 2, 0)))


def test_keep_leaves_out():
    scenes.solid("Kept")
    scenes.solid("Dropped")
    assert list(read_model(keep=lambda obj: obj.name == "Kept").bodies) == ["/root/Kept"]


@pytest.mark.parametrize("root", ["", "/", "/world", "/a/b"])
def test_root(root):
    scenes.solid("Body")
    model = read_model(root=root)
    base = root.rstrip("/")
    assert list(model.bodies) == [f"{base}/Body"]
    assert list(model.scenes) == [f"{base}/PhysicsScene"]


def test_modifiers_count():
    obj = scenes.solid("Row")
    scenes.assign(obj.modifiers.new("Array", "ARRAY"), count=3)
    mesh = the(read_model().colliders).mesh()
    assert len(mesh.points) == 24
    assert close(np.ptp(mesh.points, axis=0), (3, 1, 1))


def test_shape_keys_count():
    obj = scenes.solid("Grown")
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Tall")
    for point in key.data:
        point.co.z *= 4
    key.value = 0.5
    assert close(np.ptp(the(read_model().colliders).mesh().points, axis=0), (1, 1, 2.5))


@pytest.mark.parametrize("animated", ["itself", "parent", "driver", "constraint", "nothing"])
def test_animation(animated):
    parent = scenes.add("Parent")
    body = scenes.solid("Body", parent=parent)
    scenes.make_body(body, kinematic_enabled=True)
    if animated in ("itself", "parent"):
        (body if animated == "itself" else parent).keyframe_insert("location", frame=1)
    elif animated == "driver":
        body.driver_add("location", 0)
    elif animated == "constraint":
        body.constraints.new("COPY_LOCATION").target = scenes.add("Target", location=(7, 0, 0))
    prim = the(read_model().bodies)
    assert prim.get(usd_physics.RigidBodyAPI).kinematic_enabled is True
    assert prim.is_animated == (animated != "nothing")
    if animated == "constraint":
        assert close(prim.world[:3, 3], (7, 0, 0))


def test_material_animation_is_no_animation():
    body = scenes.solid("Body")
    body.data.materials.append(bpy.data.materials.new("Blinking"))
    body.data.materials[0].keyframe_insert("diffuse_color", frame=1)
    assert not the(read_model().bodies).is_animated


# --------------------------------------------------------------------------- instances


def rig(collection: Any) -> tuple[Any, Any, Any]:
    base = scenes.solid("Base", collection=collection)
    arm = scenes.solid("Arm", collection=collection, location=(2, 0, 0))
    return base, arm, scenes.add_joint("Hinge", "REVOLUTE", base, arm, collection=collection, location=(1, 0, 0))


def test_each_instance_has_a_joint_of_its_own_bodies():
    collection = scenes.new_collection("Rig")
    rig(collection)
    spots = {"One": (10, 0, 0), "Two": (0, 20, 0)}
    for name, location in spots.items():
        scenes.add_instance(name, collection, location=location)
    model = read_model()
    assert len(model.bodies) == 4
    assert len(model.joints) == 2
    for path, joint in model.joints.items():
        instance = path.split("/")[2]
        value = joint.get(usd_physics.Joint)
        (base,), (arm,) = value.body0, value.body1
        assert base.startswith(f"/root/{instance}/Base")
        assert arm.startswith(f"/root/{instance}/Arm")
        assert close(model.prims[base].world[:3, 3], spots[instance])
        for side in (0, 1):
            assert close(frame_of(joint, side, model)[:3, 3], np.add(spots[instance], (1, 0, 0)))
    assert {path.split("/")[2] for path in model.joints} == set(spots)


def test_nested_instances():
    inner, outer = scenes.new_collection("Inner"), scenes.new_collection("Outer")
    rig(inner)
    scenes.add_instance("Left", inner, collection=outer, location=(0, 1, 0))
    scenes.add_instance("Right", inner, collection=outer, location=(0, -1, 0))
    scenes.add_instance("Top", outer, location=(5, 0, 0))
    scenes.add_instance("Bottom", outer, location=(-5, 0, 0), rotation_euler=(0, 0, math.pi))
    model = read_model()
    assert len(model.bodies) == 8
    assert len(model.joints) == 4
    expected = {(5, 1), (5, -1), (-5, -1), (-5, 1)}
    bases = {path: prim for path, prim in model.bodies.items() if prim.label == "Base"}
    assert {tuple(np.round(prim.world[:2, 3]).astype(int)) for prim in bases.values()} == expected
    for path, joint in model.joints.items():
        parent = path.rsplit("/", 1)[0]
        value = joint.get(usd_physics.Joint)
        assert [target.rsplit("/", 1)[0] for target in (*value.body0, *value.body1)] == [parent, parent]
        assert close(frame_of(joint, 0, model), frame_of(joint, 1, model))
        assert close(frame_of(joint, 0, model)[:3, 3], joint.world[:3, 3])


def test_joint_in_a_nested_instance_finds_the_body_around_it():
    inner, outer = scenes.new_collection("Inner"), scenes.new_collection("Outer")
    frame = scenes.solid("Frame", collection=outer)
    wheel = scenes.solid("Wheel", collection=inner)
    scenes.add_joint("Axle", "REVOLUTE", frame, wheel, collection=inner)
    scenes.add_instance("Mount", inner, collection=outer)
    for name in ("One", "Two"):
        scenes.add_instance(name, outer)
    reading = read()
    assert codes(reading.issues) == []
    for path, joint in reading.model.joints.items():
        (frame_path,) = joint.get(usd_physics.Joint).body0
        assert frame_path.split("/")[2] == path.split("/")[2]
    assert len(reading.model.joints) == 2


def test_instance_of_a_child_without_its_parent():
    """The parent stays outside of the collection: what is instanced hangs below the instance."""
    collection = scenes.new_collection("Part", linked=True)
    parent = scenes.add("Parent", location=(1, 0, 0))
    scenes.solid("Child", parent=parent, collection=collection)
    scenes.add_instance("Copy", collection, location=(0, 5, 0))
    model = read_model()
    found = {tuple(np.round(prim.world[:3, 3]).astype(int)): path for path, prim in model.bodies.items()}
    assert found[(1, 0, 0)] == "/root/Parent/Child"
    assert found[(1, 5, 0)].startswith("/root/Copy/Child")


def test_linked_collection_instance(tmp_path):
    rig(scenes.new_collection("Rig", linked=True))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "rig.blend"), link=True) as (_, wanted):
        wanted.collections = ["Rig"]
    scenes.add_instance("Here", wanted.collections[0], location=(0, 0, 3))
    scenes.solid("Base", location=(9, 0, 0))
    model = read_model()
    joint = the(model.joints)
    assert joint.get(usd_physics.Joint).body0[0].startswith("/root/Here/Base")
    assert close(frame_of(joint, 0, model)[:3, 3], (1, 0, 3))
    assert len(model.bodies) == 3


def test_names_that_become_equal_stay_apart():
    for number, name in enumerate(("A.001", "A_001", "A 001")):
        obj = scenes.solid(name, location=(number, 0, 0))
        scenes.assign(obj.usdphys.mass, is_applied=True, mass=number + 1)
    model = read_model()
    assert len(model.bodies) == 3
    for path, prim in model.bodies.items():
        assert prim.get(usd_physics.MassAPI).mass == prim.world[0, 3] + 1
        assert len(model.colliders_of(path)) == 1


# --------------------------------------------------------------------------- joints


def bodies(place0: Any = None, place1: Any = None) -> tuple[Any, Any]:
    return tuple(
        scenes.solid(name, matrix_world=place or Matrix.Identity(4))
        for name, place in (("First", place0), ("Second", place1))
    )


@places
@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_frame_is_the_place_of_the_joint(place, scale_length):
    bpy.context.scene.unit_settings.scale_length = scale_length
    where = placed((3, -1, 2), (0.5, 0.25, -0.75))
    scenes.add_joint("Joint", "FIXED", *bodies(place, TURNED), matrix_world=where)
    model = read_model()
    joint = the(model.joints)
    assert joint.type_name == "PhysicsFixedJoint"
    expected = rigid(where)
    expected[:3, 3] *= scale_length
    value = joint.get(usd_physics.Joint)
    assert (value.body0, value.body1) == (("/root/First",), ("/root/Second",))
    for side in (0, 1):
        assert close(frame_of(joint, side, model), expected)


@pytest.mark.parametrize("parent", [k for k in PLACES if "mirror" not in k])
def test_joint_below_a_scaled_body(parent):
    first, second = bodies(PLACES[parent])
    scenes.add_joint("Joint", "REVOLUTE", first, second, parent=first, location=(0.5, 0, 0))
    model = read_model()
    joint = the(model.joints)
    assert joint.path == "/root/First/Joint"
    expected = PLACES[parent] @ Matrix.Translation((0.5, 0, 0))
    for side in (0, 1):
        assert close(frame_of(joint, side, model)[:3, 3], expected.translation)
    assert joint.get(usd_physics.Joint).local_pos0 == pytest.approx((0.5, 0, 0), abs=1e-6)


def test_frames_that_are_set_differ():
    first, second = bodies(None, placed((5, 0, 0)))
    joint = scenes.add_joint("Joint", "SPHERICAL", first, second, location=(2, 0, 0))
    turn = Quaternion((0, 0, 1), 0.5)
    scenes.assign(joint.usdphys.joint, local_pos1=(-1, 0.5, 0), local_rot1=turn)
    model = read_model()
    value = the(model.joints).get(usd_physics.Joint)
    assert value.local_pos0 == pytest.approx((2, 0, 0))
    assert value.local_rot0 == pytest.approx((1, 0, 0, 0))
    assert value.local_pos1 == pytest.approx((-1, 0.5, 0))
    assert value.local_rot1 == pytest.approx(tuple(turn))


@pytest.mark.parametrize("side", [0, 1])
def test_world_anchor(side):
    body = scenes.solid("Body", location=(1, 0, 0))
    where = placed((1, 2, 3), (0, 0, 0.5))
    sides = {f"body{1 - side}": body}
    scenes.add_joint("Joint", "FIXED", **sides, matrix_world=where)
    reading = read()
    value = the(reading.model.joints).get(usd_physics.Joint)
    assert reading.issues == []
    assert getattr(value, f"body{side}") is None
    assert getattr(value, f"body{1 - side}") == ("/root/Body",)
    for one in (0, 1):
        assert close(frame_of(the(reading.model.joints), one, reading.model), where)


@pytest.mark.parametrize("how", ["deleted", "removed from the scene", "hidden"])
def test_missing_body_is_said(how):
    first, second = bodies()
    scenes.add_joint("Joint", "FIXED", first, second)
    if how == "deleted":
        bpy.data.objects.remove(second)
    elif how == "hidden":
        second.hide_viewport = True
    else:
        bpy.context.scene.collection.objects.unlink(second)
    reading = read()
    *others, issue = reading.issues
    assert [other.code for other in others] == (["NotExported"] if how == "hidden" else [])
    assert (issue.code, issue.severity) == ("JointBodyMissing", "error")
    assert "'Second'" in issue.message
    assert the(reading.model.joints).get(usd_physics.Joint).body0 == ("/root/First",)


def test_body_scaled_to_nothing_is_said():
    first, second = bodies()
    first.scale = (1, 1, 0)
    first.usdphys.colliders.clear()
    scenes.add_joint("Joint", "FIXED", first, second)
    assert codes(read().issues) == [("ZeroScale", "error")]


@pytest.mark.parametrize("kind", ["mesh", "parent", "collection instance", "collider", "body"])
def test_joint_of_an_object_that_is_more_than_a_joint(kind):
    """A joint prim has no place in space, so nothing can hang on it."""
    first, second = bodies()
    joint = scenes.add("Joint", scenes.box_mesh("Joint") if kind == "mesh" else None, location=(1, 0, 0))
    scenes.assign(joint.usdphys.joint, is_applied=True, body0=first, body1=second)
    if kind == "parent":
        scenes.add("Child", parent=joint)
    elif kind == "collection instance":
        collection = scenes.new_collection("Part")
        scenes.solid("Inside", collection=collection)
        scenes.assign(joint, instance_type="COLLECTION", instance_collection=collection)
    elif kind == "collider":
        scenes.make_collider(joint, "CUBE", size=(1, 1, 1))
    elif kind == "body":
        scenes.make_body(joint)
    model = read_model()
    assert list(model.joints) == ["/root/Joint/Joint_joint"]
    assert close(frame_of(the(model.joints), 0, model)[:3, 3], (1, 0, 0))
    assert "/root/Joint" not in model.joints


# --------------------------------------------------------------------------- values of joints


def authored(value: Any) -> dict[str, Any]:
    """What is authored, without the bodies and frames."""
    return {attribute.field: content for attribute, content in value.authored() if attribute.body is None
            and not attribute.is_relationship}  # fmt: skip


@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_limits_by_type(scale_length):
    bpy.context.scene.unit_settings.scale_length = scale_length
    for kind, values in {
        "REVOLUTE": {"lower_limit": -0.5, "upper_limit": 1.5},
        "PRISMATIC": {"lower_limit": -2.0, "upper_limit": 4.0},
        "SPHERICAL": {"cone_angle0_limit": 0.25, "cone_angle1_limit": -1.0},
        "DISTANCE": {"min_distance": 0.5, "max_distance": 2.0},
    }.items():
        joint = scenes.add_joint(kind, kind).usdphys.joint
        scenes.assign(getattr(joint, kind.lower()), **values)
        if kind != "DISTANCE":
            joint.axis = "Y"
    joints = {prim.label: authored(prim.get(usd_physics.Joint)) for prim in read_model().joints.values()}
    assert joints["REVOLUTE"] == {"axis": "Y", "lower_limit": -0.5, "upper_limit": 1.5}
    assert joints["SPHERICAL"] == {"axis": "Y", "cone_angle0_limit": 0.25, "cone_angle1_limit": -1.0}
    length = pytest.approx
    assert joints["PRISMATIC"] == {
        "axis": "Y", "lower_limit": length(-2 * scale_length), "upper_limit": length(4 * scale_length),
    }  # fmt: skip
    assert joints["DISTANCE"] == {
        "min_distance": length(0.5 * scale_length), "max_distance": length(2 * scale_length),
    }  # fmt: skip


def test_other_types_limits_do_not_leak():
    """Values that were set under another type stay in the file, but are not those of the joint."""
    joint = scenes.add_joint("Joint", "REVOLUTE").usdphys.joint
    joint.prismatic.lower_limit, joint.axis = -3.0, "Z"
    assert authored(the(read_model().joints).get(usd_physics.Joint)) == {"axis": "Z"}
    joint.type = "FIXED"
    assert authored(the(read_model().joints).get(usd_physics.Joint)) == {}


def test_infinite_values():
    joint = scenes.add_joint("Joint", "REVOLUTE").usdphys.joint
    joint.break_force = math.inf
    joint.revolute.lower_limit = -math.inf
    joint.drives.angular.is_applied = True
    joint.drives.angular.max_force = math.inf
    prim = the(read_model().joints)
    assert authored(prim.get(usd_physics.Joint)) == {"break_force": math.inf, "lower_limit": -math.inf}
    assert dict(prim.instances(usd_physics.DriveAPI))["angular"].max_force == math.inf


@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_drives_and_limits_of_degrees_of_freedom(scale_length):
    """Gains are per degree in Blender, as the angles are shown, and per radian in the model."""
    bpy.context.scene.unit_settings.scale_length = scale_length
    joint = scenes.add_joint("Joint", "GENERIC").usdphys.joint
    drive = {"stiffness": 10.0, "damping": 2.0, "target_position": 0.5, "target_velocity": 0.25, "max_force": 7.0}
    for dof in ("transX", "rotX"):
        scenes.assign(getattr(joint.drives, dof), is_applied=True, **drive)
        scenes.assign(getattr(joint.limits, dof), is_applied=True, low=-0.5, high=1.0)
    scenes.assign(joint.drives.rotY, is_applied=True, type="acceleration", stiffness=10.0, damping=2.0)
    scenes.assign(joint.drives.transY, is_applied=True, type="acceleration", stiffness=10.0, damping=2.0)
    scenes.assign(joint.drives.rotZ, stiffness=5.0, is_applied=False)
    prim = the(read_model().joints)
    drives = {dof: authored(value) for dof, value in prim.instances(usd_physics.DriveAPI)}
    limits = {dof: authored(value) for dof, value in prim.instances(usd_physics.LimitAPI)}
    degrees, length = math.degrees(1.0), scale_length
    approx = pytest.approx
    assert drives == {
        "transX": {"stiffness": 10.0, "damping": 2.0, "target_position": approx(0.5 * length),
                   "target_velocity": approx(0.25 * length), "max_force": 7.0},
        "rotX": {"stiffness": approx(10 * degrees), "damping": approx(2 * degrees), "target_position": 0.5,
                 "target_velocity": 0.25, "max_force": 7.0},
        "rotY": {"type": "acceleration", "stiffness": approx(10 * degrees), "damping": approx(2 * degrees)},
        "transY": {"type": "acceleration", "stiffness": 10.0, "damping": 2.0},
    }  # fmt: skip
    assert limits == {
        "transX": {"low": approx(-0.5 * length), "high": approx(length)},
        "rotX": {"low": -0.5, "high": 1.0},
    }  # fmt: skip


# --------------------------------------------------------------------------- physics scenes


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {}),
        ({"gravity": (0, 0, -1.62)}, {"gravity_direction": (0, 0, -1), "gravity_magnitude": 1.62}),
        ({"gravity": (3, 0, 4)}, {"gravity_direction": (0.6, 0, 0.8), "gravity_magnitude": 5}),
        ({"gravity": (0, 0, 0)}, {"gravity_magnitude": 0}),
        ({"use_gravity": False}, {"gravity_magnitude": 0}),
        ({"use_gravity": False, "gravity": (0, 0, -2)}, {"gravity_magnitude": 0}),
    ],
)
def test_gravity_of_the_scene(settings, expected):
    scenes.assign(bpy.context.scene, **settings)
    scenes.solid("Body")
    prim = the(read_model().scenes)
    assert authored(prim.get(usd_physics.PhysicsScene)) == {
        key: pytest.approx(value) for key, value in expected.items()
    }


def test_gravity_in_metres():
    scene = bpy.context.scene
    scene.unit_settings.scale_length, scene.gravity = 0.01, (0, 0, -981)
    scenes.solid("Body")
    assert the(read_model().scenes).get(usd_physics.PhysicsScene).gravity_magnitude == pytest.approx(9.81)


def test_two_physics_scenes_and_owners():
    for values in ({"name": "Earth"}, {"name": "Moon", "gravity_magnitude": 1.62}):
        scenes.assign(bpy.context.scene.usdphys.physics_scenes.add(), **values)
    bpy.context.scene.gravity = (0, 0, -3)  # the named scenes say what holds
    one, two = scenes.solid("One"), scenes.solid("Two")
    one.usdphys.rigid_body.simulation_owner = "Moon"
    two.usdphys.colliders[0].simulation_owner = "Earth"
    model = read_model()
    assert {path: authored(prim.get(usd_physics.PhysicsScene)) for path, prim in model.scenes.items()} == {
        "/root/Earth": {}, "/root/Moon": {"gravity_magnitude": pytest.approx(1.62)},
    }  # fmt: skip
    owners = {path: prim.get(usd_physics.RigidBodyAPI).simulation_owner for path, prim in model.bodies.items()}
    assert owners == {"/root/One": ("/root/Moon",), "/root/Two": None}
    assert model.prims["/root/Two/Two"].get(usd_physics.CollisionAPI).simulation_owner == ("/root/Earth",)


def test_owner_that_is_missing_is_said():
    scenes.solid("Body").usdphys.rigid_body.simulation_owner = "Mars"
    reading = read()
    assert codes(reading.issues) == [("OwnerMissing", "error")]
    assert the(reading.model.bodies).get(usd_physics.RigidBodyAPI).simulation_owner is None


def test_object_with_the_name_of_the_physics_scene():
    scenes.solid("PhysicsScene")
    reading = read()
    assert list(reading.model.bodies) == ["/root/PhysicsScene"]
    assert list(reading.model.scenes) == ["/root/PhysicsScene_1"]
    assert codes(reading.issues) == [("NameChanged", "info")]


# --------------------------------------------------------------------------- groups and pairs


def test_groups():
    one, two, three = (scenes.solid(name) for name in ("One", "Two", "Three"))
    child = scenes.solid("Child", parent=one)
    scenes.define_group("Red", ("Blue",), invert_filtered_groups=True)
    scenes.define_group("Blue", ("Red", "Blue"), merge_group="colours")
    for obj in (one, two):
        scenes.join_group(obj, "Red")
    scenes.join_group(child, "Red", exclude=True)
    scenes.join_group(three.usdphys.colliders[0].id_data, "Blue")
    scenes.assign(three.usdphys.colliders[0].collision_groups.add(), name="Red")
    reading = read()
    assert reading.issues == []
    red, blue = (reading.model.groups[f"/root/CollisionGroups/{name}"].get(usd_physics.CollisionGroup)
                 for name in ("Red", "Blue"))  # fmt: skip
    assert red.includes == ("/root/One", "/root/Two", "/root/Three/Three")
    assert red.excludes == ("/root/One/Child",)
    assert red.filtered_groups == ("/root/CollisionGroups/Blue",)
    assert (red.invert_filtered_groups, red.merge_group) == (True, None)
    assert blue.includes == ("/root/Three",)
    assert blue.excludes is None
    assert blue.filtered_groups == ("/root/CollisionGroups/Red", "/root/CollisionGroups/Blue")
    assert blue.merge_group == "colours"


def test_group_that_is_not_defined_is_said():
    scenes.join_group(scenes.solid("Body"), "Ghosts")
    reading = read()
    assert codes(reading.issues) == [("GroupUndefined", "warning")]
    assert the(reading.model.groups).get(usd_physics.CollisionGroup).includes == ("/root/Body",)


def test_group_of_another_scene_is_found():
    scenes.assign(bpy.data.scenes.new("Elsewhere").usdphys.collision_groups.add(), name="Red", merge_group="colours")
    scenes.join_group(scenes.solid("Body"), "Red")
    reading = read()
    assert reading.issues == []
    assert the(reading.model.groups).get(usd_physics.CollisionGroup).merge_group == "colours"


def test_filtered_group_that_is_missing_is_said():
    scenes.solid("Body")
    scenes.define_group("Red", ("Blue",))
    reading = read()
    assert codes(reading.issues) == [("GroupTargetMissing", "error")]
    assert the(reading.model.groups).get(usd_physics.CollisionGroup).filtered_groups is None


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("1st group",), ["_1st_group"]),
        (("a.b", "a_b"), ["a_b", "a_b_1"]),
        (("Körper",), ["K\u00f6rper"]),
    ],
)
def test_names_of_groups(names, expected):
    for name in names:
        scenes.define_group(name, (names[0],))
        scenes.join_group(scenes.solid(f"Member {name}"), name)
    reading = read()
    paths = [f"/root/CollisionGroups/{name}" for name in expected]
    assert list(reading.model.groups) == paths
    values = [prim.get(usd_physics.CollisionGroup) for prim in reading.model.groups.values()]
    assert [value.filtered_groups for value in values] == [(paths[0],)] * len(names)
    assert len({value.includes for value in values}) == len(names)
    changed = sum(name != made for name, made in zip(names, expected, strict=True))
    assert codes(reading.issues) == [("NameChanged", "info")] * changed


def test_filtered_pairs():
    one, two = scenes.solid("One"), scenes.solid("Two")
    gone = scenes.solid("Gone")
    pairs = scenes.assign(one.usdphys.filtered_pairs, is_applied=True).filtered_pairs
    pairs.add().object = two
    pairs.add().object = gone
    bpy.data.objects.remove(gone)
    collider = scenes.assign(two.usdphys.colliders[0].filtered_pairs, is_applied=True)
    collider.filtered_pairs.add().object = one
    reading = read()
    prims = reading.model.prims
    assert prims["/root/One"].get(usd_physics.FilteredPairsAPI).filtered_pairs == ("/root/Two",)
    assert prims["/root/Two/Two"].get(usd_physics.FilteredPairsAPI).filtered_pairs == ("/root/One",)
    assert codes(reading.issues) == [("FilteredPairMissing", "error")]


# --------------------------------------------------------------------------- materials


def materials_of(model: Any) -> tuple[str, ...]:
    return tuple(path.rsplit("/", 1)[1] for path in the(model.colliders).materials)


def test_slots_bring_physics_materials():
    obj = scenes.solid("Body")
    names = ("Rubber", "Ice", "Paint")
    for name in names[:2]:
        obj.data.materials.append(scenes.physics_material(name, restitution=0.5))
    obj.data.materials.append(bpy.data.materials.new("Paint"))
    obj.data.materials.append(bpy.data.materials["Rubber"])
    for index, face in enumerate(obj.data.polygons):
        face.material_index = index % 3
    model = read_model()
    assert materials_of(model) == ("Ice", "Rubber")  # the whole mesh is bound to the first slot, which comes last
    assert set(model.materials) == {"/root/_materials/Rubber", "/root/_materials/Ice"}
    assert the(model.colliders).physics_binding == ""
    assert model.materials["/root/_materials/Ice"].get(usd_physics.MaterialAPI).restitution == 0.5


def test_slots_of_the_object_win():
    first = scenes.solid("First")
    second = scenes.add("Second", first.data)
    scenes.make_collider(second)
    first.data.materials.append(scenes.physics_material("Shared"))
    second.material_slots[0].link = "OBJECT"
    second.material_slots[0].material = scenes.physics_material("Own")
    model = read_model()
    assert {path: prim.materials for path, prim in model.colliders.items()} == {
        "/root/First/First": ("/root/_materials/Shared",), "/root/Second/First": ("/root/_materials/Own",),
    }  # fmt: skip


@pytest.mark.parametrize(("of_object", "of_collider", "expected"), [
    (True, False, "Object"), (False, True, "Collider"), (True, True, "Collider"),
])  # fmt: skip
def test_physics_material_for_physics_only(of_object, of_collider, expected):
    obj = scenes.solid("Body")
    obj.data.materials.append(scenes.physics_material("Slot"))
    if of_object:
        obj.usdphys.physics_material = scenes.physics_material("Object")
    if of_collider:
        obj.usdphys.colliders[0].physics_material = scenes.physics_material("Collider")
    model = read_model()
    assert materials_of(model) == (expected,)
    assert the(model.colliders).physics_binding == f"/root/_materials/{expected}"


def test_materials_of_the_same_name_from_two_files(tmp_path):
    scenes.solid("Linked").data.materials.append(scenes.physics_material("Rubber", restitution=0.25))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    scenes.solid("Local").usdphys.physics_material = scenes.physics_material("Rubber", restitution=0.75)
    model = read_model()
    bounce = {prim.label: model.prims[prim.materials[0]].get(usd_physics.MaterialAPI).restitution
              for prim in model.colliders.values()}  # fmt: skip
    assert bounce == {"Linked": 0.25, "Local": 0.75}


# --------------------------------------------------------------------------- the rest of the API schemas


def test_articulation_root_and_mass_of_a_collider():
    obj = scenes.solid("Body")
    obj.usdphys.articulation_root.is_applied = True
    scenes.assign(obj.usdphys.colliders[0].mass, is_applied=True, density=500)
    model = read_model()
    assert list(model.articulations) == ["/root/Body"]
    assert the(model.colliders).get(usd_physics.MassAPI).density == 500
    assert model.prims["/root/Body"].get(usd_physics.MassAPI) is None


def test_copies_are_read_as_each_alone_would_be():
    """Objects with equal properties, meshes and scales are read once; whatever differs is read for itself."""
    bpy.ops.mesh.primitive_cube_add()
    first = bpy.context.active_object
    first.name = "Crate"
    first.usdphys.rigid_body.is_applied = True
    own = first.usdphys.colliders.add()
    own.shape, own.location, own.rotation = "CAPSULE", (0.1, 0.2, 0.3), (0.9, 0.1, 0.2, 0.3)
    own.radius = 0.2
    first.usdphys.colliders.add().shape = "MESH"
    material = bpy.data.materials.new("Rubber")
    material.usdphys.physics_material.is_applied = True

    def copied(name, **changes):
        obj = first.copy()
        obj.name, obj.location = name, (len(bpy.data.objects), 2, 1)
        bpy.context.collection.objects.link(obj)
        for key, value in changes.items():
            setattr(obj, key, value)
        return obj

    for number in range(3):
        copied(f"Same {number}")
        copied(f"Turned {number}", rotation_euler=(0.3, 0.2, 0.1))
    copied("Large", scale=(1, 2, 3))
    copied("Heavy").usdphys.mass.is_applied = True
    copied("Disabled").usdphys.rigid_body.rigid_body_enabled = False
    copied("Other shape").usdphys.colliders[0].radius = 0.25
    copied("Hidden", hide_render=True)
    copied("Sticky").usdphys.physics_material = material
    copied("Grouped").usdphys.collision_groups.add().name = "Some"
    copied("Bent").modifiers.new("Bend", "SIMPLE_DEFORM")
    copied("Moved").constraints.new("COPY_LOCATION")
    copied("Keyed").keyframe_insert("location", frame=1)
    above, below = copied("Above"), copied("Below")
    below.parent = above
    # The name of the prim of the collider is taken.
    copied("Capsule_collider").parent = copied("Taken")
    slot = copied("Slot")
    slot.data = slot.data.copy()
    slot.data.materials.append(material)
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    reading = scene_read.read_scene(depsgraph)
    # Copies share the pose of their collider, which is computed for each object that is read.
    placed = [prim for prim in reading.model.colliders.values() if prim.local is not None]
    firsts = {id(prim.local): prim.label for prim in reversed(placed)}
    assert {prim.label for prim in placed if firsts[id(prim.local)] != prim.label} == {
        "Same 0", "Same 1", "Same 2", "Turned 1", "Turned 2",
    }  # fmt: skip
    wrong = {}
    for obj in bpy.context.scene.objects:
        family = {obj, obj.parent, *obj.children}
        alone = scene_read.read_scene(depsgraph, keep=lambda other, family=family: other in family)
        for path, prim in alone.model.prims.items():
            if prim.label == obj.name and (found := differences(prim, reading.model.prims[path])):
                wrong[path] = found
    assert wrong == {}


def differences(one, other):
    """Names of the fields in which two prims differ."""
    names = ("type_name", "schemas", "materials", "physics_binding", "purpose", "is_animated", "label", "extras")
    found = [name for name in names if getattr(one, name) != getattr(other, name)]
    if not np.allclose(one.world, other.world, atol=1e-12):
        found.append("world")
    if (one.local is None) != (other.local is None) or not np.array_equal(one.local, other.local):
        found.append("local")
    meshes = [prim.mesh().points.tobytes() if prim.mesh is not None else b"" for prim in (one, other)]
    return found if meshes[0] == meshes[1] else [*found, "mesh"]
