# SPDX-License-Identifier: GPL-3.0-or-later
"""What an import made in Blender, by prim path."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy


@dataclass(slots=True)
class ImportedIDs:
    """Objects and materials that Blender made of prims, by prim path."""

    objects: dict[str, bpy.types.Object] = field(default_factory=dict)
    materials: dict[str, bpy.types.Material] = field(default_factory=dict)
