# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the primitive of a collider: with its own size and place, fitted to the mesh, or recognised in it."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ..core import frames, primitives
from ..core.primitives import Primitive
from ..core.schemas import usd_geom
from ..core.steps import Steps, finished
from . import mesh as meshes
from . import props
from .placements import Placement

_PARAMETERS: dict[type[usd_geom.Gprim], tuple[str, ...]] = {
    usd_geom.Cube: ("size",),
    usd_geom.Sphere: ("radius",),
    usd_geom.Capsule: ("radius", "height"),
    usd_geom.Cylinder: ("radius", "height"),
    usd_geom.Cone: ("radius", "height"),
    usd_geom.Plane: ("size",),
}


class ColliderShapes:
    """Finds the primitives of colliders. Shared meshes are read once."""

    def __init__(self) -> None:
        self._points: dict[str, np.ndarray[Any, Any]] = {}
        self._recognised: dict[str, Primitive | None] = {}
        self._aligned_boxes: set[str] = set()
        self._recognised_points: dict[tuple[bytes, bytes, bytes], Primitive | None] = {}
        self._fitted: dict[tuple[Any, ...], Primitive] = {}

    def shape(self, item: Any, placement: Placement) -> Primitive | None:
        """The primitive in the object's space, Blender units; None where the object's own mesh collides."""
        if item.shape == "MESH":
            return None
        if item.shape == "AUTO":
            return self.recognised(placement)
        kind = props.GPRIM_SHAPES[item.shape]
        # The keys of a group are its set properties, which is faster than is_property_set for each.
        touched = item.keys()
        axis = "XYZ".index(item.axis) if "axis" in touched else 2
        needs_fit = "location" not in touched or not all(name in touched for name in _PARAMETERS[kind])
        turn = tuple(item.rotation) if "rotation" in touched else None
        primitive = self._fit(turn, placement, kind, axis, needs_fit=needs_fit)
        if "location" in touched:
            primitive.center = np.array(item.location, float)
        if "size" in touched:
            primitive.size = np.array(item.size, float)
        if "radius" in touched:
            primitive.radius = item.radius
        if "height" in touched:
            primitive.height = item.height
        return primitive

    def _fit(
        self, turn: tuple[float, ...] | None, placement: Placement, kind: Any, axis: int, *, needs_fit: bool
    ) -> Primitive:  # fmt: skip
        """A primitive turned as the collider is; in the size of the mesh where that is needed. Copies share it."""
        scale = placement.matrix[:3, :3].tobytes() if needs_fit else b""
        key = (placement.mesh_key if needs_fit else "", kind, axis, turn, scale)
        known = self._fitted.get(key)
        if known is None:
            rotation = np.eye(3) if turn is None else frames.matrix_of(turn)
            points = self.points(placement) if needs_fit else np.zeros((0, 3))
            known = self._fitted[key] = primitives.fit_in(kind, points, axis, rotation, placement.matrix)
        return copy(known)

    def points(self, placement: Placement) -> np.ndarray[Any, Any]:
        key = placement.mesh_key
        if key not in self._points:
            self._points[key] = meshes.vertices_of(placement.evaluated)
        return self._points[key]

    def recognised(self, placement: Placement) -> Primitive | None:
        """The primitive that the mesh is, if it still is one with the scale of the object; else None."""
        key = placement.mesh_key
        if key not in self._recognised:
            finished(self.steps(placement))
        primitive = self._recognised[key]
        # Only shear from a parent could make an aligned box no box.
        is_unsheared = placement.parent is None and key in self._aligned_boxes
        return primitive if primitive is not None and (is_unsheared or primitive.survives(placement.matrix)) else None

    def steps(self, placement: Placement) -> Steps[None]:
        """Look, in steps, which primitive the mesh is, so that `recognised` knows it."""
        key = placement.mesh_key
        if key not in self._recognised:
            coordinates, corners, sizes = meshes.surface_of(placement.evaluated)
            yield 0.0
            # Cached by content too, because copies of a mesh are as common as shared meshes.
            content = (coordinates.tobytes(), corners.tobytes(), sizes.tobytes())
            if content not in self._recognised_points:
                points = coordinates.reshape(-1, 3).astype(float)
                primitive = primitives.recognise(points)
                yield 0.2
                is_solid = primitive is not None and (yield from primitives.closed_steps(points, corners, sizes))
                self._recognised_points[content] = primitive if is_solid else None
            primitive = self._recognised[key] = self._recognised_points[content]
            if primitive is not None and primitive.kind is usd_geom.Cube and primitive.is_aligned:
                self._aligned_boxes.add(key)

    def bounding(self, placement: Placement) -> str:
        """The approximation that is exactly the box or sphere of the mesh; empty if there is none.

        Then the mesh prim itself is the collider, which needs no second prim.
        """
        primitive = self.recognised(placement)
        if primitive is None:
            return ""
        if placement.mesh_key in self._aligned_boxes:
            return "boundingCube"
        if primitive.kind is usd_geom.Sphere:
            return "boundingSphere"
        return ""

    def has_faces(self, placement: Placement) -> bool:
        """True where the evaluated geometry of an object has faces."""
        return meshes.has_faces(placement.evaluated)
