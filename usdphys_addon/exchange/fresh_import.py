# SPDX-License-Identifier: GPL-3.0-or-later
"""The source of a scene, imported into a scene of its own: values, data and whole objects are taken from there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import bpy
from bpy.types import ID, Context, Material, Object, Scene


@dataclass(slots=True)
class Fresh:
    """A new import of a source. objects, materials, items: by path in the source. kept: what the open scene has taken.
    """  # fmt: skip

    scene: Scene
    objects: dict[str, Object] = field(default_factory=dict)
    materials: dict[str, Material] = field(default_factory=dict)
    items: dict[str, Any] = field(default_factory=dict)
    kept: list[ID] = field(default_factory=list)


@contextmanager
def imported_anew(context: Context, meters: float, run: Callable[[Fresh], object]) -> Iterator[Fresh]:
    """What `run` imports, in a scene that is gone afterwards with all that nobody has taken.

    run: called with the scene as that of the context; fills in the objects, materials and items. meters: length of a
    Blender unit in that scene.
    """
    shown: Any = context.scene
    kinds = [item.identifier for item in bpy.data.bl_rna.properties if item.type == "COLLECTION"]
    before = {item.session_uid for kind in kinds for item in getattr(bpy.data, kind)}
    made: Any = bpy.data.scenes.new("Source")
    made.unit_settings.scale_length = meters
    # Without a screen, the context may name none.
    window: Any = context.window or next(iter(context.window_manager.windows))
    fresh = Fresh(made)
    try:
        window.scene = made
        made.frame_set(shown.frame_current, subframe=shown.frame_subframe)
        run(fresh)
        window.scene = shown
        yield fresh
    finally:
        window.scene = shown
        _drop(fresh, before, kinds)


def _drop(fresh: Fresh, before: set[int], kinds: list[str]) -> None:
    """Remove the scene, its objects, and what else is new and used by nobody."""
    kept = {item.session_uid for item in fresh.kept}
    objects = [obj for obj in bpy.data.objects if obj.session_uid not in before | kept]
    bpy.data.batch_remove([*objects, fresh.scene])
    while True:
        idle = [
            item for kind in kinds for item in getattr(bpy.data, kind)
            if item.session_uid not in before | kept and item.users - item.use_fake_user <= 0
        ]  # fmt: skip
        if not idle:
            return
        bpy.data.batch_remove(idle)
