# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake the points of cloth, soft bodies and cables: files of points beside the .blend, played by a modifier."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Scene
from numpy.typing import NDArray

from ..bridge.identity.names import prim_name
from ..core import paths
from ..core.errors import OutputError
from ..system.files import replacing
from .baked_objects import POINTS, playing_points, point_modifiers

#: Ending of the folder of the files, which has the name of the .blend before it.
_FOLDER = "_points"


class Points(NamedTuple):
    """The points of an object in the world, in each frame. points: (f, n, 3), Blender units."""

    obj: Any
    points: NDArray[np.float64]


class Outcome(NamedTuple):
    """objects: that play points. notes: a sentence for each that cannot."""

    objects: int
    notes: list[str]


def key(found: list[Points], start: int) -> Outcome:
    """Have objects play points from frame `start` on. Raises OutputError where a file cannot be written."""
    notes, names = [], set[str]()
    folder = _folder()
    for obj, points in found:
        count = _points_of(obj)
        if count != points.shape[1]:
            wanted = points.shape[1]
            if count is None:
                notes.append(
                    f"'{obj.name}' is no mesh and no curve of straight parts, so it cannot play the {wanted} points of "
                    "the simulation"
                )
            else:
                notes.append(
                    f"'{obj.name}' has {count} points of its own, so it cannot play the {wanted} points of the "
                    "simulation; hide its modifiers before the simulation"
                )
            continue
        world = np.linalg.inv(np.array(obj.matrix_world, float))
        local = points @ world[:3, :3].T + world[:3, 3]
        name = paths.free(prim_name(obj.name_full), names.__contains__)
        names.add(name)
        path = folder / f"{name}.pc2"
        _write(path, local)
        _play(obj, path, start)
    if names and not bpy.data.filepath:
        notes.append("The points are in a temporary folder: save the .blend and bake again to keep them")
    return Outcome(len(names), notes)


def _points_of(obj: Any) -> int | None:
    """Number of the points that a modifier at the start of an object moves."""
    if obj.type == "MESH":
        return len(obj.data.vertices)
    if obj.type != "CURVE" or any(spline.type != "POLY" for spline in obj.data.splines):
        return None
    return sum(len(spline.points) for spline in obj.data.splines)


def _folder() -> Path:
    if not bpy.data.filepath:
        return Path(bpy.app.tempdir) / f"usdphys{_FOLDER}"
    blend = Path(bpy.data.filepath)
    return blend.with_name(f"{blend.stem}{_FOLDER}")


def _write(path: Path, points: NDArray[np.float64]) -> None:
    """Write a file of type PC2: the format that Blender's Mesh Cache and others read. points: (f, n, 3)."""
    head = struct.pack("<12siiffi", b"POINTCACHE2\0", 1, points.shape[1], 0.0, 1.0, points.shape[0])
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"'{path.parent}' cannot be made: {error.strerror}.") from error
    with replacing(path) as scratch:
        scratch.write_bytes(head + points.astype("<f4").tobytes())


def _play(obj: Any, path: Path, start: int) -> None:
    modifier = obj.modifiers.new(POINTS, "MESH_CACHE")
    modifier.cache_format, modifier.frame_start = "PC2", start
    modifier.filepath = bpy.path.relpath(str(path)) if bpy.data.filepath else str(path)
    if obj.type == "CURVE":
        modifier.use_apply_on_spline = True
    obj.modifiers.move(len(obj.modifiers) - 1, 0)


def clear(scene: Scene) -> int:
    """Remove the modifiers of the last bake with their files. Returns the number of objects."""
    names = playing_points(scene)
    for name in names:
        obj: Any = scene.objects[name]
        for modifier in list(point_modifiers(obj)):
            path = Path(bpy.path.abspath(modifier.filepath))
            obj.modifiers.remove(modifier)
            if path.parent.name.endswith(_FOLDER) and path.suffix == ".pc2":
                path.unlink(missing_ok=True)
                if path.parent.is_dir() and not any(path.parent.iterdir()):
                    path.parent.rmdir()
    return len(names)


def of_objects(points: Mapping[str, NDArray[np.float64]], objects: Mapping[str, Any], meters: float) -> list[Points]:
    """points: (f, n, 3) by path of a prim, m. objects: by path. meters: length of a Blender unit."""
    return [Points(objects[path], each / meters) for path, each in points.items() if path in objects]
