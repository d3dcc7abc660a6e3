# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides what the colliders of a file become on the objects of a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...bridge import props
from ...bridge.gprim_properties import SHAPES, gprim_properties
from ...bridge.identity import remembered
from ...bridge.identity.match import MESH_LIKE
from ...core import frames, gprims
from ...core.model import Prim
from ...core.primitives import Primitive
from ...core.schemas import usd_geom, usd_physics
from .context import SAME_ROTATION, AttachContext, is_flat


@dataclass(slots=True)
class PlannedCollider:
    """values: by property name. material: path of the physics material; empty if the object brings it.

    on_item: mass, filtered pairs and groups belong to the collider, not to its object. groups: (name, exclude).
    """

    prim: Prim
    values: dict[str, Any]
    material: str = ""
    on_item: bool = True
    mass: usd_physics.MassAPI | None = None
    pairs: list[Any] | None = None
    groups: dict[tuple[str, bool], None] = field(default_factory=dict)


class ColliderPlanner:
    """materials: those of Blender by the path of the file's physics materials, None for what Blender does not have."""

    def __init__(self, context: AttachContext, materials: Mapping[str, Any]) -> None:
        self.context, self.materials = context, materials
        self._known_materials = {material for material in materials.values() if material is not None}

    def plan(self, prim: Prim, gprim: usd_geom.Gprim | None, obj: Any) -> PlannedCollider | None:
        """The collider that a prim becomes on an object; None (and reports an issue) if that is scaled to nothing."""
        space = self.context.world_now(obj)
        if is_flat(space):
            self.context.issue(
                "ZeroScale", "warning", prim.path, obj.name,
                f"'{obj.name}' or one of its parents is scaled to nothing, so it takes no collider.",
                f"Give '{obj.name}' and its parents a scale that is not zero.",
            )  # fmt: skip
            return None
        is_primitive = gprim is not None and prim.type_name in SHAPES
        if gprim is not None and is_primitive:
            values = self._geometry_values(prim, gprim, obj) or self._primitive_values(prim, gprim, space)
        else:
            values = {"shape": "MESH"}
            if prim.type_name not in MESH_LIKE:
                values["is_geometry"] = True
        approximation = prim.get(usd_physics.MeshCollisionAPI)
        if approximation is not None and (not is_primitive or "is_geometry" in values):
            values["has_mesh_collision"] = True
            if approximation.holds("approximation"):
                values["approximation"] = approximation.approximation
            elif isinstance(approximation.approximation, str):
                values["other_approximation"] = approximation.approximation
        is_guide = obj.hide_render if not is_primitive else "is_geometry" not in values
        if prim.purpose != ("guide" if is_guide else "default"):
            values["purpose"] = prim.purpose.upper()
        if is_primitive and "is_geometry" not in values and prim.path not in self.context.match.direct:
            values["name"] = prim.name
        return PlannedCollider(prim, values, self._material_of(prim, obj, is_primitive))

    def space_of(self, collider: PlannedCollider, space: frames.Matrix) -> frames.Matrix:
        """The world matrix that the prim of a collider will have in an export. space: that of its object."""
        values = collider.values
        kind = props.GPRIM_SHAPES.get(values["shape"])
        if kind is None or "is_geometry" in values:
            return space
        shape = Primitive(
            kind, np.array(values["location"]), frames.matrix_of(values.get("rotation", frames.IDENTITY_ROTATION)),
            np.array(values.get("size", (1.0, 1.0, 1.0))), values.get("radius", 0.5), values.get("height", 1.0),
            "XYZ".index(values.get("axis", "Z")),
        )  # fmt: skip
        return space @ gprims.placed_gprim(shape, space, self.context.meters)[0]

    def _primitive_values(self, prim: Prim, gprim: usd_geom.Gprim, space: frames.Matrix) -> dict[str, Any]:
        """Place and size of a gprim in the space of an object, Blender units: the inverse of `gprims.placed_gprim`.

        An export multiplies the sizes by an uneven scale of the object, so they are divided by it here.
        """
        placed = self.context.world_moved(prim.path)
        axis = "XYZ".index(getattr(gprim, "axis", None) or "Z")
        has_tip = isinstance(gprim, usd_geom.Cone | usd_geom.Plane)
        rotation = frames.rotation_of(placed)
        # An export turns over a mirrored tip. If both spaces are mirrored, it points where it did.
        if has_tip and (frames.determinant(placed) < 0) != (frames.determinant(space) < 0):
            rotation[:, [axis, axis - 1]] *= -1
        local = frames.rotation_of(space).T @ rotation
        if np.abs(local - np.eye(3)).max() <= SAME_ROTATION:
            local = np.eye(3)
        lengths = np.linalg.norm(placed[:3, :3], axis=0)
        scale = np.linalg.norm(space[:3, :3] @ local, axis=0)
        center = np.linalg.solve(space, placed[:, 3])[:3] / self.context.meters
        values: dict[str, Any] = {"shape": SHAPES[prim.type_name], "location": frames.vector(center)}
        if not np.array_equal(local, np.eye(3)):
            values["rotation"] = frames.quaternion_of(local)
        around = float(np.delete(lengths, axis).max() / np.delete(scale, axis).max())
        along = float(lengths[axis] / scale[axis])
        if isinstance(gprim, usd_geom.Sphere):
            around = float(lengths.max() / scale.max())
        return values | gprim_properties(
            gprim, self.context.meters, scale=frames.vector(lengths / scale), around=around, along=along
        )

    def _geometry_values(self, prim: Prim, gprim: usd_geom.Gprim, obj: Any) -> dict[str, Any] | None:
        """Size of a gprim that the object was imported from; None if it was not."""
        context = self.context
        if context.match.direct.get(prim.path) != obj or remembered.type_of(obj) != prim.type_name:
            return None
        lengths = np.linalg.norm(context.world_in_file(prim.path)[:3, :3], axis=0)
        ratio = lengths / np.linalg.norm(context.world_now(obj)[:3, :3], axis=0)
        # Importing, Blender drops the shear below an uneven scale; the gprim has its own size still.
        is_even = frames.is_uniform(ratio, 1e-4)
        scale = float(ratio[0]) if is_even else context.meters / context.model.units.meters_per_unit
        size = gprim_properties(gprim, context.meters, scale=(scale, scale, scale), around=scale, along=scale)
        return {"shape": SHAPES[prim.type_name], "location": (0.0, 0.0, 0.0), "is_geometry": True} | size

    def _material_of(self, prim: Prim, obj: Any, is_primitive: bool) -> str:
        """Path of the physics material to set on a collider; empty if the material slots of its object bring it."""
        bound = prim.physics_binding or (prim.materials[-1] if prim.materials else "")
        if bound not in self.materials:
            return ""
        if not prim.physics_binding or is_primitive:
            slots = (slot.material for slot in obj.material_slots)
            in_slots = list(dict.fromkeys(material for material in slots if material in self._known_materials))
            # An export lists the slots from last to first.
            if in_slots and in_slots[::-1] == [self.materials.get(path) for path in prim.materials]:
                return ""
        return bound
