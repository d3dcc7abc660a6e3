# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces and torques of breakable joints, from the change of momentum of the bodies that hang on them.

The solver's impulses are correct only for joints that only lock axes; for these they give the force. Friction
between the two sides of a joint is not included.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import rapier3d
from rapier3d import PhysicsWorld

from ...core.frames import Matrix
from ...core.mass import inertia_tensor
from ...core.schema import Quaternion, Vector
from ..joint_facts import NO_LIMIT
from .constraints import Constraint, matrix_of


@dataclass(slots=True)
class Weight:
    """Mass (kg), centre of mass (m), principal moments (kg m2) and their axes (w, x, y, z), in the body's own frame."""

    mass: float
    center: Vector
    moments: Vector
    axes: Quaternion

    @property
    def inertia(self) -> Matrix:
        """Tensor (3, 3) about the centre of mass."""
        return inertia_tensor(self.moments, self.axes)

    @property
    def of_solver(self) -> rapier3d.MassProperties:
        """The same for the solver."""
        return rapier3d.MassProperties(self.center, self.mass, self.moments, rapier3d.Rotation3(*self.axes))

    def scaled_to(self, mass: float) -> Weight:
        """The weight with another mass; moments scale with it."""
        x, y, z = (moment * mass / self.mass for moment in self.moments)
        return Weight(mass, self.center, (x, y, z), self.axes)


@dataclass(slots=True)
class _Cut:
    """bodies: on one side of a joint, empty if it is in a loop. anchor (3,). linear, angular (3,): their momentum."""

    bodies: tuple[str, ...]
    anchor: Matrix
    linear: Matrix
    angular: Matrix


class Loads:
    """Measures the joints that can break, over one step at a time."""

    def __init__(self, handles: Mapping[str, Any], weights: Mapping[str, Weight]) -> None:
        self.handles, self.weights = handles, weights
        self.paths = {handle: path for path, handle in handles.items()}
        self.cuts: dict[str, _Cut] = {}
        self._sides: dict[str, tuple[str, ...]] = {}
        self._sides_of: list[bool] = []

    def before(self, physics: PhysicsWorld, constraints: Sequence[Constraint]) -> None:
        """Remember the momentum of what hangs on each breakable joint."""
        held = [constraint.active for constraint in constraints]
        if held != self._sides_of:
            active = [constraint for constraint in constraints if constraint.active]
            self._sides = {item.facts.path: self._side(item, active) for item in active if item.facts.breaks}
            self._sides_of = held
        self.cuts = {}
        for constraint in constraints:
            facts = constraint.facts
            bodies = self._sides.get(facts.path)
            if bodies is None:
                continue
            if not bodies or (facts.break_torque >= NO_LIMIT and _is_plain(constraint)):
                # The solver gives the force, and the torque is not needed.
                self.cuts[facts.path] = _Cut((), np.zeros(3), np.zeros(3), np.zeros(3))
                continue
            pose = matrix_of(physics.rigid_bodies[constraint.handles[0]].position) @ facts.frame0
            self.cuts[facts.path] = _Cut(bodies, pose[:3, 3], *self._momentum(physics, bodies, pose[:3, 3]))

    def _side(self, cut: Constraint, active: list[Constraint]) -> tuple[str, ...]:
        """The dynamic bodies that only this joint connects to the rest; the smaller side if both are free."""
        at: dict[str, list[Constraint]] = defaultdict(list)
        for constraint in active:
            if constraint is not cut:
                for path in (constraint.facts.body0, constraint.facts.body1):
                    at[path].append(constraint)
        sides: list[tuple[str, ...]] = []
        for start, end in ((cut.facts.body1, cut.facts.body0), (cut.facts.body0, cut.facts.body1)):
            reached, stack, free = {start}, [start], start in self.weights
            while stack and free:
                for constraint in at[stack.pop()]:
                    for path in (constraint.facts.body0, constraint.facts.body1):
                        if path not in self.weights or (path == end and path not in reached):
                            free = False
                        elif path not in reached:
                            reached.add(path)
                            stack.append(path)
            if free:
                sides.append(tuple(sorted(reached)))
        return min(sides, key=len, default=())

    def _momentum(self, physics: PhysicsWorld, bodies: Iterable[str], about: Matrix) -> tuple[Matrix, Matrix]:
        linear, angular = np.zeros(3), np.zeros(3)
        for path in bodies:
            body, weight = physics.rigid_bodies[self.handles[path]], self.weights[path]
            pose = matrix_of(body.position)
            center = pose[:3, :3] @ weight.center + pose[:3, 3]
            momentum = weight.mass * np.array(body.linvel.to_tuple())
            spin = pose[:3, :3] @ weight.inertia @ pose[:3, :3].T @ np.array(body.angvel.to_tuple())
            linear += momentum
            angular += spin + np.cross(center - about, momentum)
        return linear, angular

    def after(self, physics: PhysicsWorld, constraints: Iterable[Constraint], dt: float) -> list[Constraint]:
        """Set the load (N, N m) of each breakable joint; returns the joints that break."""
        broken = []
        gravity = np.array(physics.gravity.to_tuple())
        for constraint in constraints:
            cut = self.cuts.get(constraint.facts.path)
            if cut is None or not constraint.active:
                continue
            force = torque = 0.0
            if cut.bodies:
                linear, angular = self._momentum(physics, cut.bodies, cut.anchor)
                linear, angular = linear - cut.linear, angular - cut.angular
                for path in cut.bodies:
                    body, weight = physics.rigid_bodies[self.handles[path]], self.weights[path]
                    weighs = weight.mass * gravity * dt
                    linear -= weighs
                    angular -= np.cross(np.array(body.center_of_mass.to_tuple()) - cut.anchor, weighs)
                pushed, turned = self._contacts(physics, set(cut.bodies), cut.anchor)
                force = float(np.linalg.norm(linear - pushed)) / dt
                torque = float(np.linalg.norm(angular - turned)) / dt
            plain = _plain_force(physics, constraint, dt)
            if plain is not None:
                force = plain
            constraint.load = (force, torque)
            if force > constraint.facts.break_force or torque > constraint.facts.break_torque:
                broken.append(constraint)
        return broken

    def _contacts(self, physics: PhysicsWorld, bodies: set[str], about: Matrix) -> tuple[Matrix, Matrix]:
        """(impulse, angular impulse about a point) (3,) of contacts of these bodies with all others."""
        linear, angular = np.zeros(3), np.zeros(3)
        for path in bodies:
            for collider in physics.rigid_bodies[self.handles[path]].colliders:
                for pair in physics.narrow_phase.contact_pairs_with(collider):
                    second = pair.collider2 == collider
                    other = physics.colliders[pair.collider1 if second else pair.collider2].parent
                    if other is not None and self.paths.get(other) in bodies:
                        continue
                    for manifold in pair.manifolds:
                        normal = np.array(manifold.data.normal.to_tuple()) * (1.0 if second else -1.0)
                        pose = physics.colliders[pair.collider1].position
                        for point in manifold.points:
                            place = np.array(pose.transform_point(point.local_p1).to_tuple())
                            linear += point.impulse * normal
                            angular += np.cross(place - about, point.impulse * normal)
        return linear, angular


def _is_plain(constraint: Constraint) -> bool:
    """True for a joint that only locks axes, for which the solver's impulses are correct."""
    state = constraint.state
    if state.base is None or constraint.facts.cone is not None:
        return False
    return all(item.is_locked for item in state.freedoms[:3]) and not any(
        item.is_limited or item.drive is not None for item in state.freedoms
    )


def _plain_force(physics: PhysicsWorld, constraint: Constraint, dt: float) -> float | None:
    """Force (N) of a joint that only locks, from the solver; None for the others."""
    if not _is_plain(constraint):
        return None
    impulses = physics.impulse_joints[constraint.state.base].impulses[:3]
    steps: int = physics.integration_parameters.num_solver_iterations
    return float(np.linalg.norm(impulses)) * steps / dt
