# SPDX-License-Identifier: GPL-3.0-or-later
"""Equal prims hold the same schemas: a prim is its prototype, which is all that it shares with others, and a place.

Readers share the schemas once. Whoever handles equal prims together goes by identity, so a prim that gets another
schema leaves its prototype by that. Nothing may change a value of a schema that a model holds.
"""

from __future__ import annotations

import marshal
from collections.abc import Hashable, Iterable

from .model import Prim
from .schema import Schema
from .schemas import usd_physics


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


def numbers(prims: Iterable[Prim]) -> list[int]:
    """A number for each prim: the same for those of one prototype, which differ in place, geometry and purpose only."""
    known: dict[Hashable, int] = {}
    return [
        known.setdefault(
            (schemas_key(prim), prim.materials, prim.physics_binding, repr(prim.extras) if prim.extras else ""),
            len(known),
        )
        for prim in prims
    ]
