# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a stage of one layer other units or another up axis. All means the same as before.

All lengths get other numbers: by the specification a scale above a body multiplies its velocity, and simulators leave
it out. Another up axis is a rotation of the topmost prims. Numbers of physics and of vendors follow from the dimensions
of their rows, and those of geometry from `lengths`; numbers that no table knows are noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom

from ..core import schema, units, vendor_units
from ..core.schema import INSTANCE, Attribute, Schema
from ..core.schemas.usd_physics import Joint, LimitAPI, RigidBodyAPI
from ..core.units import PRACTICALLY_INFINITE, Dimension, StageUnits, is_infinite
from ..core.vendor_schemas import VendorAttribute, axis_dof, turned_bits
from ..core.vendor_units import Condition, VendorUnit
from ..core.vendors import held_class
from . import lengths
from .carry_fields import listed_schemas, table_properties
from .opinions import is_a
from .read import stage_units
from .write import ask_for_own_axes, sdf_type, usd_value, write_units

#: Namespaces whose numbers no simulator reads as its own. Those of a URDF are in its units in any file.
_OTHERS = (
    "physics:", "primvars:", "xformOp:", "ui:", "userProperties:", "inputs:", "outputs:", "inbetweens:", "urdf:",
)  # fmt: skip
_VECTORS = tuple(getattr(Gf, f"Vec{size}{kind}") for size in (2, 3, 4) for kind in "hfd")
_VELOCITIES = ("physics:velocity", "physics:angularVelocity")
_RESET = "!resetXformStack!"
#: The operation that turns, with the suffix that programs use which compose files of different units.
_TURN = "xformOp:rotateX:unitsResolve"


def convert(stage: Usd.Stage, target: StageUnits) -> dict[str, str]:
    """Convert a stage to other units, and author these. All opinions of the stage are in its root layer.

    Returns the path of the first prim by name, for the attributes that keep their number because nobody knows their
    unit.
    """
    layer, before = stage.GetRootLayer(), stage_units(stage)
    conversion = Conversion(before, target)
    specs = list(_specs(layer))
    tops = list(_tops(layer)) if conversion.angle else []
    with Sdf.ChangeBlock():
        for spec in specs:
            conversion.prim(spec)
        for spec in tops:
            turn(spec, conversion.angle)
    write_units(stage, target)
    return conversion.unknown


def take_scale(stage: Usd.Stage, scene_meters: float, meters_per_unit: float) -> None:
    """Put the scale with which Blender's exporter has converted units into the geometry of a stage without physics.

    Blender scales its topmost prims, and writes cameras in units of the stage. scene_meters: length of a Blender unit,
    which it takes for a metre. meters_per_unit: that is wanted; the stage has another where Blender cannot scale by it.
    """
    scale, factor = 1.0 / UsdGeom.GetStageMetersPerUnit(stage), scene_meters / meters_per_unit
    if abs(scale - 1.0) < 1e-6 and abs(factor - 1.0) < 1e-6:
        return
    tops = list(_tops(stage.GetEditTarget().GetLayer()))
    # What Blender has converted itself, and the rest.
    rest = factor / scale if abs(factor / scale - 1.0) > 1e-6 else 1.0
    with Sdf.ChangeBlock():
        for spec in tops:
            lengths.take_scale(spec, scale)
            lengths.scale_own(spec, factor, rest, place=rest)
            lengths.scale_below(spec.nameChildren, factor, rest)


def scale(stage: Usd.Stage, meters_per_unit: float) -> None:
    """Scale the prims at the top of a stage without physics, from its metersPerUnit to this one."""
    factor = UsdGeom.GetStageMetersPerUnit(stage) / meters_per_unit
    tops = list(_tops(stage.GetEditTarget().GetLayer()))
    with Sdf.ChangeBlock():
        for spec in tops:
            lengths.put_scale(spec, factor)
    UsdGeom.SetStageMetersPerUnit(stage, meters_per_unit)


# --------------------------------------------------------------------------- places


def _specs(layer: Sdf.Layer) -> Iterator[Sdf.PrimSpec]:
    pending = list(layer.rootPrims)
    while pending:
        spec = pending.pop()
        yield spec
        pending.extend(spec.nameChildren)


def _tops(layer: Sdf.Layer) -> Iterator[Sdf.PrimSpec]:
    """The prims whose transform is one from the world: the topmost ones, and those that reset the transform stack."""
    inner = _prototypes(layer)
    pending = [(spec, spec.path in inner) for spec in layer.rootPrims]
    while pending:
        spec, is_below = pending.pop()
        if spec.specifier != Sdf.SpecifierDef and not is_below:
            continue  # what stands for nothing by itself
        has_place = is_a(spec.typeName, UsdGeom.Xformable)
        if has_place and (not is_below or _RESET in lengths.operations(spec)):
            yield spec
        pending += [(child, is_below or has_place) for child in spec.nameChildren]


def _prototypes(layer: Sdf.Layer) -> set[Sdf.Path]:
    """Roots of the prototypes of instances, to which flattening has moved them: they are placed by the instances."""
    return {
        item.primPath
        for spec in _specs(layer) if spec.instanceable
        for item in spec.referenceList.GetAppliedItems() if not item.assetPath
    }  # fmt: skip


def turn(spec: Sdf.PrimSpec, angle: float) -> None:
    """Turn a prim by an angle about X in degrees, in the space above it."""
    order = [name for name in lengths.operations(spec) if name != _RESET]
    resets = [_RESET] * (_RESET in lengths.operations(spec))
    if order[:1] == [_TURN]:
        # An earlier conversion.
        angle += float(spec.attributes[_TURN].default)
        spec.RemoveProperty(spec.attributes[_TURN])
        del order[0]
    if angle:
        Sdf.AttributeSpec(spec, _TURN, Sdf.ValueTypeNames.Float).default = angle
        order.insert(0, _TURN)
    lengths.set_operations(spec, [*resets, *order])


# --------------------------------------------------------------------------- numbers


class Conversion:
    """Of numbers. source, target: units before and after.

    unknown: path of the first prim by name, for the attributes that keep their number because nobody knows their unit.
    """

    def __init__(self, source: StageUnits, target: StageUnits) -> None:
        self.source, self.target = source, target
        self.turn = target.to_z_up.T @ source.to_z_up
        self.angle = 0.0 if source.up_axis == target.up_axis else 90.0 if source.up_axis == "Y" else -90.0
        self.unknown: dict[str, str] = {}
        #: Prims that show a file of their own, and prims below such.
        self._of_files: set[Sdf.Path] = set()

    def factor(self, dimension: Dimension) -> float:
        return self.source.factor(dimension) / self.target.factor(dimension)

    def prim(self, spec: Sdf.PrimSpec) -> None:
        """Convert the numbers of a prim, and author fallbacks that would mean something else."""
        names = tuple(listed_schemas(spec))
        held = table_properties(spec.typeName, names)
        added = self.state_fallbacks(spec, names)
        length, type_name = self.factor(units.LENGTH), spec.typeName
        is_below_file = spec.path.GetParentPath() in self._of_files
        is_of_file = is_below_file or lengths.is_of_a_file(type_name)
        for item in list(spec.attributes):
            row = held.get(item.name)
            part = lengths.part_of(type_name, item.name) if row is None else None
            if part is None:
                self.attribute(item, row)
            elif not is_of_file and length != 1.0:
                lengths.change(item, part, length)
        if not is_of_file:
            lengths.say_fallbacks(spec, length, length)
        else:
            self._of_files.add(spec.path)
            if not is_below_file and length != 1.0:
                lengths.keep_size(spec, length)
        for item in added:
            spec.RemoveProperty(item)
        self.place_frames(spec)
        velocities = [spec.attributes.get(name) for name in _VELOCITIES] if RigidBodyAPI.usd_name in names else []
        if self.angle and any(map(_moves, velocities)):
            ask_for_own_axes(spec)

    def attribute(self, item: Sdf.AttributeSpec, row: tuple[Attribute, str] | None) -> None:
        """Convert the value and the time samples of an attribute. row: of the table, with the instance."""
        layer, times = item.layer, item.layer.ListTimeSamplesForPath(item.path)
        # USD makes a new object of the value each time that it is asked for.
        before = item.default if item.HasDefaultValue() else None
        if before is not None and (value := self.number(item, before, row)) is not before:
            item = _typed_for(item, value, row)
            item.default = value
        for time in times:
            value = layer.QueryTimeSample(item.path, time)
            layer.SetTimeSample(item.path, time, self.number(item, value, row))
        if hasattr(item, "HasSpline") and item.HasSpline() and self.number(item, 1.0, row) != 1.0:
            self.unknown.setdefault(item.name, str(item.owner.path))

    def number(self, item: Sdf.AttributeSpec, value: Any, row: tuple[Attribute, str] | None) -> Any:
        """A value of an attribute in the units of the target."""
        if isinstance(value, Sdf.ValueBlock):
            return value
        if row is None or isinstance(row[0], VendorAttribute):
            return self.of_vendor(item, value)
        attribute, instance = row
        is_whole = type(value) is int and attribute.value.has_unit
        if not (is_whole or _is_number(item, value)) or attribute.is_sentinel(value):
            return value
        drive = item.owner.attributes.get(f"drive:{instance}:physics:type")
        mode = str(drive.default) if drive is not None else None
        factor = self.factor(attribute.dimension_for(instance, mode))
        turn = self.turn if attribute.space == "world" and self.angle else None
        if factor == 1.0 and turn is None:
            return value
        return _converted(float(value) if is_whole else value, factor, turn)

    def of_vendor(self, item: Sdf.AttributeSpec, value: Any) -> Any:
        """`number` of an attribute that UsdPhysics does not have."""
        name, type_name = item.name, item.owner.typeName
        unit = vendor_units.unit_of(name, type_name)
        if unit is not None and unit.axes:
            return turned_bits(value, self.turn) if isinstance(value, int) else value
        if not _is_number(item, value):
            return value
        if unit is not None and unit.has_sentinel and isinstance(value, float) and value < 0:
            return value
        dimension = _of_limit(name)
        if unit is not None:
            dimension = unit.dimension(name, type_name)
            others_holding = (other for condition, other in unit.others if _holds(condition, item.owner, name))
            dimension = next(others_holding, dimension)
        turns = unit is not None and bool(self.angle) and _is_world(unit, item.owner, name)
        factor = 1.0
        if dimension is not None:
            factor = self.factor(dimension)
        elif (unit is not None or (":" in name and not name.startswith(_OTHERS))) and _says_something(value):
            self.unknown.setdefault(name, str(item.owner.path))
        return _converted(value, factor, self.turn if turns else None) if turns or factor != 1.0 else value

    def state_fallbacks(self, spec: Sdf.PrimSpec, names: tuple[str, ...]) -> list[Sdf.AttributeSpec]:
        """Author the fallbacks of vendors that would mean something else in the units of the target.

        Returns attributes that were added because they decide what others measure, and are to be removed again.
        """
        added: list[Sdf.AttributeSpec] = []
        for name in names:
            cls = held_class(name, spec.typeName, names)
            for row in cls.unsaid if cls is not None else ():
                own = row.usd_name(schema.split_applied(name)[1])
                if not isinstance(row, VendorAttribute) or own in spec.attributes:
                    continue
                axis = axis_dof(_joint_of(spec)) if row.is_axis else ""
                value = ((axis,) if row.value.is_array else axis) if axis else row.fallback if row.is_stated else None
                if value is None:
                    continue
                item = Sdf.AttributeSpec(spec, own, sdf_type(row.type))
                item.default = value = usd_value(row.type, value, 1.0)
                if axis:
                    added.append(item)
                elif self.number(item, value, (row, "")) == value:
                    spec.RemoveProperty(item)
        return added

    def place_frames(self, spec: Sdf.PrimSpec) -> None:
        """Turn the frames of joint sides without a body, which are in the world."""
        if _joint_of(spec) is None or not self.angle:
            return
        turn = Gf.Rotation(Gf.Vec3d(1, 0, 0), self.angle).GetQuat()
        for side in (0, 1):
            body = spec.relationships.get(f"physics:body{side}")
            if body is not None and body.targetPathList.GetAppliedItems():
                continue
            names = (f"physics:localPos{side}", f"physics:localRot{side}")
            place, rotation = (spec.attributes.get(name) for name in names)
            if place is not None:
                lengths.change_values(place, lambda value: _converted(value, 1.0, self.turn))
            if rotation is None:
                rotation = Sdf.AttributeSpec(spec, names[1], Sdf.ValueTypeNames.Quatf)
                rotation.default = Gf.Quatf(1)
            lengths.change_values(rotation, lambda value: type(value)(turn * Gf.Quatd(value)))


def _joint_of(spec: Sdf.PrimSpec) -> Schema | None:
    """The joint that a prim is, with its axis; None if it is none."""
    cls = schema.SCHEMAS.get(spec.typeName)
    if cls is None or not issubclass(cls, Joint):
        return None
    joint, axis = cls(), spec.attributes.get("physics:axis")
    if axis is not None and axis.default and hasattr(joint, "axis"):
        joint.axis = str(axis.default)
    return joint


def _moves(velocity: Sdf.AttributeSpec | None) -> bool:
    return velocity is not None and _is_number(velocity, velocity.default) and _says_something(velocity.default)


def _typed_for(item: Sdf.AttributeSpec, value: Any, row: tuple[Attribute, str] | None) -> Sdf.AttributeSpec:
    """The attribute, made anew with the type of its row where it takes whole numbers and gets another one."""
    if row is None or type(item.default) is not int or type(value) is int:
        return item
    owner, name = item.owner, item.name
    owner.RemoveProperty(item)
    return Sdf.AttributeSpec(owner, name, sdf_type(row[0].type))


def _of_limit(name: str) -> Dimension | None:
    """Of a limit along a degree of freedom that PhysicsLimitAPI does not list, and the model does not hold."""
    dof = name.split(":")[1] if name.startswith("limit:") else ""
    rows = (row for row in LimitAPI.attributes if dof and row.usd_name(dof) == name)
    return next((row.dimension_for(dof) for row in rows), None)


def _is_number(item: Sdf.AttributeSpec, value: Any) -> bool:
    """True for floats and for vectors and arrays of them. Rotations have no unit; whole numbers count something."""
    if isinstance(value, float):
        return True
    is_rotation = str(item.typeName).startswith("quat")
    return not is_rotation and not isinstance(value, Sdf.ValueBlock) and np.asarray(value).dtype.kind == "f"


def _says_something(value: Any) -> bool:
    """False for zeros and infinities, which are the same in all units."""
    numbers = np.asarray(value, float).ravel()
    return bool(((numbers != 0) & (np.abs(numbers) < np.inf)).any())


def _holds(condition: Condition, prim: Sdf.PrimSpec, name: str) -> bool:
    """name: of an attribute of the same instance."""
    attribute = prim.attributes.get(condition.attribute.replace(INSTANCE, name.split(":")[1]))
    return condition.holds(attribute.default if attribute is not None else None)


def _is_world(unit: VendorUnit, prim: Sdf.PrimSpec, name: str) -> bool:
    return unit.space == "world" and (unit.world_if is None or _holds(unit.world_if, prim, name))


def _converted(value: Any, factor: float, turn: Any) -> Any:
    if isinstance(value, float):
        # Twelve digits: a product of doubles that was a round number is one again.
        return float(f"{value * factor:.12g}") if not is_infinite(value) else value
    numbers = np.asarray(value, float)
    if turn is not None and numbers.shape[-1:] == (3,):
        numbers = numbers @ np.asarray(turn).T
    made = np.where(np.abs(numbers) >= PRACTICALLY_INFINITE, numbers, numbers * factor)
    if numbers.ndim == 1 and isinstance(value, _VECTORS):
        return type(value)(*made.tolist())
    return type(value)([tuple(row) for row in made.tolist()] if made.ndim == 2 else made.tolist())
