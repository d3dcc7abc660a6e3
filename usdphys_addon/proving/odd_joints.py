# SPDX-License-Identifier: GPL-3.0-or-later
"""What is odd about the numbers of joints, without a run: angles in radians, rotors that outweigh what they move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import mass
from ..core.schema import split_applied
from ..simulation.joint_facts import JointFacts
from . import joints, opinions
from .certificate import Check, so_do_joints
from .opinions import Opinion
from .runs import Part, Subject, ends_of

SECTION = "asset"
#: Degrees that limits are mostly said at.
_ROUND = (15.0, 30.0, 45.0, 60.0, 90.0, 120.0, 135.0, 150.0, 180.0, 270.0, 360.0)
#: Part by which 1.57 and 3.14 are not what they mean.
_ROUNDING = 6e-4
#: Hinges of a part that all turn by less than a turn has radians, from which on no chance is at work.
_MANY = 3
#: Degrees: a limit beyond so many turns may be degrees that were taken as radians.
_TURNS = 720.0
#: How many times the inertia of all that hangs together an armature may have.
HEAVIEST = 30.0
#: kg m2 and kg of an armature that is that of a small motor, whatever hangs on it.
_SMALL = (0.05, 1.0)
#: Where the angles of a joint are said: schema without instance, and field.
_ANGLES = {
    "PhysicsRevoluteJoint": ("lower_limit", "upper_limit"), "PhysicsLimitAPI": ("low", "high"),
    "PhysicsDriveAPI": ("target_position",),
}  # fmt: skip


def checks_of(subject: Subject, has_time: Callable[[], bool]) -> Iterator[Check]:
    """All of them. has_time: whether there is time to load further meshes."""
    if not subject.joints:
        return
    found = [*_angle_checks(subject), *_rotor_checks(subject, has_time)]
    yield from found
    if not found:
        yield Check(SECTION, "numbers", "pass", "Angles of joints are degrees, and no rotor outweighs the asset.")


class _Angle(NamedTuple):
    """An angle that somebody has said. value: degrees."""

    opinion: Opinion
    value: float


def _angles(facts: JointFacts) -> list[_Angle]:
    """Of a joint that turns; without zeros, and without targets that no spring holds."""
    turning = {name for name in facts.moving if 3 <= facts.names[name] <= 5}
    found = []
    for name, schema in facts.prim.schemas.items():
        base, instance = split_applied(name)
        if not turning or (instance and instance not in turning):
            continue
        value: Any = schema
        if base == "PhysicsDriveAPI" and not value.resolved("stiffness"):
            continue
        for field in _ANGLES.get(base, ()):
            angle = getattr(value, field)
            if angle and math.isfinite(angle):
                found.append(_Angle(Opinion(facts.path, name, field), math.degrees(angle)))
    return found


def _is_round(degrees: float) -> bool:
    return any(math.isclose(abs(degrees), one, rel_tol=_ROUNDING) for one in _ROUND)


def _angle_checks(subject: Subject) -> Iterator[Check]:
    """Limits and targets that are radians, where degrees are meant, or degrees that were converted twice."""
    most = math.tau * (1.0 + _ROUNDING)
    said = {facts.path: angles for facts in subject.joints if (angles := _angles(facts))}
    small = {
        path for path, angles in said.items()
        if any(abs(one.value) <= most and _is_round(math.degrees(one.value)) for one in angles)
    }  # fmt: skip
    for part in subject.parts:
        own = [facts.path for facts in part.joints if facts.path in said]
        limited = [path for path in own if any(one.opinion.field != "target_position" for one in said[path])]
        ranges = {round(abs(one.value), 3) for path in limited for one in said[path]}
        # The links of a chain may all turn by as little.
        if len(ranges) >= _MANY and len(limited) >= _MANY and max(ranges) <= most:
            small |= set(limited)
    large = {
        path for path, angles in said.items()
        if any(abs(one.value) > _TURNS and _is_round(math.radians(one.value)) for one in angles)
    }  # fmt: skip
    for paths, turn in ((small, math.degrees), (large, math.radians)):
        group = [
            (path, [one for one in angles if (abs(one.value) <= most) is (turn is math.degrees)])
            for path, angles in said.items() if path in paths
        ]  # fmt: skip
        if group:
            yield _angle_check(subject, group, turn)


def _angle_check(
    subject: Subject, group: Sequence[tuple[str, list[_Angle]]], turn: Callable[[float], float]
) -> Check:  # fmt: skip
    path, angles = group[0]
    first = max(angles, key=lambda one: abs(one.value))
    joint, others = subject.model.prims[path].display, len(group) - 1
    said, meant = f"{first.value:.4g} degrees", f"{turn(first.value):.4g}"
    if turn is math.degrees:
        message = f"{joint} has an angle of {said}: in radians, that is one of {meant} degrees."
        fix = "Say it in degrees, if radians are meant."
    else:
        message = f"{joint} has an angle of {said}: that is {meant} degrees, taken as radians."
        fix = "Correct it, if so many turns are not meant."
    message += so_do_joints(others)
    causes = tuple(opinions.cause_alone(subject.model, one.opinion) for _, each in group for one in each)
    data = {"joints": [{"path": path, "degrees": [one.value for one in each]} for path, each in group]}
    return Check(SECTION, "angles", "doubtful", message, path, causes, fix, data)


def _rotor_checks(subject: Subject, has_time: Callable[[], bool]) -> Iterator[Check]:
    """Armatures that are far more than the inertia of all that hangs together: nothing there would move."""
    found: dict[str, tuple[float, JointFacts, int]] = {}
    for part in subject.parts:
        heavy = [
            (facts, axis, freedom.settings.armature) for facts in part.joints
            for axis, freedom in enumerate(facts.freedoms[:6])
            if not freedom.is_locked and _SMALL[axis < 3] < freedom.settings.armature < math.inf
        ]  # fmt: skip
        if not heavy or not has_time():
            continue
        matter = _Matter(subject, part)
        for facts, axis, armature in heavy:
            times = armature / max(matter.about(ends_of(subject, facts)[0], axis), 1e-30)
            if times > max(HEAVIEST, found.get(facts.path, (0.0,))[0]):
                found[facts.path] = times, facts, axis
    if not found:
        return
    rows = sorted(found.values(), key=lambda row: -row[0])
    times, facts, axis = rows[0]
    armature, joint = facts.freedoms[axis].settings.armature, facts.prim.display
    unit = "kg m2" if axis >= 3 else "kg"
    message = (
        f"{joint} has an armature of {armature:.4g} {unit}, {times:.3g} times the inertia of all that hangs together "
        "there."
    )
    message += so_do_joints(len(found) - 1)
    places = [(one.path, joints.said_at(one.prim, "armature")) for _, one, _ in rows]
    causes = tuple(
        opinions.cause_alone(subject.model, Opinion(path, *place)) for path, place in places if place is not None
    )  # fmt: skip
    data = {"joints": [{"path": one.path, "times": ratio} for ratio, one, _ in rows]}
    fix = "Correct it: the inertia of a rotor counts by the square of its gear ratio."
    yield Check(SECTION, "armature", "doubtful", message, facts.path, causes, fix, data)


class _Matter:
    """Masses (n,), centres (n, 3) in the world, and inertias (n, 3, 3) along its axes, of the bodies of a part."""

    def __init__(self, subject: Subject, part: Part) -> None:
        bodies = subject.layout.bodies
        found = [mass.mass_properties(subject.model, path) for path in part.bodies]
        turns = [bodies[path].rotation for path in part.bodies]
        self.masses = np.array([one.mass for one in found])
        self.centers = np.array([
            (bodies[path].pose @ np.append(one.center_of_mass, 1.0))[:3]
            for path, one in zip(part.bodies, found, strict=True)
        ])  # fmt: skip
        self.inertias = np.array([turn @ one.inertia @ turn.T for turn, one in zip(turns, found, strict=True)])

    def about(self, frame: Any, axis: int) -> float:
        """kg m2 about, or kg along, an axis of a frame (4, 4) in the world."""
        if axis < 3:
            return float(self.masses.sum())
        direction = frame[:3, axis - 3]
        arms = np.cross(self.centers - frame[:3, 3], direction)
        return float((self.inertias @ direction @ direction + self.masses * (arms * arms).sum(axis=1)).sum())
