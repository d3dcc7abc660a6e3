# SPDX-License-Identifier: GPL-3.0-or-later
"""What bodies weigh, asked of a model with each body alone."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ...core.mass import mass_properties
from ...core.model import Mesh, PhysicsModel, Prim, SpherePoints
from ..layout import Body
from ..weights import Weight


class Geometries:
    """Loaded geometry, by path."""

    def __init__(self) -> None:
        self._loaded: dict[str, Mesh | SpherePoints | None] = {}

    def of(self, prim: Prim) -> Mesh | SpherePoints | None:
        """The mesh or points of a collider, or None."""
        if prim.path not in self._loaded:
            self._loaded[prim.path] = None if prim.mesh is None else prim.mesh()
        return self._loaded[prim.path]


def weight_of(body: Body, model: PhysicsModel, geometries: Geometries) -> Weight:
    """Mass, centre and inertia of a body of a model."""
    part = PhysicsModel(units=model.units)
    for prim in (body.prim, *body.inside):
        part.add(prim if prim.mesh is None else replace(prim, mesh=partial(geometries.of, prim)))
        for material in prim.materials:
            if material in model.prims:
                part.add(model.prims[material])
    found = mass_properties(part, body.prim.path)
    return Weight(found.mass, found.center_of_mass, found.diagonal_inertia, found.principal_axes)
