# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders of a stage that are meshes -> convex parts beside them, in a layer over its file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdPhysics, Vt

from ..core import paths, units
from ..core.errors import InputError
from ..core.fitting import Surface
from ..core.misfit import Misfit
from . import composition
from .opinions import PHYSICS_BINDING
from .read import mesh_of, stage_units
from .rest_time import place_cache
from .write import apply_schemas

#: As colliders of their own, or as settings of simulators that make them.
Form = Literal["prims", "settings"]
#: Approximations of a mesh that convex parts can take the place of.
_SPLIT = frozenset({"none", "convexDecomposition", "meshSimplification", "sdf"})
SUFFIX = "_part"


@dataclass(slots=True)
class Decomposed:
    """A collider. parts: paths of the new ones, empty where settings are written. count: of parts."""

    mesh: str
    parts: list[str]
    count: int
    misfit: Misfit


def decompose_stage(
    source: str, stage: Usd.Stage, target: Path, wanted: Sequence[str], form: Form, error: float,
    split: Callable[[Surface], tuple[list[Surface], Misfit]],
) -> tuple[list[Decomposed], list[str]]:  # fmt: skip
    """Write a layer over a stage's file with convex parts of its colliders.

    wanted: paths of meshes; empty for all that collide as their triangles or as parts, and that a body moves or that
    ask for parts. error: of the settings. split: gives the parts of a closed mesh, in metres. Returns what was
    decomposed, and a sentence for each mesh that was left. Raises InputError where nothing is, and OutputError.
    """
    done: list[tuple[Decomposed, list[Surface], Usd.Prim]] = []
    left: list[str] = []
    units.checked_units(stage_units(stage), source)
    for prim in [_wanted(stage, path) for path in wanted] or _colliders(stage):
        path = str(prim.GetPath())
        try:
            done.append(_decomposed(prim, form, split))
        except InputError as reason:
            sentence = f"{path} is not decomposed: {reason}."
            if wanted:
                raise InputError(sentence) from reason
            left.append(sentence)
    if not done:
        raise InputError(f"'{source}' has no mesh that convex parts can stand for. {' '.join(left[:1])}".rstrip())

    def author(layer: Sdf.Layer) -> None:
        for one, parts, prim in done:
            over = Sdf.CreatePrimInLayer(layer, one.mesh)
            for above in (one.mesh, *paths.ancestors_of(one.mesh)):
                layer.GetPrimAtPath(above).specifier = Sdf.SpecifierOver
            if form == "settings":
                _settings(over, one, error)
                continue
            _set(over, "physics:collisionEnabled", Sdf.ValueTypeNames.Bool, False)
            for path, part in zip(one.parts, parts, strict=True):
                _author(layer, prim, path, part)

    composition.write_over(source, target, author)
    return [one for one, _, _ in done], left


def _colliders(stage: Usd.Stage) -> list[Usd.Prim]:
    found = []
    for prim in stage.Traverse():
        if not (prim.IsA(UsdGeom.Mesh) and prim.HasAPI(UsdPhysics.CollisionAPI)) or prim.IsInstanceProxy():
            continue
        if UsdPhysics.CollisionAPI(prim).GetCollisionEnabledAttr().Get() is False:
            continue
        word = UsdPhysics.MeshCollisionAPI(prim).GetApproximationAttr().Get() or "none"
        if word in _SPLIT and (word == "convexDecomposition" or _body_of(prim)):
            found.append(prim)
    return found


def _body_of(prim: Usd.Prim) -> Usd.Prim | None:
    while prim and not prim.IsPseudoRoot():
        if prim.HasAPI(UsdPhysics.RigidBodyAPI):
            return prim
        prim = prim.GetParent()
    return None


def _wanted(stage: Usd.Stage, path: str) -> Usd.Prim:
    prim = stage.GetPrimAtPath(path) if Sdf.Path.IsValidPathString(path) and path.startswith("/") else None
    if not prim or not prim.IsA(UsdGeom.Mesh) or not prim.HasAPI(UsdPhysics.CollisionAPI):
        raise InputError(f"'{path}' is no Mesh with PhysicsCollisionAPI; give the path of one.")
    return prim


def _decomposed(
    prim: Usd.Prim, form: Form, split: Callable[[Surface], tuple[list[Surface], Misfit]]
) -> tuple[Decomposed, list[Surface], Usd.Prim]:  # fmt: skip
    """Raises InputError, whose sentence has no end."""
    path = str(prim.GetPath())
    if prim.IsInstanceProxy() or prim.GetParent().IsInstanceProxy():
        raise InputError("it is inside an instance")
    mesh = mesh_of(UsdGeom.Mesh(prim))
    if mesh is None:
        raise InputError("its faces cannot be read")
    world = np.array(place_cache(prim).GetLocalToWorldTransform(prim))
    linear = world[:3, :3].T * UsdGeom.GetStageMetersPerUnit(prim.GetStage())
    if not np.isfinite(linear).all() or abs(np.linalg.det(linear)) < 1e-30:
        raise InputError("it is scaled to nothing")
    parts, misfit = split(Surface(np.asarray(mesh.points, float), mesh.triangles).moved(linear))
    back = np.linalg.inv(linear)
    own = [part.moved(back) for part in parts]
    stage = prim.GetStage()
    # A body that is the mesh itself has its colliders below it.
    base = f"{path}/{prim.GetName()}" if prim.HasAPI(UsdPhysics.RigidBodyAPI) else path
    made: list[str] = []
    for _ in own if form == "prims" else ():
        made.append(paths.free(f"{base}{SUFFIX}", lambda one: bool(stage.GetPrimAtPath(one)) or one in made))
    return Decomposed(path, made, len(parts), misfit), own, prim


def _set(spec: Sdf.PrimSpec, name: str, type_: Any, value: Any, *, uniform: bool = False) -> None:
    item = spec.attributes.get(name) or Sdf.AttributeSpec(
        spec, name, type_, Sdf.VariabilityUniform if uniform else Sdf.VariabilityVarying
    )
    item.default = value


def _settings(spec: Sdf.PrimSpec, one: Decomposed, error: float) -> None:
    apply_schemas(spec, ("PhysicsMeshCollisionAPI", "PhysxConvexDecompositionCollisionAPI"))
    names = Sdf.ValueTypeNames
    _set(spec, "physics:approximation", names.Token, "convexDecomposition", uniform=True)
    _set(spec, "physxConvexDecompositionCollision:maxConvexHulls", names.Int, max(1, one.count))
    _set(spec, "physxConvexDecompositionCollision:hullVertexLimit", names.Int, 64)
    if error > 0.0:
        _set(spec, "physxConvexDecompositionCollision:errorPercentage", names.Float, error * 100.0)


def _author(layer: Sdf.Layer, mesh: Usd.Prim, path: str, part: Surface) -> None:
    """Add a part to a layer over that of the mesh, at the same place and of the same physics material."""
    spec = Sdf.CreatePrimInLayer(layer, path)
    spec.specifier, spec.typeName = Sdf.SpecifierDef, "Mesh"
    apply_schemas(spec, ("PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"))
    names, numbers = Sdf.ValueTypeNames, np.ascontiguousarray(part.points, np.float32)
    triangles = np.ascontiguousarray(part.triangles, np.int32)
    _set(spec, "points", names.Point3fArray, Vt.Vec3fArray.FromNumpy(numbers))
    _set(spec, "faceVertexCounts", names.IntArray, Vt.IntArray.FromNumpy(np.full(len(triangles), 3, np.int32)))
    _set(spec, "faceVertexIndices", names.IntArray, Vt.IntArray.FromNumpy(triangles.reshape(-1)))
    extent = np.stack([numbers.min(axis=0), numbers.max(axis=0)])
    _set(spec, "extent", names.Float3Array, Vt.Vec3fArray.FromNumpy(extent))
    _set(spec, "subdivisionScheme", names.Token, "none", uniform=True)
    _set(spec, "purpose", names.Token, UsdGeom.Tokens.guide, uniform=True)
    _set(spec, "physics:approximation", names.Token, "convexHull", uniform=True)
    for name in (PHYSICS_BINDING, "physics:filteredPairs"):
        targets = mesh.GetRelationship(name).GetTargets() if mesh.HasRelationship(name) else []
        if targets:
            relationship = Sdf.RelationshipSpec(spec, name, custom=False)
            relationship.targetPathList.explicitItems = targets
            apply_schemas(spec, ("MaterialBindingAPI" if name == PHYSICS_BINDING else "PhysicsFilteredPairsAPI",))
    if paths.is_below(path, str(mesh.GetPath())):
        return
    for attribute in mesh.GetAuthoredAttributes():
        if not attribute.GetName().startswith("xformOp"):
            continue
        uniform = Sdf.VariabilityUniform if attribute.GetName() == "xformOpOrder" else Sdf.VariabilityVarying
        item = Sdf.AttributeSpec(spec, attribute.GetName(), attribute.GetTypeName(), uniform)
        if attribute.Get() is not None:
            item.default = attribute.Get()
        for time in attribute.GetTimeSamples():
            layer.SetTimeSample(item.path, time, attribute.Get(time))
