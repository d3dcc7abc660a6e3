# SPDX-License-Identifier: GPL-3.0-or-later
"""Masses of several links as one, and tensors of inertia as moments about principal axes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..core.schema import Quaternion, Vector
from .robot import Link


@dataclass(slots=True)
class Lump:
    """center (3,), tensor (3, 3) about it along the axes of the body; None if a part of it has none."""

    mass: float
    center: Matrix
    tensor: Matrix | None


class Moments(NamedTuple):
    moments: Vector
    axes: Quaternion


def lump_of(links: Iterable[tuple[Link, Matrix]]) -> Lump | None:
    """The mass of links as one. Matrix: (4, 4) of the link in the body. None if they have no mass."""
    heavy = [
        (link.inertial, place) for link, place in links if link.inertial is not None and link.inertial.mass > 0
    ]  # fmt: skip
    if not heavy:
        return None
    lumps = []
    for inertial, place in heavy:
        center = (place @ inertial.pose)[:3, 3]
        tensor = inertial.in_link
        if tensor is not None and not np.array_equal(place[:3, :3], np.eye(3)):
            tensor = place[:3, :3] @ tensor @ place[:3, :3].T
        lumps.append(Lump(inertial.mass, center, tensor))
    if len(lumps) == 1:
        return lumps[0]
    mass = sum(one.mass for one in lumps)
    center = np.sum([one.mass * one.center for one in lumps], axis=0) / mass
    total = np.zeros((3, 3))
    for one in lumps:
        if one.tensor is None:
            return Lump(mass, center, None)
        apart = one.center - center
        total += one.tensor + one.mass * (apart @ apart * np.eye(3) - np.outer(apart, apart))
    return Lump(mass, center, total)


def moments_of(tensor: Matrix) -> Moments | None:
    """Moments about the principal axes, which are turned as little as possible; None for a tensor of zeros or NaN."""
    size = float(np.abs(tensor).max()) if np.isfinite(tensor).all() else 0.0
    if not size:
        return None
    a, b, c = (float(value) for value in np.diag(tensor))
    off = tensor - np.diag(np.diag(tensor))
    if not off.any():
        return Moments((a, b, c), frames.IDENTITY_ROTATION)
    values, vectors = np.linalg.eigh((tensor + tensor.T) / 2.0)
    best: tuple[float, Moments] | None = None
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            turn = vectors[:, order] * signs
            if np.linalg.det(turn) > 0 and (best is None or np.trace(turn) > best[0] + 1e-9):
                x, y, z = (float(values[index]) for index in order)
                best = (float(np.trace(turn)), Moments((x, y, z), frames.quaternion_of(turn)))
    return best[1] if best is not None else None


def is_physical(moments: Vector) -> bool:
    """False where a moment is not above zero, or is more than the sum of the others."""
    low, middle, high = sorted(moments)
    return low > 0 and low + middle >= high * (1 - 1e-6)
