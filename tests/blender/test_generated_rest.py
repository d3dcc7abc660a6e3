# SPDX-License-Identifier: GPL-3.0-or-later
"""What generators make, at random settings of their whole range: it stands, and nothing starts inside of something."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from . import scenes
from .test_ropes import bodies, widest_gap
from .test_walls import floor, play, select

pytestmark = pytest.mark.slow


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


def rope_settings(seed: int):
    random = np.random.default_rng(seed)
    kind = ("ROPE", "CHAIN", "CABLE")[seed % 3]
    height, distance = random.uniform(0.8, 3.0), random.uniform(1.0, 4.0)
    return kind, height, distance, float(random.uniform(0.0, 1.0)), int(random.integers(8, 60))


ROPES = [("CHAIN", 1.0, 4.0, 1.0, 40), ("ROPE", 3.0, 4.0, 0.1, 200), *map(rope_settings, range(6))]  # fmt: skip


@pytest.mark.parametrize(("kind", "height", "distance", "slack", "count"), ROPES, ids=str)
def test_a_row_starts_above_the_floor_and_holds_together(kind, height, distance, slack, count):
    floor()
    ends = [scenes.add("Post", location=(x, 0, height)) for x in (0, distance)]
    select(*ends)
    radius = 0.01
    assert bpy.ops.usdphys.rope(kind=kind, slack=slack, segments=count, radius=radius) == {"FINISHED"}
    row = bodies()
    row.sort(key=lambda obj: int(obj.name.rsplit(" ", 1)[1]))
    length = distance * (1 + slack) / count
    low = min(corner[2] for obj in row for corner in (obj.matrix_world @ v.co for v in obj.data.vertices))
    assert low > -1e-4
    session = play(2.0)
    assert widest_gap(row, [length] * count) < 0.005
    low = min(obj.matrix_world.translation.z for obj in row)
    assert low > 0.0
    assert np.isfinite(session.world.positions).all()
