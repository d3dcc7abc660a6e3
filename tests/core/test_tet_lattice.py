# SPDX-License-Identifier: GPL-3.0-or-later
"""Tetrahedra that fill closed meshes: none inverted, none overlapping, every point of the mesh inside one."""

import json
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdGeom
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core.building import tet_lattice
from usdphys_ext.usdphys_addon.core.errors import InputError

Solid = tuple[np.ndarray, np.ndarray]
_QUADS = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))


def box(size: tuple[float, float, float] = (1, 1, 1)) -> Solid:
    points = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], float) * size
    return points, np.array([row for a, b, c, d in _QUADS for row in ((a, b, c), (a, c, d))])


def ring(radius: float, thickness: float, across: int = 24, around: int = 12) -> Solid:
    """A torus."""
    u, v = np.meshgrid(np.arange(across), np.arange(around), indexing="ij")
    a, b = 2 * np.pi * u / across, 2 * np.pi * v / around
    out = radius + thickness * np.cos(b)
    points = np.stack([out * np.cos(a), out * np.sin(a), thickness * np.sin(b)], axis=-1).reshape(-1, 3)

    def index(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (x % across) * around + y % around

    halves = [
        np.stack([index(u, v), index(u + 1, v), index(u + 1, v + 1)], axis=-1).reshape(-1, 3),
        np.stack([index(u, v), index(u + 1, v + 1), index(u, v + 1)], axis=-1).reshape(-1, 3),
    ]
    return points, np.concatenate(halves)


def ball(rng: np.random.Generator, rows: int = 9, columns: int = 14) -> Solid:
    """A ball with a wavy surface, which is not convex."""
    theta = np.linspace(0, np.pi, rows)[1:-1]
    phi = 2 * np.pi * np.arange(columns) / columns
    grid = [(np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)) for t in theta for p in phi]
    points = np.array([(0.0, 0.0, 1.0), *grid, (0.0, 0.0, -1.0)])
    points *= (1.0 + 0.3 * rng.uniform(-1, 1, len(points)))[:, None]
    last, faces = len(points) - 1, []
    for column in range(columns):
        nxt = (column + 1) % columns
        faces.append((0, 1 + column, 1 + nxt))
        faces.append((last, last - columns + nxt, last - columns + column))
        for row in range(rows - 3):
            a, b = 1 + row * columns + column, 1 + row * columns + nxt
            faces += [(a, a + columns, b), (b, a + columns, b + columns)]
    return points, np.array(faces)


def turned(solid: Solid, rng: np.random.Generator) -> Solid:
    """Turned, moved, of another size and stretched; every third with split vertices, every other inside out."""
    points, triangles = solid
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    points = (points * rng.uniform(0.6, 1.6, 3)) @ turn.T * 10.0 ** rng.uniform(-2, 2) + rng.normal(size=3)
    if rng.random() < 1 / 3:
        points, triangles = points[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3)
    return points, triangles[:, ::-1] if rng.random() < 0.5 else triangles


def solid(seed: int) -> Solid:
    rng = np.random.default_rng(seed)
    kinds = (box(), ring(1.0, rng.uniform(0.2, 0.5)), ball(rng), joined(box(), ring(3.0, 0.4)))
    return turned(kinds[seed % 4], rng)


def joined(one: Solid, other: Solid) -> Solid:
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1] + len(one[0])])


def volumes(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    corners = points[tets]
    return np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0


@pytest.mark.parametrize("seed", range(40))
def test_tetrahedra_of_a_closed_mesh(seed: int) -> None:
    points, triangles = solid(seed)
    size = float(np.ptp(points, axis=0).max())
    found = tet_lattice.fill(points, triangles, size / 7.0)
    each = volumes(found.points, found.tets)
    assert each.min() > 0.999 * found.cell**3 / 12 and each.max() < 1.001 * found.cell**3 / 12
    faces = np.sort(np.concatenate([found.tets[:, corners] for corners in FACES]), axis=1)
    assert np.unique(faces, axis=0, return_counts=True)[1].max() <= 2
    # Nothing overlaps: what the surface encloses is the sum of all.
    enclosed = np.linalg.det(found.points[found.surface] - points.mean(axis=0)).sum() / 6.0
    assert enclosed == pytest.approx(each.sum(), rel=1e-6)
    assert found.excess == pytest.approx(each.sum() / found.volume, rel=1e-6) and found.excess > 1.0
    index, weights = found.embed(points)
    assert (index >= 0).all() and weights.min() > -1e-9
    again = np.einsum("kc,kcx->kx", weights, found.points[found.tets[index]])
    assert np.abs(again - points).max() < 1e-12 * max(size, float(np.abs(points).max()))


def test_points_of_the_inside_are_embedded_and_those_far_outside_are_not() -> None:
    points, triangles = ring(2.0, 0.6)
    found = tet_lattice.fill(points, triangles, 0.2)
    rng = np.random.default_rng(1)
    angle, radius, tilt = (
        rng.uniform(0, 2 * np.pi, 500),
        0.55 * np.sqrt(rng.random(500)),
        rng.uniform(0, 2 * np.pi, 500),
    )
    out = 2.0 + radius * np.cos(tilt)
    inside = np.stack([out * np.cos(angle), out * np.sin(angle), radius * np.sin(tilt)], axis=1)
    assert (found.embed(inside)[0] >= 0).all()
    outside = np.array([(0, 0, 0), (0, 0, 1.5), (3.2, 0, 0), (100, 0, 0), (-1e9, 0, 0)], float)
    assert (found.embed(outside)[0] == -1).all()


def test_smaller_cells_come_nearer_to_the_volume() -> None:
    for make in (lambda: box((2.0, 1.0, 0.5)), lambda: ring(1.0, 0.4)):
        excess = [tet_lattice.fill(*make(), cell).excess for cell in (0.2, 0.1, 0.05)]
        assert excess[0] > excess[1] > excess[2] > 1.0
        # The surplus is a layer at the surface.
        assert (excess[1] - 1) / (excess[2] - 1) == pytest.approx(2.0, rel=0.35)


def test_what_cannot_be_filled_is_said_in_a_sentence() -> None:
    points, triangles = box()
    for given, cell, text in (
        ((points, triangles[1:]), 0.1, "has 3 open edges"),
        ((points, triangles[:0]), 0.1, "no faces"),
        ((points * (1, 1, 0), triangles), 0.1, "no volume"),
        ((points, triangles), 0.0, "size above 0"),
        ((points, triangles), 1e-4, "choose larger ones"),
        ((np.full_like(points, np.inf), triangles), 0.1, "no faces"),
    ):
        with pytest.raises(InputError, match=text):
            tet_lattice.fill(*given, cell)


# --------------------------------------------------------------------------- files


def write(folder: Path, *solids_: Solid, up: str = "Z", meters: float = 1.0) -> Path:
    file = folder / "in.usda"
    stage = Usd.Stage.CreateNew(str(file))
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.SetStageMetersPerUnit(stage, meters)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    for number, (points, triangles) in enumerate(solids_):
        mesh = UsdGeom.Mesh.Define(stage, f"/World/Part{number}")
        mesh.AddTranslateOp().Set((number, 2.0, 3.0))
        mesh.GetPointsAttr().Set([tuple(point) for point in points.tolist()])
        mesh.GetFaceVertexCountsAttr().Set([3] * len(triangles))
        mesh.GetFaceVertexIndicesAttr().Set(triangles.ravel().tolist())
    stage.Save()
    return file


def test_the_command_writes_a_layer_with_a_tetmesh_beside_each_closed_mesh(tmp_path: Path, capsys) -> None:
    file = write(tmp_path, box(), ring(1.0, 0.3), (box()[0], box()[1][2:]), up="Y", meters=0.01)
    before = file.read_bytes()
    out = tmp_path / "deep" / "out.usda"
    assert cli.main(["tetmesh", str(file), str(out), "--across", "6", "--json"]) == 0
    told = capsys.readouterr()
    assert "/World/Part2 is not filled: The mesh has 4 open edges" in told.err
    rows = json.loads(told.out)
    assert [row["tets"] for row in rows] == ["/World/Part0_tets", "/World/Part1_tets"]
    assert file.read_bytes() == before
    stage = Usd.Stage.Open(str(out))
    assert UsdGeom.GetStageMetersPerUnit(stage) == pytest.approx(0.01) and UsdGeom.GetStageUpAxis(stage) == "Y"
    for row in rows:
        tet, mesh = UsdGeom.TetMesh(stage.GetPrimAtPath(row["tets"])), stage.GetPrimAtPath(row["mesh"])
        points, tets = np.array(tet.GetPointsAttr().Get(), float), np.array(tet.GetTetVertexIndicesAttr().Get())
        assert len(tets) == row["tetrahedra"] and volumes(points, tets).min() > 0 and row["embedded"]
        faces = UsdGeom.TetMesh.ComputeSurfaceFaces(tet)
        assert {tuple(sorted(face)) for face in faces} == {
            tuple(sorted(face)) for face in tet.GetSurfaceFaceVertexIndicesAttr().Get()
        }
        places = [UsdGeom.Xformable(one).ComputeLocalToWorldTransform(0) for one in (tet.GetPrim(), mesh)]
        assert places[0] == places[1]
        assert stage.GetPrimAtPath(row["mesh"]).GetTypeName() == "Mesh"


def test_a_cell_in_metres_is_that_in_the_world(tmp_path: Path, capsys) -> None:
    file = write(tmp_path, box((40, 40, 40)), meters=0.01)
    assert cli.main(["tetmesh", str(file), str(tmp_path / "out.usda"), "--cell", "0.1", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["cell"] == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--mesh", "/World"], "'/World' is a Xform"),
        (["--mesh", "/Nothing"], "'/Nothing' is not there"),
        (["--mesh", "/World/Part2"], "has 4 open edges"),
        (["--cell", "0.0001"], "choose larger ones"),
    ],
)
def test_a_refusal_leaves_no_file(tmp_path: Path, capsys, arguments: list[str], text: str) -> None:
    file = write(tmp_path, box(), ring(1.0, 0.3), (box()[0], box()[1][2:]))
    out = tmp_path / "out.usda"
    assert cli.main(["tetmesh", str(file), str(out), *arguments]) == 1
    assert text in capsys.readouterr().err and not out.exists()
    assert cli.main(["tetmesh", str(file), str(tmp_path / "out.glb")]) == 1
    assert cli.main(["tetmesh", str(tmp_path / "none.usda"), str(out)]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.usda"]


def test_a_mesh_without_faces_is_refused_with_any_number_of_cells() -> None:
    points, triangles = np.zeros((3, 3)), np.zeros((0, 3), int)
    with pytest.raises(InputError, match="no faces"):
        tet_lattice.fill(points, triangles, tet_lattice.cell_of(points, triangles, 8))
