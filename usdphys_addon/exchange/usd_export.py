# SPDX-License-Identifier: GPL-3.0-or-later
"""Export: Blender's own USD export writes the scene, our hook puts the physics on that stage, once."""

from __future__ import annotations

from collections.abc import Iterable, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context, Depsgraph, Object, Scene

from ..bridge import authored_poses, curves, scene_read, tet_meshes
from ..bridge.environment import require_usd
from ..bridge.identity.remembered import home_of, looks_of
from ..bridge.mesh import options_to_write_as_shown
from ..bridge.reading import DEFAULT_ROOT, SceneReading
from ..bridge.roles import curves_move, is_animated
from ..core import paths, summary, validate, velocities
from ..core.animation import Key
from ..core.coasting import coasting_of
from ..core.errors import InputError, OutputError, UsdPhysError
from ..core.model import PhysicsModel
from ..core.proof import Proof
from ..core.runtimes import add_physx_words
from ..core.schemas import usd_geom, usd_physics
from ..core.units import StageUnits, remembered_units, shortest
from ..core.validate import Hierarchy, Issue, refuse_errors
from ..core.words import counted
from ..system import faults
from ..system.collector import gc_paused
from ..system.console import note
from ..system.files import USD_SUFFIXES, checked, replacing
from . import blend_shapes, curve_prims, hidden_prims, image_files, materialx, stage_layout, tet_prims
from .blend_file import is_robot, refuse_own_files
from .hook_calls import handled_by
from .stage_match import StageMatcher

if TYPE_CHECKING:
    from pxr import Usd


#: Schemas that `_filter_colliders` writes to other prims.
_ELSEWHERE = frozenset({usd_physics.FilteredPairsAPI.usd_name})


@dataclass(slots=True)
class ExportOptions:
    """units: of the stage. hierarchy: how nested bodies are written. strict: write nothing where there are errors.

    layers: as an asset of layers, see `usd.asset_layers`. instanceable: its meshes are instances. physx_words: see
    `core.runtimes`. runtimes: with variants for simulators, see `usd.runtime_variants`. native: further options of
    Blender's own exporter, by name. proves: hold the written file against the scene, see `core.proof`; None
    where the caller does, with the proof of the result. materialx: networks of MaterialX, too, where Blender does.
    """

    units: StageUnits = field(default_factory=StageUnits)
    hierarchy: Hierarchy = "nested"
    selected_only: bool = False
    animation: bool = False
    root: str | None = None
    strict: bool = False
    layers: bool = False
    instanceable: bool = False
    physx_words: bool = False
    native: dict[str, Any] = field(default_factory=dict)
    runtimes: bool = False
    proves: bool | None = True
    materialx: bool = False


@dataclass(slots=True)
class ExportResult:
    """issues: all that was found. counts: prims with physics by kind. moved: new paths of flattened bodies.

    edited: number of prims that a layer edits, of which alone are the counts; None for a file of its own. changed: how
    many things of which kind differ from the imported file; None for a file without one. proof: what Blender has shown.
    """

    path: Path
    issues: list[Issue] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    edited: int | None = None
    changed: dict[str, int] | None = None
    proof: Proof | None = None

    @property
    def errors(self) -> list[Issue]:
        return [issue for issue in self.issues if issue.severity == "error"]


def stage_options(scene: Scene) -> tuple[StageUnits, Hierarchy]:
    """Units and hierarchy that are set for a scene; by default metres, kilograms, Z up and nested."""
    stage = scene.usdphys.stage
    units = StageUnits(shortest(stage.meters_per_unit), shortest(stage.kilograms_per_unit), stage.up_axis)
    return units, stage.hierarchy.lower()


# --------------------------------------------------------------------------- the export


@authored_poses.authored()
def export_usd(context: Context, filepath: str | Path, options: ExportOptions) -> ExportResult:
    """Write the scene with its physics. The target is replaced in one step at the end, or stays as it was.

    Raises MissingDependencyError, OutputError, and ValidationFailedError, see `refuse_errors`.
    """
    require_usd()
    with gc_paused():
        return _export(context, checked_target(filepath), options)


def _export(context: Context, target: Path, options: ExportOptions) -> ExportResult:
    from ..usd import verify as usd_verify
    from ..usd.files import packages as usd_packages

    memory = context.scene.usdphys.source
    if options.root is None:
        # Imported prims go back to their own paths, so there is no root prim above them.
        options = replaced(options, root="" if memory.filepath else DEFAULT_ROOT)
    # What is kept of an imported file is in its units. The finished stage is converted.
    own_units = remembered_units(memory.units) if memory.filepath else None
    converted = options.units if own_units is not None and not options.units.is_like(own_units) else None
    if converted is not None and own_units is not None:
        options = replaced(options, units=own_units)
    keep = (lambda obj: bool(obj.select_get())) if options.selected_only else None
    reading = scene_read.read_scene(context.evaluated_depsgraph_get(), root=options.root or "", keep=keep)
    if options.animation:
        reading.model.animated = curves.sampled(context, reading.animated)
    if options.physx_words:
        add_physx_words(reading.model)
    issues = _issues_of(reading, options.hierarchy, context.scene)
    refuse_errors(issues, target, strict=options.strict)
    job = _Job(reading, options, _needs_names(options, reading), converted)
    result = ExportResult(target, issues, summary.counts(reading.model), job.moved)
    if options.proves is not False:
        moving = moving_paths(reading) if options.animation else frozenset()
        job.proof = result.proof = Proof(reading.model, moving=moving, without=_ELSEWHERE)

    def check(made: Path) -> None:
        read = usd_verify.verify(made, target, job.outline)
        if options.proves:
            usd_verify.prove(made, result, strict=options.strict, read=read)

    job.is_package = target.suffix.lower() == ".usdz"
    apart = image_files.are_expected(target)
    with (
        replacing(target, verify=check, apart=apart) as scratch,
        handled_by("on_export", partial(_run, job)),
    ):
        job.place = (scratch.parent, target) if apart else None
        with ExitStack() as until_saved:
            # Blender opens the stage of a package again, to pack it.
            job.until_saved = None if job.is_package else until_saved
            _native_export(
                scratch, options, reading.model.units.meters_per_unit, names=job.by_name, as_shown=_as_shown(reading)
            )
        if job.error is not None:
            raise job.error
        if not job.done:
            raise OutputError(f"Blender's USD exporter wrote no stage for '{target}'; see the console for its reason.")
        if job.is_package and scratch.is_file():
            result.issues += usd_packages.cleaned(scratch, target)
        result.issues += job.issues
        result.moved = job.moved
    return result


def _as_shown(reading: SceneReading) -> dict[str, Any]:
    """Options of Blender's exporter with which imported colliders, which are one prim with their mesh, are as shown."""
    options: dict[str, Any] = {}
    colliders = reading.model.colliders
    for site in reading.sites.values():
        if site.geometry == site.path and site.geometry in colliders:
            options |= options_to_write_as_shown(site.obj)
    return options


def _needs_names(options: ExportOptions, reading: SceneReading) -> bool:
    """Whether Blender has to write the names of objects and data."""
    return bool(options.native) or not reading.paths_are_certain or _has_own_geometry()


def _has_own_geometry() -> bool:
    """True where what Blender writes of an object is changed, which is found by its name."""
    return any(map(tet_meshes.has_tets, bpy.data.meshes)) or any(map(curve_prims.is_line, bpy.data.objects))


def _native_export(
    scratch: Path, options: ExportOptions, scene_meters: float, *, names: bool, as_shown: dict[str, Any]
) -> None:  # fmt: skip
    """Have Blender write the scene.

    scene_meters: length of a Blender unit; Blender's exporter ignores it and takes a unit for a metre. names: write
    the names of objects and data as attributes on their prims, which only this add-on reads. as_shown: see `_as_shown`.
    """
    refuse_crash()
    units = options.units
    keywords: dict[str, Any] = {
        "filepath": str(scratch),
        "check_existing": False,
        "selected_objects_only": options.selected_only,
        "export_animation": options.animation,
        "evaluation_mode": "VIEWPORT",  # colliders that are hidden in renders are exported, too
        "use_instancing": False,
        "root_prim_path": options.root or "",
        # Blender's Euler angles are up to 4e-4 rad wrong where an axis turns by nearly 90 degrees. Its matrices hold
        # rounding that OpenUSD's validator takes for sheared rigid bodies.
        "xform_op_mode": "TOS",
        "export_custom_properties": True,
        "author_blender_name": names,
        "allow_unicode": True,
        "convert_world_material": False,  # it writes image files beside the target, which is about physics
        "convert_orientation": units.up_axis == "Y",
        "export_global_forward_selection": "NEGATIVE_Z",
        "export_global_up_selection": "Y",
        "convert_scene_units": "CUSTOM",
        "meters_per_unit": units.meters_per_unit / scene_meters,
    }
    keywords.update({**as_shown, **materialx.options(wanted=options.materialx), **options.native})
    try:
        result = bpy.ops.wm.usd_export(**keywords)
    except RuntimeError as error:
        raise OutputError(f"Blender's USD exporter failed: {str(error).strip()}") from error
    if "FINISHED" not in result:
        raise OutputError("Blender's USD exporter was cancelled.")


def refuse_crash(objects: Iterable[Object] | None = None) -> None:
    """Raise InputError for an object with which Blender's exporter ends the process; those before 5.2 do.

    objects: that are to be exported; by default all that are shown.
    """
    if bpy.app.version >= (5, 2):
        return
    data: Any = bpy.data
    empty = [curve for curve in data.curves if type(curve) is bpy.types.Curve and not curve.splines]
    empty += [cloud for cloud in data.pointclouds if not cloud.points]
    if not empty:
        return
    if objects is None:
        # The objects of the dependency graph are those that are seen; what instances show is among its data only.
        shown = {item.original for item in bpy.context.evaluated_depsgraph_get().ids}
    else:
        shown = {obj.data for obj in objects}
    for block in shown.intersection(empty):
        user: Any = next((obj for obj in data.objects if obj.data == block), block)
        raise InputError(
            f"Blender {bpy.app.version_string} crashes when it exports '{user.name}', which has no points; delete it, "
            "give it points, or use Blender 5.2."
        )


# --------------------------------------------------------------------------- files


def checked_target(filepath: str | Path) -> Path:
    """The absolute target. Raises OutputError where its type, its folder or its permissions forbid it, or the scene."""
    target = Path(bpy.path.abspath(str(filepath))).absolute()
    if target.suffix.lower() not in USD_SUFFIXES:
        raise OutputError(f"'{target}' is no USD file name; end it with one of {', '.join(USD_SUFFIXES)}.")
    if target.suffix.lower() == ".usdz" and not target.name.isprintable():
        raise OutputError(f"'{target}' has a control character in its name, which packages do not take; rename it.")
    return refuse_own_files(checked(target))


# --------------------------------------------------------------------------- the hook


@dataclass(slots=True)
class _Job:
    """One export: what the hook is to write, and its outcome.

    converted: other units than those in which it is written. place: the temporary folder of the file, and the target,
    where Blender may write images. outline: of the finished stage. by_name: correct the expected paths by the object
    names that Blender writes. is_package: the target is a .usdz, which gets copies of all files. until_saved: what it
    holds is closed when Blender has saved the stage.
    """

    reading: SceneReading | None
    options: ExportOptions | None
    by_name: bool = True
    converted: StageUnits | None = None
    place: tuple[Path, Path] | None = None
    until_saved: ExitStack | None = None
    issues: list[Issue] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    error: UsdPhysError | None = None
    done: bool = False
    is_package: bool = False
    outline: list[str] = field(default_factory=list)
    proof: Proof | None = None


def _run(job: _Job, export_context: Any) -> bool:
    """Write the physics of one job. Errors and issues are stored in the job."""
    from ..usd import verify as usd_verify

    try:
        _write_physics(export_context, job)
        layer = export_context.get_stage().GetRootLayer()
        robot = is_robot(scene_of(export_context.get_depsgraph()))
        if job.place is not None:
            image_files.bring_all(layer, *job.place, others=robot)
        elif robot and layer.realPath:
            image_files.take_along(layer)
        if job.is_package and layer.realPath:
            from ..usd.files import packages as usd_packages

            usd_packages.take_along(layer, Path(layer.realPath).parent)
        job.outline = usd_verify.outline(layer)
        job.done = True
    except UsdPhysError as error:
        job.error = error
    except Exception as error:  # an exception that leaves a hook is lost in Blender's log
        faults.tell()
        reason = " ".join(str(error).split())[:200]
        job.error = OutputError(f"The physics could not be written: {type(error).__name__}: {reason}")
    return job.error is None


def on_native_export(export_context: Any) -> bool:
    """Standing hook: add the physics of the scene to an export by Blender's own operator."""
    job = _Job(None, None)
    _run(job, export_context)
    for issue in job.issues:
        if issue.severity != "info":
            note(f"USD Physics: {issue.severity}: {issue.message} {issue.fix}")
    if job.error is not None:
        note(f"USD Physics: error: {job.error}")
    return job.error is None


def _issues_of(reading: SceneReading, hierarchy: Hierarchy, scene: Scene) -> list[Issue]:
    """What is wrong with a scene. Links of a robot are below each other on purpose."""
    wanted: Hierarchy = "reset" if is_robot(scene) else hierarchy
    return reading.issues + validate.validate(reading.model, hierarchy=wanted, check_geometry=False)


def _write_physics(export_context: Any, job: _Job) -> None:
    """Put the physics of a scene on the stage that Blender has just filled."""
    from ..usd import hierarchy as usd_hierarchy
    from ..usd import skeletons, unit_conversion
    from ..usd import verify as usd_verify
    from ..usd import write as usd_write
    from ..usd.rest_time import transform_of

    stage = export_context.get_stage()
    depsgraph = export_context.get_depsgraph()
    scene = scene_of(depsgraph)
    plan = _plan(stage, depsgraph, job)
    if plan is None:
        return
    reading, units, hierarchy = plan
    layer = stage.GetEditTarget().GetLayer()
    if job.options is not None and job.options.materialx:
        job.issues += materialx.issues_of(layer)
    hidden_prims.write(stage, export_context, reading, units, job.issues)
    job.issues += tet_prims.write(layer)
    curve_prims.write(layer)
    is_imported = bool(scene.usdphys.source.filepath)
    places: dict[str, str] = {}
    kept: set[str] = set()
    if is_imported:
        places = _restore(stage, scene, job, reading, units)
        # The scale by which Blender converts units above the objects takes back that of the import, so lengths in their
        # space stay in Blender units.
        units = units._replace(local_meters_per_unit=reading.model.units.meters_per_unit)
    elif any("prim" in placement.touched for placement in reading.placements):
        stage_layout.rename(stage)
        stage_layout.merge_colliders(stage, _shapes_of(reading))
    matcher = StageMatcher(stage, export_context, by_name=job.by_name)
    model = matcher.matched(reading, job.issues)
    if job.proof is not None:
        job.proof.left_out = matcher.left_out
        job.proof.moves.append(matcher.renames)
    if not is_imported:
        _filter_colliders(model)
    _write_sheared(stage, model)
    if not is_imported:
        unit_conversion.take_scale(stage, reading.model.units.meters_per_unit, units.meters_per_unit)
    _restore_default_prim(stage, home_of(scene))
    usd_write.write_units(stage, units)
    animated = [path for path, prim in model.prims.items() if prim.is_animated]
    # Blender writes samples of the place of an object as soon as any value of it is animated.
    animated += [
        matcher.renames.get(placement.path, placement.path) for placement in reading.placements
        if placement.obj.animation_data is not None
    ]  # fmt: skip
    if stage.HasAuthoredTimeCodeRange():
        # It also writes the places of instances that stand still as samples.
        animated += [str(prim.GetPath()) for prim in stage.Traverse() if transform_of(prim)[0]]
    has_skeletons = bool(len(bpy.data.armatures) or len(bpy.data.shape_keys))
    if len(bpy.data.shape_keys):
        blend_shapes.write_weights(
            stage, {matcher.renames.get(site.path, site.path): site.obj for site in reading.placements}
        )
    coasting = any(coasting_of(model, prim) is not None for prim in model.bodies.values())
    is_read_last = coasting or has_skeletons or job.converted is not None
    if not (animated or hierarchy != "nested" or is_imported or is_read_last):
        _leave_stage(job)
    usd_write.write_model(stage, model, units, matcher.specs if matcher.is_as_expected else None)
    usd_write.write_samples(stage, model, units)
    usd_hierarchy.keep_current_poses(stage, animated, reading.frame)
    job.moved = usd_hierarchy.arrange(stage, model.bodies, hierarchy)
    if job.proof is not None:
        job.proof.moves.append(job.moved)
    if is_imported:
        kept = stage_layout.tidy(stage, scene, places, job.issues, reading.frame, _root_of(stage, job))
        if kept:
            usd_hierarchy.keep_current_poses(stage, animated, reading.frame)
        if job.proof is not None:
            for kind, number in usd_verify.counts_of_prototypes(stage).items():
                job.proof.counts[kind] += number
        if not is_read_last:
            _leave_stage(job)
        stage_layout.put_in_order(layer, scene)
    stage_layout.keep_stacks(layer, model, job.moved)
    if has_skeletons:
        skeletons.root_skeletons(stage)
    if coasting and job.options is not None:
        _write_coasting(stage, model, units, job)
    _report_animated(reading, model, job, kept)
    unknown = unit_conversion.convert(stage, job.converted) if job.converted is not None else {}
    report_unknown_units(unknown, job.issues)
    report_scaled_velocities(model, units, job.issues)


def _plan(stage: Usd.Stage, depsgraph: Any, job: _Job) -> tuple[SceneReading, StageUnits, Hierarchy] | None:
    """What is written, and how; of Blender's own export, by the settings of the scene. None if there is no physics."""
    from ..usd import read as usd_read

    if job.reading is not None and job.options is not None:
        return job.reading, job.options.units, job.options.hierarchy
    _warn_of_unit_scale(depsgraph)
    job.issues += authored_poses.issues_of_export()
    reading = scene_read.read_scene(
        depsgraph, root=_root_path(stage), meters=1.0, hidden_among=hidden_prims.viewport_of(depsgraph)
    )
    if not reading.model.prims:
        return None
    wanted, hierarchy = stage_options(depsgraph.scene.original)
    job.issues += _issues_of(reading, hierarchy, scene_of(depsgraph))
    # The options of Blender's own export decide on length and up axis.
    units = usd_read.stage_units(stage)
    units = units._replace(
        kilograms_per_unit=wanted.kilograms_per_unit, meters_per_unit=shortest(units.meters_per_unit)
    )
    return reading, units, hierarchy


def _root_of(stage: Usd.Stage, job: _Job) -> str:
    """Path of the prim under which an imported scene is written; "" if it has its own root."""
    return _root_path(stage) if job.options is None else job.options.root or ""


def _restore(
    stage: Usd.Stage, scene: Scene, job: _Job, reading: SceneReading, units: StageUnits
) -> dict[str, str]:  # fmt: skip
    """Bring back the names, types and materials of an imported scene; see `stage_layout.restore`."""
    if job.options is not None:
        _finish_scale(stage, units.meters_per_unit / reading.model.units.meters_per_unit)
    looks = "" if _root_of(stage, job) else looks_of(scene)
    gprims = {
        site.obj.name: prim.type_name for site in reading.sites.values()
        if (prim := reading.model.prims.get(site.path)) is not None and prim.get(usd_geom.Gprim) is not None
    }  # fmt: skip
    return stage_layout.restore(stage, looks, reading.materials, gprims)


def _shapes_of(reading: SceneReading) -> dict[str, str]:
    """Types of the colliders that are one prim with their object, by the name of that."""
    prims = reading.model.prims
    merged = [site for site in reading.sites.values() if site.geometry == site.path and site.path in prims]
    return {site.obj.name: prims[site.path].type_name for site in merged}


def _leave_stage(job: _Job) -> None:
    """Nobody asks the stage any more (our hook is the last that was registered), so it need not be composed anew.

    That takes a third of all writing.
    """
    from pxr import Sdf

    if job.until_saved is not None:
        job.until_saved.enter_context(Sdf.ChangeBlock())


def _report_animated(reading: SceneReading, model: PhysicsModel, job: _Job, kept: set[str]) -> None:
    """Say which animated values are in the file, and which are not. kept: paths that keep their animation."""
    report_uniform(model, reading.frame, job.issues)
    if job.options is not None and job.options.animation:
        _report_values_written(model, job.issues)
    elif job.options is not None:
        report_animation(reading, kept, job.issues)
        report_values_left_out(model, reading.frame, job.issues)


def _write_coasting(stage: Usd.Stage, model: PhysicsModel, units: StageUnits, job: _Job) -> None:
    """Write the motion of the kinematic bodies that keep their velocity: USD knows no such bodies."""
    from ..usd import time_samples

    scene: Any = bpy.context.scene
    first, last = scene.frame_start, max(scene.frame_end, scene.frame_start + 1)
    if not stage.HasAuthoredTimeCodeRange():
        rate = scene.render.fps / scene.render.fps_base
        stage.SetTimeCodesPerSecond(rate)
        stage.SetFramesPerSecond(rate)
        stage.SetStartTimeCode(first)
        stage.SetEndTimeCode(last)
    for path in time_samples.write_coasting(stage, model, units, job.moved, [*map(float, range(first, last + 1))]):
        job.issues.append(Issue(
            "KeptVelocityWritten", "info", path, "",
            f"'{path}' keeps its velocity, which USD does not know: its motion from frame {first} to {last} was "
            "written.", "Choose the frame range of the scene; outside of it the body stands still in USD.",
        ))  # fmt: skip


#: What to do about animation that was left out.
SWITCH_ON = "Switch on Animation (--animation) to write time samples."


def moving_paths(reading: SceneReading) -> frozenset[str]:
    """Expected paths of objects that something animates."""
    return frozenset(placement.path for placement in reading.placements if is_animated(placement.obj))


def report_animation(
    reading: SceneReading, kept: set[str], issues: list[Issue], fix: str = SWITCH_ON, written: Set[str] | None = None
) -> None:  # fmt: skip
    """Report objects that move over time, of which only the pose was written. kept: names of other objects.

    written: paths of all that is written; an object that none of them is at or below is not named.
    """
    # Those with a group have no animation and no constraints.
    names = [
        placement.obj.name for placement in reading.placements
        if placement.group is None and _moves_over_time(placement.obj) and placement.obj.name not in kept
        and (written is None or any(paths.is_at_or_below(path, placement.path) for path in written))
    ]  # fmt: skip
    if names:
        more = f" and {counted(len(names) - 1, 'other object')}" if len(names) > 1 else ""
        issues.append(Issue(
            "AnimationLeftOut", "warning", "", names[0],
            f"Of '{names[0]}'{more}, animated here, the pose at frame {reading.frame:g} was written.",
            fix,
        ))  # fmt: skip


def report_values_left_out(model: PhysicsModel, frame: float, issues: list[Issue], fix: str = SWITCH_ON) -> None:
    """Report animated values of which only that of a frame was written."""
    names = [(model.prims[key.path], f"'{label}' of {model.prims[key.path].display}") for key, label in _varying(model)]
    if names:
        (prim, name), others = names[0], len(names) - 1
        if others:
            message = (
                f"{name} and {counted(others, 'other value')} are animated; those at frame {frame:g} were written."
            )
        else:
            message = f"{name} is animated; the value at frame {frame:g} was written."
        issues.append(Issue("AnimatedValueLeftOut", "warning", prim.path, prim.label, message, fix))


def _report_values_written(model: PhysicsModel, issues: list[Issue]) -> None:
    """Report the animated values that have become time samples, and where."""
    written = [model.animated[key] for key, _ in _varying(model) if model.animated[key].moments]
    if written:
        at_keys = sum(samples.times == "keys" for samples in written)
        issues.append(Issue(
            "AnimationWritten", "info", "", "",
            f"{counted(len(written), 'animated value')} written as time samples: {at_keys} at keys, "
            f"{len(written) - at_keys} at frames.", "No action is needed.",
        ))  # fmt: skip


def _varying(model: PhysicsModel) -> list[tuple[Key, str]]:
    """(key, label) of the animated values that USD lets vary."""
    holders = [(key, model.holder(key)) for key in model.animated]
    return [(key, held.attribute.label) for key, held in holders if held is not None and not held.attribute.uniform]


def report_uniform(model: PhysicsModel, frame: float, issues: list[Issue]) -> None:
    """Report animated values that USD does not let vary."""
    for key, samples in model.animated.items():
        held = model.holder(key)
        if held is None or not held.attribute.uniform:
            continue
        issues.append(Issue(
            "AnimatedUniform", "warning", key.path, held.prim.label,
            f"'{held.attribute.label}' of {held.prim.display} is animated by {samples.by}, but uniform in USD: the "
            f"value at frame {frame:g} was written.", "Remove its animation.",
        ))  # fmt: skip


def report_unknown_units(unconverted: dict[str, str], issues: list[Issue]) -> None:
    """Report numbers whose unit nobody knows. unconverted: path of a prim by name of the attribute."""
    if unconverted:
        name, path = min(unconverted.items(), key=lambda item: (item[1], item[0]))
        others = f" and {counted(len(unconverted) - 1, 'other attribute')}" if len(unconverted) > 1 else ""
        issues.append(Issue(
            "VendorUnitsKept", "warning", path, "",
            f"'{name}' of '{path}'{others} keep their values in the units of the source: the add-on does not "
            "know their dimension.", "Export in the units of the source, or correct these values.",
        ))  # fmt: skip


def left_out(written: ExportResult, model: PhysicsModel) -> list[Issue]:
    """Issues about what is shown and is not in a stage from which a robot's file is made.

    model: of the stage. Raises InputError with the reason where it holds nothing because of that.
    """
    issues = [issue for issue in written.issues if issue.code == "NotExported"]
    if issues and not model.bodies and not model.colliders:
        raise InputError(f"{issues[0].message} {issues[0].fix}")
    return issues


def report_scaled_velocities(model: PhysicsModel, units: StageUnits, issues: list[Issue]) -> None:
    """Report velocities of bodies that have the scale which converts units: of those that an imported scene got new.

    units: in which the file is written; its local unit is that of the scene.
    """
    ratio = units.local / units.meters_per_unit
    bodies = []
    for prim in model.bodies.values() if abs(ratio - 1.0) > 1e-6 else ():
        body = prim.get(usd_physics.RigidBodyAPI)
        if body is not None and any(body.resolved("velocity")):
            scale = abs(velocities.velocity_scale(prim.world[:3, :3] * ratio))
            if abs(scale - 1.0) > 1e-3:
                bodies.append((prim, scale))
    if bodies:
        (prim, scale), others = bodies[0], len(bodies) - 1
        more = f" and {counted(others, 'other body')}" if others else ""
        issues.append(Issue(
            "VelocityInUnits", "warning", prim.path, prim.label,
            f"Newton does not multiply the velocity of '{prim.label}'{more} by the scale that converts the units: "
            f"there it starts with {1.0 / scale:.3g} of its speed.",
            "Scale its object as the imported ones are, and apply the rest of its scale to its mesh.",
        ))  # fmt: skip


def _moves_over_time(obj: Object) -> bool:
    """True if keyframes, drivers or the animation of an imported file move an object."""
    return curves_move(obj) or any(constraint.type == "TRANSFORM_CACHE" for constraint in obj.constraints)


def _write_sheared(stage: Usd.Stage, model: PhysicsModel) -> None:
    """Write sheared transforms as matrices: Blender writes location, rotation and scale, which cannot hold them."""
    layer = stage.GetEditTarget().GetLayer()
    for path, prim in model.prims.items():
        if prim.sheared_local is not None and (spec := layer.GetPrimAtPath(path)) is not None:
            stage_layout.write_sheared(spec, prim.sheared_local)


def _filter_colliders(model: PhysicsModel) -> None:
    """Move both ends of filtered pairs from static objects to their colliders.

    UsdPhysics filters colliders, bodies and articulations. The prim of a static object is none of them: PhysX takes
    what is below it, but Newton ignores the pair.
    """
    holders = model.having(usd_physics.FilteredPairsAPI)
    if not holders:
        return
    bodies = model.bodies
    parts = [*bodies, *(path for path in model.colliders if model.body_of(path) is None)]
    known = {*parts, *model.colliders, *model.articulations}
    inside = paths.inside_each(parts, {end for pair in model.filtered_pairs() for end in pair} - known)

    def ends(path: str) -> list[str]:
        return inside.get(path) or [path]

    by_prim: dict[str, dict[str, None]] = {}
    for path, prim in holders.items():
        pairs = prim.get(usd_physics.FilteredPairsAPI)
        for one in ends(path):
            kept = by_prim.setdefault(one, {})
            for target in (pairs and pairs.filtered_pairs) or ():
                for other in ends(target):
                    if (one, other) == (path, target) or not _are_in_line(one, other):
                        kept[other] = None
        del prim.schemas[usd_physics.FilteredPairsAPI.usd_name]
    for path, targets in by_prim.items():
        model.prims[path].add(usd_physics.FilteredPairsAPI(filtered_pairs=tuple(targets) or None))


def _are_in_line(one: str, other: str) -> bool:
    return paths.is_at_or_below(one, other) or paths.is_at_or_below(other, one)


def _finish_scale(stage: Usd.Stage, wanted: float) -> None:
    """Scale the stage to the requested metersPerUnit where Blender's exporter has taken the nearest one that it can."""
    from pxr import UsdGeom

    from ..usd import unit_conversion

    if abs(UsdGeom.GetStageMetersPerUnit(stage) / wanted - 1.0) > 1e-5:
        unit_conversion.scale(stage, wanted)


def _warn_of_unit_scale(depsgraph: Depsgraph) -> None:
    """Warn that Blender's own export ignores the unit scale of the scene."""
    scale = scene_of(depsgraph).unit_settings.scale_length
    if abs(scale - 1.0) > 1e-6:
        note(
            f"USD Physics: warning: Blender's own USD export ignores the unit scale {scale:g} of the scene and takes a "
            "unit for a metre. File > Export > USD Physics does not."
        )


def _restore_default_prim(stage: Usd.Stage, path: str) -> None:
    prim = stage.GetPrimAtPath(path) if path else None
    if prim:
        stage.SetDefaultPrim(prim)


def scene_of(depsgraph: Depsgraph) -> Any:
    """The original scene of a depsgraph."""
    return depsgraph.scene.original


def _root_path(stage: Usd.Stage) -> str:
    """Path of the root prims that Blender has generated above all objects; empty if it has not."""
    path, prim = "", stage.GetDefaultPrim()
    while prim and prim.GetCustomDataByKey("Blender:generated"):
        path = str(prim.GetPath())
        prim = next((child for child in prim.GetChildren() if child.GetCustomDataByKey("Blender:generated")), None)
    return path
