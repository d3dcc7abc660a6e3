# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work as a generator, so that a caller may handle events, show progress, or give up between two steps."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
#: Yields the completed fraction of the work after each step, and returns its result.
Steps = Generator[float, None, Result]


class Next(float):
    """A completed fraction, yielded before a long step that cannot be interrupted. about: message about that step."""

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


def gains(steps: Steps[Result]) -> Generator[float, None, tuple[Result, float]]:
    """Run steps, and yield the increase of the fraction in each. Returns (result, sum of the increases)."""
    before = 0.0
    while True:
        try:
            fraction = next(steps)
        except StopIteration as done:
            return done.value, before
        gain, before = float(fraction) - before, float(fraction)
        yield Next(gain, fraction.about) if isinstance(fraction, Next) else gain


def part(steps: Steps[Result], low: float, high: float) -> Steps[Result]:
    """Steps that are a part of larger work: their fraction goes from `low` to `high`."""
    while True:
        try:
            fraction = next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result
        whole = low + (high - low) * fraction
        yield Next(whole, fraction.about) if isinstance(fraction, Next) else whole
