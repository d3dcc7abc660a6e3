# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work as a generator, so that a caller may handle events, show progress, or give up between two steps."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
#: Yields the completed fraction of the work after each step, and returns its result.
Steps = Generator[float, None, Result]


class Next(float):
    """A completed fraction before a step that cannot be cut. about: message that says what it makes."""

    about: str

    def __new__(cls, fraction: float, about: str) -> Next:
        made = super().__new__(cls, fraction)
        made.about = about
        return made


def finished(steps: Steps[Result]) -> Result:
    """Run all steps at once. Returns the result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result


def gains(steps: Steps[Result]) -> Generator[float, None, tuple[Result, float]]:
    """Steps that yield what each has added to the fraction; they return the result, and the sum of that."""
    told = 0.0
    while True:
        try:
            fraction = next(steps)
        except StopIteration as done:
            return done.value, told
        gain, told = float(fraction) - told, float(fraction)
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
