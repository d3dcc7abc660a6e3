"""Colliders of objects: what is recognised, what is fitted, and where it ends up in the world."""

from __future__ import annotations

import itertools
import math
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics

from . import scenes
from .scenes import codes, operator_mesh, placed, read, read_model, the

TURNED = placed((1, 2, 3), (0.3, -0.7, 1.1))
#: World places without shear, by name.
PLACES = {
    "plain": Matrix.Identity(4),
    "turned": TURNED,
    "bigger": TURNED @ placed(scale=(3, 3, 3)),
    "uneven": TURNED @ placed(scale=(2, 0.5, 3)),
    "mirrored": TURNED @ placed(scale=(1, 1, -1)),
    "mirrored in all": TURNED @ placed(scale=(-2, -2, -2)),
    "mirrored, uneven": TURNED @ placed(scale=(2, 0.5, -3)),
}
places = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
axes = pytest.mark.parametrize("axis", "XYZ")
#: Every place with every axis, and with every kind.
ROUND = [
    (name, axis, ("CAPSULE", "CYLINDER", "CONE")[(row + column) % 3])
    for row, name in enumerate(PLACES)
    for column, axis in enumerate("XYZ")
]


def close(first: Any, second: Any, tolerance: float = 1e-5) -> bool:
    return bool(np.allclose(np.array(first), np.array(second), atol=tolerance))


def the_collider(**options: Any) -> Any:
    return the(read_model(**options).colliders)


def gprim_of(prim: Any) -> Any:
    found = prim.get(usd_geom.Gprim)
    assert found.usd_name == prim.type_name
    return found


def scale_of(prim: Any) -> float:
    """The one scale of the world space of a prim, which must not be sheared or uneven."""
    lengths = np.linalg.norm(prim.world[:3, :3], axis=0)
    assert not frames.is_sheared(prim.world, 1e-5)
    assert np.ptp(lengths) <= 1e-5 * lengths.max()
    return float(lengths[0])


def direction_of(prim: Any) -> np.ndarray:
    """World direction of the axis of a gprim."""
    column = prim.world[:3, "XYZ".index(gprim_of(prim).resolved("axis"))]
    return column / np.linalg.norm(column)


def corners(matrix: Any, half: Any, center: Any = (0, 0, 0)) -> np.ndarray:
    """The eight world corners of a box, sorted."""
    points = [np.multiply(row, half) + center for row in itertools.product((-1, 1), repeat=3)]
    world = np.array([np.array(matrix) @ [*point, 1] for point in points])[:, :3]
    return world[np.lexsort(np.round(world, 4).T)]


def box_corners(prim: Any) -> np.ndarray:
    return corners(prim.world, [gprim_of(prim).resolved("size") / 2] * 3)


# --------------------------------------------------------------------------- automatic

#: (what it is, its settings, the bounding volume that is exactly this: the mesh collides itself then)
OPERATORS = {
    "primitive_cube_add": (usd_geom.Cube, {"size": 3}, "boundingCube"),
    "primitive_uv_sphere_add": (usd_geom.Sphere, {"radius": 1.5}, "boundingSphere"),
    "primitive_ico_sphere_add": (usd_geom.Sphere, {"radius": 1.5, "subdivisions": 3}, "boundingSphere"),
    "primitive_cylinder_add": (usd_geom.Cylinder, {"radius": 1.5, "depth": 4}, ""),
    "primitive_cone_add": (usd_geom.Cone, {"radius1": 1.5, "depth": 4}, ""),
}


def approximation_of(prim: Any) -> str:
    value = prim.get(usd_physics.MeshCollisionAPI)
    return value.approximation if value else ""


def what(prim: Any) -> str:
    """Approximation of a mesh, type of a primitive."""
    return approximation_of(prim) if prim.type_name == "Mesh" else prim.type_name


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(("dynamic", "meters"), [(False, 1.0), (True, 0.01)])
def test_blenders_primitives_are_recognised(operator, dynamic, meters):
    bpy.context.scene.unit_settings.scale_length = meters
    kind, settings, bounding = OPERATORS[operator]
    obj = operator_mesh(operator, location=(1, 2, 3), rotation=(0.5, 0.25, 1), **settings)
    if dynamic:
        scenes.make_body(obj)
    scenes.make_collider(obj, "AUTO")
    prim = the_collider()
    assert close(prim.world[:3, 3], np.multiply((1, 2, 3), meters))
    if bounding:
        assert (prim.type_name, approximation_of(prim), prim.purpose) == ("Mesh", bounding, "default")
        assert prim.path == f"/root/{obj.name}/{obj.data.name}"
        return
    assert (prim.type_name, approximation_of(prim), prim.purpose) == (kind.usd_name, "", "guide")
    assert prim.path.startswith(f"/root/{obj.name}/")
    value = gprim_of(prim)
    assert (value.radius * scale_of(prim), value.height * scale_of(prim)) == pytest.approx(
        (1.5 * meters, 4 * meters), rel=1e-4
    )
    assert close(direction_of(prim), scenes.world_of(obj)[:3, 2])


#: What Blender's primitives are under an uneven scale.
UNEVEN = {
    "primitive_cube_add": {(1, 1, 3): "boundingCube", (2, 1, 1): "boundingCube", (2, -1, 3): "boundingCube"},
    "primitive_uv_sphere_add": {(1, 1, 3): "convexHull", (1, 1, -1): "boundingSphere"},
    "primitive_cylinder_add": {(1, 1, 3): "Cylinder", (2, 1, 1): "convexHull", (2, -2, -1): "Cylinder"},
    "primitive_cone_add": {(1, 1, 3): "Cone", (2, 1, 1): "convexHull", (2, 2, -1): "Cone"},
}


@pytest.mark.parametrize(
    ("operator", "scale", "expected"),
    [(operator, scale, expected) for operator, rows in UNEVEN.items() for scale, expected in rows.items()],
)
def test_scale_decides_what_is_recognised(operator, scale, expected):
    obj = scenes.make_body(operator_mesh(operator, rotation=(0.5, 0.25, 1)))
    obj.scale = scale
    scenes.make_collider(obj, "AUTO")
    prim = the_collider()
    assert what(prim) == expected
    if expected in ("Cylinder", "Cone"):
        value = gprim_of(prim)
        assert value.radius * scale_of(prim) == pytest.approx(abs(scale[0]), rel=1e-5)
        assert value.height * scale_of(prim) == pytest.approx(2 * abs(scale[2]), rel=1e-5)
    if expected == "Cone":
        assert close(direction_of(prim), scenes.world_of(obj)[:3, 2] / abs(scale[2]))


@places
@pytest.mark.parametrize("turn", [(0.4, 0, 0), (0.4, -0.3, 0.9)])
def test_box_that_is_turned_and_moved_in_edit_mode(place, turn):
    half = (0.5, 1.0, 2.0)
    inner = placed((3, 0, 1), turn)
    obj = scenes.make_body(scenes.add_box("Box", half, matrix_world=place))
    obj.data.transform(inner)
    scenes.make_collider(obj, "AUTO")
    prim = the_collider()
    if frames.is_sheared(np.array(place @ inner)):
        assert what(prim) == "convexHull"
    else:
        assert what(prim) == "Cube"
        assert close(box_corners(prim), corners(place @ inner, half), 1e-4)


def test_box_below_an_uneven_parent_is_no_box():
    parent = scenes.make_body(scenes.add("Parent", scale=(1, 4, 1)))
    scenes.make_collider(scenes.add_box("Box", parent=parent, rotation_euler=(0, 0, 0.5), location=(1, 1, 1)), "AUTO")
    assert what(the_collider()) == "convexHull"


@axes
def test_round_things_along_any_axis(axis):
    obj = operator_mesh("primitive_cylinder_add", radius=0.5, depth=3)
    obj.data.transform(Vector((0, 0, 1)).rotation_difference(Vector(np.eye(3)["XYZ".index(axis)])).to_matrix().to_4x4())
    scenes.make_collider(obj, "AUTO")
    prim = the_collider()
    value = gprim_of(prim)
    assert (value.radius, value.height) == pytest.approx((0.5, 3), rel=1e-5)
    assert close(np.abs(direction_of(prim)), np.eye(3)["XYZ".index(axis)])


@pytest.mark.parametrize("dynamic", ["static", "body", "kinematic", "disabled", "below a body"])
def test_other_meshes_are_hulls_where_they_move(dynamic):
    obj = operator_mesh("primitive_monkey_add")
    scenes.make_collider(obj, "AUTO")
    if dynamic == "below a body":
        obj.parent = scenes.make_body(scenes.add("Body"))
    elif dynamic != "static":
        scenes.make_body(obj, kinematic_enabled=dynamic == "kinematic", rigid_body_enabled=dynamic != "disabled")
    prim = the_collider()
    moves = dynamic in ("body", "below a body")
    assert prim.type_name == "Mesh"
    assert prim.get(usd_physics.MeshCollisionAPI).approximation == ("convexHull" if moves else "none")
    assert prim.purpose == "default"


def open_box() -> Any:
    obj = operator_mesh("primitive_cube_add")
    mesh = bmesh.new()
    mesh.from_mesh(obj.data)
    mesh.faces.ensure_lookup_table()
    bmesh.ops.delete(mesh, geom=[max(mesh.faces, key=lambda face: face.calc_center_median().z)], context="FACES_ONLY")
    mesh.to_mesh(obj.data)
    return obj


@pytest.mark.parametrize(
    "make",
    [
        open_box,
        lambda: operator_mesh("primitive_cylinder_add", end_fill_type="NOTHING"),
        lambda: operator_mesh("primitive_cylinder_add", vertices=8),
        lambda: operator_mesh("primitive_torus_add"),
        lambda: operator_mesh("primitive_plane_add"),
        lambda: operator_mesh("primitive_cone_add", radius2=0.5),
        lambda: operator_mesh("primitive_ico_sphere_add", subdivisions=1),
    ],
    ids=["bin", "tube", "prism", "torus", "plane", "frustum", "icosahedron"],
)
def test_what_only_looks_like_a_primitive_stays_a_mesh(make):
    scenes.make_collider(make(), "AUTO")
    assert what(the_collider()) == "none"


def test_split_vertices_do_not_matter():
    """Imported meshes have vertices of their own for every face."""
    obj = operator_mesh("primitive_cube_add")
    mesh = bmesh.new()
    mesh.from_mesh(obj.data)
    bmesh.ops.split_edges(mesh, edges=mesh.edges)
    mesh.to_mesh(obj.data)
    assert len(obj.data.vertices) == 24
    scenes.make_collider(obj, "AUTO")
    assert what(the_collider()) == "boundingCube"


def test_same_points_with_other_faces():
    """What one mesh is tells nothing about another one with the same vertices."""
    first, second = operator_mesh("primitive_cube_add"), open_box()
    for obj in (first, second):
        scenes.make_collider(obj, "AUTO")
    found = {prim.label: what(prim) for prim in read_model().colliders.values()}
    assert found == {first.name: "boundingCube", second.name: "none"}


def test_modifiers_decide_what_is_recognised():
    obj = operator_mesh("primitive_cube_add")
    plain = scenes.add("Plain", obj.data)
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 2
    for one in (obj, plain):
        scenes.make_collider(one, "AUTO")
    found = {prim.label: what(prim) for prim in read_model().colliders.values()}
    assert found == {obj.name: "none", "Plain": "boundingCube"}


# --------------------------------------------------------------------------- primitives: fitted and given


def half_box(half: Any = (0.5, 1.0, 2.0), center: Any = (0.25, 0.5, -1.0), **settings: Any) -> Any:
    return scenes.add("Thing", scenes.box_mesh("Thing", half, center), **settings)


@places
def test_fitted_box(place):
    scenes.make_collider(half_box(matrix_world=place), "CUBE")
    assert close(box_corners(the_collider()), corners(place, (0.5, 1, 2), (0.25, 0.5, -1)), 1e-4)


@places
def test_fitted_sphere(place):
    """The radius is half of the longest edge in the world."""
    scenes.make_collider(half_box(matrix_world=place), "SPHERE")
    prim = the_collider()
    edges = 2 * np.multiply(np.linalg.norm(np.array(place)[:3, :3], axis=0), (0.5, 1, 2))
    assert gprim_of(prim).radius * scale_of(prim) == pytest.approx(edges.max() / 2, rel=1e-5)
    assert close(prim.world[:3, 3], place @ Vector((0.25, 0.5, -1)))


@pytest.mark.parametrize(("name", "axis", "kind"), ROUND)
def test_fitted_round_things(name, axis, kind):
    place = PLACES[name]
    scenes.make_collider(half_box(matrix_world=place), kind, axis=axis)
    prim = the_collider()
    value, index = gprim_of(prim), "XYZ".index(axis)
    world = np.array(place)[:3, :3]
    edges = 2 * np.multiply(np.linalg.norm(world, axis=0), (0.5, 1, 2))
    across = float(np.delete(edges, index).max())
    height = max(0.0, edges[index] - across) if kind == "CAPSULE" else edges[index]
    assert value.radius * scale_of(prim) == pytest.approx(across / 2, rel=1e-5)
    assert value.height * scale_of(prim) == pytest.approx(height, rel=1e-5, abs=1e-6)
    assert close(prim.world[:3, 3], place @ Vector((0.25, 0.5, -1)))
    expected = world[:, index] / np.linalg.norm(world[:, index])
    if kind == "CONE":
        assert close(direction_of(prim), expected)
        assert np.linalg.det(prim.world[:3, :3]) > 0  # simulators read the tip of a mirrored cone in two ways
    else:
        assert close(abs(direction_of(prim) @ expected), 1)


@pytest.mark.parametrize(("name", "axis"), [(name, "XYZ"[number % 3]) for number, name in enumerate(PLACES)])
def test_plane(name, axis):
    place = PLACES[name]
    scenes.make_collider(half_box(matrix_world=place), "PLANE", axis=axis, location=(0, 0, 0))
    prim = the_collider()
    normal = np.array(place)[:3, "XYZ".index(axis)]
    assert close(direction_of(prim), normal / np.linalg.norm(normal))
    assert close(prim.world[:3, 3], place.translation)
    edges = 2 * np.multiply(np.linalg.norm(np.array(place)[:3, :3], axis=0), (0.5, 1, 2))
    width, length = {"X": (2, 1), "Y": (0, 2), "Z": (0, 1)}[axis]
    value = gprim_of(prim)
    assert (value.width * scale_of(prim), value.length * scale_of(prim)) == pytest.approx(
        (edges[width], edges[length]), rel=1e-5
    )


@places
def test_given_sizes(place):
    """Sizes are in the object's space; a round thing takes the larger of the scales across it."""
    obj = half_box(matrix_world=place)
    sphere = scenes.make_collider(obj, "SPHERE", radius=0.5, location=(0, 0, 1))
    sphere.name = "Ball"
    scenes.make_collider(obj, "CAPSULE", radius=0.25, height=2.0, axis="Y", location=(1, 0, 0)).name = "Pill"
    scenes.make_collider(obj, "CUBE", size=(1, 2, 3), location=(0, 1, 0)).name = "Crate"
    prims = {path.rsplit("/", 1)[1]: prim for path, prim in read_model().colliders.items()}
    assert set(prims) == {"Ball", "Pill", "Crate"}
    lengths = np.linalg.norm(np.array(place)[:3, :3], axis=0)
    ball, pill = (gprim_of(prims[name]) for name in ("Ball", "Pill"))
    assert ball.radius * scale_of(prims["Ball"]) == pytest.approx(0.5 * lengths.max(), rel=1e-5)
    assert pill.radius * scale_of(prims["Pill"]) == pytest.approx(0.25 * max(lengths[0], lengths[2]), rel=1e-5)
    assert pill.height * scale_of(prims["Pill"]) == pytest.approx(2 * lengths[1], rel=1e-5)
    assert close(box_corners(prims["Crate"]), corners(place, (0.5, 1, 1.5), (0, 1, 0)), 1e-4)
    assert close(prims["Ball"].world[:3, 3], place @ Vector((0, 0, 1)))
    assert close(prims["Pill"].world[:3, 3], place @ Vector((1, 0, 0)))


def test_given_rotation():
    turn = Matrix.Rotation(0.5, 3, "X").to_quaternion()
    scenes.make_collider(half_box(), "CUBE", size=(1, 2, 3), location=(0, 0, 0), rotation=turn)
    assert close(box_corners(the_collider()), corners(turn.to_matrix().to_4x4(), (0.5, 1, 1.5)))


def test_fit_along_a_given_rotation():
    """A turned collider is fitted along its own axes."""
    obj = half_box((0.5, 1, 2), (0, 0, 0))
    inner = placed((3, 0, 0), (0.5, 0, 0))
    obj.data.transform(inner)
    scenes.make_collider(obj, "CUBE", rotation=inner.to_quaternion())
    assert close(box_corners(the_collider()), corners(inner, (0.5, 1, 2)), 1e-4)


def test_partly_given():
    """What is set stays, the rest is fitted."""
    scenes.make_collider(half_box(), "CYLINDER", radius=0.125)
    prim = the_collider()
    value = gprim_of(prim)
    assert (value.radius, value.height) == pytest.approx((0.125, 4))
    assert close(prim.world[:3, 3], (0.25, 0.5, -1))


@pytest.mark.parametrize("place", [placed(), placed((0, 0, 0), (0.5, 0.6, 0.7), (2, 1, 3))], ids=["plain", "sheared"])
@pytest.mark.parametrize("kind", ["CUBE", "SPHERE", "CAPSULE", "CYLINDER", "CONE", "PLANE"])
def test_nothing_is_sheared(place, kind):
    parent = scenes.add("Parent", matrix_world=place)
    obj = half_box(parent=parent, rotation_euler=(0.3, 0.2, 0.9), location=(1, 0, 0))
    scenes.make_collider(obj, kind)
    prim = the_collider()
    assert not frames.is_sheared(prim.world, 1e-4)
    assert close(prim.world[:3, 3], (scenes.world_of(obj) @ [0.25, 0.5, -1, 1])[:3])


@pytest.mark.parametrize("kind", ["CUBE", "SPHERE"])
def test_primitive_of_an_empty(kind):
    scenes.make_collider(scenes.add("Empty", location=(1, 0, 0)), kind)
    prim = the_collider()
    assert close(prim.world[:3, 3], (1, 0, 0))
    value = gprim_of(prim)
    assert (value.size if kind == "CUBE" else 2 * value.radius) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["FONT", "CURVE", "META"])
def test_fit_to_objects_that_are_no_meshes(kind):
    if kind == "FONT":
        data = bpy.data.curves.new("Text", "FONT")
        scenes.assign(data, body="Wide text", extrude=0.1)
    elif kind == "CURVE":
        data = bpy.data.curves.new("Curve", "CURVE")
        scenes.assign(data, bevel_depth=0.1, dimensions="3D")
        spline = data.splines.new("POLY")
        spline.points.add(1)
        spline.points[1].co = (4, 0, 0, 1)
    else:
        data = bpy.data.metaballs.new("Meta")
        data.elements.new().radius = 3
    obj = scenes.add("Thing", data)
    scenes.make_collider(obj, "CUBE")
    prim = the_collider()
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    points = np.array([vertex.co for vertex in mesh.vertices])
    found = box_corners(prim)
    assert np.ptp(points, axis=0).max() > 2
    assert close(np.ptp(found, axis=0), np.ptp(points, axis=0), 1e-4)


# --------------------------------------------------------------------------- several, names, purpose, values


def test_several_colliders_of_a_body():
    obj = scenes.make_body(half_box())
    for shape in ("MESH", "CUBE", "CUBE", "SPHERE"):
        scenes.make_collider(obj, shape)
    scenes.make_collider(obj, "CUBE").name = "1st: crate"
    model = read_model()
    assert [path.removeprefix("/root/Thing/") for path in model.colliders] == [
        "Thing", "Cube_collider", "Cube_collider_1", "Sphere_collider", "_1st__crate",
    ]  # fmt: skip
    assert len(model.colliders_of("/root/Thing")) == 5


def test_collider_does_not_take_the_name_of_a_child_or_of_the_mesh():
    obj = half_box()
    scenes.add("Child", parent=obj)
    for name in ("Child", "Thing"):
        scenes.make_collider(obj, "SPHERE").name = name
    scenes.make_collider(obj, "MESH")
    model = read_model()
    assert len(model.colliders) == 3
    assert "/root/Thing/Child" not in model.colliders
    assert model.colliders["/root/Thing/Thing"].type_name == "Mesh"


@pytest.mark.parametrize(
    ("kind", "is_shown", "is_named"),
    [("WAVE", True, True), ("ARMATURE", True, True), ("WAVE", False, False), ("BEVEL", True, False)],
)
def test_a_modifier_that_deforms_a_collider_is_named(kind, is_shown, is_named):
    obj = half_box()
    scenes.make_collider(obj, "MESH")
    obj.modifiers.new("Changes", kind).show_viewport = is_shown
    found = read().issues
    assert codes(found) == ([("ColliderDeforms", "warning")] if is_named else [])
    assert not is_named or ("'Changes'" in found[0].message and "primitive" in found[0].fix)


def test_two_mesh_colliders_are_an_error():
    obj = half_box()
    for _ in range(2):
        scenes.make_collider(obj, "MESH")
    reading = read()
    assert codes(reading.issues) == [("MeshColliderTwice", "error")]
    assert len(reading.model.colliders) == 1


@pytest.mark.parametrize(
    ("shape", "purpose", "hidden", "expected"),
    [
        ("MESH", "AUTO", False, "default"),
        ("MESH", "AUTO", True, "guide"),
        ("MESH", "PROXY", True, "proxy"),
        ("MESH", "DEFAULT", True, "default"),
        ("SPHERE", "AUTO", False, "guide"),
        ("SPHERE", "RENDER", False, "render"),
    ],
)
def test_purpose(shape, purpose, hidden, expected):
    scenes.make_collider(half_box(hide_render=hidden), shape, purpose=purpose)
    assert the_collider().purpose == expected


@pytest.mark.parametrize("shape", ["MESH", "SPHERE"])
def test_values_of_a_collider(shape):
    scenes.make_collider(half_box(), shape, collision_enabled=False, approximation="boundingCube")
    prim = the_collider()
    assert prim.get(usd_physics.CollisionAPI).collision_enabled is False
    approximation = prim.get(usd_physics.MeshCollisionAPI)
    assert (approximation.approximation if approximation else None) == ("boundingCube" if shape == "MESH" else None)


def test_mesh_without_approximation_authors_none():
    scenes.make_collider(half_box(), "MESH")
    assert list(the_collider().schemas) == ["PhysicsCollisionAPI"]


# --------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize("what", ["empty", "camera", "no faces", "edges", "mesh with a modifier that deletes all"])
@pytest.mark.parametrize("shape", ["MESH", "AUTO"])
def test_collider_without_geometry_is_an_error(what, shape):
    if what == "empty":
        obj = scenes.add("Thing")
    elif what == "camera":
        obj = scenes.add("Thing", bpy.data.cameras.new("Camera"))
    elif what == "no faces":
        obj = scenes.add("Thing", bpy.data.meshes.new("Nothing"))
    elif what == "edges":
        mesh = bpy.data.meshes.new("Line")
        mesh.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
        obj = scenes.add("Thing", mesh)
    else:
        obj = half_box()
        scenes.assign(obj.modifiers.new("Mask", "MASK"), vertex_group=obj.vertex_groups.new(name="None").name)
    scenes.make_collider(obj, shape)
    reading = read()
    assert codes(reading.issues) == [("ColliderWithoutGeometry", "error")]
    assert "'Thing'" in reading.issues[0].message
    assert reading.model.colliders == {}


@pytest.mark.parametrize(
    ("shape", "scale", "of_parent"),
    [("MESH", (0, 1, 1), False), ("MESH", (0, 0, 0), True), ("AUTO", (0, 0, 0), False), ("CUBE", (0, 1, 1), True),
     ("SPHERE", (0, 0, 0), False)],
)  # fmt: skip
def test_zero_scale_is_an_error(shape, scale, of_parent):
    parent = scenes.add("Parent")
    obj = half_box(parent=parent)
    (parent if of_parent else obj).scale = scale
    scenes.make_collider(obj, shape)
    reading = read()
    assert codes(reading.issues) == [("ZeroScale", "error")]
    assert reading.model.colliders == {}


def test_very_small_is_not_zero():
    """A millimetre object in a scene of kilometres."""
    scenes.make_collider(half_box(scale=(1e-4, 1e-4, 1e-4)), "CUBE")
    reading = read()
    assert reading.issues == []
    prim = the(reading.model.colliders)
    assert close(np.ptp(box_corners(prim), axis=0), (1e-4, 2e-4, 4e-4), 1e-9)
    assert math.isfinite(gprim_of(prim).resolved("size"))


@pytest.mark.parametrize("kind", ["ARMATURE", "EMPTY", "CAMERA", "LIGHT", "LATTICE"])
def test_a_collider_on_what_has_no_mesh_has_no_shape_and_costs_no_traceback(kind):
    from usdphys_ext.usdphys_addon.bridge import mesh, scene_read
    from usdphys_ext.usdphys_addon.core import summary

    if kind == "ARMATURE":
        bpy.ops.object.armature_add()
    elif kind == "LATTICE":
        bpy.ops.object.add(type="LATTICE")
    elif kind == "LIGHT":
        bpy.ops.object.light_add()
    else:
        {"EMPTY": bpy.ops.object.empty_add, "CAMERA": bpy.ops.object.camera_add}[kind]()
    obj = bpy.context.object
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    assert mesh.read_mesh(obj.evaluated_get(depsgraph), 1.0) is None
    for approximation in ("convexHull", "boundingCube"):
        obj.usdphys.colliders[0].approximation = approximation
        reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get(), root="", keep=None)
        assert summary.summarise(reading.model)
