# SPDX-License-Identifier: GPL-3.0-or-later
"""Deformable bodies (cloth, soft bodies, cables) as values: what they are, and what they weigh.

The words are those of the proposal for OpenUSD, and of PhysX's own schemas, which mean the same. Attributes and units
are in `vendor_tables`. The preview leaves deformables out; Newton simulates them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .model import Prim

Kind = Literal["volume", "surface", "curves"]
#: Families of schemas: those of the proposal, and PhysX's.
FAMILIES = ("Physics", "OmniPhysics")
#: Kind of the simulation geometry by API schema.
KINDS: dict[str, Kind] = {
    f"{family}{kind.title()}DeformableSimAPI": kind for family in FAMILIES for kind in ("volume", "surface", "curves")
}
#: Key in `Prim.extras`: a kind, or "material".
KEY = "deformable"
MATERIAL = "material"
#: Where a file says nothing: kg/m^3, and metres.
DENSITY, THICKNESS = 1000.0, 0.001

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@lru_cache(maxsize=4096)
def role_of(schemas: tuple[str, ...]) -> str:
    """What a prim with these API schemas is: a kind of simulation geometry, "material", or empty."""
    if kind := next((KINDS[name] for name in schemas if name in KINDS), ""):
        return kind
    return MATERIAL if any(name.startswith(FAMILIES) and "DeformableMaterialAPI" in name for name in schemas) else ""


def kind_of(prim: Prim) -> str:
    """The kind of a prim that is the simulation geometry of a deformable; empty for other prims."""
    role = prim.extras.get(KEY, "") if prim.extras else ""
    return "" if role == MATERIAL else str(role)


def is_material(prim: Prim) -> bool:
    """True for a material that says how something deforms."""
    return bool(prim.extras) and prim.extras.get(KEY) == MATERIAL


@dataclass(slots=True)
class Deformable:
    """One deformable body, by its simulation geometry. SI units, in the space of the world.

    points: (n, 3). rest: the points (n, 3) of the shape without strain. elements: rows of indices into the points:
    tetrahedra (m, 4), triangles (m, 3) or segments (m, 2). others: number of faces that are no triangles.
    masses, thicknesses: (values, type of element); the values are empty where the file has none. body: path of the
    prim that is the body. body_mass, body_density, density: 0 where not given; the last is of the material.
    schemas: of the geometry and its body. curve_of_element: number of the curve that each segment is of.
    """

    path: str
    kind: Kind
    points: Floats
    rest: Floats
    elements: Ints
    others: int = 0
    masses: tuple[Floats, str] = (np.zeros(0), "")
    thicknesses: tuple[Floats, str] = (np.zeros(0), "")
    body: str = ""
    body_mass: float = 0.0
    body_density: float = 0.0
    density: float = 0.0
    schemas: frozenset[str] = frozenset()
    curve_of_element: Ints = field(default_factory=lambda: np.zeros(0, np.int64))


class Pin(NamedTuple):
    """An attachment between a deformable and something else, by paths; target is empty without one."""

    path: str
    deformable: str
    target: str


def volumes(corners: Floats) -> Floats:
    """Signed volumes (m,) of tetrahedra with corners (m, 4, 3): positive where the fourth is above the first three."""
    edges = corners[:, 1:] - corners[:, :1]
    return np.asarray(np.linalg.det(edges) / 6.0)


def _thickness(found: Deformable) -> Floats:
    """The thickness (m,) of each element, metres."""
    values, kind = found.thicknesses
    count = len(found.elements)
    if kind in ("face", "segment") and len(values) == count:
        return values
    if kind == "point" and len(values) == len(found.points):
        return np.asarray(values[found.elements].mean(axis=1))
    if kind == "curve" and len(found.curve_of_element) and len(values) > found.curve_of_element.max():
        return values[found.curve_of_element]
    return np.full(count, values[0] if len(values) else THICKNESS)


def element_volumes(found: Deformable) -> Floats:
    """The volume (m,) of each element of the shape at rest: a triangle has a thickness, a segment a round section."""
    corners = found.rest[found.elements]
    if found.kind == "volume":
        return np.abs(volumes(corners))
    thickness = _thickness(found)
    if found.kind == "surface":
        sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return np.asarray(np.linalg.norm(sides, axis=1) / 2.0 * thickness)
    return np.asarray(np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1) * np.pi * thickness**2 / 4.0)


class Mass(NamedTuple):
    """kg, and which words of the file say so."""

    value: float
    source: str


def mass_of(found: Deformable) -> Mass:
    """What a deformable weighs: by its masses, the mass or density of its body, the density of its material, or 1000.

    Source: the proposal for deformables in OpenUSD, "Mass".
    """
    values, kind = found.masses
    # The first revision has no types of elements: a mass for each point.
    kind = kind or "point"
    if len(values):
        count = len(found.elements) if kind in ("tetrahedron", "face", "segment") else len(found.points)
        wanted = {"constant": 1, "curve": len(values)}.get(kind, count)
        total = float(values.sum())
        if len(values) == wanted and total > 0.0:
            return Mass(total, "masses")
    if found.body_mass > 0.0:
        return Mass(found.body_mass, "mass of the body")
    volume = float(element_volumes(found).sum())
    for density, source in ((found.body_density, "density of the body"), (found.density, "density of the material")):
        if density > 0.0:
            return Mass(density * volume, source)
    return Mass(DENSITY * volume, "1000 kg/m3")
