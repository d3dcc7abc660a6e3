# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of MaterialX, with the surface OpenPBR, that Blender's USD exporter writes beside UsdPreviewSurface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ..core.validate import Issue

if TYPE_CHECKING:
    from pxr import Sdf

#: Option of Blender's exporter.
_OPTION = "generate_materialx_network"
#: Output of a material that its network of MaterialX is connected to.
SURFACE = "outputs:mtlx:surface"


def options(*, wanted: bool) -> dict[str, Any]:
    """Options of Blender's exporter with which it writes MaterialX; none where its build has no such option."""
    operator: Any = bpy.ops.wm.usd_export
    known = operator.get_rna_type().properties
    return {_OPTION: True} if wanted and _OPTION in known else {}


def issues_of(layer: Sdf.Layer) -> list[Issue]:
    """What is to be said of a layer that Blender has written, and that should have MaterialX."""
    pending, shaded = list(layer.rootPrims), ""
    while pending:
        spec = pending.pop()
        if spec.typeName == "Material":
            if SURFACE in spec.attributes:
                return []
            shaded = shaded or (str(spec.path) if "outputs:surface" in spec.attributes else "")
        pending.extend(spec.nameChildren)
    if not shaded:
        return []
    return [Issue(
        "MaterialXMissing", "warning", shaded, "",
        f"The materials have no MaterialX, because this build of Blender {bpy.app.version_string} writes none.",
        "Use a build of Blender with MaterialX, or leave 'MaterialX' out.",
    )]  # fmt: skip
