# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives of joints in MuJoCo: actuators, whose gains are those that a step can integrate."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..joint_facts import Drive
from .compiled import Compiled
from .specification import NO_DRIVE, Specification, finite

#: Largest gains of a drive, of its inertia / step^2 and its inertia / step: beyond, the integration diverges.
MOST_STIFF, MOST_DAMPED = 5.0, 5.0
#: Below this share of the inertia a stiffness needs no implicit damping, which would cost a spring its energy.
SOFT = 0.01
#: Joint and degree of freedom; the latter is 6 for the distance.
Key = tuple[str, int]


class Drives:
    """The drives of a scene that is compiled."""

    def __init__(self, scene: Compiled, told: Specification) -> None:
        self.scene = scene
        self._now = dict(told.drives)
        #: Of these, those whose targets change in the next time step, and from where.
        self._led: dict[Key, tuple[float, Drive]] = {}
        self._damped, self._is_plain = told.damped, told.is_plain
        self._actuators: dict[Key, int] = {key: scene.model.actuator(f"{key[0]} {key[1]}").id for key in self._now}

    def of(self, key: Key) -> Drive:
        """The drive as it is now; one that does nothing where there is none."""
        return replace(self._now.get(key, NO_DRIVE))

    def put(self, key: Key, drive: Drive) -> None:
        """Change a drive. Raises KeyError for a degree of freedom that has none."""
        if key not in self._now:
            raise KeyError(key)
        self._now[key] = replace(drive)
        self._led.pop(key, None)

    def lead(self, key: Key, start: float) -> None:
        """Let the target come from `start` to where it is during the next time step."""
        self._led[key] = start, self._now[key]

    def arrive(self) -> None:
        """The time step is over."""
        self._led.clear()

    def saved(self) -> dict[Key, Drive]:
        """For `load`."""
        return {key: replace(drive) for key, drive in self._now.items()}

    def load(self, saved: dict[Key, Drive]) -> None:
        """Go on with the drives of an earlier moment."""
        self._now = {key: replace(drive) for key, drive in saved.items()}
        self._led.clear()

    def aim(self, part: float) -> None:
        """Set the targets that change in a time step to where they are after a part of it."""
        if not self._led:
            return
        for key, (start, drive) in self._led.items():
            target = drive.target_position - (1.0 - part) * (drive.target_position - start)
            self._now[key] = replace(drive, target_position=target)
        self.set_gains()

    def set_gains(self) -> None:
        """Gains that the step can integrate, and those of accelerations by the inertia of now."""
        scene = self.scene
        model, data = scene.model, scene.data
        keys = [key for key, drive in self._now.items() if drive.stiffness or drive.damping]
        for key in self._now.keys() - keys:
            model.actuator_biasprm[self._actuators[key], :3] = 0.0
            model.actuator_gainprm[self._actuators[key], 0] = 0.0
            if key in self._damped:
                model.dof_damping[scene.dofs[key]] = 0.0
        if not keys:
            return
        units, gains = np.zeros((len(keys), model.nv)), np.zeros((len(keys), model.nv))
        for row, key in enumerate(keys):
            if key[1] < 6:
                units[row, scene.dofs[key]] = 1.0
            else:
                units[row] = self._lengthening(key[0])
        mujoco.mj_solveM(model, data, gains, units)
        inertias = 1.0 / np.maximum(np.einsum("ij,ij->i", units, gains), 1e-30)
        for key, inertia in zip(keys, inertias.tolist(), strict=True):
            drive, actuator = self._now[key], self._actuators[key]
            factor = inertia if drive.acceleration else 1.0
            stiffness = min(drive.stiffness * factor, MOST_STIFF * inertia / scene.h**2)
            damping = min(drive.damping * factor, MOST_DAMPED * inertia / scene.h)
            ahead = scene.h * stiffness if stiffness * scene.h**2 > SOFT * inertia else 0.0
            if self._is_plain:
                stiffness, damping, ahead = drive.stiffness * factor, drive.damping * factor, 0.0
            on, own = float(key[0] not in scene.off), 0.0
            if key in self._damped:
                # MuJoCo integrates the damping of a joint implicitly, and that of an actuator not always.
                own = min(self._damped[key], damping)
                model.dof_damping[scene.dofs[key]] = own * on
            model.actuator_gainprm[actuator, 0] = on
            model.actuator_biasprm[actuator, :3] = (0.0, -stiffness * on, -(damping + ahead - own) * on)
            most = finite(drive.max_force)
            model.actuator_forcerange[actuator] = (-most, most)
            data.ctrl[actuator] = stiffness * drive.target_position + damping * drive.target_velocity

    def _lengthening(self, path: str) -> NDArray[np.float64]:
        """By which velocities (nv,) the distance of a joint grows by 1 m/s."""
        straight = [np.zeros((3, self.scene.model.nv)) for _ in (0, 1)]
        sites = [self.scene.model.site(f"{path} distance {side}").id for side in (0, 1)]
        for each, site in zip(straight, sites, strict=True):
            mujoco.mj_jacSite(self.scene.model, self.scene.data, each, None, site)
        way = self.scene.data.site_xpos[sites[1]] - self.scene.data.site_xpos[sites[0]]
        row: NDArray[np.float64] = way / max(float(np.linalg.norm(way)), 1e-12) @ (straight[1] - straight[0])
        return row
