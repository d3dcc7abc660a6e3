# SPDX-License-Identifier: GPL-3.0-or-later
"""The first panel of the sidebar: a row that plays, and one box about what is selected, by its role."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, UILayout

from ..usdphys_addon.authoring import selected
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.roles import applies, is_body
from ..usdphys_addon.bridge.stored import stamps
from ..usdphys_addon.core.words import phrase
from ..usdphys_addon.viewport import readout, selection
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import attributes, fitting, vendor
from .cable_panel import draw_cable
from .places import Sidebar
from .preview_panel import draw_play

#: (role, operator, text) of the buttons that give a role.
_ROLES = (
    (selected.DYNAMIC, "usdphys.make_dynamic", "Dynamic"), (selected.STATIC, "usdphys.make_static", "Static"),
    (selected.KINEMATIC, "usdphys.make_kinematic", "Animated"), (selected.NONE, "usdphys.clear_physics", "None"),
)  # fmt: skip
#: (type of a joint, text), in two rows.
_JOINTS = (
    (("REVOLUTE", "Hinge"), ("PRISMATIC", "Slide"), ("SPHERICAL", "Ball")),
    (("FIXED", "Fixed"), ("DISTANCE", "Rope"), ("GENERIC", "Custom")),
)
#: Rows of a drive by what moves the joint: (name of the property, text).
_MOVER_ROWS = {
    selected.NOTHING: (),
    selected.SPRING: (("target_position", "Rests At"), ("stiffness", "Strength"), ("damping", "Damping")),
    selected.MOTOR: (("target_velocity", "Speed"), ("damping", "Strength"), ("max_force", "Largest Force")),
    selected.SERVO: (
        ("target_position", "Goes To"), ("stiffness", "Strength"), ("damping", "Damping"),
        ("max_force", "Largest Force"),
    ),
}  # fmt: skip
#: Limits by type of joint: (name of the property, text).
_LIMITS = {
    "REVOLUTE": (("joint_revolute_lower_limit", "From"), ("joint_revolute_upper_limit", "To")),
    "PRISMATIC": (("joint_prismatic_lower_limit", "From"), ("joint_prismatic_upper_limit", "To")),
    "SPHERICAL": (("joint_spherical_cone_angle0_limit", "Cone 1"), ("joint_spherical_cone_angle1_limit", "Cone 2")),
    "DISTANCE": (("joint_distance_min_distance", "Shortest"), ("joint_distance_max_distance", "Longest")),
}
#: Joints with one degree of freedom, that a spring or a motor may move.
_MOVED = ("REVOLUTE", "PRISMATIC")
#: Width of the button beside a value, and of the edges of the box.
_BUTTON = 34.0
_DIFFERS = "\N{NOT EQUAL TO}"


class _Rows:
    """Draws properties of the selection, each with a sign where the selected objects differ."""

    def __init__(self, context: Context, obj: Any) -> None:
        self.values = selection.current(context)
        # Blender goes through all objects of the view layer to find them.
        self.others = max(len(context.selected_objects) - 1, 0) if obj.select_get() else 0
        self.differing = selection.differing(obj) if self.others else frozenset[str]()
        self.declared = self.values.bl_rna.properties
        self.room = fitting.room() - _BUTTON

    def draw(self, layout: UILayout, name: str, text: str | None = None, **search: Any) -> None:
        """text: in place of the name of the property. search: as of `prop_search`."""
        declared = self.declared[name]
        label = fitting.shown(declared.name if text is None else text)
        if name in self.differing:
            label = f"{label} {_DIFFERS}"
        row = layout.row(align=True)
        fits = fitting.text_width(label) <= fitting.label_room(declared.type, self.room, is_split=True)
        if fits and not search:
            row.prop(self.values, name, text=label, translate=False)
        else:
            fitting.prop(row.column(), self.values, name, text=label, taken=_BUTTON, **search)
        if selection.is_authored(name):
            row.operator("usdphys.selection_unset", text="", icon="X", emboss=False).name = name
        elif name == "mass":
            row.operator("usdphys.author_computed", text="", icon="EYEDROPPER", emboss=False).field = "mass"
        else:
            row.label(text="", icon="BLANK1")

    def choice(self, layout: UILayout, name: str, items: Any) -> None:
        """Buttons for (value, text) beside each other, in two columns where one would be cut."""
        fits = fitting.columns(len(items), *(text for _, text in items)) > 1
        row = layout.row(align=True) if fits else layout.grid_flow(row_major=True, columns=2, align=True)
        row.use_property_split = False
        for value, text in items:
            row.prop_enum(self.values, name, value, text=text)


class USDPHYS_PT_selection(Sidebar, bpy.types.Panel):
    bl_label = "Physics"
    bl_order = 0

    def draw(self, context: Context) -> None:
        layout = self.layout
        row = draw_play(layout, context)
        row.operator("usdphys.preview_bake", text="", icon="REC")
        row.operator("usdphys.export_usd", text="", icon="EXPORT")
        obj = context.object
        if obj is None:
            layout.label(text="Select an object", icon="INFO")
            return
        version = stamps.stamp_of(obj)
        if stamps.is_newer(version):
            draw_text(layout, stamps.newer_message({obj.name: version}), "ERROR")
        role = selected.role_of(obj)
        box = layout.box().column()
        box.use_property_split, box.use_property_decorate = True, False
        rows = _Rows(context, obj)
        name = tr(phrase("{name} and {count} more", name=obj.name, count=rows.others)) if rows.others else obj.name
        box.label(text=name, icon="OBJECT_DATA", translate=False)
        if role == selected.JOINT:
            self.draw_joint(box, rows, context, obj)
            self.draw_joint_folds(layout, rows, context, obj)
            return
        columns = fitting.columns(len(_ROLES), *(text for _, _, text in _ROLES))
        buttons = box.grid_flow(row_major=True, columns=columns if columns > 1 else 2, even_columns=True, align=True)
        for which, idname, text in _ROLES:
            buttons.operator(idname, text=text, depress=which == role)
        if applies(obj, "cable"):
            draw_cable(box, obj)
        if role != selected.NONE:
            self.draw_body(box, rows, context, obj)
            self.draw_body_folds(layout, rows, context, obj)

    def draw_body(self, box: Any, rows: _Rows, context: Context, obj: Any) -> None:
        if is_body(obj):
            rows.draw(box, "mass")
            computed = readout.mass_of(obj.name)
            if computed is not None and not computed.problem and not selection.is_authored("mass"):
                source = phrase("from {source}", source=dict(computed.sources)["mass"])
                draw_text(box.column(align=True), source, "NONE")
        if selected.has_colliders(obj):
            rows.draw(box, "collider_shape")
            shapes = readout.shapes_of(obj.name)
            index = obj.usdphys.active_collider_index
            if shapes and index < len(shapes) and obj.usdphys.colliders[index].shape == "AUTO":
                draw_text(box.column(align=True), phrase("Automatic: {shape}", shape=phrase(shapes[index])), "NONE")
            fitting.prop(box, obj.usdphys, "physics_material", text="Surface", taken=_BUTTON)
            rows.draw(box, "friction")
            rows.draw(box, "bounce")
        if is_body(obj):
            rows.draw(box, "damping")
        rows.draw(
            box, "group", search_data=context.scene.usdphys, search_property="collision_groups", icon="GROUP"
        )  # fmt: skip

    def draw_body_folds(self, layout: UILayout, rows: _Rows, context: Context, obj: Any) -> None:
        if is_body(obj):
            body = _fold(layout, "start", "Start: Velocity, Asleep")
            if body is not None:
                for name in ("velocity", "angular_velocity", "starts_asleep"):
                    rows.draw(body, f"rigid_body_{name}")
            body = _fold(layout, "mass", "Mass: Centre, Inertia")
            if body is not None:
                for name in ("center_of_mass", "diagonal_inertia"):
                    rows.draw(body, f"mass_{name}")
        if selected.has_colliders(obj):
            body = _fold(layout, "shape", "Shape: Parts, Own Mass")
            if body is not None:
                physics = obj.usdphys
                attributes.draw_list(
                    body, physics, "colliders", "active_collider_index", "colliders", "USDPHYS_UL_colliders"
                )
                rows.draw(body, "collider_approximation")
                index = physics.active_collider_index
                if 0 <= index < len(physics.colliders):
                    own = physics.colliders[index].mass
                    body.prop(own, "is_applied", text="Own Mass")
                    if own.is_applied:
                        fitting.prop(body, own, "mass")
        self.draw_simulators(layout, context, obj, "body")

    def draw_joint(self, box: Any, rows: _Rows, context: Context, obj: Any) -> None:
        joint = obj.usdphys.joint
        column = box.column(align=True)
        for items in _JOINTS:
            rows.choice(column, "joint_type", items)
        row = box.row(align=True)
        row.use_property_split = False
        row.prop(joint, "body0", text="")
        row.operator("usdphys.joint_swap_bodies", text="", icon="ARROW_LEFTRIGHT")
        row.prop(joint, "body1", text="")
        limited = rows.values.is_limited
        if joint.type in _MOVED:
            rows.draw(box, "is_limited")
        for name, text in _LIMITS.get(joint.type, ()) if limited or joint.type not in _MOVED else ():
            rows.draw(box, name, text)
        if joint.type in _MOVED:
            mover = selected.mover_of(obj)
            column = box.column(align=True)
            column.label(text=f"{fitting.shown('Moves By')} {_DIFFERS}" if "mover" in rows.differing else "Moves By")
            declared = rows.values.bl_rna.properties["mover"].enum_items
            rows.choice(column, "mover", [(item.identifier, item.name) for item in declared])
            dof = selected.dof_of(joint)
            for name, text in _MOVER_ROWS[mover]:
                rows.draw(box, selection.name_of(f"joint.drives.{dof}", name), text)
        elif joint.type == "GENERIC":
            draw_text(box.column(align=True), "Its limits and drives are in the Physics tab of the properties", "INFO")
        for name, text in (("joint_break_force", "Breaks at Force"), ("joint_break_torque", "Breaks at Torque")):
            rows.draw(box, name, text)

    def draw_joint_folds(self, layout: UILayout, rows: _Rows, context: Context, obj: Any) -> None:
        body = _fold(layout, "frames", "Frames and Axis")
        if body is not None:
            rows.draw(body, "joint_axis")
            rows.draw(body, "joint_collision_enabled")
            fitting.button(body, "usdphys.joint_fix_frames", "PINNED", "Keep in Bodies")
        self.draw_simulators(layout, context, obj, "joint", "dof")

    def draw_simulators(self, layout: UILayout, context: Context, obj: Any, *places: Any) -> None:
        physics = obj.usdphys
        count = sum(bool(row.name) for row in physics.vendor) if "vendor" in physics.keys() else 0
        text = tr(phrase("For Simulators ({count} set)", count=count)) if count else "For Simulators"
        body = _fold(layout, f"simulators_{places[0]}", text)
        if body is not None:
            vendor.draw(body, context, physics, "object", "object.usdphys", *places)


def _fold(layout: UILayout, name: str, label: str) -> Any:
    """The layout inside a subpanel; None while it is closed."""
    header, body = layout.panel(f"usdphys_selection_{name}", default_closed=True)
    header.label(text=label)
    if body is not None:
        body.use_property_split, body.use_property_decorate = True, False
    return body


CLASSES = (USDPHYS_PT_selection,)
