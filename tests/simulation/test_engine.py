# SPDX-License-Identifier: GPL-3.0-or-later
"""The door for engines: a new one is a row and a class."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hanging import HANGING
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core.errors import InputError, MissingDependencyError
from usdphys_ext.usdphys_addon.simulation.engine import ENGINES, PREVIEW, Ability, Solver, solvers

from .author import METERS, File
from .helpers import run, world_of

W = "/World"


@pytest.fixture(autouse=True)
def _row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "hanging", HANGING)


def swing() -> File:
    """A crate that falls, a hook that is led, and a lamp that swings on it and may break off."""
    file = File(METERS)
    return file.add(
        file.ground(), file.body("Crate", (3, 0, 2)), file.body("Hook", (0, 0, 5), kinematic=True),
        file.body("Lamp", (1, 0, 5), mass=1.0),
        file.joint("Hinge", "Revolute", f"{W}/Hook", f"{W}/Lamp", pos1=(-1, 0, 0), axis="Y", break_force=50.0),
    )  # fmt: skip


def test_bodies_hang_in_the_air_and_what_the_engine_cannot_do_is_named() -> None:
    world = world_of(swing(), engine="hanging")
    before = world.positions.copy()
    run(world, 1.0)
    assert np.array_equal(world.positions, before) and world.time == pytest.approx(1.0)
    assert world.unstable == {} and world.joints == () and world.kinetic_energy() == 0.0
    found = [notice.message for notice in world.notices if notice.code == "EngineLimits"]
    assert [message.partition(", ")[0] for message in found] == [
        "Hanging does not move bodies by itself", "Hanging does not stop bodies where colliders touch",
        "Hanging does not simulate joints", "Hanging does not measure what joints bear",
    ]  # fmt: skip
    assert f"{W}/Crate" in found[0] and f"{W}/Hinge" in found[2]


@pytest.mark.slow
def test_the_preview_lets_them_fall_and_names_nothing() -> None:
    world = run(world_of(swing()), 1.0)
    assert world.positions[world.index(f"{W}/Crate"), 2] < 1.0
    assert not any(notice.code == "EngineLimits" for notice in world.notices)
    assert solvers()[PREVIEW].abilities == frozenset(Ability)


def test_a_led_body_arrives_and_is_back_after_a_reset() -> None:
    world = world_of(swing(), engine="hanging")
    world.set_kinematic_pose(f"{W}/Hook", (0, 0, 7), (1, 0, 0, 0))
    moment = run(world, 0.1).snapshot()
    row = world.index(f"{W}/Hook")
    assert world.positions[row].tolist() == [0, 0, 7]
    world.reset()
    assert world.positions[row].tolist() == [0, 0, 5] and world.frame == 0
    world.restore(moment)
    assert world.positions[row].tolist() == [0, 0, 7] and world.frame == 6


def test_what_it_cannot_do_by_hand_is_refused() -> None:
    world = world_of(swing(), engine="hanging")
    with pytest.raises(InputError, match="Hanging does not let bodies be grabbed"):
        world.grab(f"{W}/Crate", (3, 0, 2))
    with pytest.raises(KeyError):
        world.pose_joint(f"{W}/Hinge", "angular", 0.5)


def test_an_engine_that_is_not_there_is_named() -> None:
    with pytest.raises(
        InputError, match=r"no engine 'best'.* one of preview, automatic, mujoco, physx, newton, havok, hanging"
    ):
        world_of(swing(), engine="best")
    with pytest.raises(MissingDependencyError, match="nowhere"):
        Solver("None", "", "nowhere.at_all:None").load()


def test_the_command_line_takes_it_by_the_name_of_its_row(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    file, poses = tmp_path / "swing.usda", tmp_path / "poses.json"
    file.write_text(swing().text(), encoding="utf-8")
    arguments = ["simulate", str(file), "--seconds", "0.5", "--fps", "20"]
    assert cli.main([*arguments, "--engine", "hanging", "--json", str(poses)]) == 0
    told = capsys.readouterr()
    assert "simulated by hanging" in told.out + told.err
    assert "Hanging does not simulate joints" in told.err
    bodies = json.loads(poses.read_text(encoding="utf-8"))["bodies"]
    crate = bodies[f"{W}/Crate"]["translation"]
    assert len(crate) == 11 and all(place == pytest.approx([3, 0, 2]) for place in crate)
    assert cli.main([*arguments, "--engine", "hanging", "--engine-python", "python"]) == 2
