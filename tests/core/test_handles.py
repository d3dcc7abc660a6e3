# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles of the 3D view: what a drag of the mouse means, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.viewport import handles
from usdphys_ext.usdphys_addon.viewport.handles import Drag, Handle, View

X, Y, Z = np.eye(3)
DEGREE = math.pi / 180.0


def look(eye, at, up=Z):
    """World to camera (4, 4)."""
    back = handles.unit(np.subtract(eye, at).astype(float))
    right = handles.unit(np.cross(up, back))
    matrix = np.eye(4)
    matrix[:3, :3] = [right, np.cross(back, right), back]
    matrix[:3, 3] = -matrix[:3, :3] @ np.asarray(eye, float)
    return matrix


def perspective(eye, at=(0.0, 0.0, 0.0), size=(800.0, 600.0), up=Z, clips=(0.1, 1000.0)):
    (near, far), focal = clips, 1.5
    window = np.zeros((4, 4))
    window[0, 0], window[1, 1] = focal, focal * size[0] / size[1]
    window[2, 2:], window[3, 2] = ((far + near) / (near - far), 2 * far * near / (near - far)), -1.0
    # Blender's numbers have 32 bits.
    return View(look(eye, at, up), window.astype(np.float32).astype(float), *size)


def parallel(eye, at=(0.0, 0.0, 0.0), size=(800.0, 600.0), up=Z, half_width=4.0):
    window = np.diag([1 / half_width, size[0] / size[1] / half_width, -1e-3, 1.0])
    return View(look(eye, at, up), window, *size)


VIEWS = {
    "perspective": perspective((5.0, -7.0, 4.0)),
    "near": perspective((1.0, -2.0, 1.5)),
    # As in scenes of millimetres, whose default start stays at 0.01.
    "to afar": perspective((5.0, -7.0, 4.0), clips=(0.01, 1e6)),
    "parallel": parallel((5.0, -7.0, 4.0)),
}
views = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())


def line(value=1.0, axis=X, origin=(0.0, 0.0, 0.0), **extra):
    return Handle("a", "A", "LINE", np.asarray(origin, float), value, axis=handles.unit(axis), **extra)


def dial(value=0.0, axis=Z, zero=X, origin=(0.0, 0.0, 0.0), **extra):
    return Handle("a", "A", "TURN", np.asarray(origin, float), value, axis=axis, zero=zero, **extra)


def move_to(drag, view, point, **options):
    return drag.move(view.project(point), **options)


# --------------------------------------------------------------------------- views


@views
def test_the_ray_of_a_pixel_goes_through_what_is_seen_there(view):
    for point in ([0.3, -0.2, 0.5], [-1.0, 0.4, 0.1]):
        start, direction = view.ray(view.project(point))
        assert np.linalg.norm(np.cross(point - start, direction)) < 1e-9
        assert direction @ view.sight(point) == pytest.approx(1.0)


@views
def test_a_pixel_is_as_wide_as_it_says(view):
    point = np.array([0.2, 0.1, 0.3])
    beside = view.project(point + view.right * view.pixel_size(point))
    above = view.project(point + view.up * view.pixel_size(point))
    assert np.allclose(beside - view.project(point), (1.0, 0.0), atol=1e-9)
    assert np.allclose(above - view.project(point), (0.0, 1.0), atol=1e-9)


def test_what_is_behind_the_viewer_has_no_pixel():
    assert perspective((0.0, -5.0, 0.0)).project((0.0, -6.0, 0.0)) is None


# --------------------------------------------------------------------------- along a line


@views
@pytest.mark.parametrize("axis", [X, Y, Z, np.array([1.0, 2.0, -1.0])], ids=str)
def test_a_drag_along_an_axis_follows_the_mouse(view, axis):
    handle = line(0.5, axis, (0.1, 0.2, -0.1), scale=2.0)
    drag = Drag(handle, view, view.project(handle.point(view)))
    goal = handle.origin + handle.axis * (0.8 * 2.0)
    assert move_to(drag, view, goal) == pytest.approx(0.8)
    assert move_to(drag, view, handle.point(view)) == pytest.approx(0.5)


@views
def test_a_handle_that_is_hit_beside_its_middle_does_not_jump(view):
    handle = line(0.5)
    pixel = np.add(view.project(handle.point(view)), (4.0, -3.0))
    assert Drag(handle, view, pixel).move(pixel) == pytest.approx(0.5)


@views
def test_a_lifted_handle_measures_along_its_axis(view):
    handle = line(0.5, Y, lift=20.0)
    point = handle.point(view)
    assert np.linalg.norm(view.project(point) - view.project(Y * 0.5)) == pytest.approx(20.0, abs=0.2)
    drag = Drag(handle, view, view.project(point))
    assert move_to(drag, view, point + Y * 0.25) == pytest.approx(0.75)


@views
def test_a_lifted_free_handle_is_to_the_right_of_its_place(view):
    handle = Handle("a", "A", "FREE", np.array([0.3, 0.1, -0.2]), np.zeros(3), lift=20.0)
    away = view.project(handle.point(view)) - view.project(handle.origin)
    assert away == pytest.approx((20.0, 0.0), abs=0.2)


@views
def test_a_lifted_handle_is_beside_its_axis_and_another_lift_is_on_the_other_side(view):
    near, far = (line(0.5, Y, lift=lift).point(view) for lift in (20.0, -20.0))
    middle = view.project(Y * 0.5)
    assert view.project(near) - middle == pytest.approx(middle - view.project(far), abs=0.2)
    along = view.project(Y * 0.6) - middle
    assert abs(float((view.project(near) - middle) @ along)) < 0.02 * 20.0 * float(np.linalg.norm(along))


def test_both_sides_grow_twice_as_fast():
    view = VIEWS["parallel"]
    handle = line(1.0)
    drag = Drag(handle, view, view.project(handle.point(view)))
    assert move_to(drag, view, X * 1.2, both=True) == pytest.approx(1.4)
    assert move_to(drag, view, X * 1.2, both=False) == pytest.approx(1.2)


def test_a_fine_drag_goes_a_tenth_of_the_way_and_stays_there():
    view = VIEWS["parallel"]
    handle = line(1.0)
    drag = Drag(handle, view, view.project(handle.point(view)))
    assert move_to(drag, view, X * 2.0, fine=True) == pytest.approx(1.1)
    # Shift is let go: no jump.
    assert drag.move(view.project(X * 2.0)) == pytest.approx(1.1)
    assert move_to(drag, view, X * 2.5) == pytest.approx(1.6)


def test_a_snapped_length_is_a_multiple_of_a_round_step():
    view = parallel((0.0, -9.0, 0.0), size=(800.0, 600.0), half_width=4.0)  # a pixel is 0.01
    handle = line(1.0)
    drag = Drag(handle, view, view.project(handle.point(view)))
    assert move_to(drag, view, X * 1.234, snap=True) == pytest.approx(1.2)
    assert move_to(drag, view, X * 1.27, snap=True) == pytest.approx(1.3)


@pytest.mark.parametrize("scale", [0.01, 1.0, 50.0])
def test_a_snapped_value_moves_by_a_length_that_can_be_seen_whatever_its_unit(scale):
    """scale: metres for a value of 1. A step takes up 8 to 40 pixels."""
    view = parallel((0.0, -9.0, 0.0), size=(800.0, 600.0), half_width=4.0)  # a pixel is 0.01
    handle = line(0.0, scale=scale)
    drag = Drag(handle, view, view.project(handle.point(view)))
    values = {round(float(move_to(drag, view, X * (0.01 * pixel), snap=True)), 9) for pixel in range(100)}
    steps = np.diff(sorted(values)) * scale / 0.01
    assert len(steps) >= 2 and (steps > 7.9).all() and (steps < 40.0).all()


@pytest.mark.parametrize(
    ("pixel", "step"), [(0.01, 0.1), (0.02, 0.2), (0.05, 0.5), (0.06, 0.5), (0.1, 1.0), (3.0, 50.0)]
)
def test_steps_are_round_and_can_be_seen(pixel, step):
    assert handles.length_step(pixel) == pytest.approx(step)


def test_values_stay_within_their_bounds():
    view = VIEWS["parallel"]
    handle = line(1.0, low=0.25, high=1.5)
    drag = Drag(handle, view, view.project(handle.point(view)))
    assert move_to(drag, view, X * 9.0) == 1.5
    assert move_to(drag, view, X * -9.0) == 0.25
    assert move_to(drag, view, X * 1.1) == pytest.approx(1.1)


def test_an_axis_that_points_at_the_viewer_cannot_be_dragged():
    view = parallel((0.0, -9.0, 0.0))
    assert line(1.0, Y).faces_viewer(view)
    assert not line(1.0, X).faces_viewer(view)
    assert not dial().faces_viewer(view)
    assert handles.along_line(np.zeros(3), Y, view.ray((400.0, 300.0))) is None


# --------------------------------------------------------------------------- about an axis


@views
@pytest.mark.parametrize("axis", [(X, Y), (Y, Z), (Z, X)], ids="XYZ")
def test_a_dial_follows_the_mouse(view, axis):
    handle = dial(20 * DEGREE, *axis, origin=(0.1, 0.0, 0.2), scale=0.5)
    drag = Drag(handle, view, view.project(handle.point(view)))
    for angle in (50.0, 120.0, -40.0):
        place = handle.origin + handles.direction_at(*axis, angle * DEGREE) * 0.5
        assert move_to(drag, view, place) == pytest.approx(angle * DEGREE)


def test_more_than_half_a_turn_is_counted_on():
    view = parallel((0.0, 0.0, 9.0), up=Y)
    handle = dial(170 * DEGREE)
    drag = Drag(handle, view, view.project(handle.point(view)))
    for angle in range(170, 451, 20):
        value = move_to(drag, view, handles.direction_at(Z, X, angle * DEGREE))
    assert value == pytest.approx(450 * DEGREE)
    for angle in range(450, -271, -20):
        value = move_to(drag, view, handles.direction_at(Z, X, angle * DEGREE))
    assert value == pytest.approx(-270 * DEGREE)


def test_angles_snap_to_five_degrees_and_finely_to_one():
    view = parallel((0.0, 0.0, 9.0), up=Y)
    handle = dial(12 * DEGREE)
    drag = Drag(handle, view, view.project(handle.point(view)))
    assert move_to(drag, view, handles.direction_at(Z, X, 38 * DEGREE), snap=True) == pytest.approx(40 * DEGREE)
    start = view.project(handle.point(view))
    drag = Drag(handle, view, start)
    goal = start + (view.project(handles.direction_at(Z, X, 33.4 * DEGREE)) - start) * 10.0
    assert drag.move(goal, snap=True, fine=True) == pytest.approx(33 * DEGREE)


def test_a_dial_that_is_seen_from_its_side_turns_by_the_way_across():
    view = parallel((0.0, -9.0, 0.0))
    handle = dial(-90 * DEGREE, scale=2.0)  # its nearest point to the viewer
    drag = Drag(handle, view, view.project(handle.point(view)))
    assert move_to(drag, view, handle.point(view) + X * 0.5) == pytest.approx((-90 * DEGREE) + 0.25)


# --------------------------------------------------------------------------- anywhere


@views
def test_a_free_drag_stays_in_the_plane_of_the_view(view):
    basis = np.array([[2.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.3, 0.5]])  # a space that is scaled and sheared
    start = np.array([0.3, -0.1, 0.2])
    handle = Handle("a", "A", "FREE", basis @ start, start, basis=basis)
    drag = Drag(handle, view, view.project(handle.origin))
    way = view.right * 0.4 - view.up * 0.2
    value = move_to(drag, view, handle.origin + way)
    assert np.allclose(basis @ value, handle.origin + way)


@views
def test_a_free_drag_along_one_axis_leaves_the_others(view):
    basis = np.diag([2.0, 1.0, 0.5])
    handle = Handle("a", "A", "FREE", np.zeros(3), np.array([0.1, 0.2, 0.3]), basis=basis)
    drag = Drag(handle, view, view.project(handle.origin))
    value = move_to(drag, view, Z * 0.25, axis=2)
    assert np.allclose(value, (0.1, 0.2, 0.8))


def test_a_snapped_free_drag_leaves_what_it_does_not_move():
    view = parallel((0.0, -9.0, 0.0))  # a pixel is 0.01
    handle = Handle("a", "A", "FREE", np.zeros(3), np.array([0.013, 0.027, 0.031]))
    drag = Drag(handle, view, view.project(handle.origin))
    value = move_to(drag, view, X * 0.21, axis=0, snap=True)
    assert np.allclose(value, (0.2, 0.027, 0.031))


# --------------------------------------------------------------------------- which one


def test_the_nearest_handle_is_taken_and_the_front_one_of_two():
    view = parallel((0.0, -9.0, 0.0))
    near, far = line(0.0, origin=(0.0, -1.0, 0.0)), line(0.0, origin=(0.0, 1.0, 0.0))
    beside = line(0.0, origin=(0.1, 0.0, 0.0))
    pixel = view.project((0.0, 0.0, 0.0))
    for order in ([far, near, beside], [beside, near, far]):
        assert handles.nearest(order, view, pixel, 12.0) is near
        assert handles.nearest(order, view, np.add(pixel, (9.0, 0.0)), 12.0) is beside
    assert handles.nearest([near], view, np.add(pixel, (13.0, 0.0)), 12.0) is None


# --------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("low", "high", "drawn"),
    [
        (None, None, (-2.0, 2.0)), (-1.0, None, (-1.0, 2.0)), (None, 1.0, (-2.0, 1.0)), (-1.0, 1.0, (-1.0, 1.0)),
        (3.0, None, (3.0, 4.0)), (None, -3.0, (-4.0, -3.0)), (1.0, -1.0, (1.0, -1.0)),
    ],
)  # fmt: skip
def test_limits_that_are_not_there_wait_on_the_right_side(low, high, drawn):
    assert handles.at_rest(low, high, (-2.0, 2.0)) == drawn


@pytest.mark.parametrize(
    ("low", "high", "bounds"),
    [
        (-1.0, 1.0, ((-math.inf, 1.0), (-1.0, math.inf))), (None, 1.0, ((-math.inf, 1.0), (-math.inf, math.inf))),
        (-1.0, None, ((-math.inf, math.inf), (-1.0, math.inf))),
        # Locked: in no order that a drag has to keep.
        (1.0, -1.0, ((-math.inf, math.inf), (-math.inf, math.inf))),
    ],
)  # fmt: skip
def test_limits_keep_their_order(low, high, bounds):
    assert handles.bounds_of(low, high) == bounds


def test_limits_at_one_angle_are_drawn_apart():
    low, high = handles.draw_apart(dial(0.5, scale=2.0), dial(0.5, scale=2.0))
    assert low.scale < 0.8 * high.scale == 0.8 * 2.0
    assert handles.draw_apart(dial(0.1), dial(0.9))[0].scale == 1.0


# --------------------------------------------------------------------------- inertia


@pytest.mark.parametrize("size", [(1.0, 1.0, 1.0), (0.2, 3.0, 0.05), (2.0, 0.004, 1.0), (500.0, 20.0, 70.0)])
@pytest.mark.parametrize("weight", [0.001, 1.0, 730.0])
def test_the_box_of_the_moments_of_a_box_is_that_box(size, weight):
    a, b, c = size
    moments = handles.box_moments(weight, size)
    assert moments == pytest.approx([weight / 12 * part for part in (b * b + c * c, a * a + c * c, a * a + b * b)])
    # What a property keeps of it.
    assert handles.even_box(weight, moments.astype(np.float32)) == pytest.approx(size, rel=0.02)
    assert handles.even_box(weight, moments) == pytest.approx(size, rel=1e-6)


def test_the_box_of_a_ball_is_a_cube_of_its_inertia():
    assert handles.even_box(5.0, np.full(3, 0.4 * 5.0 * 0.3**2)) == pytest.approx(math.sqrt(2.4) * 0.3 * np.ones(3))


@pytest.mark.parametrize("moments", [(1.0, 1.0, 2.0), (1.0, 1.0, 5.0), (1e-9, 1.0, 1.0)])
def test_a_box_has_edges_and_possible_moments_whatever_was_authored(moments):
    size = handles.even_box(2.0, moments)
    assert (size > 0.0).all() and size.min() >= handles.THINNEST * size.max() * (1 - 1e-9)
    small, middle, large = np.sort(handles.box_moments(2.0, size).astype(np.float32))
    assert 0.0 < large <= (small + middle) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("weight", "moments"),
    [(0.0, (1, 1, 1)), (-1.0, (1, 1, 1)), (math.inf, (1, 1, 1)), (math.nan, (1, 1, 1)), (1.0, (0, 0, 0)),
     (1.0, (1, 1, -1)), (1.0, (1, 1, math.nan)), (1.0, (1, math.inf, 1))],
)  # fmt: skip
def test_there_is_no_box_of_what_is_no_mass_or_no_inertia(weight, moments):
    assert handles.even_box(weight, moments) is None


# --------------------------------------------------------------------------- lines


def test_arcs_lie_on_their_circle():
    rim = handles.arc(np.array([1.0, 2.0, 3.0]), Z, X, 0.5, -0.3, 1.2)
    assert np.allclose(np.linalg.norm(rim - (1.0, 2.0, 3.0), axis=1), 0.5)
    assert np.allclose(rim[0], (1 + 0.5 * math.cos(-0.3), 2 + 0.5 * math.sin(-0.3), 3.0))
    assert np.allclose(rim[-1], (1 + 0.5 * math.cos(1.2), 2 + 0.5 * math.sin(1.2), 3.0))
    assert handles.segments(rim).shape == (2 * len(rim) - 2, 3)


def test_the_rim_of_a_cone_has_its_two_angles():
    rim = handles.cone_rim(np.zeros(3), np.eye(3), 2.0, (0.3, 0.8))
    assert np.allclose(np.linalg.norm(rim, axis=1), 2.0)
    tilt = np.arccos(rim[:, 0] / 2.0)
    assert tilt[0] == pytest.approx(0.3) and tilt[18] == pytest.approx(0.8)
    assert np.allclose(rim[0], (2 * math.cos(0.3), 2 * math.sin(0.3), 0.0))
    assert np.isfinite(handles.cone_rim(np.zeros(3), np.eye(3), 2.0, (0.0, 0.0))).all()


def test_a_box_has_twelve_edges_of_its_size():
    lines = handles.box(np.array([1.0, 0.0, 0.0]), np.eye(3), np.array([2.0, 4.0, 6.0]))
    lengths = np.linalg.norm(lines[1::2] - lines[::2], axis=1)
    assert sorted(lengths) == [2.0] * 4 + [4.0] * 4 + [6.0] * 4
    assert np.allclose(lines.min(axis=0), (0.0, -2.0, -3.0)) and np.allclose(lines.max(axis=0), (2.0, 2.0, 3.0))


def test_a_turned_box_has_its_edges_along_its_own_directions():
    directions = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
    center, size = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])
    lines = (handles.box(center, directions, size) - center) @ directions
    assert np.allclose(np.abs(lines), size / 2.0)
    ways = np.abs(lines[1::2] - lines[::2])
    assert sorted(map(tuple, np.round(ways, 9).tolist())) == sorted([(2, 0, 0)] * 4 + [(0, 4, 0)] * 4 + [(0, 0, 6)] * 4)


def test_a_cone_has_its_base_below_and_its_tip_up_the_axis():
    view = parallel((0.0, -9.0, 0.0))
    for axis in range(3):
        lines = handles.round_lines("CONE", np.zeros(3), np.eye(3), 0.5, 2.0, axis, view)
        across = np.linalg.norm(np.delete(lines, axis, axis=1), axis=1)
        assert np.allclose(across[lines[:, axis] > 0.9], 0.0) and (lines[:, axis] > 0.9).any()
        assert np.allclose(across[lines[:, axis] < -0.9], 0.5)


def test_a_fan_covers_what_is_between_a_point_and_its_rim():
    rim = handles.circle(np.zeros(3), Z, X, 2.0)
    a, b, c = np.moveaxis(handles.fan(np.zeros(3), rim).reshape(-1, 3, 3), 1, 0)
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(math.pi * 4.0, rel=1e-2)


@pytest.mark.parametrize(("kind", "reach"), [("CAPSULE", 1.5), ("CYLINDER", 1.0), ("CONE", 1.0), ("SPHERE", 0.0)])
def test_outlines_of_round_things_are_as_large_as_these(kind, reach):
    view = parallel((0.0, -9.0, 0.0))
    lines = handles.round_lines(kind, np.zeros(3), np.eye(3), 0.5, 0.0 if kind == "SPHERE" else 2.0, 2, view)
    assert lines[:, 2].max() == pytest.approx(reach or 0.5, abs=2e-3)
    assert lines[:, 2].min() == pytest.approx(-(reach or 0.5), abs=2e-3)
    assert np.abs(lines[:, 0]).max() == pytest.approx(0.5, abs=2e-3)


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 0.5, 3), (-1, 1, 1)], ids=str)
def test_directions_of_a_scaled_space_are_its_axes(scale):
    turn = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
    axes = turn * np.array(scale, float)
    assert np.allclose(handles.directions_of(axes), axes / np.linalg.norm(axes, axis=0))


def test_directions_of_a_sheared_space_are_square_to_each_other():
    found = handles.directions_of(np.array([[1.0, 0.4, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]))
    assert np.allclose(found.T @ found, np.eye(3))
    assert np.allclose(found[:, 2], Z)


def test_a_blob_is_as_large_as_it_says_and_fades_within_a_pixel():
    view = VIEWS["perspective"]
    place, square = np.array([0.2, 0.1, 0.3]), np.array([(1, 1), (-1, 1), (-1, -1), (1, -1), (1, 1)], float)
    pixel = view.pixel_size(place)
    points, alphas = handles.blob(place, view, square, 10.0 * pixel, pixel)
    away = np.array([view.project(point) - view.project(place) for point in points])
    reach = np.linalg.norm(away, axis=1)
    assert np.allclose(np.abs((points - place) @ view.back), 0.0)
    assert np.allclose(reach[alphas == 0.0], 10.0 * math.sqrt(2.0) + 0.5, atol=1e-3)
    solid = reach[alphas == 1.0]
    assert solid.max() == pytest.approx(10.0 * math.sqrt(2.0) - 0.5, abs=1e-3) and solid.min() == 0.0
    assert len(points) == len(alphas) == 4 * 3 + 4 * 6
