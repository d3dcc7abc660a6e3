# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of a model in an engine, how much they depend on rounding, and where two of them part.

All numbers are SI, radians, Z up. A deviation of a body counts in metres: of its place, and of its edge as it turns.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import clock, frames, gprims
from ..core.errors import UsdPhysError
from ..core.frames import Matrix
from ..core.model import Mesh, PhysicsModel, Prim
from ..core.qualities import NORMAL
from ..core.rules.base import Issue
from ..core.schemas import usd_geom, usd_physics
from ..core.stacks import Stack, stacks
from ..core.steps import Steps
from ..core.ties import Ties
from ..core.words import counted
from ..simulation.engine import PREVIEW
from ..simulation.joint_facts import JointFacts, read_joints
from ..simulation.layout import Layout, layout
from ..simulation.notices import Notices
from ..simulation.record import engine_silenced
from ..simulation.world import World
from .budget import Pace

Floats = NDArray[np.float64]
STEP = 1.0 / 60.0
#: Distances (m) of starts that measure how sensitive a motion is. Single precision does not see the first one.
ASIDE = (1e-9, 1e-6, 1e-5)
#: m: a motion that depends so much on its start is chaos, and is compared no further.
CHAOS = 0.005
#: A deviation counts above so many times that of the starts aside, and above this share of the radius of the body.
TIMES, LEAST = 20.0, 2e-3
#: A body parts where it is further away than what is allowed by this factor at any time.
PARTED = 1.5
#: m/s by which single precision moves a slow body, whose place is rounded in every step of the solver.
ROUNDING = 1e-4
#: How many times the steps are tried where an engine does something else.
FINER = (4, 16)
#: s of motion that tell how long the rest takes, and that are compared at least.
GLIMPSE = 0.25
FLOOR = "/UsdPhysProvingFloor"


def _built(steps: Steps[World]) -> World:
    """The world. Raises OutOfTimeError before a slice of the build for which there is no time, see `Pace`."""
    pace = Pace()
    while True:
        pace.begin()
        try:
            next(steps)
        except StopIteration as done:
            world: World = done.value
            return world
        pace.end()


@dataclass(slots=True)
class Motion:
    """positions (f, n, 3), rotations (f, n, 4), velocities (f, n, 6) of all bodies; empty velocities from a program.

    frames are STEP apart. problem: why there is none. loads: force and torque (f, 2), N and N m, of joints that were
    watched, by their paths. memo: what was computed of it, by the name of that. took: seconds
    of the clock until it was built, and of all its steps.
    """

    paths: tuple[str, ...]
    positions: Floats
    rotations: Floats
    velocities: Floats
    notices: list[Issue] = field(default_factory=list)
    unstable: dict[str, str] = field(default_factory=dict)
    broken: tuple[str, ...] = ()
    problem: str = ""
    loads: dict[str, Floats] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict, compare=False)
    took: tuple[float, float] = field(default=(0.0, 0.0), compare=False)

    def limits(self) -> dict[str, str]:
        """What its engine says that it cannot do, by the path of a prim."""
        return {notice.path: notice.message for notice in self.notices if notice.code == "EngineLimits"}

    def pose(self, path: str, frame: int) -> Matrix:
        """(4, 4) of a body at a frame."""
        row = self.paths.index(path)
        return frames.transform(self.positions[frame, row], frames.matrix_of(self.rotations[frame, row]))

    def until(self, seconds: float) -> Motion:
        """The first seconds of it."""
        count, own = round(seconds / STEP) + 1, len(self.positions)
        if self.problem or own <= count:
            return self
        build, steps = self.took
        return replace(
            self, memo={}, positions=self.positions[:count], rotations=self.rotations[:count],
            velocities=self.velocities[:count], took=(build, steps * (count - 1) / (own - 1)),
        )  # fmt: skip

    def only(self, paths: Sequence[str]) -> Motion:
        """The motion of some of the bodies, in this order."""
        if tuple(paths) == self.paths:
            return self
        rows = [self.paths.index(path) for path in paths]
        velocities = self.velocities[:, rows] if self.velocities.size else self.velocities
        return replace(
            self, memo={}, paths=tuple(paths), positions=self.positions[:, rows], rotations=self.rotations[:, rows],
            velocities=velocities,
        )  # fmt: skip


class Start:
    """How a model moves in the preview: nothing is simulated again that was simulated for longer."""

    def __init__(self, model: PhysicsModel) -> None:
        self.model = model
        self._longest: Motion | None = None

    def motion(self, seconds: float) -> Motion:
        """Of the first seconds."""
        known = self._longest
        if known is None or (not known.problem and len(known.positions) <= round(seconds / STEP)):
            known = self._longest = simulated(self.model, seconds)
        return known.until(seconds)


def simulated(
    model: PhysicsModel, seconds: float, *, engine: str = PREVIEW, quality: str = NORMAL, rate: int = 1,
    watched: Sequence[str] = (),
) -> Motion:  # fmt: skip
    """The motion of a model in an engine that is stepped from here. One that refuses says so in `problem`.

    rate: number of steps in a frame. watched: joints whose loads are measured. Raises OutOfTimeError, see `budget`.
    """
    count = max(1, round(seconds / STEP))
    world: World | None = None
    start = clock.now()
    try:
        with engine_silenced(), np.errstate(all="ignore"):
            pace = Pace(("build", engine, len(model.prims)))
            pace.begin()
            world = _built(World.steps(model.copied(), time_step=STEP / rate, engine=engine, quality=quality))
            pace.end()
            built, pace = clock.now(), Pace(("step", engine, len(model.prims)))
            shape = (count + 1, len(world.paths))
            motion = Motion(world.paths, np.empty((*shape, 3)), np.empty((*shape, 4)), np.empty((*shape, 6)))
            motion.loads = {path: np.zeros((count + 1, 2)) for path in watched if path in world.joints}
            for frame in range(count + 1):
                for _ in range(rate if frame else 0):
                    pace.begin()
                    world.step()
                    pace.end()
                motion.positions[frame], motion.rotations[frame] = world.positions, world.rotations
                motion.velocities[frame] = np.hstack(world.velocities())
                for path, loads in motion.loads.items():
                    loads[frame] = world.joint_load(path)
    except UsdPhysError as error:
        none = np.zeros((0, 0, 0))
        return Motion((), none, none, none, problem=str(error))
    finally:
        if world is not None:
            world.close()
    motion.took = built - start, clock.now() - built
    motion.notices, motion.unstable, motion.broken = world.notices, dict(world.unstable), world.broken_joints
    return motion


def displaced(model: PhysicsModel, distance: float) -> PhysicsModel:
    """A copy whose dynamic bodies start elsewhere, each moved (m) and turned (rad) in its own direction."""
    result = model.copied()
    moved: set[str] = set()
    for number, path in enumerate(model.bodies):
        if path in moved:
            continue
        place = model.prims[path].world[:3, 3]
        change = np.eye(4)
        change[:3, :3] = frames.matrix_of(frames.turn_by(distance * np.eye(3)[number % 3]))
        away = distance * np.array((np.cos(number), np.sin(number), np.cos(3 * number)))
        change[:3, 3] = place + away - change[:3, :3] @ place
        for prim in (result.prims[path], *(result.prims[one.path] for one in model.colliders_of(path))):
            if prim.path not in moved:
                moved.add(prim.path)
                prim.world = change @ prim.world
    return result


def radius_of(model: PhysicsModel, path: str) -> float:
    """About the radius of a body, m, by its colliders; 0.05 without any."""
    found = 0.0
    for prim in model.colliders_of(path):
        corners = corners_of(prim)
        if corners is not None:
            found = max(found, 0.5 * float(np.ptp(corners, axis=0).max()))
    return found or 0.05


def corners_of(prim: Prim) -> Matrix | None:
    """Corners (8, 3) of the bounds of a collider along its own axes, in the world; None where it has none."""
    gprim: Any = prim.get(usd_geom.Gprim)
    if gprim is not None and not isinstance(gprim, usd_geom.Plane):
        half = 0.5 * np.asarray(gprims.sizes(gprim, np.ones(3)).extent)
        low, high = -half, half
    elif prim.mesh is not None and isinstance(mesh := prim.mesh(), Mesh) and len(mesh.points):
        low, high = np.min(mesh.points, axis=0), np.max(mesh.points, axis=0)
    else:
        return None
    corners = np.array([[(low, high)[i >> axis & 1][axis] for axis in range(3)] for i in range(8)])
    result: Matrix = corners @ prim.world[:3, :3].T + prim.world[:3, 3]
    return result


def angles(one: Any, other: Any) -> Floats:
    """Between rotations (..., 4), radians; without the rounding of an arc cosine."""
    sign = np.where((one * other).sum(axis=-1) < 0, -1.0, 1.0)[..., None]
    return np.asarray(2.0 * np.linalg.norm(one - sign * other, axis=-1))


# --------------------------------------------------------------------------- what hangs together


@dataclass(slots=True)
class Part:
    """Dynamic bodies that joints hold together. is_held: by the world, or by what is not moved by physics."""

    bodies: list[str]
    joints: list[JointFacts]
    is_held: bool

    def prims(self, model: PhysicsModel) -> list[str]:
        """Paths of its bodies, their colliders and joints, and of the materials, filters and groups there are."""
        own = dict.fromkeys(self.bodies)
        own |= dict.fromkeys(prim.path for body in self.bodies for prim in model.colliders_of(body))
        own |= dict.fromkeys(facts.path for facts in self.joints)
        own |= dict.fromkeys(name for path in tuple(own) for name in model.prims[path].materials)
        own |= dict.fromkeys(
            path for path, prim in model.prims.items()
            if prim.get(usd_physics.CollisionGroup) or prim.get(usd_physics.FilteredPairsAPI)
            or prim.get(usd_physics.ArticulationRootAPI) or prim.get(usd_physics.PhysicsScene)
        )  # fmt: skip
        return [path for path in own if path in model.prims]


@dataclass(slots=True)
class Subject:
    """A model with what is known of it before any run."""

    model: PhysicsModel
    layout: Layout
    joints: list[JointFacts]
    parts: list[Part]
    gravity: Matrix
    #: By the paths of their joints.
    stacks: dict[str, Stack] = field(default_factory=dict)

    @property
    def free(self) -> list[Part]:
        """The parts that nothing holds."""
        return [part for part in self.parts if not part.is_held]


def subject_of(model: PhysicsModel) -> Subject:
    """What hangs together in a model."""
    found = layout(model, Notices())
    joints = [facts for facts in read_joints(found, Notices()) if facts.enabled]
    dynamic = dict.fromkeys(path for path, body in found.bodies.items() if not body.is_kinematic)
    ties = Ties()
    ends_of_joints = [[path for path in (facts.body0, facts.body1) if path in dynamic] for facts in joints]
    for ends in ends_of_joints:
        if ends:
            ties.tie(ends)
    parts: dict[str, Part] = {}
    for path in dynamic:
        parts.setdefault(ties.root(path), Part([], [], False)).bodies.append(path)
    for facts, ends in zip(joints, ends_of_joints, strict=True):
        if ends:
            part = parts[ties.root(ends[0])]
            part.joints.append(facts)
            part.is_held |= len(ends) < 2
    gravity = next(iter(found.gravity.values()))
    by_joint = {prim.path: stack for stack in stacks(model) for prim in stack.joints}
    return Subject(model, found, joints, list(parts.values()), gravity, by_joint)


def ends_of(subject: Subject, facts: JointFacts, motion: Motion | None = None, frame: int = -1) -> list[Matrix]:
    """The two frames (4, 4) of a joint in the world, at a frame of a motion; without one, at the start.

    Of a joint of a stack: what is before and what is behind it, as the last one of the stack is on body 1.
    """
    poses = []
    for path in (facts.body0, facts.body1):
        pose = np.eye(4)
        if motion is not None and path in motion.paths:
            pose = motion.pose(path, frame)
        elif path:
            pose = subject.layout.bodies[path].pose
        poses.append(pose)
    ends = [poses[0] @ facts.frame0, poses[1] @ facts.frame1]
    stack = subject.stacks.get(facts.path)
    if stack is None:
        return ends
    before = [subject.layout.bodies[path].pose if path else np.eye(4) for path in (stack.base, stack.body)]
    now = stack.carried(*(pose @ np.linalg.inv(start) for pose, start in zip(poses, before, strict=True)))
    number = [prim.path for prim in stack.joints].index(facts.path)
    moved = [np.eye(4), *now.moved(now.values())]
    is_last = number == len(stack.joints) - 1
    return [moved[number] @ ends[0], ends[1] if is_last else moved[number + 1] @ ends[0]]


def with_floor(subject: Subject) -> PhysicsModel:
    """The model, with a floor below its lowest point where it has parts that would fall and nothing that stands."""
    model = subject.model
    colliders = [prim for part in subject.free for body in part.bodies for prim in model.colliders_of(body)]
    if not colliders or subject.layout.statics or any(body.is_kinematic for body in subject.layout.bodies.values()):
        return model
    found = [corners for prim in model.colliders.values() if (corners := corners_of(prim)) is not None]
    if not found or not np.isfinite(found).all() or subject.gravity[2] >= 0.0:
        return model
    low, center = np.min(np.concatenate(found), axis=0), np.mean(np.concatenate(found), axis=0)
    result = model.copied()
    size = 50.0 + 20.0 * float(np.ptp(np.concatenate(found), axis=0).max())
    place = frames.transform((center[0], center[1], low[2] - 0.5), None, (size, size, 1.0))
    floor = Prim(FLOOR, "Cube", place)
    floor.add(usd_geom.Cube(size=1.0))
    floor.add(usd_physics.CollisionAPI())
    result.add(floor)
    return result


# --------------------------------------------------------------------------- comparing


class Parting(NamedTuple):
    """Where two motions part: the body, the first time (s), the largest deviation as a share of what is allowed,
    `times`, with the deviation and what was allowed then (m)."""

    body: str
    time: float
    apart: float
    allowed: float
    times: float


class Experiment:
    """A motion with its sensitivity, which others are compared with. What takes runs is made when it is asked for."""

    def __init__(
        self, model: PhysicsModel, seconds: float, *, engine: str = PREVIEW, is_cheap: bool = False,
        has_time: Callable[[], bool] = lambda: True, fitting: Callable[[Motion], float] | None = None,
        start: Start | None = None,
    ) -> None:  # fmt: skip
        """is_cheap: one start aside. fitting: the seconds that there is time for, by the first ones. start: of this
        model in the preview."""
        self.model, self.engine = model, engine
        self._aside, self._has_time = ASIDE[1:2] if is_cheap else ASIDE, has_time
        self._is_cut = False
        self._start = Start(model) if start is None and engine == PREVIEW else start
        #: The one that it is a part of, with the rows of its bodies there.
        self._whole: tuple[Experiment, list[int]] | None = None
        self._motion: Motion | None = None
        self._coarse: Floats | None = None
        self._sensitivity: Floats | None = None
        if fitting is not None and seconds > GLIMPSE:
            first = self._run(GLIMPSE)
            seconds = seconds if first.problem else min(seconds, max(GLIMPSE, fitting(first)))
        self.seconds = seconds

    def _run(self, seconds: float) -> Motion:
        if self._start is not None:
            return self._start.motion(seconds)
        return simulated(self.model, seconds, engine=self.engine)

    @property
    def motion(self) -> Motion:
        """Of the model."""
        if self._motion is None:
            self._motion = self._run(self.seconds)
        return self._motion

    @motion.setter
    def motion(self, motion: Motion) -> None:
        self._motion = motion
        self.__dict__.pop("radii", None)
        self.__dict__.pop("ways", None)

    @cached_property
    def radii(self) -> Floats:
        """(n,), m, of the bodies."""
        return np.array([radius_of(self.model, path) for path in self.motion.paths])

    @cached_property
    def ways(self) -> Floats:
        """(f, n), m, that the bodies have gone, with the turns of their edges."""
        found = np.zeros((len(self.motion.positions), len(self.radii)))
        if not self.motion.problem:
            steps = np.linalg.norm(np.diff(self.motion.positions, axis=0), axis=2)
            steps = steps + self.radii * angles(self.motion.rotations[1:], self.motion.rotations[:-1])
            found[1:] = np.cumsum(steps, axis=0)
        return found

    @property
    def sensitivity(self) -> Floats:
        """(f, n), m, by which starts aside end elsewhere."""
        if self._whole is not None:
            whole, rows = self._whole
            return whole.sensitivity[: len(self.motion.positions), rows]
        if self._sensitivity is None:
            found = np.zeros(self.ways.shape)
            for distance in () if self.motion.problem else self._aside:
                self._is_cut = self._is_cut or not self._has_time()
                if self._is_cut:
                    break
                other = simulated(displaced(self.model, distance), self.seconds, engine=self.engine)
                if not other.problem:
                    found = np.maximum(found, self.apart(other))
            self._sensitivity = np.maximum.accumulate(found, axis=0)
        return self._sensitivity

    @property
    def is_cut(self) -> bool:
        """Whether there was no time for all starts aside, as far as they were asked for: then nothing that moves
        otherwise can be judged."""
        return self._whole[0].is_cut if self._whole is not None else self._is_cut

    def is_measured(self) -> bool:
        """Run the starts aside. True if there was time for all of them."""
        return self.sensitivity is not None and not self.is_cut

    def glimpse(self) -> Experiment:
        """The experiment with its first moment."""
        result = copy.copy(self)
        result._coarse = result._sensitivity = result._whole = None
        result._is_cut, result.seconds = False, GLIMPSE
        result.motion = self.motion.until(GLIMPSE) if self._whole is not None else self._run(GLIMPSE)
        return result

    def only(self, paths: Collection[str]) -> Experiment:
        """The experiment with some of its bodies."""
        return self._part([row for row, path in enumerate(self.motion.paths) if path in paths])

    def _part(self, rows: list[int]) -> Experiment:
        result = copy.copy(self)
        result.motion = self.motion.only([self.motion.paths[row] for row in rows])
        result._coarse = None if self._coarse is None else self._coarse[:, rows]
        result._whole = self, rows
        return result

    def like(self, motion: Motion) -> Experiment:
        """The experiment with another motion of its bodies, and its sensitivity; itself where they are others."""
        wanted = self.motion.paths
        if not set(wanted) <= set(motion.paths) or len(motion.positions) != len(self.motion.positions):
            return self
        result = self._part(list(range(len(wanted))))
        result.motion = motion.only(wanted)
        return result

    @property
    def coarse(self) -> Floats:
        """(f, n), m: twice of what larger steps of the solver change: no difference of engines or words."""
        if self._coarse is None:
            other = simulated(self.model, self.seconds, engine=self.engine, quality="draft")
            self._coarse = 2.0 * np.maximum.accumulate(np.minimum(self.apart(other), 1e3), axis=0)
        return self._coarse

    def sensitivity_of(self, other: Experiment, names: dict[str, str]) -> Floats:
        """(f, n), m, that is allowed because of the starts aside of the same physics, said otherwise: what is balanced
        by symmetry here, rounding may push there. names: as of `apart`."""
        rows = [other.motion.paths.index(names.get(path, path)) for path in self.motion.paths]
        found = other.sensitivity[:, rows]
        return np.where(found < CHAOS, TIMES * found, np.inf)

    @property
    def chaos(self) -> str:
        """The end of a sentence about bodies that are not compared to the end; empty without any."""
        wild = self.sensitivity >= CHAOS
        count = int(wild.any(axis=0).sum())
        if not count:
            return ""
        first = int(np.flatnonzero(wild.any(axis=1))[0]) * STEP
        return f"; from {first:.2f} s on the motion of {counted(count, 'body')} is chaos, and is not compared"

    def apart(self, other: Motion, names: dict[str, str] | None = None) -> Floats:
        """Deviations (f, n), m. names: of bodies with other paths there, by the path here. Missing ones: infinite."""
        index = {path: row for row, path in enumerate(other.paths)}
        rows = [index.get((names or {}).get(path, path), -1) for path in self.motion.paths]
        count = min(len(self.motion.positions), len(other.positions))
        result = np.full((len(self.motion.positions), len(rows)), np.inf)
        here = [number for number, row in enumerate(rows) if row >= 0]
        there = [rows[number] for number in here]
        own, others = self.motion.positions[:count, here], other.positions[:count, there]
        turned = angles(self.motion.rotations[:count, here], other.rotations[:count, there])
        result[:count, here] = np.linalg.norm(own - others, axis=2) + self.radii[here] * turned
        # What is no number is nowhere.
        return np.where(np.isnan(result), np.inf, result)

    def allowed(self, slack: float) -> Floats:
        """(f, n), m. slack: share of the way of a body by which another solver, or other steps of it, may differ."""
        return self._allowed_alone(slack) + TIMES * self.sensitivity

    def _allowed_alone(self, slack: float) -> Floats:
        """(f, n), m, that is allowed to what is not sensitive."""
        seconds = np.arange(len(self.ways))[:, None] * STEP
        found = LEAST * self.radii + slack * self.ways + ROUNDING * seconds
        if len(self.ways) > 1:
            # An impact may come earlier or later by steps of the solver.
            speeds = np.maximum.accumulate(np.gradient(self.ways, STEP, axis=0), axis=0)
            # What hits a body that lies may come earlier or later by this share of the time.
            aside = slack * self._lain()
            rows = np.arange(len(speeds))[:, None] + np.ceil(aside / STEP).astype(int)
            soon = np.take_along_axis(speeds, np.minimum(rows, len(speeds) - 1), axis=0)
            found = found + STEP / 2 * speeds + aside * soon
        return np.asarray(found)

    def _lain(self) -> Floats:
        """(n,), s, that the bodies lie until they begin to move."""
        moved = self.ways > LEAST * self.radii
        return np.where(moved.any(axis=0), np.argmax(moved, axis=0) * STEP, 0.0)

    def moves_alike(self, other: Motion, slack: float, names: dict[str, str] | None = None) -> bool:
        """Whether no body is further apart than what is not sensitive may be: no starts aside are run for this."""
        if other.problem or self.motion.problem:
            return False
        return bool((self.apart(other, names) <= PARTED * self._allowed_alone(slack)).all())

    def parting(
        self, other: Motion, slack: float, names: dict[str, str] | None = None, *, more: Floats | None = None
    ) -> list[Parting]:
        """Of each body that parts, the first first. more: (f, n), m, that is allowed besides."""
        if other.problem or self.motion.problem or self.moves_alike(other, slack, names):
            return []
        apart, allowed = self.apart(other, names), self.allowed(slack)
        if more is not None:
            allowed = allowed + more
        wrong = (apart > allowed) & (self.sensitivity < CHAOS)
        found = []
        for row, path in enumerate(self.motion.paths):
            shares = np.where(self.sensitivity[:, row] < CHAOS, apart[:, row] / allowed[:, row], 0.0)
            worst = int(np.argmax(shares))
            if shares[worst] > PARTED:
                first = float(np.flatnonzero(wrong[:, row])[0]) * STEP
                far = float(apart[worst, row]), float(allowed[worst, row])
                found.append(Parting(path, first, *far, float(shares[worst])))
        return sorted(found, key=lambda one: one.time)


def with_kept_meshes(model: PhysicsModel) -> PhysicsModel:
    """A copy, and copies of it, that load each mesh once: the hull and the mass of it are then found once as well."""
    result = model.copied()
    for prim in result.prims.values():
        if prim.mesh is not None:
            prim.mesh = cache(prim.mesh)
    return result


def subset(model: PhysicsModel, keep: Callable[[Prim], bool]) -> PhysicsModel:
    """A copy with some of the prims."""
    copied = model.copied()
    return replace(copied, prims={path: prim for path, prim in copied.prims.items() if keep(prim)})
