# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, as `blender --command usdphys` and `python -m usdphys_addon`."""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import signal
import sys
import traceback
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .core.errors import InputError, OutputError, UsageError, UsdPhysError
from .core.qualities import NORMAL, QUALITY_TEXTS
from .core.units import StageUnits, checked_frame_rate
from .core.words import counted, is_text, tally
from .system import console, isolate
from .system.console import say, warn
from .system.files import (
    IMAGE_SUFFIXES,
    TEXT_ENDS,
    USD_SUFFIXES,
    checked,
    noted,
    refuse_parts,
    replacing,
    scratch_file,
    usable_name,
    work_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .core.model import PhysicsModel
    from .core.validate import Issue
    from .exchange.formats import Format, LoadOptions
    from .exchange.usd_export import ExportOptions, ExportResult
    from .simulation.record import Recording
    from .simulation.world import World


#: What can simulate: the engine of the add-on, and those of `simulation.engines.external`.
PREVIEW = "preview"
ENGINES = (PREVIEW, "physx", "newton")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns 0 for success, 1 for errors in the input, 2 for wrong arguments, 3 for a fault of ours."""
    console.open_streams()
    isolate.watch()
    isolate.deepen_stack()
    status = _run(list(sys.argv[1:] if arguments is None else arguments))
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            console.silence(number)
            status = status or 1
    return status


def perform(arguments: list[str]) -> dict[str, Any]:
    """Run a command for a batch. Returns what it found: exit (its status), issues, notes, error, table."""
    answer: dict[str, Any] = {"issues": []}
    warned = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(warned):
        answer["exit"] = _run(arguments, answer)
    answer["issues"] = [asdict(issue) for issue in answer["issues"]]
    errors = [line.partition(": error: ")[2] for line in warned.getvalue().splitlines() if line.startswith("usdphys")]
    if answer["exit"] and any(errors):
        answer["error"] = next(filter(None, reversed(errors)))
    return answer


def _run(arguments: list[str], answer: dict[str, Any] | None = None) -> int:
    """Run a command. answer: takes what it finds, see `perform`."""
    parser = _parser()
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # inside `blender --command` the process is not ours to end
        return int(stop.code or 0)
    except OutputError as error:  # of the help
        warn(f"usdphys: error: {error}")
        return 1
    options.answer = {"issues": []} if answer is None else answer
    try:
        _check_names(options)
        if options.isolate and not isolate.is_isolated():
            return _run_isolated(arguments, options)
        command: Callable[[argparse.Namespace], int] = options.run
        with _overflows_ignored() if options.calculates else nullcontext():
            return command(options)
    except UsdPhysError as error:
        warn(f"usdphys: error: {error}")
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        warn("usdphys: error: Interrupted; no output was written.")
        return 130
    except MemoryError:
        warn(f"usdphys: error: {_subject(options)} needs more memory than there is.")
        return 1
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        if options.debug:
            traceback.print_exc()
        reason = " ".join(str(error).split())[:200]
        warn(
            f"usdphys: error: {_subject(options)} could not be handled, which is a fault of this program "
            f"({type(error).__name__}: {reason}); run it again with --debug and report what it says."
        )
        return 3


def _overflows_ignored() -> AbstractContextManager[object]:
    """What overflows is found in the results; numpy's warnings name lines of code."""
    import numpy as np

    return np.errstate(all="ignore")


def _run_isolated(arguments: list[str], options: argparse.Namespace) -> int:
    names = [getattr(options, name, None) for name in ("output", "out", "json")]
    status, cause = isolate.run(arguments, [name for name in names if isinstance(name, str)])
    if cause:
        raise InputError(f"{_subject(options)} makes Blender crash ({cause}); no output was written.")
    return status


def _subject(options: argparse.Namespace) -> str:
    names = (getattr(options, name, None) for name in ("file", "input", "jobs"))
    return f"'{next(filter(None, names), '')}'"


def _check_names(options: argparse.Namespace) -> None:
    """Bring file names into a form that Blender and USD take. Raises InputError for names that they do not."""
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise InputError("The working folder does not exist any more; change to another one.") from error
    for name in ("file", "input", "output", "onto", "out", "json", "jobs"):
        value = getattr(options, name, None)
        if isinstance(value, str):
            setattr(options, name, usable_name(value))
    for name, value in vars(options).items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and not is_text(text):
                raise UsageError(f"'{text}' of --{name.replace('_', '-')} is not encoded in UTF-8.")


class _Parser(argparse.ArgumentParser):
    """argparse with messages that are harmless to a terminal. The beginning of an option does not stand for it."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **more})

    def error(self, message: str) -> NoReturn:
        for line in self.format_usage().splitlines():
            warn(line)
        warn(f"{self.prog}: error: {message}")
        raise SystemExit(2)

    def print_help(self, file: Any = None) -> None:
        for line in self.format_help().splitlines():
            say(line)


#: The highest number of a frame in Blender.
_LAST_FRAME = 1048574
#: Solver steps per frame; the preview takes 64 at most.
_MOST_SUBSTEPS = 1000
#: Seconds that a job of a batch may take; the timers of the system take not much more.
_LONGEST_JOB = 1e6
#: Flag and help of the forms in which an imported scene is written.
_FORMS = {
    "copy": ("--merge", "OUT is a copy of the imported file with the edits since the import (the default)"),
    "layer": ("--physics-layer", "OUT holds only the edits since the import, as a layer over the imported file"),
    "flat": ("--flatten", "OUT is one file with the edits, without references, payloads and variants"),
    "composed": ("--composed", "OUT is as Blender's exporter composes the scene, without what Blender lacks"),
}


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="usdphys",
        description="OpenUSD physics from and for Blender.",
        epilog="Exit status: 0 for success, 1 for errors in the input, 2 for wrong arguments, 3 for a fault of ours.",
    )
    parser.add_argument("--debug", action="store_true", help="print the traceback of a fault of usdphys")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    convert = commands.add_parser(
        "convert", help="convert between .blend, USD, glTF and URDF, with the physics",
        description="Convert .blend, USD, glTF and URDF into each other: Blender does the geometry and materials, this "
        "add-on the physics.",
    )  # fmt: skip
    convert.add_argument("input", metavar="IN", help="a .blend, USD, glTF or URDF file")
    convert.add_argument("output", metavar="OUT", help="a USD, glTF or URDF file, or a .blend for another input")
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
    convert.add_argument("--collection", default="", metavar="NAME", help="write only the objects of this collection")
    convert.add_argument(
        "--runtimes", action="store_true",
        help="a neutral file with the variants PhysX, Newton and MuJoCo, whose settings are in runnables/physics",
    )  # fmt: skip
    convert.add_argument("--animation", action="store_true", help="write the frame range as time samples")
    convert.add_argument(
        "--layers", action="store_true",
        help="write an asset of layers: OUT with a payload of physics, materials, geometry and a library of meshes",
    )  # fmt: skip
    convert.add_argument(
        "--physx-words", action="store_true",
        help="write settings of Newton (mimic joints, velocity limits, ...) in the words of PhysX, too",
    )  # fmt: skip
    convert.add_argument(
        "--ros-package", default="", metavar="NAME",
        help="of a URDF that is written: make its folder, or the one above a folder urdf, this package of ROS, with"
        " the meshes",
    )  # fmt: skip
    convert.add_argument(
        "--strict", action="store_true", help="write nothing where the checks find errors, and exit with status 1"
    )
    convert.set_defaults(run=_convert)
    check = commands.add_parser(
        "validate", help="check the physics of a file",
        description="Check the physics of a .blend, USD, glTF or URDF file; exit status 1 if there are errors.",
    )  # fmt: skip
    check.add_argument("file", metavar="FILE", help="a .blend, USD, glTF or URDF file")
    check.add_argument(
        "--target",
        choices=("usd", "physx", "newton", "ros"),
        default="usd",
        help="simulator whose rules to check, or usd for the specification alone (default: usd); ros, of a URDF: "
        "whether ROS would read it",
    )
    check.add_argument("--json", action="store_true", help="print the issues as JSON")
    check.set_defaults(run=_validate)
    look = commands.add_parser(
        "inspect", help="print the physics of a file",
        description="Print the physics of a .blend, USD, glTF or URDF file: its units, every body, collider and joint.",
    )  # fmt: skip
    look.add_argument("file", metavar="FILE", help="a .blend, USD, glTF or URDF file")
    look.add_argument("--json", action="store_true", help="print it as JSON")
    look.set_defaults(run=_inspect)
    move = commands.add_parser(
        "simulate", help="simulate a file and write the motion",
        description="Simulate a .blend, USD, glTF or URDF file from its first frame; write USD time samples or JSON.",
    )  # fmt: skip
    move.add_argument("file", metavar="FILE", help="a .blend, USD, glTF or URDF file")
    move.add_argument("--seconds", type=_positive, required=True, metavar="S", help="simulated time in seconds")
    move.add_argument("--fps", type=_frame_rate, metavar="F", help="frames per second (default: those of the file)")
    move.add_argument(
        "--substeps", type=_count, default=0, metavar="N", help="solver steps per frame (default: by the quality)"
    )
    move.add_argument(
        "--quality", choices=tuple(QUALITY_TEXTS), default=NORMAL,
        help="draft: about half the time of normal; exact: three to five times (default: normal)",
    )  # fmt: skip
    move.add_argument(
        "--engine", choices=ENGINES, default=PREVIEW,
        help="what simulates: the engine of the add-on, or PhysX or Newton in a Python of your own, compared with it "
        "(default: preview)",
    )  # fmt: skip
    move.add_argument(
        "--engine-python",
        metavar="PYTHON",
        help="the python of an environment with ovphysx or newton "
        "(default: that of USDPHYS_PHYSX_PYTHON or USDPHYS_NEWTON_PYTHON)",
    )
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
    for command in (convert, check, look, move):
        _add_robot_options(command)
        command.add_argument(
            "--isolate", action="store_true", help="work in a process of its own, and say so if a file makes it crash"
        )
        command.set_defaults(calculates=True)
    _add_batch(commands)
    return parser


def _add_batch(commands: Any) -> None:
    many = commands.add_parser(
        "batch", help="run many jobs, in processes that stay",
        description="Run the jobs of a file, a line of JSON each. A crash or a hang costs its own job only. A rerun "
        "does what is not done yet.",
    )  # fmt: skip
    many.add_argument(
        "jobs", metavar="JOBS", help='a file with lines such as {"op": "convert", "in": "a.blend", "out": "a.usda"}'
    )
    many.add_argument("--workers", type=_count, metavar="N", help="processes (default: as many as processors)")
    many.add_argument("--dask", metavar="ADDRESS", help="have the workers of this Dask scheduler do the jobs")
    many.add_argument("--shard", metavar="I/N", help="do the I-th part of N only, such as 2/8")
    many.add_argument(
        "--timeout", type=_patience, default=600.0, metavar="S", help="seconds after which a job hangs (default: 600)"
    )
    many.add_argument(
        "--retries", type=_retries, default=1, metavar="N", help="new attempts after a crash or a hang (default: 1)"
    )
    many.add_argument(
        "--out", metavar="RESULTS", help="file of results, which a rerun goes on with (default: JOBS.results.jsonl)"
    )
    many.set_defaults(run=_batch, isolate=False, calculates=False)
    # A child of a batch. Without help, the list of commands leaves it out.
    commands.add_parser("serve").set_defaults(run=_serve, isolate=False, calculates=False)


def _add_robot_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("options for robots in URDF")
    group.add_argument(
        "--package", action="append", default=[], metavar="NAME=FOLDER",
        help="where a package of ROS is; may be given several times",
    )  # fmt: skip
    group.add_argument(
        "--arg", action="append", default=[], metavar="NAME:=VALUE",
        help="an argument of a xacro file; may be given several times",
    )  # fmt: skip
    group.add_argument(
        "--base", choices=("file", "fixed", "free"),
        help="the base of the robot: as in the file, where a base without a joint is fixed (the default), always "
        "fixed to the world, or free",
    )  # fmt: skip
    group.add_argument(
        "--merge-fixed", action="store_true", help="make links on fixed joints part of the body above them"
    )
    group.add_argument("--prefix", default="", metavar="TEXT", help="put before the names of the robot and its parts")
    group.add_argument("--srdf", default="", metavar="FILE", help="links that it keeps apart do not collide")
    group.add_argument(
        "--approximation", choices=("convexHull", "convexDecomposition", "boundingCube"),
        help="what simulators make of a mesh that collides: one convex hull (the default), several, or a box",
    )  # fmt: skip
    group.add_argument(
        "--drives", choices=("effort", "hold", "velocity", "none"),
        help="drives of joints: with the effort as their limit and no gains (the default), with gains that hold the "
        "position, or the velocity, or none",
    )  # fmt: skip
    group.add_argument(
        "--no-self-collision", action="store_true", help="links of the robot do not collide with each other"
    )
    group.add_argument("--no-visuals", action="store_true", help="leave out what is only seen")
    group.add_argument(
        "--visual-colliders", action="store_true", help="what is seen of a link without colliders collides, too"
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= _MOST_SUBSTEPS):
        raise argparse.ArgumentTypeError(f"'{text}' must be a whole number from 1 to {_MOST_SUBSTEPS}")
    return int(text)


def _patience(text: str) -> float:
    if (value := _positive(text)) > _LONGEST_JOB:
        raise argparse.ArgumentTypeError(f"'{text}' must be at most {_LONGEST_JOB:g}")
    return value


def _retries(text: str) -> int:
    return 0 if text == "0" else _count(text)


def _frame_rate(text: str) -> float:
    from .core.units import FRAME_RATES

    value, (least, most) = _positive(text), FRAME_RATES
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"'{text}' must be from {least:g} to {most:g}")
    return value


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' must be greater than zero and finite")
    return value


# --------------------------------------------------------------------------- commands


def _load_options(options: argparse.Namespace) -> LoadOptions:
    """What is read of the input, as the arguments of a command say."""
    from .exchange import formats

    return formats.LoadOptions(
        tuple(getattr(options, "variant", ())), getattr(options, "prim", ""), getattr(options, "onto", None) or "",
        tuple(options.package), tuple(options.arg), options.base, options.merge_fixed, options.prefix,
        options.srdf, options.approximation, options.drives, options.no_self_collision, options.no_visuals,
        options.visual_colliders,
    )  # fmt: skip


def _convert(options: argparse.Namespace) -> int:
    from .exchange import formats

    load = _load_options(options)
    source, target = formats.check_conversion(options.input, options.output, load)
    _check_convert_options(options, target)
    if options.ros_package:
        from .urdf import ros_package

        ros_package.package_around(Path(options.output).absolute(), options.ros_package.strip())
    checked(Path(options.output), [options.input, *([options.onto] if options.onto else [])])
    import bpy

    from .exchange import blend_file

    with blend_file.properties_registered(), _output_to_stderr():
        _print_issues(options, source.load(options.input, load), warn)
        scene: Any = bpy.context.scene
        read = Path(bpy.path.abspath(scene.usdphys.source.filepath))
        if read.suffix.lower() not in USD_SUFFIXES:  # whose layers the writer of USD refuses
            refuse_parts(Path(options.output), read, noted(scene.usdphys.source.files, read.parent))
        if options.from_rigid_bodies:
            from .authoring import blender_rigid_bodies

            for note in blender_rigid_bodies.convert_scene(scene).notes:
                _note(options, note, "usdphys: note: ")
        wanted = formats.WriteOptions(
            options.meters_per_unit, options.kilograms_per_unit, options.up_axis, options.hierarchy,
            animation=options.animation, strict=options.strict, form=options.form, physics_only=options.physics_only,
            collection=options.collection, layers=options.layers, runtimes=options.runtimes,
            physx_words=options.physx_words, ros_package=options.ros_package.strip(),
        )  # fmt: skip
        assert target.write is not None  # as `check_conversion` says
        with console.without_scratch_names():
            result = target.write(options.output, wanted)
    return _report_conversion(options, result)


def _check_convert_options(options: argparse.Namespace, target: Format) -> None:
    """Raise UsageError for options that contradict each other or do nothing."""
    for name, unset in (
        ("hierarchy", None), ("meters_per_unit", None), ("kilograms_per_unit", None), ("up_axis", None),
        ("animation", False), ("strict", False), ("physics_only", False), ("form", "auto"),
        ("collection", ""), ("layers", False), ("runtimes", False), ("physx_words", False), ("ros_package", ""),
    ):  # fmt: skip
        value = getattr(options, name)
        if value != unset and name not in target.heeds:
            flag = _FORMS[value][0] if name == "form" else f"--{name.replace('_', '-')}"
            kind = target.name.removesuffix(" file")
            raise UsageError(f"{flag} has no effect on '{options.output}', which is a {kind}; leave it out.")
    if target.heeds and options.hierarchy == "reset" and "up_axis" not in target.heeds:
        raise UsageError(f"--hierarchy reset is for USD files, and '{options.output}' is none; use flat or nested.")
    if options.physics_only and options.form == "composed":
        raise UsageError("--physics-only is for edits of an imported file, and --composed writes no edits; drop one.")
    is_layer = options.form == "layer"
    for first, second, is_clash in (
        ("--physics-layer", "--layers", is_layer and options.layers),
        ("--physics-layer", "--runtimes", is_layer and options.runtimes),
        ("--physics-only", "--runtimes", options.physics_only and options.runtimes),
        ("--layers", "--runtimes", options.layers and options.runtimes),
    ):
        if is_clash:
            raise UsageError(f"{first} and {second} ask for different files; drop one.")
    if Path(options.output).suffix.lower() == ".usdz":
        for flag, is_on in (
            ("--physics-layer", is_layer), ("--layers", options.layers), ("--runtimes", options.runtimes)
        ):  # fmt: skip
            if is_on:
                raise UsageError(f"{flag} does not write a package, which is one .usdz file; end OUT with .usda.")


def _report_conversion(options: argparse.Namespace, result: ExportResult) -> int:
    _print_issues(options, result.issues, warn)
    found = ", ".join(tally(number, kind) for kind, number in result.counts.items() if number)
    _summarise(f"{options.output}: {found or 'no physics'}")
    return 0


def _summarise(line: str) -> None:
    """Print what a command has written to a file. The file is there: that nobody reads the line is no error."""
    with suppress(OutputError):
        say(line)


def _validate(options: argparse.Namespace) -> int:
    issues = _issues_of(options)
    if options.json:
        say(json.dumps({"file": options.file, "target": options.target, "issues": [asdict(item) for item in issues]}))
    else:
        _print_issues(options, issues, say)
        numbers = {kind: sum(item.severity == kind for item in issues) for kind in ("error", "warning", "info")}
        say(f"{options.file}: " + ", ".join(counted(number, kind) for kind, number in numbers.items()))
    return 1 if any(item.severity == "error" for item in issues) else 0


def _issues_of(options: argparse.Namespace) -> list[Issue]:
    """What is wrong with the file of a command, for its target."""
    from .core import validate
    from .exchange import formats

    load = _load_options(options)
    formats.check_options(options.file, load)
    source = formats.format_of(options.file)
    own = source.checks.get(options.target)
    if own is not None:
        return own(options.file, load)
    if options.target not in validate.TARGETS:
        raise UsageError(f"'{options.file}' is a {source.name}; --target {options.target} is for robots in URDF.")
    with _model_of(options) as (model, issues):
        return issues + validate.validate(model, options.target)


def _inspect(options: argparse.Namespace) -> int:
    from .core import summary

    with _model_of(options) as (model, issues):
        table = options.answer["table"] = summary.summarise(model)
    if options.json:
        options.answer["issues"] += issues
        say(json.dumps({"file": options.file, **table, "issues": [asdict(issue) for issue in issues]}))
        return 0
    say(options.file)
    for line in summary.lines(table):
        say(line)
    if issues:
        say(f"issues ({len(issues)})")
    _print_issues(options, issues, lambda line: say(f"  {line}"))
    return 0


def _simulate(options: argparse.Namespace) -> int:
    from .exchange import formats

    source = formats.format_of(options.file)
    layers = tuple(ending for ending in USD_SUFFIXES if ending != ".usdz")
    if options.out and Path(options.out).suffix.lower() not in layers:
        raise InputError(f"'{options.out}' cannot be written; end it with one of {', '.join(layers)}.")
    _check_outputs(options)
    load = _load_options(options)
    formats.check_options(options.file, load)
    if source.as_stage is not None:
        with _output_to_stderr(), source.as_stage(options.file, load) as (file, issues):
            _print_issues(options, issues, warn)
            if options.out and source is not formats.USD:
                world, recording, units = _simulate_copy(options, file)
            else:
                world, recording, units = _simulate_usd(options, file)
    else:
        from .exchange import blend_file

        with blend_file.properties_registered(), _output_to_stderr():
            world, recording, units = _simulate_blend(options, source)
    if options.json:
        try:
            text = json.dumps(recording.as_json(units), allow_nan=False)
        except ValueError as error:
            raise InputError(f"'{options.file}' moves too far for the units of its stage.") from error
        _write_text(Path(options.json), text)
    if options.engine == PREVIEW:
        # They say what the preview simulates in another way, which the other engines do not.
        _print_issues(options, world.notices, warn)
    bodies, frames = counted(len(recording.paths), "body"), counted(len(recording.positions), "frame")
    broken, unstable = counted(len(world.broken_joints), "broken joint"), counted(len(world.unstable), "unstable body")
    summarise = _summarise if options.out or options.json else say
    found = f", {broken}, {unstable}" if options.engine == PREVIEW else f", simulated by {options.engine}"
    summarise(f"{options.file}: {bodies}, {frames} at {recording.fps:g} per second{found}")
    return 0


def _check_outputs(options: argparse.Namespace) -> None:
    """Refuse outputs that could not be written, and engines that are not there, before anything is simulated."""
    from .exchange import formats

    if options.engine != PREVIEW:
        from .simulation.engines import external

        options.engine_python = external.python_of(options.engine, options.engine_python or "")
    elif options.engine_python:
        raise UsageError("--engine-python is for another engine; add --engine physx or --engine newton.")
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


def _frame_count(options: argparse.Namespace, world: World) -> int:
    """Frames to simulate. Raises UsageError if their poses would not fit into memory."""
    from .simulation.record import most_frames

    frames: float = options.seconds / world.time_step
    most = most_frames(world)
    if frames > most:
        raise UsageError(
            f"{options.seconds:g} seconds are {frames:.3g} frames, more than the {most} that are kept in memory for "
            f"{counted(len(world.paths), 'body')}; choose fewer --seconds or --fps."
        )
    return max(1, round(frames))


def _simulate_blend(options: argparse.Namespace, source: Format) -> tuple[World, Recording, StageUnits]:
    """Simulate a file that Blender opens from its first frame. The units are those of its stage, also without --out."""
    import bpy

    from .bridge import scene_read
    from .exchange import formats, usd_export

    _print_issues(options, source.load(options.file, formats.LoadOptions()), warn)
    scene: Any = bpy.context.scene
    scene.frame_set(scene.frame_start)
    units, hierarchy = usd_export.stage_options(scene)
    reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    is_animated = any(prim.is_animated for prim in reading.model.prims.values())
    wanted = usd_export.ExportOptions(units, hierarchy, animation=is_animated)
    if options.out:
        return _simulate_exported(options, wanted)
    if options.engine == PREVIEW:
        _print_issues(options, reading.issues, warn)
        return *_simulate_scene(options, reading.model), units
    with work_folder() as folder:
        file = folder / f"{Path(options.file).stem}.usdc"
        _print_issues(options, usd_export.export_usd(bpy.context, file, wanted).issues, warn)
        return _simulate_usd(options, str(file))


def _simulate_exported(options: argparse.Namespace, wanted: ExportOptions) -> tuple[World, Recording, StageUnits]:
    """Export the open .blend to USD, simulate that file, and write it with the motion as time samples."""
    import bpy

    from .exchange import blend_file, formats, usd_export

    formats.expose_pxr()
    target = blend_file.refuse_own_files(Path(options.out).absolute())
    scene: Any = bpy.context.scene
    rate = checked_frame_rate(scene.render.fps / scene.render.fps_base, options.file)
    if scene.frame_start + options.seconds * rate > _LAST_FRAME:
        raise UsageError(f"Blender has no frames after {_LAST_FRAME}; choose fewer --seconds.")
    scene.frame_end = scene.frame_start + math.ceil(options.seconds * rate)

    def export(file: Path) -> None:
        _print_issues(options, usd_export.export_usd(bpy.context, file, wanted).issues, warn)

    return _simulate_whole(options, target, export)


def _simulate_copy(options: argparse.Namespace, file: str) -> tuple[World, Recording, StageUnits]:
    """Simulate a USD file that is gone later, and write it whole with the motion as time samples."""
    from .exchange import formats

    formats.expose_pxr()
    from .usd import time_samples

    return _simulate_whole(options, Path(options.out).absolute(), partial(time_samples.flatten, Path(file)))


def _simulate_whole(
    options: argparse.Namespace, target: Path, write: Callable[[Path], None]
) -> tuple[World, Recording, StageUnits]:
    """Simulate a file that `write` makes beside the target, which gets all of it with the motion as time samples."""
    from .usd import time_samples

    with replacing(target, inputs=[options.file]) as scratch, scratch_file(target) as layer:
        write(scratch)
        options.out = str(layer)
        found = _simulate_usd(options, str(scratch))
        time_samples.flatten(layer, scratch)
    return found


def _simulate_usd(options: argparse.Namespace, file: str) -> tuple[World, Recording, StageUnits]:
    from .exchange import formats

    formats.expose_pxr()
    from .usd import composition
    from .usd import read as usd_read

    with usd_read.damage_refused(file):
        stage = usd_read.open_stage(file)
        if options.out:
            composition.refuse_parts(stage, Path(options.out))
        return _simulate_stage(options, stage)


def _simulate_stage(options: argparse.Namespace, stage: Any) -> tuple[World, Recording, StageUnits]:
    from .simulation.record import engine_errors, record, refuse_lost
    from .simulation.world import World
    from .usd import read as usd_read
    from .usd import time_samples

    clock = time_samples.Clock(stage, options.fps)
    model = usd_read.read_stage(stage)
    time_samples.move_to(stage, model, clock.at(0))
    refuse_lost(model)
    with engine_errors():
        world = World(model, time_step=1.0 / clock.fps, substeps=options.substeps, quality=options.quality)
        moved = [path for path, kinematic in zip(world.paths, world.kinematic, strict=True) if kinematic]
        movers = time_samples.animated(stage, (*moved, *world.static_colliders))
        count = _frame_count(options, world)
        recording = record(
            world, count, lambda frame: time_samples.worlds_at(stage, movers, clock.at(frame)),
            with_loads=_wants_loads(options),
        )  # fmt: skip
    if options.engine != PREVIEW:
        recording = _hand_off(options, stage, world, recording, model.units, movers)
    if options.out:
        dynamic = ~recording.kinematic
        paths = [path for path, chosen in zip(recording.paths, dynamic, strict=True) if chosen]
        time_samples.write_bake(stage, Path(options.out), paths, recording.in_stage(model.units)[:, dynamic], clock)
    return world, recording, model.units


def _wants_loads(options: argparse.Namespace) -> bool:
    return bool(options.json) and options.engine == PREVIEW


def _hand_off(
    options: argparse.Namespace, stage: Any, world: World, preview: Recording, units: StageUnits, movers: Sequence[str]
) -> Recording:
    """The motion of an opened stage in another simulator, and on stderr how far the preview is from it."""
    from .simulation.engines import external

    file, name = Path(stage.GetRootLayer().realPath), external.ENGINES[options.engine].name
    with external.Run(options.engine, options.engine_python, file, len(preview.positions) - 1, world.time_step) as run:
        run.wait()
        poses = run.poses(units)
    recording, unknown = external.recording_of(preview, poses)
    if movers:
        _note(options, f"{name} gets the file as it is at the start: what is animated stands still there.", "warning: ")
    for path in unknown:
        _note(options, f"{name} reports no body at '{path}'; it stays where it is.", "warning: ")
    for line in external.told(external.differences(recording, preview), options.engine, recording.fps):
        _note(options, line)
    return recording


def _simulate_scene(options: argparse.Namespace, model: PhysicsModel) -> tuple[World, Recording]:
    """Simulate the model of the open .blend. Animated objects move as they are keyed."""
    import bpy
    import numpy as np

    from .simulation.record import engine_errors, record, refuse_lost
    from .simulation.world import World

    scene: Any = bpy.context.scene
    fps = options.fps or checked_frame_rate(scene.render.fps / scene.render.fps_base, options.file)
    refuse_lost(model)
    with engine_errors():
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

    with engine_errors():
        return world, record(world, _frame_count(options, world), movers, with_loads=_wants_loads(options))


# --------------------------------------------------------------------------- many files


def _serve(_options: argparse.Namespace) -> int:
    from .batch import serve

    with _ready_for_jobs():
        return serve.serve(perform)


@contextmanager
def _ready_for_jobs() -> Iterator[None]:
    """Load what takes time, and register our properties once for all jobs. Without bpy, only some jobs can be done."""
    from .exchange import formats

    try:
        from .exchange import blend_file
    except ImportError:
        yield
        return
    with suppress(UsdPhysError):
        formats.expose_pxr()
    with blend_file.properties_registered():
        yield


def _batch(options: argparse.Namespace) -> int:
    from .batch import drive, executors, jobs, progress, worker

    if options.dask and options.workers:
        raise UsageError("--workers is for this machine, and --dask has workers of its own; drop one.")
    todo = jobs.read(Path(options.jobs))
    part = ""
    if options.shard:
        todo = jobs.shard(todo, options.shard)
        part = f".{options.shard.replace('/', '-of-')}"
    results = Path(options.out or Path(options.jobs).with_suffix(f".results{part}.jsonl"))
    checked(results, [options.jobs])
    if os.path.normpath(results.absolute()) in {os.path.normpath(name) for job in todo for name in job.files}:
        raise UsageError(f"'{results}' is a file of the jobs themselves; choose another name for --out.")
    count = len(todo)
    todo = drive.pending(todo, results)
    settings = worker.Settings(
        (*isolate.program(), "serve"), isolate.ROOT, options.timeout, options.retries
    )  # fmt: skip
    workers = min(options.workers or isolate.processors(), max(1, len(todo)))
    shown = progress.Progress(len(todo))
    try:
        with _stopped_by_signals():
            if todo:
                crew = executors.dask(settings, options.dask) if options.dask else executors.local(settings, workers)
                with crew as members:
                    drive.run(todo, members, results, shown.told)
    except KeyboardInterrupt:
        warn(f"usdphys: error: Interrupted; '{results}' has what is done, and the same command goes on with the rest.")
        return 130
    finally:
        shown.end()
    _summarise(progress.summary(str(results), shown.counts, count - len(todo)))
    return 0 if shown.counts["ok"] == shown.counts.total() else 1


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Turn an interrupt, and the request to end, into KeyboardInterrupt. Blender has handlers of its own."""

    def stop(_number: int, _frame: Any) -> NoReturn:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: a handler that Python does not know.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _write_text(target: Path, text: str) -> None:
    """Write a text to a temporary file, which replaces the target once it is complete."""
    with replacing(target) as scratch:
        scratch.write_text(text, encoding="utf-8")


def _note(options: argparse.Namespace, note: str, before: str = "") -> None:
    """Print a line that is no issue of the file, and keep it for the results of a batch, without what stands before."""
    warn(f"{before}{note}")
    options.answer.setdefault("notes", []).append(note)


def _print_issues(options: argparse.Namespace, issues: list[Issue], tell: Callable[[str], None]) -> None:
    options.answer["issues"] += issues
    for issue in issues:
        tell(f"{issue.severity}: {issue.code}: {issue.message} {issue.fix}".rstrip())


# --------------------------------------------------------------------------- input and output


@contextmanager
def _model_of(options: argparse.Namespace) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    """The physics model of the file of a command, and the issues of reading it."""
    from .exchange import formats

    load = _load_options(options)
    formats.check_options(options.file, load)
    with _output_to_stderr(), formats.format_of(options.file).read(options.file, load) as found:
        yield found


@contextmanager
def _output_to_stderr() -> Iterator[None]:
    """Redirect Blender's messages to stderr: stdout is for results."""
    _flush_stdout()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        _flush_stdout()
        os.dup2(saved, 1)
        os.close(saved)


def _flush_stdout() -> None:
    with suppress(OSError):
        if sys.stdout is not None:
            sys.stdout.flush()


def run(arguments: Sequence[str] | None = None) -> Any:
    """Entry point of `python -m usdphys_addon`."""
    sys.exit(main(arguments))
