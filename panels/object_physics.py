# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics of the active object: body, mass, colliders, joint, articulation, filters and groups."""

from typing import Any

from bpy.types import Context, PropertyGroup, UILayout

from ..usdphys_addon.bridge import vendor_rows
from ..usdphys_addon.bridge.environment import NO_USD, usd_is_supported
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.props import GPRIM_SHAPES
from ..usdphys_addon.bridge.roles import has_velocity
from ..usdphys_addon.bridge.stored import stamps
from ..usdphys_addon.core.joint_kinds import BY_IDENTIFIER
from ..usdphys_addon.core.schemas import usd_geom, usd_physics
from ..usdphys_addon.core.words import number_text, phrase
from ..usdphys_addon.viewport import readout
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import attributes, fitting, freedoms, vendor
from .places import Part, in_properties, item_list

_PLACE = ("location", "rotation")
#: A sphere looks the same however it is rotated.
_GPRIM_FIELDS = {
    usd_geom.Cube: ("size", *_PLACE), usd_geom.Sphere: ("radius", "location"),
    usd_geom.Capsule: ("radius", "height", "axis", *_PLACE), usd_geom.Cone: ("radius", "height", "axis", *_PLACE),
    usd_geom.Cylinder: ("radius", "height", "axis", *_PLACE), usd_geom.Plane: ("size", "axis", *_PLACE),
}  # fmt: skip
_FRAME_FIELDS = frozenset({"local_pos0", "local_rot0", "local_pos1", "local_rot1"})
#: What the edges of a box take of a row.
_BOX = 12
#: What a list says in place of a name, the part of its rows for names, what its edges and buttons take of a panel, and
#: the edges of a field.
_UNNAMED, _NAMES, _LIST, _FIELD = "automatic name", 0.45, 38.0, 16.0
_BREAK_FIELDS = ("break_force", "break_torque")


class _Object(Part):
    """All physics of the active object."""

    name, label, closed = "object", "USD Physics", False

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None

    def draw(self, context: Context) -> None:
        if not usd_is_supported():
            draw_text(self.layout, NO_USD, "ERROR")
        version = stamps.stamp_of(context.object)
        if stamps.is_newer(version):
            draw_text(self.layout, stamps.newer_message({context.object.name: version}), "ERROR")


class _SubPart(_Object):
    parent, closed = "object", True
    #: Property group whose is_applied the header switches.
    applied = ""

    def draw_header(self, context: Context) -> None:
        if self.applied:
            self.layout.prop(getattr(context.object.usdphys, self.applied), "is_applied", text="")

    def active_layout(self, context: Context) -> Any:
        """The layout of the panel, greyed while its schema is not applied."""
        layout = self.split_layout().column()
        if self.applied:
            layout.active = getattr(context.object.usdphys, self.applied).is_applied
        return layout


class _RigidBody(_SubPart):
    name, label, applied = "rigid_body", "Rigid Body", "rigid_body"

    def draw(self, context: Context) -> None:
        layout, body = self.active_layout(context), context.object.usdphys.rigid_body
        attributes.draw(layout, body, attributes.fields_of(usd_physics.RigidBodyAPI), "object.usdphys.rigid_body")
        if body.kinematic_enabled or body.keeps_velocity:
            attributes.draw_one(layout, body, "keeps_velocity", "object.usdphys.rigid_body")
            if has_velocity(context.object):
                layout.operator("usdphys.key_velocity", icon="KEYFRAME_HLT")
        _draw_owner(layout, context, body)
        vendor.draw(layout, context, context.object.usdphys, "object", "object.usdphys", "body")


class _Mass(_SubPart):
    name, label, applied = "mass", "Mass", "mass"

    def draw(self, context: Context) -> None:
        obj = context.object
        computed = readout.mass_of(obj.name) if obj.usdphys.rigid_body.is_applied else None
        _draw_computed_mass(self.layout, computed)
        _draw_mass(self.active_layout(context), obj.usdphys.mass, "object.usdphys.mass", computed)


def _draw_colliders(_context: Context, layout: UILayout, item: PropertyGroup) -> None:
    needed = fitting.text_width(fitting.shown(_UNNAMED)) + _FIELD
    has_name = bool(item.name) or needed <= _NAMES * (fitting.room() - _LIST)
    row = layout.split(factor=1.0 - _NAMES, align=True) if has_name else layout
    row.prop(item, "shape", text="", emboss=False)
    if has_name:
        row.prop(item, "name", text="", emboss=False, placeholder=_UNNAMED)


class _Colliders(_SubPart):
    name, label = "colliders", "Colliders"

    def draw(self, context: Context) -> None:
        layout, physics = self.active_layout(context), context.object.usdphys
        attributes.draw_list(layout, physics, "colliders", "active_collider_index", "colliders", "USDPHYS_UL_colliders")
        fitting.prop(layout, physics, "physics_material", text="Object's Material")
        index = physics.active_collider_index
        if not 0 <= index < len(physics.colliders):
            return
        collider, path = physics.colliders[index], f"object.usdphys.colliders[{index}]"
        column = layout.column()
        fitting.prop(column, collider, "shape")
        if collider.shape == "AUTO":
            shapes = readout.shapes_of(context.object.name)
            if shapes and index < len(shapes):
                chosen = phrase("Automatic: {shape}", shape=phrase(shapes[index]))
                draw_text(column.column(align=True), chosen, "INFO")
        if collider.shape in ("MESH", "AUTO"):
            _draw_approximation(column, context, collider, path)
        kind = GPRIM_SHAPES.get(collider.shape)
        if kind is not None:
            attributes.draw(column, collider, _GPRIM_FIELDS[kind], path)
            row = fitting.together(column, "Fit to Mesh", "Fit and Set")
            for explicit, text in ((False, "Fit to Mesh"), (True, "Fit and Set")):
                button = row.operator("usdphys.fit_collider", text=text)
                button.only_active, button.explicit = True, explicit
        fitting.prop(column, collider, "purpose")
        attributes.draw_one(column, collider, "collision_enabled", path)
        fitting.prop(column, collider, "physics_material", text="Material")
        _draw_owner(column, context, collider)
        column.prop(collider.mass, "is_applied", text="Own Mass")
        if collider.mass.is_applied:
            _draw_mass(column, collider.mass, f"{path}.mass", None)
        vendor.draw(column, context, collider, "collider", path)


class _Joint(_SubPart):
    name, label, applied = "joint", "Joint", "joint"

    def draw(self, context: Context) -> None:
        layout, joint = self.active_layout(context), context.object.usdphys.joint
        path = "object.usdphys.joint"
        for name in ("type", "body0", "body1"):
            fitting.prop(layout, joint, name)
        kind = BY_IDENTIFIER[joint.type]
        cls = kind.cls
        if any(attribute.field == "axis" for attribute in cls.attributes):
            attributes.draw_one(layout, joint, "axis", path)
        own = joint.type.lower()
        if hasattr(joint, own):
            group = getattr(joint, own)
            names = [name for name in attributes.fields_of(cls) if name in type(group).__annotations__]
            attributes.draw(layout, group, names, f"{path}.{own}")
        if joint.type == "GENERIC":
            freedoms.draw_freedoms(layout, joint)
        shared = [name for name in attributes.fields_of(usd_physics.Joint) if name not in _FRAME_FIELDS]
        attributes.draw(layout, joint, [name for name in shared if name not in _BREAK_FIELDS], path)
        for label, groups, schema_cls, useful in (
            ("Limits", joint.limits, usd_physics.LimitAPI, kind.limits),
            ("Drives", joint.drives, usd_physics.DriveAPI, kind.drives),
        ):
            # Show degrees of freedom that the joint type does not use only if they are applied, as by an import.
            dofs = [dof for dof in schema_cls.instances if dof in useful or getattr(groups, dof).is_applied]
            body = _fold(layout, f"usdphys_joint_{label.lower()}", label) if dofs else None
            if body is not None:
                freedoms.draw_dofs(body, groups, schema_cls, dofs, f"{path}.{label.lower()}")
        body = _fold(layout, "usdphys_joint_break", "Break")
        if body is not None:
            attributes.draw(body, joint, _BREAK_FIELDS, path)
        body = _fold(layout, "usdphys_joint_frames", "Frames")
        if body is not None:
            draw_text(body.column(align=True), "From the joint object until set", "INFO")
            attributes.draw(body, joint, sorted(_FRAME_FIELDS, key=lambda name: (name[-1], name)), path)
        vendor.draw(layout, context, context.object.usdphys, "object", "object.usdphys", "joint", "dof")


class _VendorPrim(_SubPart):
    name, label = "vendor_prim", "Simulator Prim"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return super().poll(context) and bool(vendor_rows.typed_schema(context.object.usdphys))

    def draw(self, context: Context) -> None:
        vendor.draw_prim(self.split_layout(), context.object.usdphys, "object.usdphys")


class _ArticulationRoot(_SubPart):
    name, label, applied = "articulation_root", "Articulation Root", "articulation_root"

    def draw(self, context: Context) -> None:
        layout = self.active_layout(context)
        draw_text(layout.column(align=True), "Joints below are an articulation", "NONE")
        vendor.draw(layout, context, context.object.usdphys, "object", "object.usdphys", "articulation")


class _FilteredPairs(_SubPart):
    name, label, applied = "filtered_pairs", "Filtered Pairs", "filtered_pairs"

    def draw(self, context: Context) -> None:
        attributes.draw_pairs(self.active_layout(context), context.object.usdphys.filtered_pairs)


def _draw_objects(_context: Context, layout: UILayout, item: PropertyGroup) -> None:
    layout.prop(item, "object", text="")


def _draw_memberships(context: Context, layout: UILayout, item: PropertyGroup) -> None:
    row = layout.row(align=True)
    row.prop_search(item, "name", context.scene.usdphys, "collision_groups", text="", icon="GROUP")
    row.prop(item, "exclude", text="", icon="REMOVE" if item.exclude else "ADD", emboss=False)


class _GroupMemberships(_SubPart):
    name, label = "collision_groups", "Collision Groups"

    def draw(self, context: Context) -> None:
        layout, physics = self.active_layout(context), context.object.usdphys
        draw_text(layout.column(align=True), "With its children, belongs to:", "NONE")
        attributes.draw_list(
            layout, physics, "collision_groups", "active_group_index", "collision_groups", "USDPHYS_UL_memberships"
        )


def _draw_approximation(column: UILayout, context: Context, collider: PropertyGroup, path: str) -> None:
    """The approximation of UsdPhysics, or the word of a simulator in its place."""
    word = "" if collider.is_property_set("approximation") else collider.other_approximation
    text, icon = ("", "DOWNARROW_HLT") if not word else (tr(phrase("Other: {word}", word=word)), "NONE")
    row = (
        fitting.labelled(column, "Collides As", fitting.buttons_width(text))
        if word
        else attributes.draw_one(column, collider, "approximation", path)
    )
    if word or context.scene.usdphys.targets & {"NEUTRAL", "PHYSX"}:
        row.operator_menu_enum("usdphys.approximation_add", "word", text=text, icon=icon).data_path = path
    if not collider.is_property_set("approximation"):
        fitting.prop(column, collider, "other_approximation")


def _fold(layout: UILayout, name: str, label: str) -> Any:
    """The layout inside a subpanel; None while it is closed."""
    header, body = layout.panel(name, default_closed=True)
    header.label(text=label)
    return body


def _draw_owner(layout: UILayout, context: Context, group: PropertyGroup) -> None:
    fitting.prop(
        layout, group, "simulation_owner", text="Scene",
        search_data=context.scene.usdphys, search_property="physics_scenes", icon="SCENE_DATA",
    )  # fmt: skip


def _draw_computed_mass(layout: UILayout, computed: readout.MassReadout | None) -> None:
    """The mass that the simulation uses, and its source."""
    if computed is None:
        return
    box = layout.box().column(align=True)
    if computed.problem:
        draw_text(box, computed.problem, "INFO")
        return
    sources = dict(computed.sources)
    box.label(text=f"{number_text(computed.mass, 4)} kg", icon="PHYSICS")
    draw_text(box, phrase("from {source}", source=sources["mass"]), "BLANK1", _BOX)
    for note in computed.notes:
        draw_text(box, note, "INFO", _BOX)


def _draw_mass(layout: UILayout, group: PropertyGroup, path: str, computed: readout.MassReadout | None) -> None:
    """computed: adds a button that authors the computed value to each value that is not authored."""
    offered = {} if computed is None or computed.problem else dict(computed.sources)
    for name in attributes.fields_of(usd_physics.MassAPI):
        is_offered = name in offered and name != "principal_axes" and not group.is_property_set(name)
        row = attributes.draw_one(layout, group, name, path, ends=not is_offered)
        if is_offered:
            row.operator("usdphys.author_computed", text="", icon="EYEDROPPER", emboss=False).field = name


PARTS = (
    _Object, _RigidBody, _Mass, _Colliders, _Joint, _VendorPrim, _ArticulationRoot, _FilteredPairs, _GroupMemberships,
)  # fmt: skip
CLASSES = (
    item_list("colliders", _draw_colliders), item_list("objects", _draw_objects),
    item_list("memberships", _draw_memberships), *in_properties(PARTS, "physics"),
)  # fmt: skip
