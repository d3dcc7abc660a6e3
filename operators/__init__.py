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
    aim,
    batch,
    batch_files,
    beside,
    checks,
    computed_mass,
    edit_lists,
    find_setting,
    from_rigid_bodies,
    generate,
    gizmo_drag,
    groups,
    inspector,
    joint_freedoms,
    joint_tools,
    library,
    manual,
    mirror,
    presets,
    preview,
    prove,
    report_bug,
    select_object,
    settle,
    source_changes,
    structure,
    translations,
    velocity_keys,
    vendor,
)
from .files import (
    export_layer,
    export_mjcf,
    export_unreal,
    export_urdf,
    export_usd,
    import_mjcf,
    import_sdf,
    import_urdf,
    import_usd,
    pack_source,
)
from .outcome import report_refusals

#: In the order of registration.
_MODULES = (
    action_bar, add_physics, aim, batch, batch_files, beside, checks, computed_mass, groups, export_urdf,
    export_usd, export_layer, export_mjcf, export_unreal, import_mjcf, import_sdf, import_urdf, import_usd,
    inspector, joint_freedoms, joint_tools, library, manual, mirror,
    from_rigid_bodies, pack_source, generate, gizmo_drag, edit_lists, find_setting, presets, preview, prove,
    report_bug, select_object, settle, source_changes, structure, vendor, velocity_keys,
)  # fmt: skip
CLASSES: tuple[Any, ...] = tuple(cls for module in _MODULES for cls in module.CLASSES)
_MENUS = {
    "TOPBAR_MT_file_export": (export_usd, export_layer, export_urdf, export_mjcf, export_unreal),
    "TOPBAR_MT_file_import": (import_usd, import_urdf, import_mjcf, import_sdf),
    "TOPBAR_MT_file_external_data": (pack_source,),
}
#: Those that do more than to have classes.
_REGISTERED = (keymap, batch, batch_files, beside, preview, prove, manual, translations)


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
    for module in _REGISTERED:
        module.register()
    for menu, entries in _MENUS.items():
        for entry in entries:
            getattr(bpy.types, menu).append(entry.draw_menu)


def unregister() -> None:
    for menu, entries in _MENUS.items():
        for entry in entries:
            getattr(bpy.types, menu).remove(entry.draw_menu)
    for module in reversed(_REGISTERED):
        module.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
