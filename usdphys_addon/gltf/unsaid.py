# SPDX-License-Identifier: GPL-3.0-or-later
"""What a model says and glTF has no word for, prim by prim; `write` names what it finds about shapes and joints."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from functools import cache

from ..core.model import PhysicsModel, Prim
from ..core.prototypes import schemas_key
from ..core.schema import Schema, split_applied
from ..core.schemas import usd_geom, usd_physics
from . import joints, vendor

_USD = ("UsdPhysics", "UsdGeom")
ARTICULATION = "an articulation"


def facts(model: PhysicsModel) -> Iterator[tuple[Prim, str]]:
    """(prim, fact) of all that is lost."""
    if materials := model.materials:
        whole = {prim.physics_binding or (prim.materials or ("",))[-1] for prim in model.prims.values()}
        for path, prim in materials.items():
            if path not in whole:
                yield prim, "a physics material that belongs to no whole shape"
    known: dict[Hashable, list[str]] = {}
    for prim in model.prims.values():
        key = (schemas_key(prim), len(prim.materials))
        lost = known.get(key)
        if lost is None:
            lost = known[key] = list(_of_prim(model, prim))
        for fact in lost:
            yield prim, fact
    for prim in model.scenes.values():
        if prim.name != "PhysicsScene":
            yield prim, "the name of a physics scene"


def _of_prim(model: PhysicsModel, prim: Prim) -> Iterator[str]:
    for applied, schema in prim.schemas.items():
        name = split_applied(applied)[0]
        if schema.family not in _USD:
            if not _is_said(name, schema):
                yield name
        elif name in _RULES:
            yield from _RULES[name](model, prim, schema)
    if len(prim.materials) > 1:
        yield "the physics materials of single faces"


@cache
def _words(name: str) -> frozenset[str]:
    """Fields of a simulator's schema that glTF has words for."""
    return frozenset(vendor.field(name, leaf) for leaf in vendor.WORDS.get(name, ()))


def _is_said(name: str, schema: Schema) -> bool:
    authored = [item.field for item, _ in schema.authored()]
    if name == vendor.LIMIT and not getattr(schema, vendor.field(name, "stiffness")):
        # Damping is that of a soft limit.
        return False
    if name == vendor.BODY and getattr(schema, vendor.field(name, "lockedPosAxis")) not in (None, 0, vendor.ALL_AXES):
        return False
    return name in vendor.WORDS and _words(name).issuperset(authored) and (bool(authored) or name == vendor.TRIGGER)


# --------------------------------------------------------------------------- schemas of UsdPhysics


def _of_body(_model: PhysicsModel, _prim: Prim, schema: Schema) -> Iterator[str]:
    assert isinstance(schema, usd_physics.RigidBodyAPI)
    if schema.simulation_owner:
        yield "a physics scene of its own"
    if schema.starts_asleep:
        yield "a body that starts asleep"


def _of_collider(_model: PhysicsModel, _prim: Prim, schema: Schema) -> Iterator[str]:
    assert isinstance(schema, usd_physics.CollisionAPI)
    if schema.simulation_owner:
        yield "a physics scene of its own"


def _of_mass(_model: PhysicsModel, prim: Prim, schema: Schema) -> Iterator[str]:
    assert isinstance(schema, usd_physics.MassAPI)
    if prim.get(usd_physics.RigidBodyAPI) is None:
        yield "a mass or a density of a shape"
        return
    if schema.density is not None:
        yield "a density"
    said = [schema.decided(name) for name in ("mass", "center_of_mass", "diagonal_inertia")]
    if schema.density is None and all(value is None for value in said):
        yield "an automatic mass that is authored"
    if schema.principal_axes is not None and schema.decided("diagonal_inertia") is None:
        yield "principal axes without moments of inertia"


def _of_material(_model: PhysicsModel, _prim: Prim, schema: Schema) -> Iterator[str]:
    assert isinstance(schema, usd_physics.MaterialAPI)
    if schema.density is not None:
        yield "a density"


def _of_mesh(_model: PhysicsModel, prim: Prim, _schema: Schema) -> Iterator[str]:
    if prim.get(usd_geom.Gprim) is not None:
        yield "an approximation of a shape that is not a mesh"


def _of_group(_model: PhysicsModel, _prim: Prim, _schema: Schema) -> Iterator[str]:
    yield "a collision group as such (what passes through what is written)"


def _of_pairs(_model: PhysicsModel, _prim: Prim, _schema: Schema) -> Iterator[str]:
    yield "filtered pairs as such (what passes through what is written)"


def _of_tree(_model: PhysicsModel, _prim: Prim, _schema: Schema) -> Iterator[str]:
    yield ARTICULATION


def _of_joint(_model: PhysicsModel, prim: Prim, schema: Schema) -> Iterator[str]:
    assert isinstance(schema, usd_physics.Joint)
    if not schema.resolved("joint_enabled"):
        yield "a disabled joint"
        return
    for name, what in (("break_force", "a break force"), ("break_torque", "a break torque")):
        if math.isfinite(schema.decided(name) or math.inf):
            yield what
    if schema.exclude_from_articulation:
        yield "a joint that is excluded from its articulation"
    if f"{usd_physics.DriveAPI.usd_name}:distance" in prim.schemas:
        yield "a drive of a distance"
    if isinstance(schema, usd_physics.DistanceJoint) and schema.min_distance == 0.0:
        yield "a minimum distance of 0"
    again = Prim(prim.path)
    joints.read_settings(again, joints.settings_of(prim, schema))
    # What is kept for glTF is written as it was.
    if again.type_name != prim.type_name and "settings" not in prim.extras:
        yield f"the type {prim.type_name} (its limits are written)"


_RULES: dict[str, Callable[[PhysicsModel, Prim, Schema], Iterator[str]]] = {
    "PhysicsRigidBodyAPI": _of_body, "PhysicsCollisionAPI": _of_collider,
    "PhysicsMassAPI": _of_mass, "PhysicsMaterialAPI": _of_material, "PhysicsMeshCollisionAPI": _of_mesh,
    "PhysicsCollisionGroup": _of_group, "PhysicsFilteredPairsAPI": _of_pairs, "PhysicsArticulationRootAPI": _of_tree,
    **dict.fromkeys(
        (f"Physics{kind}Joint" for kind in ("", "Fixed", "Revolute", "Prismatic", "Spherical", "Distance")), _of_joint
    ),
}  # fmt: skip
