# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces and torques of joints, from the change of momentum of the bodies that hang on them.

The solver's impulses are correct only for joints that only lock axes, and for ropes and rods; for those in loops they
give the force. Friction between the two sides of a joint is not included.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np
from rapier3d import PhysicsWorld

from ...core import frames
from ...core.frames import Matrix
from ...core.schema import Vector
from ..weights import Weight
from . import tuning
from .constraints import NO_WRENCH, Constraint, matrix_of

_LINEAR, _ANGULAR, _TO_TUPLE = attrgetter("linvel"), attrgetter("angvel"), methodcaller("to_tuple")


@dataclass(slots=True)
class _Cut:
    """A joint without which the bodies in rows `start` to `end` would be loose.

    first, last: rows of all bodies that hang together. is_rest: the joint is measured by the other bodies of these.
    sign: -1 if the bodies by which it is measured hang on its first body. row: of its second body; -1 if that has none.
    anchor: position of the joint in its second body.
    """

    constraint: Constraint
    start: int
    end: int
    first: int
    last: int
    is_rest: bool
    sign: float
    row: int
    anchor: Vector


class Loads:
    """Measures joints over one step at a time: those that can break, and those whose load was asked for.

    The bodies are in the order of a walk through the tree of joints, so that what hangs on a joint is a range of rows,
    and the sums of all ranges come from one running sum.
    """

    def __init__(self, handles: Mapping[str, Any], weights: Mapping[str, Weight]) -> None:
        self.handles, self.weights = handles, weights
        self.asked: set[str] = set()
        #: Length of `asked` when the cuts were last found; -1 if they must be found again.
        self._known = -1
        self._cuts: list[_Cut] = []
        #: Forces and torques (n, 3) on the second bodies of the cuts, along the axes of the world.
        self._wrenches: tuple[Matrix, Matrix] = (np.zeros((0, 3)), np.zeros((0, 3)))
        self._plain: list[tuple[Constraint, int]] = []
        #: Ropes and rods in loops.
        self._ropes: list[tuple[Constraint, int]] = []
        #: Joints in loops that can break, but whose loads nothing tells.
        self._unknown: list[Constraint] = []
        #: How the solver mixes the axes of these, (n, 3, 3); None before it is needed in a time step.
        self._mixed: Matrix | None = None
        #: Rows of cuts that are bonds, with the axis and the sign of their pull.
        self._bonds: list[tuple[int, int, float]] = []
        self._rows: list[str] = []
        self._views: list[Any] = []
        self._colliders: list[tuple[int, Any]] = []
        self._row_of: dict[Any, int] = {}
        self._before: _Momenta | None = None

    def forget(self) -> None:
        """The solver's world was replaced, a joint was changed, or bodies were moved from outside."""
        self._known = -1

    def measures(self, constraint: Constraint) -> bool:
        """True for a joint that can break, or whose load was asked for."""
        return constraint.facts.breaks or constraint.facts.path in self.asked

    def breaks_in_loops(self, physics: PhysicsWorld, constraints: Sequence[Constraint]) -> bool:
        """True if joints that can break hold bodies in loops, so that their loads are read from the solver's impulses.

        Joints whose load was asked for do not count: looking at a joint must not change which joints break.
        """
        if not any(constraint.facts.breaks for constraint in constraints):
            return False
        self._refresh(physics, constraints)
        return any(constraint.facts.breaks for constraint, _ in (*self._plain, *self._ropes))

    def unknown(self, physics: PhysicsWorld, constraints: Sequence[Constraint]) -> list[Constraint]:
        """The joints in loops that can break by their facts, but never do, because their loads are not known."""
        if not any(constraint.facts.breaks for constraint in constraints):
            return []
        self._refresh(physics, constraints)
        return self._unknown

    def before(self, physics: PhysicsWorld, constraints: Sequence[Constraint], *, is_next: bool = False) -> None:
        """Remember the momenta of what hangs on the joints. is_next: nothing has happened since the last step."""
        self._refresh(physics, constraints)
        if not is_next:
            self._mixed = None
        if not is_next or self._before is None:
            self._before = _Momenta(self._views, self._matter) if self._cuts else None

    def _refresh(self, physics: PhysicsWorld, constraints: Sequence[Constraint]) -> None:
        """Find the cuts anew if a joint was changed or one more is asked for."""
        if self._known != len(self.asked):
            self._known, self._before, self._mixed = len(self.asked), None, None
            self._find(physics, constraints)

    def _find(self, physics: PhysicsWorld, constraints: Sequence[Constraint]) -> None:
        active = [item for item in constraints if item.active]
        measured = [item for item in active if self.measures(item)]
        self._cuts, self._rows = [], []
        self._walk(active, {item.facts.path: item for item in measured})
        alone = {cut.constraint.facts.path for cut in self._cuts}
        # Only for loops: in small steps and far from the origin, the solver's impulses have larger rounding errors.
        bodies = physics.rigid_bodies
        looped = [
            (item, max(bodies[handle].additional_solver_iterations for handle in item.handles))
            for item in measured if item.facts.path not in alone
        ]  # fmt: skip
        self._plain = [(item, more) for item, more in looped if _is_plain(item)]
        self._ropes = [(item, more) for item, more in looped if item.is_rope]
        known = alone | {item.facts.path for item, _ in (*self._plain, *self._ropes)}
        self._unknown = [item for item, _ in looped if item.facts.breaks and item.facts.path not in known]
        for item in constraints:
            if item.facts.path not in known:
                item.load, item.wrench = (0.0, 0.0), NO_WRENCH
        if not self._cuts:
            self._rows = []
        self._views = [physics.rigid_bodies[self.handles[path]] for path in self._rows]
        self._colliders = [(row, handle) for row, view in enumerate(self._views) for handle in view.colliders]
        self._row_of = {handle: row for row, handle in self._colliders}
        self._matter = _Matter([self.weights[path] for path in self._rows])
        self._spans = np.array([(cut.start, cut.end, cut.first, cut.last) for cut in self._cuts], int).reshape(-1, 4).T
        self._is_rest = np.array([cut.is_rest for cut in self._cuts], bool)
        self._signs = np.array([cut.sign for cut in self._cuts], float)
        self._bonds = [(row, *pull) for row, cut in enumerate(self._cuts) if (pull := cut.constraint.facts.pull)]
        self._held = np.array([cut.row for cut in self._cuts], int)
        self._wrenches = np.zeros((len(self._cuts), 3)), np.zeros((len(self._cuts), 3))
        self._anchors = np.array([cut.anchor for cut in self._cuts], float).reshape(-1, 3)

    def _walk(self, active: Sequence[Constraint], wanted: Mapping[str, Constraint]) -> None:
        """Number the bodies, depth first, and find what each wanted joint alone holds.

        All fixed and kinematic bodies together are the node "". The walk begins there if a joint leads to it.
        """
        at: dict[str, list[tuple[str, Constraint]]] = defaultdict(list)
        for item in active:
            first, second = (path if path in self.weights else "" for path in (item.facts.body0, item.facts.body1))
            if first != second:
                at[first].append((second, item))
                at[second].append((first, item))
        numbers: dict[str, int] = {}
        lowest: dict[str, int] = {}
        for root in ["", *(path for path in at if path)]:
            if root in numbers or root not in at:
                continue
            # "" has a number too: rows count from the number of the first body.
            numbers[root] = lowest[root] = len(numbers)
            stack: list[tuple[str, str, Constraint | None, Iterator[tuple[str, Constraint]]]]
            stack = [(root, "", None, iter(at[root]))]
            group_start = len(self._rows)
            cuts: list[tuple[Constraint, str, int, int]] = []
            if root:
                self._rows.append(root)
            starts = {root: group_start}
            while stack:
                path, parent, came, edges = stack[-1]
                for other, item in edges:
                    if item is came:
                        continue
                    if other in numbers:
                        lowest[path] = min(lowest[path], numbers[other])
                        continue
                    numbers[other] = lowest[other] = len(numbers)
                    starts[other] = len(self._rows)
                    self._rows.append(other)
                    stack.append((other, path, item, iter(at[other])))
                    break
                else:
                    stack.pop()
                    if came is not None:
                        lowest[parent] = min(lowest[parent], lowest[path])
                        if lowest[path] > numbers[parent] and came.facts.path in wanted:
                            cuts.append((came, path, starts[path], len(self._rows)))
            for item, path, start, end in cuts:
                size = len(self._rows) - group_start
                facts = item.facts
                is_rest = bool(root) and 2 * (end - start) > size
                sign = 1.0 if (facts.body1 == path) is not is_rest else -1.0
                row = starts[facts.body1] if facts.body1 in self.weights else -1
                x, y, z = facts.frame1[:3, 3].tolist()
                self._cuts.append(_Cut(item, start, end, group_start, len(self._rows), is_rest, sign, row, (x, y, z)))

    def after(self, physics: PhysicsWorld, constraints: Iterable[Constraint], dt: float) -> list[Constraint]:
        """Set the load (N, N m) of each measured joint; returns the joints that break."""
        if self._before is not None:
            self._balance(physics, self._before, dt)
        steps = physics.integration_parameters.num_solver_iterations
        for (constraint, more), mixed in zip(self._plain, self._mixing(physics), strict=True):
            if constraint.active:
                constraint.load = (math.hypot(*_pushes(physics, constraint, mixed)) * (steps + more) / dt, 0.0)
        for constraint, more in self._ropes:
            if constraint.active:
                constraint.load = (abs(constraint.pull(physics)) * (steps + more) / dt, 0.0)
        breaking = [
            item for item in constraints
            if (item.load[0] > item.facts.break_force or item.load[1] > item.facts.break_torque) and item.active
        ]  # fmt: skip
        if self.asked or breaking:
            self._set_wrenches(physics, self.asked | {item.facts.path for item in breaking}, dt)
        return breaking

    def _set_wrenches(self, physics: PhysicsWorld, wanted: set[str], dt: float) -> None:
        """Set the wrenches of the joints with the given paths. All others stay in the arrays, which is faster."""
        for cut, force, torque in zip(self._cuts, *self._wrenches, strict=True):
            if cut.constraint.facts.path in wanted:
                cut.constraint.wrench = tuple(force.tolist()), tuple(torque.tolist())
        steps = physics.integration_parameters.num_solver_iterations
        for (constraint, more), mixed in zip(self._plain, self._mixing(physics), strict=True):
            if constraint.active and constraint.facts.path in wanted:
                # The solver's impulses are those of one small step, and on the first body.
                impulses = np.array(_pushes(physics, constraint, mixed)) * -(steps + more) / dt
                x, y, z = (constraint.frames(physics)[0][:3, :3] @ impulses).tolist()
                constraint.wrench = (x, y, z), (0.0, 0.0, 0.0)
        for constraint, more in self._ropes:
            if constraint.active and constraint.facts.path in wanted:
                first, second = constraint.frames(physics)
                way = first[:3, 3] - second[:3, 3]
                length = max(float(np.linalg.norm(way)), 1e-12)
                x, y, z = (way * (constraint.pull(physics) * (steps + more) / dt / length)).tolist()
                constraint.wrench = (x, y, z), (0.0, 0.0, 0.0)

    def _mixing(self, physics: PhysicsWorld) -> Matrix:
        """See `_mixed`; it hardly changes in the steps of one time step."""
        if self._mixed is None:
            self._mixed = _mixes(physics, [item for item, _ in self._plain], self.weights)
        return self._mixed

    def _balance(self, physics: PhysicsWorld, before: _Momenta, dt: float) -> None:
        """The loads from the change of momentum of what hangs on each joint, less gravity and contacts."""
        after = _Momenta(self._views, self._matter)
        weighs = self._matter.masses[:, None] * np.array(physics.gravity.to_tuple()) * dt
        pushed, turned = self._contacts(physics)
        linear = after.linear - before.linear - weighs - pushed
        angular = after.angular - before.angular - _cross(after.centers, weighs) - turned
        sums = np.zeros((len(linear) + 1, 6))
        np.cumsum(np.concatenate((linear, angular), axis=1), axis=0, out=sums[1:])
        starts, ends, firsts, lasts = self._spans
        totals = sums[ends] - sums[starts]
        rest = self._is_rest
        if rest.any():
            totals[rest] = (sums[lasts] - sums[firsts] - totals)[rest]
        anchors = np.einsum("nij,nj->ni", before.turns[self._held], self._anchors)
        anchors += before.positions[self._held]
        for index in np.flatnonzero(self._held < 0).tolist():
            anchors[index] = self._cuts[index].constraint.frames(physics)[1][:3, 3]
        totals *= self._signs[:, None] / dt
        forces, torques = totals[:, :3], totals[:, 3:] - _cross(anchors, totals[:, :3])
        for row, axis, sign in self._bonds:
            # A force along `along` presses the bodies together: it acts between them, not in the bond.
            along = sign * self._cuts[row].constraint.frames(physics)[1][:3, axis]
            forces[row] -= max(float(forces[row] @ along), 0.0) * along
        self._before = after
        sizes = np.linalg.norm((forces, torques), axis=2).T.tolist()
        self._wrenches = forces, torques
        for cut, (force, torque) in zip(self._cuts, sizes, strict=True):
            cut.constraint.load = (force, torque)

    def _pairs(self, physics: PhysicsWorld) -> Iterator[Any]:
        """Each pair of touching colliders once, if a collider of it belongs to a body in a row."""
        known, phase = self._row_of, physics.narrow_phase
        if 2 * len(known) > len(physics.colliders):
            for pair in phase.contact_pairs():
                if pair.has_any_active_contact and (pair.collider1 in known or pair.collider2 in known):
                    yield pair
            return
        for _, collider in self._colliders:
            for pair in phase.contact_pairs_with(collider):
                # A pair of two such colliders comes up twice: take it with its first collider.
                if pair.has_any_active_contact and (pair.collider1 == collider or pair.collider1 not in known):
                    yield pair

    def _contacts(self, physics: PhysicsWorld) -> tuple[Matrix, Matrix]:
        """Impulses (n, 3) of the contacts of each body, and their moments (n, 3) about the origin.

        In the sum over a range of rows, contacts between its bodies cancel.
        """
        # Bodies that are not in the tree share a last row.
        size = len(self._views)
        rows: list[int] = []
        numbers: list[float] = []
        poses: list[bytes] = []
        counts: list[int] = []
        for pair in self._pairs(physics):
            before = len(numbers)
            for manifold in pair.manifolds:
                normal = None
                for point in manifold.points:
                    impulse = point.impulse
                    if impulse:
                        normal = manifold.data.normal.to_tuple() if normal is None else normal
                        numbers += (impulse, *normal, *point.local_p1.to_tuple())
            if len(numbers) > before:
                counts.append((len(numbers) - before) // 7)
                rows += self._row_of.get(pair.collider1, size), self._row_of.get(pair.collider2, size)
                poses.append(physics.colliders[pair.collider1].position.to_bytes())
        if not numbers:
            return np.zeros((size, 3)), np.zeros((size, 3))
        values = np.array(numbers, float).reshape(-1, 7)
        origins, turns = places(poses)
        at = np.repeat(np.arange(len(poses)), counts)
        pushes = values[:, :1] * values[:, 1:4]
        points = np.einsum("nij,nj->ni", turns[at], values[:, 4:]) + origins[at]
        both = np.concatenate((pushes, _cross(points, pushes)), axis=1)
        firsts, seconds = np.array(rows, int).reshape(-1, 2)[at].T
        received, given = (
            np.stack([np.bincount(ends, column, size + 1) for column in both.T], axis=1) for ends in (seconds, firsts)
        )
        sums = np.asarray(received - given, float)[:size]
        return sums[:, :3], sums[:, 3:]


def _numbers(vectors: Iterable[Any], count: int) -> Matrix:
    """Vectors (n, 3) of the solver; in half of the time of a loop in Python."""
    return np.fromiter(chain.from_iterable(map(_TO_TUPLE, vectors)), float, 3 * count).reshape(-1, 3)


def places(poses: Sequence[bytes]) -> tuple[Matrix, Matrix]:
    """Positions (n, 3) and rotations (n, 3, 3) of serialized poses of the solver."""
    values = np.ascontiguousarray(np.frombuffer(b"".join(poses), np.uint8).reshape(len(poses), -1)[:, -28:])
    numbers = values.view("<f4").reshape(len(poses), 7).astype(float)
    return numbers[:, 4:], frames.matrices_of(numbers[:, (3, 0, 1, 2)])


class _Matter:
    """Of n bodies: masses (n,), centres of mass (n, 3) and inertia (n, 3, 3), in their own frames."""

    def __init__(self, weights: Sequence[Weight]) -> None:
        self.masses = np.array([weight.mass for weight in weights], float)
        self.centers = np.array([weight.center for weight in weights], float).reshape(-1, 3)
        self.inertia = np.array([weight.inertia for weight in weights], float).reshape(-1, 3, 3)


class _Momenta:
    """The present state of n bodies: positions and centers of mass (n, 3), turns (n, 3, 3), and the momenta linear and
    angular (n, 3) about the origin."""

    def __init__(self, views: Sequence[Any], matter: _Matter) -> None:
        self.positions, self.turns = places([view.position.to_bytes() for view in views])
        moves = _numbers(map(_LINEAR, views), len(views))
        spins = _numbers(map(_ANGULAR, views), len(views))
        self.centers = np.einsum("nij,nj->ni", self.turns, matter.centers) + self.positions
        self.linear = matter.masses[:, None] * moves
        own = np.einsum("nji,nj->ni", self.turns, spins)
        spin = np.einsum("nij,nj->ni", self.turns, np.einsum("nij,nj->ni", matter.inertia, own))
        self.angular = spin + _cross(self.centers, self.linear)


def _cross(first: Matrix, second: Matrix) -> Matrix:
    """Cross products (n, 3); `np.cross` takes several times as long for few rows."""
    x, y, z = first.T
    u, v, w = second.T
    return np.stack((y * w - z * v, z * u - x * w, x * v - y * u), axis=1)


def _is_plain(constraint: Constraint) -> bool:
    """True for a joint that only locks axes, for which the solver's impulses are correct."""
    state = constraint.state
    if state.base is None or constraint.facts.cone is not None:
        return False
    return all(item.is_locked for item in state.freedoms[:3]) and not any(
        item.is_limited or item.drive is not None or item.settings.is_special for item in state.freedoms
    )


def _pushes(physics: PhysicsWorld, constraint: Constraint, mixed: Matrix) -> list[float]:
    """The impulses (3,) of a joint, along its axes. For a bond, a push between its bodies counts as 0."""
    pushes: list[float] = (np.array(physics.impulse_joints[constraint.state.base].impulses[:3]) @ mixed).tolist()
    if constraint.facts.pull is not None:
        axis, sign = constraint.facts.pull
        pushes[axis] = max(sign * pushes[axis], 0.0)
    return pushes


def _mixes(physics: PhysicsWorld, items: Sequence[Constraint], weights: Mapping[str, Weight]) -> Matrix:
    """(n, 3, 3): how much of the force along each axis of a joint is in each of the solver's impulses, by rows.

    The solver makes the rows of a joint independent of each other, the locked rotations first and then the
    translations: it takes from each what the rows before it would move. So an impulse acts along several axes.
    """
    count = len(items)
    found = np.tile(np.eye(3), (count, 1, 1))
    if not count:
        return found
    # In the axes of each joint, of both bodies: rows (n, 6, 3) that turn them, and how these yield.
    turns, yields, lightness = np.zeros((2, count, 6, 3)), np.zeros((2, count, 3, 3)), np.zeros(count)
    locked = np.array([[item.is_locked for item in constraint.state.freedoms[3:]] for constraint in items], bool)
    for row, item in enumerate(items):
        frame = item.frames(physics)[0]
        axes = frame[:3, :3]
        for side, (path, handle) in enumerate(zip((item.facts.body0, item.facts.body1), item.handles, strict=True)):
            weight = weights.get(path)
            if weight is None:
                continue
            pose = matrix_of(physics.rigid_bodies[handle].position)
            own = axes.T @ pose[:3, :3]
            arm = axes.T @ (frame[:3, 3] - pose[:3, 3]) - own @ weight.center
            turns[side, row, 3:] = np.cross(arm, np.eye(3))
            yields[side, row] = own @ weight.inverse_inertia @ own.T
            lightness[row] += 1.0 / weight.mass
    turns[:, :, :3] = np.eye(3) * locked[:, :, None]
    moves = np.concatenate((np.zeros((count, 3, 3)), found), axis=1)
    for row in range(6):
        moved, turned = lightness[:, None] * moves[:, row], np.einsum("snij,snj->sni", yields, turns[:, :, row])
        along = np.einsum("ni,nki->nk", moved, moves) + np.einsum("sni,snki->nk", turned, turns)
        part = np.divide(along, along[:, row : row + 1], out=np.zeros_like(along), where=along[:, row : row + 1] > 0.0)
        part[:, : row + 1] = 0.0
        moves -= part[:, :, None] * moves[:, row : row + 1]
        turns -= part[None, :, :, None] * turns[:, :, row : row + 1]
    return np.asarray(moves[:, 3:])


def most_loaded(constraints: Sequence[Constraint]) -> list[Constraint]:
    """The overloaded joints that break first: their overload is at least `tuning.FIRST` times the largest one."""
    shares = [_share(constraint) for constraint in constraints]
    least = tuning.FIRST * max(shares, default=0.0)
    return [constraint for constraint, share in zip(constraints, shares, strict=True) if share >= least]


def _share(constraint: Constraint) -> float:
    """Force over breaking force, or torque over breaking torque, of a joint: whichever is larger."""
    most = (constraint.facts.break_force, constraint.facts.break_torque)
    return max(load / limit if limit > 0.0 else math.inf for load, limit in zip(constraint.load, most, strict=True))
