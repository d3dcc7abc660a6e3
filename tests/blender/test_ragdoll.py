# SPDX-License-Identifier: GPL-3.0-or-later
"""Ragdolls: bodies where the bones are, joints that hold, and bones that follow."""

import math

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from usdphys_ext.usdphys_addon.generators import ragdoll
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes

pytestmark = pytest.mark.slow

#: (name, parent, head, tail) of the left half and the middle of a human of 1.8 m; the names are those of Rigify.
BONES = (
    ("spine", "", (0, 0, 0.95), (0, 0, 1.08)), ("spine.001", "spine", (0, 0, 1.08), (0, 0, 1.25)),
    ("spine.002", "spine.001", (0, 0, 1.25), (0, 0, 1.5)), ("neck", "spine.002", (0, 0, 1.5), (0, 0, 1.6)),
    ("head", "neck", (0, 0, 1.6), (0, 0, 1.8)), ("upper_arm.L", "spine.002", (0.2, 0, 1.45), (0.48, 0, 1.45)),
    ("forearm.L", "upper_arm.L", (0.48, 0, 1.45), (0.74, -0.02, 1.45)),
    ("hand.L", "forearm.L", (0.74, -0.02, 1.45), (0.9, -0.02, 1.45)),
    ("f_index.01.L", "hand.L", (0.9, -0.02, 1.45), (0.98, -0.02, 1.45)),
    ("thigh.L", "spine", (0.1, 0, 0.95), (0.1, -0.02, 0.5)), ("shin.L", "thigh.L", (0.1, -0.02, 0.5), (0.1, 0, 0.08)),
    ("foot.L", "shin.L", (0.1, 0, 0.08), (0.1, -0.15, 0.02)),
)  # fmt: skip
WOLF = (
    ("spine", "", (0, 0.5, 0.7), (0, 0.1, 0.75)), ("spine.001", "spine", (0, 0.1, 0.75), (0, -0.4, 0.8)),
    ("head", "spine.001", (0, -0.5, 0.9), (0, -0.75, 0.9)), ("tail", "spine", (0, 0.5, 0.7), (0, 0.9, 0.6)),
    ("thigh.L", "spine", (0.1, 0.5, 0.65), (0.1, 0.45, 0.35)),
    ("shin.L", "thigh.L", (0.1, 0.45, 0.35), (0.1, 0.5, 0.05)),
    ("front_thigh.L", "spine.001", (0.1, -0.35, 0.65), (0.1, -0.3, 0.35)),
    ("front_shin.L", "front_thigh.L", (0.1, -0.3, 0.35), (0.1, -0.3, 0.05)),
)  # fmt: skip


def add_armature(rows=BONES, unit=1.0, rename=lambda name: name):
    data = bpy.data.armatures.new("Rig")
    obj = scenes.add("Rig", data)
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in rows:
        for side, sign in ((".L", 1), (".R", -1)) if name.endswith(".L") else (("", 1),):
            bone = data.edit_bones.new(rename(name[:-2] + side if side else name))
            bone.head = Vector((head[0] * sign, head[1], head[2])) * unit
            bone.tail = Vector((tail[0] * sign, tail[1], tail[2])) * unit
            above = parent[:-2] + side if parent.endswith(".L") else parent
            bone.parent = data.edit_bones.get(rename(above)) if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


def test_a_rig_that_is_one_vertical_line_is_said_to_balance() -> None:
    """It fell on its end and stood there for ever, without a word."""
    rows = [(f"spine.{k}", f"spine.{k - 1}" if k else "", (0, 0, 1 + 0.3 * k), (0, 0, 1.3 + 0.3 * k)) for k in range(3)]
    for tilt, is_said in ((0.0, True), (0.01, False)):
        pole = add_armature(rows)
        pole.rotation_euler.x = tilt
        select(pole)
        assert ragdoll.make_ragdoll(bpy.context, ragdoll.RagdollOptions()).is_upright is is_said
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def add_skin(armature, radius=0.05):
    """A tube around each bone, weighted to it."""
    made = bmesh.new()
    for bone in armature.data.bones:
        along = bone.matrix_local @ Matrix.Translation((0, bone.length / 2, 0)) @ Matrix.Rotation(math.pi / 2, 4, "X")
        bmesh.ops.create_cone(made, cap_ends=True, segments=16, radius1=radius, radius2=radius, depth=bone.length,
                              matrix=along)  # fmt: skip
    data = bpy.data.meshes.new("Skin")
    made.to_mesh(data)
    made.free()
    skin = scenes.add("Skin", data)
    each = len(data.vertices) // len(armature.data.bones)
    for number, bone in enumerate(armature.data.bones):
        skin.vertex_groups.new(name=bone.name).add(range(number * each, (number + 1) * each), 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    return skin


def select(*objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]
    bpy.context.view_layer.update()


def floor(unit=1.0):
    obj = scenes.add_box("Floor", (20 * unit, 20 * unit, 0.5 * unit), location=(0, 0, -0.5 * unit))
    scenes.make_collider(obj)
    return obj


def of(name, kind="Body"):
    return bpy.data.objects[f"{name} {kind}"]


def bodies():
    return [obj for obj in bpy.data.objects if obj.usdphys.rigid_body.is_applied]


def joints():
    return [obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]


def anchors():
    """Place of each joint in the space of its two bodies."""
    found = []
    for obj in joints():
        joint = obj.usdphys.joint
        place = obj.matrix_world.translation
        sides = (joint.body0, joint.body1)
        found.append([(body.name, body.matrix_world.inverted() @ place) for body in sides])
    return found


def separation(held):
    ends = [[bpy.data.objects[name].matrix_world @ place for name, place in sides] for sides in held]
    return max((one - other).length for one, other in ends)


@pytest.mark.parametrize("has_skin", [False, True])
def test_a_tiny_hip_bone_as_of_imported_files_is_as_large_as_a_pelvis_and_holds(has_skin):
    """BVH has no tails: the hips of such a file were 7 mm long. The box of 9 kg and 7 mm ended in NaN after 1.5 s."""
    rows = (("spine", "", (0, 0, 0.95), (0, 0, 0.957)), *BONES[1:])
    rig = add_armature(rows)
    if has_skin:
        add_skin(rig)
    select(rig)
    bpy.ops.usdphys.ragdoll()
    (root,) = [obj for obj in bpy.context.selected_objects if obj.name.startswith("spine Body")]
    # 0.13 m to the next of the spine, 0.1 m to the thighs.
    assert root.usdphys.colliders[0].size[1] > 0.1
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    while session.world.time < 2.5:
        session.simulate(bpy.context)
    assert np.isfinite(session.world.velocities()[0]).all()


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_joints_of_an_articulated_ragdoll_have_an_armature_that_is_small_against_what_hangs_on_them(meters):
    """Newton makes three hinges of a ball; where two line up nothing else resists, and one fall in five was lost."""
    bpy.context.scene.unit_settings.scale_length = meters
    select(add_armature(unit=1.0 / meters))
    bpy.ops.usdphys.ragdoll()
    model = scenes.read_model()
    found = {prim.label: prim.schemas["NewtonJointAPI"].armature for prim in model.prims.values()
             if "NewtonJointAPI" in prim.schemas}  # fmt: skip
    assert len(found) == len(joints())
    # A shin with its foot, 0.42 m long: a thousandth of m (2 l)².
    (shin,) = [value for name, value in found.items() if name.startswith("shin.L")]
    assert shin == pytest.approx(0.001 * 75 * (0.0457 + 0.0133) * 0.84**2, rel=0.1)


@pytest.mark.parametrize(("size", "meters"), [(1.0, 1.0), (1.0, 0.01), (0.1, 1.0), (6.0, 0.01)])
def test_dolls_and_giants_are_as_limp_as_humans(size, meters):
    """Motions are alike if times go with the root of lengths: damping by m sqrt(g l³), friction by m g l."""
    bpy.context.scene.unit_settings.scale_length = meters
    rig = add_armature(unit=size / meters)
    widest = meters * max(np.ptp([(*bone.head_local, *bone.tail_local) for bone in rig.data.bones], axis=0)[3:])
    select(rig)
    bpy.ops.usdphys.ragdoll(mass=75 * size**3)
    model = scenes.read_model()
    (shin,) = [prim for prim in model.prims.values()
               if prim.label.startswith("shin.L") and "NewtonJointAPI" in prim.schemas]  # fmt: skip
    mass, length = 75 * size**3 * (0.0457 + 0.0133), 0.42 * size
    assert shin.schemas["NewtonJointAPI"].friction == pytest.approx(0.03 * mass * 9.81 * length, rel=0.02)
    damping = shin.schemas["PhysicsDriveAPI:angular"].damping
    assert damping == pytest.approx(0.25 * mass * math.sqrt(9.81 * length**3), rel=0.02)
    (loss,) = {prim.schemas["PhysxRigidBodyAPI"].angular_damping for prim in model.prims.values()
            if "PhysxRigidBodyAPI" in prim.schemas}  # fmt: skip
    assert loss == pytest.approx(0.2 * math.sqrt(9.81 / widest), rel=0.02)
    # PhysX lost a doll of 0.2 m whose arms went round by 125 degrees in a step.
    fastest = {getattr(value, "max_joint_velocity", None) for name, value in shin.schemas.items()
               if name.startswith("PhysxJointAxisAPI")}  # fmt: skip
    assert len(fastest) == (size < 0.5)


def joint_of(name):
    return next(obj for obj in joints() if obj.usdphys.joint.body1.name == f"{name} Body")


def pose(joint, axis, degrees):
    """Turn the body of a joint about an axis of it."""
    body, place = joint.usdphys.joint.body1, joint.matrix_world.translation
    turn = Matrix.Rotation(math.radians(degrees), 4, joint.matrix_world.to_3x3().col["XYZ".index(axis)])
    body.matrix_world = Matrix.Translation(place) @ turn @ Matrix.Translation(-place) @ body.matrix_world
    bpy.context.view_layer.update()


def test_a_limit_from_a_pose_counts_from_the_pose_in_which_the_ragdoll_was_made():
    """The first pose became the zero, and what was 110 degrees was 160: joints kept no frames in the bodies."""
    select(add_armature())
    bpy.ops.usdphys.ragdoll()
    hip, knee = joint_of("thigh.L"), joint_of("shin.L")
    start = hip.usdphys.joint.limits.rotZ.low
    pose(hip, "Z", 50)
    select(hip)
    bpy.ops.usdphys.joint_limit_from_pose(which="UPPER", dof="rotZ")
    flex = hip.usdphys.joint.limits.rotZ
    assert (flex.low, flex.high) == pytest.approx((start, math.radians(50)), abs=1e-4)
    pose(knee, "Y", -60)
    select(knee)
    bpy.ops.usdphys.joint_limit_from_pose(which="LOWER")
    # The shin did not go with the thigh.
    assert knee.usdphys.joint.revolute.lower_limit == pytest.approx(math.radians(-60 - 50), abs=1e-4)


def test_limits_of_one_side_of_a_ragdoll_are_mirrored_to_the_other():
    """'thigh.L Body' was a name without a side."""
    select(add_armature())
    bpy.ops.usdphys.ragdoll()
    hip = joint_of("thigh.L").usdphys.joint.limits
    hip.rotZ.high, hip.rotY.low, hip.rotY.high = 0.7, -0.2, 0.5
    places = {obj.name: obj.matrix_world.copy() for obj in bodies()}
    select(*(obj for obj in (*bodies(), *joints()) if ".L " in obj.name))
    assert bpy.ops.usdphys.mirror_physics(axis="X") == {"FINISHED"}
    assert len(bodies()) == 16 and len(joints()) == 15
    bpy.context.view_layer.update()
    for name, place in places.items():
        assert np.array(of(name.removesuffix(" Body")).matrix_world) == pytest.approx(np.array(place), abs=1e-5)
    # An angle about an axis is an axial vector: its parts along the plane change their sign.
    ends = []
    for side in "LR":
        joint = joint_of(f"thigh.{side}")
        axes, limits = joint.matrix_world.to_3x3().normalized(), joint.usdphys.joint.limits
        own = [axes.col[n] * angle for n, dof in ((1, limits.rotY), (2, limits.rotZ)) for angle in (dof.low, dof.high)]
        ends.append(np.array(own) * ((1, -1, -1) if side == "L" else (1, 1, 1)))
    for end in ends[0]:
        assert np.abs(ends[1] - end).max(axis=1).min() < 1e-4


@pytest.mark.parametrize(("articulation", "meters"), [(True, 1.0), (False, 0.01)])
def test_a_ragdoll_falls_holds_together_and_comes_to_rest(articulation, meters):
    """A fall is chaotic: of 18 falls of an articulation, a limb between two limits went on moving in one. So of two."""
    speeds = []
    for lean in (0.4, 0.43):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        speeds.append(speed_after_a_fall(lean, articulation, meters))
        if speeds[-1] < 0.01:
            break
    assert speeds[-1] < 0.01, speeds


def speed_after_a_fall(lean, articulation, meters):
    """The speed (m/s) of the fastest body after 5 s; the rig leans forwards by an angle (rad)."""
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1.0 / meters
    floor(unit)
    rig = add_armature(unit=unit)
    rig.location, rig.rotation_euler = (0, 0, 0.5 * unit), (lean, 0.2, 0)
    select(rig)
    assert bpy.ops.usdphys.ragdoll(articulation=articulation) == {"FINISHED"}
    assert len(bodies()) == 16 and len(joints()) == 15
    assert sum(obj.usdphys.mass.mass for obj in bodies()) == pytest.approx(75.0)
    bpy.context.view_layer.update()
    held = anchors()
    session = preview_guard.start(bpy.context)
    worst = 0.0
    while session.world.time < 5.0:
        session.step_once(bpy.context)
        worst = max(worst, separation(held) * meters)
    assert worst < 0.005
    heights = [obj.matrix_world.translation.z * meters for obj in bodies()]
    assert min(heights) > -0.01 and max(heights) < 0.7
    # The bones are where the bodies are.
    bone = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["forearm.L"]
    place = (rig.matrix_world @ bone.matrix).translation
    assert (place - of("forearm.L").matrix_world.translation).length * meters < 1e-4
    fastest = float(np.linalg.norm(session.world.velocities()[0], axis=1).max())
    preview_guard.stop()
    return fastest


def test_bodies_have_the_axes_of_the_bones_in_the_present_pose_and_the_bones_stay():
    rig = add_armature()
    rig.location, rig.rotation_euler, rig.scale = (1, 2, 3), (0.1, 0.2, 0.3), (0.01,) * 3
    rig.pose.bones["upper_arm.L"].rotation_mode = "XYZ"
    rig.pose.bones["upper_arm.L"].rotation_euler = (0.5, 0, 0.2)
    select(rig)
    before = {bone.name: rig.matrix_world @ bone.matrix for bone in rig.pose.bones}
    bpy.ops.usdphys.ragdoll()
    bpy.context.view_layer.update()
    for name in ("spine", "upper_arm.L", "forearm.L", "foot.R"):
        assert np.array(of(name).matrix_world) == pytest.approx(np.array(before[name]), abs=1e-6)
    for bone in rig.pose.bones:
        assert np.array(rig.matrix_world @ bone.matrix) == pytest.approx(np.array(before[bone.name]), abs=1e-6)


def test_bones_whose_scale_is_uneven_by_rounding_make_bodies_without():
    """Those of a horse's tail were: every capsule was an error of the checks."""
    rig = add_armature()
    rig.pose.bones["shin.L"].scale = (1.0, 1.00002, 0.99999)
    select(rig)
    bpy.ops.usdphys.ragdoll()
    sizes = np.linalg.norm(np.array(of("shin.L").matrix_world)[:3, :3], axis=0)
    assert np.ptp(sizes) < 1e-6


def test_one_influence_blends_between_animation_and_physics():
    rig = add_armature()
    select(rig)
    bpy.ops.usdphys.ragdoll()
    start = of("head").matrix_world.translation.copy()
    of("head").location.z += 1.0
    for influence in (1.0, 0.5, 0.0):
        rig["ragdoll"] = influence
        rig.update_tag()
        bpy.context.view_layer.update()
        bone = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["head"]
        assert bone.matrix.translation.z == pytest.approx(start.z + influence, abs=1e-4)


def test_shapes_fit_the_mesh_and_knees_and_elbows_are_hinges():
    rig = add_armature()
    skin = add_skin(rig, 0.06)
    select(skin)
    bpy.ops.usdphys.ragdoll()
    (item,) = of("forearm.L").usdphys.colliders
    assert item.shape == "CAPSULE" and item.radius == pytest.approx(0.06, rel=0.05)
    assert item.height + 2 * item.radius == pytest.approx(rig.data.bones["forearm.L"].length, rel=0.02)
    kinds = {obj.usdphys.joint.body1.name: obj.usdphys.joint.type for obj in joints()}
    hinges = {name for name, kind in kinds.items() if kind == "REVOLUTE"}
    assert hinges == {f"{bone}.{side} Body" for bone in ("forearm", "shin") for side in "LR"}
    (box,) = of("foot.L").usdphys.colliders
    assert box.shape == "CUBE"


@pytest.mark.parametrize("roll", [0.0, 0.7])
def test_the_box_of_a_foot_is_level_on_its_sole_although_the_bone_points_down(roll):
    rig = add_armature()
    bpy.ops.object.mode_set(mode="EDIT")
    for side in ("L", "R"):
        rig.data.edit_bones[f"foot.{side}"].roll += roll
    bpy.ops.object.mode_set(mode="OBJECT")
    shoes = [
        scenes.add_box(f"Shoe {side}", (0.05, 0.12, 0.04), location=(sign * 0.1, -0.08, 0.04), parent=rig)
        for side, sign in (("L", 1), ("R", -1))
    ]
    for side, shoe in zip("LR", shoes, strict=True):
        shoe.vertex_groups.new(name=f"foot.{side}").add(range(len(shoe.data.vertices)), 1.0, "REPLACE")
        shoe.modifiers.new("Armature", "ARMATURE").object = rig
    select(rig)
    bpy.ops.usdphys.ragdoll()
    for side in "LR":
        body = of(f"foot.{side}")
        (box,) = body.usdphys.colliders
        turn = body.matrix_world.to_3x3() @ box.rotation.to_matrix()
        assert abs(turn.col[2].z) == pytest.approx(1.0, abs=1e-3)
        middle = body.matrix_world @ Vector(box.location)
        assert middle.z - box.size[2] / 2 == pytest.approx(0.0, abs=2e-3)


def test_a_rig_with_numbers_for_names_is_a_human_by_its_form():
    numbers = {}
    rig = add_armature(rename=lambda name: f"Bone.{numbers.setdefault(name, len(numbers)):03}")
    select(rig)
    bpy.ops.usdphys.ragdoll()
    assert sum(obj.usdphys.mass.mass for obj in bodies()) == pytest.approx(75.0)
    assert sum(obj.usdphys.joint.type == "REVOLUTE" for obj in joints()) == 4


def test_bones_that_an_import_made_a_hundred_times_too_long_make_bodies_of_their_true_size():
    """Blender reads the skeletons of Mixamo's glTF files so. All bodies overlapped, and were 43 m long."""
    found = []
    for factor in (1.0, 100.0):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rows = [(name, above, at, tuple(np.add(at, factor * np.subtract(to, at)))) for name, above, at, to in BONES]
        select(add_armature(rows))
        bpy.ops.usdphys.ragdoll()
        found.append({obj.name: obj.usdphys.colliders[0] for obj in bodies()})
        found[-1] = {name: (*one.size, one.radius, one.height) for name, one in found[-1].items()}
        assert sum(len(obj.usdphys.filtered_pairs.filtered_pairs) for obj in bodies()) <= 2
    # What hangs on a bone is not always at its end.
    assert found[0].keys() == found[1].keys()
    for name, sizes in found[0].items():
        assert found[1][name] == pytest.approx(sizes, rel=0.3), name


@pytest.mark.parametrize("letter", "XZ")
def test_bodies_lie_along_limbs_whose_bones_have_another_axis_along_them(letter):
    """FBX and glTF files mean any axis, and Blender shows bones along Y: those of Mixamo's arms stuck out of them."""
    armature = add_armature()
    skin = add_skin(armature, 0.06)
    select(armature)
    bpy.ops.usdphys.ragdoll()
    usual = {obj.name: world_box(obj) for obj in bodies()}
    for obj in [*bodies(), *(obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied)]:
        bpy.data.objects.remove(obj)
    for bone in armature.pose.bones:
        bone.constraints.remove(bone.constraints[0]) if bone.constraints else None
    select(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    turn = Matrix.Rotation(math.pi / 2, 4, "Z" if letter == "X" else "X")
    for bone in armature.data.edit_bones:
        bone.use_connect = False
        bone.matrix = bone.matrix @ turn
    bpy.ops.object.mode_set(mode="OBJECT")
    assert skin.modifiers[0].object == armature
    bpy.ops.usdphys.ragdoll()
    for name, (low, high) in usual.items():
        obj = bpy.data.objects[name]
        if obj.usdphys.colliders[0].shape == "CAPSULE" and "head" not in name:
            assert obj.usdphys.colliders[0].axis == letter, name
            assert world_box(obj) == (pytest.approx(low, abs=0.05), pytest.approx(high, abs=0.05)), name


def world_box(obj):
    """Lowest and highest corner of the collider of a body."""
    own = obj.usdphys.colliders[0]
    half = np.array(own.size) / 2.0
    if own.shape == "CAPSULE":
        half = np.full(3, own.radius)
        half["XYZ".index(own.axis)] += own.height / 2.0
    world = np.array(obj.matrix_world)
    center = world[:3, :3] @ np.array(own.location) + world[:3, 3]
    reach = np.abs(world[:3, :3]) @ half
    return center - reach, center + reach


def test_rigid_parts_of_a_robot_give_bodies_their_shapes():
    """They hang on bones, without weights."""
    armature = add_armature()
    part = scenes.add_box("Chest", (0.3, 0.1, 0.12), location=(0, 0, 1.375))
    part.parent, part.parent_type, part.parent_bone = armature, "BONE", "spine.002"
    part.matrix_world = Matrix.Translation((0, 0, 1.375))
    select(armature)
    bpy.ops.usdphys.ragdoll()
    (own,) = of("spine.002").usdphys.colliders
    assert sorted((own.size[0], own.size[2])) == pytest.approx([0.2, 0.6], rel=0.02)


def test_shapes_that_overlap_without_a_joint_are_filtered():
    rig = add_armature()
    add_skin(rig, 0.13)
    select(rig)
    bpy.ops.usdphys.ragdoll()
    pairs = {
        frozenset((obj.name, other.object.name)) for obj in bodies() if obj.usdphys.filtered_pairs.is_applied
        for other in obj.usdphys.filtered_pairs.filtered_pairs
    }  # fmt: skip
    assert frozenset(("thigh.L Body", "thigh.R Body")) in pairs
    joined = {frozenset((obj.usdphys.joint.body0.name, obj.usdphys.joint.body1.name)) for obj in joints()}
    assert not pairs & joined


def test_a_wolf_weighs_its_volume_and_has_a_body_for_each_bone():
    rig = add_armature(WOLF)
    add_skin(rig, 0.05)
    select(rig)
    bpy.ops.usdphys.ragdoll()
    assert len(bodies()) == 12
    bone = rig.data.bones["tail"]
    volume = math.pi * 0.05**2 * (bone.length - 2 * 0.05 + 4 / 3 * 0.05)
    assert of("tail").usdphys.mass.mass == pytest.approx(1000 * volume, rel=0.1)


def test_a_bake_keys_the_bones_which_then_move_without_the_ragdoll():
    floor()
    rig = add_armature()
    rig.location.z = 0.5
    select(rig)
    bpy.ops.usdphys.ragdoll()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    select(rig)
    assert bpy.ops.usdphys.ragdoll_bake() == {"FINISHED"}
    assert rig["ragdoll"] == 0.0
    scene.frame_set(1)
    first = (rig.matrix_world @ rig.pose.bones["head"].matrix).translation.z
    scene.frame_set(13)
    fallen = first - (rig.matrix_world @ rig.pose.bones["head"].matrix).translation.z
    # Half a second of free fall is 1.2 m; the feet touch the ground after 0.32 s.
    assert 0.3 < fallen < 1.23
    assert of("head").animation_data is None


def test_an_active_ragdoll_follows_the_animation_and_sags_as_its_springs_do():
    scene, meters, way = bpy.context.scene, 0.01, 0.5
    scene.unit_settings.scale_length = meters
    unit = 1.0 / meters
    rig = add_armature(unit=unit)
    rig.location.z = 2 * unit
    arm = rig.pose.bones["upper_arm.L"]
    arm.rotation_mode = "XYZ"
    for frame, turn in ((1, 0.0), (10, 0.6)):
        arm.rotation_euler.x, rig.location.x = turn, way * turn * unit
        arm.keyframe_insert("rotation_euler", frame=frame)
        rig.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    scene.frame_start, scene.frame_end = 1, 26
    select(rig)
    bpy.ops.usdphys.ragdoll(active=True, frequency=4.0)
    select(rig)
    bpy.ops.usdphys.ragdoll_bake()
    scene.frame_set(26)
    wanted = bpy.data.objects["Rig Animation"]
    assert wanted.pose.bones["upper_arm.L"].rotation_euler.x == pytest.approx(0.6)
    poses = [[obj.matrix_world @ obj.pose.bones[name].matrix for name in ("spine", "upper_arm.L")]
             for obj in (rig, wanted)]  # fmt: skip
    sag = poses[1][0].translation - poses[0][0].translation
    # Springs of the angular frequency w sag by g / w².
    assert np.array(sag) * meters == pytest.approx((0, 0, 9.81 / (2 * math.pi * 4.0) ** 2), abs=2e-4)
    apart = poses[0][1].to_quaternion().rotation_difference(poses[1][1].to_quaternion())
    assert math.degrees(apart.angle) < 5.0


def add_rigify():
    """A rig as Rigify generates it: DEF bones on ORG bones, both held by controls, and thighs cut in two."""
    rig = add_armature()
    rows = [(bone.name, bone.parent.name if bone.parent else "") for bone in rig.data.bones]
    bpy.ops.object.mode_set(mode="EDIT")
    edit = rig.data.edit_bones
    for name, parent in rows:
        for kind in ("ORG", "DEF"):
            bone = edit.new(f"{kind}-{name}")
            bone.head, bone.tail, bone.roll = edit[name].head, edit[name].tail, edit[name].roll
            is_spine = kind == "DEF" and parent and not name.endswith((".L", ".R"))
            if parent:
                bone.parent = edit[f"{'DEF' if is_spine else 'ORG'}-{parent}"]
        if name.startswith("thigh"):
            first, second = edit[f"DEF-{name}"], edit.new(f"DEF-{name}.001")
            second.tail, second.roll = first.tail, first.roll
            first.tail = second.head = (first.head + first.tail) / 2.0
            second.parent, second.use_connect = first, True
    for name, _ in rows:
        edit[name].name = f"{name}_fk"
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.bone.use_deform = bone.name.startswith("DEF-")
        if bone.name[:4] in ("DEF-", "ORG-"):
            held = bone.constraints.new("COPY_TRANSFORMS" if not bone.name.endswith(".001") else "COPY_ROTATION")
            control = bone.name[4:].removesuffix(".001") if "thigh" in bone.name else bone.name[4:]
            held.target, held.subtarget = rig, f"{control}_fk"
    return rig


def test_a_generated_rig_hangs_together_and_all_that_deforms_falls():
    """Arms hung on the pelvis, a control became a body, and fingers stayed where the controls were."""
    rig = add_rigify()
    select(rig)
    bpy.ops.usdphys.ragdoll()
    pairs = {obj.usdphys.joint.body1.name: obj.usdphys.joint.body0.name for obj in joints()}
    assert len(pairs) == 15 and all(name.startswith("DEF-") for name in pairs)
    assert pairs["DEF-upper_arm.L Body"] == "DEF-spine.002 Body" and pairs["DEF-thigh.R Body"] == "DEF-spine Body"
    (thigh,) = of("DEF-thigh.L").usdphys.colliders
    assert thigh.height + 2 * thigh.radius == pytest.approx(2 * rig.data.bones["DEF-thigh.L"].length, rel=0.01)
    deforming = [bone.name for bone in rig.pose.bones if bone.bone.use_deform]
    before = {name: rig.matrix_world @ rig.pose.bones[name].matrix for name in deforming}
    moved = Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(0.7, 4, "X")
    for obj in bodies():
        obj.matrix_basis = moved @ obj.matrix_basis
    bpy.context.view_layer.update()
    for name in deforming:
        assert np.array(rig.pose.bones[name].matrix) == pytest.approx(np.array(moved @ before[name]), abs=1e-4), name
    bpy.context.scene.frame_end = 12
    select(rig)
    assert bpy.ops.usdphys.ragdoll_bake() == {"FINISHED"}
    bpy.context.scene.frame_set(12)
    fallen = [(moved @ before[name]).translation.z - rig.pose.bones[name].matrix.translation.z for name in deforming]
    # 11 frames are 0.458 s of free fall. They were hidden by the constraints of the rig.
    assert fallen == pytest.approx([9.81 / 2 * 0.458**2] * len(deforming), rel=0.15)


def test_inverse_kinematics_give_way_to_the_ragdoll():
    rig = add_armature()
    hold = rig.pose.bones["shin.L"].constraints.new("IK")
    hold.target, hold.chain_count, hold.influence = scenes.add("Goal", None, location=(0.1, 0, 0.1)), 2, 0.5
    select(rig)
    bpy.ops.usdphys.ragdoll()
    of("shin.L").location.z += 1.0
    for influence, weight in ((1.0, 0.0), (0.5, 0.25), (0.0, 0.5)):
        rig["ragdoll"] = influence
        rig.update_tag()
        bpy.context.view_layer.update()
        assert hold.influence == pytest.approx(weight)
        if influence == 1.0:
            bone = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["shin.L"]
            assert np.array(bone.matrix) == pytest.approx(np.array(of("shin.L").matrix_world), abs=1e-5)


def test_a_ragdoll_whose_bodies_were_deleted_can_be_made_again():
    rig = add_armature()
    for _ in range(2):
        select(rig)
        assert bpy.ops.usdphys.ragdoll() == {"FINISHED"}
        for obj in [*bodies(), *joints()]:
            bpy.data.objects.remove(obj)
    assert all(len(bone.constraints) <= 1 for bone in rig.pose.bones)
    assert len(rig.animation_data.drivers) == 16


def test_a_mesh_that_hangs_on_a_bone_finds_its_armature_and_of_two_armatures_none_is_left_out():
    rig = add_armature()
    helmet = scenes.add_box("Helmet", (0.1, 0.1, 0.1))
    helmet.parent, helmet.parent_type, helmet.parent_bone = rig, "BONE", "head"
    select(helmet)
    assert ragdoll.armature_of(bpy.context) == rig
    select(rig, add_armature())
    with pytest.raises(RuntimeError, match=r"Select one armature, not 'Rig"):
        bpy.ops.usdphys.ragdoll()


@pytest.mark.parametrize("what", ["nothing", "uneven", "twice"])
def test_what_makes_no_ragdoll_is_refused(what):
    rig = add_armature()
    if what == "nothing":
        select(scenes.add_box("Box"))
    elif what == "uneven":
        rig.scale = (1, 1, 2)
        select(rig)
    else:
        select(rig)
        ragdoll.make_ragdoll(bpy.context, ragdoll.RagdollOptions())
        select(rig)
    before = set(bpy.data.objects)
    with pytest.raises(RuntimeError):
        bpy.ops.usdphys.ragdoll()
    assert set(bpy.data.objects) == before
