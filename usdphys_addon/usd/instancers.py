# SPDX-License-Identifier: GPL-3.0-or-later
"""Point instancers among the prototypes of others: what multiplies, and what never ends."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cache

from pxr import Usd, UsdGeom, Vt

#: Levels of instancers among prototypes at which Blender ends.
_SHOWN_LEVELS = 8
#: USD asks for bounds of prototypes by recursion, each one of them anew: levels and visits that it is left to do.
_ASKED_LEVELS, _MOST_VISITS = 50, 10_000


class Instancers:
    """The point instancers of a stage, by path."""

    def __init__(self, prims: Mapping[str, Usd.Prim]) -> None:
        self.prims, self._ordered = prims, sorted(prims)
        self._targets = cache(self._targets_of)

    def multiplying(self, most: int) -> str:
        """Path of one that shows more than so many instances, counted with those of instancers among its prototypes;
        or "".
        """

        @cache
        def shown(path: str, level: int) -> int:
            number = self._number(path)
            below = (sum(shown(name, level + 1) for name in self._at(one)) for one in self._targets(path)[:number])
            return number * (1 + (max(below, default=0) if level < _SHOWN_LEVELS else 0))

        return next((path for path in self._at("") if shown(path, 0) > most), "")

    def endless(self) -> set[str]:
        """Paths of those of which USD never, or after too long, tells the bounds: one leads back to itself, or to too
        many others.
        """

        @cache
        def visits(path: str, level: int) -> int:
            number = 1
            for target in self._targets(path):
                for name in self._at(target):
                    if level >= _ASKED_LEVELS or number > _MOST_VISITS:
                        return _MOST_VISITS + 1
                    number += visits(name, level + 1)
            return number

        return {path for path in self._ordered if visits(path, 0) > _MOST_VISITS}

    def _number(self, path: str) -> int:
        """Instances of its own, at the default time or at the earliest."""
        attribute = UsdGeom.PointInstancer(self.prims[path]).GetProtoIndicesAttr()
        default, earliest = attribute.Get(), attribute.Get(Usd.TimeCode.EarliestTime())
        indices = earliest if default is None else default
        return len(indices) if isinstance(indices, Vt.IntArray) else 0

    def _targets_of(self, path: str) -> list[str]:
        return [str(one) for one in UsdGeom.PointInstancer(self.prims[path]).GetPrototypesRel().GetForwardedTargets()]

    def _at(self, path: str) -> Iterator[str]:
        """The instancers at a path or below it, without those below one of them: they are prototypes at most."""
        last = "/ "
        # "/" sorts before all letters of names.
        for name in self._ordered[bisect_left(self._ordered, path) : bisect_left(self._ordered, f"{path}0")]:
            if (name == path or name.startswith(f"{path}/")) and not name.startswith(f"{last}/"):
                last = name
                yield name
