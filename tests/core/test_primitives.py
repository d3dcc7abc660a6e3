# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that are primitives, and those that nearly are."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames, primitives
from usdphys_ext.usdphys_addon.core.primitives import fit, fit_in, is_closed, recognise
from usdphys_ext.usdphys_addon.core.schemas import usd_geom

TURN = frames.matrix_of((0.9, 0.1, -0.3, 0.2))


def box(half: Any = (1, 1, 1), center: Any = (0, 0, 0)) -> np.ndarray:
    return np.array(list(itertools.product((-1, 1), repeat=3)), float) * half + center


def ring(count: int, radius: float = 1.0, z: float = 0.0) -> np.ndarray:
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(count, z)], axis=1)


def tip(z: float) -> np.ndarray:
    return np.array([[0.0, 0.0, z]])


def sphere(radii: Any = (1, 1, 1), segments: int = 16, rings: int = 8) -> np.ndarray:
    heights = np.pi * np.arange(1, rings) / rings
    rows = [ring(segments, np.sin(angle), np.cos(angle)) for angle in heights]
    return np.concatenate([*rows, tip(1), tip(-1)]) * radii


def cylinder(count: int = 16, radius: float = 1.0, half: float = 2.0) -> np.ndarray:
    return np.concatenate([ring(count, radius, z) for z in (-half, half)])


def cone(count: int = 16, radius: float = 1.0, half: float = 2.0) -> np.ndarray:
    return np.concatenate([ring(count, radius, -half), tip(half)])


def capsule(radius: float = 1.0, spine: float = 1.0) -> np.ndarray:
    ball = sphere(segments=16, rings=8) * radius
    return np.concatenate([ball[ball[:, 2] > -1e-9] + (0, 0, spine), ball[ball[:, 2] < 1e-9] - (0, 0, spine)])


def along(axis: int, points: np.ndarray) -> np.ndarray:
    """The z axis becomes another one."""
    return np.roll(points, axis - 2, axis=1)


SHAPES = {"Sphere": sphere(), "Cylinder": cylinder(), "Cone": cone(), "Capsule": capsule()}
#: (radius, height) of them.
SIZES = {"Sphere": (1, 0), "Cylinder": (1, 4), "Cone": (1, 4), "Capsule": (1, 2)}


def test_box():
    found = recognise(box((1, 2, 3), (4, 5, 6)))
    assert found.kind is usd_geom.Cube
    assert found.is_aligned
    assert np.allclose(found.size, (2, 4, 6))
    assert np.allclose(found.center, (4, 5, 6))


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_box_that_is_turned(scale):
    points = (box((1, 2, 3)) @ TURN.T + (4, 5, 6)) * scale
    found = recognise(points)
    assert found.kind is usd_geom.Cube
    assert not found.is_aligned
    assert np.allclose(sorted(found.size), np.multiply((2, 4, 6), scale))
    assert np.allclose(found.center, np.multiply((4, 5, 6), scale))
    assert np.linalg.det(found.rotation) == pytest.approx(1)
    local = np.abs((points - found.center) @ found.rotation)
    assert np.allclose(local, found.size / 2, atol=1e-9 * scale)


def test_split_corners_are_still_a_box():
    assert recognise(np.repeat(box(), 3, axis=0)).kind is usd_geom.Cube


@pytest.mark.parametrize(("axis", "scale"), [(0, 1e-4), (1, 1.0), (2, 1e4)])
@pytest.mark.parametrize("name", SHAPES)
def test_round_things(name, axis, scale):
    found = recognise(along(axis, SHAPES[name]) * scale + np.multiply((3, 1, -2), scale))
    assert found.kind.usd_name == name
    radius, height = SIZES[name]
    assert (found.radius, found.height) == pytest.approx((radius * scale, height * scale))
    assert np.allclose(found.center, np.multiply((3, 1, -2), scale))
    if name != "Sphere":
        assert found.axis == axis


@pytest.mark.parametrize("extra", [tip(2), tip(-2), np.concatenate([tip(2), tip(-2)])])
def test_cylinder_with_centres_on_its_ends(extra):
    """Fans of triangles have a point in the middle."""
    assert recognise(np.concatenate([cylinder(), extra])).kind is usd_geom.Cylinder


def test_cone_with_a_centre_in_its_base():
    assert recognise(np.concatenate([cone(), tip(-2)])).kind is usd_geom.Cone


def moved(points: np.ndarray, index: int, by: Any) -> np.ndarray:
    points = points.copy()
    points[index] += by
    return points


NEAR_MISSES = {
    "a box with a moved corner": moved(box(), 0, (0, 0, 0.1)),
    "a box with a dent": moved(box(), 7, (-0.05, -0.05, -0.05)),
    "a sheared box": box() @ np.array([[1, 0, 0], [0.2, 1, 0], [0, 0, 1]]),
    "a frustum": box() * np.where(box()[:, 2:] > 0, [[0.5, 0.5, 1]], 1),
    "a box without a corner": box()[:7],
    "a box with a chamfer": np.concatenate([box(), box()[:1] * 0.9]),
    "a wedge": box()[[0, 1, 2, 3, 4, 6, 4, 6]],
    "an ellipsoid": sphere((1, 1, 1.02)),
    "an ellipsoid that is flat": sphere((1, 1, 0.3)),
    "a sphere with a dent": moved(sphere(), 20, (0.02, 0.02, 0)),
    "half a sphere": sphere()[sphere()[:, 2] >= -1e-9],
    "an icosahedron": sphere(segments=5, rings=3),
    "an 8-gon prism": cylinder(8),
    "an elliptic cylinder": cylinder() * (1, 1.1, 1),
    "a cylinder with a waist": np.concatenate([cylinder(), ring(16, 0.8)]),
    "a tube": np.concatenate([cylinder(), cylinder(radius=0.8)]),
    "a truncated cone": np.concatenate([ring(16, 1, -2), ring(16, 0.5, 2)]),
    "an 8-sided pyramid": cone(8),
    "a double cone": np.concatenate([ring(40), tip(1.5), tip(-1.5)]),
    "a double cone in a sphere": np.concatenate([ring(40), tip(1), tip(-1)]),
    "a cone with a leaning tip": moved(cone(), 16, (0.1, 0, 0)),
    "a disc": ring(64),
    "a flat square": box((1, 1, 0)),
    "a point": np.zeros((20, 3)),
    "nothing": np.zeros((0, 3)),
    "not a number": moved(sphere(), 3, (np.nan, 0, 0)),
    "infinite": moved(box(), 3, (np.inf, 0, 0)),
}


def test_near_misses():
    assert {name: found for name, points in NEAR_MISSES.items() if (found := recognise(points)) is not None} == {}


@pytest.mark.parametrize("name", ["Sphere", "Cylinder", "Cone", "Capsule"])
def test_32_bits_are_exact_enough(name):
    assert recognise((SHAPES[name] * 0.37 + 100).astype(np.float32).astype(float)).kind.usd_name == name


# --------------------------------------------------------------------------- closed

CUBE_FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def flat(faces: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.array([index for face in faces for index in face], np.int32), np.array(list(map(len, faces)), np.int32)


def triangulated(faces: Any) -> list[tuple[int, ...]]:
    return [(face[0], face[i], face[i + 1]) for face in faces for i in range(1, len(face) - 1)]


@pytest.mark.parametrize(
    ("faces", "expected"),
    [
        (CUBE_FACES, True),
        (triangulated(CUBE_FACES), True),
        ([*CUBE_FACES[:5], CUBE_FACES[5][::-1]], True),
        (CUBE_FACES[:5], False),
        ([*triangulated(CUBE_FACES)[:-1]], False),
        ([*CUBE_FACES, (0, 1, 7, 6)], False),
        ([*triangulated(CUBE_FACES), (0, 3, 7, 4)], False),
        ([], False),
    ],
    ids=["cube", "triangles", "flipped face", "bin", "hole", "inner wall", "inner wall on edges", "no faces"],
)
def test_closed(faces, expected):
    assert is_closed(box(), *flat(faces)) is expected


def test_split_corners_are_closed():
    points = np.concatenate([box()[list(face)] for face in CUBE_FACES])
    faces = [tuple(range(4 * number, 4 * number + 4)) for number in range(6)]
    assert is_closed(points, *flat(faces))
    assert not is_closed(points, *flat(faces[:5]))


# --------------------------------------------------------------------------- spaces that change a shape

UNEVEN = {
    "Cube": {(1, 2, 3): True, (-1, 2, 3): True},
    "Sphere": {(2, 2, 2): True, (2, 2, -2): True, (1, 1, 1.1): False},
    "Cylinder": {(2, 2, 5): True, (2, -2, 5): True, (2, 1, 1): False},
    "Cone": {(2, 2, 5): True, (1, 2, 2): False},
    "Capsule": {(2, 2, 2): True, (1, 1, 2): False, (2, 1, 1): False},
}


@pytest.mark.parametrize(
    ("name", "scale", "expected"), [(name, *row) for name, rows in UNEVEN.items() for row in rows.items()]
)
def test_scale_leaves_a_shape_what_it_is(name, scale, expected):
    found = recognise(box() if name == "Cube" else SHAPES[name])
    assert found.kind.usd_name == name
    assert found.survives(frames.transform((1, 2, 3), TURN, scale)) is expected


def test_shear_leaves_nothing():
    sheared = frames.transform((0, 0, 0), None, (1, 2, 1)) @ frames.transform((0, 0, 0), TURN)
    for points in (box(), *SHAPES.values()):
        assert not recognise(points).survives(sheared)
    # A box that is turned the other way in its own space comes out straight.
    assert recognise(box() @ TURN).survives(sheared)


@pytest.mark.parametrize(("row", "column"), [(0, 1), (1, 2), (0, 2), (2, 0)])
def test_shear_of_any_two_axes_is_seen(row, column):
    world = np.diag((1.0, 2.0, 3.0, 1.0))
    assert recognise(box()).survives(world)
    world[row, column] = 0.05
    assert not recognise(box()).survives(world)


# --------------------------------------------------------------------------- fitting


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_fit_has_the_extent_of_the_points(axis):
    points = box((1, 2, 3), (4, 5, 6))
    half = np.array((1.0, 2.0, 3.0))
    across = np.delete(half, axis).max()
    for kind in (usd_geom.Cube, usd_geom.Plane):
        assert np.allclose(fit(kind, points, axis).size, 2 * half)
    assert fit(usd_geom.Sphere, points, axis).radius == 3
    for kind in (usd_geom.Cylinder, usd_geom.Cone):
        found = fit(kind, points, axis)
        assert (found.radius, found.height, found.axis) == (across, 2 * half[axis], axis)
    found = fit(usd_geom.Capsule, points, axis)
    assert (found.radius, found.height) == (across, max(0, 2 * half[axis] - 2 * across))
    assert np.allclose(found.center, (4, 5, 6))


@pytest.mark.parametrize("kind", [usd_geom.Cube, usd_geom.Sphere, usd_geom.Capsule, usd_geom.Cylinder, usd_geom.Cone])
def test_fit_without_points_is_a_unit(kind):
    found = fit_in(kind, np.zeros((0, 3)), 2, np.eye(3), frames.transform((0, 0, 0), None, (1, 2, 3)))
    assert np.allclose(found.center, 0)
    assert found.radius == (0 if kind is usd_geom.Cube else 0.5)
    assert np.allclose(found.size, 1)


def test_fit_of_what_was_recognised_is_the_same():
    for name, points in SHAPES.items():
        one = recognise(points)
        two = fit(one.kind, points, one.axis)
        assert (two.radius, two.height) == pytest.approx(SIZES[name]), name


def test_fit_along_a_rotation():
    points = box((1, 2, 3)) @ TURN.T + (4, 5, 6)
    found = fit_in(usd_geom.Cube, points, 2, TURN, np.eye(4))
    assert np.allclose(found.size, (2, 4, 6))
    assert np.allclose(found.center, (4, 5, 6))
    assert np.allclose(found.rotation, TURN)


@pytest.mark.parametrize("kind", [usd_geom.Sphere, usd_geom.Cylinder, usd_geom.Capsule])
def test_fit_in_an_uneven_space_is_that_of_what_is_seen(kind):
    """Times the scale it is what is fitted to the scaled points."""
    scale = np.array((3.0, 1.5, 2.0))
    points = box((1, 2, 4), (1, 0, 0))
    found = fit_in(kind, points, 2, np.eye(3), frames.transform((9, 9, 9), TURN, scale))
    seen = fit(kind, points * scale, 2)
    around = scale.max() if kind is usd_geom.Sphere else scale[:2].max()
    assert found.radius * around == pytest.approx(seen.radius)
    assert found.height * scale[2] == pytest.approx(seen.height)
    assert np.allclose(found.center * scale, seen.center)


def test_a_box_in_an_uneven_space_is_as_large_as_what_is_seen():
    """Along axes of its own the scale is another one on each."""
    world = frames.transform((9, 9, 9), None, (3.0, 1.5, 2.0))
    points = box((1, 2, 4), (1, 0, 0)) @ TURN.T
    found = fit_in(usd_geom.Cube, points, 2, TURN, world)
    assert found.size == pytest.approx((2, 4, 8))
    assert found.center == pytest.approx(TURN @ (1, 0, 0))


def test_thresholds_are_what_the_near_misses_assume():
    assert primitives.ROUND_RING > 8
    assert primitives.TOLERANCE < 0.01
