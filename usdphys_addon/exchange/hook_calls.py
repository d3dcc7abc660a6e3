# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of our hooks Blender's USD calls: standing ones in every export and import, or one that lives for one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import bpy

#: A Blender that was built without USD has no such type.
HookType: Any = getattr(bpy.types, "USDHook", object)
Event = Literal["on_export", "on_import"]

#: Hooks that the preferences keep registered.
_standing: list[Any] = []


def is_standing(hook: Any) -> bool:
    return hook in _standing


def add_standing(hook: Any) -> None:
    bpy.utils.register_class(hook)
    _standing.append(hook)


def remove_standing(hook: Any) -> None:
    if hook in _standing:
        _standing.remove(hook)
        bpy.utils.unregister_class(hook)


@contextmanager
def handled_by(event: Event, handler: Callable[[Any], bool]) -> Iterator[None]:
    """Inside, Blender calls `handler` with its context at this event, and not the standing hook for the same event.

    handler: must not raise; an exception that leaves a hook is lost in Blender's log. Returns True for success.
    """
    members = {
        "bl_idname": f"USDPHYS_{event}_call", "bl_label": "USD Physics", event: staticmethod(handler), "__doc__": "",
    }  # fmt: skip
    hook = type(f"USDPHYS_{event}_call", (HookType,), members)
    suspended = [other for other in _standing if hasattr(other, event)]
    for other in suspended:
        bpy.utils.unregister_class(other)
    bpy.utils.register_class(hook)
    try:
        yield
    finally:
        bpy.utils.unregister_class(hook)
        for other in suspended:
            bpy.utils.register_class(other)
