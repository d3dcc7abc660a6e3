# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects of a scene show a bake. It is asked by panels, so it needs nothing of the simulation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bpy.types import Object, Scene

#: Custom property of a baked action: JSON of the authored transform and the name of the previous action.
MARK = "usdphys_bake"
#: Name of the modifiers that play points, by which they are found again.
POINTS = "Physics Points"


def baked(scene: Scene) -> list[str]:
    """Names of the objects of a scene that a bake has keyed, or that play its points."""
    return [*keyed(scene), *playing_points(scene)]


def keyed(scene: Scene) -> list[str]:
    """Names of the objects of a scene that a bake has keyed."""
    return [
        obj.name for obj in scene.objects
        if obj.animation_data is not None and obj.animation_data.action is not None
        and MARK in obj.animation_data.action.keys()
    ]  # fmt: skip


def playing_points(scene: Scene) -> list[str]:
    """Names of the objects of a scene that play points of a bake."""
    return [obj.name for obj in scene.objects if any(True for _ in point_modifiers(obj))]


def point_modifiers(obj: Object) -> Iterator[Any]:
    """The modifiers of an object that play points of a bake."""
    return (one for one in obj.modifiers if one.type == "MESH_CACHE" and one.name.split(".")[0] == POINTS)
