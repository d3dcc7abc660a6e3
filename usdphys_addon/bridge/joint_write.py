# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint prims with limits, drives and local frames -> joint properties and the places of joint objects."""

from __future__ import annotations

from typing import Any

import mathutils
import numpy as np

from ..core import frames, joint_kinds, units
from ..core.model import Prim
from ..core.schemas import usd_physics
from . import props
from .joint_frames import coincide, set_world_matrix
from .property_units import PropertyWriter
from .writing import WritingContext

#: Identifiers of the enum of joint types by type of prim.
KINDS = {name: kind.identifier for name, kind in joint_kinds.BY_TYPE_NAME.items()}
_WORLD = np.eye(4)


def write_joint(writing: WritingContext, obj: Any, prim: Prim, joint: usd_physics.Joint) -> None:
    """Write a joint that was imported: its values, its bodies and its frames, which place the object."""
    group = obj.usdphys.joint
    write_joint_values(writing.properties, group, prim, joint)
    for side in (0, 1):
        _write_body(writing, group, joint, side)
    _write_frames(writing, obj, group, prim, joint)
    writing.written.count("joints")


def write_joint_values(properties: PropertyWriter, group: Any, prim: Prim, joint: usd_physics.Joint) -> None:
    """Write what does not depend on where objects are: the type, the values, the limits and the drives."""
    group.is_applied = True
    group.type = KINDS[prim.type_name]
    base = usd_physics.Joint(**{item.field: getattr(joint, item.field) for item in usd_physics.Joint.attributes})
    properties.write(group, base, skip=frozenset(props.LOCAL_FRAME_FIELDS))
    if properties.note is not None:
        properties.note(group, joint, "")
    if getattr(joint, "axis", None) is not None and joint.holds("axis"):
        group.axis = joint.axis  # type: ignore[attr-defined]
    if group.type not in ("FIXED", "GENERIC"):
        properties.write(getattr(group, group.type.lower()), joint, skip=props.JOINT_SHARED_FIELDS)
    for cls, groups in ((usd_physics.LimitAPI, group.limits), (usd_physics.DriveAPI, group.drives)):
        for instance, value in prim.instances(cls):
            target = getattr(groups, instance, None)
            if target is not None:
                target.is_applied = True
                properties.write(target, value, instance=instance)


def _write_body(writing: WritingContext, group: Any, joint: usd_physics.Joint, side: int) -> None:
    """Write the object of one side; without an object, or of a prim without a transform, write its path."""
    targets = getattr(joint, f"body{side}")
    if not targets:
        return
    body, target = writing.objects.get(targets[0]), writing.model.prims.get(targets[0])
    # A prim without a transform, such as a joint, is where the prim above it is, and not where its object stands.
    if body is not None and (target is None or target.is_xformable):
        setattr(group, f"body{side}", body)
    else:
        setattr(group, f"body{side}_path", targets[0])


def _write_frames(writing: WritingContext, obj: Any, group: Any, prim: Prim, joint: usd_physics.Joint) -> None:
    """Place the object at the frame of body 0; set the frame of body 1 only if the two differ.

    The frames of the file are remembered as text, so that an export gives exactly them if nothing was moved.
    """
    places = _world_frames(writing, prim.path)
    group.has_remembered_frames = True
    for name in props.LOCAL_FRAME_FIELDS:
        if joint.holds(name):
            values = _in_units(getattr(joint, name), _frame_unit(writing, joint, name))
            setattr(group, f"remembered_{name}", " ".join(map(repr, values)))
    if not coincide(*places):
        for name in ("local_pos1", "local_rot1"):
            setattr(group, name, _in_units(joint.resolved(name), _frame_unit(writing, joint, name)))
    if not writing.moves_joints:
        return
    place = places[0].copy()
    place[:3, 3] /= writing.meters
    set_world_matrix(obj, mathutils.Matrix(place.tolist()))


def _in_units(values: tuple[float, ...], unit: float) -> tuple[float, ...]:
    return tuple(units.scaled(value, 1.0 / unit) for value in values)


def _frame_unit(writing: WritingContext, joint: usd_physics.Joint, name: str) -> float:
    """Metres per unit of a local frame: of the body's space, or of the world if there is no body."""
    if "pos" not in name:
        return 1.0
    return writing.local if getattr(joint, f"body{name[-1]}") else writing.meters


def _world_frames(writing: WritingContext, path: str) -> tuple[frames.Matrix, frames.Matrix]:
    """World frames of both sides of a joint, metres. Those of all joints are computed at once, which is quicker."""
    if not writing.joint_places:
        bodies, positions, rotations = [], [], []
        joints = writing.model.joints
        for one in joints.values():
            joint = one.get(usd_physics.Joint)
            for side in (0, 1):
                targets = getattr(joint, f"body{side}")
                body = writing.model.prims.get(targets[0]) if targets else None
                bodies.append(body.world if body is not None else _WORLD)
                positions.append(joint.resolved(f"local_pos{side}"))  # type: ignore[union-attr]
                rotations.append(joint.resolved(f"local_rot{side}"))  # type: ignore[union-attr]
        places = frames.world_frames(bodies, positions, rotations)
        writing.joint_places.update(
            (joint_path, (places[2 * row], places[2 * row + 1])) for row, joint_path in enumerate(joints)
        )
    return writing.joint_places[path]
