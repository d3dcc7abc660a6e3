# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work as a generator, so that a caller may handle events, show progress, or give up between two steps."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
#: Yields the completed fraction of the work after each step, and returns its result.
Steps = Generator[float, None, Result]


def finished(steps: Steps[Result]) -> Result:
    """Run all steps at once. Returns the result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result


def part(steps: Steps[Result], low: float, high: float) -> Steps[Result]:
    """Steps that are a part of larger work: their fraction goes from `low` to `high`."""
    while True:
        try:
            fraction = next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result
        yield low + (high - low) * fraction
