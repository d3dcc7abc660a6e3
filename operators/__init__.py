# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: poll, call the bridge, report. No rules of physics or USD here."""

from __future__ import annotations

import bpy

from . import (
    computed_mass,
    edit_lists,
    export_layer,
    export_usd,
    from_rigid_bodies,
    groups,
    import_usd,
    preview,
    preview_keys,
)

CLASSES = (
    *computed_mass.CLASSES,
    *groups.CLASSES,
    *export_usd.CLASSES,
    *export_layer.CLASSES,
    *import_usd.CLASSES,
    *from_rigid_bodies.CLASSES,
    *edit_lists.CLASSES,
    *preview.CLASSES,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    preview_keys.register()
    bpy.types.TOPBAR_MT_file_export.append(export_usd.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.append(export_layer.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_import.append(import_usd.draw_menu)  # type: ignore[arg-type]


def unregister() -> None:
    preview_keys.unregister()
    bpy.types.TOPBAR_MT_file_import.remove(import_usd.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.remove(export_layer.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.remove(export_usd.draw_menu)  # type: ignore[arg-type]
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
