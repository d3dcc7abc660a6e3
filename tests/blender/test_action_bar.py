"""The action bar: roles of selected objects, the collider that suits a mesh, groups, removal, and the export of it."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import bpy
import numpy as np
import pytest
from usdphys_ext.operators import action_bar as operators
from usdphys_ext.panels import action_bar_panel as panels
from usdphys_ext.usdphys_addon.authoring import clearing, collider_choice, group_edits, tagging
from usdphys_ext.usdphys_addon.authoring.edit_report import EditReport
from usdphys_ext.usdphys_addon.bridge import mesh as meshes
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes
from .layout_recorder import draw
from .scenes import operator_mesh, select

ROLES = {
    "DYNAMIC": "make_dynamic", "STATIC": "make_static", "KINEMATIC": "make_kinematic", "COLLIDER": "add_collider",
}  # fmt: skip


def run(name: str, *objects: Any, **settings: Any) -> Any:
    select(*objects)
    return getattr(bpy.ops.usdphys, name)(**settings)


def tagged(role: str, *objects: Any) -> EditReport:
    select(*objects)
    return tagging.tag(bpy.context, objects, role)


def choice(obj: Any, role: str) -> collider_choice.ColliderChoice | None:
    bpy.context.view_layer.update()
    return collider_choice.choose(obj, role, bpy.context.evaluated_depsgraph_get())


def colliders(obj: Any) -> list[tuple[str, str]]:
    """(shape, approximation) of each, empty where it is not set."""
    return [
        (item.shape, item.approximation if item.is_property_set("approximation") else "")
        for item in obj.usdphys.colliders
    ]


def body(obj: Any) -> str:
    settings = obj.usdphys.rigid_body
    if not settings.is_applied:
        return ""
    return "kinematic" if settings.kinematic_enabled else "dynamic" if settings.rigid_body_enabled else "disabled"


def state(obj: Any) -> tuple[str, list[tuple[str, str]]]:
    return body(obj), colliders(obj)


def mesh_object(name: str, vertices: Any, faces: Any, **settings: Any) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    return scenes.add(name, mesh, **settings)


def l_shape(name: str, depth: float = 0.5, **settings: Any) -> Any:
    """A prism over a square from which a smaller square of side `depth` is taken away."""
    inner = 1.0 - depth
    outline = [(0, 0), (1, 0), (1, inner), (inner, inner), (inner, 1), (0, 1)]
    vertices = [(x, y, z) for z in (0, 1) for x, y in outline]
    sides = [(i, (i + 1) % 6, (i + 1) % 6 + 6, i + 6) for i in range(6)]
    return mesh_object(name, vertices, [tuple(range(5, -1, -1)), tuple(range(6, 12)), *sides], **settings)


def text(name: str, **settings: Any) -> Any:
    data: Any = bpy.data.curves.new(name, "FONT")
    data.body = "Ab"
    for key, value in settings.items():
        setattr(data, key, value)
    return scenes.add(name, data)


def curve(name: str, bevel: float = 0.0) -> Any:
    data: Any = bpy.data.curves.new(name, "CURVE")
    data.dimensions, data.bevel_depth = "3D", bevel
    spline = data.splines.new("POLY")
    spline.points.add(3)
    for point, place in zip(spline.points, ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)), strict=True):
        point.co = (*place, 1)
    return scenes.add(name, data)


def animate(obj: Any, path: str = "location") -> None:
    obj.keyframe_insert(path, frame=1)


def linked(tmp_path: Any, obj: Any) -> Any:
    """An object of another file instead of a local one."""
    name, file = obj.name, str(tmp_path / f"{obj.name}.blend")
    bpy.data.libraries.write(file, {obj})
    bpy.data.objects.remove(obj)
    with bpy.data.libraries.load(file, link=True) as (_, wanted):
        wanted.objects = [name]
    (found,) = wanted.objects
    bpy.context.scene.collection.objects.link(found)
    return found


# --------------------------------------------------------------------------- the collider that suits a mesh


@pytest.mark.slow
@pytest.mark.parametrize(("operator", "words"), [
    ("primitive_cube_add", "a box"), ("primitive_uv_sphere_add", "a sphere"), ("primitive_ico_sphere_add", "a sphere"),
    ("primitive_cylinder_add", "a cylinder"), ("primitive_cone_add", "a cone"),
])  # fmt: skip
def test_primitives_stay_automatic(operator, words):
    settings = {"subdivisions": 4} if "ico" in operator else {}
    obj = operator_mesh(operator, **settings)
    for role in ROLES:
        found = choice(obj, role)
        assert (found.shape, found.approximation, found.words) == ("AUTO", "", words)


@pytest.mark.parametrize(("operator", "moving", "reason"), [
    ("primitive_monkey_add", "convexDecomposition", "not closed"),
    ("primitive_torus_add", "convexDecomposition", "concave"),
    ("primitive_plane_add", "convexDecomposition", "flat"),
    ("primitive_grid_add", "convexDecomposition", "flat"),
])  # fmt: skip
def test_meshes_that_are_no_primitives(operator, moving, reason):
    obj = operator_mesh(operator)
    found = choice(obj, "DYNAMIC")
    assert (found.shape, found.approximation) == ("MESH", moving)
    assert reason in found.reason
    for role in ("STATIC", "KINEMATIC", "COLLIDER"):
        found = choice(obj, role)
        assert (found.shape, found.approximation) == ("MESH", "none")


def test_convex_and_nearly_convex():
    wedge = mesh_object(
        "Wedge", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    )
    assert choice(wedge, "DYNAMIC").approximation == "convexHull"
    assert choice(wedge, "DYNAMIC").reason == "it is convex"
    # An L over a square misses the triangle between its inner corner and its two tips: depth^2 - depth^2 / 2.
    for depth, expected in ((0.3, "convexHull"), (0.34, "convexDecomposition")):
        obj = l_shape(f"L{depth}", depth)
        fill = (1 - depth**2) / (1 - depth**2 / 2)
        assert (fill >= collider_choice.CONVEX) == (expected == "convexHull")
        found = choice(obj, "DYNAMIC")
        assert (found.approximation, f"{fill:.0%}" in found.reason) == (expected, True)


def test_scale_that_leaves_no_primitive():
    ball = operator_mesh("primitive_uv_sphere_add")
    ball.scale = (1, 1, 3)
    assert choice(ball, "DYNAMIC").approximation == "convexHull"
    box = operator_mesh("primitive_cube_add")
    box.scale = (1, 2, 3)
    assert choice(box, "DYNAMIC").shape == "AUTO"


def test_faces_turned_inside_out_count_as_the_same():
    obj = l_shape("L")
    obj.data.flip_normals()
    assert "concave" in choice(obj, "DYNAMIC").reason


def test_modifiers_count():
    obj = operator_mesh("primitive_plane_add")
    obj.modifiers.new("Thick", "SOLIDIFY").thickness = 0.5
    assert choice(obj, "DYNAMIC").words == "a box"


def test_edits_that_keep_the_number_of_vertices_are_seen():
    obj = operator_mesh("primitive_cube_add")
    assert choice(obj, "DYNAMIC").words == "a box"
    for vertex in obj.data.vertices:
        if vertex.co.z > 0:
            vertex.co.x *= 0.5
    obj.data.update()
    assert choice(obj, "DYNAMIC").words == "its convex hull"


@pytest.mark.slow
def test_dense_meshes_are_not_measured(monkeypatch):
    monkeypatch.setattr(meshes, "surface_of", lambda *_: pytest.fail("a click waits for the vertices"))
    obj = operator_mesh("primitive_ico_sphere_add", subdivisions=8)
    assert len(obj.data.polygons) > collider_choice.DENSE_TRIANGLES
    select(obj)
    found = choice(obj, "DYNAMIC")
    assert (found.approximation, "too many triangles" in found.reason) == ("convexDecomposition", True)
    assert choice(obj, "STATIC").approximation == "none"


@pytest.mark.slow
@pytest.mark.parametrize("shrinks", [False, True])
def test_hulls_of_many_points(shrinks):
    """Points beyond a number are picked by direction; what is convex stays so, also where it is long."""
    obj = operator_mesh("primitive_uv_sphere_add", segments=64, ring_count=48)
    for vertex in obj.data.vertices:
        vertex.co.z *= 20
        if shrinks and abs(vertex.co.z) < 8:
            vertex.co.x *= 0.3
            vertex.co.y *= 0.3
    obj.data.update()
    assert len(obj.data.vertices) > collider_choice.HULL_POINTS
    assert choice(obj, "DYNAMIC").approximation == ("convexDecomposition" if shrinks else "convexHull")


@pytest.mark.slow
def test_the_hull_of_many_points_has_nearly_its_volume():
    """Of a torus: 2 pi^2 R r^2 in a hull of 2 pi R^2 r + pi^2 R r^2 + 4/3 pi r^3."""
    obj = operator_mesh(
        "primitive_torus_add", major_radius=1.0, minor_radius=0.25, major_segments=96, minor_segments=48
    )
    assert len(obj.data.vertices) > collider_choice.HULL_POINTS
    large, small = 1.0, 0.25
    hull = 2 * math.pi * large**2 * small + math.pi**2 * large * small**2 + 4 / 3 * math.pi * small**3
    fill = 2 * math.pi**2 * large * small**2 / hull
    (percent,) = re.findall(r"concave \((\d+)% of its hull\)", choice(obj, "DYNAMIC").reason)
    assert int(percent) / 100 == pytest.approx(fill, abs=0.03)


def test_curves_and_texts():
    flat, solid = text("Flat"), text("Solid", extrude=0.2)
    assert "flat" in choice(flat, "DYNAMIC").reason
    assert choice(solid, "DYNAMIC").approximation == "convexDecomposition"
    assert choice(solid, "STATIC").approximation == "none"
    # Blender writes them as curves.
    assert choice(curve("Bare"), "STATIC") is choice(curve("Tube", 0.1), "STATIC") is None
    assert choice(scenes.add("Empty"), "DYNAMIC") is None
    assert choice(mesh_object("Nothing", [], []), "DYNAMIC") is None
    assert choice(mesh_object("Points", [(0, 0, 0), (1, 1, 1)], []), "DYNAMIC") is None


def test_a_collider_moves_with_the_body_above():
    parent = scenes.make_body(scenes.add("Body"))
    ring = operator_mesh("primitive_torus_add")
    ring.parent = parent
    assert choice(ring, "COLLIDER").approximation == "convexDecomposition"
    parent.usdphys.rigid_body.kinematic_enabled = True
    assert choice(ring, "COLLIDER").approximation == "none"
    parent.usdphys.rigid_body.kinematic_enabled = False
    parent.usdphys.rigid_body.rigid_body_enabled = False
    assert choice(ring, "COLLIDER").approximation == "none"


# --------------------------------------------------------------------------- roles


def test_each_role_on_several_objects():
    for role, operator in ROLES.items():
        box, ring = scenes.add_box(f"Box {role}"), operator_mesh("primitive_torus_add")
        assert run(operator, box, ring) == {"FINISHED"}
        kind = {"DYNAMIC": "dynamic", "KINEMATIC": "kinematic"}.get(role, "")
        assert state(box) == (kind, [("AUTO", "")])
        assert state(ring) == (kind, [("MESH", "convexDecomposition" if role == "DYNAMIC" else "none")])
        # Nothing is authored that nobody asked for.
        assert set(box.usdphys.rigid_body.keys()) <= {"is_applied", "kinematic_enabled"}
        assert "shape" not in box.usdphys.colliders[0].keys()
        assert ("kinematic_enabled" in box.usdphys.rigid_body.keys()) == (role == "KINEMATIC")
        assert not any(group.is_applied for group in (box.usdphys.mass, box.usdphys.joint))


def test_unselected_objects_stay():
    box, other = scenes.add_box("Box"), scenes.add_box("Other")
    run("make_dynamic", box)
    assert state(other) == ("", [])


@pytest.mark.parametrize("role", ["DYNAMIC", "STATIC", "KINEMATIC"])
def test_twice_is_once(role):
    table, legs = scenes.add("Table"), []
    legs = [scenes.add_box(f"Leg{index}", parent=table, location=(index, 0, 0)) for index in range(3)]
    box = scenes.add_box("Box")
    run(ROLES[role], table, box)
    first = [state(obj) for obj in (table, box, *legs)]
    run(ROLES[role], table, box)
    assert [state(obj) for obj in (table, box, *legs)] == first
    assert first[2][1] == [("AUTO", "")]


def test_undo_takes_all_back_in_one_step():
    names = ["Box0", "Box1"]
    for name in names:
        scenes.add_box(name)
    select(*(bpy.data.objects[name] for name in names))
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.usdphys.make_dynamic()
    bpy.ops.ed.undo_push(message="after")
    assert [state(bpy.data.objects[name])[0] for name in names] == ["dynamic", "dynamic"]
    bpy.ops.ed.undo()
    assert [state(bpy.data.objects[name]) for name in names] == [("", []), ("", [])]
    bpy.ops.ed.redo()
    assert [state(bpy.data.objects[name])[0] for name in names] == ["dynamic", "dynamic"]


def test_kinematic_and_back():
    box = scenes.add_box("Box")
    run("make_kinematic", box)
    assert body(box) == "kinematic"
    run("make_dynamic", box)
    assert body(box) == "dynamic"
    assert not box.usdphys.rigid_body.is_property_set("kinematic_enabled")
    box.usdphys.rigid_body.rigid_body_enabled = False
    run("make_dynamic", box)
    assert body(box) == "dynamic"
    assert not box.usdphys.rigid_body.is_property_set("rigid_body_enabled")
    assert len(box.usdphys.colliders) == 1


def test_static_keeps_what_a_body_had_for_later():
    box = scenes.solid("Box", shape="AUTO")
    box.usdphys.rigid_body.starts_asleep = True
    scenes.assign(box.usdphys.mass, is_applied=True, mass=3)
    run("make_static", box)
    assert state(box) == ("", [("AUTO", "")])
    run("make_dynamic", box)
    assert box.usdphys.rigid_body.starts_asleep
    assert box.usdphys.mass.mass == 3


def test_triangles_of_what_becomes_dynamic():
    """What Static made would be refused by solvers on a body that moves."""
    ring, own = operator_mesh("primitive_torus_add"), scenes.solid("Own")
    run("make_static", ring)
    assert colliders(ring) == [("MESH", "none")]
    outcome = tagged("DYNAMIC", ring, own)
    assert colliders(ring) == [("MESH", "convexDecomposition")]
    assert colliders(own) == [("MESH", "convexHull")]
    assert any("'Torus', 'Own'" in note and "Collides As" in note for note in outcome.notes)
    # What can move is left as the author has it.
    own.usdphys.colliders[0].approximation = "boundingSphere"
    assert not tagged("DYNAMIC", own).notes
    assert colliders(own) == [("MESH", "boundingSphere")]


def test_plane_colliders_do_not_move():
    floor, box = scenes.add_box("Floor"), scenes.add_box("Box")
    scenes.make_collider(floor, "PLANE")
    outcome = tagged("DYNAMIC", floor, box)
    assert (body(floor), body(box)) == ("", "dynamic")
    assert any("plane" in note and "'Floor'" in note for note in outcome.notes)
    with pytest.raises(InputError, match="plane cannot move"):
        tagged("DYNAMIC", floor)


def test_empty_becomes_one_body_of_its_meshes():
    table = scenes.add("Table")
    top = scenes.add_box("Top", parent=table)
    legs = scenes.add("Legs", parent=table)
    leg = operator_mesh("primitive_torus_add")
    leg.parent = legs
    wheel = scenes.solid("Wheel", parent=table)
    below_wheel = scenes.add_box("Hub", parent=wheel)
    hidden = scenes.add_box("Cutter", parent=table)
    hidden.hide_set(True)
    outcome = tagged("DYNAMIC", table)
    assert state(table) == ("dynamic", [])
    assert state(top) == ("", [("AUTO", "")])
    assert state(leg) == ("", [("MESH", "convexDecomposition")])
    assert state(legs) == ("", [])
    assert state(wheel) == ("dynamic", [("MESH", "")])
    assert colliders(below_wheel) == colliders(hidden) == []
    assert outcome.text.startswith("Made 1 object dynamic: 'Table' with 2 parts (")
    assert "'Top' a box" in outcome.text
    assert "'Torus' a convex decomposition because it is concave" in outcome.text


def test_parts_that_are_selected_with_their_empty():
    table = scenes.add("Table")
    top, leg = scenes.add_box("Top", parent=table), scenes.add_box("Leg", parent=table)
    run("make_dynamic", top, leg, table)
    assert [state(obj) for obj in (table, top, leg)] == [("dynamic", []), ("", [("AUTO", "")]), ("", [("AUTO", "")])]
    run("make_static", top, leg, table)
    assert [body(obj) for obj in (table, top, leg)] == ["", "", ""]
    # A mesh is a body of its own, and so is what is below it.
    car = scenes.add_box("Car")
    wheel = scenes.add_box("Wheel", parent=car)
    run("make_dynamic", car, wheel)
    assert [state(obj) for obj in (car, wheel)] == [("dynamic", [("AUTO", "")])] * 2


def test_a_parent_and_its_child_with_a_collider_both_become_bodies():
    car = scenes.add_box("Car")
    wheel = scenes.add_box("Wheel", parent=car)
    scenes.make_collider(wheel, "SPHERE")
    run("make_dynamic", car, wheel)
    assert state(car) == ("dynamic", [("AUTO", "")])
    assert state(wheel) == ("dynamic", [("SPHERE", "")])


def test_colliders_below_are_enough():
    car = scenes.add_box("Car")
    hull = scenes.add_box("Hull", parent=car)
    scenes.make_collider(hull, "SPHERE")
    run("make_dynamic", car)
    assert state(car) == ("dynamic", [])
    assert colliders(hull) == [("SPHERE", "")]
    # Asked for a collider, it gets one.
    run("add_collider", car)
    assert colliders(car) == [("AUTO", "")]


def test_static_parts_of_what_was_a_body():
    """The approximation is chosen for what the objects are afterwards."""
    table = scenes.make_body(scenes.add("Table"))
    ring = operator_mesh("primitive_torus_add")
    ring.parent = table
    run("make_static", table)
    assert body(table) == ""
    assert colliders(ring) == [("MESH", "none")]
    ring.usdphys.colliders.clear()
    table.usdphys.rigid_body.is_applied = True
    outcome = tagged("STATIC", ring)
    assert colliders(ring) == [("MESH", "convexDecomposition")]
    assert any("part of it" in note and "'Torus'" in note for note in outcome.notes)


def test_collider_is_added_once():
    box = scenes.add_box("Box")
    run("add_collider", box)
    with pytest.raises(RuntimeError, match="There already is a collider on 'Box'"):
        run("add_collider", box)
    assert colliders(box) == [("AUTO", "")]


@pytest.mark.parametrize("role", list(ROLES))
def test_what_has_no_geometry_is_refused(role):
    camera = scenes.add("Camera", bpy.data.cameras.new("Camera"))
    nothing, tube = mesh_object("Nothing", [], []), curve("Tube", 0.1)
    with pytest.raises(RuntimeError, match=r"no faces to collide with in 'Camera', 'Nothing'.*'Tube'") as error:
        run(ROLES[role], camera, nothing, tube)
    assert "convert to meshes (Object > Convert): 'Tube'" in str(error.value)
    assert [state(obj) for obj in (camera, nothing, tube)] == [("", [])] * 3
    # What can be made is made, and the rest is said.
    box = scenes.add_box("Box")
    outcome = tagged(role, camera, box)
    assert colliders(box) == [("AUTO", "")]
    assert any("'Camera'" in note for note in outcome.notes)
    assert outcome.objects == ["Box"]


def test_curve_below_an_empty_is_said():
    rope = scenes.add("Rope")
    scenes.add_box("End", parent=rope)
    curve("Tube", 0.1).parent = rope
    outcome = tagged("DYNAMIC", rope)
    assert [note for note in outcome.notes if "'Tube'" in note]
    assert colliders(bpy.data.objects["Tube"]) == []


def test_bare_empty_becomes_a_body_and_is_told():
    outcome = tagged("DYNAMIC", scenes.add("Frame"))
    assert body(bpy.data.objects["Frame"]) == "dynamic"
    assert any("needs a collider or a mass" in note for note in outcome.notes)
    scenes.assign(bpy.data.objects["Frame"].usdphys.mass, is_applied=True, mass=1)
    assert not tagged("DYNAMIC", bpy.data.objects["Frame"]).notes


@pytest.mark.parametrize(("settings", "is_bare"), [
    ({"mass": 1, "is_applied": True}, False), ({"mass": 0, "is_applied": True}, True),
    ({"mass": 1, "is_applied": False}, True),
])  # fmt: skip
def test_only_a_mass_that_is_switched_on_and_positive_makes_up_for_a_collider(settings, is_bare):
    """USD takes a mass of 0 for one that is to be computed, of which an empty without colliders has nothing."""
    frame = scenes.add("Frame")
    scenes.assign(frame.usdphys.mass, **settings)
    assert any("needs a collider or a mass" in note for note in tagged("DYNAMIC", frame).notes) == is_bare


def test_joints_are_no_bodies():
    a, b = scenes.solid("A"), scenes.solid("B")
    hinge = scenes.add_joint("Hinge", "REVOLUTE", a, b)
    with pytest.raises(RuntimeError, match="select the objects that they join instead of 'Hinge'"):
        run("make_dynamic", hinge)
    run("make_kinematic", a, hinge)
    assert (body(a), body(hinge)) == ("kinematic", "")


@pytest.mark.parametrize("path", ["location", "rotation_euler", "hide_render"])
def test_animated_objects_are_told(path):
    box = scenes.add_box("Box")
    animate(box, path)
    moves = path != "hide_render"
    assert any("kinematic" in note and "'Box'" in note for note in tagged("DYNAMIC", box).notes) == moves
    assert body(box) == "dynamic"
    assert not tagged("KINEMATIC", box).notes


def test_drivers_and_strips_animate():
    driven, stripped = scenes.add_box("Driven"), scenes.add_box("Stripped")
    assert not tagging.is_animated(driven)
    driven.driver_add("location", 0)
    assert tagging.is_animated(driven)
    animate(stripped)
    data = stripped.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    assert not tagging.is_animated(stripped)
    strip = data.nla_tracks.new().strips.new("Strip", 1, action)
    strip.action_slot = slot
    assert tagging.is_animated(stripped)


def test_linked_objects_are_skipped_and_named(tmp_path, capfd):
    stone = linked(tmp_path, scenes.add_box("Stone"))
    box = scenes.add_box("Box")
    for operator in ROLES.values():
        with pytest.raises(RuntimeError, match=r"Linked objects cannot be edited.*'Stone'"):
            run(operator, stone)
    capfd.readouterr()
    assert run("make_dynamic", stone, box) == {"FINISHED"}
    assert state(stone) == ("", [])
    assert body(box) == "dynamic"
    assert "'Stone'" in capfd.readouterr().out
    with pytest.raises(RuntimeError, match="'Stone'"):
        run("add_group", stone)
    assert len(bpy.context.scene.usdphys.collision_groups) == 0


def test_overrides_can_be_tagged(tmp_path):
    collection = scenes.new_collection("Rig", linked=True)
    scenes.add_box("Box", collection=collection)
    scenes.make_body(scenes.add_box("Mover", collection=collection), kinematic_enabled=True)
    file = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(file, link=True) as (_, wanted):
        wanted.collections = ["Rig"]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    wanted.collections[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)

    def local(name: str) -> Any:
        return next(obj for obj in bpy.data.objects if obj.name == name and obj.override_library)

    run("make_dynamic", local("Box"), local("Mover"))
    with pytest.raises(RuntimeError, match=r"from a library file.*'Mover'"):
        run("clear_physics", local("Mover"))
    file = str(tmp_path / "user.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    assert state(local("Box")) == ("dynamic", [("AUTO", "")])
    assert state(local("Mover")) == ("dynamic", [("AUTO", "")])


# --------------------------------------------------------------------------- tooltips, polls, interface


def description(role: str) -> str:
    cls = next(cls for cls in operators.CLASSES if getattr(cls, "role", "") == role)
    return str(cls.description(bpy.context, None))


def test_tooltip_says_what_will_happen():
    crate, mug, extra = scenes.add_box("Crate"), l_shape("Mug"), scenes.add_box("Extra", (1, 1, 2))
    more = scenes.add_box("More")
    select(crate, mug, extra, more)
    text = description("DYNAMIC")
    shapes = (
        "'Crate' a box, 'Mug' a convex decomposition because it is concave (86% of its hull), 'Extra' a box and 1 more"
    )
    assert text.endswith(f"\nMake 4 objects dynamic: {shapes}")
    select(crate, mug)
    assert description("DYNAMIC").endswith(
        "Make 2 objects dynamic: 'Crate' a box, 'Mug' a convex decomposition because it is concave (86% of its hull)"
    )
    assert "'Mug' its triangles because" in description("STATIC")
    assert "Add colliders to 2 objects" in description("COLLIDER")
    # Only told, not done.
    assert state(crate) == state(mug) == ("", [])
    select()
    assert "\n" not in description("DYNAMIC")
    select(scenes.add("Camera", bpy.data.cameras.new("Camera")))
    assert "no faces to collide with" in description("STATIC")


def test_tooltip_of_many_objects_does_the_same_for_each_and_measures_their_mesh_once(monkeypatch, count_calls):
    measured = []
    surface_of = meshes.surface_of
    monkeypatch.setattr(meshes, "surface_of", lambda obj: measured.append(obj.name) or surface_of(obj))
    data = operator_mesh("primitive_monkey_add").data
    boxes = [scenes.add(f"Box{index}", data) for index in range(400)]
    select(*boxes[:100])
    few = count_calls(lambda: description("DYNAMIC"))
    select(*boxes)
    measured.clear()
    assert count_calls(lambda: description("DYNAMIC")) < 5 * few
    assert len(measured) == 1
    text = description("DYNAMIC")
    assert "Make 400 objects dynamic" in text
    assert text.endswith("and 397 more")


@pytest.mark.parametrize("name", [*ROLES.values(), "add_group", "clear_physics"])
def test_polls(name):
    operator = getattr(bpy.ops.usdphys, name)
    select()
    assert not operator.poll()
    with pytest.raises(RuntimeError, match="Select one or more objects first"):
        operator()
    box = scenes.add_box("Box")
    select(box)
    assert operator.poll()
    bpy.ops.object.mode_set(mode="EDIT")
    assert not operator.poll()
    with pytest.raises(RuntimeError, match="Switch to Object Mode first"):
        operator()
    bpy.ops.object.mode_set(mode="OBJECT")


def shown(cls: Any) -> list[str]:
    return [button.arguments["operator"] for button in draw(cls).buttons()]


def test_layouts_show_what_is_registered():
    scenes.solid("Crate")
    has_joint = hasattr(bpy.types, "USDPHYS_OT_joint_add")
    expected = [idname for idname, _, _ in panels.ACTIONS if has_joint or idname != "usdphys.joint_add"]
    assert len(expected) >= 6
    assert shown(panels.USDPHYS_MT_pie) == expected
    made = [idname for idname, _, _ in panels.MAKE]
    assert len(made) == 10
    others = ["usdphys.add_collider", "usdphys.add_physics", "usdphys.edit_generated", "usdphys.remove_generated"]
    assert shown(panels.USDPHYS_PT_actions) == [*made, *others]
    assert shown(panels.USDPHYS_MT_object)[: len(expected)] == expected
    assert shown(panels.USDPHYS_PT_batch) == ["usdphys.tag_by_name", "usdphys.tag_collection", "usdphys.copy_physics"]
    assert (panels.USDPHYS_PT_actions.bl_category, panels.USDPHYS_PT_actions.bl_order) == ("USD Physics", 1)
    assert panels.USDPHYS_PT_batch.bl_order == 3
    assert "DEFAULT_CLOSED" in panels.USDPHYS_PT_batch.bl_options
    assert panels.draw_menu in bpy.types.VIEW3D_MT_object.draw._draw_funcs


def test_layouts_do_without_an_operator(monkeypatch):
    scenes.solid("Crate")
    monkeypatch.setattr(panels, "ACTIONS", (("usdphys.not_there", "None", "X"), *panels.ACTIONS[:1]))
    assert shown(panels.USDPHYS_MT_pie) == ["usdphys.make_dynamic"]


def test_all_buttons_undo_and_tell():
    for cls in operators.CLASSES:
        assert cls.bl_options == {"REGISTER", "UNDO"}
        assert cls.__doc__
        assert not cls.__doc__.endswith(".")


# --------------------------------------------------------------------------- groups


def groups() -> dict[str, list[str]]:
    return {
        item.name: [target.name for target in item.filtered_groups]
        for item in bpy.context.scene.usdphys.collision_groups
    }


def memberships(obj: Any) -> list[str]:
    return [item.name for item in obj.usdphys.collision_groups]


def test_group_of_the_selection():
    a, b, other = scenes.solid("A"), scenes.solid("B"), scenes.solid("C")
    run("add_group", a, b)
    assert groups() == {"Group": []}
    assert [memberships(obj) for obj in (a, b, other)] == [["Group"], ["Group"], []]
    # The name is made free, and an object can be in several.
    run("add_group", b, other, ignores_itself=True)
    assert groups() == {"Group": [], "Group2": ["Group2"]}
    assert [memberships(obj) for obj in (a, b, other)] == [["Group"], ["Group", "Group2"], ["Group2"]]
    run("add_group", a, group_name="Fingers")
    assert memberships(a) == ["Group", "Fingers"]
    assert bpy.context.scene.usdphys.active_group_index == 2


def test_group_names_of_members_are_taken():
    """A group that only members name would take them in."""
    a, b = scenes.solid("A"), scenes.solid("B")
    scenes.join_group(b, "Group")
    b.usdphys.colliders[0].collision_groups.add().name = "Group2"
    run("add_group", a)
    assert memberships(a) == ["Group3"]


def test_group_without_colliders_is_told():
    box = scenes.add_box("Box")
    outcome = group_edits.add_group(bpy.context.scene, [box], " ")
    assert (outcome.text, memberships(box)) == ("Made the collision group 'Group' of 1 object", ["Group"])
    assert any("'Box'" in note for note in outcome.notes)
    parent = scenes.add("Parent")
    scenes.solid("Child", parent=parent)
    assert not group_edits.add_group(bpy.context.scene, [parent], "Machine").notes


# --------------------------------------------------------------------------- removal


def full(name: str, other: Any, **settings: Any) -> Any:
    """An object with some of everything."""
    obj = scenes.solid(name, **settings)
    physics = obj.usdphys
    scenes.assign(physics.mass, is_applied=True, mass=2)
    scenes.assign(physics.joint, is_applied=True, type="REVOLUTE", body0=other)
    scenes.assign(physics.joint.drives.angular, is_applied=True, stiffness=5)
    physics.articulation_root.is_applied = True
    scenes.assign(physics.filtered_pairs, is_applied=True).filtered_pairs.add().object = other
    scenes.join_group(obj, "Group")
    physics.physics_material = scenes.physics_material("Steel")
    physics.physics_material_path = "/World/Steel"
    physics.prim.path, physics.prim.id_name, physics.prim.carried = "/World/Thing", obj.name, "kept"
    return obj


def test_a_cleared_object_has_nothing_of_ours():
    box = scenes.solid("Box")
    assert "version" in box.usdphys.keys()
    clearing.clear_physics([box])
    assert not box.usdphys.keys()


def test_clear_removes_everything_but_the_memory_of_the_import():
    other = scenes.solid("Other")
    things = [full(f"Thing{index}", other) for index in range(2)]
    outcome = clearing.clear_physics(things)
    for obj in things:
        assert set(obj.usdphys.keys()) - {"version"} == {"prim"}
        assert (obj.usdphys.prim.path, obj.usdphys.prim.carried) == ("/World/Thing", "kept")
        assert not obj.usdphys.joint.is_property_set("body0")
        assert not obj.usdphys.joint.drives.angular.is_property_set("stiffness")
    assert state(other) == ("dynamic", [("MESH", "")])
    assert outcome.text == (
        "Removed the physics of 2 objects: 2 bodies, 2 colliders, 2 joints, 2 masses, 2 articulation roots, "
        "2 group memberships, 2 filtered pairs"
    )


def test_clear_by_the_button(capfd):
    a, plain = scenes.solid("A"), scenes.add_box("Plain")
    hinge = scenes.add_joint("Hinge", "FIXED", a)
    capfd.readouterr()
    assert run("clear_physics", a, plain) == {"FINISHED"}
    out = capfd.readouterr().out
    assert "Removed the physics of 1 object: 1 body, 1 collider" in out
    assert "'Hinge'" in out
    assert hinge.usdphys.joint.is_applied
    with pytest.raises(RuntimeError, match="There is no physics on these objects"):
        run("clear_physics", a, plain)


def test_clear_removes_what_is_set_but_not_applied():
    box = scenes.add_box("Box")
    box.usdphys.mass.density = 5.0
    run("clear_physics", box)
    assert not box.usdphys.mass.is_property_set("density")


def test_clear_names_linked_objects(tmp_path):
    stone = linked(tmp_path, scenes.solid("Stone"))
    with pytest.raises(RuntimeError, match="'Stone'"):
        run("clear_physics", stone)
    assert body(stone) == "dynamic"


# --------------------------------------------------------------------------- what is exported


def everything() -> list[Any]:
    """Objects of all sorts, apart from each other."""
    table = scenes.add("Table")
    made = [
        table, operator_mesh("primitive_cube_add"), operator_mesh("primitive_uv_sphere_add"),
        operator_mesh("primitive_monkey_add"), operator_mesh("primitive_torus_add"),
        operator_mesh("primitive_plane_add"), curve("Tube", 0.1), text("Solid", extrude=0.2), text("Flat"),
        mesh_object("Nothing", [], []), operator_mesh("primitive_cylinder_add"),
    ]  # fmt: skip
    scenes.add_box("Top", parent=table)
    l_shape("Leg", parent=table)
    for obj, place in zip(made, itertools.count(), strict=False):
        obj.location.x = 4.0 * place
    return made


@pytest.mark.parametrize("role", list(ROLES))
def test_export_is_valid(role, tmp_path):
    objects = everything()
    run(ROLES[role], *objects)
    bpy.ops.usdphys.add_group(ignores_itself=True)
    stage, result = scenes.export(tmp_path / "made.usda")
    assert [issue for issue in result.issues if issue.severity == "error"] == []
    found = {issue.code for issue in result.issues if issue.severity == "warning"}
    assert found <= {"BodyWithoutMass"}
    bodies = [prim for prim in stage.Traverse() if "PhysicsRigidBodyAPI" in scenes.applied(prim)]
    colliding = [prim for prim in stage.Traverse() if "PhysicsCollisionAPI" in scenes.applied(prim)]
    # The two below the Empty have colliders, the curve and the mesh of nothing have none.
    assert len(colliding) == len(objects) - 1
    assert len(bodies) == (len(objects) - 2 if role in ("DYNAMIC", "KINEMATIC") else 0)
    approximations = {
        prim.GetAttribute("physics:approximation").Get() for prim in colliding
        if prim.HasAttribute("physics:approximation")
    }  # fmt: skip
    moving = {"convexDecomposition"} if role == "DYNAMIC" else {"none"}
    assert approximations == {"boundingCube", "boundingSphere"} | moving


def test_static_to_dynamic_exports_without_triangles(tmp_path):
    ring = operator_mesh("primitive_torus_add")
    run("make_static", ring)
    run("make_dynamic", ring)
    _, result = scenes.export(tmp_path / "made.usda")
    assert [issue.code for issue in result.issues if issue.severity != "info"] == []


# --------------------------------------------------------------------------- collection instances


def crate_instance(name="Crates", location=(0, 0, 5)):
    """An Empty that shows a collection with a box and a smaller one on it, which is not in the scene itself."""
    held = bpy.data.collections.new("Held")
    for part, place, half in (("Box", (0, 0, 0), 0.5), ("Lid", (0, 0, 0.6), 0.1)):
        scenes.add_box(part, (half,) * 3, collection=held, location=place)
    return scenes.add_instance(name, held, location=location)


def test_a_dynamic_collection_instance_is_one_body_with_colliders_and_falls():
    empty = crate_instance()
    select(empty)
    bpy.ops.usdphys.make_dynamic()
    assert empty.usdphys.rigid_body.is_applied
    for name in ("Box", "Lid"):
        part = bpy.data.objects[name]
        assert len(part.usdphys.colliders) == 1 and not part.usdphys.rigid_body.is_applied
    model = scenes.read_model()
    (body,) = model.bodies.values()
    assert len(model.colliders_of(body.path)) == 2
    bpy.ops.usdphys.preview_play()
    for _ in range(15):
        bpy.ops.usdphys.preview_step()
    assert empty.location.z < 4.5
    bpy.ops.usdphys.preview_reset()
    assert empty.location.z == 5.0


def shown_at(name):
    """Where the one instance of an object is drawn."""
    instances = bpy.context.evaluated_depsgraph_get().object_instances
    return next(one.matrix_world.copy() for one in instances if one.object.name == name)


def test_a_body_inside_of_an_instance_is_shown_by_moving_the_instance():
    """The body is turned and away from the origin of its collection, and the instance is turned and scaled itself."""
    held = bpy.data.collections.new("Held")
    box = scenes.add_box("Box", (0.5,) * 3, collection=held, location=(1, 0, 0))
    box.rotation_euler = (0.3, 0.0, 0.0)
    empty = scenes.add_instance("Crates", held, location=(0, 0, 5))
    empty.rotation_euler, empty.scale = (0, 0, 0.5), (2, 2, 2)
    scenes.make_body(box)
    scenes.make_collider(box)
    bpy.context.view_layer.update()
    box.usdphys.rigid_body.angular_velocity = (0, 0, 2.0)
    before, start = empty.matrix_world.copy(), shown_at("Box")
    bpy.ops.usdphys.preview_play()
    for _ in range(12):
        bpy.ops.usdphys.preview_step()
    world = preview_guard.current().world
    assert (start.translation.z - shown_at("Box").translation.z) == pytest.approx(0.5 * 9.81 * world.time**2, rel=0.05)
    assert np.array(shown_at("Box")) == pytest.approx(world.matrices()[0], abs=1e-4)
    assert shown_at("Box").to_3x3().col[0].angle(start.to_3x3().col[0]) == pytest.approx(2.0 * world.time, rel=0.02)
    bpy.ops.usdphys.preview_reset()
    assert empty.matrix_world == before and empty.rotation_mode == "XYZ"


def test_a_static_collection_instance_collides():
    empty = crate_instance()
    select(empty)
    bpy.ops.usdphys.make_static()
    assert len(scenes.read_model().colliders) == 2


def test_conversion_is_a_button_where_blender_has_rigid_bodies():
    assert draw(panels.USDPHYS_PT_actions).buttons("usdphys.from_rigid_bodies") == []
    assert draw(panels.USDPHYS_MT_object).buttons("usdphys.from_rigid_bodies")
    crate = scenes.add_box("Crate")
    select(crate)
    bpy.context.view_layer.objects.active = crate
    bpy.ops.rigidbody.object_add()
    (button,) = draw(panels.USDPHYS_PT_actions).buttons("usdphys.from_rigid_bodies")
    assert button.press() == {"FINISHED"}
    assert crate.usdphys.rigid_body.is_applied


def test_the_first_steps_get_ticks_and_stay_until_all_are_done():
    steps = panels.Steps()
    scene = bpy.context.scene
    crate = scenes.add_box("Crate", location=(0, 0, 3))
    assert [is_done for _, is_done in steps.of(scene)] == [False, False, False]
    scenes.select(crate)
    bpy.ops.usdphys.add_physics(kind="GROUND")
    assert [is_done for _, is_done in steps.of(scene)] == [True, False, False]
    bpy.ops.usdphys.make_dynamic()
    assert [is_done for _, is_done in steps.of(scene)] == [True, True, False]
    # A scene that has physics when it is first shown needs no steps.
    assert panels.Steps().of(scene) == []
    bpy.ops.usdphys.preview_step()
    assert steps.of(scene) == []
    bpy.ops.usdphys.preview_reset()
    assert steps.of(scene) == []


def test_a_scene_that_was_imported_into_an_empty_one_has_no_first_steps(tmp_path):
    steps, scene = panels.Steps(), bpy.context.scene
    assert steps.of(scene), "an empty scene has them"
    body = 'def Xform "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}'
    (tmp_path / "crate.usda").write_text(f"#usda 1.0\n{body}\n")
    assert bpy.ops.usdphys.import_usd(filepath=str(tmp_path / "crate.usda")) == {"FINISHED"}
    assert steps.of(scene) == []


def test_a_static_object_is_no_pressed_ground_and_a_floor_of_ones_own_ends_the_steps_with_the_first_play():
    steps = panels.Steps()
    scene = bpy.context.scene
    crate, floor = scenes.add_box("Crate", location=(0, 0, 3)), scenes.add_box("Floor")
    assert steps.of(scene)
    scenes.select(floor)
    bpy.ops.usdphys.make_static()
    scenes.select(crate)
    bpy.ops.usdphys.make_dynamic()
    assert [is_done for _, is_done in steps.of(scene)] == [False, True, False]
    other = bpy.data.scenes.new("Other")
    bpy.ops.usdphys.preview_step()
    assert [is_done for _, is_done in steps.of(other)] == [False, False, False]
    assert steps.of(scene) == []
    bpy.ops.usdphys.preview_reset()


def test_instances_of_geometry_nodes_are_refused_with_the_way_out():
    points = scenes.add_box("Points")
    group: Any = bpy.data.node_groups.new("Balls", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    kinds = ("NodeGroupInput", "GeometryNodeInstanceOnPoints", "GeometryNodeMeshCube", "NodeGroupOutput")
    start, instances, cube, end = (group.nodes.new(kind) for kind in kinds)
    group.links.new(start.outputs[0], instances.inputs["Points"])
    group.links.new(cube.outputs[0], instances.inputs["Instance"])
    link = group.links.new(instances.outputs[0], end.inputs[0])
    points.modifiers.new("Nodes", "NODES").node_group = group
    scenes.select(points)
    with pytest.raises(RuntimeError, match=r"'Points' are instances, .*; realize them in the geometry nodes"):
        bpy.ops.usdphys.make_dynamic()
    assert not points.usdphys.rigid_body.is_applied
    group.links.remove(link)
    scenes.select(points)
    with pytest.raises(RuntimeError, match="no faces to collide with in 'Points'"):
        bpy.ops.usdphys.make_dynamic()
