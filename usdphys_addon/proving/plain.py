# SPDX-License-Identifier: GPL-3.0-or-later
"""What every asset is to do by itself: rest, gain no energy, hold together, hold its pose, and do it again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import frames, mass, paths
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..core.ties import Ties
from ..core.validate import validate
from ..core.words import counted
from ..simulation.engine import ENGINES
from ..simulation.joint_facts import NO_LIMIT
from ..simulation.joint_poses import position_of, relative_pose, whole_turns
from . import bearing, oddities, opinions
from .budget import Budget, OutOfTimeError
from .certificate import Check, Status, measure
from .opinions import Cause, Opinion
from .runs import (
    GLIMPSE,
    STEP,
    Motion,
    Part,
    Parting,
    Start,
    Subject,
    corners_of,
    ends_of,
    radius_of,
    simulated,
    subject_of,
    subset,
    with_floor,
)  # fmt: skip

SECTION = "asset"
#: Seconds after which an asset rests.
REST = 5.0
#: Part of the energy that moves, by which it may grow; J.
GROWTH, LEAST_ENERGY = 0.04, 1e-6
#: Part of its radius by which a solver lifts a part that rests, because it pushes out what has sunk in.
_PUSHED_OUT = 3e-4
#: Part of the energy of height that becomes kinetic, which a solver may miss: it grows as what falls for ever falls,
#: and with each swing of what swings.
_TURNED_OVER = 1e-3
#: Part of its way in a frame by which a joint of a fast body may be apart.
_FAST = 0.01
#: m and rad by which a joint may be apart, and as a part of the radius of its bodies.
APART, TURNED, SHARE = 1e-3, 0.02, 0.02
#: rad, and part of the radius, by which a drive may sag.
SAG, SAG_SHARE = 0.1, 0.1
#: Code of the rule about bodies that start inside others.
INSIDE = "BodiesOverlap"
_HEAL_TRIES = 60
#: s in which what starts inside another is pushed away, and the part of its radius by which it is then.
_MOMENT, _SHIFTED = 0.1, 0.02
#: Approximations that fill the hollows of a mesh.
_HULLS = ("convexHull", "boundingCube", "boundingSphere")
#: m and degrees that are not told.
_NOTHING = 1e-6


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
            return f"All joints are at zero there: the file has a pose to start in, with --keyframe {name}."
        return "All joints are at zero there: a description of a robot has no pose to start in."


#: Of what somebody has made.
POSED = Pose()


class Found(NamedTuple):
    """What is wrong: a body or joint, and a sentence."""

    path: str
    message: str
    data: dict[str, Any]


#: What a part may fail.
_Test = Callable[[Subject, Part, Motion], Found | None]


def checks_of(
    start: Start, subject: Subject, budget: Budget, share: float, seconds: float = REST, *, pose: Pose = POSED,
    others: Sequence[str] = (),
) -> Iterator[Check]:  # fmt: skip
    """The checks of an asset, in the preview's engine. share: of the budget that may be used by then. Its first run is
    made if there is time for it in all of the budget. start: of the asset on its floor. pose: that it starts in.
    others: keys of the engines that are stepped from here, beside the preview: what fails in the preview alone is no
    fault of the asset."""
    starts = [*_inside(subject, pose), *_limits(subject, pose)]
    yield from starts
    yield from oddities.checks_of(subject, partial(budget.has, share))
    if not subject.parts:
        yield Check(SECTION, "rest", "skipped", "Nothing is dynamic, so nothing can be simulated.")
        return
    model, motion = start.model, start.motion(GLIMPSE)
    build, steps = motion.took
    if build + steps * seconds / GLIMPSE > budget.seconds - budget.used:
        message = f"There was no time to simulate it for {seconds:g} s, and to see whether it rests and holds together."
        yield Check(SECTION, "simulation", "skipped", message)
        return
    motion = start.motion(seconds)
    if motion.problem:
        yield Check(SECTION, "simulation", "fail", f"The asset cannot be simulated: {motion.problem}")
        return
    tests: dict[str, _Test] = {
        "rest": _unrest,
        "energy": _growth,
        "joints": _apart,
        "drives": _sag,
    }
    told = {
        "rest": f"Every free part rests within {seconds:g} s.", "energy": "No energy comes from nowhere.",
        "joints": "Joints stay together.", "drives": "Drives hold their pose.",
    }  # fmt: skip
    judge = _Judge(subject, model, motion, seconds, starts, pose, others, partial(budget.has, share), {})
    for name, test in tests.items():
        if name == "energy" and (why := _gives_energy(subject, starts, motion)):
            yield Check(SECTION, name, "skipped", why)
            continue
        # A robot that nothing holds falls from a pose that nobody has chosen.
        is_left_out = name == "drives" and not pose.is_chosen
        falling = [part for part in subject.free if is_left_out and any(facts.drives for facts in part.joints)]
        if falling:
            body = subject.model.prims[falling[0].bodies[0]].display
            message = f"How far drives of {body} give way is not asked: nothing holds it."
            yield Check(SECTION, name, "skipped", f"{message} {pose.words}", falling[0].bodies[0])
        asked = [part for part in subject.parts if not any(part is one for one in falling)]
        checks = [judge.check(name, test, part, found) for part in asked if (found := test(subject, part, motion))]
        yield from checks
        if asked and not checks:
            yield Check(SECTION, name, "pass", told[name])
    if budget.has(share):
        yield from bearing.checks_of(SECTION, subject, model, seconds, others)
    elif any(facts.breaks for facts in subject.joints):
        message = "There was no time to see whether joints that break bear what hangs on them."
        yield Check(SECTION, "bearing", "skipped", message)
    if budget.has(share):
        yield _same_again(model, motion, min(seconds, 2.0))
    else:
        yield Check(SECTION, "determinism", "skipped", "There was no time for a second run.")


@dataclass(slots=True)
class _Judge:
    """Says what a part that fails a test means. model: on its floor, with its motion in the preview. engines: others
    that are stepped from here, by their keys; each runs when it is first asked for, and its motion is kept."""

    subject: Subject
    model: PhysicsModel
    motion: Motion
    seconds: float
    starts: Sequence[Check]
    pose: Pose
    engines: Sequence[str]
    has_time: Callable[[], bool]
    motions: dict[str, Motion]

    def check(self, name: str, test: _Test, part: Part, found: Found) -> Check:
        """Whether the pose that nobody has chosen, the preview alone or the asset is at fault."""
        if not self.pose.is_chosen and (pushed := pushed_at_start(self.subject, part, self.starts)):
            message = found.message + " " + f"{PUSHED[pushed[0].name]}, and nobody has chosen that start."
            causes = tuple(cause for check in pushed for cause in check.causes)
            return Check(SECTION, name, "doubtful", message, found.path, causes, pushed[0].fix, found.data)
        if name == "energy" and (jams := self._jams(part, found.path)):
            one, still = (self.model.prims[path].display for path in jams[0])
            message = found.message + " " + f"{one} and {still} touch at the start, and no joint can move them apart."
            causes = tuple(dict.fromkeys(cause for ends in jams for cause in filter_causes(ends)))
            fix = "Make the shapes smaller, or filter the pair."
            return Check(SECTION, name, "doubtful", message, found.path, causes, fix, found.data)
        # What gives energy, such as a bounce of more than one, another engine may have a limit for.
        is_cause_first = name in ("energy", "rest")
        causes = self._causes(name, test, part, found) if is_cause_first else ()
        is_alone = not causes and not found.data.get("at_start")
        engine = self._keeping(test, part) if is_alone else ""
        if not is_cause_first:
            causes = self._causes(name, test, part, found)
        if engine:
            message = found.message + " " + f"So it is in the preview alone, and not in {engine}."
            fix = f"Trust {engine} here: no fault of the asset shows there."
            if causes:
                fix = f"Trust {engine} here, or correct the attribute, without which the preview does not do so."
            return Check(SECTION, name, "differs", message, found.path, causes, fix, found.data)
        if found.data.get("is_beside") and not causes:
            message = found.message + " " + "It leaves what stands still over an edge, and there is no floor."
            fix = "Put a floor below it, if it is not to fall."
            return Check(SECTION, name, "doubtful", message, found.path, causes, fix, found.data)
        if not causes and not found.data.get("at_start") and not self.has_time():
            found = found._replace(message=f"{found.message} {NO_TIME}")
        if self.pose.is_chosen or name != "drives":
            fix = _FIXES["start" if found.data.get("at_start") else name]
            return Check(SECTION, name, "fail", found.message, found.path, causes, fix, found.data)
        # How much a drive has to bear, the pose decides.
        message = f"{found.message} {self.pose.words}"
        return Check(SECTION, name, "doubtful", message, found.path, causes, _FIXES[name], found.data)

    def _jams(self, part: Part, path: str) -> list[list[str]]:
        """Pairs of a part that touch at the start where no joint can move them apart, and that engines push: those of a
        body first."""
        told = [notice.message for notice in self.motion.notices if notice.code == "ContactJammed"]
        pairs = [named_prims(self.model, message) for message in told]
        found = [ends for ends in pairs if len(ends) == 2 and not set(ends).isdisjoint(part.bodies)]
        return sorted(found, key=lambda ends: path not in ends)

    def _causes(self, name: str, test: _Test, part: Part, found: Found) -> tuple[Cause, ...]:
        near = _frame_causes(self.subject, found)
        fails = partial(_fails, test, name)
        try:
            return near or _causes(self.subject, part, found.path, fails, self.seconds, self.has_time)
        except OutOfTimeError:
            return ()

    def _keeping(self, test: _Test, part: Part) -> str:
        """The name of an engine in which a part passes a test, and rests, stays together and holds its pose; or ""."""
        for key in self.engines:
            if key not in self.motions:
                try:
                    self.motions[key] = simulated(self.model, self.seconds, engine=key)
                except OutOfTimeError:
                    return ""
            motion = self.motions[key]
            if motion.problem or not set(part.bodies) <= set(motion.paths) or motion.unstable.keys() & set(part.bodies):
                continue
            if not any(one(self.subject, part, motion) for one in (test, _unrest, _apart, _sag)):
                return ENGINES[key].name
        return ""


#: Where there was none to search.
NO_TIME = "There was no time to find the cause."
#: What to do about an engine whose smaller time steps do what the numbers say.
FINER_STEPS = "Let it make smaller time steps."
_FIXES = {
    "rest": "Correct the attribute, or say what is meant in a file of expectations.",
    "energy": "Correct the attribute: nothing may get energy from nowhere.",
    "start": "Correct the frames of the joint, or put its bodies where they meet.",
    "joints": "Make the masses of the bodies more alike, or correct the attribute.",
    "drives": "Give the drive more stiffness or a larger force, or correct the attribute.",
}


def _gives_energy(subject: Subject, starts: Sequence[Check], motion: Motion) -> str:
    """Why the start gives energy, which another check tells; empty where it does not."""
    pushed = next((PUSHED[check.name] for check in starts if is_of_the_start(check)), "")
    if pushed:
        return f"{pushed}, which gives energy."
    found = [_apart(subject, part, motion) for part in subject.parts]
    if any(one is not None and one.data["at_start"] for one in found):
        return "Joints that start apart are closed, which gives energy."
    return ""


# --------------------------------------------------------------------------- without a run


#: What happens in the first moment, by the name of the check that says why.
PUSHED = {
    "limits": "Joints that start outside of their limits are pushed back",
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
        check.name == "inside" or (check.name == "limits" and check.data.get("what") == STARTS)
    )  # fmt: skip


def _inside(subject: Subject, pose: Pose) -> Iterator[Check]:
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
        if others == 1:
            message += " " + "So does 1 other pair of bodies."
        elif others:
            message += " " + f"So do {others} other pairs of bodies."
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


def _limits(subject: Subject, pose: Pose) -> Iterator[Check]:
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


# --------------------------------------------------------------------------- of a run


def _rows(part: Part, motion: Motion) -> list[int]:
    return [motion.paths.index(path) for path in part.bodies]


def _is_driven(part: Part) -> bool:
    """True where a drive has a velocity to keep."""
    return any(drive.target_velocity for facts in part.joints for drive in facts.drives)


def _unrest(subject: Subject, part: Part, motion: Motion) -> Found | None:
    """A free part that still moves, or falls, at the end."""
    if part.is_held or _is_driven(part) or not np.linalg.norm(subject.gravity):
        return None
    rows = _rows(part, motion)
    masses = np.array([mass.mass_properties(subject.model, path).mass for path in part.bodies])
    centers = np.average(motion.positions[:, rows], axis=1, weights=masses)
    last = round(0.5 / STEP)
    way = float(np.linalg.norm(centers[-1] - centers[-1 - last]))
    radius = max(radius_of(subject.model, path) for path in part.bodies)
    heaviest = part.bodies[int(np.argmax(masses))]
    name = subject.model.prims[heaviest].display
    down = subject.gravity / np.linalg.norm(subject.gravity)
    fallen = float((centers[-1] - centers[0]) @ down)
    unstable = [path for path in part.bodies if path in motion.unstable]
    if unstable:
        return Found(unstable[0], f"{unstable[0]} is unstable: {motion.unstable[unstable[0]]}.", {})
    if way <= 0.02 * radius + 2e-3:
        return None
    data = {"way_metres": way, "fallen_metres": fallen}
    if float((centers[-1] - centers[-1 - last]) @ down) > 0.8 * way and fallen > 3.0 * radius:
        data["is_beside"] = _falls_beside(subject, heaviest, motion)
        return Found(heaviest, f"{name} falls and nothing stops it: {fallen:.3g} m so far.", data)
    return Found(heaviest, f"{name} does not come to rest: it moves {way:.3g} m in the last half second.", data)


def _falls_beside(subject: Subject, body: str, motion: Motion) -> bool:
    """Whether a body that is held at first, and falls later, passes all that stands on the outside."""
    still = [
        path for path in motion.paths if (own := subject.layout.bodies.get(path)) is not None and own.is_kinematic
    ]  # fmt: skip
    shapes = [prim for prim in subject.model.colliders.values() if subject.model.body_of(prim.path) is None]
    shapes += [prim for path in still for prim in subject.model.colliders_of(path)]
    found = [corners_of(prim) for prim in shapes]
    corners = np.concatenate([one for one in found if one is not None] or [np.zeros((0, 3))])
    if any(one is None for one in found) or not len(corners):
        return False
    down = subject.gravity / np.linalg.norm(subject.gravity)
    track = motion.positions[:, motion.paths.index(body)]
    below = np.flatnonzero(track @ down > (corners @ down).max())
    early, free = round(GLIMPSE / STEP), 0.5 * float(np.linalg.norm(subject.gravity)) * GLIMPSE**2
    if not len(below) or not below[0] or float((track[early] - track[0]) @ down) > 0.5 * free:
        return False
    across = np.linalg.svd(down[None])[2][1:]
    place, spread = across @ track[below[0]], corners @ across.T
    return bool((place < spread.min(axis=0)).any() or (place > spread.max(axis=0)).any())


def _growth(subject: Subject, part: Part, motion: Motion) -> Found | None:
    """A part whose energy grows most, where the energy of all of them grows although nothing drives any."""
    if "growth" not in motion.memo:
        motion.memo["growth"] = _growth_of_all(subject, motion)
    found: Found | None = motion.memo["growth"]
    return found if found is not None and found.path in part.bodies else None


def _growth_of_all(subject: Subject, motion: Motion) -> Found | None:
    drives = [drive for facts in subject.joints for drive in facts.drives]
    if any(not drive.is_friction and (drive.stiffness or drive.target_velocity) for drive in drives):
        return None
    if any(body.is_kinematic for body in subject.layout.bodies.values()):
        return None
    bodies = [path for one in subject.parts for path in one.bodies]
    energies, heights = energies_of(subject, bodies, motion), heights_of(subject, bodies, motion)
    own = energies.sum(axis=1)
    moved = float(np.ptp(energies, axis=0).sum())
    fallen = float(-np.minimum(np.diff(heights, axis=0), 0.0).sum())
    growth = own - np.minimum.accumulate(own)
    # What is pushed apart, or closed, in the first moments is told by other checks.
    late = growth[round(0.2 / STEP) :]
    allowed = (
        GROWTH * moved
        + _TURNED_OVER * fallen
        + LEAST_ENERGY
        + _PUSHED_OUT * sum(_scale(subject, one) for one in subject.parts)
        + sum(_stretched(subject, one, motion) for one in subject.parts)
    )
    if not len(late) or float(late.max()) <= allowed:
        return None
    gains = energies - np.minimum.accumulate(energies, axis=0)
    body = bodies[int(np.argmax(gains.max(axis=0)))]
    return Found(body, f"The part with {subject.model.prims[body].display} gains {late.max():.3g} J from no source.",
                 {"gained_joules": float(late.max()), "moved_joules": moved})  # fmt: skip


def _scale(subject: Subject, part: Part) -> float:
    """J: the weight of a part times its radius."""
    size = float(np.linalg.norm(subject.gravity))
    return sum(
        mass.mass_properties(subject.model, path).mass * size * radius_of(subject.model, path) for path in part.bodies
    )


def _stretched(subject: Subject, part: Part, motion: Motion) -> float:
    """J that joints of a part store, at most, while they are apart by no more than they may be: what hangs on them
    sinks by that, and is pulled up again."""
    weight = sum(mass.mass_properties(subject.model, path).mass for path in part.bodies)
    weight *= float(np.linalg.norm(subject.gravity))
    found = 0.0
    for facts in part.joints:
        if facts.distance is None and not facts.bond and facts.path not in motion.broken:
            found += min(_gap(subject, facts, motion)[0], _may_be_apart(subject, facts))
    return weight * found


def heights_of(subject: Subject, bodies: Sequence[str], motion: Motion) -> NDArray[np.float64]:
    """(f, n), J: the energy of height."""
    found = [mass.mass_properties(subject.model, path) for path in bodies]
    centers = _centers(found, [motion.paths.index(path) for path in bodies], motion)
    return np.asarray(-np.array([one.mass for one in found]) * (centers @ subject.gravity))


def _centers(found: Sequence[mass.BodyMassProperties], rows: Sequence[int], motion: Motion) -> NDArray[np.float64]:
    """(f, n, 3), m: the centres of mass of bodies in the world."""
    rotations = motion.rotations[:, rows]
    turns = frames.matrices_of(rotations.reshape(-1, 4)).reshape(*rotations.shape[:2], 3, 3)
    own = np.einsum("fnij,nj->fni", turns, np.array([one.center_of_mass for one in found]))
    return np.asarray(motion.positions[:, rows] + own)


def energies_of(subject: Subject, bodies: Sequence[str], motion: Motion) -> NDArray[np.float64]:
    """(f, n), J: kinetic energy and that of height."""
    rows = [motion.paths.index(path) for path in bodies]
    found = [mass.mass_properties(subject.model, path) for path in bodies]
    masses = np.array([one.mass for one in found])
    rotations = motion.rotations[:, rows]
    turns = frames.matrices_of(rotations.reshape(-1, 4)).reshape(*rotations.shape[:2], 3, 3)
    spins = np.einsum("fnji,fnj->fni", turns, motion.velocities[:, rows, 3:])
    spin = np.einsum("fni,nij,fnj->fn", spins, np.array([one.inertia for one in found]), spins)
    speeds = (motion.velocities[:, rows, :3] ** 2).sum(axis=2)
    return np.asarray(0.5 * (masses * speeds + spin)) + heights_of(subject, bodies, motion)


def _apart(subject: Subject, part: Part, motion: Motion) -> Found | None:
    """A joint whose bodies leave each other where it locks them, or that was apart from the start."""
    worst: tuple[float, Found] | None = None
    for facts in part.joints:
        if facts.distance is not None or facts.bond or facts.path in motion.broken:
            continue
        moved, turned, frame = _gap(subject, facts, motion)
        share = max(moved / _may_be_apart(subject, facts), turned / TURNED)
        if share > 1.0 and (worst is None or share > worst[0]):
            joint, degrees = facts.prim.display, math.degrees(turned)
            far = measure(moved, 0) if degrees < _NOTHING else measure(turned, 3) if moved < _NOTHING else ""
            if frame == 0 and far:
                text = f"{joint} comes apart by {far} at the start."
            elif frame == 0:
                text = f"{joint} comes apart by {moved:.3g} m and {degrees:.3g} degrees at the start."
            elif far:
                text = f"{joint} comes apart by {far} after {frame * STEP:.2f} s."
            else:
                text = f"{joint} comes apart by {moved:.3g} m and {degrees:.3g} degrees after {frame * STEP:.2f} s."
            worst = share, Found(facts.path, text, {"metres": moved, "radians": turned, "at_start": frame == 0})
    return worst[1] if worst else None


def _frame_causes(subject: Subject, found: Found) -> tuple[Cause, ...]:
    """What may be wrong with a joint that starts apart: the one place of a frame that closes it with another unit or
    sign, else both places, or rotations."""
    if not found.data.get("at_start"):
        return ()
    facts = next(one for one in subject.joints if one.path == found.path)
    joint: Any = facts.prim.get(usd_physics.Joint)
    name = next(key for key, value in facts.prim.schemas.items() if value is joint)
    moved, turned, _ = gap_of(subject, facts)
    kind = "local_pos" if moved / APART >= turned / TURNED else "local_rot"
    said = [f"{kind}{side}" for side in (0, 1) if getattr(joint, f"{kind}{side}") is not None]
    best: tuple[float, str, str] = (max(APART, 0.01 * moved), "", "")
    for field in said if kind == "local_pos" else ():
        for factor, what in opinions.FACTORS:
            for scale in (factor, 1.0 / factor):
                place = frames.vector(scale * np.asarray(getattr(joint, field)))
                if float(np.linalg.norm(place)) <= best[0]:
                    continue  # at nothing, any ratio fits
                trial = subset(subject.model, lambda _prim: True)
                trial.prims[facts.path].schemas[name] = joint.copy(**{field: place})
                other = subject_of(trial)
                same = next((one for one in other.joints if one.path == facts.path), None)
                if same is not None and (gap := gap_of(other, same)[0]) <= best[0]:
                    best = (gap, field, f"the ratio to the one that fits is that of {what}")
    if best[1]:
        return (replace(opinions.cause_alone(subject.model, Opinion(facts.path, name, best[1])), hint=best[2]),)
    return tuple(opinions.cause_alone(subject.model, Opinion(facts.path, name, field)) for field in said)


def gap_of(subject: Subject, facts: Any) -> tuple[float, float, float]:
    """(m, rad) by which a joint is apart at the start, along and about what it locks, and the share of what it may."""
    moved, turned = _apart_by(facts, relative_pose(*ends_of(subject, facts)))
    return moved, turned, max(moved / _may_be_apart(subject, facts), turned / TURNED)


def _may_be_apart(subject: Subject, facts: Any) -> float:
    """m, of a joint."""
    return APART + SHARE * min(radius_of(subject.model, path) for path in (facts.body0, facts.body1) if path)


def _apart_by(facts: Any, relative: NDArray[np.float64]) -> tuple[float, float]:
    """(m, rad) along and about what a joint locks."""
    locked = [freedom.is_locked for freedom in facts.freedoms]
    turned = 0.0
    if all(locked[3:]):
        turned = float(np.linalg.norm(frames.rotation_vector(relative[:3, :3])))
    elif locked[3:] == [False, True, True]:
        turned = math.acos(min(1.0, max(-1.0, float(relative[0, 0]))))
    return float(np.linalg.norm(relative[:3, 3][locked[:3]])), turned


def _gap(subject: Subject, facts: Any, motion: Motion) -> tuple[float, float, int]:
    """(m, rad) by which a joint is apart along and about what it locks, at most, and the frame of that."""
    worst = (0.0, 0.0, 0)
    bodies = [(motion.paths.index(path), radius_of(subject.model, path)) for path in (facts.body0, facts.body1) if path]
    for frame in range(0, len(motion.positions), 3):
        moved, turned = _apart_by(facts, relative_pose(*ends_of(subject, facts, motion, frame)))
        moved = max(0.0, moved - _FAST * STEP * max(_speed(motion, *body, frame) for body in bodies))
        if moved + turned > worst[0] + worst[1]:
            worst = (moved, turned, frame)
    return worst


def _speed(motion: Motion, row: int, radius: float, frame: int) -> float:
    """m/s, of the edge of a body."""
    velocity = motion.velocities[frame, row]
    return float(np.linalg.norm(velocity[:3]) + radius * np.linalg.norm(velocity[3:]))


def _sag(subject: Subject, part: Part, motion: Motion) -> Found | None:
    """A drive that does not hold its target."""
    for facts in part.joints:
        free = [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
        if free not in ([0], [3]):
            continue
        freedom = facts.freedoms[free[0]]
        drive = freedom.drive
        if drive is None or drive.is_friction or drive.stiffness <= 0.0 or drive.target_velocity:
            continue
        if not freedom.low <= drive.target_position <= freedom.high:
            continue  # a spring that presses against a limit, which is told of the limits
        place = position_of(facts, relative_pose(*ends_of(subject, facts, motion)), free[0])
        error = place - min(max(drive.target_position, freedom.low), freedom.high)
        if free[0] == 3:
            error = (error + math.pi) % (2.0 * math.pi) - math.pi
        radius = max(radius_of(subject.model, path) for path in (facts.body0, facts.body1) if path)
        if abs(error) > (SAG if free[0] == 3 else max(SAG_SHARE * radius, 2e-3)):
            seconds = (len(motion.positions) - 1) * STEP
            text = (
                f"The drive of {facts.prim.display} is {measure(abs(error), free[0])} from its target after "
                f"{seconds:g} s."
            )
            if drive.max_force < NO_LIMIT:
                text += " " + f"Its largest force is {drive.max_force:.4g}."
            return Found(facts.path, text, {"error": error})
    return None


def _same_again(model: PhysicsModel, motion: Motion, seconds: float) -> Check:
    other = simulated(model, seconds)
    count = len(other.positions)
    is_same = np.array_equal(other.positions, motion.positions[:count]) and np.array_equal(
        other.rotations, motion.rotations[:count]
    )
    if is_same:
        return Check(SECTION, "determinism", "pass", "A second run is the same, bit for bit.")
    return Check(SECTION, "determinism", "fail", "A second run is not the same as the first.")


# --------------------------------------------------------------------------- causes


def _fails(
    test: _Test, name: str, first: Sequence[str], model: PhysicsModel,
    seconds: float,
) -> bool:  # fmt: skip
    """Whether a model has a part with one of these bodies that fails a test."""
    subject = subject_of(model)
    parts = [part for part in subject.parts if set(part.bodies) & set(first)]
    if not parts:
        return True
    motion = simulated(with_floor(subject), seconds)
    if motion.problem:
        return True
    # A cause is none if its removal makes another test fail.
    others = (_unrest, _growth, _apart) if name != "energy" else (_growth,)
    return any(one(subject, part, motion) for one in {test, *others} for part in parts)


def _causes(
    subject: Subject, part: Part, path: str, fails: Callable[[Sequence[str], PhysicsModel, float], bool],
    seconds: float, has_time: Callable[[], bool],
) -> tuple[Cause, ...]:  # fmt: skip
    """The opinions of a part without each of which it does not fail: those nearest to a prim, else any."""
    model = subject.model
    others = {body for other in subject.parts if other is not part for body in other.bodies}
    gone = {prim.path for body in others for prim in model.colliders_of(body)} | others
    gone |= {facts.path for facts in subject.joints if {facts.body0, facts.body1} & others}
    # Alone, if it fails alone, and as soon as it fails: much faster.
    lone = subset(model, lambda prim: prim.path not in gone)
    trials = [(one, time) for one in (lone, model) for time in (0.3 * seconds, seconds)]
    trial = next((trial for trial in trials if has_time() and fails(part.bodies, *trial)), None)
    if trial is None:
        return ()
    model, seconds = trial

    def heals(chosen: Sequence[Opinion]) -> bool:
        return not fails(part.bodies, opinions.removed(model, chosen), seconds)

    ends = [body for facts in part.joints if facts.path == path for body in (facts.body0, facts.body1)]
    near = [one for one in (path, *ends) if one in model.prims]
    near += [prim.path for one in near for prim in model.colliders_of(one)] if path in part.bodies else []
    near += dict.fromkeys(name for one in near for name in model.prims[one].materials if name in model.prims)
    every = [one for one in part.prims(subject.model) if one in model.prims]
    for prims in (near, [one for one in every if one not in near]):
        candidates = opinions.removable(model, prims)[:_HEAL_TRIES]
        found = opinions.without_bindings(model, opinions.alone(candidates, heals, has_time))
        if found:
            return tuple(opinions.cause_alone(model, one) for one in found)
    return ()
