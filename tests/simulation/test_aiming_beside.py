# SPDX-License-Identifier: GPL-3.0-or-later
"""A search in a process of its own: the same runs as here, and no trace of it after its end."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.aiming import beside
from usdphys_ext.usdphys_addon.aiming.aim import Target, aim_steps
from usdphys_ext.usdphys_addon.core.model import Mesh
from usdphys_ext.usdphys_addon.core.schemas import usd_physics

from .aim_setups import Aim, thrown, velocities

#: So many looks at a process that says nothing, with a pause of 10 ms after each, and it has failed.
MOST_LOOKS = 60_000


def runs_of(search, least):
    """The runs until there are so many, or it has ended."""
    found, pause = [], Event()
    for _ in range(MOST_LOOKS):
        if len(found) >= least:
            return found
        is_over = not search.is_running()
        new = search.runs()
        found += new
        if is_over and not new:
            return found
        pause.wait(0.01)
    raise AssertionError("the process says nothing any more")


@pytest.mark.slow
def test_it_makes_the_same_runs():
    wanted = thrown(3)
    # With a mesh that is loaded by a function of this process.
    wall = wanted.setup.model.prims["/Wall0"]
    wall.schemas.pop("Cube")
    wall.type_name = "Mesh"
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    mesh = Mesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    wall.mesh = lambda: mesh
    wall.add(usd_physics.MeshCollisionAPI(approximation="convexHull"))
    wanted = Aim(wanted.setup, wanted.freedoms, [Target("/Ball", 30, (90.0, 0, 1))])
    search = beside.BesideSearch(*wanted, 25, 0)
    try:
        there = runs_of(search, 1000)
    finally:
        search.close()
    here = list(aim_steps(*wanted, most_runs=25))
    assert search.is_done and len(there) == len(here) == 25
    for one, other in zip(there, here, strict=True):
        assert one.paths == ("/Ball",)
        assert np.array_equal(one.values, other.values) and np.array_equal(one.best, other.best)
        assert np.array_equal(one.positions[:, 0], other.positions[:, other.paths.index("/Ball")])
        assert one.misses == other.misses


@pytest.mark.slow
def test_closing_it_ends_the_process_and_deletes_its_files(monkeypatch):
    folders = []
    plain = beside.tempfile.TemporaryDirectory

    def noted(**options):
        made = plain(**options)
        folders.append(Path(made.name))
        return made

    monkeypatch.setattr(beside.tempfile, "TemporaryDirectory", noted)
    far = Aim(thrown(1).setup, velocities("/Ball"), [Target("/Ball", 30, (900.0, 0, 1))])
    search = beside.BesideSearch(*far, 100_000, 0)
    assert runs_of(search, 2) and search.is_running()
    search.close()
    assert not search.is_running() and folders and not folders[0].exists()


@pytest.mark.slow
def test_a_process_that_fails_gives_no_runs_and_ends():
    nobody = Aim(thrown(1).setup, velocities("/Ball"), [Target("/Nobody", 5, (0, 0, 0))])
    search = beside.BesideSearch(*nobody, 5, 0)
    try:
        assert runs_of(search, 1) == [] and not search.is_done
    finally:
        search.close()
