# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the things of an imported scene are in the file that they came from, and where new things go in it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import bpy

from ..core import paths
from . import remembered
from .naming import prim_name


@dataclass(slots=True)
class SourcePaths:
    """Paths in the source of a scene. Renamed and moved things keep the path that they came from.

    home: of the prim that new things without a parent are put below. looks: of the scope of new materials. objects,
    materials: path that each came from, by name. imported: paths of all prims that became objects. reserved: paths of
    prims that new things must not take.
    """

    home: str
    looks: str
    objects: dict[str, str]
    materials: dict[str, str]
    imported: frozenset[str]
    reserved: frozenset[str] = field(default_factory=frozenset)

    def path_above_origin(self, origin: str) -> str:
        """Path of the prim above an imported object that has no parent."""
        above = paths.parent_of(origin)
        return self.home if above in self.imported else above

    def path_above(self, obj: bpy.types.Object) -> str:
        """Path of the prim above a new object whose parent, if it has one, is not shown."""
        above = obj.parent
        names: list[str] = []
        while above is not None and above.name not in self.objects:
            names.insert(0, prim_name(above.name))
            above = above.parent
        return "/".join([self.home if above is None else self.objects[above.name], *names])


def source_paths(scene: Any, all_paths: Collection[str]) -> SourcePaths:
    """The paths of a scene that was imported. all_paths: of all prims of its source."""
    physics = scene.usdphys
    source = physics.source
    objects = remembered.origins(obj for obj in scene.objects if obj.library is None)
    materials = _materials_of(scene)
    items = {item.prim.path for item in (*physics.physics_scenes, *physics.collision_groups)}
    home = home_of(scene)
    looks = _looks_scope(materials, home)
    owned = {*objects.values(), *materials.values(), *items}
    imported = frozenset(source.objects.splitlines())
    return SourcePaths(home, looks, objects, materials, imported, frozenset(all_paths) - owned)


def _materials_of(scene: Any) -> dict[str, str]:
    """Paths of the materials of the source, by name; not of those that another scene was imported with."""
    file = scene.usdphys.source.filepath
    used = used_materials(scene)
    mine: list[Any] = []
    rest: list[Any] = []
    for material in bpy.data.materials:
        if material.name in used:
            mine.append(material)
        elif material.usdphys.prim.source in ("", file):  # type: ignore[attr-defined]
            rest.append(material)
    found = remembered.origins(mine)
    taken = set(found.values())
    return found | {name: path for name, path in remembered.origins(rest).items() if path not in taken}


def used_materials(scene: Any) -> set[str]:
    """Names of the materials of the objects of a scene, in slots and for the physics."""
    names: set[str] = set()
    for obj in scene.objects:
        names.update(slot.material.name for slot in obj.material_slots if slot.material is not None)
        physics = obj.usdphys
        for owner in (physics, *physics.colliders) if physics.keys() else ():
            if "physics_material" in owner.keys() and owner.physics_material is not None:
                names.add(owner.physics_material.name)
    return names


def looks_of(scene: Any) -> str:
    """Path of the scope of new materials in an imported scene: below its default prim, so that references bring it."""
    return _looks_scope(_materials_of(scene), home_of(scene))


def home_of(scene: Any) -> str:
    """Path of the source's default prim; empty if it has none, or a script has written what is no name of a prim."""
    name = scene.usdphys.source.default_prim
    return f"/{name}" if name and name == prim_name(name) else ""


def _looks_scope(materials: dict[str, str], home: str) -> str:
    """The scope of the first visible material below `home`; else a new one. materials: their paths by name."""
    shown = [name for name in materials if not bpy.data.materials[name].usdphys.physics_material.is_applied]  # type: ignore[attr-defined]
    scopes = [paths.parent_of(materials[name]) for name in shown]
    return next((path for path in scopes if not home or paths.is_at_or_below(path, home)), f"{home}/Looks")
