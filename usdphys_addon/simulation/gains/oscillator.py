# SPDX-License-Identifier: GPL-3.0-or-later
"""A drive as an oscillator: frequency and damping ratio from and to stiffness and damping, and its step response.

SI units and radians. The inertia is 1 for acceleration drives.
"""

from __future__ import annotations

import math
from typing import NamedTuple

#: Heights of the bars of `sparkline`.
_BARS = "▁▂▃▄▅▆▇█"


class Oscillator(NamedTuple):
    """frequency: Hz, of the undamped oscillator. ratio: of its damping; 1 is critical."""

    frequency: float
    ratio: float

    @property
    def overshoot(self) -> float:
        """How far it goes beyond its target, as a part of the way."""
        if self.ratio >= 1.0:
            return 0.0
        return math.exp(-math.pi * self.ratio / math.sqrt(1.0 - self.ratio**2)) if self.ratio > 0.0 else 1.0

    def response(self, seconds: float) -> float:
        """The part of the way that is done so long after a step of the target, from rest."""
        rate, ratio = 2.0 * math.pi * self.frequency, self.ratio
        time = rate * seconds
        if abs(ratio - 1.0) < 1e-6:
            return 1.0 - math.exp(-time) * (1.0 + time)
        if ratio < 1.0:
            root = math.sqrt(1.0 - ratio * ratio)
            return 1.0 - math.exp(-ratio * time) * (math.cos(root * time) + ratio / root * math.sin(root * time))
        root = math.sqrt(ratio * ratio - 1.0)
        slow, fast = 1.0 / (ratio + root), ratio + root
        return 1.0 - (fast * math.exp(-slow * time) - slow * math.exp(-fast * time)) / (fast - slow)


def gains(oscillator: Oscillator, inertia: float) -> tuple[float, float]:
    """(stiffness, damping)."""
    rate = 2.0 * math.pi * oscillator.frequency
    return inertia * rate * rate, 2.0 * oscillator.ratio * inertia * rate


def oscillator_of(stiffness: float, damping: float, inertia: float) -> Oscillator | None:
    """None without a stiffness or an inertia: nothing oscillates then."""
    if not stiffness > 0.0 or not inertia > 0.0:
        return None
    rate = math.sqrt(stiffness / inertia)
    return Oscillator(rate / (2.0 * math.pi), damping / (2.0 * inertia * rate))


def sparkline(oscillator: Oscillator, seconds: float, count: int = 24) -> str:
    """The step response over some seconds as a row of bars. The target has five eighths of the height."""
    parts = [oscillator.response(seconds * (index + 1) / count) for index in range(count)]
    return "".join(_BARS[min(max(round(part * 4.0), 0), len(_BARS) - 1)] for part in parts)
