# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints keep their frames in their bodies when the bodies have moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy
import mathutils
import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics

#: Metres and radians below which two frames are one.
_SAME = 1e-5


def keep(model: PhysicsModel, after: Mapping[str, Matrix], meters: float) -> None:
    """Move joint objects with their first body, and set what does not follow from where they are then.

    model: as it was before the move. after: world matrices (4, 4) of the moved bodies, metres. meters: of a Blender
    unit.
    """
    for prim in model.joints.values():
        joint = prim.get(usd_physics.Joint)
        obj: Any = bpy.data.objects.get(prim.label)
        if joint is None or obj is None or not _moved(joint, after):
            continue
        worlds = [_world(model, joint, side, after) for side in (0, 1)]
        places = [
            frames.world_frame(worlds[side], joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"))
            for side in (0, 1)
        ]
        place = places[0].copy()
        place[:3, 3] /= meters
        if not obj.usdphys.joint.is_property_set("local_pos0"):
            obj.matrix_world = mathutils.Matrix(place.tolist())
        if np.abs(places[0] - places[1]).max() > _SAME:
            group = obj.usdphys.joint
            group.local_pos1 = [part / meters for part in joint.resolved("local_pos1")]
            group.local_rot1 = joint.resolved("local_rot1")


def _moved(joint: usd_physics.Joint, after: Mapping[str, Matrix]) -> bool:
    return any(target in after for side in (0, 1) for target in getattr(joint, f"body{side}") or ())


def _world(model: PhysicsModel, joint: usd_physics.Joint, side: int, after: Mapping[str, Matrix]) -> Matrix | None:
    targets = getattr(joint, f"body{side}")
    if not targets:
        return None
    prim: Prim | None = model.prims.get(targets[0])
    return after.get(targets[0], None if prim is None else prim.world)
