# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes of materials, of settings of simulators, and of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import bpy
from bpy.types import PropertyGroup, Scene

from ..authoring import vendor_edits
from ..bridge import vendor_rows
from ..bridge.writing import unit_length
from ..core.units import is_infinite
from .fix_table import fix
from .issue_data import editable, joint_of, material_of, nothing_to_do, object_of, require, unset
from .report import FoundIssue

# --------------------------------------------------------------------------- materials


@fix("MaterialInvalidValues", safe=True, label="Set negative values to automatic")
def _unset_negative_material(_scene: Scene, issue: FoundIssue) -> None:
    material = material_of(issue)
    names = ("static_friction", "dynamic_friction", "restitution", "density")
    unset(material, *(name for name in names if getattr(material, name) < 0))


@fix("RestitutionAboveOne", safe=False, label="Set the restitution to 1")
def _limit_restitution(_scene: Scene, issue: FoundIssue) -> None:
    material_of(issue).restitution = 1.0


@fix("FrictionOrder", safe=False, label="Raise the static to the dynamic friction")
def _raise_friction(_scene: Scene, issue: FoundIssue) -> None:
    material = material_of(issue)
    material.static_friction = material.dynamic_friction


# --------------------------------------------------------------------------- simulators


@fix("VendorJointApiDead", safe=False, label="Use Newton's attributes for motor inertia and velocity")
def _convert_dead_joint_api(scene: Scene, issue: FoundIssue) -> None:
    obj = editable(object_of(scene, issue))
    if not vendor_edits.convert_joint_api(obj.usdphys):
        raise nothing_to_do(issue)


@fix("VendorDeprecated", safe=False, label="Use Newton's attributes")
def _convert_deprecated(scene: Scene, issue: FoundIssue) -> None:
    if issue.kind == "material":
        things: list[Any] = [material_of(issue).id_data.usdphys]
    elif issue.kind == "scene":
        things = [item for item in editable(scene).usdphys.physics_scenes if item.name == issue.name]
    else:
        physics = editable(object_of(scene, issue)).usdphys
        things = [physics, *physics.colliders]
    converted = [vendor_edits.convert_deprecated(scene, thing) for thing in things]
    if not any(converted):
        raise nothing_to_do(issue)


#: Of a joint that follows another, to either side: a turn, and metres. PhysX takes no more than a turn.
_TURN, _WAY = math.tau, 100.0


@fix("LimitStiffnessPerRadian", safe=False, label="Write it per radian for PhysX, per degree for others")
def _correct_limits(scene: Scene, issue: FoundIssue) -> None:
    if not vendor_edits.correct_limits(scene, editable(object_of(scene, issue)).usdphys):
        raise nothing_to_do(issue)


@fix("FrictionAboveStatic", safe=False, label="Raise the static friction")
def _raise_static_friction(scene: Scene, issue: FoundIssue) -> None:
    if not vendor_edits.raise_floors(scene, editable(object_of(scene, issue)).usdphys):
        raise nothing_to_do(issue)


@fix("MimicWithoutLimits", safe=False, label="Limit it to a turn, or to 100 m")
def _limit_follower(scene: Scene, issue: FoundIssue) -> None:
    joint = joint_of(scene, issue)
    is_hinge = joint.type == "REVOLUTE"
    group = joint.revolute if is_hinge else joint.prismatic
    most = _TURN if is_hinge else _WAY / unit_length(scene)
    for name, value in (("lower_limit", -most), ("upper_limit", most)):
        if not group.is_property_set(name) or is_infinite(getattr(group, name)):
            setattr(group, name, value)


@fix("CcdNotInScene", safe=False, label="Enable it in the physics scenes")
def _enable_scene_ccd(scene: Scene, _issue: FoundIssue) -> None:
    items = editable(scene).usdphys.physics_scenes
    if not len(items):
        items.add().name = "PhysicsScene"
    for item in items:
        vendor_edits.add_attribute(item, "PhysxSceneAPI", "physxScene:enableCCD", scene).text = "true"


@fix("VendorNeedsArticulation", "VendorNotInArticulation", "VendorOtherApproximation", safe=True,
      label="Remove the settings without effect")  # fmt: skip
def _remove_without_effect(scene: Scene, issue: FoundIssue) -> None:
    obj = editable(object_of(scene, issue))
    name = next((word for word in issue.message.replace(",", " ").split() if word.endswith("API")), "")
    for thing in (obj.usdphys, *obj.usdphys.colliders):
        for applied in vendor_rows.applied_names(thing):
            if applied.partition(":")[0] == name:
                vendor_edits.remove_attribute(thing, applied, "")


# --------------------------------------------------------------------------- numbers


@fix("NotFinite", safe=True, label="Set invalid numbers to automatic")
def _unset_not_a_number(scene: Scene, issue: FoundIssue) -> None:
    if issue.kind == "material":
        groups = [material_of(issue)]
    elif issue.kind == "scene":
        groups = [item for item in editable(scene).usdphys.physics_scenes if item.name == issue.name]
    else:
        groups = list(_groups_of(object_of(scene, issue).usdphys))
    wrong = [(group, name) for group in groups for name in group.keys() if _is_not_a_number(group, name)]
    require(wrong, issue)
    for group, name in wrong:
        group.property_unset(name)


def _groups_of(group: PropertyGroup) -> Iterator[Any]:
    """A property group and all groups below it that are set."""
    yield group
    for name in group.keys():
        value: Any = getattr(group, name)
        if isinstance(value, bpy.types.PropertyGroup):
            yield from _groups_of(value)
        elif group.bl_rna.properties[name].type == "COLLECTION":
            items: Any = value
            for item in items:
                yield from _groups_of(item)


def _is_not_a_number(group: PropertyGroup, name: str) -> bool:
    if group.bl_rna.properties[name].type != "FLOAT":
        return False
    value = getattr(group, name)
    return any(map(math.isnan, value if hasattr(value, "__len__") else (value,)))
