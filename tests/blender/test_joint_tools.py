"""Operators that make joints and change them: where the frames are in the world, what the model says, what a
simulation makes of it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import bmesh
import bpy
import mathutils
import numpy as np
import pytest
from mathutils import Matrix, Vector
from pxr import UsdPhysics
from usdphys_ext.operators import joint_tools as operators
from usdphys_ext.usdphys_addon.authoring import closest_point, joint_edits, vendor_edits
from usdphys_ext.usdphys_addon.bridge import joint_frames, props
from usdphys_ext.usdphys_addon.core import frames, joint_kinds, vendor_schemas
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.core.validate import validate

from . import scenes
from .layout_recorder import draw

pytestmark = pytest.mark.slow

SIX = 2e-6
KINDS = list(joint_kinds.BY_IDENTIFIER)
AXES = np.eye(3)
#: Turned so that local X is world Y.
QUARTER = (0, 0, math.pi / 2)


def select(*objects: Any, active: Any = None) -> None:
    """Select these and nothing else; the first is active by default."""
    for obj in list(bpy.context.selected_objects):
        obj.select_set(False)
    for obj in objects:
        obj.select_set(True)
    bpy.context.view_layer.objects.active = active or objects[0]
    bpy.context.view_layer.update()


def the_joint() -> Any:
    (joint,) = all_joints()
    return joint


def all_joints() -> list[Any]:
    return [obj for obj in bpy.context.scene.objects if obj.usdphys.joint.is_applied]


def frames_in_model(obj: Any, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """World frames of both sides as the model has them, metres."""
    model = scenes.read_model(**options)
    (prim,) = [prim for prim in model.joints.values() if prim.label == obj.name]
    joint = prim.get(usd_physics.Joint)
    found = []
    for side in (0, 1):
        (target,) = getattr(joint, f"body{side}") or ("",)
        world: Any = None
        if target in model.prims:
            world = model.prims[target].world
        elif target:
            # What stands still is no prim of the model itself.
            world = scenes.world_of(getattr(obj.usdphys.joint, f"body{side}"))
            world[:3, 3] *= model.units.meters_per_unit
        found.append(frames.world_frame(world, joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}")))
    return found[0], found[1]


def assert_frames(obj: Any, place: Any, rotation: Any = None, **options: Any) -> None:
    for frame in frames_in_model(obj, **options):
        assert np.abs(frame[:3, 3] - place).max() < SIX, frame
        if rotation is not None:
            assert np.abs(frame[:3, :3] - rotation).max() < SIX, frame


def errors(model: Any = None) -> list[str]:
    model = model or scenes.read_model()
    return [f"{issue.code}: {issue.message}" for issue in validate(model) if issue.severity == "error"]


def frame_and_door(**settings: Any) -> tuple[Any, Any]:
    frame = scenes.add_box("Frame", (0.1, 0.1, 1), location=(-0.6, 0, 1))
    door = scenes.add_box("Door", (0.5, 0.05, 1), location=(0.1, 0, 1), **settings)
    select(frame, door)
    return frame, door


def refused(operator: Any, **options: Any) -> str:
    with pytest.raises(RuntimeError) as caught:
        operator(**options)
    return str(caught.value)


# --------------------------------------------------------------------------- where a joint goes

PARENTS = {
    "plain": {}, "scaled": {"scale": (2, 0.5, 3)}, "mirrored": {"scale": (-1, 1, 1)}, "turned": {"euler": (0.3, 1, -2)},
    "all": {"scale": (2, 3, 0.5), "euler": (0.3, 1, -2), "location": (4, -2, 1)},
}  # fmt: skip


def two_bodies(how: str) -> tuple[Any, Any]:
    """Two boxes, each below a parent of its own that is placed in some way."""
    made = []
    for name, x in (("First", -2.0), ("Second", 2.0)):
        parent = scenes.add(f"{name} Parent")
        parent.matrix_world = Matrix.Translation((x, 0, 0)) @ scenes.placed(**PARENTS[how])
        obj = scenes.add(name, scenes.box_mesh(f"{name} Mesh", (0.5, 0.4, 0.3), (0.2, 0, 0)), parent=parent)
        # A rotation below an uneven scale would shear the body, in which no joint has a place of its own.
        obj.location, obj.scale = (0.5, 0.25, -0.125), (1.5, 1.0, 0.5)
        made.append(obj)
    select(*made)
    return made[0], made[1]


def center_of(obj: Any) -> np.ndarray:
    world = scenes.world_of(obj)
    return world[:3, :3] @ (0.2, 0, 0) + world[:3, 3]


#: Every place below every parent; kinds and units in turn, so that each meets each place and each parent's kind.
PLACES = [
    (place, how, KINDS[number % len(KINDS)], (1.0, 0.01)[(number + number // len(KINDS)) % 2])
    for number, (how, place) in enumerate(itertools.product(PARENTS, ("CURSOR", "MIDPOINT", "CHILD_ORIGIN")))
]


def test_a_new_joint_takes_no_choice_over_from_the_joint_before():
    """After one slide the button *Joint* made a slide of each door; a wheel's motor and axis went to what came next."""
    declared = bpy.ops.usdphys.joint_add.get_rna_type().properties
    kept = {name for name in ("type", "place", "axis", "has_limits", "motor") if not declared[name].is_skip_save}
    assert kept == set()


@pytest.mark.parametrize(("place", "how", "kind", "meters"), PLACES)
def test_place(place, how, kind, meters):
    bpy.context.scene.unit_settings.scale_length = meters
    one, other = two_bodies(how)
    cursor = bpy.context.scene.cursor
    cursor.location, cursor.rotation_euler = (0.5, -1.5, 2.0), (0.2, 0.4, 0.6)
    wanted = {
        "CURSOR": np.array(cursor.location), "MIDPOINT": (center_of(one) + center_of(other)) / 2,
        "CHILD_ORIGIN": scenes.world_of(other)[:3, 3],
    }[place]  # fmt: skip
    assert bpy.ops.usdphys.joint_add(type=kind, place=place) == {"FINISHED"}
    obj = the_joint()
    turn = np.array(cursor.matrix)[:3, :3] if place == "CURSOR" else np.eye(3)
    assert_frames(obj, wanted * meters, turn)
    assert np.abs(scenes.world_of(obj) - frames.transform(wanted, turn)).max() < 5e-6
    assert (obj.usdphys.joint.type, obj.usdphys.joint.body0, obj.usdphys.joint.body1) == (kind, one, other)
    assert obj.usdphys.joint.is_property_set("axis") == (kind in ("REVOLUTE", "PRISMATIC", "SPHERICAL"))
    assert errors() == []


@pytest.mark.parametrize(
    ("axis", "how"),
    [*((axis, "all") for axis in ("WORLD_X", "WORLD_Y", "WORLD_Z", "BODY_X", "BODY_Y", "BODY_Z", "CURSOR")),
     ("BODY_X", "mirrored"), ("BODY_Y", "scaled"), ("BODY_Z", "turned"), ("BODY_Z", "plain"), ("WORLD_X", "mirrored")],
)  # fmt: skip
def test_axis(axis, how):
    _, other = two_bodies(how)
    bpy.context.scene.cursor.rotation_euler = (0.2, 0.4, 0.6)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="MIDPOINT", axis=axis)
    obj = the_joint()
    index = "XYZ".index(obj.usdphys.joint.axis)
    wanted = {
        "W": AXES[index], "B": frames.rotation_of(scenes.world_of(other))[:, index],
        "C": np.array(bpy.context.scene.cursor.matrix)[:3, 2],
    }[axis[0]]  # fmt: skip
    if axis[0] != "C":
        assert obj.usdphys.joint.axis == axis[-1]
    for frame in frames_in_model(obj):
        assert np.abs(frame[:3, index] - wanted).max() < SIX


def test_door_is_one_action():
    frame, door = frame_and_door()
    bpy.context.scene.cursor.location = (-0.45, 0, 1)
    bpy.ops.usdphys.joint_add(type="REVOLUTE")
    joint = the_joint().usdphys.joint
    assert (joint.body0, joint.body1, joint.axis) == (frame, door, "Z")
    # At the side of the door that is next to the frame.
    assert_frames(the_joint(), (-0.4, 0, 1), np.eye(3))
    # The door moves, the frame stands.
    assert door.usdphys.rigid_body.is_applied
    assert not frame.usdphys.rigid_body.is_applied
    assert [item.shape for obj in (frame, door) for item in obj.usdphys.colliders] == ["AUTO", "AUTO"]
    model = scenes.read_model()
    assert len(model.colliders) == 2
    assert [prim.label for prim in model.bodies.values()] == ["Door"]


def test_joint_to_world():
    _, door = frame_and_door()
    select(door)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="CHILD_ORIGIN")
    obj = the_joint()
    assert obj.usdphys.joint.body0 is None
    assert obj.usdphys.joint.body1 == door
    assert obj.parent == door
    assert_frames(obj, (0.1, 0, 1), np.eye(3))
    assert errors() == []


def test_looks_and_place_in_the_outliner():
    frame, door = frame_and_door()
    home = scenes.new_collection("House", linked=True)
    for obj in (frame, door):
        bpy.context.scene.collection.objects.unlink(obj)
        home.objects.link(obj)
    select(frame, door)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="MIDPOINT")
    obj = the_joint()
    assert (obj.name, obj.type, obj.empty_display_type) == ("Door Joint", "EMPTY", "ARROWS")
    assert [collection.name for collection in obj.users_collection] == ["Physics Joints"]
    assert [child.name for child in home.children] == ["Physics Joints"]
    assert 0.1 < obj.empty_display_size < 1.0
    assert bpy.context.selected_objects == [obj]
    assert bpy.context.active_object == obj
    select(frame, door)
    bpy.ops.usdphys.joint_add(type="FIXED", place="MIDPOINT")
    assert [child.name for child in home.children] == ["Physics Joints"]


def test_size_is_of_the_bodies():
    """Below a small body, which scales what hangs on it, too."""
    frame, door = frame_and_door()
    for obj in (frame, door):
        obj.scale, obj.location = (0.01,) * 3, np.array(obj.location) * 0.01
    select(frame, door)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="MIDPOINT")
    obj = the_joint()
    assert 0.001 < obj.empty_display_size * max(obj.matrix_world.to_scale()) < 0.01


def test_joint_moves_with_the_assembly():
    frame, door = frame_and_door()
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="MIDPOINT")
    before = frames_in_model(the_joint())
    move = scenes.placed((3, 2, 1), QUARTER)
    for obj in (frame, door):
        obj.matrix_world = move @ obj.matrix_world
    bpy.context.view_layer.update()
    for old, new in zip(before, frames_in_model(the_joint()), strict=True):
        assert np.abs(np.array(move) @ old - new).max() < 5e-6


def test_name_of_a_side_can_be_mirrored():
    arm = scenes.add_box("Arm.L")
    select(arm)
    bpy.ops.usdphys.joint_add(place="CHILD_ORIGIN")
    assert the_joint().name == "Arm Joint.L"
    assert bpy.utils.flip_name("Arm Joint.L") == "Arm Joint.R"


def test_name_is_not_that_of_the_mesh_of_the_parent():
    door = scenes.add("Door", scenes.box_mesh("Door Joint"))
    select(door)
    bpy.ops.usdphys.joint_add(place="CHILD_ORIGIN")
    assert "NameClash" not in [issue.code for issue in scenes.read().issues]


# --------------------------------------------------------------------------- closest points


@pytest.mark.parametrize(
    ("half", "at", "wanted"),
    [
        ((0.5, 0.5, 0.5), (2, 0.25, 0), (1.0, 0.125, 0)),  # face to face, beside each other
        ((0.5, 0.5, 0.5), (1, 0.5, 0), (0.5, 0.25, 0)),  # touching
        ((0.5, 0.5, 0.5), (0.75, 0.25, 0.0), (0.375, 0.125, 0.0)),  # one in the other
        ((0.5, 0.5, 0.5), (2, 2, 0), (1, 1, 0)),  # edge to edge
        ((0.5, 0.5, 0.5), (2, 2, 2), (1, 1, 1)),  # corner to corner
        ((0.1, 0.1, 0.1), (0.2, 0.1, 0.75), (0.2, 0.1, 0.575)),  # a small one above a face
    ],
)  # fmt: skip
def test_closest(half, at, wanted):
    one = scenes.add_box("One")
    other = scenes.add_box("Other", half, location=at)
    for first, second in ((one, other), (other, one)):
        select(first, second)
        bpy.ops.usdphys.joint_add(type="FIXED", place="CLOSEST")
        obj = bpy.context.active_object
        assert_frames(obj, wanted)
        bpy.data.objects.remove(obj)


def test_closest_of_crossed_edges():
    """Neither of the closest points is a corner."""
    one = scenes.add_box("One", (1, 0.1, 0.1), rotation_euler=(math.pi / 4, 0, 0))
    other = scenes.add_box("Other", (0.1, 1, 0.1), rotation_euler=(0, math.pi / 4, 0), location=(0.3, 0.2, 2))
    select(one, other)
    bpy.ops.usdphys.joint_add(type="FIXED", place="CLOSEST")
    assert_frames(the_joint(), (0.3, 0, 1))


@pytest.mark.parametrize("how", PARENTS)
def test_closest_does_not_depend_on_how_a_thing_is_scaled(how):
    one, other = two_bodies(how)
    first, second = ((scenes.world_of(obj), obj) for obj in (one, other))
    points = []
    for world, obj in (first, second):
        corners = np.array([vertex.co for vertex in obj.data.vertices])
        points.append(corners @ world[:3, :3].T + world[:3, 3])
    bpy.ops.usdphys.joint_add(type="SPHERICAL", place="CLOSEST")
    place = frames_in_model(the_joint())[0][:3, 3]
    plain = [
        scenes.add(name, scenes.box_mesh(name)) for name in ("A", "B")
    ]  # fmt: skip
    for obj, corners in zip(plain, points, strict=True):
        obj.data.vertices.foreach_set("co", corners.astype(np.float32).ravel())
    select(*plain)
    bpy.ops.usdphys.joint_add(type="SPHERICAL", place="CLOSEST")
    assert np.abs(frames_in_model(bpy.context.active_object)[0][:3, 3] - place).max() < 1e-4


def test_closest_agrees_with_brute_force():
    rng = np.random.default_rng(7)
    for _ in range(5):
        surfaces = []
        for shift in ((0, 0, 0), (2.2, 0.3, -0.2)):
            points = rng.normal(size=(4, 3)) * 0.4 + shift
            surfaces.append((points, np.array([(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)])))
        weights = np.array([w for w in itertools.product(range(31), repeat=3) if sum(w) == 30]) / 30
        clouds = [np.concatenate([weights @ points[face] for face in faces]) for points, faces in surfaces]
        apart = np.linalg.norm(clouds[0][:, None] - clouds[1][None], axis=2)
        row, column = np.unravel_index(apart.argmin(), apart.shape)
        sampled = (clouds[0][row] + clouds[1][column]) / 2
        point, gap = closest_point.closest(*surfaces)
        assert np.linalg.norm(point - sampled) < 0.05 and gap == pytest.approx(apart.min(), abs=0.05)
        assert closest_point.closest(surfaces[0], surfaces[0])[1] == 0.0


def test_closest_uses_what_modifiers_make():
    one = scenes.add_box("One")
    other = scenes.add_box("Other", location=(4, 0, 0))
    array = one.modifiers.new("Array", "ARRAY")
    array.count = 2
    select(one, other)
    bpy.ops.usdphys.joint_add(type="FIXED", place="CLOSEST")
    assert_frames(the_joint(), (2.5, 0, 0))


def test_closest_of_a_body_that_is_an_empty_with_meshes():
    one = scenes.add_box("One")
    body = scenes.add("Body", location=(5, 0, 0))
    scenes.add_box("Part", parent=body, location=(-2, 0, 0))
    select(one, body)
    bpy.ops.usdphys.joint_add(type="FIXED", place="CLOSEST")
    assert_frames(the_joint(), (1.5, 0, 0))
    assert body.usdphys.rigid_body.is_applied
    assert len(bpy.data.objects["Part"].usdphys.colliders) == 1
    assert errors() == []


def test_closest_of_an_empty_is_its_origin():
    one, other = scenes.add_box("One"), scenes.add("Other", location=(2, 0, 0))
    select(one, other)
    bpy.ops.usdphys.joint_add(type="FIXED", place="CLOSEST")
    assert_frames(the_joint(), (1.25, 0, 0))


def test_closest_needs_two():
    select(scenes.add_box("One"))
    assert "'One' has no other surface to be close to" in refused(bpy.ops.usdphys.joint_add, place="CLOSEST")
    assert not all_joints()
    assert not bpy.data.objects["One"].usdphys.rigid_body.is_applied


# --------------------------------------------------------------------------- the picked face


def pick(obj: Any, index: int) -> None:
    for polygon in obj.data.polygons:
        polygon.select = polygon.index == index
    obj.data.polygons.active = index


@pytest.mark.parametrize(
    ("how", "face"), [*(("mirrored", face) for face in range(6)), ("plain", 0), ("scaled", 1), ("scaled", 4)]
)
def test_face(how, face):
    one, other = two_bodies(how)
    pick(one, face)
    corners = np.array([one.data.vertices[number].co for number in one.data.polygons[face].vertices])
    world = scenes.world_of(one)
    corners = corners @ world[:3, :3].T + world[:3, 3]
    outward = corners.mean(axis=0) - center_of(one)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="FACE")
    obj = the_joint()
    assert obj.usdphys.joint.body1 == other
    assert_frames(obj, corners.mean(axis=0))
    axis = frames_in_model(obj)[0][:3, 2]
    assert np.abs(axis @ (corners - corners[0]).T).max() < SIX
    assert axis @ outward > 0


def test_face_in_edit_mode():
    one, other = scenes.add_box("One"), scenes.add_box("Other", location=(2, 0, 0))
    pick(one, 1)
    select(one, other)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="FACE")
    assert bpy.context.mode == "OBJECT"
    assert_frames(the_joint(), (0.5, 0, 0))
    assert np.abs(frames_in_model(the_joint())[0][:3, 2] - (1, 0, 0)).max() < SIX


def test_face_without_a_choice():
    one = scenes.add_box("One")
    select(one)
    assert "'One' has no picked face" in refused(bpy.ops.usdphys.joint_add, place="FACE")
    select(scenes.add("Empty"))
    assert "not a mesh" in refused(bpy.ops.usdphys.joint_add, place="FACE")
    assert not all_joints()


# --------------------------------------------------------------------------- bodies


def test_make_bodies_off():
    frame, door = frame_and_door()
    bpy.ops.usdphys.joint_add(place="MIDPOINT", make_bodies=False)
    for obj in (frame, door):
        assert not props.is_physical(obj)
    assert len(all_joints()) == 1


def test_make_bodies_keeps_what_is_there():
    frame, door = frame_and_door()
    scenes.make_body(frame, kinematic_enabled=True)
    scenes.make_collider(frame, "SPHERE")
    scenes.make_collider(door, "MESH")
    bpy.ops.usdphys.joint_add(place="MIDPOINT")
    assert frame.usdphys.rigid_body.kinematic_enabled
    assert door.usdphys.rigid_body.is_applied
    assert [item.shape for item in frame.usdphys.colliders] == ["SPHERE"]
    assert [item.shape for item in door.usdphys.colliders] == ["MESH"]


@pytest.mark.parametrize("has_physics", [True, False])
@pytest.mark.parametrize("active", ["Door", "Frame"])
def test_what_is_static_stays_static_whichever_object_is_the_active_one(active, has_physics):
    """A boom without physics was made static, and the mast, which had been made static, was to turn."""
    frame, door = frame_and_door()
    scenes.make_collider(frame)
    if has_physics:
        scenes.make_body(door)
        scenes.make_collider(door)
    select(*((frame, door) if active == "Frame" else (door, frame)))
    bpy.ops.usdphys.joint_add(place="MIDPOINT")
    assert not frame.usdphys.rigid_body.is_applied and door.usdphys.rigid_body.is_applied
    assert errors() == []


def test_part_of_the_other_body_becomes_its_own():
    frame, door = frame_and_door()
    scenes.make_body(frame)
    scenes.make_collider(frame)
    door.parent = frame
    select(frame, door)
    bpy.ops.usdphys.joint_add(place="MIDPOINT")
    assert door.usdphys.rigid_body.is_applied
    assert errors() == []


def test_door_below_its_frame():
    """What is below the frame is a body of its own, so its collider is not the frame's."""
    frame, door = frame_and_door()
    knob = scenes.add_box("Knob", (0.05, 0.05, 0.05), parent=door)
    door.parent = frame
    select(frame, door)
    bpy.ops.usdphys.joint_add(place="MIDPOINT")
    assert [obj.usdphys.rigid_body.is_applied for obj in (frame, door, knob)] == [False, True, False]
    # The knob is part of the door.
    assert [len(obj.usdphys.colliders) for obj in (frame, door, knob)] == [1, 1, 1]


def test_redone_with_other_options():
    """What the panel for adjusting the last action does: undo, and again in another way."""
    frame_and_door()
    bpy.ops.ed.undo_push(message="before")
    for kind, place, wanted in (("FIXED", "MIDPOINT", (-0.25, 0, 1)), ("PRISMATIC", "CHILD_ORIGIN", (0.1, 0, 1))):
        bpy.ops.usdphys.joint_add(type=kind, place=place)
        assert the_joint().usdphys.joint.type == kind
        assert_frames(the_joint(), wanted)
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
        assert not all_joints()


@pytest.mark.parametrize("kind", KINDS)
def test_export(tmp_path, kind):
    one, other = two_bodies("scaled")
    bpy.ops.usdphys.joint_add(type=kind, place="MIDPOINT")
    stage, result = scenes.export(tmp_path / "out.usda")
    assert not [issue for issue in result.issues if issue.severity == "error"]
    (prim,) = [prim for prim in stage.Traverse() if prim.GetTypeName() == joint_kinds.BY_IDENTIFIER[kind].cls.usd_name]
    worlds = []
    for side, obj in ((0, one), (1, other)):
        (target,) = scenes.targets(prim, f"physics:body{side}")
        position = prim.GetAttribute(f"physics:localPos{side}").Get()
        assert target == str(scenes.prim_of(stage, obj.name).GetPath())
        worlds.append((scenes.world_pose(stage.GetPrimAtPath(target)) @ (*position, 1))[:3])
    wanted = (center_of(one) + center_of(other)) / 2
    assert np.abs(np.array(worlds) - wanted).max() < 5e-6


# --------------------------------------------------------------------------- refusals, repeats, links


def test_poll_messages():
    for name in ("joint_add", "joint_chain", "weld", "joint_align", "joint_fix_frames", "joint_swap_bodies"):
        assert "elect" in refused(getattr(bpy.ops.usdphys, name))
    boxes = [scenes.add_box(f"Box{index}") for index in range(3)]
    select(*boxes[:2], active=boxes[2])
    assert "None of the selected objects is active" in refused(bpy.ops.usdphys.joint_add)
    select(boxes[0])
    assert "elect the objects of the chain" in refused(bpy.ops.usdphys.joint_chain)
    assert "weld" in refused(bpy.ops.usdphys.weld)
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("joint_chain", "weld", "joint_align", "joint_swap_bodies"):
        assert "Switch to Object Mode" in refused(getattr(bpy.ops.usdphys, name))
    bpy.ops.object.mode_set(mode="OBJECT")


def test_no_tools_while_the_preview_runs():
    box = scenes.solid("Box")
    select(box)
    bpy.ops.usdphys.preview_step()
    try:
        assert "Reset the preview" in refused(bpy.ops.usdphys.joint_add)
    finally:
        bpy.ops.usdphys.preview_reset()
        from usdphys_ext.usdphys_addon.playback import guard as preview_guard

        preview_guard.forget()


def test_bad_selections():
    one, other = scenes.add_box("One"), scenes.add_box("Other")
    select(one, other, active=scenes.add_box("Third"))
    assert "active" in refused(bpy.ops.usdphys.joint_add)
    select(one)
    assert "Neither a joint nor a body" in refused(bpy.ops.usdphys.joint_swap_bodies)
    bpy.ops.usdphys.joint_add(place="CHILD_ORIGIN")
    select(one, the_joint())
    assert "is a joint" in refused(bpy.ops.usdphys.joint_add)
    flat = scenes.add_box("Flat", scale=(1, 1, 0))
    select(one, flat)
    assert "'Flat' is scaled to nothing" in refused(bpy.ops.usdphys.joint_add)
    assert len(all_joints()) == 1
    assert not flat.usdphys.rigid_body.is_applied


def test_repeated_gives_another():
    frame, door = frame_and_door()
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="MIDPOINT")
    select(frame, door)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="MIDPOINT")
    assert len(all_joints()) == 2
    assert [len(obj.usdphys.colliders) for obj in (frame, door)] == [1, 1]


def link_back(tmp_path: Any, *names: str) -> list[Any]:
    """The objects, moved to a library and linked."""
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {bpy.data.objects[name] for name in names})
    for obj in list(bpy.context.scene.objects):
        bpy.data.objects.remove(obj)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = list(names)
    found = [bpy.data.objects[name] for name in names]
    for obj in found:
        bpy.context.scene.collection.objects.link(obj)
    return found


def test_linked_bodies(tmp_path):
    frame_and_door()
    frame, door = link_back(tmp_path, "Frame", "Door")
    select(frame, door)
    assert "is linked" in refused(bpy.ops.usdphys.joint_add, place="MIDPOINT")
    assert not all_joints()
    bpy.ops.usdphys.joint_add(place="MIDPOINT", make_bodies=False)
    assert_frames(the_joint(), (-0.25, 0, 1))


def test_linked_joints(tmp_path):
    frame_and_door()
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="MIDPOINT")
    name = the_joint().name
    _, _, joint = link_back(tmp_path, "Frame", "Door", name)
    select(joint)
    for operator in ("joint_swap_bodies", "joint_fix_frames", "joint_align", "joint_limit_from_pose"):
        assert "is linked" in refused(getattr(bpy.ops.usdphys, operator))
    assert joint.usdphys.joint.body0.name == "Frame"


# --------------------------------------------------------------------------- chain and weld


def test_chain_to_the_nearest():
    """A chain in the shape of a U, of which the ends are near each other."""
    spots = [(0, 0, 0), (0, 2, 0), (0, 4, 0), (3, 4, 0), (3, 2, 0), (3, 0, 0)]
    links = [scenes.add_box(f"{name}", (0.2, 0.9, 0.2), location=at) for name, at in zip("CAFDBE", spots, strict=True)]
    select(*reversed(links), active=links[0])
    bpy.ops.usdphys.joint_chain(type="SPHERICAL")
    pairs = {(obj.usdphys.joint.body0.name, obj.usdphys.joint.body1.name): obj for obj in all_joints()}
    assert set(pairs) == {("C", "A"), ("A", "F"), ("F", "D"), ("D", "B"), ("B", "E")}
    assert_frames(pairs["F", "D"], (1.5, 4, 0))
    assert {obj.name for obj in bpy.context.selected_objects} == {obj.name for obj in pairs.values()}
    # The first holds the chain.
    assert [link.name for link in links if not link.usdphys.rigid_body.is_applied] == ["C"]
    assert all(len(link.usdphys.colliders) == 1 for link in links)
    assert errors() == []


def test_chain_by_name():
    links = [scenes.add_box(f"Link{index}", location=(-index, 0, 0)) for index in (1, 2, 10, 11)]
    select(*links, active=links[3])
    bpy.ops.usdphys.joint_chain(type="REVOLUTE", order="NAME", place="CHILD_ORIGIN", axis="WORLD_Y")
    found = {(obj.usdphys.joint.body0.name, obj.usdphys.joint.body1.name) for obj in all_joints()}
    assert found == {("Link11", "Link10"), ("Link10", "Link2"), ("Link2", "Link1")}
    assert {obj.usdphys.joint.axis for obj in all_joints()} == {"Y"}


def test_weld():
    base = scenes.add_box("Base")
    parts = [scenes.add_box(f"Part{index}", location=(index, 0, 0)) for index in (1, 2, 3)]
    select(base, *parts)
    bpy.ops.usdphys.weld()
    assert [(obj.usdphys.joint.type, obj.usdphys.joint.body0) for obj in all_joints()] == [("FIXED", base)] * 3
    assert {obj.usdphys.joint.body1 for obj in all_joints()} == set(parts)
    # What is welded together falls as one.
    assert all(obj.usdphys.rigid_body.is_applied for obj in (base, *parts))
    for obj in all_joints():
        assert_frames(obj, obj.usdphys.joint.body1.location)
    assert errors() == []


def test_weld_to_a_wall():
    wall, part = scenes.add_box("Wall"), scenes.add_box("Part", location=(1, 0, 0))
    scenes.make_collider(wall)
    select(wall, part)
    bpy.ops.usdphys.weld()
    assert not wall.usdphys.rigid_body.is_applied
    assert part.usdphys.rigid_body.is_applied


# --------------------------------------------------------------------------- frames


def hinged(kind: str = "REVOLUTE", how: str = "plain", **options: Any) -> tuple[Any, Any, Any]:
    one, other = two_bodies(how)
    bpy.ops.usdphys.joint_add(type=kind, place="MIDPOINT", **options)
    return the_joint(), one, other


def turn(obj: Any, about: Any, angle: float, axis: str = "Z") -> None:
    """Turn an object about a point in the world."""
    spin = Matrix.Translation(about) @ Matrix.Rotation(angle, 4, axis) @ Matrix.Translation(about).inverted()
    obj.matrix_world = spin @ obj.matrix_world
    bpy.context.view_layer.update()


@pytest.mark.parametrize("how", ["plain", "scaled", "mirrored", "all"])
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_kept_frames_stay_in_the_bodies(how, meters):
    bpy.context.scene.unit_settings.scale_length = meters
    obj, one, other = hinged(how=how)
    before = frames_in_model(obj)
    local = [np.linalg.inv(scenes.world_of(body)) @ (*(before[0][:3, 3] / meters), 1) for body in (one, other)]
    select(obj)
    bpy.ops.usdphys.joint_fix_frames()
    for old, new in zip(before, frames_in_model(obj), strict=True):
        assert np.abs(old - new).max() < 3e-6
    other.location.x += 1.0
    one.location.y -= 1.0
    bpy.context.view_layer.update()
    for body, point, frame in zip((one, other), local, frames_in_model(obj), strict=True):
        assert np.abs(scenes.world_of(body) @ point * meters - (*frame[:3, 3], meters)).max() < 5e-6


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("how", ["plain", "scaled", "mirrored"])
def test_align(side, how):
    obj, _, other = hinged(how=how)
    select(obj)
    bpy.ops.usdphys.joint_fix_frames()
    turn(other, (0, 0, 0), 0.0)
    other.location.x += 0.5
    bpy.context.view_layer.update()
    wanted = frames_in_model(obj)[side]
    assert np.abs(np.subtract(*frames_in_model(obj))).max() > 0.4
    select(obj)
    for _ in range(2):
        bpy.ops.usdphys.joint_align(side=f"BODY{side}")
        for frame in frames_in_model(obj):
            assert np.abs(frame - wanted).max() < 5e-6
        assert np.abs(scenes.world_of(obj)[:3, 3] - wanted[:3, 3]).max() < 5e-6
        assert not any(obj.usdphys.joint.is_property_set(name) for name in props.LOCAL_FRAME_FIELDS)


def test_align_does_not_move_a_mesh_that_is_a_joint():
    one, other = scenes.solid("One"), scenes.solid("Other", location=(2, 0, 0))
    scenes.assign(one.usdphys.joint, is_applied=True, type="FIXED", body0=one, body1=other)
    one.usdphys.joint.local_pos1 = (-1, 0, 0)
    select(one)
    bpy.ops.usdphys.joint_align(side="BODY1")
    assert tuple(one.location) == (0, 0, 0)
    assert_frames(one, (1, 0, 0))


def test_tools_act_on_all_selected_joints_and_on_those_of_a_selected_body():
    first, second = [], []
    for index in range(2):
        one = scenes.add_box(f"One{index}", location=(index * 5, 0, 0))
        other = scenes.add_box(f"Other{index}", location=(index * 5 + 2, 0, 0))
        select(one, other)
        bpy.ops.usdphys.joint_add(place="MIDPOINT")
        first.append(bpy.context.active_object)
        second.append(other)
    select(*first)
    bpy.ops.usdphys.joint_swap_bodies()
    assert [obj.usdphys.joint.body0 for obj in first] == second
    select(second[0])
    bpy.ops.usdphys.joint_swap_bodies()
    assert [obj.usdphys.joint.body1 for obj in first] == [second[0], bpy.data.objects["One1"]]


# --------------------------------------------------------------------------- swapped bodies


def relative(obj: Any) -> np.ndarray:
    """Frame of body 1 seen from that of body 0, metres."""
    first, second = frames_in_model(obj)
    return np.linalg.inv(first) @ second


def model_joint(obj: Any) -> tuple[usd_physics.Joint, dict[str, Any]]:
    model = scenes.read_model()
    (prim,) = [prim for prim in model.joints.values() if prim.label == obj.name]
    return prim.get(usd_physics.Joint), prim.schemas


@pytest.mark.parametrize("kind", ["REVOLUTE", "PRISMATIC"])
@pytest.mark.parametrize("axis", "XYZ")
def test_swap(kind, axis):
    obj, one, other = hinged(kind, axis=f"WORLD_{axis}")
    joint, dof = obj.usdphys.joint, f"{'rot' if kind == 'REVOLUTE' else 'trans'}{axis}"
    group = getattr(joint, kind.lower())
    group.lower_limit, group.upper_limit = -0.25, 0.75
    drive = joint.drives.angular if kind == "REVOLUTE" else joint.drives.linear
    scenes.assign(drive, is_applied=True, stiffness=5.0, target_position=0.5, target_velocity=0.125)
    select(obj)
    bpy.ops.usdphys.joint_fix_frames()
    if kind == "REVOLUTE":
        turn(other, frames_in_model(obj)[0][:3, 3], 0.5, axis)
    else:
        other.matrix_world = Matrix.Translation(AXES["XYZ".index(axis)] * 0.5) @ other.matrix_world
        bpy.context.view_layer.update()
    before = relative(obj)
    assert joint_frames.coordinate(np.eye(4), before, dof) == pytest.approx(0.5, abs=1e-5)
    select(obj)
    bpy.ops.usdphys.joint_swap_bodies()
    assert (joint.body0, joint.body1, joint.body0_name) == (other, one, other.name)
    assert np.abs(relative(obj) - np.linalg.inv(before)).max() < 1e-5
    now = joint_frames.coordinate(np.eye(4), relative(obj), dof)
    assert now == pytest.approx(-0.5, abs=1e-5)
    found, schemas = model_joint(obj)
    assert (found.lower_limit, found.upper_limit) == (-0.75, 0.25)
    # The drive still aims at where the joint is.
    value = next(value for value in schemas.values() if isinstance(value, usd_physics.DriveAPI))
    assert (value.target_position, value.target_velocity) == (-0.5, -0.125)
    bpy.ops.usdphys.joint_swap_bodies()
    assert np.abs(relative(obj) - before).max() < 1e-5
    assert (group.lower_limit, group.upper_limit) == (-0.25, 0.75)


def test_swap_keeps_what_is_not_authored():
    obj, *_ = hinged()
    joint = obj.usdphys.joint
    joint.revolute.upper_limit = 0.5
    joint.local_pos1, joint.local_rot1 = (1, 2, 3), (1, 0, 0, 0)
    joint.drives.angular.is_applied = True
    select(obj)
    bpy.ops.usdphys.joint_swap_bodies()
    assert joint.revolute.lower_limit == -0.5
    assert not joint.revolute.is_property_set("upper_limit")
    assert tuple(joint.local_pos0) == (1, 2, 3)
    assert joint.is_property_set("local_rot0")
    assert not joint.is_property_set("local_pos1")
    assert not joint.drives.angular.is_property_set("target_position")


def test_swap_with_the_world_and_with_a_deleted_body():
    obj, one, other = hinged()
    joint = obj.usdphys.joint
    bpy.data.objects.remove(one)
    select(obj)
    bpy.ops.usdphys.joint_swap_bodies()
    assert (joint.body0, joint.body1, joint.body1_name) == (other, None, "First")
    joint.body1_name = ""
    bpy.ops.usdphys.joint_swap_bodies()
    assert (joint.body0, joint.body1, joint.body1_name) == (None, other, other.name)
    assert not joint.body0_name


def test_swap_of_limits_per_dof():
    obj, *_ = hinged("GENERIC")
    joint = obj.usdphys.joint
    scenes.assign(joint.limits.rotZ, is_applied=True, low=-1.0, high=0.5)
    for name in ("rotX", "rotY", "transX", "transY"):
        scenes.assign(getattr(joint.limits, name), is_applied=True, low=1.0, high=-1.0)
    scenes.assign(joint.limits.transZ, is_applied=True, low=-2.0)
    scenes.assign(joint.limits.distance, is_applied=True, low=0.5, high=3.0)
    scenes.assign(joint.drives.distance, is_applied=True, target_position=2.0)
    select(obj)
    assert joint_edits.swap_bodies(obj) == ""
    limits = joint.limits
    assert (limits.rotZ.low, limits.rotZ.high) == (-0.5, 1.0)
    assert (limits.transX.low, limits.transX.high) == (1.0, -1.0)
    assert limits.transZ.high == 2.0
    assert not limits.transZ.is_property_set("low")
    assert (limits.distance.low, limits.distance.high) == (0.5, 3.0)
    assert joint.drives.distance.target_position == 2.0


def test_swap_says_what_it_cannot_keep():
    obj, *_ = hinged("GENERIC")
    scenes.assign(obj.usdphys.joint.limits.rotX, is_applied=True, low=-1.0, high=0.5)
    assert "several axes" in joint_edits.swap_bodies(obj)
    obj.usdphys.joint.type = "SPHERICAL"
    assert joint_edits.swap_bodies(obj) == ""
    obj.usdphys.joint.spherical.cone_angle0_limit = 0.5
    assert "several axes" in joint_edits.swap_bodies(obj)


def simulated(seconds: float) -> np.ndarray:
    """Where the body "Second" is in the end."""
    from usdphys_ext.usdphys_addon.playback import guard as preview_guard

    try:
        for _ in range(int(seconds * 60)):
            bpy.ops.usdphys.preview_step()
        return np.array(bpy.data.objects["Second"].matrix_world)
    finally:
        session = preview_guard.current()
        if session is not None:
            session.stop()
        preview_guard.forget()


def test_swap_simulated():
    """A driven hinge goes to the same place, an undriven one falls to the same stop."""
    for target in (0.5, None):
        scenes_result = []
        for swaps in (False, True):
            for other in list(bpy.data.objects):
                bpy.data.objects.remove(other)
            obj, _, _ = hinged(axis="WORLD_Y")
            scenes.make_body(bpy.data.objects["First"], kinematic_enabled=True)
            joint = obj.usdphys.joint
            joint.revolute.lower_limit, joint.revolute.upper_limit = -0.75, 1.0
            if target is not None:
                scenes.assign(
                    joint.drives.angular, is_applied=True, type="acceleration", stiffness=100.0, damping=2.0,
                    target_position=target,
                )  # fmt: skip
            if swaps:
                joint_edits.swap_bodies(obj)
            start = np.array(bpy.data.objects["Second"].matrix_world)
            end = simulated(2.0)
            assert np.abs(end - start).max() > 0.2
            # It hangs on its hinge.
            arms = [np.linalg.norm(place[:3, 3] - obj.matrix_world.translation) for place in (start, end)]
            assert arms[1] == pytest.approx(arms[0], abs=0.02)
            scenes_result.append(end)
        assert np.abs(scenes_result[0] - scenes_result[1]).max() < 0.02


# --------------------------------------------------------------------------- limits from poses


def test_limits_of_a_door():
    """Close it, set one limit, open it, set the other."""
    obj, _, other = hinged("REVOLUTE", axis="WORLD_Z")
    limits = obj.usdphys.joint.revolute
    select(other)
    bpy.ops.usdphys.joint_limit_from_pose(which="LOWER")
    assert (limits.lower_limit, limits.is_property_set("upper_limit")) == (0.0, False)
    turn(other, frames_in_model(obj)[0][:3, 3], math.radians(110))
    bpy.ops.usdphys.joint_limit_from_pose(which="UPPER")
    assert limits.upper_limit == pytest.approx(math.radians(110), abs=1e-5)
    assert limits.lower_limit == 0.0
    found, _ = model_joint(obj)
    assert found.upper_limit == pytest.approx(math.radians(110), abs=1e-5)
    # The opened door is at its upper limit for whoever reads the model.
    angle = joint_frames.coordinate(np.eye(4), relative(obj), "rotZ")
    assert angle == pytest.approx(found.upper_limit, abs=1e-5)


@pytest.mark.parametrize("how", ["plain", "scaled", "mirrored", "turned"])
@pytest.mark.parametrize("axis", "XYZ")
def test_limits_about_every_axis(how, axis):
    obj, _, other = hinged("REVOLUTE", how, axis=f"WORLD_{axis}")
    select(obj)
    bpy.ops.usdphys.joint_fix_frames()
    turn(other, frames_in_model(obj)[0][:3, 3], -0.4, axis)
    select(obj)
    bpy.ops.usdphys.joint_limit_from_pose(which="LOWER")
    group = obj.usdphys.joint.revolute
    shear = frames.is_sheared(scenes.world_of(other))
    assert group.lower_limit == pytest.approx(-0.4, abs=0.2 if shear else 1e-5)


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_limits_of_a_slider(meters):
    bpy.context.scene.unit_settings.scale_length = meters
    obj, one, other = hinged("PRISMATIC", "scaled", axis="WORLD_Y")
    select(obj)
    bpy.ops.usdphys.joint_limit_from_pose(which="UPPER")
    assert obj.usdphys.joint.prismatic.upper_limit == 0.0
    other.matrix_world = Matrix.Translation((0, -0.5, 0)) @ other.matrix_world
    bpy.context.view_layer.update()
    bpy.ops.usdphys.joint_limit_from_pose(which="LOWER")
    assert obj.usdphys.joint.prismatic.lower_limit == pytest.approx(-0.5, abs=1e-5)
    found, _ = model_joint(obj)
    assert found.lower_limit == pytest.approx(-0.5 * meters, abs=1e-6)
    # What counts is the pose of one against the other.
    one.matrix_world = Matrix.Translation((0, -0.75, 0)) @ one.matrix_world
    bpy.context.view_layer.update()
    bpy.ops.usdphys.joint_limit_from_pose(which="UPPER")
    assert obj.usdphys.joint.prismatic.upper_limit == pytest.approx(0.25, abs=1e-5)


def test_limits_of_generic_and_distance_joints():
    obj, _, other = hinged("GENERIC")
    select(obj)
    bpy.ops.usdphys.joint_fix_frames()
    other.matrix_world = Matrix.Translation((0.25, 0, -0.5)) @ other.matrix_world
    bpy.context.view_layer.update()
    bpy.ops.usdphys.joint_limit_from_pose(which="LOWER", dof="transZ")
    bpy.ops.usdphys.joint_limit_from_pose(which="UPPER", dof="transX")
    limits = obj.usdphys.joint.limits
    assert limits.transZ.low == pytest.approx(-0.5, abs=1e-6)
    assert limits.transX.high == pytest.approx(0.25, abs=1e-6)
    assert (limits.transZ.is_applied, limits.transY.is_applied) == (True, False)
    obj.usdphys.joint.type = "DISTANCE"
    bpy.ops.usdphys.joint_limit_from_pose(which="UPPER")
    assert obj.usdphys.joint.distance.max_distance == pytest.approx(math.hypot(0.25, 0.5), abs=1e-6)


def test_limits_do_not_cross():
    obj, _, other = hinged("REVOLUTE")
    select(obj)
    bpy.ops.usdphys.joint_limit_from_pose(which="LOWER")
    turn(other, frames_in_model(obj)[0][:3, 3], -0.5)
    message = refused(bpy.ops.usdphys.joint_limit_from_pose, which="UPPER")
    assert "below its lower limit" in message
    assert "-28.65°" in message
    assert not obj.usdphys.joint.revolute.is_property_set("upper_limit")


def test_limits_that_a_joint_does_not_have():
    obj, *_ = hinged("FIXED")
    select(obj)
    assert "fixed joint" in refused(bpy.ops.usdphys.joint_limit_from_pose)
    assert not any(obj.usdphys.joint.is_property_set(name) for name in props.LOCAL_FRAME_FIELDS)


def test_limits_of_an_imported_joint(tmp_path):
    """The frames of the file are the zero, also of bodies that were posed before anything was kept."""
    obj, _, other = hinged("REVOLUTE", axis="WORLD_Z")
    name, body = obj.name, other.name
    scenes.export(tmp_path / "door.usda")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.usdphys.import_usd(filepath=str(tmp_path / "door.usda"))
    (joint,) = all_joints()
    assert joint.name.replace("_", " ") == name
    assert joint.usdphys.joint.has_remembered_frames
    moved = next(item for item in bpy.context.scene.objects if item.name.startswith(body) and "Par" not in item.name)
    turn(moved, frames_in_model(joint)[0][:3, 3], 0.5)
    select(joint)
    bpy.ops.usdphys.joint_limit_from_pose(which="UPPER")
    assert joint.usdphys.joint.revolute.upper_limit == pytest.approx(0.5, abs=1e-4)


# --------------------------------------------------------------------------- the panel


def test_the_panel_has_a_button_for_every_kind_of_joint_and_every_tool():
    """The recorder fails on an operator or an icon that Blender does not have."""
    panel = bpy.types.USDPHYS_PT_joint_tools
    layout = draw(panel)
    kinds = layout.buttons("usdphys.joint_add")
    assert [button.values["type"] for button in kinds] == KINDS
    assert len({button.icon for button in kinds}) == len(KINDS)
    tools = {cls.bl_idname for cls in operators.CLASSES} | {"usdphys.mirror_physics"}
    assert {button.arguments["operator"] for button in layout.buttons()} == tools
    limits = layout.buttons("usdphys.joint_limit_from_pose")
    assert [button.values["which"] for button in limits] == ["LOWER", "UPPER"]
    generic = scenes.add_joint("Joint", "GENERIC", scenes.solid("Body"), None)
    bpy.context.view_layer.objects.active = generic
    limits = draw(panel).buttons("usdphys.joint_limit_from_pose")
    assert [button.values["which"] for button in limits] == ["LOWER", "UPPER"] * 2
    assert panel.bl_order == 3


def test_undo():
    frame, door = frame_and_door()
    del frame, door
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="MIDPOINT")
    bpy.ops.ed.undo_push(message="after")
    assert len(all_joints()) == 1
    bpy.ops.ed.undo()
    assert not all_joints()
    assert not bpy.data.objects["Door"].usdphys.rigid_body.is_applied


# --------------------------------------------------------------------------- several at once, and motors


def box(name: str, location: tuple[float, float, float]) -> Any:
    return scenes.add_box(name, location=location)


def test_every_selected_object_is_joined_to_the_active_one():
    chassis = box("Chassis", (0, 0, 0))
    wheels = [box(f"Wheel {index}", (index, 2, 0)) for index in (10, 2, 1)]
    select(chassis, *wheels)
    assert bpy.ops.usdphys.joint_add(type="REVOLUTE", place="CHILD_ORIGIN", axis="WORLD_Y") == {"FINISHED"}
    found = all_joints()
    assert {obj.usdphys.joint.body0.name for obj in found} == {"Chassis"}
    assert [obj.usdphys.joint.body1.name for obj in found] == ["Wheel 1", "Wheel 2", "Wheel 10"]
    for obj in found:
        assert close(obj.matrix_world.translation, obj.usdphys.joint.body1.location)
    assert set(bpy.context.selected_objects) == set(found)
    assert errors() == []


def close(one: Any, other: Any) -> bool:
    return bool(np.allclose(np.array(one), np.array(other), atol=SIX))


def test_a_door_hangs_in_a_frame_that_is_only_a_collider():
    """The object of the frame carries no physics itself, its mesh does."""
    frame, door = box("Frame", (-0.6, 0, 0)), box("Second", (1.6, 0, 0))
    frame.usdphys.colliders.add()
    bpy.context.scene.cursor.location = (0.5, 0, 0)
    select(frame, door)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="CURSOR", axis="WORLD_Z")
    assert not frame.usdphys.rigid_body.is_applied
    model = scenes.read_model()
    assert model.prims["/root/Frame"].schemas == {}
    assert np.abs(simulated(1.0)[:3, 3] - (1.6, 0, 0)).max() < 0.01


def joined(kind: str) -> Any:
    first, second = box("First", (0, 0, 0)), box("Second", (3, 0, 0))
    first.usdphys.colliders.add()
    bpy.context.scene.cursor.location = (3, 0, 0)
    select(first, second)
    bpy.ops.usdphys.joint_add(type=kind, place="CURSOR", axis="WORLD_Z")
    return the_joint()


def test_a_motor_keeps_the_velocity():
    """A revolution in a second, late by the time constant: 2 % of a velocity is left after the response."""
    joined("REVOLUTE")
    response = -math.log(0.02) * 0.1
    assert bpy.ops.usdphys.joint_motor(speed=2 * math.pi, response=response) == {"FINISHED"}
    turned = simulated(1.15)
    angle = math.atan2(turned[1, 0], turned[0, 0]) % (2 * math.pi)
    # A frame is two of 60 time steps in a second here.
    wanted = 2 * math.pi * (69 * 2 / 60 - 0.1) % (2 * math.pi)
    assert angle == pytest.approx(wanted, abs=0.1)


def test_a_servo_goes_to_the_angle():
    joined("REVOLUTE")
    assert bpy.ops.usdphys.joint_motor(holds=True, angle=0.5) == {"FINISHED"}
    turned = simulated(2.0)
    assert math.atan2(turned[1, 0], turned[0, 0]) == pytest.approx(0.5, abs=0.01)


def test_a_servo_slides_to_the_place():
    joined("PRISMATIC")
    assert bpy.ops.usdphys.joint_motor(holds=True, distance=0.4, response=0.02) == {"FINISHED"}
    # The sag is at most half a percent of the height of the box.
    assert simulated(2.0)[2, 3] == pytest.approx(0.4, abs=0.01)


def test_what_nothing_drives_has_no_motor():
    obj = joined("FIXED")
    with pytest.raises(RuntimeError, match="fixed joint, which no drive can move"):
        bpy.ops.usdphys.joint_motor()
    assert not obj.usdphys.joint.drives.angular.is_applied


def test_a_motor_replaces_a_servo():
    obj = joined("REVOLUTE")
    bpy.ops.usdphys.joint_motor(holds=True, angle=0.5)
    bpy.ops.usdphys.joint_motor(holds=False, speed=1.0)
    drive = obj.usdphys.joint.drives.angular
    assert not drive.is_property_set("stiffness")
    assert not drive.is_property_set("target_position")
    assert drive.target_velocity == pytest.approx(1.0)
    assert errors() == []


def test_a_motor_is_made_where_a_drive_acts_and_no_fix_takes_it_away():
    """The tool, the check and its fix read one table of degrees of freedom."""
    for kind in joint_kinds.JOINT_KINDS:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        obj, *_ = hinged(kind.identifier)
        dof = kind.drives[0] if kind.drives else "rotX"
        if not kind.drives:
            with pytest.raises(RuntimeError, match="which no drive can move"):
                bpy.ops.usdphys.joint_motor(dof=dof)
            continue
        joint_edits.add_motors(bpy.context, [(obj, dof, 0.1)], holds=True, response=0.2)
        bpy.ops.usdphys.check()
        bpy.ops.usdphys.check_fix_all()
        assert getattr(obj.usdphys.joint.drives, dof).is_applied, kind.identifier


# --------------------------------------------------------------------------- what a motor promises


def arm(length: float, *, tilt: float = 0.0, density: float = 1000.0) -> Any:
    """A bar that is hinged to the world at one end about the world's Y, "Second"."""
    bar = scenes.add_box("Second", half=(length / 2, 0.1, 0.05), location=(length / 2, 0, 3))
    scenes.make_collider(bar)
    bar.usdphys.mass.density = density
    bar.rotation_euler[0] = tilt
    bpy.context.scene.cursor.location = (0, 0, 3)
    select(bar)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="CURSOR", axis="WORLD_Y")
    return the_joint()


def course(seconds: float, read: Any) -> tuple[list[float], float]:
    """(values of a body in each frame, seconds between frames)."""
    from usdphys_ext.usdphys_addon.playback import guard as preview_guard

    rate, values = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base, []
    try:
        for _ in range(round(seconds * rate)):
            bpy.ops.usdphys.preview_step()
            values.append(read(np.array(bpy.data.objects["Second"].matrix_world)))
    finally:
        session = preview_guard.current()
        if session is not None:
            session.stop()
        preview_guard.forget()
    return values, 1.0 / rate


def pitch(matrix: np.ndarray) -> float:
    return math.atan2(-matrix[2, 0], matrix[0, 0])


def settled(values: list[float], step: float) -> float:
    """Time after which the values stay within 2 % of the way to the last one."""
    return step * (
        1 + max((i for i, v in enumerate(values) if abs(v - values[-1]) > 0.02 * abs(values[-1])), default=0)
    )


@pytest.mark.parametrize("meters", [1.0, 0.01])
@pytest.mark.parametrize("articulated", [False, True])
def test_a_servo_holds_its_arm_against_gravity(meters: float, articulated: bool):
    """It sagged by 77 degrees with gains that knew neither the inertia about the hinge nor the load."""
    bpy.context.scene.unit_settings.scale_length = meters
    bpy.context.scene.render.fps = 60
    obj = arm(2.0 / meters)
    if articulated:
        obj.usdphys.articulation_root.is_applied = True
    assert bpy.ops.usdphys.joint_motor(holds=True, angle=0.0, response=0.5) == {"FINISHED"}
    values, _ = course(2.0, pitch)
    assert max(map(abs, values)) < 0.01


@pytest.mark.parametrize("density", [20.0, 7800.0])
def test_a_servo_arrives_when_it_promises(density: float):
    bpy.context.scene.render.fps = 60
    arm(1.5, density=density)
    assert bpy.ops.usdphys.joint_motor(holds=True, angle=0.6, response=0.5) == {"FINISHED"}
    values, step = course(2.0, pitch)
    assert values[-1] == pytest.approx(0.6, abs=0.01)
    assert settled(values, step) == pytest.approx(0.5, rel=0.2)
    assert max(values) < values[-1] + 0.01


def test_a_door_closer_does_not_overshoot():
    bpy.context.scene.render.fps = 60
    door = scenes.add_box("Second", half=(0.5, 0.02, 1.0), location=(0.5, 0, 1))
    bpy.context.scene.cursor.location = (0, 0, 1)
    select(door)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="CURSOR", axis="WORLD_Z")
    bpy.ops.usdphys.joint_motor(holds=True, angle=1.2, response=1.0)
    values, step = course(3.0, lambda matrix: math.atan2(matrix[1, 0], matrix[0, 0]))
    assert settled(values, step) == pytest.approx(1.0, rel=0.2)
    assert max(values) < 1.2 * 1.01


def test_the_motor_shows_its_sag_and_its_settling_time():
    arm(2.0)
    made, notes = joint_edits.add_motors(bpy.context, [(the_joint(), "angular", 0.0)], holds=True, response=0.5)
    assert notes == []
    # 40 kg at 1 m: the stiffness lets it sag by half a percent of the reach, 2 m.
    texts = ["Settles in 0.5 s", "Sags by at most 0.29°, 10 mm at the end"]
    assert joint_edits.motor_texts(made, holds=True) == [*texts, "PhysX needs an articulation for that"]
    # An articulation root on a hinge to the world is none for PhysX: it does not let the hinge move.
    the_joint().usdphys.articulation_root.is_applied = True
    made, _ = joint_edits.add_motors(bpy.context, [(the_joint(), "angular", 0.0)], holds=True, response=0.5)
    assert joint_edits.motor_texts(made, holds=True) == [*texts, "PhysX needs an articulation for that"]
    assert bpy.ops.usdphys.joint_motor(holds=True, response=0.5, articulation=True) == {"FINISHED"}
    made, _ = joint_edits.add_motors(bpy.context, [(hinge_of_two(), "angular", 0.0)], holds=True, response=0.5)
    assert joint_edits.motor_texts(made, holds=True) == texts


def hinge_of_two() -> Any:
    """The hinge of an arm that hangs on an anchor, which is fixed to the world."""
    (hinge,) = [obj for obj in all_joints() if obj.usdphys.joint.type == "REVOLUTE"]
    (fixed,) = roots()
    assert fixed.usdphys.joint.type == "FIXED"
    assert (fixed.usdphys.joint.body0, fixed.usdphys.joint.body1) == (None, hinge.usdphys.joint.body0)
    return hinge


@pytest.mark.parametrize("density", [1000.0, 50000.0])
def test_a_servo_that_hangs_on_an_anchor_holds_however_heavy_it_is(density: float):
    """The anchor has 1 kg; the bar was held by it in maximal coordinates, and fell."""
    bpy.context.scene.render.fps = 60
    arm(2.0, density=density)
    bpy.ops.usdphys.joint_motor(holds=True, angle=0.0, response=0.5, articulation=True)
    hinge_of_two()
    values, _ = course(1.0, pitch)
    assert max(map(abs, values)) < 0.006


@pytest.mark.parametrize("articulation", [False, True])
def test_a_slow_servo_does_not_fall_asleep_in_physx_before_it_arrives(articulation: bool):
    """It stopped 2 % of the reach before its position: there a body below 0.01 m/s falls asleep."""

    def rows() -> list[tuple[str, str]]:
        return [(obj.name, row.name) for obj in bpy.data.objects for row in obj.usdphys.vendor if "sleep" in row.name]

    arm(1.0)
    bpy.ops.usdphys.joint_motor(holds=True, response=0.2, articulation=articulation)
    assert rows() == []
    bpy.ops.usdphys.joint_motor(holds=True, response=2.0)
    root = roots()[0].name if articulation else "Second"
    assert rows() == [(root, f"physx{'Articulation' if articulation else 'RigidBody'}:sleepThreshold")]


def test_a_slow_motor_says_what_the_damping_of_physx_takes():
    """0.05 of the velocity a second, against a damping that reaches it in 2 s: 0.05 * 2 / -ln(0.02)."""
    wheel = scenes.add_box("Second", half=(0.5, 0.5, 0.1))
    select(wheel)
    bpy.ops.usdphys.joint_add(type="REVOLUTE", place="CURSOR", axis="WORLD_Z")
    targets = [(the_joint(), "angular", 3.0)]
    slow, _ = joint_edits.add_motors(bpy.context, targets, holds=False, response=2.0)
    assert "PhysX damps the joint: there it is 2.6 % slower" in joint_edits.motor_texts(slow, holds=False)
    fast, _ = joint_edits.add_motors(bpy.context, targets, holds=False, response=0.5)
    assert not any("PhysX" in text for text in joint_edits.motor_texts(fast, holds=False))


def test_a_motor_whose_joint_moves_nothing_says_so():
    obj = arm(2.0)
    bpy.data.objects["Second"].usdphys.rigid_body.kinematic_enabled = True
    _made, notes = joint_edits.add_motors(bpy.context, [(obj, "angular", 0.0)], holds=True, response=0.5)
    assert "moves no rigid body" in notes[0]
    assert obj.usdphys.joint.drives.angular.type == "acceleration"


# --------------------------------------------------------------------------- one default that is right


def centered_mesh(obj: Any) -> Any:
    """Apply the transform: the origin is at zero, as in many imported files."""
    obj.data = obj.data.copy()
    obj.data.transform(obj.matrix_basis)
    obj.matrix_basis.identity()
    return obj


def wheel(name: str, place: Any, turn: Any = (math.pi / 2, 0, 0)) -> Any:
    bpy.ops.mesh.primitive_cylinder_add(radius=0.3, depth=0.2, location=place, rotation=turn)
    bpy.context.object.name = name
    return bpy.context.object


@pytest.mark.parametrize("at_zero", [False, True])
@pytest.mark.parametrize("turn", [(math.pi / 2, 0, 0), (math.pi / 2, 0, 0.4)])
def test_wheels_turn_about_their_own_axis_at_their_centre(at_zero, turn):
    chassis = scenes.add_box("Chassis", half=(1, 0.5, 0.2), location=(0, 0, 0.6))
    places = [(x, y, 0.3) for x in (-0.8, 0.8) for y in (-0.7, 0.7)]
    wheels = [wheel(f"Wheel {number}", place, turn) for number, place in enumerate(places)]
    if at_zero:
        for obj in (chassis, *wheels):
            centered_mesh(obj)
    select(chassis, *wheels)
    bpy.ops.usdphys.joint_add(type="REVOLUTE")
    axis = Matrix.Rotation(turn[2], 3, "Z") @ Matrix.Rotation(turn[0], 3, "X") @ Vector((0, 0, 1))
    for obj, place in zip(all_joints(), places, strict=True):
        assert close(obj.matrix_world.translation, place)
        own = obj.matrix_world.to_3x3().col["XYZ".index(obj.usdphys.joint.axis)]
        assert abs(own @ axis) == pytest.approx(1.0, abs=1e-4)


def test_a_lid_turns_about_its_back_edge():
    box, lid = scenes.add_box("Box", half=(1, 0.6, 0.4)), scenes.add_box("Lid", half=(1, 0.6, 0.05))
    lid.location = (0, 0, 0.45)
    select(box, lid)
    bpy.ops.usdphys.joint_add(type="REVOLUTE")
    assert the_joint().usdphys.joint.axis == "X"
    assert close(the_joint().matrix_world.translation, (0, 0.6, 0.4))


@pytest.mark.parametrize("unit", [1.0, 0.0254, 0.001])
@pytest.mark.parametrize("half", [(0.25, 0.25, 0.075), (0.25, 0.15, 0.075)])
def test_a_drawer_in_a_solid_cabinet_slides_out_by_its_front_in_any_unit(half, unit):
    """Square or wider than deep: nothing is free, so it leaves where it is nearest to the outside."""
    bpy.context.scene.unit_settings.scale_length = unit
    rig = scenes.add("Rig", location=(1 / unit, 2 / unit, 0), rotation_euler=(0.2, 0.1, 0.9), scale=(1.5,) * 3)
    sizes = {"Cabinet": ((0.3, 0.25, 0.5), (0, 0, 0.5)), "Drawer": (half, (0, half[1] - 0.25 - 0.02, 0.8))}
    pair = [
        scenes.add_box(name, [part / unit for part in size], location=[part / unit for part in place], parent=rig)
        for name, (size, place) in sizes.items()
    ]
    select(*pair)
    bpy.ops.usdphys.joint_add(type="PRISMATIC")
    bpy.context.view_layer.update()
    slide = bpy.context.object.matrix_world.to_3x3().col[2].normalized()
    assert abs(slide.dot(rig.matrix_world.to_3x3().col[1].normalized())) == pytest.approx(1.0, abs=1e-5)


def test_a_drawer_slides_out_of_the_cabinet_and_not_through_its_walls():
    """It is longest across, where the walls are: the free axis counts."""
    cabinet = scenes.add_box("Cabinet", half=(0.6, 0.5, 0.4))
    front = min(cabinet.data.polygons, key=lambda face: face.center.y)
    mesh = bmesh.new()
    mesh.from_mesh(cabinet.data)
    mesh.faces.ensure_lookup_table()
    mesh.faces.remove(mesh.faces[front.index])
    mesh.to_mesh(cabinet.data)
    drawer = scenes.add_box("Drawer", half=(0.55, 0.45, 0.1))
    select(cabinet, drawer)
    bpy.ops.usdphys.joint_add(type="PRISMATIC")
    assert the_joint().usdphys.joint.axis == "Y"
    assert close(the_joint().matrix_world.translation, (0, 0, 0))


def test_a_carriage_slides_along_its_rail():
    rail = scenes.add_box("Rail", half=(0.05, 3, 0.05))
    carriage = scenes.add_box("Carriage", half=(0.3, 0.2, 0.1), location=(0, 1, 0.15))
    select(rail, carriage)
    bpy.ops.usdphys.joint_add(type="PRISMATIC")
    assert the_joint().usdphys.joint.axis == "Y"


@pytest.mark.parametrize(("place", "expected"), [("CENTER_0", (0, 0, 1)), ("CENTER_1", (2, 0, 3))])
def test_a_joint_goes_to_the_centre_of_a_body_wherever_its_origin_is(place, expected):
    one, two = centered_mesh(box("One", (0, 0, 1))), centered_mesh(box("Two", (2, 0, 3)))
    select(one, two)
    bpy.ops.usdphys.joint_add(type="SPHERICAL", place=place)
    assert close(the_joint().matrix_world.translation, expected)


def test_the_symmetry_axis_of_a_body_that_is_not_round_is_refused():
    one, two = box("One", (0, 0, 1)), box("Two", (2, 0, 3))
    select(one, two)
    assert "'Two' is not round" in refused(bpy.ops.usdphys.joint_add, type="REVOLUTE", axis="SYMMETRY")
    assert not all_joints()


# --------------------------------------------------------------------------- in one step


def test_a_door_gets_its_limits_and_its_closer_in_the_panel_of_the_operation():
    frame_and_door()
    bpy.ops.usdphys.joint_add(
        type="REVOLUTE", has_limits=True, lower=1.5, upper=-0.1, motor="POSITION", angle=0.0, response=1.0
    )
    joint = the_joint().usdphys.joint
    assert (joint.revolute.lower_limit, joint.revolute.upper_limit) == (pytest.approx(-0.1), pytest.approx(1.5))
    assert joint.drives.angular.is_applied and joint.drives.angular.stiffness > 0
    assert errors() == []


def test_a_slide_gets_lengths_and_a_ball_joint_ignores_limits():
    frame_and_door()
    bpy.ops.usdphys.joint_add(type="PRISMATIC", has_limits=True, lower_distance=0.0, upper_distance=0.3)
    assert the_joint().usdphys.joint.prismatic.upper_limit == pytest.approx(0.3)
    bpy.data.objects.remove(the_joint())
    frame, door = (bpy.data.objects[name] for name in ("Frame", "Door"))
    select(frame, door)
    bpy.ops.usdphys.joint_add(type="SPHERICAL", has_limits=True, motor="VELOCITY")
    assert not any(getattr(the_joint().usdphys.joint.drives, dof).is_applied for dof in ("rotX", "angular"))


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("REVOLUTE", {}, ["has_limits", "motor"]),
        ("REVOLUTE", {"has_limits": True, "motor": "POSITION"},
         ["has_limits", "lower", "upper", "motor", "angle", "response"]),
        ("PRISMATIC", {"has_limits": True, "motor": "VELOCITY"},
         ["has_limits", "lower_distance", "upper_distance", "motor", "slide_speed", "response"]),
        ("DISTANCE", {}, ["has_limits"]),
        ("SPHERICAL", {"has_limits": True}, []),
    ],
)  # fmt: skip
def test_the_panel_of_the_operation_asks_for_what_the_joint_has(kind, options, expected):
    from .test_panels import drawn_operator

    shown = drawn_operator("usdphys.joint_add", type=kind, **options).props()
    assert shown == ["type", "place", "axis", "make_bodies", *expected]


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_an_arm_of_five_parts_holds_itself_in_one_step(meters):
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1.0 / meters
    parts = [scenes.add_box("Base", half=(0.2 * unit, 0.2 * unit, 0.1 * unit), location=(0, 0, 0.1 * unit))]
    half = (0.2 * unit, 0.04 * unit, 0.04 * unit)
    parts += [
        scenes.add_box(f"Link {number}", half=half, location=((0.3 + 0.42 * number) * unit, 0, 0.3 * unit))
        for number in range(4)
    ]
    select(*parts)
    assert bpy.ops.usdphys.robot_arm() == {"FINISHED"}
    assert len(all_joints()) == 5
    assert [obj.usdphys.joint.type for obj in roots()] == ["FIXED"]
    assert errors() == []
    before = [part.matrix_world.translation.copy() for part in parts]
    try:
        for _ in range(30):
            bpy.ops.usdphys.preview_step()
        moved = [(part.matrix_world.translation - place).length for part, place in zip(parts, before, strict=True)]
    finally:
        bpy.ops.usdphys.preview_reset()
    # Below 1 % of the reach.
    assert max(moved) < 0.02 * unit


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_folded_arm_is_joined_where_its_parts_touch(meters):
    """The fore arm lies above the base, near its centre; it hangs on the far end of the upper arm."""
    bpy.context.scene.unit_settings.scale_length = meters
    rows = {"Base": ((0, 0, 0.1), (0.2, 0.2, 0.1)), "Upper": ((0.9, 0, 0.25), (1.0, 0.05, 0.05)),
            "Elbow": ((1.85, 0, 0.35), (0.05, 0.05, 0.05)), "Fore": ((0.9, 0, 0.45), (1.0, 0.05, 0.05)),
            "Hand": ((-0.15, 0, 0.4), (0.05, 0.05, 0.05))}  # fmt: skip
    parts = [
        scenes.add(name, scenes.box_mesh(name, np.divide(half, meters), np.divide(at, meters)))
        for name, (at, half) in rows.items()
    ]  # all origins are at zero
    select(*reversed(parts), active=parts[0])
    assert bpy.ops.usdphys.robot_arm() == {"FINISHED"}
    hinges = [obj.usdphys.joint for obj in all_joints() if obj.usdphys.joint.type == "REVOLUTE"]
    found = {(joint.body0.name, joint.body1.name) for joint in hinges}
    assert found == set(itertools.pairwise(rows))


@pytest.mark.parametrize(("meters", "length"), [(1.0, "1 m"), (0.01, "10 mm")])
def test_parts_of_an_arm_that_do_not_touch_are_named(capfd, meters, length):
    """The active object is a part in the middle: the chain goes to one end, and jumps to the other."""
    bpy.context.scene.unit_settings.scale_length = meters
    names = ("One", "Two", "Three", "Four")
    parts = [scenes.add_box(name, (0.5, 0.1, 0.1), location=(n + 0.1 * (n == 3), 0, 0)) for n, name in enumerate(names)]
    select(*parts, active=parts[1])
    capfd.readouterr()
    assert bpy.ops.usdphys.robot_arm() == {"FINISHED"}
    warnings = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Warning")]
    assert len(warnings) == 1 and f"are {length} apart: is the base active" in warnings[0]
    # In order there is none: a gap of a tenth is none.
    for obj in all_joints():
        bpy.data.objects.remove(obj)
    select(*parts, active=parts[0])
    capfd.readouterr()
    assert bpy.ops.usdphys.robot_arm() == {"FINISHED"}
    assert "Warning" not in capfd.readouterr().out


@pytest.mark.parametrize("operator", ["usdphys.robot_arm", "usdphys.joint_add", "usdphys.joint_motor"])
def test_the_panel_of_the_operation_says_sag_and_settling_time(operator):
    """Blender shows only the last report, for a few seconds."""
    from .test_panels import drawn_operator

    options = {"usdphys.joint_add": {"motor": "POSITION"}, "usdphys.joint_motor": {"holds": True}}.get(operator, {})
    drawn = drawn_operator(operator, outcome="Settles in 0.1 s\nSags by at most 1 mm", **options)
    assert [line for line in drawn.labels() if line.startswith("S")] == ["Settles in 0.1 s", "Sags by at most 1 mm"]


def test_two_hinges_get_a_gear_and_a_hinge_and_a_slide_a_rack(tmp_path):
    """In other units, too; what meshes are the bodies that the joints move, whichever side they are on."""
    bpy.context.scene.unit_settings.scale_length = 0.01
    base, wheel, other = (scenes.solid(name, (50.0, 50.0, 10.0)) for name in ("Base", "Wheel", "Other"))
    base.usdphys.rigid_body.kinematic_enabled = True
    first = scenes.add_joint("First", "REVOLUTE", wheel)
    second = scenes.add_joint("Second", "REVOLUTE", base)
    second.usdphys.joint.body0 = other
    slide = scenes.add_joint("Slide", "PRISMATIC", other)
    for active, further, options in ((second, first, {"ratio": 3.0}), (slide, first, {"radius": 25.0})):
        for obj in bpy.data.objects:
            obj.select_set(obj in (active, further))
        bpy.context.view_layer.objects.active = active
        assert bpy.ops.usdphys.joint_couple(**options) == {"FINISHED"}
    stage, _ = scenes.export(tmp_path / "out.usda")
    gear, rack = (
        next(prim for prim in stage.Traverse() if prim.GetTypeName() == name)
        for name in ("PhysxPhysicsGearJoint", "PhysxPhysicsRackAndPinionJoint")
    )
    assert gear.GetAttribute("physics:gearRatio").Get() == 3.0
    assert rack.GetAttribute("physics:ratio").Get() == pytest.approx(math.degrees(1.0 / 0.25))
    for prim, ends in ((gear, ("First", "Second")), (rack, ("First", "Slide"))):
        bodies = [prim.GetRelationship(f"physics:body{side}").GetTargets()[0].name for side in (0, 1)]
        names = ("hinge0", "hinge1") if prim == gear else ("hinge", "prismatic")
        found = [prim.GetRelationship(f"physics:{name}").GetTargets()[0].name for name in names]
        assert bodies == ["Wheel", "Other"] and tuple(found) == ends


def test_a_gear_that_is_refused_leaves_nothing_behind():
    base = scenes.solid("Base")
    base.usdphys.rigid_body.kinematic_enabled = True
    hinges = [scenes.add_joint(name, "REVOLUTE", base) for name in ("First", "Second")]
    before = set(bpy.data.objects)
    for obj in before:
        obj.select_set(obj in hinges)
    bpy.context.view_layer.objects.active = hinges[0]
    with pytest.raises(RuntimeError, match="moves no rigid body"):
        bpy.ops.usdphys.joint_couple()
    assert set(bpy.data.objects) == before and set(bpy.context.selected_objects) == set(hinges)


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "YZX"])
@pytest.mark.parametrize("below", [False, True])
def test_a_joint_object_stands_at_its_frame_where_the_middle_angle_is_nearly_90_degrees(mode, below):
    """Three angles in 32 bits would turn it by up to 4e-4 rad, and an export would write that."""
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.rotation_euler = (0.3, -0.4, 1.2)
    joint = bpy.data.objects.new("Joint", None)
    bpy.context.scene.collection.objects.link(joint)
    if below:
        joint.parent = parent
    bpy.context.view_layer.update()
    for off in (0.0, 1e-5, 1e-4, 1e-3, 0.02, 0.2):
        for first, last in itertools.product((0.0, 0.7, -2.1), repeat=2):
            joint.rotation_mode = mode
            turn = np.array(mathutils.Euler((first, math.pi / 2 - off, last), "XYZ").to_matrix())
            turn = np.roll(turn, 1, axis=0) if mode == "ZXY" else turn
            place = frames.transform((1.0, -2.0, 3.0), frames.rotation_of(frames.transform((0, 0, 0), turn)))
            joint_frames.set_world_matrix(joint, Matrix(place.tolist()))
            bpy.context.view_layer.update()
            assert np.abs(np.array(joint.matrix_world) - place).max() < 3e-6


def seven_links(unit: float = 1.0) -> list[Any]:
    """A base and seven equal links in a row, selected."""
    parts = [scenes.add_box("Base", half=(0.2 * unit, 0.2 * unit, 0.1 * unit), location=(0, 0, 0.1 * unit))]
    half = (0.45 * unit, 0.08 * unit, 0.08 * unit)
    parts += [
        scenes.add_box(f"Link {number}", half=half, location=((0.7 + number) * unit, 0, 0.9 * unit))
        for number in range(7)
    ]
    select(*parts)
    return parts


def roots() -> list[Any]:
    """PhysX fixes the base of an arm only where the root is on the joint that holds it."""
    return [obj for obj in bpy.data.objects if obj.usdphys.articulation_root.is_applied]


def iterations_of(obj: Any) -> list[str]:
    return [row.text for row in obj.usdphys.vendor if row.name.endswith("solverPositionIterationCount")]


@pytest.mark.parametrize(("authored", "expected"), [(8, "128"), (200, "200")])
def test_iterations_that_an_articulation_has_are_raised_if_need_be_and_never_lowered(authored, expected):
    parts = seven_links()
    name = "physxArticulation:solverPositionIterationCount"
    attribute = vendor_schemas.attribute_named("PhysxArticulationAPI", name)
    parts[0].usdphys.articulation_root.is_applied = True
    vendor_edits.apply_row(parts[0].usdphys, "PhysxArticulationAPI", attribute, authored)
    assert bpy.ops.usdphys.robot_arm(response=0.1) == {"FINISHED"}
    assert iterations_of(*roots()) == [expected]


def test_a_motor_that_physx_will_not_hold_is_a_warning(capfd):
    """As Robot Arm and Add Joint report it."""
    seven_links()
    bpy.ops.usdphys.robot_arm(armature=False)
    select(*(obj for obj in all_joints() if obj.usdphys.joint.type == "REVOLUTE"))
    capfd.readouterr()
    bpy.ops.usdphys.joint_motor(holds=True, response=0.5, armature=False)
    warnings = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Warning")]
    assert len(warnings) == 1 and "of its reach" in warnings[0]


@pytest.mark.parametrize(("meters", "asks"), [(1.0, True), (0.01, True), (1.0, False)])
def test_an_arm_of_seven_equal_links_gets_an_armature_and_the_iterations_that_physx_needs(meters, asks):
    bpy.context.scene.unit_settings.scale_length = meters
    seven_links(1.0 / meters)
    assert bpy.ops.usdphys.robot_arm(response=0.5, armature=asks) == {"FINISHED"}
    rows = [
        row.text for obj in all_joints() for row in obj.usdphys.vendor if row.name == "newton:armature"
    ]  # fmt: skip
    if not asks:
        assert not rows and iterations_of(*roots()) == ["255"]
        return
    # 7 links of 23 kg: 2400 kg m2 about the first hinge, of which 0.3 % are enough.
    assert len(rows) == 7 and len(set(rows)) == 1
    assert float(rows[0]) == pytest.approx(7.9, rel=0.05)


def test_a_motor_for_all_joints_of_an_arm_leaves_out_the_weld_of_its_base_and_says_so(capfd):
    seven_links()
    bpy.ops.usdphys.robot_arm()
    select(*all_joints())
    capfd.readouterr()
    assert bpy.ops.usdphys.joint_motor(holds=True, angle=0.25) == {"FINISHED"}
    warnings = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Warning: 'Base Joint'")]
    assert len(warnings) == 1 and "fixed" in warnings[0]
    hinges = [obj.usdphys.joint for obj in all_joints() if obj.usdphys.joint.type == "REVOLUTE"]
    assert [hinge.drives.angular.target_position for hinge in hinges] == [0.25] * 7


def test_no_line_of_what_a_motor_will_do_is_cut_in_the_panel_of_the_operation():
    """Some 46 letters and an icon fit into the panel that F9 opens."""
    from .test_panels import drawn_operator

    sentence = "In PhysX, at 60 steps a second, the arm sags by 0.7 % of its reach, and settles in 0.55 s"
    lines = drawn_operator("usdphys.joint_motor", holds=True, outcome=f"Settles in 0.5 s\n{sentence}").labels()
    shown = [line for line in lines if line in sentence or line in "Settles in 0.5 s"]
    assert " ".join(shown) == f"Settles in 0.5 s {sentence}"
    assert max(map(len, shown)) <= 42


def test_a_door_does_not_touch_its_static_frame_in_physx_either(tmp_path):
    """PhysX filters the contacts of a joint between bodies only, so the pair is filtered, once."""
    frame = scenes.add_box("Frame", (0.1, 0.1, 1.1), location=(-0.65, 0, 1.1))
    door = scenes.add_box("Door", (0.55, 0.04, 1.0), location=(0.02, 0, 1.1))
    for _ in range(2):
        select(frame, door)
        assert bpy.ops.usdphys.joint_add() == {"FINISHED"}
    stage, _ = scenes.export(tmp_path / "out.usda")
    owners = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.FilteredPairsAPI)]
    assert [prim.GetName() for prim in owners] == ["Door"]
    (target,) = UsdPhysics.FilteredPairsAPI(owners[0]).GetFilteredPairsRel().GetTargets()
    assert target.name == "Frame"
    assert errors() == []
    # Between bodies the joint does it in PhysX, too.
    assert not frame.usdphys.filtered_pairs.is_applied
    wheels = [scenes.add_box(name, location=(x, 5, 1)) for name, x in (("One", 0), ("Two", 1.1))]
    for wheel in wheels:
        wheel.usdphys.rigid_body.is_applied = True
        wheel.usdphys.colliders.add()
    select(*wheels)
    assert bpy.ops.usdphys.joint_add() == {"FINISHED"}
    assert not any(wheel.usdphys.filtered_pairs.is_applied for wheel in wheels)


@pytest.mark.parametrize(("y", "limits"), [(-0.2, (-1.2, 0.0)), (0.2, (0.0, 1.2))])
def test_a_drawer_opens_by_its_own_length_away_from_its_cabinet(y, limits):
    """It slid by one Blender unit along the axis, through the back of the cabinet."""
    cabinet, drawer = scenes.add_box("Cabinet", (0.5, 0.65, 0.5)), scenes.add_box("Drawer", (0.4, 0.6, 0.1))
    drawer.location.y = y
    for obj in (drawer, cabinet):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = cabinet
    bpy.context.view_layer.update()
    bpy.ops.usdphys.joint_add(type="PRISMATIC", axis="WORLD_Y", place="CENTER_1", has_limits=True)
    joint = bpy.data.objects["Drawer Joint"].usdphys.joint
    low, high = joint.prismatic.lower_limit, joint.prismatic.upper_limit
    assert (low, high) == pytest.approx(limits)
