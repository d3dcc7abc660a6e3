# SPDX-License-Identifier: GPL-3.0-or-later
"""Our panels in the dialogs of Blender's own glTF importer and exporter, while the add-on is enabled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..worker import jobs

#: Name of our panels in the dialogs of io_scene_gltf2.
_PANEL = "usdphys"


def draw_export(context: Any, layout: Any) -> None:
    settings = context.scene.usdphys.gltf
    header, body = layout.panel("USDPHYS_gltf_export", default_closed=False)
    header.use_property_split = False
    header.prop(settings, "is_exported", text="USD Physics")
    if body is not None:
        body.active = settings.is_exported
        body.use_property_split = True
        body.prop(settings, "reader")
        body.prop(settings, "families")
        body.prop(settings, "hierarchy")
        body.prop(settings, "keeps_usd")
        row = body.row()
        row.active = settings.families != "KHR"
        row.prop(settings, "is_for_godot")


def draw_import(context: Any, layout: Any) -> None:
    layout.prop(context.scene.usdphys.gltf, "is_imported", text="USD Physics")


def draw_nothing(_context: Any, _layout: Any) -> None:
    """Stands for our panel where Blender's import dialog adds one by itself."""


def _panels() -> list[tuple[dict[str, Any], Callable[[Any, Any], None]]]:
    module: Any = sys.modules.get("io_scene_gltf2")
    if module is None:
        return []
    return [
        (module.exporter_extension_layout_draw, draw_export), (module.importer_extension_layout_draw, draw_import),
    ]  # fmt: skip


def _add() -> None:
    """Add our panels, once Blender's own add-on is there: it may be enabled after ours."""
    for known, draw in _panels():
        known[_PANEL] = draw


def register() -> None:
    _add()
    if not _panels():
        jobs.call_later(_add, survives=True)


def unregister() -> None:
    jobs.cancel(_add)
    # The import dialog keeps a panel of each add-on under the name of its root module, and never removes it.
    package = __name__.rpartition(".usdphys_addon.")[0]
    for known, _ in _panels():
        known.pop(_PANEL, None)
        known.pop(package, None)
