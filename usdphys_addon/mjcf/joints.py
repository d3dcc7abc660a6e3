# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints of MuJoCo as joints of USD: one of a body, several of a body as a generic joint, and their drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np

from ..core import frames
from ..core.schema import Schema
from ..core.schemas import usd_physics
from .values import Actuator, Floats, Joint

_AXES = ("X", "Y", "Z")
#: Axes count as at right angles, and places as one, within this (m).
_NEAR = 1e-5
JointT = TypeVar("JointT", bound=usd_physics.Joint)


class Ends(NamedTuple):
    """Two bodies: the one that carries, empty for the world, and the one that is carried; with world poses (4, 4)."""

    base: str
    base_world: Floats
    path: str
    world: Floats

    def swapped(self) -> Ends:
        """The way back."""
        return Ends(self.path, self.world, self.base, self.base_world)


@dataclass(slots=True)
class Made:
    """A joint of USD. parts: limits by degree of freedom. dofs: (instance of the drive, sign) by name of a joint."""

    schema: usd_physics.Joint
    parts: list[tuple[Schema, str]] = field(default_factory=list)
    dofs: dict[str, tuple[str, float]] = field(default_factory=dict)


def between(cls: type[JointT], ends: Ends, start: Floats, own: Floats) -> JointT:
    """A joint with frames (4, 4) in the world: `start` goes with the base, `own` with the other body."""
    made = cls()
    for side, (path, world, frame) in enumerate(((ends.base, ends.base_world, start), (ends.path, ends.world, own))):
        position, rotation = frames.local_frame(world if path else None, frame)
        if path:
            setattr(made, f"body{side}", (path,))
        setattr(made, f"local_pos{side}", position)
        setattr(made, f"local_rot{side}", rotation)
    return made


def fixed(ends: Ends) -> usd_physics.FixedJoint:
    """A joint that holds a body where it is."""
    return between(usd_physics.FixedJoint, ends, ends.world, ends.world)


def as_one(kinds: Sequence[Joint], ends: Ends) -> Made | None:
    """The joints of a body as one of USD; None if their axes do not allow it."""
    if len(kinds) == 1:
        return _single(kinds[0], ends)
    return _generic(kinds, ends) or _generic(_way_back(kinds, ends), ends.swapped())


def _single(joint: Joint, ends: Ends) -> Made:
    if joint.type == "ball":
        frame = ends.world @ frames.transform(joint.place)
        ball = between(usd_physics.SphericalJoint, ends, frame, frame)
        if joint.range is not None:
            ball.cone_angle0_limit = ball.cone_angle1_limit = joint.range[1]
        return Made(ball, [], {joint.name: ("", 1.0)})
    letter, turn = _frame_of(joint.axis)
    own = ends.world @ frames.transform(joint.place, turn)
    axis = np.eye(3)["XYZ".index(letter)]
    is_hinge = joint.type == "hinge"
    back = (
        frames.transform((0, 0, 0), frames.matrix_of(frames.turn_by(-axis * joint.reference)))
        if is_hinge else frames.transform(-axis * joint.reference)
    )  # fmt: skip
    cls: type[usd_physics.RevoluteJoint | usd_physics.PrismaticJoint] = (
        usd_physics.RevoluteJoint if is_hinge else usd_physics.PrismaticJoint
    )
    made = between(cls, ends, own @ back, own)
    made.axis = letter
    if joint.range is not None:
        made.lower_limit, made.upper_limit = joint.range
    return Made(made, [], {joint.name: ("angular" if is_hinge else "linear", 1.0)})


def _frame_of(axis: Floats) -> tuple[str, Floats]:
    """(letter of an axis, frame (3, 3) in which it is the given direction): the body's own axes where they fit."""
    for number, letter in enumerate(_AXES):
        if axis[number] > 1.0 - 1e-9:
            return letter, np.eye(3)
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    y = np.cross(axis, other)
    y /= np.linalg.norm(y)
    return "X", np.stack((axis, y, np.cross(axis, y)), axis=1)


def _generic(kinds: Sequence[Joint], ends: Ends) -> Made | None:
    """Slides, then hinges from the outermost about Z, Y and X: as the angles of a generic joint are."""
    slides = [joint for joint in kinds if joint.type == "slide"]
    hinges = [joint for joint in kinds if joint.type == "hinge"]
    if [*slides, *hinges] != list(kinds) or len(slides) > 3 or len(hinges) > 3:
        return None
    if any(np.abs(joint.place - hinges[0].place).max() > _NEAR for joint in hinges[1:]):
        return None
    axes = _axes_at_zero(hinges) | {joint.name: joint.axis for joint in slides}
    turn = _common_frame([axes[joint.name] for joint in hinges], [axes[joint.name] for joint in slides])
    if turn is None:
        return None
    dofs: dict[str, tuple[str, float]] = {}
    parts: list[tuple[Schema, str]] = []
    for family, joints in (("trans", slides), ("rot", hinges)):
        for joint in joints:
            along = turn.T @ axes[joint.name]
            number = int(np.abs(along).argmax())
            dof = f"{family}{_AXES[number]}"
            if abs(along[number]) < 1.0 - _NEAR or any(dof == known for known, _ in dofs.values()):
                return None
            sign = 1.0 if along[number] > 0 else -1.0
            dofs[joint.name] = (dof, sign)
            if joint.range is not None:
                low, high = joint.range if sign > 0 else (-joint.range[1], -joint.range[0])
                parts.append((usd_physics.LimitAPI(low=low, high=high), dof))
    free = {dof for dof, _ in dofs.values()}
    for family in ("trans", "rot"):
        parts += [(usd_physics.LimitAPI(low=1.0, high=-1.0), f"{family}{axis}")
                  for axis in _AXES if f"{family}{axis}" not in free]  # fmt: skip
    place = hinges[0].place if hinges else slides[0].place
    start = frames.transform(place - sum(joint.axis * joint.reference for joint in slides), turn)
    own = frames.transform(place, _turned(hinges) @ turn)
    return Made(between(usd_physics.Joint, ends, ends.world @ start, ends.world @ own), parts, dofs)


def _way_back(kinds: Sequence[Joint], ends: Ends) -> list[Joint]:
    """The joints of a body as those of what carries it: the last one first, the other way round."""
    seen = np.linalg.solve(ends.base_world, ends.world)
    return [
        replace(joint, axis=-(seen[:3, :3] @ joint.axis), place=seen[:3, :3] @ joint.place + seen[:3, 3])
        for joint in reversed(kinds)
    ]


def _turned(hinges: Sequence[Joint]) -> Floats:
    """How hinges have turned a body (3, 3) in the pose of the file, in which each has its reference as its angle."""
    turn = np.eye(3)
    for joint in hinges:
        turn = frames.matrix_of(frames.turn_by(joint.axis * joint.reference)) @ turn
    return turn


def _axes_at_zero(hinges: Sequence[Joint]) -> dict[str, Floats]:
    """The axes of hinges by name, outermost first, where the angles are zero: those before one turn its axis."""
    return {joint.name: _turned(hinges[:row]).T @ joint.axis for row, joint in enumerate(hinges)}


def _common_frame(hinges: Sequence[Floats], slides: Sequence[Floats]) -> Floats | None:
    """A frame (3, 3) with the hinges along Z, Y, X in this order and slides along any axis; None if there is none."""
    columns: list[Floats | None] = [None, None, None]
    for number, axis in zip((2, 1, 0), hinges, strict=False):
        columns[number] = axis
    for axis in slides:
        if not any(one is not None and abs(abs(one @ axis) - 1.0) < _NEAR for one in columns):
            empty = next((number for number in range(3) if columns[number] is None), None)
            if empty is None:
                return None
            columns[empty] = axis
    known = [one for one in columns if one is not None]
    if any(abs(one @ other) > _NEAR for row, one in enumerate(known) for other in known[:row]):
        return None
    for number in range(3):
        if columns[number] is None:
            after, last = columns[(number + 1) % 3], columns[(number + 2) % 3]
            if after is not None and last is not None:
                columns[number] = np.cross(after, last)
            else:
                one = after if after is not None else last
                assert one is not None
                other = np.cross(one, np.eye(3)[int(np.argmin(np.abs(one)))])
                columns[number] = other / np.linalg.norm(other)
    turn = np.stack([np.asarray(one) for one in columns], axis=1)
    if np.linalg.det(turn) < 0.0:
        turn[:, 0] = -turn[:, 0]
    return np.asarray(turn)


def drive_of(
    joint: Joint, actuators: Sequence[Actuator], sign: float, *, is_shared: bool
) -> usd_physics.DriveAPI | None:  # fmt: skip
    """The spring and the servos of a joint as one drive; None without any.

    sign: of the degree of freedom against the joint. is_shared: damping of the joint goes into the drive, as the
    generic joint that it is a part of has one number for all.
    """
    stiffness, damping, effort = joint.stiffness, joint.damping if is_shared else 0.0, joint.stiffness * joint.spring
    servos = [one for one in actuators if one.target == joint.name and one.is_servo]
    for one in servos:
        gear = one.gear
        stiffness += -one.bias[1] * gear**2
        damping += -one.bias[2] * gear**2
        control = one.told if one.control is None else min(max(one.told, one.control[0]), one.control[1])
        effort += gear * (one.bias[0] + one.gain * control)
    if stiffness <= 0.0 and damping <= 0.0:
        return None
    made = usd_physics.DriveAPI(type="force", stiffness=max(stiffness, 0.0), damping=max(damping, 0.0))
    if stiffness > 0.0 and effort:
        made.target_position = sign * effort / stiffness
    elif stiffness <= 0.0 and effort:
        made.target_velocity = sign * effort / damping
    most = most_force(joint, servos)
    if most is not None and not joint.stiffness:
        made.max_force = most
    return made


def most_force(joint: Joint, servos: Sequence[Actuator]) -> float | None:
    """The largest force of the servos of a joint together; None without one, as one of them alone may have none."""
    each = [None if one.force is None else abs(one.gear) * max(map(abs, one.force)) for one in servos]
    known = [force for force in each if force is not None]
    most = sum(known) if known and len(known) == len(each) else None
    if joint.force_range is not None and servos:
        whole = max(map(abs, joint.force_range))
        most = whole if most is None else min(most, whole)
    return most
