# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that make whole constructions from the selection, each in a module named like that of its arithmetic."""

from . import bonds, follow, generator, mechanisms, nets, ragdoll, ropes, vehicle, walls

#: In the order of the menu.
_MODULES = (ropes, nets, walls, bonds, ragdoll, follow, vehicle, mechanisms, generator)
CLASSES = tuple(cls for module in _MODULES for cls in module.CLASSES)
