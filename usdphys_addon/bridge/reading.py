# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of reading a scene."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.model import PhysicsModel
from ..core.validate import Issue
from .placements import Placement

DEFAULT_ROOT = "/root"
MATERIALS_SCOPE = "_materials"


@dataclass(slots=True)
class SceneReading:
    """model: the physics. issues: what could not be read. sites: by expected path. materials: paths by name.

    optional_materials: paths of materials that take part only where Blender exports them.
    """

    model: PhysicsModel
    issues: list[Issue] = field(default_factory=list)
    sites: dict[str, Placement] = field(default_factory=dict)
    materials: dict[str, str] = field(default_factory=dict)
    optional_materials: list[str] = field(default_factory=list)
    #: Of all objects, physical or not.
    object_paths: set[str] = field(default_factory=set)
    #: True where Blender's exporter can only give the paths that are expected.
    paths_are_certain: bool = False
    #: At which all places were read; Blender's exporter moves on from it.
    frame: float = 0.0
