# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a model that may change from run to run, and the model with other values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core import schema
from ..core.errors import UsageError
from ..core.model import PhysicsModel, Prim
from ..core.rules.base import Above

Floats = NDArray[np.float64]
#: Field by which the place of a body is meant: its position in the world, m.
PLACE = "place"
#: Words for several fields at once.
_TOGETHER = {"friction": ("static_friction", "dynamic_friction"), "place": (PLACE,), "spin": ("angular_velocity",)}
_AXES = "xyzw"
_VARIED = re.compile(r"(?:(?P<path>/[^=]*):)?(?P<name>\w+)(?:\.(?P<axis>[xyzw]))?=(?P<low>[^=]+?)\.\.(?P<high>[^=]+)")


@dataclass(frozen=True, slots=True)
class Freedom:
    """A number of a prim that may change. name: of the schema as applied; empty for `PLACE`. index: of a vector; or -1.

    low, high: its range, SI and radians as in the model.
    """

    path: str
    name: str
    field: str
    index: int
    low: float
    high: float

    @property
    def text(self) -> str:
        """What it is called in reports and on the command line."""
        return f"{self.path}:{self.field}{f'.{_AXES[self.index]}' if self.index >= 0 else ''}"

    def value(self, model: PhysicsModel) -> float:
        """The value that a model has."""
        prim = model.prims[self.path]
        if self.field == PLACE:
            return float(prim.world[self.index, 3])
        current = prim.schemas[self.name].resolved(self.field)
        return float(current if self.index < 0 else current[self.index])


def with_values(model: PhysicsModel, freedoms: Sequence[Freedom], values: Floats) -> PhysicsModel:
    """A copy of a model with other values (n,), in single precision, as files and Blender hold them."""
    copied = model.copied()
    for freedom, value in zip(freedoms, np.asarray(values, np.float32).tolist(), strict=True):
        prim = copied.prims[freedom.path]
        if freedom.field == PLACE:
            _move(copied, prim, freedom.index, value)
            continue
        old = prim.schemas[freedom.name]
        new: float | tuple[float, ...] = value
        if freedom.index >= 0:
            parts = list(old.resolved(freedom.field))
            parts[freedom.index] = value
            new = tuple(parts)
        prim.schemas[freedom.name] = old.copy(**{freedom.field: new})
    return copied


def _move(model: PhysicsModel, body: Prim, axis: int, value: float) -> None:
    """Move a body, and the prims below it that move with it, along an axis of the world."""
    shift, owners = value - body.world[axis, 3], Above({body.path: body}, model.resets)
    for prim in model.prims.values():
        if owners.at(prim.path) is body:
            prim.world = prim.world.copy()
            prim.world[axis, 3] += shift


def varied(model: PhysicsModel, texts: Iterable[str]) -> list[list[Freedom]]:
    """The values that texts such as `friction=0.3..0.7` mean; those of one text and axis get the same number in a run.

    A text is `[/path:]name[.axis]=low..high`; without a path all prims that have the value are meant.
    Raises UsageError.
    """
    groups_of_freedoms: list[list[Freedom]] = []
    for text in texts:
        match = _VARIED.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"'{text}' is no range; write it as in friction=0.3..0.7, or /World/Ball:velocity.x=1..2.")
        try:
            low, high = float(match["low"]), float(match["high"])
        except ValueError:
            low = high = float("nan")
        if not (np.isfinite([low, high]).all() and low <= high):
            raise UsageError(f"'{text}': the ends of a range are numbers, the smaller one first.")
        axes = [_AXES.index(match["axis"])] if match["axis"] else []
        groups = _meant(model, match["path"], match["name"], axes, low, high)
        if not groups:
            name, where = match["name"], match["path"] or "the file"
            raise UsageError(f"'{text}': '{name}' is no number of a schema that is applied in {where}; nothing varies.")
        groups_of_freedoms += groups
    return groups_of_freedoms


def _meant(
    model: PhysicsModel, path: str | None, name: str, axes: Sequence[int], low: float, high: float
) -> list[list[Freedom]]:  # fmt: skip
    """Freedoms by the axis of their vectors, -1 for plain numbers."""
    by_axis: dict[int, list[Freedom]] = {}
    prims = model.prims.values() if path is None else filter(None, [model.prims.get(path)])
    for prim in prims:
        for field in _TOGETHER.get(name, (name,)):
            if field == PLACE:
                for axis in (axes or (0, 1, 2)) if prim.path in model.bodies else ():
                    by_axis.setdefault(axis, []).append(Freedom(prim.path, "", PLACE, axis, low, high))
            for applied, value in prim.schemas.items():
                size = _size(value, field)
                for axis in () if size is None else [-1] if size == 0 else axes or range(size):
                    if axis < (size or 1):
                        by_axis.setdefault(axis, []).append(Freedom(prim.path, applied, field, axis, low, high))
    return list(by_axis.values())


def _size(value: schema.Schema, field: str) -> int | None:
    """Numbers of a field: 0 for a plain number, None for what cannot be varied."""
    if field not in {item.field for item in value.attributes}:
        return None
    current = value.resolved(field)
    if isinstance(current, bool) or current is None:
        return None
    if isinstance(current, int | float):
        return 0
    if isinstance(current, tuple) and current and all(isinstance(part, int | float) for part in current):
        return len(current)
    return None
