# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar of the 3D view: compounds, collider objects, fitting, presets."""

from __future__ import annotations

import bpy
from bpy.types import Context, UILayout

from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import fitting
from .places import Sidebar

#: Width of the arrow of a menu, and of the buttons beside a menu of presets with its arrow.
_ARROW, _PRESET_BUTTONS = 16.0, 60.0


class USDPHYS_PT_structure(Sidebar, bpy.types.Panel):
    bl_label = "Structure"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, _context: Context) -> None:
        layout = self.layout
        draw_text(layout, "Compound from Selection", "NONE")
        for role, icon in (("DYNAMIC", "RIGID_BODY"), ("STATIC", "MESH_PLANE")):
            row = fitting.together(layout, role.title(), "with Empty", has_icons=True)
            for target, text in (("ACTIVE", role.title()), ("EMPTY", "with Empty")):
                button = row.operator("usdphys.compound_from_selection", text=text, icon=icon)
                button.target, button.role = target, role
                icon = "EMPTY_AXIS"
        for idname, choice, label, short, icon in (
            ("usdphys.make_collider_objects", "kind", "Make Collider Objects", "Collider Objects", "MESH_CUBE"),
            ("usdphys.split_loose", "mode", "Colliders from Loose Parts", "Loose Parts", "MOD_EXPLODE"),
        ):  # fmt: skip
            text = label if fitting.fits(label, _ARROW) else short
            layout.operator_menu_enum(idname, choice, text=text, icon=fitting.icon_for(text, icon, _ARROW))
        row = fitting.together(layout, "Fit", "Fit and Set")
        row.operator("usdphys.fit_collider", text="Fit").explicit = False
        row.operator("usdphys.fit_collider", text="Fit and Set").explicit = True
        fitting.button(layout, "usdphys.collider_mesh_to_primitive", "MESH_UVSPHERE")


class USDPHYS_PT_structure_presets(Sidebar, bpy.types.Panel):
    bl_label = "Presets"
    bl_parent_id = "USDPHYS_PT_structure"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.operator_menu_enum("usdphys.apply_material_preset", "preset", icon="MATERIAL")
        for text, name in (("Material", "material"), ("Rigid Body", "body"), ("Joint", "joint"), ("Drives", "drive")):
            draw_presets(fitting.labelled(layout, text, fitting.buttons_width("Presets") + _PRESET_BUTTONS), name)


def draw_presets(layout: UILayout, name: str) -> None:
    """The menu of the user's presets of one kind ("material", "body", "joint" or "drive"), with its buttons."""
    row = layout.row(align=True)
    menu = f"USDPHYS_MT_{name}_presets"
    row.menu(menu, text=getattr(bpy.types, menu).bl_label)
    row.operator(f"usdphys.{name}_preset_add", text="", icon="ADD")
    row.operator(f"usdphys.{name}_preset_add", text="", icon="REMOVE").remove_active = True


CLASSES = (USDPHYS_PT_structure, USDPHYS_PT_structure_presets)
