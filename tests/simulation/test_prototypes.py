# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made once for equal prims is the same as what is made for each: in the solver, in USD and in glTF."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pxr import Usd
from usdphys_ext.usdphys_addon.core import frames, prototypes, vendor_schemas
from usdphys_ext.usdphys_addon.core.model import Mesh, PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.prototypes import SharedSchemas
from usdphys_ext.usdphys_addon.core.schema import Attribute
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.gltf import additions, keep
from usdphys_ext.usdphys_addon.gltf import write as gltf_write
from usdphys_ext.usdphys_addon.gltf.document import Document
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.usd import write as usd_write

from .test_shapes import BOX_FACES, BOX_POINTS

COPIES = 5
#: A box or a mesh below its body, or the body itself; bodies with vendors' schemas are made apart by the solver.
KINDS = ("box", "mesh", "whole", "vendors")
#: The copy that is changed; another one of the same kind comes before it, and after it.
CHANGED = "/Body2"
CENTIMETERS = StageUnits(meters_per_unit=0.01, up_axis="Y")


def scene(kind: str) -> PhysicsModel:
    """Copies of a body with a collider on a floor."""
    model = PhysicsModel()
    model.add(Prim("/Scene", "PhysicsScene", is_xformable=False)).add(usd_physics.PhysicsScene())
    for name, friction in (("Wood", 0.5), ("Ice", 0.1)):
        made = usd_physics.MaterialAPI(static_friction=friction, dynamic_friction=friction, restitution=0.1)
        model.add(Prim(f"/{name}", "Material", is_xformable=False)).add(made)
    points = 0.2 * np.array(BOX_POINTS, float)
    triangles = np.array([(face[0], face[one], face[one + 1]) for face in BOX_FACES for one in range(1, len(face) - 1)])
    mesh, local = Mesh(points, triangles), frames.transform((0.0, 0.0, 0.0))
    load = lambda: mesh  # noqa: E731
    for number in range(COPIES):
        world = frames.transform((3.0 * number, 0.5, 0.72))
        body = model.add(Prim(f"/Body{number}", "Xform", world, label=f"Body{number}"))
        body.add(usd_physics.RigidBodyAPI())
        body.add(usd_physics.MassAPI(density=300.0) if kind == "mesh" else usd_physics.MassAPI(mass=2.0))
        shape = body
        if kind == "whole":
            body.type_name = "Cube"
        elif kind != "mesh":
            shape = model.add(Prim(f"{body.path}/Cube_collider", "Cube", world @ local, local=local))
        else:
            shape = model.add(Prim(f"{body.path}/Lump", "Mesh", world, mesh=load))
            shape.add(usd_physics.MeshCollisionAPI("convexHull"))
        if kind != "mesh":
            shape.add(usd_geom.Cube(size=0.4))
        shape.label, shape.materials, shape.physics_binding = body.label, ("/Wood",), "/Wood"
        shape.add(usd_physics.CollisionAPI())
        for name in ("PhysxCollisionAPI", "NewtonCollisionAPI") if kind == "vendors" else ():
            shape.add(vendor_schemas.find(name)())
        if kind == "vendors":
            body.add(vendor_schemas.find("PhysxRigidBodyAPI")())
    floor = model.add(Prim("/Floor", "Cube", np.diag([40.0, 40.0, 1.0, 1.0])))
    floor.add(usd_physics.CollisionAPI())
    floor.add(usd_geom.Cube(size=1.0))
    return model


def alone(model: PhysicsModel) -> PhysicsModel:
    """The same model, of which each prim has a prototype of its own; a body and its geometry stay at one place."""
    worlds = {id(prim.world): prim.world.copy() for prim in model.prims.values()}
    return replace(model, prims={
        path: replace(
            prim, schemas={name: copy(value) for name, value in prim.schemas.items()}, world=worlds[id(prim.world)],
            mesh=prim.mesh and partial(prim.mesh), local=None if prim.local is None else prim.local.copy(),
        ) for path, prim in model.prims.items()
    })  # fmt: skip


def shared(model: PhysicsModel) -> PhysicsModel:
    sharing = SharedSchemas()
    for prim in model.prims.values():
        sharing.share(prim)
    return model


def collider(model: PhysicsModel) -> Prim:
    return next(prim for path, prim in model.colliders.items() if path.startswith(CHANGED))


def other_value(attribute: Attribute, value: Any) -> Any:
    """A value that the attribute allows and that is not this one."""
    kind = attribute.value
    if attribute.tokens and not kind.is_array:
        return next(token for token in attribute.tokens if token != value)
    if kind.is_array or attribute.type in ("string", "asset", "pathExpression", "opaque"):
        return None
    if attribute.type == "bool":
        return not (attribute.fallback if value is None else value)
    if attribute.type.startswith("quat"):
        return (0.8, 0.6, 0.0, 0.0)
    number = 3 if "int" in attribute.type else 0.37
    return number if kind.size == 1 else tuple(number + 0.1 * index for index in range(kind.size))


def fields() -> list[tuple[str, bool, str, str]]:
    """(kind of scene, of the body, schema, field) of all that a copy can differ in by one value."""
    found = []
    for kind in KINDS:
        model = scene(kind)
        for prim, is_body in ((model.prims[CHANGED], True), (collider(model), False)):
            for name, value in prim.schemas.items() if is_body or kind != "whole" else ():
                found += [
                    (kind, is_body, name, one.field) for one in type(value).attributes
                    if not one.is_relationship and other_value(one, getattr(value, one.field)) is not None
                ]  # fmt: skip
    return found


def change_field(model: PhysicsModel, is_body: bool, name: str, field: str) -> None:
    prim = model.prims[CHANGED] if is_body else collider(model)
    value = prim.schemas[name]
    attribute = next(one for one in type(value).attributes if one.field == field)
    prim.schemas[name] = value.copy(**{field: other_value(attribute, getattr(value, field))})


def turn(model: PhysicsModel, by: np.ndarray) -> None:
    """Change the place of the body, and that of its collider with it."""
    world = model.prims[CHANGED].world @ by
    for path, prim in model.prims.items():
        if path.startswith(CHANGED):
            prim.world = world if prim.local is None else world @ prim.local


ASPECTS: dict[str, Callable[[PhysicsModel], Any]] = {
    "nothing": lambda model: None,
    "material": lambda model: setattr(collider(model), "materials", ("/Ice",)),
    "two materials": lambda model: setattr(collider(model), "materials", ("/Ice", "/Wood")),
    "binding": lambda model: setattr(collider(model), "physics_binding", "/Ice"),
    "no material": lambda model: (
        setattr(collider(model), "physics_binding", ""), setattr(collider(model), "materials", ())
    ),
    "binding of two materials": lambda model: [
        setattr(prim, "materials", ("/Ice", "/Wood")) for prim in model.colliders.values()
    ] and setattr(collider(model), "physics_binding", "/Ice"),
    "purpose": lambda model: setattr(collider(model), "purpose", "guide"),
    "extras of the body": lambda model: model.prims[CHANGED].extras.update(motion={"gravityFactor": 0.5}),
    "extras of the collider": lambda model: collider(model).extras.update(shape={"box": {"size": [1, 1, 1]}}),
    "larger": lambda model: turn(model, np.diag([2.0, 2.0, 2.0, 1.0])),
    "longer": lambda model: turn(model, np.diag([1.0, 1.0, 2.0, 1.0])),
    "mirrored": lambda model: turn(model, np.diag([-1.0, 1.0, 1.0, 1.0])),
    # High above the floor, where it meets nothing: at contacts the noise of the rotation would grow.
    "turned": lambda model: turn(model, frames.transform((0, 0, 3), frames.matrix_of((0.8, 0.6, 0.0, 0.0)))),
    "one schema more": lambda model: collider(model).add(usd_physics.MassAPI(density=300.0)),
    "one schema less": lambda model: model.prims[CHANGED].schemas.pop("PhysicsMassAPI"),
    "no collider": lambda model: collider(model).schemas.pop("PhysicsCollisionAPI"),
    "label": lambda model: setattr(model.prims[CHANGED], "label", "Another"),
    "filtered pairs": lambda model: model.prims[CHANGED].add(usd_physics.FilteredPairsAPI(("/Body1",))),
    "geometry": lambda model: setattr(
        collider(model), "mesh",
        (lambda: Mesh(2.0 * np.array(BOX_POINTS, float), np.array([face[:3] for face in BOX_FACES])))
        if collider(model).mesh else None,
    ),
    "-0.0": lambda model: model.prims[CHANGED].add(usd_physics.MassAPI(mass=2.0, center_of_mass=(-0.0, 0.0, 0.0))),
}  # fmt: skip
CASES = [
    *(pytest.param(kind, partial(change_field, is_body=own, name=name, field=field), id=f"{kind}-{name}.{field}")
      for kind, own, name, field in fields()),
    *(pytest.param(kind, change, id=f"{kind}-{what}") for kind in KINDS
      for what, change in ASPECTS.items()),
]  # fmt: skip


def simulated(model: PhysicsModel) -> tuple[Any, ...]:
    world = World(model)
    weights = {path: weight for space in world.spaces for path, weight in space.weights.items()}
    for _ in range(30):
        world.step()
    return world.positions.tolist(), world.rotations.tolist(), weights, world.notices


def as_usd(model: PhysicsModel) -> str:
    stage = Usd.Stage.CreateInMemory()
    usd_write.write_units(stage, CENTIMETERS)
    usd_write.write_model(stage, model, CENTIMETERS)
    return str(stage.GetRootLayer().ExportToString())


def as_gltf(model: PhysicsModel) -> tuple[str, list[Any]]:
    """A document with a node for each body, as the exporter of Blender makes it; and messages, in whatever order."""
    bodies = list(model.bodies)
    document = Document({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": list(range(len(bodies)))}],
        "nodes": [
            {"name": path[1:], "matrix": axes_out(model.prims[path].world)} for path in bodies
        ],
    }, Path("crates.gltf"))  # fmt: skip
    nodes = {path: index for index, path in enumerate(bodies)}
    written = gltf_write.write(document, model, nodes, additions.WriteOptions())
    keep.put(document, model, keep.Beside(nodes=nodes))
    return json.dumps(document.json), sorted(map(repr, written.issues))


def axes_out(world: np.ndarray) -> list[float]:
    """A matrix with Y up, column by column."""
    turn_ = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]], float)
    return (turn_ @ world @ turn_.T).T.ravel().tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "change"), CASES)
def test_prims_that_share_a_prototype_give_what_each_would_by_itself(kind: str, change: Callable[..., Any]) -> None:
    """One copy differs in one value."""
    models = []
    for give in (shared, alone):
        model = scene(kind)
        change(model)
        models.append(give(model))
    one, other = models
    for write in (simulated, as_usd, as_gltf):
        assert write(one) == write(other)


def test_a_material_of_what_is_above_is_that_of_a_body() -> None:
    """Bodies of one prototype below prims with different bindings."""
    model = scene("box")
    for path in list(model.prims):
        if path.startswith("/Body"):
            prim = model.prims[path]
            prim.materials, prim.physics_binding = (), ""
            if path.startswith(CHANGED):
                del model.prims[path]
                prim.path = f"/Above{path}"
                model.add(prim)
    model.add(Prim("/Above", "Xform", physics_binding="/Ice"))
    one, other = shared(model), alone(model)
    assert as_gltf(one) == as_gltf(other)
    content = json.loads(as_gltf(one)[0])
    colliders = [node["extensions"]["KHR_physics_rigid_bodies"]["collider"] for node in content["nodes"]]
    assert ["physicsMaterial" in value for value in colliders] == [False] * (COPIES - 1) + [True]


@pytest.mark.parametrize("kind", KINDS)
def test_copies_share_what_is_made_of_them(kind: str) -> None:
    """Else the test above would say nothing."""
    for give, most in ((shared, 1), (alone, COPIES)):
        model = give(scene(kind))
        assert len(set(prototypes.numbers(list(model.bodies.values())))) == most
        assert len(set(map(prototypes.schemas_key, model.bodies.values()))) == most


def test_values_that_are_equal_and_not_the_same_are_not_shared() -> None:
    """0.0 is written as it is, and so is -0.0; a script can author 1 where a number with a fraction belongs."""
    prims = [Prim(f"/{index}") for index in range(4)]
    for prim, mass in zip(prims, (1.0, 1, True, np.float32(1.0)), strict=True):
        prim.add(usd_physics.MassAPI(mass=mass))
        prim.add(usd_physics.RevoluteJoint(break_force=1.0))
    sharing = SharedSchemas()
    for prim in prims:
        sharing.share(prim)
    for name in ("PhysicsMassAPI", "PhysicsRevoluteJoint"):
        # A joint is of its own, whatever its values: what is left of it may be changed in place.
        assert len({id(prim.schemas[name]) for prim in prims}) == 4
    again = Prim("/Again")
    again.add(usd_physics.MassAPI(mass=1.0))
    sharing.share(again)
    assert again.schemas["PhysicsMassAPI"] is prims[0].schemas["PhysicsMassAPI"]


def test_prims_with_other_schemas_have_another_number() -> None:
    shared, first, second = usd_physics.RigidBodyAPI(), usd_physics.CollisionAPI(), usd_geom.Cube()
    prims = [Prim(f"/P{number}") for number in range(4)]
    for prim, schemas in zip(prims, ((shared, first), (shared, second), (shared,), (shared, first)), strict=True):
        for schema in schemas:
            prim.add(schema)
    for chosen, wanted in ((prims, [0, 1, 2, 0]), (prims[:2], [0, 1]), ([prims[0], prims[3]], [0, 0]), ([], [])):
        assert prototypes.numbers(chosen) == wanted
