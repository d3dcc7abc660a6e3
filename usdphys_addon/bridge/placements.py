# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of every object of a scene on the exported stage, including collection instances."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy
import mathutils
import numpy as np

from ..core.frames import Matrix
from .identity import remembered
from .identity.match import Chain
from .identity.names import SourcePaths, numbered, prim_name

_UNUSED_ID = 0x7FFFFFFF
#: Types of objects for which Blender's USD exporter writes no prim, unless they are above others.
_WITHOUT_PRIM = frozenset({"GPENCIL", "GREASEPENCIL", "LATTICE", "LIGHT_PROBE", "SPEAKER"})


@dataclass(slots=True)
class Placement:
    """One occurrence of an object.

    obj: the original. evaluated: its evaluated copy. physics: its properties. touched: its keys, the groups ever
    set, cached because asking Blender is slow. instance: (instancer, persistent id of the instancer within it)
    shared by all that one collection instance brings; None for plain objects. name: expected prim name. is_left_out:
    Blender's exporter writes no prim for it, because of its type, or because it is hidden in renders and the export is
    one for renders; see `ScenePlacements.gather`.
    """

    obj: bpy.types.Object
    evaluated: bpy.types.Object
    physics: Any
    touched: list[str]
    instance: tuple[str, tuple[int, ...]] | None
    name: str
    instance_matrix: mathutils.Matrix | None = None
    parent: Placement | None = None
    chain: Chain = ()
    path: str = ""
    geometry: str = ""
    is_left_out: bool = False
    #: Meshes that its own geometry nodes show as instances: they are no part of its mesh.
    own_instances: int = 0
    #: Of the objects that are read like this one; see `bridge.copied`.
    group: Any = None
    _matrix: Matrix | None = None
    _turn: bytes = b""
    _mesh_key: str = ""

    @property
    def matrix(self) -> Matrix:
        """Object space to world (4, 4), Blender units."""
        if self._matrix is None:
            world = self.evaluated.matrix_world if self.instance_matrix is None else self.instance_matrix
            self._matrix = np.array(world)
        return self._matrix

    @property
    def has_type_without_prim(self) -> bool:
        """True for what Blender's USD exporter knows no prim for."""
        return self.obj.type in _WITHOUT_PRIM

    @property
    def turn(self) -> bytes:
        """The bytes of rotation, scale and shear of the matrix: where they are equal, so are these."""
        return self._turn or self.matrix[:3, :3].tobytes()

    @property
    def volume(self) -> float:
        """Determinant of the world matrix: volume of the object's unit cube, negative if mirrored."""
        world = self.evaluated.matrix_world if self.instance_matrix is None else self.instance_matrix
        return float(world.determinant())

    @property
    def mesh_key(self) -> str:
        """What holds the mesh, as a key of caches: its data, or the object if modifiers or shape keys change it."""
        if not self._mesh_key:
            obj, data = self.obj, self.obj.data
            if obj.modifiers or data is None or getattr(data, "shape_keys", None) is not None:
                self._mesh_key = f"object {obj.name_full}"
            else:
                self._mesh_key = f"data {data.name_full}"
        return self._mesh_key

    def ancestors(self) -> Iterator[Placement]:
        """The placements above, nearest first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent


def _set_matrices(placements: list[Placement], depsgraph: bpy.types.Depsgraph) -> None:
    """Read the matrices of all objects at once: one by one takes several times as long."""
    objects: Any = depsgraph.objects
    values = np.empty(16 * len(objects), np.float32)
    objects.foreach_get("matrix_world", values)
    # Blender gives them column by column.
    matrices = np.ascontiguousarray(values.astype(float).reshape(-1, 4, 4).transpose(0, 2, 1))
    turns: list[Any] = matrices[:, :3, :3].reshape(-1, 9).view(np.dtype((np.void, 72))).ravel().tolist()
    known = dict(zip(objects, zip(matrices, turns, strict=True), strict=True))
    for placement in placements:
        if (matrix := known.get(placement.evaluated)) is not None:
            placement._matrix, placement._turn = matrix


def _plain_objects(depsgraph: bpy.types.Depsgraph) -> Iterator[Any]:
    """The original objects that a depsgraph shows, without instances."""
    instances: Any = depsgraph.object_instances
    for instance in instances:
        if not instance.is_instance:
            yield instance.object.original


def _hides_in_renders(obj: bpy.types.Object, collections: Container[Any]) -> bool:
    """True if an object is hidden in renders. collections: that are hidden there."""
    if obj.hide_render or (obj.is_instancer and not obj.show_instancer_for_render):
        return True
    return any(collection in collections for collection in obj.users_collection)


def _count_own(shown: Placement, count: int, obj: Any) -> None:
    """Count what Blender gives as an instance of an object by itself, if it is one that geometry nodes have made.

    count: of its persistent ids. The mesh that a curve, a text or geometry nodes make comes so, too, with one id more
    than the object has; instances in geometry nodes have another one.
    """
    own = count - (0 if shown.instance is None else len(shown.instance[1]) + 1)
    if own > 1 and isinstance(obj.data, bpy.types.Mesh) and len(obj.data.polygons):
        shown.own_instances += 1


class ScenePlacements:
    """The placements of all objects that a depsgraph shows, once `gather` has read it.

    root: prim path above all objects. keep: which objects count; all if None. sources: give imported objects the paths
    that they came from, and new ones a place in their source.
    """

    def __init__(
        self, root: str, keep: Callable[[bpy.types.Object], bool] | None = None, sources: SourcePaths | None = None
    ) -> None:  # fmt: skip
        self.root, self.keep, self.sources = root, keep, sources
        self.all: list[Placement] = []
        self._by_key: dict[tuple[object, str], Placement] = {}
        self._instancers: dict[tuple[str, tuple[int, ...]], Placement] = {}
        self._paths: set[str] = set() if sources is None else set(sources.reserved)
        #: Objects that the viewport shows and renders do not, for which no place was found; see `gather`.
        self.unplaced: list[Any] = []
        #: Name of the view layer that was read.
        self.view_layer = ""
        #: True if Blender's exporter is certain to give the expected paths: no instances, no equal prim names, no
        #: names remembered from an import, no parents that are not exported.
        self.are_certain = True

    def gather(self, depsgraph: bpy.types.Depsgraph, hidden_among: bpy.types.Depsgraph | None = None) -> None:
        """Add all objects, and find their paths. Only once: placements are not replaced.

        hidden_among: shows objects, too, which are hidden in the other one, a depsgraph for renders. They are added as
        left out.
        """
        layer: Any = depsgraph.view_layer
        self.view_layer = layer.name
        for instance in depsgraph.object_instances:
            self._add(instance)
        if hidden_among is not None:
            self._add_hidden(depsgraph, hidden_among)
        plain = [placement for placement in self.all if placement.touched and placement.instance is None]
        if 2 * len(plain) > len(self.all):
            _set_matrices(plain, depsgraph)
        for placement in self.all:
            self._locate(placement)

    def _add_hidden(self, depsgraph: bpy.types.Depsgraph, viewport: bpy.types.Depsgraph) -> None:
        """Add what the viewport shows and renders do not, where the object or the instancer above it is known."""
        known, before = set(self._by_key), len(self.all)
        collections = {
            inner for one in bpy.data.collections if one.hide_render for inner in (one, *one.children_recursive)
        }
        is_of_part = any(
            not _hides_in_renders(obj, collections)
            for obj in _plain_objects(viewport) if (None, obj.name_full) not in known
        )  # fmt: skip
        for instance in viewport.object_instances:
            self._add(instance, partial(self._is_new, known, is_of_part=is_of_part))
        scenes: list[Any] = [depsgraph.scene_eval, viewport.scene_eval]
        is_same_frame = scenes[0].frame_current_final == scenes[1].frame_current_final
        for placement in self.all[before:]:
            placement.is_left_out = True
            self.are_certain = False
            above: Any = placement.evaluated.parent
            parent = self._by_key.get((None, above.original.name_full)) if above is not None else None
            if parent is not None and placement.instance is None and not is_same_frame:
                local = np.linalg.inv(np.array(above.matrix_world)) @ np.array(placement.evaluated.matrix_world)
                placement._matrix = parent.matrix @ local

    def _is_new(self, known: Container[Any], original: bpy.types.Object, key: Any, *, is_of_part: bool) -> bool:
        """True for an object of the viewport that the renders lack.

        is_of_part: the export is of a part of the scene, to which only that belongs whose parent does.
        """
        if (key, original.name_full) in known:
            return False
        if key is None:
            above = original.parent
            has_parent = above is not None and (None, above.name_full) in self._by_key
            return has_parent or not is_of_part
        # Blender counts what it instances, and leaves out what is hidden: ids of deeper instancers are not the same.
        is_placed = not key[1] and (None, key[0]) in self._by_key
        if not is_placed:
            self.unplaced.append(original)
        return is_placed

    def _stored(self, placement: Placement) -> Placement:
        """The object that stands for a new placement."""
        return placement

    def _add(self, instance: Any, wanted: Callable[[bpy.types.Object, Any], bool] | None = None) -> None:
        keep = self.keep
        if instance.is_instance:
            evaluated = instance.instance_object
            ids = tuple(number for number in instance.persistent_id if number != _UNUSED_ID)
            top = instance.parent
            if evaluated is None or top is None or (keep is not None and not keep(top.original)):
                return
            original = evaluated.original
            shown = self._instancer_of(top.original.name_full, ids[1:])
            if original == top.original or (shown is not None and original == shown.obj):
                if shown is not None:
                    _count_own(shown, len(ids), instance.object)
                return
            key: tuple[str, tuple[int, ...]] | None = (top.original.name_full, ids[1:])
            name = "_".join([prim_name(original.name), *map(str, reversed(ids))])
        else:
            evaluated = instance.object
            original = evaluated.original
            if keep is not None and not keep(original):
                return
            ids, key, name = (), None, ""
        if wanted is not None and not wanted(original, key):
            return
        # The matrix of an instance is valid only during this step of the iteration.
        matrix = None if key is None else instance.matrix_world.copy()
        physics = original.usdphys
        touched = physics.keys()
        label = original.name
        if key is not None or "prim" in touched or not label.isascii():
            self.are_certain = False
        if not name:
            name = remembered.name_of(original) if "prim" in touched else prim_name(label)
        placement = self._stored(Placement(original, evaluated, physics, touched, key, name, matrix, None, (label,)))
        if touched and placement.has_type_without_prim:
            placement.is_left_out, self.are_certain = True, False
        self.all.append(placement)
        full_name = original.name_full
        self._by_key[key, full_name] = placement
        if key is None:
            self._instancers[full_name, ()] = placement
        else:
            self._instancers[key[0], ids] = placement

    def _locate(self, placement: Placement) -> None:
        """Set parent, chain and path of a placement, after those of its parents."""
        if placement.path:
            return
        parent = None
        above = placement.obj.parent
        if self.sources is not None and placement.instance is None:
            above = self.sources.parent_of(placement.obj)
        if above is not None:
            # The parent of an instanced object must be in the same instance.
            parent = self._by_key.get((placement.instance, above.name_full))
        if parent is None and placement.instance is not None:
            parent = self._instancer_of(*placement.instance)
        names: list[str] = []
        if parent is None:
            # Parents that are not exported themselves still stand in the hierarchy.
            while above is not None:
                self.are_certain = False
                names.append(above.name)
                above = above.parent
            names.reverse()
            if self.sources is None:
                base = "/".join([self.root, *map(prim_name, names)]) if names else self.root
            else:
                base = self.sources.path_above(placement.obj)
            above_names = tuple(names)
        else:
            self._locate(parent)
            base, above_names = parent.path, parent.chain
        placement.parent = parent
        if above_names:
            placement.chain = (*above_names, *placement.chain)
        origin = None
        if self.sources is not None and placement.instance is None:
            origin = self.sources.objects.get(placement.obj.name)
        path = f"{base}/{placement.name}"
        placement.path = origin or numbered(path, self._paths)
        if placement.path != path:
            self.are_certain = False
        self._paths.add(placement.path)

    def _instancer_of(self, top: str, ids: tuple[int, ...]) -> Placement | None:
        """The placement whose instances have these persistent ids behind their own.

        Geometry nodes and particles count levels that are no objects.
        """
        levels = range(len(ids) + 1)
        return next((instancer for start in levels if (instancer := self._instancers.get((top, ids[start:])))), None)

    def instancer_of(self, obj: bpy.types.Object) -> str:
        """Name of an object that shows another one as an instance; empty if none does."""
        name = obj.name_full
        return next((key[0] for key, known in self._by_key if known == name and isinstance(key, tuple)), "")

    def find(self, obj: bpy.types.Object | None, instance: tuple[str, tuple[int, ...]] | None) -> Placement | None:
        """Where an object is, seen from within an instance: its copy there or in an instance around it, else itself."""
        if obj is None:
            return None
        name = str(getattr(obj.original, "name_full", obj.name_full))
        while instance is not None:
            placement = self._by_key.get((instance, name))
            if placement is not None:
                return placement
            top, ids = instance
            instance = (top, ids[1:]) if ids else None
        return self._by_key.get((None, name))
