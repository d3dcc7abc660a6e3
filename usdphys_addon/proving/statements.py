# SPDX-License-Identifier: GPL-3.0-or-later
"""Two models of the same asset: where their motions part, attributes are swapped until they do not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ..core import frames
from ..core.joint_settings import following, gearing_of
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from . import joints as bench
from . import opinions
from .budget import Budget, OutOfTimeError
from .certificate import Check
from .experiments import Experiment, Parting
from .joint_statements import joint_partings
from .opinions import MOST_CAUSES, Cause, Opinion, Statements, narrowed
from .partings import data_of, sentence_of
from .runs import FLOOR, GLIMPSE, simulated, subject_of, with_floor
from .unit_causes import UP_AXIS, unit_causes, whole_cause

#: Share of the way of a body by which its motion may differ.
SLACK = 0.01


def statement_checks(
    said: Statements, experiment: Experiment, budget: Budget, share: float, *, slack: float = SLACK
) -> Iterator[Check]:
    """Where the motions of two models part: of their joints, one by one, and of the whole; with the attributes.

    experiment: of the first one. share: of the budget that may be used by then.
    """
    candidates = opinions.differences(said.one, said.other)
    if not candidates:
        yield Check(said.section, said.name, "pass", f"Nothing differs {said.words}.")
        return
    if causes := unit_causes(said.one, said.other):
        message = f"All places and masses have the same numbers {said.words}, and the stage has other units."
        fix = "Correct what the stage says of its units; nothing else was compared."
        yield Check(said.section, said.name, "fail", message, causes=causes, fix=fix)
        return
    if cause := whole_cause(said.one, said.other):
        what = "turned" if cause.attribute == UP_AXIS else "larger or smaller"
        message = f"All of it is {what} as one {said.words}, as where a layer or a reference has other units."
        fix = "Convert what is referenced, or put a transform above it; nothing else was compared."
        yield Check(said.section, said.name, "fail", message, cause.path, causes=(cause,), fix=fix)
        return
    missing = [one for one in candidates if one.field == opinions.PRIM and _is_part(said, one)]
    for opinion in missing:
        prim = said.one.prims.get(opinion.path) or said.other.prims[opinion.path]
        has = "is missing" if opinion.path in said.one.prims else "is added"
        cause = opinions.cause_between(said.one, said.other, opinion)
        yield Check(said.section, said.name, "fail", f"{prim.display} {has} {said.words}.", prim.path, (cause,))
    floor = with_floor(subject_of(said.other)).prims.get(FLOOR)
    if (floor is None) != (FLOOR not in experiment.model.prims):
        # Both stand on the floor of the second one, or on none.
        experiment = Experiment(on(said.one, floor), experiment.seconds, has_time=partial(budget.has, share))
    known: list[Opinion] = list(missing)
    failed, told = bool(missing), set()
    is_cut = is_open = False
    try:
        for parted in partings_of(said, Known(candidates, known), experiment, floor, budget, share, slack=slack):
            failed = True
            is_open |= not parted.causes
            told |= {(cause.path, cause.attribute) for cause in parted.causes}
            yield parted
    except OutOfTimeError:
        is_cut = True
    others = [opinions.cause_between(said.one, said.other, one) for one in candidates if one not in missing]
    others = [one for one in others if (one.path, one.attribute) not in told]
    # What a material says has its effect by the binding that is told.
    name = opinions.NAMES[opinions.MATERIAL]
    bound = {
        material for path, attribute in told if attribute == name for model in (said.one, said.other)
        if path in model.prims for material in model.prims[path].materials
    }  # fmt: skip
    others = [one for one in others if one.path not in bound]
    if is_cut or not budget.has(share):
        if not failed:
            yield Check(said.section, said.name, "skipped", f"There was no time to compare it {said.words}.")
        yield from _differing(said, others, is_tried=False)
        return
    if is_open:
        yield from _differing(said, others, is_tried=True, is_open=True)
        return
    if not failed:
        yield Check(said.section, said.name, "pass", f"It moves alike {said.words}{experiment.chaos}.")
    yield from _differing(said, others, is_tried=True)


def _differing(said: Statements, others: Sequence[Cause], *, is_tried: bool, is_open: bool = False) -> Iterator[Check]:
    """What differs beside the causes. is_tried: whether there was time to see what it does. is_open: whether it may be
    why something moves in another way, for which no cause was found."""
    if others:
        listed = ", ".join(f"{one.attribute} of {one.path}" for one in others[:3])
        if len(others) > 3:
            listed = f"{listed}, and {len(others) - 3} more"
        message = f"Without effect on these experiments, these differ {said.words}: {listed}."
        if not is_tried:
            message = f"These differ {said.words}, and there was no time to see what they do: {listed}."
        if is_open:
            message = f"These differ {said.words}, and may be why together: {listed}."
        yield Check(said.section, said.name, "doubtful", message, others[0].path, tuple(others[:MOST_CAUSES]))


class Known(NamedTuple):
    """All opinions that differ between two models, and those of them that are told already."""

    candidates: Sequence[Opinion]
    told: Sequence[Opinion] = ()


def partings_of(
    said: Statements, differing: Known, experiment: Experiment, floor: Prim | None, budget: Budget, share: float, *,
    slack: float = SLACK,
) -> Iterator[Check]:  # fmt: skip
    """Where joints on the bench, and then bodies of the whole, move in another way; each with its causes.

    floor: that both stand on. Bodies that the experiment does not have are not compared.
    """
    known = list(differing.told)
    found_any = False
    current = opinions.swapped(said.one, said.other, known)
    rest = [one for one in differing.candidates if one not in known]
    for parted, causes in joint_partings(said, current, rest, budget, share):
        known += causes
        found_any = True
        yield parted
    # Most causes show in the first moment, which takes little time.
    for part in ([experiment.glimpse()] if experiment.seconds >= 2.0 * GLIMPSE else []) + [experiment]:
        for _ in range(MOST_CAUSES):
            rest = [one for one in differing.candidates if one not in known]
            if not rest or not budget.has(share):
                break
            current = opinions.swapped(said.one, said.other, known)
            check, found = whole_parting(said, current, rest, part, floor, partial(budget.has, share), slack)
            if check is None or (not found and part is not experiment):
                break
            found_any = True
            yield check
            if not found:
                break
            known += found
    if found_any or differing.told:
        return
    ways: list[tuple[str, Callable[[PhysicsModel], PhysicsModel]]] = []
    if said.one.scenes and said.other.scenes:
        # What is balanced, and what lies, moves where gravity leans.
        ways.append((f"{said.words}, where gravity leans", leaned))
    if leaders := _leaders(said.one) | _leaders(said.other):
        # What follows a joint that rests, rests.
        ways.append((f"{said.words}, where joints are driven that others follow", partial(led, leaders=leaders)))
    for words, changed in ways:
        if not budget.has(share):
            return
        one, other = changed(said.one), changed(said.other)
        moved = Statements(one, other, words, said.section, said.name)
        apart = Experiment(on(one, floor), experiment.seconds).only(experiment.motion.paths)
        if apart.motion.problem:
            continue
        time = partial(budget.has, share)
        check, _ = whole_parting(moved, one, differing.candidates, apart, floor, time, slack)
        if check is not None:
            yield check
            return


def _leaders(model: PhysicsModel) -> set[str]:
    """Paths of the joints that others follow, and of the first ones of gears."""
    found = {one.leader for prim in model.joints.values() if (one := following(prim)) is not None}
    return found | {gearing.joints[0] for prim in model.prims.values() if (gearing := gearing_of(prim)) is not None}


def led(model: PhysicsModel, leaders: Collection[str]) -> PhysicsModel:
    """A copy in which drives move these joints by a step."""
    result = model.copied()
    for probe in bench.probes_of(subject_of(model))[0]:
        if probe.facts.path in leaders:
            target = probe.start + bench.step_of(probe)
            drive = usd_physics.DriveAPI(type="acceleration", stiffness=100.0, damping=20.0, target_position=target)
            result.prims[probe.facts.path].add(drive, probe.dof)
    return result


def leaned(model: PhysicsModel) -> PhysicsModel:
    """A copy in whose scenes gravity leans."""
    result = model.copied()
    for path, gravity in subject_of(model).layout.gravity.items():
        scene = model.prims.get(path)
        value = scene.get(usd_physics.PhysicsScene) if scene is not None else None
        size = float(np.linalg.norm(gravity))
        if value is not None and size:
            name = next(key for key, one in model.prims[path].schemas.items() if one is value)
            direction = frames.vector(bench.LEAN @ gravity / size)
            result.prims[path].schemas[name] = value.copy(gravity_direction=direction, gravity_magnitude=size)
    return result


def _is_part(said: Statements, opinion: Opinion) -> bool:
    """True for a body, collider or joint that one of the models has alone."""
    prim = said.one.prims.get(opinion.path) or said.other.prims[opinion.path]
    kinds = (usd_physics.RigidBodyAPI, usd_physics.CollisionAPI, usd_physics.Joint)
    return not opinion.schema and any(prim.get(kind) is not None for kind in kinds)


def on(model: PhysicsModel, floor: Prim | None) -> PhysicsModel:
    """A copy of a model on a floor."""
    result = model.copied()
    if floor is not None:
        result.add(floor)
    return result


def whole_parting(
    said: Statements, current: PhysicsModel, candidates: Sequence[Opinion], experiment: Experiment, floor: Prim | None,
    has_time: Callable[[], bool], slack: float,
) -> tuple[Check | None, list[Opinion]]:  # fmt: skip
    """The first body that moves in another way, and the opinions that are the cause; None where all move alike."""
    target = simulated(on(said.other, floor), experiment.seconds)
    if target.problem:
        return Check(said.section, said.name, "fail", f"It cannot be simulated {said.words}: {target.problem}"), []

    back = Experiment(on(said.other, floor), experiment.seconds, has_time=has_time)
    back.motion = target
    back = back.only(experiment.motion.paths)

    def partings(model: PhysicsModel) -> list[Parting]:
        motion = simulated(on(model, floor), experiment.seconds)
        if motion.problem:
            return [Parting("", 0.0, np.inf, 0.0, np.inf)]
        reference = experiment.like(motion)
        found = reference.parting(target, slack)
        if found or reference.moves_alike(target, slack):
            return found
        # What one of them does is chaos, and what the other one does may be none.
        return back.parting(motion, slack)

    found = partings(current)
    if not found or experiment.is_cut or back.is_cut:
        return None, []

    def heals(chosen: Sequence[Opinion]) -> bool:
        return not partings(opinions.swapped(current, said.other, chosen))

    causes, late = narrowed(opinions.smallest(candidates, heals, has_time), has_time)
    if not causes and has_time():
        # Several causes hide each other: the ones that bring the first parting later.
        first = found[0]
        causes = _latest(candidates, lambda chosen: partings(opinions.swapped(current, said.other, chosen)), first)
    words = tuple(opinions.cause_between(said.one, said.other, one) for one in causes)
    message = (
        sentence_of(found[0], on(said.one, floor), experiment.motion, said.words)
        if found[0].body
        else "It cannot be run."
    )
    if late:
        message = f"{message} {late}"
    return Check(said.section, said.name, "fail", message, found[0].body, words, "", data_of(found)), causes


def _latest(
    candidates: Sequence[Opinion], partings: Callable[[Sequence[Opinion]], list[Parting]], first: Parting
) -> list[Opinion]:
    """The one opinion with which the parting comes latest, or is least."""
    best, score = [], first.times * 0.5
    for opinion in candidates[:20]:
        found = partings([opinion])
        worst = max((one.times for one in found), default=0.0)
        if worst < score:
            best, score = [opinion], worst
    return best
