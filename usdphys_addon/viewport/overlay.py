# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws over the 3D view while the preview runs: joints that broke, in red."""

from __future__ import annotations

import traceback
from typing import Any

import bpy

from ..bridge import preview_guard
from . import draw_data

#: Red, green, blue, opacity.
BROKEN = (1.0, 0.06, 0.06, 1.0)
WIDTH = 3.0

_handler: Any = None
#: A view that cannot be drawn once cannot be drawn ever: it is said once, and nothing is drawn after that.
_failed = False


def _draw() -> None:
    global _failed
    session = preview_guard.current()
    if _failed or session is None or not session.world.broken_joints:
        return
    try:
        context: Any = bpy.context
        if context.space_data.overlay.show_overlays and context.scene.name == session.scene_name:
            _draw_lines(draw_data.broken_joints(session.broken_places))
    except Exception:
        _failed = True
        traceback.print_exc()


def _draw_lines(vertices: draw_data.Vertices) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    context: Any = bpy.context
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": vertices.tolist()})
    _, _, width, height = gpu.state.viewport_get()
    depth: Any = gpu.state.depth_test_get()
    # In front of the bodies: what broke is inside of them more often than not.
    gpu.state.depth_test_set("NONE")
    try:
        shader.bind()
        shader.uniform_float("viewportSize", (width, height))
        shader.uniform_float("lineWidth", WIDTH * context.preferences.system.ui_scale)
        shader.uniform_float("color", BROKEN)
        batch.draw(shader)
    finally:
        gpu.state.depth_test_set(depth)


def register() -> None:
    """Nothing is drawn, and nothing registered, without windows."""
    global _handler, _failed
    _failed = False
    if not bpy.app.background and _handler is None:
        _handler = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")


def unregister() -> None:
    global _handler
    if _handler is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handler, "WINDOW")
        _handler = None
