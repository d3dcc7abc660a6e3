# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate the scene in PhysX or Newton, in a Python of the user's own, and bake the motion."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from .. import preferences
from .outcome import refuse

_ENGINES = (
    ("physx", "PhysX", "PhysX, the engine of Isaac Sim and Omniverse"),
    ("newton", "Newton", "Newton with the solver of MuJoCo"),
)


class USDPHYS_OT_engine_bake(bpy.types.Operator):
    """Simulate the frame range of the scene in another simulator, and insert keyframes for every body. It runs in a \
Python of your own, which the preferences of the add-on name"""

    bl_idname = "usdphys.engine_bake"
    bl_label = "Simulate In"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        engine: str
    else:
        engine: bpy.props.EnumProperty(name="Simulator", items=_ENGINES)

    poll_message_set: Any

    @classmethod
    def poll(cls, context: Any) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Leave the edit mode first")
            return False
        return True

    def execute(self, context: Any) -> set[Any]:
        from ..usdphys_addon.core.errors import UsdPhysError
        from ..usdphys_addon.playback import engine_bake
        from ..usdphys_addon.simulation.engines import external

        chosen = preferences.current(context)
        path = bpy.path.abspath(getattr(chosen, f"{self.engine}_python")) if chosen is not None else ""
        scene = context.scene
        try:
            python = external.python_of(self.engine, path)
        except UsdPhysError as error:
            return refuse(self, error)
        steps = engine_bake.engine_bake_steps(
            context, scene.frame_start, scene.frame_end, self.engine, python, lambda file: _export(context, file)
        )
        if self.options.is_invoke and context.window is not None:
            self._steps = steps
            self._timer = context.window_manager.event_timer_add(0.05, window=context.window)
            context.window_manager.modal_handler_add(self)
            return {"RUNNING_MODAL"}
        try:
            while True:
                next(steps)
        except StopIteration as done:
            return self.finish(done.value)
        except UsdPhysError as error:
            return refuse(self, error)

    def finish(self, result: Any) -> set[Any]:
        from ..usdphys_addon.core.words import counted

        name = next(label for key, label, _ in _ENGINES if key == self.engine)
        self.report({"INFO"}, ". ".join((f"Baked {counted(result.bodies, 'body')} of {name}", *result.lines)))
        return {"FINISHED"}

    def modal(self, context: Any, event: Any) -> set[Any]:
        from ..usdphys_addon.core.errors import UsdPhysError

        if event.type == "ESC":
            self._steps.close()
            self.end(context)
            self.report({"INFO"}, "The simulation was cancelled; the scene is as it was")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            done = next(self._steps)
        except StopIteration as result:
            self.end(context)
            return self.finish(result.value)
        except UsdPhysError as error:
            self.end(context)
            return refuse(self, error)
        name = next(label for key, label, _ in _ENGINES if key == self.engine)
        context.workspace.status_text_set(f"Simulating in {name} ({done:.0%})    Esc: cancel")
        return {"RUNNING_MODAL"}

    def end(self, context: Any) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)


def _export(context: Any, file: Path) -> Any:
    """Write the scene for a simulator, with the paths that the preview has. Returns the units of the file."""
    from ..usdphys_addon.bridge.reading import DEFAULT_ROOT
    from ..usdphys_addon.exchange import usd_export

    options = usd_export.ExportOptions(root=DEFAULT_ROOT)
    usd_export.export_usd(context, file, options)
    return options.units


CLASSES = (USDPHYS_OT_engine_bake,)
