# SPDX-License-Identifier: GPL-3.0-or-later
"""What equalities and tendons hold together, as joints between two bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..core import frames, joint_kinds, joint_settings
from ..core.model import Prim
from ..core.schemas import usd_physics
from .joints import Ends, between
from .values import Equality, Floats, Model

#: Points closer to each other than this make no axis, m; and distances that differ by less are equal, relative.
_APART, _NEAR = 1e-3, 1e-6
#: Tendons that may be as long as this, m, have no longest distance.
_FAR = 1e3


class Side(NamedTuple):
    """A body, by its index, and a frame (4, 4) in the world that moves with it."""

    body: int
    frame: Floats


@dataclass(slots=True)
class Loop:
    """A joint that closes a loop. first, second: its sides.

    kind: of the equality, hinge for two points that stay together, or distance. range: of that. given: the equality.
    """

    name: str
    kind: str
    first: Side
    second: Side
    given: Equality | None = None
    range: tuple[float, float] = (0.0, 0.0)

    def schema(self, ends: Ends) -> usd_physics.Joint:
        """The joint of USD. ends: the body of the second side as the base, and that of the first."""
        cls: Any = {
            "connect": usd_physics.SphericalJoint, "weld": usd_physics.FixedJoint, "hinge": usd_physics.RevoluteJoint,
            "distance": usd_physics.DistanceJoint,
        }[self.kind]  # fmt: skip
        made: usd_physics.Joint = between(cls, ends, self.second.frame, self.first.frame)
        if isinstance(made, usd_physics.RevoluteJoint):
            made.axis = "X"
        if isinstance(made, usd_physics.DistanceJoint):
            low, high = self.range
            made.min_distance = low if low > 0.0 else None
            made.max_distance = high if high < _FAR else None
        return made


class Closing(NamedTuple):
    """By which equality a joint closes a loop. axis: number of that of a hinge. more: True if the joint says more than
    the equality."""

    kind: str
    axis: int = 0
    more: bool = False


def closing_of(prim: Prim) -> Closing | None:
    """weld, hinge (two points), connect (a point) or distance, of a joint; None where an equality cannot be the joint.

    A generic joint whose body cannot be moved in its frame is one of the first three.
    """
    joint: Any = prim.get(usd_physics.Joint)
    if prim.type_name == "PhysicsDistanceJoint":
        return Closing("distance")
    limits = dict(prim.instances(usd_physics.LimitAPI))
    locked = [dof for dof, one in limits.items() if joint_kinds.is_locked(*joint_kinds.limits_of(one, dof))]
    moves, turns = joint_kinds.locked_axes(joint, locked)
    if not all(moves):
        return None
    free = [number for number in range(3) if not turns[number]]
    if not free:
        return Closing("weld")
    more = _is_limited(prim, joint, [limits[dof] for dof in limits if dof not in locked]) or len(free) == 2
    more = more or _is_driven(prim)
    return Closing("hinge", free[0], more) if len(free) == 1 else Closing("connect", more=more)


def _is_limited(prim: Prim, joint: Any, limits: Sequence[usd_physics.LimitAPI]) -> bool:
    if isinstance(joint, usd_physics.RevoluteJoint):
        return any(math.isfinite(joint.resolved(name)) for name in ("lower_limit", "upper_limit"))
    if isinstance(joint, usd_physics.SphericalJoint):
        return any(joint.resolved(f"cone_angle{side}_limit") >= 0.0 for side in (0, 1))
    return any(math.isfinite(limit.resolved(name)) for limit in limits for name in ("low", "high"))


def _is_driven(prim: Prim) -> bool:
    """True for a joint that something drives, or that resists."""
    drives = [api for name, api in prim.schemas.items() if name.startswith("PhysicsDriveAPI:")]
    is_driven = any(float(api.resolved(gain)) > 0.0 for api in drives for gain in ("stiffness", "damping"))
    dofs = ("angular", "rotX", "rotY", "rotZ")
    return is_driven or any(joint_settings.axis_settings(prim, dof) != joint_settings.PLAIN_AXIS for dof in dofs)


def loops_of(source: Model, worlds: list[Floats], indices: Mapping[str, int]) -> Iterator[Loop | str]:
    """The loops that a model closes, or the name of what names a part that is not there.

    worlds: of each body. indices: of bodies, by name.
    """
    sites = {site.name: Side(index, worlds[index] @ site.pose)
             for index, body in reversed(list(enumerate(source.bodies))) for site in body.sites}  # fmt: skip
    found = list[Loop | str]()
    for given in source.equalities:
        if given.kind == "joint":
            continue
        sides = _sides(given, worlds, indices, sites)
        found.append(given.name if sides is None else Loop(given.name, given.kind, *sides, given))
    yield from _with_hinges(found)
    for rope in source.ropes:
        first, second = (sites.get(name) for name in rope.sites)
        if first is None or second is None:
            yield rope.name
        else:
            # A distance has no orientation.
            aligned = frames.transform(second.frame[:3, 3], first.frame[:3, :3])
            yield Loop(rope.name, "distance", first, Side(second.body, aligned), range=rope.range)


def _sides(
    given: Equality, worlds: list[Floats], indices: Mapping[str, int], sites: Mapping[str, Side]
) -> tuple[Side, Side] | None:  # fmt: skip
    if given.by_sites:
        first, second = sites.get(given.one), sites.get(given.other)
        if first is None or second is None:
            return None
        if given.kind == "connect":
            second = Side(second.body, frames.transform(second.frame[:3, 3], first.frame[:3, :3]))
        return first, second
    one, other = (indices.get(name) if name else 0 for name in (given.one, given.other))
    if one is None or other is None:
        return None
    start = place = worlds[other if given.kind == "weld" else one] @ frames.transform(given.anchor)
    if given.kind == "weld" and given.relative is not None:
        # Where the anchor is to be in the first body: the joint pulls it there.
        place = worlds[one] @ given.relative
    return Side(one, place), Side(other, start)


def _with_hinges(found: list[Loop | str]) -> Iterator[Loop | str]:
    """Loops, with two points by which the same bodies are held together as one hinge through them."""
    points: dict[tuple[Any, ...], list[Loop]] = {}
    for one in found:
        if isinstance(one, Loop) and one.kind == "connect" and one.given is not None:
            key = (one.first.body, one.second.body, one.given.is_active, tuple(sorted(one.given.softness.items())))
            points.setdefault(key, []).append(one)
    hinges, taken = dict[int, Loop](), set[int]()
    for pair in points.values():
        made = _hinge(*pair) if len(pair) == 2 else None
        if made is not None:
            hinges[id(pair[0])] = made
            taken.add(id(pair[1]))
    for one in found:
        if id(one) not in taken:
            yield hinges.get(id(one), one)


def _hinge(one: Loop, other: Loop) -> Loop | None:
    """None where the points of the two bodies are not as far apart from each other."""
    ways = [second.frame[:3, 3] - first.frame[:3, 3]
            for first, second in ((one.first, other.first), (one.second, other.second))]  # fmt: skip
    lengths = [float(np.linalg.norm(way)) for way in ways]
    if min(lengths) < _APART or abs(lengths[0] - lengths[1]) > _NEAR * max(lengths):
        return None
    axes = [way / length for way, length in zip(ways, lengths, strict=True)]
    turn = _along(axes[0])
    turns = turn, _along(axes[1], turn[:, 2])
    sides = [Side(side.body, frames.transform(side.frame[:3, 3], rotation))
             for side, rotation in zip((one.first, one.second), turns, strict=True)]  # fmt: skip
    return replace(one, name=_common_name(one.name, other.name), kind="hinge", first=sides[0], second=sides[1])


def _along(axis: Floats, other: Floats | None = None) -> Floats:
    """A rotation (3, 3) whose X axis is a direction, and whose Y axis is at right angles to another one as well."""
    y = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))] if other is None else other, axis)
    length = float(np.linalg.norm(y))
    if other is not None and length < _NEAR:
        return _along(axis)
    y = y / length
    return np.stack((axis, y, np.cross(axis, y)), axis=1)


def _common_name(one: str, other: str) -> str:
    """The name of a hinge whose points are numbered, else that of its first point."""
    return one[:-2] if len(one) > 2 and (one[-2:], other) == ("_0", f"{one[:-2]}_1") else one
