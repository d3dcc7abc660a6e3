# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that the solver asks about: with bodies whose surface runs, such as conveyor belts, which have a speed of
their own; of materials that hold a resting body better than a sliding one; and of wheels that skid.

The solver turns friction towards the direction in which the two bodies alone would yield most, and a wheel yields
differently along its axis and across it. So a robot that skids on the spot would turn up to a quarter too fast. The
contacts of its wheels get a speed that turns the friction back against the slip.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from rapier3d import ActiveHooks, PhysicsHooks, PhysicsWorld

from ..vendor_settings import Surface
from ..weights import Weight
from .constraints import matrix_of

#: m/s: a contact that slides more slowly is at rest.
REST = 0.005
#: m/s: a wheel slides that slips faster.
SKID = 0.01
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

    surfaces, wheels: by the solver's handle of a body. grips: by that of a collider; of all, if any is uneven.
    """

    def __init__(self, surfaces: Mapping[Any, Surface], wheels: Mapping[Any, Weight]) -> None:
        super().__init__()
        self.surfaces, self.wheels = surfaces, wheels
        self.grips: dict[Any, Grip] = {}

    def attach(self, physics: PhysicsWorld) -> None:
        """Mark the colliders, and have the solver call this."""
        marked = [handle for handle, grip in self.grips.items() if grip.is_uneven]
        for body in (*self.surfaces, *self.wheels):
            marked += physics.rigid_bodies[body].colliders
        for handle in marked:
            physics.colliders[handle].active_hooks = ActiveHooks.MODIFY_SOLVER_CONTACTS
        if marked:
            physics.physics_hooks = self

    def modify_solver_contacts(self, ctx: Any) -> None:
        """Give each contact the velocity of the surface there, and the friction of a body at rest."""
        if self.surfaces:
            self._run(ctx)
        for body in (ctx.rigid_body1, ctx.rigid_body2) if self.wheels else ():
            if body is not None and body in self.wheels:
                self._skid(ctx, body)
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
                    here = velocity + np.cross(spin, np.array(point.to_tuple(), float) - pose[:3, 3])
                here = sign * (here - normal * float(here @ normal))
                ctx.set_solver_contact(number, tangent_velocity=tuple(here.tolist()))

    def _skid(self, ctx: Any, body: Any) -> None:
        """Turn the friction of a wheel that slides against its slip."""
        contacts = ctx.solver_contacts
        if not contacts or body in self.surfaces:
            return
        slip = np.array(_slip(ctx, contacts[0]), float)
        normal = np.array(ctx.normal.to_tuple(), float)
        slip -= normal * float(normal @ slip)
        speed = float(np.linalg.norm(slip))
        if speed < SKID:
            return
        weight, turn = self.wheels[body], matrix_of(ctx.bodies[body].position)[:3, :3]
        contact = contacts[0]
        arm = np.array((contact.point if body == ctx.rigid_body1 else contact.point2).to_tuple(), float)
        arm -= ctx.bodies[body].center_of_mass.to_tuple()
        spin = turn @ np.linalg.solve(weight.inertia, turn.T @ np.cross(arm, slip))
        yielding = slip / weight.mass + np.cross(spin, arm)
        yielding -= normal * float(normal @ yielding)
        more = yielding * (speed / float(np.linalg.norm(yielding))) - slip
        for number in range(len(contacts)):
            ctx.set_solver_contact(number, tangent_velocity=tuple(more.tolist()))


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
    slip = _slip(ctx, contacts[0])
    along = sum(part * way for part, way in zip(slip, ctx.normal.to_tuple(), strict=True))
    return bool(sum(part * part for part in slip) - along * along < REST * REST)


def _slip(ctx: Any, contact: Any) -> tuple[float, ...]:
    """Velocity (3,) of the first body relative to the second at a contact, with that of surfaces that run."""
    slip: tuple[float, ...] = contact.tangent_velocity.to_tuple()
    for body, point, sign in ((ctx.rigid_body1, contact.point, 1.0), (ctx.rigid_body2, contact.point2, -1.0)):
        if body is None:
            continue
        found = ctx.bodies[body]
        (vx, vy, vz), (wx, wy, wz) = found.linvel.to_tuple(), found.angvel.to_tuple()
        x, y, z = (
            here - middle for here, middle in zip(point.to_tuple(), found.center_of_mass.to_tuple(), strict=True)
        )
        here = vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x
        slip = tuple(part + sign * more for part, more in zip(slip, here, strict=True))
    return slip
