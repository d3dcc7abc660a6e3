# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that stand in for a collection instance while it is simulated: an instance can only move as a whole.

The instance shows nothing meanwhile. Both are marked in the file, so that undo steps written then can be mended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import bpy
import mathutils
from bpy.types import Collection, Context, Object, Scene

from .roles import is_body, parents_of

#: Custom property of a stand-in.
_MARK = "usdphys_stand_in"
#: Custom property of an instance that shows nothing, because objects stand in for it: until the end of which.
_SHOWN_BY = "usdphys_shown_by"
PREVIEW, BAKE = "preview", "bake"
#: Copies by their originals, of one instance.
_Copies = dict[Object, Object]


class _Hidden(NamedTuple):
    """A stand-in that is out of its collections for a moment, by names. values: its properties of ours."""

    name: str
    homes: list[str]
    is_selected: bool
    is_active: bool
    values: Any


class Hidden(NamedTuple):
    """What `hide` has hidden. instancers: their names, and until when objects stand in for them."""

    instancers: list[tuple[str, str]]
    objects: list[_Hidden]


def make(context: Context) -> bool:
    """Replace each collection instance of the scene that cannot move as a whole by objects. Returns whether it did.

    Those are instances with a dynamic body, unless it is all the physics in them. A linked instancer is left alone.
    """
    chosen = [obj for obj in context.view_layer.objects if _is_to_be_replaced(obj)]
    for instancer in chosen:
        home = next((one for one in instancer.users_collection if one.library is None), context.scene.collection)
        graph = context.evaluated_depsgraph_get()
        _expand(instancer, instancer, home, graph, [])
        instancer[_SHOWN_BY] = PREVIEW
        instancer.instance_type = "NONE"
    if chosen:
        context.view_layer.update()
    return bool(chosen)


def _is_to_be_replaced(obj: Object) -> bool:
    if not is_instance(obj) or obj.library is not None or obj.override_library is not None or not obj.visible_get():
        return False
    inside = list(_shown(obj.instance_collection))
    # What is nested may be there several times.
    bodies = [one for one in inside if is_body(one) and not one.usdphys.rigid_body.kinematic_enabled]
    if not bodies:
        return False
    is_whole = len(bodies) == 1 and not obj.children and bodies[0].library is None
    is_direct = is_whole and not any(is_instance(one) for one in inside)
    return not (is_direct and all(bodies[0] in (one, *parents_of(one)) for one in inside if _is_physical(one)))


def is_instance(obj: Object) -> bool:
    """True for an object that shows a collection."""
    return obj.instance_type == "COLLECTION" and obj.instance_collection is not None


def held_by(obj: Object) -> list[Object]:
    """The objects that an instance shows, those of nested instances too; empty for what is no instance."""
    return list(_shown(obj.instance_collection)) if is_instance(obj) else []


def _shown(collection: Collection | None) -> Iterator[Object]:
    """The objects that instances of a collection show, those of nested instances too."""
    for obj in _own(collection):
        yield obj
        if is_instance(obj):
            yield from _shown(obj.instance_collection)


def _own(collection: Any) -> list[Object]:
    """The objects of a collection and of those in it, without what is hidden, each once."""
    found: dict[Object, None] = {}
    collections = [collection]
    for one in collections:
        found |= {obj: None for obj in one.objects if not obj.hide_viewport}
        collections += [child for child in one.children if not child.hide_viewport]
    return list(found)


def _is_physical(obj: Object) -> bool:
    physics = obj.usdphys
    return is_body(obj) or len(physics.colliders) > 0 or physics.joint.is_applied


def _expand(
    instancer: Object, shows: Object, home: Collection, graph: bpy.types.Depsgraph, around: Sequence[_Copies]
) -> None:
    """Add copies below an instancer of what it shows.

    shows: the instance whose collection that is: itself, or the nested one that it is a copy of. around: the copies of
    the instances that it is in, from the inside out. They have the parents of their originals where those are there,
    too, so that animation moves them alike.
    """
    collection: Any = shows.instance_collection
    offset = mathutils.Matrix.Translation(-collection.instance_offset)
    made: _Copies = {obj: obj.copy() for obj in _own(collection)}
    for obj, copy in made.items():
        copy[_MARK] = True
        copy.property_unset("usdphys_joint_ends")  # else the joints of the instance would stay for the copies' sake
        home.objects.link(copy)
        if obj.parent in made:
            _hang(copy, made[obj.parent], obj.matrix_parent_inverse)
        else:
            copy.parent_type = "OBJECT"
            _hang(copy, instancer, offset @ _above(obj, graph))
    for obj, copy in made.items():
        _point_at_copies(copy, [made, *around])
        if is_instance(obj):
            copy.instance_type = "NONE"
            _expand(copy, obj, home, graph, [made, *around])


def _hang(copy: Object, parent: Object, inverse: mathutils.Matrix) -> None:
    """Give an object a parent, which resets the inverse matrix of that."""
    inverse = inverse.copy()
    copy.parent = parent
    copy.matrix_parent_inverse = inverse


def _above(obj: Object, graph: bpy.types.Depsgraph) -> mathutils.Matrix:
    """The matrix of the space in which an object has its own transform."""
    if obj.parent is None:
        return mathutils.Matrix()
    return obj.evaluated_get(graph).matrix_world @ obj.matrix_basis.inverted_safe()


def _point_at_copies(copy: Object, maps: Sequence[_Copies]) -> None:
    """Let physics, constraints and modifiers of a copy refer to copies, from the nearest map that has one."""
    _remap(copy.usdphys, maps, copy.usdphys.keys())
    for item in (*copy.constraints, *copy.modifiers):
        _remap(item, maps, item.bl_rna.properties.keys())
        for target in getattr(item, "targets", ()):
            _remap(target, maps, ("target",))


def _remap(owner: Any, maps: Sequence[_Copies], names: Iterable[str]) -> None:
    properties = owner.bl_rna.properties
    for name in names:
        kind = properties.get(name)
        if kind is None or kind.type not in ("POINTER", "COLLECTION"):
            continue
        value = getattr(owner, name)
        if isinstance(value, bpy.types.Object):
            new = next((one[value] for one in maps if value in one), None)
            if new is not None and not kind.is_readonly:
                setattr(owner, name, new)
        elif isinstance(value, bpy.types.PropertyGroup):
            _remap(value, maps, value.keys())
        elif kind.type == "COLLECTION" and isinstance(owner, bpy.types.PropertyGroup):
            for item in value:
                _remap(item, maps, item.keys())


# --------------------------------------------------------------------------- ending


def _groups() -> tuple[dict[Object, list[Object]], list[Object]]:
    """(stand-ins of each marked instancer, those without one)."""
    every: Any = bpy.data.objects
    marked: list[Any] = [obj for obj in every if obj.library is None and (_MARK in obj or _SHOWN_BY in obj)]
    groups: dict[Object, list[Object]] = {obj: [] for obj in marked if _SHOWN_BY in obj}
    orphans: list[Object] = []
    for obj in marked:
        if _MARK not in obj:
            continue
        above = next((one for one in parents_of(obj) if one in groups), None)
        (orphans if above is None else groups[above]).append(obj)
    return groups, orphans


def is_stand_in(obj: Any) -> bool:
    return _MARK in obj


def until(end: str) -> None:
    """Let the objects that stand in for instances during a preview do so until another end, such as of a bake."""
    for instancer in _groups()[0]:
        if instancer[_SHOWN_BY] == PREVIEW:
            instancer[_SHOWN_BY] = end


def remove(end: str = PREVIEW, scene: Scene | None = None) -> None:
    """Remove the stand-ins that were until an end, and those without an instance; the instances are shown again.

    scene: in which the instances are; all by default.
    """
    groups, lost = _groups()
    for instancer, objects in groups.items():
        if instancer[_SHOWN_BY] == end and (scene is None or instancer.name_full in scene.objects):
            lost += objects
            _show_again(instancer)
    if lost:
        bpy.data.batch_remove(lost)


def tidy() -> None:
    """After objects were copied or deleted: remove stand-ins of deleted instances, and show copied instances again."""
    groups, lost = _groups()
    for instancer, objects in groups.items():
        if not objects:
            _show_again(instancer)
    if lost:
        bpy.data.batch_remove(lost)


def keep() -> None:
    """Make the stand-ins of a preview usual objects below their instancers, which show nothing any more."""
    for instancer, objects in _groups()[0].items():
        if instancer[_SHOWN_BY] == PREVIEW:
            del instancer[_SHOWN_BY]
            for obj in objects:
                del obj[_MARK]


def _show_again(instancer: Object) -> None:
    instancer.instance_type = "COLLECTION"
    del instancer[_SHOWN_BY]


# --------------------------------------------------------------------------- for a moment


def hide() -> Hidden:
    """Show the instances themselves for a moment, while a file is written. Stand-ins of a bake stay."""
    from . import copied, object_copies

    instancers, hidden = [], []
    layer: Any = bpy.context.view_layer
    for instancer, objects in _groups()[0].items():
        if instancer[_SHOWN_BY] != PREVIEW:
            continue
        instancers.append((instancer.name, instancer[_SHOWN_BY]))
        for obj in objects:
            is_selected = obj.name in layer.objects and obj.select_get()
            is_active = layer.objects.active == obj
            # Else they refer to each other, and Blender writes what is referred to.
            values = copied.values_of(obj) if obj.is_property_set("usdphys") else {}
            hidden.append(_Hidden(obj.name, [one.name for one in obj.users_collection], is_selected, is_active, values))
            object_copies.set_properties({}, [obj])
            for home in obj.users_collection:
                home.objects.unlink(obj)
        _show_again(instancer)
    if instancers:
        layer.update()
    return Hidden(instancers, hidden)


def show(hidden: Hidden) -> None:
    """Undo `hide`."""
    from . import object_copies

    collections = {one.name: one for one in bpy.data.collections}
    roots = {scene.collection.name: scene.collection for scene in bpy.data.scenes}
    layer: Any = bpy.context.view_layer
    for name, end in hidden.instancers:
        instancer = bpy.data.objects[name]
        instancer[_SHOWN_BY] = end
        instancer.instance_type = "NONE"
    objects = [(bpy.data.objects[one.name], one) for one in hidden.objects]
    for obj, one in objects:
        object_copies.set_properties(one.values, [obj])
        for home in one.homes:
            (collections.get(home) or roots[home]).objects.link(obj)
    if objects:
        layer.update()
    for obj, one in objects:
        if one.is_selected and obj.name in layer.objects:
            obj.select_set(True)
        if one.is_active:
            layer.objects.active = obj
