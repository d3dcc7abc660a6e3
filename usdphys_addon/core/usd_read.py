# SPDX-License-Identifier: GPL-3.0-or-later
"""USD stage -> PhysicsModel. With usd_write the only core file that imports pxr."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade

from . import frames, schema, units
from .errors import InputError
from .model import Mesh, PhysicsModel, Prim, SpherePoints
from .schema import Attribute, Schema
from .units import StageUnits

_Answer = TypeVar("_Answer")
#: What is in messages of USD about files that it cannot read, and what it means.
_REASONS = (
    ("is not a valid usda layer", "it does not begin like a USD text file"),
    ("too small|[Cc]orrupt|while reading @|out of range|Failed to read", "it is cut off or damaged"),
    ("[Cc]annot determine file format|Unsupported|not a valid usdc|version", "its format is unknown"),
)


def open_stage(path: str | Path) -> Usd.Stage:
    """Open a file. Raises InputError with one sentence where it is missing or broken."""
    if not Path(path).is_file():
        raise InputError(f"There is no file '{path}'; check the name.")
    try:
        stage = Usd.Stage.Open(str(path))
    except Exception as error:
        raise InputError(f"'{path}' is not a USD file that can be read{_reason(error)}.") from error
    if stage is None:
        raise InputError(f"'{path}' is not a USD file that can be read.")
    return stage


def _reason(error: Exception) -> str:
    """What USD says about a file that it cannot read, short and in brackets; empty where it says nothing."""
    try:
        text = str(error)
    except UnicodeDecodeError:
        return " (it holds bytes that are not UTF-8)"
    place = re.search(r":(\d+):\d+: (.*)|.*[Ee]rror (.*) on line (\d+)", text)
    if place is not None:
        return f" (line {place[1] or place[4]} is wrong)"
    for pattern, reason in _REASONS:
        if re.search(pattern, text):
            return f" ({reason})"
    return ""


def settled(ask: Callable[[Usd.Prim], _Answer], usd_prim: Usd.Prim) -> _Answer:
    """The answer of an XformCache about a prim. Transform operations that are broken raise once and are left out."""
    try:
        return ask(usd_prim)
    except Tf.ErrorException:
        return ask(usd_prim)


def stage_units(stage: Usd.Stage) -> StageUnits:
    """Units metadata of a stage, USD's fallbacks where it says nothing."""
    return StageUnits(
        UsdGeom.GetStageMetersPerUnit(stage),
        UsdPhysics.GetStageKilogramsPerUnit(stage),
        "Y" if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y else "Z",
    )


def read_stage(stage: Usd.Stage) -> PhysicsModel:
    """All the physics of a stage. Prims without physics are left out; their paths are in `other_paths`."""
    reader = _Reader(stage)
    others = {}
    predicate = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
    for usd_prim in Usd.PrimRange(stage.GetPseudoRoot(), predicate):
        reader.model.order[str(usd_prim.GetPath())] = len(reader.model.order)
        prim = reader.read(usd_prim)
        if prim is None:
            others[str(usd_prim.GetPath())] = str(usd_prim.GetTypeName())
        else:
            reader.model.add(prim)
    reader.add_joint_targets(stage)
    reader.model.other_paths = frozenset(others) - reader.model.prims.keys()
    reader.model.other_types = others
    reader.model.locate = reader.locate
    return reader.model


def count_vendor_prims(stage: Usd.Stage) -> int:
    """Number of prims with API schemas that neither the table nor USD itself declares."""
    registry = Usd.SchemaRegistry()
    known: dict[str, bool] = {}
    count = 0
    for usd_prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)):
        names = {schema.split_applied(name)[0] for name in applied_schemas(usd_prim)}
        for name in names - known.keys():
            known[name] = name in schema.SCHEMAS or bool(registry.FindAppliedAPIPrimDefinition(name))
        count += not all(known[name] for name in names)
    return count


def _has_default(attribute: Usd.Attribute) -> bool:
    """True where a value is authored at the default time."""
    source = attribute.GetResolveInfo(Usd.TimeCode.Default()).GetSource()
    return bool(source == Usd.ResolveInfoSourceDefault)


def _is_animated(xformable: UsdGeom.Xformable) -> bool:
    """True where the transform changes in time; False where its operations are broken."""
    try:
        return bool(xformable.TransformMightBeTimeVarying())
    except Tf.ErrorException:
        return False


def _has_sound_transform(xformable: UsdGeom.Xformable) -> bool:
    """False where an operation is missing, unknown or of a wrong type."""
    try:
        xformable.GetLocalTransformation()
    except Tf.ErrorException:
        return False
    return True


def transform_text(usd_prim: Usd.Prim) -> str:
    """The transform operations of a prim as a small layer; empty where it can have none, or they are animated."""
    xformable = UsdGeom.Xformable(usd_prim)
    if not xformable or _is_animated(xformable) or not _has_sound_transform(xformable):
        return ""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    stage = Usd.Stage.Open(layer)
    copy = stage.DefinePrim("/Prim", "Xform")
    for attribute in usd_prim.GetAuthoredAttributes():
        if attribute.GetName().startswith("xformOp"):
            attribute.FlattenTo(copy)
    text: str = layer.ExportToString()
    return text


def applied_schemas(usd_prim: Usd.Prim) -> list[str]:
    """Names of the API schemas of a prim, those that no plugin declares among them."""
    listed = usd_prim.GetMetadata("apiSchemas")
    return list(listed.GetAddedOrExplicitItems()) if listed else []


class _Reader:
    def __init__(self, stage: Usd.Stage) -> None:
        self.stage = stage
        self.units = stage_units(stage)
        self.model = PhysicsModel(self.units, source=stage.GetRootLayer().identifier)
        self.cache = UsdGeom.XformCache(Usd.TimeCode.Default())
        self.rotation = self.units.to_z_up

    def read(self, usd_prim: Usd.Prim) -> Prim | None:
        """The prim with its schemas, or None where it has no physics."""
        type_name = str(usd_prim.GetTypeName())
        names = applied_schemas(usd_prim)
        typed = schema.SCHEMAS.get(type_name)
        found: dict[str, Schema] = {}
        if typed is not None and not issubclass(typed, schema.Gprim):
            found[type_name] = self.values(usd_prim, typed, "")
        for name in names:
            base, instance = schema.split_applied(name)
            cls = schema.SCHEMAS.get(base)
            if cls is not None and cls.kind != "typed":
                found[name] = self.values(usd_prim, cls, instance, found.get(name))
        if not found:
            return None
        if typed is not None and issubclass(typed, schema.Gprim):
            found[type_name] = self.values(usd_prim, typed, "", resolve=True)
        prim = self.placed(usd_prim, found)
        imageable = UsdGeom.Imageable(usd_prim)
        if imageable:
            prim.purpose = str(imageable.ComputePurpose())
        if schema.CollisionAPI.usd_name in found:
            prim.materials = _bound_materials(usd_prim)
            prim.mesh = self.geometry(usd_prim)
        binding = usd_prim.GetRelationship("material:binding:physics")
        if binding and binding.GetTargets():
            prim.physics_binding = str(binding.GetTargets()[0])
        if isinstance(typed, type) and issubclass(typed, schema.Joint):
            self.turn_world_frames(found[type_name])
        return prim

    def placed(self, usd_prim: Usd.Prim, found: dict[str, Schema]) -> Prim:
        prim = Prim(str(usd_prim.GetPath()), str(usd_prim.GetTypeName()), self.world(usd_prim), found)
        prim.is_instance_proxy = usd_prim.IsInstanceProxy()
        xformable = UsdGeom.Xformable(usd_prim)
        prim.is_xformable = bool(xformable)
        if xformable:
            prim.resets_xform_stack = xformable.GetResetXformStack()
            prim.is_animated = _is_animated(xformable)
        return prim

    def add_joint_targets(self, stage: Usd.Stage) -> None:
        """Prims without physics that joints are attached to: where they are counts."""
        for joint in list(self.model.joints.values()):
            for attribute, targets in joint.get(schema.Joint).authored():  # type: ignore[union-attr]
                if not attribute.is_relationship:
                    continue
                for path in targets:
                    usd_prim = stage.GetPrimAtPath(path)
                    if usd_prim and path not in self.model.prims:
                        self.model.add(self.placed(usd_prim, {}))

    def locate(self, path: str) -> frames.Matrix | None:
        """Where a prim is; None where there is no such prim."""
        usd_prim = self.stage.GetPrimAtPath(path)
        return self.world(usd_prim) if usd_prim else None

    def world(self, usd_prim: Usd.Prim) -> frames.Matrix:
        matrix = np.array(settled(self.cache.GetLocalToWorldTransform, usd_prim)).T
        matrix[:3, :3] = self.rotation @ matrix[:3, :3]
        matrix[:3, 3] = self.rotation @ matrix[:3, 3] * self.units.meters_per_unit
        return matrix

    def values(
        self, usd_prim: Usd.Prim, cls: type[Schema], instance: str, into: Schema | None = None, resolve: bool = False
    ) -> Schema:
        value = cls() if into is None else into
        drive_type = None
        for attribute in cls.attributes:
            read = self.value(usd_prim, attribute, instance, drive_type, resolve)
            if attribute.field == "type":
                drive_type = read
            if read is not None:
                setattr(value, attribute.field, read)
        return value

    def value(
        self, usd_prim: Usd.Prim, attribute: Attribute, instance: str, drive_type: str | None, resolve: bool
    ) -> Any:
        name = attribute.usd_name(instance)
        if attribute.is_relationship:
            relationship = usd_prim.GetRelationship(name)
            if not relationship or not relationship.HasAuthoredTargets():
                return None
            return tuple(str(path) for path in relationship.GetTargets())
        usd_attribute = usd_prim.GetAttribute(name)
        if not usd_attribute or not (resolve or usd_attribute.HasAuthoredValue()):
            return None
        # Where there are only time samples, the default value is the schema's fallback and says nothing.
        is_animated = usd_attribute.GetNumTimeSamples() > 0 and not _has_default(usd_attribute)
        raw = usd_attribute.Get(Usd.TimeCode.EarliestTime() if is_animated else Usd.TimeCode.Default())
        factor = self.units.factor(attribute.dimension_for(instance, drive_type), local=attribute.space == "local")
        value = plain_value(raw, factor)
        if attribute.space == "world" and attribute.accepts(value):
            x, y, z = self.rotation @ np.asarray(value)
            value = (float(x), float(y), float(z))
        return value

    def turn_world_frames(self, joint: Schema) -> None:
        """A joint side without a body is in the world: its frame turns with the up axis."""
        if self.units.up_axis == "Z" or not isinstance(joint, schema.Joint):
            return
        for side in (0, 1):
            position, rotation = getattr(joint, f"local_pos{side}"), getattr(joint, f"local_rot{side}")
            is_readable = joint.holds(f"local_pos{side}") or joint.holds(f"local_rot{side}")
            if not getattr(joint, f"body{side}") and is_readable:
                frame = frames.world_frame(
                    None, joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}")
                )
                position, rotation = frames.local_frame(None, frames.transform((0, 0, 0), self.rotation) @ frame)
                setattr(joint, f"local_pos{side}", position)
                setattr(joint, f"local_rot{side}", rotation)

    def geometry(self, usd_prim: Usd.Prim) -> Callable[[], Mesh | SpherePoints | None] | None:
        # The stage is looked up when the geometry is asked for: that keeps it alive until then.
        stage, path, meters = self.stage, usd_prim.GetPath(), self.units.local
        if usd_prim.IsA(UsdGeom.Mesh):
            return lambda: _mesh(UsdGeom.Mesh(stage.GetPrimAtPath(path)), meters)
        if usd_prim.IsA(UsdGeom.Points):
            return lambda: _points(UsdGeom.Points(stage.GetPrimAtPath(path)), meters)
        return None


def plain_value(raw: Any, factor: float) -> Any:
    """Python value of a USD value: floats scaled, vectors and quaternions as tuples, tokens as strings."""
    if raw is None or isinstance(raw, bool):
        return raw
    if isinstance(raw, int | float):
        return units.scaled(float(raw), factor)
    if isinstance(raw, Gf.Quatf | Gf.Quatd | Gf.Quath):
        return (float(raw.GetReal()), *(float(part) for part in raw.GetImaginary()))
    if isinstance(raw, Gf.Vec3f | Gf.Vec3d | Gf.Vec3h):
        return tuple(units.scaled(float(part), factor) for part in raw)
    return raw.GetText() if isinstance(raw, Sdf.PathExpression) else str(raw)


def _bound_materials(usd_prim: Usd.Prim) -> tuple[str, ...]:
    """Paths of the physics materials of the subsets and, last, of the prim itself: empty where it has none."""
    own = _bound_material(usd_prim)
    subsets = [_bound_material(child) for child in usd_prim.GetChildren() if child.IsA(UsdGeom.Subset)]
    others = dict.fromkeys(path for path in subsets if path and path != own)
    return (*others, own) if others or own else ()


def _bound_material(usd_prim: Usd.Prim) -> str:
    material, _ = UsdShade.MaterialBindingAPI(usd_prim).ComputeBoundMaterial("physics")
    if not material or schema.MaterialAPI.usd_name not in applied_schemas(material.GetPrim()):
        return ""
    return str(material.GetPath())


def _mesh(mesh: UsdGeom.Mesh, meters: float) -> Mesh | None:
    points, counts, indices = (
        attribute.Get() or attribute.Get(Usd.TimeCode.EarliestTime())
        for attribute in (mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
    )
    if not points or not counts or not indices:
        return None
    triangles = triangulated(np.asarray(counts, np.int64), np.asarray(indices, np.int64))
    if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
        triangles = triangles[:, ::-1]
    if len(triangles) and triangles.max() >= len(points):
        return None
    return Mesh(np.asarray(points, float) * meters, triangles)


def triangulated(counts: Any, indices: Any) -> Any:
    """Fans (m, 3) of polygons given as vertex counts (f,) and indices; a short index array ends the mesh."""
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else np.zeros(0, np.int64)
    inside = starts + counts <= len(indices)
    starts, counts = starts[inside], counts[inside]
    fans = [np.zeros((0, 3), np.int64)]
    for size in np.unique(counts):
        if size < 3:
            continue
        corner = starts[counts == size][:, None]
        for offset in range(1, int(size) - 1):
            fan = corner + np.array([0, offset, offset + 1])
            fans.append(indices[fan])
    return np.concatenate(fans)


def _points(points: UsdGeom.Points, meters: float) -> SpherePoints | None:
    positions = points.GetPointsAttr().Get()
    primvar = UsdGeom.PrimvarsAPI(points).GetPrimvar("widths")
    widths = primvar.ComputeFlattened() if primvar.HasAuthoredValue() else points.GetWidthsAttr().Get()
    if not positions or not widths or len(positions) != len(widths):
        return None
    return SpherePoints(np.asarray(positions, float) * meters, np.asarray(widths, float) * meters / 2)


