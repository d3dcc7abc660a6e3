# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of gprims in scaled spaces."""

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames, gprims, mass
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.primitives import Primitive
from usdphys_ext.usdphys_addon.core.schemas.usd_geom import Capsule, Cone, Cube, Cylinder, Plane, Sphere
from usdphys_ext.usdphys_addon.core.schemas.usd_physics import CollisionAPI, RigidBodyAPI

SCALE = (2.0, 3.0, 5.0)


def test_a_cube_is_scaled_along_each_axis() -> None:
    assert gprims.sizes(Cube(2.0), SCALE).edges == (4.0, 6.0, 10.0)


def test_a_sphere_gets_the_largest_scale() -> None:
    assert gprims.sizes(Sphere(2.0), SCALE).radius == 10.0


@pytest.mark.parametrize("kind", [Capsule, Cylinder, Cone])
@pytest.mark.parametrize(("axis", "radius", "height"), [("X", 5.0, 14.0), ("Y", 5.0, 21.0), ("Z", 3.0, 35.0)])
def test_a_round_gprim_gets_the_larger_scale_across_and_the_scale_along_its_axis(kind, axis, radius, height) -> None:
    found = gprims.sizes(kind(7.0, 1.0, axis), SCALE)
    assert (found.radius, found.height, found.axis) == (radius, height, axis)


@pytest.mark.parametrize(
    ("axis", "edges"), [("X", (0.0, 33.0, 35.0)), ("Y", (14.0, 0.0, 55.0)), ("Z", (14.0, 33.0, 0.0))]
)
def test_a_plane_has_width_and_length_along_the_axes_of_usd(axis, edges) -> None:
    """UsdGeomPlane: width along z, x, x and length along y, z, y where the normal is x, y, z."""
    assert gprims.sizes(Plane(7.0, 11.0, axis), SCALE).edges == edges


def test_what_is_not_authored_has_the_fallback_of_the_schema() -> None:
    found = gprims.sizes(Capsule())
    assert (found.radius, found.height, found.axis) == (0.5, 1.0, "Z")


@pytest.mark.parametrize("scale", [(-2.0, -3.0, -5.0), (2.0, -3.0, 5.0)])
def test_sizes_have_no_sign(scale) -> None:
    assert gprims.sizes(Cube(-2.0), scale) == gprims.sizes(Cube(2.0), SCALE)
    assert gprims.sizes(Sphere(-2.0), scale) == gprims.sizes(Sphere(2.0), SCALE)
    assert gprims.sizes(Cylinder(-7.0, -1.0, "X"), scale) == gprims.sizes(Cylinder(7.0, 1.0, "X"), SCALE)
    assert gprims.sizes(Plane(-7.0, -11.0), scale) == gprims.sizes(Plane(7.0, 11.0), SCALE)


def test_a_scale_that_is_no_number_is_not_dropped() -> None:
    assert math.isnan(gprims.sizes(Sphere(1.0), (1.0, math.nan, 1.0)).radius)
    assert math.isnan(gprims.sizes(Cylinder(1.0, 1.0, "X"), (1.0, 1.0, math.nan)).radius)


@pytest.mark.parametrize(
    ("gprim", "half"),
    [
        (Cube(4.0), (2.0, 2.0, 2.0)),
        (Sphere(4.0), (4.0, 4.0, 4.0)),
        (Capsule(6.0, 1.0, "X"), (4.0, 1.0, 1.0)),
        (Cylinder(6.0, 1.0, "Y"), (1.0, 3.0, 1.0)),
        (Cone(6.0, 1.0, "Z"), (1.0, 1.0, 3.0)),
        (Plane(6.0, 2.0, "X"), (0.0, 1.0, 3.0)),
        (Sphere(-4.0), (4.0, 4.0, 4.0)),
    ],
)
def test_the_extent_ends_where_the_gprim_ends(gprim, half) -> None:
    assert gprims.half_extent(gprim) == half


@pytest.mark.parametrize(
    ("gprim", "volume"),
    [
        (Cube(-2.0), 8.0),
        (Sphere(-1.0), 4.0 / 3.0 * math.pi),
        (Cylinder(2.0, -1.0), 2.0 * math.pi),
        (Cylinder(-2.0, 1.0), 2.0 * math.pi),
        (Cone(-3.0, 1.0), math.pi),
        (Capsule(-1.0, -1.0), math.pi + 4.0 / 3.0 * math.pi),
    ],
)
def test_a_negative_size_takes_no_mass_away(gprim, volume) -> None:
    """The shape that collides has the size without its sign, so its mass is that of this shape."""
    model = PhysicsModel()
    body = model.add(Prim("/Body", gprim.usd_name, np.eye(4)))
    for schema in (RigidBodyAPI(), CollisionAPI(), gprim):
        body.add(schema)
    assert mass.mass_properties(model, "/Body").mass == pytest.approx(1000.0 * volume)


def test_a_primitive_in_an_uneven_scale_has_the_scaled_sizes() -> None:
    world = np.diag([*SCALE, 1.0])
    cylinder = Primitive(Cylinder, np.zeros(3), np.eye(3), np.ones(3), radius=1.0, height=7.0, axis=0)
    pose, gprim = gprims.placed_gprim(cylinder, world, 0.1)
    assert (gprim.radius, gprim.height, gprim.axis) == (pytest.approx(0.5), pytest.approx(1.4), "X")
    assert frames.scale_of(world @ pose) == pytest.approx([1.0, 1.0, 1.0])
