# SPDX-License-Identifier: GPL-3.0-or-later
"""Plots of the forces and torques of the selected joints, in a corner of the 3D view while the preview is on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context

from ..bridge.language import tr
from ..simulation.load_history import SECONDS
from . import overlay_settings, overlay_state
from .draw_handler import DrawHandler

if TYPE_CHECKING:
    from ..simulation.load_history import JointLoads

#: Joints that are shown at most, and the part of the view's height that their plots may cover.
MOST, COVERED = 4, 0.5
FORCE, TORQUE = (1.0, 0.62, 0.2, 1.0), (0.35, 0.75, 1.0, 1.0)
_BROKEN, _TEXT, _BEHIND = (1.0, 0.3, 0.3, 1.0), (0.92, 0.92, 0.92, 1.0), (0.0, 0.0, 0.0, 0.6)
#: Pixels at a resolution scale of 1: a plot with its texts, a line of text, and the space around.
_WIDTH, _HEIGHT, _LINE, _MARGIN = 260, 112, 15, 8
_FONT = 0


def of_selected(context: Context, session: Any) -> list[tuple[str, JointLoads]]:
    """The loads of the selected joints by the names of their objects; the active one is the first."""
    if not session.has_joints:
        return []
    by_name: dict[str, JointLoads] = {}
    for name in _selected(context):
        loads = session.loads_of(name) if name not in by_name else None
        if loads is not None:
            by_name[name] = loads
            if len(by_name) == MOST:
                break
    return list(by_name.items())


def rows_in(height: float, scale: float) -> int:
    """How many plots a view of so many pixels has room for; one at least."""
    return min(MOST, max(1, int(COVERED * height / ((_HEIGHT + _MARGIN) * scale))))


def _selected(context: Context) -> Iterable[str]:
    active = context.view_layer.objects.active
    if active is not None and active.select_get():
        yield str(active.name)
    for obj in context.selected_objects:
        yield str(obj.name)


def _draw() -> None:
    context: Any = bpy.context
    session = overlay_state.session_of(context.scene.name)
    settings = overlay_settings.current(context)
    is_shown = context.space_data.overlay.show_overlays and (settings is None or (settings.show and settings.loads))
    if session is None or not is_shown:
        return
    scale = context.preferences.system.ui_scale or 1.0
    # The sidebar lies over the view.
    covered = sum(part.width for part in context.area.regions if part.type == "UI" and part.width > 1)
    left = context.region.width - covered - (_WIDTH + _MARGIN) * scale
    plotted = of_selected(context, session)[: rows_in(context.region.height, scale)]
    for row, (name, loads) in enumerate(plotted):
        _draw_plot(name, loads, left, (_MARGIN + row * (_HEIGHT + _MARGIN)) * scale, scale)


def _draw_plot(name: str, loads: JointLoads, left: float, bottom: float, scale: float) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    from . import load_plot

    width, height = _WIDTH * scale, _HEIGHT * scale
    lines = [(name, _TEXT), *zip(map(tr, load_plot.texts(loads)), (FORCE, TORQUE), strict=True)]
    if loads.broken is not None:
        lines.append((tr(load_plot.break_text(loads.broken)), _BROKEN))
    blend: Any = gpu.state.blend_get()
    gpu.state.blend_set("ALPHA")
    try:
        shader: Any = gpu.shader.from_builtin("UNIFORM_COLOR")
        corners = [(left, bottom), (left + width, bottom), (left, bottom + height), (left + width, bottom + height)]
        shader.bind()
        shader.uniform_float("color", _BEHIND)
        batch_for_shader(shader, "TRI_STRIP", {"pos": corners}).draw(shader)
        plotted = load_plot.curves(loads, SECONDS)
        room = height - (len(lines) * _LINE + 2 * _MARGIN) * scale, width - 2 * _MARGIN * scale
        shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
        shader.bind()
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        shader.uniform_float("lineWidth", 1.5 * scale)
        for points, color in ((plotted.force, FORCE), (plotted.torque, TORQUE), (plotted.broken, _BROKEN)):
            if len(points):
                placed = points * (room[1], room[0]) + (left + _MARGIN * scale, bottom + _MARGIN * scale)
                flat = [(x, y, 0.0) for x, y in placed.tolist()]
                shader.uniform_float("color", color)
                batch_for_shader(shader, "LINES", {"pos": flat}).draw(shader)
    finally:
        gpu.state.blend_set(blend)
    _write(lines, left + _MARGIN * scale, bottom + height - _LINE * scale, scale)


def _write(lines: Sequence[tuple[str, tuple[float, ...]]], left: float, top: float, scale: float) -> None:
    import blf

    blf.size(_FONT, 11.0 * scale)
    for row, (text, color) in enumerate(lines):
        blf.color(_FONT, *color)
        blf.position(_FONT, left, top - row * _LINE * scale, 0.0)
        blf.draw(_FONT, text)


drawing = DrawHandler(_draw, "POST_PIXEL")
register, unregister = drawing.register, drawing.unregister
