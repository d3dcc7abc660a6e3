# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes of masses, bodies, articulations and physics scenes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import bpy
from bpy.types import Scene

from ..authoring import blender_rigid_bodies, joint_edits
from ..bridge.joint_frames import is_joint
from ..bridge.roles import is_body
from ..core.errors import InputError
from ..core.rules import overlaps
from ..core.rules.base import Facts
from .fix_table import fix
from .issue_data import editable, nothing_to_do, object_of, require, unset
from .report import FoundIssue

# --------------------------------------------------------------------------- mass


def _masses(scene: Scene, issue: FoundIssue) -> list[Any]:
    """The applied mass properties of an object and of its colliders."""
    physics = object_of(scene, issue).usdphys
    masses = [physics.mass, *(item.mass for item in physics.colliders)]
    return [mass for mass in masses if mass.is_applied]


@fix("MassInvalidValues", safe=True, label="Set the mass to automatic")
def _unset_negative_mass(scene: Scene, issue: FoundIssue) -> None:
    _unset_where(scene, issue, "mass", lambda value: value < 0)


@fix("DensityInvalidValues", safe=True, label="Set the density to automatic")
def _unset_negative_density(scene: Scene, issue: FoundIssue) -> None:
    _unset_where(scene, issue, "density", lambda value: value < 0)


def _unset_where(scene: Scene, issue: FoundIssue, name: str, is_wrong: Callable[[float], bool]) -> None:
    masses = [mass for mass in _masses(scene, issue) if mass.is_property_set(name) and is_wrong(getattr(mass, name))]
    require(masses, issue)
    for mass in masses:
        mass.property_unset(name)


@fix("InertiaInvalidValues", safe=True, label="Normalize the axes, or set the inertia to automatic")
def _mend_inertia(scene: Scene, issue: FoundIssue) -> None:
    names = ("diagonal_inertia", "principal_axes")
    masses = [mass for mass in _masses(scene, issue) if any(map(mass.is_property_set, names))]
    require(masses, issue)
    for mass in masses:
        axes, moments = tuple(mass.principal_axes), tuple(mass.diagonal_inertia)
        length = math.hypot(*axes)
        is_inertia = mass.is_property_set("diagonal_inertia") and min(moments) > 0
        if not is_inertia or not math.isfinite(length):
            unset(mass, *names)
        elif not mass.is_property_set("principal_axes") or length == 0:
            # Simulators that accept an inertia without axes take those of the body.
            mass.principal_axes = (1, 0, 0, 0)
        elif abs(length - 1) > 1e-6:
            mass.principal_axes = [part / length for part in axes]


@fix("InertiaImpossible", safe=False, label="Set the inertia to automatic")
def _unset_inertia(scene: Scene, issue: FoundIssue) -> None:
    for mass in _masses(scene, issue):
        unset(mass, "diagonal_inertia", "principal_axes")


@fix("MassWithoutBody", safe=True, label="Remove the mass")
def _remove_mass(scene: Scene, issue: FoundIssue) -> None:
    object_of(scene, issue).usdphys.mass.is_applied = False


@fix("BodyWithoutMass", safe=False, label="Add an automatic collider, or 1 kg without a mesh")
def _add_collider(scene: Scene, issue: FoundIssue) -> None:
    obj = object_of(scene, issue)
    if obj.type != "MESH" or not len(obj.data.polygons):
        obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, 1.0
        return
    obj.usdphys.colliders.add()


# --------------------------------------------------------------------------- bodies, articulations


@fix("BlenderSimulatesToo", safe=True, label="Take it out of Blender's rigid body world")
def _take_out(scene: Scene, issue: FoundIssue) -> None:
    if not blender_rigid_bodies.take_out(scene, object_of(scene, issue)):
        raise nothing_to_do(issue)


@fix(
    "NestedArticulation", "ArticulationOnKinematicBody", "ArticulationRootTwice", safe=False,
    label="Remove the articulation root",
)  # fmt: skip
def _remove_root(scene: Scene, issue: FoundIssue) -> None:
    object_of(scene, issue).usdphys.articulation_root.is_applied = False


@fix("ArticulationRootGives", safe=True, label="Move the articulation root to the joint")
def _root_to_joint(scene: Scene, issue: FoundIssue) -> None:
    base = object_of(scene, issue)
    for obj in filter(is_joint, scene.objects):
        joint = obj.usdphys.joint
        if joint.type == "FIXED" and base in (joint.body0, joint.body1):
            other = joint.body1 if joint.body0 == base else joint.body0
            if other is None or not is_body(other):
                joint_edits.move_root(base, obj)
                return
    raise nothing_to_do(issue)


@fix("ArticulationRootStuck", safe=True, label="Move the articulation root to the body")
def _root_to_body(scene: Scene, issue: FoundIssue) -> None:
    root = object_of(scene, issue)
    joint = root.usdphys.joint if is_joint(root) else None
    ends = (joint.body1, joint.body0) if joint is not None else ()
    body = next((obj for obj in ends if obj is not None and is_body(obj)), None)
    if body is None:
        raise InputError(f"'{root.name}' is no joint; remove its articulation root, and make a body of it the root.")
    joint_edits.move_root(root, body)


@fix("ArticulationOnStaticBody", safe=False, label="Enable the rigid body")
def _enable_body(scene: Scene, issue: FoundIssue) -> None:
    unset(object_of(scene, issue).usdphys.rigid_body, "rigid_body_enabled")


@fix("OwnerMissing", "SimulationOwnerInvalid", safe=True, label="Clear the physics scene")
def _clear_owner(scene: Scene, issue: FoundIssue) -> None:
    physics = object_of(scene, issue).usdphys
    known = {item.name for item in scene.usdphys.physics_scenes}
    owned = [
        group for group in (physics.rigid_body, *physics.colliders)
        if group.simulation_owner and group.simulation_owner not in known
    ]  # fmt: skip
    require(owned, issue)
    for group in owned:
        group.property_unset("simulation_owner")


@fix("SceneAmbiguous", safe=False, label="Let the first physics scene simulate it")
def _choose_owner(scene: Scene, issue: FoundIssue) -> None:
    scenes = scene.usdphys.physics_scenes
    if not len(scenes):
        raise nothing_to_do(issue)
    object_of(scene, issue).usdphys.rigid_body.simulation_owner = scenes[0].name


@fix("NoScene", safe=False, label="Add a physics scene")
def _add_scene(scene: Scene, _issue: FoundIssue) -> None:
    editable(scene).usdphys.physics_scenes.add().name = "PhysicsScene"


@fix("GravityDirectionNotUnit", safe=True, label="Normalize the direction")
def _normalize_gravity(scene: Scene, issue: FoundIssue) -> None:
    editable(scene)
    scene_item = next((item for item in scene.usdphys.physics_scenes if item.name == issue.name), None)
    length = 0.0 if scene_item is None else math.hypot(*scene_item.gravity_direction)
    if scene_item is None or not math.isfinite(length) or not length:
        raise nothing_to_do(issue)
    scene_item.gravity_direction = [part / length for part in scene_item.gravity_direction]


@fix("NoFloor", safe=False, label="Add a ground at the lowest point")
def _add_ground(scene: Scene, issue: FoundIssue) -> None:
    from ..authoring import generators
    from ..bridge import scene_read

    if any(item.gravity_direction[2] > 0 or any(item.gravity_direction[:2]) for item in scene.usdphys.physics_scenes):
        raise InputError("Gravity is not along -Z here: add a box across the direction of gravity, and make it Static.")
    reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    bounds = overlaps.moving_bounds(Facts(reading.model))
    if bounds is None:
        raise nothing_to_do(issue)
    low, high = (bound / reading.model.units.meters_per_unit for bound in bounds)
    middle = (low + high) / 2.0
    generators.ground(editable(scene), (middle[0], middle[1], low[2]), 2.0 * max((high - low)[:2]))
