# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of a scene in the form that was chosen: its source with the edits, or as Blender composes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from bpy.types import Context, Scene

from ..bridge import authored_poses
from ..bridge.environment import require_usd
from ..core.errors import InputError
from ..core.units import remembered_units
from ..core.validate import Issue
from ..core.words import counted
from ..system.files import checked, first_changed, replace_together, scratch_file, scratch_folder
from . import packed_source, source_export, usd_export
from .usd_export import ExportOptions, ExportResult

#: auto: a copy of the source where the scene has one and the options allow it, else composed.
SceneForm = Literal["auto", "copy", "layer", "flat", "composed"]


@authored_poses.authored()
def export_scene(
    context: Context, filepath: str | Path, options: ExportOptions, form: SceneForm = "auto", *,
    physics_only: bool = False,
) -> ExportResult:  # fmt: skip
    """Write the scene with its physics. The target is replaced in one step at the end, or stays as it was.

    With `options.runtimes` it is divided into a base and files of the simulators, see `usd.runtime_variants`.
    physics_only: of a source, write the edits of the physics only. Raises what `export_edits` and `export_usd` raise,
    and InputError where the options and the form contradict each other.
    """
    chosen_runtimes = source_export.chosen_runtimes(context.scene) and not options.layers and not physics_only
    if options.runtimes or (chosen_runtimes and form in ("auto", "copy") and Path(filepath).suffix.lower() != ".usdz"):
        return _export_runtimes(context, filepath, options, form, physics_only)
    if options.instanceable and not options.layers:
        raise InputError("Only an asset of layers has instances of its meshes; switch the layers on.")
    if options.layers:
        return _export_layers(context, filepath, options, form, physics_only)
    return _export_one(context, filepath, options, form, physics_only=physics_only)


def _export_one(
    context: Context, filepath: str | Path, options: ExportOptions, form: SceneForm, *,
    physics_only: bool = False,
) -> ExportResult:  # fmt: skip
    """Write the scene as one file, or as a layer over its source."""
    scene: Any = context.scene
    obstacle, fix = ("", "") if form == "composed" else _obstacle(scene, options)
    if physics_only and form == "composed":
        raise InputError(
            "As Blender Composes writes the whole file, so it cannot write the edits of the physics alone; choose "
            "another form."
        )
    is_of_edits = physics_only or form in ("copy", "layer", "flat")
    if obstacle and is_of_edits:
        raise InputError(
            f"The edits cannot be merged into the imported file, because {obstacle}; choose As Blender Composes "
            "(--composed)."
        )
    converted = None if _has_units_of_source(scene, options) else options.units
    if form == "layer" and converted is not None and not obstacle and source_export.source_of(scene) is not None:
        raise InputError(
            "A layer over the imported file has the units and the up axis of that file; choose these, or another form."
        )
    if form == "composed" or obstacle or source_export.source_of(scene) is None:
        if is_of_edits:
            raise InputError("The scene was not imported from a USD file, so there is no source to put edits on.")
        # What Blender composes lacks references and variants, so that the imported file is not replaced by it either.
        checked(usd_export.checked_target(filepath), source_export.files_of_source(scene))
        result = usd_export.export_usd(context, filepath, options)
        if obstacle and form == "auto":
            result.issues.append(Issue(
                "ComposedByBlender", "warning", "", "",
                f"Blender's exporter wrote the whole file, because {obstacle}: references, payloads, variants and "
                "data that Blender does not support are not in it.",
                fix,
            ))  # fmt: skip
        return result
    chosen = "copy" if form == "auto" else form
    return source_export.export_edits(
        context, filepath, chosen, physics_only=physics_only, strict=options.strict,
        physx_words=options.physx_words, converted=converted, proves=options.proves, materialx=options.materialx,
    )  # fmt: skip


def _export_runtimes(
    context: Context, filepath: str | Path, options: ExportOptions, form: SceneForm, physics_only: bool
) -> ExportResult:  # fmt: skip
    """Write the scene as one file, and divide it. Nothing is replaced before all of it is whole."""
    target = usd_export.checked_target(filepath)
    if form == "layer" or physics_only or target.suffix.lower() == ".usdz" or options.layers:
        what = "a package of one file" if target.suffix.lower() == ".usdz" else "a layer over another file"
        what = "an asset of layers" if options.layers else what
        raise InputError(f"'{target.name}' is {what}, which has no runtime variants; choose one of the two.")
    require_usd()
    from ..usd import runtime_variants
    from ..usd.files import layers

    known = runtime_variants.replaceable(target)
    inputs = source_export.files_of_source(context.scene)
    for file in (target, *known):
        checked(file, inputs)
    with scratch_file(target) as whole, scratch_folder(target) as folder:
        result = _export_one(
            context, whole, replace(options, runtimes=False, proves=None if options.proves else False), form
        )
        left, weighed = runtime_variants.divide(whole, folder / target.name)
        _prove(folder / target.name, target, result, options)
        replace_together(folder, target, known)
    layers.reload((target, *runtime_variants.replaceable(target)))
    result.path = target
    if weighed:
        result.issues.append(Issue(
            "MassWritten", "info", weighed[0], "",
            f"SimReady requires a mass: {counted(len(weighed), 'body')}, such as '{weighed[0]}', got the mass "
            "that follows from density and shape.", "Set the mass in Blender to have another one.",
        ))  # fmt: skip
    if left:
        result.issues.append(Issue(
            "RuntimeNotDivided", "warning", left[0], "",
            f"Simulator settings of {counted(len(left), 'prim')}, such as '{left[0]}', stay in the base file: "
            "they are outside of the default prim, or come from a reference.",
            "Put them below the default prim, and export flattened.",
        ))  # fmt: skip
    return result


def _export_layers(
    context: Context, filepath: str | Path, options: ExportOptions, form: SceneForm, physics_only: bool
) -> ExportResult:  # fmt: skip
    """Write the scene as one file, and that as an asset of layers. Nothing is replaced before all of it is whole."""
    target = usd_export.checked_target(filepath)
    if target.suffix.lower() == ".usdz":
        raise InputError(
            f"'{target.name}' is a package, and layers cannot lie beside it; end its name with .usda, or switch the "
            "layers off."
        )
    if form == "layer":
        raise InputError("A layer over another file cannot be an asset of layers as well; choose one of the two.")
    require_usd()
    from ..usd import asset_layers, instanceable
    from ..usd.files import layers

    inputs = source_export.files_of_source(context.scene)
    for file in (target, *asset_layers.payload_folder(target)[1]):
        checked(file, inputs)
    with scratch_folder(target) as folder:
        (folder / "made").mkdir()
        whole = folder / "made" / "whole.usdc"
        unproven = replace(options, layers=False, proves=None if options.proves else False)
        result = _export_one(context, whole, unproven, form, physics_only=physics_only)
        with asset_layers.claimed(target) as (name, replaceable):
            whole = (folder / "made").rename(folder / name) / whole.name
            missing, shared = asset_layers.split(whole, folder / target.name, instances=options.instanceable)
            if missing:
                result.issues.append(Issue(
                    "NoInstances", "warning", "", "", f"The asset has no instances: {missing}.",
                    "See which meshes can be instances under 'An asset of layers' in the manual, or switch "
                    "'Instanceable' off.",
                ))  # fmt: skip
            if result.proof is not None:
                result.proof.put_below(shared, instanceable.MESH, instanceable.collision_schemas)
            _prove(folder / target.name, target, result, options)
            replace_together(folder, target, replaceable)
    layers.reload((target, *(target.parent / name).rglob("*.usd*")))
    result.path = target
    return result


def _prove(file: Path, target: Path, result: ExportResult, options: ExportOptions) -> None:
    """Hold a file that was divided against the scene, before it replaces the target."""
    from ..usd import verify

    result.path = target
    if options.proves:
        verify.prove(file, result, strict=options.strict)


def _has_units_of_source(scene: Scene, options: ExportOptions) -> bool:
    before = remembered_units(scene.usdphys.source.units)
    return before is not None and options.units.is_like(before)


#: What helps where the scene and its source have grown apart.
_IMPORT_AGAIN = "Import the file again to write it with the edits."


def _obstacle(scene: Scene, options: ExportOptions) -> tuple[str, str]:
    """Why a scene cannot be written as its source with the edits, and what helps; empty where it can."""
    memory = scene.usdphys.source
    source = source_export.source_of(scene)
    if source is None:
        return "", ""
    if options.selected_only:
        return (
            "only a part of the scene is exported", "Export the whole scene to write the imported file with the edits."
        )  # fmt: skip
    if options.native or options.root:
        return (
            "options of Blender's exporter are set",
            "Leave out the options of Blender's exporter to write the imported file with the edits.",
        )
    if reason := lost_source(scene, source, memory):
        return reason, packed_source.UNPACK if packed_source.is_packed(scene) else _IMPORT_AGAIN
    if options.hierarchy != "nested":
        return (
            f"the hierarchy '{options.hierarchy}' is chosen",
            "Choose the nested hierarchy to write the imported file with the edits.",
        )
    if options.animation and _has_new_animation(scene):
        return (
            "objects are animated in Blender", "Export without Animation to write the imported file with the edits."
        )  # fmt: skip
    return "", ""


def lost_source(scene: Scene, source: Path, memory: Any, files: str | None = None) -> str:
    """Why the source of a scene cannot take its edits, whatever the options are.

    files: that must be as they were, see `system.files.note_of`; those that the memory holds if None.
    """
    if not memory.units:
        return "it was imported by an older version"
    if memory.prim_path:
        return f"only '{memory.prim_path}' of the source was imported"
    earlier = Path(memory.others.splitlines()[0]).name if memory.others else ""
    return lost_file(scene, source, memory.files if files is None else files, float(memory.meters or 1.0), earlier)


def lost_file(scene: Scene, source: Path, files: str, meters: float, earlier: str) -> str:
    """Why a scene cannot be held against the file that it was imported from.

    files: that must be as they were, see `system.files.note_of`. meters: length of a Blender unit at the import.
    earlier: name of another file whose objects are in the scene, too; else empty.
    """
    if earlier:
        return f"'{earlier}' was imported into the scene, too"
    if not source.is_file():
        return f"'{source.name}', from which the scene was imported, is gone"
    if changed := first_changed(files, source.parent):
        return f"'{changed}', from which the scene was imported, has changed since"
    if abs(meters / (float(scene.unit_settings.scale_length) or 1.0) - 1.0) > 1e-6:
        return "the unit scale of the scene was changed since the import"
    return ""


def _has_new_animation(scene: Scene) -> bool:
    """True if an object is moved by keyframes, drivers or constraints that the import has not made."""
    from ..bridge import import_notes

    return any(import_notes.has_new_movers(obj) for obj in scene.objects)
