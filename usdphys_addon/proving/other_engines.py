# SPDX-License-Identifier: GPL-3.0-or-later
"""The asset in other engines beside the preview: where one moves it otherwise, the reason is sought."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from ..core.model import PhysicsModel
from ..simulation.engine import ENGINES, Habit, Program
from . import habits, reasons
from .budget import Budget, OutOfTimeError
from .certificate import Check
from .experiments import Experiment
from .partings import data_of, sentence_of
from .plain import NO_TIME
from .reasons import SLACK, Reason, Runner
from .runs import Motion


def engine_checks(
    model: PhysicsModel, experiment: Experiment, others: Mapping[str, Runner], starts: Sequence[Check], budget: Budget,
    share: float, at_work: Collection[str] = (),
) -> Iterator[tuple[Check, str, Motion | None]]:  # fmt: skip
    """The asset in other engines beside the preview. others: by the key of the engine. starts: checks that say what is
    pushed in the first moment. at_work: engines that have begun, which may be asked when the seconds are used up, too.

    Yields each check with the engine and its motion.
    """
    if experiment.motion.problem:
        return
    # What each does comes before the reasons, whose search takes the time that is left.
    motions = {key: _begun(run) if key in at_work or budget.has(share) else None for key, run in others.items()}
    founds = {
        key: [
            one for one in experiment.parting(motion, SLACK, more=experiment.coarse)
            if one.body in experiment.motion.paths
        ]
        for key, motion in motions.items() if motion is not None and not motion.problem
    }  # fmt: skip
    alike = [ENGINES[key].name for key, found in founds.items() if not found]
    for key, run in others.items():
        name, other = ENGINES[key].name, motions[key]
        if other is None:
            yield Check("engines", key, "skipped", f"There was no time for {name}."), key, None
            continue
        if other.problem:
            yield Check("engines", key, "skipped", f"{name}: {other.problem}"), key, None
            continue
        found = founds[key]
        if not found:
            told = f"The preview and {name} move it alike{experiment.chaos}."
            yield Check("engines", key, "pass", told), key, other
            continue
        # Each try runs it once more, and the preview.
        has_time = partial(budget.has, share, sum(other.took) + sum(experiment.motion.took))
        try:
            reason = reasons.reason_of(reasons.Parted(key, run, other, found, experiment, starts, has_time))
        except OutOfTimeError:
            reason = Reason((), NO_TIME)
        message = f"{sentence_of(found[0], experiment.model, experiment.motion, f'in {name}')} {reason.words}".rstrip()
        row = ENGINES[key]
        is_edged = isinstance(row, Program) and Habit.EDGED in row.habits
        if is_edged and (wheel := habits.rolling(model, found, experiment)):
            body = model.prims[wheel].display
            message += " " + f"Cylinders roll in {name} on edges, which slow them, such as {body}."
        lost = [notice.message for notice in other.notices if notice.code == "EngineLimits"]
        if lost and not reason.fix:
            message += f" {lost[0]}"
        fix = reason.fix
        if not fix and not reason.causes and alike:
            names = " and ".join(alike)
            fix = f"Trust the preview and {names} here: they move it alike."
        check = Check("engines", key, "differs", message, found[0].body, reason.causes, fix, data_of(found))
        yield check, key, other


def _begun(run: Runner) -> Motion | None:
    """What an engine does with the asset; None where the seconds are used up before it ends."""
    try:
        return run(())
    except OutOfTimeError:
        return None
