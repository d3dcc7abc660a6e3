# SPDX-License-Identifier: GPL-3.0-or-later
"""The names under which a .blend stores our properties, a line each: path, type, items of enums, default.

A test compares them with tests/stored/names.txt. After a change that files survive, write that list anew:

    .venv/bin/python scripts/stored_names.py
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bench

STORED = bench.ROOT / "tests" / "stored"
NAMES = STORED / "names.txt"


def is_group(item: Any) -> bool:
    """True for a property that holds a group of ours, or a list of them."""
    return item.type in ("POINTER", "COLLECTION") and class_of(item.fixed_type) is not None


def class_of(rna: Any) -> Any:
    """The class of a group of ours; None for others."""
    import bpy

    found = bpy.types.PropertyGroup.bl_rna_get_subclass_py(rna.identifier)
    return found if found is not None and found.__module__.startswith("usdphys_ext.") else None


def stored_items(rna: Any) -> Iterator[Any]:
    """The properties of a group of ours that a file stores: none that only shows another one."""
    own = class_of(rna).__annotations__
    for item in rna.properties:
        name = item.identifier
        if name in own and not item.is_skip_save and "get" not in own[name].keywords:
            yield item


def owners() -> Iterator[tuple[str, Any]]:
    """(path such as "Object.usdphys", property) of each group of ours on data-blocks.

    The window manager has groups, too, which show results of the session.
    """
    import bpy

    for name in sorted(dir(bpy.types)):
        kind = getattr(bpy.types, name)
        if isinstance(kind, type) and issubclass(kind, bpy.types.ID) and kind is not bpy.types.WindowManager:
            for item in kind.bl_rna.properties:
                if item.type == "POINTER" and class_of(item.fixed_type) is not None:
                    yield f"{kind.bl_rna.identifier}.{item.identifier}", item


def custom_keys() -> list[str]:
    """Custom properties that tools set, which are found again by their name."""
    from usdphys_ext.usdphys_addon.generators import ragdoll, vehicle
    from usdphys_ext.usdphys_addon.playback import bake

    return [
        f'Action["{bake.MARK}"]',
        *(f'Object["{name}"]' for name in (ragdoll.INFLUENCE, vehicle.SPEED, vehicle.STEERING)),
    ]


def _line(path: str, item: Any) -> str:
    size = getattr(item, "array_length", 0)
    if item.type == "POINTER":
        return f"{path} POINTER {item.fixed_type.identifier}"
    if item.type == "ENUM":
        items = " ".join(f"{one.identifier}={one.value}" for one in item.enum_items)
        chosen = "+".join(sorted(item.default_flag)) if item.is_enum_flag else item.default
        return f"{path} ENUM {items} default {chosen}"
    default = [round(value, 6) for value in item.default_array] if size else item.default
    shown = f"{default:.6g}" if isinstance(default, float) else repr(default)
    return f"{path} {item.type}{f'[{size}]' if size else ''} default {shown}"


def _lines(path: str, rna: Any) -> Iterator[str]:
    for item in stored_items(rna):
        below = f"{path}.{item.identifier}"
        if is_group(item):
            yield from _lines(f"{below}[]" if item.type == "COLLECTION" else below, item.fixed_type)
        else:
            yield _line(below, item)


def names() -> list[str]:
    """The lines of the list, sorted. The extension must be registered."""
    found = [line for path, item in owners() for line in _lines(path, item.fixed_type)]
    return sorted(found + custom_keys())


@contextmanager
def registered() -> Iterator[None]:
    """An empty scene in a Blender with the extension."""
    extension = bench.load_extension()
    import bpy

    bpy.utils.expose_bundled_modules()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    extension.register()
    try:
        yield
    finally:
        extension.unregister()


def main() -> int:
    with registered():
        lines = names()
    NAMES.parent.mkdir(exist_ok=True)
    NAMES.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{NAMES.relative_to(bench.ROOT)}: {len(lines)} names")
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # Blender may hang while the interpreter shuts down
