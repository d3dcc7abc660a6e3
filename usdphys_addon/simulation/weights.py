# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body weighs, in a simulation."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.frames import Matrix
from ..core.mass import inertia_tensor
from ..core.schema import Quaternion, Vector


@dataclass(slots=True)
class Weight:
    """Mass (kg), centre of mass (m), principal moments (kg m2) and their axes (w, x, y, z), in the body's own frame."""

    mass: float
    center: Vector
    moments: Vector
    axes: Quaternion

    @property
    def inertia(self) -> Matrix:
        """Tensor (3, 3) about the centre of mass."""
        return inertia_tensor(self.moments, self.axes)

    def scaled_to(self, mass: float) -> Weight:
        """The weight with another mass; moments scale with it."""
        x, y, z = (moment * mass / self.mass for moment in self.moments)
        return Weight(mass, self.center, (x, y, z), self.axes)
