# SPDX-License-Identifier: GPL-3.0-or-later
"""A box with texts and curves, drawn on the region of a 3D view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Color = tuple[float, ...]
#: Colours of texts that name no curve, and of what has gone wrong.
TEXT, WRONG = (0.92, 0.92, 0.92, 1.0), (1.0, 0.3, 0.3, 1.0)
_BEHIND = (0.0, 0.0, 0.0, 0.6)
#: Pixels at a resolution scale of 1: a box, and the space around it.
WIDTH, HEIGHT, MARGIN = 260, 112, 8
_LINE, _FONT = 15, 0


def draw(
    lines: Sequence[tuple[str, Color]], curves: Sequence[tuple[NDArray[np.float32], Color]], left: float, bottom: float,
    scale: float,
) -> None:  # fmt: skip
    """lines: texts, from the top. curves: two vertices for each line, (n, 2), from (0, 0) to (1, 1). left, bottom: of
    the box, in pixels."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    width, height = WIDTH * scale, HEIGHT * scale
    blend: Any = gpu.state.blend_get()
    gpu.state.blend_set("ALPHA")
    try:
        shader: Any = gpu.shader.from_builtin("UNIFORM_COLOR")
        corners = [(left, bottom), (left + width, bottom), (left, bottom + height), (left + width, bottom + height)]
        shader.bind()
        shader.uniform_float("color", _BEHIND)
        batch_for_shader(shader, "TRI_STRIP", {"pos": corners}).draw(shader)
        room = height - (len(lines) * _LINE + 2 * MARGIN) * scale, width - 2 * MARGIN * scale
        shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
        shader.bind()
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        shader.uniform_float("lineWidth", 1.5 * scale)
        for points, color in curves:
            if len(points):
                placed = points * (room[1], room[0]) + (left + MARGIN * scale, bottom + MARGIN * scale)
                flat = [(x, y, 0.0) for x, y in placed.tolist()]
                shader.uniform_float("color", color)
                batch_for_shader(shader, "LINES", {"pos": flat}).draw(shader)
    finally:
        gpu.state.blend_set(blend)
    _write(lines, left + MARGIN * scale, bottom + height - _LINE * scale, scale)


def _write(lines: Sequence[tuple[str, Color]], left: float, top: float, scale: float) -> None:
    import blf

    blf.size(_FONT, 11.0 * scale)
    for row, (text, color) in enumerate(lines):
        blf.color(_FONT, *color)
        blf.position(_FONT, left, top - row * _LINE * scale, 0.0)
        blf.draw(_FONT, text)
