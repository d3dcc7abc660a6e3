# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematic bodies that keep their velocity: glTF (KHR_physics_rigid_bodies) has them, UsdPhysics has not.

Their velocity is constant in the world. `Prim.extras` says which bodies keep it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import frames, mass
from .frames import Matrix
from .model import PhysicsModel, Prim
from .schemas import usd_physics
from .velocities import velocity_scale

#: Key in the `motion` of `Prim.extras`, see `keeps_velocity`.
KEEPS_VELOCITY = "keepsVelocity"


def keeps_velocity(prim: Prim) -> bool:
    """True for a body that goes on with its velocity while it is kinematic."""
    motion = prim.extras.get("motion")
    return isinstance(motion, dict) and motion.get(KEEPS_VELOCITY) is True


def without_kept(extras: dict[str, Any]) -> dict[str, Any]:
    """`Prim.extras` without what `set_kept` adds."""
    motion = extras.get("motion")
    if not isinstance(motion, dict) or KEEPS_VELOCITY not in motion:
        return extras
    rest = {key: value for key, value in motion.items() if key != KEEPS_VELOCITY}
    return {**{key: value for key, value in extras.items() if key != "motion"}, **({"motion": rest} if rest else {})}


def set_kept(prim: Prim) -> None:
    """Let a body keep its velocity while it is kinematic."""
    prim.extras["motion"] = {**prim.extras.get("motion", {}), KEEPS_VELOCITY: True}


def coasting_paths(model: PhysicsModel) -> frozenset[str]:
    """The bodies of a model that keep their velocity while they are kinematic."""
    return frozenset(path for path, prim in model.prims.items() if prim.extras and keeps_velocity(prim))


@dataclass(frozen=True, slots=True)
class Coasting:
    """A constant motion. velocity: of the centre, m/s. spin: rad/s. Both (3,), in the world. center: (3,), m, from the
    origin of the body, along its own axes."""

    velocity: Matrix
    spin: Matrix
    center: Matrix

    def after(self, seconds: float, position: Matrix, rotation: Matrix) -> tuple[Matrix, Matrix]:
        """Where a body is that much later: position (3,), m, and rotation (3, 3)."""
        turned = frames.matrix_of(frames.turn_by(self.spin * seconds)) @ rotation
        center = position + rotation @ self.center + self.velocity * seconds
        return center - turned @ self.center, turned

    def origin_velocity(self, rotation: Matrix) -> Matrix:
        """Velocity (3,), m/s, of the origin of the body while it has a rotation (3, 3)."""
        velocity: Matrix = self.velocity - np.cross(self.spin, rotation @ self.center)
        return velocity


def coasting_of(model: PhysicsModel, prim: Prim) -> Coasting | None:
    """How a body moves that keeps its velocity while it is kinematic; None if it does not, or if it does not move."""
    return motion_of(model, prim) if keeps_velocity(prim) and not prim.is_animated else None


def motion_of(model: PhysicsModel, prim: Prim) -> Coasting | None:
    """How a body moves that goes on with its velocity; None without a velocity."""
    body = prim.get(usd_physics.RigidBodyAPI)
    if body is None:
        return None
    given: Any = body.resolved("velocity"), body.resolved("angular_velocity")
    if not any(map(any, given)):
        return None
    rotation = frames.rotation_of(prim.world)
    velocity, spin = (rotation @ np.asarray(one, float) for one in given)
    velocity = velocity * velocity_scale(rotation.T @ prim.world[:3, :3])
    center = np.asarray(mass.mass_properties(model, prim.path).center_of_mass, float) if spin.any() else np.zeros(3)
    return Coasting(velocity, spin, center)
