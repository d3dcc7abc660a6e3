# SPDX-License-Identifier: GPL-3.0-or-later
"""Supervises warm child processes: sends them jobs, reads their answers, ends those that hang, replaces the dead.

This module imports the standard library only, and of this package `limits`, which does the same: Dask sends both to its
workers as files.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

try:
    from ..system import limits
except ImportError:  # on a cluster, where this package is unknown
    import usdphys_limits as limits  # type: ignore[import-not-found,no-redef]

#: Begins a line of a child that is an answer. Blender prints other lines to the same stream.
MARK = "\x1eusdphys "
#: Environment variable: the file that takes the stack of a crash.
FAULT_LOG = "USDPHYS_FAULT_LOG"
#: Beginning of the name of the folder of a child, for its log and its temporary files.
FOLDER = "usdphys-child-"
_LOG = "log.txt"
#: Environment variable: a Blender, or a Python with bpy, that the children run in.
BLENDER = "USDPHYS_BLENDER"
#: Runs the add-on in a Python with bpy: from PYTHONPATH, or the one that is installed as an extension.
_FIND_AND_RUN = """
import importlib, pathlib, sys

def refuse(why):
    print("usdphys: error:", why, file=sys.stderr)
    sys.exit(2)

try:
    import bpy
except ImportError:
    refuse(f"'{sys.executable}' has no bpy; name another Python, or a Blender, in USDPHYS_BLENDER.")
try:
    program = importlib.import_module("usdphys_addon.cli")
except ModuleNotFoundError:
    import addon_utils
    for repository in bpy.context.preferences.extensions.repos:
        if pathlib.Path(repository.directory, "usdphys_addon", "usdphys_addon").is_dir():
            name = f"bl_ext.{repository.module}.usdphys_addon"
            addon_utils.enable(name)
            program = importlib.import_module(f"{name}.usdphys_addon.cli")
            break
    else:
        refuse(f"'{sys.executable}' has bpy, but not this extension; install it in that Blender, or put the folder of "
               "its source code into PYTHONPATH.")
program.run()
"""
#: Seconds that a child has to start, and to stop itself after its job has taken too long.
START, GRACE = 180.0, 15.0
#: Bytes that a child may have more than at its start, before it is replaced.
GROWTH = 1 << 30
#: Children in a row that may end before they are ready.
_STARTS = 3
#: Seconds in which a new folder of a child gets the lock by which others see that the child is alive.
_UNLOCKED = 60.0

#: Calls a function after so many seconds, unless it is cancelled.
Alarm = Callable[[float, Callable[[], None]], threading.Timer]


class ChildError(Exception):
    """No child can be started; the message says what it printed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How jobs are run.

    command: starts a child. root: see `program`. timeout: seconds per job. retries: further attempts after a
    crash or a hang. jobs_per_child: a child is replaced after that many. memory: gigabytes of a child; for 0, a share
    of those of the machine that it runs on.
    """

    command: tuple[str, ...]
    root: str
    timeout: float = 600.0
    retries: int = 1
    jobs_per_child: int = 200
    memory: float = 0.0

    def command_here(self) -> list[str]:
        """The command on this machine, which may name a Blender of its own."""
        own = os.environ.get(BLENDER, "")
        return [*program(own, self.root), "serve"] if own else list(self.command)


def program(blender: str, root: str) -> list[str]:
    """The start of a command line that runs this program in a Blender, or in a Python with bpy.

    root: folder of the add-on for that Python; empty where it has one of its own.
    """
    if not Path(blender).name.lower().startswith(("python", "pypy")):
        return [blender, "--command", "usdphys"]
    if not root:
        return [blender, "-c", _FIND_AND_RUN]
    return [blender, "-c", f"import sys; sys.path.insert(0, {root!r}); from usdphys_addon.cli import run; run()"]


class Child:
    """A process that runs jobs, one at a time."""

    def __init__(self, command: list[str], alarm: Alarm = threading.Timer, memory: int = 0) -> None:
        """Start it. memory: bytes that it may take, 0 for no limit.

        Raises ChildError where it ends before it is ready.
        """
        self._alarm, self.jobs, self.is_overdue, self._is_large = alarm, 0, False, False
        self._folder = Path(tempfile.mkdtemp(prefix=FOLDER))
        self._faults = self._folder / "faults.txt"
        try:
            with (self._folder / _LOG).open("wb") as log:
                # The child has the same open file, and so the lock for as long as it lives.
                if fcntl is not None:
                    fcntl.flock(log, fcntl.LOCK_EX)
                # A session of its own: what a job has started is ended with it. So are temporary files, which Blender
                # has no time to delete.
                own = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self._folder))
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                    env={**os.environ, **own, FAULT_LOG: str(self._faults)}, start_new_session=os.name == "posix",
                )  # fmt: skip
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise ChildError(f"'{command[0]}' cannot be started ({error.strerror})") from error
        self._watch = limits.Watch(self._process.pid, self._kill, memory)
        ready = self._answer(START)
        if ready is None:
            said = self._last_line()
            self.close()
            raise ChildError(f"'{command[0]}' ended before it was ready{': ' if said else ''}{said}")
        self._memory = int(ready.get("memory", 0))

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def is_worn(self, jobs: int) -> bool:
        """True if it has run that many jobs, has grown too large, is dead, or is being killed."""
        return self.jobs >= jobs or self._is_large or self.is_overdue or self._process.poll() is not None

    def run(self, arguments: list[str], seconds: float) -> dict[str, Any] | None:
        """The answer to a command line; None if the process has ended without one, see `end`."""
        self.jobs += 1
        assert self._process.stdin is not None
        line = json.dumps({"arguments": arguments, "seconds": seconds}) + "\n"
        with suppress(OSError):
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        answer = self._answer(seconds + GRACE)
        if answer is not None and self._memory and int(answer.get("memory", 0)) > self._memory + GROWTH:
            self._is_large = True
        return answer

    @property
    def exceeded(self) -> str:
        """What it took too much of when it was ended; empty if nothing."""
        return self._watch.exceeded

    def end(self) -> tuple[int, str]:
        """(number of the signal that has ended it, or 0, stack at its end) of a process that has ended."""
        status = self._process.wait()
        # A shell between the two adds 128 to the number of the signal.
        number = -status if status < 0 else status - 128 if 128 < status < 192 else 0
        with suppress(OSError):
            return number, self._faults.read_text(encoding="utf-8", errors="replace")
        return number, ""

    def close(self) -> None:
        """End it at once, with all that it has started."""
        self._watch.close()
        self._kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _kill(self) -> None:
        with suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _overdue(self) -> None:
        self.is_overdue = True
        self._kill()

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        alarm = self._alarm(seconds, self._overdue)
        alarm.daemon = True
        alarm.start()
        try:
            for line in self._process.stdout:
                text = line.decode("utf-8", "replace")
                if text.startswith(MARK) and text.endswith("\n"):
                    answer: dict[str, Any] = json.loads(text.removeprefix(MARK))
                    return answer
            return None
        finally:
            alarm.cancel()
            # An alarm that has gone off kills this child, and not the next job in it.
            alarm.join()

    def _last_line(self) -> str:
        with suppress(OSError):
            lines = (self._folder / _LOG).read_text(encoding="utf-8", errors="replace").split("\n")
            return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")
        return ""


def clean() -> None:
    """Delete the folders of children whose batch was killed. The folder of one that is alive is locked."""
    if fcntl is None:
        return
    with tempfile.TemporaryDirectory(prefix="usdphys-now-") as fresh:
        # By the clock that dates the folders.
        now = Path(fresh).lstat().st_mtime
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        with suppress(OSError):
            state = folder.lstat()
            # Not what somebody else has put there.
            if state.st_uid != os.getuid() or now - state.st_mtime < _UNLOCKED or folder.is_symlink():
                continue
            with suppress(FileNotFoundError), (folder / _LOG).open("rb") as log:
                fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


class Workers:
    """Runs jobs in the calling thread; each thread has a child of its own."""

    def __init__(
        self, settings: Settings, *, alarm: Alarm = threading.Timer, now: Callable[[], float] | None = None
    ) -> None:
        """now: a clock for the seconds of jobs that crash."""
        clean()
        self.settings = settings
        self._alarm, self._now = alarm, now
        self._lock, self._children, self._is_closed = threading.Lock(), dict[int, Child](), False

    def pids(self) -> list[int]:
        """Numbers of the children."""
        with self._lock:
            return [child.pid for child in self._children.values()]

    def close(self) -> None:
        """End all children, also those at work."""
        with self._lock:
            self._is_closed = True
            children = list(self._children.values())
            self._children.clear()
        for child in children:
            child.close()

    def run(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """What became of a job with the keys id, arguments, inputs and outputs: see `run_job`."""
        result: dict[str, Any] = {}
        try:
            with _staged(job, self.settings.root) as (arguments, outputs):
                for attempt in range(1, self.settings.retries + 2):
                    result = self._attempt(arguments)
                    result["attempts"] = attempt
                    if result["status"] not in ("crashed", "timeout") or self._is_closed:
                        break
                if result["status"] == "ok":
                    result["outputs"] = [_described(name, path) for name, path in outputs]
        except ChildError as error:
            result |= {"status": "no worker", "error": str(error)}
        except _StagingError as error:
            result |= {"status": "failed", "exit": 1, "error": str(error)}
        result["worker"] = platform.node()
        return result

    def _attempt(self, arguments: list[str]) -> dict[str, Any]:
        child = self._child()
        began = self._now() if self._now is not None else 0.0
        answer = child.run(arguments, self.settings.timeout)
        if answer is not None:
            return {"pid": child.pid, "status": "failed" if answer["exit"] else "ok", **answer}
        number, faults = child.end()
        if child.exceeded:
            self._drop()
            error = f"it takes {child.exceeded}; give each process more with --memory"
            return {"pid": child.pid, "status": "failed", "exit": 1, "exceeded": error}
        is_late = child.is_overdue or faults.startswith("Timeout (")
        taken = round(self._now() - began, 4) if self._now is not None else None
        self._drop()
        return {"status": "timeout" if is_late else "crashed", "signal": number, "faults": faults, "seconds": taken}

    def _child(self) -> Child:
        """The child of this thread; a new one where there is none or it is worn."""
        thread = threading.get_ident()
        with self._lock:
            child = self._children.get(thread)
        if child is not None and not child.is_worn(self.settings.jobs_per_child):
            return child
        self._drop()
        for start in range(1, _STARTS + 1):
            try:
                memory = int(self.settings.memory * limits.GB) or limits.memory()
                child = Child(self.settings.command_here(), self._alarm, memory)
                break
            except ChildError:
                if start == _STARTS:
                    raise
        assert child is not None
        with self._lock:
            if not self._is_closed:
                self._children[thread] = child
                return child
        child.close()
        raise ChildError("the batch was stopped")

    def _drop(self) -> None:
        with self._lock:
            child = self._children.pop(threading.get_ident(), None)
        if child is not None:
            child.close()


# --------------------------------------------------------------------------- on a cluster

_workers: dict[Settings, Workers] = {}
_making = threading.Lock()


def run_on_cluster(settings: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, Any]:
    """Run a job in a process of a cluster, which keeps its children until it ends. settings: fields of `Settings`."""
    wanted = Settings(**{**settings, "command": tuple(settings["command"])})
    with _making:
        if wanted not in _workers:
            _workers[wanted] = Workers(wanted)
            atexit.register(_workers[wanted].close)
    return _workers[wanted].run(job)


# --------------------------------------------------------------------------- files


class _StagingError(Exception):
    """A file cannot be brought here or away; the message is a sentence."""


@contextmanager
def _staged(job: Mapping[str, Any], root: str) -> Iterator[tuple[list[str], list[tuple[str, Path]]]]:
    """(arguments, (name, path) of each output) of a job with the files of URLs in a folder on this machine.

    The files in the folder of an input that it names come along. On success all that was written beside an output goes
    to its URL.
    """
    arguments, outputs = list(job["arguments"]), [(name, Path(name)) for name in job["outputs"]]
    if not any(is_url(name) for name in (*job["inputs"], *job["outputs"])):
        for _, path in outputs:
            _make_folder(path.parent)
        yield arguments, outputs
        return
    with tempfile.TemporaryDirectory(prefix="usdphys-run-") as scratch:
        places: dict[str, Path] = {}
        for kind in ("inputs", "outputs"):
            for number, name in enumerate(job[kind]):
                if not is_url(name):
                    places[name] = Path(name)
                    continue
                places[name] = Path(scratch, f"{kind}{number}", name.rsplit("/", 1)[1])
                _make_folder(places[name].parent)
                if kind == "inputs":
                    _copy(name, places[name].parent, "read", partial(_download, root))
        known = {name: str(path) for name, path in places.items()}
        yield [_replaced(argument, known) for argument in arguments], [(name, places[name]) for name, _ in outputs]
        for name, _ in outputs:
            if is_url(name) and places[name].exists():
                _copy(name, places[name].parent, "written", _upload)


def _replaced(argument: str, known: Mapping[str, str]) -> str:
    """An argument, or an option with its value, with the path of a URL in its place."""
    option, sign, value = argument.partition("=")
    if argument not in known and option.startswith("--") and value in known:
        return f"{option}{sign}{known[value]}"
    return known.get(argument, argument)


def is_url(name: str) -> bool:
    """True for a name such as s3://bucket/folder/file.usda."""
    return "://" in name


def _make_folder(folder: Path) -> None:
    # Where it cannot be made, the command says so.
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)


def _copy(url: str, folder: Path, done: str, copy: Callable[[Any, str, str, Path], None]) -> None:
    """Have `copy` take a file from or to a URL. Raises _StagingError, which says that it could not be `done`.

    copy: takes a file system of fsspec, a folder of it, the name of the file in that, and the folder here.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise _StagingError(
            f"'{url}' needs the Python package fsspec, and the package of its file system, where the jobs run."
        ) from error
    try:
        system, path = url_to_fs(url)
        parent, _, main = path.rpartition("/")
        copy(system, parent, main, folder)
    except Exception as error:  # each file system has errors of its own
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise _StagingError(f"'{url}' could not be {done} ({said}).") from error


def _upload(system: Any, parent: str, main: str, folder: Path) -> None:
    system.makedirs(parent, exist_ok=True)
    # The file itself comes last: what it refers to is there by then.
    for file in sorted((each for each in folder.rglob("*") if each.is_file()), key=lambda each: each.name == main):
        system.put_file(str(file), f"{parent}/{file.relative_to(folder).as_posix()}")


def _download(root: str, system: Any, parent: str, main: str, folder: Path) -> None:
    """Copy a file, and those in its folder and below that it names, itself or through others."""
    names = [name[len(parent) :].lstrip("/") for name in system.find(parent)]

    def get(name: str) -> Path:
        place = folder / name
        if not place.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"'{name}' lies outside of its folder")
        place.parent.mkdir(parents=True, exist_ok=True)
        system.get_file(f"{parent}/{name}", str(place))
        return place

    # On a cluster this module is alone, and the program, if it is there, has the other one.
    sys.path.insert(0, root)
    try:
        fetch = importlib.import_module("usdphys_addon.batch.remote").fetch
    except ImportError:
        for name in names:
            get(name)
        return
    finally:
        sys.path.remove(root)
    fetch(main, names, get)


def _described(name: str, path: Path) -> dict[str, Any]:
    """Name, size and digest of an output; without a size where the command has not written it."""
    with suppress(OSError), path.open("rb") as stream:
        return {
            "path": name,
            "bytes": path.stat().st_size,
            "sha256": hashlib.file_digest(stream, "sha256").hexdigest(),
        }
    return {"path": name}
