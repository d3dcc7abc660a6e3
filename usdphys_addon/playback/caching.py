# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate frames of the timeline into the cache of the .blend, with markers of events; and take it out again."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from bpy.types import Context, Scene

from ..core.errors import InputError
from ..core.steps import Next
from . import bake, kept_frames
from . import guard as preview_guard
from .kept_frames import About
from .starting import Starting
from .timeline import Timeline


def cache_steps(context: Context, start: int, end: int) -> Generator[float, None, About]:
    """Simulate from the authored poses at frame `start` to frame `end`, and keep all frames in the .blend.

    An earlier cache and bake are removed first. Yields the completed fraction; closing the generator leaves no cache.
    Raises InputError if there is nothing to simulate.
    """
    if end <= start:
        raise InputError(f"The frame range {start} to {end} is empty; choose a later end.")
    scene: Any = context.scene
    preview_guard.stop()
    drop(scene)
    bake.clear_bake(scene)
    before = scene.frame_current
    scene.frame_set(start)
    work = Starting(context, with_timeline=True)
    leader: Any = None
    try:
        while not work.advance(context, bake.SLICE):
            yield Next(bake.STARTED * work.fraction, work.about) if work.about else bake.STARTED * work.fraction
        leader = work.done
        assert isinstance(leader, Timeline)
        digest = leader.digest(scene)
        bake.watch_contacts(scene, leader.session)
        for frame in range(start + 1, end + 1):
            scene.frame_set(frame)
            leader.show_frame(context)
            yield bake.STARTED + (1.0 - bake.STARTED) * (frame - start) / (end - start)
        if leader.kept != list(range(start, end + 1)):
            raise InputError("The physics changed while it was simulated, so no frames were kept; try again.")
        events = bake.events_of(leader.session, start, scene.render.fps / scene.render.fps_base)
        made = kept_frames.store(scene, leader.to_keep(digest, events))
    finally:
        work.close()
        if leader is not None:
            leader.session.stop()
        scene.frame_set(before)
    scene.usdphys.preview.with_timeline = True
    mark(scene)
    return made


def mark(scene: Scene) -> None:
    """Set the markers of what happens in the kept frames."""
    kept = kept_frames.load(scene)
    if kept is not None:
        bake.mark(scene, kept.events)


def drop(scene: Scene) -> bool:
    """Take the cache out of the .blend, and its markers unless they are those of a bake. Returns if there was one."""
    if not kept_frames.drop(scene):
        return False
    if not bake.baked(scene):
        bake.unmark(scene)
    return True
