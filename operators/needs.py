# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator needs before it can be used: tests of the context, each with what Blender says where it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ..usdphys_addon.bridge import environment
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.playback import guard as preview_guard
from ..usdphys_addon.system.files import USD_SUFFIXES

Need = tuple[Callable[[bpy.types.Context], Any], str]

SCENE: Need = (lambda context: context.scene is not None, "There is no scene")
#: In edit mode the mesh data lags behind the edits.
OBJECT_MODE: Need = (lambda context: context.mode == "OBJECT", "Switch to Object Mode first")
#: A preview shows other poses than the authored ones.
AT_REST: Need = (lambda _context: preview_guard.current() is None, "Reset the preview first")
IN_PREVIEW: Need = (
    lambda _context: preview_guard.current() is not None, "The preview is not running; press Play first"
)  # fmt: skip
USD: Need = (lambda _context: environment.usd_is_supported(), environment.NO_USD)
IMPORTED_USD: Need = (
    lambda context: context.scene.usdphys.source.filepath.lower().endswith(USD_SUFFIXES),
    "This scene was not imported with File > Import > USD Physics",
)


def selected(least: int, text: str) -> Need:
    """At least so many selected objects."""
    return lambda context: len(context.selected_objects) >= least, text


def chosen(context: bpy.types.Context) -> list[Any]:
    """The selected objects, and the active one, which the panel shows."""
    objects = list(context.selected_objects)
    if context.object is not None and context.object not in objects:
        objects.append(context.object)
    return objects


ONE_OBJECT = selected(1, "Select one or more objects first")


def are_met(cls: Any, context: bpy.types.Context, *needs: Need) -> bool:
    """Whether an operator has all that it needs; Blender shows the text of the first that fails."""
    for test, text in needs:
        if not test(context):
            cls.poll_message_set(tr(text))
            return False
    return True


def poll(*needs: Need) -> Any:
    """The poll of an operator that has these needs."""

    def meets_needs(cls: Any, context: bpy.types.Context) -> bool:
        return are_met(cls, context, *needs)

    return classmethod(meets_needs)
