# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: poll, call the function that does the work, report. Rules of physics and USD are elsewhere."""

from __future__ import annotations

from functools import wraps
from typing import Any

import bpy

from .. import keymap
from ..usdphys_addon.bridge import environment
from ..usdphys_addon.bridge.typed_props import annotate
from ..usdphys_addon.system import faults
from . import (
    action_bar,
    add_physics,
    batch,
    batch_files,
    checks,
    computed_mass,
    edit_lists,
    engine_bake,
    from_rigid_bodies,
    generate,
    gizmo_drag,
    groups,
    inspector,
    joint_freedoms,
    joint_tools,
    manual,
    mirror,
    presets,
    preview,
    report_bug,
    settle,
    structure,
    translations,
    vendor,
)
from .files import export_layer, export_urdf, export_usd, import_urdf, import_usd, pack_source
from .outcome import report_refusals

CLASSES = (
    *action_bar.CLASSES,
    *add_physics.CLASSES,
    *batch.CLASSES,
    *batch_files.CLASSES,
    *checks.CLASSES,
    *computed_mass.CLASSES,
    *engine_bake.CLASSES,
    *groups.CLASSES,
    *export_urdf.CLASSES,
    *export_usd.CLASSES,
    *export_layer.CLASSES,
    *import_urdf.CLASSES,
    *import_usd.CLASSES,
    *inspector.CLASSES,
    *pack_source.CLASSES,
    *joint_freedoms.CLASSES,
    *joint_tools.CLASSES,
    *manual.CLASSES,
    *mirror.CLASSES,
    *from_rigid_bodies.CLASSES,
    *generate.CLASSES,
    *gizmo_drag.CLASSES,
    *edit_lists.CLASSES,
    *presets.CLASSES,
    *preview.CLASSES,
    *report_bug.CLASSES,
    *settle.CLASSES,
    *structure.CLASSES,
    *vendor.CLASSES,
)


def _with_redraw(cls: Any) -> None:
    """Draw panels again after an operator that edits: Blender sends no notifier for properties that a script sets."""
    execute = cls.execute

    @wraps(execute)
    def execute_and_redraw(self: Any, context: bpy.types.Context) -> Any:
        result = execute(self, context)
        environment.redraw("VIEW_3D", "PROPERTIES")
        return result

    cls.execute = execute_and_redraw


for _cls in CLASSES:
    annotate(_cls)
    report_refusals(_cls)
    # The docstring is the tooltip; Blender would show the breaks and the indentation of its lines.
    if _cls.__doc__:
        _cls.__doc__ = " ".join(_cls.__doc__.split())
    if "UNDO" in getattr(_cls, "bl_options", ()):
        _with_redraw(_cls)
    faults.watch(_cls, ("invoke", "execute", "modal"))


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    keymap.register()
    batch.register()
    batch_files.register()
    preview.register()
    manual.register()
    translations.register()
    bpy.types.TOPBAR_MT_file_export.append(export_usd.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.append(export_layer.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.append(export_urdf.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_import.append(import_usd.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_import.append(import_urdf.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_external_data.append(pack_source.draw_menu)  # type: ignore[arg-type]


def unregister() -> None:
    translations.unregister()
    manual.unregister()
    preview.unregister()
    batch_files.unregister()
    batch.unregister()
    keymap.unregister()
    bpy.types.TOPBAR_MT_file_external_data.remove(pack_source.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_import.remove(import_urdf.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_import.remove(import_usd.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.remove(export_urdf.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.remove(export_layer.draw_menu)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.remove(export_usd.draw_menu)  # type: ignore[arg-type]
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
