# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes in place of the velocity that a kinematic body keeps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from bpy.types import Context
from mathutils import Matrix

from ..bridge.curves import new_curve
from ..bridge.roles import has_velocity, is_animated, parents_of
from ..bridge.scene_read import read_scene
from ..core import frames
from ..core.coasting import Coasting, motion_of
from ..core.errors import InputError
from ..core.words import phrase

#: Of a velocity, in the properties of a rigid body.
VELOCITY = ("velocity", "angular_velocity", "keeps_velocity")
_LINEAR = 1


def key_velocities(context: Context, objects: Iterable[Any]) -> int:
    """Key the motion of kinematic bodies with a velocity over the frames of the scene, from where they are now.

    The velocities are removed. Returns the number of bodies. Raises InputError for an object that something else moves,
    and if there are none.
    """
    scene: Any = context.scene
    chosen = [obj for obj in objects if has_velocity(obj)]
    if not chosen:
        raise InputError("No selected object is a kinematic body with a velocity.")
    for obj in chosen:
        if any(map(is_animated, (obj, *parents_of(obj)))):
            raise InputError(phrase("'{name}' is animated already; remove its animation first.", name=obj.name))
    reading = read_scene(context.evaluated_depsgraph_get())
    paths = {placement.obj.name: path for path, placement in reading.sites.items() if placement.instance is None}
    rate = scene.render.fps / scene.render.fps_base
    count = 0
    for obj in chosen:
        prim = reading.model.prims.get(paths.get(obj.name, ""))
        motion = motion_of(reading.model, prim) if prim is not None else None
        if prim is not None and motion is not None:
            spins = bool(motion.spin.any())
            spread = scene.frame_end - scene.frame_start
            numbers = range(spread + 1) if spins else (0, max(spread, 1))
            worlds = _worlds(
                motion, prim.world, [number / rate for number in numbers], scene.unit_settings.scale_length
            )
            _key(obj, [scene.frame_start + number for number in numbers], worlds, spins)
            count += 1
            for name in VELOCITY:
                obj.usdphys.rigid_body.property_unset(name)
    return count


def _worlds(motion: Coasting, start: Any, moments: list[float], meters: float) -> list[Matrix]:
    """World matrices in Blender units at moments, s, after the start. start (4, 4): metres."""
    position, rotation = start[:3, 3], frames.rotation_of(start)
    back = np.linalg.inv(frames.transform(position, rotation)) @ start
    matrices = []
    for moment in moments:
        world = frames.transform(*motion.after(moment, position, rotation)) @ back
        world[:3, 3] /= meters
        matrices.append(Matrix(world.tolist()))
    return matrices


def _key(obj: Any, numbers: list[int], worlds: list[Matrix], spins: bool) -> None:
    """Key the location of an object, and its rotation if it spins, at frames."""
    start = obj.matrix_world.copy()
    if spins and obj.rotation_mode == "AXIS_ANGLE":
        obj.rotation_mode = "QUATERNION"
    turning = "rotation_quaternion" if obj.rotation_mode == "QUATERNION" else "rotation_euler"
    places, turns = [], [getattr(obj, turning).copy()]
    for world in worlds:
        # Blender knows parents and delta transforms.
        obj.matrix_world = world
        places.append(obj.location.copy())
        turn = getattr(obj, turning).copy()
        turn.make_compatible(turns[-1])
        turns.append(turn)
    obj.matrix_world = start
    for path, values in (("location", places), (turning, turns[1:])) if spins else (("location", places),):
        for index in range(len(values[0])):
            curve = new_curve(obj, path, index)
            curve.keyframe_points.add(len(numbers))
            flat = [part for number, value in zip(numbers, values, strict=True) for part in (number, value[index])]
            curve.keyframe_points.foreach_set("co", flat)
            curve.keyframe_points.foreach_set("interpolation", [_LINEAR] * len(numbers))
            curve.update()
