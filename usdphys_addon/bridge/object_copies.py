# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that an import makes as copies of others: many times faster than Blender's importers make them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Any

import bpy
import mathutils
import numpy as np
from bpy.types import Mesh, Object
from numpy.typing import NDArray

from ..core import frames, paths
from ..core.frames import Matrix
from . import copied
from .identity.remembered import ImportedIDs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Begins the names of objects until they get their own.
_FREED = "~"


def complete(
    found: ImportedIDs, order: Iterable[str], likes: Mapping[str, str], poses: Mapping[str, Matrix],
    shared: Iterable[str] = (),
) -> None:  # fmt: skip
    """Add copies of imported objects, and set `matrix_world` of all, so that Blender need not evaluate the scene.

    order: paths of all prims, parents first. likes: path of a copy -> path of the imported object. poses: path of a
    copy -> matrix (4, 4) relative to its parent, by default the identity. shared: paths of the imported objects whose
    copies share their mesh datablock.
    """
    objects: dict[str, Any] = dict(found.objects)
    made = {path: first for path, first in likes.items() if first in objects}
    places = [path for path in order if path in objects or path in made]
    counts = Counter(map(paths.name_of, places))
    wanted = [path for path in places if counts[paths.name_of(path)] > 1]
    _free_names(objects, wanted)
    keep = frozenset(shared)
    for path in places:
        first = made.get(path)
        if first is not None:
            name = paths.name_of(path)
            objects[path] = _copy(objects[first], name if counts[name] == 1 else _FREED + name, shares=first in keep)
    # Frames come before shapes, which nobody asks for by name.
    for path in sorted(wanted, key=lambda one: objects[one].type != "EMPTY"):
        _name(objects[path], path, keep)
    for path in made:
        obj, above = objects[path], objects.get(paths.parent_of(path))
        if obj.parent != above:
            obj.parent = above
        _place(obj, poses.get(path))
    _link(objects, made)
    found.objects.clear()
    found.objects.update((path, objects[path]) for path in places)
    worlds: dict[str, mathutils.Matrix] = {}
    for path, obj in found.objects.items():
        basis = obj.matrix_basis.copy()
        above = worlds.get(paths.parent_of(path)) if obj.parent is not None else None
        world = worlds[path] = basis if above is None else above @ obj.matrix_parent_inverse @ basis
        # This sets the place below the parent, too, with the errors of inversions in 32 bits.
        kept = obj.location.copy(), obj.rotation_euler.copy(), obj.scale.copy()
        obj.matrix_world = world
        obj.location, obj.rotation_euler, obj.scale = kept


def _place(obj: Object, pose: Matrix | None) -> None:
    """Set location, rotation and scale from a matrix (4, 4); None is the identity.

    The angles are computed in 64 bits, because errors add up in chains of links.
    """
    if pose is None:
        obj.matrix_basis = mathutils.Matrix()
        return
    scale = frames.scale_of(pose)
    turn = pose[:3, :3] / scale
    obj.location, obj.scale = pose[:3, 3].tolist(), scale.tolist()
    obj.rotation_euler = frames.euler_angles(turn)


def copy_properties(source: Any, others: Iterable[Any]) -> None:
    """Give other objects all properties of ours that an object has. Those that they had are lost."""
    set_properties(copied.values_of(source), others)


def set_properties(values: Any, others: Iterable[Any]) -> None:
    """Give objects properties of ours as `copied.values_of` has them; those that they had are lost."""
    is_apart = bpy.app.version >= (5, 0)
    for obj in others:
        holder = obj.bl_system_properties_get(do_create=True) if is_apart else obj
        try:
            holder["usdphys"] = values
        except TypeError:
            # Whoever looks at a property makes an empty group, which Blender does not replace.
            del holder["usdphys"]
            holder["usdphys"] = values


def fill(mesh: Mesh, points: Floats, counts: Ints, corners: Ints) -> None:
    """Replace the geometry of a mesh by flat faces; its materials stay. points (n, 3); counts: corners of each face."""
    mesh.clear_geometry()
    mesh.vertices.add(len(points))
    mesh.loops.add(len(corners))
    mesh.polygons.add(len(counts))
    # As attributes, which Blender takes as a whole: through `vertices` and `loops`, it takes number by number.
    attributes: Any = mesh.attributes
    attributes["position"].data.foreach_set("vector", np.ascontiguousarray(points, np.float32).reshape(-1))
    attributes[".corner_vert"].data.foreach_set("value", np.ascontiguousarray(corners, np.int32))
    mesh.polygons.foreach_set("loop_start", (np.cumsum(counts) - counts).astype(np.int32))
    mesh.update(calc_edges=True)
    mesh.shade_flat()
    for name in (".select_vert", ".select_edge", ".select_poly"):
        if name in attributes:
            attributes.remove(attributes[name])


def _free_names(objects: Mapping[str, Object], wanted: Iterable[str]) -> None:
    """Rename imported objects whose name others want, too."""
    for path in wanted:
        if path in objects:
            obj = objects[path]
            obj.name = _FREED + obj.name
            if obj.data is not None:
                obj.data.name = obj.name


def _copy(source: Any, name: str, *, shares: bool) -> Any:
    data = source.data
    if data is not None and not shares:
        data = data.copy()
        data.name = name
    if not len(source.keys()):
        # Quicker than a copy, which gets a free name first.
        return bpy.data.objects.new(name, data)
    copy = source.copy()
    copy.name, copy.data = name, data
    return copy


def _name(obj: Object, path: str, shared: Container[str]) -> None:
    obj.name = paths.name_of(path)
    if obj.data is not None and (path not in shared or obj.data.name.startswith(_FREED)):
        obj.data.name = obj.name


def _link(objects: Mapping[str, Object], made: Mapping[str, str]) -> None:
    """Link copies to the collections of what they are copies of, and select them as those."""
    homes: dict[str, list[bpy.types.Collection]] = {}
    for path, first in made.items():
        if first not in homes:
            homes[first] = list(objects[first].users_collection)
        for home in homes[first]:
            home.objects.link(objects[path])
    chosen: dict[str, bool] = {first: objects[first].select_get() for first in homes}
    for path, first in made.items():
        if chosen[first]:
            objects[path].select_set(True)
