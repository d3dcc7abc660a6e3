# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers, poses and values as the text of MJCF has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core import frames
from .values import Floats


def row(values: Iterable[Any]) -> str:
    """Numbers as text: as short as they are exact to 1e-12."""
    return " ".join(f"{float(value):.12g}" for value in np.ravel(np.asarray(list(values), float))).replace("-0 ", "0 ")


def short(values: Iterable[Any]) -> str:
    """Numbers that were 32-bit floats as text."""
    return " ".join(f"{float(value) + 0.0:.7g}" for value in values)


def placed(pose: Floats, *, always: bool = False) -> str:
    """Attributes of a pose (4, 4), none for what is the identity. always: the place is given in any case."""
    words = f' pos="{row(pose[:3, 3])}"' if always or np.abs(pose[:3, 3]).max() > 0 else ""
    turn = frames.quaternion_of(pose[:3, :3])
    return words if frames.is_identity(turn, 1e-12) else f'{words} quat="{row(turn)}"'


def option(value: Any) -> str:
    """A value of the scene."""
    if isinstance(value, bool):
        return "enable" if value else "disable"
    if isinstance(value, tuple):
        return row(value)
    named = {"euler": "Euler", "rk4": "RK4", "pgs": "PGS", "cg": "CG", "newton": "Newton"}
    return named.get(value, value) if isinstance(value, str) else f"{value:.9g}"
