# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles of the 3D view: which there are, where they stand against what is exported, and what a drag writes."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest
from usdphys_ext.operators import translations
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core import mass as mass_rules
from usdphys_ext.usdphys_addon.core.schemas import usd_geom
from usdphys_ext.usdphys_addon.core.words import Phrase
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.viewport import (
    gizmos,
    handle_edits,
    handles,
    object_handles,
    overlay_settings,
    readout,
    shown_handles,
)

from . import scenes

DEGREE = math.pi / 180.0
FACES = {f"collider.size:{sign}{axis}" for sign in "+-" for axis in "XYZ"}
ENDS = {"collider.height:+", "collider.height:-"}
#: A view from the side, so that no axis of the world points at the viewer.
VIEW = handles.View(
    np.array([[0.8, 0.6, 0, 0], [-0.36, 0.48, 0.8, 0], [0.48, -0.64, 0.6, -20.0], [0, 0, 0, 1]]),
    np.diag([0.2, 0.2, -0.01, 1.0]), 800.0, 800.0,
)  # fmt: skip


def make_active(obj: Any) -> Any:
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    bpy.context.view_layer.update()
    return obj


def shown(obj: Any) -> shown_handles.Shown:
    bpy.context.view_layer.update()
    return object_handles.shown_for(bpy.context, obj, VIEW)


def by_key(obj: Any) -> dict[str, handles.Handle]:
    found = shown(obj).handles
    assert len({handle.key for handle in found}) == len(found)
    return {handle.key: handle for handle in found}


def drag(obj: Any, key: str, value: Any, **options: Any) -> None:
    make_active(obj)
    name = "value" if np.isscalar(value) else "place"
    assert bpy.ops.usdphys.drag_handle(handle=key, **{name: value}, **options) == {"FINISHED"}


def authored(group: Any, path: str = "") -> dict[str, Any]:
    """All that is set on a group and below, by path."""
    found: dict[str, Any] = {}
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if name == "rna_type":
            continue
        here = f"{path}.{name}" if path else name
        if prop.type == "POINTER" and prop.fixed_type.identifier.endswith(("Properties", "Prim")):
            found.update(authored(getattr(group, name), here))
        elif prop.type == "COLLECTION":
            for index, item in enumerate(getattr(group, name)):
                found.update(authored(item, f"{here}[{index}]"))
        elif group.is_property_set(name):
            value = getattr(group, name)
            found[here] = tuple(value) if getattr(prop, "is_array", False) else value
    return found


def changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def collider(shape: str, half: Any = (0.5, 1.0, 1.5), center: Any = (0, 0, 0), **settings: Any) -> Any:
    obj = scenes.add("Thing", scenes.box_mesh("Thing", half, center), **settings)
    scenes.make_collider(obj, shape)
    return obj


def under_uneven_parent(obj: Any) -> Any:
    """Below a parent that shears it."""
    parent = scenes.add("Parent", location=(1, 2, 3), scale=(2.0, 0.5, 1.2), rotation_euler=(0.2, -0.1, 0.4))
    obj.parent = parent
    obj.location, obj.rotation_euler, obj.scale = (0.5, -0.3, 0.2), (0.5, 0.3, -0.7), (1.5, 1.0, 0.7)
    return obj


# --------------------------------------------------------------------------- which there are


@pytest.mark.parametrize(
    ("shape", "keys"),
    [
        ("AUTO", set()), ("MESH", set()), ("PLANE", {"collider.location"}), ("CUBE", FACES | {"collider.location"}),
        ("SPHERE", {"collider.radius", "collider.location"}),
        *((shape, {"collider.radius", "collider.location"} | ENDS) for shape in ("CAPSULE", "CYLINDER", "CONE")),
    ],
)  # fmt: skip
def test_colliders_have_the_handles_of_their_shape(shape, keys):
    assert by_key(collider(shape)).keys() == keys
    assert not any(handle.is_set for handle in shown(bpy.data.objects["Thing"]).handles)


def test_only_the_active_collider_has_handles():
    obj = collider("CUBE")
    scenes.make_collider(obj, "SPHERE")
    assert "collider.size:+X" in by_key(obj)
    obj.usdphys.active_collider_index = 1
    assert by_key(obj).keys() == {"collider.radius", "collider.location"}
    obj.usdphys.active_collider_index = 7
    assert not by_key(obj)


def test_the_geometry_of_an_imported_primitive_has_none():
    obj = collider("CUBE")
    obj.usdphys.colliders[0].is_geometry = True
    assert not by_key(obj)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("FIXED", set()), ("REVOLUTE", {"joint.revolute.lower_limit", "joint.revolute.upper_limit"}),
        ("PRISMATIC", {"joint.prismatic.lower_limit", "joint.prismatic.upper_limit"}),
        ("SPHERICAL", {"joint.spherical.cone_angle0_limit", "joint.spherical.cone_angle1_limit"}),
        ("DISTANCE", {"joint.distance.min_distance", "joint.distance.max_distance"}), ("GENERIC", set()),
    ],
)  # fmt: skip
def test_joints_have_the_handles_of_their_limits(kind, keys):
    joint = scenes.add_joint("Joint", kind, None, scenes.solid("Body"))
    assert by_key(joint).keys() == keys
    assert not any(handle.is_set for handle in shown(joint).handles)


def test_generic_limits_and_all_drives_have_handles_where_they_are_applied():
    joint = scenes.add_joint("Joint", "GENERIC", None, scenes.solid("Body"))
    limits, drives = joint.usdphys.joint.limits, joint.usdphys.joint.drives
    for limit in (limits.rotX, limits.transY, limits.distance):
        limit.is_applied = True
    # Locked.
    limits.rotZ.is_applied, limits.rotZ.low, limits.rotZ.high = True, 1.0, -1.0
    drives.rotX.is_applied = drives.transZ.is_applied = True
    assert by_key(joint).keys() == {
        *(f"joint.limits.{dof}.{end}" for dof in ("rotX", "transY", "distance") for end in ("low", "high")),
        "joint.drives.rotX.target_position", "joint.drives.transZ.target_position",
    }  # fmt: skip


def test_frames_have_handles_where_they_are_kept_in_the_bodies():
    joint = scenes.add_joint("Joint", "FIXED", None, scenes.solid("Body", location=(1, 0, 0)))
    group = joint.usdphys.joint
    group.local_pos1 = (0.3, 0.0, 0.0)
    assert by_key(joint).keys() == {"joint.local_pos1"}
    group.local_rot1 = (1.0, 0.0, 0.0, 0.0)
    turns = {f"joint.local_rot1:{axis}" for axis in "XYZ"}
    assert by_key(joint).keys() == {"joint.local_pos1"} | turns
    group.local_pos0 = (-2.0, 0.0, 0.0)
    assert by_key(joint).keys() == {"joint.local_pos1", "joint.local_pos0"} | turns
    # At one place only one of the two can be taken hold of.
    group.local_pos0 = (1.3, 0.0, 0.0)
    assert by_key(joint).keys() == {"joint.local_pos1"} | turns


def test_a_joint_of_a_deleted_body_has_none():
    joint = scenes.add_joint("Joint", "REVOLUTE", None, scenes.solid("Body"))
    bpy.data.objects.remove(bpy.data.objects["Body"])
    assert not by_key(joint)


def test_the_centre_of_mass_has_a_handle_where_it_counts():
    obj = scenes.solid("Body", shape="AUTO")
    assert not by_key(obj)
    obj.usdphys.mass.center_of_mass = (0.1, 0.2, 0.3)
    assert obj.usdphys.mass.is_applied, "a typed value applies its schema"
    assert by_key(obj).keys() == {"mass.center_of_mass"}
    obj.usdphys.mass.property_unset("center_of_mass")
    by_key(obj)
    scenes.finish(readout.compute)
    (handle,) = by_key(obj).values()
    assert not handle.is_set and np.allclose(handle.origin, (0, 0, 0), atol=1e-6)


def test_an_object_that_is_scaled_to_nothing_has_none():
    obj = collider("CUBE", scale=(1, 1, 0))
    obj.usdphys.mass.is_applied = True
    obj.usdphys.mass.center_of_mass = (0.1, 0.2, 0.3)
    assert not by_key(obj)


# --------------------------------------------------------------------------- where they are


@pytest.mark.parametrize("place", ["plain", "scaled", "mirrored", "sheared"])
def test_the_faces_of_a_box_are_where_it_is_exported(place):
    obj = collider("CUBE", center=(0.2, 0.1, -0.3))
    if place == "scaled":
        obj.scale, obj.rotation_euler, obj.location = (2.0, 0.5, 3.0), (0.4, -0.2, 0.9), (1, 2, 3)
    elif place == "mirrored":
        obj.scale, obj.rotation_euler = (-2.0, 0.5, 3.0), (0.4, -0.2, 0.9)
    elif place == "sheared":
        under_uneven_parent(obj)
    found = by_key(obj)
    (prim,) = scenes.read_model().colliders.values()
    size = prim.get(usd_geom.Cube).size
    ends = [
        prim.world[:3, 3] + sign * prim.world[:3, axis] * size / 2 for axis in range(3) for sign in (1.0, -1.0)
    ]  # fmt: skip
    points = [found[key].point(VIEW) for key in FACES]
    for end in ends:
        assert min(np.linalg.norm(end - point) for point in points) < 1e-5


@pytest.mark.parametrize("shape", ["SPHERE", "CAPSULE", "CYLINDER", "CONE"])
@pytest.mark.parametrize("is_sheared", [False, True])
def test_round_things_are_as_large_as_they_are_exported(shape, is_sheared):
    obj = collider(shape, (0.5, 0.6, 1.5), (0.1, 0.2, 0.3))
    if is_sheared:
        under_uneven_parent(obj)
    found = by_key(obj)
    (prim,) = scenes.read_model().colliders.values()
    gprim: Any = next(value for value in prim.schemas.values() if isinstance(value, usd_geom.Gprim))
    unit = np.linalg.norm(prim.world[:3, 0])
    radius = found["collider.radius"]
    assert np.linalg.norm(radius.point(VIEW) - radius.origin) == pytest.approx(gprim.radius * unit, rel=1e-5)
    if shape == "SPHERE":
        return
    length = np.linalg.norm(found["collider.height:+"].point(VIEW) - found["collider.height:-"].point(VIEW))
    caps = 2 * gprim.radius if shape == "CAPSULE" else 0.0
    assert length == pytest.approx((gprim.height + caps) * unit, rel=1e-5)
    tip = prim.world @ np.array([0, 0, gprim.height / 2 + caps / 2, 1.0])
    assert np.allclose(found["collider.height:+"].point(VIEW), tip[:3], atol=1e-5)


def test_limits_of_a_hinge_are_about_the_axis_of_its_frame():
    joint = scenes.add_joint(
        "Joint",
        "REVOLUTE",
        None,
        scenes.solid("Body"),
        location=(1, 2, 3),
        rotation_euler=(0.3, 0.5, -0.4),
        scale=(2, 2, 2),
    )
    group = joint.usdphys.joint
    group.axis, group.revolute.lower_limit, group.revolute.upper_limit = "Y", -20 * DEGREE, 70 * DEGREE
    frame = frames.rotation_of(scenes.world_of(joint))
    found = by_key(joint)
    for name, angle in (("lower_limit", -20), ("upper_limit", 70)):
        handle = found[f"joint.revolute.{name}"]
        # About Y, Z turns to X.
        way = frame @ (math.sin(angle * DEGREE), 0.0, math.cos(angle * DEGREE))
        assert np.allclose(handles.unit(handle.point(VIEW) - (1, 2, 3)), way, atol=1e-6)
        assert handle.is_set and handle.value == pytest.approx(angle * DEGREE)


@pytest.mark.parametrize("is_set", [True, False])
def test_the_arcs_of_a_cone_go_to_both_sides_where_it_is_set(is_set):
    joint = scenes.add_joint("Joint", "SPHERICAL", None, scenes.solid("Body"))
    joint.usdphys.joint.axis = "X"
    if is_set:
        joint.usdphys.joint.spherical.cone_angle0_limit = 30 * DEGREE
    guides = [guide for guide in shown(joint).guides if guide.role == "cone" and not guide.is_surface]
    ways = guides[0].points / np.linalg.norm(guides[0].points, axis=1)[:, None]
    ends = [math.acos(ways[0, 0]), math.acos(ways[-1, 0])]
    assert ends[1] > 1 * DEGREE and ends[0] == pytest.approx(ends[1] if is_set else 0.0, abs=1e-6)
    assert ends[1] == pytest.approx(30 * DEGREE) or not is_set


def test_limits_of_a_slider_are_along_its_axis_in_world_lengths():
    joint = scenes.add_joint("Joint", "PRISMATIC", None, scenes.solid("Body"), location=(1, 2, 3), scale=(3, 3, 3))
    joint.usdphys.joint.axis, joint.usdphys.joint.prismatic.upper_limit = "Z", 0.5
    upper = by_key(joint)["joint.prismatic.upper_limit"]
    assert np.allclose(upper.origin + upper.axis * upper.value * upper.scale, (1, 2, 3.5), atol=1e-6)
    lower = by_key(joint)["joint.prismatic.lower_limit"]
    assert not lower.is_set and lower.value < 0 and lower.high == pytest.approx(0.5)


def test_infinite_limits_and_negative_ones_are_not_there():
    joint = scenes.add_joint("Joint", "REVOLUTE", None, scenes.solid("Body"))
    group = joint.usdphys.joint
    group.revolute.lower_limit = -math.inf
    assert not by_key(joint)["joint.revolute.lower_limit"].is_set
    group.type, group.distance.min_distance, group.distance.max_distance = "DISTANCE", -1.0, 0.0
    found = by_key(joint)
    assert not found["joint.distance.min_distance"].is_set and found["joint.distance.max_distance"].is_set
    group.type, group.spherical.cone_angle0_limit = "SPHERICAL", -1.0
    assert not by_key(joint)["joint.spherical.cone_angle0_limit"].is_set


# --------------------------------------------------------------------------- what a drag writes


def kinds() -> dict[str, Any]:
    """An object with handles of every kind."""
    box = collider("CUBE")
    scenes.make_body(box)
    box.usdphys.mass.is_applied, box.usdphys.mass.center_of_mass = True, (0.1, 0.1, 0.1)
    capsule = collider("CAPSULE")
    joints = {
        kind: scenes.add_joint(kind, kind, None, box)
        for kind in ("REVOLUTE", "PRISMATIC", "SPHERICAL", "DISTANCE", "GENERIC")
    }
    joints["REVOLUTE"].usdphys.joint.drives.angular.is_applied = True
    generic = joints["GENERIC"].usdphys.joint
    generic.limits.rotY.is_applied = generic.limits.transZ.is_applied = generic.drives.rotX.is_applied = True
    generic.local_pos1, generic.local_rot1 = (0.2, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    return {"box": box, "capsule": capsule, **joints}


def test_the_names_of_all_handles_are_in_german_and_french():
    found = {handle.label for obj in kinds().values() for handle in shown(obj).handles}
    assert len(found) > 8
    for locale in ("de_DE", "fr_FR"):
        words = translations.table(locale)
        parts = [label.values.get("name") if isinstance(label, Phrase) else None for label in found]
        texts = {getattr(label, "template", label) for label in (*found, *parts) if label is not None}
        assert {text for text in texts if ("*", text) not in words} == set()


@pytest.mark.slow
def test_a_drag_changes_one_property_and_what_keeps_the_other_side_in_place():
    for obj in kinds().values():
        for key in by_key(obj):
            handle, path = by_key(obj)[key], key.partition(":")[0]
            before = authored(obj.usdphys)
            if handle.motion == "FREE":
                drag(obj, key, tuple(np.asarray(handle.value) + 0.25))
            else:
                drag(obj, key, float(handle.value) + 0.125)
            expected = {path.replace("collider.", "colliders[0].")}
            if handle.shift is not None:
                expected.add("colliders[0].location")
            assert changed(before, authored(obj.usdphys)) == expected, key


def test_a_drag_of_both_sides_changes_the_size_alone():
    obj = collider("CUBE")
    before = authored(obj.usdphys)
    drag(obj, "collider.size:-Y", 3.0, both_sides=True)
    assert changed(before, authored(obj.usdphys)) == {"colliders[0].size"}
    assert tuple(obj.usdphys.colliders[0].size) == pytest.approx((1.0, 3.0, 3.0))


@pytest.mark.parametrize("shape", ["CUBE", "CAPSULE", "CYLINDER", "CONE"])
@pytest.mark.parametrize("is_sheared", [False, True])
def test_the_other_side_stays_where_it_is(shape, is_sheared):
    obj = collider(shape, center=(0.3, 0.2, 0.1))
    if is_sheared:
        under_uneven_parent(obj)
    for one, other in (("+", "-"), ("-", "+")):
        keys = [f"collider.size:{sign}Z" if shape == "CUBE" else f"collider.height:{sign}" for sign in (one, other)]
        before = by_key(obj)
        drag(obj, keys[0], float(before[keys[0]].value) * 1.5)
        after = by_key(obj)
        assert np.allclose(after[keys[1]].point(VIEW), before[keys[1]].point(VIEW), atol=1e-5)
        moved = after[keys[0]].point(VIEW) - before[keys[0]].point(VIEW)
        handle = before[keys[0]]
        assert np.allclose(moved, handle.axis * handle.value * handle.scale * 0.5, atol=1e-5)


def test_a_first_drag_starts_from_what_was_fitted():
    obj = collider("CUBE", (0.5, 1.0, 1.5), (0.2, 0.0, 0.0), scale=(1.0, 2.0, 1.0))
    (before,) = scenes.read_model().colliders.values()
    handle = by_key(obj)["collider.size:+X"]
    assert handle.value == pytest.approx(1.0)
    drag(obj, "collider.size:+X", float(handle.value))
    (after,) = scenes.read_model().colliders.values()
    assert np.allclose(after.world, before.world, atol=1e-6)
    assert tuple(obj.usdphys.colliders[0].size) == pytest.approx((1.0, 2.0, 3.0))
    assert tuple(obj.usdphys.colliders[0].location) == pytest.approx((0.2, 0.0, 0.0))


def test_a_turned_collider_is_fitted_along_its_own_axes():
    obj = collider("CUBE", (1.0, 0.5, 0.5))
    obj.usdphys.colliders[0].rotation = (math.cos(math.pi / 8), 0.0, 0.0, math.sin(math.pi / 8))
    found = by_key(obj)["collider.size:+X"]
    assert found.value == pytest.approx((2.0 + 1.0) * math.cos(math.pi / 4), abs=1e-5)


def test_an_offset_and_a_centre_of_mass_follow_the_handle_in_a_scaled_space():
    obj = under_uneven_parent(collider("SPHERE"))
    obj.usdphys.mass.is_applied, obj.usdphys.mass.center_of_mass = True, (0.1, 0.2, 0.3)
    for key, path in (("collider.location", "colliders[0].location"), ("mass.center_of_mass", "mass.center_of_mass")):
        handle = by_key(obj)[key]
        assert np.allclose(handle.origin, (scenes.world_of(obj) @ np.append(handle.value, 1.0))[:3], atol=1e-5)
        mouse = VIEW.project(handle.point(VIEW))
        value = handles.Drag(handle, VIEW, mouse).move(np.add(mouse, (40.0, 25.0)))
        drag(obj, key, tuple(np.asarray(value)))
        assert authored(obj.usdphys)[path] == pytest.approx(tuple(np.asarray(value)))
        moved = by_key(obj)[key].origin - handle.origin
        assert np.allclose(moved, (VIEW.right * 40.0 + VIEW.up * 25.0) * VIEW.pixel_size(handle.origin), atol=1e-5)


def test_a_limit_stops_at_the_other_one():
    joint = scenes.add_joint("Joint", "REVOLUTE", None, scenes.solid("Body"))
    limits = joint.usdphys.joint.revolute
    limits.lower_limit, limits.upper_limit = -0.5, 0.5
    drag(joint, "joint.revolute.lower_limit", 2.0)
    assert (limits.lower_limit, limits.upper_limit) == (0.5, 0.5)
    drag(joint, "joint.revolute.upper_limit", -2.0)
    assert (limits.lower_limit, limits.upper_limit) == (0.5, 0.5)


def test_a_smallest_distance_is_not_negative():
    joint = scenes.add_joint("Joint", "DISTANCE", None, scenes.solid("Body"))
    drag(joint, "joint.distance.min_distance", -2.0)
    assert joint.usdphys.joint.distance.min_distance == 0.0


def test_a_kept_frame_is_moved_and_turned_in_its_body():
    body = under_uneven_parent(scenes.solid("Body"))
    joint = scenes.add_joint("Joint", "FIXED", None, body, location=(2, 1, 0))
    group = joint.usdphys.joint
    group.local_pos1, group.local_rot1 = (0.1, 0.2, 0.3), (0.8, 0.6, 0.0, 0.0)
    handle = by_key(joint)["joint.local_pos1"]
    goal = np.add(handle.origin, (0.4, -0.3, 0.2))
    drag(joint, "joint.local_pos1", tuple(handle.value + np.linalg.solve(handle.basis, goal - handle.origin)))
    assert np.allclose(by_key(joint)["joint.local_pos1"].origin, goal, atol=1e-5)
    before = by_key(joint)
    drag(joint, "joint.local_rot1:Y", 0.4)
    after = by_key(joint)
    assert np.allclose(after["joint.local_rot1:Y"].axis, before["joint.local_rot1:Y"].axis, atol=1e-5)
    turned = handles.direction_at(before["joint.local_rot1:Y"].axis, before["joint.local_rot1:Z"].axis, 0.4)
    assert np.allclose(after["joint.local_rot1:Z"].axis, turned, atol=1e-5)


def test_an_edit_that_is_cancelled_leaves_nothing_behind():
    for obj in kinds().values():
        for key, handle in by_key(obj).items():
            before = authored(obj.usdphys)
            edit = handle_edits.Edit(obj, handle)
            value = handle.value + 0.3 if handle.motion == "FREE" else float(handle.value) + 0.3
            edit.set(obj, value)
            assert authored(obj.usdphys) != before, key
            edit.restore(obj)
            assert authored(obj.usdphys) == before, key


def test_both_sides_after_one_side_puts_the_centre_back():
    obj = collider("CUBE")
    obj.usdphys.colliders[0].location = (0.1, 0.2, 0.3)
    edit = handle_edits.Edit(obj, by_key(obj)["collider.size:+X"])
    edit.set(obj, 2.0)
    assert obj.usdphys.colliders[0].location[0] == pytest.approx(0.6)
    edit.set(obj, 2.0, both=True)
    assert tuple(obj.usdphys.colliders[0].location) == pytest.approx((0.1, 0.2, 0.3))


def test_a_value_can_be_cleared():
    joint = scenes.add_joint("Joint", "REVOLUTE", None, scenes.solid("Body"))
    joint.usdphys.joint.revolute.lower_limit = -0.5
    drag(joint, "joint.revolute.lower_limit", 0.0, clears=True)
    assert not joint.usdphys.joint.revolute.is_property_set("lower_limit")


def test_an_angle_can_be_given_as_one():
    joint = make_active(scenes.add_joint("Joint", "REVOLUTE", None, scenes.solid("Body")))
    bpy.ops.usdphys.drag_handle(handle="joint.revolute.upper_limit", angle=0.75)
    assert joint.usdphys.joint.revolute.upper_limit == pytest.approx(0.75)


def test_the_same_value_twice_is_the_same():
    obj = collider("CONE")
    drag(obj, "collider.height:+", 5.0)
    once = authored(obj.usdphys)
    drag(obj, "collider.height:+", 5.0)
    assert authored(obj.usdphys) == once


def test_the_header_says_the_value_in_the_units_of_the_scene():
    joint = scenes.add_joint("Joint", "REVOLUTE", None, scenes.solid("Body"))
    handle = by_key(joint)["joint.revolute.upper_limit"]
    assert handle_edits.text_of(bpy.context, handle, 45 * DEGREE) == "Upper Limit: 45°"
    handle = by_key(collider("SPHERE"))["collider.radius"]
    settings = bpy.context.scene.unit_settings
    settings.system, settings.scale_length, settings.length_unit = "METRIC", 0.01, "ADAPTIVE"
    assert handle_edits.text_of(bpy.context, handle, 25.0) == "Radius: 25 cm"
    for unit, text in (("METERS", "0.25 m"), ("CENTIMETERS", "25 cm"), ("MILLIMETERS", "250 mm")):
        settings.length_unit = unit
        assert handle_edits.text_of(bpy.context, handle, 25.0) == f"Radius: {text}"
    settings.system, settings.length_unit = "IMPERIAL", "INCHES"
    assert handle_edits.text_of(bpy.context, handle, 2.54) == 'Radius: 1"'
    settings.system = "NONE"
    assert handle_edits.text_of(bpy.context, handle, 25.0) == "Radius: 25"


# --------------------------------------------------------------------------- inertia

BOX = {f"mass.diagonal_inertia:{axis}" for axis in "XYZ"}
TURN = (math.cos(math.pi / 8), 0.0, 0.0, math.sin(math.pi / 8))


@pytest.fixture
def mass_overlay():
    settings = overlay_settings.current(bpy.context)
    settings.mass = "ALL"
    yield settings
    for name in ("mass", "show"):
        settings.property_unset(name)


def heavy(kilograms: float = 6.0, half: Any = (0.5, 1.0, 1.5), **settings: Any) -> Any:
    """A body of one box, of a mass of its own."""
    obj = scenes.solid("Body", half, shape="AUTO", **settings)
    obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, kilograms
    return obj


def known(obj: Any) -> dict[str, handles.Handle]:
    """The handles once the mass is known as it is now."""
    readout.forget()
    by_key(obj)
    scenes.finish(readout.compute)
    return by_key(obj)


def edges(found: dict[str, handles.Handle]) -> list[float]:
    return [float(found[f"mass.diagonal_inertia:{axis}"].value) for axis in "XYZ"]


def moments_of(kilograms: float, a: float, b: float, c: float) -> tuple[float, float, float]:
    return tuple(kilograms / 12 * part for part in (b * b + c * c, a * a + c * c, a * a + b * b))  # type: ignore


def test_inertia_has_handles_where_it_is_authored_or_the_overlay_shows_it():
    obj = heavy()
    settings = overlay_settings.current(bpy.context)
    assert known(obj).keys() == {"mass.center_of_mass"}
    try:
        settings.mass = "SELECTED"
        obj.select_set(False)
        assert not BOX & known(obj).keys()
        obj.select_set(True)
        assert known(obj).keys() > BOX
        settings.show = False
        assert not BOX & known(obj).keys()
    finally:
        settings.property_unset("mass")
        settings.property_unset("show")
    obj.usdphys.mass.diagonal_inertia = (0.0, 0.0, 0.0)
    assert not BOX & known(obj).keys()
    obj.usdphys.mass.diagonal_inertia = (1.0, 1.5, 1.2)
    assert known(obj).keys() > BOX
    obj.usdphys.mass.is_applied = False
    assert not known(obj)


def test_nothing_is_computed_for_a_redraw(monkeypatch, mass_overlay):
    obj = heavy()
    readout.forget()
    monkeypatch.setattr(readout, "compute_mass", lambda *_: pytest.fail("computed"))
    assert not by_key(obj)
    obj.usdphys.mass.center_of_mass = (0.1, 0.0, 0.0)
    assert by_key(obj).keys() == {"mass.center_of_mass"}


def test_what_is_no_body_has_them_where_all_is_authored():
    obj = collider("AUTO")
    mass = obj.usdphys.mass
    mass.is_applied, mass.center_of_mass, mass.diagonal_inertia = True, (0.1, 0.2, 0.3), moments_of(2.0, 1, 2, 3)
    assert not BOX & known(obj).keys()
    mass.mass, mass.principal_axes = 2.0, TURN
    assert edges(known(obj)) == pytest.approx([1, 2, 3], rel=1e-5)


@pytest.mark.parametrize("place", ["plain", "scaled", "mirrored", "centimetres"])
def test_the_box_of_a_box_is_that_box(place, mass_overlay):
    obj = heavy(location=(1, 2, 3))
    scale = np.ones(3)
    if place == "scaled":
        obj.scale, obj.rotation_euler = (2.0, 0.5, 3.0), (0.4, -0.2, 0.9)
        scale = np.array(obj.scale)
    elif place == "mirrored":
        obj.scale, obj.rotation_euler = (-2.0, 0.5, 3.0), (0.4, -0.2, 0.9)
        scale = np.array(obj.scale)
    elif place == "centimetres":
        bpy.context.scene.unit_settings.scale_length = 0.01
    found = known(obj)
    assert edges(found) == pytest.approx(np.abs(scale * (1.0, 2.0, 3.0)), rel=1e-4)
    world = scenes.world_of(obj)
    for index, axis in enumerate("XYZ"):
        handle = found[f"mass.diagonal_inertia:{axis}"]
        faces = [world @ np.append(sign * np.eye(3)[index] * (0.5, 1.0, 1.5), 1.0) for sign in (1, -1)]
        assert min(np.linalg.norm(handle.point(VIEW) - face[:3]) for face in faces) < 1e-3
        assert not handle.is_set


def test_the_box_is_about_the_centre_of_mass_and_turned_by_the_principal_axes():
    obj = heavy(location=(1, 2, 3), rotation_euler=(0.0, 0.0, 0.5))
    mass = obj.usdphys.mass
    mass.center_of_mass, mass.diagonal_inertia, mass.principal_axes = (0.3, 0, 0), moments_of(6.0, 2, 1, 4), TURN
    handle = known(obj)["mass.diagonal_inertia:X"]
    turn = 0.5 + math.pi / 4
    place = np.add((1, 2, 3), np.multiply(0.3, (math.cos(0.5), math.sin(0.5), 0.0)))
    assert np.allclose(handle.point(VIEW), np.add(place, (math.cos(turn), math.sin(turn), 0.0)), atol=1e-5)
    assert handle.is_set


def test_a_drag_of_a_face_changes_two_moments_and_authors_both_values(mass_overlay):
    obj = heavy()
    before = authored(obj.usdphys)
    readout.forget()
    # Nothing is known: a drag has it computed.
    drag(obj, "mass.diagonal_inertia:Y", 4.0)
    mass = obj.usdphys.mass
    assert changed(before, authored(obj.usdphys)) == {"mass.diagonal_inertia", "mass.principal_axes"}
    assert tuple(mass.diagonal_inertia) == pytest.approx(moments_of(6.0, 1, 4, 3), rel=1e-5)
    assert mass.diagonal_inertia[1] == pytest.approx(moments_of(6.0, 1, 2, 3)[1], rel=1e-5)
    assert tuple(mass.principal_axes) == pytest.approx((1, 0, 0, 0))
    assert edges(known(obj)) == pytest.approx([1, 4, 3], rel=1e-4)
    # It is what counts, and the checks have nothing against it.
    reading = scenes.read_model()
    (path,) = reading.bodies
    assert mass_rules.mass_properties(reading, path).diagonal_inertia == pytest.approx(moments_of(6.0, 1, 4, 3))
    once = authored(obj.usdphys)
    drag(obj, "mass.diagonal_inertia:Y", 4.0)
    assert authored(obj.usdphys)["mass.diagonal_inertia"] == pytest.approx(once["mass.diagonal_inertia"], rel=1e-4)


def test_axes_that_are_authored_stay_and_axes_that_are_not_are_those_that_counted():
    obj = heavy(half=(0.5, 0.5, 1.5))
    mass = obj.usdphys.mass
    obj.usdphys.colliders[0].shape = "CUBE"
    obj.usdphys.colliders[0].size, obj.usdphys.colliders[0].rotation = (1, 2, 3), TURN
    mass.diagonal_inertia = moments_of(6.0, 1, 2, 3)
    drag(obj, "mass.diagonal_inertia:Z", 5.0)
    axes = frames.matrix_of(tuple(mass.principal_axes))
    assert abs(abs(axes[0, 0]) - math.cos(math.pi / 4)) < 1e-4 and abs(axes[2, 2] - 1) < 1e-5
    mass.principal_axes = (0.6, 0.8, 0.0, 0.0)
    before = authored(obj.usdphys)
    drag(obj, "mass.diagonal_inertia:X", 2.5)
    assert changed(before, authored(obj.usdphys)) == {"mass.diagonal_inertia"}


def test_a_drag_in_centimetres_writes_kilogram_square_metres():
    bpy.context.scene.unit_settings.scale_length = 0.01
    obj = heavy(half=(50, 100, 150))
    obj.usdphys.mass.diagonal_inertia, obj.usdphys.mass.principal_axes = moments_of(6.0, 1, 2, 3), (1, 0, 0, 0)
    handle = known(obj)["mass.diagonal_inertia:X"]
    assert handle.value == pytest.approx(100.0, rel=1e-5)
    drag(obj, "mass.diagonal_inertia:X", 250.0)
    assert tuple(obj.usdphys.mass.diagonal_inertia) == pytest.approx(moments_of(6.0, 2.5, 2, 3), rel=1e-5)
    bpy.context.scene.unit_settings.system = "METRIC"
    text = handle_edits.text_of(bpy.context, handle, 250.0)
    assert text == "Inertia: 6.5  7.625  5.125 kg·m²    box along X: 2.5 m"


@pytest.mark.parametrize("amount", [-3.0, 0.0, 1e9])
def test_an_inertia_stays_possible_however_far_a_face_is_dragged(amount):
    obj = heavy()
    obj.usdphys.mass.diagonal_inertia = (1.0, 1.0, 2.0)
    for axis in "XYZXYZ":
        drag(obj, f"mass.diagonal_inertia:{axis}", amount)
        small, middle, large = sorted(obj.usdphys.mass.diagonal_inertia)
        assert small > 0.0 and large <= (small + middle) * (1 + 1e-5)
    found = [code for code, _ in scenes.codes(scenes.read().issues)]
    assert not [code for code in found if code.startswith("Inertia")]


@pytest.mark.parametrize("has_inertia", [False, True])
@pytest.mark.parametrize("has_axes", [False, True])
def test_a_cancelled_inertia_is_as_it_was_and_a_cleared_one_is_gone(has_inertia, has_axes, mass_overlay):
    obj = heavy()
    mass = obj.usdphys.mass
    if has_inertia:
        mass.diagonal_inertia = (1.0, 1.5, 1.2)
    if has_axes:
        mass.principal_axes = TURN
    before = authored(obj.usdphys)
    edit = handle_edits.Edit(obj, known(obj)["mass.diagonal_inertia:Z"])
    edit.set(obj, 2.0)
    edit.set(obj, 2.5)
    assert {"mass.diagonal_inertia", "mass.principal_axes"} <= authored(obj.usdphys).keys() != before.keys() or (
        has_inertia and has_axes
    )
    assert authored(obj.usdphys) != before
    edit.restore(obj)
    assert authored(obj.usdphys) == before
    drag(obj, "mass.diagonal_inertia:Z", 0.0, clears=True)
    gone = {"mass.diagonal_inertia", "mass.principal_axes"}
    assert authored(obj.usdphys) == {path: value for path, value in before.items() if path not in gone}


# --------------------------------------------------------------------------- when they are shown


def test_they_are_shown_for_the_active_object_that_has_physics():
    plain = make_active(scenes.add_box("Plain"))
    assert not gizmos.USDPHYS_GGT_handles.poll(bpy.context)
    scenes.make_collider(plain, "CUBE")
    assert gizmos.USDPHYS_GGT_handles.poll(bpy.context)
    bpy.context.view_layer.objects.active = None
    assert not gizmos.USDPHYS_GGT_handles.poll(bpy.context)


def test_they_step_aside_in_edit_mode_hidden_and_while_the_preview_plays():
    obj = make_active(scenes.solid("Body", shape="CUBE"))
    assert gizmos.is_wanted(bpy.context)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not gizmos.is_wanted(bpy.context)
    assert not bpy.ops.usdphys.drag_handle.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.hide_set(True)
    assert not gizmos.is_wanted(bpy.context)
    obj.hide_set(False)
    preview_guard.start(bpy.context)
    try:
        assert not gizmos.is_wanted(bpy.context)
        assert not bpy.ops.usdphys.drag_handle.poll()
    finally:
        preview_guard.stop()
    assert gizmos.is_wanted(bpy.context)


@pytest.mark.parametrize("tool", ["builtin.move", "builtin.rotate", "builtin.scale"])
def test_they_leave_the_place_to_the_gizmos_of_blenders_tools(tool):
    from types import SimpleNamespace

    make_active(scenes.solid("Body", shape="CUBE"))
    context = bpy.context
    names = ("object", "mode", "window", "screen", "space_data")
    fake = SimpleNamespace(**{name: getattr(context, name, None) for name in names})
    active = SimpleNamespace(idname="builtin.select_box")
    fake.workspace = SimpleNamespace(tools=SimpleNamespace(from_space_view3d_mode=lambda mode, create: active))
    assert gizmos.is_wanted(fake)
    active.idname = tool
    assert not gizmos.is_wanted(fake)


def test_linked_objects_have_none(tmp_path):
    file = tmp_path / "library.blend"
    obj = scenes.solid("Body", shape="CUBE")
    bpy.data.libraries.write(str(file), {obj})
    bpy.data.objects.remove(obj)
    with bpy.data.libraries.load(str(file), link=True) as (_, wanted):
        wanted.objects = ["Body"]
    linked = bpy.data.objects["Body"]
    bpy.context.scene.collection.objects.link(linked)
    make_active(linked)
    assert linked.library is not None
    assert not gizmos.is_wanted(bpy.context)
    assert not bpy.ops.usdphys.drag_handle.poll()
    assert handle_edits.find(bpy.context, "collider.location", VIEW) is None


def test_a_handle_that_is_not_there_is_said():
    make_active(collider("SPHERE"))
    with pytest.raises(RuntimeError, match=r"'Thing' has no handle 'collider.size:\+X'"):
        bpy.ops.usdphys.drag_handle(handle="collider.size:+X", value=1.0)


def test_they_come_and_go_with_the_extension():
    def registered() -> list[Any]:
        found = bpy.types.GizmoGroup.bl_rna_get_subclass_py("USDPHYS_GGT_handles")
        return [found, *(bpy.types.Gizmo.bl_rna_get_subclass_py(f"USDPHYS_GT_{name}") for name in ("handle", "guides"))]

    assert None not in registered()
    for _ in range(3):
        gizmos.unregister()
        assert registered() == [None] * 3
        gizmos.register()
    assert None not in registered()
