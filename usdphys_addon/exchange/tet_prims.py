# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of tetrahedra from and to USD: Blender shows their outer faces, and a file has a TetMesh."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..bridge import tet_meshes
from ..core.building.tet_lattice import surface_of
from ..core.validate import Issue
from .import_repair import with_data

if TYPE_CHECKING:
    from pxr import Sdf, Usd

#: Properties of a mesh that are of its faces.
_OF_FACES = (
    "faceVertex",
    "corner",
    "crease",
    "hole",
    "normals",
    "subdivisionScheme",
    "interpolateBoundary",
)
#: Interpolations of primvars that have a value for each face or corner.
_BY_FACE = ("uniform", "faceVarying")


def show(stage: Usd.Stage, objects: dict[str, Any], paths: Iterable[str]) -> None:
    """Replace the Empties that Blender makes of TetMeshes by their outer faces. objects: by path, changed in place."""
    from pxr import UsdGeom

    for path in paths:
        empty = objects.get(path)
        prim = UsdGeom.TetMesh(stage.GetPrimAtPath(path))
        if empty is None or empty.type != "EMPTY" or not prim:
            continue
        points, tets = prim.GetPointsAttr().Get(), prim.GetTetVertexIndicesAttr().Get()
        if not points or not tets:
            continue
        rows, places = np.array(tets, dtype=np.int64), np.array(points, float)
        if rows.min() < 0 or rows.max() >= len(places):
            continue
        is_turned = prim.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded
        outer = surface_of(rows[:, [0, 1, 3, 2]] if is_turned else rows)
        objects[path] = with_data(empty, tet_meshes.new_mesh(empty.name, places, rows, outer))


def write(layer: Sdf.Layer) -> list[Issue]:
    """Make TetMeshes of the meshes on a layer of Blender's exporter whose data has tetrahedra.

    Returns an issue for each that has not the points any more.
    """
    from pxr import Sdf

    from ..usd import tet_meshes as usd_tets
    from ..usd.scene_edits import DATA_NAME

    issues: list[Issue] = []
    if not any(map(tet_meshes.has_tets, bpy.data.meshes)):
        return issues
    pending = list(layer.rootPrims)
    with Sdf.ChangeBlock():
        while pending:
            spec = pending.pop()
            pending.extend(spec.nameChildren)
            name = spec.attributes.get(DATA_NAME) if spec.typeName == "Mesh" else None
            mesh = bpy.data.meshes.get(str(name.default)) if name is not None else None
            if mesh is None or not tet_meshes.has_tets(mesh):
                continue
            for key in (tet_meshes.TETS, tet_meshes.POINTS):
                if (kept := spec.attributes.get(f"userProperties:{key}")) is not None:
                    spec.RemoveProperty(kept)
            points = spec.attributes["points"].default
            tets = tet_meshes.tets_of(mesh, len(points) if points is not None else 0)
            if tets is None:
                issues.append(Issue(
                    "TetMeshEdited", "warning", str(spec.path), mesh.name,
                    f"The mesh '{mesh.name}' has other points than its tetrahedra and is written as its faces alone.",
                    "Make the tetrahedra anew.",
                ))  # fmt: skip
                continue
            lost = [item for item in spec.properties if _is_of_faces(spec, item.name)]
            named = [item.name.removeprefix("primvars:") for item in lost if item.name.startswith("primvars:")]
            for item in lost:
                spec.RemoveProperty(item)
            if named:
                issues.append(Issue(
                    "TetMeshValuesLeftOut", "warning", str(spec.path), mesh.name,
                    f"'{named[0]}' of the mesh '{mesh.name}' has values for its faces, which tetrahedra have not, and "
                    "is left out.", "Write it for the mesh that the tetrahedra move.",
                ))  # fmt: skip
            usd_tets.write(spec, np.array(points, float), tets, surface_of(tets))
    return issues


def _is_of_faces(spec: Sdf.PrimSpec, name: str) -> bool:
    """True for a property of a mesh that is of its faces, which a TetMesh has not."""
    if name.startswith("primvars:"):
        values = spec.properties.get(name.removesuffix(":indices"))
        return values is not None and values.GetInfo("interpolation") in _BY_FACE
    return name.startswith(_OF_FACES)
