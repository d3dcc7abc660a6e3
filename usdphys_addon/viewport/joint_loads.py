# SPDX-License-Identifier: GPL-3.0-or-later
"""Plots of the forces and torques of the selected joints, in a corner of the 3D view while the preview is on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context

from ..bridge.language import tr
from ..simulation.load_history import SECONDS
from . import overlay_settings, overlay_state, plot_box
from .draw_handler import DrawHandler

if TYPE_CHECKING:
    from ..simulation.load_history import JointLoads

#: Joints that are shown at most, and the part of the view's height that their plots may cover.
MOST, COVERED = 4, 0.5
FORCE, TORQUE = (1.0, 0.62, 0.2, 1.0), (0.35, 0.75, 1.0, 1.0)


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


def plotted(context: Context, session: Any) -> list[tuple[str, JointLoads]]:
    """Those of which something has been measured: nothing before the first time step, or while joints are posed."""
    return [(name, loads) for name, loads in of_selected(context, session) if loads.values]


def rows_in(height: float, scale: float) -> int:
    """How many plots a view of so many pixels has room for; one at least."""
    return min(MOST, max(1, int(COVERED * height / ((plot_box.HEIGHT + plot_box.MARGIN) * scale))))


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
    left = context.region.width - covered - (plot_box.WIDTH + plot_box.MARGIN) * scale
    shown = plotted(context, session)[: rows_in(context.region.height, scale)]
    for row, (name, loads) in enumerate(shown):
        _draw_plot(name, loads, left, (plot_box.MARGIN + row * (plot_box.HEIGHT + plot_box.MARGIN)) * scale, scale)


def _draw_plot(name: str, loads: JointLoads, left: float, bottom: float, scale: float) -> None:
    from . import load_plot

    lines = [(name, plot_box.TEXT), *zip(map(tr, load_plot.texts(loads)), (FORCE, TORQUE), strict=True)]
    if loads.broken is not None:
        lines.append((tr(load_plot.break_text(loads.broken)), plot_box.WRONG))
    plotted = load_plot.curves(loads, SECONDS)
    curves = [(plotted.force, FORCE), (plotted.torque, TORQUE), (plotted.broken, plot_box.WRONG)]
    plot_box.draw(lines, curves, left, bottom, scale)


drawing = DrawHandler(_draw, "POST_PIXEL")
register, unregister = drawing.register, drawing.unregister
