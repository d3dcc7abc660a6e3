# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of a scene of Blender from its current frame on, as a recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..bridge.animated import AnimatedValues
from ..bridge.identity.remembered import objects_by_name
from ..core.animation import Key
from ..core.model import PhysicsModel
from ..core.qualities import NORMAL
from ..simulation.engine import PREVIEW
from ..simulation.live_values import LiveValues
from ..simulation.record import Animation, Changing, Recording, engine_silenced, frame_count, record, refuse_lost
from ..simulation.world import World
from .led_bodies import ties_of


class Moving:
    """The bodies and static colliders of a world that the animation of a scene moves."""

    def __init__(self, scene: Any, world: World, model: PhysicsModel) -> None:
        self._meters = scene.unit_settings.scale_length
        known = objects_by_name(with_linked=True)
        labels = {path: model.prims[path].label for path in (*world.paths, *world.static_colliders)}
        self._labels = {
            path: label for path, label in labels.items()
            if label in known
            and (path in world.static_colliders or world.kinematic[world.index(path)] or path in world.switching)
            and model.prims[path].is_animated
        }  # fmt: skip

    def __bool__(self) -> bool:
        return bool(self._labels)

    def places(self) -> dict[str, Any]:
        """Their world matrices (4, 4), m, in the current frame, by path."""
        graph = bpy.context.evaluated_depsgraph_get()
        matrices, objects = {}, objects_by_name(with_linked=True) if self._labels else {}
        for path, label in self._labels.items():
            matrix = np.array(objects[label].evaluated_get(graph).matrix_world)
            matrix[:3, 3] *= self._meters
            matrices[path] = matrix
        return matrices


def animation_of(
    scene: Any, model: PhysicsModel, animated: AnimatedValues, moments: Sequence[float]
) -> Animation | None:  # fmt: skip
    """What is animated in a scene at frames; None if nothing is. The frames are set, at the end the first one again."""
    if not animated and not any(prim.is_animated for prim in model.prims.values()):
        return None
    with engine_silenced():
        moving = Moving(scene, World(model), model)
    if not animated and not moving:
        return None
    places, values = list[dict[str, Any]](), list[dict[Key, Any]]()
    for now in (*moments, moments[0]):
        scene.frame_set(int(now), subframe=now - int(now))
        places.append(moving.places())
        if animated:
            values.append(animated.now(bpy.context.evaluated_depsgraph_get()))
    return Animation(places, values)


def simulate_scene(
    scene: Any, model: PhysicsModel, seconds: float, fps: float, *, substeps: int = 0, quality: str = NORMAL,
    with_loads: bool = False, engine: str = PREVIEW, least_impulse: float | None = None,
    animated: AnimatedValues | None = None,
) -> tuple[World, Recording]:  # fmt: skip
    """Simulate the model of a scene. Animated objects move as they are keyed, for which frames are set; so do animated
    values. engine: of `engine.solvers`. least_impulse: see `record`.

    Raises InputError where the solver stops or a body is nowhere, and UsageError for too long a time.
    """
    refuse_lost(model)
    with engine_silenced():
        world = World(model, time_step=1.0 / fps, substeps=substeps, quality=quality, engine=engine)
    moving = Moving(scene, world, model)
    start, rate = scene.frame_current, scene.render.fps / scene.render.fps_base

    values = None
    if animated:
        blend = round(scene.usdphys.preview.blend_frames * fps / rate)
        live = LiveValues(world, model, blend)
        values = Changing(
            live, lambda _frame: animated.now(bpy.context.evaluated_depsgraph_get()),
            lambda path: ties_of(bpy.data.objects.get(model.prims[path].label), bpy.context.evaluated_depsgraph_get()),
        )  # fmt: skip

    def movers(frame: int) -> dict[str, Any]:
        if not moving and values is None:
            return {}
        now = start + frame * rate / fps
        scene.frame_set(int(now), subframe=now - int(now))
        return moving.places()

    with engine_silenced():
        return world, record(
            world, frame_count(world, seconds), movers, with_loads=with_loads, values=values,
            least_impulse=least_impulse, looks_ahead=bool(moving) and values is None,
        )  # fmt: skip
