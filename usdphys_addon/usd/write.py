# SPDX-License-Identifier: GPL-3.0-or-later
"""PhysicsModel -> USD stage.

Values are written with Sdf inside one change block: 10,000 bodies take a third of a second.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, Vt

from ..core import deformables, frames, mass, prototypes, schema, units, velocities, vendor_schemas
from ..core.animation import Samples
from ..core.errors import InputError
from ..core.gprims import half_extent
from ..core.model import EXTRAS_KEY, GRAVCOMP, Mesh, PhysicsModel, Prim
from ..core.schema import Attribute, Schema
from ..core.schemas import usd_geom, usd_physics
from ..core.schemas.usd_geom import TAPERED
from ..core.units import StageUnits
from ..core.value_types import ValueType, value_type, with_elements
from ..core.vendors import is_placeless, is_vendor_type
from .opinions import BINDING_API, PHYSICS_BINDING
from .specs import property_names

_Values = TypeVar("_Values", schema.Vector, schema.Quaternion)
_SPACELESS = ("xformOp", "xformOpOrder")


def write_units(stage: Usd.Stage, stage_units: StageUnits) -> None:
    """Author the units metadata."""
    UsdGeom.SetStageMetersPerUnit(stage, stage_units.meters_per_unit)
    UsdPhysics.SetStageKilogramsPerUnit(stage, stage_units.kilograms_per_unit)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y if stage_units.up_axis == "Y" else UsdGeom.Tokens.z)


class Property(NamedTuple):
    """A property with its value in stage units; a relationship if the type is "rel"."""

    name: str
    type: str
    value: Any
    uniform: bool


def write_model(
    stage: Usd.Stage, model: PhysicsModel, stage_units: StageUnits, specs: Mapping[str, Sdf.PrimSpec] | None = None
) -> None:
    """Author the physics of a model on a stage, in the stage's units.

    A prim that does not exist is created with its type and `local` pose. An existing prim with a joint schema gets the
    type of the joint and loses its transform.

    specs: known prim specs by path, to skip their lookup, of a stage without physics.
    """
    writer = SpecWriter(stage.GetEditTarget().GetLayer(), stage_units, is_new=specs is not None)
    specs = specs or {}
    with Sdf.ChangeBlock():
        # Parents first: a child that is made also makes its ancestors, without their types and poses.
        for path in sorted(model.prims, key=lambda path: path.count("/")):
            writer.write(model.prims[path], specs.get(path))


def write_samples(stage: Usd.Stage, model: PhysicsModel, stage_units: StageUnits) -> None:
    """Author the time samples of the animated values of a model that is on a stage. Uniform attributes have none."""
    layer = stage.GetEditTarget().GetLayer()
    writer = SpecWriter(layer, stage_units)
    for key, samples in model.animated.items():
        held, spec = model.holder(key), layer.GetPrimAtPath(key.path)
        if held is None or spec is None or held.attribute.uniform:
            continue
        instance = instance_of(held.schema, key.schema, held.prim.type_name)
        writer.samples(spec, held.schema, instance, key.field, samples, stage.GetTimeCodesPerSecond())


class _Content(NamedTuple):
    """What the schemas of a prim author: names for its list of applied schemas, and properties.

    is_placeless: the prim has no transform. has_velocity: it is a body that starts with one. has_size: it is a gprim.
    schemas: held here, so that no other ones get their identities. homes: names of the properties, with their paths on
    the first prim that they were written to, once there is one.
    """

    applied: tuple[str, ...]
    items: tuple[Property, ...]
    is_placeless: bool
    has_velocity: bool
    has_size: bool
    schemas: tuple[Schema, ...]
    homes: list[tuple[str, Sdf.Path]]


class _Row(NamedTuple):
    """attribute, property name, and whether values need no conversion."""

    attribute: Attribute
    name: str
    is_kept: bool


class Translator:
    """Model -> properties of the stage, in its units."""

    def __init__(self, stage_units: StageUnits) -> None:
        self.units = stage_units
        self.from_z_up = stage_units.to_z_up.T
        self._factors: dict[tuple[Attribute, str, Any], float] = {}
        self._rows: dict[tuple[type[Schema], str, Any], list[_Row]] = {}

    def properties(self, name: str, value: Schema, type_name: str) -> Iterator[Property]:
        """All properties of a schema. name: its own. type_name: of its prim."""
        yield from self.values(value, instance_of(value, name, type_name))
        if isinstance(value, usd_physics.Joint):
            yield from self.world_frames(value)

    def values(self, value: Schema, instance: str) -> Iterator[Property]:
        """The authored properties of a schema. Rows are cached by class, instance and drive type."""
        for attribute in value.unsaid:
            is_unstated = vendor_schemas.is_unstated(attribute, value)
            if is_unstated and self.factor(attribute, instance, value.unit_mode) != 1.0:
                value = value.copy(**{attribute.field: attribute.fallback})
        contents = value.all_values()
        if contents.count(None) == len(contents):
            return
        mode = value.unit_mode
        key = (type(value), instance, mode)
        rows = self._rows.get(key)
        if rows is None:
            rows = self._rows[key] = [
                _Row(item, item.usd_name(instance), self.is_kept(item, instance, mode)) for item in value.attributes
            ]
        for row, content in zip(rows, contents, strict=True):
            if content is None:
                continue
            attribute = row.attribute
            if attribute.type == "rel":
                yield Property(row.name, "rel", [Sdf.Path(path) for path in content if _is_target(path)], True)
            elif attribute.type != "opaque" and attribute.accepts(content):
                if not row.is_kept:
                    content = self.stage_value(attribute, content, instance, value)
                yield Property(row.name, attribute.type, content, attribute.uniform)

    def is_kept(self, attribute: Attribute, instance: str, mode: Any) -> bool:
        """True if values of the model are written unchanged."""
        if attribute.type in ("bool", "token", "string"):
            return True
        return attribute.type in ("float", "double") and self.factor(attribute, instance, mode) == 1.0

    def factor(self, attribute: Attribute, instance: str, mode: Any) -> float:
        key = (attribute, instance, mode)
        factor = self._factors.get(key)
        if factor is None:
            dimension = attribute.dimension_for(instance, mode)
            factor = self._factors[key] = 1.0 / self.units.factor(dimension, local=attribute.space == "local")
        return factor

    def stage_value(self, attribute: Attribute, value: Any, instance: str, owner: Schema) -> Any:
        """owner: the schema that the value is from."""
        factor = 1.0 if attribute.is_sentinel(value) else self.factor(attribute, instance, owner.unit_mode)
        if attribute.turns(owner):
            value = attribute.turned(value, self.from_z_up)
        return usd_value(attribute.type, value, factor)

    def world_frames(self, joint: usd_physics.Joint) -> Iterator[Property]:
        """The frames of joint sides without a body, which are in world space: stage units, stage axes."""
        turn = frames.transform((0, 0, 0), self.from_z_up)
        for side in (0, 1):
            if getattr(joint, f"body{side}"):
                continue
            position, rotation = getattr(joint, f"local_pos{side}"), getattr(joint, f"local_rot{side}")
            if position is None and rotation is None and self.units.up_axis == "Z":
                continue
            frame = frames.world_frame(None, position or (0, 0, 0), rotation or frames.IDENTITY_ROTATION)
            world_position, world_rotation = frames.local_frame(None, turn @ frame)
            world_position, world_rotation = _without_noise(world_position), _without_noise(world_rotation)
            factor = 1.0 / self.units.meters_per_unit
            if position is not None or any(world_position):
                point = usd_value("point3f", world_position, factor)
                yield Property(f"physics:localPos{side}", "point3f", point, False)
            if rotation is not None or not frames.is_identity(world_rotation):
                yield Property(f"physics:localRot{side}", "quatf", usd_value("quatf", world_rotation, 1.0), False)


def _of_gltf(prim: Prim) -> dict[str, Any]:
    """Its extras that no attribute of a USD file has."""
    rest = {name: value for name, value in prim.extras.items() if name not in ("usd_type", "taper", deformables.KEY)}
    radii = mass.taper_of(prim) if "shape" in rest else None
    if radii is not None:
        # An uneven scale of the object is in the radius of the prim.
        ends = dict(zip(("radiusBottom", "radiusTop"), radii, strict=True))
        rest["shape"] = {kind: {**sizes, **ends} for kind, sizes in rest["shape"].items() if isinstance(sizes, dict)}
    motion = rest.get("motion")
    if isinstance(motion, dict) and motion.get(GRAVCOMP):
        rest["motion"] = {key: value for key, value in motion.items() if key not in ("gravityFactor", GRAVCOMP)}
        if not rest["motion"]:
            del rest["motion"]
    return rest


class SpecWriter:
    """Authors prims of a model in a layer.

    is_new: it has no properties of these names, so that those of one prim can be copied to the next.
    """

    def __init__(self, layer: Sdf.Layer, stage_units: StageUnits, *, is_new: bool = False) -> None:
        self.layer = layer
        self.is_new = is_new
        self.units = stage_units
        self.translator = Translator(stage_units)
        #: By `prototypes.schemas_key`.
        self._contents: dict[tuple[Any, ...], _Content] = {}

    def write(self, prim: Prim, spec: Sdf.PrimSpec | None = None) -> None:
        """Author a prim. spec: if already known."""
        if spec is None:
            spec = self.layer.GetPrimAtPath(prim.path) or self.make(prim)
        if prim.purpose != "default":
            self.set(spec, "purpose", "token", prim.purpose, uniform=True)
        content = self.content(prim)
        if content.has_size:
            self.extent(prim, spec)
        if content.is_placeless:
            retype(spec, prim.type_name)
        path = spec.path
        if content.homes:
            for name, home in content.homes:
                Sdf.CopySpec(self.layer, home, self.layer, path.AppendProperty(name))
        else:
            for item in content.items:
                own = path.AppendProperty(item.name)
                self.put(spec, item, own)
                if self.is_new and not prim.extras:
                    content.homes.append((item.name, own))
        applied = content.applied
        if prim.physics_binding and _is_target(prim.physics_binding):
            applied = (*applied, BINDING_API)
            self.relationship(spec, PHYSICS_BINDING, [Sdf.Path(prim.physics_binding)])
        apply_schemas(spec, applied)
        if content.has_velocity:
            self.velocity_space(spec, prim)
        if prim.extras:
            self.taper(spec, prim)
            if extras := _of_gltf(prim):
                spec.customData[EXTRAS_KEY] = json.dumps(extras)
                self.gravity(spec, prim)

    def velocity_space(self, spec: Sdf.PrimSpec, prim: Prim) -> None:
        """Ask PhysX for the velocities of a body along its own axes, where it matters."""
        is_scaled = self.units.local != self.units.meters_per_unit
        if velocities.asks_for_own_axes(prim, self.translator.from_z_up, is_in_other_units=is_scaled):
            ask_for_own_axes(spec)

    def gravity(self, spec: Sdf.PrimSpec, prim: Prim) -> None:
        """Author the gravity factor of a glTF file, as MuJoCo and Newton read it."""
        motion = prim.extras.get("motion")
        if not isinstance(motion, dict) or motion.get(GRAVCOMP) or GRAVCOMP in spec.attributes:
            return
        factor = mass.gravity_factor(prim)
        if factor != 1.0:
            self.set(spec, GRAVCOMP, "float", 1.0 - factor)
            spec.attributes[GRAVCOMP].custom = True

    def taper(self, spec: Sdf.PrimSpec, prim: Prim) -> None:
        """Author the two radii of a prim that came with them and still has its shape."""
        type_name = prim.extras.get("usd_type")
        radii = mass.taper_of(prim) if type_name in TAPERED else None
        if radii is None:
            return
        spec.typeName = type_name
        if "radius" in spec.attributes:
            spec.RemoveProperty(spec.attributes["radius"])
        for name, radius in zip(("radiusBottom", "radiusTop"), radii, strict=True):
            self.set(spec, name, "double", tidy(radius / self.units.local, 1.0 / self.units.local))

    def content(self, prim: Prim) -> _Content:
        """What the schemas of a prim author: the same for all of a prototype."""
        schemas, key = prim.schemas, prototypes.schemas_key(prim)
        content = self._contents.get(key)
        if content is None:
            applied = [name for name, value in schemas.items() if value.kind != "typed"]
            if prim.get(usd_physics.CollisionGroup) is not None:
                applied.append("CollectionAPI:colliders")
            items = [
                item for name, value in schemas.items()
                for item in self.translator.properties(name, value, prim.type_name)
            ]  # fmt: skip
            content = self._contents[key] = _Content(
                tuple(applied), tuple(items), is_placeless(prim), velocities.has_velocity(prim),
                prim.get(usd_geom.Gprim) is not None, tuple(schemas.values()), [],
            )  # fmt: skip
        return content

    def make(self, prim: Prim) -> Sdf.PrimSpec:
        spec = Sdf.CreatePrimInLayer(self.layer, prim.path)
        spec.specifier = Sdf.SpecifierDef
        spec.typeName = prim.type_name
        parent = spec.nameParent
        # Ancestors that CreatePrimInLayer has just created become scopes; existing prims may be untyped.
        while parent is not None and parent.specifier == Sdf.SpecifierOver and not parent.typeName:
            parent.specifier, parent.typeName = Sdf.SpecifierDef, "Scope"
            parent = parent.nameParent
        if prim.local is not None:
            write_local(spec, prim.local, self.units.local, reset=prim.resets_xform_stack)
            self.mesh(spec, prim)
        return spec

    def extent(self, prim: Prim, spec: Sdf.PrimSpec) -> None:
        """Author the extent of a gprim that has a size here."""
        gprim = prim.get(usd_geom.Gprim)
        if isinstance(gprim, usd_geom.Gprim) and spec.specifier == Sdf.SpecifierDef:
            low, high = (Gf.Vec3f(*(sign * half / self.units.local for half in half_extent(gprim))) for sign in (-1, 1))
            self.set(spec, "extent", "float3[]", Vt.Vec3fArray([low, high]))

    def mesh(self, spec: Sdf.PrimSpec, prim: Prim) -> None:
        """Points and faces of a new mesh; nothing of another prim."""
        mesh = prim.mesh() if prim.type_name == "Mesh" and prim.mesh else None
        if not isinstance(mesh, Mesh) or not len(mesh.points):
            return
        points, names = mesh.points / self.units.local, Sdf.ValueTypeNames
        self.set(spec, "extent", "float3[]", vectors([points.min(0), points.max(0)]))
        for name, type_name, value in (
            ("points", names.Point3fArray, vectors(points)),
            ("faceVertexCounts", names.IntArray, Vt.IntArray.FromNumpy(np.full(len(mesh.triangles), 3, np.int32))),
            (
                "faceVertexIndices",
                names.IntArray,
                Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.triangles.ravel(), np.int32)),
            ),
        ):
            Sdf.AttributeSpec(spec, name, type_name).default = value
        self.set(spec, "subdivisionScheme", "token", "none", uniform=True)

    def put(self, spec: Sdf.PrimSpec, item: Property, path: Sdf.Path | None = None) -> None:
        """path: of the property, if already known."""
        if item.type == "rel":
            self.relationship(spec, item.name, item.value)
        else:
            self.set(spec, item.name, item.type, item.value, item.uniform, path)

    def set(
        self, spec: Sdf.PrimSpec, name: str, type_: str, value: Any, uniform: bool = False, path: Sdf.Path | None = None
    ) -> None:
        """path: of the attribute, if already known."""
        variability = Sdf.VariabilityUniform if uniform else Sdf.VariabilityVarying
        path = path or spec.path.AppendProperty(name)
        try:
            # A third faster than Sdf.AttributeSpec, which wraps the prim and the attribute anew.
            Sdf.JustCreatePrimAttributeInLayer(self.layer, path, sdf_type(type_), variability)
        except RuntimeError:  # it exists already, which is rare: a check first would be slower
            if self.layer.GetRelationshipAtPath(path):
                raise _two_kinds(path) from None
            if self.layer.GetAttributeAtPath(path) is None:
                raise
        attribute = self.layer.GetAttributeAtPath(path)
        attribute.default = value
        if type_ == "pathExpression":
            _check_expression(attribute.default.GetText(), spec.name)

    def samples(
        self, spec: Sdf.PrimSpec, value: Schema, instance: str, field: str, samples: Samples, rate: float
    ) -> None:
        """Author the time samples of a value. rate: time codes in a second."""
        attribute = schema.attribute_of(type(value), field)
        path = spec.path.AppendProperty(attribute.usd_name(instance))
        if self.layer.GetAttributeAtPath(path) is None:
            Sdf.JustCreatePrimAttributeInLayer(self.layer, path, sdf_type(attribute.type), Sdf.VariabilityVarying)
        for moment, content in zip(samples.moments, samples.values, strict=True):
            time = round(moment * rate, 6)
            self.layer.SetTimeSample(path, time, self.translator.stage_value(attribute, content, instance, value))

    def relationship(self, spec: Sdf.PrimSpec, name: str, targets: list[Sdf.Path]) -> None:
        relationship = spec.relationships.get(name)
        if relationship is None:
            if spec.attributes.get(name):
                raise _two_kinds(spec.path.AppendProperty(name))
            relationship = Sdf.RelationshipSpec(spec, name, custom=False)
        # An explicit empty list is an opinion too.
        relationship.targetPathList.ClearEditsAndMakeExplicit()
        relationship.targetPathList.explicitItems = targets


def _two_kinds(path: Sdf.Path) -> InputError:
    return InputError(f"'{path}' is an attribute and a relationship, of which USD allows one; delete one of them.")


def instance_of(value: Schema, name: str, type_name: str) -> str:
    """The instance of a schema in the names and units of its properties. name: its own. type_name: of its prim."""
    instance = schema.split_applied(name)[1] if value.kind == "multiple" else ""
    return vendor_schemas.dof_of(type(value), instance, type_name)


@cache
def _is_target(path: str) -> bool:
    """True for an absolute path of a prim or property. Hidden text of a .blend can hold anything."""
    if not path.startswith("/") or not Sdf.Path.IsValidPathString(path):
        return False
    path_parsed = Sdf.Path(path)
    return bool(path_parsed.IsPrimPath() or path_parsed.IsPropertyPath())


@cache
def sdf_type(name: str) -> Sdf.ValueTypeName:
    """The Sdf value type with this name. Raises KeyError if there is none."""
    value_type = Sdf.ValueTypeNames.Find(name)
    if not value_type:
        raise KeyError(name)
    return value_type


def usd_value(type_: str, value: Any, factor: float) -> Any:
    """A value of the model, times a unit factor, as pxr's Python type. Raises KeyError for an unknown type."""
    kind = value_type(type_)
    if kind.has_unit:
        if kind.size == 1 and not kind.is_array:
            return tidy(units.scaled(value, factor), factor)
        value = with_elements(kind, value, lambda part: tidy(units.scaled(part, factor), factor))
    if type_ == "pathExpression":
        try:
            return Sdf.PathExpression(value)
        except Tf.ErrorException as error:
            raise InputError(f"'{value}' is not a valid path expression and cannot be written; correct it.") from error
    made = sdf_type(type_).type.pythonClass
    if kind.is_array:
        element = sdf_type(type_.removesuffix("[]")).type.pythonClass
        return made([_usd_element(kind, element, part) for part in value])
    return _usd_element(kind, made, value)


def _check_expression(text: str, name: str) -> None:
    """Raise InputError for a path expression that cannot be read back: what is relative gets the path of its prim, and
    USD knows ASCII names alone in expressions.

    name: of the prim.
    """
    try:
        Sdf.PathExpression(text)
    except Tf.ErrorException as error:
        raise InputError(
            f"'{text}' is a path expression that USD cannot read, as only ASCII names may be in it; rename '{name}', "
            "or begin the expression with '/'."
        ) from error


def _usd_element(kind: ValueType, cls: Any, value: Any) -> Any:
    """cls: Gf class of the element; None for numbers and strings."""
    if kind.size > 1:
        return cls(*value)
    return Sdf.AssetPath(value) if kind.name.startswith("asset") else value


def tidy(value: float, factor: float) -> float:
    """Round off 32-bit noise of a unit conversion: 89.999998 becomes 90."""
    if factor == 1.0 or value == 0.0 or units.is_infinite(value):
        return value
    short = float(f"{value:.6g}")
    return short if abs(short - value) <= 2e-7 * abs(value) else value


@cache
def _with_added(current: Sdf.TokenListOp, names: tuple[str, ...], last: bool) -> Sdf.TokenListOp:
    """A list operation of applied schemas with further names after its prepended or explicit items.

    last: after those of weaker layers, too.
    """
    listed = Sdf.TokenListOp()
    if current.isExplicit:
        items = current.explicitItems
        listed.explicitItems = [*items, *(name for name in names if name not in items)]
        return listed
    applied = current.GetAddedOrExplicitItems()
    for kind in ("prependedItems", "addedItems", "appendedItems", "deletedItems", "orderedItems"):
        setattr(listed, kind, getattr(current, kind))
    kind = "appendedItems" if last else "prependedItems"
    setattr(listed, kind, [*getattr(current, kind), *(name for name in names if name not in applied)])
    return listed


@cache
def _listed(names: tuple[str, ...], last: bool) -> Sdf.TokenListOp:
    """`_with_added` for a prim without schemas; a list operation takes long to be found in a cache."""
    return _with_added(Sdf.TokenListOp(), names, last)


def apply_schemas(spec: Sdf.PrimSpec, names: Iterable[str], *, last: bool = False) -> None:
    """Add API schemas that the prim does not list yet, after its own. last: after those of weaker layers, too."""
    wanted = tuple(names)
    if wanted:
        listed = spec.HasInfo("apiSchemas")
        spec.SetInfo(
            "apiSchemas", _with_added(spec.GetInfo("apiSchemas"), wanted, last) if listed else _listed(wanted, last)
        )


def remove_schema(spec: Sdf.PrimSpec, name: str) -> None:
    """Take an API schema from the list of a prim."""
    if not spec.HasInfo("apiSchemas"):
        return
    current = spec.GetInfo("apiSchemas")
    for kind in ("explicitItems", "prependedItems", "addedItems", "appendedItems"):
        items = list(getattr(current, kind))
        if name in items:
            setattr(current, kind, [item for item in items if item != name])
    _set_schemas(spec, current)


def forget_deleted(spec: Sdf.PrimSpec, name: str) -> None:
    """Take back the removal of an API schema from weaker layers."""
    current = spec.GetInfo("apiSchemas")
    current.deletedItems = [item for item in current.deletedItems if item != name]
    _set_schemas(spec, current)


def _set_schemas(spec: Sdf.PrimSpec, current: Sdf.TokenListOp) -> None:
    if current.GetAddedOrExplicitItems() or current.deletedItems:
        spec.SetInfo("apiSchemas", current)
    else:
        spec.ClearInfo("apiSchemas")


def ask_for_own_axes(spec: Sdf.PrimSpec) -> None:
    """Ask PhysX for the velocities of a body along its own axes, in which the specification has them."""
    key = "physics"
    spec.customData[key] = {**dict(spec.customData.get(key) or {}), "localSpaceVelocities": True}


def retype(spec: Sdf.PrimSpec, type_name: str) -> None:
    """Change the type of a prim; one that becomes a joint, or of a vendor's type, loses its transform."""
    if spec.typeName == type_name:
        return
    spec.typeName = type_name
    if issubclass(schema.SCHEMAS.get(type_name, schema.Schema), usd_physics.Joint) or is_vendor_type(type_name):
        clear_local(spec)


def vectors(rows: Any) -> Vt.Vec3fArray:
    """An array of vectors (n, 3)."""
    with np.errstate(over="ignore"):
        return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(rows, np.float32).reshape(-1, 3))


def clear_local(spec: Sdf.PrimSpec) -> None:
    """Remove the transform of a prim."""
    for name in [name for name in property_names(spec) if name.startswith(_SPACELESS)]:
        spec.RemoveProperty(spec.properties[name])


def _without_noise(values: _Values) -> _Values:
    """The values with rounding noise of a quarter turn replaced by zero."""
    size = max(map(abs, values))
    clean: Any = tuple(0.0 if abs(value) < 1e-12 * size else value for value in values)
    return clean  # type: ignore[no-any-return]


def write_matrix(spec: Sdf.PrimSpec, matrix: Gf.Matrix4d, *, reset: bool = False) -> None:
    """Author the transform of a prim as one matrix."""
    clear_local(spec)
    _write_ops(spec, [("xformOp:transform", Sdf.ValueTypeNames.Matrix4d, matrix)], reset)


def write_local(spec: Sdf.PrimSpec, local: frames.Matrix, meters: float, *, reset: bool = False) -> None:
    """Author the transform of a prim: translate, orient and scale as needed, or a matrix if it is sheared.

    local (4, 4), metres. meters: metres per unit of the layer.
    """
    (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = local.tolist()
    position = (x / meters, y / meters, z / meters)
    ops: list[tuple[str, Any, Any]] = []
    if any(position):
        ops.append(("xformOp:translate", Sdf.ValueTypeNames.Double3, Gf.Vec3d(*position)))
    scale = (a, e, i)
    if any((b, c, d, f, g, h)) or min(scale) <= 0:
        if frames.is_sheared(local, 1e-6):
            matrix = local.copy()
            matrix[:3, 3] = position
            write_matrix(spec, Gf.Matrix4d(matrix.T.tolist()), reset=reset)
            return
        rotation = frames.quaternion_of(frames.rotation_of(local))
        if not frames.is_identity(rotation):
            # USD takes the angle from the real part: with 32 bits it is wrong by 1e-5 at 0.01 rad, and 0 below 3e-4.
            ops.append(("xformOp:orient", Sdf.ValueTypeNames.Quatd, Gf.Quatd(*rotation)))
        scale = tuple(frames.scale_of(local).tolist())
    if max(abs(part - 1.0) for part in scale) > 1e-9:
        ops.append(("xformOp:scale", Sdf.ValueTypeNames.Float3, Gf.Vec3f(*scale)))
    clear_local(spec)
    _write_ops(spec, ops, reset)


def _write_ops(spec: Sdf.PrimSpec, ops: list[tuple[str, Any, Any]], reset: bool) -> None:
    for name, type_, value in ops:
        Sdf.AttributeSpec(spec, name, type_).default = value
    if not ops and not reset:
        return
    order = ["!resetXformStack!"] * reset + [name for name, _, _ in ops]
    Sdf.AttributeSpec(
        spec, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform
    ).default = Vt.TokenArray(order)
