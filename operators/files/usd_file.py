# SPDX-License-Identifier: GPL-3.0-or-later
"""Mix-ins of the operators that import and export USD files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ExportHelper

from ...usdphys_addon.bridge.language import tr
from .. import needs
from ..outcome import tell
from ..stepped import Stepped

USD_FILTER = "*.usd;*.usda;*.usdc;*.usdz"


class UsdFileOperator:
    """Mix-in: needs a Blender with USD, reports issues and counts, draws its options in two columns."""

    layout: Any
    report: Any
    if TYPE_CHECKING:  # ImportHelper or ExportHelper has it, whose property Blender would not find behind this one
        filepath: str

    poll = needs.poll(needs.USD)

    def split_layout(self) -> Any:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        return layout

    @staticmethod
    def proves() -> bool:
        """True where the preferences have written files read again."""
        from ... import preferences

        chosen = preferences.current(bpy.context)
        return chosen is None or bool(chosen.prove_exports)

    def report_result(self, template: str, result: Any) -> None:
        """Report the warnings of an import or export, and the numbers of bodies, colliders and joints."""
        from ...usdphys_addon.core.rules.base import alike
        from ...usdphys_addon.core.words import joined, phrase, tally

        notes = []
        for issue, number in alike(result.issues):
            is_note = issue.severity == "info"
            said = issue.message if is_note else joined(" ", (issue.message, issue.fix))
            many = f"{number} \N{MULTIPLICATION SIGN} {tr(said)}"
            notes.append(("INFO" if is_note else "WARNING", many if number > 1 else said))
        numbers = joined(", ", (tally(result.counts.get(kind, 0), kind) for kind in ("bodies", "colliders", "joints")))
        tell(self, phrase(template, file=result.path.name, numbers=numbers), notes)


class SteppedImport(UsdFileOperator, Stepped):
    """Mix-in: runs the steps of an import; in a window one at a time, so that it shows progress and Esc cancels."""

    # Each step is long.
    slice = 0.0
    cancelled = "The import was cancelled; the scene is as it was"

    def is_in_window(self, context: Any) -> bool:
        return not bpy.app.background and super().is_in_window(context)

    def run_now(self, steps: Any) -> Any:
        from ...usdphys_addon.exchange import usd_import

        return usd_import.run_steps(steps, usd_import.LateProgress())

    def done(self, result: Any) -> set[Any]:
        self.report_result("Read {file}: {numbers}", result)
        return {"FINISHED"}

    def progress(self, fraction: Any) -> str:
        return f"{tr(fraction.about)} ({fraction:.0%})    {tr('Esc: cancel')}"

    def modal(self, context: Any, event: bpy.types.Event) -> set[Any]:
        status = super().modal(context, event)
        if status == {"RUNNING_MODAL"} and event.type == "TIMER":
            context.window.cursor_modal_set("WAIT")
        return status

    def end(self, context: Any) -> None:
        super().end(context)
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


class NamedExport(ExportHelper):
    """Mix-in: the name of a file is that of the .blend file, or of the imported one where there is none yet."""

    if TYPE_CHECKING:  # as above
        filepath: str
        filename_ext: str

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        from ...usdphys_addon.bridge.identity.remembered import source_name

        name = source_name(context.scene)
        if name and not self.filepath and not bpy.data.filepath:
            self.filepath = Path(name).stem + self.filename_ext
        result: set[Any] = super().invoke(context, event)
        return result
