# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes that generators start with: those of everyday things, less for what is selected if that is small."""

from __future__ import annotations

import numpy as np
from bpy.types import Context

from ..authoring.joint_maker import JointMaker, JointOptions
from ..bridge.writing import unit_length
from . import linkages, ropes, vehicle

#: m: of a rope and of half the thickness of a bridge; width of a bridge; way of a wheel; rise of a lift.
_THICK, _WIDE, _TRAVEL, _RISE = 0.02, 1.0, 0.1, 0.3
#: m/s: of vehicles and conveyors.
_DRIVE, _RUN = 3.0, 1.0
#: Radius of a wheel, m, at which a vehicle drives so fast.
_WHEEL = 0.3
#: kg/m³, of the wood of bridges; kg that one bears.
_WOOD, _LOAD = 600.0, 100.0
#: Copies are scattered in so many sizes of the largest object.
_SPREAD = 6.0


def row(context: Context, slack: float) -> tuple[float, float]:
    """(radius, width) of a row along the selection, Blender units. Raises InputError."""
    meters, length = unit_length(context.scene), ropes.length_of(context, slack)
    return min(_THICK / meters, length / 160.0), min(_WIDE / meters, length / 3.0)


def weight(context: Context, kind: str, radius: float, width: float) -> float:
    """Mass of a row, kg for each metre, from its radius and width, Blender units."""
    meters = unit_length(context.scene)
    if kind == "BRIDGE":
        return _WOOD * width * 2.0 * radius * meters**2
    return (radius * meters / _THICK) ** 2


def stiffness(context: Context, radius: float) -> float:
    """Stiffness of a cable, N m², from its radius, Blender units."""
    return (radius * unit_length(context.scene) / _THICK) ** 4


def load(context: Context, slack: float, radius: float, width: float) -> float:
    """What a bridge is to bear, kg: no more than twice its weight in wood. Raises InputError."""
    length = ropes.length_of(context, slack) * unit_length(context.scene)
    return min(_LOAD, 2.0 * length * weight(context, "BRIDGE", radius, width))


def car(context: Context) -> tuple[float, float]:
    """(travel, speed) of a vehicle by its smallest wheel, Blender units and a second. Raises InputError."""
    meters = unit_length(context.scene)
    radius = vehicle.smallest_wheel(context)
    return min(_TRAVEL / meters, radius / 3.0), _DRIVE / meters * min(1.0, radius * meters / _WHEEL) ** 0.5


def rise(context: Context, stages: int) -> float:
    """How far a scissor lift is lifted, Blender units. Raises InputError."""
    wanted, most = _RISE / unit_length(context.scene), linkages.highest(context, stages)
    return min(wanted, 0.75 * most) if most > 0.0 else wanted


def run(context: Context) -> float:
    """Speed of the surface of a conveyor, Blender units a second: no more than half of its length."""
    lengths = [max(obj.dimensions.to_tuple()) for obj in context.selected_objects]
    return min(_RUN / unit_length(context.scene), max(lengths, default=2.0) / 2.0)


def spread(context: Context) -> float:
    """Radius in which copies of the selected objects are scattered, Blender units."""
    maker = JointMaker(context, JointOptions())
    points = [maker.surface(obj)[0] for obj in context.selected_objects]
    return _SPREAD * max((float(np.ptp(one, axis=0).max()) for one in points if len(one)), default=0.0)
