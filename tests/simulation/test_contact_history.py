# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that begin with an impulse: the momentum that a blow takes, once, in every engine."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.simulation.contact_history import BLOW, Contact, ContactHistory
from usdphys_ext.usdphys_addon.simulation.engine import PREVIEW
from usdphys_ext.usdphys_addon.simulation.layout import EARTH_GRAVITY

from .author import CENTIMETERS, METERS, File, Units
from .test_contact_forces import world_of

ENGINES = [PREVIEW, "mujoco"]
W = "/World"


def history_of(file: File, engine: str, seconds: float, least: float) -> tuple[Contact, ...]:
    world = world_of(file, engine)
    history = ContactHistory(world, least)
    for _ in range(round(seconds / world.time_step)):
        world.step()
        history.note()
    return history.contacts


@pytest.mark.parametrize("engine", ENGINES)
def test_a_crate_hits_the_floor_once_with_its_momentum_and_rests_without_another_contact(engine: str) -> None:
    """2 kg that fall by 1.25 m: m sqrt(2 g h), and at most what its weight adds during the blow."""
    file = File(METERS)
    file.add(file.ground(), file.body("Crate", (0, 0, 0.5 + 1.25), mass=2.0))
    (contact,) = history_of(file, engine, 3.0, 1.0)
    momentum = 2.0 * math.sqrt(2.0 * EARTH_GRAVITY * 1.25)
    assert (contact.first, contact.second) == (f"{W}/Crate", f"{W}/Ground/Shape")
    assert 0.97 * momentum < contact.impulse < 1.03 * momentum + 2.0 * EARTH_GRAVITY * (BLOW + 1.0 / 60.0)
    assert contact.seconds == pytest.approx(math.sqrt(2.0 * 1.25 / EARTH_GRAVITY), abs=0.035)
    assert history_of(file, engine, 3.0, momentum + 2.0) == ()


def test_a_ball_that_bounces_hits_again_each_time_with_less() -> None:
    """Each blow is m v (1 + e), with v times e from blow to blow; the ball has a radius of 1 m."""
    file = File(METERS)
    file.add(file.material("Rubber", 0.5, 0.8), file.ground(material=f"{W}/Rubber"),
             file.body("Ball", (0, 0, 2.5), shape="Sphere", mass=1.0, material=f"{W}/Rubber"))  # fmt: skip
    contacts = history_of(file, PREVIEW, 3.0, 0.5)
    fall = math.sqrt(2.0 * EARTH_GRAVITY * 1.5)
    assert len(contacts) >= 2
    for number, contact in enumerate(contacts[:2]):
        assert contact.impulse == pytest.approx(1.8 * fall * 0.8**number, rel=0.02)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_touches_at_the_start_has_not_begun_to_touch(engine: str) -> None:
    file = File(METERS)
    file.add(file.ground(), file.body("Lower", (0, 0, 0.5), mass=3.0), file.body("Upper", (0, 0, 1.5), mass=2.0))
    assert history_of(file, engine, 1.0, 0.0) == ()


def test_two_groups_that_meet_on_the_way_are_heard() -> None:
    """Two balls far apart roll towards each other in worlds of their own, which become one."""
    file = File(METERS)
    file.add(file.body("Left", (-15, 0, 0), shape="Sphere", mass=2.0, velocity=(10, 0, 0)),
             file.body("Right", (15, 0, 0), shape="Sphere", mass=2.0, velocity=(-10, 0, 0)))  # fmt: skip
    (contact,) = history_of(file, PREVIEW, 2.0, 5.0)
    assert (contact.first, contact.second) == (f"{W}/Left", f"{W}/Right")
    assert contact.impulse == pytest.approx(2.0 * 10.0, rel=0.03)


@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=lambda units: str(units.name))
def test_simulate_writes_contacts_in_si_whatever_the_units(units: Units, tmp_path: Path) -> None:
    file = File(units)
    file.add(file.ground(), file.body("Crate", (0, 0, 0.5 + 1.25), mass=2.0))
    source, target = tmp_path / "scene.usda", tmp_path / "poses.json"
    source.write_text(file.text(), encoding="utf-8")
    command = ["simulate", str(source), "--seconds", "1", "--fps", "60", "--json", str(target)]
    assert cli.main([*command, "--contacts", "1"]) == 0
    (contact,) = json.loads(target.read_text(encoding="utf-8"))["contacts"]
    assert contact["between"] == [f"{W}/Crate", f"{W}/Ground/Shape"]
    momentum = 2.0 * math.sqrt(2.0 * EARTH_GRAVITY * 1.25)
    assert contact["impulse_newton_seconds"] == pytest.approx(momentum + 0.5, rel=0.1)
    assert cli.main(command) == 0
    assert "contacts" not in json.loads(target.read_text(encoding="utf-8"))


def test_contacts_without_a_file_for_them_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "scene.usda"
    source.write_text(File(METERS).text(), encoding="utf-8")
    assert cli.main(["simulate", str(source), "--seconds", "1", "--contacts", "1"]) == 2
    assert "--json" in capsys.readouterr().err
