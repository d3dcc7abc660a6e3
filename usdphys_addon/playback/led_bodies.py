# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematic bodies of a preview, which follow their objects: moved by hand, by animation or by constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..core import frames

if TYPE_CHECKING:
    from ..simulation.live_values import HandOver, Ties
    from ..simulation.world import Motion, World
    from .shown_bodies import ShownBodies


class LedBodies:
    """The kinematic bodies of a world that have objects, and those that animation and physics move in turn.

    The objects of the latter show the simulation all the time, so that their animation is asked for beside it.
    """

    def __init__(self, context: bpy.types.Context, world: World, shown: ShownBodies, hand_over: HandOver) -> None:
        self._world, self._shown, self._meters = world, shown, shown.meters
        self._hand_over = hand_over
        rows = list(zip(world.paths, shown.names, world.kinematic, strict=True))
        moves = world.switching | world.coasting.keys()
        self._bodies = [(path, name) for path, name, held in rows if held and name and path not in moves]
        #: Those that are kinematic at times and have an animation to follow then.
        self._at_times = {path: name for path, name, _ in rows if name and path in shown.animated}
        self._places: dict[str, Any] = {}
        #: Goals by path: position (3,), m, quaternion (4,), and the steps left to reach them.
        self._ways: dict[str, tuple[Any, Any, int]] = {}
        #: Where the animation has the bodies that it moves at times.
        self._along: dict[str, tuple[Any, Any]] = {}
        self._frame = _frame(context)

    def __len__(self) -> int:
        return len(self._bodies) + len(self._at_times)

    @property
    def names(self) -> list[str]:
        """Names of the objects of the bodies that are kinematic all the time, in the order of `places`."""
        return [name for _, name in self._bodies]

    def places(self, context: bpy.types.Context) -> Any:
        """World matrices (k, 4, 4) of the evaluated objects, Blender units."""
        depsgraph = context.evaluated_depsgraph_get()
        objects = [bpy.data.objects.get(name) for _, name in self._bodies]
        places = [np.eye(4) if obj is None else obj.evaluated_get(depsgraph).matrix_world for obj in objects]
        return np.array(places, np.float32).reshape(-1, 4, 4)

    def places_at_times(self, context: bpy.types.Context) -> dict[str, Any]:
        """World matrices (4, 4) that the animation has for the bodies that it moves at times, by path."""
        by_name = self._shown.animated_places(context, self._at_times.values()) if self._at_times else {}
        return {path: by_name[name] for path, name in self._at_times.items() if name in by_name}

    def placed(self, motion: Motion, places: Any) -> Motion:
        """A motion in which these bodies are at world matrices (k, 4, 4), Blender units, as `places`."""
        positions, rotations = motion.positions.copy(), motion.rotations.copy()
        for (path, _), place in zip(self._bodies, places, strict=True):
            positions[self._world.index(path)], rotations[self._world.index(path)] = self._pose(place)
        return motion._replace(positions=positions, rotations=rotations)

    def _pose(self, matrix: Any) -> tuple[Any, Any]:
        """Position (3,), m, and quaternion (4,) of a world matrix in Blender units."""
        world = np.array(matrix, float)
        return world[:3, 3] * self._meters, np.array(frames.quaternion_of(frames.rotation_of(world)))

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
        if not len(self):
            return
        scene: Any = context.scene
        turned, self._frame = abs(_frame(context) - self._frame), _frame(context)
        lasts = min(turned, 1.0) * scene.render.fps_base / scene.render.fps
        self._find_goals(context, max(1, round(lasts / self._world.time_step)))
        for path, (place, goal, left) in list(self._ways.items()):
            del self._ways[path]
            row = self._world.index(path)
            here, now = self._along.get(path) or (self._world.positions[row], self._world.rotations[row])
            part = 1.0 / left
            turn = now * (1.0 - part) + goal * (part if now @ goal >= 0.0 else -part)
            self._lead(path, here + (place - here) * part, turn / np.linalg.norm(turn))
            if left > 1:
                self._ways[path] = (place, goal, left - 1)

    def _lead(self, path: str, place: Any, turn: Any) -> None:
        """Move a body to where its animation has it, if that moves it now."""
        if path in self._at_times:
            self._along[path] = place, turn
            place, turn = self._hand_over.goal(path, place, turn)
        if self._world.kinematic[self._world.index(path)]:
            self._world.set_kinematic_pose(path, place, turn)

    def _find_goals(self, context: bpy.types.Context, steps: int) -> None:
        """Set the goals of the bodies whose objects have moved, and of all that animation moves at times."""
        if not len(self):
            return
        depsgraph = context.evaluated_depsgraph_get()
        for path, name in self._bodies:
            obj = bpy.data.objects.get(name)
            if obj is None:
                continue
            matrix = obj.evaluated_get(depsgraph).matrix_world
            if self._places.get(path) != matrix:
                self._places[path] = matrix.copy()
                self._ways[path] = (*self._pose(matrix), steps)
        moment = _frame(context) * context.scene.render.fps_base / context.scene.render.fps
        for path, matrix in self.places_at_times(context).items() if not self._ways.keys() & self._at_times else ():
            place, turn = self._pose(matrix)
            ties = ties_of(bpy.data.objects.get(self._at_times[path]), depsgraph)
            place, turn = self._hand_over.note(moment, path, place, turn, ties)
            self._ways[path] = (place, turn, steps)


def ties_of(obj: Any, depsgraph: bpy.types.Depsgraph) -> Ties:
    """The influence of each constraint of an object and of its parents, as it is evaluated."""
    influences: list[tuple[str, float]] = []
    above = obj
    while above is not None:
        evaluated = above.evaluated_get(depsgraph)
        # The preview mutes those of what it shows.
        influences += [(f"{above.name} {one.name}", round(one.influence, 6)) for one in evaluated.constraints]
        above = above.parent
    return tuple(influences)


def _frame(context: bpy.types.Context) -> float:
    return float(context.scene.frame_current_final)
