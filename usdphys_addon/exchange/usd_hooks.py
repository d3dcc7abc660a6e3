# SPDX-License-Identifier: GPL-3.0-or-later
"""The hooks on Blender's USD export and import. Light: what they do is loaded when Blender calls them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ..bridge import environment

#: A Blender that was built without USD has no such type.
_HookBase: Any = getattr(bpy.types, "USDHook", object)


class USDPHYS_ExportHook(_HookBase):  # type: ignore[misc]
    """Adds physics to every USD export of Blender."""

    bl_idname = "USDPHYS_ExportHook"
    bl_label = "USD Physics Export"
    bl_description = "Writes the physics of the scene as UsdPhysics"

    @staticmethod
    def on_export(export_context: Any) -> bool:
        from . import usd_export

        return usd_export.on_export(export_context)


class USDPHYS_ImportHook(_HookBase):  # type: ignore[misc]
    """Adds physics to every USD import of Blender."""

    bl_idname = "USDPHYS_ImportHook"
    bl_label = "USD Physics Import"
    bl_description = "Reads the physics of imported USD files"

    @staticmethod
    def on_import(import_context: Any) -> bool:
        from . import usd_import

        return usd_import.on_import(import_context)


def is_registered(hook: Any) -> bool:
    return bool(getattr(hook, "is_registered", False))


def register(hook: Any) -> None:
    """Nothing where this Blender has no USD, or no Python modules for it: there the next export would abort."""
    if is_registered(hook) or not environment.usd_is_supported():
        return
    environment.expose_pxr()
    if importlib.util.find_spec("pxr") is not None:
        bpy.utils.register_class(hook)


def unregister(hook: Any) -> None:
    if is_registered(hook):
        bpy.utils.unregister_class(hook)


@contextmanager
def registered(hook: Any) -> Iterator[None]:
    """A hook is registered inside, whatever the preferences say."""
    was_registered = is_registered(hook)
    if not was_registered:
        bpy.utils.register_class(hook)
    try:
        yield
    finally:
        if not was_registered:
            bpy.utils.unregister_class(hook)
