# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws what simulators beside UsdPhysics know about a thing: artist concepts first, then a folded box for each."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, PropertyGroup, UILayout

from ..usdphys_addon.bridge import vendor_rows
from ..usdphys_addon.bridge.language import tr_label
from ..usdphys_addon.core.schema import Place
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import fitting

#: Boxes that are shown where nothing of theirs is applied, by target of the scene.
_RUNTIMES = ("Newton", "PhysX", "MuJoCo")
_DOF_LABELS = {"transX": "X", "transY": "Y", "transZ": "Z", "rotX": "Rotation X", "rotY": "Rotation Y",
               "rotZ": "Rotation Z", "angular": "", "linear": "", "distance": "", "cone": "Cone"}  # fmt: skip

#: Views with their label within the field. Beside the others' fields a narrow sidebar has no room for one.
_WITHIN = {*vendor_rows.VIEWS.values(), "number", "whole", "flag"}
#: Width of the buttons beside a value.
_BUTTONS = 44.0


def draw(layout: UILayout, context: Context, thing: Any, owner: str, data_path: str, *places: Place) -> None:
    """thing: the owner; None for a physics scene that the first setting makes. owner: its kind, vendor_rows.PLACES.

    data_path: from "object", "scene" or "material" to it. places: of an object, the parts that the panel is about.
    """
    from ..usdphys_addon.authoring import vendor_edits

    wanted_places = places or vendor_rows.PLACES[owner]
    targets = vendor_edits.targets_of(context.scene)
    _draw_concepts(layout, thing, data_path, wanted_places, targets)
    rows = _by_runtime(thing, wanted_places)
    wanted = {"Newton", "PhysX"} if targets == ("Neutral",) else set(targets)
    for runtime in (*_RUNTIMES, *(name for name in rows if name not in _RUNTIMES)):
        if runtime not in wanted and runtime not in rows:
            continue
        header, body = layout.panel(f"usdphys_{owner}_{wanted_places[0]}_{runtime}", default_closed=True)
        count = sum(bool(row.name) for row in rows.get(runtime, ()))
        header.label(text=f"{runtime} ({count})" if count else runtime)
        _draw_search(header, owner, wanted_places, runtime, data_path, "")
        if body is not None:
            _draw_box(body, data_path, rows.get(runtime, []))


def draw_prim(layout: UILayout, thing: Any, data_path: str) -> None:
    """What an object that stands for a prim of a vendor's type has of it."""
    rows = _by_runtime(thing, ("prim",))
    for runtime in rows:
        _draw_search(layout.row(), "object", ("prim",), runtime, data_path, "Search Attributes")
        _draw_box(layout, data_path, rows[runtime])


def draw_row(column: UILayout, thing: Any, data_path: str, applied: str, name: str) -> bool:
    """Draw one attribute that is set, with a button that removes it. False where it is not set."""
    row = next((row for row in _rows_of(thing) if (row.applied, row.name) == (applied, name)), None)
    if row is None:
        return False
    line, attribute = column.row(align=True), vendor_rows.attribute_of(row)
    _draw_value(line, row, attribute.label if attribute is not None else row.name)
    _draw_remove(line, data_path, applied, name)
    return True


def _rows_of(thing: Any) -> Any:
    return thing.vendor if thing is not None and "vendor" in thing.keys() else ()


def _by_runtime(thing: Any, places: tuple[Place, ...]) -> dict[str, list[Any]]:
    """The rows of an owner by runtime; those of unknown vendors under "Other"."""
    rows: dict[str, list[Any]] = {}
    for row in _rows_of(thing):
        cls = vendor_rows.class_of(row)
        if cls is None:
            # An object has several panels; one of them shows what nobody knows.
            home = "joint" if vendor_rows.joint_type(thing.id_data) else "body"
            if places[0] == home or places[0] in ("collider", "material", "scene"):
                rows.setdefault("Other", []).append(row)
        elif cls.on in places:
            rows.setdefault(cls.family, []).append(row)
    return rows


def _draw_concepts(
    layout: UILayout, thing: Any, data_path: str, places: tuple[Place, ...], targets: tuple[str, ...]
) -> None:
    from ..usdphys_addon.authoring import vendor_edits
    from ..usdphys_addon.core import concepts

    dofs = () if thing is None else vendor_edits.dofs_of(thing)
    authored: dict[tuple[str, str], Any] = {}
    for row in _rows_of(thing):
        known = concepts.concept_of(row.applied, row.name)
        if known is not None:
            authored.setdefault((known[0].identifier, known[1] if known[0].place == "dof" else ""), row)
    missing = []
    column = layout.column(align=True)
    for concept in concepts.concepts_of(*places):
        for dof in concepts.dofs_for(concept.twins[0].applied, dofs) if concept.place == "dof" else ("",):
            row = authored.get((concept.identifier, dof))
            label = f"{tr_label(concept.label)} {tr_label(_DOF_LABELS.get(dof, dof))}".strip()
            if row is not None:
                _draw_concept(column, row, label, concept.identifier, dof, data_path)
            elif concept.twins_for(targets):
                missing.append((concept, dof, label))
    if not missing:
        return
    header, body = layout.panel(f"usdphys_concepts_{places[0]}", default_closed=True)
    header.label(text="More Settings")
    if body is not None:
        number = fitting.columns(2, *(label for *_, label in missing), has_icons=True)
        grid = body.grid_flow(columns=number, even_columns=True, align=True, row_major=True)
        for concept, dof, label in missing:
            button = grid.operator("usdphys.concept_add", text=label, icon=fitting.icon_for(label, "ADD"))
            button.data_path, button.concept, button.dof = data_path, concept.identifier, dof


def _draw_concept(layout: UILayout, row: PropertyGroup, label: str, identifier: str, dof: str, data_path: str) -> None:
    line = layout.row(align=True)
    _draw_value(line, row, label)
    button = line.operator("usdphys.concept_remove", text="", icon="X", emboss=False)
    button.data_path, button.concept, button.dof = data_path, identifier, dof


def _draw_value(line: UILayout, row: PropertyGroup, label: str) -> None:
    if not row.name:
        line.label(text=label, icon="CHECKMARK")
        return
    view = vendor_rows.view_of(row)
    if view in _WITHIN:
        fitting.prop(line, row, view, text=label, taken=_BUTTONS)
        return
    column = line.column(align=True)
    draw_text(column, label, "NONE")
    column.row(align=True).prop(row, view, text="")


def _draw_search(
    line: UILayout, owner: str, places: tuple[Place, ...], runtime: str, data_path: str, text: str
) -> None:  # fmt: skip
    if runtime == "Other":
        line.operator("usdphys.vendor_add_other", text=text, icon="ADD").data_path = data_path
    else:
        button = line.operator("usdphys.vendor_add", text=text, icon="VIEWZOOM")
        button.data_path, button.owner, button.runtime = data_path, owner, runtime
        button.places = " ".join(places)


def _draw_box(layout: UILayout, data_path: str, rows: list[Any]) -> None:
    """All attributes of a runtime that are authored, by schema."""
    if not rows:
        draw_text(layout.column(align=True), "Nothing is set; search with the lens", "INFO")
    from ..usdphys_addon.authoring import vendor_instances

    for applied in dict.fromkeys(row.applied for row in rows):
        column = layout.column(align=True)
        head = column.row(align=True)
        head.label(text=applied)
        if vendor_instances.is_named(applied):
            button = head.operator("usdphys.vendor_rename", text="", icon="GREASEPENCIL", emboss=False)
            button.data_path, button.applied = data_path, applied
        _draw_remove(head, data_path, applied, "")
        for row in rows:
            if row.applied != applied or not row.name:
                continue
            line = column.row(align=True)
            attribute = vendor_rows.attribute_of(row)
            _draw_value(line, row, attribute.label if attribute is not None else f"{row.name} ({row.type})")
            if attribute is not None and attribute.is_relationship:
                button = line.operator("usdphys.vendor_target_add", text="", icon="ADD", emboss=False)
                button.data_path, button.applied, button.attribute = data_path, applied, row.name
            _draw_remove(line, data_path, applied, row.name)


def _draw_remove(line: UILayout, data_path: str, applied: str, name: str) -> None:
    button = line.operator("usdphys.vendor_remove", text="", icon="X", emboss=False)
    button.data_path, button.applied, button.attribute = data_path, applied, name
