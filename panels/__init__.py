# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: draw properties and cached results, compute nothing."""

from __future__ import annotations

from typing import Any

import bpy

from ..usdphys_addon.system import faults
from . import (
    action_bar_panel,
    batch_panel,
    beside_panel,
    cable_panel,
    checks_panel,
    found_panel,
    inspector_panel,
    joint_tools_panel,
    material_physics,
    object_physics,
    overlays,
    preview_panel,
    scene_physics,
    selection_panel,
    source_changes_panel,
    structure_panel,
)

#: In the order of registration.
_MODULES = (
    selection_panel, action_bar_panel, batch_panel, checks_panel, object_physics, cable_panel,
    scene_physics, material_physics, preview_panel, beside_panel,
    joint_tools_panel, overlays, inspector_panel, structure_panel, found_panel, source_changes_panel,
)  # fmt: skip
CLASSES: tuple[Any, ...] = tuple(cls for module in _MODULES for cls in module.CLASSES)

for _cls in CLASSES:
    # Menus and panels; a list has another signature.
    if issubclass(_cls, bpy.types.Panel | bpy.types.Menu):
        faults.watch(_cls, ("draw", "draw_header"))


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    action_bar_panel.register()
    overlays.register()


def unregister() -> None:
    overlays.unregister()
    action_bar_panel.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
