# SPDX-License-Identifier: GPL-3.0-or-later
"""Round trips: an asset that is written in another format and read again moves as before, or its format says why not.

Formats place a body where they like (a URDF link is where its joint is), so frames of bodies are made alike first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import frames, mass, matching, paths
from ..core.errors import UsdPhysError
from ..core.frames import Matrix
from ..core.model import PhysicsModel, Prim
from ..core.rules.base import Issue
from ..core.schema import split_applied
from ..core.schemas import usd_physics
from ..core.validate import validate
from ..core.words import counted
from ..simulation.joint_facts import JointFacts
from . import opinions
from .budget import Budget
from .certificate import Check, so_do_joints
from .experiments import Experiment
from .opinions import Opinion, Statements
from .runs import FLOOR, radius_of, subject_of, with_floor, with_kept_meshes
from .statements import Known, on, partings_of

#: A model of the asset after a round trip, while a block runs, with what writing and reading could not keep.
Trip = Callable[[], AbstractContextManager[tuple[PhysicsModel, list[Issue]]]]
SECTION = "rewrites"
#: m, and part of its radius: a body that moves by less stands still.
STILL = 1e-3
_ARTICULATION = "Give it an Articulation Root, to have it alike everywhere."
#: Words of formats for attributes whose names contain these.
_WORDS = {"drive:": "drive", "elocityLimit": "speed", "axJointVelocity": "speed"}


def trip_checks(
    model: PhysicsModel, trips: Mapping[str, Trip | str], experiment: Experiment, budget: Budget, share: float
) -> Iterator[Check]:
    """Whether an asset moves alike after each round trip. trips: by the name of the format; a text says why one is left
    out. experiment: of the model.

    What the format itself names as not kept makes the engines differ, and is no failure of the asset.
    """
    with np.errstate(all="ignore"):
        known = {(issue.code, issue.path) for issue in validate(model)} if trips else set()
    for name, trip in trips.items():
        if isinstance(trip, str):
            yield Check(SECTION, name, "skipped", trip)
            continue
        if not budget.has(share):
            yield Check(SECTION, name, "skipped", f"There was no time for the round trip through {name}.")
            continue
        try:
            with trip() as (other, found):
                issues = [issue for issue in found if (issue.code, issue.path) not in known]
                yield from _one_trip(model, with_kept_meshes(other), name, issues, experiment, budget, share)
        except UsdPhysError as error:
            yield Check(SECTION, name, "skipped", f"It cannot be said in {name}: {error}")


def _one_trip(
    model: PhysicsModel, other: PhysicsModel, name: str, issues: list[Issue], experiment: Experiment, budget: Budget,
    share: float,
) -> Iterator[Check]:  # fmt: skip
    one, other = (with_colliders_in_pairs(matching.apart(each)) for each in (model, other))
    moves = matching.matches(one, other)
    other = other.renamed(moves) if moves else other
    one = grounded(one, other)
    other = said_alike(one, rebased(one, with_sides_of(one, with_pairs_of(one, other))))
    said = Statements(one, other, f"after a round trip through {name}", SECTION, name)
    candidates = opinions.differences(one, other)
    checks = [*_missing(said, experiment), *_parted(said, candidates, experiment, budget, share)]
    for check, more in _grouped(checks):
        told = _told(one, check, issues)
        message = f"{check.message}{more}"
        if told is None and _is_of_articulations(check):
            message += " " + f"What joints connect is an articulation in {name}, which is solved in another way."
            yield replace(check, status="differs", message=message, fix=_ARTICULATION)
            continue
        if told is None:
            yield replace(check, message=message)
            continue
        if check.causes:
            message += " " + f"{name} does not keep it: {told.message}"
        else:
            message += " " + f"{name} says what may be why: {told.message}"
        yield replace(check, status="differs", message=message, fix=told.fix)
    if checks:
        return
    if not budget.has(share):
        yield Check(SECTION, name, "skipped", f"There was no time to compare it {said.words}.")
        return
    message = f"It moves alike {said.words}{experiment.chaos}."
    if issues:
        message += " " + f"{name} names {counted(len(issues), 'thing')} that it does not keep, or says otherwise."
    yield Check(SECTION, name, "pass", message)


def _is_of_articulations(check: Check) -> bool:
    """True if all that moves a body otherwise is an articulation that the file does not have."""
    return bool(check.causes) and all(
        cause.attribute == "PhysicsArticulationRootAPI" and not cause.said for cause in check.causes
    )


def _grouped(checks: Iterable[Check]) -> Iterator[tuple[Check, str]]:
    """The first of the checks of joints that lose the same, with the causes of all, and a sentence about the others."""
    groups: dict[Any, list[Check]] = {}
    for number, check in enumerate(checks):
        experiment = check.data.get("experiment")
        alike = experiment, tuple(cause.attribute for cause in check.causes)
        groups.setdefault(alike if experiment else number, []).append(check)
    for group in groups.values():
        causes = tuple(cause for check in group for cause in check.causes)
        yield replace(group[0], causes=causes), so_do_joints(len(group) - 1)


def _missing(said: Statements, experiment: Experiment) -> Iterator[Check]:
    """Bodies that are gone. One that does not move, as what is fixed to the world, may be a part of the world."""
    motion = experiment.motion
    for row, path in enumerate(motion.paths):
        if path not in said.other.bodies and experiment.ways[-1, row] > STILL * max(1.0, experiment.radii[row]):
            prim = said.one.prims[path]
            yield Check(SECTION, said.name, "fail", f"{prim.display} is missing {said.words}.", path)


def _parted(
    said: Statements, candidates: list[Opinion], experiment: Experiment, budget: Budget, share: float
) -> Iterator[Check]:
    try:
        floor = with_floor(subject_of(said.other)).prims.get(FLOOR)
    except (UsdPhysError, ValueError, ArithmeticError) as error:
        yield Check(SECTION, said.name, "fail", f"It cannot be simulated {said.words}: {error}")
        return
    if (floor is None) != (FLOOR not in experiment.model.prims):
        # Both stand on the floor of the second one, or on none.
        experiment = Experiment(on(said.one, floor), experiment.seconds)
    both = experiment.only(said.other.bodies)
    if both.motion.paths:
        yield from partings_of(said, Known(candidates), both, floor, budget, share)


def grounded(one: PhysicsModel, other: PhysicsModel) -> PhysicsModel:
    """The first model without the bodies that joints lock to the world, where the second one has them as a part of it:
    the solver lets such a joint give way a little."""
    result = one.copied()
    for facts in subject_of(one).joints:
        body = facts.body1 if not facts.body0 else facts.body0 if not facts.body1 else ""
        is_locked = facts.distance is None and not facts.bond and all(one.is_locked for one in facts.freedoms)
        if not body or body in other.bodies or not is_locked or facts.path in other.joints:
            continue
        prim = result.prims[body]
        result.prims.pop(facts.path, None)
        hanging = [joint for joint in result.joints.values() if body in _targets(joint)]
        root = prim.get(usd_physics.ArticulationRootAPI)
        for joint in hanging:
            if root is not None:
                joint.add(root)
            _filter(result, joint, body)
        own = (usd_physics.RigidBodyAPI, usd_physics.MassAPI, usd_physics.ArticulationRootAPI)
        prim.schemas = {name: value for name, value in prim.schemas.items() if not isinstance(value, own)}
    return result


def _filter(model: PhysicsModel, joint: Prim, body: str) -> None:
    """Say of a joint on a body that its two sides do not collide: without the body, the joint does not say it."""
    value: Any = joint.get(usd_physics.Joint)
    # Not of the prim of the body: other bodies may be below it.
    own = tuple(prim.path for prim in model.colliders_of(body))
    for path in () if value.collision_enabled else _targets(joint) - {body}:
        said: Any = model.prims[path].get(usd_physics.FilteredPairsAPI) or usd_physics.FilteredPairsAPI()
        model.prims[path].add(said.copy(filtered_pairs=(*(said.filtered_pairs or ()), *own)))


def with_colliders_in_pairs(model: PhysicsModel) -> PhysicsModel:
    """The model with the colliders at and below a prim that is no body in the place of that prim, where it is one of a
    filtered pair: with other paths, others may be below it."""

    known = {*model.bodies, *model.colliders, *model.articulations}
    ends = {end for pair in model.filtered_pairs() for end in pair}
    inside = paths.inside_each(model.colliders, ends - known)

    def shapes(path: str) -> tuple[str, ...]:
        return tuple(inside.get(path, ())) or (path,)

    result = model.copied()
    for path, prim in model.having(usd_physics.FilteredPairsAPI).items():
        said: Any = prim.get(usd_physics.FilteredPairsAPI)
        others = tuple(dict.fromkeys(one for target in said.filtered_pairs or () for one in shapes(target)))
        if shapes(path) == (path,) and others == (said.filtered_pairs or ()):
            continue
        result.prims[path].schemas.pop("PhysicsFilteredPairsAPI")
        for owner in shapes(path):
            _pair(result, owner, others)
    return result


def _pair(model: PhysicsModel, owner: str, others: Iterable[str]) -> None:
    known: Any = model.prims[owner].get(usd_physics.FilteredPairsAPI) or usd_physics.FilteredPairsAPI()
    listed = tuple(dict.fromkeys((*(known.filtered_pairs or ()), *others)))
    model.prims[owner].add(known.copy(filtered_pairs=listed))


def with_pairs_of(one: PhysicsModel, other: PhysicsModel) -> PhysicsModel:
    """The second model with filtered pairs said where the first one says them, and without those that a joint says."""
    said = {frozenset(pair): pair for pair in one.filtered_pairs()}
    jointed = set()
    for prim in other.joints.values():
        joint: Any = prim.get(usd_physics.Joint)
        if not joint.collision_enabled and joint.joint_enabled is not False:
            jointed.add(frozenset(_body_of(other, joint, side) for side in (0, 1)))
    result = other.copied()
    for prim in result.prims.values():
        prim.schemas.pop("PhysicsFilteredPairsAPI", None)
    found = dict.fromkeys(frozenset(pair) for pair in other.filtered_pairs())
    found = {pair: None for pair in said if pair in found} | found
    given = {frozenset(pair): pair for pair in other.filtered_pairs()}
    for pair in found:
        owner, target = said.get(pair, given[pair])
        if (pair in said or pair not in jointed) and owner in result.prims:
            _pair(result, owner, (target,))
    return result


def _targets(prim: Prim) -> set[str]:
    joint: Any = prim.get(usd_physics.Joint)
    return {target for side in (0, 1) for target in getattr(joint, f"body{side}") or ()}


def with_sides_of(one: PhysicsModel, other: PhysicsModel) -> PhysicsModel:
    """The second model with joints of one degree of freedom the way round that they are in the first."""
    result = other.copied()
    for path, prim in other.joints.items():
        here: Any = one.prims[path].get(usd_physics.Joint) if path in one.prims else None
        joint: Any = prim.get(usd_physics.Joint)
        if here is None or not isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
            continue
        bodies = [_body_of(one, here, side) for side in (0, 1)]
        if bodies[0] == bodies[1] or [_body_of(other, joint, side) for side in (1, 0)] != bodies:
            continue
        changes = {f"{name}{side}": getattr(joint, f"{name}{1 - side}")
                   for name in ("body", "local_pos", "local_rot") for side in (0, 1)}  # fmt: skip
        _turn_round(result.prims[path], joint, changes)
    return result


def _turn_round(prim: Prim, joint: Any, changes: Mapping[str, Any]) -> None:
    """Say a joint with other fields, by which it moves the other way: its limits and targets have the other sign."""
    limits = {"lower_limit": _negated(joint.upper_limit), "upper_limit": _negated(joint.lower_limit)}
    for name, value in list(prim.schemas.items()):
        if value is joint:
            prim.schemas[name] = joint.copy(**changes, **limits)
        elif isinstance(value, usd_physics.DriveAPI):
            prim.schemas[name] = value.copy(
                target_position=_negated(value.target_position), target_velocity=_negated(value.target_velocity)
            )  # fmt: skip


def _negated(value: Any) -> Any:
    return None if value is None else -value


def _body_of(model: PhysicsModel, joint: Any, side: int) -> str:
    """Path of the body that a side of a joint is on; "" for the world and what stands in it."""
    target = next(iter(getattr(joint, f"body{side}") or ()), "")
    body = model.body_of(target)
    return "" if body is None else body.path


def _told(model: PhysicsModel, check: Check, issues: Sequence[Issue]) -> Issue | None:
    """What a format says about the cause of a check; about the part of its body, where no cause is found.

    Of several the one with most of the words for it.
    """
    wanted = [cause.path for cause in check.causes]
    part: list[str] = []
    if not wanted:
        wanted = [check.path]
        parts = (one.prims(model) for one in subject_of(model).parts)
        part = next((names for names in parts if check.path in names), [])
    words = {name for cause in check.causes for name in cause.attribute.split(", ")}
    words |= {
        name for cause in check.causes if cause.path in model.prims
        for name, value in model.prims[cause.path].schemas.items()
        if words & {attribute.usd_name(split_applied(name)[1]) for attribute, _ in value.authored()}
    }  # fmt: skip
    # As formats call them.
    words |= {word for start, word in _WORDS.items() if any(start in name for name in words)}
    for names in (wanted, part):
        about = [issue for issue in issues if any(is_about(model, issue, name) for name in names)]
        if about:
            return max(about, key=lambda issue: sum(word in issue.message for word in words))
    return None


def is_about(model: PhysicsModel, issue: Issue, path: str) -> bool:
    """True where what a format says names a prim."""
    prim = model.prims.get(path)
    names = {path, path.removesuffix("_collider")} | ({prim.label, prim.name} if prim is not None else set())
    words = {word.strip("'\".,:;()") for word in issue.message.split()}
    # USD has no dots in names: the joint `j.1` of a robot is `j_1` there.
    words |= {re.sub(r"[^\w/]", "_", word) for word in words}
    said = {issue.path, issue.label} - {""}
    return bool(names & (said | words)) or any(one.endswith(f"/{path.rpartition('/')[2]}") for one in said)


def rebased(model: PhysicsModel, other: PhysicsModel) -> PhysicsModel:
    """The second model with the frames of its bodies where the first model has them, if the matter is at one place.

    What is said in these frames is said anew, so that it moves as before.
    """
    result = other.copied()
    moved: dict[str, Matrix] = {}
    for path, prim in model.bodies.items():
        there = result.bodies.get(path)
        if there is None or there.get(usd_physics.CollisionAPI) is not None:
            continue
        if frames.is_flat(frames.determinant(prim.world)):
            continue  # nothing can be said in such a frame
        if not np.allclose(there.world, prim.world, rtol=0.0, atol=1e-9) and _is_same_matter(model, other, path):
            moved[path] = there.world
            say_anew(result, path, prim.world)
    for path, prim in result.joints.items():
        joint: Any = prim.get(usd_physics.Joint)
        changes: dict[str, Any] = {}
        for side in (0, 1):
            target = next(iter(getattr(joint, f"body{side}") or ()), "")
            if target in moved:
                pose = (joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"))
                frame = frames.world_frame(moved[target], *pose)
                place, turn = frames.local_frame(result.prims[target].world, frame)
                changes |= {f"local_pos{side}": place, f"local_rot{side}": turn}
            elif path in model.joints:
                own = model.prims[path].get(usd_physics.Joint)
                changes |= _in_the_world(model, other, own, joint, side)
                for name in changes.get(f"body{side}") or ():
                    if name not in result.prims:
                        result.add(Prim(name, world=model.prims[name].world.copy()))
        if changes:
            name = next(key for key, value in prim.schemas.items() if value is joint)
            result.prims[path].schemas[name] = joint.copy(**changes)
    return result


def _in_the_world(one: PhysicsModel, other: PhysicsModel, here: Any, there: Any, side: int) -> dict[str, Any]:
    """What a side of a joint on what stands says there, said in what the first model has there."""
    own, target = ((next(iter(getattr(joint, f"body{side}") or ()), "")) for joint in (here, there))
    if own == target or (own and own not in one.prims) or _body_of(one, here, side) or _body_of(other, there, side):
        return {}
    spaces = [model.prims[path].world if path in model.prims else None for model, path in ((one, own), (other, target))]
    pose = (there.resolved(f"local_pos{side}"), there.resolved(f"local_rot{side}"))
    place, turn = frames.local_frame(spaces[0], frames.world_frame(spaces[1], *pose))
    return {f"body{side}": getattr(here, f"body{side}"), f"local_pos{side}": place, f"local_rot{side}": turn}


def say_anew(model: PhysicsModel, path: str, world: Matrix) -> None:
    """Give a body another frame, and say its mass and velocities in that."""
    prim = model.prims[path]
    turn = frames.rotation_of(world).T @ frames.rotation_of(prim.world)
    for name, value in list(prim.schemas.items()):
        if isinstance(value, usd_physics.MassAPI):
            changes: dict[str, Any] = {}
            center = value.decided("center_of_mass")
            if center is not None:
                place = prim.world @ np.append(center, 1.0)
                changes["center_of_mass"] = frames.vector(np.linalg.solve(world, place)[:3])
            if value.principal_axes is not None or value.diagonal_inertia is not None:
                w, *imaginary = value.resolved("principal_axes")
                is_said = abs(w) > 1e-6 or float(np.linalg.norm(imaginary)) > 1e-6
                own = frames.matrix_of((w, *imaginary)) if is_said else np.eye(3)
                changes["principal_axes"] = frames.quaternion_of(turn @ own)
            prim.schemas[name] = value.copy(**changes)
        elif isinstance(value, usd_physics.RigidBodyAPI):
            speeds = {one: getattr(value, one) for one in ("velocity", "angular_velocity")}
            prim.schemas[name] = value.copy(**{
                one: frames.vector(turn @ np.asarray(speed)) for one, speed in speeds.items() if speed is not None
            })  # fmt: skip
    prim.world = world.copy()


def said_alike(one: PhysicsModel, other: PhysicsModel) -> PhysicsModel:
    """The second model with masses and frames of joints as the first one says them, where they are the same in other
    words: what is left is what may move it otherwise."""
    result = other.copied()
    for path in one.bodies.keys() & other.bodies.keys():
        prim, said = result.prims[path], one.prims[path].get(usd_physics.MassAPI)
        held = prim.schemas.pop("PhysicsMassAPI", None)
        if said is not None:
            prim.add(said)
        if held is not None and not _has_matter_of(other, result, path):
            prim.add(held)
        elif held is None and said is not None and not _has_matter_of(other, result, path):
            del prim.schemas["PhysicsMassAPI"]
    try:
        here, there = ({facts.path: facts for facts in subject_of(model).joints} for model in (one, other))
    except (UsdPhysError, ValueError, ArithmeticError):
        return result
    for path in here.keys() & there.keys():
        own: Any = one.prims[path].get(usd_physics.Joint)
        joint: Any = result.prims[path].get(usd_physics.Joint)
        has_axis = isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint)
        if not has_axis or type(own) is not type(joint) or _targets_of(own) != _targets_of(joint):
            continue
        changes = {field: getattr(own, field) for field in _FRAMES}
        way = _way_of(here[path], there[path])
        if way > 0:
            name = next(key for key, value in result.prims[path].schemas.items() if value is joint)
            result.prims[path].schemas[name] = joint.copy(**changes)
        elif way < 0:
            _turn_round(result.prims[path], joint, changes)
    return result


_FRAMES = ("axis", "local_pos0", "local_rot0", "local_pos1", "local_rot1")


def _targets_of(joint: Any) -> list[Any]:
    return [tuple(getattr(joint, f"body{side}") or ()) for side in (0, 1)]


def _way_of(here: JointFacts, there: JointFacts) -> int:
    """1 or -1 for two joints that have one axis, in this or the other direction, and are at zero in one pose; else 0.
    About the axis, both frames may be turned."""
    first, second = (
        np.linalg.solve(one, other) for one, other in ((here.frame0, there.frame0), (here.frame1, there.frame1))
    )
    if not np.allclose(first, second, rtol=0.0, atol=1e-5) or not np.allclose(first[:3, 3], 0.0, atol=1e-6):
        return 0
    return next((way for way in (1, -1) if np.allclose(first[:3, 0], (way, 0.0, 0.0), rtol=0.0, atol=1e-5)), 0)


def _has_matter_of(one: PhysicsModel, other: PhysicsModel, path: str) -> bool:
    """Whether mass, centre and moments of a body are the same in two models, but for the digits of a file."""
    here, there = (mass.mass_properties(model, path) for model in (one, other))
    size = radius_of(one, path)
    return bool(
        np.isclose(here.mass, there.mass, rtol=1e-4, atol=0.0)
        and np.allclose(here.center_of_mass, there.center_of_mass, rtol=0.0, atol=1e-4 * size)
        and np.allclose(here.inertia, there.inertia, rtol=0.0, atol=1e-4 * float(np.abs(here.inertia).max()))
    )


def _is_same_matter(one: PhysicsModel, other: PhysicsModel, path: str) -> bool:
    """Whether the centre of mass and the moments of a body are at the same place in the world in two models."""
    found = []
    for model in (one, other):
        world, weight = model.prims[path].world, mass.mass_properties(model, path)
        pose = frames.unscaled(world)
        center = (pose @ np.append(weight.center_of_mass, 1.0))[:3]
        found.append((center, pose[:3, :3] @ weight.inertia @ pose[:3, :3].T))
    room = 1e-5 + 1e-3 * radius_of(one, path)
    size = float(np.abs(found[0][1]).max()) or 1.0
    return bool(
        np.linalg.norm(found[0][0] - found[1][0]) <= room and np.allclose(found[0][1], found[1][1], atol=0.02 * size)
    )
