# SPDX-License-Identifier: GPL-3.0-or-later
"""The gprim that the points of a mesh are, if they are one."""

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import gprims
from usdphys_ext.usdphys_addon.core.schemas import usd_geom

SIDES = [5, 10, 32]


def ring(radius, height, sides):
    angles = np.arange(sides) * 2.0 * np.pi / sides
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(sides, height)], axis=1)


def ball(radius, sides, lift=0.0):
    rows = [ring(radius * np.cos(tilt), radius * np.sin(tilt) + np.copysign(lift, tilt), sides)
            for tilt in np.linspace(-np.pi / 2, np.pi / 2, 2 * sides)]  # fmt: skip
    return np.concatenate([*rows, ring(radius, lift, sides), ring(radius, -lift, sides)])


def corners(x, y, z):
    return np.array([(i * x, j * y, k * z) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)


def made(kind, sides):
    """Points of a gprim along Z with its sizes."""
    if kind is usd_geom.Cube:
        return corners(1, 1, 1), {"size": 2.0}
    if kind is usd_geom.Plane:
        return corners(1, 1.5, 0), {"width": 2.0, "length": 3.0}
    if kind is usd_geom.Sphere:
        return ball(0.5, sides), {"radius": 0.5}
    if kind is usd_geom.Capsule:
        return ball(0.5, sides, 1.0), {"radius": 0.5, "height": 2.0}
    if kind is usd_geom.Cylinder:
        ends = (ring(0.5, 1, sides), ring(0.5, -1, sides), [(0, 0, 1), (0, 0, -1)])
        return np.concatenate(ends), {"radius": 0.5, "height": 2.0}
    return np.concatenate([ring(0.5, -1, sides), [(0, 0, 1), (0, 0, -1)]]), {"radius": 0.5, "height": 2.0}


KINDS = (usd_geom.Cube, usd_geom.Plane, usd_geom.Sphere, usd_geom.Capsule, usd_geom.Cylinder, usd_geom.Cone)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("axis", "XYZ")
@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("kind", KINDS)
def test_points_of_a_gprim_are_that_gprim(kind, sides, axis, size):
    points, wanted = made(kind, sides)
    order = {"X": (2, 0, 1), "Y": (1, 2, 0), "Z": (0, 1, 2)}[axis]
    found = gprims.of_points(kind, size * points[:, order], axis)
    if kind is usd_geom.Plane and axis != "Z":
        assert sorted((found.width, found.length)) == pytest.approx([2.0 * size, 3.0 * size])
        return
    assert {name: getattr(found, name) for name in wanted} == pytest.approx(
        {name: size * value for name, value in wanted.items()}
    )


BENDS = {
    "shifted": lambda points: points + np.array((0.1, 0.0, 0.0)),
    "shifted along": lambda points: points + np.array((0.0, 0.0, 0.1)),
    "stretched": lambda points: points * (1.0, 1.3, 1.0),
    "a point pulled": lambda points: np.concatenate([points[:-1], points[-1:] * 1.2 + (0.1, 0.0, 0.1)]),
    "half": lambda points: points[points[:, 0] >= 0.0],
    "none": lambda points: points[:0],
}


@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_other_points_are_none(kind, bend):
    points, _ = made(kind, 16)
    if kind is usd_geom.Plane and bend == "stretched":
        pytest.skip("a stretched plane is a plane")
    assert gprims.of_points(kind, BENDS[bend](points), "Z") is None


@pytest.mark.parametrize("kind", [usd_geom.Sphere, usd_geom.Cylinder, usd_geom.Capsule])
def test_the_corners_of_a_box_are_no_round_gprim(kind):
    half = np.array([0.5, 0.5, 0.1])
    corners = half * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    assert gprims.of_points(kind, corners, "Z") is None
