# SPDX-License-Identifier: GPL-3.0-or-later
"""Cables: curves that deform, as prims of a model.

The names of schemas and attributes are in the table of deformables: a row that means something for a cable says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import deformables, vendor_data, vendor_schemas
from .frames import Matrix
from .model import Prim
from .schema import Schema
from .schemas import usd_physics

#: Key of the rows of the table, and its file.
_KEY, _RUNTIME = "cable", "OpenUSD"


@dataclass(frozen=True, slots=True)
class Cable:
    """What a cable is made of. thickness: diameter, m. density: kg/m^3. youngs_modulus: Pa.

    bending_stiffness: N m^2; 0 for that of a solid rod. A rope of strands bends much more easily.
    """

    thickness: float
    density: float
    youngs_modulus: float
    poissons_ratio: float
    friction: float
    bending_stiffness: float = 0.0

    def mass_of(self, length: float) -> float:
        """kg. length: m."""
        return self.density * math.pi * self.thickness**2 / 4.0 * length


class End(NamedTuple):
    """A point of a cable that is held. holder: path of a prim. place: (3,), m, in the space of that prim."""

    name: str
    point: int
    holder: str
    place: tuple[float, float, float]


def prims(
    path: str, geometry: str, world: Matrix, label: str, cable: Cable, ends: Sequence[End]
) -> Iterator[Prim]:  # fmt: skip
    """The prims of a cable: its curve, its material, and what holds it.

    path: of the object, which stands still. geometry: of the curve. world: (4, 4), m.
    """
    material = f"{path}/cable_material"
    curve = Prim(geometry, "BasisCurves", world, label=label, physics_binding=material)
    curve.extras[deformables.KEY] = "curves"
    curve.add(_made("body"))
    curve.add(_made("geometry", thicknesses=(cable.thickness,), thickness_of="constant"))
    curve.add(usd_physics.CollisionAPI())
    yield curve
    stuff = Prim(material, "Material", is_xformable=False, label=label)
    stuff.extras[deformables.KEY] = deformables.MATERIAL
    stuff.add(usd_physics.MaterialAPI(
        density=cable.density, static_friction=cable.friction, dynamic_friction=cable.friction
    ))  # fmt: skip
    own = {"bending_stiffness": cable.bending_stiffness} if cable.bending_stiffness > 0.0 else {}
    stuff.add(_made("material", youngs_modulus=cable.youngs_modulus, poissons_ratio=cable.poissons_ratio, **own))
    yield stuff
    for end in ends:
        held = _made(
            "end", cable=(geometry,), holder=(end.holder,), kind="point", holder_kind="xform", points=(end.point,),
            places=(end.place,),
        )  # fmt: skip
        prim = Prim(f"{path}/{end.name}", held.usd_name, is_xformable=False, label=label)
        prim.add(held)
        yield prim


def deformable(path: str, points: NDArray[np.float64], cable: Cable) -> deformables.Deformable:
    """A cable as a deformable. path: of the curve. points: (n, 3), m, in the world."""
    count = len(points)
    elements = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    return deformables.Deformable(
        path, "curves", points, points, elements, thicknesses=(np.array([cable.thickness]), "constant"), body=path,
        density=cable.density, schemas=frozenset(_row(word)["name"] for word in ("body", "geometry")),
        curve_of_element=np.zeros(count - 1, np.int64),
    )  # fmt: skip


@vendor_data.follows
@cache
def _row(word: str) -> dict[str, Any]:
    """The row of the schema that has a meaning for cables."""
    rows = (row for table in vendor_data.tables() if table["runtime"] == _RUNTIME for row in table["schemas"])
    return next(row for row in rows if row.get(_KEY) == word)


def _made(word: str, **values: Any) -> Schema:
    """The schema that has a meaning for cables, with values by the meaning of its attributes."""
    row = _row(word)
    names = {item[_KEY]: item["usd"] for item in row["attributes"] if _KEY in item}
    return vendor_schemas.made(row["name"], {names[key]: value for key, value in values.items()})
