"""The table of materials: complete, plausible, and honest about its sources."""

from __future__ import annotations

from usdphys_ext.usdphys_addon.core.common_materials import BY_KEY, MATERIALS
from usdphys_ext.usdphys_addon.core.schemas import usd_physics

WANTED = (
    "STEEL", "STAINLESS_STEEL", "ALUMINIUM", "COPPER", "CAST_IRON", "OAK", "PINE", "PLYWOOD", "RUBBER", "CONCRETE",
    "BRICK", "GLASS", "ICE", "ABS", "PLA", "NYLON", "PTFE", "CARDBOARD", "LEATHER", "EPS_FOAM",
)  # fmt: skip


def test_all_materials_are_there_once():
    assert [preset.key for preset in MATERIALS] == list(WANTED)
    assert len({preset.name for preset in MATERIALS}) == len(MATERIALS) == len(BY_KEY)


def test_values_are_possible():
    for preset in MATERIALS:
        assert 10 <= preset.density <= 9000, preset.name
        # A sliding body is never held more than one at rest.
        assert 0 < preset.dynamic_friction <= preset.static_friction <= 1.2, preset.name
        assert 0 <= preset.restitution <= 1, preset.name


def test_densities_are_in_the_known_order():
    by_density = sorted(MATERIALS, key=lambda preset: preset.density)
    order = [preset.key for preset in by_density]
    for lighter, heavier in (("EPS_FOAM", "PINE"), ("PINE", "OAK"), ("ICE", "ABS"), ("GLASS", "ALUMINIUM"),
                             ("CAST_IRON", "STEEL"), ("STEEL", "COPPER")):  # fmt: skip
        assert order.index(lighter) < order.index(heavier)


def test_every_tooltip_says_values_and_source():
    for preset in MATERIALS:
        assert f"{preset.density:g} kg/m³" in preset.tooltip
        assert preset.source in preset.tooltip
        assert "table" in preset.source or "estimate" in preset.source, preset.name


def test_values_are_fields_of_the_schema():
    fields = {attribute.field for attribute in usd_physics.MaterialAPI.attributes}
    assert all(set(preset.values) == fields for preset in MATERIALS)
