# SPDX-License-Identifier: GPL-3.0-or-later
"""Write world poses to objects in bulk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import bpy
import mathutils
import numpy as np
from bpy.types import Object
from numpy.typing import NDArray

from ..bridge.identity.remembered import objects_by_name
from ..core import frames

Floats = NDArray[np.float64]
#: From this number of objects on, foreach_set on all objects of the file is faster.
_BULK = 48
_UNTURNED = mathutils.Quaternion()
#: Kinds of parents whose space is known wherever they move.
_FOLLOWED = ("OBJECT", "ARMATURE", "BONE")


class PoseWriter:
    """Writes world matrices of some objects into their location and quaternion.

    names: of the objects, which must be freed (`bridge.authored_poses`). Constants, such as parents and delta
    transforms, are read once. The objects may be parents of each other.
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
        #: Rows whose quaternion is that of the body: no parent, no negative scale, no delta rotation.
        self._is_plain = np.zeros(size, bool)
        self._order: list[str] = []
        self._indices: NDArray[np.int64] = np.zeros(0, np.int64)
        #: Rows whose parents may move by themselves, and the spaces (4, 4) that these give them.
        self._carried: dict[int, Floats] = {}
        known = objects_by_name()
        for row, name in enumerate(names):
            obj: Any = known[name]
            if obj.parent is not None:
                space, above = self._space_above(obj, rows)
                self._above[row] = above
                self._from_parent[row] = np.linalg.pinv(space)
                if obj.parent_type in _FOLLOWED and _is_carried(obj, rows):
                    self._carried[row] = space
                self._depth[row] = self._depth_of(obj, rows)
            scale = [one * other or 1.0 for one, other in zip(obj.scale, obj.delta_scale, strict=True)]
            self._unscale[row, (0, 1, 2), (0, 1, 2)] = [1.0 / part for part in scale]
            self._is_plain[row] = obj.parent is None and min(scale) > 0.0 and obj.delta_rotation_quaternion == _UNTURNED
            if obj.delta_rotation_quaternion != _UNTURNED:
                self._undelta[row] = np.array(obj.delta_rotation_quaternion.to_matrix()).T
            self._delta[row] = obj.delta_location

    def _space_above(self, obj: Object, rows: dict[str, int]) -> tuple[Floats, int]:
        """(matrix (4, 4) from basis to the nearest moving ancestor, or to the world; row of that ancestor, or -1)."""
        if obj.parent_type in _FOLLOWED and obj.parent is not None:
            space = np.array(obj.parent.matrix_world) @ _bone_space(obj) @ np.array(obj.matrix_parent_inverse)
        else:
            space = np.array(obj.matrix_world) @ np.linalg.pinv(np.array(obj.matrix_basis))
        parent = obj.parent
        while parent is not None and parent.name not in rows:
            parent = parent.parent
        if parent is None:
            return space, -1
        return np.linalg.pinv(np.array(parent.matrix_world)) @ space, rows[parent.name]

    def _depth_of(self, obj: Object, rows: dict[str, int]) -> int:
        depth, parent = 0, obj.parent
        while parent is not None:
            depth += parent.name in rows
            parent = parent.parent
        return depth

    @property
    def carried(self) -> dict[str, Floats]:
        """The spaces (4, 4) in the world of the objects whose parents, none of them moving, may be animated."""
        return {self.names[row]: space for row, space in self._spaces_now() if self._above[row] < 0}

    def _spaces_now(self) -> Iterator[tuple[int, Floats]]:
        rows = {name: row for row, name in enumerate(self.names)} if self._carried else {}
        for row in self._carried:
            obj: Any = bpy.data.objects.get(self.names[row])
            if obj is not None and obj.parent is not None:
                yield row, self._space_above(obj, rows)[0]

    def _follow_parents(self) -> list[int]:
        """Take over where these parents are now. Returns the rows whose parents have moved."""
        moved = []
        for row, space in self._spaces_now():
            if not np.array_equal(space, self._carried[row]):
                self._carried[row] = space
                self._from_parent[row] = np.linalg.pinv(space)
                moved.append(row)
        return moved

    def rename(self, names: Mapping[str, str]) -> None:
        """Follow objects that have new names. names: new by old."""
        self.names = [names.get(name, name) for name in self.names]
        self._order = []

    @property
    def are_plain(self) -> bool:
        """True if `write_plain` can be used."""
        return bool(self._is_plain.all())

    def write_plain(self, positions: Floats, quaternions: Floats, changed: NDArray[np.bool_]) -> list[str]:
        """`write` if `are_plain`. positions: (n, 3), Blender units. quaternions: (n, 4), w first. changed: (n,)."""
        rows = np.flatnonzero(changed)
        return self._put(rows, positions[rows] - self._delta[rows], quaternions[rows]) if len(rows) else []

    def write(self, worlds: Floats, changed: NDArray[np.bool_]) -> list[str]:
        """Give objects world matrices. worlds: (n, 4, 4), Blender units. changed: (n,), True for the rows to write.

        Returns the names of objects that no longer exist.
        """
        if moved := self._follow_parents():
            changed = changed.copy()
            changed[moved] = True
        # The basis of a child depends on its parent, so it is written whenever the parent is.
        for depth in range(1, int(self._depth.max(initial=0)) + 1):
            at = self._depth == depth
            changed = changed | (at & changed[self._above])
        rows = np.flatnonzero(changed)
        return self._put(rows, *self.local(worlds, rows)) if len(rows) else []

    def local(self, worlds: Floats, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Locations (m, 3), Blender units, and quaternions (m, 4), w first, of rows (m,). worlds: (n, 4, 4) of all."""
        self._follow_parents()
        placed = worlds[rows]
        above = self._above[rows]
        below = above >= 0
        placed[below] = np.linalg.solve(worlds[above[below]], placed[below])
        basis = self._from_parent[rows] @ placed
        locations = basis[:, :3, 3] - self._delta[rows]
        turns = self._undelta[rows] @ basis[:, :3, :3] @ self._unscale[rows]
        return locations, frames.quaternions_of(turns)

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
        # One iteration: access by index walks the list each time.
        for obj, is_written in zip(objects, written.tolist(), strict=True):
            if is_written:
                obj.update_tag(refresh={"OBJECT"})
        return [self.names[row] for row in rows[~there]]


def _bone_space(obj: Any) -> Floats:
    """The space (4, 4) of the bone that an object is parented to, in its armature; else the identity."""
    bone = obj.parent.pose.bones.get(obj.parent_bone) if obj.parent_type == "BONE" and obj.parent.pose else None
    if bone is None:
        return np.eye(4)
    if bone.bone.use_relative_parent:
        return np.array(bone.matrix_channel)
    space = np.array(bone.matrix)
    space[:3, 3] = bone.tail
    return space


def _is_carried(obj: Object, rows: Mapping[str, int]) -> bool:
    """True if a parent below the next moving one (rows: by name) is animated, or constrained, or a bone."""
    child, parent = obj, obj.parent
    while parent is not None and parent.name not in rows:
        if child.parent_type == "BONE" or parent.animation_data is not None or len(parent.constraints):
            return True
        child, parent = parent, parent.parent
    return False
