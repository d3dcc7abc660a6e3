# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for colliders that are in each other at the start."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import collision_groups, overlap, paths
from ..frames import Matrix
from ..model import Mesh, Prim, SpherePoints
from ..overlap import Solid
from ..schemas import usd_geom, usd_physics
from ..ties import Ties
from ..words import length_text
from .base import Above, Facts, Finding, name, rule

_NO_TRIANGLES = np.zeros((0, 3), np.int64)
#: Share of a way out of a collider from which on it goes up or down, not to a side.
STEEP = 0.7
#: Overlaps up to this part of the smaller collider are left to the solver; shapes other than boxes are estimated.
SHALLOW, SHALLOW_ESTIMATE = 0.02, 0.1
#: Overlaps of one collider that are looked for, and pairs of such colliders, for each collider, before the search ends:
#: thousands at one place have millions.
_MOST_MEETINGS, _MOST_SKIPPED = 8, 100
#: Joints of a body, from which on those that it holds are no neighbours of each other.
_MOST_ENDS = 12
#: Colliders that are read in one step.
_AT_ONCE = 16


@dataclass(slots=True)
class _Meeting:
    """Two colliders: how deep `first`, of a moving body, is in `second`, m, and the unit way (3,) out of it."""

    first: Solid
    second: Solid
    depth: float
    way: Matrix
    is_same_place: bool


class Box(NamedTuple):
    """The lowest and the highest corner (3,) of a collider in the world, m."""

    prim: Prim
    low: Matrix
    high: Matrix


class _Touch(NamedTuple):
    """Two bodies of a chain of joints whose colliders overlap at the start, and how deep, m."""

    body: Prim
    other: Prim
    depth: float
    joint: Prim | None


def _shapes(facts: Facts) -> list[tuple[Prim, Mesh | SpherePoints | None]]:
    """The enabled colliders with their geometry, as far as it is known. What point instancers copy stands nowhere."""
    shapes: dict[str, Mesh | SpherePoints | None] = {
        path: Mesh(points, _NO_TRIANGLES) for path, points in facts.points.items()
    }
    shapes |= {prim.path: shape for prim, shape in facts.shapes}
    return [
        (prim, shapes.get(prim.path)) for prim, collider in facts.colliders
        if collider.collision_enabled is not False and prim.path not in facts.in_instancers
    ]  # fmt: skip


def solids_of_scene(facts: Facts) -> list[Solid]:
    """The convex solids of the enabled colliders of bodies and of what stands still."""
    return overlap.solids_of(_shapes(facts))


def moving_bounds(facts: Facts) -> tuple[Any, Any] | None:
    """The lowest and the highest corner (3,), m, of the colliders of all moving bodies; None if they have none."""
    boxes = [box for box in facts.once(boxes_of_scene) if moved_by(facts, box.prim) is not None]
    if not boxes:
        return None
    return np.min([box.low for box in boxes], axis=0), np.max([box.high for box in boxes], axis=0)


def moved_by(facts: Facts, prim: Prim) -> Prim | None:
    body = facts.carrier.at(prim.path)
    return body if body is not None and body.path in facts.dynamic else None


def boxes_of_scene(facts: Facts) -> list[Box]:
    return _bounds_of(facts, _shapes(facts), facts.once(solids_of_scene))


def _bounds_of(
    facts: Facts, shapes: list[tuple[Prim, Mesh | SpherePoints | None]], solids: list[Solid]
) -> list[Box]:  # fmt: skip
    """The bounds of colliders in the world: exact for solids, from the corners of their own bounds for other meshes."""
    boxes = [Box(solid.prim, solid.low, solid.high) for solid in solids]
    known = {box.prim.path for box in boxes}
    for prim, geometry in shapes:
        points = geometry.points if isinstance(geometry, Mesh) else facts.bounds.get(prim.path)
        if prim.path in known or points is None or not len(points):
            continue
        low, high = np.min(points, axis=0), np.max(points, axis=0)
        corners = overlap.corners(low, high) @ prim.world[:3, :3].T + prim.world[:3, 3]
        if np.isfinite(corners).all():
            boxes.append(Box(prim, corners.min(axis=0), corners.max(axis=0)))
    return boxes


def prepare(facts: Facts) -> Iterator[None]:
    """Compute in short steps what the rules of this module need."""
    solids: list[Solid] = []
    boxes: list[Box] = []
    shapes = _shapes(facts)
    for start in range(0, len(shapes), _AT_ONCE):
        part = shapes[start : start + _AT_ONCE]
        solids_of_part = overlap.solids_of(part)
        solids += solids_of_part
        yield
        boxes += _bounds_of(facts, part, solids_of_part)
        yield
    facts.remember(solids_of_scene, solids)
    facts.remember(boxes_of_scene, boxes)
    meetings: list[_Meeting] = []
    yield from _meeting_steps(facts, meetings)
    yield from _plane_steps(facts, meetings)
    facts.remember(_meetings, meetings)
    touches: list[_Touch] = []
    yield from _touch_steps(facts, touches)
    facts.remember(_touches, touches)


def ends_of(bodies: Above, joint: usd_physics.Joint) -> list[Prim | None]:
    """The body on each side of a joint; None for the world and for what is no body."""
    return [bodies.at(targets[0]) if targets else None for targets in (joint.body0, joint.body1)]


def _tied(facts: Facts) -> set[frozenset[str]]:
    """Pairs of bodies that a joint ties together, and filtered pairs, by path; "" is the world."""
    pairs = _filtered(facts)
    for _, joint in facts.joints:
        sides = zip(ends_of(facts.carrier, joint), (joint.body0, joint.body1), strict=True)
        names = [end.path if end is not None else (targets or ("",))[0] for end, targets in sides]
        pairs.add(frozenset(names))
    return pairs


def _filtered(facts: Facts) -> set[frozenset[str]]:
    """Filtered pairs, by path."""
    return {
        frozenset((prim.path, target))
        for prim, api in facts.all(usd_physics.FilteredPairsAPI) for target in api.filtered_pairs or ()
    }  # fmt: skip


def _groups(facts: Facts) -> tuple[collision_groups.MergedGroups, dict[str, set[int]]]:
    """(merged groups, numbers of the groups by path of collider)."""
    groups = {prim.path: group for prim, group in facts.groups}
    merged = collision_groups.merge(groups)
    of: dict[str, set[int]] = defaultdict(set)
    colliders = [prim.path for prim in facts.colliders.prims]
    for key, group in groups.items():
        for path in collision_groups.members(group, colliders):
            of[path].add(merged.number[key])
    return merged, of


class _Passing:
    """Which colliders pass through each other, by joints, filtered pairs, groups and articulations."""

    def __init__(self, facts: Facts, tied: set[frozenset[str]]) -> None:
        """tied: pairs of paths."""
        self._tied, (self._merged, self._of) = tied, _groups(facts)
        self._ends: frozenset[str] = frozenset().union(*tied)
        self._carrier, self._links = facts.carrier, facts.apart_links

    def named(self, prim: Prim) -> list[str]:
        """Paths of the prim of a collider and of those above it, as far as joints and filtered pairs name them."""
        return [path for path in (prim.path, *paths.ancestors_of(prim.path)) if path in self._ends]

    def through(self, one: Prim, other: Prim, named: list[str], others: list[str]) -> bool:
        """named, others: of the two colliders; paths in deep hierarchies are many, and each can meet all others."""
        if any(frozenset(pair) in self._tied for pair in itertools.product(named, others)):
            return True
        if self._links and not self._roots(one).isdisjoint(self._roots(other)):
            return True
        return any(self._merged.ignore_each_other(a, b) for a in self._of[one.path] for b in self._of[other.path])

    def _roots(self, prim: Prim) -> frozenset[str]:
        body = self._carrier.at(prim.path)
        return self._links.get(body.path, frozenset()) if body is not None else frozenset()


def _apart_at_start(facts: Facts) -> _Passing:
    """Which colliders may start in each other, because nothing pushes them apart."""
    return _Passing(facts, _tied(facts))


def _meetings(facts: Facts) -> list[_Meeting]:
    """Overlaps of colliders of different bodies, one of which moves, that neither joints nor filters excuse."""
    meetings: list[_Meeting] = []
    for _ in itertools.chain(_meeting_steps(facts, meetings), _plane_steps(facts, meetings)):
        pass
    return meetings


def _meeting_steps(facts: Facts, found: list[_Meeting]) -> Iterator[None]:
    exact, twins = facts.once(solids_of_scene), facts.once(_twins)
    solids = exact + [solid for pair in twins for solid in pair]
    carriers = [facts.carrier.at(solid.prim.path) for solid in solids]
    moves = [carrier is not None and carrier.path in facts.dynamic for carrier in carriers]
    if not any(moves):
        return
    passing = facts.once(_apart_at_start)
    rough = range(len(exact), len(solids))
    named = [passing.named(solid.prim) for solid in solids]
    counts, skipped = [0] * len(solids), 0
    yield
    for one, other in itertools.chain(overlap.close_pairs(exact), zip(rough[::2], rough[1::2], strict=True)):
        if not moves[one]:
            one, other = other, one
        if counts[one] >= _MOST_MEETINGS and counts[other] >= _MOST_MEETINGS:
            skipped += 1
            if skipped > _MOST_SKIPPED * len(solids):
                return
            continue
        if not moves[one] or (carriers[one] is not None and carriers[one] is carriers[other]):
            continue
        first, second = solids[one], solids[other]
        if passing.through(first.prim, second.prim, named[one], named[other]):
            continue
        meeting = _meeting(first, second, moves[other])
        if meeting is not None and (meeting.is_same_place or max(one, other) < len(exact)):
            found.append(meeting)
            counts[one], counts[other] = counts[one] + 1, counts[other] + 1
        yield


def _plane_steps(facts: Facts, found: list[_Meeting]) -> Iterator[None]:
    """Find what starts below the top of a plane that stands still: all that is there is inside of it."""
    planes = [
        (prim, gprim) for prim, _ in _shapes(facts) if facts.carrier.at(prim.path) is None
        and isinstance(gprim := prim.get(usd_geom.Gprim), usd_geom.Plane) and np.isfinite(prim.world).all()
    ]  # fmt: skip
    if not planes:
        return
    passing = facts.once(_apart_at_start)
    up = "XYZ".index(facts.model.units.up_axis)
    moving = [solid for solid in _moving_solids(facts) if moved_by(facts, solid.prim) is not None]
    yield
    for prim, gprim in planes:
        named = passing.named(prim)
        # Inverse transpose: the normal stays perpendicular to the plane under shear.
        normal = np.linalg.pinv(prim.world[:3, :3]).T @ np.eye(3)["XYZ".index(gprim.resolved("axis"))]
        normal = normal / max(float(np.linalg.norm(normal)), 1e-300)
        for number, solid in enumerate(moving):
            deep = float(((prim.world[:3, 3] - solid.points) @ normal).max()) + solid.radius
            if deep > max(SHALLOW * float((solid.high - solid.low).max()), 1e-6) and not passing.through(
                solid.prim, prim, passing.named(solid.prim), named
            ):
                top = solid.low.copy()
                top[up] += deep / normal[up] if abs(normal[up]) >= STEEP else 0.0
                found.append(_Meeting(solid, Solid(prim, top[None], 0.0, np.eye(3), low=top, high=top), deep, normal,
                                      is_same_place=False))  # fmt: skip
            if number % _AT_ONCE == 0:
                yield


def _moving_solids(facts: Facts) -> Iterator[Solid]:
    """Colliders as solids: the hull of a mesh reaches as far in each direction as the mesh; each ball is one."""
    solids = facts.once(solids_of_scene)
    yield from solids
    known = {solid.prim.path for solid in solids}
    for prim, geometry in _shapes(facts):
        if prim.path in known or geometry is None:
            continue
        if isinstance(geometry, Mesh):
            parts = [(np.asarray(geometry.points, float), 0.0)]
        else:
            size = float(np.cbrt(abs(np.linalg.det(prim.world[:3, :3]))))
            parts = [(np.array([center], float), size * float(radius))
                     for center, radius in zip(geometry.centers, geometry.radii, strict=True)]  # fmt: skip
        for local, radius in parts:
            points = local @ prim.world[:3, :3].T + prim.world[:3, 3]
            if len(points) and np.isfinite(points).all():
                low, high = points.min(axis=0) - radius, points.max(axis=0) + radius
                yield Solid(prim, points, radius, np.eye(3), low=low, high=high)


def _twins(facts: Facts) -> list[tuple[Solid, Solid]]:
    """Colliders with the same bounds, as boxes; of triangles and convex parts, nothing else is sure to overlap."""
    known = {solid.prim.path for solid in facts.once(solids_of_scene)}
    boxes = [box for box in facts.once(boxes_of_scene) if box.prim.path not in known]
    if len(boxes) < 2:
        return []
    ends = np.array([(*box.low, *box.high) for box in boxes])
    sizes = (ends[:, 3:] - ends[:, :3]).max(axis=1, keepdims=True)
    _, groups = np.unique(np.round(ends / (1e-3 * np.maximum(sizes, 1e-12))), axis=0, return_inverse=True)
    order = np.argsort(groups.reshape(-1), kind="stable")
    same = np.flatnonzero(np.diff(groups.reshape(-1)[order]) == 0)
    return [(_solid_of(boxes[order[row]]), _solid_of(boxes[order[row + 1]])) for row in same.tolist()]


def _solid_of(box: Box) -> Solid:
    return Solid(box.prim, overlap.corners(box.low, box.high), 0.0, np.eye(3), True, box.low, box.high)


def _meeting(first: Solid, second: Solid, both_move: bool) -> _Meeting | None:
    deep, way = overlap.depth(first, second)
    sizes = [solid.high - solid.low for solid in (first, second)]
    small = min(float(size.max()) for size in sizes)
    is_exact = (first.is_box and second.is_box) or len(first.points) == len(second.points) == 1
    if deep <= max((SHALLOW if is_exact else SHALLOW_ESTIMATE) * small, 1e-6):
        return None
    apart = float(np.linalg.norm(first.points.mean(axis=0) - second.points.mean(axis=0)))
    is_same = both_move and apart < 1e-3 * small and np.allclose(sizes[0], sizes[1], rtol=1e-3)
    return _Meeting(first, second, deep, way, bool(is_same))


class Separation(NamedTuple):
    """A way (3,), m, in the world, and the paths of the bodies and joints that go it together."""

    way: Matrix
    moved: frozenset[str]


def separation(facts: Facts, path: str) -> Separation | None:
    """What brings a body out of the collider that it is deepest in, with all that joints tie to it.

    Out of what does not move it goes to its top, not to its lower side, where it would fall. None for what is in
    nothing, or hangs on something that does not move.
    """
    trees = facts.once(_Trees)
    tree, mine = trees.of(path), []
    for meeting in facts.once(_meetings):
        ends = [_body(facts, solid).path for solid in (meeting.first, meeting.second)]
        is_outside = trees.of(ends[0]) != trees.of(ends[1])
        for body, way in zip(ends, (meeting.way, -meeting.way), strict=True):
            if body == path or (is_outside and trees.of(body) == tree):
                mine.append((meeting, way, is_outside))
    if not mine:
        return None
    meeting, way, is_outside = max(mine, key=lambda item: item[0].depth)
    if is_outside and tree in trees.anchored:
        return None
    lifted = _lift(facts, meeting, way)
    return Separation(
        way * (meeting.depth * 1.001) if lifted is None else lifted,
        trees.members(path) if is_outside else frozenset((path,)),
    )


def _lift(facts: Facts, meeting: _Meeting, way: Matrix) -> Matrix | None:
    """The way up, m, onto what does not move; None if the shortest way out of it goes to a side."""
    axis, other = "XYZ".index(facts.model.units.up_axis), facts.carrier.at(meeting.second.prim.path)
    if abs(way[axis]) < STEEP or (other is not None and other.path in facts.dynamic):
        return None
    up = np.zeros(3)
    up[axis] = float(meeting.second.high[axis] - meeting.first.low[axis]) + 1e-3 * meeting.depth
    return up


class _Trees:
    """Bodies that joints tie together. anchored: the trees of which a joint leads to something that does not move."""

    def __init__(self, facts: Facts) -> None:
        self._ties, anchors = Ties(), set[str]()
        #: The bodies that move of each joint, by its path.
        self._joints: dict[str, list[str]] = {}
        for prim, joint in facts.joints:
            if joint.joint_enabled is False:
                continue
            tied = [body.path for body in ends_of(facts.carrier, joint) if body is not None]
            moving = self._joints[prim.path] = [path for path in tied if path in facts.dynamic]
            if moving:
                self._ties.tie(moving)
            if len(moving) == 1:
                anchors.update(moving)
        self.anchored = set(map(self.of, anchors))

    def of(self, path: str) -> str:
        """The path by which the tree of a body is known."""
        return self._ties.root(path)

    def members(self, path: str) -> frozenset[str]:
        """The bodies that a body is tied to, itself, and the joints that tie them."""
        tree = self.of(path)
        bodies = self._ties.groups()[tree]
        return frozenset(bodies).union(
            joint for joint, ends in self._joints.items() if ends and self.of(ends[0]) == tree
        )


def _body(facts: Facts, solid: Solid) -> Prim:
    return facts.carrier.at(solid.prim.path) or solid.prim


@rule("BodiesOverlap")
def overlapping(facts: Facts) -> Iterator[Finding]:
    trees, done = facts.once(_Trees), set[str]()
    told: dict[str, list[tuple[_Meeting, Prim, Prim]]] = {}
    for meeting in sorted(facts.once(_meetings), key=lambda each: -each.depth):
        body, other = _body(facts, meeting.first), _body(facts, meeting.second)
        if meeting.is_same_place or body.path in done:
            continue
        done.add(body.path)
        is_outside = trees.of(body.path) != trees.of(other.path)
        told.setdefault(trees.of(body.path) if is_outside else f"in {body.path}", []).append((meeting, body, other))
    for (meeting, body, other), *more in told.values():
        text = f"{body.display} starts inside {other.display}, {length_text(meeting.depth)} deep."
        number = len(more)
        if number == 1:
            text += " " + "So does 1 body that joints tie to it."
        elif more:
            text += " " + f"So do {number} bodies that joints tie to it."
        yield Finding(body, text, {"other": name(other)})


@rule("BodiesInOnePlace")
def in_one_place(facts: Facts) -> Iterator[Finding]:
    done = set()
    for meeting in facts.once(_meetings):
        if not meeting.is_same_place:
            continue
        # The later one in the scene is the copy.
        other, body = sorted((_body(facts, meeting.first), _body(facts, meeting.second)), key=lambda prim: prim.path)
        if body.path not in done:
            done.add(body.path)
            yield Finding(body, f"{body.display} is in the same place as {other.display}.", {"other": name(other)})


def _neighbours(facts: Facts) -> dict[frozenset[str], Prim | None]:
    """Pairs of bodies, by path, that are next to each other in a chain of joints and yet collide.

    With the joint between them where this lets them collide; None for those with one body between them.
    """
    links: dict[str, dict[str, Prim]] = defaultdict(dict)
    pairs: dict[frozenset[str], Prim | None] = {}
    apart: set[frozenset[str]] = set()
    for prim, joint in facts.joints:
        first, second = ends_of(facts.carrier, joint)
        if joint.joint_enabled is False or first is None or second is None or first is second:
            continue
        links[first.path][second.path] = links[second.path][first.path] = prim
        pair = frozenset((first.path, second.path))
        if joint.collision_enabled is True:
            pairs[pair] = prim
        else:
            apart.add(pair)
    for ends in links.values():
        # A body that holds very many has no neighbours to speak of.
        if len(ends) <= _MOST_ENDS:
            for one, other in itertools.combinations(ends, 2):
                pairs.setdefault(frozenset((one, other)), None)
    return {pair: prim for pair, prim in pairs.items() if pair not in apart}


def _touches(facts: Facts) -> list[_Touch]:
    """Overlaps, also shallow ones, of bodies that are next to each other in a chain of joints."""
    touches: list[_Touch] = []
    for _ in _touch_steps(facts, touches):
        pass
    return touches


def _touch_steps(facts: Facts, found: list[_Touch]) -> Iterator[None]:
    neighbours = _neighbours(facts)
    yield
    if not neighbours:
        return
    linked = frozenset().union(*neighbours)
    solids, bodies = [], []
    for solid in facts.once(solids_of_scene):
        body = facts.carrier.at(solid.prim.path)
        if body is not None and body.path in linked:
            solids.append(solid)
            bodies.append(body)
        yield
    passing, known = _Passing(facts, _filtered(facts)), {frozenset(pair) for pair in _told(facts)}
    named = [passing.named(solid.prim) for solid in solids]
    deepest: dict[frozenset[str], _Touch] = {}
    yield
    for one, other in overlap.close_pairs(solids):
        pair = frozenset((bodies[one].path, bodies[other].path))
        if pair not in neighbours or pair in known or not any(path in facts.dynamic for path in pair):
            continue
        first, second = solids[one], solids[other]
        if passing.through(first.prim, second.prim, named[one], named[other]):
            continue
        deep = overlap.depth_closely(first, second)
        least = SHALLOW * min(float((solid.high - solid.low).max()) for solid in (first, second))
        if deep > max(least, 1e-6) and (pair not in deepest or deep > deepest[pair].depth):
            deepest[pair] = _Touch(bodies[one], bodies[other], deep, neighbours[pair])
        yield
    found += deepest.values()


def _told(facts: Facts) -> Iterator[tuple[str, str]]:
    """Pairs of bodies that `BodiesOverlap` and `BodiesInOnePlace` name."""
    return ((_body(facts, each.first).path, _body(facts, each.second).path) for each in facts.once(_meetings))


@rule("LinkTouchesNext")
def link_touches_next(facts: Facts) -> Iterator[Finding]:
    for body, other, deep, joint in facts.once(_touches):
        why = "the joint between them lets them collide" if joint is not None else "one link is between them"
        text = f"{body.display} is {length_text(deep)} inside {other.display} at rest, and {why}."
        yield Finding(body, text, {"other": name(other)})
