# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion must conserve, by the model alone: momentum of free systems, energy, and what drives give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from laboratory_scenes import frames, usd_physics
from usdphys_ext.usdphys_addon.core import mass
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim


class Broken(NamedTuple):
    """A law that a motion breaks: of which body, from which frame on, by how much of how much."""

    law: str
    body: str
    frame: int
    error: float
    allowed: float


class Matter:
    """Masses (n,), centres (f, n, 3) and angular momenta (f, n, 3) about them, kinetic energies (f, n) of a motion."""

    def __init__(self, model: PhysicsModel, motion: Any) -> None:
        found = [mass.mass_properties(model, path) for path in motion.paths]
        self.masses = np.array([one.mass for one in found])
        self.velocities, self.spins = motion.velocities[..., :3], motion.velocities[..., 3:]
        turns = np.array([[frames.matrix_of(one) for one in row] for row in motion.rotations])
        centers = np.array([one.center_of_mass for one in found])
        self.centers = motion.positions + np.einsum("fnij,nj->fni", turns, centers)
        inertia = np.einsum("fnij,njk,fnlk->fnil", turns, np.array([one.inertia for one in found]), turns)
        self.own = np.einsum("fnij,fnj->fni", inertia, self.spins)
        self.kinetic = 0.5 * (self.masses * (self.velocities**2).sum(axis=2) + (self.spins * self.own).sum(axis=2))
        self.momenta = self.masses[:, None] * self.velocities


def gravity_of(model: PhysicsModel) -> float:
    return max(
        (float(prim.get(usd_physics.PhysicsScene).gravity_magnitude) for prim in model.scenes.values()), default=0
    )


def first(error: Any, allowed: Any) -> int | None:
    wrong = np.flatnonzero(np.asarray(error) > allowed)
    return int(wrong[0]) if len(wrong) else None


def momentum(model: PhysicsModel, motion: Any, step: float) -> Iterator[Broken]:
    """Bodies that only touch and hold each other keep their momentum and angular momentum."""
    held = any(not joint.get(usd_physics.Joint).body0 for joint in model.joints.values())
    fixed = [path for path in model.colliders if model.body_of(path) is None]
    if gravity_of(model) or held or fixed or not motion.paths:
        return
    matter = Matter(model, motion)
    angular = np.cross(matter.centers, matter.momenta) + matter.own
    for law, parts in (("momentum", matter.momenta), ("angular momentum", angular)):
        total = parts.sum(axis=1)
        allowed = 0.01 * np.linalg.norm(parts, axis=2).sum(axis=1).max()
        error = np.linalg.norm(total - total[0], axis=1)
        if (frame := first(error, allowed)) is not None:
            yield Broken(law, motion.paths[0], frame, float(error.max()), allowed)


def energy(model: PhysicsModel, motion: Any, step: float) -> Iterator[Broken]:
    """Where nothing drives, energy does not grow; of balls that bounce and rub without loss it stays."""
    drives = any(True for joint in model.joints.values() for _ in joint.instances(usd_physics.DriveAPI))
    if not motion.paths:
        return
    matter = Matter(model, motion)
    weight = gravity_of(model) * matter.masses
    own = matter.kinetic + weight * matter.centers[..., 2]
    swing = np.ptp(weight * matter.centers[..., 2], axis=0) + matter.kinetic.max(axis=0)
    # A scene may start with bodies inside each other, or joints that are apart: those have energy.
    total, allowed = _without_dips(own.sum(axis=1)), 0.03 * swing.sum() + 1e-9
    grown = total - np.minimum.accumulate(total)
    if not drives and (frame := first(grown, allowed)) is not None:
        yield Broken("energy grows", motion.paths[int(np.argmax(np.ptp(own, axis=0)))], frame, float(grown.max()),
                     allowed)  # fmt: skip
    for row, path in enumerate(motion.paths):
        if _keeps_energy(model, model.prims[path]):
            allowed = 0.02 * swing[row]
            if (frame := first(np.abs(own[:, row] - own[0, row]), allowed)) is not None:
                error = float(np.abs(own[:, row] - own[0, row]).max())
                yield Broken("energy of a ball or pendulum", path, frame, error, allowed)


def _without_dips(energies: Any) -> Any:
    """Energies (f,) without what is gone for a frame or two: joints that a blow bends lift what hangs on them again."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(energies, 2, mode="edge"), 5)
    return np.median(around, axis=1)


def _joints_of(model: PhysicsModel, path: str) -> list[Prim]:
    found = []
    for prim in model.joints.values():
        joint: Any = prim.get(usd_physics.Joint)
        if (path,) in (joint.body0, joint.body1):
            found.append(prim)
    return found


def _keeps_energy(model: PhysicsModel, body: Prim) -> bool:
    joints, colliders = _joints_of(model, body.path), model.colliders_of(body.path)
    if not colliders:
        return len(joints) == 1 and _is_free_hinge(joints[0]) and not any(joints[0].instances(usd_physics.DriveAPI))
    found = {path for one in colliders for path in one.materials}
    below = {path for one in model.colliders.values() if model.body_of(one.path) is None for path in one.materials}
    materials: Any = [model.prims[path].get(usd_physics.MaterialAPI) for path in found & below if path in model.prims]
    return bool(materials) and not joints and all(one.restitution == 1.0 for one in materials)


def _is_free_hinge(prim: Prim) -> bool:
    """True for a hinge, ball joint or slide to the world without limits."""
    joint: Any = prim.get(usd_physics.Joint)
    kinds = (usd_physics.RevoluteJoint, usd_physics.PrismaticJoint, usd_physics.SphericalJoint)
    limits = ("lower_limit", "upper_limit", "cone_angle0_limit")
    return isinstance(joint, kinds) and not joint.body0 and all(getattr(joint, one, None) is None for one in limits)


def drives(model: PhysicsModel, motion: Any, step: float) -> Iterator[Broken]:
    """A drive of a body that nothing else touches gives the momentum that the body gets, and the work."""
    for path, row in zip(motion.paths, range(len(motion.paths)), strict=True):
        joints = _joints_of(model, path)
        if len(joints) != 1 or not _is_free_hinge(joints[0]) or model.colliders_of(path):
            continue
        joint: Any = joints[0].get(usd_physics.Joint)
        found = dict(joints[0].instances(usd_physics.DriveAPI))
        if len(found) != 1 or any(drive.type == "acceleration" for drive in found.values()):
            continue
        yield from _given(model, motion, step, row, joint, next(iter(found.values())))


def _given(model: PhysicsModel, motion: Any, step: float, row: int, joint: Any, drive: Any) -> Iterator[Broken]:
    matter = Matter(model, motion)
    frame = frames.world_frame(None, joint.local_pos0, joint.local_rot0)
    axis = frame[:3, "XYZ".index(joint.axis or "X")]
    arm = matter.centers[:, row] - frame[:3, 3]
    weight = matter.masses[row] * np.array((0, 0, -gravity_of(model)))
    if isinstance(joint, usd_physics.RevoluteJoint):
        momentum = (np.cross(arm, matter.momenta[:, row]) + matter.own[:, row]) @ axis
        speed, gravity = matter.spins[:, row] @ axis, np.cross(arm, weight) @ axis
    else:
        momentum, speed = matter.momenta[:, row] @ axis, matter.velocities[:, row] @ axis
        gravity = np.full(len(speed), weight @ axis)
    place = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2 * step)])
    force = (drive.stiffness or 0) * ((drive.target_position or 0) - place) + gravity
    force = force + (drive.damping or 0) * ((drive.target_velocity or 0) - speed)
    for law, rate, gained in (("momentum of a drive", force, momentum), ("work of a drive", force * speed, None)):
        if gained is None:
            gained = matter.kinetic[:, row]
        given = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2 * step)])
        throughput = np.concatenate([[0.0], np.cumsum((np.abs(rate[1:]) + np.abs(rate[:-1])) / 2 * step)])
        error, allowed = np.abs(gained - gained[0] - given), 0.1 * throughput + 0.05 * np.abs(gained).max() + 1e-12
        # The first frames of a stiff drive are shorter than a frame.
        if (at := first(error[30:], allowed[30:])) is not None:
            yield Broken(law, motion.paths[row], at + 30, float(error[-1]), float(allowed[-1]))


LAWS: dict[str, Callable[[PhysicsModel, Any, float], Iterator[Broken]]] = {
    law.__name__: law for law in (momentum, energy, drives)
}


def broken(model: PhysicsModel, motion: Any, step: float) -> list[Broken]:
    """Every law of LAWS that a motion breaks."""
    return [one for law in LAWS.values() for one in law(model, motion, step)]
