# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators whose work is a process beside Blender: in a window they look at it now and then, and Esc ends it."""

from typing import Any

import bpy

from ..usdphys_addon.bridge import environment
from ..usdphys_addon.bridge.language import tr
from .outcome import may_go_on

#: Seconds between two looks at the process.
LOOK = 0.2


class InBackground:
    """Mix-in. A script waits for the end of the process."""

    report: Any
    options: Any
    #: The running `batch.background.BackgroundCommand`; None before it.
    command: Any = None
    timer: Any = None
    #: What the status bar says.
    said = ""

    def state(self, context: bpy.types.Context) -> Any:
        """The properties that have `is_running`."""
        raise NotImplementedError

    def start(self, context: bpy.types.Context) -> None:
        """Start `command`. Raises UsdPhysError."""
        raise NotImplementedError

    def look(self, context: bpy.types.Context) -> None:
        """Take what is new."""

    def progress(self, context: bpy.types.Context) -> str:
        """For the status bar."""
        raise NotImplementedError

    def stopped(self, context: bpy.types.Context) -> str:
        """What is reported after Esc."""
        raise NotImplementedError

    def done(self, context: bpy.types.Context) -> set[Any]:
        """Take the results, and report them."""
        raise NotImplementedError

    def clean(self) -> None:
        """Delete what was made for the process."""

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.core.errors import UsdPhysError

        try:
            self.start(context)
        except UsdPhysError:
            self.clean()
            raise
        self.state(context).is_running = True
        if may_go_on(self) and not bpy.app.background:
            manager = context.window_manager
            self.timer = manager.event_timer_add(LOOK, window=context.window)
            manager.modal_handler_add(self)
            return {"RUNNING_MODAL"}
        self.command.wait()
        return self.finish(context)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        if event.type == "ESC" and event.value == "PRESS":
            # There are new results until it has stopped.
            self.command.stop()
            self.look(context)
            self.end(context)
            self.report({"WARNING"}, tr(self.stopped(context)))
            return {"CANCELLED"}
        if event.type != "TIMER":
            # The window stays in use.
            return {"PASS_THROUGH"}
        is_running = self.command.is_running()
        self.look(context)
        if not is_running:
            return self.finish(context)
        said = tr(self.progress(context))
        if said != self.said:
            self.said = said
            context.workspace.status_text_set(said)
            environment.redraw("VIEW_3D")
        return {"PASS_THROUGH"}

    def finish(self, context: bpy.types.Context) -> set[Any]:
        self.look(context)
        error = self.command.error()
        try:
            if error:
                self.report({"ERROR"}, tr(error))
                return {"CANCELLED"}
            return self.done(context)
        finally:
            self.end(context)

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender calls this when the file browser is closed, and when it quits or opens another file."""
        if self.command is not None:
            self.end(context)

    def end(self, context: bpy.types.Context) -> None:
        self.command.close()
        self.clean()
        self.state(context).is_running = False
        if self.timer is not None:
            context.window_manager.event_timer_remove(self.timer)
            self.timer = None
            context.workspace.status_text_set(None)
        environment.redraw("VIEW_3D")
