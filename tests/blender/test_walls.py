# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls, stacks, chimneys and bonds: they stand, weigh and break as they should."""

import math

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import validate
from usdphys_ext.usdphys_addon.core.building import contact_area
from usdphys_ext.usdphys_addon.generators import bonds

from . import scenes

pytestmark = pytest.mark.slow

BOX = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
         (1, 5, 7), (1, 7, 3)]  # fmt: skip


def select(*objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]
    bpy.context.view_layer.update()


def surface(offset, turn=0.0):
    c, s = np.cos(turn), np.sin(turn)
    points = BOX @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T + offset
    return contact_area.surface(points, np.array(FACES))


def floor(unit=1.0):
    obj = scenes.add_box("Floor", (20 * unit, 20 * unit, 0.5 * unit), location=(0, 0, -0.5 * unit))
    scenes.make_collider(obj)
    return obj


@pytest.mark.parametrize(("offset", "area", "center"), [
    ((1, 0, 0), 1.0, (0.5, 0, 0)), ((1.0005, 0.5, 0.25), 0.375, (0.5, 0.25, 0.125)),
    ((0.3, 0, -1), 0.7, (0.15, 0, -0.5)),
    ((1.01, 0, 0), 0.0, None), ((1, 1, 0), 0.0, None), ((0.5, 0, 0), 0.0, None),
])  # fmt: skip
def test_the_area_of_contact_is_the_overlap_of_the_faces(offset, area, center):
    found = contact_area.contact(surface((0, 0, 0)), surface(offset), 0.001)
    assert (found.area if found else 0.0) == pytest.approx(area, abs=1e-9)
    if center:
        assert found.center == pytest.approx(center, abs=1e-3)
        assert found.normal == pytest.approx(np.round(np.array(offset) * (np.abs(offset) >= 1)), abs=1e-9)


def test_the_area_of_a_turned_box_is_that_of_the_common_octagon():
    found = contact_area.contact(surface((0, 0, 0)), surface((0, 0, 1), np.pi / 4), 0.001)
    assert found.area == pytest.approx(2 * (np.sqrt(2) - 1), rel=1e-9)


@pytest.mark.parametrize(("kind", "counts", "number"), [
    ("WALL", (5, 1, 4), 18), ("STACK", (2, 2, 3), 12), ("PYRAMID", (4, 1, 4), 10), ("CHIMNEY", (10, 1, 5), 50),
])  # fmt: skip
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_it_stands(kind, counts, number, meters):
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1 / meters
    floor(unit)
    brick = scenes.add_box("Brick", (0.1 * unit, 0.05 * unit, 0.04 * unit), location=(0, 0, 0.04 * unit))
    select(brick)
    bpy.ops.usdphys.wall(kind=kind, counts=counts)
    made = list(bpy.context.selected_objects)
    assert len(made) == number and len({obj.data for obj in made}) == 1
    before = {obj.name: np.array(obj.matrix_world.translation) for obj in made}
    scenes.play(2.0)
    moved = [np.linalg.norm(np.array(obj.matrix_world.translation) - before[obj.name]) for obj in made]
    assert max(moved) < 0.01 * unit


def test_random_offsets_are_within_their_bound_and_follow_the_seed():
    places = {}
    for seed in (1, 1, 2):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        select(scenes.add_box("Brick", location=(0, 0, 0.5)))
        bpy.ops.usdphys.wall(kind="STACK", counts=(2, 2, 2), gap=0.2, shift=0.05, turn=0.1, seed=seed)
        found = np.array([obj.location[:] for obj in sorted(bpy.context.selected_objects, key=lambda obj: obj.name)])
        grid = np.round((found - (0, 0, 0.5)) / 1.2) * 1.2 + (0, 0, 0.5)
        assert 0 < np.abs(found - grid).max() <= 0.05
        places.setdefault(seed, []).append(found)
    assert np.array_equal(*places[1]) and not np.array_equal(places[1][0], places[2][0])


def hit_wall(velocity):
    """A wall of 10 times 7 bricks, and a ball of 20 kg that flies at its middle. Returns places of broken bonds."""
    floor()
    brick = scenes.add_box("Brick", (0.1, 0.1, 0.05), location=(-0.9, 0, 0.05))
    select(brick)
    bpy.ops.usdphys.wall(kind="WALL", counts=(10, 1, 7), bonded=True)
    pieces = list(bpy.context.selected_objects)
    ball = scenes.solid("Ball", (0.1, 0.1, 0.1), location=(0, -1, 0.35), shape="SPHERE")
    ball.usdphys.rigid_body.velocity = (0, velocity, 0)
    ball.usdphys.mass.is_applied, ball.usdphys.mass.mass = True, 20.0
    bpy.context.view_layer.update()
    places = {obj.name: obj.matrix_world.translation.copy() for obj in bpy.data.objects if obj.usdphys.joint.is_applied}
    session = scenes.play(1.0)
    return pieces, {name: places[name] for name in session.broken}, len(places)


@pytest.mark.parametrize(("strength", "most"), [(1.0, 0), (0.25, 0)])
def test_a_chimney_whose_bonds_are_as_weak_as_its_weight_is_heavy_stands_and_keeps_them(strength, most):
    """Two bricks hold each, so how much each bears is not determined: the solver may shift it from one to the other."""
    floor()
    select(scenes.add_box("Brick", (0.2, 0.1, 0.125), location=(0, 0, 0.125)))
    bpy.ops.usdphys.wall(kind="CHIMNEY", counts=(8, 1, 10))
    bricks = list(bpy.context.selected_objects)
    bonds.bond(bpy.context, bricks, bonds.BondOptions(strength=strength))
    joints = [obj.usdphys.joint for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    weight = 9 * 8 * 0.4 * 0.2 * 0.25 * 1900 * 9.81 / 16
    assert max(joint.drives.transX.max_force for joint in joints) < 1.2 * strength * weight
    assert all(joint.collision_enabled for joint in joints)
    assert len(scenes.play(1.0).broken) <= most


def test_a_wall_stands_when_it_is_hit_gently():
    _, broken, number = hit_wall(0.2)
    assert broken == {} and number > 120


def test_a_wall_breaks_where_it_is_hit_and_nowhere_else():
    pieces, broken, number = hit_wall(15.0)
    assert 6 < len(broken) < number / 2
    assert max(np.hypot(place.x, place.z - 0.35) for place in broken.values()) < 0.75
    corners = [obj for obj in pieces if abs(obj.matrix_world.translation.x) > 0.75]
    # The wall of 500 kg takes the momentum of 300 kg m/s and slides, by up to 3 cm, and rocks.
    assert corners and all(abs(obj.matrix_world.translation.y) < 0.07 for obj in corners)


@pytest.mark.parametrize(("strength", "velocity", "broken"), [(1.0, 0.0, (0, 0)), (1.0, 5.0, (0, 0)),
                                                              (1.0, 20.0, (3, 6)), (0.5, 10.0, (3, 6)),
                                                              (2.0, 20.0, (3, 6)), (0.2, 0.0, (0, 0))])  # fmt: skip
def test_a_wall_that_is_hit_at_a_corner_breaks_there_and_not_at_rest(strength, velocity, broken):
    """8 times 6 bricks of 0.2 m, and a ball of 8 kg at the upper corner."""
    floor()
    select(scenes.add_box("Brick", (0.1, 0.1, 0.05), location=(-0.7, 0, 0.05)))
    bpy.ops.usdphys.wall(kind="WALL", counts=(8, 1, 6))
    bricks = list(bpy.context.selected_objects)
    bonds.bond(bpy.context, bricks, bonds.BondOptions(strength=strength))
    x, z = 0.6, 0.55
    if velocity:
        ball = scenes.solid("Ball", (0.06, 0.06, 0.06), location=(x, -0.5, z), shape="SPHERE")
        ball.usdphys.rigid_body.velocity = (0, velocity, 0)
        ball.usdphys.mass.is_applied, ball.usdphys.mass.mass = True, 8.0
    bpy.context.view_layer.update()
    places = {obj.name: obj.matrix_world.translation.copy() for obj in bpy.data.objects if obj.usdphys.joint.is_applied}
    found = [places[name] for name in scenes.play(0.7).broken]
    assert broken[0] <= len(found) <= broken[1]
    assert all(math.hypot(place.x - x, place.z - z) < 0.45 for place in found)


def test_masses_follow_from_the_volume_and_the_strength_from_the_area_and_material():
    one = scenes.add_box("One", (0.5, 0.5, 0.5))
    other = scenes.add_box("Other", (0.25, 0.25, 0.25), location=(0.75, 0, 0))
    select(one, other)
    bpy.ops.usdphys.break_apart(material="CONCRETE", strength=0.5)
    (joint,) = [obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    drives = joint.usdphys.joint.drives
    assert [getattr(drives, dof).max_force for dof in ("transX", "transZ")] == pytest.approx([0.5 * 2e6 * 0.25] * 2)
    # The plastic section modulus of a square: side³ / 4.
    assert [getattr(drives, dof).max_force for dof in ("rotX", "rotZ")] == pytest.approx([0.5 * 2e6 * 0.5**3 / 4] * 2)
    assert np.array(joint.matrix_world.translation) == pytest.approx((0.5, 0, 0))
    from usdphys_ext.usdphys_addon.core import mass

    model = scenes.read_model()
    weights = {prim.label: mass.mass_properties(model, prim.path).mass for prim in model.bodies.values()}
    assert weights == pytest.approx({"One": 2400.0, "Other": 300.0})


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_bond_has_both_limits_along_its_normal_as_physx_ignores_the_one_of_a_slide_with_one(meters):
    """Without the lower one a brick that hangs on another falls in PhysX, whatever the strength."""
    bpy.context.scene.unit_settings.scale_length = meters
    select(scenes.add_box("One"), scenes.add_box("Other", (0.5, 0.5, 1.0), location=(0, 0, -1.5)))
    bpy.ops.usdphys.break_apart()
    (joint,) = [obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    limit = joint.usdphys.joint.limits.transX
    assert math.isfinite(limit.low) and limit.low * meters < -1e9
    assert limit.high * meters == pytest.approx(0.05 * meters)
    assert "SlideLimitOneSided" not in {issue.code for issue in validate.validate(scenes.read_model(), "physx")}


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_pieces_of_cell_fracture_are_joined_over_the_margin_that_it_leaves(meters):
    """Each cell is 0.001 units smaller all round, whatever the unit: of 8 cells of a cube, 4 of 20 bonds were found."""
    bpy.context.scene.unit_settings.scale_length = meters
    half = 0.25 - 0.001
    places = [(x, y, z) for x in (-0.25, 0.25) for y in (-0.25, 0.25) for z in (0.25, 0.75)]
    select(*(scenes.add_box("Block_cell", (half, half, half), location=place) for place in places))
    bpy.ops.usdphys.break_apart(material="CONCRETE")
    assert sum(obj.usdphys.joint.is_applied for obj in bpy.data.objects) == 12


def test_the_loose_parts_of_one_mesh_become_pieces_in_place():
    data = scenes.box_mesh("Parts")
    import bmesh

    made = bmesh.new()
    made.from_mesh(data)
    made.from_mesh(scenes.box_mesh("Second", center=(1, 0, 0)))
    made.from_mesh(scenes.box_mesh("Far", center=(5, 0, 0)))
    made.to_mesh(data)
    made.free()
    obj = scenes.add("Parts", data, location=(0, 0, 3), scale=(2, 2, 2))
    select(obj)
    bpy.ops.usdphys.break_apart()
    found = [one for one in bpy.data.objects if one.type == "MESH"]
    assert len(found) == 3 and sum(one.usdphys.joint.is_applied for one in bpy.data.objects) == 1
    assert sorted(round(piece.matrix_world.translation.x, 4) for piece in found) == [0, 2, 10]


def test_pieces_that_do_not_touch_are_refused():
    one, other = scenes.add_box("One"), scenes.add_box("Other", location=(3, 0, 0))
    select(one, other)
    with pytest.raises(RuntimeError, match="No two pieces touch"):
        bpy.ops.usdphys.break_apart()
    assert not one.usdphys.keys() or not one.usdphys.rigid_body.is_applied


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"counts": (1000, 1000, 1000)}, "at most"), ({"gap": math.nan}, "no finite number"),
     ({"turn": math.nan}, "no finite number")],
)  # fmt: skip
def test_what_cannot_be_built_is_one_sentence_and_builds_nothing(options, reason):
    bpy.ops.mesh.primitive_cube_add()
    with pytest.raises(RuntimeError, match=reason):
        bpy.ops.usdphys.wall(**options)
    assert len(bpy.data.objects) == 1


def test_a_seed_below_zero_is_as_good_as_any():
    bpy.ops.mesh.primitive_cube_add()
    assert bpy.ops.usdphys.wall(kind="STACK", counts=(2, 1, 2), shift=0.01, seed=-5) == {"FINISHED"}
    assert len(bpy.data.objects) == 4


def test_bricks_that_would_lie_in_each_other_are_refused():
    bpy.ops.mesh.primitive_plane_add(size=1.0)
    plane = bpy.context.object
    select(plane)
    with pytest.raises(RuntimeError, match="'Plane' is flat along Z"):
        bpy.ops.usdphys.wall(kind="STACK", counts=(2, 1, 3))
    assert len(bpy.data.objects) == 1 and not plane.usdphys.rigid_body.is_applied
    assert bpy.ops.usdphys.wall(kind="STACK", counts=(3, 2, 1)) == {"FINISHED"}


def test_a_second_run_joins_only_what_is_new():
    boxes = [scenes.add_box("Piece", (0.5, 0.5, 0.5), location=(x, 0, 0)) for x in (0, 1, 2)]
    select(*boxes[:2])
    bpy.ops.usdphys.break_apart()
    select(*boxes)
    bpy.ops.usdphys.break_apart()
    assert sum(obj.usdphys.joint.is_applied for obj in bpy.data.objects) == 2
    select(*boxes)
    with pytest.raises(RuntimeError, match="are joined already"):
        bpy.ops.usdphys.break_apart()


@pytest.mark.parametrize(("half", "meters"), [
    ((1.0, 1.0, 1.0), 1.0), ((0.1, 0.05, 0.04), 0.01), ((0.1, 0.2, 0.1), 1.0),
])  # fmt: skip
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("bonded", [False, True])
def test_a_thrown_ball_hits_the_largest_side_of_a_wall_and_breaks_it(bonded, turned, half, meters):
    """With the defaults of both, whatever the brick is; a wall along Y is hit along X."""
    bpy.context.scene.unit_settings.scale_length = meters
    unit = 1.0 / meters
    floor(4.0 * unit)
    if turned:
        half = (half[1], half[0], half[2])
    half = tuple(part * unit for part in half)
    brick = scenes.add_box("Brick", half, location=(0, 0, half[2]))
    select(brick)
    bpy.ops.usdphys.wall(counts=(1, 8, 6) if turned else (8, 1, 6), bonded=bonded)
    bricks = list(bpy.context.selected_objects)
    before = {obj.name: obj.matrix_world.translation.copy() for obj in bricks}
    bpy.ops.usdphys.add_physics(kind="BALL")
    ball = bpy.context.object
    velocity = ball.usdphys.rigid_body.velocity
    assert abs(velocity[1 if turned else 0]) < 1e-3 * abs(velocity[0 if turned else 1])
    session = scenes.play(1.5)
    moved = [obj for obj in bricks if (obj.matrix_world.translation - before[obj.name]).length > 0.02 * max(half)]
    assert len(moved) >= 2
    assert not bonded or len(session.broken) >= 3
