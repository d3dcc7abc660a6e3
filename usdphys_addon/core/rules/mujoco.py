# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for what MuJoCo's own reader of USD refuses or leaves out.

Each was measured with mujoco-usd 4.0.0, whose compiled model was compared with the file.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import mass
from ..model import Mesh, Prim
from ..schemas import usd_geom, usd_physics
from .base import Facts, Finding, kind, rule

#: The joints that it reads.
_JOINTS = (usd_physics.FixedJoint, usd_physics.RevoluteJoint, usd_physics.PrismaticJoint)
#: The shapes that it refuses with the whole file: they come out without a size.
_REFUSED = frozenset(("Cone", "Points", "BasisCurves", "TetMesh", *usd_geom.TAPERED))
#: The shapes that give a body its mass.
_SHAPES = frozenset(("Cube", "Sphere", "Capsule", "Cylinder", "Mesh", "Plane")) | _REFUSED
#: How much smaller than its hull a mesh is that is not convex.
_HOLLOW = 0.02


@rule("JointWelded")
def welded(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        if not isinstance(joint, _JOINTS) and joint.body0 and joint.body1 and joint.joint_enabled is not False:
            yield Finding(prim, f"MuJoCo reads {prim.display}, a {kind(prim)}, as a fixed joint.")


@rule("WorldJointSkipped")
def world_second(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        if joint.body0 and not joint.body1 and joint.joint_enabled is not False:
            yield Finding(prim, f"MuJoCo leaves out the joint {prim.display}, whose body 1 is the world.")


@rule("DisabledStillActs")
def disabled(facts: Facts) -> Iterator[Finding]:
    for prim, body in facts.bodies:
        if body.rigid_body_enabled is False:
            yield Finding(prim, f"The disabled body {prim.display} falls in MuJoCo.")
        elif body.kinematic_enabled is True:
            yield Finding(prim, f"The kinematic body {prim.display} falls in MuJoCo.")
    for prim, joint in facts.joints:
        if joint.joint_enabled is False and isinstance(joint, _JOINTS):
            yield Finding(prim, f"The disabled joint {prim.display} holds in MuJoCo.")


@rule("DriveLeftOut")
def drives(facts: Facts) -> Iterator[Finding]:
    prims = list({prim.path: prim for prim, _, _ in facts.applied(usd_physics.DriveAPI)}.values())
    if any(prim.type_name == "MjcActuator" for prim in facts.model.prims.values()):
        return
    if "MjcActuator" in facts.model.other_types.values():
        return
    if len(prims) == 1:
        yield Finding(prims[0], f"MuJoCo leaves out the drive of {prims[0].display}.")
    elif prims:
        yield Finding(
            prims[0], f"MuJoCo leaves out the drives of {prims[0].display} and of {len(prims) - 1} more joints."
        )


@rule("GroupsLeftOut")
def groups(facts: Facts) -> Iterator[Finding]:
    reader = "Godot" if facts.target == "godot" else "MuJoCo"
    for prim, group in facts.groups:
        if group.filtered_groups or group.invert_filtered_groups:
            yield Finding(prim, f"{reader} leaves out the collision group {prim.display}.")


@rule("MassRefused")
def mass_refused(facts: Facts) -> Iterator[Finding]:
    masses = {prim.path: value for prim, value in facts.masses}
    shaped, held = facts.once(_shaped), _held(facts)
    for path, prim in facts.model.bodies.items():
        authored = masses.get(path)
        given = authored.mass if authored is not None else None
        has_inertia = bool(authored and authored.diagonal_inertia and any(authored.diagonal_inertia))
        if path in held:
            continue
        if given == 0:
            yield Finding(prim, f"{prim.display} has a mass of 0, for which MuJoCo refuses the file.")
        elif path not in shaped and not (given and has_inertia):
            yield Finding(prim, f"{prim.display} has no shape, and not both mass and inertia: MuJoCo refuses the file.")


def _shaped(facts: Facts) -> set[str]:
    """The paths of bodies with a shape, also with one that is only seen."""
    prims = facts.model.prims
    seen = [path for path, name in facts.model.other_types.items() if name in _SHAPES]
    seen += [path for path, prim in prims.items() if prim.type_name in _SHAPES]
    owners = (facts.owner.at(path) for path in seen)
    return {owner.path for owner in owners if owner is not None}


def _held(facts: Facts) -> set[str]:
    """The paths of bodies that MuJoCo holds fast to another body or to the world: these need no mass."""
    paths = set()
    for _, joint in facts.joints:
        if joint.body1 and not isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
            paths.add(joint.body1[0])
    return paths


@rule("InertiaTwice")
def inertia_twice(facts: Facts) -> Iterator[Finding]:
    for prim, authored in facts.masses:
        tensor = getattr(prim.schemas.get("NewtonMassAPI"), "inertia", None)
        if tensor and authored.diagonal_inertia and any(authored.diagonal_inertia):
            yield Finding(prim, f"{prim.display} has two inertias, for which MuJoCo refuses the file.")


@rule("RootRefused")
def root_refused(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.all(usd_physics.ArticulationRootAPI):
        if not facts.is_body(prim):
            yield Finding(prim, f"{prim.display} is an articulation root and no body: MuJoCo refuses the file.")


@rule("ShapeRefused")
def shape_refused(facts: Facts) -> Iterator[Finding]:
    mirrored = {prim.path for prim in facts.placements.where(facts.placements.mirrored)}
    others = (Prim(path, name) for path, name in facts.model.other_types.items() if name in _REFUSED)
    known = facts.model.prims
    for prim in (*known.values(), *(prim for prim in others if prim.path not in known)):
        if prim.type_name in _REFUSED or _has_two_radii(prim):
            yield Finding(prim, f"{prim.display} is a {kind(prim)}, for which MuJoCo refuses the file.")
        elif prim.type_name == "Cube" and prim.path in mirrored:
            yield Finding(prim, f"{prim.display} is a mirrored {kind(prim)}, for which MuJoCo refuses the file.")
    for prim, shape in facts.shapes:
        if isinstance(shape, Mesh) and len(shape.points) and is_flat(shape):
            yield Finding(prim, f"The mesh {prim.display} is flat, for which MuJoCo refuses the file.")


def _has_two_radii(prim: Prim) -> bool:
    return usd_geom.TAPERED.get(str(prim.extras.get("usd_type"))) is type(prim.get(usd_geom.Gprim))


def is_flat(shape: Mesh) -> bool:
    """True for a mesh without a thickness. Points that are no numbers have a rule of their own."""
    if not np.isfinite(shape.points).all():
        return False
    extent = np.ptp(shape.points, axis=0).max()
    # The smallest of the three sizes along the mesh's own axes.
    sizes = np.linalg.svd(shape.points - shape.points.mean(axis=0), compute_uv=False)
    return bool(len(shape.points) < 4 or not sizes[-1] > 1e-9 * extent)


@rule("MeshTakenAsHull")
def taken_as_hull(facts: Facts) -> Iterator[Finding]:
    for prim, shape in facts.shapes:
        if not isinstance(shape, Mesh) or not len(shape.triangles) or is_flat(shape):
            continue
        settings = prim.get(usd_physics.MeshCollisionAPI)
        approximation = (settings.approximation if settings is not None else None) or "none"
        if approximation not in ("convexHull", "sdf", "sphereFill") and _is_hollow(shape):
            yield Finding(prim, f"MuJoCo takes the convex hull of {prim.display} ({approximation}).")


def _is_hollow(shape: Mesh) -> bool:
    """Whether a closed mesh is smaller than its hull by more than rounding. Of an open one nobody knows the volume."""
    solid = mass.solid(shape.points, shape.triangles)
    if solid is None:
        return True
    hull = mass.mesh_shape(shape.points, shape.triangles, "convexHull")
    return solid.volume < (1.0 - _HOLLOW) * hull.volume
