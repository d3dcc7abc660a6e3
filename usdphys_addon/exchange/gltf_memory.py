# SPDX-License-Identifier: GPL-3.0-or-later
"""What glTF cannot express of a scene: collected for an export, and restored on the objects of an import."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import bpy
import mathutils
from bpy.types import ID, Object, PropertyGroup, Scene

from ..bridge import gprim_mesh, import_notes, object_copies, physics_collections, polygons, scene_write
from ..bridge.identity import remembered
from ..bridge.identity.names import prim_name
from ..bridge.reading import SceneReading
from ..bridge.writing import Written
from ..core import paths
from ..core.model import Prim
from ..core.schemas import usd_geom
from ..core.units import remembered_units
from ..gltf import keep
from .import_repair import with_data

#: Properties of `RememberedPrim` with USD text.
_TEXTS = ("carried", "shape", "binding", "transform")
#: Properties of the scene about the USD file that it was imported from. The file itself is not named.
_SOURCE = ("units", "default_prim", "carried", "carried_trees")


#: Finds attributes about physics in the USD text that a prim keeps from its import.
_PHYSICAL = re.compile(r"\b(?:physics|physx\w*|newton|mjc(?!:gravcomp\b)|drive|limit|state):")


def carrying(reading: SceneReading) -> set[str]:
    """Paths of the objects that keep USD attributes about physics as text, because no schema of the object has them."""
    return {
        placement.path for placement in reading.placements
        if "prim" in placement.touched and _PHYSICAL.search(placement.physics.prim.carried)
    }  # fmt: skip


def recall_scene(scene: Scene, reading: SceneReading, beside: keep.Beside) -> None:
    """Fill `beside`: what a scene and its objects remember of their USD file, and the polygons of collision meshes."""
    physics = scene.usdphys
    if physics.source.filepath and physics.source.units:
        beside.source = {name: text for name in _SOURCE if (text := getattr(physics.source, name))}
        for placement in reading.placements:
            if "prim" in placement.touched:
                _recall(beside, placement.path, placement.physics.prim)
        for material in bpy.data.materials:
            _recall_own(beside, material)
        for item in (*physics.physics_scenes, *physics.collision_groups):
            _recall_own(beside, item)
    colliders = reading.model.colliders
    known: dict[str, polygons.Faces] = {}
    for placement in reading.placements:
        path = placement.path if placement.path in colliders else placement.geometry
        data: Any = placement.evaluated.data
        if path in colliders and colliders[path].mesh is not None and isinstance(data, bpy.types.Mesh):
            if data.name_full not in known:
                known[data.name_full] = polygons.faces_of(data)
            beside.faces[placement.path] = known[data.name_full]


def _recall_own(beside: keep.Beside, thing: ID | PropertyGroup) -> None:
    prim = remembered.prim_of(thing)
    if prim is not None:
        _recall(beside, prim.path, prim)


def _recall(beside: keep.Beside, path: str, prim: Any) -> None:
    if not prim.path:
        return
    beside.origins[path] = (prim.type_name, prim.order)
    if texts := {name: text for name in _TEXTS if (text := getattr(prim, name))}:
        beside.texts[path] = texts


# --------------------------------------------------------------------------- import


def put_kept(
    kept: keep.Kept, scene: Scene, by_index: dict[int, Any], looks: Mapping[str, Any], meters: float, file: str
) -> Written:  # fmt: skip
    """Put a kept model on the objects of an import.

    by_index: the objects by index of their node; those that are removed here are deleted from it. looks: the materials
    by their names in the file. meters: length of a Blender unit. file: path of the glTF file.
    """
    beside, model = kept.beside, kept.model
    _remove_made(by_index, beside)
    objects = {path: by_index[index] for path, index in beside.nodes.items() if index in by_index}
    _join_faces(objects, beside.faces)
    materials = {path: looks[prim.label] for path, prim in model.materials.items() if prim.label in looks}
    joints = model.joints
    if joints or beside.source:
        bpy.context.view_layer.update()
    if beside.source:
        written = _put_usd(kept, scene, objects, materials, meters, file)
    else:
        with_colliders = keep.with_own_colliders(model, objects)
        _put_joints_back(joints, objects)
        written = scene_write.write_scene(
            with_colliders, scene, objects, materials, meters=meters, local=meters, is_usd=False, moves_joints=True
        )  # fmt: skip
        _put_copies(kept, objects, written)
        for path, obj in objects.items():
            if prim_name(obj.name) != paths.name_of(path):
                # Blender has numbered the object; its prim keeps the name. Only then, as reading a group creates it.
                obj.usdphys.prim.path, obj.usdphys.prim.id_name = path, obj.name
        added = with_colliders.prims.keys() - model.prims.keys()
        for path in objects.keys() & {paths.parent_of(one) for one in added}:
            if objects[path].data is not None:
                objects[path].data.name = f"{paths.name_of(path)}_geometry"
    if joints:
        # The Empties that joints were below in the file: joints have their old parents again.
        _remove_made(by_index, beside)
    by_index.update({beside.nodes[path]: obj for path, obj in objects.items()})
    if joints:
        bpy.context.view_layer.update()
        size = physics_collections.joint_size(objects.values())
        for path in joints.keys() & objects.keys():
            if objects[path].type == "EMPTY":
                physics_collections.show_joint(objects[path], size)
    return written


def _put_copies(kept: keep.Kept, objects: dict[str, Object], written: Written) -> None:
    groups: dict[str, list[Any]] = {}
    for path, first in kept.copies.items():
        if path in objects and first in objects:
            groups.setdefault(first, []).append(objects[path])
        else:
            written.missing.append(path)
    for first, others in groups.items():
        copy_written(objects[first], others, written)


def copy_written(source: Any, others: list[Object], written: Written) -> None:
    """Copy all properties of an object to others, and count the bodies and colliders that they get."""
    object_copies.copy_properties(source, others)
    written.counts["bodies"] += len(others) * source.usdphys.rigid_body.is_applied
    written.counts["colliders"] += len(others) * len(source.usdphys.colliders)


def _put_usd(
    kept: keep.Kept, scene: Scene, objects: dict[str, Object], materials: dict[str, Any], meters: float, file: str
) -> Written:
    """Put back a scene that came from USD, as an import of USD does."""
    beside, model = kept.beside, kept.model
    for path, prim in model.colliders.items():
        obj, gprim = objects.get(path), prim.get(usd_geom.Gprim)
        if gprim is not None and obj is not None and obj.type == "EMPTY":
            objects[path] = with_data(obj, gprim_mesh.mesh_of(prim.name, gprim, meters))
    _put_joints_back(model.joints, objects)
    texts = {name: {path: one[name] for path, one in beside.texts.items() if name in one} for name in _TEXTS}
    written = scene_write.write_scene(
        model, scene, objects, materials, meters=meters, local=meters,
        texts=scene_write.Texts(texts["carried"], texts["transform"], texts["shape"], texts["binding"]),
    )  # fmt: skip
    memory = scene.usdphys.source
    for name in _SOURCE:
        setattr(memory, name, beside.source.get(name, ""))
    memory.filepath, memory.prim_path, memory.files, memory.variants = file, "", "", ""
    memory.objects, memory.meters = "\n".join(objects), repr(meters)
    stage = scene.usdphys.stage
    units = remembered_units(memory.units)
    if units is not None:
        for name, value in units._asdict().items():
            if name in stage.bl_rna.properties and not stage.is_property_set(name):
                setattr(stage, name, value)
    bpy.context.view_layer.update()
    import_notes.note(objects.values(), materials.values(), file)
    return written


def _remove_made(by_index: dict[int, Any], beside: keep.Beside) -> None:
    """Remove the Empties of nodes that stand for no object: colliders and ends of joints, which the model holds."""
    # Children first, which the order of indices does not give: a node that removes a scale comes after its child.
    extra = [index for index in by_index.keys() - beside.nodes.values() if index >= beside.made]
    if not extra:
        return
    everything: Any = bpy.data.objects
    # Blender looks for the children of an object among all objects, and for its users when it is removed alone.
    below = Counter(obj.parent for obj in everything if obj.parent is not None)
    removed = []
    for index in sorted(extra, key=lambda one: -len(_above(by_index[one]))):
        obj = by_index[index]
        if obj.type == "EMPTY" and not below[obj]:
            if obj.parent is not None:
                below[obj.parent] -= 1
            removed.append(obj)
            del by_index[index]
    bpy.data.batch_remove(removed)


def _above(obj: Object) -> list[Any]:
    """The objects above one."""
    ancestors = []
    while obj.parent is not None:
        obj = obj.parent
        ancestors.append(obj)
    return ancestors


def _join_faces(objects: dict[str, Object], faces: dict[str, polygons.Faces]) -> None:
    done = set()
    for path, known in faces.items():
        data = objects[path].data if path in objects else None
        if isinstance(data, bpy.types.Mesh) and data not in done and data.shape_keys is None:
            done.add(data)
            polygons.join(data, known)


def _put_joints_back(joints: dict[str, Prim], objects: dict[str, Object]) -> None:
    """Give joints the parents that they had: in the file they are below their first body."""
    for path in joints:
        obj = objects.get(path)
        if obj is None or obj.parent_type == "BONE":
            continue
        parent = objects.get(paths.nearest(paths.parent_of(path), objects) or "")
        if parent is not obj.parent and parent is not obj:
            place = obj.matrix_world.copy()
            obj.parent = parent
            obj.matrix_parent_inverse = mathutils.Matrix()
            obj.matrix_world = place
