"""Compounds, collider objects, loose parts and fitted primitives."""

from __future__ import annotations

import builtins
import itertools
import sys
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix
from pxr import UsdGeom
from usdphys_ext.usdphys_addon.authoring import collider_edits
from usdphys_ext.usdphys_addon.bridge import property_values
from usdphys_ext.usdphys_addon.core import fitting, frames, mass
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.steps import finished
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.simulation import convex_parts

from . import scenes
from .scenes import placed, select, world_of

TURNED = placed((1, 2, 3), (0.3, -0.7, 1.1))
PLACES = {
    "plain": Matrix.Identity(4),
    "turned": TURNED,
    "bigger": TURNED @ placed(scale=(3, 3, 3)),
    "uneven": TURNED @ placed(scale=(2, 0.5, 3)),
    "mirrored": TURNED @ placed(scale=(2, 0.5, -3)),
    "sheared": placed(scale=(2, 1, 1)) @ TURNED,
}
places = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)


def errors() -> list[str]:
    return [issue.message for issue in scenes.read().issues if issue.severity == "error"]


def export_errors(tmp_path: Any, **options: Any) -> tuple[Any, list[str]]:
    # A file of its own each time: what is open already would be seen again.
    stage, result = scenes.export(tmp_path / f"scene{len(list(tmp_path.iterdir()))}.usda", **options)
    return stage, [issue.message for issue in result.issues if issue.severity == "error"]


def mesh_object(name: str, points: Any, faces: Any, **settings: Any) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(point) for point in points], [], faces)
    return scenes.add(name, mesh, **settings)


def ell(name: str = "Ell", **settings: Any) -> Any:
    """An L of volume 3 with a concave edge."""
    outline = ((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))
    points = [(x, y, z) for z in (0, 1) for x, y in outline]
    sides = [(i, (i + 1) % 6, (i + 1) % 6 + 6, i + 6) for i in range(6)]
    return mesh_object(name, points, [(5, 4, 3, 2, 1, 0), (6, 7, 8, 9, 10, 11), *sides], **settings)


def pieces(name: str = "Pieces", **settings: Any) -> Any:
    """A box, a sphere and a cylinder as loose parts of one mesh."""
    mesh, made = bpy.data.meshes.new(name), bmesh.new()
    bmesh.ops.create_cube(made, size=1.0, matrix=placed((-3, 0, 0), scale=(1, 2, 3)))
    bmesh.ops.create_uvsphere(made, u_segments=32, v_segments=16, radius=0.75)
    bmesh.ops.create_cone(
        made, cap_ends=True, segments=32, radius1=0.5, radius2=0.5, depth=4, matrix=placed((3, 0, 0), (0, np.pi / 2, 0))
    )
    made.to_mesh(mesh)
    made.free()
    return scenes.add(name, mesh, **settings)


def counts() -> tuple[int, ...]:
    return len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.collections), len(bpy.data.materials)


def linked(tmp_path: Any, name: str = "Stone") -> Any:
    """An object that comes from a library."""
    stone = scenes.add_box(name)
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {stone})
    bpy.data.objects.remove(stone)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = [name]
    found = bpy.data.objects[name]
    bpy.context.scene.collection.objects.link(found)
    return found


def tree() -> list[Any]:
    """Objects below each other, scaled unevenly, turned; the last is alone."""
    root = scenes.add("Root", location=(1, 2, 3), rotation_euler=(0.2, 0.4, 0.6), scale=(2, 2, 2))
    first = scenes.add_box("First", (1, 0.5, 0.25), parent=root, location=(1, 0, 0), rotation_euler=(0.5, 0, 0.3))
    second = scenes.add_box("Second", parent=first, location=(0, 2, 0), scale=(1, 3, 1), rotation_euler=(1, 0, 0))
    third = scenes.add_box("Third", location=(-4, 0, 1), rotation_euler=(0, 0.7, 0), scale=(0.5, 2, 1))
    third.matrix_parent_inverse = Matrix.Translation((1, 1, 1))
    third.parent = root
    alone = scenes.add_box("Alone", location=(5, 5, 5), scale=(3, 3, 3), rotation_euler=(1, 1, 1))
    return [first, second, third, alone]


# --------------------------------------------------------------------------- compounds


@pytest.mark.parametrize(("target", "role"), list(itertools.product(("ACTIVE", "EMPTY"), ("DYNAMIC", "STATIC"))))
def test_compound_keeps_all_places(target, role, tmp_path):
    parts = tree()
    select(*parts)
    before = [world_of(obj) for obj in parts]
    assert bpy.ops.usdphys.compound_from_selection(target=target, role=role) == {"FINISHED"}
    for obj, place in zip(parts, before, strict=True):
        assert np.abs(world_of(obj) - place).max() < 1e-6 * max(1.0, np.abs(place).max()), obj.name
    body = parts[-1] if target == "ACTIVE" else bpy.data.objects["Alone_body"]
    assert all(len(obj.usdphys.colliders) == 1 for obj in parts)
    assert body.usdphys.rigid_body.is_applied == (role == "DYNAMIC")
    stage, wrong = export_errors(tmp_path)
    assert not wrong
    for obj, place in zip(parts, before, strict=True):
        assert np.allclose(scenes.world_pose(scenes.prim_of(stage, obj.name)), place, atol=1e-5), obj.name
    # What was below another part stays there.
    assert parts[1].parent == parts[0]
    assert {obj.parent for obj in (parts[0], parts[2])} == {body}
    # Once more changes nothing but, for an Empty, the number of levels.
    if target == "ACTIVE":
        bpy.ops.usdphys.compound_from_selection(target=target, role=role)
        assert all(len(obj.usdphys.colliders) == 1 for obj in parts)


def test_compound_below_uneven_scale(tmp_path):
    """The parts are sheared in the world; the Empty goes below their parent, so that no transform has to say so."""
    root = scenes.add("Root", scale=(2, 1, 0.5), rotation_euler=(0.1, 0.2, 0.3))
    parts = [scenes.add_box(name, parent=root, rotation_euler=(x, 0.5, 0), location=(3 * x, 0, 1))
             for x, name in enumerate("AB")]  # fmt: skip
    select(*parts)
    before = [world_of(obj) for obj in parts]
    assert bpy.ops.usdphys.compound_from_selection(target="EMPTY", role="STATIC") == {"FINISHED"}
    stage, wrong = export_errors(tmp_path)
    assert not wrong and bpy.data.objects["B_body"].parent == root
    for obj, place in zip(parts, before, strict=True):
        assert np.allclose(world_of(obj), place, atol=1e-6)
        assert np.allclose(scenes.world_pose(scenes.prim_of(stage, obj.name)), place, atol=1e-5), obj.name


@pytest.mark.parametrize("target", ["ACTIVE", "EMPTY"])
def test_compound_of_an_uneven_body_and_a_turned_part_stays_in_place(target, tmp_path):
    """Below the body the part is sheared."""
    uneven = scenes.add_box("Uneven", scale=(1, 2, 3))
    turned = scenes.add_box("Turned", rotation_euler=(0.3, 0.4, 0.5))
    select(turned, uneven)
    places = {obj.name: world_of(obj) for obj in (uneven, turned)}
    assert bpy.ops.usdphys.compound_from_selection(target=target) == {"FINISHED"}
    stage, wrong = export_errors(tmp_path)
    assert not wrong
    for name, place in places.items():
        assert np.allclose(world_of(bpy.data.objects[name]), place, atol=1e-6)
        assert np.allclose(scenes.world_pose(scenes.prim_of(stage, name)), place, atol=1e-5), name


def test_compound_exports_as_one_body(tmp_path):
    parts = [scenes.add_box(name, location=(x, 0, 0)) for x, name in enumerate("ABC")]
    parts[0].parent, parts[0].scale = scenes.add("Holder", scale=(2, 2, 2)), (1, 0.5, 1)
    select(*parts)
    bpy.ops.usdphys.compound_from_selection(target="EMPTY")
    stage, wrong = export_errors(tmp_path)
    assert not wrong
    bodies = [prim for prim in stage.Traverse() if "PhysicsRigidBodyAPI" in scenes.applied(prim)]
    assert [prim.GetName() for prim in bodies] == ["C_body"]
    colliders = [prim for prim in stage.Traverse() if "PhysicsCollisionAPI" in scenes.applied(prim)]
    assert len(colliders) == 3 and all(str(prim.GetPath()).startswith(str(bodies[0].GetPath())) for prim in colliders)


def test_static_table_in_one_action(tmp_path):
    table = [scenes.add_box("Top", (1, 1, 0.1), location=(0, 0, 1))]
    table += [scenes.add_box(f"Leg{i}", (0.1, 0.1, 0.5), location=(i % 2, i // 2, 0.5)) for i in range(4)]
    scenes.make_body(table[2])
    select(*table)
    bpy.ops.usdphys.compound_from_selection(target="EMPTY", role="STATIC")
    stage, wrong = export_errors(tmp_path)
    assert not wrong
    applied = [name for prim in stage.Traverse() for name in scenes.applied(prim)]
    assert applied.count("PhysicsCollisionAPI") == 5
    assert "PhysicsRigidBodyAPI" not in applied


def test_empty_is_at_the_centre_of_mass_of_the_boxes():
    small = scenes.add_box("Small", (0.5, 0.5, 0.5), location=(0, 0, 0))
    large = scenes.add_box("Large", (0.5, 0.5, 0.5), location=(9, 0, 0), scale=(2, 1, 1))
    select(small, large)
    bpy.ops.usdphys.compound_from_selection(target="EMPTY")
    body = bpy.data.objects["Large_body"]
    assert np.allclose(body.location, (6, 0, 0))
    assert body.usdphys.rigid_body.is_applied


def test_compound_keeps_the_masses():
    heavy, light, plain = (scenes.solid(name, location=(x * 3, 0, 0)) for x, name in enumerate(("H", "L", "P")))
    scenes.assign(heavy.usdphys.mass, is_applied=True, mass=10, center_of_mass=(0.1, 0, 0))
    scenes.assign(light.usdphys.mass, is_applied=True, mass=2)
    # Two colliders share by volume, 8 to 1.
    light.usdphys.colliders.clear()
    scenes.make_collider(light, "CUBE", size=(2, 2, 2))
    scenes.make_collider(light, "CUBE", size=(1, 1, 1))
    select(heavy, light, plain)
    bpy.ops.usdphys.compound_from_selection(target="ACTIVE")
    assert plain.usdphys.rigid_body.is_applied
    assert not heavy.usdphys.rigid_body.is_applied and not light.usdphys.rigid_body.is_applied
    assert not heavy.usdphys.mass.is_applied and not light.usdphys.mass.is_applied
    assert heavy.usdphys.colliders[0].mass.mass == pytest.approx(10)
    assert heavy.usdphys.colliders[0].mass.center_of_mass[0] == pytest.approx(0.1)
    assert [item.mass.mass for item in light.usdphys.colliders] == pytest.approx([16 / 9, 2 / 9])
    # Nothing was ever said about the third.
    assert not plain.usdphys.colliders[0].mass.is_applied
    model = scenes.read_model()
    found = mass.mass_properties(model, scenes.the(model.bodies).path)
    assert found.mass == pytest.approx(10 + 2 + 1000)


def test_compound_leaves_the_mass_of_the_whole_alone():
    body, trim = scenes.solid("Body"), scenes.add_box("Trim", location=(2, 0, 0))
    scenes.assign(body.usdphys.mass, is_applied=True, mass=7)
    select(trim, body)
    bpy.ops.usdphys.compound_from_selection(target="ACTIVE")
    assert body.usdphys.mass.mass == 7
    assert not body.usdphys.colliders[0].mass.is_applied


def test_compound_takes_joints_along():
    arm, hand, wall = (scenes.solid(name, location=(x * 2, 0, 0)) for x, name in enumerate(("Arm", "Hand", "Wall")))
    outer = scenes.add_joint("Outer", "REVOLUTE", wall, arm)
    inner = scenes.add_joint("Inner", "FIXED", arm, hand)
    select(arm, outer, hand)
    bpy.ops.usdphys.compound_from_selection(target="ACTIVE")
    assert outer.usdphys.joint.body1 == hand and outer.usdphys.joint.body0 == wall
    assert outer.parent is None
    assert inner.usdphys.joint.body0 == arm


def test_compound_refuses_and_leaves_nothing_behind():
    parent = scenes.add_box("Parent")
    child = scenes.add_box("Child", parent=parent)
    select(parent, child)
    before = counts()
    with pytest.raises(RuntimeError, match="'Parent' is a parent of 'Child'"):
        bpy.ops.usdphys.compound_from_selection(target="ACTIVE")
    assert counts() == before and not len(parent.usdphys.colliders)
    body = scenes.solid("Body")
    below = scenes.add_box("Below", parent=body)
    select(below)
    with pytest.raises(RuntimeError, match="below the body 'Body'"):
        bpy.ops.usdphys.compound_from_selection(target="ACTIVE", role="STATIC")
    assert not len(below.usdphys.colliders)
    flat = scenes.add_box("Flat", scale=(0, 1, 1))
    select(flat)
    before = counts()
    with pytest.raises(RuntimeError, match="'Flat' is scaled to nothing"):
        bpy.ops.usdphys.compound_from_selection(target="EMPTY")
    select(scenes.add("Nothing"))
    with pytest.raises(RuntimeError, match="'Nothing' has no faces"):
        bpy.ops.usdphys.compound_from_selection(target="EMPTY")
    assert len(bpy.data.objects) == before[0] + 1


def test_static_compound_leaves_the_body_above():
    body = scenes.solid("Body", location=(0, 0, 4))
    parts = [scenes.add_box(name, parent=body) for name in "AB"]
    select(*parts)
    bpy.ops.usdphys.compound_from_selection(target="EMPTY", role="STATIC")
    assert bpy.data.objects["B_body"].parent is None
    assert np.allclose(world_of(parts[0])[:3, 3], (0, 0, 4))


# --------------------------------------------------------------------------- operators in general

ACTIONS = {
    "compound_from_selection": {"target": "EMPTY"}, "make_collider_objects": {}, "split_loose": {},
    "fit_collider": {}, "collider_mesh_to_primitive": {},
}  # fmt: skip
actions = pytest.mark.parametrize("name", ACTIONS)


@actions
def test_poll(name):
    select()
    assert not getattr(bpy.ops.usdphys, name).poll()
    box = scenes.add_box("Box")
    select(box)
    assert getattr(bpy.ops.usdphys, name).poll()
    bpy.ops.object.mode_set(mode="EDIT")
    assert not getattr(bpy.ops.usdphys, name).poll()
    bpy.ops.object.mode_set(mode="OBJECT")


@actions
def test_linked_objects_are_skipped(name, tmp_path):
    stone = linked(tmp_path)
    select(stone)
    before = counts()
    with pytest.raises(RuntimeError, match="'Stone' is linked"):
        getattr(bpy.ops.usdphys, name)(**ACTIONS[name])
    assert counts() == before
    own = scenes.add_box("Own")
    scenes.make_collider(own, "SPHERE" if name == "fit_collider" else "AUTO")
    select(stone, own)
    assert getattr(bpy.ops.usdphys, name)(**ACTIONS[name]) == {"FINISHED"}
    assert stone.parent is None and not len(stone.usdphys.colliders) and not stone.children


def test_each_action_is_undone_in_one_step():
    for name, settings in ACTIONS.items():
        box = scenes.add_box(f"Box_{name}")
        other = scenes.add_box(f"Other_{name}", location=(3, 0, 0))
        for obj in (box, other):
            scenes.make_collider(obj, "SPHERE" if name == "fit_collider" else "MESH", radius=3)
        select(box, other)
        names = (box.name, other.name)
        before = [property_values.snapshot(obj.usdphys) for obj in (box, other)]
        count = counts()
        bpy.ops.ed.undo_push(message="before")
        assert getattr(bpy.ops.usdphys, name)(**settings) == {"FINISHED"}
        bpy.ops.ed.undo_push(message="after")
        after = [property_values.snapshot(bpy.data.objects[each].usdphys) for each in names]
        assert after != before or counts() != count, name
        bpy.ops.ed.undo()
        assert [property_values.snapshot(bpy.data.objects[each].usdphys) for each in names] == before, name
        assert counts() == count, name
        assert all(bpy.data.objects[each].parent is None for each in names), name


# --------------------------------------------------------------------------- collider objects


def world_points(obj: Any) -> np.ndarray:
    points = np.array([vertex.co[:] for vertex in obj.data.vertices])
    world = world_of(obj)
    return points @ world[:3, :3].T + world[:3, 3]


def is_inside(shape: Any, points: np.ndarray, place: np.ndarray, tolerance: float = 1e-4) -> bool:
    """All world points are within a gprim of a world place."""
    local = np.linalg.solve(place[:3, :3], (points - place[:3, 3]).T).T
    if isinstance(shape, usd_geom.Cube):
        return bool((np.abs(local) <= shape.size / 2 + tolerance).all())
    if isinstance(shape, usd_geom.Sphere):
        return bool((np.linalg.norm(local, axis=1) <= shape.radius + tolerance).all())
    axis = "XYZ".index(shape.resolved("axis"))
    along, across = local[:, axis], np.linalg.norm(np.delete(local, axis, axis=1), axis=1)
    if isinstance(shape, usd_geom.Cylinder):
        return bool((across <= shape.radius + tolerance).all() and (abs(along) <= shape.height / 2 + tolerance).all())
    beyond = np.maximum(np.abs(along) - shape.height / 2, 0)
    return bool((np.hypot(across, beyond) <= shape.radius + tolerance).all())


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, ("BOX", "SPHERE", "CAPSULE", "CYLINDER")[(number + step) % 4])
     for number, name in enumerate(PLACES) for step in (0, 2)],
)  # fmt: skip
def test_primitive_objects_contain_the_mesh(name, kind, tmp_path):
    place = PLACES[name]
    top = scenes.add("Top", scale=(2, 1, 1)) if place == PLACES["sheared"] else None
    visual = ell(parent=top)
    visual.matrix_basis = TURNED if top else place
    scenes.make_collider(visual, "MESH")
    select(visual)
    seen = world_points(visual)
    for oriented in (False, True):
        bpy.ops.usdphys.make_collider_objects(kind=kind, oriented=oriented)
        (child,) = visual.children
        assert child.name == "Ell_collider" and child.display_type == "WIRE" and child.hide_render
        assert child.users_collection[0].name == "Physics Colliders"
        assert not len(visual.usdphys.colliders)
        prim = scenes.the(scenes.read_model().colliders)
        assert prim.purpose == "guide"
        if kind != "BOX":
            assert not frames.is_sheared(prim.world, 1e-4)
        assert is_inside(prim.get(usd_geom.Gprim), seen, prim.world, 1e-4 * np.ptp(seen))
        # What is shown is what collides.
        shown = world_points(child)
        assert is_inside(prim.get(usd_geom.Gprim), shown, prim.world, 1e-4 * np.ptp(seen))
        stage, wrong = export_errors(tmp_path)
        assert not wrong
        found = [each for each in stage.Traverse() if "PhysicsCollisionAPI" in scenes.applied(each)]
        assert [each.GetTypeName() for each in found] == [prim.type_name]
        assert UsdGeom.Imageable(found[0]).ComputePurpose() == "guide"
        assert np.allclose(scenes.world_pose(found[0]), prim.world, atol=1e-4 * np.ptp(seen))
        # Only the visual has faces to be seen.
        seen_meshes = [each for each in stage.Traverse() if UsdGeom.Mesh(each) and UsdGeom.Mesh(each).GetFaceCount()]
        assert [each.GetParent().GetName() for each in seen_meshes] == ["Ell"]


def test_oriented_box_is_smaller():
    """A plate that lies askew in its mesh."""
    skew = Euler((0.4, 0.5, 0.6)).to_matrix()
    box = scenes.box_mesh("Plate", (2, 1, 0.1))
    box.transform(skew.to_4x4())
    visual = scenes.add("Plate", box)
    select(visual)
    bpy.ops.usdphys.make_collider_objects(kind="BOX")
    aligned = np.prod(visual.children[0].dimensions)
    bpy.ops.usdphys.make_collider_objects(kind="BOX", oriented=True)
    assert np.prod(visual.children[0].dimensions) == pytest.approx(4 * 2 * 0.2, rel=1e-3)
    assert aligned > 2 * 4 * 2 * 0.2


def test_axis_and_margin():
    visual = scenes.add_box("Rod", (0.5, 0.5, 2), scale=(2, 2, 2))
    select(visual)
    bpy.ops.usdphys.make_collider_objects(kind="CYLINDER", axis="X", margin=0.25)
    shape = scenes.the(scenes.read_model().colliders).get(usd_geom.Cylinder)
    assert shape.axis == "X" and shape.height == pytest.approx(2.5)
    assert shape.radius == pytest.approx(np.hypot(1, 4) + 0.25, rel=1e-4)
    bpy.ops.usdphys.make_collider_objects(kind="CYLINDER")
    shape = scenes.the(scenes.read_model().colliders).get(usd_geom.Cylinder)
    assert shape.axis == "Z" and shape.height == pytest.approx(8)
    bpy.ops.usdphys.make_collider_objects(kind="BOX", margin=0.5)
    assert np.allclose(visual.children[0].dimensions, (3, 3, 9))
    bpy.ops.usdphys.make_collider_objects(kind="HULL", margin=0.5)
    assert np.allclose(np.ptp(world_points(visual.children[0]), axis=0), (3, 3, 9), atol=1e-4)


@pytest.mark.slow
@places
def test_decomposition_fills_the_mesh(place, tmp_path):
    visual = scenes.make_body(ell())
    visual.matrix_basis = place
    if place == PLACES["sheared"]:
        visual.parent = scenes.add("Top", scale=(2, 1, 1))
        visual.matrix_basis = TURNED
    select(visual)
    size = 3 * abs(np.linalg.det(world_of(visual)[:3, :3]))
    bpy.ops.usdphys.make_collider_objects(kind="DECOMPOSITION")
    parts = visual.children
    assert 2 <= len(parts) <= 4
    assert {part.name for part in parts} == {f"Ell_collider_{n}" for n in range(1, len(parts) + 1)}
    model = scenes.read_model()
    total = 0.0
    for prim in model.colliders.values():
        assert prim.get(usd_physics.MeshCollisionAPI).approximation == "convexHull" and prim.purpose == "guide"
        points = prim.mesh().points @ prim.world[:3, :3].T
        total += fitting.hull(points).volume
    assert total == pytest.approx(size, rel=0.05)
    if place != PLACES["sheared"]:
        # A sheared body is an error of its own.
        assert not export_errors(tmp_path)[1]
    bpy.ops.usdphys.make_collider_objects(kind="DECOMPOSITION", most=1)
    assert len(visual.children) == 1


def test_hull_of_several_objects_and_again():
    visuals = [ell(f"Ell{n}", location=(3 * n, 0, 0)) for n in range(3)]
    select(*visuals)
    bpy.ops.usdphys.make_collider_objects(kind="HULL")
    before = counts()
    assert all(len(visual.children) == 1 for visual in visuals)
    assert np.allclose(world_points(visuals[2].children[0]).max(axis=0), (8, 2, 1))
    bpy.ops.usdphys.make_collider_objects(kind="HULL")
    assert counts() == before
    bpy.ops.usdphys.make_collider_objects(kind="HULL", replace=False)
    assert all(len(visual.children) == 2 for visual in visuals)


def test_collider_objects_keep_the_settings():
    visual = scenes.make_body(ell())
    visual.data.materials.append(scenes.physics_material("Sticky", static_friction=0.9))
    item = scenes.make_collider(visual, "MESH", collision_enabled=False)
    scenes.assign(item.mass, is_applied=True, mass=6)
    scenes.assign(item.collision_groups.add(), name="Group")
    select(visual)
    bpy.ops.usdphys.make_collider_objects(kind="DECOMPOSITION")
    made = [child.usdphys.colliders[0] for child in visual.children]
    assert sum(each.mass.mass for each in made) == pytest.approx(6)
    assert all(each.collision_groups[0].name == "Group" and not each.collision_enabled for each in made)
    assert all(child.usdphys.physics_material.name == "Sticky" for child in visual.children)


def test_collider_objects_refuse_before_they_change_anything():
    good, flat = ell(), mesh_object("Flat", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    scenes.make_collider(good, "MESH")
    select(good, flat)
    before = counts()
    for kind in ("HULL", "DECOMPOSITION"):
        with pytest.raises(RuntimeError, match="'Flat'"):
            bpy.ops.usdphys.make_collider_objects(kind=kind)
        assert counts() == before and len(good.usdphys.colliders) == 1
    bpy.ops.usdphys.make_collider_objects(kind="BOX")
    assert min(flat.children[0].dimensions) > 0


def test_missing_solver_is_said(monkeypatch):
    visual = ell()
    select(visual)
    real = builtins.__import__

    def without(name: str, *args: Any, **keywords: Any) -> Any:
        if name == "rapier3d":
            raise ImportError("No module named 'rapier3d'")
        return real(name, *args, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    convex_parts.KEPT.clear()
    for name in [name for name in sys.modules if name == "rapier3d" or ".simulation.rapier" in name]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(RuntimeError, match="needs the physics engine, which is missing"):
        bpy.ops.usdphys.make_collider_objects(kind="DECOMPOSITION")
    assert not visual.children


# --------------------------------------------------------------------------- loose parts


@pytest.mark.slow
@places
def test_loose_parts_as_primitives(place, tmp_path):
    whole = scenes.make_body(pieces())
    whole.matrix_basis = place
    top = scenes.add("Top", scale=(2, 1, 1)) if place == PLACES["sheared"] else None
    if top:
        whole.parent, whole.matrix_basis = top, TURNED
    scenes.make_collider(whole, "MESH")
    select(whole)
    bpy.ops.usdphys.split_loose(mode="PRIMITIVES")
    items = whole.usdphys.colliders
    assert len(items) == 3 and not whole.children
    assert all(item.is_property_set("location") and item.shape != "MESH" for item in items)
    if place in (PLACES["plain"], PLACES["turned"], PLACES["bigger"]):
        assert sorted(item.shape for item in items) == ["CUBE", "CYLINDER", "SPHERE"]
        cylinder = next(item for item in items if item.shape == "CYLINDER")
        assert cylinder.axis == "X" and cylinder.height == pytest.approx(4, rel=1e-4)
        assert cylinder.radius == pytest.approx(0.5, rel=1e-4)
    model = scenes.read_model()
    seen, found = world_points(whole), list(model.colliders.values())
    tolerance = 1e-4 * np.ptp(seen)
    if not top:
        inside = [
            any(is_inside(prim.get(usd_geom.Gprim), point[None], prim.world, tolerance) for prim in found)
            for point in seen
        ]
        assert all(inside)
    _, wrong = export_errors(tmp_path)
    assert not [text for text in wrong if "sheared" not in text]


@pytest.mark.slow
def test_loose_parts_as_objects(tmp_path):
    top = scenes.add("Top", scale=(2, 1, 0.5), rotation_euler=(0.3, 0.2, 0.1))
    whole = scenes.make_body(pieces(location=(1, 2, 3), parent=top))
    scenes.make_collider(whole, "AUTO")
    select(whole)
    place, seen = world_of(whole), world_points(whole)
    bpy.ops.usdphys.split_loose(mode="OBJECTS")
    assert np.allclose(world_of(whole), place, atol=1e-6)
    assert len(whole.children) == 3 and whole.usdphys.rigid_body.is_applied and not len(whole.usdphys.colliders)
    assert len(world_points(whole)) == len(seen)
    made = np.concatenate([world_points(child) for child in whole.children])
    # Every corner of the parts is one of the mesh, in the same place.
    gaps = np.linalg.norm(made[:, None] - seen[None], axis=2).min(axis=1)
    assert gaps.max() < 1e-5
    assert all(child.usdphys.colliders[0].approximation == "convexHull" for child in whole.children)
    assert not export_errors(tmp_path)[1]


def test_static_loose_parts_keep_their_triangles():
    whole = pieces()
    whole.scale = (1, 1, -1)
    select(whole)
    bpy.ops.usdphys.split_loose(mode="OBJECTS")
    for child in whole.children:
        assert not child.usdphys.colliders[0].is_property_set("approximation")
        # Faces look outwards although the object is mirrored.
        made = bmesh.new()
        made.from_mesh(child.data)
        assert made.calc_volume(signed=True) > 0
        made.free()


def test_too_many_loose_parts_are_refused():
    whole = pieces()
    scenes.make_collider(whole, "MESH")
    select(whole)
    before = counts()
    with pytest.raises(RuntimeError, match="'Pieces' has 3 loose parts"):
        bpy.ops.usdphys.split_loose(limit=2)
    assert counts() == before and len(whole.usdphys.colliders) == 1


@pytest.mark.slow
def test_the_validators_of_openusd_accept_all_of_it(tmp_path, validator_errors):
    wholes = [scenes.make_body(ell(f"Ell{n}", location=(4 * n, 0, 3))) for n in range(3)]
    kinds = ("BOX", "DECOMPOSITION", "CAPSULE")
    for whole, kind in zip(wholes, kinds, strict=True):
        select(whole)
        bpy.ops.usdphys.make_collider_objects(kind=kind)
    loose = [scenes.make_body(pieces(f"Pieces{n}", location=(0, 6 * n + 6, 3))) for n in range(2)]
    for whole, mode in zip(loose, ("OBJECTS", "PRIMITIVES"), strict=True):
        select(whole)
        bpy.ops.usdphys.split_loose(mode=mode)
    parts = [scenes.add_box(f"Part{n}", location=(n, -5, 3)) for n in range(3)]
    select(*parts)
    bpy.ops.usdphys.compound_from_selection(target="EMPTY")
    bpy.ops.usdphys.apply_material_preset(preset="STEEL")
    assert not export_errors(tmp_path)[1]
    (file,) = tmp_path.iterdir()
    found = validator_errors(file)
    assert not [line for line in found if "Physics" in line or "Mesh" in line or "Rigid" in line], found


# --------------------------------------------------------------------------- fitting


def test_fit_colliders():
    boxes = [scenes.add_box(f"Box{n}", (1, 2, 3), scale=(1, 1, 2)) for n in range(2)]
    for box in boxes:
        scenes.make_collider(box, "CUBE", size=(9, 9, 9), location=(5, 0, 0))
        scenes.make_collider(box, "CAPSULE", radius=7, axis="Y")
        scenes.make_collider(box, "MESH")
    select(*boxes)
    bpy.ops.usdphys.fit_collider()
    for box in boxes:
        for item in list(box.usdphys.colliders)[:2]:
            assert not any(item.is_property_set(name) for name in ("location", "size", "radius", "height"))
        assert box.usdphys.colliders[1].axis == "Y"
    automatic = {path: prim.get(usd_geom.Gprim) for path, prim in scenes.read_model().colliders.items()}
    bpy.ops.usdphys.fit_collider(explicit=True)
    for box in boxes:
        assert np.allclose(box.usdphys.colliders[0].size, (2, 4, 6))
        assert box.usdphys.colliders[1].is_property_set("height")
        assert not box.usdphys.colliders[2].is_property_set("size")
    explicit = {path: prim.get(usd_geom.Gprim) for path, prim in scenes.read_model().colliders.items()}
    for path, shape in automatic.items():
        if shape is not None:
            assert shape.all_values()[-1] == explicit[path].all_values()[-1]
            for name in ("size", "radius", "height"):
                assert getattr(shape, name, 0) == pytest.approx(getattr(explicit[path], name, 0), rel=1e-5)


def test_fit_only_the_active_collider():
    box = scenes.add_box("Box")
    for _ in range(2):
        scenes.make_collider(box, "SPHERE", radius=3)
    box.usdphys.active_collider_index = 1
    select(box)
    bpy.ops.usdphys.fit_collider(only_active=True)
    assert [item.is_property_set("radius") for item in box.usdphys.colliders] == [True, False]


def test_fit_says_what_is_missing():
    box = scenes.add_box("Box")
    scenes.make_collider(box, "MESH")
    select(box)
    with pytest.raises(RuntimeError, match="'Box' has no primitive collider"):
        bpy.ops.usdphys.fit_collider()
    empty = scenes.add("Empty")
    scenes.make_collider(empty, "CUBE", size=(1, 2, 3))
    select(empty)
    with pytest.raises(RuntimeError, match="'Empty' has no mesh"):
        bpy.ops.usdphys.fit_collider()
    assert np.allclose(empty.usdphys.colliders[0].size, (1, 2, 3))


def test_collider_object_follows_its_wire():
    ball = scenes.operator_mesh("primitive_uv_sphere_add", radius=1)
    select(ball)
    bpy.ops.usdphys.make_collider_objects(kind="SPHERE")
    (child,) = ball.children
    for vertex in child.data.vertices:
        vertex.co *= 2
    child.scale = (3, 3, 3)
    prim = scenes.the(scenes.read_model().colliders)
    assert prim.get(usd_geom.Sphere).radius * frames.scale_of(prim.world)[0] == pytest.approx(6, rel=1e-4)
    select(child)
    bpy.ops.usdphys.fit_collider(explicit=True)
    assert child.usdphys.colliders[0].radius == pytest.approx(2, rel=1e-4)


def test_fit_a_collider_that_is_the_object_itself():
    """As an import leaves it: there is no automatic fit, and the mesh has to be about the origin."""
    ball = scenes.operator_mesh("primitive_uv_sphere_add", radius=1)
    item = scenes.make_collider(ball, "SPHERE", radius=5, is_geometry=True)
    select(ball)
    bpy.ops.usdphys.fit_collider()
    assert item.radius == pytest.approx(1) and not item.is_property_set("location")
    for vertex in ball.data.vertices:
        vertex.co.x += 1
    with pytest.raises(RuntimeError, match="is itself the collider"):
        bpy.ops.usdphys.fit_collider()
    assert item.radius == pytest.approx(1)


SHAPES = {
    "CUBE": lambda: scenes.operator_mesh("primitive_cube_add", size=2, scale=(1, 2, 3)),
    "SPHERE": lambda: scenes.operator_mesh("primitive_uv_sphere_add", radius=2),
    "CYLINDER": lambda: scenes.operator_mesh("primitive_cylinder_add", radius=1, depth=5),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 2, 2)])
def test_mesh_to_primitive_finds_the_kind(shape, scale):
    obj = SHAPES[shape]()
    obj.scale, obj.location = scale, (3, 2, 1)
    scenes.make_collider(obj, "MESH", approximation="convexHull")
    select(obj)
    bpy.ops.usdphys.collider_mesh_to_primitive()
    (item,) = obj.usdphys.colliders
    assert item.shape == shape and not item.is_property_set("approximation")
    prim = scenes.the(scenes.read_model().colliders)
    assert is_inside(prim.get(usd_geom.Gprim), world_points(obj), prim.world, 1e-3)


def test_mesh_to_primitive_of_a_pill():
    """A capsule as four rings would have it: the mesh is in it, and nothing smaller is around it."""
    pill = scenes.operator_mesh("primitive_uv_sphere_add", radius=1)
    for vertex in pill.data.vertices:
        vertex.co.x += 2 if vertex.co.x > 0.01 else -2
    scenes.make_collider(pill, "AUTO")
    select(pill)
    bpy.ops.usdphys.collider_mesh_to_primitive()
    (item,) = pill.usdphys.colliders
    assert (item.shape, item.axis) == ("CAPSULE", "X")
    assert item.radius == pytest.approx(1, rel=0.02)


def test_mesh_to_primitive_says_what_is_missing():
    box = scenes.add_box("Box")
    select(box)
    with pytest.raises(RuntimeError, match="'Box' has no automatic or mesh collider"):
        bpy.ops.usdphys.collider_mesh_to_primitive()


# --------------------------------------------------------------------------- shapes as numbers


@pytest.mark.slow
def test_contained_points_and_volumes():
    random = np.random.default_rng(5)
    for _ in range(20):
        points = random.normal(size=(60, 3)) * random.uniform(0.1, 3, 3) @ np.linalg.qr(random.normal(size=(3, 3)))[0]
        for kind in fitting.PRIMITIVE_KINDS:
            for turned in (False, True):
                shape = fitting.contain(points, [kind], turned=turned)
                place = frames.transform(shape.center, shape.rotation)
                gprim: Any = {
                    "BOX": lambda s: usd_geom.Cube(1.0), "SPHERE": lambda s: usd_geom.Sphere(s.radius),
                    "CYLINDER": lambda s: usd_geom.Cylinder(s.height, s.radius, "XYZ"[s.axis]),
                    "CAPSULE": lambda s: usd_geom.Capsule(s.height, s.radius, "XYZ"[s.axis]),
                }[kind](shape)  # fmt: skip
                if kind == "BOX":
                    place = frames.transform(shape.center, shape.rotation, shape.size)
                assert is_inside(gprim, points, place, 1e-6), (kind, turned)
        best = fitting.contain(points, turned=True)
        assert fitting.volume(best) <= 1.01 * min(
            fitting.volume(fitting.contain(points, [kind], turned=True)) for kind in fitting.PRIMITIVE_KINDS
        )


def test_snapshot_brings_all_back():
    box, other = scenes.add_box("Box"), scenes.add_box("Other")
    item = scenes.make_collider(box, "CAPSULE", radius=2, location=(1, 2, 3))
    scenes.assign(item.mass, is_applied=True, density=5)
    scenes.assign(item.filtered_pairs, is_applied=True).filtered_pairs.add().object = other
    copy = other.usdphys.colliders.add()
    property_values.restore(copy, property_values.snapshot(item))
    assert property_values.snapshot(copy) == property_values.snapshot(item)
    assert not copy.is_property_set("height") and copy.filtered_pairs.filtered_pairs[0].object == other
    property_values.unset_all(copy)
    assert not copy.mass.is_applied and not copy.is_property_set("radius")


@pytest.mark.slow
def test_a_decomposition_makes_the_fewest_parts_that_an_error_allows_and_says_how_well_they_fit():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # An L of volume 3, whose hull adds a sixth.
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    points = [(x, y, z) for z in (0, 1) for x, y in outline]
    faces = [(5, 4, 3, 2, 1, 0), (6, 7, 8, 9, 10, 11), *((n, (n + 1) % 6, (n + 1) % 6 + 6, n + 6) for n in range(6))]
    mesh = bpy.data.meshes.new("L")
    mesh.from_pydata(points, [], faces)
    angle = bpy.data.objects.new("L", mesh)
    bpy.context.scene.collection.objects.link(angle)
    counts = {}
    for error in (25.0, 5.0):
        bpy.ops.object.select_all(action="DESELECT")
        angle.select_set(True)
        bpy.context.view_layer.objects.active = angle
        assert bpy.ops.usdphys.make_collider_objects(kind="DECOMPOSITION", error=error) == {"FINISHED"}
        counts[error] = len([obj for obj in bpy.data.objects if obj is not angle])
    assert counts == {25.0: 1, 5.0: 2}
    steps = collider_edits.decompose_steps(bpy.context, [angle], convex_parts.Wanted(error=0.05))
    counts = finished(steps)
    assert counts.fits[0].startswith("'L': 2 parts, 0.0% missing, 0.")
    assert counts.suggested == ["10%: 2 parts, 5%: 2 parts, 2%: 2 parts, 1%: 2 parts"]


@pytest.mark.slow
def test_an_error_that_no_number_of_parts_reaches_is_named_below_the_slider():
    """A round body is never split into convex parts without an error, as the solver's parts are no exact ones."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_torus_add(major_segments=12, minor_segments=8)
    bpy.context.object.name = "Ring"
    steps = collider_edits.decompose_steps(bpy.context, [bpy.context.object], convex_parts.Wanted(error=1e-4))
    (note,) = finished(steps).notes
    assert "'Ring' have an error of" in note and "more than the 0.0% that are allowed" in note
    assert bpy.ops.usdphys.make_collider_objects(kind="DECOMPOSITION", error=0.01) == {"FINISHED"}


def test_a_decomposition_that_is_left_changes_nothing():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_torus_add(major_segments=24, minor_segments=8)
    before = {obj.name for obj in bpy.data.objects}
    steps = collider_edits.decompose_steps(bpy.context, [bpy.context.object], convex_parts.Wanted(error=0.1))
    next(steps)
    steps.close()
    assert {obj.name for obj in bpy.data.objects} == before


def test_a_precise_decomposition_without_coacd_says_how_to_get_it(monkeypatch):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_torus_add(major_segments=24, minor_segments=8)
    monkeypatch.setenv(convex_parts.VARIABLE, "/no/such/python")
    with pytest.raises(RuntimeError, match="is not a program"):
        bpy.ops.usdphys.make_collider_objects(kind="DECOMPOSITION", method="precise")


@pytest.mark.parametrize("made", ["compound_from_selection", "make_tet_mesh"])
def test_what_takes_places_from_objects_waits_for_the_reset(made):
    """A compound of simulated poses left a body elsewhere after the reset, a TetMesh was not at its mesh."""
    make = getattr(bpy.ops.usdphys, made)
    bodies = [scenes.solid("One", shape="AUTO"), scenes.solid("Other", shape="AUTO")]
    bodies[1].location = (1.5, 0.0, 1.0)
    scenes.select(*bodies)
    session = preview_guard.start(bpy.context)
    for _ in range(20):
        session.step_once(bpy.context)
    with pytest.raises(RuntimeError, match="Reset the preview first"):
        make()
    preview_guard.stop()
    assert make() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert tuple(bodies[1].matrix_world.translation) == pytest.approx((1.5, 0.0, 1.0), abs=1e-6)
