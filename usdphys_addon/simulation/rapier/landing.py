# SPDX-License-Identifier: GPL-3.0-or-later
"""Slender bodies that land on a narrow face: how often their contacts are balanced.

Where a column falls flat, the solver corrects one corner of its foot after the other, and what a corner does to the
others it takes out in more sweeps. Each sweep takes out a part that is the smaller, the more the body resists to be
turned about an edge of its foot: with few sweeps a corner is left that is lifted, and a domino topples. That holds of
the sweeps with which the solver finds the impulses, and of those with which it takes out its corrections.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rapier3d import IntegrationParameters

from . import tuning

#: A body lands that moves further in a time step than this part of its width: slower, it is at rest or slides.
LANDS = 0.02
#: Sweeps times bodies of a world of the solver, at most: they cost some milliseconds.
MOST = 4000


def sweeps_of(mass: float, moment: float, width: float) -> float:
    """Sweeps that balance the contacts of a body. moment: the largest one, kg m2. width: of its narrowest face, m."""
    return tuning.LANDING_SWEEPS * moment / (mass * (0.5 * width) ** 2) if mass > 0.0 and width > 0.0 else 0.0


class Landings:
    """sweeps, widths (n,): of the bodies of a world of the solver; sweeps are 0 of a body that is not looked at."""

    def __init__(self, sweeps: NDArray[np.float64], widths: NDArray[np.float64], plain: IntegrationParameters) -> None:
        """plain: with the sweeps of the world when none lands."""
        self._plain = plain.num_internal_pgs_iterations, plain.num_internal_stabilization_iterations
        most = MOST // max(len(sweeps), 1)
        self._rows = np.flatnonzero(np.minimum(sweeps, most) > min(self._plain))
        self._sweeps, self._ways = np.minimum(sweeps[self._rows], most), LANDS * widths[self._rows]

    def balance(self, parameters: IntegrationParameters, ways: NDArray[np.float64]) -> None:
        """Set the sweeps of the next time step. ways (n,): m, in the last one."""
        if not len(self._rows):
            return
        wanted = int(self._sweeps[ways[self._rows] > self._ways].max(initial=0.0))
        parameters.num_internal_pgs_iterations = max(self._plain[0], wanted)
        parameters.num_internal_stabilization_iterations = max(self._plain[1], wanted)
