# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets: a table of physics materials, and the user's own materials, bodies and drives as Blender presets."""

from pathlib import Path
from typing import Any

import bpy
from bl_operators.presets import AddPresetBase  # type: ignore[import-not-found, unused-ignore]

from ..usdphys_addon.bridge.props import LOCAL_FRAME_FIELDS
from ..usdphys_addon.bridge.typed_props import EnumProperty
from ..usdphys_addon.core.common_materials import MATERIALS
from ..usdphys_addon.core.words import counted
from . import needs
from .outcome import finish

_ITEMS = [(preset.key, preset.name, preset.tooltip) for preset in MATERIALS]


class USDPHYS_OT_apply_material_preset(bpy.types.Operator):
    """Give the active material of every selected object the typical values of a material; an object without one gets
    a physics material"""

    bl_idname = "usdphys.apply_material_preset"
    bl_label = "Material Preset"
    bl_options = {"REGISTER", "UNDO"}

    preset = EnumProperty(name="Material", items=_ITEMS, description="Material to take the values from")

    poll = needs.poll((lambda context: context.selected_objects or context.object, "Select the objects first"))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import material_presets

        outcome = material_presets.apply_material_preset(context.selected_objects or [context.object], self.preset)
        return finish(self, f"Set the material of {counted(outcome.count, 'object')}", outcome.notes)


class _AddPreset(AddPresetBase):  # type: ignore[misc, unused-ignore]
    """Saves the authored values of a property group. Applying the preset unsets the others."""

    report: Any
    bl_options: Any = {"REGISTER", "INTERNAL"}
    #: Path from the active object to the property group, and the message if there is no group.
    group_path = ""
    missing = ""
    #: Names of properties that are not saved, and that applying a preset leaves alone.
    left_out: tuple[str, ...] = ()

    @classmethod
    def group(cls, context: bpy.types.Context) -> Any:
        try:
            return context.object.path_resolve(cls.group_path)
        except (AttributeError, ValueError):
            return None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return needs.are_met(cls, context, (lambda _context: cls.group(context) is not None, cls.missing))

    def add(self, context: bpy.types.Context, filepath: str) -> None:
        from ..usdphys_addon.bridge import property_values

        group = self.group(context)
        left_out = ("rna_type", "name", *self.left_out)
        names = [prop.identifier for prop in group.bl_rna.properties if prop.identifier not in left_out]
        lines = [
            "import bpy", f"group = bpy.context.object.{self.group_path}", f"for name in {names!r}:",
            "    group.property_unset(name)",
        ]  # fmt: skip
        values = property_values.snapshot(group)
        _write(lines, "group", {name: value for name, value in values.items() if name not in left_out})
        Path(filepath).write_text("\n".join([*lines, ""]), encoding="utf-8")


def _write(lines: list[str], path: str, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if isinstance(value, dict):
            _write(lines, f"{path}.{name}", value)
        elif isinstance(value, (bool, int, float, str, tuple)):
            lines.append(f"{path}.{name} = {value!r}")


class _Presets:
    """Mix-in of a menu of presets; Blender's own drawing says "Missing Paths" where nothing is saved yet."""

    layout: Any
    preset_subdir = ""
    preset_operator = "script.execute_preset"

    def draw(self, context: bpy.types.Context | None) -> None:
        if bpy.utils.preset_paths(self.preset_subdir):
            bpy.types.Menu.draw_preset(self, context)  # type: ignore[arg-type, unused-ignore]
        else:
            self.layout.label(text="None yet: + saves the active one", icon="INFO")


class USDPHYS_MT_material_presets(_Presets, bpy.types.Menu):
    """Your own physics materials"""

    bl_label = "Presets"
    preset_subdir = "usdphys/material"


class USDPHYS_MT_body_presets(_Presets, bpy.types.Menu):
    """Your own settings of rigid bodies"""

    bl_label = "Presets"
    preset_subdir = "usdphys/body"


class USDPHYS_MT_drive_presets(_Presets, bpy.types.Menu):
    """Your own drives of joints"""

    bl_label = "Presets"
    preset_subdir = "usdphys/drives"


class USDPHYS_MT_joint_presets(_Presets, bpy.types.Menu):
    """Your own joints: the type with its limits, drives and the force at which it breaks"""

    bl_label = "Presets"
    preset_subdir = "usdphys/joint"


class USDPHYS_OT_joint_preset_add(_AddPreset, bpy.types.Operator):  # type: ignore[misc, unused-ignore]
    """Save the active joint as a preset, without its bodies and frames, or remove the selected preset"""

    bl_idname = "usdphys.joint_preset_add"
    bl_label = "Save Joint Preset"
    preset_menu = "USDPHYS_MT_joint_presets"
    preset_subdir = "usdphys/joint"
    group_path = "usdphys.joint"
    missing = "There is no active object"
    left_out = (
        *(f"body{side}{end}" for side in (0, 1) for end in ("", "_name", "_path")), *LOCAL_FRAME_FIELDS,
        "has_remembered_frames", *(f"remembered_{name}" for name in LOCAL_FRAME_FIELDS),
    )  # fmt: skip


class USDPHYS_OT_material_preset_add(_AddPreset, bpy.types.Operator):  # type: ignore[misc, unused-ignore]
    """Save the physics of the active material as a preset, or remove the selected preset"""

    bl_idname = "usdphys.material_preset_add"
    bl_label = "Save Physics Material Preset"
    preset_menu = "USDPHYS_MT_material_presets"
    preset_subdir = "usdphys/material"
    group_path = "active_material.usdphys.physics_material"
    missing = "The active object has no material"


class USDPHYS_OT_body_preset_add(_AddPreset, bpy.types.Operator):  # type: ignore[misc, unused-ignore]
    """Save the rigid body settings of the active object as a preset, or remove the selected preset"""

    bl_idname = "usdphys.body_preset_add"
    bl_label = "Save Rigid Body Preset"
    preset_menu = "USDPHYS_MT_body_presets"
    preset_subdir = "usdphys/body"
    group_path = "usdphys.rigid_body"
    missing = "There is no active object"


class USDPHYS_OT_drive_preset_add(_AddPreset, bpy.types.Operator):  # type: ignore[misc, unused-ignore]
    """Save the drives of the active joint as a preset, or remove the selected preset"""

    bl_idname = "usdphys.drive_preset_add"
    bl_label = "Save Joint Drive Preset"
    preset_menu = "USDPHYS_MT_drive_presets"
    preset_subdir = "usdphys/drives"
    group_path = "usdphys.joint.drives"
    missing = "There is no active object"


CLASSES = (
    USDPHYS_OT_apply_material_preset, USDPHYS_MT_material_presets, USDPHYS_MT_body_presets, USDPHYS_MT_drive_presets,
    USDPHYS_MT_joint_presets,
    USDPHYS_OT_material_preset_add, USDPHYS_OT_body_preset_add, USDPHYS_OT_drive_preset_add,
    USDPHYS_OT_joint_preset_add,
)  # fmt: skip
