# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh as arrays, with the colours and textures that its file brings along."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .packages import IMAGE_SUFFIXES, is_file

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(slots=True)
class MeshMaterial:
    """color: linear red, green, blue and alpha. texture: of the colour; it must exist. emission: linear.

    glow: texture of the emission, by which that is multiplied.
    """

    name: str
    color: tuple[float, float, float, float] | None = None
    texture: Path | None = None
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)
    glow: Path | None = None


@dataclass(slots=True)
class MeshData:
    """points (n, 3). counts (f,): corners of each face. corners (k,): indices of points.

    uvs (k, 2) and normals (k, 3) by corner, or None. faces (f,): index of the material, -1 for none.
    """

    points: Floats
    counts: Ints
    corners: Ints
    uvs: Floats | None = None
    normals: Floats | None = None
    materials: list[MeshMaterial] = field(default_factory=list)
    faces: Ints | None = None

    def transformed(self, matrix: Floats) -> MeshData:
        """The mesh after a linear map (3, 3); faces keep their outside where it mirrors."""
        made = replace(self, points=self.points @ matrix.T)
        if self.normals is not None:
            turned = self.normals @ np.linalg.pinv(matrix)
            made.normals = turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-30)
        return made.turned_inside_out() if np.linalg.det(matrix) < 0 else made

    def turned_inside_out(self) -> MeshData:
        """The mesh with the corners of each face in the opposite order."""
        ends = np.cumsum(self.counts)
        order = np.repeat(ends + ends - self.counts - 1, self.counts) - np.arange(len(self.corners))
        return replace(
            self, corners=self.corners[order], uvs=None if self.uvs is None else self.uvs[order],
            normals=None if self.normals is None else self.normals[order],
        )  # fmt: skip


def linear(color: tuple[float, ...]) -> tuple[float, float, float, float]:
    """sRGB with alpha, 0 to 1 -> linear red, green, blue, and alpha."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (min(1.0, max(0.0, value)) for value in color[:3])
    )
    return (red, green, blue, min(1.0, max(0.0, color[3])) if len(color) > 3 else 1.0)


def srgb(color: tuple[float, ...]) -> tuple[float, ...]:
    """The inverse of `linear`."""
    encoded = [
        12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
        for part in (min(1.0, max(0.0, value)) for value in color[:3])
    ]
    return (*encoded, *color[3:])


def sibling(folder: Path, name: str) -> Path | None:
    """An image that a mesh file names: as written, else of that name beside it."""
    for one in (folder / name.replace("\\", "/"), folder / Path(name.replace("\\", "/")).name):
        if one.suffix.lower() in IMAGE_SUFFIXES and is_file(one):
            return one
    return None


def joined(parts: list[MeshData]) -> MeshData:
    """Several meshes as one; materials of the same name and colour are shared."""
    if len(parts) == 1:
        return parts[0]
    materials: list[MeshMaterial] = []
    faces = []
    for part in parts:
        index = []
        for material in part.materials:
            if material not in materials:
                materials.append(material)
            index.append(materials.index(material))
        own = part.faces if part.faces is not None else np.full(len(part.counts), -1)
        faces.append(np.where(own < 0, -1, np.array([*index, -1])[own]))
    starts = np.cumsum([0, *(len(part.points) for part in parts)])
    return MeshData(
        np.concatenate([part.points for part in parts]), np.concatenate([part.counts for part in parts]),
        np.concatenate([part.corners + start for part, start in zip(parts, starts[:-1], strict=True)]),
        _all_or_none([part.uvs for part in parts], [len(part.corners) for part in parts]),
        _all_or_none([part.normals for part in parts]), materials, np.concatenate(faces),
    )  # fmt: skip


def _all_or_none(values: list[Floats | None], lengths: list[int] | None = None) -> Floats | None:
    """The values in one array; None if one of them lacks them. lengths: fill with zeros unless all lack them."""
    if lengths is not None and any(value is not None for value in values):
        filled = [np.zeros((n, 2)) if value is None else value for value, n in zip(values, lengths, strict=True)]
        return np.concatenate(filled)
    present = [value for value in values if value is not None]
    return np.concatenate(present) if present and len(present) == len(values) else None
