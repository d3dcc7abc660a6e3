# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics of the scene: physics scenes, collision groups and the units of the stage."""

from bpy.types import Context, PropertyGroup, UILayout

from ..operators.edit_lists import FIRST_SCENE
from ..usdphys_addon.authoring import group_edits
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core.schemas import usd_physics
from ..usdphys_addon.core.words import phrase
from ..usdphys_addon.viewport import readout
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import attributes, fitting, vendor
from .places import Part, in_properties, in_sidebar, item_list

#: Largest number of groups in the matrix; more do not fit.
MATRIX = 12
#: Largest number of members listed by name.
_NAMED = 5


class _Scene(Part):
    """Stage settings of the export, physics scenes and collision groups."""

    name, label, view_label, order = "scene", "USD Physics", "Scene", 6

    def draw(self, context: Context) -> None:
        layout, stage = self.split_layout(), context.scene.usdphys.stage
        for name in ("meters_per_unit", "kilograms_per_unit", "up_axis", "hierarchy"):
            fitting.prop(layout, stage, name)
        fitting.choice(layout, context.scene.usdphys, "targets")


class _PhysicsScenes(Part):
    name, label, parent, closed = "physics_scenes", "Physics Scenes", "scene", False

    def draw(self, context: Context) -> None:
        layout, physics = self.split_layout(), context.scene.usdphys
        attributes.draw_list(layout, physics, "physics_scenes", "active_scene_index", "physics_scenes")
        index = physics.active_scene_index
        if not len(physics.physics_scenes):
            draw_text(layout.column(align=True), "One is made at export, with Blender's gravity", "INFO")
            vendor.draw(layout, context, None, "scene", FIRST_SCENE)
        elif 0 <= index < len(physics.physics_scenes):
            item, path = physics.physics_scenes[index], f"scene.usdphys.physics_scenes[{index}]"
            attributes.draw(layout, item, attributes.fields_of(usd_physics.PhysicsScene), path)
            if not item.is_property_set("gravity_magnitude"):
                draw_text(layout.column(align=True), "Automatic: 9.81 m/s², down", "INFO")
            vendor.draw(layout, context, item, "scene", path)


def _draw_groups(_context: Context, layout: UILayout, item: PropertyGroup) -> None:
    layout.prop(item, "list_name", text="", emboss=False)


def _draw_group_references(context: Context, layout: UILayout, item: PropertyGroup) -> None:
    layout.prop_search(item, "name", context.scene.usdphys, "collision_groups", text="", icon="GROUP")


class _CollisionGroups(Part):
    name, label, parent = "scene_collision_groups", "Collision Groups", "scene"

    def draw(self, context: Context) -> None:
        layout, physics = self.split_layout(), context.scene.usdphys
        attributes.draw_list(
            layout, physics, "collision_groups", "active_group_index", "scene_collision_groups", "USDPHYS_UL_groups"
        )
        index = physics.active_group_index
        if not 0 <= index < len(physics.collision_groups):
            return
        group, path = physics.collision_groups[index], f"scene.usdphys.collision_groups[{index}]"
        row = fitting.together(layout, "Add Selected to Group", "Remove Selected from Group")
        row.operator("usdphys.group_add_selected").group = group.name
        row.operator("usdphys.group_remove_selected").group = group.name
        row = fitting.together(layout, "Select Members of Group", "Rename")
        row.operator("usdphys.group_select").group = group.name
        row.operator("usdphys.group_rename", text="Rename").group = group.name
        draw_text(layout.column(align=True), members_text(group.name), "OUTLINER_OB_GROUP_INSTANCE")
        attributes.draw(layout, group, ("merge_group", "invert_filtered_groups"), path)
        text = "Collides only with:" if group.invert_filtered_groups else "Does not collide with:"
        draw_text(layout.column(align=True), text, "NONE")
        attributes.draw_list(
            layout, group, "filtered_groups", "active_index", "filtered_groups", "USDPHYS_UL_group_references"
        )


def members_text(name: str) -> str:
    found = readout.members_of(name)
    if found is None:
        return "Members: ..."
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"Members: {', '.join(found[:_NAMED])}{more}" if found else "No members yet"


class _Matrix(Part):
    """A matrix of buttons: which groups do not collide with each other."""

    # Open, so that it is two folds deep.
    name, label, parent, closed = "collision_matrix", "Who Ignores Whom", "scene_collision_groups", False

    @classmethod
    def poll(cls, context: Context) -> bool:
        return len(context.scene.usdphys.collision_groups) > 0

    def draw(self, context: Context) -> None:
        groups = list(context.scene.usdphys.collision_groups)[:MATRIX]
        merged = group_edits.merged_groups(context.scene)
        layout = self.layout.column(align=True)
        head = layout.split(factor=0.4)
        head.label(text="")
        numbers = head.row(align=True)
        numbers.alignment = "LEFT"
        for number in range(1, len(groups) + 1):
            cell = numbers.column()
            cell.ui_units_x = 1.0
            cell.label(text=str(number))
        for number, one in enumerate(groups, 1):
            split = layout.split(factor=0.4)
            split.label(text=f"{number}  {one.name}")
            row = split.row(align=True)
            row.alignment = "LEFT"
            for other in groups:
                ignored = merged.ignore_each_other(merged.number[one.name], merged.number[other.name])
                cell = row.column()
                cell.ui_units_x = 1.0
                button = cell.operator("usdphys.group_ignore", text="", icon="X" if ignored else "DOT", depress=ignored)
                button.one, button.other = one.name, other.name
        hidden = len(context.scene.usdphys.collision_groups) - len(groups)
        if hidden:
            layout.label(text=tr(phrase("{count} more groups: see the list above", count=hidden)), icon="INFO")


PARTS = (_Scene, _PhysicsScenes, _CollisionGroups, _Matrix)
CLASSES = (
    item_list("groups", _draw_groups), item_list("group_references", _draw_group_references),
    *in_properties(PARTS, "scene"), *in_sidebar(PARTS),
)  # fmt: skip
