# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks a stage before Blender's importer reads it, because some invalid files crash Blender."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdLux, UsdShade, UsdVol, Vt

from ..core import units
from ..core.errors import InputError
from ..core.validate import Issue
from ..core.words import counted
from ..system.files import is_endless
from . import composition
from . import opinions as usd_opinions
from . import read as usd_read
from .instancers import Instancers
from .opinions import Opinions

#: Largest depth of prims; deeper hierarchies take minutes to import.
MAX_DEPTH = 200
#: Largest sum of squared corner counts: Blender's time for the normal of a face grows with the square of its corners.
_MAX_WORK = 4e9
#: Most instances that Blender is asked to show.
_MOST_INSTANCES = 10_000_000
_MESH_ARRAYS = ("points", "faceVertexCounts", "faceVertexIndices")
_COLORS, _NO_COLORS = "primvars:displayColor", "ColorsUnreadable"
#: Blender 4.5 and 5.0 write a color for each face of a cube, sphere, cylinder or cone beyond the mesh that they make.
_COLORS_CRASH = Usd.GetVersion() < (0, 26, 3)
#: Largest number of faces and corners for the fast check.
_SMALL = 4096


def check(stage: Usd.Stage, path: Path) -> tuple[list[Opinions], list[Issue]]:
    """Raise InputError, naming file and prim, if Blender cannot import the stage.

    Returns the opinions of all prims for reuse, and a warning for each prim whose geometry Blender must not read.
    """
    usd_read.check_rates(stage)  # variants that were chosen since can bring in layers
    units.checked_units(usd_read.stage_units(stage), path.name)
    opinions: list[Opinions] = []
    broken: list[Issue] = []
    sound: set[Any] = set()
    next_look = 0
    for index, one in enumerate(usd_opinions.of_stage(stage)):
        opinions.append(one)
        # From one prim to the next the depth grows by one at most.
        if index >= next_look:
            if (depth := one.path.count("/")) > MAX_DEPTH:
                raise _refused(path, _too_deep(one.path))
            next_look = index + MAX_DEPTH + 1 - depth
        check_shape = _shape_check(one.type_name)
        if check_shape is not None and (reason := check_shape(one, sound)):
            if check_shape is _endless_file:
                raise _refused(path, reason)
            broken.append(_without_colors(one, reason) if check_shape is _face_colors else _broken(one, reason))
    instancers = [one for one in opinions if usd_opinions.is_a(one.type_name, UsdGeom.PointInstancer)]
    if instancer := Instancers({one.path: one.usd_prim for one in instancers}).multiplying(_MOST_INSTANCES):
        raise _refused(
            path, f"{_name(instancer)}, with the instancers among its prototypes, shows more than {_MOST_INSTANCES:,} "
            "instances; reduce its protoIndices",
        )  # fmt: skip
    if shader := _shader_in_circle(opinions):
        raise InputError(f"'{path.name}' cannot be imported: the shader {_name(shader)} feeds itself.")
    return opinions, broken


def _refused(path: Path, reason: str) -> InputError:
    return InputError(f"'{path.name}' cannot be imported: {reason}.")


def _broken(opinions: Opinions, reason: str) -> Issue:
    return Issue(
        "GeometryUnreadable", "warning", opinions.path, "",
        f"{_name(opinions.path)} comes in as an Empty, and stays in the file as it is: {reason}.",
        "Repair it in the program that it comes from; a file that Blender composes has the Empty.",
    )  # fmt: skip


def _without_colors(opinions: Opinions, reason: str) -> Issue:
    return Issue(
        _NO_COLORS, "warning", opinions.path, "",
        f"{_name(opinions.path)} comes in without its display colors, which stay in the file as they are: {reason}.",
        "Use Blender 5.2 to see them; a file that Blender composes has none.",
    )  # fmt: skip


def write_readable(stage: Usd.Stage, broken: Iterable[Issue], layer: Sdf.Layer) -> None:
    """Write into a layer over a stage what Blender must not read of the prims of `check`'s warnings.

    Their colors are blocked, or they become Xforms; instances around them become copies. An up axis that USD does not
    know becomes Z, as which it is read: Blender takes all but Z for Y.
    """
    if composition.odd_up_axis(stage):
        layer.pseudoRoot.SetInfo("upAxis", "Z")
    for issue in broken:
        for above in Sdf.Path(issue.path).GetPrefixes():
            if stage.GetPrimAtPath(above).IsInstance():
                Sdf.CreatePrimInLayer(layer, above).instanceable = False
        prim = Sdf.CreatePrimInLayer(layer, issue.path)
        if issue.code == _NO_COLORS:
            Sdf.AttributeSpec(prim, _COLORS, Sdf.ValueTypeNames.Color3fArray).default = Sdf.ValueBlock()
        else:
            prim.typeName = "Xform"


def _shader_in_circle(opinions: Iterable[Opinions]) -> str:
    """Path of a shader whose inputs come from its own outputs, which Blender follows without end; or ""."""
    sources: dict[str, list[str]] = {}
    for one in opinions:
        if one.type_name in ("Shader", "NodeGraph", "Material"):
            wires = [name for name in one.names if name.startswith(("inputs:", "outputs:"))]
            for name in wires:
                attribute = one.usd_prim.GetAttribute(name)
                targets = [str(path) for path in attribute.GetConnections()] if attribute else []
                sources[f"{one.path}.{name}"] = targets
            if one.type_name == "Shader":
                # Its outputs depend on all its inputs.
                sources[one.path] = [f"{one.path}.{name}" for name in wires if name.startswith("inputs:")]
    done: set[str] = set()
    for start in sources:
        walk, above = [(start, iter(_upstream(start, sources)))], {start}
        while walk:
            node, rest = walk[-1]
            following = next((other for other in rest if other not in done), None)
            if following is None:
                done.add(node)
                above.discard(node)
                walk.pop()
            elif following in above:
                circle = [path for path, _ in walk]
                shaders = [path for path in circle[circle.index(following) :] if "." not in path]
                if shaders:
                    return shaders[0]
                done.add(following)
            else:
                above.add(following)
                walk.append((following, iter(_upstream(following, sources))))
    return ""


def _upstream(node: str, sources: Mapping[str, list[str]]) -> list[str]:
    """What a property, or a shader as a whole, takes its values from."""
    upstream = list(sources.get(node, ()))
    prim, _, name = node.partition(".")
    if name.startswith("outputs:") and prim in sources:
        upstream.append(prim)
    return upstream


def _name(path: str) -> str:
    """Path of a prim in quotes, without the middle of a very long one."""
    return f"'{path}'" if len(path) <= 120 else f"'{path[:60]}...{path[-57:]}'"


def _too_deep(path: str) -> str:
    root = path[: path.index("/", 1)]
    return f"the prims below {_name(root)} are nested more than {MAX_DEPTH} levels deep"


@cache
def _shape_check(type_name: str) -> Callable[[Opinions, set[Any]], str] | None:
    """The check function for the arrays or files of a prim type; None for types without."""
    kind = Usd.SchemaRegistry.GetTypeFromSchemaTypeName(type_name)
    checks = (
        (UsdGeom.Mesh, _broken_mesh), (UsdGeom.Curves, _broken_curves), (UsdGeom.Points, _broken_points),
        (UsdShade.Shader, _endless_file), (UsdVol.FieldAsset, _endless_file), (UsdLux.DomeLight, _endless_file),
        (UsdGeom.Gprim, _face_colors if _COLORS_CRASH else None),
    )  # fmt: skip
    return next((check for base, check in checks if kind.IsA(base)), None)


def _broken_mesh(opinions: Opinions, sound: set[Any]) -> str:
    """Why the arrays of a mesh are inconsistent, or "". sound: cache of valid face counts."""
    if opinions.is_still and _is_plain_mesh(opinions, sound):
        return ""
    mesh = UsdGeom.Mesh(opinions.usd_prim)
    attributes = (mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
    for time in _times(attributes):
        points = _array(attributes[0], time, Vt.Vec3fArray)
        counts, indices = (_array(attribute, time, Vt.IntArray) for attribute in attributes[1:])
        name = f"the mesh {_name(opinions.path)}"
        if len(counts) and counts.min() < 0:
            return f"{name} has a face with {counts.min()} corners"
        if np.square(counts, dtype=float).sum() > _MAX_WORK:
            return f"{name} has a face with {counts.max()} corners, which is more than Blender can work with"
        if counts.sum(dtype=np.int64) != len(indices):
            return f"{name} has {len(indices)} face vertex indices where its faces have {counts.sum()} corners"
        if len(indices) and (indices.min() < 0 or indices.max() >= len(points)):
            wrong = indices.min() if indices.min() < 0 else indices.max()
            return f"{name} has the face vertex index {wrong} and {counted(len(points), 'point')}"
    return ""


def _is_plain_mesh(opinions: Opinions, sound: set[bytes]) -> bool:
    """True for a valid small mesh: a fast test for the usual case, which gives no reason if it fails."""
    if opinions.spec is None:
        return False
    find = opinions.spec.properties.get
    arrays: list[Any] = [getattr(find(name), "default", None) for name in _MESH_ARRAYS]
    points, counts, indices = arrays
    if not (isinstance(points, Vt.Vec3fArray) and isinstance(counts, Vt.IntArray) and isinstance(indices, Vt.IntArray)):
        return False
    if len(counts) > _SMALL or len(indices) > _SMALL:
        return False
    faces = np.asarray(counts)
    if (key := faces.tobytes()) not in sound:
        if len(faces) and faces.min() < 0:
            return False
        sound.add(key)
    return bool(UsdGeom.Mesh.ValidateTopology(indices, counts, len(points))[0])


def _broken_curves(opinions: Opinions, sound: set[Any]) -> str:
    """Why the arrays of curves are inconsistent, or ""."""
    curves = UsdGeom.Curves(opinions.usd_prim)
    attributes = (curves.GetPointsAttr(), curves.GetCurveVertexCountsAttr())
    for time in _times(attributes):
        points, counts = _array(attributes[0], time, Vt.Vec3fArray), _array(attributes[1], time, Vt.IntArray)
        name = _name(opinions.path)
        if len(counts) and (counts.min() < 0 or counts.sum(dtype=np.int64) != len(points)):
            return f"the curves {name} have {counted(len(points), 'point')}, which does not match their vertex counts"
        if len(counts) and not counts.min():
            return f"the curves {name} have a curve without points"
        if len(counts) and counts.min() < 3 and _closes_bezier(opinions.usd_prim):
            return f"the curves {name} have a closed Bezier curve of {counts.min()} points, which is less than 3"
        is_nurbs = opinions.usd_prim.IsA(UsdGeom.NurbsCurves)
        if len(counts) and is_nurbs and not _has_knots(UsdGeom.NurbsCurves(opinions.usd_prim), counts):
            return f"the curves {name} have orders and knots that do not fit their vertex counts"
    return ""


def _has_knots(curves: UsdGeom.NurbsCurves, counts: Any) -> bool:
    order = _array(curves.GetOrderAttr(), Usd.TimeCode.Default(), Vt.IntArray)
    knots = _array(curves.GetKnotsAttr(), Usd.TimeCode.Default(), Vt.DoubleArray)
    fits = len(order) == len(counts) and order.min() > 1 and bool((order <= counts).all())
    return fits and int(order.sum() + counts.sum()) == len(knots)


def _closes_bezier(usd_prim: Usd.Prim) -> bool:
    """True for curves that Blender closes as Bezier curves, and reads beyond the points of short ones."""
    curves = UsdGeom.BasisCurves(usd_prim)
    kind = curves.GetTypeAttr().Get(), curves.GetBasisAttr().Get(), curves.GetWrapAttr().Get()
    return kind == (UsdGeom.Tokens.cubic, UsdGeom.Tokens.bezier, UsdGeom.Tokens.periodic)


def _broken_points(opinions: Opinions, sound: set[Any]) -> str:
    """Error for a point cloud without points, on which Blender's exporter crashes, or with too many widths, or ""."""
    cloud = UsdGeom.Points(opinions.usd_prim)
    attribute, name = cloud.GetPointsAttr(), f"the point cloud {_name(opinions.path)}"
    if not any(len(_array(attribute, time, Vt.Vec3fArray)) for time in _times([attribute])):
        return f"{name} has no points"
    for widths in (cloud.GetWidthsAttr(), UsdGeom.PrimvarsAPI(cloud).GetPrimvar("widths").GetAttr()):
        if not widths:
            continue
        for time in _times((attribute, widths)):
            points, sizes = _array(attribute, time, Vt.Vec3fArray), _array(widths, time, Vt.FloatArray)
            if len(sizes) > max(1, len(points)):
                return f"{name} has {counted(len(points), 'point')} and {counted(len(sizes), 'width')}"
    return ""


def _face_colors(opinions: Opinions, sound: set[Any]) -> str:
    """Why Blender cannot read the colors of a shape, or ""."""
    if _COLORS not in opinions.names:
        return ""
    colors = UsdGeom.PrimvarsAPI(opinions.usd_prim).GetPrimvar(_COLORS)
    if colors.GetInterpolation() != UsdGeom.Tokens.uniform or not colors.HasValue():
        return ""
    return "this Blender crashes on a color for each face of a shape"


def _endless_file(opinions: Opinions, sound: set[Any]) -> str:
    """Error for an image or a volume that is a pipe, for which Blender waits, or a device; or ""."""
    for item in usd_opinions.authored_properties(opinions.usd_prim):
        if not isinstance(item, Usd.Attribute) or item.GetTypeName() != Sdf.ValueTypeNames.Asset:
            continue
        for time in _times([item]):
            asset = item.Get(time)
            if asset is not None and asset.resolvedPath and is_endless(Path(asset.resolvedPath)):
                return f"{_name(opinions.path)} reads '{asset.resolvedPath}', which is a device or a pipe"
    return ""


def _times(attributes: Any) -> list[Usd.TimeCode]:
    """The default time and all time samples of the attributes."""
    samples = {time for attribute in attributes for time in attribute.GetTimeSamples()}
    return [Usd.TimeCode.Default(), *map(Usd.TimeCode, sorted(samples))]


def _array(attribute: Usd.Attribute, time: Usd.TimeCode, kind: Any) -> Any:
    """Values of an attribute; without a default the earliest sample; empty if they have another type."""
    value = attribute.Get(time)
    if value is None and time.IsDefault():
        value = attribute.Get(Usd.TimeCode.EarliestTime())
    return np.asarray(value) if isinstance(value, kind) and len(value) else np.zeros(0, np.int64)
