# SPDX-License-Identifier: GPL-3.0-or-later
"""How servos move an arm together: how much they couple, and what PhysX makes of them.

PhysX divides a step by the number of position iterations. In each part it moves the drives of an articulation one after
the other, from the root on, each as an implicit spring and damper. A drive sees the impulses of those before it only:
those after it leave a velocity, which its spring has to balance. Compared with ovphysx 0.7.0: arms of 1 to 7 hinges,
32 to 255 iterations, 60 to 240 steps a second; `docs/tasks/arm.md` has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...core.frames import Matrix

#: Steps a second of PhysX where nothing else is authored, and position iterations of an articulation.
STEPS, ITERATIONS = 60.0, 32
#: Position iterations that an articulation may have; PhysX takes no more.
CHOICES = (ITERATIONS, 64, 128, 255)
#: Largest sag of an arm, as a part of its reach: below 1 %, of which the prediction lacks up to a seventh.
ARM_SAG = 0.0085
#: A motion has settled when this part of it, or less, is left; longest time that is looked at, s.
SETTLED, LONGEST = 0.02, 5.0
#: Armatures that are tried where no number of iterations is enough, as parts of the largest inertia of a joint. That of
#: a motor with a gearbox is of this order.
ARMATURES = (0.003, 0.01, 0.03, 0.1, 0.3)


@dataclass(frozen=True, slots=True)
class Arm:
    """Joints (n) that hold positions and move bodies in common, from the root on. SI and radians.

    inertia: mass matrix (n, n), with armatures. load: what gravity does to each (n,), in the pose that loads the first
    one most. levers: (n, 3), motion of the farthest point by each. reach: distance of this point from the first joint,
    m. stiffness, damping: (n,), of their drives. ratio: the largest mass that hangs on a body, relative to its own.
    """

    joints: tuple[str, ...]
    inertia: Matrix
    load: Matrix
    levers: Matrix
    reach: float
    stiffness: Matrix
    damping: Matrix
    ratio: float

    @property
    def coupling(self) -> float:
        """The largest inertia of a motion of all joints, relative to those of the single joints: 1 to n."""
        scale = 1.0 / np.sqrt(np.diag(self.inertia))
        return max(1.0, float(np.linalg.eigvalsh(self.inertia * np.outer(scale, scale))[-1]))


class Motion(NamedTuple):
    """sag: of the farthest point under gravity, as a part of the reach. settling: s, of the slowest joint that moves
    alone to its target; infinity if it does not within LONGEST."""

    sag: float
    settling: float


def physx_motion(arm: Arm, iterations: int = ITERATIONS, steps: float = STEPS) -> Motion:
    """What PhysX makes of an arm."""
    count = len(arm.joints)
    step = np.linalg.matrix_power(_part(arm, 1.0 / (steps * iterations)), iterations)
    still, loaded = step[:-1, :-1], step[:-1, -1]
    with np.errstate(all="ignore"):
        rest = np.linalg.solve(np.eye(2 * count) - still, loaded)[:count]
        sag = float(np.linalg.norm(rest @ arm.levers)) / arm.reach
        left = np.eye(2 * count, count)
        last = np.zeros(count)
        for number in range(1, round(LONGEST * steps) + 1):
            left = still @ left
            own = np.abs(np.diag(left[:count]))
            last[~(own <= SETTLED)] = number
    settling = (float(last.max()) + 1.0) / steps if last.max() < round(LONGEST * steps) else np.inf
    return Motion(sag if np.isfinite(sag) else np.inf, settling)


def iterations_for(arm: Arm, sag: float, settling: float, least: int = ITERATIONS) -> tuple[int, Motion]:
    """(the fewest position iterations that keep a sag and a settling time, the motion with them); of the most that
    there are if none does. least: iterations that the articulation has at least."""
    for iterations in (least, *(choice for choice in CHOICES if choice > least)):
        motion = physx_motion(arm, iterations)
        if motion.sag <= sag and motion.settling <= settling:
            break
    return iterations, motion


def _part(arm: Arm, time: float) -> Matrix:
    """One part of a step of PhysX as a matrix (2n + 1, 2n + 1) that acts on distances from the targets, velocities
    and 1."""
    count = len(arm.joints)
    answer = np.linalg.inv(arm.inertia)
    place = np.eye(count, 2 * count + 1)
    speed = np.eye(count, 2 * count + 1, k=count)
    speed[:, -1] += time * (answer @ arm.load)
    for joint in range(count):
        slope = time * (arm.damping[joint] + time * arm.stiffness[joint])
        impulse = -(time * arm.stiffness[joint] * place[joint] + slope * speed[joint])
        speed = speed + np.outer(answer[:, joint], impulse / (1.0 + slope * answer[joint, joint]))
    last = np.zeros((1, 2 * count + 1))
    last[0, -1] = 1.0
    return np.concatenate((place + time * speed, speed, last))
