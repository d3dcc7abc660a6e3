# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the text of a robot that was just written, and holds it against the model that it was written from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..core import likeness, mass, paths
from ..core.frames import Matrix
from ..core.model import Mesh, PhysicsModel, Prim
from ..core.proof import Mismatch
from ..core.schemas import usd_physics
from . import layout
from .assets import Assets
from .packages import Packages

_NO_FACES = np.zeros((0, 3), np.int64)
#: Joints whose anchor and axis matter.
_WITH_AXIS = frozenset({"PhysicsRevoluteJoint", "PhysicsPrismaticJoint"})


@dataclass(slots=True)
class Names:
    """What a text calls the prims of a model. links, joints: names by path. reversed: joints with their ends swapped.

    frames: pose (4, 4) of the frame of a link in the world of the model, by path.
    """

    links: Mapping[str, str]
    joints: Mapping[str, str]
    frames: Mapping[str, Matrix]
    reversed: frozenset[str] = field(default_factory=frozenset)


def differences(
    plan: layout.Layout, model: PhysicsModel, names: Names, packages: Sequence[Packages]
) -> list[Mismatch]:  # fmt: skip
    """Where a robot deviates from a model. packages: find its meshes, the first that has one."""
    written = plan.model
    shapes = _add_colliders(plan, [Assets(one) for one in packages])
    colliders = mass.colliders_by_body(model)
    pairing = likeness.Pairing(kept=frozenset())
    for path, name in names.links.items():
        if name in plan.worlds:
            pairing.to_scene[path] = names.frames[path] @ np.linalg.inv(plan.worlds[name])
        place = plan.bodies.get(name)
        if place is None:
            continue  # a frame without a mass, which is said
        pairing.bodies[path] = place
        own = [prim.path for prim in colliders.get(path, ())]
        if place in shapes and None in shapes[place]:
            continue  # whose mesh is not found, which is said
        pairing.parts.append(likeness.Parts(path, own, [one for one in shapes.get(place, ()) if one is not None]))
    for path, name in names.joints.items():
        place = plan.joint_paths.get(name)
        # What a fixed, a planar or a floating joint holds is the same wherever its frame is.
        if place is not None and plan.model.prims[place].type_name in _WITH_AXIS:
            pairing.joints[path] = likeness.Tie(place, path in names.reversed)
    return list(likeness.mismatches(model, written, pairing))


def stage_differences(plan: layout.Layout, model: PhysicsModel, assets: Assets) -> list[Mismatch]:
    """Where the model of a USD file deviates from the robot that it was made of. assets: have read its meshes."""
    shapes = _add_colliders(plan, [assets])
    pairing = likeness.Pairing(kept=likeness.ALL - {"surface"})
    pairing.bodies = {path: path for path in plan.bodies.values()}
    pairing.joints = {path: likeness.Tie(path) for path in plan.model.joints}
    pairing.parts = [
        likeness.Parts(path, (path,), (path,)) for own in shapes.values() for path in own if path is not None
    ]
    return list(likeness.mismatches(plan.model, model, pairing))


def _add_colliders(plan: layout.Layout, assets: Sequence[Assets]) -> dict[str, list[str | None]]:
    """Put the colliders of a robot into its model. Returns their paths by that of the body; None is one not found."""
    colliders: dict[str, list[str | None]] = {}
    for placed in plan.shapes:
        if not placed.is_collider:
            continue
        body = plan.model.body_of(placed.path)
        if body is None:
            continue
        own = colliders.setdefault(body.path, [])
        prim = Prim(placed.path, world=plan.worlds[placed.link.name] @ layout.local_of(placed.shape))
        prim.label = paths.name_of(placed.path)
        gprim = layout.gprim_of(placed.shape)
        if gprim is not None:
            prim.add(gprim)
        else:
            read = next((data for one in assets if (data := one.mesh(placed.shape)) is not None), None)
            if read is None:
                own.append(None)
                continue
            mesh = Mesh(read[1].points, _NO_FACES)
            prim.mesh = lambda mesh=mesh: mesh
        prim.add(usd_physics.CollisionAPI())
        plan.model.add(prim)
        own.append(placed.path)
    return colliders
