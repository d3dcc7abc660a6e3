# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of the scene beside a written file, where SimReady and asset browsers look for it.

Blender's Workbench renders it, since it needs no lights and no graphics card.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Context
from mathutils import Matrix
from numpy.typing import NDArray

from ..core.validate import Issue
from ..system.files import checked, replacing

SIZE = 256
#: Half of the angle of view, and the part of the picture that is filled.
_HALF_ANGLE, _FILLED = math.radians(20.0), 0.9
#: From where it is seen: from the front, on the right, and from above.
_FROM = np.array([0.55, -0.75, 0.5])


def place_of(file: Path) -> Path:
    """Where the picture of a file is looked for: `.thumbs/256x256/NAME.usd.png` beside it."""
    return file.parent / ".thumbs" / f"{SIZE}x{SIZE}" / f"{file.name}.png"


def write(context: Context, file: Path) -> list[Issue]:
    """Render the bodies of the scene, or else all of it, as the picture of a file. Returns what cannot be done.

    The scene stays as it is. Raises OutputError where the picture cannot be written.
    """
    points = _points(context)
    if points is None:
        return [Issue(
            "ThumbnailEmpty", "warning", "", "", "There is nothing to see, so the file has no thumbnail.",
            "Show an object with a mesh in renders.",
        )]  # fmt: skip
    target = place_of(file)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(checked(target)) as scratch, _stage(context, points) as scene:
        scene.render.filepath = str(scratch)
        try:
            bpy.ops.render.render(write_still=True, scene=scene.name)
        except RuntimeError as error:
            reason = " ".join(str(error).split())
            return [Issue(
                "ThumbnailFailed", "warning", "", "", f"Blender rendered no thumbnail: {reason}.",
                "Render it on a computer with OpenGL.",
            )]  # fmt: skip
    return []


def _points(context: Context) -> NDArray[np.float64] | None:
    """World corners (n, 3) of what renders show: of bodies, or else of everything; None without any."""
    bodies: list[NDArray[np.float64]] = []
    others: list[NDArray[np.float64]] = []
    for instance in context.evaluated_depsgraph_get().object_instances:
        obj: Any = instance.object
        original: Any = (instance.parent or obj).original
        if obj.type not in ("MESH", "CURVE", "SURFACE", "META", "FONT") or original.hide_render or obj.hide_render:
            continue
        box = np.array(obj.bound_box, float)
        world = np.array(instance.matrix_world, float)
        corners = box @ world[:3, :3].T + world[:3, 3]
        (bodies if _is_of_body(original) else others).append(corners)
    found = bodies or others
    return np.concatenate(found) if found else None


def _is_of_body(obj: Any) -> bool:
    while obj is not None:
        if obj.usdphys.keys() and obj.usdphys.rigid_body.is_applied:
            return True
        obj = obj.parent
    return False


@contextmanager
def _stage(context: Context, points: NDArray[np.float64]) -> Iterator[Any]:
    """A scene of its own with the same objects, a camera that shows the points, and the colours of materials."""
    data: Any = bpy.data
    scene = data.scenes.new("Thumbnail")
    camera = data.objects.new("Thumbnail", data.cameras.new("Thumbnail"))
    colors = {material: tuple(material.diffuse_color) for material in data.materials}
    try:
        for obj in context.view_layer.objects:
            if obj.visible_get():
                scene.collection.objects.link(obj)
        scene.collection.objects.link(camera)
        scene.camera = camera
        camera.data.angle = 2.0 * _HALF_ANGLE
        camera.matrix_world = _view(points, camera.data)
        for material in colors:
            if (color := _color_of(material)) is not None:
                material.diffuse_color = color
        render, shading = scene.render, scene.display.shading
        render.engine, render.resolution_x, render.resolution_y = "BLENDER_WORKBENCH", SIZE, SIZE
        render.resolution_percentage, render.film_transparent = 100, False
        render.image_settings.file_format, render.use_file_extension = "PNG", False
        shading.light, shading.show_cavity, shading.show_shadows = "STUDIO", True, True
        shading.color_type = "TEXTURE" if len(data.images) else "MATERIAL"
        yield scene
    finally:
        for material, color in colors.items():
            material.diffuse_color = color
        lens = camera.data
        data.objects.remove(camera)
        data.cameras.remove(lens)
        data.scenes.remove(scene)


def _color_of(material: Any) -> tuple[float, ...] | None:
    """The base colour of a material; None where it is not a plain number."""
    nodes = material.node_tree.nodes if material.node_tree is not None else ()
    for node in nodes:
        if node.type == "BSDF_PRINCIPLED" and not node.inputs["Base Color"].is_linked:
            return tuple(node.inputs["Base Color"].default_value)
    return None


def _view(points: NDArray[np.float64], lens: Any) -> Matrix:
    """World matrix of a camera that has all points in view; sets how far it sees."""
    back = _FROM / np.linalg.norm(_FROM)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(back, right), back])
    center = (points.min(axis=0) + points.max(axis=0)) / 2.0
    seen = (points - center) @ axes.T
    middle = (seen[:, :2].min(axis=0) + seen[:, :2].max(axis=0)) / 2.0
    away = np.abs(seen[:, :2] - middle).max(axis=1) / (math.tan(_HALF_ANGLE) * _FILLED) + seen[:, 2]
    size = max(float(np.abs(seen).max()), 1e-6)
    distance = max(float(away.max()), 2.0 * size)
    lens.clip_start, lens.clip_end = max(distance * 1e-3, 1e-6), distance + 1e3 * size
    world = np.eye(4)
    world[:3, :3] = axes.T
    world[:3, 3] = center + axes.T @ [*middle, distance]
    return Matrix(world.tolist())
