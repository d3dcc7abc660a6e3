# SPDX-License-Identifier: GPL-3.0-or-later
"""Prims for physics that Blender's own USD export leaves out: of types that it does not know, or hidden in renders."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from bpy.types import Depsgraph

from ..bridge.identity.names import prim_name
from ..bridge.mesh import GEOMETRY_TYPES, surface_of
from ..bridge.placements import Placement
from ..bridge.reading import SceneReading
from ..bridge.roles import is_animated
from ..core import frames, paths
from ..core.units import StageUnits
from ..core.validate import Issue
from .stage_match import OBJECT_NAME, StageMatcher

DATA_NAME = "userProperties:blender:data_name"

if TYPE_CHECKING:
    from pxr import Sdf, Usd


def viewport_of(depsgraph: Depsgraph) -> Depsgraph | None:
    """The depsgraph of the viewport for one of renders; None for others."""
    if depsgraph.mode != "RENDER":
        return None
    layer: Any = depsgraph.view_layer
    viewport = layer.depsgraph
    is_here = threading.current_thread() is threading.main_thread()
    scene: Any = depsgraph.scene.original
    if is_here and (viewport is None or viewport.scene_eval.frame_current_final == scene.frame_current_final):
        # A script may have changed the scene just before. In a window nothing is left to do, and no thread may do it.
        # An export of animation has moved the scene to its last frame, which the viewport must not show.
        layer.update()
    return layer.depsgraph  # type: ignore[no-any-return]


def write(
    stage: Usd.Stage, export_context: Any, reading: SceneReading, units: StageUnits, issues: list[Issue]
) -> None:  # fmt: skip
    """Write what a reading found to be left out as Blender would have: objects with physics, and those above them.

    What is not of the exported part of the scene stays out: with *Selected Only*, what is not selected.
    """
    left_out = [site for site in reading.sites.values() if site.is_left_out]
    if left_out:
        _Writer(stage, StageMatcher(stage, export_context), reading, units, issues).write(left_out)


class _Writer:
    """matcher: finds what Blender has written."""

    def __init__(
        self, stage: Usd.Stage, matcher: StageMatcher, reading: SceneReading, units: StageUnits, issues: list[Issue]
    ) -> None:  # fmt: skip
        self.stage, self.matcher, self.reading, self.units, self.issues = stage, matcher, reading, units, issues
        self.layer = matcher.layer
        self.paths: dict[str, str | None] = {}
        self.moving: list[Placement] = []

    def write(self, sites: list[Placement]) -> None:
        is_whole = self.is_whole()
        for site in sites:
            top = self.shown_above(site)
            if self.find(site) is None and not (
                is_whole or site.obj.select_get() or (top is not None and top.obj.select_get())
            ):
                continue
            path = self.path_of(site)
            if path is not None and site.geometry in self.reading.model.prims:
                self.write_geometry(site, path)
        for site in self.moving:
            name = site.chain[-1]
            if site.has_type_without_prim:
                text = f"Blender's exporter knows no prim for '{name}', so its pose was written without its animation."
                fix = f"Give the animation and the physics of '{name}' to an Empty."
            else:
                text = f"'{name}' is hidden in renders, so its pose was written without its animation."
                fix = "Choose Viewport in Use Settings For, or File > Export > USD Physics."
            self.issues.append(Issue("AnimationLeftOut", "warning", "", name, text, fix))

    def is_whole(self) -> bool:
        """False if the export may be one of the selection alone, of which Blender does not tell a hook."""
        plain = [placement for placement in self.reading.placements if not placement.is_left_out]
        parents = {id(placement.parent) for placement in plain}
        leaves = [one for one in plain if one.instance is None and id(one) not in parents and not one.obj.select_get()]
        # Blender writes what is above a selected object, too.
        return not leaves or any(self.find(leaf) is not None for leaf in leaves)

    def shown_above(self, site: Placement) -> Placement | None:
        """The nearest placement above one that is not left out."""
        return next((above for above in site.ancestors() if not above.is_left_out), None)

    def find(self, site: Placement) -> str | None:
        """Path of the prim of an object that Blender has written."""
        return self.matcher.find(site)

    def path_of(self, site: Placement) -> str | None:
        """Path of the prim of an object, which is made if it is left out; None if the one above it is not there."""
        key = site.path
        if key not in self.paths:
            self.paths[key] = self.find(site) or (self.make(site) if site.is_left_out else None)
        return self.paths[key]

    def make(self, site: Placement) -> str | None:
        from ..usd.write import write_local

        parent = site.parent
        if parent is None:
            above, local = paths.parent_of(site.path), site.matrix
            if not above.strip("/"):
                local = self.top_matrix() @ local
        else:
            found = self.path_of(parent)
            if found is None:
                return None
            above, local = found, np.linalg.inv(parent.matrix) @ site.matrix
            if self.stage.GetPrimAtPath(above).IsInstanceProxy() or self.stage.GetPrimAtPath(above).IsInstance():
                self.matcher.make_unique(above, site, self.reading.model, self.issues)
        path = paths.free(f"{above}/{site.name}".replace("//", "/"), self.stage.GetPrimAtPath)
        spec = self.spec(path, "Xform", OBJECT_NAME, site.chain[-1])
        write_local(spec, local, 1.0)
        if is_animated(site.obj) and self.stage.HasAuthoredTimeCodeRange():
            self.moving.append(site)
        return path

    def top_matrix(self) -> frames.Matrix:
        """Where there is no root prim, Blender turns and scales the topmost objects to axis and units of the file."""
        turned = frames.transform((0, 0, 0), self.units.to_z_up.T)
        turned[:3, :3] /= self.units.meters_per_unit
        return turned

    def write_geometry(self, site: Placement, path: str) -> None:
        if self.matcher.find_geometry(site, path, self.reading) is not None or site.obj.type not in GEOMETRY_TYPES:
            return
        from pxr import Sdf, Vt

        from ..usd.write import vectors

        coordinates, corners, sizes = surface_of(site.evaluated)
        points = coordinates.reshape(-1, 3)
        if not len(points):
            return
        data: Any = site.obj.data
        free = paths.free(f"{path}/{prim_name(data.name)}", self.stage.GetPrimAtPath)
        spec = self.spec(free, "Mesh", DATA_NAME, data.name)
        names = Sdf.ValueTypeNames
        for attribute, type_name, value in (
            ("extent", names.Float3Array, vectors([points.min(0), points.max(0)])),
            ("points", names.Point3fArray, vectors(points)),
            ("faceVertexCounts", names.IntArray, Vt.IntArray(sizes.tolist())),
            ("faceVertexIndices", names.IntArray, Vt.IntArray(corners.tolist())),
        ):
            Sdf.AttributeSpec(spec, attribute, type_name).default = value
        Sdf.AttributeSpec(spec, "subdivisionScheme", names.Token, Sdf.VariabilityUniform).default = "none"

    def spec(self, path: str, type_name: str, key: str, name: str) -> Sdf.PrimSpec:
        """A new prim, with a name in Blender where Blender has written such names. key: of the attribute."""
        from pxr import Sdf

        spec = Sdf.CreatePrimInLayer(self.layer, path)
        spec.specifier, spec.typeName = Sdf.SpecifierDef, type_name
        if self.matcher.names_are_written:
            Sdf.AttributeSpec(spec, key, Sdf.ValueTypeNames.String, declaresCustom=True).default = name
        return spec
