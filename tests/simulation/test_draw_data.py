# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the 3D view, as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames, gprims
from usdphys_ext.usdphys_addon.core.model import Mesh, PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.simulation.notices import Notices
from usdphys_ext.usdphys_addon.simulation.rapier import constraints, shapes
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.viewport import draw_data, scene_shapes
from usdphys_ext.usdphys_addon.viewport.scene_shapes import Carriers, Options, Seen

from .author import File
from .helpers import model_in, place, run, world_of

W = "/World"


def test_a_cross_and_lines_to_both_bodies() -> None:
    lines = draw_data.broken_joint((1, 2, 3), [(0, 0, 0), (4, 4, 4)], 2.0).reshape(-1, 2, 3)
    assert lines.dtype == np.float32 and lines.flags.c_contiguous
    cross, rays = lines[:4], lines[4:]
    assert cross.mean(axis=1) == pytest.approx(np.tile((1, 2, 3), (4, 1)))
    assert np.linalg.norm(cross[:, 1] - cross[:, 0], axis=1) == pytest.approx([2 * draw_data.CROSS * 2.0] * 4)
    assert rays.tolist() == [[[1, 2, 3], [0, 0, 0]], [[1, 2, 3], [4, 4, 4]]]


def test_what_flies_away_from_a_broken_joint_keeps_its_cross_without_a_line_across_the_view() -> None:
    for x, lines in ((1.0, 6), (1.5, 6), (8.0, 5)):
        assert len(draw_data.broken_joint((0, 0, 0), [(0, 1, 0), (x, 0, 0)], 1.0)) == 2 * lines


def test_joint_to_the_world_has_one_line_and_a_cross_of_some_size() -> None:
    lines = draw_data.broken_joint((0, 0, 0), [(1, 0, 0)], 0.0)
    assert len(lines) == 2 * 5
    assert np.linalg.norm(lines[1] - lines[0]) == pytest.approx(2 * draw_data.SMALLEST)


@pytest.mark.parametrize("size", [float("nan"), float("inf"), -1.0])
def test_what_is_not_finite_is_left_out(size: float) -> None:
    nan = float("nan")
    assert np.isfinite(draw_data.broken_joint((0, 0, 0), [(nan, 0, 0), (1, 1, 1)], size)).all()
    assert len(draw_data.broken_joint((0, nan, 0), [(1, 1, 1)], size)) == 0
    assert draw_data.broken_joints([]).shape == (0, 3)
    two = [((0, 0, 0), [(1, 1, 1)], 1.0), ((5, 0, 0), [(6, 1, 1), (7, 0, 0)], 1.0)]
    assert len(draw_data.broken_joints(two)) == 2 * (5 + 6)


def test_places_are_those_of_now() -> None:
    """A beam that hangs on a body breaks off: the cross stays on that body, the line follows the beam."""
    file = File()
    file.add(
        file.body("Block", (0, 0, 5), mass=1.0), file.joint("Nail", "Fixed", "", f"{W}/Block", pos0=(0, 0, 5)),
        file.body("Beam", (1.5, 0, 5), size=(2, 0.2, 0.2), mass=1.0, center=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1)),
        file.joint("Weld", "Fixed", f"{W}/Block", f"{W}/Beam", pos0=(0.5, 0, 0), pos1=(-1, 0, 0), break_force=1.0),
    )  # fmt: skip
    world = run(world_of(file), 0.5)
    assert world.broken_joints == (f"{W}/Weld",)
    where, ends, size = world.joint_ends(f"{W}/Weld")
    assert where == pytest.approx((0.5, 0, 5), abs=1e-3)
    assert ends[0] == pytest.approx(place(world, "Block"), abs=1e-3)
    assert place(world, "Beam")[2] < 4.5
    assert np.linalg.norm(ends[1] - place(world, "Beam")) == pytest.approx(0.5, abs=1e-5)
    assert size == pytest.approx(1.5)


# --------------------------------------------------------------------------- lines


def extent(lines):
    return lines.min(axis=0), lines.max(axis=0)


@pytest.mark.parametrize(
    ("lines", "half"),
    [
        (draw_data.box((1, 2, 3)), (0.5, 1, 1.5)),
        (draw_data.sphere(2.0), (2, 2, 2)),
        (draw_data.cylinder(1.0, 4.0, "X"), (2, 1, 1)),
        (draw_data.cone(1.0, 4.0, "Y"), (1, 2, 1)),
        (draw_data.capsule(1.0, 4.0, "Z"), (1, 1, 3)),
        (draw_data.capsule(1.0, 4.0, "X"), (3, 1, 1)),
    ],
)  # fmt: skip
def test_primitives_are_as_large_as_they_are(lines, half) -> None:
    low, high = extent(lines)
    assert high == pytest.approx(half, abs=1e-6) and low == pytest.approx(np.negative(half), abs=1e-6)
    assert lines.dtype == np.float32 and len(lines) % 2 == 0


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_plane_is_as_wide_and_long_as_usd_says_and_shows_its_normal(axis) -> None:
    half = np.array(gprims.half_extent(usd_geom.Plane(2.0, 6.0, axis)))
    lines = draw_data.plane(2.0, 6.0, axis)
    spine = "XYZ".index(axis)
    flat = np.delete(np.arange(3), spine)
    assert extent(lines)[0][flat] == pytest.approx(-half[flat]) and extent(lines)[1][flat] == pytest.approx(half[flat])
    # All that is not in the plane is on the side of the normal.
    assert lines[:, spine].min() == 0.0 and lines[:, spine].max() > 0.1


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_a_plane_of_uneven_scale_is_drawn_as_it_is_scaled(axis) -> None:
    scale = np.array((1.5, 2.0, 3.0))
    prim = Prim("/Plane", "Plane", np.diag((*scale, 1.0)))
    prim.add(usd_geom.Plane(2.0, 6.0, axis))
    prim.add(usd_physics.CollisionAPI())
    lines = drawn(PhysicsModel(prims={"/Plane": prim}), Options(colliders="ALL"))
    half = np.array(gprims.half_extent(prim.get(usd_geom.Plane))) * scale
    flat = np.delete(np.arange(3), "XYZ".index(axis))
    assert extent(lines)[1][flat] == pytest.approx(half[flat])


@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1), (1, 1, -1), (-1, -1, -1)])
def test_a_mirrored_cone_points_where_it_collides(scale) -> None:
    file = File()
    file.add(file.body("Cone", geometry=file.shape("Shape", "Cone", (0.5, 2.0), scale=scale), dynamic=False))
    lines = drawn(model_in(file), Options(colliders="ALL"))
    tip = lines[np.linalg.norm(lines[:, :2], axis=1).argmin()]
    assert tip == pytest.approx((0, 0, np.sign(scale[2])), abs=1e-5)
    file.add(file.body("Ball", (0.1, 0, 1.2), shape="Sphere", size=(0.1,), mass=0.1))
    beyond = place(run(world_of(file), 1.0), "Ball")[2]
    # It stays on a base that is above.
    assert beyond == pytest.approx(1.1, abs=0.02) if scale[2] < 0 else beyond < 0.5


@pytest.mark.parametrize("mirrored", [1.0, -1.0])
def test_a_sheared_or_mirrored_plane_is_drawn_where_it_collides(mirrored) -> None:
    world = np.eye(4)
    world[:3, :3] = np.array([[mirrored, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    prim = Prim("/Plane", "Plane", world)
    prim.add(usd_geom.Plane(2.0, 6.0, "Z"))
    prim.add(usd_physics.CollisionAPI())
    lines = drawn(PhysicsModel(prims={"/Plane": prim}), Options(colliders="ALL"))
    normal = np.linalg.inv(world[:3, :3]).T[:, 2]
    heights = lines @ normal / np.linalg.norm(normal)
    # The arrow of the normal is on the empty side.
    assert (np.abs(heights) < 1e-6).sum() >= 12 and heights.min() > -1e-6 and heights.max() > 0.1


@pytest.mark.parametrize("kind", ["Capsule", "Cylinder"])
def test_two_radii_are_drawn_as_they_collide(kind) -> None:
    prim = Prim("/Peg", f"{kind}_1", frames.transform((0, 0, 0), None, (1.0, 1.5, 1.0)))
    prim.add(getattr(usd_geom, kind)(height=1.0, radius=0.4, axis="Z"))
    prim.add(usd_physics.CollisionAPI())
    prim.extras.update({"usd_type": f"{kind}_1", "taper": [1.0, 0.5]})
    low, high = extent(drawn(PhysicsModel(prims={"/Peg": prim}), Options(colliders="ALL")))
    caps = (0.4, 0.2) if kind == "Capsule" else (0.0, 0.0)
    assert low == pytest.approx((-0.4, -0.6, -0.5 - caps[0]), abs=0.01)
    assert high == pytest.approx((0.4, 0.6, 0.5 + caps[1]), abs=0.01)
    placed = shapes.shape_of(prim, None, np.eye(3), Notices(), moves=False)
    box = placed[0].compute_aabb(constraints.isometry(np.eye(4)))
    assert box.mins.to_tuple() == pytest.approx(low, abs=0.01) and box.maxs.to_tuple() == pytest.approx(high, abs=0.01)


def test_cone_has_its_tip_up_the_axis() -> None:
    lines = draw_data.cone(1.0, 2.0, "X")
    tip = lines[np.argmax(lines[:, 0])]
    assert tip == pytest.approx((1, 0, 0), abs=1e-6)
    assert np.abs(lines[lines[:, 0] < -0.99][:, 1:]).max() == pytest.approx(1.0)


def test_a_mesh_shows_no_edges_within_a_plane() -> None:
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
             (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
    lines = draw_data.mesh_edges(corners, faces).reshape(-1, 2, 3)
    assert len(lines) == 12
    assert np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1) == pytest.approx([1.0] * 12)
    # Faces that do not share their vertices are the same mesh.
    split = np.array(corners, float)[np.array(faces)].reshape(-1, 3)
    assert len(draw_data.mesh_edges(split, np.arange(36).reshape(-1, 3))) == 24
    assert draw_data.mesh_edges([], []).shape == (0, 3)


def test_a_mesh_of_many_edges_shows_the_longest(monkeypatch) -> None:
    monkeypatch.setattr(draw_data, "MOST_EDGES", 2)
    lines = draw_data.mesh_edges([(0, 0, 0), (3, 0, 0), (0, 1, 0)], [(0, 1, 2)]).reshape(-1, 2, 3)
    assert sorted(np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)) == pytest.approx([3.0, 10**0.5])


def test_limits_are_where_they_are() -> None:
    arc = draw_data.angle_limit(0.0, np.pi / 2, 2.0)
    # From Y to Z, about X.
    assert np.abs(arc[:, 0]).max() == 0.0 and extent(arc)[0] == pytest.approx((0, 0, 0), abs=1e-6)
    assert extent(arc)[1] == pytest.approx((0, 2, 2), abs=1e-6)
    full = draw_data.angle_limit(-np.inf, np.inf, 1.0)
    assert np.linalg.norm(full, axis=1) == pytest.approx(1.0)
    rail = draw_data.rail(-1.0, 3.0, 0.4)
    assert extent(rail)[0][0] == -1.0 and extent(rail)[1][0] == 3.0
    open_rail = draw_data.rail(-np.inf, 0.5, 0.4)
    assert np.isfinite(open_rail).all() and extent(open_rail)[1][0] == 0.5
    cone = draw_data.cone_limit(0.5, 0.25, 2.0)
    tilts = np.arctan2(np.linalg.norm(cone[:, 1:], axis=1), cone[:, 0])
    assert tilts.max() == pytest.approx(0.5, abs=1e-6)
    assert np.abs(cone[:, 2]).max() == pytest.approx(2.0 * np.sin(0.25), abs=1e-6)


def test_things_move_with_their_carriers() -> None:
    box, line = draw_data.box((1, 1, 1)), draw_data.cross(1.0)
    drawing = draw_data.Drawing()
    drawing.add(box, 1, np.eye(4), 0)
    drawing.add(line, 0, frames.transform((0, 0, 5)), 1)
    drawing.add(box, 2, frames.transform((1, 0, 0)), 2)
    drawing.add(box, 1, np.full((4, 4), np.nan), 2)
    drawing.link(1, (0, 0, 0), 2, (0, 0, 1), 3, dashed=True)
    drawing.finish()
    matrices = np.stack((np.eye(4), frames.transform((10, 0, 0)), frames.transform((0, 20, 0))))
    points = drawing.positions(matrices)
    assert len(points) == drawing.total == 24 + 24 + 6 + 2 * len(draw_data.DASHES)
    assert points[:24].mean(axis=0) == pytest.approx((10, 0, 0))
    assert points[24:48].mean(axis=0) == pytest.approx((1, 20, 0))
    assert points[48:54].mean(axis=0) == pytest.approx((0, 0, 5))
    assert points[54] == pytest.approx((10, 0, 0)) and points[-1] == pytest.approx((0, 20, 1), abs=1e-5)
    # In centimetres.
    assert drawing.positions(matrices, 0.01) == pytest.approx(100 * points, rel=1e-5)
    colors = drawing.vertex_colors(np.arange(16).reshape(4, 4))
    assert colors[[0, 24, 48, 54], 0].tolist() == [0, 8, 4, 12] and colors.shape == (drawing.total, 4)
    assert draw_data.Drawing().finish().positions(matrices).shape == (0, 3)


# --------------------------------------------------------------------------- models


def drawn(model, options, seen=None, **parts) -> np.ndarray:
    drawing = scene_shapes.build(model, options, seen or Seen(), Carriers(**parts))
    return drawing.positions(np.eye(4)[None])


ONLY = {"colliders": "NONE", "joints": "NONE"}


def lump(approximation, world=None) -> Prim:
    """An L of height 1: not convex."""
    rim = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    points = np.array([(x, y, z) for z in (0, 1) for x, y in rim], float)
    triangles = [face for a, b, c in ((0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5))
                 for face in ((a, c, b), (a + 6, b + 6, c + 6))]  # fmt: skip
    for i in range(6):
        j = (i + 1) % 6
        triangles += [(i, j, j + 6), (i, j + 6, i + 6)]
    mesh = Mesh(points, np.array(triangles))
    prim = Prim("/Lump", "Mesh", np.eye(4) if world is None else world, mesh=lambda: mesh)
    prim.add(usd_physics.CollisionAPI())
    prim.add(usd_physics.MeshCollisionAPI(approximation))
    return prim


def has(lines, point) -> bool:
    return bool((np.abs(lines - np.array(point)).max(axis=1) < 1e-4).any())


@pytest.mark.slow
def test_colliders_are_drawn_as_they_collide() -> None:
    inner = (1, 1, 0)
    shown = {name: drawn(PhysicsModel(prims={"/Lump": lump(name)}), Options(colliders="ALL"))
             for name in ("none", "convexHull", "convexDecomposition", "boundingCube", "boundingSphere")}  # fmt: skip
    assert has(shown["none"], inner) and len(shown["none"]) == 2 * 18
    assert not has(shown["convexHull"], inner) and has(shown["convexHull"], (2, 1, 1))
    assert len(shown["boundingCube"]) == 24 and has(shown["boundingCube"], (2, 2, 0))
    middle = np.array((1, 1, 0.5))
    assert np.linalg.norm(shown["boundingSphere"] - middle, axis=1) == pytest.approx(1.5, abs=1e-5)
    # Pieces: what is left of the inner corner is empty, and something runs across the L.
    assert len(shown["convexDecomposition"]) > len(shown["convexHull"])
    assert not (shown["convexDecomposition"] > (1.3, 1.3, -1)).all(axis=1).any()


def test_without_a_solver_a_decomposition_shows_its_hull(monkeypatch) -> None:
    import sys

    from usdphys_ext.usdphys_addon.simulation import rapier

    monkeypatch.setitem(sys.modules, f"{rapier.__name__}.groups", None)
    # A size that no other test draws: lines of a shape are kept.
    larger = frames.transform((0, 0, 0), None, (1.25, 1.25, 1.25))
    parts = drawn(PhysicsModel(prims={"/Lump": lump("convexDecomposition", larger)}), Options(colliders="ALL"))
    whole = drawn(PhysicsModel(prims={"/Lump": lump("convexHull", larger)}), Options(colliders="ALL"))
    assert len(parts) == len(whole) and not has(parts, (1.25, 1.25, 0)) and has(parts, (2.5, 1.25, 1.25))


def test_scale_and_turn_of_a_collider() -> None:
    world = frames.transform((5, 0, 0), frames.matrix_of((0.7071068, 0, 0, 0.7071068)), (2, 1, 1))
    lines = drawn(PhysicsModel(prims={"/Lump": lump("none", world)}), Options(colliders="ALL"))
    low, high = extent(lines)
    assert low == pytest.approx((3, 0, 0), abs=1e-5) and high == pytest.approx((5, 4, 1), abs=1e-5)


def crate_file():
    file = File()
    file.add(
        file.ground(), file.body("Crate", (0, 0, 2), size=(1, 1, 2)), file.body("Hook", (0, 0, 5), kinematic=True),
        file.joint("Hinge", "Revolute", f"{W}/Hook", f"{W}/Crate", pos0=(0, 0, -1), pos1=(0, 0, 2), axis="X",
                   low=-0.5, high=1.0, drives={"angular": {"stiffness": 1.0, "targetPosition": 0.5}}),
        file.joint("Rope", "Distance", "", f"{W}/Crate", pos0=(0, 0, 9), distance=(-1, 3.0)),
    )  # fmt: skip
    return file


def test_kinds_have_their_colours() -> None:
    model = model_in(crate_file())
    drawing = scene_shapes.build(model, Options(colliders="ALL", joints="NONE"), Seen(), Carriers())
    kinds = {scene_shapes.DYNAMIC, scene_shapes.STATIC, scene_shapes.KINEMATIC}
    assert set(drawing.colors.tolist()) == kinds and drawing.total == 3 * 24


def test_only_what_is_selected_and_not_hidden() -> None:
    model = model_in(crate_file())
    for prim in model.prims.values():
        prim.label = prim.path.split("/")[2] if prim.path.count("/") > 1 else ""
    options = Options()
    assert len(drawn(model, options)) == 0
    crate = drawn(model, options, Seen(frozenset({"Crate"})))
    only = drawn(model, Options(joints="NONE"), Seen(frozenset({"Crate"})))
    # The joints of a selected body are its own; the floor is not.
    assert len(only) == 24 and len(crate) > 100
    assert len(drawn(model, Options("ALL", joints="NONE"), Seen(hidden=frozenset({"Crate"})))) == 48


def test_joints_show_their_limits_and_targets() -> None:
    model = model_in(crate_file())
    joints = {**ONLY, "joints": "ALL"}
    drawing = scene_shapes.build(model, Options(**joints), Seen(), Carriers())
    points = drawing.positions(np.eye(4)[None])
    colors = np.repeat(drawing.colors, drawing.counts)
    limits, drives = points[colors == scene_shapes.LIMIT], points[colors == scene_shapes.DRIVE]
    shell = limits[np.abs(np.linalg.norm(limits - (0, 0, 9), axis=1) - 3.0) < 1e-4]
    assert len(shell) == len(draw_data.sphere(1.0))
    arc = limits[np.abs(np.linalg.norm(limits - (0, 0, 9), axis=1) - 3.0) >= 1e-4] - (0, 0, 4)
    angles = np.arctan2(arc[:, 2], arc[:, 1])[np.linalg.norm(arc, axis=1) > 1e-3]
    assert (angles.min(), angles.max()) == pytest.approx((-0.5, 1.0), abs=1e-5)
    tip = drives[np.argmax(np.linalg.norm(drives - (0, 0, 4), axis=1))] - (0, 0, 4)
    assert np.arctan2(tip[2], tip[1]) == pytest.approx(0.5, abs=1e-5)
    less = scene_shapes.build(model, Options(**joints, limits=False, drives=False, frames=False), Seen(), Carriers())
    assert set(less.colors.tolist()) <= {scene_shapes.JOINT, scene_shapes.NEEDLE} and less.total < drawing.total


def joint_lines(kind, **options):
    """Limits, targets and what shows the state, of a joint at the origin between the world and a body."""
    file = File()
    file.add(file.body("Crate", (0, 0, 0)), file.joint("J", kind, "", f"{W}/Crate", **options))
    drawing = scene_shapes.build(model_in(file), Options(**ONLY | {"joints": "ALL"}), Seen(), Carriers())
    points, colors = drawing.positions(np.eye(4)[None]), np.repeat(drawing.colors, drawing.counts)
    return [points[colors == color] for color in (scene_shapes.LIMIT, scene_shapes.DRIVE, scene_shapes.NEEDLE)]


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_rails_cones_and_single_degrees_of_freedom_follow_their_axis(axis) -> None:
    spine = "XYZ".index(axis)
    across = [(spine + 1) % 3, (spine + 2) % 3]
    limits, targets, _ = joint_lines(
        "Prismatic", axis=axis, low=-1.0, high=3.0, drives={"linear": {"stiffness": 1.0, "targetPosition": 2.0}}
    )
    assert (limits[:, spine].min(), limits[:, spine].max()) == pytest.approx((-1.0, 3.0), abs=1e-5)
    assert targets[:, spine].max() == pytest.approx(2.0, abs=1e-5)
    limits, _, state = joint_lines("Spherical", axis=axis, cone=(0.6, 0.3))
    tilt = np.arctan2(np.abs(limits[:, across]), limits[:, spine : spine + 1])
    assert tilt.max(axis=0) == pytest.approx((0.6, 0.3), abs=1e-2)
    assert state[:, spine].max() > 0.3
    locked = "rotX" if axis != "X" else "rotY"
    limits, targets, _ = joint_lines(
        "D6", limits={f"rot{axis}": (0.2, 0.9), f"trans{axis}": (-2.0, 2.0), locked: (1, -1)},
        drives={f"rot{axis}": {"damping": 1.0, "targetVelocity": 2.0}},
    )  # fmt: skip
    arc = limits[np.abs(limits[:, spine]) < 1e-6]
    angles = np.arctan2(arc[:, across[1]], arc[:, across[0]])[np.linalg.norm(arc, axis=1) > 0.3]
    assert (angles.min(), angles.max()) == pytest.approx((0.2, 0.9), abs=1e-4)
    assert limits[:, spine].max() == pytest.approx(2.0, abs=1e-5)
    # A velocity bends the way that it turns.
    turned = np.arctan2(targets[:, across[1]], targets[:, across[0]])
    assert turned.max() > 1.4 and len(targets)


@pytest.mark.parametrize(("damping", "is_drawn"), [(0.0, False), (1.0, True)])
def test_a_target_velocity_is_drawn_where_it_acts(damping, is_drawn) -> None:
    drives = {"angular": {"damping": damping, "stiffness": 0.0, "targetVelocity": 2.0, "targetPosition": 1.0}}
    _, targets, _ = joint_lines("Revolute", drives=drives)
    assert (len(targets) > 0) == is_drawn


def test_broken_frames_and_missing_bodies_are_left_out() -> None:
    prims = {"/J": Prim("/J", "PhysicsRevoluteJoint", is_xformable=False)}
    prims["/J"].add(usd_physics.RevoluteJoint(body0=("/Gone",), local_pos1=(float("nan"), 0.0, 0.0)))
    assert len(drawn(PhysicsModel(prims=prims), Options(joints="ALL"))) == 0
    flat = Prim("/Flat", "Cube", np.diag((1.0, 1.0, 0.0, 1.0)))
    flat.add(usd_geom.Cube(2.0))
    flat.add(usd_physics.CollisionAPI())
    flat.add(usd_physics.RigidBodyAPI())
    every = Options("ALL", "ALL", "ALL", "ALL", "ALL", "ALL")
    assert np.isfinite(drawn(PhysicsModel(prims={"/Flat": flat}), every)).all()


def test_mass_shows_the_even_box_of_the_inertia() -> None:
    file = File()
    # A box of 1 x 2 x 4 m and 12 kg, whose centre is aside.
    file.add(file.body("Slab", (0, 0, 3), mass=12.0, inertia=(20.0, 17.0, 5.0), center=(1, 0, 0)))
    model = model_in(file)
    lines = drawn(model, Options(**ONLY, mass="ALL"))
    low, high = extent(lines)
    assert high - low == pytest.approx((1, 2, 4), abs=1e-4) and (low + high) / 2 == pytest.approx((1, 0, 3), abs=1e-4)


def test_groups_filters_and_articulations() -> None:
    file = crate_file()
    model = model_in(file)
    group = Prim(f"{W}/Group", "PhysicsCollisionGroup", is_xformable=False)
    group.add(usd_physics.CollisionGroup(includes=(f"{W}/Crate",)))
    model.add(group)
    drawing = scene_shapes.build(model, Options("ALL", joints="NONE", by_group=True), Seen(), Carriers())
    assert sorted(drawing.colors.tolist()) == [scene_shapes.UNGROUPED] * 2 + [scene_shapes.GROUPS]
    model.prims[f"{W}/Crate"].add(usd_physics.FilteredPairsAPI((f"{W}/Hook", f"{W}/Gone")))
    pairs = drawn(model, Options(**ONLY, filtered_pairs="ALL"))
    assert len(pairs) == 2 * len(draw_data.DASHES)
    assert pairs[0] == pytest.approx((0, 0, 2)) and pairs[-1] == pytest.approx((0, 0, 5))
    assert len(drawn(model, Options(**ONLY, articulations="ALL"))) == 0
    chain = File()
    chain.add(
        chain.body("Base", (0, 0, 0), apis=["PhysicsArticulationRootAPI"]), chain.body("Arm", (2, 0, 0)),
        chain.joint("Elbow", "Revolute", f"{W}/Base", f"{W}/Arm", pos0=(1, 0, 0), pos1=(-1, 0, 0)),
    )  # fmt: skip
    tree = drawn(model_in(chain), Options(**ONLY, articulations="ALL"))
    assert has(tree, (0, 0, 0)) and has(tree, (2, 0, 0)) and len(tree) > 24


@pytest.mark.parametrize(
    ("hand", "wrist", "is_reduced"),
    [
        ({}, {}, True),
        ({}, {"break_force": 10.0}, False),
        ({"kinematic": True}, {}, False),
        ({}, {"kind": "Distance"}, False),
    ],
)
def test_only_links_that_are_simulated_as_such_are_drawn(hand: dict, wrist: dict, is_reduced: bool) -> None:
    chain, kind = File(), wrist.get("kind", "Revolute")
    chain.add(
        chain.body("Base", (0, 0, 0), apis=["PhysicsArticulationRootAPI"]),
        chain.body("Arm", (2, 0, 0)),
        chain.body("Hand", (4, 0, 0), **hand),
        chain.joint("Elbow", "Revolute", f"{W}/Base", f"{W}/Arm", pos0=(1, 0, 0), pos1=(-1, 0, 0)),
        chain.joint("Wrist", kind, f"{W}/Arm", f"{W}/Hand", pos0=(1, 0, 0), pos1=(-1, 0, 0),
                    **{name: value for name, value in wrist.items() if name != "kind"}),
    )  # fmt: skip
    model = model_in(chain)
    world = World(model)
    assert (world.is_reduced(f"{W}/Elbow"), world.is_reduced(f"{W}/Wrist")) == (True, is_reduced)
    tree = drawn(model, Options(**ONLY, articulations="ALL"))
    assert has(tree, (0, 0, 0)) and has(tree, (2, 0, 0))
    assert has(tree, (4, 0, 0)) == is_reduced


def test_a_joint_that_closes_a_loop_is_not_drawn_as_a_link() -> None:
    ring = File()
    places = {"A": (0, 0, 0), "B": (2, 0, 0), "C": (1, 2, 0)}
    ring.add(
        ring.body("A", places["A"], apis=["PhysicsArticulationRootAPI"]),
        *(ring.body(name, places[name]) for name in "BC"),
        *(ring.joint(one + two, "Fixed", f"{W}/{one}", f"{W}/{two}") for one, two in ("AB", "BC", "CA")),
    )  # fmt: skip
    model = model_in(ring)
    drawing = drawn(model, Options(**ONLY, articulations="ALL")).reshape(-1, 2, 3)
    links = set()
    for one, two in ("AB", "BC", "CA"):
        ends = {tuple(places[one]), tuple(places[two])}
        if any({tuple(np.round(line[0], 4)), tuple(np.round(line[1], 4))} == ends for line in drawing):
            links.add(f"{W}/{one}{two}")
    (closing,) = [notice.path for notice in World(model).notices if notice.code == "ArticulationLoop"]
    assert links == {f"{W}/AB", f"{W}/BC", f"{W}/CA"} - {closing}


@pytest.mark.slow
def test_lines_follow_the_preview() -> None:
    file = File()
    file.add(file.body("Crate", (0, 0, 5), size=(1, 1, 2)), file.ground())
    model = model_in(file)
    world = World(model)
    rows = {path: row + 1 for row, path in enumerate(world.paths)}
    carriers = Carriers(rows, np.array([np.eye(4), *(model.prims[path].world for path in world.paths)]))
    drawing = scene_shapes.build(model, Options("ALL"), Seen(), carriers)
    run(world, 0.5)
    points = drawing.positions(np.concatenate((np.eye(4)[None], world.matrices())))
    crate = np.repeat(drawing.owners, drawing.counts) == 1
    assert points[crate].mean(axis=0) == pytest.approx(place(world, "Crate"), abs=1e-5)
    assert place(world, "Crate")[2] < 4.5
    run(world, 4.5)
    touching, normals, forces = world.contact_points()
    assert len(touching) >= 4 and np.abs(touching[:, 2]).max() < 0.02
    assert np.abs(normals[:, 2]) == pytest.approx(1.0, abs=1e-3)
    lines = draw_data.contact_lines(touching, normals, forces, 0.1).reshape(len(touching), -1, 2, 3)
    arrows = np.linalg.norm(lines[:, 0, 1] - lines[:, 0, 0], axis=1)
    assert arrows.max() == pytest.approx(0.1, rel=1e-5) and arrows == pytest.approx(
        0.1 * forces / forces.max(), rel=1e-4
    )


def test_a_contact_that_bears_nothing_has_a_cross_and_no_arrow() -> None:
    points, normals = np.zeros((2, 3)), np.array([(0.0, 0.0, 1.0), (1.0, 0.0, 0.0)])
    lines = draw_data.contact_lines(points, normals, np.zeros(2), 1.0).reshape(2, -1, 2, 3)
    lengths = np.linalg.norm(lines[:, :, 1] - lines[:, :, 0], axis=2)
    assert (np.count_nonzero(lengths, axis=1) == 3).all()
    assert len(draw_data.contact_lines(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), 1.0)) == 0


def test_colours_differ_and_darken_on_a_light_theme() -> None:
    dark, light = scene_shapes.palette({}, False), scene_shapes.palette({}, True)
    assert len(dark) == scene_shapes.GROUPS + scene_shapes.GROUP_COLORS
    assert (light[:, :3] <= dark[:, :3]).all() and ((dark >= 0) & (dark <= 1)).all()
    groups = dark[scene_shapes.GROUPS :, :3]
    apart = np.abs(groups[:, None] - groups[None]).max(axis=2) + np.eye(len(groups))
    assert apart.min() > 0.02 and apart[:8, :8].min() > 0.1
    own = scene_shapes.palette({scene_shapes.DYNAMIC: (0.1, 0.2, 0.3, 0.4)}, False)
    assert own[scene_shapes.DYNAMIC] == pytest.approx((0.1, 0.2, 0.3, 0.4))


@pytest.mark.parametrize("scale", [0.0, 1e-36, float("nan")])
def test_a_carrier_without_volume_carries_nothing(scale) -> None:
    """Nothing has a place in a space that is scaled to nothing or holds NaN: it stays where it is in the world."""
    start = np.stack([np.eye(4), np.diag((2.0, 2.0, 2.0, 1.0)), np.diag((1.0, scale, 1.0, 1.0))])
    carriers = Carriers({"/Good": 1, "/Flat": 2}, start)
    assert [carriers.row(path) for path in ("/Good/Part", "/Flat", "/Flat/Part", "/Other")] == [1, 0, 0, 0]


def test_a_grab_is_a_line_from_the_held_point_to_the_mouse():
    lines = draw_data.grab_lines([((1, 0, 0), (1, 0, 2))])
    assert lines[:2].tolist() == [[1, 0, 0], [1, 0, 2]]
    assert np.allclose(lines[2:].mean(axis=0), (1, 0, 0))
    two = draw_data.grab_lines([((0, 0, 0), (0, 0, 1)), ((5, 0, 0), (6, 0, 0))])
    assert len(two) == 2 * len(lines)


@pytest.mark.parametrize("size", [(60.0, 60.0, 0.2), (2.0, 2.0, 0.0), (0.3, 0.2, 0.1)])
def test_a_box_is_drawn_as_thick_as_it_is_simulated(size) -> None:
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    mesh = Mesh(corners, np.array([(0, 1, 2), (1, 3, 2), (4, 6, 5), (5, 6, 7)]))
    api = usd_physics.MeshCollisionAPI("boundingCube")
    prim = Prim("/Slab", "Mesh", schemas={"PhysicsCollisionAPI": usd_physics.CollisionAPI(), api.usd_name: api})
    prim.mesh = lambda: mesh
    placed = shapes.shape_of(prim, mesh, np.eye(3), Notices(), moves=False)
    assert placed is not None
    half = placed[0].as_cuboid().half_extents.to_tuple()
    assert np.ptp(scene_shapes.collider_lines(prim, np.eye(3)), axis=0) == pytest.approx(2 * np.array(half), rel=1e-5)
