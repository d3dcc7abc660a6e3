# SPDX-License-Identifier: GPL-3.0-or-later
"""A preview of the selection alone: the other bodies stand still, as obstacles."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..bridge.reading import SceneReading
from ..bridge.roles import parents_of
from ..core.errors import InputError
from ..core.schemas import usd_physics
from ..core.ties import Ties


def hold(reading: SceneReading, names: Collection[str]) -> None:
    """Make all bodies of a reading kinematic but those of objects, and what joints tie to these.

    names: of objects: bodies, what is above or below them, or joints. Joints do not tie beyond a static or kinematic
    body. A body whose role is animated keeps it. Raises InputError if no body is left that moves.
    """
    model = reading.model
    moving = {path for path, prim in model.bodies.items() if _moves(prim)}
    free = {path for path in moving if _is_chosen(reading, path, names)}
    ties = Ties()
    for path, prim in model.joints.items():
        joint = prim.get(usd_physics.Joint)
        bodies = [model.body_of(end) for end in (*(joint.body0 or ()), *(joint.body1 or ()))] if joint else []
        tied = {body.path for body in bodies if body is not None} & moving
        if tied:
            ties.tie(tied)
        if _is_chosen(reading, path, names):
            free |= tied
    chosen = set(map(ties.root, free))
    free = {path for path in moving if ties.root(path) in chosen}
    if not free:
        raise InputError("Nothing that is selected can move; select a rigid body, or a joint of one.")
    animated = {key.path for key in model.animated}
    for path in moving - free - animated:
        schemas: dict[str, Any] = model.prims[path].schemas
        name = usd_physics.RigidBodyAPI.usd_name
        # Velocities of a kinematic body would be those of a conveyor.
        schemas[name] = schemas[name].copy(kinematic_enabled=True, velocity=None, angular_velocity=None)


def _moves(prim: Any) -> bool:
    body = prim.get(usd_physics.RigidBodyAPI)
    return bool(body.resolved("rigid_body_enabled") and not body.resolved("kinematic_enabled"))


def _is_chosen(reading: SceneReading, path: str, names: Collection[str]) -> bool:
    """True if the object at a path, or one above or below that belongs to it, is among the objects."""
    site: Any = reading.sites.get(path)
    if site is None:
        return False
    own = {site.obj.name, *(above.name for above in parents_of(site.obj))}
    if site.instance is not None:
        own.add(site.instance[0])
    if not own.isdisjoint(names):
        return True
    body = reading.model.body_of(path)
    return any(
        one.obj.name in names and reading.model.body_of(below) is body
        for below, one in reading.sites.items() if body is not None and below.startswith(f"{path}/")
    )  # fmt: skip
