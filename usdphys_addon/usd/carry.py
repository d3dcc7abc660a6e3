# SPDX-License-Identifier: GPL-3.0-or-later
"""Preserves USD opinions that neither Blender nor the schema table understands, as USDA text stored in the .blend.

`capture` and `restore` handle prims that Blender imports; `capture_prims` and `restore_prims` handle all other prims
and the layer metadata. The captured opinions are composed: references, payloads, variants and list operations are
resolved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from pxr import Plug, Sdf, Tf, Usd, UsdGeom, UsdShade, Vt

from ..core import schema
from ..core.errors import InputError
from ..core.schema import Attribute
from ..core.schemas import usd_physics
from ..core.units import StageUnits
from ..core.vendor_schemas import VendorAttribute
from ..core.vendors import held_class, is_vendor
from . import opinions as usd_opinions
from . import write as usd_write
from .carry_fields import (
    LAYER_FIELDS,
    NOTES_KEY,
    PRIM_FIELDS,
    PROPERTY_FIELDS,
    Convert,
    alike,
    converted,
    copy_fields,
    folder,
    is_mistyped,
    is_stored_as,
    parsed,
    relative_path,
    set_paths,
    set_type,
    table_properties,
    type_in_file,
    with_assets,
)
from .opinions import BINDING_API, PHYSICS_BINDING, Opinions, PrimKind, varies

#: API schemas that Blender's exporter writes with their properties.
_BLENDER_SCHEMAS = frozenset({BINDING_API, "SkelBindingAPI", "NodeDefAPI", "LightAPI", "ShapingAPI", "ShadowAPI"})
_COLLISION = usd_physics.CollisionAPI.usd_name
_LIGHT_SCHEMAS = ("LightAPI", "MeshLightAPI", "VolumeLightAPI", "ShapingAPI", "ShadowAPI")
_BLENDER_PREFIXES = ("xformOp:", "primvars:", "userProperties:", "material:binding", "skel:")
#: extentsHint is a cached bounding box that would be wrong after edits in Blender.
_BLENDER_PROPERTIES = frozenset({"xformOpOrder", "extentsHint"})
_BLENDER_LIBRARIES = frozenset({"usdGeom", "usdShade", "usdLux", "usdSkel", "usdVol", "usdPhysics"})
#: Properties of UsdGeom that Blender's exporter does not write.
_NOT_BLENDERS = frozenset({"proxyPrim", "visibility"})
_BINDING = "material:binding"
#: Types whose geometry Blender shows as something else, or not at all. An export gives them back what they were.
SHAPED_TYPES = frozenset({
    "Cube", "Sphere", "Cylinder", "Cylinder_1", "Capsule", "Capsule_1", "Cone", "Plane", "TetMesh", "NurbsPatch",
    "HermiteCurves", "Camera", "CylinderLight", "DiskLight", "DistantLight", "GeometryLight", "PluginLight",
    "PortalLight", "RectLight", "SphereLight",
})  # fmt: skip
_COLORS = ("primvars:displayColor", "primvars:displayOpacity")


# --------------------------------------------------------------------------- one prim


def capture(opinions: Opinions, stage_units: StageUnits) -> str:
    """The opinions of a prim that an import would lose, as USDA text with one `over`; empty if there are none.

    Carried: API schemas that are neither in the table nor written by Blender; attributes and relationships with type,
    variability, default, time samples, splines, connections and metadata, among them those of a table schema that the
    prim does not apply; metadata of the prim; of attributes of the table: time samples (in SI), connections,
    metadata, blocked values and values of a type that the model cannot hold.
    Not carried: geometry, materials, lights, transforms, primvars and user properties, which Blender writes, and the
    purpose of colliders, which the model holds; composition arcs, variants, value clips, `active` and `instanceable`,
    which are resolved.
    Numbers of vendor attributes stay in the units of the file; an export in other units converts them, see
    `carried_units`.
    Relative asset paths that resolve are kept relative to the folder of the stage.
    """
    return "" if is_plain(opinions) else capture_unusual(opinions, stage_units)


def capture_unusual(opinions: Opinions, stage_units: StageUnits) -> str:
    """`capture` of a prim that is not plain."""
    if text := _plain_text(opinions):
        return text
    usd_prim, type_name, names = opinions.usd_prim, opinions.type_name, opinions.schemas
    table = table_properties(type_name, names)
    is_by_blender = _writes_of_blender(type_name, _COLLISION in names)
    carried = Carrier("prim", folder(usd_prim.GetStage().GetRootLayer()))
    carried.schemas(usd_prim, names)
    carried.metadata(usd_prim)
    for item in usd_opinions.authored_properties(usd_prim):
        name = item.GetName()
        if name in table and not _is_animated_vendor(item, table[name][0]):
            carried.table_property(item, *table[name], stage_units)
        elif not is_by_blender(name):
            carried.property(item)
        elif name == PHYSICS_BINDING and not any(held_class(one, type_name, names) for one in names):
            # Children inherit the binding, so keep it; on physics prims the model already has it.
            if BINDING_API in names:
                usd_write.apply_schemas(carried.spec, [BINDING_API])
            carried.property(item)
    return carried.text()


def is_plain(opinions: Opinions) -> bool:
    """True if nothing is to be carried. A fast test for the usual case, a prim with opinions in one layer only."""
    if opinions.spec is None:
        return False
    rows = _held_properties(opinions.kind)
    return rows is not None and PRIM_FIELDS.issuperset(opinions.fields) and _are_held(opinions, rows)


def _are_held(opinions: Opinions, rows: Iterable[tuple[str, Attribute]]) -> bool:
    """True if the model can hold all opinions about these properties. opinions: of a prim with one spec."""
    for name, attribute in rows:
        if attribute.is_relationship:
            item = opinions.item(name)
            if not isinstance(item, Sdf.RelationshipSpec) or not PROPERTY_FIELDS.issuperset(item.ListInfoKeys()):
                return False
        else:
            if not (kind := opinions.plain_type(name)) or not is_stored_as(kind, attribute.type):
                return False
            # Value clips can add time samples that are not in this layer.
            if not opinions.is_still and opinions.usd_prim.GetAttribute(name).GetNumTimeSamples():
                return False
            if attribute.tokens and opinions.value(name) not in attribute.tokens:
                return False
    return True


def _plain_text(opinions: Opinions) -> str:
    """What `capture` returns for a prim with plain attributes in one layer, many times faster; else an empty text."""
    if opinions.spec is None or not opinions.is_still or not PRIM_FIELDS.issuperset(opinions.fields):
        return ""
    rows, others = _divided_properties(opinions.kind)
    if not others or not _are_held(opinions, rows):
        return ""
    return _text_of(opinions, others)


def _text_of(opinions: Opinions, names: Iterable[str]) -> str:
    """USDA text of attributes of a prim; empty if one is not plain, or has a type that needs more than its text."""
    text = ""
    for name in names:
        if opinions.plain_type(name) in ("", "asset", "asset[]"):
            return ""
        text += f"    {opinions.item(name).GetAsText()}"  # type: ignore[union-attr]
    return layer_of(text)


def layer_of(attributes: str) -> str:
    """USDA text of a layer with the text of attributes of a prim."""
    return f'#usda 1.0\n\nover "prim"\n{{\n{attributes}}}\n'


@lru_cache(maxsize=4096)
def _divided_properties(kind: PrimKind) -> tuple[tuple[tuple[str, Attribute], ...], tuple[str, ...]]:
    """((name, attribute) of properties that the model holds, names to be carried); the latter empty for schemas."""
    table = table_properties(kind.type_name, kind.schemas)
    rows = tuple((name, table[name][0]) for name in kind.names if name in table)
    if _carried_schemas(kind.type_name, kind.schemas):
        return rows, ()
    is_by_blender = _writes_of_blender(kind.type_name, _COLLISION in kind.schemas)
    return rows, tuple(
        name for name in kind.names if name not in table and (name == PHYSICS_BINDING or not is_by_blender(name))
    )


# --------------------------------------------------------------------------- shapes and bindings


def capture_shape(opinions: Opinions) -> str:
    """Size and colours of a gprim, or the values of a light or camera, as USDA text; empty if all are fallbacks.

    Restored if nobody has edited the mesh, light or camera that Blender has instead.
    """
    names = _shape_names(opinions.kind)
    if not names:
        return ""
    is_light = any(name.startswith("inputs:") for name in names)
    if opinions.spec is not None and opinions.is_still and not is_light and (text := _text_of(opinions, names)):
        return text
    carrier = Carrier("prim", folder(opinions.usd_prim.GetStage().GetRootLayer()))
    if is_light:
        applied = [name for name in opinions.schemas if name in _LIGHT_SCHEMAS]
        usd_write.apply_schemas(carrier.spec, applied)
    for item in usd_opinions.authored_properties(opinions.usd_prim):
        if item.GetName() in names:
            carrier.property(item)
    return carrier.text()


@lru_cache(maxsize=4096)
def _shape_names(kind: PrimKind) -> tuple[str, ...]:
    """Names of the authored properties that make the shape of a prim, if Blender does not hold them."""
    if kind.is_points:
        return tuple(name for name in kind.names if name == "ids")
    if kind.type_name not in SHAPED_TYPES:
        return ()
    declared = _builtin_properties(kind.type_name) - _builtin_properties("Xform")
    prefixes = (*_COLORS, "inputs:")
    return tuple(name for name in kind.names if name in declared or name.startswith(prefixes))


#: A prim has a binding of its own that Blender writes, too.
OWN_BINDING = "own"


def capture_binding(opinions: Opinions) -> str:
    """The material bindings of a prim as USDA text; empty if it has none.

    OWN_BINDING for the usual binding of geometry, which Blender writes. Without the binding for physics where that is
    as the model writes it: with the schema applied, and without metadata.
    """
    names = _binding_names(opinions.kind)
    is_applied = BINDING_API in opinions.schemas
    if PHYSICS_BINDING in opinions.kind.names and not (is_applied and _is_usual_binding(opinions, PHYSICS_BINDING)):
        names = (*names, PHYSICS_BINDING)
    if not names and not is_applied:
        return ""
    is_drawn_with_one = is_applied and names == (_BINDING,) and is_drawn(opinions.type_name)
    if is_drawn_with_one and _is_usual_binding(opinions, _BINDING):
        return OWN_BINDING
    carrier = Carrier("prim", "")
    if is_applied:
        usd_write.apply_schemas(carrier.spec, [BINDING_API])
    for item in usd_opinions.authored_properties(opinions.usd_prim):
        if item.GetName() in names:
            carrier.property(item)
    return carrier.text()


def _is_usual_binding(opinions: Opinions, name: str) -> bool:
    """True for a relationship in one layer without metadata."""
    item = opinions.item(name)
    return isinstance(item, Sdf.RelationshipSpec) and PROPERTY_FIELDS.issuperset(item.ListInfoKeys())


@lru_cache(maxsize=4096)
def _binding_names(kind: PrimKind) -> tuple[str, ...]:
    return tuple(name for name in kind.names if name.startswith(_BINDING) and name != PHYSICS_BINDING)


@cache
def is_drawn(type_name: str) -> bool:
    """True for types of geometry, which can have materials in Blender."""
    return usd_opinions.is_a(type_name, UsdGeom.Gprim)


@lru_cache(maxsize=4096)
def _held_properties(kind: PrimKind) -> tuple[tuple[str, Attribute], ...] | None:
    """(name, attribute) of the properties that the model holds; None if other properties or schemas must be carried."""
    if _carried_schemas(kind.type_name, kind.schemas):
        return None
    rows, others = _divided_properties(kind)
    return None if others else rows


def _carried_schemas(type_name: str, names: Iterable[str]) -> list[str]:
    """The API schemas of a prim that neither the model holds nor Blender writes."""
    is_group = type_name == usd_physics.CollisionGroup.usd_name
    applied = tuple(names)
    return [
        name
        for name in applied
        if held_class(name, type_name, applied) is None
        and name not in _BLENDER_SCHEMAS
        and not (is_group and name == "CollectionAPI:colliders")
    ]


@cache
def _builtin_properties(type_name: str) -> frozenset[str]:
    """Declared property names of a type if it is in a library that Blender exports; else empty."""
    definition = Usd.SchemaRegistry().FindConcretePrimDefinition(type_name)
    if _library(type_name) not in _BLENDER_LIBRARIES or definition is None:
        return frozenset()
    return frozenset(definition.GetPropertyNames()) - _NOT_BLENDERS


@cache
def _library(type_name: str) -> str:
    """Name of the USD plugin that declares a type; empty for an unknown type."""
    kind = Usd.SchemaRegistry.GetTypeFromSchemaTypeName(type_name)
    plugin = Plug.Registry().GetPluginForType(kind) if kind else None
    return plugin.name if plugin else ""


@cache
def _writes_of_blender(type_name: str, is_collider: bool) -> Callable[[str], bool]:
    """A predicate: do Blender or the model write the property with a name on prims of this type?"""
    declared = _builtin_properties(type_name)
    if not is_collider:
        declared -= {"purpose"}
    prefixes: tuple[str, ...] = _BLENDER_PREFIXES
    kind = Usd.SchemaRegistry.GetTypeFromSchemaTypeName(type_name)
    is_shading = kind and (kind.IsA(UsdShade.NodeGraph) or kind.IsA(UsdShade.Shader))
    if is_shading or "inputs:intensity" in declared:
        prefixes = (*prefixes, "inputs:", "outputs:", "info:")
    return lambda name: name in declared or name in _BLENDER_PROPERTIES or name.startswith(prefixes)


class Carrier:
    """Collects opinions of composed prims in an anonymous layer, which is created on demand."""

    def __init__(self, name: str, folder: str) -> None:
        self.folder = folder
        self.notes: dict[str, Any] = {}
        self.layer: Sdf.Layer | None = None
        self.path = Sdf.Path(f"/{name}")
        self._spec: Sdf.PrimSpec | None = None
        self._table: list[str] = []
        self._mistyped: list[str] = []

    @property
    def spec(self) -> Sdf.PrimSpec:
        if self._spec is None:
            self.layer = self.layer or Sdf.Layer.CreateAnonymous(".usda")
            self._spec = Sdf.CreatePrimInLayer(self.layer, self.path)
        return self._spec

    def at(self, path: Sdf.Path) -> Sdf.PrimSpec:
        """Create and return the spec of another prim; later calls add to it."""
        self.path, self._spec = path, None
        return self.spec

    def text(self) -> str:
        if self.layer is None:
            return ""
        if self._table:
            self.notes["table"] = Vt.StringArray(self._table)
        if self._mistyped:
            self.notes["mistyped"] = Vt.StringArray(self._mistyped)
        if self.notes:
            data = dict(self.layer.customLayerData)
            self.layer.customLayerData = {**data, NOTES_KEY: self.notes}
        text = str(self.layer.ExportToString())
        return text if _can_be_read(text) else ""

    def schemas(self, usd_prim: Usd.Prim, names: Sequence[str]) -> None:
        listed = _carried_schemas(str(usd_prim.GetTypeName()), names)
        if listed:
            usd_write.apply_schemas(self.spec, listed)
            if len(names) > len(listed):
                self.notes["schemas"] = Vt.StringArray(list(dict.fromkeys(names)))

    def metadata(self, usd_prim: Usd.Prim) -> None:
        fields = usd_prim.GetAllAuthoredMetadata()
        wanted = {key: value for key, value in fields.items() if key not in PRIM_FIELDS}
        if wanted:
            self.fields(self.spec, wanted, usd_prim.GetPrimStack)

    def property_metadata(self, spec: Sdf.PropertySpec, item: Usd.Property) -> None:
        self.fields(spec, _own_fields(item), item.GetPropertyStack)

    def fields(self, spec: Sdf.Spec, fields: dict[str, Any], stack: Callable[[], list[Sdf.Spec]]) -> None:
        """Set metadata. Unregistered keys can only be copied from the specs that have them."""
        for key, value in fields.items():
            if not isinstance(value, Sdf.UnregisteredValue):
                try:
                    spec.SetInfo(key, self.portable(value))
                    continue
                except Tf.ErrorException:
                    pass
            for source in reversed(stack()):
                copy_fields(source, spec, lambda name, _there, key=key: name == key)  # type: ignore[misc]

    def property(self, item: Usd.Property) -> None:
        """Carry a whole property."""
        if isinstance(item, Usd.Relationship):
            variability = item.GetMetadata("variability")
            relationship = Sdf.RelationshipSpec(self.spec, item.GetName(), item.IsCustom(), variability)
            if item.HasAuthoredTargets():
                set_paths(relationship.targetPathList, item.GetTargets())
            self.property_metadata(relationship, item)
        else:
            self.attribute(item, self.portable)

    def attribute(self, item: Usd.Attribute, convert: Convert) -> None:
        """Carry a whole attribute, with the first of the types declared by its specs that accepts its values."""
        types = dict.fromkeys(spec.typeName for spec in item.GetPropertyStack() if isinstance(spec, Sdf.AttributeSpec))
        for type_name in types:
            if self.attribute_of(item, type_name, convert):
                return

    def attribute_of(self, item: Usd.Attribute, type_name: Sdf.ValueTypeName, convert: Convert) -> bool:
        spec = None
        try:
            spec = Sdf.AttributeSpec(self.spec, item.GetName(), type_name, item.GetVariability(), item.IsCustom())
            self.default(spec, item, convert)
            self.animation(spec, item, convert)
        except Tf.ErrorException:
            if spec is not None:
                self.spec.RemoveProperty(spec)
            return False
        self.property_metadata(spec, item)
        return True

    def default(self, spec: Sdf.AttributeSpec, item: Usd.Attribute, convert: Convert) -> None:
        info = item.GetResolveInfo(Usd.TimeCode.Default())
        if info.ValueIsBlocked():
            spec.default = Sdf.ValueBlock()
        elif info.GetSource() == Usd.ResolveInfoSourceDefault:
            spec.default = convert(item.Get())

    def animation(self, spec: Sdf.AttributeSpec, item: Usd.Attribute, convert: Convert) -> None:
        for time in item.GetTimeSamples():
            value = item.Get(time)
            spec.layer.SetTimeSample(spec.path, time, Sdf.ValueBlock() if value is None else convert(value))
        if item.HasSpline() and hasattr(spec, "SetSpline"):
            spec.SetSpline(item.GetSpline())
        if item.HasAuthoredConnections():
            set_paths(spec.connectionPathList, item.GetConnections())

    def table_property(self, item: Usd.Property, attribute: Attribute, instance: str, units: StageUnits) -> None:
        """Carry the opinions that the model cannot hold about a property that it holds."""
        if isinstance(item, Usd.Attribute):
            info = item.GetResolveInfo(Usd.TimeCode.Default())
            is_default = info.GetSource() == Usd.ResolveInfoSourceDefault
            is_animated = item.GetNumTimeSamples() > 0 or item.HasSpline() or item.HasAuthoredConnections()
            if info.ValueIsBlocked() or ((is_default or is_animated) and not _is_readable(item, attribute)):
                self._table.append(item.GetName())
                self.attribute(item, self.portable)
                return
            is_alone = not item.HasSpline() and not item.HasAuthoredConnections()
            if is_animated and not (is_alone and varies(item, attribute)):
                self._table.append(item.GetName())
                self.table_animation(item, attribute, instance, units)
                return
            # Whole numbers hold no fractions, which other units can need.
            if is_default and is_mistyped(kind := type_in_file(item), attribute) and not isinstance(item.Get(), int):
                self.mistyped(item, kind, attribute, instance, units)
                return
        if _own_fields(item):
            self._table.append(item.GetName())
            self.property_metadata(self.bare(item, attribute), item)

    def table_animation(self, item: Usd.Attribute, attribute: Attribute, instance: str, units: StageUnits) -> None:
        spec = self.bare(item, attribute)
        self.animation(spec, item, _in_si(item, attribute, instance, units))
        self.property_metadata(spec, item)

    def mistyped(self, item: Usd.Attribute, kind: str, attribute: Attribute, instance: str, units: StageUnits) -> None:
        """Carry the type that a table property has in the file, with the value, which the model holds."""
        spec = Sdf.AttributeSpec(self.spec, item.GetName(), Sdf.ValueTypeNames.Find(kind), item.GetVariability())
        spec.default = _in_si(item, attribute, instance, units)(item.Get())
        self.property_metadata(spec, item)
        self._mistyped.append(item.GetName())

    def bare(self, item: Usd.Property, attribute: Attribute) -> Sdf.PropertySpec:
        """A spec of a table property without a value."""
        if attribute.is_relationship:
            return Sdf.RelationshipSpec(self.spec, item.GetName(), False)
        variability = Sdf.VariabilityUniform if attribute.uniform else Sdf.VariabilityVarying
        return Sdf.AttributeSpec(self.spec, item.GetName(), Sdf.ValueTypeNames.Find(attribute.type), variability)

    def portable(self, value: Any) -> Any:
        """A value with relative asset paths anchored to the folder of the stage."""
        return with_assets(value, self.asset)

    def asset(self, asset: Sdf.AssetPath) -> Sdf.AssetPath:
        if not self.folder or not asset.resolvedPath or not _is_relative(asset.path):
            return Sdf.AssetPath(asset.path)
        self.notes["folder"] = self.folder
        return Sdf.AssetPath(relative_path(asset.resolvedPath, self.folder))


# --------------------------------------------------------------------------- whole prims


def capture_prims(stage: Usd.Stage, known: Collection[str], opinions: Collection[Opinions] = ()) -> str:
    """The prims that neither Blender nor the model imports, and the metadata of the root layer, as USDA text.

    known: paths of prims that Blender or the model imports. opinions: of all prims, to save a second traversal.
    Carried with all their opinions: prims of types that are unknown to USD, or known to USD but not to Blender
    (render settings, ...); lights without an object, such as dome lights; shaders outside of materials; untyped prims
    with opinions; inactive prims with all that is below them; `class` prims and dangling `over`s without geometry or
    shading; time code and frame rate, comment, documentation, customLayerData and other metadata of the layer.
    Not carried: other Imageable prims, which Blender imports; materials, see `looks`; types of the table; units,
    default prim and sublayers. All numbers stay in the units of the file. Each ancestor gets an `over`.
    """
    paths = known if isinstance(known, set | frozenset | dict) else frozenset(known)
    root = stage.GetRootLayer()
    carrier = Carrier("", folder(root))
    inactive: list[Sdf.Path] = []
    carried: list[str] = []
    everything = Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate)
    prims = iter(Usd.PrimRange(stage.GetPseudoRoot(), everything))
    if len(opinions) == sum(1 for _ in Usd.PrimRange(stage.GetPseudoRoot(), everything)):
        # All prims are active and defined, so their opinions are all prims: use their cached paths.
        prims = iter([one.usd_prim for one in opinions if one.path not in paths])
    for usd_prim in prims:
        if usd_prim.IsPseudoRoot() or str(usd_prim.GetPath()) in paths:
            continue
        if not usd_prim.IsActive():
            inactive.append(usd_prim.GetPath())
        elif not usd_prim.IsDefined() or usd_prim.IsAbstract():
            prims.PruneChildren()
            below = list(prims_below(usd_prim))
            if any(map(_holds_something, below)) and not any(map(_is_geometry, below)):
                carried += [carry_whole(carrier, one) for one in below]
        elif _is_to_be_carried(usd_prim):
            carried.append(carry_whole(carrier, usd_prim))
    carried += _carry_inactive(carrier, stage, inactive)
    note_ancestors(carrier, stage, carried)
    _carry_layer(carrier, root)
    return carrier.text()


def capture_trees(stage: Usd.Stage, paths: Iterable[str]) -> str:
    """Subtrees with all opinions, including physics and geometry, as USDA text.

    For prims that Blender converts into something else, such as point instancers. Numbers stay in units of the file.
    """
    carrier = Carrier("", folder(stage.GetRootLayer()))
    carried = [carry_whole(carrier, one) for path in paths for one in prims_below(stage.GetPrimAtPath(path))]
    carrier.notes["prims"] = Vt.StringArray(carried)
    return carrier.text()


def _is_to_be_carried(usd_prim: Usd.Prim) -> bool:
    type_name = str(usd_prim.GetTypeName())
    if not type_name:
        return _holds_something(usd_prim)
    if usd_prim.IsA(UsdShade.NodeGraph) or usd_prim.IsA(UsdShade.Shader):
        return not any(map(_is_material, _above(usd_prim)))
    library = _library(type_name)
    if library == "usdLux":
        return True
    if not library.startswith("usd"):
        return type_name not in schema.SCHEMAS or is_vendor(schema.SCHEMAS[type_name])
    return library not in _BLENDER_LIBRARIES and not usd_prim.IsA(UsdGeom.Imageable)


def _is_material(usd_prim: Usd.Prim) -> bool:
    return bool(usd_prim.IsA(UsdShade.Material))


def _above(usd_prim: Usd.Prim) -> Iterator[Usd.Prim]:
    """A prim and all above it."""
    while usd_prim and not usd_prim.IsPseudoRoot():
        yield usd_prim
        usd_prim = usd_prim.GetParent()


def _holds_something(usd_prim: Usd.Prim) -> bool:
    if usd_prim.GetAuthoredPropertyNames() or usd_opinions.applied_schemas(usd_prim):
        return True
    return bool(usd_prim.GetTypeName()) or bool(usd_prim.GetAllAuthoredMetadata().keys() - PRIM_FIELDS)


def _is_geometry(usd_prim: Usd.Prim) -> bool:
    kinds = (UsdGeom.Gprim, UsdGeom.PointInstancer, UsdGeom.Subset, UsdShade.NodeGraph, UsdShade.Shader)
    return any(map(usd_prim.IsA, kinds))


def prims_below(usd_prim: Usd.Prim) -> Iterator[Usd.Prim]:
    yield from Usd.PrimRange(usd_prim, Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate))


def carry_whole(carrier: Carrier, usd_prim: Usd.Prim) -> str:
    """A prim with all its opinions, without its children."""
    spec = carrier.at(usd_prim.GetPath())
    spec.specifier = usd_prim.GetSpecifier()
    set_type(spec, usd_prim.GetTypeName())
    usd_write.apply_schemas(spec, dict.fromkeys(usd_opinions.applied_schemas(usd_prim)))
    carrier.metadata(usd_prim)
    for item in usd_opinions.authored_properties(usd_prim):
        carrier.property(item)
    return str(usd_prim.GetPath())


def _carry_inactive(carrier: Carrier, stage: Usd.Stage, paths: list[Sdf.Path]) -> list[str]:
    """Carry inactive prims and their descendants, read from a second stage on which they are active."""
    if not paths:
        return []
    session = Sdf.Layer.CreateAnonymous(".usda")
    session.TransferContent(stage.GetSessionLayer() or session)
    activated = Usd.Stage.Open(stage.GetRootLayer(), session, stage.GetPathResolverContext())
    activated.SetEditTarget(session)
    inactive, carried = [], []
    pending = list(paths)
    while pending:
        path = pending.pop()
        for prefix in path.GetPrefixes():
            if (above := activated.GetPrimAtPath(prefix)).IsInstance():
                above.SetInstanceable(False)
        activated.OverridePrim(path).SetActive(True)
        inactive.append(path)
        pending += [one.GetPath() for one in prims_below(activated.GetPrimAtPath(path)) if not one.IsActive()]
    for path in paths:
        carried += [carry_whole(carrier, one) for one in prims_below(activated.GetPrimAtPath(path))]
    for path in inactive:
        carrier.at(path).active = False
    return carried


def note_ancestors(carrier: Carrier, stage: Usd.Stage, carried: list[str]) -> None:
    """Record the types of ancestors that are not carried, in case `restore_prims` must create them."""
    if not carried:
        return
    own = set(carried)
    above = {prefix for path in carried for prefix in Sdf.Path(path).GetPrefixes()}
    for prefix in above:
        if str(prefix) not in own:
            set_type(carrier.at(prefix), stage.GetPrimAtPath(prefix).GetTypeName())
    carrier.notes["prims"] = Vt.StringArray(carried)


def _carry_layer(carrier: Carrier, root: Sdf.Layer) -> None:
    text = carrier.layer or Sdf.Layer.CreateAnonymous(".usda")
    paths: list[str] = []

    def wanted(name: str, is_there: bool) -> bool:
        # USD writes NaN and infinity as frame rate, but cannot parse them.
        is_broken = name == "framesPerSecond" and not math.isfinite(root.framesPerSecond)
        if name in LAYER_FIELDS or is_broken:
            return False
        paths.append(name)
        return True

    copy_fields(root.pseudoRoot, text.pseudoRoot, wanted)
    data = root.customLayerData
    if data:
        text.customLayerData = {"layer": data}
    if paths or data:
        carrier.layer = text


# --------------------------------------------------------------------------- values, paths and fields


def _can_be_read(text: str) -> bool:
    """False if USD cannot parse its own output, for example values that do not have the type of their attribute."""
    try:
        parsed(text)
    except InputError:
        return False
    return True


def _is_relative(path: str) -> bool:
    return bool(path) and ":" not in path and not path.startswith(("/", "\\", "`"))


def _is_readable(item: Usd.Attribute, attribute: Attribute) -> bool:
    """Whether the model can hold the values: False for an incompatible type, and for a token that the table lacks."""
    stack = [spec for spec in item.GetPropertyStack() if isinstance(spec, Sdf.AttributeSpec)]
    if stack and not alike(str(stack[0].typeName), attribute.type):
        return False
    return not attribute.tokens or item.Get() in (None, *attribute.tokens)


def _is_animated_vendor(item: Usd.Property, attribute: Attribute) -> bool:
    """True for animation of a vendor that becomes no F-curve: it stays in the units of the file, because what its
    numbers mean can depend on others."""
    if not isinstance(attribute, VendorAttribute) or not isinstance(item, Usd.Attribute):
        return False
    is_alone = not item.HasSpline() and not item.HasAuthoredConnections()
    is_animated = item.GetNumTimeSamples() > 0 or item.HasSpline()
    return is_animated and not (is_alone and varies(item, attribute) and _is_readable(item, attribute))


def _in_si(item: Usd.Attribute, attribute: Attribute, instance: str, units: StageUnits) -> Convert:
    """Converts values of a table property to SI."""
    drive = item.GetPrim().GetAttribute(f"drive:{instance}:physics:type")
    drive_type = str(drive.Get()) if drive else None
    factor = units.factor(attribute.dimension_for(instance, drive_type), local=attribute.space == "local")
    turn = units.to_z_up if attribute.space == "world" else None
    return lambda raw: converted(attribute, raw, factor, turn)


def _own_fields(item: Usd.Property) -> dict[str, Any]:
    return {key: value for key, value in item.GetAllAuthoredMetadata().items() if key not in PROPERTY_FIELDS}
