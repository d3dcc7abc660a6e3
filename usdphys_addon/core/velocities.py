# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scale of a prim makes of its velocity."""

from __future__ import annotations

import math

import numpy as np

from . import frames
from .frames import Matrix

#: A scale that is one of these ratios of length units, to _SAME, converts from one to another. Those that objects have
#: for other reasons are none.
_METERS = (1e-3, 1e-2, 0.1, 1.0, 1e3, 0.0254, 0.3048)
_ORDINARY = (1.0, 10.0, 0.1, 12.0)
_SAME = 1e-4
_RATIOS = tuple(
    ratio for ratio in sorted({first / second for first in _METERS for second in _METERS})
    if not any(math.isclose(ratio, other) for other in _ORDINARY)
)  # fmt: skip


def velocity_scale(stretch: Matrix) -> float:
    """Factor of a body's velocity, in its rotation. stretch: (3, 3), its scale and shear.

    It is 1, or the scale if that converts length units, as a root prim's may; negative for a mirrored prim, because a
    rotation cannot mirror.
    """
    scale = frames.scale_of(stretch)
    sign = math.copysign(1.0, scale[0])
    if not frames.is_uniform(np.abs(scale)):
        return sign
    size = float(abs(scale[0]))
    return sign * size if any(abs(size / ratio - 1.0) < _SAME for ratio in _RATIOS) else sign
