# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies hit what while a world was simulated: the contacts that began with more than some impulse."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .world import World

#: Seconds from the step in which a contact begins, over which its impulse is summed: what a blow takes in the solver.
BLOW = 1.0 / 30.0
#: Seconds that a pair must be apart before it can begin to touch again: resting bodies tremble.
APART = 0.1


class Contact(NamedTuple):
    """seconds: at the end of the time step in which it began. first, second: paths of what touches, bodies or static
    colliders, sorted. impulse: N s, along the normals, of the blow with which it began."""

    seconds: float
    first: str
    second: str
    impulse: float


class _Blow:
    """A contact that has begun. frame: time step. impulse: sum until now, N s."""

    def __init__(self, frame: int, seconds: float) -> None:
        self.frame, self.seconds, self.impulse = frame, seconds, 0.0


class ContactHistory:
    """Call `note` after each step of the world. What touches in the first step was there before the simulation."""

    def __init__(self, world: World, least: float) -> None:
        """least: N s, below which the begin of a contact is not kept."""
        self._world, self._least = world, least
        self._blow, self._apart = (max(1, math.ceil(time / world.time_step - 1e-6)) for time in (BLOW, APART))
        #: The last time step in which each pair touched, and the blows that are still summed.
        self._last: dict[tuple[str, str], int] = {}
        self._blows: dict[tuple[str, str], _Blow] = {}
        self._found: list[Contact] = []
        world.contact_impulses()  # they are measured from here on
        self._first = world.frame + 1

    def note(self) -> None:
        """Take the contacts of the time step that the world has made."""
        world, now = self._world, self._world.frame
        for pair, impulse in world.contact_impulses().items():
            last = self._last.get(pair)
            self._last[pair] = now
            if (last is None or now - last > self._apart) and now != self._first:
                self._blows[pair] = _Blow(now, world.time)
            if (blow := self._blows.get(pair)) is not None:
                blow.impulse += impulse
        for pair, blow in list(self._blows.items()):
            if now - blow.frame >= self._blow:
                self._keep(pair, self._blows.pop(pair))

    def _keep(self, pair: tuple[str, str], blow: _Blow) -> None:
        if blow.impulse >= self._least:
            self._found.append(Contact(blow.seconds, *pair, blow.impulse))

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """In the order in which they began. The blow of the last ones may not be over yet."""
        pending = [
            Contact(blow.seconds, *pair, blow.impulse)
            for pair, blow in self._blows.items() if blow.impulse >= self._least
        ]  # fmt: skip
        return tuple(sorted((*self._found, *pending)))
