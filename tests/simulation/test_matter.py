# SPDX-License-Identifier: GPL-3.0-or-later
"""Equal bodies are weighed once, others on their own; what comes out is what each has by itself."""

from __future__ import annotations

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.hull import convex_hull
from usdphys_ext.usdphys_addon.core.mass import inertia_tensor, mass_properties, properties_steps
from usdphys_ext.usdphys_addon.simulation.layout import layout
from usdphys_ext.usdphys_addon.simulation.notices import Notices
from usdphys_ext.usdphys_addon.simulation.rapier import matter
from usdphys_ext.usdphys_addon.simulation.weights import Geometries

from .author import CENTIMETERS, File, about, block
from .helpers import model_in, run, world_of

W = "/World"
CORNERS = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def weighed(monkeypatch: pytest.MonkeyPatch, file: File) -> tuple[dict[str, float], int]:
    """Masses by name, and how many bodies were weighed for them; every weight is compared with that of its own."""
    calls: list[str] = []

    def counting(model, path):
        calls.append(path)
        return properties_steps(model, path)

    monkeypatch.setattr(matter, "properties_steps", counting)
    monkeypatch.setattr(matter, "KNOWN", {})
    model = model_in(file)
    weigher, masses = matter.Weigher(model, Geometries()), {}
    for path, body in layout(model, Notices()).bodies.items():
        weight, of_solver = weigher.of(body)
        own = mass_properties(model, path)
        assert (weight.mass, *weight.center) == pytest.approx((own.mass, *own.center_of_mass), rel=1e-9, abs=1e-9)
        assert weight.inertia == pytest.approx(inertia_tensor(own.diagonal_inertia, own.principal_axes), abs=1e-6)
        assert of_solver.mass == pytest.approx(own.mass)
        masses[path.rpartition("/")[2]] = weight.mass
    return masses, len(calls)


def test_equal_bodies_are_weighed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    file = File(CENTIMETERS)
    for index in range(6):
        mesh = file.mesh("Mesh", CORNERS, FACES, "convexHull")
        # Halves are exact in centimetres: no other offset in the last bit.
        file.add(file.body(f"Mesh{index}", (2.0 * index, 0, 5), geometry=mesh, mass=None))
        file.add(file.body(f"Moving{index}", (2.0 * index, 4, 5), velocity=(index, 0, 0)))
    _, count = weighed(monkeypatch, file)
    assert count == 2


def test_whatever_decides_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of these differ in one thing from the first."""
    file = File()
    small = [(x * 0.5, y * 0.5, z * 0.5) for x, y, z in CORNERS]

    def mesh(points=CORNERS, approximation="convexHull", **more):
        return file.mesh("Mesh", points, FACES, approximation, **more)

    plain = {"mass": None}
    bodies = [
        file.body("First", (0, 0, 0), geometry=mesh(), **plain),
        file.body("Geometry", (0, 0, 0), geometry=mesh(small), **plain),
        file.body("Approximation", (0, 0, 0), geometry=mesh(approximation="boundingSphere"), **plain),
        file.body("Scale", (0, 0, 0), geometry=mesh(scale=(1, 1, 2)), **plain),
        file.body("Offset", (0, 0, 0), geometry=mesh(position=(0.5, 0, 0)), **plain),
        file.body("Mass", (0, 0, 0), geometry=mesh(), mass=2.0),
        file.body("Density", (0, 0, 0), geometry=mesh(), mass=None, density=7800.0),
        file.body("Center", (0, 0, 0), geometry=mesh(), mass=None, center=(0.25, 0, 0)),
        file.body("Material", (0, 0, 0), geometry=mesh(material=f"{W}/Lead"), **plain),
        file.body("Turned", (0, 0, 0), about("X", 30), geometry=mesh(position=(0.5, 0, 0)), **plain),
        file.body("Compound", (0, 0, 0), geometry=mesh(), children=[file.shape("More", "Sphere", (0.5,))], **plain),
    ]
    left = file.shape("Left", "Cube", (1, 1, 1), (0, 0, 7)).replace('["xformOp', '["!resetXformStack!", "xformOp')
    # It stays behind and counts all the same.
    bodies.append(file.body("Reset", (0, 0, 0), geometry=mesh(), children=[left], **plain))
    lead = block("Material", "Lead", ["float physics:density = 11000"], ["PhysicsMaterialAPI"])
    masses, count = weighed(monkeypatch, file.add(lead, *bodies))
    # A body that is only turned is weighed as the one beside it.
    assert count == len(bodies) - 1
    expected = {"First": 1000, "Geometry": 125, "Scale": 2000, "Mass": 2, "Density": 7800, "Material": 11000}
    assert {name: masses[name] for name in expected} == pytest.approx(expected)


def test_shapes_of_one_mesh_are_made_once_and_belong_to_their_size() -> None:
    file = File()
    for index, scale in enumerate((1.0, 1.0, 3.0)):
        geometry = file.mesh("Mesh", CORNERS, FACES, "boundingCube", scale=(scale,) * 3)
        file.add(file.body(f"Body{index}", (10.0 * index, 0, scale / 2 + 0.01), geometry=geometry))
    file.add(file.ground())
    world = run(world_of(file), 2.0)
    assert world.positions[:, 2] == pytest.approx(np.array((0.5, 0.5, 1.5)), abs=0.01)


def ball_points(rows: int) -> np.ndarray:
    """2 * rows ** 2 points on a sphere of 1 m, every one a corner of their hull."""
    around, tilt = np.meshgrid(
        np.linspace(0, 2 * np.pi, 2 * rows, endpoint=False), np.linspace(0.01, np.pi - 0.01, rows)
    )
    return np.stack((np.sin(tilt) * np.cos(around), np.sin(tilt) * np.sin(around), np.cos(tilt)), -1).reshape(-1, 3)


@pytest.mark.slow
def test_the_hull_of_a_heavy_mesh_is_that_of_a_light_one_of_its_shape(count_calls) -> None:
    """128,000 points on a ball, and on a box of which 24,000 points fill the faces."""
    points = ball_points(253)
    faces = convex_hull(points)
    a, b, c = (points[faces[:, column]] for column in range(3))
    volume = float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6
    assert volume == pytest.approx(4 / 3 * np.pi, rel=0.01)
    assert len(np.unique(faces)) <= 1030
    many = count_calls(lambda: convex_hull(ball_points(400)))
    assert many < 1.5 * count_calls(lambda: convex_hull(points))
    random = np.random.default_rng(3).uniform(-1, 1, (24_000, 3))
    random[np.arange(24_000), np.arange(24_000) % 3] = np.sign(random[np.arange(24_000), np.arange(24_000) % 3])
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    box = np.concatenate((random, corners)) * (1, 2, 0.5)
    used = box[np.unique(convex_hull(box))]
    assert used.min(axis=0) == pytest.approx((-1, -2, -0.5)) and used.max(axis=0) == pytest.approx((1, 2, 0.5))
    assert {tuple(corner) for corner in corners * (1, 2, 0.5)} <= {tuple(point) for point in used}


def test_a_start_weighs_nothing_that_an_earlier_one_has_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matter, "KNOWN", {})
    file = File()
    file.add(file.body("Rock", geometry=file.mesh("Mesh", CORNERS, FACES, "convexHull"), mass=None))
    world_of(file)
    calls: list[str] = []
    monkeypatch.setattr(matter, "properties_steps", lambda model, path: calls.append(path))
    assert world_of(file).paths == (f"{W}/Rock",)
    assert calls == []
