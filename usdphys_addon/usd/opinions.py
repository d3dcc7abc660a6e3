# SPDX-License-Identifier: GPL-3.0-or-later
"""Cached access to the authored opinions of prims, shared by all readers of a stage.

Most prims have opinions in one layer only. These are read from the Sdf spec, many times faster than through Usd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from pxr import Sdf, Tf, Usd, UsdGeom, UsdShade, Vt

from ..core.errors import InputError
from ..core.schema import Attribute
from ..core.vendor_schemas import may_be_keyed
from .files import layers
from .specs import property_names

#: Types of transform operations whose USDA text can be copied verbatim.
_PLAIN_OPERATIONS = frozenset({"double3", "float3", "double", "float", "matrix4d", "quatd", "quatf"})
_XFORM_OP_ORDER = "xformOpOrder"
#: The schema of all bindings of materials, the relationship to a material, and the one to a physics material.
BINDING_API = "MaterialBindingAPI"
BINDING = "material:binding"
PHYSICS_BINDING = "material:binding:physics"
#: Characters of a transform with time samples that are kept in a .blend.
_LONGEST_TRANSFORM = 1_000_000

#: Unbound methods: attribute lookup on a Usd.Prim first checks that the prim is valid, which takes twice as long as the
#: call itself.
_get_path = Usd.Prim.GetPath
_get_type_name = Usd.Prim.GetTypeName
_get_prim_stack = Usd.Prim.GetPrimStack
_get_type_info = Usd.Prim.GetPrimTypeInfo
_has_metadata = Usd.Prim.HasAuthoredMetadata


class PrimKind:
    """Facts shared by all prims with the same type, API schemas and property names.

    operations: names of the transform properties. is_node: shader or node graph, but not a material.
    Kinds are interned, so results can be cached per kind.
    """

    __slots__ = (
        "is_material", "is_mesh", "is_node", "is_points", "is_subset", "is_xformable", "names", "operations", "schemas",
        "type_name",
    )  # fmt: skip

    def __init__(self, type_name: str, schemas: tuple[str, ...], names: tuple[str, ...]) -> None:
        self.type_name = type_name
        self.schemas = schemas
        self.names = names
        self.operations = tuple(name for name in names if name.startswith("xformOp"))
        self.is_mesh = is_a(type_name, UsdGeom.Mesh)
        self.is_points = is_a(type_name, UsdGeom.Points)
        self.is_subset = is_a(type_name, UsdGeom.Subset)
        self.is_xformable = is_a(type_name, UsdGeom.Xformable)
        self.is_material = is_a(type_name, UsdShade.Material)
        is_graph = is_a(type_name, UsdShade.NodeGraph) and not self.is_material
        self.is_node = is_graph or is_a(type_name, UsdShade.Shader)


_kind_of = lru_cache(maxsize=4096)(PrimKind)


class Opinions:
    """The opinions about one prim.

    spec: the only spec, None if there are several. fields: metadata names of that spec, empty without one. is_still:
    no value changes over time, except by splines. names: properties with opinions. operations: of the transform, if
    they are default values in one layer and nothing else; else None. schemas: names of API schemas.
    """

    __slots__ = (
        "_items", "_properties", "fields", "is_still", "kind", "names", "operations", "path", "schemas", "spec",
        "type_name", "usd_prim",
    )  # fmt: skip
    fields: frozenset[str]
    kind: PrimKind
    names: tuple[str, ...]
    operations: Operations | None
    path: str
    schemas: tuple[str, ...]
    spec: Sdf.PrimSpec | None
    type_name: str
    usd_prim: Usd.Prim

    def __init__(self, usd_prim: Usd.Prim, *, is_still: bool = False) -> None:
        self.usd_prim = usd_prim
        self.is_still = is_still
        self.type_name = _get_type_name(usd_prim)
        self._items: dict[str, Sdf.PropertySpec | None] | None = None
        self._properties: Any = None

    def __getattr__(self, name: str) -> Any:
        """Compute a lazy attribute on first access and store it."""
        find = _LAZY_ATTRIBUTES.get(name)
        if find is None:
            raise AttributeError(name)
        value = find(self)
        setattr(self, name, value)
        return value

    def forget(self) -> None:
        """Clear the cached property specs to free memory."""
        self._items = self._properties = None

    def item(self, name: str) -> Sdf.PropertySpec | None:
        """The property spec with a name in the only spec, or None."""
        if self._items is None:
            if self.spec is None:
                return None
            self._items, self._properties = {}, self.spec.properties
        elif name in self._items:
            return self._items[name]
        spec = self._items[name] = self._properties.get(name)
        return spec

    def plain_type(self, name: str) -> str:
        """Type of an attribute with a default value and no other opinions, in one layer; empty for any other."""
        if self.spec is None or not isinstance(item := self.item(name), Sdf.AttributeSpec):
            return ""
        # One call returns all fields of the property.
        line = item.GetAsText()
        head, _, value = line.partition(" = ")
        return _plain_type(head) if _is_plain(line, value) else ""

    def value(self, name: str) -> Any:
        """Default value of an attribute, or its earliest time sample; None without one or for a type that USD lacks."""
        if self.is_still and isinstance(item := self.item(name), Sdf.AttributeSpec):
            value = item.default
            if isinstance(value, Sdf.UnregisteredValue):
                return None
            if value is not None and not isinstance(value, Sdf.ValueBlock):
                return value
        attribute = self.usd_prim.GetAttribute(name)
        if not attribute or not attribute.HasAuthoredValue():
            return None
        # With time samples only, the default time would give the schema's fallback.
        source = attribute.GetResolveInfo(Usd.TimeCode.Default()).GetSource()
        is_animated = attribute.GetNumTimeSamples() > 0 and source != Usd.ResolveInfoSourceDefault
        raw = attribute.Get(Usd.TimeCode.EarliestTime() if is_animated else Usd.TimeCode.Default())
        return None if isinstance(raw, Sdf.UnregisteredValue) else raw

    def resets_xform_stack(self) -> bool:
        """True if the prim resets the transform stack."""
        if self.operations is not None:
            return _resets(self.operations.signature)
        return bool(UsdGeom.Xformable(self.usd_prim).GetResetXformStack())

    def is_animated(self) -> bool:
        """True if the transform may change over time; False if its operations are invalid."""
        if self.is_still and self.operations is not None:
            return False
        try:
            return bool(UsdGeom.Xformable(self.usd_prim).TransformMightBeTimeVarying())
        except Tf.ErrorException:
            return False


class Operations(NamedTuple):
    """text: USDA lines of the transform operations. signature: their types and names, and the xformOpOrder."""

    text: str
    signature: tuple[str, ...]


def of_prims(stage: Usd.Stage, prims: Iterable[Usd.Prim]) -> Iterator[Opinions]:
    """The opinions of prims of a stage. prims: parents before children. Raises InputError for clips that never end."""
    is_still = not any(layer.ListAllTimeSamples() for layer in stage.GetUsedLayers())
    for usd_prim in prims:
        opinions = Opinions(usd_prim, is_still=is_still)
        if _has_metadata(usd_prim, "clips"):
            layers.check_clips(usd_prim)
            is_still = opinions.is_still = False
        yield opinions


def of_stage(stage: Usd.Stage) -> Iterator[Opinions]:
    """The opinions of all prims of a stage, including instance proxies."""
    proxies = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
    return of_prims(stage, Usd.PrimRange(stage.GetPseudoRoot(), proxies))


def varies(usd_attribute: Usd.Attribute, attribute: Attribute) -> bool:
    """True for a value with time samples that differ, which Blender holds as F-curves: of UsdPhysics, and many of
    vendors."""
    if attribute.uniform or not ("physics:" in attribute.usd or may_be_keyed(attribute)):
        return False
    if usd_attribute.GetNumTimeSamples() < 2:
        return False
    first, *others = (usd_attribute.Get(time) for time in usd_attribute.GetTimeSamples())
    return any(value != first for value in others)


@cache
def is_a(type_name: str, schema: type) -> bool:
    """True if a prim type derives from a typed schema. Cached, because Usd.Prim.IsA is many times slower."""
    return bool(Usd.SchemaRegistry.GetTypeFromSchemaTypeName(type_name).IsA(schema))


def applied_schemas(usd_prim: Usd.Prim) -> list[str]:
    """Names of the API schemas of a prim, including unregistered ones."""
    return list(_get_type_info(usd_prim).GetAppliedAPISchemas())


def _find_path(opinions: Opinions) -> str:
    return str(_get_path(opinions.usd_prim).pathString)


def _find_spec(opinions: Opinions) -> Sdf.PrimSpec | None:
    stack = _get_prim_stack(opinions.usd_prim)
    return stack[0] if len(stack) == 1 else None


def _find_schemas(opinions: Opinions) -> tuple[str, ...]:
    return tuple(_get_type_info(opinions.usd_prim).GetAppliedAPISchemas())


def _find_names(opinions: Opinions) -> tuple[str, ...]:
    if opinions.spec is not None:
        try:
            return tuple(sorted(opinions.spec.GetInfo("properties")))
        except TypeError as error:  # the bytes of a damaged crate file, read as something else
            raise InputError(
                f"'{opinions.spec.layer.GetDisplayName()}' is damaged at '{opinions.path[:80]}'."
            ) from error
    return tuple(opinions.usd_prim.GetAuthoredPropertyNames())


def _find_fields(opinions: Opinions) -> frozenset[str]:
    return _set_of(tuple(opinions.spec.ListInfoKeys())) if opinions.spec is not None else frozenset()


@lru_cache(maxsize=4096)
def _set_of(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(names)


def _find_kind(opinions: Opinions) -> PrimKind:
    kind = _kind_of(opinions.type_name, opinions.schemas, opinions.names)
    # Share the interned tuples to save memory.
    opinions.schemas, opinions.names = kind.schemas, kind.names
    return kind


def authored_properties(usd_prim: Usd.Prim) -> list[Usd.Property]:
    """Properties with opinions, except those that are an attribute in one layer and a relationship in another."""
    try:
        return list(usd_prim.GetAuthoredProperties())
    except Tf.ErrorException:
        pass
    properties = []
    for name in usd_prim.GetAuthoredPropertyNames():
        path = usd_prim.GetPath().AppendProperty(name)
        specs = [spec.layer.GetObjectAtPath(spec.path.AppendProperty(name)) for spec in usd_prim.GetPrimStack()]
        if len({type(spec) for spec in specs if spec}) == 1 and usd_prim.GetStage().GetPropertyAtPath(path):
            properties.append(usd_prim.GetProperty(name))
    return properties


# --------------------------------------------------------------------------- transform operations

#: Whether the operations with a signature are valid.
_soundness: dict[tuple[str, ...], bool] = {}


def transform_layer(operations: str) -> str:
    """USDA text of a layer with the text of transform operations."""
    return f'#usda 1.0\n\ndef Xform "Prim"\n{{\n{operations}}}\n'


def operations_in(text: str) -> str | None:
    """The text of transform operations in that of their layer; None for what `transform_layer` has not written."""
    before, _, after = transform_layer("\0").partition("\0")
    is_plain = text.startswith(before) and text.endswith(after) and len(text) >= len(before) + len(after)
    return text[len(before) : len(text) - len(after)] if is_plain else None


def has_operations(spec: Sdf.PrimSpec, text: str) -> bool:
    """True if the text of the transform properties of a spec is this one, see `operations_in`."""
    layer, path, start = spec.layer, spec.path, 0
    for name in sorted(name for name in property_names(spec) if name.startswith("xformOp")):
        line = f"    {layer.GetPropertyAtPath(path.AppendProperty(name)).GetAsText()}"
        if not text.startswith(line, start):
            return False
        start += len(line)
    return start == len(text)


def transform_text(opinions: Opinions) -> str:
    """The transform operations of a prim as USDA text, with time samples; empty if they are invalid.

    Also of prims without a type, which have no transform, whatever operations they list.
    """
    if not opinions.kind.is_xformable:
        return _text_of_operations(opinions) if not opinions.type_name else ""
    plain = opinions.operations
    if plain is not None and not (plain.text and opinions.is_animated()):
        # Names and types decide whether operations are valid: cached by signature.
        signature = plain.signature
        if signature not in _soundness:
            _soundness[signature] = not signature or _has_sound_transform(UsdGeom.Xformable(opinions.usd_prim))
        return transform_layer(plain.text) if _soundness[signature] else ""
    if not _has_sound_transform(UsdGeom.Xformable(opinions.usd_prim)):
        return ""
    return _text_of_operations(opinions)


def _text_of_operations(opinions: Opinions) -> str:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    stage = Usd.Stage.Open(layer)
    copy = stage.DefinePrim("/Prim", "Xform")
    for attribute in authored_properties(opinions.usd_prim):
        if isinstance(attribute, Usd.Attribute) and attribute.GetName().startswith("xformOp"):
            # Blocked values and strings are not transforms, and USD could not parse their text.
            value = attribute.Get(Usd.TimeCode.EarliestTime())
            if value is None or isinstance(value, str):
                return ""
            try:
                attribute.FlattenTo(copy)
            except Tf.ErrorException:  # a value that does not have the type of its attribute
                return ""
    text: str = layer.ExportToString()
    return text if len(text) <= _LONGEST_TRANSFORM else ""


def _find_operations(opinions: Opinions) -> Operations | None:
    if opinions.spec is None:
        return None
    text, signature = "", []
    for name in opinions.kind.operations:
        item = opinions.item(name)
        if not isinstance(item, Sdf.AttributeSpec):
            return None
        line = item.GetAsText()
        head, _, value = line.partition(" = ")
        if not _is_plain(line, value):
            return None
        if name == _XFORM_OP_ORDER and head == "uniform token[] xformOpOrder":
            head = value
        elif _plain_type(head) not in _PLAIN_OPERATIONS or name == _XFORM_OP_ORDER:
            return None
        text += f"    {line}"
        signature.append(head)
    return Operations(text, tuple(signature))


def _is_plain(line: str, value: str) -> bool:
    """True for the USDA text of an attribute with a value and no metadata. value: text after the first " = "."""
    return line.find("\n") == len(line) - 1 and value not in ("", "None\n")


@lru_cache(maxsize=4096)
def _plain_type(head: str) -> str:
    """Type of an attribute from its USDA text before the " = "; empty if it is custom."""
    *qualifiers, type_name, _ = ["", "", *head.split(" ")]
    return type_name if qualifiers in (["", ""], ["", "", "uniform"]) else ""


@lru_cache(maxsize=4096)
def _resets(signature: tuple[str, ...]) -> bool:
    return any("!resetXformStack!" in part for part in signature)


#: Functions that compute lazily the attributes of `Opinions`.
_LAZY_ATTRIBUTES: dict[str, Callable[[Opinions], Any]] = {
    "fields": _find_fields, "kind": _find_kind, "names": _find_names, "operations": _find_operations,
    "path": _find_path, "schemas": _find_schemas, "spec": _find_spec,
}  # fmt: skip


def _has_sound_transform(xformable: UsdGeom.Xformable) -> bool:
    """False if an operation is missing, unknown or of a wrong type."""
    order = xformable.GetXformOpOrderAttr().Get()
    if not isinstance(order, Vt.TokenArray | None):
        return False
    names = (name.removeprefix("!invert!") for name in order or () if name != UsdGeom.XformOpTypes.resetXformStack)
    if not all(name and xformable.GetPrim().HasAttribute(name) for name in names):
        return False
    try:
        xformable.GetLocalTransformation()
    except Tf.ErrorException:
        return False
    return True
