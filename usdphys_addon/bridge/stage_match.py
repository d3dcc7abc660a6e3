# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the prims that Blender's exporter has made for the objects of a model."""

from __future__ import annotations

from typing import Any

from ..core import schema
from ..core.model import PhysicsModel
from ..core.validate import Issue
from .placements import Chain
from .scene_read import SceneReading, Site

OBJECT_NAME = "userProperties:blender:object_name"
GEOMETRY_TYPES = frozenset({"Mesh", "Points", *schema.schemas_of("UsdGeom")})


class StageMatcher:
    """Compares the expected paths of a model with a stage that Blender has filled, and corrects them.

    Blender writes the name of each object on its prim (or, from 5.1 on, tells it in a map); where neither is at hand,
    the expected path counts.
    """

    def __init__(self, stage: Any, export_context: Any) -> None:
        self.stage = stage
        self.layer = stage.GetEditTarget().GetLayer()
        self._context = export_context
        self._map: dict[str, str] | None = None
        self._chains: dict[Chain, list[str]] | None = None

    def matched(self, reading: SceneReading, issues: list[Issue]) -> PhysicsModel:
        """The model with the paths of the stage; what is not on the stage is left out and said."""
        model = reading.model
        renames: dict[str, str] = {}
        absent: set[str] = set()
        for site in reading.sites.values():
            path = self.find(site)
            if path is None:
                absent.add(site.path)
                if not self.is_brought_by_instance(site, issues):
                    self.say_absent(site, issues)
                continue
            if path != site.path:
                renames[site.path] = path
            if site.geometry_path in model.prims:
                geometry = self.find_geometry(site, path)
                if geometry is None:
                    absent.add(site.geometry_path)
                    self.say_no_geometry(site, issues)
                elif geometry != site.geometry_path:
                    renames[site.geometry_path] = geometry
        for path in list(model.prims):
            if path in absent or _is_below(path, absent):
                del model.prims[path]
        self.drop_orphans(model, reading, absent, issues)
        for path in reading.optional_materials:
            if self.layer.GetPrimAtPath(path) is None:
                model.prims.pop(path, None)
        self.avoid_collisions(model, renames)
        return model.renamed(renames) if renames else model

    # ------------------------------------------------------------------ objects

    def find(self, site: Site) -> str | None:
        spec = self.layer.GetPrimAtPath(site.path)
        if spec is not None and self.object_name(spec) in (site.chain[-1], None):
            return site.path
        candidates = self.chains.get(site.chain, [])
        if len(candidates) > 1:
            return min(candidates, key=lambda path: self.distance(path, site))
        return candidates[0] if candidates else None

    def object_name(self, spec: Any) -> str | None:
        """Name of the object of a prim; None where the prim is no object or nothing tells."""
        attribute = spec.attributes.get(OBJECT_NAME)
        if attribute is not None:
            return str(attribute.default)
        return self.prim_map.get(str(spec.path))

    @property
    def prim_map(self) -> dict[str, str]:
        """Object names by path, where Blender tells them (5.1 and later)."""
        if self._map is None:
            self._map = {}
            if hasattr(self._context, "get_prim_map"):
                for path, ids in self._context.get_prim_map().items():
                    names = [item.name for item in ids if item.id_type == "OBJECT"]
                    if names:
                        self._map[str(path)] = names[0]
        return self._map

    @property
    def chains(self) -> dict[Chain, list[str]]:
        """Paths of all object prims by the names of the objects from the root down."""
        if self._chains is None:
            self._chains = {}
            pending: list[tuple[Any, Chain]] = [(self.layer.pseudoRoot, ())]
            while pending:
                spec, chain = pending.pop()
                for child in spec.nameChildren:
                    name = self.object_name(child)
                    below = chain if name is None else (*chain, name)
                    if name is not None:
                        self._chains.setdefault(below, []).append(str(child.path))
                    pending.append((child, below))
        return self._chains

    def distance(self, path: str, site: Site) -> float:
        """How far a prim is from where the object is expected, in the space of the root."""
        from pxr import Usd, UsdGeom

        cache = UsdGeom.XformCache(Usd.TimeCode.Default())
        world = cache.GetLocalToWorldTransform(self.stage.GetPrimAtPath(path))
        root = self.stage.GetDefaultPrim()
        if root:
            world = world * cache.GetLocalToWorldTransform(root).GetInverse()
        return float(sum((a - b) ** 2 for a, b in zip(world.ExtractTranslation(), site.position, strict=True)))

    def find_geometry(self, site: Site, path: str) -> str | None:
        expected = f"{path}{site.geometry_path[len(site.path):]}"
        spec = self.layer.GetPrimAtPath(expected)
        if spec is not None and spec.typeName in GEOMETRY_TYPES and self.object_name(spec) is None:
            return expected
        spec = self.layer.GetPrimAtPath(path)
        if spec.typeName in GEOMETRY_TYPES:
            return path
        for child in spec.nameChildren:
            if child.typeName in GEOMETRY_TYPES and self.object_name(child) is None:
                return str(child.path)
        return None

    # ------------------------------------------------------------------ what is missing

    def is_brought_by_instance(self, site: Site, issues: list[Issue]) -> bool:
        """True where the prim comes through an instance, whose source carries the physics; it is made editable."""
        prim = self.stage.GetPrimAtPath(site.path)
        if not prim:
            return False
        instance = prim
        while instance and not instance.IsInstance():
            instance = instance.GetParent()
        if instance:
            instance.SetInstanceable(False)
            issues.append(Issue(
                "InstanceMadeUnique", "info", str(instance.GetPath()), site.chain[-1],
                f"'{instance.GetPath()}' is no longer an instance, because '{site.chain[-1]}' in it has physics.",
                "Export without instancing to avoid this.",
            ))  # fmt: skip
        return True

    def say_absent(self, site: Site, issues: list[Issue]) -> None:
        name = site.chain[-1]
        issues.append(Issue(
            "NotExported", "warning", site.path, name,
            f"'{name}' has physics and is not in the exported file, because it is hidden or not selected.",
            f"Show and select '{name}', or remove its physics.",
        ))  # fmt: skip

    def say_no_geometry(self, site: Site, issues: list[Issue]) -> None:
        name = site.chain[-1]
        issues.append(Issue(
            "ColliderWithoutGeometry", "error", site.path, name,
            f"'{name}' is a mesh collider, and Blender exports no mesh for it.",
            f"Convert '{name}' to a mesh, or choose a primitive shape.",
        ))  # fmt: skip

    def drop_orphans(
        self, model: PhysicsModel, reading: SceneReading, absent: set[str], issues: list[Issue]
    ) -> None:
        """Remove joints whose body is not on the stage, and absent targets from lists."""
        if not absent:
            return
        for path, prim in list(model.prims.items()):
            for value in prim.schemas.values():
                for attribute, targets in value.authored():
                    if not attribute.is_relationship:
                        continue
                    left = tuple(target for target in targets if target not in absent and not _is_below(target, absent))
                    if left == targets:
                        continue
                    setattr(value, attribute.field, left or None)
                    if attribute.body is None and not isinstance(value, schema.Joint):
                        continue
                    model.prims.pop(path, None)
                    issues.append(Issue(
                        "JointBodyMissing", "error", path, prim.label,
                        f"The joint '{prim.label}' was left out, because a body of it is not in the exported file.",
                        "Export both bodies of the joint.",
                    ))  # fmt: skip
                    break

    def avoid_collisions(self, model: PhysicsModel, renames: dict[str, str]) -> None:
        """Prims that we make must not take the place of something that Blender wrote."""
        taken: set[str] = set(model.prims)
        for path, prim in model.prims.items():
            is_made = prim.local is not None or prim.type_name in ("PhysicsScene", "PhysicsCollisionGroup")
            if is_made and self.layer.GetPrimAtPath(path) is not None:
                parent, _, leaf = path.rpartition("/")
                number = 1
                while f"{parent}/{leaf}_{number}" in taken or self.layer.GetPrimAtPath(f"{parent}/{leaf}_{number}"):
                    number += 1
                renames[path] = f"{parent}/{leaf}_{number}"


def _is_below(path: str, roots: set[str]) -> bool:
    while "/" in path[1:]:
        path = path.rsplit("/", 1)[0]
        if path in roots:
            return True
    return False

