# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics materials of Blender materials -> material prims."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Material

from ..core import paths
from ..core.model import Prim
from ..core.schemas import usd_physics
from . import vendor_rows
from .identity import remembered
from .identity.names import prim_name
from .reading import ReadingContext


def slot_path(reading: ReadingContext, material: Material) -> str:
    """Path of a material in a slot; empty if it has no physics."""
    name = material.name_full
    if name not in reading.slot_paths:
        is_physical = material.usdphys.physics_material.is_applied
        reading.slot_paths[name] = material_path(reading, material) if is_physical else ""
    return reading.slot_paths[name]


def material_path(reading: ReadingContext, material: Material) -> str:
    """Path of a physics material; the first use adds it to the model."""
    path = reading.result.materials.get(material.name_full)
    if path is None:
        path = paths.free(_expected_path(reading, material), reading.taken.__contains__)
        reading.taken.add(path)
        reading.result.materials[material.name_full] = path
        prim = reading.model.add(Prim(path, "Material", is_xformable=False, label=material.name))
        physics: Any = material.usdphys
        # A material of an imported file without that schema may be bound for the physics purpose.
        if physics.physics_material.is_applied or not _is_imported(reading, material):
            prim.add(reading.properties.read(physics.physics_material, usd_physics.MaterialAPI))
        vendor_rows.read_vendor(reading, physics, prim)
        if physics.is_property_set("prim"):
            prim.extras.update(remembered.extras_of(physics.prim.extras))
    return path


def _is_imported(reading: ReadingContext, material: Material) -> bool:
    if reading.sources is not None:
        return material.name in reading.sources.materials
    return remembered.prim_of(material) is not None


def _expected_path(reading: ReadingContext, material: Material) -> str:
    if reading.sources is not None:
        origin = reading.sources.materials.get(material.name)
        return origin or f"{reading.sources.looks}/{prim_name(material.name)}"
    known = remembered.prim_of(material)
    if known is not None:
        return f"{reading.root}{known.path}"
    return f"{reading.root}{reading.new_looks}/{prim_name(material.name)}"


def read_other_materials(reading: ReadingContext) -> None:
    """Read physics materials that no collider uses, to be written if Blender exports the material."""
    read_imported_materials(reading)
    for material in bpy.data.materials:
        if _is_of_another_scene(reading, material):
            continue
        if material.name_full not in reading.result.materials and material.usdphys.physics_material.is_applied:
            reading.result.optional_materials.append(material_path(reading, material))


def read_imported_materials(reading: ReadingContext) -> None:
    """Read physics materials of the imported file, even if nothing in Blender uses them."""
    if not reading.scene.usdphys.source.filepath:
        return
    for material in bpy.data.materials:
        physics: Any = material.usdphys
        is_source = reading.sources is not None and material.name in reading.sources.materials
        if _is_of_another_scene(reading, material):
            continue
        if physics.physics_material.is_applied and (is_source or remembered.prim_of(material) is not None):
            material_path(reading, material)


def _is_of_another_scene(reading: ReadingContext, material: Material) -> bool:
    """True for a material that was imported, but not with the source that gets the edits."""
    if reading.sources is None or not material.usdphys.prim.path:
        return False
    return material.name not in reading.sources.materials
