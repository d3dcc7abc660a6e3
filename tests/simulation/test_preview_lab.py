# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of others with answers, from a folder beside the checkout: the preview agrees with the checks of each."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import assets
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.simulation.engine import PREVIEW
from usdphys_ext.usdphys_addon.simulation.record import quaternion_product, refuse_lost
from usdphys_ext.usdphys_addon.simulation.world import World

from .helpers import require_pxr

FOLDER = assets.SHARED / "preview_lab"
FILES = sorted((FOLDER / "scenes").glob("*.usda"))


def cases() -> list[Any]:
    if not FILES:
        return [pytest.param(None, marks=pytest.mark.skip("the folder preview_lab is not in the shared test assets"))]
    return [pytest.param(file, id=file.stem) for file in FILES]


def judge() -> Any:
    """Their own judge, which reads the motions of PhysX beside the scenes, too."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return importlib.import_module("run_all")


def record(file: Path, seconds: float, out: Path, engine: str = PREVIEW) -> list[str]:
    """Simulate a file and write the motion in the units of its stage, as the judge reads it.

    Returns why its answers are worth nothing: a scene that has run away stands still, which a judge may take for rest.
    """
    require_pxr()
    from usdphys_ext.usdphys_addon.usd import read, time_samples

    stage = read.open_stage(file)
    clock = time_samples.Clock(stage, None)
    model = read.read_stage(stage)
    time_samples.move_to(stage, model, clock.at(0))
    refuse_lost(model)
    world = World(model, time_step=1.0 / clock.fps, engine=engine)
    known = set(world.paths)
    movers = time_samples.animated(
        stage, (*(path for path, moved in zip(world.paths, world.kinematic, strict=True) if moved),
                *world.static_colliders))  # fmt: skip
    count = max(1, round(seconds * clock.fps))
    places, turns = np.empty((count + 1, len(known), 3)), np.empty((count + 1, len(known), 4))
    speeds, energy = np.empty((count + 1, len(known), 6)), np.empty(count + 1)
    for frame in range(count + 1):
        if frame:
            for path, matrix in time_samples.worlds_at(stage, movers, clock.at(frame)).items():
                turn = frames.quaternion_of(frames.rotation_of(matrix))
                (world.set_kinematic_pose if path in known else world.set_static_pose)(path, matrix[:3, 3], turn)
            world.step()
        places[frame], turns[frame] = world.positions, world.rotations
        speeds[frame], energy[frame] = np.hstack(world.velocities()), world.kinetic_energy()
    masses = {path: weight.mass for engine in world.spaces for path, weight in engine.weights.items()}
    back = model.units.to_z_up.T
    meta = {"fps": clock.fps, "unstable": world.unstable, "notices": [(one.code,) for one in world.notices]}
    np.savez(
        out, paths=np.array(world.paths), P=places @ back.T / model.units.meters_per_unit,
        Q=quaternion_product(np.array(frames.quaternion_of(back)), turns), V=speeds, E=energy, ms=np.zeros(count + 1),
        masses=np.array([masses.get(path, 0.0) for path in world.paths]), meta=json.dumps(meta),
    )  # fmt: skip
    return [one.message for one in world.notices if one.code == "Unstable" and "stands still" in one.message]


#: Where MuJoCo does not agree, and why.
OF_MUJOCO = {
    "chain50_100kg": "fifty light ball joints under 100 kg gain energy until the scene is stopped, which is said",
    "chain60": "two chains of 60 ball joints that meet gain energy until the scene is stopped",
    "ragdoll_stairs": "a limb still rocks at the end",
    "wheeled_robot": "wheels that are dragged sideways grip more: it turns by 50 instead of 170 degrees",
}


def cases_of_mujoco() -> list[Any]:
    """All cases, those where it fails marked."""
    return [
        pytest.param(*case.values, id=case.id, marks=[
            *case.marks, *([pytest.mark.xfail(reason=OF_MUJOCO[case.id], strict=False)] if case.id in OF_MUJOCO else [])
        ])
        for case in cases()
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("file", cases())
def test_the_preview_agrees_with_the_answers_of_others(file: Path, tmp_path: Path) -> None:
    assert disagreements(file, tmp_path, PREVIEW) == []


@pytest.mark.slow
@pytest.mark.parametrize("file", cases_of_mujoco())
def test_mujoco_agrees_with_the_answers_of_others(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    assert disagreements(file, tmp_path, "mujoco") == []


def disagreements(file: Path, folder: Path, engine: str) -> list[str]:
    """What the judge does not find in the motion of an engine."""
    judged = judge()
    scene, check = judged.scenes_def.make(file.stem)
    stopped = record(file, judged.scenes_def.SCENES[file.stem]["seconds"], folder / "motion.npz", engine)
    motion = judged.load(folder / "motion.npz", scene, True)
    reference = FOLDER / "refs" / f"{file.stem}.px8.npz"
    if reference.is_file():
        motion.refs["physx"] = judged.load(reference, scene)
    return stopped + [f"{label}: {value:.5g}, {wanted}" for label, value, wanted, holds in check(motion)
                      if wanted != "info" and not holds]  # fmt: skip
