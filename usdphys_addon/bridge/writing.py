# SPDX-License-Identifier: GPL-3.0-or-later
"""A writing of a model into Blender: its result, and the context that the parts of the writer share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bpy.types import Object, Scene

from ..core.animation import Key
from ..core.frames import Matrix
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from .property_units import PropertyWriter


@dataclass(slots=True)
class Written:
    """counts: how many bodies, colliders, joints ... were written. missing: paths of physics prims without object.

    still: animated values that no property of Blender holds.
    """

    counts: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)
    still: list[Key] = field(default_factory=list)

    def count(self, kind: str) -> None:
        self.counts[kind] += 1


class WritingContext:
    """What the parts of one writing share: the objects and materials by prim path, the units, and the result so far.

    meters: length of a Blender unit. local: length of a unit in the space of the objects. Blender imports meshes in the
    units of the file, below a scale that converts them.
    """

    def __init__(
        self, model: PhysicsModel, scene: Scene, objects: Mapping[str, Object], materials: dict[str, Any], *,
        meters: float | None = None, local: float | None = None,
    ) -> None:  # fmt: skip
        """meters: by default that of the scene. local: by default that of the file."""
        self.model, self.objects, self.materials = model, objects, materials
        self.scene: Any = scene
        self.meters = unit_length(scene) if meters is None else meters
        self.local = model.units.meters_per_unit if local is None else local
        self.properties = PropertyWriter(self.meters, self.local)
        self.written = Written()
        #: False where the objects of joints stand at their frames already.
        self.moves_joints = True
        #: Collider items of prims that have no object of their own, by prim path.
        self.items: dict[str, Any] = {}
        #: Properties of the shapes of these items, by gprim and pose, which are kept as long as their ids are.
        self.shapes: dict[tuple[int, int], tuple[Any, Any, tuple[tuple[str, Any], ...]]] = {}
        #: World frames of both sides of each joint, by its path; see `joint_write`.
        self.joint_places: dict[str, tuple[Matrix, Matrix]] = {}
        #: Names in Blender, by prim path.
        self.scene_names: dict[str, str] = {}
        self.group_names: dict[str, str] = {}


def unit_length(scene: Scene) -> float:
    """Length of a Blender unit, metres."""
    return float(scene.unit_settings.scale_length) or 1.0


def lives_without_object(prim: Prim) -> bool:
    """True for physics scenes and collision groups, which the Blender scene holds, and for physics materials."""
    return any(
        prim.get(cls) is not None
        for cls in (usd_physics.PhysicsScene, usd_physics.CollisionGroup, usd_physics.MaterialAPI)
    )
