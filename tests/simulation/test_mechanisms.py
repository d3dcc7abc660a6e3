# SPDX-License-Identifier: GPL-3.0-or-later
"""Random mechanisms move as in MuJoCo: trees of one to four bodies on joints of every kind, in any place and turn.

Springs, motors, friction and armatures of random strength. Not here: joints that turn about two of three axes, of
whose angles MuJoCo makes others; drives that accelerate, which weigh inertia otherwise; limits and ropes, off which
one engine rebounds.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames

from .author import CENTIMETERS, IDENTITY, METERS, File, Units, Vector, multiply
from .helpers import place, run, turn, world_of

MILLIMETERS = Units("mm_kg_Z", 0.001, 1.0, "Z")
UNITS = (METERS, CENTIMETERS, MILLIMETERS)
DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
LOCKED = (1.0, -1.0)
SECONDS = 0.5
SEEDS = range(40)


class Pose(NamedTuple):
    place: np.ndarray
    turn: Vector

    def own(self, point: np.ndarray, turn: Vector) -> tuple[Vector, Vector]:
        """A frame in the world, in this space."""
        w, x, y, z = self.turn
        back = (w, -x, -y, -z)
        return tuple((frames.matrix_of(back) @ (point - self.place)).tolist()), multiply(back, turn)


def any_turn(rng: Random) -> Vector:
    numbers = np.array([rng.gauss(0.0, 1.0) for _ in range(4)])
    return tuple((numbers / np.linalg.norm(numbers)).tolist())


def any_drive(rng: Random, dof: str) -> dict[str, float | str] | None:
    """A spring, a brake or a motor, or none."""
    size = 1.0 if dof == "angular" or dof.startswith("rot") else 10.0
    kind = rng.choice(("", "", "spring", "brake", "motor"))
    drive: dict[str, float | str] = {"damping": size * rng.uniform(0.05, 0.5)}
    if kind == "spring":
        drive |= {"stiffness": size * rng.uniform(2.0, 15.0), "targetPosition": rng.uniform(-0.3, 0.3)}
    if kind == "motor":
        drive |= {"targetVelocity": rng.uniform(-1.0, 1.0), "damping": size * rng.uniform(0.5, 3.0)}
    if kind and rng.random() < 0.3:
        drive["maxForce"] = size * rng.uniform(0.2, 2.0)
    return drive if kind else None


def any_joint(rng: Random, file: File, name: str, ends: list[tuple[str, Vector, Vector]]) -> str:
    """A joint of any kind between two frames (path, place, rotation)."""
    kind = rng.choice(("Revolute", "Revolute", "Prismatic", "Spherical", "D6", "Fixed"))
    free = {"Revolute": ["angular"], "Prismatic": ["linear"], "Spherical": ["ball"], "Fixed": []}.get(kind)
    settings: dict[str, Any] = {}
    if free is None:
        free = rng.sample(DOFS, rng.randint(1, 2))
        if sum(dof.startswith("rot") for dof in free) == 2:
            free = [free[0]] if rng.random() < 0.5 else ["rotX", "rotY", "rotZ"]
        settings["limits"] = dict.fromkeys((dof for dof in DOFS if dof not in free), LOCKED)
    elif kind in ("Revolute", "Prismatic"):
        settings["axis"] = rng.choice("XYZ")
    turns = all(dof in ("angular", "ball") or dof.startswith("rot") for dof in free)
    drives = {dof: drive for dof in free if dof != "ball" and (drive := any_drive(rng, dof)) is not None}
    settings["drives"] = {} if len(free) == 3 else drives
    lines = []
    if free and rng.random() < 0.3 and (turns or len(free) == 1):
        armature = file.torque(rng.uniform(0.001, 0.05)) if turns else rng.uniform(0.1, 1.0) / file.units.kilograms
        lines.append(f"float newton:armature = {armature}")
    if kind in ("Revolute", "Prismatic") and not drives and rng.random() < 0.4:
        friction = file.torque(rng.uniform(0.05, 0.4)) if turns else file.force(rng.uniform(0.5, 3.0))
        lines.append(f"float newton:friction = {friction}")
    (body0, pos0, rot0), (body1, pos1, rot1) = ends
    return file.joint(name, kind, body0, body1, pos0=pos0, pos1=pos1, rot0=rot0, rot1=rot1, lines=lines,
                      apis=["NewtonJointAPI"] if lines else [], **settings)  # fmt: skip


def mechanism(seed: int, *, is_free: bool) -> tuple[File, list[str]]:
    """(file, names of its bodies). is_free: nothing holds it, and it turns as a whole where nothing falls."""
    rng = Random(seed)
    file, poses = File(UNITS[seed % 3], gravity=(0, 0, 0 if is_free else -9.81)), {"": Pose(np.zeros(3), IDENTITY)}
    is_articulation, spin = rng.random() < 0.5, np.array([rng.uniform(-3.0, 3.0) for _ in range(3)]) * is_free
    for number in range(rng.randint(1, 4)):
        name, above = f"B{number}", rng.choice([path for path in poses if path] or [""])
        away = np.array([rng.uniform(-0.5, 0.5) for _ in range(3)])
        pose = Pose(poses[above].place + away + (0, 0, 0 if above else 3.0), any_turn(rng))
        sizes, mass = [rng.uniform(0.1, 0.4) for _ in range(3)], rng.choice((0.5, 1.0, 2.0, 5.0))
        squares = [size * size for size in sizes]
        center = [rng.uniform(-0.05, 0.05) for _ in range(3)] if rng.random() < 0.3 else [0.0, 0.0, 0.0]
        axes = frames.matrix_of(pose.turn)
        speed = np.cross(spin, pose.place + axes @ center)
        file.add(file.body(
            name, tuple(pose.place.tolist()), pose.turn, size=sizes, mass=mass, collides=False,
            inertia=[mass * (sum(squares) - square) / 12.0 for square in squares],
            center=center, velocity=(speed @ axes).tolist(), spin=(spin @ axes).tolist(),
            apis=["PhysicsArticulationRootAPI"] if is_articulation and not number else (),
        ))  # fmt: skip
        poses[f"/World/{name}"] = pose
        middle = 0.5 * (poses[above].place + pose.place) if above else pose.place
        point, around = middle + [rng.uniform(-0.25, 0.25) for _ in range(3)], any_turn(rng)
        ends = [(path, *poses[path].own(point, around)) for path in (above, f"/World/{name}")]
        joint = any_joint(rng, file, f"J{number}", ends if rng.random() < 0.7 else ends[::-1])
        if above or not is_free:
            file.add(joint)
    names = [path.removeprefix("/World/") for path in poses if path]
    return file, names


@pytest.mark.slow
@pytest.mark.parametrize("is_free", [False, True], ids=["held", "free"])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_mechanisms_move_as_in_mujoco(seed: int, is_free: bool) -> None:
    file, names = mechanism(seed, is_free=is_free)
    ours, theirs = world_of(file), world_of(file, engine="mujoco", time_step=1.0 / 3840.0)
    start = {name: place(ours, name).copy() for name in names}
    for world in (ours, theirs):
        run(world, SECONDS)
    way = max(float(np.linalg.norm(place(theirs, name) - start[name])) for name in names)
    for name in names:
        assert math.dist(place(ours, name), place(theirs, name)) < 0.01 + 0.03 * way
        cosine = 0.5 * (float(np.trace(turn(ours, name).T @ turn(theirs, name))) - 1.0)
        assert math.degrees(math.acos(min(max(cosine, -1.0), 1.0))) < 5.0
