# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of the physics while a preview runs: which of them the running world can take, and how it takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Scene

from ..bridge.animated import animated_paths
from ..bridge.identity.remembered import objects_by_name
from ..bridge.roles import is_animated, parents_of
from ..core import frames, schema
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..core.vendors import is_vendor
from ..simulation import live_values
from ..simulation.vendor_settings import is_simulated

if TYPE_CHECKING:
    from ..core.difference import Difference
    from ..simulation.world import World

#: Part of the largest square of a length that is no change: objects have 32-bit floats.
_SAME = 1e-4
_FRAMES = ("local_pos0", "local_rot0", "local_pos1", "local_rot1")


def silent_values(scene: Scene) -> list[Any]:
    """Values whose changes cause no depsgraph update: physics scenes, and materials that only physics uses.

    Those of data-blocks whose physics is animated are left out: they change by themselves.
    """
    values: list[Any] = []
    if scene is not None and not animated_paths(scene):
        values += [bool(scene.use_gravity), *scene.gravity]
        for item in scene.usdphys.physics_scenes:
            values += [item.name, item.gravity_magnitude, *item.gravity_direction]
    for material in bpy.data.materials:
        group = material.usdphys.physics_material
        if group.is_applied and not animated_paths(material):
            values += [material.name, group.dynamic_friction, group.restitution, group.density]
    return values


def keep_frames(old: PhysicsModel, new: PhysicsModel) -> list[tuple[usd_physics.Joint, dict[str, Any]]]:
    """Replace the joint frames of a new model by those of the old one, so that a moved body takes its joints along.

    Returns (joint, replaced values) for each joint.
    """
    fresh = []
    for path, prim in new.joints.items():
        before = old.prims.get(path)
        known, joint = before and before.get(usd_physics.Joint), prim.get(usd_physics.Joint)
        if known is not None and joint is not None:
            fresh.append((joint, {name: getattr(joint, name) for name in _FRAMES}))
            for name in _FRAMES:
                setattr(joint, name, getattr(known, name))
    return fresh


def move_statics(world: World, old: PhysicsModel, new: PhysicsModel) -> bool:
    """Move static colliders whose objects were moved. Returns True if there were any."""
    have_moved = False
    for path, prim in new.colliders.items():
        before = old.prims.get(path)
        if before is None or np.array_equal(before.world, prim.world) or old.body_of(path) is not None:
            continue
        try:
            world.set_static_pose(path, prim.world[:3, 3], frames.quaternion_of(frames.rotation_of(prim.world)))
            have_moved = True
        except KeyError:
            continue
    return have_moved


def are_resized(old: PhysicsModel, new: PhysicsModel) -> bool:
    """True if a body or collider has another scale or shear than before, apart from what its animation does."""
    paths = [path for path in new.bodies.keys() | new.colliders.keys() if path in old.prims]
    before, now = (
        np.array([model.prims[path].world[:3, :3] for path in paths]).reshape(-1, 3, 3) for model in (old, new)
    )
    # Lengths of the axes and angles between them: no rotation changes these.
    lengths, others = (np.einsum("nij,nik->njk", axes, axes) for axes in (before, now))
    least = _SAME * np.abs(lengths).max(axis=(1, 2), initial=0.0)
    changed = (np.abs(others - lengths) > least[:, None, None]).any(axis=(1, 2))
    known = objects_by_name(with_linked=True)
    scaled = [known.get(new.prims[path].label) for path, is_changed in zip(paths, changed, strict=True) if is_changed]
    return any(obj is not None and not any(map(is_animated, (obj, *parents_of(obj)))) for obj in scaled)


def are_live(edits: Difference) -> bool:
    """True if a running world can apply all edits."""
    if edits.added or edits.removed:
        return False
    for edit in edits.edits.values():
        applied = [name for name in (*edit.added, *edit.removed) if not _is_vendors(name) or is_simulated(name)]
        if applied or edit.type_name is not None or edit.binding is not None:
            return False
        for name, field in (*edit.values, *edit.cleared):
            value = edit.prim.schemas[name]
            if is_vendor(type(value)):
                if is_simulated(name, field):
                    return False
            elif not schema.attribute_of(type(value), field).live:
                return False
            # The mass of a collider is a part of that of its body, which is summed up once.
            if isinstance(value, usd_physics.MassAPI) and not (
                (value.mass or 0.0) > 0.0 and edit.prim.get(usd_physics.RigidBodyAPI)
            ):
                return False
    return True


def _is_vendors(name: str) -> bool:
    """True for the name of a vendor API schema."""
    return schema.split_applied(name)[0] not in schema.SCHEMAS


def apply_live(world: World, edits: Difference) -> None:
    """Change values of a running world. edits: for which `are_live` is True."""
    for edit in edits.edits.values():
        changed: dict[str, set[str]] = {}
        for name, field in (*edit.values, *edit.cleared):
            changed.setdefault(name, set()).add(field)
        for name, fields in changed.items():
            live_values.apply(world, edit.prim, name, fields)
