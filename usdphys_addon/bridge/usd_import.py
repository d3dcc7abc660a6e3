# SPDX-License-Identifier: GPL-3.0-or-later
"""Import: Blender's own USD import builds the objects, the same stage read into the model gives them their physics."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ..core.errors import InputError
from ..core.model import PhysicsModel
from ..core.validate import Issue
from . import hierarchy_repair, remembered, scene_write, subset_materials, usd_hooks
from .environment import require_usd
from .hierarchy_repair import Found

#: What an import may bring; removed again where it fails.
_KINDS = ("objects", "meshes", "curves", "cameras", "lights", "materials", "images", "armatures", "volumes", "actions",
          "collections", "node_groups", "pointclouds", "hair_curves", "worlds", "texts", "cache_files")  # fmt: skip


@dataclass(slots=True)
class ImportOptions:
    """convert_units: scale what is imported to the scene's unit; else the scene takes the unit of the file.

    prim_path: only this prim and what is below it. native: further options of Blender's own importer, by name.
    """

    convert_units: bool = True
    prim_path: str = ""
    native: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class ImportResult:
    """issues: what did not come through. counts: what got physics, by kind. objects: names of what is new."""

    path: Path
    issues: list[Issue] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    objects: list[str] = field(default_factory=list)


def import_usd(context: bpy.types.Context, filepath: str | Path, options: ImportOptions) -> ImportResult:
    """Bring a USD file with its physics into the scene. Where that fails, the scene stays as it was.

    Raises MissingDependencyError and InputError.
    """
    require_usd()
    from ..core import usd_read

    path = Path(bpy.path.abspath(str(filepath))).absolute()
    stage = usd_read.open_stage(path)
    model = usd_read.read_stage(stage)
    if options.prim_path and not stage.GetPrimAtPath(options.prim_path):
        raise InputError(f"'{path.name}' has no prim '{options.prim_path}'; check the path.")
    scene: Any = context.scene
    with _undone_on_failure(scene):
        if not options.convert_units:
            scene.unit_settings.scale_length = model.units.meters_per_unit
        found = _native_import(path, options)
        hierarchy_repair.repair(scene, stage, found, options.prim_path)
        # Joints are placed in the world: what is above them has to be where it belongs.
        context.view_layer.update()  # type: ignore[union-attr]
        result = write_physics(scene, model, found)
        subset_materials.bind(stage, found, result.issues)
        carry(scene, stage, model, found)
        source = scene.usdphys.source
        source.filepath, source.prim_path = str(path), options.prim_path
        source.default_prim = stage.GetDefaultPrim().GetName() if stage.GetDefaultPrim() else ""
        _take_units(scene, model)
    result.path = path
    return result


def write_physics(scene: bpy.types.Scene, model: PhysicsModel, found: Found) -> ImportResult:
    """Put the physics of a model on what Blender has imported."""
    objects = {path: bpy.data.objects[name] for path, name in found.objects.items() if name in bpy.data.objects}
    known = bpy.data.materials
    materials = {path: known[name] for path, name in found.materials.items() if name in known}
    written = scene_write.write_scene(model, scene, objects, materials)
    result = ImportResult(Path(), counts=written.counts, objects=sorted(found.objects.values()))
    for path in written.missing:
        result.issues.append(Issue(
            "NotImported", "warning", path, "", f"Blender imports nothing for '{path}', so its physics is left out.",
            "Check whether the prim is a point instancer or of a type that Blender does not know.",
        ))  # fmt: skip
    return result


def carry(scene: Any, stage: Any, model: PhysicsModel, found: Found) -> None:
    """Note on everything imported what neither Blender nor the model hold of its prim."""
    from ..core import usd_carry, usd_read

    things: list[Any] = [bpy.data.objects[name].usdphys for name in found.objects.values()]  # type: ignore[attr-defined]
    things += [material.usdphys for material in bpy.data.materials if remembered.path_of(material)]  # type: ignore[attr-defined]
    things += [*scene.usdphys.physics_scenes, *scene.usdphys.collision_groups]
    for thing in things:
        usd_prim = stage.GetPrimAtPath(thing.prim.path) if thing.prim.path else None
        if not usd_prim:
            continue
        for name, text in (("carried", usd_carry.capture(usd_prim, model.units)),
                           ("transform", usd_read.transform_text(usd_prim))):  # fmt: skip
            if text:
                setattr(thing.prim, name, text)
    scene.usdphys.source.carried = usd_carry.capture_prims(stage, {*found.objects, *found.materials, *model.prims})


def _take_units(scene: Any, model: PhysicsModel) -> None:
    """What is exported again has the units of the file, unless somebody has chosen others."""
    stage = scene.usdphys.stage
    units = model.units
    wanted = (units.meters_per_unit, units.kilograms_per_unit, units.up_axis)
    for name, value in zip(("meters_per_unit", "kilograms_per_unit", "up_axis"), wanted, strict=True):
        if not stage.is_property_set(name):
            setattr(stage, name, value)


def _native_import(path: Path, options: ImportOptions) -> Found:
    keywords: dict[str, Any] = {
        "filepath": str(path),
        "import_guide": True,
        "import_proxy": True,
        "import_render": True,
        "import_all_materials": True,
        "import_visible_only": False,
        "support_scene_instancing": False,
        "merge_parent_xform": False,
        "set_frame_range": False,
        "apply_unit_conversion_scale": options.convert_units,
        "prim_path_mask": options.prim_path,
    }
    keywords.update(options.native)
    operator: Any = bpy.ops.wm.usd_import
    known = {item.identifier for item in operator.get_rna_type().properties}
    found = Found()
    with _capturing(found):
        try:
            result = bpy.ops.wm.usd_import(**{name: value for name, value in keywords.items() if name in known})
        except RuntimeError as error:
            raise InputError(f"Blender's USD importer failed on '{path.name}': {str(error).strip()}") from error
    if "FINISHED" not in result:
        raise InputError(f"Blender's USD importer did not finish with '{path.name}'.")
    return found


@contextmanager
def _undone_on_failure(scene: Any) -> Iterator[None]:
    """Remove everything that came in, and our entries in the scene, where the body raises."""
    before = {kind: set(getattr(bpy.data, kind).keys()) for kind in _KINDS if hasattr(bpy.data, kind)}
    physics = scene.usdphys
    lengths = {name: len(getattr(physics, name)) for name in ("physics_scenes", "collision_groups")}
    scale_length = scene.unit_settings.scale_length
    try:
        yield
    except BaseException:
        new = [item for kind, names in before.items() for item in getattr(bpy.data, kind) if item.name not in names]
        bpy.data.batch_remove(new)
        for name, length in lengths.items():
            items = getattr(physics, name)
            while len(items) > length:
                items.remove(len(items) - 1)
        scene.unit_settings.scale_length = scale_length
        raise


# --------------------------------------------------------------------------- the hook

_capture: Found | None = None


def on_import(import_context: Any) -> bool:
    """What the hook does in every USD import: in ours it tells what came in, in Blender's own it adds the physics."""
    if _capture is not None:
        collect(import_context, _capture)
        return True
    try:
        return _on_native_import(import_context)
    except Exception as error:  # an exception that leaves a hook is lost in Blender's log
        traceback.print_exc()
        print(f"USD Physics: error: the physics could not be imported: {type(error).__name__}: {error}")
        return False


def _on_native_import(import_context: Any) -> bool:
    """Blender's own USD import: its options decide what came in, we add the physics of that."""
    from ..core import usd_read

    found = Found()
    collect(import_context, found)
    model = usd_read.read_stage(import_context.get_stage())
    if not found.objects or not any(prim.schemas for prim in model.prims.values()):
        return True
    scene: Any = bpy.context.scene
    bpy.context.view_layer.update()  # type: ignore[union-attr]
    result = write_physics(scene, model, found)
    for issue in result.issues:
        print(f"USD Physics: {issue.severity}: {issue.message} {issue.fix}")
    return True


def collect(import_context: Any, found: Found) -> None:
    """Note the names of the objects and materials of an import by prim path."""
    for path, ids in import_context.get_prim_map().items():
        for item in ids:
            if isinstance(item, bpy.types.Object):
                found.objects[str(path)] = item.name
            elif isinstance(item, bpy.types.Material):
                found.materials[str(path)] = item.name


@contextmanager
def _capturing(found: Found) -> Iterator[None]:
    global _capture
    _capture = found
    try:
        with usd_hooks.registered(usd_hooks.USDPHYS_ImportHook):
            yield
    finally:
        _capture = None
