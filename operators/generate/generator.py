# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of operators that generate, and properties whose defaults fit the selection."""

import json
import math
from collections.abc import Iterator
from typing import Any

import bpy

from ...usdphys_addon.bridge.language import tr
from ...usdphys_addon.bridge.typed_props import IntProperty, StringProperty
from ...usdphys_addon.core.words import counted, named, phrase
from ..needs import AT_REST, OBJECT_MODE, ONE_OBJECT, SCENE, Need, are_met, poll, selected
from ..outcome import check_numbers, draw_rows, finish

#: Something has been made. Whether the selection is a part of it, the operator finds out when it runs: for each redraw
#: of the panel that takes too long.
_MADE: Need = (
    lambda context: len(context.scene.usdphys.constructions) > 0,
    "Nothing that Make has made is selected; select a part of it, such as a plank of a bridge.",
)


class Remade:
    """Mix-in: what it makes is noted, can be removed, and made again with other settings."""

    report: Any
    layout: Any
    properties: Any
    bl_idname: str
    bl_label: str

    #: Number of the construction that is made again; -1 for a new one.
    edited = IntProperty(default=-1, options={"HIDDEN", "SKIP_SAVE"})
    #: It is made at the 3D cursor, whatever is selected.
    is_at_cursor = False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        if self.edited < 0:
            return self.execute(context)
        # The settings; each change makes it anew.
        return set(context.window_manager.invoke_props_popup(self, event))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        raise NotImplementedError

    def make_new(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        """What one run does, without notes. Returns (what was made, notes)."""
        raise NotImplementedError

    def recorded(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        """Make it, as a construction of its own or in place of `edited`.

        Where the new settings are refused, it is made with the old ones again, and the refusal goes on.
        """
        from ...usdphys_addon.core.errors import InputError
        from ...usdphys_addon.generators import records

        def noted() -> tuple[str, list[str]]:
            with records.recorded(
                context, self.bl_label, settings=lambda: records.Settings(type(self).bl_idname, values_of(self)),
                is_at_cursor=self.is_at_cursor,
            ):  # fmt: skip
                return self.make_new(context)

        if self.edited < 0:
            return noted()
        before = records.settings_of(context.scene, self.edited).values
        with records.begun_again(context, self.edited) as notes:
            try:
                text, others = noted()
            except InputError:
                now = values_of(self)
                put_values(self, before)
                noted()
                put_values(self, now)
                raise
        return text, [*notes, *others]


class Generator(Remade):
    """Mix-in: makes something of the selection in one step to undo, reports it, and is in the menu *Generate*.

    `make` calls the room `generators`. `fits` yields defaults; options that it sets have SKIP_SAVE.
    """

    bl_options: Any = {"REGISTER", "UNDO"}
    #: In the menu.
    icon = ""
    needs = (1, "Select one or more objects first")
    #: It gives physics to selected objects that have none, which linked ones cannot get.
    edits_selected = False

    fitted = StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return are_met(cls, context, SCENE, OBJECT_MODE, AT_REST, selected(*cls.needs))

    draw_all = draw_rows

    def fits(self, context: bpy.types.Context) -> Iterator[tuple[str, Any]]:
        """Yields (property, value that fits the selection); later ones may read earlier ones. Raises InputError."""
        yield from ()

    def execute(self, context: bpy.types.Context) -> set[Any]:
        check_numbers(self)
        text, notes = self.recorded(context)
        return finish(self, text, notes)

    def make_new(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        _check_scales(context.selected_objects)
        if self.edits_selected:
            _check_linked(context.selected_objects)
        fit(self, self.fits(context))
        return self.make(context)

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        """Returns (what was made, notes)."""
        raise NotImplementedError


class USDPHYS_OT_remove_generated(bpy.types.Operator):
    """Remove what a generator has made with the selected objects, and give them back what they were before"""

    bl_idname = "usdphys.remove_generated"
    bl_label = "Remove Generated"
    bl_options: Any = {"REGISTER", "UNDO"}
    icon = "TRASH"
    poll = poll(SCENE, OBJECT_MODE, AT_REST, ONE_OBJECT, _MADE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.generators import records

        gone = records.remove(context, list(context.selected_objects))
        return finish(self, phrase(
            "Removed {kinds}: {objects}", kinds=named(gone.kinds), objects=counted(gone.number, "object"),
        ), gone.notes)  # fmt: skip


class USDPHYS_OT_edit_generated(bpy.types.Operator):
    """Show the settings with which a generator has made what is selected. Each change makes it anew, without the edits
    of its parts"""

    bl_idname = "usdphys.edit_generated"
    bl_label = "Edit Generated"
    bl_options: Any = {"INTERNAL"}
    icon = "SETTINGS"
    poll = poll(SCENE, OBJECT_MODE, AT_REST, ONE_OBJECT, _MADE)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        return self.call(context, "INVOKE_DEFAULT")

    def execute(self, context: bpy.types.Context) -> set[Any]:
        return self.call(context, "EXEC_DEFAULT")

    def call(self, context: bpy.types.Context, how: str) -> set[Any]:
        """Call the generator with its settings. It begins again from an undo step in which its sources are selected."""
        from ...usdphys_addon.generators import records

        number = records.number_of(context, list(context.selected_objects))
        settings = records.settings_of(context.scene, number)
        records.select_sources(context, number)
        bpy.ops.ed.undo_push(message=tr("Select"))
        module, _, name = settings.operator.partition(".")
        generator = getattr(getattr(bpy.ops, module), name)
        known = generator.get_rna_type().properties
        values = {key: set(value) if known[key].type == "ENUM" and known[key].is_enum_flag else value
                  for key, value in settings.values.items() if key in known}  # fmt: skip
        result: set[Any] = generator(how, True, edited=number, **values)
        return result - {"RUNNING_MODAL"} or {"FINISHED"}


CLASSES = (USDPHYS_OT_edit_generated, USDPHYS_OT_remove_generated)


def values_of(operator: Any) -> dict[str, Any]:
    """The settings of an operator, and the hidden texts in which it notes what fits the selection, as JSON has them."""
    found = {}
    for item in operator.properties.bl_rna.properties:
        name = item.identifier
        if name in ("rna_type", "edited"):
            continue
        value = getattr(operator, name)
        is_list = getattr(item, "is_array", False) or isinstance(value, set)
        found[name] = list(value) if is_list else value
    return found


def put_values(operator: Any, values: dict[str, Any]) -> None:
    """Give an operator settings that `values_of` has returned."""
    for name, value in values.items():
        item = operator.properties.bl_rna.properties[name]
        setattr(operator, name, set(value) if item.type == "ENUM" and item.is_enum_flag else value)


def fit(operator: Any, values: Iterator[tuple[str, Any]]) -> None:
    """Set properties that nobody has set. What a user changes afterwards stays as it is.

    The operator has a hidden property `fitted`, and the properties are not kept for its next call.
    """

    def as_kept(name: str) -> Any:
        value = getattr(operator, name)
        return value if isinstance(value, float) else list(value)

    before = json.loads(operator.fitted or "{}")
    for name, value in values:
        is_set = operator.properties.is_property_set(name)
        if not is_set or as_kept(name) == before.get(name):
            setattr(operator, name, value)
            before[name] = as_kept(name)
    if before:
        operator.fitted = json.dumps(before)


def _check_scales(objects: Any) -> None:
    """Raises InputError for an object that is flat by its scale: it has no space to place anything in."""
    from ...usdphys_addon.core import frames
    from ...usdphys_addon.core.errors import InputError

    for obj in objects:
        if not all(map(math.isfinite, (value for row in obj.matrix_world for value in row))):
            raise InputError(f"The place of '{obj.name}' is no number; clear its transforms (Alt G, Alt R, Alt S).")
        if frames.is_flat(obj.matrix_world.determinant()):
            raise InputError(f"'{obj.name}' has scale 0 along an axis; give it another scale.")


def _check_linked(objects: Any) -> None:
    """Raises InputError for linked objects without physics, which can get none; curves and cameras need none."""
    from ...usdphys_addon.authoring.edit_report import LINKED
    from ...usdphys_addon.bridge.mesh import GEOMETRY_TYPES
    from ...usdphys_addon.core.errors import InputError

    bare = [
        obj for obj in objects
        if obj.library is not None and obj.type in GEOMETRY_TYPES - {"CURVE"}
        and not obj.usdphys.rigid_body.is_applied and not len(obj.usdphys.colliders)
    ]  # fmt: skip
    if bare:
        raise InputError(phrase(LINKED, names=named([obj.name for obj in bare])))


def kind_of(operator: Any) -> str:
    """The name of the kind that an operator makes."""
    return phrase(bpy.types.UILayout.enum_item_name(operator.properties, "kind", operator.kind))
