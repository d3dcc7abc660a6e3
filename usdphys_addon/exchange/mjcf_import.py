# SPDX-License-Identifier: GPL-3.0-or-later
"""Import of MJCF: the model becomes a USD stage in a temporary folder, and the import of USD makes objects of that.

The stage is packed into the scene, so that an export finds what Blender cannot hold.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

import bpy
from bpy.types import Context

from ..bridge.environment import require_usd
from ..bridge.identity.remembered import remember_chosen
from ..core.errors import InputError
from ..core.steps import Next
from ..system.files import usable_name
from . import blend_file, usd_import
from .mjcf_export import FOLDER
from .usd_import import ImportResult


def keyframes_of(filepath: str | Path) -> list[str]:
    """Names of the keyframes of a model of MuJoCo; none where it cannot be read."""
    require_usd()
    from ..usd import mjcf_stage

    with suppress(InputError):
        return mjcf_stage.keyframes_of(Path(filepath))
    return []


def import_mjcf(
    context: Context, filepath: str | Path, tell: Callable[[Next], None] = lambda step: None, *, opens: bool = False,
    keyframe: str = "",
) -> ImportResult:  # fmt: skip
    """Import a model of MuJoCo into the scene. If that fails, the scene stays as it was. Raises InputError.

    opens: an empty scene takes the place of the open one, once the model has been read. keyframe: name of the one whose
    pose and controls the model gets.
    """
    return usd_import.run_steps(import_steps(context, filepath, opens=opens, keyframe=keyframe), tell)


def import_steps(
    context: Context, filepath: str | Path, *, opens: bool = False, keyframe: str = ""
) -> Generator[Next, None, ImportResult]:  # fmt: skip
    """`import_mjcf` step by step. Closing the generator undoes the steps so far."""
    require_usd()
    from ..usd import mjcf_stage

    path = Path(bpy.path.abspath(usable_name(str(filepath)))).absolute()
    yield Next(0.0, f"Reading {path.name}")
    with mjcf_stage.as_stage(path, keyframe) as (stage_file, planned):
        usd_import.refuse_many(path.name, len(planned.geoms), "geoms")
        usd_import.refuse_many(
            path.name, len(planned.model.prims), "bodies, geoms, joints, actuators and other parts",
            usd_import.MOST_PRIMS, usd_import.PRIMS_VARIABLE,
        )  # fmt: skip
        if opens:
            blend_file.empty_scene()
        with usd_import.undone_on_failure(context.scene):
            result = yield from usd_import.import_steps(context, stage_file, usd_import.ImportOptions(pack=True))
    result.path = path
    context.scene.usdphys.source[FOLDER] = str(path.parent)
    remember_chosen(context.scene, path.name)
    result.issues[:0] = planned.issues
    return result
