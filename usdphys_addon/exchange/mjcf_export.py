# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of MJCF: the physics of a model as one file for MuJoCo, which is read again before it takes its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context

from ..bridge import authored_poses, scene_read
from ..bridge.environment import require_usd
from ..bridge.reading import DEFAULT_ROOT
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
    memory: Any = context.scene.usdphys.source
    root = "" if memory.filepath else DEFAULT_ROOT
    reading = scene_read.read_scene(context.evaluated_depsgraph_get(), root=root)
    with work_folder() as scratch:
        file = scratch / "model.usdc"
        written = usd_export.export_usd(context, file, usd_export.ExportOptions(SI))
        stage = usd_read.open_stage(file)
        model = usd_read.read_stage(stage)
        absent = usd_export.left_out(written, model)
        model.air = reading.model.air
        folders = [Path(memory[FOLDER])] if FOLDER in memory else []
        issues, counts = mjcf_file.write_file(stage, model, target, strict=strict, folders=folders)
        del stage
    errors = [issue for issue in written.issues if issue.severity == "error"]
    others = [issue for issue in (*errors, *absent) if issue not in reading.issues]
    # The checks have run on the scene and on the stage; a prim is not told the same twice.
    told = {(issue.code, issue.path) for issue in (*reading.issues, *others)}
    issues = [issue for issue in issues if (issue.code, issue.path) not in told]
    usd_export.report_animation(
        reading, set(), others, mjcf_file.KEEP_ANIMATION, mjcf_file.moved_by_samples(reading.model)
    )  # fmt: skip
    others += [
        replace(issue, fix=mjcf_file.KEEP_ANIMATION) for issue in written.issues if issue.code == "AnimatedValueLeftOut"
    ]  # fmt: skip
    return ExportResult(target, [*reading.issues, *others, *issues], counts)
