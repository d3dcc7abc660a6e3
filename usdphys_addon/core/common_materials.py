# SPDX-License-Identifier: GPL-3.0-or-later
"""Typical values of common materials, with sources.

Real friction depends on the pair of surfaces, and restitution on shape and speed too: these are starting values.
Densities are nominal values of the solid material.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from . import tables


class MaterialPreset(NamedTuple):
    """density: kg/m³. static_friction, dynamic_friction, restitution: no unit. source: of all but the density."""

    key: str
    name: str
    density: float
    static_friction: float
    dynamic_friction: float
    restitution: float
    source: str

    @property
    def tooltip(self) -> str:
        """The values and their source."""
        return (
            f"Density {self.density:g} kg/m³ (nominal), static friction {self.static_friction:g}, dynamic friction "
            f"{self.dynamic_friction:g}, restitution {self.restitution:g}. Typical values, dry: {self.source}"
        )

    @property
    def values(self) -> dict[str, float]:
        """Values by field name of MaterialAPI."""
        return {
            "static_friction": self.static_friction, "dynamic_friction": self.dynamic_friction,
            "restitution": self.restitution, "density": self.density,
        }  # fmt: skip


def _preset(row: dict[str, str]) -> MaterialPreset:
    density, static, dynamic, restitution = (float(row[name]) for name in MaterialPreset._fields[2:6])
    return MaterialPreset(row["key"], row["name"], density, static, dynamic, restitution, row["source"])


MATERIALS = tuple(map(_preset, tables.rows(Path(__file__).with_suffix(".tsv"))))
BY_KEY = {preset.key: preset for preset in MATERIALS}
