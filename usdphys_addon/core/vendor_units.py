# SPDX-License-Identifier: GPL-3.0-or-later
"""What the numbers of vendor attributes measure, from the tables in `vendor_tables`. Read when first asked."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal, NamedTuple

from . import vendor_data
from .joint_kinds import BY_TYPE_NAME, is_linear_joint
from .schema import ANGULAR_DOFS, INSTANCE
from .units import Dimension

_FACTOR = re.compile(r"(^|[*/])(kg|m|s|deg|1)(?:\^(\d+))?")


class Condition(NamedTuple):
    """True where an attribute of the same prim has a value. fallback: its value where it is not authored.

    A value {"each": "rot"} is that of an array with tokens that all begin so.
    """

    attribute: str
    value: Any
    fallback: Any

    def holds(self, found: Any) -> bool:
        """found: the value of the attribute; None if it is not authored."""
        found = self.fallback if found is None else found
        if isinstance(self.value, dict):
            return bool(found) and all(str(token).startswith(self.value["each"]) for token in found)
        return bool(found == self.value)


class VendorUnit(NamedTuple):
    """linear, angular: dimension about linear and angular degrees of freedom; both None where nobody knows it.

    space: "local" numbers scale with the prim, "world" directions turn with the up axis. world_if: they turn only under
    this condition. axes: the number holds a bit for each of the world axes. others: other dimensions, each under a
    condition on the same attribute. has_sentinel: a negative number means "automatic" and is the same in all units.
    """

    linear: Dimension | None
    angular: Dimension | None
    space: Literal["stage", "local", "world"] = "stage"
    world_if: Condition | None = None
    axes: bool = False
    others: tuple[tuple[Condition, Dimension], ...] = ()
    has_sentinel: bool = False

    def dimension(self, name: str, type_name: str) -> Dimension | None:
        """For the attribute of a name on a prim of a type; None if unknown.

        Where the name has no degree of freedom, that of the joint decides; a generic joint counts as angular.
        """
        if self.linear == self.angular:
            return self.linear
        parts = name.split(":")
        if len(parts) > 2:
            return self.angular if parts[1] in ANGULAR_DOFS else self.linear
        if type_name not in BY_TYPE_NAME:
            return None
        return self.linear if is_linear_joint(type_name) else self.angular


def parse_unit(text: str) -> Dimension:
    """The dimension of a unit such as "kg*m^2/s^2/deg"; "1" for none. Raises ValueError for another text."""
    powers = {"kg": 0, "m": 0, "deg": 0, "s": 0, "1": 0}
    end = 0
    for match in _FACTOR.finditer(text):
        if match.start() != end:
            break
        powers[match[2]] += int(match[3] or 1) * (-1 if match[1] == "/" else 1)
        end = match.end()
    if end != len(text) or not text:
        raise ValueError(f"'{text}' is no unit such as 'kg*m^2/s'")
    return Dimension(powers["m"], powers["kg"], powers["deg"], powers["s"])


def unit_of(name: str, type_name: str = "") -> VendorUnit | None:
    """What an attribute of a prim of a type measures; None if no table has it, or if it is no number."""
    rows = _rows()
    unit: VendorUnit | None = rows.get((type_name, name)) or rows.get(("", name))
    parts = name.split(":")
    for at in range(1, len(parts) - 1):
        # The instance is the second part of the name, or the third one where the namespace has two.
        if unit is None:
            unit = rows.get(("", ":".join([*parts[:at], INSTANCE, *parts[at + 1 :]])))
    return unit


@vendor_data.follows
@cache
def _rows() -> dict[tuple[str, str], VendorUnit]:
    """By type name, which is empty for API schemas, and attribute name, with INSTANCE in place of an instance."""
    units = {}
    for table in vendor_data.tables():
        for schema in table["schemas"]:
            owner = schema["name"] if schema["kind"] == "typed" else ""
            for row in schema["attributes"]:
                if "unit" in row or row.get("axes"):
                    units[owner, row["usd"]] = unit_of_row(row)
    return units


def unit_of_row(row: dict[str, Any]) -> VendorUnit:
    """What an attribute measures. row: as the table has it."""
    unit = row.get("unit", "1")
    pair = unit if isinstance(unit, list) else [unit, unit]
    linear, angular = (None if text is None else parse_unit(text) for text in pair)
    others = tuple(
        (Condition(attribute, value, fallback), parse_unit(text))
        for attribute, value, fallback, text in row.get("unit_if", ())
    )
    world_if = Condition(*row["world_if"]) if "world_if" in row else None
    space: Any = "world" if world_if is not None else row.get("space", "stage")
    has_sentinel = row.get("automatic") == "negative"
    return VendorUnit(linear, angular, space, world_if, bool(row.get("axes")), others, has_sentinel)
