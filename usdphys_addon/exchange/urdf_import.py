# SPDX-License-Identifier: GPL-3.0-or-later
"""Import of URDF: the robot becomes a USD stage in a temporary folder, and the import of USD makes objects of that.

So a robot has what each imported file has: exact transforms, prims and attributes that Blender lacks, one undo step,
and a scene that stays as it was if something fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Context, Object

from ..bridge import object_copies
from ..bridge.environment import require_usd
from ..bridge.identity.names import prim_name
from ..bridge.identity.remembered import ImportedIDs
from ..core import paths
from ..core.steps import Next
from ..system.files import note_of, usable_name
from ..usd.robot_files import RobotOptions, robot_as_stage
from . import blend_file, robot_source, usd_import
from .usd_import import ImportResult

if TYPE_CHECKING:
    from ..urdf.layout import Layout
    from ..usd.import_source import ImportSource
    from ..usd.robot_stage import RobotTexts

#: Drawn size of a link's Empty, as a part of the size of the robot.
_DRAWN = 0.03


def import_urdf(
    context: Context, filepath: str | Path, options: RobotOptions,
    tell: Callable[[Next], None] = lambda step: None, *, opens: bool = False,
) -> ImportResult:  # fmt: skip
    """Import a robot into the scene. If that fails, the scene stays as it was. Raises InputError.

    opens: an empty scene takes the place of the open one, once the robot has been read.
    """
    return usd_import.run_steps(import_steps(context, filepath, options, opens=opens), tell)


def import_steps(
    context: Context, filepath: str | Path, options: RobotOptions, *, opens: bool = False
) -> Generator[Next, None, ImportResult]:
    """`import_urdf` step by step. Closing the generator undoes the steps so far."""
    require_usd()
    from ..usd import robot_stage

    path = Path(bpy.path.abspath(usable_name(str(filepath)))).absolute()
    yield Next(0.0, f"Reading {path.name}")
    with ExitStack() as blocks:
        stage_file, plan, texts = blocks.enter_context(robot_as_stage(path, options, physics=False))
        usd_import.refuse_many(path.name, len(plan.shapes), "visuals and collisions")
        if opens:
            blend_file.empty_scene()
        blocks.enter_context(usd_import.undone_on_failure(context.scene))
        memory: Any = context.scene.usdphys.source
        before = memory.filepath
        result = yield from usd_import.import_steps(
            context, stage_file, usd_import.ImportOptions(), partial(robot_stage.import_source_of, plan, texts),
            partial(_complete, plan, texts),
        )  # fmt: skip
        result.path = path
        result.issues[:0] = plan.issues
        _finish(plan, result)
        # Nobody compares them, so they are not read for digests.
        memory.filepath, memory.files = str(path), note_of(plan.robot.files, path.parent, digests=False)
        robot_source.remember(context.scene, path, options)
        if before:
            others = [line for line in memory.others.splitlines() if line != str(stage_file)]
            memory.others = "\n".join(dict.fromkeys([*others, before]))
    return result


def _complete(plan: Layout, texts: RobotTexts, found: ImportedIDs, source: ImportSource) -> None:
    """Make the objects that differ from others in their place only. Those of a mesh file share its mesh."""
    for path, mesh in texts.meshes.items():
        if path in found.objects:
            object_copies.fill(found.objects[path].data, mesh.points, mesh.counts, mesh.corners)
    for path in texts.flat:
        if path in found.objects:
            found.objects[path].data.shade_flat()
    shared = [placed.path for placed in plan.shapes if placed.shape.kind == "mesh"]
    object_copies.complete(found, source.model.order, texts.likes, texts.poses, shared)


def _finish(plan: Layout, result: ImportResult) -> None:
    """Give the objects the names of the URDF; draw Empties of links small."""
    new = set(result.objects)
    objects: dict[str, Any] = {obj.usdphys.prim.path: obj for obj in bpy.data.objects if obj.name in new}
    _rename(plan, objects)
    _draw_small(plan, objects)
    _share_meshes(plan, objects)
    result.objects = sorted(obj.name for obj in objects.values())


def _rename(plan: Layout, objects: Mapping[str, Object]) -> None:
    """Give objects the names of the URDF. Two that Blender's exporter writes alike keep the names of their prims."""
    parts = (*plan.link_paths.values(), *plan.joint_paths.values())
    written = Counter(prim_name(plan.names.get(path, paths.name_of(path))) for path in parts)
    for path, name in plan.names.items():
        obj = objects.get(path)
        if obj is not None and (written[prim_name(name)] < 2 or prim_name(name) == name):
            obj.name = name
            obj.usdphys.prim.id_name = obj.name


def _draw_small(plan: Layout, objects: Mapping[str, Object]) -> None:
    """Draw Empties of links small beside the robot."""
    places = np.array([world[:3, 3] for world in plan.worlds.values()])
    size = float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    scale = float(bpy.context.scene.unit_settings.scale_length) or 1.0
    drawn = (size or 1.0) * _DRAWN / scale
    for path, empty in objects.items():
        if empty.type == "EMPTY" and not path.startswith(f"{plan.physics}/"):
            empty.empty_display_size = drawn


def _share_meshes(plan: Layout, objects: dict[str, Object]) -> None:
    """One mesh datablock for all uses of a file with the same materials; Blender's import makes one for each."""
    first: dict[tuple[Any, ...], Any] = {}
    unused = []
    for placed in plan.shapes:
        obj = objects.get(placed.path) if placed.shape.kind == "mesh" else None
        if obj is None or obj.type != "MESH":
            continue
        kept = first.setdefault((placed.shape.uri, *obj.data.materials), obj.data)
        if kept != obj.data:
            unused.append(obj.data)
            obj.data = kept
    bpy.data.batch_remove(unused)
