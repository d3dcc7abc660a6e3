# SPDX-License-Identifier: GPL-3.0-or-later
"""Where two models of the same asset differ as a whole: by the units or the up axis of a stage, layer or reference."""

from __future__ import annotations

import numpy as np

from ..core import paths
from ..core.frames import Matrix
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from . import opinions
from .opinions import Cause
from .runs import corners_of

#: What a stage says of its directions and lengths.
UP_AXIS, LENGTH = "upAxis", "metersPerUnit"
#: A stage whose up axis is Y, in one whose is Z, and the other way.
_TURNS = {way: np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -way), (0.0, way, 0.0))) for way in (1.0, -1.0)}


def unit_causes(first: PhysicsModel, second: PhysicsModel) -> tuple[Cause, ...]:
    """What the two stages say of their units, where the same numbers are other places or masses because of that."""
    one, other = first.units, second.units
    if one.is_like(other) or first.prims.keys() != second.prims.keys():
        return ()
    here, there = _numbers_of(first), _numbers_of(second)
    if here.shape != there.shape or not np.allclose(here, there, rtol=1e-5, atol=1e-6):
        return ()
    masses = [sum(_masses_of(model)) for model in (first, second)]
    moved = not all(np.allclose(prim.world, second.prims[path].world, atol=1e-6) for path, prim in first.prims.items())
    if not moved and np.isclose(masses[0], masses[1]):
        return ()
    names = {"metersPerUnit": "meters_per_unit", "kilogramsPerUnit": "kilograms_per_unit", "upAxis": "up_axis"}
    pairs = {name: (str(getattr(one, field)), str(getattr(other, field))) for name, field in names.items()}
    return tuple(Cause("/", name, *pair, opinions.hint_of(*pair)) for name, pair in pairs.items() if pair[0] != pair[1])


def whole_cause(first: PhysicsModel, second: PhysicsModel) -> Cause | None:
    """What a layer or reference says of its units, where all colliders of one model are those of the other one turned
    from one up axis to another, or larger by a ratio of units; None where they are not."""
    both = [path for path in first.colliders if path in second.colliders]
    found = [[corners_of(model.prims[path]) for path in both] for model in (first, second)]
    if len(both) < 2 or any(one is None for one in (*found[0], *found[1])):
        return None
    here, there = (np.concatenate([one for one in each if one is not None]) for each in found)
    size = float(np.ptp(there, axis=0).max())
    if not np.isfinite([here, there]).all() or size <= 0.0 or np.allclose(here, there, atol=1e-4 * size):
        return None
    root = both[0]
    while root and not all(paths.is_at_or_below(path, root) for path in both):
        root = paths.parent_of(root)
    for turn in _TURNS.values():
        # The same box has its corners in another order.
        if all(np.allclose(_bounds(one @ turn.T), _bounds(other), atol=1e-4 * size)
               for one, other in zip(np.split(here, len(both)), np.split(there, len(both)), strict=True)):  # fmt: skip
            return Cause(root, UP_AXIS)
    ratio = float(np.ptp(here, axis=0).max()) / size
    if opinions.hint_of(str(ratio), "1.0") and np.allclose(here / ratio, there, atol=1e-4 * size):
        return Cause(root, LENGTH, f"{ratio:.4g}", "1", opinions.hint_of(str(ratio), "1.0"))
    return None


def _bounds(points: Matrix) -> Matrix:
    return np.array((points.min(axis=0), points.max(axis=0)))


def _numbers_of(model: PhysicsModel) -> Matrix:
    """(n,) places, turns and masses of all prims, as the stage has them."""
    turn, length = np.asarray(model.units.to_z_up, float).T, model.units.meters_per_unit
    found = [turn @ prim.world[:3, :4] / (1.0, 1.0, 1.0, length) for prim in model.prims.values()]
    masses = np.asarray(_masses_of(model), float) / model.units.kilograms_per_unit
    return np.concatenate([np.ravel(found), masses])


def _masses_of(model: PhysicsModel) -> list[float]:
    """kg, of the prims that say one."""
    apis = (prim.get(usd_physics.MassAPI) for prim in model.prims.values())
    return [api.mass for api in apis if api is not None and api.mass is not None]
