# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the text of MJCF that was just written, and holds it against the model that it was written from."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core import frames, mass, paths
from ..core.model import PhysicsModel, Prim
from ..core.proof import Mismatch
from ..core.schemas import usd_physics
from . import joints, layout, matter, poses, read
from .values import Actuator, Floats, Inertial, Joint, Model, by_target
from .write import Written

#: Largest deviation of a place, as a share of the distance from the origin and at least of a metre, and of a mass.
_NEAR = 1e-6
#: Limits further away than this, rad or m, are written as this.
_FAR = 1e3


def differences(
    model: PhysicsModel, written: Written, text: str, file: Path, near: Sequence[Path] = (), keyframe: str = ""
) -> Iterator[Mismatch]:  # fmt: skip
    """Where bodies are in other places, weigh or are lifted otherwise, or joints move, end or are driven otherwise.

    text: of a file that is to be there. near: folders beside its own in which its meshes may be. keyframe: of the text,
    in whose pose the model is.
    """
    source = read.read_text(text, file, near)
    worlds = layout.worlds_of(source)
    shown = poses.worlds_at(source, poses.choose(source, keyframe) if keyframe else poses.REST)
    weights = matter.inertials(source, layout.mesh_reader(source))
    matter.damp(source, worlds, weights)
    yield from _bodies(model, written, source, [steps[-1] for steps in shown], weights)
    yield from _joints(model, written, source, shown)


def _bodies(
    model: PhysicsModel, written: Written, source: Model, worlds: list[Floats], weights: Sequence[Inertial | None]
) -> Iterator[Mismatch]:
    rows = {body.name: row for row, body in enumerate(source.bodies)}
    colliders = mass.colliders_by_body(model)
    for path, prim in model.bodies.items():
        name = written.names.get(path)
        if name is None:
            continue
        row = rows.get(name)
        if row is None:
            yield Mismatch("missing", path, prim.label, f"the body '{name}' is not in it.")
            continue
        shown = frames.unscaled(prim.world)
        far = max(1.0, float(np.abs(shown[:3, 3]).max()))
        if np.abs(worlds[row] - shown).max() > _NEAR * far:
            yield Mismatch("place", path, prim.label, f"the body '{name}' is in another place.")
        wanted, found = mass.mass_properties(model, path, colliders.get(path, ())), weights[row]
        if found is None or abs(found.mass - wanted.mass) > _NEAR * max(wanted.mass, 1e-3):
            yield Mismatch("value", path, prim.label, f"the body '{name}' has another mass.")
        lift = 1.0 - mass.gravity_factor(prim)
        if not source.bodies[row].is_mocap and not _near(source.bodies[row].gravity_compensation, lift):
            yield Mismatch("value", path, prim.label, f"another share of gravity pulls the body '{name}'.")


def _joints(
    model: PhysicsModel, written: Written, source: Model, worlds: Sequence[Sequence[Floats]]
) -> Iterator[Mismatch]:  # fmt: skip
    """worlds: of each body after each of its joints, and at the end."""
    known = {
        joint.name: (row, joint, world) for row, body in enumerate(source.bodies)
        for joint, world in zip(body.joints, worlds[row], strict=False)
    }  # fmt: skip
    servos, bodies = by_target(source.actuators), model.bodies
    for path, prim in model.joints.items():
        schema: Any = prim.get(usd_physics.Joint)
        if prim.type_name in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
            limits = {"": (schema.resolved("lower_limit"), schema.resolved("upper_limit"))}
            drives = {
                "": prim.schemas.get(f"PhysicsDriveAPI:{'angular' if 'Revolute' in prim.type_name else 'linear'}")
            }
        elif prim.type_name == "PhysicsJoint":
            limits = {dof: (one.resolved("low"), one.resolved("high"))
                      for dof, one in prim.instances(usd_physics.LimitAPI)}  # fmt: skip
            drives = dict(prim.instances(usd_physics.DriveAPI))
        else:
            continue
        for dof in {*limits, *drives}:
            found = known.get(written.names.get(f"{path}.{dof}" if dof else path, ""))
            if found is None:
                continue  # it closes a loop, is locked or is off
            row, joint, world = found
            if not _same_range(joint, limits.get(dof, (-math.inf, math.inf))):
                yield Mismatch("joint", path, prim.label, f"the joint '{joint.name}' has other limits.")
            if not dof and not _same_axis(model, prim, joint, world, is_first=source.bodies[row].name == _first(
                bodies, written, schema
            )):  # fmt: skip
                yield Mismatch("joint", path, prim.label, f"the joint '{joint.name}' has another axis.")
            if not _same_drive(drives.get(dof), joint, servos.get(joint.name, ()), is_shared=bool(dof)):
                yield Mismatch("joint", path, prim.label, f"the joint '{joint.name}' has another drive.")


def _first(bodies: Collection[str], written: Written, schema: usd_physics.Joint) -> str:
    """Name of the first body of a joint, which may name one of its colliders; empty without one. bodies: all paths."""
    return written.names.get(paths.nearest((schema.body0 or ("",))[0], bodies), "")


def _same_range(joint: Joint, wanted: tuple[float, float]) -> bool:
    if wanted[0] > wanted[1]:
        return joint.range is None  # which is said
    low, high = (min(max(value, -_FAR), _FAR) for value in wanted)
    if low <= -_FAR and high >= _FAR:
        return joint.range is None or joint.range == (-_FAR, _FAR)
    return joint.range is not None and _near(joint.range[0], low) and _near(joint.range[1], high)


def _same_axis(model: PhysicsModel, prim: Prim, joint: Joint, world: Floats, *, is_first: bool) -> bool:
    """The axis of the first body's side points the other way."""
    schema: Any = prim.get(usd_physics.Joint)
    side = 0 if is_first else 1
    targets = getattr(schema, f"body{side}") or ()
    base = model.prims[targets[0]].world if targets and targets[0] in model.prims else None
    if targets and base is None:
        return True  # in a prim that the model does not hold
    frame = frames.world_frame(base, schema.resolved(f"local_pos{side}"), schema.resolved(f"local_rot{side}"))
    axis = frame[:3, "XYZ".index(schema.resolved("axis"))] * (-1.0 if is_first else 1.0)
    return bool(np.abs(world[:3, :3] @ joint.axis - axis).max() < 1e-5)


def _same_drive(drive: Any, joint: Joint, servos: Sequence[Actuator], *, is_shared: bool) -> bool:
    """is_shared: of several joints of a body, whose damping is in their drives."""
    found = joints.drive_of(joint, servos, 1.0, is_shared=is_shared)
    stiffness, damping = (0.0 if drive is None else float(drive.resolved(word)) for word in ("stiffness", "damping"))
    if drive is not None and drive.resolved("type") == "acceleration":
        return (found is not None) == (stiffness > 0.0 or damping > 0.0)
    if found is None:
        return stiffness <= 0.0 and damping <= 0.0
    target = 0.0 if found.target_position is None or stiffness <= 0.0 else found.target_position
    wanted = float(drive.resolved("target_position")) if drive is not None and stiffness > 0.0 else 0.0
    if stiffness > 0.0:
        wanted += damping * float(drive.resolved("target_velocity")) / stiffness
    most = math.inf if drive is None else float(drive.resolved("max_force"))
    return (_near(float(found.stiffness or 0.0), stiffness) and _near(float(found.damping or 0.0), damping)
            and _near(target, wanted)
            and _near(math.inf if found.max_force is None else found.max_force, most))  # fmt: skip


def _near(one: float, other: float) -> bool:
    return one == other or abs(one - other) <= 1e-5 * max(abs(one), abs(other), 1e-3)
