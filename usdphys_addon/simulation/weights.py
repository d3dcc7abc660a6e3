# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body weighs, in a simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.frames import Matrix
from ..core.mass import inertia_tensor
from ..core.schema import Quaternion, Vector

#: Smallest positive number in 32 bits without loss.
_SMALLEST = float(np.finfo(np.float32).tiny)


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

    @property
    def inverse_inertia(self) -> Matrix:
        """Inverse of that tensor; 0 about axes whose moment is 0 in the 32 bits of the solver, as it takes them."""
        return inertia_tensor([1.0 / moment if moment >= _SMALLEST else 0.0 for moment in self.moments], self.axes)

    def scaled_to(self, mass: float) -> Weight:
        """The weight with another mass; moments scale with it."""
        x, y, z = (moment * mass / self.mass for moment in self.moments)
        return Weight(mass, self.center, (x, y, z), self.axes)
