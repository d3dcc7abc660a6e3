# SPDX-License-Identifier: GPL-3.0-or-later
"""Impacts with restitution at several points at once, as of a box that falls flat.

The solver lets one point of a contact rebound after the other, once. So a box that falls flat would turn, and a flat
one or a cylinder would rise to half or to 1.4 times its height, and on tiles to twice of it. All points push along one
normal: together they push as one point between them does, and of one point the solver makes the right rebound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .constraints import matrix_of
from .ledges import Ledges
from .sides import Side, Vector, dot, minus, moved_by, plus, speed_at

#: Relative to the height of a body: how level the corners of a face are.
LEVEL = 0.002
#: Sweeps over the points, at most, and the change, relative to the largest push, from which there is no other one.
SWEEPS, EXACT = 50, 1e-4
#: Relative to the speed of an impact with restitution: speed of the points round the normal, from which friction brakes
#: them apart.
SPINNING = 0.2
#: Relative to the size of a body: how far it may come into another one before its impact is seen.
SHALLOW = 0.3
#: Cosine from which two normals are one.
ALIKE = 0.999
#: A contact is an impact that comes faster than gravity makes a body in so many steps.
SLOW_FALLS = 4.0


class Touch(NamedTuple):
    """Where two bodies touch: points (3,) on both, and how far these are apart, m. is_new: it begins."""

    point: tuple[float, float, float]
    point2: tuple[float, float, float]
    dist: float
    is_new: bool


class Corners:
    """The corners of the bodies of one world of the solver, by which they land."""

    def __init__(self) -> None:
        #: By the handle of a collider, `corners_of` its shape.
        self._known: dict[Any, NDArray[np.float64] | None] = {}

    def lowest(self, ctx: Any, body: Any, down: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The lowest corners (n, 3), m, of a body, in the world; None where a part of it has none. down: (3,)."""
        everything = []
        for handle in ctx.bodies[body].colliders:
            if handle not in self._known:
                self._known[handle] = corners_of(ctx.colliders[handle].shape)
            own = self._known[handle]
            if own is None:
                return None
            pose = matrix_of(ctx.colliders[handle].position)
            everything.append(own @ pose[:3, :3].T + pose[:3, 3])
        corners = np.concatenate(everything)
        heights = corners @ down
        lowest: NDArray[np.float64] = corners[heights > heights.max() - LEVEL * np.ptp(heights)]
        return lowest


class Impacts:
    """The impacts with restitution of one world of the solver. ledges: of its floors."""

    def __init__(self, ledges: Ledges) -> None:
        self._ledges = ledges
        self._corners = Corners()
        #: Bodies all of which lands on something static in this step of the solver, with the normal there.
        self._landed: dict[Any, Vector] = {}
        #: m/s2.
        self._gravity: Vector = (0.0, 0.0, 0.0)
        #: s: the step of the solver, and the smallest part of it.
        self._step = self._small_step = 1.0

    def begin(self, gravity: Vector, step: float, small_step: float) -> None:
        """Before each step of the solver. gravity: m/s2. step, small_step: s."""
        self._landed.clear()
        self._gravity, self._step, self._small_step = gravity, step, small_step

    def gather(self, ctx: Any, contacts: Any, one: Side, other: Side, normal: Vector) -> Any:
        """Put one point in the place of those of an impact. Returns the contacts that there are then."""
        is_first = not other.yields
        landing = ctx.rigid_body1 if is_first else ctx.rigid_body2 if not one.yields else None
        if landing in self._landed and abs(dot(self._landed[landing], normal)) > ALIKE:
            ctx.clear_solver_contacts()
            return ()
        if not any(each.is_new for each in contacts):
            return contacts
        touches = [Touch(each.point.to_tuple(), each.point2.to_tuple(), each.dist, each.is_new) for each in contacts]
        # The solver stops a body in the small step before the one in which it would touch.
        seconds = self._step + self._small_step
        fastest = max(approach_at(one, other, each, normal) for each in touches)
        pull = dot(self._gravity, normal) * (one.falls - other.falls)
        if fastest <= self._slow(pull) or fastest * seconds < min(each.dist for each in touches):
            return contacts
        ends = [each.point for each in touches]
        spin = abs(dot(minus(one.spin, other.spin), normal)) * max(math.dist(ends[0], end) for end in ends)
        if ctx.friction > 0.0 and spin > SPINNING * fastest:
            return contacts
        if len(touches) == 1 and touches[0].dist > 0.0 and self._comes_flat(ctx, one, other, normal):
            # Far away the solver finds no more than a point of a face. It has the others in the next step.
            depth = fastest * seconds - touches[0].dist
            if depth < SHALLOW * min(one.size or math.inf, other.size or math.inf):
                ctx.clear_solver_contacts()
                return ()
        if landing is not None:
            touches += self._beside(ctx, landing, touches, normal, is_first, fastest * seconds)
        touches = [each for each in touches if approach_at(one, other, each, normal) * seconds >= each.dist]
        if len(touches) > 1:
            self._put_one(ctx, touches, one, other, normal)
        return ctx.solver_contacts

    def _put_one(self, ctx: Any, touches: Sequence[Touch], one: Side, other: Side, normal: Vector) -> None:
        """Put one point in the place of all contacts, which pushes as these touches do together."""
        arms = [(minus(each.point, one.middle), minus(each.point2, other.middle)) for each in touches]
        yields = [[dot(plus(moved_by(one, own, pushed, normal), moved_by(other, its, other_pushed, normal)), normal)
                   for pushed, other_pushed in arms] for own, its in arms]  # fmt: skip
        approaches = [approach_at(one, other, each, normal) for each in touches]
        shares = pushes(
            approaches, yields,
            [ctx.restitution * max(speed, 0.0) * each.is_new for each, speed in zip(touches, approaches, strict=True)],
        )  # fmt: skip
        whole = sum(shares)
        if not whole:  # they part
            return
        for number in range(len(ctx.solver_contacts) - 1, 0, -1):
            ctx.remove_solver_contact(number)
        ctx.set_solver_contact(
            0, point=middle_of([each.point for each in touches], shares),
            point2=middle_of([each.point2 for each in touches], shares),
            dist=sum(share * each.dist for share, each in zip(shares, touches, strict=True)) / whole,
        )  # fmt: skip

    def _beside(
        self, ctx: Any, body: Any, touches: Sequence[Touch], normal: Vector, is_first: bool, reach: float
    ) -> list[Touch]:  # fmt: skip
        """Where a body that lands touches what is static besides: other parts of a floor, with other colliders.

        touches: those that are known. is_first: the body is the first one. reach: m, how far it may come in this step.
        """
        sign = 1.0 if is_first else -1.0
        down = sign * np.array(normal)
        corners = self._corners.lowest(ctx, body, down)
        if corners is None:
            return []
        self._landed[body] = normal
        # Edges may be rounded: the points of contacts are outside of the corners by that.
        lowest = max(float(np.array(each.point if is_first else each.point2) @ down) for each in touches)
        corners = corners + down * (lowest - float((corners @ down).max()))
        groups = ctx.colliders[ctx.collider1 if is_first else ctx.collider2].collision_groups
        found = []
        for corner in corners:
            below = self._ledges.below(ctx, corner, down, reach, groups)
            if below is not None:
                gap, _ = below
                x, y, z = corner.tolist()
                i, j, k = (corner + gap * down).tolist()
                ends: tuple[Vector, Vector] = (x, y, z), (i, j, k)
                first, second = ends if is_first else ends[::-1]
                found.append(Touch(first, second, gap, True))
        return found

    def _comes_flat(self, ctx: Any, one: Side, other: Side, normal: Vector) -> bool:
        """Whether one of the bodies of a contact comes with a face."""
        for body, side, sign in ((ctx.rigid_body1, one, 1.0), (ctx.rigid_body2, other, -1.0)):
            if not side.is_static:
                corners = self._corners.lowest(ctx, body, sign * np.array(normal))
                if corners is not None and len(corners) > 2:
                    return True
        return False

    def _slow(self, pull: float) -> float:
        """The speed (m/s) of approach up to which a contact is none that bounces. pull: as of `bounce`."""
        return SLOW_FALLS * abs(pull) * self._step

    def bounce(self, ctx: Any, speed: float, gap: float, pull: float) -> None:
        """Of a contact that begins. speed (m/s): of approach. gap: m. pull: m/s2, of gravity towards each other."""
        small = self._small_step
        # The solver stops a body in the small step before the one in which it would touch.
        if speed * (self._step + small) < gap or speed <= self._slow(pull):
            return
        restitution = ctx.restitution
        # Bodies are at the places of a parabola half a small step later than their speeds.
        late = 0.5 * pull * small
        rest = max(gap - speed * self._step, 0.0)
        # What friction sees of the impact is the speed that the solver takes before it applies restitution.
        ctx.friction *= (1.0 + restitution) * speed / max(speed - rest / small, 0.02 * speed)
        square = restitution**2 * ((speed + late) ** 2 + 2.0 * pull * gap) - 2.0 * pull * rest
        if square > 0.0:
            ctx.restitution = (math.sqrt(square) + late) / speed


def approach_at(one: Side, other: Side, touch: Touch, normal: Vector) -> float:
    """Speed, m/s, with which two bodies approach each other at a point."""
    own, its = minus(touch.point, one.middle), minus(touch.point2, other.middle)
    return dot(minus(speed_at(one, own), speed_at(other, its)), normal)


def pushes(
    approaches: Sequence[float], yields: Sequence[Sequence[float]], rebounds: Sequence[float]
) -> list[float]:  # fmt: skip
    """The impulses (n,), N s, after which each point leaves at least as fast as it should; those that push, just so.

    approaches: speeds (n,) before, m/s. yields: (n, n), m/s of a point for 1 N s at another one. rebounds: speeds (n,)
    after, m/s.
    """
    found = [0.0] * len(approaches)
    for _ in range(SWEEPS):
        changed = 0.0
        for row, (approach, own, rebound) in enumerate(zip(approaches, yields, rebounds, strict=True)):
            lacks = approach + rebound - sum(part * push for part, push in zip(own, found, strict=True))
            before, found[row] = found[row], max(found[row] + lacks / own[row], 0.0)
            changed = max(changed, abs(found[row] - before))
        if changed <= EXACT * max(found):
            break
    return found


def middle_of(points: Sequence[Sequence[float]], shares: Sequence[float]) -> tuple[float, ...]:
    """The mean of points (n, 3) by their shares (n,), which are not all 0."""
    whole = sum(shares)
    return tuple(
        sum(share * point[axis] for share, point in zip(shares, points, strict=True)) / whole for axis in range(3)
    )


def corners_of(shape: Any) -> NDArray[np.float64] | None:
    """Corners (n, 3), m, of a shape of the solver with flat faces, in its space: a disc has four. None for others."""
    hull = shape.as_round_convex_polyhedron() or shape.as_convex_polyhedron()
    if hull is not None:
        return np.array(hull.points, float)
    box = shape.as_cuboid()
    if box is not None:
        corners: NDArray[np.float64] = _BOX * np.array(box.half_extents.to_tuple(), float)
        return corners
    for disc, ends in ((shape.as_round_cylinder(), (-1.0, 1.0)), (shape.as_round_cone(), (-1.0,))):
        if disc is not None:
            return np.array([(disc.radius * x, disc.half_height * end, disc.radius * z)
                             for end in ends for x, z in _DISC])  # fmt: skip
    return None


_BOX = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_DISC = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
