# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to say the same physics differently: each makes of a model a statement whose motion must be the same."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import laboratory_scenes as scenes
import numpy as np
from laboratory_scenes import W, frames, total_mass, usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.model import Mesh, PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.paths import parent_of
from usdphys_ext.usdphys_addon.core.schema import Schema, split_applied
from usdphys_ext.usdphys_addon.core.units import StageUnits

FLOOR = f"{W}/Floor"
BASE_STEP = 1.0 / 60.0


@dataclass
class Statement:
    """A model and how its motion is to be read.

    matrix: (4, 4), from the world of the original to this one; its scale is that of all lengths. time: of one second
    of the original. step: seconds of the original in a frame. names: of bodies with other paths, by their old paths.
    stage: which loads the meshes, if there is one.
    """

    model: PhysicsModel
    matrix: Any = field(default_factory=lambda: np.eye(4))
    time: float = 1.0
    step: float = BASE_STEP
    names: dict[str, str] = field(default_factory=dict)
    stage: Any = None


@dataclass(frozen=True)
class Transform:
    """A way to say a model differently; `make` returns None where it does not apply.

    slack: share of the way of a body by which the solver may differ, because it meets other contacts or other steps.
    jolt: seconds by which an impact may come earlier or later.
    """

    name: str
    slack: float
    make: Callable[[PhysicsModel, Random], Statement | None]
    jolt: float = 0.0


TRANSFORMS: dict[str, Transform] = {}


def transform(slack: float) -> Callable[[Any], Any]:
    """Rounding can move an impact by one step of the solver, other contacts and steps by two."""

    def wrap(make: Any) -> Any:
        TRANSFORMS[make.__name__] = Transform(
            make.__name__, slack, make, BASE_STEP / 2 if slack >= 0.02 else BASE_STEP / 4
        )
        return make

    return wrap


def copied(model: PhysicsModel) -> PhysicsModel:
    """A copy whose prims and schemas can be changed."""
    result = replace(model, prims={})
    for prim in model.prims.values():
        schemas = {name: copy(value) for name, value in prim.schemas.items()}
        result.add(replace(prim, world=prim.world.copy(), schemas=schemas, extras=dict(prim.extras)))
    return result


# --------------------------------------------------------------------------- place, order, words


def moved(model: PhysicsModel, matrix: Any) -> Statement:
    result = copied(model)
    for prim in result.prims.values():
        prim.world = matrix @ prim.world
    for prim in result.joints.values():
        joint: Any = prim.get(usd_physics.Joint)
        for side in (0, 1):
            if not getattr(joint, f"body{side}"):
                pose = getattr(joint, f"local_pos{side}"), getattr(joint, f"local_rot{side}")
                frame = matrix @ frames.world_frame(None, *pose)
                place, rotation = frames.local_frame(None, frame)
                setattr(joint, f"local_pos{side}", place)
                setattr(joint, f"local_rot{side}", rotation)
    return Statement(result, matrix)


@transform(0.003)
def translated(model: PhysicsModel, rng: Random) -> Statement:
    return moved(model, frames.transform([rng.uniform(-9, 9), rng.uniform(-9, 9), rng.uniform(-3, 3)]))


@transform(0.01)
def turned(model: PhysicsModel, rng: Random) -> Statement:
    return moved(model, frames.transform((0, 0, 0), scenes.turn("Z", rng.uniform(0.3, 3))))


@transform(0.003)
def reordered(model: PhysicsModel, rng: Random) -> Statement:
    result = copied(model)
    prims = list(result.prims.values())
    rng.shuffle(prims)
    result.prims = {prim.path: prim for prim in prims}
    return Statement(result)


@transform(0.003)
def sides_swapped(model: PhysicsModel, _: Random) -> Statement | None:
    """Joints whose body 0 becomes body 1: what is measured along their axes changes its sign."""
    result, found = copied(model), False
    for prim in result.joints.values():
        joint: Any = prim.get(usd_physics.Joint)
        kind = type(joint).__name__
        if kind == "Joint":
            continue
        found = True
        for name in ("body", "local_pos", "local_rot"):
            one, other = getattr(joint, f"{name}0"), getattr(joint, f"{name}1")
            setattr(joint, f"{name}0", other)
            setattr(joint, f"{name}1", one)
        if kind in ("RevoluteJoint", "PrismaticJoint"):
            low, high = joint.lower_limit, joint.upper_limit
            joint.lower_limit, joint.upper_limit = (None if one is None else -one for one in (high, low))
            for _dof, drive in prim.instances(usd_physics.DriveAPI):
                for name in ("target_position", "target_velocity"):
                    if getattr(drive, name) is not None:
                        setattr(drive, name, -getattr(drive, name))
    return Statement(result) if found else None


@transform(0.003)
def mass_as_density(model: PhysicsModel, _: Random) -> Statement | None:
    result, found = copied(model), False
    for path, prim in result.bodies.items():
        api = prim.get(usd_physics.MassAPI)
        if api is None or api.mass is None or api.diagonal_inertia is not None or not result.colliders_of(path):
            continue
        weight, api.mass = api.mass, None
        api.density = 1000.0 * weight / total_mass(result, path)
        found = True
    return Statement(result) if found else None


# --------------------------------------------------------------------------- other frames, sizes, speeds


@transform(0.05)
def frames_30(model: PhysicsModel, _: Random) -> Statement:
    return Statement(model, step=BASE_STEP * 2)


@transform(0.05)
def frames_120(model: PhysicsModel, _: Random) -> Statement:
    return Statement(model, step=BASE_STEP / 2)


def similar(model: PhysicsModel, length: float, weight: float, time: float) -> Statement:
    """The model with all lengths, masses and times multiplied: each value by what its dimension says."""
    result = copied(model)
    for prim in result.prims.values():
        prim.world[:3, 3] *= length
        prim.schemas = {name: _scaled(name, value, length, weight, time) for name, value in prim.schemas.items()}
        if prim.mesh is not None:
            mesh: Any = prim.mesh()
            prim.mesh = lambda mesh=mesh: Mesh(mesh.points * length, mesh.triangles)
    return Statement(result, np.diag([length, length, length, 1.0]), time)


def _scaled(name: str, value: Schema, length: float, weight: float, time: float) -> Schema:
    changes: dict[str, Any] = {}
    for attribute, content in value.authored():
        of = attribute.dimension_for(split_applied(name)[1], value.unit_mode)
        factor = length**of.length * weight**of.mass * time**of.time
        if factor != 1.0 and attribute.is_decided(content, split_applied(name)[1]):
            numbers = tuple(factor * part for part in content) if isinstance(content, tuple) else factor * content
            changes[attribute.field] = numbers
    return value.copy(**changes) if changes else value


@transform(0.02)
def slower(model: PhysicsModel, _: Random) -> Statement:
    """In slow motion at the same frame rate: gravity, speeds and forces are less."""
    return replace(similar(model, 1.0, 1.0, 5.0), step=BASE_STEP / 5)


@transform(0.02)
def larger(model: PhysicsModel, rng: Random) -> Statement:
    """Ten times as large or small, under a gravity that gives the same times."""
    return similar(model, rng.choice((0.1, 10.0)), 1.0, 1.0)


@transform(0.02)
def heavier(model: PhysicsModel, rng: Random) -> Statement:
    return similar(model, 1.0, rng.choice((0.01, 100.0)), 1.0)


# --------------------------------------------------------------------------- other shapes


def _with_floor(model: PhysicsModel, change: Callable[[Prim], None]) -> Statement | None:
    if FLOOR not in model.prims:
        return None
    result = copied(model)
    floor = result.prims[FLOOR]
    del floor.schemas["Cube"]
    change(floor)
    return Statement(result)


@transform(0.05)
def floor_plane(model: PhysicsModel, _: Random) -> Statement | None:
    def change(floor: Prim) -> None:
        floor.type_name, floor.world = "Plane", np.eye(4)
        floor.add(usd_geom.Plane(axis="Z"))

    return _with_floor(model, change)


def _mesh_floor(model: PhysicsModel, cell: float, is_split: bool) -> Statement | None:
    """A floor of triangles, 40 m wide, whose diagonals alternate; its vertices are shared or of one triangle each."""
    count = round(40.0 / cell)
    x, y = np.meshgrid(np.linspace(-20, 20, count + 1), np.linspace(-20, 20, count + 1))
    points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    first = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).ravel()
    second, third, fourth = first + 1, first + count + 2, first + count + 1
    triangles = np.concatenate([np.stack([first, second, third], 1), np.stack([first, third, fourth], 1)])
    if is_split:
        points, triangles = points[triangles.ravel()], np.arange(triangles.size).reshape(-1, 3)

    def change(floor: Prim) -> None:
        floor.type_name, floor.world = "Mesh", np.eye(4)
        floor.mesh = lambda: Mesh(points, triangles)
        floor.add(usd_physics.MeshCollisionAPI(approximation="none"))

    return _with_floor(model, change)


@transform(0.05)
def floor_mesh(model: PhysicsModel, rng: Random) -> Statement | None:
    return _mesh_floor(model, rng.choice((0.25, 1.0, 5.0)), False)


@transform(0.05)
def floor_split_mesh(model: PhysicsModel, rng: Random) -> Statement | None:
    return _mesh_floor(model, rng.choice((0.25, 1.0, 5.0)), True)


@transform(0.05)
def eight_boxes(model: PhysicsModel, _: Random) -> Statement | None:
    """Each box of a body as eight of half its size."""
    result, found = copied(model), False
    for path, prim in list(result.colliders.items()):
        if "Cube" not in prim.schemas or path == FLOOR:
            continue
        found = True
        del result.prims[path]
        for index in range(8):
            corner = [(index >> axis & 1) - 0.5 for axis in range(3)]
            part = replace(prim, path=f"{path}{index}", world=prim.world @ frames.transform(
                np.array(corner) / 2, None, (0.5, 0.5, 0.5)), schemas=dict(prim.schemas))  # fmt: skip
            result.add(part)
    return Statement(result) if found else None


# --------------------------------------------------------------------------- through a stage


def stage_of(model: PhysicsModel, units: StageUnits) -> Any:
    """A stage in memory with the model."""
    from pxr import Gf, Usd, UsdGeom, Vt
    from usdphys_ext.usdphys_addon.usd import write

    stage = Usd.Stage.CreateInMemory()
    write.write_units(stage, units)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, W).GetPrim())
    # The axes of a file turn at its root: local spaces are the same in all files.
    root = np.eye(4)
    root[:3, :3] = units.to_z_up.T
    placed = copied(model)
    for prim in placed.prims.values():
        above = next(iter(placed.ancestors(parent_of(prim.path))), None) if parent_of(prim.path) else None
        parent = placed.prims.get(parent_of(prim.path), above)
        prim.local = (root if parent is None else np.linalg.inv(parent.world)) @ prim.world
        if not prim.is_xformable:
            prim.local = None
    write.write_model(stage, placed, units)
    for path, prim in model.prims.items():
        if prim.mesh is not None:
            mesh: Any = prim.mesh()
            geometry = UsdGeom.Mesh(stage.GetPrimAtPath(path))
            geometry.CreatePointsAttr([Gf.Vec3f(*point) for point in (mesh.points / units.local).tolist()])
            geometry.CreateFaceVertexCountsAttr(Vt.IntArray([3] * len(mesh.triangles)))
            geometry.CreateFaceVertexIndicesAttr(Vt.IntArray(mesh.triangles.ravel().tolist()))
    return stage


def read_back(stage: Any, **more: Any) -> Statement:
    from usdphys_ext.usdphys_addon.usd import read

    return Statement(read.read_stage(stage), stage=stage, **more)


@transform(0.005)
def other_units(model: PhysicsModel, rng: Random) -> Statement:
    units = StageUnits(rng.choice((0.01, 0.001, 1.0, 0.0254)), rng.choice((1.0, 0.001)), rng.choice(("Y", "Z")))
    return read_back(stage_of(model, units))


@transform(0.005)
def nested(model: PhysicsModel, rng: Random) -> Statement | None:
    """Each body below the one before, where neither is inside of the other's articulation."""
    paths = [path for path in model.bodies if "Tree" not in path]
    if len(paths) < 2:
        return None
    names, above = {}, paths[0]
    for path in paths[1:]:
        names[path] = f"{above}/{path.replace(W, '').replace('/', '_')}"
        above = names[path]
    return read_back(stage_of(copied(model).renamed(names), StageUnits()), names=names)


@transform(0.005)
def instanced(model: PhysicsModel, _: Random) -> Statement | None:
    """The shapes of bodies in instances of prototypes."""
    from pxr import Sdf

    stage = stage_of(model, StageUnits())
    layer = stage.GetRootLayer()
    Sdf.CreatePrimInLayer(layer, "/Prototypes").specifier = Sdf.SpecifierClass
    bodies = [path for path in model.bodies if f"{path}/Shape" in model.prims]
    for index, path in enumerate(bodies):
        prototype = Sdf.CreatePrimInLayer(layer, f"/Prototypes/P{index}")
        prototype.specifier, prototype.typeName = Sdf.SpecifierDef, "Xform"
        Sdf.CopySpec(layer, f"{path}/Shape", layer, f"{prototype.path}/Shape")
        edit = Sdf.BatchNamespaceEdit()
        edit.Add(f"{path}/Shape", Sdf.Path.emptyPath)
        layer.Apply(edit)
        instance = Sdf.CreatePrimInLayer(layer, f"{path}/Geometry")
        instance.specifier, instance.typeName, instance.instanceable = Sdf.SpecifierDef, "Xform", True
        instance.referenceList.Prepend(Sdf.Reference("", prototype.path))
    return read_back(stage) if bodies else None


# --------------------------------------------------------------------------- beside others


def _beside(name: str) -> None:
    def make(model: PhysicsModel, _: Random) -> Statement | None:
        if model.scenes and not any(
            prim.get(usd_physics.PhysicsScene).gravity_magnitude for prim in model.scenes.values()
        ):
            return None
        result = copied(model)
        cell = frames.transform((40.0, 0.0, 0.0))
        scenes.TROUBLE[name](scenes.Bench(result, f"{W}/Trouble", cell, Random(1)))
        return Statement(result)

    TRANSFORMS[f"beside_{name}"] = Transform(f"beside_{name}", 0.01, make)


for _name in scenes.TROUBLE:
    _beside(_name)
