# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene remembers of the constructions that generators have made in it; see `generators.records`."""

from __future__ import annotations

import json
from typing import Any

from bpy.types import Scene

from .joint_frames import is_joint

#: The state of something that a removal leaves as it is.
_AS_IT_IS = json.dumps({"physics": {}, "parent": None, "place": None, "materials": None})


def forget_deleted(scene: Scene) -> None:
    """Drop what the user has deleted: a pointer would keep it in the file."""
    constructions: Any = scene.usdphys.constructions if "constructions" in scene.usdphys.keys() else ()
    for number in reversed(range(len(constructions))):
        item = constructions[number]
        for listed in (item.made, item.changed):
            for place in reversed(range(len(listed))):
                if _is_gone(listed[place], scene):
                    if getattr(listed[place], "whole", None) is not None:
                        _keep_pieces(item)
                    listed.remove(place)
        for one in (*item.references, *item.selected):
            if one.object is not None and scene not in one.object.users_scene:
                one.object = None
        if not len(item.made) and not len(item.changed):
            constructions.remove(number)


def _keep_pieces(item: Any) -> None:
    """Leave the pieces of an object that was deleted to the user: nothing can make them whole again."""
    for place in reversed(range(len(item.made))):
        piece = item.made[place].object
        if not is_joint(piece):
            item.made.remove(place)
            # It has a part in the construction, and keeps what it has.
            kept = item.changed.add()
            kept.object, kept.before, kept.after = piece, _AS_IT_IS, _AS_IT_IS


def _is_gone(one: Any, scene: Scene) -> bool:
    if one.object is None:
        return getattr(one, "material", None) is None
    return scene not in one.object.users_scene
