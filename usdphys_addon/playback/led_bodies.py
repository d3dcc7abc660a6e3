# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematic bodies of a preview, which follow their objects: moved by hand, by animation or by constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..core import frames

if TYPE_CHECKING:
    from ..simulation.world import Motion, World


class LedBodies:
    """The kinematic bodies of a world that have objects."""

    def __init__(self, context: bpy.types.Context, world: World, names: list[str], meters: float) -> None:
        """names: of the objects of the bodies of the world, "" for none. meters: of a Blender unit."""
        self._world, self._meters = world, meters
        self._bodies = [
            (path, name) for path, name, held in zip(world.paths, names, world.kinematic, strict=True) if held and name
        ]
        self._places: dict[str, Any] = {}
        #: Goals by path: position (3,), m, quaternion (4,), and the steps left to reach them.
        self._ways: dict[str, tuple[Any, Any, int]] = {}
        self._frame = _frame(context)

    def __len__(self) -> int:
        return len(self._bodies)

    @property
    def names(self) -> list[str]:
        """Names of the objects, in the order of `places`."""
        return [name for _, name in self._bodies]

    def places(self, context: bpy.types.Context) -> Any:
        """World matrices (k, 4, 4) of the evaluated objects, Blender units."""
        depsgraph = context.evaluated_depsgraph_get()
        found = [bpy.data.objects.get(name) for _, name in self._bodies]
        places = [np.eye(4) if obj is None else obj.evaluated_get(depsgraph).matrix_world for obj in found]
        return np.array(places, np.float32).reshape(-1, 4, 4)

    def placed(self, motion: Motion, places: Any) -> Motion:
        """A motion in which these bodies are at world matrices (k, 4, 4), Blender units, as `places`."""
        positions, rotations = motion.positions.copy(), motion.rotations.copy()
        for (path, _), place in zip(self._bodies, places, strict=True):
            row = self._world.index(path)
            positions[row] = place[:3, 3] * self._meters
            rotations[row] = frames.quaternion_of(frames.rotation_of(place.astype(float)))
        return motion._replace(positions=positions, rotations=rotations)

    def aim(self, context: bpy.types.Context, steps: int) -> None:
        """Let the bodies reach their objects, as these are now, in so many time steps, not in those of one frame."""
        self._places.clear()
        self._frame = _frame(context)
        self._find_goals(context, steps)

    def move(self, context: bpy.types.Context) -> None:
        """Move the bodies on towards their objects by one time step.

        The movement of one frame of the timeline is spread evenly over its time steps; all of it in the first step
        would give a speed that is not the animated one.
        """
        if not self._bodies:
            return
        scene: Any = context.scene
        turned, self._frame = abs(_frame(context) - self._frame), _frame(context)
        lasts = min(turned, 1.0) * scene.render.fps_base / scene.render.fps
        self._find_goals(context, max(1, round(lasts / self._world.time_step)))
        for path, (place, goal, left) in list(self._ways.items()):
            del self._ways[path]
            row = self._world.index(path)
            here, now = self._world.positions[row], self._world.rotations[row]
            part = 1.0 / left
            turn = now * (1.0 - part) + goal * (part if now @ goal >= 0.0 else -part)
            self._world.set_kinematic_pose(path, here + (place - here) * part, turn)
            if left > 1:
                self._ways[path] = (place, goal, left - 1)

    def _find_goals(self, context: bpy.types.Context, steps: int) -> None:
        """Set the goals of the bodies whose objects have moved."""
        if not self._bodies:
            return
        depsgraph = context.evaluated_depsgraph_get()
        for path, name in self._bodies:
            obj = bpy.data.objects.get(name)
            if obj is None:
                continue
            matrix = obj.evaluated_get(depsgraph).matrix_world
            if self._places.get(path) != matrix:
                self._places[path] = matrix.copy()
                world = np.array(matrix)
                goal = np.array(frames.quaternion_of(frames.rotation_of(world)))
                self._ways[path] = (world[:3, 3] * self._meters, goal, steps)


def _frame(context: bpy.types.Context) -> float:
    return float(context.scene.frame_current_final)
