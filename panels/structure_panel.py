# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: compounds, collider objects, fitting, presets."""

from __future__ import annotations

from typing import Any

import bpy


class USDPHYS_PT_structure(bpy.types.Panel):
    bl_label = "Structure"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "USD Physics"
    bl_order = 2
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, _context: Any) -> None:
        layout: Any = self.layout
        layout.label(text="Compound from selection")
        for role, icon in (("DYNAMIC", "RIGID_BODY"), ("STATIC", "MESH_PLANE")):
            row = layout.row(align=True)
            for target, text in (("ACTIVE", role.title()), ("EMPTY", "with Empty")):
                button = row.operator("usdphys.compound_from_selection", text=text, icon=icon)
                button.target, button.role = target, role
                icon = "EMPTY_AXIS"
        layout.operator_menu_enum("usdphys.make_collider_objects", "kind", icon="MESH_CUBE")
        layout.operator_menu_enum("usdphys.split_loose", "mode", icon="MOD_EXPLODE")
        row = layout.row(align=True)
        row.operator("usdphys.fit_collider", text="Fit").explicit = False
        row.operator("usdphys.fit_collider", text="Fit and Set").explicit = True
        layout.operator("usdphys.collider_mesh_to_primitive", icon="MESH_UVSPHERE")


class USDPHYS_PT_structure_presets(bpy.types.Panel):
    bl_label = "Presets"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "USD Physics"
    bl_parent_id = "USDPHYS_PT_structure"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, _context: Any) -> None:
        layout: Any = self.layout
        layout.operator_menu_enum("usdphys.apply_material_preset", "preset", icon="MATERIAL")
        for text, name in (("Material", "material"), ("Rigid Body", "body"), ("Joint", "joint"), ("Drives", "drive")):
            split = layout.split(factor=0.4)
            split.label(text=text)
            draw_presets(split, name)


def draw_presets(layout: Any, name: str) -> None:
    """The menu of the user's presets of one kind ("material", "body", "joint" or "drive"), with its buttons."""
    row = layout.row(align=True)
    menu = f"USDPHYS_MT_{name}_presets"
    row.menu(menu, text=getattr(bpy.types, menu).bl_label)
    row.operator(f"usdphys.{name}_preset_add", text="", icon="ADD")
    row.operator(f"usdphys.{name}_preset_add", text="", icon="REMOVE").remove_active = True


CLASSES = (USDPHYS_PT_structure, USDPHYS_PT_structure_presets)
