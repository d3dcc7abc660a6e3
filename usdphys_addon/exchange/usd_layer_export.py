# SPDX-License-Identifier: GPL-3.0-or-later
"""Export only the edits of the physics since the import, as a layer over the imported file or into a copy of it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import bpy

from ..bridge.environment import require_usd
from ..bridge.remembered import GEOMETRY_TYPES
from ..core import paths
from ..core.errors import InputError, OutputError
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..core.validate import Issue
from . import usd_export
from .usd_export import ExportOptions, ExportResult


def export_layer(
    context: bpy.types.Context, filepath: str | Path, *, into_copy: bool = False, force: bool = False
) -> ExportResult:
    """Write the edits of the physics since the import: a layer over the imported file, or a copy of it with them.

    The imported file is only read. Raises InputError where the scene was not imported or its file is gone, and what
    `usd_export.export_usd` raises.
    """
    require_usd()
    from ..core import difference
    from ..usd import composition, edit_layer
    from ..usd import read as usd_read

    scene: Any = context.scene
    remembered = scene.usdphys.source.filepath
    if not remembered:
        raise InputError("The scene was not imported from a USD file, so there is nothing to put a layer over.")
    source = Path(bpy.path.abspath(remembered))
    target = Path(bpy.path.abspath(str(filepath))).absolute()
    if target.suffix.lower() not in edit_layer.SUFFIXES:
        raise OutputError(f"'{target}' cannot hold a layer; end it with one of {', '.join(edit_layer.SUFFIXES)}.")
    variants = [composition.parse_choice(line) for line in scene.usdphys.source.variants.splitlines()]
    stage = usd_read.open_stage(source)
    composition.select_variants(stage, variants)
    old = usd_read.read_stage(stage)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.usdc"
        result = usd_export.export_usd(context, whole, ExportOptions(old.units, root="", force=force))
        new = usd_read.read_stage(usd_read.open_stage(whole))
        old = _imported_part(old, scene.usdphys.source.prim_path)
        for model in (old, new):
            _leave_out_looks(model)
        _match_face_materials(old, new)
        edits = difference.difference(old, new)
        write = edit_layer.merge_into_copy if into_copy else edit_layer.write_layer
        written = write(source, target, edits, variants=variants)
    for path in written.uninstanced:
        result.issues.append(Issue(
            "InstanceMadeUnique", "info", path, "", f"'{path}' is no longer an instance, because its physics changed.",
            "Edit the source of the instance instead to keep it.",
        ))  # fmt: skip
    result.path = target
    return result


def _leave_out_looks(model: PhysicsModel) -> None:
    """Take all geometry that does not collide for meshes: Blender has meshes in place of gprims, which is no edit."""
    for prim in model.prims.values():
        if usd_physics.CollisionAPI.usd_name in prim.schemas or prim.type_name not in GEOMETRY_TYPES:
            continue
        prim.type_name = "Mesh"
        for name in GEOMETRY_TYPES & prim.schemas.keys():
            del prim.schemas[name]


def _match_face_materials(old: PhysicsModel, new: PhysicsModel) -> None:
    """Take over the old binding if the materials are the same: Blender also binds the mesh to its first material."""
    for path, prim in new.prims.items():
        before = old.prims.get(path)
        if before is not None and {*before.materials} - {""} == {*prim.materials} - {""}:
            prim.materials, prim.physics_binding = before.materials, before.physics_binding


def _imported_part(model: PhysicsModel, prim_path: str) -> PhysicsModel:
    """The part of a model that a partial import has imported, so that the rest does not count as removed."""
    if not prim_path:
        return model
    inside = {
        path: prim
        for path, prim in model.prims.items()
        if paths.is_at_or_below(path, prim_path) or prim.type_name in ("PhysicsScene", "Material")
    }
    model.prims = inside
    return model
