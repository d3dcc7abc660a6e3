# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the scene, select the object of an issue, and fix issues."""

from collections.abc import Mapping
from typing import Any

import bpy

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import StringProperty
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import counted, joined, phrase
from . import needs

_CAN_CHECK: tuple[needs.Need, ...] = (
    needs.SCENE, (needs.AT_REST[0], "Reset the preview first: the objects are not in their own poses")
)  # fmt: skip
_CAN_FIX = (*_CAN_CHECK, needs.OBJECT_MODE)


def summary(counts: Mapping[str, int]) -> str:
    """The numbers of errors, warnings and notes as a phrase."""
    words = [
        counted(number, word)
        for number, word in ((counts["error"], "error"), (counts["warning"], "warning"), (counts["info"], "note"))
        if number
    ]
    return joined(", ", words) if words else phrase("No problems found")


def _check(operator: Any, context: bpy.types.Context) -> Any:
    from ..usdphys_addon.checks import live as checks

    report = checks.check(context.scene, context.view_layer)
    level = {"WARNING"} if report.counts["error"] else {"INFO"}
    first = [issue.message for issue in report.issues[:1]]
    operator.report(level, tr(joined(": ", (summary(report.counts), *first))))
    return report


class USDPHYS_OT_check(bpy.types.Operator):
    """Check the physics of the scene now, with the same checks as the export"""

    bl_idname = "usdphys.check"
    bl_label = "Check Now"
    bl_options = {"REGISTER"}

    poll = needs.poll(*_CAN_CHECK)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        _check(self, context)
        return {"FINISHED"}


class _IssueOperator:
    """Mix-in: one issue, identified by its code and by the name or prim path of its subject."""

    report: Any
    bl_options: Any = {"REGISTER", "UNDO"}

    code = StringProperty(name="Code", description="Code of the issue", options={"SKIP_SAVE"})
    kind = StringProperty(
        name="Kind",
        description="Type of the named data: object, material, group or scene",
        default="object",
        options={"SKIP_SAVE"},
    )
    name = StringProperty(
        name="Name", description="Name of the object, material, group or scene with the issue", options={"SKIP_SAVE"}
    )
    path = StringProperty(name="Path", description="Path of the prim, if there is no name", options={"SKIP_SAVE"})

    def issue(self, context: bpy.types.Context) -> Any:
        """The issue of the last check; if it has none like this, one made of the properties."""
        from ..usdphys_addon.checks import live as checks
        from ..usdphys_addon.checks import run as check_run
        from ..usdphys_addon.checks.report import FoundIssue

        report = checks.report(context.scene.name)
        for known in report.issues if report is not None else ():
            same = (known.kind, known.name) == (self.kind, self.name) if self.name else True
            if same and self.code in ("", known.code) and self.path in ("", known.path):
                return known
        name = self.name or check_run.object_of(context.scene, context.view_layer, self.path)
        return FoundIssue("warning", self.code, "", "", self.kind, name, self.path)


class USDPHYS_OT_check_select(_IssueOperator, bpy.types.Operator):
    """Select the object of the issue, and show it in the view"""

    bl_idname = "usdphys.check_select"
    bl_label = "Select Cause"
    bl_options: Any = {"REGISTER", "UNDO", "INTERNAL"}

    poll = needs.poll(*_CAN_FIX)

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """Tooltip: the whole text of the issue; the panel shows only its beginning."""
        from ..usdphys_addon.checks import live as checks

        report = checks.report(context.scene.name)
        wanted = (properties.code, properties.name, properties.path)
        for issue in report.issues if report is not None else ():
            if (issue.code, issue.name, issue.path) == wanted:
                return f"{tr(issue.message)} {tr(issue.fix)}\n\n{tr('Click: select the object')}"
        return tr("Select the object of the issue, and show it in the view")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.checks import issue_data

        if not self.name and not self.path:
            raise InputError("Give the name or the prim path to select")
        issue = self.issue(context)
        visible = [obj for obj in issue_data.culprits(context.scene, issue) if obj.visible_get()]
        if not visible:
            self.report(
                {"WARNING"}, tr(phrase("'{name}' is not a visible object; check again", name=issue.name or self.path))
            )
            return {"CANCELLED"}
        for obj in context.selected_objects:
            obj.select_set(False)
        for obj in visible:
            obj.select_set(True)
        context.view_layer.objects.active = visible[0]
        _frame_selected(context)
        return {"FINISHED"}


def _frame_selected(context: bpy.types.Context) -> None:
    """Frame the selection in every 3D view of the window; does nothing without a window."""
    window = context.window
    for area in window.screen.areas if window is not None else ():
        region = next((region for region in area.regions if region.type == "WINDOW"), None)
        if area.type == "VIEW_3D" and region is not None:
            with context.temp_override(area=area, region=region):
                bpy.ops.view3d.view_selected()


class USDPHYS_OT_check_fix(_IssueOperator, bpy.types.Operator):
    """Fix this issue, and check again"""

    bl_idname = "usdphys.check_fix"
    bl_options: Any = {"REGISTER", "UNDO", "INTERNAL"}
    bl_label = "Fix"

    poll = needs.poll(*_CAN_FIX)

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """Tooltip: the effect of the fix."""
        from ..usdphys_addon.checks import fixes

        fix = fixes.FIXES.get(properties.code)
        return tr(fix.label if fix is not None else "Fix this issue, and check again")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.checks import fixes

        fixes.apply_fix(context.scene, self.issue(context))
        _check(self, context)
        return {"FINISHED"}


class USDPHYS_OT_check_fix_all(bpy.types.Operator):
    """Check, apply all fixes that do not change working physics, and check again"""

    bl_idname = "usdphys.check_fix_all"
    bl_label = "Fix All Safe"
    bl_options = {"REGISTER", "UNDO"}

    poll = needs.poll(*_CAN_FIX)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.checks import fixes
        from ..usdphys_addon.checks import live as checks

        before = checks.check(context.scene, context.view_layer)
        done, refused = fixes.apply_safe(context.scene, before.issues)
        for reason in refused:
            self.report({"WARNING"}, tr(reason))
        if not done:
            self.report({"INFO"}, tr(phrase("Nothing can be fixed safely ({found})", found=summary(before.counts))))
            return {"CANCELLED"}
        after = checks.check(context.scene, context.view_layer)
        fixed = len(before.issues) - len(after.issues)
        self.report({"INFO"}, tr(phrase("Fixed {fixed}; left: {left}", fixed=fixed, left=summary(after.counts))))
        return {"FINISHED"}


CLASSES = (USDPHYS_OT_check, USDPHYS_OT_check_select, USDPHYS_OT_check_fix, USDPHYS_OT_check_fix_all)
