# SPDX-License-Identifier: GPL-3.0-or-later
"""Curve objects that are cables, and their points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_cable(obj: Any) -> bool:
    """True for a curve object that is written as a cable."""
    if obj.type != "CURVE":
        return False
    physics = obj.usdphys
    return bool(physics.is_property_set("cable") and physics.cable.is_applied)


def line_of(data: Any) -> NDArray[np.float64] | None:
    """The points (n, 3) of a curve, in its own space; None unless it is one open line of straight parts."""
    splines = data.splines
    if len(splines) != 1 or splines[0].type != "POLY" or splines[0].use_cyclic_u or len(splines[0].points) < 2:
        return None
    flat = np.empty(4 * len(splines[0].points), np.float32)
    splines[0].points.foreach_get("co", flat)
    return flat.reshape(-1, 4)[:, :3].astype(float)
