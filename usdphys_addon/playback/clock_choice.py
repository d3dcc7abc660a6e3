# SPDX-License-Identifier: GPL-3.0-or-later
"""Which clock leads the preview, the timeline or that of the wall, and why."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Object, Scene

from ..bridge import scene_watch
from ..bridge.animated import DRIVER, animated_paths, curves_of, is_of_transform
from ..bridge.labels import label_of
from ..bridge.roles import has_physics, is_body, is_moved, parents_of
from ..core.words import Phrase, phrase
from . import guard

#: (number of updates, name of the scene) of the last look, and what it found.
_seen: dict[str, Any] = {"stamp": None, "reason": Phrase("")}


def leads_timeline(scene: Any) -> bool:
    """True if *Play* plays the timeline: by choice, or because something of the simulation is animated."""
    preview = scene.usdphys.preview
    return bool(preview.with_timeline or (not preview.by_clock and what_is_animated(scene)))


def last_reason(scene: Scene) -> Phrase:
    """`what_is_animated` of the last look, for a panel that is drawn often."""
    stamp = scene_watch.moves(), scene.name
    # While a preview runs, all updates are its own.
    if _seen["stamp"] != stamp and guard.current() is None:
        _seen.update(stamp=stamp, reason=what_is_animated(scene))
    reason: Phrase = _seen["reason"]
    return reason


def what_is_animated(scene: Scene) -> Phrase:
    """What is said about a value or body of the simulation that is animated; empty if none is."""
    # Most scenes have no animation at all, which is quick to see.
    objects = list(scene.objects) if any(obj.animation_data is not None for obj in scene.objects) else []
    for owner in (scene, *(obj for obj in objects if has_physics(obj)), *bpy.data.materials):
        for path, by in animated_paths(owner).items():
            field = phrase(label_of(owner, path))
            return phrase("'{field}' of '{name}' is animated by {by}", field=field, name=owner.name, by=phrase(by))
        if isinstance(owner, Object) and _is_led(owner):
            return phrase("'{name}' is animated", name=owner.name)
    return Phrase("")


def _is_led(obj: Any) -> bool:
    """True for a kinematic body or a static collider that keys of its own or of a parent move."""
    if is_moved(obj) or not (is_body(obj) or len(obj.usdphys.colliders)):
        return False
    return any(
        is_of_transform(curve.data_path) and by != DRIVER
        for one in (obj, *parents_of(obj)) for curve, by in curves_of(one)
    )  # fmt: skip
