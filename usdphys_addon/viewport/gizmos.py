# SPDX-License-Identifier: GPL-3.0-or-later
"""Gizmos in the 3D view that draw the handles of the active object's physics.

`object_handles` reads the properties, `handle_edits` writes the result of a drag, `handles` computes positions and
values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Context

from ..bridge import props
from ..playback import guard as preview_guard
from ..system import faults
from . import handles
from .handle_edits import is_editable
from .handles import Handle
from .object_handles import shown_for
from .shown_handles import REACH, Shown, view_of

if TYPE_CHECKING:
    from .handles import Array

#: Operator that starts when a handle is pressed.
DRAG_OPERATOR = "usdphys.drag_handle"
#: Labels of the handles that a view has shown, by key, for their tooltips.
labels: dict[str, str] = {}
#: Pixels: radius of a handle.
_DOT = 5.5
#: Tools of Blender that have gizmos themselves; start of the names of Blender's transform operators.
_OTHER_TOOLS = frozenset({"builtin.move", "builtin.rotate", "builtin.scale", "builtin.scale_cage", "builtin.transform"})
_TRANSFORM = "TRANSFORM_OT_"
#: Red, green, blue by role.
COLOURS: dict[str, tuple[float, float, float]] = {
    "size": (0.1, 0.88, 0.74), "offset": (1.0, 0.93, 0.55), "mass": (0.86, 0.42, 1.0), "lower": (1.0, 0.55, 0.1),
    "upper": (0.55, 0.8, 1.0), "cone": (0.2, 0.74, 0.95), "cone2": (0.38, 0.52, 1.0), "drive": (1.0, 0.8, 0.1),
    "frame": (0.95, 0.55, 0.75), "inertia": (0.78, 0.62, 1.0), "plain": (0.85, 0.85, 0.85),
}  # fmt: skip
#: Shapes by role; the others are round. Limits are told apart without their colours.
_SHAPES = {
    "lower": "down",
    "upper": "up",
    "offset": "diamond",
    "mass": "diamond",
    "frame": "diamond",
    "drive": "square",
    "inertia": "square",
}


def is_wanted(context: Context) -> bool:
    """True if the handles of the active object should be visible: no other tool, playback or preview is active."""
    obj = context.object
    if obj is None or context.mode != "OBJECT" or preview_guard.current() is not None:
        return False
    if not props.is_physical(obj) or not is_editable(obj) or not obj.visible_get():
        return False
    space = context.space_data
    if (
        space is not None
        and space.type == "VIEW_3D"
        and not (space.show_gizmo and space.show_gizmo_context and obj.visible_in_viewport_get(space))
    ):
        return False
    window, screen = context.window, context.screen
    if screen is not None and screen.is_animation_playing:
        return False
    if window is not None and any(running.bl_idname.startswith(_TRANSFORM) for running in window.modal_operators):
        return False
    tool = context.workspace.tools.from_space_view3d_mode("OBJECT", create=False) if context.workspace else None
    return tool is None or tool.idname not in _OTHER_TOOLS


# --------------------------------------------------------------------------- drawing


def _vertices(points: Array) -> Any:
    return np.ascontiguousarray(points, np.float32)


def _draw_lines(points: Array, colour: tuple[float, ...], width: float) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": _vertices(points)})
    _, _, across, along = gpu.state.viewport_get()
    shader.bind()
    shader.uniform_float("viewportSize", (across, along))
    shader.uniform_float("lineWidth", width)
    shader.uniform_float("color", colour)
    batch.draw(shader)


def _draw_surface(points: Array, colour: tuple[float, ...]) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    batch = batch_for_shader(shader, "TRIS", {"pos": _vertices(points)})
    shader.bind()
    shader.uniform_float("color", colour)
    batch.draw(shader)


def _draw_guides(shown: Shown) -> None:
    for guide in shown.guides:
        if guide.is_surface:
            _draw_surface(guide.points, (*COLOURS[guide.role], 0.12))
    pixel = shown.pixel
    for guide in shown.guides:
        if not guide.is_surface:
            # A dark line below a light one is visible on any background.
            _draw_lines(guide.points, (0.0, 0.0, 0.0, 0.65), 3.2 * pixel)
    for guide in shown.guides:
        if not guide.is_surface:
            _draw_lines(guide.points, (*COLOURS[guide.role], 1.0), 1.4 * pixel)


_DARK = (0.06, 0.06, 0.06, 1.0)
_OUTLINES = {
    "round": [(math.cos(turn), math.sin(turn)) for turn in np.linspace(0.0, 2.0 * math.pi, 25)],
    "square": [(0.85, 0.85), (-0.85, 0.85), (-0.85, -0.85), (0.85, -0.85), (0.85, 0.85)],
    "up": [(1.1, -0.75), (0.0, 1.15), (-1.1, -0.75), (1.1, -0.75)],
    "down": [(1.1, 0.75), (-1.1, 0.75), (0.0, -1.15), (1.1, 0.75)],
    "diamond": [(1.15, 0.0), (0.0, 1.15), (-1.15, 0.0), (0.0, -1.15), (1.15, 0.0)],
}


def _draw_handle(shown: Shown, handle: Handle, is_hot: bool) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    view, place = shown.view, handle.point(shown.view)
    colour = np.array(COLOURS[handle.role])
    if is_hot:
        colour = colour + (1.0 - colour) * 0.45
    size = _DOT * (1.3 if is_hot else 1.0)
    # A dark rim is visible on any background. A value that is not authored is drawn as a ring.
    layers = [(size + 1.6, _DARK), (size, (*colour.tolist(), 1.0))]
    if not handle.is_set and not is_hot:
        layers.append((size - 2.2, _DARK))
    pixel, outline = shown.length(1.0, place), np.array(_OUTLINES[_SHAPES.get(handle.role, "round")])
    points, colours = [], []
    for radius, filled in layers:
        where, alphas = handles.blob(place, view, outline, radius * pixel, view.pixel_size(place))
        points.append(where)
        colours.append(np.concatenate((np.broadcast_to(filled[:3], (len(where), 3)), alphas[:, None]), axis=1))
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    content = {"pos": _vertices(np.concatenate(points)), "color": _vertices(np.concatenate(colours))}
    batch = batch_for_shader(shader, "TRIS", content)
    shader.bind()
    batch.draw(shader)


class _Drawn:
    """Mix-in of the add-on's gizmos."""

    #: Set by the gizmo group before each drawing.
    shown: Shown | None = None
    key = ""

    def paint(self, shown: Shown) -> None:
        raise NotImplementedError

    def draw(self, _context: Context) -> None:
        shown = self.shown
        if shown is None or failures.has_failed:
            return
        import gpu

        depth: Any = gpu.state.depth_test_get()
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("ALPHA")
        try:
            self.paint(shown)
        except Exception:
            failures.fail("")
        finally:
            gpu.state.blend_set("NONE")
            gpu.state.depth_test_set(depth)


class USDPHYS_GT_guides(_Drawn, bpy.types.Gizmo):
    """The lines between the handles; they cannot be selected."""

    bl_idname = "USDPHYS_GT_guides"

    def paint(self, shown: Shown) -> None:
        _draw_guides(shown)

    def test_select(self, _context: Context, _location: Any) -> int:
        return -1


class USDPHYS_GT_handle(_Drawn, bpy.types.Gizmo):
    """One handle."""

    bl_idname = "USDPHYS_GT_handle"

    def paint(self, shown: Shown) -> None:
        for handle in shown.handles:
            if handle.key == self.key:
                _draw_handle(shown, handle, self.is_highlight or self.is_modal)

    def test_select(self, _context: Context, location: Any) -> int:
        shown = self.shown
        if shown is None or failures.has_failed:
            return -1
        free = [handle for handle in shown.handles if not handle.faces_viewer(shown.view)]
        nearest = handles.nearest(free, shown.view, location, REACH * shown.pixel)
        return 0 if nearest is not None and nearest.key == self.key else -1


class _Failures:
    """Objects whose handles failed: the traceback is printed once, and they are not tried again."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.has_failed = False
        self.objects: set[str] = set()

    def fail(self, name: str) -> None:
        """Print the current exception. name: of the object; empty if drawing itself failed, which hides all handles."""
        faults.tell()
        if name:
            self.objects.add(name)
        else:
            self.has_failed = True


#: Failures since the handles were registered.
failures = _Failures()


class USDPHYS_GGT_handles(bpy.types.GizmoGroup):
    """The handles of the active object's physics."""

    bl_idname = "USDPHYS_GGT_handles"
    bl_label = "USD Physics Handles"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return not failures.has_failed and is_wanted(context) and context.object.name not in failures.objects

    def setup(self, _context: Context) -> None:
        self.by_key: dict[str, Any] = {}
        guides: Any = self.gizmos.new(USDPHYS_GT_guides.bl_idname)
        guides.use_draw_modal, guides.shown = True, None
        self.guides: Any = guides

    def draw_prepare(self, context: Context) -> None:
        shown = None
        try:
            shown = shown_for(context, context.object, view_of(context))
        except Exception:
            failures.fail(context.object.name)
        self.guides.shown = shown
        seen = [] if shown is None else [item for item in shown.handles if not item.faces_viewer(shown.view)]
        for handle in seen:
            if handle.key not in self.by_key:
                self.by_key[handle.key] = self.add(handle)
        keys = {handle.key for handle in seen}
        for key, gizmo in self.by_key.items():
            gizmo.shown, gizmo.hide = shown, key not in keys

    def add(self, handle: Handle) -> Any:
        gizmo: Any = self.gizmos.new(USDPHYS_GT_handle.bl_idname)
        gizmo.use_draw_modal = True
        gizmo.shown, gizmo.key = None, handle.key
        gizmo.target_set_operator(DRAG_OPERATOR).handle = handle.key
        labels[handle.key] = handle.label
        return gizmo


CLASSES = (USDPHYS_GT_guides, USDPHYS_GT_handle, USDPHYS_GGT_handles)


def register() -> None:
    failures.forget()
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
