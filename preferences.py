# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences of the add-on, and what they switch on and off: the hook on Blender's own USD export, the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from .usdphys_addon.bridge import environment


def _switch_hook(preferences: Any, _context: Any) -> None:
    from .usdphys_addon.bridge import usd_io

    if preferences.add_to_usd_export:
        usd_io.register_hook()
    else:
        usd_io.unregister_hook()


class USDPHYS_Preferences(  # noqa: N801
    bpy.types.AddonPreferences
):
    bl_idname = __package__ or "usdphys_addon"

    if TYPE_CHECKING:
        add_to_usd_export: bool
    else:
        add_to_usd_export: bpy.props.BoolProperty(
            name="Add Physics to Every USD Export",
            description="File > Export > Universal Scene Description writes the physics of the scene, too",
            default=True,
            update=_switch_hook,
        )

    def draw(self, _context: bpy.types.Context) -> None:
        layout: Any = self.layout
        layout.use_property_split = True
        if not environment.usd_is_supported():
            layout.label(text="This Blender was built without USD: no export is possible.", icon="ERROR")
            return
        layout.prop(self, "add_to_usd_export")


_command: Any = None


def _run_command(arguments: list[str]) -> int:
    from .usdphys_addon import cli

    return cli.main(arguments)


def register() -> None:
    global _command
    bpy.utils.register_class(USDPHYS_Preferences)
    addon = bpy.context.preferences.addons.get(USDPHYS_Preferences.bl_idname) if bpy.context.preferences else None
    if addon is None or addon.preferences is None or addon.preferences.add_to_usd_export:
        from .usdphys_addon.bridge import usd_io

        usd_io.register_hook()
    _command = bpy.utils.register_cli_command("usdphys", _run_command)


def unregister() -> None:
    global _command
    from .usdphys_addon.bridge import usd_io

    if _command is not None:
        bpy.utils.unregister_cli_command(_command)
        _command = None
    usd_io.unregister_hook()
    bpy.utils.unregister_class(USDPHYS_Preferences)
