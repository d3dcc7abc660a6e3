# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest engine: bodies hang in the air, and kinematic ones go where they are led."""

from __future__ import annotations

import numpy as np
from usdphys_ext.usdphys_addon.simulation.engine import Engine, Setup, Solver, Step

#: Its row.
HANGING = Solver("Hanging", "Bodies hang in the air", f"{__name__}:Hanging")


class Hanging(Engine):
    """All poses are those of the setup, but for bodies that are led."""

    def __init__(self, setup: Setup) -> None:
        self.gravity = tuple(setup.gravity.tolist())
        self.weights, self.grabs = {}, {}
        self._bodies = list(setup.bodies.values())
        self._rows = {path: row for row, path in enumerate(setup.bodies)}
        self._led = {}

    def build(self):
        for _ in self._bodies:
            yield 1.0

    def step(self, positions, rotations):
        for path, (position, rotation) in self._led.items():
            positions[self._rows[path]], rotations[self._rows[path]] = position, rotation
        return Step(np.zeros(len(self._rows), bool))

    def read_poses(self, positions, rotations):
        pass

    def velocities(self):
        return np.zeros((len(self._rows), 6))

    def save(self):
        return dict(self._led)

    def load(self, saved):
        self._led = dict(saved)

    def set_kinematic_pose(self, path, position, rotation):
        self._led[path] = position, rotation
