# SPDX-License-Identifier: GPL-3.0-or-later
"""Vehicles and seats of the OMI extensions. No schema has them: they are kept, without the numbers of a file.

`Prim.extras["vehicle"]` has for each extension of a node its values. Settings of wheels and thrusters are those of the
list of the document, and a node or a material that they name is a path or a value, because their numbers change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from . import names
from .additions import Additions
from .document import Document

KEY = "vehicle"
#: Keys that name a node by its number, and a material.
SEAT, MATERIAL, MATERIALS = "pilotSeat", "physicsMaterial", "physicsMaterials"


class Kind(NamedTuple):
    """what: words for a user. key: of the node, the number of an entry of the list `pool` of the document."""

    what: str
    key: str = ""
    pool: str = ""


KINDS = {
    "OMI_vehicle_body": Kind("a vehicle"),
    "OMI_vehicle_wheel": Kind("a wheel of a vehicle", "wheel", "wheels"),
    "OMI_vehicle_hover_thruster": Kind("a hover thruster", "hoverThruster", "hoverThrusters"),
    "OMI_vehicle_thruster": Kind("a thruster", "thruster", "thrusters"),
    "OMI_seat": Kind("a seat"),
}


def values_of(
    document: Document, index: int, name: str, paths: Mapping[int, str], materials: str
) -> dict[str, Any] | None:  # fmt: skip
    """The values of an extension of a node; None if it names an entry that is not in the file.

    paths: of nodes by index. materials: the extension of the document with the physics materials.
    """
    value = dict(document.node_extension(index, name))
    kind = KINDS[name]
    if kind.key:
        entry = _entry(document.pool(name, kind.pool), value.get(kind.key))
        if entry is None:
            return None
        value = dict(entry)
    if SEAT in value:
        seat = paths.get(value.pop(SEAT))
        value |= {} if seat is None else {SEAT: seat}
    if MATERIAL in value:
        material = _entry(document.pool(materials, MATERIALS), value.pop(MATERIAL))
        value |= {} if material is None else {MATERIAL: material}
    return value


def _entry(pool: list[dict[str, Any]], number: object) -> dict[str, Any] | None:
    return pool[number] if type(number) is int and 0 <= number < len(pool) else None


def named_by(extras: Mapping[str, Any]) -> Iterator[str]:
    """Paths of the nodes that the values of a vehicle name."""
    for _, value in _kept(extras):
        if isinstance(value.get(SEAT), str):
            yield value[SEAT]


def _kept(extras: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    kept_items = extras.get(KEY)
    for name, value in kept_items.items() if isinstance(kept_items, dict) else ():
        if name in KINDS and isinstance(value, dict):
            yield name, dict(value)


def write(file: Additions, index: int, extras: Mapping[str, Any]) -> bool:
    """Write the vehicle of a prim to its node. False if it names a node that is not exported."""
    is_whole = True
    for name, value in _kept(extras):
        if isinstance(value.get(SEAT), str):
            seat = file.origins.get(value.pop(SEAT))
            is_whole = is_whole and seat is not None
            value |= {} if seat is None else {SEAT: seat}
        if isinstance(value.get(MATERIAL), dict):
            holder = (*file.families, names.OMI)[0].body
            value[MATERIAL] = file.pooled(holder, MATERIALS, value[MATERIAL])
        kind = KINDS[name]
        if kind.key:
            value = {kind.key: file.pooled(name, kind.pool, value)}
        file.document.put_extension(index, name, value)
    return is_whole
