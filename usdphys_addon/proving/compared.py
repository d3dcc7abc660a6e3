# SPDX-License-Identifier: GPL-3.0-or-later
"""The same physics twice: said in other ways, read by other simulators, run by other engines, or in another file.

Where two motions part, attributes are swapped until they do not.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core import frames, paths, runtimes
from ..core.errors import UsdPhysError
from ..core.frames import Matrix
from ..core.joint_settings import OLD_SCHEMAS
from ..core.model import PhysicsModel, Prim
from ..core.schema import attribute_of, split_applied
from ..core.schemas import usd_geom, usd_physics
from ..simulation.engine import ENGINES, Habit, Program, programs
from ..simulation.live_values import quaternion_product
from . import joints as bench
from . import opinions, plain, reasons
from .certificate import Check
from .opinions import Cause, Opinion
from .runs import (
    FINER,
    FLOOR,
    GLIMPSE,
    STEP,
    Budget,
    Experiment,
    Motion,
    OutOfTimeError,
    Parting,
    angles,
    corners_of,
    place_of,
    simulated,
    subject_of,
    touching,
    where_of,
    with_floor,
)  # fmt: skip

#: Seconds that comparisons simulate.
SECONDS = 2.0
#: Share of the way of a body by which a motion may differ: said differently, as read by others, in another engine.
SLACK_REWRITE, SLACK_READ, SLACK_ENGINE = 0.01, 0.01, 0.06
#: Causes that are looked for one after the other.
MOST_CAUSES = 6


# --------------------------------------------------------------------------- rewrites


@dataclass(slots=True)
class Rewrite:
    """The same physics, said differently. matrix (4, 4): from the world of the asset to this one. names: of bodies with
    other paths, by their paths in the asset."""

    name: str
    words: str
    model: PhysicsModel
    matrix: Matrix = field(default_factory=lambda: np.eye(4))
    names: dict[str, str] = field(default_factory=dict)


def rewrites_of(model: PhysicsModel) -> Iterator[Rewrite]:
    """Ways to say a model that need no file: its order, its place, its hierarchy and the sides of its joints."""
    prims = list(model.copied().prims.values())
    random.Random(1).shuffle(prims)
    yield Rewrite("order", "in another order", replace(model, prims={prim.path: prim for prim in prims}))
    matrix = frames.transform((3.0, -2.0, 0.0))
    yield Rewrite("place", "at another place", _moved(model, matrix), matrix)
    matrix = frames.transform((0.0, 0.0, 0.0), frames.matrix_of(frames.turn_by(np.array((0.0, 0.0, 0.7)))))
    if all(abs(float(direction[0])) + abs(float(direction[1])) < 1e-6 for direction in _gravities(model)):
        yield Rewrite("turn", "turned about the vertical", _moved(model, matrix), matrix)
    nested = _nested(model)
    if nested is not None:
        yield nested


def _gravities(model: PhysicsModel) -> list[Matrix]:
    return list(subject_of(model).layout.gravity.values())


def _moved(model: PhysicsModel, matrix: Matrix) -> PhysicsModel:
    result = model.copied()
    for prim in result.prims.values():
        prim.world = matrix @ prim.world
    for path, prim in result.joints.items():
        joint: Any = prim.get(usd_physics.Joint)
        changes: dict[str, Any] = {}
        for side in (0, 1):
            targets = getattr(joint, f"body{side}")
            if targets and targets[0] in result.prims:
                continue
            pose = (joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"))
            place, turn = frames.local_frame(None, matrix @ frames.world_frame(None, *pose))
            changes |= {f"local_pos{side}": place, f"local_rot{side}": turn}
        name = next(key for key, value in prim.schemas.items() if value is joint)
        result.prims[path].schemas[name] = joint.copy(**changes)
    return result


def _nested(model: PhysicsModel) -> Rewrite | None:
    """Bodies below others: the paths change, and nothing else. None where bodies are nested already, or filtered."""
    bodies = list(model.bodies)
    is_nested = any(paths.is_below(one, other) for one in bodies for other in bodies)
    if len(bodies) < 2 or is_nested or model.groups or model.articulations or model.having(
        usd_physics.FilteredPairsAPI
    ):  # fmt: skip
        return None
    above, names = bodies[0], {}
    for path in bodies[1:]:
        names[path] = above = f"{above}/{paths.name_of(path)}_nested"
    return Rewrite("hierarchy", "with bodies below bodies", model.copied().renamed(names), names=names)


def rewrite_check(
    experiment: Experiment, subject_model: PhysicsModel, rewrite: Rewrite, starts: Sequence[Check] = ()
) -> Check:
    """Whether a model that is said differently moves alike. starts: checks that say what is pushed in the first
    moment."""
    if experiment.motion.problem:
        return Check("rewrites", rewrite.name, "skipped", f"It cannot be simulated: {experiment.motion.problem}")
    other = _back(simulated(rewrite.model, experiment.seconds), rewrite.matrix)
    if other.problem:
        return Check(
            "rewrites", rewrite.name, "fail", f"Said {rewrite.words}, it cannot be simulated: {other.problem}"
        )  # fmt: skip
    found = experiment.parting(other, SLACK_REWRITE, rewrite.names)
    if found:
        more = experiment.coarse + experiment.sensitivity_of(
            Experiment(rewrite.model, experiment.seconds), rewrite.names
        )
        found = experiment.parting(other, SLACK_REWRITE, rewrite.names, more=more)
    if not found:
        return Check("rewrites", rewrite.name, "pass", f"It moves alike, said {rewrite.words}{experiment.chaos}.")
    same = _same_paths(rewrite)
    causes = [
        opinions.cause_between(subject_model, same, opinion)
        for opinion in opinions.differences(subject_model, same)[:MOST_CAUSES]
    ]
    message = _sentence(found[0], subject_model, experiment.motion, f"said {rewrite.words}")
    if not causes and (pushed := _pushed_part(subject_model, found[0], starts)):
        message += " " + f"{plain.PUSHED[pushed[0].name]}, and rounding decides what comes first."
        causes, fix = [cause for check in pushed for cause in check.causes][:MOST_CAUSES], pushed[0].fix
    else:
        fix = "The asset says the same both times: its motion depends on rounding, or the program is at fault."
    return Check("rewrites", rewrite.name, "differs", message, found[0].body, tuple(causes), fix, _data(found))


def _same_paths(rewrite: Rewrite) -> PhysicsModel:
    back = {new: old for old, new in rewrite.names.items()}
    model = rewrite.model.copied()
    for prim in model.prims.values():
        prim.world = np.linalg.inv(rewrite.matrix) @ prim.world
    return model.renamed(back) if back else model


def _back(motion: Motion, matrix: Matrix) -> Motion:
    """A motion in the world that `matrix` starts from."""
    if motion.problem or np.allclose(matrix, np.eye(4)):
        return motion
    inverse = np.asarray(np.linalg.inv(matrix))
    turn = np.array(frames.quaternion_of(frames.rotation_of(inverse)))
    places = motion.positions @ inverse[:3, :3].T + inverse[:3, 3]
    return replace(motion, positions=places, rotations=quaternion_product(turn, motion.rotations))


def _sentence(found: Parting, model: PhysicsModel, motion: Motion, how: str) -> str:
    where = place_of(subject_of(model), motion, found)
    display = model.prims[found.body].display if found.body in model.prims else found.body
    if not np.isfinite(found.apart):
        return f"{display} moves in another way {how}: from {found.time:.3f} s on, {where}."
    return (
        f"{display} moves in another way {how}: "
        f"from {found.time:.3f} s on, {where}, by up to {found.apart:.3g} m where {found.allowed:.2g} m are allowed."
    )


def _data(found: Sequence[Parting]) -> dict[str, Any]:
    return {
        "parts": [
            {"body": one.body, "seconds": round(one.time, 4), "metres": _finite(one.apart),
             "allowed_metres": one.allowed}
            for one in found
        ]
    }  # fmt: skip


def _finite(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)


# --------------------------------------------------------------------------- two statements


class Statements(NamedTuple):
    """Two models of the same asset, with words for the second, as in "as MuJoCo reads it"."""

    one: PhysicsModel
    other: PhysicsModel
    words: str
    section: str
    name: str


def statement_checks(
    said: Statements, experiment: Experiment, budget: Budget, share: float, *, slack: float = SLACK_READ
) -> Iterator[Check]:
    """Where the motions of two models part: of their joints, one by one, and of the whole; with the attributes.

    experiment: of the first one. share: of the budget that may be used by then.
    """
    candidates = opinions.differences(said.one, said.other)
    if not candidates:
        yield Check(said.section, said.name, "pass", f"Nothing differs {said.words}.")
        return
    if causes := _unit_causes(said):
        message = f"All places and masses have the same numbers {said.words}, and the stage has other units."
        fix = "Correct what the stage says of its units; nothing else was compared."
        yield Check(said.section, said.name, "fail", message, causes=causes, fix=fix)
        return
    if cause := _whole_cause(said):
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


def _unit_causes(said: Statements) -> tuple[Cause, ...]:
    """What the two stages say of their units, where the same numbers are other places or masses because of that."""
    one, other = said.one.units, said.other.units
    if one.is_like(other) or said.one.prims.keys() != said.other.prims.keys():
        return ()
    here, there = _numbers_of(said.one), _numbers_of(said.other)
    if here.shape != there.shape or not np.allclose(here, there, rtol=1e-5, atol=1e-6):
        return ()
    masses = [sum(_masses_of(model)) for model in (said.one, said.other)]
    moved = not all(
        np.allclose(prim.world, said.other.prims[path].world, atol=1e-6) for path, prim in said.one.prims.items()
    )
    if not moved and np.isclose(masses[0], masses[1]):
        return ()
    names = {"metersPerUnit": "meters_per_unit", "kilogramsPerUnit": "kilograms_per_unit", "upAxis": "up_axis"}
    pairs = {name: (str(getattr(one, field)), str(getattr(other, field))) for name, field in names.items()}
    return tuple(Cause("/", name, *pair, opinions.hint_of(*pair)) for name, pair in pairs.items() if pair[0] != pair[1])


#: What a stage says of its directions and lengths.
UP_AXIS, LENGTH = "upAxis", "metersPerUnit"
#: A stage whose up axis is Y, in one whose is Z, and the other way.
_TURNS = {way: np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -way), (0.0, way, 0.0))) for way in (1.0, -1.0)}


def _whole_cause(said: Statements) -> Cause | None:
    """What a layer or reference says of its units, where all colliders of one model are those of the other one turned
    from one up axis to another, or larger by a ratio of units; None where they are not."""
    both = [path for path in said.one.colliders if path in said.other.colliders]
    found = [[corners_of(model.prims[path]) for path in both] for model in (said.one, said.other)]
    if len(both) < 2 or any(one is None for one in (*found[0], *found[1])):
        return None
    here, there = (np.concatenate([one for one in each if one is not None]) for each in found)
    size = float(np.ptp(there, axis=0).max())
    if not np.isfinite([here, there]).all() or size <= 0.0 or np.allclose(here, there, atol=1e-4 * size):
        return None
    root = both[0]
    while root and not all(paths.is_at_or_below(path, root) for path in both):
        root = paths.parent_of(root)
    for turn in _TURNS.values():
        # The same box has its corners in another order.
        if all(np.allclose(_bounds(one @ turn.T), _bounds(other), atol=1e-4 * size)
               for one, other in zip(np.split(here, len(both)), np.split(there, len(both)), strict=True)):  # fmt: skip
            return Cause(root, UP_AXIS)
    ratio = float(np.ptp(here, axis=0).max()) / size
    if opinions.hint_of(str(ratio), "1.0") and np.allclose(here / ratio, there, atol=1e-4 * size):
        return Cause(root, LENGTH, f"{ratio:.4g}", "1", opinions.hint_of(str(ratio), "1.0"))
    return None


def _bounds(points: Matrix) -> Matrix:
    return np.array((points.min(axis=0), points.max(axis=0)))


def _numbers_of(model: PhysicsModel) -> Matrix:
    """(n,) places, turns and masses of all prims, as the stage has them."""
    turn, length = np.asarray(model.units.to_z_up, float).T, model.units.meters_per_unit
    found = [turn @ prim.world[:3, :4] / (1.0, 1.0, 1.0, length) for prim in model.prims.values()]
    masses = np.asarray(_masses_of(model), float) / model.units.kilograms_per_unit
    return np.concatenate([np.ravel(found), masses])


def _masses_of(model: PhysicsModel) -> list[float]:
    """kg, of the prims that say one."""
    apis = (prim.get(usd_physics.MassAPI) for prim in model.prims.values())
    return [api.mass for api in apis if api is not None and api.mass is not None]


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


def narrowed(found: list[Opinion], has_time: Callable[[], bool]) -> tuple[list[Opinion], str]:
    """(causes, sentence): of a search that ended early, whose set is too large to be called a cause, none."""
    if len(found) <= MOST_CAUSES or has_time():
        return found, ""
    return [], f"There was no time to find the cause among {len(found)} attributes."


class Known(NamedTuple):
    """All opinions that differ between two models, and those of them that are told already."""

    candidates: Sequence[Opinion]
    told: Sequence[Opinion] = ()


def partings_of(
    said: Statements, differing: Known, experiment: Experiment, floor: Prim | None, budget: Budget, share: float, *,
    slack: float = SLACK_READ,
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
    # What is balanced, and what lies, moves where gravity leans.
    leaning = [leaned(model) for model in (said.one, said.other)]
    if found_any or differing.told or not said.one.scenes or not said.other.scenes or not budget.has(share):
        return
    words = f"{said.words}, where gravity leans"
    tilted = Statements(leaning[0], leaning[1], words, said.section, said.name)
    other_experiment = Experiment(on(leaning[0], floor), experiment.seconds).only(experiment.motion.paths)
    if not other_experiment.motion.problem:
        time = partial(budget.has, share)
        check, _ = whole_parting(tilted, leaning[0], differing.candidates, other_experiment, floor, time, slack)
        if check is not None:
            yield check


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


def joint_partings(
    said: Statements, current: PhysicsModel, candidates: Sequence[Opinion], budget: Budget, share: float
) -> Iterator[tuple[Check, list[Opinion]]]:
    """Joints that move in another way on the bench, each with its causes."""
    try:
        one, other = subject_of(current), subject_of(said.other)
    except (UsdPhysError, ValueError, ArithmeticError):
        return
    about = {opinion.path for opinion in candidates}
    # Gravity acts on all.
    scenes = about & {*said.one.scenes, *said.other.scenes}
    probes = {
        side: {probe.facts.path: probe for probe in bench.probes_of(subject)[0]}
        for side, subject in (("one", one), ("other", other))
    }
    chosen = [
        path for path, there in probes["other"].items()
        if (here := probes["one"].get(path)) is not None
        and (scenes or about & {path, here.facts.body0, here.facts.body1})
        # Where the other body moves, the whole asset tells.
        and here.moved == there.moved and here.is_first == there.is_first
    ]  # fmt: skip
    if not chosen:
        return
    push = {
        path: max([bench.PUSH, *(1.2 * abs(end - probe.start) for end in _ends(probe) if np.isfinite(end))])
        for path in chosen for probe in (probes["other"][path],)
    }  # fmt: skip
    wanted: dict[tuple[str, str], Any] = {}
    parted: dict[str, str] = {}
    for experiment, (seconds, _) in bench.EXPERIMENTS.items():
        if not budget.has(share):
            break
        runs = {}
        for side, subject in (("one", one), ("other", other)):
            own = [probes[side][path] for path in chosen if _is_tried(probes[side][path], experiment)]
            motion = simulated(bench.bench(subject, own, experiment, push=push, leans=True), seconds)
            runs[side] = {} if motion.problem else {
                probe.facts.path: _place_of_link(probe, motion) for probe in own
            }  # fmt: skip
        for path in chosen:
            if path in parted:
                continue
            was, now = runs["one"].get(path), runs["other"].get(path)
            if was is None and now is None:
                continue
            wanted[path, experiment] = now
            if was is None or now is None or _links_part(was, now, probes["other"][path]):
                parted[path] = experiment
    checks: list[tuple[Check, list[Opinion]]] = []
    alike: Counter[int] = Counter()
    for path, experiment in parted.items():
        probe = probes["other"][path]
        near = [one for one in candidates if one.path in {path, probe.facts.body0, probe.facts.body1, *scenes}]

        def heals(chosen_ones: Sequence[Opinion], path: str = path, experiment: str = experiment) -> bool:
            subject = subject_of(opinions.swapped(current, said.other, chosen_ones))
            own = [one for one in bench.probes_of(subject)[0] if one.facts.path == path]
            if not own:
                return False
            now = wanted[path, experiment]
            if not _is_tried(own[0], experiment) or now is None:
                return _is_tried(own[0], experiment) == (now is not None)
            seconds = bench.EXPERIMENTS[experiment][0]
            motion = simulated(bench.bench(subject, own, experiment, push=push, leans=True), seconds)
            return not motion.problem and not _links_part(_place_of_link(own[0], motion), now, own[0])

        # What is the cause for one joint is mostly that for others near it.
        same = (
            number for number, (_, causes) in enumerate(checks)
            if causes and set(causes) <= set(near) and opinions.heals_with(causes, heals)
        )  # fmt: skip
        number = next(same, None)
        if number is not None:
            alike[number] += 1
            continue
        found, late = narrowed(opinions.smallest(near, heals, lambda: budget.has(share)), lambda: budget.has(share))
        causes = tuple(opinions.cause_between(said.one, said.other, one) for one in found)
        words = bench.EXPERIMENTS[experiment][1]
        message = f"{probe.facts.prim.display} moves in another way {said.words}, in its {words}."
        if late:
            message = f"{message} {late}"
        check = Check(said.section, said.name, "fail", message, path, causes, "", {"experiment": experiment})
        checks.append((check, found))
    for number, (check, found) in enumerate(checks):
        message, others = check.message, alike[number]
        if others == 1:
            message += " " + "So does 1 other joint."
        elif others:
            message += " " + f"So do {others} other joints."
        yield replace(check, message=message), found


def _ends(probe: bench.Probe) -> tuple[float, float]:
    freedom = probe.facts.freedoms[probe.axis]
    return freedom.low, freedom.high


def _is_tried(probe: bench.Probe, experiment: str) -> bool:
    """Joints are pushed also where they have no limit, and coast without friction: the other one may have some."""
    return experiment in ("up", "down", "coast") or bench.applies(probe, experiment)


def _place_of_link(probe: bench.Probe, motion: Motion) -> tuple[Any, Any]:
    row = motion.paths.index(probe.path)
    return motion.positions[:, row], motion.rotations[:, row]


def _links_part(one: tuple[Any, Any], other: tuple[Any, Any], probe: bench.Probe) -> bool:
    """Whether a link moves in two ways: by more than a hundredth of its way, in metres of a point beside the axis."""
    arm = float(np.linalg.norm(probe.link[:3, 3] - probe.anchor)) + 0.05
    apart = np.linalg.norm(one[0] - other[0], axis=1) + arm * angles(one[1], other[1])
    steps = np.linalg.norm(np.diff(other[0], axis=0), axis=1) + arm * angles(other[1][1:], other[1][:-1])
    ways = np.concatenate([[0.0], np.cumsum(steps)])
    return bool((apart > 1e-3 * arm + 0.01 * ways).any() or not np.isfinite(apart).all())


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
        _sentence(found[0], on(said.one, floor), experiment.motion, said.words)
        if found[0].body
        else "It cannot be run."
    )
    if late:
        message = f"{message} {late}"
    return Check(said.section, said.name, "fail", message, found[0].body, words, "", _data(found)), causes


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


# --------------------------------------------------------------------------- as others read it


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


# --------------------------------------------------------------------------- engines


class Runner(Protocol):
    """Runs the asset in an engine without some opinions. rate: number of steps in a frame."""

    def __call__(self, chosen: Sequence[Opinion], rate: int = 1, /) -> Motion: ...


#: Opinions that are tried as causes of what another engine does; in one that needs seconds for each run.
_MOST_TRIED, _MOST_TRIED_SLOWLY = 40, 16
#: s, in which what is pushed at the start leaves.
_FIRST_MOMENT = 0.25


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
    for key, run in others.items():
        name, other = ENGINES[key].name, motions[key]
        if other is None:
            yield Check("engines", key, "skipped", f"There was no time for {name}."), key, None
            continue
        if other.problem:
            yield Check("engines", key, "skipped", f"{name}: {other.problem}"), key, None
            continue
        found = [
            one for one in experiment.parting(other, SLACK_ENGINE, more=experiment.coarse)
            if one.body in experiment.motion.paths
        ]  # fmt: skip
        if not found:
            told = f"The preview and {name} move it alike{experiment.chaos}."
            yield Check("engines", key, "pass", told), key, other
            continue
        # Each try runs it once more, and the preview.
        has_time = partial(budget.has, share, sum(other.took) + sum(experiment.motion.took))
        try:
            reason = _reason_of(key, run, other, found, experiment, starts, has_time)
        except OutOfTimeError:
            reason = _Reason((), _NO_TIME)
        message = f"{_sentence(found[0], experiment.model, experiment.motion, f'in {name}')} {reason.words}".rstrip()
        row = ENGINES[key]
        if isinstance(row, Program) and Habit.EDGED in row.habits and (wheel := _rolling(model, found, experiment)):
            body = model.prims[wheel].display
            message += " " + f"Cylinders roll in {name} on edges, which slow them, such as {body}."
        lost = [notice.message for notice in other.notices if notice.code == "EngineLimits"]
        if lost and not reason.fix:
            message += f" {lost[0]}"
        check = Check(
            "engines", key, "differs", message, found[0].body, reason.causes, reason.fix, _data(found)
        )  # fmt: skip
        yield check, key, other


def _begun(run: Runner) -> Motion | None:
    """What an engine does with the asset; None where the seconds are used up before it ends."""
    try:
        return run(())
    except OutOfTimeError:
        return None


#: What to look at where an engine gives no numbers, and smaller time steps do not help.
_LOST_FIX = "Check the masses, moments of inertia and gains there."
#: Where no reason is found.
_NO_TIME = "There was no time to find the cause."


class _Reason(NamedTuple):
    """Why an engine moves a body otherwise: attributes, a sentence, and what to do; each may be empty."""

    causes: tuple[Cause, ...] = ()
    words: str = ""
    fix: str = ""


def _reason_of(
    key: str, run: Runner, other: Motion, found: Sequence[Parting], experiment: Experiment, starts: Sequence[Check],
    has_time: Callable[[], bool],
) -> _Reason:  # fmt: skip
    """What is known at once, before what has to be searched. other: what the engine did."""
    model, first, name = experiment.model, found[0], ENGINES[key].name
    if lost := _lost(other):
        where = model.prims[lost].display if lost in model.prims else lost
        words = f"{name} gives no numbers for {where} from then on."
        rate = _healing_rate(run, first, experiment, has_time)
        if rate:
            steps = round(rate / STEP)
            words += " " + f"With {steps} steps a second, {name} moves it as the preview does."
        return _Reason((), words, plain.FINER_STEPS if rate else _LOST_FIX)
    if pushed := _pushed(model, first, starts):
        causes = tuple(cause for check in pushed for cause in check.causes)[:MOST_CAUSES]
        return _Reason(causes, f"{plain.PUSHED[pushed[0].name]}, which each engine does in its own way.")
    if key in programs() and (kept := _kept_apart(model, first, experiment.motion)) is not None:
        joint, still = model.prims[kept.cause.path].display, model.prims[kept.other].display
        return _Reason((kept.cause,), (
            f"{name} lets it collide with {still}; elsewhere {joint} keeps the two apart, because {still} is below "
            "the other side of it."
        ))  # fmt: skip
    untold = _untold(model, first, other)
    causes = tuple(opinions.cause_alone(model, one) for one in untold[:MOST_CAUSES])
    if untold and _explain(untold, experiment, other, first):
        return _Reason(causes)
    if slide := reasons.sliding(model, first, experiment.motion, other):
        causes, way = tuple(opinions.cause_alone(model, one) for one in slide.roots), slide.far
        return _Reason(causes, (
            f"In the preview it slides by {way:.2g} m, because friction of an articulation acts after its links have "
            f"moved; it stands in {name}, and in the preview without the articulation."
        ), f"Trust {name} where feet stand.")  # fmt: skip
    if soft := reasons.beyond_limits(model, first, experiment.motion, other):
        limits = [opinion for one in soft for opinion in one.opinions][:MOST_CAUSES]
        joint, far = soft[0].facts.prim.display, soft[0].words
        causes = tuple(opinions.cause_alone(model, one) for one in limits)
        told = f"{joint} goes {far} beyond its limit in {name}, which holds limits by springs."
        return _Reason(causes, told, reasons.SOFT_LIMIT)
    if rate := _healing_rate(run, first, experiment, has_time):
        steps = round(rate / STEP)
        told = f"With {steps} steps a second, {name} moves it as the preview does."
        return _Reason((), told, plain.FINER_STEPS)
    is_alike = partial(_moves_alike, key, experiment, first)
    if key not in programs() and (light := reasons.too_light(model, first, is_alike, has_time)):
        link, moment, times = model.prims[light.body].display, light.moment, light.times
        causes = tuple(opinions.cause_alone(model, one) for one in light.opinions)
        return _Reason(causes, (
            f"{link} is too light for {name}, with moments of inertia of {moment:.2g} kg m2: with {times:g} times of "
            f"them, {name} moves all as the preview does."
        ), f"Do not trust {name} with links that are so light.")  # fmt: skip
    if has_time() and (jammed := _passing(model, first, experiment.motion)):
        one, still = (model.prims[path].display for path in jammed)
        return _Reason(plain.filter_causes(jammed), (
            f"{one} and {still} touch at the start, and no joint can move them apart at once: they pass through "
            f"each other in the preview, and {name} pushes them apart."
        ))  # fmt: skip
    causes = causes or _engine_causes(key, run, found, experiment, has_time)
    if follows := _following(experiment.motion, causes):
        return _Reason(
            causes, f"In the preview, {follows}", f"Trust {name} where a joint that others follow is pushed."
        )
    if causes:
        return _Reason(causes)
    if parted := _in_parts(model, first, experiment.motion):
        causes = tuple(opinions.cause_alone(model, one) for one in parted)
        shape = model.prims[parted[0].path].display
        words = f"Each engine makes its own convex parts of {shape}, which may be why."
        return _Reason(causes, words, "Make convex parts of it.")
    return _Reason((), "No attribute alone is the cause." if has_time() else _NO_TIME)


def _in_parts(model: PhysicsModel, first: Parting, motion: Motion) -> list[Opinion]:
    """The approximations of meshes that are taken to pieces, where a body parts at their contact."""
    kind, other = where_of(subject_of(model), motion, first)
    ends = (first.body, other) if kind == "contact" else ()
    return [
        Opinion(prim.path, name, "approximation") for path in ends for prim in model.colliders.values()
        if paths.is_at_or_below(prim.path, path)
        for name, value in prim.schemas.items()
        if isinstance(value, usd_physics.MeshCollisionAPI) and value.approximation == "convexDecomposition"
    ]  # fmt: skip


def _lost(motion: Motion) -> str:
    """The first body that an engine gives no numbers for, or stopped because it would not; "" without one."""
    rows = np.flatnonzero(~np.isfinite(motion.positions).all(axis=(0, 2)))
    lost = [*motion.unstable, *(motion.paths[row] for row in rows.tolist())]
    return next((path for path in lost if path in motion.paths), "")


def _following(motion: Motion, causes: Sequence[Cause]) -> str:
    """What the preview says of a joint that follows another, where that is a cause; "" else."""
    about = {cause.path for cause in causes if "mimic" in cause.attribute}
    notices = (one for one in motion.notices if one.code == "JointFollows" and one.path in about)
    return next((one.message for one in notices), "")


def _passing(model: PhysicsModel, first: Parting, motion: Motion) -> tuple[str, ...]:
    """Two that the preview lets pass through each other, of which one hangs together with the body that parts first."""
    part = next((part for part in subject_of(model).parts if first.body in part.bodies), None)
    for notice in motion.notices:
        ends = plain.named_prims(model, notice.message) if notice.code == "ContactJammed" else ()
        if part is not None and len(ends) == 2 and not set(part.bodies).isdisjoint(ends):
            return tuple(ends)
    return ()


def _healing_rate(run: Runner, first: Parting, experiment: Experiment, has_time: Callable[[], bool]) -> int:
    """With so many steps in a frame, the engine moves the body that parts first as the preview does; 0 where it does
    not, or there is no time."""
    for rate in FINER:
        if not has_time():
            return 0
        other = run((), rate)
        found = experiment.parting(other, SLACK_ENGINE, more=experiment.coarse)
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
    return not any(one.body == first.body for one in other.parting(there, SLACK_ENGINE, more=experiment.coarse))


def _rolling(model: PhysicsModel, found: Sequence[Parting], experiment: Experiment) -> str:
    """A body with a cylinder that turns by more than a radian about its axis, of those that part first and of what
    hangs on them; "" without one."""
    first = {one.body for one in found if one.time <= found[0].time + 0.1}
    near = [body for part in subject_of(model).parts if first & set(part.bodies) for body in part.bodies]
    for body in near:
        for prim in model.colliders_of(body):
            shape = prim.get(usd_geom.Gprim)
            if isinstance(shape, usd_geom.Cylinder) and body in experiment.motion.paths:
                axis = frames.rotation_of(prim.world)[:, "XYZ".index(shape.resolved("axis"))]
                if _turned_about(experiment.motion, body, axis) > 1.0:
                    return body
    return ""


def _turned_about(motion: Motion, body: str, axis: Matrix) -> float:
    """rad, by which a body turns there and back about an axis (3,) that it has at the start."""
    row = motion.paths.index(body)
    turns = np.array([frames.matrix_of(turn) for turn in motion.rotations[:, row]])
    along = turns @ (turns[0].T @ axis)
    return float(np.abs((along * motion.velocities[:, row, 3:]).sum(axis=1)).sum()) * STEP


class _Kept(NamedTuple):
    """A static collider that a body does not collide with, and where a joint says so."""

    other: str
    cause: Cause


def _kept_apart(model: PhysicsModel, first: Parting, motion: Motion) -> _Kept | None:
    """Where a body parts at the contact with what is below the static side of one of its joints."""
    subject = subject_of(model)
    kind, other = where_of(subject, motion, first)
    if kind != "contact":
        return None
    for facts in subject.joints:
        for side, body, static in ((1, facts.body0, facts.static1), (0, facts.body1, facts.static0)):
            if body == first.body and static and not facts.collides and paths.is_below(other, static):
                return _Kept(other, Cause(facts.path, f"physics:body{side}", static))
    return None


def _explain(untold: Sequence[Opinion], experiment: Experiment, other: Motion, first: Parting) -> bool:
    """Whether the preview moves the body that parts first as the engine does, where it is not told the same."""
    here = simulated(opinions.removed(experiment.model, untold), experiment.seconds)
    found = experiment.like(here).parting(other, SLACK_ENGINE, more=experiment.coarse)
    return not here.problem and not any(one.body == first.body for one in found)


def _untold(model: PhysicsModel, first: Parting, motion: Motion) -> list[Opinion]:
    """What an engine says that it is not told of the joints of the body that leaves first, and of what hangs on it."""
    limited = motion.limits()
    part = next((part for part in subject_of(model).parts if first.body in part.bodies), None)
    return [
        Opinion(facts.path, *place) for facts in (part.joints if part is not None else ()) if facts.path in limited
        for place in bench.said_beyond(facts.prim).values()
    ]  # fmt: skip


def _pushed(model: PhysicsModel, first: Parting, starts: Sequence[Check]) -> list[Check]:
    """The checks that say that the part of a body is pushed in the first moment, where it leaves at once."""
    if first.time > _FIRST_MOMENT:
        return []
    return _pushed_part(model, first, starts)


def _pushed_part(model: PhysicsModel, first: Parting, starts: Sequence[Check]) -> list[Check]:
    subject = subject_of(model)
    part = next((part for part in subject.parts if first.body in part.bodies), None)
    return plain.pushed_at_start(subject, part, starts) if part is not None else []


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
        return not any(one.body == first.body for one in experiment.like(here).parting(there, SLACK_ENGINE))

    is_quick = engine not in programs()
    candidates = opinions.removable(model, every if is_quick else near)
    if is_quick:
        causes = opinions.alone(candidates[:_MOST_TRIED], heals, has_time)
    else:
        causes = opinions.smallest(candidates[:_MOST_TRIED_SLOWLY], heals, has_time) if has_time() else []
        causes, _ = narrowed(causes, has_time)
    return tuple(opinions.cause_alone(model, one) for one in opinions.without_bindings(model, causes))
