# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work as a generator: between two steps a caller may handle events, show progress, or give up.

To give up, close the generator: its `finally` clauses leave everything as it was.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from . import clock

Result = TypeVar("Result")
#: Yields the completed fraction of the work after each step, and returns its result.
Steps = Generator[float, None, Result]


class Next(float):
    """A completed fraction, yielded before a long step that cannot be interrupted. about: message about that step.

    A caller that shows messages shows it before it asks for the next step.
    """

    about: str

    def __new__(cls, fraction: float, about: str) -> Next:
        value = super().__new__(cls, fraction)
        value.about = about
        return value


def finished(steps: Steps[Result]) -> Result:
    """Run all steps at once. Returns the result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result


def advance(steps: Steps[Result], seconds: float) -> float:
    """Run steps for some seconds, at least one, and no further than a `Next`, which waits for another call.

    With infinite seconds no `Next` holds it up. Returns the completed fraction. Raises StopIteration with the result at
    the end, as `next` does.
    """
    end = clock.now() + seconds
    fraction = next(steps)
    while clock.now() < end and not (isinstance(fraction, Next) and seconds < float("inf")):
        fraction = next(steps)
    return fraction


def gains(steps: Steps[Result]) -> Generator[float, None, tuple[Result, float]]:
    """Run steps, and yield after each how much of the work it did: the increase of the fraction since the step before.

    A caller that adds the increases of many such works has the progress of the whole. Returns (result of the steps,
    last fraction), because a work may end before its fraction is 1.
    """
    before = 0.0
    while True:
        try:
            fraction = next(steps)
        except StopIteration as done:
            return done.value, before
        gain, before = float(fraction) - before, float(fraction)
        yield Next(gain, fraction.about) if isinstance(fraction, Next) else gain


def part(steps: Steps[Result], low: float, high: float) -> Steps[Result]:
    """Run steps as a part of larger work, whose fraction goes from `low` to `high` meanwhile. Returns the result."""
    while True:
        try:
            fraction = next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result
        whole = low + (high - low) * fraction
        yield Next(whole, fraction.about) if isinstance(fraction, Next) else whole
