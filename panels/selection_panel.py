# SPDX-License-Identifier: GPL-3.0-or-later
"""The first panel of the sidebar: a row that plays, and one box about what is selected, by its role."""

from __future__ import annotations

import re
from typing import Any

import bpy
from bpy.types import Context, UILayout

from ..usdphys_addon.authoring import group_edits, selected, value_keys
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.roles import applies, body_at
from ..usdphys_addon.bridge.stored import stamps
from ..usdphys_addon.core.joint_kinds import BY_IDENTIFIER
from ..usdphys_addon.core.schemas import usd_physics
from ..usdphys_addon.core.words import counted, joined, phrase
from ..usdphys_addon.viewport import readout, selection, shown_values
from ..usdphys_addon.viewport.wrapped_text import draw_rest, draw_text
from . import attributes, fitting, freedoms, vendor
from .cable_panel import draw_cable
from .places import Sidebar
from .preview_panel import draw_kept, draw_play
from .scene_physics import MATRIX, members_text

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
    selected.MOTOR: (("target_velocity", "Speed"), ("damping", "Strength"), ("max_force", "Max Force")),
    selected.SERVO: (
        ("target_position", "Goes To"), ("stiffness", "Strength"), ("damping", "Damping"),
        ("max_force", "Max Force"),
    ),
}  # fmt: skip
#: Texts of these rows where the drive turns.
_OF_TURNS = {"Max Force": "Max Torque"}
#: Rows of a drive that moves nothing, because these are 0.
_GAIN_ROWS = (("stiffness", "Stiffness"), ("damping", "Damping"))
#: Limits by type of joint: (name of the property, text).
_LIMITS = {
    "REVOLUTE": (("joint_revolute_lower_limit", "From"), ("joint_revolute_upper_limit", "Up To")),
    "PRISMATIC": (("joint_prismatic_lower_limit", "From"), ("joint_prismatic_upper_limit", "Up To")),
    "SPHERICAL": (("joint_spherical_cone_angle0_limit", "Cone 1"), ("joint_spherical_cone_angle1_limit", "Cone 2")),
    "DISTANCE": (("joint_distance_min_distance", "Shortest"), ("joint_distance_max_distance", "Longest")),
}
#: Joints with one degree of freedom, that a spring or a motor may move.
_MOVED = ("REVOLUTE", "PRISMATIC")
#: Width of the buttons beside a value, without and with the edges of the box.
_BUTTONS, _BUTTON = 40.0, 54.0
#: Part of what these buttons leave that is left of a box to tick: Blender splits the row as if they were not there.
_LEFT_OF_TICK = 0.52
#: Icon of the button that animates a value, by what animates it.
_DOTS = {
    value_keys.STILL: "DECORATE", value_keys.ANIMATED: "DECORATE_ANIMATE", value_keys.KEYED: "DECORATE_KEYFRAME",
    value_keys.DRIVEN: "DECORATE_DRIVER", "": "BLANK1",
}  # fmt: skip
#: Joints of a body that are listed, and width of a button that selects.
_JOINTS_SHOWN, _SELECT = 6, 25
_DIFFERS = "\N{NOT EQUAL TO}"
#: The unit at the end of a label.
_UNIT = re.compile(r" \([^()]*\)$")


class _Rows:
    """Draws properties of the selection, each with a sign where the selected objects differ."""

    def __init__(self, context: Context, shown: shown_values.Shown) -> None:
        self.shown, self.values = shown, selection.current(context)
        obj = shown.obj
        number, chosen = selection.drawn_for(context, obj)
        self.others = number - 1
        self.differing = selection.differing(obj, chosen, number) if self.others else frozenset[str]()
        self.room = fitting.room() - _BUTTON

    def draw(self, layout: UILayout, name: str, text: str | None = None, **search: Any) -> None:
        """text: in place of the name of the property. search: as of `prop_search`."""
        declared = selection.DECLARED[name]
        label = fitting.shown(declared.name if text is None else text)
        row = layout.row(align=True)
        share = _LEFT_OF_TICK if declared.type == "BOOLEAN" else fitting.SPLIT
        # The buttons beside a field take of the field alone.
        width = self.room if declared.type == "BOOLEAN" else self.room + _BUTTONS
        room = fitting.label_room(declared.type, width, is_split=True, share=share)
        if name in self.differing:
            signed = f"{label} {_DIFFERS}"
            # The sign comes a moment later, and a label that needed a line of its own would move what is below it.
            label = signed if fitting.text_width(signed) <= room else f"{_UNIT.sub('', label)} {_DIFFERS}"
        fits = fitting.text_width(label) <= room and (
            not search
            or fitting.chosen_fits(self.shown.value(name) or "", declared.type, self.room, is_split=True)
        )  # fmt: skip
        typed = self.shown.typed_over(name)
        if typed is not None and fits:
            row.prop(self.values, typed.name, text=label, translate=False, placeholder=tr(typed.placeholder))
        elif typed is not None:
            column = row.column(align=True)
            column.use_property_split = False
            column.label(text=label, translate=False)
            column.prop(self.values, typed.name, text="", placeholder=tr(typed.placeholder))
        elif fits:
            # In a column of its own the field would begin elsewhere than those above and below.
            draw = row.prop_search if search else row.prop
            draw(self.values, name, text=label, translate=False, **search)
        else:
            fitting.prop(row.column(), self.values, name, text=label, taken=_BUTTON, **search)
        if self.shown.is_authored(name):
            row.operator("usdphys.selection_unset", text="", icon="X", emboss=False).name = name
        elif name == "mass":
            row.operator("usdphys.author_computed", text="", icon="EYEDROPPER", emboss=False).field = "mass"
        else:
            row.label(text="", icon="BLANK1")
        dot = _DOTS[self.shown.key_state(name)]
        if dot == "BLANK1":
            row.label(text="", icon=dot)
        else:
            row.operator("usdphys.selection_key", text="", icon=dot, emboss=False).name = name

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
        draw_kept(layout, context.scene)
        obj = context.object
        if obj is None or not (obj.select_get() or context.selected_objects):
            draw_text(layout.column(align=True), "Select an object to see its physics", "INFO")
            self.draw_scene(layout, context)
            return
        version = stamps.stamp_of(obj)
        if stamps.is_newer(version):
            draw_text(layout, stamps.newer_message({obj.name: version}), "ERROR")
        with shown_values.drawing(obj) as shown:
            self.draw_box(layout, _Rows(context, shown), context, obj)

    def draw_box(self, layout: UILayout, rows: _Rows, context: Context, obj: Any) -> None:
        """What is selected, by its role, and its folds."""
        role = selected.role_of(obj)
        box = layout.box().column()
        box.use_property_split, box.use_property_decorate = True, False
        name = tr(phrase("{name} and {count} more", name=obj.name, count=rows.others)) if rows.others else obj.name
        _title(box, name, "OBJECT_DATA")
        if role == selected.JOINT:
            self.draw_joint(box, rows, context, obj)
            self.draw_joint_folds(layout, rows, context, obj)
            return
        columns = fitting.columns(len(_ROLES), *(text for _, _, text in _ROLES))
        if selection.ROLE in rows.differing:
            draw_text(box.column(align=True), f"{_DIFFERS} {fitting.shown('Not all are the same')}", "NONE")
        buttons = box.grid_flow(row_major=True, columns=columns if columns > 1 else 2, even_columns=True, align=True)
        body = body_at(obj)
        is_part = body is not None and body != obj
        for which, idname, text in _ROLES:
            # A collider below a body moves with it.
            buttons.operator(idname, text=text, depress=which == role and not (is_part and role == selected.STATIC))
        if is_part:
            _named(box, phrase("Part of the body '{name}'", name=body.name), body.name, "RIGID_BODY")
        held = selection.held_by(obj)
        if held is not None and held.bodies:
            parts = [counted(number, name) for number, name in zip(held, ("body", "joint"), strict=True) if number]
            text = phrase("Has {inside} inside, which play", inside=joined(", ", parts))
            draw_text(box.column(align=True), text, "PHYSICS")
        if applies(obj, "cable"):
            draw_cable(box, obj)
        if role != selected.NONE:
            self.draw_body(box, rows, context, obj)
        elif obj.type in ("CURVE", "SURFACE") and not applies(obj, "cable"):
            self.draw_curve(box, rows, obj)
        if rows.shown.has("articulation"):
            self.draw_articulation(box, rows, obj)
        if not rows.others and (role != selected.NONE or body is not None):
            self.draw_joints(box, obj)
        if role != selected.NONE:
            self.draw_body_folds(layout, rows, context, obj)

    def draw_scene(self, layout: UILayout, context: Context) -> None:
        """What nothing selected leaves: the scene."""
        scene: Any = context.scene
        physics = scene.usdphys
        box = layout.box().column()
        box.use_property_split, box.use_property_decorate = True, True
        _title(box, scene.name, "SCENE_DATA")
        index = max(physics.active_scene_index, 0)
        if index < len(physics.physics_scenes):
            own, path = physics.physics_scenes[index], f"scene.usdphys.physics_scenes[{index}]"
            for name in ("gravity_magnitude", "gravity_direction"):
                attributes.draw_one(box, own, name, path)
            if not own.is_property_set("gravity_magnitude"):
                draw_text(box.column(align=True), "Automatic: 9.81 m/s², down", "NONE")
        else:
            fitting.prop(box, scene, "use_gravity")
            row = box.column()
            row.active = scene.use_gravity
            fitting.prop(row, scene, "gravity")
            if scene.use_gravity and scene.unit_settings.scale_length != 1.0:
                self.draw_default_gravity(box, scene)
        box.use_property_decorate = False
        fitting.prop(box, physics.preview, "quality", text="Preview")
        fitting.choice(box, physics, "targets", text="Simulators")

    def draw_default_gravity(self, box: Any, scene: Any) -> None:
        """Blender shows its default gravity in the unit of the scene: -0.0098 m/s² in one of millimetres."""
        from ..usdphys_addon.bridge.animated import gravity_of

        if gravity_of(scene, 1.0).gravity_magnitude is None:
            draw_text(box.column(align=True), "Automatic: 9.81 m/s², down", "INFO")

    def draw_articulation(self, box: Any, rows: _Rows, obj: Any) -> None:
        """The root of a robot or a ragdoll."""
        # Two lines before and after it is known: what is below must not move under the mouse.
        found = selection.articulation_of(obj)
        column = box.column(align=True)
        if found is None:
            draw_text(column, "Articulation", "OUTLINER_OB_ARMATURE")
            column.label(text="")
        elif not found.joints:
            draw_text(column, "Articulation root without joints: it has no effect", "ERROR")
        else:
            title = "Articulation, fixed to the world" if found.is_fixed else "Articulation, free"
            draw_text(column, title, "OUTLINER_OB_ARMATURE")
            parts = (counted(found.bodies, "body"), counted(found.joints, "joint"))
            draw_text(column, joined(", ", parts), "BLANK1")
        rows.draw(box, "self_collision")

    def draw_body(self, box: Any, rows: _Rows, context: Context, obj: Any) -> None:
        if rows.shown.has("body"):
            rows.draw(box, "mass")
            _why_unknown(box, rows.shown, "mass")
        if rows.shown.has("collider"):
            rows.draw(box, "collider_shape")
            shapes = readout.shapes_of(obj.name) or ()
            colliders, index = obj.usdphys.colliders, obj.usdphys.active_collider_index
            if 0 <= index < len(colliders) and colliders[index].shape in ("AUTO", "MESH"):
                # Empty while it is not known: a row that came later would move those below it under the mouse.
                text = tr(phrase(shapes[index])) if index < len(shapes) else ""
                _below_value(box, f"{text} {_DIFFERS}" if selection.SHAPES in rows.differing else text)
            rows.draw(box, "surface", search_data=bpy.data, search_property="materials", icon="MATERIAL")
            rows.draw(box, "friction")
            rows.draw(box, "bounce")
        if rows.shown.has("body"):
            rows.draw(box, "damping")
        # The first group has no other to be chosen from: a new name makes one.
        rows.draw(
            box, "group", search_data=context.scene.usdphys, search_property="collision_groups", icon="GROUP",
            results_are_suggestions=True,
        )  # fmt: skip

    def draw_joints(self, box: Any, obj: Any) -> None:
        """A button for each joint that holds the object."""
        names = selection.joints_of(obj)
        if not names:
            return
        column = box.column(align=True)
        column.label(text="Held by Joints")
        for name in names[:_JOINTS_SHOWN]:
            button = column.operator("usdphys.select_object", text=name, icon="RIGID_BODY_CONSTRAINT", translate=False)
            button.name = name
        draw_rest(column, len(names), _JOINTS_SHOWN)

    def draw_curve(self, box: Any, rows: _Rows, obj: Any) -> None:
        """Why a curve cannot collide, and how it can."""
        from ..usdphys_addon.authoring.collider_choice import loses_faces

        if not loses_faces(obj):
            return
        text = "Files hold this curve without its faces: as a mesh it can collide"
        draw_text(box.column(align=True), text, "INFO")
        if not rows.others:
            # It would apply the modifiers of other objects.
            box.operator("object.convert", text="Convert to Mesh", icon="MESH_DATA").target = "MESH"

    def draw_body_folds(self, layout: UILayout, rows: _Rows, context: Context, obj: Any) -> None:
        if rows.shown.has("body"):
            body = _fold(layout, "start", "Start: Velocity, Asleep")
            if body is not None:
                for name in ("velocity", "angular_velocity", "starts_asleep"):
                    rows.draw(body, f"rigid_body_{name}")
            body = _fold(layout, "mass", "Mass: Centre, Inertia")
            if body is not None:
                for name in ("center_of_mass", "diagonal_inertia"):
                    rows.draw(body, f"mass_{name}")
                _why_unknown(body, rows.shown, "mass_center_of_mass", "mass_diagonal_inertia")
        if rows.shown.has("collider"):
            body = _fold(layout, "shape", "Shape: Parts, Own Mass")
            if body is not None:
                physics = obj.usdphys
                attributes.draw_list(
                    body, physics, "colliders", "active_collider_index", "colliders", "USDPHYS_UL_colliders"
                )
                index = physics.active_collider_index
                if 0 <= index < len(physics.colliders):
                    collider = physics.colliders[index]
                    # An automatic shape is not that of an approximation that nobody has chosen; others have none.
                    if collider.shape == "MESH" or (
                        collider.shape == "AUTO" and collider.is_property_set("approximation")
                    ):  # fmt: skip
                        rows.draw(body, "collider_approximation")
                    own = collider.mass
                    body.prop(own, "is_applied", text="Own Mass")
                    if own.is_applied:
                        fitting.prop(body, own, "mass")
            self.draw_surface(layout, context, obj)
        self.draw_group(layout, rows, context)
        if applies(obj, "filtered_pairs"):
            # Those of a joint's bodies are made with it: here is why they pass through each other.
            body = _fold(layout, "filtered", "Filtered Pairs")
            if body is not None:
                attributes.draw_pairs(body, obj.usdphys.filtered_pairs)
        self.draw_simulators(layout, context, obj, "body")

    def draw_surface(self, layout: UILayout, context: Context, obj: Any) -> None:
        """The physics material of the active object, for all that have it."""
        material, path = selected.surface_of(obj)
        if material is None:
            return
        body = _fold(layout, "surface", tr(phrase("Surface: {name}", name=material.name)))
        if body is None:
            return
        if not material.is_editable:
            draw_text(body.column(align=True), "It is linked from another file, and stays as it is", "INFO")
        body.enabled = material.is_editable
        own = material.usdphys
        if (selected.own_material(obj.usdphys) or obj.active_material) == material:
            body.operator_menu_enum("usdphys.apply_material_preset", "preset", text="Typical Values")
        names = attributes.fields_of(usd_physics.MaterialAPI)
        attributes.draw(body, own.physics_material, names, f"{path}.physics_material")
        vendor.draw(body, context, own, "material", path)

    def draw_group(self, layout: UILayout, rows: _Rows, context: Context) -> None:
        """The collision group of the active object: its members, and what they pass through."""
        name = rows.shown.value("group")
        groups = context.scene.usdphys.collision_groups
        if not name or name not in groups:
            return
        body = _fold(layout, "group", tr(phrase("Group: {name}", name=name)))
        if body is None:
            return
        draw_text(body.column(align=True), members_text(name), "OUTLINER_OB_GROUP_INSTANCE")
        row = fitting.together(body, "Select Members of Group", "Rename")
        row.operator("usdphys.group_select").group = name
        row.operator("usdphys.group_rename", text="Rename").group = name
        column = body.column(align=True)
        column.label(text="Passes Through:")
        merged = group_edits.merged_groups(context.scene)
        for other in groups[:MATRIX]:
            is_ignored = merged.ignore_each_other(merged.number[name], merged.number[other.name])
            text = tr("Itself") if other.name == name else other.name
            button = column.operator(
                "usdphys.group_ignore", text=text, icon="CHECKBOX_HLT" if is_ignored else "CHECKBOX_DEHLT",
                translate=False,
            )  # fmt: skip
            button.one, button.other = name, other.name
        if len(groups) > MATRIX:
            hidden = phrase("{count} more groups: see the panel Scene", count=len(groups) - MATRIX)
            draw_text(body.column(align=True), hidden, "INFO")

    def draw_joint(self, box: Any, rows: _Rows, context: Context, obj: Any) -> None:
        joint = obj.usdphys.joint
        column = box.column(align=True)
        for items in _JOINTS:
            rows.choice(column, "joint_type", items)
        if rows.others:
            draw_text(box.column(align=True), phrase("The bodies of '{name}' alone:", name=obj.name), "NONE")
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
            dof, fields = selected.dof_of(joint), _MOVER_ROWS[mover]
            if selected.has_idle_drive(obj):
                draw_text(column, "It has a drive, whose stiffness and damping are 0", "INFO")
                fields = _GAIN_ROWS
            for name, text in fields:
                shown = _OF_TURNS.get(text, text) if joint.type == "REVOLUTE" else text
                rows.draw(box, shown_values.name_of(f"joint.drives.{dof}", name), shown)
        elif joint.type == "GENERIC":
            if rows.others:
                draw_text(box.column(align=True), phrase("The freedoms of '{name}' alone:", name=obj.name), "NONE")
            freedoms.draw_freedoms(box, joint)
            freedoms.draw_limits(box, joint, "object.usdphys.joint.limits")
        for name, text in (("joint_break_force", "Breaks At"), ("joint_break_torque", "Or Torque")):
            rows.draw(box, name, text)

    def draw_joint_folds(self, layout: UILayout, rows: _Rows, context: Context, obj: Any) -> None:
        joint = obj.usdphys.joint
        body = _fold(layout, "drives", "Drives") if joint.type == "GENERIC" else None
        if body is not None:
            dofs = list(BY_IDENTIFIER["GENERIC"].drives)
            freedoms.draw_dofs(body, joint.drives, usd_physics.DriveAPI, dofs, "object.usdphys.joint.drives")
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


def _why_unknown(box: Any, shown: shown_values.Shown, *names: str) -> None:
    """Why one of these values is not computed."""
    for reason in dict.fromkeys(filter(None, map(shown.problem, names))):
        draw_text(box.column(align=True), reason, "INFO")


def _below_value(box: Any, text: str) -> None:
    """A text below the field of a property, with nothing on the side of the labels."""
    split = box.split(factor=0.4, align=True)
    split.label(text="")
    split.label(text=text, translate=False)


def _named(box: Any, text: Any, name: str, icon: str) -> None:
    """A text with a button that selects the object which it names."""
    row = box.row(align=True)
    draw_text(row.column(align=True), text, icon, taken=_SELECT)
    row.operator("usdphys.select_object", text="", icon="RESTRICT_SELECT_OFF").name = name


def _title(box: Any, name: str, icon: str) -> None:
    row = box.row(align=True)
    row.label(text=name, icon=icon, translate=False)
    row.operator("usdphys.find_setting", text="", icon="VIEWZOOM", emboss=False)


def _fold(layout: UILayout, name: str, label: str) -> Any:
    """The layout inside a subpanel; None while it is closed."""
    header, body = layout.panel(f"usdphys_selection_{name}", default_closed=True)
    header.label(text=label)
    if body is not None:
        body.use_property_split, body.use_property_decorate = True, False
    return body


CLASSES = (USDPHYS_PT_selection,)
