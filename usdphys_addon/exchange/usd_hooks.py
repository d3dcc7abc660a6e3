# SPDX-License-Identifier: GPL-3.0-or-later
"""Standing hooks on Blender's own USD export and import. Their code is imported when Blender calls them."""

from __future__ import annotations

import importlib.util
from typing import Any

from ..bridge import environment
from . import hook_calls
from .hook_calls import HookType


class USDPHYS_ExportHook(HookType):  # type: ignore[misc]
    """Adds physics to every USD export of Blender."""

    bl_idname = "USDPHYS_ExportHook"
    bl_label = "USD Physics Export"
    bl_description = "Writes the physics of the scene as UsdPhysics"

    @staticmethod
    def on_export(export_context: Any) -> bool:
        from . import usd_export

        return usd_export.on_native_export(export_context)


class USDPHYS_ImportHook(HookType):  # type: ignore[misc]
    """Adds physics to every USD import of Blender."""

    bl_idname = "USDPHYS_ImportHook"
    bl_label = "USD Physics Import"
    bl_description = "Reads the physics of imported USD files"

    @staticmethod
    def on_import(import_context: Any) -> bool:
        from . import usd_import

        return usd_import.on_native_import(import_context)


def is_registered(hook: Any) -> bool:
    return hook_calls.is_standing(hook)


def register(hook: Any) -> None:
    """Register a hook. Without USD or its Python modules nothing is done: the next export would abort."""
    if is_registered(hook) or not environment.usd_is_supported():
        return
    environment.expose_pxr()
    if importlib.util.find_spec("pxr") is not None:
        hook_calls.add_standing(hook)


def unregister(hook: Any) -> None:
    hook_calls.remove_standing(hook)
