# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics on Blender's timeline: frames are simulated once, kept, and shown again when it returns to them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..core.steps import Steps
from .session import PreviewSession

#: Frames that one change of frame simulates at most: a slow scene falls behind instead of hanging, and a jump over
#: more frames shows the last simulated one.
MOST_FRAMES = 4


class _Frame(NamedTuple):
    """Positions (n, 3), m, and quaternions (n, 4) of all bodies, in the precision of Blender's properties.

    animated: (k, 4, 4), world matrices of the animated kinematic bodies; None if Blender has skipped the frame.
    """

    positions: Any
    rotations: Any
    animated: Any


def time_steps_per_frame(scene: Any) -> int:
    """Time steps in which the preview simulates a frame, so that it has at least the frequency of the scene."""
    return max(1, math.ceil(float(scene.usdphys.preview.frequency) / frame_rate(scene) - 1e-6))


def frame_rate(scene: Any) -> float:
    """Frames per second."""
    return float(scene.render.fps / scene.render.fps_base)


class Timeline:
    """A preview session that is led by the current frame of its scene.

    The simulation begins at the frame at which the session was started. An edit of the physics drops all kept frames:
    from the current frame on the bodies go on as they are in the world. At the first frame they begin anew.
    """

    @classmethod
    def steps(cls, context: bpy.types.Context) -> Steps[Timeline]:
        """Start in steps. They raise MissingDependencyError and InputError as those of PreviewSession do."""
        frequency = frame_rate(context.scene) * time_steps_per_frame(context.scene)
        session = yield from PreviewSession.steps(context, frequency=frequency)
        return cls(context, session)

    def __init__(self, context: bpy.types.Context, session: PreviewSession) -> None:
        """session: at the frame rate of the scene times the time steps per frame."""
        scene: Any = context.scene
        self._steps, self._rate = time_steps_per_frame(scene), frame_rate(scene)
        self.session = session
        self.start = int(scene.frame_current)
        #: The frame that the world has reached, and the one that is shown.
        self.front = self.shown = self.start
        self._frames: dict[int, _Frame] = {}
        self._is_outdated = False
        self._keep(self.session.animated_places(context))

    @property
    def kept(self) -> list[int]:
        """The frames that can be shown without simulating them, in order."""
        return sorted(self._frames)

    def is_at_rate(self, scene: Any) -> bool:
        """False if the frame rate or the frequency has changed: then the session must be started again."""
        return self._rate == frame_rate(scene) and self._steps == time_steps_per_frame(scene)

    def show_frame(self, context: bpy.types.Context) -> None:
        """Show the current frame of the scene; simulate it before if it is one of the next.

        Raises UnstableError and SlowStepError, after which the caller ends the session.
        """
        scene: Any = context.scene
        frame = max(int(scene.frame_current), self.start)
        animated = self.session.animated_places(context)
        if self._take_edits(context) or self._is_animated_anew(frame, scene, animated):
            self._frames.clear()
            self._is_outdated = True
            # After an edit at the first frame, the world of a later one must not be shown.
            begins = self.shown == self.start < self.front
            self.front = min(frame, self.front)
            if begins:
                self._begin_anew(context, animated)
        if self._is_outdated and scene.frame_current == self.start:
            self._begin_anew(context, animated)
        missing = frame - self.front
        if missing > 0 and (missing <= MOST_FRAMES or _plays(context)):
            self._simulate(context, frame, animated)
        self._show(context, min(frame, self.front))

    def _take_edits(self, context: bpy.types.Context) -> bool:
        """Let the world follow edits of the physics. True if there were any."""
        if not self.session.has_edits:
            return False
        self._show_front()
        found = self.session.take_edits(context)
        # The world may be another one now.
        self._front_poses = self._poses()
        return found

    def _is_animated_anew(self, frame: int, scene: Any, animated: Any) -> bool:
        """True if the animation of a kinematic body has changed since this frame was simulated."""
        kept = self._frames.get(frame)
        if kept is None or kept.animated is None or frame != scene.frame_current:
            return False
        return kept.animated.shape != animated.shape or not np.allclose(kept.animated, animated, rtol=1e-6, atol=1e-5)

    def _begin_anew(self, context: bpy.types.Context, animated: Any) -> None:
        """Build the world from the edited scene; the current frame is the first."""
        self.session.restart(context)
        self.front, self._is_outdated = self.start, False
        self._keep(animated)

    def _simulate(self, context: bpy.types.Context, frame: int, animated: Any) -> None:
        """Simulate until a frame, but not too many. Animated bodies move evenly from the last simulated frame to it."""
        self._show_front()
        self.session.animate(context, (frame - self.front) * self._steps)
        for _ in range(min(frame - self.front, MOST_FRAMES)):
            for _ in range(self._steps):
                self.session.play_on(context)
            self.front += 1
            if not self._is_outdated:
                self._keep(animated if self.front == frame else None)
        self._front_poses = self._poses()

    def _keep(self, animated: Any) -> None:
        self._front_poses = self._poses()
        positions, rotations = (poses.astype(np.float32) for poses in self._front_poses)
        self._frames[self.front] = _Frame(positions, rotations, animated)

    def _poses(self) -> tuple[Any, Any]:
        world = self.session.world
        return world.positions.copy(), world.rotations.copy()

    def _show_front(self) -> None:
        """Let the arrays of the world, which show any frame, hold its state again."""
        world = self.session.world
        world.positions[:], world.rotations[:] = self._front_poses

    def _show(self, context: bpy.types.Context, frame: int) -> None:
        """Show a kept frame; the state of the world where an edit has dropped it."""
        kept = self._frames.get(frame)
        world = self.session.world
        if kept is not None and frame != self.front:
            world.positions[:], world.rotations[:] = kept.positions, kept.rotations
        else:
            self._show_front()
        self.shown = frame
        self.session.time_shown = (frame - self.start) / self._rate
        self.session.show_all(context)


def _plays(context: bpy.types.Context) -> bool:
    """True while Blender plays the timeline, which may skip frames."""
    screen = context.screen
    return screen is not None and bool(screen.is_animation_playing)
