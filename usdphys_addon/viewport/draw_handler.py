# SPDX-License-Identifier: GPL-3.0-or-later
"""A function that Blender calls with each redraw of a 3D view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ..system import faults


class DrawHandler:
    """Calls the function until it raises. That is told once, because every redraw would fail."""

    def __init__(self, draw: Callable[[], None], event: str) -> None:
        """event: POST_VIEW to draw in the scene, POST_PIXEL to draw on the region."""
        self.failed = False
        self._draw, self._event = draw, event
        self._handle: Any = None

    def register(self) -> None:
        self.failed = False
        if self._handle is None:
            self._handle = bpy.types.SpaceView3D.draw_handler_add(self._call, (), "WINDOW", self._event)

    def unregister(self) -> None:
        if self._handle is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None

    def _call(self) -> None:
        if self.failed:
            return
        try:
            self._draw()
        except Exception:
            self.failed = True
            faults.tell()
