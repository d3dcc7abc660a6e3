# SPDX-License-Identifier: GPL-3.0-or-later
"""Posing a joint by hand: which bodies move, and by which matrix. Kinematics only."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from ..core import frames
from ..core.errors import InputError
from ..core.frames import Matrix
from .joint_facts import Freedom, JointFacts

#: Angles (rad) about several axes are clamped to this distance from half a turn, where their tangents are infinite.
_EDGE = 1e-3


def clamped(freedom: Freedom, value: float) -> float:
    """The value within the limits of a degree of freedom, m or rad."""
    return min(max(value, freedom.low), freedom.high)


def whole_turns(freedom: Freedom, angle: float) -> float:
    """The angle with as many whole turns as bring it into the limits of a hinge, or nearest to them; rad."""
    turn = 2.0 * math.pi
    if angle < freedom.low:
        beyond = angle + turn * math.ceil((freedom.low - angle) / turn)
        nearer = beyond - turn
    elif angle > freedom.high:
        beyond = angle - turn * math.ceil((angle - freedom.high) / turn)
        nearer = beyond + turn
    else:
        return angle
    return min(nearer, beyond, key=lambda value: abs(value - clamped(freedom, value)))


def carried(joint: JointFacts, holding: Iterable[JointFacts], held: Iterable[str]) -> tuple[tuple[str, ...], bool]:
    """(bodies that move with a posed joint, whether they are on side 0).

    They are connected to the rest by this joint only: on the side of body 1, or of body 0 if side 1 is connected to
    the world. holding: active joints. held: kinematic bodies. Raises InputError if both sides are connected to each
    other or to the world.
    """
    at: dict[str, list[JointFacts]] = defaultdict(list)
    for other in holding:
        if other.path != joint.path:
            at[other.body0].append(other)
            at[other.body1].append(other)
    fixed = {"", *held}
    for start, end, is_first in ((joint.body1, joint.body0, False), (joint.body0, joint.body1, True)):
        reached = _reached(start, end, at, fixed)
        if reached:
            return reached, is_first
    raise InputError(
        f"{joint.prim.display} is part of a closed loop, so it cannot be posed alone; let the physics move it instead."
    )


def _reached(start: str, end: str, at: dict[str, list[JointFacts]], fixed: set[str]) -> tuple[str, ...]:
    """Bodies connected to `start`; empty if it is connected to a fixed body or to `end`."""
    if start in fixed:
        return ()
    reached, stack = {start: None}, [start]
    while stack:
        for joint in at[stack.pop()]:
            for path in (joint.body0, joint.body1):
                if path in fixed or path == end:
                    return ()
                if path not in reached:
                    reached[path] = None
                    stack.append(path)
    return tuple(reached)


def relative_pose(world0: Matrix, world1: Matrix) -> Matrix:
    """Pose (4, 4) of the joint frame on body 1 in that on body 0, from both in the world."""
    result = world1.copy()
    result[:3, 3] -= world0[:3, 3]
    result[:3] = world0[:3, :3].T @ result[:3]
    return result


def position_of(joint: JointFacts, relative: Matrix, axis: int) -> float:
    """Where a degree of freedom is, m or rad within half a turn. relative: see `relative_pose`. axis: as in `names`."""
    if axis == 6:
        return float(np.linalg.norm(relative[:3, 3]))
    if axis < 3:
        return float(relative[axis, 3])
    if joint.turns:
        return math.atan2(relative[2, 1] - relative[1, 2], relative[1, 1] + relative[2, 2])
    return frames.angle_about(relative[:3, :3], axis - 3)


def moved(joint: JointFacts, dof: str, relative: Matrix, value: float) -> Matrix:
    """Pose (4, 4) of the frame on body 1 in that on body 0, with one degree of freedom at a value, m or rad.

    relative: the current pose; the other degrees of freedom are kept. Raises KeyError for an unknown dof.
    """
    axis = joint.names[dof]
    result = relative.copy()
    if axis == 6:
        distance = float(np.linalg.norm(relative[:3, 3]))
        direction = relative[:3, 3] / distance if distance > 1e-9 else np.array([1.0, 0.0, 0.0])
        result[:3, 3] = direction * value
    elif axis < 3:
        result[axis, 3] = value
    else:
        result[:3, :3] = _turned(joint, axis - 3, relative[:3, :3], value)
    return result


def _turned(joint: JointFacts, axis: int, rotation: Matrix, value: float) -> Matrix:
    free = [index for index in range(3) if not joint.freedoms[3 + index].is_locked]
    if free == [axis]:
        half = (value - frames.angle_about(rotation, axis)) / 2.0
        turn = np.zeros(4)
        turn[0], turn[1 + axis] = math.cos(half), math.sin(half)
        return frames.matrix_of(turn) @ rotation
    # With several axes, tan(angle / 2) of each is its component of the quaternion divided by w.
    edge = math.pi - _EDGE
    angles = [frames.angle_about(rotation, each) for each in range(3)]
    tangents = [math.tan(min(max(angle, -edge), edge) / 2.0) for angle in angles]
    tangents[axis] = math.tan(min(max(value, -edge), edge) / 2.0)
    return frames.matrix_of((1.0, *tangents))


def shift(world0: Matrix, world1: Matrix, relative: Matrix, is_first: bool) -> Matrix:
    """World matrix (4, 4) that moves the carried bodies.

    world0, world1: current joint frames of both bodies, in the world. relative: wanted pose of frame 1 in frame 0.
    """
    if is_first:
        # Frame 1 stays, frame 0 moves.
        result: Matrix = world1 @ np.linalg.inv(relative) @ np.linalg.inv(world0)
    else:
        result = world0 @ relative @ np.linalg.inv(world1)
    return result
