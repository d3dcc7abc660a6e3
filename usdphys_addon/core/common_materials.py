# SPDX-License-Identifier: GPL-3.0-or-later
"""Typical values of common materials, with sources.

Real friction depends on the pair of surfaces, and restitution on shape and speed too: these are starting values.
Densities are nominal values of the solid material.
"""

from __future__ import annotations

from typing import NamedTuple

_TABLE = "friction table of the Engineering ToolBox"
_TEXTBOOK = "friction table of university physics textbooks"
_BOUNCE = "restitution after the list of The Physics Factbook"
_GUESS = "restitution is an estimate"


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


MATERIALS: tuple[MaterialPreset, ...] = tuple(
    MaterialPreset(key, name, density, static, dynamic, restitution, source)
    for key, name, density, static, dynamic, restitution, source in (
        ("STEEL", "Steel", 7850, 0.74, 0.57, 0.6, f"steel on steel, {_TEXTBOOK}; {_BOUNCE} (ball bearing)"),
        ("STAINLESS_STEEL", "Stainless Steel", 8000, 0.74, 0.57, 0.6,
         "friction and restitution taken from plain steel, an estimate"),
        ("ALUMINIUM", "Aluminium", 2700, 0.61, 0.47, 0.5, f"on mild steel, {_TABLE}; {_GUESS}"),
        ("COPPER", "Copper", 8960, 0.53, 0.36, 0.4, f"on mild steel, {_TABLE}; {_GUESS}"),
        ("CAST_IRON", "Cast Iron", 7200, 0.4, 0.23, 0.4, f"on mild steel, {_TABLE}; {_GUESS}"),
        ("OAK", "Oak", 700, 0.62, 0.48, 0.5, f"on oak along the grain, {_TABLE}; {_GUESS}"),
        ("PINE", "Pine", 500, 0.4, 0.2, 0.5,
         f"static friction wood on wood (0.25 to 0.5), {_TABLE}; dynamic friction and restitution are estimates"),
        ("PLYWOOD", "Plywood", 600, 0.4, 0.2, 0.45,
         f"static friction wood on wood (0.25 to 0.5), {_TABLE}; dynamic friction and restitution are estimates"),
        ("RUBBER", "Rubber", 1100, 1.0, 0.8, 0.8, f"on dry concrete, {_TEXTBOOK}; {_BOUNCE} (ball of rubber bands)"),
        ("CONCRETE", "Concrete", 2400, 0.62, 0.5, 0.3,
         f"static friction wood on concrete, {_TABLE}; dynamic friction and restitution are estimates"),
        ("BRICK", "Brick", 1900, 0.6, 0.5, 0.3,
         f"static friction brick on wood, {_TABLE}; dynamic friction and restitution are estimates"),
        ("GLASS", "Glass", 2500, 0.94, 0.4, 0.66, f"glass on clean glass (0.9 to 1.0), {_TABLE}; {_BOUNCE} (marble)"),
        ("ICE", "Ice", 917, 0.1, 0.03, 0.3, f"ice on ice, {_TEXTBOOK}; {_GUESS}"),
        ("ABS", "ABS", 1040, 0.35, 0.3, 0.5,
         "friction and restitution are estimates; tests of printed parts differ widely"),
        ("PLA", "PLA", 1240, 0.4, 0.35, 0.45,
         "friction and restitution are estimates; tests of printed parts differ widely"),
        ("NYLON", "Nylon", 1140, 0.2, 0.15, 0.5,
         f"static friction nylon on nylon (0.15 to 0.25), {_TABLE}; dynamic friction and restitution are estimates"),
        ("PTFE", "PTFE", 2170, 0.04, 0.04, 0.4, f"on steel, {_TEXTBOOK}; {_GUESS}"),
        ("CARDBOARD", "Cardboard", 690, 0.4, 0.3, 0.2,
         "density of solid board; friction and restitution are estimates, see TAPPI T 815 for a way to measure"),
        ("LEATHER", "Leather", 860, 0.61, 0.52, 0.3, f"on oak, {_TABLE}; {_GUESS}"),
        ("EPS_FOAM", "Foam (EPS)", 20, 0.33, 0.3, 0.3,
         f"static friction solid polystyrene on steel (0.3 to 0.35), {_TABLE}; dynamic friction and restitution are "
         "estimates; density of packaging foam, 15 to 30 kg/m³"),
    )
)  # fmt: skip
BY_KEY = {preset.key: preset for preset in MATERIALS}
