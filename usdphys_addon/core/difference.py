# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed between two models, prim by prim and value by value. Pure: no USD, no Blender."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from . import paths, schema
from .model import PhysicsModel, Prim
from .schema import Attribute, Schema
from .schemas import usd_geom, usd_physics
from .units import PRACTICALLY_INFINITE

#: A trip through 32-bit floats and degrees is no change.
RELATIVE = 1e-6
ABSOLUTE = 1e-9
#: Relationships in which the first target counts; the others are sets.
_ORDERED = frozenset({"body0", "body1", "simulation_owner"})
#: Fields of a joint of which the meaning in a file depends on the body of their side.
_SIDES = {0: ("body0", "local_pos0", "local_rot0"), 1: ("body1", "local_pos1", "local_rot1")}


@dataclass(slots=True)
class PrimEdit:
    """The changes of one prim that is in both models, or that exists without physics in one of them.

    prim: as it shall be. type_name: its new type, where that changes. added, removed: names of schemas, with instance,
    typed ones too. values: what is to be set, by (schema name, field), SI. cleared: what is no longer authored.
    purpose: the new one. binding: the new physics material, empty for none any more.
    """

    prim: Prim
    type_name: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    values: dict[tuple[str, str], Any] = field(default_factory=dict)
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
    """edits: changed prims by path. added: new prims by path, parents first. removed: paths of prims that are gone."""

    edits: dict[str, PrimEdit] = field(default_factory=dict)
    added: dict[str, Prim] = field(default_factory=dict)
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.edits or self.added or self.removed)


def difference(old: PhysicsModel, new: PhysicsModel) -> Difference:
    """What has to be done to a file with the physics of `old` so that it has that of `new`; same paths, same prims.

    A prim that left the model is removed where it is a scene, joint or group, or where `new.other_paths` says that it
    exists no more; otherwise it loses its schemas. Poses and geometry of existing prims are not compared: they are no
    physics. A material that is bound for all purposes and has changed is bound for physics.
    """
    found = Difference()
    for path, prim in sorted(new.prims.items(), key=lambda item: item[0].count("/")):
        before = old.prims.get(path)
        if before is None and prim.schemas and path not in (old.other_paths or ()):
            found.added[path] = prim
            continue
        edit = _edit(before or Prim(path, prim.type_name, purpose=prim.purpose), prim)
        if edit:
            found.edits[path] = edit
    removed: set[str] = set()
    for path, prim in old.prims.items():
        if path in new.prims or not prim.schemas:
            continue
        if _is_gone(prim, new):
            removed.add(path)
        else:
            bare = Prim(path, prim.type_name, prim.world, purpose=prim.purpose)
            found.edits[path] = PrimEdit(bare, removed=_applied(prim))
    found.removed = tuple(sorted(path for path in removed if not paths.is_below_any(path, removed)))
    return found


def same_value(attribute: Attribute, first: Any, second: Any) -> bool:
    """Whether two values of an attribute mean the same, up to the noise of 32 bits; None is not authored.

    Quaternions of any length and sign that turn alike are one; for a relationship no target is no opinion.
    """
    if attribute.is_relationship:
        one, two = tuple(first or ()), tuple(second or ())
        return one == two if attribute.field in _ORDERED else set(one) == set(two)
    if first is None or second is None:
        return first is second
    if attribute.type == "quatf":
        return _same_numbers(_unit(first), _unit(second))
    if isinstance(first, tuple) and isinstance(second, tuple):
        return _same_numbers(first, second)
    if isinstance(first, float | int) and isinstance(second, float | int):
        return _same_numbers((first,), (second,))
    return bool(first == second)


def _same_numbers(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    """Component by component, relative to the largest of both."""
    if len(first) != len(second):
        return False
    sizes = [abs(value) for value in (*first, *second) if abs(value) <= PRACTICALLY_INFINITE]
    tolerance = RELATIVE * max(sizes, default=0.0) + ABSOLUTE
    for one, two in zip(first, second, strict=True):
        if abs(one) > PRACTICALLY_INFINITE or abs(two) > PRACTICALLY_INFINITE:
            if not (abs(one) > PRACTICALLY_INFINITE and abs(two) > PRACTICALLY_INFINITE and (one > 0) == (two > 0)):
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
    # Of parts that are as good as equal the first decides, so that noise does not turn the sign.
    leading = next(part for part, size in zip(value, sizes, strict=True) if size > 0.999 * max(sizes))
    return tuple(part / math.copysign(length, leading) for part in value)


def _edit(before: Prim, prim: Prim) -> PrimEdit:
    edit = PrimEdit(prim)
    is_retyped = before.type_name != prim.type_name and _typed(before) != _typed(prim)
    # The parameters of a shape are listed only while it collides: that alone makes no other shape.
    same = {prim.type_name} - schema.schemas_of("UsdPhysics").keys() if not is_retyped else set()
    edit.added = tuple(name for name in prim.schemas if name not in before.schemas and name not in same)
    edit.removed = tuple(name for name in before.schemas if name not in prim.schemas and name not in same)
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


def _add_dependents(edit: PrimEdit, name: str, value: Schema, cleared: list[tuple[str, str]]) -> None:
    """Values that are the same and have other numbers in the file now."""
    fields = {changed for of, changed in (*edit.values, *cleared) if of == name}
    also: list[str] = []
    if isinstance(value, usd_physics.DriveAPI) and "type" in fields:
        also += [attribute.field for attribute in value.attributes if attribute.acceleration_dimensions]
    if isinstance(value, usd_physics.Joint):
        for side in _SIDES.values():
            if side[0] in fields:
                also += side[1:]
    for other in also:
        content = getattr(value, other)
        if content is not None:
            edit.values[name, other] = content


def _same_in_world(attribute: Attribute, old: Schema | None, new: Schema) -> bool:
    """A joint side without a body: in a file with Y up the pose of the world has to be written out."""
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
    """The typed schema of a prim; empty where its type is none of the table's."""
    return next((name for name, value in prim.schemas.items() if value.kind == "typed"), "")


def _applied(prim: Prim) -> tuple[str, ...]:
    return tuple(name for name, value in prim.schemas.items() if value.kind != "typed")


def _is_gone(prim: Prim, new: PhysicsModel) -> bool:
    typed = _typed(prim)
    if typed and not issubclass(type(prim.schemas[typed]), usd_geom.Gprim):
        return True
    return new.other_paths is not None and prim.path not in new.other_paths
