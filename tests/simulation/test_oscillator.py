# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives as oscillators: gains there and back, and the step response against the equation of motion."""

from __future__ import annotations

import pytest
from usdphys_ext.usdphys_addon.simulation.gains.oscillator import Oscillator, gains, oscillator_of, sparkline


@pytest.mark.parametrize("inertia", [1e-5, 1.0, 300.0])
def test_gains_and_back(inertia) -> None:
    wanted = Oscillator(2.5, 0.3)
    assert oscillator_of(*gains(wanted, inertia), inertia) == pytest.approx(wanted)
    assert oscillator_of(0.0, 1.0, inertia) is None and oscillator_of(1.0, 1.0, 0.0) is None


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.9999999, 1.0, 2.5])
def test_the_response_solves_the_equation_of_motion(ratio) -> None:
    one = Oscillator(1.5, ratio)
    stiffness, damping = gains(one, 1.0)
    x, v, step = 0.0, 0.0, 1e-5
    for number in range(60_000):
        v += step * (stiffness * (1.0 - x) - damping * v)
        x += step * v
        if number % 10_000 == 9_999:
            assert one.response((number + 1) * step) == pytest.approx(x, abs=1e-3)


def test_the_overshoot_is_the_highest_point() -> None:
    for ratio in (0.1, 0.5, 0.9, 1.0, 1.5):
        one = Oscillator(1.0, ratio)
        most = max(one.response(number * 1e-3) for number in range(3000))
        assert max(most - 1.0, 0.0) == pytest.approx(one.overshoot, abs=1e-3)


def test_the_bars_rise_to_the_target() -> None:
    bars = sparkline(Oscillator(1.0, 1.0), 3.0)
    assert len(bars) == 24 and bars[0] < bars[-1] and list(bars) == sorted(bars)
