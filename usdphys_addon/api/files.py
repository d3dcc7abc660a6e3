# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes and files as a whole: open, import, check, fix, simulate, bake, export, convert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import numpy as np

from .. import formats
from ..core.errors import InputError, UsageError
from ..core.qualities import QUALITY_TEXTS
from ..core.units import StageUnits, checked_frame_rate
from ..core.validate import Issue, Target, validate
from ..system import blender as system_blender
from ..system.files import checked
from . import blender
from .actions import chosen
from .results import FileReport, FixReport, Motion
from .stages import checked_target, choices_of, read_as, refuse_idle

if TYPE_CHECKING:
    from ..simulation.record import Recording
    from ..simulation.world import World

#: As in `core.validate`, and "ros" for robots in URDF.
CheckTarget = Literal["usd", "physx", "newton", "mujoco", "havok", "godot", "ros"]
Hierarchy = Literal["nested", "flat", "reset"]
SceneForm = Literal["auto", "copy", "layer", "flat", "composed"]
Quality = Literal["draft", "normal", "exact"]

_FORMS = ("auto", "copy", "layer", "flat", "composed")


class ExportOptions(TypedDict, total=False):
    """The parameters of `export`, for `convert`."""

    meters_per_unit: float | None
    kilograms_per_unit: float | None
    up_axis: Literal["Y", "Z"] | None
    hierarchy: Hierarchy | None
    animation: bool
    strict: bool
    form: SceneForm
    physics_only: bool
    collection: str
    layers: bool
    instanceable: bool
    runtimes: bool
    physx_attributes: bool
    materialx: bool
    ros_package: str


def open_scene(
    path: str | Path, *, variants: Sequence[str] = (), prim: str = "", packages: Mapping[str, str | Path] | None = None
) -> FileReport:
    """Open a file in Blender, in place of the open one: a .blend as it is, a file of another format in an empty scene.

    variants: choices of a USD file, such as "/Car{paint=red}". prim: only this prim of a USD file. packages: folders of
    the ROS packages of a robot, by name. Scripts in a .blend do not run. What was not saved is lost; a file that cannot
    be read leaves the open scene as it was.

    Raises InputError for a file that cannot be read, and UsageError for an option that its format does not have.
    """
    blender.require("open_scene")
    file = str(path)
    kind, load = read_as(file, choices_of(variants, packages, prim))
    issues = kind.load(file, load)
    return FileReport(Path(file).absolute(), tuple(issues), _counts())


def _counts() -> dict[str, int]:
    import bpy

    from ..bridge import scene_read
    from ..core import summary

    return summary.counts(scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model)


def import_file(
    path: str | Path, *, variants: Sequence[str] = (), prim: str = "", packages: Mapping[str, str | Path] | None = None,
    attach: bool = False,
) -> FileReport:  # fmt: skip
    """Import a USD, glTF, URDF, SDF or MJCF file into the open scene, with its physics.

    attach: import only the physics of a USD file, onto the objects of the scene that have the names of its prims. The
    others: as in `open_scene`. If it fails, the scene stays as it was. Raises InputError, and UsageError for an option
    that the format does not have.
    """
    context = blender.require("import_file")
    file = str(path)
    kind, load = read_as(file, choices_of(variants, packages, prim))
    if attach and kind is not formats.USD:
        raise UsageError(f"'{file}' is a {kind.name}; attach is for USD files.")
    if kind.is_scene:
        raise InputError(f"'{file}' is a .blend file; open it with open_scene().")
    if kind is formats.GLTF:
        from ..exchange import gltf_import

        before = set(context.scene.objects.keys())
        imported = gltf_import.import_gltf(file)
        made = tuple(name for name in context.scene.objects.keys() if name not in before)
        return FileReport(Path(file).absolute(), tuple(imported.issues), dict(imported.counts), made)
    if kind is formats.USD:
        from ..exchange import usd_import

        result = usd_import.import_usd(
            context, Path(file).absolute(),
            usd_import.ImportOptions(prim_path=prim, variants=tuple(variants), attach=attach),
        )  # fmt: skip
    elif kind is formats.MJCF:
        from ..exchange import mjcf_import

        result = mjcf_import.import_mjcf(context, file)
    else:
        from ..exchange import urdf_import

        result = urdf_import.import_urdf(context, file, formats.robot_options(load))
    return FileReport(result.path, tuple(result.issues), dict(result.counts), tuple(result.objects))


def export(
    path: str | Path, *, meters_per_unit: float | None = None, kilograms_per_unit: float | None = None,
    up_axis: Literal["Y", "Z"] | None = None, hierarchy: Hierarchy | None = None, animation: bool = False,
    strict: bool = False, form: SceneForm = "auto", physics_only: bool = False, collection: str = "",
    layers: bool = False, instanceable: bool = False, runtimes: bool = False, physx_attributes: bool = False,
    materialx: bool = False, ros_package: str = "",
) -> FileReport:  # fmt: skip
    """Write the open scene to a USD, glTF, URDF, MJCF (.xml) or .blend file, by the end of its name.

    None: as the scene is set. meters_per_unit (m), kilograms_per_unit (kg), up_axis: of the file. hierarchy: bodies
    below bodies as parented, beside each other, or with a reset transform stack. animation: write the frame range as
    time samples. strict: write nothing where the checks find errors. form: of an imported scene: a "copy" of its file
    with the edits, a "layer" with the edits alone, one "flat" file, or "composed" by Blender. physics_only: of the
    edits, those of the physics. collection: only its objects. layers: an asset of layers. instanceable: its meshes
    are instances. runtimes: variants for PhysX, Newton and MuJoCo. physx_attributes: settings of Newton as attributes
    of PhysX, too. materialx: networks of MaterialX, too. ros_package: of a URDF.

    The file is replaced when it is complete. Raises UsageError for an option that has no effect on this kind of file,
    OutputError for a file that cannot be written, ValidationFailedError for errors in the scene.
    """
    options = formats.WriteOptions(
        meters_per_unit, kilograms_per_unit, up_axis, hierarchy, animation=animation, strict=strict, form=form,
        physics_only=physics_only, collection=collection, layers=layers, instanceable=instanceable,
        runtimes=runtimes, physx_attributes=physx_attributes, materialx=materialx, ros_package=ros_package,
    )  # fmt: skip
    context = blender.require("export")
    file = str(path)
    kind = formats.format_of(file)
    if kind.write is None:
        raise InputError(f"'{file}' cannot be written; a {kind.name} is only read.")
    _check_written(options, file, kind)
    checked(Path(file).absolute())
    context.view_layer.update()
    from ..system import console

    with console.without_scratch_names():
        result = kind.write(file, options)
    return FileReport(Path(result.path).absolute(), tuple(result.issues), dict(result.counts))


def _check_written(options: formats.WriteOptions, file: str, kind: formats.Format) -> None:
    refuse_idle(file, kind, formats.set_names(options), kind.heeds)
    for name in ("meters_per_unit", "kilograms_per_unit"):
        value = getattr(options, name)
        if value is not None and not (isinstance(value, int | float) and 1e-20 <= value <= 1e20):
            raise UsageError(f"{name} is {value!r}; give a number above zero.")
    if options.hierarchy is not None:
        chosen(options.hierarchy, ("nested", "flat", "reset"), "hierarchy")
    if options.up_axis not in (None, "Y", "Z"):
        raise UsageError(f"There is no up axis {options.up_axis!r}; choose Y or Z.")
    chosen(options.form, _FORMS, "form")


def convert(
    source: str | Path, target: str | Path, *, variants: Sequence[str] = (), prim: str = "",
    packages: Mapping[str, str | Path] | None = None, **options: Unpack[ExportOptions],
) -> FileReport:  # fmt: skip
    """`open_scene` and `export` in one: make a file of another one. options: the parameters of `export`.

    In Blender the source is open afterwards, in place of the open scene: what was not saved of that is lost. A URDF or
    xacro file becomes USD without Blender, too, where of the options only `strict` and `physx_attributes` are set. The
    issues of both are in the report. Raises what the two raise.
    """
    choices = choices_of(variants, packages, prim)
    _, load = read_as(str(source), choices)
    kind, other = formats.check_conversion(str(source), str(target), choices)
    wanted = formats.WriteOptions(**options)
    _check_written(wanted, str(target), other)
    direct = kind.conversions.get(other.name)
    more = [name for name in formats.set_names(wanted) if direct is not None and name not in direct.heeds]
    if system_blender.is_here() or direct is None or more:
        blender.require("convert", *more[:1])
        direct = None
    checked(Path(target).absolute(), [str(source)])
    if direct is not None:
        issues, counts = direct.run(str(source), load, str(target), wanted)
        return FileReport(Path(target).absolute(), tuple(issues), counts)
    read = open_scene(source, variants=variants, prim=prim, packages=packages)
    written = export(target, **options)
    return FileReport(written.path, (*read.issues, *written.issues), written.counts)


# --------------------------------------------------------------------------- checks


def validate_file(
    path: str | Path, target: CheckTarget = "usd", *, packages: Mapping[str, str | Path] | None = None
) -> list[Issue]:
    """What is wrong with the physics of a file, errors first. Needs no Blender but for a .blend, which it opens.

    target: "usd" for the specification alone, the simulator that will read it, or "ros" for a robot. Raises InputError
    for a file that cannot be read.
    """
    file = str(path)
    source = formats.format_of(file)
    if source.is_scene:
        blender.require("validate_file")
    _, load = read_as(file, choices_of((), packages))
    own = source.checks.get(target)
    if own is not None:
        return own(file, load)
    if target == "ros":
        raise UsageError(f"'{file}' is a {source.name}; the target 'ros' is for robots in URDF.")
    wanted = checked_target(target)
    with source.read(file, load) as (model, issues):
        return [*issues, *validate(model, wanted)]


def validate_scene(target: Literal["usd", "physx", "newton", "mujoco", "havok", "godot"] = "usd") -> list[Issue]:
    """What is wrong with the physics of the open scene, errors first, as an export would say it.

    target: "usd" for the specification alone, or the simulator that will read the file. Raises InputError.
    """
    context = blender.require("validate_scene")
    wanted = checked_target(target)
    from ..bridge import scene_read
    from ..exchange import usd_export

    context.view_layer.update()
    reading = scene_read.read_scene(context.evaluated_depsgraph_get())
    _, hierarchy = usd_export.stage_options(context.scene)
    return [*reading.issues, *validate(reading.model, wanted, hierarchy=hierarchy)]


def fix_scene() -> FixReport:
    """Fix all issues of the open scene that have a safe fix: one that changes nothing that works."""
    context = blender.require("fix_scene")
    from ..checks import live
    from ..checks.fixes import apply_safe

    report = live.check(context.scene, context.view_layer)
    fixed, refused = apply_safe(context.scene, report.issues)
    return FixReport(fixed, tuple(refused), tuple(validate_scene()))


def fix_file(path: str | Path, target: Target = "usd") -> FixReport:
    """Fix in a USD or URDF file, in place, what has a safe fix: one that changes nothing that works. Needs no Blender.

    target: as in `Stage.validate`. The rest of the text stays as it is. Fixes of the geometry are left, which
    `fix_scene` does in Blender. Raises InputError and OutputError; the file is as it was then.
    """
    file = Path(path)
    kind = formats.format_of(str(path))
    wanted = checked_target(target)
    if kind not in (formats.USD, formats.URDF):
        raise InputError(f"'{path}' is a {kind.name}; only USD and URDF files are fixed in place.")
    codes = {issue.code for issue in validate_file(path, wanted)}
    checked(file)
    fixed, refused, notes = _fix_urdf(file, codes) if kind is formats.URDF else _fix_usd(file, wanted)
    return FixReport(fixed, tuple(refused), tuple(validate_file(path, wanted)), tuple(notes))


def _fix_usd(file: Path, target: Target) -> tuple[int, list[str], list[str]]:
    from ..usd.fixing import fix_file as usd_fixes

    result = usd_fixes.fix_file(file, [target], lambda _code: True)
    refused = [f"{code} of '{prim}' is left: {reason}." for code, prim, reason in result.planned.left]
    notes = [f"USD has written the text of '{file}' anew, without its comments."] if result.is_rewritten else []
    return len(result.planned.done), refused, notes


def _fix_urdf(file: Path, codes: set[str]) -> tuple[int, list[str], list[str]]:
    from ..urdf import fix_text

    names: list[str] = []
    if not codes.isdisjoint(fix_text.CODES):
        try:
            names = fix_text.swap_limits(file)
        except InputError as error:
            return 0, [f"The limits of '{file}' are left: {error}."], []
    return len(names), [], []


# --------------------------------------------------------------------------- motion


def simulate_file(
    path: str | Path, seconds: float, *, fps: float | None = None, substeps: int = 0, quality: Quality = "normal",
    cache: str | Path | None = None, packages: Mapping[str, str | Path] | None = None,
) -> Motion:  # fmt: skip
    """Simulate a USD, URDF, xacro or SDF file from its first frame. Needs no Blender.

    seconds: simulated time. fps: frames per second; None for those of the file. substeps: solver steps per frame; 0 for
    those of the quality. cache: a .usda, .usdc or .usd file that gets the motion as time samples, as a layer over a USD
    file. Raises InputError for a file that cannot be read or simulated, UsageError for numbers that make no sense.
    """
    _check_simulation(seconds, fps, substeps, quality)
    file = str(path)
    kind = formats.format_of(file)
    if kind.as_stage is None:
        raise InputError(f"'{file}' is a {kind.name}; open it with open_scene() and use simulate_scene(), in Blender.")
    target = None if cache is None else _cache_target(cache, kind, file)
    from .. import stage_motion

    _, load = read_as(file, choices_of((), packages))
    with kind.as_stage(file, load) as (stage_file, issues):
        formats.expose_pxr()
        from ..usd import composition
        from ..usd import read as usd_read

        with usd_read.damage_refused(stage_file):
            stage = usd_read.open_stage(stage_file)
            if target is not None:
                composition.refuse_parts(stage, target)
            motion = stage_motion.simulate_stage(stage, seconds, fps=fps, substeps=substeps, quality=quality)
            if target is not None:
                stage_motion.write_cache(stage, target, motion, motion.recording)
    names = tuple(motion.model.prims[body].name for body in motion.recording.paths)
    return _motion(motion.world, motion.recording, names, motion.model.units, issues)


def _cache_target(cache: str | Path, kind: formats.Format, file: str) -> Path:
    target = Path(cache).absolute()
    if kind is not formats.USD:
        raise UsageError(f"'{file}' is a {kind.name}; a cache is a layer over a USD file. Convert it first.")
    if target.suffix.lower() not in (".usd", ".usda", ".usdc"):
        raise UsageError(f"'{cache}' is no layer; end it with .usda, .usdc or .usd.")
    checked(target, [file])
    return target


def simulate_scene(
    seconds: float, *, fps: float | None = None, substeps: int = 0, quality: Quality = "normal"
) -> Motion:
    """Simulate the open scene from its current frame on; nothing in the scene is changed, see `bake` for that.

    seconds, fps, substeps, quality: as in `simulate_file`; fps None takes that of the scene. Raises InputError and
    UsageError.
    """
    _check_simulation(seconds, fps, substeps, quality)
    context = blender.require("simulate_scene")
    from ..bridge import scene_read
    from ..exchange import usd_export
    from ..playback import guard, scene_motion

    guard.stop()
    scene = context.scene
    rate = fps or checked_frame_rate(scene.render.fps / scene.render.fps_base, scene.name)
    context.view_layer.update()
    reading = scene_read.read_scene(context.evaluated_depsgraph_get())
    frame, part = scene.frame_current, scene.frame_subframe
    try:
        world, recording = scene_motion.simulate_scene(
            scene, reading.model, seconds, rate, substeps=substeps, quality=quality, animated=reading.animated
        )
    finally:
        if (scene.frame_current, scene.frame_subframe) != (frame, part):
            scene.frame_set(frame, subframe=part)
    units, _ = usd_export.stage_options(scene)
    names = tuple(reading.model.prims[body].label for body in recording.paths)
    return _motion(world, recording, names, units, reading.issues)


def _check_simulation(seconds: float, fps: float | None, substeps: int, quality: str) -> None:
    for name, number in (("seconds", seconds), ("fps", fps)):
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if number is not None and not (is_number and np.isfinite(number) and number > 0):
            raise UsageError(f"{name} is {number!r}; give a number above zero.")
    if not isinstance(substeps, int) or substeps < 0:
        raise UsageError(f"substeps is {substeps!r}; give a whole number, or 0 for that of the quality.")
    chosen(quality, tuple(QUALITY_TEXTS), "quality")


def _motion(
    world: World, recording: Recording, names: tuple[str, ...], units: StageUnits, issues: list[Issue]
) -> Motion:  # fmt: skip
    return Motion(
        recording.fps, tuple(recording.paths), names, recording.positions, recording.rotations,
        tuple(map(bool, recording.kinematic)), (*issues, *world.notices),
        {path: broken.seconds for path, broken in recording.broken.items()}, recording, units,
    )  # fmt: skip


def bake(start: int | None = None, end: int | None = None) -> int:
    """Simulate the open scene and insert keyframes for every body at every frame; an earlier bake is removed first.

    start, end: frames; None for those of the scene. Returns the number of objects. Raises InputError for an empty range
    and where there is nothing to simulate.
    """
    context = blender.require("bake")
    from ..playback import bake as baking

    scene = context.scene
    first = scene.frame_start if start is None else start
    return baking.bake(context, first, scene.frame_end if end is None else end)


def clear_bake() -> int:
    """Remove the keyframes of the last bake and put the objects back. Returns the number of objects."""
    context = blender.require("clear_bake")
    from ..playback import bake as baking

    return baking.clear_bake(context.scene)
