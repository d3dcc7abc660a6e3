# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab of an object: body, mass, colliders, joint, articulation, filters and groups."""

from __future__ import annotations

from typing import Any

import bpy

from ..usdphys_addon.bridge.environment import usd_is_supported
from ..usdphys_addon.bridge.props import GPRIM_SHAPES, JOINT_TYPES
from ..usdphys_addon.core import schema
from . import attributes

_GPRIM_FIELDS = {
    schema.Cube: ("size",), schema.Sphere: ("radius",), schema.Capsule: ("radius", "height", "axis"),
    schema.Cylinder: ("radius", "height", "axis"), schema.Cone: ("radius", "height", "axis"),
    schema.Plane: ("size", "axis"),
}  # fmt: skip


class _ObjectPanel:
    layout: Any
    bl_space_type: Any = "PROPERTIES"
    bl_region_type: Any = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None


class _SubPanel(_ObjectPanel):
    bl_parent_id = "USDPHYS_PT_object"
    bl_options: Any = {"DEFAULT_CLOSED"}
    #: Property group whose is_applied the header switches.
    applied = ""

    def draw_header(self, context: Any) -> None:
        if self.applied:
            self.layout.prop(getattr(context.object.usdphys, self.applied), "is_applied", text="")

    def split_layout(self, context: Any) -> Any:
        layout: Any = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        if self.applied:
            layout.active = getattr(context.object.usdphys, self.applied).is_applied
        return layout


class USDPHYS_PT_object(_ObjectPanel, bpy.types.Panel):
    bl_label = "USD Physics"

    def draw(self, context: Any) -> None:
        if not usd_is_supported():
            self.layout.label(text="No export:", icon="ERROR")
            self.layout.label(text="built without USD", icon="BLANK1")


class USDPHYS_PT_rigid_body(_SubPanel, bpy.types.Panel):
    bl_label = "Rigid Body"
    applied = "rigid_body"

    def draw(self, context: Any) -> None:
        layout, body = self.split_layout(context), context.object.usdphys.rigid_body
        attributes.draw(layout, body, attributes.fields_of(schema.RigidBodyAPI), "object.usdphys.rigid_body")
        _draw_owner(layout, context, body)


class USDPHYS_PT_mass(_SubPanel, bpy.types.Panel):
    bl_label = "Mass"
    applied = "mass"

    def draw(self, context: Any) -> None:
        layout = self.split_layout(context)
        _draw_mass(layout, context.object.usdphys.mass, "object.usdphys.mass")


class USDPHYS_UL_colliders(bpy.types.UIList):
    def draw_item(  # type: ignore[override]
        self, context: Any, layout: Any, _data: Any, item: Any, _icon: int, _owner: Any, _index: str
    ) -> None:
        row = layout.row(align=True)
        row.prop(item, "shape", text="", emboss=False)
        row.prop(item, "name", text="", emboss=False, placeholder="automatic name")


class USDPHYS_PT_colliders(_SubPanel, bpy.types.Panel):
    bl_label = "Colliders"

    def draw(self, context: Any) -> None:
        layout, physics = self.split_layout(context), context.object.usdphys
        attributes.draw_list(
            layout, physics, "colliders", "active_collider_index", "colliders", "USDPHYS_UL_colliders"
        )
        layout.prop(physics, "physics_material")
        index = physics.active_collider_index
        if not 0 <= index < len(physics.colliders):
            return
        collider, path = physics.colliders[index], f"object.usdphys.colliders[{index}]"
        column = layout.column()
        column.prop(collider, "shape")
        if collider.shape in ("MESH", "AUTO"):
            attributes.draw_one(column, collider, "approximation", path)
        kind = GPRIM_SHAPES.get(collider.shape)
        if kind is not None:
            attributes.draw(column, collider, (*_GPRIM_FIELDS[kind], "location", "rotation"), path)
        column.prop(collider, "purpose")
        attributes.draw_one(column, collider, "collision_enabled", path)
        column.prop(collider, "physics_material")
        _draw_owner(column, context, collider)
        column.prop(collider.mass, "is_applied", text="Own Mass")
        if collider.mass.is_applied:
            _draw_mass(column, collider.mass, f"{path}.mass")


class USDPHYS_PT_joint(_SubPanel, bpy.types.Panel):
    bl_label = "Joint"
    applied = "joint"

    def draw(self, context: Any) -> None:
        layout, joint = self.split_layout(context), context.object.usdphys.joint
        path = "object.usdphys.joint"
        layout.prop(joint, "type")
        layout.prop(joint, "body0")
        layout.prop(joint, "body1")
        cls = JOINT_TYPES[joint.type]
        if any(attribute.field == "axis" for attribute in cls.attributes):
            attributes.draw_one(layout, joint, "axis", path)
        own = joint.type.lower()
        if hasattr(joint, own):
            group = getattr(joint, own)
            names = [name for name in attributes.fields_of(cls) if name in type(group).__annotations__]
            attributes.draw(layout, group, names, f"{path}.{own}")
        frame = {"local_pos0", "local_rot0", "local_pos1", "local_rot1"}
        shared = attributes.fields_of(schema.Joint)
        attributes.draw(layout, joint, [name for name in shared if name not in frame], path)
        header, body = layout.panel("usdphys_joint_frames", default_closed=True)
        header.label(text="Frames (from the object's place until set)")
        if body is not None:
            attributes.draw(body, joint, [name for name in shared if name in frame], path)
        per_dof = (("Limits", joint.limits, schema.LimitAPI), ("Drives", joint.drives, schema.DriveAPI))
        for label, groups, kind in per_dof:
            header, body = layout.panel(f"usdphys_joint_{label.lower()}", default_closed=True)
            header.label(text=label)
            if body is not None:
                _draw_dofs(body, groups, kind, f"{path}.{label.lower()}")


class USDPHYS_PT_articulation_root(_SubPanel, bpy.types.Panel):
    bl_label = "Articulation Root"
    applied = "articulation_root"

    def draw(self, context: Any) -> None:
        layout = self.split_layout(context)
        layout.label(text="Joints below prefer reduced coordinates")


class USDPHYS_PT_filtered_pairs(_SubPanel, bpy.types.Panel):
    bl_label = "Filtered Pairs"
    applied = "filtered_pairs"

    def draw(self, context: Any) -> None:
        layout, pairs = self.split_layout(context), context.object.usdphys.filtered_pairs
        attributes.draw_list(layout, pairs, "filtered_pairs", "active_index", "filtered_pairs", "USDPHYS_UL_objects")


class USDPHYS_UL_objects(bpy.types.UIList):
    def draw_item(  # type: ignore[override]
        self, context: Any, layout: Any, _data: Any, item: Any, _icon: int, _owner: Any, _index: str
    ) -> None:
        layout.prop(item, "object", text="")


class USDPHYS_UL_memberships(bpy.types.UIList):
    def draw_item(  # type: ignore[override]
        self, context: Any, layout: Any, _data: Any, item: Any, _icon: int, _owner: Any, _index: str
    ) -> None:
        row = layout.row(align=True)
        row.prop_search(item, "name", context.scene.usdphys, "collision_groups", text="", icon="GROUP")
        row.prop(item, "exclude", text="", icon="REMOVE" if item.exclude else "ADD", emboss=False)


class USDPHYS_PT_collision_groups(_SubPanel, bpy.types.Panel):
    bl_label = "Collision Groups"

    def draw(self, context: Any) -> None:
        layout, physics = self.split_layout(context), context.object.usdphys
        attributes.draw_list(
            layout, physics, "collision_groups", "active_group_index", "collision_groups", "USDPHYS_UL_memberships"
        )


def _draw_owner(layout: Any, context: Any, group: Any) -> None:
    layout.prop_search(group, "simulation_owner", context.scene.usdphys, "physics_scenes", icon="SCENE_DATA")


def _draw_mass(layout: Any, group: Any, path: str) -> None:
    attributes.draw(layout, group, attributes.fields_of(schema.MassAPI), path)


def _draw_dofs(layout: Any, groups: Any, cls: type[schema.Schema], path: str) -> None:
    for dof in cls.instances:
        group = getattr(groups, dof)
        layout.prop(group, "is_applied", text=dof)
        if group.is_applied:
            attributes.draw(layout, group, attributes.fields_of(cls), f"{path}.{dof}")


CLASSES = (
    USDPHYS_UL_colliders, USDPHYS_UL_objects, USDPHYS_UL_memberships, USDPHYS_PT_object, USDPHYS_PT_rigid_body,
    USDPHYS_PT_mass, USDPHYS_PT_colliders, USDPHYS_PT_joint, USDPHYS_PT_articulation_root, USDPHYS_PT_filtered_pairs,
    USDPHYS_PT_collision_groups,
)  # fmt: skip
