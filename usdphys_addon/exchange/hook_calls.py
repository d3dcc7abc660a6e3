# SPDX-License-Identifier: GPL-3.0-or-later
"""Register hooks of Blender's USD export and import: standing ones for every call, or one for a single call."""

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
    """Within the block, Blender calls `handler` at this event, in place of the standing hook.

    handler: must not raise; an exception that leaves a hook is lost in Blender's log. Returns True for success.
    """
    # A class is freed by the garbage collector only, so it does not hold what the handler holds.
    handlers = [handler]
    members = {
        "bl_idname": f"USDPHYS_{event}_call", "bl_label": "USD Physics",
        event: staticmethod(lambda call: handlers[0](call)), "__doc__": "",
    }  # fmt: skip
    hook = type(f"USDPHYS_{event}_call", (HookType,), members)
    suspended = [other for other in _standing if hasattr(other, event)]
    for other in suspended:
        bpy.utils.unregister_class(other)
    bpy.utils.register_class(hook)
    try:
        yield
    finally:
        handlers.clear()
        bpy.utils.unregister_class(hook)
        for other in suspended:
            bpy.utils.register_class(other)
