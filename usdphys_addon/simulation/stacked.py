# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks of hinges and slides (see `core.stacks`) as chains: between two joints of a stack is a light link.

Only the engine knows of the links: a world shows and counts the bodies of the model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..core import frames, stacks
from ..core.model import PhysicsModel
from ..core.words import counted
from .engine import Engine, Setup, Step
from .joint_facts import JointFacts
from .joint_poses import position_of, relative_pose
from .notices import Notices
from .weights import Weight


def chained(model: PhysicsModel, notices: Notices) -> tuple[PhysicsModel, dict[str, str]]:
    """See `core.stacks.chained`; says what it has done."""
    for stack in (found := stacks.stacks(model)):
        first, more = stack.joints[0], counted(len(stack.joints) - 1, "other joint")
        notices.add(
            "JointsStacked", first,
            f"{first.display} and {more} hold the same two bodies by different axes: they are simulated as one joint "
            "of several axes, as in MuJoCo and Newton. PhysX holds all of them at once.",
        )  # fmt: skip
    return stacks.chained(model, found)


def without_links(engine: Engine, setup: Setup, links: Mapping[str, str]) -> Engine:
    """An engine that has links, as one without: its arrays, weights and bodies are those of the model. setup: of the
    engine, with the links."""
    return cast("Engine", _WithoutLinks(engine, setup, links))


class _WithoutLinks:
    """What the links change of an engine; the rest is as the engine has it."""

    def __init__(self, engine: Engine, setup: Setup, links: Mapping[str, str]) -> None:
        self._engine, self._links = engine, links
        self._rows = np.array([row for row, path in enumerate(setup.bodies) if path not in links], np.int64)
        self._count = len(setup.bodies)
        self._stacks = _stacks_of(setup.joints, links)
        #: Of joints of a stack that are switched off, m or rad: where the stack is held there.
        self._held: dict[str, float] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @property
    def gravity(self) -> Any:
        return self._engine.gravity

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._engine.gravity = value

    @property
    def weights(self) -> dict[str, Weight]:
        return {path: weight for path, weight in self._engine.weights.items() if path not in self._links}

    def build(self) -> Iterator[float]:
        yield from self._engine.build()

    def step(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> Step:
        done = self._through(self._engine.step, positions, rotations)
        lost = list(dict.fromkeys(self._links.get(path, path) for path in done.lost))
        return Step(done.awake[self._rows], lost, self._links.get(done.gaining, done.gaining))

    def read_poses(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> None:
        self._through(self._engine.read_poses, positions, rotations)

    def velocities(self) -> NDArray[np.float64]:
        return self._engine.velocities()[self._rows]

    def save(self) -> Any:
        return self._engine.save(), dict(self._held)

    def load(self, saved: Any) -> None:
        state, held = saved
        self._engine.load(state)
        self._held = dict(held)

    def set_joint_enabled(self, path: str, enabled: bool) -> None:
        """The others of a stack hold the body without this one: it stays at its value. Without any the body is free."""
        stack = self._stacks.get(path)
        if stack is None or enabled == (path not in self._held):
            self._engine.set_joint_enabled(path, enabled)
            return
        facts = stack[path]
        if enabled:
            del self._held[path]
        else:
            relative = relative_pose(*self._engine.joint_frames(path))
            self._held[path] = position_of(facts, relative, facts.names[next(iter(facts.moving))])
        if len(self._held.keys() & stack.keys()) == len(stack):
            for each in stack:
                self._engine.set_joint_enabled(each, False)
            return
        for each in stack:
            self._engine.set_joint_enabled(each, True)
        self._engine.set_joint_ranges(path, _held_at(facts, self._held.get(path)))

    def set_joint_ranges(self, path: str, facts: JointFacts) -> None:
        """Of a joint that is switched off, from the moment on at which it is switched on."""
        if path in self._stacks:
            self._stacks[path][path] = replace(facts, freedoms=list(map(copy, facts.freedoms)))
        self._engine.set_joint_ranges(path, _held_at(facts, self._held.get(path)))

    def _through(self, call: Callable[..., Any], positions: Any, rotations: Any) -> Any:
        """Call with the arrays of the engine, and take the poses of the bodies of the model from them."""
        places, turns = np.zeros((self._count, 3)), np.tile(frames.IDENTITY_ROTATION, (self._count, 1))
        places[self._rows], turns[self._rows] = positions, rotations
        result = call(places, turns)
        positions[:], rotations[:] = places[self._rows], turns[self._rows]
        return result


def shown(setup: Setup, links: Mapping[str, str]) -> Setup:
    """A setup without the links."""
    return replace(setup, bodies={path: body for path, body in setup.bodies.items() if path not in links})


def _stacks_of(joints: Iterable[JointFacts], links: Mapping[str, str]) -> dict[str, dict[str, JointFacts]]:
    """Copies of the facts of all the joints of its stack, by the path of each joint of a stack."""
    by_body: dict[str, dict[str, JointFacts]] = defaultdict(dict)
    for facts in joints:
        ends = facts.body0, facts.body1
        if not links.keys().isdisjoint(ends):
            body = next(links[end] for end in ends if end in links)
            by_body[body][facts.path] = replace(facts, freedoms=list(map(copy, facts.freedoms)))
    return {path: stack for stack in by_body.values() for path in stack}


def _held_at(facts: JointFacts, value: float | None) -> JointFacts:
    """Facts of a joint whose degree of freedom is held at a value, m or rad; as they are if that is None."""
    if value is None:
        return facts
    axis = facts.names[next(iter(facts.moving))]
    freedoms = [replace(each, low=value, high=value) if number == axis else each
                for number, each in enumerate(facts.freedoms)]  # fmt: skip
    return replace(facts, freedoms=freedoms)
