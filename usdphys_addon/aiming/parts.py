# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies can be aimed one by one: those that neither joints nor values that may change connect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from ..core.ties import Ties
from ..simulation.switches import is_led
from .freedoms import Freedom


@dataclass(frozen=True, slots=True)
class Part:
    """What is searched together. freedoms, targets: their numbers. bodies: paths."""

    freedoms: tuple[int, ...]
    targets: tuple[int, ...]
    bodies: frozenset[str]


class Connected(NamedTuple):
    """paths: of bodies. joints: (prim, paths of the bodies on its sides that physics moves) by path."""

    paths: frozenset[str]
    joints: dict[str, tuple[Prim, frozenset[str]]]


def connected(model: PhysicsModel, bodies: Iterable[str]) -> Connected:
    """All bodies that joints connect with some, and all joints."""
    ties, joints = Ties(), {}
    for path, prim in model.joints.items():
        ends = _ends(model, path)
        joints[path] = prim, frozenset(ends)
        if ends:
            ties.tie(ends)
    wanted = {ties.root(path) for path in bodies}
    groups = [group for top, group in ties.groups().items() if top in wanted]
    return Connected(frozenset().union(*groups), joints)


def parts_of(model: PhysicsModel, freedoms: Sequence[Freedom], targets: Sequence[str]) -> list[Part]:
    """The parts of an aim. targets: the paths of their bodies.

    It is one part where some have a target and nothing that may change, or the other way round: then they have to meet.
    """
    ties = Ties()
    ends = {path: _ends(model, path) for path in model.joints}
    for both in ends.values():
        if both:
            ties.tie(both)
    users: dict[str, list[str]] = {}
    for path in model.colliders:
        body = model.body_of(path)
        if body is None or is_led(body):
            continue
        for material in model.prims[path].materials:
            users.setdefault(material, []).append(body.path)
    owners = []
    for freedom in freedoms:
        bodies = ends.get(freedom.path) or users.get(freedom.path) or [freedom.path]
        ties.tie(bodies)
        owners.append(bodies[0])
    for path in targets:
        ties.root(path)
    result = []
    for top, group in ties.groups().items():
        columns = tuple(at for at, path in enumerate(owners) if ties.root(path) == top)
        rows = tuple(at for at, path in enumerate(targets) if ties.root(path) == top)
        if columns and rows:
            result.append(Part(columns, rows, frozenset(group)))
        elif columns or rows:
            everything = tuple(range(len(freedoms))), tuple(range(len(targets)))
            return [Part(*everything, frozenset().union(*ties.groups().values()))]
    return result


def _ends(model: PhysicsModel, joint: str) -> list[str]:
    """The bodies that physics moves of a joint."""
    prim = model.prims[joint].get(usd_physics.Joint)
    assert prim is not None
    bodies = [model.body_of(path) for targets in (prim.body0, prim.body1) for path in (targets or ())[:1]]
    return [body.path for body in bodies if body is not None and not is_led(body)]


def apart(model: PhysicsModel, parts: Sequence[Part]) -> PhysicsModel:
    """A copy of a model in which bodies of different parts pass through each other."""
    name = usd_physics.FilteredPairsAPI.usd_name
    prims = dict(model.prims)
    others: tuple[str, ...] = ()
    for part in parts:
        for path in sorted(part.bodies & prims.keys()):
            old = prims[path].get(usd_physics.FilteredPairsAPI) or usd_physics.FilteredPairsAPI()
            pairs = (*(old.filtered_pairs or ()), *others)
            prims[path] = replace(prims[path], schemas={**prims[path].schemas, name: old.copy(filtered_pairs=pairs)})
        others += tuple(sorted(part.bodies & prims.keys()))
    return replace(model, prims=prims)
