# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare an imported scene with its source, and take edits back."""

from __future__ import annotations

from typing import Any

import bpy

from ..usdphys_addon.bridge import source_report
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import StringProperty
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import counted, joined, phrase
from . import needs
from .outcome import finish

_CAN_COMPARE = (needs.SCENE, needs.AT_REST, needs.USD)
_CAN_REVERT = (*_CAN_COMPARE, needs.OBJECT_MODE)


class USDPHYS_OT_compare_source(bpy.types.Operator):
    """List what of the scene differs from the file that it was imported from"""

    bl_idname = "usdphys.compare_source"
    bl_label = "Compare with Source"
    bl_options = {"REGISTER"}

    poll = needs.poll(*_CAN_COMPARE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.exchange import source_changes

        found = source_changes.compare(context).changes
        if not found:
            return finish(self, phrase("Nothing differs from the source"))
        text = phrase("Differs from the source: {changes}", changes=counted(len(found), "edit"))
        first = found[0].text if len(found) == 1 else phrase("The first: {change}", change=found[0].text)
        return finish(self, joined(": " if len(found) == 1 else ". ", (text, first)))


def _tell(operator: Any, number: int, left: list[source_report.SourceChange]) -> set[Any]:
    """Report how many of the edits are taken back, and the first of those that are left."""
    if len(left) >= number:
        operator.report({"WARNING"}, tr(_held(left[0])))
        return {"FINISHED"}
    done = counted(number - len(left), "edit")
    return finish(operator, phrase("As in the source again: {edits}", edits=done), map(_held, left[:1]))


def _held(change: source_report.SourceChange) -> str:
    text = phrase("Another edit holds this one; revert that first")
    return joined(": ", (text, change.text))


class USDPHYS_OT_revert_change(bpy.types.Operator):
    """Take this edit back: it becomes what the source says, and all other edits stay"""

    bl_idname = "usdphys.revert_change"
    bl_label = "Revert This"
    bl_options: Any = {"REGISTER", "UNDO", "INTERNAL"}

    kind = StringProperty(name="Kind", description="Kind of the edit", options={"SKIP_SAVE"})
    path = StringProperty(name="Path", description="Path of the prim in the source", options={"SKIP_SAVE"})
    name = StringProperty(name="Name", description="Schema and attribute of the edit", options={"SKIP_SAVE"})

    poll = needs.poll(*_CAN_REVERT)

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """Tooltip: the whole sentence, of which the panel may show the beginning only."""
        change = _change(context, properties)
        text = tr("Take this edit back: it becomes what the source says, and all other edits stay")
        return f"{tr(change.text)}\n\n{text}" if change is not None else text

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.exchange import source_revert

        kind: Any = self.kind
        return _tell(self, 1, source_revert.revert(context, [source_report.Key(kind, self.path, self.name)]))


def _change(context: bpy.types.Context, properties: Any) -> source_report.SourceChange | None:
    known = source_report.report(context.scene.name)
    key = (properties.kind, properties.path, properties.name)
    return next((one for one in known.changes if one.key == key), None) if known is not None else None


class USDPHYS_OT_revert_all_changes(bpy.types.Operator):
    """Take all edits back: the scene becomes what the source says"""

    bl_idname = "usdphys.revert_all_changes"
    bl_label = "Revert All Changes"
    bl_options = {"REGISTER", "UNDO"}

    poll = needs.poll(*_CAN_REVERT)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.exchange import source_revert

        number, left = source_revert.revert_all(context)
        if not number:
            raise InputError(phrase("Nothing differs from the source"))
        return _tell(self, number, left)


CLASSES = (USDPHYS_OT_compare_source, USDPHYS_OT_revert_change, USDPHYS_OT_revert_all_changes)
