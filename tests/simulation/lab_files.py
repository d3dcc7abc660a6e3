# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of others with answers, from a folder beside the checkout: their files, and their own judge of a motion."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import assets
import numpy as np
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.model import PhysicsModel
from usdphys_ext.usdphys_addon.simulation.engine import PREVIEW
from usdphys_ext.usdphys_addon.simulation.record import quaternion_product, refuse_lost
from usdphys_ext.usdphys_addon.simulation.world import World

from .helpers import require_pxr

FOLDER = assets.SHARED / "preview_lab"
FILES = sorted((FOLDER / "scenes").glob("*.usda"))


def judge() -> Any:
    """Their own judge, which reads the motions of PhysX beside the scenes, too."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    judged = importlib.import_module("run_all")
    judged.scenes_def.np = _Numbers()
    return judged


class _Numbers:
    """numpy with a faster product of two vectors: their equations of motion take a million of these."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def cross(one: Any, other: Any) -> Any:
        if np.ndim(one) != 1 or np.ndim(other) != 1:
            return np.cross(one, other)
        (a, b, c), (x, y, z) = one, other
        return np.array((b * z - c * y, c * x - a * z, a * y - b * x))


def record(
    file: Path, seconds: float, out: Path, engine: str = PREVIEW, change: Callable[[PhysicsModel], object] | None = None
) -> list[str]:
    """Simulate a file and write the motion in the units of its stage, as the judge reads it.

    change: alters the model before the start; bodies that it adds are not in the motion.
    Returns why its answers are worth nothing: a scene that has run away stands still, which a judge may take for rest.
    """
    require_pxr()
    from usdphys_ext.usdphys_addon.usd import read, time_samples

    stage = read.open_stage(file)
    clock = time_samples.Clock(stage, None)
    model = read.read_stage(stage)
    time_samples.move_to(stage, model, clock.at(0))
    refuse_lost(model)
    own = set(model.prims)
    if change is not None:
        change(model)
    world = World(model, time_step=1.0 / clock.fps, engine=engine)
    rows = [row for row, path in enumerate(world.paths) if path in own]
    names = [world.paths[row] for row in rows]
    known = set(names)
    movers = time_samples.animated(
        stage, (*(world.paths[row] for row in rows if world.kinematic[row]),
                *(path for path in world.static_colliders if path in own)))  # fmt: skip
    count = max(1, round(seconds * clock.fps))
    places, turns = np.empty((count + 1, len(rows), 3)), np.empty((count + 1, len(rows), 4))
    speeds, energy = np.empty((count + 1, len(rows), 6)), np.empty(count + 1)
    for frame in range(count + 1):
        if frame:
            for path, matrix in time_samples.worlds_at(stage, movers, clock.at(frame)).items():
                turn = frames.quaternion_of(frames.rotation_of(matrix))
                (world.set_kinematic_pose if path in known else world.set_static_pose)(path, matrix[:3, 3], turn)
            world.step()
        places[frame], turns[frame] = world.positions[rows], world.rotations[rows]
        speeds[frame], energy[frame] = np.hstack(world.velocities())[rows], _energy(world, known)
    masses = {path: weight.mass for engine in world.spaces for path, weight in engine.weights.items()}
    back = model.units.to_z_up.T
    notices = [one for one in world.notices if one.path in own or not one.path]
    unstable = {path: why for path, why in world.unstable.items() if path in own}
    meta = {"fps": clock.fps, "unstable": unstable, "notices": [(one.code,) for one in notices]}
    np.savez(
        out, paths=np.array(names), P=places @ back.T / model.units.meters_per_unit,
        Q=quaternion_product(np.array(frames.quaternion_of(back)), turns), V=speeds, E=energy, ms=np.zeros(count + 1),
        masses=np.array([masses.get(path, 0.0) for path in names]), meta=json.dumps(meta),
    )  # fmt: skip
    return [one.message for one in notices if one.code == "Unstable" and "stands still" in one.message]


def _energy(world: World, paths: set[str]) -> float:
    """Kinetic energy of these bodies, of those that are awake, J."""
    linear, angular = world.velocities()
    energy = 0.0
    for path, weight in ((path, weight) for one in world.spaces for path, weight in one.weights.items()):
        row = world.index(path)
        if path in paths and world.awake[row]:
            spin = frames.matrix_of(world.rotations[row]).T @ angular[row]
            energy += 0.5 * (weight.mass * float(linear[row] @ linear[row]) + float(spin @ weight.inertia @ spin))
    return energy


def disagreements(
    file: Path, folder: Path, engine: str, change: Callable[[PhysicsModel], object] | None = None
) -> list[str]:
    """What the judge does not find in the motion of an engine; the motion stays in the folder as motion.npz."""
    judged = judge()
    scene, check = judged.scenes_def.make(file.stem)
    stopped = record(file, judged.scenes_def.SCENES[file.stem]["seconds"], folder / "motion.npz", engine, change)
    motion = judged.load(folder / "motion.npz", scene, True)
    reference = FOLDER / "refs" / f"{file.stem}.px8.npz"
    if reference.is_file():
        motion.refs["physx"] = judged.load(reference, scene)
    return stopped + [f"{label}: {value:.5g}, {wanted}" for label, value, wanted, holds in check(motion)
                      if wanted != "info" and not holds]  # fmt: skip
