# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators whose work is a generator of steps: in a window slice by slice, with progress, and Esc ends it."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.language import tr
from .outcome import may_go_on, refuse

#: Seconds that the work runs before events are handled.
SLICE = 0.1


class Stepped:
    """Mix-in. The steps yield the completed fraction; closing them leaves the scene as it was."""

    report: Any
    options: Any
    #: Seconds of a slice; 0 for one step.
    slice = SLICE
    #: What is reported after Esc, and what the operator returns then.
    cancelled = ""
    ended: Any = {"CANCELLED"}
    #: The running work; None before it.
    steps: Any = None
    timer: Any = None

    def run(self, context: bpy.types.Context, steps: Any) -> set[Any]:
        """Begin the work in a window, or do all of it where there is none."""
        from ..usdphys_addon.core.errors import UsdPhysError

        if self.is_in_window(context):
            self.steps = steps
            self.timer = context.window_manager.event_timer_add(0.01, window=context.window)
            context.window_manager.modal_handler_add(self)
            return {"RUNNING_MODAL"}
        try:
            return self.done(self.run_now(steps))
        except UsdPhysError as error:
            return self.failed(error)

    def run_now(self, steps: Any) -> Any:
        """Do all of the work at once. Returns its result."""
        from ..usdphys_addon.core.steps import finished

        return finished(steps)

    def is_in_window(self, context: Any) -> bool:
        """False for a call by a script, which waits for the end."""
        return context.window is not None and may_go_on(self)

    def modal(self, context: Any, event: Any) -> set[Any]:
        from ..usdphys_addon.core.errors import UsdPhysError
        from ..usdphys_addon.core.steps import advance

        if event.type == "ESC":
            self.cancel(context)
            self.report({"INFO"}, tr(self.cancelled))
            return set(self.ended)
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            fraction = advance(self.steps, self.slice)
        except StopIteration as end:
            self.end(context)
            return self.done(end.value)
        except BaseException as error:
            self.end(context)
            if not isinstance(error, UsdPhysError):
                raise
            return self.failed(error)
        context.workspace.status_text_set(tr(self.progress(fraction)))
        return {"RUNNING_MODAL"}

    def cancel(self, context: Any) -> None:
        """Blender calls this when the window is closed during the work, and when a file browser is before it."""
        if self.steps is not None:
            self.steps.close()
            self.end(context)

    def end(self, context: Any) -> None:
        context.window_manager.event_timer_remove(self.timer)
        context.workspace.status_text_set(None)

    def done(self, result: Any) -> set[Any]:
        """Report what the steps have returned."""
        raise NotImplementedError

    def failed(self, error: Exception) -> set[Any]:
        """Report why the steps were not done."""
        return refuse(self, error)

    def progress(self, fraction: float) -> str:
        """Text of the status bar."""
        raise NotImplementedError
