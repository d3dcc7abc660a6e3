# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are equal but for their place are made once; what tells two bodies apart must never be lost by that."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from own_schemas import own
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.prototypes import SharedSchemas
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.simulation.filters import Filters
from usdphys_ext.usdphys_addon.simulation.layout import Places, layout
from usdphys_ext.usdphys_addon.simulation.notices import Notices
from usdphys_ext.usdphys_addon.simulation.rapier.templates import Twins, turns_of
from usdphys_ext.usdphys_addon.simulation.weights import Geometries

from .author import CENTIMETERS, METERS, File, about
from .helpers import codes, model_in, place, run, world_of
from .test_shapes import BOX_FACES, BOX_POINTS

W = "/World"


def keys_of(model: PhysicsModel) -> dict[str, object]:
    found = layout(model, Notices())
    bodies = list(found.bodies.values())
    twins = Twins(bodies, found.places, Geometries(), Filters())
    made = {path: twins.key(row) for row, path in enumerate(found.bodies)}
    # Bodies with the same quick key have the same one.
    kinds = set(zip(twins.quick, made.values(), strict=True))
    assert len(kinds) == len(set(twins.quick))
    return made


def two(fill: Callable[[File, str, tuple[float, float, float], tuple[float, ...]], None]) -> PhysicsModel:
    file = File(CENTIMETERS)
    file.add(file.material("Wood", 0.5), file.material("Ice", 0.0))
    fill(file, "One", (1, 2, 3), (1, 0, 0, 0))
    fill(file, "Two", (-70, 0.3, 5), about("Y", 37))
    return model_in(file)


def crate(file: File, name: str, position, rotation) -> None:
    file.add(file.body(name, position, rotation, size=(0.6, 0.4, 0.2), material=f"{W}/Wood"))


def lump(file: File, name: str, position, rotation) -> None:
    """A body of a mesh and a box beside it."""
    mesh = file.mesh("Shape", BOX_POINTS, BOX_FACES, "convexHull", material=f"{W}/Wood")
    file.add(file.body(name, position, rotation, geometry=mesh, mass=None, children=[
        file.shape("More", "Cube", (0.2, 0.2, 0.2), (0.3, 0, 0.9), material=f"{W}/Wood"),
    ]))  # fmt: skip


@pytest.mark.parametrize("fill", [crate, lump])
def test_equal_bodies_share_a_template_wherever_they_are_and_however_turned(fill) -> None:
    one, two_ = keys_of(two(fill)).values()
    assert one is not None and one == two_ and hash(one) == hash(two_)


def at(model: PhysicsModel, name: str, schema: type):
    return own(next(prim for path, prim in model.prims.items() if path.endswith(f"/{name}")), schema)


def body(model: PhysicsModel):
    return at(model, "Two", usd_physics.RigidBodyAPI)


def collider(model: PhysicsModel):
    return model.prims[f"{W}/Two/Shape"]


DIFFERENCES: dict[str, Callable[[PhysicsModel], object]] = {
    "kinematic": lambda model: setattr(body(model), "kinematic_enabled", True),
    "mass": lambda model: setattr(at(model, "Two", usd_physics.MassAPI), "mass", 3.0),
    "center": lambda model: setattr(at(model, "Two", usd_physics.MassAPI), "center_of_mass", (0.0, 0.0, 0.1)),
    "collider off": lambda model: setattr(own(collider(model), usd_physics.CollisionAPI), "collision_enabled", False),
    "material": lambda model: setattr(collider(model), "materials", (f"{W}/Ice",)),
    "bound for physics": lambda model: setattr(collider(model), "physics_binding", f"{W}/Ice"),
    "collider moved": lambda model: collider(model).world.__setitem__((2, 3), 9.0),
    "body scaled": lambda model: model.prims[f"{W}/Two"].world.__setitem__(
        (slice(3), slice(3)), 2.0 * model.prims[f"{W}/Two"].world[:3, :3]
    ),
    "one more collider": lambda model: collider(model).schemas.__delitem__(usd_physics.CollisionAPI.usd_name),
    "density of the collider": lambda model: collider(model).add(usd_physics.MassAPI(density=3.0)),
    "gravity factor of a glTF file": lambda model: model.prims[f"{W}/Two"].extras.update(motion={"gravityFactor": 0.5}),
}  # fmt: skip


@pytest.mark.parametrize("fill", [crate, lump])
@pytest.mark.parametrize("difference", DIFFERENCES)
def test_each_difference_tells_two_bodies_apart(difference: str, fill) -> None:
    model = two(fill)
    if difference in ("mass", "center") and fill is lump:
        same = usd_physics.MassAPI()
        for name in ("One", "Two"):
            model.prims[f"{W}/{name}"].add(same)
    one, two_ = keys_of(model).values()
    assert one == two_
    DIFFERENCES[difference](model)
    one, two_ = keys_of(model).values()
    assert one != two_


def test_size_points_and_approximation_tell_two_bodies_apart() -> None:
    for fill, change in (
        (crate, lambda model: setattr(own(collider(model), usd_geom.Cube), "size", 3.0)),
        (lump, lambda model: setattr(own(collider(model), usd_physics.MeshCollisionAPI), "approximation", "none")),
        (lump, lambda model: setattr(collider(model), "mesh", model.prims[f"{W}/One/More"].mesh)),
    ):  # fmt: skip
        model = two(fill)
        change(model)
        one, two_ = keys_of(model).values()
        assert one != two_


def test_a_body_that_moves_at_the_start_is_made_alone() -> None:
    model = two(crate)
    body(model).velocity = (1.0, 0.0, 0.0)
    one, other = keys_of(model).values()
    assert one is not None and other is None


def test_a_value_without_a_hash_is_simulated_alone() -> None:
    """Authored by a script with a wrong type."""
    model = two(crate)
    body(model).rigid_body_enabled = True
    for name in ("One", "Two"):
        at(model, name, usd_physics.MassAPI).principal_axes = [1.0, 0.0, 0.0, 0.0]
    from usdphys_ext.usdphys_addon.simulation.world import World

    world = World(model)
    before = world.positions.copy()
    run(world, 0.5)
    assert (before - world.positions)[:, 2] == pytest.approx(0.5 * 9.81 * 0.25, rel=0.05)


def test_places_keep_position_and_rotation() -> None:
    file = File(METERS)
    crate(file, "One", (1.5, -20.25, 300.0), about("X", 80))
    found = layout(model_in(file), Notices())
    rows = np.array([found.bodies[f"{W}/One"].row])
    (position,), (rotation,) = found.places.positions[rows], turns_of(found.places, rows)
    assert position.tolist() == pytest.approx((1.5, -20.25, 300.0))
    x, y, z, w = rotation
    assert (w, x, y, z) == pytest.approx((math.cos(math.radians(40)), math.sin(math.radians(40)), 0, 0), abs=1e-6)


@pytest.mark.parametrize("worlds", [
    [np.eye(4), np.diag((2.0, 2.0, 2.0, 1.0))],
    [np.eye(4), np.asfortranarray(frames.transform(np.array((1.0, 2.0, 3.0)), frames.matrix_of(about("Z", 30))))],
    [np.eye(4, dtype=np.float32), np.eye(4)],
    [],
], ids=["equal", "other order of memory", "single precision", "none"])  # fmt: skip
def test_places_hold_world_matrices_of_any_memory(worlds: list[Any]) -> None:
    places = Places([Prim(f"/P{number}", world=world) for number, world in enumerate(worlds)])
    assert places.worlds.dtype == float and places.worlds.shape == (len(worlds), 4, 4)
    for stacked, world in zip(places.worlds, worlds, strict=True):
        assert np.array_equal(stacked, world)


def test_twins_each_rest_on_their_side_have_their_mass_and_their_notices() -> None:
    """A field of crates of two sizes and two weights, turned by any angle about the vertical."""
    file = File(CENTIMETERS)
    file.add(file.ground())
    sizes = {}
    for number in range(24):
        side, mass = (0.4, 0.8)[number % 2], (1.0, 5.0)[number // 2 % 2]
        name = f"Crate{number}"
        sizes[name] = side
        start = (2.0 * (number % 6), 2.0 * (number // 6), side / 2 + 0.002)
        file.add(file.body(name, start, about("Z", 17 * number), size=(side,) * 3, mass=mass,
                           inertia=(mass * side**2 / 6,) * 3))  # fmt: skip
    world = world_of(file)
    world.step()
    assert world.kinetic_energy() == pytest.approx(0.5 * 72.0 * (9.81 / 60) ** 2, rel=0.05)
    run(world, 1.0)
    for name, side in sizes.items():
        assert place(world, name)[2] == pytest.approx(side / 2, abs=0.002)
    assert codes(world) == []


def test_friction_of_one_material_is_changed_live_for_all_twins() -> None:
    file = File(METERS)
    file.add(file.material("Wood", 0.9), file.ground(tilt=20.0, material=f"{W}/Wood"))
    for number in range(4):
        x = 3.0 * number
        start = (x, 3.0 * number, -x * math.tan(math.radians(20)) + 0.5 / math.cos(math.radians(20)))
        file.add(file.body(f"Crate{number}", start, about("Y", 20), material=f"{W}/Wood", inertia=(1 / 6,) * 3))
    world = run(world_of(file), 0.5)
    start = world.positions.copy()
    run(world, 0.5)
    assert np.abs(world.positions - start).max() < 0.005
    world.set_friction(f"{W}/Wood", 0.0)
    run(world, 0.5)
    way = np.linalg.norm(world.positions - start, axis=1)
    assert way == pytest.approx(0.5 * 9.81 * math.sin(math.radians(20)) * 0.25, rel=0.1)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.3, 0.4, 0.5), (12.0, 0.25, 3.0)])
def test_bodies_that_blender_turned_share_a_template(scale) -> None:
    """Blender's matrices are of single precision, and each turn has noise of its own."""
    random = np.random.default_rng(3)
    model, shared = PhysicsModel(angular_precision=1e-6), SharedSchemas()
    for index in range(40):
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        world = np.eye(4)
        world[:3, :3], world[:3, 3] = turn * scale, random.uniform(-50.0, 50.0, 3)
        prim = model.add(Prim(f"/Crate{index}", world=world.astype(np.float32).astype(float)))
        prim.add(usd_physics.RigidBodyAPI())
        prim.add(usd_physics.CollisionAPI())
        prim.add(usd_geom.Cube(size=1.0))
        shared.share(prim)
    found = layout(model, Notices())
    bodies = list(found.bodies.values())
    twins = Twins(bodies, found.places, Geometries(), Filters(), model.angular_precision)
    assert len({twins.key(row) for row in range(len(bodies))}) == 1
    model.prims["/Crate7"].world[:3, :3] *= 1.001
    found = layout(model, Notices())
    twins = Twins(list(found.bodies.values()), found.places, Geometries(), Filters(), model.angular_precision)
    assert len({twins.key(row) for row in range(len(bodies))}) == 2
