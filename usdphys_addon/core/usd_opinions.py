# SPDX-License-Identifier: GPL-3.0-or-later
"""What the layers of a stage say of its prims, looked up once for all who read them.

Most prims have opinions in one layer only. These are read from the spec there, many times quicker than from the stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from pxr import Sdf, Tf, Usd, UsdGeom, Vt

#: Types of transform operations whose values Python writes as USD reads them.
_PLAIN_OPERATIONS = frozenset({"double3", "float3", "double", "float", "matrix4d", "quatd", "quatf"})


#: Methods of prims, called as functions: what looks up a method of a prim first asks whether the prim still is, which
#: takes twice as long as the answer.
_get_path = Usd.Prim.GetPath
_get_type_name = Usd.Prim.GetTypeName
_get_prim_stack = Usd.Prim.GetPrimStack
_get_type_info = Usd.Prim.GetPrimTypeInfo
_get_attribute = Usd.Prim.GetAttribute


class Opinions:
    """The opinions about one prim.

    spec: the only one, None where there are several. is_still: known that nothing about the prim changes in time,
    except by splines.
    """

    __slots__ = (
        "_fields", "_items", "_names", "_operations", "_properties", "_schemas", "is_still", "path", "spec",
        "type_name", "usd_prim",
    )  # fmt: skip

    def __init__(self, usd_prim: Usd.Prim, *, is_still: bool = False) -> None:
        self.usd_prim = usd_prim
        self.is_still = is_still
        self.path: str = _get_path(usd_prim).pathString
        self.type_name: str = _get_type_name(usd_prim)
        stack = _get_prim_stack(usd_prim)
        self.spec: Sdf.PrimSpec | None = stack[0] if len(stack) == 1 else None
        self._schemas: list[str] | None = None
        self._fields: frozenset[str] | None = None
        self._names: tuple[str, ...] | None = None
        self._items: dict[str, Sdf.PropertySpec | None] = {}
        self._properties: Any = None
        self._operations: Operations | str | None = "unread"

    @property
    def schemas(self) -> list[str]:
        """Names of the API schemas."""
        if self._schemas is None:
            self._schemas = applied_schemas(self.usd_prim)
        return self._schemas

    @property
    def fields(self) -> frozenset[str]:
        """Names of the metadata in the only spec; empty where there are several."""
        if self._fields is None:
            self._fields = _same(tuple(self.spec.ListInfoKeys())) if self.spec is not None else frozenset()
        return self._fields

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the properties with opinions."""
        if self._names is None:
            if self.spec is not None:
                self._names = tuple(sorted(self.spec.GetInfo("properties")))
            else:
                self._names = tuple(self.usd_prim.GetAuthoredPropertyNames())
        return self._names

    def item(self, name: str) -> Sdf.PropertySpec | None:
        """The property of a name in the only spec."""
        if name in self._items:
            return self._items[name]
        if self._properties is None:
            if self.spec is None:
                return None
            self._properties = self.spec.properties
        found = self._items[name] = self._properties.get(name)
        return found

    def plain_value(self, name: str) -> PlainValue | None:
        """An attribute that has a value and nothing else, in one layer; None where it has not, or that is unknown."""
        if self.spec is None or not isinstance(item := self.item(name), Sdf.AttributeSpec):
            return None
        # One question for all that there is of a property.
        text = item.GetAsText()
        head, _, value = text.partition(" = ")
        kind = _kind(head) if value and text.find("\n") == len(text) - 1 and value != "None\n" else None
        return PlainValue(text, *kind, value[:-1]) if kind is not None else None

    @property
    def operations(self) -> Operations | None:
        """The transform operations where they are plain: nothing but values, in one layer. None where they are not."""
        if isinstance(self._operations, str):
            self._operations = _plain_operations(self)
        return self._operations

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
            return "!resetXformStack!" in self.operations.signature
        return bool(UsdGeom.Xformable(self.usd_prim).GetResetXformStack())

    def is_animated(self) -> bool:
        """True where the transform changes in time; False where its operations are broken."""
        if self.is_still and self.operations is not None:
            return False
        try:
            return bool(UsdGeom.Xformable(self.usd_prim).TransformMightBeTimeVarying())
        except Tf.ErrorException:
            return False


class PlainValue(NamedTuple):
    """An attribute with a value and nothing else, as USD writes it. text: the whole line. value: text, too."""

    text: str
    is_uniform: bool
    type: str
    value: str


class Operations(NamedTuple):
    """text: the transform operations of a prim, a line of usda each. signature: their types, names and order."""

    text: str
    signature: str


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


@cache
def _same(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(names)


def applied_schemas(usd_prim: Usd.Prim) -> list[str]:
    """Names of the API schemas of a prim, those that no plugin declares among them."""
    return list(_get_type_info(usd_prim).GetAppliedAPISchemas())


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
_sound: dict[str, bool] = {}


def transform_text(opinions: Opinions) -> str:
    """The transform operations of a prim as a small layer; empty where it can have none, or they are animated."""
    if not is_a(opinions.type_name, UsdGeom.Xformable):
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


@lru_cache(maxsize=4096)
def _kind(head: str) -> tuple[bool, str] | None:
    """(is uniform, type) of an attribute of which USD writes this ahead of the value; None where it says more."""
    *qualifiers, type_name, _ = head.split(" ") if head.count(" ") else ["", "", ""]
    return (bool(qualifiers), type_name) if qualifiers in ([], ["uniform"]) else None


@cache
def _operation_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name.startswith("xformOp"))


def _plain_operations(opinions: Opinions) -> Operations | None:
    if opinions.spec is None:
        return None
    lines, signature = [], []
    for name in _operation_names(opinions.names):
        plain = opinions.plain_value(name)
        if plain is None:
            return None
        is_order = name == "xformOpOrder"
        if plain.is_uniform != is_order or (is_order and plain.type != "token[]"):
            return None
        if not is_order and plain.type not in _PLAIN_OPERATIONS:
            return None
        lines.append(f"    {plain.text}")
        signature.append(plain.value if is_order else f"{plain.type} {name}")
    return Operations("".join(lines), "\n".join(signature))


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


