# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts with surfaces that run: conveyor belts, and discs whose surface turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..vendor_settings import Surface
from .constraints import matrix_of
from .sides import Vector


def run(ctx: Any, surfaces: Mapping[Any, Surface]) -> None:
    """Give each point of a contact the velocity of the surface there. surfaces: by the solver's handle of a body."""
    for body, sign in ((ctx.rigid_body1, 1.0), (ctx.rigid_body2, -1.0)):
        surface = surfaces.get(body) if body is not None else None
        if surface is None:
            continue
        pose = matrix_of(ctx.bodies[body].position)
        velocity, spin = surface.in_world(pose)
        normal = np.array(ctx.normal.to_tuple(), float)
        for number, contact in enumerate(ctx.solver_contacts):
            here = velocity
            if spin.any():
                point = contact.point if sign > 0.0 else contact.point2
                here = velocity + np.cross(spin, np.array(point.to_tuple(), float) - pose[:3, 3])
            here = sign * (here - normal * float(here @ normal))
            ctx.set_solver_contact(number, tangent_velocity=tuple(here.tolist()))


def turning(ctx: Any, surfaces: Mapping[Any, Surface]) -> list[tuple[bool, Vector, Vector]]:
    """Of bodies whose surface turns: whether it is the first one, the spin, rad/s, and a point of its axis, m."""
    found = []
    for body, is_first in ((ctx.rigid_body1, True), (ctx.rigid_body2, False)):
        surface = None if body is None else surfaces.get(body)
        if surface is not None and surface.spin.any():
            pose = matrix_of(ctx.bodies[body].position)
            (x, y, z), (a, b, c) = surface.in_world(pose)[1].tolist(), pose[:3, 3].tolist()
            found.append((is_first, (x, y, z), (a, b, c)))
    return found
