# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the prims that Blender's exporter has made for the objects of a model."""

from __future__ import annotations

from collections.abc import Set
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bridge.identity.match import Chain, find_in_ascii, find_written
from ..bridge.mesh import is_written_undeformed
from ..bridge.placements import Placement
from ..bridge.reading import SceneReading
from ..core import frames, paths
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from ..core.schemas.usd_geom import CURVE_TYPES, GEOMETRY_TYPES, GPRIM_TYPES
from ..core.validate import Issue

if TYPE_CHECKING:
    from pxr import Usd

#: Types of prims that hold the data of an object with physics: shapes, and the curves of cables.
_GEOMETRY = GEOMETRY_TYPES | CURVE_TYPES
#: Types of objects with faces that Blender's exporter leaves out.
_UNWRITTEN = frozenset({"SURFACE"})
OBJECT_NAME = "userProperties:blender:object_name"


class StageMatcher:
    """Compares the expected paths of a model with a stage that Blender has written, and corrects them.

    Blender writes the name of each object on its prim; from 5.1 on, its prim map gives the names too. Without either,
    the expected path counts. `identity.match` decides: to it, this is an `ExportedPrims`.

    specs: of the model's prims, by expected path. is_as_expected: every prim was found at its expected path. renames:
    other paths of the prims, by expected path. left_out: expected paths of prims that are not on the stage.
    """

    def __init__(self, stage: Usd.Stage, export_context: Any, *, by_name: bool = True) -> None:
        """by_name: False if the expected paths are certain."""
        self.stage = stage
        self.layer = stage.GetEditTarget().GetLayer()
        self.specs: dict[str, Any] = {}
        self.is_as_expected = True
        self.renames: dict[str, str] = {}
        self.left_out: Set[str] = frozenset()
        self._context = export_context
        self._by_name = by_name
        self._taken: set[str] = set()

    def matched(self, reading: SceneReading, issues: list[Issue]) -> PhysicsModel:
        """The model with the paths of the stage. Leaves out (and reports) what is not on the stage."""
        model = reading.model
        has_instances = bool(self.stage.GetPrototypes())
        renames = self.renames
        absent: set[str] = set()
        expected = [*model.prims]
        self._taken = {site.path for site in reading.sites.values()}
        for site in reading.sites.values():
            path = self.find(site)
            if path is not None:
                self._taken.add(path)
            if path is None:
                absent.add(site.path)
                self.report_absent(site, issues)
                continue
            if has_instances:
                self.make_unique(path, site, model, issues)
            if path != site.path:
                renames[site.path] = path
            if site.geometry in model.prims:
                geometry = self.find_geometry(site, path, reading)
                if geometry is None:
                    absent.add(site.geometry)
                    self.report_no_geometry(site, issues)
                elif site.geometry != site.path and (
                    is_written_undeformed(site.obj) or self.lacks_faces(model.prims[site.geometry], geometry)
                ):
                    self.put_beside(model.prims[site.geometry], geometry, renames)
                elif geometry != site.geometry:
                    renames[site.geometry] = geometry
        if absent:
            for path in list(model.prims):
                if path in absent or paths.is_below_any(path, absent):
                    del model.prims[path]
        self.drop_orphans(model, absent, issues)
        self.match_materials(model, reading, renames)
        self.avoid_collisions(model, renames)
        self.left_out = {path for path in expected if path not in model.prims}
        self.is_as_expected = not renames and not absent
        return model.renamed(renames) if renames else model

    # ------------------------------------------------------------------ objects

    def spec_at(self, path: str) -> Any:
        """The spec of a prim; added to `specs`."""
        spec = self.layer.GetPrimAtPath(path)
        if spec is not None:
            self.specs[path] = spec
        return spec

    def find(self, site: Placement) -> str | None:
        if not self._by_name and self.spec_at(site.path) is not None:
            return site.path
        return find_written(self, site.path, site.chain, site.matrix, self._taken)

    def object_name(self, path: str) -> str | None:
        """Name of the object of a prim; empty if Blender gives none, None where no prim is."""
        # The usual case first: one look-up instead of two.
        attribute = self.layer.GetAttributeAtPath(f"{path}.{OBJECT_NAME}")
        if attribute is not None:
            return str(attribute.default)
        return self.prim_map.get(path, "") if self.layer.GetPrimAtPath(path) is not None else None

    @cached_property
    def names_are_written(self) -> bool:
        """True if Blender wrote the names of objects on their prims, so that the prim map is not needed."""
        root = self.stage.GetDefaultPrim() or self.stage.GetPseudoRoot()
        return any(prim.HasAttribute(OBJECT_NAME) for prim in (root, *root.GetChildren()[:1]))

    def composed_name(self, prim: Any) -> str | None:
        """`object_name` of a composed prim, which may be in an instance."""
        attribute = prim.GetAttribute(OBJECT_NAME)
        return str(attribute.Get()) if attribute else self.prim_map.get(str(prim.GetPath()))

    @cached_property
    def prim_map(self) -> dict[str, str]:
        """Object names by path, from Blender's prim map (5.1 and later)."""
        raw = self._context.get_prim_map() if hasattr(self._context, "get_prim_map") else {}
        names = ((path, [item.name for item in ids if item.id_type == "OBJECT"]) for path, ids in raw.items())
        return {str(path): objects[0] for path, objects in names if objects}

    @cached_property
    def chains(self) -> dict[Chain, list[str]]:
        """Paths of all object prims by the names of the objects from the root down."""
        from pxr import Usd

        by_chain: dict[Chain, list[str]] = {}
        seen_through = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
        pending: list[tuple[Any, Chain]] = [(self.stage.GetPseudoRoot(), ())]
        while pending:
            prim, chain = pending.pop()
            for child in prim.GetFilteredChildren(seen_through):
                name = self.composed_name(child)
                below = chain if name is None else (*chain, name)
                if name is not None:
                    by_chain.setdefault(below, []).append(str(child.GetPath()))
                pending.append((child, below))
        return by_chain

    def distance(self, path: str, place: frames.Matrix) -> float:
        """Squared distance of a prim from a place (4, 4), in the space of the root prim."""
        from ..usd.rest_time import place_cache

        prim = self.stage.GetPrimAtPath(path)
        cache = place_cache(prim)
        world = cache.GetLocalToWorldTransform(prim)
        root = self.stage.GetDefaultPrim()
        if root:
            world = world * cache.GetLocalToWorldTransform(root).GetInverse()
        return float(sum((a - b) ** 2 for a, b in zip(world.ExtractTranslation(), place[:3, 3], strict=True)))

    def find_geometry(self, site: Placement, path: str, reading: SceneReading) -> str | None:
        expected = f"{path}{site.geometry[len(site.path) :]}"
        spec = self.spec_at(expected)
        if spec is not None and spec.typeName in _GEOMETRY:
            if path == site.path and expected not in reading.object_paths:
                return expected
            is_named = self.layer.GetAttributeAtPath(f"{expected}.{OBJECT_NAME}") is not None
            if not is_named and (self.names_are_written or self.object_name(expected) == ""):
                return expected
        prim = self.stage.GetPrimAtPath(path)
        if prim.GetTypeName() in _GEOMETRY:
            return path
        for child in prim.GetChildren():
            if child.GetTypeName() in _GEOMETRY and self.composed_name(child) is None:
                return str(self.editable(child.GetPath()).path)
        return None

    def lacks_faces(self, prim: Prim, geometry: str) -> bool:
        """True where Blender has written curves, without the faces that collide. Those of a cable are what it is."""
        return prim.type_name == "Mesh" and bool(self.stage.GetPrimAtPath(geometry).GetTypeName() in CURVE_TYPES)

    def put_beside(self, prim: Prim, geometry: str, renames: dict[str, str]) -> None:
        """Have a collider written as a mesh of its own, where that on the stage is deformed or has no faces."""
        renames[prim.path] = paths.free(f"{geometry}_collider", self.stage.GetPrimAtPath)
        prim.local, prim.purpose = np.eye(4), "guide"
        if prim.materials and not prim.physics_binding:
            prim.physics_binding = prim.materials[-1]

    # ------------------------------------------------------------------ instances

    def make_unique(self, path: str, site: Placement, model: PhysicsModel, issues: list[Issue]) -> None:
        """Make all instances above a prim with physics unique: prims in an instance cannot be changed."""
        prim = self.stage.GetPrimAtPath(path)
        for prefix in prim.GetPath().GetPrefixes():
            instance = self.stage.GetPrimAtPath(prefix)
            if instance.IsInstance():
                self.editable(prefix)
                instance.SetInstanceable(False)
                issues.append(Issue(
                    "InstanceMadeUnique", "info", str(prefix), site.chain[-1],
                    f"'{prefix}' is no longer an instance, because '{site.chain[-1]}' in it has physics.",
                    "Export without instancing to avoid this.",
                ))  # fmt: skip
        spec = self.editable(prim.GetPath())
        prim_of_model = model.prims.get(site.path)
        if prim_of_model is not None and prim_of_model.get(usd_physics.Joint) is not None:
            # A joint must not have the transform that comes through the reference.
            spec.referenceList.ClearEdits()

    def editable(self, path: Any) -> Any:
        """The spec of a prim in the edited layer, created if the prim is defined elsewhere."""
        from pxr import Sdf

        return self.layer.GetPrimAtPath(path) or Sdf.CreatePrimInLayer(self.layer, path)

    # ------------------------------------------------------------------ materials

    def match_materials(self, model: PhysicsModel, reading: SceneReading, renames: dict[str, str]) -> None:
        """Find Blender's materials; bind colliders for physics that Blender has bound to none of theirs."""
        from pxr import Sdf

        for path in reading.materials.values():
            if path in model.prims and self.layer.GetPrimAtPath(path) is None:
                plain = find_in_ascii(self, path)
                if plain is not None and plain not in model.prims:
                    renames[path] = plain
                elif path in reading.optional_materials:
                    del model.prims[path]
        targets: dict[tuple[str, ...], set[Any]] = {}
        # Blender binds all meshes of one material alike, so the first answer holds for all.
        bound: dict[tuple[str, ...], bool] = {}
        for prim in model.prims.values():
            is_gprim = prim.type_name in GPRIM_TYPES and prim.local is None
            if (is_gprim or prim.type_name == "Mesh") and prim.materials and not prim.physics_binding:
                wanted = targets.get(prim.materials)
                if wanted is None:
                    wanted = {Sdf.Path(renames.get(path, path)) for path in prim.materials}
                    targets[prim.materials] = wanted
                is_bound = bound.get(prim.materials) if not is_gprim else None
                if is_bound is None:
                    is_bound = self.binds(renames.get(prim.path, prim.path), wanted, with_faces=not is_gprim)
                    if len(prim.materials) == 1 and not is_gprim:
                        bound[prim.materials] = is_bound
                if not is_bound:
                    prim.physics_binding = prim.materials[-1]

    def binds(self, path: str, materials: set[Any], *, with_faces: bool) -> bool:
        """True where a prim, or some of its faces, are bound to one of the materials."""
        spec = self.layer.GetRelationshipAtPath(f"{path}.material:binding")
        if spec is not None and any(item in materials for item in spec.targetPathList.explicitItems):
            return True
        prim = self.stage.GetPrimAtPath(path) if with_faces else None
        for one in (prim, *prim.GetChildren()) if prim else ():
            relationship = one.GetRelationship("material:binding")
            if relationship and any(target in materials for target in relationship.GetTargets()):
                return True
        return False

    # ------------------------------------------------------------------ absent prims

    def report_absent(self, site: Placement, issues: list[Issue]) -> None:
        name = site.chain[-1]
        if site.obj.type in _UNWRITTEN:
            issues.append(Issue(
                "NotExported", "warning", site.path, name,
                f"'{name}' has physics and is not in the exported file, because Blender's exporter writes no such "
                "surfaces.", f"Convert '{name}' to a mesh.",
            ))  # fmt: skip
            return
        if site.obj.type == "FONT" and site.instance is not None:
            issues.append(Issue(
                "NotExported", "warning", site.path, name,
                f"'{name}' has physics and is not in the exported file, because Blender's exporter writes no instances "
                "of texts.", f"Convert '{name}' to a mesh.",
            ))  # fmt: skip
            return
        issues.append(Issue(
            "NotExported", "warning", site.path, name,
            f"'{name}' has physics and is not in the exported file, because it is hidden or not selected.",
            f"Show and select '{name}', or remove its physics.",
        ))  # fmt: skip

    def report_no_geometry(self, site: Placement, issues: list[Issue]) -> None:
        name = site.chain[-1]
        issues.append(Issue(
            "ColliderWithoutGeometry", "error", site.path, name,
            f"'{name}' is a mesh collider, and its mesh is not in the exported file.",
            f"Select '{name}', convert it to a mesh, or choose a primitive shape.",
        ))  # fmt: skip

    def drop_orphans(self, model: PhysicsModel, absent: set[str], issues: list[Issue]) -> None:
        """Remove joints whose body is not on the stage, and absent targets from lists."""
        if not absent:
            return
        for path, prim in list(model.prims.items()):
            for value in prim.schemas.values():
                for attribute, targets in value.authored():
                    if not attribute.is_relationship:
                        continue
                    left = tuple(
                        target for target in targets if target not in absent and not paths.is_below_any(target, absent)
                    )
                    if left == targets:
                        continue
                    setattr(value, attribute.field, left or None)
                    if attribute.body is None and not isinstance(value, usd_physics.Joint):
                        continue
                    model.prims.pop(path, None)
                    issues.append(Issue(
                        "JointBodyMissing", "error", path, prim.label,
                        f"The joint '{prim.label}' was left out, because a body of it is not in the exported file.",
                        "Export both bodies of the joint.",
                    ))  # fmt: skip
                    break

    def avoid_collisions(self, model: PhysicsModel, renames: dict[str, str]) -> None:
        """Rename prims that the add-on makes if Blender has written a prim at their path."""
        taken: set[str] = set(model.prims)
        for path, prim in model.prims.items():
            is_made = prim.local is not None or prim.type_name in ("PhysicsScene", "PhysicsCollisionGroup")
            if is_made and path not in renames and self.layer.GetPrimAtPath(path) is not None:
                renames[path] = paths.free(path, lambda other: other in taken or self.layer.GetPrimAtPath(other))
