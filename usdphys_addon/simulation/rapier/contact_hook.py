# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that the solver asks about: with bodies whose surface runs, such as conveyor belts, which have a speed of
their own, and of materials that hold a resting body better than a sliding one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from rapier3d import ActiveHooks, PhysicsHooks, PhysicsWorld

from ..vendor_settings import Surface
from .constraints import matrix_of

#: m/s: a contact that slides more slowly is at rest.
REST = 0.005
#: Words of PhysX for how two coefficients are combined, the strongest last.
_MODES = ("average", "min", "multiply", "max")


class Grip(NamedTuple):
    """Coefficients of friction of a material at rest and sliding, and the word for their combination."""

    static: float
    dynamic: float
    mode: str

    @property
    def is_uneven(self) -> bool:
        return self.static > self.dynamic


class ContactHook(PhysicsHooks):  # type: ignore[misc]
    """Called by the solver for the contacts of marked colliders.

    surfaces: by the solver's handle of a body. grips: by that of a collider; of all, if any is uneven.
    """

    def __init__(self, surfaces: Mapping[Any, Surface]) -> None:
        super().__init__()
        self.surfaces = surfaces
        self.grips: dict[Any, Grip] = {}

    def attach(self, physics: PhysicsWorld) -> None:
        """Mark the colliders, and have the solver call this."""
        marked = [handle for handle, grip in self.grips.items() if grip.is_uneven]
        for body in self.surfaces:
            marked += physics.rigid_bodies[body].colliders
        for handle in marked:
            physics.colliders[handle].active_hooks = ActiveHooks.MODIFY_SOLVER_CONTACTS
        if marked:
            physics.physics_hooks = self

    def modify_solver_contacts(self, ctx: Any) -> None:
        """Give each contact the velocity of the surface there, and the friction of a body at rest."""
        if self.surfaces:
            self._run(ctx)
        first, second = self.grips.get(ctx.collider1), self.grips.get(ctx.collider2)
        if first is not None and second is not None and (first.is_uneven or second.is_uneven) and _rests(ctx):
            ctx.friction = held(first, second)

    def _run(self, ctx: Any) -> None:
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


def held(first: Grip, second: Grip) -> float:
    """The coefficient of friction between two materials at rest."""
    mode = max(first.mode, second.mode, key=_MODES.index)
    one, other = max(first.static, first.dynamic), max(second.static, second.dynamic)
    if mode == "multiply":
        return one * other
    return {"average": (one + other) / 2.0, "min": min(one, other), "max": max(one, other)}[mode]


def _rests(ctx: Any) -> bool:
    """True if nothing slides at the first point of a contact."""
    contacts = ctx.solver_contacts
    if not contacts:
        return False
    contact = contacts[0]
    slip = contact.tangent_velocity.to_tuple()
    for body, point, sign in ((ctx.rigid_body1, contact.point, 1.0), (ctx.rigid_body2, contact.point2, -1.0)):
        if body is None:
            continue
        found = ctx.bodies[body]
        (vx, vy, vz), (wx, wy, wz), (x, y, z) = found.linvel.to_tuple(), found.angvel.to_tuple(), point.to_tuple()
        here = vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x
        slip = tuple(part + sign * more for part, more in zip(slip, here, strict=True))
    along = sum(part * way for part, way in zip(slip, ctx.normal.to_tuple(), strict=True))
    return bool(sum(part * part for part in slip) - along * along < REST * REST)


def _from_origin(pose: Any, point: Any, body: Any) -> Any:
    """From the origin of a body to a point of a contact, which the solver gives from its centre of mass."""
    center = np.array(body.center_of_mass.to_tuple(), float)
    return np.array(point.to_tuple(), float) + center - pose[:3, 3]
