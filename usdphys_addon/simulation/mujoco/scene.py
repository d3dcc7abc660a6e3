# SPDX-License-Identifier: GPL-3.0-or-later
"""A physics scene that runs in MuJoCo."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...core import frames
from ...core.frames import Matrix
from ...core.model import Prim
from ...core.schema import Vector
from ..engine import Grab, JointPose, NotLiveError, Setup, Step, WithPreviewShapes
from ..impulse_sums import ImpulseSums
from ..joint_facts import Drive, JointFacts
from ..vendor_settings import surface_of
from ..weights import Weight
from . import forces, loads, start
from .contacts import Contacts
from .drives import Drives
from .specification import HEAVY, Specification, collision_bits, finite, moments_of

Floats = NDArray[np.float64]
#: Speed of a degree of freedom, m/s or rad/s, from which on a scene has run away: its numbers are lost in a few steps.
RUNAWAY = 1e5
#: After these MuJoCo would reset the world, which is switched off.
WARNINGS = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)
#: Of a model, what live edits change.
_EDITED = (
    "body_mass", "body_inertia", "body_pos", "body_quat", "body_gravcomp", "body_ipos", "body_iquat", "geom_contype",
    "geom_conaffinity", "jnt_range", "tendon_range", "tendon_limited", "tendon_stiffness", "tendon_damping", "site_pos",
)  # fmt: skip


class MujocoScene(WithPreviewShapes):
    """One physics scene. Bodies that others lead are heavy and pushed: what lies or hangs on them rides along."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.notices = setup, setup.notices
        self._told = told = Specification(setup)
        self.gravity, self.rows, self.surfaces = told.gravity, told.rows, told.surfaces
        self.grabs: dict[int, Grab] = {}
        self.broken: list[str] = []
        self._has_run_away = False
        #: Bodies that others move, and where they are to be at the end of the step.
        self.kinematic = set(told.kinematic)
        self.led: dict[str, tuple[Floats, Floats]] = {}
        #: Weights of bodies when nothing leads them.
        self._own = told.weights
        self.facts, self.closures, self.off = told.facts, told.closures, told.off
        self.settings, self.runs = told.settings, told.runs
        #: Coordinate of velocity, by joint and degree of freedom.
        self.dofs: dict[tuple[str, int], int] = {}
        self._impulses = ImpulseSums()

    @property
    def statics(self) -> Collection[str]:
        return [prim.path for prim in self.setup.statics]

    @property
    def joints(self) -> Collection[str]:
        return self.facts

    # ----------------------------------------------------------------------- building

    def build(self) -> Iterator[float]:
        mujoco.set_mju_user_warning(lambda _text: None)
        yield from self._told.build()
        self._compile()
        yield 0.0
        self._start()

    def _compile(self) -> None:
        told = self._told
        self.links, self.h, self.substeps = told.links, told.h, told.substeps
        #: Weights of the bodies that physics moves now.
        self.weights: dict[str, Weight] = dict(told.weights)
        model = self.model = told.compiled()
        self._measure_turns()
        # MuJoCo numbers shapes along its trees, whatever the order in which they were added.
        self.surfaces.finish(np.array([model.geom(f"g{row}").id for row in range(len(self.surfaces))], np.int64))
        self.data = mujoco.MjData(model)
        self._spare = mujoco.MjData(model)
        self.ids = np.array([model.body(told.name_of(path)).id for path in self.rows], int)
        self._drives = Drives(self, told)
        for path, axis in told.drives:
            if axis < 6:
                self.dofs[path, axis] = int(model.joint(f"{path} {axis}").dofadr[0])
        for path, closure in self.closures.items():
            closure.find(model)
            if path in self.off:
                closure.switch(model, self.data, False)

    def _measure_turns(self) -> None:
        """Give loose bodies without a shape a length, by which it is told how fast they turn: MuJoCo has none for them,
        and lets them sleep."""
        model = self.model
        for path, weight in self._own.items():
            address = int(model.body_dofadr[model.body(self._told.name_of(path)).id])
            if address >= 0 and model.jnt_type[model.dof_jntid[address]] == mujoco.mjtJoint.mjJNT_FREE:
                length = math.sqrt(max(weight.moments) / weight.mass) if weight.mass > 0.0 else 0.0
                turns = slice(address + 3, address + 6)
                model.dof_length[turns] = np.maximum(model.dof_length[turns], length)

    def _start(self) -> None:
        poses = [body.pose for body in self.setup.bodies.values()]
        model, data = self.model, self.data
        start.scale_tolerance(self)
        self._forces = forces.Forces(self)
        self._contacts = Contacts(self, is_plain=self._told.is_plain)
        self.load_meter = loads.Loads(self)
        #: By number of the joint, those whose limits give speed back.
        self._bouncing = {
            int(model.dof_jntid[dof]): freedom.settings
            for (path, axis), dof in self.dofs.items() if (freedom := self.facts[path].freedoms[axis]).has_bounce
        }  # fmt: skip
        start.place(self, poses)
        for name, first, second, ratio in self._told.couplings:
            angles = [float(data.qpos[model.joint(each).qposadr[0]]) for each in (first, second)]
            model.eq_data[model.equality(name).id, 0] = angles[0] - ratio * angles[1]
        start.report_apart(self, poses)
        start.keep_centers(self, poses)
        if not self._told.is_plain:
            start.part_rows(self, poses)
        start.throw(self)
        mujoco.mj_forward(model, data)
        apart = [np.abs(data.xpos[each] - pose[:3, 3]).max() for each, pose in zip(self.ids, poses, strict=True)]
        turned = [
            np.abs(data.xmat[each].reshape(3, 3) - pose[:3, :3]).max()
            for each, pose in zip(self.ids, poses, strict=True)
        ]  # fmt: skip
        self.is_moved_at_start = max([*apart, *turned], default=0.0) > 1e-6

    # ----------------------------------------------------------------------- what its parts read

    def inertia_of(self, dof: int) -> float:
        """What a coordinate has to move, kg or kg m2."""
        unit, found = np.zeros((1, self.model.nv)), np.zeros((1, self.model.nv))
        unit[0, dof] = 1.0
        mujoco.mj_solveM(self.model, self.data, found, unit)
        return 1.0 / float(found[0, dof])

    def pose_at_step(self, path: str, frame: Matrix) -> Matrix:
        """A frame (4, 4) of a body in the world, where the last step began."""
        return self._pose(path) @ frame

    # ----------------------------------------------------------------------- running

    def step(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> Step:
        model, data = self.model, self.data
        if self._has_run_away:
            return Step(np.zeros(len(self.ids), bool))
        if tuple(model.opt.gravity) != self.gravity:
            model.opt.gravity[:] = self.gravity
            self._wake()
        begin = data.qpos.copy()
        before = self._warnings()
        self._drives.set_gains()
        wanted = self._forces.wanted()
        elliptic = [each for path, each in self.closures.items() if each.is_elliptic and path not in self.off]
        self.load_meter.begin()
        self._impulses.begin()
        for number in range(self.substeps):
            self._drives.aim((number + 1) / self.substeps)
            for closure in elliptic:
                first, second = self.joint_frames(closure.facts.path)
                closure.aim(model, data, first, second[:3, 0])
            self._forces.lead(wanted)
            mujoco.mj_step1(model, data)
            self._forces.push()
            if data.ncon:
                self._contacts.grip()
            if data.nefc and self._bouncing:
                self._bounce()
            if not self._told.is_plain:
                self._forces.turn()
            mujoco.mj_step2(model, data)
            self._contacts.settle()
            if not np.abs(data.qvel).max(initial=0.0) < RUNAWAY:
                return self._stop(begin, positions, rotations)
            self._forces.hold()
            self.load_meter.measure()
            if self._impulses.is_on:
                self._impulses.add(self._path_of, self._touching_bodies())
        self._forces.arrive(wanted)
        self.led.clear()
        self._drives.arrive()
        for path in self.load_meter.end():
            self.broken.append(path)
            self._switch(path, False)
        self.read_poses(positions, rotations)
        lost = []
        if self._warnings() != before:
            dofs = [data.warning[kind].lastinfo for kind in WARNINGS if data.warning[kind].number]
            wrong = {int(model.dof_bodyid[min(dof, model.nv - 1)]) for dof in dofs}
            lost = [path for path, row in self.rows.items() if int(self.ids[row]) in wrong]
        return Step(data.body_awake[self.ids] != int(mujoco.mjtSleepState.mjS_ASLEEP), lost)

    def _stop(self, begin: Any, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> Step:
        """End the simulation of the scene where the step began: each further one would take minutes, and stay wrong."""
        model, data = self.model, self.data
        wild = {int(model.dof_treeid[dof]) for dof in np.flatnonzero(~(np.abs(data.qvel) < RUNAWAY))}
        trees = model.body_treeid[self.ids]
        self._has_run_away = True
        scene = self.setup.layout.model.prims.get(self.setup.scene)
        self.notices.add(
            "Unstable", scene, f"{scene.display if scene else 'The scene'} stands still from here on, until a reset: "
            f"something in it got faster than {RUNAWAY:g} m/s or rad/s.",
        )  # fmt: skip
        data.qpos[:], data.qvel[:] = begin, 0.0
        mujoco.mj_forward(model, data)
        self.read_poses(positions, rotations)
        return Step(np.zeros(len(self.ids), bool), [path for path, row in self.rows.items() if trees[row] in wild])

    def _warnings(self) -> list[int]:
        return [self.data.warning[kind].number for kind in WARNINGS]

    def _wake(self) -> None:
        """Let all bodies that sleep wake in the next step, which a force does."""
        self.data.xfrc_applied[self.ids, 2] += 1e-20

    def _bounce(self) -> None:
        """Limits that give speed back."""
        data = self.data
        rows = np.flatnonzero(data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT))
        for row in rows:
            settings = self._bouncing.get(int(data.efc_id[row]))
            speed = float(data.efc_vel[row])
            if settings is not None and speed < -settings.threshold and data.efc_pos[row] + speed * self.h < 0.0:
                data.efc_aref[row] = -(1.0 + settings.bounce) * speed / self.h

    def read_poses(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> None:
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        positions[:], rotations[:] = self.data.xpos[self.ids], self.data.xquat[self.ids]

    def velocities(self) -> NDArray[np.float64]:
        mujoco.mj_comVel(self.model, self.data)
        return np.concatenate(forces.velocities(self.model, self.data, self.ids), axis=1)

    def save(self) -> Any:
        edited = {name: getattr(self.model, name).copy() for name in _EDITED}
        return (
            copy.copy(self.data), edited, self._drives.saved(), self.gravity,
            dict(self.led), set(self.kinematic), dict(self.weights), set(self.off), list(self.broken),
            self.surfaces.values.copy(), dict(self.runs), self._ranges(), self._has_run_away,
            self._contacts.struck.copy(),
        )  # fmt: skip

    def _ranges(self) -> dict[str, Any]:
        """What live edits change of the facts of joints."""
        return {
            path: (facts.break_force, facts.break_torque, facts.distance, facts.cone,
                   [(freedom.low, freedom.high) for freedom in facts.freedoms])
            for path, facts in self.facts.items()
        }  # fmt: skip

    def load(self, saved: Any) -> None:
        (data, edited, drives, self.gravity, led, kinematic, weights, off, broken, values, runs, ranges,
         self._has_run_away, self._contacts.struck[:]) = saved  # fmt: skip
        changes = any(not np.array_equal(getattr(self.model, name), value) for name, value in edited.items())
        for name, value in edited.items():
            getattr(self.model, name)[:] = value
        if changes:
            mujoco.mj_setConst(self.model, self._spare)
        mujoco.mj_copyData(self.data, self.model, data)
        self.model.opt.gravity[:] = self.gravity
        self._drives.load(drives)
        self.led = dict(led)
        self.kinematic, self.weights = set(kinematic), dict(weights)
        self.off, self.broken = set(off), list(broken)
        self.surfaces.values[:], self.runs = values, dict(runs)
        for path, (force, torque, distance, cone, limits) in ranges.items():
            facts = self.facts[path]
            facts.break_force, facts.break_torque, facts.distance, facts.cone = force, torque, distance, cone
            for freedom, (low, high) in zip(facts.freedoms, limits, strict=True):
                freedom.low, freedom.high = low, high
        self.grabs.clear()
        self.load_meter.found.clear()

    # ----------------------------------------------------------------------- what others move

    def set_kinematic_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        self.led[path] = np.asarray(position, float), np.asarray(rotation, float)

    def set_static_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        number = next(each for each, prim in enumerate(self.setup.statics) if prim.path == path)
        body = self.model.body(f"s{number}").id
        if np.array_equal(self.model.body_pos[body], position) and np.array_equal(self.model.body_quat[body], rotation):
            return
        self.model.body_pos[body], self.model.body_quat[body] = position, rotation
        # While bodies may sleep, MuJoCo places what is static only once.
        flags, sleep = self.model.opt.enableflags, int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        self.model.opt.enableflags = flags & ~sleep
        mujoco.mj_kinematics(self.model, self.data)
        self.model.opt.enableflags = flags
        self._wake()

    # ----------------------------------------------------------------------- contacts, joints

    def _touching(self) -> Any:
        """The state with the contacts of now, also of bodies that sleep, of which MuJoCo computes none."""
        if bool((self.data.body_awake[self.ids] != int(mujoco.mjtSleepState.mjS_ASLEEP)).all()):
            return self.data
        flags = self.model.opt.enableflags
        self.model.opt.enableflags = flags & ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        self._spare.qpos[:], self._spare.qvel[:] = self.data.qpos, 0.0
        self._spare.ctrl[:], self._spare.xfrc_applied[:] = self.data.ctrl, self.data.xfrc_applied
        self._spare.qfrc_applied[:] = self.data.qfrc_applied
        mujoco.mj_forward(self.model, self._spare)
        self.model.opt.enableflags = flags
        return self._spare

    def contact_count(self) -> int:
        return len({tuple(sorted(pair)) for pair in self._touching().contact.geom.tolist()})

    def contact_counts(self) -> dict[str, int]:
        bodies = self.model.geom_bodyid[self._touching().contact.geom].ravel().tolist()
        names = {int(number): path for path, number in zip(self.rows, self.ids, strict=True)}
        counts: dict[str, int] = {}
        for path in (names.get(body, "") for body in bodies):
            if path in self.weights and path not in self.kinematic:
                counts[path] = counts.get(path, 0) + 1
        return counts

    def contact_points(self, most: int) -> list[tuple[float, ...]]:
        data, wrench = self._touching(), np.zeros(6)
        moved = {int(self.ids[self.rows[path]]) for path in self.weights if path not in self.kinematic}
        points = []
        for number, contact in enumerate(data.contact[:most]):
            mujoco.mj_contactForce(self.model, data, number, wrench)
            sign = 1.0 if int(self.model.geom_bodyid[contact.geom[1]]) in moved else -1.0
            points.append((*contact.pos.tolist(), *(sign * contact.frame[:3]).tolist(), float(wrench[0])))
        return points

    def contact_impulses(self) -> Mapping[tuple[str, str], float]:
        return self._impulses.measured()

    @cached_property
    def _path_of(self) -> dict[int, str]:
        """Paths of bodies and static colliders by the number of their body in MuJoCo."""
        statics = {self.model.body(f"s{number}").id: prim.path for number, prim in enumerate(self.setup.statics)}
        return {int(number): path for path, number in zip(self.rows, self.ids, strict=True)} | statics

    def _touching_bodies(self) -> Iterator[tuple[int, int, Callable[[], float]]]:
        """Bodies that touch after a step of the solver, as `ImpulseSums.add` takes them."""
        wrench = np.zeros(6)

        def impulse(number: int) -> float:
            mujoco.mj_contactForce(self.model, self.data, number, wrench)
            return float(wrench[0]) * self.h

        for number, (first, second) in enumerate(self.model.geom_bodyid[self.data.contact.geom].tolist()):
            yield first, second, partial(impulse, number)

    def _pose(self, path: str) -> Matrix:
        if not path:
            return np.eye(4)
        number = self.ids[self.rows[path]]
        return frames.transform(self.data.xpos[number], self.data.xmat[number].reshape(3, 3))

    def joint_frames(self, path: str) -> tuple[Matrix, Matrix]:
        facts = self.facts[path]
        return self._pose(facts.body0) @ facts.frame0, self._pose(facts.body1) @ facts.frame1

    def is_holding(self, path: str) -> bool:
        return path in self.facts and path not in self.off

    def is_reduced(self, path: str) -> bool:
        return any(link.facts.path == path for link in self.links)

    def pose_joint(self, pose: JointPose) -> None:
        poses = [self._pose(path) for path in self.rows]
        speeds = self.data.qvel.copy()
        for path in pose.bodies:
            poses[self.rows[path]] = pose.by @ poses[self.rows[path]]
            number = self.ids[self.rows[path]]
            first, count = self.model.body_dofadr[number], self.model.body_dofnum[number]
            speeds[first : first + count] = 0.0
        start.place(self, poses)
        self.data.qvel[:] = speeds
        self._wake()
        mujoco.mj_forward(self.model, self.data)
        self._contacts.struck[:] = True

    def drive(self, path: str, dof: str) -> Drive:
        facts = self.facts[path]
        if dof not in facts.moving:
            raise KeyError(dof)
        return self._drives.of((path, facts.names[dof]))

    def set_drive(self, path: str, dof: str, drive: Drive) -> None:
        self._drives.put((path, self.facts[path].names[dof]), drive)
        self._wake()

    def lead_drive(self, path: str, dof: str, start: float) -> None:
        self._drives.lead((path, self.facts[path].names[dof]), start)

    def joint_load(self, path: str) -> tuple[float, float]:
        force, torque = self.load_meter.told(path)
        return float(np.linalg.norm(force)), float(np.linalg.norm(torque))

    def joint_wrench(self, path: str) -> tuple[Vector, Vector]:
        # Along the axes of the authored frame.
        turn, first = self.joint_frames(path)[1][:3, :3].T, self.facts[path].first
        force, torque = (frames.vector(np.roll(turn @ part, first)) for part in self.load_meter.told(path))
        return force, torque

    # ----------------------------------------------------------------------- hands and live edits

    def grab(self, number: int, path: str, point: Matrix) -> None:
        pose = self._pose(path)
        local = frames.vector(pose[:3, :3].T @ (np.asarray(point, float) - pose[:3, 3]))
        self.grabs[number] = Grab(path, local, frames.vector(point))
        self._wake()

    def release(self, number: int) -> None:
        del self.grabs[number]
        self.data.xfrc_applied[:] = 0.0

    def set_surface(self, material: str, friction: float, restitution: float | None, static: float | None) -> None:
        self.surfaces.change(material, friction, restitution, static)
        self._wake()

    def set_mass(self, path: str, mass: float) -> None:
        weight = self._own[path] = self._own[path].scaled_to(mass)
        if path not in self.kinematic:
            self.weights[path] = weight
            self._weigh(path)
            self._wake()

    def _weigh(self, path: str) -> None:
        """Give a body its own mass, or that of one that others lead."""
        model, body = self.model, int(self.ids[self.rows[path]])
        if path in self.kinematic:
            model.body_mass[body], model.body_inertia[body], model.body_gravcomp[body] = HEAVY, HEAVY, 1.0
            model.body_ipos[body], model.body_iquat[body] = 0.0, (1.0, 0.0, 0.0, 0.0)
        else:
            weight = self._own[path]
            model.body_mass[body], model.body_inertia[body] = weight.mass, moments_of(weight)[0]
            model.body_ipos[body], model.body_iquat[body] = weight.center, weight.axes
            model.body_gravcomp[body] = 1.0 - self.settings[path].gravity
        mujoco.mj_setConst(model, self._spare)

    def set_joint_enabled(self, path: str, enabled: bool) -> None:
        if path in self.broken or enabled == (path not in self.off):
            return
        closure = self.closures.get(path)
        if self.is_reduced(path) or closure is None or not (closure.eq_ids or closure.tendon_ids):
            self._refuse(path)
            return
        self._switch(path, enabled)

    def _refuse(self, path: str) -> None:
        """An edit that needs a world built anew, which an animated value does not get. Raises NotLiveError."""
        if path not in self._told.changing:
            raise NotLiveError(path)
        self._told.lacks(self.facts[path].prim, "the animated switch or new limits")

    def _switch(self, path: str, on: bool) -> None:
        (self.off.discard if on else self.off.add)(path)
        self.closures[path].switch(self.model, self.data, on)
        self._wake()

    def set_joint_ranges(self, path: str, facts: JointFacts) -> None:
        own = self.facts[path]
        own.break_force, own.break_torque = facts.break_force, facts.break_torque
        for axis, freedom in enumerate(facts.freedoms):
            dof = self.dofs.get((path, axis))
            now = own.freedoms[axis]
            if (now.low, now.high) == (freedom.low, freedom.high):
                continue
            if dof is None or freedom.is_locked or freedom.is_limited != now.is_limited:
                self._refuse(path)
                continue
            joint = int(self.model.dof_jntid[dof])
            self.model.jnt_range[joint] = (finite(freedom.low), max(finite(freedom.high), freedom.low + 1e-7))
            now.low, now.high = freedom.low, freedom.high
        if path in self.closures:
            self.closures[path].set_ranges(self.model, facts)
        self._wake()

    def set_led(self, path: str, velocity: tuple[Vector, Vector] | None) -> None:
        if (velocity is None) == (path in self.kinematic):
            return
        model, data = self.model, self.data
        body = int(self.ids[self.rows[path]])
        first = int(model.body_dofadr[body])
        if velocity is None:
            self.kinematic.add(path)
            self.weights.pop(path, None)
            data.qvel[first : first + 6] = 0.0
        else:
            self.kinematic.discard(path)
            self.led.pop(path, None)
            self.weights[path] = self._own[path]
            turn = data.xmat[body].reshape(3, 3)
            data.qvel[first : first + 6] = np.concatenate([velocity[0], turn.T @ np.array(velocity[1])])
        data.qfrc_applied[first : first + 6] = 0.0
        self._weigh(path)
        for prim in self.setup.bodies[path].colliders:
            for name in self._told.geoms.get(prim.path, ()):
                self._set_bits(name, prim.path, velocity is not None)
        mujoco.mj_forward(model, data)
        self._wake()

    def _set_bits(self, name: str, path: str, pushes: bool) -> None:
        geom = self.model.geom(name).id
        self.model.geom_contype[geom], self.model.geom_conaffinity[geom] = collision_bits(
            self._told.masks[path], pushes
        )

    def set_collider_enabled(self, path: str, enabled: bool) -> None:
        for name in self._told.geoms.get(path, ()):
            geom = self.model.geom(name).id
            owner = next((own for own, row in self.rows.items() if self.ids[row] == self.model.geom_bodyid[geom]), "")
            if enabled:
                self._set_bits(name, path, bool(owner) and owner not in self.kinematic)
            else:
                self.model.geom_contype[geom] = self.model.geom_conaffinity[geom] = 0
        self._wake()

    def set_surface_velocity(self, path: str, prim: Prim) -> None:
        surface = surface_of(prim)
        self.runs.pop(path, None)
        if surface is not None:
            self.runs[path] = surface
        self._wake()
