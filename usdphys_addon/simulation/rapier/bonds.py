# SPDX-License-Identifier: GPL-3.0-or-later
"""Bonds that yield and then break: joints whose drives hold by no more than their largest forces."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from rapier3d import PhysicsWorld

from ...core.frames import Matrix
from .constraints import Constraint
from .loads import places


class Bonds:
    """Finds the bonds that have given way so far that they break, all in one go: a wall has hundreds."""

    def __init__(self, constraints: Sequence[Constraint]) -> None:
        self._all = [item for item in constraints if item.facts.bond]
        self.forget()

    def forget(self) -> None:
        """A bond broke, or holds again."""
        self._left = [item for item in self._all if item.active]
        self._handles = list(dict.fromkeys(handle for item in self._left for handle in item.handles))
        rows = {handle: row for row, handle in enumerate(self._handles)}
        #: Rows of the bodies (2, n), and the places of the joint in them, (2, n, 3).
        self._ends = np.array([[rows[handle] for handle in item.handles] for item in self._left], int).reshape(-1, 2).T
        frames = [[item.facts.frame0 for item in self._left], [item.facts.frame1 for item in self._left]]
        self._anchors = np.array(frames).reshape(2, -1, 4, 4)[..., :3, 3]
        self._axes = np.array(frames[0]).reshape(-1, 4, 4)[:, :3, :3]
        self._low, self._high, self._stiffness = np.array([item.facts.bond for item in self._left]).reshape(-1, 3, 3).T
        self._bears = np.array([item.facts.break_force for item in self._left])

    def broken(self, physics: PhysicsWorld) -> list[Constraint]:
        """Those that break now; their load is what their drives bear."""
        if not self._left:
            return []
        ways = self._ways(physics).T
        over = np.maximum(np.maximum(ways - self._high, self._low - ways), 0.0) * self._stiffness
        overloaded = [self._left[row] for row in np.flatnonzero(np.linalg.norm(over, axis=0) > self._bears)]
        for item in overloaded:
            item.load = held(item, physics)
        return overloaded

    def _ways(self, physics: PhysicsWorld) -> Matrix:
        """How far the second sides have gone, along the axes of the first (n, 3), m."""
        positions, turns = places([physics.rigid_bodies[handle].position.to_bytes() for handle in self._handles])
        first, second = np.einsum("knij,knj->kni", turns[self._ends], self._anchors) + positions[self._ends]
        ways: Matrix = np.einsum("nji,nj->ni", turns[self._ends[0]] @ self._axes, second - first)
        return ways


def held(bond: Constraint, physics: PhysicsWorld) -> tuple[float, float]:
    """Force (N) and torque (N m) with which the springs of a bond pull back."""
    pulls = [min(bond.stretch(physics, axis) * drive.stiffness, drive.max_force) for axis, drive in bond.drives()]
    return math.hypot(*pulls[:3]), math.hypot(*pulls[3:])
