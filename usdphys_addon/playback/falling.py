# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the bodies of a preview fall for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.schemas import usd_physics

if TYPE_CHECKING:
    from ..core.model import PhysicsModel


def is_bottomless(world: Any, model: PhysicsModel) -> bool:
    """True where gravity acts, and nothing is there to land on or to hang from.

    That is no static collider, no animated body, and no joint to anything else than bodies that move.
    """
    if len(world.static_colliders) or world.kinematic.any() or not any(any(each.gravity) for each in world.spaces):
        return False
    return not any(_holds(model, path) for path in world.joints)


def _holds(model: PhysicsModel, path: str) -> bool:
    joint: Any = model.prims[path].get(usd_physics.Joint)
    return not all(side and model.is_simulated(side[0]) for side in (joint.body0, joint.body1))
