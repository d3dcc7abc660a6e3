# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that Blender calls at its events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy


class Handlers:
    """Pairs of an event of `bpy.app.handlers` and a function, which stays when another file is loaded."""

    def __init__(self, *pairs: tuple[str, Callable[..., None]]) -> None:
        self._pairs = [(event, bpy.app.handlers.persistent(function)) for event, function in pairs]

    def register(self) -> None:
        for event, function in self._pairs:
            self._functions(event).append(function)

    def unregister(self) -> None:
        for event, function in self._pairs:
            self._functions(event).remove(function)

    @staticmethod
    def _functions(event: str) -> list[Any]:
        functions: list[Any] = getattr(bpy.app.handlers, event)
        return functions
