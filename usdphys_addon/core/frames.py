# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrices for column vectors, quaternions (w, x, y, z), and joint frames in scaled body space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .schema import Quaternion, Vector

Matrix = NDArray[np.float64]
IDENTITY_ROTATION: Quaternion = (1.0, 0.0, 0.0, 0.0)
#: Matrices whose determinant is closer to zero scale an axis to zero.
_FLAT = 1e-33
_IDENTITY = np.eye(4)
#: So many matrices take less time one by one than in arrays.
_FEW = 8
#: Cosines between the axes of a matrix below this are taken for the noise of single precision.
_NOISY = 1e-6


def vector(values: ArrayLike) -> Vector:
    """Three numbers of numpy as Python's own."""
    x, y, z = np.asarray(values, float).tolist()
    return x, y, z


def rotation_of(matrix: ArrayLike) -> Matrix:
    """Rotation (3, 3) of an affine matrix (4, 4) or (3, 3), without scale and shear.

    The orthogonal polar factor. A mirrored space counts as scaled negatively on all three axes, as in OpenUSD. The
    identity if the matrix holds NaN or infinity.
    """
    linear = np.asarray(matrix, float)[:3, :3]
    (a, b, c), (d, e, f), (g, h, i) = linear.tolist()
    if a > 0.0 and e > 0.0 and i > 0.0 and not (b or c or d or f or g or h):
        return _IDENTITY[:3, :3].copy()
    if not np.isfinite(linear).all():
        return np.eye(3)
    x, y, z = math.hypot(a, d, g), math.hypot(b, e, h), math.hypot(c, f, i)
    if (
        x > 1e-300 and y > 1e-300 and z > 1e-300 and abs(a * b + d * e + g * h) <= 1e-9 * x * y
        and abs(b * c + e * f + h * i) <= 1e-9 * y * z and abs(c * a + f * d + i * g) <= 1e-9 * z * x
    ):  # fmt: skip
        # Without shear the columns are the rotation; the singular values would take most of the time of an import.
        sign = -1.0 if determinant(linear) < 0 else 1.0
        x, y, z = sign / x, sign / y, sign / z
        return np.array([[a * x, b * y, c * z], [d * x, e * y, f * z], [g * x, h * y, i * z]])
    left, _, right = np.linalg.svd(linear)
    rotation: Matrix = left @ right
    return -rotation if np.linalg.det(rotation) < 0 else rotation


def rotations_of(matrices: ArrayLike) -> Matrix:
    """`rotation_of` of many: rotations (n, 3, 3) of affine matrices (n, 4, 4) or (n, 3, 3)."""
    linear = np.asarray(matrices, float)[:, :3, :3]
    if len(linear) <= _FEW:
        return np.array([rotation_of(each) for each in linear], float).reshape(-1, 3, 3)
    if not np.isfinite(linear).all():
        linear = np.where(np.isfinite(linear).all(axis=(1, 2))[:, None, None], linear, np.eye(3))
    # Component by component: numpy takes four times as long for many small matrices.
    parts = np.ascontiguousarray(np.moveaxis(linear, 0, 2))
    lengths = np.maximum(np.sqrt(parts[0] ** 2 + parts[1] ** 2 + parts[2] ** 2), 1e-300)
    parts /= lengths
    x, y, z = parts[:, 0], parts[:, 1], parts[:, 2]
    products = [(one * other).sum(axis=0) for one, other in ((x, x), (y, y), (z, z), (x, y), (y, z), (z, x))]
    errors = np.abs(np.subtract(products, np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])[:, None])).max(axis=0)
    noisy = (errors > 1e-9) & (errors < _NOISY)
    if noisy.any():
        parts = np.where(noisy, _unsheared(parts, lengths, products[3:]), parts)
    (a, b, c), (d, e, f), (g, h, i) = parts
    mirrored = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0
    rotations: Matrix = np.ascontiguousarray(np.moveaxis(np.where(mirrored, -parts, parts), 2, 0))
    oblique = (errors > 1e-9) & ~noisy
    if oblique.any():
        left, _, right = np.linalg.svd(linear[oblique])
        turns = left @ right
        turns[np.linalg.det(turns) < 0] *= -1.0
        rotations[oblique] = turns
    return rotations


def _unsheared(units: Matrix, lengths: Matrix, cosines: Sequence[Matrix]) -> Matrix:
    """The polar factors of n matrices that are sheared very little, to the first order of the shear.

    units (3, 3, n): their columns (:, i, n) of length 1. lengths (3, n): of the columns. cosines: between columns 0 and
    1, 1 and 2, 2 and 0.
    """
    result = units.copy()
    for first, second, cosine in zip((0, 1, 2), (1, 2, 0), cosines, strict=True):
        part = cosine / (lengths[first] + lengths[second])
        result[:, first] -= units[:, second] * (part * lengths[second])
        result[:, second] -= units[:, first] * (part * lengths[first])
    return result


def scale_of(matrix: ArrayLike) -> Matrix:
    """Scale (3,) of the axes of a matrix; all three negative if it is mirrored."""
    # Without numpy: its overhead dominates for three numbers.
    columns = np.asarray(matrix, float)[:3, :3].T.tolist()
    sign = -1.0 if determinant(matrix) < 0 else 1.0
    return np.array([sign * math.hypot(*column) for column in columns])


def determinant(matrix: ArrayLike) -> float:
    """Determinant of the linear part of a matrix (4, 4) or (3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(matrix, float)[:3, :3].tolist()
    return float(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))


def is_flat(determinant: float) -> bool:
    """True if a matrix with this determinant scales an axis to zero. NaN counts as flat.

    Files in nanometres come with scales of 1e-9, so the determinants of their matrices are far from zero at 1e-27.
    Takes the determinant, because `mathutils.Matrix.determinant` is faster than a conversion to numpy.
    """
    return not abs(determinant) > _FLAT


def unscaled(matrix: ArrayLike) -> Matrix:
    """A matrix (4, 4) with its place and its rotation alone: the frame of a body, which has no scale and no shear."""
    return transform(np.asarray(matrix, float)[:3, 3], rotation_of(matrix))


def is_uniform(scale: ArrayLike, tolerance: float = 1e-5) -> bool:
    """True if the scales have the same sign and, relative to the smallest, the same size."""
    values = np.asarray(scale, float)
    if values.min() < 0 < values.max():
        return False
    sizes = np.abs(values)
    return bool(sizes.max() - sizes.min() <= tolerance * sizes.min())


def is_sheared(matrix: ArrayLike, tolerance: float = 1e-4) -> bool:
    """True if the axes of a matrix are not orthogonal, as by a rotation inside a non-uniform scale."""
    linear = np.asarray(matrix, float)[:3, :3]
    lengths = np.linalg.norm(linear, axis=0)
    if (lengths == 0).any():
        return False
    gram = (linear / lengths).T @ (linear / lengths)
    return bool(np.abs(gram - np.eye(3)).max() > tolerance)


def matrix_of(quaternion: ArrayLike) -> Matrix:
    """Rotation (3, 3) of a quaternion (w, x, y, z) of any length; identity for zero."""
    w, x, y, z = np.asarray(quaternion, float).tolist()
    norm = math.hypot(w, x, y, z)
    return np.array(_rotation_rows(w / norm, x / norm, y / norm, z / norm)) if norm else np.eye(3)


def matrices_of(quaternions: ArrayLike) -> Matrix:
    """`matrix_of` of many: rotations (n, 3, 3) of quaternions (n, 4)."""
    values = np.asarray(quaternions, float)
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    units = np.where(norms == 0.0, IDENTITY_ROTATION, values) / np.where(norms == 0.0, 1.0, norms)
    return np.moveaxis(np.array(_rotation_rows(*units.T)), 2, 0)


def _rotation_rows(w: Any, x: Any, y: Any, z: Any) -> list[list[Any]]:
    """The rows of the rotation of a unit quaternion, of numbers or of arrays."""
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]


def quaternion_of(rotation: ArrayLike) -> Quaternion:
    """Unit quaternion (w, x, y, z), w >= 0, of a rotation matrix (3, 3)."""
    rows = _quaternion_rows(np.asarray(rotation, float).tolist())
    largest = max(range(4), key=lambda index: rows[index][index])
    w, x, y, z = rows[largest]
    norm = math.hypot(w, x, y, z) if w >= 0 else -math.hypot(w, x, y, z)
    return (w / norm, x / norm, y / norm, z / norm)


def quaternions_of(rotations: ArrayLike) -> Matrix:
    """`quaternion_of` of many: quaternions (n, 4) of rotation matrices (n, 3, 3)."""
    matrices = np.asarray(rotations, float)
    if len(matrices) <= _FEW:
        return np.array([quaternion_of(each) for each in matrices], float).reshape(-1, 4)
    rows = np.array(_quaternion_rows(np.moveaxis(matrices, 0, 2)))
    largest = np.einsum("iin->in", rows).argmax(axis=0)
    chosen = np.asarray(rows[largest, :, np.arange(len(matrices))], float)
    chosen[chosen[:, 0] < 0] *= -1.0
    return np.asarray(chosen / np.linalg.norm(chosen, axis=1, keepdims=True), float)


def _quaternion_rows(rotation: Any) -> tuple[tuple[Any, Any, Any, Any], ...]:
    """Four multiples (w, x, y, z) of the quaternion of a rotation (3, 3), of numbers or of arrays.

    Row i is the quaternion times 4 times its component i. The row with the largest diagonal element is most accurate.
    """
    (a, b, c), (d, e, f), (g, h, i) = rotation
    x, y, z, xy, yz, zx = h - f, c - g, d - b, b + d, f + h, c + g
    return (
        (1 + a + e + i, x, y, z), (x, 1 + a - e - i, xy, zx), (y, xy, 1 - a + e - i, yz), (z, zx, yz, 1 - a - e + i)
    )  # fmt: skip


def without_jumps(quaternions: Matrix) -> Matrix:
    """The same rotations (n, ..., 4), with signs chosen so that interpolation takes the short way."""
    result = np.array(quaternions, float)
    for before, now in pairwise(result):
        now[(now * before).sum(axis=-1) < 0] *= -1.0
    return result


def angle_about(rotation: ArrayLike, axis: int) -> float:
    """The twist angle of a rotation (3, 3) about the axis with an index, within half a turn, radians."""
    quaternion = quaternion_of(rotation)
    return 2.0 * math.atan2(quaternion[1 + axis], quaternion[0])


def euler_angles(rotation: ArrayLike) -> Vector:
    """Roll, pitch and yaw, radians, of a rotation (3, 3): it turns about X, then Y, then Z, which stay where they are.

    With the pitch at a right angle only roll minus or plus yaw is defined, and the yaw is 0.
    """
    (a, b, c), (d, e, f), (g, _, _) = np.asarray(rotation, float)[:3, :3].tolist()
    across = math.hypot(a, d)
    yaw = math.atan2(d, a) if across > 1e-9 else 0.0
    sine, cosine = math.sin(yaw), math.cos(yaw)
    # The roll is what the yaw leaves: near a right angle of the pitch their errors cancel.
    return math.atan2(sine * c - cosine * f, cosine * e - sine * b), math.atan2(-g, across), yaw


def rotation_vector(rotation: ArrayLike) -> list[float]:
    """The rotation vector (axis times angle, radians) of a rotation (3, 3)."""
    w, *imaginary = quaternion_of(rotation)
    size = math.hypot(*imaginary)
    factor = 2.0 * math.atan2(size, w) / size if size > 1e-9 else 2.0
    return [factor * part for part in imaginary]


def turn_by(vector: Matrix) -> Matrix:
    """The unit quaternion (4,), w first, of a rotation vector (3,): axis times angle, radians."""
    angle = float(np.linalg.norm(vector))
    return np.array((np.cos(angle / 2.0), *(np.sinc(angle / (2.0 * np.pi)) / 2.0 * vector)))


def is_identity(quaternion: Quaternion, tolerance: float = 1e-9) -> bool:
    """True if a unit quaternion does not rotate."""
    return max(abs(part) for part in quaternion[1:]) <= tolerance


def transform(position: ArrayLike, rotation: ArrayLike | None = None, scale: ArrayLike | None = None) -> Matrix:
    """Matrix (4, 4) that scales, then rotates (3, 3), then moves."""
    # A copy takes a quarter of the time of `np.eye`.
    matrix = _IDENTITY.copy()
    if rotation is not None:
        matrix[:3, :3] = rotation
    if scale is not None:
        matrix[:3, :3] *= np.asarray(scale, float)
    matrix[:3, 3] = position
    return matrix


def place_below(above: Matrix, world: Matrix) -> Matrix:
    """The local matrix (4, 4) by which `above` gives `world`; the nearest where `above` is scaled to nothing."""
    try:
        return np.asarray(np.linalg.solve(above, world))
    except np.linalg.LinAlgError:
        flat = np.linalg.pinv(above[:3, :3])
        local = np.eye(4)
        local[:3, :3], local[:3, 3] = flat @ world[:3, :3], flat @ (world[:3, 3] - above[:3, 3])
        return local


def inverse_pose(pose: Matrix) -> Matrix:
    """Inverse of a pose (4, 4) without scale."""
    turn = pose[:3, :3].T
    return transform(-turn @ pose[:3, 3], turn)


def sheared_below(parent: ArrayLike, own: ArrayLike) -> Matrix | None:
    """Matrix (4, 4) relative to a parent if it is sheared, so that it is more than location, rotation and scale.

    None if it is not sheared, or if the parent is singular.
    """
    try:
        local = np.asarray(np.linalg.solve(np.asarray(parent, float), np.asarray(own, float)), float)
    except np.linalg.LinAlgError:
        return None
    return local if is_sheared(local, 1e-6) else None


def local_frame(body: ArrayLike | None, frame: ArrayLike) -> tuple[Vector, Quaternion]:
    """Position and orientation of a world frame (4, 4) in the space of a body; `None` is the world.

    The position is in the body's scaled space, the orientation relative to its rotation without scale.
    Raises numpy.linalg.LinAlgError if the matrix of the body is singular.
    Source: "Jointed Bodies" of the UsdPhysics documentation.
    """
    pose = np.asarray(frame, float)
    body_matrix = np.eye(4) if body is None else np.asarray(body, float)
    rotation = rotation_of(body_matrix).T @ rotation_of(pose)
    return vector(np.linalg.solve(body_matrix, pose[:, 3])[:3]), quaternion_of(rotation)


def world_frame(body: ArrayLike | None, position: ArrayLike, rotation: ArrayLike) -> Matrix:
    """World matrix (4, 4) without scale of a joint frame given by position and quaternion in the space of a body.

    Inverse of `local_frame`.
    """
    body_matrix = np.eye(4) if body is None else np.asarray(body, float)
    point = body_matrix @ np.append(np.asarray(position, float), 1.0)
    return transform(point[:3], rotation_of(body_matrix) @ matrix_of(rotation))


def world_frames(bodies: ArrayLike, positions: ArrayLike, rotations: ArrayLike) -> Matrix:
    """`world_frame` of many: (n, 4, 4) for bodies (n, 4, 4), positions (n, 3) and quaternions (n, 4)."""
    matrices = np.asarray(bodies, float)
    placed = np.zeros((len(matrices), 4, 4))
    points, turns = np.asarray(positions, float), np.asarray(rotations, float)
    with np.errstate(all="ignore"):
        placed[:, :3, 3] = (matrices[:, :3, :3] @ points[:, :, None])[:, :, 0] + matrices[:, :3, 3]
        placed[:, :3, :3] = rotations_of(matrices) @ matrices_of(turns)
    placed[:, 3, 3] = 1.0
    # The square of a very large or small number has no place in 64 bits.
    for row in np.flatnonzero(~np.isfinite(placed).all(axis=(1, 2))).tolist():
        placed[row] = world_frame(matrices[row], points[row], turns[row])
    return placed
