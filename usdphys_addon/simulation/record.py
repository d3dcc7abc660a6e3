# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the poses of a simulation, and converts them to the units and axes of a stage."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import frames, gprims
from ..core.animation import Key
from ..core.errors import InputError, UsageError
from ..core.frames import Matrix
from ..core.model import PhysicsModel
from ..core.units import StageUnits
from ..core.words import counted
from .contact_history import Contact, ContactHistory
from .live_values import LiveValues, Ties, quaternion_product
from .load_history import JointBreak, LoadHistory
from .world import World

Floats = NDArray[np.float64]


class Changing(NamedTuple):
    """live: takes the animated values. at: gives them at a frame. ties: what `HandOver.note` takes, by path, at the
    frame of the last movers; None without any."""

    live: LiveValues
    at: Callable[[int], Mapping[Key, Any]]
    ties: Callable[[str], Ties] | None = None


#: Returns world matrices (4, 4) of animated kinematic bodies and static colliders, by path, at a frame.
Movers = Callable[[int], Mapping[str, Matrix]]


class Animation(NamedTuple):
    """What is animated, at the start and at the end of each time step; empty without any.

    places: world matrices (4, 4), m, of bodies and static colliders, by path. values: SI.
    """

    places: Sequence[Mapping[str, Matrix]]
    values: Sequence[Mapping[Key, Any]]


#: Numbers that a recording keeps in memory, 0.8 GB, and how many there are for a body and a frame.
_MOST_NUMBERS, _NUMBERS = 100_000_000, 23


@dataclass(slots=True)
class Recording:
    """matrices (f, n, 4, 4): world matrices, SI and Z up. positions (f, n, 3). rotations (f, n, 4): (w, x, y, z).

    loads (f, 2): force (N) and torque (N m) of joints by path. wrenches (f, 2, 3): the same on their second bodies, at
    the joint frames there and along their axes. broken: the joints that broke. contacts: those that began with
    more than an impulse; None where they were not asked for.
    """

    fps: float
    paths: tuple[str, ...]
    kinematic: NDArray[np.bool_]
    matrices: Floats
    positions: Floats
    rotations: Floats
    loads: Mapping[str, Floats] = field(default_factory=dict)
    wrenches: Mapping[str, Floats] = field(default_factory=dict)
    broken: Mapping[str, JointBreak] = field(default_factory=dict)
    contacts: Sequence[Contact] | None = None

    def in_stage(self, units: StageUnits) -> Floats:
        """World matrices (f, n, 4, 4) in the units and axes of a stage."""
        result = self.matrices.copy()
        turn = units.to_z_up.T
        result[:, :, :3, :3] = turn @ result[:, :, :3, :3]
        result[:, :, :3, 3] = result[:, :, :3, 3] @ turn.T / units.meters_per_unit
        return result

    def as_json(self, units: StageUnits) -> dict[str, Any]:
        """Positions and quaternions (w, x, y, z) of all bodies at all frames, in units and axes of a stage."""
        turn = units.to_z_up.T
        places = self.positions @ turn.T / units.meters_per_unit
        rotations = quaternion_product(np.array(frames.quaternion_of(turn)), self.rotations)
        bodies = {
            path: {"translation": places[:, row].tolist(), "rotation": rotations[:, row].tolist()}
            for row, path in enumerate(self.paths)
        }
        data = {"fps": self.fps, "frames": len(self.positions), "bodies": bodies}
        if self.contacts is not None:
            data["contacts"] = [
                {
                    "seconds": each.seconds, "between": [each.first, each.second],
                    "impulse_newton_seconds": each.impulse,
                }
                for each in self.contacts
            ]  # fmt: skip
        if not self.loads:
            return data
        joints: dict[str, dict[str, Any]] = {
            path: {
                "force_newtons": load[:, 0].tolist(), "torque_newton_metres": load[:, 1].tolist(),
                "largest_force_newtons": float(load[:, 0].max()),
                "largest_torque_newton_metres": float(load[:, 1].max()),
                "force_on_body1": self.wrenches[path][:, 0].tolist(),
                "torque_on_body1": self.wrenches[path][:, 1].tolist(),
            }
            for path, load in self.loads.items()
        }  # fmt: skip
        for path, broken in self.broken.items():
            joints[path]["broken_seconds"] = broken.seconds
            joints[path]["broken_under_newtons"] = broken.force
            joints[path]["broken_under_newton_metres"] = broken.torque
        return {**data, "joints": joints}


def most_frames(world: World) -> int:
    """Frames whose poses are kept in memory."""
    return _MOST_NUMBERS // (_NUMBERS * max(1, len(world.paths)))


def frame_count(world: World, seconds: float) -> int:
    """Frames of a simulated time. Raises UsageError if their poses would not fit into memory."""
    frames_of = seconds / world.time_step
    most = most_frames(world)
    if frames_of > most:
        raise UsageError(
            f"{seconds:g} seconds are {frames_of:.3g} frames, more than the {most} that are kept in memory for "
            f"{counted(len(world.paths), 'body')}; choose fewer seconds or frames per second."
        )
    return max(1, round(frames_of))


def refuse_lost(model: PhysicsModel) -> None:
    """Raise InputError for a body or collider that is nowhere: at NaN, or too far away or too large for the solver."""
    for prim in {**model.bodies, **model.colliders}.values():
        transform, size = gprims.reach(prim)
        if not transform <= gprims.LARGEST:
            raise InputError(
                f"The transform of {prim.display} holds NaN or a number above {gprims.LARGEST:g}; correct it."
            )
        if not size <= gprims.LARGEST:
            raise InputError(f"The size of {prim.display} is NaN or above {gprims.LARGEST:g} m; correct it.")


def _flush() -> None:
    with suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.flush()


@contextmanager
def engine_silenced() -> Iterator[None]:
    """Drop what an engine prints by itself where it fails, lines of its own source."""
    _flush()
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)
    try:
        yield
    finally:
        _flush()
        os.dup2(saved, 2)
        os.close(saved)


def _pose_of(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Position (3,) and quaternion (4,), w first, of a world matrix."""
    return matrix[:3, 3], np.array(frames.quaternion_of(frames.rotation_of(matrix)))


def record(
    world: World, count: int, movers: Movers | None = None, *, with_loads: bool = False, values: Changing | None = None,
    least_impulse: float | None = None, looks_ahead: bool = False,
) -> Recording:  # fmt: skip
    """Record the start and `count` steps of a world. movers: called before each step with its frame, from 1 on.

    with_loads: of the joints, too. values: those that are animated. least_impulse: N s, with which the contacts begin
    that are recorded; None for no contacts. looks_ahead: movers may be asked for a frame before the values of the one
    before it are; so it is known how a motion that begins goes on.
    """
    joints = world.joints if with_loads else ()
    loads = {path: np.zeros((count + 1, 2)) for path in joints}
    wrenches = {path: np.zeros((count + 1, 2, 3)) for path in joints}
    history = LoadHistory(world)
    broken = history.breaks
    blows = None if least_impulse is None else ContactHistory(world, least_impulse)
    matrices = np.empty((count + 1, len(world.paths), 4, 4))
    positions, rotations = np.empty((count + 1, len(world.paths), 3)), np.empty((count + 1, len(world.paths), 4))
    known = set(world.paths)
    hand_over = values.live.hand_over if values is not None else None
    if values is not None:
        values.live.take(values.at(0))
    following: Mapping[str, Matrix] = {}
    for frame in range(count + 1):
        if frame:
            if values is not None:
                # What the scene shows is that of the step's end, once it is asked for its movers.
                values.live.begin()
            moved = following if looks_ahead and frame > 1 else movers(frame) if movers is not None else {}
            following = movers(frame + 1) if looks_ahead and movers is not None and frame < count else {}
            now = values.at(frame) if values is not None else {}
            if values is not None:
                values.live.expect(now)
            for path, matrix in moved.items():
                place, turn = _pose_of(matrix)
                if path not in known:
                    world.set_static_pose(path, place, turn)
                    continue
                then = _pose_of(following[path]) if path in following and path not in world.switching else None
                if hand_over is not None and path in world.switching:
                    ties = values.ties(path) if values is not None and values.ties is not None else ()
                    place, turn = hand_over.note(frame * world.time_step, path, place, turn, ties)
                    place, turn = hand_over.goal(path, place, turn)
                if world.kinematic[world.index(path)]:
                    world.set_kinematic_pose(path, place, turn, then=then)
            if values is not None:
                values.live.take(now)
            world.step()
            history.note()
            if blows is not None:
                blows.note()
        matrices[frame] = world.matrices()
        positions[frame], rotations[frame] = world.positions, world.rotations
        for path in joints:
            if path not in broken or broken[path].seconds == world.time:
                loads[path][frame], wrenches[path][frame] = world.joint_load(path), world.joint_wrench(path)
    for row, path in enumerate(world.paths):
        if not (np.isfinite(matrices[:, row]).all() and np.isfinite(rotations[:, row]).all()):
            raise InputError(f"The motion of '{path}' is not finite; look for odd values with validate.")
    rate = 1.0 / world.time_step
    return Recording(
        rate, world.paths, world.kinematic, matrices, positions, rotations, loads, wrenches, broken,
        None if blows is None else blows.contacts,
    )  # fmt: skip
