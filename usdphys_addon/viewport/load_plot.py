# SPDX-License-Identifier: GPL-3.0-or-later
"""Plots over the last seconds, as lines and texts: force and torque of a joint, and the energy of the scene. Needs
neither Blender nor a GPU."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.words import Phrase, number_text, phrase

if TYPE_CHECKING:
    from ..simulation.energies import Energies
    from ..simulation.load_history import JointBreak, JointLoads


class Curves(NamedTuple):
    """Lines of a plot, two vertices each, (n, 2), in a box from (0, 0) to (1, 1): one full height is the largest value
    in the plot. broken: a line at the moment of breaking."""

    force: NDArray[np.float32]
    torque: NDArray[np.float32]
    broken: NDArray[np.float32]


def curves(loads: JointLoads, seconds: float) -> Curves:
    """seconds: the width of the plot; its right edge is the last value."""
    values = np.array(loads.values, float).reshape(-1, 3)
    end = values[-1, 0] if len(values) else 0.0
    across = 1.0 - (end - values[:, 0]) / seconds
    force, torque = (_line(across, values[:, column]) for column in (1, 2))
    lines = _moment(None if loads.broken is None else loads.broken.seconds, end, seconds)
    return Curves(force, torque, lines)


class EnergyCurves(NamedTuple):
    """As `Curves`: one full height is the range of the three. unstable: a line at the first unstable moment."""

    kinetic: NDArray[np.float32]
    height: NDArray[np.float32]
    total: NDArray[np.float32]
    unstable: NDArray[np.float32]


def energy_curves(energies: Energies, seconds: float) -> EnergyCurves:
    """The energy of height counts from the lowest of the last seconds on."""
    values = np.array(energies.values, float).reshape(-1, 3)
    end = values[-1, 0] if len(values) else 0.0
    across = 1.0 - (end - values[:, 0]) / seconds
    kinetic, height = values[:, 1], values[:, 2] - values[:, 2].min(initial=np.inf) if len(values) else values[:, 2]
    most = float((kinetic + height).max(initial=0.0))
    return EnergyCurves(
        _line(across, kinetic, most), _line(across, height, most), _line(across, kinetic + height, most),
        _moment(energies.first_unstable, end, seconds),
    )  # fmt: skip


def energy_texts(energies: Energies) -> tuple[Phrase, Phrase]:
    """The energies now, J: what moves, and both together since the first of the last seconds."""
    if not energies.values:
        return phrase("Moving: {energy} J", energy="0"), phrase("Total: {change} J", change="0")
    first, last = energies.values[0], energies.values[-1]
    change = last.kinetic + last.height - first.kinetic - first.height
    moving = phrase("Moving: {energy} J", energy=number_text(last.kinetic))
    largest = max(each.kinetic for each in energies.values)
    if abs(change) < 1e-4 * max(largest, abs(last.height - first.height)):
        change = 0.0
    return moving, phrase("Total: {change} J", change=f"{'+' if change > 0.0 else ''}{number_text(change)}")


def unstable_text(seconds: float) -> Phrase:
    """When a body first was unstable."""
    return phrase("unstable at {seconds:.2f} s", seconds=seconds)


def _moment(at: float | None, end: float, seconds: float) -> NDArray[np.float32]:
    """An upright line at a moment; none before the plot."""
    place = -1.0 if at is None else 1.0 - (end - at) / seconds
    return np.array([(place, 0.0), (place, 1.0)] if place >= 0.0 else [], np.float32).reshape(-1, 2)


def _line(across: NDArray[np.float64], values: NDArray[np.float64], most: float | None = None) -> NDArray[np.float32]:
    most = float(values.max(initial=0.0)) if most is None else most
    points = np.stack((across, values / most if most > 0.0 else values), axis=1)[across >= 0.0]
    return np.stack((points[:-1], points[1:]), axis=1).reshape(-1, 2).astype(np.float32)


def pairs(loads: JointLoads) -> tuple[tuple[str, str], tuple[str, str]]:
    """The force and the torque as texts, each now and the largest so far."""
    _, force, torque = loads.values[-1] if loads.values else (0.0, 0.0, 0.0)
    return (
        (f"{_rounded(force, loads.most_force)} N", f"{number_text(loads.most_force)} N"),
        (f"{_rounded(torque, loads.most_torque)} N m", f"{number_text(loads.most_torque)} N m"),
    )


def texts(loads: JointLoads) -> tuple[Phrase, Phrase]:
    """The force and the torque as texts: now, and the largest so far."""
    _, force, torque = loads.values[-1] if loads.values else (0.0, 0.0, 0.0)
    return (
        phrase("{now} N, largest {most}", now=_rounded(force, loads.most_force), most=number_text(loads.most_force)),
        phrase(
            "{now} N m, largest {most}", now=_rounded(torque, loads.most_torque), most=number_text(loads.most_torque)
        ),
    )


def _rounded(now: float, most: float) -> str:
    """With one decimal more than the largest load has: noise beside it would fill the line with digits."""
    if now < 1e-3 * most or not 0.0 < most < math.inf:
        return "0"
    return number_text(round(now, 3 - math.floor(math.log10(most))))


def break_text(broken: JointBreak) -> Phrase:
    """When and under which load a joint broke."""
    return phrase(
        "broke at {seconds:.2f} s under {force} N and {torque} N m",
        seconds=broken.seconds, force=number_text(broken.force, 4), torque=number_text(broken.torque, 4),
    )  # fmt: skip


def along_text(vector: tuple[float, float, float], unit: str) -> str:
    """The parts of a force or torque along the axes of the joint frame."""
    most = max(map(abs, vector))
    return "  ".join(f"{'-' if part < 0.0 and text != '0' else ''}{text}" for part, text in
                     ((part, _rounded(abs(part), most)) for part in vector)) + f" {unit}"  # fmt: skip
