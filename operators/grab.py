# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of the preview that the mouse holds: which view is under it, and which body."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import phrase
from ..usdphys_addon.playback import guard as preview_guard
from .outcome import message_of

#: Objects that the view does not show, through which the mouse reaches at most; how far behind each it goes on, as a
#: part of the way so far.
MOST_HIDDEN, BEYOND = 100, 1e-5


class View(NamedTuple):
    """A region that shows the scene, its `RegionView3D`, a place in it, and its `SpaceView3D`."""

    region: Any
    data: Any
    place: tuple[float, float]
    space: Any

    def hit(self, context: Any) -> tuple[Any, Any] | None:
        """(object, point) that is seen at the place; None for nothing."""
        from bpy_extras import view3d_utils

        origin = view3d_utils.region_2d_to_origin_3d(*self[:3])
        direction = view3d_utils.region_2d_to_vector_3d(*self[:3])
        graph, shown, start = context.evaluated_depsgraph_get(), context.view_layer.objects, origin
        for _ in range(MOST_HIDDEN):
            is_hit, point, _, _, obj, _ = context.scene.ray_cast(graph, start, direction)
            if not is_hit or obj is None:
                return None
            # Such as outside of a local view. Blender does not know it of objects inside of instances.
            if shown.get(obj.name) != obj or obj.evaluated_get(graph).visible_in_viewport_get(self.space):
                return obj, point
            start = point + direction * max((point - origin).length * BEYOND, BEYOND)
        return None


def view_under(screen: Any, x: int, y: int) -> View | None:
    """The 3D view under the mouse; None over a sidebar or another region that lies over it. x, y: in the window."""
    for area in screen.areas:
        if area.type != "VIEW_3D":
            continue
        # A hidden region has no size, or that of one pixel.
        found = [
            region for region in area.regions
            if 0 <= x - region.x < region.width and 0 <= y - region.y < region.height
            and min(region.width, region.height) > 1
        ]  # fmt: skip
        if found:
            if any(region.type != "WINDOW" for region in found):
                return None
            # Not that of the space: in a quad view it belongs to one of the four.
            region = found[0]
            return View(region, region.data, (x - region.x, y - region.y), area.spaces.active)
    return None


class Hand:
    """Mix-in of a modal operator: Ctrl drag holds a body of the session."""

    report: Any
    _session: Any = None
    #: Number of the grab; 0 for none.
    _grab = 0

    def take(self, context: Any, event: Any) -> bool:
        """Grab the body under the mouse, or say why it cannot be grabbed. False if nothing there can be moved."""
        under = view_under(context.screen, event.mouse_x, event.mouse_y)
        hit = None if under is None else under.hit(context)
        path = "" if hit is None else self._session.shown.body_at(hit[0].name)
        if under is None or hit is None or not path:
            return False
        leader = preview_guard.timeline()
        if leader is not None and leader.shown != leader.front:
            # What an earlier frame shows is not where the bodies are in the simulation.
            self.report({"WARNING"}, tr(phrase(
                "This frame was simulated before. To grab a body, go to frame {frame}, where the simulation goes on.",
                frame=leader.front,
            )))  # fmt: skip
            return True
        try:
            self._grab = self._session.grab(path, hit[1])
        except KeyError:
            return False
        except InputError as error:
            self.report({"WARNING"}, tr(message_of(error)))
            return True
        self._view, self._point = (under.region, under.data), hit[1].copy()
        return True

    def drag(self, _context: Any, event: Any) -> set[Any]:
        from bpy_extras import view3d_utils

        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._session.release(self._grab)
            self._grab = 0
            return {"RUNNING_MODAL"}
        if event.type == "MOUSEMOVE":
            region, view = self._view
            place = (event.mouse_x - region.x, event.mouse_y - region.y)
            self._session.drag(self._grab, view3d_utils.region_2d_to_location_3d(region, view, place, self._point))
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}
