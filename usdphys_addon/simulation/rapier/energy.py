# SPDX-License-Identifier: GPL-3.0-or-later
"""Detects unphysical energy: compares the growth of kinetic energy with the work of gravity and drives.

Over a period, the kinetic energy of a scene may grow by the work of gravity, by all that the springs of its drives
held at the beginning, and by the most that a target velocity gives: a damper d with the target velocity v has a
power of at most d v^2 / 4. More energy is an error of the simulation or of its input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapier3d import PhysicsWorld

from ..joint_facts import Drive
from .constraints import Constraint, matrix_of
from .joint_effects import stored_energy

Floats = NDArray[np.float64]
#: Seconds between two measurements.
PERIOD = 0.25
#: Tolerated excess: this part of the previous energy, plus the energy of the body that gained most at this speed (m/s).
PART, SPEED = 0.5, 2.0


@dataclass(slots=True)
class _Moment:
    """kinetic (n,): of the bodies, J. centers (n, 3): of mass. springs: J that drives hold. power: W they give."""

    kinetic: Floats
    centers: Floats
    springs: float
    power: float


@dataclass(slots=True)
class Matter:
    """masses (n,), kg, and largest moments of inertia (n,), kg m2, of the bodies; zero for kinematic ones."""

    masses: Floats
    moments: Floats


class EnergyWatch:
    """Compares the energy of a scene at two times."""

    def __init__(self) -> None:
        self._before: _Moment | None = None

    def forget(self) -> None:
        """Discard the last measurement, after a change from outside the simulation."""
        self._before = None

    def look(
        self, physics: PhysicsWorld, views: Sequence[Any], bodies: Matter, constraints: Sequence[Constraint],
        seconds: float,
    ) -> int:  # fmt: skip
        """Row of the body that gained most energy since the last call, `seconds` ago, if the total is unphysical.

        Otherwise -1.
        """
        before, now = self._before, _moment(physics, views, bodies, constraints)
        self._before = now
        if before is None or not len(views):
            return -1
        factors = np.fromiter((view.gravity_scale for view in views), float, len(views))
        falls = factors * ((now.centers - before.centers) @ np.array(physics.gravity.to_tuple()))
        # Of huge bodies the solver's single precision overflows.
        with np.errstate(invalid="ignore", over="ignore"):
            gains = now.kinetic - before.kinetic - bodies.masses * falls
        if not np.isfinite(gains).all():
            return -1
        row = int(gains.argmax())
        given = before.springs + before.power * seconds
        kept = PART * float(before.kinetic.sum()) + 0.5 * float(bodies.masses[row]) * SPEED**2
        return row if float(gains.sum()) > given + kept else -1


def _moment(physics: PhysicsWorld, views: Sequence[Any], bodies: Matter, constraints: Sequence[Constraint]) -> _Moment:
    kinetic = np.fromiter((view.kinetic_energy() for view in views), float, len(views))
    centers = np.array([view.center_of_mass.to_tuple() for view in views], float).reshape(-1, 3)
    kinetic[bodies.masses == 0.0] = 0.0
    springs = power = 0.0
    for constraint in constraints:
        springs += stored_energy(constraint, physics)
        if constraint.active:
            for axis, drive in constraint.drives():
                weight = _driven(physics, constraint, axis, bodies, centers) if drive.acceleration else 1.0
                springs += weight * _held(constraint, physics, axis, drive)
                power += weight * _power(drive)
    return _Moment(kinetic, centers, springs, power)


def _power(drive: Drive) -> float:
    """The most (W) that a target velocity gives; per kg or kg m2 where the drive accelerates."""
    speed = abs(drive.target_velocity)
    if speed == 0.0 or not drive.damping > 0.0:
        return 0.0
    most = drive.damping * speed**2 / 4.0
    return most if drive.acceleration else min(most, drive.max_force * speed)


def _held(constraint: Constraint, physics: PhysicsWorld, axis: int, drive: Drive) -> float:
    """Energy (J) of the spring of a drive; per kg or kg m2 where it accelerates."""
    if not drive.stiffness > 0.0:
        return 0.0
    away = constraint.stretch(physics, axis)
    if drive.acceleration or drive.stiffness * away <= drive.max_force:
        return 0.5 * drive.stiffness * away**2
    return drive.max_force * (away - 0.5 * drive.max_force / drive.stiffness)


def _driven(physics: PhysicsWorld, constraint: Constraint, axis: int, bodies: Matter, centers: Floats) -> float:
    """The most that a drive can have to move: kg, or kg m2 about the joint."""
    if not 3 <= axis < 6:
        return float(bodies.masses.sum())
    place = (matrix_of(physics.rigid_bodies[constraint.handles[0]].position) @ constraint.facts.frame0)[:3, 3]
    squares = ((centers - place) ** 2).sum(axis=1)
    return float((bodies.masses * squares + bodies.moments).sum())
