# SPDX-License-Identifier: GPL-3.0-or-later
"""Several impacts in one step of the solver: of a ball between two others, of one that falls on a box on the floor, or
into a groove.

The solver lets one contact after the other rebound, once, as if nothing else were there: what the first one has got,
the second one takes away. Of a ball between two that come from both sides half of the energy is lost, and a ball that
falls on a box as heavy as itself comes up to a quarter of its height; one in a groove gets a third more. So these
impacts are gone through again, in the order in which they come, until nothing approaches; and the bodies get the
speeds that the contacts have then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapier3d import PhysicsWorld

from .constraints import matrix_of
from .impacts import ALIKE, EXACT, pushes
from .sides import STILL, Side, Vector, cross, dot, minus, speed_at

#: Points of contacts that are gone through together, and impacts between them, at most.
MOST_POINTS, MOST_IMPACTS = 60, 200
#: Relative to a step: impacts that are no further apart come at once.
AT_ONCE = 0.01
#: Relative to the fastest approach: by how much the solver may be off.
OFF = 0.02
#: Relative: by how much energy may grow, which is rounding.
GAINED = 1e-3
_Floats = NDArray[np.float64]


class Point(NamedTuple):
    """Where two bodies touch, or may in this step.

    bodies: handles. sides: of both. arms: from their centres of mass to the point, m. normal: from the first one to the
    second. gap: m. restitution: None where the second body stands and supports the first one, which is held there.
    """

    bodies: tuple[Any, Any]
    sides: tuple[Side, Side]
    arms: tuple[Vector, Vector]
    normal: Vector
    gap: float
    restitution: float | None

    @property
    def approach(self) -> float:
        """m/s."""
        (one, other), (own, its) = self.sides, self.arms
        return dot(minus(speed_at(one, own), speed_at(other, its)), self.normal)

    @property
    def contact(self) -> tuple[Any, ...]:
        """Of all points of a contact the same."""
        return *self.bodies, self.normal

    @property
    def movers(self) -> list[Any]:
        """Handles of the bodies that yield."""
        return [body for body, side in zip(self.bodies, self.sides, strict=True) if side.yields]


def noted(ctx: Any, contacts: Any, one: Side, other: Side, normal: Vector) -> Iterator[Point]:
    """The points of a contact that begin."""
    for each in contacts:
        if each.is_new:
            arms = minus(each.point.to_tuple(), one.middle), minus(each.point2.to_tuple(), other.middle)
            bodies = ctx.rigid_body1, ctx.rigid_body2
            yield Point(bodies, (one, other), arms, normal, max(each.dist, 0.0), ctx.restitution)


def settle(physics: PhysicsWorld, points: Sequence[Point], seconds: float, slow: float) -> None:
    """Give bodies with several impacts the speeds after all of them.

    points: at which bodies bounce. seconds: of the step that was made. slow: m/s, of approaches that are no impacts.
    """
    for group in _groups(points):
        if len(group) > MOST_POINTS or not _has_several(group, seconds, slow):
            continue
        group += _supports(physics, group, slow)
        if 1 < len(group) <= MOST_POINTS:
            _Meeting(group).settle(physics.rigid_bodies, seconds)


def _has_several(group: Sequence[Point], seconds: float, slow: float) -> bool:
    """Whether a body hits another one that yields, too, within so many seconds, or what is static in two directions."""
    normal = None
    for point in group:
        approach = point.approach
        if approach > slow and approach * seconds >= point.gap:
            normal = normal or point.normal
            if len(point.movers) == 2 or abs(dot(normal, point.normal)) < ALIKE:
                return True
    return False


def _groups(points: Sequence[Point]) -> Iterator[list[Point]]:
    """Points that are connected by bodies that yield."""
    groups: list[tuple[set[Any], list[Point]]] = []
    for point in points:
        merged = set(point.movers), [point]
        for group in [each for each in groups if not merged[0].isdisjoint(each[0])]:
            groups.remove(group)
            merged = merged[0] | group[0], [*group[1], *merged[1]]
        groups.append(merged)
    return (members for _, members in groups)


def _supports(physics: PhysicsWorld, group: Sequence[Point], slow: float) -> Iterator[Point]:
    """The other points at which something has pushed these bodies that stands still, or is no faster than slow, m/s.

    What such a push does not move stands on something itself, as the lower ones of a stack do.
    """
    known = {frozenset(point.bodies) for point in group}
    movers = {
        body: side for point in group for body, side in zip(point.bodies, point.sides, strict=True) if side.yields
    }
    for body, side in movers.items():
        for handle in physics.rigid_bodies[body].colliders:
            for pair in physics.narrow_phase.contact_pairs_with(handle):
                is_first = pair.collider1 == handle
                other = physics.colliders[pair.collider2 if is_first else pair.collider1].parent
                if frozenset((body, other)) in known or other in movers or not _stands(physics, other, slow):
                    continue
                for arm, normal in _pushes_of(physics, pair, is_first, side.middle):
                    yield Point((body, other), (side, STILL), (arm, (0.0, 0.0, 0.0)), normal, 0.0, None)


def _pushes_of(physics: PhysicsWorld, pair: Any, is_first: bool, middle: Vector) -> Iterator[tuple[Vector, Vector]]:
    """Arms, m, from the middle of a body and normals away from it at which a pair of colliders has pushed.

    is_first: the first collider is that of the body.
    """
    pose = matrix_of(physics.colliders[pair.collider1].position)
    for manifold in pair.manifolds:
        x, y, z = manifold.data.normal.to_tuple()
        normal = (x, y, z) if is_first else (-x, -y, -z)
        for each in manifold.points:
            if each.impulse > 0.0:
                i, j, k = (pose[:3, :3] @ each.local_p1.to_tuple() + pose[:3, 3]).tolist()
                yield minus((i, j, k), middle), normal


def _stands(physics: PhysicsWorld, body: Any, slow: float) -> bool:
    if body is None or physics.rigid_bodies[body].is_fixed:
        return True
    return bool(physics.rigid_bodies[body].is_dynamic and physics.rigid_bodies[body].linvel.norm() < slow)


class _Meeting:
    """The impacts at points (c,) of bodies (n,) that are connected, by their generalised speeds (6 n,)."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = points
        self._sides: dict[Any, Side] = {
            body: side for point in points for body, side in zip(point.bodies, point.sides, strict=True)
        }  # fmt: skip
        rows = {body: 6 * row for row, body in enumerate(self._sides)}
        #: (c, 6 n): speeds of approach by those of bodies.
        self._towards = np.zeros((len(points), 6 * len(rows)))
        for number, point in enumerate(points):
            for body, arm, sign in zip(point.bodies, point.arms, (1.0, -1.0), strict=True):
                row = rows[body]
                self._towards[number, row : row + 3] = np.multiply(sign, point.normal)
                self._towards[number, row + 3 : row + 6] = np.multiply(sign, cross(arm, point.normal))
        #: (6 n, 6 n): how bodies yield.
        self._yields = np.zeros((6 * len(rows), 6 * len(rows)))
        for body, row in rows.items():
            side = self._sides[body]
            self._yields[row : row + 3, row : row + 3] = side.yields * np.eye(3)
            self._yields[row + 3 : row + 6, row + 3 : row + 6] = side.turns

    def settle(self, bodies: Any, seconds: float) -> None:
        before = np.concatenate([(*side.velocity, *side.spin) for side in self._sides.values()])
        wanted = self._after(self._towards @ before, seconds)
        if wanted is None:
            return
        views = [bodies[body] if side.yields else None for body, side in self._sides.items()]
        now = np.concatenate([
            (*side.velocity, *side.spin) if view is None else (*view.linvel.to_tuple(), *view.angvel.to_tuple())
            for view, side in zip(views, self._sides.values(), strict=True)
        ])  # fmt: skip
        off = self._towards @ now - wanted
        if np.abs(off).max() <= OFF * np.abs(self._towards @ before).max():
            return
        changes = self._yields @ self._towards.T
        after = now - changes @ np.linalg.lstsq(self._towards @ changes, off, rcond=1e-6)[0]
        if self._energy(after) > (1.0 + GAINED) * max(self._energy(before), self._energy(now)):
            return
        for view, speeds in zip(views, after.reshape(-1, 6).tolist(), strict=True):
            if view is not None:
                view.linvel, view.angvel = tuple(speeds[:3]), tuple(speeds[3:])

    def _after(self, approaches: _Floats, seconds: float) -> _Floats | None:
        """Speeds of approach (c,) after all impacts; None where no more than one comes. approaches: before, (c,)."""
        approaches, gaps = approaches.copy(), np.array([point.gap for point in self._points])
        restitutions = np.array([point.restitution or 0.0 for point in self._points])
        supports = np.array([point.restitution is None for point in self._points])
        yields = self._towards @ self._yields @ self._towards.T
        least, left = EXACT * max(float(approaches.max()), 0.0), seconds
        met = {point.contact for point in self._points if point.restitution is None}
        for _ in range(MOST_IMPACTS):
            comes = (approaches > least) & ~supports
            times = np.where(comes, gaps / np.where(comes, approaches, 1.0), np.inf)
            first = float(times.min())
            if first > left:
                break
            gaps, left = np.maximum(gaps - approaches * first, 0.0), left - first
            hit = np.flatnonzero((times <= first + AT_ONCE * seconds) | supports)
            speeds = approaches[hit]
            rebounds = restitutions[hit] * np.maximum(speeds, 0.0)
            given = pushes(speeds.tolist(), yields[np.ix_(hit, hit)].tolist(), rebounds.tolist())
            approaches -= yields[:, hit] @ given
            met |= {self._points[number].contact for number in hit.tolist()}
        return approaches if len(met) > 1 else None

    def _energy(self, speeds: _Floats) -> float:
        """J, of the bodies that yield."""
        energy = 0.0
        for side, own in zip(self._sides.values(), speeds.reshape(-1, 6), strict=True):
            if side.yields:
                energy += 0.5 * float(own[:3] @ own[:3]) / side.yields
                energy += 0.5 * float(own[3:] @ np.linalg.lstsq(np.array(side.turns), own[3:], rcond=1e-9)[0])
        return energy
