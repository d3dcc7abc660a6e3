# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes of values of the physics: whether a value has one, set one, take it away."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from bpy.types import FCurve, Object

from ..bridge.animated import DRIVER, curves_of
from ..bridge.roles import applies
from ..core.errors import InputError
from ..core.schema import Schema
from ..core.schemas import usd_physics
from ..core.words import phrase

#: States of a value: nothing animates it; keyframes do, but none in this frame; one in this frame; a driver does.
STILL, ANIMATED, KEYED, DRIVEN = "STILL", "ANIMATED", "KEYED", "DRIVEN"
#: Schemas of the property groups of an object, by the path below its physics.
_SCHEMAS: dict[str, type[Schema]] = {
    "mass": usd_physics.MassAPI, "joint": usd_physics.Joint, "joint.revolute": usd_physics.RevoluteJoint,
    "joint.prismatic": usd_physics.PrismaticJoint, "joint.spherical": usd_physics.SphericalJoint,
    "joint.distance": usd_physics.DistanceJoint, "joint.drives.angular": usd_physics.DriveAPI,
    "joint.drives.linear": usd_physics.DriveAPI,
}  # fmt: skip


class KeyPlace(NamedTuple):
    """A property of a data-block that keyframes can be on. path: data path of its group."""

    owner: Any
    path: str
    field: str

    @property
    def data_path(self) -> str:
        return f"{self.path}.{self.field}"


def place_on(obj: Object, path: str, field: str) -> list[KeyPlace]:
    """Where the keyframes of a value of an object are; empty if its animation would not be simulated.

    path: below the object's physics, such as "joint.revolute".
    """
    return [KeyPlace(obj, f"usdphys.{path}", field)] if _animates(path, field) else []


@lru_cache(maxsize=256)
def _animates(path: str, field: str) -> bool:
    cls = _SCHEMAS.get(path)
    return cls is not None and any(one.field == field and one.animates for one in cls.attributes)


def curves_by_path(owner: Any) -> dict[str, tuple[FCurve, str]]:
    """The curves that move values of a data-block now, and what each is, by data path."""
    return {curve.data_path: (curve, by) for curve, by in curves_of(owner)} if owner.animation_data is not None else {}


def state_of(place: KeyPlace, frame: float, curves: Mapping[str, tuple[FCurve, str]] | None = None) -> str:
    """STILL, ANIMATED, KEYED or DRIVEN. curves: of the owner, where they are known already."""
    found = (curves_by_path(place.owner) if curves is None else curves).get(place.data_path)
    if found is None:
        return STILL
    curve, by = found
    if by == DRIVER:
        return DRIVEN
    return KEYED if any(abs(key.co.x - frame) < 0.5 for key in curve.keyframe_points) else ANIMATED


def toggle(
    places: Iterable[list[KeyPlace]], frame: float, value_of: Callable[[KeyPlace], Any], label: str
) -> tuple[int, bool]:
    """Key values in a frame, or take their keyframes of this frame away if the first value has one.

    places: of each object. value_of: what a value is now, so that one that is computed is keyed as it is. label: of the
    value, for messages. Returns (number of objects, whether keyframes were taken away). Raises InputError, with nothing
    changed, for a value that has no finite number or that a driver moves.
    """
    each = [found for found in places if found]
    if not each:
        raise InputError(phrase("'{value}' of the selected objects cannot be animated.", value=label))
    takes_away = state_of(each[0][0], frame) == KEYED
    wanted = []
    for found in each:
        if state_of(found[0], frame) == DRIVEN:
            raise InputError(phrase("A driver moves '{value}' of '{name}'; delete it first.",
                                    value=label, name=found[0].owner.name))  # fmt: skip
        value = value_of(found[0])
        if not takes_away and (value is None or (isinstance(value, float) and not math.isfinite(value))):
            raise InputError(phrase("'{value}' of '{name}' has no number yet; type one, then animate it.",
                                    value=label, name=found[0].owner.name))  # fmt: skip
        wanted += [(place, value) for place in found]
    for place, value in wanted:
        if takes_away:
            if state_of(place, frame) == KEYED:
                place.owner.keyframe_delete(place.data_path, frame=frame)
            continue
        group = place.owner.path_resolve(place.path)
        if not group.is_property_set(place.field):
            setattr(group, place.field, value)
        place.owner.keyframe_insert(place.data_path, frame=frame, group="USD Physics")
    return len(each), takes_away


def surface_places(material: Any, *fields: str) -> list[KeyPlace]:
    """Where the keyframes of a surface are: on the physics material; empty without an own one that can be changed."""
    if material is None or not material.is_editable or not applies(material, "physics_material"):
        return []
    return [KeyPlace(material, "usdphys.physics_material", field) for field in fields]
