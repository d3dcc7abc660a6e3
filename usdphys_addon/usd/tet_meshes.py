# SPDX-License-Identifier: GPL-3.0-or-later
"""Tetrahedral meshes (UsdGeomTetMesh) beside the closed meshes of a stage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pxr import Sdf, Usd, UsdGeom, Vt

from ..core import paths, units
from ..core.building import tet_lattice
from ..core.building.tet_lattice import SUFFIX, TetLattice
from ..core.errors import InputError
from . import composition
from .read import mesh_of, stage_units
from .rest_time import place_cache


class Filled(NamedTuple):
    """A mesh that was filled: paths of the mesh and of its tetrahedra, and these. embedded: all points are inside."""

    mesh: str
    tets: str
    lattice: TetLattice
    embedded: bool


def fill_stage(
    source: str, stage: Usd.Stage, target: Path, wanted: Sequence[str], across: int, cell: float | None
) -> tuple[list[Filled], list[str]]:
    """Write a layer over a stage's file with a TetMesh beside each of its meshes.

    wanted: paths of the meshes; empty for all that are closed. across: cells along the longest side of a mesh; cell:
    size of a cell in metres, in the place of that. Returns what was filled, and a sentence for each mesh that was left.
    Raises InputError where nothing is filled or a mesh that is wanted cannot be, and OutputError.
    """
    filled, left = [], []
    meters = units.checked_units(stage_units(stage), source).meters_per_unit
    for prim in [_wanted(stage, path) for path in wanted] or _meshes(stage):
        path = str(prim.GetPath())
        try:
            filled.append(_fill(prim, across, cell, meters))
        except InputError as error:
            sentence = f"{path} is not filled: {error}"
            if wanted:
                raise InputError(sentence) from error
            left.append(sentence)
    if not filled:
        raise InputError(f"'{source}' has no closed mesh to fill. {' '.join(left[:1])}".rstrip())

    def author(layer: Sdf.Layer) -> None:
        for one in filled:
            _author(layer, stage.GetPrimAtPath(one.mesh), one)

    composition.write_over(source, target, author)
    return filled, left


def _meshes(stage: Usd.Stage) -> list[Usd.Prim]:
    """The meshes that are drawn and stand for themselves: none of prototypes or guides."""
    meshes = []
    for prim in stage.Traverse():
        is_drawn = prim.IsA(UsdGeom.Mesh) and UsdGeom.Imageable(prim).ComputePurpose() != UsdGeom.Tokens.guide
        if is_drawn and not stage.GetPrimAtPath(f"{prim.GetPath()}{SUFFIX}"):
            meshes.append(prim)
    return meshes


def _wanted(stage: Usd.Stage, path: str) -> Usd.Prim:
    prim = stage.GetPrimAtPath(path) if Sdf.Path.IsValidPathString(path) and path.startswith("/") else None
    if not prim or not prim.IsA(UsdGeom.Mesh):
        what = f"a {prim.GetTypeName() or 'prim without a type'}" if prim else "not there"
        raise InputError(f"'{path}' is {what}; give the path of a Mesh.")
    return prim


def _fill(prim: Usd.Prim, across: int, cell: float | None, meters: float) -> Filled:
    path = str(prim.GetPath())
    if prim.IsInstanceProxy() or prim.GetParent().IsInstanceProxy():
        raise InputError("it is inside an instance; make that no instance.")
    mesh = mesh_of(UsdGeom.Mesh(prim))
    if mesh is None:
        raise InputError("its faces cannot be read.")
    points, triangles = np.asarray(mesh.points, float), mesh.triangles
    if cell is None:
        size = tet_lattice.cell_of(points, triangles, across)
    else:
        world = place_cache(prim).GetLocalToWorldTransform(prim)
        stretch = abs(np.linalg.det(np.array(world)[:3, :3])) ** (1 / 3)
        size = cell / meters / (stretch or 1.0)
    lattice = tet_lattice.fill(points, triangles, size)
    inside, weights = lattice.embed(points[np.unique(triangles)])
    embedded = bool((inside >= 0).all() and (weights > -1e-9).all())
    return Filled(path, f"{path}{SUFFIX}", lattice, embedded)


def _author(layer: Sdf.Layer, mesh: Usd.Prim, filled: Filled) -> None:
    """Add the TetMesh to a layer over that of the mesh, at the same place."""
    spec = Sdf.CreatePrimInLayer(layer, filled.tets)
    spec.specifier = Sdf.SpecifierDef
    for above in paths.ancestors_of(filled.tets):
        layer.GetPrimAtPath(above).specifier = Sdf.SpecifierOver
    lattice = filled.lattice
    write(spec, lattice.points, lattice.tets, lattice.surface)
    Sdf.AttributeSpec(spec, "purpose", Sdf.ValueTypeNames.Token, Sdf.VariabilityUniform).default = UsdGeom.Tokens.guide
    for attribute in mesh.GetAuthoredAttributes():
        name = attribute.GetName()
        if not name.startswith("xformOp"):
            continue
        uniform = Sdf.VariabilityUniform if name == "xformOpOrder" else Sdf.VariabilityVarying
        item = Sdf.AttributeSpec(spec, name, attribute.GetTypeName(), uniform)
        if attribute.Get() is not None:
            item.default = attribute.Get()
        for time in attribute.GetTimeSamples():
            layer.SetTimeSample(item.path, time, attribute.Get(time))


def write(spec: Sdf.PrimSpec, points: NDArray[Any], tets: NDArray[Any], surface: NDArray[Any]) -> None:
    """Make a prim a TetMesh. points: (n, 3). tets: (t, 4) of positive volume. surface: (s, 3), their outer faces."""
    spec.typeName = "TetMesh"
    names, numbers = Sdf.ValueTypeNames, points.astype(np.float32)
    for name, type_, value in (
        ("points", names.Point3fArray, Vt.Vec3fArray.FromNumpy(numbers)),
        ("tetVertexIndices", names.Int4Array, Vt.Vec4iArray.FromNumpy(tets.astype(np.int32))),
        ("surfaceFaceVertexIndices", names.Int3Array, Vt.Vec3iArray.FromNumpy(surface.astype(np.int32))),
        ("extent", names.Float3Array, Vt.Vec3fArray.FromNumpy(np.stack([numbers.min(axis=0), numbers.max(axis=0)]))),
    ):
        item = spec.attributes.get(name) or Sdf.AttributeSpec(spec, name, type_)
        item.default = value
