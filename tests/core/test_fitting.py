# SPDX-License-Identifier: GPL-3.0-or-later
"""Primitives and hulls around points: they contain all of them, and of bodies that they can be they are these."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import fitting, frames, gprims, mass
from usdphys_ext.usdphys_addon.core.fitting import Surface
from usdphys_ext.usdphys_addon.core.hull import convex_hull
from usdphys_ext.usdphys_addon.core.primitives import Primitive
from usdphys_ext.usdphys_addon.core.schemas import usd_geom

TURN = frames.matrix_of((0.9, 0.1, -0.3, 0.2))
CORNERS = np.array(list(itertools.product((-1, 1), repeat=3)), float)


def surface_of(points: np.ndarray) -> Surface:
    return Surface(points, convex_hull(points))


def outside(shape: Primitive, points: np.ndarray) -> np.ndarray:
    """How far points are outside of a primitive; below zero inside, where it is at most the way to the surface."""
    local = (points - shape.center) @ shape.rotation
    if shape.kind is usd_geom.Cube:
        return (np.abs(local) - shape.size / 2).max(axis=1)
    if shape.kind is usd_geom.Sphere:
        return np.linalg.norm(local, axis=1) - shape.radius
    along, across = local[:, shape.axis], np.linalg.norm(np.delete(local, shape.axis, axis=1), axis=1)
    if shape.kind is usd_geom.Cylinder:
        return np.maximum(np.abs(along) - shape.height / 2, across - shape.radius)
    beyond = np.maximum(np.abs(along) - shape.height / 2, 0.0)
    return np.hypot(beyond, across) - shape.radius


def moved(points: np.ndarray, *by: float) -> np.ndarray:
    return points + np.array(by)


def ball(radius: float, rings: int = 8) -> np.ndarray:
    """As modelers make it: rings, and a point at each pole."""
    turns = np.linspace(0, 2 * np.pi, 2 * rings, endpoint=False)
    heights = np.repeat(np.pi * np.arange(1, rings) / rings, len(turns))
    turns = np.tile(turns, rings - 1)
    across = np.sin(heights)
    rows = np.column_stack((across * np.cos(turns), across * np.sin(turns), np.cos(heights)))
    return radius * np.concatenate((rows, [(0, 0, 1), (0, 0, -1)]))


def rod(radius: float, height: float, axis: int, sides: int = 32) -> np.ndarray:
    turns = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = np.column_stack((radius * np.cos(turns), radius * np.sin(turns), np.zeros(sides)))
    both = np.concatenate((moved(ring, 0, 0, height / 2), moved(ring, 0, 0, -height / 2)))
    return np.roll(both, axis - 2, axis=1)


CLOUDS = {
    "box": CORNERS * (1, 2, 3) + (4, 5, 6),
    "turned box": CORNERS * (1, 2, 3) @ TURN.T,
    "ball": moved(ball(1.5), 1, 0, 0),
    "rod": moved(rod(0.5, 4.0, 0), 0, 1, 0),
    "pill": np.concatenate((moved(ball(0.5), 0, 2, 0), moved(ball(0.5), 0, -2, 0))),
    "noise": np.random.default_rng(3).normal(size=(200, 3)) * (1, 2, 0.5),
}


# --------------------------------------------------------------------------- primitives


def ways_to_contain() -> list[tuple[str, str, bool, float]]:
    """Every cloud in every kind, and each of both with every way to fit it."""
    ways = list(itertools.product((False, True), (0.0, 0.25)))
    pairs = itertools.product(enumerate(CLOUDS), enumerate(fitting.PRIMITIVE_KINDS))
    return [(cloud, kind, *ways[(row + column) % len(ways)]) for (row, cloud), (column, kind) in pairs]


@pytest.mark.parametrize(("cloud", "kind", "turned", "margin"), ways_to_contain())
def test_all_points_are_inside_and_the_margin_is_kept(cloud: str, kind: str, turned: bool, margin: float) -> None:
    points = CLOUDS[cloud]
    shape = fitting.contain(points, [kind], turned=turned, margin=margin)
    assert shape.kind is fitting.PRIMITIVE_KINDS[kind]
    found = outside(shape, points).max()
    assert found <= -margin + 1e-6
    # And it is no larger than it has to be: something touches it.
    assert found >= -margin - 0.05


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
@pytest.mark.parametrize("kind", ["CYLINDER", "CAPSULE"])
def test_an_axis_that_is_asked_for_is_taken(kind: str, axis: str) -> None:
    points = CLOUDS["rod"]
    shape = fitting.contain(points, [kind], axis=axis)
    assert shape.axis == "XYZ".index(axis)
    assert outside(shape, points).max() <= 1e-6
    assert (fitting.contain(points, [kind]).axis, shape.axis == 0) == (0, axis == "X")


def test_a_body_is_recognised_by_the_smallest_primitive_around_it() -> None:
    """Of the kinds, and of the turns, the one that wastes least."""
    box = fitting.contain(CLOUDS["turned box"], turned=True)
    assert box.kind is usd_geom.Cube and np.sort(box.size) == pytest.approx((2, 4, 6), rel=1e-3)
    assert fitting.volume(fitting.contain(CLOUDS["turned box"])) > 1.2 * 48
    sphere = fitting.contain(CLOUDS["ball"])
    assert sphere.kind is usd_geom.Sphere and sphere.radius == pytest.approx(1.5, rel=0.02)
    assert sphere.center == pytest.approx((1, 0, 0), abs=0.02)
    pillar = fitting.contain(CLOUDS["rod"])
    assert (pillar.kind, pillar.axis) == (usd_geom.Cylinder, 0)
    assert (pillar.radius, pillar.height) == (pytest.approx(0.5, rel=0.02), pytest.approx(4.0))
    pill = fitting.contain(CLOUDS["pill"])
    assert (pill.kind, pill.axis) == (usd_geom.Capsule, 1)
    assert (pill.radius, pill.height) == (pytest.approx(0.5, rel=0.02), pytest.approx(4.0, rel=0.02))


def test_a_margin_makes_a_capsule_thicker_and_not_longer_between_its_caps() -> None:
    shape = fitting.contain(CLOUDS["pill"], ["CAPSULE"], margin=0.25)
    assert (shape.radius, shape.height) == (pytest.approx(0.75, rel=0.02), pytest.approx(4.0, rel=0.02))


def test_flat_points_get_some_thickness() -> None:
    points = np.array([(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0)], float)
    shape = fitting.contain(points, ["BOX"])
    assert shape.size[:2] == pytest.approx((2, 1)) and 0 < shape.size[2] < 0.1


@pytest.mark.parametrize(
    ("shape", "solid"),
    [
        (Primitive(usd_geom.Cube, np.zeros(3), np.eye(3), np.array((1.0, 2, 3))), mass.box((1, 2, 3))),
        (Primitive(usd_geom.Sphere, np.zeros(3), np.eye(3), np.ones(3), 0.7), mass.sphere(0.7)),
        (Primitive(usd_geom.Cylinder, np.zeros(3), np.eye(3), np.ones(3), 0.7, 2.0), mass.cylinder(0.7, 2.0)),
        (Primitive(usd_geom.Capsule, np.zeros(3), np.eye(3), np.ones(3), 0.7, 2.0), mass.capsule(0.7, 2.0)),
        (Primitive(usd_geom.Cone, np.zeros(3), np.eye(3), np.ones(3), 0.7, 2.0), mass.cone(0.7, 2.0)),
    ],
)  # fmt: skip
def test_volume_is_that_of_the_solid(shape: Primitive, solid: mass.Shape) -> None:
    assert fitting.volume(shape) == pytest.approx(solid.volume)


WORLDS = {
    "plain": np.eye(4),
    "turned": frames.transform((1, 2, 3), TURN),
    "even": frames.transform((1, 2, 3), TURN, (2, 2, 2)),
    "uneven": frames.transform((1, 2, 3), TURN, (2, 3, 0.5)),
    "mirrored": frames.transform((1, 2, 3), TURN, (-2, 3, 0.5)),
}


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", fitting.PRIMITIVE_KINDS)
@pytest.mark.parametrize("world", WORLDS)
def test_what_is_fitted_in_the_world_is_as_large_there_as_a_collider(world: str, kind: str, axis: int) -> None:
    """From lengths of the world to the object's own space, and by way of its gprim back."""
    matrix = WORLDS[world]
    size = np.array((1.0, 2.0, 3.0))
    shape = Primitive(fitting.PRIMITIVE_KINDS[kind], np.array((0.4, -0.2, 0.1)), np.eye(3), size, 0.6, 1.7, axis)
    pose, gprim = gprims.placed_gprim(fitting.to_object(shape, matrix), matrix, 1.0)
    placed = matrix @ pose
    found = np.array(gprims.half_extent(gprim)) * np.linalg.norm(placed[:3, :3], axis=0)
    half = size / 2 if kind == "BOX" else np.full(3, 0.6)
    if kind in ("CYLINDER", "CAPSULE"):
        half[axis] = 0.85 + (0.6 if kind == "CAPSULE" else 0.0)
    assert found == pytest.approx(half)
    assert placed[:3, 3] - matrix[:3, 3] == pytest.approx(frames.rotation_of(matrix) @ shape.center)


@pytest.mark.parametrize("world", WORLDS)
def test_stretch_is_what_is_left_beside_the_rotation(world: str) -> None:
    matrix = WORLDS[world]
    stretch = fitting.stretch(matrix)
    np.testing.assert_allclose(frames.rotation_of(matrix) @ stretch, matrix[:3, :3], atol=1e-12)
    # Without a turn of its own: along the axes of the rotation.
    np.testing.assert_allclose(stretch, stretch.T, atol=1e-12)


# --------------------------------------------------------------------------- meshes


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 3, 4), (-2, 3, 4)])
def test_a_mesh_seen_through_a_matrix_keeps_its_outside(scale: tuple[float, ...]) -> None:
    moved = surface_of(CORNERS).moved(TURN * scale)
    assert moved.volume == pytest.approx(8 * abs(np.prod(scale)))
    a, b, c = np.moveaxis(moved.points[moved.triangles], 1, 0)
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) > 0).all()


def test_loose_parts_are_those_that_share_no_place() -> None:
    """Corners at one place are one corner; a long strip is one part; loose corners are none."""
    one, two = surface_of(CORNERS), surface_of(moved(CORNERS, 5, 0, 0))
    split = one.points[one.triangles].reshape(-1, 3)
    strip = np.array([(x, y, 9) for x in range(200) for y in (0, 1)], float)
    faces = np.array([(i, i + 1, i + 2) for i in range(398)])
    points = np.concatenate((split, two.points, strip, [(99, 99, 99)]))
    triangles = np.concatenate((
        np.arange(len(split)).reshape(-1, 3), two.triangles + len(split), faces + len(split) + len(two.points),
    ))  # fmt: skip
    parts = fitting.loose_parts(Surface(points, triangles))
    assert sorted(len(part.triangles) for part in parts) == [12, 12, 398]
    middles = sorted(tuple(np.round(part.points.mean(axis=0), 6)) for part in parts)
    assert middles == [(0, 0, 0), (5, 0, 0), (99.5, 0.5, 9)]
    assert sum(len(part.points) for part in parts) == len(points) - 1
    assert fitting.loose_parts(Surface(np.zeros((0, 3)), np.zeros((0, 3), np.int64))) == []


@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_a_hull_with_a_margin_is_larger_on_all_sides(margin: float) -> None:
    found = fitting.hull(CORNERS * (1, 2, 3), margin)
    assert np.abs(found.points).max(axis=0) == pytest.approx(np.array((1, 2, 3)) + margin)
    assert found.volume == pytest.approx(8 * np.prod(np.array((1, 2, 3)) + margin))
    assert fitting.hull(np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], float), margin) is None


# --------------------------------------------------------------------------- wires and properties


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", fitting.PRIMITIVE_KINDS)
def test_a_wire_lies_on_its_primitive(kind: str, axis: int) -> None:
    shape = Primitive(fitting.PRIMITIVE_KINDS[kind], np.zeros(3), np.eye(3), np.array((1.0, 2, 3)), 0.6, 1.7, axis)
    corners, edges = fitting.wire_of(shape)
    assert np.abs(outside(shape, corners)).max() < 1e-9
    assert {index for edge in edges for index in edge} == set(range(len(corners)))
    starts, ends = corners[np.array(edges)].swapaxes(0, 1)
    lengths = np.linalg.norm(ends - starts, axis=1)
    # Short edges are chords of circles; straight sides lie on the primitive as a whole.
    straight = lengths > 2 * 0.6 * np.sin(np.pi / 32) + 1e-9
    assert np.abs(outside(shape, (starts + ends)[straight] / 2)).max(initial=0.0) < 1e-9
    assert lengths.min() > 1e-9 or kind == "SPHERE"  # whose straight sides have no length
    reach = shape.size / 2 if kind == "BOX" else np.full(3, 0.6)
    if kind in ("CYLINDER", "CAPSULE"):
        reach[axis] = 0.85 + (0.6 if kind == "CAPSULE" else 0.0)
    assert corners.max(axis=0) == pytest.approx(reach) and corners.min(axis=0) == pytest.approx(-reach)


def test_properties_say_the_size() -> None:
    shape = Primitive(usd_geom.Cube, np.zeros(3), np.eye(3), np.array((1.0, 2, 3)), 0.6, 1.7, 1)
    assert fitting.sizes_of(shape) == {"size": [1, 2, 3]}
    shape.kind = usd_geom.Sphere
    assert fitting.sizes_of(shape) == {"radius": 0.6}
    shape.kind = usd_geom.Capsule
    assert fitting.sizes_of(shape) == {"radius": 0.6, "height": 1.7, "axis": "Y"}
