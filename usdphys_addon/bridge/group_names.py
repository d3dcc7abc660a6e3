# SPDX-License-Identifier: GPL-3.0-or-later
"""Renames a collision group together with the memberships and filters that refer to it by name."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import PropertyGroup

from ..core import paths


def _set_name(group: PropertyGroup, typed: str) -> None:
    """Rename a group of a scene. An empty name is ignored; a taken one gets a number."""
    scene, old = group.id_data, group.name
    if not typed or typed == old:
        return
    taken = {other.name for other in scene.usdphys.collision_groups} - {old}
    group.name = new = paths.free(typed, taken.__contains__, "{}", 2)
    for obj in bpy.data.objects:
        physics = obj.usdphys
        touched = physics.keys()
        memberships = list(physics.collision_groups) if "collision_groups" in touched else []
        for collider in physics.colliders if "colliders" in touched else ():
            memberships += collider.collision_groups
        _replace(memberships, old, new)
    for other in scene.usdphys.collision_groups:
        _replace(other.filtered_groups, old, new)


def _replace(references: Any, old: str, new: str) -> None:
    for item in references:
        if item.name == old:
            item.name = new


def editable_name() -> Any:
    """A property without storage that shows the name of the group and renames it; `name` alone renames nothing else."""
    return bpy.props.StringProperty(
        name="Name", description="Name of the collision group; its members and filters follow a new name",
        get=lambda group: str(group.name), set=_set_name,
    )  # fmt: skip
