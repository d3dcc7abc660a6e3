# SPDX-License-Identifier: GPL-3.0-or-later
"""What the bodies weigh that a generator builds on."""

from __future__ import annotations

from bpy.types import Context, Object

from ..bridge import scene_read
from ..core import mass


def mass_of(context: Context, obj: Object) -> float:
    """Mass of a rigid body, kg."""
    context.view_layer.update()
    model = scene_read.read_scene(context.evaluated_depsgraph_get()).model
    path = next(path for path, prim in model.bodies.items() if prim.label == obj.name)
    return mass.mass_properties(model, path).mass
