# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematic bodies that keep their velocity: glTF (KHR_physics_rigid_bodies) has them, UsdPhysics has not.

Their velocity is constant in the world. `Prim.extras` says which bodies keep it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import frames, mass
from .frames import Matrix
from .model import PhysicsModel, Prim
from .schemas import usd_physics

#: Key in the `motion` of `Prim.extras`, see `keeps_velocity`.
KEEPS_VELOCITY = "keepsVelocity"
#: A scale that is one of these ratios of length units, to SAME_RATIO, converts from one to another.
_METERS = (1e-3, 1e-2, 0.1, 1.0, 1e3, 0.0254, 0.3048)
UNIT_RATIOS = tuple(sorted({first / second for first in _METERS for second in _METERS} - {1.0, 10.0, 0.1, 12.0}))
SAME_RATIO = 1e-4


def velocity_scale(linear: Matrix) -> float:
    """Factor of the velocity of a body, in its rotation: 1, or its scale if that converts length units, as a root
    prim's may; negative for a mirrored prim, because a rotation cannot mirror.

    linear: scale and shear of the prim (3, 3).
    """
    scale = frames.scale_of(linear)
    sign = math.copysign(1.0, scale[0])
    if not frames.is_uniform(np.abs(scale)):
        return sign
    size = float(abs(scale[0]))
    return sign * size if any(abs(size / ratio - 1.0) < SAME_RATIO for ratio in UNIT_RATIOS) else sign


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
        turned = _turned(self.spin * seconds) @ rotation
        center = position + rotation @ self.center + self.velocity * seconds
        return center - turned @ self.center, turned

    def origin_velocity(self, rotation: Matrix) -> Matrix:
        """Velocity (3,), m/s, of the origin of the body while it has a rotation (3, 3)."""
        found: Matrix = self.velocity - np.cross(self.spin, rotation @ self.center)
        return found


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


def _turned(turn: Matrix) -> Matrix:
    """Rotation (3, 3) about an axis by its length (rad)."""
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return np.eye(3)
    axis = turn / angle * math.sin(0.5 * angle)
    return frames.matrix_of((math.cos(0.5 * angle), *axis.tolist()))
