# SPDX-License-Identifier: GPL-3.0-or-later
"""One mesh in pieces: its loose parts, or where it is a single part, the cells of random points in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import bmesh
import bpy
import mathutils
import numpy as np
from bmesh.types import BMesh
from bpy.types import Context, Object
from mathutils.bvhtree import BVHTree

from ..bridge import property_values
from ..bridge.joint_frames import is_joint
from ..bridge.mesh import is_inside
from ..core.errors import InputError
from ..core.frames import Matrix
from ..core.words import phrase
from . import shapes

#: Of so many random points, the one that is farthest from the others becomes the next: pieces of even sizes.
_CANDIDATES = 8
#: Random points that are tried for one inside of the mesh.
_TRIES = 1000
#: Parts of the size of a mesh: at which distance a corner is on a cut; which part of its volume the pieces may lack.
_ON_CUT, _LACKING = 1e-7, 1e-3
#: So many of the nearest points are taken to cut without a look at the corners.
_CERTAIN = 4


class Pieces(NamedTuple):
    """are_cells: a mesh of a single part was broken into them; their number and the seed count."""

    objects: list[Any]
    are_cells: bool = False


def meshes_of(objects: Sequence[Object]) -> list[Any]:
    """Those of the objects that can be pieces."""
    return [obj for obj in objects if obj.type == "MESH" and not is_joint(obj) and obj.library is None]


@contextmanager
def in_pieces(context: Context, objects: Sequence[Object], number: int, seed: int) -> Iterator[Pieces]:
    """The meshes of the objects. A single one is split into its loose parts, or else broken into so many pieces.

    It becomes the first of the pieces, which are selected. Where the body of the `with` raises, it is whole again.
    Raises InputError.
    """
    meshes = meshes_of(objects)
    if len(meshes) != 1:
        yield Pieces(meshes)
        return
    (obj,) = meshes
    if obj.modifiers or obj.data.shape_keys is not None:
        raise InputError(phrase("'{name}' has modifiers or shape keys; apply them first.", name=obj.name))
    whole, place, physics = obj.data, obj.matrix_basis.copy(), property_values.snapshot(obj.usdphys)
    made = _cells_of(obj, number, seed)
    pieces = _objects(context, obj, made)
    try:
        yield Pieces(pieces, bool(made))
    except BaseException:
        for one in pieces:
            if one != obj:
                bpy.data.meshes.remove(one.data)
        own, obj.data, obj.matrix_basis = obj.data, whole, place
        bpy.data.meshes.remove(own)
        property_values.restore(obj.usdphys, physics)
        shapes.select_only(context, [obj])
        raise


def _objects(context: Context, obj: Any, cells: Sequence[BMesh]) -> list[Any]:
    """Objects for the loose parts of the cells of a mesh, or of itself without cells; each has its origin in its
    middle."""
    objects, whole = [obj], obj.data
    for number, cell in enumerate(cells):
        data = whole.copy()
        cell.to_mesh(data)
        cell.free()
        if number:
            one = obj.copy()
            for collection in obj.users_collection:
                collection.objects.link(one)
            objects.append(one)
        objects[-1].data = data
    if not cells:
        obj.data = whole.copy()
    # The shape and the mass of the whole are not those of a piece.
    for one in objects:
        for name in ("colliders", "mass"):
            one.usdphys.property_unset(name)
    shapes.select_only(context, objects)
    bpy.ops.mesh.separate(type="LOOSE")
    bpy.ops.object.origin_set(type="ORIGIN_CENTER_OF_VOLUME", center="MEDIAN")
    context.view_layer.update()
    return list(context.selected_objects)


def _cells_of(obj: Any, number: int, seed: int) -> list[BMesh]:
    """The cells of a mesh that is a single part; none of another one. Raises InputError where it has no inside."""
    source = bmesh.new()
    source.from_mesh(obj.data)
    try:
        if not source.faces:
            raise InputError(phrase("'{name}' has no faces, so it touches nothing.", name=obj.name))
        if not _is_one_part(source):
            return []
        volume = source.calc_volume()
        if not all(edge.is_manifold for edge in source.edges) or not volume:
            raise InputError(phrase(
                "'{name}' is not closed, so it has no inside to break; close its holes, or give it a thickness and "
                "apply it.", name=obj.name,
            ))  # fmt: skip
        metric = np.array(obj.matrix_world.to_3x3(), float)
        cells = list(_cells(source, metric, _points(source, metric, number, seed)))
        found = sum(cell.calc_volume() for cell in cells)
        is_closed = all(edge.is_manifold for cell in cells for edge in cell.edges)
        if not is_closed or abs(found - volume) > _LACKING * volume:
            for cell in cells:
                cell.free()
            raise InputError(phrase(
                "'{name}' cannot be cut cleanly; remove faces that cut each other, or choose another seed.",
                name=obj.name,
            ))  # fmt: skip
        return cells
    finally:
        source.free()


def _is_one_part(mesh: BMesh) -> bool:
    mesh.verts.ensure_lookup_table()
    first = mesh.verts[0]
    known, ahead = {first}, [first]
    while ahead:
        vertex = ahead.pop()
        for edge in vertex.link_edges:
            other = edge.other_vert(vertex)
            if other not in known:
                known.add(other)
                ahead.append(other)
    return len(known) == len(mesh.verts)


def _points(mesh: BMesh, metric: Matrix, number: int, seed: int) -> Matrix:
    """(n, 3) random points inside of a closed mesh, far from each other by the metric (3, 3) of their distances."""
    random = np.random.default_rng(abs(seed))
    corners = np.array([vertex.co for vertex in mesh.verts])
    low, high = corners.min(0), corners.max(0)
    tree = BVHTree.FromBMesh(mesh)
    found: list[Matrix] = []
    for _ in range(number):
        inside = []
        for point in random.uniform(low, high, (_TRIES, 3)):
            if is_inside(tree, point):
                inside.append(point)
                if len(inside) == _CANDIDATES:
                    break
        if not inside:
            break
        apart = [min((float(np.linalg.norm(metric @ (one - other))) for other in found), default=0.0) for one in inside]
        found.append(inside[int(np.argmax(apart))])
    return np.array(found).reshape(-1, 3)


def _cells(source: BMesh, metric: Matrix, points: Matrix) -> Iterator[BMesh]:
    """The part of a mesh that is nearer to each point than to the others, by the metric."""
    size = max(edge.calc_length() for edge in source.edges)
    for point in points:
        cell = source.copy()
        apart = np.linalg.norm((points - point) @ metric.T, axis=1)
        for count, row in enumerate(np.argsort(apart)[1:]):
            # No corner is nearer to the points that follow. The nearest ones cut for certain, and leave little.
            if count >= _CERTAIN and apart[row] / 2.0 > _reach(cell, metric, point):
                break
            normal = metric.T @ metric @ (points[row] - point)
            _cut(cell, (points[row] + point) / 2.0, normal / np.linalg.norm(normal), _ON_CUT * size)
        bmesh.ops.recalc_face_normals(cell, faces=list(cell.faces))
        yield cell


def _reach(cell: BMesh, metric: Matrix, point: Matrix) -> float:
    """Distance of the corner that is farthest from a point, by the metric."""
    corners = np.array([vertex.co for vertex in cell.verts]).reshape(-1, 3)
    return float(np.linalg.norm((corners - point) @ metric.T, axis=1).max(initial=0.0))


def _cut(cell: BMesh, place: Matrix, normal: Matrix, reach: float) -> None:
    """Take away what is beyond a plane, and close the cut."""
    geometry: Any = [*cell.verts, *cell.edges, *cell.faces]
    way: Any = mathutils.Vector(normal.tolist())
    bmesh.ops.bisect_plane(cell, geom=geometry, dist=reach, plane_co=place.tolist(), plane_no=way, clear_outer=True)
    # The mesh was closed, so what is open now is the rim of the cut.
    rim = [edge for edge in cell.edges if edge.is_boundary]
    if not rim:
        return
    if _is_one_loop(rim):
        bmesh.ops.edgeloop_fill(cell, edges=rim)
    else:
        # One face in another, as where a ring is cut.
        bmesh.ops.triangle_fill(cell, edges=rim, use_beauty=True, normal=way)


def _is_one_loop(rim: Sequence[Any]) -> bool:
    edges, start = set(rim), rim[0].verts[0]
    vertex, walked = start, 0
    while True:
        edge = next((one for one in vertex.link_edges if one in edges), None)
        if edge is None:
            return walked == len(rim) and vertex == start
        edges.discard(edge)
        vertex, walked = edge.other_vert(vertex), walked + 1
