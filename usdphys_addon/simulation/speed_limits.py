# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints of trees that are faster than they may be: what slows them down acts on the bodies of both sides.

A speed that is cut off alone would leave the others as they are, and so give energy to the bodies behind the joint.
"""

from __future__ import annotations

import numpy as np

from ..core.frames import Matrix

#: Rounds in which it is found out which joints are braked, and in which they are braked one after the other where that
#: finds nothing; part of a largest speed that is none.
_SEARCHES, _ROUNDS, _LEFT = 20, 50, 1e-9


def braked(speeds: Matrix, yielding: Matrix, most: Matrix) -> Matrix:
    """The impulses (k,), N s or N m s, by which no joint is faster than it may be, with the least change of energy.

    speeds, most: (k,), m/s or rad/s. yielding: (k, k), how much faster an impulse on each makes each of them.
    """
    # Towards which side each one is as fast as it may be; 0 for those that are left alone.
    sides = np.sign(speeds) * (np.abs(speeds) > most)
    for _ in range(_SEARCHES):
        rows = np.flatnonzero(sides)
        impulses = np.zeros(len(speeds))
        wanted = sides[rows] * most[rows] - speeds[rows]
        impulses[rows] = np.linalg.lstsq(yielding[np.ix_(rows, rows)], wanted, rcond=None)[0]
        after = speeds + yielding @ impulses
        # What others have slowed down needs no impulse; what they have made faster does.
        found = np.where(impulses * sides > 0.0, 0.0, sides)
        is_over = (sides == 0.0) & (np.abs(after) > most * (1.0 + _LEFT))
        found[is_over] = np.sign(after[is_over])
        if np.array_equal(found, sides):
            return impulses
        sides = found
    return _one_by_one(speeds, yielding, most)


def _one_by_one(speeds: Matrix, yielding: Matrix, most: Matrix) -> Matrix:
    """The same, nearly, by braking one joint after the other."""
    impulses, now = np.zeros(len(speeds)), np.array(speeds, float)
    for _ in range(_ROUNDS):
        for row, own in enumerate(np.diag(yielding)):
            if own > 0.0:
                # Without what it has got so far; a joint that others have slowed down needs no more.
                alone = now[row] - own * impulses[row]
                change = (min(max(alone, -most[row]), most[row]) - alone) / own - impulses[row]
                impulses[row] += change
                now += yielding[:, row] * change
    return impulses
