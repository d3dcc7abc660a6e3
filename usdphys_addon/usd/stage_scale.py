# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a stage that Blender has written another metersPerUnit than its exporter can scale by."""

from __future__ import annotations

from pxr import Gf, Usd, UsdGeom

_TRANSLATE, _SCALE, _MATRIX = (
    UsdGeom.XformOp.TypeTranslate, UsdGeom.XformOp.TypeScale, UsdGeom.XformOp.TypeTransform,
)  # fmt: skip


def rescale(stage: Usd.Stage, meters_per_unit: float) -> None:
    """Scale the prims at the top of a stage, and so all others, from its metersPerUnit to this one."""
    factor = UsdGeom.GetStageMetersPerUnit(stage) / meters_per_unit
    for prim in stage.GetPseudoRoot().GetChildren():
        if prim.IsA(UsdGeom.Xformable):
            _scale(UsdGeom.Xformable(prim), factor)
    UsdGeom.SetStageMetersPerUnit(stage, meters_per_unit)


def _scale(prim: UsdGeom.Xformable, factor: float) -> None:
    has_scale = False
    for operation in prim.GetOrderedXformOps():
        kind = operation.GetOpType()
        has_scale |= kind in (_SCALE, _MATRIX)
        if kind not in (_TRANSLATE, _SCALE, _MATRIX):
            continue
        for time in [*map(Usd.TimeCode, operation.GetTimeSamples())] or [Usd.TimeCode.Default()]:
            value = operation.Get(time)
            scaled = value * Gf.Matrix4d().SetScale(factor) if kind == _MATRIX else value * factor
            operation.Set(scaled, time)
    if not has_scale:
        prim.AddScaleOp().Set(Gf.Vec3f(factor))
