# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of an asset for several simulators: they are to say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..core import runtimes
from ..core.joint_settings import OLD_SCHEMAS
from ..core.model import PhysicsModel, Prim
from ..core.schema import attribute_of, split_applied
from ..core.schemas import usd_physics
from . import joints as bench
from . import opinions
from .budget import Budget
from .certificate import Check
from .opinions import Cause, Opinion
from .runs import simulated, subject_of


def readings_of(model: PhysicsModel) -> dict[str, PhysicsModel]:
    """The model as each simulator reads it that it has words for: its own words, and the others' where it has none."""
    spoken = {
        runtime for prim in model.prims.values() for name, value in prim.schemas.items()
        if (runtime := runtimes.runtime_of(name)) and any(True for _ in value.authored())
    }  # fmt: skip
    return {runtime: _read_by(model, runtime) for runtime in runtimes.FILES if runtime in spoken}


def _read_by(model: PhysicsModel, runtime: str) -> PhysicsModel:
    result = model.copied()
    for path, prim in model.prims.items():
        made = runtimes.translated(model, prim, runtime)
        own = {
            name: value for name, value in prim.schemas.items()
            if runtimes.runtime_of(name) in ("", runtime)
        }  # fmt: skip
        for name, value in made.items():
            held = own.get(name)
            if held is None:
                own[name] = value
                continue
            extra = {
                attribute.field: content for attribute, content in value.authored()
                if getattr(held, attribute.field) is None
            }  # fmt: skip
            own[name] = held.copy(**extra)
        result.prims[path].schemas = own
    return result


class Contradiction(NamedTuple):
    """Two words of a prim, for two simulators, that say different things. values: as text, in the unit of the first."""

    path: str
    simulators: tuple[str, str]
    words: tuple[str, str]
    values: tuple[str, str]


def reading_checks(model: PhysicsModel, budget: Budget, share: float) -> Iterator[Check]:
    """Whether the words of different simulators in one asset say the same."""
    found = readings_of(model)
    if len(found) < 2:
        yield Check("words", "agree", "pass", "The asset has the words of one simulator at most.")
        return
    names = list(found)
    told = [one for number, name in enumerate(names) for other in names[number + 1 :]
            for one in _twins(model, name, other)]  # fmt: skip
    for group in _groups(told):
        if not budget.has(share):
            yield Check("words", "agree", "skipped", "There was no time to compare all words.")
            return
        yield _contradiction_check(model, found, group)
    if not told:
        yield Check("words", "agree", "pass", f"The words for {', '.join(names)} say the same.")


def _groups(told: Sequence[Contradiction]) -> list[list[Contradiction]]:
    """Contradictions that have a word in common, together."""
    groups: list[list[Contradiction]] = []
    for one in told:
        near = [
            group for group in groups
            if any(other.path == one.path and set(other.words) & set(one.words) for other in group)
        ]  # fmt: skip
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), one])
    return groups


def _contradiction_check(
    model: PhysicsModel, found: Mapping[str, PhysicsModel], group: Sequence[Contradiction]
) -> Check:
    """What two simulators are told. Where one word stands against two that agree, it is the cause."""
    counts = Counter(word for one in group for word in one.words)
    most = max(counts.values())
    causes = {}
    for one in group:
        for word, own, other in ((one.words[0], *one.values), (one.words[1], *one.values[::-1])):
            if counts[word] == most:
                causes[word] = Cause(one.path, word, own, other, opinions.hint_of(own, other))
    first = group[0]
    where = _motion_of_words(model, found, *first.simulators, first.path)
    display, (simulator, other) = model.prims[first.path].display, first.simulators
    message = f"{display} says one thing for {simulator} and another for {other}."
    if where:
        what, apart = where
        message = (
            f"{display} says one thing for {simulator} and another for {other}: in its {what} they are {apart} apart."
        )
    return Check(
        "words", "agree", "fail", message, first.path, tuple(causes.values()),
        "Say the same for all, or remove what is wrong.",
    )  # fmt: skip


def _twins(model: PhysicsModel, one: str, other: str) -> Iterator[Contradiction]:
    """Words for two simulators about the same thing whose values differ."""
    for path, prim in model.prims.items():
        only = replace(
            prim, schemas={name: value for name, value in prim.schemas.items() if runtimes.runtime_of(name) != one}
        )
        translated = runtimes.translated(model, only, one)
        for name, value in translated.items():
            for attribute, content in value.authored():
                place, said = _said_at(prim, name, attribute.field)
                if said is None or attribute.is_relationship or _are_close(said, content):
                    continue
                source = _source_of(model, only, name, attribute.field, one, other)
                if source is None:
                    continue
                own = prim.schemas[place]
                text, others = (
                    opinions.text_of(_of(path, prim, place, own.copy(**{attribute.field: number})),
                                     Opinion(path, place, attribute.field))
                    for number in (said, content)
                )  # fmt: skip
                attribute = attribute_of(type(own), attribute.field)
                instance = split_applied(place)[1]
                words = (attribute.usd_name(instance), source)
                yield Contradiction(path, (one, other), words, (text, others))


def _said_at(prim: Prim, name: str, field: str) -> tuple[str, Any]:
    """(name of a schema, value) where a prim says a field of a schema, or says the same in an older one."""
    for place in (name, OLD_SCHEMAS.get((split_applied(name)[0], field), "")):
        if (value := getattr(prim.schemas.get(place), field, None)) is not None:
            return place, value
    return name, None


def _of(path: str, prim: Any, name: str, value: Any) -> PhysicsModel:
    return PhysicsModel(prims={path: replace(prim, schemas={name: value})})


def _are_close(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or not all(isinstance(v, int | float) for v in (one, other)):
        return bool(one == other)
    return bool(np.isclose(one, other, rtol=1e-3, atol=1e-9))


def _source_of(model: PhysicsModel, prim: Any, name: str, wanted: str, one: str, other: str) -> str | None:
    """USD name of the word for the other simulator that the value was translated from."""
    for held, value in prim.schemas.items():
        if runtimes.runtime_of(held) != other:
            continue
        for attribute, _ in value.authored():
            trial = replace(prim, schemas={held: type(value)(**{attribute.field: getattr(value, attribute.field)})})
            made = runtimes.translated(model, trial, one).get(name)
            if made is not None and getattr(made, wanted) is not None:
                return str(attribute.usd_name(split_applied(held)[1]))
    return None


def _motion_of_words(
    model: PhysicsModel, found: Mapping[str, PhysicsModel], one: str, other: str, path: str
) -> tuple[str, str] | None:
    """(experiment, deviation): in which a joint moves most differently with these words, and by how much. None for
    other prims, and where it moves the same."""
    if model.prims[path].get(usd_physics.Joint) is None:
        return None
    worst, words = 0.0, None
    for experiment, (seconds, what) in bench.EXPERIMENTS.items():
        ends = []
        for name in (one, other):
            subject = subject_of(found[name])
            own = [probe for probe in bench.probes_of(subject)[0] if probe.facts.path == path]
            if not own or not bench.applies(own[0], experiment):
                break
            motion = simulated(bench.bench(subject, own, experiment, leans=True), seconds)
            if motion.problem:
                break
            ends.append((own[0].axis, bench.positions(own[0], motion)))
        if len(ends) == 2:
            apart = float(np.abs(ends[0][1] - ends[1][1]).max())
            if apart > worst:
                worst = apart
                unit = f"{np.degrees(apart):.3g} degrees" if ends[0][0] == 3 else f"{apart:.3g} m"
                words = what, unit
    return words
