# SPDX-License-Identifier: GPL-3.0-or-later
"""Cables among the curves of Blender: shown as lines that can play points, and written once, as thick as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..bridge.cable_lines import is_cable
from ..bridge.identity import remembered
from ..core import deformables
from ..core.model import Prim
from .import_repair import with_data

if TYPE_CHECKING:
    from pxr import Sdf, Usd

#: Custom properties of the curves of a cable of a file: the normals of its points, and whether it has one width.
_NORMALS, _ONE_WIDTH = "usdphys_normals", "usdphys_one_width"


def show(stage: Usd.Stage, objects: dict[str, Any], prims: Iterable[Prim]) -> None:
    """Replace the hair that Blender makes of cables by curves of straight parts, which modifiers can move.

    objects: by path, changed in place.
    """
    from pxr import UsdGeom

    for prim in prims:
        hair = objects.get(prim.path)
        if deformables.kind_of(prim) != "curves" or hair is None or hair.type != "CURVES":
            continue
        curves = UsdGeom.BasisCurves(stage.GetPrimAtPath(prim.path))
        points, counts = curves.GetPointsAttr().Get(), curves.GetCurveVertexCountsAttr().Get()
        if curves.GetTypeAttr().Get() != UsdGeom.Tokens.linear or not points or sum(counts or ()) != len(points):
            continue
        data: Any = bpy.data.curves.new(hair.name, "CURVE")
        data.dimensions = "3D"
        # Blender writes twice the radius as width, and shows the radius as factor of the bevel.
        widths = np.array(curves.GetWidthsAttr().Get() or [0.0], np.float32)
        data.bevel_depth = 1.0 if widths.any() else 0.0
        radii = widths / 2.0 if len(widths) == len(points) else np.full(len(points), widths.mean() / 2.0, np.float32)
        ends = np.cumsum(counts)[:-1]
        for part, radius in zip(np.split(np.array(points, np.float32), ends), np.split(radii, ends), strict=True):
            spline = data.splines.new("POLY")
            spline.points.add(len(part) - 1)
            spline.points.foreach_set("co", np.c_[part, np.ones(len(part))].ravel())
            spline.points.foreach_set("radius", radius)
        if len(normals := curves.GetNormalsAttr().Get() or ()) == len(points):
            data[_NORMALS] = np.array(normals, float).ravel().tolist()
        data[_ONE_WIDTH] = len(widths) == 1
        old = hair.data
        for material in old.materials:
            data.materials.append(material)
        objects[prim.path] = with_data(hair, data)
        if not old.users:
            bpy.data.hair_curves.remove(old)


def is_line(obj: Any) -> bool:
    """True for a curve object that is a cable, of this scene or of an imported file."""
    return is_cable(obj) or (obj.type == "CURVE" and remembered.type_of(obj) == "BasisCurves")


def write(layer: Sdf.Layer) -> None:
    """Mend the curves of cables on a layer of Blender's exporter.

    Blender writes a curve with a bevel twice, and the factors of its radius as widths.
    """
    from pxr import Sdf, Vt

    from ..usd.scene_edits import OBJECT_NAME

    if not len(bpy.data.curves) or not any(map(is_line, bpy.data.objects)):
        return
    pending = list(layer.rootPrims)
    with Sdf.ChangeBlock():
        while pending:
            spec = pending.pop()
            pending.extend(spec.nameChildren)
            name = spec.attributes.get(OBJECT_NAME)
            obj = bpy.data.objects.get(str(name.default)) if name is not None else None
            if obj is None or not is_line(obj):
                continue
            for child in list(spec.nameChildren):
                again = child.attributes.get(OBJECT_NAME)
                if child.typeName == "Xform" and again is not None and again.default == obj.name:
                    pending.remove(child)
                    del spec.nameChildren[child.name]
                elif child.typeName == "BasisCurves" and is_cable(obj):
                    _set_thickness(child, obj.usdphys.cable.thickness)
                    held = child.attributes.get("points")
                    if held is None or not held.default:
                        continue  # a curve without a spline
                    points = np.array(held.default, np.float32)
                    half = obj.usdphys.cable.thickness / 2.0
                    box = np.stack([points.min(axis=0) - half, points.max(axis=0) + half])
                    child.attributes["extent"].default = Vt.Vec3fArray.FromNumpy(box)
                elif child.typeName == "BasisCurves":
                    _put_back(child, obj.data)


def _put_back(spec: Sdf.PrimSpec, data: Any) -> None:
    """Write what Blender's curves do not hold of those of a file: normals, and one width for all points."""
    from pxr import Sdf, Vt

    for key in (_NORMALS, _ONE_WIDTH):
        if (kept := spec.attributes.get(f"userProperties:{key}")) is not None:
            spec.RemoveProperty(kept)
    widths = spec.attributes.get("widths")
    if data.get(_ONE_WIDTH) and widths is not None and widths.default and len(set(widths.default)) == 1:
        _set_thickness(spec, widths.default[0])
    normals = np.array(data.get(_NORMALS, ()), np.float32).reshape(-1, 3)
    if len(normals) and len(normals) == len(spec.attributes["points"].default):
        item = spec.attributes.get("normals") or Sdf.AttributeSpec(spec, "normals", Sdf.ValueTypeNames.Normal3fArray)
        item.default = Vt.Vec3fArray.FromNumpy(normals)
        item.SetInfo("interpolation", "vertex")


def _set_thickness(spec: Sdf.PrimSpec, thickness: float) -> None:
    from pxr import Vt

    widths = spec.attributes.get("widths")
    if widths is not None:
        widths.default = Vt.FloatArray([thickness])
        widths.SetInfo("interpolation", "constant")
