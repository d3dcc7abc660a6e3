# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics of a USD file in the words of Apple's AR Quick Look and RealityKit, added to the file.

Apple reads none of UsdPhysics, but the schemas `Preliminary_Physics*` of its own: a mass, one convex collider for each
body, friction and restitution, gravity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pxr import Gf, Sdf

from ..core import mass, paths
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue
from ..core.words import phrase
from .write import apply_schemas


class Row(NamedTuple):
    """One property of Apple's schemas. schema: that it belongs to; a typed one if `is_typed`. says: what it is."""

    schema: str
    name: str
    type: str
    says: str
    is_typed: bool = False


TABLE = (
    Row("Preliminary_PhysicsRigidBodyAPI", "preliminary:physics:rigidBody:mass", "double", "mass, kg"),
    Row("Preliminary_PhysicsRigidBodyAPI", "preliminary:physics:rigidBody:initiallyActive", "bool", "starts awake"),
    Row("Preliminary_PhysicsColliderAPI", "preliminary:physics:collider:convexShape", "rel", "collider"),
    Row("Preliminary_PhysicsMaterialAPI", "preliminary:physics:material:friction:static", "double", "static friction"),
    Row("Preliminary_PhysicsMaterialAPI", "preliminary:physics:material:friction:dynamic", "double",
        "dynamic friction"),
    Row("Preliminary_PhysicsMaterialAPI", "preliminary:physics:material:restitution", "double", "restitution"),
    Row("Preliminary_PhysicsGravitationalForce", "physics:gravitationalForce:acceleration", "double3",
        "gravity, stage units/s²", is_typed=True),
)  # fmt: skip
_ROWS = {row.says: row for row in TABLE}
#: Gprims whose shape the reader can take.
_SHAPES = (usd_geom.Cube, usd_geom.Sphere, usd_geom.Capsule, usd_geom.Cylinder, usd_geom.Cone)
_GRAVITY = "AppleGravity"
#: Gravity of the Earth, m/s².
_EARTH = 9.81
#: Approximations that are convex.
_CONVEX = ("convexHull", "boundingCube", "boundingSphere")


def add(layer: Sdf.Layer, model: PhysicsModel, up_axis: str, meters_per_unit: float) -> list[Issue]:
    """Add Apple's schemas to a root layer. model: the physics of the stage. Returns what the reader leaves out."""
    known = mass.colliders_by_body(model)
    for path, body in model.bodies.items():
        if _is_moved(body):
            _add_body(layer, model, body, known.get(path, []))
    for path, collider in model.colliders.items():
        owner = model.body_of(path)
        if (owner is None or not _is_moved(owner)) and _has_shape(collider):
            _put(Sdf.CreatePrimInLayer(layer, path), "collider", path)
    for path, prim in model.materials.items():
        material = prim.get(usd_physics.MaterialAPI)
        if material is not None:
            spec = Sdf.CreatePrimInLayer(layer, path)
            # The reader takes all three, or none.
            for says, value in (("static friction", material.static_friction),
                                ("dynamic friction", material.dynamic_friction),
                                ("restitution", material.restitution)):  # fmt: skip
                _put(spec, says, float(value or 0.0))
    _add_gravity(layer, model, up_axis, meters_per_unit)
    return list(_unread(model, known))


def _is_moved(body: Prim) -> bool:
    api = body.get(usd_physics.RigidBodyAPI)
    return api is not None and bool(api.resolved("rigid_body_enabled")) and not api.resolved("kinematic_enabled")


def _has_shape(collider: Prim) -> bool:
    api = collider.get(usd_physics.CollisionAPI)
    is_on = api is not None and api.resolved("collision_enabled")
    return bool(is_on) and (collider.mesh is not None or any(collider.get(kind) is not None for kind in _SHAPES))


def _largest(colliders: list[Prim]) -> Prim | None:
    """The collider with a shape that has the largest volume: the reader takes one."""
    shaped = [one for one in colliders if _has_shape(one)]
    return max(shaped, key=lambda one: mass.collider_shape(one).volume, default=None)


def _add_body(layer: Sdf.Layer, model: PhysicsModel, body: Prim, colliders: list[Prim]) -> None:
    spec = Sdf.CreatePrimInLayer(layer, body.path)
    _put(spec, "mass, kg", mass.mass_properties(model, body.path, colliders).mass)
    api = body.get(usd_physics.RigidBodyAPI)
    if api is not None and api.starts_asleep is not None:
        _put(spec, "starts awake", not api.starts_asleep)
    if (shape := _largest(colliders)) is not None:
        _put(spec, "collider", shape.path)


def _add_gravity(layer: Sdf.Layer, model: PhysicsModel, up_axis: str, meters_per_unit: float) -> None:
    scene = next(iter(model.scenes.values()), None)
    value = scene.get(usd_physics.PhysicsScene) if scene is not None else None
    if value is None:
        return
    size, direction = value.decided("gravity_magnitude"), value.gravity_direction or (0.0, 0.0, 0.0)
    length = math.hypot(*direction)
    if size is None and not length:
        return  # the reader's own, which is that of the Earth
    if not length:
        direction, length = (0.0, 0.0, -1.0), 1.0
    x, y, z = (part / length * (_EARTH if size is None else size) / meters_per_unit for part in direction)
    home = layer.defaultPrim
    path = f"/{home}/{_GRAVITY}" if home else f"/{_GRAVITY}"
    spec = Sdf.CreatePrimInLayer(layer, path)
    spec.specifier, spec.typeName = Sdf.SpecifierDef, _ROWS["gravity, stage units/s²"].schema
    _put(spec, "gravity, stage units/s²", Gf.Vec3d(x, z, -y) if up_axis == "Y" else Gf.Vec3d(x, y, z))


def _put(spec: Sdf.PrimSpec, says: str, value: Any) -> None:
    """Write a property by its row of the table."""
    row = _ROWS[says]
    if not row.is_typed:
        apply_schemas(spec, [row.schema])
    if row.type == "rel":
        target = spec.relationships.get(row.name) or Sdf.RelationshipSpec(spec, row.name, custom=False)
        target.targetPathList.explicitItems = [Sdf.Path(value)]
        return
    kind = Sdf.ValueTypeNames.Find(row.type)
    (spec.attributes.get(row.name) or Sdf.AttributeSpec(spec, row.name, kind)).default = value


# --------------------------------------------------------------------------- what is left out


def _unread(model: PhysicsModel, known: dict[str, list[Prim]]) -> Iterator[Issue]:
    several = [model.prims[path] for path, colliders in known.items() if sum(map(_has_shape, colliders)) > 1]
    bodies = [
        (path, body, api) for path, body in model.bodies.items()
        if (api := body.get(usd_physics.RigidBodyAPI)) is not None and api.resolved("rigid_body_enabled")
    ]  # fmt: skip
    bare = [body for path, body, _ in bodies if _is_moved(body) and not any(map(_has_shape, known.get(path, [])))]
    kinematic = [body for _, body, api in bodies if api.resolved("kinematic_enabled")]
    colliders = model.colliders.values()
    hollow = [prim for prim in colliders if prim.mesh is not None and _approximation(prim) not in _CONVEX]
    planes = [prim for prim in colliders if prim.get(usd_geom.Plane) is not None]
    for code, prims, template, fix in (
        ("AppleJointUnread", list(model.joints.values()),
         "Apple AR leaves out the joint '{name}'{more}, so bodies come apart.",
         "Deliver a pose that needs no joint, or an animation."),
        ("AppleOneCollider", several, "Apple AR takes one collider of the body '{name}'{more}: the largest.",
         "Give it one collider that encloses it."),
        ("AppleNoCollider", bare, "Apple AR finds no collider of the body '{name}'{more}, which falls through all.",
         "Give it a box, a sphere, a capsule or a mesh."),
        ("AppleKinematic", kinematic, "Apple AR takes the kinematic body '{name}'{more} as static.",
         "Animate what it carries."),
        ("AppleConvexOnly", hollow, "Apple AR takes the collider '{name}'{more} as its convex hull.",
         "Build hollow shapes of several static colliders."),
        ("ApplePlaneUnread", planes, "Apple AR leaves out the plane '{name}'{more}.", "Use a flat box."),
        ("AppleGroupUnread", list(model.groups.values()),
         "Apple AR leaves out the collision group '{name}'{more}: its members collide.",
         "Move apart what must not collide."),
    ):  # fmt: skip
        if prims:
            more = phrase(" and {count} more", count=len(prims) - 1) if len(prims) > 1 else ""
            text = phrase(template, name=paths.name_of(prims[0].path), more=more)
            yield Issue(code, "warning", prims[0].path, prims[0].label, text, fix)


def _approximation(prim: Prim) -> str:
    api = prim.get(usd_physics.MeshCollisionAPI)
    return str(api.resolved("approximation")) if api is not None else "none"
