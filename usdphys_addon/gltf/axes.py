# SPDX-License-Identifier: GPL-3.0-or-later
"""Y up, as in glTF, to Z up, as in Blender and in the model, and back: (x, y, z) -> (x, -z, y).

The axes of every node are turned like those of the world, as Blender's importer and exporter do. So a shape along Y
lies along Z of the turned node, and nothing else of its orientation changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.frames import Matrix
from ..core.schema import Quaternion, Vector

_TURN = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
_BACK = np.ascontiguousarray(_TURN.T)
#: Axis of glTF -> (axis of the model, sign), and the other way round.
TO_MODEL = {0: (0, 1.0), 1: (2, 1.0), 2: (1, -1.0)}
TO_GLTF = {0: (0, 1.0), 2: (1, 1.0), 1: (2, -1.0)}


def matrix_in(matrix: Matrix) -> Matrix:
    """A matrix (4, 4) of glTF, of a node or of the world, in the axes of the model."""
    return np.asarray(_TURN @ matrix @ _BACK, float)


def matrix_out(matrix: Matrix) -> Matrix:
    return np.asarray(_BACK @ matrix @ _TURN, float)


def vector_in(value: Sequence[float]) -> Vector:
    x, y, z = value
    return (x + 0.0, 0.0 - z, y + 0.0)


def vector_out(value: Sequence[float]) -> list[float]:
    x, y, z = value
    return [x + 0.0, z + 0.0, 0.0 - y]


def size_in(value: Sequence[float]) -> Vector:
    """Edge lengths or principal moments: they change places only."""
    x, y, z = value
    return (float(x), float(z), float(y))


def size_out(value: Sequence[float]) -> list[float]:
    return list(size_in(value))


def rotation_in(value: Sequence[float]) -> Quaternion:
    """A quaternion x, y, z, w of glTF as w, x, y, z of the model."""
    x, y, z, w = value
    return (float(w), float(x), -float(z), float(y))


def rotation_out(value: Sequence[float]) -> list[float]:
    w, x, y, z = value
    return [float(x), float(z), -float(y), float(w)]


def points_in(points: ArrayLike) -> NDArray[np.float64]:
    array: Any = np.asarray(points, float)
    return np.stack([array[:, 0], -array[:, 2], array[:, 1]], axis=1)


def points_out(points: ArrayLike) -> NDArray[np.float64]:
    array: Any = np.asarray(points, float)
    return np.stack([array[:, 0], array[:, 2], -array[:, 1]], axis=1)
