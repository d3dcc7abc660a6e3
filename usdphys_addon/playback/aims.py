# SPDX-License-Identifier: GPL-3.0-or-later
"""Aims in a Blender scene: start values with which a body is where an Empty is, written to the objects."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Object

from ..aiming import aim
from ..aiming.freedoms import PLACE, Freedom, with_values
from ..bridge import joint_frames, scene_read
from ..bridge.property_units import PropertyWriter
from ..bridge.reading import SceneReading
from ..bridge.writing import unit_length
from ..core.errors import InputError
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..simulation.record import engine_silenced, refuse_lost
from . import guard
from .timeline import frame_rate, time_steps_per_frame

#: The faces of a body, and the axes through them.
FACES = {"X": (1, 0, 0), "-X": (-1, 0, 0), "Y": (0, 1, 0), "-Y": (0, -1, 0), "Z": (0, 0, 1), "-Z": (0, 0, -1)}
_RIGID, _MATTER = usd_physics.RigidBodyAPI.usd_name, usd_physics.MaterialAPI.usd_name


@dataclass(frozen=True, slots=True)
class AimOptions:
    """frame: at which the body is at the target. tolerance: Blender units. face: of `FACES`, which then points along
    the Z axis of the target, within `angle` (rad); empty for any.

    speed (Blender units a second), spin (rad/s), place (Blender units): how far each component may change, 0 for not.
    friction, restitution: they may be anything from 0 to 1. has_place: False if the facing alone counts.
    """

    frame: int
    tolerance: float = 0.02
    has_place: bool = True
    face: str = ""
    angle: float = math.radians(5.0)
    speed: float = 5.0
    spin: float = 0.0
    place: float = 0.0
    friction: bool = False
    restitution: bool = False
    most_runs: int = 200
    seed: int = 0


@dataclass(slots=True)
class Aimed:
    """runs: that were made. miss: of the authored scene after the search, in tolerances."""

    runs: int
    miss: float
    is_hit: bool


def aim_steps(context: Context, body: Object, target: Object, options: AimOptions) -> Generator[float, None, Aimed]:
    """Search start values with which a body is at a target, and author them. Yields the completed fraction.

    The simulation begins at the current frame. Closing the generator authors the best values found until then. Raises
    InputError, with nothing changed.
    """
    guard.stop()
    context.view_layer.update()
    scene: Any = context.scene
    frame = options.frame - int(scene.frame_current)
    if frame < 1:
        raise InputError(f"The simulation begins at the current frame; choose a frame after {scene.frame_current}.")
    reading = scene_read.read_scene(context.evaluated_depsgraph_get())
    model = reading.model
    if model.animated or any(prim.is_animated for prim in model.prims.values()):
        raise InputError("Aiming does not follow animation yet; bake or remove what is animated, and aim again.")
    refuse_lost(model)
    path = _path_of(reading, body)
    freedoms = _freedoms(model, path, options)
    wanted = _target(path, frame, target, unit_length(scene), options)
    substeps = time_steps_per_frame(scene)
    setup = aim.Setup(
        model, 1.0 / (frame_rate(scene) * substeps), substeps, scene.usdphys.preview.substeps,
        scene.usdphys.preview.quality, scene.usdphys.preview.engine,
    )  # fmt: skip
    best: aim.Run | None = None
    count = 0
    search = aim.aim_steps(setup, freedoms, [wanted], most_runs=options.most_runs, seed=options.seed)
    try:
        with engine_silenced():
            for run in search:
                best = run if best is None or run.miss < best.miss else best
                count += 1
                yield count / options.most_runs
    finally:
        search.close()
        if best is not None:
            _author(reading, setup.model, freedoms, best.values, unit_length(scene))
    context.view_layer.update()
    # What is authored is what counts: read it again.
    authored = scene_read.read_scene(context.evaluated_depsgraph_get()).model
    again = aim.run_with(replace(setup, model=authored), [], np.zeros(0), frame)
    row = again.paths.index(path)
    miss = aim.miss_of(wanted.residual(again.positions[frame, row], again.rotations[frame, row]))
    return Aimed(count, miss, miss <= 1.0)


def _path_of(reading: SceneReading, body: Object) -> str:
    for path, site in reading.sites.items():
        if path in reading.model.bodies and site.instance is None and site.obj.name_full == body.name_full:
            return path
    raise InputError(f"'{body.name}' is no rigid body; make it dynamic.")


def _target(path: str, frame: int, target: Object, meters: float, options: AimOptions) -> aim.Target:
    matrix = np.array(target.matrix_world)
    place = tuple((matrix[:3, 3] * meters).tolist()) if options.has_place else None
    facing = tuple((matrix[:3, 2] / np.linalg.norm(matrix[:3, 2])).tolist()) if options.face else None
    axis: Any = FACES[options.face] if options.face else None
    if place is None and axis is None:
        raise InputError("Aim at a place, a facing, or both.")
    return aim.Target(path, frame, place, options.tolerance * meters, axis, facing, options.angle)


def _freedoms(model: PhysicsModel, path: str, options: AimOptions) -> list[Freedom]:
    """What may change: about the authored values, as far as the options say."""
    prim, meters = model.prims[path], model.units.meters_per_unit
    api = prim.get(usd_physics.RigidBodyAPI)
    assert api is not None
    found = []
    for field, reach in (("velocity", options.speed * meters), ("angular_velocity", options.spin)):
        for axis, value in enumerate(api.resolved(field)) if reach else ():
            found.append(Freedom(path, _RIGID, field, axis, value - reach, value + reach))
    for axis in range(3) if options.place else ():
        value, reach = float(prim.world[axis, 3]), options.place * meters
        found.append(Freedom(path, "", PLACE, axis, value - reach, value + reach))
    matters = {name for collider in model.colliders_of(path) for name in collider.materials if name in model.materials}
    fields = ("dynamic_friction",) if options.friction else ()
    for field in (*fields, *(("restitution",) if options.restitution else ())):
        found += [Freedom(name, _MATTER, field, -1, 0.0, 1.0) for name in sorted(matters)]
    if not found:
        raise InputError(f"Nothing may change; allow a speed, a spin or a place of '{prim.label}', or its material.")
    return found


def _author(
    reading: SceneReading, model: PhysicsModel, freedoms: list[Freedom], values: Any, meters: float
) -> None:  # fmt: skip
    """Write values to the objects and materials that have them."""
    changed = with_values(model, freedoms, values)
    writer = PropertyWriter(meters, meters)
    names = {path: name for name, path in reading.materials.items()}
    for path, applied in dict.fromkeys((one.path, one.name) for one in freedoms):
        fields = {one.field for one in freedoms if (one.path, one.name) == (path, applied)}
        prim = changed.prims[path]
        if applied == _MATTER:
            group = bpy.data.materials[names[path]].usdphys.physics_material
        else:
            obj = bpy.data.objects[reading.sites[path].obj.name]
            group = obj.usdphys.rigid_body
        if PLACE in fields:
            matrix = obj.matrix_world.copy()
            matrix.translation = (prim.world[:3, 3] / meters).tolist()
            joint_frames.set_world_matrix(obj, matrix)
            continue
        value = prim.schemas[applied]
        others = frozenset(item.field for item in value.attributes) - fields
        writer.write(group, value, skip=others)
