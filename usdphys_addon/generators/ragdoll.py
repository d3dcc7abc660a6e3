# SPDX-License-Identifier: GPL-3.0-or-later
"""A ragdoll from an armature: bodies with the axes of their bones, joints with limits, and bones that follow."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import bpy
import mathutils
import numpy as np
from bpy.types import Collection, Context, Object

from ..bridge import mesh as meshes
from ..bridge import scene_read
from ..bridge.writing import unit_length
from ..core import frames, overlap
from ..core.building import ragdolls
from ..core.errors import InputError
from ..core.model import PhysicsModel
from ..core.words import named, phrase
from ..playback import bake
from . import damping, joints, shapes

#: Custom property of the armature: how far the bones follow the bodies.
INFLUENCE = "ragdoll"
#: Name of the constraints.
CONSTRAINT = "Ragdoll"
#: The driver of a constraint of inverse kinematics: its own influence, and what the ragdoll leaves of it.
_SHARE = re.compile(rf"([0-9.e+-]+) \* \(1 - {INFLUENCE}\)")
#: Gravity for what resists, m/s².
_GRAVITY = 9.81
#: At a damping of 1: resistance of a joint to its speed, by m sqrt(g l³) of the mass beyond it and the length of its
#: bone; friction, by m g l: a limb stays where it hangs within twice so many radians, for its weight acts at l / 2.
_JOINT_DAMPING, _JOINT_FRICTION = 0.5, 0.06
#: Height, m, below which joints go no faster than so many rad/s, half a radian in a step of PhysX at 60 steps a second:
#: it lost a doll of 0.2 m that spun, whose arms went round by 125 degrees in a step.
_SMALL, _FASTEST = 0.9, 30.0
#: Losses of speed of a body, moving and turning, by sqrt(g / l) of the size of the rig.
_BODY_DAMPING = (0.04, 0.4)
#: Of PhysX: joints of a doll of 1 m that hit the ground were 20 mm apart with 16, 5 mm with 64, and 1.2 mm with 128.
_ITERATIONS = 128
#: Armature of a joint, as a part of the inertia beyond it. Newton makes a ball of three hinges, which resists nothing
#: about two of them where they line up.
_ARMATURE = 0.001
#: Width of a rig that is one vertical line, as a part of its height.
_UPRIGHT = 1e-3
#: Scales of an axis that differ by less than this part are one.
_ROUNDING = 1e-3

Bones = Sequence[ragdolls.Bone]
Parts = Sequence[ragdolls.Part]


@dataclass(frozen=True, slots=True)
class RagdollOptions:
    """detail: LOW, MEDIUM or HIGH, see `ragdolls.parts_of`. mass: kg; 0 for that of the volumes (a human: 75 kg).

    damping: 0 to 1, of bodies and joints. articulation: the bodies are one articulation. follows: the bones follow.
    frequency: Hz, of the drives that pull the bodies after the animation; 0 for none.
    """

    detail: str = "MEDIUM"
    mass: float = 0.0
    damping: float = 0.5
    articulation: bool = True
    follows: bool = True
    frequency: float = 0.0


@dataclass(frozen=True, slots=True)
class Ragdoll:
    armature: Object
    bodies: list[Any]
    joints: list[Any]
    filtered: int
    is_human: bool
    is_upright: bool


def armature_of(context: Context) -> Any:
    """The armature that is selected, or that moves the selected mesh. Raises InputError."""
    rigs = [obj for obj in context.selected_objects if obj.type == "ARMATURE"]
    if len(rigs) > 1:
        raise InputError(phrase("Select one armature, not {names}.", names=named([obj.name for obj in rigs])))
    for obj in (*rigs, context.active_object, *context.selected_objects):
        if obj is None or not obj.select_get():
            continue
        if obj.type == "ARMATURE":
            return obj
        for modifier in obj.modifiers:
            if modifier.type == "ARMATURE" and modifier.object is not None:
                return modifier.object
        if obj.parent is not None and obj.parent.type == "ARMATURE":
            return obj.parent
    raise InputError("Select an armature, or a mesh that an armature deforms.")


def _is_upright(bones: Bones) -> bool:
    """True if all bones are in one vertical line."""
    ends = np.array([end for bone in bones for end in (bone.head, bone.tail)])
    width, depth, height = np.ptp(ends, axis=0)
    return bool(max(width, depth) < _UPRIGHT * height)


def make_ragdoll(context: Context, options: RagdollOptions) -> Ragdoll:
    """Make the ragdoll of the selected armature in its present pose. Raises InputError."""
    armature = armature_of(context)
    if armature.library is not None:
        raise InputError(f"'{armature.name}' is linked; make a library override of it first.")
    if _followers(armature):
        raise InputError(f"The bones of '{armature.name}' follow a ragdoll already; remove it first.")
    _release(armature, lambda _target: True)
    context.view_layer.update()
    depsgraph = context.evaluated_depsgraph_get()
    meters = unit_length(context.scene)
    evaluated = armature.evaluated_get(depsgraph)
    world = np.array(evaluated.matrix_world)
    if not frames.is_uniform(frames.scale_of(world)) or frames.determinant(world) <= 0.0:
        raise InputError(f"'{armature.name}' is scaled unevenly or mirrored; apply its scale first (Ctrl A).")
    poses = list(evaluated.pose.bones)
    rows = {bone.name: row for row, bone in enumerate(poses)}
    bones = [
        ragdolls.Bone(
            bone.name, rows[bone.parent.name] if bone.parent is not None else -1,
            np.array(evaluated.matrix_world @ bone.head) * meters,
            np.array(evaluated.matrix_world @ bone.tail) * meters,
            armature.data.bones[bone.name].use_deform,
            frames.rotation_of(np.array(evaluated.matrix_world @ bone.matrix)),
        )
        for bone in poses
    ]  # fmt: skip
    ragdolls.untangle(bones)
    ragdolls.shorten(bones)
    ragdolls.aim(bones)
    parts, is_human = ragdolls.parts_of(bones, options.detail)
    if len(parts) < 2:
        raise InputError(f"'{armature.name}' has no two bones that are long enough for bodies.")
    places = [_even(np.array(evaluated.matrix_world @ poses[part.bone].matrix)) for part in parts]
    points = _points(context, armature, bones, parts, places)
    fits = _fits(bones, parts, places, points, meters)
    volumes = [
        fit.volume * (float(frames.scale_of(place)[0]) * meters) ** 3 for fit, place in zip(fits, places, strict=True)
    ]
    total = options.mass or (75.0 if is_human else 0.0)
    ragdolls.give_masses(bones, parts, total, None if is_human else volumes)
    bodies = _bodies(context, armature, bones, parts, fits, places, options)
    made = _joints(context, bones, parts, bodies, options)
    filtered = _filter(context, bodies, parts)
    if options.frequency > 0.0:
        _lead(context, armature, bones, parts, bodies, options)
    if options.follows:
        _follow(context, armature, bones, parts, bodies)
    shapes.select_only(context, bodies)
    return Ragdoll(armature, bodies, made, filtered, is_human, _is_upright(bones))


def _fits(
    bones: Bones, parts: Parts, places: Sequence[frames.Matrix], points: Sequence[frames.Matrix], meters: float
) -> list[ragdolls.Fit]:
    """The shape of each part in the space of its bone. points (n, 3): of the part, in that space."""
    fits = []
    axes = ragdolls.character_axes(bones, parts)
    above = {part.above for part in parts}
    for number, (part, place, own) in enumerate(zip(parts, places, points, strict=True)):
        scale = float(frames.scale_of(place)[0])
        is_end = number not in above
        if is_end and part.segment in ("", "neck"):
            ragdolls.aim_end(bones[part.bone], own, scale * meters)
        turn = bones[part.bone].turn
        length = ragdolls.reach(bones, parts, number) / (scale * meters)
        lies = _sole(bones, parts, number, own, place, axes) if part.segment == "foot" else None
        fit = ragdolls.fit(part.segment, length, own @ (turn if lies is None else lies), is_end=is_end)
        if lies is None:
            fits.append(fit._replace(center=turn @ fit.center, size=np.abs(turn) @ fit.size))
        else:
            fits.append(fit._replace(center=lies @ fit.center, turn=lies))
    return fits


def _sole(
    bones: Bones,
    parts: Parts,
    number: int,
    points: frames.Matrix,
    place: frames.Matrix,
    axes: ragdolls.Axes,
) -> frames.Matrix | None:
    """The rotation of the box of a foot in the space of its bone; see `ragdolls.sole`."""
    turn = frames.rotation_of(place)
    above = parts[number].above
    shank = bones[parts[above].bone] if above >= 0 and parts[above].segment == "shank" else None
    down = -axes.up if shank is None else shank.tail - shank.head
    return ragdolls.sole(points, turn.T @ axes.left, turn.T @ down)


def _even(place: frames.Matrix) -> frames.Matrix:
    """A matrix (4, 4) with one scale on all axes, if it differs by rounding only, as after long chains of bones."""
    lengths = np.linalg.norm(place[:3, :3], axis=0)
    if np.ptp(lengths) < _ROUNDING * lengths.mean():
        place[:3, :3] *= lengths.mean() / lengths
    return place


# --------------------------------------------------------------------------- vertices


def _points(
    context: Context,
    armature: Object,
    bones: Bones,
    parts: Parts,
    places: Sequence[frames.Matrix],
) -> list[Any]:
    """Vertices (n, 3) that each part moves most, in the space of its bone."""
    owners = {bones[row].name: number for number, part in enumerate(parts) for row in part.bones}
    depsgraph = context.evaluated_depsgraph_get()
    points: list[list[Any]] = [[] for _ in parts]
    for obj in context.view_layer.objects:
        if obj.type != "MESH":
            continue
        if obj.parent == armature and obj.parent_type == "BONE":
            # A rigid part of the character, as robots have them.
            if (number := owners.get(obj.parent_bone)) is not None:
                matrix = np.array(obj.evaluated_get(depsgraph).matrix_world)
                points[number].append(
                    meshes.vertices_of(obj.evaluated_get(depsgraph)) @ matrix[:3, :3].T + matrix[:3, 3]
                )
            continue
        is_moved = any(item.type == "ARMATURE" and item.object == armature for item in obj.modifiers)
        is_moved |= obj.parent == armature and obj.parent_type == "ARMATURE"
        if not is_moved or not obj.vertex_groups:
            continue
        names = {group.index: group.name for group in obj.vertex_groups}
        weights = [
            {names[item.group]: item.weight for item in vertex.groups if item.group in names}
            for vertex in obj.data.vertices
        ]  # fmt: skip
        evaluated = obj.evaluated_get(depsgraph)
        # Modifiers that add vertices leave only those of the rest pose.
        mesh = evaluated.data if len(evaluated.data.vertices) == len(obj.data.vertices) else obj.data
        matrix = np.array(evaluated.matrix_world)
        where = meshes.points_of(mesh) @ matrix[:3, :3].T + matrix[:3, 3]
        part_of = np.array(ragdolls.dominant(weights, owners))
        for number in range(len(parts)):
            points[number].append(where[part_of == number])
    result = []
    for number, place in enumerate(places):
        inverse = np.linalg.inv(place)
        all_points = np.concatenate(points[number]) if points[number] else np.zeros((0, 3))
        result.append(all_points @ inverse[:3, :3].T + inverse[:3, 3])
    return result


# --------------------------------------------------------------------------- bodies and joints


def _bodies(
    context: Context, armature: Object, bones: Bones, parts: Parts, fits: Sequence[ragdolls.Fit],
    places: Sequence[frames.Matrix], options: RagdollOptions,
) -> list[Any]:  # fmt: skip
    collection = bpy.data.collections.new(f"{armature.name} Ragdoll")
    context.collection.children.link(collection)
    linear, angular = (part * options.damping * math.sqrt(_GRAVITY / ragdolls.height(bones)) for part in _BODY_DAMPING)
    bodies = []
    for part, fit, place in zip(parts, fits, places, strict=True):
        obj = shapes.add_object(collection, f"{bones[part.bone].name} Body", None, place)
        obj.empty_display_type, obj.empty_display_size = "PLAIN_AXES", bones[part.bone].length * 0.1
        obj.usdphys.rigid_body.is_applied = True
        obj.usdphys.mass.is_applied = True
        obj.usdphys.mass.mass = part.mass
        if fit.is_box:
            item = shapes.give_box(obj, fit.size.tolist(), fit.center.tolist())
            if fit.turn is not None:
                item.rotation = mathutils.Matrix(fit.turn.tolist()).to_quaternion()
        else:
            axis = "XYZ"[int(np.argmax(np.abs(bones[part.bone].turn[:, 1])))]
            shapes.give_capsule(obj, fit.radius, fit.height, axis, fit.center.tolist())
        damping.set_rows(obj, {
            "linearDamping": linear, "angularDamping": angular,
            "solverPositionIterationCount": _ITERATIONS, "maxDepenetrationVelocity": 1.0 / unit_length(context.scene),
        })  # fmt: skip
        bodies.append(obj)
    if options.articulation:
        bodies[0].usdphys.articulation_root.is_applied = True
    return bodies


def _joints(
    context: Context,
    bones: Bones,
    parts: Parts,
    bodies: list[Any],
    options: RagdollOptions,
) -> list[Any]:
    meters = unit_length(context.scene)
    axes = ragdolls.character_axes(bones, parts)
    joiner = joints.Joiner(context)
    beyond = ragdolls.beyond(parts)
    made = []
    for number, part in enumerate(parts):
        if part.above < 0:
            continue
        plan = ragdolls.joint_plan(bones, parts, number, axes)
        frame = frames.transform(bones[part.bone].head / meters, plan.frame)
        reach = ragdolls.reach(bones, parts, number)
        resistance = options.damping * _JOINT_DAMPING * beyond[number] * math.sqrt(_GRAVITY * reach**3)
        if plan.is_hinge:
            joint = joiner.add("REVOLUTE", bodies[part.above], bodies[number], frame, frame, "Y")
            own = joint.usdphys.joint.revolute
            own.lower_limit, own.upper_limit = plan.flex
            joints.damp(joint, "angular", resistance)
        else:
            joint = joiner.add("GENERIC", bodies[part.above], bodies[number], frame, frame)
            joints.lock(joint, joints.TRANSLATIONS)
            for dof, limits in zip(joints.ROTATIONS, (plan.twist, plan.side, plan.flex), strict=True):
                joints.limit(joint, dof, *limits)
                joints.damp(joint, dof, resistance)
        if options.articulation:
            joints.add_armature(joint, _ARMATURE * beyond[number] * (2.0 * reach) ** 2)
            if ragdolls.height(bones) < _SMALL:
                for dof in ("angular",) if plan.is_hinge else joints.ROTATIONS:
                    joints.slow(joint, dof, _FASTEST)
        if options.damping:
            joints.rub(joint, options.damping * _JOINT_FRICTION * beyond[number] * _GRAVITY * reach)
        made.append(joint)
    return made


def _filter(context: Context, bodies: list[Any], parts: Parts) -> int:
    """Filter pairs of bodies that overlap and have no joint with each other. Returns their number."""
    context.view_layer.update()
    model: PhysicsModel = scene_read.read_scene(context.evaluated_depsgraph_get()).model
    numbers = {obj.name: number for number, obj in enumerate(bodies)}
    owners, colliders = {}, []
    for path, prim in model.colliders.items():
        body = model.body_of(path)
        if body is not None and body.label in numbers:
            owners[path] = numbers[body.label]
            colliders.append((prim, None))
    solids = overlap.solids_of(colliders)
    overlapping = set()
    for one, other in overlap.close_pairs(solids):
        first, second = sorted(owners[solids[row].prim.path] for row in (one, other))
        joined = parts[first].above == second or parts[second].above == first
        if first != second and not joined and overlap.depth(solids[one], solids[other])[0] > 0.0:
            overlapping.add((first, second))
    for first, second in sorted(overlapping):
        pairs = bodies[first].usdphys.filtered_pairs
        pairs.is_applied = True
        pairs.filtered_pairs.add().object = bodies[second]
    return len(overlapping)


# --------------------------------------------------------------------------- an active ragdoll


def _lead(
    context: Context,
    armature: Object,
    bones: Bones,
    parts: Parts,
    bodies: list[Any],
    options: RagdollOptions,
) -> None:
    """Pull each body after its animated bone: a kinematic Empty copies the bone, and a joint with springs leads on.

    The bones of the armature follow the bodies, so a copy of it plays the animation.
    """
    animated = _animated_copy(context, armature, bodies[0].users_collection[0])
    beyond = ragdolls.beyond(parts)
    leaders = []
    for part, body in zip(parts, bodies, strict=True):
        leader = shapes.add_object(body.users_collection[0], f"{bones[part.bone].name} Leader", None, body.matrix_basis)
        leader.empty_display_size = body.empty_display_size / 2.0
        leader.usdphys.rigid_body.is_applied = leader.usdphys.rigid_body.kinematic_enabled = True
        copied = leader.constraints.new("COPY_TRANSFORMS")
        copied.target, copied.subtarget = animated, bones[part.bone].name
        leaders.append(leader)
    joiner = joints.Joiner(context)
    rate = 2.0 * math.pi * options.frequency
    for number, (body, leader) in enumerate(zip(bodies, leaders, strict=True)):
        joint = joiner.add("GENERIC", leader, body, frames.transform(body.matrix_world.translation, _turn(body)))
        joint.usdphys.joint.exclude_from_articulation = True
        held = dict.fromkeys(joints.ROTATIONS, beyond[number] * ragdolls.reach(bones, parts, number) ** 2)
        if number == 0:
            held |= dict.fromkeys(joints.TRANSLATIONS, beyond[0])
        for dof, inertia in held.items():
            joints.damp(joint, dof, 2.0 * inertia * rate, inertia * rate**2)


def _turn(obj: Object) -> Any:
    return frames.rotation_of(np.array(obj.matrix_world))


def _animated_copy(context: Context, armature: Any, collection: Collection) -> Any:
    """A hidden copy of an armature with its animation; what refers to the armature itself refers to the copy there."""
    copy = armature.copy()
    copy.name = f"{armature.name} Animation"
    collection.objects.link(copy)
    for bone in copy.pose.bones:
        for item in bone.constraints:
            if getattr(item, "target", None) == armature:
                item.target = copy
    for curve in copy.animation_data.drivers if copy.animation_data is not None else ():
        for variable in curve.driver.variables:
            for target in variable.targets:
                if target.id == armature:
                    target.id = copy
    context.view_layer.update()
    copy.hide_set(True)
    copy.hide_render = True
    return copy


# --------------------------------------------------------------------------- bones


def _follow(
    context: Context,
    armature: Any,
    bones: Bones,
    parts: Parts,
    bodies: list[Any],
) -> None:
    """Let bones copy the transforms of bodies, with one influence for all: a property of the armature.

    In rigs with controls, other bones have constraints that hold them where the controls are: they follow as well.
    """
    armature[INFLUENCE] = 1.0
    armature.id_properties_ui(INFLUENCE).update(
        min=0.0, max=1.0, soft_min=0.0, soft_max=1.0, description="How far the bones follow the bodies of the ragdoll"
    )
    for part, body in zip(parts, bodies, strict=True):
        name = bones[part.bone].name
        _copy(armature, name, body)
        # Rigify: fingers, the face and what twists limbs hang on these.
        if name.startswith("DEF-") and (original := "ORG-" + name[4:]) in armature.pose.bones:
            _copy(armature, original, body)
    for constraint in _solvers(armature, {bones[part.bone].name for part in parts}):
        if constraint.path_from_id("influence") not in {item.data_path for item in _drivers(armature)}:
            _drive(armature, constraint, f"{constraint.influence:g} * (1 - {INFLUENCE})")
    for name, body in _left_behind(context, armature, bones, parts, bodies):
        place = np.array(armature.matrix_world @ armature.pose.bones[name].matrix)
        point = shapes.add_object(body.users_collection[0], f"{name} Follower", None, place)
        point.parent, point.matrix_parent_inverse = body, body.matrix_world.inverted()
        point.empty_display_size = body.empty_display_size / 2.0
        point.hide_set(True)
        _copy(armature, name, point)


def _copy(armature: Object, name: str, target: Object) -> None:
    constraint = armature.pose.bones[name].constraints.new("COPY_TRANSFORMS")
    constraint.name, constraint.target = CONSTRAINT, target
    _drive(armature, constraint, INFLUENCE)


def _drive(armature: Object, constraint: Any, expression: str) -> None:
    """Drive the influence of a constraint by a simple expression, which Blender reads without Python."""
    driver = constraint.driver_add("influence").driver
    driver.type, driver.expression = "SCRIPTED", expression
    variable = driver.variables.new()
    variable.name = INFLUENCE
    variable.targets[0].id = armature
    variable.targets[0].data_path = f'["{INFLUENCE}"]'


def _drivers(armature: Object) -> list[Any]:
    return list(armature.animation_data.drivers) if armature.animation_data is not None else []


def _solvers(armature: Object, names: set[str]) -> list[Any]:
    """Constraints of inverse kinematics that place one of the bones: Blender solves chains after other constraints."""
    constraints = []
    for bone in armature.pose.bones:
        for item in bone.constraints:
            if item.type in ("IK", "SPLINE_IK") and not item.mute:
                chain = [bone, *bone.parent_recursive]
                if item.type == "IK" and not item.use_tail:
                    chain = chain[1:]
                chain = chain[: item.chain_count or None]
                if any(one.name in names for one in chain):
                    constraints.append(item)
    return constraints


def _left_behind(
    context: Context, armature: Object, bones: Bones, parts: Parts, bodies: list[Any]
) -> list[tuple[str, Any]]:  # fmt: skip
    """(bone, body) of deforming bones that stay behind when all bodies are moved, parents first."""

    def poses() -> dict[str, Any]:
        context.view_layer.update()
        evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
        return {bone.name: evaluated.matrix_world @ bone.matrix for bone in evaluated.pose.bones}

    before = poses()
    size = max(bones[part.bone].length for part in parts) / unit_length(context.scene)
    moved = mathutils.Matrix.LocRotScale((size, size, size), mathutils.Euler((0.5, 0.5, 0.5)), None)
    places = [body.matrix_basis.copy() for body in bodies]
    for body, place in zip(bodies, places, strict=True):
        body.matrix_basis = moved @ place
    after = poses()
    for body, place in zip(bodies, places, strict=True):
        body.matrix_basis = place
    context.view_layer.update()
    behind = []
    for part, body in zip(parts, bodies, strict=True):
        for row in part.bones:
            name = bones[row].name
            apart = after[name].translation - (moved @ before[name]).translation
            turn = (moved @ before[name]).to_quaternion().rotation_difference(after[name].to_quaternion())
            if bones[row].deforms and (apart.length > 0.01 * size or abs(turn.w) < math.cos(0.005)):
                behind.append((name, body))
    return sorted(behind, key=lambda pair: len(armature.pose.bones[pair[0]].parent_recursive))


def _followers(armature: Object) -> list[tuple[Any, Any]]:
    """(bone, constraint) of the bones that follow, parents first. Bodies that were deleted lead nothing.

    Joints and filtered pairs still point to such bodies, and keep them in the file.
    """
    followers = []
    for bone in armature.pose.bones:
        followers += [
            (bone, item) for item in bone.constraints
            if item.name == CONSTRAINT and item.target is not None and item.target.users_scene
        ]  # fmt: skip
    return sorted(followers, key=lambda pair: len(pair[0].parent_recursive))


def followed(armature: Object) -> list[Any]:
    """The objects that bones of an armature follow."""
    return [item.target for _, item in _followers(armature)]


def let_go(armature: Object, bodies: Set[int]) -> None:
    """Let no bone follow these bodies any more, and give inverse kinematics its influence back. bodies: session_uid."""
    _release(armature, lambda target: target is None or target.session_uid in bodies)


def _release(armature: Any, is_gone: Callable[[Any], bool]) -> None:
    """Remove what makes bones follow targets that are gone; of the last one, what the ragdoll drove as well."""
    for bone in armature.pose.bones:
        for item in [item for item in bone.constraints if item.name == CONSTRAINT and is_gone(item.target)]:
            item.driver_remove("influence")
            bone.constraints.remove(item)
    if INFLUENCE not in armature or _followers(armature):
        return
    for curve in _drivers(armature):
        match = _SHARE.fullmatch(curve.driver.expression)
        if match is not None:
            path = curve.data_path
            armature.driver_remove(path)
            armature.path_resolve(path.rpartition(".")[0]).influence = float(match[1])
    del armature[INFLUENCE]


def bake_bones(context: Context, start: int, end: int) -> tuple[int, int]:
    """Simulate a range of frames and key the bones; afterwards they follow their keys.

    Returns (number of bones, number of constraints and drivers that would hide the keys and were switched off). Raises
    InputError.
    """
    armature = armature_of(context)
    followers = _followers(armature)
    if not followers:
        raise InputError(f"No bone of '{armature.name}' follows a ragdoll; make one first.")
    scene = context.scene
    before = scene.frame_current
    bake.bake(context, start, end)
    armature[INFLUENCE] = 1.0
    places: dict[str, list[Any]] = defaultdict(list)
    for frame in range(start, end + 1):
        scene.frame_set(frame)
        context.view_layer.update()
        evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
        for bone, _ in followers:
            pose = evaluated.pose.bones[bone.name]
            places[bone.name].append(
                evaluated.convert_space(pose_bone=pose, matrix=pose.matrix, from_space="POSE", to_space="LOCAL").copy()
            )
    bake.clear_bake(scene)
    _own_action(armature)
    muted = _mute_rivals(armature, {bone.name for bone, _ in followers})
    for bone, _ in followers:
        bone.rotation_mode = "QUATERNION"
        last = mathutils.Quaternion()
        for frame, matrix in zip(range(start, end + 1), places[bone.name], strict=True):
            place, turn, _ = matrix.decompose()
            turn.make_compatible(last)
            last = turn
            bone.location, bone.rotation_quaternion = place, turn
            bone.keyframe_insert("location", frame=frame)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    armature[INFLUENCE] = 0.0
    armature.update_tag()
    scene.frame_set(before)
    return len(followers), muted


def _mute_rivals(armature: Object, names: set[str]) -> int:
    """Switch off what would overrule keys of bones. Returns the number of constraints and drivers."""
    muted = _solvers(armature, names)
    for name in names:
        own = armature.pose.bones[name].constraints
        muted += [item for item in own if item.name != CONSTRAINT and not item.mute and item not in muted]
    channels = tuple(
        f'pose.bones["{bpy.utils.escape_identifier(name)}"].{channel}' for name in names
        for channel in ("location", "rotation")
    )  # fmt: skip
    muted += [curve for curve in _drivers(armature) if not curve.mute and curve.data_path.startswith(channels)]
    for item in muted:
        item.mute = True
    return len(muted)


def _own_action(armature: Any) -> None:
    """Keys of the bake are not for others that have the same animation, such as the leader of an active ragdoll."""
    data = armature.animation_data
    if data is not None and data.action is not None and data.action.users > 1:
        slot = getattr(data, "action_slot", None)
        identifier = slot.identifier if slot is not None else ""
        data.action = data.action.copy()
        if identifier:
            data.action_slot = data.action.slots[identifier]
