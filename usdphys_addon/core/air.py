# SPDX-License-Identifier: GPL-3.0-or-later
"""What slows down bodies in a preview that author no damping: air, and the resistance against rolling.

UsdPhysics, Newton and MuJoCo have none. PhysX damps the spin of every body that authors nothing else.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

#: Where the values come from: label and tooltip.
TARGET, NONE, OWN = "TARGET", "OFF", "OWN"
CHOICES: dict[str, tuple[str, str]] = {
    TARGET: ("Like the Target Simulator",
             "PhysX, as the only target of the scene, damps the spin of bodies; nothing is damped for other targets"),
    NONE: ("Off", "Only bodies with a damping of their own are damped"),
    OWN: ("Own", "Bodies without a damping of their own get these values"),
}  # fmt: skip


class Air(NamedTuple):
    """linear, angular: share of its speed and of its spin that a body loses in a second, 1/s.

    rolling: moment against rolling, relative to the load of the contact times its distance from the centre of mass.
    of: whose values these are, for messages; "" for the user's.
    """

    linear: float = 0.0
    angular: float = 0.0
    rolling: float = 0.0
    of: str = ""

    @property
    def told(self) -> str:
        """One sentence about what it does; "" where it does nothing."""
        parts = []
        if self.linear > 0.0:
            parts.append(f"{100.0 * self.linear:.3g} % of their speed a second")
        if self.angular > 0.0:
            parts.append(f"{100.0 * self.angular:.3g} % of their spin a second")
        if self.rolling > 0.0:
            parts.append(f"{100.0 * self.rolling:.3g} % of their load to rolling")
        if not parts:
            return ""
        what = f"Bodies without damping of their own lose {', '.join(parts)}"
        return f"{what}, as in {self.of}." if self.of else f"{what}."


OFF = Air()


def of_physx() -> Air:
    """The fallbacks of PhysxRigidBodyAPI."""
    from . import vendor_schemas

    dampings = [vendor_schemas.attribute_named("PhysxRigidBodyAPI", f"physxRigidBody:{kind}Damping")
             for kind in ("linear", "angular")]  # fmt: skip
    linear, angular = (0.0 if row is None else float(row.fallback) for row in dampings)
    return Air(linear, angular, of="PhysX")


def of_targets(targets: Collection[str]) -> Air:
    """Like the simulators that a scene is made for (NEUTRAL, NEWTON, PHYSX, MUJOCO), where these agree; else OFF."""
    return of_physx() if "PHYSX" in targets and {"NEWTON", "MUJOCO"}.isdisjoint(targets) else OFF
