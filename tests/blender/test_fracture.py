# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh that is broken into pieces: they are the whole, stand as it stood, and break where they are hit."""

from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix
from usdphys_ext.usdphys_addon import api
from usdphys_ext.usdphys_addon.generators import fracture, records
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes


def cube(scale=(1.0, 1.0, 1.0), **placing):
    bpy.ops.mesh.primitive_cube_add(size=1.0, **placing)
    bpy.context.object.scale = scale
    return bpy.context.object


def torus(scale=(1.0, 1.0, 1.0), **placing):
    bpy.ops.mesh.primitive_torus_add(major_radius=0.5, minor_radius=0.2, **placing)
    bpy.context.object.scale = scale
    return bpy.context.object


def ball(scale=(1.0, 1.0, 1.0), **placing):
    bpy.ops.mesh.primitive_ico_sphere_add(radius=0.5, subdivisions=3, **placing)
    bpy.context.object.scale = scale
    return bpy.context.object


def shape_of(obj):
    """(volume, first moments) of a mesh in the world, and whether it is closed."""
    made = bmesh.new()
    made.from_mesh(obj.data)
    made.transform(obj.matrix_world)
    bmesh.ops.triangulate(made, faces=made.faces[:])
    volume, moments = 0.0, np.zeros(3)
    for face in made.faces:
        a, b, c = (np.array(vertex.co, float) for vertex in face.verts)
        part = np.dot(a, np.cross(b, c)) / 6.0
        volume += part
        moments += part * (a + b + c) / 4.0
    closed = all(edge.is_manifold for edge in made.edges)
    made.free()
    sign = math.copysign(1.0, obj.matrix_world.determinant())
    return float(sign * volume), sign * moments, closed


def pieces():
    return [obj for obj in bpy.context.scene.objects if obj.type == "MESH"]


@pytest.mark.slow
@pytest.mark.parametrize(("make", "scale"), [
    (cube, (1.0, 1.0, 1.0)), (cube, (3.0, 0.2, 1.0)), (cube, (-1.0, 1.0, 1.0)), (cube, (0.01, 0.01, 0.02)),
    (ball, (1.0, 2.0, 1.0)), (torus, (1.0, 1.0, 1.0)), (torus, (40.0, 40.0, 60.0)),
])  # fmt: skip
@pytest.mark.parametrize("number", [2, 15])
def test_the_pieces_are_closed_and_together_the_whole(make, scale, number):
    obj = make(scale, location=(3.0, -2.0, 1.0), rotation=(0.3, 0.2, 0.7))
    bpy.context.view_layer.update()
    volume, moments, _ = shape_of(obj)
    with fracture.in_pieces(bpy.context, [obj], number, 1) as (made, _):
        bpy.context.view_layer.update()
        found = [shape_of(one) for one in made]
    assert len(made) >= number if make is torus else len(made) == number
    assert all(closed for _, _, closed in found)
    assert all(part > 0.0 for part, _, _ in found)
    assert sum(part for part, _, _ in found) == pytest.approx(volume, rel=1e-4)
    assert sum(each for _, each, _ in found) == pytest.approx(moments, rel=1e-3, abs=1e-3 * volume)


def test_pieces_of_a_long_box_are_as_long_as_wide():
    """Distances are those of the world, and not of the object's own space."""
    obj = cube((10.0, 1.0, 1.0))
    bpy.context.view_layer.update()
    with fracture.in_pieces(bpy.context, [obj], 10, 0) as (made, _):
        bpy.context.view_layer.update()
        assert max(one.dimensions.x for one in made) < 3.5


def test_the_number_of_pieces_counts_where_a_single_part_is_broken():
    with fracture.in_pieces(bpy.context, [cube()], 3, 0) as (made, are_cells):
        assert len(made) == 3 and are_cells
    with fracture.in_pieces(bpy.context, made, 7, 0) as (pieces_there, are_cells):
        assert pieces_there == made and not are_cells
    scenes.select(*made)
    bpy.ops.object.join()
    with fracture.in_pieces(bpy.context, [bpy.context.object], 7, 0) as (parts, are_cells):
        assert len(parts) == 3 and not are_cells


def test_another_seed_breaks_it_elsewhere_and_the_same_one_alike():
    def places(seed):
        for one in pieces():
            bpy.data.objects.remove(one)
        with fracture.in_pieces(bpy.context, [cube()], 5, seed) as (made, _):
            bpy.context.view_layer.update()
            return sorted(tuple(round(part, 5) for part in one.matrix_world.translation) for one in made)

    assert places(3) == places(3) != places(4)


@pytest.mark.slow
def test_one_press_breaks_a_cube_which_stands_until_it_is_hit():
    ground = scenes.add_box("Ground", (20.0, 20.0, 0.5), location=(0.0, 0.0, -0.5))
    scenes.make_collider(ground)
    material = bpy.data.materials.new("Red")
    obj = cube(location=(0.0, 0.0, 0.5))
    obj.data.materials.append(material)
    scenes.select(obj)
    assert bpy.ops.usdphys.break_apart() == {"FINISHED"}
    made = [one for one in pieces() if one != ground]
    assert len(made) == 20 and all(one.usdphys.rigid_body.is_applied for one in made)
    assert all(one.data.materials[0] == material for one in made)
    before = {one.name: one.matrix_world.translation.copy() for one in made}

    def moved(seconds):
        scenes.play(seconds)
        bpy.context.view_layer.update()
        found = [(one.matrix_world.translation - before[one.name]).length for one in made]
        preview_guard.stop()
        return found

    assert max(moved(1.0)) < 5e-3
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.2, location=(-2.0, 0.0, 0.6))
    stone = bpy.context.object
    scenes.select(stone)
    stone.usdphys.rigid_body.is_applied = True
    stone.usdphys.colliders.add().shape = "AUTO"
    stone.usdphys.mass.is_applied, stone.usdphys.mass.mass = True, 500.0
    stone.usdphys.rigid_body.velocity = (40.0, 0.0, 0.0)
    assert sum(part > 0.05 for part in moved(0.6)) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.05, 1.0, 10.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_broken_cube_keeps_all_its_bonds_while_it_falls(size, seed):
    """Nothing acts between its pieces. Small ones leap by more than their size in a step."""
    scenes.select(cube((size, size, size), location=(0.0, 0.0, 5.0), rotation=(0.3, 0.2, 0.1)))
    bpy.ops.usdphys.break_apart(pieces=15, seed=seed)
    session = scenes.play(0.6)
    assert list(session.broken) == []


def test_what_the_whole_weighed_and_its_own_shape_are_not_those_of_each_piece():
    obj = cube()
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, 80.0
    collider = obj.usdphys.colliders.add()
    collider.shape, collider.radius = "SPHERE", 0.5
    scenes.select(obj)
    bpy.ops.usdphys.break_apart(pieces=4)
    assert not any(one.usdphys.mass.is_applied and one.usdphys.mass.mass == 80.0 for one in pieces())
    assert {one.usdphys.colliders[0].shape for one in pieces()} <= {"AUTO", "MESH"}


def edit(**changed):
    """As the window does it: the settings of what was made, with a change, from its sources."""
    settings = records.settings_of(bpy.context.scene, 0)
    records.select_sources(bpy.context, 0)
    return bpy.ops.usdphys.break_apart(edited=0, **{**settings.values, **changed})


def bonds():
    return [obj for obj in bpy.context.scene.objects if obj.usdphys.joint.is_applied]


def test_what_was_broken_is_whole_again_without_its_bonds():
    obj = cube(location=(1.0, 2.0, 3.0), rotation=(0.1, 0.2, 0.3))
    obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, 80.0
    whole, place = obj.data, obj.matrix_basis.copy()
    scenes.select(obj)
    bpy.ops.usdphys.break_apart(pieces=6, material="GLASS")
    assert len(pieces()) == 6 and bonds() and obj.data != whole
    scenes.select(next(one for one in pieces() if one != obj))
    assert bpy.ops.usdphys.remove_generated() == {"FINISHED"}
    assert list(bpy.context.scene.objects) == [obj] and obj.data == whole
    assert np.allclose(obj.matrix_basis, place, atol=1e-6)
    assert obj.usdphys.mass.mass == 80.0 and not obj.usdphys.rigid_body.is_applied
    assert list(bpy.data.meshes) == [whole] and not list(bpy.data.materials)


def test_the_number_of_pieces_and_the_seed_can_be_edited():
    scenes.select(cube())
    bpy.ops.usdphys.break_apart(pieces=6)
    obj = bpy.data.objects["Cube"]
    assert edit(pieces=4) == {"FINISHED"} and len(pieces()) == 4
    before = sorted(tuple(one.location) for one in pieces())
    assert edit(seed=5) == {"FINISHED"} and len(pieces()) == 4
    assert sorted(tuple(one.location) for one in pieces()) != before
    scenes.select(obj)
    bpy.ops.usdphys.remove_generated()
    assert pieces() == [obj] and len(obj.data.vertices) == 8


def test_a_piece_has_its_mesh_alone():
    """A second user would forbid to apply its modifiers."""
    obj = cube()
    scenes.select(obj)
    bpy.ops.usdphys.break_apart(pieces=3)
    assert [one.data.users for one in pieces()] == [1, 1, 1]


def test_pieces_that_were_moved_together_are_whole_there():
    obj = cube(location=(1.0, 2.0, 3.0), rotation=(0.1, 0.2, 0.3))
    place = obj.matrix_basis.copy()
    scenes.select(obj)
    bpy.ops.usdphys.break_apart(pieces=3)
    turn = Matrix.Translation((4.0, 0.0, 1.0)) @ Matrix.Rotation(0.5, 4, "Z")
    for one in bpy.context.scene.objects:
        one.matrix_basis = turn @ one.matrix_basis
    scenes.select(obj)
    bpy.ops.usdphys.remove_generated()
    assert np.allclose(obj.matrix_basis, turn @ place, atol=1e-5)


def test_it_is_whole_again_after_the_file_was_opened_again(tmp_path):
    scenes.select(cube(location=(1.0, 2.0, 3.0)))
    bpy.ops.usdphys.break_apart(pieces=3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "broken.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "broken.blend"))
    scenes.select(pieces()[-1])
    bpy.ops.usdphys.remove_generated()
    (obj,) = pieces()
    assert len(obj.data.vertices) == 8 and tuple(obj.location) == pytest.approx((1.0, 2.0, 3.0))


def test_a_piece_that_holds_a_joint_of_the_user_is_whole_again_and_keeps_its_physics():
    obj, other = cube(), scenes.solid("Other", location=(3.0, 0.0, 0.0))
    scenes.make_body(other)
    scenes.select(obj)
    bpy.ops.usdphys.break_apart(pieces=3)
    scenes.add_joint("Chain", "SPHERICAL", obj, other)
    scenes.select(obj)
    bpy.ops.usdphys.remove_generated()
    assert len(obj.data.vertices) == 8 and obj.usdphys.rigid_body.is_applied
    assert sorted(one.name for one in bpy.context.scene.objects) == ["Chain", "Cube", "Other"]


def test_without_the_object_that_was_broken_the_pieces_stay():
    obj = cube()
    scenes.select(obj)
    bpy.ops.usdphys.break_apart(pieces=4)
    bpy.data.objects.remove(obj)
    left = pieces()
    scenes.select(left[0])
    bpy.ops.usdphys.remove_generated()
    assert pieces() == left and not bonds()


@pytest.mark.parametrize(("make", "reason"), [
    (lambda: bpy.ops.mesh.primitive_plane_add(), "'Plane' is not closed"),
    (lambda: bpy.ops.mesh.primitive_circle_add(), "'Circle' has no faces"),
])  # fmt: skip
def test_what_has_no_inside_is_refused(make, reason):
    make()
    obj = bpy.context.object
    scenes.select(obj)
    data = obj.data
    with pytest.raises(RuntimeError, match=reason):
        bpy.ops.usdphys.break_apart()
    assert pieces() == [obj] and obj.data == data


def test_a_refusal_leaves_the_whole():
    """Of two cubes in one mesh, which do not touch."""
    data, second = scenes.box_mesh("Two"), bmesh.new()
    second.from_mesh(data)
    second.from_mesh(scenes.box_mesh("Far", center=(9.0, 0.0, 0.0)))
    second.to_mesh(data)
    second.free()
    obj = scenes.add("Two", data, location=(0.0, 0.0, 3.0))
    obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, 7.0
    scenes.select(obj)
    meshes = set(bpy.data.meshes)
    with pytest.raises(RuntimeError, match="No two pieces touch"):
        bpy.ops.usdphys.break_apart()
    assert pieces() == [obj] and obj.data == data and obj.usdphys.mass.mass == 7.0
    assert tuple(obj.location) == (0.0, 0.0, 3.0)
    assert set(bpy.data.meshes) == meshes
    assert bpy.context.selected_objects == [obj]


def test_a_script_breaks_a_mesh():
    cube().name = "Vase"
    report = api.generate.break_apart("Vase", material="glass", pieces=7)
    assert report.text.startswith("Joined 7 pieces by ") and len(pieces()) == 7


def test_a_mesh_is_whole_again_where_the_splitting_itself_fails(monkeypatch):
    obj = cube(location=(1, 2, 3))
    obj.usdphys.mass.is_applied = True
    obj.usdphys.mass.mass = 3.0
    whole, select_only, calls = obj.data, fracture.shapes.select_only, []

    def failing(context, objects):
        calls.append(len(objects))
        if len(calls) == 1:
            raise RuntimeError("no more memory")
        select_only(context, objects)

    monkeypatch.setattr(fracture.shapes, "select_only", failing)
    with pytest.raises(RuntimeError), fracture.in_pieces(bpy.context, [obj], 5, 0):
        pass
    assert calls == [5, 1] and pieces() == [obj]
    assert obj.data == whole and list(bpy.data.meshes) == [whole]
    assert obj.usdphys.mass.mass == 3.0 and tuple(obj.location) == (1, 2, 3)
