# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of gprims against the extents that UsdGeom computes; primitives placed in scaled spaces."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from pxr import Usd, UsdGeom
from usdphys_ext.usdphys_addon.core import frames, gprims
from usdphys_ext.usdphys_addon.core.primitives import Primitive
from usdphys_ext.usdphys_addon.core.schemas import usd_geom

TURN = frames.matrix_of((0.9, 0.1, -0.3, 0.2))
GPRIMS = [usd_geom.Cube(3.0), usd_geom.Cube(), usd_geom.Sphere(1.5)] + [
    made
    for axis in ("X", "Y", "Z", None)
    for made in (
        usd_geom.Plane(width=3.0, length=7.0, axis=axis), usd_geom.Cylinder(5.0, 0.5, axis),
        usd_geom.Cone(5.0, 0.5, axis), usd_geom.Capsule(5.0, 0.5, axis),
    )
]  # fmt: skip


@pytest.mark.parametrize("gprim", GPRIMS, ids=str)
def test_half_extent_is_half_of_what_usd_computes(gprim: usd_geom.Gprim) -> None:
    stage = Usd.Stage.CreateInMemory()
    prim = stage.DefinePrim("/Thing", gprim.usd_name)
    for attribute, value in gprim.authored():
        prim.GetAttribute(attribute.usd).Set(value)
    low, high = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(prim), Usd.TimeCode.Default())
    assert gprims.half_extent(gprim) == pytest.approx(tuple(high))
    assert gprims.half_extent(gprim) == pytest.approx(tuple(-part for part in low))


def corners(half: np.ndarray) -> np.ndarray:
    signs = np.array(list(itertools.product((-1, 1), repeat=3)), float)
    return np.column_stack((signs * half, np.ones(8)))


def extent(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return points[:, :3].min(axis=0), points[:, :3].max(axis=0)


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 2, 2), (2, 3, 5), (5, 2, 3), (3, 5, 2)], ids=str)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_plane_is_as_wide_and_as_long_as_its_scaled_mesh(axis: int, scale: tuple[float, ...]) -> None:
    size = np.array((4.0, 6.0, 10.0))
    size[axis] = 0.0
    world = frames.transform((1, 2, 3), None, scale)
    pose, plane = gprims.placed_gprim(Primitive(usd_geom.Plane, np.zeros(3), np.eye(3), size, axis=axis), world, 1.0)
    found = corners(np.array(gprims.half_extent(plane))) @ (world @ pose).T
    wanted = corners(size / 2) @ world.T
    assert plane.axis == "XYZ"[axis]
    for one, two in zip(extent(found), extent(wanted), strict=True):
        assert one == pytest.approx(two)


@pytest.mark.parametrize("scale", [(2, 2, 2), (2, 3, 5), (5, 2, 2), (-3, 5, 2)], ids=str)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", [usd_geom.Capsule, usd_geom.Cylinder, usd_geom.Cone, usd_geom.Sphere, usd_geom.Cube])
def test_a_primitive_in_a_scaled_space_is_as_large_as_it_looks(kind: type, axis: int, scale: tuple[float, ...]) -> None:
    """Round about its axis it takes the larger scale of the two across."""
    shape = Primitive(kind, np.array((0.5, 0.25, -1.0)), np.eye(3), np.array((1.0, 2.0, 3.0)), 0.5, 4.0, axis)
    world = frames.transform((1, 2, 3), TURN, scale)
    pose, gprim = gprims.placed_gprim(shape, world, 1.0)
    placed = world @ pose
    sizes = np.abs(scale)
    if kind is usd_geom.Cube:
        half = shape.size * sizes / 2
    else:
        half = np.full(3, 0.5 * (sizes.max() if kind is usd_geom.Sphere else np.delete(sizes, axis).max()))
        if kind is not usd_geom.Sphere:
            half[axis] = 2.0 * sizes[axis] + (half[axis] if kind is usd_geom.Capsule else 0.0)
    found = np.array(gprims.half_extent(gprim)) * np.linalg.norm(placed[:3, :3], axis=0)
    assert found == pytest.approx(half)
    assert placed[:3, 3] == pytest.approx(world[:3, :3] @ shape.center + (1, 2, 3))
    # Its axes are those of the object.
    directions = placed[:3, :3] / np.linalg.norm(placed[:3, :3], axis=0)
    assert np.abs(directions.T @ TURN) == pytest.approx(np.eye(3), abs=1e-9)


@pytest.mark.parametrize("mirrored", [0, 1, 2])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", [usd_geom.Cone, usd_geom.Plane])
def test_what_points_somewhere_points_there_in_a_mirrored_space(kind: type, axis: int, mirrored: int) -> None:
    """Simulators do not agree on mirrored cones and planes: what is placed is not mirrored any more."""
    shape = Primitive(kind, np.zeros(3), np.eye(3), np.ones(3), 0.5, 4.0, axis)
    scale = np.ones(3)
    scale[mirrored] = -1.0
    world = frames.transform((0, 0, 0), TURN, scale)
    placed = world @ gprims.placed_gprim(shape, world, 1.0)[0]
    assert np.linalg.det(placed[:3, :3]) == pytest.approx(1.0)
    assert placed[:3, axis] == pytest.approx(scale[axis] * TURN[:, axis])


def test_lengths_are_in_metres() -> None:
    """The unit of the object's space is a centimetre, as where Blender's unit scale says so."""
    shape = Primitive(usd_geom.Cylinder, np.array((100.0, 0, 0)), np.eye(3), np.ones(3), 50.0, 400.0, 2)
    pose, gprim = gprims.placed_gprim(shape, np.eye(4), 0.01)
    assert gprim == usd_geom.Cylinder(4.0, 0.5, "Z")
    assert pose[:3, 3] == pytest.approx((1.0, 0.0, 0.0))
