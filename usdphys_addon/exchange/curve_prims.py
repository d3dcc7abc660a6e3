# SPDX-License-Identifier: GPL-3.0-or-later
"""Cables among the curves that Blender writes: as thick as they are, and once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..bridge.cable_read import is_cable

if TYPE_CHECKING:
    from pxr import Sdf


def write(layer: Sdf.Layer) -> None:
    """Mend the curves of cables on a layer of Blender's exporter.

    Blender writes a curve with a bevel twice, and the factors of its radius as widths.
    """
    from pxr import Sdf, Vt

    from ..usd.scene_edits import OBJECT_NAME

    if not any(map(is_cable, bpy.data.objects)):
        return
    pending = list(layer.rootPrims)
    with Sdf.ChangeBlock():
        while pending:
            spec = pending.pop()
            pending.extend(spec.nameChildren)
            name = spec.attributes.get(OBJECT_NAME)
            obj = bpy.data.objects.get(str(name.default)) if name is not None else None
            if obj is None or not is_cable(obj):
                continue
            for child in list(spec.nameChildren):
                again = child.attributes.get(OBJECT_NAME)
                if child.typeName == "Xform" and again is not None and again.default == obj.name:
                    pending.remove(child)
                    del spec.nameChildren[child.name]
                elif child.typeName == "BasisCurves":
                    _set_thickness(child, obj.usdphys.cable.thickness)  # type: ignore[attr-defined]
                    points = np.array(child.attributes["points"].default, np.float32)
                    half = obj.usdphys.cable.thickness / 2.0  # type: ignore[attr-defined]
                    box = np.stack([points.min(axis=0) - half, points.max(axis=0) + half])
                    child.attributes["extent"].default = Vt.Vec3fArray.FromNumpy(box)


def _set_thickness(spec: Sdf.PrimSpec, thickness: float) -> None:
    from pxr import Vt

    widths = spec.attributes.get("widths")
    if widths is not None:
        widths.default = Vt.FloatArray([thickness])
        widths.SetInfo("interpolation", "constant")
