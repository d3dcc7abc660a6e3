# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a robot that nothing holds to the world stands, which a URDF does not say."""

from __future__ import annotations

import math

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..core.validate import Issue

#: Metres, and elements of a rotation matrix, that are no other place.
_SAME = 1e-5


def left_out(path: str, name: str, place: Matrix) -> list[Issue]:
    """An issue where the first link of a robot is elsewhere than in its URDF.

    path: of its prim. name: of the link. place: its frame (4, 4), m, in the space in which the URDF has it at the
    origin.
    """
    if np.abs(place - np.eye(4)).max() <= _SAME:
        return []
    where = ", ".join(f"{part:.4g}" for part in (place[:3, 3] + 0.0).tolist())
    angle = math.degrees(float(np.linalg.norm(frames.rotation_vector(frames.rotation_of(place)))))
    turned = f", turned by {angle:.4g} degrees" if angle > math.degrees(_SAME) else ""
    return [Issue(
        "UrdfPlaceLeftOut", "info", path, name,
        f"A URDF does not say where a robot stands: '{name}' is at ({where}) m{turned} here, and at the origin there.",
        "Place the robot where the URDF is loaded, or hold it to the world by a joint.",
    )]  # fmt: skip
