# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate the scene in another simulator, in a Python of the user's own, and bake the motion."""

from pathlib import Path
from typing import Any

import bpy

from .. import preferences
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import EnumProperty
from ..usdphys_addon.simulation.engine import programs
from . import needs
from .stepped import Stepped

_ITEMS = tuple((key, engine.name, engine.doc) for key, engine in programs().items())


class USDPHYS_OT_engine_bake(Stepped, bpy.types.Operator):
    """Simulate the frame range of the scene in another simulator, and insert keyframes for every body. The \
simulator runs in its own Python, which is set in the preferences of the add-on"""

    bl_idname = "usdphys.engine_bake"
    bl_label = "Simulate In"
    bl_options = {"REGISTER", "UNDO"}
    # A step waits for the simulator.
    slice = 0.0
    cancelled = "The simulation was cancelled; the scene is as it was"

    engine = EnumProperty(name="Simulator", items=_ITEMS)

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.playback import engine_bake
        from ..usdphys_addon.simulation.engines import external

        chosen = preferences.current(context)
        path = bpy.path.abspath(getattr(chosen, f"{self.engine}_python")) if chosen is not None else ""
        scene = context.scene
        python = external.python_of(self.engine, path)
        steps = engine_bake.engine_bake_steps(
            context, scene.frame_start, scene.frame_end, self.engine, python, lambda file: _export(context, file)
        )
        return self.run(context, steps)

    def done(self, result: Any) -> set[Any]:
        from ..usdphys_addon.core.words import counted

        made = [(result.bodies, "body"), (result.deformables, "deformable")]
        parts = [counted(number, name) for number, name in made if number or (name == "body" and not made[1][0])]
        lines = (f"Baked {' and '.join(parts)} of {self.label}", *result.lines)
        self.report({"INFO"}, ". ".join(tr(line) for line in lines))
        return {"FINISHED"}

    def progress(self, fraction: float) -> str:
        return f"Simulating in {self.label} ({fraction:.0%})    Esc: cancel"

    @property
    def label(self) -> str:
        """Name of the simulator."""
        return programs()[self.engine].name


def _export(context: bpy.types.Context, file: Path) -> Any:
    """Write the scene for a simulator, with the paths that the preview has."""
    from ..usdphys_addon.bridge.reading import DEFAULT_ROOT
    from ..usdphys_addon.exchange import usd_export
    from ..usdphys_addon.playback.engine_bake import Handed
    from ..usdphys_addon.usd import read

    options = usd_export.ExportOptions(root=DEFAULT_ROOT)
    usd_export.export_usd(context, file, options)
    stage = read.open_stage(file)
    deformables_read = read.read_stage(stage).deformables
    return Handed(options.units, deformables_read()[0] if deformables_read is not None else [])


CLASSES = (USDPHYS_OT_engine_bake,)
