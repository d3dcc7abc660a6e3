# SPDX-License-Identifier: GPL-3.0-or-later
"""Section `joints`: each joint alone in each engine, against what the differential equation says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..core.words import counted
from ..simulation.engine import ENGINES, PREVIEW, Habit, Program
from ..simulation.engine import programs as that_read_files
from . import answers, habits, joints, opinions, plain, programs
from .answers import Outcome
from .budget import Budget, OutOfTimeError
from .certificate import Check, also, measure
from .opinions import Opinion
from .runs import FINER, STEP, Motion, Subject, simulated


class Trials:
    """The experiments with joints: found when they are first asked for."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    @cached_property
    def probes(self) -> tuple[list[joints.Probe], dict[str, str]]:
        """Those that are tried, and why the others are not, by the path of the joint."""
        return joints.probes_of(self.subject)

    @cached_property
    def chosen(self) -> dict[str, list[joints.Probe]]:
        """Those of each experiment."""
        return {
            name: [
                probe for probe in self.probes[0] if joints.applies(probe, name) and joints.is_resolved(probe, name)
            ]
            for name in joints.EXPERIMENTS
        }  # fmt: skip

    @cached_property
    def benches(self) -> dict[str, PhysicsModel]:
        """Of the experiments that have some."""
        return {name: joints.bench(self.subject, own, name, leans=True) for name, own in self.chosen.items() if own}


class Benches(NamedTuple):
    """The engines that joints are tried in. keys: of them, in their order. pythons: of those that read files. begun:
    those that are at work since the proof began. share: of the budget that may be used by then."""

    keys: Sequence[str]
    pythons: Mapping[str, str]
    begun: Mapping[str, programs.Begun]
    budget: Budget
    share: float


def checks_of(trials: Trials, tried_in: Benches, outcomes: list[Outcome]) -> Iterator[Check]:
    """Each joint in each experiment and engine, against the answer. outcomes: gets what each does."""
    subject = trials.subject
    probes, left_out = trials.probes
    yield from _left_out_checks(left_out)
    yield from _drive_checks(subject, probes, partial(tried_in.budget.has, tried_in.share))
    if stiff := [probe for probe in probes if any(not joints.is_resolved(probe, one) for one in joints.EXPERIMENTS)]:
        yield Check("joints", "experiments", "skipped", _too_stiff(stiff), stiff[0].facts.path)
    tried = 0
    chosen, benches = trials.chosen, trials.benches
    for engine in tried_in.keys if benches else ():
        untold: dict[str, joints.Probe] = {}
        unfit: dict[str, list[joints.Probe]] = {}
        wrong: list[tuple[joints.Probe, Outcome]] = []
        late: list[str] = []
        problems: dict[str, list[str]] = {}
        for experiment, motion in _motions(tried_in, engine, hurried(subject, chosen, benches, engine)):
            own, model = chosen[experiment], benches[experiment]
            if motion is None:
                late.append(experiment)
                continue
            if motion.problem:
                problems.setdefault(motion.problem, []).append(experiment)
                continue
            limited = motion.limits()
            for probe in own:
                if probe.path not in motion.paths:
                    yield Check(
                        "joints",
                        experiment,
                        "skipped",
                        f"{ENGINES[engine].name} reports nothing of {probe.facts.path}.",
                    )
                    continue
                tried += 1
                outcome = answers.judged(probe, experiment, engine, model, motion)
                if not outcome.is_kept and probe.joint in limited:
                    untold[probe.facts.path] = probe
                    outcome = replace(outcome, lost=answers.joined_by(list(joints.said_beyond(probe.facts.prim))))
                elif not outcome.is_kept and probe.path in limited:
                    link = subject.model.prims[probe.moved].display
                    said = limited[probe.path].replace(model.prims[probe.path].display, link)
                    unfit.setdefault(said, []).append(probe)
                elif not outcome.is_kept:
                    wrong.append((probe, outcome))
                    continue
                outcomes.append(outcome)
        # Experiments of one run have the same problem.
        for problem, names in problems.items():
            message = f"{ENGINES[engine].name}: {problem}"
            yield Check("joints", names[0], "skipped", message, data={"engine": engine, "experiments": names})
        if late:
            yield _late_check(engine, late)
        with suppress(OutOfTimeError):
            wrong = _with_finer_steps(tried_in, subject, wrong)
        wrong = _with_what_is_lost(wrong, [outcome for outcome in outcomes if outcome.engine == engine])
        outcomes += [outcome for _, outcome in wrong]
        groups: dict[tuple[str, str, int, bool, Habit | None], list[tuple[joints.Probe, Outcome]]] = {}
        for probe, outcome in wrong:
            habit = _habit_of(subject, probe, outcome)
            key = outcome.experiment, outcome.lost, outcome.rate, outcome.beyond > 0.0, habit
            groups.setdefault(key, []).append((probe, outcome))
        for (*_, habit), group in groups.items():
            yield _outcome_check(subject.model, group, habit)
        if untold:
            yield _untold_check(subject.model, engine, list(untold.values()))
        if unfit:
            yield _unfit_check(subject.model, engine, unfit)
    kept = sum(outcome.is_kept for outcome in outcomes)
    if tried and kept == tried:
        yield Check("joints", "experiments", "pass", f"All {tried} experiments with joints have the right answer.")


def _with_what_is_lost(
    wrong: Sequence[tuple[joints.Probe, Outcome]], kept: Sequence[Outcome]
) -> list[tuple[joints.Probe, Outcome]]:
    """The outcomes without terms for which the experiment that asks about these alone has the right answer. kept: of
    the same engine."""
    known = {(one.joint, one.experiment) for one in kept if one.is_kept}
    found = []
    for probe, one in wrong:
        lost = [
            words for words in answers.terms_in(one.lost)
            if (one.joint, answers.ASKED_BY.get(words, "")) not in known
        ]  # fmt: skip
        found.append((probe, replace(one, lost=answers.joined_by(lost))))
    return found


def _left_out_checks(left_out: Mapping[str, str]) -> Iterator[Check]:
    """Joints that are not taken out of the asset: those with the same reason together. left_out: reasons by path."""
    groups: dict[str, list[str]] = {}
    for path, why in left_out.items():
        groups.setdefault(why, []).append(path)
    for why, paths_of in groups.items():
        message, others = f"{paths_of[0]} is tried with the whole asset only: {why}.", len(paths_of) - 1
        message += also(others, "So is 1 other joint.", f"So are {others} other joints.")
        yield Check("joints", "experiments", "skipped", message, paths_of[0], data={"joints": paths_of})


def _late_check(engine: str, late: Sequence[str]) -> Check:
    """Of the experiments with joints for which there was no time in an engine."""
    name, words, others = ENGINES[engine].name, joints.EXPERIMENTS[late[0]][1], len(late) - 1
    message = f"There was no time for the {words} in {name}."
    if engine == PREVIEW:
        message = f"There was no time for the {words} in the preview."
    message += also(others, "Nor was there for 1 other experiment.", f"Nor was there for {others} other experiments.")
    return Check("joints", late[0], "skipped", message, data={"engine": engine, "experiments": list(late)})


def hurried(
    subject: Subject, chosen: Mapping[str, list[joints.Probe]], benches: Mapping[str, PhysicsModel], engine: str
) -> Mapping[str, PhysicsModel]:
    """The benches for an engine: their pushes are slower where it makes them faster."""
    row = ENGINES[engine]
    hurry = row.hurry if isinstance(row, Program) else 1.0
    if hurry == 1.0:
        return benches
    return {name: joints.bench(subject, chosen[name], name, leans=True, hurry=hurry) for name in benches}


def _with_finer_steps(
    tried_in: Benches, subject: Subject, wrong: list[tuple[joints.Probe, Outcome]]
) -> list[tuple[joints.Probe, Outcome]]:  # fmt: skip
    """The outcomes, all of one engine, with the rate of steps by which one is right; that one loses nothing."""
    rates: dict[tuple[str, str], int] = {}
    for rate in FINER:
        chosen: dict[str, list[joints.Probe]] = {}
        for probe, outcome in wrong:
            if (outcome.joint, outcome.experiment) not in rates:
                chosen.setdefault(outcome.experiment, []).append(probe)
        if not chosen:
            break
        engine = wrong[0][1].engine
        benches = {name: joints.bench(subject, own, name, leans=True) for name, own in chosen.items()}
        own = hurried(subject, chosen, benches, engine)
        for experiment, motion in _motions(tried_in, engine, own, rate):
            if motion is None or motion.problem:
                continue
            for probe in chosen[experiment]:
                is_there = probe.path in motion.paths
                if is_there and answers.judged(probe, experiment, engine, benches[experiment], motion).is_kept:
                    rates[probe.facts.path, experiment] = rate
    return [
        (probe, replace(one, rate=rates[one.joint, one.experiment], lost="") if (one.joint, one.experiment) in rates
         else one)
        for probe, one in wrong
    ]  # fmt: skip


def _too_stiff(stiff: Sequence[joints.Probe]) -> str:
    link = stiff[0].facts.prim.display
    if len(stiff) > 1:
        link = f"{link} and of {counted(len(stiff) - 1, 'other joint')}"
    return (
        f"The link of {link} alone is so light for its damping, friction or drive that no time step shows how it "
        "moves, so what these do is tried with the whole asset only."
    )


def _motions(
    tried_in: Benches, engine: str, benches: Mapping[str, PhysicsModel], rate: int = 1
) -> Iterator[tuple[str, Motion | None]]:  # fmt: skip
    """The motion of each bench in an engine, by its experiment; None where there is no time. rate: steps in a frame."""
    budget, share, begun = tried_in.budget, tried_in.share, tried_in.begun.get(engine)
    if engine in that_read_files():
        python, motions = tried_in.pythons[engine], {}
        if begun is not None and rate == 1:
            motions = begun.benches(share)
        elif budget.has(share, begun.took if begun is not None else 0.0):
            motions = programs.run_benches(benches, engine, python, budget, share, rate)
        yield from ((experiment, motions.get(experiment)) for experiment in benches)
        return
    for experiment, model in benches.items():
        seconds = joints.EXPERIMENTS[experiment][0]
        yield experiment, (simulated(model, seconds, engine=engine, rate=rate) if budget.has(share) else None)


def _untold_check(model: PhysicsModel, engine: str, probes: Sequence[joints.Probe]) -> Check:
    """Of joints that an engine moves otherwise, because it is not told all of them."""
    name, first = ENGINES[engine].name, probes[0].facts
    said = {probe.facts.path: joints.said_beyond(probe.facts.prim) for probe in probes}
    causes = tuple(
        opinions.cause_alone(model, Opinion(path, *place)) for path, own in said.items() for place in own.values()
    )  # fmt: skip
    joint, lost = first.prim.display, ", ".join(dict.fromkeys(words for own in said.values() for words in own))
    if len(probes) > 1:
        others = counted(len(probes) - 1, "other joint")
        message = f"{joint} and {others} do not move in {name} as the numbers say: {name} is not told of {lost}."
    else:
        message = f"{joint} does not move in {name} as the numbers say: {name} is not told of {lost}."
    data = {"engine": engine, "untold": {path: list(own) for path, own in said.items()}}
    fix = f"Do without it, or choose an engine that has it: {name} does not."
    return Check("joints", "untold", "differs", message, first.path, causes, fix, data)


def _unfit_check(model: PhysicsModel, engine: str, unfit: Mapping[str, Sequence[joints.Probe]]) -> Check:
    """Of joints whose links an engine says that it takes otherwise. unfit: by what it says."""
    name = ENGINES[engine].name
    probes = {probe.facts.path: probe for own in unfit.values() for probe in own}
    first = next(iter(probes.values()))
    joint = first.facts.prim.display
    if len(probes) > 1:
        others = counted(len(probes) - 1, "other joint")
        message = f"{joint} and {others} do not move in {name} as the numbers say."
    else:
        message = f"{joint} does not move in {name} as the numbers say."
    message += " " + next(iter(unfit))
    moved = dict.fromkeys(probe.moved for probe in probes.values())
    links = [
        Opinion(path, "PhysicsMassAPI", "diagonal_inertia") for path in moved
        if (api := model.prims[path].get(usd_physics.MassAPI)) is not None and any(api.diagonal_inertia or ())
    ]  # fmt: skip
    causes = tuple(opinions.cause_alone(model, one) for one in links[: opinions.MOST_CAUSES])
    fix = "Correct it, or leave it out: it is then computed from the colliders." if causes else ""
    data = {"engine": engine, "unfit": {said: [probe.facts.path for probe in own] for said, own in unfit.items()}}
    return Check("joints", "unfit", "differs", message, first.facts.path, causes, fix, data)


#: Part of its step that a drive may be short of: so far friction lets many small ones go, as their makers mean.
_MOST_OF_IT = 0.5

#: What an engine does with joints in its own way, as sentences with its name.
_HABITS = {
    Habit.UNBALANCED: "At its largest force, a drive in {engine} turns what is not balanced about its axis as if that "
    "were heavier.",
    Habit.BENT: "{engine} turns a hinge by a part of what bends it.",
    Habit.FORCES_ONLY: "{engine} takes a drive of type acceleration as one of type force, with the same gains.",
    Habit.CLIPPED: "While a drive in {engine} pulls with its largest force, its damping slows it as inertia would.",
}  # fmt: skip


def _habit_of(subject: Subject, probe: joints.Probe, outcome: Outcome) -> Habit | None:
    """The habit of an engine that explains an outcome for which there is no other reason."""
    row = ENGINES[outcome.engine]
    habits = row.habits if isinstance(row, Program) else frozenset()
    if outcome.lost or outcome.rate or not habits:
        return None
    found = answers.habits_of(probe, outcome.experiment, joints.LEAN @ subject.gravity)
    return next((habit for habit in found if habit in habits), None)


def _outcome_check(model: PhysicsModel, group: Sequence[tuple[joints.Probe, Outcome]], habit: Habit | None) -> Check:
    """Of joints that an engine moves otherwise in one experiment, and that lose the same. habit: that explains it."""
    first, outcome = group[0]
    name, words = ENGINES[outcome.engine].name, joints.EXPERIMENTS[outcome.experiment][1]
    joint, is_preview = first.facts.prim.display, outcome.engine == PREVIEW
    if len(group) > 1:
        others = counted(len(group) - 1, "other joint")
        message = f"{joint} and {others} do not move in {name} as the numbers say, in the {words}."
        if is_preview:
            message = f"{joint} and {others} do not move in the preview as the numbers say, in the {words}."
    elif is_preview:
        message = f"{joint} does not move in the preview as the numbers say, in the {words}."
    else:
        message = f"{joint} does not move in {name} as the numbers say, in the {words}."
    if outcome.lost:
        message += " " + f"It is as if there were no {outcome.lost}."
    if outcome.rate:
        steps = round(1.0 / STEP)
        finer = outcome.rate * steps
        message += " " + f"With {steps} steps a second it does not, and with {finer} it does."
    if habit is not None:
        message += " " + _HABITS[habit].format(engine=name)
    is_forced = habit is Habit.FORCES_ONLY
    said = [
        (probe.facts.path, place) for probe, one in group
        for words in ([joints.TYPE] if is_forced else answers.terms_in(one.lost))
        if (place := joints.said_at(probe.facts.prim, words)) is not None
    ]  # fmt: skip
    worst, farthest = max(group, key=lambda pair: pair[1].beyond)
    if farthest.beyond and not is_forced:
        far = measure(farthest.beyond, worst.axis)
        message += " " + (
            f"It goes {far} beyond its limit." if is_preview
            else f"It goes {far} beyond its limit, which {name} holds by a spring."
        )  # fmt: skip
        said += [
            (probe.facts.path, place) for probe, one in group
            if one.beyond and (place := joints.softened_at(probe.facts.prim)) is not None
        ]  # fmt: skip
    causes = tuple(opinions.cause_alone(model, Opinion(path, *place)) for path, place in said)
    rows = [{"joint": probe.facts.path, "wanted": one.wanted, "got": one.got, "seconds": one.time}
            for probe, one in group]  # fmt: skip
    data = {"engine": outcome.engine, "experiment": outcome.experiment, "lost": outcome.lost, "joints": rows}
    fix = f"Do without it, or choose an engine that has it: {name} does not." if outcome.lost else ""
    if outcome.lost and is_preview:
        fix = "Do without it, or choose an engine that has it: the preview does not."
    row = ENGINES[outcome.engine]
    if outcome.lost and isinstance(row, Program) and Habit.NEW_WORDS_ONLY in row.habits:
        renamed = [joints.renamed_at(first, words) for words in answers.terms_in(outcome.lost)]
        if renamed[0] is not None and all(renamed):
            older, newer = renamed[0]
            fix = f"Say {newer}, too: {name} does not read {older} any more."
    if is_forced:
        fix = habits.FORCE
    elif farthest.beyond and not fix:
        fix = habits.SOFT_LIMIT
    if outcome.rate:
        fix = plain.FINER_STEPS
    return Check("joints", outcome.experiment, "differs", message, first.facts.path, causes, fix, data)


def _swinging_check(subject: Subject, probe: joints.Probe) -> Check:
    """Of a drive that moves its joint to its target, and does not stop it there."""
    joint, patience = probe.facts.prim.display, answers.PATIENCE
    message = f"The drive of {joint} moves its body to a target, and still swings about it after {patience:g} s."
    said = [Opinion(probe.facts.path, f"PhysicsDriveAPI:{probe.dof}", field) for field in ("damping", "stiffness")]
    causes = tuple(opinions.cause_alone(subject.model, one) for one in said)
    fix = "Give it more damping, or more stiffness, or accept it."
    return Check("joints", "drive moves", "doubtful", message, probe.facts.path, causes, fix)


def _drive_checks(subject: Subject, probes: Sequence[joints.Probe], has_time: Callable[[], bool]) -> Iterator[Check]:
    """Whether the drive of each joint can move it at all, by its own numbers."""
    failed, tried, untried = False, False, 0
    for probe in probes:
        drive: Any = probe.facts.prim.schemas.get(f"PhysicsDriveAPI:{probe.dof}")
        if drive is None or not drive.resolved("stiffness") > 0.0:
            continue
        if untried or not has_time():
            untried += 1
            continue
        terms = answers.terms_of(probe, joints.bench(subject, [probe], "step"), "step")
        if not terms.low <= (drive.resolved("target_position") or 0.0) <= terms.high:
            continue  # a spring that presses against a limit, which is told of the asset
        tried = True
        if abs(terms.target - probe.start) < 1e-6 or answers.arrives(probe, terms):
            continue
        failed = True
        words = answers.blocking(probe, terms)
        if not words and answers.passes(probe, terms):
            yield _swinging_check(subject, probe)
            continue
        said = joints.said_at(probe.facts.prim, words or "stiffness of the drive")
        causes = (opinions.cause_alone(subject.model, Opinion(probe.facts.path, *said)),) if said else ()
        joint, patience = probe.facts.prim.display, answers.PATIENCE
        if words and answers.arrives(probe, terms, _MOST_OF_IT):
            left = measure(answers.left_of(probe, terms), probe.axis)
            message = f"The drive of {joint} stays {left} from its target after {patience:g} s, because of the {words}."
            fix = "Give it more stiffness, or accept it."
            if words == "largest force":
                fix = "Give it a larger force or more damping, or accept it."
            yield Check("joints", "drive moves", "doubtful", message, probe.facts.path, causes, fix)
            continue
        if words:
            message = (
                f"The drive of {joint} does not move its body to a target within {patience:g} s, because of the "
                f"{words}."
            )
        else:
            message = (
                f"The drive of {joint} does not move its body to a target within {patience:g} s, even without gravity."
            )
        yield Check("joints", "drive moves", "fail", message, probe.facts.path, causes, "Correct the attribute.")
    if untried:
        drives = counted(untried, "drive")
        yield Check(
            "joints", "drive moves", "skipped", f"There was no time to see whether {drives} can move the joint."
        )
    elif tried and not failed:
        yield Check("joints", "drive moves", "pass", "Every drive can move its joint.")
