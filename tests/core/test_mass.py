# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes against formulas, meshes and OpenUSD's parser; masses of bodies against usd-core's ComputeMassProperties."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import assets
import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdPhysics, UsdShade
from usdphys_ext.usdphys_addon.core import frames, hull, mass
from usdphys_ext.usdphys_addon.core.mass import BodyMassProperties, Shape
from usdphys_ext.usdphys_addon.core.model import Mesh, PhysicsModel, Prim, SpherePoints
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.usd import read as usd_read

TOLERANCE = 1e-4


# --------------------------------------------------------------------------- meshes to compare with


def revolved(profile: np.ndarray, sides: int = 192) -> tuple[np.ndarray, np.ndarray]:
    """Closed mesh around Z of a profile (n, 2) of (radius, height) that begins and ends on the axis."""
    turns = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    rings = [np.column_stack((r * np.cos(turns), r * np.sin(turns), np.full(sides, z))) for r, z in profile]
    quads = []
    for ring in range(len(profile) - 1):
        low = ring * sides + np.arange(sides)
        right = ring * sides + (np.arange(sides) + 1) % sides
        quads += [np.column_stack((low, right, right + sides)), np.column_stack((low, right + sides, low + sides))]
    return np.concatenate(rings), np.concatenate(quads)


def arc(radius: float, start: float, end: float, middle: float = 0.0) -> np.ndarray:
    angles = np.linspace(start, end, 97)
    return np.column_stack((radius * np.cos(angles), middle + radius * np.sin(angles)))


PROFILES: dict[str, tuple[Shape, np.ndarray]] = {
    "sphere": (mass.sphere(0.7), arc(0.7, -np.pi / 2, np.pi / 2)),
    "cylinder": (mass.cylinder(0.4, 1.7), np.array([(0, -0.85), (0.4, -0.85), (0.4, 0.85), (0, 0.85)])),
    "capsule": (
        mass.capsule(0.4, 1.7),
        np.concatenate((arc(0.4, -np.pi / 2, 0, -0.85), arc(0.4, 0, np.pi / 2, 0.85))),
    ),
    "cone": (mass.cone(0.4, 1.7), np.array([(0, -0.85), (0.4, -0.85), (0, 0.85)])),
}
CUBE_POINTS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
CUBE_TRIANGLES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
     (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
)  # fmt: skip


def assert_same(found: Shape, wanted: Shape, tolerance: float) -> None:
    size = wanted.volume ** (1 / 3)
    assert found.volume == pytest.approx(wanted.volume, rel=tolerance)
    np.testing.assert_allclose(found.center, wanted.center, atol=tolerance * size)
    np.testing.assert_allclose(found.inertia, wanted.inertia, atol=tolerance * np.abs(wanted.inertia).max())


# --------------------------------------------------------------------------- shapes


@pytest.mark.parametrize("name", PROFILES)
def test_round_shape_is_its_fine_mesh(name: str) -> None:
    shape, profile = PROFILES[name]
    assert_same(mass.solid(*revolved(profile)), shape, 1e-3)


@pytest.mark.parametrize("make", [mass.cylinder, mass.capsule, mass.cone])
def test_axis_turns_the_shape(make: Callable[[float, float, str], Shape]) -> None:
    upright = make(0.3, 1.1, "Z")
    for axis, turn in (("X", [[0, 0, 1], [1, 0, 0], [0, 1, 0]]), ("Y", [[0, 1, 0], [0, 0, 1], [1, 0, 0]])):
        turned = Shape(upright.volume, np.array(turn) @ upright.center, mass.rotated(upright.inertia, turn))
        assert_same(make(0.3, 1.1, axis), turned, 1e-12)


def test_textbook_values() -> None:
    assert mass.sphere(2.0).volume == pytest.approx(33.510321638)
    assert mass.cylinder(2.0, 3.0).volume == pytest.approx(37.699111843)
    assert mass.capsule(2.0, 3.0).volume == pytest.approx(33.510321638 + 37.699111843)
    assert mass.cone(2.0, 4.0).volume == pytest.approx(16.755160819)
    assert mass.cone(2.0, 4.0).center.tolist() == [0, 0, -1]
    box = mass.box((1.0, 2.0, 3.0))
    assert box.volume == pytest.approx(6.0)
    assert box.inertia.diagonal() == pytest.approx([6.5, 5.0, 2.5])


def test_balls_of_points() -> None:
    two = mass.balls([(1.0, 0, 0), (-1.0, 0, 0)], [0.5, 0.5])
    one = mass.sphere(0.5)
    assert two.volume == pytest.approx(2 * one.volume)
    along = 2 * one.inertia[0, 0]
    assert two.inertia.diagonal() == pytest.approx([along, along + two.volume, along + two.volume])
    assert mass.balls([(1.0, 2.0, 3.0), (9.0, 9.0, 9.0)], [0.5, 0.0]).center == pytest.approx([1.0, 2.0, 3.0])


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("shift", [(0, 0, 0), (1e3, -2e3, 5e2)])
def test_solid_of_a_mesh(flip: bool, shift: tuple[float, ...]) -> None:
    triangles = CUBE_TRIANGLES[:, ::-1] if flip else CUBE_TRIANGLES
    wanted = mass.box((2.0, 3.0, 4.0), np.array([1.0, 1.5, 2.0]) + shift)
    assert_same(mass.solid(CUBE_POINTS * (2.0, 3.0, 4.0) + shift, triangles), wanted, 1e-9)


def test_solid_welds_points_in_one_place() -> None:
    loose = CUBE_POINTS[CUBE_TRIANGLES].reshape(-1, 3)
    assert_same(mass.solid(loose, np.arange(len(loose)).reshape(-1, 3)), mass.box((1, 1, 1), (0.5,) * 3), 1e-12)


def test_solid_with_a_cavity() -> None:
    points = np.concatenate((CUBE_POINTS * 3.0, CUBE_POINTS + 1.0))
    triangles = np.concatenate((CUBE_TRIANGLES, CUBE_TRIANGLES[:, ::-1] + 8))
    assert mass.solid(points, triangles).volume == pytest.approx(26.0)


def test_open_mesh_has_no_inside() -> None:
    assert mass.solid(CUBE_POINTS, CUBE_TRIANGLES[1:]) is None
    mixed = CUBE_TRIANGLES.copy()
    mixed[0] = mixed[0, ::-1]
    assert mass.solid(CUBE_POINTS, mixed) is None
    shape = mass.mesh_shape(CUBE_POINTS, CUBE_TRIANGLES[1:])
    assert shape.volume == pytest.approx(1.0)
    assert "not closed" in shape.note


@pytest.mark.parametrize("apart", [0.0, 1e-9])
@pytest.mark.parametrize("is_soup", [False, True])
def test_a_closed_mesh_is_weighed_in_steps_and_as_a_whole(
    is_soup: bool, apart: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cube with corners of its own for each triangle, which are equal or nearly so, and one without."""
    points, triangles = CUBE_POINTS, np.asarray(CUBE_TRIANGLES)
    if is_soup:
        points, triangles = points[triangles].reshape(-1, 3).astype(float), np.arange(triangles.size).reshape(-1, 3)
        points[::2] += apart
    whole = mass.solid(points, triangles)
    assert whole is not None and whole.volume == pytest.approx(1.0)
    fewest = len(list(mass.solid_steps(points, triangles)))
    monkeypatch.setattr(mass, "TOGETHER", 5)
    assert len(fractions := list(mass.solid_steps(points, triangles))) == fewest + 2
    assert fractions == sorted(fractions)
    parts = mass.solid(points, triangles)
    assert parts.volume == pytest.approx(whole.volume) and parts.inertia == pytest.approx(whole.inertia)


@pytest.mark.parametrize(
    ("approximation", "volume"),
    [("none", 7 / 8), ("meshSimplification", 7 / 8), ("convexDecomposition", 7 / 8), ("convexHull", 7 / 8 + 1 / 48 * 5),
     ("boundingCube", 1.0), ("boundingSphere", 4 / 3 * np.pi * 0.75**1.5)],
)  # fmt: skip
def test_approximation_decides_the_solid(approximation: str, volume: float) -> None:
    shape = mass.mesh_shape(*notched_cube(), approximation)
    assert shape.volume == pytest.approx(volume)
    assert shape.note == ""


def notched_cube() -> tuple[np.ndarray, np.ndarray]:
    """Unit cube without the eighth at its far corner. Its hull misses only the tetrahedron at that corner."""
    cells = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1) if (x, y, z) != (1, 1, 1)]
    faces = []
    for cell in cells:
        for axis in range(3):
            for side in (0, 1):
                neighbour = list(cell)
                neighbour[axis] += 2 * side - 1
                if tuple(neighbour) not in cells:
                    faces.append(square(cell, axis, side))
    points = np.concatenate(faces) / 2.0
    corners = np.arange(len(points)).reshape(-1, 4)
    return points, np.concatenate((corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]))


def square(cell: tuple[int, int, int], axis: int, side: int) -> np.ndarray:
    u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
    origin = np.array(cell, float) + side * np.eye(3)[axis]
    loop = [origin, origin + u, origin + u + v, origin + v]
    return np.array(loop if side else loop[::-1])


def test_flat_and_empty_meshes() -> None:
    flat = mass.mesh_shape(CUBE_POINTS * (1, 1, 0), CUBE_TRIANGLES)
    assert flat.volume == 0.0
    assert "flat" in flat.note
    assert "no usable points" in mass.mesh_shape(np.zeros((0, 3)), np.zeros((0, 3), int)).note
    assert "no usable points" in mass.mesh_shape([(math.nan, 0, 0)], [(0, 0, 0)]).note
    for size in (1e60, 1e104, 1e160, 1e300):
        assert "no usable points" in mass.mesh_shape(size * CUBE_POINTS, CUBE_TRIANGLES).note


SCALES = [(1, 1, 1), (2, 2, 2), (2, 3, 5), (5, 3, 2), (-2, 3, 5), (0.5, -4, -2)]
GPRIMS = {
    "Cube": lambda d: 8 * abs(np.prod(list(d.halfExtents))),
    "Sphere": lambda d: mass.sphere(d.radius).volume,
    "Capsule": lambda d: mass.capsule(d.radius, 2 * d.halfHeight).volume,
    "Cylinder": lambda d: mass.cylinder(d.radius, 2 * d.halfHeight).volume,
    "Cone": lambda d: mass.cone(d.radius, 2 * d.halfHeight).volume,
    "Plane": lambda d: 0.0,
}


@pytest.mark.parametrize("kind", GPRIMS)
def test_scale_of_gprims_is_the_parsers(kind: str) -> None:
    for scale, axis in itertools.product(SCALES, "XYZ"):
        check_scale(kind, scale, axis)


def check_scale(kind: str, scale: tuple[float, ...], axis: str) -> None:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    prim = stage.DefinePrim("/Thing", kind)
    UsdPhysics.CollisionAPI.Apply(prim)
    UsdGeom.Xformable(prim).AddScaleOp().Set(Gf.Vec3f(*scale))
    for name, value in (("axis", axis), ("height", 3.0)):
        if prim.HasAttribute(name):
            prim.GetAttribute(name).Set(value)
    ((_, descriptors),) = UsdPhysics.UsdPhysicsLoadStageFromPrimRange(stage, ["/"]).values()
    shape = mass.collider_shape(usd_read.read_stage(stage).prims["/Thing"])
    assert shape.volume == pytest.approx(GPRIMS[kind](descriptors[0]), rel=1e-6), (scale, axis)
    if kind not in ("Plane", "Cube", "Sphere"):
        moments = shape.inertia.diagonal()
        spine = "XYZ".index(axis)
        assert np.ptp(np.delete(moments, spine)) < 1e-9 < abs(moments[spine] - moments[spine - 1]), (scale, axis)


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -2, 1), (1, 1, -3), (-2, -2, -2)])
def test_tip_of_a_mirrored_cone_is_where_its_mesh_has_it(scale: tuple[float, float, float]) -> None:
    turned = frames.transform((1, 2, 3), frames.matrix_of((0.9, 0.1, 0.3, 0.2)), scale)
    cone, mesh = Prim("/Cone", "Cone", turned), Prim("/Mesh", "Mesh", turned)
    cone.add(usd_geom.Cone(height=1.7, radius=0.4, axis="Z"))
    mesh.mesh = lambda: Mesh(*revolved(PROFILES["cone"][1]))
    assert mass.collider_shape(cone).center == pytest.approx(mass.collider_shape(mesh).center, abs=1e-6)


def test_mesh_and_points_are_scaled() -> None:
    prim = Prim("/Mesh", "Mesh", frames.transform((7, 8, 9), frames.matrix_of((0.9, 0.1, 0.3, 0.2)), (-2, 3, 4)))
    prim.mesh = lambda: Mesh(CUBE_POINTS, CUBE_TRIANGLES)
    assert mass.collider_shape(prim).volume == pytest.approx(24.0)
    # In a mirrored space the rotation takes up what makes the scale negative on all axes.
    assert abs(mass.collider_shape(prim).center) == pytest.approx([1.0, 1.5, 2.0])
    prim.mesh = lambda: SpherePoints(np.array([(1.0, 1.0, 1.0)]), np.array([0.5]))
    assert mass.collider_shape(prim).volume == pytest.approx(mass.sphere(2.0).volume)
    prim.mesh = lambda: None
    assert mass.collider_shape(prim).volume == 0.0


def test_colliders_that_share_a_mesh_have_their_own_scale_and_approximation() -> None:
    mesh = Mesh(*notched_cube())
    volumes = {}
    for scale in (1.0, 2.0):
        for approximation in ("none", "boundingCube"):
            prim = Prim("/Mesh", "Mesh", np.diag((scale, scale, scale, 1.0)), mesh=lambda: mesh)
            prim.add(usd_physics.MeshCollisionAPI(approximation))
            volumes[scale, approximation] = mass.collider_shape(prim).volume
    assert volumes == pytest.approx(
        {(1.0, "none"): 7 / 8, (1.0, "boundingCube"): 1.0, (2.0, "none"): 7.0, (2.0, "boundingCube"): 8.0}
    )


@pytest.mark.parametrize(("approximation", "middle"), [("boundingCube", (1, 2, 0.5)), ("boundingSphere", (1, 2, 0.5))])
def test_bounds_have_their_middle_where_the_mesh_has_it(approximation: str, middle: tuple[float, ...]) -> None:
    points = CUBE_POINTS + np.array((0.5, 1.5, 0.0))
    assert mass.mesh_shape(points, CUBE_TRIANGLES, approximation).center == pytest.approx(middle)


def test_a_size_below_zero_is_its_amount() -> None:
    prim = Prim("/Cube", "Cube")
    prim.add(usd_geom.Cube(-2.0))
    assert mass.collider_shape(prim).volume == 8.0


def test_an_infinite_mass_or_density_says_nothing() -> None:
    model = PhysicsModel()
    body = model.add(Prim("/Cube", "Cube"))
    for value in (usd_geom.Cube(1.0), usd_physics.RigidBodyAPI(), usd_physics.CollisionAPI()):
        body.add(value)
    for api in (mass.MassAPI(mass=math.inf), mass.MassAPI(density=math.inf), mass.MassAPI(mass=math.nan)):
        body.add(api)
        assert mass.mass_properties(model, "/Cube").mass == pytest.approx(mass.DEFAULT_DENSITY)


# --------------------------------------------------------------------------- inertia


def test_diagonalized_gives_the_tensor_back() -> None:
    random = np.random.default_rng(0)
    for number in range(20):
        cloud = random.normal(size=(5, 3)) * random.uniform(0.1, 10.0, 3)
        tensor = sum(mass.translated(np.zeros((3, 3)), 1.0, point) for point in cloud)
        moments, axes = mass.diagonalized(tensor)
        back = mass.inertia_tensor(moments, axes)
        assert np.allclose(back, tensor, rtol=0, atol=1e-8 * np.abs(tensor).max()), (number, back, tensor)
        assert sorted(moments) == pytest.approx(np.linalg.eigvalsh(tensor).tolist()), number


def test_diagonalized_keeps_the_order_of_the_axes() -> None:
    assert mass.diagonalized(np.diag((3.0, 1.0, 2.0))) == ((3.0, 1.0, 2.0), (1.0, 0.0, 0.0, 0.0))
    slightly = frames.matrix_of((1.0, 0.05, -0.02, 0.03))
    assert mass.diagonalized(mass.rotated(np.diag((3.0, 1.0, 2.0)), slightly))[0] == pytest.approx((3.0, 1.0, 2.0))
    assert mass.diagonalized(np.zeros((3, 3))) == ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))


def test_parallel_axes() -> None:
    rod = mass.box((0.01, 0.01, 2.0))
    about_end = mass.translated(rod.inertia, rod.volume, (0, 0, 1.0))
    assert about_end[0, 0] == pytest.approx(rod.volume * 2.0**2 / 3.0, rel=1e-4)
    assert about_end[2, 2] == rod.inertia[2, 2]


# --------------------------------------------------------------------------- hull


def hull_volume(points: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = np.moveaxis(points[triangles] - points.mean(axis=0), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def test_hull_of_random_points() -> None:
    for seed in range(8):
        points = np.random.default_rng(seed).normal(size=(400, 3)) * (1.0, 0.2, 30.0) + 100.0 * (seed % 2)
        triangles = hull.convex_hull(points)
        a, b, c = np.moveaxis(points[triangles], 1, 0)
        normals = np.cross(b - a, c - a)
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        # No point lies outside of any face, and the faces close: vertices - edges + faces = 2.
        assert (points @ normals.T - np.einsum("ij,ij->i", normals, a)).max() < 1e-6, seed
        assert len(np.unique(triangles)) - len(triangles) // 2 == 2, seed


def test_hull_of_many_coplanar_points() -> None:
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 8)] * 3), -1).reshape(-1, 3) * (1.0, 2.0, 3.0)
    for seed in range(12):
        turn = frames.matrix_of(np.random.default_rng(seed).normal(size=4))
        points = (grid @ turn.T).astype(np.float32).astype(float)
        triangles = hull.convex_hull(points)
        assert hull_volume(points, triangles) == pytest.approx(6.0, rel=1e-5), seed
        assert len(np.unique(triangles)) - len(triangles) // 2 == 2, seed


def test_hull_of_a_cube_takes_its_corners_only() -> None:
    inside = np.random.default_rng(1).uniform(0.1, 0.9, (50, 3))
    points = np.concatenate((inside, CUBE_POINTS, CUBE_POINTS))
    triangles = hull.convex_hull(points)
    assert triangles.shape == (12, 3)
    assert {tuple(point) for point in points[triangles.ravel()]} == {tuple(point) for point in CUBE_POINTS}
    assert hull_volume(points, triangles) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "points",
    [np.zeros((0, 3)), np.ones((9, 3)), CUBE_POINTS[:3], np.arange(30.0).reshape(10, 3), CUBE_POINTS * (1, 1, 0),
     (CUBE_POINTS * (1, 1, 0)) @ frames.matrix_of((0.9, 0.1, 0.3, 0.2)).T,
     ((CUBE_POINTS * (1, 1, 0)) @ frames.matrix_of((0.9, 0.1, 0.3, 0.2)).T + 5000.0).astype(np.float32).astype(float),
     np.full((5, 3), math.nan)],
    ids=["none", "one place", "three", "line", "plane", "tilted plane", "tilted plane far away", "nan"],
)  # fmt: skip
def test_degenerate_points_have_no_hull(points: np.ndarray) -> None:
    assert hull.convex_hull(points) is None


# --------------------------------------------------------------------------- bodies: usd-core as the judge


def usd_core(stage: Usd.Stage, model: PhysicsModel, path: str) -> tuple[float, np.ndarray, np.ndarray]:
    """(kg, centre in m, tensor in kg m2) in the body's frame, from ComputeMassProperties fed with our shapes."""
    meters, kilograms = UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage)
    cache = UsdGeom.XformCache()
    body = stage.GetPrimAtPath(path)
    to_body = cache.GetLocalToWorldTransform(body).RemoveScaleShear().GetInverse()

    def information(prim: Usd.Prim) -> UsdPhysics.RigidBodyAPI.MassInformation:
        shape = mass.collider_shape(model.prims[str(prim.GetPath())])
        pose = cache.GetLocalToWorldTransform(prim).RemoveScaleShear() * to_body
        info = UsdPhysics.RigidBodyAPI.MassInformation()
        info.volume = shape.volume / meters**3
        info.centerOfMass = Gf.Vec3f(*(shape.center / meters).tolist())
        info.inertia = Gf.Matrix3f(*(shape.inertia / meters**5).ravel().tolist())
        info.localPos = Gf.Vec3f(pose.ExtractTranslation())
        info.localRot = Gf.Quatf(pose.ExtractRotationQuat())
        return info

    found, moments, center, axes = UsdPhysics.RigidBodyAPI(body).ComputeMassProperties(information)
    quaternion = (axes.GetReal(), *axes.GetImaginary())
    # Without colliders and authored axes usd-core returns uninitialised memory; its length is far from 1.
    quaternion = quaternion if abs(np.linalg.norm(quaternion) - 1.0) < 1e-3 else frames.IDENTITY_ROTATION
    return (
        found * kilograms,
        np.array(center) * meters,
        mass.inertia_tensor(np.array(moments) * kilograms * meters**2, quaternion),
    )


def disagreement(ours: BodyMassProperties, theirs: tuple[float, np.ndarray, np.ndarray]) -> str:
    """What differs by more than the tolerance, as a message; empty where nothing does."""
    kilograms, center, tensor = theirs
    if not (kilograms > 0 and np.isfinite(tensor).all()):
        return f"usd-core has no answer: {theirs}"
    reach = max(float(np.linalg.norm(center)), math.sqrt(np.linalg.norm(tensor) / kilograms))
    wrong = [
        name
        for name, size, error in (
            ("mass", kilograms, abs(ours.mass - kilograms)),
            ("center", reach, np.linalg.norm(np.array(ours.center_of_mass) - center)),
            ("inertia", np.linalg.norm(tensor), np.linalg.norm(ours.inertia - tensor)),
        )
        if not error <= TOLERANCE * size
    ]
    return f"{wrong}: {ours} {ours.inertia.tolist()} but usd-core: {theirs}" if wrong else ""


class Scene:
    """A body with two colliders, on which each case below changes something."""

    def __init__(self, meters: float, kilograms: float, up: str, scale: tuple[float, float, float], turn: float):
        self.stage = Usd.Stage.CreateInMemory()
        UsdGeom.SetStageMetersPerUnit(self.stage, meters)
        UsdPhysics.SetStageKilogramsPerUnit(self.stage, kilograms)
        UsdGeom.SetStageUpAxis(self.stage, up)
        self.body = self.xform("/World/Body", (3, -2, 5), (1, 2, 3, 70), scale)
        UsdPhysics.RigidBodyAPI.Apply(self.body)
        self.box = self.collider("/World/Body/Box", "Cube", (1, 2, 0.5), (2, -1, 1, turn), (1, 1.5, 2))
        self.arm = self.xform("/World/Body/Arm", (-1, 0.5, 1), (0, 1, 1, turn))
        self.cone = self.collider("/World/Body/Arm/Cone", "Cone", (0.2, 0.3, -3), (1, 1, 0, -turn))

    def xform(
        self, path: str, move: tuple[float, ...] = (0, 0, 0), turn: tuple[float, ...] = (0, 0, 1, 0),
        scale: tuple[float, ...] = (1, 1, 1), type_name: str = "Xform",
    ) -> Usd.Prim:  # fmt: skip
        prim = self.stage.DefinePrim(path, type_name)
        ops = UsdGeom.Xformable(prim)
        ops.AddTranslateOp().Set(Gf.Vec3d(*move))
        ops.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(
            Gf.Quatd(Gf.Rotation(Gf.Vec3d(*turn[:3]), turn[3]).GetQuat())
        )
        ops.AddScaleOp().Set(Gf.Vec3f(*scale))
        return prim

    def collider(self, path: str, type_name: str, *place: tuple[float, ...]) -> Usd.Prim:
        prim = self.xform(path, *place, type_name=type_name)
        UsdPhysics.CollisionAPI.Apply(prim)
        return prim

    def author(self, prim: Usd.Prim, **values: object) -> None:
        """MassAPI with these values: mass, density, center, inertia, axes."""
        api = UsdPhysics.MassAPI.Apply(prim)
        setters = {
            "mass": api.CreateMassAttr, "density": api.CreateDensityAttr, "center": api.CreateCenterOfMassAttr,
            "inertia": api.CreateDiagonalInertiaAttr, "axes": api.CreatePrincipalAxesAttr,
        }  # fmt: skip
        for name, value in values.items():
            setters[name](Gf.Quatf(*value) if name == "axes" else value)

    def material(self, name: str, density: float, prim: Usd.Prim, purpose: str = "") -> UsdShade.Material:
        made = UsdShade.Material.Define(self.stage, f"/World/{name}")
        UsdPhysics.MaterialAPI.Apply(made.GetPrim()).CreateDensityAttr(density)
        binding = UsdShade.MaterialBindingAPI.Apply(prim)
        binding.Bind(made, UsdShade.Tokens.weakerThanDescendants, purpose or UsdShade.Tokens.allPurpose)
        return made

    def only_body(self) -> None:
        self.stage.RemovePrim("/World/Body/Box")
        self.stage.RemovePrim("/World/Body/Arm")


def nested_body(scene: Scene, enabled: bool) -> None:
    UsdPhysics.RigidBodyAPI.Apply(scene.arm).CreateRigidBodyEnabledAttr(enabled)


def body_is_collider(scene: Scene, mass_: float = 0.0) -> None:
    scene.body.SetTypeName("Cylinder")
    UsdPhysics.CollisionAPI.Apply(scene.body)
    if mass_:
        scene.author(scene.body, mass=mass_)


def inner_body_is_collider(scene: Scene) -> None:
    UsdPhysics.RigidBodyAPI.Apply(scene.cone)


def bind(*densities: tuple[str, str, float, str]) -> Callable[[Scene], None]:
    return lambda scene: (
        [scene.material(name, density, getattr(scene, where), purpose) for name, where, density, purpose in densities]
        and None
    )


def subset_materials(scene: Scene) -> None:
    """A mesh with three densities: of its first faces, of the next, and, the one that counts, of its own."""
    mesh = UsdGeom.Mesh(scene.collider("/World/Body/Mesh", "Mesh", (2, 1, 0)))
    mesh.CreatePointsAttr(CUBE_POINTS.tolist())
    mesh.CreateFaceVertexCountsAttr([3] * 12)
    mesh.CreateFaceVertexIndicesAttr(CUBE_TRIANGLES.ravel().tolist())
    for index, density in enumerate((3.0, 5.0)):
        subset = UsdGeom.Subset.CreateGeomSubset(mesh, f"faces{index}", "face", [index])
        scene.material(f"Part{index}", density, subset.GetPrim())
    scene.material("Lead", 11.0, scene.body)


def stronger_parent(scene: Scene) -> None:
    scene.material("Air", 0.5, scene.box, "physics")
    lead = scene.material("Lead", 11.0, scene.body, "physics")
    binding = UsdShade.MaterialBindingAPI(scene.body)
    binding.Bind(lead, UsdShade.Tokens.strongerThanDescendants, "physics")


def visual_material(scene: Scene) -> None:
    made = UsdShade.Material.Define(scene.stage, "/World/Paint")
    UsdShade.MaterialBindingAPI.Apply(scene.box).Bind(made)


def material_and_density(scene: Scene) -> None:
    scene.material("Lead", 11.0, scene.body)
    scene.author(scene.body, density=3.0)


def all_negative(scene: Scene) -> None:
    scene.author(scene.body, density=-3.0, mass=-2.0)
    scene.author(scene.box, density=-4.0, mass=-5.0)
    scene.material("Lead", -11.0, scene.body)


def instanced(scene: Scene) -> None:
    scene.collider("/Library/Part", "Sphere", (1, 2, 3))
    copy = scene.xform("/World/Body/Copy", (2, 0, 0))
    copy.GetReferences().AddInternalReference("/Library")
    copy.SetInstanceable(True)


def reset_stack(scene: Scene) -> None:
    UsdGeom.Xformable(scene.arm).SetResetXformStack(True)


def own(where: str, **values: object) -> Callable[[Scene], None]:
    return lambda scene: scene.author(getattr(scene, where), **values)


def both(*steps: Callable[[Scene], None]) -> Callable[[Scene], None]:
    def run(scene: Scene) -> None:
        for step in steps:
            step(scene)

    return run


AXES = (math.cos(0.4), 0.0, 0.6 * math.sin(0.4), 0.8 * math.sin(0.4))
MOMENTS = (4.0, 5.0, 7.0)

#: What is changed in the scene, and the kind of the source of the mass.
CASES: dict[str, tuple[Callable[[Scene], None], str]] = {
    "nothing authored": (both(), "default"),
    "empty MassAPI": (own("body"), "default"),
    "mass": (own("body", mass=6.0), "authored"),
    "mass beats density": (own("body", mass=6.0, density=9.0), "authored"),
    "density": (own("body", density=9.0), "density"),
    "density of a collider beats the body's": (both(own("body", density=9.0), own("box", density=2.0)), "density"),
    "density of a collider": (own("box", density=2.0), "mixed"),
    "density of an Xform in between is not inherited": (own("arm", density=2.0), "default"),
    "mass of an Xform in between is not used": (own("arm", mass=2.0), "default"),
    "mass of a collider": (own("cone", mass=2.0), "mixed"),
    "mass of a collider beats its density": (own("cone", mass=2.0, density=70.0), "mixed"),
    "mass of the body beats a collider's": (both(own("body", mass=6.0), own("cone", mass=2.0)), "authored"),
    "material": (bind(("Lead", "box", 11.0, "")), "mixed"),
    "material of a parent": (bind(("Lead", "body", 11.0, "")), "material"),
    "physics material beats the other": (bind(("Lead", "box", 11.0, ""), ("Air", "box", 0.5, "physics")), "mixed"),
    "material nearer to the collider": (bind(("Lead", "body", 11.0, ""), ("Air", "box", 0.5, "")), "material"),
    "material of a parent that is stronger": (stronger_parent, "material"),
    "materials of subsets do not count": (subset_materials, "material"),
    "material without density": (bind(("Lead", "body", 0.0, "")), "default"),
    "material without physics": (visual_material, "default"),
    "density of the body beats materials": (material_and_density, "density"),
    "negative values are none": (all_negative, "default"),
    "center of a collider": (own("box", center=(1.0, -2.0, 3.0)), "default"),
    "center of a collider at its origin": (own("cone", center=(0.0, 0.0, 0.0)), "default"),
    "center with an infinity is none": (own("box", center=(1.0, math.inf, 3.0)), "default"),
    "inertia of a collider": (own("box", inertia=MOMENTS), "default"),
    "inertia and axes of a collider": (own("cone", inertia=MOMENTS, axes=AXES), "default"),
    "axes of a collider turn its computed inertia": (own("box", axes=AXES), "default"),
    "inertia, axes, mass and center of a collider": (
        own("box", inertia=MOMENTS, axes=AXES, mass=3.0, center=(1.0, 2.0, -1.0)), "mixed"
    ),
    "center": (own("body", center=(0.5, 1.0, -2.0)), "default"),
    "center at the origin": (own("body", center=(0.0, 0.0, 0.0)), "default"),
    "center and mass": (own("body", center=(0.5, 1.0, -2.0), mass=6.0), "authored"),
    "inertia takes the axes of the colliders": (own("body", inertia=MOMENTS), "default"),
    "inertia and axes": (own("body", inertia=MOMENTS, axes=AXES), "default"),
    "axes keep the computed moments": (own("body", axes=AXES), "default"),
    "axes of the body's own": (own("body", axes=(1, 0, 0, 0)), "default"),
    "zero axes are none": (own("body", axes=(0, 0, 0, 0)), "default"),
    "mass and inertia": (own("body", inertia=MOMENTS, mass=6.0), "authored"),
    "everything": (own("body", inertia=MOMENTS, mass=6.0, axes=AXES, center=(0.5, 1.0, -2.0)), "authored"),
    "everything but axes": (own("body", inertia=MOMENTS, mass=6.0, center=(0.5, 1.0, -2.0)), "authored"),
    "tiny inertia is none": (own("body", inertia=(6e-6, 6e-6, 0.0)), "default"),
    "small inertia": (own("body", inertia=(9e-6, 9e-6, 0.0)), "default"),
    "nested body": (lambda scene: nested_body(scene, True), "default"),
    "nested body that is disabled": (lambda scene: nested_body(scene, False), "default"),
    "nested body that is a collider": (inner_body_is_collider, "default"),
    "disabled collider": (
        lambda scene: UsdPhysics.CollisionAPI(scene.cone).CreateCollisionEnabledAttr(False), "default"
    ),
    "disabled body": (
        lambda scene: UsdPhysics.RigidBodyAPI(scene.body).CreateRigidBodyEnabledAttr(False), "default"
    ),
    "reset transform stack": (reset_stack, "default"),
    "instanced colliders": (instanced, "default"),
    "body that is a collider": (body_is_collider, "default"),
    "body that is a collider, with mass": (lambda scene: body_is_collider(scene, 6.0), "authored"),
    "no colliders, mass": (both(Scene.only_body, own("body", mass=6.0)), "authored"),
    "no colliders, mass and center": (both(Scene.only_body, own("body", mass=6.0, center=(1, 2, 3))), "authored"),
    "no colliders, mass and inertia": (
        both(Scene.only_body, own("body", mass=6.0, inertia=MOMENTS, axes=AXES)), "authored"
    ),
    "no colliders, everything": (
        both(Scene.only_body, own("body", mass=6.0, inertia=MOMENTS, axes=AXES, center=(1, 2, 3))), "authored"
    ),
}  # fmt: skip

VARIANTS = {
    "SI, turned": (1.0, 1.0, "Z", (1, 1, 1), 35.0),
    "cm g Y, scaled": (0.01, 0.001, "Y", (2, 3, 1.5), 0.0),
    "inch pound, mirrored": (0.0254, 0.45359237, "Z", (-2, 2, 2), 35.0),
}


@pytest.mark.parametrize("case", CASES)
def test_precedence_is_that_of_usd_core(case: str) -> None:
    change, kind = CASES[case]
    for variant, settings in VARIANTS.items():
        scene = Scene(*settings)
        change(scene)
        model = usd_read.read_stage(scene.stage)
        ours = mass.mass_properties(model, "/World/Body")
        assert disagreement(ours, usd_core(scene.stage, model, "/World/Body")) == "", variant
        assert ours.mass_source.kind == kind, variant


def plain(case: str) -> BodyMassProperties:
    scene = Scene(*VARIANTS["SI, turned"])
    CASES[case][0](scene)
    return mass.mass_properties(usd_read.read_stage(scene.stage), "/World/Body")


def test_each_case_changes_the_result_or_says_that_it_does_not() -> None:
    """Guards the cases above: what is authored there matters, but for the rules that say it does not."""
    same = {
        "density of an Xform in between is not inherited", "mass of an Xform in between is not used",
        "material without density", "material without physics", "negative values are none",
        "center with an infinity is none", "zero axes are none", "tiny inertia is none",
        "nested body that is disabled", "disabled body",
    }  # fmt: skip
    before, unchanged = plain("nothing authored"), set()
    for case in CASES.keys() - {"nothing authored", "empty MassAPI"}:
        after = plain(case)
        if (
            before.mass == pytest.approx(after.mass)
            and before.center_of_mass == pytest.approx(after.center_of_mass)
            and np.allclose(before.inertia, after.inertia, rtol=1e-6)
        ):
            unchanged.add(case)
    assert unchanged == same


@pytest.mark.slow
def test_devset_agrees_with_usd_core(shared: Path) -> None:
    wrong, compared, without_answer = [], 0, 0
    for file in assets.usd_files():
        stage = Usd.Stage.Open(str(file))
        model = usd_read.read_stage(stage)
        for path in model.bodies:
            ours = mass.mass_properties(model, path)
            theirs = usd_core(stage, model, path)
            if theirs[0] <= 0:
                without_answer += 1
                assert ours.mass_source.kind == "fallback", (file, path)
                assert ours.mass == pytest.approx(model.units.kilograms_per_unit)
                continue
            compared += 1
            message = disagreement(ours, theirs)
            if message:
                wrong.append(f"{file.name} {path}: {message}")
    assert wrong == []
    assert (compared, without_answer) == assets.either((117, 29), (97, 4))


# --------------------------------------------------------------------------- bodies: what usd-core does not answer


def body_model(kilograms: float = 1.0) -> tuple[Usd.Stage, Usd.Prim]:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.SetStageKilogramsPerUnit(stage, kilograms)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    prim = stage.DefinePrim("/Body", "Xform")
    UsdPhysics.RigidBodyAPI.Apply(prim)
    return stage, prim


@pytest.mark.parametrize("kilograms", [1.0, 0.001])
def test_body_without_anything_weighs_one_unit(kilograms: float) -> None:
    stage, _ = body_model(kilograms)
    found = mass.mass_properties(usd_read.read_stage(stage), "/Body")
    assert found.mass == pytest.approx(kilograms)
    assert found.mass_source.text == f"{kilograms:g} kg, because there are no colliders"
    assert found.diagonal_inertia == pytest.approx((0.004 * kilograms,) * 3)
    assert found.principal_axes == (1.0, 0.0, 0.0, 0.0)


def test_body_of_a_plane_weighs_one_unit() -> None:
    stage, prim = body_model()
    UsdPhysics.CollisionAPI.Apply(stage.DefinePrim("/Body/Plane", "Plane"))
    found = mass.mass_properties(usd_read.read_stage(stage), "/Body")
    assert found.mass == 1.0
    assert found.mass_source.text == "1 kg, because its colliders have no volume"
    assert any("plane" in note for note in found.notes)
    UsdPhysics.MassAPI.Apply(prim).CreateMassAttr(3.0)
    found = mass.mass_properties(usd_read.read_stage(stage), "/Body")
    assert (found.mass, found.diagonal_inertia) == (3.0, pytest.approx((0.012,) * 3))


def test_collider_with_mass_but_no_volume_has_no_inertia_of_its_own() -> None:
    stage, _ = body_model()
    prim = stage.DefinePrim("/Body/Plane", "Plane")
    UsdPhysics.CollisionAPI.Apply(prim)
    UsdPhysics.MassAPI.Apply(prim).CreateMassAttr(3.0)
    found = mass.mass_properties(usd_read.read_stage(stage), "/Body")
    assert found.mass == 3.0
    assert np.isfinite(found.inertia).all()


def test_unknown_body_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        mass.mass_properties(PhysicsModel(), "/Nowhere")


def test_sentences_name_the_winner() -> None:
    scene = Scene(*VARIANTS["SI, turned"])
    assert plain("nothing authored").mass_source.text == "default density 1000 kg/m3 on 2 colliders"
    assert plain("mass").mass_source.text == "mass authored on the body"
    assert plain("mass").inertia_source.text == "shape of 2 colliders, scaled to the mass of the body"
    assert plain("density").mass_source.text == "density 9 kg/m3 of the body on 2 colliders"
    assert plain("nested body").mass_source.text == "default density 1000 kg/m3 on /World/Body/Box"
    assert plain("mass of a collider").mass_source.text == (
        "sum of 2 colliders: default density 1000 kg/m3 on /World/Body/Box; "
        "mass 2 kg of its own on /World/Body/Arm/Cone"
    )
    scene.material("Rubber", 1000.0, scene.body)
    nested_body(scene, True)
    found = mass.mass_properties(usd_read.read_stage(scene.stage), "/World/Body")
    assert found.mass_source.text == "density 1000 kg/m3 of material Rubber on /World/Body/Box"
    everything = plain("everything")
    sources = (everything.mass_source, everything.center_source, everything.inertia_source, everything.axes_source)
    assert [source.kind for source in sources] == ["authored"] * 4
    assert everything.parts == ()
    assert "so small" in plain("tiny inertia is none").notes[0]


def test_binding_for_physics_decides_among_the_materials_of_a_prim() -> None:
    scene = Scene(*VARIANTS["SI, turned"])
    subset_materials(scene)
    model = usd_read.read_stage(scene.stage)
    prim = model.prims["/World/Body/Mesh"]
    assert prim.materials == ("/World/Part0", "/World/Part1", "/World/Lead")
    for binding, density in (("", 11.0), ("/World/Part1", 5.0), ("/World/Paint", 11.0)):
        prim.physics_binding = binding
        parts = {part.path: part for part in mass.mass_properties(model, "/World/Body").parts}
        assert parts[prim.path].mass == pytest.approx(density)


def test_parts_sum_up_to_the_body() -> None:
    found = plain("density of a collider beats the body's")
    assert sum(part.mass for part in found.parts) == pytest.approx(found.mass)
    assert {part.path for part in found.parts} == {"/World/Body/Box", "/World/Body/Arm/Cone"}
    box = next(part for part in found.parts if part.path.endswith("Box"))
    assert box.mass == pytest.approx(2.0 * 8 * 3.0)


@pytest.mark.parametrize(
    ("tapered", "plain"),
    [
        (mass.tapered(0.4, 0.4, 1.7, has_caps=False), mass.cylinder(0.4, 1.7)),
        (mass.tapered(0.4, 0.0, 1.7, has_caps=False), mass.cone(0.4, 1.7)),
        (mass.tapered(0.4, 0.4, 1.7), mass.capsule(0.4, 1.7)),
        (mass.tapered(0.1, 0.4, 0.2), mass.sphere(0.4, (0.0, 0.0, 0.1))),
        (mass.tapered(0.1, 0.4, 0.0, has_caps=False), mass.cylinder(0.4, 0.0)),
    ],
)
def test_tapered_solids_are_the_plain_ones_at_their_limits(tapered, plain):
    assert tapered.volume == pytest.approx(plain.volume)
    np.testing.assert_allclose(tapered.center, plain.center, atol=1e-12)
    np.testing.assert_allclose(tapered.inertia, plain.inertia, rtol=1e-9, atol=1e-12)


def test_tapered_capsule_is_the_solid_of_its_outline():
    """Summed in thin discs, of the hull of two balls: the largest radius of any ball between them."""
    bottom, top, height = 0.5, 0.2, 1.3
    found = mass.tapered(bottom, top, height, "X")
    z = np.linspace(-height / 2 - bottom, height / 2 + top, 4001)
    share = np.linspace(0, 1, 2001)[:, None]
    radii, centers = bottom + (top - bottom) * share, height * (share - 0.5)
    square = np.maximum(radii**2 - (z - centers) ** 2, 0).max(axis=0)
    disc = np.pi * square * (z[1] - z[0])
    center = (disc * z).sum() / disc.sum()
    assert found.volume == pytest.approx(disc.sum(), rel=1e-4)
    assert found.center.tolist() == [pytest.approx(center, abs=1e-4), 0, 0]
    across = (disc * (square / 4 + (z - center) ** 2)).sum()
    np.testing.assert_allclose(np.diag(found.inertia), ((disc * square / 2).sum(), across, across), rtol=1e-3)


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_small_inertia_is_used_with_the_mass_that_it_belongs_to(meters: float) -> None:
    """Fingers and rotors have less than USD's tolerance; what it is must not depend on the unit of the file."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, meters)
    prim = UsdGeom.Cube.Define(stage, "/Finger").GetPrim()
    UsdPhysics.RigidBodyAPI.Apply(prim)
    UsdPhysics.CollisionAPI.Apply(prim)
    api = UsdPhysics.MassAPI.Apply(prim)
    api.CreateMassAttr(0.02)
    api.CreateDiagonalInertiaAttr(Gf.Vec3f(2e-6, 3e-6, 4e-6) / meters**2)
    model = usd_read.read_stage(stage)
    found = mass.mass_properties(model, "/Finger")
    assert found.diagonal_inertia == pytest.approx((2e-6, 3e-6, 4e-6), rel=1e-5)
    assert not found.notes
