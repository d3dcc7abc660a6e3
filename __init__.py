# SPDX-License-Identifier: GPL-3.0-or-later
"""USD Physics: author and export OpenUSD rigid body physics. This module only registers; others are imported late."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

#: In the order of registration; each has register() and unregister().
_MODULES = (
    ".usdphys_addon.worker.jobs",
    ".usdphys_addon.bridge.props",
    ".usdphys_addon.bridge.stored.handlers",
    ".usdphys_addon.bridge.stored.overrides",
    ".usdphys_addon.bridge.joint_ends",
    ".usdphys_addon.bridge.scene_watch",
    ".usdphys_addon.bridge.source_report",
    ".usdphys_addon.playback.guard",
    ".usdphys_addon.viewport.overlay_settings",
    ".usdphys_addon.viewport.readout",
    ".usdphys_addon.viewport.selection",
    ".usdphys_addon.playback.joint_inspector",
    ".usdphys_addon.checks.live",
    ".preferences",
    ".operators",
    ".panels",
    ".usdphys_addon.viewport",
    ".usdphys_addon.exchange.kept_layers",
    ".usdphys_addon.exchange.gltf_panels",
)


#: Names that Blender's glTF importer and exporter look for in this module, at each run.
_GLTF_NAMES = frozenset({"glTF2ImportUserExtension", "glTF2ExportUserExtension", "draw_import"})


def __getattr__(name: str) -> Any:
    if name == "api":  # `from bl_ext.user_default.usdphys_addon import api`
        return import_module(".usdphys_addon.api", __package__)
    if name in _GLTF_NAMES:
        return import_module(".usdphys_addon.exchange.gltf_hooks", __package__).extension(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _modules() -> list[ModuleType]:
    return [import_module(name, __package__) for name in _MODULES]


#: The modules that are registered now, so that a second `unregister` does nothing. Where bpy is a module of Python,
#: two call it: `atexit`, and Blender, which disables its extensions as it ends.
_registered: list[ModuleType] = []


@contextmanager
def _without_collections() -> Iterator[None]:
    """Modules are garbage only when they are unloaded: looking for it while they load takes a fifteenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def register() -> None:
    try:
        with _without_collections():
            for module in _modules():
                module.register()
                _registered.append(module)
    except Exception:
        # Classes left registered would prevent enabling the add-on again.
        unregister()
        raise
    # Blender disables its extensions before it ends. A Python with bpy does not, and that of 4.5 ends with a
    # segmentation fault, or never, where a class is still registered.
    if import_module("bpy").app.module:
        atexit.register(unregister)


def unregister() -> None:
    atexit.unregister(unregister)
    while _registered:
        _registered.pop().unregister()
