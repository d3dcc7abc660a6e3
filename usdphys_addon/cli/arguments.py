# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of the command line. Most of them are rows of arguments.toml."""

from __future__ import annotations

import argparse
import difflib
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from ..core.air import OFF, Air, of_physx
from ..core.qualities import NORMAL, QUALITY_TEXTS
from ..simulation.engine import ENGINES, PREVIEW, Program
from ..system.console import say, warn
from .convert import FORMS, convert_file
from .decompose import decompose_file, share
from .diff import diff_files
from .many import run_batch, serve_jobs
from .merge import merge_files
from .prove import prove_file, report_file
from .reading import inspect_file
from .simulate import simulate_file
from .tetmesh import fill_file
from .validate import FORMATS, validate_files

#: Solver steps per frame; the preview takes 64 at most.
_MOST_SUBSTEPS = 1000
#: What `validate --target` takes: those of `core.validate.TARGETS`, whose import takes time, and that of URDF.
_TARGETS = ("usd", "physx", "newton", "mujoco", "havok", "godot", "ros")
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
        description="Convert, check, compare and simulate the physics of OpenUSD, .blend, glTF, URDF, xacro, SDF and "
        "MJCF files.",
        epilog="Exit status: 0 for success, 1 for errors in the input, 2 for wrong arguments, 3 for a "
        "fault of usdphys.",
    )
    parser.add_argument("--debug", action="store_true", help="print the traceback of a fault of usdphys")
    _add_common(parser, default=False)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for name, add in _COMMANDS.items():
        command = _add_command(commands, name, table)
        add(command)
        _add_common(command)
        if table[name].get("robots", True):
            _add_all(command.add_argument_group("options for robots"), table["robots"]["arguments"])
        command.add_argument(
            "--isolate", action="store_true",
            help="work in a child process, and report an error if a file makes it crash",
        )  # fmt: skip
        command.set_defaults(calculates=True)
    many = _add_command(commands, "batch", table)
    _add_common(many)
    # --failed does without all other arguments.
    many.set_defaults(run=run_batch, isolate=False, calculates=False, fallbacks=vars(many.parse_args([])))
    # A child of a batch. Without help, the list of commands leaves it out.
    commands.add_parser("serve").set_defaults(run=partial(serve_jobs, perform), isolate=False, calculates=False)
    return parser


def _add_command(commands: Any, name: str, table: dict[str, Any]) -> argparse.ArgumentParser:
    """A command with the arguments that it has in arguments.toml."""
    row = table[name]
    command: argparse.ArgumentParser = commands.add_parser(name, help=row["help"], description=row["description"])
    _add_all(command, row["arguments"])
    return command


def _add_all(parser: Any, arguments: dict[str, dict[str, Any]]) -> None:
    for name, given in arguments.items():
        kind = {"type": _TYPES[given["type"]]} if "type" in given else {}
        parser.add_argument(name, **{**given, **kind})


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


def _add_convert(command: argparse.ArgumentParser) -> None:
    forms = command.add_mutually_exclusive_group()
    for form, (flag, what) in FORMS.items():
        forms.add_argument(flag, dest="form", action="store_const", const=form, default="auto", help=what)
    # The name that it had first.
    command.add_argument("--physx-words", dest="physx_attributes", action="store_true", help=argparse.SUPPRESS)
    command.set_defaults(run=convert_file)


def _add_validate(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "files", nargs="*", action=_Files, metavar="FILE",
        help="a .blend, USD, glTF, URDF, xacro, SDF or MJCF file, or a folder of them",
    )  # fmt: skip
    command.add_argument(
        "--target", nargs="+", action=_Targets, default=["usd"], metavar="TARGET",
        help="simulators whose rules to check: physx, newton, mujoco, or usd for the specification alone (default: "
        "usd); havok, godot: what happens in them with a glTF file of it; ros, for a URDF: what ROS would refuse",
    )  # fmt: skip
    command.add_argument(
        "--format", choices=FORMATS,
        help="form of the report (default: by the suffix of --output: .json, .sarif, .xml; else text)",
    )  # fmt: skip
    command.set_defaults(run=validate_files)


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


def _add_simulate(command: argparse.ArgumentParser) -> None:
    others = [engine for engine in ENGINES.values() if isinstance(engine, Program)]
    names = " or ".join(engine.name for engine in others)
    variables = " or ".join(engine.variable for engine in others)
    command.add_argument(
        "--quality", choices=tuple(QUALITY_TEXTS), default=NORMAL,
        help="draft takes half to all of the time of normal, exact 1.2 to 5 times (default: normal)",
    )  # fmt: skip
    command.add_argument(
        "--engine", choices=tuple(ENGINES), default=PREVIEW,
        help=f"the simulator: preview, mujoco, automatic (mujoco for trees of joints, else preview), or {names} in a "
        "process of its own, compared with the preview (default: preview)",
    )  # fmt: skip
    command.add_argument(
        "--engine-python", metavar="PYTHON",
        help="the python of an environment that has the engine, or the folder node_modules that has Havok (default: "
        f"that of {variables})",
    )  # fmt: skip
    command.set_defaults(run=simulate_file)


#: What the code adds to the arguments of a command.
_COMMANDS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "convert": _add_convert, "validate": _add_validate,
    "inspect": lambda command: command.set_defaults(run=inspect_file),
    "diff": lambda command: command.set_defaults(run=diff_files), "simulate": _add_simulate,
    "prove": lambda command: command.set_defaults(run=prove_file),
    "report": lambda command: command.set_defaults(run=report_file),
    "merge": lambda command: command.set_defaults(run=merge_files),
    "tetmesh": lambda command: command.set_defaults(run=fill_file),
    "decompose": lambda command: command.set_defaults(run=decompose_file),
}  # fmt: skip


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


def _not_negative(text: str) -> float:
    return 0.0 if text == "0" else _positive(text)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' must be greater than zero and finite")
    return value


def _air(text: str) -> Air:
    """off, physx, or one to three numbers: linear and angular damping, rolling resistance."""
    if text in ("off", "physx"):
        return OFF if text == "off" else of_physx()
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not 1 <= len(values) <= 3 or not all(0.0 <= value < float("inf") for value in values):
        raise argparse.ArgumentTypeError(
            f"'{text}' must be off, physx, or LINEAR,ANGULAR,ROLLING: up to three numbers that are not negative"
        )
    linear, angular, rolling = [*values, 0.0, 0.0][:3]
    return Air(linear, angular, rolling)


#: Types of arguments, by their name in arguments.toml.
_TYPES: dict[str, Callable[[str], Any]] = {
    "count": _count, "unit": _unit, "patience": _patience, "retries": _retries, "frame_rate": _frame_rate,
    "positive": _positive, "not_negative": _not_negative, "int": int, "air": _air, "share": share,
}  # fmt: skip
