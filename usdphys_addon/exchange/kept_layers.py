# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers that Blender reads animation from stay beside the .blend.

An import that chooses variants, or keeps geometry from Blender, reads a layer in Blender's temporary folder. Where
something moves, the scene goes on reading it, so the layer has to outlive Blender.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import bpy

from ..core.errors import OutputError
from ..worker.handlers import Handlers

#: Beginning of the names of the temporary folders.
PREFIX = "usdphys_"


def _keep(blend: Path) -> dict[Any, str]:
    """Have the scene read copies of the temporary layers, beside the .blend. Returns the paths of before."""
    before: dict[Any, str] = {}
    for cache in bpy.data.cache_files:
        layer = Path(bpy.path.abspath(cache.filepath))
        if cache.library is not None or not layer.parent.name.startswith(PREFIX) or not layer.is_file():
            continue
        from ..usd import composition

        # The same import into the same .blend has the same layer.
        target = blend.with_name(f"{blend.stem}.{hashlib.sha256(layer.read_bytes()).hexdigest()[:8]}.usda")
        # A folder that takes no files has no place for the .blend either, of which Blender tells.
        with suppress(OSError, OutputError):
            composition.write_moved(layer, target)
            before[cache] = cache.filepath
            cache.filepath = bpy.path.relpath(str(target)) if bpy.data.filepath else str(target)
    return before


@contextmanager
def kept(blend: Path) -> Iterator[None]:
    """While the body saves a copy of the open file, have it read layers beside that copy."""
    before = _keep(blend)
    try:
        yield
    finally:
        for cache, path in before.items():
            cache.filepath = path


def _before_save(filepath: str = "", *_: Any) -> None:
    if filepath:
        _keep(Path(filepath).absolute())


_handlers = Handlers(("save_pre", _before_save))
register, unregister = _handlers.register, _handlers.unregister
