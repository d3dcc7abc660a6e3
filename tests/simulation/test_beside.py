# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes with answers keep them beside what is not connected to them: a sample of what scripts/beside.py runs."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import assets
import numpy as np
import pytest
from shares import each_of

from . import lab_files
from .helpers import require_pxr
from .measures import MEASURES

require_pxr()
sys.path.insert(0, str(assets.ROOT / "scripts"))
beside: Any = importlib.import_module("beside")
sys.path.remove(str(assets.ROOT / "scripts"))
#: One of each kind of physics that once depended on others: steps, sweeps, friction, sleep, loads, light bodies.
SAMPLE = (
    "fifteen boxes of 15 cm: top", "box on a slope of 30 degrees, friction 0.3: slides in 1.5 s", "ball of 100 mm",
    "1 kg on a rod of 1 m", "boxes that start asleep", "restitution 0.5 from 0.6 m", "four bars of 1 m, joints: crank",
)  # fmt: skip
OF_OTHERS = ("breaking", "cradle", "hinge_vel_drive", "static_friction")
TROUBLE = ("armature", "breakable_loop", "heavy_box", "tiny_cube", "wheels")


@pytest.mark.slow
@pytest.mark.parametrize("name", each_of(SAMPLE, 2))
def test_an_answer_stays_beside_each_troublemaker(name: str) -> None:
    case = next(case for case in MEASURES if name in case.name)
    alone = beside.measured(case)
    assert alone.lost == []
    for trouble in TROUBLE:
        there = beside.measured(case, trouble)
        assert there.lost == [], trouble
        assert there.places == pytest.approx(alone.places, abs=1e-4), trouble


@pytest.mark.slow
@pytest.mark.parametrize("name", each_of(OF_OTHERS, 2))
def test_an_answer_of_others_stays_beside_each_troublemaker(name: str) -> None:
    if not lab_files.FILES:
        pytest.skip("the folder preview_lab is not in the shared test assets")
    (file,) = (file for file in lab_files.FILES if file.stem == name)
    alone = beside.judged(file)
    assert alone.lost == []
    assert {trouble: beside.judged(file, trouble).lost for trouble in TROUBLE} == {trouble: [] for trouble in TROUBLE}


def test_all_troublemakers_are_tried() -> None:
    assert set(TROUBLE) == set(beside.scenes.TROUBLE)


@pytest.mark.slow
def test_what_is_connected_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wind for all, which a troublemaker brings, moves the scene."""

    def wind(bench: Any) -> None:
        bench.body("Body")
        for prim in bench.model.scenes.values():
            prim.get(beside.scenes.usd_physics.PhysicsScene).gravity_direction = (0.7, 0.0, -0.7)

    monkeypatch.setitem(beside.scenes.TROUBLE, "wind", wind)
    slope = next(case for case in MEASURES if SAMPLE[1] in case.name)
    assert beside.measured(slope).lost == []
    there = beside.measured(slope, "wind")
    assert there.lost and np.abs(there.places - beside.measured(slope).places).max() > 0.1
