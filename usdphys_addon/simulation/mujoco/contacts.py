# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as UsdPhysics means them, written into each step: friction and restitution of two surfaces, and blows."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..layout import EARTH_GRAVITY
from .compiled import Compiled

Floats = NDArray[np.float64]
#: MuJoCo's elliptic cone divides by the friction.
LEAST_FRICTION = 1e-5
#: m/s, below which a contact holds with its static friction, and times the fall of a step, below which it is no blow.
REST, SLOW_FALLS = 0.01, 4.0
#: m/s. Overlapping bodies are pushed apart no faster.
APART_SPEED = 1.0
#: Of the larger spin, by which those of two bodies that turn as one may differ.
AS_ONE = 0.1
#: Impedance of a blow: less leaves a part of the speed.
RIGID = 0.9999
#: What a sliding contact is braked by at most: the pull of gravity times its friction times BRAKES, and GROWS times
#: what it was braked by in the step before, if what bears on it is more than that.
BRAKES, GROWS = 4.0, 2.0
#: What computes the constraints of a step from its contacts.
_CONSTRAINTS = (mujoco.mj_makeConstraint, mujoco.mj_island, mujoco.mj_projectConstraint, mujoco.mj_fwdVelocity)


class Contacts:
    """Of one scene, which is compiled. is_plain: the scene runs as its file does in MuJoCo."""

    def __init__(self, scene: Compiled, *, is_plain: bool) -> None:
        self.scene, self.is_plain = scene, is_plain
        model = scene.model
        #: s, by which the blow of each tree came before the step.
        self._late: Floats = np.zeros(model.ntree)
        self._before: Floats | None = None
        #: Trees whose acceleration in the step before was that of a blow, or is not known.
        self.struck = np.ones(model.ntree, bool)
        bodies = np.arange(model.nbody)
        first = model.jnt_type[np.clip(model.body_jntadr, 0, None)] if model.njnt else np.zeros(model.nbody, int)
        self._is_loose = (model.body_dofnum == 6) & (model.body_jntnum == 1) & (first == 0) & (bodies > 0)

    def grip(self) -> None:
        """Friction and restitution of both surfaces as they are combined, and surfaces that run."""
        scene = self.scene
        model, data, h = scene.model, scene.data, scene.h
        contact = data.contact
        pairs = contact.geom
        dynamic, static, bounce = scene.surfaces.combined(pairs)
        slip, normal = self._slip(pairs), contact.frame[:, :3]
        apart = np.einsum("ij,ij->i", slip, normal)
        running = self._running(pairs) if scene.runs else None
        if running is not None:
            slip = slip + running
        turns = None if self.is_plain else self._turns(pairs)
        if turns is not None:
            # What rides moves along chords of its circle, half a step behind the tangent.
            slip = slip + 0.5 * h * turns
        along = slip - np.einsum("ij,ij->i", slip, normal)[:, None] * normal
        friction = np.where(np.linalg.norm(along, axis=1) < REST, static, dynamic)
        deep = (contact.dist < -2.5 * h * APART_SPEED) & (apart > -APART_SPEED)
        slow = SLOW_FALLS * math.hypot(*scene.gravity) * h
        # Without restitution too: a contact of MuJoCo is a damped spring, which gives an eighth of the speed back.
        blows = (apart < -slow) & (contact.dist + apart * h < 0.0)
        if self.is_plain:
            blows &= bounce > 0.0
        contact.friction[:, :2] = np.maximum(friction, LEAST_FRICTION)[:, None]
        contact.solref[deep, 0] = -contact.dist[deep] / APART_SPEED
        contact.solimp[blows, :2] = RIGID
        for part in _CONSTRAINTS:
            part(model, data)
        rows = contact.efc_address
        if turns is not None:
            self._ride(turns)
        blows &= rows >= 0
        pushes = self._blow(blows, apart, bounce, slip)
        if running is not None:
            for number in np.flatnonzero((rows >= 0) & (~blows | self.is_plain) & running.any(axis=1)):
                for axis in (1, 2):
                    row = rows[number] + axis
                    speed = float(contact.frame[number, 3 * axis : 3 * axis + 3] @ running[number])
                    data.efc_aref[row] -= data.efc_KBIP[row, 1] * speed
        if not self.is_plain:
            self._brake(slip, normal, pushes)
            trees = model.body_treeid[model.geom_bodyid[pairs[blows]]]
            self.struck[:] = False
            self.struck[trees[trees >= 0]] = True

    def _led(self) -> NDArray[Any]:
        """Numbers of the bodies that others lead."""
        return self.scene.ids[[self.scene.rows[path] for path in self.scene.led]]

    def _brake(self, slip: Floats, normal: Floats, pushes: Floats) -> None:
        """Ask friction for no more than it can give. slip, normal (n, 3); pushes (n,): m/s2, of blows, else 0.

        MuJoCo's friction is the solution of a convex problem, in which a contact that slides is also parted, by its
        friction times what its reference would have braked and the friction does not: a box that slides fast floats.
        """
        scene = self.scene
        model, data = scene.model, scene.data
        contact, pull = data.contact, max(math.hypot(*scene.gravity), EARTH_GRAVITY)
        numbers = np.flatnonzero((contact.efc_address >= 0) & (contact.dim >= 3))
        rows, friction = contact.efc_address[numbers], contact.friction[numbers, 0]
        led = self._led_change()
        pulled = np.stack([led[rows + axis] for axis in (1, 2)])
        wanted = np.stack([data.efc_aref[rows + axis] for axis in (1, 2)]) - pulled
        size = np.hypot(*wanted)
        most = friction * BRAKES * pull
        far = np.flatnonzero(size > most)
        if not len(far):
            return
        each, rows, friction = numbers[far], rows[far], friction[far]
        straight = np.einsum("ij,ij->i", slip[each], normal[each])[:, None] * normal[each]
        across = slip[each] - straight
        across /= np.maximum(np.linalg.norm(across, axis=1), 1e-30)[:, None]
        ratio = self._ease(each, across) / np.maximum(self._ease(each, normal[each]), 1e-30)
        change = np.zeros(data.nefc)
        mujoco.mj_mulJacVec(model, data, change, data.qacc)
        # What it gave in the step before, in the direction in which it brakes now.
        given = sum(change[rows + axis] * wanted[axis - 1, far] for axis in (1, 2)) / size[far]
        trees = model.body_treeid[model.geom_bodyid[contact.geom[each]]]
        given[(self.struck[trees] & (trees >= 0)).any(axis=1)] = 0.0
        blown = pushes[each] > 0.0
        # A blow presses all that touch each other.
        own, passed = (friction * ratio * part[each] for part in (pushes, self._passed(pushes)))
        most = most[far] + GROWS * np.maximum(given, 0.0) + passed
        most[blown] = np.maximum(own, friction * pull)[blown]
        # At least that of a body that lies: of what has just been in the air, nothing is known.
        given = np.maximum(given, friction * pull)
        given = np.where(blown | (passed > 0.0), most, given)
        part = np.minimum(1.0, most / size[far])
        data.efc_aref[rows] -= friction * np.maximum(part * size[far] - given, 0.0)
        for axis in (1, 2):
            data.efc_aref[rows + axis] = pulled[axis - 1, far] + part * wanted[axis - 1, far]

    def _passed(self, pushes: Floats) -> Floats:
        """The largest push (n,) among the contacts of bodies that touch each other, m/s2. pushes (n,): of each."""
        model, data = self.scene.model, self.scene.data
        if not pushes.any():
            return pushes
        trees = model.body_treeid[model.geom_bodyid[data.contact.geom]].max(axis=1)
        islands = np.where(trees >= 0, data.tree_island[trees], -1)
        most = np.zeros(data.nisland + 1)
        np.maximum.at(most, islands, pushes)
        most[-1] = 0.0
        return np.asarray(most[islands])

    def _led_change(self) -> Floats:
        """Acceleration of each constraint (nefc,) by what leads kinematic bodies in this step."""
        scene = self.scene
        model, data = scene.model, scene.data
        change, result = np.zeros(model.nv), np.zeros(data.nefc)
        if scene.led:
            led = self._led()
            dofs = model.body_dofadr[led][:, None] + np.arange(6)
            matter = np.hstack([np.repeat(model.body_mass[led][:, None], 3, axis=1), model.body_inertia[led]])
            change[dofs] = data.qfrc_applied[dofs] / matter
            mujoco.mj_mulJacVec(model, data, result, change)
        return result

    def _ease(self, numbers: NDArray[Any], axes: Floats) -> Floats:
        """By how much a unit of impulse along axes (n, 3) changes the velocity there of both bodies, 1/kg (n,)."""
        model, data = self.scene.model, self.scene.data
        found = np.zeros(len(numbers))
        for side in (0, 1):
            bodies = model.geom_bodyid[data.contact.geom[numbers, side]]
            arms = np.cross(data.contact.pos[numbers] - data.xipos[bodies], axes)
            local = np.einsum("nji,nj->ni", data.ximat[bodies].reshape(-1, 3, 3), arms)
            matter = np.maximum(model.body_inertia[bodies], 1e-30)
            loose = 1.0 / np.maximum(model.body_mass[bodies], 1e-30) + (local**2 / matter).sum(axis=1)
            found += np.where(self._is_loose[bodies], loose, model.body_invweight0[bodies, 0])
        return found

    def _slip(self, pairs: Any) -> Floats:
        """Velocity (n, 3) of the second surface relative to the first, as both move with their bodies."""
        model, data = self.scene.model, self.scene.data
        speeds = []
        for side in (0, 1):
            bodies = model.geom_bodyid[pairs[:, side]]
            arms = data.contact.pos - data.subtree_com[model.body_rootid[bodies]]
            speeds.append(data.cvel[bodies, 3:] + np.cross(data.cvel[bodies, :3], arms))
        return np.asarray(speeds[1] - speeds[0])

    def _running(self, pairs: Any) -> Floats:
        """Velocity (n, 3) of the second surface relative to the first, where surfaces run."""
        scene, contact = self.scene, self.scene.data.contact
        result = np.zeros((len(pairs), 3))
        for path, surface in scene.runs.items():
            body = int(scene.ids[scene.rows[path]])
            turn = scene.data.xmat[body].reshape(3, 3) if surface.is_local else np.eye(3)
            velocity, spin = turn @ surface.velocity, turn @ surface.spin
            for side, sign in ((0, -1.0), (1, 1.0)):
                own = scene.model.geom_bodyid[pairs[:, side]] == body
                result[own] += sign * (velocity + np.cross(spin, contact.pos[own] - scene.data.xpos[body]))
        return result

    # ----------------------------------------------------------------------- blows

    def _blow(self, blows: NDArray[Any], apart: Floats, bounce: Floats, slip: Floats) -> Floats:
        """Have blows end with the speed that restitution leaves. Returns what they ask of their contacts (n,), m/s2.

        blows: (n,), which contacts are any; the result is 0 for others. apart: (n,), m/s at which surfaces part.
        bounce: (n,) restitution. slip: (n, 3), m/s of the second surface relative to the first.
        """
        data, h = self.scene.data, self.scene.h
        contact = data.contact
        rows = contact.efc_address
        pushes = np.where(blows, -(1.0 + bounce) * apart / h, 0.0)
        if blows.any() and not self.is_plain:
            late = self._find_late(np.flatnonzero(blows & (contact.dist < 0.0)), apart)
            # Since it met, gravity made it faster, and would have slowed it. Half a step is that of the integration,
            # whose velocities are those of the middle between two places.
            fall = np.where(late > 0.0, self._fall(contact.geom, contact.frame[:, :3]), 0.0)
            after = np.maximum(-bounce * (apart - fall * (late - 0.5 * h)) + fall * (late + 0.5 * h), 0.0)
            pushes = np.where(blows & (late > 0.0), (after - apart) / h, pushes)
            # What sticks in a blow does so at its end.
            across = np.flatnonzero(blows & (contact.dim >= 3))
            for axis in (1, 2):
                direction = contact.frame[across, 3 * axis : 3 * axis + 3]
                data.efc_aref[rows[across] + axis] = -np.einsum("ij,ij->i", slip[across], direction) / h
        data.efc_aref[rows[blows]] = pushes[blows]
        return np.asarray(pushes)

    def _fall(self, pairs: Any, normal: Floats) -> Floats:
        """Acceleration (n,) by which gravity parts two shapes, along normal (n, 3)."""
        model = self.scene.model
        bodies = model.geom_bodyid[pairs]
        share = np.where(self._is_loose[bodies], 1.0 - model.body_gravcomp[bodies], 0.0)
        return np.asarray((share[:, 1] - share[:, 0]) * (normal @ np.array(self.scene.gravity)))

    def _find_late(self, numbers: NDArray[Any], apart: Floats) -> Floats:
        """How long ago bodies met that overlap in contacts of these numbers, s; 0 for other contacts (n,)."""
        model, data, h = self.scene.model, self.scene.data, self.scene.h
        pairs, dist = data.contact.geom, data.contact.dist
        met: dict[tuple[int, int], bool] = {}
        found = np.zeros(len(apart))
        for number in numbers.tolist():
            pair = (int(pairs[number, 0]), int(pairs[number, 1]))
            if pair not in met:
                # A contact that MuJoCo foresees has a distance below zero, too.
                met[pair] = mujoco.mj_geomDistance(model, data, *pair, h, None) < 0.0
            if met[pair]:
                late = found[number] = min(float(dist[number] / apart[number]), h)
                for tree in model.body_treeid[model.geom_bodyid[list(pair)]]:
                    if tree >= 0:
                        self._late[tree] = max(self._late[tree], late)
        if self._late.any():
            self._before = data.qvel.copy()
        return found

    def settle(self) -> None:
        """After a step: who was met before it began has moved with the new velocity since then, and overlaps nothing.

        Else the overlap would be pushed apart, and give speed that the blow did not.
        """
        if self._before is None:
            return
        model, data = self.scene.model, self.scene.data
        way = (data.qvel - self._before) * self._late[model.dof_treeid]
        mujoco.mj_integratePos(model, data.qpos, way, 1.0)
        self._late[:], self._before = 0.0, None

    # ----------------------------------------------------------------------- riders

    def _turns(self, pairs: Any) -> Floats | None:
        """How fast the velocity of the first surface turns relative to the second (n, 3), m/s2, where one rides on the
        other: both turn as one, or others lead one of them. None where nothing does.
        """
        scene = self.scene
        model, data = scene.model, scene.data
        contact, bodies = data.contact, model.geom_bodyid[pairs]
        spins = data.cvel[bodies, :3]
        fastest = np.linalg.norm(spins, axis=2).max(axis=1)
        riding = np.linalg.norm(spins[:, 0] - spins[:, 1], axis=1) < AS_ONE * fastest
        if scene.led:
            riding |= np.isin(bodies, self._led()).any(axis=1)
        numbers = np.flatnonzero(riding & (contact.dim >= 3) & (fastest > 0.0))
        if not len(numbers):
            return None
        turns, points = np.zeros((len(pairs), 3)), contact.pos[numbers]
        turns[numbers] = self._turning(bodies[numbers, 0], points) - self._turning(bodies[numbers, 1], points)
        return turns

    def _ride(self, turns: Floats) -> None:
        """Let friction turn what rides on a turning body: without it the rider lags behind, and slips out.

        MuJoCo's constraints are of accelerations, without the part that comes from the turning itself.
        """
        data = self.scene.data
        contact = data.contact
        numbers = np.flatnonzero((contact.efc_address >= 0) & turns.any(axis=1))
        for axis in (1, 2):
            rows = contact.efc_address[numbers] + axis
            along = np.einsum("ij,ij->i", turns[numbers], contact.frame[numbers, 3 * axis : 3 * axis + 3])
            # A constraint gives its impedance's part of what it is asked for.
            behind = 0.5 * self.scene.h * data.efc_KBIP[rows, 1]
            data.efc_aref[rows] += (1.0 / data.efc_KBIP[rows, 2] - behind) * along

    def _turning(self, bodies: NDArray[Any], points: Floats) -> Floats:
        """How fast the velocities of points (n, 3) of bodies (n,) turn, m/s2."""
        model, data = self.scene.model, self.scene.data
        spins = data.cvel[bodies, :3]
        found: Floats = np.cross(spins, np.cross(spins, points - data.xpos[bodies]))
        change = np.zeros((3, model.nv))
        for row in np.flatnonzero(~self._is_loose[bodies] & (np.abs(spins).max(axis=1) > 0.0)):
            mujoco.mj_jacDot(model, data, change, None, points[row], int(bodies[row]))
            found[row] = change @ data.qvel
        return found
