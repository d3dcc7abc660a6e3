# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: poll, call the function that does the work, report. Rules of physics and USD are elsewhere."""

from __future__ import annotations

import bpy

from .. import keymap
from . import (
    action_bar,
    batch,
    checks,
    computed_mass,
    edit_lists,
    export_layer,
    export_usd,
    from_rigid_bodies,
    gizmo_drag,
    groups,
    import_usd,
    inspector,
    joint_tools,
    mirror,
    presets,
    preview,
    structure,
)

CLASSES = (
    *action_bar.CLASSES,
    *batch.CLASSES,
    *checks.CLASSES,
    *computed_mass.CLASSES,
    *groups.CLASSES,
    *export_usd.CLASSES,
    *export_layer.CLASSES,
    *import_usd.CLASSES,
    *inspector.CLASSES,
    *joint_tools.CLASSES,
    *mirror.CLASSES,
    *from_rigid_bodies.CLASSES,
    *gizmo_drag.CLASSES,
    *edit_lists.CLASSES,
    *presets.CLASSES,
    *preview.CLASSES,
    *structure.CLASSES,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    keymap.register()
    batch.register()
    bpy.types.TOPBAR_MT_file_export.append(export_usd.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.append(export_layer.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_import.append(import_usd.draw_menu)  # type: ignore[arg-type]


def unregister() -> None:
    batch.unregister()
    keymap.unregister()
    bpy.types.TOPBAR_MT_file_import.remove(import_usd.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.remove(export_layer.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.remove(export_usd.draw_menu)  # type: ignore[arg-type]
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
