# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs: a line of JSON each, and the command line that does it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import InputError, UsageError
from ..core.words import is_text
from ..system.files import regular, usable_name
from .worker import is_url

#: What a job does, and the keys of its files.
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "convert": ("in", "out"), "validate": ("in",), "inspect": ("in",), "simulate": ("in", "out", "json"),
    "prove": ("in", "json"), "report": ("in", "out"), "decompose": ("in", "out"),
}  # fmt: skip
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "convert": ("in", "out"), "decompose": ("in", "out"), "report": ("in", "out"),
}  # fmt: skip
#: Keys of a job, and options that a job cannot set.
_KEYS = frozenset({"id", "op", "in", "out", "json", "options"})
_TAKEN = frozenset({"out", "json", "isolate", "debug", "help", "index", "junit", "o", "stamp"})
#: Options whose values are names of files.
_FILES = frozenset({"against", "expect", "onto", "srdf"})
#: Options that name a program: a file of jobs, which can come from others, runs none.
_PROGRAMS = frozenset({"engine-python", "coacd-python"})
_OPTION = re.compile(r"[a-z][a-z-]*\Z")


@dataclass(frozen=True, slots=True)
class Job:
    """One job. arguments: the command line. digest: of the job, so that a changed one is done again."""

    id: str
    op: str
    source: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    digest: str

    @property
    def files(self) -> tuple[str, ...]:
        """What it reads and writes."""
        return self.inputs + self.outputs

    def as_table(self) -> dict[str, Any]:
        """What a worker needs of it."""
        return {"id": self.id, "arguments": self.arguments, "inputs": self.inputs, "outputs": self.outputs}

    def stamp(self) -> list[int] | None:
        """Size and time of each input as it is now; None for a URL, and where there is no such file."""
        if is_url(self.source):
            return None
        try:
            # A Path costs more than the call, ten thousand times.
            stats = [os.stat(name) for name in self.inputs if not is_url(name)]  # noqa: PTH116
        except OSError:
            return None
        return [number for state in stats for number in (state.st_size, state.st_mtime_ns)]


def read(file: Path) -> list[Job]:
    """The jobs of a file. Raises InputError that names the first line that is none."""
    try:
        # Not `splitlines`: a text in JSON may hold line separators of Unicode.
        lines = regular(file).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or "it is no text in UTF-8"
        raise InputError(f"'{file}' cannot be read ({reason}).") from error
    listed: list[Job] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            listed.append(job_of(value))
        except ValueError as error:
            raise InputError(f"Line {number} of '{file}' is no JSON ({error}).") from error
        except RecursionError as error:
            raise InputError(f"Line {number} of '{file}' is nested too deeply.") from error
        except InputError as error:
            raise InputError(f"Line {number} of '{file}': {error}") from error
    _refuse_twins(file, listed)
    return listed


def job_of(value: object) -> Job:
    """The job of a line. Relative names are taken from the working folder. Raises InputError for one that is none."""
    if not isinstance(value, dict):
        raise InputError('a job is an object such as {"op": "convert", "in": "a.blend", "out": "a.usda"}.')
    op = value.get("op")
    if not isinstance(op, str) or op not in OPERATIONS:
        raise InputError(f"'op' is {op!r}; it must be one of {', '.join(OPERATIONS)}.")
    unknown = sorted(set(value) - _KEYS)
    if unknown:
        raise InputError(f"'{unknown[0]}' is no key of a job; options of the command go into 'options'.")
    files: dict[str, str] = {}
    for key in ("in", "out", "json"):
        name = value.get(key)
        if name is None and key not in _NEEDED.get(op, ("in",)):
            continue
        if key not in OPERATIONS[op]:
            raise InputError(f"'{key}' has no effect on '{op}'.")
        if not isinstance(name, str) or not name:
            raise InputError(f"'{op}' needs '{key}', the name of a file.")
        files[key] = absolute(name)
    options = value.get("options") or {}
    if not isinstance(options, dict):
        raise InputError("'options' is an object of names and values.")
    identity = value.get("id") or " ".join((op, *files.values()))
    if not isinstance(identity, str):
        raise InputError("'id' is a text.")
    flags = [flag for name, setting in options.items() for flag in _flags(str(name), setting)]
    flags += [f"--{key}={files[key]}" for key in ("out", "json") if op in ("simulate", "prove") and key in files]
    flags += [f"-o{files['out']}"] if op == "report" else []
    named = [files["in"], *([files["out"]] if op in ("convert", "decompose") else [])]
    arguments = (op, *flags, "--", *named)
    outputs = tuple(files[key] for key in ("out", "json") if key in files)
    digest = hashlib.blake2b(json.dumps(arguments).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    others = [absolute(str(options[name])) for name in sorted(_FILES) if options.get(name)]
    return Job(identity, op, files["in"], arguments, (files["in"], *others), outputs, digest)


def absolute(name: str) -> str:
    """The absolute name of a file; a URL stays as it is. Raises InputError for a name that no file can have."""
    if not is_url(name):
        return str(Path(usable_name(name)).absolute())
    if usable_name(name.rpartition("/")[2] or "..") in (".", ".."):
        raise InputError(f"'{name}' names no file.")
    return name


def _flags(name: str, setting: object) -> list[str]:
    option = name.replace("_", "-")
    if option in _PROGRAMS:
        raise InputError(
            f"'{name}' names a program, which no job can do; where the jobs run, set the environment variable of the "
            "engine, such as USDPHYS_NEWTON_PYTHON."
        )
    if option in _TAKEN or not _OPTION.match(option):
        raise InputError(f"'{name}' is no option of a job.")
    if setting is None or setting is False:
        return []
    if setting is True:
        return [f"--{option}"]
    if isinstance(setting, list) and not any(isinstance(each, list) for each in setting):
        return [flag for each in setting for flag in _flags(name, each)]
    if not isinstance(setting, str | int | float):
        raise InputError(f"the option '{name}' is neither a text, a number, true or false, nor a list of them.")
    text = str(setting)
    if not is_text(text):
        raise InputError(f"the option '{name}' holds what is no text in UTF-8.")
    if option in _FILES:
        text = absolute(text)
    elif option == "package" and "=" in text:
        package, _, folder = text.partition("=")
        text = f"{package}={absolute(folder)}"
    return [f"--{option}={text}"]


def _refuse_twins(file: Path, found: Sequence[Job]) -> None:
    """Raise InputError for two jobs with one id, two that write one file, and one that reads what another writes."""
    ids: set[str] = set()
    outputs: dict[str, str] = {}
    for job in found:
        if job.id in ids:
            raise InputError(f"'{file}' has two jobs with the id '{job.id}'.")
        ids.add(job.id)
        for output in map(_same, job.outputs):
            if output in outputs:
                raise InputError(f"'{outputs[output]}' and '{job.id}' in '{file}' both write '{output}'.")
            outputs[output] = job.id
    for job in found:
        for source in map(_same, job.inputs):
            if outputs.get(source, job.id) != job.id:
                raise InputError(
                    f"'{job.id}' in '{file}' reads '{source}', which '{outputs[source]}' writes; jobs have no "
                    "order, so put it into another batch, after this one."
                )


def _same(name: str) -> str:
    """One form of all names of a file, as far as the names alone tell."""
    return name if is_url(name) else os.path.normpath(name)


def shard(jobs: Sequence[Job], text: str) -> list[Job]:
    """The jobs of a shard such as "2/8": the second of eight. Raises UsageError."""
    first, _, last = text.partition("/")
    if not (first.isascii() and first.isdigit() and last.isascii() and last.isdigit() and len(text) < 16):
        raise UsageError(f"--shard is a number and how many there are, such as 1/8, not '{text}'.")
    number, count = int(first), int(last)
    if not count:
        raise UsageError(f"--shard {text} has no parts; how many there are is at least 1.")
    if not 1 <= number <= count:
        raise UsageError(f"--shard {text} is none of 1/{last} to {last}/{last}.")
    return list(jobs[number - 1 :: count])
