# SPDX-License-Identifier: GPL-3.0-or-later
"""Large static boxes, cut to the part that bodies may reach, which goes along with them.

The solver's search for the contacts of cylinders, cones, capsules and hulls calculates in single precision with the
corners of a box. If they are hundreds of times as far away as the body is large, it finds contacts in wrong places, or
none for some steps: a cylinder that rolls on a floor of 100 m leaps by half of its radius.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapier3d import PhysicsWorld, SharedShape

from ...core import frames
from ...core.frames import Matrix
from .constraints import isometry, matrix_of

#: How far a window reaches beyond all bodies, in sizes of the smallest one.
PAD = 40.0


class _Window:
    """pose (4, 4): of the box in its body. half (3,): of its sides. low, high (3,): ends of the window in it, m."""

    def __init__(self, body: Any, collider: Any, pose: Matrix, half: NDArray[np.float64]) -> None:
        self.body, self.collider, self.pose, self.half = body, collider, pose, half
        self.low, self.high = -half, half

    def set(self, physics: PhysicsWorld, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        self.low, self.high = low, high
        found = physics.colliders[self.collider]
        found.shape = SharedShape.cuboid(*(0.5 * (high - low)).tolist())
        found.position_wrt_parent = isometry(self.pose @ frames.transform(0.5 * (low + high)))


class Windows:
    """The windows of one world of the solver."""

    def __init__(self, physics: PhysicsWorld, bodies: Iterable[Any], size: float) -> None:
        """bodies: handles of the static ones. size: m, of the smallest body whose contacts are searched for, or 0."""
        self._pad = PAD * size
        self._all: list[_Window] = []
        for body in bodies if size > 0.0 else ():
            collider = physics.rigid_bodies[body].colliders[0]
            found = physics.colliders[collider]
            box = found.shape.as_cuboid()
            half = None if box is None else np.array(box.half_extents.to_tuple(), float)
            if half is not None and half.max() > self._pad:
                self._all.append(_Window(body, collider, matrix_of(found.position_wrt_parent), half))

    def move(self, physics: PhysicsWorld, positions: NDArray[np.float64], reaches: NDArray[np.float64]) -> bool:
        """Before a time step; True if a box has another shape than before. positions (n, 3), reaches (n,): of the
        dynamic bodies, m, and how far each may touch something."""
        has_moved = False
        for window in self._all if len(positions) else ():
            place = matrix_of(physics.rigid_bodies[window.body].position) @ window.pose
            local = (positions - place[:3, 3]) @ place[:3, :3]
            low, high = (local - reaches[:, None]).min(axis=0), (local + reaches[:, None]).max(axis=0)
            half = window.half
            is_inside = ((low >= window.low) | (window.low <= -half)) & ((high <= window.high) | (window.high >= half))
            if is_inside.all() and self._is_small(window, low, high):
                continue
            # A part remains, of a box that all bodies are far away from.
            low = np.clip(low - self._pad, -half, half - np.minimum(self._pad, half))
            high = np.clip(high + self._pad, np.minimum(self._pad, half) - half, half)
            window.set(physics, low, high)
            has_moved = True
        return has_moved

    def _is_small(self, window: _Window, low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
        """False for a window that could be smaller by more than half."""
        wanted = np.minimum(high - low + 2.0 * self._pad, 2.0 * window.half)
        return bool((window.high - window.low <= 2.0 * wanted).all())

    def read(self, physics: PhysicsWorld) -> None:
        """Take over the windows of a world that was restored."""
        for window in self._all:
            found = physics.colliders[window.collider]
            half = np.array(found.shape.as_cuboid().half_extents.to_tuple(), float)
            middle = (np.linalg.inv(window.pose) @ matrix_of(found.position_wrt_parent))[:3, 3]
            window.low, window.high = middle - half, middle + half
