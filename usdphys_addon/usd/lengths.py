# SPDX-License-Identifier: GPL-3.0-or-later
"""Which numbers of geometry, cameras, lights and skeletons are lengths, and the same numbers in another unit.

Physics is not here: its rows say what they measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdLux, UsdSkel, UsdVol, Vt

from ..core.units import is_infinite
from .opinions import is_a
from .write import tidy

#: What of a value is a length. "all": each number. "place": the translation of a matrix. "plane": the last number of
#: four. "world": each number, which no scale of the prim changes.
Part = Literal["all", "place", "plane", "world"]

#: Attributes by the type that has them, and what of their values is a length.
_ROWS: tuple[tuple[type, str, Part], ...] = (
    (UsdGeom.Boundable, "extent", "all"),
    (UsdGeom.PointBased, "points velocities accelerations", "all"),
    (UsdGeom.Points, "widths primvars:widths", "all"),
    (UsdGeom.Curves, "widths primvars:widths", "all"),
    (UsdGeom.PointInstancer, "positions velocities accelerations", "all"),
    (UsdGeom.Gprim, "size radius radiusTop radiusBottom height width length", "all"),
    (UsdGeom.Camera, "clippingRange focusDistance", "world"),
    (UsdGeom.Camera, "clippingPlanes", "plane"),
    (UsdLux.BoundableLightBase, "inputs:radius inputs:width inputs:height inputs:length", "all"),
    (UsdLux.DomeLight, "guideRadius", "all"),
    (UsdLux.DomeLight_1, "guideRadius", "all"),
    (UsdSkel.Skeleton, "bindTransforms restTransforms", "place"),
    (UsdSkel.Animation, "translations", "all"),
    (UsdSkel.BlendShape, "offsets", "all"),
)
#: The same by the name of a type that older versions of OpenUSD do not have.
_BY_NAME: dict[str, str] = {"ParticleField3DGaussianSplat": "positions positionsh scales scalesh"}
#: Attributes of prims of any type.
_ANYWHERE: dict[str, Part] = {"extentsHint": "all", "primvars:skel:geomBindTransform": "place"}
#: The operations of a transform that move, and offsets between two shapes, by the beginning of their names.
_BEGINNINGS: tuple[tuple[str, Part], ...] = (
    ("xformOp:translate", "all"), ("xformOp:transform", "place"), ("inbetweens:", "all"),
)  # fmt: skip
#: Prims whose content is in files of their own, which have their own unit.
_KEPT = (UsdVol.Volume, UsdVol.FieldAsset)
_SCALE = "xformOp:scale:unitsResolve"
_ORDER = "xformOpOrder"


def part_of(type_name: str, name: str) -> Part | None:
    """What of an attribute of a prim of this type is a length; None where nothing is."""
    known = _of_type(type_name).get(name)
    if known is not None:
        return known
    for beginning, part in _BEGINNINGS:
        if name.startswith(beginning):
            return None if name.endswith(":normalOffsets") else part
    return None


@lru_cache(maxsize=256)
def _of_type(type_name: str) -> dict[str, Part]:
    rows = [(names, part) for base, names, part in _ROWS if type_name and is_a(type_name, base)]
    rows.append((_BY_NAME.get(type_name, ""), "all"))
    return _ANYWHERE | {name: part for names, part in rows for name in names.split()}


class Fallback(NamedTuple):
    """An attribute that a type of prims has without an opinion, and its value."""

    name: str
    type: Sdf.ValueTypeName
    variability: Sdf.Variability
    value: Any
    part: Part


@lru_cache(maxsize=256)
def fallbacks(type_name: str) -> tuple[Fallback, ...]:
    """The lengths that a prim of this type has where nobody has said one. An extent is computed from the others."""
    known = Usd.SchemaRegistry().FindConcretePrimDefinition(type_name) if type_name else None
    lengths: list[Fallback] = []
    if not known:
        return ()
    for name, part in _of_type(type_name).items():
        spec = known.GetSchemaAttributeSpec(name) if name != "extent" else None
        if spec is not None and spec.default is not None and np.asarray(spec.default, float).any():
            lengths.append(Fallback(name, spec.typeName, spec.variability, spec.default, part))
    return tuple(lengths)


def say_fallbacks(spec: Sdf.PrimSpec, factor: float, world: float) -> None:
    """Author the lengths of a prim that nobody has said, multiplied as by `scale_own`."""
    for name, type_, variability, value, part in fallbacks(spec.typeName):
        times = world if part == "world" else factor
        if times != 1.0 and name not in spec.attributes:
            Sdf.AttributeSpec(spec, name, type_, variability).default = scaled(value, part, times)


@lru_cache(maxsize=256)
def is_of_a_file(type_name: str) -> bool:
    """True for a prim that shows the content of another file, such as a volume: that has its own unit."""
    return bool(type_name) and any(is_a(type_name, base) for base in _KEPT)


def scaled(value: Any, part: Part, factor: float) -> Any:
    """A value whose lengths are multiplied by a factor; any other value as it is."""
    if factor == 1.0:
        return value
    if isinstance(value, float):
        return _times(value, factor)
    if isinstance(value, Gf.Matrix4d):
        made = type(value)(value)
        made.SetRow(3, Gf.Vec4d(*(_times(one, factor) for one in value.ExtractTranslation()), 1.0))
        return made
    if isinstance(value, _VECTORS):
        first = 3 if part == "plane" else 0
        return type(value)(*(one if index < first else _times(one, factor) for index, one in enumerate(value)))
    numbers = np.array(value, float) if isinstance(value, _ARRAYS) else None
    if numbers is None:
        return value
    if part == "place":
        numbers[:, 3, :3] *= factor
    elif part == "plane":
        numbers[:, 3] *= factor
    else:
        numbers *= factor
    return type(value).FromNumpy(numbers.astype(np.asarray(value).dtype))


def _times(value: float, factor: float) -> float:
    # Twelve digits: a product of doubles that was a round number is one again.
    return value if is_infinite(value) else float(f"{value * factor:.12g}")


_VECTORS = tuple(getattr(Gf, f"Vec{size}{kind}") for size in (2, 3, 4) for kind in "hfd")
_ARRAYS = (
    *(getattr(Vt, f"Vec{size}{kind}Array") for size in (2, 3, 4) for kind in "hfd"),
    Vt.HalfArray, Vt.FloatArray, Vt.DoubleArray, Vt.Matrix4dArray,
)  # fmt: skip


def change(item: Sdf.AttributeSpec, part: Part, factor: float) -> None:
    """Scale the lengths of the value and of the time samples of an attribute."""
    change_values(item, lambda value: scaled(value, part, factor))


def scale_below(specs: Iterable[Sdf.PrimSpec], factor: float, world: float) -> None:
    """Scale the lengths of prims and of all below them. world: factor of lengths that no scale of a prim changes."""
    pending = list(specs)
    while pending:
        spec = pending.pop()
        if is_of_a_file(spec.typeName):
            keep_size(spec, factor)
            continue
        scale_own(spec, factor, world)
        pending.extend(spec.nameChildren)


def scale_own(spec: Sdf.PrimSpec, factor: float, world: float, *, place: float | None = None) -> None:
    """Scale the lengths of a prim. place: another factor of its place."""
    type_name = spec.typeName
    for name in spec.properties.keys():
        part = part_of(type_name, name)
        if part is not None and (item := spec.attributes.get(name)) is not None:
            is_place = place is not None and name.startswith("xformOp:")
            change(item, part, world if part == "world" else place if is_place and place is not None else factor)
    say_fallbacks(spec, factor, world)


def keep_size(spec: Sdf.PrimSpec, factor: float) -> None:
    """Scale a prim with all that is below it: its place as others, and its content by an operation of its own."""
    for name in [name for name in spec.properties.keys() if name.startswith("xformOp:")]:
        if (part := part_of("", name)) is not None:
            change(spec.attributes[name], part, factor)
    names = operations(spec)
    scale = spec.attributes.get(_SCALE) if names[-1:] == [_SCALE] else None
    if scale is not None:
        change(scale, "all", factor)
        return
    Sdf.AttributeSpec(spec, _SCALE, Sdf.ValueTypeNames.Double3).default = Gf.Vec3d(_times(factor, 1.0))
    set_operations(spec, [*names, _SCALE])


def put_scale(spec: Sdf.PrimSpec, factor: float) -> None:
    """Scale a prim in the space above it, by an operation of its own."""
    Sdf.AttributeSpec(spec, _SCALE, Sdf.ValueTypeNames.Double3).default = Gf.Vec3d(tidy(factor, 0.0))
    names = operations(spec)
    first = int(names[:1] == ["!resetXformStack!"])
    set_operations(spec, [*names[:first], _SCALE, *names[first:]])


def take_scale(spec: Sdf.PrimSpec, scale: float) -> None:
    """Divide the linear part of a prim's transform by a scale: of translate, rotate and scale, or of a matrix."""
    names = operations(spec)
    for name in names:
        item = spec.attributes.get(name)
        if item is None:
            continue
        if name.startswith("xformOp:transform"):
            change_values(item, lambda matrix: _with_linear(matrix, 1.0 / scale))
        elif name.startswith("xformOp:scale"):
            change(item, "all", 1.0 / scale)
            moving = item.layer.GetNumTimeSamplesForPath(item.path)
            if not moving and max(abs(part - 1.0) for part in item.default) < 1e-6:
                spec.RemoveProperty(item)
                set_operations(spec, [one for one in names if one != name])
            return


def change_values(item: Sdf.AttributeSpec, made: Callable[[Any], Any]) -> None:
    """Change the value and the time samples of an attribute; not those that are blocked."""
    if item.HasDefaultValue() and not isinstance(item.default, Sdf.ValueBlock):
        item.default = made(item.default)
    for time in item.layer.ListTimeSamplesForPath(item.path):
        value = item.layer.QueryTimeSample(item.path, time)
        if not isinstance(value, Sdf.ValueBlock):
            item.layer.SetTimeSample(item.path, time, made(value))


def _with_linear(matrix: Any, factor: float) -> Any:
    """A matrix whose linear part is multiplied by a factor."""
    numbers = np.array(matrix)
    numbers[:3, :3] *= factor
    return Gf.Matrix4d(numbers.tolist())


def operations(spec: Sdf.PrimSpec) -> list[str]:
    """The order of the transform operations of a prim."""
    order = spec.attributes.get(_ORDER)
    return list(order.default or ()) if order is not None else []


def set_operations(spec: Sdf.PrimSpec, names: list[str]) -> None:
    """Author the order of the transform operations of a prim; of none, remove it."""
    order = spec.attributes.get(_ORDER)
    if not names:
        if order is not None:
            spec.RemoveProperty(order)
        return
    order = order or Sdf.AttributeSpec(spec, _ORDER, Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
    order.default = Vt.TokenArray(names)
