# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line (`blender --command usdphys`, `python -m usdphys_addon`): convert, validate, inspect, simulate."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .core.errors import InputError, UsageError, UsdPhysError
from .core.files import USD_SUFFIXES, checked, replacing, scratch_file
from .core.units import StageUnits
from .core.words import counted, tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .core.model import PhysicsModel
    from .core.validate import Issue
    from .exchange.formats import Format
    from .exchange.usd_export import ExportOptions, ExportResult
    from .simulation.record import Recording
    from .simulation.world import World


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns 0 for success, 1 for errors in the input, 2 for wrong arguments."""
    parser = _parser()
    try:
        options = parser.parse_args(list(sys.argv[1:] if arguments is None else arguments))
    except SystemExit as stop:  # inside `blender --command` the process is not ours to end
        return int(stop.code or 0)
    try:
        command: Callable[[argparse.Namespace], int] = options.run
        return command(options)
    except UsdPhysError as error:
        print(f"usdphys: error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1


#: Flag and help of the forms in which an imported scene is written.
_FORMS = {
    "copy": ("--merge", "OUT is a copy of the imported file with the edits since the import (the default)"),
    "layer": ("--physics-layer", "OUT holds only the edits since the import, as a layer over the imported file"),
    "flat": ("--flatten", "OUT is one file with the edits, without references, payloads and variants"),
    "composed": ("--composed", "OUT is as Blender's exporter composes the scene, without what Blender lacks"),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="usdphys",
        description="OpenUSD physics from and for Blender.",
        epilog="Exit status: 0 for success, 1 for errors in the input, 2 for wrong arguments.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    convert = commands.add_parser(
        "convert", help="convert between .blend and USD, with the physics",
        description="Convert .blend to USD or back: Blender the geometry and materials, this add-on the physics.",
    )  # fmt: skip
    convert.add_argument("input", metavar="IN", help="a .blend or USD file")
    convert.add_argument("output", metavar="OUT", help="a USD file, or a .blend for a USD input")
    convert.add_argument(
        "--from-rigid-bodies", action="store_true",
        help="turn Blender's own rigid bodies and constraints into USD Physics first",
    )  # fmt: skip
    convert.add_argument(
        "--hierarchy",
        choices=("nested", "flat", "reset"),
        help="bodies below bodies: as parented, moved beside, or with !resetXformStack! (default: scene setting)",
    )
    for option, what in (("--meters-per-unit", "length"), ("--kilograms-per-unit", "mass")):
        convert.add_argument(
            option, type=_positive, metavar="X", help=f"{what} per unit of OUT (default: setting of the scene)"
        )
    convert.add_argument(
        "--up-axis", choices=("Y", "Z"), help="axis of OUT that points up (default: setting of the scene)"
    )
    forms = convert.add_mutually_exclusive_group()
    for form, (flag, what) in _FORMS.items():
        forms.add_argument(flag, dest="form", action="store_const", const=form, default="auto", help=what)
    convert.add_argument(
        "--physics-only", action="store_true", help="of the edits since the import, write those of the physics only"
    )
    convert.add_argument(
        "--variant", action="append", default=[], metavar="/PRIM{SET=CHOICE}",
        help="choose a variant of a USD input; may be given several times",
    )  # fmt: skip
    convert.add_argument(
        "--prim", default="", metavar="/PRIM", help="read only this prim of a USD input and the prims below it"
    )
    convert.add_argument(
        "--onto", metavar="SCENE.blend",
        help="put only the physics of a USD input on the objects of this scene, by name",
    )  # fmt: skip
    convert.add_argument("--animation", action="store_true", help="write the frame range as time samples")
    convert.add_argument(
        "--strict", action="store_true", help="write nothing where the checks find errors, and exit with status 1"
    )
    convert.set_defaults(run=_convert)
    check = commands.add_parser(
        "validate", help="check the physics of a file",
        description="Check the physics of a .blend or USD file; exit status 1 if there are errors.",
    )  # fmt: skip
    check.add_argument("file", metavar="FILE", help="a .blend or USD file")
    check.add_argument(
        "--target",
        choices=("usd", "physx", "newton"),
        default="usd",
        help="simulator whose rules to check, or usd for the specification alone (default: usd)",
    )
    check.add_argument("--json", action="store_true", help="print the issues as JSON")
    check.set_defaults(run=_validate)
    look = commands.add_parser(
        "inspect", help="print the physics of a file",
        description="Print the physics of a .blend or USD file: its units, every body, collider, joint and so on.",
    )  # fmt: skip
    look.add_argument("file", metavar="FILE", help="a .blend or USD file")
    look.add_argument("--json", action="store_true", help="print it as JSON")
    look.set_defaults(run=_inspect)
    move = commands.add_parser(
        "simulate", help="simulate a file and write the motion",
        description="Simulate a .blend or USD file from its first frame; write the motion as USD time samples or JSON.",
    )  # fmt: skip
    move.add_argument("file", metavar="FILE", help="a .blend or USD file")
    move.add_argument("--seconds", type=_positive, required=True, metavar="S", help="simulated time in seconds")
    move.add_argument("--fps", type=_positive, metavar="F", help="frames per second (default: those of the file)")
    move.add_argument(
        "--substeps", type=_count, default=0, metavar="N", help="solver steps per frame (default: by the quality)"
    )
    move.add_argument(
        "--quality", choices=("draft", "normal", "exact"), default="normal",
        help="draft: about half the time of normal; exact: three to five times (default: normal)",
    )  # fmt: skip
    move.add_argument(
        "--out", metavar="OUT",
        help="time samples for all bodies: a layer over a USD input, the whole scene of a .blend",
    )  # fmt: skip
    move.add_argument(
        "--json", metavar="POSES",
        help="write the poses of all bodies to a JSON file, in the units and the up axis of the stage; for a .blend, "
        "those set for its scene",
    )  # fmt: skip
    move.set_defaults(run=_simulate)
    return parser


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' must be a whole number greater than zero")
    return int(text)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' must be greater than zero and finite")
    return value


# --------------------------------------------------------------------------- commands


def _convert(options: argparse.Namespace) -> int:
    from .exchange import formats

    load = formats.LoadOptions(tuple(options.variant), options.prim, options.onto or "")
    source, target = formats.check_conversion(options.input, options.output, load)
    _check_convert_options(options, target)
    checked(Path(options.output), [options.input, *([options.onto] if options.onto else [])])
    import bpy

    from .exchange import blend_file

    with blend_file.properties_registered(), _output_to_stderr():
        _print_issues(source.load(options.input, load), sys.stderr)
        scene: Any = bpy.context.scene
        if options.from_rigid_bodies:
            from .exchange import blender_rigid_bodies

            for note in blender_rigid_bodies.convert_scene(scene).notes:
                print(f"usdphys: note: {note}", file=sys.stderr)
        wanted = formats.WriteOptions(
            options.meters_per_unit, options.kilograms_per_unit, options.up_axis, options.hierarchy,
            animation=options.animation, strict=options.strict, form=options.form, physics_only=options.physics_only,
        )  # fmt: skip
        result = target.write(options.output, wanted)
    return 0 if result is None else _report_conversion(result, options.output)


def _check_convert_options(options: argparse.Namespace, target: Format) -> None:
    """Raise UsageError for options that contradict each other or do nothing."""
    if target.is_scene:
        for name, unset in (
            ("hierarchy", None), ("meters_per_unit", None), ("kilograms_per_unit", None), ("up_axis", None),
            ("animation", False), ("strict", False), ("physics_only", False), ("form", "auto"),
        ):  # fmt: skip
            value = getattr(options, name)
            if value != unset:
                flag = _FORMS[value][0] if name == "form" else f"--{name.replace('_', '-')}"
                raise UsageError(f"{flag} has no effect on '{options.output}', which is a .blend; leave it out.")
    if options.physics_only and options.form == "composed":
        raise UsageError("--physics-only is for edits of an imported file, and --composed writes no edits; drop one.")


def _report_conversion(result: ExportResult, output: str) -> int:
    _print_issues(result.issues, sys.stderr)
    found = ", ".join(tally(number, kind) for kind, number in result.counts.items() if number)
    print(f"{output}: {found or 'no physics'}")
    return 0


def _validate(options: argparse.Namespace) -> int:
    from .core import validate

    with _model_of(options.file) as (model, issues):
        issues = issues + validate.validate(model, options.target)
    if options.json:
        print(json.dumps({"file": options.file, "target": options.target, "issues": [asdict(item) for item in issues]}))
    else:
        _print_issues(issues, sys.stdout)
        numbers = {kind: sum(item.severity == kind for item in issues) for kind in ("error", "warning", "info")}
        print(f"{options.file}: " + ", ".join(counted(number, kind) for kind, number in numbers.items()))
    return 1 if any(item.severity == "error" for item in issues) else 0


def _inspect(options: argparse.Namespace) -> int:
    from .core import summary

    with _model_of(options.file) as (model, _):
        table = summary.summarise(model)
    if options.json:
        print(json.dumps({"file": options.file, **table}))
    else:
        print(options.file)
        for line in summary.lines(table):
            print(line)
    return 0


def _simulate(options: argparse.Namespace) -> int:
    from .exchange import formats

    source = formats.format_of(options.file)
    layers = tuple(ending for ending in USD_SUFFIXES if ending != ".usdz")
    if options.out and Path(options.out).suffix.lower() not in layers:
        raise InputError(f"'{options.out}' cannot be written; end it with one of {', '.join(layers)}.")
    _check_outputs(options)
    if source is formats.USD:
        with _output_to_stderr():
            world, recording, units = _simulate_usd(options, options.file)
    else:
        from .exchange import blend_file

        with blend_file.properties_registered(), _output_to_stderr():
            world, recording, units = _simulate_blend(options)
    if options.json:
        _write_text(Path(options.json), json.dumps(recording.as_json(units)))
    _print_issues(world.notices, sys.stderr)
    bodies, frames = counted(len(recording.paths), "body"), counted(len(recording.positions), "frame")
    broken, unstable = counted(len(world.broken_joints), "broken joint"), counted(len(world.unstable), "unstable body")
    print(f"{options.file}: {bodies}, {frames} at {recording.fps:g} per second, {broken}, {unstable}")
    return 0


def _check_outputs(options: argparse.Namespace) -> None:
    """Refuse outputs that could not be written, before anything is simulated."""
    from .exchange import formats

    outputs = [Path(name) for name in (options.out, options.json) if name]
    for output in outputs:
        checked(output, [options.file])
    if options.json and Path(options.json).suffix.lower() in formats.suffixes():
        raise UsageError(f"'{options.json}' is the name of another kind of file; end the name of the poses with .json.")
    if len({os.path.realpath(output) for output in outputs}) < len(outputs):
        raise UsageError("--out and --json name the same file; choose two names.")


def _frame_count(options: argparse.Namespace, fps: float) -> int:
    count: int = max(1, round(options.seconds * fps))
    return count


def _simulate_blend(options: argparse.Namespace) -> tuple[World, Recording, StageUnits]:
    """Simulate a .blend from the first frame of its scene. The units are those of its stage, with --out or without."""
    import bpy

    from .bridge import scene_read
    from .exchange import formats, usd_export

    formats.BLEND.load(options.file, formats.LoadOptions())
    scene: Any = bpy.context.scene
    scene.frame_set(scene.frame_start)
    units, hierarchy = usd_export.stage_options(scene)
    reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    if not options.out:
        _print_issues(reading.issues, sys.stderr)
        return *_simulate_scene(options, reading.model), units
    is_animated = any(prim.is_animated for prim in reading.model.prims.values())
    return _simulate_exported(options, usd_export.ExportOptions(units, hierarchy, animation=is_animated))


def _simulate_exported(options: argparse.Namespace, wanted: ExportOptions) -> tuple[World, Recording, StageUnits]:
    """Export the open .blend to USD, simulate that file, and write it with the motion as time samples."""
    import bpy

    from .exchange import formats, usd_export

    formats.expose_pxr()
    from .usd import time_samples

    scene: Any = bpy.context.scene
    scene.frame_end = scene.frame_start + math.ceil(options.seconds * scene.render.fps / scene.render.fps_base)
    target = Path(options.out).absolute()
    with replacing(target, inputs=[options.file]) as scratch, scratch_file(target) as layer:
        _print_issues(usd_export.export_usd(bpy.context, scratch, wanted).issues, sys.stderr)
        options.out = str(layer)
        found = _simulate_usd(options, str(scratch))
        time_samples.flatten(layer, scratch)
    return found


def _simulate_usd(options: argparse.Namespace, file: str) -> tuple[World, Recording, StageUnits]:
    from .exchange import formats

    formats.expose_pxr()
    from .simulation.record import record
    from .simulation.world import World
    from .usd import read as usd_read
    from .usd import time_samples

    stage = usd_read.open_stage(file)
    clock = time_samples.Clock(stage, options.fps)
    model = usd_read.read_stage(stage)
    time_samples.move_to(stage, model, clock.at(0))
    world = World(model, time_step=1.0 / clock.fps, substeps=options.substeps, quality=options.quality)
    moved = [path for path, kinematic in zip(world.paths, world.kinematic, strict=True) if kinematic]
    movers = time_samples.animated(stage, (*moved, *world.static_colliders))
    recording = record(
        world, _frame_count(options, clock.fps), lambda frame: time_samples.worlds_at(stage, movers, clock.at(frame))
    )
    if options.out:
        dynamic = ~recording.kinematic
        paths = [path for path, chosen in zip(recording.paths, dynamic, strict=True) if chosen]
        time_samples.write_bake(stage, Path(options.out), paths, recording.in_stage(model.units)[:, dynamic], clock)
    return world, recording, model.units


def _simulate_scene(options: argparse.Namespace, model: PhysicsModel) -> tuple[World, Recording]:
    """Simulate the model of the open .blend. Animated objects move as they are keyed."""
    import bpy
    import numpy as np

    from .simulation.record import record
    from .simulation.world import World

    scene: Any = bpy.context.scene
    fps = options.fps or scene.render.fps / scene.render.fps_base
    world = World(model, time_step=1.0 / fps, substeps=options.substeps, quality=options.quality)
    labels = {path: model.prims[path].label for path in (*world.paths, *world.static_colliders)}
    moving = [
        path for path, label in labels.items()
        if label in bpy.data.objects and (path in world.static_colliders or world.kinematic[world.index(path)])
        and model.prims[path].is_animated
    ]  # fmt: skip
    start, rate = scene.frame_current, scene.render.fps / scene.render.fps_base

    def movers(frame: int) -> dict[str, Any]:
        if not moving:
            return {}
        now = start + frame * rate / fps
        scene.frame_set(int(now), subframe=now - int(now))
        graph = bpy.context.evaluated_depsgraph_get()
        found = {}
        for path in moving:
            matrix = np.array(bpy.data.objects[labels[path]].evaluated_get(graph).matrix_world)
            matrix[:3, 3] *= scene.unit_settings.scale_length
            found[path] = matrix
        return found

    return world, record(world, _frame_count(options, fps), movers)


def _write_text(target: Path, text: str) -> None:
    """Write a text to a temporary file, which replaces the target once it is complete."""
    with replacing(target) as scratch:
        scratch.write_text(text, encoding="utf-8")


def _print_issues(issues: list[Issue], stream: IO[str]) -> None:
    for issue in issues:
        print(f"{issue.severity}: {issue.code}: {issue.message} {issue.fix}", file=stream)


# --------------------------------------------------------------------------- input and output


@contextmanager
def _model_of(file: str) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    """The physics model of a .blend or USD file, and the issues of reading it."""
    from .exchange import formats

    with _output_to_stderr(), formats.format_of(file).read(file) as found:
        yield found


@contextmanager
def _output_to_stderr() -> Iterator[None]:
    """Redirect Blender's messages to stderr: stdout is for results."""
    import os

    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(saved, 1)
        os.close(saved)


def run(arguments: Sequence[str] | None = None) -> Any:
    """Entry point of `python -m usdphys_addon`."""
    sys.exit(main(arguments))
