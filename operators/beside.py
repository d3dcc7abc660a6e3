# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a body moves otherwise in what runs beside the preview."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.environment import redraw
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import StringProperty
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import joined
from ..usdphys_addon.playback import guard as preview_guard
from . import needs

#: What was asked last: (world of the session, row of the body).
_asked: list[tuple[Any, int]] = []


def _has_twins(_context: bpy.types.Context) -> bool:
    session = preview_guard.current()
    return session is not None and session.twins is not None


def asked(session: Any) -> int | None:
    """The body that was asked about in this session, as a row of its world; None if none was."""
    return _asked[0][1] if _asked and _asked[0][0] is session.world else None


class USDPHYS_OT_why(bpy.types.Operator):
    """Say why a body moves otherwise in what runs beside the preview, and select it: the active object, or the one \
that parts first"""

    bl_idname = "usdphys.why"
    bl_label = "Why"
    bl_options = {"REGISTER"}

    name = StringProperty(
        name="Object", description="Object of the body; empty: the active one, or that of the body that parts first",
        options={"SKIP_SAVE"},
    )  # fmt: skip

    poll = needs.poll(needs.IN_PREVIEW, (_has_twins, "Switch on Compare or Confidence first"))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        session = preview_guard.current()
        twins = None if session is None else session.twins
        if session is None or twins is None:
            return {"CANCELLED"}
        row = self._row(context, session, twins)
        _asked[:] = [(session.world, row)]
        obj = bpy.data.objects.get(session.shown.names[row])
        if obj is not None and obj.name in context.view_layer.objects:
            for other in context.selected_objects:
                other.select_set(False)
            obj.select_set(True)
            context.view_layer.objects.active = obj
        self.report({"INFO"}, tr(joined(" ", twins.why(row))))
        redraw("VIEW_3D")
        return {"FINISHED"}

    def _row(self, context: bpy.types.Context, session: Any, twins: Any) -> int:
        """Row of the body."""
        active = getattr(context, "object", None)
        # Without a name, an active object that moves alike in all is no answer while others part.
        wanted = self.name or (active.name if active is not None else "")
        path = session.shown.body_at(wanted) if wanted else ""
        first = twins.first()
        if path and (self.name or first is None or twins.splits_of(session.world.index(path))):
            return int(session.world.index(path))
        if first is not None:
            return int(first[1].row)
        if path:
            return int(session.world.index(path))
        raise InputError("Nothing parts; select a body to hear about it")


CLASSES = (USDPHYS_OT_why,)
