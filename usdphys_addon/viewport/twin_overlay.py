# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws what runs beside the preview: ghosts of other engines, and how far all of them agree on each body.

Nothing is added to the scene. Faces are uploaded once for an object, and moved with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Context

from ..bridge.language import tr
from ..playback import beside
from ..playback import guard as preview_guard
from . import overlay, overlay_state
from .draw_handler import DrawHandler

if TYPE_CHECKING:
    from .twin_lines import Row

#: Triangles that are painted; of more, the bodies have signs alone.
MOST_TRIANGLES = 300_000
#: Signs that are drawn.
MOST_SIGNS = 60
#: Pixels at a resolution scale of 1: width of the legend, its lines, the space around, and the width of a sample.
_LINE, _MARGIN, _SAMPLE = 17, 8, 26
_TEXT, _BEHIND, _FONT = (0.92, 0.92, 0.92, 1.0), (0.0, 0.0, 0.0, 0.7), 0
#: (world of the session, drawing of its colliders) and (that world, batches by name of the object), at most one each.
_drawings: list[tuple[Any, Any]] = []
_faces: list[tuple[Any, dict[str, Any]]] = []


def _twins_shown(context: Context) -> Any:
    """The session whose twins are seen in this view; None where there are none, or an earlier frame is shown."""
    space: Any = context.space_data
    scene: Any = context.scene
    if space is None or not space.overlay.show_overlays:
        return None
    session = overlay_state.session_of(scene.name)
    leader = preview_guard.timeline()
    if session is None or session.twins is None or (leader is not None and leader.shown != leader.front):
        return None
    return session


def legend_height(context: Context, scale: float) -> float:
    """Pixels that the legend takes of the lower left corner; 0 without one."""
    session = _twins_shown(context)
    if session is None:
        return 0.0
    from . import twin_lines

    rows = len(twin_lines.rows_of(session.twins, sorted(beside.wanted())))
    return (rows * _LINE + 3 * _MARGIN) * scale if rows else 0.0


def _draw_view() -> None:
    context: Any = bpy.context
    session = _twins_shown(context)
    if session is None:
        _drawings.clear()
        _faces.clear()
        return
    wanted = beside.wanted()
    if beside.CONFIDENCE in wanted:
        _paint(context, session)
    if beside.COMPARE in wanted:
        _draw_ghosts(context, session)


# --------------------------------------------------------------------------- ghosts


def _draw_ghosts(context: Any, session: Any) -> None:
    from . import scene_shapes, twin_lines

    if not _drawings or _drawings[0][0] is not session.world:
        options = scene_shapes.Options(colliders="ALL", joints="NONE")
        known = overlay_state.contents_of_session(context, session)
        drawing = scene_shapes.build(known.model, options, scene_shapes.Seen(), known.carriers)
        _drawings[:] = [(session.world, drawing)]
    width = 1.5 * (context.preferences.system.ui_scale or 1.0)
    for twin in session.twins.twins:
        lines = twin_lines.ghost_lines(_drawings[0][1], session.twins, twin, session.meters)
        if len(lines):
            overlay.draw_plain(lines, twin_lines.color_of(session.twins, twin), width)


# --------------------------------------------------------------------------- confidence


def _paint(context: Any, session: Any) -> None:
    import gpu

    from ..proving.twins import Verdict
    from .twin_lines import COLORS

    if not _faces or _faces[0][0] is not session.world:
        _faces[:] = [(session.world, _batches(context, session))]
    verdicts = session.twins.verdicts()
    kinematic = session.twins.shown.kinematic
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    depth: Any = gpu.state.depth_test_get()
    blend: Any = gpu.state.blend_get()
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_mask_set(False)
    gpu.state.depth_test_set("LESS_EQUAL")
    try:
        with gpu.matrix.push_pop():  # type: ignore[attr-defined]
            overlay.come_nearer(gpu)
            shader.bind()
            for row, verdict in enumerate(verdicts.tolist()):
                shader.uniform_float("color", COLORS[Verdict(verdict)])
                for name, batch in _faces[0][1].get(session.shown.names[row], ()) if not kinematic[row] else ():
                    obj = bpy.data.objects.get(name)
                    if obj is not None and obj.visible_get():
                        with gpu.matrix.push_pop():
                            gpu.matrix.multiply_matrix(obj.matrix_world)
                            batch.draw(shader)
    finally:
        gpu.state.depth_test_set(depth)
        gpu.state.blend_set(blend)


def _batches(context: Any, session: Any) -> dict[str, list[tuple[str, Any]]]:
    """(name of an object, its faces in its own space) of all objects that show a body, by the name of its object."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    from ..bridge import mesh

    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    depsgraph, bodies = context.evaluated_depsgraph_get(), {name for name in session.shown.names if name}
    found: dict[str, list[tuple[str, Any]]] = {}
    left = MOST_TRIANGLES
    for body in bodies:
        for obj in _of_body(body, bodies):
            surface = mesh.read_mesh(obj.evaluated_get(depsgraph), 1.0) if obj.type in mesh.GEOMETRY_TYPES else None
            if surface is None or len(surface.triangles) > left:
                continue
            left -= len(surface.triangles)
            points: Any = surface.points.astype(np.float32)
            triangles: Any = surface.triangles.astype(np.int32)
            batch = batch_for_shader(shader, "TRIS", {"pos": points}, indices=triangles)
            found.setdefault(body, []).append((obj.name, batch))
    return found


def _of_body(name: str, bodies: set[str]) -> Iterator[Any]:
    """The object of a body and its children, but for those of other bodies."""
    obj = bpy.data.objects.get(name)
    if obj is None:
        return
    yield obj
    for child in obj.children:
        if child.name not in bodies:
            yield from _of_body(child.name, bodies)


# --------------------------------------------------------------------------- words


def _draw_region() -> None:
    context: Any = bpy.context
    session = _twins_shown(context)
    if session is None:
        return
    from . import twin_lines

    wanted, scale = beside.wanted(), context.preferences.system.ui_scale or 1.0
    if beside.CONFIDENCE in wanted:
        _draw_signs(context, session, scale)
    _draw_legend(context, twin_lines.rows_of(session.twins, sorted(wanted)), scale)


def _draw_signs(context: Any, session: Any, scale: float) -> None:
    import blf
    from bpy_extras.view3d_utils import location_3d_to_region_2d

    from . import twin_lines

    blf.size(_FONT, 13.0 * scale)
    blf.enable(_FONT, blf.SHADOW)
    blf.shadow(_FONT, 5, 0.0, 0.0, 0.0, 1.0)
    try:
        for place, text, _ in twin_lines.signs(session.twins)[:MOST_SIGNS]:
            at = location_3d_to_region_2d(context.region, context.region_data, place / session.meters)
            if at is not None:
                width, height = blf.dimensions(_FONT, text)
                blf.color(_FONT, 1.0, 1.0, 1.0, 1.0)
                blf.position(_FONT, at[0] - width / 2.0, at[1] - height / 2.0, 0.0)
                blf.draw(_FONT, text)
    finally:
        blf.disable(_FONT, blf.SHADOW)


def _draw_legend(context: Any, rows: list[Row], scale: float) -> None:
    """Colours, signs and words in the lower left corner."""
    import blf
    import gpu
    from gpu_extras.batch import batch_for_shader

    if not rows:
        return
    blf.size(_FONT, 11.0 * scale)
    texts = [tr(row.text) for row in rows]
    line, margin, sample = _LINE * scale, _MARGIN * scale, _SAMPLE * scale
    left = margin + sum(part.width for part in context.area.regions if part.type == "TOOLS" and part.width > 1)
    width = max(blf.dimensions(_FONT, text)[0] for text in texts) + sample + 3 * margin
    height = len(rows) * line + 2 * margin
    shader: Any = gpu.shader.from_builtin("UNIFORM_COLOR")
    blend: Any = gpu.state.blend_get()
    gpu.state.blend_set("ALPHA")
    try:
        shader.bind()

        def fill(x: float, y: float, wide: float, high: float, color: tuple[float, ...]) -> None:
            shader.uniform_float("color", color)
            corners = [(x, y), (x + wide, y), (x, y + high), (x + wide, y + high)]
            batch_for_shader(shader, "TRI_STRIP", {"pos": corners}).draw(shader)

        fill(left, margin, width, height, _BEHIND)
        for number, row in enumerate(rows):
            y = 2 * margin + (len(rows) - 1 - number) * line
            if row.sign in ("- -", "\N{EM DASH}"):
                dashes = ((0.0, 0.4), (0.6, 0.4)) if row.sign == "- -" else ((0.0, 1.0),)
                for start, long in dashes:
                    fill(left + margin + start * sample, y + 0.28 * line, long * sample, 2.0 * scale, row.color)
            else:
                fill(left + margin, y - 0.1 * line, sample, 0.8 * line, (*row.color[:3], 1.0))
    finally:
        gpu.state.blend_set(blend)
    for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
        y = 2 * margin + (len(rows) - 1 - number) * line + 0.1 * line
        blf.color(_FONT, *_TEXT)
        blf.position(_FONT, left + 2 * margin + sample, y, 0.0)
        blf.draw(_FONT, text)
        if row.sign in ("?", "~", "\N{MULTIPLICATION SIGN}"):
            blf.color(_FONT, 0.0, 0.0, 0.0, 1.0)
            blf.position(_FONT, left + margin + (sample - blf.dimensions(_FONT, row.sign)[0]) / 2.0, y, 0.0)
            blf.draw(_FONT, row.sign)


_view = DrawHandler(_draw_view, "POST_VIEW")
_region = DrawHandler(_draw_region, "POST_PIXEL")


def register() -> None:
    _view.register()
    _region.register()


def unregister() -> None:
    _view.unregister()
    _region.unregister()
    _drawings.clear()
    _faces.clear()
