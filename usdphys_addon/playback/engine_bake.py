# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake the motion of an engine in a Python of the user's own into keyframes: what deforms is played from files."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context

from ..bridge import scene_read, stand_ins
from ..bridge.reading import SceneReading
from ..bridge.roles import is_body, is_moved
from ..core.deformables import Deformable
from ..core.errors import InputError
from ..core.frames import without_jumps
from ..core.units import StageUnits
from ..simulation.engine import PREVIEW, programs
from ..simulation.engines import external
from ..simulation.record import Recording, record
from . import bake, point_bake
from . import guard as preview_guard
from .session import PreviewSession

#: Seconds between two looks at the simulator.
_WAIT = 0.02


class EngineBake(NamedTuple):
    """bodies: baked objects. deformables: objects that play points. lines: the largest differences from the preview,
    and what the simulator left out."""

    bodies: int
    deformables: int
    lines: tuple[str, ...]


class Handed(NamedTuple):
    """A file that a simulator gets: its units, and the deformables in it."""

    units: StageUnits
    deformables: list[Deformable]


def engine_bake_steps(
    context: Context, start: int, end: int, engine: str, export: Callable[[Path], Handed]
) -> Generator[float, None, EngineBake]:
    """Simulate from frame `start` to `end` in an engine that deforms, and key every body on every frame.

    engine: of `engine.programs`. export: writes the scene to a file whose prims have the paths of the preview. Cloth,
    soft bodies and cables play files of points beside the .blend; a scene without any is baked as the preview plays
    it. An earlier bake is removed first. Yields the completed fraction; closing the generator ends the simulator and
    leaves no key. Raises InputError where the simulator fails.
    """
    if end <= start:
        raise InputError(f"The frame range {start} to {end} is empty; choose a later end.")
    scene: Any = context.scene
    preview_guard.stop()
    bake.clear_bake(scene)
    before = scene.frame_current
    fps = scene.render.fps / scene.render.fps_base
    scene.frame_set(start)
    try:
        with tempfile.TemporaryDirectory(prefix="usdphys-") as folder:
            file = Path(folder) / "scene.usdc"
            handed = export(file)
            if not handed.deformables:
                bodies = yield from bake.bake_steps(context, start, end)
                return EngineBake(bodies, 0, ())
            with external.Run(engine, external.python_of(engine), file, end - start, 1.0 / fps) as run:
                while run.is_running():
                    yield 0.9 * run.done
                    run.wait(_WAIT)
                poses = run.poses(handed.units)
        yield 0.9
        reading = scene_read.read_scene(context.evaluated_depsgraph_get())
        points = _points(reading, external.deformed(poses, handed.deformables))
        has_bodies = not points or any(is_body(site.obj) and is_moved(site.obj) for site in reading.sites.values())
        baked = _key(context, start, engine, poses, fps) if has_bodies else EngineBake(0, 0, ())
        played = point_bake.key(points, start)
        return EngineBake(baked.bodies, played.objects, (*baked.lines, *played.notes))
    finally:
        scene.frame_set(before)


def _points(reading: SceneReading, points: Mapping[str, Any]) -> list[point_bake.Points]:
    """The points of deformables by the objects that show them. points: (f, n, 3) by path, m."""
    objects: dict[str, Any] = {}
    for placement in reading.placements:
        if placement.instance is None:
            for path in (placement.path, scene_read.geometry_path(placement)):
                objects.setdefault(path, placement.obj)
    return point_bake.of_objects(points, objects, reading.model.units.meters_per_unit)


def _key(context: Context, start: int, engine: str, poses: external.Poses, fps: float) -> EngineBake:
    """Key the poses, and compare them with the preview."""
    chosen = context.scene.usdphys.preview
    own, chosen.engine = chosen.engine, PREVIEW
    try:
        session = PreviewSession(context, frequency=fps)
    finally:
        chosen.engine = own
    try:
        authored, names = dict(session.shown.authored), session.shown.moving
        preview = record(session.world, len(poses.positions) - 1)
        recording, unknown = external.recording_of(preview, poses)
        carriers, differences = session.shown.carriers(), []
        for number, worlds in enumerate(recording.matrices):
            if carriers:
                # Keys are in the space of the parents, as these are in the frame.
                context.scene.frame_set(start + number)
            differences.append(session.shown.local_poses(worlds))
        stand_ins.until(stand_ins.BAKE)
    finally:
        session.stop()
    frames = np.arange(start, start + len(differences))
    places, turns = (np.stack(parts) for parts in zip(*differences, strict=True))
    bake.key(names, authored, frames, places, without_jumps(turns))
    return EngineBake(len(names), 0, tuple(_lines(engine, recording, preview, unknown)))


def _lines(engine: str, recording: Recording, preview: Recording, unknown: list[str]) -> list[str]:
    name = programs()[engine].name
    lines = [f"{name} reports no body at '{path}'; it stays where it is" for path in unknown]
    differences = [one for one in external.differences(recording, preview) if one.path not in unknown]
    if differences:
        most = differences[0]
        lines.append(
            f"{bpy.path.basename(most.path)} is up to {most.distance:.3g} m and {math.degrees(most.angle):.3g} degrees "
            f"from the preview, at {most.frame / preview.fps:.3g} s"
        )
    return lines
