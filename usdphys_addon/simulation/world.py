# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulation of a PhysicsModel. All values are SI, radians and Z up, as in the model.

A world is built once and stepped in fixed time steps. Poses are arrays of all enabled bodies, in the order of
`paths`. Physics that is simulated differently is listed in `notices`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from itertools import chain, compress, count, pairwise
from operator import attrgetter
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import clock, frames, paths
from ..core.coasting import coasting_of
from ..core.errors import InputError
from ..core.model import PhysicsModel, Prim
from ..core.qualities import NORMAL
from ..core.rules.base import Above, Issue
from ..core.schema import Vector
from ..core.schemas import usd_physics
from ..core.steps import Next, Steps, finished
from ..core.velocities import velocity_scale
from . import stacked, switches
from .articulations import Tree, trees
from .energies import Energies
from .engine import FASTEST, PREVIEW, Ability, Engine, Grab, JointPose, Program, Setup, Solver, engine_row
from .filters import FILTERING, Filters, filters_of
from .joint_facts import JointFacts, ranges_of, read_joints
from .joint_poses import carried, clamped, moved, position_of, relative_pose, shift
from .layout import ROW, Layout, layout
from .notices import Notices
from .vendor_settings import report_others

Floats = NDArray[np.float64]
_KINEMATIC = attrgetter("is_kinematic")
TIME_STEP = 1.0 / 60.0
#: For the critically damped drive of `World.aim_joint`: smallest natural frequency (Hz), and largest sag (rad) under
#: the weight of the carried bodies.
FIRM, SAG = 4.0, 0.02


_P = ParamSpec("_P")
_T = TypeVar("_T")


class Follower(Protocol):
    """Called after each call that tells a world what others do: poses by hand, grabs, edits."""

    def __call__(self, name: str, result: Any, /, *args: Any, **kwargs: Any) -> None:
        """name, args, kwargs: the method of the world that was called, and how. result: what it has returned."""


def _followed(
    method: Callable[Concatenate[World, _P], _T],
) -> Callable[Concatenate[World, _P], _T]:
    """A method of a world after which its followers are called."""

    @wraps(method)
    def call(self: World, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        result = method(self, *args, **kwargs)
        for follower in self.followers:
            follower(method.__name__, result, *args, **kwargs)
        return result

    return call


@dataclass(frozen=True, slots=True)
class Snapshot:
    """State of a world; only valid for `World.restore` of the same world."""

    spaces: tuple[Any, ...]
    positions: Floats
    rotations: Floats
    awake: NDArray[np.bool_]
    frame: int
    unstable: dict[str, str]
    kinematic: NDArray[np.bool_]


class Motion(NamedTuple):
    """Of all bodies of a world: positions (n, 3), m, rotations (n, 4), w first, velocities as `World.velocities` gives
    them, (n, 3) each, and (n,) which are awake.
    """

    positions: Any
    rotations: Any
    linear: Any
    angular: Any
    awake: Any


class World:
    """Bodies, colliders, joints and filters of a model, simulated.

    paths: of all enabled bodies. positions (n, 3) and rotations (n, 4), quaternions w first: current poses.
    stretches (n, 3, 3): scale and shear of the prims; rotation @ stretch is the linear part of the world matrix. awake,
    kinematic: (n,) masks.
    """

    def __init__(
        self, model: PhysicsModel, *, time_step: float = TIME_STEP, substeps: int = 0, quality: str = NORMAL,
        engine: str = PREVIEW,
    ) -> None:  # fmt: skip
        """time_step: seconds that `step` takes. substeps: steps of the solver in each; 0: by the quality.

        quality: one of `core.qualities`. engine: a key of `engine.ENGINES`. Raises InputError
        and MissingDependencyError.
        """
        finished(self._build(model, time_step, substeps, quality, engine))

    @classmethod
    def steps(
        cls, model: PhysicsModel, *, time_step: float = TIME_STEP, substeps: int = 0, quality: str = NORMAL,
        engine: str = PREVIEW,
    ) -> Steps[World]:  # fmt: skip
        """Build a world in steps, none of which takes longer than one body does, or some equal ones."""
        world = cls.__new__(cls)
        yield from world._build(model, time_step, substeps, quality, engine)
        return world

    def _build(self, model: PhysicsModel, time_step: float, substeps: int, quality: str, engine: str) -> Steps[None]:
        self._notices = Notices()
        self.time_step = time_step
        self.frame = 0
        #: Of the last time step: how long it took, and how long this thread worked in it, which is less where other
        #: programs have the processor.
        self.step_milliseconds = self.worked_milliseconds = 0.0
        self.unstable: dict[str, str] = {}
        #: What gets all that others do to this world; those that run beside it.
        self.followers: list[Follower] = []
        self._ids = count(1)
        self._solver = engine_row(engine)
        make = self._solver.load()
        #: Paths of the bodies that animation and physics move in turn.
        self.switching = switches.switching(model)
        authored, model = model, switches.released(model)
        # What engines of this process simulate in another way is nothing that a program does.
        told = self._notices if isinstance(self._solver, Solver) else Notices()
        #: Bodies of the engine alone, with the body that each leads to.
        self._links: dict[str, str] = {}
        if isinstance(self._solver, Solver):
            model, self._links = stacked.chained(model, told)
        self._layout = layout(model, told)
        report_others(model, self._layout.names, told)
        switches.report_still(authored, told)
        if model.air.told and any(not body.is_kinematic for body in self._layout.bodies.values()):
            told.add("AirSlows", None, model.air.told)
        setups = [
            replace(setup, notices=self._notices) for setup in _setups(self._layout, told, time_step, substeps, quality)
        ]
        _report_missing(self._solver, self._layout, setups, self._notices)
        #: Each is one physics scene in the engine.
        self.spaces: tuple[Engine, ...] = tuple(map(make, setups))
        if self._links:
            pairs = zip(self.spaces, setups, strict=True)
            self.spaces = tuple(stacked.without_links(engine, setup, self._links) for engine, setup in pairs)
        yield from _built(self.spaces, setups)
        setups = [stacked.shown(setup, self._links) for setup in setups] if self._links else setups
        bodies = [body for setup in setups for body in setup.bodies.values()]
        self.paths = tuple(chain.from_iterable(setup.bodies for setup in setups))
        ends = np.cumsum([0, *(len(setup.bodies) for setup in setups)]).tolist()
        self._ranges = [slice(*ends_of) for ends_of in pairwise(ends)]
        places = self._layout.places
        rows = np.fromiter(map(ROW, bodies), np.int64, len(bodies))
        self.positions: Floats = places.positions[rows]
        self.rotations: Floats = places.quaternions[rows]
        self.stretches: Floats = places.stretches[rows]
        self.kinematic = np.fromiter(map(_KINEMATIC, bodies), bool, len(bodies))
        self.awake = np.ones(len(self.paths), bool)
        #: Kinematic bodies that keep their velocity, by path; nobody else leads them.
        self.coasting = {
            body.prim.path: motion
            for body in (bodies if self.switching else compress(bodies, self.kinematic.tolist()))
            if body.is_kinematic or body.prim.path in self.switching
            if (motion := coasting_of(authored, authored.prims[body.prim.path])) is not None
        }  # fmt: skip
        self._by_scene = {setup.scene: each for setup, each in zip(setups, self.spaces, strict=True)}
        facts = {joint.path: joint for setup in setups for joint in setup.joints}
        self._joints = {path: (each, facts[path]) for each in self.spaces for path in each.joints}
        self._set_switches(authored)
        # Which copies all triangles.
        yield 1.0
        self._start = self.snapshot()

    def _set_switches(self, model: PhysicsModel) -> None:
        """Bring what is switched by animation to its state at the start."""
        for path in self.switching:
            if path in self._index and switches.is_led(model.prims[path]):
                self.lead_body(path)
        for key in model.animated:
            collider = model.prims[key.path].get(usd_physics.CollisionAPI) if key.path in model.prims else None
            if key.field == "collision_enabled" and collider is not None:
                self.set_collider_enabled(key.path, bool(collider.resolved("collision_enabled")))

    # ----------------------------------------------------------------------- running

    @property
    def notices(self) -> list[Issue]:
        """Issues about physics that is simulated differently, or not at all. Grows while the world runs."""
        return list(self._notices.issues)

    def can(self, ability: Ability) -> bool:
        """True for what the engine is able to do."""
        return ability in self._solver.abilities

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self.frame * self.time_step

    @property
    def delay(self) -> float:
        """Milliseconds that engines in processes of their own took for the last time step, with the way to them."""
        return sum(engine.delay for engine in self.spaces)

    @property
    def engine_name(self) -> str:
        """Of its row."""
        return self._solver.name

    @property
    def substeps(self) -> int:
        """Solver steps in each time step, maximum over all scenes."""
        return max((engine.substeps for engine in self.spaces), default=1)

    def step(self) -> None:
        """One time step. Bodies that move too fast or gain energy from no source are added to `unstable`.

        A body whose pose becomes NaN or infinite keeps its last position and is added to `unstable` too. Raises
        EngineError if the solver fails.
        """
        began, worked = clock.now(), clock.thread_now()
        if self.frame == 0:
            # The first moment shows what the file says; joints that are apart are closed from here on.
            for engine, rows in zip(self.spaces, self._ranges, strict=True):
                if engine.is_moved_at_start:
                    engine.read_poses(self.positions[rows], self.rotations[rows])
        before = self.positions.copy()
        self._coast()
        steps = []
        for engine, rows in zip(self.spaces, self._ranges, strict=True):
            done = engine.step(self.positions[rows], self.rotations[rows])
            steps.append(done)
            self.awake[rows] = done.awake
            for path in done.lost:
                self._mark(path, "its pose is not a number any more")
        self.frame += 1
        self._check(before)
        for done in steps:
            if done.gaining:
                self._mark(done.gaining, "its energy grows although nothing drives it")
        self.step_milliseconds = 1e3 * (clock.now() - began)
        # CPU time is coarse on some systems.
        self.worked_milliseconds = min(1e3 * (clock.thread_now() - worked), self.step_milliseconds)

    def _coast(self) -> None:
        """Let the kinematic bodies that keep their velocity go on."""
        for path, motion in self.coasting.items():
            row = self._index[path]
            if self.kinematic[row]:
                place, turn = motion.after(self.time_step, self.positions[row], frames.matrix_of(self.rotations[row]))
                self._engine_of(path).set_kinematic_pose(path, place, np.array(frames.quaternion_of(turn)))

    def _check(self, before: Floats) -> None:
        moved = self.positions - before
        with np.errstate(invalid="ignore"):
            fast = np.einsum("ij,ij->i", moved, moved) > (FASTEST * self.time_step) ** 2
        finite = np.isfinite(self.positions).all(axis=1) & np.isfinite(self.rotations).all(axis=1)
        for index in np.flatnonzero(~finite):
            self.positions[index] = before[index]
            self.rotations[index] = (1.0, 0.0, 0.0, 0.0)
            self._mark(self.paths[index], "its pose is not a number any more")
        for index in np.flatnonzero(fast & finite & ~self.kinematic):
            self._mark(self.paths[index], f"it moves faster than {FASTEST:g} m/s")

    def _mark(self, path: str, why: str) -> None:
        if path in self.unstable:
            return
        self.unstable[path] = why
        prim = self._layout.bodies[path].prim
        self._notices.add("Unstable", prim, f"{prim.display} is unstable: {why}.")

    def matrices(self) -> Floats:
        """World matrices (n, 4, 4) of the prims, for column vectors, with their scale."""
        w, x, y, z = self.rotations.T
        result = np.zeros((len(self.paths), 4, 4))
        turns = np.empty((len(self.paths), 3, 3))
        turns[:, 0, 0], turns[:, 0, 1] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z)
        turns[:, 0, 2], turns[:, 1, 0] = 2 * (x * z + w * y), 2 * (x * y + w * z)
        turns[:, 1, 1], turns[:, 1, 2] = 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
        turns[:, 2, 0], turns[:, 2, 1] = 2 * (x * z - w * y), 2 * (y * z + w * x)
        turns[:, 2, 2] = 1 - 2 * (x * x + y * y)
        result[:, :3, :3] = turns @ self.stretches
        result[:, :3, 3] = self.positions
        result[:, 3, 3] = 1.0
        return result

    def _engine_of(self, path: str) -> Engine:
        return self._by_scene[self._layout.bodies[path].scene]

    @cached_property
    def _index(self) -> dict[str, int]:
        rows = dict(zip(self.paths, count()))
        # A link is where its joint is, which the body that it leads to is on.
        return rows | {link: rows[body] for link, body in self._links.items()}

    def index(self, path: str) -> int:
        """Row of a body in the arrays. Raises KeyError if it is not an enabled body."""
        return self._index[path]

    # ----------------------------------------------------------------------- moments

    def snapshot(self) -> Snapshot:
        """Copy of the state of the world; takes about 15 ms for 1,000 bodies."""
        return Snapshot(
            tuple(engine.save() for engine in self.spaces), self.positions.copy(), self.rotations.copy(),
            self.awake.copy(), self.frame, dict(self.unstable), self.kinematic.copy(),
        )  # fmt: skip

    def restore(self, snapshot: Snapshot) -> None:
        """Restore a state, bit for bit; live edits made since then are undone too."""
        for engine, saved in zip(self.spaces, snapshot.spaces, strict=True):
            engine.load(saved)
        self.positions[:], self.rotations[:] = snapshot.positions, snapshot.rotations
        self.awake[:] = snapshot.awake
        self.frame, self.unstable = snapshot.frame, dict(snapshot.unstable)
        self.kinematic[:] = snapshot.kinematic

    def close(self) -> None:
        """End the processes of engines outside this one. Nothing is called after it."""
        for engine in self.spaces:
            engine.close()

    def reset(self) -> None:
        """Restore the start: poses, velocities, broken joints and live edits."""
        self.restore(self._start)

    def velocities(self) -> tuple[Floats, Floats]:
        """Linear (n, 3), of the centres of mass, and angular (n, 3) velocities in the world: m/s and rad/s."""
        rows = np.concatenate([engine.velocities() for engine in self.spaces] or [np.zeros((0, 6))])
        return rows[:, :3], rows[:, 3:]

    def motion(self) -> Motion:
        """Copy of how the bodies move now, in single precision."""
        arrays = (self.positions, self.rotations, *self.velocities())
        places, turns, linear, angular = (array.astype(np.float32) for array in arrays)
        return Motion(places, turns, linear, angular, self.awake.copy())

    def move_model(
        self, model: PhysicsModel, old_paths: Mapping[str, str] | None = None, motion: Motion | None = None
    ) -> None:
        """Copy poses and velocities of this world to the bodies of another model, and to the prims that they carry.

        For a restart after an edit: bodies in both go on from their current state. The model is modified. old_paths:
        of the bodies that have another path in this world, that path. motion: an earlier one of this world, which it
        shows from then on.
        """
        if motion is not None:
            self.positions[:], self.rotations[:], self.awake[:] = motion.positions, motion.rotations, motion.awake
        old_paths = old_paths or {}
        taken = set(old_paths.values())
        linear, angular = self.velocities() if motion is None else (motion.linear, motion.angular)
        shifts: dict[str, Floats] = {}
        for path, prim in model.bodies.items():
            own = old_paths.get(path, "" if path in taken else path)
            row = self._index.get(own)
            if row is None:
                continue
            rotation, turned = frames.matrix_of(self.rotations[row]), frames.rotation_of(prim.world)
            # Without the scale, which the other model may have changed.
            shifts[path] = frames.transform(self.positions[row], rotation) @ frames.inverse_pose(
                frames.transform(prim.world[:3, 3], turned)
            )
            api = prim.get(usd_physics.RigidBodyAPI)
            assert api is not None
            if self.kinematic[row]:
                if own in self.coasting:
                    # Constant in the world, and authored along the axes of the body.
                    start = self._layout.bodies[own].rotation
                    prim.add(api.copy(**{
                        name: tuple((rotation.T @ start @ np.asarray(api.resolved(name), float)).tolist())
                        for name in ("velocity", "angular_velocity")
                    }))  # fmt: skip
                continue
            unit = velocity_scale(turned.T @ prim.world[:3, :3])
            prim.add(api.copy(
                velocity=tuple((rotation.T @ linear[row] / unit).tolist()),
                angular_velocity=tuple((rotation.T @ angular[row]).tolist()), starts_asleep=not self.awake[row],
            ))  # fmt: skip
        owners = Above({path: model.prims[path] for path in shifts}, model.resets)
        for path, prim in model.prims.items():
            owner = owners.at(path)
            if owner is not None:
                prim.world = shifts[owner.path] @ prim.world

    def moved_copy(
        self, model: PhysicsModel, old_paths: Mapping[str, str] | None = None, motion: Motion | None = None
    ) -> PhysicsModel:
        """A copy of a model after `move_model`; the model is not modified."""
        copied = model.copied()
        self.move_model(copied, old_paths, motion)
        return copied

    # ----------------------------------------------------------------------- what others move

    @_followed
    def set_kinematic_pose(
        self, path: str, position: ArrayLike, rotation: ArrayLike, *, then: tuple[ArrayLike, ArrayLike] | None = None
    ) -> None:  # fmt: skip
        """Set the pose of a kinematic body at the end of the next step; it moves there with a velocity, pushing others.

        position (3,), rotation (w, x, y, z) of the prim without its scale. then: both a step later, if they are known;
        a motion that begins then speeds up evenly instead of at once. Raises KeyError for another kind of body.
        """
        if not self.kinematic[self._index[path]]:
            raise KeyError(path)
        engine = self._engine_of(path)
        engine.set_kinematic_pose(path, np.array(position, float), _unit(rotation))
        if then is not None:
            engine.expect_kinematic_pose(path, np.array(then[0], float), _unit(then[1]))

    @_followed
    def set_static_pose(self, path: str, position: ArrayLike, rotation: ArrayLike) -> None:
        """Teleport a static collider. Raises KeyError for any other prim."""
        turn = np.asarray(rotation, float)
        for engine in self.spaces:
            if path in engine.statics:
                engine.set_static_pose(path, np.asarray(position, float), turn / np.linalg.norm(turn))
                return
        raise KeyError(path)

    # ----------------------------------------------------------------------- live edits

    @_followed
    def set_gravity(self, gravity: ArrayLike, scene: str = "") -> None:
        """Acceleration (3,), m/s2, of one scene by path, or of all."""
        x, y, z = np.asarray(gravity, float).tolist()
        for own, engine in self._by_scene.items():
            if scene in ("", own):
                engine.gravity = (x, y, z)

    @_followed
    def set_drive(
        self, path: str, dof: str, *,
        stiffness: float | None = None, damping: float | None = None, target_position: float | None = None,
        target_velocity: float | None = None, max_force: float | None = None,
        type: Literal["force", "acceleration"] | None = None,
    ) -> None:  # fmt: skip
        """Change the drive of a joint, or give it one. dof: the instance name, such as "angular" or "rotX".

        SI and radians. Raises KeyError where there is no such joint or degree of freedom.
        """
        given: dict[str, Any] = {
            "stiffness": stiffness, "damping": damping, "target_position": target_position,
            "target_velocity": target_velocity, "max_force": max_force,
            "acceleration": None if type is None else type == "acceleration",
        }  # fmt: skip
        engine, _ = self._joints[path]
        changes = {name: value for name, value in given.items() if value is not None}
        engine.set_drive(path, dof, replace(engine.drive(path, dof), **changes))

    @_followed
    def lead_drive(self, path: str, dof: str, start: float) -> None:
        """Let the target of a drive come evenly from a position, m or rad, to where it is now, in the next step.

        Raises KeyError as `set_drive` does.
        """
        engine, facts = self._joints[path]
        if dof not in facts.moving:
            raise KeyError(dof)
        engine.lead_drive(path, dof, start)

    @_followed
    def set_friction(
        self, material: str, friction: float, restitution: float | None = None, static: float | None = None
    ) -> None:  # fmt: skip
        """Change a physics material by path; "" is what all colliders without a material have. friction: of what
        slides; static: of what rests, where it is larger; None: the same."""
        for engine in self.spaces:
            engine.set_surface(material, friction, restitution, static)

    @_followed
    def set_mass(self, path: str, mass: float) -> None:
        """Set the mass, kg, of a dynamic body; its inertia follows. Raises KeyError for other bodies or mass <= 0."""
        if not self.weighs(path) or not mass > 0.0:
            raise KeyError(path)
        self._engine_of(path).set_mass(path, mass)

    def weighs(self, path: str) -> bool:
        """True for a body whose mass matters: a dynamic one, or one of `switching`."""
        row = self._index.get(path)
        return row is not None and (path in self.switching or not self.kinematic[row])

    @_followed
    def set_joint_enabled(self, path: str, enabled: bool) -> None:
        """Switch a joint on or off; a broken joint stays broken. Raises KeyError for one that is not simulated."""
        self._joints[path][0].set_joint_enabled(path, enabled)

    @_followed
    def set_joint_ranges(self, prim: Prim) -> None:
        """Set limits, cone and breaking load of a joint to those of another state of its prim. Raises KeyError."""
        facts = ranges_of(self._layout, prim)
        if facts is not None:
            self._joints[prim.path][0].set_joint_ranges(prim.path, facts)

    @_followed
    def set_collider_enabled(self, path: str, enabled: bool) -> None:
        """Switch a collider; without effect for one that was not built."""
        for engine in self.spaces:
            engine.set_collider_enabled(path, enabled)

    @_followed
    def set_surface_velocity(self, prim: Prim) -> None:
        """Let the surface of a body run as another state of its prim says."""
        if prim.path in self._index:
            self._engine_of(prim.path).set_surface_velocity(prim.path, prim)

    @_followed
    def lead_body(self, path: str) -> None:
        """Make a body of `switching` kinematic. Raises KeyError for any other."""
        self._set_led(path, None)

    def coasting_velocity(self, path: str) -> tuple[Vector, Vector] | None:
        """Velocity of the origin and angular one, m/s and rad/s, of a kinematic body that keeps it; else None."""
        motion = self.coasting.get(path)
        if motion is None:
            return None
        turn = frames.matrix_of(self.rotations[self._index[path]])
        return frames.vector(motion.origin_velocity(turn)), frames.vector(motion.spin)

    @_followed
    def release_body(self, path: str, linear: Vector, angular: Vector) -> None:
        """Make a body of `switching` dynamic, with a velocity of its origin and an angular one: m/s, rad/s, world.

        Raises KeyError for any other.
        """
        self._set_led(path, (linear, angular))

    def _set_led(self, path: str, velocity: tuple[Vector, Vector] | None) -> None:
        if path not in self.switching:
            raise KeyError(path)
        self._engine_of(path).set_led(path, velocity)
        row = self._index[path]
        self.kinematic[row], self.awake[row] = velocity is None, True

    @_followed
    def pose_joint(self, path: str, dof: str, value: float) -> tuple[str, ...]:
        """Set a degree of freedom to a value, m or rad, clamped to its limits, and move the carried bodies with it.

        No time passes. Returns the moved bodies, which are then at rest. Raises KeyError for an unknown joint or a
        degree of freedom that cannot move, InputError if the joint is part of a loop.
        """
        engine, facts = self._joints[path]
        freedom = facts.moving[dof]
        bodies, is_first = self._carried(engine, facts)
        world0, world1 = engine.joint_frames(path)
        wanted = clamped(freedom, value)
        relative = moved(facts, dof, relative_pose(world0, world1), wanted)
        engine.pose_joint(JointPose(path, wanted, relative, bodies, shift(world0, world1, relative, is_first)))
        own = self._ranges[self.spaces.index(engine)]
        engine.read_poses(self.positions[own], self.rotations[own])
        bodies = tuple(body for body in bodies if body not in self._links)
        self.awake[[self._index[body] for body in bodies]] = True
        return bodies

    def aim_joint(self, path: str, dof: str, value: float) -> None:
        """Drive a degree of freedom to a value, m or rad, clamped to its limits: with its own drive, if that has a
        stiffness, else with a stiff one. Raises KeyError as `set_drive` does."""
        engine, facts = self._joints[path]
        wanted = clamped(facts.moving[dof], value)
        if engine.drive(path, dof).stiffness > 0.0:
            self.set_drive(path, dof, target_position=wanted)
            return
        matter, weight = self._hanging(engine, facts, facts.names[dof])
        stiffness = max(matter * (2.0 * math.pi * FIRM) ** 2, weight / SAG)
        self.set_drive(
            path, dof, stiffness=stiffness, damping=2.0 * math.sqrt(stiffness * matter), target_position=wanted,
            target_velocity=0.0, type="force",
        )  # fmt: skip

    def _hanging(self, engine: Engine, facts: JointFacts, axis: int) -> tuple[float, float]:
        """(mass (kg) or inertia about the joint (kg m2) to move, largest torque by gravity (N m); 0 if linear)."""
        try:
            bodies, _ = self._carried(engine, facts)
        except InputError:
            bodies = tuple(engine.weights)
        weights = [(engine.weights[body], self._index[body]) for body in bodies if body not in self._links]
        if not 3 <= axis < 6:
            return sum(weight.mass for weight, _ in weights), 0.0
        place = engine.joint_frames(facts.path)[0][:3, 3]
        gravity = math.hypot(*engine.gravity)
        inertia = torque = 0.0
        for weight, row in weights:
            arm = float(np.linalg.norm(self._point(row, weight.center) - place))
            inertia += weight.mass * arm**2 + max(weight.moments)
            torque += weight.mass * gravity * arm
        return inertia, torque

    def _point(self, row: int, point: ArrayLike) -> Floats:
        """Where a point (3,) in the frame of a body is in the world."""
        turned: Floats = frames.matrix_of(self.rotations[row]) @ np.asarray(point) + self.positions[row]
        return turned

    def _carried(self, engine: Engine, facts: JointFacts) -> tuple[tuple[str, ...], bool]:
        holding = [self._joints[path][1] for path in engine.joints if engine.is_holding(path)]
        held = [path for path in self.paths if self.kinematic[self._index[path]]]
        return carried(facts, holding, held)

    # ----------------------------------------------------------------------- hands

    @_followed
    def grab(self, path: str, point: ArrayLike) -> int:
        """Hold a dynamic body at a world point (3,) with a spring; returns a number for the calls below.

        Raises KeyError for another kind of body.
        """
        if self.kinematic[self._index[path]]:
            raise KeyError(path)
        if not self.can(Ability.GRABS):
            raise InputError(f"{self._solver.name} does not {Ability.GRABS}; choose another engine.")
        number = next(self._ids)
        self._engine_of(path).grab(number, path, np.asarray(point, float))
        return number

    def hold_on(self, before: World, old_paths: Mapping[str, str]) -> None:
        """Hold what another world holds, by the same numbers, at the same points of the bodies.

        old_paths: of the bodies that have another path in it, that path. Bodies that are gone or no longer dynamic are
        let go.
        """
        self._ids = before._ids
        if not self.can(Ability.GRABS):
            return
        paths = {old: path for path, old in old_paths.items()}
        for number, held in [item for engine in before.spaces for item in engine.grabs.items()]:
            path = paths.get(held.path, held.path)
            row = self._index.get(path)
            if row is not None and not self.kinematic[row]:
                self._engine_of(path).grab(number, path, self._point(row, held.point))
                self.move_grab(number, held.target)

    def _held(self, number: int) -> Grab:
        return next(engine.grabs[number] for engine in self.spaces if number in engine.grabs)

    @_followed
    def move_grab(self, number: int, target: ArrayLike) -> None:
        """Set the target (3,) of the held point. Unknown numbers, as after a reset, are ignored."""
        x, y, z = np.asarray(target, float).tolist()
        for engine in self.spaces:
            if number in engine.grabs:
                engine.grabs[number].target = (x, y, z)

    def grab_point(self, number: int) -> Floats:
        """Current position (3,) of the held point."""
        held = self._held(number)
        return self._point(self._index[held.path], held.point)

    @property
    def grabs(self) -> list[tuple[Floats, Floats]]:
        """(held point, its target) of each grab, (3,) each."""
        return [
            (self.grab_point(number), np.array(held.target))
            for engine in self.spaces for number, held in engine.grabs.items()
        ]  # fmt: skip

    @_followed
    def release(self, number: int) -> None:
        """Release a grab. Unknown numbers, as after a reset, are ignored."""
        for engine in self.spaces:
            if number in engine.grabs:
                engine.release(number)

    # ----------------------------------------------------------------------- read-outs

    @property
    def awake_count(self) -> int:
        """Number of bodies that are not asleep."""
        return int(self.awake.sum())

    def contact_count(self) -> int:
        """Pairs of colliders that touch; takes some milliseconds for 1,000 bodies."""
        return sum(engine.contact_count() for engine in self.spaces)

    def contact_points(self, most: int = 4000) -> tuple[Floats, Floats, Floats]:
        """Points (n, 3) where colliders touch, m, the normals (n, 3) there, and the forces (n,) along them, N, in the
        last step of the solver; about `most`. The normals point towards a body that physics moves."""
        points = [point for engine in self.spaces for point in engine.contact_points(most)]
        columns = np.array(points, float).reshape(-1, 7)
        return columns[:, :3], columns[:, 3:6], columns[:, 6]

    def contact_impulses(self) -> dict[tuple[str, str], float]:
        """Impulses along the normals, N s, over the last time step, by the paths of the two that touched, sorted.

        Those are bodies and static colliders. Measured from the first call on, which returns nothing.
        """
        found: dict[tuple[str, str], float] = {}
        for engine in self.spaces:
            found.update(engine.contact_impulses())
        return found

    def busiest(self) -> str:
        """Path of the dynamic body with the most points of contact; of the first without any contact, or ""."""
        counts = {path: 0 for path in self.paths if not self.kinematic[self._index[path]]}
        for engine in self.spaces:
            for path, points in engine.contact_counts().items():
                counts[path] += points
        return max(counts, key=lambda path: counts[path], default="")

    @property
    def broken_joints(self) -> tuple[str, ...]:
        """Paths, in the order of breaking."""
        return tuple(path for engine in self.spaces for path in engine.broken)

    @property
    def static_colliders(self) -> tuple[str, ...]:
        """Paths of the static colliders, which `set_static_pose` can move."""
        return tuple(path for engine in self.spaces for path in engine.statics)

    @property
    def joints(self) -> tuple[str, ...]:
        """Paths of the joints that are simulated."""
        return tuple(self._joints)

    def joint_load(self, path: str) -> tuple[float, float]:
        """Force (N) and torque (N m) of a joint in the last solver step; zero before the first step.

        A joint that cannot break is measured from the first call on, so that the first one returns zero. Of a broken
        joint it is the load under which it broke.
        """
        return self._joints[path][0].joint_load(path)

    def joint_wrench(self, path: str) -> tuple[Vector, Vector]:
        """Force (N) and torque (N m), (3,) each, with which a joint acts on its second body at its frame there, along
        the axes of that frame. In the solver step that `joint_load` is of, and zero where that is. The torque of a
        joint in a loop is not known, and zero."""
        return self._joints[path][0].joint_wrench(path)

    def joint_position(self, path: str, dof: str) -> float:
        """Position (m) or angle (rad) of a degree of freedom; angles are within half a turn."""
        engine, facts = self._joints[path]
        return position_of(facts, relative_pose(*engine.joint_frames(path)), facts.names[dof])

    def joint_positions(self) -> dict[str, dict[str, float]]:
        """Positions of all movable degrees of freedom, by joint and name: m, or rad within half a turn."""
        return {
            path: {dof: self.joint_position(path, dof) for dof in facts.moving}
            for path, (_, facts) in self._joints.items()
        }

    def joint_range(self, path: str, dof: str) -> tuple[float, float]:
        """Limits of a movable degree of freedom, m or rad. Raises KeyError for any other."""
        freedom = self._joints[path][1].moving[dof]
        return freedom.low, freedom.high

    def joint_ends(self, path: str) -> tuple[Floats, list[Floats], float]:
        """(position of joint frame 0, centres of mass, (3,) each, larger distance from frame to centre); m, world.

        Of the poses in `positions` and `rotations`, which may be those of a frame that was simulated before.
        """
        engine, facts = self._joints[path]
        ends, arms, place = [], [0.0], facts.frame0[:3, 3]
        if facts.body0:
            place = self._point(self._index[facts.body0], place)
        for body, frame in ((facts.body0, facts.frame0), (facts.body1, facts.frame1)):
            if body and body not in self._links:
                center = engine.weights[body].center if body in engine.weights else (0.0, 0.0, 0.0)
                ends.append(self._point(self._index[body], center))
                arms.append(float(np.linalg.norm(frame[:3, 3] - center)))
        return place, ends, max(arms)

    def is_reduced(self, path: str) -> bool:
        """True for a joint that is simulated in reduced coordinates."""
        return self._joints[path][0].is_reduced(path)

    def kinetic_energy(self) -> float:
        """Of all dynamic bodies that are awake, J."""
        return Energies(self).now().kinetic


def _unit(rotation: ArrayLike) -> Floats:
    turn = np.asarray(rotation, float)
    unit: Floats = turn / np.linalg.norm(turn)
    return unit


# --------------------------------------------------------------------------- building


def _setups(found: Layout, notices: Notices, time_step: float, substeps: int, quality: str) -> list[Setup]:
    """What is simulated in each physics scene that has bodies or static colliders."""
    joints = read_joints(found, notices)
    kinematic = {path for path, body in found.bodies.items() if body.is_kinematic} if joints else set()
    kinematic |= switches.switching(found.model)
    changing = switches.changing_joints(found.model)
    reducible = [joint for joint in joints if joint.path not in changing] if changing else joints
    articulations = trees(found.model, reducible, kinematic, notices) if joints else []
    chosen = _filters(found, joints, articulations, notices)
    by_scene = {
        scene: Setup(found, notices, scene, gravity, chosen, time_step, substeps, quality)
        for scene, gravity in found.gravity.items()
    }
    if len(by_scene) == 1:
        next(iter(by_scene.values())).bodies = found.bodies
    for path, body in found.bodies.items() if len(by_scene) > 1 else ():
        by_scene[body.scene].bodies[path] = body
    for path, scene in found.statics.items():
        by_scene[scene].statics.append(found.model.prims[path])
    for joint in joints:
        by_scene[joint.scene].joints.append(joint)
    for tree in articulations:
        by_scene[tree.links[0].joint.scene].trees.append(tree)
    return [setup for setup in by_scene.values() if setup.bodies or setup.statics]


def _built(engines: Iterable[Engine], setups: Sequence[Setup]) -> Steps[None]:
    """Build the engines of all scenes, in steps."""
    made, total = 0.0, sum(len(setup.bodies) + len(setup.statics) for setup in setups)
    for engine in engines:
        for more in engine.build():
            made += more
            fraction = min(made / total, 1.0)
            yield Next(fraction, more.about) if isinstance(more, Next) else fraction


def _report_missing(chosen: Solver | Program, found: Layout, setups: Sequence[Setup], notices: Notices) -> None:
    """Name what the model needs and the engine is not able to do, each with the first prim that needs it."""
    dynamic = [body for body in found.bodies.values() if not body.is_kinematic]
    joints = [joint for setup in setups for joint in setup.joints]
    asked: dict[Ability, Iterable[Prim]] = {
        Ability.MOTION: (body.prim for body in dynamic),
        Ability.CONTACTS: (prim for body in dynamic for prim in body.colliders),
        Ability.JOINTS: (joint.prim for joint in joints),
        Ability.LOADS: (joint.prim for joint in joints if joint.breaks),
    }
    for ability, prims in asked.items():
        if ability not in chosen.abilities and (prim := next(iter(prims), None)) is not None:
            notices.add("EngineLimits", prim, f"{chosen.name} does not {ability}, which {prim.display} needs.")


def _filters(found: Layout, joints: list[JointFacts], articulations: list[Tree], notices: Notices) -> Filters:
    if not joints and found.names.isdisjoint(FILTERING):
        return Filters()
    result = filters_of(found, articulations, notices)
    reduced = {link.joint.path for tree in articulations for link in tree.links}
    parting = [joint for joint in joints if joint.enabled and not joint.collides]
    stills = {still for joint in parting for still in (joint.static0, joint.static1) if still}
    inside = paths.inside_each(found.statics, stills) if stills else {}
    for joint in parting:
        for body, static in ((joint.body1, joint.static0), (joint.body0, joint.static1)):
            for path in inside.get(static, ()):
                # A joint to the static collider itself already disables their contacts.
                if path != static or joint.path in reduced:
                    result.pairs.add((min(body, path), max(body, path)))
    scenes = {path: body.scene for path, body in found.bodies.items()} | found.statics
    for first, second in result.pairs:
        if scenes[first] != scenes[second]:
            prim = found.model.prims[first]
            notices.add("SceneMixed", prim, f"{prim.display} and {second} are filtered, but in different scenes.")
    return result
