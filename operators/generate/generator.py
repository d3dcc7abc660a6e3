# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of operators that generate, and properties whose defaults fit the selection."""

import json
import math
from collections.abc import Iterator
from typing import Any

import bpy

from ...usdphys_addon.bridge.typed_props import StringProperty
from ...usdphys_addon.core.words import named, phrase
from ..needs import AT_REST, OBJECT_MODE, ONE_OBJECT, SCENE, are_met, poll, selected
from ..outcome import check_numbers, draw_rows, finish


class Generator:
    """Mix-in: makes something of the selection in one step to undo, reports it, and is in the menu *Generate*.

    `make` calls the room `generators`. `fits` yields defaults; options that it sets have SKIP_SAVE.
    """

    report: Any
    layout: Any
    bl_options: Any = {"REGISTER", "UNDO"}
    bl_label: str
    #: In the menu.
    icon = ""
    needs = (1, "Select one or more objects first")
    #: It gives physics to selected objects that have none, which linked ones cannot get.
    edits_selected = False
    #: New meshes are pieces of the user's own, which *Remove* leaves.
    keeps_meshes = False

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
        _check_scales(context.selected_objects)
        if self.edits_selected:
            _check_linked(context.selected_objects)
        fit(self, self.fits(context))
        from ...usdphys_addon.generators.records import recorded

        with recorded(context, self.bl_label, keeps_meshes=self.keeps_meshes):
            text, notes = self.make(context)
        return finish(self, text, notes)

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        """Returns (what was made, notes)."""
        raise NotImplementedError


class USDPHYS_OT_remove_generated(bpy.types.Operator):
    """Remove what a generator has made with the selected objects, and give them back what they were before"""

    bl_idname = "usdphys.remove_generated"
    bl_label = "Remove Generated"
    bl_options: Any = {"REGISTER", "UNDO"}
    icon = "TRASH"
    poll = poll(SCENE, OBJECT_MODE, AT_REST, ONE_OBJECT)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.generators import records

        gone = records.remove(context, list(context.selected_objects))
        return finish(self, phrase(
            "Removed {kinds}: {number} objects", kinds=named(gone.kinds), number=gone.number,
        ), gone.notes)  # fmt: skip


CLASSES = (USDPHYS_OT_remove_generated,)


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
