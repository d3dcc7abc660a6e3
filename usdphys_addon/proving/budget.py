# SPDX-License-Identifier: GPL-3.0-or-later
"""The seconds that a proof may use. What cannot be cut, such as a step of an engine, is begun where it fits by what the
last one took."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..core import clock

#: Seconds that a program gets at least, if the budget has them: it needs some to come up.
LEAST_RUN = 20.0


class OutOfTimeError(Exception):
    """The seconds were used up in the middle of a run. What it was for is left out, and named."""


class Budget:
    """Seconds that may be used. What does not fit is left out, and named."""

    def __init__(self, seconds: float, used: float = 0.0) -> None:
        """used: of them, before the start."""
        self.seconds = seconds
        self._start = clock.now() - used
        #: Seconds that the first piece of a kind took, such as the first step of an engine with an asset.
        self.first: dict[Hashable, float] = {}

    @property
    def used(self) -> float:
        """Seconds since the start."""
        return clock.now() - self._start

    def has(self, share: float = 1.0, needed: float = 0.0) -> bool:
        """True until this share of the seconds is used. needed: seconds that must be left of it."""
        return self.used + needed < share * self.seconds

    def left(self, share: float = 1.0, since: float | None = None) -> float:
        """Seconds for a run of a program: those of the share, or LEAST_RUN, and never more than the whole budget has.
        since: when it began, in seconds that were used; None: now."""
        used = self.used
        least = LEAST_RUN - (used - since if since is not None else 0.0)
        return max(0.0, min(max(share * self.seconds - used, least), self.seconds - used))


#: The budget that runs of this process end with.
_ENDING: ContextVar[Budget | None] = ContextVar("_ENDING", default=None)


@contextmanager
def ending_with(budget: Budget) -> Iterator[None]:
    """Within it, a run for whose next piece there is no time raises OutOfTimeError."""
    token = _ENDING.set(budget)
    try:
        yield
    finally:
        _ENDING.reset(token)


def check_time(needed: float = 0.0) -> None:
    """Raise OutOfTimeError where the seconds of `ending_with` are used up, or have no room for what is needed."""
    budget = _ENDING.get()
    if budget is not None and budget.used + needed > budget.seconds:
        raise OutOfTimeError


class Pace:
    """What the pieces of a run take, such as its steps. A piece is as long as the one before it; the first one, as the
    first one of an earlier run of its kind."""

    def __init__(self, kind: Hashable = None) -> None:
        self._kind, self._budget = kind, _ENDING.get()
        self._is_first, self._begun, self._last = True, 0.0, -1.0

    def begin(self) -> None:
        """Before a piece. Raises OutOfTimeError if it does not fit."""
        self._is_first = self._last < 0.0
        first = self._budget.first if self._budget is not None else {}
        check_time(first.get(self._kind, 0.0) if self._is_first else self._last)
        self._begun = clock.now()

    def end(self) -> None:
        """After it."""
        self._last = clock.now() - self._begun
        if self._is_first and self._kind is not None and self._budget is not None:
            self._budget.first[self._kind] = self._last
