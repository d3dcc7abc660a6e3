# SPDX-License-Identifier: GPL-3.0-or-later
"""What generators make, at random settings of their whole range: it stands, and nothing starts inside of something."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes
from .test_walls import floor, play, select

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _no_session():
    yield
    preview_guard.stop()


def boxes(objects):
    """World bounds (n, 2, 3) of objects."""
    found = []
    for obj in objects:
        corners = np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])
        found.append((corners.min(axis=0), corners.max(axis=0)))
    return np.array(found)


def wall_settings(seed: int) -> tuple[str, tuple[int, int, int], tuple[float, float, float]]:
    random = np.random.default_rng(seed)
    kind = ("WALL", "STACK", "PYRAMID", "CHIMNEY")[seed % 4]
    counts = tuple(int(one) for one in random.integers((1, 1, 1), (7, 4, 7)))
    half = random.uniform(0.04, 0.12, 3)
    if kind == "CHIMNEY":
        # Bricks that are longer than deep reach over the gaps.
        counts, half[0] = (int(random.integers(6, 13)), 1, counts[2]), half[1] * random.uniform(1.2, 2.0)
    # No towers.
    half[2] = min(half[2], half[:2].min())
    return kind, counts, tuple(half.tolist())


WALLS = [("WALL", (1, 1, 6), (0.1, 0.05, 0.04)), ("WALL", (2, 1, 5), (0.1, 0.05, 0.04)),
         ("PYRAMID", (6, 2, 5), (0.1, 0.1, 0.05)), ("WALL", (5, 1, 3), (0.1, 0.05, 0.04)),
         ("WALL", (3, 1, 5), (0.1, 0.05, 0.04)), ("WALL", (12, 2, 7), (0.1, 0.05, 0.04)),
         *map(wall_settings, range(16))]  # fmt: skip


@pytest.mark.parametrize(("kind", "counts", "half"), WALLS, ids=str)
def test_every_brick_rests_on_others_and_stays(kind, counts, half):
    floor()
    brick = scenes.add_box("Brick", half, location=(0, 0, half[2]))
    select(brick)
    bpy.ops.usdphys.wall(kind=kind, counts=counts)
    made = list(bpy.context.selected_objects)
    bounds = boxes(made)
    for number, (low, _) in enumerate(bounds):
        below = np.abs(bounds[:, 1, 2] - low[2]) < 1e-4
        covers = np.minimum(bounds[:, 1, :2], bounds[number, 1, :2]) - np.maximum(bounds[:, 0, :2], low[:2])
        assert abs(low[2]) < 1e-4 or (below & (covers.min(axis=1) > 1e-3)).any(), f"brick {number} floats"
    before = np.array([obj.matrix_world.translation for obj in made])
    session = play(4.0)
    # Edges of chimneys turn a little until they bear.
    after = np.array([obj.matrix_world.translation for obj in made])
    assert np.linalg.norm(after - before, axis=1).max() < 0.01
    assert np.abs(session.world.velocities()[0]).max() < 0.02
