# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints have borne while a world was simulated: the last seconds, the largest loads, and what broke when."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from ..core.schema import Vector

if TYPE_CHECKING:
    from .world import World

#: Seconds of simulation that are kept for a plot, and the most values.
SECONDS, MOST = 4.0, 1000
_ZERO: Vector = (0.0, 0.0, 0.0)


class JointBreak(NamedTuple):
    """When a joint broke, s, at the end of that time step, and under which force (N) and torque (N m)."""

    seconds: float
    force: float
    torque: float


class JointLoads(NamedTuple):
    """values: (time in s, force in N, torque in N m) of the last time steps. most_force, most_torque: so far.

    force, torque: on the second body, at its joint frame and along its axes, after the last time step.
    """

    values: tuple[tuple[float, float, float], ...]
    most_force: float
    most_torque: float
    force: Vector
    torque: Vector
    broken: JointBreak | None


class LoadHistory:
    """Call `note` after each step of the world. Loads are kept of the watched joints, and breaks of all."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._kept = min(MOST, round(SECONDS / world.time_step) + 1)
        #: Joints that broke, in the order of breaking.
        self.breaks: dict[str, JointBreak] = {}
        self._values: dict[str, deque[tuple[float, float, float]]] = {}
        self._most: dict[str, tuple[float, float]] = {}

    def watch(self, path: str) -> None:
        """Measure a joint from the next time step on. Raises KeyError if it is not simulated."""
        if path not in self._values:
            self._world.joint_load(path)
            self._values[path], self._most[path] = deque(maxlen=self._kept), (0.0, 0.0)

    def note(self) -> None:
        """Keep the loads of the time step that the world has made."""
        world = self._world
        if len(world.broken_joints) != len(self.breaks):
            for path in world.broken_joints:
                self.breaks.setdefault(path, JointBreak(world.time, *world.joint_load(path)))
        for path, values in self._values.items():
            broken = self.breaks.get(path)
            force, torque = world.joint_load(path) if broken is None or broken.seconds == world.time else (0.0, 0.0)
            values.append((world.time, force, torque))
            most = self._most[path]
            self._most[path] = max(most[0], force), max(most[1], torque)

    def forget(self) -> None:
        """The world is at its start again."""
        self.breaks.clear()
        for path, values in self._values.items():
            values.clear()
            self._most[path] = 0.0, 0.0

    def loads_of(self, path: str) -> JointLoads:
        """What a joint has borne. It is watched from now on; raises KeyError if it is not simulated."""
        self.watch(path)
        broken = self.breaks.get(path)
        # The engine keeps the wrench under which a joint broke.
        is_held = broken is None or broken.seconds == self._world.time
        wrench = self._world.joint_wrench(path) if is_held else (_ZERO, _ZERO)
        return JointLoads(tuple(self._values[path]), *self._most[path], *wrench, broken)
