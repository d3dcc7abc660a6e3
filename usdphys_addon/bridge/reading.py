# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of reading a scene, and the context that the parts of the reader share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import bpy
from bpy.types import Object, Scene

from ..core import frames, paths
from ..core.air import NONE, OFF, OWN, Air, of_targets
from ..core.model import PhysicsModel
from ..core.units import StageUnits
from ..core.validate import Issue
from .animated import AnimatedGroups, AnimatedValues
from .identity import remembered
from .identity.names import prim_name
from .identity.remembered import looks_of
from .placements import Placement, ScenePlacements
from .property_units import PropertyReader

DEFAULT_ROOT = "/root"
MATERIALS_SCOPE = "_materials"
#: Radians; Blender's matrices are of 32-bit floats.
_FLOAT_ANGLE = 1e-6


@dataclass(slots=True)
class SceneReading:
    """issues: about data that could not be read. sites: placements by expected path. materials: paths by full name.

    optional_materials: paths of materials that take part only where Blender exports them.
    """

    model: PhysicsModel
    issues: list[Issue] = field(default_factory=list)
    sites: dict[str, Placement] = field(default_factory=dict)
    materials: dict[str, str] = field(default_factory=dict)
    optional_materials: list[str] = field(default_factory=list)
    #: All objects that are shown.
    placements: list[Placement] = field(default_factory=list)
    #: Of all objects, physical or not.
    object_paths: set[str] = field(default_factory=set)
    #: True if Blender's exporter is certain to give the expected paths.
    paths_are_certain: bool = False
    #: The values that change over time.
    animated: AnimatedValues = field(default_factory=lambda: AnimatedValues({}, 1.0))
    #: Frame at which transforms were read; Blender's exporter may end at another.
    frame: float = 0.0


class ReadingContext:
    """What the parts of one reading share: where the objects are, which paths are taken, and the result so far.

    find_scene: gives the original scene; called each time, so that reading in slices holds no reference between them.
    """

    def __init__(
        self, find_scene: Callable[[], Any], placements: ScenePlacements, root: str = DEFAULT_ROOT,
        meters: float | None = None,
    ) -> None:  # fmt: skip
        self._find_scene = find_scene
        self.placements = placements
        self.root = root.rstrip("/")
        self.units = scene_units(self.scene) if meters is None else StageUnits(meters_per_unit=meters)
        self.meters = self.units.meters_per_unit
        self.properties = PropertyReader(self.meters)
        self.animated = AnimatedGroups(())
        self.result = SceneReading(PhysicsModel(self.units, source=bpy.data.filepath, angular_precision=_FLOAT_ANGLE))
        self.result.model.air = air_of(self.scene)
        self.result.frame = self.scene.frame_current_final
        self.sources = placements.sources
        self.taken: set[str] = set() if self.sources is None else set(self.sources.reserved)
        self.scene_paths: dict[str, str] = {}
        self.slot_paths: dict[str, str] = {}
        self._new_looks = ""
        #: (included, excluded) paths by the name of a collision group.
        self.members: dict[str, tuple[list[str], list[str]]] = {}

    @property
    def scene(self) -> Any:
        return self._find_scene()

    @cached_property
    def parents(self) -> frozenset[str]:
        """Full names of all objects that have children."""
        return frozenset(obj.parent.name_full for obj in bpy.data.objects if obj.parent is not None)

    @cached_property
    def wholes(self) -> list[tuple[Any, set[Object]]]:
        """(collection, its objects) of those that are an asset or are instanced."""
        instanced = {obj.instance_collection for obj in bpy.data.objects if obj.instance_type == "COLLECTION"}
        chosen = (one for one in bpy.data.collections if one.asset_data is not None or one in instanced)
        return [(one, set(one.all_objects)) for one in chosen]

    @property
    def new_looks(self) -> str:
        """Path below the root of the scope of new materials: where Blender writes them, or in the imported prims."""
        if not self._new_looks:
            is_imported = self.scene.usdphys.source.filepath and not self.root
            self._new_looks = looks_of(self.scene) if is_imported else f"/{MATERIALS_SCOPE}"
        return self._new_looks

    @property
    def model(self) -> PhysicsModel:
        return self.result.model

    def issue(self, code: str, severity: str, prim_path: str, label: str, message: str, fix: str) -> None:
        self.result.issues.append(Issue(code, severity, prim_path, label, message, fix))  # type: ignore[arg-type]

    def made_path(self, name: str, kind: str, scope: str = "", item: Any = None) -> str:
        """A free path for a prim without object; reports an issue if the name is invalid or taken, and so changes.

        item: data that remembers the prim it was imported from, whose path is preferred.
        """
        home = self.root if self.sources is None else self.sources.home
        known = remembered.prim_of(item) if item is not None else None
        if self.sources is not None and item is not None and item.prim.path:
            known = item.prim
        if known is not None and f"{self.root}{known.path}" not in self.taken:
            self.taken.add(f"{self.root}{known.path}")
            return f"{self.root}{known.path}"
        base = paths.free(f"{home}/{scope}", self.result.object_paths.__contains__) if scope else home
        path = paths.free(f"{base}/{prim_name(name)}", self.taken.__contains__)
        self.taken.add(path)
        leaf = paths.name_of(path)
        if leaf != name:
            self.issue(
                "NameChanged", "info", path, name, f"The {kind} '{name}' is written as '{leaf}'.",
                "Give it a name of letters, digits and underscores that nothing else has.",
            )  # fmt: skip
        return path

    def hidden_path(self, obj: Object) -> str:
        """Path in the source of an imported object that is not shown; empty for all others."""
        if self.sources is None or obj is None or obj.library is not None:
            return ""
        return "" if self.placements.find(obj, None) is not None else self.sources.objects.get(obj.name, "")

    def owner(self, name: str, prim_path: str, label: str) -> tuple[str, ...] | None:
        """Targets of a simulation owner by name or path; None if it is empty, or an unknown name, which is reported."""
        if not name:
            return None
        if name.startswith("/"):
            # What an imported file names and does not hold: the rules judge it, as they do in the file.
            return (f"{self.root}{name}",)
        path = self.scene_paths.get(name)
        if path is None:
            self.issue(
                "OwnerMissing", "error", prim_path, label,
                f"'{label}' names the physics scene '{name}', which does not exist.",
                f"Add a physics scene '{name}' to the scene, or clear the physics scene of '{label}'.",
            )  # fmt: skip
            return None
        return (path,)

    def metric(self, matrix: frames.Matrix) -> frames.Matrix:
        """A world matrix with its translation in metres."""
        if self.meters != 1.0:
            matrix = matrix.copy()
            matrix[:3, 3] *= self.meters
        return matrix


def scene_units(scene: Scene) -> StageUnits:
    """Units of a Blender scene: metres per Blender unit, kilograms, Z up."""
    return StageUnits(meters_per_unit=float(scene.unit_settings.scale_length) or 1.0)


def air_of(scene: Any) -> Air:
    """What slows down bodies of a scene in the preview that author no damping."""
    settings = scene.usdphys.preview
    if settings.air == OWN:
        return Air(settings.linear_damping, settings.angular_damping, settings.rolling_resistance)
    return OFF if settings.air == NONE else of_targets(scene.usdphys.targets)
