# SPDX-License-Identifier: GPL-3.0-or-later
"""Add, search and remove attributes of simulators beside UsdPhysics."""

from typing import Any

import bpy

from ..usdphys_addon.bridge import vendor_rows
from ..usdphys_addon.bridge.choices import items_of
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import EnumProperty, StringProperty
from ..usdphys_addon.core.words import phrase
from . import needs
from .edit_lists import FIRST_SCENE, made_owner, owner_of


class _VendorOperator:
    """data_path: from "object", "scene" or "material" to the owner of the rows."""

    bl_options: Any = {"REGISTER", "UNDO", "INTERNAL"}

    data_path = StringProperty(name="Data Path", options={"HIDDEN"})

    def execute(self, context: bpy.types.Context) -> set[Any]:
        thing = owner_of(context, self.data_path)
        if thing is None:
            return {"CANCELLED"}
        self.edit(context, thing)
        return {"FINISHED"}

    def edit(self, context: bpy.types.Context, thing: Any) -> None:
        """Change the rows of an owner."""
        raise NotImplementedError


class _ConceptOperator(_VendorOperator):
    """Mix-in: one concept of an object, material or scene."""

    concept = StringProperty(name="Value", options={"HIDDEN"})
    dof = StringProperty(name="Degree of Freedom", options={"HIDDEN"})


class _AttributeOperator(_VendorOperator):
    """Mix-in: one attribute of an applied schema or of the prim's own type."""

    applied = StringProperty(name="Schema", options={"HIDDEN"})
    attribute = StringProperty(name="Attribute", options={"HIDDEN"})


class USDPHYS_OT_concept_add(_ConceptOperator, bpy.types.Operator):
    """Set this value for the simulators that are chosen as targets in the scene"""

    bl_idname = "usdphys.concept_add"
    bl_label = "Add Value"

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        from ..usdphys_addon.core.concepts import concepts

        concept = concepts().get(properties.concept)
        return ". ".join(tr(text) for text in (concept.doc if concept is not None else "", str(cls.__doc__)) if text)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import vendor_edits
        from ..usdphys_addon.core.concepts import concepts

        if self.concept not in concepts():
            return {"CANCELLED"}
        with made_owner(context, self.data_path) as thing:
            if thing is None:
                return {"CANCELLED"}
            vendor_edits.add_concept(context.scene, thing, concepts()[self.concept], self.dof)
        return {"FINISHED"}


class USDPHYS_OT_concept_remove(_ConceptOperator, bpy.types.Operator):
    """Remove this value for all simulators; their defaults apply again"""

    bl_idname = "usdphys.concept_remove"
    bl_label = "Clear"

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import vendor_edits
        from ..usdphys_addon.core.concepts import concepts

        thing = owner_of(context, self.data_path)
        if thing is None or self.concept not in concepts():
            return {"CANCELLED"}
        vendor_edits.remove_concept(thing, concepts()[self.concept], self.dof)
        return {"FINISHED"}


class USDPHYS_OT_vendor_remove(_AttributeOperator, bpy.types.Operator):
    """Remove the attribute; its default applies again"""

    bl_idname = "usdphys.vendor_remove"
    bl_label = "Remove Attribute"

    def edit(self, context: bpy.types.Context, thing: Any) -> None:
        from ..usdphys_addon.authoring import vendor_edits

        vendor_edits.remove_attribute(thing, self.applied, self.attribute)


#: The items of the search have to stay alive while Blender shows them.
_shown: list[tuple[str, str, str]] = []


def _search_items(self: Any, context: Any) -> list[tuple[str, str, str]]:
    from ..usdphys_addon.authoring import vendor_edits
    from ..usdphys_addon.core import schema

    thing = owner_of(context, self.data_path)
    if thing is None and self.data_path != FIRST_SCENE:
        return []
    items = []
    places = tuple(self.places.split()) or vendor_rows.PLACES[self.owner]
    for applied, attribute in vendor_edits.choices(places, self.runtime, thing):
        base, instance = schema.split_applied(applied)
        if attribute is None:
            items.append((f"{applied} ", f"{base} ({applied})", tr("Apply the schema")))
            continue
        name = attribute.usd_name(instance)
        label = f"{attribute.label}{f' {instance}' if instance else ''} ({name})"
        items.append((f"{applied} {name}", label, attribute.doc))
    _shown[:] = items
    return _shown


class USDPHYS_OT_vendor_add(_VendorOperator, bpy.types.Operator):
    """Search the attributes of a simulator, and add one"""

    bl_idname = "usdphys.vendor_add"
    bl_label = "Add Attribute"
    bl_property = "attribute"

    owner = StringProperty(name="Owner", default="object", options={"HIDDEN"})
    # Those of the panel, with blanks between them; all of the owner where there are none.
    places = StringProperty(name="Places", options={"HIDDEN"})
    runtime = StringProperty(name="Runtime", options={"HIDDEN"})
    attribute = EnumProperty(name="Attribute", items=_search_items)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import vendor_edits

        applied, _, name = self.attribute.partition(" ")
        with made_owner(context, self.data_path) as thing:
            if thing is None:
                return {"CANCELLED"}
            vendor_edits.add_attribute(thing, applied, name, context.scene)
        return {"FINISHED"}


class USDPHYS_OT_vendor_rename(_VendorOperator, bpy.types.Operator):
    """Give this tendon another name, on all selected objects that have it; the axes of a tendon have its name"""

    bl_idname = "usdphys.vendor_rename"
    bl_label = "Rename Tendon"

    applied = StringProperty(name="Schema", options={"HIDDEN"})
    new_name = StringProperty(name="Name", description="Letters, digits and underscores")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        self.new_name = self.applied.rpartition(":")[2]
        return set(context.window_manager.invoke_props_dialog(self))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import vendor_instances

        thing = owner_of(context, self.data_path)
        if thing is None:
            return {"CANCELLED"}
        others = [obj.usdphys for obj in context.selected_objects if obj.usdphys != thing]
        if vendor_instances.rename([thing, *others], self.applied, self.new_name):
            self._report_left(vendor_instances.with_instance(self.applied))
        return {"FINISHED"}

    def _report_left(self: Any, names: list[str]) -> None:
        """Warn of the joints that are on the tendon of the old name."""
        if names:
            old = self.applied.rpartition(":")[2]
            more = phrase(" and {count} more", count=len(names) - 1) if len(names) > 1 else ""
            text = phrase("'{name}'{more} is still on '{tendon}': not selected", name=names[0], more=more, tendon=old)
            self.report({"WARNING"}, tr(text))


class USDPHYS_OT_approximation_add(_VendorOperator, bpy.types.Operator):
    """Let the mesh collide as a shape that only one simulator supports. UsdPhysics and the preview do not"""

    bl_idname = "usdphys.approximation_add"
    bl_label = "Shape of a Simulator"

    word = EnumProperty(
        name="Collides As",
        items=items_of("approximation of a simulator"),
    )  # fmt: skip

    def edit(self, context: bpy.types.Context, thing: Any) -> None:
        thing.property_unset("approximation")
        thing.other_approximation = self.word


class USDPHYS_OT_vendor_add_other(_VendorOperator, bpy.types.Operator):
    """Add an attribute that the search does not list, by its schema and name"""

    bl_idname = "usdphys.vendor_add_other"
    bl_label = "Add Other Attribute"

    applied = StringProperty(name="Schema", description="Applied API schema, such as AcmeBodyAPI")
    attribute = StringProperty(name="Name", description="Name of the attribute, such as acme:drag")
    value_type = StringProperty(name="Type", description="USD type of the value", default="float")
    value = StringProperty(name="Value", description="Lists and vectors as [1, 2, 3]", default="0.0")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import vendor_edits

        with made_owner(context, self.data_path) as thing:
            if thing is None:
                return {"CANCELLED"}
            vendor_edits.add_other(thing, self.applied, self.attribute, self.value_type, self.value)
        return {"FINISHED"}


#: The same for the types of prims.
_types_shown: list[tuple[str, str, str]] = []


def _types(_self: Any, _context: bpy.types.Context | None) -> list[tuple[str, str, str]]:
    from ..usdphys_addon.authoring import vendor_prims

    _types_shown[:] = [(cls.usd_name, f"{cls.usd_name} ({cls.family})", "") for cls in vendor_prims.types()]
    return _types_shown


class USDPHYS_OT_vendor_prim_add(bpy.types.Operator):
    """Add an Empty that stands for a prim of a simulator's own type, such as an actuator or a tendon"""

    bl_idname = "usdphys.vendor_prim_add"
    bl_label = "Simulator Prim"
    bl_options = {"REGISTER", "UNDO"}
    bl_property = "type"

    type = EnumProperty(name="Type", items=_types, description="Type of the prim")

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import vendor_prims

        made = vendor_prims.add_prim(context, self.type)
        self.report({"INFO"}, tr(phrase("Added '{name}'", name=made.name)))
        return {"FINISHED"}


class USDPHYS_OT_vendor_target_add(_AttributeOperator, bpy.types.Operator):
    """Add a further target"""

    bl_idname = "usdphys.vendor_target_add"
    bl_label = "Add Target"

    def edit(self, context: bpy.types.Context, thing: Any) -> None:
        from ..usdphys_addon.authoring import vendor_prims

        vendor_prims.add_target(thing, self.applied, self.attribute)


CLASSES = (
    USDPHYS_OT_concept_add, USDPHYS_OT_concept_remove, USDPHYS_OT_vendor_remove, USDPHYS_OT_vendor_add,
    USDPHYS_OT_vendor_rename, USDPHYS_OT_vendor_add_other, USDPHYS_OT_approximation_add, USDPHYS_OT_vendor_prim_add,
    USDPHYS_OT_vendor_target_add,
)  # fmt: skip
