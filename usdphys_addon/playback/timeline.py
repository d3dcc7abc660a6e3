# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics on Blender's timeline: frames are simulated once, kept, and shown again when it returns to them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bpy.types import Context, Scene
from numpy.typing import NDArray

from ..core.steps import Steps
from ..core.words import named, phrase
from . import kept_frames
from .kept_frames import Events, Frame, Kept
from .session import PreviewSession

Floats = NDArray[np.floating]

#: Frames that one change of frame simulates at most: a slow scene falls behind instead of hanging, and a jump over
#: more frames shows the last simulated one.
MOST_FRAMES = 4


def time_steps_per_frame(scene: Scene) -> int:
    """Time steps in which the preview simulates a frame, so that it has at least the frequency of the scene."""
    return max(1, math.ceil(float(scene.usdphys.preview.frequency) / frame_rate(scene) - 1e-6))


def frame_rate(scene: Scene) -> float:
    """Frames per second."""
    return float(scene.render.fps / scene.render.fps_base)


class Timeline:
    """A preview session that is led by the current frame of its scene.

    The simulation begins at the frame at which the session was started. After an edit of the physics the bodies go on
    from the frame that is shown, as they moved in it; those before it are dropped. At the first frame they begin anew.
    Frames that the .blend keeps are taken if the physics is still that of them.
    """

    @classmethod
    def steps(cls, context: Context, *, only: frozenset[str] = frozenset()) -> Steps[Timeline]:
        """Start in steps. They raise MissingDependencyError and InputError as those of PreviewSession do."""
        frequency = frame_rate(context.scene) * time_steps_per_frame(context.scene)
        session = yield from PreviewSession.steps(context, frequency=frequency, only=only)
        return cls(context, session, None if only else kept_frames.load(context.scene))

    def __init__(self, context: Context, session: PreviewSession, kept: Kept | None = None) -> None:
        """session: at the frame rate of the scene times the time steps per frame. kept: of the .blend."""
        scene: Any = context.scene
        self._steps, self._rate = time_steps_per_frame(scene), frame_rate(scene)
        self.session = session
        self.start = int(scene.frame_current)
        #: The frame that the world has reached, and the one that is shown.
        self.front = self.shown = self.start
        #: The first frame that is kept: that of the last edit, if there was one.
        self.first = self.start
        #: What the last edit has done to the kept frames; empty if they begin at the start.
        self.edited = ""
        self._frames: dict[int, Frame] = {}
        places = self.session.led.places(context)
        #: The animated places of the kinematic bodies at the start, by the names of their objects.
        self._start_places = self._named(places)
        #: Where the parents of bodies are at the start that move by themselves.
        self._start_carriers = session.shown.carriers()
        #: The animated values at the start.
        self._start_values = session.values(context)
        self._keep(places, self._values(context))
        #: True while the world is at the start, and the front is a frame that the .blend keeps.
        self._is_behind = False
        #: Of the frames that the .blend keeps.
        self.events = Events([], [])
        if kept is not None and kept.start == self.start:
            self._take(scene, kept)

    def _take(self, scene: Scene, kept: Kept) -> None:
        """Show kept frames in place of simulating them, if they fit the scene as it is."""
        fits = kept.paths == self.session.world.paths and kept.digest == self.digest(scene)
        kept_frames.note_stale(scene, not fits)
        if not fits:
            return
        self._frames, self.front, self._is_behind = dict(kept.frames), max(kept.frames), True
        self.events = kept.events
        motion = self._frames[self.front].motion
        self._front_poses = motion.positions.astype(float), motion.rotations.astype(float)

    def digest(self, scene: Scene) -> str:
        """Of the physics with which the session began; while it has just begun."""
        return kept_frames.digest(scene, self.session.model, self._rate)

    @property
    def has_kept(self) -> bool:
        """True while all frames are those that the .blend keeps."""
        return self._is_behind

    def to_keep(self, digest: str, events: Events) -> Kept:
        """The frames, for the .blend. digest: of the start."""
        return Kept(self.start, digest, self.session.world.paths, dict(self._frames), events)

    def pose(self, frame: int) -> None:
        """Let the world hold the poses of a kept frame, without showing them."""
        kept = self._frames[frame].motion
        self.session.world.positions[:], self.session.world.rotations[:] = kept.positions, kept.rotations

    @property
    def kept(self) -> list[int]:
        """The frames that can be shown without simulating them, in order, without a gap."""
        return sorted(self._frames)

    def is_at_rate(self, scene: Scene) -> bool:
        """False if the frame rate or the frequency has changed: then the session must be started again."""
        return self._rate == frame_rate(scene) and self._steps == time_steps_per_frame(scene)

    def show_frame(self, context: Context) -> None:
        """Show the current frame of the scene; simulate it before if it is one of the next.

        Raises UnstableError and SlowStepError, after which the caller ends the session.
        """
        scene: Any = context.scene
        frame = max(int(scene.frame_current), self.start)
        animated = self.session.led.places(context)
        values = self._values(context)
        if scene.frame_current == self.start:
            self._start_places = self._named(animated)
            self._start_carriers = self.session.shown.carriers()
            self._start_values = self.session.values(context)
        is_anew = self._is_animated_anew(frame, scene, animated, values)
        # Where an edit begins: what is shown, or what is about to be.
        at = max(min(frame, self.shown), self.first)
        if is_anew or self.session.has_edits:
            self._take_edits(context, at, animated if is_anew and at == frame else None, is_anew=is_anew)
        if self.first != self.start and scene.frame_current == self.start:
            self._begin_anew(context)
        missing = frame - self.front
        if missing > 0 and (missing <= MOST_FRAMES or _plays(context)):
            self._simulate(context, frame, animated, values)
        self._show(context, max(min(frame, self.front), self.first))

    def _named(self, places: Any) -> dict[str, Any]:
        """Places of the kinematic bodies, as `animated_places`, by the names of their objects."""
        return dict(zip(self.session.led.names, places, strict=True))

    def note_updates(self, context: Context) -> None:
        """Remember where animated bodies begin, which only an update at the start says."""
        if context.scene is not None and context.scene.frame_current == self.start and self.session.has_edits:
            places = self.session.led.places(context)
            self._start_places = self._named(places)
            self._start_carriers = self.session.shown.carriers()

    def _take_edits(self, context: Context, at: int, places: Any, *, is_anew: bool) -> None:
        """Let the bodies go on from a kept frame with the edited physics, if there are edits.

        places: of the kinematic bodies, where they are not as kept. is_anew: their animation has changed.
        """
        kept, was_behind = self._frames[at], self._is_behind
        motion = kept.motion if places is None else self.session.led.placed(kept.motion, places)
        self._show_front()
        if is_anew:
            self.session.go_on_from(context, motion)
        elif not self.session.take_edits(context, None if at == self.front and not was_behind else motion):
            return
        self._is_behind = False
        kept_frames.note_stale(context.scene, True)
        self._frames.clear()
        self.events = Events([], [])
        if at == self.start:
            self._begin_anew(context)
            return
        if kept.broken and (is_anew or at != self.front or was_behind):
            names = named(self.session.model.prims[path].label or path for path in kept.broken)
            self._begin_anew(context)
            self.edited = phrase(
                "Scene edited: the simulation restarts at frame {start}, because {names} had broken.",
                start=self.start,
                names=names,
            )
            return
        self.first = self.front = self.shown = at
        self._keep(places if places is not None and len(places) == len(self.session.led.names) else None)
        self.edited = phrase(
            "Scene edited: the simulation continues from frame {first} and restarts at frame {start}.",
            first=at,
            start=self.start,
        )

    def _values(self, context: Context) -> dict[Any, Any]:
        """The animated values now, and where animation has the bodies that it moves at times."""
        return {**self.session.values(context), **self.session.led.places_at_times(context)}

    def _is_animated_anew(self, frame: int, scene: Scene, animated: Floats, values: dict[Any, Any]) -> bool:
        """True if the animation of a kinematic body or of a value has changed since this frame was simulated."""
        kept = self._frames.get(frame)
        if kept is None or kept.animated is None or frame != scene.frame_current:
            return False
        if kept.values is not None and not _are_equal(kept.values, values):
            return True
        return kept.animated.shape != animated.shape or not np.allclose(kept.animated, animated, rtol=1e-6, atol=1e-5)

    def _begin_anew(self, context: Context) -> None:
        """Build the world from the edited scene, as it is in the first frame."""
        self._is_behind = False
        self.session.restart(context)
        here = self.session.led.places(context)
        # A body that was not kinematic at the start is known where it is now.
        start_places = [
            self._start_places.get(name, place) for name, place in zip(self.session.led.names, here, strict=True)
        ]
        places = np.array(start_places, np.float32).reshape(-1, 4, 4)
        if self.session.shown.carriers().keys() & self._start_carriers.keys() or not np.allclose(
            places, here, rtol=1e-6, atol=1e-5
        ):
            # Blender has evaluated the scene at a later frame.
            motion = self.session.shown.carried(self.session.world.motion(), self._start_carriers)
            self.session.go_on_from(context, self.session.led.placed(motion, places))
        # Blender may show a later frame.
        self.session.live.jump(self._start_values)
        self._frames.clear()
        self.events = Events([], [])
        self.first = self.front = self.shown = self.start
        self.edited = ""
        self._keep(places)

    def _simulate(self, context: Context, frame: int, animated: Floats | None, values: dict[Any, Any]) -> None:
        """Simulate until a frame, but not too many. Animated bodies move evenly from the last simulated frame to it."""
        if self._is_behind and not self._catch_up(context):
            return
        self._show_front()
        self.session.aim(context, (frame - self.front) * self._steps)
        for _ in range(min(frame - self.front, MOST_FRAMES)):
            for _ in range(self._steps):
                self.session.play_on(context)
            self.front += 1
            is_known = self.front == frame
            self._keep(animated if is_known else None, values if is_known else None)

    def _catch_up(self, context: Context) -> bool:
        """Bring the world to the last kept frame, from which it goes on; False where it cannot begin there."""
        kept = self._frames[self.front]
        if kept.broken:
            names = named(self.session.model.prims[path].label or path for path in kept.broken)
            self.edited = phrase(
                "The cache ends at frame {last}: {names} had broken, so no simulation can go on from there.",
                last=self.front,
                names=names,
            )
            return False
        self.session.go_on_from(context, kept.motion)
        self.session.world.frame = (self.front - self.start) * self._steps
        self._is_behind = False
        return True

    def _keep(self, animated: Floats | None, values: dict[Any, Any] | None = None) -> None:
        self._front_poses = self._poses()
        world = self.session.world
        self._frames[self.front] = Frame(world.motion(), animated, tuple(world.broken_joints), values)

    def _poses(self) -> tuple[Any, Any]:
        world = self.session.world
        return world.positions.copy(), world.rotations.copy()

    def _show_front(self) -> None:
        """Let the arrays of the world, which show any frame, hold its state again."""
        world = self.session.world
        world.positions[:], world.rotations[:] = self._front_poses

    def _show(self, context: Context, frame: int) -> None:
        """Show a kept frame."""
        world = self.session.world
        if frame != self.front:
            kept = self._frames[frame].motion
            world.positions[:], world.rotations[:] = kept.positions, kept.rotations
        else:
            self._show_front()
        self.shown = frame
        self.session.broken_shown = self._frames[frame].broken
        self.session.time_shown = (frame - self.start) / self._rate
        self.session.show_all(context)


def _are_equal(first: dict[Any, Any], second: dict[Any, Any]) -> bool:
    """True for equal values of the same things, up to rounding."""
    return first.keys() == second.keys() and all(
        value == second[key] if isinstance(value, bool | str) else np.allclose(value, second[key], rtol=1e-6, atol=1e-5)
        for key, value in first.items()
    )


def _plays(context: Context) -> bool:
    """True while Blender plays the timeline, which may skip frames."""
    screen = context.screen
    return screen is not None and bool(screen.is_animation_playing)
