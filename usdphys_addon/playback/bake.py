# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake the preview into keyframes over a frame range, and remove them again."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Generator
from dataclasses import asdict
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Object, Scene

from ..bridge import stand_ins
from ..bridge.authored_poses import Transform, lead, restored
from ..bridge.identity.remembered import objects_by_name
from ..core.errors import InputError
from ..core.frames import without_jumps
from ..core.steps import Next, finished
from . import guard as preview_guard
from . import kept_frames, point_bake
from .baked_objects import MARK as MARK
from .baked_objects import baked as baked
from .baked_objects import keyed
from .kept_frames import Events
from .starting import Starting
from .timeline import Timeline

#: Part of the progress in which the session is started, and the seconds of a slice of that.
STARTED, SLICE = 0.1, 0.05
#: Custom property of a scene: JSON of the markers (frame, name) that the bake has set, which have no properties.
MARKERS = "usdphys_bake_markers"


def bake_steps(context: Context, start: int, end: int) -> Generator[float, None, int]:
    """Simulate from the authored poses at frame `start` to frame `end`, and key every body on every frame.

    Frames that the .blend keeps are taken as they are, if all are there and fit the scene. An earlier bake is removed
    first. Yields the completed fraction; keys are written at the end, so closing the generator leaves none.
    Returns the number of objects. Raises InputError if there is nothing to bake.
    """
    if end <= start:
        raise InputError(f"The frame range {start} to {end} is empty; choose a later end.")
    scene: Any = context.scene
    preview_guard.stop()
    clear_bake(scene)
    before = scene.frame_current
    fps = scene.render.fps / scene.render.fps_base
    substeps = max(1, math.ceil(scene.usdphys.preview.frequency / fps))
    scene.frame_set(start)
    kept = kept_frames.about(scene)
    is_kept = kept is not None and kept.start == start and kept.end >= end
    work = Starting(context, with_timeline=is_kept, frequency=fps * substeps)
    places, turns = [], []
    session: Any = None
    try:
        while not work.advance(context, SLICE):
            yield Next(STARTED * work.fraction, work.about) if work.about else STARTED * work.fraction
        leader = work.done if isinstance(work.done, Timeline) else None
        session = work.done if leader is None else leader.session
        authored = dict(session.shown.authored)
        # Frames of the cache are keyed as they are.
        cached = leader if leader is not None and leader.has_kept else None
        if cached is None:
            watch_contacts(scene, session)
        for frame in range(start, end + 1):
            if cached is not None:
                cached.pose(frame)
            else:
                _simulate_frame(context, session, frame, substeps if frame > start else 0)
            if session.shown.carriers():
                # Keys are in the space of the parents, as these are in the frame.
                scene.frame_set(frame)
            location, quaternion = session.shown.local_poses()
            places.append(location)
            turns.append(quaternion)
            yield STARTED + (1.0 - STARTED) * (frame - start) / (end - start)
        stand_ins.until(stand_ins.BAKE)
    finally:
        work.close()
        if session is not None:
            session.stop()
        scene.frame_set(before)
    names = session.shown.moving
    mark(scene, events_of(session, start, fps) if cached is None else cached.events)
    key(names, authored, np.arange(start, end + 1), np.stack(places), without_jumps(np.stack(turns)))
    scene.frame_set(before)
    return len(names)


def _simulate_frame(context: Context, session: Any, frame: int, substeps: int) -> None:
    """Simulate from the frame before to a frame, in so many time steps."""
    scene: Any = context.scene
    for part in range(1, substeps + 1):
        if session.led or session.animated:
            # Move animated bodies evenly through the substeps, not in one jump per frame; values, too.
            now = frame - 1 + part / substeps
            scene.frame_set(int(now), subframe=now - int(now))
        session.simulate(context)


def bake(context: Context, start: int, end: int) -> int:
    """Run `bake_steps` to the end. Returns the number of objects."""
    return finished(bake_steps(context, start, end))


def key(names: list[str], authored: dict[str, Transform], frames: Any, places: Any, turns: Any) -> None:
    """Give objects keyframes that `clear_bake` removes. places (f, n, 3), turns (f, n, 4): local, at each frame."""
    objects = objects_by_name(with_linked=True)
    for row, name in enumerate(names):
        obj: Any = objects.get(name)
        if obj is None:
            continue
        data = obj.animation_data_create()
        old = data.action
        action = bpy.data.actions.new(f"{name} Bake")
        action[MARK] = json.dumps({"authored": asdict(authored[name]), "action": old.name if old else ""})
        if old is not None:
            old.use_fake_user = True
        data.action = action
        curves = _curves(action, obj)
        lead(obj)
        for path, values in (("location", places[:, row]), ("rotation_quaternion", turns[:, row])):
            for index in range(values.shape[1]):
                curve = curves.new(path, index=index)
                curve.keyframe_points.add(len(frames))
                curve.keyframe_points.foreach_set("co", np.stack([frames, values[:, index]], 1).ravel())
                curve.keyframe_points.foreach_set("interpolation", np.ones(len(frames), np.int32))
                curve.update()


def watch_contacts(scene: Any, session: Any) -> None:
    """Have a session keep the contacts that are marked in the timeline, if they are wanted."""
    if scene.usdphys.preview.marks_contacts:
        session.watch_contacts(scene.usdphys.preview.least_impulse)


def events_of(session: Any, start: int, fps: float) -> Events:
    """What has happened in a session that began at a frame."""
    return Events(
        [(start + each.seconds * fps, label) for label, each in session.broken.items()],
        [(start + seconds * fps, first, second) for seconds, first, second in session.contacts],
    )


def mark(scene: Any, events: Events) -> None:
    """Set a marker at each frame in which joints break or contacts begin, with the names of one, or how many."""
    breaks, hits = breaks_by_frame(events), defaultdict[int, list[str]](list)
    for at, first, second in events.contacts:
        hits[_shown_at(at)].append(f"{first} hits {second}")
    frames = sorted(breaks.keys() | hits.keys())
    for frame in frames:
        broken = [f"{label} breaks" for label in breaks.get(frame, ())]
        name = ", ".join((*_few(broken, "joints break"), *_few(hits[frame], "contacts")))
        scene.timeline_markers.new(name, frame=frame)
    if frames:
        markers = scene.timeline_markers[-len(frames) :]
        scene[MARKERS] = json.dumps([(marker.frame, marker.name) for marker in markers])


def breaks_by_frame(events: Events) -> dict[int, list[str]]:
    """Labels of the joints that break, by the first frame that shows it, in the order of the frames."""
    breaks = defaultdict[int, list[str]](list)
    for at, label in sorted(events.breaks):
        breaks[_shown_at(at)].append(label)
    return dict(breaks)


def _shown_at(at: float) -> int:
    """The first frame that shows an event."""
    return math.ceil(at - 1e-6)


def _few(names: list[str], what: str) -> list[str]:
    return names if len(names) < 2 else [f"{len(names)} {what}"]


def unmark(scene: Any) -> None:
    """Remove the markers of the last bake; those that were moved or renamed since are the user's."""
    set_by_us = {(frame, name) for frame, name in json.loads(scene.pop(MARKERS, "[]"))}
    for marker in list(scene.timeline_markers):
        if (marker.frame, marker.name) in set_by_us:
            scene.timeline_markers.remove(marker)


def _curves(action: Any, obj: Object) -> Any:
    """The F-curve collection of a new action for an object, with a new slot assigned to it."""
    slot = action.slots.new("OBJECT", obj.name)
    strip = action.layers.new("Bake").strips.new(type="KEYFRAME")
    obj.animation_data.action_slot = slot
    return strip.channelbag(slot, ensure=True).fcurves


def clear_bake(scene: Scene) -> int:
    """Remove what the last bake made, and restore the authored transforms. Returns the number of objects.

    Instances for which objects were baked are shown again. A preview ends before, which would put back what it found.
    """
    if baked(scene):
        preview_guard.stop()
    unmark(scene)
    names, objects = keyed(scene), objects_by_name(with_linked=True)
    for name in names:
        obj: Any = objects[name]
        action = obj.animation_data.action
        note = json.loads(action[MARK])
        obj.animation_data.action = bpy.data.actions.get(note["action"])
        bpy.data.actions.remove(action)
        if obj.animation_data.action is None and not obj.animation_data.drivers and not obj.animation_data.nla_tracks:
            obj.animation_data_clear()
        restored(obj, Transform(**note["authored"]))
    count = len(names) + point_bake.clear(scene)
    stand_ins.remove(stand_ins.BAKE, scene)
    return count
