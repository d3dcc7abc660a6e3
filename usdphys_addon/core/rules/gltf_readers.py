# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for what readers of glTF leave out, or hold less firmly.

Havok: Babylon.js 8 with Havok 1.3 and the plugin of the KHR extensions' authors, which played what generators make.
Godot: the reader of Godot 4, without add-ons.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterator

from ..joint_kinds import limits_of
from ..joint_settings import axis_settings, distance_spring
from ..model import Prim
from ..schema import Schema
from ..schemas import usd_physics
from .base import Facts, Finding, rule

#: Bodies in a row, from what holds it, whose joints add up. Of equal bodies, 5 hung lower by 3 mm in 1 m, 11 by 16 mm
#: in 2 m; a rope of 16 that was held at both ends by 0.13 m, and a bridge of 14 planks was 34 mm apart under a load.
_LONG = 7
#: kg by which the mass of a body may differ from 1 kg, where its inertia is taken alike.
_ALIKE = 0.1


@rule("ArticulationLeftOut")
def articulation_left_out(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.all(usd_physics.ArticulationRootAPI):
        yield Finding(prim, f"glTF has no articulations; {prim.display} is none there.")


@rule("JointLeftOut")
def joint_left_out(facts: Facts) -> Iterator[Finding]:
    joints = [prim for prim, joint in facts.joints if joint.joint_enabled is not False]
    if len(joints) == 1:
        yield Finding(joints[0], f"Godot leaves out the joint {joints[0].display}.")
    elif joints:
        yield Finding(joints[0], f"Godot leaves out the joint {joints[0].display} and {len(joints) - 1} more.")


@rule("MaterialLeftOut")
def material_left_out(facts: Facts) -> Iterator[Finding]:
    for prim, material in facts.all(usd_physics.MaterialAPI):
        if any((material.static_friction, material.dynamic_friction, material.restitution)):
            yield Finding(prim, f"Godot leaves out the friction and the restitution of {prim.display}.")


def _links(facts: Facts) -> list[tuple[Prim, str, str]]:
    """(joint, one body, the other) of enabled joints; "" is the world, and all that does not move."""
    links = []
    for prim, joint in facts.joints:
        ends = [facts.mover.at(targets[0]) if targets else None for targets in (joint.body0, joint.body1)]
        one, other = (end.path if end is not None and end.path in facts.dynamic else "" for end in ends)
        if joint.joint_enabled is not False and one != other:
            links.append((prim, one, other))
    return links


@rule("JointsInLoop")
def joints_in_loop(facts: Facts) -> Iterator[Finding]:
    """One for each set of bodies that hangs together; the world closes a loop, too."""
    above: dict[str, str] = {}

    def top(path: str) -> str:
        while (higher := above.get(path, path)) != path:
            above[path] = above.get(higher, higher)
            path = higher
        return path

    closing: dict[str, list[Prim]] = defaultdict(list)
    loops = []
    for prim, one, other in facts.once(_links):
        # Two joints of one body with the world, as hinges of a door have them, hold it without a loop.
        first, second = top(one), top(other)
        if first != second:
            above[first] = second
        elif one and other:
            loops.append((prim, one))
    for prim, body in loops:
        closing[top(body)].append(prim)
    for prims in closing.values():
        more = f" and {len(prims) - 1} more" if len(prims) > 1 else ""
        yield Finding(prims[0], f"The joint {prims[0].display}{more} closes a loop, which gives way in Havok.")


@rule("LongRow")
def long_row(facts: Facts) -> Iterator[Finding]:
    """The farthest body of each row, from what holds it, or from an end of a row that nothing holds."""
    beside: dict[str, list[str]] = defaultdict(list)
    held = []
    for _, one, other in facts.once(_links):
        if one and other:
            beside[one].append(other)
            beside[other].append(one)
        else:
            held.append(one or other)
    seen = dict.fromkeys(held, 1)
    starts = [path for path, others in beside.items() if len(others) == 1 and path not in seen]
    # Rows that are held are walked from there first; what they reach is not walked again.
    for group in (held, *([path] for path in starts)):
        fresh = [path for path in group if group is held or path not in seen]
        seen.update(dict.fromkeys(fresh, 1))
        pending = deque(fresh)
        farthest = ("", 0)
        while pending:
            path = pending.popleft()
            if seen[path] > farthest[1]:
                farthest = (path, seen[path])
            for other in beside[path]:
                if other not in seen:
                    seen[other] = seen[path] + 1
                    pending.append(other)
        if farthest[1] >= _LONG:
            body = facts.dynamic[farthest[0]]
            yield Finding(
                body, f"{body.display} hangs on {farthest[1] - 1} bodies in a row, whose joints stretch in Havok."
            )


@rule("VelocityDriveFaster")
def velocity_drive_faster(facts: Facts) -> Iterator[Finding]:
    """Of 0.5, 1 and 2 m/s, 1.25, 2.4 and 4.8; with a damping of 10, 100 and 10,000, and of 1 and 10 kg."""
    for prim, dof, drive in facts.applied(usd_physics.DriveAPI):
        if drive.target_velocity and drive.damping and dof != "distance":
            yield Finding(prim, f"The drive '{dof}' of {prim.display} runs 2.5 times as fast in Havok.", {"dof": dof})


@rule("InertiaTimesMass")
def inertia_times_mass(facts: Facts) -> Iterator[Finding]:
    """Havok takes the inertia of 1 kg: a body of 10 kg and 0.2 kg m² got a tenth of its speed from a blow."""
    for prim, matter in facts.masses:
        weight, moments = matter.mass or 0.0, matter.diagonal_inertia or ()
        if prim.path in facts.dynamic and weight > 0.0 and any(moments) and abs(weight - 1.0) > _ALIKE:
            yield Finding(
                prim, f"Babylon.js multiplies the inertia of {prim.display} by its mass, {weight:.3g} kg, once more."
            )  # fmt: skip


@rule("SoftLimitHard")
def soft_limit_hard(facts: Facts) -> Iterator[Finding]:
    """A load of 1 kg on a limit of 100 N/m hung 9.6 cm lower along one axis, and not at all by a distance."""
    for prim, joint in facts.joints:
        if joint.joint_enabled is not False and _is_hard_in_havok(prim, joint):
            yield Finding(prim, f"The limit of {prim.display} is soft, and hard in Havok.")


def _is_hard_in_havok(prim: Prim, joint: usd_physics.Joint) -> bool:
    """True for soft limits of a distance, and for those that only Newton's words make soft: glTF gets PhysX's."""
    if isinstance(joint, usd_physics.DistanceJoint):
        return distance_spring(prim).is_soft
    limited: dict[str, Schema] = dict(prim.instances(usd_physics.LimitAPI))
    if isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
        limited = {"angular" if isinstance(joint, usd_physics.RevoluteJoint) else "linear": joint}
    for dof, limit in limited.items():
        low, high = limits_of(limit, dof if isinstance(limit, usd_physics.LimitAPI) else "")
        is_range = low < high and (math.isfinite(low) or math.isfinite(high))
        is_written = dof != "distance" and f"PhysxLimitAPI:{dof}" in prim.schemas
        if is_range and not is_written and axis_settings(prim, dof).is_soft:
            return True
    return False
