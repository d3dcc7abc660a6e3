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
    #: What is reported after Esc.
    cancelled = ""
    _steps: Any = None
    _timer: Any = None

    def run(self, context: bpy.types.Context, steps: Any) -> set[Any]:
        """Begin the work in a window, or do all of it where there is none."""
        from ..usdphys_addon.core.errors import UsdPhysError
        from ..usdphys_addon.core.steps import finished

        if self.is_in_window(context):
            self._steps = steps
            self._timer = context.window_manager.event_timer_add(0.01, window=context.window)
            context.window_manager.modal_handler_add(self)
            return {"RUNNING_MODAL"}
        try:
            return self.done(finished(steps))
        except UsdPhysError as error:
            return refuse(self, error)

    def is_in_window(self, context: bpy.types.Context) -> bool:
        """False for a call by a script, which waits for the end."""
        return context.window is not None and may_go_on(self)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        from ..usdphys_addon.core import clock
        from ..usdphys_addon.core.errors import UsdPhysError
        from ..usdphys_addon.core.steps import Next

        if event.type == "ESC":
            self.cancel(context)
            self.report({"INFO"}, tr(self.cancelled))
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        until = clock.now() + self.slice
        try:
            fraction = next(self._steps)
            while clock.now() < until and not isinstance(fraction, Next):
                fraction = next(self._steps)
        except StopIteration as end:
            self.end(context)
            return self.done(end.value)
        except BaseException as error:
            self.end(context)
            if not isinstance(error, UsdPhysError):
                raise
            return refuse(self, error)
        context.workspace.status_text_set(tr(self.progress(fraction)))
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender calls this when the window is closed during the work."""
        self._steps.close()
        self.end(context)

    def end(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)

    def done(self, result: Any) -> set[Any]:
        """Report what the steps have returned."""
        raise NotImplementedError

    def progress(self, fraction: float) -> str:
        """Text of the status bar."""
        raise NotImplementedError
