# SPDX-License-Identifier: GPL-3.0-or-later
"""Articulated bodies whose numbers are not finite any more go on from an earlier state, in maximal coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rapier3d import PhysicsWorld

from ..engine import FASTEST
from . import carriers
from .constraints import Constraint

#: Time steps between states that are kept for a rescue.
SANE_STEPS = 10


class Rescuer:
    """The kept states of the articulated bodies of a scene."""

    def __init__(self) -> None:
        #: By path (pose, linear and angular velocity): the last but one, and the last.
        self._sane: list[dict[str, tuple[Any, Any, Any]]] = []
        self._steps_made = 0

    def rescue(self, physics: PhysicsWorld, handles: Mapping[str, Any], constraints: Sequence[Constraint]) -> list[str]:
        """Paths of bodies that were quarantined in the last step.

        Trees that hold any of them switch to maximal coordinates, and their bodies are enabled again. Bodies that are
        in no tree stay disabled.
        """
        numbers = {handle: path for path, handle in handles.items()}
        lost = [numbers[handle] for handle in physics.quarantine.bodies if handle in numbers]
        reached, links = set(lost), list[Constraint]()
        reduced = [item for item in constraints if item.tree_link is not None and item.state.reduced]
        while touching := [item for item in reduced if item not in links and reached & _ends(item)]:
            links += touching
            reached.update(*map(_ends, touching))
        freed = set().union(*map(_ends, links))
        self._restore(physics, handles, freed)
        carrying = {carriers.carrier_of(physics, handles[path]) for path in freed} - {None}
        for constraint in links:
            constraint.leave_tree(physics)
        for carrier in carrying:
            physics.remove_body(carrier)
        for path in lost:
            if path in freed:
                physics.rigid_bodies[handles[path]].is_enabled = True
        return lost

    def remember(self, physics: PhysicsWorld, handles: Mapping[str, Any], constraints: Sequence[Constraint]) -> None:
        """Keep the states of articulated bodies, to go on from after a rescue: by then speeds have grown for long."""
        self._steps_made += 1
        if self._steps_made % SANE_STEPS != 1:
            return
        bodies = physics.rigid_bodies
        paths = set().union(*(_ends(item) for item in constraints if item.state.reduced))
        states = {}
        for path in paths:
            body = bodies[handles[path]]
            speeds = (*body.linvel.to_tuple(), *body.angvel.to_tuple())
            if not all(abs(speed) < FASTEST for speed in speeds):
                return
            states[path] = (body.position, body.linvel, body.angvel)
        self._sane = [*self._sane[-1:], states]

    def _restore(self, physics: PhysicsWorld, handles: Mapping[str, Any], paths: set[str]) -> None:
        """Bring bodies back to the older of the two kept states."""
        for path, (position, linear, angular) in (self._sane[0] if self._sane else {}).items():
            if path in paths:
                body = physics.rigid_bodies[handles[path]]
                body.position, body.linvel, body.angvel = position, linear, angular


def _ends(constraint: Constraint) -> set[str]:
    """The bodies of a joint, without the world."""
    return {constraint.facts.body0, constraint.facts.body1} - {""}
