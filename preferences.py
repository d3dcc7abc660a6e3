# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences of the add-on, and what they switch on and off: the hook on Blender's own USD export, the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from .usdphys_addon.bridge import environment, usd_hooks

#: With the preference that switches each.
_HOOKS = (
    (usd_hooks.USDPHYS_ExportHook, "add_to_usd_export"),
    (usd_hooks.USDPHYS_ImportHook, "add_to_usd_import"),
)


def _switch_hooks(preferences: Any, _context: Any) -> None:
    """Register the hooks that the preferences ask for, all of them without preferences."""
    for hook, name in _HOOKS:
        if preferences is None or getattr(preferences, name):
            usd_hooks.register(hook)
        else:
            usd_hooks.unregister(hook)


class USDPHYS_Preferences(  # noqa: N801
    bpy.types.AddonPreferences
):
    bl_idname = __package__ or "usdphys_addon"

    if TYPE_CHECKING:
        add_to_usd_export: bool
        add_to_usd_import: bool
    else:
        add_to_usd_export: bpy.props.BoolProperty(
            name="Add Physics to Every USD Export",
            description="File > Export > Universal Scene Description writes the physics of the scene, too",
            default=True,
            update=_switch_hooks,
        )
        add_to_usd_import: bpy.props.BoolProperty(
            name="Read Physics in Every USD Import",
            description="File > Import > Universal Scene Description reads the physics of the file, too",
            default=True,
            update=_switch_hooks,
        )

    def draw(self, _context: bpy.types.Context) -> None:
        layout: Any = self.layout
        layout.use_property_split = True
        if not environment.usd_is_supported():
            layout.label(text="This Blender was built without USD: no export is possible.", icon="ERROR")
            return
        layout.prop(self, "add_to_usd_export")
        layout.prop(self, "add_to_usd_import")


_command: Any = None


def _run_command(arguments: list[str]) -> int:
    from .usdphys_addon import cli

    return cli.main(arguments)


def register() -> None:
    global _command
    bpy.utils.register_class(USDPHYS_Preferences)
    addon = bpy.context.preferences.addons.get(USDPHYS_Preferences.bl_idname) if bpy.context.preferences else None
    _switch_hooks(addon.preferences if addon is not None else None, None)
    _command = bpy.utils.register_cli_command("usdphys", _run_command)


def unregister() -> None:
    global _command
    if _command is not None:
        bpy.utils.unregister_cli_command(_command)
        _command = None
    for hook, _ in _HOOKS:
        usd_hooks.unregister(hook)
    bpy.utils.unregister_class(USDPHYS_Preferences)
