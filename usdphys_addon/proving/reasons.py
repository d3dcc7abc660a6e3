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


class Parted(NamedTuple):
    """What an engine did otherwise. key: of the engine. run: runs the asset in it. other: its motion. found: where it
    parts from that of the preview, in `experiment`; not empty. starts: failed checks of the start."""

    key: str
    run: Runner
    other: Motion
    found: Sequence[Parting]
    experiment: Experiment
    starts: Sequence[Check]
    has_time: Callable[[], bool]

    @property
    def model(self) -> PhysicsModel:
        return self.experiment.model

    @property
    def first(self) -> Parting:
        return self.found[0]

    @property
    def name(self) -> str:
        """Of the engine."""
        return ENGINES[self.key].name

    def shown(self, path: str) -> str:
        """A prim as messages name it."""
        return self.model.prims[path].display if path in self.model.prims else path

    def causes(self, found: Sequence[Opinion]) -> tuple[Cause, ...]:
        return tuple(opinions.cause_alone(self.model, one) for one in found)


def reason_of(parted: Parted) -> Reason:
    """The first reason that fits: what is known at once, before what has to be searched."""
    for look in _LOOKS:
        if (reason := look(parted)) is not None:
            return reason
    return Reason((), "No attribute alone is the cause." if parted.has_time() else plain.NO_TIME)


def _loses_numbers(parted: Parted) -> Reason | None:
    lost = habits.lost(parted.other)
    if not lost:
        return None
    words = f"{parted.name} gives no numbers for {parted.shown(lost)} from then on."
    if (pushed := _is_pushed(parted)) is not None:
        return pushed._replace(words=f"{words} {pushed.words}")
    rate = _healing_rate(parted)
    if rate:
        words += f" With {round(rate / STEP)} steps a second, {parted.name} moves it as the preview does."
    return Reason((), words, plain.FINER_STEPS if rate else _LOST_FIX)


def _does_not_break(parted: Parted) -> Reason | None:
    causes = habits.unbroken(parted.model, parted.first, parted.experiment.motion, parted.other)
    if not causes:
        return None
    fix = f"Do without it, or choose an engine that has it: {parted.name} does not."
    return Reason(
        causes, f"{parted.shown(causes[0].path)} breaks in the preview, and cannot in {parted.name}.", fix
    )  # fmt: skip


def _is_pushed(parted: Parted) -> Reason | None:
    """The part of the body is pushed in the first moment, and it leaves at once."""
    is_soon = parted.first.time <= _FIRST_MOMENT
    pushed = at_start.pushed_with(parted.model, parted.first, parted.starts) if is_soon else []
    if not pushed:
        return None
    causes = tuple(cause for check in pushed for cause in check.causes)[:MOST_CAUSES]
    return Reason(causes, f"{at_start.PUSHED[pushed[0].name]}, which each engine does in its own way.")


def _collides_with_what_is_kept_apart(parted: Parted) -> Reason | None:
    if parted.key not in programs():
        return None
    kept = habits.kept_apart(parted.model, parted.first, parted.experiment.motion)
    if kept is None:
        return None
    joint, still = parted.shown(kept.cause.path), parted.shown(kept.other)
    return Reason((kept.cause,), (
        f"{parted.name} lets it collide with {still}; elsewhere {joint} keeps the two apart, because {still} is below "
        "the other side of it."
    ))  # fmt: skip


def _is_not_told(parted: Parted) -> Reason | None:
    """What the engine is not told explains the motion."""
    untold = _untold(parted)
    here = simulated(opinions.removed(parted.model, untold), parted.experiment.seconds) if untold else None
    if here is None or here.problem:
        return None
    found = parted.experiment.like(here).parting(parted.other, SLACK, more=parted.experiment.coarse)
    if any(one.body == parted.first.body for one in found):
        return None
    return Reason(parted.causes(untold[:MOST_CAUSES]))


def _slides_here(parted: Parted) -> Reason | None:
    slide = habits.sliding(parted.model, parted.first, parted.experiment.motion, parted.other)
    if not slide:
        return None
    return Reason(parted.causes(slide.roots), (
        f"In the preview it slides by {slide.far:.2g} m, because friction of an articulation acts after its links have "
        f"moved; it stands in {parted.name}, and in the preview without the articulation."
    ), f"Trust {parted.name} where feet stand.")  # fmt: skip


def _has_forces_only(parted: Parted) -> Reason | None:
    row = ENGINES[parted.key]
    if not (isinstance(row, Program) and Habit.FORCES_ONLY in row.habits):
        return None
    types = habits.forced(parted.model, parted.first, parted.experiment, SLACK)
    if not types:
        return None
    return Reason(parted.causes(types[:MOST_CAUSES]), (
        f"{parted.name} takes the drive of {parted.shown(types[0].path)} as one of type force, with the same gains."
    ), habits.FORCE)  # fmt: skip


def _has_soft_limits(parted: Parted) -> Reason | None:
    soft = habits.beyond_limits(parted.model, parted.first, parted.experiment.motion, parted.other)
    if not soft:
        return None
    limits = [opinion for one in soft for opinion in one.opinions][:MOST_CAUSES]
    joint, far = soft[0].facts.prim.display, soft[0].words
    told = f"{joint} goes {far} beyond its limit in {parted.name}, which holds limits by springs."
    return Reason(parted.causes(limits), told, habits.SOFT_LIMIT)


def _needs_finer_steps(parted: Parted) -> Reason | None:
    rate = _healing_rate(parted)
    if not rate:
        return None
    told = f"With {round(rate / STEP)} steps a second, {parted.name} moves it as the preview does."
    return Reason((), told, plain.FINER_STEPS)


def _has_a_light_link(parted: Parted) -> Reason | None:
    if parted.key in programs():
        return None
    light = habits.too_light(parted.model, parted.first, partial(_moves_alike, parted), parted.has_time)
    if not light:
        return None
    return Reason(parted.causes(light.opinions), (
        f"{parted.shown(light.body)} is too light for {parted.name}, with moments of inertia of {light.moment:.2g} "
        f"kg m2: with {light.times:g} times of them, {parted.name} moves all as the preview does."
    ), f"Do not trust {parted.name} with links that are so light.")  # fmt: skip


def _passes_here(parted: Parted) -> Reason | None:
    jammed = habits.passing(parted.model, parted.first, parted.experiment.motion) if parted.has_time() else None
    if not jammed:
        return None
    one, still = map(parted.shown, jammed)
    return Reason(at_start.filter_causes(jammed), (
        f"{one} and {still} touch at the start, and no joint can move them apart at once: they pass through "
        f"each other in the preview, and {parted.name} pushes them apart."
    ))  # fmt: skip


def _has_a_cause(parted: Parted) -> Reason | None:
    """What the engine is not told, or what has to be taken out for all to move alike."""
    causes = parted.causes(_untold(parted)[:MOST_CAUSES]) or _engine_causes(parted)
    if follows := habits.following(parted.experiment.motion, causes):
        fix = f"Trust {parted.name} where a joint that others follow is pushed."
        return Reason(causes, f"In the preview, {follows}", fix)
    return Reason(causes) if causes else None


def _has_other_parts(parted: Parted) -> Reason | None:
    made = habits.in_parts(parted.model, parted.first, parted.experiment.motion)
    if not made:
        return None
    words = f"Each engine makes its own convex parts of {parted.shown(made[0].path)}, which may be why."
    return Reason(parted.causes(made), words, "Make convex parts of it.")


#: In the order in which they are looked at.
_LOOKS: tuple[Callable[[Parted], Reason | None], ...] = (
    _loses_numbers, _does_not_break, _is_pushed, _collides_with_what_is_kept_apart, _is_not_told, _slides_here,
    _has_forces_only, _has_soft_limits, _needs_finer_steps, _has_a_light_link, _passes_here, _has_a_cause,
    _has_other_parts,
)  # fmt: skip


def _healing_rate(parted: Parted) -> int:
    """With so many steps in a frame, the engine moves the body that parts first as the preview does; 0 where it does
    not, or there is no time."""
    for rate in FINER:
        if not parted.has_time():
            return 0
        other = parted.run((), rate)
        found = parted.experiment.parting(other, SLACK, more=parted.experiment.coarse)
        if not other.problem and not any(one.body == parted.first.body for one in found):
            return rate
    return 0


def _moves_alike(parted: Parted, model: PhysicsModel) -> bool:
    """Whether the preview and an engine that is stepped from here move the body that parts first alike in a model, in
    which it goes at least half as far: what hardly moves is alike everywhere."""
    experiment, first = parted.experiment, parted.first
    here = simulated(model, experiment.seconds)
    there = simulated(model, experiment.seconds, engine=parted.key)
    if here.problem or there.problem:
        return False
    other, row = experiment.like(here), experiment.motion.paths.index(first.body)
    if other.ways[-1, row] < 0.5 * experiment.ways[-1, row] - first.allowed:
        return False
    return not any(one.body == first.body for one in other.parting(there, SLACK, more=experiment.coarse))


def _untold(parted: Parted) -> list[Opinion]:
    """What an engine says that it is not told of the joints of the body that leaves first, and of what hangs on it."""
    limited = parted.other.limits()
    part = next((part for part in subject_of(parted.model).parts if parted.first.body in part.bodies), None)
    return [
        Opinion(facts.path, *place) for facts in (part.joints if part is not None else ()) if facts.path in limited
        for place in bench.said_beyond(facts.prim).values()
    ]  # fmt: skip


def _engine_causes(parted: Parted) -> tuple[Cause, ...]:
    """The opinions without each of which the engines move the body that leaves first alike: those near it first.

    In an engine that is slow, halves of them are tried, and the smallest set that is found is the cause.
    """
    model, experiment, first, has_time = parted.model, parted.experiment, parted.first, parted.has_time
    found, motion = parted.found, experiment.motion
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
        there = parted.run(chosen)
        if here.problem or there.problem or not set(experiment.motion.paths) <= set(here.paths):
            return False
        return not any(one.body == first.body for one in experiment.like(here).parting(there, SLACK))

    is_quick = parted.key not in programs()
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
    return parted.causes(opinions.without_bindings(model, causes))
