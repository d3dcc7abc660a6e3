# SPDX-License-Identifier: GPL-3.0-or-later
"""A search in a process of its own, so that a window stays alive while each run takes long.

The process is a Python without Blender. What is searched goes there as a file, and the runs come back in another.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..core import schema, vendor_schemas
from ..core.errors import OutputError
from ..core.model import Mesh, PhysicsModel, SpherePoints
from ..simulation.record import engine_silenced
from ..system import blender, files, isolate
from .aim import Run, Setup, Target, aim_steps
from .freedoms import Freedom

#: This package, as this process calls it. Blender has other names for extensions.
_PACKAGE = __name__.removesuffix(".aiming.beside")
_START = "import sys, json; sys.path[:] = json.loads(sys.argv[2]); from {package}.aiming.beside import serve; serve()"


class _Job(NamedTuple):
    setup: Setup
    freedoms: Sequence[Freedom]
    targets: Sequence[Target]
    most_runs: int
    seed: int


class BesideSearch:
    """A search that runs. It uses no thread here: its owner asks for new runs. Its runs have the aimed bodies alone."""

    def __init__(
        self, setup: Setup, freedoms: Sequence[Freedom], targets: Sequence[Target], most_runs: int, seed: int
    ) -> None:  # fmt: skip
        """Raises OutputError where no process can be started."""
        self._kept = tempfile.TemporaryDirectory(prefix=files.WORK, ignore_cleanup_errors=True)
        self._runs, self._offset = Path(self._kept.name, "runs"), 0
        job = _Job(replace(setup, model=_portable(setup.model)), freedoms, targets, most_runs, seed)
        #: All runs were made.
        self.is_done = False
        path = [isolate.ROOT, *(entry for entry in sys.path if entry)]
        start = _START.format(package=blender.PACKAGE.name)
        try:
            with Path(self._kept.name, "job").open("wb") as stream:
                _dump(stream, job)
            # Its input ends with this process, and it with that.
            self._process = subprocess.Popen(
                [sys.executable, "-c", start, self._kept.name, json.dumps(path)],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            self._kept.cleanup()
            raise OutputError(f"The search cannot be started ({error.strerror}).") from error

    def is_running(self) -> bool:
        """False once it has ended, by itself or not (`is_done`); there can still be new runs."""
        return self._process.poll() is None

    def runs(self) -> list[Run]:
        """The runs since the last call."""
        finished = []
        with suppress(OSError), self._runs.open("rb") as stream:
            stream.seek(self._offset)
            while True:
                try:
                    run = _Loader(stream, *_names(stream)).load()
                except (EOFError, pickle.UnpicklingError):  # not all of it is written yet
                    break
                self._offset = stream.tell()
                if run is None:
                    self.is_done = True
                else:
                    finished.append(run)
        return finished

    def close(self) -> None:
        """End it, and delete its files."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._kept.cleanup()


def serve() -> None:
    """What the process does: search, and write down each run. argv: the folder of both files."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    folder = Path(sys.argv[1])
    with (folder / "job").open("rb") as stream:
        job: _Job = _Loader(stream, *_names(stream)).load()
    with (folder / "runs").open("wb") as stream, engine_silenced():
        for run in aim_steps(job.setup, job.freedoms, job.targets, most_runs=job.most_runs, seed=job.seed):
            paths = tuple(dict.fromkeys(target.path for target in job.targets)) if run.paths else ()
            rows = [run.paths.index(path) for path in paths]
            _dump(stream, replace(
                run, paths=paths, positions=run.positions[:, rows], rotations=run.rotations[:, rows], notices=[],
                error=None,
            ))  # fmt: skip
            stream.flush()
        _dump(stream, None)


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


# --------------------------------------------------------------------------- values between processes


def _same(value: Any) -> Any:
    return value


def _portable(model: PhysicsModel) -> PhysicsModel:
    """A copy of a model without functions of Blender: meshes are loaded. Schemas that nobody declares are left out."""
    loaded: dict[int, Callable[[], Mesh | SpherePoints | None]] = {}
    prims = {}
    for path, prim in model.prims.items():
        known = {name: value for name, value in prim.schemas.items() if _class_of(type(value).usd_name) is type(value)}
        mesh = prim.mesh
        if mesh is not None and id(mesh) not in loaded:
            mesh_loaded = mesh()
            if isinstance(mesh_loaded, Mesh):
                mesh_loaded = Mesh(mesh_loaded.points, mesh_loaded.triangles)  # without what was derived from it
            loaded[id(mesh)] = partial(_same, mesh_loaded)
        prims[path] = replace(prim, schemas=known, mesh=None if mesh is None else loaded[id(mesh)])
    return replace(model, prims=prims, locate=None, seen=None)


def _class_of(name: str) -> type[schema.Schema] | None:
    return schema.SCHEMAS.get(name) or vendor_schemas.find(name)


def _restored(name: str, values: tuple[Any, ...]) -> Any:
    cls = _class_of(name)
    assert cls is not None
    return cls(*values)


class _Dumper(pickle.Pickler):
    """Schemas by their names, because classes of vendors are made from tables."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, schema.Schema):
            return _restored, (type(value).usd_name, value.all_values())
        return NotImplemented


class _Loader(pickle.Unpickler):
    """Finds the classes of this package under the name that it has in this process."""

    def __init__(self, stream: IO[bytes], package: str) -> None:
        super().__init__(stream)
        self._package = package

    def find_class(self, module: str, name: str) -> Any:
        if module == self._package or module.startswith(f"{self._package}."):
            module = _PACKAGE + module.removeprefix(self._package)
        return super().find_class(module, name)


def _dump(stream: IO[bytes], value: Any) -> None:
    stream.write(f"{_PACKAGE}\n".encode())
    _Dumper(stream, protocol=pickle.HIGHEST_PROTOCOL).dump(value)


def _names(stream: IO[bytes]) -> tuple[str]:
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    return (line.decode().strip(),)
