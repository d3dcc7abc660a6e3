# SPDX-License-Identifier: GPL-3.0-or-later
"""What slides and rolls: whose contacts are looked at, and with which model of friction the solver reckons.

The solver's simplified friction brakes the spin of a body by itself, and a wide wheel against its turn about its
contact. With Coulomb's, high stacks of small bodies lean and fall. So it is Coulomb's only while something slides,
and of few bodies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import rapier3d
from numpy.typing import NDArray
from rapier3d import PhysicsWorld

from ..vendor_settings import Surface
from . import tuning
from .constraints import matrix_of
from .contact_hook import MOVES, ContactHook
from .seams import at_seams

#: Jointed bodies, at most, whose contacts are looked at. Ragdolls land harder while theirs are: their cones give way.
FEW_JOINTED = 8
#: Bodies, at most, that are asked in a time step whether they slide and spin; of a crowd every so many steps.
LOOK_AT_SPINS, SPINS_OF_CROWD = 4, 16
#: Part of the speed from which on contacts are looked at, for cylinders, capsules and cones.
ROLLS = 0.05
#: Time steps after which slow bodies are looked for that are caught at a seam. Cosine between the normals of two
#: contacts from which on they are on the same side.
LOOK_FOR_CAUGHT, SAME_SIDE = 4, 0.9


class Sliding:
    """Of the bodies of a space: which of them slide, and until when their contacts are looked at."""

    def __init__(
        self, hook: ContactHook, handles: Sequence[Any], arms: NDArray[np.float64], sizes: NDArray[np.float64],
        rolls: NDArray[np.bool_], time_step: float, period: int,
    ) -> None:  # fmt: skip
        """handles: of the bodies in the solver. arms (n,): how far from its middle a body may touch others, m; negative
        for those that are not looked at. sizes (n,): m. rolls (n,): True for cylinders, capsules and cones. period: for
        how many time steps contacts are looked at once a body has moved."""
        self._hook, self._handles, self._arms = hook, handles, arms
        self._row_of = {handle: row for row, handle in enumerate(handles)}
        self._time_step, self._period = time_step, period
        #: m: ways of the farthest point, in a time step, from which on the contacts of a body are looked at. The solver
        #: makes such contacts anew in each of its steps, which lets high stacks of small bodies lean and fall.
        self._shifts: NDArray[np.float64] = time_step * MOVES * np.sqrt(np.minimum(sizes, 1.0))
        # What rolls does so at any speed.
        self._looks = np.where(rolls, ROLLS * self._shifts, self._shifts)
        #: The time step up to which the contacts of a body are looked at, and that up to which friction is Coulomb's.
        self._until, self._coupled = np.zeros(len(arms), np.int64), 0
        #: Bodies whose contacts are looked at in the next time step, (n,).
        self.looked = np.zeros(len(arms), bool)

    def state(self) -> tuple[NDArray[np.int64], int]:
        """For `load`."""
        return self._until.copy(), self._coupled

    def load(self, state: tuple[NDArray[np.int64], int]) -> None:
        """Go on from where `state` was taken."""
        self._until, self._coupled = state[0].copy(), state[1]
        self._hook.slid = False

    def couple(self, frame: int) -> None:
        """Let friction be Coulomb's for a while. frame: number of the time step."""
        self._coupled = frame + self._period

    def watch(self, ways: NDArray[np.float64], turns: NDArray[np.float64], frame: int) -> None:
        """Look at the contacts of bodies that move. ways, turns (n,): m and rad, in the last time step."""
        self._until[ways + self._arms * turns > self._looks] = frame + self._period
        if self._hook.slid:
            self.couple(frame)
            self._hook.slid = False

    def watch_ridden(self, riders: Iterable[Any], frame: int) -> None:
        """Look at the contacts of bodies that lie on what runs, though they may stand still. riders: their handles."""
        rows = [self._row_of[handle] for handle in riders if handle in self._row_of]
        self._until[rows] = frame + self._period

    def begin(self, physics: PhysicsWorld, stills: Collection[Any], frame: int) -> None:
        """Look at the contacts of bodies at seams in the first time step, in which nobody knows what is caught.

        Not of all: to look at contacts lets high stacks of small bodies lean and fall. stills: see `watch_caught`.
        """
        there = at_seams(physics, self._handles, stills)
        self._until[there] = np.maximum(self._until[there], frame + 1)

    def watch_caught(self, physics: PhysicsWorld, stills: Collection[Any], frame: int) -> None:
        """Look at the contacts of slow bodies that touch parts of a floor from two sides, as tiles at a seam.

        An edge that is exactly above a seam finds the side of the next part. A body that stands there would never move,
        and so never be looked at. stills: handles of the bodies that are floor.
        """
        for row in np.flatnonzero((self._arms > 0.0) & (self._until <= frame)).tolist():
            body = physics.rigid_bodies[self._handles[row]]
            if not body.is_sleeping and _is_caught(physics, body, stills):
                self._until[row] = frame + self._period

    def choose(self, physics: PhysicsWorld, frame: int, number: int) -> None:
        """Choose the solver's friction, and the bodies whose contacts are looked at. number: of bodies that move."""
        moving = (self._until > frame) & (self._arms > 0.0)
        is_few = number <= tuning.CROWD and int(moving.sum()) <= tuning.MOST_SLIDING
        is_sliding = is_few and self._coupled > frame
        # Of few bodies those at rest, too: with this friction they hold up to 7 % less unless they are looked at.
        looked = moving & is_few
        if is_sliding and number <= tuning.MOST_SLIDING:
            looked = self._arms > 0.0
        self._hook.is_coupled = is_sliding or bool(self._hook.wheels)
        models = rapier3d.FrictionModel
        physics.integration_parameters.friction_model = models.COULOMB if self._hook.is_coupled else models.SIMPLIFIED
        if (looked != self.looked).any():
            self.looked = looked
            self._hook.slide(physics, [self._handles[row] for row in np.flatnonzero(looked).tolist()])

    def uncoupled(
        self, physics: PhysicsWorld, views: Sequence[Any], ways: NDArray[np.float64], rims: NDArray[np.float64],
        radii: NDArray[np.float64],
    ) -> int:  # fmt: skip
        """The row of a body that slides and spins while its friction is not Coulomb's; -1 if there is none.

        views: of the bodies. ways, rims (n,): of their middles and their rims in the last time step, m. radii (n,): m.
        """
        chosen = (rims > self._shifts) & (ways > self._shifts) & (np.minimum(ways, rims) > 0.2 * np.maximum(ways, rims))
        if self._hook.is_coupled:
            chosen &= ~self.looked
        for row in np.flatnonzero(chosen)[:LOOK_AT_SPINS].tolist():
            least = float(self._shifts[row]) / self._time_step
            if _slides_and_spins(physics, self._hook.surfaces, views[row], float(radii[row]), least):
                return int(row)
        return -1


def _is_caught(physics: PhysicsWorld, body: Any, stills: Collection[Any]) -> bool:
    """True if a body touches several colliders of the same floor from different sides."""
    normals: dict[Any, Any] = {}
    for handle in body.colliders:
        for pair in physics.narrow_phase.contact_pairs_with(handle):
            if not pair.has_any_active_contact:
                continue
            other = physics.colliders[pair.collider2 if pair.collider1 == handle else pair.collider1].parent
            floor = None if other is None or other in stills else other
            for manifold in pair.manifolds:
                if manifold.points:
                    normal = manifold.data.normal.to_tuple()
                    first = normals.setdefault(floor, normal)
                    if abs(sum(one * two for one, two in zip(first, normal, strict=True))) < SAME_SIDE:
                        return True
    return False


def _slides_and_spins(
    physics: PhysicsWorld, surfaces: Mapping[Any, Surface], body: Any, radius: float, least: float
) -> bool:  # fmt: skip
    """True for a body that turns about the normal of a flat contact, and slides there, both faster than least, m/s."""
    bodies, colliders = physics.rigid_bodies, physics.colliders
    for collider in body.colliders:
        for pair in physics.narrow_phase.contact_pairs_with(collider):
            flat = [each for each in pair.manifolds if len(each.points) > 2] if pair.has_any_active_contact else ()
            other = colliders[pair.collider2 if pair.collider1 == collider else pair.collider1].parent
            velocity, spin = np.array(body.linvel.to_tuple()), np.array(body.angvel.to_tuple())
            if other is not None:
                below = bodies[other]
                apart = np.subtract(body.center_of_mass.to_tuple(), below.center_of_mass.to_tuple())
                turning = np.array(below.angvel.to_tuple())
                velocity -= np.array(below.linvel.to_tuple()) + np.cross(turning, apart)
                spin -= turning
                if other in surfaces:
                    pose = matrix_of(below.position)
                    running, turning = surfaces[other].in_world(pose)
                    velocity -= running + np.cross(turning, body.center_of_mass.to_tuple() - pose[:3, 3])
                    spin -= turning
            rim, speed = radius * float(np.linalg.norm(spin)), float(np.linalg.norm(velocity))
            slips = min(rim, speed) > max(least, 0.2 * max(rim, speed))
            for manifold in flat if slips else ():
                normal = np.array(manifold.data.normal.to_tuple())
                turns = abs(float(spin @ normal)) > 0.9 * float(np.linalg.norm(spin))
                if turns and abs(float(velocity @ normal)) < 0.1 * speed:
                    return True
    return False
