# SPDX-License-Identifier: GPL-3.0-or-later
"""What every asset is to do by itself: rest, gain no energy, hold together, hold its pose, and do it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..core import frames
from ..core.errors import UsdPhysError
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..simulation.engine import ENGINES
from ..simulation.joint_facts import JointFacts
from . import at_start, bearing, failures, oddities, opinions
from .at_start import (
    POSED,
    PUSHED,
    SECTION,
    Pose,
    filter_causes,
    is_of_the_start,
    named_prims,
    pushed_at_start,
)
from .budget import Budget, OutOfTimeError
from .certificate import Check
from .failures import Found, Test
from .opinions import Cause, Opinion
from .runs import (
    GLIMPSE,
    Motion,
    Part,
    Start,
    Subject,
    simulated,
    subject_of,
    subset,
    with_floor,
)  # fmt: skip

#: Seconds after which an asset rests.
REST = 5.0
_HEAL_TRIES = 60


def checks_of(
    start: Start, subject: Subject, budget: Budget, share: float, seconds: float = REST, *, pose: Pose = POSED,
    others: Sequence[str] = (),
) -> Iterator[Check]:  # fmt: skip
    """The checks of an asset, in the preview's engine. share: of the budget that may be used by then. Its first run is
    made if there is time for it in all of the budget. start: of the asset on its floor. pose: that it starts in.
    others: keys of the engines that are stepped from here, beside the preview: what fails in the preview alone is no
    fault of the asset."""
    starts = list(at_start.checks_of(subject, pose))
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
    tests: dict[str, Test] = {
        "rest": failures.unrest,
        "energy": failures.growth,
        "joints": failures.apart,
        "drives": failures.sag,
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
        # What a joint drops that breaks, no drive of the rest is weak for.
        broken = [part for part in subject.parts if name == "drives" and _breaks(part, motion)]
        if broken:
            body, joint = (
                subject.model.prims[path].display for path in (broken[0].bodies[0], _breaks(broken[0], motion))
            )
            message = f"How far drives of {body} give way is not asked: {joint} breaks."
            yield Check(SECTION, name, "skipped", message, broken[0].bodies[0])
        asked = [part for part in subject.parts if not any(part is one for one in (*falling, *broken))]
        checks = [judge.check(name, test, part, found) for part in asked if (found := test(subject, part, motion))]
        yield from checks
        if asked and not checks:
            yield Check(SECTION, name, "pass", told[name])
    if budget.has(share):
        yield from bearing.checks_of(SECTION, subject, model, seconds, others, motion.broken)
    elif any(facts.breaks for facts in subject.joints):
        message = "There was no time to see whether joints that break bear what hangs on them."
        yield Check(SECTION, "bearing", "skipped", message)
    if budget.has(share):
        yield _same_again(model, motion, min(seconds, 2.0))
    else:
        yield Check(SECTION, "determinism", "skipped", "There was no time for a second run.")


def _breaks(part: Part, motion: Motion) -> str:
    """The first joint of a part with drives that breaks; "" without."""
    if not any(facts.drives for facts in part.joints):
        return ""
    return next((facts.path for facts in part.joints if facts.path in motion.broken), "")


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

    def check(self, name: str, test: Test, part: Part, found: Found) -> Check:
        """Whether the pose that nobody has chosen, the preview alone or the asset is at fault."""
        if not self.pose.is_chosen and (pushed := pushed_at_start(self.subject, part, self.starts)):
            message = found.message + " " + f"{PUSHED[pushed[0].name]}, and nobody has chosen that start."
            causes = tuple(cause for check in pushed for cause in check.causes)
            return Check(SECTION, name, "doubtful", message, found.path, causes, pushed[0].fix, found.data)
        if name == "energy" and (jams := self._jams(part, found.path)):
            one, still = (self.model.prims[path].display for path in jams[0])
            message = (
                found.message + " " + f"{one} and {still} touch at the start, and no joint can move them apart at once."
            )
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

    def _causes(self, name: str, test: Test, part: Part, found: Found) -> tuple[Cause, ...]:
        near = _frame_causes(self.subject, found)
        fails = partial(_fails, test, name)
        try:
            return near or _causes(self.subject, part, found.path, fails, self.seconds, self.has_time)
        except OutOfTimeError:
            return ()

    def _keeping(self, test: Test, part: Part) -> str:
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
            if not any(
                one(self.subject, part, motion) for one in (test, failures.unrest, failures.apart, failures.sag)
            ):
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
    found = [failures.apart(subject, part, motion) for part in subject.parts]
    if any(one is not None and one.data["at_start"] for one in found):
        return "Joints that start apart are closed, which gives energy."
    return ""


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


def _frame_causes(subject: Subject, found: Found) -> tuple[Cause, ...]:
    """What may be wrong with a joint that starts apart: the one place of a frame that closes it with another unit or
    sign, else both places, or rotations."""
    if not found.data.get("at_start"):
        return ()
    facts = next(one for one in subject.joints if one.path == found.path)
    joint: Any = facts.prim.get(usd_physics.Joint)
    name = next(key for key, value in facts.prim.schemas.items() if value is joint)
    moved, turned, _ = failures.gap_of(subject, facts)
    if fitting := _fitting(subject, facts, joint, name):
        return fitting
    kind = "local_pos" if moved / failures.APART >= turned / failures.TURNED else "local_rot"
    said = [f"{kind}{side}" for side in (0, 1) if getattr(joint, f"{kind}{side}") is not None]
    best: tuple[float, str, str] = (max(failures.APART, 0.01 * moved), "", "")
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
                if same is not None and (gap := failures.gap_of(other, same)[0]) <= best[0]:
                    best = (gap, field, f"the ratio to the one that fits is that of {what}")
    if best[1]:
        return (replace(opinions.cause_alone(subject.model, Opinion(facts.path, name, best[1])), hint=best[2]),)
    return tuple(opinions.cause_alone(subject.model, Opinion(facts.path, name, field)) for field in said)


def _fitting(subject: Subject, facts: JointFacts, joint: Any, name: str) -> tuple[Cause, ...]:
    """Bodies that fit exchanged, or a rotation that fits with its numbers in another order; empty without these."""

    def fits(**changes: Any) -> bool:
        trial = subset(subject.model, lambda _prim: True)
        trial.prims[facts.path].schemas[name] = joint.copy(**changes)
        try:
            other = subject_of(trial)
        except (UsdPhysError, ValueError, ArithmeticError):
            return False
        same = next((one for one in other.joints if one.path == facts.path), None)
        return same is not None and failures.gap_of(other, same)[2] <= 1.0

    def causes(hint: str, *fields: str) -> tuple[Cause, ...]:
        found = (opinions.cause_alone(subject.model, Opinion(facts.path, name, field)) for field in fields)
        return tuple(replace(one, hint=hint) for one in found)

    if joint.body0 and joint.body1 and fits(body0=joint.body1, body1=joint.body0):
        return causes(opinions.EXCHANGED, "body0", "body1")
    for field in ("local_rot0", "local_rot1"):
        turn = getattr(joint, field)
        if turn is None:
            continue
        w, x, y, z = turn
        orders = {opinions.OTHER_ORDER: (z, w, x, y), opinions.INVERSE: (w, -x, -y, -z)}
        for hint, other in orders.items():
            if fits(**{field: other}):
                return causes(hint, field)
    return ()


def _fails(
    test: Test, name: str, first: Sequence[str], model: PhysicsModel,
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
    others = (failures.unrest, failures.growth, failures.apart) if name != "energy" else (failures.growth,)
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
    near += [name for one in near for name in model.prims[one].materials if name in model.prims]
    # A body may be its own collider.
    near = list(dict.fromkeys(near))
    every = [one for one in part.prims(subject.model) if one in model.prims]
    for prims in (near, [one for one in every if one not in near]):
        candidates = opinions.removable(model, prims)[:_HEAL_TRIES]
        found = opinions.without_bindings(model, opinions.alone(candidates, heals, has_time))
        if found:
            return tuple(opinions.cause_alone(model, one) for one in found)
    return ()
