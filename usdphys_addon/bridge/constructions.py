# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene remembers of the constructions that generators have made in it; see `generators.records`."""

from __future__ import annotations

from typing import Any

from bpy.types import Scene


def forget_deleted(scene: Scene) -> None:
    """Drop what the user has deleted: a pointer would keep it in the file."""
    constructions: Any = scene.usdphys.constructions if "constructions" in scene.usdphys.keys() else ()
    for number in reversed(range(len(constructions))):
        item = constructions[number]
        for listed in (item.made, item.changed):
            for place in reversed(range(len(listed))):
                if _is_gone(listed[place], scene):
                    listed.remove(place)
        for one in (*item.references, *item.selected):
            if one.object is not None and scene not in one.object.users_scene:
                one.object = None
        if not len(item.made) and not len(item.changed):
            constructions.remove(number)


def _is_gone(one: Any, scene: Scene) -> bool:
    if one.object is None:
        return getattr(one, "material", None) is None
    return scene not in one.object.users_scene
