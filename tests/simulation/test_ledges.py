# SPDX-License-Identifier: GPL-3.0-or-later
"""A floor of parts side by side is one floor, whatever they are made of; where it ends, or rises, things feel it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from .author import METERS, File, Vector, about, prism
from .helpers import place, run, turn, world_of

W = "/World"
G = 9.81
CORNERS = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
Solid = tuple[list[tuple[float, ...]], list[tuple[int, ...]]]


def slab(size: Vector, middle: Vector = (0, 0, 0)) -> Solid:
    points = [tuple(m + c * s for m, c, s in zip(middle, corner, size, strict=True)) for corner in CORNERS]
    return points, list(FACES)


def wedge(size: Vector, is_upper: bool) -> Solid:
    """Half of a box, cut along the diagonal of its top."""
    x, y, z = (0.5 * edge for edge in size)
    outline = [(-x, -y), (x, y), (-x, y)] if is_upper else [(-x, -y), (x, -y), (x, y)]
    points = [(*corner, height) for height in (-z, z) for corner in outline]
    return points, [(2, 1, 0), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)]


def joined(solids: Sequence[tuple[Solid, Vector]]) -> Solid:
    points: list[tuple[float, ...]] = []
    faces: list[tuple[int, ...]] = []
    for (corners, sides), middle in solids:
        faces += [tuple(len(points) + corner for corner in side) for side in sides]
        points += [tuple(a + b for a, b in zip(corner, middle, strict=True)) for corner in corners]
    return points, faces


def tiles(file: File, kind: str, height: float = 0.0, first: int = 0, last: int = 16) -> None:
    """Tiles of 0.5 by 1.5 m in two rows along X, from -0.5 m on, with their tops at a height."""
    size = (0.5, 1.5, 0.2)
    places = [(0.5 * index - 0.25, row, height - 0.1) for index in range(first, last) for row in (-0.75, 0.75)]
    if kind == "hexagons":
        places = [(1.5 * 0.4 * i - 0.5, (j + i % 2 / 2) * math.sqrt(3) * 0.4, height - 0.1)
                  for i in range(first, last) for j in range(-3, 5)]  # fmt: skip
    if kind == "one mesh":
        points, faces = joined([(slab(size), middle) for middle in places])
        file.add(file.mesh(f"Tiles{first}", points, faces, "none", material=f"{W}/Wood"))
        return
    for number, middle in enumerate(places):
        name = f"Tile{first}_{number}"
        if kind == "boxes":
            file.add(file.body(name, middle, size=size, dynamic=False, material=f"{W}/Wood"))
            continue
        solids = {
            "wedges": [wedge(size, False), wedge(size, True)], "hexagons": [prism(6, 0.4, 0.2)],
            "plates": [([(x, y, 0.1) for x, y in ((-0.25, -0.75), (0.25, -0.75), (0.25, 0.75), (-0.25, 0.75))],
                        [(0, 1, 2, 3)])],
        }.get(kind, [slab(size)])  # fmt: skip
        approximation = "none" if kind in ("meshes", "plates") else "convexHull"
        for half, (points, faces) in enumerate(solids):
            file.add(file.body(f"{name}{'AB'[half]}", middle, dynamic=False, geometry=file.mesh(
                "Shape", points, faces, approximation, material=f"{W}/Wood")))  # fmt: skip


KINDS = ["boxes", "meshes", "one mesh", "wedges", "hexagons", "plates"]


def slid(file: File) -> tuple[Vector, float]:
    """(where a body is after two seconds, how high it was at most), m."""
    world, highest = world_of(file, time_step=1 / 30), 0.0
    for _ in range(60):
        world.step()
        highest = max(highest, float(place(world, "Body")[2]))
    return place(world, "Body").tolist(), highest


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("heading", [0.0, 27.0])
@pytest.mark.parametrize("shape", ["Cube", "Cylinder"])
def test_what_slides_goes_as_far_as_friction_lets_it(shape: str, heading: float, kind: str) -> None:
    file = File(METERS)
    turn = about("Z", heading)
    file.add(file.material("Wood", 0.3))
    tiles(file, kind)
    size = (0.3, 0.3, 0.3) if shape == "Cube" else (0.15, 0.3)
    file.add(file.body("Body", (0, 0.1, 0.15), turn, shape=shape, size=size, velocity=(4, 0, 0),
                       material=f"{W}/Wood"))  # fmt: skip
    (x, y, _), highest = slid(file)
    assert math.hypot(x, y - 0.1) == pytest.approx(4.0**2 / (2 * 0.3 * G), rel=0.02)
    assert highest < 0.153


def raft(file: File, carrier: str, turn: Vector, last: int = 16, height: float = 0.0) -> None:
    """A body of tiles as of `tiles`, kinematic, or heavy and on the ground; those from the eighth on at a height."""
    places = [(0.5 * index - 0.25, y, height * (index > 7) - 0.1) for index in range(last) for y in (-0.75, 0.75)]
    if carrier == "dynamic":
        file.add(file.ground(-0.2, material=f"{W}/Wood"))
    file.add(file.body("Raft", (0, 0, 0), turn, collides=False, kinematic=carrier == "kinematic", mass=1e5, children=[
        file.shape(f"Tile{number}", "Cube", (0.5, 1.5, 0.2), place, material=f"{W}/Wood")
        for number, place in enumerate(places)]))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("carrier", ["kinematic", "dynamic"])
@pytest.mark.parametrize("heading", [0.0, 27.0])
@pytest.mark.parametrize(("shape", "size"), [("Cube", (0.3, 0.3, 0.3)), ("Cylinder", (0.15, 0.3)), ("Sphere", (0.15,))])
def test_the_parts_of_a_body_that_moves_are_one_floor_too(
    shape: str, size: Vector, heading: float, carrier: str
) -> None:  # fmt: skip
    file, turn = File(METERS), about("Z", heading)
    file.add(file.material("Wood", 0.3))
    raft(file, carrier, turn)
    speed, spin = (2.0, (0, 2.0 / 0.15, 0)) if shape == "Sphere" else (4.0, None)
    file.add(file.body("Body", (0, 0.1, 0.15), turn, shape=shape, size=size, velocity=(speed, 0, 0), spin=spin,
                       material=f"{W}/Wood"))  # fmt: skip
    (x, y, _), highest = slid(file)
    way = 2.0 * speed if spin else speed**2 / (2 * 0.3 * G)
    assert math.hypot(x, y - 0.1) == pytest.approx(way, rel=0.02)
    assert highest < 0.153


@pytest.mark.slow
@pytest.mark.parametrize("carrier", ["kinematic", "dynamic"])
def test_a_step_on_a_body_that_moves_stops_a_box(carrier: str) -> None:
    file = File(METERS)
    file.add(file.material("Wood", 0.0))
    raft(file, carrier, (1, 0, 0, 0), height=0.02)
    file.add(file.body("Body", (2, 0.0, 0.05), size=(0.2, 0.2, 0.1), velocity=(1, 0, 0), material=f"{W}/Wood"))
    assert place(run(world_of(file), 3.0), "Body")[0] < 3.6


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("radius", [0.05, 0.2])
def test_a_ball_rolls_on_at_its_speed(radius: float, kind: str) -> None:
    file = File(METERS)
    file.add(file.material("Wood", 0.5))
    tiles(file, kind)
    file.add(file.body("Body", (0, 0.1, radius), shape="Sphere", size=(radius,), velocity=(2, 0.1, 0),
                       spin=(-0.1 / radius, 2 / radius, 0), material=f"{W}/Wood"))  # fmt: skip
    world = run(world_of(file, time_step=1 / 30), 2.0)
    assert place(world, "Body") == pytest.approx((4.0, 0.3, radius), abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("radius", [0.05, 0.2])
@pytest.mark.parametrize("speed", [0.01, 2.0])
def test_a_ball_does_not_sink_into_the_line_between_two_open_surfaces(speed: float, radius: float) -> None:
    file = File(METERS)
    file.add(file.material("Wood", 0.5))
    tiles(file, "plates")
    file.add(file.body("Body", (0, 0, radius), shape="Sphere", size=(radius,), velocity=(speed, 0, 0),
                       spin=(0, speed / radius, 0), material=f"{W}/Wood"))  # fmt: skip
    world = world_of(file, time_step=1 / 30)
    for _ in range(60):
        world.step()
        assert place(world, "Body")[2] == pytest.approx(radius, abs=0.0015)
    assert place(world, "Body")[0] == pytest.approx(2.0 * speed, rel=0.02)


@pytest.mark.parametrize("parts", ["box", "eight boxes", "four legs"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_falls_flat_rebounds_as_from_one_floor_and_does_not_turn(kind: str, parts: str) -> None:
    bounce, height, size = 0.8, 1.0, (0.9, 0.6, 0.2)
    file = File(METERS)
    file.add(file.material("Wood", 0.5, bounce))
    tiles(file, kind, last=8)
    corners = [(x, y, z) for x in (-0.25, 0.25) for y in (-0.25, 0.25) for z in (-0.25, 0.25)]
    half = [0.5 * edge for edge in size]
    shapes = {
        "box": [((0, 0, 0), size)],
        "eight boxes": [(tuple(a * b for a, b in zip(corner, size, strict=True)), half) for corner in corners],
        "four legs": [((0, 0, 0.05), (0.9, 0.6, 0.1))] + [((x * 1.6, y, -0.05), (0.05, 0.05, 0.1))
                                                           for x, y, z in corners if z > 0.0],
    }[parts]  # fmt: skip
    file.add(file.body("Body", (1.013, 0.03, height + 0.1), collides=False, children=[
        file.shape(f"Part{number}", "Cube", edges, middle, material=f"{W}/Wood")
        for number, (middle, edges) in enumerate(shapes)]))  # fmt: skip
    world = world_of(file)
    fall = math.sqrt(2.0 * height / G)
    run(world, fall * (1.0 + bounce))
    assert place(world, "Body") == pytest.approx((1.013, 0.03, 0.1 + bounce**2 * height), abs=0.015)
    assert abs(turn(world, "Body")[2, 2]) > 0.9999


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[:5])
def test_a_step_up_stops_a_box(kind: str) -> None:
    file = File(METERS)
    file.add(file.material("Wood", 0.0))
    tiles(file, kind, last=4)
    tiles(file, kind, height=0.02, first=4, last=8)
    end = 1.5 if kind != "hexagons" else 0.6 * 4 - 0.5 - 0.4
    file.add(file.body("Body", (0, 0.0, 0.05), size=(0.2, 0.2, 0.1), velocity=(1, 0, 0), material=f"{W}/Wood"))
    world = run(world_of(file), 3.0)
    assert place(world, "Body")[0] < end + 0.1


@pytest.mark.parametrize("kind", KINDS[:5])
def test_a_floor_ends_at_its_last_edge(kind: str) -> None:
    """A bar lies across the edge with a third of its length beyond, and stays; with two thirds, it tips over it."""
    for beyond, falls in ((1 / 3, False), (2 / 3, True)):
        file = File(METERS)
        file.add(file.material("Wood", 0.5))
        tiles(file, kind, last=4)
        end = 1.5 if kind != "hexagons" else 1.65
        y = 0.0 if kind != "hexagons" else 0.5 * math.sqrt(3) * 0.4
        file.add(file.body("Bar", (end + (beyond - 0.5) * 0.6, y, 0.02), size=(0.6, 0.1, 0.04),
                           material=f"{W}/Wood"))  # fmt: skip
        world = run(world_of(file), 2.0)
        assert bool(place(world, "Bar")[2] < -0.2) is falls


def wall(file: File, kind: str) -> None:
    """A floor of tiles, and a wall of boxes or of one mesh whose face is at x = 1 m."""
    tiles(file, kind)
    solid = slab((0.2, 3.0, 1.0))
    approximation = {"boxes": "convexHull"}.get(kind, "none")
    file.add(file.body("Wall", (1.1, 0, 0.5), dynamic=False,
                       geometry=file.mesh("Shape", *solid, approximation, material=f"{W}/Wood")))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["boxes", "meshes", "one mesh"])
def test_what_is_low_stops_at_the_foot_of_a_wall(kind: str) -> None:
    file = File(METERS)
    file.add(file.material("Wood", 0.0))
    wall(file, kind)
    file.add(file.body("Puck", (0, 0.1, 0.005), shape="Cylinder", size=(0.1, 0.01), velocity=(2, 0, 0),
                       material=f"{W}/Wood"))  # fmt: skip
    world, farthest = world_of(file), 0.0
    for _ in range(90):
        world.step()
        farthest = max(farthest, float(place(world, "Puck")[0]))
    assert 0.88 < farthest < 0.905


@pytest.mark.parametrize("kind", ["boxes", "meshes", "one mesh"])
def test_a_rod_that_slides_down_a_wall_stays_before_it(kind: str) -> None:
    """Its lower end stands in the corner of floor and wall, and touches both in the same place."""
    file = File(METERS)
    file.add(file.material("Wood", 0.1))
    wall(file, kind)
    lean = math.radians(30)
    middle = (1.0 - 0.5 * math.sin(lean) - 0.03, 0.1, 0.5 * math.cos(lean) + 0.02)
    file.add(file.body("Rod", middle, about("Y", -30), size=(0.04, 0.04, 1.0), material=f"{W}/Wood"))
    world = world_of(file)
    for _ in range(120):
        world.step()
        x, _, z = place(world, "Rod")
        assert x < 1.0 and z > 0.015


@pytest.mark.parametrize("kind", ["boxes", "meshes"])
def test_a_tile_that_is_switched_off_is_no_neighbour(kind: str) -> None:
    file = File(METERS)
    file.add(file.material("Wood", 0.0))
    tiles(file, kind, last=8)
    file.add(file.body("Body", (0, 0.0, 0.1), shape="Sphere", size=(0.1,), velocity=(1, 0, 0), material=f"{W}/Wood"))
    world = run(world_of(file), 0.8)
    assert place(world, "Body") == pytest.approx((0.8, 0, 0.1), abs=0.01)
    for number in (6, 7):
        name = f"Tile0_{number}" if kind == "boxes" else f"Tile0_{number}A"
        world.set_collider_enabled(f"{W}/{name}/Shape", False)
    run(world, 1.0)
    assert place(world, "Body")[2] < 0.0


def test_a_floor_of_tiles_is_one_however_far_it_is_from_the_middle_of_the_world() -> None:
    far = 400.0
    file = File(METERS)
    file.add(file.material("Wood", 0.3))
    for index in range(16):
        points, faces = slab((0.5, 3.0, 0.2))
        file.add(file.body(f"Tile{index}", (far + 0.5 * index - 0.25, 0, -0.1), dynamic=False,
                           geometry=file.mesh("Shape", points, faces, "none", material=f"{W}/Wood")))  # fmt: skip
    file.add(file.body("Body", (far, 0.1, 0.15), size=(0.3, 0.3, 0.3), velocity=(4, 0, 0), material=f"{W}/Wood"))
    world = run(world_of(file), 2.0)
    assert place(world, "Body")[0] - far == pytest.approx(4.0**2 / (2 * 0.3 * G), rel=0.03)


@pytest.mark.parametrize(("shape", "spin"), [("Capsule", (0, 0, 0)), ("Cylinder", (0, 0, 0)), ("Cylinder", (0, 0, 5))])
def test_what_leaves_the_part_of_a_large_floor_that_the_solver_knows_stays_on_it(shape: str, spin: Vector) -> None:
    file = File(METERS)
    file.add(file.material("Wood", 0.0), file.body("Floor", (0, 0, -0.5), size=(1000, 1000, 1), dynamic=False,
                                                   material=f"{W}/Wood"))  # fmt: skip
    height = 0.2 if shape == "Capsule" else 0.1
    file.add(file.body("Body", (0, 0, height), shape=shape, size=(0.1, 0.2), velocity=(10, 0, 0), spin=spin,
                       material=f"{W}/Wood"))  # fmt: skip
    world = run(world_of(file, time_step=1 / 30), 6.0)
    assert place(world, "Body") == pytest.approx((60.0, 0.0, height), abs=0.6)


@pytest.mark.slow
def test_mujoco_slides_over_closed_meshes_side_by_side() -> None:
    pytest.importorskip("mujoco")
    file = File(METERS)
    file.add(file.material("Wood", 0.3))
    tiles(file, "meshes")
    file.add(file.body("Body", (0, 0.1, 0.15), size=(0.3, 0.3, 0.3), velocity=(4, 0, 0), material=f"{W}/Wood"))
    world = run(world_of(file, engine="mujoco"), 2.0)
    assert place(world, "Body")[0] == pytest.approx(4.0**2 / (2 * 0.3 * G), rel=0.02)


def test_a_second_floor_far_away_does_not_move_a_stack() -> None:
    def tops(*more: str) -> list[float]:
        file = File(METERS)
        file.add(file.body("Floor", (0, 0, -0.5), size=(20, 20, 1), dynamic=False), *more)
        for number in range(15):
            file.add(file.body(f"Box{number}", (0, 0, 0.075 + 0.15 * number), size=(0.15, 0.15, 0.15)))
        world = world_of(file)
        frames = []
        for _ in range(8):
            world.step()
            frames += list(place(world, "Box14"))
        return frames

    far = File(METERS).body("Far", (60, 0, -0.5), size=(20, 20, 1), dynamic=False)
    assert tops(far) == pytest.approx(tops(), abs=1e-6)
