# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of MJCF: the physics of a model as one file for MuJoCo, which is read again before it takes its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context

from ..bridge import authored_poses, scene_read
from ..bridge.environment import require_usd
from ..core.units import SI
from ..system.files import checked, usable_name, work_folder
from . import usd_export
from .usd_export import ExportResult

#: Key among the notes about the imported file of a scene: folder of the model.
FOLDER = "mjcf_folder"


@authored_poses.authored()
def export_mjcf(context: Context, filepath: str | Path, *, strict: bool = False) -> ExportResult:
    """Write the scene as a model of MuJoCo. Raises as `mjcf_file.write_file`.

    A model that was imported from MJCF gets the text of that file with the edits since.
    """
    require_usd()
    from ..usd import mjcf_file
    from ..usd import read as usd_read

    target = checked(Path(bpy.path.abspath(usable_name(str(filepath)))).absolute())
    reading = scene_read.read_scene(context.evaluated_depsgraph_get())
    memory: Any = context.scene.usdphys.source
    with work_folder() as scratch:
        file = scratch / "model.usdc"
        written = usd_export.export_usd(context, file, usd_export.ExportOptions(SI))
        stage = usd_read.open_stage(file)
        model = usd_read.read_stage(stage)
        model.air = reading.model.air
        folders = [Path(memory[FOLDER])] if FOLDER in memory else []
        issues, counts = mjcf_file.write_file(stage, model, target, strict=strict, folders=folders)
        del stage
    errors = [issue for issue in written.issues if issue.severity == "error"]
    return ExportResult(target, [*reading.issues, *errors, *issues], counts)
