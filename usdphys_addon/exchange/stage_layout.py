# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore names and types of imported prims on a stage that Blender has written.

Blender writes an object as an Xform with its geometry below, under a name that is unique in the file. An imported
object remembers the name of its prim, and whether that was the geometry itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..bridge import import_notes
from ..bridge.identity import remembered
from ..bridge.reading import MATERIALS_SCOPE
from ..core import frames
from ..core import paths as core_paths
from ..core.model import PhysicsModel
from ..core.schemas import usd_geom
from ..core.stacks import stacks
from ..core.validate import Issue
from .stage_match import OBJECT_NAME

if TYPE_CHECKING:
    from pxr import Sdf, Usd

_DATA_NAME = "userProperties:blender:data_name"
#: Properties of a mesh that are true of the gprim in its place, too.
_SURVIVES_AS_GPRIM = ("material:", "primvars:displayColor", "primvars:displayOpacity", "userProperties:")


def restore(
    stage: Usd.Stage, looks: str, materials: Mapping[str, str], gprims: Mapping[str, str] | None = None
) -> dict[str, str]:  # fmt: skip
    """Merge geometry into the prim of its object if the two were one prim; rename prims, with all below them.

    looks: path of the scope for new materials; empty to leave them where Blender has written them. materials: paths of
    physics materials by full name of their material. gprims: types of the objects that collide as
    gprims, by name. Returns the paths of all materials on the stage by name.
    """
    from pxr import Sdf

    from ..usd import hierarchy as usd_hierarchy

    layer, objects = stage.GetEditTarget().GetLayer(), remembered.objects_by_name(with_linked=True)
    places: dict[str, str] = {}
    moves = _renames(layer, objects)
    with Sdf.ChangeBlock():
        _restore_types(layer, objects, gprims or {})
    moves.update(_material_moves(layer, looks, materials, places))
    usd_hierarchy.move_prims(layer, moves)
    return places


def _restore_types(layer: Sdf.Layer, objects: Mapping[str, Object], gprims: Mapping[str, str]) -> None:
    """Give prims the type and the geometry that their objects remember. objects: by name. gprims: as in `restore`."""
    from ..usd.specs import children_of

    pending = [layer.pseudoRoot]
    while pending:
        children = children_of(pending.pop())
        pending += children
        for child in children:
            obj = _object_of(child, objects)
            if obj is None:
                continue
            if obj.parent is not None and not obj.matrix_parent_inverse.is_identity:
                write_sheared(
                    child, frames.sheared_below(np.array(obj.parent.matrix_world), np.array(obj.matrix_world))
                )
            _retype_plain(child, remembered.prim_of(obj))
            type_name = remembered.type_of(obj)
            if _keeps_shape(obj, type_name):
                _replace_geometry(child, type_name)
                continue
            if type_name in usd_geom.GPRIM_TYPES:
                # Else its mesh was edited: the size of a gprim cannot say that.
                type_name = gprims.get(obj.name, "Mesh")
            elif obj.name in gprims and type_name in ("Mesh", *usd_geom.TAPERED):
                tapered = usd_geom.TAPERED.get(type_name)
                type_name = gprims[obj.name] if tapered is None or tapered.usd_name != gprims[obj.name] else type_name
            if type_name not in ("", "Scope", "Xform"):
                _merge_geometry(child, type_name)


def rename(stage: Usd.Stage) -> None:
    """Give prims the names that their objects remember without a USD file: of a glTF file that has kept them."""
    from ..usd import hierarchy as usd_hierarchy

    layer = stage.GetEditTarget().GetLayer()
    usd_hierarchy.move_prims(layer, _renames(layer, remembered.objects_by_name(with_linked=True)))


def merge_colliders(stage: Usd.Stage, types: Mapping[str, str]) -> None:
    """Merge geometry into the prims of objects that were imported as one prim with it, in a scene without the file.

    Such objects are appended or linked from the .blend of another scene. types: of colliders, by the names of their
    objects.
    """
    from pxr import Sdf

    from ..usd.specs import children_of

    layer, objects = stage.GetEditTarget().GetLayer(), remembered.objects_by_name(with_linked=True)
    with Sdf.ChangeBlock():
        pending = [layer.pseudoRoot]
        while pending:
            for child in children_of(pending.pop()):
                obj = _object_of(child, objects)
                if obj is not None and types.get(obj.name) in usd_geom.GEOMETRY_TYPES:
                    _merge_geometry(child, types[obj.name])
                pending.append(child)


def _renames(layer: Sdf.Layer, objects: Mapping[str, Object]) -> dict[str, str]:
    """New paths of the prims that get another name, by their old paths. objects: by name."""
    from ..usd.specs import children_of

    moves: dict[str, str] = {}
    pending = [(layer.pseudoRoot, "")]
    while pending:
        spec, new_parent = pending.pop()
        children = {child.name: child for child in children_of(spec)}
        for own, child in children.items():
            name = _wanted_name(child, own, children, objects)
            path = f"{new_parent}/{name}"
            if name != own:
                moves[str(child.path)] = path
            pending.append((child, path))
    return moves


def _collides_as_gprim(obj: Object) -> bool:
    return any(item.is_geometry for item in obj.usdphys.colliders)


def _keeps_shape(obj: Object, type_name: str) -> bool:
    """True if a prim gets the shape of the imported file, because nobody has edited what Blender has instead."""
    from ..usd import carry

    is_collider = type_name in usd_geom.GPRIM_TYPES and len(obj.usdphys.colliders) > 0
    if type_name not in carry.SHAPED_TYPES or is_collider:
        return False
    return remembered.prim_of(obj) is not None and not import_notes.has_new_data(obj)


def _replace_geometry(spec: Sdf.PrimSpec, type_name: str) -> None:
    """Make an Xform the imported geometry, light or camera, without what Blender wrote below it of its data."""
    from pxr import Sdf

    from ..usd import write as usd_write
    from ..usd.specs import children_of, property_names

    for child in [child for child in children_of(spec) if OBJECT_NAME not in child.attributes]:
        for name in property_names(child):
            if name.startswith(("material:", "userProperties:")) and name not in spec.properties:
                Sdf.CopySpec(spec.layer, child.properties[name].path, spec.layer, spec.path.AppendProperty(name))
        if "material:binding" in child.relationships:
            usd_write.apply_schemas(spec, ["MaterialBindingAPI"])
        del spec.nameChildren[child.name]
    spec.typeName = type_name


def _object_of(spec: Sdf.PrimSpec, objects: Mapping[str, Object]) -> Object | None:
    attribute = spec.attributes.get(OBJECT_NAME)
    return objects.get(str(attribute.default)) if attribute is not None else None


def _wanted_name(spec: Sdf.PrimSpec, own: str, taken: Container[str], objects: Mapping[str, Object]) -> str:
    """own: its name. taken: those of its parent's children."""
    obj = _object_of(spec, objects)
    if obj is None:
        return own
    name = remembered.name_of(obj)
    return name if name not in taken else own


def _retype_plain(spec: Sdf.PrimSpec, prim: Any) -> None:
    """Make an Xform a Scope or a prim without type again, as it was imported, unless its object was moved."""
    from ..usd import write as usd_write

    if prim is None or prim.type_name not in ("", "Scope") or spec.typeName != "Xform":
        return
    if all(_is_nothing(spec.attributes[name]) for name in spec.attributes.keys() if name.startswith("xformOp:")):
        usd_write.clear_local(spec)
        if prim.type_name:
            spec.typeName = prim.type_name
        else:
            spec.ClearInfo("typeName")


def write_sheared(spec: Sdf.PrimSpec, local: frames.Matrix | None) -> None:
    """Give a prim the transform (4, 4) that Blender's location, rotation and scale cannot hold, unless it has samples.

    local: None where they can hold it.
    """
    from pxr import Gf

    from ..usd import write as usd_write

    if local is not None and not any(attribute.HasInfo("timeSamples") for attribute in spec.attributes):
        usd_write.write_matrix(spec, Gf.Matrix4d(*local.T.ravel().tolist()))


def _is_nothing(attribute: Any) -> bool:
    """True for a transform operation of Blender that moves nothing."""
    value = attribute.default
    if value is None or attribute.HasInfo("timeSamples"):
        return False
    # The import converts units and up axis and the export converts back, with 32-bit noise; angles are degrees.
    noise = 1e-4 if "rotate" in attribute.name else 2e-6
    if attribute.name == "xformOp:transform":
        return bool(np.abs(np.array(value) - np.eye(4)).max() < noise)
    if attribute.name == "xformOp:orient":
        return all(abs(part) < noise for part in value.GetImaginary())
    neutral = 1.0 if attribute.name == "xformOp:scale" else 0.0
    return all(abs(part - neutral) < noise for part in value)


def _content(spec: Sdf.PrimSpec, type_name: str) -> Any | None:
    """The child to merge into an Xform: of the imported type, or the mesh in place of an imported gprim."""
    from ..usd.specs import children_of

    own = [child for child in children_of(spec) if OBJECT_NAME not in child.attributes]
    same = next((child for child in own if child.typeName == type_name), None)
    if same is None and type_name in usd_geom.GEOMETRY_TYPES:
        same = next((child for child in own if child.typeName in usd_geom.GEOMETRY_TYPES), None)
    return same


def _merge_geometry(spec: Sdf.PrimSpec, type_name: str) -> None:
    """Merge the geometry, light or camera below an Xform into that prim, if there is one of the imported type."""
    from pxr import Sdf

    from ..usd import write as usd_write
    from ..usd.specs import child_names, property_names

    geometry = _content(spec, type_name)
    if geometry is None:
        # Of curves without any, Blender writes an Xform alone.
        if type_name in usd_geom.CURVE_TYPES:
            spec.typeName = type_name
        return
    keep_mesh, own = geometry.typeName == type_name, set(property_names(spec))
    children = child_names(geometry) if keep_mesh else []
    layer, source, place = spec.layer, geometry.path, spec.path
    if geometry.name in children:
        # A subset of the faces can have the name of its mesh, and takes its place.
        layer, source = Sdf.Layer.CreateAnonymous(), Sdf.Path("/Geometry")
        Sdf.CopySpec(spec.layer, geometry.path, layer, source)
        del spec.nameChildren[geometry.name]
        geometry = layer.GetPrimAtPath(source)
    for name in property_names(geometry):
        if name not in own and (keep_mesh or name.startswith(_SURVIVES_AS_GPRIM)):
            Sdf.CopySpec(layer, source.AppendProperty(name), spec.layer, place.AppendProperty(name))
    for name in children:
        Sdf.CopySpec(layer, source.AppendChild(name), spec.layer, place.AppendChild(name))
    if geometry.HasInfo("apiSchemas"):
        usd_write.apply_schemas(spec, geometry.GetInfo("apiSchemas").GetAddedOrExplicitItems())
    if layer == spec.layer:
        del spec.nameChildren[geometry.name]
    spec.typeName = type_name


def _material_moves(
    layer: Sdf.Layer, looks: str, materials: Mapping[str, str], places: dict[str, str]
) -> dict[str, str]:
    """The moves of materials: imported ones back to their paths, new ones to a scope of the imported prims.

    looks: path of that scope, or empty. materials: paths of physics materials by full name. places: gets the new paths
    by name.
    """
    moves: dict[str, str] = {}
    taken = {*remembered.origins(bpy.data.materials).values(), *materials.values()}
    for scope in _material_scopes(layer):
        for spec in scope.nameChildren:
            name = spec.attributes.get(_DATA_NAME)
            material = bpy.data.materials.get(str(name.default)) if name is not None else None
            prim = remembered.prim_of(material) if material is not None else None
            if prim is not None:
                path = prim.path
            elif looks:
                known = materials.get(material.name_full) if material is not None else None
                path = known or core_paths.free(f"{looks}/{spec.name}", taken.__contains__)
                taken.add(path)
            else:
                path = str(spec.path)
            moves[str(spec.path)] = path
            if material is not None:
                places[material.name] = path
    return moves


def _material_scopes(layer: Sdf.Layer) -> list[Any]:
    """The scopes in which Blender has written materials."""
    roots = [layer.pseudoRoot, layer.GetPrimAtPath(layer.defaultPrim) if layer.defaultPrim else None]
    scopes = [root.nameChildren.get(MATERIALS_SCOPE) for root in roots if root is not None]
    return [scope for scope in scopes if scope is not None]


def tidy(
    stage: Usd.Stage, scene: Scene, places: Mapping[str, str], issues: list[Issue], frame: float, root: str
) -> set[str]:  # fmt: skip
    """Restore carried opinions and transforms of imported prims.

    places: paths of materials by name. issues: gets what cannot be kept. frame: of the scene. root: path above all
    imported prims; empty for none. Returns the names of the
    objects that have the animation of the file.
    """
    layer = stage.GetEditTarget().GetLayer()
    origins = remembered.origins(bpy.data.materials)
    moves = {path: places[name] for name, path in origins.items() if places.get(name, path) != path}
    moved = _follower(moves, root)
    _restore_looks(layer, scene, moved, issues)
    _restore_carried(layer, scene, moved)
    return _restore_transforms(stage, frame)


def put_in_order(layer: Sdf.Layer, scene: Scene) -> None:
    """Restore the order of imported prims; remove the names that Blender wrote."""
    from pxr import Sdf

    from ..usd.specs import child_names, property_names

    order = _orders(scene)
    last, mixed = len(order), dict[Sdf.Path, list[str]]()
    with Sdf.ChangeBlock():
        for empty in _material_scopes(layer):
            if not len(empty.nameChildren):
                removal = Sdf.BatchNamespaceEdit()
                removal.Add(empty.path, Sdf.Path.emptyPath)
                layer.Apply(removal)
        pending = [(layer.pseudoRoot, "")]
        while pending:
            spec, place = pending.pop()
            written = property_names(spec)
            for name in _BLENDER_NAMES:
                if name in written:
                    spec.RemoveProperty(spec.properties[name])
            names, path = child_names(spec), spec.path
            pending += [(layer.GetPrimAtPath(path.AppendChild(name)), f"{place}/{name}") for name in names]
            wanted = sorted(names, key=lambda name: (order.get(f"{place}/{name}", last), name))
            if wanted != names:
                mixed[path] = wanted
        if mixed:
            reorder(layer, mixed)


def keep_stacks(layer: Sdf.Layer, model: PhysicsModel, moved: Mapping[str, str]) -> None:
    """Write the joints of stacks in the order of the scene, which says what each of them moves; Blender writes objects
    in any order. moved: new by old path of bodies that were moved, with all below them."""
    from ..usd.specs import child_names

    mixed: dict[Sdf.Path, list[str]] = {}
    for stack in stacks(model):
        by_parent: dict[str, list[str]] = {}
        for prim in stack.joints:
            path = core_paths.followed(prim.path, moved)
            by_parent.setdefault(core_paths.parent_of(path), []).append(core_paths.name_of(path))
        for parent, names in by_parent.items():
            spec = layer.GetPrimAtPath(parent)
            written = mixed.get(spec.path, child_names(spec)) if spec else []
            rows = [row for row, name in enumerate(written) if name in names]
            if [written[row] for row in rows] != names and len(rows) == len(names):
                mixed[spec.path] = wanted = list(written)
                for row, name in zip(rows, names, strict=True):
                    wanted[row] = name
    if mixed:
        reorder(layer, mixed)


#: To take one of several children out of a prim, or to put one in, takes as long as there are many. To copy one does
#: not, and takes as long as to move one of so many.
_FEW_CHILDREN = 500


def reorder(layer: Sdf.Layer, mixed: Mapping[Sdf.Path, list[str]]) -> None:
    """Order the children of prims. mixed: names of all children in their new order, by the path of the prim."""
    from pxr import Sdf

    away = Sdf.Path(core_paths.free("/Children", layer.GetPrimAtPath))
    many = {path: names for path, names in mixed.items() if len(names) > _FEW_CHILDREN}
    with Sdf.ChangeBlock():
        Sdf.CreatePrimInLayer(layer, away)
        for path, names in mixed.items():
            if path not in many:
                _move_children(layer, path, away, names)
                _move_children(layer, away, path, names)
        del layer.pseudoRoot.nameChildren[away.name]
        if many:
            _copy_in_order(layer, {path: [path.AppendChild(name) for name in names] for path, names in many.items()})


def _move_children(layer: Sdf.Layer, path: Sdf.Path, to: Sdf.Path, names: list[str]) -> None:
    """Move children of a prim, with all below them, to another one after its own."""
    from pxr import Sdf

    edit = Sdf.BatchNamespaceEdit()
    for name in names:
        edit.Add(path.AppendChild(name), to.AppendChild(name), Sdf.NamespaceEdit.atEnd)
    if not layer.Apply(edit):
        raise RuntimeError(f"the children of '{path}' cannot be moved to '{to}'")


def _copy_in_order(layer: Sdf.Layer, mixed: Mapping[Sdf.Path, list[Sdf.Path]]) -> None:
    """Order siblings, whose paths are by that of their parent: take them out of the layer, and put them back."""
    from pxr import Sdf

    # What leads to siblings is put back without them, and each prim once.
    leading = {above for path in mixed for above in path.GetPrefixes()}
    whole, rest = Sdf.Layer.CreateAnonymous(), Sdf.Layer.CreateAnonymous()
    whole.TransferContent(layer)
    for parent, paths in mixed.items():
        _remove(layer, parent, [path for path in paths if path not in leading])
    rest.TransferContent(layer)
    for parent, paths in sorted(mixed.items(), key=lambda item: item[0].pathElementCount):
        _remove(layer, parent, [path for path in paths if path in leading])
        for path in paths:
            Sdf.CopySpec(rest if path in leading else whole, path, layer, path)


def _remove(layer: Sdf.Layer, parent: Sdf.Path, paths: list[Sdf.Path]) -> None:
    children = layer.GetPrimAtPath(parent).nameChildren if paths else {}
    for path in reversed(paths):
        del children[path.name]


def _restore_looks(
    layer: Sdf.Layer, scene: Scene, moved: Callable[[str], str], issues: list[Issue]
) -> None:  # fmt: skip
    """Write the networks of materials as they were imported, where nobody has edited them."""
    from ..usd import looks

    text = scene.usdphys.source.carried_looks
    carried = looks.looks_in(text)
    wanted = [path for path, is_shown in carried.items() if not is_shown]
    for name, path in remembered.origins(bpy.data.materials).items() if carried else ():
        if path not in carried:
            continue
        if import_notes.edited_inputs(bpy.data.materials[name]) == frozenset():
            wanted.append(path)
        elif others := looks.other_networks(text, path):
            issues.append(Issue(
                "ShaderLeftOut", "warning", path, name,
                f"The nodes of '{name}' were edited, so its shaders of other renderers ({', '.join(others)}) are "
                "left out.",
                "Export the source with the edits to keep them.",
            ))  # fmt: skip
    if wanted:
        looks.restore_looks(text, layer, moved, wanted)


def _follower(moves: Mapping[str, str], root: str) -> Callable[[str], str]:
    """Gives new paths of prims by their paths in the source. root: path above all of them; empty for none."""

    def moved(path: str) -> str:
        new = core_paths.followed(path, moves)
        return f"{root}{path}" if new == path else new

    return moved


def _restore_carried(layer: Sdf.Layer, scene: Scene, moved: Callable[[str], str]) -> None:
    """Write the opinions that were carried along from the imported file back to their prims."""
    from ..usd import carry_restore

    physics = scene.usdphys
    carry_restore.restore_trees(physics.source.carried_trees, layer, moved)
    for thing in (*bpy.data.materials, *physics.physics_scenes, *physics.collision_groups):
        prim = remembered.prim_of(thing)
        if prim is None or not prim.carried:
            continue
        spec = layer.GetPrimAtPath(moved(prim.path))
        if spec is not None:
            carry_restore.restore(prim.carried, spec, moved)
    is_whole, has_looks = not physics.source.prim_path, bool(physics.source.carried_looks)
    imported = frozenset(physics.source.objects.splitlines())
    for spec, obj in list(_objects_on(layer)):
        prim = obj.usdphys.prim
        if is_whole and prim.binding != "own" and (prim.binding or (has_looks and len(obj.material_slots))):
            _restore_binding(spec, obj, moved, imported)
        if prim.shape:
            _restore_shape(spec, obj)
        if prim.carried:
            carry_restore.restore(prim.carried, spec, moved)
    carry_restore.restore_prims(physics.source.carried, layer, moved)


def _restore_binding(
    spec: Sdf.PrimSpec, obj: Object, moved: Callable[[str], str], imported: Collection[str]
) -> None:  # fmt: skip
    """Bind as in the imported file if nobody has changed the materials of an object, or what it inherits them from.

    imported: paths of all prims that became objects.
    """
    from ..usd import carry_restore

    prim, physics = remembered.prim_of(obj), obj.usdphys
    if prim is None or import_notes.has_new_slots(obj):
        return
    above = core_paths.parent_of(prim.path)
    if obj.parent is not None and remembered.path_of(obj.parent) != above:
        return
    if not prim.binding and ((obj.parent is None and above in imported) or _has_edited_slots_above(obj)):
        return
    has_faces = any(child.typeName == "GeomSubset" for child in spec.nameChildren)
    if has_faces and not prim.binding:
        return
    keep_physics = bool(
        physics.physics_material or physics.physics_material_path
        or any(item.physics_material for item in physics.colliders)
    )  # fmt: skip
    carry_restore.restore_binding(prim.binding, spec, moved, keep_physics=keep_physics)


def _has_edited_slots_above(obj: Object) -> bool:
    """Whether the materials of an object above one were changed, which its prim inherits in the imported file."""
    above = obj.parent
    while above is not None:
        if above.data is not None and import_notes.has_new_slots(above):
            return True
        above = above.parent
    return False


def _restore_shape(spec: Sdf.PrimSpec, obj: Object) -> None:
    """Write the shape of the imported file if nobody has edited it; of a collider, its colours in any case."""
    from ..usd import carry_restore

    prim = obj.usdphys.prim
    collides = prim.type_name in usd_geom.GPRIM_TYPES and _collides_as_gprim(obj)
    if spec.typeName != prim.type_name:
        return
    if not import_notes.has_new_data(obj):
        carry_restore.restore_shape(prim.shape, spec, collides=collides)


def _objects_on(layer: Sdf.Layer) -> Iterator[tuple[Any, Object]]:
    """Prims of imported objects, with the objects."""
    from ..usd.specs import children_of

    pending, objects = [layer.pseudoRoot], remembered.objects_by_name(with_linked=True)
    while pending:
        for child in children_of(pending.pop()):
            pending.append(child)
            obj = _object_of(child, objects)
            if obj is not None and obj.usdphys.prim.path:
                yield child, obj


def _restore_transforms(stage: Usd.Stage, frame: float) -> set[str]:
    """Write transforms as the imported file had them, for objects that were not moved.

    Returns the names of the objects whose animation was written so.
    """
    from pxr import Usd, UsdGeom

    layer = stage.GetEditTarget().GetLayer()
    owners = {prim.path: (obj, prim) for obj in bpy.data.objects if (prim := remembered.prim_of(obj)) is not None}
    specs = {path: layer.GetPrimAtPath(path) for path, (_, prim) in owners.items() if prim.transform}
    as_imported = {path for path, spec in specs.items() if spec and _is_as_imported(spec, owners[path][1].transform)}
    pending = sorted(specs.keys() - as_imported)
    origins = _written_transforms({owners[path][1].transform for path in pending})
    animated: set[str] = set()
    copies: list[tuple[_WrittenTransform, Sdf.PrimSpec]] = []
    for path in pending:
        (obj, prim), spec = owners[path], specs[path]
        now = UsdGeom.Xformable(stage.GetPrimAtPath(prim.path))
        origin = origins.get(prim.transform) or _written_transform(prim.transform)
        if spec is not None and not spec.typeName and not prim.type_name:
            # Operations of a prim without a type move nothing, but are there.
            copies.append((origin, spec))
            continue
        if spec is None or not now:
            continue
        if import_notes.is_moved(obj) if origin.varies else now.TransformMightBeTimeVarying():
            continue
        if origin.resets:
            # It is compared in the world, so its parents, which come before it, must be final.
            _copy_transforms(copies)
        time = Usd.TimeCode(frame) if origin.varies else Usd.TimeCode.Default()
        before = origin.xformable.GetLocalTransformation(time) if origin.varies else origin.local
        after = now.ComputeLocalToWorldTransform(time) if origin.resets else now.GetLocalTransformation(time)
        # In the world, the rounding of all transforms above adds up.
        is_here = _same(before, after, 1e-5 if origin.resets else 2e-6)
        if not is_here and (import_notes.is_moved(obj) or _is_lost(before, after)):
            continue
        copies.append((origin, spec))
        if origin.varies:
            animated.add(obj.name)
            _copy_transforms(copies)  # the samples of all would fill the memory
    _copy_transforms(copies)
    return animated


def _is_as_imported(spec: Sdf.PrimSpec, transform: str) -> bool:
    """True if Blender has written the transform operations of the imported file, letter by letter."""
    from ..usd import opinions

    operations = opinions.operations_in(transform)
    return operations is not None and opinions.has_operations(spec, operations)


def _is_lost(before: Any, after: Any) -> bool:
    """True for matrices that differ by more than Blender does without an edit."""
    # Blender's exporter loses rotations by less than 4e-4 radians.
    # Nor does Blender hold a sheared place.
    return not _same(before, after, 1e-3) and not frames.is_sheared(np.array(before).T)


def _copy_transforms(copies: list[tuple[_WrittenTransform, Sdf.PrimSpec]]) -> None:
    """Give prims the transform operations of others, and forget them."""
    from pxr import Sdf

    from ..usd.specs import property_names

    # The stage looks at all of them once.
    with Sdf.ChangeBlock():
        for origin, spec in copies:
            for name in property_names(spec):
                if name.startswith("xformOp") and name not in origin.names:
                    spec.RemoveProperty(spec.properties[name])
            for name in origin.names:
                Sdf.CopySpec(origin.layer, origin.path.AppendProperty(name), spec.layer, spec.path.AppendProperty(name))
    copies.clear()


class _WrittenTransform(NamedTuple):
    """Transform of an imported prim, which is at a path of a layer.

    names: of its operations. stage: keeps `xformable` alive. local: its matrix, without time samples.
    """

    layer: Any
    path: Any
    names: tuple[str, ...]
    stage: Any
    xformable: Any
    local: Any
    resets: bool
    varies: bool


def _written_transforms(texts: Collection[str]) -> dict[str, _WrittenTransform]:
    """The plain transforms among texts, by their text: parsed together, these take a fifth of the time."""
    from pxr import Sdf, Tf, Usd

    from ..usd.opinions import operations_in

    plain = {text: operations for text in texts if (operations := operations_in(text)) is not None}
    prims = (f'def Xform "_{number}"\n{{\n{operations}}}\n' for number, operations in enumerate(plain.values()))
    layer = Sdf.Layer.CreateAnonymous(".usda")
    with suppress(Tf.ErrorException):  # then they are parsed one by one
        layer.ImportFromString("".join(("#usda 1.0\n", *prims)))
    stage = Usd.Stage.Open(layer)
    by_text = {text: stage.GetPrimAtPath(f"/_{number}") for number, text in enumerate(plain)}
    return {text: _transform_of(layer, stage, prim) for text, prim in by_text.items() if prim}


@lru_cache(maxsize=64)
def _written_transform(text: str) -> _WrittenTransform:
    from pxr import Sdf, Usd

    source = Sdf.Layer.CreateAnonymous(".usda")
    source.ImportFromString(text)
    stage = Usd.Stage.Open(source)
    return _transform_of(source, stage, stage.GetPrimAtPath(source.rootPrims[0].path))


def _transform_of(layer: Sdf.Layer, stage: Usd.Stage, prim: Usd.Prim) -> _WrittenTransform:
    from pxr import UsdGeom

    from ..usd.specs import property_names

    xformable, path = UsdGeom.Xformable(prim), prim.GetPath()
    return _WrittenTransform(
        layer, path, tuple(property_names(layer.GetPrimAtPath(path))), stage, xformable,
        xformable.GetLocalTransformation(), xformable.GetResetXformStack(), xformable.TransformMightBeTimeVarying(),
    )  # fmt: skip


def _same(one: Any, other: Any, tolerance: float) -> bool:
    """True for two matrices of USD that differ by rounding only."""
    from pxr import Gf

    if Gf.IsClose(one, other, tolerance):  # many times faster
        return True
    first = np.array(one)
    return bool((np.abs(first - np.array(other)) <= tolerance * max(1.0, np.abs(first).max())).all())


_BLENDER_NAMES = (OBJECT_NAME, _DATA_NAME)


def _orders(scene: Scene) -> dict[str, int]:
    """Position in the order of the imported stage, by path of everything that remembers its prim."""
    physics = scene.usdphys
    things = (*bpy.data.objects, *bpy.data.materials, *physics.physics_scenes, *physics.collision_groups)
    prims = [remembered.prim_of(thing) for thing in things]
    return {prim.path: prim.order for prim in prims if prim is not None}
