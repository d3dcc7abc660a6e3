# SPDX-License-Identifier: GPL-3.0-or-later
"""The process of an engine: asks it, and ends it when it dies, hangs, takes too much or answers with rubbish."""

from __future__ import annotations

import subprocess
import tempfile
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Thread, Timer
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..core import clock
from ..core.errors import EngineError
from ..simulation.engine import Program
from ..simulation.engines import external, pipe
from ..system import limits

#: Seconds that an engine may take to read a scene, and for a time step, and that it waits for another scene.
LOADING, STEPPING, WAITING = 120.0, 10.0, 60.0
#: Bytes that a pipe holds, where the system lets it.
PIPE = 1 << 20
#: Processes that wait for another scene, by what started them, with the timer that ends them.
_waiting: dict[Any, tuple[Child, Timer]] = {}


def child_for(row: Program, scene: str) -> Child:
    """The process of an engine: one that waits, or a new one. scene: what sentences call the scene.

    Raises InputError where its Python is not set.
    """
    found = _waiting.pop(_start_of(row), None)
    if found is not None:
        child, timer = found
        timer.cancel()
        if child.is_there:
            child.scene = scene
            return child
    return Child(row, scene)


def _start_of(row: Program) -> Any:
    return *external.live_command(row), frozenset(external.environment().items())


class Child:
    """An engine at work. folder: of the files that it gets, and of its log."""

    def __init__(self, row: Program, scene: str) -> None:
        """Start it. scene: what sentences call the scene. Raises InputError where its Python is not set."""
        command = external.live_command(row)
        self._row, self.scene, self._key = row, scene, _start_of(row)
        self._files = count()
        #: Milliseconds from the last request to its answer.
        self.delay = 0.0
        #: Those of them in the engine.
        self.spent = 0.0
        self._kept = tempfile.TemporaryDirectory(prefix="usdphys-live-")
        self.folder = Path(self._kept.name)
        self._log = self.folder / "log.txt"
        stream: IO[bytes] = self._log.open("wb")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stream, cwd=self.folder, bufsize=-1,
            env=external.environment(),
        )  # fmt: skip
        for end in (self._process.stdin, self._process.stdout):
            _widen(end)
        self._watch = limits.Watch(self._process.pid, self._process.kill, limits.memory(), limits.seconds())
        #: Also when it is lost, or when this process ends.
        self.close: Callable[[], object] = weakref.finalize(self, _end, self._process, self._watch, stream, self._kept)

    @property
    def is_there(self) -> bool:
        """False once it has ended."""
        return self._process.poll() is None and bool(getattr(self.close, "alive", False))

    def new_file(self) -> Path:
        """A file of its folder that is not there yet."""
        return self.folder / f"scene_{next(self._files)}.usdc"

    def let_wait(self) -> None:
        """Let it wait for another scene for a while: an engine takes seconds to start."""
        earlier = _waiting.pop(self._key, None)
        if earlier is not None:
            earlier[1].cancel()
            earlier[0].close()
        if self.is_there:
            timer = Timer(WAITING, self.close)
            timer.daemon = True
            timer.start()
            _waiting[self._key] = self, timer

    @property
    def pid(self) -> int:
        """Number of its process."""
        return self._process.pid

    def begin(self, do: str, arrays: pipe.Arrays, **header: Any) -> Callable[[], pipe.Message | None]:
        """Ask in a thread. Returns what returns the answer, None as long as there is none, and raises EngineError."""
        found: list[pipe.Message | EngineError] = []

        def work() -> None:
            try:
                found.append(self._asked(LOADING, do, header, arrays))
            except EngineError as error:
                found.append(error)

        thread = Thread(target=work, daemon=True, name=f"USD Physics {self._row.name}")
        thread.start()

        def answer() -> pipe.Message | None:
            thread.join(0.01)
            if not found:
                return None
            if isinstance(found[0], EngineError):
                raise found[0]
            return found[0]

        return answer

    def ask(self, do: str, arrays: pipe.Arrays | None = None, **header: Any) -> pipe.Message:
        """(header, arrays) of the answer. Raises EngineError, after which the child has ended."""
        seconds = LOADING if do == "reset" else limits.step_seconds(STEPPING)
        return self._asked(seconds, do, header, arrays or {})

    def _asked(self, seconds: float, do: str, header: Mapping[str, Any], arrays: pipe.Arrays) -> pipe.Message:
        began = clock.now()
        self._watch.answers_within(seconds)
        to, back = self._process.stdin, self._process.stdout
        assert to is not None and back is not None
        try:
            to.write(pipe.packed({"do": do, **header}, arrays))
            to.flush()
            answer = pipe.received(back)
        except (OSError, EOFError) as error:
            raise self._ended(seconds) from error
        except ValueError as error:
            self.close()
            raise EngineError(
                f"{self._row.name} answers with something that is no answer ({error}), and was ended; update it, or "
                "choose another engine."
            ) from error
        finally:
            self._watch.answers_within(float("inf"))
        self.delay = 1e3 * (clock.now() - began)
        spent = answer[0].get("spent")
        self.spent = float(spent) if isinstance(spent, int | float) else 0.0
        if "error" in answer[0]:
            self.close()
            raise EngineError(external.sentence(self._row, self.scene, external.raised(str(answer[0]["error"]))))
        return answer

    def states(self, arrays: Mapping[str, Any], count: int) -> NDArray[np.float64]:
        """The states (count, 13) of an answer. Raises EngineError where it has none of this shape."""
        states = arrays.get("states")
        if states is None or states.shape != (count, 13) or states.dtype.kind != "f":
            self.close()
            raise EngineError(
                f"{self._row.name} answers without the poses of {count} bodies, and was ended; update it, or choose "
                "another engine."
            )
        return np.asarray(states, np.float64)

    def _ended(self, seconds: float) -> EngineError:
        """Why there is no answer, in one sentence."""
        name, exceeded = self._row.name, self._watch.exceeded
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        text = self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""
        status = self._process.returncode
        self.close()
        if exceeded == "too long":
            return EngineError(
                f"{name} has not answered for {seconds:g} s, and was ended; choose fewer bodies or another engine, or "
                f"set {limits.STEP} to more."
            )
        if exceeded:
            return EngineError(
                f"{name} takes {exceeded}, and was ended; if that is meant, set {limits.MEMORY} (gigabytes) to more."
            )
        cause = external.cause(text) if "Traceback" in text else f"it ended with exit status {status}"
        return EngineError(external.sentence(self._row, self.scene, cause))


def _widen(end: IO[bytes] | None) -> None:
    """Let a pipe hold the states of many bodies: else each side waits for the other one in the middle of a message."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        assert end is not None
        fcntl.fcntl(end.fileno(), fcntl.F_SETPIPE_SZ, PIPE)


def _end(process: subprocess.Popen[bytes], watch: limits.Watch, log: IO[bytes], folder: Any) -> None:
    process.kill()
    watch.close()
    process.wait()
    for stream in (process.stdin, process.stdout, log):
        with suppress(OSError):
            if stream is not None:
                stream.close()
    with suppress(OSError):
        folder.cleanup()
