# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program of a simulator in the user's own Python, and reads the poses that it writes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ...core import clock, frames
from ...core.deformables import Deformable
from ...core.errors import InputError
from ...core.units import StageUnits
from ...core.words import counted
from ...system import limits
from ..engine import ENGINES, Program, programs
from ..live_values import quaternion_product
from ..record import Recording

Floats = NDArray[np.float64]
#: s between two looks whether poses are there.
_LOOKS = 0.05


def python_of(engine: str, chosen: str = "") -> str:
    """The Python for an engine: the chosen path, else that of its environment variable. Raises InputError."""
    known = ENGINES[engine]
    assert isinstance(known, Program)
    return _python(known, chosen)


def _python(known: Program, chosen: str = "") -> str:
    if known.is_for_node:
        return _folder(known, chosen)
    python = chosen or known.python
    if not python:
        raise InputError(
            f"{known.name} needs a Python of its own: make one with 'python -m venv FOLDER', install {known.packages} "
            f"in it with pip, and set it in the preferences of the add-on (--engine-python, {known.variable})."
        )
    if not os.access(python, os.X_OK) or not Path(python).is_file():
        raise InputError(f"'{python}' is not a program; choose the python of an environment that has {known.name}.")
    return python


def _folder(known: Program, chosen: str) -> str:
    """The folder of packages of a program for Node.js. Raises InputError."""
    folder = chosen or known.python
    if not folder:
        raise InputError(
            f"{known.name} needs a folder of its own: run 'npm install {known.packages}' in one, and set its folder "
            f"node_modules in the preferences of the add-on (--engine-python, {known.variable})."
        )
    if not Path(folder, *known.packages.split("/")).is_dir():
        raise InputError(f"'{folder}' has no package {known.packages}; choose the folder node_modules that has it.")
    return str(Path(folder).absolute())


class Poses(NamedTuple):
    """names: paths of prims. positions (f, n, 3), m, and rotations (f, n, 4), w first, in the world with Z up.

    points: of cloths and soft bodies (f, k, 3), by path. cables: which of the bodies are the segments of a cable, as
    first and end, by path.
    """

    names: tuple[str, ...]
    positions: Floats
    rotations: Floats
    points: Mapping[str, Floats] = MappingProxyType({})
    cables: Mapping[str, tuple[int, int]] = MappingProxyType({})


class Job(NamedTuple):
    """file: a USD file that the engine reads. seconds: of a step."""

    file: Path
    steps: int
    seconds: float


class Run:
    """A simulator at work, as a context: leaving it ends the simulator and removes its files."""

    def __init__(
        self, engine: str, python: str, file: Path, steps: int, seconds: float, *, more: Sequence[Job] = ()
    ) -> None:
        """file: a USD file that the engine reads. seconds: of a step. more: that it simulates afterwards; what it needs
        to come up, it needs once."""
        self._engine, self._steps = programs()[engine], steps
        self._kept = tempfile.TemporaryDirectory(prefix="usdphys-run-")
        #: Folder of its files.
        self.folder = Path(self._kept.name)
        self._jobs = [Job(file, steps, seconds), *more]
        self._targets = [self.folder / f"poses{number or ''}.npz" for number in range(len(self._jobs))]
        self._log = self.folder / "log.txt"
        self._began = clock.wall()
        self._stream: IO[bytes] = self._log.open("wb")
        self._child = subprocess.Popen(
            [
                str(Path(python).absolute()), str(program_of(self._engine)),
                *(word for job, target in zip(self._jobs, self._targets, strict=True)
                  for word in (str(job.file.absolute()), str(job.steps), repr(job.seconds), str(target))),
            ],
            stdin=subprocess.DEVNULL, stdout=self._stream, stderr=subprocess.STDOUT, env=environment(),
            cwd=self.folder,  # MuJoCo writes a log there
        )  # fmt: skip
        self._watch = limits.Watch(self._child.pid, self._child.kill, limits.memory(), limits.seconds())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child.poll() is None:
            self._child.kill()
        self._watch.close()
        self._child.wait()
        self._stream.close()
        self._kept.cleanup()

    @property
    def pid(self) -> int:
        """Number of its process."""
        return self._child.pid

    @property
    def done(self) -> float:
        """The part of the steps that is done, 0 to 1."""
        with suppress(OSError):
            steps = re.findall(rb"^step (\d+)$", self._log.read_bytes(), re.MULTILINE)
            return min(1.0, int(steps[-1]) / max(1, self._steps)) if steps else 0.0
        return 0.0

    def is_running(self) -> bool:
        """False once the simulator has ended."""
        return self._child.poll() is None

    def wait(self, seconds: float | None = None) -> None:
        """Wait for its end. seconds: at most so long."""
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(seconds)

    def wait_for(self, number: int, seconds: float) -> bool:
        """Wait for the poses of a file. seconds: at most so long. True if they are there, or never will be."""
        waited = 0.0
        while self.is_running() and not self._targets[number].is_file():
            if waited >= seconds:
                return False
            self.wait(_LOOKS)
            waited += _LOOKS
        return True

    def took(self, number: int = 0) -> float:
        """Seconds from the start until the poses of a file were there; 0 if they are not."""
        with suppress(OSError):
            return max(0.0, self._targets[number].stat().st_mtime - self._began)
        return 0.0

    def poses(self, units: StageUnits, number: int = 0, *, is_lost_allowed: bool = False) -> Poses:
        """The poses of a file that has been simulated. units: of it. is_lost_allowed: they may be NaN, else that is a
        failure. Raises InputError where the simulator failed."""
        name, target, own = self._engine.name, self._targets[number], self._jobs[number].file.name
        if self._watch.exceeded:
            raise InputError(
                f"{name} takes {self._watch.exceeded} for '{own}'; if that is meant, set {limits.MEMORY} "
                f"(gigabytes) or {limits.SECONDS} to more."
            )
        if not target.is_file() or (self._child.returncode and len(self._jobs) == 1):
            raise InputError(self._failure(own, number))
        with np.load(target) as arrays:
            paths, poses = tuple(map(str, arrays["names"])), np.asarray(arrays["poses"], float)
            turn = np.eye(3) if arrays["is_z_up"] else units.to_z_up
            points, cables = _deformables(arrays, turn * units.meters_per_unit)
        if not is_lost_allowed and not all(np.isfinite(numbers).all() for numbers in (poses, *points.values())):
            raise InputError(f"{name} gave NaN for the poses of bodies of '{own}'; check its masses, scales and gains.")
        x, y, z, w = np.moveaxis(poses[..., 3:], -1, 0)
        turns = np.stack((w, x, y, z), axis=-1)
        rotations = quaternion_product(np.array(frames.quaternion_of(turn)), turns)
        return Poses(paths, poses[..., :3] @ turn.T * units.meters_per_unit, rotations, points, cables)

    def _failure(self, file: str, number: int) -> str:
        text = self._log.read_text(encoding="utf-8", errors="replace")
        of_files = _FILES.split(text)[1:]
        text = of_files[number] if number < len(of_files) else text
        return sentence(self._engine, f"'{file}'", cause(text) or f"exit status {self._child.returncode}")


def environment() -> dict[str, str]:
    """That of the process of an engine: modules of Blender's Python must not come before those of the other one."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}


def program_of(engine: Program) -> Path:
    """The file of an engine's program."""
    return Path(__file__).absolute().parent / engine.program


def live_command(engine: Program) -> list[str]:
    """What starts the program of an engine so that it answers requests. Raises InputError."""
    if not engine.is_for_node:
        return [str(Path(_python(engine)).absolute()), str(program_of(engine)), "--live"]
    folder, node = _python(engine), shutil.which("node")
    if node is None:
        raise InputError(f"{engine.name} needs Node.js; install it, so that the command 'node' is found.")
    return [node, str(program_of(engine)), "--live", folder]


def sentence(engine: Program, scene: str, last: str) -> str:
    """Why an engine could not simulate a scene. last: the last message of it."""
    missing = re.match(r"ModuleNotFoundError: No module named '([\w.]+)'", last)
    if missing:
        return f"The Python for {engine.name} has no module '{missing[1]}'; install {engine.packages} in it with pip."
    if light := _LIGHT.search(last):
        return (
            f"{engine.name} cannot simulate {scene}, because '{light[1]}' moves without a mass or an inertia; set "
            "them, or give it a collider."
        )
    if unfit := _UNFIT.search(last):
        return (
            f"{engine.name} cannot simulate {scene}, because '{unfit[1]}' has moments of inertia that no body has; "
            "correct them, or leave them out."
        )
    if loose := _LOOSE_JOINT.search(last):
        return (
            f"{engine.name} cannot simulate {scene}, because the joint '{loose[1]}' is in no articulation; add an "
            "Articulation Root to the first of the bodies that joints connect to it."
        )
    if _DISTANCE_JOINT.search(last):
        return (
            f"{engine.name} cannot simulate {scene}, because its solver has no distance joints; use ball joints, or "
            "disable them."
        )
    if _MIRRORED.search(last):
        return (
            f"{engine.name} cannot simulate {scene}, because a collider is mirrored by a negative scale, or has no "
            "size; apply the scale."
        )
    return f"{engine.name} could not simulate {scene}: {last[:MOST_SAID]}"


def cause(log: str) -> str:
    """The message of the last exception in a log; else its last line."""
    lines = [line.strip() for line in log.splitlines()]
    return _cause([line for line in lines if line and not _PROGRESS.fullmatch(line)])


#: Lines of a log that say how far a program is, and which of its modules it has loaded.
_PROGRESS = re.compile(r"step \d+|Module \S+ \w+ load on device .*")
#: The line before what a program prints about a file.
_FILES = re.compile(r"^file \d+$", re.MULTILINE)
#: What Newton says of bodies without mass, of moments that no body has, of joints that no articulation holds, of
#: distance joints, and of scales that are not positive.
_LIGHT = re.compile(r"mass and inertia of moving bodies must be larger than \w+ Element name '([^']*)'")
_UNFIT = re.compile(r"inertia must satisfy A \+ B >= C.*Element name '([^']*)'")
_LOOSE_JOINT = re.compile(r"joint\(s\) not belonging to any articulation.*Orphan joints: \['([^']*)'")
_DISTANCE_JOINT = re.compile(r"Joint type 5 is not supported")
_MIRRORED = re.compile(r"Only plane shapes are allowed to have a size of zero")
_ERROR = re.compile(r"(?:[\w.]+\.)?\w*(?:Error|Exception|Exit|Warning): ")
#: Characters of a message that is passed on as it is.
MOST_SAID = 300


def _cause(lines: list[str]) -> str:
    """The message of the last exception in a log, which can have several lines; else the last line."""
    trace = max((index for index, line in enumerate(lines) if line.startswith("Traceback")), default=len(lines))
    start = next((index for index in range(trace, len(lines)) if _ERROR.match(lines[index])), None)
    if start is None:
        return lines[-1] if lines else ""
    name, _, first = lines[start].partition(": ")
    text = " ".join((first, *lines[start + 1 :]))
    # The kind of an error says nothing to a user, but for what is missing.
    return f"{name}: {text}" if name == "ModuleNotFoundError" else text.removeprefix("Error: ")


def raised(text: str) -> str:
    """The message of an exception as Python prints it, with its kind only where that says something."""
    return _cause(["Traceback", *(line.strip() for line in text.splitlines())])


def _deformables(found: Any, matrix: Floats) -> tuple[dict[str, Floats], dict[str, tuple[int, int]]]:
    """(points by path, segments of cables by path) of the file of an engine, which may have none. matrix: (3, 3)."""
    if "deformables" not in found:
        return {}, {}
    ends = np.cumsum(found["counts"])
    parts = np.split(np.asarray(found["points"], float) @ matrix.T, ends[:-1], axis=1) if len(ends) else []
    points = dict(zip(map(str, found["deformables"]), parts, strict=True))
    spans = {str(path): (int(row[0]), int(row[1])) for path, row in zip(found["cables"], found["spans"], strict=True)}
    return points, spans


def deformed(poses: Poses, deformables: Iterable[Deformable]) -> dict[str, Floats]:
    """The points (f, n, 3) of deformables in each frame, m, in the world with Z up, by path.

    The points of a cable are where its segments carry them; a point between two segments is in the middle.
    """
    points = dict(poses.points)
    for one in deformables:
        first, end = poses.cables.get(one.path, (0, 0))
        if end - first != len(one.elements) or one.path in points or not end:
            continue
        turns = _matrices(poses.rotations[:, first:end])
        places = poses.positions[:, first:end]
        total, shares = np.zeros((len(places), len(one.points), 3)), np.zeros(len(one.points))
        for side in (0, 1):
            rows = one.elements[:, side]
            held = np.einsum("nji,nj->ni", turns[0], one.points[rows] - places[0])
            # On one side a point is of one segment.
            total[:, rows] += np.einsum("fnij,nj->fni", turns, held) + places
            shares[rows] += 1.0
        points[one.path] = total / np.maximum(shares, 1.0)[:, None]
    return points


def farthest(points: Floats) -> float:
    """How far the point that moves most is away from its start in a frame. points: (f, n, 3)."""
    return float(np.linalg.norm(points - points[:1], axis=2).max())


def recording_of(preview: Recording, poses: Poses) -> tuple[Recording, list[str]]:
    """(a recording of the bodies of a preview, paths of dynamic bodies that the engine does not report).

    Those, and kinematic bodies that it does not report, stay where the preview starts.
    """
    count = len(poses.positions)
    positions = np.repeat(preview.positions[:1], count, axis=0)
    rotations = np.repeat(preview.rotations[:1], count, axis=0)
    rows = {name: row for row, name in enumerate(poses.names)}
    unknown = []
    for number, path in enumerate(preview.paths):
        if path in rows:
            positions[:, number], rotations[:, number] = poses.positions[:, rows[path]], poses.rotations[:, rows[path]]
        elif not preview.kinematic[number]:
            unknown.append(path)
    # Scale and shear of the prims.
    stretches = _matrices(preview.rotations[:1]).swapaxes(-1, -2) @ preview.matrices[:1, :, :3, :3]
    matrices = np.zeros((count, len(preview.paths), 4, 4))
    matrices[..., :3, :3] = _matrices(rotations) @ stretches
    matrices[..., :3, 3], matrices[..., 3, 3] = positions, 1.0
    return Recording(preview.fps, preview.paths, preview.kinematic, matrices, positions, rotations), unknown


def _matrices(rotations: Floats) -> Floats:
    """Rotation matrices (f, n, 3, 3) of quaternions (f, n, 4)."""
    return frames.matrices_of(rotations.reshape(-1, 4)).reshape(*rotations.shape[:2], 3, 3)


class Difference(NamedTuple):
    """The largest difference of a body between two recordings. distance: m. angle: rad. frame: of the distance."""

    path: str
    distance: float
    angle: float
    frame: int


def differences(one: Recording, other: Recording) -> list[Difference]:
    """The largest difference of each dynamic body, the greatest distance first."""
    gaps = np.linalg.norm(one.positions - other.positions, axis=2)
    cosines = np.abs((one.rotations * other.rotations).sum(axis=2)).clip(0.0, 1.0)
    differences_found = [
        Difference(path, float(gap.max()), float(2.0 * np.arccos(cosines[:, row].min())), int(gap.argmax()))
        for row, (path, gap) in enumerate(zip(one.paths, gaps.T, strict=True))
        if not one.kinematic[row]
    ]
    return sorted(differences_found, key=lambda each: -each.distance)


def told(found: list[Difference], engine: str, fps: float, most: int = 5) -> list[str]:
    """Lines about the largest differences between an engine and the preview."""
    name = ENGINES[engine].name
    if not found:
        return [f"{name}: no body moves by itself"]
    lines = [f"{name} against the preview, largest difference of {counted(len(found), 'body')}:"]
    lines += [
        f"  {each.path}: {each.distance:.4g} m at {each.frame / fps:.3g} s, {np.degrees(each.angle):.3g} degrees"
        for each in found[:most]
    ]
    return lines
