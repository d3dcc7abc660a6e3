# SPDX-License-Identifier: GPL-3.0-or-later
"""The plot of the energy of the scene, in a corner of the 3D view while the preview is on."""

from __future__ import annotations

from typing import Any

import bpy

from ..bridge.language import tr
from ..simulation.energies import SECONDS
from . import overlay_settings, overlay_state, plot_box
from .draw_handler import DrawHandler

KINETIC, HEIGHT = (1.0, 0.62, 0.2, 1.0), (0.35, 0.75, 1.0, 1.0)


def _draw() -> None:
    context: Any = bpy.context
    settings = overlay_settings.current(context)
    if settings is None or not (context.space_data.overlay.show_overlays and settings.show and settings.energy):
        return
    session = overlay_state.session_of(context.scene.name)
    if session is None:
        return
    from . import load_plot, twin_overlay

    scale = context.preferences.system.ui_scale or 1.0
    # The toolbar lies over the view.
    covered = sum(part.width for part in context.area.regions if part.type == "TOOLS" and part.width > 1)
    energies = session.energies
    moving, total = map(tr, load_plot.energy_texts(energies))
    lines = [(tr("Energy"), plot_box.TEXT), (moving, KINETIC), (total, plot_box.TEXT)]
    if energies.first_unstable is not None:
        lines.append((tr(load_plot.unstable_text(energies.first_unstable)), plot_box.WRONG))
    plotted = load_plot.energy_curves(energies, SECONDS)
    curves = [
        (plotted.kinetic, KINETIC), (plotted.height, HEIGHT), (plotted.total, plot_box.TEXT),
        (plotted.unstable, plot_box.WRONG),
    ]  # fmt: skip
    bottom = twin_overlay.legend_height(context, scale) + plot_box.MARGIN * scale
    plot_box.draw(lines, curves, covered + plot_box.MARGIN * scale, bottom, scale)


drawing = DrawHandler(_draw, "POST_PIXEL")
register, unregister = drawing.register, drawing.unregister
