# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be seen of a stage, for a URDF: gprims and meshes with their materials. The stage is in SI units."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdShade

from ..core import frames, schema
from ..core.model import PhysicsModel
from ..core.schemas import usd_geom
from ..urdf.build import Part
from ..urdf.mesh_data import MeshData, MeshMaterial
from .rest_time import place_cache

_SEEN = frozenset({UsdGeom.Tokens.default_, UsdGeom.Tokens.render})


def visible_parts(stage: Usd.Stage, model: PhysicsModel) -> Iterator[Part]:
    """The gprims that are rendered, with their matrices in the world of the model."""
    materials: dict[str, MeshMaterial | None] = {}
    for prim in Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)):
        seen = UsdGeom.Gprim(prim)
        if not seen or seen.ComputePurpose() not in _SEEN or seen.ComputeVisibility() == UsdGeom.Tokens.invisible:
            continue
        path = str(prim.GetPath())
        world = model.locate(path) if model.locate is not None else None
        if world is None:
            continue
        kind = schema.SCHEMAS.get(str(prim.GetTypeName()))
        own = _material(prim, materials) or _display_color(seen)
        if prim.IsA(UsdGeom.Mesh):
            mesh = _mesh(UsdGeom.Mesh(prim), own, materials)
            if mesh is not None:
                # A plain colour is a material of the URDF, which programs show for files without one.
                whole = own if not mesh.materials else None
                yield Part(path, world, mesh=mesh, material=whole)
        elif kind is not None and issubclass(kind, usd_geom.Gprim):
            yield Part(path, world, gprim=_gprim(prim, kind), material=own)


def mesh_at(stage: Usd.Stage, path: str, scale: tuple[float, ...], *, colored: bool) -> MeshData | None:
    """The mesh of a prim, in metres before a scale; None if there is none. colored: with a material of one colour."""
    mesh, known = UsdGeom.Mesh(stage.GetPrimAtPath(path)), {}  # type: ignore[var-annotated]
    own = _material(mesh.GetPrim(), known) if mesh else None
    made = _mesh(mesh, own, known) if mesh else None
    if made is None:
        return None
    if colored and own is not None and not made.materials:
        made.materials, made.faces = [own], np.zeros(len(made.counts), np.int64)
    world = np.array(place_cache(mesh.GetPrim()).GetLocalToWorldTransform(mesh.GetPrim())).T
    # Without the noise of turned axes: uses of one mesh are to be one file.
    units = [float(f"{abs(one / other):.5g}") for one, other in zip(frames.scale_of(world), scale, strict=True)]
    made.points = made.points * units * UsdGeom.GetStageMetersPerUnit(stage)
    return made


def _gprim(prim: Usd.Prim, kind: type[usd_geom.Gprim]) -> usd_geom.Gprim:
    made: Any = kind()
    for attribute in kind.attributes:
        value = prim.GetAttribute(attribute.usd).Get()
        if isinstance(value, int | float | str):
            setattr(made, attribute.field, value)
    return made  # type: ignore[no-any-return]


def _array(attribute: Any, size: int = 1) -> Any:
    """The numbers of an attribute, in rows of a size; none for one of another type."""
    value = attribute.Get()
    if value is None:
        value = attribute.Get(Usd.TimeCode.EarliestTime())
    array = np.asarray(value if value is not None else ())
    if array.dtype.kind not in "biuf" or array.size % size:
        array = np.zeros(0)
    return array.reshape(-1, size) if size > 1 else array.reshape(-1)


def _mesh(mesh: UsdGeom.Mesh, own: MeshMaterial | None, known: dict[str, MeshMaterial | None]) -> MeshData | None:
    points = _array(mesh.GetPointsAttr(), 3).astype(float)
    counts = _array(mesh.GetFaceVertexCountsAttr()).astype(np.int64)
    corners = _array(mesh.GetFaceVertexIndicesAttr()).astype(np.int64)
    if not len(points) or not len(counts) or counts.min() < 3 or counts.sum() != len(corners):
        return None
    if corners.min() < 0 or corners.max() >= len(points) or not np.isfinite(points).all():
        return None
    made = MeshData(points, counts, corners, _uvs(mesh, corners), _normals(mesh, corners))
    if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
        # Normals point outwards whatever the order of the corners.
        made = made.turned_inside_out()
    subsets = [
        (one.GetIndicesAttr().Get(), _material(one.GetPrim(), known))
        for one in UsdShade.MaterialBindingAPI(mesh.GetPrim()).GetMaterialBindSubsets()
    ]
    if any(look is not None for _, look in subsets) or (own is not None and (own.texture or own.glow) is not None):
        materials = [own or MeshMaterial("material", (0.5, 0.5, 0.5, 1.0))]
        faces = np.zeros(len(counts), np.int64)
        for indices, look in subsets:
            inside = np.asarray(indices if indices is not None else (), np.int64)
            if look is not None:
                if look not in materials:
                    materials.append(look)
                faces[inside[(inside >= 0) & (inside < len(counts))]] = materials.index(look)
        used = sorted(set(faces.tolist()))
        made.materials = [materials[index] for index in used]
        made.faces = np.searchsorted(used, faces).astype(np.int64)
    return made


def _by_corner(values: Any, interpolation: str, corners: Any) -> Any:
    if interpolation == UsdGeom.Tokens.faceVarying and len(values) == len(corners):
        return values
    if interpolation in (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying) and len(values) > corners.max():
        return values[corners]
    return None


def _uvs(mesh: UsdGeom.Mesh, corners: Any) -> Any:
    for primvar in UsdGeom.PrimvarsAPI(mesh).FindPrimvarsWithInheritance():
        if primvar.GetTypeName().cppTypeName in ("VtArray<GfVec2f>", "VtArray<GfVec2d>"):
            values = np.asarray(primvar.ComputeFlattened() or (), float).reshape(-1, 2)
            values_by_corner = _by_corner(values, primvar.GetInterpolation(), corners)
            if values_by_corner is not None and np.isfinite(values_by_corner).all():
                return values_by_corner
    return None


def _normals(mesh: UsdGeom.Mesh, corners: Any) -> Any:
    values = _array(mesh.GetNormalsAttr(), 3).astype(float)
    values_by_corner = _by_corner(values, mesh.GetNormalsInterpolation(), corners)
    return values_by_corner if values_by_corner is not None and np.isfinite(values_by_corner).all() else None


def _display_color(seen: UsdGeom.Gprim) -> MeshMaterial | None:
    colors = _array(seen.GetDisplayColorAttr(), 3)
    if len(colors) != 1:
        return None
    red, green, blue = colors[0].tolist()
    return MeshMaterial("color", (red, green, blue, 1.0))


def _material(prim: Usd.Prim, known: dict[str, MeshMaterial | None]) -> MeshMaterial | None:
    try:
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    except Tf.ErrorException:
        return None
    if not material:
        return None
    path = str(material.GetPath())
    if path not in known:
        known[path] = _look(material)
    return known[path]


def _look(material: UsdShade.Material) -> MeshMaterial | None:
    """Colour, opacity and image of a UsdPreviewSurface."""
    surface = material.ComputeSurfaceSource()[0]
    if not surface or surface.GetIdAttr().Get() != "UsdPreviewSurface":
        return None
    name = str(material.GetPrim().GetDisplayName() or material.GetPrim().GetName())
    alpha = _value(surface.GetInput("opacity"))
    alpha = min(1.0, max(0.0, float(alpha))) if isinstance(alpha, float) else 1.0
    glow = _value(surface.GetInput("emissiveColor"))
    emission = (float(glow[0]), float(glow[1]), float(glow[2])) if isinstance(glow, Gf.Vec3f) else (0.0, 0.0, 0.0)
    shining = _image(surface.GetInput("emissiveColor")) if surface.GetInput("emissiveColor") and glow is None else None
    if shining is not None:
        emission = _factor(surface.GetInput("emissiveColor"))
    diffuse = surface.GetInput("diffuseColor")
    if not diffuse:
        return MeshMaterial(name, (0.18, 0.18, 0.18, alpha), emission=emission, glow=shining)
    value, image = _value(diffuse), None
    if isinstance(value, Gf.Vec3f):
        color = (float(value[0]), float(value[1]), float(value[2]), alpha)
    else:
        image = _image(diffuse)
        color = (1.0, 1.0, 1.0, alpha) if image else (0.5, 0.5, 0.5, alpha)
    return MeshMaterial(name, color, image, emission, shining)


def _value(given: UsdShade.Input) -> Any:
    """The value of an input, also behind the interface of its material; None if a shader gives it."""
    if not given:
        return None
    for attribute in given.GetValueProducingAttributes():
        if not UsdShade.Output.IsOutput(attribute):
            return attribute.Get()
    return None


def _factor(given: UsdShade.Input) -> tuple[float, float, float]:
    """By what the image behind an input is multiplied."""
    for attribute in given.GetValueProducingAttributes():
        texture = UsdShade.Shader(attribute.GetPrim())
        scale = _value(texture.GetInput("scale")) if texture else None
        if isinstance(scale, Gf.Vec4f):
            return float(scale[0]), float(scale[1]), float(scale[2])
    return 1.0, 1.0, 1.0


def _image(given: UsdShade.Input) -> Path | None:
    for attribute in given.GetValueProducingAttributes():
        texture = UsdShade.Shader(attribute.GetPrim())
        file = _value(texture.GetInput("file")) if texture else None
        if isinstance(file, Sdf.AssetPath) and file.resolvedPath and Path(file.resolvedPath).is_file():
            return Path(file.resolvedPath)
    return None
