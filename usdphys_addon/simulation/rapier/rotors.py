# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures of joints in maximal coordinates as moments of inertia of their bodies, where that says the same.

The energy of an armature is that of the speed of the joint. With what does not move it is that of the body. Of a ball
joint between two bodies that move it is that of both, less a part that goes with both speeds: each body is turned
along, one step of the solver later, by what the other one has gained. No motor needs to remember a speed, see
`joint_effects`, so that the steps of the solver stay as large as they are, and blows meet the whole inertia.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from rapier3d import PhysicsWorld

from ...core.frames import Matrix
from ...core.schema import Vector
from ..joint_facts import JointFacts
from ..weights import Weight
from . import tuning
from .constraints import Constraint


class Rotor(NamedTuple):
    """The armature of a joint, kg m2; tensors (3, 3) by the path of a body, in the body's own frame."""

    joint: Constraint
    armature: float
    tensors: Mapping[str, Matrix]
    is_shared: bool


def rotor_of(
    facts: JointFacts, weights: Mapping[str, Weight], moving: Collection[str]
) -> tuple[float, dict[str, Matrix], bool] | None:
    """(armature, tensors, whether both bodies move) of a joint whose armature can be inertia of bodies; else None.

    weights: by path, of bodies that physics moves. moving: paths of these and of kinematic ones.
    """
    free = [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
    armatures = {facts.freedoms[axis].settings.armature for axis in free}
    distance = 0.0 if facts.distance is None else facts.distance.settings.armature
    if distance > 0.0 or len(armatures) != 1 or not (armature := armatures.pop()) > 0.0:
        return None
    ends = [(path, frame) for path, frame in ((facts.body0, facts.frame0), (facts.body1, facts.frame1))
            if path in moving]  # fmt: skip
    tensors: dict[str, Matrix] = {}
    for path, frame in ends:
        if path in weights and free == [3, 4, 5]:
            tensors[path] = armature * np.eye(3)
        elif path in weights and len(ends) == len(free) == 1 and free[0] >= 3:
            axis = frame[:3, free[0] - 3]
            tensors[path] = armature * np.outer(axis, axis)
    parts = [armature / (armature + min(weights[path].moments)) if path in weights else 0.0 for path, _ in ends]
    is_shared = len(ends) == 2
    if not tensors or (is_shared and parts[0] * parts[1] > tuning.ROTOR**2):
        return None
    return armature, tensors, is_shared


class Rotors:
    """The rotors of the joints of one group of bodies."""

    def __init__(
        self, joints: Sequence[Constraint], weights: Mapping[str, Weight], handles: Mapping[str, Any]
    ) -> None:  # fmt: skip
        """weights: by path, of bodies that physics moves. handles: of the solver's bodies, by path."""
        self._rotors: list[Rotor] = []
        for joint in joints:
            found = None if joint.state.reduced else rotor_of(joint.facts, weights, handles)
            if found is not None:
                joint.is_rotor = True
                self._rotors.append(Rotor(joint, *found))
        self._shared = [rotor for rotor in self._rotors if rotor.is_shared]
        #: Weights of bodies with what rotors add, by path.
        self.felt: dict[str, Weight] = {}
        self._spins: dict[Any, Vector] = {}
        self._pushed: list[tuple[Any, Vector]] = []

    @property
    def paths(self) -> set[str]:
        """The bodies with rotors."""
        return {path for rotor in self._rotors for path in rotor.tensors}

    def forget(self) -> None:
        """Call it where bodies got other speeds than those that forces gave them."""
        self._spins.clear()

    def weigh(self, path: str, weight: Weight) -> Weight:
        """The weight of a body with what the rotors of its joints add, where these hold."""
        added = [rotor.tensors[path] for rotor in self._rotors if path in rotor.tensors and rotor.joint.active]
        self.felt[path] = weight.plus(sum(added, np.zeros((3, 3)))) if added else weight
        return self.felt[path]

    def push(self, physics: PhysicsWorld, seconds: float) -> None:
        """Turn the two bodies of a joint along with each other in the next step of the solver, which takes so long."""
        if not self._shared:
            return
        bodies = {handle: physics.rigid_bodies[handle] for rotor in self._shared for handle in rotor.joint.handles}
        now = {handle: body.angvel.to_tuple() for handle, body in bodies.items()}
        torques: dict[Any, list[float]] = {}
        for rotor in self._shared:
            for own, other in (rotor.joint.handles, rotor.joint.handles[::-1]) if rotor.joint.active else ():
                before = self._spins.get(other)
                if before is not None and bodies[own].is_dynamic and not bodies[own].is_sleeping:
                    torque = torques.setdefault(own, [0.0, 0.0, 0.0])
                    for axis in range(3):
                        torque[axis] += rotor.armature * (now[other][axis] - before[axis]) / seconds
        self._spins = now
        self._pushed = [(bodies[handle], (x, y, z)) for handle, (x, y, z) in torques.items() if x or y or z]
        for body, push in self._pushed:
            body.add_torque(push, False)

    def release(self) -> None:
        """Take the torques back after the step."""
        for body, (x, y, z) in self._pushed:
            body.add_torque((-x, -y, -z), False)
        self._pushed = []
