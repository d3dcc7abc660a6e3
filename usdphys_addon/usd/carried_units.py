# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts the numbers of vendor attributes that are carried as text, where an export has other units than the source.

The model converts what it holds by itself. What no table of vendors knows keeps its number and is noted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Gf, Sdf

from ..core import vendor_units
from ..core.schema import INSTANCE
from ..core.schemas.usd_physics import LimitAPI
from ..core.units import PRACTICALLY_INFINITE, Dimension, StageUnits, is_infinite
from ..core.vendor_units import Condition, VendorUnit

#: Namespaces whose numbers the model, Blender or renderers own.
_OTHERS = ("physics:", "primvars:", "xformOp:", "ui:", "userProperties:", "inputs:", "outputs:")
_VECTORS = tuple(getattr(Gf, f"Vec{size}{kind}") for size in (2, 3, 4) for kind in "hfd")


class CarriedUnits:
    """source: units of the file that the numbers are from. target: units of the layer that they go to.

    unknown: path of the first prim by name, for the attributes that keep their number because nobody knows their unit.
    """

    def __init__(self, source: StageUnits, target: StageUnits) -> None:
        self.source, self.target = source, target
        self.turn = target.to_z_up.T @ source.to_z_up
        self.unknown: dict[str, str] = {}

    def value(self, item: Sdf.AttributeSpec, spec: Sdf.PrimSpec, value: Any) -> Any:
        """A value in the units of the target. item: the carried attribute. spec: the prim that it goes to."""
        name = item.name
        unit = vendor_units.unit_of(name, spec.typeName)
        if unit is not None and unit.axes:
            return self.axes(value) if isinstance(value, int) else value
        if not _is_number(item, value):
            return value
        if unit is not None and unit.has_sentinel and isinstance(value, float) and value < 0:
            return value
        dimension = _of_limit(name)
        if unit is not None:
            dimension = unit.dimension(name, spec.typeName)
            found = (other for condition, other in unit.others if _holds(condition, item.owner, name))
            dimension = next(found, dimension)
        if dimension is None:
            is_vendor = unit is not None or (":" in name and not name.startswith(_OTHERS))
            if is_vendor and _says_something(value):
                self.unknown.setdefault(name, str(spec.path))
            return value
        local = unit is not None and unit.space == "local"
        factor = self.source.factor(dimension, local=local) / self.target.factor(dimension, local=local)
        turns = unit is not None and _is_world(unit, item.owner, name)
        return _converted(value, factor, self.turn if turns else None)

    def axes(self, bits: int) -> int:
        """Bits of the world axes X, Y, Z, of the same axes in the target."""
        found = 0
        for axis in range(3):
            if bits & (1 << axis):
                found |= 1 << int(np.abs(self.turn[:, axis]).argmax())
        return found | (bits & ~7)


def _of_limit(name: str) -> Dimension | None:
    """Of a limit along a degree of freedom that PhysicsLimitAPI does not list, and the model does not hold."""
    dof = name.split(":")[1] if name.startswith("limit:") else ""
    found = (row for row in LimitAPI.attributes if dof and row.usd_name(dof) == name)
    return next((row.dimension_for(dof) for row in found), None)


def _is_number(item: Sdf.AttributeSpec, value: Any) -> bool:
    """True for floats and for vectors and arrays of them. Rotations have no unit; whole numbers count something."""
    if isinstance(value, float):
        return True
    is_rotation = str(item.typeName).startswith("quat")
    return not is_rotation and not isinstance(value, Sdf.ValueBlock) and np.asarray(value).dtype.kind == "f"


def _says_something(value: Any) -> bool:
    """False for zeros and infinities, which are the same in all units."""
    numbers = np.asarray(value, float).ravel()
    return bool(((numbers != 0) & (np.abs(numbers) < np.inf)).any())


def _holds(condition: Condition, prim: Sdf.PrimSpec, name: str) -> bool:
    """name: of an attribute of the same instance."""
    found = prim.attributes.get(condition.attribute.replace(INSTANCE, name.split(":")[1]))
    return condition.holds(found.default if found is not None else None)


def _is_world(unit: VendorUnit, prim: Sdf.PrimSpec, name: str) -> bool:
    return unit.space == "world" and (unit.world_if is None or _holds(unit.world_if, prim, name))


def _converted(value: Any, factor: float, turn: Any) -> Any:
    if isinstance(value, float):
        # Twelve digits: a product of doubles that was a round number is one again.
        return float(f"{value * factor:.12g}") if not is_infinite(value) else value
    numbers = np.asarray(value, float)
    if turn is not None and numbers.shape[-1:] == (3,):
        numbers = numbers @ np.asarray(turn).T
    made = np.where(np.abs(numbers) >= PRACTICALLY_INFINITE, numbers, numbers * factor)
    if numbers.ndim == 1 and isinstance(value, _VECTORS):
        return type(value)(*made.tolist())
    return type(value)([tuple(row) for row in made.tolist()] if made.ndim == 2 else made.tolist())
