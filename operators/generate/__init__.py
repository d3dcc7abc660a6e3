# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that make whole constructions from the selection: a module for each, named like what it makes."""

from . import break_apart, mechanism, net, ragdoll, rope, vehicle, wall

#: In the order of the menu.
CLASSES = (
    *rope.CLASSES,
    *net.CLASSES,
    *wall.CLASSES,
    *break_apart.CLASSES,
    *ragdoll.CLASSES,
    *vehicle.CLASSES,
    *mechanism.CLASSES,
)
