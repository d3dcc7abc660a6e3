# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene beside the glTF file that it was imported from: the file is imported again, and both scenes are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Context, Material, Object

from ..bridge import import_notes, scene_read
from ..bridge.identity import remembered
from ..bridge.identity.names import SourcePaths, copied_name, prim_name
from ..bridge.identity.remembered import used_materials
from ..bridge.placements import Placement
from ..bridge.reading import SceneReading
from ..core import difference, frames, paths
from ..core.difference import Difference
from ..core.errors import InputError
from ..core.model import PhysicsModel
from ..core.vendors import is_placeless
from ..core.words import phrase
from ..system.collector import gc_paused
from . import gltf_import, gltf_source
from .edited_geometry import Chosen
from .fresh_import import Fresh, imported_anew

if TYPE_CHECKING:
    from ..usd.scene_edits import SceneEdits

_LOOKS = "/Looks"
#: Rounding of a local transform in 32 bits, relative to its largest number.
_NOISE = 2e-6


@contextmanager
def comparison_of(context: Context) -> Iterator[GltfComparison]:
    """The open scene beside its glTF file, which stays imported within the block. Raises InputError."""
    shown: Any = context.scene
    if context.mode != "OBJECT":
        raise InputError(phrase("Leave the mode of the active object: the file is imported again to compare with it."))
    file, noted = gltf_source.file_of(shown), gltf_source.noted(shown)
    assert file is not None
    readings: list[SceneReading] = []

    def run(fresh: Fresh) -> None:
        made: Any = fresh.scene
        # The file does not say it.
        made.gravity, made.use_gravity = shown.gravity, shown.use_gravity
        gltf_import.import_gltf(file, native=noted.options)
        context.view_layer.update()
        imported = gltf_source.tagged(made.objects)
        fresh.objects = _paths_of_objects(imported, gltf_source.tagged(shown.objects))
        materials = gltf_source.tagged(bpy.data.materials[name] for name in used_materials(made))
        living = gltf_source.living_materials(shown, {*materials.values()})
        fresh.materials = _paths_of_materials(materials, living)
        fresh.items = items_of(made)
        readings.append(_read(context, _sources(fresh.objects, fresh.materials, fresh)))

    with imported_anew(context, noted.meters, run) as fresh:
        context.view_layer.update()
        with gc_paused():
            comparison = GltfComparison(context, fresh, readings[0])
        yield comparison


def items_of(scene: Any) -> dict[str, Any]:
    """Physics scenes and collision groups by their paths."""
    physics = scene.usdphys
    return {
        item.prim.path or f"/{prim_name(item.name)}": item
        for item in (*physics.physics_scenes, *physics.collision_groups)
    }


def _paths_of_objects(imported: Mapping[str, Any], living: Mapping[str, Any]) -> dict[str, Object]:
    """The objects of a new import by paths of the names that the first one gave. Both: by tag."""
    found: dict[str, Object] = {}
    placed: dict[Object, str] = {}

    def place(obj: Any) -> str:
        if obj not in placed:
            above = place(obj.parent) if obj.parent is not None else ""
            name = _first_name(obj, living.get(gltf_source.tag_of(obj)))
            placed[obj] = paths.free(f"{above}/{name}", found.__contains__)
            found[placed[obj]] = obj
        return placed[obj]

    for obj in imported.values():
        place(obj)
    return found


def _paths_of_materials(imported: Mapping[str, Any], living: Mapping[str, Any]) -> dict[str, Material]:
    found: dict[str, Material] = {}
    for tag, material in imported.items():
        found[paths.free(f"{_LOOKS}/{_first_name(material, living.get(tag))}", found.__contains__)] = material
    return found


def _first_name(new: Any, first: Any) -> str:
    """The name, as that of a prim, that the first import gave a thing. new: of the second. first: None if deleted."""
    return prim_name(first.usdphys.prim.id_name if first is not None else copied_name(new.name) or new.name)


def _sources(objects: Mapping[str, Any], materials: Mapping[str, Any], fresh: Fresh) -> SourcePaths:
    imported = frozenset(fresh.objects)
    return SourcePaths(
        "", _LOOKS, {obj.name: path for path, obj in objects.items()},
        {one.name: path for path, one in materials.items()}, imported, imported,
    )  # fmt: skip


def _read(context: Context, sources: SourcePaths) -> SceneReading:
    """The physics of the scene of a context; its places stay when the evaluated objects go."""
    reading = scene_read.read_scene(context.evaluated_depsgraph_get(), root="", sources=sources)
    for placement in reading.placements:
        assert placement.matrix is not None
    # Materials of the other scene, and new ones that nothing uses.
    for path in {*reading.optional_materials} - {*sources.materials.values()}:
        del reading.model.prims[path]
    return reading


class GltfComparison:
    """A scene beside its glTF file. old, new: their physics, both by the paths of `fresh`; see `Compared`."""

    def __init__(self, context: Context, fresh: Fresh, before: SceneReading) -> None:
        scene: Any = context.scene
        self.scene, self.fresh = scene, fresh
        by_tag = {gltf_source.tag_of(twin): path for path, twin in fresh.objects.items()}
        known = gltf_source.tagged(scene.objects)
        self.objects = {by_tag[tag]: obj for tag, obj in known.items() if tag in by_tag}
        materials = {key: path for path, one in fresh.materials.items() for key in [gltf_source.tag_of(one)]}
        living = gltf_source.living_materials(scene, {*fresh.materials.values()})
        self.materials = {materials[tag]: one for tag, one in living.items() if tag in materials}
        self.sources = _sources(self.objects, self.materials, fresh)
        reading = _read(context, self.sources)
        self.placements = {one.path: one for one in reading.placements if one.instance is None}
        self.places_before = {one.path: one for one in before.placements if one.instance is None}
        self.living = set(self.objects)
        self.old, self.new = (_as_one_prim(one.model, one) for one in (before, reading))
        self.parts = _parts_of(self.old, fresh.objects) | _parts_of(self.new, self.placements)
        self._keep_what_is_there()
        pairs = {path: (self.objects[path], fresh.objects[path]) for path in self.placements if path in self.objects}
        names = {one.name: path for known in (self.materials, fresh.materials) for path, one in known.items()}
        self.edited = dict(zip(pairs, import_notes.edits_beside(pairs.values(), names), strict=True))

    def _keep_what_is_there(self) -> None:
        """Let what is hidden be as it was, and what has an object only lose its physics."""
        hidden = self.living - self.placements.keys()
        for path, prim in self.old.prims.items():
            if path not in self.new.prims and paths.nearest(path, hidden):
                self.new.add(prim)
        self.old.other_paths = frozenset(self.fresh.objects)
        self.new.other_paths = frozenset(
            path for path in {*self.old.prims, *self.fresh.objects} if paths.nearest(path, self.living)
            and not paths.nearest(path, self.fresh.objects.keys() - self.living)
        )  # fmt: skip

    def physics_edits(self) -> Difference:
        """The edits of the physics."""
        return difference.difference(self.old, self.new)

    def placed_edits(self) -> tuple[SceneEdits, Chosen]:
        """(edits of places and names, new objects)."""
        from ..usd.scene_edits import SceneEdits

        edits = SceneEdits(moves=self._moves())
        chosen = Chosen(new={path: one for path, one in self.placements.items() if path not in self.living})
        for path, edited in self.edited.items():
            prim = self.new.prims.get(path)
            if edited.transform and not (prim is not None and is_placeless(prim)):
                before, now = self.local_before(path), _local(self.placements[path])
                if np.abs(now - before).max() > _NOISE * max(1.0, float(np.abs(before).max())):
                    edits.transforms[path] = now
        return edits, chosen

    def local_before(self, path: str) -> frames.Matrix:
        """The matrix (4, 4) of an imported object below its parent, in the numbers of `placed_edits`."""
        return _local(self.places_before[path]) if path in self.places_before else np.eye(4)

    def _moves(self) -> dict[str, str]:
        """New paths of imported things that were renamed, or given another parent."""
        moves = {}
        paths_now: dict[Any, str] = {one.obj: path for path, one in self.placements.items()}
        paths_now |= {obj: path for path, obj in self.objects.items()}
        paths_before: dict[Any, str] = {twin: path for path, twin in self.fresh.objects.items()}
        for path, thing in (*self.objects.items(), *self.materials.items()):
            is_object = path in self.objects
            above = paths.parent_of(path)
            if is_object and paths_before.get(self.fresh.objects[path].parent) != paths_now.get(thing.parent):
                above = paths_now.get(thing.parent, "")
            leaf = prim_name(thing.name) if remembered.is_renamed(thing) else paths.name_of(path)
            if f"{above}/{leaf}" != path:
                moves[path] = f"{above}/{leaf}"
        return moves

    def edited_materials(self) -> dict[str, str]:
        """Paths of the materials whose look is not that of the file, by name. Those of the physics alone have none."""
        meshes = {twin.data for twin in self.fresh.objects.values()}
        shown = {material for data in meshes for material in getattr(data, "materials", ())}
        pairs = {path: (one, self.fresh.materials[path]) for path, one in self.materials.items()}
        return {
            one.name: path for path, (one, twin) in pairs.items()
            if twin in shown and not import_notes.have_same_look(one, twin)
        }  # fmt: skip

    def items_of(self, scene: Any) -> dict[str, Any]:
        """Physics scenes and collision groups of a scene by their paths."""
        return items_of(scene)


def _as_one_prim(model: PhysicsModel, reading: SceneReading) -> PhysicsModel:
    """A model in which an object and its mesh are one prim, whatever the mesh is called."""
    moves = {one.geometry: one.path for one in reading.placements if one.geometry and one.geometry != one.path}
    made = model.renamed(moves)
    for path in moves.values():
        if path in made.prims and made.prims[path].type_name == "Mesh":
            made.prims[path].type_name = "Xform"
    return made


def _parts_of(model: PhysicsModel, objects: Collection[str]) -> dict[str, str]:
    """Paths of objects by those of their colliders that have a shape of their own."""
    return {path: paths.parent_of(path) for path in model.colliders if path not in objects}


def _local(placement: Placement) -> frames.Matrix:
    """The matrix (4, 4) of an object below its parent, Blender units."""
    obj: Any = placement.obj
    if obj.parent is None or (obj.parent_type == "OBJECT" and not obj.constraints):
        return np.array(obj.matrix_parent_inverse @ obj.matrix_basis if obj.parent else obj.matrix_basis, float)
    above = placement.parent.matrix.astype(float) if placement.parent is not None else np.eye(4)
    return frames.place_below(above, placement.matrix.astype(float))
