# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches numbers between 0 and 1 until residuals that a run gives for them are small. It knows no simulation.

A searcher is a generator: it yields the numbers to try and is sent their residuals, in tolerances. Runs that bounce
have residuals with steps and kinks, at which descents end: so they are short, and start at many places.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Searcher = Generator[Floats, Floats, None]

#: Samples before the first descent.
_FIRST = 5
#: Spread of samples near the best point, for each tolerance that it misses by; distance of starts of descents.
_NEAR, _APART = 2e-3, 0.04
#: Looks near a best point that does not become much better, after which the search goes elsewhere.
_LOOKS = 2
#: Difference by which derivatives are taken.
_STEP = 2e-3
#: Steps of a descent, and those in vain after which it ends; both far from the goal and near it, in tolerances.
_STEPS, _VAIN, _VAIN_NEAR, _CLOSE = 14, 2, 4, 1.4
#: Part of the range that a step of a descent goes at most.
_REACH = 0.25


class _Tried(NamedTuple):
    point: Floats
    residual: Floats

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.residual))


def searcher(start: Floats, seed: int, likely: Sequence[Floats] = ()) -> Searcher:
    """Searches from `start` (d,) on, without an end: the caller closes it. likely: points (d,) that are tried next."""
    rng = np.random.default_rng(seed)
    count = len(start)
    # The additive recurrence of the generalised golden ratio spreads any number of points evenly.
    ratio = 2.0
    for _ in range(60):
        ratio = (1.0 + ratio) ** (1.0 / (count + 1))
    strides = ratio ** -np.arange(1.0, count + 1)
    offset, number = rng.random(count), 0
    tried = [_Tried(start, (yield start))]
    used: list[_Tried] = []
    for point in likely:
        residual = yield point
        tried.append(_Tried(point, residual))
    if likely:
        at = min(tried, key=lambda one: one.size)
        descent = yield from _descent(at)
        used += [at, min([at, *descent], key=lambda one: one.size)]
        tried += descent
    # Looks near the best point since it became much better; a kink may hold it.
    looks, known = 0, np.inf
    while True:
        best = min(tried, key=lambda one: one.size)
        point = (offset + number * strides) % 1.0
        if best.size < 0.8 * known:
            looks, known = 0, best.size
        if number % 3 == 2 and looks < _LOOKS:
            looks += 1
            point = np.clip(best.point + rng.normal(0.0, np.clip(_NEAR * best.size, _NEAR, 0.1), count), 0.0, 1.0)
        number += 1
        sample = _Tried(point, (yield point))
        tried.append(sample)
        if number < _FIRST:
            continue
        fresh = [one for one in tried if not any(_is_used_up(one, other) for other in used)]
        # The best point often lies at a kink that holds it: every second descent begins at the new sample.
        at = min(fresh, key=lambda one: one.size) if fresh and number % 2 and looks < _LOOKS else sample
        descent = yield from _descent(at)
        used += [at, min([at, *descent], key=lambda one: one.size)]
        tried += descent


def _is_used_up(one: _Tried, other: _Tried) -> bool:
    """True if a descent from one point would go where that of another, which was no worse, has gone."""
    return other.size <= one.size and float(np.abs(one.point - other.point).max()) < _APART


def _descent(at: _Tried) -> Generator[Floats, Floats, list[_Tried]]:
    """Damped Gauss-Newton steps with updates of the derivatives. Returns what was tried."""
    tried: list[_Tried] = []
    slopes = yield from _slopes(at, _STEP, tried)
    reach, damping, vain = _REACH, 1e-3, 0
    for _ in range(_STEPS):
        square = slopes.T @ slopes
        step = -np.linalg.lstsq(
            square + damping * np.diag(np.maximum(np.diag(square), 1e-9)), slopes.T @ at.residual, rcond=None
        )[0]
        step *= min(1.0, reach / (float(np.abs(step).max()) or 1.0))
        point = np.clip(at.point + step, 0.0, 1.0)
        step = point - at.point
        length = float(step @ step)
        if length < 1e-16:
            break
        now = _Tried(point, (yield point))
        tried.append(now)
        if now.size < at.size:
            slopes = slopes + np.outer(now.residual - at.residual - slopes @ step, step) / length
            reach, damping = (min(_REACH, reach * 1.5), damping * 0.3) if now.size < 0.7 * at.size else (reach, damping)
            at, vain = now, 0
            continue
        vain += 1
        if vain == (_VAIN_NEAR if at.size < _CLOSE else _VAIN):
            break
        reach, damping = 0.3 * float(np.abs(step).max()), damping * 4.0
        if vain == 2:  # only near the goal
            slopes = yield from _slopes(at, 0.2 * _STEP, tried)
    return tried


def _slopes(at: _Tried, difference: float, tried: list[_Tried]) -> Generator[Floats, Floats, Floats]:
    """Derivatives (m, d) of the residual, by one run for each number."""
    slopes = np.empty((len(at.residual), len(at.point)))
    for column in range(len(at.point)):
        point = at.point.copy()
        point[column] += difference if point[column] < 0.5 else -difference
        residual = yield point
        tried.append(_Tried(point, residual))
        slopes[:, column] = (residual - at.residual) / (point[column] - at.point[column])
    return slopes
