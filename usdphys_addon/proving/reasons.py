# SPDX-License-Identifier: GPL-3.0-or-later
"""Why an engine moves a body of an asset otherwise: what is known at once, then what takes runs of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from ..core.model import PhysicsModel
from ..simulation.engine import ENGINES, Habit, Program, programs
from . import at_start, habits, opinions, plain
from . import joints as bench
from .certificate import Check
from .experiments import Experiment, Parting
from .opinions import MOST_CAUSES, Cause, Opinion, narrowed
from .partings import touching
from .runs import FINER, STEP, Motion, simulated, subject_of


class Runner(Protocol):
    """Runs the asset in an engine without some opinions. rate: number of steps in a frame."""

    def __call__(self, chosen: Sequence[Opinion], rate: int = 1, /) -> Motion: ...


#: Share of the way of a body by which its motion may differ.
SLACK = 0.06
#: Opinions that are tried as causes of what another engine does; in one that needs seconds for each run.
_MOST_TRIED, _MOST_TRIED_SLOWLY = 40, 16
#: s, in which what is pushed at the start leaves.
_FIRST_MOMENT = 0.25


#: What to look at where an engine gives no numbers, and smaller time steps do not help.
_LOST_FIX = "Check the masses, moments of inertia and gains there."


class Reason(NamedTuple):
    """Why an engine moves a body otherwise: attributes, a sentence, and what to do; each may be empty."""

    causes: tuple[Cause, ...] = ()
    words: str = ""
    fix: str = ""


def reason_of(
    key: str, run: Runner, other: Motion, found: Sequence[Parting], experiment: Experiment, starts: Sequence[Check],
    has_time: Callable[[], bool],
) -> Reason:  # fmt: skip
    """What is known at once, before what has to be searched. other: what the engine did."""
    model, first, name = experiment.model, found[0], ENGINES[key].name
    at_once = _pushed_reason(model, first, starts)
    if lost := habits.lost(other):
        where = model.prims[lost].display if lost in model.prims else lost
        words = f"{name} gives no numbers for {where} from then on."
        if at_once is not None:
            return at_once._replace(words=f"{words} {at_once.words}")
        rate = _healing_rate(run, first, experiment, has_time)
        if rate:
            steps = round(rate / STEP)
            words += " " + f"With {steps} steps a second, {name} moves it as the preview does."
        return Reason((), words, plain.FINER_STEPS if rate else _LOST_FIX)
    if causes := habits.unbroken(model, first, experiment.motion, other):
        joint = model.prims[causes[0].path].display
        fix = f"Do without it, or choose an engine that has it: {name} does not."
        return Reason(causes, f"{joint} breaks in the preview, and cannot in {name}.", fix)
    if at_once is not None:
        return at_once
    if key in programs() and (kept := habits.kept_apart(model, first, experiment.motion)) is not None:
        joint, still = model.prims[kept.cause.path].display, model.prims[kept.other].display
        return Reason((kept.cause,), (
            f"{name} lets it collide with {still}; elsewhere {joint} keeps the two apart, because {still} is below "
            "the other side of it."
        ))  # fmt: skip
    untold = _untold(model, first, other)
    causes = tuple(opinions.cause_alone(model, one) for one in untold[:MOST_CAUSES])
    if untold and _explain(untold, experiment, other, first):
        return Reason(causes)
    if slide := habits.sliding(model, first, experiment.motion, other):
        causes, way = tuple(opinions.cause_alone(model, one) for one in slide.roots), slide.far
        return Reason(causes, (
            f"In the preview it slides by {way:.2g} m, because friction of an articulation acts after its links have "
            f"moved; it stands in {name}, and in the preview without the articulation."
        ), f"Trust {name} where feet stand.")  # fmt: skip
    row = ENGINES[key]
    if isinstance(row, Program) and Habit.FORCES_ONLY in row.habits and (
        types := habits.forced(model, first, experiment, SLACK)
    ):  # fmt: skip
        causes, joint = tuple(opinions.cause_alone(model, one) for one in types[:MOST_CAUSES]), types[0].path
        return Reason(causes, (
            f"{name} takes the drive of {model.prims[joint].display} as one of type force, with the same gains."
        ), habits.FORCE)  # fmt: skip
    if soft := habits.beyond_limits(model, first, experiment.motion, other):
        limits = [opinion for one in soft for opinion in one.opinions][:MOST_CAUSES]
        joint, far = soft[0].facts.prim.display, soft[0].words
        causes = tuple(opinions.cause_alone(model, one) for one in limits)
        told = f"{joint} goes {far} beyond its limit in {name}, which holds limits by springs."
        return Reason(causes, told, habits.SOFT_LIMIT)
    if rate := _healing_rate(run, first, experiment, has_time):
        steps = round(rate / STEP)
        told = f"With {steps} steps a second, {name} moves it as the preview does."
        return Reason((), told, plain.FINER_STEPS)
    is_alike = partial(_moves_alike, key, experiment, first)
    if key not in programs() and (light := habits.too_light(model, first, is_alike, has_time)):
        link, moment, times = model.prims[light.body].display, light.moment, light.times
        causes = tuple(opinions.cause_alone(model, one) for one in light.opinions)
        return Reason(causes, (
            f"{link} is too light for {name}, with moments of inertia of {moment:.2g} kg m2: with {times:g} times of "
            f"them, {name} moves all as the preview does."
        ), f"Do not trust {name} with links that are so light.")  # fmt: skip
    if has_time() and (jammed := habits.passing(model, first, experiment.motion)):
        one, still = (model.prims[path].display for path in jammed)
        return Reason(at_start.filter_causes(jammed), (
            f"{one} and {still} touch at the start, and no joint can move them apart at once: they pass through "
            f"each other in the preview, and {name} pushes them apart."
        ))  # fmt: skip
    causes = causes or _engine_causes(key, run, found, experiment, has_time)
    if follows := habits.following(experiment.motion, causes):
        return Reason(causes, f"In the preview, {follows}", f"Trust {name} where a joint that others follow is pushed.")
    if causes:
        return Reason(causes)
    if parted := habits.in_parts(model, first, experiment.motion):
        causes = tuple(opinions.cause_alone(model, one) for one in parted)
        shape = model.prims[parted[0].path].display
        words = f"Each engine makes its own convex parts of {shape}, which may be why."
        return Reason(causes, words, "Make convex parts of it.")
    return Reason((), "No attribute alone is the cause." if has_time() else plain.NO_TIME)


def _healing_rate(run: Runner, first: Parting, experiment: Experiment, has_time: Callable[[], bool]) -> int:
    """With so many steps in a frame, the engine moves the body that parts first as the preview does; 0 where it does
    not, or there is no time."""
    for rate in FINER:
        if not has_time():
            return 0
        other = run((), rate)
        found = experiment.parting(other, SLACK, more=experiment.coarse)
        if not other.problem and not any(one.body == first.body for one in found):
            return rate
    return 0


def _moves_alike(engine: str, experiment: Experiment, first: Parting, model: PhysicsModel) -> bool:
    """Whether the preview and an engine that is stepped from here move the body that parts first alike in a model, in
    which it goes at least half as far: what hardly moves is alike everywhere."""
    here = simulated(model, experiment.seconds)
    there = simulated(model, experiment.seconds, engine=engine)
    if here.problem or there.problem:
        return False
    other, row = experiment.like(here), experiment.motion.paths.index(first.body)
    if other.ways[-1, row] < 0.5 * experiment.ways[-1, row] - first.allowed:
        return False
    return not any(one.body == first.body for one in other.parting(there, SLACK, more=experiment.coarse))


def _explain(untold: Sequence[Opinion], experiment: Experiment, other: Motion, first: Parting) -> bool:
    """Whether the preview moves the body that parts first as the engine does, where it is not told the same."""
    here = simulated(opinions.removed(experiment.model, untold), experiment.seconds)
    found = experiment.like(here).parting(other, SLACK, more=experiment.coarse)
    return not here.problem and not any(one.body == first.body for one in found)


def _untold(model: PhysicsModel, first: Parting, motion: Motion) -> list[Opinion]:
    """What an engine says that it is not told of the joints of the body that leaves first, and of what hangs on it."""
    limited = motion.limits()
    part = next((part for part in subject_of(model).parts if first.body in part.bodies), None)
    return [
        Opinion(facts.path, *place) for facts in (part.joints if part is not None else ()) if facts.path in limited
        for place in bench.said_beyond(facts.prim).values()
    ]  # fmt: skip


def _pushed_reason(model: PhysicsModel, first: Parting, starts: Sequence[Check]) -> Reason | None:
    """That the part of a body is pushed in the first moment, where it leaves at once."""
    pushed = at_start.pushed_with(model, first, starts) if first.time <= _FIRST_MOMENT else []
    if not pushed:
        return None
    causes = tuple(cause for check in pushed for cause in check.causes)[:MOST_CAUSES]
    return Reason(causes, f"{at_start.PUSHED[pushed[0].name]}, which each engine does in its own way.")


def _engine_causes(
    engine: str, run: Runner, found: Sequence[Parting], experiment: Experiment, has_time: Callable[[], bool]
) -> tuple[Cause, ...]:
    """The opinions without each of which the engines move the body that leaves first alike: those near it first.

    In an engine that is slow, halves of them are tried, and the smallest set that is found is the cause.
    """
    model, motion, first = experiment.model, experiment.motion, found[0]
    # What leaves soon after it, and what these touch, may be what pushes it.
    bodies = [one.body for one in found if one.time <= first.time + 0.1][:4]
    for one in found[: len(bodies)]:
        other = touching(model, motion, round(one.time / STEP), motion.paths.index(one.body))
        bodies += [other] if other else []
    parts = [part for part in subject_of(model).parts if set(bodies) & set(part.bodies)]
    ends = [facts for part in parts for facts in part.joints if {facts.body0, facts.body1} & set(bodies)]
    near = [*bodies, *(facts.path for facts in ends), *(body for facts in ends for body in (facts.body0, facts.body1))]
    near += [prim.path for body in bodies for prim in model.colliders_of(body)]
    near += [name for path in near if path in model.prims for name in model.prims[path].materials]
    near = [path for path in dict.fromkeys(near) if path in model.prims]
    every = [*near, *(path for part in parts for path in part.prims(model) if path not in near)]

    def heals(chosen: Sequence[Opinion]) -> bool:
        here = simulated(opinions.removed(model, chosen), experiment.seconds)
        there = run(chosen)
        if here.problem or there.problem or not set(experiment.motion.paths) <= set(here.paths):
            return False
        return not any(one.body == first.body for one in experiment.like(here).parting(there, SLACK))

    is_quick = engine not in programs()
    candidates = opinions.removable(model, every if is_quick else near)
    if is_quick:
        causes = opinions.alone(candidates[:_MOST_TRIED], heals, has_time)
    else:
        causes = opinions.smallest(candidates[:_MOST_TRIED_SLOWLY], heals, has_time) if has_time() else []
        causes, _ = narrowed(causes, has_time)
    if causes and all(one.schema == "PhysicsMassAPI" for one in causes):
        # Every engine reads them: where the preview moves alike without them, the other one is calmed, not healed.
        here = simulated(opinions.removed(model, causes), experiment.seconds)
        if not here.problem and not experiment.parting(here, SLACK):
            causes = []
    return tuple(opinions.cause_alone(model, one) for one in opinions.without_bindings(model, causes))
