# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for scenes that are legal but do not do what was meant: overlaps, sizes, masses, values without effect."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .. import collision_groups, mass, overlap, paths
from ..coasting import keeps_velocity
from ..frames import Matrix
from ..joint_kinds import limits_of
from ..model import Mesh, Prim, SpherePoints
from ..overlap import Solid
from ..schema import ANGULAR_DOFS
from ..schemas import usd_geom, usd_physics
from ..words import counted, joint_value_text, length_text
from .base import OF_GLTF, Above, Facts, Finding, name, rule

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
#: Part of the larger extent of both by which a collider is far from what is seen of its body.
_FAR = 0.25
#: Mass ratio that solvers bear.
RATIO = 100.0
#: Targets so little (rad, m) beyond a limit are at it.
_NEAR = 1e-4
#: Approximations whose volume takes no hull.
_BOUNDS = ("boundingCube", "boundingSphere")
#: From which ratio on PhysX wants the light body to be the second of a joint, and not between two heavy ones.
JOINT_RATIO = 10.0
#: Colliders that are read in one step.
_AT_ONCE = 16
SMALLEST, LARGEST = 1e-3, 1e4
#: Usual sizes of moving bodies, m.
USUAL_LOW, USUAL_HIGH = 2e-3, 50.0


@dataclass(slots=True)
class _Meeting:
    """Two colliders: how deep `first`, of a moving body, is in `second`, m, and the unit way (3,) out of it."""

    first: Solid
    second: Solid
    depth: float
    way: Matrix
    is_same_place: bool


class _Box(NamedTuple):
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


class _Uneven(NamedTuple):
    """Two moving bodies and their masses, kg."""

    light: Prim
    heavy: Prim
    lower: float
    higher: float


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
    boxes = [box for box in facts.once(_boxes) if _moved_by(facts, box.prim) is not None]
    if not boxes:
        return None
    return np.min([box.low for box in boxes], axis=0), np.max([box.high for box in boxes], axis=0)


def _moved_by(facts: Facts, prim: Prim) -> Prim | None:
    body = facts.carrier.at(prim.path)
    return body if body is not None and body.path in facts.dynamic else None


def _boxes(facts: Facts) -> list[_Box]:
    return _boxes_of(facts, _shapes(facts), facts.once(solids_of_scene))


def _boxes_of(
    facts: Facts, shapes: list[tuple[Prim, Mesh | SpherePoints | None]], solids: list[Solid]
) -> list[_Box]:  # fmt: skip
    """The bounds of colliders in the world: exact for solids, from the corners of their own bounds for other meshes."""
    boxes = [_Box(solid.prim, solid.low, solid.high) for solid in solids]
    known = {box.prim.path for box in boxes}
    for prim, geometry in shapes:
        points = geometry.points if isinstance(geometry, Mesh) else facts.bounds.get(prim.path)
        if prim.path in known or points is None or not len(points):
            continue
        low, high = np.min(points, axis=0), np.max(points, axis=0)
        corners = overlap.corners(low, high) @ prim.world[:3, :3].T + prim.world[:3, 3]
        if np.isfinite(corners).all():
            boxes.append(_Box(prim, corners.min(axis=0), corners.max(axis=0)))
    return boxes


def prepare(facts: Facts) -> Iterator[None]:
    """Compute in short steps what the rules of this module need, for checks that must not block the interface."""
    solids: list[Solid] = []
    boxes: list[_Box] = []
    shapes = _shapes(facts)
    for start in range(0, len(shapes), _AT_ONCE):
        part = shapes[start : start + _AT_ONCE]
        solids_of_part = overlap.solids_of(part)
        solids += solids_of_part
        yield
        boxes += _boxes_of(facts, part, solids_of_part)
        yield
    facts.remember(solids_of_scene, solids)
    facts.remember(_boxes, boxes)
    meetings: list[_Meeting] = []
    yield from _meeting_steps(facts, meetings)
    facts.remember(_meetings, meetings)
    far: list[tuple[Prim, Prim | None, float]] = []
    yield from _far_steps(facts, far)
    facts.remember(_far, far)
    touches: list[_Touch] = []
    yield from _touch_steps(facts, touches)
    facts.remember(_touches, touches)
    masses = Masses(facts)
    yield from masses.steps()
    facts.remember(Masses, masses)
    for _, *bodies in facts.once(_joined):
        for body in bodies:
            masses.of(body.path)
            yield
    uneven: list[_Uneven] = []
    yield from _uneven_steps(facts, uneven)
    facts.remember(_uneven, uneven)


def _ends(bodies: Above, joint: usd_physics.Joint) -> list[Prim | None]:
    """The body on each side of a joint; None for the world and for what is no body."""
    return [bodies.at(targets[0]) if targets else None for targets in (joint.body0, joint.body1)]


def _tied(facts: Facts) -> set[frozenset[str]]:
    """Pairs of bodies that a joint ties together, and filtered pairs, by path; "" is the world."""
    pairs = _filtered(facts)
    for _, joint in facts.joints:
        sides = zip(_ends(facts.carrier, joint), (joint.body0, joint.body1), strict=True)
        names = [end.path if end is not None else (targets or ("",))[0] for end, targets in sides]
        pairs.add(frozenset(names))
    return pairs


def _filtered(facts: Facts) -> set[frozenset[str]]:
    """Filtered pairs, by path."""
    return {
        frozenset((prim.path, target))
        for prim, api in facts.all(usd_physics.FilteredPairsAPI) for target in api.filtered_pairs or ()
    }  # fmt: skip


def _named(solid: Solid, ends: frozenset[str]) -> list[str]:
    """Paths of the prim of a collider and of those above it, as far as joints and filtered pairs name them."""
    return [path for path in (solid.prim.path, *paths.ancestors_of(solid.prim.path)) if path in ends]


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


def _are_links_apart(facts: Facts, body: Prim | None, other: Prim | None) -> bool:
    """True for two links of an articulation whose links do not collide with each other."""
    if body is None or other is None or not facts.apart_links:
        return False
    return not facts.apart_links.get(body.path, frozenset()).isdisjoint(facts.apart_links.get(other.path, ()))


def _meetings(facts: Facts) -> list[_Meeting]:
    """Overlaps of colliders of different bodies, one of which moves, that neither joints nor filters excuse."""
    meetings: list[_Meeting] = []
    for _ in _meeting_steps(facts, meetings):
        pass
    return meetings


def _meeting_steps(facts: Facts, found: list[_Meeting]) -> Iterator[None]:
    exact, twins = facts.once(solids_of_scene), facts.once(_twins)
    solids = exact + [solid for pair in twins for solid in pair]
    carriers = [facts.carrier.at(solid.prim.path) for solid in solids]
    moves = [carrier is not None and carrier.path in facts.dynamic for carrier in carriers]
    if not any(moves):
        return
    tied, (merged, of) = _tied(facts), _groups(facts)
    ends: frozenset[str] = frozenset().union(*tied)
    rough = range(len(exact), len(solids))
    # Paths in deep hierarchies are many, and each collider can meet all others.
    named = [_named(solid, ends) for solid in solids]
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
        if _are_links_apart(facts, carriers[one], carriers[other]):
            continue
        first, second = solids[one], solids[other]
        if any(frozenset(pair) in tied for pair in itertools.product(named[one], named[other])):
            continue
        if any(merged.ignore_each_other(a, b) for a in of[first.prim.path] for b in of[second.prim.path]):
            continue
        meeting = _meeting(first, second, moves[other])
        if meeting is not None and (meeting.is_same_place or max(one, other) < len(exact)):
            found.append(meeting)
            counts[one], counts[other] = counts[one] + 1, counts[other] + 1
        yield


def _twins(facts: Facts) -> list[tuple[Solid, Solid]]:
    """Colliders with the same bounds, as boxes; of triangles and convex parts, nothing else is sure to overlap."""
    known = {solid.prim.path for solid in facts.once(solids_of_scene)}
    boxes = [box for box in facts.once(_boxes) if box.prim.path not in known]
    if len(boxes) < 2:
        return []
    ends = np.array([(*box.low, *box.high) for box in boxes])
    sizes = (ends[:, 3:] - ends[:, :3]).max(axis=1, keepdims=True)
    _, groups = np.unique(np.round(ends / (1e-3 * np.maximum(sizes, 1e-12))), axis=0, return_inverse=True)
    order = np.argsort(groups.reshape(-1), kind="stable")
    same = np.flatnonzero(np.diff(groups.reshape(-1)[order]) == 0)
    return [(_solid_of(boxes[order[row]]), _solid_of(boxes[order[row + 1]])) for row in same.tolist()]


def _solid_of(box: _Box) -> Solid:
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


def separation(facts: Facts, path: str) -> Matrix | None:
    """Way (3,), m, in the world, that brings a body out of the collider that it is deepest in, or None.

    Out of what does not move it goes to its top, not to its lower side, where it would fall.
    """
    mine = []
    for meeting in facts.once(_meetings):
        for solid, way in ((meeting.first, meeting.way), (meeting.second, -meeting.way)):
            body = facts.carrier.at(solid.prim.path)
            if path in (solid.prim.path, body.path if body is not None else ""):
                mine.append((meeting.depth, way))
    if not mine:
        return None
    deep, way = max(mine, key=lambda item: item[0])
    result: Matrix = way * (deep * 1.001)
    lifted = _lift(facts, path, deep, way)
    return result if lifted is None else lifted


def _lift(facts: Facts, path: str, deep: float, way: Matrix) -> Matrix | None:
    """The way up, m, onto what does not move; None if the shortest way out of it goes to a side."""
    axis = "XYZ".index(facts.model.units.up_axis)
    if abs(way[axis]) < STEEP:
        return None
    for meeting in facts.once(_meetings):
        body, other = (facts.carrier.at(solid.prim.path) for solid in (meeting.first, meeting.second))
        is_mine = path in (meeting.first.prim.path, body.path if body is not None else "") and meeting.depth == deep
        if is_mine and (other is None or other.path not in facts.dynamic):
            up = np.zeros(3)
            rise = float(meeting.second.high[axis] - meeting.first.low[axis])
            up[axis] = rise + 1e-3 * deep
            result: Matrix = up
            return result
    return None


def _body(facts: Facts, solid: Solid) -> Prim:
    return facts.carrier.at(solid.prim.path) or solid.prim


@rule("BodiesOverlap")
def overlapping(facts: Facts) -> Iterator[Finding]:
    done = set()
    for meeting in sorted(facts.once(_meetings), key=lambda each: -each.depth):
        body, other = _body(facts, meeting.first), _body(facts, meeting.second)
        if meeting.is_same_place or body.path in done:
            continue
        done.add(body.path)
        text = f"{body.display} starts inside {other.display}, {length_text(meeting.depth)} deep."
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
        first, second = _ends(facts.carrier, joint)
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
    (merged, of), known = _groups(facts), {frozenset(pair) for pair in _told(facts)}
    tied = _filtered(facts)
    ends: frozenset[str] = frozenset().union(*tied)
    named = [_named(solid, ends) for solid in solids]
    deepest: dict[frozenset[str], _Touch] = {}
    yield
    for one, other in overlap.close_pairs(solids):
        pair = frozenset((bodies[one].path, bodies[other].path))
        if pair not in neighbours or pair in known or not any(path in facts.dynamic for path in pair):
            continue
        if _are_links_apart(facts, bodies[one], bodies[other]):
            continue
        first, second = solids[one], solids[other]
        if any(frozenset(both) in tied for both in itertools.product(named[one], named[other])):
            continue
        if any(merged.ignore_each_other(a, b) for a in of[first.prim.path] for b in of[second.prim.path]):
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


def _far(facts: Facts) -> list[tuple[Prim, Prim | None, float]]:
    found: list[tuple[Prim, Prim | None, float]] = []
    for _ in _far_steps(facts, found):
        pass
    return found


def _far_steps(facts: Facts, found: list[tuple[Prim, Prim | None, float]]) -> Iterator[None]:
    """Find colliders far from what is seen: (collider, its body, distance in m)."""
    seen_bounds = facts.seen_bounds
    yield
    for box in facts.once(_boxes) if seen_bounds else ():
        prim = box.prim
        yield
        if prim.path in seen_bounds or any("Trigger" in applied for applied in prim.schemas):
            continue
        body = facts.carrier.at(prim.path)
        seen = seen_bounds.get(body.path if body is not None else paths.parent_of(prim.path))
        if seen is None:
            continue
        gap = float(np.linalg.norm(np.maximum(np.maximum(seen[0] - box.high, box.low - seen[1]), 0.0)))
        if gap > _FAR * max(float((box.high - box.low).max()), float((seen[1] - seen[0]).max())):
            found.append((prim, body, gap))


@rule("ColliderFarFromMesh")
def far_from_mesh(facts: Facts) -> Iterator[Finding]:
    for prim, body, gap in facts.once(_far):
        what = body.display if body is not None else "the object that it is on"
        yield Finding(prim, f"The collider {prim.display} is {length_text(gap)} away from what is seen of {what}.")


# --------------------------------------------------------------------------- masses and sizes


class Masses:
    """Masses of moving bodies (kg), computed when first asked for; 0 where it is not known."""

    def __init__(self, facts: Facts) -> None:
        self._facts, self._found = facts, dict[str, float]()
        self._colliders: dict[str, list[Prim]] | None = None

    def steps(self) -> Iterator[None]:
        """Find the colliders of all bodies in steps, as `mass.colliders_by_body` does in one; `of` needs them."""
        by_body: dict[str, list[Prim]] = {path: [] for path in self._facts.enabled}
        owners = Above(self._facts.enabled)
        for prim, collider in self._facts.colliders:
            body = owners.at(prim.path) if collider.collision_enabled is not False else None
            if body is not None:
                by_body[body.path].append(prim)
            yield
        self._colliders = by_body

    def of(self, path: str) -> float:
        if path not in self._found:
            if self._colliders is None:
                for _ in self.steps():
                    pass
            self._found[path] = _mass_of(self._facts, path, (self._colliders or {}).get(path, []))
        return self._found[path]


def _uneven(facts: Facts) -> list[_Uneven]:
    """Pairs of moving bodies that differ much in mass, joined outside of articulations or stacked."""
    pairs: list[_Uneven] = []
    for _ in _uneven_steps(facts, pairs):
        pass
    return pairs


def _uneven_steps(facts: Facts, found: list[_Uneven]) -> Iterator[None]:
    pairs: dict[tuple[str, str], None] = {}
    for _, *bodies in facts.once(_joined):
        first, second = sorted(body.path for body in bodies)
        pairs[first, second] = None
    yield
    solids = facts.once(solids_of_scene) if facts.dynamic else []
    carriers = [facts.carrier.at(solid.prim.path) for solid in solids]
    moving = [body.path if body is not None and body.path in facts.dynamic else "" for body in carriers]
    lows, middles = [float(solid.low[2]) for solid in solids], [float(solid.points[:, 2].mean()) for solid in solids]
    yield
    for one, other in overlap.close_pairs(solids, 1e-4):
        if not moving[one] or not moving[other] or moving[one] == moving[other]:
            continue
        upper, lower = (other, one) if middles[one] < middles[other] else (one, other)
        if lows[upper] >= middles[lower]:
            first, second = sorted((moving[one], moving[other]))
            pairs[first, second] = None
        yield
    if not pairs:
        return
    masses = facts.once(Masses)
    for pair in pairs:
        light, heavy = sorted(pair, key=masses.of)
        if 0.0 < masses.of(light) * RATIO < masses.of(heavy):
            found.append(_Uneven(facts.dynamic[light], facts.dynamic[heavy], masses.of(light), masses.of(heavy)))
        yield


def _mass_of(facts: Facts, path: str, colliders: list[Prim]) -> float:
    """Mass of a body, kg; 0 if it depends on meshes that are not loaded."""
    if not facts.check_geometry:
        own = facts.model.prims[path].get(usd_physics.MassAPI)
        if own is not None and isinstance(own.mass, int | float) and own.mass > 0.0:  # text where the type is wrong
            return float(own.mass)
        known = [_with_points(facts, prim) for prim in colliders]
        colliders = [prim for prim in known if prim is not None]
        if len(colliders) < len(known) or not colliders:
            return 0.0
    return mass.mass_properties(facts.model, path, colliders).mass


def _with_points(facts: Facts, prim: Prim) -> Prim | None:
    """A collider whose volume can be computed from the points that are read already, or None."""
    if prim.get(usd_geom.Gprim) is not None or prim.mesh is not None:
        return prim
    points = facts.points.get(prim.path)
    settings = prim.get(usd_physics.MeshCollisionAPI)
    approximation = "none" if settings is None else settings.resolved("approximation")
    is_cheap = approximation in _BOUNDS or (approximation == "convexHull" and points is not None and len(points) <= 64)
    if points is None or not is_cheap:
        return None
    return replace(prim, mesh=lambda: Mesh(points, _NO_TRIANGLES))


@rule("MassRatioHigh")
def mass_ratio(facts: Facts) -> Iterator[Finding]:
    for pair in facts.once(_uneven):
        lower, higher = (float(f"{value:.3g}") for value in (pair.lower, pair.higher))
        yield Finding(
            pair.light,
            f"{pair.light.display} ({lower:g} kg) holds, or is held by, {pair.heavy.display} ({higher:g} kg).",
            {"other": name(pair.heavy)},
        )


def _joined(facts: Facts) -> list[tuple[Prim, Prim, Prim]]:
    """(joint, first body, second body) of the joints between two moving bodies that are in no articulation.

    glTF has none.
    """
    inside = facts.articulated if facts.target not in OF_GLTF else frozenset()
    joints = []
    for prim, joint in facts.joints:
        first, second = _ends(facts.mover, joint)
        if first is None or second is None or first is second or joint.joint_enabled is False:
            continue
        if first.path in facts.dynamic and second.path in facts.dynamic and prim.path not in inside:
            joints.append((prim, first, second))
    return joints


@rule("JointLightFirst")
def light_body_first(facts: Facts) -> Iterator[Finding]:
    for prim, first, second in facts.once(_joined):
        masses = facts.once(Masses)
        light, heavy = masses.of(first.path), masses.of(second.path)
        if 0.0 < light * JOINT_RATIO < heavy:
            yield Finding(
                prim, f"The first body of the joint {prim.display}, {first.display} ({light:.3g} kg), is much lighter "
                f"than the second, {second.display} ({heavy:.3g} kg).",
            )  # fmt: skip


@rule("LightBetweenHeavy")
def light_between_heavy(facts: Facts) -> Iterator[Finding]:
    heavy: dict[str, dict[str, Prim]] = {}
    for _, first, second in facts.once(_joined):
        masses = facts.once(Masses)
        for own, other in ((first, second), (second, first)):
            if 0.0 < masses.of(own.path) * JOINT_RATIO < masses.of(other.path):
                heavy.setdefault(own.path, {})[other.path] = other
    for path, others in heavy.items():
        if len(others) > 1:
            body, masses = facts.dynamic[path], facts.once(Masses)
            one, other = list(others.values())[:2]
            yield Finding(
                body, f"{body.display} ({masses.of(path):.3g} kg) is between {one.display} "
                f"({masses.of(one.path):.3g} kg) and {other.display} ({masses.of(other.path):.3g} kg).",
            )  # fmt: skip


@rule("ColliderSizeExtreme")
def extreme_size(facts: Facts) -> Iterator[Finding]:
    for prim, low, high in facts.once(_boxes):
        size = float((high - low).max())
        # What is 1 mm large, but for rounding, is not smaller.
        if 0.0 < size < SMALLEST * (1.0 - 1e-4) or LARGEST * (1.0 + 1e-4) < size < np.inf:
            yield Finding(prim, f"The collider {prim.display} is {length_text(size)} large.")


@rule("SceneScaleUnusual")
def unusual_scale(facts: Facts) -> Iterator[Finding]:
    sizes: dict[str, float] = defaultdict(float)
    for prim, low, high in facts.once(_boxes):
        body = _moved_by(facts, prim)
        if body is not None:
            sizes[body.path] = max(sizes[body.path], float((high - low).max()))
    if not sizes:
        return
    middle = float(np.median(list(sizes.values())))
    if not USUAL_LOW <= middle <= USUAL_HIGH:
        yield Finding(None, f"A typical moving body is {length_text(middle)} large.")


# --------------------------------------------------------------------------- floor, joints


@rule("NoFloor")
def no_floor(facts: Facts) -> Iterator[Finding]:
    scenes = facts.all(usd_physics.PhysicsScene)
    if not facts.dynamic or not len(scenes) or any(scene.gravity_magnitude == 0 for _, scene in scenes):
        return
    falls = False
    for prim, collider in facts.colliders:
        body = facts.carrier.at(prim.path)
        if collider.collision_enabled is not False:
            if body is None or body.path not in facts.dynamic:
                return
            falls = True
    if not falls:
        return
    for _, joint in facts.joints:
        ends = _ends(facts.mover, joint)
        if any(end is None or end.path not in facts.dynamic for end in ends):
            return
    yield Finding(None, "Nothing is there to land on: all colliders belong to bodies that fall.")


@rule("JointMovesNothing")
def idle_joint(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        ends = _ends(facts.mover, joint)
        if any(ends) and not any(end is not None and end.path in facts.dynamic for end in ends):
            yield Finding(prim, f"The joint {prim.display} joins no dynamic body.")


@rule("ArticulationRootTwice")
def two_roots(facts: Facts) -> Iterator[Finding]:
    roots = facts.all(usd_physics.ArticulationRootAPI).prims
    if len(roots) < 2:
        return
    # Union of the bodies that joints connect; the world connects nothing.
    leader: dict[str, str] = {}

    def find(path: str) -> str:
        while leader.setdefault(path, path) != path:
            leader[path] = path = leader[leader[path]]
        return path

    ends_of: dict[str, str] = {}
    for prim, joint in facts.joints:
        ends = _ends(facts.mover, joint)
        bodies = [end.path for end in ends if end is not None and end.path in facts.dynamic]
        if joint.exclude_from_articulation is True or not bodies:
            continue
        ends_of[prim.path] = bodies[0]
        for path in bodies[1:]:
            leader[find(path)] = find(bodies[0])
    seen: dict[str, Prim] = {}
    inside = paths.inside_each((*leader, *ends_of), {root.path for root in roots})
    for root in roots:
        trees = {find(ends_of.get(path, path)) for path in inside[root.path]}
        for tree in trees:
            other = seen.setdefault(tree, root)
            nests = paths.is_below(root.path, other.path) or paths.is_below(other.path, root.path)
            if other is not root and not nests:
                message = f"{root.display} and {other.display} are articulation roots of the same bodies."
                yield Finding(root, message, {"other": name(other)})
                break


@rule("PlaceInSamples")
def place_in_samples(facts: Facts) -> Iterator[Finding]:
    """One finding for all: such files have every place so."""
    found = [prim for prim in facts.model.prims.values() if prim.is_sampled]
    if found:
        others = f" and {counted(len(found) - 1, 'other prim')}" if len(found) > 1 else ""
        yield Finding(
            found[0], f"The file has the place of {found[0].display}{others} in time samples only: a simulator that "
            "reads the default time, such as Newton, puts it at the origin.",
        )  # fmt: skip


# --------------------------------------------------------------------------- values without effect


@rule("KinematicVelocity")
def kinematic_velocity(facts: Facts) -> Iterator[Finding]:
    for prim, body in facts.bodies:
        is_moving = any(body.velocity or ()) or any(body.angular_velocity or ())
        if body.kinematic_enabled is True and is_moving and (prim.is_animated or not keeps_velocity(prim)):
            yield Finding(prim, f"{prim.display} is kinematic, so its velocity has no effect.")


@rule("DensityWithoutEffect")
def idle_density(facts: Facts) -> Iterator[Finding]:
    for prim, values in facts.masses:
        if (values.mass or 0.0) > 0.0 and (values.density or 0.0) > 0.0:
            yield Finding(prim, f"{prim.display} has a mass, so its density has no effect.")


@rule("DriveTargetWithoutEffect")
def idle_target(facts: Facts) -> Iterator[Finding]:
    for prim, dof, drive in facts.applied(usd_physics.DriveAPI):
        if not (drive.stiffness or drive.damping):
            continue  # reported by DriveWithoutGain
        for target, gain in (("target_position", "stiffness"), ("target_velocity", "damping")):
            value = getattr(drive, target)
            if value and math.isfinite(value) and not getattr(drive, gain):
                what = target.replace("_", " ")
                message = f"The {what} of the drive {dof} of {prim.display} has no effect without {gain}."
                yield Finding(prim, message, {"gain": gain, "dof": dof})


@rule("DriveTargetBeyondLimit")
def unreachable_target(facts: Facts) -> Iterator[Finding]:
    for prim, dof, drive in facts.applied(usd_physics.DriveAPI):
        target, (low, high) = drive.target_position, _limits(prim, dof)
        if target is None or not drive.stiffness or low > high:
            continue  # where both limits are locked or reversed, other rules say so
        if target < low - _NEAR:
            limit, value = "lower", low
        elif target > high + _NEAR:
            limit, value = "upper", high
        else:
            continue
        aim, end = (joint_value_text(one, is_angular=dof in ANGULAR_DOFS) for one in (target, value))
        message = f"The drive {dof} of {prim.display} aims at {aim}, beyond its {limit} limit, {end}."
        yield Finding(prim, message, {"dof": dof, "limit": limit})


def _limits(prim: Prim, dof: str) -> tuple[float, float]:
    """Limits of a degree of freedom of a prim, rad or m; infinite where it has none."""
    joint = {"angular": usd_physics.RevoluteJoint, "linear": usd_physics.PrismaticJoint}.get(dof)
    limited = prim.schemas.get(f"{usd_physics.LimitAPI.usd_name}:{dof}") if joint is None else prim.get(joint)
    return limits_of(limited, dof) if limited is not None else (-math.inf, math.inf)
