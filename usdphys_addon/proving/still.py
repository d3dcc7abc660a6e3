# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of an asset as SVG, for those whose browser runs no script, and for lists of assets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import frames
from ..core.frames import Matrix

#: Radians of the view: about the vertical, and from above. `page.js` begins with the same.
TURN, TILT = -0.7, 0.45
#: How many radii of what moves a thing that stands may reach from its middle to be seen whole.
_NEAR = 3.0
#: Triangles at most; of larger assets the bounds of each shape are drawn.
_MOST = 1500
_MOVING, _STANDING = (59, 125, 216), (139, 148, 158)


def picture(scene: dict[str, Any], width: int = 480, height: int = 300) -> str:
    """The start of a scene of a page, see `page`. Triangles are sorted by depth."""
    shapes = [(bool(shape["body"]), _placed(scene, shape), np.asarray(shape["triangles"], int)) for shape in
              scene["shapes"]]  # fmt: skip
    if not shapes:
        return ""
    if sum(len(triangles) for _, _, triangles in shapes) > _MOST:
        shapes = [(moves, *_bounds(points)) for moves, points, _ in shapes]
    middle, radius = np.asarray(scene["view"]["middle"], float), float(scene["view"]["radius"])
    faces: list[tuple[float, str]] = []
    for moves, points, triangles in shapes:
        flat, depth = _projected(points - middle, radius, width, height)
        normals = np.cross(points[triangles[:, 1]] - points[triangles[:, 0]],
                           points[triangles[:, 2]] - points[triangles[:, 0]])  # fmt: skip
        normals = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-12)[:, None]
        light = np.clip(0.55 + 0.4 * np.abs(normals @ (0.3, 0.5, 0.8)), 0.0, 1.0)
        for number, corners in enumerate(triangles):
            if not (depth[corners] > -2.0 * radius).all():
                continue
            colour = " ".join(str(round(part * light[number])) for part in (_MOVING if moves else _STANDING))
            ends = " ".join(f"{x:.0f},{y:.0f}" for x, y in flat[corners])
            faces.append((-float(depth[corners].sum()), f'<polygon points="{ends}" fill="rgb({colour})"/>'))
    drawn = "".join(text for _, text in sorted(faces, key=lambda face: face[0]))
    return f'<svg class="still" viewBox="0 0 {width} {height}" role="img" aria-label="The asset">{drawn}</svg>'


def view_of(scene: dict[str, Any]) -> dict[str, Any]:
    """Middle and radius, m, of what is to be seen: all that moves, and what stands near it unless that is a wide
    floor."""
    shapes = [(bool(shape["body"]), _placed(scene, shape)) for shape in scene["shapes"]]
    shapes = [(moves, points) for moves, points in shapes if len(points)]
    if not shapes:
        return {"middle": [0.0, 0.0, 0.0], "radius": 1.0}
    seen = [points for moves, points in shapes if moves] or [points for _, points in shapes]
    middle, radius = _round_all(seen)
    near = [
        points for moves, points in shapes
        if not moves and float(np.linalg.norm(points - middle, axis=1).max()) < _NEAR * radius
    ]  # fmt: skip
    middle, radius = _round_all([*seen, *near])
    return {"middle": np.round(middle, 5).tolist(), "radius": round(max(0.05, radius), 5)}


def _round_all(shapes: Sequence[Matrix]) -> tuple[Matrix, float]:
    points = np.concatenate(shapes)
    low, high = points.min(axis=0), points.max(axis=0)
    return (low + high) / 2.0, float(np.linalg.norm(high - low)) / 2.0


def _placed(scene: dict[str, Any], shape: dict[str, Any]) -> Matrix:
    points = np.asarray(shape["points"], float).reshape(-1, 3)
    if not shape["body"]:
        return points
    pose = scene["bodies"][shape["body"]]["pose"]
    return np.asarray(points @ frames.matrix_of(pose[3:]).T + pose[:3])


def _bounds(points: Matrix) -> tuple[Matrix, Any]:
    ends = points.min(axis=0), points.max(axis=0)
    corners = np.array([[ends[number >> axis & 1][axis] for axis in range(3)] for number in range(8)])
    return corners, BOX


def _projected(points: Matrix, radius: float, width: int, height: int) -> tuple[Matrix, Matrix]:
    """(points of the picture (n, 2), how far behind the middle (n,)). points: from the middle."""
    c, s, a, b = math.cos(TURN), math.sin(TURN), math.cos(TILT), math.sin(TILT)
    right, away = points @ (c, s, 0.0), points @ (-s, c, 0.0)
    up, depth = a * points[:, 2] + b * away, a * away - b * points[:, 2]
    far, scale = 3.2 * radius, 0.42 * min(width, height) / radius
    near = far / np.maximum(0.05 * far, far + depth)
    return np.stack([width / 2 + scale * near * right, height / 2 - scale * near * up], axis=1), depth


#: Triangles of a box whose corner number has a bit for each axis.
BOX: Any = np.array([
    (0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6),
    (1, 3, 5), (3, 7, 5),
])  # fmt: skip
