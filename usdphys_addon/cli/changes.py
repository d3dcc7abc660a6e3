# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between the physics of two files, one sentence each: prims, schemas, values, poses, shapes, units.

`core.difference` compares, too, but for an export: it leaves out what no edit in Blender can cause.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core import frames, likeness, matching, paths, summary
from ..core.difference import RELATIVE, same_value
from ..core.frames import Matrix
from ..core.model import Mesh, PhysicsModel, Prim
from ..core.proof import size_text
from ..core.schema import Attribute, Schema
from ..core.schemas import usd_geom, usd_physics
from ..core.value_types import with_elements

#: Metres, radians and shares of the scale below which a pose counts as the same: 32-bit floats hold no more.
_SMALL = 1e-6
#: The same for files of different formats, in whose units and axes each number was rounded.
_LOOSE, _RANGE = 1e-5, 1e-4


@dataclass(frozen=True, slots=True)
class Change:
    """path: of a prim; empty for the stage. kind: "units", "added", "removed", "path", "type", "schema", "value",
    "pose", "shape", "purpose", "material" or "extras". name: of the schema or the property. first, second: what the two
    files say, as JSON, SI units and degrees; None where one says nothing. text: the sentence.
    """  # fmt: skip

    path: str
    kind: str
    name: str
    first: Any
    second: Any
    text: str


def changes(first: PhysicsModel, second: PhysicsModel, *, same_format: bool = True) -> Iterator[Change]:
    """The differences of two models. Meshes of colliders are loaded.

    Prims are matched by path; those that are left by name or place, and then have the path of the first model.
    same_format: what each format says in its own way counts, too: paths, units, purposes, which prim of a body
    collides, and whether a value is authored that is the fallback.
    """
    if not same_format:
        first, second = matching.apart(first), matching.apart(second)
    moves = matching.matches(first, second)
    if moves:
        held = {path: prim for path, prim in second.prims.items() if prim.schemas}
        second = replace(second, prims=held).renamed(moves)
    for path, before in moves.items() if same_format else ():
        yield Change(before, "path", "path", before, path, f"'{before}' is at '{path}' now.")
    if same_format:
        yield from _units(first, second)
    judge = _Judge(same_format, 1.0 if same_format else _scale_between(first, second))
    for path, prim in first.prims.items():
        if prim.schemas and not _has_physics(second, path):
            yield _whole(prim, "removed")
    for path, prim in second.prims.items():
        if prim.schemas and not _has_physics(first, path):
            yield _whole(prim, "added")
        elif prim.schemas:
            yield from _of_prim(first.prims[path], prim, judge)
            yield from _poses(first, second, path, judge)


@dataclass(frozen=True, slots=True)
class _Judge:
    """What counts as a difference. is_strict: see `changes`. ratio: by which the second model is scaled, where a format
    has the unit of a file as a scale; its local lengths are as many times smaller.
    """  # fmt: skip

    is_strict: bool
    ratio: float

    def are_same(self, attribute: Attribute, one: Schema, other: Schema) -> bool:
        was, now = getattr(one, attribute.field), getattr(other, attribute.field)
        if self.is_strict:
            return same_value(attribute, was, now)
        if attribute.is_relationship:
            # What has no physics is matched by its name alone.
            named = [tuple(paths.name_of(path) for path in targets or ()) for targets in (was, now)]
            return same_value(attribute, was, now) or same_value(attribute, *named)
        was, now = one.resolved(attribute.field), other.resolved(attribute.field)
        if attribute.space == "local" and isinstance(now, tuple | float) and self.ratio != 1.0:
            now = with_elements(attribute.value, now, lambda part: part * self.ratio)
        if same_value(attribute, was, now):
            return True
        if not all(isinstance(part, float) for value in (was, now) for part in _parts(value)):
            return False
        pairs = list(zip(_parts(was), _parts(now), strict=False))
        size = max((abs(part) for pair in pairs for part in pair if math.isfinite(part)), default=0.0)
        return all(before == after or abs(before - after) <= _LOOSE * max(size, 1.0) for before, after in pairs)


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _scale_between(first: PhysicsModel, second: PhysicsModel) -> float:
    """By how much most prims of the second model are scaled as compared with the first."""
    ratios = []
    for path, prim in second.prims.items():
        if path in first.prims and (_is_placed(prim) or prim.get(usd_physics.CollisionAPI) is not None):
            volumes = [abs(frames.determinant(one.world)) for one in (first.prims[path], prim)]
            if all(0.0 < volume < math.inf for volume in volumes):
                ratios.append((volumes[1] / volumes[0]) ** (1.0 / 3.0))
    middle = float(np.median(ratios)) if ratios else 1.0
    return 1.0 if math.isclose(middle, 1.0, rel_tol=_LOOSE) else middle


def _is_placed(prim: Prim) -> bool:
    return prim.get(usd_physics.RigidBodyAPI) is not None


def _units(first: PhysicsModel, second: PhysicsModel) -> Iterator[Change]:
    units: tuple[tuple[str, Any, Any], ...] = (
        ("metersPerUnit", first.units.meters_per_unit, second.units.meters_per_unit),
        ("kilogramsPerUnit", first.units.kilograms_per_unit, second.units.kilograms_per_unit),
        ("upAxis", first.units.up_axis, second.units.up_axis),
    )
    for name, one, other in units:
        if one != other and (isinstance(one, str) or not math.isclose(one, other, rel_tol=RELATIVE)):
            yield Change("", "units", name, one, other, f"{name} of the stage is {other}, and was {one}.")


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


def _of_prim(one: Prim, other: Prim, judge: _Judge) -> Iterator[Change]:
    path = other.path
    for kind, name, was, now in (
        ("type", "type", one.type_name, other.type_name),
        ("purpose", "purpose", one.purpose, other.purpose),
        ("material", "physics material", ", ".join(one.materials), ", ".join(other.materials)),
    ):
        if was != now and (judge.is_strict or kind == "material"):
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
            yield from _values(path, name, one.schemas[name], value, judge)
    for key in sorted({*one.extras, *other.extras}) if judge.is_strict else ():
        if one.extras.get(key) != other.extras.get(key):
            values = one.extras.get(key), other.extras.get(key)
            yield Change(path, "extras", key, values[0], values[1], _sentence(path, key, values[0], values[1]))


def _listed(content: dict[str, Any]) -> str:
    parts = (f"{name} {value}" for name, value in content.items())
    return f" ({', '.join(parts)})" if content else ""


def _values(path: str, schema: str, one: Schema, other: Schema, judge: _Judge) -> Iterator[Change]:
    instance = _instance(schema)
    for attribute in other.attributes:
        was, now = getattr(one, attribute.field), getattr(other, attribute.field)
        # The range of a shape says that, see `_poses`.
        if judge.are_same(attribute, one, other) or (isinstance(other, usd_geom.Gprim) and not judge.is_strict):
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


def _poses(first: PhysicsModel, second: PhysicsModel, path: str, judge: _Judge) -> Iterator[Change]:
    """Where a body, or a collider on its body, is, and the points of a mesh."""
    one, other = first.prims[path], second.prims[path]
    is_body = one.get(usd_physics.RigidBodyAPI) is not None and other.get(usd_physics.RigidBodyAPI) is not None
    is_collider = one.get(usd_physics.CollisionAPI) is not None and other.get(usd_physics.CollisionAPI) is not None
    if is_collider and not judge.is_strict:
        # One size and scale can be another size and scale, and a mesh can be cut into other triangles.
        ranges = [_range(model, path) for model in (first, second)]
        if ranges[0] is not None and ranges[1] is not None:
            if (text := _other_range(ranges[0], ranges[1])) is not None:
                yield Change(path, "shape", "", ranges[0].tolist(), ranges[1].tolist(), f"'{path}' {text}.")
            return
    if is_body or is_collider:
        before, after = (_pose(model, path, judge, on_body=not is_body) for model in (first, second))
        text = _moved(before, after, judge)
        if text:
            yield Change(path, "pose", "", _as_json(one.world), _as_json(other.world), f"'{path}' has {text}.")
    if is_collider and one.mesh is not None and other.mesh is not None and not _are_same_shapes(one, other):
        yield Change(path, "shape", "", None, None, f"'{path}' has other points or faces.")


def _range(model: PhysicsModel, path: str) -> Matrix | None:
    """What a collider covers (2, 3), m, along the axes of its body; None without a shape."""
    body = model.body_of(path)
    above: Matrix | None = None
    if body is not None:
        above = np.asarray(np.linalg.inv(frames.unscaled(body.world)), float)
    return likeness.bounds(model.prims[path], None, above)


def _other_range(one: Matrix, other: Matrix) -> str | None:
    """How what a collider covers has changed, in words; None where it has not."""
    sizes = [np.ptp(bounds, axis=0) for bounds in (one, other)]
    small = _RANGE * float(max(sizes[0].max(), np.abs(one).max()))
    if np.abs(sizes[0] - sizes[1]).max() > small:
        return f"measures {size_text(sizes[1])} m; was {size_text(sizes[0])} m"
    away = float(np.abs(one - other).max())
    return f"has moved by {away:.6g} m" if away > small else None


def _pose(model: PhysicsModel, path: str, judge: _Judge, *, on_body: bool) -> Matrix:
    """World matrix of a prim (4, 4), or for a collider the matrix relative to its body, if it has one."""
    world = np.asarray(model.prims[path].world, float)
    body = model.body_of(path) if on_body else None
    if body is None:
        return world
    above = np.asarray(body.world, float)
    if not judge.is_strict or frames.is_flat(frames.determinant(above)):
        above = frames.unscaled(above)
    return np.linalg.solve(above, world)


def _moved(one: Matrix, other: Matrix, judge: _Judge) -> str:
    """How one pose becomes the other, in words; empty where they are the same."""
    small = _SMALL if judge.is_strict else _LOOSE
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return "" if np.array_equal(one, other, equal_nan=True) else "another pose, which is not finite"
    scales = [np.linalg.norm(pose[:3, :3], axis=0) for pose in (one, other)]
    words = []
    step = float(np.linalg.norm(other[:3, 3] - one[:3, 3]))
    if step > small * max(1.0, float(np.abs(one[:3, 3]).max())):
        words.append(f"moved by {step:.6g} m")
    axes = [pose[:3, :3] / np.where(scale, scale, 1.0) for pose, scale in zip((one, other), scales, strict=True)]
    # By the chord between the axes, which is exact for small angles, where a cosine is not.
    angle = 2.0 * math.asin(min(1.0, float(np.linalg.norm(axes[1] - axes[0])) / math.sqrt(8.0)))
    if angle > 10.0 * small:
        words.append(f"turned by {math.degrees(angle):.6g} degrees")
    # Elsewhere, what collides tells the scale.
    if judge.is_strict and np.abs(scales[1] - scales[0]).max() > 10.0 * small * float(scales[0].max() or 1.0):
        words.append(f"another scale, {_numbers(scales[1])} in place of {_numbers(scales[0])}")
    return " and ".join(words)


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
