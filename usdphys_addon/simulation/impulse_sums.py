# SPDX-License-Identifier: GPL-3.0-or-later
"""Impulses between what touches, summed over the steps that a solver makes in a time step. For all solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


class ImpulseSums:
    """`Engine.contact_impulses`. Nothing is measured before the first call of `measured`."""

    def __init__(self) -> None:
        #: By the paths of two bodies or static colliders, sorted, N s.
        self._sums: dict[tuple[str, str], float] | None = None

    @property
    def is_on(self) -> bool:
        return self._sums is not None

    def measured(self) -> Mapping[tuple[str, str], float]:
        """The sums of the last time step; they are measured from the first call on."""
        if self._sums is None:
            self._sums = {}
        return self._sums

    def begin(self) -> None:
        """A time step begins."""
        if self._sums is not None:
            self._sums = {}

    def add(self, path_of: Mapping[Any, str], touching: Iterable[tuple[Any, Any, Callable[[], float]]]) -> None:
        """Add the impulses of a step of the solver, while they are measured.

        touching: two bodies as the solver names them, and what reads the impulse between them, N s.
        path_of: paths by the solver's name; contacts of others are left out.
        """
        assert self._sums is not None
        for first, second, impulse in touching:
            path, other = path_of.get(first), path_of.get(second)
            if path is not None and other is not None:
                pair = (min(path, other), max(path, other))
                self._sums[pair] = self._sums.get(pair, 0.0) + impulse()
