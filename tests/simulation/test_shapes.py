# SPDX-License-Identifier: GPL-3.0-or-later
"""Every kind of collider rests where its surface is, in two unit systems."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.hull import MANY
from usdphys_ext.usdphys_addon.core.model import Mesh, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.steps import Next
from usdphys_ext.usdphys_addon.simulation.notices import Notices
from usdphys_ext.usdphys_addon.simulation.rapier import shapes

from .author import CENTIMETERS, METERS, File, about, block, prism, row
from .helpers import codes, model_in, place, run, turn, world_of

W = "/World"
BOX_POINTS = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
BOX_FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
#: Cross section of two walls on a floor, open above: a trough of 1 x 1 x 1 with walls of 0.2, as one closed surface.
OUTLINE = [(-0.5, 0), (0.5, 0), (0.5, 1), (0.3, 1), (0.3, 0.2), (-0.3, 0.2), (-0.3, 1), (-0.5, 1)]


def trough() -> tuple[list, list]:
    front = [(x, -0.5, z) for x, z in OUTLINE]
    back = [(x, 0.5, z) for x, z in OUTLINE]
    count = len(OUTLINE)
    faces = [(i, (i + 1) % count, count + (i + 1) % count, count + i) for i in range(count)]
    for a, b, c, d in ((0, 1, 4, 5), (1, 2, 3, 4), (0, 5, 6, 7)):
        faces += [(d, c, b, a), tuple(count + index for index in (a, b, c, d))]
    return front + back, faces


def rest(file: File, name: str = "Thing", seconds: float = 3.0) -> np.ndarray:
    world = run(world_of(file), seconds)
    assert [code for code in codes(world) if code != "ShearedCollider"] == []
    return place(world, name)


def shape_in(file: File, name: str) -> shapes.SharedShape:
    """The solver's shape of the mesh of a body."""
    prim = model_in(file).prims[f"{W}/{name}/Shape"]
    placed = shapes.shape_of(prim, prim.mesh(), np.eye(3), Notices(), moves=False)
    assert placed is not None
    return placed[0]


@pytest.mark.parametrize(
    ("kind", "size", "axis", "height"),
    [("Cube", (1, 1, 0.6), "Z", 0.3), ("Sphere", (0.4,), "Z", 0.4), ("Capsule", (0.2, 0.6), "X", 0.2),
     ("Capsule", (0.2, 0.6), "Y", 0.2), ("Cylinder", (0.5, 0.4), "Z", 0.2), ("Cylinder", (0.3, 0.8), "X", 0.3),
     ("Cylinder", (0.3, 0.8), "Y", 0.3), ("Cone", (0.5, 0.6), "Z", 0.3)],
)  # fmt: skip
def test_primitives_rest_on_their_surface(kind: str, size: tuple[float, ...], axis: str, height: float) -> None:
    file = File(CENTIMETERS)
    shape = file.shape("Shape", kind, size, axis=axis)
    file.add(file.ground(), file.body("Thing", (0, 0, height + 0.05), geometry=shape))
    assert rest(file, seconds=1.0)[2] == pytest.approx(height, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "scale"),
    [("Cube", (1, 1, 3)), ("Cube", (-2, -1, -1)), ("Cylinder", (2, 2, 2)), ("Cylinder", (-1, 1, 1)),
     ("Mesh", (1, 1, 3)), ("Mesh", (-2, -1, -1))],
)  # fmt: skip
def test_scale_is_part_of_the_shape(kind: str, scale: tuple[float, ...]) -> None:
    file = File(CENTIMETERS)
    if kind == "Mesh":
        shape = file.mesh("Shape", BOX_POINTS, BOX_FACES, "convexHull", scale=scale)
    else:
        shape = file.shape("Shape", kind, (1, 1, 1) if kind == "Cube" else (0.5, 1), scale=scale)
    file.add(file.ground(), file.body("Thing", (0, 0, abs(scale[2]) / 2 + 0.05), geometry=shape))
    assert rest(file, seconds=1.0)[2] == pytest.approx(abs(scale[2]) / 2, abs=0.01)


@pytest.mark.slow
def test_mirrored_cone_stands_on_its_base() -> None:
    """Mirrored along its axis, the base is above and the tip below: it falls over, unlike one mirrored across."""
    for scale, stands in (((1, 1, 1), True), ((-1, 1, 1), True), ((1, 1, -1), False)):
        file = File(CENTIMETERS)
        cone = file.shape("Shape", "Cone", (0.5, 0.6), scale=scale)
        file.add(file.ground(), file.body("Thing", (0, 0, 0.35), about("Y", 3), geometry=cone, inertia=(0.03,) * 3,
                                          center=(0, 0, 0)))  # fmt: skip
        world = run(world_of(file), 3.0)
        assert (turn(world, "Thing")[2, 2] > 0.99) == stands


def test_uneven_round_shapes_are_said_and_take_the_largest() -> None:
    file = File(CENTIMETERS)
    ball = file.shape("Shape", "Sphere", (0.5,), scale=(1, 1, 2))
    file.add(file.ground(), file.body("Thing", (0, 0, 1.1), geometry=ball))
    world = run(world_of(file), 1.0)
    assert codes(world) == ["ShearedCollider"]
    assert place(world, "Thing")[2] == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_plane_has_no_edge(axis: str) -> None:
    file = File(CENTIMETERS)
    up = {"X": about("Y", -90), "Y": about("X", 90), "Z": (1, 0, 0, 0)}[axis]
    plane = file.shape("Shape", "Plane", (), rotation=up, axis=axis)
    file.add(file.body("Floor", (0, 0, 0.5), dynamic=False, geometry=plane))
    file.add(file.body("Thing", (500, -300, 1.1)))
    assert rest(file, seconds=1.0) == pytest.approx((500, -300, 1.0), abs=0.01)


def test_plane_on_a_body_is_said() -> None:
    file = File()
    world = world_of(file.add(file.body("Thing", geometry=file.shape("Shape", "Plane", ()))))
    assert codes(world) == ["PlaneMoves"]


@pytest.mark.parametrize(
    ("moves", "approximation", "height"),
    [(False, "none", 0.45), (False, "", 0.45), (False, "meshSimplification", 0.45),
     (False, "convexDecomposition", 0.45), (False, "convexHull", 1.25), (False, "boundingCube", 1.25),
     (False, "boundingSphere", 0.5 + math.sqrt(0.75) + 0.25), (True, "none", 0.45), (True, "boundingCube", 1.25)],
)  # fmt: skip
def test_approximations_of_a_trough(moves: bool, approximation: str, height: float) -> None:
    """A ball falls into the trough, or stays on what the approximation closes. Static, and held by a joint."""
    file = File(CENTIMETERS)
    points, faces = trough()
    shape = file.mesh("Shape", points, faces, approximation)
    file.add(file.body("Trough", (0, 0, 0), geometry=shape, dynamic=moves, mass=50.0, inertia=(9, 9, 9)))
    if moves:
        file.add(file.joint("Hold", "Fixed", "", f"{W}/Trough"))
    file.add(file.body("Thing", (0, 0, height + 0.05), shape="Sphere", size=(0.25,), inertia=(0.03,) * 3))
    assert rest(file, seconds=1.0)[2] == pytest.approx(height, abs=0.03)


@pytest.mark.parametrize("approximation", ["boundingCube", "convexHull", "none"])
@pytest.mark.parametrize(
    ("length", "thickness"),
    [(60.0, 0.2), (30.0, 0.2), (180.0, 0.2), (60.0, 0.01), (200.0, 0.001), (10.0, 0.001), (2.0, 0.001), (1.0, 0.5)],
)
def test_a_thin_floor_carries_a_crate_where_its_surface_is(approximation: str, length: float, thickness: float) -> None:
    file = File(CENTIMETERS)
    points = [(x * length, y * length, z * thickness) for x, y, z in BOX_POINTS]
    file.add(file.body("Floor", geometry=file.mesh("Shape", points, BOX_FACES, approximation), dynamic=False))
    side = min(1.0, length / 4.0)
    start = (0.2 * length, 0.1 * length, thickness / 2 + 0.51 * side)
    file.add(file.body("Thing", start, size=(side,) * 3, inertia=(side**2 / 6,) * 3))
    assert rest(file, seconds=1.0)[2] == pytest.approx(thickness / 2 + side / 2, abs=0.004 * side)


@pytest.mark.parametrize("approximation", ["convexHull", "convexDecomposition"])
@pytest.mark.parametrize(
    ("sides", "radius", "thickness"),
    [(24, 30.0, 0.2), (6, 30.0, 0.05), (6, 5.0, 0.003), (3, 30.0, 0.05), (24, 30.0, 0.001)],
)
def test_a_thin_floor_with_corners_carries_a_crate_where_its_surface_is_drawn(
    sides: int, radius: float, thickness: float, approximation: str
) -> None:
    """They lifted crates by up to 0.47 m or let them sink in. Turned, because its coordinates are rounded then."""
    points, faces = prism(sides, radius, thickness)
    turned = (np.array(points) @ rotation("Z", 10).T).tolist()
    file = File()
    file.add(file.body("Floor", geometry=file.mesh("Shape", turned, faces, approximation), dynamic=False))
    file.add(file.body("Thing", (0.1 * radius, -0.15 * radius, thickness / 2 + 0.51), inertia=(1 / 6,) * 3))
    assert rest(file, seconds=1.0)[2] == pytest.approx(thickness / 2 + 0.5, abs=0.002)
    prim = model_in(file).prims[f"{W}/Floor/Shape"]
    ((drawn, _),) = shapes.surfaces_of(prim, prim.mesh(), np.eye(3))
    assert np.ptp(drawn[:, 2]) == pytest.approx(thickness) and len(drawn) == 2 * sides


def test_a_thin_ring_keeps_its_hole() -> None:
    """Only what is convex is one plate: a ball falls through the middle of a frame of convex parts."""
    outer, inner = ([(r * x, r * y) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))] for r in (1.0, 0.6))
    points = [(x, y, z) for z in (-0.02, 0.02) for x, y in (*outer, *inner)]
    faces = []
    for a in range(4):
        b = (a + 1) % 4
        faces += [(a, 4 + a, 4 + b, b), (8 + a, 8 + b, 12 + b, 12 + a)]
        faces += [(a, b, 8 + b, 8 + a), (4 + b, 4 + a, 12 + a, 12 + b)]
    file = File()
    file.add(file.body("Frame", geometry=file.mesh("Shape", points, faces, "convexDecomposition"), dynamic=False))
    file.add(file.body("Thing", (0, 0, 0.5), shape="Sphere", size=(0.2,), inertia=(0.02,) * 3))
    assert rest(file, seconds=1.0)[2] < -1.0


def test_thin_plates_lie_on_each_other() -> None:
    points, faces = prism(6, 0.6, 0.01)
    places = [(0.02 * number, 0, 0.01 * number + 0.005) for number in range(4)]
    file = File()
    file.add(file.ground())
    for number, start in enumerate(places):
        shape = file.mesh("Shape", points, faces, "convexHull")
        file.add(file.body(f"Plate{number}", start, geometry=shape, mass=5.0))
    world = run(world_of(file), 3.0)
    for number, start in enumerate(places):
        assert place(world, f"Plate{number}") == pytest.approx(start, abs=0.006)


@pytest.mark.parametrize("up", [False, True])
def test_a_floor_without_thickness_gets_it_on_the_other_side_of_its_faces(up: bool) -> None:
    file = File(CENTIMETERS)
    points, face = [(-30, -30, 0), (30, -30, 0), (30, 30, 0), (-30, 30, 0)], (0, 1, 2, 3)
    shape = file.mesh("Shape", points, [face if up else face[::-1]], "boundingCube")
    file.add(file.body("Floor", geometry=shape, dynamic=False))
    file.add(file.body("Thing", (3, 1, 0.51 if up else 0.81), inertia=(1 / 6,) * 3))
    world = run(world_of(file), 1.0)
    assert codes(world) == ["FlatCollider"]
    assert place(world, "Thing")[2] == pytest.approx(0.5 if up else 0.5 + 60 * shapes.THIN, abs=0.004)


def test_triangle_meshes_collide_with_each_other() -> None:
    file = File(CENTIMETERS)
    points, faces = trough()
    file.add(file.body("Below", (0, 0, 0), geometry=file.mesh("Shape", points, faces, "none"), dynamic=False))
    small = [tuple(value / 2 for value in point) for point in BOX_POINTS]
    file.add(file.body("Thing", (0, 0, 0.5), geometry=file.mesh("Shape", small, BOX_FACES, "none"),
                       inertia=(0.05,) * 3))  # fmt: skip
    assert rest(file, seconds=2.0)[2] == pytest.approx(0.45, abs=0.03)


def test_points_are_balls() -> None:
    file = File(CENTIMETERS)
    centers = [file.lengths(point) for point in ((-0.5, -0.5, 0), (0.5, -0.5, 0), (0, 0.5, 0))]
    lines = [f"point3f[] points = [{', '.join(map(row, centers))}]",
             f"float[] widths = [{', '.join([str(file.length(0.4))] * 3)}]"]  # fmt: skip
    shape = block("Points", "Shape", lines, ["PhysicsCollisionAPI"])
    file.add(file.ground(), file.body("Thing", (0, 0, 0.3), geometry=shape, mass=None))
    assert rest(file, seconds=2.0)[2] == pytest.approx(0.2, abs=0.01)


def test_compound_body() -> None:
    """An L of two boxes stands on its foot; its mass is that of both."""
    file = File(CENTIMETERS)
    foot = file.shape("Foot", "Cube", (1, 0.4, 0.2), (0.3, 0, 0.1))
    post = file.shape("Post", "Cube", (0.2, 0.4, 1.0), (0, 0, 0.5))
    file.add(file.ground(), file.body("Thing", (0, 0, 0.05), collides=False, children=[foot, post], mass=None))
    world = world_of(file)
    world.step()
    assert world.kinetic_energy() == pytest.approx(1000 * (0.08 + 0.08) * (9.81 / 60) ** 2 / 2, rel=1e-3)
    run(world, 2.0)
    assert place(world, "Thing") == pytest.approx((0, 0, 0), abs=0.02)


def test_simplification_keeps_a_fine_mesh_coarse_and_near() -> None:
    rings = 48
    points = [
        (math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), math.cos(a))
        for a in np.linspace(0, math.pi, rings) for b in np.linspace(0, 2 * math.pi, rings, endpoint=False)
    ]  # fmt: skip
    faces = [
        (i * rings + j, (i + 1) * rings + j, (i + 1) * rings + (j + 1) % rings, i * rings + (j + 1) % rings)
        for i in range(rings - 1) for j in range(rings)
    ]  # fmt: skip
    file = File(CENTIMETERS)
    file.add(file.body("Dome", (0, 0, 0), geometry=file.mesh("Shape", points, faces, "meshSimplification"),
                       dynamic=False))  # fmt: skip
    file.add(file.body("Thing", (0, 0, 1.35), size=(2, 2, 0.5), inertia=(5, 5, 5), mass=10.0))
    world = run(world_of(file), 0.2)
    assert place(world, "Thing")[2] == pytest.approx(1.25, abs=0.08)
    assert 50 < len(shape_in(file, "Dome").as_trimesh().indices) <= shapes.SIMPLE_TRIANGLES


NOWHERE, ENDLESS = [(0, 0, 0)] * 4, [(0, 0, 0), (math.inf, 0, 0), (0, 1, 0)]


@pytest.mark.parametrize(
    ("approximation", "points", "faces", "code"),
    [("none", NOWHERE, [(0, 1, 2)], "MeshUnusable"), ("convexHull", NOWHERE, [(0, 1, 2)], "MeshUnusable"),
     ("convexDecomposition", NOWHERE, [(0, 1, 2)], "MeshUnusable"),
     ("meshSimplification", NOWHERE, [(0, 1, 2)], "MeshUnusable"), ("convexHull", ENDLESS, [(0, 1, 2)], "MeshUnusable"),
     ("convexHull", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], "ColliderWithoutGeometry")],
)  # fmt: skip
def test_bad_meshes_are_said(approximation: str, points: list, faces: list, code: str) -> None:
    file = File()
    file.add(file.body("Bad", (0, 0, 5), geometry=file.mesh("Shape", points, faces, approximation)))
    world = run(world_of(file), 0.1)
    assert codes(world) == [code]
    assert world.notices[0].path == f"{W}/Bad/Shape"
    assert place(world, "Bad")[2] < 5


def test_shape_of_no_size_is_said() -> None:
    file = File()
    world = world_of(file.add(file.body("Bad", shape="Sphere", size=(0.0,))))
    assert codes(world) == ["MeshUnusable"]


@pytest.mark.parametrize("gprim", [usd_geom.Plane(), usd_geom.Cube(), usd_geom.Cylinder()])
@pytest.mark.parametrize(
    "axes", [np.diag((1.0, 0.0, 1.0)), np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])]
)
def test_a_gprim_whose_axes_lie_in_a_plane_does_not_collide(axes, gprim) -> None:
    """Also where each axis has a length: two of them are parallel, as a sheared matrix of a file can have it."""
    world = np.eye(4)
    world[:3, :3] = axes
    prim, notices = Prim("/Flat", gprim.usd_name, world), Notices()
    prim.add(gprim)
    assert shapes.shape_of(prim, None, np.eye(3), notices, moves=False) is None
    assert [issue.code for issue in notices.issues] == ["MeshUnusable"]


def test_several_materials_and_frictions_are_said() -> None:
    file = File()
    subset = block(
        "GeomSubset", "Part",
        ["int[] indices = [0]", f"rel material:binding:physics = <{W}/Two>", 'uniform token elementType = "face"',
         'uniform token familyName = "materialBind"'],
        ["MaterialBindingAPI"],
    )  # fmt: skip
    mesh = file.mesh("Shape", BOX_POINTS, BOX_FACES, "convexHull", material=f"{W}/One")
    mesh = mesh.rstrip("}") + subset + "\n}"
    file.add(file.material("One", 0.6, static=0.2), file.material("Two", 0.5), file.body("Thing", geometry=mesh))
    assert sorted(codes(world_of(file))) == ["MaterialPerFace", "StaticFriction"]


def test_shapes_are_made_once() -> None:
    """Also of two prims that hold the same mesh each for itself."""
    file = File()
    points, faces = trough()
    for index in range(2):
        for approximation in ("convexDecomposition", "convexHull"):
            mesh = file.mesh("Shape", points, faces, approximation)
            file.add(file.body(f"{approximation}{index}", (2.0 * index, 0, 0), geometry=mesh))
    first, second = (shape_in(file, f"convexDecomposition{index}") for index in range(2))
    assert first is second and first is not shape_in(file, "convexHull0")


def bumpy(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A closed ball with bumps: points (n, 3), with many equal ones at its poles, and 2 * rows ** 2 triangles."""
    around, tilt = np.meshgrid(np.arange(rows) / rows * 2 * np.pi, np.arange(rows + 1) / rows * np.pi)
    sizes = 1.0 + 0.3 * np.sin(3 * around) * np.sin(tilt) ** 2
    points = np.stack(
        (sizes * np.sin(tilt) * np.cos(around), sizes * np.sin(tilt) * np.sin(around), sizes * np.cos(tilt)), -1
    )
    points[0], points[-1] = (0, 0, 1), (0, 0, -1)
    here = np.arange(rows)[:, None] * rows + np.arange(rows)
    beside = np.arange(rows)[:, None] * rows + (np.arange(rows) + 1) % rows
    halves = [np.stack(corners, -1).reshape(-1, 3) for corners in
              ((here, here + rows, beside + rows), (here, beside + rows, beside))]  # fmt: skip
    return points.reshape(-1, 3), np.concatenate(halves)


def mesh_prim(points: np.ndarray, triangles: np.ndarray, approximation: str) -> Prim:
    prim, mesh = Prim("/World/Rock", "Mesh", label="Rock"), Mesh(points, triangles)
    prim.add(usd_physics.MeshCollisionAPI(approximation))
    prim.mesh = lambda: mesh
    return prim


def steps_of(prim: Prim) -> tuple[list[float], shapes.SharedShape]:
    """The fractions that building the shape of a mesh yields, and the shape."""
    steps, found = shapes.shape_steps(prim, prim.mesh(), np.eye(3), Notices(), moves=True), []
    while True:
        try:
            found.append(next(steps))
        except StopIteration as done:
            return found, done.value[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("approximation", "least"),
    [("none", 10), ("convexHull", 60), ("meshSimplification", 10), ("convexDecomposition", 10)],
)
def test_a_shape_of_many_triangles_is_made_in_steps_that_grow(
    approximation: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "TOGETHER", 5_000)
    points, triangles = bumpy(160)
    assert len(points) > MANY and len(triangles) > 50_000
    fractions, _ = steps_of(mesh_prim(points, triangles, approximation))
    assert len(fractions) >= least and fractions[0] == 0.0 and fractions[-1] <= 1.0
    if approximation != "meshSimplification":
        assert fractions == sorted(fractions)


@pytest.mark.slow
@pytest.mark.parametrize(("approximation", "what"), [("none", "tree"), ("convexDecomposition", "convex parts")])
def test_what_the_solver_makes_in_one_call_is_said_just_before(
    approximation: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "MANY_TRIANGLES", 1000)
    fractions, _ = steps_of(mesh_prim(*bumpy(24), approximation))
    (said,) = [fraction for fraction in fractions if isinstance(fraction, Next)]
    # The mesh has 1,152 triangles, of which 48 at the poles have no area.
    assert said.about.startswith("'Rock': ") and what in said.about and said.about.endswith(" of 1,104 triangles")
    small, _ = steps_of(mesh_prim(*bumpy(12), "none"))
    assert not [fraction for fraction in small if isinstance(fraction, Next)]


@pytest.mark.parametrize("apart", [0.0, 1e-9])
def test_triangles_are_those_that_the_solver_keeps_after_merging_equal_points(apart: float) -> None:
    """Points that are equal, and some that only the solver's numbers do not tell apart."""
    points, triangles = bumpy(20)
    soup = points[triangles].reshape(-1, 3)
    soup[3] = soup[4] + apart
    numbers = np.arange(len(soup)).reshape(-1, 3)
    flags = shapes.rapier3d.TriMeshFlags
    both = flags.MERGE_DUPLICATE_VERTICES | flags.DELETE_DEGENERATE_TRIANGLES
    merged = shapes.SharedShape.trimesh(soup, numbers.astype(np.uint32), both).as_trimesh()
    _, shape = steps_of(mesh_prim(soup, numbers, "none"))
    own = shape.as_trimesh()
    ours, theirs = (np.asarray(mesh.vertices)[np.asarray(mesh.indices).reshape(-1, 3)] for mesh in (own, merged))
    # 40 at the poles, and one of which two corners are one: the edges of its hole are put out.
    assert len(ours) == len(numbers) - 41 and np.allclose(ours, theirs, atol=1e-4)


def test_the_hull_of_many_points_on_a_box_is_that_box() -> None:
    """A cube that is subdivided to 24,578 points: its corners are all found, so nothing is lost."""
    sides = np.linspace(-0.5, 0.5, 65)
    grid = np.stack(np.meshgrid(sides, sides, sides), -1).reshape(-1, 3)
    points = grid[(np.abs(grid) == 0.5).any(axis=1)] * (1.0, 2.0, 3.0)
    assert len(points) > MANY
    _, shape = steps_of(mesh_prim(points, np.array([(0, 1, 2)]), "convexHull"))
    box = shape.as_cuboid()
    assert box is not None and sorted(box.half_extents.to_tuple()) == pytest.approx((0.5, 1.0, 1.5))


def test_an_approximation_of_a_simulator_is_said_to_be_the_triangles() -> None:
    """A distance field of PhysX lets a body be hollow: so do triangles."""
    file = File()
    mesh = file.mesh("Shape", BOX_POINTS, BOX_FACES, "sdf")
    file.add(file.body("Thing", geometry=mesh))
    assert "ApproximationOther" in codes(world_of(file))


@pytest.mark.slow
@pytest.mark.parametrize("approximation", ["convexHull", "convexDecomposition"])
@pytest.mark.parametrize("sides", [5, 6, 8, 12, 32, 64])
def test_a_drum_stands_still_on_all_of_its_foot(sides: int, approximation: str) -> None:
    file = File()
    shape = file.mesh("Shape", *prism(sides, 0.5, 1.0), approximation)
    file.add(file.ground(size=20), file.body("Thing", (0.3, 0.2, 0.5), geometry=shape))
    world = run(world_of(file), 1.0)
    assert place(world, "Thing") == pytest.approx((0.3, 0.2, 0.5), abs=5e-4)
    assert turn(world, "Thing") == pytest.approx(np.eye(3), abs=1e-3)


@pytest.mark.parametrize(("off", "stays"), [(0.45, True), (0.55, False)])
def test_a_box_stands_on_a_drum_as_far_as_its_rim(off: float, stays: bool) -> None:
    file = File()
    top = file.mesh("Shape", *prism(32, 0.5, 0.2), "convexHull")
    file.add(
        file.body("Table", (0, 0, -0.1), dynamic=False, geometry=top),
        file.body("Thing", (off, 0, 0.1), size=(0.2, 0.2, 0.2)),
    )
    world = run(world_of(file), 1.0)
    assert (place(world, "Thing")[2] == pytest.approx(0.1, abs=0.01)) == stays


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
@pytest.mark.parametrize(
    ("kind", "size"), [("Cylinder", (0.15, 0.2)), ("Cylinder", (0.02, 0.03)), ("Cone", (0.3, 0.5))]
)
def test_what_just_touches_the_ground_does_not_fall_into_it(kind: str, size: tuple[float, float], units) -> None:
    """Two cylinders on each other, the first of which may be a cone."""
    radius, height = size
    file = File(units)
    file.add(file.ground(size=20), file.body("Low", (0, 0, height / 2), shape=kind, size=size))
    if kind == "Cylinder":
        file.add(file.body("High", (0, 0, 1.5 * height), shape=kind, size=size))
    world = world_of(file)
    start = world.positions.copy()
    for _ in range(30):
        world.step()
        assert world.positions == pytest.approx(start, abs=0.01 * radius)


def test_the_hull_of_a_box_is_a_box_where_it_is() -> None:
    points = [(x + 0.3, y, z - 0.1) for x, y, z in (np.array(BOX_POINTS) * (0.4, 0.2, 1.0)) @ rotation("Z", 30).T]
    file = File()
    file.add(file.body("Thing", (0, 0, 0), geometry=file.mesh("Shape", points, BOX_FACES, "convexHull")))
    prim = model_in(file).prims[f"{W}/Thing/Shape"]
    shape, center, turned = shapes.shape_of(prim, prim.mesh(), np.eye(3), Notices(), moves=True)
    half = np.array(shape.as_cuboid().half_extents.to_tuple())
    corners = center + np.array(BOX_POINTS) * 2 * half @ turned.T
    for point in points:
        assert np.linalg.norm(corners - point, axis=1).min() < 1e-6


@pytest.mark.parametrize("thickness", [0.01, 0.001])
def test_the_hull_of_a_thin_slab_is_drawn_and_simulated_as_thin_as_it_is(thickness: float) -> None:
    """As a hull it was 0.3 m thick, or none; turned, because its coordinates are rounded then."""
    points = np.array(BOX_POINTS) * (60, 60, thickness) @ rotation("X", 11).T @ rotation("Z", 30).T
    file = File()
    file.add(file.body("Floor", geometry=file.mesh("Shape", points.tolist(), BOX_FACES, "convexHull"), dynamic=False))
    prim = model_in(file).prims[f"{W}/Floor/Shape"]
    half = shape_in(file, "Floor").as_cuboid().half_extents.to_tuple()
    assert sorted(half) == pytest.approx([thickness / 2, 30, 30], rel=1e-2)
    ((drawn, faces),) = shapes.surfaces_of(prim, prim.mesh(), np.eye(3))
    assert len(faces) == 12
    for point in points:
        assert np.linalg.norm(drawn - point, axis=1).min() < 1e-4


def rotation(axis: str, degrees: float) -> np.ndarray:
    return frames.matrix_of(about(axis, degrees))


@pytest.mark.parametrize("height", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("degrees", [0.0, 0.5, 180.0])
def test_a_cone_that_is_nearly_a_disc_has_no_side_to_lie_on(height: float, degrees: float) -> None:
    """The sine of half its angle is 1, and a square root of 1 - sine^2 was taken."""
    file = File(METERS)
    cone = file.shape("Shape", "Cone", (1.0, height))
    file.add(file.ground(), file.body("Thing", (0, 0, 0.1), about("X", degrees), geometry=cone, inertia=(0.3,) * 3))
    assert np.isfinite(place(run(world_of(file), 1.0), "Thing")).all()
