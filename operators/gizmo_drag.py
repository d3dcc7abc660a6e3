# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag of a handle in the 3D view. Called with a value, it writes the value without the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..usdphys_addon.bridge.environment import redraw
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import BoolProperty, FloatProperty, FloatVectorProperty, StringProperty
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import phrase
from . import needs
from .outcome import draw_rows

if TYPE_CHECKING:
    from ..usdphys_addon.viewport import handles

_HINT = "Ctrl: snap    Shift: precise    Backspace: clear the value    Esc: cancel"
_HINT_SIDES, _HINT_AXES = "Alt: both sides    ", "X, Y, Z: along an axis    "
_MODIFIERS = frozenset(f"{side}_{name}" for side in ("LEFT", "RIGHT") for name in ("CTRL", "SHIFT", "ALT"))


def _value_of(operator: Any) -> float:
    return float(operator.value)


def _is_editable(context: bpy.types.Context) -> bool:
    from ..usdphys_addon.viewport import handle_edits

    return handle_edits.is_editable(context.object)


def _tag_update(obj: bpy.types.Object) -> None:
    """Tag the object: changes of custom Python properties do not tag the dependency graph."""
    obj.update_tag(refresh={"OBJECT"})


class USDPHYS_OT_drag_handle(bpy.types.Operator):
    """Drag to change the value. Ctrl snaps, Shift is precise, Esc cancels"""

    bl_idname = "usdphys.drag_handle"
    bl_label = "Drag Physics Handle"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    handle = StringProperty(
        name="Handle", options={"HIDDEN", "SKIP_SAVE"}, description="Property that the handle changes"
    )
    value = FloatProperty(
        name="Value", options={"SKIP_SAVE"}, unit="LENGTH", precision=4,
        description="The new value: a length in Blender units, or an angle in radians",
    )  # fmt: skip
    angle = FloatProperty(
        name="Angle", options={"SKIP_SAVE"}, subtype="ANGLE", precision=4, get=_value_of,
        set=lambda self, angle: setattr(self, "value", angle),
        description="The value as an angle",
    )  # fmt: skip
    place: tuple[float, float, float] = FloatVectorProperty(
        name="Place", size=3, subtype="TRANSLATION", options={"SKIP_SAVE"}, precision=4,
        description="The new position of a handle that moves freely",
    )  # fmt: skip
    both_sides = BoolProperty(
        name="Both Sides", options={"SKIP_SAVE"}, description="Change the size on both sides, about the centre"
    )
    clears = BoolProperty(name="Clear Value", options={"SKIP_SAVE"}, description="Remove the value that was set")

    poll = needs.poll(
        (lambda context: context.object, "There is no active object"), needs.OBJECT_MODE, needs.AT_REST,
        (_is_editable, "The active object is linked; make a library override of it first"),
    )  # fmt: skip

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        from ..usdphys_addon.viewport import gizmos

        text = gizmos.labels.get(properties.handle, "Value")
        template = "{text}. Drag to change it; Ctrl snaps, Shift is precise, Esc cancels"
        return tr(phrase(template, text=phrase(tr(text))))

    def draw(self, _context: bpy.types.Context) -> None:
        is_angle = any(part in self.handle for part in (".revolute.", ".spherical.", ".rot", ".angular.", ".local_rot"))
        is_place = self.handle.endswith(("location", "center_of_mass", "local_pos0", "local_pos1"))
        has_sides = self.handle.startswith(("collider.size", "collider.height"))
        draw_rows(
            self, "angle" if is_angle else "place" if is_place else "value", *(["both_sides"] if has_sides else [])
        )

    def found(self, context: bpy.types.Context, view: handles.View) -> handles.Handle:
        from ..usdphys_addon.viewport import handle_edits

        handle = handle_edits.find(context, self.handle, view)
        if handle is None:
            raise InputError(phrase("'{name}' has no handle '{handle}'", name=context.object.name, handle=self.handle))
        return handle

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.viewport import handle_edits, shown_handles

        handle = self.found(context, shown_handles.view_of(context))
        edit = handle_edits.Edit(context.object, handle)
        if self.clears:
            edit.unset(context.object)
        elif handle.motion == "FREE":
            edit.set(context.object, np.array(self.place))
        else:
            edit.set(context.object, min(max(self.value, handle.low), handle.high), self.both_sides)
        _tag_update(context.object)
        return {"FINISHED"}

    # ------------------------------------------------------------------ with the mouse

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        from ..usdphys_addon.viewport import handle_edits, handles, shown_handles

        if context.region_data is None:
            return self.execute(context)
        view = shown_handles.view_of(context)
        handle = self.found(context, view)
        self._name, self._is_changed = context.object.name, False
        self._axis: int | None = None
        self._edit = handle_edits.Edit(context.object, handle)
        self._mouse = (event.mouse_region_x, event.mouse_region_y)
        self._drag = handles.Drag(handle, view, self._mouse)
        self._area: Any = context.area
        hint = _HINT_AXES if handle.motion == "FREE" else _HINT_SIDES if handle.shift is not None else ""
        context.workspace.status_text_set(tr(hint) + tr(_HINT) if hint else tr(_HINT))
        self.show_value(context)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        obj = bpy.data.objects.get(self._name)
        if obj is None:
            return self.end(context, {"CANCELLED"})
        try:
            return self.handle_event(context, event, obj)
        except Exception:
            # Blender would call a modal operator again after an exception.
            import traceback

            traceback.print_exc()
            self._edit.restore(obj)
            self.report({"ERROR"}, tr("The drag was stopped and the value restored"))
            return self.end(context, {"CANCELLED"})

    def handle_event(self, context: bpy.types.Context, event: bpy.types.Event, obj: bpy.types.Object) -> set[Any]:
        kind, is_press = event.type, event.value == "PRESS"
        if kind == "MOUSEMOVE" or kind in _MODIFIERS:
            self._mouse = (event.mouse_region_x, event.mouse_region_y) if kind == "MOUSEMOVE" else self._mouse
            self.follow(context, event, obj)
        elif kind in ("X", "Y", "Z") and is_press and self._edit.handle.motion == "FREE":
            axis = "XYZ".index(kind)
            self._axis = None if self._axis == axis else axis
            self.follow(context, event, obj)
        elif kind in ("ESC", "RIGHTMOUSE") and is_press:
            self._edit.restore(obj)
            return self.end(context, {"CANCELLED"})
        elif kind == "BACK_SPACE" and is_press:
            self._edit.unset(obj)
            self.clears = self._is_changed = True
            return self.end(context, {"FINISHED"})
        elif (kind == "LEFTMOUSE" and event.value == "RELEASE") or (kind in ("RET", "NUMPAD_ENTER") and is_press):
            return self.end(context, {"FINISHED"} if self._is_changed else {"CANCELLED"})
        elif kind.startswith("TIMER"):
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    def follow(self, context: bpy.types.Context, event: bpy.types.Event, obj: bpy.types.Object) -> None:
        from ..usdphys_addon.viewport import handles

        drag = self._drag
        value = drag.move(
            self._mouse, fine=event.shift, snap=event.ctrl, both=event.alt and drag.handle.shift is not None,
            axis=self._axis,
        )  # fmt: skip
        before = drag.handle.value
        if not self._is_changed and not handles.differs(value, before):
            return
        self._is_changed = True
        self.both_sides = bool(event.alt and drag.handle.shift is not None)
        self._edit.set(obj, value, self.both_sides)
        _tag_update(obj)
        if drag.handle.motion == "FREE":
            self.place = tuple(value)  # type: ignore[arg-type]
        else:
            self.value = float(value)
        self.show_value(context)

    def show_value(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.viewport import handle_edits

        drag = self._drag
        text = handle_edits.text_of(context, drag.handle, drag.value)
        if self._axis is not None:
            text += "    " + tr(phrase("along {axis}", axis="XYZ"[self._axis]))
        if self._area is not None:
            self._area.header_text_set(text)
        redraw("VIEW_3D", "PROPERTIES")

    def end(self, context: bpy.types.Context, status: set[Any]) -> set[Any]:
        """Clean up after every drag."""
        if self._area is not None:
            self._area.header_text_set(None)
        self._area = None
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        redraw("VIEW_3D", "PROPERTIES")
        obj = bpy.data.objects.get(self._name)
        if obj is not None and self._is_changed:
            _tag_update(obj)
        return status

    def cancel(self, context: bpy.types.Context) -> None:
        obj = bpy.data.objects.get(self._name)
        if obj is not None:
            self._edit.restore(obj)
        self.end(context, {"CANCELLED"})


CLASSES = (USDPHYS_OT_drag_handle,)
