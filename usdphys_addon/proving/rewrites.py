# SPDX-License-Identifier: GPL-3.0-or-later
"""The same physics, written in other ways: in another order, at another place, turned, or with bodies below bodies."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core import frames, paths
from ..core.frames import Matrix
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..simulation.live_values import quaternion_product
from . import at_start, opinions
from .certificate import Check
from .experiments import Experiment
from .opinions import MOST_CAUSES
from .partings import data_of, sentence_of
from .runs import Motion, simulated, subject_of

#: Share of the way of a body by which its motion may differ.
SLACK = 0.01


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
    found = experiment.parting(other, SLACK, rewrite.names)
    if found:
        more = experiment.coarse + experiment.sensitivity_of(
            Experiment(rewrite.model, experiment.seconds), rewrite.names
        )
        found = experiment.parting(other, SLACK, rewrite.names, more=more)
    if not found:
        return Check("rewrites", rewrite.name, "pass", f"It moves alike, said {rewrite.words}{experiment.chaos}.")
    same = _same_paths(rewrite)
    causes = [
        opinions.cause_between(subject_model, same, opinion)
        for opinion in opinions.differences(subject_model, same)[:MOST_CAUSES]
    ]
    message = sentence_of(found[0], subject_model, experiment.motion, f"said {rewrite.words}")
    if not causes and (pushed := at_start.pushed_with(subject_model, found[0], starts)):
        message += " " + f"{at_start.PUSHED[pushed[0].name]}, and rounding decides what comes first."
        causes, fix = [cause for check in pushed for cause in check.causes][:MOST_CAUSES], pushed[0].fix
    else:
        fix = "The asset says the same both times: its motion depends on rounding, or the program is at fault."
    return Check("rewrites", rewrite.name, "differs", message, found[0].body, tuple(causes), fix, data_of(found))


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
