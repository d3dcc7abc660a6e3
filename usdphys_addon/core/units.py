# SPDX-License-Identifier: GPL-3.0-or-later
"""Stage units (metersPerUnit, kilogramsPerUnit, up axis, degrees) to SI, radians and Z up, and back.

Every conversion is driven by the dimension that the schema table declares for an attribute.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from .errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Numbers from here on count as infinite: many files write the largest 32-bit float for "no limit".
PRACTICALLY_INFINITE = 1e37
#: Smallest unit (m or kg); with smaller units or ones above its inverse, densities and inertias overflow.
SMALLEST_UNIT = 1e-20
#: Least and most frames or time codes per second.
FRAME_RATES = (0.01, 100_000.0)
#: Times further from zero are refused: frames beside each other would be the same number.
LATEST_TIME = 1e9


def is_infinite(value: float) -> bool:
    """True for both infinities, and for numbers of at least PRACTICALLY_INFINITE."""
    return abs(value) >= PRACTICALLY_INFINITE


class Dimension(NamedTuple):
    """Exponents of length, mass, plane angle and time. Time is always in seconds: it tells units apart."""

    length: int = 0
    mass: int = 0
    angle: int = 0
    time: int = 0


NONE = Dimension()
LENGTH = Dimension(length=1)
MASS = Dimension(mass=1)
ANGLE = Dimension(angle=1)
TIME = Dimension(time=1)
DENSITY = Dimension(length=-3, mass=1)
VELOCITY = Dimension(length=1, time=-1)
ANGULAR_VELOCITY = Dimension(angle=1, time=-1)
ACCELERATION = Dimension(length=1, time=-2)
FORCE = Dimension(length=1, mass=1, time=-2)
TORQUE = Dimension(length=2, mass=1, time=-2)
INERTIA = Dimension(length=2, mass=1)
STIFFNESS = Dimension(mass=1, time=-2)
DAMPING = Dimension(mass=1, time=-1)
ANGULAR_STIFFNESS = Dimension(length=2, mass=1, angle=-1, time=-2)
ANGULAR_DAMPING = Dimension(length=2, mass=1, angle=-1, time=-1)
#: Gains of acceleration drives: per second or its square, per angle about an axis.
RATE = Dimension(time=-1)
SQUARED_RATE = Dimension(time=-2)
RATE_PER_ANGLE = Dimension(angle=-1, time=-1)
SQUARED_RATE_PER_ANGLE = Dimension(angle=-1, time=-2)

_NAMES = {
    FORCE: "N", TORQUE: "N·m", STIFFNESS: "N/m", DAMPING: "N·s/m", ANGULAR_STIFFNESS: "N·m/°",
    ANGULAR_DAMPING: "N·m·s/°",
}  # fmt: skip
_POWERS = {1: "", 2: "²", 3: "³"}


def unit_name(dimension: Dimension) -> str:
    """The unit of a property in Blender, where angles are shown in degrees: "kg·m²", "N·m", "1/s"; "" for none."""
    if dimension in _NAMES:
        return _NAMES[dimension]
    parts = (("kg", dimension.mass), ("m", dimension.length), ("°", dimension.angle), ("s", dimension.time))
    above, below = ([(name, abs(power)) for name, power in parts if power * sign > 0] for sign in (1, -1))
    if not above and not below:
        return ""
    text = "·".join(f"{name}{_POWERS.get(power, f'^{power}')}" for name, power in above) or "1"
    return "/".join([text, *(f"{name}{_POWERS.get(power, f'^{power}')}" for name, power in below)])


class StageUnits(NamedTuple):
    """Units and up axis of a stage.

    meters_per_unit: length of one world unit. local_meters_per_unit: length of one unit in prim space, if a root
    prim carries the unit conversion as a scale (None: the same as meters_per_unit).
    kilograms_per_unit: mass of one unit. up_axis: "Y" or "Z".
    """

    meters_per_unit: float = 1.0
    kilograms_per_unit: float = 1.0
    up_axis: Literal["Y", "Z"] = "Z"
    local_meters_per_unit: float | None = None

    @property
    def local(self) -> float:
        """Metres per unit in the local space of the prims."""
        return self.meters_per_unit if self.local_meters_per_unit is None else self.local_meters_per_unit

    def factor(self, dimension: Dimension, *, local: bool = False) -> float:
        """SI value of one stage unit of this dimension. local: the number is in prim space, not world space."""
        meters = self.local if local else self.meters_per_unit
        return float(
            meters**dimension.length * self.kilograms_per_unit**dimension.mass * math.radians(1.0) ** dimension.angle
        )

    def is_like(self, other: StageUnits) -> bool:
        """True where numbers of one are numbers of the other."""
        pairs = (
            (self.meters_per_unit, other.meters_per_unit), (self.kilograms_per_unit, other.kilograms_per_unit)
        )  # fmt: skip
        return self.up_axis == other.up_axis and all(
            abs(one - another) <= 1e-6 * abs(another) for one, another in pairs
        )

    @property
    def to_z_up(self) -> NDArray[np.float64]:
        """Rotation (3, 3), column vectors, from the stage's world axes to Z up."""
        # Lazy import: this module is loaded at start-up and numpy imports slowly.
        import numpy as np

        if self.up_axis == "Z":
            return np.eye(3)
        return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


SI = StageUnits()


def remembered_units(text: str) -> StageUnits | None:
    """Units from the text that an import keeps: metres and kilograms per unit and up axis; None for other text."""
    try:
        meters, kilograms, up_axis = text.split()
        return StageUnits(float(meters), float(kilograms), "Z" if up_axis == "Z" else "Y")
    except ValueError:
        return None


def checked_units(units: StageUnits, file: str) -> StageUnits:
    """The units. Raises InputError, naming the file, if nothing can be measured in one of them."""
    values = {"metersPerUnit": units.meters_per_unit, "kilogramsPerUnit": units.kilograms_per_unit}
    for name, value in values.items():
        if not SMALLEST_UNIT <= value <= 1 / SMALLEST_UNIT:
            raise InputError(f"'{file}' has {name} = {value:g}; set it to a plausible number above zero.")
    return units


def checked_frame_rate(rate: float, file: str, name: str = "frames per second") -> float:
    """The rate. Raises InputError, naming the file, if no time can be counted in it."""
    least, most = FRAME_RATES
    if not least <= rate <= most:
        raise InputError(f"'{file}' has {rate:g} {name}; set a number from {least:g} to {most:g}.")
    return rate


def checked_time(time: float, file: str, name: str) -> float:
    """A time. Raises InputError, naming the file, if it is no number or too far from zero."""
    if not abs(time) <= LATEST_TIME:
        raise InputError(f"'{file}' has {name} = {time:g}; set it to a time nearer to zero.")
    return time


def scaled(value: float, factor: float) -> float:
    """value * factor; what counts as infinite is not scaled."""
    if factor == 1.0 or is_infinite(value):
        return value
    return value * factor


def shortest(value: float) -> float:
    """The shortest decimal that rounds to the same 32-bit float: 0.01 for 0.009999999776."""
    import numpy as np

    return float(str(np.float32(value)))
