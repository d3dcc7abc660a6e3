# SPDX-License-Identifier: GPL-3.0-or-later
"""The prims that Blender data was imported from, as Blender holds it: what `names` and `match` decide on."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
from bpy.types import ID, Material, Object, PropertyGroup, Scene

from ...core import paths
from ...core.joint_kinds import BY_TYPE_NAME
from ...core.schemas.usd_geom import GEOMETRY_TYPES
from ...core.vendors import is_vendor_type
from .match import Thing, originals
from .names import SourcePaths, is_other_name, prim_name

#: Objects that can stand for the geometry of a file.
_WITH_GEOMETRY = frozenset({"MESH", "META", "FONT", "SURFACE", "CURVE", "CURVES", "POINTCLOUD"})


@dataclass(slots=True)
class ImportedIDs:
    """Objects and materials that Blender made of prims, by prim path."""

    objects: dict[str, Object] = field(default_factory=dict)
    materials: dict[str, Material] = field(default_factory=dict)


def memory_of(thing: ID | PropertyGroup) -> Any:
    """The RememberedPrim of an object, material, physics scene or collision group."""
    return _properties_of(thing).prim


def _properties_of(thing: ID | PropertyGroup) -> Any:
    """Our properties of an object or material; a physics scene or collision group itself."""
    return thing if isinstance(thing, PropertyGroup) else thing.usdphys


def prim_of(thing: ID | PropertyGroup) -> Any | None:
    """The RememberedPrim of an object, material, physics scene or collision group; None if new or renamed."""
    prim = memory_of(thing)
    return prim if prim.path and prim.id_name == thing.name else None


def path_of(thing: ID | PropertyGroup) -> str:
    """Path that an object or other data was imported from; empty if it was not, or was renamed."""
    prim = prim_of(thing)
    return str(prim.path) if prim is not None else ""


def is_renamed(thing: ID | PropertyGroup) -> bool:
    """True if imported data has another name now, and not only a number because something else has the name."""
    is_item = isinstance(thing, PropertyGroup)
    others: Any = () if is_item else bpy.data.objects if isinstance(thing, bpy.types.Object) else bpy.data.materials
    return is_other_name(thing.name, str(memory_of(thing).id_name), others)


def name_of(obj: Object) -> str:
    """Name of the prim of an object: the one it was imported under, else its own."""
    prim = prim_of(obj) if obj.usdphys.is_property_set("prim") else None
    return paths.name_of(prim.path) if prim is not None else prim_name(obj.name)


def extras_of(text: str) -> dict[str, Any]:
    """`Prim.extras` from the JSON that an object or a collider keeps; empty for other text, which a script can set."""
    if not text:
        return {}
    try:
        extras = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return extras if isinstance(extras, dict) else {}


def type_of(obj: Object) -> str:
    """Prim type that an object, or the object it is a copy of, was imported from; empty if it was not."""
    physics: Any = obj.usdphys
    return str(physics.prim.type_name) if physics.is_property_set("prim") else ""


def is_geometry(obj: Object) -> bool:
    """True if an object was imported from a geometry prim, not from an Xform above one."""
    return type_of(obj) in GEOMETRY_TYPES


def objects_by_name(*, with_linked: bool = False) -> dict[str, Any]:
    """All local objects by name, for immediate use: each look-up in bpy.data.objects is a linear search.

    with_linked: also those from libraries whose name no local object has.
    """
    local = {obj.name: obj for obj in bpy.data.objects if obj.library is None}
    return {**{obj.name: obj for obj in bpy.data.objects}, **local} if with_linked else local


#: Key among what a scene remembers of its source: the path of the glTF file, no stage, that it was imported from.
GLTF = "gltf"


def source_file(scene: Scene) -> str:
    """The file that a scene was imported from; empty if it was not."""
    return str(scene.usdphys.source.filepath or scene.usdphys.source.get(GLTF, ""))


#: Key among what a scene remembers of its source: the path of a stage that was made of a file, and that file's name.
_CHOSEN = "chosen"


def remember_chosen(scene: Scene, name: str) -> None:
    """The file that the user has imported, of which the source of the scene was made."""
    scene.usdphys.source[_CHOSEN] = {"stage": scene.usdphys.source.filepath, "name": name}


def source_name(scene: Scene) -> str:
    """Name of the file that a scene was imported from, as the user knows it; "" without one."""
    source = scene.usdphys.source
    chosen = source.get(_CHOSEN)
    # After the next import, or unpacking the stage, the source is another file.
    is_chosen = chosen is not None and chosen["stage"] == source.filepath
    return str(chosen["name"] if is_chosen else bpy.path.basename(source_file(scene)))


# --------------------------------------------------------------------------- as things


def things_of(items: Iterable[Any], scene: Scene, file: str) -> list[Thing]:
    """What identifies materials, or items of a scene, beside the prims of a file.

    Renamed ones count as imported only from the file that the scene was imported from: by chance, a prim of another one
    can have the same path.
    """
    things = [_thing_of(item) for item in items]
    is_source = bool(file) and Path(bpy.path.abspath(scene.usdphys.source.filepath)) == Path(file)
    for thing in things:
        thing.is_editable = bool(getattr(thing.owner, "is_editable", True))
        if not is_source and not thing.keeps_name:
            thing.path = ""
    return things


def _thing_of(item: ID | PropertyGroup) -> Thing:
    owner = _properties_of(item)
    if not owner.is_property_set("prim"):
        return Thing(item, item.name)
    prim = owner.prim
    return Thing(item, item.name, prim.path, prim.id_name)


def objects_of(scene: Scene, file: str) -> list[Thing]:
    """What identifies the objects of a scene beside the prims of a file, see `things_of`."""
    objects = list(scene.objects)
    known = dict.fromkeys(objects)
    for obj in objects:
        # A parent need not be in the scene.
        above = obj.parent
        while above is not None and above not in known:
            known[above] = None
            above = above.parent
    things = dict(zip(known, things_of(known, scene, file), strict=True))
    for obj, thing in things.items():
        thing.parent = things[obj.parent] if obj.parent is not None else None
        joint = obj.usdphys.joint
        thing.joint = (joint.body0, joint.body1) if joint.is_applied else None
        thing.geometry = obj.data.name if obj.data is not None and obj.type in _WITH_GEOMETRY else ""
        thing.is_empty = obj.type == "EMPTY"
    return [things[obj] for obj in objects]


def origins(items: Iterable[Any]) -> dict[str, str]:
    """Path that each object, material or item was imported from, by its name: renamed ones, too, but no copies."""
    return {same[0].name: path for path, same in originals(map(_thing_of, items)).items()}


# --------------------------------------------------------------------------- paths in the source of a scene


def source_paths(scene: Scene, all_paths: Collection[str]) -> SourcePaths:
    """The paths of a scene that was imported. all_paths: of all prims of its source."""
    physics = scene.usdphys
    objects = origins(obj for obj in scene.objects if obj.library is None)
    materials = _materials_of(scene)
    items = {item.prim.path for item in (*physics.physics_scenes, *physics.collision_groups)}
    home, known = home_of(scene), objects_by_name()
    looks = _looks_scope(materials, home)
    if any(path == home and known[name].parent is not None for name, path in objects.items()):
        home = ""  # which is below a new object itself
    owned = {*objects.values(), *materials.values(), *items}
    imported = frozenset(physics.source.objects.splitlines())
    placeless = frozenset(name for name in objects if _is_placeless(known[name]))
    return SourcePaths(home, looks, objects, materials, imported, frozenset(all_paths) - owned, placeless)


def _is_placeless(obj: Object) -> bool:
    """True for the object of an imported joint, or of a prim of a vendor's type, which have no transform."""
    type_name = type_of(obj)
    return type_name in BY_TYPE_NAME or (bool(type_name) and is_vendor_type(type_name))


def _materials_of(scene: Scene) -> dict[str, str]:
    """Paths of the materials of the source, by name; not of those that another scene was imported with."""
    file = scene.usdphys.source.filepath
    used = used_materials(scene)
    mine: list[Any] = []
    rest: list[Any] = []
    for material in bpy.data.materials:
        if material.name in used:
            mine.append(material)
        elif material.usdphys.prim.source in ("", file):
            rest.append(material)
    paths = origins(mine)
    taken = set(paths.values())
    return paths | {name: path for name, path in origins(rest).items() if path not in taken}


def used_materials(scene: Scene) -> set[str]:
    """Names of the materials of the objects of a scene, in slots and for the physics."""
    names: set[str] = set()
    for obj in scene.objects:
        names.update(slot.material.name for slot in obj.material_slots if slot.material is not None)
        physics = obj.usdphys
        for owner in (physics, *physics.colliders) if physics.keys() else ():
            if "physics_material" in owner.keys() and owner.physics_material is not None:
                names.add(owner.physics_material.name)
    return names


def looks_of(scene: Scene) -> str:
    """Path of the scope of new materials in an imported scene: below its default prim, so that references bring it."""
    return _looks_scope(_materials_of(scene), home_of(scene))


def home_of(scene: Scene) -> str:
    """Path of the source's default prim; empty if it has none, or a script has written what is no name of a prim."""
    name = scene.usdphys.source.default_prim
    return f"/{name}" if name and name == prim_name(name) else ""


def _looks_scope(materials: dict[str, str], home: str) -> str:
    """The scope of the first visible material below `home`; else a new one. materials: their paths by name."""
    looks = [name for name in materials if not bpy.data.materials[name].usdphys.physics_material.is_applied]
    scopes = [paths.parent_of(materials[name]) for name in looks]
    return next((path for path in scopes if not home or paths.is_at_or_below(path, home)), f"{home}/Looks")
