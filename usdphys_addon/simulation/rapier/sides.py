# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies at a contact: how fast they are there, and how they yield to pushes.

Vectors are tuples: of contacts that are looked at one by one, an array for each would take longer.
"""

from __future__ import annotations

import math
from typing import NamedTuple

Vector = tuple[float, float, float]
#: How a body yields that does not.
FIRM = (0.0, ((0.0, 0.0, 0.0),) * 3, 0.0, math.inf)


class Side(NamedTuple):
    """A body at a contact: its speeds, its centre of mass, and how it yields, 1/kg and rows of 1/(kg m2), or 0.

    falls: the part of gravity that acts on it. size: m. is_static: it never moves.
    """

    velocity: Vector
    spin: Vector
    middle: Vector
    yields: float
    turns: tuple[Vector, Vector, Vector]
    falls: float
    size: float
    is_static: bool = False


STILL = Side((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), *FIRM, is_static=True)


def minus(one: Vector, other: Vector) -> Vector:
    return one[0] - other[0], one[1] - other[1], one[2] - other[2]


def plus(one: Vector, other: Vector) -> Vector:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def dot(one: Vector, other: Vector) -> float:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def cross(one: Vector, other: Vector) -> Vector:
    (a, b, c), (x, y, z) = one, other
    return b * z - c * y, c * x - a * z, a * y - b * x


def flat(vector: Vector, normal: Vector) -> Vector:
    """The part of a vector across the normal."""
    along = dot(vector, normal)
    return vector[0] - along * normal[0], vector[1] - along * normal[1], vector[2] - along * normal[2]


def speed_at(side: Side, arm: Vector) -> Vector:
    """Of a body at the end of an arm, m/s."""
    return plus(side.velocity, cross(side.spin, arm))


def yields_to(side: Side, arm: Vector, push: Vector) -> Vector:
    """How a body yields at the end of an arm to a push there."""
    return moved_by(side, arm, arm, push)


def moved_by(side: Side, arm: Vector, pushed: Vector, push: Vector) -> Vector:
    """How a body yields at the end of an arm to a push at the end of another one."""
    turning = cross(pushed, push)
    first, second, third = side.turns
    x, y, z = cross((dot(first, turning), dot(second, turning), dot(third, turning)), arm)
    return x + push[0] * side.yields, y + push[1] * side.yields, z + push[2] * side.yields
