# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints bear in MuJoCo, and which of them break."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from .closures import ARM
from .compiled import Compiled

Floats = NDArray[np.float64]
_NOTHING = np.zeros(3)


class Loads:
    """Of one scene. forces, torques: (3,) by joint, world, on the second body at its joint frame; means of the last
    time step.
    """

    def __init__(self, scene: Compiled) -> None:
        self.scene = scene
        #: Joints whose load decides, and those that somebody asked for.
        self.breaking = [
            path for path, facts in scene.facts.items()
            if facts.breaks and path in scene.closures and not scene.is_reduced(path)
        ]  # fmt: skip
        self.asked: set[str] = set()
        self.found: dict[str, tuple[Floats, Floats]] = {}
        self._sums: dict[str, list[Floats]] = {}
        self._children = {link.facts.path: link for link in scene.links}

    def begin(self) -> None:
        """A time step begins."""
        self._sums = {path: [] for path in (*self.breaking, *self.asked) if path not in self.scene.off}

    def measure(self) -> None:
        """After each step of the solver, before anything else is computed."""
        if not self._sums:
            return
        scene = self.scene
        if any(path in self._children for path in self._sums):
            mujoco.mj_rnePostConstraint(scene.model, scene.data)
        for path, sums in self._sums.items():
            if self._sleeps(path):
                continue
            sums.append(self._of_link(path) if path in self._children else self._of_closure(path))

    def end(self) -> list[str]:
        """A time step is over. Returns the joints whose load is too large, the worst first."""
        over = []
        for path, sums in self._sums.items():
            if not sums:
                continue
            mean = np.mean(sums, axis=0)
            self.found[path] = mean[:3], mean[3:]
            if path in self.breaking:
                facts = self.scene.facts[path]
                force, torque = (float(np.linalg.norm(part)) for part in self.found[path])
                worst = max(force / max(facts.break_force, 1e-30), torque / max(facts.break_torque, 1e-30))
                if worst > 1.0:
                    over.append((worst, path))
        return [path for _, path in sorted(over, reverse=True)]

    def _sleeps(self, path: str) -> bool:
        """True where nothing is computed, and the load stays what it was."""
        scene, facts = self.scene, self.scene.facts[path]
        return not any(
            body and scene.data.body_awake[scene.ids[scene.rows[body]]] == int(mujoco.mjtSleepState.mjS_AWAKE)
            for body in (facts.body0, facts.body1)
        )

    def _of_link(self, path: str) -> Floats:
        scene, link = self.scene, self._children[path]
        body = int(scene.ids[scene.rows[link.child]])
        both = scene.data.cfrc_int[body]
        root = scene.data.subtree_com[scene.model.body_rootid[body]]
        here = scene.pose_at_step(link.facts.body1, link.facts.frame1)[:3, 3]
        force = both[3:]
        torque = both[:3] + np.cross(root - here, force)
        sign = -1.0 if link.is_reversed else 1.0
        return sign * np.concatenate([force, torque])

    def _of_closure(self, path: str) -> Floats:
        scene, closure = self.scene, self.scene.closures[path]
        data = scene.data
        result = np.zeros(6)
        if closure.length >= 0:
            rows = np.flatnonzero(
                (data.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON) & (data.efc_id == closure.length)
            )
            first, second = (
                scene.pose_at_step(*end)[:3, 3] for end in
                ((closure.facts.body0, closure.facts.frame0), (closure.facts.body1, closure.facts.frame1))
            )  # fmt: skip
            way = (second - first) / max(float(np.linalg.norm(second - first)), 1e-12)
            result[:3] = way * -float(data.efc_force[rows].sum())
        for number, equal in enumerate(closure.eq_ids):
            rows = np.flatnonzero((data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (data.efc_id == equal))
            force = data.efc_force[rows]
            if not len(force):
                continue
            result[:3] -= force[:3]
            if len(force) == 6:
                # MuJoCo's rows of a turn are those of half the angle.
                result[3:] -= 0.5 * force[3:]
            elif number:
                axis = scene.pose_at_step(closure.facts.body1, closure.facts.frame1)[:3, 0]
                result[3:] -= np.cross(ARM * axis, force[:3])
        return result

    def told(self, path: str) -> tuple[Floats, Floats]:
        """Force and torque of a joint, which is measured from now on."""
        self.asked.add(path)
        return self.found.get(path, (_NOTHING, _NOTHING))
