# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose surface runs, such as conveyor belts and turntables: contacts with them have a speed of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rapier3d import ActiveHooks, PhysicsHooks, PhysicsWorld

from ..vendor_settings import Surface
from .constraints import matrix_of


class Belts(PhysicsHooks):  # type: ignore[misc]
    """Called by the solver for the contacts of marked colliders. surfaces: by the solver's handle of a body."""

    def __init__(self, surfaces: Mapping[Any, Surface]) -> None:
        super().__init__()
        self.surfaces = surfaces

    def attach(self, physics: PhysicsWorld) -> None:
        """Mark the colliders, and have the solver call this."""
        if not self.surfaces:
            return
        for handle in self.surfaces:
            for collider in physics.rigid_bodies[handle].colliders:
                physics.colliders[collider].active_hooks = ActiveHooks.MODIFY_SOLVER_CONTACTS
        physics.physics_hooks = self

    def modify_solver_contacts(self, ctx: Any) -> None:
        """Give each contact the velocity of the surface there."""
        for body, sign in ((ctx.rigid_body1, 1.0), (ctx.rigid_body2, -1.0)):
            surface = self.surfaces.get(body) if body is not None else None
            if surface is None:
                continue
            pose = matrix_of(ctx.bodies[body].position)
            turn = pose[:3, :3] if surface.is_local else np.eye(3)
            velocity, spin = turn @ surface.velocity, turn @ surface.spin
            normal = np.array(ctx.normal.to_tuple(), float)
            for number, contact in enumerate(ctx.solver_contacts):
                here = velocity
                if spin.any():
                    point = contact.point if sign > 0.0 else contact.point2
                    here = velocity + np.cross(spin, _from_origin(pose, point, ctx.bodies[body]))
                here = sign * (here - normal * float(here @ normal))
                ctx.set_solver_contact(number, tangent_velocity=tuple(here.tolist()))


def _from_origin(pose: Any, point: Any, body: Any) -> Any:
    """From the origin of a body to a point of a contact, which the solver gives from its centre of mass."""
    center = np.array(body.center_of_mass.to_tuple(), float)
    return np.array(point.to_tuple(), float) + center - pose[:3, 3]
