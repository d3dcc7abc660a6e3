# SPDX-License-Identifier: GPL-3.0-or-later
"""Where and how two motions of a body part, in words and in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from .experiments import Parting
from .runs import FLOOR, STEP, Motion, Subject, corners_of, subject_of


def sentence_of(found: Parting, model: PhysicsModel, motion: Motion, how: str) -> str:
    where = place_of(subject_of(model), motion, found)
    display = model.prims[found.body].display if found.body in model.prims else found.body
    if not np.isfinite(found.apart):
        return f"{display} moves in another way {how}: from {found.time:.3f} s on, {where}."
    return (
        f"{display} moves in another way {how}: "
        f"from {found.time:.3f} s on, {where}, by up to {found.apart:.3g} m where {found.allowed:.2g} m are allowed."
    )


def data_of(found: Sequence[Parting]) -> dict[str, Any]:
    return {
        "parts": [
            {"body": one.body, "seconds": round(one.time, 4), "metres": _finite(one.apart),
             "allowed_metres": one.allowed}
            for one in found
        ]
    }  # fmt: skip


def _finite(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)


def place_of(subject: Subject, motion: Motion, parting: Parting) -> str:
    """In words, at which contact or joint a body is when it parts."""
    kind, path = where_of(subject, motion, parting)
    if path == FLOOR:
        return "at the contact with the floor that the proof adds"
    return {"contact": f"at the contact with {path}", "joint": f"at the joint {path}"}.get(kind, "in free motion")


def where_of(subject: Subject, motion: Motion, parting: Parting) -> tuple[Literal["contact", "joint", "free"], str]:
    """At which contact or joint a body is when it parts, with the path of the other collider or body, or the joint."""
    frame, row = round(parting.time / STEP), motion.paths.index(parting.body)
    other = touching(subject.model, motion, frame, row)
    if other:
        return "contact", other
    joints = [facts.path for facts in subject.joints if parting.body in (facts.body0, facts.body1)]
    return ("joint", joints[0]) if joints else ("free", "")


def touching(model: PhysicsModel, motion: Motion, frame: int, row: int) -> str:
    """The collider of another body, or a static one, whose bounds are closest to those of a body; "" if none is."""
    here = _bounds_at(model, motion, frame, motion.paths[row])
    if here is None:
        return ""
    tied = {motion.paths[row]}
    for prim in model.joints.values():
        ends = {target for side in ("body0", "body1") for target in getattr(prim.get(usd_physics.Joint), side) or ()}
        tied |= ends if motion.paths[row] in ends else set()
    best, margin = "", 0.02 * float((here[1] - here[0]).max()) + 1e-3
    others = [path for path in motion.paths if path not in tied]
    others += [path for path in model.colliders if model.body_of(path) is None]
    for path in others:
        there = _bounds_at(model, motion, frame, path)
        if there is None:
            continue
        gap = float(np.maximum(there[0] - here[1], here[0] - there[1]).max())
        if gap < margin:
            best, margin = path, gap
    return best


def _bounds_at(model: PhysicsModel, motion: Motion, frame: int, path: str) -> tuple[Matrix, Matrix] | None:
    """(low, high) of a body or static collider at a frame, in the world."""
    if path in motion.paths:
        prim = model.prims[path]
        start = frames.unscaled(prim.world)
        change = motion.pose(path, frame) @ np.linalg.inv(start)
        shapes = model.colliders_of(path)
    else:
        change, shapes = np.eye(4), [model.prims[path]]
    found = [corners for prim in shapes if (corners := corners_of(prim)) is not None]
    if not found:
        return None
    points = np.concatenate(found) @ change[:3, :3].T + change[:3, 3]
    return points.min(axis=0), points.max(axis=0)
