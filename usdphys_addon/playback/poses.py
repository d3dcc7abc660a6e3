# SPDX-License-Identifier: GPL-3.0-or-later
"""World poses -> object transforms in bulk, and authored transforms saved and restored bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import mathutils
import numpy as np
from numpy.typing import NDArray

from ..bridge.naming import objects_by_name

Floats = NDArray[np.float64]
#: From this number of objects on, all objects of the file are written at once.
_BULK = 48
_UNTURNED = mathutils.Quaternion()
#: Axis and angle of an object that holds a simulated pose: a turn about no axis, which a quaternion leaves unused. An
#: undo step that was made while a preview ran is known by it, object by object, as Blender takes back objects.
_SIMULATED = (-1.0, 0.0, 0.0, 0.0)


@dataclass(slots=True)
class Transform:
    """The transform properties of an object, and the constraints that were active."""

    location: tuple[float, ...]
    mode: str
    quaternion: tuple[float, ...]
    euler: tuple[float, ...]
    axis_angle: tuple[float, ...]
    constraints: tuple[str, ...]


def saved(obj: Any) -> Transform:
    """The transform of an object as it is authored."""
    return Transform(
        tuple(obj.location), obj.rotation_mode, tuple(obj.rotation_quaternion), tuple(obj.rotation_euler),
        tuple(obj.rotation_axis_angle), tuple(item.name for item in obj.constraints if not item.mute),
    )  # fmt: skip


def freed(obj: Any) -> None:
    """Make an object follow its location and quaternion alone, which are simulated from now on."""
    obj.rotation_mode = "QUATERNION"
    for constraint in obj.constraints:
        constraint.mute = True
    obj.rotation_axis_angle = _SIMULATED


def is_simulated(obj: Any) -> bool:
    """True from `freed` to `restored` or `applied`."""
    return obj.rotation_mode == "QUATERNION" and tuple(obj.rotation_axis_angle) == _SIMULATED


def restored(obj: Any, before: Transform) -> None:
    """Put a saved transform back, bit for bit."""
    obj.rotation_mode = before.mode
    obj.location = before.location
    obj.rotation_quaternion, obj.rotation_euler = before.quaternion, before.euler
    obj.rotation_axis_angle = before.axis_angle
    _unmute(obj, before)


def applied(obj: Any, before: Transform) -> None:
    """Keep the transform that an object has now, in the rotation mode that it had before."""
    # Each rotation mode has a delta rotation of its own.
    turned = obj.delta_rotation_quaternion.normalized() @ obj.rotation_quaternion.normalized()
    obj.rotation_mode = before.mode
    obj.rotation_axis_angle = before.axis_angle
    if before.mode == "AXIS_ANGLE":
        axis, angle = turned.to_axis_angle()
        obj.rotation_axis_angle = (angle, *axis)
    elif before.mode != "QUATERNION":
        delta = mathutils.Euler(obj.delta_rotation_euler, before.mode).to_quaternion()
        # Of all angles that mean the same those next to the old ones.
        old = mathutils.Euler(before.euler, before.mode)
        obj.rotation_euler = (delta.inverted() @ turned).to_euler(before.mode, old)
    _unmute(obj, before)


def _unmute(obj: Any, before: Transform) -> None:
    for name in before.constraints:
        if name in obj.constraints:
            obj.constraints[name].mute = False


class PoseWriter:
    """Writes world matrices of some objects into their location and quaternion.

    names: of the objects, which are freed. All that is constant, like parents and delta transforms, is looked at once;
    the objects may be parents of each other.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        rows = {name: row for row, name in enumerate(names)}
        size = len(names)
        self._above = np.full(size, -1)
        self._from_parent = np.tile(np.eye(4), (size, 1, 1))
        self._unscale = np.tile(np.eye(3), (size, 1, 1))
        self._undelta = np.tile(np.eye(3), (size, 1, 1))
        self._delta = np.zeros((size, 3))
        self._depth = np.zeros(size, int)
        #: Rows whose quaternion is that of the body: nothing above them, nothing mirrored.
        self._is_plain = np.zeros(size, bool)
        self._order: list[str] = []
        self._indices: NDArray[np.int64] = np.zeros(0, np.int64)
        known = objects_by_name()
        for row, name in enumerate(names):
            obj: Any = known[name]
            if obj.parent is not None:
                space, above = self._space_above(obj, rows)
                self._above[row] = above
                self._from_parent[row] = np.linalg.pinv(space)
                self._depth[row] = self._depth_of(obj, rows)
            scale = [one * other or 1.0 for one, other in zip(obj.scale, obj.delta_scale, strict=True)]
            self._unscale[row, (0, 1, 2), (0, 1, 2)] = [1.0 / part for part in scale]
            self._is_plain[row] = obj.parent is None and min(scale) > 0.0 and obj.delta_rotation_quaternion == _UNTURNED
            if obj.delta_rotation_quaternion != _UNTURNED:
                self._undelta[row] = np.array(obj.delta_rotation_quaternion.to_matrix()).T
            self._delta[row] = obj.delta_location

    def _space_above(self, obj: Any, rows: dict[str, int]) -> tuple[Floats, int]:
        """(what the basis of an object is multiplied with, row of the moving object above it that this is below)."""
        if obj.parent_type == "OBJECT":
            space = np.array(obj.parent.matrix_world) @ np.array(obj.matrix_parent_inverse)
        else:
            space = np.array(obj.matrix_world) @ np.linalg.pinv(np.array(obj.matrix_basis))
        parent = obj.parent
        while parent is not None and parent.name not in rows:
            parent = parent.parent
        if parent is None:
            return space, -1
        return np.linalg.pinv(np.array(parent.matrix_world)) @ space, rows[parent.name]

    def _depth_of(self, obj: Any, rows: dict[str, int]) -> int:
        depth, parent = 0, obj.parent
        while parent is not None:
            depth += parent.name in rows
            parent = parent.parent
        return depth

    @property
    def are_plain(self) -> bool:
        """True where `write_plain` does."""
        return bool(self._is_plain.all())

    def write_plain(self, positions: Floats, quaternions: Floats, changed: NDArray[np.bool_]) -> list[str]:
        """`write` for objects without parents: positions (n, 3), Blender units, and quaternions (n, 4)."""
        rows = np.flatnonzero(changed)
        return self._put(rows, positions[rows] - self._delta[rows], quaternions[rows]) if len(rows) else []

    def write(self, worlds: Floats, changed: NDArray[np.bool_]) -> list[str]:
        """Put objects to world matrices (n, 4, 4), Blender units; changed: (n,) the rows to write.

        Returns the names of objects that are not there any more.
        """
        # What is below a body that moves has to be written with it.
        for depth in range(1, int(self._depth.max(initial=0)) + 1):
            at = self._depth == depth
            changed = changed | (at & changed[self._above])
        rows = np.flatnonzero(changed)
        return self._put(rows, *self.local(worlds, rows)) if len(rows) else []

    def local(self, worlds: Floats, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Locations (m, 3) and quaternions (m, 4), w first, of some rows for the world matrices (n, 4, 4) of all."""
        placed = worlds[rows]
        above = self._above[rows]
        below = above >= 0
        placed[below] = np.linalg.solve(worlds[above[below]], placed[below])
        basis = self._from_parent[rows] @ placed
        locations = basis[:, :3, 3] - self._delta[rows]
        turns = self._undelta[rows] @ basis[:, :3, :3] @ self._unscale[rows]
        return locations, quaternions_of(turns)

    def _put(self, rows: NDArray[np.int64], locations: Floats, quaternions: Floats) -> list[str]:
        objects = bpy.data.objects
        if len(rows) < _BULK:
            gone = []
            for row, location, quaternion in zip(rows, locations.tolist(), quaternions.tolist(), strict=True):
                obj = objects.get(self.names[row])
                if obj is None:
                    gone.append(self.names[row])
                    continue
                obj.location, obj.rotation_quaternion = location, quaternion
            return gone
        order = objects.keys()
        if order != self._order:
            place = {name: index for index, name in enumerate(order)}
            self._order = order
            self._indices = np.array([place.get(name, -1) for name in self.names])
        where = self._indices[rows]
        there = where >= 0
        for name, values, width in (("location", locations, 3), ("rotation_quaternion", quaternions, 4)):
            flat = np.empty(len(order) * width, np.float32)
            objects.foreach_get(name, flat)
            flat.reshape(-1, width)[where[there]] = values[there]
            objects.foreach_set(name, flat)
        written = np.zeros(len(order), bool)
        written[where[there]] = True
        # One walk: to get at an object by its number is a walk of its own.
        for obj, is_written in zip(objects, written.tolist(), strict=True):
            if is_written:
                obj.update_tag(refresh={"OBJECT"})
        return [self.names[row] for row in rows[~there]]


def quaternions_of(turns: Floats) -> Floats:
    """Quaternions (n, 4), w first, of rotation matrices (n, 3, 3) that may be a little off."""
    a, b, c = turns[:, 0, 0], turns[:, 1, 1], turns[:, 2, 2]
    squares = np.stack([1 + a + b + c, 1 + a - b - c, 1 - a + b - c, 1 - a - b + c], axis=1)
    largest = squares.argmax(axis=1)
    x, y, z = turns[:, 2, 1] - turns[:, 1, 2], turns[:, 0, 2] - turns[:, 2, 0], turns[:, 1, 0] - turns[:, 0, 1]
    xy, yz, zx = turns[:, 0, 1] + turns[:, 1, 0], turns[:, 1, 2] + turns[:, 2, 1], turns[:, 0, 2] + turns[:, 2, 0]
    candidates = np.stack([
        np.stack([squares[:, 0], x, y, z], axis=1), np.stack([x, squares[:, 1], xy, zx], axis=1),
        np.stack([y, xy, squares[:, 2], yz], axis=1), np.stack([z, zx, yz, squares[:, 3]], axis=1),
    ], axis=1)  # fmt: skip
    picked = candidates[np.arange(len(turns)), largest]
    lengths = np.linalg.norm(picked, axis=1, keepdims=True)
    return np.asarray(picked / np.where(lengths == 0.0, 1.0, lengths), float)
