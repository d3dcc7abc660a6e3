# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of instances as Blender shows them.

Blender's glTF exporter goes from parents to children, whatever is in the collection: it skips objects whose parent is
outside of the collection, and writes children that are not in it. It moves children of an instancer twice, or by the
offset of the collection. Of children that are instanced on vertices and faces it writes the copies alone, with what is
below the child itself below each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

import bpy
from bpy.types import Depsgraph, Object
from mathutils import Matrix

#: True where the exporter has applied the matrix of an instancer to the matrices of its children, too.
_MOVES_TWICE = bpy.app.version < (5, 2)
_Children = dict[Object | None, list[Object]]


def mend(tree: Any) -> dict[str, list[str]]:
    """Have an export write collection instances as they are shown. tree: of Blender's exporter, before it is filtered.

    Returns the names of objects that stay out, by that of the instancer. These are objects that an armature outside of
    the collection deforms, which the exporter would put where the armature is; those below which the same collection is
    instanced, where it would never end; and any where collections are nodes.
    """
    _empty_point_clouds(tree)
    mends = not tree.export_settings["gltf_hierarchy_full_collections"]
    children: _Children = {}
    instancers = [uuid for uuid, node in tree.nodes.items() if _is_instancer(node)]
    if mends:
        carriers = [uuid for uuid, node in tree.nodes.items() if _instances_children(node)]
        shown = _instancing() if carriers else set()
        for uuid in carriers:
            _mend_copies(tree, uuid, children, shown)
        for uuid in instancers:  # which grows
            before = len(tree.nodes)
            _place_children(tree, uuid)
            _add_missing(tree, uuid, children)
            instancers += [new for new in list(tree.nodes)[before:] if _is_instancer(tree.nodes[new])]
        for uuid in instancers:
            if uuid in tree.nodes:
                _remove_strangers(tree, uuid)
    missing = {uuid: _missing(tree, uuid) for uuid in instancers if uuid in tree.nodes}
    return {
        tree.nodes[uuid].blender_object.name: [obj.name for obj in objects] for uuid, objects in missing.items()
        if objects
    }  # fmt: skip


def _empty_point_clouds(tree: Any) -> None:
    """Have point clouds with modifiers written as empty nodes: Blender 5.2's exporter fails at them.

    Imported point instancers are such point clouds; the instances that their geometry nodes make have nodes of their
    own.
    """
    for node in tree.nodes.values():
        obj = node.blender_object
        if isinstance(obj, Object) and obj.type == "POINTCLOUD" and len(obj.modifiers):
            node.force_as_empty = True


def are_made_by_nodes(graph: Depsgraph) -> bool:
    """True where geometry nodes make copies of objects with physics, which Blender's exporter writes if it is asked."""
    if not any(modifier.type == "NODES" for obj in graph.objects for modifier in obj.modifiers):
        return False
    for one in graph.object_instances:
        source: Any = one.instance_object
        if one.is_instance and source is not None and one.parent is not None and one.parent.instance_type == "NONE":
            physics: Any = source.original.usdphys
            if any(len(getattr(physics, key)) if key == "colliders" else getattr(physics, key).is_applied
                   for key in ("rigid_body", "colliders") if key in physics.keys()):  # fmt: skip
                return True
    return False


def is_copy(tree: Any, uuid: str) -> bool:
    """True for a node that an object brings by being instanced on the vertices or faces of another one."""
    above = tree.nodes.get(tree.nodes[uuid].parent_uuid)
    return above is not None and _instances_children(above) and _is_brought(above, uuid)


def _instances_children(node: Any) -> bool:
    obj = node.blender_object
    return isinstance(obj, Object) and node.blender_type == node.OBJECT and obj.instance_type in ("VERTS", "FACES")


def _instancing() -> set[Object | None]:
    """The objects of which there are instances."""
    graph: Any = bpy.context.evaluated_depsgraph_get()
    return {one.parent.original for one in graph.object_instances if one.is_instance}


def _mend_copies(tree: Any, uuid: str, children: _Children, shown: Container[Object | None]) -> None:
    """Add the objects that are instanced on vertices or faces beside their copies, which lose what is no copy.

    shown: objects of which there are instances. The exporter goes from a copy on to the children of its object, which
    are where the object itself is, and whose copies it writes, too.
    """
    node = tree.nodes[uuid]
    if any(tree.nodes[above].blender_type == node.INST_COLLECTION for above in _above(tree, uuid)):
        return  # nothing tells where the exporter has put these
    if node.blender_object in shown:
        for child in node.children:
            copied = tree.nodes[child]
            for below in copied.children:
                _drop(tree, below)
            copied.children, copied.children_type = [], {}
            node.children_type[child] = node.CHILDREN_IS_IN_COLLECTION
    _fill(children)
    known = {tree.nodes[child].blender_object for child in node.children if not _is_brought(node, child)}
    for obj in children[node.blender_object]:
        if obj not in known and not _is_endless(obj, children):
            tree.recursive_node_traverse(obj, None, uuid, Matrix.Identity(4), False, children)


def _above(tree: Any, uuid: str) -> Iterator[str]:
    """The nodes above a node, nearest first."""
    above = tree.nodes[uuid].parent_uuid
    while above is not None:
        yield above
        above = tree.nodes[above].parent_uuid


def _is_instancer(node: Any) -> bool:
    return node.blender_type == node.INST_COLLECTION and node.blender_object.instance_collection is not None


def _is_brought(node: Any, child: str) -> bool:
    """True for what the collection of an instancer brings, False for an object that is parented to the instancer."""
    return bool(node.children_type.get(child) == node.CHILDREN_IS_IN_COLLECTION)


def _brought(tree: Any, uuids: list[str]) -> Iterator[str]:
    """Nodes and those below them, without what other instancers bring."""
    waiting = list(uuids)
    while waiting:
        uuid = waiting.pop()
        yield uuid
        node = tree.nodes[uuid]
        waiting += [child for child in node.children if not (_is_instancer(node) and _is_brought(node, child))]


def _place_children(tree: Any, uuid: str) -> None:
    """Put objects that are parented to an instancer where Blender shows them: its node takes the offset along.

    The nodes of collections in the collection are dropped, which have its objects once more.
    """
    node = tree.nodes[uuid]
    for child in [child for child in node.children if tree.nodes[child].blender_type == node.COLLECTION]:
        node.children.remove(child)
        _drop(tree, child)
    moved = [child for child in node.children if not _is_brought(node, child)]
    applied, own = node.matrix_world.copy(), node.blender_object.matrix_world
    if not moved or not applied.determinant() or not own.determinant():
        return
    offset = Matrix.Translation(node.blender_object.instance_collection.instance_offset)
    factor = applied @ offset @ applied.inverted()
    if _MOVES_TWICE:
        factor = applied @ offset @ own.inverted() @ applied.inverted()
    while moved:
        child = tree.nodes[moved.pop()]
        child.matrix_world = factor @ child.matrix_world
        moved += child.children


def _missing(tree: Any, uuid: str) -> list[Object]:
    """The objects in the collection of an instancer that have no node below it, those with few parents first."""
    node = tree.nodes[uuid]
    are_marked = not tree.export_settings["gltf_hierarchy_full_collections"]
    below = [child for child in node.children if not are_marked or _is_brought(node, child)]
    known = {tree.nodes[each].blender_object for each in _brought(tree, below)}
    shown = node.blender_object.instance_collection.all_objects
    return sorted((obj for obj in shown if obj not in known and not obj.hide_viewport), key=_depth)


def _add_missing(tree: Any, uuid: str, children: _Children) -> None:
    """Add objects whose parent is outside of the collection. children: of all objects, filled when they are needed."""
    node = tree.nodes[uuid]
    added: set[Object] = set()
    for obj in _missing(tree, uuid):
        if obj in added or any(modifier.type == "ARMATURE" for modifier in obj.modifiers):
            continue
        _fill(children)
        if _is_endless(obj, children):
            continue
        tree.recursive_node_traverse(
            obj, None, uuid, node.matrix_world, False, children, is_children_in_collection=True
        )  # fmt: skip
        added |= {tree.nodes[each].blender_object for each in _brought(tree, [node.children[-1]])}


def _fill(children: _Children) -> None:
    """Find the children of all objects, if that has not been done."""
    if not children:
        children.update({each: [] for each in bpy.data.objects})
        for each in bpy.data.objects:
            children.setdefault(each.parent, []).append(each)


def endless(objects: Iterable[Object]) -> tuple[Object, Object] | None:
    """(instancer, object of its collection) through which Blender's exporter comes back to where it was, for ever.

    It goes from the objects of a scene to their children, and from instancers to what they bring. None if that ends.
    """
    children: _Children = {}
    _fill(children)

    def brought(obj: Object) -> list[Object]:
        return [one for one in _collection_of(obj) if one.parent is None]

    circle = next((found for obj in objects if obj.parent is None and (found := _circle(obj, children, brought))), [])
    pairs = zip(circle, circle[1:] + circle[:1], strict=True)
    return next((pair for pair in pairs if pair[1].parent is not pair[0]), None)


def _is_endless(obj: Object, children: _Children) -> bool:
    """True where going from an object to its children, and to what instancers bring, comes back to one of them."""
    return bool(_circle(obj, children, _collection_of))


def _collection_of(obj: Object) -> Iterable[Object]:
    """The objects that an instancer of a collection brings; none of other objects."""
    collection = obj.instance_collection if obj.instance_type == "COLLECTION" else None
    return collection.all_objects if collection is not None else ()


def _circle(obj: Object, children: _Children, brought: Callable[[Object], Iterable[Object]]) -> list[Object]:
    """The objects through which the way down from an object comes back to itself, each below the one before.

    brought: what an instancer brings. Empty if the way ends.
    """
    path: dict[Object, None] = {}
    done: set[Object] = set()
    waiting = [(obj, False)]
    while waiting:
        each, is_left = waiting.pop()
        if is_left:
            del path[each]
            done.add(each)
        elif each in path:
            way = list(path)
            return way[way.index(each) :]
        elif each not in done:
            path[each] = None
            waiting.append((each, True))
            waiting += [(below, False) for below in (*children[each], *brought(each))]
    return []


def _depth(obj: Object) -> int:
    depth = 0
    while obj.parent is not None:
        obj, depth = obj.parent, depth + 1
    return depth


def _remove_strangers(tree: Any, uuid: str) -> None:
    """Remove nodes of objects that are not in the collection. What is below them moves up; armatures stay."""
    node = tree.nodes[uuid]
    shown = {*node.blender_object.instance_collection.all_objects, None}
    brought = _brought(tree, [child for child in node.children if _is_brought(node, child)])
    for stranger in [each for each in brought if tree.nodes[each].blender_object not in shown]:
        if tree.nodes[stranger].blender_type not in (node.ARMATURE, node.BONE):
            _remove(tree, stranger)


def _remove(tree: Any, uuid: str) -> None:
    """Remove a node and its instances; its children go to the node above."""
    node = tree.nodes.pop(uuid)
    above = tree.nodes[node.parent_uuid]
    above.children.remove(uuid)
    kind = above.children_type.pop(uuid, None)
    for child in node.children:
        if _is_brought(node, child):
            _drop(tree, child)
        else:
            tree.nodes[child].parent_uuid = above.uuid
            above.children.append(child)
            above.children_type[child] = kind


def _drop(tree: Any, uuid: str) -> None:
    """Forget a node that is no longer below another, and all below it."""
    waiting = [uuid]
    while waiting:
        waiting += tree.nodes.pop(waiting.pop()).children
