# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of the command line."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from ..core.qualities import NORMAL, QUALITY_TEXTS
from ..simulation.engine import ENGINES, PREVIEW, programs
from ..system.console import say, warn
from .convert import FORMS, convert_file
from .diff import diff_files
from .many import run_batch, serve_jobs
from .reading import inspect_file
from .simulate import simulate_file
from .validate import FORMATS, validate_files

#: Solver steps per frame; the preview takes 64 at most.
_MOST_SUBSTEPS = 1000
#: What `validate --target` takes: those of `core.validate.TARGETS`, whose import takes time, and that of URDF.
_TARGETS = ("usd", "physx", "newton", "mujoco", "ros")
#: Metres or kilograms of a unit: powers of it, and of 1 over it, stay numbers.
_LEAST_UNIT = 1e-12
#: Seconds that a job of a batch may take; the timers of the system take not much more.
_LONGEST_JOB = 1e6


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


class _Version(argparse.Action):
    def __call__(self, *_arguments: Any) -> NoReturn:
        from . import versions

        say(versions.text())
        raise SystemExit(0)


def make_parser(perform: Callable[[list[str]], dict[str, Any]]) -> argparse.ArgumentParser:
    """perform: runs the commands that a batch sends to this process."""
    parser = _Parser(
        prog="usdphys",
        description="Convert, check, compare and simulate the physics of OpenUSD, .blend, glTF and URDF files.",
        epilog="Exit status: 0 for success, 1 for errors in the input, 2 for wrong arguments, 3 for a "
        "fault of usdphys.",
    )
    parser.add_argument("--debug", action="store_true", help="print the traceback of a fault of usdphys")
    _add_common(parser, default=False)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (_add_convert, _add_validate, _add_inspect, _add_diff, _add_simulate):
        command = add(commands)
        _add_common(command)
        _add_robot_options(command)
        command.add_argument(
            "--isolate",
            action="store_true",
            help="work in a child process, and report an error if a file makes it crash",
        )
        command.set_defaults(calculates=True)
    _add_batch(commands, perform)
    return parser


def _add_common(parser: argparse.ArgumentParser, *, default: Any = argparse.SUPPRESS) -> None:
    """Options before the command or after it. Without a default, the one after it does not undo the one before."""
    parser.add_argument(
        "--version", action=_Version, nargs=0, default=argparse.SUPPRESS,
        help="print the versions of usdphys and of what it uses",
    )  # fmt: skip
    parser.add_argument(
        "--quiet", action="store_true", default=default,
        help="print only errors and the requested result, without warnings, notes and the summary line",
    )  # fmt: skip


def _add_convert(commands: Any) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        "convert", help="convert between .blend, USD, glTF and URDF, with the physics",
        description="Convert .blend, USD, glTF and URDF into each other: Blender converts geometry and materials, "
        "usdphys the physics.",
    )  # fmt: skip
    command.add_argument("input", metavar="IN", help="a .blend, USD, glTF or URDF file")
    command.add_argument("output", metavar="OUT", help="a USD, glTF or URDF file, or a .blend for another input")
    command.add_argument(
        "--from-rigid-bodies", action="store_true",
        help="first convert Blender's own rigid bodies and constraints to USD Physics",
    )  # fmt: skip
    command.add_argument(
        "--hierarchy",
        choices=("nested", "flat", "reset"),
        help="bodies parented to bodies: nested, as siblings, or with !resetXformStack! (default: scene setting)",
    )
    for option, what in (("--meters-per-unit", "length"), ("--kilograms-per-unit", "mass")):
        command.add_argument(
            option, type=_unit, metavar="X", help=f"{what} per unit of OUT (default: setting of the scene)"
        )
    command.add_argument(
        "--up-axis", choices=("Y", "Z"), help="axis of OUT that points up (default: setting of the scene)"
    )
    forms = command.add_mutually_exclusive_group()
    for form, (flag, what) in FORMS.items():
        forms.add_argument(flag, dest="form", action="store_const", const=form, default="auto", help=what)
    command.add_argument("--physics-only", action="store_true", help="write only edits of the physics")
    command.add_argument(
        "--variant", action="append", default=[], metavar="/PRIM{SET=CHOICE}",
        help="choose a variant of a USD input; may be given several times",
    )  # fmt: skip
    command.add_argument(
        "--prim", default="", metavar="/PRIM", help="read only this prim of a USD input and the prims below it"
    )
    command.add_argument(
        "--onto", metavar="SCENE.blend",
        help="put only the physics of a USD input on the objects of this scene that have the same names",
    )  # fmt: skip
    command.add_argument(
        "--pack-source", action="store_true",
        help="keep the USD input, and the files that it names, in OUT.blend, for an export after they are gone",
    )  # fmt: skip
    command.add_argument("--collection", default="", metavar="NAME", help="write only the objects of this collection")
    command.add_argument(
        "--runtimes", action="store_true",
        help="write a neutral file with the variants PhysX, Newton and MuJoCo, whose settings are in runnables/physics",
    )  # fmt: skip
    command.add_argument("--animation", action="store_true", help="write the frame range as time samples")
    command.add_argument(
        "--layers", action="store_true",
        help="write an asset of layers: OUT with a payload of physics, materials, geometry and a library of meshes",
    )  # fmt: skip
    command.add_argument(
        "--physx-attributes", action="store_true",
        help="also write Newton's settings (mimic joints, velocity limits, ...) as PhysX attributes",
    )  # fmt: skip
    # The name that it had first.
    command.add_argument("--physx-words", dest="physx_attributes", action="store_true", help=argparse.SUPPRESS)
    command.add_argument(
        "--ros-package", default="", metavar="NAME",
        help="for a URDF output: make its folder (its parent, if the folder is named urdf) this ROS package, with "
        "the meshes",
    )  # fmt: skip
    command.add_argument(
        "--strict", action="store_true", help="write nothing if the checks find errors, and exit with status 1"
    )
    command.set_defaults(run=convert_file)
    return command


def _add_validate(commands: Any) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        "validate", help="check the physics of files",
        description="Check the physics of .blend, USD, glTF and URDF files, and of all such files in folders; exit "
        "status 1 if there are errors.",
    )  # fmt: skip
    command.add_argument(
        "files", nargs="*", action=_Files, metavar="FILE", help="a .blend, USD, glTF or URDF file, or a folder of them"
    )
    command.add_argument(
        "--target", nargs="+", action=_Targets, default=["usd"], metavar="TARGET",
        help="simulators whose rules to check: physx, newton, mujoco, or usd for the specification alone (default: "
        "usd); ros, for a URDF: what ROS would refuse",
    )  # fmt: skip
    command.add_argument(
        "--select", action="append", default=[], metavar="CODE",
        help="report these codes only; several with commas, or the option again",
    )  # fmt: skip
    command.add_argument(
        "--ignore", action="append", default=[], metavar="CODE",
        help="leave these codes out; several with commas, or the option again",
    )  # fmt: skip
    command.add_argument("--warnings-as-errors", action="store_true", help="exit with status 1 for warnings, too")
    command.add_argument("--fix", action="store_true", help="write safe fixes into the files themselves, and list them")
    command.add_argument(
        "--format", choices=FORMATS,
        help="form of the report (default: by the suffix of --output: .json, .sarif, .xml; else text)",
    )  # fmt: skip
    command.add_argument("--json", action="store_true", help="the same as --format json")
    command.add_argument(
        "--output", metavar="REPORT", help="write the report to a file, and only the last line to stdout"
    )
    command.set_defaults(run=validate_files)
    return command


class _Files(argparse.Action):
    """The files of `validate`; where there is one, as `file`, too, which is named if the whole command fails."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        if not values and not namespace.files:
            parser.error("the following arguments are required: FILE")
        _add_files(namespace, values)


def _add_files(namespace: argparse.Namespace, names: Sequence[str]) -> None:
    # A tuple: a name that is not encoded in UTF-8 is an error of that file alone.
    namespace.files = (*(namespace.files or ()), *names)
    namespace.file = namespace.files[0] if len(namespace.files) == 1 else None


class _Targets(argparse.Action):
    """Targets, one or several, once or repeatedly. Arguments after them that are no targets are files."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        words, count = [], 0
        for value in values:
            parts = [part for part in value.split(",") if part]
            if not parts or not set(parts) <= set(_TARGETS):
                break
            words += parts
            count += 1
        if not count:
            near = difflib.get_close_matches(values[0], _TARGETS, 1, 0.0)[0]
            raise argparse.ArgumentError(
                self, f"'{values[0]}' is not one of {', '.join(_TARGETS)}; the nearest is {near}"
            )
        before = namespace.target if namespace.target is not self.default else []
        namespace.target = list(dict.fromkeys((*before, *words)))
        _add_files(namespace, values[count:])


def _add_inspect(commands: Any) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        "inspect", help="print the physics of a file",
        description="Print the physics of a .blend, USD, glTF or URDF file: its units, every body, collider and joint.",
    )  # fmt: skip
    command.add_argument("file", metavar="FILE", help="a .blend, USD, glTF or URDF file")
    command.add_argument("--json", action="store_true", help="print it as JSON")
    command.set_defaults(run=inspect_file)
    return command


def _add_diff(commands: Any) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        "diff", help="print what differs between the physics of two files",
        description="Compare the physics of two .blend, USD, glTF or URDF files; exit status 1 if anything differs.",
    )  # fmt: skip
    command.add_argument("first", metavar="A", help="a .blend, USD, glTF or URDF file")
    command.add_argument("second", metavar="B", help="the file to compare it with; prims are matched by their paths")
    command.add_argument("--json", action="store_true", help="print the differences as JSON")
    command.set_defaults(run=diff_files)
    return command


def _add_simulate(commands: Any) -> argparse.ArgumentParser:
    names = " or ".join(engine.name for engine in programs().values())
    variables = " or ".join(engine.variable for engine in programs().values())
    command: argparse.ArgumentParser = commands.add_parser(
        "simulate", help="simulate a file and write the motion",
        description="Simulate a .blend, USD, glTF or URDF file from its first frame; write USD time samples or JSON.",
    )  # fmt: skip
    command.add_argument("file", metavar="FILE", help="a .blend, USD, glTF or URDF file")
    command.add_argument("--seconds", type=_positive, required=True, metavar="S", help="simulated time in seconds")
    command.add_argument("--fps", type=_frame_rate, metavar="F", help="frames per second (default: those of the file)")
    command.add_argument(
        "--substeps", type=_count, default=0, metavar="N", help="solver steps per frame (default: by the quality)"
    )
    command.add_argument(
        "--quality", choices=tuple(QUALITY_TEXTS), default=NORMAL,
        help="draft takes about half the time of normal, exact three to five times (default: normal)",
    )  # fmt: skip
    command.add_argument(
        "--engine", choices=tuple(ENGINES), default=PREVIEW,
        help=f"the simulator: preview, or {names} in a Python of your own, compared with the preview "
        "(default: preview)",
    )  # fmt: skip
    command.add_argument(
        "--engine-python",
        metavar="PYTHON",
        help=f"the python of an environment that has the engine (default: that of {variables})",
    )
    command.add_argument(
        "--out", metavar="OUT",
        help="time samples for all bodies: a layer over a USD input, the whole scene of a .blend",
    )  # fmt: skip
    command.add_argument(
        "--json", metavar="POSES",
        help="write the poses of all bodies to a JSON file, in the units and the up axis of the stage; for a .blend, "
        "those set for its scene",
    )  # fmt: skip
    command.set_defaults(run=simulate_file)
    return command


def _add_batch(commands: Any, perform: Callable[[list[str]], dict[str, Any]]) -> None:
    many = commands.add_parser(
        "batch", help="run many jobs, in processes that stay alive",
        description="Run the jobs of a file, one line of JSON each. A crash or a hang affects only its own job. A "
        "rerun does the remaining jobs.",
    )  # fmt: skip
    many.add_argument(
        "jobs",
        metavar="JOBS",
        nargs="?",
        help='a file with lines such as {"op": "convert", "in": "a.blend", "out": "a.usda"}',
    )
    many.add_argument(
        "--workers", type=_count, metavar="N", help="number of processes (default: the number of processors)"
    )
    many.add_argument("--dask", metavar="ADDRESS", help="send the jobs to the workers of this Dask scheduler")
    many.add_argument("--shard", metavar="I/N", help="do only the I-th of N parts, such as 2/8")
    many.add_argument(
        "--timeout",
        type=_patience,
        default=600.0,
        metavar="S",
        help="seconds after which a job is ended (default: 600)",
    )
    many.add_argument(
        "--memory", type=_positive, default=0.0, metavar="GB",
        help="gigabytes that a process may take before its job is ended (default: 80 %% of the machine's)",
    )  # fmt: skip
    many.add_argument(
        "--retries", type=_retries, default=1, metavar="N", help="further attempts after a crash or a hang (default: 1)"
    )
    many.add_argument(
        "--out", metavar="RESULTS", help="file of results, which a rerun continues (default: JOBS.results.jsonl)"
    )
    many.add_argument("--dry-run", action="store_true", help="print the id of each job that would be done, and do none")
    many.add_argument(
        "--failed", metavar="RESULTS", nargs="+",
        help="instead of a batch, list the jobs in these results whose last result is not ok; status 1 if there is one",
    )  # fmt: skip
    _add_common(many)
    many.set_defaults(run=run_batch, isolate=False, calculates=False)
    # A child of a batch. Without help, the list of commands leaves it out.
    commands.add_parser("serve").set_defaults(run=partial(serve_jobs, perform), isolate=False, calculates=False)


def _add_robot_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("options for robots in URDF")
    group.add_argument(
        "--package", action="append", default=[], metavar="NAME=FOLDER",
        help="the folder of a ROS package; may be given several times",
    )  # fmt: skip
    group.add_argument(
        "--arg", action="append", default=[], metavar="NAME:=VALUE",
        help="an argument of a xacro file; may be given several times",
    )  # fmt: skip
    group.add_argument(
        "--base", choices=("file", "fixed", "free"),
        help="the base of the robot: as in the file, with a base without a joint fixed (the default), always fixed to "
        "the world, or free",
    )  # fmt: skip
    group.add_argument(
        "--merge-fixed", action="store_true", help="make links on fixed joints part of the body above them"
    )
    group.add_argument("--prefix", default="", metavar="TEXT", help="put before the names of the robot and its parts")
    group.add_argument(
        "--srdf", default="", metavar="FILE", help="a MoveIt file: its pairs in disable_collisions do not collide"
    )
    group.add_argument(
        "--approximation", choices=("convexHull", "convexDecomposition", "boundingCube"),
        help="approximation of meshes that collide: one convex hull (the default), several, or a box",
    )  # fmt: skip
    group.add_argument(
        "--drives", choices=("effort", "hold", "velocity", "none"),
        help="drives of joints: with the effort as maximum force and no gains (the default), with gains that hold the "
        "position or the velocity, or no drives",
    )  # fmt: skip
    group.add_argument(
        "--no-self-collision", action="store_true", help="links of the robot do not collide with each other"
    )
    group.add_argument("--no-visuals", action="store_true", help="leave out visual shapes that do not collide")
    group.add_argument(
        "--visual-colliders", action="store_true", help="visual shapes of a link without colliders collide, too"
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= _MOST_SUBSTEPS):
        raise argparse.ArgumentTypeError(f"'{text}' must be a whole number from 1 to {_MOST_SUBSTEPS}")
    return int(text)


def _unit(text: str) -> float:
    if not _LEAST_UNIT <= (value := _positive(text)) <= 1.0 / _LEAST_UNIT:
        raise argparse.ArgumentTypeError(f"'{text}' must be from {_LEAST_UNIT:g} to {1.0 / _LEAST_UNIT:g}")
    return value


def _patience(text: str) -> float:
    if (value := _positive(text)) > _LONGEST_JOB:
        raise argparse.ArgumentTypeError(f"'{text}' must be at most {_LONGEST_JOB:g}")
    return value


def _retries(text: str) -> int:
    return 0 if text == "0" else _count(text)


def _frame_rate(text: str) -> float:
    from ..core.units import FRAME_RATES

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
