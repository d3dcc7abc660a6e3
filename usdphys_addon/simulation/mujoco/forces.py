# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces that are written into each step: damping of bodies, grabs, soft limits, and what leads kinematic bodies."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..engine import GRAB_DAMPING_RATIO, GRAB_FREQUENCY, GRAB_SPIN_DAMPING, GRAB_STRONGEST
from ..hanging import hand_mass
from ..joint_facts import NO_LIMIT, Freedom
from ..layout import EARTH_GRAVITY
from ..speed_limits import braked
from .compiled import Compiled

Floats = NDArray[np.float64]
_STILL = 1e-12
#: rad in a step, from which on gyroscopic torques are those of its middle, and rounds in which these are found.
FAST_TURN, _ROUNDS = 0.1, 4


def velocities(model: Any, data: Any, ids: Any) -> tuple[Floats, Floats]:
    """Velocities (n, 3) of the centres of mass of bodies, and angular ones, as the last step began."""
    spins, moves = data.cvel[ids, :3], data.cvel[ids, 3:]
    arms = data.xipos[ids] - data.subtree_com[model.body_rootid[ids]]
    return moves + np.cross(spins, arms), spins


class Forces:
    """Of one scene, which is compiled."""

    def __init__(self, scene: Compiled) -> None:
        self.scene = scene
        model, rows = scene.model, scene.rows
        damped = [
            (scene.ids[rows[path]], settings.linear_damping, settings.angular_damping)
            for path, settings in scene.settings.items() if settings.linear_damping or settings.angular_damping
        ]  # fmt: skip
        self._damped = np.array([number for number, _, _ in damped], int)
        rates = np.array([rates for _, *rates in damped]).reshape(-1, 2)
        self._rates = rates / (1.0 + scene.h * rates)
        self._fast = [
            (int(model.body_dofadr[scene.ids[rows[path]]]), settings.max_speed, settings.max_spin)
            for path, settings in scene.settings.items()
            if min(settings.max_speed, settings.max_spin) < NO_LIMIT and model.body_dofnum[scene.ids[rows[path]]] == 6
        ]  # fmt: skip
        self._soft: list[tuple[int, int, Freedom]] = []
        limited: dict[int, float] = {}
        for path, facts in scene.facts.items():
            for axis, freedom in enumerate(facts.freedoms):
                dof = scene.dofs.get((path, axis))
                if dof is None:
                    continue
                if freedom.has_soft_limit:
                    self._soft.append((dof, int(model.jnt_qposadr[model.dof_jntid[dof]]), freedom))
                if freedom.settings.max_speed < NO_LIMIT:
                    limited[dof] = freedom.settings.max_speed
        self._limited_dofs, self._most = np.array(list(limited), int), np.array(list(limited.values()), float)
        led = [int(scene.ids[rows[path]]) for path in scene.kinematic]
        kinds = model.jnt_type[model.dof_jntid]
        is_angle = (kinds == int(mujoco.mjtJoint.mjJNT_BALL)) | (
            (kinds == int(mujoco.mjtJoint.mjJNT_FREE)) & (np.arange(model.nv) - model.jnt_dofadr[model.dof_jntid] >= 3)
        )
        self._turning = np.flatnonzero(is_angle & ~np.isin(model.dof_bodyid, led))
        self._pulled: dict[int, Floats] = {}
        self.has_any = bool(len(self._damped) or self._soft)

    def push(self) -> None:
        """Before the second half of a step, in which velocities and positions of its start are known."""
        scene = self.scene
        model, data = scene.model, scene.data
        if not self.has_any and not scene.grabs:
            self._pulled.clear()
            return
        data.xfrc_applied[:] = 0.0
        if len(self._damped):
            moves, spins = velocities(model, data, self._damped)
            turn = data.ximat[self._damped].reshape(-1, 3, 3)
            local = np.einsum("nji,nj->ni", turn, spins) * model.body_inertia[self._damped]
            data.xfrc_applied[self._damped, :3] = -moves * (self._rates[:, 0] * model.body_mass[self._damped])[:, None]
            data.xfrc_applied[self._damped, 3:] = -np.einsum("nij,nj->ni", turn, local) * self._rates[:, 1:]
        self._pulled = {number: self._pull(held, self._pulled.get(number)) for number, held in scene.grabs.items()}
        for dof, address, freedom in self._soft:
            self._press(dof, float(data.qpos[address]), freedom)

    def turn(self) -> None:
        """Gyroscopic torques of the middle of a step for what turns fast: those of its start add energy to it.

        A ball joint or free body that turns by more than FAST_TURN in a step. The bias of the step is replaced, so this
        comes last before its second half.
        """
        model, data, h = self.scene.model, self.scene.data, self.scene.h
        if not len(self._turning) or not np.abs(data.qvel[self._turning]).max(initial=0.0) * h > FAST_TURN:
            return
        start, bias = data.qvel.copy(), data.qfrc_bias.copy()
        other = data.qfrc_passive + data.qfrc_applied + data.qfrc_actuator
        gained = np.zeros((1, model.nv))
        for _ in range(_ROUNDS):
            mujoco.mj_solveM(model, data, gained, (other - bias)[None])
            data.qvel[:] = start + 0.5 * h * gained[0]
            mujoco.mj_comVel(model, data)
            mujoco.mj_rne(model, data, 0, bias)
        data.qvel[:] = start
        mujoco.mj_comVel(model, data)
        data.qfrc_bias[:] = bias

    def _pull(self, held: Any, before: Floats | None) -> Floats:
        """Add the force of a hand, which is returned. before: that of the step before, if there was one."""
        model, data = self.scene.model, self.scene.data
        body = int(self.scene.ids[self.scene.rows[held.path]])
        turn = data.xmat[body].reshape(3, 3)
        here = data.xpos[body] + turn @ np.array(held.point)
        moves, spins = (each[0] for each in velocities(model, data, np.array([body])))
        arm = here - data.xipos[body]
        masses = {path: weight.mass for path, weight in self.scene.weights.items() if path not in self.scene.kinematic}
        heavy = max(float(model.body_subtreemass[body]), hand_mass(held.path, self.scene.facts.values(), masses))
        rate, h = 2.0 * math.pi * GRAB_FREQUENCY, self.scene.h
        stiffness, damping = heavy * rate**2, heavy * 2.0 * GRAB_DAMPING_RATIO * rate
        # As the end of the step has it, where other forces stay: what is held may be lighter than the hand is strong.
        ways, gained = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, ways, None, here, body)
        mujoco.mj_solveM(model, data, gained, ways)
        softness, late = ways @ gained.T, h * damping + h**2 * stiffness
        others = np.zeros(3) if before is None else ways @ data.qacc - softness @ before
        force = stiffness * (np.array(held.target) - here) - late * others
        force -= (damping + h * stiffness) * (moves + np.cross(spins, arm))
        force = np.linalg.solve(np.eye(3) + late * softness, force)
        most = GRAB_STRONGEST * EARTH_GRAVITY * heavy
        force *= min(1.0, most / max(float(np.linalg.norm(force)), 1e-30))
        axes = data.ximat[body].reshape(3, 3)
        torque = -GRAB_SPIN_DAMPING * (axes @ (model.body_inertia[body] * (axes.T @ spins)))
        data.xfrc_applied[body, :3] += force
        data.xfrc_applied[body, 3:] += np.cross(arm, force) + torque
        return force

    def _press(self, dof: int, value: float, freedom: Freedom) -> None:
        """The spring of a limit, as the end of the step has it."""
        data, h = self.scene.data, self.scene.h
        beyond = max(value - freedom.high, 0.0) + min(value - freedom.low, 0.0)
        data.qfrc_applied[dof] = 0.0
        if not beyond:
            return
        matter = self.scene.inertia_of(dof)
        stiffness, speed = freedom.settings.stiffness, float(data.qvel[dof])
        rate = freedom.settings.damping + h * stiffness
        data.qfrc_applied[dof] = -(stiffness * beyond + rate * speed) / (1.0 + h * rate / matter)

    def hold(self) -> None:
        """After a step: no body and joint is faster than it may be."""
        data = self.scene.data
        for first, speed, spin in self._fast:
            for part, most in ((data.qvel[first : first + 3], speed), (data.qvel[first + 3 : first + 6], spin)):
                size = float(np.linalg.norm(part))
                if size > most:
                    part *= most / size
        dofs = self._limited_dofs
        if (np.abs(data.qvel[dofs]) > self._most).any():
            gained = np.zeros((len(dofs), self.scene.model.nv))
            mujoco.mj_solveM(self.scene.model, data, gained, np.eye(self.scene.model.nv)[dofs])
            data.qvel[:] += braked(data.qvel[dofs], gained[:, dofs], self._most) @ gained

    # ----------------------------------------------------------------------- what others lead

    def wanted(self) -> list[tuple[int, Floats, Floats, Floats | None]]:
        """Of each kinematic body that moves or has moved: (dof, velocity (6,), mass (6,), pose (7,) at the end)."""
        scene = self.scene
        model, data = scene.model, scene.data
        found = []
        for path in scene.kinematic:
            body = int(scene.ids[scene.rows[path]])
            first, address = int(model.body_dofadr[body]), int(model.jnt_qposadr[model.body_jntadr[body]])
            target, velocity = scene.led.get(path), np.zeros(6)
            pose = None
            if target is not None:
                pose = np.concatenate(target)
                velocity[:3] = (pose[:3] - data.qpos[address : address + 3]) / scene.setup.time_step
                mujoco.mju_subQuat(velocity[3:], pose[3:], data.qpos[address + 3 : address + 7])
                velocity[3:] /= scene.setup.time_step
            if np.abs(velocity).max() < _STILL and np.abs(data.qvel[first : first + 6]).max() < _STILL:
                data.qfrc_applied[first : first + 6] = 0.0
                continue
            heavy = np.array([model.body_mass[body]] * 3 + model.body_inertia[body].tolist())
            found.append((first, velocity, heavy, pose))
        return found

    def lead(self, wanted: list[tuple[int, Floats, Floats, Floats | None]]) -> None:
        """Before each step."""
        data = self.scene.data
        for first, velocity, heavy, _ in wanted:
            own = slice(first, first + 6)
            data.qfrc_applied[own] = heavy * (velocity - data.qvel[own]) / self.scene.h

    def arrive(self, wanted: list[tuple[int, Floats, Floats, Floats | None]]) -> None:
        """After the last: exactly where they are to be."""
        model, data = self.scene.model, self.scene.data
        for first, velocity, _, pose in wanted:
            address = int(model.jnt_qposadr[model.dof_jntid[first]])
            if pose is not None:
                data.qpos[address : address + 7] = pose
            data.qvel[first : first + 6] = velocity
            data.qfrc_applied[first : first + 6] = 0.0
