"""The energy that the overlay plots: kept by what moves freely, from any units, and of each engine."""

from __future__ import annotations

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.energies import Energies
from usdphys_ext.usdphys_addon.simulation.engine import PREVIEW, engine_row
from usdphys_ext.usdphys_addon.simulation.layout import EARTH_GRAVITY
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.viewport import load_plot

from .author import CENTIMETERS, METERS, File
from .helpers import model_in


@pytest.mark.parametrize("engine", [PREVIEW, "mujoco"])
@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
def test_a_thrown_body_trades_height_for_motion(engine: str, units) -> None:
    if not engine_row(engine).is_here():
        pytest.skip(f"{engine} is not installed")
    file = File(units)
    file.add(
        file.body("Brick", (0, 0, 10.0), size=(1, 2, 3), mass=6.0, center=(0.2, 0.1, 0.3), inertia=(3.0, 4.0, 5.0),
                  velocity=(1.0, 0.0, 4.0), spin=(2.0, 0.5, -1.0)),
        file.body("Asleep", (50.0, 0, 2.0), mass=2.0, dynamic=False),
    )  # fmt: skip
    world = World(model_in(file), engine=engine)
    energies = Energies(world)
    first = energies.now()
    assert first.height == pytest.approx(6.0 * EARTH_GRAVITY * 10.3, rel=1e-5)
    for _ in range(60):
        world.step()
        energies.note()
    last = energies.values[-1]
    assert len(energies.values) == 60 and last.seconds == pytest.approx(1.0)
    fallen = 4.0 - 0.5 * EARTH_GRAVITY
    assert last.height - first.height == pytest.approx(6.0 * EARTH_GRAVITY * fallen, rel=0.15)
    assert last.kinetic + last.height == pytest.approx(first.kinetic + first.height, rel=0.01)
    assert energies.first_unstable is None
    energies.forget()
    assert not energies.values


def test_an_edit_of_a_mass_counts_from_then_on() -> None:
    file = File(METERS)
    file.add(file.body("Crate", (0, 0, 1.0), mass=2.0, velocity=(3.0, 0, 0)))
    world = World(model_in(file))
    energies = Energies(world)
    assert energies.now().kinetic == pytest.approx(9.0)
    world.set_mass("/World/Crate", 4.0)
    assert energies.now().kinetic == pytest.approx(18.0)


def test_the_moment_is_kept_at_which_a_body_becomes_unstable() -> None:
    file = File(METERS)
    file.add(file.body("Bullet", (0, 0, 1.0), velocity=(0, 0, -1500.0), collides=False))
    world = World(model_in(file))
    energies = Energies(world)
    for _ in range(3):
        world.step()
        energies.note()
    assert energies.first_unstable == pytest.approx(world.time_step)
    assert np.isfinite([each.kinetic for each in energies.values]).all()


def test_the_plot_has_one_scale_and_the_total_of_a_fall_is_level() -> None:
    file = File(METERS)
    file.add(file.body("Crate", (0, 0, 100.0), mass=2.0))
    world = World(model_in(file))
    energies = Energies(world)
    assert all(not len(line) for line in load_plot.energy_curves(energies, 1.0))
    assert [str(text) for text in load_plot.energy_texts(energies)] == ["Moving: 0 J", "Total: 0 J"]
    for _ in range(60):
        world.step()
        energies.note()
    curves = load_plot.energy_curves(energies, 1.0)
    assert curves.total[:, 1] == pytest.approx(1.0, abs=0.03) and not len(curves.unstable)
    assert curves.kinetic[0, 1] < 0.01 and curves.kinetic[-1, 1] == pytest.approx(1.0, abs=0.03)
    assert curves.height[-1, 1] == 0.0 and curves.kinetic[-1, 0] == 1.0
    energies.first_unstable = 0.5
    assert load_plot.energy_curves(energies, 1.0).unstable.tolist() == [[0.5, 0.0], [0.5, 1.0]]
    assert len(load_plot.energy_curves(energies, 0.25).unstable) == 0
    moving, total = map(str, load_plot.energy_texts(energies))
    assert moving.startswith("Moving: 96") or moving.startswith("Moving: 95")
    assert abs(float(total.split()[1])) < 0.03 * 96.0
