"""Physics of one side on the other: the mirrored model is the mirror image of the model, in place and in motion."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion
from usdphys_ext.usdphys_addon.authoring import joint_edits, mirroring
from usdphys_ext.usdphys_addon.bridge import joint_frames, props
from usdphys_ext.usdphys_addon.core import frames, joint_kinds
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.validate import validate

from . import scenes
from .test_joint_tools import frames_in_model, link_back, refused, select

FLIP = np.diag([-1.0, 1.0, 1.0])
#: The plane of the mirror, in the world.
PLANE = np.diag([-1.0, 1.0, 1.0, 1.0])


def pair(how: str, *, name: str = "Arm", place: Any = None) -> tuple[Any, Any]:
    """An arm and its counterpart on the other side of X, made in one of the ways in which people make them."""
    place = place or scenes.placed((2, 0.5, 1), (0.3, 0.4, 0.5))
    left = scenes.add(f"{name}.L", scenes.box_mesh(f"{name}.L", (0.5, 0.25, 0.125), (0.1, 0.2, 0.3)))
    left.matrix_world = place
    if how == "negative scale":
        right = scenes.add(f"{name}.R", left.data)
        right.matrix_world = Matrix(PLANE.tolist()) @ place
        return left, right
    # The mesh is mirrored, and the object is turned as its counterpart is, or in a way of its own.
    turned = Matrix((FLIP @ np.array(place.to_3x3()) @ FLIP).tolist()).to_4x4()
    if how == "turned":
        turned = turned @ Matrix.Rotation(math.pi / 2, 4, "Y")
    if how == "at the origin":
        turned = Matrix.Identity(4)
    at = Matrix(PLANE.tolist()) @ place.translation
    right = scenes.add(f"{name}.R")
    right.matrix_world = Matrix.Translation(at if how != "at the origin" else (0, 0, 0)) @ turned
    points = np.array([vertex.co for vertex in left.data.vertices])
    world = PLANE @ np.array(place)
    points = points @ world[:3, :3].T + world[:3, 3]
    back = np.linalg.inv(np.array(right.matrix_world))
    mesh = scenes.box_mesh(f"{name}.R")
    mesh.vertices.foreach_set("co", (points @ back[:3, :3].T + back[:3, 3]).astype(np.float32).ravel())
    mesh.flip_normals()
    name = right.name
    bpy.data.objects.remove(right)
    right = scenes.add(name, mesh)
    right.matrix_world = Matrix(np.linalg.inv(back).tolist())
    return left, right


WAYS = ["negative scale", "mirrored mesh", "turned", "at the origin"]


def in_turn(kinds: Any) -> list[tuple[str, str]]:
    """(way, kind): each kind in two ways, each way with several kinds."""
    return [(WAYS[(number + step) % len(WAYS)], kind) for number, kind in enumerate(kinds) for step in (0, 2)]


def mirror_selected(**options: Any) -> None:
    assert bpy.ops.usdphys.mirror_physics(**options) == {"FINISHED"}
    bpy.context.view_layer.update()


def prims_below(model: Any, obj: Any) -> list[Any]:
    return [prim for prim in model.colliders.values() if prim.label == obj.name]


def corners_of(prim: Any) -> np.ndarray:
    """Points that tell where a primitive collider is and where it points."""
    found = prim.get(usd_geom.Gprim)
    size = np.array([1.0, 1.0, 1.0])
    if isinstance(found, usd_geom.Cube):
        size = size * found.size / 2
        points = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size
    else:
        axis = np.eye(3)["XYZ".index(getattr(found, "axis", None) or "Z")]
        height = getattr(found, "height", 0.0) or 0.0
        ends = [axis * height / 2, -axis * height / 2]
        if isinstance(found, usd_geom.Plane):
            ends = [axis, np.zeros(3)]
        points = np.array(ends)
    points = points @ prim.world[:3, :3].T + prim.world[:3, 3]
    if isinstance(found, usd_geom.Cube | usd_geom.Capsule | usd_geom.Cylinder | usd_geom.Sphere):
        # Their ends are alike.
        points = points[np.lexsort(np.round(points, 4).T)]
    return points


# --------------------------------------------------------------------------- parts


@pytest.mark.parametrize(("how", "shape"), in_turn(props.GPRIM_SHAPES))
def test_colliders(how, shape):
    left, right = pair(how)
    turn = Quaternion((0.9, 0.1, -0.3, 0.2)).normalized()
    for axis in "XYZ":
        item = scenes.make_collider(
            left, shape, location=(0.1, 0.2, -0.3), rotation=turn, size=(0.3, 0.4, 0.5), radius=0.25, height=0.75
        )
        item.axis, item.name = axis, f"Along {axis}"
    plain = scenes.make_collider(left, shape, location=(0.3, 0.1, 0.2), size=(0.3, 0.4, 0.5), radius=0.2, height=0.5)
    plain.axis = "X"
    select(left)
    mirror_selected()
    model = scenes.read_model()
    before, after = prims_below(model, left), prims_below(model, right)
    assert len(before) == len(after) == 4
    for old, new in zip(before, after, strict=True):
        assert old.type_name == new.type_name
        wanted = corners_of(old) @ FLIP
        if shape in ("CUBE", "SPHERE", "CAPSULE", "CYLINDER"):
            wanted = wanted[np.lexsort(np.round(wanted, 4).T)]
        assert np.abs(corners_of(new) - wanted).max() < 1e-5
        radii = [getattr(prim.get(usd_geom.Gprim), "radius", None) or 0.0 for prim in (old, new)]
        assert radii[0] == pytest.approx(radii[1], rel=1e-5)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("shape", ["CUBE", "CONE"])
def test_mass_of_a_collider(how, shape):
    """It is in the space of the collider, which is turned and mirrored in ways of its own."""
    left, right = pair(how)
    turn = Quaternion((0.9, 0.1, -0.3, 0.2)).normalized()
    item = scenes.make_collider(
        left, shape, location=(0.1, 0.2, -0.3), rotation=turn, size=(0.5, 0.5, 0.5), radius=0.25, height=0.75
    )
    scenes.assign(
        item.mass, is_applied=True, mass=3.0, center_of_mass=(0.1, 0.2, 0.3), diagonal_inertia=(1, 2, 4),
        principal_axes=turn,
    )  # fmt: skip
    select(left)
    mirror_selected()
    model, found = scenes.read_model(), []
    for obj in (left, right):
        (prim,) = prims_below(model, obj)
        mass = prim.get(usd_physics.MassAPI)
        axes = frames.rotation_of(prim.world) @ frames.matrix_of(mass.principal_axes)
        found.append((prim.world @ (*mass.center_of_mass, 1), axes @ np.diag(mass.diagonal_inertia) @ axes.T))
    assert np.abs(found[1][0] - PLANE @ found[0][0]).max() < 1e-5
    assert np.abs(found[1][1] - FLIP @ found[0][1] @ FLIP).max() < 1e-5


def test_what_needs_no_rotation_gets_none():
    left, right = pair("negative scale")
    item = scenes.make_collider(left, "CAPSULE", location=(1, 2, 3), radius=0.5, height=1.0)
    item.axis = "X"
    select(left)
    mirror_selected()
    (copy,) = right.usdphys.colliders
    assert not copy.is_property_set("rotation")
    assert tuple(copy.location) == pytest.approx((1, 2, 3), abs=1e-5)
    other, mirrored = pair("mirrored mesh", name="Leg", place=scenes.placed((1, 0, 0)))
    scenes.make_collider(other, "CUBE", location=(1, 2, 3), size=(1, 2, 3))
    select(other)
    mirror_selected()
    (copy,) = mirrored.usdphys.colliders
    assert not copy.is_property_set("rotation")
    assert tuple(copy.location) == pytest.approx((-1, 2, 3), abs=1e-5)
    assert not copy.is_property_set("radius")


def test_sizes_follow_the_scale_of_the_counterpart():
    """The counterpart has its scale applied, the original has not."""
    left = scenes.add_box("Arm.L", location=(2, 0, 0), scale=(2, 3, 4))
    right = scenes.add_box("Arm.R", (1, 1.5, 2), location=(-2, 0, 0))
    scenes.make_collider(left, "CUBE", location=(0.1, 0, 0), size=(0.5, 1, 1.5))
    scenes.make_collider(left, "CAPSULE", location=(0.1, 0, 0), radius=0.125, height=0.5)
    select(left)
    mirror_selected()
    model = scenes.read_model()
    for old, new in zip(prims_below(model, left), prims_below(model, right), strict=True):
        wanted = corners_of(old) @ FLIP
        assert np.abs(corners_of(new) - wanted[np.lexsort(np.round(wanted, 4).T)]).max() < 1e-5


@pytest.mark.parametrize("how", WAYS)
def test_mass_and_velocities(how):
    left, right = pair(how)
    scenes.make_body(left, velocity=(1, 2, 3), angular_velocity=(0.5, -1, 2))
    scenes.assign(
        left.usdphys.mass, is_applied=True, mass=2.5, center_of_mass=(0.1, -0.2, 0.3), diagonal_inertia=(1, 2, 4),
        principal_axes=Quaternion((0.9, 0.1, -0.3, 0.2)).normalized(),
    )  # fmt: skip
    select(left)
    mirror_selected()
    model = scenes.read_model()
    found = []
    for obj in (left, right):
        (prim,) = [prim for prim in model.bodies.values() if prim.label == obj.name]
        mass, body = prim.get(usd_physics.MassAPI), prim.get(usd_physics.RigidBodyAPI)
        turn = frames.rotation_of(prim.world)
        axes = turn @ frames.matrix_of(mass.principal_axes)
        found.append(
            {
                "mass": mass.mass,
                "center": prim.world[:3, :3] @ mass.center_of_mass + prim.world[:3, 3],
                "inertia": axes @ np.diag(mass.diagonal_inertia) @ axes.T,
                "velocity": prim.world[:3, :3] @ body.velocity,
                "spin": turn @ body.angular_velocity,
            }
        )
    old, new = found
    assert new["mass"] == old["mass"]
    assert np.abs(new["center"] - FLIP @ old["center"]).max() < 1e-5
    assert np.abs(new["inertia"] - FLIP @ old["inertia"] @ FLIP).max() < 1e-5
    assert np.abs(new["velocity"] - FLIP @ old["velocity"]).max() < 1e-5
    assert np.abs(new["spin"] + FLIP @ old["spin"]).max() < 1e-5


def test_inertia_without_axes():
    """Moments along the object's own axes, of which the counterpart has others."""
    left, right = pair("turned", place=scenes.placed((1, 0, 0)))
    scenes.make_body(left)
    scenes.assign(left.usdphys.mass, is_applied=True, diagonal_inertia=(1, 2, 4))
    select(left)
    mirror_selected()
    axes = frames.rotation_of(scenes.world_of(right)) @ frames.matrix_of(right.usdphys.mass.principal_axes)
    assert np.abs(axes @ np.diag([1, 2, 4]) @ axes.T - np.diag([1, 2, 4])).max() < 1e-5


def test_the_rest_is_copied_and_what_was_there_goes():
    left, right = pair("negative scale")
    scenes.make_body(left, starts_asleep=True)
    scenes.make_collider(left, "MESH", approximation="convexHull")
    left.usdphys.articulation_root.is_applied = True
    left.usdphys.physics_material = scenes.physics_material("Rubber", restitution=0.5)
    scenes.make_body(right, kinematic_enabled=True, velocity=(1, 0, 0))
    scenes.make_collider(right, "SPHERE", radius=3)
    scenes.make_collider(right, "CUBE")
    right.usdphys.prim.path = "/Robot/Arm_R"
    select(left)
    for _ in range(2):
        mirror_selected()
        physics = right.usdphys
        assert physics.rigid_body.starts_asleep
        assert not physics.rigid_body.is_property_set("kinematic_enabled")
        assert not physics.rigid_body.is_property_set("velocity")
        assert [(item.shape, item.approximation) for item in physics.colliders] == [("MESH", "convexHull")]
        assert not physics.colliders[0].is_property_set("radius")
        assert physics.articulation_root.is_applied
        assert physics.physics_material.name == "Rubber"
        assert physics.prim.path == "/Robot/Arm_R"


def test_groups_and_filters():
    left, right = pair("negative scale")
    leg, other_leg = pair("negative scale", name="Leg")
    torso = scenes.add_box("Torso")
    scenes.make_body(left)
    for name in ("Arms.L", "Robot"):
        scenes.define_group(name)
        scenes.join_group(left, name)
    scenes.define_group("Arms.R")
    pairs = left.usdphys.filtered_pairs
    pairs.is_applied = True
    for obj in (leg, torso):
        pairs.filtered_pairs.add().object = obj
    select(left)
    mirror_selected()
    assert [item.name for item in right.usdphys.collision_groups] == ["Arms.R", "Robot"]
    assert [item.object for item in right.usdphys.filtered_pairs.filtered_pairs] == [other_leg, torso]
    assert [item.object for item in pairs.filtered_pairs] == [leg, torso]


# --------------------------------------------------------------------------- joints


def arm_with_joint(kind: str, axis: str = "X", how: str = "negative scale") -> tuple[Any, Any, Any, Any]:
    """(torso, left arm, right arm, left joint), the joint at the cursor, turned."""
    torso = scenes.solid("Torso", location=(0, 0, 1))
    torso.usdphys.rigid_body.kinematic_enabled = True
    left, right = pair(how)
    scenes.make_body(left)
    scenes.make_collider(left, "AUTO")
    cursor = bpy.context.scene.cursor
    cursor.location, cursor.rotation_euler = (1, 0.25, 1), (0.2, 0.4, 0.6)
    select(torso, left)
    bpy.ops.usdphys.joint_add(type=kind, place="CURSOR")
    joint = bpy.context.active_object
    if kind in ("REVOLUTE", "PRISMATIC", "SPHERICAL"):
        joint.usdphys.joint.axis = axis
    return torso, left, right, joint


def displace(obj: Any, move: np.ndarray) -> None:
    obj.matrix_world = Matrix(move.tolist()) @ obj.matrix_world
    bpy.context.view_layer.update()


def keep(*objects: Any) -> None:
    joint_edits.fix_frames(bpy.context, objects)


@pytest.mark.parametrize(("how", "kind"), in_turn(joint_kinds.BY_IDENTIFIER))
def test_joint_is_made_at_the_mirrored_place(how, kind):
    torso, left, right, joint = arm_with_joint(kind, how=how)
    select(left)
    mirror_selected()
    made = bpy.data.objects["Arm Joint.R"]
    assert (made.usdphys.joint.type, made.usdphys.joint.body0, made.usdphys.joint.body1) == (kind, torso, right)
    assert made.users_collection == joint.users_collection
    assert made.parent == torso
    for old, new in zip(frames_in_model(joint), frames_in_model(made), strict=True):
        assert np.abs(new[:3, 3] - FLIP @ old[:3, 3]).max() < 3e-6
        # The same axes but for one that is reversed: right-handed.
        signs = np.diag((FLIP @ old[:3, :3]).T @ new[:3, :3])
        assert sorted(np.round(signs, 4)) == [-1, 1, 1]
        assert np.linalg.det(new[:3, :3]) == pytest.approx(1, abs=1e-6)
    assert not [issue for issue in validate(scenes.read_model()) if issue.severity == "error"]
    assert not any(made.usdphys.joint.is_property_set(name) for name in props.LOCAL_FRAME_FIELDS)


@pytest.mark.parametrize("axis", "XYZ")
@pytest.mark.parametrize(("kind", "own"), [("REVOLUTE", "rot"), ("PRISMATIC", "trans")])
@pytest.mark.parametrize("kept", [False, True])
def test_mirrored_poses_are_in_mirrored_limits(axis, kind, own, kept):
    _, left, right, joint = arm_with_joint(kind, axis)
    group = getattr(joint.usdphys.joint, kind.lower())
    group.lower_limit, group.upper_limit = -0.25, 0.75
    drive = joint.usdphys.joint.drives.angular if kind == "REVOLUTE" else joint.usdphys.joint.drives.linear
    scenes.assign(drive, is_applied=True, target_position=0.5, target_velocity=0.25)
    if kept:
        keep(joint)
    select(left)
    mirror_selected()
    made = bpy.data.objects["Arm Joint.R"]
    if not kept:
        keep(joint, made)
    frame = frames_in_model(joint)[0]
    index = "XYZ".index(axis)
    for value in (-0.25, 0.3, 0.75):
        if kind == "REVOLUTE":
            local = frames.transform((0, 0, 0), np.array(Matrix.Rotation(value, 3, axis)))
        else:
            local = frames.transform(np.eye(3)[index] * value)
        move = frame @ local @ np.linalg.inv(frame)
        displace(left, move)
        displace(right, PLANE @ move @ PLANE)
        here, there = (
            joint_frames.coordinate(*frames_in_model(obj), f"{own}{obj.usdphys.joint.axis}") for obj in (joint, made)
        )
        assert here == pytest.approx(value, abs=1e-5)
        # A hinge reverses its axis and a slider another one: both count as before.
        assert there == pytest.approx(value, abs=1e-5)
        displace(left, np.linalg.inv(move))
        displace(right, PLANE @ np.linalg.inv(move) @ PLANE)
    mirrored = getattr(made.usdphys.joint, kind.lower())
    assert (mirrored.lower_limit, mirrored.upper_limit) == (-0.25, 0.75)
    other = made.usdphys.joint.drives.angular if kind == "REVOLUTE" else made.usdphys.joint.drives.linear
    assert (other.is_applied, other.target_position, other.target_velocity) == (True, 0.5, 0.25)


@pytest.mark.slow
@pytest.mark.parametrize("free", ["", "X", "Y", "Z"])
def test_limits_per_dof(free):
    _, left, right, joint = arm_with_joint("GENERIC")
    limits, drives = joint.usdphys.joint.limits, joint.usdphys.joint.drives
    for index, name in enumerate(usd_physics.LimitAPI.instances[:6]):
        locked = free and name.startswith("rot") and not name.endswith(free)
        scenes.assign(
            getattr(limits, name), is_applied=True, low=1.0 if locked else -0.1 * (index + 1),
            high=-1.0 if locked else 0.2 * (index + 1),
        )  # fmt: skip
        scenes.assign(getattr(drives, name), is_applied=True, target_position=0.05 * (index + 1))
    keep(joint)
    select(left)
    mirror_selected()
    made = bpy.data.objects["Arm Joint.R"]
    frame = frames_in_model(joint)[0]
    rng = np.random.default_rng(3)
    for _ in range(5):
        turn = Quaternion(rng.normal(size=4)).normalized().to_matrix()
        move = frame @ frames.transform(rng.normal(size=3), np.array(turn)) @ np.linalg.inv(frame)
        displace(left, move)
        displace(right, PLANE @ move @ PLANE)
        for name in usd_physics.LimitAPI.instances[:6]:
            room = []
            for obj in (joint, made):
                value = joint_frames.coordinate(*frames_in_model(obj), name)
                limit, drive = getattr(obj.usdphys.joint.limits, name), getattr(obj.usdphys.joint.drives, name)
                room.append((sorted((value - limit.low, limit.high - value)), abs(value - drive.target_position)))
            assert np.abs(np.subtract(room[0][0], room[1][0])).max() < 3e-5, name
            assert abs(room[0][1] - room[1][1]) < 3e-5, name
        displace(left, np.linalg.inv(move))
        displace(right, PLANE @ np.linalg.inv(move) @ PLANE)


def test_frames_that_are_apart():
    """The arm is posed away from its zero, and so is its mirror image."""
    _, left, _, joint = arm_with_joint("REVOLUTE", "Y")
    keep(joint)
    frame = frames_in_model(joint)[0]
    spin = frames.transform((0, 0, 0), np.array(Matrix.Rotation(0.5, 3, "Y")))
    move = frame @ spin @ np.linalg.inv(frame)
    displace(left, move)
    displace(bpy.data.objects["Arm.R"], PLANE @ move @ PLANE)
    select(left)
    mirror_selected()
    made = bpy.data.objects["Arm Joint.R"]
    assert joint_frames.coordinate(*frames_in_model(made), "rotY") == pytest.approx(0.5, abs=1e-5)


@pytest.mark.slow
def test_simulated():
    """Both arms fall, each on its own side, and come to rest at the same stop."""
    _, left, right, joint = arm_with_joint("REVOLUTE", "Y")
    joint.usdphys.joint.revolute.lower_limit, joint.usdphys.joint.revolute.upper_limit = -0.2, 0.3
    select(left)
    mirror_selected()
    from usdphys_ext.usdphys_addon.playback import guard as preview_guard

    start = np.array(left.matrix_world)
    try:
        for _ in range(40):
            bpy.ops.usdphys.preview_step()
            assert np.abs(np.array(right.matrix_world) - PLANE @ np.array(left.matrix_world)).max() < 0.01
        assert np.abs(np.array(left.matrix_world) - start).max() > 0.05
    finally:
        session = preview_guard.current()
        if session is not None:
            session.stop()
        preview_guard.forget()


def test_existing_joints_are_brought_up_to_date():
    _, left, right, joint = arm_with_joint("REVOLUTE", "Y")
    select(left)
    mirror_selected()
    count = len(bpy.data.objects)
    made = bpy.data.objects["Arm Joint.R"]
    place = np.array(made.matrix_world)
    made.location.x += 1
    made.name = "Whatever"
    made.usdphys.joint.break_force = 5.0
    joint.usdphys.joint.revolute.upper_limit = 0.125
    bpy.context.view_layer.update()
    select(left)
    mirror_selected()
    assert len(bpy.data.objects) == count
    assert made.usdphys.joint.revolute.upper_limit == 0.125
    assert not made.usdphys.joint.is_property_set("break_force")
    assert np.abs(np.array(made.matrix_world) - place).max() < 1e-5
    # And back.
    before = frames_in_model(joint)
    made.name = "Arm Joint.R"
    select(right)
    mirror_selected()
    assert len(bpy.data.objects) == count
    for old, new in zip(before, frames_in_model(joint), strict=True):
        assert np.abs(old - new).max() < 1e-5
    assert joint.usdphys.joint.body1 == left


def test_several_joints_without_a_side_in_their_names():
    torso, left, _, joint = arm_with_joint("FIXED")
    joint.name = "Upper"
    select(torso, left)
    bpy.context.scene.cursor.location.z += 0.5
    bpy.ops.usdphys.joint_add(type="FIXED", place="CURSOR")
    bpy.context.active_object.name = "Lower"
    for _ in range(2):
        select(left)
        mirror_selected()
        heights = sorted(
            (obj.usdphys.joint.body1.name, round(frames_in_model(obj)[0][2, 3], 3))
            for obj in bpy.context.scene.objects if obj.usdphys.joint.is_applied
        )  # fmt: skip
        assert heights == [("Arm.L", 1.0), ("Arm.L", 1.5), ("Arm.R", 1.0), ("Arm.R", 1.5)]


def test_a_selected_joint_alone():
    _, _, right, joint = arm_with_joint("REVOLUTE")
    select(joint)
    mirror_selected()
    assert bpy.data.objects["Arm Joint.R"].usdphys.joint.body1 == right
    assert not right.usdphys.rigid_body.is_applied


def test_a_joint_between_both_sides_is_left_alone():
    left, right = pair("negative scale")
    for obj in (left, right):
        scenes.make_body(obj)
    joint = scenes.add_joint("Handcuffs", "DISTANCE", left, right)
    select(left)
    mirror_selected()
    assert [obj for obj in bpy.context.scene.objects if obj.usdphys.joint.is_applied] == [joint]
    assert (joint.usdphys.joint.body0, joint.usdphys.joint.body1) == (left, right)


@pytest.mark.parametrize("axis", "XYZ")
def test_about_the_active_object(axis):
    torso, left, _, joint = arm_with_joint("REVOLUTE")
    center = scenes.add("Center")
    center.matrix_world = scenes.placed((1, 2, 3), (0.2, -0.3, 0.4), (2, 2, 2))
    bpy.context.view_layer.update()
    select(left, center, active=center)
    mirror_selected(axis=axis, about="ACTIVE")
    world = frames.transform((1, 2, 3), frames.rotation_of(scenes.world_of(center)))
    flip = np.eye(4)
    flip["XYZ".index(axis), "XYZ".index(axis)] = -1
    plane = world @ flip @ np.linalg.inv(world)
    old, new = (frames_in_model(obj)[0] for obj in (joint, bpy.data.objects["Arm Joint.R"]))
    assert np.abs(new[:3, 3] - (plane @ old)[:3, 3]).max() < 5e-6
    assert torso.usdphys.rigid_body.is_applied


# --------------------------------------------------------------------------- refusals


def test_missing_counterparts_are_named():
    left = scenes.solid("Hand.L")
    select(left)
    assert "'Hand.L' has no counterpart 'Hand.R'" in refused(bpy.ops.usdphys.mirror_physics)
    right = scenes.add_box("Hand.R")
    finger = scenes.solid("Finger_left")
    joint = scenes.add_joint("Knuckle.L", "REVOLUTE", left, finger)
    assert "'Finger_left' has no counterpart 'Finger_right'" in refused(bpy.ops.usdphys.mirror_physics)
    bpy.data.objects.remove(joint)
    left.usdphys.filtered_pairs.is_applied = True
    left.usdphys.filtered_pairs.filtered_pairs.add().object = finger
    assert "'Finger_right'" in refused(bpy.ops.usdphys.mirror_physics)
    left.usdphys.filtered_pairs.filtered_pairs.clear()
    scenes.define_group("Left Hand")
    scenes.join_group(left, "Left Hand")
    assert "'Left Hand' has no counterpart 'Right Hand'" in refused(bpy.ops.usdphys.mirror_physics)
    # Nothing was done by halves.
    assert not props.is_physical(right)


def test_selections_that_say_nothing():
    box = scenes.solid("Box")
    assert "elect the parts" in refused(bpy.ops.usdphys.mirror_physics)
    select(box)
    assert "side in its name" in refused(bpy.ops.usdphys.mirror_physics)
    left, right = pair("negative scale")
    scenes.make_body(left)
    select(left, right)
    assert "both selected" in refused(bpy.ops.usdphys.mirror_physics)
    select(left)
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Object Mode" in refused(bpy.ops.usdphys.mirror_physics)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_scaled_to_nothing():
    left, right = pair("negative scale")
    scenes.make_body(left)
    right.scale = (0, 1, 1)
    select(left)
    assert "'Arm.R' is scaled to nothing" in refused(bpy.ops.usdphys.mirror_physics)


def test_counterpart_that_stands_elsewhere_is_said():
    left, right = pair("negative scale")
    scenes.make_body(left)
    select(left)
    assert not mirroring.mirror(bpy.context, "X").notes
    right.location.y += 1
    bpy.context.view_layer.update()
    (note,) = mirroring.mirror(bpy.context, "X").notes
    assert "'Arm.R' is not at the mirrored place of 'Arm.L'" in note


def test_linked_counterparts(tmp_path):
    left, right = pair("negative scale")
    (right,) = link_back(tmp_path, right.name)
    left = scenes.solid("Arm.L")
    other, flipped = pair("negative scale", name="Leg")
    scenes.make_body(other)
    select(left, other)
    result = mirroring.mirror(bpy.context, "X")
    assert result.parts == 1
    assert "'Arm.R' is linked" in result.notes[0]
    assert not right.usdphys.rigid_body.is_applied
    assert flipped.usdphys.rigid_body.is_applied


def test_undo():
    _, left, right, _ = arm_with_joint("REVOLUTE")
    select(left)
    bpy.ops.ed.undo_push(message="before")
    mirror_selected()
    bpy.ops.ed.undo_push(message="after")
    assert right.usdphys.rigid_body.is_applied
    bpy.ops.ed.undo()
    assert not bpy.data.objects["Arm.R"].usdphys.rigid_body.is_applied
    assert "Arm Joint.R" not in bpy.data.objects


# --------------------------------------------------------------------------- the axis that is reversed


def straight_joint(kind: str) -> Any:
    """The joint of a left arm, with the axes of the world."""
    _, left, _, joint = arm_with_joint(kind)
    joint.matrix_world = Matrix.Translation((1, 0.25, 1))
    bpy.context.view_layer.update()
    select(left)
    return joint


@pytest.mark.parametrize("axis", "XYZ")
def test_the_cone_of_a_ball_joint_opens_to_the_mirrored_side(axis):
    """Reversed, it would hold the bodies as well, but be drawn where the arm is not."""
    joint = straight_joint("SPHERICAL")
    joint.usdphys.joint.axis = axis
    mirror_selected()
    made = bpy.data.objects["Arm Joint.R"]
    index = "XYZ".index(axis)
    (before, _), (after, _) = frames_in_model(joint), frames_in_model(made)
    assert np.abs(after[:3, index] - FLIP @ before[:3, index]).max() < 1e-6


@pytest.mark.parametrize("free", "XYZ")
def test_a_generic_joint_that_is_a_hinge_keeps_its_limits_as_a_hinge_does(free):
    joint = straight_joint("GENERIC")
    limits, drives = joint.usdphys.joint.limits, joint.usdphys.joint.drives
    for axis in "XYZ":
        low, high = (-0.25, 0.75) if axis == free else (1.0, -1.0)
        scenes.assign(getattr(limits, f"rot{axis}"), is_applied=True, low=low, high=high)
    scenes.assign(getattr(drives, f"rot{free}"), is_applied=True, target_position=0.5, target_velocity=-0.25)
    mirror_selected()
    made = bpy.data.objects["Arm Joint.R"].usdphys.joint
    limit, drive = getattr(made.limits, f"rot{free}"), getattr(made.drives, f"rot{free}")
    assert (limit.low, limit.high) == (-0.25, 0.75)
    assert (drive.target_position, drive.target_velocity) == (0.5, -0.25)


@pytest.mark.parametrize("across", "XYZ")
def test_a_generic_joint_that_turns_freely_keeps_its_axes(across):
    """Of all ways to mirror a frame the one that turns it least: limits are read where they were set."""
    joint = straight_joint("GENERIC")
    limits = joint.usdphys.joint.limits
    for axis in "XYZ":
        scenes.assign(getattr(limits, f"rot{axis}"), is_applied=True, low=-0.25, high=0.75)
    mirror_selected(axis=across)
    made = bpy.data.objects["Arm Joint.R"]
    (frame, _) = frames_in_model(made)
    assert np.abs(frame[:3, :3] - np.eye(3)).max() < 1e-6
    found = {axis: getattr(made.usdphys.joint.limits, f"rot{axis}") for axis in "XYZ"}
    # Seen in a mirror, what turns about the axis across it turns as before, and the other way about the others.
    assert {axis: (limit.low, limit.high) for axis, limit in found.items()} == {
        axis: (-0.25, 0.75) if axis == across else (-0.75, 0.25) for axis in "XYZ"
    }
