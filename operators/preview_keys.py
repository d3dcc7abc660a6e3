# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortcuts of the preview, in the 3D view in object mode; users change them in the keymap preferences."""

from __future__ import annotations

from typing import Any

import bpy

#: All with Shift and Alt.
_KEYS: tuple[tuple[str, Any], ...] = (
    ("usdphys.preview_play", "SPACE"),
    ("usdphys.preview_step", "RIGHT_ARROW"),
    ("usdphys.preview_reset", "LEFT_ARROW"),
)
_items: list[tuple[Any, Any]] = []


def register() -> None:
    config = bpy.context.window_manager.keyconfigs.addon  # type: ignore[union-attr]
    if config is None:  # Blender runs without a window
        return
    keymap = config.keymaps.new(name="Object Mode", space_type="EMPTY")
    for operator, key in _KEYS:
        _items.append((keymap, keymap.keymap_items.new(operator, key, "PRESS", shift=True, alt=True)))


def unregister() -> None:
    for keymap, item in _items:
        keymap.keymap_items.remove(item)
    _items.clear()
