# SPDX-License-Identifier: GPL-3.0-or-later
"""Contents of a model, as JSON-compatible data and as text. SI units; angles in degrees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from . import deformables, mass
from .joint_kinds import BY_TYPE_NAME
from .model import PhysicsModel, Prim
from .schema import Attribute, Schema
from .schemas import usd_geom, usd_physics

Table = dict[str, Any]


_COUNTED = {
    "PhysicsScene": "scenes", "PhysicsRigidBodyAPI": "bodies", "PhysicsCollisionAPI": "colliders",
    "PhysicsJoint": "joints", "PhysicsCollisionGroup": "groups", "PhysicsMaterialAPI": "materials",
    "PhysicsArticulationRootAPI": "articulations",
}  # fmt: skip


def counts(model: PhysicsModel) -> dict[str, int]:
    """Number of prims of each kind; of deformables only where there are some."""
    values: Iterator[Schema] = chain.from_iterable(prim.schemas.values() for prim in model.prims.values())
    numbers: Counter[type[Schema]] = Counter(map(type, values))
    numbers_by_kind = counts_of_names({cls.usd_name: number for cls, number in numbers.items()})
    soft = sum(map(bool, map(deformables.kind_of, model.prims.values())))
    return {**numbers_by_kind, "deformables": soft} if soft else numbers_by_kind


def counts_of_names(numbers: Mapping[str, int]) -> dict[str, int]:
    """Number of prims of each kind. numbers: of prims with each schema, by its name."""
    numbers_by_kind = dict.fromkeys(_COUNTED.values(), 0)
    for name, number in numbers.items():
        kind = "joints" if name in BY_TYPE_NAME else _COUNTED.get(name)
        if kind is not None:
            numbers_by_kind[kind] += number
    if soft := sum(number for name, number in numbers.items() if name in deformables.KINDS):
        numbers_by_kind["deformables"] = soft
    return numbers_by_kind


def summarise(model: PhysicsModel) -> Table:
    """Units, and one row for each scene, body, collider, joint, group, material and articulation."""
    units = model.units
    colliders = model.colliders
    owners = {path: model.body_of(path) for path in colliders}
    weighed = mass.colliders_by_body(model)
    counts: dict[str, int] = {}
    for owner in owners.values():
        if owner is not None:
            counts[owner.path] = counts.get(owner.path, 0) + 1
    return {
        "units": {
            "metersPerUnit": units.meters_per_unit,
            "kilogramsPerUnit": units.kilograms_per_unit,
            "upAxis": units.up_axis,
        },
        "scenes": [_row(prim, usd_physics.PhysicsScene) for prim in model.scenes.values()],
        "bodies": [_body(model, prim, counts.get(path, 0), weighed[path]) for path, prim in model.bodies.items()],
        "colliders": [_collider(prim, owners[path]) for path, prim in colliders.items()],
        "joints": [_joint(prim) for prim in model.joints.values()],
        "groups": [_row(prim, usd_physics.CollisionGroup) for prim in model.groups.values()],
        "materials": [_row(prim, usd_physics.MaterialAPI) for prim in model.materials.values()],
        "articulations": [{"path": path} for path in model.articulations],
        "deformables": [_deformable(one) for one in model.deformables()[0]] if model.deformables else [],
    }


def _row(prim: Prim, cls: type[Schema]) -> Table:
    value = prim.get(cls)
    return {"path": prim.path, **(authored(value) if value is not None else {})}


def authored(value: Schema, instance: str = "") -> Table:
    """Authored attributes by USD name without namespace, SI, angles in degrees, infinities as text."""
    drive_type = getattr(value, "type", None) if isinstance(value, usd_physics.DriveAPI) else None
    return {
        attribute.usd.rsplit(":", 1)[-1]: shown(attribute, content, instance, drive_type)
        for attribute, content in value.authored()
    }


def shown(attribute: Attribute, value: Any, instance: str, drive_type: str | None) -> Any:
    """A value that is not None as JSON: SI, angles in degrees, infinities as text. drive_type: of a drive."""
    angle = attribute.dimension_for(instance, drive_type).angle
    factor = math.degrees(1.0) ** angle
    if isinstance(value, bool | str):
        return value
    if isinstance(value, tuple):
        return [_number(part, factor) if isinstance(part, float) else part for part in value]
    return _number(value, factor)


def _number(value: float, factor: float = 1.0) -> float | str:
    return float(f"{value * factor:.7g}") if math.isfinite(value) else str(value)


def _body(model: PhysicsModel, prim: Prim, colliders: int, weighed: list[Prim]) -> Table:
    body = prim.get(usd_physics.RigidBodyAPI) or usd_physics.RigidBodyAPI()
    kind = "static" if not body.resolved("rigid_body_enabled") else "dynamic"
    if kind == "dynamic" and body.resolved("kinematic_enabled"):
        kind = "kinematic"
    properties = mass.mass_properties(model, prim.path, weighed)
    return {
        "path": prim.path,
        "kind": kind,
        "colliders": colliders,
        "mass": _number(properties.mass),
        "massSource": properties.mass_source.text,
        "centerOfMass": [_number(part) for part in properties.center_of_mass],
        "diagonalInertia": [_number(part) for part in properties.diagonal_inertia],
        **authored(body),
    }


def _collider(prim: Prim, owner: Prim | None) -> Table:
    carrier = "(deformable)" if deformables.kind_of(prim) else owner.path if owner else "(static)"
    row: Table = {"path": prim.path, "shape": prim.type_name, "body": carrier}
    for cls in (usd_geom.Gprim, usd_physics.MeshCollisionAPI, usd_physics.CollisionAPI):
        value = prim.get(cls)
        if value is not None:
            row.update(authored(value))
    if prim.materials:
        row["materials"] = list(prim.materials)
    return row


def _deformable(found: deformables.Deformable) -> Table:
    mass = deformables.mass_of(found)
    return {
        "path": found.path, "kind": found.kind, "points": len(found.points), "elements": len(found.elements),
        "mass": _number(mass.value), "massSource": mass.source,
    }  # fmt: skip


def _joint(prim: Prim) -> Table:
    joint = prim.get(usd_physics.Joint)
    row: Table = {"path": prim.path, "type": prim.type_name.removeprefix("Physics")}
    if joint is not None:
        row.update(authored(joint))
    for cls in (usd_physics.LimitAPI, usd_physics.DriveAPI):
        for instance, value in prim.instances(cls):
            row[f"{cls.__name__.removesuffix('API').lower()}:{instance}"] = authored(value, instance)
    return row


def lines(table: Table) -> Iterator[str]:
    """The table as text, one line for each row."""
    units = table["units"]
    yield (
        f"units: {units['metersPerUnit']:g} m, {units['kilogramsPerUnit']:g} kg, {units['upAxis']} up"
        " (figures below: SI and degrees)"
    )
    for kind, rows in table.items():
        if kind == "units" or not rows:
            continue
        yield f"{kind} ({len(rows)})"
        for row in rows:
            yield f"  {row['path']}  " + "  ".join(_cell(name, value) for name, value in row.items() if name != "path")


def _cell(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return f"{name}({' '.join(_cell(key, item) for key, item in value.items())})"
    if isinstance(value, list):
        return f"{name}=" + ",".join(f"{item:g}" if isinstance(item, float) else str(item) for item in value)
    if isinstance(value, float):
        return f"{name}={value:g}"
    return str(value) if name in ("kind", "shape", "type") else f"{name}={value}"
