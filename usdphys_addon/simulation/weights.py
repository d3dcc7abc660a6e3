# SPDX-License-Identifier: GPL-3.0-or-later
"""What bodies weigh in a simulation, for every engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..core.frames import Matrix
from ..core.mass import BodyMassProperties, diagonalized, inertia_tensor
from ..core.model import Mesh, PhysicsModel, Prim, SpherePoints
from ..core.schema import Quaternion, Vector
from .layout import Body

Geometry = Mesh | SpherePoints | None

#: Smallest positive number in 32 bits without loss.
_SMALLEST = float(np.finfo(np.float32).tiny)


@dataclass(slots=True)
class Weight:
    """Mass (kg), centre of mass (m), principal moments (kg m2) and their axes (w, x, y, z), in the body's own frame."""

    mass: float
    center: Vector
    moments: Vector
    axes: Quaternion

    @staticmethod
    def of(found: BodyMassProperties) -> Weight:
        """The weight that the model gives a body."""
        return Weight(found.mass, found.center_of_mass, found.diagonal_inertia, found.principal_axes)

    @property
    def inertia(self) -> Matrix:
        """Tensor (3, 3) about the centre of mass."""
        return inertia_tensor(self.moments, self.axes)

    @property
    def inverse_inertia(self) -> Matrix:
        """Inverse of that tensor; 0 about axes whose moment is 0 in the 32 bits of the solver, as it takes them."""
        return inertia_tensor([1.0 / moment if moment >= _SMALLEST else 0.0 for moment in self.moments], self.axes)

    def plus(self, inertia: Matrix) -> Weight:
        """The weight with more inertia (3, 3), kg m2, and no more mass."""
        moments, axes = diagonalized(self.inertia + inertia)
        return replace(self, moments=moments, axes=axes)

    def scaled_to(self, mass: float) -> Weight:
        """The weight with another mass; moments scale with it."""
        x, y, z = (moment * mass / self.mass for moment in self.moments)
        return Weight(mass, self.center, (x, y, z), self.axes)


class Geometries:
    """Cache of loaded geometry, by path."""

    def __init__(self) -> None:
        self._loaded: dict[str, Geometry] = {}
        self.forget = self._loaded.clear

    def of(self, prim: Prim) -> Geometry:
        """The mesh or points of a collider, or None."""
        if prim.mesh is None:
            return None
        if prim.path not in self._loaded:
            self._loaded[prim.path] = prim.mesh()
        return self._loaded[prim.path]


def alone(body: Body, model: PhysicsModel, geometries: Geometries) -> PhysicsModel:
    """A small model with the prims that decide the mass of one body, for speed. Loads meshes through the cache."""
    part = PhysicsModel(units=model.units)
    for prim in (body.prim, *body.inside):
        part.add(prim if prim.mesh is None else replace(prim, mesh=partial(geometries.of, prim)))
        for material in prim.materials:
            if material in model.prims:
                part.add(model.prims[material])
    return part
