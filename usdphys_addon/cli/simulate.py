# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `simulate`."""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import formats
from ..core.air import OFF
from ..core.errors import InputError, OutputError, UsageError
from ..core.units import SI, StageUnits, checked_frame_rate
from ..core.words import counted
from ..simulation.engine import ENGINES, PREVIEW, PYTHONS, Ability, Program, programs, solvers
from ..system.console import say, warn
from ..system.files import (
    IMAGE_SUFFIXES,
    TEXT_ENDS,
    USD_SUFFIXES,
    checked,
    replacing,
    scratch_file,
    work_folder,
    write_text,
)
from .inputs import choices_of
from .output import folders_made, output_to_stderr, print_issues, print_notices, summarise, tell_note

if TYPE_CHECKING:
    from ..bridge.reading import SceneReading
    from ..core.model import PhysicsModel
    from ..exchange.usd_export import ExportOptions
    from ..formats import Format
    from ..simulation.record import Animation, Recording
    from ..simulation.world import World
    from ..stage_motion import StageMotion


#: The highest number of a frame in Blender.
_LAST_FRAME = 1048574


def simulate_file(options: argparse.Namespace) -> int:
    """Simulate a file and write its motion. Returns the exit status."""
    source = formats.require_stage(options.file)
    formats.check_choices(options.file, choices_of(options))
    layers = tuple(ending for ending in USD_SUFFIXES if ending != ".usdz")
    if options.out and Path(options.out).suffix.lower() not in layers:
        raise InputError(f"'{options.out}' cannot be written; end it with one of {', '.join(layers)}.")
    if options.vary:
        from . import vary

        vary.check_options(options)
    elif options.runs is not None or options.seed is not None:
        raise UsageError("--runs and --seed are for --vary; add it, or leave them out.")
    if options.contacts is not None:
        _check_contacts(options)
    before = dict(PYTHONS)
    try:
        with folders_made(options, options.out, options.json):
            return _vary_into(options, source) if options.vary else _simulate_into(options, source)
    finally:
        # --engine-python is for this run.
        PYTHONS.clear()
        PYTHONS.update(before)


def _check_contacts(options: argparse.Namespace) -> None:
    if not options.json or options.vary:
        raise UsageError("--contacts goes into the poses of --json; add that, and leave out --vary.")
    if Ability.TOUCHES not in ENGINES[options.engine].abilities:
        raise UsageError(f"{ENGINES[options.engine].name} does not {Ability.TOUCHES}; leave out --contacts.")


def _vary_into(options: argparse.Namespace, source: Format) -> int:
    """Simulate a file with many values, and write the runs. Returns the exit status."""
    from . import vary

    _check_outputs(options)
    choices = choices_of(options)
    if source.as_stage is not None:
        with output_to_stderr(), source.as_stage(options.file, source.chosen(choices)) as (file, issues):
            print_issues(options, issues, warn)
            model, fps, animation = _model_of_stage(options, file)
            model.air = options.air or OFF
            text, line, notices = vary.runs_of(options, model, fps, model.units, animation)
    else:
        from ..exchange import blend_file, usd_export
        from ..playback import scene_motion

        with blend_file.properties_registered(), output_to_stderr():
            scene, reading = _opened_scene(options, source)
            fps = options.fps or _rate_of_scene(options, scene)
            print_issues(options, reading.issues, warn)
            rate = scene.render.fps / scene.render.fps_base
            moments = [scene.frame_start + frame * rate / fps for frame in range(vary.frame_of(options, fps) + 1)]
            animation = scene_motion.animation_of(scene, reading.model, reading.animated, moments)
            units = usd_export.stage_options(scene)[0]
            reading.model.air = reading.model.air if options.air is None else options.air
            text, line, notices = vary.runs_of(options, reading.model, fps, units, animation)
    write_text(Path(options.json), text)
    print_notices(options, notices, warn)
    summarise(options, f"{options.file}: {line}")
    return 0


def _model_of_stage(options: argparse.Namespace, file: str) -> tuple[PhysicsModel, float, Animation | None]:
    """The model of a USD file at its first frame, with the prims marked that time samples move; frames a second; what
    is animated, until the last frame of variations.
    """
    formats.expose_pxr()
    from .. import stage_motion
    from ..usd import read as usd_read
    from ..usd import time_samples
    from . import vary

    with usd_read.damage_refused(file):
        stage = usd_read.open_stage(file)
        clock = time_samples.Clock(stage, options.fps)
        model = usd_read.read_stage(stage)
        time_samples.move_to(stage, model, clock.at(0))
        for path in time_samples.animated(stage, tuple(model.prims)):
            model.prims[path].is_animated = True
        return model, clock.fps, stage_motion.animation_of(stage, model, clock, vary.frame_of(options, clock.fps))


def _opened_scene(options: argparse.Namespace, source: Format) -> tuple[Any, SceneReading]:
    """(scene, its physics) of a file that Blender opens, at its first frame."""
    import bpy

    from ..bridge import scene_read

    print_issues(options, source.load(options.file, source.options()), warn)
    scene: Any = bpy.context.scene
    scene.frame_set(scene.frame_start)
    return scene, scene_read.read_scene(bpy.context.evaluated_depsgraph_get())


def _rate_of_scene(options: argparse.Namespace, scene: Any) -> float:
    """Frames a second. Raises InputError."""
    return checked_frame_rate(scene.render.fps / scene.render.fps_base, options.file)


def _simulate_into(options: argparse.Namespace, source: Format) -> int:
    """Simulate a file and write its motion into folders that are there. Returns the exit status."""
    _check_outputs(options)
    choices = choices_of(options)
    if source.as_stage is not None:
        with output_to_stderr(), source.as_stage(options.file, source.chosen(choices)) as (file, issues):
            print_issues(options, issues, warn)
            if options.out and source is not formats.USD:
                world, recording, units = _simulate_copy(options, file)
            else:
                world, recording, units = _simulate_usd(options, file)
    else:
        from ..exchange import blend_file

        with blend_file.properties_registered(), output_to_stderr():
            world, recording, units = _simulate_blend(options, source)
    if options.json:
        try:
            text = json.dumps(recording.as_json(units), allow_nan=False)
        except ValueError as error:
            raise InputError(f"'{options.file}' moves too far for the units of its stage.") from error
        write_text(Path(options.json), text)
    print_notices(options, world.notices, warn)
    bodies, frames = counted(len(recording.paths), "body"), counted(len(recording.positions), "frame")
    broken, unstable = counted(len(world.broken_joints), "broken joint"), counted(len(world.unstable), "unstable body")
    ending = f", {broken}, {unstable}" if _runs_here(options) else ""
    if options.engine != PREVIEW:
        ending += f", simulated by {options.engine}"
    line = f"{options.file}: {bodies}, {frames} at {recording.fps:g} per second{ending}"
    if options.out or options.json:
        summarise(options, line)
    else:
        say(line)
    return 0


def _check_outputs(options: argparse.Namespace) -> None:
    """Refuse outputs that could not be written, and engines that are not there, before anything is simulated."""
    if not _runs_here(options):
        from ..simulation.engines import external

        options.engine_python = external.python_of(options.engine, options.engine_python or "")
        PYTHONS[options.engine] = options.engine_python
    elif options.engine_python:
        others = " or ".join(f"--engine {key}" for key, row in ENGINES.items() if isinstance(row, Program))
        raise UsageError(f"--engine-python is for another engine; add {others}.")
    outputs = [Path(name) for name in (options.out, options.json) if name]
    for output in outputs:
        checked(output, [options.file])
    if options.json:
        _check_poses(Path(options.json), formats.suffixes())
    if len({os.path.realpath(output) for output in outputs}) < len(outputs):
        raise UsageError("--out and --json name the same file; choose two names.")


def _check_poses(target: Path, others: Collection[str]) -> None:
    """Refuse to write poses to a file of another kind. others: the endings of formats."""
    suffix = target.suffix.lower()
    if suffix in others or suffix in IMAGE_SUFFIXES | TEXT_ENDS.keys() - {".json"}:
        raise UsageError(f"'{target}' is the name of another kind of file; end the name of the poses with .json.")
    if suffix != ".json" and target.is_file():
        with target.open("rb") as stream:
            head = stream.read(64).lstrip()
        if head and not head.startswith(b"{"):
            raise OutputError(f"'{target}' is there and holds no JSON; choose another name for the poses.")


def _simulate_blend(options: argparse.Namespace, source: Format) -> tuple[World, Recording, StageUnits]:
    """Simulate a file that Blender opens from its first frame. The units are those of its stage, also without --out."""
    import bpy

    from ..exchange import usd_export

    scene, reading = _opened_scene(options, source)
    units, hierarchy = usd_export.stage_options(scene)
    is_animated = bool(reading.model.animated) or any(prim.is_animated for prim in reading.model.prims.values())
    wanted = usd_export.ExportOptions(units, hierarchy, animation=is_animated)
    if options.out:
        return _simulate_exported(options, wanted)
    if _runs_here(options):
        print_issues(options, reading.issues, warn)
        return *_simulate_scene(options, reading), units
    with work_folder() as folder:
        file = folder / f"{Path(options.file).stem}.usdc"
        print_issues(options, usd_export.export_usd(bpy.context, file, wanted).issues, warn)
        return _simulate_usd(options, str(file))


def _simulate_exported(options: argparse.Namespace, wanted: ExportOptions) -> tuple[World, Recording, StageUnits]:
    """Export the open .blend to USD, simulate that file, and write it with the motion as time samples."""
    import bpy

    from ..exchange import blend_file, usd_export

    formats.expose_pxr()
    target = blend_file.refuse_own_files(Path(options.out).absolute())
    scene: Any = bpy.context.scene
    rate = _rate_of_scene(options, scene)
    if scene.frame_start + options.seconds * rate > _LAST_FRAME:
        raise UsageError(f"Blender has no frames after {_LAST_FRAME}; choose fewer --seconds.")
    scene.frame_end = scene.frame_start + math.ceil(options.seconds * rate)

    def export(file: Path) -> None:
        print_issues(options, usd_export.export_usd(bpy.context, file, wanted).issues, warn)

    return _simulate_whole(options, target, export)


def _simulate_copy(options: argparse.Namespace, file: str) -> tuple[World, Recording, StageUnits]:
    """Simulate a USD file that is gone later, and write it whole with the motion as time samples."""
    formats.expose_pxr()
    from ..usd import time_samples

    return _simulate_whole(options, Path(options.out).absolute(), partial(time_samples.flatten, Path(file)))


def _simulate_whole(
    options: argparse.Namespace, target: Path, write: Callable[[Path], None]
) -> tuple[World, Recording, StageUnits]:
    """Simulate a file that `write` makes beside the target, which gets all of it with the motion as time samples."""
    from ..usd import time_samples

    with replacing(target, inputs=[options.file]) as scratch, scratch_file(target) as layer:
        write(scratch)
        options.out = str(layer)
        result = _simulate_usd(options, str(scratch))
        time_samples.flatten(layer, scratch)
    return result


def _simulate_usd(options: argparse.Namespace, file: str) -> tuple[World, Recording, StageUnits]:
    formats.expose_pxr()
    from ..usd import composition
    from ..usd import read as usd_read

    with usd_read.damage_refused(file):
        stage = usd_read.open_stage(file)
        if options.out:
            composition.refuse_parts(stage, Path(options.out))
        return _simulate_stage(options, stage)


def _simulate_stage(options: argparse.Namespace, stage: Any) -> tuple[World, Recording, StageUnits]:
    from .. import stage_motion

    if _by_file(options, stage):
        motion = _motion_of(options, stage, PREVIEW)
        changing = (*motion.movers, *(key.path for key in motion.model.animated))
        recording, points = _hand_off(options, stage, motion, changing)
    else:
        motion = _motion_of(options, stage, options.engine)
        recording, points = motion.recording, {}
        if not _runs_here(options):
            _compare(options, recording, _motion_of(options, stage, PREVIEW).recording)
    units = motion.model.units
    if options.out:
        stage_motion.write_cache(stage, Path(options.out), motion, recording, points)
    return motion.world, recording, units


def _motion_of(options: argparse.Namespace, stage: Any, engine: str) -> StageMotion:
    from .. import stage_motion

    return stage_motion.simulate_stage(
        stage, options.seconds, fps=options.fps, substeps=options.substeps, quality=options.quality,
        with_loads=_wants_loads(options), least_impulse=options.contacts, engine=engine, air=options.air or OFF,
    )  # fmt: skip


def _by_file(options: argparse.Namespace, stage: Any) -> bool:
    """True if the engine gets the file alone, with what deforms, which does not stream."""
    from ..usd import read as usd_read

    row = ENGINES[options.engine]
    if not isinstance(row, Program):
        return False
    read = usd_read.read_stage(stage).deformables
    soft = read()[0] if read is not None else []
    if soft and not row.deforms:
        tell_note(options, f"{row.name} simulates deformables on a GPU only: here they are left out.", "warning: ")
    return bool(soft) and row.deforms


def _compare(options: argparse.Namespace, recording: Recording, preview: Recording) -> None:
    """Say on stderr how far the preview is from an engine."""
    from ..simulation.engines import external

    for line in external.told(external.differences(recording, preview), options.engine, recording.fps):
        tell_note(options, line)


def _runs_here(options: argparse.Namespace) -> bool:
    """False for an engine in a Python of its own, with which the preview is compared."""
    return options.engine in solvers()


def _wants_loads(options: argparse.Namespace) -> bool:
    return bool(options.json) and _runs_here(options)


def _hand_off(
    options: argparse.Namespace, stage: Any, motion: StageMotion, movers: Sequence[str]
) -> tuple[Recording, dict[str, Any]]:
    """The motion of a stage with deformables in another simulator, and on stderr how far the preview is from it.

    Returns the recording of its bodies, and the points of deformables by path, see `external.deformed`.
    """
    from ..simulation.engines import external

    preview, world, model = motion.recording, motion.world, motion.model
    name = programs()[options.engine].name
    soft, _ = model.deformables() if model.deformables is not None else ([], [])
    with work_folder() as folder:
        file, units = Path(stage.GetRootLayer().realPath), model.units
        tell_note(options, f"{name} uses its solver VBD for {counted(len(soft), 'deformable')}, which is slow.")
        if not units.is_like(SI):
            file, units = _in_metres(stage, folder), SI
        steps = len(preview.positions) - 1
        with external.Run(options.engine, options.engine_python, file, steps, world.time_step) as run:
            run.wait()
            poses = run.poses(units)
    recording, unknown = external.recording_of(preview, poses)
    points = external.deformed(poses, soft)
    if movers:
        tell_note(
            options, f"{name} gets the file as it is at the start: what is animated stands still there.", "warning: "
        )
    for path in [*unknown, *(one.path for one in soft if one.path not in points)]:
        tell_note(options, f"{name} reports no body at '{path}'; it stays where it is.", "warning: ")
    apart = external.differences(recording, preview)
    for line in external.told(apart, options.engine, recording.fps) if apart or not points else ():
        tell_note(options, line)
    for path, each in points.items():
        tell_note(options, f"  {path}: moves by up to {external.farthest(each):.4g} m")
    return recording, points


def _in_metres(stage: Any, folder: Path) -> Path:
    """A flat copy of a stage in metres with Z up: Newton's contacts of deformables are in metres, whatever the file."""
    from ..usd import read as usd_read
    from ..usd import unit_conversion

    file = folder / "in_metres.usda"
    stage.Flatten().Export(str(file))
    flat = usd_read.open_stage(file)
    unit_conversion.convert(flat, SI)
    flat.GetRootLayer().Save()
    return file


def _simulate_scene(options: argparse.Namespace, reading: SceneReading) -> tuple[World, Recording]:
    """Simulate the model of the open .blend. Animated objects move as they are keyed."""
    import bpy

    from ..playback import scene_motion

    scene: Any = bpy.context.scene
    reading.model.air = reading.model.air if options.air is None else options.air
    fps = options.fps or checked_frame_rate(scene.render.fps / scene.render.fps_base, options.file)
    return scene_motion.simulate_scene(
        scene, reading.model, options.seconds, fps, substeps=options.substeps, quality=options.quality,
        with_loads=_wants_loads(options), least_impulse=options.contacts, engine=options.engine,
        animated=reading.animated,
    )  # fmt: skip
