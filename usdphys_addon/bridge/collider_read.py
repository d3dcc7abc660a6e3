# SPDX-License-Identifier: GPL-3.0-or-later
"""The colliders of an object -> collider prims: its own mesh, or primitives of their own size and place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..core import frames, primitives
from ..core.gprims import placed_gprim
from ..core.model import Mesh, Prim
from ..core.primitives import Primitive
from ..core.schemas import usd_geom, usd_physics
from . import mesh as meshes
from . import props
from .naming import prim_name, unique
from .placements import Placement

if TYPE_CHECKING:
    from .scene_read import SceneReader


class ColliderReader:
    """Reads the colliders of one object after the other; meshes that objects share are looked at once."""

    def __init__(self, scene: SceneReader) -> None:
        self.scene = scene
        self._meshes: dict[str, Mesh | None] = {}
        self._points: dict[str, np.ndarray[Any, Any]] = {}
        self._recognised: dict[str, Primitive | None] = {}
        self._recognised_points: dict[tuple[bytes, bytes, bytes], Primitive | None] = {}

    def read(self, placement: Placement, world: frames.Matrix) -> None:
        if "colliders" not in placement.touched or not len(placement.physics.colliders):
            return
        if not abs(placement.volume) > 1e-18:
            self.scene.issue(
                "ZeroScale", "error", placement.path, placement.obj.name,
                f"The collider of '{placement.obj.name}' is scaled to nothing by the object or one of its parents.",
                f"Give '{placement.obj.name}' and its parents a scale that is not zero.",
            )  # fmt: skip
            return
        own_mesh_used = False
        for item in placement.physics.colliders:
            is_geometry, kind = item.is_geometry, item.shape
            if is_geometry and kind in props.GPRIM_SHAPES:
                self.finish(self.geometry_prim(item, placement, world), item, placement)
                continue
            if is_geometry:
                # A collider on a prim that is no geometry: some readers take what is below it.
                self.finish(self.own_prim(placement.path, "Xform", placement, world), item, placement)
                continue
            bounding = self.bounding(placement) if kind == "AUTO" else ""
            shape = None if bounding else self.shape(item, placement)
            if shape is not None:
                prim: Prim | None = self.primitive_prim(item, shape, placement, world)
            elif own_mesh_used:
                self.scene.issue(
                    "MeshColliderTwice", "error", placement.path, placement.obj.name,
                    f"'{placement.obj.name}' has two colliders of its own mesh, and USD holds one.",
                    "Remove one of them, or make it a primitive.",
                )  # fmt: skip
                continue
            else:
                own_mesh_used = True
                prim = self.mesh_prim(item, bounding, placement, world)
            if prim is not None:
                self.finish(prim, item, placement)

    # ------------------------------------------------------------------ what the collider is

    def shape(self, item: Any, placement: Placement) -> Primitive | None:
        """The primitive in the object's space, Blender units; None where the object's own mesh collides."""
        if item.shape == "MESH":
            return None
        if item.shape == "AUTO":
            return self.recognised(placement)
        kind = props.GPRIM_SHAPES[item.shape]
        axis = "XYZ".index(item.axis)
        needs_fit = not item.is_property_set("location") or not all(
            item.is_property_set(name) for name in _PARAMETERS[kind]
        )
        rotation = frames.matrix_of(item.rotation) if item.is_property_set("rotation") else np.eye(3)
        points = self.points(placement) if needs_fit else np.zeros((0, 3))
        found = primitives.fit_in(kind, points, axis, rotation, placement.matrix)
        if item.is_property_set("location"):
            found.center = np.array(item.location, float)
        if item.is_property_set("size"):
            found.size = np.array(item.size, float)
        if item.is_property_set("radius"):
            found.radius = item.radius
        if item.is_property_set("height"):
            found.height = item.height
        return found

    def points(self, placement: Placement) -> np.ndarray[Any, Any]:
        key = _mesh_key(placement)
        if key not in self._points:
            self._points[key] = meshes.vertices_of(placement.evaluated)
        return self._points[key]

    def recognised(self, placement: Placement) -> Primitive | None:
        """The primitive that the mesh is and that the scale of the object leaves one."""
        key = _mesh_key(placement)
        if key not in self._recognised:
            coordinates, corners, sizes = meshes.surface_of(placement.evaluated)
            # Copies of a mesh are as common as objects that share one.
            content = (coordinates.tobytes(), corners.tobytes(), sizes.tobytes())
            if content not in self._recognised_points:
                points = coordinates.reshape(-1, 3).astype(float)
                found = primitives.recognise(points)
                is_solid = found is not None and primitives.is_closed(points, corners, sizes)
                self._recognised_points[content] = found if is_solid else None
            self._recognised[key] = self._recognised_points[content]
        found = self._recognised[key]
        if found is None or not (_is_unsheared_box(found, placement) or found.survives(placement.matrix)):
            return None
        return found

    def bounding(self, placement: Placement) -> str:
        """The approximation that gives exactly the box or sphere that the mesh is; empty where none does.

        The mesh then collides itself: no second prim to keep in step with it.
        """
        found = self.recognised(placement)
        if found is not None and found.kind is usd_geom.Cube and found.is_aligned:
            return "boundingCube"
        if found is not None and found.kind is usd_geom.Sphere:
            return "boundingSphere"
        return ""

    # ------------------------------------------------------------------ prims

    def mesh_prim(self, item: Any, bounding: str, placement: Placement, world: frames.Matrix) -> Prim | None:
        obj = placement.obj
        # What was recognised has faces.
        if not bounding and (
            obj.type not in meshes.GEOMETRY_TYPES or not placement.geometry or _has_no_faces(placement)
        ):
            self.scene.issue(
                "ColliderWithoutGeometry", "error", placement.path, obj.name,
                f"'{obj.name}' is a mesh collider and has no faces.",
                f"Give '{obj.name}' a mesh with faces, choose a primitive shape, or remove the collider.",
            )  # fmt: skip
            return None
        prim = self.own_prim(placement.geometry, "Mesh", placement, world)
        approximation = item.approximation if item.is_property_set("approximation") else None
        if approximation is None and (bounding or item.shape == "AUTO"):
            approximation = bounding or ("convexHull" if self.moves(placement) else "none")
        if approximation is not None or item.has_mesh_collision:
            prim.add(usd_physics.MeshCollisionAPI(approximation))
        prim.mesh = partial(_load, self._meshes, _mesh_key(placement), placement.evaluated, self.scene.meters)
        purpose = item.purpose
        prim.purpose = purpose.lower() if purpose != "AUTO" else "guide" if obj.hide_render else "default"
        return prim

    def moves(self, placement: Placement) -> bool:
        """True where the collider belongs to a body that the solver moves."""
        for above in (placement, *placement.ancestors()):
            body = above.physics.rigid_body if "rigid_body" in above.touched else None
            if body is not None and body.is_applied:
                return bool(body.rigid_body_enabled and not body.kinematic_enabled)
        return False

    def primitive_prim(self, item: Any, shape: Primitive, placement: Placement, world: frames.Matrix) -> Prim:
        """A gprim below the object, without shear or uneven scale whatever the object's own."""
        path = unique(f"{placement.path}/{prim_name(item.name or f'{shape.kind.usd_name}_collider')}", self.scene.taken)
        self.scene.taken.add(path)
        local, gprim = placed_gprim(shape, world, self.scene.meters)
        prim = Prim(path, shape.kind.usd_name, world @ local, label=placement.obj.name, local=local)
        prim.purpose = item.purpose.lower() if item.purpose != "AUTO" else "guide"
        prim.add(gprim)
        return self.scene.model.add(prim)

    def own_prim(self, path: str, type_name: str, placement: Placement, world: frames.Matrix) -> Prim:
        """The prim of the object's own geometry, which may be the prim of the object itself."""
        prim = self.scene.model.prims.get(path)
        if prim is None:
            prim = self.scene.model.add(Prim(path, type_name, world, label=placement.chain[-1]))
        prim.type_name = type_name
        return prim

    def geometry_prim(self, item: Any, placement: Placement, world: frames.Matrix) -> Prim:
        """The object itself as a gprim, with the parameters that it was imported with."""
        kind, meters = props.GPRIM_SHAPES[item.shape], self.scene.meters
        if kind is usd_geom.Cube:
            gprim: usd_geom.Gprim = usd_geom.Cube(item.size[0] * meters)
        elif kind is usd_geom.Sphere:
            gprim = usd_geom.Sphere(item.radius * meters)
        elif kind is usd_geom.Plane:
            across, along = ((2, 1), (0, 2), (0, 1))["XYZ".index(item.axis)]
            gprim = usd_geom.Plane(item.size[across] * meters, item.size[along] * meters, item.axis)
        else:
            gprim = kind(item.height * meters, item.radius * meters, item.axis)
        prim = self.own_prim(placement.path, kind.usd_name, placement, world)
        prim.purpose = item.purpose.lower() if item.purpose != "AUTO" else "default"
        if item.has_mesh_collision:
            prim.add(
                usd_physics.MeshCollisionAPI(item.approximation if item.is_property_set("approximation") else None)
            )
        prim.add(gprim)
        return prim

    def finish(self, prim: Prim, item: Any, placement: Placement) -> None:
        """What all colliders have: collision, mass, filters, groups, material."""
        scene, obj = self.scene, placement.obj
        collision = scene.properties.read(item, usd_physics.CollisionAPI)
        touched = item.keys()
        collision.simulation_owner = scene.owner(item.simulation_owner, prim.path, placement.chain[-1])
        prim.add(collision)
        scene.read_common(item, touched, prim, placement)
        material = item.physics_material if "physics_material" in touched else None
        if material is None and "physics_material" in placement.touched:
            material = placement.physics.physics_material
        if material is not None:
            prim.physics_binding = scene.material_path(material)
            prim.materials = (prim.physics_binding,)
            return
        if "physics_material_path" in placement.touched and placement.physics.physics_material_path:
            prim.physics_binding = scene.root + placement.physics.physics_material_path
            return
        slots = [slot.material for slot in obj.material_slots]
        paths = dict.fromkeys(scene.slot_path(material) for material in slots if material is not None)
        # Blender binds the whole mesh to the first slot, which comes last in the model.
        prim.materials = tuple(path for path in reversed(paths) if path)
        if prim.materials and prim.local is not None:
            # Blender binds the object's mesh; a primitive beside it has to be bound here.
            prim.physics_binding = prim.materials[-1]


_PARAMETERS: dict[type[usd_geom.Gprim], tuple[str, ...]] = {
    usd_geom.Cube: ("size",),
    usd_geom.Sphere: ("radius",),
    usd_geom.Capsule: ("radius", "height"),
    usd_geom.Cylinder: ("radius", "height"),
    usd_geom.Cone: ("radius", "height"),
    usd_geom.Plane: ("size",),
}


def _is_unsheared_box(found: Primitive, placement: Placement) -> bool:
    """True where nothing above an object can shear it, which a box along its axes is all there is to survive."""
    return found.kind is usd_geom.Cube and placement.parent is None and found.is_aligned


def _mesh_key(placement: Placement) -> str:
    """Objects of the same mesh share their points, unless modifiers or shape keys change them."""
    obj = placement.obj
    if obj.modifiers or obj.data is None or getattr(obj.data, "shape_keys", None) is not None:
        return f"object {obj.name_full}"
    return f"data {obj.data.name_full}"


def _load(known: dict[str, Mesh | None], key: str, evaluated: bpy.types.Object, meters: float) -> Mesh | None:
    """The mesh of an object; objects that share one share it here, too."""
    if key not in known:
        known[key] = meshes.read_mesh(evaluated, meters)
    return known[key]


def _has_no_faces(placement: Placement) -> bool:
    mesh = placement.evaluated.data
    if isinstance(mesh, bpy.types.Mesh):
        return not len(mesh.polygons)
    return not meshes.has_faces(placement.evaluated)
