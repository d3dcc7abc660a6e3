# SPDX-License-Identifier: GPL-3.0-or-later
"""The importer over mutated USD files: it imports, or refuses in one sentence and leaves the scene as it was.

    .venv/bin/python scripts/fuzz_import.py [--count N] [--seed N] [--start N] [--only INDEX] [--check]

Bad are an exception that is no refusal in one sentence (escaped), a traceback that is only printed, a scene that a
refused import has changed, a crash, and a hang.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fuzz


def fresh_scene(rng: random.Random) -> None:
    """A scene that is not empty, so that it can be seen whether it changes."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    scene.unit_settings.scale_length = rng.choice((1.0, 1.0, 0.01, 0.5))
    scene.usdphys.physics_scenes.add().name = "Own"
    scene.usdphys.collision_groups.add().name = "Own"
    bpy.ops.mesh.primitive_cube_add(size=1)
    cube: Any = bpy.context.object
    cube.name = rng.choice(("Cube", "World", "Crate"))
    cube.usdphys.rigid_body.is_applied = True
    cube.usdphys.colliders.add()
    cube.data.materials.append(bpy.data.materials.new("Rubber"))
    bpy.context.view_layer.update()


def content(thing: Any) -> Any:
    """All the properties of a group of ours, with what is set."""
    import bpy

    found: dict[str, Any] = {}
    for item in thing.bl_rna.properties:
        name = item.identifier
        if name in ("rna_type", "bl_system_properties"):
            continue
        value = getattr(thing, name)
        if item.type == "COLLECTION":
            found[name] = [content(one) for one in value]
        elif item.type == "POINTER":
            found[name] = content(value) if isinstance(value, bpy.types.PropertyGroup) else getattr(value, "name", None)
        else:
            plain = tuple(value) if getattr(item, "is_array", False) else value
            found[name] = repr(plain), thing.is_property_set(name)
    return found


def fingerprint() -> dict[str, Any]:
    """What a failed import must not change."""
    import bpy

    scene: Any = bpy.context.scene
    found: dict[str, Any] = {
        item.identifier: [(one.name, one.users) for one in getattr(bpy.data, item.identifier)]
        for item in bpy.data.bl_rna.properties if item.type == "COLLECTION"
    }  # fmt: skip
    found["scene"] = content(scene.usdphys)
    found["settings"] = repr((
        scene.name, scene.unit_settings.system, scene.unit_settings.scale_length, scene.frame_start,
        scene.frame_end, scene.frame_current, scene.render.fps, scene.render.fps_base, scene.use_gravity,
        tuple(scene.gravity), scene.camera, scene.world, bpy.context.mode,
    ))  # fmt: skip
    active = bpy.context.view_layer.objects.active
    found["active"] = active.name if active else None, sorted(obj.name for obj in bpy.context.selected_objects)
    for obj in bpy.data.objects:
        matrix = [tuple(row) for row in obj.matrix_world]
        found[f"object {obj.name}"] = repr(matrix), obj.parent and obj.parent.name, content(obj.usdphys)
    for material in bpy.data.materials:
        found[f"material {material.name}"] = content(material.usdphys)
    return found


def fault_of(error: Exception, path: Path, *, names_any: bool = False) -> str:
    """What is wrong with the message of an error that a user sees; empty where nothing is.

    names_any: it need not name one thing; that an export fails is not always the fault of one.
    """
    text = str(error)
    if re.search(r"could not be (written|imported): \w+(Error|Exception|Iteration)\b", text):
        return f"the message hides an exception: {text}"
    if "\n" in text.replace(path.name, ""):
        return f"the message has more than one line: {text}"
    if not text.endswith((".", ")")):
        return f"the message is no sentence: {text}"
    if len(text) > 500 + 2 * len(str(path)):
        return f"the message is too long: {text}"
    is_named = names_any or path.name in text or re.search(r"'[^']+'", text)
    return "" if is_named else f"the message names neither file nor prim: {text}"


def rounds(path: Path, load: Callable[[], object], save: Callable[[], object]) -> Iterator[fuzz.Said]:
    """Import a file into the scene, look at what came, and export it."""
    import bpy
    from usdphys_ext.usdphys_addon.bridge import scene_read
    from usdphys_ext.usdphys_addon.core.errors import UsdPhysError

    before = fingerprint()
    yield "import"
    try:
        load()
    except UsdPhysError as error:
        fault, after = fault_of(error, path), fingerprint()
        changed = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        yield "escaped" if fault else "scene_changed" if changed else "refused", f"{changed} {fault or error}"
        return
    yield "read"
    bpy.context.view_layer.update()
    fingerprint()
    try:
        scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
        yield "export"
        save()
    except UsdPhysError as error:
        if fault := fault_of(error, path, names_any=True):
            yield "escaped", f"export: {fault}"
            return
    yield "imported", ""


@contextlib.contextmanager
def failing_late() -> Iterator[None]:
    """The last thing that an import does is to fail."""
    from usdphys_ext.usdphys_addon.core.errors import InputError
    from usdphys_ext.usdphys_addon.usd import read as usd_read

    def fail(*_: Any) -> None:
        raise InputError("'late' fails, to see what is left of it.")

    original = usd_read.default_prim_name
    usd_read.default_prim_name = fail
    try:
        yield
    finally:
        usd_read.default_prim_name = original


def case(rng: random.Random, folder: Path, options: argparse.Namespace) -> Iterator[fuzz.Said]:
    import bpy
    import fuzz_usd
    from usdphys_ext.usdphys_addon.exchange import usd_export, usd_import

    path, notes = fuzz_usd.make(rng, folder)
    fresh_scene(rng)
    yield ", ".join(notes)
    import_options = usd_import.ImportOptions(convert_units=rng.random() < 0.7)
    fails_late = rng.random() < 0.1

    def load() -> None:
        with failing_late() if fails_late else contextlib.nullcontext():
            usd_import.import_usd(bpy.context, path, import_options)

    def save() -> None:
        units, hierarchy = usd_export.stage_options(bpy.context.scene)
        usd_export.export_usd(bpy.context, folder / "exported.usda", usd_export.ExportOptions(units, hierarchy))

    yield from rounds(path, load, save)


if __name__ == "__main__":
    fuzzer = fuzz.Fuzzer(case, 2050, ("scene_changed",), 10.0, fuzz.start_blender)
    sys.exit(fuzz.main(__doc__, {"import": fuzzer}))
