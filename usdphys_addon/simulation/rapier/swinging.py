# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of few joints that touch nothing keep their energy as they swing.

After each small step the solver takes out the velocities with which it set the joints right. They are not only errors:
a body that goes round moves along a tangent, and what leads it back to its circle is half of what turns its velocity.
Without it each small step takes the part (w h)^2 / 2 of a speed: a rod that swings had lost 1.7 % of its energy after
5 s, and a small one, which swings faster, more. So where nothing touches, these velocities are left in until the end
of a step of the solver. Not where a rope, or a joint at one of its limits, holds: what meets a limit in one of the
small steps would come back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import rapier3d
from numpy.typing import NDArray
from rapier3d import PhysicsWorld, SpringCoefficients

from ..hanging import hanging
from ..weights import Weight
from . import joint_effects, tuning
from .bounds import is_bounded, may_reach
from .constraints import Constraint

#: Bodies of a tree, and of a space, at most; and the largest ratio of what hangs on a body to its own mass. What the
#: sweeps of the solver leave of a joint would be left in, too.
MOST, MOST_IN_ALL, EVEN = 8, 32, 20.0
#: rad in a time step: slower bodies lose nothing to speak of.
LEAST = 0.004
#: What leads a body back to its circle in a small step, at least, in units of the precision of its place: a joint that
#: is set right by less hits and misses its mark, and what is left in is noise.
CLEAR = 2.0
#: Part of a gap that such a joint closes in a small step. With all of it, two rods on hinges flew apart where one was
#: turned by a right angle: the solver's measure of their twist is not that of their spin there.
CLOSED, DAMPING_RATIO = 0.4, 10.0
#: Part of a speed, and speed (m/s, rad/s), at most, that is taken out after a step: joints that are set right by more
#: are about to fly apart.
CALM, STILL = 0.05, 1e-3
#: s: the step that takes the velocities out, too short for any motion.
NO_TIME = 1e-6


class Swings:
    """The joints and bodies of a space that may swing freely, and whether they do."""

    def __init__(self, constraints: Sequence[Constraint], weights: Mapping[str, Weight], paths: Sequence[str]) -> None:
        """weights: of the bodies that move, by path. paths: of all bodies of the space, in its order."""
        self._constraints = constraints if _may_swing(constraints, weights, len(paths)) else ()
        held = {path for item in self._constraints for path in (item.facts.body0, item.facts.body1)}
        #: Of the bodies that joints hold.
        self.rows = [row for row, path in enumerate(paths) if path in held and path in weights]
        #: True if they swing in the next time step.
        self.now = False
        self._is_calm = True

    def close_gently(self, physics: PhysicsWorld, views: Sequence[Any], seconds: float) -> None:
        """Let joints close a gap within some small steps. views: of all bodies. seconds: a step of the solver."""
        number = physics.integration_parameters.num_solver_iterations
        number += max((views[row].additional_solver_iterations for row in self.rows), default=0)
        turn = 2.0 * DAMPING_RATIO * CLOSED / (1.0 - CLOSED)
        softness = SpringCoefficients(turn * number / seconds / (2.0 * math.pi), DAMPING_RATIO)
        for item in self._constraints:
            if item.state.base is not None:
                physics.impulse_joints[item.state.base].data.softness = softness

    def watch(
        self, physics: PhysicsWorld, views: Sequence[Any], awake: NDArray[np.bool_], seconds: float, steps: int
    ) -> None:
        """See whether any swing. views, awake (n,): of all bodies. seconds: a time step, of so many of the solver."""
        bodies = [views[row] for row in self.rows if awake[row]]
        small_steps = int(physics.integration_parameters.num_solver_iterations)
        self.now = _swings_widely(bodies, seconds, steps, small_steps)
        self.now = self.now and not _is_stopped(physics, self._constraints, seconds / steps)

    def advance(self, physics: PhysicsWorld, views: Sequence[Any], step: Callable[[], object]) -> bool:
        """Make a step of the solver by `step`, and keep energy. False, and nothing has moved, if something stops it."""
        parameters = physics.integration_parameters
        before = [(view, view.position, view.linvel, view.angvel) for view in views]
        relaxations = parameters.num_internal_stabilization_iterations
        parameters.num_internal_stabilization_iterations = 0
        step()
        parameters.num_internal_stabilization_iterations = relaxations
        self.now = self._is_calm and not _is_stopped(physics, self._constraints, parameters.dt)
        if not self.now:
            for view, pose, speed, spin in before:
                view.position, view.linvel, view.angvel = pose, speed, spin
        return self.now

    def settle(self, physics: PhysicsWorld, views: Sequence[Any], kinematic: Collection[Any]) -> None:
        """After the solver's part of `step`. kinematic: bodies that move, and go on as they do."""
        if not physics.integration_parameters.num_internal_stabilization_iterations:
            self._is_calm = _settle(physics, [views[row] for row in self.rows], kinematic)


def _may_swing(constraints: Sequence[Constraint], weights: Mapping[str, Weight], bodies: int) -> bool:
    """True if the joints of a space with so many bodies are small trees, whose joints the solver closes."""
    if not constraints or bodies > MOST_IN_ALL or not all(map(_is_plain, constraints)):
        return False
    masses = {path: weight.mass for path, weight in weights.items()}
    groups = hanging([(item.facts.body0, item.facts.body1) for item in constraints], masses)
    return all(len(each.bodies) <= MOST and not each.is_loop and each.ratio <= EVEN for each in groups)


def _is_plain(item: Constraint) -> bool:
    """False for a joint that does more than to lock degrees of freedom, drive them, and stop them at hard limits."""
    is_special = item.state.reduced or item.facts.breaks or bool(item.facts.bond)
    is_roped = item.state.rope is not None and not item.is_rod
    is_soft = any(freedom.has_soft_limit or freedom.has_bounce for freedom in item.state.freedoms)
    return not (is_special or is_roped or is_soft or item.is_rotor or joint_effects.has_armature(item))


def _swings_widely(bodies: Sequence[Any], seconds: float, steps: int, small_steps: int) -> bool:
    """True if bodies that joints hold go round fast enough for it to matter.

    bodies: of the solver, in time steps of so many seconds and so many of its steps. small_steps: in each of these, for
    bodies that ask for no more.
    """
    for body in bodies:
        turn, way = seconds * body.angvel.norm(), seconds * body.linvel.norm()
        if not LEAST < turn < math.inf:
            continue
        number = steps * (small_steps + body.additional_solver_iterations)
        rounding = float(np.spacing(np.float32(max(map(abs, body.center_of_mass.to_tuple())))))
        if turn * way > CLEAR * number * number * rounding:
            return True
    return False


def _is_stopped(physics: PhysicsWorld, constraints: Sequence[Constraint], seconds: float) -> bool:
    """True if bodies touch, or a joint may be at one of its limits within so many seconds, or was so long ago."""
    if any(pair.has_any_active_contact for pair in physics.narrow_phase.contact_pairs()):
        return True
    return any(item.active and is_bounded(item) and may_reach(item, physics, seconds) for item in constraints)


def _settle(physics: PhysicsWorld, bodies: Sequence[Any], kinematic: Collection[Any]) -> bool:
    """Take out the velocities with which joints were set right; False if these were more than they should be.

    bodies: that joints hold. kinematic: bodies that move; they go on as they do.
    """
    moved = _velocities(bodies)
    parameters, gravity = physics.integration_parameters, physics.gravity
    seconds, relaxations = parameters.dt, parameters.num_internal_stabilization_iterations
    parameters.num_internal_stabilization_iterations = tuning.JOINT_RELAXATIONS
    for body in kinematic:
        velocity, spin = body.linvel, body.angvel
        body.body_type = rapier3d.RigidBodyType.KINEMATIC_VELOCITY_BASED
        body.linvel, body.angvel = velocity, spin
    physics.gravity, parameters.dt = (0.0, 0.0, 0.0), NO_TIME
    physics.step()
    physics.gravity, parameters.dt = gravity, seconds
    parameters.num_internal_stabilization_iterations = relaxations
    for body in kinematic:
        body.body_type = rapier3d.RigidBodyType.KINEMATIC_POSITION_BASED
    sizes, taken = (np.linalg.norm(each, axis=2).max(axis=0) for each in (moved, moved - _velocities(bodies)))
    return bool((taken <= CALM * sizes + STILL).all())


def _velocities(bodies: Sequence[Any]) -> NDArray[np.float64]:
    """(n, 2, 3): linear and angular, m/s and rad/s."""
    rows = [(body.linvel.to_tuple(), body.angvel.to_tuple()) for body in bodies]
    return np.array(rows, float).reshape(-1, 2, 3)
