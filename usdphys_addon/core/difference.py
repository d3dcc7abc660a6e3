# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences between two models, prim by prim and value by value."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from . import paths, schema
from .animation import Key, Samples, same
from .model import MATERIAL_TYPES, PhysicsModel, Prim
from .schema import Attribute, Schema
from .schemas import usd_geom, usd_physics
from .units import is_infinite
from .value_types import elements_of
from .vendor_schemas import VendorAttribute, may_be_keyed

#: Tolerances: rounding to 32-bit floats and conversion to degrees are not changes.
RELATIVE = 1e-6
ABSOLUTE = 1e-9
#: Relationships in which the order of targets matters; all others are sets.
_ORDERED = frozenset({"body0", "body1", "simulation_owner"})
_OF_JOINTS = frozenset({usd_physics.LimitAPI.usd_name, usd_physics.DriveAPI.usd_name})
#: (body, position, rotation) fields of each side; the space of the frame depends on the body.
_SIDES = {0: ("body0", "local_pos0", "local_rot0"), 1: ("body1", "local_pos1", "local_rot1")}


@dataclass(slots=True)
class PrimEdit:
    """The changes of one prim that is in both models, or has no physics in one of them.

    prim: its new state. type_name: its new type; None: unchanged. added, removed: schema names with instance, typed
    ones too. values: new values, SI, by (schema name, field). samples: new animation, likewise. cleared: (schema name,
    field) no longer authored. purpose: None: unchanged. binding: new physics material; empty: removed; None: unchanged.
    """

    prim: Prim
    type_name: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    values: dict[tuple[str, str], Any] = field(default_factory=dict)
    samples: dict[tuple[str, str], Samples] = field(default_factory=dict)
    cleared: tuple[tuple[str, str], ...] = ()
    purpose: str | None = None
    binding: str | None = None

    def __bool__(self) -> bool:
        return bool(
            self.added or self.removed or self.values or self.cleared
            or self.type_name is not None or self.purpose is not None or self.binding is not None
        )  # fmt: skip


@dataclass(slots=True)
class Difference:
    """edits: changed prims by path. added: new prims by path, parents first. removed: paths of deleted prims.

    animated: values of added prims that change over time.
    """

    edits: dict[str, PrimEdit] = field(default_factory=dict)
    added: dict[str, Prim] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    animated: dict[Key, Samples] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.edits or self.added or self.removed)


def difference(old: PhysicsModel, new: PhysicsModel) -> Difference:
    """The edits that turn a file with the physics of `old` into one with that of `new`. Prims are matched by path.

    A prim that is missing in `new` is removed if it has a typed physics schema (scene, joint, group) or is not in
    `new.other_paths`; otherwise it only loses its schemas. Poses and geometry of existing prims are not compared. If
    the material that is bound for all purposes has changed, the new one is bound for the physics purpose.
    """
    edits = Difference()
    for path, prim in sorted(new.prims.items(), key=lambda item: item[0].count("/")):
        before = old.prims.get(path)
        if before is None and prim.schemas and path not in (old.other_paths or ()):
            edits.added[path] = prim
            continue
        edit = _edit(before or Prim(path, prim.type_name, purpose=prim.purpose), prim)
        if path in new.unread:
            edit.removed = ()
        if edit:
            edits.edits[path] = edit
    removed: set[str] = set()
    for path, prim in old.prims.items():
        if path in new.prims or path in new.unread or not prim.schemas:
            continue
        if _is_gone(prim, new):
            removed.add(path)
        else:
            bare = Prim(path, prim.type_name, prim.world, purpose=prim.purpose)
            if held := tuple(name for name in _applied(prim) if _has_place(name, prim)):
                edits.edits[path] = PrimEdit(bare, removed=held)
    _compare_animation(edits, old, new)
    edits.removed = tuple(sorted(path for path in removed if not paths.is_below_any(path, removed)))
    return edits


def nouns(found: Difference, old: PhysicsModel) -> Counter[str]:
    """What kinds of things the edits change, such as "mass" or "upper limit", and how many. old: before them."""
    counts: Counter[str] = Counter()
    for path, edit in found.edits.items():
        of_prim = set()
        for name, changed in (*edit.values, *edit.cleared):
            value = edit.prim.schemas.get(name)
            if name in edit.added or value is None:
                continue
            attribute = schema.attribute_of(type(value), changed)
            before = old.prims[path].schemas.get(name) if path in old.prims else None
            after = None if (name, changed) in edit.cleared else getattr(value, changed)
            if before is None or not same_value(attribute, getattr(before, changed), after) or edit.samples:
                of_prim.add("joint frame" if attribute.body is not None else noun(attribute.usd_name()))
        counts.update(of_prim)
        counts["schema"] += len(edit.added) + len(edit.removed)
        counts["type"] += edit.type_name is not None
        counts["purpose"] += edit.purpose is not None
        counts["physics material"] += edit.binding is not None
    counts["new prim"] += len(found.added)
    counts["deleted prim"] += len(found.removed)
    return +counts


def noun(usd_name: str) -> str:
    """ "upper limit" of "physics:upperLimit"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", usd_name.rpartition(":")[2]).lower()


def take_animated(old: PhysicsModel, new: PhysicsModel) -> None:
    """Give what is animated as in the old model its value there, whatever it is at the moment of the new one."""
    for key in old.animated.keys() & new.animated.keys():
        before, after = old.holder(key), new.holder(key)
        if before is None or after is None:
            continue
        if same(old.animated[key], new.animated[key], partial(same_value, after.attribute)):
            new.put({key: getattr(before.schema, key.field)})


def _compare_animation(found: Difference, old: PhysicsModel, new: PhysicsModel) -> None:
    """Add the edits of animation. A value that is edited itself is no longer animated."""
    for key in dict.fromkeys((*old.animated, *new.animated)):
        was, now = old.animated.get(key), new.animated.get(key)
        held = new.holder(key)
        if held is None:
            continue
        prim, value, attribute = held
        if key.path in found.added:
            if now is not None and not attribute.uniform:
                found.animated[key] = now
            continue
        had, has = was is not None and bool(was.moments), now is not None and bool(now.moments)
        is_text = isinstance(attribute, VendorAttribute) and not may_be_keyed(attribute)
        if not (had or has) or attribute.uniform or is_text:
            continue
        edit = found.edits.get(key.path) or PrimEdit(prim)
        name = key.schema, key.field
        if was is not None and now is not None and had and has and same(was, now, partial(same_value, attribute)):
            continue
        if getattr(value, key.field) is not None:
            edit.values[name] = getattr(value, key.field)
            if now is not None and has:
                edit.samples[name] = now
            found.edits[key.path] = edit


def same_value(attribute: Attribute, first: Any, second: Any) -> bool:
    """Whether two values of an attribute are equal up to 32-bit rounding; None is not authored.

    Quaternions are equal if they are the same rotation. A relationship without targets equals None.
    """
    if attribute.is_relationship:
        one, two = tuple(first or ()), tuple(second or ())
        is_ordered = attribute.field in _ORDERED or isinstance(attribute, VendorAttribute)
        return one == two if is_ordered else set(one) == set(two)
    if first is None or second is None:
        return first is second
    if attribute.type == "quatf":
        return _same_numbers(_unit(first), _unit(second))
    if isinstance(first, tuple) and isinstance(second, tuple):
        kind = attribute.value
        if kind.base != "float" or not (kind.accepts(first) and kind.accepts(second)):
            return first == second
        return _same_numbers(elements_of(kind, first), elements_of(kind, second))
    if isinstance(first, float | int) and isinstance(second, float | int):
        return _same_numbers((first,), (second,))
    return bool(first == second)


def _same_numbers(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    """Component by component, relative to the largest of both."""
    if len(first) != len(second):
        return False
    sizes = [abs(value) for value in (*first, *second) if not (is_infinite(value) or math.isnan(value))]
    tolerance = RELATIVE * max(sizes, default=0.0) + ABSOLUTE
    for one, two in zip(first, second, strict=True):
        if is_infinite(one) or is_infinite(two):
            if not (is_infinite(one) and is_infinite(two) and (one > 0) == (two > 0)):
                return False
        elif not abs(one - two) <= tolerance and not (math.isnan(one) and math.isnan(two)):
            return False
    return True


def _unit(value: tuple[float, ...]) -> tuple[float, ...]:
    """A quaternion of length 1 with its largest part positive; zero stays zero."""
    length = math.sqrt(sum(part * part for part in value))
    if not length or not math.isfinite(length):
        return value
    sizes = [abs(part) for part in value]
    # Among nearly equal parts the first one decides, so that noise does not flip the sign.
    leading = next(part for part, size in zip(value, sizes, strict=True) if size > 0.999 * max(sizes))
    return tuple(part / math.copysign(length, leading) for part in value)


def _edit(before: Prim, prim: Prim) -> PrimEdit:
    edit = PrimEdit(prim)
    is_retyped = before.type_name != prim.type_name and _typed(before) != _typed(prim)
    # The parameters of a shape are listed only while it collides: that alone makes no other shape.
    same = {prim.type_name} - schema.schemas_of("UsdPhysics").keys() if not is_retyped else set()
    edit.added = tuple(name for name in prim.schemas if name not in before.schemas and name not in same)
    edit.removed = tuple(
        name for name in before.schemas
        if name not in prim.schemas and name not in same and (_has_place(name, before) or _has_place(name, prim))
    )  # fmt: skip
    edit.type_name = prim.type_name if is_retyped else None
    cleared: list[tuple[str, str]] = []
    for name, value in prim.schemas.items():
        old = before.schemas.get(name)
        if old is None and name in same:
            continue
        for attribute in value.attributes:
            was = getattr(old, attribute.field) if old is not None else None
            now = getattr(value, attribute.field)
            if same_value(attribute, was, now) or _same_in_world(attribute, old, value):
                continue
            if _is_as_before(attribute, was, now) and old is not None:
                continue
            if now is None and was is not None and not attribute.is_relationship and not attribute.allows(was):
                # Blender cannot hold such a value, so nobody can have cleared it.
                continue
            if now is None:
                cleared.append((name, attribute.field))
            else:
                edit.values[name, attribute.field] = now
        _add_dependents(edit, name, value, cleared)
    edit.cleared = tuple(cleared)
    if before.purpose != prim.purpose:
        edit.purpose = prim.purpose
    edit.binding = _new_binding(before, prim)
    return edit


def _is_as_before(attribute: Attribute, was: Any, now: Any) -> bool:
    """True for a switch that was clicked and clicked back, and for the first of many bodies: a joint holds no more."""
    if any(attribute.field == side[0] for side in _SIDES.values()):
        return len(was or ()) > 1 and tuple(now or ()) == tuple(was)[:1]
    return was is None and isinstance(now, bool) and now == attribute.fallback


def _add_dependents(edit: PrimEdit, name: str, value: Schema, cleared: list[tuple[str, str]]) -> None:
    """Add values that are unchanged in SI, but stored as other numbers because another field changed."""
    fields = {changed for of, changed in (*edit.values, *cleared) if of == name}
    also: list[str] = []
    also += [attribute.field for attribute in value.attributes if not fields.isdisjoint(attribute.depends_on(value))]
    if isinstance(value, usd_physics.Joint):
        for side in _SIDES.values():
            if side[0] in fields:
                also += side[1:]
    for other in also:
        content = getattr(value, other)
        if content is not None:
            edit.values[name, other] = content


def _same_in_world(attribute: Attribute, old: Schema | None, new: Schema) -> bool:
    """True if a field of a joint side without a body is unchanged after resolving fallbacks.

    With Y up, an identity frame in the world must be written out, so None and the fallback are the same value.
    """
    side = attribute.body
    if side is None or not isinstance(old, usd_physics.Joint) or not isinstance(new, usd_physics.Joint):
        return False
    if getattr(old, f"body{side}") or getattr(new, f"body{side}"):
        return False
    return same_value(attribute, old.resolved(attribute.field), new.resolved(attribute.field))


def _new_binding(before: Prim, prim: Prim) -> str | None:
    if before.physics_binding != prim.physics_binding:
        return prim.physics_binding
    was, now = (one.materials[-1] if one.materials else "" for one in (before, prim))
    return now if now and now != was and before.schemas else None


def _typed(prim: Prim) -> str:
    """Name of the typed schema of a prim; empty if its type is not in SCHEMAS."""
    return next((name for name, value in prim.schemas.items() if value.kind == "typed"), "")


def _has_place(name: str, prim: Prim) -> bool:
    """False for a schema of UsdPhysics that has no meaning on a prim: no object holds it, so nobody can remove it."""
    base = schema.split_applied(name)[0]
    if base == usd_physics.MeshCollisionAPI.usd_name:
        return usd_physics.CollisionAPI.usd_name in prim.schemas
    if base == usd_physics.MaterialAPI.usd_name:
        return prim.type_name in MATERIAL_TYPES
    return base not in _OF_JOINTS or prim.get(usd_physics.Joint) is not None


def _applied(prim: Prim) -> tuple[str, ...]:
    return tuple(name for name, value in prim.schemas.items() if value.kind != "typed")


def _is_gone(prim: Prim, new: PhysicsModel) -> bool:
    typed = _typed(prim)
    if typed and not issubclass(type(prim.schemas[typed]), usd_geom.Gprim):
        return True
    return new.other_paths is not None and prim.path not in new.other_paths
