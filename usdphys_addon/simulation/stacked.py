# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks of hinges and slides (see `core.stacks`) as chains: between two joints of a stack is a light link.

Only the engine knows of the links: a world shows and counts the bodies of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..core import frames, mass, stacks
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from ..core.words import counted
from .engine import Engine, Setup, Step
from .layout import layout
from .notices import Notices
from .weights import Weight

#: Mass and moments of a link, relative to those of the body that the stack moves.
LIGHT = 1e-3


def chained(model: PhysicsModel, notices: Notices) -> tuple[PhysicsModel, dict[str, str]]:
    """A model whose stacks are chains; and by path of each link, the body that its stack moves. Itself without any."""
    found = stacks.stacks(model)
    if not found:
        return model, {}
    weighed = layout(model, Notices()).bodies
    made, links = replace(model, prims=dict(model.prims)), dict[str, str]()
    for stack in found:
        if stack.body in weighed:
            _chain(made, stack, Weight.of(mass.mass_properties(model, stack.body, weighed[stack.body].inside)), links)
            first, more = stack.joints[0], counted(len(stack.joints) - 1, "other joint")
            notices.add(
                "JointsStacked", first,
                f"{first.display} and {more} hold the same two bodies by different axes: they are simulated as one "
                "joint of several axes, as in MuJoCo and Newton. PhysX holds all of them at once.",
            )  # fmt: skip
    return made, links


def _chain(made: PhysicsModel, stack: stacks.Stack, weight: Weight, links: dict[str, str]) -> None:
    """Hang the joints of a stack on each other."""
    body, before = made.prims[stack.body], ""
    poses = stack.moved(stack.values())
    for number, (prim, pose) in enumerate(zip(stack.joints, poses, strict=True)):
        joint: Any = prim.schemas[prim.type_name]
        changes: dict[str, Any] = {}
        if before:
            # The link is where the body would be without the joints from here on.
            changes |= {"body0": (before,), "local_pos0": joint.local_pos1, "local_rot0": joint.local_rot1}
        if number < len(stack.joints) - 1:
            before = _free(made, f"{prim.path}_link")
            links[before] = stack.body
            changes["body1"] = (before,)
            made.add(_link(before, prim, body, pose @ stack.back @ body.world, weight, joint.resolved("local_pos1")))
        own = replace(prim, schemas={**prim.schemas, prim.type_name: joint.copy(**changes)})
        made.prims[prim.path] = own
    if stack.base and not any(prim.schemas[prim.type_name].resolved("collision_enabled") for prim in stack.joints):
        pairs = body.get(usd_physics.FilteredPairsAPI) or usd_physics.FilteredPairsAPI()
        filtered = pairs.copy(filtered_pairs=(*(pairs.filtered_pairs or ()), stack.base))
        made.prims[stack.body] = replace(body, schemas={**body.schemas, filtered.usd_name: filtered})


def _link(path: str, joint: Prim, body: Prim, world: Any, weight: Weight, place: Any) -> Prim:
    """A link at a pose (4, 4) of the world. place: of the joint that holds it, in its space."""
    link = Prim(path, world=np.asarray(world), label=f"{joint.label or joint.name} link")
    own = body.get(usd_physics.RigidBodyAPI)
    assert own is not None
    link.add(own.copy())
    moment = LIGHT * sum(weight.moments) / 3.0
    link.add(usd_physics.MassAPI(
        mass=LIGHT * weight.mass, center_of_mass=place, diagonal_inertia=(moment,) * 3,
        principal_axes=frames.IDENTITY_ROTATION,
    ))  # fmt: skip
    return link


def _free(model: PhysicsModel, path: str) -> str:
    while path in model.prims:
        path += "_"
    return path


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
