# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders and triggers: their shapes, the node that each goes on, materials."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import frames, gprims, mass, paths
from ..core.frames import Matrix
from ..core.model import Mesh, Prim, SpherePoints
from ..core.schemas import usd_geom, usd_physics
from . import additions, names, shapes, vendor
from .additions import Additions
from .names import Family
from .shapes import Shape

#: Name of a material that had none.
_NUMBERED = re.compile(r"physics_material_\d+(_\d+)?")
#: Part of the largest number of a place by which rounding may change it.
_NEAR = 1e-3
_COMBINE = {theirs: ours for ours, theirs in names.COMBINE.items()}


@dataclass(slots=True)
class _Kind:
    """Primitives that are copies of each other.

    shapes: as `Colliders._shapes` gives them. scale: on the node that they belong to, if is_placed; None where they
    need a node of their own. values: what a collider says, by family and scale.
    """

    shapes: list[tuple[Shape, Matrix | None]]
    scale: tuple[float, float, float] | None = None
    is_placed: bool = False
    values: dict[tuple[str, tuple[float, float, float]], dict[str, Any]] = field(default_factory=dict)


class Colliders:
    """Writes colliders and triggers."""

    def __init__(self, file: Additions) -> None:
        self.file, self.document, self.model, self.nodes = file, file.document, file.model, file.nodes
        self.options, self.families, self.bodies = file.options, file.families, file.bodies
        self.meshes: dict[int, tuple[Mesh, int]] = {}
        self.kinds: dict[tuple[Any, ...], _Kind] = {}
        #: By path of a collider: True if it is the mesh of its node, True for a trigger.
        self.written: dict[str, tuple[bool, bool]] = {}
        #: Nodes of the parts of compound triggers.
        self.parts = {
            self.file.origins[part] for prim in self.model.prims.values() if prim.extras
            for part in prim.extras.get("trigger_nodes") or () if part in self.file.origins
        }  # fmt: skip

    def is_written(self, prim: Prim, api: usd_physics.CollisionAPI) -> bool:
        if api.resolved("collision_enabled"):
            return True
        self.file.lose(prim, "a disabled collider")
        return False

    def write(self, prim: Prim, filter_: dict[str, Any] | None) -> None:
        owner = self.model.body_of(prim.path)
        base = self.file.node_of(prim.path)
        if base is None or (owner is not None and owner.path not in self.bodies):
            if base is None and (owner is None or owner.path in self.nodes):
                self.file.issue(
                    "GltfNotExported", f"{prim.display} has no node in the file, so its collider is left out.",
                    "Export the object; switch Geometry Nodes Instances on, and GPU Instances and Flatten, which merge "
                    "nodes, off.", "error", prim,
                )  # fmt: skip
            return
        kind = self._kind_of(prim)
        if kind is not None:
            shapes = kind.shapes
        else:
            shapes = self._shapes(prim, is_dynamic=owner is not None and self.file.is_dynamic(owner.path))
        if not shapes:
            self.file.lose(prim, f"the shape {prim.type_name}")
            return
        self.file.written.counts["colliders"] += 1
        is_trigger = vendor.TRIGGER in prim.schemas
        body = self.bodies[owner.path] if owner is not None else None
        own = prim.path if prim.path in self.nodes else paths.parent_of(prim.path)
        is_of_base = own in self.nodes
        part = self.document.parents[base]
        if (
            is_trigger and base not in self.parts and part is not None and part in self.parts
            and all(self._scale_on(prim, part, offset, shape, is_of_base=False) for shape, offset in shapes)
        ):  # fmt: skip
            # The shape of a part of a compound trigger that has an object of its own, as after a round through USD.
            base, is_of_base = part, False
        for shape, offset in shapes:
            index, scale = self._collider_node(prim, base, body, offset, shape, kind, is_of_base=is_of_base)
            is_own = shape.mesh is not None and self._mesh(prim, index, shape.mesh) == self.document.nodes[index].get(
                "mesh"
            )
            self.written[prim.path] = is_own, is_trigger
            self.file.written.colliders.setdefault(prim.path, []).append(index)
            if body is None and not is_trigger:
                for path in (prim.path, *paths.ancestors_of(prim.path)):
                    self.file.static_nodes.setdefault(path, index)
            self.compare_name(prim, index, is_own, is_trigger)
            for family in self.families:
                value = kind.values.get((family.name, scale)) if kind is not None else None
                if value is None:
                    value = self._collider(family, prim, index, shape.scaled(scale), is_trigger=is_trigger)
                    if kind is not None:
                        kind.values[family.name, scale] = value
                if filter_ is not None:
                    value = {**value, "collisionFilter": self.file.pooled(family.body, "collisionFilters", filter_)}
                self.document.put_extension(index, family.body, {"trigger" if is_trigger else "collider": value})

    def compare_name(self, prim: Prim, index: int, is_own: bool, is_trigger: bool) -> None:
        """Note a collider that does not get its name from its node again, if it has one of its own.

        is_own: it is the mesh of its node.
        """
        if prim.name == f"{prim.type_name}_collider":
            return
        node = names.leaf(self.document.node_name(index))
        if prim.name != (node if is_own else names.collider_leaf(node, "trigger" if is_trigger else "collider")):
            self.file.lose(prim, additions.PRIM_NAME)

    def _kind_of(self, prim: Prim) -> _Kind | None:
        """What primitives share that are copies of each other; None where each is looked at by itself."""
        key = self.file.kind_key(prim)
        if key is None:
            return None
        kind = self.kinds.get(key)
        if kind is None:
            gprim = prim.get(usd_geom.Gprim)
            assert gprim is not None
            shape, offset = self._gprim_shape(prim, gprim)
            if shape.kind == "plane" or (self.options.is_for_godot and shape.is_tapered):
                return None
            kind = self.kinds[key] = _Kind([(shape, offset)])
        return kind

    def _collider(
        self, family: Family, prim: Prim, index: int, shape: Shape, *, is_trigger: bool
    ) -> dict[str, Any]:  # fmt: skip
        value: dict[str, Any] = {}
        if shape.mesh is not None and family.is_khr:
            value["geometry"] = {"mesh": self._mesh(prim, index, shape.mesh)}
            if shape.kind == "convex":
                value["geometry"]["convexHull"] = True
        else:
            made = {"type": shape.kind, shape.kind: shape.sizes}
            if self.options.is_for_godot and not family.is_khr and "radiusTop" in shape.sizes:
                made[shape.kind] = shape.for_godot()
                if shape.is_tapered:
                    self.file.issue(
                        "GltfGodotTaper", f"Godot 4 reads one radius, so the {shape.kind} of {prim.display} has the "
                        "larger of its two in the OMI extensions.", "Use one radius, or a hull.", "info", prim,
                    )  # fmt: skip
            if shape.mesh is not None:
                made[shape.kind] = {"mesh": self._mesh(prim, index, shape.mesh)}
            elif shape.kind == "plane" and not family.is_khr:
                plane = shapes.square(shape.sizes)
                width, depth, _ = np.ptp(plane.points, axis=0).tolist()
                self.file.issue(
                    "GltfPlaneAsMesh", f"The plane of {prim.display} is a mesh of {width:g} x {depth:g} m in the OMI "
                    "extensions, which have no planes.", "Use a box for a floor.", "info", prim,
                )  # fmt: skip
                made = {"type": "trimesh", "trimesh": {"mesh": self._mesh(prim, index, plane)}}
            number = self.file.pooled(family.shape, "shapes", made)
            value = {"geometry": {"shape": number}} if family.is_khr else {"shape": number}
        material = None if is_trigger else self.file.material_of(prim)
        if material is not None and material.get(usd_physics.MaterialAPI) is not None:
            made = self._material(family, material)
            value["physicsMaterial"] = self.file.pooled(family.body, "physicsMaterials", made)
        return value

    def _material(self, family: Family, prim: Prim) -> dict[str, Any]:
        api = prim.get(usd_physics.MaterialAPI)
        assert api is not None
        entry: dict[str, Any] = {"name": prim.name} if not _NUMBERED.fullmatch(prim.name) else {}
        entry |= {
            "staticFriction": max(api.resolved("static_friction"), 0.0),
            "dynamicFriction": max(api.resolved("dynamic_friction"), 0.0),
            "restitution": min(max(api.resolved("restitution"), 0.0), 1.0),
        }
        unwritten = prim.extras.get("unwritten", ()) if family.is_khr else ()
        for kind, default in names.UNWRITTEN.items():
            mode = _COMBINE.get(vendor.value(prim, vendor.MATERIAL, f"{kind}CombineMode"))
            if mode is None and family.is_khr:
                # That of UsdPhysics is the average.
                mode = "average"
            if mode is not None and not (kind in unwritten and mode == default):
                entry[f"{kind}Combine"] = mode
        return entry

    def _collider_node(
        self,
        prim: Prim,
        base: int,
        body: int | None,
        offset: Matrix | None,
        shape: Shape,
        kind: _Kind | None,
        *,
        is_of_base: bool,
    ) -> tuple[int, tuple[float, float, float]]:
        """(node that a collider goes on, scale of the shape there; along Z below zero where its ends change places).

        offset: place of the shape in the space of the prim. kind: what it shares with its copies. is_of_base: `base` is
        the node of the prim, or of its parent.
        """
        document = self.document
        key = "trigger" if vendor.TRIGGER in prim.schemas else "collider"
        taken = "extensions" in document.nodes[base] and any(
            key in document.node_extension(base, family.body) for family in self.families
        )
        if body is not None and base != body and not document.is_below(base, body):
            # The exporter has flattened the hierarchy.
            taken = True
        if not taken and "skin" not in document.nodes[base]:
            if kind is not None and is_of_base and prim.local is not None and prim.path not in self.nodes:
                # Only its pose below the node decides.
                if not kind.is_placed:
                    kind.scale, kind.is_placed = self._scale_on(prim, base, offset, shape, is_of_base=True), True
                scale = kind.scale
            else:
                scale = self._scale_on(prim, base, offset, shape, is_of_base=is_of_base)
            if scale is not None:
                return base, self._around(base, shape, scale)
        world = prim.world if offset is None else prim.world @ offset
        parent = body if body is not None else base
        index = document.add_node({"name": self.file.free_name(f"{document.node_name(base)}_{key}")}, parent)
        if shape.mesh is not None:
            self.file.place(index, world, prim)
            return index, (1.0, 1.0, 1.0)
        frame = frames.unscaled(world)
        is_mirrored = self.file.place_frame(index, frame, prim)
        x, y, z = np.abs(frames.scale_of(world)).tolist()
        return index, (x, y, z if is_mirrored == (frames.determinant(world) < 0.0) else -z)

    def _around(
        self, base: int, shape: Shape, scale: tuple[float, float, float]
    ) -> tuple[float, float, float]:  # fmt: skip
        """The scale of a shape on a node; a round one follows the largest scale there, so uneven ones do not add up."""
        last = 3 if shape.kind == "sphere" else 2
        if shape.kind not in ("sphere", "capsule", "cylinder") or max(scale) - min(scale) <= additions.SAME * max(
            scale
        ):
            return scale
        there: Any = np.abs(frames.scale_of(self.document.world(base)))
        factor = float(max(there[:last] * scale[:last]) / max(there[:last]))
        return (factor, factor, factor if last == 3 else scale[2])

    def _is_at(self, base: int, prim: Prim) -> bool:
        """False for a mesh of an object that has no node, such as one of an instance, whose node is `base`."""
        there = self.document.world(base)
        return bool(np.abs(there - prim.world).max() <= _NEAR * max(1.0, float(np.abs(there).max())))

    def _scale_on(
        self, prim: Prim, base: int, offset: Matrix | None, shape: Shape, *, is_of_base: bool
    ) -> tuple[float, float, float] | None:
        """Scale of a shape in the space of a node; None where it is moved, turned or mirrored there."""
        has_node = prim.path in self.nodes
        if is_of_base and (prim.local is not None or has_node or (prim.mesh is not None and self._is_at(base, prim))):
            # The mesh of an object has no place of its own.
            local = None if has_node else prim.local
            if local is None and offset is None:
                return (1.0, 1.0, 1.0)
            place: Any = offset if local is None else local if offset is None else local @ offset
        else:
            world = prim.world if offset is None else prim.world @ offset
            try:
                place = np.linalg.solve(self.document.world(base), world)
            except np.linalg.LinAlgError:
                return None
        # Without numpy: its overhead dominates for so few numbers.
        (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = place.tolist()
        size = max(abs(a), abs(b), abs(c), abs(d), abs(e), abs(f), abs(g), abs(h), abs(i), 1e-12)
        slack = additions.SAME * size
        if a <= 0.0 or max(abs(b), abs(c), abs(d), abs(f), abs(g), abs(h)) > slack:
            return None
        if max(abs(x), abs(y), abs(z)) > additions.SAME * max(shape.reach * size, 1e-6):
            return None
        return (a, e, i)

    def _shapes(self, prim: Prim, *, is_dynamic: bool) -> list[tuple[Shape, Matrix | None]]:
        """The shapes of a collider with their places in its space (None: at its origin); none if it has no shape."""
        gprim = prim.get(usd_geom.Gprim)
        if gprim is not None:
            return [self._gprim_shape(prim, gprim)]
        geometry = prim.mesh() if prim.mesh is not None else None
        if isinstance(geometry, SpherePoints):
            return [
                (Shape("sphere", {"radius": float(radius)}), frames.transform(center))
                for center, radius in zip(geometry.centers, geometry.radii, strict=True)
            ]
        if geometry is None or not len(geometry.triangles) or not np.isfinite(geometry.points).all():
            return []
        api = prim.get(usd_physics.MeshCollisionAPI)
        word = "none" if api is None or api.approximation is None else str(api.approximation)
        if word in ("boundingCube", "boundingSphere"):
            return [shapes.bounds_of(geometry, word)]
        kind = {"none": "trimesh", "convexHull": "convex"}.get(word)
        if kind is None:
            kind = "convex" if is_dynamic and word != "meshSimplification" else "trimesh"
            self.file.lose(prim, f"the approximation '{word}' ({kind} is written)")
        if not self.options.keeps_usd:
            self.file.lose(prim, "the polygons of a mesh (its triangles are written)")
        return [(Shape(kind, {}, geometry), None)]

    def _gprim_shape(self, prim: Prim, gprim: usd_geom.Gprim) -> tuple[Shape, Matrix | None]:
        if isinstance(gprim, usd_geom.Cube):
            return Shape("box", {"size": [abs(gprim.resolved("size"))] * 3}), None
        sizes = gprims.sizes(gprim)
        if sizes.kind is usd_geom.Sphere:
            return Shape("sphere", {"radius": sizes.radius}), None
        offset = None if sizes.axis == "Z" else frames.transform((0.0, 0.0, 0.0), shapes.upright(sizes.axis))
        kept = prim.extras.get("shape", {})
        if sizes.kind is usd_geom.Plane:
            values = kept.get("plane", {}) if self._is_kept_plane(kept, gprim) else {}
            return Shape("plane", dict(values)), offset
        kind = "capsule" if sizes.kind is usd_geom.Capsule else "cylinder"
        bottom, top = sizes.radius, 0.0 if sizes.kind is usd_geom.Cone else sizes.radius
        bottom, top = mass.taper_of(prim) or (bottom, top)
        return Shape(kind, {"height": sizes.height, "radiusBottom": bottom, "radiusTop": top}), offset

    def _is_kept_plane(self, kept: dict[str, Any], gprim: usd_geom.Gprim) -> bool:
        values = kept.get("plane", {})
        return shapes.is_near(values.get("sizeX", 2.0), gprim.resolved("width")) and shapes.is_near(
            values.get("sizeZ", 2.0), gprim.resolved("length")
        )

    def _mesh(self, prim: Prim, index: int, mesh: Mesh) -> int:
        """Index of a mesh of the document: that of the node if it is the same, else an appended one."""
        own = self.document.nodes[index].get("mesh")
        if own is not None and self._is_same_mesh(own, mesh):
            return int(own)
        if id(mesh) not in self.meshes:
            self.meshes[id(mesh)] = (mesh, self.document.add_mesh(self.file.free_name(f"{prim.name}_mesh"), mesh))
        return self.meshes[id(mesh)][1]

    def _is_same_mesh(self, index: int, mesh: Mesh) -> bool:
        key = ("gltf", index)
        is_same = mesh.derived.get(key)
        if is_same is None:
            primitives = self.document.json["meshes"][index].get("primitives", ())
            theirs = self.document.mesh(index) if len(primitives) == 1 else None
            plain = "targets" not in primitives[0] if primitives else False
            is_same = theirs is not None and plain and shapes.are_same(theirs, mesh)
            mesh.derived[key] = is_same
        return bool(is_same)
