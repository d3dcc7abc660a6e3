# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are refused before Blender sees them: much of it would end Blender, and not only the import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Usd, UsdGeom, UsdPhysics, Vt

from .errors import InputError

#: Levels of prims; what is deeper takes minutes.
MAX_DEPTH = 200
#: Of metres and kilograms; beyond, and beyond its inverse, densities and inertias are no numbers any more.
_SMALLEST_UNIT = 1e-20
#: Of all faces, corners by corners: Blender's normals of one face take the square of its corners.
_MAX_WORK = 4e9
#: Corners of a mesh that is remembered by its faces.
_SMALL = 256


def check(stage: Usd.Stage, path: Path) -> None:
    """Raise InputError, which names the file and the prim, where the stage holds what Blender cannot take."""
    _check_units(stage, path)
    sound: set[Any] = set()
    for usd_prim in _prims(stage):
        reason = (
            _too_deep(usd_prim) or _broken_mesh(usd_prim, sound) or _broken_curves(usd_prim) or _no_points(usd_prim)
        )
        if reason:
            raise InputError(f"'{path.name}' cannot be imported: {reason}.")


def _check_units(stage: Usd.Stage, path: Path) -> None:
    metrics = {"metersPerUnit": UsdGeom.GetStageMetersPerUnit, "kilogramsPerUnit": UsdPhysics.GetStageKilogramsPerUnit}
    for name, ask in metrics.items():
        value = ask(stage)
        if not _SMALLEST_UNIT <= value <= 1 / _SMALLEST_UNIT:
            raise InputError(f"'{path.name}' has {name} = {value:g}; set it to a number above zero, within all reason.")


def _prims(stage: Usd.Stage) -> Iterator[Usd.Prim]:
    """Every prim once, those in prototypes of instances among them."""
    yield from stage.Traverse()
    for prototype in stage.GetPrototypes():
        yield from Usd.PrimRange(prototype)


def _name(usd_prim: Usd.Prim) -> str:
    """Path of a prim in quotes, without the middle of a very long one."""
    path = str(usd_prim.GetPath())
    return f"'{path}'" if len(path) <= 120 else f"'{path[:60]}...{path[-57:]}'"


def _too_deep(usd_prim: Usd.Prim) -> str:
    path = usd_prim.GetPath()
    if path.pathElementCount <= MAX_DEPTH:
        return ""
    root = usd_prim.GetStage().GetPrimAtPath(path.GetPrefixes()[0])
    return f"the prims below {_name(root)} are nested more than {MAX_DEPTH} levels deep"


def _broken_mesh(usd_prim: Usd.Prim, sound: set[Any]) -> str:
    """Why the arrays of a mesh do not fit together; empty where they do. sound: small ones that do, for the next."""
    if not usd_prim.IsA(UsdGeom.Mesh):
        return ""
    mesh = UsdGeom.Mesh(usd_prim)
    attributes = (mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
    for time in _times(attributes):
        points = _array(attributes[0], time, Vt.Vec3fArray)
        counts, indices = (_array(attribute, time, Vt.IntArray) for attribute in attributes[1:])
        # Many meshes are alike, boxes above all.
        topology = (len(points), counts.tobytes(), indices.tobytes()) if len(indices) <= _SMALL else None
        if topology in sound:
            continue
        name = f"the mesh {_name(usd_prim)}"
        if len(counts) and counts.min() < 0:
            return f"{name} has a face with {counts.min()} corners"
        if np.square(counts, dtype=float).sum() > _MAX_WORK:
            return f"{name} has a face with {counts.max()} corners, which is more than Blender can work with"
        if counts.sum(dtype=np.int64) != len(indices):
            return f"{name} has {len(indices)} face vertex indices where its faces have {counts.sum()} corners"
        if len(indices) and (indices.min() < 0 or indices.max() >= len(points)):
            wrong = indices.min() if indices.min() < 0 else indices.max()
            return f"{name} has the face vertex index {wrong} and {len(points)} points"
        if topology is not None:
            sound.add(topology)
    return ""


def _broken_curves(usd_prim: Usd.Prim) -> str:
    """Why the arrays of curves do not fit together; empty where they do."""
    if not usd_prim.IsA(UsdGeom.Curves):
        return ""
    curves = UsdGeom.Curves(usd_prim)
    attributes = (curves.GetPointsAttr(), curves.GetCurveVertexCountsAttr())
    for time in _times(attributes):
        points, counts = _array(attributes[0], time, Vt.Vec3fArray), _array(attributes[1], time, Vt.IntArray)
        if len(counts) and (counts.min() < 0 or counts.sum(dtype=np.int64) != len(points)):
            return f"the curves {_name(usd_prim)} have {len(points)} points, which do not fit their vertex counts"
        if len(counts) and usd_prim.IsA(UsdGeom.NurbsCurves) and not _has_knots(UsdGeom.NurbsCurves(usd_prim), counts):
            return f"the curves {_name(usd_prim)} have orders and knots that do not fit their vertex counts"
    return ""


def _has_knots(curves: UsdGeom.NurbsCurves, counts: Any) -> bool:
    order = _array(curves.GetOrderAttr(), Usd.TimeCode.Default(), Vt.IntArray)
    knots = _array(curves.GetKnotsAttr(), Usd.TimeCode.Default(), Vt.DoubleArray)
    return len(order) == len(counts) and order.min() > 0 and int(order.sum() + counts.sum()) == len(knots)


def _no_points(usd_prim: Usd.Prim) -> str:
    """Why a point cloud cannot be: Blender's exporter does not survive an empty one."""
    if not usd_prim.IsA(UsdGeom.Points):
        return ""
    attribute = UsdGeom.Points(usd_prim).GetPointsAttr()
    is_empty = not any(len(_array(attribute, time, Vt.Vec3fArray)) for time in _times([attribute]))
    return f"the point cloud {_name(usd_prim)} has no points" if is_empty else ""


def _times(attributes: Any) -> list[Usd.TimeCode]:
    """The default time, and every time at which one of the attributes changes."""
    samples = {time for attribute in attributes for time in attribute.GetTimeSamples()}
    return [Usd.TimeCode.Default(), *map(Usd.TimeCode, sorted(samples))]


def _array(attribute: Usd.Attribute, time: Usd.TimeCode, kind: Any) -> Any:
    """Values of an attribute, the earliest where there are no others; empty where they are of another kind."""
    value = attribute.Get(time)
    if value is None and time.IsDefault():
        value = attribute.Get(Usd.TimeCode.EarliestTime())
    return np.asarray(value) if isinstance(value, kind) and len(value) else np.zeros(0, np.int64)
