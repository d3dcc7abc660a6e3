# SPDX-License-Identifier: GPL-3.0-or-later
"""From a text to a model to a world."""

from __future__ import annotations

import importlib

import numpy as np
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import METERS, File, Units


def require_pxr():
    """The pxr of this Python: its own, or the one inside of bpy."""
    try:
        return importlib.import_module("pxr")
    except ImportError:
        import bpy

        bpy.utils.expose_bundled_modules()
        return importlib.import_module("pxr")


def model_of(text: str):
    require_pxr()
    from pxr import Usd
    from usdphys_ext.usdphys_addon.usd import read as usd_read

    stage = Usd.Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString(text)
    model = usd_read.read_stage(stage)
    return model, stage


def model_in(file: File):
    """The model of a file; its stage, which loads the meshes, is kept."""
    model, stage = model_of(file.text())
    stages.append(stage)
    return model


def world_of(file: File, **options) -> World:
    return World(model_in(file), **options)


stages: list[object] = []


def made(fill, units: Units = METERS, **options) -> World:
    file = File(units)
    fill(file)
    return world_of(file, **options)


def run(world: World, seconds: float) -> World:
    for _ in range(round(seconds / world.time_step)):
        world.step()
    return world


def place(world: World, name: str) -> np.ndarray:
    return world.positions[row_of(world, name)]


def turn(world: World, name: str) -> np.ndarray:
    return frames.matrix_of(world.rotations[row_of(world, name)])


def apart(model, world: World, path: str) -> float:
    """How far the two frames of a joint are from each other, m: by the poses of its bodies."""
    joint = next(iter(model.joints[path].schemas.values()))
    points = []
    for bodies, point in ((joint.body0, joint.local_pos0), (joint.body1, joint.local_pos1)):
        pose = world.matrices()[world.index(bodies[0])] if bodies else np.eye(4)
        points.append((pose @ (*(point or (0, 0, 0)), 1))[:3])
    return float(np.linalg.norm(points[0] - points[1]))


def row_of(world: World, name: str) -> int:
    found = [index for index, path in enumerate(world.paths) if path.endswith(f"/{name}")]
    assert len(found) == 1, (name, world.paths)
    return found[0]


def codes(world: World) -> list[str]:
    return [issue.code for issue in world.notices]
