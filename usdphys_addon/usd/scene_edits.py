# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of a scene besides its physics, applied to its source: transforms, new and deleted objects, meshes, materials.

New geometry and materials are copied from a layer that Blender's exporter has written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdShade

from ..core import frames, paths
from . import hierarchy
from . import write as usd_write
from .opinions import BINDING_API
from .physics_edits import Editor
from .targets import followed, properties_of, retarget, targets_of

#: Attributes on the prims that Blender's exporter writes, with the names of objects and of their data.
OBJECT_NAME, DATA_NAME = "userProperties:blender:object_name", "userProperties:blender:data_name"
_CREASES = frozenset({"cornerIndices", "cornerSharpnesses", "creaseIndices", "creaseLengths", "creaseSharpnesses"})
#: Attributes of a mesh that hold one value per point, face or corner, or indices of these.
_PER_ELEMENT = _CREASES | {
    "points", "normals", "velocities", "accelerations", "faceVertexCounts", "faceVertexIndices", "holeIndices",
}  # fmt: skip
_NORMALS = ("normals", "primvars:normals")
#: Namespace of the custom properties of Blender.
_PROPERTIES = "userProperties:"
#: Python types of the custom properties that Blender imports and can delete.
_SIMPLE = (bool, int, float, str)
_SURFACE, _MATERIALX = "outputs:surface", "outputs:mtlx:surface"
#: Inputs of a surface that Blender's exporter leaves out where they do nothing: an emission of strength 0.
_LEFT_OUT = {"emissiveColor": Gf.Vec3f(0.0)}


class MeshEdit(NamedTuple):
    """path: of the mesh in the layer that Blender has written. parts: what has changed, see `MESH_PARTS`."""

    path: str
    parts: frozenset[str]


class MaterialEdit(NamedTuple):
    """path: of the material in the layer that Blender has written. inputs: of its surface that changed; None: all."""

    path: str
    inputs: frozenset[str] | None


@dataclass(slots=True)
class SceneEdits:
    """Edits by prim path; paths are those of the source, before `moves`.

    transforms: new local matrices (4, 4), in the numbers of the source. removed: deleted prims. moves: new paths of
    renamed and reparented prims. geometry: layer that Blender has written; its prims are named by the second values of
    objects (new prims), meshes (changed geometry) and materials (new and changed ones). places: by path in `geometry`,
    where an object or material is in the source. bindings: materials of prims whose slots have changed; empty: none.
    properties: paths in `geometry` of the prims with the custom properties of a prim, where these have changed.
    textures: brings an image file of `geometry` to the target, and gives its path there.
    """

    transforms: dict[str, frames.Matrix] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    moves: dict[str, str] = field(default_factory=dict)
    geometry: Sdf.Layer | None = None
    places: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    meshes: dict[str, MeshEdit] = field(default_factory=dict)
    materials: dict[str, MaterialEdit] = field(default_factory=dict)
    bindings: dict[str, str] = field(default_factory=dict)
    properties: dict[str, tuple[str, ...]] = field(default_factory=dict)
    textures: Callable[[str], str] = str

    def __bool__(self) -> bool:
        return bool(
            self.transforms or self.removed or self.moves or self.objects or self.meshes or self.materials
            or self.bindings or self.properties
        )  # fmt: skip


def apply_first(editor: Editor, edits: SceneEdits) -> None:
    """Apply what the physics edits build on: removed prims, new objects, their materials."""
    for path in edits.removed:
        if not _loses_moved(edits, path):
            editor.remove(path)
    if edits.geometry is None:
        return
    copier = _Copier(editor, edits, edits.geometry)
    for path in sorted(edits.objects, key=lambda path: path.count("/")):
        copier.add_object(path, edits.objects[path])
    for path, look in edits.materials.items():
        copier.write_material(path, look)
    for path, edit in edits.meshes.items():
        copier.write_mesh(path, edit)
    for path, others in edits.properties.items():
        copier.write_properties(path, others)


def apply_last(editor: Editor, edits: SceneEdits) -> None:
    """Apply what comes after the physics edits: transforms, bindings, and moves of whole prims."""
    for path, local in edits.transforms.items():
        spec, usd_prim = editor.spec(path), editor.stage.GetPrimAtPath(path)
        if usd_prim and usd_prim.GetTypeName() in ("", "Scope"):
            spec.typeName = "Xform"  # of others USD ignores the transform
        write_transform(spec, usd_prim, local, editor.home)
    for path, material in edits.bindings.items():
        _bind(editor, path, material)
    done: dict[str, str] = {}
    referenced: dict[str, _Mover] = {}
    # New parents first, or a scope would take their paths.
    for old, new in sorted(edits.moves.items(), key=lambda move: move[1].count("/")):
        mover = _Mover(editor, old, new, done, is_referenced=any(paths.is_below(old, above) for above in referenced))
        if not mover.move():
            referenced[old] = mover
        done[old], editor.moved[new] = new, old
    for mover in referenced.values():
        mover.lift()
    default = editor.layer.defaultPrim
    moved = paths.followed(f"/{default}", edits.moves) if default and not default.startswith("/") else ""
    if moved and moved != f"/{default}":
        editor.layer.defaultPrim = moved[1:] if moved.count("/") == 1 else moved
    for path in edits.removed:
        if any(paths.is_below(old, path) for old in referenced):
            editor.spec(path).active = False  # its prims are what the new ones refer to
        elif _loses_moved(edits, path):
            editor.remove(path, paths.followed(path, {old: new for old, new in done.items() if old not in referenced}))


def _loses_moved(edits: SceneEdits, path: str) -> bool:
    """True if a removed prim had prims below it that have moved elsewhere."""
    return any(paths.is_below(old, path) for old in edits.moves)


# --------------------------------------------------------------------------- transforms


def write_transform(
    spec: Sdf.PrimSpec, usd_prim: Usd.Prim, local: frames.Matrix, home: Callable[[Sdf.PrimSpec, str], Sdf.PrimSpec]
) -> None:  # fmt: skip
    """Author a local transform; the operations of the source stay where their values alone can express it.

    home: the spec that gets a property, see `Editor.home`.
    """
    local = _without_noise(local)
    xformable = UsdGeom.Xformable(usd_prim) if usd_prim else None
    ops = xformable.GetOrderedXformOps() if xformable else []
    values = _values_of(ops, local)
    if values is None:
        place = home(spec, "xformOpOrder")
        usd_write.write_local(place, local, 1.0, reset=bool(xformable and xformable.GetResetXformStack()))
        if ops and "xformOpOrder" not in place.properties:
            # No operations are an opinion, too: those of a weaker layer would stay.
            order = Sdf.AttributeSpec(place, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
            order.default = []
        return
    for op, value in zip(ops, values, strict=True):
        attribute = op.GetAttr()
        if _alike(attribute.Get(), value) and not attribute.GetNumTimeSamples():
            continue
        name = attribute.GetName()
        place = home(spec, name)
        made = place.attributes.get(name) or Sdf.AttributeSpec(place, name, attribute.GetTypeName())
        _set_still(made, value)


def _set_still(attribute: Sdf.AttributeSpec, value: Any) -> None:
    """Author a value for all times: beside samples, a default would never be read."""
    layer = attribute.layer
    for time in layer.ListTimeSamplesForPath(attribute.path):
        layer.EraseTimeSample(attribute.path, time)
    attribute.default = value


def _without_noise(local: frames.Matrix) -> frames.Matrix:
    """The matrix without what 32-bit rounding adds to a rotation: a scale of nearly one."""
    clean = local.copy()
    size = max(1.0, float(np.abs(local[:3, 3]).max()))
    clean[:3, 3] = [round(part, 6 - math.floor(math.log10(size))) for part in local[:3, 3].tolist()]
    scale = frames.scale_of(local)
    if not frames.is_sheared(local, 1e-6) and np.abs(scale - 1.0).max() < 2e-6:
        clean[:3, :3] = frames.rotation_of(local)
    if np.abs(clean[:3, :3] - np.eye(3)).max() < 1e-7:
        clean[:3, :3] = np.eye(3)
    return clean


def _values_of(ops: list[Any], local: frames.Matrix) -> list[Any] | None:
    """Values that give a stack of operations this matrix; None where it is not translate, orient, scale or a matrix."""
    kinds = [op.GetOpType() for op in ops]
    if not ops or any(op.IsInverseOp() or op.GetAttr().GetNumTimeSamples() for op in ops):
        return None
    kind = UsdGeom.XformOp
    if kinds == [kind.TypeTransform]:
        return [Gf.Matrix4d(local.T.tolist())]
    order = (kind.TypeTranslate, kind.TypeOrient, kind.TypeScale)
    if any(one not in order for one in kinds) or kinds != sorted(set(kinds), key=order.index):
        return _with_rotation_kept(ops, local)
    if frames.is_sheared(local, 1e-6):
        return None
    x, y, z = local[:3, 3].tolist()
    scale = frames.scale_of(local)
    rotation = frames.quaternion_of(frames.rotation_of(local))
    wanted = {
        kind.TypeTranslate: (x, y, z), kind.TypeOrient: rotation, kind.TypeScale: tuple(scale.tolist()),
    }  # fmt: skip
    neutral = {kind.TypeTranslate: (0, 0, 0), kind.TypeOrient: (1, 0, 0, 0), kind.TypeScale: (1, 1, 1)}
    for one, value in wanted.items():
        if one not in kinds and not np.allclose(np.abs(value) if one == kind.TypeOrient else value, neutral[one],
                                                atol=1e-6):  # fmt: skip
            return None
    return [_typed(op, wanted[one]) for op, one in zip(ops, kinds, strict=True)]


def _with_rotation_kept(ops: list[Any], local: frames.Matrix) -> list[Any] | None:
    """Values for a stack of other operations where only the first, a translation, has to change."""
    before = np.array(UsdGeom.XformOp.GetOpTransform(ops[0], Usd.TimeCode.Default())).T
    if ops[0].GetOpType() != UsdGeom.XformOp.TypeTranslate:
        return None
    rest = np.eye(4)
    for op in ops[1:]:
        rest = rest @ np.array(op.GetOpTransform(Usd.TimeCode.Default())).T
    size = max(1.0, float(np.abs(rest).max()))
    if np.abs(rest[:3, :3] - local[:3, :3]).max() > 2e-6 * size or before.shape != (4, 4):
        return None
    values = [op.Get() for op in ops]
    values[0] = _typed(ops[0], tuple((local[:3, 3] - rest[:3, 3]).tolist()))
    return values


def _typed(op: Any, value: Any) -> Any:
    """A value as the Python type of an operation's attribute; rounded to what 32-bit transforms of Blender hold."""
    cls = op.GetAttr().GetTypeName().type.pythonClass
    old = op.Get()
    short = [float(f"{part:.7g}") for part in value]
    if len(short) == 4:
        return cls(short[0], *short[1:])
    # A part that has not changed keeps the number of the source.
    if old is not None:
        size = max(map(abs, (*short, *old)), default=1.0)
        short = [was if abs(was - now) <= 1e-6 * size else now for was, now in zip(old, short, strict=True)]
    return cls(*short)


def _alike(one: Any, other: Any) -> bool:
    if one is None:
        return False
    if isinstance(one, Gf.Matrix4d):
        return bool(Gf.IsClose(one, other, 1e-12))
    if hasattr(one, "imaginary"):
        first, second = (np.array([value.real, *value.imaginary]) for value in (one, other))
        return bool(min(np.abs(first - second).max(), np.abs(first + second).max()) <= 1e-6)
    return bool(one == other)


# --------------------------------------------------------------------------- copies from Blender's layer


class _MeshChanges:
    """Which attributes of a prim change with its geometry. is_other: all, as type or faces are others."""

    def __init__(self, source: Usd.Prim, geometry: Sdf.PrimSpec, edit: MeshEdit) -> None:
        """geometry: what Blender has written of it."""
        self.source, self.geometry = source, geometry
        has_other_type = source.GetTypeName() != geometry.typeName
        self.is_other = has_other_type or "faces" in edit.parts
        # Normals follow the shape, where the source says them. Elsewhere Blender's own would change the shading, as its
        # subdivision would, which the import leaves out.
        has_normals = any(source.GetAttribute(name).HasAuthoredValue() for name in _NORMALS)
        self.parts = {*edit.parts, "shading"} if "points" in edit.parts and has_normals else edit.parts
        is_shaded_alike = not has_other_type and "shading" not in edit.parts
        self.kept = (() if has_normals else _NORMALS) + ("subdivisionScheme",) if is_shaded_alike else ()

    def concern(self, name: str, type_name: Any) -> bool:
        part = _part_of(name, str(type_name))
        return part is not None and name not in self.kept and (self.is_other or part in self.parts)

    def has_new_value(self, attribute: Sdf.AttributeSpec) -> bool:
        """True if what Blender has written differs from the source."""
        name = attribute.name
        base = self.geometry.attributes.get(_base_name(name)) or attribute
        # Blender keeps imported primvars of that name beside its own normals, and they do not follow the shape.
        if not self.concern(base.name, base.typeName) or base.name == "primvars:normals":
            return False
        known = self.source.GetAttribute(name)
        is_same = known and known.Get() == attribute.default
        return not is_same and not _is_same_primvar(self.source, self.geometry, name)

    def is_gone(self, attribute: Usd.Attribute) -> bool:
        """True if the new geometry is without values per element that the source has, and Blender holds."""
        name = attribute.GetName()
        if not _is_per_element(attribute) or not self.concern(name, attribute.GetTypeName()):
            return False
        return self.is_other or name in _NORMALS or _comes_into_blender(attribute)


class _Copier:
    """Copies prims of Blender's layer; their targets follow to where things are in the source."""

    def __init__(self, editor: Editor, edits: SceneEdits, geometry: Sdf.Layer) -> None:
        self.editor, self.edits, self.geometry = editor, edits, geometry
        self.places = edits.places

    def add_object(self, path: str, other: str) -> None:
        """Copy one new object, with its geometry but without the objects below it."""
        layer = self.editor.layer
        parent = paths.parent_of(path)
        if parent:
            self.editor.spec(parent)
            self.editor.define_parents(layer.GetPrimAtPath(parent), itself=True)
        Sdf.CopySpec(self.geometry, other, layer, path)
        spec = layer.GetPrimAtPath(path)
        for child in list(spec.nameChildren):
            if f"{other}/{child.name}" in self.places:
                del spec.nameChildren[child.name]
        self.editor.copied.add(path)
        self._finish(spec)

    def write_mesh(self, path: str, edit: MeshEdit) -> None:
        """Write what has changed of the geometry of a prim, and block values per element that it has no longer."""
        source = self.editor.stage.GetPrimAtPath(path)
        spec, geometry = self.editor.spec(path), self.geometry.GetPrimAtPath(edit.path)
        changes = _MeshChanges(source, geometry, edit)
        if source.GetTypeName() != geometry.typeName:
            spec.typeName = geometry.typeName
        written = set()
        for attribute in geometry.attributes:
            if changes.has_new_value(attribute):
                self._replace(spec, attribute)
                written.add(attribute.name)
        for attribute in source.GetAuthoredAttributes():
            name = attribute.GetName()
            if name in geometry.attributes and name != "primvars:normals":
                continue
            # Old indices do not fit new values.
            if changes.is_gone(attribute) or (name != _base_name(name) and _base_name(name) in written):
                _block(spec, attribute)
        if changes.is_other or "face_materials" in edit.parts:
            self._copy_subsets(spec, source, geometry)
        self._finish(spec)

    def write_properties(self, path: str, others: tuple[str, ...]) -> None:
        """Write the custom properties that differ from those of the source, and block those that are gone."""
        source = self.editor.stage.GetPrimAtPath(path)
        if not source:
            self.editor.missing.append(path)
            return
        wanted = {
            item.name: item for other in others for item in self.geometry.GetPrimAtPath(other).attributes
            if item.custom and item.name not in (OBJECT_NAME, DATA_NAME)
        }  # fmt: skip
        for name, item in wanted.items():
            # Blender gives its own namespace to a name without one.
            names = (name, name.removeprefix(_PROPERTIES))
            known = next((source.GetAttribute(one) for one in names if source.HasAttribute(one)), None)
            if known is None:
                self._replace(self.editor.spec(path), item)
            elif not _says_same(known.Get(), item.default):
                self._set(self.editor.spec(path), known, item)
        for attribute in source.GetAuthoredAttributes():
            name = attribute.GetName()
            is_gone = name not in wanted and f"{_PROPERTIES}{name}" not in wanted
            if is_gone and attribute.IsCustom() and isinstance(attribute.Get(), _SIMPLE):
                _block(self.editor.spec(path), attribute)

    def _set(self, spec: Sdf.PrimSpec, known: Usd.Attribute, item: Sdf.AttributeSpec) -> None:
        """Author the value of a custom property with the type of the source, or its own where it fits no more."""
        name, type_name = known.GetName(), known.GetTypeName()
        try:
            value = type(type_name.defaultValue)(item.default)
        except (TypeError, ValueError, Tf.ErrorException):
            value, type_name = item.default, item.typeName
        attribute = spec.attributes.get(name)
        if attribute is not None and attribute.typeName != type_name:
            spec.RemoveProperty(attribute)
            attribute = None
        made = attribute or Sdf.AttributeSpec(spec, name, type_name, declaresCustom=known.IsCustom())
        _set_still(made, value)

    def _replace(self, spec: Sdf.PrimSpec, attribute: Sdf.AttributeSpec) -> None:
        existing = spec.attributes.get(attribute.name)
        if existing is not None and existing.typeName != attribute.typeName:
            spec.RemoveProperty(existing)
        Sdf.CopySpec(self.geometry, attribute.path, spec.layer, spec.path.AppendProperty(attribute.name))

    def _copy_subsets(self, spec: Sdf.PrimSpec, source: Usd.Prim, geometry: Sdf.PrimSpec) -> None:
        """Replace the subsets of the faces, where there are any on either side."""
        wanted = [child for child in geometry.nameChildren if child.typeName == "GeomSubset"]
        old = [child.GetName() for child in source.GetChildren() if child.GetTypeName() == "GeomSubset"]
        for name in old:
            self.editor.remove(f"{spec.path}/{name}")
        for child in wanted:
            name = paths.free(child.name, lambda name: source.GetChild(name) or name in old)
            Sdf.CopySpec(self.geometry, child.path, spec.layer, spec.path.AppendChild(name))

    def write_material(self, path: str, edit: MaterialEdit) -> None:
        """Write a new material, or what has changed of the look of one of the source."""
        source = self.editor.stage.GetPrimAtPath(path)
        layer = self.editor.layer
        if not source or not source.IsDefined():
            parent = paths.parent_of(path)
            if parent:
                self.editor.define_parents(self.editor.spec(parent), itself=True)
            Sdf.CopySpec(self.geometry, edit.path, layer, path)
            self.editor.copied.add(path)
            self._finish(layer.GetPrimAtPath(path))
            self._bring_textures(layer.GetPrimAtPath(path))
        elif edit.inputs is None or not self._set_inputs(edit, source):
            self._replace_network(path, edit.path, source)

    def _set_inputs(self, edit: MaterialEdit, source: Usd.Prim) -> bool:
        """Write the changed values of a surface; False where it is no plain shader, or textures stand in the way."""
        shader, plain = _surface(UsdShade.Material(source)), None
        for child in self.geometry.GetPrimAtPath(edit.path).nameChildren:
            identifier = child.attributes.get("info:id")
            if child.typeName == "Shader" and identifier is not None and identifier.default == "UsdPreviewSurface":
                plain = child
        if shader is None or plain is None or shader.GetIdAttr().Get() != "UsdPreviewSurface":
            return False
        inputs = {item.GetBaseName(): item for item in shader.GetInputs()}
        changed: list[tuple[Sdf.Path, Any, Any]] = []
        for name in sorted(edit.inputs or ()):
            attribute, item = plain.attributes.get(f"inputs:{name}"), inputs.get(name)
            if attribute is not None and attribute.connectionPathList.GetAddedOrExplicitItems():
                continue
            if attribute is not None:
                type_name, value = attribute.typeName, attribute.default
            elif item is not None and name in _LEFT_OUT:
                type_name, value = item.GetTypeName(), _LEFT_OUT[name]
            else:
                continue
            producers = item.GetValueProducingAttributes() if item is not None else []
            if len(producers) > 1 or (producers and producers[0].GetName().startswith("outputs:")):
                return False
            where = producers[0].GetPath() if producers else shader.GetPath().AppendProperty(f"inputs:{name}")
            changed.append((where, type_name, value))
        for where, type_name, value in changed:
            spec = self.editor.spec(str(where.GetPrimPath()))
            _set_still(spec.attributes.get(where.name) or Sdf.AttributeSpec(spec, where.name, type_name), value)
        return True

    def _replace_network(self, path: str, other: str, source: Usd.Prim) -> None:
        """Copy the shaders of Blender beside those of the source, and connect the surface to them."""
        spec, material = self.editor.spec(path), self.geometry.GetPrimAtPath(other)
        renamed = {}
        for child in material.nameChildren:
            name = paths.free(child.name, lambda name: source.GetChild(name) or name in spec.nameChildren)
            Sdf.CopySpec(self.geometry, child.path, spec.layer, spec.path.AppendChild(name))
            renamed[f"{other}/{child.name}"] = f"{path}/{name}"
            self._bring_textures(spec.nameChildren[name])
        for name in (_SURFACE, _MATERIALX):
            surface = material.attributes.get(name)
            if surface is not None:
                made = spec.attributes.get(name) or Sdf.AttributeSpec(spec, name, surface.typeName)
                made.connectionPathList.explicitItems = surface.connectionPathList.GetAddedOrExplicitItems()
        self._finish(spec, renamed)

    def _bring_textures(self, spec: Sdf.PrimSpec) -> None:
        for one in _specs_below(spec):
            for attribute in one.attributes:
                if isinstance(attribute.default, Sdf.AssetPath):
                    attribute.default = Sdf.AssetPath(self.edits.textures(attribute.default.path))

    def _finish(self, spec: Sdf.PrimSpec, more: Mapping[str, str] | None = None) -> None:
        """Remove Blender's name attributes of a copied prim; bring its targets to where things are in the source."""
        places = {**self.places, **(more or {})}
        for one in _specs_below(spec):
            for name in (OBJECT_NAME, DATA_NAME):
                if name in one.properties:
                    one.RemoveProperty(one.properties[name])
            for item in one.properties:
                retarget(item, partial(followed, moves=places))


def _block(spec: Sdf.PrimSpec, attribute: Usd.Attribute) -> None:
    """Author that an attribute of the source has no value."""
    name, is_custom = attribute.GetName(), attribute.IsCustom()
    made = spec.attributes.get(name)
    made = made or Sdf.AttributeSpec(spec, name, attribute.GetTypeName(), declaresCustom=is_custom)
    made.default = Sdf.ValueBlock()


def _base_name(name: str) -> str:
    """Name of the primvar that an attribute with indices belongs to; the name itself for others."""
    return name.removesuffix(":indices")


def _part_of(name: str, type_name: str) -> str | None:
    """The part of a mesh that an attribute belongs to, of MESH_PARTS; None for what says nothing of the shape."""
    if name in ("points", "extent"):
        return "points"
    if name in _NORMALS:
        return "shading"
    if name in _CREASES:
        return "attributes"
    if name in ("faceVertexCounts", "faceVertexIndices", "subdivisionScheme") or name in _PER_ELEMENT:
        return "faces"
    if not name.startswith("primvars:"):
        return None
    known = {"color": "colors", "texCoord": "texture_coordinates"}
    return next((part for start, part in known.items() if type_name.startswith(start)), "attributes")


def _comes_into_blender(attribute: Usd.Attribute) -> bool:
    """True for a primvar that Blender's importer makes an attribute of the mesh, so that it can be deleted there."""
    name = str(attribute.GetTypeName())
    return name.startswith(("texCoord2", "color")) or name in ("float[]", "int[]", "bool[]", "float2[]", "float3[]")


def _is_same_primvar(source: Usd.Prim, geometry: Sdf.PrimSpec, name: str) -> bool:
    """True for a primvar that Blender has written with the values of the source, perhaps with other indices."""
    if not name.startswith("primvars:"):
        return False
    base = _base_name(name)
    known = UsdGeom.PrimvarsAPI(source).GetPrimvar(base)
    written = geometry.attributes.get(base)
    if not known or written is None or written.default is None:
        return False
    indices = geometry.attributes.get(f"{base}:indices")
    values, before = np.asarray(written.default), np.asarray(known.ComputeFlattened())
    if indices is not None and indices.default is not None:
        values = values[np.asarray(indices.default)]
    return bool(np.array_equal(values, before))


def _says_same(one: Any, other: Any) -> bool:
    if one is None or isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return np.shape(one) == np.shape(other) and np.array_equal(np.asarray(one, float), np.asarray(other, float))


def _is_per_element(attribute: Usd.Attribute) -> bool:
    name = attribute.GetName()
    is_primvar = name.startswith("primvars:") and not name.endswith(":indices")
    return name in _PER_ELEMENT or (is_primvar and UsdGeom.Primvar(attribute).GetInterpolation() != "constant")


def _surface(material: UsdShade.Material) -> UsdShade.Shader | None:
    source = material.ComputeSurfaceSource()
    shader = source[0] if source else None
    return shader if shader else None


def _specs_below(spec: Sdf.PrimSpec) -> Iterator[Sdf.PrimSpec]:
    """A prim spec and all below it."""
    pending = [spec]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(one.nameChildren)


def _bind(editor: Editor, path: str, material: str) -> None:
    """Bind a prim to a material for all purposes, or to none."""
    spec = editor.spec(path)
    editor.writer.relationship(spec, "material:binding", [Sdf.Path(material)] if material else [])
    if material:
        usd_write.apply_schemas(spec, [BINDING_API], last=editor.own is None)


# --------------------------------------------------------------------------- moves


class _Mover:
    """Moves a prim of the source to another path.

    Where all its opinions are in the layer that is edited, these are moved. Else the old prim becomes inactive and a
    new one references it. done: the moves before this one. now: where these have brought the prim. is_referenced: a
    prim above it has been moved by a reference, so that at its place there are edits at most.
    """

    def __init__(
        self, editor: Editor, old: str, new: str, done: Mapping[str, str], *, is_referenced: bool = False
    ) -> None:  # fmt: skip
        self.editor, self.old, self.new, self.done = editor, Sdf.Path(old), Sdf.Path(new), dict(done)
        self.is_referenced = is_referenced
        self.now = Sdf.Path(paths.followed(old, done))

    def follow(self, path: Sdf.Path) -> Sdf.Path:
        for before in (self.old, self.now):
            if path.HasPrefix(before):
                return path.ReplacePrefix(before, self.new)
        return path

    def follow_all(self, path: Sdf.Path) -> Sdf.Path:
        """Where this move and those before it have brought a path of the source."""
        return self.follow(Sdf.Path(paths.followed(str(path), self.done)))

    def move(self) -> bool:
        """Move the prim. False if the new one references the old one."""
        usd_prim = self.editor.stage.GetPrimAtPath(self.old)
        layer = self.editor.layer
        # Below a moved prim that references its old place there is nothing to move.
        if not self.is_referenced and self.is_own(usd_prim) and layer.GetPrimAtPath(self.now) is not None:
            self.editor.make_unique_above(str(self.new))
            if not self.new.IsRootPrimPath():
                parent = self.editor.spec(str(self.new.GetParentPath()))
                self.editor.define_parents(parent, itself=True)
            hierarchy.move_prims(layer, {str(self.now): str(self.new)})
            return True
        for item in properties_of(layer):
            if not item.path.HasPrefix(self.old):
                retarget(item, self.follow)
        self.retarget()
        spec = self.editor.spec(str(self.new))
        spec.specifier = Sdf.SpecifierDef
        self.editor.define_parents(spec)
        spec.referenceList.prependedItems = [Sdf.Reference("", self.old)]
        spec.active = True
        self.editor.spec(str(self.now)).active = False
        return False

    def is_own(self, usd_prim: Usd.Prim) -> bool:
        """True if all opinions about the prim and all below it are in the layer that is edited."""
        own = self.editor.own
        return (
            own is not None
            and all(
                len(stack := one.GetPrimStack()) == 1 and self.editor.is_own(stack[0], str(one.GetPath()))
                for one in Usd.PrimRange.AllPrims(usd_prim)
            )
            and not self.is_targeted_elsewhere()
        )

    def is_targeted_elsewhere(self) -> bool:
        """True if a relationship or connection in another layer leads to the prim."""
        own = self.editor.own
        others = [layer for layer in self.editor.stage.GetUsedLayers() if layer != own and not layer.anonymous]
        return bool(others) and any(
            any(spec.layer != own for spec in item.GetPropertyStack()) for _, item, _ in self.crossing()
        )

    def crossing(self) -> Iterator[tuple[Usd.Prim, Any, list[Sdf.Path]]]:
        """(prim, property, targets) of all that lead into the moved prim from outside, or out of it."""
        for one in Usd.PrimRange.AllPrims(self.editor.stage.GetPseudoRoot()):
            is_inside = one.GetPath().HasPrefix(self.old)
            for item in one.GetAuthoredProperties():
                targets = item.GetTargets() if isinstance(item, Usd.Relationship) else item.GetConnections()
                if any(target.HasPrefix(self.old) != is_inside for target in targets):
                    yield one, item, list(targets)

    def retarget(self) -> None:
        """Author, with the new path, what leads to the prim or out of it, unless an edit has done so."""
        layer = self.editor.layer
        for one, item, targets in self.crossing():
            # Below a prim that references its old place, targets elsewhere are opinions of the new place.
            spec = self.editor.spec(str(self.follow_all(one.GetPath())))
            name, new = item.GetName(), [self.follow_all(target) for target in targets]
            known = (spec.path, one.GetPath())
            edited = next(filter(None, (layer.GetPropertyAtPath(path.AppendProperty(name)) for path in known)), None)
            is_inside = one.GetPath().HasPrefix(self.old)
            if isinstance(item, Usd.Relationship):
                if edited is not None and edited.targetPathList.isExplicit:
                    if not is_inside:
                        continue
                    new = [self.follow_all(target) for target in edited.targetPathList.explicitItems]
                self.editor.writer.relationship(spec, name, new)
            else:
                made = spec.attributes.get(name) or Sdf.AttributeSpec(spec, name, item.GetTypeName())
                made.connectionPathList.explicitItems = new

    def lift(self) -> None:
        """Bring targets elsewhere, of prims that are referenced now, to the new place: a reference drops them."""
        layer = self.editor.layer

        def follow(path: Sdf.Path) -> Sdf.Path:
            return path.ReplacePrefix(self.now, self.new)

        for item in list(properties_of(layer)):
            path = item.path
            if not path.HasPrefix(self.now) or path.ContainsPrimVariantSelection():
                continue
            if all(target.HasPrefix(self.now) for target in targets_of(item)):
                continue
            place = follow(path)
            if layer.GetPropertyAtPath(place) is None:
                self.editor.spec(str(place.GetPrimPath()))
                Sdf.CopySpec(layer, path, layer, place)
                retarget(layer.GetPropertyAtPath(place), follow)
            item.owner.RemoveProperty(item)
