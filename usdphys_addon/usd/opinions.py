# SPDX-License-Identifier: GPL-3.0-or-later
"""What the layers of a stage say of its prims, looked up once for all who read them.

Most prims have opinions in one layer only. These are read from the spec there, many times quicker than from the stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from pxr import Sdf, Tf, Usd, UsdGeom, UsdShade, Vt

#: Types of transform operations whose values Python writes as USD reads them.
_PLAIN_OPERATIONS = frozenset({"double3", "float3", "double", "float", "matrix4d", "quatd", "quatf"})
_ORDER = "xformOpOrder"

#: Methods of prims, called as functions: what looks up a method of a prim first asks whether the prim still is, which
#: takes twice as long as the answer.
_get_path = Usd.Prim.GetPath
_get_type_name = Usd.Prim.GetTypeName
_get_prim_stack = Usd.Prim.GetPrimStack
_get_type_info = Usd.Prim.GetPrimTypeInfo


class Kind:
    """What prims have in common that are of one type and have the same API schemas and properties.

    operations: names of the properties that are the transform. is_node: is a part of a material.
    A kind is there once: what follows from it is found out once.
    """

    __slots__ = (
        "is_mesh", "is_node", "is_points", "is_subset", "is_xformable", "names", "operations", "schemas", "type_name",
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
        is_graph = is_a(type_name, UsdShade.NodeGraph) and not is_a(type_name, UsdShade.Material)
        self.is_node = is_graph or is_a(type_name, UsdShade.Shader)


_kind_of = lru_cache(maxsize=4096)(Kind)


class Opinions:
    """The opinions about one prim.

    fields: names of the metadata in the only spec; empty where there are several. is_still: known that nothing about
    the prim changes in time, except by splines. names: of the properties with opinions. operations: of the transform
    where they are plain, which is nothing but values in one layer; None where they are not. schemas: names of API
    schemas. spec: the only one, None where there are several.
    """

    __slots__ = (
        "_items", "_properties", "fields", "is_still", "kind", "names", "operations", "path", "schemas", "spec",
        "type_name", "usd_prim",
    )  # fmt: skip
    fields: frozenset[str]
    kind: Kind
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
        self.path = _get_path(usd_prim).pathString
        self.type_name = _get_type_name(usd_prim)
        stack = _get_prim_stack(usd_prim)
        self.spec = stack[0] if len(stack) == 1 else None
        self._items: dict[str, Sdf.PropertySpec | None] | None = None
        self._properties: Any = None

    def __getattr__(self, name: str) -> Any:
        """What is found out when it is first asked for."""
        find = _FOUND_WHEN_ASKED.get(name)
        if find is None:
            raise AttributeError(name)
        found = find(self)
        setattr(self, name, found)
        return found

    def forget(self) -> None:
        """Let go of the properties; they are looked up again where they are asked for."""
        self._items = self._properties = None

    def item(self, name: str) -> Sdf.PropertySpec | None:
        """The property of a name in the only spec."""
        if self._items is None:
            if self.spec is None:
                return None
            self._items, self._properties = {}, self.spec.properties
        elif name in self._items:
            return self._items[name]
        found = self._items[name] = self._properties.get(name)
        return found

    def plain_type(self, name: str) -> str:
        """Type of an attribute that has a value and nothing else, in one layer; empty where that is not known."""
        if self.spec is None or not isinstance(item := self.item(name), Sdf.AttributeSpec):
            return ""
        # One question for all that there is of a property.
        line = item.GetAsText()
        head, _, value = line.partition(" = ")
        return _plain_type(head) if _is_plain(line, value) else ""

    def value(self, name: str) -> Any:
        """Value of an attribute at the default time, or the earliest; None where there are no opinions about it."""
        if self.is_still and isinstance(item := self.item(name), Sdf.AttributeSpec):
            value = item.default
            if value is not None and not isinstance(value, Sdf.ValueBlock):
                return value
        attribute = self.usd_prim.GetAttribute(name)
        if not attribute or not attribute.HasAuthoredValue():
            return None
        # Where there are only time samples, the default value is the schema's fallback and says nothing.
        source = attribute.GetResolveInfo(Usd.TimeCode.Default()).GetSource()
        is_animated = attribute.GetNumTimeSamples() > 0 and source != Usd.ResolveInfoSourceDefault
        return attribute.Get(Usd.TimeCode.EarliestTime() if is_animated else Usd.TimeCode.Default())

    def has_clips(self) -> bool:
        """True where value clips animate the prim and what is below it."""
        if self.spec is not None:
            return bool(self.spec.HasInfo("clips"))
        return bool(self.usd_prim.HasAuthoredMetadata("clips"))

    def resets_xform_stack(self) -> bool:
        """True where the transform of the prim ignores what is above."""
        if self.operations is not None:
            return _resets(self.operations.signature)
        return bool(UsdGeom.Xformable(self.usd_prim).GetResetXformStack())

    def is_animated(self) -> bool:
        """True where the transform changes in time; False where its operations are broken."""
        if self.is_still and self.operations is not None:
            return False
        try:
            return bool(UsdGeom.Xformable(self.usd_prim).TransformMightBeTimeVarying())
        except Tf.ErrorException:
            return False


class Operations(NamedTuple):
    """text: the transform operations of a prim, a line of usda each. signature: their types and names, and order."""

    text: str
    signature: tuple[str, ...]


def of_prims(stage: Usd.Stage, prims: Iterable[Usd.Prim]) -> Iterator[Opinions]:
    """The opinions about prims of a stage, which come parents first."""
    is_still = not any(layer.ListAllTimeSamples() for layer in stage.GetUsedLayers())
    for usd_prim in prims:
        opinions = Opinions(usd_prim, is_still=is_still)
        if is_still and opinions.has_clips():
            is_still = opinions.is_still = False
        yield opinions


def of_stage(stage: Usd.Stage) -> Iterator[Opinions]:
    """The opinions about every prim of a stage, instance proxies among them."""
    proxies = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
    return of_prims(stage, Usd.PrimRange(stage.GetPseudoRoot(), proxies))


@cache
def is_a(type_name: str, schema: type) -> bool:
    """True where prims of a type are of a typed schema of USD; to ask each prim takes many times longer."""
    return bool(Usd.SchemaRegistry.GetTypeFromSchemaTypeName(type_name).IsA(schema))


def applied_schemas(usd_prim: Usd.Prim) -> list[str]:
    """Names of the API schemas of a prim, those that no plugin declares among them."""
    return list(_get_type_info(usd_prim).GetAppliedAPISchemas())


def _find_schemas(opinions: Opinions) -> tuple[str, ...]:
    return tuple(_get_type_info(opinions.usd_prim).GetAppliedAPISchemas())


def _find_names(opinions: Opinions) -> tuple[str, ...]:
    if opinions.spec is not None:
        return tuple(sorted(opinions.spec.GetInfo("properties")))
    return tuple(opinions.usd_prim.GetAuthoredPropertyNames())


def _find_fields(opinions: Opinions) -> frozenset[str]:
    return _set_of(tuple(opinions.spec.ListInfoKeys())) if opinions.spec is not None else frozenset()


@lru_cache(maxsize=4096)
def _set_of(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(names)


def _find_kind(opinions: Opinions) -> Kind:
    kind = _kind_of(opinions.type_name, opinions.schemas, opinions.names)
    # Ten thousand prims need not keep the same words ten thousand times.
    opinions.schemas, opinions.names = kind.schemas, kind.names
    return kind


def authored_properties(usd_prim: Usd.Prim) -> list[Usd.Property]:
    """Properties with opinions, without those that are an attribute in one layer and a relationship in another."""
    try:
        return list(usd_prim.GetAuthoredProperties())
    except Tf.ErrorException:
        pass
    found = []
    for name in usd_prim.GetAuthoredPropertyNames():
        path = usd_prim.GetPath().AppendProperty(name)
        specs = [spec.layer.GetObjectAtPath(spec.path.AppendProperty(name)) for spec in usd_prim.GetPrimStack()]
        if len({type(spec) for spec in specs if spec}) == 1 and usd_prim.GetStage().GetPropertyAtPath(path):
            found.append(usd_prim.GetProperty(name))
    return found


# --------------------------------------------------------------------------- transform operations

#: Whether operations of a signature are sound.
_sound: dict[tuple[str, ...], bool] = {}


def transform_text(opinions: Opinions) -> str:
    """The transform operations of a prim as a small layer; empty where it can have none, or they are animated."""
    if not opinions.kind.is_xformable:
        return ""
    plain = opinions.operations
    if plain is not None and not (plain.text and opinions.is_animated()):
        # Whether operations fit together is a matter of their names and types.
        signature = plain.signature
        if signature not in _sound:
            _sound[signature] = not signature or _has_sound_transform(UsdGeom.Xformable(opinions.usd_prim))
        return f'#usda 1.0\n\ndef Xform "Prim"\n{{\n{plain.text}}}\n' if _sound[signature] else ""
    if opinions.is_animated() or not _has_sound_transform(UsdGeom.Xformable(opinions.usd_prim)):
        return ""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    stage = Usd.Stage.Open(layer)
    copy = stage.DefinePrim("/Prim", "Xform")
    for attribute in authored_properties(opinions.usd_prim):
        if isinstance(attribute, Usd.Attribute) and attribute.GetName().startswith("xformOp"):
            # A value that is blocked or a string is no transform, and USD could not read the text again.
            if attribute.Get() is None or isinstance(attribute.Get(), str):
                return ""
            try:
                attribute.FlattenTo(copy)
            except Tf.ErrorException:  # a value that does not have the type of its attribute
                return ""
    text: str = layer.ExportToString()
    return text


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
        if name == _ORDER and head == "uniform token[] xformOpOrder":
            head = value
        elif _plain_type(head) not in _PLAIN_OPERATIONS or name == _ORDER:
            return None
        text += f"    {line}"
        signature.append(head)
    return Operations(text, tuple(signature))


def _is_plain(line: str, value: str) -> bool:
    """True for the text of an attribute with a value and nothing else. value: what is behind the first " = "."""
    return line.find("\n") == len(line) - 1 and value not in ("", "None\n")


@lru_cache(maxsize=4096)
def _plain_type(head: str) -> str:
    """Type of an attribute of which USD writes this ahead of the value; empty where it is custom."""
    *qualifiers, type_name, _ = ["", "", *head.split(" ")]
    return type_name if qualifiers in (["", ""], ["", "", "uniform"]) else ""


@lru_cache(maxsize=4096)
def _resets(signature: tuple[str, ...]) -> bool:
    return any("!resetXformStack!" in part for part in signature)


#: What opinions find out when it is first asked for.
_FOUND_WHEN_ASKED: dict[str, Callable[[Opinions], Any]] = {
    "fields": _find_fields, "kind": _find_kind, "names": _find_names, "operations": _find_operations,
    "schemas": _find_schemas,
}  # fmt: skip


def _has_sound_transform(xformable: UsdGeom.Xformable) -> bool:
    """False where an operation is missing, unknown or of a wrong type."""
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
