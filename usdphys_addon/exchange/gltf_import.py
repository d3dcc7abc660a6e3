# SPDX-License-Identifier: GPL-3.0-or-later
"""Import of glTF: Blender's own importer makes the objects, the document gives them their physics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import bpy
import mathutils
import numpy as np
from bpy.types import Object, Scene

from ..bridge import physics_collections, scene_write
from ..bridge.identity.remembered import ImportedIDs
from ..bridge.mesh import triangles_of
from ..bridge.writing import Written, unit_length
from ..core import paths
from ..core.errors import InputError
from ..core.model import Mesh, Prim
from ..core.validate import Issue
from ..gltf import keep, vehicles
from ..gltf import read as gltf_read
from ..gltf.document import Document
from ..gltf.known import KnownDocument, document_of, part_lenses
from ..system.collector import gc_paused
from ..system.console import printed_on_success
from . import blend_file, gltf_calls, gltf_memory, gltf_source
from .import_repair import with_data
from .usd_import import undone_on_failure


@dataclass(slots=True)
class GltfImport:
    """counts: what got physics, by kind. issues: what did not come through."""

    counts: dict[str, int] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)


@gc_paused(ages=True)
def import_gltf(
    file: str | Path, *, opens: bool = False, native: Mapping[str, Any] = MappingProxyType({})
) -> GltfImport:  # fmt: skip
    """Import a glTF file with its physics into the open scene. Raises InputError.

    opens: an empty scene takes the place of the open one, once the file has been found usable. native: options of
    Blender's own importer.
    """
    path = Path(file).absolute()
    # Read first: Blender's importer may crash on what we refuse, and leaves half a scene behind.
    document = Document.load(path)
    gltf_read.read(document)
    document.check_assets()
    del document
    require_blenders_gltf()
    if opens:
        blend_file.empty_scene()
    made: list[gltf_calls.ImportExtension] = []
    results: list[GltfImport] = []

    def put(gltf: Any, scene: Scene) -> GltfImport:
        results.append(put_physics(gltf, scene) or GltfImport())
        return results[-1]

    def make() -> gltf_calls.ImportExtension:
        made.append(gltf_calls.ImportExtension(put, prepare))
        return made[-1]

    with undone_on_failure(bpy.context.scene):
        with gltf_calls.called_by(gltf_calls.IMPORTER, make):
            try:
                with printed_on_success():
                    ended = bpy.ops.import_scene.gltf(**{"import_pack_images": True, **native, "filepath": str(path)})
            except RuntimeError as error:
                reason = _last_line(error)
                if "meshopt" in reason:
                    raise InputError(
                        f"'{path.name}' has meshopt compression, which this Blender does not open; save it without "
                        "compression (gltfpack without -c)."
                    ) from error
                raise InputError(f"Blender's glTF importer failed on '{path.name}': {reason}.") from error
        if made and made[-1].error is not None:
            raise made[-1].error
        if "FINISHED" not in ended or not made:
            raise InputError(f"Blender's glTF importer did not finish with '{path.name}'.")
    return results[-1] if results else GltfImport()


def _last_line(error: RuntimeError) -> str:
    """The reason at the end of a traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("Location:")]
    return (lines[-1] if lines else "without a reason")[:200].rstrip(".")


def require_blenders_gltf() -> None:
    """Enable Blender's own glTF add-on if it is off. Raises InputError if there is none."""
    if "io_scene_gltf2" in bpy.context.preferences.addons:
        return
    import addon_utils

    enable: Any = addon_utils.enable
    if enable("io_scene_gltf2") is None:
        raise InputError("Blender's own glTF add-on cannot be enabled; it reads and writes the geometry.")


def prepare(gltf: Any) -> Container[int]:
    """Change what an importer has read so that each node with physics becomes an object at its place.

    Returns indices of nodes that need no object.
    """
    unmade = keep.ends_of_joints(document_of(gltf.data, Path(gltf.filename), lambda _: None))
    part_lenses(gltf.data)
    return unmade


def put_physics(gltf: Any, scene: Scene) -> GltfImport | None:
    """Put the physics of a file on the objects that Blender's importer has just made. None if the file has none."""
    meters = unit_length(scene)
    document = document_of(gltf.data, Path(gltf.filename), partial(_decoded, gltf, meters))
    kept, is_stale = keep.take(document)
    if is_stale and isinstance(document, KnownDocument):
        # The importer, or another add-on, may have changed what it has read.
        kept, is_stale = keep.take(whole := Document.load(gltf.filename))
        document = document if is_stale else whole
    # A node that Blender makes a bone gets an object of its own.
    reading = gltf_read.read(document, finds_copies=not document.json.get("skins"))
    result = GltfImport(issues=list(reading.issues))
    if kept is None and not reading.model.prims:
        if is_stale:
            result.issues.append(Issue(
                "GltfStripped", "warning", "", "", "Another program has removed the physics from the file; what is "
                "left of it in the extras is not used.", "Use the file as it was exported, or export it again.",
            ))  # fmt: skip
        return result if result.issues else None
    looks = _materials(gltf)
    # A physics material is the one of the picture that has its name.
    imported = ImportedIDs(
        _objects(gltf, reading, meters),
        {path: looks[prim.label] for path, prim in reading.model.materials.items() if prim.label in looks},
    )  # fmt: skip
    for one in imported.objects.values() if bpy.app.version < (5, 0) else ():
        if "usdphys" in one.keys():
            # A custom property of this name is our properties.
            del one["usdphys"]
    _make_meshes(reading, imported, gltf, meters)
    if is_stale:
        result.issues.append(Issue(
            "GltfEdited", "warning", "", "", "Another program has changed the file since it was exported, so the USD "
            "physics that its extras hold is left out.", "Export the file again.",
        ))  # fmt: skip
    if kept is not None:
        _put_kept(kept, scene, gltf, reading, imported, looks, result, meters)
    else:
        _put_read(scene, gltf, reading, imported, result, meters)
    objects = _by_key(gltf, reading, imported)
    gltf_source.remember(scene, Path(gltf.filename), gltf.import_settings, objects, meters)
    return result


def _by_key(gltf: Any, reading: gltf_read.GltfReading, imported: ImportedIDs) -> dict[str, Object]:
    """The objects of an import by keys that another import of the file gives them, too."""
    nodes = {str(index): getattr(vnode, "blender_object", None) for index, vnode in gltf.vnodes.items()}
    keys: dict[Object, str] = {}
    for key, obj in (*nodes.items(), *imported.objects.items()):
        if isinstance(obj, Object) and _is_there(obj):
            keys.setdefault(obj, key)
    return {key: obj for obj, key in keys.items()}


def _put_read(
    scene: Scene, gltf: Any, reading: gltf_read.GltfReading, imported: ImportedIDs, result: GltfImport, meters: float
) -> None:  # fmt: skip
    """Put the physics of a file without a kept model on its objects."""
    named: set[str] = set()
    for extras in [prim.extras for prim in reading.model.prims.values()]:
        named.update(extras.get("trigger_nodes", ()), vehicles.named_by(extras))
    for path in named:
        prim = reading.model.prims.get(path)
        if prim is not None:
            # Compound triggers name their parts by it, and vehicles their seat.
            prim.extras["path"] = path
    written = scene_write.write_scene(
        reading.model, scene, imported.objects, {**imported.materials}, meters=meters, local=meters, is_usd=False
    )
    copies = _write_copies(gltf, reading, written)
    result.counts = dict(written.counts)
    _report_missing(result, written.missing)
    _remove_sources(gltf, reading)
    if reading.model.joints:
        bpy.context.view_layer.update()
        size = physics_collections.joint_size([*imported.objects.values(), *copies])
        for path in reading.model.joints:
            obj = imported.objects.get(path)
            if obj is not None and obj.type == "EMPTY":
                physics_collections.show_joint(obj, size)


def _decoded(gltf: Any, meters: float, index: int) -> Mesh | None:
    """A mesh that the importer has made of one of the file; None if it has not."""
    made = [bpy.data.meshes.get(name) for name in gltf.data.meshes[index].blender_name.values()]
    return triangles_of(made[0], meters) if made and made[0] is not None else None


def _write_copies(gltf: Any, reading: gltf_read.GltfReading, written: Written) -> list[Any]:
    """Give the objects of copies all properties of what they are copies of; returns these objects."""
    groups: dict[int, list[Any]] = {}
    for index, first in reading.copies.items():
        groups.setdefault(first, []).append(gltf.vnodes[index].blender_object)
    for first, objects in groups.items():
        if reading.paths[first] not in reading.model.prims:
            # The file says nothing of it.
            continue
        gltf_memory.copy_written(gltf.vnodes[first].blender_object, objects, written)
    return [obj for objects in groups.values() for obj in objects]


def _put_kept(
    kept: keep.Kept, scene: Scene, gltf: Any, reading: gltf_read.GltfReading, found: ImportedIDs,
    looks: Mapping[str, Any], result: GltfImport, meters: float,
) -> None:  # fmt: skip
    """Put the model on the objects that was kept when the file was written. looks: materials by name in the file."""
    by_index = {index: found.objects[path] for index, path in reading.paths.items() if path in found.objects}
    copies = {index: gltf.vnodes[index].blender_object for index in reading.copies}
    by_index |= {index: obj for index, obj in copies.items() if obj is not None}
    before = list(by_index)
    try:
        written = gltf_memory.put_kept(kept, scene, by_index, looks, meters, kept.model.source)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError) as error:
        raise InputError(
            f"The extras of '{Path(kept.model.source).name}' hold damaged data of USD Physics; remove these extras."
        ) from error
    finally:
        there = {index: obj for index, obj in by_index.items() if _is_there(obj)}
        for index, obj in there.items():
            gltf.vnodes[index].blender_object = obj
        _forget(gltf, {index for index in before if index not in there})
    result.issues.clear()
    result.counts = dict(written.counts)
    _report_missing(result, written.missing)


def _report_missing(result: GltfImport, missing: list[str]) -> None:
    for path in missing:
        result.issues.append(Issue(
            "NotImported", "warning", path, "", f"Blender imports nothing for '{path}', so its physics is left out.",
            "Look at the file in the program that wrote it.",
        ))  # fmt: skip


def _objects(gltf: Any, reading: gltf_read.GltfReading, meters: float) -> dict[str, Any]:
    """The objects of the nodes by path. A node that Blender made a bone of gets an Empty on that bone."""
    objects = {}
    for index, path in reading.paths.items():
        vnode = gltf.vnodes.get(index)
        if vnode is None:
            continue
        obj = getattr(vnode, "blender_object", None)
        if obj is None and path in reading.model.prims:
            obj = _empty_on_bone(gltf, vnode, index, reading, meters)
        if isinstance(obj, bpy.types.Object):
            objects[path] = obj
    return objects


def _materials(gltf: Any) -> dict[str, Any]:
    """The materials that Blender has imported, by their names in the file: here they may have numbers."""
    made: dict[str, Any] = {}
    for one in gltf.data.materials or ():
        for name in getattr(one, "blender_material", {}).values():
            if one.name and (material := bpy.data.materials.get(name)) is not None:
                made.setdefault(one.name, material)
    return made


def _empty_on_bone(gltf: Any, vnode: Any, index: int, reading: gltf_read.GltfReading, meters: float) -> Any:
    armature = getattr(gltf.vnodes.get(getattr(vnode, "bone_arma", None)), "blender_object", None)
    bone = getattr(vnode, "blender_bone_name", None)
    if armature is None or bone is None:
        return None
    obj = bpy.data.objects.new(reading.document.node_name(index) or bone, None)
    for collection in armature.users_collection:
        collection.objects.link(obj)
    obj.parent, obj.parent_type, obj.parent_bone = armature, "BONE", bone
    bpy.context.view_layer.update()
    place = reading.document.world(index).copy()
    place[:3, 3] /= meters
    obj.matrix_world = mathutils.Matrix(place.tolist())
    return obj


def _make_meshes(reading: gltf_read.GltfReading, found: ImportedIDs, gltf: Any, meters: float) -> None:
    """Make objects for collider meshes that no visible node has: Blender does not import them."""
    known: dict[int, Any] = {}
    indices = {path: index for index, path in reading.paths.items()}
    meshes = Counter(paths.parent_of(path) for path, prim in reading.model.prims.items() if prim.type_name == "Mesh")
    for path, prim in reading.model.prims.items():
        if prim.type_name != "Mesh" or path in reading.own_mesh or prim.mesh is None:
            continue
        mesh = prim.mesh()
        node = paths.parent_of(path)
        above = found.objects.get(node)
        if not isinstance(mesh, Mesh) or above is None:
            continue
        if id(mesh) not in known:
            known[id(mesh)] = _new_mesh(prim, mesh, meters)
        data = known[id(mesh)]
        if above.type == "EMPTY" and above.instance_type == "NONE" and meshes[node] == 1:
            # The Empty of one collider alone becomes it, so that an export has the same nodes.
            obj = with_data(above, data)
            found.objects[node] = obj
            gltf.vnodes[indices[node]].blender_object = obj
        else:
            obj = bpy.data.objects.new(prim.name, data)
            for collection in above.users_collection:
                collection.objects.link(obj)
            obj.parent = above
            found.objects[path] = obj
            prim.purpose = "guide"
        obj.hide_render = True
        obj.display_type = "WIRE"


def _new_mesh(prim: Prim, mesh: Mesh, meters: float) -> Any:
    data = bpy.data.meshes.new(prim.name)
    points = np.asarray(mesh.points / meters, float)
    data.from_pydata(points.tolist(), [], mesh.triangles.tolist())
    return data


def _remove_sources(gltf: Any, reading: gltf_read.GltfReading) -> None:
    """Remove objects of nodes outside the scene that only hold the mesh of a collider."""
    removed = {}
    todo = list(reading.sources)
    while todo:
        one = todo.pop()
        obj = getattr(gltf.vnodes.get(one), "blender_object", None)
        if obj is not None:
            removed[one] = obj
        todo += reading.document.nodes[one].get("children", [])
    bpy.data.batch_remove({*removed.values()})
    _forget(gltf, removed)


def _is_there(obj: Object) -> bool:
    """False for an object that has been removed, and for None."""
    try:
        return obj is not None and bool(obj.name)
    except ReferenceError:
        return False


def _forget(gltf: Any, removed: Collection[int]) -> None:
    """Let the nodes of removed objects stand for another one: the importer selects the object of each node."""
    if not removed:
        return
    rest = [getattr(vnode, "blender_object", None) for index, vnode in gltf.vnodes.items() if index not in removed]
    other = next((obj for obj in rest if isinstance(obj, bpy.types.Object)), None)
    for index in removed:
        gltf.vnodes[index].blender_object = other
