# SPDX-License-Identifier: GPL-3.0-or-later
"""Equal prims hold the same schemas: a prim is its prototype, which is all that it shares with others, and a place.

Readers share the schemas once. Whoever handles equal prims together goes by identity, so a prim that gets another
schema leaves its prototype by that. Nothing may change a value of a schema that a model holds.
"""

from __future__ import annotations

import marshal
from collections.abc import Hashable, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

from .model import Prim
from .schema import Schema
from .schemas import usd_physics

_SCHEMAS, _EXTRAS = attrgetter("schemas"), attrgetter("extras")
_VALUES = tuple(map(attrgetter, ("type_name", "materials", "physics_binding")))


class SharedSchemas:
    """Finds equal schemas among the prims of one model, while it is made."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, type[Schema], bytes], Schema] = {}

    def share(self, prim: Prim) -> None:
        """Give a prim the schemas of earlier ones in place of equal ones of its own. Joints keep theirs."""
        for name, value in prim.schemas.items():
            if isinstance(value, usd_physics.Joint):
                continue
            try:
                # Unlike equality, it tells 0.0 from -0.0, and 1 from True. Version 2 has equal bytes for equal values.
                content = marshal.dumps(value.all_values(), 2)
            except ValueError:
                # A value of a type that no file has.
                continue
            prim.schemas[name] = self._known.setdefault((name, type(value), content), value)


def schemas_key(prim: Prim) -> tuple[Hashable, ...]:
    """Equal for prims of one type that hold the same schemas; valid while they do."""
    schemas = prim.schemas
    return (prim.type_name, *schemas, *map(id, schemas.values()))


def numbers(prims: Sequence[Prim]) -> list[int]:
    """A number for each prim: the same for those of one prototype, which differ in place, geometry and purpose only."""
    # By column, of which most are of one value: several times as fast as a key for each prim.
    held = list(map(_SCHEMAS, prims))
    columns: list[list[Any]] = [list(map(get, prims)) for get in _VALUES]
    if any(map(_EXTRAS, prims)):
        columns.append(list(map(repr, map(_EXTRAS, prims))))
    try:
        if len(set(map(len, held))) > 1:
            raise KeyError
        columns += [list(map(id, map(itemgetter(name), held))) for name in chain(*held[:1])]
    except KeyError:
        columns.append([(*schemas, *map(id, schemas.values())) for schemas in held])
    return numbered(columns)


def numbered(columns: Sequence[Sequence[Hashable]]) -> list[int]:
    """A number for each row of columns of one length: the same for equal rows."""
    mixed = [column for column in columns if not _is_same(column)]
    known: dict[Hashable, int] = {}
    return [known.setdefault(row, len(known)) for row in zip(*mixed, strict=True)] if mixed else [0] * len(columns[0])


def _is_same(values: Sequence[Any]) -> bool:
    return not values or values.count(values[0]) == len(values)
