# SPDX-License-Identifier: GPL-3.0-or-later
"""The deformables of a stage: geometry, rest shape, masses and pins, in SI."""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Usd, UsdGeom, UsdShade

from ..core import deformables, paths, units
from ..core.deformables import Deformable, Floats, Ints, Pin
from ..core.model import PhysicsModel
from .opinions import applied_schemas

#: What pins are called in both families.
_PINS = ("PhysicsAttachment", "OmniPhysicsVtxXformAttachment", "OmniPhysicsTetXformAttachment")
_BODIES = ("PhysicsDeformableBodyAPI", "OmniPhysicsDeformableBodyAPI")
_ELEMENTS = {
    "volume": ("restTetVertexIndices", "restTetVtxIndices"),
    "surface": ("restTriVertexIndices", "restTriVtxIndices"),
}


def of_stage(stage: Usd.Stage, model: PhysicsModel) -> list[Deformable]:
    """The deformables among the prims of the model of a stage."""
    paths = [path for path, prim in model.prims.items() if deformables.kind_of(prim)]
    return [_read(stage.GetPrimAtPath(path), model) for path in paths]


def pins(stage: Usd.Stage) -> list[Pin]:
    """The attachments of a stage that hold a deformable at something that does not deform."""
    pins_found = []
    for prim in stage.TraverseAll():
        if prim.GetTypeName() not in _PINS:
            continue
        kind = prim.GetAttribute("physics:type1").Get()
        sources = [
            next((name for stem in ("physics:", "omniphysics:") for name in _targets(prim, f"{stem}src{side}")), "")
            for side in (0, 1)
        ]
        if prim.GetTypeName() != "PhysicsAttachment" or kind == "xform":
            pins_found.append(Pin(str(prim.GetPath()), *sources))
    return pins_found


def _targets(prim: Usd.Prim, name: str) -> list[str]:
    relationship = prim.GetRelationship(name)
    return [str(path) for path in relationship.GetTargets()] if relationship else []


def _read(prim: Usd.Prim, model: PhysicsModel) -> Deformable:
    path, kind = str(prim.GetPath()), deformables.kind_of(model.prims[str(prim.GetPath())])
    world = model.locate(path) if model.locate is not None else None
    matrix = np.eye(4) if world is None else world

    def placed(numbers: Any) -> Floats:
        local = _numbers(numbers, 3) * model.units.local
        return np.asarray(local @ matrix[:3, :3].T + matrix[:3, 3])

    points = placed(prim.GetAttribute("points").Get())
    rest = placed(_of(prim, "restShapePoints"))
    elements, others, curves = _elements(prim, kind)
    if (names := _ELEMENTS.get(kind)) and (own := next((value for name in names if (value := _of(prim, name))), None)):
        elements = _rows(own, 4 if kind == "volume" else 3)
    is_turned = kind == "volume" and prim.GetAttribute("orientation").Get() == UsdGeom.Tokens.leftHanded
    if kind == "volume" and is_turned != (np.linalg.det(matrix[:3, :3]) < 0.0):
        elements = elements[:, [0, 1, 3, 2]]
    inside = elements[((elements >= 0) & (elements < len(points))).all(axis=1)]
    body = next((above for above in _upwards(prim) if set(_BODIES) & set(applied_schemas(above))), prim)
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
    si = model.units
    density = si.factor(units.DENSITY)
    return Deformable(
        path, kind, points, rest if len(rest) == len(points) else points, inside, others,  # type: ignore[arg-type]
        (_numbers(_of(prim, "masses")) * si.factor(units.MASS), str(_of(prim, "masses:elementType") or "")),
        (_numbers(_of(prim, "thicknesses")) * si.factor(units.LENGTH), str(_of(prim, "thicknesses:elementType") or "")),
        str(body.GetPath()), _number(_of(body, "mass")) * si.factor(units.MASS),
        _number(_of(body, "density")) * density,
        _number(_of(material.GetPrim(), "density")) * density if material else 0.0,
        frozenset((*applied_schemas(prim), *applied_schemas(body))), curves,
    )  # fmt: skip


def _of(prim: Usd.Prim, name: str) -> Any:
    """The value of an attribute of either family; None without one."""
    for family in ("physics", "omniphysics"):
        attribute = prim.GetAttribute(f"{family}:{name}")
        if attribute and attribute.HasAuthoredValue():
            return attribute.Get()
    return None


def _upwards(prim: Usd.Prim) -> list[Usd.Prim]:
    stage = prim.GetStage()
    return [
        stage.GetPrimAtPath(path)
        for path in (str(prim.GetPath()), *paths.ancestors_of(str(prim.GetPath())))
        if path != "/"
    ]


def _numbers(value: Any, columns: int = 0) -> Floats:
    """An array of numbers (n,), or (n, columns); empty for anything else."""
    empty = np.zeros((0, columns) if columns else 0)
    if value is None or isinstance(value, str):
        return empty
    numbers = np.asarray(value)
    fits = (
        numbers.dtype.kind in "fiu"
        and numbers.ndim == (2 if columns else 1)
        and (not columns or numbers.shape[1] == columns)
    )
    return numbers.astype(float) if fits else empty


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and np.isfinite(value) else 0.0


def _rows(value: Any, columns: int) -> Ints:
    return _numbers(value, columns).astype(np.int64)


def _elements(prim: Usd.Prim, kind: str) -> tuple[Ints, int, Ints]:
    """(rows of indices, number of faces that are no triangles, number of the curve of each row)."""
    none = np.zeros(0, np.int64)
    if kind == "volume":
        return _rows(prim.GetAttribute("tetVertexIndices").Get(), 4), 0, none
    if kind == "surface":
        mesh = UsdGeom.Mesh(prim)
        counts = _numbers(mesh.GetFaceVertexCountsAttr().Get()).astype(np.int64)
        indices = _numbers(mesh.GetFaceVertexIndicesAttr().Get()).astype(np.int64)
        starts = np.cumsum(counts) - counts
        starts = starts[(counts == 3) & (starts + 3 <= len(indices))]
        rows = indices[starts[:, None] + np.arange(3)] if len(starts) else np.zeros((0, 3), np.int64)
        return rows, int((counts != 3).sum()), none
    counts = _numbers(prim.GetAttribute("curveVertexCounts").Get()).astype(np.int64)
    starts = np.cumsum(counts) - counts
    rows = [np.stack([first + np.arange(size - 1), first + np.arange(1, size)], axis=1)
            for first, size in zip(starts, counts, strict=True) if size > 1]  # fmt: skip
    curves = np.repeat(np.arange(len(counts)), np.maximum(counts - 1, 0))
    return (np.concatenate(rows) if rows else np.zeros((0, 2), np.int64)), 0, curves
