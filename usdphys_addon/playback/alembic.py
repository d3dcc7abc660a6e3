# SPDX-License-Identifier: GPL-3.0-or-later
"""Export the motion of a scene as Alembic: Blender's own exporter writes it from keyframes."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context

from ..core.errors import InputError, OutputError
from ..core.steps import part
from ..system.files import replacing
from . import bake, caching
from . import guard as preview_guard

#: Part of the progress in which the motion is baked, if it is not yet.
_BAKED = 0.8


def export_steps(
    context: Context, target: Path, start: int, end: int, *, selected: bool = False
) -> Generator[float, None, int]:
    """Write the frames of a scene. What is baked moves as it is; else it is baked from the cache or a simulation, for
    the time of the export. Returns the number of objects that physics moves.

    Yields the completed fraction; closing the generator leaves no keys. Raises InputError and OutputError.
    """
    options: Any = bpy.app.build_options
    if not options.alembic:
        raise InputError("This Blender was built without Alembic; use another one.")
    preview_guard.stop()
    count = len(bake.baked(context.scene))
    is_ours = not count
    try:
        if is_ours:
            count = yield from part(bake.bake_steps(context, start, end), 0.0, _BAKED)
        yield _BAKED
        with replacing(target) as scratch:
            _write(scratch, start, end, selected=selected)
    finally:
        if is_ours:
            bake.clear_bake(context.scene)
            caching.mark(context.scene)
    return count


def _write(file: Path, start: int, end: int, *, selected: bool) -> None:
    try:
        # A job of its own would go on after the keys are gone.
        done = bpy.ops.wm.alembic_export(
            "EXEC_DEFAULT", filepath=str(file), start=start, end=end, selected=selected, as_background_job=False,
            evaluation_mode="VIEWPORT",
        )  # fmt: skip
    except RuntimeError as error:
        raise OutputError(f"Blender's exporter failed: {str(error).strip()}") from error
    if done != {"FINISHED"} or not file.is_file():
        raise OutputError(f"Blender's exporter wrote no file '{file.name}'.")
