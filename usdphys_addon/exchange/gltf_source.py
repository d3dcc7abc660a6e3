# SPDX-License-Identifier: GPL-3.0-or-later
"""The glTF file that a scene was imported from: which file, with which options, and what of it each object is."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import bpy
from bpy.types import ID, Material, Object, Scene

from ..bridge.identity.match import Thing, originals
from ..bridge.identity.remembered import GLTF, used_materials
from ..core.errors import InputError
from ..core.words import phrase
from ..gltf.document import Document
from ..system.files import note_of

#: Custom property beside `GLTF`: digests of the files, options, the unit and the earlier file, as JSON.
_IMPORT = "gltf_import"
#: Custom property of what remembers a prim: which of the things of the file an object or a material is.
_TAG = "gltf"


class Noted(NamedTuple):
    """How a scene was imported. files: digests, see `system.files.note_of`. options: of Blender's importer.

    meters: length of a Blender unit then. earlier: name of another file, whose objects are still there; else empty.
    """

    files: str
    options: dict[str, Any]
    meters: float
    earlier: str = ""


def remember(
    scene: Scene, file: Path, options: Mapping[str, Any], objects: Mapping[str, Object], meters: float
) -> None:  # fmt: skip
    """Note the import of a file. objects: by a key that another import gives them, too. meters: of a Blender unit.

    A scene that was imported from a file of another format is compared with that one.
    """
    memory: Any = scene.usdphys.source
    if memory.filepath not in ("", str(file)):
        return
    new = set(objects.values())
    is_first = all(obj in new or not tag_of(obj) for obj in scene.objects)
    earlier = "" if is_first else Path(memory.get(GLTF, "")).name
    kept = {name: value for name, value in options.items() if _is_option(name, value)}
    memory[GLTF] = str(file)
    memory[_IMPORT] = json.dumps(Noted(_digests(file), kept, meters, earlier))
    for key, obj in objects.items():
        _tag(obj, key)
    for key, material in _materials_of(objects).items():
        _tag(material, key)
        physics: Any = material.usdphys
        physics.prim.source = str(file)


def forget(scene: Scene) -> None:
    """A scene has another source now."""
    memory: Any = scene.usdphys.source
    for name in (GLTF, _IMPORT):
        memory.pop(name, None)


def file_of(scene: Scene) -> Path | None:
    """The glTF file that a scene was imported from; None if its source is another file, or it has none."""
    memory: Any = scene.usdphys.source
    file = memory.get(GLTF, "")
    return Path(file) if file and memory.filepath in ("", file) else None


def noted(scene: Scene) -> Noted:
    """How a scene was imported from its glTF file. Raises InputError where that is damaged."""
    try:
        return Noted(*json.loads(scene.usdphys.source[_IMPORT]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(phrase("What the scene notes of its import is damaged; import the file again.")) from error


def tag_of(thing: ID) -> str:
    """What of its file an imported object or material, or the one that it is a copy of, is; empty if it is new."""
    physics: Any = thing.usdphys
    return str(physics.prim.get(_TAG, "")) if physics.is_property_set("prim") else ""


def tagged(things: Iterable[ID]) -> dict[str, Any]:
    """Imported objects or materials, without copies of them, by their tags."""
    found = originals(_things(things))
    return {tag: same[0].owner for tag, same in found.items()}


def _materials_of(objects: Mapping[str, Object]) -> dict[str, Material]:
    """The materials of objects, by where they are first used: each import uses them there."""
    found: dict[Material, str] = {}
    for key, obj in objects.items():
        physics: Any = obj.usdphys
        used: list[Any] = [slot.material for slot in obj.material_slots]
        used += [owner.physics_material for owner in (physics, *physics.colliders)]
        for number, material in enumerate(used):
            if material is not None:
                found.setdefault(material, f"{key} {number}")
    return {key: material for material, key in found.items()}


def living_materials(scene: Scene, others: Container[Material]) -> dict[str, Any]:
    """The imported materials of a scene by their tags, without `others`; used or not."""
    file, used = str(file_of(scene)), used_materials(scene)
    known = [one for one in bpy.data.materials if one not in others and _source_of(one) == file]
    return tagged(one for one in known if one.name not in used) | tagged(one for one in known if one.name in used)


def _source_of(material: Any) -> str:
    return str(material.usdphys.prim.source) if material.usdphys.is_property_set("prim") else ""


def _things(things: Iterable[ID]) -> Iterator[Thing]:
    thing: Any
    for thing in things:
        if thing.library is None and (tag := tag_of(thing)):
            yield Thing(thing, thing.name, tag, str(thing.usdphys.prim.id_name))


def _tag(thing: Any, key: str) -> None:
    memory = thing.usdphys.prim
    memory[_TAG], memory.id_name = key, thing.name


def _is_option(name: str, value: Any) -> bool:
    """True for an option of Blender's importer that changes what it makes, and that JSON keeps."""
    operator: Any = bpy.ops.import_scene.gltf
    known = operator.get_rna_type().properties
    return isinstance(value, bool | int | float | str) and name in known and not name.startswith(("file", "director"))


def _digests(file: Path) -> str:
    """Digests of a file with its buffers and images. Those that are missing have been missing at the import."""
    try:
        others = Document.load(file).files() if file.suffix.lower() == ".gltf" else []
    except InputError:
        others = []
    return note_of([file, *others], file.parent)
