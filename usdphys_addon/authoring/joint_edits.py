# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of existing joints: align, repair frames, swap bodies, limits from a pose, drives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import mathutils
from bpy.types import Context, Object, PropertyGroup

from ..bridge import props, scene_read, vendor_rows
from ..bridge.joint_frames import (
    NOISE,
    coordinate,
    imported_frames,
    is_fixed,
    limit_of,
    place_joint,
    side_frames,
    store_frame,
)
from ..bridge.property_values import decided
from ..bridge.roles import is_body
from ..core import joint_kinds, stacks, vendor_schemas
from ..core.errors import InputError
from ..core.joint_settings import axis_settings
from ..core.model import Prim
from ..core.schema import ANGULAR_DOFS
from ..core.schemas import usd_physics
from ..core.words import joined, length_text, phrase
from ..simulation import articulations
from ..simulation.gains import arm_motion, drive_design
from . import joint_maker, vendor_edits

_ANGULAR_DRIVE = props.AngularDriveProperties
_ITERATIONS = "physxArticulation:solverPositionIterationCount"
#: PhysX lets what is slower than this (m/s) fall asleep, and damps rotations by this part a second, by its defaults.
_SLEEPY, _DAMPED = 0.01, 0.05
#: Largest part of the reach by which a servo may stop before its position.
_MOST_STOPS = 0.0025
_DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def align(context: Context, objects: Sequence[Object], side: int) -> None:
    """Move the joint object, and the frames of both sides, to the frame of one side (0 or 1)."""
    depsgraph = context.evaluated_depsgraph_get()
    wanted = [side_frames(obj, depsgraph)[side] for obj in objects]
    for obj, frame in zip(objects, wanted, strict=True):
        place_joint(obj, (frame, frame), depsgraph)


def fix_frames(context: Context, objects: Sequence[Object]) -> None:
    """Store the current frames of both sides of joints as local frames of their bodies."""
    depsgraph = context.evaluated_depsgraph_get()
    wanted = [side_frames(obj, depsgraph) for obj in objects]
    for obj, both in zip(objects, wanted, strict=True):
        for side in (0, 1):
            store_frame(obj, side, both[side], depsgraph)


def _taken(group: PropertyGroup, name: str) -> Any:
    """Value of a property; None if it is not authored."""
    if not group.is_property_set(name):
        return None
    value = getattr(group, name)
    return value if isinstance(value, str | float | bool | int | bpy.types.ID) or value is None else tuple(value)


def _put(group: PropertyGroup, name: str, value: Any) -> None:
    if value is None:
        group.property_unset(name)
    else:
        setattr(group, name, value)


def exchange(group: PropertyGroup, one: str, other: str, change: Callable[[Any], Any] = lambda value: value) -> None:
    """Swap two properties, with `change` applied to both values. An unauthored property unsets the other."""
    first, second = _taken(group, one), _taken(group, other)
    _put(group, one, None if second is None else change(second))
    _put(group, other, None if first is None else change(first))


def negate(group: PropertyGroup, name: str) -> None:
    """Negate a property if it is authored."""
    if group.is_property_set(name):
        setattr(group, name, -getattr(group, name))


def turn_round(joint: Any, names: Iterable[str]) -> None:
    """Reverse degrees of freedom of a joint: negate and swap limits, negate drive targets. names: such as "rotX"."""
    for name in names:
        limit, drive = getattr(joint.limits, name, None), getattr(joint.drives, name)
        if limit is not None:
            exchange(limit, "low", "high", lambda value: -value)
        negate(drive, "target_position")
        negate(drive, "target_velocity")


def swap_bodies(obj: Object) -> str:
    """Swap body 0 and body 1 so that the joint behaves the same. Returns a note if it cannot do so exactly, else ""."""
    joint = obj.usdphys.joint
    bodies = [getattr(joint, f"body{side}") for side in (0, 1)]
    names = [getattr(joint, f"body{side}_name") for side in (0, 1)]
    for side in (0, 1):
        _put(joint, f"body{side}", bodies[1 - side])
        _put(joint, f"body{side}_name", names[1 - side] or None)
    for what in ("body{}_path", "local_pos{}", "local_rot{}", "remembered_local_pos{}", "remembered_local_rot{}"):
        exchange(joint, what.format(0), what.format(1))
    for own in (joint.revolute, joint.prismatic):
        exchange(own, "lower_limit", "upper_limit", lambda value: -value)
    # Distances have no direction.
    turn_round(joint, (name for name in usd_physics.DriveAPI.instances if name != "distance"))
    return "" if _swaps_exactly(joint) else (
        f"'{obj.name}' can turn about several axes, so after swapping its bodies, the limits are only nearly the same."
    )  # fmt: skip


def _swaps_exactly(joint: PropertyGroup) -> bool:
    """False if a rotation of the joint turns the axes that its limits are about."""
    if joint.type == "SPHERICAL":
        cone = joint.spherical
        return bool(cone.cone_angle0_limit == cone.cone_angle1_limit)
    if joint.type != "GENERIC":
        return True
    limits = [getattr(joint.limits, name) for name in _DOFS]
    is_locked = [limit.is_applied and joint_kinds.has_no_range(limit.low, limit.high) for limit in limits]
    free = [index for index in range(3) if not is_locked[3 + index]]
    if not free:
        return True
    is_set = [limits[index].is_applied or getattr(joint.drives, name).is_applied for index, name in enumerate(_DOFS)]
    if len(free) > 1:
        is_turning_set = any(is_set[3 + index] for index in range(3))
        moves = any(is_set[index] and not _is_pinned(limits[index]) for index in range(3))
        return not is_turning_set and not moves and len({*is_locked[:3]}) == 1
    # About one axis: it turns the translations across it, unless they are held at zero.
    across = [index for index in range(3) if index != free[0]]
    moved = [index for index in across if not _is_pinned(limits[index])]
    return not moved or (len(moved) == 2 and not any(is_set[index] for index in moved))


def _is_pinned(limit: PropertyGroup) -> bool:
    """True for a translation that is held at zero."""
    is_at_zero = limit.low == limit.high == 0.0
    return bool(limit.is_applied and (joint_kinds.is_locked(limit.low, limit.high) or is_at_zero))


def limits_from_pose(context: Context, objects: Sequence[Object], which: str, dof: str) -> list[str]:
    """Set a limit of joints to the current pose of their bodies. which: LOWER or UPPER. dof: for generic joints.

    Frames that follow the joint object are stored in the bodies first, which makes the current pose their zero.
    Returns a sentence about each joint. Raises InputError, with nothing changed, if a joint has no such limit or its
    limits would cross.
    """
    depsgraph = context.evaluated_depsgraph_get()
    plans, notes = [], []
    for obj in objects:
        group, *names, name = limit_of(obj, dof)
        joint = obj.usdphys.joint
        both = imported_frames(obj, depsgraph) or side_frames(obj, depsgraph)
        value = coordinate(*both, name)
        value = 0.0 if abs(value) < NOISE else value
        own, other = names if which == "LOWER" else names[::-1]
        number = f"{math.degrees(value):.4g}°" if name.startswith("rot") else f"{value:.4g}"
        kind = joint_kinds.BY_IDENTIFIER[joint.type].cls
        limit = decided(group, usd_physics.LimitAPI if joint.type == "GENERIC" else kind, other, name)
        if limit is not None and ((limit < value) if which == "LOWER" else (limit > value)):
            word, end = ("below", "lower") if which == "UPPER" else ("above", "upper")
            raise InputError(
                f"'{obj.name}' is at {number}, {word} its {end} limit; set that limit from a pose first, or pose it "
                "on the other side."
            )  # fmt: skip
        was_fixed = is_fixed(joint, 0) and is_fixed(joint, 1)
        plans.append((obj, group, own, value, both, was_fixed))
        note = f"{own.replace('_', ' ').capitalize()} of '{obj.name}' is {number}."
        if not was_fixed:
            note += " Its frames are now stored in its bodies: pose these, and set the other limit."
        notes.append(note)
    for obj, group, own, value, both, was_fixed in plans:
        if not was_fixed:
            for side in (0, 1):
                store_frame(obj, side, both[side], depsgraph)
        if hasattr(group, "is_applied"):
            group.is_applied = True
        setattr(group, own, value)
    return notes


def set_limits(obj: Object, low: float, high: float) -> None:
    """Set both limits of a revolute, prismatic or distance joint: rad or Blender units. They are put in order."""
    group, lower, upper, _ = limit_of(obj, "")
    setattr(group, lower, min(low, high))
    setattr(group, upper, max(low, high))


def move_root(source: Any, target: Object) -> None:
    """Make an object the articulation root in place of another, with what simulators read at a root."""
    target.usdphys.articulation_root.is_applied = True
    vendor_edits.copy_rows(source.usdphys, target.usdphys, "articulation")
    for applied in vendor_rows.applied_names(source.usdphys, "articulation"):
        vendor_edits.remove_rows(source.usdphys, applied)
    source.usdphys.articulation_root.is_applied = False


def travel(context: Context, obj: Object) -> tuple[float, float]:
    """Limits of a slide in Blender units: as far as body 1 is long along the axis, away from the middle of body 0."""
    context.view_layer.update()
    joint = obj.usdphys.joint
    axis = obj.matrix_world.to_3x3().col["XYZ".index(joint.axis)].normalized()
    spans = []
    for body in (joint.body0, joint.body1):
        corners = [axis.dot(body.matrix_world @ mathutils.Vector(corner)) for corner in body.bound_box] if body else []
        spans.append((min(corners, default=0.0), max(corners, default=0.0)))
    (low0, high0), (low1, high1) = spans
    length = high1 - low1
    is_inwards = joint.body0 is not None and low1 + high1 < low0 + high0
    return (-length, 0.0) if is_inwards else (0.0, length)


def driven_dof(obj: Object, dof: str) -> str:
    """The degree of freedom that a joint can drive. dof: for joints with several. Raises InputError if it has none."""
    joint = obj.usdphys.joint
    dofs = joint_kinds.BY_IDENTIFIER[joint.type].drives
    if not dofs:
        other = " of type Generic, with its translations locked" if joint.type == "SPHERICAL" else " of another type"
        raise InputError(f"'{obj.name}' is a {joint.type.lower()} joint, which no drive can move; use a joint{other}.")
    if len(dofs) > 1 and dof not in dofs:
        raise InputError(f"'{obj.name}' has no degree of freedom {dof} to drive; choose one of {', '.join(dofs)}.")
    return dofs[0] if len(dofs) == 1 else dof


def drivable(objects: Sequence[Object], dof: str) -> tuple[list[tuple[Any, str]], list[str]]:
    """([(joint, degree of freedom)], a note about each joint that no drive can move). dof: for joints with several.

    Raises InputError if none can be driven.
    """
    drives, notes = [], []
    for obj in objects:
        try:
            drives.append((obj, driven_dof(obj, dof)))
        except InputError as error:
            notes.append(str(error))
    if not drives and notes:
        raise InputError(notes[0])
    return drives, notes


class DrivenKinds(NamedTuple):
    """Whether any of the joints that are chosen turns, slides, or lets one choose its degree of freedom."""

    turns: bool
    slides: bool
    asks: bool


def driven_kinds(context: Context, dof: str) -> DrivenKinds:
    """All True where no joint is chosen."""
    try:
        joints = joint_maker.joints_of(context)
    except InputError:
        return DrivenKinds(True, True, True)
    kinds = [joint_kinds.BY_IDENTIFIER[obj.usdphys.joint.type].drives for obj in joints]
    driven = {kind[0] if len(kind) == 1 else dof for kind in kinds if kind}
    return DrivenKinds(
        bool(driven & set(ANGULAR_DOFS)), bool(driven - set(ANGULAR_DOFS)), any(len(kind) > 1 for kind in kinds)
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Motor:
    """A drive that `add_motors` has made. settling: s. sag: largest error by gravity, in rad or m, or per second.
    reach: m, of the farthest point from the axis of a rotation. is_angular: it rotates. in_articulation: its joint is
    one of an articulation for PhysX: between two bodies of it. stops: where PhysX lets it fall asleep before a
    position, as a part of the reach. slowed: the part of a velocity that PhysX takes by its damping of rotations."""

    joint: str
    settling: float
    sag: float
    reach: float
    is_angular: bool
    in_articulation: bool
    stops: float = 0.0
    slowed: float = 0.0


def add_motors(
    context: Context, targets: Sequence[tuple[Object, str, float]], *, holds: bool, response: float
) -> tuple[list[Motor], list[str]]:
    """Give joints a force drive to a position or a velocity, with gains for the inertia and the load that hang on it.

    targets: (joint object, degree of freedom, target in rad, Blender units, or these per second). holds: True for a
    position, False for a velocity. response: s, after which at most 2 % of the way or of the velocity is left. Returns
    the drives, and a note about each joint that moves no body: its drive is an acceleration drive.
    """
    reading = scene_read.read_scene(context.evaluated_depsgraph_get())
    model, meters = reading.model, reading.model.units.meters_per_unit
    by_label = {prim.label: path for path, prim in model.joints.items()}
    wanted = {by_label[obj.name]: dof for obj, dof, _ in targets if obj.name in by_label}
    tasks = drive_design.tasks_of(model, wanted, holds=holds)
    # In PhysX a joint with the world is in no articulation.
    reduced = {
        link.joint.path for tree in articulations.trees_of(stacks.chained(model)[0]) for link in tree.links
        if link.joint.body0 and link.joint.body1
    }  # fmt: skip
    made, notes = [], []
    for obj, dof, target in targets:
        drive = getattr(obj.usdphys.joint.drives, dof)
        is_angular = isinstance(drive, _ANGULAR_DRIVE)
        length = 1.0 if is_angular else meters
        path = by_label.get(obj.name, "")
        task = tasks.get(path)
        if task is None:
            # No mass is known: the gains of an acceleration drive do not need one.
            notes.append(f"'{obj.name}' moves no rigid body, so its motor is not fitted to a mass; look at the checks.")
            task = drive_design.Task(1.0, 0.0, 1.0, is_angular)
            drive.type = "acceleration"
        else:
            drive.type = "force"
        gains = (
            drive_design.position_gains(task, response) if holds
            else drive_design.velocity_gains(task, target * length, response)
        )  # fmt: skip
        drive.is_applied = True
        # Gains of angular drives are per degree.
        per_unit = math.radians(1.0) if is_angular else 1.0
        drive.damping = gains.damping * per_unit
        if holds:
            drive.target_position, drive.stiffness = target, gains.stiffness * per_unit
            drive.property_unset("target_velocity")
        else:
            drive.target_velocity = target
            for name in ("target_position", "stiffness"):
                drive.property_unset(name)
        stops = _SLEEPY * gains.damping / gains.stiffness / task.reach if holds else 0.0
        slowed = _DAMPED * task.inertia / gains.damping if is_angular and not holds else 0.0
        made.append(Motor(obj.name, gains.settling, gains.sag, task.reach, is_angular, path in reduced, stops, slowed))
    return made, notes


def motor_texts(motors: Sequence[Motor], *, holds: bool) -> list[str]:
    """Sentences about the slowest and the most loaded of the drives, for the user."""
    slowest = max(motors, key=lambda motor: motor.settling)
    loaded = max(motors, key=lambda motor: motor.sag)
    of = [f"('{loaded.joint}')"] if len(motors) > 1 else []
    amount = _amount_text(loaded.sag, loaded.is_angular)
    texts: list[str] = [phrase("Settles in {seconds:.3g} s", seconds=slowest.settling)]
    slowed = max(motor.slowed for motor in motors)
    if slowed > drive_design.SLIP:
        texts.append(phrase("PhysX damps the joint: there it is {percent:.2g} % slower", percent=100.0 * slowed))
    if loaded.sag == 0.0:
        return [*texts, phrase("Gravity does not move it")]
    if holds:
        sag: str = phrase("Sags by at most {amount}", amount=amount)
        if loaded.is_angular:
            end = phrase("{length} at the end", length=length_text(loaded.sag * loaded.reach, 2))
            sag = joined(", ", (sag, end))
        texts.append(joined(" ", (sag, *of)))
        if not all(motor.in_articulation for motor in motors if motor.sag):
            texts.append(phrase("PhysX needs an articulation for that"))
        return texts
    return [*texts, joined(" ", (phrase("Gravity changes the velocity by at most {amount}/s", amount=amount), *of))]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What PhysX makes of an arm. keeps: what was asked for. armature: True if the joints got one for that."""

    motion: arm_motion.Motion
    keeps: bool
    armature: bool

    @property
    def text(self) -> str:
        """A sentence for the user."""
        if self.motion.settling == math.inf:
            return phrase("In PhysX, at 60 steps a second, the arm does not come to rest")
        text: str = phrase(
            "In PhysX, at 60 steps a second, the arm sags by {percent:.2g} % of its reach, and settles in "
            "{seconds:.2g} s",
            percent=100.0 * self.motion.sag, seconds=self.motion.settling,
        )  # fmt: skip
        if self.armature:
            return joined("; ", (text, phrase("this needs the motor inertia that the joints were given")))
        return text


class Servos(NamedTuple):
    """motors, notes: as `add_motors` returns them. outlooks: for the arms that the joints are part of."""

    motors: list[Motor]
    notes: list[str]
    outlooks: list[Outlook]


def add_servos(
    context: Context, targets: Sequence[tuple[Object, str, float]], *, response: float, may_add: bool = True
) -> Servos:  # fmt: skip
    """Let joints hold positions, and fit their articulations to PhysX: its iterations and, if these are not enough, the
    armature of the joints. The sag is to be less than 1 % of the reach.

    targets, response: as in `add_motors`. may_add: False to keep the armatures. Arms of a single joint and those
    outside of articulations are left as they are.
    """
    context.view_layer.update()
    motors, notes = add_motors(context, targets, holds=True, response=response)
    context.view_layer.update()
    model = scene_read.read_scene(context.evaluated_depsgraph_get()).model
    trees = articulations.trees_of(stacks.chained(model)[0])
    roots = {link.joint.path: tree.prim for tree in trees for link in tree.links}
    by_label = {obj.name: (obj, dof) for obj, dof, _ in targets}
    chosen = {path: by_label[prim.label] for path, prim in model.joints.items() if prim.label in by_label}
    tasks = drive_design.tasks_of(model, {path: dof for path, (_, dof) in chosen.items()})
    # One step more is no miss.
    latest = max(1.2 * response, response + 1.0 / arm_motion.STEPS)
    outlooks = []
    for arm in drive_design.arms_of(model):
        root = roots.get(arm.joints[0], "")
        own = {path: tasks[path] for path in arm.joints if path in tasks}
        if not root or not own:
            continue
        authored = _authored_iterations(model.prims[root])
        fitted = drive_design.fit(arm, own, response, latest, may_add=may_add, least=authored or arm_motion.ITERATIONS)
        if fitted.iterations > (authored or arm_motion.ITERATIONS):
            attribute = vendor_schemas.attribute_named("PhysxArticulationAPI", _ITERATIONS)
            obj = context.scene.objects[model.prims[root].label]
            vendor_edits.apply_row(obj.usdphys, "PhysxArticulationAPI", attribute, fitted.iterations)
        for path, armature in fitted.armatures.items():
            joint, dof = chosen[path]
            before = axis_settings(model.prims[path], dof).armature
            vendor_edits.put_concept(context.scene, joint.usdphys, "joint_armature", before + armature, dof)
        outlooks.append(Outlook(fitted.motion, fitted.keeps, bool(fitted.armatures)))
    _keep_awake(context, model, motors, roots, chosen)
    if any(outlook.armature for outlook in outlooks):
        motors, notes = add_motors(context, targets, holds=True, response=response)
    return Servos(motors, notes, outlooks)


def _keep_awake(
    context: Context, model: Any, motors: Sequence[Motor], roots: Mapping[str, str], chosen: Mapping[str, Any]
) -> None:  # fmt: skip
    """Let PhysX move slow servos to their positions: what is slow falls asleep before."""
    paths = {obj.name: path for path, (obj, _) in chosen.items()}
    for motor in motors:
        path = paths.get(motor.joint)
        if path is None or motor.stops <= _MOST_STOPS:
            continue
        root = roots.get(path) if motor.in_articulation else None
        applied, name = (
            ("PhysxArticulationAPI", "physxArticulation:sleepThreshold") if root is not None
            else ("PhysxRigidBodyAPI", "physxRigidBody:sleepThreshold")
        )  # fmt: skip
        joint = chosen[path][0].usdphys.joint
        things = [context.scene.objects[model.prims[root].label]] if root is not None else [
            body for body in (joint.body0, joint.body1)
            if body is not None and is_body(body) and body.library is None
        ]  # fmt: skip
        for obj in things:
            vendor_edits.apply_row(obj.usdphys, applied, vendor_schemas.attribute_named(applied, name), 0.0)


def _authored_iterations(root: Prim) -> int:
    """Position iterations of an articulation; 0 where they are not authored."""
    api: Any = root.schemas.get("PhysxArticulationAPI")
    value = api.solver_position_iteration_count if api is not None else None
    return value if isinstance(value, int) and value > 0 else 0


def _amount_text(amount: float, is_angular: bool) -> str:
    return f"{math.degrees(amount):.2g}°" if is_angular else length_text(amount, 2)
