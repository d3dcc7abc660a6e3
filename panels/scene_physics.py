# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene tab: physics scenes, collision groups and the units of the stage."""

from __future__ import annotations

from typing import Any

import bpy

from ..usdphys_addon.core import schema
from . import attributes


class _ScenePanel:
    layout: Any
    bl_space_type: Any = "PROPERTIES"
    bl_region_type: Any = "WINDOW"
    bl_context = "scene"
    bl_options: Any = {"DEFAULT_CLOSED"}

    def split_layout(self) -> Any:
        layout: Any = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        return layout


class USDPHYS_PT_scene(_ScenePanel, bpy.types.Panel):
    bl_label = "USD Physics"

    def draw(self, context: Any) -> None:
        layout, stage = self.split_layout(), context.scene.usdphys.stage
        for name in ("meters_per_unit", "kilograms_per_unit", "up_axis", "hierarchy"):
            layout.prop(stage, name)


class USDPHYS_PT_physics_scenes(_ScenePanel, bpy.types.Panel):
    bl_label = "Physics Scenes"
    bl_parent_id = "USDPHYS_PT_scene"

    def draw(self, context: Any) -> None:
        layout, physics = self.split_layout(), context.scene.usdphys
        attributes.draw_list(layout, physics, "physics_scenes", "active_scene_index", "physics_scenes")
        index = physics.active_scene_index
        if not len(physics.physics_scenes):
            layout.label(text="One is made at export, with Blender's gravity", icon="INFO")
        elif 0 <= index < len(physics.physics_scenes):
            item, path = physics.physics_scenes[index], f"scene.usdphys.physics_scenes[{index}]"
            attributes.draw(layout, item, attributes.fields_of(schema.PhysicsScene), path)


class USDPHYS_UL_group_references(bpy.types.UIList):
    def draw_item(  # type: ignore[override]
        self, context: Any, layout: Any, _data: Any, item: Any, _icon: int, _owner: Any, _index: str
    ) -> None:
        layout.prop_search(item, "name", context.scene.usdphys, "collision_groups", text="", icon="GROUP")


class USDPHYS_PT_scene_collision_groups(_ScenePanel, bpy.types.Panel):
    bl_label = "Collision Groups"
    bl_parent_id = "USDPHYS_PT_scene"

    def draw(self, context: Any) -> None:
        layout, physics = self.split_layout(), context.scene.usdphys
        attributes.draw_list(layout, physics, "collision_groups", "active_group_index", "scene_collision_groups")
        index = physics.active_group_index
        if not 0 <= index < len(physics.collision_groups):
            return
        group, path = physics.collision_groups[index], f"scene.usdphys.collision_groups[{index}]"
        attributes.draw(layout, group, ("merge_group", "invert_filtered_groups"), path)
        layout.label(text="Passes through the members of:")
        attributes.draw_list(
            layout, group, "filtered_groups", "active_index", "filtered_groups", "USDPHYS_UL_group_references"
        )


CLASSES = (
    USDPHYS_UL_group_references, USDPHYS_PT_scene, USDPHYS_PT_physics_scenes, USDPHYS_PT_scene_collision_groups,
)  # fmt: skip
