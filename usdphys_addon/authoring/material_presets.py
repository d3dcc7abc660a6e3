# SPDX-License-Identifier: GPL-3.0-or-later
"""Give objects physics materials with the values of a preset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
from bpy.types import Material, Object

from ..core.common_materials import BY_KEY, MATERIALS, MaterialPreset
from ..core.errors import InputError
from .collider_edits import EditCounts, editable


def apply_material_preset(objects: Sequence[Object], key: str) -> EditCounts:
    """Set the values of a preset on the material of each object; give objects without one a physics material.

    key: of `presets.BY_KEY`. Raises InputError if nothing can be changed.
    """
    outcome = EditCounts()
    preset = BY_KEY[key]
    done: set[str] = set()
    for obj in editable(objects, outcome):
        own = obj.usdphys.physics_material
        material = own or obj.active_material
        if material is None or (own is not None and is_preset(own)):
            obj.usdphys.physics_material = _preset_material(preset)
            outcome.count += 1
        elif not material.is_editable:
            outcome.notes.append(f"The material '{material.name}' of '{obj.name}' is linked and stays as it is.")
        else:
            if material.name not in done:
                _author(material, preset)
                done.add(material.name)
            outcome.count += 1
    if not outcome.count:
        raise InputError(outcome.notes[-1])
    return outcome


def _author(material: Material, preset: MaterialPreset) -> None:
    group = material.usdphys.physics_material
    group.is_applied = True
    for name, value in preset.values.items():
        setattr(group, name, value)


def _has_values(material: Material, preset: MaterialPreset) -> bool:
    group = material.usdphys.physics_material
    return group.is_applied and all(
        group.is_property_set(name) and abs(getattr(group, name) - value) <= 1e-6 * max(1.0, value)
        for name, value in preset.values.items()
    )


def is_preset(material: Material) -> bool:
    """True if a material was made from a preset and has not been edited since."""
    base = material.name.rsplit(".", 1)[0]
    return any(base == _name(preset) and _has_values(material, preset) for preset in MATERIALS)


def _name(preset: MaterialPreset) -> str:
    return f"{preset.name} (physics)"


def _preset_material(preset: MaterialPreset) -> Any:
    """The physics material of a preset; a new one if none still has its values."""
    for material in bpy.data.materials:
        if material.library is None and material.name.startswith(_name(preset)) and _has_values(material, preset):
            return material
    made = bpy.data.materials.new(_name(preset))
    _author(made, preset)
    return made
