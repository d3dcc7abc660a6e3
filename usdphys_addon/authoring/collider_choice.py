# SPDX-License-Identifier: GPL-3.0-or-later
"""The collider that fits an object: a primitive, its triangles, its hull or a decomposition."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Depsgraph, Object
from numpy.typing import NDArray

from ..bridge import mesh as meshes
from ..bridge.roles import is_moved
from ..core import mass, primitives
from ..core.hull import convex_hull
from ..core.primitives import Primitive
from ..core.schemas import usd_geom
from ..core.words import phrase

#: A mesh that fills at least this fraction of its convex hull collides as its hull.
CONVEX = 0.95
#: Meshes with more triangles are not measured, so that a click or a tooltip stays fast.
DENSE_TRIANGLES = 20_000
#: With more points, a hull is approximated by the points that are extreme in as many directions.
HULL_POINTS = 500
_WORDS: dict[type[usd_geom.Gprim], str] = {
    usd_geom.Cube: "a box", usd_geom.Sphere: "a sphere", usd_geom.Cylinder: "a cylinder", usd_geom.Cone: "a cone",
    usd_geom.Capsule: "a capsule",
}  # fmt: skip

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ColliderChoice:
    """shape, approximation: values of the collider's properties; an empty approximation is not set.

    words: the collider in words. reason: why it was chosen, as a clause.
    """

    shape: str
    approximation: str
    words: str
    reason: str


@dataclass(frozen=True, slots=True)
class Form:
    """Form of a mesh. fill: fraction of its convex hull that it fills; 0 if `problem` prevents measuring it."""

    primitive: Primitive | None = None
    fill: float = 0.0
    problem: str = ""


#: Cache of forms by a hash of the mesh, in order of last use.
_KNOWN: OrderedDict[bytes, Form] = OrderedDict()
_KNOWN_MESHES = 128


def choose(
    obj: Object,
    role: str,
    depsgraph: Depsgraph,
    *,
    moves: bool | None = None,
    forms: dict[str, Form | None] | None = None,
) -> ColliderChoice | None:
    """The best collider for an object in a role; None if it has no faces.

    moves: whether the solver will move it; None to derive it from the role and the bodies above. forms: cache of forms
    by mesh, shared by the objects of one operation.
    """
    if moves is None:
        moves = role == "DYNAMIC" or (role != "KINEMATIC" and is_moved(obj.parent if role == "STATIC" else obj))
    evaluated = obj.evaluated_get(depsgraph)
    forms = {} if forms is None else forms
    key = _mesh_key(obj)
    if key not in forms:
        forms[key] = None if is_written_as_lines(obj) else _form_of(evaluated)
    form = forms[key]
    if form is None:
        return None
    if form.primitive is not None and form.primitive.survives(np.array(evaluated.matrix_world)):
        return ColliderChoice("AUTO", "", _WORDS[form.primitive.kind], "its mesh is one")
    if not moves:
        return ColliderChoice("MESH", "none", "its triangles", phrase("it is no primitive and no solver moves it"))
    if form.fill >= CONVEX:
        is_convex = form.fill > 0.999
        nearly = phrase("it is nearly convex ({fill:.0%} of its hull)", fill=form.fill)
        reason = phrase("it is convex") if is_convex else nearly
        return ColliderChoice("MESH", "convexHull", "its convex hull", reason)
    concave = phrase("it is concave ({fill:.0%} of its hull)", fill=form.fill)
    reason = phrase(form.problem) if form.problem else concave
    return ColliderChoice("MESH", "convexDecomposition", "a convex decomposition", reason)


def _mesh_key(obj: Object) -> str:
    """Cache key of an object's form: its mesh, or the object itself if modifiers or shape keys change the mesh."""
    if obj.data is None or obj.modifiers or getattr(obj.data, "shape_keys", None) is not None:
        return f"object {obj.name_full}"
    return f"{obj.type} {obj.data.name_full}"


def is_written_as_lines(obj: Object) -> bool:
    """True if Blender's USD export writes an object as curves, without faces, even if it is shown with faces."""
    return obj.type == "CURVE" or (obj.type == "SURFACE" and bpy.app.version < (5, 2, 0))


def loses_faces(obj: Object) -> bool:
    """True if an object is shown with faces, and exported without."""
    if not is_written_as_lines(obj):
        return False
    if obj.type == "SURFACE":
        return True
    curve: Any = obj.data
    is_filled = curve.dimensions == "2D" and curve.fill_mode != "NONE"
    return bool(is_filled or curve.bevel_depth or curve.extrude or curve.bevel_object)


def exports_faces(obj: Object, depsgraph: Depsgraph) -> bool:
    """True if an object is exported with faces, so that its mesh can collide."""
    if is_written_as_lines(obj) or obj.type not in meshes.GEOMETRY_TYPES:
        return False
    return meshes.has_faces(obj.evaluated_get(depsgraph))


def shows_instances(obj: Object, depsgraph: Depsgraph) -> bool:
    """True if the geometry nodes of an object show instances."""
    if not any(modifier.type == "NODES" and modifier.show_viewport for modifier in obj.modifiers):
        return False
    instances: Any = depsgraph.object_instances
    return any(one.is_instance and one.parent.original == obj for one in instances)


def _form_of(evaluated: Object) -> Form | None:
    """Form of an evaluated object; None if it has no faces. Cached by the content of the mesh."""
    if evaluated.type not in meshes.GEOMETRY_TYPES:
        return None
    data = meshes.mesh_data(evaluated)
    if data is not None:
        # Counts are known without reading any vertex.
        if not len(data.polygons):
            return None
        if _is_dense(len(data.loops), len(data.polygons)):
            return Form(problem="it has too many triangles to measure")
    coordinates, corners, sizes = meshes.surface_of(evaluated)
    if not len(sizes):
        return None
    if _is_dense(len(corners), len(sizes)):
        return Form(problem="it has too many triangles to measure")
    digest = hashlib.blake2b(coordinates.tobytes())
    digest.update(corners.tobytes() + sizes.tobytes())
    key = digest.digest()
    form = _KNOWN.get(key)
    if form is None:
        form = _KNOWN[key] = _form(coordinates.reshape(-1, 3).astype(float), corners, sizes)
        if len(_KNOWN) > _KNOWN_MESHES:
            _KNOWN.popitem(last=False)
    _KNOWN.move_to_end(key)
    return form


def _is_dense(corners: int, faces: int) -> bool:
    return corners - 2 * faces > DENSE_TRIANGLES


def _form(points: Floats, corners: NDArray[np.int32], sizes: NDArray[np.int32]) -> Form:
    primitive = primitives.recognise(points)
    if primitive is not None and primitives.is_closed(points, corners, sizes):
        return Form(primitive, 1.0)
    used = np.unique(corners)
    hull = _hull_volume(points[used])
    if hull <= 0.0:
        return Form(problem="it is flat")
    solid = mass.solid(points, _fans(corners, sizes))
    if solid is None:
        return Form(problem="it is not closed, so it has no volume")
    return Form(None, min(1.0, solid.volume / hull))


def _fans(corners: NDArray[np.int32], sizes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Fan triangles (m, 3) of faces. They may overlap in concave faces, but their signed volumes still add up."""
    starts = np.cumsum(sizes) - sizes
    counts = np.maximum(sizes - 2, 0)
    first = np.repeat(starts, counts)
    step = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1).astype(np.int64)


def _hull_volume(points: Floats) -> float:
    """Volume of the convex hull of points (n, 3); 0 if coplanar. Above HULL_POINTS, a few percent too small."""
    size = np.ptp(points, axis=0)
    if len(points) > HULL_POINTS and size.min() > 0:
        unit = (points - points.mean(axis=0)) / size
        points = points[np.unique((unit @ _directions(HULL_POINTS).T).argmax(axis=0))]
    faces = convex_hull(points)
    hull = None if faces is None else mass.solid(points, faces)
    return 0.0 if hull is None else hull.volume


def _directions(count: int) -> Floats:
    """Unit vectors (n, 3), spread evenly over the sphere: a Fibonacci spiral."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    across = np.sqrt(1.0 - height**2)
    return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)


def write_collider(obj: Object, choice: ColliderChoice) -> None:
    """Add a collider to an object. Shape AUTO and an empty approximation are not set, but left at their defaults."""
    item = obj.usdphys.colliders.add()
    if choice.shape != "AUTO":
        item.shape = choice.shape
    if choice.approximation:
        item.approximation = choice.approximation
