# SPDX-License-Identifier: GPL-3.0-or-later
"""Standing hooks on Blender's own glTF import and export, by the settings in its dialogs."""

from __future__ import annotations

from collections.abc import Container
from functools import partial
from typing import Any

import bpy
from bpy.types import Scene

from . import gltf_calls, gltf_export, gltf_import, gltf_panels


def _settings() -> Any:
    scene: Any = bpy.context.scene
    return scene.usdphys.gltf


def _put(gltf: Any, scene: Scene) -> gltf_import.GltfImport | None:
    return gltf_import.put_physics(gltf, scene) if _settings().is_imported else None


def _prepare(gltf: Any) -> Container[int]:
    return gltf_import.prepare(gltf) if _settings().is_imported else ()


def _make_job() -> gltf_export.GltfExport | None:
    settings = _settings()
    if not settings.is_exported:
        return None
    addon: Any = bpy.context.preferences.addons.get((__package__ or "").rsplit(".", 2)[0])
    proves = addon is None or addon.preferences is None or bool(addon.preferences.prove_exports)
    return gltf_export.GltfExport(gltf_export.options_of(settings), checks=False, proves=proves)


def extension(name: str) -> Any:
    """What Blender looks for in the root module under a name. Raises AttributeError for other names."""
    if name == gltf_calls.IMPORTER and not gltf_calls.is_suspended():
        return partial(gltf_calls.ImportExtension, _put, _prepare)
    if name == gltf_calls.EXPORTER and not gltf_calls.is_suspended():
        return partial(gltf_calls.ExportExtension, _make_job)
    if name == "draw_import":
        # The import dialog adds it by itself to the panels that it draws; ours is there already.
        return gltf_panels.draw_nothing
    raise AttributeError(name)
