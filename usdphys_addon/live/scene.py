# SPDX-License-Identifier: GPL-3.0-or-later
"""A physics scene in an engine in a process of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import deformables, frames, mass
from ..core.air import OFF
from ..core.errors import EngineError, InputError
from ..core.frames import Matrix
from ..core.model import Prim
from ..core.qualities import NORMAL
from ..core.schema import Vector
from ..core.schemas import usd_physics
from ..core.steps import Next
from ..core.words import phrase
from ..simulation.engine import (
    GRAB_DAMPING_RATIO,
    GRAB_FREQUENCY,
    GRAB_SPIN_DAMPING,
    GRAB_STRONGEST,
    Grab,
    JointPose,
    NotLiveError,
    Program,
    Setup,
    Step,
    WithPreviewShapes,
)
from ..simulation.joint_facts import Drive, JointFacts
from ..simulation.joint_poses import position_of, relative_pose
from ..simulation.layout import EARTH_GRAVITY
from ..simulation.weights import Geometries, Weight, alone
from ..usd import restated
from .child import Child, child_for
from .matter import matter_of

Floats = NDArray[np.float64]
NO_DRIVE = Drive()
#: m or rad, from which on a joint counts as not at zero.
OFF_ZERO = 1e-4


class Weights(Mapping[str, Weight]):
    """Of the dynamic bodies of a setup; each is computed when it is asked for."""

    def __init__(self, setup: Setup) -> None:
        self._setup, self._geometries = setup, Geometries()
        self._known: dict[str, Weight | None] = {
            path: None for path, body in setup.bodies.items() if not body.is_kinematic
        }

    def __getitem__(self, path: str) -> Weight:
        weight = self._known[path]
        if weight is None:
            part = alone(self._setup.bodies[path], self._setup.layout.model, self._geometries)
            weight = self._known[path] = Weight.of(mass.mass_properties(part, path))
        return weight

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class LiveScene(WithPreviewShapes):
    """One physics scene. Its process gets the model as a file, and all that others move with each step.

    An engine of another process cannot be put back to a moment: it begins anew, and gets the same steps again.
    """

    def __init__(self, row: Program, setup: Setup) -> None:
        self.row, self.setup, self.notices = row, setup, setup.notices
        self.weights = Weights(setup)
        self.grabs: dict[int, Grab] = {}
        self._facts = {facts.path: facts for facts in setup.joints}
        self._rows = {path: row for row, path in enumerate(setup.bodies)}
        bodies = list(setup.bodies.values())
        self._kinematic = np.array([body.is_kinematic for body in bodies], bool)
        #: Of all bodies, as `pipe` has them; of those that the engine does not have, those of the start.
        self._states: Floats = np.zeros((len(bodies), 13))
        for row_number, body in enumerate(bodies):
            self._states[row_number, :3] = body.position
            self._states[row_number, 3:7] = frames.quaternion_of(body.rotation)
            api = body.prim.get(usd_physics.RigidBodyAPI)
            assert api is not None
            speed = body.velocity_scale * np.asarray(api.resolved("velocity"), float)
            self._states[row_number, 7:10] = body.rotation @ speed
            self._states[row_number, 10:] = body.rotation @ np.asarray(api.resolved("angular_velocity"), float)
        self._drives = {
            (path, dof): replace(freedom.drive) if freedom.drive else replace(NO_DRIVE)
            for path, facts in self._facts.items() for dof, freedom in facts.moving.items()
        }  # fmt: skip
        x, y, z = setup.gravity.tolist()
        self._gravity: Vector = (x, y, z)
        self._takes: frozenset[str] = frozenset()
        self._driven: frozenset[str] = frozenset()
        self._edits: dict[str, Any] = {}
        self._led: dict[int, Floats] = {}
        #: What each step since the start was told.
        self._log: list[tuple[dict[str, Any], dict[str, Any]]] = []
        #: Rows of the engine's bodies, and which of them each is here.
        self._known = np.zeros(0, int)
        self.child: Child | None = None
        #: Milliseconds in the engine, of its delay.
        self.spent = 0.0

    # ----------------------------------------------------------------------- building

    def build(self) -> Iterator[float]:
        self._report()
        source = Path(self.setup.layout.model.source)
        child = self.child = child_for(self.row, f"'{source.name}'" if source.is_file() else "the scene")
        try:
            yield Next(0.0, phrase("{engine} is starting", engine=self.row.name))
            arrays = {"states": self._states, "kinematic": np.flatnonzero(self._kinematic)}
            told: dict[str, Any] = {}
            if self.row.is_for_node:
                made = matter_of(self.setup, self.weights)
                for prim, what in made.missing:
                    self._lacks(prim, f"{self.row.name} is not told {what} of {prim.display}.")
                told["scene"], arrays = made.scene, {**arrays, **made.arrays}
            else:
                told["file"] = str(child.new_file())
                restated.write_alone(self.setup.layout.model, Path(told["file"]))
            answer = child.begin(
                "build", arrays, seconds=self.setup.time_step, substeps=self.setup.substeps, bodies=list(self._rows),
                gravity=list(self._gravity), **told,
            )  # fmt: skip
            while (found := answer()) is None:
                yield 0.0
            self._begin(*found)
        except BaseException:
            child.close()
            raise

    def _begin(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        assert self.child is not None
        paths = [str(path) for path in header.get("bodies", ())]
        states = self.child.states(arrays, len(paths))
        self._takes, self._driven = frozenset(header.get("takes", ())), frozenset(header.get("joints", ()))
        numbers = [number for number, path in enumerate(paths) if path in self._rows]
        self._count, self._theirs = len(paths), np.array(numbers, int)
        self._known = np.array([self._rows[paths[number]] for number in numbers], int)
        self._number_of = {int(own): number for own, number in zip(self._known, numbers, strict=True)}
        for path, row in self._rows.items():
            if row not in self._number_of and not self._kinematic[row]:
                prim = self.setup.bodies[path].prim
                self._lacks(prim, f"{self.row.name} does not have the body {prim.display}: it stays where it is.")
        for path in map(str, header.get("at_zero", ())):
            facts = self._facts.get(path)
            if facts is not None and self._is_off_zero(facts):
                self._lacks(
                    facts.prim,
                    f"{self.row.name} begins with {facts.prim.display} at zero, because it is in no articulation.",
                )
        self._take(states)
        self.is_moved_at_start = True

    def _is_off_zero(self, facts: JointFacts) -> bool:
        relative = relative_pose(*self.joint_frames(facts.path))
        return any(abs(position_of(facts, relative, facts.names[dof])) > OFF_ZERO for dof in facts.moving)

    def _report(self) -> None:
        """Name what the engine is not told, or does not tell."""
        name, model = self.row.name, self.setup.layout.model
        breaking = next((facts.prim for facts in self.setup.joints if facts.breaks or facts.bond), None)
        if breaking is not None:
            self._lacks(breaking, f"{name} does not say whether {breaking.display} breaks: it is shown as whole.")
        soft = next(filter(deformables.kind_of, model.prims.values()), None)
        if soft is not None:
            self._lacks(soft, f"{name} does not play {soft.display}, which deforms: bake it.")
        if self.setup.quality != NORMAL:
            self._lacks(None, f"{name} does not know the quality: set the substeps.")
        if model.air != OFF:
            self._lacks(None, f"{name} is not told the air: only the damping of bodies slows them.")

    def _lacks(self, prim: Prim | None, message: str) -> None:
        self.notices.add("EngineLimits", prim, message)

    # ----------------------------------------------------------------------- running

    def close(self) -> None:
        child, self.child = self.child, None
        if child is not None:
            child.let_wait()

    @property
    def _engine(self) -> Child:
        if self.child is None:
            raise EngineError(f"{self.row.name} does not run any more; reset the preview.")
        return self.child

    def _ask(self, do: str, header: dict[str, Any], arrays: dict[str, Any]) -> Floats:
        _, found = self._engine.ask(do, arrays, **header)
        return self._engine.states(found, self._count)

    def _take(self, states: Floats) -> NDArray[np.bool_]:
        """Take the states of an answer. Returns which bodies (n,) have moved."""
        own = states[self._theirs]
        moved = np.zeros(len(self._rows), bool)
        moved[self._known] = (own[:, :7] != self._states[self._known, :7]).any(axis=1)
        self._states[self._known] = own
        return moved

    def step(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> Step:
        arrays: dict[str, Any] = {}
        if self._led:
            arrays["led"] = np.array([self._number_of[row] for row in self._led], np.int32)
            arrays["poses"] = np.array(list(self._led.values()))
        if self.grabs:
            arrays["pushed"], arrays["wrenches"] = self._pulls()
        header, self._edits = self._edits, {}
        self._led = {}
        self._log.append((header, arrays))
        moved = self._take(self._ask("step", header, arrays))
        self.delay, self.spent = self._engine.delay, self._engine.spent
        self.read_poses(positions, rotations)
        lost = set(np.flatnonzero(~np.isfinite(self._states).all(axis=1)).tolist())
        return Step(moved, [path for path, row in self._rows.items() if row in lost])

    def read_poses(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> None:
        positions[:], rotations[:] = self._states[:, :3], self._states[:, 3:7]

    def velocities(self) -> NDArray[np.float64]:
        return self._states[:, 7:].copy()

    def save(self) -> Any:
        return len(self._log), dict(self._edits), {key: replace(drive) for key, drive in self._drives.items()}, (
            self._gravity, dict(self._led)
        )  # fmt: skip

    def load(self, saved: Any) -> None:
        count, edits, drives, (self._gravity, led) = saved
        self._drives = {key: replace(drive) for key, drive in drives.items()}
        self.grabs.clear()
        states = self._ask("reset", {}, {})
        del self._log[count:]
        for header, arrays in self._log:
            states = self._ask("step", header, arrays)
        self._take(states)
        self._edits, self._led = dict(edits), dict(led)

    # ----------------------------------------------------------------------- what others move

    def set_kinematic_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        row = self._rows[path]
        if self._kinematic[row] and row in self._number_of:
            self._led[row] = np.concatenate([position, rotation])

    @property
    def statics(self) -> Collection[str]:
        return [prim.path for prim in self.setup.statics]

    def set_static_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        self._refuse(self.setup.layout.model.prims[path])

    def _refuse(self, prim: Prim) -> None:
        """Raise NotLiveError for an edit; what is animated stays as it is at the start, which is named."""
        if not any(key.path == prim.path for key in self.setup.layout.model.animated):
            raise NotLiveError(prim.path)
        self._lacks(prim, f"{self.row.name} is not told the new values of {prim.display} while it runs.")

    # ----------------------------------------------------------------------- joints

    @property
    def joints(self) -> Collection[str]:
        return self._facts

    def _pose(self, path: str) -> Matrix:
        if not path:
            return np.eye(4)
        state = self._states[self._rows[path]]
        return frames.transform(state[:3], frames.matrix_of(state[3:7]))

    def joint_frames(self, path: str) -> tuple[Matrix, Matrix]:
        facts = self._facts[path]
        return self._pose(facts.body0) @ facts.frame0, self._pose(facts.body1) @ facts.frame1

    def is_holding(self, path: str) -> bool:
        return path in self._facts and self._facts[path].enabled

    def is_reduced(self, path: str) -> bool:
        return any(link.joint.path == path for tree in self.setup.trees for link in tree.links)

    def pose_joint(self, pose: JointPose) -> None:
        raise InputError(f"{self.row.name} does not pose joints while it runs; use physics, or choose another engine.")

    def drive(self, path: str, dof: str) -> Drive:
        return replace(self._drives[path, dof])

    def set_drive(self, path: str, dof: str, drive: Drive) -> None:
        key = path, dof
        if key not in self._drives:
            raise KeyError(dof)
        is_other = drive.acceleration != self._drives[key].acceleration
        if is_other or "drives" not in self._takes or path not in self._driven:
            self._refuse(self._facts[path].prim)
            return
        self._drives[key] = replace(drive)
        limit = drive.max_force if np.isfinite(drive.max_force) else None
        row = [path, dof, drive.stiffness, drive.damping, drive.target_position, drive.target_velocity, limit]
        rows = [each for each in self._edits.get("drives", ()) if each[:2] != [path, dof]]
        self._edits["drives"] = [*rows, row]

    # ----------------------------------------------------------------------- hands

    def grab(self, number: int, path: str, point: Matrix) -> None:
        pose = self._pose(path)
        local = frames.vector(pose[:3, :3].T @ (np.asarray(point, float) - pose[:3, 3]))
        self.grabs[number] = Grab(path, local, frames.vector(point))

    def release(self, number: int) -> None:
        del self.grabs[number]

    def _pulls(self) -> tuple[Any, Any]:
        """The rows of held bodies, and the wrenches (k, 9) of their springs at the end of the step."""
        step, rows, wrenches = self.setup.time_step, [], []
        pull = 2.0 * np.pi * GRAB_FREQUENCY
        soft = 1.0 + 2.0 * GRAB_DAMPING_RATIO * pull * step + (pull * step) ** 2
        for held in self.grabs.values():
            row = self._rows[held.path]
            if row not in self._number_of:
                continue
            pose, weight = self._pose(held.path), self.weights[held.path]
            place = pose[:3, :3] @ held.point + pose[:3, 3]
            center = pose[:3, :3] @ weight.center + pose[:3, 3]
            velocity, spin = self._states[row, 7:10], self._states[row, 10:]
            speed = velocity + np.cross(spin, place - center)
            force = pull**2 * (np.asarray(held.target) - place) - 2.0 * GRAB_DAMPING_RATIO * pull * speed
            force *= weight.mass / soft
            size, most = float(np.linalg.norm(force)), GRAB_STRONGEST * EARTH_GRAVITY * weight.mass
            turn = pose[:3, :3] @ weight.inertia @ pose[:3, :3].T
            torque = -GRAB_SPIN_DAMPING / (1.0 + GRAB_SPIN_DAMPING * step) * turn @ spin
            rows.append(self._number_of[row])
            wrenches.append(np.concatenate([force * min(1.0, most / max(size, 1e-12)), torque, place]))
        return np.array(rows, np.int32), np.array(wrenches).reshape(-1, 9)

    # ----------------------------------------------------------------------- live edits

    @property
    def gravity(self) -> Vector:
        return self._gravity

    @gravity.setter
    def gravity(self, gravity: Vector) -> None:
        if gravity == self._gravity:
            return
        if "gravity" not in self._takes:
            scene = self.setup.layout.model.prims.get(self.setup.scene)
            if scene is None:
                raise NotLiveError(self.setup.scene)
            self._refuse(scene)
            return
        self._gravity = gravity
        self._edits["gravity"] = list(gravity)

    def set_surface(self, material: str, friction: float, restitution: float | None, static: float | None) -> None:
        prim = self.setup.layout.model.prims.get(material)
        if prim is None:
            raise NotLiveError(material)
        self._refuse(prim)

    def set_mass(self, path: str, mass: float) -> None:
        self._refuse(self.setup.bodies[path].prim)

    def set_joint_enabled(self, path: str, enabled: bool) -> None:
        self._refuse(self._facts[path].prim)

    def set_joint_ranges(self, path: str, facts: JointFacts) -> None:
        self._refuse(self._facts[path].prim)

    def set_led(self, path: str, velocity: tuple[Vector, Vector] | None) -> None:
        prim = self.setup.bodies[path].prim
        self._lacks(prim, f"{self.row.name} is not told when animation moves {prim.display}, which falls all the time.")

    def set_collider_enabled(self, path: str, enabled: bool) -> None:
        self._refuse(self.setup.layout.model.prims[path])

    def set_surface_velocity(self, path: str, prim: Prim) -> None:
        self._refuse(prim)
