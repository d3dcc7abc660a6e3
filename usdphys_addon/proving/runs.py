# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of a model in an engine, and what hangs together in it.

All numbers are SI, radians, Z up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

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
from ..simulation.engine import PREVIEW
from ..simulation.joint_facts import JointFacts, read_joints
from ..simulation.layout import Layout, layout
from ..simulation.notices import Notices
from ..simulation.record import engine_silenced
from ..simulation.world import World
from .budget import Pace

Floats = NDArray[np.float64]
STEP = 1.0 / 60.0
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
    #: Where the joints of a stack have what is behind them, by the first one and the poses of its bodies.
    solved: dict[tuple[str, bytes], list[Matrix]] = field(default_factory=dict)

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
    number = [prim.path for prim in stack.joints].index(facts.path)
    moved = _solved(subject, stack, poses)
    is_last = number == len(stack.joints) - 1
    return [moved[number] @ ends[0], ends[1] if is_last else moved[number + 1] @ ends[0]]


def _solved(subject: Subject, stack: Stack, poses: Sequence[Matrix]) -> list[Matrix]:
    """The identity and, for each joint of a stack, the matrix (4, 4) of the world that moves what is behind it, where
    the bodies are in poses. All joints of the stack ask for it."""
    key = stack.joints[0].path, np.concatenate(poses).tobytes()
    if key not in subject.solved:
        before = [subject.layout.bodies[path].pose if path else np.eye(4) for path in (stack.base, stack.body)]
        now = stack.carried(*(pose @ np.linalg.inv(start) for pose, start in zip(poses, before, strict=True)))
        subject.solved[key] = [np.eye(4), *now.moved(now.values())]
    return subject.solved[key]


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
