# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex parts of a mesh fill it: what lies inside of the mesh lies in a part, and little else does."""

from __future__ import annotations

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import fitting
from usdphys_ext.usdphys_addon.core.fitting import Surface
from usdphys_ext.usdphys_addon.core.model import Mesh
from usdphys_ext.usdphys_addon.simulation.rapier import shapes
from usdphys_ext.usdphys_addon.simulation.rapier.decomposition import decompose

#: Largest parts of the volume of a mesh that its convex parts leave out, and that they add.
MISSING, ADDED = 0.02, 0.15


def rows(around: int, across: int, *, closes: bool) -> np.ndarray:
    """Triangles (m, 3) of a grid of points that closes around, and across if asked."""
    first, second = np.meshgrid(np.arange(around), np.arange(across if closes else across - 1), indexing="ij")
    right, up = (first + 1) % around, (second + 1) % across
    a, b, c, d = (i * across + j for i, j in ((first, second), (right, second), (right, up), (first, up)))
    return np.concatenate([np.stack(corners, -1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))])


def torus(around: int, across: int) -> Surface:
    """Of radii 1 and 0.25."""
    turn, tilt = np.meshgrid(
        np.arange(around) / around * 2 * np.pi, np.arange(across) / across * 2 * np.pi, indexing="ij"
    )
    out = 1 + 0.25 * np.cos(tilt)
    points = np.stack((out * np.cos(turn), out * np.sin(turn), 0.25 * np.sin(tilt)), -1).reshape(-1, 3)
    return Surface(points, rows(around, across, closes=True))


def lumps(seed: int) -> Surface:
    """A ball with waves of random number and height."""
    chance = np.random.default_rng(seed)
    turn, tilt = np.meshgrid(np.arange(32) / 32 * 2 * np.pi, np.linspace(1e-3, np.pi - 1e-3, 17), indexing="ij")
    waves, height = chance.integers(2, 6), chance.uniform(0.15, 0.4)
    radius = 1 + height * np.sin(tilt) * np.cos(waves * turn + chance.uniform(0, 6))
    points = np.stack((np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt)), -1) * radius[..., None]
    return Surface(points.reshape(-1, 3), rows(32, 17, closes=False))


def inside(surface: Surface, points: np.ndarray) -> np.ndarray:
    """True for points in a closed mesh: its triangles cover the whole sphere of directions around them."""
    found = []
    for one in points:
        a, b, c = np.moveaxis(surface.points[surface.triangles] - one, 1, 0)
        la, lb, lc = (np.linalg.norm(corner, axis=1) for corner in (a, b, c))
        dots = [np.einsum("ij,ij->i", *pair) for pair in ((a, b), (b, c), (c, a))]
        below = la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb
        found.append(np.arctan2(np.einsum("ij,ij->i", a, np.cross(b, c)), below).sum() / (2 * np.pi))
    return np.abs(found) > 0.5


def in_parts(parts: list[np.ndarray], points: np.ndarray) -> np.ndarray:
    found = np.zeros(len(points), bool)
    for corners in parts:
        whole = fitting.hull(corners)
        a, b, c = np.moveaxis(whole.points[whole.triangles], 1, 0)
        normals = np.cross(b - a, c - a)
        lengths = np.linalg.norm(normals, axis=1)
        # Normals of slivers are rounding.
        normals, at = normals[lengths > 1e-9] / lengths[lengths > 1e-9, None], a[lengths > 1e-9]
        found |= (points @ normals.T - np.einsum("ij,ij->i", normals, at)).max(axis=1) <= 1e-6
    return found


def plain_parts(surface: Surface) -> list[np.ndarray]:
    """Corners of the parts that the preview has."""
    compound = shapes.decomposition(Mesh(surface.points, surface.triangles)).as_compound()
    return [np.asarray(part.as_convex_polyhedron().points, float) for _, part in compound.shapes()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "surface",
    [torus(48, 16), torus(12, 6), *(lumps(seed) for seed in range(3))],
    ids=["torus", "coarse", "lumps0", "lumps1", "lumps2"],
)
def test_convex_parts_fill_a_mesh_and_add_little(surface):
    low, high = surface.points.min(axis=0), surface.points.max(axis=0)
    points = np.random.default_rng(1).uniform(low, high, (600, 3))
    within = inside(surface, points)
    assert 80 < within.sum() < 500
    for parts in (plain_parts(surface), [part.points for part in decompose(surface)]):
        covered = in_parts(parts, points)
        assert len(parts) > 1
        assert (within & ~covered).sum() <= MISSING * within.sum()
        assert (covered & ~within).sum() <= ADDED * within.sum()
