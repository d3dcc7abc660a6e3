# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths in the unit in which Blender's fields show and take them."""

from __future__ import annotations

from typing import Any

import bpy

#: Metres of the units of lengths, and the one in which Blender shows a length where it is not adaptive.
METERS = {"km": 1e3, "m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "mi": 1609.344, "ft": 0.3048, "in": 0.0254,
          "thou": 2.54e-5}  # fmt: skip
_SHOWN = {
    "KILOMETERS": "km", "METERS": "m", "CENTIMETERS": "cm", "MILLIMETERS": "mm", "MICROMETERS": "um", "MILES": "mi",
    "FEET": "ft", "INCHES": "in", "THOU": "thou",
}  # fmt: skip
#: What Blender writes behind a number, where it is not a space and the unit.
_SIGNS = {"um": " \N{MICRO SIGN}m", "in": '"', "ft": "'"}


def own_unit(settings: Any) -> str:
    """The unit of a number that is typed without one. settings: `unit_settings` of the scene."""
    return _SHOWN.get(settings.length_unit, "m" if settings.system == "METRIC" else "ft")


def length_text(settings: Any, value: float) -> str:
    """A length of Blender units as a field shows it. settings: `unit_settings` of the scene."""
    if settings.system == "NONE":
        return f"{value:.4g}"
    meters = value * settings.scale_length
    unit = _SHOWN.get(settings.length_unit, "")
    if not unit:
        return str(bpy.utils.units.to_string(settings.system, "LENGTH", meters, precision=5))
    return f"{round(meters / METERS[unit], 9):.5g}{_SIGNS.get(unit, f' {unit}')}"
