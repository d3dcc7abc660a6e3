# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes as arrays: what is copied in one block is what Blender says item by item."""

import bmesh
import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.bridge import mesh as meshes


def said_of(mesh):
    """Points, corners and sizes of faces, by the items of Blender."""
    points = np.array([tuple(vertex.co) for vertex in mesh.vertices], np.float32).reshape(-1, 3)
    corners = [vertex for polygon in mesh.polygons for vertex in polygon.vertices]
    return points, corners, [polygon.loop_total for polygon in mesh.polygons]


def read_of(mesh):
    return meshes.points_of(mesh), meshes.corners_of(mesh).tolist(), meshes.sizes_of(mesh).tolist()


def same(mesh) -> bool:
    (points, *said), (others, *read) = said_of(mesh), read_of(mesh)
    return np.array_equal(points, others) and said == read


def mixed(cuts: int):
    """Triangles, quads and an n-gon: a grid whose middle is one face and a part of which is cut."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=cuts, y_subdivisions=cuts)
    obj = bpy.context.object
    made = bmesh.new()
    made.from_mesh(obj.data)
    made.faces.ensure_lookup_table()
    bmesh.ops.triangulate(made, faces=made.faces[: len(made.faces) // 3])
    bmesh.ops.dissolve_faces(made, faces=[face for face in made.faces if len(face.verts) == 4][:4])
    made.to_mesh(obj.data)
    made.free()
    return obj


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [3, 40])
def test_what_is_read_is_what_blender_says(cuts: int) -> None:
    obj = mixed(cuts)
    assert same(obj.data)
    obj.modifiers.new("Smooth", "SUBSURF")
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = obj.evaluated_get(depsgraph)
    assert same(evaluated.data)
    assert same(evaluated.to_mesh())
    evaluated.to_mesh_clear()


@pytest.mark.parametrize("cuts", [3, 40])
def test_a_mesh_that_is_edited_is_read_as_it_was(cuts: int) -> None:
    obj = mixed(cuts)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        assert same(obj.data)
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
    assert same(obj.data)


def test_meshes_without_faces_or_points() -> None:
    empty = bpy.data.meshes.new("Empty")
    assert same(empty)
    assert meshes.triangles_of(empty, 1.0) is None
    line = bpy.data.meshes.new("Line")
    line.from_pydata([(0.1 * index, 0, 0) for index in range(300)], [(index, index + 1) for index in range(299)], [])
    assert same(line)
    assert meshes.triangles_of(line, 1.0) is None


def test_triangles_are_those_of_blender() -> None:
    for obj in (mixed(40), mixed(3)):
        made = bmesh.new()
        made.from_mesh(obj.data)
        cut = bpy.data.meshes.new("Cut")
        bmesh.ops.triangulate(made, faces=made.faces)
        made.to_mesh(cut)
        made.free()
        for mesh in (obj.data, cut):
            mesh.calc_loop_triangles()
            expected = [tuple(triangle.vertices) for triangle in mesh.loop_triangles]
            read = meshes.triangles_of(mesh, 2.0)
            assert [tuple(row) for row in read.triangles.tolist()] == expected
            assert np.array_equal(read.points, 2.0 * said_of(mesh)[0].astype(float))
