# SPDX-License-Identifier: GPL-3.0-or-later
"""The authored transform of an object that shows a simulated pose: stored in the object itself until it is restored.

So copies of the object, undo steps and files that are written meanwhile have it, whoever writes them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import bpy
import mathutils
from bpy.types import FCurve, Object, Scene

from ..core.words import named
from . import stand_ins

if TYPE_CHECKING:
    from ..core.validate import Issue

#: The property of the object that holds its authored transform, as JSON. It is set by subscription: an assignment
#: would have Blender evaluate the geometry of the object anew.
STORED = "authored_transform"
#: Data paths of what determines an object's transform beside its scale and deltas.
_CHANNELS = frozenset({"location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "rotation_mode"})


@dataclass(slots=True)
class Transform:
    """The transform properties of an object, and who else determined where it is.

    constraints: names of those that were active. drivers: (data path, index) of the active ones of the transform.
    is_bullet: Blender's rigid body world moved it.
    """

    location: tuple[float, ...]
    mode: Any
    quaternion: tuple[float, ...]
    euler: tuple[float, ...]
    axis_angle: tuple[float, ...]
    constraints: tuple[str, ...]
    drivers: tuple[tuple[str, int], ...] = ()
    is_bullet: bool = False


def saved(obj: Object) -> Transform:
    """The current transform properties of an object."""
    return Transform(
        tuple(obj.location), obj.rotation_mode, tuple(obj.rotation_quaternion), tuple(obj.rotation_euler),
        tuple(obj.rotation_axis_angle), tuple(item.name for item in obj.constraints if not item.mute),
        tuple((curve.data_path, curve.array_index) for curve in _drivers(obj) if not curve.mute),
        moves_in_bullet(obj),
    )  # fmt: skip


def moves_in_bullet(obj: Object) -> bool:
    """True if Blender's rigid body world moves an object, in the scenes that it is in."""
    body = obj.rigid_body
    return body is not None and body.type == "ACTIVE" and not body.kinematic


def moved_by_bullet(scene: Scene) -> set[str]:
    """Full names of the objects that the rigid body world of a scene moves."""
    world = scene.rigidbody_world
    members = None if world is None or not world.enabled else world.collection
    return set() if members is None else {obj.name_full for obj in members.all_objects if moves_in_bullet(obj)}


def _drivers(obj: Object) -> list[FCurve]:
    data = obj.animation_data
    return [] if data is None else [curve for curve in data.drivers if curve.data_path in _CHANNELS]


def freed(obj: Object) -> None:
    """Store the transform of an object in it, and make location and quaternion alone determine where it is.

    Constraints and drivers are muted, and Blender's rigid body world follows the object.
    """
    obj.usdphys[STORED] = json.dumps(asdict(saved(obj)))
    lead(obj)


def lead(obj: Object) -> None:
    """Make location and quaternion alone determine where an object is."""
    obj.rotation_mode = "QUATERNION"
    for constraint in obj.constraints:
        constraint.mute = True
    for curve in _drivers(obj):
        curve.mute = True
    if moves_in_bullet(obj) and obj.rigid_body is not None:
        obj.rigid_body.kinematic = True


def stored(obj: Object) -> Transform | None:
    """The authored transform of an object that shows a simulated pose; None for any other object, and for bad text."""
    if not _is_registered() or not obj.is_property_set("usdphys"):
        return None
    text = str(obj.usdphys.authored_transform)
    try:
        return Transform(**json.loads(text)) if text else None
    except (TypeError, ValueError):
        return None


def _is_registered() -> bool:
    """False at Blender's end, when it has our groups no more."""
    return hasattr(bpy.types.Object, "usdphys")


def simulated() -> Iterator[Object]:
    """The objects of the open file that show a simulated pose, linked ones too."""
    if not _is_registered():
        return
    for obj in bpy.data.objects:
        # Reading an unset group creates it.
        if obj.is_property_set("usdphys") and obj.usdphys.authored_transform:
            yield obj


def issues_of_export() -> list[Issue]:
    """What is wrong with an export by Blender's own exporter now: those of this add-on put the authored poses first."""
    from ..core.validate import Issue

    names = [obj.name for obj in simulated()]
    if not names:
        return []
    return [
        Issue(
            "PreviewExported", "warning", "", names[0],
            f"The preview is running, so Blender's own exporter writes simulated poses: {named(names)}.",
            "Reset the preview and export again, or export with USD Physics, which writes the authored poses.",
        )
    ]  # fmt: skip


def restore(obj: Object) -> None:
    """Restore the authored transform of an object exactly, if it shows a simulated pose."""
    before = stored(obj)
    if before is not None:
        restored(obj, before)


def restore_all(kept: Collection[int] = ()) -> None:
    """Restore all objects of the open file that show simulated poses. kept: session-wide identifiers of others."""
    for obj in list(simulated()):
        if obj.session_uid not in kept:
            restore(obj)


def restored(obj: Object, before: Transform) -> None:
    """Give an object a transform exactly, and whoever determined where it was."""
    obj.rotation_mode = before.mode
    obj.location = before.location
    obj.rotation_quaternion, obj.rotation_euler = before.quaternion, before.euler
    obj.rotation_axis_angle = before.axis_angle
    _released(obj, before)


def keep(obj: Object) -> None:
    """Make the simulated pose of an object its authored one, in its authored rotation mode."""
    before = stored(obj)
    if before is None:
        return
    # Each rotation mode has a delta rotation of its own.
    turned = obj.delta_rotation_quaternion.normalized() @ obj.rotation_quaternion.normalized()
    obj.rotation_mode = before.mode
    if before.mode == "AXIS_ANGLE":
        axis, angle = turned.to_axis_angle()
        obj.rotation_axis_angle = (angle, *axis)
    elif before.mode != "QUATERNION":
        delta = mathutils.Euler(obj.delta_rotation_euler, before.mode).to_quaternion()
        # Pick the Euler angles closest to the old ones.
        old = mathutils.Euler(before.euler, before.mode)
        obj.rotation_euler = (delta.inverted() @ turned).to_euler(before.mode, old)
    _released(obj, before)


def _released(obj: Object, before: Transform) -> None:
    for name in before.constraints:
        if name in obj.constraints:
            obj.constraints[name].mute = False
    drivers = {(path, index) for path, index in before.drivers}
    for curve in _drivers(obj):
        if (curve.data_path, curve.array_index) in drivers:
            curve.mute = False
    if before.is_bullet and obj.rigid_body is not None:
        obj.rigid_body.kinematic = False
    if _is_registered() and obj.is_property_set("usdphys"):
        obj.usdphys.property_unset(STORED)


# --------------------------------------------------------------------------- for a moment


class _Moment:
    #: How many callers have put the authored transforms for a moment.
    depth = 0


Poses = list[tuple[int, tuple[float, ...], tuple[float, ...]]]


def are_put() -> bool:
    """True while the authored transforms are put for a moment: what changes now is no edit."""
    return _Moment.depth > 0


def put(objects: Iterable[Object] | None = None) -> Poses:
    """Restore authored transforms for a moment; by default of all objects. Returns the simulated poses for `put_back`.

    The poses are (session-wide identifier, location, quaternion) of each object.
    """
    _Moment.depth += 1
    shown: Poses = []
    for obj in list(simulated() if objects is None else objects):
        if (before := stored(obj)) is not None:
            shown.append((obj.session_uid, tuple(obj.location), tuple(obj.rotation_quaternion)))
            restored(obj, before)
    return shown


def put_back(shown: Poses) -> None:
    """Undo `put`."""
    _show(shown)
    _Moment.depth -= 1


def _show(shown: Poses) -> None:
    known = {obj.session_uid: obj for obj in bpy.data.objects} if shown else {}
    for uid, location, quaternion in shown:
        obj = known.get(uid)
        if obj is not None:
            freed(obj)
            obj.location, obj.rotation_quaternion = location, quaternion


@contextmanager
def authored() -> Iterator[None]:
    """All objects have their authored transforms inside of the block, or of the function that it decorates.

    Instances are shown themselves, in place of what stands in for them.
    """
    shown, hidden = put(), stand_ins.hide()
    try:
        _evaluate(shown)
        yield
    finally:
        stand_ins.show(hidden)
        _show(shown)
        _evaluate(shown)  # before the moment is over: else the preview takes this update for an edit
        _Moment.depth -= 1


def _evaluate(shown: Poses) -> None:
    layer = bpy.context.view_layer
    if shown and layer is not None:
        layer.update()
