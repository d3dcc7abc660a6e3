# SPDX-License-Identifier: GPL-3.0-or-later
"""How an asset starts, before anything moves: inside others, outside of limits, in a pose that somebody has chosen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import paths
from ..core.joint_settings import following
from ..core.model import PhysicsModel
from ..core.schema import split_applied
from ..core.schemas import usd_physics
from ..core.ties import Ties
from ..core.validate import validate
from ..core.words import counted
from ..simulation.joint_facts import JointFacts
from ..simulation.joint_poses import position_of, relative_pose, whole_turns
from . import opinions
from .budget import OutOfTimeError
from .certificate import Check, Status, also, measure, so_do_joints
from .experiments import Parting
from .opinions import Cause, Opinion
from .runs import Motion, Part, Subject, ends_of, radius_of, simulated, subject_of

SECTION = "asset"
#: Code of the rule about bodies that start inside others.
INSIDE = "BodiesOverlap"
#: s in which what starts inside another is pushed away, and the part of its radius by which it is then.
_MOMENT, _SHIFTED = 0.1, 0.02
#: Approximations that fill the hollows of a mesh.
_HULLS = ("convexHull", "boundingCube", "boundingSphere")


class Pose(NamedTuple):
    """That an asset starts in. is_chosen: False where nobody has. keyframes: names of those of the file, with other
    poses."""

    is_chosen: bool = True
    keyframes: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What is told of a start that nobody has chosen."""
        if self.keyframes:
            name = self.keyframes[0]
            return f"All joints are at zero there: the file has a pose to start in (--keyframe {name})."
        return "All joints are at zero there: a description of a robot has no pose to start in."


#: Of what somebody has made.
POSED = Pose()


#: What happens in the first moment, by the name of the check that says why.
PUSHED = {
    "limits": "Joints that start outside of their limits are pushed back",
    "followers": "Joints that start where their leaders do not have them are pulled there",
    "inside": "Bodies that start inside others are pushed apart",
}


def pushed_at_start(subject: Subject, part: Part, starts: Sequence[Check]) -> list[Check]:
    """The checks that say that a part is pushed in the first moment. starts: checks, also others."""
    own = set(part.prims(subject.model))
    return [
        check for check in starts
        if is_of_the_start(check) and (check.path in own or any(cause.path in own for cause in check.causes))
    ]  # fmt: skip


def pushed_with(model: PhysicsModel, first: Parting, starts: Sequence[Check]) -> list[Check]:
    """The checks that say that what hangs together with a body that parts is pushed in the first moment."""
    subject = subject_of(model)
    part = next((part for part in subject.parts if first.body in part.bodies), None)
    return pushed_at_start(subject, part, starts) if part is not None else []


def is_of_the_start(check: Check) -> bool:
    """Whether a check says that bodies are pushed in the first moment, which each engine does in its own way."""
    return check.section == SECTION and check.status != "pass" and (
        check.name in ("inside", "followers") or (check.name == "limits" and check.data.get("what") == STARTS)
    )  # fmt: skip


def checks_of(subject: Subject, pose: Pose) -> Iterator[Check]:
    """All that this module looks at."""
    yield from inside(subject, pose)
    yield from limits(subject, pose)
    yield from followers(subject, pose)


def inside(subject: Subject, pose: Pose) -> Iterator[Check]:
    with np.errstate(all="ignore"):
        found = validate(subject.model, codes=(INSIDE,))
    # Those that have a body in common are told together: one thing that is in a wrong place is in several others.
    ties, ends = Ties(), [named_prims(subject.model, issue.message) or [issue.path] for issue in found]
    for pair in ends:
        ties.tie(pair)
    groups: dict[str, list[int]] = {}
    for number, pair in enumerate(ends):
        groups.setdefault(ties.root(pair[0]), []).append(number)
    for numbers in groups.values():
        issue, others = found[numbers[0]], len(numbers) - 1
        message = issue.message
        message += also(others, "So does 1 other pair of bodies.", f"So do {others} other pairs of bodies.")
        if not pose.is_chosen:
            message += f" {pose.words}"
        status: Status = "fail" if pose.is_chosen else "doubtful"
        # Where nobody has chosen a pose, the pose is the reason.
        hollow = _filled(subject, ends[numbers[0]]) if pose.is_chosen else []
        causes = tuple(opinions.cause_alone(subject.model, one) for one in hollow)
        causes += tuple(dict.fromkeys(cause for number in numbers for cause in filter_causes(ends[number])))
        fix = f"Make convex parts of it, if it is hollow there. {issue.fix}" if hollow else issue.fix
        yield Check(SECTION, "inside", status, message, issue.path, causes, fix)
    if not found:
        yield Check(SECTION, "inside", "pass", "Nothing starts inside another body.")


def _filled(subject: Subject, ends: Sequence[str]) -> list[Opinion]:
    """The approximations of a mesh that fill its hollow, where the other of two bodies is: with its surface instead,
    none is pushed away."""
    model = subject.model
    for end in ends:
        shapes = [
            (prim.path, name) for prim in model.colliders.values()
            if prim.mesh is not None and (prim.path == end or paths.is_below(prim.path, end))
            for name, value in prim.schemas.items()
            if isinstance(value, usd_physics.MeshCollisionAPI) and value.approximation in _HULLS
        ]  # fmt: skip
        if not shapes:
            continue
        trial = model.copied()
        for path, name in shapes:
            schemas = trial.prims[path].schemas
            schemas[name] = schemas[name].copy(approximation="none")
        try:
            motion = simulated(trial, _MOMENT)
        except OutOfTimeError:
            return []
        if not motion.problem and not any(_is_pushed(subject, motion, path) for path in ends):
            return [Opinion(path, name, "approximation") for path, name in shapes]
    return []


def _is_pushed(subject: Subject, motion: Motion, path: str) -> bool:
    """Whether a body leaves its place otherwise than by falling."""
    body = subject.model.body_of(path)
    if body is None or body.path not in motion.paths:
        return False
    moved = motion.positions[:, motion.paths.index(body.path)]
    moved = moved - moved[0]
    size = float(np.linalg.norm(subject.gravity))
    down = subject.gravity / size if size else np.zeros(3)
    fallen = np.maximum(moved @ down, 0.0)
    return float(np.linalg.norm(moved - fallen[:, None] * down, axis=1).max()) > _SHIFTED * radius_of(
        subject.model, body.path
    )


def named_prims(model: PhysicsModel, message: str) -> list[str]:
    """The paths of prims that a message names."""
    words = {word.strip("'().,;") for word in message.split()}
    return [path for path in model.prims if path in words]


def filter_causes(ends: Sequence[str]) -> tuple[Cause, ...]:
    """What may keep two from colliding. ends: their paths."""
    return tuple(Cause(path, "physics:filteredPairs, xformOp", "no pair with the other") for path in ends)


#: What joints do outside of their limits.
STARTS, DRIVEN = "starts", "is driven to"


class Outside(NamedTuple):
    """A joint outside of its limits. value, low, high: m or rad."""

    path: str
    message: str
    causes: tuple[Cause, ...]
    data: dict[str, Any]


def limits(subject: Subject, pose: Pose) -> Iterator[Check]:
    """Joints that start outside of their limits, and drives whose targets are there: a spring may be so on purpose."""
    groups: dict[str, list[Outside]] = {}
    for what, found in _outside(subject):
        groups.setdefault(what, []).append(found)
    for what, group in groups.items():
        status: Status = "fail" if what == STARTS and pose.is_chosen else "doubtful"
        message, others = group[0].message, len(group) - 1
        if others:
            do = {STARTS: ("does", "do"), DRIVEN: ("is", "are")}[what][others > 1]
            message += f" So {do} {counted(others, 'other joint')}."
        if what == STARTS and not pose.is_chosen:
            message += f" {pose.words}"
        causes = tuple(cause for one in group for cause in one.causes)
        data = {"what": what, "joints": [{"path": one.path, **one.data} for one in group]}
        fix = "Correct the limit, or what is outside of it."
        if what == STARTS and not pose.is_chosen and pose.keyframes:
            fix = "Prove it in that pose, or correct the limit."
        yield Check(SECTION, "limits", status, message, group[0].path, causes, fix, data)
    if not groups:
        yield Check(SECTION, "limits", "pass", "Joints start within their limits, and are driven to what is in them.")


def _outside(subject: Subject) -> Iterator[tuple[str, Outside]]:
    for facts in subject.joints:
        ends = ends_of(subject, facts)
        for name, freedom in facts.moving.items():
            axis = facts.names[name]
            if axis > 5 or not freedom.is_limited:
                continue
            place = position_of(facts, relative_pose(*ends), axis)
            place = whole_turns(freedom, place) if axis == 3 and facts.turns else place
            room = 0.01 * max(1.0, min(freedom.high - freedom.low, 10.0))
            drive: Any = facts.prim.schemas.get(f"PhysicsDriveAPI:{name}")
            target = drive.resolved("target_position") if drive is not None and drive.resolved("stiffness") else None
            for what, value in ((STARTS, place), (DRIVEN, target)):
                if value is None or freedom.low - room <= value <= freedom.high + room:
                    continue
                end = "low" if value < freedom.low else "high"
                message = (
                    f"{facts.prim.display} {what} {measure(value, axis)}, outside of its limits "
                    f"({measure(freedom.low, axis)} to {measure(freedom.high, axis)})."
                )
                causes = _limit_causes(subject.model, facts.prim, name, end, what)
                data = {"value": value, "low": freedom.low, "high": freedom.high}
                yield what, Outside(facts.path, message, causes, data)


def _limit_causes(model: PhysicsModel, prim: Any, dof: str, end: str, what: str) -> tuple[Cause, ...]:
    found = []
    fields = {"low": ("lower_limit", "low"), "high": ("upper_limit", "high")}[end]
    for name, value in prim.schemas.items():
        for field in fields:
            is_own = not name.startswith("PhysicsLimitAPI") or name.endswith(f":{dof}")
            if is_own and getattr(value, field, None) is not None:
                found.append(opinions.cause_alone(model, Opinion(prim.path, name, field)))
    if what == DRIVEN:
        found.append(opinions.cause_alone(model, Opinion(prim.path, f"PhysicsDriveAPI:{dof}", "target_position")))
    return tuple(found)


#: m and rad by which a joint may start away from where its leader has it.
_LED = (2e-3, 0.02)


class _Away(NamedTuple):
    """A joint that starts away from where its leader has it. place, wanted: m or rad."""

    path: str
    leader: str
    place: float
    wanted: float
    axis: int


def followers(subject: Subject, pose: Pose) -> Iterator[Check]:
    """Joints that start away from where those that they follow have them."""
    rules = {facts.path: rule for facts in subject.joints if (rule := following(facts.prim)) is not None}
    if not rules:
        return
    named = rules.keys() | {rule.leader for rule in rules.values()}
    places = {
        facts.path: found for facts in subject.joints
        if facts.path in named and (found := _place(subject, facts)) is not None
    }  # fmt: skip
    away_ones: list[_Away] = []
    for path, rule in rules.items():
        if path not in places or rule.leader not in places:
            continue
        (place, axis), led_to = places[path], rule.offset + rule.ratio * places[rule.leader][0]
        # A place of a hinge is known but for whole turns, and so is what follows from it.
        away = math.remainder(led_to - place, math.tau) if axis == 3 else led_to - place
        if abs(away) > _LED[axis == 3]:
            away_ones.append(_Away(path, rule.leader, place, place + away, axis))
    if not away_ones:
        yield Check(SECTION, "followers", "pass", "Joints start where those that they follow have them.")
        return
    first = away_ones[0]
    joint, leader = (subject.model.prims[one].display for one in (first.path, first.leader))
    start, wanted = (measure(value, first.axis) for value in (first.place, first.wanted))
    message = f"{joint} starts at {start}, and {leader}, which it follows, has it at {wanted}."
    message += so_do_joints(len(away_ones) - 1)
    if not pose.is_chosen:
        message += f" {pose.words}"
    causes = tuple(cause for one in away_ones for cause in _led_by(subject.model, one.path))
    data = {"joints": [{"path": one.path, "value": one.place, "wanted": one.wanted} for one in away_ones]}
    status: Status = "fail" if pose.is_chosen else "doubtful"
    fix = "Correct the numbers that it follows by, or the pose of one of the two."
    yield Check(SECTION, "followers", status, message, first.path, causes, fix, data)


def _place(subject: Subject, facts: JointFacts) -> tuple[float, int] | None:
    """(m or rad, axis) of a joint with one degree of freedom at the start; None for others."""
    free = [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
    if free not in ([0], [3]):
        return None
    place = position_of(facts, relative_pose(*ends_of(subject, facts)), free[0])
    return (whole_turns(facts.freedoms[3], place) if free == [3] else place), free[0]


def _led_by(model: PhysicsModel, path: str) -> Iterator[Cause]:
    """What a joint says of its leader in numbers."""
    for name, value in model.prims[path].schemas.items():
        for field in ("mimic_coef0", "mimic_coef1", "offset", "gearing"):
            if split_applied(name)[0] in ("NewtonMimicAPI", "PhysxMimicJointAPI") and getattr(value, field, None):
                yield opinions.cause_alone(model, Opinion(path, name, field))
