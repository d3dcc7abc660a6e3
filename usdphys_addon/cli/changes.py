# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between the physics of two files, one sentence each: prims, schemas, values, poses, shapes, units.

`core.difference` compares, too, but for an export: it leaves out what no edit in Blender can cause.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import summary
from ..core.difference import RELATIVE, same_value
from ..core.frames import Matrix
from ..core.model import Mesh, PhysicsModel, Prim
from ..core.schemas import usd_physics

#: Metres, radians and shares of the scale below which a pose counts as the same: 32-bit floats hold no more.
_SMALL = 1e-6


@dataclass(frozen=True, slots=True)
class Change:
    """path: of a prim; empty for the stage. kind: "units", "added", "removed", "type", "schema", "value", "pose",
    "shape", "purpose", "material" or "extras". name: of the schema or the property. first, second: what the two files
    say, as JSON, SI units and degrees; None where one says nothing. text: the sentence.
    """  # fmt: skip

    path: str
    kind: str
    name: str
    first: Any
    second: Any
    text: str


def changes(first: PhysicsModel, second: PhysicsModel) -> Iterator[Change]:
    """The differences of two models, whose prims are matched by path. Meshes of colliders are loaded."""
    units: tuple[tuple[str, Any, Any], ...] = (
        ("metersPerUnit", first.units.meters_per_unit, second.units.meters_per_unit),
        ("kilogramsPerUnit", first.units.kilograms_per_unit, second.units.kilograms_per_unit),
        ("upAxis", first.units.up_axis, second.units.up_axis),
    )
    for name, one, other in units:
        if one != other and (isinstance(one, str) or not math.isclose(one, other, rel_tol=RELATIVE)):
            yield Change("", "units", name, one, other, f"{name} of the stage is {other}, and was {one}.")
    for path, prim in first.prims.items():
        if prim.schemas and not _has_physics(second, path):
            yield _whole(prim, "removed")
    for path, prim in second.prims.items():
        if prim.schemas and not _has_physics(first, path):
            yield _whole(prim, "added")
        elif prim.schemas:
            yield from _of_prim(first.prims[path], prim)
            yield from _poses(first, second, path)


def _has_physics(model: PhysicsModel, path: str) -> bool:
    return path in model.prims and bool(model.prims[path].schemas)


def _whole(prim: Prim, kind: str) -> Change:
    described = f"{prim.type_name or 'a prim without a type'} with {', '.join(prim.schemas)}."
    content = {name: summary.authored(value, _instance(name)) for name, value in prim.schemas.items()}
    if kind == "added":
        return Change(prim.path, kind, prim.type_name, None, content, f"'{prim.path}' has physics now: {described}")
    return Change(prim.path, kind, prim.type_name, content, None, f"'{prim.path}' has no physics any more: {described}")


def _instance(name: str) -> str:
    return name.partition(":")[2]


def _of_prim(one: Prim, other: Prim) -> Iterator[Change]:
    path = other.path
    for kind, name, was, now in (
        ("type", "type", one.type_name, other.type_name),
        ("purpose", "purpose", one.purpose, other.purpose),
        ("material", "physics material", ", ".join(one.materials), ", ".join(other.materials)),
    ):
        if was != now:
            yield Change(path, kind, name, was, now, _sentence(path, name, was or None, now or None))
    for name in one.schemas:
        if name not in other.schemas:
            content = summary.authored(one.schemas[name], _instance(name))
            yield Change(path, "schema", name, content, None, f"'{path}' has no {name} any more{_listed(content)}.")
    for name, value in other.schemas.items():
        if name not in one.schemas:
            content = summary.authored(value, _instance(name))
            yield Change(path, "schema", name, None, content, f"'{path}' has {name} now{_listed(content)}.")
        else:
            yield from _values(path, name, one.schemas[name], value)
    for key in sorted({*one.extras, *other.extras}):
        if one.extras.get(key) != other.extras.get(key):
            values = one.extras.get(key), other.extras.get(key)
            yield Change(path, "extras", key, values[0], values[1], _sentence(path, key, values[0], values[1]))


def _listed(content: dict[str, Any]) -> str:
    parts = (f"{name} {value}" for name, value in content.items())
    return f" ({', '.join(parts)})" if content else ""


def _values(path: str, schema: str, one: Any, other: Any) -> Iterator[Change]:
    instance = _instance(schema)
    for attribute in other.attributes:
        was, now = getattr(one, attribute.field), getattr(other, attribute.field)
        if same_value(attribute, was, now):
            continue
        texts = [
            summary.shown(attribute, value, instance, holder.unit_mode) if value is not None else None
            for holder, value in ((one, was), (other, now))
        ]
        name = attribute.usd_name(instance)
        yield Change(path, "value", name, texts[0], texts[1], _sentence(path, name, texts[0], texts[1]))


def _sentence(path: str, name: str, was: Any, now: Any) -> str:
    if now is None:
        return f"'{path}': {name} is not set; was {was}."
    return f"'{path}': {name} is {now}; {'was not set' if was is None else f'was {was}'}."


def _poses(first: PhysicsModel, second: PhysicsModel, path: str) -> Iterator[Change]:
    """Where a body, or a collider on its body, is, and the points of a mesh."""
    one, other = first.prims[path], second.prims[path]
    is_body = one.get(usd_physics.RigidBodyAPI) is not None and other.get(usd_physics.RigidBodyAPI) is not None
    is_collider = one.get(usd_physics.CollisionAPI) is not None and other.get(usd_physics.CollisionAPI) is not None
    if is_body or is_collider:
        text = _moved(*(_pose(model, path, on_body=not is_body) for model in (first, second)))
        if text:
            yield Change(path, "pose", "", _as_json(one.world), _as_json(other.world), f"'{path}' has {text}.")
    if is_collider and one.mesh is not None and other.mesh is not None and not _are_same_shapes(one, other):
        yield Change(path, "shape", "", None, None, f"'{path}' has other points or faces.")


def _pose(model: PhysicsModel, path: str, *, on_body: bool) -> Matrix:
    """World matrix of a prim (4, 4), or for a collider the matrix relative to its body, if it has one."""
    world = np.asarray(model.prims[path].world, float)
    body = model.body_of(path) if on_body else None
    return world if body is None else np.linalg.solve(np.asarray(body.world, float), world)


def _moved(one: Matrix, other: Matrix) -> str:
    """How one pose becomes the other, in words; empty where they are the same."""
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return "" if np.array_equal(one, other, equal_nan=True) else "another pose, which is not finite"
    scales = [np.linalg.norm(pose[:3, :3], axis=0) for pose in (one, other)]
    found = []
    step = float(np.linalg.norm(other[:3, 3] - one[:3, 3]))
    if step > _SMALL * max(1.0, float(np.abs(one[:3, 3]).max())):
        found.append(f"moved by {step:.6g} m")
    axes = [pose[:3, :3] / np.where(scale, scale, 1.0) for pose, scale in zip((one, other), scales, strict=True)]
    # By the chord between the axes, which is exact for small angles, where a cosine is not.
    angle = 2.0 * math.asin(min(1.0, float(np.linalg.norm(axes[1] - axes[0])) / math.sqrt(8.0)))
    if angle > 10.0 * _SMALL:
        found.append(f"turned by {math.degrees(angle):.6g} degrees")
    if np.abs(scales[1] - scales[0]).max() > 10.0 * _SMALL * float(scales[0].max() or 1.0):
        found.append(f"another scale, {_numbers(scales[1])} in place of {_numbers(scales[0])}")
    return " and ".join(found)


def _as_json(matrix: Matrix) -> list[list[float | str]]:
    return [[value if math.isfinite(value) else str(value) for value in row] for row in np.asarray(matrix).tolist()]


def _numbers(values: Any) -> str:
    return ", ".join(f"{value:.6g}" for value in values)


def _are_same_shapes(one: Prim, other: Prim) -> bool:
    assert one.mesh is not None and other.mesh is not None
    was, now = one.mesh(), other.mesh()
    if type(was) is not type(now) or was is None or now is None:
        return was is now
    if isinstance(was, Mesh):
        pairs = [(was.points, now.points), (was.triangles, now.triangles)]  # type: ignore[union-attr]
    else:
        pairs = [(was.centers, now.centers), (was.radii, now.radii)]  # type: ignore[union-attr]
    return all(
        np.shape(old) == np.shape(new) and np.allclose(old, new, rtol=RELATIVE, atol=_SMALL, equal_nan=True)
        for old, new in pairs
    )
