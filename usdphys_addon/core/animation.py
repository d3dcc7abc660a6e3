# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of physics that change over time: which ones of a model, and what they are when.

A moment is a number of seconds since the zero of the timeline or of the time codes of a stage.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Key(NamedTuple):
    """One animated value: path of its prim, name of its schema with instance, and field."""

    path: str
    schema: str
    field: str


@dataclass(slots=True)
class Samples:
    """What an animated value is when. moments: s, ascending. values: SI, one for each moment; none where it is only
    known that the value is animated. by: what animates it, as users read it. times: "keys" or "frames".
    """

    moments: list[float] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    by: str = "time samples"
    times: str = "keys"

    def at(self, moment: float) -> Any:
        """The value at a moment: between numbers evenly, all else is held. Before the first and after the last, those.

        None without samples.
        """
        if not self.moments:
            return None
        after = bisect_right(self.moments, moment + 1e-9)
        if after == 0:
            return self.values[0]
        before = self.values[after - 1]
        if after == len(self.moments):
            return before
        start, end = self.moments[after - 1], self.moments[after]
        return between(before, self.values[after], (moment - start) / (end - start))


Animated = Mapping[Key, Samples]


def between(first: Any, second: Any, part: float) -> Any:
    """A value that is a part of the way from the first to the second; the first for all that is no number."""
    if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        return tuple(between(one, other, part) for one, other in zip(first, second, strict=True))
    if isinstance(first, float) and isinstance(second, float):
        step = (second - first) * part
        # Both infinite, or one of them.
        return first + step if step - step == 0.0 else first
    return first


def is_switch(value: Any) -> bool:
    """True for a value that has no values between."""
    return isinstance(value, bool | str)


def at(animated: Animated, moment: float) -> dict[Key, Any]:
    """The values that are known at a moment."""
    values = {key: samples.at(moment) for key, samples in animated.items()}
    return {key: value for key, value in values.items() if value is not None}


def same(first: Samples, second: Samples, equal: Callable[[Any, Any], bool]) -> bool:
    """True where two curves are the same at all moments of both. equal: compares two values."""
    moments: Sequence[float] = sorted({*first.moments, *second.moments})
    return all(equal(first.at(moment), second.at(moment)) for moment in moments)
