# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders of an object -> collider prims: its own mesh, or primitives with their own size and place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache, partial
from typing import Any

import bpy
from bpy.types import PropertyGroup

from ..core import frames, gprims, paths
from ..core.gprims import placed_gprim
from ..core.model import Mesh, Prim
from ..core.schemas import usd_geom, usd_physics
from ..core.words import counted
from . import gprim_properties, group_read, import_notes, material_read, props, vendor_rows
from . import mesh as meshes
from .collider_shapes import ColliderShapes
from .identity import remembered
from .identity.names import prim_name
from .placements import Placement
from .reading import ReadingContext

#: Types of modifiers whose result depends on time, poses or other objects.
_DEFORMING = frozenset({
    "ARMATURE", "CAST", "CLOTH", "CURVE", "HOOK", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "MESH_SEQUENCE_CACHE",
    "OCEAN", "SOFT_BODY", "SURFACE_DEFORM", "WARP", "WAVE",
})  # fmt: skip

#: Vertices of a mesh that is looked at in steps of its own.
HEAVY = 50_000
#: Properties of a collider that decide where a primitive is, beside its shape, and how large.
_PLACING = ("location", "rotation", "size", "radius", "height", "axis")


class ColliderReader:
    """Reads the colliders of one object after the other.

    with_meshes: give the prims a loader of their mesh, which holds the evaluated object.
    """

    def __init__(self, context: ReadingContext, shapes: ColliderShapes, *, with_meshes: bool = True) -> None:
        self.context, self.shapes, self.with_meshes = context, shapes, with_meshes
        #: Key of a mesh -> its loader, shared by all objects with that mesh, so that it is read once.
        self._loaders: dict[str, Callable[[], Mesh | None]] = {}
        self._places: dict[tuple[Any, ...], tuple[frames.Matrix, usd_geom.Gprim] | None] = {}

    def read(self, placement: Placement, world: frames.Matrix) -> None:
        if "colliders" not in placement.touched or not len(placement.physics.colliders):
            return
        if frames.is_flat(placement.volume):
            self.context.issue(
                "ZeroScale", "error", placement.path, placement.obj.name,
                f"The collider of '{placement.obj.name}' is scaled to nothing by the object or one of its parents.",
                f"Give '{placement.obj.name}' and its parents a scale that is not zero.",
            )  # fmt: skip
            self.context.model.unread |= {placement.path, placement.geometry}
            return
        self.name_deformation(placement)
        own_mesh_used = False
        for item in placement.physics.colliders:
            # The keys of a group are its set properties: all others have their defaults.
            touched = item.keys()
            is_geometry = "is_geometry" in touched and item.is_geometry
            kind = item.shape if "shape" in touched else "AUTO"
            is_gprim = is_geometry and kind in props.GPRIM_SHAPES and self._is_written_as_gprim(placement)
            if is_gprim and not own_mesh_used:
                own_mesh_used = True
                self.read_gprim(item, touched, placement, world)
                continue
            if is_geometry and not remembered.is_geometry(placement.obj):
                # A collider on a prim without geometry: some readers take the geometry below it.
                type_name = remembered.type_of(placement.obj)
                type_name = type_name if type_name in usd_geom.CURVE_TYPES else "Xform"
                above = self.own_prim(placement.path, type_name, placement, world)
                above.purpose = _shown_purpose(item, touched, placement)
                self.add_approximation(above, item, touched)
                self.finish(above, item, touched, placement)
                continue
            bounding = self.shapes.bounding(placement) if kind == "AUTO" else ""
            placed = None if bounding or is_gprim else self._placed(item, touched, kind, placement, world)
            if placed is not None:
                prim: Prim | None = self.primitive_prim(item, touched, placed, placement, world)
            elif own_mesh_used:
                self.context.issue(
                    "MeshColliderTwice", "error", placement.path, placement.obj.name,
                    f"'{placement.obj.name}' has two colliders of its own mesh, but USD allows one.",
                    "Remove one of them, or make it a primitive.",
                )  # fmt: skip
                continue
            else:
                own_mesh_used = True
                prim = self.mesh_prim(item, bounding, placement, world)
            if prim is not None:
                self.finish(prim, item, touched, placement)

    def heavy_steps(self, placement: Placement) -> Iterator[None]:
        """Look, in steps, what a heavy mesh is, before it is read."""
        if "colliders" not in placement.touched:
            return
        data = placement.evaluated.data
        if isinstance(data, bpy.types.Mesh) and len(data.vertices) > HEAVY:
            kinds = [item.shape for item in placement.physics.colliders]
            del data
            if "AUTO" in kinds:
                for _ in self.shapes.steps(placement):
                    yield

    def name_deformation(self, placement: Placement) -> None:
        """Report modifiers that change the mesh over time: a collider keeps one shape."""
        modifiers = placement.obj.modifiers
        if not modifiers:
            return
        deforming = [modifier for modifier in modifiers if modifier.type in _DEFORMING]
        shown = next((modifier for modifier in deforming if modifier.show_viewport), None)
        if shown is not None:
            name = placement.obj.name
            self.context.issue(
                "ColliderDeforms", "warning", placement.path, name,
                f"The modifier '{shown.name}' deforms '{name}' over time, but its collider is rigid: it keeps the "
                "shape of the frame at which it is exported or played.",
                f"Remove or apply the modifier, or give '{name}' a primitive as its collider.",
            )  # fmt: skip

    def name_instances(self, placement: Placement) -> None:
        """Report what is shown of a mesh that collides, and is no part of it."""
        count = placement.own_instances
        if count:
            name, instances = placement.obj.name, counted(count, "instance")
            self.context.issue(
                "ColliderLacksInstances", "warning", placement.path, name,
                f"The mesh of '{name}' collides without the {instances} that its geometry nodes show.",
                "Put Realize Instances at the end of these nodes.",
            )  # fmt: skip

    # ------------------------------------------------------------------ prims

    def mesh_prim(self, item: Any, bounding: str, placement: Placement, world: frames.Matrix) -> Prim | None:
        obj = placement.obj
        self.name_instances(placement)
        # A recognised primitive has faces.
        has_faces = bool(bounding) or (
            obj.type in meshes.GEOMETRY_TYPES and bool(placement.geometry) and self.shapes.has_faces(placement)
        )
        if not has_faces:
            self.report_no_faces(placement)
            # What a file says of a mesh without faces, of points, or of what an Empty stands for, stays in it.
            has_kept = obj.type in ("MESH", "EMPTY", "POINTCLOUD")
            if not has_kept or remembered.type_of(obj) not in usd_geom.GEOMETRY_TYPES:
                return None
        prim = self.own_prim(placement.geometry or placement.path, "Mesh", placement, world)
        approximation = _approximation_of(item)
        if approximation is None and (bounding or item.shape != "MESH"):
            approximation = bounding or ("convexHull" if self.moves(placement) else "none")
        if approximation is not None or item.has_mesh_collision:
            prim.add(usd_physics.MeshCollisionAPI(approximation))
        if self.with_meshes and has_faces:
            key = placement.mesh_key
            if key not in self._loaders:
                self._loaders[key] = cache(partial(meshes.read_mesh, placement.evaluated, self.context.meters))
            prim.mesh = self._loaders[key]
        prim.purpose = _shown_purpose(item, item.keys(), placement)
        return prim

    def report_no_faces(self, placement: Placement) -> None:
        """Report a mesh collider without faces, and why it has none where that is known."""
        name, family = placement.obj.name, re.sub(r"\.\d+$", "", placement.obj.name)
        if placement.obj.type == "META" and family != name:
            self.context.issue(
                "ColliderWithoutGeometry", "error", placement.path, name,
                f"'{name}' is a metaball of the family '{family}', of which another object has the surface.",
                f"Put the collider on that object, or give '{name}' another name.",
            )  # fmt: skip
            return
        self.context.issue(
            "ColliderWithoutGeometry", "error", placement.path, name,
            f"'{name}' is a mesh collider but has no faces.",
            f"Give '{name}' a mesh with faces, choose a primitive shape, or remove the collider.",
        )  # fmt: skip

    def moves(self, placement: Placement) -> bool:
        """True if the collider belongs to a dynamic body."""
        for above in (placement, *placement.ancestors()):
            body = above.physics.rigid_body if "rigid_body" in above.touched else None
            if body is not None and body.is_applied:
                is_moved = body.rigid_body_enabled and not body.kinematic_enabled
                return bool(is_moved or self.context.animated.hands_over(above.obj))
        return False

    def primitive_prim(
        self, item: PropertyGroup, touched: list[str], placed: tuple[frames.Matrix, usd_geom.Gprim],
        placement: Placement, world: frames.Matrix,
    ) -> Prim:  # fmt: skip
        """A gprim below the object, without shear or uneven scale even if the object has them."""
        local, gprim = placed
        given = item.name if "name" in touched else ""
        name = prim_name(given) if given else f"{gprim.usd_name}_collider"
        path = paths.free(f"{placement.path}/{name}", self.context.taken.__contains__)
        self.context.taken.add(path)
        prim = Prim(path, gprim.usd_name, world @ local, label=placement.chain[-1], local=local)
        prim.purpose = _purpose_of(item, touched) or "guide"
        self.add_approximation(prim, item, touched)
        prim.add(gprim)
        return self.context.model.add(prim)

    def _placed(
        self, item: Any, touched: list[str], kind: str, placement: Placement, world: frames.Matrix
    ) -> tuple[frames.Matrix, usd_geom.Gprim] | None:
        """`placed_gprim` of a collider, computed once for copies of an object; None where its mesh collides."""
        own = tuple([_plain(item, name) if name in touched else None for name in _PLACING])
        # In the words of glTF, and in those of USD.
        is_tapered = "extras" in touched and ("shape" in item.extras or "taper" in item.extras)
        key = (kind, own, placement.mesh_key, world[:3, :3].tobytes(), is_tapered)
        if key not in self._places:
            shape = self.shapes.shape(item, placement)
            meters = self.context.meters
            self._places[key] = None if shape is None else placed_gprim(shape, world, meters, is_tapered=is_tapered)
        place = self._places[key]
        return None if place is None else (place[0].copy(), copy(place[1]))

    def _is_written_as_gprim(self, placement: Placement) -> bool:
        """False for what was converted to a curve or the like: Blender writes that itself, so the gprim is below it.

        A source with edits keeps the gprim that it has.
        """
        obj = placement.obj
        return obj.type == "MESH" or obj.data is None or self.context.sources is not None

    def own_prim(self, path: str, type_name: str, placement: Placement, world: frames.Matrix) -> Prim:
        """The prim of the object's own geometry, which may be the prim of the object itself."""
        prim = self.context.model.prims.get(path)
        if prim is None:
            prim = self.context.model.add(Prim(path, type_name, world, label=placement.chain[-1]))
        prim.type_name = type_name
        return prim

    def read_gprim(self, item: Any, touched: list[str], placement: Placement, world: frames.Matrix) -> None:
        """The collider of an object that is itself a gprim; its mesh, if the gprim cannot have the shape of it."""
        gprim: usd_geom.Gprim | None = gprim_properties.gprim_of(item, self.context.meters)
        # Where a scale was applied or the origin was set, mesh and transform have changed together.
        if remembered.is_geometry(placement.obj) and import_notes.has_new_shape(placement.obj):
            points = self.shapes.points(placement).astype(float) * self.context.meters
            gprim = gprims.of_points(props.GPRIM_SHAPES[item.shape], points, item.axis)
        prim: Prim | None
        if gprim is not None:
            prim = self.geometry_prim(item, touched, gprim, placement, world)
        else:
            prim = self.mesh_prim(item, self.shapes.bounding(placement), placement, world)
        if prim is not None:
            self.finish(prim, item, touched, placement)

    def geometry_prim(
        self, item: PropertyGroup, touched: list[str], gprim: usd_geom.Gprim, placement: Placement, world: frames.Matrix
    ) -> Prim:  # fmt: skip
        """The object itself as a gprim."""
        prim = self.own_prim(placement.path, gprim.usd_name, placement, world)
        prim.purpose = _purpose_of(item, touched) or "default"
        self.add_approximation(prim, item, touched)
        prim.add(gprim)
        return prim

    def add_approximation(self, prim: Prim, item: Any, touched: list[str]) -> None:
        """Add the approximation of a collider that has no mesh of its own, if it had one in the file."""
        if "has_mesh_collision" in touched and item.has_mesh_collision:
            prim.add(usd_physics.MeshCollisionAPI(_approximation_of(item)))

    def finish(self, prim: Prim, item: Any, touched: list[str], placement: Placement) -> None:
        """Add the data of all kinds of colliders: collision, mass, filters, groups, material."""
        context, obj = self.context, placement.obj
        collision = context.properties.read(item, usd_physics.CollisionAPI, keys=touched)
        if "simulation_owner" in touched:
            collision.simulation_owner = context.owner(item.simulation_owner, prim.path, placement.chain[-1])
        prim.add(collision)
        if "extras" in touched:
            prim.extras.update(remembered.extras_of(item.extras))
        group_read.read_mass_and_filters(context, item, touched, prim, placement)
        if "vendor" in touched:
            vendor_rows.read_vendor(context, item, prim)
        material = item.physics_material if "physics_material" in touched else None
        if material is None and "physics_material" in placement.touched:
            material = placement.physics.physics_material
        if material is not None:
            prim.physics_binding = material_read.material_path(context, material)
            prim.materials = (prim.physics_binding,)
            return
        if "physics_material_path" in placement.touched and placement.physics.physics_material_path:
            prim.physics_binding = context.root + placement.physics.physics_material_path
            return
        slots = [slot.material for slot in obj.material_slots]
        if not slots:
            return
        paths = dict.fromkeys(material_read.slot_path(context, material) for material in slots if material is not None)
        # Blender binds the whole mesh to the first slot, which comes last in the model.
        prim.materials = tuple(path for path in reversed(paths) if path)
        if prim.materials and prim.local is not None:
            # Blender binds the object's mesh; a primitive beside it has to be bound here.
            prim.physics_binding = prim.materials[-1]


def _plain(item: PropertyGroup, name: str) -> Any:
    """The value of a property of a collider, vectors as tuples."""
    value = getattr(item, name)
    return value if isinstance(value, float | str) else tuple(value)


def _purpose_of(item: Any, touched: list[str]) -> str:
    """The purpose of a collider; empty where it is automatic."""
    purpose = item.purpose if "purpose" in touched else "AUTO"
    return "" if purpose == "AUTO" else str(purpose).lower()


def _shown_purpose(item: Any, touched: list[str], placement: Placement) -> str:
    """The purpose of a collider whose prim is that of its object."""
    return _purpose_of(item, touched) or ("guide" if placement.obj.hide_render else "default")


def _approximation_of(item: Any) -> str | None:
    """The approximation of a collider that is set, or the word of a simulator in its place; None without both."""
    return str(item.approximation) if item.is_property_set("approximation") else str(item.other_approximation) or None
