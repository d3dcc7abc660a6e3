# SPDX-License-Identifier: GPL-3.0-or-later
"""Stores a .blend in which every property of ours is set: tests/stored/VERSION.blend, and its values beside it as JSON.

A test opens the files of all releases in each Blender, and looks for every value. `make release` runs it in the oldest
Blender that is supported, because a newer one writes files that this cannot open:

    .venvs/bpy-4.5.15/bin/python scripts/store_blend.py
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bench
import stored_names

OLDEST = (4, 5)
#: Names of the data-blocks that have all properties, and of those that these point at.
NAME, TARGET = "Stored", "Target"
#: Beginnings of paths that no stored file may hold; a file browser, for one, holds that of its folder.
_OF_THE_MACHINE = (tempfile.gettempdir(), str(Path.home()), str(bench.ROOT))


class NotStorableError(Exception):
    """The file cannot be stored as it is; the message says why."""


def other_value(item: Any, path: str) -> Any:
    """A value of a property that is not its default, and like no value of another one where that is possible."""
    number = sum(path.encode()) % 89 + 1
    if item.type == "BOOLEAN":
        return not item.default
    if item.type == "STRING":
        return f"stored {path}"
    if item.type == "ENUM":
        default = item.default_flag if item.is_enum_flag else {item.default}
        others = [one.identifier for one in item.enum_items if one.identifier not in default]
        return {others[-1]} if item.is_enum_flag else others[number % len(others)]
    size = getattr(item, "array_length", 0)
    low, high = item.hard_min, item.hard_max
    values = [min(max(number + 3 * place, low), high) for place in range(1, max(size, 1) + 1)]
    if item.type == "FLOAT":
        values = [min(value + 0.375, high) for value in values]
    return values if size else values[0]


def fill(group: Any, path: str, targets: dict[str, Any]) -> None:
    """Set every stored property of a group, below it, and of one element of each list. targets: by type of data."""
    for item in stored_names.stored_items(group.bl_rna):
        name = item.identifier
        below = f"{path}.{name}"
        if name == "version":
            continue  # saving writes it
        if item.type == "COLLECTION":
            element = getattr(group, name).add()
            element.name = f"stored {below}[]"
            fill(element, f"{below}[]", targets)
        elif stored_names.is_group(item):
            fill(getattr(group, name), below, targets)
        elif item.type == "POINTER":
            setattr(group, name, targets[item.fixed_type.identifier])
        else:
            setattr(group, name, other_value(item, below))


def values(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """(path, value as JSON has it) of every property of `fill`."""
    for item in stored_names.stored_items(group.bl_rna):
        below, value = f"{path}.{item.identifier}", getattr(group, item.identifier)
        if item.type == "COLLECTION":
            yield f"{below}[].name", value[0].name
            yield from values(value[0], f"{below}[]")
        elif stored_names.is_group(item):
            yield from values(value, below)
        elif item.type == "POINTER":
            yield below, value.name
        else:
            many = item.type == "ENUM" and item.is_enum_flag
            yield below, sorted(value) if many else list(value) if getattr(item, "array_length", 0) else value


def build() -> dict[str, Any]:
    """Fill the open file, which must be empty. Returns all values by path, see `values`."""
    import bpy

    mesh = bpy.data.meshes.new(NAME)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    data: Any = bpy.data
    scene: Any = bpy.context.scene
    scene.name = NAME
    scene.render.filepath = "//"
    targets = {
        "Object": data.objects.new(TARGET, None), "Material": data.materials.new(TARGET),
        "Collection": data.collections.new(TARGET), "Mesh": data.meshes.new(TARGET),
    }  # fmt: skip
    owners = {"Object": data.objects.new(NAME, mesh), "Material": data.materials.new(NAME), "Scene": scene}
    mesh.materials.append(owners["Material"])
    for kind in ("Material", "Collection", "Mesh"):
        targets[kind].use_fake_user = True
    for obj in (owners["Object"], targets["Object"]):
        scene.collection.objects.link(obj)
    for path, item in stored_names.owners():
        fill(getattr(owners[path.split(".")[0]], item.identifier), path, targets)
    owners["Action"] = data.actions.new(NAME)
    owners["Action"].use_fake_user = True
    for line in stored_names.custom_keys():
        kind, _, rest = line.partition('["')
        owners[kind][rest.removesuffix('"]')] = f"stored {line}"
    found = {line: f"stored {line}" for line in stored_names.custom_keys()}
    for path, item in stored_names.owners():
        found.update(values(getattr(owners[path.split(".")[0]], item.identifier), path))
    return found


def save(target: Path) -> None:
    """Save the open file, compressed and without preview. Raises NotStorableError for one with a machine's path."""
    import bpy
    from usdphys_ext.usdphys_addon.system import blend_parts
    from usdphys_ext.usdphys_addon.system.files import replacing

    bpy.context.preferences.filepaths.file_preview_type = "NONE"
    for space in (space for screen in bpy.data.screens for area in screen.areas for space in area.spaces):
        if isinstance(space, bpy.types.SpaceFileBrowser) and space.params is not None:
            space.params.directory = b"//"
    with replacing(target) as scratch:
        bpy.ops.wm.save_as_mainfile(filepath=str(scratch), compress=True, copy=True, relative_remap=False)
        content = b"".join(blend_parts.contents(scratch))
        for path in _OF_THE_MACHINE:
            if path.encode() in content:
                raise NotStorableError(f"{target.name} would hold the path '{path}' of this machine.")


def store(version: str) -> Path:
    """Write VERSION.blend and VERSION.json. The extension must be registered. Raises NotStorableError."""
    import bpy

    if bpy.app.version[:2] != OLDEST:
        raise NotStorableError(
            f"This is Blender {bpy.app.version_string}: older ones could not open its file. "
            "Run this script with .venvs/bpy-4.5.15/bin/python."
        )
    target = stored_names.STORED / f"{version}.blend"
    found = build()
    save(target)
    found |= {f"{kind}.usdphys.version": version for kind in ("Object", "Material", "Scene")}
    text = json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False)
    target.with_suffix(".json").write_text(f"{text}\n", encoding="utf-8")
    return target


def main() -> int:
    try:
        with stored_names.registered():
            from usdphys_ext.usdphys_addon.system.version import addon_version

            target = store(addon_version())
    except NotStorableError as error:
        print(f"store_blend: error: {error}", file=sys.stderr)
        return 1
    print(f"{target.relative_to(bench.ROOT)}: {target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # Blender may hang while the interpreter shuts down
