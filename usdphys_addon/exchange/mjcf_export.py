# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of MJCF: the physics of a model as one file for MuJoCo, which is read again before it takes its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context

from ..bridge import scene_read
from ..core.validate import Issue
from ..mjcf import files
from ..system.files import usable_name
from .usd_export import ExportResult


def export_mjcf(context: Context, filepath: str | Path, *, strict: bool = False) -> ExportResult:
    """Write the physics of the scene as a model of MuJoCo. Raises as `files.write_model`."""
    target = Path(bpy.path.abspath(usable_name(str(filepath)))).absolute()
    reading = scene_read.read_scene(context.evaluated_depsgraph_get())
    issues, counts = files.write_model(reading.model, target, strict=strict)
    return ExportResult(target, [*reading.issues, *_left_out(reading), *issues], counts)


def _left_out(reading: Any) -> list[Issue]:
    """Says how many meshes do not collide, and so are not in the file."""
    owners = {site.obj.name for site in reading.sites.values() if len(site.obj.usdphys.colliders)}
    seen = [one.obj.name for one in reading.placements if one.obj.type == "MESH" and one.obj.name not in owners]
    if not seen:
        return []
    return [Issue(
        "MjcfNotSaid", "info", "", seen[0],
        f"'{seen[0]}' does not collide, so it is not in the file; {len(seen)} meshes are left out."
        if len(seen) > 1 else f"'{seen[0]}' does not collide, so it is not in the file.",
        "Export USD to keep what is only seen.",
    )]  # fmt: skip
