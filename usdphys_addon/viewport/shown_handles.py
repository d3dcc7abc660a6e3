# SPDX-License-Identifier: GPL-3.0-or-later
"""What the 3D view shows of the physics of an object: handles, and guides beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import handles
from .handles import Handle, View

if TYPE_CHECKING:
    from .handles import Array

#: Pixels: distance at which the mouse hits a handle.
REACH = 12.0
AXIS_NAMES = "XYZ"
#: Authored together with the moments of inertia: neither has a meaning without the other.
AXES = "mass.principal_axes"


@dataclass(eq=False, repr=False)
class Guide:
    """Lines, or a surface of triangles, beside the handles. points (n, 3)."""

    points: Array
    role: str
    is_surface: bool = False


@dataclass(eq=False, repr=False)
class Shown:
    """handles: can be dragged. guides: lines and surfaces that explain them. pixel: the user interface scale."""

    view: View
    pixel: float = 1.0
    handles: list[Handle] = field(default_factory=list)
    guides: list[Guide] = field(default_factory=list)

    def length(self, pixels: float, place: Array) -> float:
        """World length of a number of pixels at a place."""
        return pixels * self.pixel * self.view.pixel_size(place)

    def line(self, points: Array, role: str) -> None:
        self.guides.append(Guide(handles.segments(points), role))


def view_of(context: Any) -> View:
    """The 3D view of a context; a view from above if the context has none."""
    data, region = getattr(context, "region_data", None), getattr(context, "region", None)
    if data is None or region is None or not region.width or not region.height:
        return View(np.eye(4), np.diag([0.1, 0.1, -0.01, 1.0]), 200.0, 200.0)
    return View(np.array(data.view_matrix), np.array(data.window_matrix), float(region.width), float(region.height))
