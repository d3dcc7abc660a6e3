# SPDX-License-Identifier: GPL-3.0-or-later
"""Safe fixes of issues as edits of a model, without Blender: one function for each code.

They change nothing that works: they remove or correct values that are invalid, dangling or without effect. Blender has
the same fixes for its own properties.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from . import joint_kinds, schema
from .difference import Difference, PrimEdit
from .errors import InputError
from .model import PhysicsModel, Prim
from .rules.base import RULES, Facts, Finding, Target
from .schema import Schema
from .schemas import usd_physics
from .value_types import elements_of

_ROOT = usd_physics.ArticulationRootAPI.usd_name


@dataclass(slots=True)
class Edits:
    """The edits of a model that fixes collect. prims: the edited prims in their new state, by path."""

    facts: Facts
    prims: dict[str, Prim] = field(default_factory=dict)
    edits: dict[str, PrimEdit] = field(default_factory=dict)

    def _edit(self, prim: Prim) -> PrimEdit:
        if prim.path not in self.edits:
            changed = copy(prim)
            changed.schemas = dict(prim.schemas)
            self.prims[prim.path] = changed
            self.edits[prim.path] = PrimEdit(changed)
        return self.edits[prim.path]

    def value(self, prim: Prim, name: str) -> Any:
        """The schema of a prim as it is after the edits so far; None if it has none of that name."""
        return self.prims.get(prim.path, prim).schemas.get(name)

    def set(self, prim: Prim, name: str, **values: Any) -> None:
        """Give attributes of a schema values in SI; None clears one. Nothing is done to a schema that is removed."""
        edit = self._edit(prim)
        if name not in edit.prim.schemas:
            return
        edit.prim.schemas[name] = edit.prim.schemas[name].copy(**values)
        for attribute, value in values.items():
            if value is None:
                edit.values.pop((name, attribute), None)
                edit.cleared = tuple(dict.fromkeys((*edit.cleared, (name, attribute))))
            else:
                edit.values[name, attribute] = value

    def add(self, prim: Prim, name: str, value: Schema) -> None:
        """Apply a schema with its authored values."""
        edit = self._edit(prim)
        edit.prim.schemas[name] = value
        edit.added = (*edit.added, name)
        edit.values.update({(name, attribute.field): content for attribute, content in value.authored()})

    def remove(self, prim: Prim, name: str) -> None:
        """Remove an applied schema and its values."""
        edit = self._edit(prim)
        if edit.prim.schemas.pop(name, None) is None:
            return
        edit.removed = (*edit.removed, name)
        edit.values = {key: value for key, value in edit.values.items() if key[0] != name}
        edit.cleared = tuple(key for key in edit.cleared if key[0] != name)


class Planned(NamedTuple):
    """What was found to fix. done: (code, path, what the fix does). left: (code, path, why it is not fixed)."""

    difference: Difference
    done: list[tuple[str, str, str]]
    left: list[tuple[str, str, str]]


class ModelFix(NamedTuple):
    """apply(edits, prim, finding): raises InputError, with nothing changed, if the issue cannot be fixed.

    label: as of the same fix in Blender.
    """

    apply: Callable[[Edits, Prim, Finding], None]
    label: str


#: Fixes by the code of the issue.
FIXES: dict[str, ModelFix] = {}


def _fix(*codes: str, label: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def register(function: Callable[..., None]) -> Callable[..., None]:
        FIXES.update({code: ModelFix(function, label) for code in codes})
        return function

    return register


def plan(
    model: PhysicsModel, targets: Collection[Target], wanted: Callable[[str], bool],
    refused: Callable[[Prim], str] = lambda _: "",
) -> Planned:  # fmt: skip
    """The edits that fix the issues of a model which have a safe fix.

    wanted: whether issues of a code are to be fixed. refused: why a prim cannot be edited, or "".
    """
    facts = Facts(model)
    edits = Edits(facts)
    planned = Planned(Difference(), [], [])
    with np.errstate(all="ignore"):
        for rule in RULES:
            fix = FIXES.get(rule.code)
            if fix is None or not wanted(rule.code) or not any(target in rule.severities for target in targets):
                continue
            for finding in rule.check(facts):
                if finding.prim is not None:
                    _apply(fix, edits, finding.prim, finding, rule.code, planned, refused)
    planned.difference.edits.update({path: edit for path, edit in edits.edits.items() if edit})
    return planned


def _apply(
    fix: ModelFix, edits: Edits, prim: Prim, finding: Finding, code: str, planned: Planned,
    refused: Callable[[Prim], str],
) -> None:  # fmt: skip
    reason = "it is in an instance; fix the file of the instance" if prim.is_instance_proxy else refused(prim)
    try:
        if reason:
            raise InputError(reason)
        fix.apply(edits, prim, finding)
    except InputError as error:
        planned.left.append((code, prim.path, str(error)))
        return
    if (code, prim.path, fix.label) not in planned.done:
        planned.done.append((code, prim.path, fix.label))


# --------------------------------------------------------------------------- mass


_MASS = usd_physics.MassAPI.usd_name


@_fix("MassInvalidValues", label="Set the mass to automatic")
def _clear_mass(edits: Edits, prim: Prim, _finding: Finding) -> None:
    edits.set(prim, _MASS, mass=None)


@_fix("DensityInvalidValues", label="Set the density to automatic")
def _clear_density(edits: Edits, prim: Prim, _finding: Finding) -> None:
    edits.set(prim, _MASS, density=None)


@_fix("InertiaInvalidValues", label="Normalize the axes, or set the inertia to automatic")
def _mend_inertia(edits: Edits, prim: Prim, _finding: Finding) -> None:
    mass = edits.value(prim, _MASS)
    if mass is None:
        return
    moments, axes = mass.diagonal_inertia, mass.principal_axes
    length = math.hypot(*axes) if axes is not None else 0.0
    if moments is None or min(moments) <= 0 or not math.isfinite(length):
        edits.set(prim, _MASS, diagonal_inertia=None, principal_axes=None)
    elif not length:
        # Simulators that accept an inertia without axes take those of the body.
        edits.set(prim, _MASS, principal_axes=(1.0, 0.0, 0.0, 0.0))
    else:
        edits.set(prim, _MASS, principal_axes=tuple(part / length for part in axes))


@_fix("MassWithoutBody", label="Remove the mass")
def _remove_mass(edits: Edits, prim: Prim, _finding: Finding) -> None:
    edits.remove(prim, _MASS)


@_fix("KinematicVelocity", label="Clear the velocities")
def _clear_velocity(edits: Edits, prim: Prim, _finding: Finding) -> None:
    edits.set(prim, usd_physics.RigidBodyAPI.usd_name, velocity=None, angular_velocity=None)


# --------------------------------------------------------------------------- articulations and scenes


@_fix("ArticulationRootGives", label="Move the articulation root to the joint")
def _root_to_joint(edits: Edits, prim: Prim, _finding: Finding) -> None:
    for joint_prim, joint in edits.facts.joints:
        ends = [edits.facts.carrier.at(side[0]) if side else None for side in (joint.body0, joint.body1)]
        others = [end for end in ends if end is not prim]
        if isinstance(joint, usd_physics.FixedJoint) and joint.joint_enabled is not False and others == [None]:
            _move_root(edits, prim, joint_prim)
            return
    raise InputError("no fixed joint holds it to the world")


@_fix("ArticulationRootStuck", label="Move the articulation root to the body")
def _root_to_body(edits: Edits, prim: Prim, _finding: Finding) -> None:
    joint = prim.get(usd_physics.Joint)
    ends = (joint.body1, joint.body0) if joint is not None else ()
    body = next(
        (body_above for end in ends if end and (body_above := edits.facts.carrier.at(end[0])) is not None), None
    )
    if body is None:
        raise InputError("it is no joint; remove its articulation root, and make a body of it the root")
    _move_root(edits, prim, body)


def _move_root(edits: Edits, source: Prim, target: Prim) -> None:
    """Move an articulation root with what simulators read at a root."""
    for name, value in list(source.schemas.items()):
        if name == _ROOT or (value.family not in schema.OWN_FAMILIES and "Articulation" in name):
            if edits.value(target, name) is None:
                edits.add(target, name, value)
            edits.remove(source, name)


@_fix("SimulationOwnerInvalid", label="Clear the physics scene")
def _clear_owner(edits: Edits, prim: Prim, _finding: Finding) -> None:
    for name, value in list(prim.schemas.items()):
        if getattr(value, "simulation_owner", None):
            edits.set(prim, name, simulation_owner=None)


@_fix("GravityDirectionNotUnit", label="Normalize the direction")
def _normalize_gravity(edits: Edits, prim: Prim, _finding: Finding) -> None:
    name = usd_physics.PhysicsScene.usd_name
    direction = edits.value(prim, name).gravity_direction
    length = math.hypot(*direction)
    if not math.isfinite(length):
        raise InputError("its direction of gravity is not finite; set it by hand")
    edits.set(prim, name, gravity_direction=tuple(part / length for part in direction))


# --------------------------------------------------------------------------- colliders and groups


@_fix("ColliderTriangleMeshDynamic", label="Use the convex hull")
def _use_hull(edits: Edits, prim: Prim, _finding: Finding) -> None:
    name = usd_physics.MeshCollisionAPI.usd_name
    if edits.value(prim, name) is None:
        edits.add(prim, name, usd_physics.MeshCollisionAPI(approximation="convexHull"))
    else:
        edits.set(prim, name, approximation="convexHull")


@_fix("MeshCollisionOnNonMesh", label="Clear Collides As")
def _remove_approximation(edits: Edits, prim: Prim, _finding: Finding) -> None:
    edits.remove(prim, usd_physics.MeshCollisionAPI.usd_name)


def _set_targets(edits: Edits, prim: Prim, name: str, keep: Callable[[str, tuple[str, ...]], bool]) -> None:
    """Leave those targets of each relationship of a schema that are to be kept, each once."""
    value = edits.value(prim, name)
    for attribute, targets in list(value.authored()):
        if attribute.is_relationship:
            kept = tuple(dict.fromkeys(target for target in targets if keep(target, targets)))
            if kept != targets:
                edits.set(prim, name, **{attribute.field: kept})


@_fix("GroupDuplicateTarget", label="Remove duplicates")
def _drop_repeated(edits: Edits, prim: Prim, _finding: Finding) -> None:
    _set_targets(edits, prim, usd_physics.CollisionGroup.usd_name, lambda _target, _all: True)


@_fix("GroupMissingTarget", label="Remove missing groups")
def _remove_missing_targets(edits: Edits, prim: Prim, _finding: Finding) -> None:
    facts, groups = edits.facts, {group.path for group, _ in edits.facts.groups}
    name = usd_physics.CollisionGroup.usd_name
    filtered = edits.value(prim, name).filtered_groups

    def keep(target: str, targets: tuple[str, ...]) -> bool:
        return facts.exists(target) and (targets is not filtered or target in groups)

    _set_targets(edits, prim, name, keep)


@_fix("FilteredPairMissing", label="Remove missing objects")
def _remove_missing_pairs(edits: Edits, prim: Prim, _finding: Finding) -> None:
    name = usd_physics.FilteredPairsAPI.usd_name
    _set_targets(edits, prim, name, lambda target, _all: edits.facts.exists(target))


@_fix("FilteredPairSelf", label="Remove the object from its own pairs")
def _remove_self(edits: Edits, prim: Prim, _finding: Finding) -> None:
    name = usd_physics.FilteredPairsAPI.usd_name
    _set_targets(edits, prim, name, lambda target, _all: target != prim.path)


# --------------------------------------------------------------------------- joints


@_fix("JointRotationNotUnit", label="Normalize the rotation")
def _normalize_rotation(edits: Edits, prim: Prim, _finding: Finding) -> None:
    name, joint = _joint(prim)
    for side in ("local_rot0", "local_rot1"):
        rotation = getattr(joint, side)
        length = math.hypot(*rotation) if rotation is not None else 1.0
        if not math.isfinite(length) or not length:
            edits.set(prim, name, **{side: None})
        elif abs(length - 1) > 1e-3:
            edits.set(prim, name, **{side: tuple(part / length for part in rotation)})


@_fix("LimitsReversed", label="Swap the limits")
def _swap_limits(edits: Edits, prim: Prim, _finding: Finding) -> None:
    name, joint = _joint(prim)
    is_distance = isinstance(joint, usd_physics.DistanceJoint)
    low, high = ("min_distance", "max_distance") if is_distance else ("lower_limit", "upper_limit")
    edits.set(prim, name, **{low: getattr(joint, high), high: getattr(joint, low)})


def _joint(prim: Prim) -> tuple[str, Any]:
    """(schema name, joint) of a prim."""
    return next((name, value) for name, value in prim.schemas.items() if isinstance(value, usd_physics.Joint))


@_fix("LimitNotOnJoint", label="Remove the limits per degree of freedom")
def _remove_limits(edits: Edits, prim: Prim, _finding: Finding) -> None:
    for dof, limit in list(prim.instances(usd_physics.LimitAPI)):
        edits.remove(prim, f"{limit.usd_name}:{dof}")


@_fix("DriveNotOnJoint", label="Remove the drive")
def _remove_drives(edits: Edits, prim: Prim, _finding: Finding) -> None:
    allowed = joint_kinds.driven_dofs(prim.type_name)
    for dof, drive in list(prim.instances(usd_physics.DriveAPI)):
        if dof not in allowed:
            edits.remove(prim, f"{drive.usd_name}:{dof}")


@_fix("DriveInvalidValues", label="Set negative values to automatic")
def _clear_negative_gains(edits: Edits, prim: Prim, _finding: Finding) -> None:
    for dof, _ in list(prim.instances(usd_physics.DriveAPI)):
        names = ("stiffness", "damping", "max_force")
        _clear_negative(edits, prim, f"{usd_physics.DriveAPI.usd_name}:{dof}", names)


@_fix("MaterialInvalidValues", label="Set negative values to automatic")
def _clear_negative_material(edits: Edits, prim: Prim, _finding: Finding) -> None:
    names = ("static_friction", "dynamic_friction", "restitution", "density")
    _clear_negative(edits, prim, usd_physics.MaterialAPI.usd_name, names)


def _clear_negative(edits: Edits, prim: Prim, name: str, fields: tuple[str, ...]) -> None:
    value = edits.value(prim, name)
    if value is None:
        return
    edits.set(prim, name, **{each: None for each in fields if (getattr(value, each) or 0.0) < 0})


# --------------------------------------------------------------------------- simulators and numbers


@_fix(
    "VendorNeedsArticulation", "VendorNotInArticulation", "VendorOtherApproximation",
    label="Remove the settings without effect",
)  # fmt: skip
def _remove_without_effect(edits: Edits, prim: Prim, finding: Finding) -> None:
    for name in list(prim.schemas):
        if schema.split_applied(name)[0] == finding.words["schema"]:
            edits.remove(prim, name)


@_fix("NotFinite", label="Set invalid numbers to automatic")
def _clear_not_a_number(edits: Edits, prim: Prim, finding: Finding) -> None:
    wanted = finding.words["value"]
    for name in list(prim.schemas):
        value = edits.value(prim, name)
        for attribute, content in list(value.authored() if value is not None else ()):
            is_number = attribute.value.is_number and attribute.accepts(content)
            if attribute.usd_name(schema.split_applied(name)[1]) != wanted or not is_number:
                continue
            if not all(map(math.isfinite, elements_of(attribute.value, content))):
                edits.set(prim, name, **{attribute.field: None})
                return
    raise InputError(f"its {wanted} has to be set by hand")
