# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether joints that break can bear what hangs on them while nothing else happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..simulation.engine import ENGINES, PREVIEW
from ..simulation.joint_facts import NO_LIMIT, JointFacts
from . import opinions
from .certificate import Check, Status, also, so_do_joints
from .opinions import Cause, Opinion
from .runs import STEP, Subject, simulated

#: Part of what breaks a joint that it may bear at rest: with less room, little more breaks it.
ROOM = 0.5
#: s at the end of a run, in which a joint bears so much all the time.
_LAST = 1.0
#: Code of the notice that the preview does not know the load of a joint.
_UNKNOWN = "LoadUnknown"
#: By the number in a load: the field of the limit, and the unit.
_KINDS = (("break_force", "N"), ("break_torque", "N m"))


class _Borne(NamedTuple):
    """What a joint bears at rest, as a part of what breaks it. kind: of _KINDS. engine: that measured it. peak: the
    most that a joint bears that bears enough at rest, and breaks before."""

    facts: JointFacts
    kind: int
    load: float
    limit: float
    engine: str
    peak: float = 0.0

    @property
    def is_broken(self) -> bool:
        return self.load >= self.limit


def checks_of(
    section: str, subject: Subject, model: PhysicsModel, seconds: float, others: Sequence[str] = (),
    broken: Sequence[str] = (),
) -> Iterator[Check]:  # fmt: skip
    """In a run in which none of them breaks. model: of the subject, on its floor. others: keys of engines beside the
    preview, which are asked for the forces that it does not know. broken: joints that break in the preview."""
    left = [facts for facts in subject.joints if facts.breaks]
    if not left:
        return
    trial, found = _unbreakable(model, left), list[_Borne]()
    for engine in (PREVIEW, *others):
        if not left:
            break
        motion = simulated(trial, seconds, engine=engine, watched=[facts.path for facts in left])
        if motion.problem:
            continue
        unknown = {notice.path for notice in motion.notices if notice.code == _UNKNOWN} | motion.unstable.keys()
        known = [facts for facts in left if facts.path in motion.loads and facts.path not in unknown]
        kinds = (0, 1) if engine == PREVIEW else (0,)
        found += [
            one for facts in known
            if (one := _borne(facts, motion.loads[facts.path], kinds, engine, facts.path in broken)) is not None
        ]  # fmt: skip
        left = [facts for facts in left if facts not in known]
    for is_broken, is_early in ((True, False), (False, True), (False, False)):
        group = [one for one in found if one.is_broken is is_broken and (one.peak > 0.0) is is_early]
        if group:
            yield _check(section, subject.model, sorted(group, key=lambda one: -one.load / one.limit))
    if left:
        others_left = len(left) - 1
        message = f"What {left[0].prim.display} bears is not known: it is in a loop."
        message += also(others_left, "So it is of 1 other joint.", f"So it is of {others_left} other joints.")
        yield Check(section, "bearing", "skipped", message, left[0].path)
    elif not found:
        yield Check(section, "bearing", "pass", "Joints that break bear what hangs on them.")


def _unbreakable(model: PhysicsModel, chosen: Sequence[JointFacts]) -> PhysicsModel:
    result = model.copied()
    for facts in chosen:
        schemas = result.prims[facts.path].schemas
        name, joint = next((key, value) for key, value in schemas.items() if isinstance(value, usd_physics.Joint))
        schemas[name] = joint.copy(break_force=0.5 * NO_LIMIT, break_torque=0.5 * NO_LIMIT)
    return result


def _borne(facts: JointFacts, loads: Any, kinds: Sequence[int], engine: str, breaks: bool) -> _Borne | None:
    """loads (f, 2), N and N m. kinds: of _KINDS that are known. breaks: it does in the preview. None where there is
    room."""
    least, most = np.min(loads[-round(_LAST / STEP) :], axis=0), np.max(loads, axis=0)
    limits = (facts.break_force, facts.break_torque)
    kind = max(kinds, key=lambda one: least[one] / max(limits[one], 1e-12))
    if np.isfinite(least[kind]) and least[kind] >= limits[kind]:
        return _Borne(facts, kind, float(least[kind]), limits[kind], engine)
    if breaks:
        kind = max(kinds, key=lambda one: most[one] / max(limits[one], 1e-12))
        return _Borne(facts, kind, float(least[kind]), limits[kind], engine, float(most[kind]))
    if not np.isfinite(least[kind]) or least[kind] < ROOM * limits[kind]:
        return None
    return _Borne(facts, kind, float(least[kind]), limits[kind], engine)


def _check(section: str, model: PhysicsModel, group: Sequence[_Borne]) -> Check:
    first, others = group[0], len(group) - 1
    joint, unit = first.facts.prim.display, _KINDS[first.kind][1]
    load, limit = f"{first.load:.4g} {unit}", f"{first.limit:.4g} {unit}"
    if first.is_broken:
        message = f"{joint} breaks by itself: at rest it would bear {load}, and it breaks at {limit}."
    elif first.peak:
        most = f"{first.peak:.4g} {unit}"
        message = f"{joint} breaks before it rests: it bears up to {most} until then, and breaks at {limit}."
    else:
        message = f"{joint} bears {load} at rest, and breaks at {limit}: little more breaks it."
    if first.engine != PREVIEW:
        message += " " + f"The preview does not know it, and {ENGINES[first.engine].name} does."
    message += so_do_joints(others)
    causes = tuple(_cause(model, one) for one in group)
    status: Status = "fail" if first.is_broken else "doubtful"
    fix = "Give it a larger break force or torque, or less to bear."
    data = {"joints": [{"path": one.facts.path, "borne": one.load, "breaks_at": one.limit} for one in group]}
    return Check(section, "bearing", status, message, first.facts.path, causes, fix, data)


def _cause(model: PhysicsModel, one: _Borne) -> Cause:
    schemas = model.prims[one.facts.path].schemas
    name = next(key for key, value in schemas.items() if isinstance(value, usd_physics.Joint))
    return opinions.cause_alone(model, Opinion(one.facts.path, name, _KINDS[one.kind][0]))
