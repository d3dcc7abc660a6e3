# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes of colliders as a glTF document says them: a type, lengths, perhaps a mesh."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..core.model import Mesh
from . import axes

#: Half the edge of the square that stands for an infinite plane, where a family has none; metres.
PLANE = 500.0


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape as in a file: its type, its lengths, and its mesh if it is one."""

    kind: str
    sizes: dict[str, Any]
    mesh: Mesh | None = None

    @property
    def reach(self) -> float:
        """About how large it is."""
        values = [value for value in self.sizes.values() if isinstance(value, int | float)]
        edges = self.sizes.get("size", ())
        if self.mesh is not None:
            values.append(float(np.ptp(self.mesh.points, axis=0).max()))
        return float(max([*values, *edges], default=1.0))

    @property
    def is_tapered(self) -> bool:
        return bool(self.sizes.get("radiusTop") != self.sizes.get("radiusBottom"))

    def for_godot(self) -> dict[str, float]:
        """Lengths of a capsule or cylinder in the form before September 2024."""
        radius = max(self.sizes["radiusTop"], self.sizes["radiusBottom"])
        height = self.sizes["height"] + (2.0 * radius if self.kind == "capsule" else 0.0)
        return {"radius": radius, "height": height}

    def scaled(self, scale: tuple[float, float, float]) -> Shape:
        """In a space with a scale by the rules of UsdPhysics; axes of the model. Below zero along Z: its ends swap."""
        if self.mesh is not None or max(abs(factor - 1.0) for factor in scale) <= 1e-9:
            return self
        x, y, z = map(abs, scale)
        sizes = dict(self.sizes)
        if scale[2] < 0.0 and "radiusTop" in sizes:
            sizes["radiusTop"], sizes["radiusBottom"] = sizes["radiusBottom"], sizes["radiusTop"]
        if "size" in sizes:
            sizes["size"] = [one * factor for one, factor in zip(sizes["size"], (x, z, y), strict=True)]
        around = max(x, y, z) if self.kind == "sphere" else max(x, y)
        for key, factor in (("radius", around), ("radiusTop", around), ("radiusBottom", around), ("height", z)):
            if key in sizes:
                sizes[key] *= factor
        for key, factor in (("sizeX", x), ("sizeZ", y)):
            if key in sizes:
                sizes[key] *= factor
        return Shape(self.kind, sizes)


def upright(axis: str) -> Matrix:
    """Rotation (3, 3) that takes Z to an axis."""
    if axis == "X":
        return np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    if axis == "Y":
        return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    return np.eye(3)


def bounds_of(mesh: Mesh, word: str) -> tuple[Shape, Matrix]:
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    middle = (low + high) / 2.0
    place = frames.transform(middle)
    if word == "boundingCube":
        return Shape("box", {"size": axes.size_out((high - low).tolist())}), place
    return Shape("sphere", {"radius": float(np.linalg.norm(mesh.points - middle, axis=1).max())}), place


def square(sizes: dict[str, Any]) -> Mesh:
    """A square, or the rectangle of a plane that has an end, in the axes of the model."""
    x = sizes.get("sizeX", 2.0 * PLANE) / 2.0 or PLANE
    y = sizes.get("sizeZ", 2.0 * PLANE) / 2.0 or PLANE
    return Mesh(np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]]), np.array([[0, 1, 2], [0, 2, 3]]))


def is_near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-9)


def are_same(one: Mesh, other: Mesh) -> bool:
    """True if two meshes have the same triangles, whatever the order of their vertices; vertices may be split."""
    if len(one.triangles) != len(other.triangles):
        return False
    size = float(np.ptp(other.points, axis=0).max()) or 1.0
    sums = []
    for mesh in (one, other):
        corners = np.round(mesh.points[mesh.triangles] / (1e-5 * size)).sum(axis=1)
        sums.append(corners[np.lexsort(corners.T)])
    return bool(np.abs(sums[0] - sums[1]).max(initial=0.0) <= 3.0)
