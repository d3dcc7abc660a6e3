# SPDX-License-Identifier: GPL-3.0-or-later
"""What a prim says for one simulator in the words of another: the same artist concept, the same value in SI."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from . import concepts, mass, schema, vendor_schemas
from .joint_settings import following
from .model import PhysicsModel, Prim
from .schema import Attribute, Schema
from .schemas import usd_physics
from .vendors import is_vendor

#: Simulators with a variant set of their own, and the names of their files. Source: SimReady, RV.001 to RV.009.
FILES = {"PhysX": "physx", "Newton": "newton", "MuJoCo": "mujoco"}
#: Approximations that only PhysX knows. Source: SimReady, RV.011.
OF_PHYSX = frozenset({"sdf", "sphereFill"})
_MIMICS = {"Newton": "NewtonMimicAPI", "PhysX": "PhysxMimicJointAPI"}


def runtime_of(name: str) -> str:
    """The simulator that a schema (with instance) belongs to; empty for those of UsdPhysics and of nobody."""
    base = schema.split_applied(name)[0]
    cls = vendor_schemas.find(base)
    if cls is not None:
        return cls.family if is_vendor(cls) and cls.family in FILES else ""
    prefixes = {"Physx": "PhysX", "OmniPhysics": "PhysX", "Newton": "Newton", "Mjc": "MuJoCo"}
    return next((runtime for prefix, runtime in prefixes.items() if base.startswith(prefix)), "")


def runtime_of_property(name: str) -> str:
    """The simulator that a property of an unknown schema belongs to, by its namespace; empty for others."""
    space = name.partition(":")[0]
    if space == "newton":
        return "Newton"
    if space == "mjc":
        return "MuJoCo"
    return "PhysX" if space.startswith(("physx", "omniphysics")) else ""


def add_physx_words(model: PhysicsModel) -> None:
    """Say what prims say for Newton as attributes of PhysX, too. What is authored already stays."""
    for prim in model.prims.values():
        for name, made in _translated(model, prim, "PhysX", {"Newton"}).items():
            held = prim.schemas.setdefault(name, made)
            for attribute, content in made.authored():
                if getattr(held, attribute.field) is None:
                    setattr(held, attribute.field, content)


def translated(model: PhysicsModel, prim: Prim, runtime: str) -> dict[str, Schema]:
    """Schemas with the values that a prim has for other simulators only, in the words of one, by name with instance.

    Those that SimReady wants are added.
    """
    schemas = _translated(model, prim, runtime, FILES.keys() - {runtime})
    _add_expected(prim, runtime, schemas)
    return schemas


def _translated(model: PhysicsModel, prim: Prim, runtime: str, others: Set[str]) -> dict[str, Schema]:
    schemas: dict[str, Schema] = {}
    for name, value in prim.schemas.items():
        if not is_vendor(type(value)) or value.family not in others:
            continue
        for attribute, content in value.authored():
            if not attribute.is_relationship and not _is_idle(value, attribute):
                _translate(prim, runtime, schemas, name, attribute, content)
    for name, made in schemas.items():
        _raise_floors(prim.schemas.get(name), name, made)
    if runtime in _MIMICS and not any(schema.split_applied(name)[0] == _MIMICS[runtime] for name in prim.schemas):
        _follow(model, prim, runtime, schemas)
    return schemas


def _raise_floors(own: Schema | None, name: str, made: Schema) -> None:
    """Say what a simulator wants to be at least as large as what is said; what is authored stays, and is the most."""
    for attribute, content in list(made.authored()):
        floor = concepts.floor_of(name, attribute.usd_name(schema.split_applied(name)[1]))
        other = vendor_schemas.attribute_named(name, floor) if floor else None
        if other is None:
            continue
        least = getattr(own, other.field, None)
        if least is None:
            setattr(made, other.field, max(content, getattr(made, other.field) or 0.0))
        else:
            setattr(made, attribute.field, min(content, least))


def _is_idle(value: Schema, attribute: Attribute) -> bool:
    """True for the damping of a hard limit, which PhysX ignores: Newton's limits are springs, which it would damp."""
    is_damping = value.usd_name == "PhysxLimitAPI" and attribute.field == "damping"
    return is_damping and not getattr(value, "stiffness", None)


def _translate(
    prim: Prim, runtime: str, found: dict[str, Schema], name: str, attribute: Attribute, content: Any
) -> None:  # fmt: skip
    known = concepts.concept_of(name, attribute.usd_name(schema.split_applied(name)[1]))
    if known is None:
        return
    concept, dof = known
    dofs = (dof,) if dof else concepts.dofs_of(prim.type_name)
    here = attribute.dimension_for(_dof(prim, name))
    for twin in concept.twins:
        for applied, twin_name in concepts.placed(twin, dofs) if twin.runtime == runtime else ():
            other = vendor_schemas.attribute_named(applied, twin_name)
            cls = vendor_schemas.find(schema.split_applied(applied)[0])
            if other is None or cls is None:
                continue
            own = prim.schemas.get(applied)
            if own is not None and getattr(own, other.field) is not None:
                continue
            there = other.dimension_for(_dof(prim, applied))
            value = round(content) if other.value.base == "int" and isinstance(content, float) else content
            if other.value.base == "float" and isinstance(content, int) and not isinstance(content, bool):
                value = float(content)
            # A number of which no table says what it measures, as MuJoCo's, is SI.
            is_alike = here._replace(angle=0) == there._replace(angle=0) or not all(
                map(vendor_schemas.is_known, (attribute, other))
            )
            if not is_alike or not other.allows(value):
                continue
            factor = vendor_schemas.number_for_simulator(other, _dof(prim, applied))
            factor /= vendor_schemas.number_for_simulator(attribute, _dof(prim, name))
            value = value * factor if factor != 1.0 else value
            made = found.setdefault(applied, cls())
            if getattr(made, other.field) is None:
                setattr(made, other.field, value)


def _add_expected(prim: Prim, runtime: str, found: dict[str, Schema]) -> None:
    """Add schemas that SimReady wants on colliders, joints and articulations of a simulator. They change nothing."""
    names = []
    if prim.get(usd_physics.CollisionAPI) is not None:
        shape = prim.get(usd_physics.MeshCollisionAPI)
        if runtime == "Newton" and "NewtonSDFCollisionAPI" not in {*prim.schemas, *found}:
            names.append("NewtonMeshCollisionAPI" if prim.type_name == "Mesh" else "NewtonCollisionAPI")
        # MuJoCo takes the hull of every mesh; SimReady wants the file to say so, which the base would contradict.
        if runtime == "MuJoCo" and (shape is None or shape.approximation in ("convexHull", *OF_PHYSX)):
            names.append("MjcCollisionAPI")
    joint = prim.get(usd_physics.Joint)
    if runtime == "MuJoCo" and joint is not None and not isinstance(joint, usd_physics.FixedJoint):
        names.append("MjcJointAPI")
    for name in names:
        cls = vendor_schemas.find(name)
        if cls is not None and name not in prim.schemas:
            found.setdefault(name, cls())
    root: Any = vendor_schemas.find("NewtonArticulationRootAPI")
    if runtime == "Newton" and prim.get(usd_physics.ArticulationRootAPI) is not None and root is not None:
        made: Any = prim.schemas.get(root.usd_name) or found.setdefault(root.usd_name, root())
        if made.self_collision_enabled is None and root.usd_name in found:
            made.self_collision_enabled = schema.attribute_of(root, "self_collision_enabled").fallback


def unweighed(model: PhysicsModel) -> dict[str, float]:
    """Mass (kg) by path of the bodies that say none, and whose colliders do not all. SimReady: RB.007, RB.011."""
    said: dict[str, bool] = {}
    for path, prim in model.colliders.items():
        owner = model.body_of(path)
        if owner is not None:
            said[owner.path] = said.get(owner.path, True) and _says_mass(prim)
    silent = [path for path, body in model.bodies.items() if not _says_mass(body) and not said.get(path)]
    colliders = mass.colliders_by_body(model, silent)
    return {path: mass.mass_properties(model, path, colliders[path]).mass for path in silent}


def _says_mass(prim: Prim) -> bool:
    """True also for a negative mass, which is an error of its own."""
    api = prim.get(usd_physics.MassAPI)
    return api is not None and bool(api.mass)


def _dof(prim: Prim, name: str) -> str:
    base, instance = schema.split_applied(name)
    cls = vendor_schemas.find(base)
    return instance if cls is None else vendor_schemas.dof_of(cls, instance, prim.type_name)


def _follow(model: PhysicsModel, prim: Prim, runtime: str, found: dict[str, Schema]) -> None:
    """Say what a joint follows in the words of a simulator. PhysX has them for hinges only."""
    rule = following(prim)
    leader = model.prims.get(rule.leader) if rule is not None else None
    if rule is None or leader is None:
        return
    cls: Any = vendor_schemas.find(_MIMICS[runtime])
    if runtime == "Newton":
        found[_MIMICS[runtime]] = cls(mimic_joint=(rule.leader,), mimic_coef0=rule.offset, mimic_coef1=rule.ratio)
        return
    axes = [_axis(one) for one in (prim, leader)]
    if all(axes):
        made = cls(reference_joint=(rule.leader,), offset=-rule.offset, gearing=-rule.ratio)
        made.reference_joint_axis = axes[1]
        found[f"{_MIMICS[runtime]}:{axes[0]}"] = made


def _axis(prim: Prim) -> str:
    """The degree of freedom of a hinge, as PhysX names it; empty for other joints."""
    joint = prim.get(usd_physics.RevoluteJoint)
    return f"rot{joint.resolved('axis')}" if joint is not None else ""
