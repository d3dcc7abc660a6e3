# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole certificate of an asset, within a budget of seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..core import paths
from ..core.errors import UsdPhysError
from ..core.model import PhysicsModel
from ..core.rules.base import Issue
from ..core.units import StageUnits
from ..core.validate import validate
from ..simulation.engine import AUTOMATIC, ENGINES, PREVIEW, solvers
from ..simulation.engine import programs as that_read_files
from . import (
    answers,
    at_start,
    expectations,
    joint_checks,
    missing,
    opinions,
    other_engines,
    plain,
    programs,
    readings,
    rewrites,
    statements,
    trips,
)
from .budget import Budget, OutOfTimeError, ending_with
from .certificate import Certificate, Check, digest_of
from .expectations import Expectation
from .experiments import Experiment
from .opinions import Cause, Opinion
from .reasons import Runner
from .rewrites import Rewrite
from .runs import GLIMPSE, Motion, Start, Subject, simulated, subject_of, with_floor, with_kept_meshes
from .trips import Trip

#: How the seconds are shared among the sections that are asked for, in the order in which they are tried. What is asked
#: for by name comes first.
SHARES = {"asset": 0.35, "expectations": 0.05, "words": 0.05, "rewrites": 0.2, "joints": 0.15, "engines": 0.2}
SHARES_AGAINST = {
    "against": 0.5, "asset": 0.15, "expectations": 0.03, "words": 0.02, "rewrites": 0.1, "joints": 0.1, "engines": 0.1
}  # fmt: skip
#: Seconds that comparisons simulate.
SECONDS = 2.0
#: Part of the seconds that is used when the last section ends: what has begun takes longer.
_LAST = 0.95
#: Runs for which the budget is to have room where motions are compared.
_RUNS = 10
#: What a certificate is made of.
SECTIONS = frozenset(SHARES_AGAINST)
#: Name of the check that lists the engines that are not here.
ABSENT = "absent"
#: Units that an asset is said in.
UNITS = (StageUnits(0.01, 1.0, "Y"), StageUnits(1.0, 0.001, "Z"))


@dataclass(slots=True)
class Wish:
    """What is to be proven. stage: opened stage of the file, or None. pythons, or folders, of other engines by their
    key. is_posed: False where the asset has no pose that it starts in. keyframes: names of those that its file has.
    against: another model of the same asset, with words for it. unread: what differs there and is in neither model.
    trips: see `trips.trip_checks`. sections: of SECTIONS; what is not asked for is not tried. issues: of reading the
    file. used: of the budget, s, that this took.
    """

    file: str
    model: PhysicsModel
    stage: Any = None
    budget: float = 120.0
    seconds: float = SECONDS
    pythons: Mapping[str, str] = field(default_factory=dict)
    expected: Sequence[Expectation] = ()
    is_posed: bool = True
    keyframes: Sequence[str] = ()
    against: PhysicsModel | None = None
    against_words: str = ""
    unread: Sequence[Cause] = ()
    trips: Mapping[str, Trip | str] = field(default_factory=dict)
    sections: frozenset[str] = SECTIONS
    issues: Sequence[Issue] = ()
    used: float = 0.0


@dataclass(slots=True)
class Proof:
    """The certificate, and what a report shows of it. motions: of the engines, by their key. outcomes: of joints."""

    certificate: Certificate
    subject: Subject
    motions: dict[str, Motion]
    outcomes: list[answers.Outcome]


def prove(wish: Wish) -> Proof:
    """All checks of an asset. What does not fit into the budget is a check that was skipped."""
    budget = Budget(wish.budget, wish.used)
    against = wish.against and with_kept_meshes(wish.against)
    wish = replace(wish, model=with_kept_meshes(wish.model), against=against)
    subject = subject_of(wish.model)
    proof = Proof(Certificate(wish.file, physics=digest_of(wish.model)), subject, {}, [])
    add, wanted, shares = proof.certificate.checks.extend, wish.sections, _shares(wish)
    with np.errstate(all="ignore"), ending_with(budget), ExitStack() as stack:
        start = Start(with_floor(subject))
        trials = joint_checks.Trials(subject)
        begun = {key: stack.enter_context(one) for key, one in _begun(wish, start.model, trials, budget)}
        whole = _Whole(wish, start, budget) if subject.parts and wanted & {"rewrites", "engines", "against"} else None
        # What is asked for by name is tried first, and listed in its place.
        compared_with = list(_in_time("against", _against_checks(whole))) if whole is not None else []
        add(_still_checks(wish))
        if "asset" in wanted:
            beside = [key for key in _stepped_here(wish) if key in solvers() and key != PREVIEW]
            share, pose = shares["asset"], at_start.Pose(wish.is_posed, tuple(wish.keyframes))
            alone = plain.checks_of(start, subject, budget, share, pose=pose, others=beside)
            add(_in_time("asset", alone))
            add(missing.checks_of(wish.stage, wish.issues))
            add(_unit_checks(wish))
            add(_unheard_checks(wish))
        if "expectations" in wanted:
            demands = expectations.checks_of(subject, wish.expected, budget, shares["expectations"])
            add(_in_time("expectations", demands))
        if "words" in wanted:
            add(_in_time("words", readings.reading_checks(wish.model, budget, shares["words"])))
        place = len(proof.certificate.checks)
        add(compared_with)
        if whole is not None:
            add(_in_time("rewrites" if "rewrites" in wanted else "engines", _rewrites_first(whole, proof)))
        if "joints" in wanted:
            keys = [*_stepped_here(wish), *(key for key in wish.pythons if key in that_read_files())]
            tried_in = joint_checks.Benches(keys, wish.pythons, begun, budget, shares["joints"])
            # Tried later than they are listed.
            proof.certificate.checks[place:place] = list(
                _in_time("joints", joint_checks.checks_of(trials, tried_in, proof.outcomes))
            )  # fmt: skip
        if whole is not None:
            add(_in_time("engines", _in_engines(whole, proof, begun)))
        if "engines" in wanted:
            add(_absent_checks(wish))
    proof.certificate.seconds = budget.used
    return proof


def _in_time(section: str, checks: Iterable[Check]) -> Iterator[Check]:
    """The checks of a section until the seconds are used up in the middle of a run."""
    try:
        yield from checks
    except OutOfTimeError:
        message = "The seconds were used up in the middle of it: what this section does not list was not tried."
        yield Check(section, "time", "skipped", message)


def _shares(wish: Wish) -> dict[str, float]:
    """The part of the seconds that is used when a section ends, at the latest. What is not asked for takes none."""
    parts = {
        name: part if name in wish.sections else 0.0
        for name, part in (SHARES if wish.against is None else SHARES_AGAINST).items()
    }
    whole = sum(parts.values()) or 1.0
    return dict(zip(parts, (_LAST / whole * np.cumsum(list(parts.values()))).tolist(), strict=True))


def _still_checks(wish: Wish) -> Iterator[Check]:
    """What is animated, or deforms, is not what these experiments are about."""
    moved = [key.path for key in wish.model.animated]
    if wish.stage is not None:
        from ..usd import time_samples

        moved += time_samples.animated(wish.stage, tuple(wish.model.prims))
    if moved:
        message = f"What is animated stands still in all experiments, such as {moved[0]}."
        yield Check("asset", "animation", "skipped", message, moved[0])
    soft = wish.model.deformables()[0] if wish.model.deformables is not None else []
    if soft:
        yield Check(
            "asset", "deformables", "skipped", f"Deformables are left out, such as {soft[0].path}.", soft[0].path
        )


def _unit_checks(wish: Wish) -> Iterator[Check]:
    """Layers of the stage whose units or up axis are others, where there is physics in them."""
    if wish.stage is None:
        return
    from ..usd import layer_units

    found = [
        one for one in layer_units.other_units(wish.stage)
        if any(paths.is_at_or_below(path, one.path) for path, prim in wish.model.prims.items() if prim.schemas)
    ]  # fmt: skip
    for one in found:
        cause = Cause(one.path, one.attribute, one.said, hint=opinions.hint_of(one.said, one.around))
        yield Check("asset", "units", "doubtful", one.message, one.path, (cause,), one.fix)
    if not found:
        yield Check("asset", "units", "pass", "All layers have the units and the up axis of the stage.")


def _unheard_checks(wish: Wish) -> Iterator[Check]:
    """What the file says of physics without an effect, as below an instance."""
    if wish.stage is None:
        return
    from ..usd import unheard

    groups: dict[str, list[unheard.Unheard]] = {}
    for one in unheard.unheard(wish.stage):
        groups.setdefault(one.message, []).append(one)
    for group in groups.values():
        causes = tuple(Cause(one.path, one.attribute, one.said) for one in group[: opinions.MOST_CAUSES])
        yield Check("asset", "unheard", "doubtful", group[0].message, group[0].path, causes, group[0].fix)
    misnamed = list(_misnamed_checks(wish))
    yield from misnamed
    if not groups and not misnamed:
        yield Check("asset", "unheard", "pass", "All that the file says of physics counts.")


#: Codes of the rules about names and tokens that nobody knows, and what the names of UsdPhysics begin with.
_NAME_RULES, _OF_PHYSICS = ("NameMisspelt", "SchemaMissing", "TokenUnknown"), ("physics:", "drive:", "limit:")


def _misnamed_checks(wish: Wish) -> Iterator[Check]:
    """Values of UsdPhysics that nobody reads, because of their name, their token or the type of the prim: one check for
    each prim. Those that are nothing are left out."""
    from ..usd import unheard

    by_path: dict[str, list[tuple[str, Issue]]] = {}
    with np.errstate(all="ignore"):
        found = validate(wish.model, codes=_NAME_RULES)
    for issue in found:
        name = issue.message.partition(" of ")[0]
        if name.startswith(_OF_PHYSICS) and issue.path and unheard.says(wish.stage, issue.path, name):
            by_path.setdefault(issue.path, []).append((name, issue))
    for path, issues in by_path.items():
        names, (_, first) = [name for name, _ in issues], issues[0]
        causes = tuple(Cause(path, name) for name in dict.fromkeys(names))[: opinions.MOST_CAUSES]
        yield Check("asset", "unheard", "doubtful", first.message, path, causes, first.fix)


class _Whole:
    """The motion of the whole asset, on a floor, that others are compared with."""

    def __init__(self, wish: Wish, start: Start, budget: Budget) -> None:
        self.wish, self.start, self.budget, self.shares = wish, start, budget, _shares(wish)
        asked = [name for name in ("against", "rewrites", "engines") if name in wish.sections]
        self.asked = [name for name in asked if name != "against" or wish.against is not None]
        self.most = max((self.shares[name] for name in self.asked), default=0.0)

    @cached_property
    def starts(self) -> list[Check]:
        """What is wrong before anything moves."""
        subject, pose = subject_of(self.wish.model), at_start.Pose(self.wish.is_posed, tuple(self.wish.keyframes))
        return list(at_start.checks_of(subject, pose))

    @cached_property
    def experiment(self) -> Experiment:
        """Made when it is first asked for."""
        first = self.asked[0]

        def fitting(glimpse: Motion) -> float:
            build, steps = glimpse.took
            left = (self.shares[first] * self.budget.seconds - self.budget.used) / _RUNS - build
            return self.wish.seconds if steps * self.wish.seconds <= left * GLIMPSE else left * GLIMPSE / steps

        has_time = partial(self.budget.has, self.most)
        return Experiment(self.start.model, self.wish.seconds, has_time=has_time, fitting=fitting, start=self.start)

    def shortened(self) -> Iterator[Check]:
        """That there was time for a part of the motion only."""
        if self.experiment.seconds < self.wish.seconds:
            fits = self.experiment.seconds
            message = f"There was time for {fits:.2g} s of motion: what shows later is not compared."
            yield Check(self.asked[0], "motion", "skipped", message)


def _against_checks(whole: _Whole) -> Iterator[Check]:
    wish = whole.wish
    if "against" in whole.asked and wish.against is not None:
        yield from whole.shortened()
        said = opinions.Statements(wish.model, wish.against, wish.against_words, "against", wish.against_words)
        yield from statements.statement_checks(said, whole.experiment, whole.budget, whole.shares["against"])
        if wish.unread:
            first, count = wish.unread[0], len(wish.unread)
            attribute, path, words = first.attribute, first.path, wish.against_words
            message = f"{attribute} of {path} differs {words}, and is not simulated here."
            if count > 1:
                message += " " + f"{count} values in all are so."
            fix = "Correct it, or compare the two in MuJoCo."
            yield Check(
                "against",
                wish.against_words,
                "doubtful",
                message,
                causes=tuple(wish.unread[: opinions.MOST_CAUSES]),
                fix=fix,
            )


def _rewrites_first(whole: _Whole, proof: Proof) -> Iterator[Check]:
    """What the asset does when it is said otherwise. Without time for that, or for engines, that there is none."""
    budget, shares = whole.budget, whole.shares
    if not whole.asked:
        return
    experiment = whole.experiment
    proof.motions[PREVIEW] = experiment.motion
    asked = [name for name in whole.asked if name != "against"]
    if asked and not experiment.is_measured():
        yield from (Check(one, "motion", "skipped", f"There was no time for the section {one}.") for one in asked)
        return
    if "against" not in whole.asked:
        yield from whole.shortened()
    if "rewrites" in asked:
        wish = replace(whole.wish, seconds=experiment.seconds)
        yield from _rewrite_checks(wish, experiment, _starts(whole, proof), budget, shares["rewrites"])
        yield from trips.trip_checks(wish.model, wish.trips, experiment, budget, shares["rewrites"])


def _in_engines(whole: _Whole, proof: Proof, begun: Mapping[str, programs.Begun]) -> Iterator[Check]:
    """What the engines do, as far as there was time to measure how sensitive the asset is."""
    if "engines" not in whole.asked or not whole.experiment.is_measured():
        return
    experiment, budget, share = whole.experiment, whole.budget, whole.shares["engines"]
    wish = replace(whole.wish, seconds=experiment.seconds)
    others = _engines(wish, experiment.model, begun, budget, share)
    found = other_engines.engine_checks(
        wish.model, experiment, others, _starts(whole, proof), budget, share, begun.keys()
    )
    for check, key, motion in found:
        yield check
        if motion is not None:
            proof.motions[key] = motion


def _starts(whole: _Whole, proof: Proof) -> list[Check]:
    """The checks that say what is pushed in the first moment, also where nobody asks for the section with them."""
    told = proof.certificate.checks if "asset" in whole.wish.sections else whole.starts
    return [check for check in told if at_start.is_of_the_start(check)]


def _rewrite_checks(
    wish: Wish, experiment: Experiment, starts: Sequence[Check], budget: Budget, share: float
) -> Iterator[Check]:
    model = experiment.model
    ways: list[tuple[str, Callable[[], Rewrite]]] = [
        (rewrite.name, partial(_same, rewrite)) for rewrite in rewrites.rewrites_of(model)
    ]
    if wish.stage is not None:
        ways += [(f"units {number}", partial(_in_units, wish, units, number)) for number, units in enumerate(UNITS, 1)]
    for name, make in ways:
        if not budget.has(share):
            yield Check("rewrites", name, "skipped", "There was no time for this rewrite.")
            continue
        try:
            yield rewrites.rewrite_check(experiment, model, make(), starts)
        except UsdPhysError as error:
            yield Check("rewrites", name, "skipped", f"It cannot be said so: {error}")
    if wish.stage is None:
        yield Check("rewrites", "units", "skipped", "Other units are tried with USD files only.")


def _same(rewrite: Rewrite) -> Rewrite:
    return rewrite


def _in_units(wish: Wish, units: StageUnits, number: int) -> Rewrite:
    from ..usd import read, restated

    own = wish.stage
    stage = restated.in_units(own, units)
    model = with_kept_meshes(read.read_stage(stage))
    words = f"in units of {units.meters_per_unit:g} m and {units.kilograms_per_unit:g} kg with {units.up_axis} up"
    return Rewrite(f"units {number}", words, with_floor(subject_of(model)))


# --------------------------------------------------------------------------- engines


def _begun(
    wish: Wish, floored: PhysicsModel, trials: joint_checks.Trials, budget: Budget
) -> Iterator[tuple[str, programs.Begun]]:  # fmt: skip
    """The engines of other Pythons, which begin with all that they are asked: the start of one takes seconds."""
    stage = wish.stage if "engines" in wish.sections and trials.subject.parts else None
    for key in that_read_files().keys() & wish.pythons.keys():
        benches: Mapping[str, PhysicsModel] = {}
        if "joints" in wish.sections:
            benches = joint_checks.hurried(trials.subject, trials.chosen, trials.benches, key)
        if stage is not None or benches:
            yield key, programs.Begun(
                key, wish.pythons[key], budget, stage=stage, floored=floored, seconds=wish.seconds, benches=benches
            )  # fmt: skip


def _engines(
    wish: Wish, floored: PhysicsModel, begun: Mapping[str, programs.Begun], budget: Budget, share: float
) -> dict[str, Runner]:  # fmt: skip
    """What runs the asset in each engine that is here, beside the preview."""

    def stepped(key: str, chosen: Sequence[Opinion], rate: int = 1) -> Motion:
        return simulated(opinions.removed(floored, chosen), wish.seconds, engine=key, rate=rate)

    def in_program(key: str, chosen: Sequence[Opinion], rate: int = 1) -> Motion:
        if not chosen and rate == 1 and key in begun:
            return begun[key].asset(wish.seconds, share)
        return programs.run_asset(
            wish.stage, floored, key, wish.pythons[key], wish.seconds, budget, share, chosen, rate
        )  # fmt: skip

    found: dict[str, Runner] = {key: partial(stepped, key) for key in _stepped_here(wish) if key != PREVIEW}
    readers = that_read_files().keys() & wish.pythons.keys() if wish.stage is not None else ()
    return found | {key: partial(in_program, key) for key in wish.pythons if key in readers}


def _stepped_here(wish: Wish) -> list[str]:
    """The engines that take steps from here: those of this process, and those that read no files. The automatic choice
    is one of the others."""
    own = [key for key, row in solvers().items() if key != AUTOMATIC and row.is_here()]
    return [*own, *(key for key in wish.pythons if key not in that_read_files())]


def _absent_checks(wish: Wish) -> Iterator[Check]:
    """The engines that are not here."""
    here = {AUTOMATIC, *_stepped_here(wish), *wish.pythons}
    absent = {key: row for key, row in ENGINES.items() if key not in here}
    if absent:
        names = ", ".join(row.name for row in absent.values())
        yield Check(
            "engines", ABSENT, "skipped", f"Nothing is said of engines that are not here: {names}.", fix="Name their "
            "Python, or the folder of Havok, in the preferences, under Other Simulators (--engine-python).",
        )  # fmt: skip
