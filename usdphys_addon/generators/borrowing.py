# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics for a while: objects get it, and have their own back afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..bridge import property_values
from ..bridge.identity.remembered import objects_by_name


class Borrowed:
    """Remembers the physics of objects as it is, and gives it back."""

    def __init__(self, objects: Iterable[Any]) -> None:
        self._before: dict[str, dict[str, Any]] = {}
        for obj in objects:
            has_physics = obj.library is None and bool(obj.usdphys.keys())
            self._before[obj.name] = property_values.snapshot(obj.usdphys) if has_physics else {}

    def give_back(self) -> None:
        objects = objects_by_name(with_linked=True)
        for name, values in self._before.items():
            obj: Any = objects.get(name)
            if obj is not None and obj.library is None:
                property_values.unset_all(obj.usdphys)
                property_values.restore(obj.usdphys, values)
                property_values.drop_lone_stamp(obj.usdphys)
