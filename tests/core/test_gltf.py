# SPDX-License-Identifier: GPL-3.0-or-later
"""glTF documents with physics: what they say becomes the model, and a model becomes what they say."""

from __future__ import annotations

import base64
import copy
import itertools
import json
import math
import os
import random
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import assets
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.joint_settings import axis_settings
from usdphys_ext.usdphys_addon.core.model import Mesh, PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.validate import validate
from usdphys_ext.usdphys_addon.gltf import (
    additions,
    filters,
    joints,
    known,
    names,
    read,
    shapes,
    unsaid,
    vehicles,
    vendor,
    write,
)
from usdphys_ext.usdphys_addon.gltf.document import Document, are_numbers

BODY, SHAPE = names.KHR_BODY, names.KHR_SHAPE
HALF = math.sqrt(0.5)
TRIANGLES = struct.pack("<12f12H", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2)


def document(tmp_path: Path, content: dict, name: str = "scene.gltf") -> Document:
    path = tmp_path / name
    path.write_text(json.dumps({"asset": {"version": "2.0"}, **content}))
    return Document.load(path)


def khr(tmp_path: Path, nodes: list, shapes=(), **top) -> read.GltfReading:
    """The reading of a scene in the KHR family whose first node is the root."""
    content = {
        "extensionsUsed": [BODY, SHAPE], "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "extensions": {SHAPE: {"shapes": list(shapes)}, BODY: top},
    }  # fmt: skip
    return read.read(document(tmp_path, content))


def omi(tmp_path: Path, nodes: list, shapes=(), joints=()) -> read.GltfReading:
    content = {
        "extensionsUsed": [names.OMI_BODY], "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "extensions": {names.OMI_SHAPE: {"shapes": list(shapes)}, names.OMI_JOINT: {"physicsJoints": list(joints)}},
    }  # fmt: skip
    return read.read(document(tmp_path, content))


def jointed(tmp_path: Path, joint: dict) -> read.GltfReading:
    """A document with a joint of these settings, whose two bodies stand at the origin."""
    return khr(
        tmp_path,
        [
            {"name": "Root", "children": [1, 2]},
            {"name": "A", "children": [3], "extensions": {BODY: {"motion": {}}}},
            {"name": "B", "extensions": {BODY: {"motion": {}}}},
            {"name": "J", "extensions": {BODY: {"joint": {"joint": 0, "connectedNode": 2}}}},
        ],
        physicsJoints=[joint],
    )


def joint_of(tmp_path: Path, limits: list, drives=()) -> tuple:
    """(prim, joint) of a joint with these limits, whose two bodies stand at the origin."""
    reading = jointed(tmp_path, {"limits": limits, "drives": list(drives)})
    prim = reading.model.prims["/Root/A/J"]
    return prim, prim.get(usd_physics.Joint)


LOCKED = [{"linearAxes": [0, 1, 2], "min": 0, "max": 0}]


# --------------------------------------------------------------------------- axes and units


def test_up_becomes_z_for_places_and_velocities(tmp_path):
    reading = khr(tmp_path, [{
        "name": "Body", "translation": [1, 2, 3],
        "extensions": {BODY: {"motion": {"linearVelocity": [0, 5, 0], "angularVelocity": [0, 0, 7]}}},
    }])  # fmt: skip
    prim = reading.model.prims["/Body"]
    body = prim.get(usd_physics.RigidBodyAPI)
    assert prim.world[:3, 3].tolist() == [1, -3, 2]
    assert body.velocity == (0, 0, 5)
    assert body.angular_velocity == (0, -7, 0)


def test_velocities_of_omi_are_in_the_world_and_those_of_khr_in_the_node(tmp_path):
    turned = {"name": "Body", "rotation": [0, 0, HALF, HALF]}
    motion = {"type": "dynamic", "linearVelocity": [1, 0, 0]}
    in_node = khr(tmp_path, [{**turned, "extensions": {BODY: {"motion": motion}}}]).model.prims["/Body"]
    in_world = omi(tmp_path, [{**turned, "extensions": {names.OMI_BODY: {"motion": motion}}}]).model.prims["/Body"]
    assert in_node.get(usd_physics.RigidBodyAPI).velocity == (1, 0, 0)
    velocity = in_world.get(usd_physics.RigidBodyAPI).velocity
    np.testing.assert_allclose(in_world.world[:3, :3] @ velocity, (1, 0, 0), atol=1e-12)


def test_principal_axes_turn_with_the_world(tmp_path):
    """The tensor about the world's axes is the same in both: turned by a right angle about X."""
    quaternion = np.array([0.1, 0.2, 0.3, 0.9]) / math.sqrt(0.95)
    moments = [1.0, 2.0, 4.0]
    reading = khr(tmp_path, [{
        "name": "Body", "extensions": {BODY: {"motion": {
            "mass": 3, "inertiaDiagonal": moments, "inertiaOrientation": quaternion.tolist()}}},
    }])  # fmt: skip
    mass = reading.model.prims["/Body"].get(usd_physics.MassAPI)
    x, y, z, w = quaternion
    theirs = frames.matrix_of((w, x, y, z)) @ np.diag(moments) @ frames.matrix_of((w, x, y, z)).T
    turn = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    axes = frames.matrix_of(mass.principal_axes)
    np.testing.assert_allclose(axes @ np.diag(mass.diagonal_inertia) @ axes.T, turn @ theirs @ turn.T, atol=1e-12)


def test_limit_about_the_third_axis_changes_its_sign(tmp_path):
    """Axis 2 of glTF is -Y of the model."""
    hinge = [*LOCKED, {"angularAxes": [0, 1], "min": 0, "max": 0}, {"angularAxes": [2], "min": -0.25, "max": 1}]
    _, joint = joint_of(tmp_path, hinge)
    assert (joint.axis, joint.lower_limit, joint.upper_limit) == ("Y", -1, 0.25)


def test_drive_about_the_third_axis_changes_its_sign(tmp_path):
    hinge = [*LOCKED, {"angularAxes": [0, 1], "min": 0, "max": 0}]
    drive = {"type": "angular", "mode": "force", "axis": 2, "positionTarget": 0.5, "stiffness": 3,
             "velocityTarget": 2, "damping": 1, "maxForce": 9}  # fmt: skip
    prim, _ = joint_of(tmp_path, hinge, [drive])
    ((dof, found),) = prim.instances(usd_physics.DriveAPI)
    assert dof == "angular"
    assert (found.target_position, found.stiffness, found.target_velocity, found.damping) == (-0.5, 3, -2, 1)
    assert found.max_force == 9


def test_a_negative_force_of_a_drive_is_no_force(tmp_path):
    prim, _ = joint_of(tmp_path, [*LOCKED], [{"type": "angular", "axis": 2, "stiffness": 3, "maxForce": -1}])
    assert [drive.max_force for _, drive in prim.instances(usd_physics.DriveAPI)] == [None]


def test_gravity_without_a_direction_is_down(tmp_path):
    content = {
        "extensionsUsed": [names.GRAVITY, names.OMI_BODY], "scene": 0, "scenes": [{"nodes": [0]}],
        "extensions": {names.GRAVITY: {"gravity": 3.7}},
        "nodes": [{"name": "Body", "extensions": {names.OMI_BODY: {"motion": {"type": "dynamic"}}}}],
    }  # fmt: skip
    model = read.read(document(tmp_path, content)).model
    (scene,) = (prim.get(usd_physics.PhysicsScene) for prim in model.scenes.values())
    assert scene.gravity_magnitude == 3.7
    assert scene.gravity_direction is None or scene.gravity_direction == pytest.approx((0.0, 0.0, -1.0))


# --------------------------------------------------------------------------- joints


@pytest.mark.parametrize(
    ("limits", "type_name"),
    [
        ([{"linearAxes": [0, 1, 2], "angularAxes": [0, 1, 2], "min": 0, "max": 0}], "PhysicsFixedJoint"),
        ([*LOCKED, {"angularAxes": [1, 2], "min": 0, "max": 0}], "PhysicsRevoluteJoint"),
        ([{"linearAxes": [1, 2], "angularAxes": [0, 1, 2], "min": 0, "max": 0}], "PhysicsPrismaticJoint"),
        (LOCKED, "PhysicsSphericalJoint"),
        ([*LOCKED, {"angularAxes": [0, 1], "min": 0, "max": 0.5}], "PhysicsSphericalJoint"),
        ([{"linearAxes": [0, 1, 2], "min": 1, "max": 2}], "PhysicsDistanceJoint"),
        ([{"linearAxes": [0], "min": 0, "max": 0}, {"angularAxes": [1], "min": -1, "max": 1}], "PhysicsJoint"),
        ([], "PhysicsJoint"),
    ],
)
def test_type_of_a_joint_follows_from_its_limits(tmp_path, limits, type_name):
    assert joint_of(tmp_path, limits)[0].type_name == type_name


def test_cone_keeps_its_axis_and_angle(tmp_path):
    _, joint = joint_of(tmp_path, [*LOCKED, {"angularAxes": [0, 1], "min": 0, "max": 0.5}])
    assert (joint.axis, joint.cone_angle0_limit, joint.cone_angle1_limit) == ("Y", 0.5, 0.5)


@pytest.mark.parametrize(("free", "axis"), [(0, "X"), (1, "Z"), (2, "Y")])
def test_the_angles_of_an_elliptic_cone_are_those_about_the_next_axis_and_the_third(tmp_path, free, axis):
    """As PhysX reads them. Y of glTF is Z of the model, and Z is -Y."""
    about = {one: 0.1 + 0.2 * one for one in {0, 1, 2} - {free}}
    limits = [{"angularAxes": [one], "min": -angle, "max": angle} for one, angle in about.items()]
    prim, joint = joint_of(tmp_path, [*LOCKED, *limits])
    of_model = {{0: "X", 1: "Z", 2: "Y"}[one]: angle for one, angle in about.items()}
    first, second = {"X": ("Y", "Z"), "Y": ("Z", "X"), "Z": ("X", "Y")}[axis]
    assert joint.axis == axis
    assert (joint.cone_angle0_limit, joint.cone_angle1_limit) == (of_model[first], of_model[second])
    assert sorted(joints.limits_of(prim, joint)[1:], key=lambda limit: limit["angularAxes"]) == limits


@pytest.mark.parametrize("families", [[names.KHR], [names.OMI], [names.OMI, names.KHR]], ids=str)
@pytest.mark.parametrize("holder", ["first", "second"])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_joint_to_a_static_collider_keeps_it_as_its_end(tmp_path, holder, depth, families):
    """At or below the collider: else an arm hits the post that it hangs on. A trigger ties nothing."""
    shape = {"collider": {"geometry": {"shape": 0}}}
    chain = [{"name": f"N{number}"} for number in range(depth)]
    nodes = [
        {"name": "Root", "children": [1, 3, 4]},
        {"name": "Arm", "children": [2], "extensions": {BODY: {"motion": {}, **shape}}},
        {"name": "Pin", "translation": [0, 0.5, 0]},
        {"name": "Gate", "extensions": {BODY: {"trigger": {"geometry": {"shape": 0}}}}},
        {"name": "Post", "translation": [0, 1, 0], "extensions": {BODY: dict(shape)}},
        *chain,
    ]
    for number in range(depth):
        nodes[4 + number]["children"] = [5 + number]
    last = 4 + depth
    tied, other = (last, 2) if holder == "first" else (2, last)
    nodes[tied].setdefault("extensions", {}).setdefault(BODY, {})["joint"] = {"joint": 0, "connectedNode": other}
    reading = khr(tmp_path, nodes, [{"type": "box"}], physicsJoints=[{"limits": LOCKED}])
    (prim,) = reading.model.joints.values()
    joint = prim.get(usd_physics.Joint)
    ends = (("/Root/Post",), ("/Root/Arm",))
    assert (joint.body0, joint.body1) == (ends if holder == "first" else ends[::-1])
    path, _ = rewritten(tmp_path, reading.document, families)
    (again,) = read.read(Document.load(path)).model.joints.values()
    found = again.get(usd_physics.Joint)
    assert {found.body0, found.body1} == set(ends)


@pytest.mark.parametrize(
    ("free", "soft", "dof", "kind"),
    [
        ([], {"angularAxes": [0]}, "angular", "PhysicsRevoluteJoint"),
        ([2], {"angularAxes": [0]}, "rotX", "PhysicsJoint"),
        ([], {"linearAxes": [0]}, "transX", "PhysicsPrismaticJoint"),
    ],
)
def test_soft_limit_is_the_spring_that_the_file_says(tmp_path, free, soft, dof, kind):
    """N m/rad, or N/m, as the preview and PhysX have it, and in glTF again."""
    kept = "linearAxes" if "angularAxes" in soft else "angularAxes"
    other = [axis for axis in (0, 1, 2) if axis not in (0, *free)]
    limits = [{kept: [0, 1, 2], "min": 0, "max": 0}, {next(iter(soft)): other, "min": 0, "max": 0},
              {**soft, "min": -1, "max": 1, "stiffness": 40, "damping": 2}]  # fmt: skip
    prim, _ = joint_of(tmp_path, limits)
    dof = "linear" if kind == "PhysicsPrismaticJoint" else dof
    assert prim.type_name == kind
    settings = axis_settings(prim, dof)
    assert (settings.stiffness, settings.damping) == pytest.approx((40, 2))
    factor = 1.0 if dof == "linear" else math.degrees(1.0)
    assert vendor.value(prim, vendor.LIMIT, "stiffness", dof) == pytest.approx(40 * factor)
    model = read.read(Document.load(tmp_path / "scene.gltf")).model
    assert [issue.code for issue in validate(model, "physx") if issue.code == "LimitStiffnessPerRadian"] == []
    path, _ = rewritten(tmp_path, read.read(Document.load(tmp_path / "scene.gltf")).document)
    (again,) = Document.load(path).extensions[BODY]["physicsJoints"]
    assert [one["stiffness"] for one in again["limits"] if "stiffness" in one] == pytest.approx([40])


@pytest.mark.parametrize("place", [0.0, 0.3])
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("kind", ["linear", "angular"])
@pytest.mark.parametrize("hard", [True, False])
def test_soft_lock_is_a_spring_to_its_place(tmp_path, kind, axis, place, hard):
    """With a hard range on the same axis, which stays; and as it was in glTF again."""
    key = f"{kind}Axes"
    limits = [{key: [axis], "min": place, "max": place, "stiffness": 40, "damping": 2}]
    if hard:
        limits.append({key: [axis], "min": -1, "max": 2})
    prim, _joint = joint_of(tmp_path, limits)
    reading = read.read(Document.load(tmp_path / "scene.gltf"))
    assert not [issue for issue in reading.issues if issue.code == "GltfJointKept"]
    ((dof, drive),) = prim.instances(usd_physics.DriveAPI)
    sign = -1 if axis == 2 else 1
    assert dof == {"linear": "trans", "angular": "rot"}[kind] + "XZY"[axis]
    assert (drive.target_position, drive.stiffness, drive.damping) == (sign * place, 40, 2)
    assert prim.type_name == "PhysicsJoint" and vendor.LIMIT not in "".join(prim.schemas)
    bounds = [(limit.low, limit.high) for _, limit in prim.instances(usd_physics.LimitAPI)]
    assert bounds == ([(-2, 1) if sign < 0 else (-1, 2)] if hard else [])
    path, _ = rewritten(tmp_path, reading.document)
    (settings,) = Document.load(path).extensions[BODY]["physicsJoints"]
    assert settings["limits"] == limits and not settings.get("drives")


def test_soft_lock_beside_a_drive_and_on_a_locked_axis(tmp_path):
    """A second spring would replace the drive, so that it stays a limit; on a locked axis it does nothing."""
    soft = {"linearAxes": [0, 1], "min": 0, "max": 0, "stiffness": 40}
    drive = {"type": "linear", "mode": "force", "axis": 0, "velocityTarget": 1, "damping": 3}
    prim, _ = joint_of(tmp_path, [{"linearAxes": [1], "min": 0, "max": 0}, soft], [drive])
    ((_, found),) = prim.instances(usd_physics.DriveAPI)
    assert (found.target_velocity, found.damping) == (1, 3)
    assert vendor.value(prim, vendor.LIMIT, "stiffness", "transX") == 40
    assert prim.schemas.keys() & {f"{vendor.LIMIT}:{dof}" for dof in ("transY", "transZ")} == set()


@pytest.mark.parametrize("limits", list(itertools.permutations([
    {"angularAxes": [0], "min": -1, "max": 1}, {"angularAxes": [0], "min": -0.2, "max": 0.1, "stiffness": 5},
])), ids=str)  # fmt: skip
def test_hard_limit_stays_hard_beside_a_soft_one_which_is_named(tmp_path, limits):
    prim, joint = joint_of(tmp_path, [*LOCKED, {"angularAxes": [1, 2], "min": 0, "max": 0}, *limits])
    assert (joint.lower_limit, joint.upper_limit) == (-1, 1)
    assert f"{vendor.LIMIT}:angular" not in prim.schemas and "settings" in prim.extras
    issues = read.read(Document.load(tmp_path / "scene.gltf")).issues
    assert [issue.code for issue in issues if issue.code != "GltfInertiaUnwritten"] == ["GltfJointKept"]


@pytest.mark.parametrize("kind", ["linear", "angular"])
@pytest.mark.parametrize("free", range(3))
def test_disc_limit_is_two_limits_and_named(tmp_path, free, kind):
    named = sorted({0, 1, 2} - {free})
    hinge = {"linearAxes": [0], "min": -9, "max": 9}
    prim, _ = joint_of(tmp_path, [hinge, {f"{kind}Axes": named, "min": 0, "max": 0.5}])
    dofs = {{"linear": "trans", "angular": "rot"}[kind] + "XZY"[axis] for axis in named}
    found = {dof: (limit.low, limit.high) for dof, limit in prim.instances(usd_physics.LimitAPI)}
    assert {dof: found[dof] for dof in dofs - {"transX"}} == dict.fromkeys(dofs - {"transX"}, (-0.5, 0.5))
    assert "settings" in prim.extras


def test_joint_with_a_drive_has_a_type_whose_drives_act(tmp_path):
    """UsdPhysics has no drives on spherical and distance joints."""
    drive = {"type": "angular", "mode": "force", "axis": 0, "velocityTarget": 1, "damping": 3}
    assert joint_of(tmp_path, LOCKED, [drive])[0].type_name == "PhysicsJoint"
    assert joint_of(tmp_path, [{"linearAxes": [0, 1, 2], "max": 2}], [drive])[0].type_name == "PhysicsJoint"


@pytest.mark.parametrize("family", ["khr", "omi"])
def test_mass_that_is_none_is_named_and_left_to_the_simulator(tmp_path, family):
    if family == "khr":
        body = {"motion": {"mass": -1}, "collider": {"geometry": {"shape": 0}}}
        reading = khr(tmp_path, [{"name": "A", "extensions": {BODY: body}}], [{"type": "sphere"}])
    else:
        motion = {"type": "dynamic", "mass": 0}
        reading = omi(tmp_path, [{"name": "A", "extensions": {names.OMI_BODY: {"motion": motion}}}])
    prim = reading.model.prims["/A"]
    assert "motion" not in prim.extras
    assert getattr(prim.get(usd_physics.MassAPI), "mass", None) is None
    assert [issue.code for issue in reading.issues] == ["GltfMassIgnored"]


def test_unknown_kind_of_body_is_dynamic_and_named(tmp_path):
    motion = {"type": "floating", "mass": 2}
    reading = omi(tmp_path, [{"name": "A", "extensions": {names.OMI_BODY: {"motion": motion}}}])
    body = reading.model.prims["/A"].get(usd_physics.RigidBodyAPI)
    assert body.resolved("rigid_body_enabled") and not body.resolved("kinematic_enabled")
    (issue,) = reading.issues
    assert "'floating'" in issue.message and issue.severity == "warning"


@pytest.mark.parametrize(("sizes", "words"), [({}, "1000 x 1000"), ({"sizeX": 4, "sizeZ": 6}, "4 x 6")])
def test_plane_in_the_other_family_is_named_with_its_size(tmp_path, sizes, words):
    node = {"name": "Floor", "extensions": {BODY: {"collider": {"geometry": {"shape": 0}}}}}
    source = khr(tmp_path, [node], [{"type": "plane", "plane": sizes}]).document
    _, written = rewritten(tmp_path, source, [names.OMI])
    (issue,) = [issue for issue in written.issues if issue.code == "GltfPlaneAsMesh"]
    assert words in issue.message


def test_type_of_a_joint_whose_limits_are_kept_is_not_said_to_be_lost(tmp_path):
    reading = jointed(tmp_path, {"limits": [*LOCKED, {"angularAxes": [1, 2], "min": 0.2, "max": 0.7}]})
    path, written = rewritten(tmp_path, reading.document)
    assert Document.load(path).pool(BODY, "physicsJoints") == reading.document.pool(BODY, "physicsJoints")
    assert not [issue for issue in written.issues if "the type " in issue.message]


def test_joint_that_usd_cannot_say_is_kept_and_named(tmp_path):
    soft = [{"linearAxes": [0, 1, 2], "min": 0, "max": 0, "stiffness": 5}]
    prim, _ = joint_of(tmp_path, soft)
    assert prim.extras["settings"]["limits"] == soft


def test_limits_of_one_axis_intersect(tmp_path):
    free = [{"linearAxes": [0], "min": -3, "max": 2}, {"linearAxes": [0], "min": -1}]
    prim, _ = joint_of(tmp_path, free)
    ((dof, limit),) = prim.instances(usd_physics.LimitAPI)
    assert (dof, limit.low, limit.high) == ("transX", -1, 2)


# --------------------------------------------------------------------------- shapes and defaults


def shape_of(reading: read.GltfReading):
    (prim,) = reading.model.colliders.values()
    return prim, prim.get(usd_geom.Gprim)


def test_capsule_with_one_radius_has_its_full_height(tmp_path):
    """The form before September 2024: radius and full height."""
    node = {"name": "N", "extensions": {names.OMI_BODY: {"collider": {"shape": 0}}}}
    _, capsule = shape_of(omi(tmp_path, [node], [{"type": "capsule", "capsule": {"radius": 0.25, "height": 2}}]))
    assert (capsule.height, capsule.radius) == (1.5, 0.25)


def test_shape_on_a_node_is_a_collider_or_a_trigger_as_the_body_above_says(tmp_path):
    """The form of OMI_physics_shape between 2023 and 2024: a body has a type, and its children have shapes."""
    capsule = {"type": "capsule", "capsule": {"radius": 0.5, "height": 3}}
    body, shape = names.OMI_BODY, {"extensions": {names.OMI_SHAPE: {"shape": 0}}}
    reading = omi(
        tmp_path,
        [{"name": "Root", "children": [1, 3]},
         {"name": "Solid", "children": [2], "extensions": {body: {"type": "rigid"}}}, {"name": "A", **shape},
         {"name": "Zone", "children": [4], "extensions": {body: {"type": "trigger"}}}, {"name": "B", **shape}],
        [capsule],
    )  # fmt: skip
    found = {path: vendor.TRIGGER in prim.schemas for path, prim in reading.model.colliders.items()}
    assert found == {"/Root/Solid/A/Capsule_collider": False, "/Root/Zone/B/Capsule_collider": True}
    sizes = [prim.get(usd_geom.Capsule) for prim in reading.model.colliders.values()]
    assert [(one.height, one.radius) for one in sizes] == [(2, 0.5)] * 2


@pytest.mark.parametrize(("family", "radius", "height"), [("khr", 0.25, 0.5), ("omi", 0.5, 1.0)])
def test_default_capsule_of_each_family(tmp_path, family, radius, height):
    if family == "khr":
        node = {"name": "N", "extensions": {BODY: {"collider": {"geometry": {"shape": 0}}}}}
        reading = khr(tmp_path, [node], [{"type": "capsule"}])
    else:
        node = {"name": "N", "extensions": {names.OMI_BODY: {"collider": {"shape": 0}}}}
        reading = omi(tmp_path, [node], [{"type": "capsule"}])
    _, capsule = shape_of(reading)
    assert (capsule.radius, capsule.height, capsule.axis) == (radius, height, "Z")


def test_edges_of_a_box_change_places(tmp_path):
    node = {"name": "N", "extensions": {BODY: {"collider": {"geometry": {"shape": 0}}}}}
    prim, _ = shape_of(khr(tmp_path, [node], [{"type": "box", "box": {"size": [1, 2, 3]}}]))
    assert frames.scale_of(prim.world).tolist() == [1, 3, 2]


def test_mass_of_omi_is_one_and_that_of_khr_is_left_to_the_engine(tmp_path):
    one = omi(tmp_path, [{"name": "B", "extensions": {names.OMI_BODY: {"motion": {"type": "dynamic"}}}}])
    body = {"motion": {}, "collider": {"geometry": {"shape": 0}}}
    other = khr(tmp_path, [{"name": "B", "extensions": {BODY: body}}], [{"type": "sphere"}])
    assert one.model.prims["/B"].get(usd_physics.MassAPI).mass == 1
    assert other.model.prims["/B"].get(usd_physics.MassAPI) is None


def test_material_without_friction_has_that_of_gltf_and_not_that_of_usd(tmp_path):
    node = {"name": "N", "extensions": {BODY: {"collider": {"geometry": {"shape": 0}, "physicsMaterial": 0}}}}
    reading = khr(tmp_path, [node], [{"type": "sphere"}], physicsMaterials=[{"frictionCombine": "minimum"}])
    (prim,) = reading.model.materials.values()
    material = prim.get(usd_physics.MaterialAPI)
    assert (material.static_friction, material.dynamic_friction, material.restitution) == (0.6, 0.6, 0)
    assert vendor.value(prim, vendor.MATERIAL, "frictionCombineMode") == "min"


MODES = (None, *names.COMBINE)


@pytest.mark.parametrize("restitution", MODES)
@pytest.mark.parametrize("friction", MODES)
@pytest.mark.parametrize("family", names.FAMILIES, ids=lambda one: one.name)
def test_combine_mode_that_nobody_wrote_is_that_of_the_authors_loader(tmp_path, family, friction, restitution):
    """It is authored, said, and written again as it was; OMI has the average, as UsdPhysics has."""
    written = {
        f"{kind}Combine": mode for kind, mode in (("friction", friction), ("restitution", restitution)) if mode
    }  # fmt: skip
    content = combined(family, written)
    reading = read.read(document(tmp_path, content))
    (prim,) = reading.model.materials.values()
    defaults = {"friction": "max", "restitution": "min"} if family.is_khr else {}
    for kind, mode in (("friction", friction), ("restitution", restitution)):
        expected = names.COMBINE[mode] if mode else defaults.get(kind)
        assert vendor.value(prim, vendor.MATERIAL, f"{kind}CombineMode") == expected
        said = [one.message for one in reading.issues if one.code == "GltfCombineUnwritten" and kind in one.message]
        assert len(said) == (mode is None and family.is_khr)
    path, _ = rewritten(tmp_path, reading.document)
    (material,) = json.loads(path.read_text())["extensions"][family.body]["physicsMaterials"]
    assert {key: value for key, value in material.items() if key.endswith("Combine")} == written


@pytest.mark.parametrize("written", [{}, {"mass": 3.0}, {"inertiaDiagonal": [2.0, 2.0, 2.0]}], ids=str)
@pytest.mark.parametrize("family", names.FAMILIES, ids=lambda one: one.name)
def test_body_without_shapes_is_as_hard_to_turn_as_in_the_authors_loader(tmp_path, family, written):
    """1 kg and 1 kg m2 where the file says nothing; said, and written again as it was."""
    motion = written | ({} if family.is_khr else {"type": "dynamic"}) | {"linearVelocity": [1.0, 0.0, 0.0]}
    content = {"scene": 0, "scenes": [{"nodes": [0]}], "extensionsUsed": [family.body],
               "nodes": [{"name": "N", "extensions": {family.body: {"motion": motion}}}]}  # fmt: skip
    reading = read.read(document(tmp_path, content))
    (prim,) = reading.model.bodies.values()
    mass = prim.get(usd_physics.MassAPI)
    said = [one.code for one in reading.issues if one.code == "GltfInertiaUnwritten"]
    assert len(said) == (family.is_khr and "inertiaDiagonal" not in written)
    if family.is_khr:
        assert mass.diagonal_inertia == tuple(written.get("inertiaDiagonal", (1.0, 1.0, 1.0)))
        assert mass.mass == (written.get("mass", 1.0) if said else None)
        path, _ = rewritten(tmp_path, reading.document)
        (node,) = json.loads(path.read_text())["nodes"]
        assert node["extensions"][family.body]["motion"] == motion


def test_material_of_usd_says_in_gltf_that_the_average_counts(tmp_path):
    reading = read.read(document(tmp_path, combined(names.KHR, {})))
    (prim,) = reading.model.materials.values()
    del prim.schemas[vendor.MATERIAL]
    prim.extras.clear()
    target = document(tmp_path, {"scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"name": "N"}]}, "target.gltf")
    write.write(target, reading.model, {"/N": 0}, additions.WriteOptions([names.KHR]))
    (material,) = target.json["extensions"][BODY]["physicsMaterials"]
    assert (material["frictionCombine"], material["restitutionCombine"]) == ("average", "average")


def combined(family, material: dict) -> dict:
    """A document of a family with one collider, which has this material."""
    collider = {"geometry": {"shape": 0}} if family.is_khr else {"shape": 0}
    return {
        "extensionsUsed": [family.body, family.shape], "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "N", "extensions": {family.body: {"collider": {**collider, "physicsMaterial": 0}}}}],
        "extensions": {
            family.shape: {"shapes": [{"type": "sphere", "sphere": {}}]},
            family.body: {"physicsMaterials": [{"name": "Ice", **material}]},
        },
    }  # fmt: skip


def test_mesh_that_only_a_shape_names_is_read(tmp_path):
    reading = khr(tmp_path, [{"name": "N", "extensions": {BODY: {"collider": {"geometry": {
        "mesh": 0, "convexHull": True}}}}}])  # fmt: skip
    assert not reading.model.colliders  # the document has no such mesh
    content = copy.deepcopy(reading.document.json)
    content.update(with_mesh())
    prim = next(iter(read.read(document(tmp_path, content)).model.colliders.values()))
    mesh = prim.mesh()
    assert mesh.points.max(axis=0).tolist() == [1, 0, 1]
    assert len(mesh.triangles) == 4
    assert prim.get(usd_physics.MeshCollisionAPI).approximation == "convexHull"


def with_mesh() -> dict:
    uri = "data:application/octet-stream;base64," + base64.b64encode(TRIANGLES).decode()
    return {
        "buffers": [{"byteLength": len(TRIANGLES), "uri": uri}],
        "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
    }


def test_each_fact_that_gltf_cannot_say_is_named_with_its_prims(tmp_path):
    """And no fact that it can say: mass, gravity switched off, a revolute joint, a soft limit."""
    model = PhysicsModel()
    for name in ("A", "B", "C"):
        prim = model.add(Prim(f"/{name}"))
        prim.add(usd_physics.RigidBodyAPI())
        prim.add(usd_physics.MassAPI(mass=2.0))
        vendor.apply(prim, vendor.BODY, disableGravity=True)
    model.prims["/A"].schemas["PhysicsMassAPI"] = usd_physics.MassAPI(density=5.0)
    model.prims["/B"].add(usd_physics.RigidBodyAPI(starts_asleep=True))
    vendor.apply(model.prims["/C"], vendor.BODY, disableGravity=True, enableCCD=True)
    joint = model.add(Prim("/Joint", "PhysicsRevoluteJoint", is_xformable=False))
    joint.add(usd_physics.RevoluteJoint(axis="Z", lower_limit=0.0, upper_limit=1.0, body0=("/A",), body1=("/B",)))
    vendor.apply(joint, vendor.LIMIT, "angular", stiffness=3.0, damping=1.0)
    tied = model.add(Prim("/Tied", "PhysicsJoint", is_xformable=False))
    tied.add(usd_physics.Joint(body0=("/C",), break_force=3.0))
    tied.add(usd_physics.LimitAPI(1.0, 0.0), "transX")
    model.add(Prim("/Group", "PhysicsCollisionGroup", is_xformable=False)).add(usd_physics.CollisionGroup())
    model.add(Prim("/Tree")).add(usd_physics.ArticulationRootAPI())
    model.add(Prim("/Gravity", "PhysicsScene", is_xformable=False)).add(usd_physics.PhysicsScene())
    nodes = [{"name": name} for name in ("A", "B", "C")]
    plain = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1, 2]}], "nodes": nodes}
    said = []
    for keeps in (False, True):
        target = document(tmp_path, copy.deepcopy(plain), "facts.gltf")
        options = additions.WriteOptions(keeps_usd=keeps)
        written = write.write(target, model, {"/A": 0, "/B": 1, "/C": 2}, options)
        said.append([issue.message for issue in written.issues if issue.code == "GltfNotSaid"])
    left_out = {
        tuple(text.removeprefix("glTF has no field for ").removesuffix(".").split(", so it is left out: "))
        for text in said[0]
    }
    assert left_out == {
        ("a density", "/A"), ("the densities that its mass follows from (the mass is written)", "/A"),
        ("a body that starts asleep", "/B"), ("PhysxRigidBodyAPI", "/C"), ("a break force", "/Tied"),
        ("a collision group as such (what passes through what is written)", "/Group"), ("an articulation", "/Tree"),
        ("the name of a physics scene", "/Gravity"),
    }  # fmt: skip
    assert said[1] == [text.replace("left out", "only in the extras of the file") for text in said[0]]


def test_filters_become_groups_that_pass_through_each_other(tmp_path):
    nodes = [{"name": "Root", "children": [1, 2, 3]}]
    nodes += [
        {"name": f"N{number}", "extensions": {BODY: {"collider": {"geometry": {"shape": 0}, **chosen}}}}
        for number, chosen in enumerate(({"collisionFilter": 0}, {"collisionFilter": 1}, {}))
    ]
    filters = [{"collisionSystems": ["a"]}, {"collisionSystems": ["b"], "notCollideWithSystems": ["a", "b"]}]
    reading = khr(tmp_path, nodes, [{"type": "sphere"}], collisionFilters=filters)
    one, other = reading.model.groups.values()
    assert one.get(usd_physics.CollisionGroup).filtered_groups == (other.path,)
    assert other.get(usd_physics.CollisionGroup).filtered_groups == (one.path, other.path)


def test_colliders_collide_as_the_bits_of_their_systems_do():
    """As Havok has it in the authors' loader: bits of the one and the mask of the other have one in common, both."""
    systems = ("a", "b", "c")
    sets = [[name for bit, name in enumerate(systems) if number >> bit & 1] for number in range(8)]
    every = [
        {key: value for key, value in (("collisionSystems", own), (key, named)) if value}
        for own in sets for key in ("collideWithSystems", "notCollideWithSystems") for named in sets
    ]  # fmt: skip

    def bits(named):
        return sum(1 << systems.index(name) for name in named)

    def member(one):
        return bits(one["collisionSystems"]) if "collisionSystems" in one else 0xFF

    def mask(one):
        if "collideWithSystems" in one:
            return bits(one["collideWithSystems"])
        return 0xFF & ~bits(one.get("notCollideWithSystems", ()))

    for one, other in itertools.product(every, repeat=2):
        expected = bool(member(one) & mask(other)) and bool(member(other) & mask(one))
        assert filters.collide(one, other) == expected, (one, other)


# --------------------------------------------------------------------------- round trips


def rich() -> dict:
    """A scene with everything at odd places, turned and scaled."""
    return {
        **with_mesh(),
        "extensionsUsed": [BODY, SHAPE, names.GRAVITY], "scene": 0, "scenes": [{"nodes": [0, 5]}],
        "nodes": [
            {"name": "World", "children": [1, 3], "translation": [3, -1, 2], "rotation": [0.5, 0.5, 0.5, 0.5]},
            {"name": "Arm", "children": [2, 7], "scale": [2, 2, 2], "translation": [0, 4, 1],
             "extensions": {BODY: {"motion": {
                 "mass": 2, "centerOfMass": [0.1, 0.2, 0.3], "inertiaDiagonal": [1, 2, 2.5],
                 "inertiaOrientation": [0, HALF, 0, HALF], "linearVelocity": [1, 2, 3], "angularVelocity": [4, 5, 6],
                 "gravityFactor": 0.25}}}},
            {"name": "Hull", "translation": [1, 0, 0],
             "extensions": {BODY: {"collider": {"geometry": {"mesh": 0, "convexHull": True}, "physicsMaterial": 0}}}},
            {"name": "Base", "children": [4], "rotation": [HALF, 0, 0, HALF],
             "extensions": {BODY: {"motion": {"isKinematic": True},
                                   "collider": {"geometry": {"shape": 0}, "collisionFilter": 0}}}},
            {"name": "Hinge", "translation": [0, 1, 0], "rotation": [0, 0, HALF, HALF],
             "extensions": {BODY: {"joint": {"joint": 0, "connectedNode": 7, "enableCollision": True}}}},
            {"name": "Floor", "children": [6], "extensions": {BODY: {"collider": {
                "geometry": {"shape": 1}, "collisionFilter": 1}}}},
            {"name": "Zone", "scale": [1, 3, 1], "extensions": {BODY: {"trigger": {"geometry": {"shape": 2}}}}},
            {"name": "HingeEnd", "rotation": [0.5, -0.5, 0.5, 0.5], "translation": [0, 2, 0]},
        ],
        "extensions": {
            SHAPE: {"shapes": [
                {"type": "capsule", "capsule": {"height": 2, "radiusBottom": 0.5, "radiusTop": 0.25}},
                {"type": "box", "box": {"size": [10, 0.5, 7]}}, {"type": "cylinder"}]},
            names.GRAVITY: {"gravity": 1.62, "direction": [0, 0, 1]},
            BODY: {
                "physicsMaterials": [
                    {"staticFriction": 1, "frictionCombine": "average", "restitutionCombine": "maximum"}],
                "collisionFilters": [{"collisionSystems": ["a"], "notCollideWithSystems": ["b"]},
                                     {"collisionSystems": ["b"]}],
                "physicsJoints": [{
                    "limits": [*LOCKED, {"angularAxes": [0, 2], "min": 0, "max": 0},
                               {"angularAxes": [1], "min": -0.5, "max": 1, "stiffness": 100, "damping": 3}],
                    "drives": [{"type": "angular", "mode": "acceleration", "axis": 1, "velocityTarget": 2,
                                "damping": 5, "maxForce": 50}]}],
            },
        },
    }  # fmt: skip


def rewritten(
    tmp_path: Path, source: Document, families=None, name: str = "out.gltf"
) -> tuple[Path, additions.Written]:  # fmt: skip
    """The document with its physics taken out and written again from the model."""
    reading = read.read(source)
    target = Document(copy.deepcopy(source.json), source.path, source.binary)
    for holder in (target.json, *target.nodes):
        for extension in (*names.ALL, *vehicles.KINDS):
            holder.get("extensions", {}).pop(extension, None)
    target.json["extensionsUsed"] = []
    nodes = {path: index for index, path in reading.paths.items()}
    options = additions.WriteOptions(families or [reading.family])
    written = write.write(target, reading.model, nodes, options, nodes)
    target.save(tmp_path / name)
    return tmp_path / name, written


def as_blender_reads(content: dict) -> SimpleNamespace:
    """A document as Blender's importer has it: objects with attributes, all numbers of places as floats."""
    keys = ("children", "extensions", "extras", "matrix", "mesh", "name", "rotation", "scale", "translation")
    floats = {"matrix", "rotation", "scale", "translation"}
    nodes = [
        SimpleNamespace(**{
            key: [float(one) for one in node[key]] if key in floats and key in node else node.get(key) for key in keys
        })
        for node in content["nodes"]
    ]  # fmt: skip
    return SimpleNamespace(
        nodes=nodes, scenes=[SimpleNamespace(nodes=one["nodes"]) for one in content["scenes"]], scene=content["scene"],
        extensions=content["extensions"], extensions_used=content["extensionsUsed"], extras=content.get("extras"),
        meshes=content.get("meshes"), skins=None,
    )  # fmt: skip


def said(reading: read.GltfReading) -> dict:
    return {
        path: (prim.type_name, prim.schemas, np.round(prim.world, 6).tolist(), prim.extras, prim.physics_binding,
               prim.mesh().points.tolist() if prim.mesh else None)
        for path, prim in reading.model.prims.items()
    }  # fmt: skip


@pytest.mark.parametrize("copies", [False, True])
def test_what_blender_has_read_of_a_file_gives_the_same_physics_as_the_file(tmp_path, copies):
    content = rich()
    crate = {"extensions": {BODY: {"motion": {"mass": 3}, "collider": {"geometry": {"shape": 1}}}}}
    for number in range(3):
        content["scenes"][0]["nodes"].append(len(content["nodes"]))
        content["nodes"].append({"name": f"Crate {number}", "translation": [number, 0, 0], **copy.deepcopy(crate)})
    source = document(tmp_path, content)
    expected = read.read(source, finds_copies=copies)
    found = read.read(known.document_of(as_blender_reads(source.json), source.path, {}.get), finds_copies=copies)
    assert said(found) == said(expected)
    assert found.copies == expected.copies and bool(found.copies) == copies


def test_file_without_collider_meshes_is_not_read_again(tmp_path):
    """Reading it a second time would take a third of the time of its physics."""
    body = {"motion": {"mass": 7}, "collider": {"geometry": {"shape": 0}}}
    content = {
        "nodes": [{"name": "A", "extensions": {BODY: body}}], "scenes": [{"nodes": [0]}], "scene": 0,
        "extensions": {SHAPE: {"shapes": [{"type": "box"}]}}, "extensionsUsed": [BODY, SHAPE],
    }  # fmt: skip
    reading = read.read(known.document_of(as_blender_reads(content), tmp_path / "nothing.glb", {}.get))
    assert reading.model.prims["/A"].get(usd_physics.MassAPI).mass == 7


@pytest.mark.parametrize(
    ("change", "words"),
    [({"translation": [0, 0]}, "translation"), ({"mesh": 5}, "mesh"), ({"children": [9]}, "child")],
)  # fmt: skip
def test_node_that_blender_lets_through_is_refused(tmp_path, change, words):
    body = {"motion": {}, "collider": {"geometry": {"shape": 0}}}
    content = {
        "nodes": [{"name": "A", "extensions": {BODY: body}, **change}], "scenes": [{"nodes": [0]}], "scene": 0,
        "extensions": {SHAPE: {"shapes": [{"type": "box"}]}}, "extensionsUsed": [BODY, SHAPE],
    }  # fmt: skip
    with pytest.raises(InputError, match=words):
        read.read(known.document_of(as_blender_reads(content), tmp_path / "nothing.glb", {}.get))


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e39, 10**400, True, "1", None])
def test_only_finite_numbers_are_numbers(value):
    assert are_numbers([0, -1.5, 3e38])
    for place in range(3):
        values = [1.0, 2, -3.5]
        values[place] = value
        assert not are_numbers(values)


def judged(one: Path, other: Path) -> str:
    command = [sys.executable, assets.gltf_judge(), "compare", one, other]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("families", [(names.KHR,), (names.OMI,), names.FAMILIES], ids=["KHR", "OMI", "both"])
def test_rich_scene_comes_back_in_each_family(tmp_path, shared, families):
    source = document(tmp_path, rich(), "rich.gltf")
    out, _ = rewritten(tmp_path, source, families)
    assert "score 1.0000" in (text := judged(source.path, out)), text


@pytest.mark.parametrize(
    ("kind", "sizes", "expected"),
    [
        ("capsule", (1.5, 0.25, 0.25), {"radius": 0.25, "height": 2.0}),
        ("cylinder", (1.5, 0.25, 0.25), {"radius": 0.25, "height": 1.5}),
        ("capsule", (1.0, 0.25, 0.5), {"radius": 0.5, "height": 2.0}),
    ],
)
def test_godot_finds_the_radius_and_the_full_height_of_a_capsule(tmp_path, kind, sizes, expected):
    sizes = dict(zip(("height", "radiusBottom", "radiusTop"), sizes, strict=True))
    node = {"name": "N", "extensions": {BODY: {"collider": {"geometry": {"shape": 0}}}}}
    reading = khr(tmp_path, [node], [{"type": kind, kind: sizes}])
    options = additions.WriteOptions(is_for_godot=True)
    target = document(tmp_path, {"scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"name": "N"}]}, "godot.gltf")
    written = write.write(target, reading.model, {"/N": 0}, options)
    (shape,), (published,) = target.pool(names.OMI_SHAPE, "shapes"), target.pool(names.KHR_SHAPE, "shapes")
    assert shape[kind] == expected
    assert published[kind] == sizes
    is_tapered = sizes["radiusTop"] != sizes["radiusBottom"]
    assert [issue.code for issue in written.issues] == ["GltfGodotTaper"] * is_tapered


def test_what_the_simulator_decides_is_named_where_omi_wants_a_number(tmp_path):
    """A truncated cone of radii 1 and 2: volume 7 pi h / 3, centroid 17 / 28 h above its large end."""
    sizes = {"height": 2.8, "radiusBottom": 1.0, "radiusTop": 2.0}
    motions = [{}, {"mass": 3}, {"mass": 1, "inertiaDiagonal": [0, 0, 0]}]
    nodes = [{"name": "Root", "children": [1, 2, 3]}] + [
        {"name": f"Body {number}", "extensions": {BODY: {"motion": motion, "collider": {"geometry": {"shape": 0}}}}}
        for number, motion in enumerate(motions)
    ]  # fmt: skip
    source = khr(tmp_path, nodes, [{"type": "cylinder", "cylinder": sizes}]).document
    out, written = rewritten(tmp_path, source, [names.OMI])
    found = [node["extensions"][names.OMI_BODY]["motion"] for node in Document.load(out).nodes[1:]]
    assert [motion["mass"] for motion in found] == [pytest.approx(7000 * math.pi * 2.8 / 3), 3, 1]
    # Up is y, and the origin at half height; the large end is on top.
    assert found[0]["centerOfMass"] == pytest.approx([0, 1.4 - 11 / 28 * 2.8, 0], abs=1e-6)
    assert all("inertiaDiagonal" not in motion for motion in found)
    said = [issue.message for issue in written.issues if issue.code == "GltfNotSaid"]
    assert len(said) == 3, said
    assert any("infinite inertia" in text and "Body 2" in text for text in said), said
    assert any("no automatic mass" in text and "Body 0" in text and "Body 1" not in text for text in said), said
    assert any("no automatic centre of mass" in text and "Body 1" in text for text in said), said
    assert not rewritten(tmp_path, source, names.FAMILIES)[1].issues[1:]


def packed(tmp_path: Path, **fallback) -> Document:
    """As gltfpack -c writes it: the view is in a buffer without bytes, and its extension says where they are."""
    content = {
        "scene": 0, "scenes": [{"nodes": [0]}], "extensionsUsed": [BODY],
        "nodes": [{"mesh": 0, "extensions": {BODY: {"collider": {"geometry": {"mesh": 0}}}}}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "buffers": [{"byteLength": 9, "uri": "data:application/octet-stream;base64,oAAAAAAAAAAA"},
                    {"byteLength": 36, "extensions": {"EXT_meshopt_compression": {"fallback": True}}, **fallback}],
        "bufferViews": [{"buffer": 1, "byteLength": 36, "extensions": {"EXT_meshopt_compression": {"buffer": 0}}}],
    }  # fmt: skip
    return document(tmp_path, content)


def test_compressed_collider_mesh_is_left_out_with_the_way_out(tmp_path):
    source = packed(tmp_path)
    reading = read.read(source)
    (issue,) = reading.issues
    assert "meshopt compression" in issue.message and "without compression" in issue.fix
    assert not reading.model.colliders


def test_collider_mesh_is_read_from_the_plain_copy_beside_its_compression(tmp_path):
    """As gltfpack -cf writes it."""
    data = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 2, 0)
    (tmp_path / "scene.fallback.bin").write_bytes(data)
    for uri in ("scene.fallback.bin", "data:application/octet-stream;base64," + base64.b64encode(data).decode()):
        (prim,) = read.read(packed(tmp_path, uri=uri)).model.colliders.values()
        assert prim.mesh().points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 2]]


def test_collider_gets_a_readable_mesh_where_that_of_its_node_is_compressed(tmp_path):
    plain = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 2, 0)
    uri = "data:application/octet-stream;base64," + base64.b64encode(plain).decode()
    source, target = packed(tmp_path, uri=uri), packed(tmp_path)
    reading = read.read(source)
    nodes = {path: index for index, path in reading.paths.items()}
    del target.nodes[0]["extensions"]
    target.json["extensionsUsed"] = ["EXT_meshopt_compression"]
    write.write(target, reading.model, nodes, additions.WriteOptions([names.KHR]))
    target.save(tmp_path / "out.gltf")
    saved = Document.load(tmp_path / "out.gltf")
    mesh = saved.node_extension(0, BODY)["collider"]["geometry"]["mesh"]
    assert mesh == 1 and len(saved.mesh(mesh).triangles) == 1


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        ({"gravityFactor": 0.5}, "a gravity factor"), ({"mass": 0}, "an infinite mass"),
        ({"inertiaDiagonal": [0, 0, 0]}, "an infinite inertia"), ({"gravityFactor": 0}, ""), ({"mass": 2}, ""),
    ],
)  # fmt: skip
def test_what_usd_cannot_say_of_a_body_is_named(tmp_path, motion, words):
    reading = khr(tmp_path, [{"name": "N", "extensions": {BODY: {"motion": motion}}}])
    named = [issue.message for issue in reading.issues if issue.code == "GltfMotionKept"]
    assert len(named) == bool(words)
    assert all(words in text and "/N" in text for text in named)


@pytest.mark.parametrize("bits", range(8))
@pytest.mark.parametrize("turn", [[0, 0, 0, 1], [HALF, 0, 0, HALF], [0.5, 0.5, 0.5, 0.5]])
def test_infinite_moments_are_locked_axes_of_the_body(tmp_path, bits, turn):
    """In the frame of the body, whatever the principal axes are called; and back in glTF they are infinite again."""
    moments = [0 if bits >> axis & 1 else 2.0 + axis for axis in range(3)]
    motion = {"mass": 1, "inertiaDiagonal": moments, "inertiaOrientation": turn}
    reading = khr(tmp_path, [{"name": "N", "extensions": {BODY: {"motion": motion}}}])
    prim = reading.model.prims["/N"]
    x, y, z, w = turn
    theirs = frames.matrix_of((w, x, y, z)) @ np.diag(moments) @ frames.matrix_of((w, x, y, z)).T
    up = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    tensor = up @ theirs @ up.T
    locked = sum(1 << axis for axis in range(3) if tensor[axis, axis] < 1e-9)
    assert (vendor.value(prim, vendor.BODY, "lockedRotAxis") or 0) == locked
    mass = prim.get(usd_physics.MassAPI)
    if locked < 7:
        axes = frames.matrix_of(mass.principal_axes)
        own = axes @ np.diag(mass.diagonal_inertia) @ axes.T
        free = [axis for axis in range(3) if not locked >> axis & 1]
        np.testing.assert_allclose(own[np.ix_(free, free)], tensor[np.ix_(free, free)], atol=1e-9)
        assert sorted(mass.diagonal_inertia)[2] <= sum(sorted(mass.diagonal_inertia)[:2])
    path, _ = rewritten(tmp_path, reading.document)
    again = Document.load(path).nodes[0]["extensions"][BODY]["motion"]
    x, y, z, w = again.get("inertiaOrientation", [0, 0, 0, 1])
    back = frames.matrix_of((w, x, y, z))
    np.testing.assert_allclose(back @ np.diag(again["inertiaDiagonal"]) @ back.T, theirs, atol=1e-9)


@pytest.mark.parametrize(("turn", "locked"), [
    # About X, Y and Z of glTF, which are X, Z and -Y here.
    ([0, 0, 0, 1], 1), ([HALF, 0, 0, HALF], 1), ([0, HALF, 0, HALF], 2), ([0, 0, HALF, HALF], 4),
    ([0.2588190451, 0, 0, 0.9659258263], 1), ([0, 0.2588190451, 0, 0.9659258263], 0),
])  # fmt: skip
def test_an_infinite_moment_of_a_turned_body_locks_the_axis_of_the_world_that_it_is_about(tmp_path, turn, locked):
    """PhysX locks axes of the world. A moment about another one is kept for glTF."""
    motion = {"mass": 1, "inertiaDiagonal": [0, 2, 3]}
    reading = khr(tmp_path, [{"name": "N", "rotation": turn, "extensions": {BODY: {"motion": motion}}}])
    assert (vendor.value(reading.model.prims["/N"], vendor.BODY, "lockedRotAxis") or 0) == locked
    path, _ = rewritten(tmp_path, reading.document)
    again = Document.load(path).nodes[0]["extensions"][BODY]["motion"]
    x, y, z, w = again.get("inertiaOrientation", [0, 0, 0, 1])
    back = frames.matrix_of((w, x, y, z))
    np.testing.assert_allclose(back @ np.diag(again["inertiaDiagonal"]) @ back.T, np.diag([0, 2, 3]), atol=1e-6)


def car(extension: str, has_physics: bool) -> tuple[dict, list[dict]]:
    """A document with two nodes that have the extension, and what is said of these."""
    kind = vehicles.KINDS[extension]
    said = [{"radius": 0.35, "physicsMaterial": 0}, {"maxForce": 2000}] if kind.key else [{"back": [0, 0, 1]}, {}]
    nodes = [{"name": "Root", "children": [1, 2]}]
    nodes += [
        {"name": f"N{one}", "extensions": {extension: {kind.key: 1 - one} if kind.key else said[one]}}
        for one in range(2)
    ]
    extensions = {extension: {kind.pool: said[::-1]}} if kind.key else {}
    if has_physics:
        nodes[0]["extensions"] = {names.OMI_BODY: {"motion": {}}}
        extensions[names.OMI_BODY] = {"physicsMaterials": [{"staticFriction": 0.5}]}
    content = {"extensionsUsed": [extension, names.OMI_BODY][: 1 + has_physics], "scene": 0, "scenes": [{"nodes": [0]}]}
    return {**content, "nodes": nodes, "extensions": extensions}, said


@pytest.mark.parametrize("has_physics", [True, False])
@pytest.mark.parametrize("name", vehicles.KINDS)
def test_vehicles_and_seats_are_named_once_with_their_nodes_and_come_back(tmp_path, name, has_physics):
    """Also a file of seats alone. Numbers of settings may be others after a round, what they say may not."""
    content, said = car(name, has_physics)
    reading = read.read(document(tmp_path, content), finds_copies=True)
    (issue,) = [one for one in reading.issues if one.code == "GltfVehicleKept"]
    assert name in issue.message and "'N0'" in issue.message and "'N1'" in issue.message
    path, _ = rewritten(tmp_path, reading.document, [names.OMI])
    again = Document.load(path)
    kind = vehicles.KINDS[name]
    found = [again.node_extension(index, name) for index in (1, 2)]
    if kind.key:
        found = [again.pool(name, kind.pool)[one[kind.key]] for one in found]
    if has_physics and "physicsMaterial" in found[0]:
        pool = again.pool(names.OMI_BODY, "physicsMaterials")
        assert pool[found[0].pop("physicsMaterial")] == {"staticFriction": 0.5}
    assert found == [{key: value for key, value in one.items() if key != "physicsMaterial"} for one in said]
    assert name in again.json["extensionsUsed"]


def test_a_pilot_seat_is_the_node_that_it_was(tmp_path):
    """And a vehicle whose seat is not exported says so."""
    body, seat = "OMI_vehicle_body", "OMI_seat"
    nodes = [
        {"name": "Car", "children": [1, 2], "extensions": {names.OMI_BODY: {"motion": {}}, body: {"pilotSeat": 2}}},
        {"name": "Left", "extensions": {seat: {"back": [0, 0, -1]}}},
        {"name": "Right", "extensions": {seat: {"back": [0, 0, -1]}}},
    ]
    reading = omi(tmp_path, nodes)
    path, written = rewritten(tmp_path, reading.document, [names.OMI])
    assert Document.load(path).node_extension(0, body) == {"pilotSeat": 2}
    assert not written.issues
    alone = Document(copy.deepcopy(reading.document.json), reading.document.path, reading.document.binary)
    written = write.write(alone, reading.model, {"/Car": 0}, additions.WriteOptions([names.OMI]), {"/Car": 0})
    assert any("pilot seat" in one.message for one in written.issues)


@pytest.mark.parametrize("wheel", [{}, {"wheel": 3}, {"wheel": -1}, {"wheel": True}, {"wheel": "0"}])
def test_a_wheel_without_settings_is_left_out_by_name(tmp_path, wheel):
    nodes = [{"name": "Root", "children": [1]}, {"name": "N", "extensions": {"OMI_vehicle_wheel": wheel}}]
    reading = omi(tmp_path, nodes)
    (issue,) = reading.issues
    assert issue.code == "GltfUnread" and "'N'" in issue.message and not reading.model.prims


@pytest.mark.parametrize("kind", [{}, {"isKinematic": True}])
def test_infinite_mass_is_a_locked_position(tmp_path, kind):
    motion = {"mass": 0, "gravityFactor": 0, **kind}
    reading = khr(tmp_path, [{"name": "N", "extensions": {BODY: {"motion": motion}}}])
    prim = reading.model.prims["/N"]
    assert vendor.value(prim, vendor.BODY, "lockedPosAxis") == (None if kind else 7)
    assert vendor.value(prim, vendor.BODY, "disableGravity") is True
    path, _ = rewritten(tmp_path, reading.document)
    assert Document.load(path).nodes[0]["extensions"][BODY]["motion"]["mass"] == 0


def test_body_of_usd_that_can_only_turn_has_an_infinite_mass_and_its_own_inertia(tmp_path):
    """A box of 1 x 2 x 3 m and 12 kg, whose moments the viewer could not compute from its mass any more."""
    model = PhysicsModel()
    prim = model.add(Prim("/N", "Xform", label="N"))
    prim.add(usd_physics.RigidBodyAPI())
    prim.add(usd_physics.MassAPI(mass=12.0))
    vendor.apply(prim, vendor.BODY, lockedPosAxis=7, lockedRotAxis=1)
    box = model.add(Prim("/N/Box", "Cube", np.diag([1.0, 2.0, 3.0, 1.0]), local=np.diag([1.0, 2.0, 3.0, 1.0])))
    box.add(usd_geom.Cube(size=1.0))
    box.add(usd_physics.CollisionAPI())
    target = document(tmp_path, {"scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"name": "N"}]})
    written = write.write(target, model, {"/N": 0}, additions.WriteOptions([names.KHR], keeps_usd=False))
    motion = target.nodes[0]["extensions"][BODY]["motion"]
    assert motion["mass"] == 0
    np.testing.assert_allclose(motion["inertiaDiagonal"], [0, 1 + 4, 1 + 9], rtol=1e-6)
    assert not [issue for issue in written.issues if "Physx" in issue.message]
    vendor.apply(prim, vendor.BODY, lockedPosAxis=3)
    target = document(tmp_path, {"scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"name": "N"}]})
    written = write.write(target, model, {"/N": 0}, additions.WriteOptions([names.KHR], keeps_usd=False))
    assert [issue for issue in written.issues if vendor.BODY in issue.message], "two locked axes are no infinite mass"


def test_values_of_a_wrong_type_are_not_written_back(tmp_path):
    """A joint whose bodies change places, with a limit, a drive and an axis that are text."""
    limits = [*LOCKED, {"angularAxes": [0], "min": "text", "max": 1, "damping": None}, {"linearAxes": [7]}]
    drives = [{"type": "angular", "mode": "force", "axis": 0, "positionTarget": "far", "stiffness": 5}]
    body = {"motion": {"mass": 1, "inertiaDiagonal": [0, 1, 1], "inertiaOrientation": "up"}}
    nodes = [
        {"name": "Root", "children": [1, 2]},
        {"name": "Joint", "extensions": {BODY: {"joint": {"connectedNode": 2, "joint": 0}}}},
        {"name": "Body", "extensions": {BODY: body}},
    ]
    source = khr(tmp_path, nodes, physicsJoints=[{"limits": limits, "drives": drives}]).document
    out, _ = rewritten(tmp_path, source, names.FAMILIES)
    text = json.dumps([Document.load(out).json["nodes"], Document.load(out).json["extensions"]])
    assert not any(word in text for word in ('"text"', '"far"', '"up"', "null", "[7]"))


def test_compound_trigger_names_the_nodes_that_have_its_shapes(tmp_path):
    """The shape of a part has an object of its own, as after a round through USD; the file names that of the part."""
    trigger = {BODY: {"trigger": {"geometry": {"shape": 0}}}}
    nodes = [
        {"name": "Whole", "children": [1], "extensions": {BODY: {"trigger": {"nodes": [1]}}}},
        {"name": "Part", "children": [2], "extensions": trigger}, {"name": "Shape"},
    ]  # fmt: skip
    source = khr(tmp_path, nodes, [{"type": "sphere", "sphere": {"radius": 1}}])
    (collider,) = source.model.colliders
    plain = [{key: value for key, value in node.items() if key != "extensions"} for node in nodes]
    target = document(tmp_path, {"scene": 0, "scenes": [{"nodes": [0]}], "nodes": plain}, "out.gltf")
    indices = {"/Whole": 0, "/Whole/Part": 1, collider: 2}
    write.write(target, source.model, indices, additions.WriteOptions(), indices)
    assert target.node_extension(0, BODY)["trigger"] == {"nodes": [1]}
    assert "geometry" in target.node_extension(1, BODY)["trigger"]
    assert "extensions" not in target.nodes[2]


def test_volume_with_gravity_has_the_object_of_its_type(tmp_path):
    node = {"name": "Moon", "extensions": {names.GRAVITY: {"type": "point", "gravity": 2, "stop": True}}}
    source = omi(tmp_path, [node]).document
    out, _ = rewritten(tmp_path, source)
    written = Document.load(out).nodes[0]["extensions"][names.GRAVITY]
    assert written == {"type": "point", "gravity": 2, "stop": True, "point": {}}


@pytest.mark.slow
@pytest.mark.parametrize("family", ["own", "KHR", "OMI"])
def test_devset_comes_back(tmp_path, shared, family):
    chosen = {"own": None, "KHR": [names.KHR], "OMI": [names.OMI]}[family]
    assert len(assets.gltf_files()) == 8
    for path in assets.gltf_files():
        for beside in path.parent.glob(f"{path.stem}*.bin"):
            (tmp_path / beside.name).write_bytes(beside.read_bytes())
        out, _ = rewritten(tmp_path, Document.load(path), chosen, path.name)
        assert "score 1.0000" in (text := judged(path, out)), f"{path.name}: {text}"


def test_glb_keeps_its_binary_chunk_and_gets_ours_behind_it(tmp_path):
    content = rich()
    del content["buffers"][0]["uri"]
    text = json.dumps({"asset": {"version": "2.0"}, **content}).encode()
    text += b" " * (-len(text) % 4)
    path = tmp_path / "scene.glb"
    path.write_bytes(
        struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(TRIANGLES), len(text), 0x4E4F534A) + text
        + struct.pack("<II", len(TRIANGLES), 0x004E4942) + TRIANGLES
    )  # fmt: skip
    source = Document.load(path)
    mesh = source.mesh(0)
    number = source.add_mesh("more", mesh)
    source.save(tmp_path / "out.glb")
    again = Document.load(tmp_path / "out.glb")
    assert again.buffer(0)[: len(TRIANGLES)] == TRIANGLES
    np.testing.assert_allclose(again.mesh(number).points, mesh.points)


def test_edited_joint_is_written_as_it_is_now_and_not_as_it_was_imported(tmp_path):
    both = [*LOCKED, {"angularAxes": [0, 1], "min": 0, "max": 0}, {"angularAxes": [2], "min": -1, "max": 1},
            {"angularAxes": [2], "min": -0.1, "max": 0.1, "stiffness": 5}]  # fmt: skip
    prim, joint = joint_of(tmp_path, both)
    assert "settings" in prim.extras
    reading = read.read(Document.load(tmp_path / "scene.gltf"))
    joint = reading.model.prims[prim.path].get(usd_physics.Joint)
    joint.upper_limit = 0.5
    nodes = {path: index for index, path in reading.paths.items()}
    bare = [{"name": "Root", "children": [1, 2]}, {"name": "A", "children": [3]}, {"name": "B"}, {"name": "J"}]
    target = document(tmp_path, {"scenes": [{"nodes": [0]}], "nodes": bare})
    write.write(target, reading.model, nodes, additions.WriteOptions([names.KHR]))
    (settings,) = target.extensions[BODY]["physicsJoints"]
    assert {"angularAxes": [2], "min": -0.5, "max": 1.0} in settings["limits"]


def test_nothing_is_required_and_everything_is_declared(tmp_path):
    out, _ = rewritten(tmp_path, document(tmp_path, rich()), names.FAMILIES)
    content = json.loads(out.read_text())
    used = set(content["extensions"]).union(*(node.get("extensions", {}) for node in content["nodes"]))
    assert used == set(content["extensionsUsed"])
    assert "extensionsRequired" not in content


# --------------------------------------------------------------------------- hostile input


@pytest.mark.parametrize(
    "content",
    [
        {"nodes": [{"children": [0]}]},
        {"nodes": [{"children": [1]}, {"children": [0]}]},
        {"nodes": [{"children": [5]}]},
        {"nodes": [{}, {"children": [0]}, {"children": [0]}]},
        {"nodes": [{"translation": [1, 2]}]},
        {"nodes": [{"rotation": "up"}]},
        {"nodes": [{"translation": [1e39, 0, 0]}]},
        {"nodes": [{"mesh": 0}]},
        {"nodes": 3},
        {"scenes": [{"nodes": [7]}]},
        {"scene": 4, "scenes": []},
        {"extensions": []},
        {"asset": {"version": "1.0"}},
        {"nodes": [{"children": [number + 1]} for number in range(400)] + [{}]},
    ],
)
def test_damaged_document_is_refused_in_one_sentence(tmp_path, content):
    with pytest.raises(InputError) as caught:
        document(tmp_path, content)
    assert str(caught.value).count(". ") == 0


@pytest.mark.parametrize(
    "uri", ["../secret.bin", "/etc/passwd", "file:///etc/passwd", "http://x/y", "%2e%2e/secret.bin"]
)
def test_buffer_outside_the_folder_is_not_read(tmp_path, uri):
    (tmp_path / "secret.bin").write_bytes(TRIANGLES)
    folder = tmp_path / "inside"
    folder.mkdir()
    content = with_mesh()
    content["buffers"][0]["uri"] = uri
    found = document(folder, content)
    with pytest.raises(InputError, match="not in its folder"):
        found.mesh(0)


@pytest.mark.parametrize("name", ["a.gltf", "a.glb"])
def test_bytes_that_are_no_text_do_not_stop_the_export(tmp_path, name):
    document(tmp_path, {"nodes": [{"name": "\udcf0 ü"}]}).save(tmp_path / name)
    assert Document.load(tmp_path / name).node_name(0) == "\udcf0 ü"


@pytest.mark.parametrize("uri", ["../secret.txt", "%2e%2e/secret.txt", "link.png", "pipe.png", "../../../../dev/zero"])
def test_a_file_that_is_no_image_does_not_come_into_the_scene_as_one(tmp_path, uri):
    folder = tmp_path / "asset"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.png").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(folder / "pipe.png")
    with pytest.raises(InputError, match=r"is a file of another kind|device or a pipe|not in its folder"):
        document(folder, {"images": [{"uri": uri.replace("../../../..", "../" * 40)}]}).check_assets()


def test_an_image_stays_in_the_folder_as_buffers_do(tmp_path):
    folder = tmp_path / "asset"
    folder.mkdir()
    for place in (tmp_path, folder):
        (place / "wood.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    document(folder, {"images": [{"uri": "wood.png"}]}).check_assets()
    (folder / "link.png").symlink_to(tmp_path / "wood.png")
    for uri in ("../wood.png", str(tmp_path / "wood.png"), "link.png"):
        with pytest.raises(InputError, match="not in its folder"):
            document(folder, {"images": [{"uri": uri}]}).check_assets()


def test_an_image_that_is_missing_is_no_error(tmp_path):
    (tmp_path / "empty.png").touch()
    document(tmp_path, {"images": [{"uri": "gone.png"}, {"uri": "empty.png"}, {"bufferView": 7}]}).check_assets()


_HUGE = {"componentType": 5126, "type": "VEC3", "count": 99_000_000}
_SMALL = {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 1000}
_TRIANGLES = {"attributes": {"POSITION": 0}}


@pytest.mark.parametrize(
    "content",
    [
        {"accessors": [_HUGE], "meshes": [{"primitives": [_TRIANGLES]}]},
        {"accessors": [{**_HUGE, "sparse": {"count": 0}}]},
        {"accessors": [{**_HUGE, "count": 9_000_000}] * 9},
        {"accessors": [_SMALL], "meshes": [{"primitives": [_TRIANGLES] * 1000}] * 100},
        {"accessors": [_SMALL], "meshes": [{"primitives": [{**_TRIANGLES, "targets": [{"POSITION": 0}] * 60_000}]}]},
        {"accessors": [_SMALL], "animations": [
            {"samplers": [{"input": 0, "output": 0}], "channels": [{"sampler": 0}] * 30_000}]},
        {"accessors": [{**_HUGE, "count": 2_000_000}],
         "nodes": [{"extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 0}}}}]},
    ],
)  # fmt: skip
def test_few_bytes_that_stand_for_very_many_elements_are_refused(tmp_path, content):
    with pytest.raises(InputError, match=r"elements|instances"):
        document(tmp_path, content)


def test_buffers_of_one_file_are_one(tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(100))
    found = document(tmp_path, {"buffers": [{"uri": "a.bin", "byteLength": 100}] * 3})
    assert found.buffer(0) is found.buffer(2)


@pytest.mark.parametrize(
    ("accessor", "view", "buffer"),
    [
        ({"count": 13}, {}, {}), ({"count": 2**40}, {}, {}), ({"byteOffset": 100}, {}, {}), ({"type": "MAT4"}, {}, {}),
        ({"bufferView": 1}, {}, {}), ({"type": "SCALARS"}, {}, {}), ({}, {"byteLength": 2**40}, {}),
        ({}, {"byteOffset": 101}, {}), ({}, {"buffer": 1}, {}), ({}, {}, {"uri": "../a.bin"}), ({}, {}, {"uri": None}),
        ({"componentType": [5126]}, {}, {}), ({"componentType": {}}, {}, {}), ({"bufferView": []}, {}, {}),
    ],
)  # fmt: skip
def test_what_leads_out_of_its_buffer_is_refused_before_blender_reads_it(tmp_path, accessor, view, buffer):
    def content(accessor: dict, view: dict, buffer: dict) -> dict:
        uri = "data:;base64," + base64.b64encode(bytes(144)).decode()
        return {
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 12, "type": "VEC3", **accessor}],
            "bufferViews": [{"buffer": 0, "byteLength": 144, **view}],
            "buffers": [{"byteLength": 144, "uri": uri, **buffer}],
        }

    document(tmp_path, content({}, {}, {})).check_assets()
    with pytest.raises(InputError):
        document(tmp_path, content(accessor, view, buffer)).check_assets()


@pytest.mark.parametrize("view", [{"byteLength": -1}, {"byteOffset": -8}, {"byteLength": 1.5}, {"byteLength": "9"}])
def test_a_view_that_no_accessor_uses_has_a_valid_length_and_offset(tmp_path, view):
    views = {"bufferViews": [{"buffer": 0, "byteLength": 9}], "buffers": [{"uri": "data:;base64,AAAAAAAAAAAA"}]}
    document(tmp_path, views).check_assets()
    views["bufferViews"][0].update(view)
    with pytest.raises(InputError, match="buffer view 0 has no valid length or offset"):
        document(tmp_path, views).check_assets()


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["accessors"][0].update(count=5),
        lambda content: content["accessors"][0].update(count=-1),
        lambda content: content["accessors"][0].update(byteOffset=40),
        lambda content: content["accessors"][0].update(componentType=1),
        lambda content: content["bufferViews"][0].update(byteLength=1 << 30),
        lambda content: content["bufferViews"][0].update(byteStride=1),
        lambda content: content["bufferViews"][0].update(buffer=9),
        lambda content: content["meshes"][0]["primitives"][0]["attributes"].update(POSITION=9),
        lambda content: content["buffers"][0].update(uri="data:;base64,@@@"),
        lambda content: content["accessors"][1].update(bufferView=0, count=20),
    ],
)
def test_mesh_that_leads_out_of_its_buffer_is_refused(tmp_path, change):
    content = with_mesh()
    change(content)
    with pytest.raises(InputError):
        document(tmp_path, content).mesh(0)


def test_number_that_blender_cannot_hold_does_not_become_infinite_there(tmp_path):
    motion = {"mass": 1e39, "linearVelocity": [0, 1e39, 0], "centerOfMass": [1e300, 0, 0]}
    body = {"motion": motion, "collider": {"geometry": {"shape": 0}}}
    prim = khr(tmp_path, [{"name": "A", "extensions": {BODY: body}}], [{"type": "sphere"}]).model.prims["/A"]
    assert prim.get(usd_physics.RigidBodyAPI).velocity is None
    assert prim.get(usd_physics.MassAPI) is None


def test_value_that_is_no_finite_number_is_named_and_the_old_file_stays(tmp_path):
    found = document(tmp_path, {"nodes": [{"name": "Crate", "extras": {"speed": [0.0, 1.0]}}]})
    found.nodes[0]["extras"]["speed"][1] = math.inf
    before = (tmp_path / "scene.gltf").read_text()
    with pytest.raises(InputError, match="nodes > 'Crate' > extras > speed > 1 is no finite number"):
        found.save(tmp_path / "scene.gltf")
    assert (tmp_path / "scene.gltf").read_text() == before


def test_nan_in_the_json_is_refused(tmp_path):
    path = tmp_path / "nan.gltf"
    path.write_text('{"asset": {"version": "2.0"}, "nodes": [{"translation": [NaN, 0, 0]}]}')
    with pytest.raises(InputError, match="NaN"):
        Document.load(path)


def places(value, at=()):
    """Every place in a JSON value."""
    yield at
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*at, key))


BAD = (None, -1, 99, 1e300, "text", [], {}, True, [1, 2], {"a": 1}, 0, -0.5)


#: Extensions of bodies and of shapes: as today, and two drafts.
FORMS = ((BODY, SHAPE), (BODY, names.DRAFT_SHAPE), (names.DRAFT_BODY, names.DRAFT_SHAPE))


def of_form(body, shape):
    """A document with two bodies, a trigger and a joint in one of these forms."""
    box_shape = {"type": "box", "box": {"size": [1, 2, 3]}}
    first = {"type": "mesh", "mesh": {"mesh": 0}, "extensions": {names.DRAFT_BODY: {"convexHull": True}}}
    shapes = [box_shape]
    if shape == names.DRAFT_SHAPE:
        shapes.append(first if body == names.DRAFT_BODY else {"type": "convex", "convex": {"mesh": 0}})
        box, hull = {"shape": 0}, {"shape": 1}
    else:
        box, hull = {"geometry": {"shape": 0}}, {"geometry": {"mesh": 0, "convexHull": True}}
    joint = {"limits": [{"linearAxes": [0, 1, 2], "min": 0, "max": 0}, {"angularAxes": [0, 1], "min": 0, "max": 0}]}
    is_old = body == names.DRAFT_BODY
    material = {
        "staticFriction": 0.5, "dynamicFriction": 0.4, "restitution": 0.3,
        "frictionCombine": "MAXIMUM" if is_old else "maximum",
    }  # fmt: skip
    nodes = [
        {"name": "A", "extensions": {body: {"motion": {"mass": 2}, "collider": {**box, "physicsMaterial": 0}}}},
        {"name": "B", "mesh": 0, "extensions": {body: {"motion": {"mass": 1}, "collider": hull}}},
        {"name": "Area", "extensions": {body: {"trigger": box}}},
        {"name": "Hinge", "extensions": {body: {
            "joint": {"connectedNode": 1, "jointLimits" if is_old else "joint": 0, "enableCollision": True},
        }}},
    ]  # fmt: skip
    return {
        "extensionsUsed": [body, shape], "scene": 0, "scenes": [{"nodes": [0, 1, 2, 3]}], "nodes": nodes,
        **with_mesh(), "extensions": {
            shape: {"shapes": shapes},
            body: {"physicsMaterials": [material], "physicsJointLimits" if is_old else "physicsJoints": [joint]},
        },
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rich", "draft", "first draft"])
def test_mutated_documents_are_read_or_refused_in_one_sentence(tmp_path, kind):
    """1,000 documents with one to three values replaced: read and written again, or refused with InputError."""
    chance = random.Random(7)
    content = rich() if kind == "rich" else of_form(*FORMS[1 if kind == "draft" else 2])
    source = json.dumps({"asset": {"version": "2.0"}, **content})
    spots = list(places(json.loads(source)))
    path = tmp_path / "mutant.gltf"
    refused = 0
    for _ in range(1000):
        content = json.loads(source)
        for _ in range(chance.randint(1, 3)):
            spot = chance.choice(spots[1:])
            holder = content
            try:
                for key in spot[:-1]:
                    holder = holder[key]
                if isinstance(holder, dict) and chance.random() < 0.2:
                    del holder[spot[-1]]
                else:
                    holder[spot[-1]] = chance.choice(BAD)
            except (KeyError, IndexError, TypeError):
                continue
        path.write_text(json.dumps(content))
        try:
            found = Document.load(path)
            reading = read.read(found)
            for prim in reading.model.prims.values():
                if prim.mesh is not None:
                    prim.mesh()
        except InputError:
            refused += 1
    assert 50 < refused < 950


def test_mutated_glb_is_read_or_refused_in_one_sentence(tmp_path):
    chance = random.Random(8)
    source = document(tmp_path, rich())
    source.json["buffers"][0].pop("uri")
    source.binary = TRIANGLES
    source.save(tmp_path / "whole.glb")
    whole = (tmp_path / "whole.glb").read_bytes()
    path = tmp_path / "mutant.glb"
    refused = 0
    for _ in range(1000):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.2 else data)
        try:
            read.read(Document.load(path))
        except InputError:
            refused += 1
    assert 50 < refused < 1000


def test_drafts_of_khr_say_the_same_as_today(tmp_path):
    """Their shapes are named as those of OMI, and include meshes."""
    models = []
    for body, shape in FORMS:
        reading = read.read(document(tmp_path, of_form(body, shape)))
        assert reading.family is not None and reading.family.is_khr
        models.append({
            path: (prim.type_name, {name: one.all_values() for name, one in prim.schemas.items()})
            for path, prim in reading.model.prims.items()
        })  # fmt: skip
    assert len(models[0]) > 7
    assert models[1] == models[2] == models[0]


@pytest.mark.parametrize("word", ["boundingCube", "boundingSphere"])
def test_the_bounds_of_a_mesh_are_about_its_middle(word: str) -> None:
    """A box of 2 x 4 x 6 m about (10, -20, 30)."""
    corners = np.array(list(itertools.product((9.0, 11.0), (-22.0, -18.0), (27.0, 33.0))))
    shape, place = shapes.bounds_of(Mesh(corners, np.zeros((0, 3), np.int64)), word)
    assert place[:3, 3] == pytest.approx((10.0, -20.0, 30.0)) and np.array_equal(place[:3, :3], np.eye(3))
    if word == "boundingCube":
        assert (shape.kind, sorted(shape.sizes["size"])) == ("box", [2.0, 4.0, 6.0])
    else:
        assert (shape.kind, shape.sizes["radius"]) == ("sphere", pytest.approx(math.sqrt(1.0 + 4.0 + 9.0)))


@pytest.mark.parametrize("kind", [usd_physics.Joint, usd_physics.RevoluteJoint])
@pytest.mark.parametrize("is_kept", [False, True])
def test_a_joint_that_gltf_knows_under_another_type_is_named(kind: type[usd_physics.Joint], is_kept: bool) -> None:
    """A generic joint of which only one rotation is free comes back as a hinge, unless its settings are kept."""
    model = PhysicsModel()
    prim = model.add(Prim("/Joint", kind.usd_name, is_xformable=False))
    prim.add(kind())
    for dof in ("transX", "transY", "transZ", "rotY", "rotZ") if kind is usd_physics.Joint else ():
        prim.add(usd_physics.LimitAPI(low=1.0, high=-1.0), dof)
    if is_kept:
        prim.extras["settings"] = joints.settings_of(prim, prim.schemas[kind.usd_name])
    is_named = kind is usd_physics.Joint and not is_kept
    assert [what for _, what in unsaid.facts(model)] == ["the type PhysicsJoint (its limits are written)"] * is_named
