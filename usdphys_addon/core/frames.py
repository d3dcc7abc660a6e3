# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses and frames: matrices for column vectors, quaternions (w, x, y, z), joint frames in scaled body space."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .schema import Quaternion, Vector

Matrix = NDArray[np.float64]
IDENTITY_ROTATION: Quaternion = (1.0, 0.0, 0.0, 0.0)


def rotation_of(matrix: ArrayLike) -> Matrix:
    """Rotation (3, 3) of an affine matrix (4, 4) or (3, 3), without scale and shear.

    The polar factor; for a mirrored space the scale counts as negative on all three axes, as in OpenUSD. A space
    that has numbers which are none is not turned.
    """
    linear = np.asarray(matrix, float)[:3, :3]
    (a, b, c), (d, e, f), (g, h, i) = linear.tolist()
    if a > 0.0 and e > 0.0 and i > 0.0 and not (b or c or d or f or g or h):
        return np.eye(3)
    if not np.isfinite(linear).all():
        return np.eye(3)
    left, _, right = np.linalg.svd(linear)
    rotation: Matrix = left @ right
    return -rotation if np.linalg.det(rotation) < 0 else rotation


def scale_of(matrix: ArrayLike) -> Matrix:
    """Lengths (3,) of the axes of a space, all negative where it is mirrored."""
    # In plain numbers: numpy takes its time for three of them.
    columns = np.asarray(matrix, float)[:3, :3].T.tolist()
    sign = -1.0 if determinant(matrix) < 0 else 1.0
    return np.array([sign * math.hypot(*column) for column in columns])


def determinant(matrix: ArrayLike) -> float:
    """Signed volume of the axes of a space."""
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(matrix, float)[:3, :3].tolist()
    return float(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))


def is_uniform(scale: ArrayLike, tolerance: float = 1e-5) -> bool:
    """True where the three scales agree in sign and, relative to the smallest, in size."""
    values = np.asarray(scale, float)
    if values.min() < 0 < values.max():
        return False
    sizes = np.abs(values)
    return bool(sizes.max() - sizes.min() <= tolerance * sizes.min())


def is_sheared(matrix: ArrayLike, tolerance: float = 1e-4) -> bool:
    """True where the axes of a space are not at right angles: rotation inside a non-uniform scale."""
    linear = np.asarray(matrix, float)[:3, :3]
    lengths = np.linalg.norm(linear, axis=0)
    if (lengths == 0).any():
        return False
    gram = (linear / lengths).T @ (linear / lengths)
    return bool(np.abs(gram - np.eye(3)).max() > tolerance)


def matrix_of(quaternion: ArrayLike) -> Matrix:
    """Rotation (3, 3) of a quaternion (w, x, y, z) of any length; identity for zero."""
    values = np.asarray(quaternion, float)
    norm = np.linalg.norm(values)
    if norm == 0:
        return np.eye(3)
    w, x, y, z = values / norm
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(rotation: ArrayLike) -> Quaternion:
    """Unit quaternion (w, x, y, z), w >= 0, of a rotation matrix (3, 3)."""
    m = np.asarray(rotation, float).tolist()
    trace = m[0][0] + m[1][1] + m[2][2]
    # The largest of the four squares divides, so that nothing near zero does.
    squares = [trace, m[0][0], m[1][1], m[2][2]]
    largest = squares.index(max(squares))
    if largest == 0:
        values = [1 + trace, m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
    else:
        i = largest - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        vector = [0.0, 0.0, 0.0]
        vector[i] = 1 + m[i][i] - m[j][j] - m[k][k]
        vector[j] = m[i][j] + m[j][i]
        vector[k] = m[i][k] + m[k][i]
        values = [m[k][j] - m[j][k], *vector]
    norm = math.sqrt(sum(value * value for value in values))
    if values[0] < 0:
        norm = -norm
    w, x, y, z = (float(value) / norm for value in values)
    return (w, x, y, z)


def is_identity(quaternion: Quaternion, tolerance: float = 1e-9) -> bool:
    """True for a rotation by nothing."""
    return max(abs(part) for part in quaternion[1:]) <= tolerance


def transform(position: ArrayLike, rotation: ArrayLike | None = None, scale: ArrayLike | None = None) -> Matrix:
    """Matrix (4, 4) that scales, then rotates (3, 3), then moves."""
    matrix = np.eye(4)
    linear = np.eye(3) if rotation is None else np.asarray(rotation, float)
    matrix[:3, :3] = linear if scale is None else linear * np.asarray(scale, float)
    matrix[:3, 3] = position
    return matrix


def local_frame(body: ArrayLike | None, frame: ArrayLike) -> tuple[Vector, Quaternion]:
    """Position and orientation of a world frame (4, 4) in the space of a body; `None` is the world.

    The position is in the body's scaled space, the orientation relative to its rotation without scale.
    Raises numpy.linalg.LinAlgError where the body is scaled to nothing.
    Source: "Jointed Bodies" of the UsdPhysics documentation.
    """
    pose = np.asarray(frame, float)
    body_matrix = np.eye(4) if body is None else np.asarray(body, float)
    x, y, z = np.linalg.solve(body_matrix, pose[:, 3])[:3]
    rotation = rotation_of(body_matrix).T @ rotation_of(pose)
    return (float(x), float(y), float(z)), quaternion_of(rotation)


def world_frame(body: ArrayLike | None, position: ArrayLike, rotation: ArrayLike) -> Matrix:
    """World frame (4, 4) without scale of a position and a quaternion in the space of a body."""
    body_matrix = np.eye(4) if body is None else np.asarray(body, float)
    point = body_matrix @ np.append(np.asarray(position, float), 1.0)
    return transform(point[:3], rotation_of(body_matrix) @ matrix_of(rotation))
