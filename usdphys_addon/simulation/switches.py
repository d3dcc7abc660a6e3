# SPDX-License-Identifier: GPL-3.0-or-later
"""What a world has to be built for, because animation switches or changes it while the world runs."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from ..core import schema
from ..core.animation import Key
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from .notices import Notices
from .vendor_settings import animates

#: Fields that decide whether animation or physics moves a body, with the value of a moving one.
ROLES = {"rigid_body_enabled": True, "kinematic_enabled": False}


def switching(model: PhysicsModel) -> frozenset[str]:
    """Paths of the bodies that animation and physics move in turn."""
    return frozenset(key.path for key in model.animated if key.field in ROLES and _is_body(model, key))


def _is_body(model: PhysicsModel, key: Key) -> bool:
    return key.schema == usd_physics.RigidBodyAPI.usd_name and model.holder(key) is not None


def is_led(prim: Prim) -> bool:
    """True for a body that physics does not move now."""
    body = prim.get(usd_physics.RigidBodyAPI)
    return body is not None and any(body.resolved(name) != moves for name, moves in ROLES.items())


def released(model: PhysicsModel) -> PhysicsModel:
    """The model with all switches that are animated in the state for which most has to be built."""
    wanted: dict[tuple[str, str], dict[str, bool]] = {}
    for key in model.animated:
        if key.field in ROLES:
            wanted.setdefault((key.path, key.schema), {})[key.field] = ROLES[key.field]
        elif key.field == "collision_enabled" and key.schema == usd_physics.CollisionAPI.usd_name:
            wanted.setdefault((key.path, key.schema), {})[key.field] = True
    if not wanted:
        return model
    prims = dict(model.prims)
    for (path, name), fields in wanted.items():
        prim = prims.get(path)
        if prim is None or name not in prim.schemas:
            continue
        if prim is model.prims[path]:
            prim = prims[path] = copy(prim)
            prim.schemas = dict(prim.schemas)
        prim.schemas[name] = prim.schemas[name].copy(**fields)
    return replace(model, prims=prims)


def changing_joints(model: PhysicsModel) -> set[str]:
    """Paths of the joints of which more than drives is animated."""
    drives = usd_physics.DriveAPI.usd_name
    return {key.path for key in model.animated if schema.split_applied(key.schema)[0] != drives}


def report_still(model: PhysicsModel, notices: Notices) -> None:
    """Name each animated value that the simulation takes only once."""
    for key, samples in model.animated.items():
        held = model.holder(key)
        if held is None:
            continue
        prim, _, attribute = held
        # The mass of a collider is a part of that of its body, which is summed up once.
        is_part = key.schema == usd_physics.MassAPI.usd_name and prim.get(usd_physics.RigidBodyAPI) is None
        if is_part or not animates(key.schema, attribute):
            notices.add(
                "AnimatedStill", prim,
                f"{prim.display} has its '{attribute.label}' animated by {samples.by}, which cannot change while the "
                "simulation runs: it keeps the value of the start.",
            )  # fmt: skip
