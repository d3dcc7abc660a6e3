# SPDX-License-Identifier: GPL-3.0-or-later
"""Cables as one curve that deforms, for simulators that know OpenUSD's proposal for deformables."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.types import Collection, Context, Object
from numpy.typing import NDArray

from ..bridge.writing import unit_length
from ..core import cables

#: Pa: a rope hardly stretches, however easily it bends.
_MODULUS = 1e7


def make(
    context: Context, collection: Collection, points: NDArray[Any], radius: float, mass: float, stiffness: float,
    holders: dict[str, Object | None],
) -> Object:  # fmt: skip
    """A curve object along points (n, 3) of the world, Blender units.

    radius: Blender units. mass: kg for each metre. stiffness: N m² against bending. holders: of the ends that are held,
    "start" and "end"; None: held where they are.
    """
    data: Any = bpy.data.curves.new(collection.name, "CURVE")
    data.dimensions, data.bevel_resolution = "3D", 3
    spline = data.splines.new("POLY")
    spline.points.add(len(points) - 1)
    own = np.concatenate((points - points[0], np.ones((len(points), 1))), axis=1)
    spline.points.foreach_set("co", own.ravel())
    obj: Any = bpy.data.objects.new(collection.name, data)
    collection.objects.link(obj)
    obj.location = points[0]
    thickness = 2.0 * radius * unit_length(context.scene)
    group = obj.usdphys.cable
    group.is_applied = True
    group.thickness = 2.0 * radius
    group.density = mass / cables.Cable(thickness, 1.0, 1.0, 0.0, 0.0).mass_of(1.0)
    group.youngs_modulus, group.bending_stiffness = _MODULUS, stiffness
    for side, holder in holders.items():
        setattr(group, f"{side}_is_held", True)
        setattr(group, side, holder)
    return obj  # type: ignore[no-any-return]
