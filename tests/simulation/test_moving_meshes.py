# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose collider is their triangles (approximation none) slide as far as friction lets them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .answers import turned
from .author import CENTIMETERS, DEGREE, METERS, File, Units, about, multiply, prism
from .helpers import codes, row_of, run, world_of

SLOPE = 25.0


Points, Faces = list[tuple[float, ...]], list[tuple[int, ...]]


def walls(outline: list[tuple[float, float]], width: float, across: int) -> tuple[Points, Faces]:
    """(points, faces) of a prism of any outline, counterclockwise seen along an axis, about the origin of that."""
    count = len(outline)
    points = [tuple(np.insert(one, across, side * width / 2).tolist()) for side in (-1, 1) for one in outline]
    sides = [(k, (k + 1) % count, count + (k + 1) % count, count + k) for k in range(count)]
    return points, [tuple(range(count))[::-1], tuple(range(count, 2 * count)), *sides]


#: An angle that lies, a table, and a tray.
CONCAVE = {
    "angle": walls([(-0.3, -0.3), (0.3, -0.3), (0.3, 0.0), (0.0, 0.0), (0.0, 0.3), (-0.3, 0.3)], 0.2, 2),
    "table": walls([(-0.3, 0.0), (-0.2, 0.0), (-0.2, 0.2), (0.2, 0.2), (0.2, 0.0), (0.3, 0.0), (0.3, 0.3), (-0.3, 0.3)],
                   0.4, 1),
    "tray": walls([(-0.3, 0.0), (0.3, 0.0), (0.3, 0.2), (0.25, 0.2), (0.25, 0.05), (-0.25, 0.05), (-0.25, 0.2),
                   (-0.3, 0.2)], 0.4, 1),
}  # fmt: skip


def floor_of(file: File, kind: str) -> list[str]:
    """A floor that slopes: one box, boxes side by side, or an infinite plane."""
    slope, stuff = about("Y", SLOPE), "/World/Stuff"
    if kind == "box":
        return [file.ground(material=stuff, tilt=SLOPE)]
    if kind == "plane":
        return [file.body("Floor", (0, 0, 0), slope, shape="Plane", size=(100, 100), dynamic=False, material=stuff)]
    places = [(0.5 * x, 0.5 * y, -0.1) for x in range(-2, 7) for y in range(-2, 3)]
    return [
        file.body(f"Tile{number}", turned(slope, place).tolist(), slope, size=(0.5, 0.5, 0.2), dynamic=False,
                  material=stuff)
        for number, place in enumerate(places)
    ]  # fmt: skip


def slid(
    points: Points, faces: Faces, turn: float, ratio: float, units: Units = METERS, floor: str = "box",
    approximation: str = "none",
) -> tuple[float, float, list[str]]:  # fmt: skip
    """How far a body slides down a slope in a second, relative to what friction lets it; how far aside, m; notices.

    ratio: of friction to that which holds. turn: degrees about the normal.
    """
    friction, slope = math.tan(SLOPE * DEGREE) * ratio, about("Y", SLOPE)
    low = min(point[2] for point in points)
    file = File(units)
    file.add(
        file.material("Stuff", friction), *floor_of(file, floor),
        file.body("Body", turned(slope, (0, 0, -low)).tolist(), multiply(slope, about("Z", turn)), mass=2.0,
                  geometry=file.mesh("Shape", points, faces, approximation, material="/World/Stuff")),
    )  # fmt: skip
    world = world_of(file)
    row = row_of(world, "Body")
    start = world.positions[row].copy()
    run(world, 1.0)
    pull = 9.81 * (math.sin(SLOPE * DEGREE) - friction * math.cos(SLOPE * DEGREE))
    way = world.positions[row] - start
    return float(way @ turned(slope, (1, 0, 0))) / (0.5 * pull), float(np.abs(way[1])), codes(world)


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("turn", [0.0, 17.0, 45.0])
@pytest.mark.parametrize("sides", [4, 6, 12])
def test_a_convex_mesh_slides_as_its_hull(sides: int, turn: float, units: Units) -> None:
    """Its triangles were pushed aside where they stood: prisms came up to 18 times as far, or not at all."""
    for ratio in (0.5, 0.93):
        way, aside, said = slid(*prism(sides, 0.35, 0.15), turn, ratio, units)
        assert way == pytest.approx(1.0, abs=0.02)
        assert aside < 0.01
        assert said == []


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("floor", ["box", "plane", "tiles"])
@pytest.mark.parametrize("shape", list(CONCAVE))
def test_a_concave_mesh_slides_as_far_as_friction_lets_it(shape: str, floor: str, units: Units) -> None:
    """Its walls were pushed through the whole floor at the start: it leapt, and came up to 2.9 times as far.

    On tiles it stood still.
    """
    for turn in (0.0, 17.0, 45.0):
        way, aside, said = slid(*CONCAVE[shape], turn, 0.5, units, floor)
        assert way == pytest.approx(1.0, abs=0.02)
        assert aside < 0.01
        assert said == []


@pytest.mark.slow
@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize("approximation", ["boundingCube", "convexHull", "none"])
@pytest.mark.parametrize("width", [0.25, 0.495, 0.499, 0.5, 1.0])
def test_a_crate_whose_edges_are_above_the_seams_of_tiles_slides(
    width: float, approximation: str, units: Units
) -> None:  # fmt: skip
    """It found the sides of the tiles below its edge, and stood still for ever."""
    for ratio in (0.0, 0.5):
        crate = prism(4, width * math.sqrt(0.5), 0.15)
        way, aside, said = slid(*crate, 45.0, ratio, units, "tiles", approximation)
        assert way == pytest.approx(1.0, abs=0.02)
        assert aside < 0.01
        assert said == []


@pytest.mark.parametrize(("approximation", "told"), [("none", ["MeshesMeet"]), ("convexDecomposition", [])])
def test_meshes_that_are_not_convex_and_meet_are_named(approximation: str, told: list[str]) -> None:
    """Links of a chain that collided as their triangles climbed up each other, without a word."""
    points, faces = CONCAVE["table"]
    file = File()
    file.add(
        file.ground(),
        *(file.body(f"Table{number}", (0, 0, 0.3 * number), mass=1.0,
                    geometry=file.mesh("Shape", points, faces, approximation)) for number in range(2)),
    )  # fmt: skip
    assert codes(run(world_of(file), 0.2)) == told


@pytest.mark.slow
@pytest.mark.parametrize("others", [101, 300])
def test_a_concave_mesh_slides_among_many_bodies(others: int) -> None:
    """Among more than a hundred it was thrown back at the start, without a word."""
    file = File()
    file.add(file.material("Stuff", 0.3), file.ground(material="/World/Stuff"))
    shape = file.mesh("Shape", *CONCAVE["tray"], "none", material="/World/Stuff")
    file.add(file.body("Tray", velocity=(4.0, 0, 0), mass=1.0, geometry=shape))
    for number in range(others):
        place = (0.2 * (number % 20), 0.35 + 0.21 * (number // 20), 0.1)
        file.add(file.body(f"Box{number}", place, size=(0.2,) * 3, material="/World/Stuff"))
    world = run(world_of(file), 1.6)
    assert world.positions[row_of(world, "Tray")] == pytest.approx([16.0 / (2 * 0.3 * 9.81), 0.0, 0.0], abs=0.01)
    assert codes(world) == []


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, 101])
def test_more_concave_meshes_than_the_solver_is_asked_about_are_named(count: int) -> None:
    file = File()
    file.add(file.material("Stuff", 0.3), file.ground(material="/World/Stuff"))
    for number in range(count):
        shape = file.mesh("Shape", *CONCAVE["tray"], "none", material="/World/Stuff")
        file.add(file.body(f"Tray{number}", (0.75 * (number // 10), 0.55 * (number % 10), 0), velocity=(4.0, 0, 0),
                           mass=1.0, geometry=shape))  # fmt: skip
    world = world_of(file)
    starts = world.positions[:, 0].copy()
    assert codes(world) == (["MeshesTooMany"] if count > 100 else [])
    if count == 100:
        run(world, 0.5)
        way = 4.0 * 0.5 - 0.5 * 0.3 * 9.81 * 0.25
        assert world.positions[:, 0] - starts == pytest.approx([way] * count, rel=0.02)


@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])
@pytest.mark.parametrize(("approximation", "told"), [("none", ["MeshesMeet"]), ("convexDecomposition", [])])
def test_a_concave_mesh_on_static_triangles_is_named(approximation: str, told: list[str], units: Units) -> None:
    """It stands still on a slope that it should slide down."""
    file = File(units)
    corners = [(-5.0, -5.0, 0.0), (5.0, -5.0, 0.0), (5.0, 5.0, 0.0), (-5.0, 5.0, 0.0)]
    ground = file.mesh("Shape", corners, [(0, 1, 2), (0, 2, 3)], "none")
    file.add(
        file.body("Terrain", dynamic=False, geometry=ground),
        file.body("Table", (0, 0, 0.01), mass=1.0, geometry=file.mesh("Shape", *CONCAVE["table"], approximation)),
    )
    assert codes(run(world_of(file), 0.4)) == told
