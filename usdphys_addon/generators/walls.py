# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls, stacks, pyramids and chimneys of one brick."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mathutils
import numpy as np
from bpy.types import Context

from ..authoring.tagging import Tagging
from ..bridge import mesh as meshes
from ..bridge.joint_frames import set_world_matrix
from ..core import frames
from ..core.errors import InputError
from . import shapes

#: More take minutes to make, and the preview does not keep up with them.
_MOST_BRICKS = 20_000
#: Of the length of a brick.
_OUTWARDS = 0.05


@dataclass(frozen=True, slots=True)
class WallOptions:
    """kind: WALL (each course moved by half a brick), STACK (in a grid), PYRAMID or CHIMNEY (in a circle).

    counts: bricks along X and Y and courses; of a chimney, bricks of a course are counts[0]. gap: between bricks,
    Blender units. shift, turn: largest random offset, Blender units, and turn about Z, rad. seed: of the numbers.
    is_bonded: joints will hold the bricks.
    """

    kind: str = "WALL"
    counts: tuple[int, int, int] = (8, 1, 6)
    gap: float = 0.0
    shift: float = 0.0
    turn: float = 0.0
    seed: int = 0
    is_bonded: bool = False


def make_wall(context: Context, options: WallOptions) -> list[Any]:
    """Make copies of the active object, which share its data, rigid bodies in courses. Raises InputError."""
    brick = context.active_object
    if brick is None or not brick.select_get() or brick.type not in meshes.GEOMETRY_TYPES:
        raise InputError("Select the object that is to be the brick; it needs faces.")
    if math.prod(options.counts) > _MOST_BRICKS:
        raise InputError(f"A wall has {_MOST_BRICKS} bricks at most; choose fewer.")
    depsgraph = context.evaluated_depsgraph_get()
    points = meshes.vertices_of(brick.evaluated_get(depsgraph))
    if not len(points):
        raise InputError(f"'{brick.name}' has no faces, so nothing can stand on it.")
    world = np.array(brick.matrix_world)
    placed = points @ world[:3, :3].T
    size = np.ptp(placed, axis=0) + options.gap
    counts = (
        options.counts[0],
        options.counts[0] if options.kind == "CHIMNEY" else options.counts[1],
        options.counts[2],
    )
    for letter, extent, count in zip("XYZ", size.tolist(), counts, strict=True):
        if extent <= 1e-6 * float(size.max()) and count > 1:
            raise InputError(
                f"'{brick.name}' is flat along {letter}, so bricks would lie in each other; choose another."
            )
    places = _places(options, size)
    Tagging(depsgraph, [brick], "DYNAMIC").apply()
    random = np.random.default_rng(options.seed)
    made = [brick]
    home = (brick.users_collection or (context.collection,))[0]
    for number, (place, turn) in enumerate(places):
        if number == 0:
            obj = brick
        else:
            obj = brick.copy()
            home.objects.link(obj)
            made.append(obj)
        offset = np.append(random.uniform(-options.shift, options.shift, 2), 0.0)
        angle = turn + random.uniform(-options.turn, options.turn)
        turned = mathutils.Matrix.Rotation(angle, 4, "Z") @ mathutils.Matrix(world.tolist()).to_3x3().to_4x4()
        if obj is not brick or options.shift or options.turn or options.kind == "CHIMNEY":
            set_world_matrix(obj, mathutils.Matrix.Translation((world[:3, 3] + place + offset).tolist()) @ turned)
    context.view_layer.update()
    shapes.select_only(context, made)
    return made


def _course(kind: str, across: int, course: int) -> tuple[int, float]:
    """(bricks along X that a course has less than the first, how far it is moved, in bricks)."""
    if kind == "PYRAMID":
        return course, 0.5 * course
    if kind == "STACK" or across == 1 or course % 2 == 0:
        return 0, 0.0
    # A brick at the end would have nothing below it. Two bricks would stand on the middle of one.
    return (1, 0.5) if across > 2 else (0, 0.25)


def _spread(options: WallOptions, across: int, course: int, brick: int) -> float:
    """How far a brick of the course below an uppermost long one is moved outwards, in bricks.

    The bricks at the ends of that would have their centres of mass above the edge of what they lie on, and fall.
    """
    is_below_ends = options.kind == "WALL" and across > 2 and options.counts[2] % 2 and course == options.counts[2] - 2
    if not is_below_ends or options.is_bonded:
        return 0.0
    middle = (across - 2) / 2.0
    return _OUTWARDS * (brick - middle) / middle


def _places(options: WallOptions, size: frames.Matrix) -> list[tuple[Any, float]]:
    """(offset (3,), turn about Z) of all bricks; the first is the brick itself."""
    across, deep, courses = options.counts
    places = []
    if options.kind == "CHIMNEY":
        # The inner corners of neighbours touch.
        radius = size[0] / 2.0 / math.tan(math.pi / max(across, 3)) + size[1] / 2.0
        for course in range(courses):
            for number in range(max(across, 3)):
                angle = 2.0 * math.pi * (number + course % 2 / 2.0) / max(across, 3)
                place = np.array([math.sin(angle) * radius, radius - math.cos(angle) * radius, course * size[2]])
                places.append((place, angle))
        return places
    for course in range(courses):
        missing, odd = _course(options.kind, across, course)
        # The bricks of a ridge are in line.
        missing_deep = min(missing, deep - 1) if options.kind == "PYRAMID" else 0
        for y in range(deep - missing_deep):
            for x in range(across - missing):
                along = x + odd + _spread(options, across, course, x)
                place = np.array([along * size[0], (y + 0.5 * missing_deep) * size[1], course * size[2]])
                places.append((place, 0.0))
    return places
