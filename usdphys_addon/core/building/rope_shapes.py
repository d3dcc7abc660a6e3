# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes of hanging ropes, and frames along them that do not twist."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError

Array = NDArray[np.float64]


def catenary(start: ArrayLike, end: ArrayLike, length: float, count: int) -> Array:
    """Points (count + 1, 3) of a rope that hangs between two points, Z up, at equal distances along the rope.

    length: of the rope. A rope that is not longer than the distance is straight.
    """
    first, last = np.asarray(start, float), np.asarray(end, float)
    parts = np.linspace(0.0, 1.0, count + 1)
    across = last - first
    rise = float(across[2])
    width = math.hypot(float(across[0]), float(across[1]))
    if length <= math.hypot(width, rise) * (1.0 + 1e-9):
        return np.asarray(first + parts[:, None] * across)
    along = parts * length
    points = np.empty((count + 1, 3))
    if width <= 1e-6 * length:
        # Both ends are above each other: the rope hangs down from the one and up to the other.
        down = (length - rise) / 2.0
        points[:, :2] = first[:2]
        points[:, 2] = first[2] + np.where(along < down, -along, along - 2.0 * down)
        return points
    # 2 a sinh(width / 2 a) = sqrt(length² - rise²), by bisection for width / 2 a.
    ratio = math.sqrt(length**2 - rise**2) / width
    low, high = 1e-9, 1.0
    while math.sinh(high) / high < ratio and high < 500.0:
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if math.sinh(middle) / middle < ratio else (low, middle)
    size = width / (low + high)
    lowest = width / 2.0 - size * math.atanh(rise / length)
    offset = size * math.sinh(-lowest / size)
    x = lowest + size * np.arcsinh((along + offset) / size)
    flat = across[:2] / width
    points[:, :2] = first[:2] + x[:, None] * flat
    points[:, 2] = first[2] + size * (np.cosh((x - lowest) / size) - math.cosh(-lowest / size))
    return points


def resampled(points: ArrayLike, count: int, *, is_closed: bool = False) -> Array:
    """Points (count + 1, d) at equal distances along a polyline (n, d). Raises InputError if it has no length."""
    line = np.asarray(points, float)
    if is_closed:
        line = np.concatenate((line, line[:1]))
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1) if len(line) > 1 else np.zeros(0)
    total = float(steps.sum())
    if not total > 0.0 or not math.isfinite(total):
        raise InputError("The curve has no length; draw one with at least two points.")
    where = np.concatenate(([0.0], np.cumsum(steps)))
    wanted = np.linspace(0.0, total, count + 1)
    return np.stack([np.interp(wanted, where, line[:, axis]) for axis in range(line.shape[1])], axis=1)


def length_of(points: ArrayLike, *, is_closed: bool = False) -> float:
    line = np.asarray(points, float)
    if is_closed:
        line = np.concatenate((line, line[:1]))
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())


def frames_along(points: ArrayLike) -> Array:
    """Rotations (n, 3, 3) of the n segments of a polyline (n + 1, 3): X along it, Y level at the start, no twist."""
    line = np.asarray(points, float)
    ways = np.diff(line, axis=0)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    side = np.cross((0.0, 0.0, 1.0), ways[0])
    if np.linalg.norm(side) < 1e-3:
        side = np.array([0.0, 1.0, 0.0])
    rotations = np.empty((len(ways), 3, 3))
    for row, way in enumerate(ways):
        if row:
            # Turn the side by the shortest rotation from the last direction to this one.
            axis = np.cross(ways[row - 1], way)
            cosine = float(ways[row - 1] @ way)
            if cosine > -1.0 + 1e-9:
                side = side * cosine + np.cross(axis, side) + axis * float(axis @ side) / (1.0 + cosine)
        side = side - way * float(side @ way)
        side /= np.linalg.norm(side)
        rotations[row] = np.stack((way, side, np.cross(way, side)), axis=1)
    return rotations


def over_pulley(one: ArrayLike, other: ArrayLike, radius: float, part: float) -> Array:
    """Points (n, 2), (across, up), of a rope from one place over a circle about the origin to another, equally spaced.

    part: length of a piece, by the radius. Raises InputError unless the places are below the top, one on each side.
    """
    ends = sorted((np.asarray(one, float), np.asarray(other, float)), key=lambda end: float(end[0]))
    if not (ends[0][0] < 0.0 < ends[1][0]) or any(np.linalg.norm(end) <= radius or end[1] > 0.0 for end in ends):
        raise InputError("The loads must hang below the middle of the wheel, one on each side of it.")
    # The pieces are chords, which lie within a circle.
    radius /= math.cos(part / 2.0)
    turns = []
    for end, sign in zip(ends, (-1.0, 1.0), strict=True):
        reach = math.acos(min(1.0, radius / float(np.linalg.norm(end))))
        turns.append(math.atan2(end[1], end[0]) % (2.0 * math.pi) + sign * reach)
    angles = np.linspace(turns[0], turns[1] - 2.0 * math.pi, 64)
    arc = radius * np.stack((np.cos(angles), np.sin(angles)), axis=1)
    line = np.concatenate(([ends[0]], arc, [ends[1]]))
    count = max(8, min(80, math.ceil(length_of(line, is_closed=False) / (part * radius))))
    points = resampled(line, count, is_closed=False)
    return points if np.array_equal(ends[0], np.asarray(one, float)) else points[::-1]
