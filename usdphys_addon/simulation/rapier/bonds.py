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
        self._all = [(item, item.facts.bond) for item in constraints if item.facts.bond is not None]
        self.forget()

    def forget(self) -> None:
        """A bond broke, or holds again."""
        found = [(item, bond) for item, bond in self._all if item.active]
        self._left = [item for item, _ in found]
        self._handles = list(dict.fromkeys(handle for item in self._left for handle in item.handles))
        rows = {handle: row for row, handle in enumerate(self._handles)}
        #: Rows of the bodies (2, n), and the joint frames in them, (2, n, 4, 4).
        self._ends = np.array([[rows[handle] for handle in item.handles] for item in self._left], int).reshape(-1, 2).T
        self._frames = np.array(
            [[item.facts.frame0 for item in self._left], [item.facts.frame1 for item in self._left]]
        )  # fmt: skip
        self._reach = np.array([bond.reach for _, bond in found])
        self._stiffness = np.array([bond.stiffness for _, bond in found])
        self._axes = np.array([bond.axis for _, bond in found], int)
        self._signs, self._edges = np.array([(bond.sign, bond.edge) for _, bond in found]).reshape(-1, 2).T
        self._bears = np.array([item.facts.break_force for item in self._left])

    def broken(self, physics: PhysicsWorld) -> list[Constraint]:
        """Those that break now; their load is what their drives bear."""
        if not self._left:
            return []
        over = np.maximum(self._ways(physics) - self._reach, 0.0) * self._stiffness
        found = [self._left[row] for row in np.flatnonzero(np.linalg.norm(over, axis=1) > self._bears)]
        for item in found:
            item.load = held(item, physics)
        return found

    def _ways(self, physics: PhysicsWorld) -> Matrix:
        """How far each has given way, along the axes of its first side (n, 3), m."""
        positions, turns = places([physics.rigid_bodies[handle].position.to_bytes() for handle in self._handles])
        at, axes = turns[self._ends], turns[self._ends] @ self._frames[..., :3, :3]
        anchors = np.einsum("knij,knj->kni", at, self._frames[..., :3, 3]) + positions[self._ends]
        found: Matrix = np.einsum("nji,nj->ni", axes[0], anchors[1] - anchors[0])
        every = np.arange(len(found))
        normals = axes[:, every, :, self._axes]
        tilts = np.linalg.norm(np.cross(normals[:, 0], normals[:, 1]), axis=1)
        parts = self._signs * found[every, self._axes]
        found = np.abs(found)
        # The bodies pivot on their edges, so the middle opens. What is pressed together does not break.
        found[every, self._axes] = np.maximum(parts, 0.0) + tilts * self._edges
        return found


def held(bond: Constraint, physics: PhysicsWorld) -> tuple[float, float]:
    """Force (N) and torque (N m) with which the springs of a bond pull back."""
    pulls = [min(bond.stretch(physics, axis) * drive.stiffness, drive.max_force) for axis, drive in bond.drives()]
    return math.hypot(*pulls[:3]), math.hypot(*pulls[3:])
