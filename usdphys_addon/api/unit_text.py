# SPDX-License-Identifier: GPL-3.0-or-later
"""Units as people write them: "g", "cm", "N·m/rad", "kg/m^3". Read into a dimension and a factor to SI and radians."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ..core import units
from ..core.units import Dimension

#: (dimension, factor to SI and radians) by symbol.
_SYMBOLS: dict[str, tuple[Dimension, float]] = {
    "m": (units.LENGTH, 1.0), "km": (units.LENGTH, 1e3), "cm": (units.LENGTH, 1e-2), "mm": (units.LENGTH, 1e-3),
    "in": (units.LENGTH, 0.0254), "ft": (units.LENGTH, 0.3048),
    "kg": (units.MASS, 1.0), "g": (units.MASS, 1e-3), "t": (units.MASS, 1e3), "lb": (units.MASS, 0.45359237),
    "rad": (units.ANGLE, 1.0), "deg": (units.ANGLE, math.radians(1.0)), "°": (units.ANGLE, math.radians(1.0)),
    "s": (units.TIME, 1.0), "ms": (units.TIME, 1e-3), "min": (units.TIME, 60.0), "h": (units.TIME, 3600.0),
    "Hz": (units.RATE, 1.0), "N": (units.FORCE, 1.0), "kN": (units.FORCE, 1e3), "1": (units.NONE, 1.0),
}  # fmt: skip
_PART = re.compile(r"([A-Za-z°]+|1)(?:\^?(-?\d+|[²³]))?")
_POWERS = {"²": 2, "³": 3}


class Unit(NamedTuple):
    """factor: SI value, in radians, of one of these."""

    dimension: Dimension
    factor: float


def symbols() -> str:
    """The symbols that a unit is written with."""
    return ", ".join(symbol for symbol in _SYMBOLS if symbol != "1")


def read_unit(text: str) -> Unit | None:
    """The unit of a text, None for one that cannot be read. All behind the first "/" is below the line: "N·m·s/°"."""
    dimension, factor = units.NONE, 1.0
    above, _, below = text.replace(" ", "·").partition("/")
    for side, sign in ((above, 1), (below, -1)):
        for part in re.split(r"[·*/]", side.strip("()")) if side else ():
            match = _PART.fullmatch(part)
            if match is None or match[1] not in _SYMBOLS:
                return None
            power = sign * (_POWERS.get(match[2]) or int(match[2] or 1))
            own, size = _SYMBOLS[match[1]]
            dimension = Dimension(*(one + power * other for one, other in zip(dimension, own, strict=True)))
            factor *= size**power
    return Unit(dimension, factor) if text.strip() else None
