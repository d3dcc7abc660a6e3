# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of shapes against their surfaces, and what two models of the same bodies may differ in without a word."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames, likeness
from usdphys_ext.usdphys_addon.core.model import Mesh, PhysicsModel, Prim, SpherePoints
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics

CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def turned(seed: int, scale=(1.0, 1.0, 1.0)) -> np.ndarray:
    """A random pose (4, 4)."""
    random = np.random.default_rng(seed)
    quaternion = random.normal(size=4)
    turn = frames.matrix_of(tuple(quaternion / np.linalg.norm(quaternion)))
    return frames.transform(random.normal(size=3), turn, scale)


def surface(gprim: usd_geom.Gprim) -> np.ndarray:
    """Points (n, 3) of the surface of a gprim along Z."""
    around = np.linspace(0.0, 2.0 * np.pi, 721)
    rim = np.column_stack((np.cos(around), np.sin(around), np.zeros(len(around))))
    if isinstance(gprim, usd_geom.Cube):
        return CUBE * gprim.size
    if isinstance(gprim, usd_geom.Sphere | usd_geom.Capsule):
        rings = [
            rim * np.cos(angle) + np.array((0.0, 0.0, np.sin(angle))) for angle in np.linspace(-1, 1, 361) * np.pi / 2
        ]
        ball = np.concatenate(rings) * gprim.radius
        half = np.array((0.0, 0.0, gprim.height / 2)) if isinstance(gprim, usd_geom.Capsule) else np.zeros(3)
        return np.concatenate((ball - half, ball + half))
    half = np.array((0.0, 0.0, gprim.height / 2))
    top = np.zeros((1, 3)) if isinstance(gprim, usd_geom.Cone) else rim * gprim.radius
    return np.concatenate((rim * gprim.radius - half, top + half))


GPRIMS = [
    usd_geom.Cube(0.8), usd_geom.Sphere(0.3), usd_geom.Capsule(0.7, 0.2, "Z"), usd_geom.Cylinder(0.7, 0.2, "Z"),
    usd_geom.Cone(0.7, 0.2, "Z"),
]  # fmt: skip


@pytest.mark.parametrize("gprim", GPRIMS, ids=lambda gprim: gprim.usd_name)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sign", (1.0, -1.0))
def test_the_range_of_a_shape_is_that_of_its_surface(gprim, seed, sign):
    world = turned(seed, (1.5 * sign,) * 3)
    points = surface(gprim) @ world[:3, :3].T + world[:3, 3]
    found = likeness.bounds(Prim("/Shape", gprim.usd_name, world, {gprim.usd_name: gprim}))
    assert found == pytest.approx(np.array([points.min(axis=0), points.max(axis=0)]), abs=2e-5)


@pytest.mark.parametrize("kind", [usd_geom.Cylinder, usd_geom.Capsule])
@pytest.mark.parametrize("shares", [(0.0, 1.0), (1.0, 0.25)])
@pytest.mark.parametrize("sign", (1.0, -1.0))
def test_the_range_of_a_shape_with_two_radii_is_that_of_its_surface(kind, shares, sign):
    """glTF has a cone that stands on its tip as a cylinder with two radii."""
    world = turned(5, (1.5 * sign,) * 3)
    around = np.linspace(0.0, 2.0 * np.pi, 721)
    ring = np.column_stack((np.cos(around), np.sin(around), np.zeros(len(around))))
    balls = np.concatenate([ring * np.cos(at) + [0, 0, np.sin(at)] for at in np.linspace(-1, 1, 361) * np.pi / 2])
    form, half = (ring if kind is usd_geom.Cylinder else balls) * 0.2, np.array((0.0, 0.0, 0.35))
    points = np.concatenate([shares[0] * form - half, shares[1] * form + half]) @ world[:3, :3].T + world[:3, 3]
    gprim = kind(0.7, 0.2, "Z")
    radii = {name: share * 0.2 for name, share in zip(("radiusBottom", "radiusTop"), shares, strict=True)}
    prim = Prim(
        "/Shape", gprim.usd_name, world, {gprim.usd_name: gprim}, extras={"shape": {kind.usd_name.lower(): radii}}
    )
    assert likeness.bounds(prim) == pytest.approx(np.array([points.min(axis=0), points.max(axis=0)]), abs=2e-5)


def test_the_range_of_a_mesh_and_of_balls_is_that_of_their_points():
    world = turned(4, (1.0, 2.0, 0.5))
    points = CUBE @ world[:3, :3].T + world[:3, 3]
    mesh = Mesh(CUBE, np.zeros((0, 3), np.int64))
    found = likeness.bounds(Prim("/Mesh", "Mesh", world, mesh=lambda: mesh))
    assert found == pytest.approx(np.array([points.min(axis=0), points.max(axis=0)]))
    balls = SpherePoints(np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]), np.array([0.5, 0.25]))
    found = likeness.bounds(Prim("/Balls", "Points", np.diag((2.0, 2.0, 2.0, 1.0)), mesh=lambda: balls))
    assert found == pytest.approx(np.array([(-1.0, -1.0, -1.0), (2.5, 1.0, 1.0)]))


def test_planes_and_sheared_shapes_have_no_range():
    plane = usd_geom.Plane(1.0, 1.0, "Z")
    assert likeness.bounds(Prim("/Plane", "Plane", schemas={plane.usd_name: plane})) is None
    sheared = np.array([(1.0, 0.5, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0)])
    cube = usd_geom.Cube(1.0)
    assert likeness.bounds(Prim("/Cube", "Cube", sheared, {cube.usd_name: cube})) is None


def scene(moved: np.ndarray) -> PhysicsModel:
    """Two boxes on a hinge, moved as a whole."""
    model = PhysicsModel()
    rubber = model.add(Prim("/Rubber", "Material"))
    rubber.add(usd_physics.MaterialAPI(static_friction=0.8, dynamic_friction=0.7, restitution=0.2))
    for number, name in enumerate(("Base", "Lid")):
        world = moved @ turned(number)
        body = model.add(Prim(f"/{name}", world=world))
        body.add(usd_physics.RigidBodyAPI())
        body.add(usd_physics.MassAPI(
            mass=2.0, center_of_mass=(0.1, 0.2, 0.0), diagonal_inertia=(0.1, 0.2, 0.25),
            principal_axes=(0.8, 0.6, 0.0, 0.0),
        ))  # fmt: skip
        shape = model.add(Prim(f"/{name}/Shape", "Cube", world @ np.diag((1.0, 2.0, 3.0, 1.0)), materials=("/Rubber",)))
        shape.add(usd_geom.Cube(1.0))
        shape.add(usd_physics.CollisionAPI())
    anchor = moved @ turned(7)
    ends = [frames.local_frame(model.prims[path].world, anchor) for path in ("/Base", "/Lid")]
    model.add(Prim("/Hinge", "PhysicsRevoluteJoint")).add(usd_physics.RevoluteJoint(
        body0=("/Base",), body1=("/Lid",), local_pos0=ends[0][0], local_rot0=ends[0][1],
        local_pos1=ends[1][0], local_rot1=ends[1][1], axis="X",
    ))  # fmt: skip
    return model


def pairing(**options) -> likeness.Pairing:
    shapes = [likeness.Parts(path, (path,), (path,)) for path in ("/Base/Shape", "/Lid/Shape")]
    bodies = {path: path for path in ("/Base", "/Lid")}
    return likeness.Pairing(bodies, {"/Hinge": likeness.Tie("/Hinge")}, shapes, **options)


@pytest.mark.parametrize("seed", range(10))
def test_a_scene_that_is_moved_as_a_whole_acts_alike(seed):
    shown, moved = scene(np.eye(4)), turned(seed)
    back = np.linalg.inv(moved)
    places = dict.fromkeys(("/Base", "/Lid", "/Base/Shape", "/Lid/Shape"), back)
    assert list(likeness.mismatches(shown, scene(moved), pairing(to_scene=places))) == []
    kinds = {one.kind for one in likeness.mismatches(shown, scene(moved), pairing())}
    assert {"place", "joint"} <= kinds


def change(path, cls, **values):
    def apply(model: PhysicsModel) -> None:
        prim = model.prims[path]
        prim.schemas = {
            name: copy.copy(value).copy(**values) if isinstance(value, cls) else value
            for name, value in prim.schemas.items()
        }

    return apply


def moved_by(path, offset):
    def apply(model: PhysicsModel) -> None:
        model.prims[path].world = frames.transform(offset) @ model.prims[path].world

    return apply


def without(path, name):
    return lambda model: model.prims[path].schemas.pop(name)


def another_body(model: PhysicsModel) -> None:
    model.add(Prim("/Third")).add(usd_physics.RigidBodyAPI())


CHANGES = {
    "mass": (change("/Lid", usd_physics.MassAPI, mass=2.1), "mass", "the mass of 'Lid' is 2.1 kg in it, and 2 kg here"),
    "no mass": (change("/Lid", usd_physics.MassAPI, mass=None), "mass", "the mass of 'Lid' is none in it"),
    "centre": (change("/Lid", usd_physics.MassAPI, center_of_mass=(0.1, 0.2, 0.1)), "mass", "centre of mass of 'Lid'"),
    "moments": (change("/Lid", usd_physics.MassAPI, diagonal_inertia=(0.1, 0.25, 0.2)), "mass", "moments of inertia"),
    "kind": (change("/Lid", usd_physics.RigidBodyAPI, kinematic_enabled=True), "value", "is kinematic in it"),
    "disabled": (change("/Lid", usd_physics.RigidBodyAPI, rigid_body_enabled=False), "missing", "is no body in it"),
    "place": (moved_by("/Lid", (0.0, 0.0, 0.01)), "place", "'Lid' is 0.01 m away"),
    "size": (change("/Lid/Shape", usd_geom.Cube, size=1.01), "shape", "the collider of 'Shape' measures"),
    "shape": (without("/Lid/Shape", "Cube"), "missing", "'Shape' has no collider in it"),
    "friction": (change("/Rubber", usd_physics.MaterialAPI, dynamic_friction=0.5), "material",
                 "the dynamic friction of 'Shape' is 0.5 in it, and 0.7 here"),
    "anchor": (change("/Hinge", usd_physics.RevoluteJoint, local_pos1=(1.0, 0.0, 0.0)), "joint", "on body 1 is"),
    "axis": (change("/Hinge", usd_physics.RevoluteJoint, axis="Y"), "joint", "the axes of 'Hinge' on body 0"),
    "no joint": (lambda model: model.prims.pop("/Hinge"), "missing", "'Hinge' is no joint in it"),
    "surplus": (another_body, "count", "it has 3 bodies, and Blender shows 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_each_deviation_is_named(name):
    apply, kind, text = CHANGES[name]
    written = scene(np.eye(4))
    apply(written)
    found = list(likeness.mismatches(scene(np.eye(4)), written, pairing()))
    assert kind in {one.kind for one in found} and text in " ".join(one.text for one in found)


def test_what_a_format_does_not_keep_is_not_asked_for():
    written = scene(np.eye(4))
    for name in ("kind", "friction", "surplus"):
        CHANGES[name][0](written)
    assert list(likeness.mismatches(scene(np.eye(4)), written, pairing(kept=frozenset()))) == []


def test_bodies_of_a_joint_that_have_changed_places_are_the_same_joint():
    written = scene(np.eye(4))
    joint = written.prims["/Hinge"].get(usd_physics.Joint)
    written.prims["/Hinge"].schemas["PhysicsRevoluteJoint"] = joint.copy(
        body0=joint.body1, body1=joint.body0, local_pos0=joint.local_pos1, local_pos1=joint.local_pos0,
        local_rot0=joint.local_rot1, local_rot1=joint.local_rot0,
    )  # fmt: skip
    found = pairing()
    assert list(likeness.mismatches(scene(np.eye(4)), written, found)) != []
    found.joints["/Hinge"] = likeness.Tie("/Hinge", True)
    assert list(likeness.mismatches(scene(np.eye(4)), written, found)) == []


def test_a_mass_that_follows_from_shapes_is_that_of_the_file():
    shown = scene(np.eye(4))
    del shown.prims["/Lid"].schemas["PhysicsMassAPI"]
    written = scene(np.eye(4))
    # A box of 1 x 2 x 3 m, of 1000 kg/m3.
    change("/Lid", usd_physics.MassAPI, mass=6000.0, center_of_mass=(0.0, 0.0, 0.0),
           diagonal_inertia=(6500.0, 5000.0, 2500.0), principal_axes=(1.0, 0.0, 0.0, 0.0))(written)  # fmt: skip
    assert list(likeness.mismatches(shown, written, pairing())) == []
    change("/Lid", usd_physics.MassAPI, mass=5000.0)(written)
    assert [one.kind for one in likeness.mismatches(shown, written, pairing())] == ["mass"]
