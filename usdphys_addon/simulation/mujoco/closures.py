# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a joint is beside the tree: equalities where it closes a loop or can end, tendons for cones and distances."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...core import frames
from ...core.frames import Matrix
from ...core.joint_settings import PLAIN_AXIS
from ..joint_facts import NO_LIMIT, Freedom, JointFacts

#: m, between the two points that hold the axis of a hinge, and of the arms of a cone.
ARM = 1.0
#: Impedance of an equality: less is a spring, whose load overshoots.
RIGID = 0.9999
#: rad, of the half axes of an elliptic cone.
_LEAST, _MOST = 1e-3, math.pi - 1e-3


def is_closable(facts: JointFacts) -> bool:
    """True for a joint that equalities can hold: fixed, hinge or ball."""
    return [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked] in ([], [3], [3, 4, 5])


def is_whole(facts: JointFacts) -> bool:
    """True where equalities say all of a joint."""
    return is_closable(facts) and not facts.drives and not any(freedom.is_limited for freedom in facts.freedoms)


def is_bare(facts: JointFacts) -> bool:
    """True for a joint without drives, limits, friction, damping and armature."""
    plain = all(freedom.settings == PLAIN_AXIS for freedom in facts.freedoms if not freedom.is_locked)
    return plain and not facts.drives and not any(freedom.is_limited for freedom in facts.freedoms)


def rank(facts: JointFacts) -> int:
    """How well a joint closes a loop: least where it could not be held so, less where something of it would get lost,
    most where the asset says that it is no part of a tree."""
    if not is_closable(facts):
        return 0
    return 1 + 2 * is_bare(facts) + facts.excluded


@dataclass(slots=True)
class Closure:
    """equalities, tendons: names, and once compiled numbers. lengths: number of the tendon of the distance, or -1."""

    facts: JointFacts
    equalities: list[str] = field(default_factory=list)
    tendons: list[str] = field(default_factory=list)
    eq_ids: list[int] = field(default_factory=list)
    tendon_ids: list[int] = field(default_factory=list)
    length: int = -1
    tips: tuple[int, int] = (-1, -1)

    def _site(self, nodes: dict[str, Any], side: int, name: str, point: Matrix) -> str:
        """A site at a point (3,) of a joint frame, with its axes. Returns its name."""
        facts = self.facts
        body, frame = ((facts.body0, facts.frame0), (facts.body1, facts.frame1))[side]
        full = f"{facts.path} {name} {side}"
        nodes[body].add_site(
            name=full, pos=frame[:3, 3] + frame[:3, :3] @ point, quat=frames.quaternion_of(frame[:3, :3])
        )
        return full

    def add_equalities(self, spec: Any, nodes: dict[str, Any], h: float) -> None:
        """Hold the joint. h: s, of a step of the solver."""
        free = [axis for axis, freedom in enumerate(self.facts.freedoms) if not freedom.is_locked]
        kind = mujoco.mjtEq.mjEQ_CONNECT if free else mujoco.mjtEq.mjEQ_WELD
        for number in range(2 if free == [3] else 1):
            point = np.array((number * ARM, 0.0, 0.0))
            ends = [self._site(nodes, side, f"hold{number}", point) for side in (0, 1)]
            equal = spec.add_equality(
                name=f"{self.facts.path} hold{number}", type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE,
                name1=ends[0], name2=ends[1],
            )  # fmt: skip
            equal.solref, equal.solimp[:2] = (2.0 * h, 1.0), RIGID
            self.equalities.append(equal.name)

    def add_tendons(self, spec: Any, nodes: dict[str, Any], h: float) -> None:
        """Limit the distance of the frames, and the tilt of their X axes."""
        facts = self.facts
        if facts.distance is not None:
            tendon = self._tendon(spec, nodes, "distance", np.zeros(3), h)
            low, high = range_of(facts.distance)
            soft = facts.distance.settings
            if soft.is_soft:
                tendon.stiffness[0], tendon.damping[0] = soft.stiffness, soft.damping
                tendon.springlength = (low, high)
            else:
                tendon.limited, tendon.range = facts.distance.is_limited, (low, high)
        if facts.cone is not None and min(facts.cone) < math.pi:
            tendon = self._tendon(spec, nodes, "cone", np.array((ARM, 0.0, 0.0)), h)
            tendon.limited, tendon.range = True, (0.0, 2.0 * ARM * math.sin(min(facts.cone) / 2.0))

    def _tendon(self, spec: Any, nodes: dict[str, Any], name: str, point: Matrix, h: float) -> Any:
        tendon = spec.add_tendon(name=f"{self.facts.path} {name}")
        for side in (0, 1):
            tendon.wrap_site(self._site(nodes, side, name, point))
        tendon.solref_limit = (2.0 * h, 1.0)
        self.tendons.append(tendon.name)
        return tendon

    def find(self, model: Any) -> None:
        """Look up the numbers in a compiled model."""
        self.eq_ids = [model.equality(name).id for name in self.equalities]
        self.tendon_ids = [model.tendon(name).id for name in self.tendons]
        if self.facts.distance is not None:
            self.length = model.tendon(f"{self.facts.path} distance").id
        if self.is_elliptic:
            first, second = (model.site(f"{self.facts.path} cone {side}").id for side in (0, 1))
            self.tips = first, second

    @property
    def is_elliptic(self) -> bool:
        """True for a cone with two different angles, which no single tendon is."""
        cone = self.facts.cone
        return cone is not None and min(cone) < math.pi and abs(cone[0] - cone[1]) > 1e-6

    def switch(self, model: Any, data: Any, on: bool) -> None:
        """Let it hold, or not."""
        data.eq_active[self.eq_ids] = on
        for number in self.tendon_ids:
            soft = self.facts.distance is not None and number == self.length and self.facts.distance.settings.is_soft
            model.tendon_limited[number] = on and not soft and self._is_limited(number)
            if soft:
                assert self.facts.distance is not None
                settings = self.facts.distance.settings
                model.tendon_stiffness[number] = settings.stiffness if on else 0.0
                model.tendon_damping[number] = settings.damping if on else 0.0

    def _is_limited(self, number: int) -> bool:
        return number != self.length or (self.facts.distance is not None and self.facts.distance.is_limited)

    def set_ranges(self, model: Any, facts: JointFacts) -> None:
        """Take distance and cone of other facts."""
        self.facts.distance, self.facts.cone = facts.distance, facts.cone
        for number, name in zip(self.tendon_ids, self.tendons, strict=True):
            if number == self.length and facts.distance is not None:
                model.tendon_range[number] = range_of(facts.distance)
            elif name.endswith(" cone") and facts.cone is not None:
                model.tendon_range[number] = (0.0, 2.0 * ARM * math.sin(min(*facts.cone, math.pi) / 2.0))

    def aim(self, model: Any, data: Any, frame: Matrix, tip: Matrix) -> None:
        """Bring the tendon of an elliptic cone to where its plane touches the cone nearest to the axis.

        frame: (4, 4) of joint frame 0 in the world. tip: (3,), the X axis of frame 1 in the world.
        """
        assert self.facts.cone is not None
        anchor, direction = nearest_of_cone(self.facts.cone, frame[:3, :3].T @ tip)
        place, local = self.facts.frame0, ARM * (anchor - direction)
        model.site_pos[self.tips[0]] = place[:3, 3] + place[:3, :3] @ local
        # MuJoCo places what is on the world only once.
        data.site_xpos[self.tips[0]] = frame[:3, 3] + frame[:3, :3] @ local
        model.tendon_range[self.tendon_ids[-1]] = (0.0, ARM)


def range_of(freedom: Freedom) -> tuple[float, float]:
    """Shortest and largest length; different ones."""
    low = max(freedom.low, 0.0)
    return low, max(min(freedom.high, NO_LIMIT), low + 1e-6)


def nearest_of_cone(cone: tuple[float, float], axis: NDArray[np.float64]) -> tuple[Matrix, Matrix]:
    """Of an elliptic cone about X, the unit vector (3,) on it at the azimuth of an axis, and the normal outwards there.

    cone: rad, half axes towards Y and Z.
    """
    sizes = np.clip(cone, _LEAST, _MOST)
    side = float(np.hypot(axis[1], axis[2]))
    way = axis[1:] / side if side > 1e-9 else np.array((1.0, 0.0))
    tilt = 1.0 / float(np.hypot(*(way / sizes)))
    radial = way / sizes**2
    along, across = float(radial @ way), float(radial @ (-way[1], way[0]))
    across *= tilt / math.sin(tilt)
    normal = np.concatenate(
        [[-along * math.sin(tilt)], along * math.cos(tilt) * way + across * np.array((-way[1], way[0]))]
    )
    return np.array((math.cos(tilt), *(math.sin(tilt) * way))), normal / np.linalg.norm(normal)
