# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of vendor schemas as they are in the files of `vendor_tables`, read when first asked."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "vendor_tables"
#: Tables that are added while the add-on runs, by runtime.
_added: dict[str, dict[str, Any]] = {}
#: Caches of what follows from the tables; cleared when there is another one.
_caches: list[Any] = []


@cache
def _shipped() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.glob("*.json")))


def are_read() -> bool:
    """True if the tables were asked for."""
    return bool(_shipped.cache_info().currsize)


def tables() -> tuple[dict[str, Any], ...]:
    """{"runtime": name, "schemas": [{"name", "kind", "on", "instances", "attributes"}]} of each vendor."""
    return (*_shipped(), *_added.values())


def follows(cached: Any) -> Any:
    """Decorator: a cached function that is computed anew where a table is added or removed."""
    _caches.append(cached)
    return cached


def put(runtime: str, table: dict[str, Any] | None) -> None:
    """Add a table, or with None remove the one that was added."""
    _added.pop(runtime, None)
    if table is not None:
        _added[runtime] = table
    for cached in _caches:
        cached.cache_clear()
