# SPDX-License-Identifier: GPL-3.0-or-later
"""Mix-ins of the operators that import and export USD files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...usdphys_addon.bridge import environment
from ...usdphys_addon.bridge.language import tr
from ..outcome import may_go_on, refuse

USD_FILTER = "*.usd;*.usda;*.usdc;*.usdz"


class UsdFileOperator:
    """Mix-in: needs a Blender with USD, reports issues and counts, draws its options in two columns."""

    layout: Any
    report: Any
    if TYPE_CHECKING:  # ImportHelper or ExportHelper has it, whose property Blender would not find behind this one
        filepath: str

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        if not environment.usd_is_supported():
            cls.poll_message_set(tr(environment.NO_USD))  # type: ignore[attr-defined]
            return False
        return True

    def split_layout(self) -> Any:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        return layout

    def report_result(self, template: str, result: Any) -> None:
        """Report the warnings of an import or export, and the numbers of bodies, colliders and joints."""
        from ...usdphys_addon.core.words import joined, phrase, tally

        for issue in result.issues:
            if issue.severity != "info":
                self.report({"WARNING"}, tr(joined(" ", (issue.message, issue.fix))))
        numbers = joined(", ", (tally(result.counts.get(kind, 0), kind) for kind in ("bodies", "colliders", "joints")))
        done = phrase(template, file=result.path.name, numbers=numbers)
        notes = [issue.message for issue in result.issues if issue.severity == "info"]
        self.report({"INFO"}, tr(joined(". ", (done, *notes[:1]))))


class SteppedImport(UsdFileOperator):
    """Mix-in: runs the steps of an import; in a window one at a time, so that it shows progress and Esc cancels."""

    options: Any
    #: The running import; None before it.
    steps: Any = None
    timer: Any = None

    def run(self, context: bpy.types.Context, steps: Any) -> set[Any]:
        from ...usdphys_addon.exchange import usd_import

        if may_go_on(self) and not bpy.app.background:
            self.steps = steps
            manager = context.window_manager
            self.timer = manager.event_timer_add(0.02, window=context.window)
            manager.modal_handler_add(self)
            return {"RUNNING_MODAL"}
        result = usd_import.run_steps(steps, usd_import.LateProgress())
        self.report_result("Read {file}: {numbers}", result)
        return {"FINISHED"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        from ...usdphys_addon.core.errors import UsdPhysError

        if event.type == "ESC":
            self.steps.close()
            self.end(context)
            self.report({"INFO"}, tr("The import was cancelled; the scene is as it was"))
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            step = next(self.steps)
        except StopIteration as end:
            self.end(context)
            self.report_result("Read {file}: {numbers}", end.value)
            return {"FINISHED"}
        except BaseException as error:
            self.end(context)
            if not isinstance(error, UsdPhysError):
                raise
            return refuse(self, error)
        context.workspace.status_text_set(f"{tr(step.text)} ({step.done:.0%})    {tr('Esc: cancel')}")
        context.window.cursor_modal_set("WAIT")
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender calls this when the file browser is closed, and when it quits during an import."""
        if self.steps is not None:
            self.steps.close()
            self.end(context)

    def end(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self.timer)
        context.workspace.status_text_set(None)
        context.window.cursor_modal_restore()


class UsdExportOperator(UsdFileOperator):
    """Mix-in: adds a USD suffix to a file name without one."""

    filename_ext = ".usda"
    check_extension = None

    def check(self, _context: bpy.types.Context) -> bool:
        from ...usdphys_addon.system.files import USD_SUFFIXES

        if self.filepath and not self.filepath.lower().endswith(USD_SUFFIXES):
            self.filepath += self.filename_ext
            return True
        return False
