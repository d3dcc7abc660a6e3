# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses and joint frames against the Gf library of OpenUSD."""

from __future__ import annotations

import math

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from pxr import Gf
from usdphys_ext.usdphys_addon.core import frames

GF = hypothesis.settings(max_examples=50)
PART = st.floats(0.2, 5.0)
LENGTH = st.floats(-9.0, 9.0)
AXIS = st.tuples(LENGTH, LENGTH, LENGTH).filter(lambda axis: np.linalg.norm(axis) > 0.1)
#: Degrees: no turn, half a turn and nearly that are drawn as well.
DEGREES = st.floats(-360.0, 360.0) | st.sampled_from([0.0, 90.0, 180.0, 180.0 - 1e-6, 360.0])
ROTATIONS = st.builds(lambda axis, degrees: Gf.Rotation(Gf.Vec3d(*axis), degrees), AXIS | st.sampled_from(
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (-1, 2, 3)]), DEGREES)  # fmt: skip
SCALES = st.tuples(*[st.builds(lambda part, sign: part * sign, PART, st.sampled_from([1, 1, -1]))] * 3)
PLACES = st.tuples(LENGTH, LENGTH, LENGTH)


def gf(scale: tuple[float, ...], rotation: Gf.Rotation, move: tuple[float, ...] = (4, -5, 6)) -> Gf.Matrix4d:
    """Scales, then turns, then moves: row vectors."""
    matrix = Gf.Matrix4d().SetScale(Gf.Vec3d(*scale)) * Gf.Matrix4d().SetRotate(rotation)
    return matrix * Gf.Matrix4d().SetTranslate(Gf.Vec3d(*move))


def ours(matrix: Gf.Matrix4d) -> np.ndarray:
    return np.array(matrix).T


def quaternion(rotation: Gf.Rotation) -> np.ndarray:
    found = rotation.GetQuat()
    return np.array((found.GetReal(), *found.GetImaginary()))


#: Poses, mirrored ones among them; and the same with a turned child below a scale per axis, which shears it.
STRAIGHT = st.builds(gf, SCALES, ROTATIONS, PLACES)
SPACES = STRAIGHT | st.builds(lambda inner, outer: gf((1, 1, 1), inner) * outer, ROTATIONS, STRAIGHT)
ODD = Gf.Rotation(Gf.Vec3d(1, -2, 3), 77)
STILL = Gf.Rotation(Gf.Vec3d(0, 0, 1), 0)
SHEARED = gf((1, 1, 1), ODD) * gf((0.5, -2, 7), ODD)


# --------------------------------------------------------------------------- rotation and scale


@GF
@hypothesis.given(SPACES)
@hypothesis.example(SHEARED)
@hypothesis.example(gf((-1, 1, 1), STILL))
@hypothesis.example(gf((-2, -3, -0.5), STILL))
@hypothesis.example(gf((-1, -2, 3), STILL))
def test_rotation_is_that_of_gf(matrix: Gf.Matrix4d) -> None:
    rotation = frames.rotation_of(ours(matrix))
    assert np.linalg.det(rotation) == pytest.approx(1.0)
    np.testing.assert_allclose(rotation, ours(matrix.RemoveScaleShear())[:3, :3], atol=1e-6)
    np.testing.assert_allclose(rotation, np.array(Gf.Matrix3d(Gf.Transform(matrix).GetRotation())).T, atol=1e-6)


@GF
@hypothesis.given(STRAIGHT)
def test_scale_is_that_of_gf(matrix: Gf.Matrix4d) -> None:
    scale = frames.scale_of(ours(matrix))
    assert scale == pytest.approx(np.array(Gf.Transform(matrix).GetScale()))


@GF
@hypothesis.given(st.builds(gf, st.tuples(PART, PART, PART), ROTATIONS, PLACES))
def test_pose_is_put_together_again(matrix: Gf.Matrix4d) -> None:
    pose = ours(matrix)
    again = frames.transform(pose[:3, 3], frames.rotation_of(pose), frames.scale_of(pose))
    np.testing.assert_allclose(again, pose, atol=1e-12)


def test_transform_without_rotation_and_scale() -> None:
    np.testing.assert_array_equal(frames.transform((1, 2, 3)), ours(Gf.Matrix4d().SetTranslate((1, 2, 3))))


@pytest.mark.parametrize("place", [(row, column) for row in range(3) for column in range(3) if row != column])
def test_rotation_of_a_space_with_one_slanted_axis(place: tuple[int, int]) -> None:
    matrix = np.diag((1.0, 2.0, 3.0, 1.0))
    matrix[place] = 0.5
    np.testing.assert_allclose(
        frames.rotation_of(matrix), ours(Gf.Matrix4d(matrix.T).RemoveScaleShear())[:3, :3], atol=1e-9
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_space_that_is_not_finite_is_not_turned(value: float) -> None:
    matrix = np.eye(4)
    matrix[1, 2] = value
    np.testing.assert_array_equal(frames.rotation_of(matrix), np.eye(3))


def test_rotation_of_a_flattened_space_is_a_rotation() -> None:
    rotation = frames.rotation_of(np.diag((1.0, 2.0, 0.0, 1.0)))
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1.0)


@pytest.mark.parametrize("angle", [0.0, 0.3, math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-8, math.pi / 2 + 3e-7, 2.0])
@pytest.mark.parametrize("noise", [0.0, 3e-9, 1e-7])
def test_angles_about_the_fixed_axes_are_a_rotation_as_exact_as_it_was(angle: float, noise: float) -> None:
    about = Gf.Rotation((1, 0, 0), 40) * Gf.Rotation((0, 1, 0), math.degrees(angle)) * Gf.Rotation((0, 0, 1), -70)
    rotation = np.array(Gf.Matrix3d(about)).T + noise * np.array(
        [[1.0, -0.5, 0.5], [-1.0, 0.5, -1.0], [0.5, 1.0, -0.5]]
    )
    x, y, z = (math.degrees(part) for part in frames.euler_angles(rotation))
    again = Gf.Rotation((1, 0, 0), x) * Gf.Rotation((0, 1, 0), y) * Gf.Rotation((0, 0, 1), z)
    np.testing.assert_allclose(np.array(Gf.Matrix3d(again)).T, rotation, atol=1e-12 + 4 * noise)


# --------------------------------------------------------------------------- quaternions


@GF
@hypothesis.given(ROTATIONS)
def test_quaternions_are_those_of_gf(rotation: Gf.Rotation) -> None:
    values, turn = quaternion(rotation), np.array(Gf.Matrix3d(rotation)).T
    found = np.array(frames.quaternion_of(turn))
    assert found[0] >= 0
    assert np.linalg.norm(found) == pytest.approx(1.0)
    assert abs(found @ values) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(frames.matrix_of(values), turn, atol=1e-12)
    np.testing.assert_allclose(frames.matrix_of(-3.0 * values), turn, atol=1e-12)


def test_matrix_of_no_quaternion_is_no_rotation() -> None:
    np.testing.assert_array_equal(frames.matrix_of((0, 0, 0, 0)), np.eye(3))


def test_many_quaternions_are_those_of_one_by_one() -> None:
    """All four branches: each part of a quaternion is the largest of some of these."""
    turned = [
        STILL,
        ODD,
        *(Gf.Rotation(Gf.Vec3d(*axis), 170) for axis in (*np.eye(3).tolist(), *(-np.eye(3)).tolist())),
    ]
    # Twice: few are done one by one.
    matrices = np.array([np.array(Gf.Matrix3d(rotation)).T for rotation in turned * 2])
    found = frames.quaternions_of(matrices)
    assert {int(index) for index in np.abs(found).argmax(axis=1)} == {0, 1, 2, 3}
    assert (found[:, 0] >= 0).all()
    np.testing.assert_allclose(found, [frames.quaternion_of(matrix) for matrix in matrices], atol=1e-15)
    np.testing.assert_allclose(frames.matrices_of(-3.0 * found), matrices, atol=1e-12)


def test_many_matrices_of_no_quaternion_are_no_rotation() -> None:
    found = frames.matrices_of([(0, 0, 0, 0), (0, 5, 0, 0)])
    np.testing.assert_array_equal(found, [np.eye(3), np.diag((1.0, -1.0, -1.0))])


def test_many_rotations_are_those_of_one_by_one() -> None:
    """A NaN in one of them spoils none: it counts as not turned, as alone."""
    matrices = [
        ours(SHEARED),
        ours(gf((0.5, -2, 7), ODD)),
        ours(gf((-2, -3, -0.5), ODD)),
        np.diag((1.0, 2.0, 0.0, 1.0)),
        np.full((4, 4), np.nan),
        np.diag((np.inf, 1.0, 1.0, 1.0)),
        np.zeros((4, 4)),
    ]
    # Few are done one by one.
    matrices *= 2
    alone = [frames.rotation_of(matrix) for matrix in matrices]
    np.testing.assert_allclose(frames.rotations_of(matrices), alone, atol=1e-9)


@pytest.mark.parametrize("spread", [1.0, 1e3])
def test_rotations_of_matrices_in_single_precision_are_those_of_their_polar_factors(spread: float) -> None:
    random = np.random.default_rng(5)
    turns = np.linalg.qr(random.normal(size=(200, 3, 3)))[0]
    matrices = (turns * np.exp(random.uniform(0.0, np.log(spread), (200, 1, 3)))).astype(np.float32).astype(float)
    left, _, right = np.linalg.svd(matrices)
    polar = left @ right * np.sign(np.linalg.det(matrices))[:, None, None]
    np.testing.assert_allclose(frames.rotations_of(matrices), polar, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("function", [frames.quaternions_of, frames.matrices_of, frames.rotations_of])
def test_of_none_there_are_none(function) -> None:
    shape = (0, 4) if function is frames.matrices_of else (0, 3, 3)
    assert len(function(np.zeros(shape))) == 0


def test_quaternions_without_jumps_turn_alike_and_go_the_short_way() -> None:
    turns = np.radians(np.arange(0, 720, 30)) / 2
    smooth = np.stack([np.cos(turns), np.sin(turns), 0 * turns, 0 * turns], axis=1)
    jumping = np.where(smooth[:, :1] < 0, -smooth, smooth)
    both = frames.without_jumps(np.stack([jumping, smooth], axis=1))
    np.testing.assert_array_equal(both, np.stack([smooth, smooth], axis=1))


@pytest.mark.parametrize("degrees", [-179, -90, 0, 1e-6, 45, 179])
@pytest.mark.parametrize("axis", range(3))
def test_angle_and_vector_of_a_rotation_about_an_axis(axis, degrees) -> None:
    matrix = np.array(Gf.Matrix3d(Gf.Rotation(Gf.Vec3d(*np.eye(3)[axis].tolist()), degrees))).T
    assert frames.angle_about(matrix, axis) == pytest.approx(np.radians(degrees), abs=1e-12)
    assert frames.rotation_vector(matrix) == pytest.approx(np.eye(3)[axis] * np.radians(degrees), abs=1e-12)


def test_vector_of_a_rotation_is_its_axis_as_long_as_the_angle() -> None:
    axis = np.array((2.0, -1.0, 2.0)) / 3.0
    matrix = np.array(Gf.Matrix3d(Gf.Rotation(Gf.Vec3d(*axis.tolist()), 100))).T
    assert frames.rotation_vector(matrix) == pytest.approx(axis * np.radians(100))


# --------------------------------------------------------------------------- joint frames


@GF
@hypothesis.given(SPACES, PLACES, ROTATIONS)
@hypothesis.example(SHEARED, (0.3, -0.2, 0.7), ODD)
def test_world_frame_is_that_of_gf(body: Gf.Matrix4d, place: tuple[float, ...], rotation: Gf.Rotation) -> None:
    """Point through the whole matrix of the body, orientation on top of its rotation without scale."""
    frame = frames.world_frame(ours(body), place, quaternion(rotation))
    np.testing.assert_allclose(frame[:3, 3], np.array(body.Transform(Gf.Vec3d(*place))), atol=1e-9)
    wanted = Gf.Matrix3d(rotation) * body.RemoveScaleShear().ExtractRotationMatrix()
    np.testing.assert_allclose(frame[:3, :3], np.array(wanted).T, atol=1e-6)


@GF
@hypothesis.given(SPACES, PLACES, ROTATIONS)
@hypothesis.example(SHEARED, (0.5, 8, -3), ODD)
def test_frame_round_trip(body: Gf.Matrix4d, place: tuple[float, ...], rotation: Gf.Rotation) -> None:
    frame = ours(gf((1, 1, 1), rotation, place))
    position, turn = frames.local_frame(ours(body), frame)
    np.testing.assert_allclose(frames.world_frame(ours(body), position, turn), frame, atol=1e-7)
    assert position == pytest.approx(tuple(body.GetInverse().Transform(Gf.Vec3d(*place))), abs=1e-6)


def test_world_is_a_body_that_does_not_move() -> None:
    frame = ours(gf((1, 1, 1), ODD))
    assert frames.local_frame(None, frame) == frames.local_frame(np.eye(4), frame)
    position, rotation = frames.local_frame(None, frame)
    np.testing.assert_allclose(frames.world_frame(None, position, rotation), frame, atol=1e-12)


def test_frame_of_a_scaled_thing_is_taken_without_its_scale() -> None:
    scaled, plain = ours(gf((2, 3, 4), ODD)), ours(gf((1, 1, 1), ODD))
    assert frames.local_frame(None, scaled)[1] == pytest.approx(frames.local_frame(None, plain)[1])


def test_body_scaled_to_nothing_is_an_error() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        frames.local_frame(np.diag((1.0, 0.0, 1.0, 1.0)), np.eye(4))


# --------------------------------------------------------------------------- questions about scale


@pytest.mark.parametrize(
    ("scale", "wanted"),
    [((1, 1, 1), True), ((2, 2, 2.00001), True), ((-2, -2, -2), True), ((2, 2, 2.001), False), ((2, -2, 2), False),
     ((1e-6, 1e-6, 2e-6), False)],
)  # fmt: skip
def test_is_uniform(scale: tuple[float, ...], wanted: bool) -> None:
    assert frames.is_uniform(scale) == wanted


@pytest.mark.parametrize(
    ("scale", "wanted"),
    [((1, 1, 1), False), ((-1e-5, 1e-5, 1e-5), False), ((1, 0, 1), True), ((1e-9, 1e-9, 1e-9), False),
     ((1e-12, 1e-12, 1e-12), True), ((1, 1, float("nan")), True)],
)  # fmt: skip
def test_is_flat(scale: tuple[float, ...], wanted: bool) -> None:
    assert frames.is_flat(frames.determinant(np.diag(scale))) == wanted


@GF
@hypothesis.given(STRAIGHT)
def test_what_is_scaled_before_it_is_turned_is_not_sheared(matrix: Gf.Matrix4d) -> None:
    assert not frames.is_sheared(ours(matrix))


def test_is_sheared() -> None:
    for degrees in (1, 30, -45, 89):
        for scale in ((1, 2, 1), (0.5, -2, 7)):
            assert frames.is_sheared(ours(gf((1, 1, 1), Gf.Rotation((0, 0, 1), degrees)) * gf(scale, ODD)))
    assert not frames.is_sheared(np.diag((1.0, 0.0, 1.0, 1.0)))


def test_what_location_rotation_and_scale_cannot_hold_below_a_parent() -> None:
    turned, uneven = ours(gf((1, 1, 1), ODD)), ours(gf((0.5, 2, 7), Gf.Rotation((0, 0, 1), 30)))
    local = frames.sheared_below(uneven, turned)
    assert local is not None
    np.testing.assert_allclose(uneven @ local, turned, atol=1e-12)
    assert frames.sheared_below(turned, uneven) is None
    assert frames.sheared_below(np.diag((1.0, 0.0, 1.0, 1.0)), turned) is None


def test_many_frames_in_the_world_are_those_of_one_at_a_time():
    turned = frames.transform((1.0, 2.0, 3.0), frames.matrix_of((0.5, 0.5, -0.5, 0.5)))
    bodies = [np.eye(4), turned, turned @ np.diag([2.0, -0.5, 3.0, 1.0]), np.diag([1e200, 1e200, 1e200, 1.0]),
              turned @ np.array([[1, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])]  # fmt: skip
    positions = [(0.1, 0.2, 0.3)] * len(bodies)
    rotations = [(1.0, 0.0, 0.0, 0.0), (0.1, 0.2, 0.3, 0.4), (0.0, 0.0, 0.0, 0.0), (2.0, 1.0, 0.0, 0.0), (1, 2, 3, 4)]
    found = frames.world_frames(bodies, positions, rotations)
    for one, *part in zip(found, bodies, positions, rotations, strict=True):
        assert np.allclose(one, frames.world_frame(*part), rtol=1e-12, atol=1e-12)
