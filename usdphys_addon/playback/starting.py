# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts a preview session in slices, between which Blender handles events."""

from __future__ import annotations

from typing import Any

from bpy.types import Context

from ..bridge import scene_watch, stand_ins
from ..core.steps import Next, Steps, advance
from ..system.collector import gc_paused
from . import kept_frames
from .session import PreviewSession
from .timeline import Timeline


class Starting:
    """A session that is being started. Before it is `done`, the scene has changed only as by `stand_ins.make`."""

    def __init__(
        self, context: Context, *, with_timeline: bool, frequency: float = 0.0, only: frozenset[str] = frozenset()
    ) -> None:
        """frequency: time steps in a second, for a session without the timeline; 0: that of the scene.

        only: names of the objects that move, with what is tied to them; empty: all.
        """
        self.with_timeline, self.frequency, self.only = with_timeline, frequency, only
        #: Completed part of the work.
        self.fraction = 0.0
        #: Slices that were made.
        self.slices = 0
        self.done: PreviewSession | Timeline | None = None
        #: The frame that is shown once it is done, if it began at another one; None for no other.
        self.back_to: int | None = None
        if with_timeline and not only:
            self._go_to_start(context.scene)
        self._begin(context)

    def _go_to_start(self, scene: Any) -> None:
        """Begin where the frames began that the .blend keeps, if the current one is among them."""
        kept = kept_frames.about(scene)
        if kept is not None and kept.start < scene.frame_current <= kept.end:
            self.back_to = scene.frame_current
            scene.frame_set(kept.start)

    def _begin(self, context: Context) -> None:
        stand_ins.make(context)  # before the state is noted, which it changes
        self._state = _state(context)
        self._steps: Steps[PreviewSession | Timeline]
        if self.with_timeline:
            self._steps = Timeline.steps(context, only=self.only)
        else:
            self._steps = PreviewSession.steps(context, frequency=self.frequency, only=self.only)

    def advance(self, context: Context, seconds: float) -> bool:
        """Work for some seconds. Returns True when the session has begun.

        A scene that has changed since the last slice is read anew, and then at once: it may change all the time.
        Raises MissingDependencyError and InputError.
        """
        if _state(context) != self._state:
            self._steps.close()
            self._begin(context)
            seconds = float("inf")
        self.slices += 1
        try:
            with gc_paused():
                self.fraction = advance(self._steps, seconds)
        except StopIteration as finished:
            self.done = finished.value
            if not (isinstance(self.done, Timeline) and self.done.has_kept):
                self.back_to = None
        return self.done is not None

    @property
    def about(self) -> str:
        """What the next step makes, if that takes long and cannot be cut; else empty."""
        return self.fraction.about if isinstance(self.fraction, Next) else ""

    def close(self) -> None:
        """Give up, unless it is done."""
        self._steps.close()
        if self.done is None:
            stand_ins.remove()


def _state(context: Context) -> tuple[int, str, str]:
    """What a change of the scene changes: after an update, which frees the evaluated objects that it replaces."""
    context.view_layer.update()
    return scene_watch.moves(), context.scene.name, context.view_layer.name
