# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of two models of the same asset, each on the bench: which move in another way, and by which attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import UsdPhysError
from ..core.model import PhysicsModel
from . import joints as bench
from . import opinions
from .budget import Budget
from .certificate import Check, so_do_joints
from .opinions import Opinion, Statements, narrowed
from .runs import Motion, Subject, angles, simulated, subject_of

#: Positions (t, 3) and rotations (t, 4) of a link.
Ways = tuple[Any, Any]


def joint_partings(
    said: Statements, current: PhysicsModel, candidates: Sequence[Opinion], budget: Budget, share: float
) -> Iterator[tuple[Check, list[Opinion]]]:
    """Joints that move in another way on the bench, each with its causes."""

    def has_time() -> bool:
        return budget.has(share)

    try:
        tried = _Bench(said, current, candidates)
    except (UsdPhysError, ValueError, ArithmeticError):
        return
    checks: list[tuple[Check, list[Opinion]]] = []
    alike: Counter[int] = Counter()
    for path, experiment in tried.parted(has_time).items():
        near = tried.near(path)

        def heals(chosen: Sequence[Opinion], path: str = path, experiment: str = experiment) -> bool:
            return tried.heals(path, experiment, chosen)

        # What is the cause for one joint is mostly that for others near it.
        same = (
            number for number, (_, causes) in enumerate(checks)
            if causes and set(causes) <= set(near) and opinions.heals_with(causes, heals)
        )  # fmt: skip
        if (number := next(same, None)) is not None:
            alike[number] += 1
            continue
        found, late = narrowed(opinions.smallest(near, heals, has_time), has_time)
        checks.append((tried.check(path, experiment, found, late), found))
    for number, (check, found) in enumerate(checks):
        yield replace(check, message=check.message + so_do_joints(alike[number])), found


class _Bench:
    """The joints that both models have, on the bench."""

    def __init__(self, said: Statements, current: PhysicsModel, candidates: Sequence[Opinion]) -> None:
        """current: the first model, with what was found so far. Raises what `subject_of` raises."""
        self._said, self._current, self._candidates = said, current, candidates
        self._subjects = (subject_of(current), subject_of(said.other))
        self._probes = tuple(_by_path(subject) for subject in self._subjects)
        about = {opinion.path for opinion in candidates}
        #: Gravity acts on all.
        self._scenes = about & {*said.one.scenes, *said.other.scenes}
        here, there = self._probes
        self._compared = [
            path for path, probe in there.items()
            if path in here
            and (self._scenes or about & {path, here[path].facts.body0, here[path].facts.body1})
            # Where the other body moves, the whole asset tells.
            and here[path].moved == probe.moved and here[path].is_first == probe.is_first
        ]  # fmt: skip
        self._push = {
            path: max([bench.PUSH, *(1.2 * abs(end - there[path].start) for end in _ends(there[path])
                                     if np.isfinite(end))])
            for path in self._compared
        }  # fmt: skip
        #: What each is to do, by path and experiment.
        self._wanted: dict[tuple[str, str], Ways | None] = {}

    def parted(self, has_time: Callable[[], bool]) -> dict[str, str]:
        """The first experiment in which a joint moves in another way, by its path."""
        found: dict[str, str] = {}
        for experiment in bench.EXPERIMENTS if self._compared else ():
            if not has_time():
                break
            ones, others = (
                self._moved(subject, [probes[path] for path in self._compared], experiment)
                for subject, probes in zip(self._subjects, self._probes, strict=True)
            )
            for path in self._compared:
                was, now = ones.get(path), others.get(path)
                if path in found or (was is None and now is None):
                    continue
                self._wanted[path, experiment] = now
                if was is None or now is None or _links_part(was, now, self._probes[1][path]):
                    found[path] = experiment
        return found

    def near(self, path: str) -> list[Opinion]:
        """What may be the cause for a joint: it says something of it, its bodies or gravity."""
        facts = self._probes[1][path].facts
        return [one for one in self._candidates if one.path in {path, facts.body0, facts.body1, *self._scenes}]

    def heals(self, path: str, experiment: str, chosen: Sequence[Opinion]) -> bool:
        """True if a joint moves as wanted in an experiment, with these opinions of the other model."""
        subject = subject_of(opinions.swapped(self._current, self._said.other, chosen))
        probe = _by_path(subject).get(path)
        if probe is None:
            return False
        wanted = self._wanted[path, experiment]
        if not _is_tried(probe, experiment) or wanted is None:
            return _is_tried(probe, experiment) == (wanted is not None)
        moved = self._moved(subject, [probe], experiment).get(path)
        return moved is not None and not _links_part(moved, wanted, probe)

    def check(self, path: str, experiment: str, found: Sequence[Opinion], late: str) -> Check:
        """What is said of a joint and its causes. late: more to be said."""
        said, joint = self._said, self._probes[1][path].facts.prim.display
        causes = tuple(opinions.cause_between(said.one, said.other, one) for one in found)
        message = f"{joint} moves in another way {said.words}, in its {bench.EXPERIMENTS[experiment][1]}."
        message = f"{message} {late}" if late else message
        return Check(said.section, said.name, "fail", message, path, causes, "", {"experiment": experiment})

    def _moved(self, subject: Subject, probes: Sequence[bench.Probe], experiment: str) -> dict[str, Ways]:
        """How the links of joints move in an experiment, by path; without those that it does not try."""
        tried = [probe for probe in probes if _is_tried(probe, experiment)]
        motion = simulated(
            bench.bench(subject, tried, experiment, push=self._push, leans=True), bench.EXPERIMENTS[experiment][0]
        )
        return {} if motion.problem else {probe.facts.path: _way_of_link(probe, motion) for probe in tried}


def _by_path(subject: Subject) -> dict[str, bench.Probe]:
    return {probe.facts.path: probe for probe in bench.probes_of(subject)[0]}


def _ends(probe: bench.Probe) -> tuple[float, float]:
    freedom = probe.facts.freedoms[probe.axis]
    return freedom.low, freedom.high


def _is_tried(probe: bench.Probe, experiment: str) -> bool:
    """Joints are pushed also where they have no limit, and coast without friction: the other one may have some."""
    return experiment in ("up", "down", "coast") or bench.applies(probe, experiment)


def _way_of_link(probe: bench.Probe, motion: Motion) -> Ways:
    row = motion.paths.index(probe.path)
    return motion.positions[:, row], motion.rotations[:, row]


def _links_part(one: Ways, other: Ways, probe: bench.Probe) -> bool:
    """Whether a link moves in two ways: by more than a hundredth of its way, in metres of a point beside the axis."""
    arm = float(np.linalg.norm(probe.link[:3, 3] - probe.anchor)) + 0.05
    apart = np.linalg.norm(one[0] - other[0], axis=1) + arm * angles(one[1], other[1])
    steps = np.linalg.norm(np.diff(other[0], axis=0), axis=1) + arm * angles(other[1][1:], other[1][:-1])
    ways = np.concatenate([[0.0], np.cumsum(steps)])
    return bool((apart > 1e-3 * arm + 0.01 * ways).any() or not np.isfinite(apart).all())
