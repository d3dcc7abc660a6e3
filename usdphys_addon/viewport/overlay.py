# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the overlays in the 3D view: the physics of the scene; while the preview runs, contacts and broken joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Context, PropertyGroup

from ..playback import ghosts
from ..worker import jobs
from . import contact_forces, overlay_settings, overlay_state
from .draw_handler import DrawHandler

if TYPE_CHECKING:
    from . import draw_data

#: Red, green, blue, opacity.
BROKEN = (1.0, 0.06, 0.06, 1.0)
CONTACT = (1.0, 0.35, 0.1, 1.0)
GRABBED = (1.0, 1.0, 1.0, 0.9)
#: Paths of the runs of a search or of variations, and that of the best or chosen one.
GHOST, BEST = (0.55, 0.75, 1.0, 0.6), (1.0, 0.8, 0.15, 1.0)
WIDTH = 3.0
#: Width of the rim of lines, pixels, its opacity, and the opacity of what is behind surfaces.
RIM, RIM_OPACITY, BEHIND = 2.0, 0.35, 0.25
#: Lines are drawn nearer to the viewer by this part of their distance, so that lines on surfaces are visible.
NEARER = 1e-3
#: Length of the arrow of the largest contact force, as a part of the distance from the viewer.
ARROW = 0.06


def _draw() -> None:
    context: Any = bpy.context
    space = context.space_data
    if space is None or not space.overlay.show_overlays:
        return
    _draw_ghosts(context.scene.name)
    settings = overlay_settings.current(context)
    if settings is not None and not settings.show:
        return
    if settings is not None:
        draw_physics(context, space, context.region, context.region_data, settings)
    session = overlay_state.session_of(context.scene.name)
    if session is None:
        return
    from . import draw_data

    if session.broken_joints and (settings is None or settings.broken):
        _draw_lines(draw_data.broken_joints(session.broken_places))
    if session.grabs:
        _draw_lines(draw_data.grab_lines(session.grabs), GRABBED)


drawing = DrawHandler(_draw, "POST_VIEW")


# --------------------------------------------------------------------------- the physics


def draw_physics(context: Context, space: Any, region: Any, view3d: Any, settings: PropertyGroup) -> None:
    """Draw the overlays that the settings choose into the bound 3D view."""
    from . import scene_shapes

    options = overlay_settings.options_of(settings)
    scene = context.scene
    session = overlay_state.session_of(scene.name) if settings.contacts else None
    if options.scopes == {"NONE"} and session is None:
        return
    key = overlay_state.view_key(context, space)
    matrix = view3d.perspective_matrix.copy() if view3d is not None else None
    number = region.as_pointer() if region is not None else 0
    view = None if options.scopes == {"NONE"} else overlay_state.view_of(key, options, number, matrix)
    look = _look(context, settings)
    if view is not None:
        if view.moved or view.batch is None or view.look != look:
            if view.look != look or view.extra is None or not np.array_equal(view.extra[0], view.colors):
                colors = scene_shapes.palette(dict(look[0]), look[1])
                view.extra = view.colors, view.drawing.vertex_colors(colors, view.colors)
            inside = None if settings.use_xray else view.drawing.vertices_of(view.colors, scene_shapes.OF_JOINTS)
            view.batch = _batches(view.positions, view.extra[1], True, inside)
            view.moved, view.look = False, look
        draw_batches(view.batch, look[2])
    if session is not None:
        _draw_contacts(scene.name, view3d, session.meters, look[2])


def _look(context: Context, settings: PropertyGroup) -> tuple[Any, ...]:
    """(preference colours, True for a light background, line width, X-ray): a change means new colours and widths."""
    own = tuple((index, color) for index, color in own_colors(context).items())
    # Without a window there is no scale.
    width = settings.line_width * (context.preferences.system.ui_scale or 1.0)
    return own, _is_light(context), width, settings.use_xray


def own_colors(context: Context) -> dict[int, tuple[float, ...]]:
    """Colours of the add-on's preferences by colour index; empty without preferences."""
    from . import scene_shapes

    preferences = _preferences(context)
    names = {
        scene_shapes.DYNAMIC: "overlay_dynamic", scene_shapes.STATIC: "overlay_static",
        scene_shapes.KINEMATIC: "overlay_kinematic", scene_shapes.JOINT: "overlay_joint",
    }  # fmt: skip
    colors = {index: getattr(preferences, name, None) for index, name in names.items()}
    return {index: tuple(color) for index, color in colors.items() if color is not None and len(color) == 4}


def _preferences(context: Context) -> Any:
    addon = context.preferences.addons.get((__package__ or "").rsplit(".", 2)[0])
    return addon.preferences if addon is not None else None


def _is_light(context: Context) -> bool:
    """True where the theme has a light background behind the scene."""
    themes = context.preferences.themes
    color = themes[0].view_3d.space.gradients.high_gradient if len(themes) else (0.0, 0.0, 0.0)
    return bool(0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2] > 0.5)


def _batches(positions: Any, colors: Any, both: bool, inside: Any = None) -> tuple[Any, Any]:
    """(batch, second batch for lines behind surfaces or None). inside: mask of the vertices of the second one."""
    front = _batch(positions, colors)
    if not both or (inside is not None and not inside.any()):
        return front, None
    faint = colors if inside is None else colors[inside]
    faint = faint.copy()
    faint[:, 3] *= BEHIND
    return front, _batch(positions if inside is None else positions[inside], faint)


def _batch(positions: Any, colors: Any) -> Any:
    from gpu.types import GPUBatch, GPUVertBuf

    buffer: Any = GPUVertBuf(_format(), len(positions))
    buffer.attr_fill("pos", positions)
    buffer.attr_fill("color", colors)
    return GPUBatch(type="LINES", buf=buffer)


def _format() -> Any:
    from gpu.types import GPUVertFormat

    made: Any = GPUVertFormat()
    made.attr_add(id="pos", comp_type="F32", len=3, fetch_mode="FLOAT")
    made.attr_add(id="color", comp_type="F32", len=4, fetch_mode="FLOAT")
    return made


def draw_batches(batches: tuple[Any, Any], width: float, *, has_rim: bool = True) -> None:
    """Draw lines with a rim and a depth test; the second batch is drawn behind surfaces."""
    import gpu

    front, behind = batches
    depth: Any = gpu.state.depth_test_get()
    blend: Any = gpu.state.blend_get()
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_mask_set(False)
    try:
        with gpu.matrix.push_pop():  # type: ignore[attr-defined]
            come_nearer(gpu)
            gpu.state.depth_test_set("LESS_EQUAL")
            if has_rim:
                _stroke(gpu, front, width + RIM, (0.0, 0.0, 0.0, RIM_OPACITY))
            if behind is not None:
                gpu.state.depth_test_set("GREATER")
                _stroke(gpu, behind, width, None)
                gpu.state.depth_test_set("LESS_EQUAL")
            _stroke(gpu, front, width, None)
    finally:
        gpu.state.depth_test_set(depth)
        gpu.state.blend_set(blend)


def come_nearer(gpu: Any) -> None:
    """Projection that moves points a little nearer to the viewer without moving them on the screen."""
    from mathutils import Matrix

    projection = gpu.matrix.get_projection_matrix()
    view = gpu.matrix.get_model_view_matrix()
    if projection[3][3] == 0.0:
        gpu.matrix.load_matrix(Matrix.Scale(1.0 - NEARER, 4) @ view)
    else:
        # An orthographic view has no distance to the viewer: use a part of the visible width.
        gpu.matrix.load_matrix(Matrix.Translation((0.0, 0.0, 2.0 * NEARER / abs(projection[1][1] or 1.0))) @ view)


def draw_plain(lines: Any, color: tuple[float, ...], width: float) -> None:
    """Draw lines (2 n, 3) in one colour, those behind surfaces fainter."""
    draw_batches(_batches(lines, np.tile(np.array(color, np.float32), (len(lines), 1)), True), width)


def _stroke(gpu: Any, batch: Any, width: float, color: tuple[float, ...] | None) -> None:
    """Draw lines in their own colours, or in one."""
    shader = gpu.shader.from_builtin("POLYLINE_FLAT_COLOR" if color is None else "POLYLINE_UNIFORM_COLOR")
    _, _, across, up = gpu.state.viewport_get()
    shader.bind()
    shader.uniform_float("viewportSize", (across, up))
    shader.uniform_float("lineWidth", width)
    if color is not None:
        shader.uniform_float("color", color)
    batch.draw(shader)


# --------------------------------------------------------------------------- aims and variations

#: (ghosts, their change, batches of the others and of the best) of the last redraw, at most one.
_shown_ghosts: list[tuple[Any, int, Any, Any]] = []


def _draw_ghosts(name: str) -> None:
    family = ghosts.current()
    if family is None or family.scene_name != name or not family.ways:
        _shown_ghosts.clear()
        return
    from .ghost_lines import ghost_lines

    if not _shown_ghosts or _shown_ghosts[0][0] is not family or _shown_ghosts[0][1] != family.change:
        others, best = (
            _batches(lines, np.tile(np.array(color, np.float32), (len(lines), 1)), True) if len(lines) else None
            for lines, color in zip(ghost_lines(family.ways, family.best), (GHOST, BEST), strict=True)
        )
        _shown_ghosts[:] = [(family, family.change, others, best)]
    _, _, others, best = _shown_ghosts[0]
    scale = bpy.context.preferences.system.ui_scale or 1.0
    if others is not None:
        draw_batches(others, scale, has_rim=False)
    if best is not None:
        draw_batches(best, WIDTH * scale)


# --------------------------------------------------------------------------- while the preview runs


def _draw_contacts(name: str, view3d: Any, meters: float, width: float) -> None:
    """A small cross at each contact, and an arrow as long as the force there; the longest is so in every view."""
    from . import draw_data

    contacts = contact_forces.touching(name)
    if contacts is None or not len(contacts.points):
        return
    distance = view3d.view_distance if view3d is not None else 10.0
    lines = draw_data.contact_lines(contacts.points / meters, contacts.normals, contacts.forces, ARROW * distance)
    colors = np.tile(np.array(CONTACT, np.float32), (len(lines), 1))
    # A floor pushes up: the arrow is inside of what it carries.
    seen = _batch(lines, colors)
    draw_batches((seen, seen), width)


def _draw_lines(vertices: draw_data.Vertices, color: tuple[float, ...] | None = None) -> None:
    """Draw lines in front of everything. color: that of broken joints if None."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    context: Any = bpy.context
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": vertices.tolist()})
    _, _, width, height = gpu.state.viewport_get()
    depth: Any = gpu.state.depth_test_get()
    # Drawn in front of the bodies: joints are often inside of them.
    gpu.state.depth_test_set("NONE")
    try:
        shader.bind()
        shader.uniform_float("viewportSize", (width, height))
        shader.uniform_float("lineWidth", WIDTH * context.preferences.system.ui_scale)
        shader.uniform_float("color", color or tuple(getattr(_preferences(context), "overlay_broken", BROKEN)))
        batch.draw(shader)
    finally:
        gpu.state.depth_test_set(depth)


def register() -> None:
    """Register the draw handler."""
    overlay_state.register()
    jobs.on_load.append(ghosts.drop)
    drawing.register()


def unregister() -> None:
    drawing.unregister()
    jobs.on_load.remove(ghosts.drop)
    ghosts.drop()
    contact_forces.forget()
    _shown_ghosts.clear()
    overlay_state.unregister()
