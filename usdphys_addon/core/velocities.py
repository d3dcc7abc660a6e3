# SPDX-License-Identifier: GPL-3.0-or-later
"""In which space the initial velocities of a body are, by the specification and for simulators."""

from __future__ import annotations

import math

import numpy as np

from . import frames
from .frames import Matrix
from .model import Prim
from .schemas.usd_physics import RigidBodyAPI

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


def has_velocity(prim: Prim) -> bool:
    """True for a body that starts with a velocity."""
    body = prim.get(RigidBodyAPI)
    return body is not None and (any(body.resolved("velocity")) or any(body.resolved("angular_velocity")))


def asks_for_own_axes(prim: Prim, to_file: Matrix, *, is_in_other_units: bool) -> bool:
    """True where PhysX has to be asked for the axes of the body, in which the specification has its velocities.

    PhysX takes velocities along the axes of the world. Where it is asked for those of the body, it multiplies them by
    the scale of the prim, too. Others do so only for a scale that converts units, so PhysX is not asked for a body with
    another scale.
    to_file: rotation (3, 3) from Z up to the axes of the file. is_in_other_units: a scale may convert units above it.
    """
    if not has_velocity(prim):
        return False
    linear = to_file @ prim.world[:3, :3]
    scale = frames.scale_of(linear)
    is_plain = bool(np.abs(scale - 1.0).max() < 1e-3)
    if not is_plain and not abs(velocity_scale(linear) / scale[0] - 1.0) < 1e-3:
        return False
    return is_in_other_units or bool(np.abs(frames.rotation_of(linear) - np.eye(3)).max() > 1e-6)
