# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortcuts in object mode for the preview and the pie menu. Users can change them in the preferences."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import bpy

KEYMAP = "Object Mode"
#: (operator, key, properties), all with the keys that are held.
KEYS: tuple[tuple[str, Any, dict[str, str]], ...] = (
    ("usdphys.preview_play", "SPACE", {}),
    ("usdphys.preview_step", "RIGHT_ARROW", {}),
    ("usdphys.preview_reset", "LEFT_ARROW", {}),
    ("usdphys.why", "W", {}),
    ("wm.call_menu_pie", "P", {"name": "USDPHYS_MT_pie"}),
)
#: Keys that are held with each, and what replaces a key that Blender itself has with these.
HELD: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "SHIFT_ALT": ({"shift": True, "alt": True}, {}),
    "SHIFT_CTRL": ({"shift": True, "ctrl": True}, {"SPACE": "RET"}),
}
#: In Windows, Alt and Shift together switch the layout of the keyboard.
DEFAULT = "SHIFT_CTRL" if sys.platform == "win32" else "SHIFT_ALT"
_items: list[tuple[Any, Any]] = []


def register(chosen: str = "") -> None:
    """Add the shortcuts. chosen: of HELD; by default those of the preferences, or of the system."""
    own = bpy.context.preferences.addons.get(__package__ or "")
    held, others = HELD[chosen or getattr(own and own.preferences, "shortcut_keys", DEFAULT)]
    config = bpy.context.window_manager.keyconfigs.addon
    if config is None:  # Blender runs without a window
        return
    keymap = config.keymaps.new(name=KEYMAP, space_type="EMPTY")
    for operator, key, properties in KEYS:
        item = keymap.keymap_items.new(operator, others.get(key, key), "PRESS", **held)
        for name, value in properties.items():
            setattr(item.properties, name, value)
        _items.append((keymap, item))


def hold(preferences: Any, _context: bpy.types.Context | None) -> None:
    """Change all shortcuts to those of the preferences."""
    unregister()
    register(preferences.shortcut_keys)


def unregister() -> None:
    for keymap, item in _items:
        keymap.keymap_items.remove(item)
    _items.clear()


def is_ours(item: Any) -> bool:
    """True for a keymap item that calls one of our operators or menus."""
    return any(
        item.idname == operator
        and all(getattr(item.properties, name, None) == value for name, value in properties.items())
        for operator, _, properties in KEYS
    )


def user_items(context: bpy.types.Context) -> Iterator[tuple[Any, Any]]:
    """(keymap, item) of the user's key configuration, with the user's changes, in the order of KEYS."""
    config = context.window_manager.keyconfigs.user
    keymap = config.keymaps.get(KEYMAP) if config is not None else None
    items: list[Any] = [item for item in keymap.keymap_items if is_ours(item)] if keymap is not None else []
    order = [operator for operator, _, _ in KEYS]
    for item in sorted(items, key=lambda item: order.index(item.idname)):
        yield keymap, item
