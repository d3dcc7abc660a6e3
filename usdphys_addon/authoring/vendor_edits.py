# SPDX-License-Identifier: GPL-3.0-or-later
"""Add and remove attributes of vendor schemas, and keep the attributes of one artist concept equal."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any

import bpy
from bpy.types import Object, PropertyGroup, Scene

from ..bridge import vendor_rows
from ..bridge.list_items import remove_item
from ..bridge.property_units import property_factor
from ..bridge.writing import unit_length
from ..core import concepts, schema, units, vendor_schemas
from ..core.array_text import parse, text_of
from ..core.concepts import Concept
from ..core.errors import InputError
from ..core.schema import Attribute, Place
from ..core.switch import Switch
from ..core.value_types import ValueType, value_type, with_elements
from . import vendor_instances

#: In metres or degrees (per second): a limit that nothing had before.
_FIRST_LIMIT = 100.0
_NAME = re.compile(r"[A-Za-z_]\w*")
_NAMES = re.compile(r"[A-Za-z_]\w*(:[A-Za-z_]\w*)*")


def targets_of(scene: Scene) -> tuple[str, ...]:
    """What a scene is written for, in the order of `concepts.TARGETS`."""
    chosen = {name.title() for name in scene.usdphys.targets}
    return tuple(name for name in concepts.TARGETS if name.title() in chosen) or (concepts.NEUTRAL,)


def dofs_of(thing: PropertyGroup) -> tuple[str, ...]:
    """Degrees of freedom of the joint that an owner of rows belongs to."""
    return concepts.dofs_of(vendor_rows.joint_type(thing.id_data))


def wanted_rows(
    thing: PropertyGroup, concept: Concept, targets: Collection[str], dof: str = ""
) -> list[tuple[str, str]]:  # fmt: skip
    """(applied schema, attribute) of all rows that a concept has for the targets. dof: only this degree of freedom."""
    dofs = (dof,) if dof else dofs_of(thing)
    return [
        place for twin in concept.twins_for(targets) for place in concepts.placed(twin, dofs)
        if _has_instance(place[0])
    ]  # fmt: skip


def _has_instance(applied: str) -> bool:
    base, instance = schema.split_applied(applied)
    cls = vendor_schemas.find(base)
    return cls is not None and (not cls.instances or instance in cls.instances)


def rows_of(thing: Any, concept: Concept, dof: str = "") -> list[Any]:
    """The rows that an owner has of a concept."""
    if "vendor" not in thing.keys():
        return []
    rows = []
    for row in thing.vendor:
        known = concepts.concept_of(row.applied, row.name)
        if known is not None and known[0] is concept and (not dof or known[1] == dof):
            rows.append(row)
    return rows


def add_concept(scene: Scene, thing: PropertyGroup, concept: Concept, dof: str = "") -> list[Any]:
    """Add the rows of a concept for the targets of the scene. Returns them.

    They get the value of a row that is there already. Raises InputError if no target has a word for it.
    """
    wanted = wanted_rows(thing, concept, targets_of(scene), dof)
    if not wanted:
        raise InputError(
            f"No target of the scene ({', '.join(targets_of(scene))}) has an attribute for '{concept.label}'; choose "
            "another target"
        )
    before = rows_of(thing, concept, dof)
    made = [add_attribute(thing, applied, name, scene) for applied, name in wanted]
    source = next(iter(before), None) or made[0]
    if source.name:
        _equal(scene, source, made)
    raise_floors(scene, thing)
    return made


def put_concept(scene: Scene, thing: PropertyGroup, identifier: str, value: float, dof: str) -> None:
    """Give all rows of a concept a value in SI and radians, and add those that the targets of the scene want.

    A target without a word for it gets that of Newton, which the preview reads.
    """
    concept = concepts.concepts()[identifier]
    wanted = wanted_rows(thing, concept, targets_of(scene), dof) or wanted_rows(thing, concept, ("Newton",), dof)
    for applied, name in wanted:
        add_attribute(thing, applied, name, scene)
    for row in rows_of(thing, concept):
        attribute, known = vendor_rows.attribute_of(row), concepts.concept_of(row.applied, row.name)
        # Some schemas have one value for all degrees of freedom of a joint.
        if attribute is None or known is None or known[1] not in ("", dof):
            continue
        factor = property_factor(vendor_rows.dimension_of(row, attribute), unit_length(scene))
        row.text = text_of(attribute.value, value if isinstance(value, bool) else value / factor)
    raise_floors(scene, thing)


def raise_floors(scene: Scene, thing: PropertyGroup) -> bool:
    """Give rows the least value that others of their schema ask for. False where nothing is below it."""
    before = [(row.applied, row.name) for row in thing.vendor]
    asking = [(applied, name, floor) for applied, name in before if (floor := concepts.floor_of(applied, name))]
    changed = False
    for applied, name, floor in asking:
        if (applied, floor) not in before:
            add_attribute(thing, applied, floor, scene)
        row, other = (
            next(row for row in thing.vendor if (row.applied, row.name) == (applied, one)) for one in (name, floor)
        )
        if (vendor_rows.value_of(row) or 0.0) > (vendor_rows.value_of(other) or 0.0):
            other.text, changed = row.text, True
    return changed


def add_attribute(thing: PropertyGroup, applied: str, name: str, scene: Scene) -> Any:
    """Apply a schema and, with a name, give its attribute the fallback. Returns the row."""
    attribute = vendor_schemas.attribute_named(applied, name)
    if attribute is None:
        return apply_row(thing, applied)
    row = vendor_rows.row_of(thing, name)
    if row is not None and row.applied == applied:
        return row
    value = start_value(thing, applied, attribute, unit_length(scene))
    return apply_row(thing, applied, attribute, value)


def add_other(thing: PropertyGroup, applied: str, name: str, type_: str, text: str) -> Any:
    """Add an attribute that no table has. Raises InputError for names that USD refuses, and a value of another type."""
    base = schema.split_applied(applied)[0]
    if not _NAME.fullmatch(base) or not _NAMES.fullmatch(applied) or not _NAMES.fullmatch(name):
        raise InputError("A name has letters, digits and underscores, with colons between words; correct it")
    if vendor_schemas.find(base) is not None:
        raise InputError(f"'{base}' is a known schema; search its attributes instead")
    try:
        kind = value_type(type_)
        value = parse(kind, text)
    except KeyError as error:
        raise InputError(f"'{type_}' is not a USD value type; choose one such as float, int, bool or token") from error
    except ValueError as error:
        raise InputError(f"The value cannot be read: {error}") from error
    return add_unknown(thing, applied, name, kind, value)


#: Attributes of PhysxJointAPI that Newton has words for, which PhysX reads.
_JOINT_API = {"physxJoint:armature": "newton:armature", "physxJoint:maxJointVelocity": "newton:velocityLimit"}


def convert_joint_api(thing: PropertyGroup) -> bool:
    """Say what PhysxJointAPI says in the words of Newton. Its friction is a share of the load and is dropped.

    False where there is no such schema. Values that Newton's schema has already stay.
    """
    old = {row.name: row.text for row in thing.vendor if row.applied == "PhysxJointAPI"}
    if not old:
        return False
    for name, wanted in _JOINT_API.items():
        attribute = vendor_schemas.attribute_named("NewtonJointAPI", wanted)
        if name in old and attribute is not None and vendor_rows.row_of(thing, wanted) is None:
            apply_row(thing, "NewtonJointAPI", attribute).text = old[name]
    remove_rows(thing, "PhysxJointAPI")
    return True


def convert_deprecated(scene: Scene, thing: PropertyGroup) -> bool:
    """Say in the words of Newton what an owner of rows says in words that their simulator has given up.

    False where there is nothing to convert. Values that Newton's schemas have already stay.
    """
    deprecated = []
    for row in thing.vendor if "vendor" in thing.keys() else ():
        attribute = vendor_rows.attribute_of(row)
        if isinstance(attribute, vendor_schemas.VendorAttribute) and attribute.is_deprecated:
            wanted = concepts.replacement(row.applied, row.name, dofs_of(thing))
            if wanted is not None and not row.applied.startswith("PhysxJointAPI"):
                deprecated.append((row.applied, row.name, wanted))
    for applied, name, wanted in deprecated:
        source = next(row for row in thing.vendor if (row.applied, row.name) == (applied, name))
        value = vendor_rows.value_of(source)
        # PhysX writes "automatic" as -inf, for which Newton has no number: it is its fallback.
        is_automatic = isinstance(value, float) and math.isinf(value)
        if vendor_rows.row_of(thing, wanted[1]) is None and not is_automatic:
            made = add_attribute(thing, *wanted, scene)
            source = next(row for row in thing.vendor if (row.applied, row.name) == (applied, name))
            _equal(scene, source, [made])
        remove_attribute(thing, applied, name)
    # Without the joint that is followed there is nothing to say in other words; its numbers stay.
    mimics = [
        row.applied for row in (thing.vendor if "vendor" in thing.keys() else ())
        if row.applied.startswith("PhysxMimicJointAPI:") and row.name.endswith(":referenceJoint")
    ]  # fmt: skip
    for applied in mimics:
        _convert_mimic(scene, thing, applied)
    return bool(deprecated or mimics)


def _convert_mimic(scene: Scene, thing: PropertyGroup, applied: str) -> None:
    """PhysX: place + gearing * place of the other + offset = 0. Newton: place = offset + ratio * place of the other."""
    rows = {row.name.rsplit(":", 1)[-1]: row for row in thing.vendor if row.applied == applied and row.name}
    leader = rows["referenceJoint"]
    if vendor_rows.row_of(thing, "newton:mimicJoint") is None:
        target, text = leader.target, leader.text
        numbers = {name: vendor_rows.value_of(rows[old]) for name, old in _MIMIC.items() if old in rows}
        made = add_attribute(thing, "NewtonMimicAPI", "newton:mimicJoint", scene)
        made.target, made.text = target, text
        for name, value in numbers.items():
            add_attribute(thing, "NewtonMimicAPI", name, scene).text = text_of(value_type("float"), -(value or 0.0))
    remove_rows(thing, applied)


#: Numbers of PhysxMimicJointAPI by those of Newton that are their negatives.
_MIMIC = {"newton:mimicCoef0": "offset", "newton:mimicCoef1": "gearing"}


def remove_concept(thing: PropertyGroup, concept: Concept, dof: str = "") -> None:
    """Remove all rows of a concept, and the schemas that have no row left."""
    places = [(row.applied, row.name) for row in rows_of(thing, concept, dof)]
    for applied, name in places:
        remove_attribute(thing, applied, name)


def remove_attribute(thing: PropertyGroup, applied: str, name: str) -> None:
    """Remove an attribute, and its schema if it was the last; without a name, the schema with all its attributes."""
    remove_rows(thing, applied, name)
    if name and not any(row.name for row in thing.vendor if row.applied == applied):
        remove_rows(thing, applied)


def _equal(scene: Scene, source: Any, rows: Iterable[PropertyGroup]) -> None:
    """Give rows of one concept the value of one of them: the same in SI, whatever their units are."""
    attribute = vendor_rows.attribute_of(source)
    value = vendor_rows.value_of(source)
    if attribute is None or value is None:
        return
    for row in rows:
        other = vendor_rows.attribute_of(row)
        if other is None or (row.applied == source.applied and row.name == source.name):
            continue
        made = _translated(scene, source, attribute, value, row, other)
        if made is not None:
            row.text = text_of(other.value, made)


def _translated(
    scene: Scene, source: Any, attribute: Attribute, value: Any, row: PropertyGroup, other: Attribute
) -> Any:
    if other.type == attribute.type and not attribute.value.has_unit:
        return value
    if not (attribute.value.is_number and other.value.is_number):
        return value if other.value.accepts(value) else None
    if attribute.value.has_unit and other.value.has_unit:
        meters = unit_length(scene)
        here, there = (vendor_rows.dimension_of(one, of) for one, of in ((source, attribute), (row, other)))
        if here._replace(angle=0) != there._replace(angle=0) and all(map(vendor_schemas.is_known, (attribute, other))):
            return None
        factor = property_factor(here, meters) / property_factor(there, meters) * _for_simulator(row)
        factor /= _for_simulator(source)
        value = with_elements(attribute.value, value, partial(units.scaled, factor=factor))
    if other.value.base == "int":
        value = with_elements(attribute.value, value, round)
    return value if other.value.accepts(value) else None


def _for_simulator(row: PropertyGroup) -> float:
    """Factor from the number that is meant to that of a row, where another simulator's word says what is meant."""
    attribute = vendor_rows.attribute_of(row)
    instance = schema.split_applied(row.applied)[1]
    return vendor_schemas.number_for_simulator(attribute, instance) if attribute is not None else 1.0


def correct_limits(scene: Scene, thing: PropertyGroup) -> bool:
    """Give PhysX stiffness and damping of soft limits per radian, as it takes them; Newton's words say what is meant.

    Returns False where there is nothing to do. Raises InputError where Newton's words, which are for all degrees of
    freedom of a joint, cannot say it.
    """
    changed = False
    for identifier in ("limit_stiffness", "limit_damping"):
        rows = rows_of(thing, concepts.concepts()[identifier])
        meant = next((row for row in rows if row.applied == "NewtonJointAPI"), None)
        others = [row for row in rows if row is not meant]
        turning = [row for row in others if _for_simulator(row) != 1.0]
        if not turning:
            continue
        if meant is None:
            if len(turning) < len(others) or len({row.text for row in turning}) > 1:
                raise InputError(
                    f"The limits of '{thing.id_data.name}' have several numbers, and Newton has one for all of a "
                    "joint; give them one, or multiply those of PhysX by 57.2958 yourself"
                )
            name = concepts.replacement(turning[0].applied, turning[0].name, ())
            assert name is not None
            text, place = turning[0].text, (turning[0].applied, turning[0].name)
            meant = add_attribute(thing, *name, scene)
            meant.text = text
            # Adding a row can move the others.
            rows = rows_of(thing, concepts.concepts()[identifier])
            meant = next(row for row in rows if (row.applied, row.name) != place and row.name == name[1])
        before = [row.text for row in rows]
        _equal(scene, meant, rows)
        changed = changed or before != [row.text for row in rows]
    return changed


_following = Switch()


def _follow(row: PropertyGroup) -> None:
    """Give the other rows of a concept the value that was set on one of them."""
    known = concepts.concept_of(row.applied, row.name)
    if known is None or _following.is_on:
        return
    concept, dof = known
    owner: Any = row.id_data.path_resolve(row.path_from_id().rpartition(".vendor[")[0])
    with _following.on():
        _equal(bpy.context.scene, row, rows_of(owner, concept, dof if concept.place == "dof" else ""))
        raise_floors(bpy.context.scene, owner)


vendor_rows.follow("concept", _follow)


def choices(places: Collection[Place], runtime: str, thing: PropertyGroup) -> list[tuple[str, Attribute | None]]:
    """(applied schema, attribute) of all that can be added to an owner; None for a physics scene that is not made yet.

    runtime: only of one; empty: of all.

    Attributes that it has are left out. Without an attribute: the schema alone, of those that have none.
    """
    has = {(row.applied, row.name) for row in thing.vendor} if thing is not None and "vendor" in thing.keys() else set()
    choosable: list[tuple[str, Attribute | None]] = []
    typed = vendor_rows.typed_schema(thing) if thing is not None else ""
    for cls in vendor_schemas.all_schemas(*places):
        if runtime and cls.family != runtime:
            continue
        # What a prim of a vendor's type has belongs to no other object; the type is chosen when it is made.
        if cls.on == "prim" and (not typed or cls.kind == "typed") and cls.usd_name != typed:
            continue
        for applied in applied_to(cls, thing):
            _, instance = schema.split_applied(applied)
            editable = [one for one in cls.attributes if one.is_editable or one.is_relationship]
            choosable += [(applied, one) for one in editable if (applied, one.usd_name(instance)) not in has]
            if not editable and (applied, "") not in has:
                choosable.append((applied, None))
    return choosable


def applied_to(cls: Any, thing: PropertyGroup) -> list[str]:
    """Names under which a schema can be applied: of a multiple-apply schema, its instances."""
    if cls.kind != "multiple":
        return [cls.usd_name]
    if cls.on == "dof":
        dofs = concepts.dofs_for(cls.usd_name, dofs_of(thing))
        joint = thing.id_data.usdphys.joint
        if joint.type == "REVOLUTE" and "angular" not in cls.instances:
            # PhysX names the axis of a hinge that follows another.
            dofs = [f"rot{joint.axis}"]
        return [f"{cls.usd_name}:{dof}" for dof in dofs if dof in cls.instances]
    return [f"{cls.usd_name}:{instance}" for instance in cls.instances or vendor_instances.choices(cls, thing)]


# --------------------------------------------------------------------------- rows


def apply_row(thing: PropertyGroup, applied: str, attribute: Attribute | None = None, value: Any = None) -> Any:
    """Apply a schema and, with an attribute, give it a value in the units of rows. Returns the row.

    value: None for the fallback. A row that is there already keeps its place.
    """
    if applied not in vendor_rows.applied_names(thing):
        marker = vendor_rows.add_row(thing, applied, "", "", "")
        if attribute is None:
            return marker
    if attribute is None:
        return next(row for row in thing.vendor if row.applied == applied)
    name = attribute.usd_name(schema.split_applied(applied)[1])
    existing = next((row for row in thing.vendor if row.applied == applied and row.name == name), None)
    if existing is None:
        existing = vendor_rows.add_row(thing, applied, name, attribute.type, "")
    if value is not None:
        existing.text = text_of(attribute.value, value)
    elif not existing.text:
        existing.text = text_of(attribute.value, _start(attribute))
    return existing


def add_unknown(thing: PropertyGroup, applied: str, name: str, kind: ValueType, value: Any) -> Any:
    """Give an attribute that no table has a value. Returns its row."""
    if applied not in vendor_rows.applied_names(thing):
        vendor_rows.add_row(thing, applied, "", "", "")
    existing = next((row for row in thing.vendor if row.applied == applied and row.name == name), None)
    row = existing or vendor_rows.add_row(thing, applied, name, kind.name, "")
    row.type, row.text = kind.name, text_of(kind, value)
    return row


def _start(attribute: Attribute) -> Any:
    """The fallback of an attribute; zero where it has none, or one that stands for "automatic".

    Where the fallback is "no limit", a limit that is rarely reached: zero would hold the thing still.
    """
    fallback = attribute.fallback
    if fallback == math.inf:
        return _FIRST_LIMIT
    if fallback is None or (not attribute.value.is_array and attribute.is_automatic(fallback)):
        return attribute.value.zero
    return fallback


def start_value(thing: PropertyGroup, applied: str, attribute: Attribute, meters: float) -> Any:
    """The fallback of an attribute in the units of rows."""
    value = _start(attribute)
    if not attribute.value.has_unit or not isinstance(value, float):
        return value
    base, instance = schema.split_applied(applied)
    cls = vendor_schemas.find(base)
    assert cls is not None
    dimension = attribute.dimension_for(vendor_schemas.dof_of(cls, instance, vendor_rows.joint_type(thing.id_data)))
    # Fallbacks of tables are in metres and degrees.
    return units.scaled(value, units.SI.factor(dimension) / property_factor(dimension, meters))


def remove_rows(thing: Any, applied: str, name: str = "") -> None:
    """Remove the row of an attribute; without a name, all rows of a schema."""
    for index in reversed(range(len(thing.vendor))):
        row = thing.vendor[index]
        if row.applied == applied and (not name or row.name == name):
            remove_item(thing.vendor, index)


def copy_rows(source: Any, target: Object, *places: Place) -> None:
    """Replace the vendor schemas of an owner that belong to one of these places by those of another."""
    if not any("vendor" in thing.keys() for thing in (source, target)):
        return
    for name in vendor_rows.applied_names(target, *places):
        remove_rows(target, name)
    for row in source.vendor:
        if vendor_rows.place_of(row.applied) in places:
            vendor_rows.add_row(target, row.applied, row.name, row.type, row.text).target = row.target
