# SPDX-License-Identifier: GPL-3.0-or-later
"""Nets: knots with strings, held by joints at corners or edges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import bmesh
import bpy
import mathutils
import numpy as np
from bpy.types import Context

from ..bridge.writing import unit_length
from ..core import frames
from ..core.errors import InputError
from . import damping, joints, shapes

Array = Any
#: Iterations of PhysX for each knot along the sides: 5 by 9 were 9 mm apart with the usual 16, and 0.8 mm so.
_ITERATIONS = 12.0


@dataclass(frozen=True, slots=True)
class NetOptions:
    """size: along X and Y, Blender units. cells: number of knots along X and Y. held: CORNERS, EDGES or NONE.

    radius: of the strings, Blender units. mass: kg for each square metre.
    """

    size: tuple[float, float] = (2.0, 2.0)
    cells: tuple[int, int] = (8, 8)
    held: str = "CORNERS"
    radius: float = 0.01
    mass: float = 0.5


def make_net(context: Context, options: NetOptions) -> list[Any]:
    """Make a net at the 3D cursor, level with it: knots with half of each string, joined in the middle of strings."""
    meters = unit_length(context.scene)
    collection = shapes.new_collection(context, "Net")
    across, along = options.cells
    steps = (options.size[0] / across, options.size[1] / along)
    if options.radius * 4.0 > min(steps):
        raise InputError("The strings are too thick for so many knots; choose fewer knots or a smaller radius.")
    data = _knot("Knot", steps, options.radius)
    cursor = np.array(context.scene.cursor.matrix)
    mass = options.mass * options.size[0] * options.size[1] * meters**2 / (across * along)
    knots: dict[tuple[int, int], Any] = {}
    places: dict[tuple[int, int], Array] = {}
    for x in range(across):
        for y in range(along):
            local = np.array(
                [(x + 0.5) * steps[0] - options.size[0] / 2, (y + 0.5) * steps[1] - options.size[1] / 2, 0]
            )
            places[x, y] = cursor[:3, :3] @ local + cursor[:3, 3]
            obj = shapes.add_object(
                collection, f"Knot {x + 1} {y + 1}", data, frames.transform(places[x, y], cursor[:3, :3])
            )
            obj.usdphys.rigid_body.is_applied = True
            obj.usdphys.mass.is_applied = True
            obj.usdphys.mass.mass = mass
            for axis, length in zip("XY", steps, strict=True):
                shapes.give_capsule(obj, options.radius, length - 2.0 * options.radius, axis)
            knots[x, y] = obj
    joiner = joints.Joiner(context)
    for (x, y), knot in knots.items():
        for other in ((x + 1, y), (x, y + 1)):
            if other in knots:
                middle = (places[x, y] + places[other]) / 2.0
                joiner.add("SPHERICAL", knot, knots[other], frames.transform(middle, cursor[:3, :3]))
        at_x, at_y = x in (0, across - 1), y in (0, along - 1)
        if (options.held == "CORNERS" and at_x and at_y) or (options.held == "EDGES" and (at_x or at_y)):
            joiner.add("SPHERICAL", None, knot, frames.transform(places[x, y], cursor[:3, :3]))
    bodies = list(knots.values())
    damping.iterate(bodies, _ITERATIONS * (across + along))
    shapes.select_only(context, bodies)
    return bodies


def _knot(name: str, steps: tuple[float, float], radius: float) -> Any:
    """Mesh of two crossing strings, each as long as a cell."""
    one = shapes.capsule(name, radius, steps[0] - 2.0 * radius)
    other = shapes.capsule(name, radius, steps[1] - 2.0 * radius)
    other.transform(mathutils.Matrix.Rotation(math.pi / 2.0, 4, "Z"))
    made = bmesh.new()
    made.from_mesh(one)
    made.from_mesh(other)
    made.to_mesh(one)
    made.free()
    bpy.data.meshes.remove(other)
    return one
