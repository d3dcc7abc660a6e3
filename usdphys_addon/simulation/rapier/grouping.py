# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies of a scene share a world of the solver: its settings hold for all bodies in it.

Bodies that joints connect, or that lie beside or above each other, form a cluster. Clusters that need the same settings
share a world; others get one of their own, until they come near each other.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.frames import Matrix
from ...core.joint_settings import GEAR, RACK, following
from ..engine import Setup
from ..joint_facts import JointFacts
from . import tuning
from .quality import QUALITIES, ContactSteps, column_load, contact_steps
from .stock import Stock
from .trees import is_axle

Rows = NDArray[np.int64]
#: How far from each other bodies are in one cluster, relative to the distances of their ends from their origins.
NEAR = 1.25
#: m: the largest length unit, to which the tolerances of the solver are scaled.
LARGEST = 1.0
#: Bodies of a cluster whose size is rounded, so that it may share a world with others.
FEW = 8


def grouped(setup: Setup, stock: Stock) -> list[tuple[Rows, Needs]]:
    """The dynamic bodies of each world, as rows."""
    chosen = np.flatnonzero(stock.is_dynamic)
    are_alike = not setup.joints and len(np.unique(stock.template_of[chosen])) < 2
    if len(chosen) < 2 or are_alike or not setup.layout.names.isdisjoint((GEAR, RACK)):
        return [(chosen, needs_of(setup, stock, chosen, setup.joints, stock.positions))]
    clusters = _clusters(setup, stock, chosen)
    by_needs: dict[tuple[Needs, int], list[int]] = defaultdict(list)
    #: Robots on wheels so far, each of which gets a world: in one, they push each other off their ways.
    wheeled = 0
    #: Of single bodies, by their templates.
    known: dict[int, Needs] = {}
    for rows, joints in zip(clusters, _joints_of(setup, clusters), strict=True):
        kind = int(stock.template_of[rows[0]])
        if len(rows) == 1 and not joints and kind in known:
            needs = known[kind]
        else:
            needs = needs_of(setup, stock, np.array(rows, np.int64), joints, stock.positions)
            if len(rows) == 1 and not joints:
                known[kind] = needs
        wheeled += needs.has_wheels
        own = wheeled if needs.has_wheels and wheeled <= tuning.WHEELED_APART else 0
        by_needs[needs, own] += rows
    return [(np.array(sorted(rows), np.int64), needs) for (needs, _), rows in by_needs.items()]


class _Sets:
    """Sets of rows that are united."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def find(self, row: int) -> int:
        above = self._above
        while above[row] != row:
            above[row] = row = above[above[row]]
        return row

    def unite(self, first: int, second: int) -> None:
        first, second = self.find(first), self.find(second)
        self._above[max(first, second)] = min(first, second)


def _clusters(setup: Setup, stock: Stock, chosen: Rows) -> list[list[int]]:
    rows_of = dict(zip(setup.bodies, range(len(setup.bodies)), strict=True))
    dynamic = set(chosen.tolist())
    sets = _Sets(len(rows_of))
    ends_of = {facts.path: [rows_of.get(path, -1) for path in (facts.body0, facts.body1)] for facts in setup.joints}
    for facts in setup.joints:
        rule = following(facts.prim)
        ends = [row for row in (*ends_of[facts.path], *ends_of.get(rule.leader if rule else "", ())) if row in dynamic]
        for other in ends[1:]:
            sets.unite(ends[0], other)
    across = _across(stock.positions[chosen], np.asarray(setup.gravity, float))
    _unite_near(sets, chosen, across, NEAR * stock.radii[chosen])
    by_top: dict[int, list[int]] = defaultdict(list)
    for row in chosen.tolist():
        by_top[sets.find(row)].append(row)
    return list(by_top.values())


def _across(places: Matrix, gravity: Matrix) -> Matrix:
    """The coordinates (n, 2) of places across gravity, as bodies fall onto each other; (n, 3) without any."""
    if not gravity.any():
        return places
    across: Matrix = places @ np.linalg.svd(gravity[None])[2][1:].T
    return across


def _unite_near(sets: _Sets, rows: Rows, places: Matrix, reaches: Matrix) -> None:
    """Unite bodies whose reaches overlap; those without colliders have none."""
    solid = np.flatnonzero((reaches > 0.0) & np.isfinite(places).all(axis=1))
    if not len(solid):
        return
    size = 2.0 * float(np.median(reaches[solid]))
    wide = solid[reaches[solid] > 4.0 * size]
    for one in wide.tolist():
        away = np.linalg.norm(places[solid] - places[one], axis=1)
        for other in solid[away < reaches[solid] + reaches[one]].tolist():
            sets.unite(int(rows[one]), int(rows[other]))
    #: Of each cell: bodies that are one set already, together.
    cells: dict[tuple[int, ...], list[list[int]]] = defaultdict(list)
    narrow = solid[reaches[solid] <= 4.0 * size]
    lows, highs = (
        np.floor((places[narrow] + side * reaches[narrow, None]) / size).astype(int).tolist() for side in (-1.0, 1.0)
    )
    numbers, at, reach = rows.tolist(), places.tolist(), reaches.tolist()
    for one, low, high in zip(narrow.tolist(), lows, highs, strict=True):
        row = numbers[one]
        for cell in itertools.product(*[range(a, b + 1) for a, b in zip(low, high, strict=True)]):
            own, apart = [one], []
            for members in cells[cell]:
                root = sets.find(numbers[members[0]])
                if root != sets.find(row):
                    if not any(math.dist(at[one], at[other]) < reach[one] + reach[other] for other in members):
                        apart.append(members)
                        continue
                    sets.unite(row, root)
                own = members + own
            cells[cell] = [own, *apart]


def _joints_of(setup: Setup, clusters: Sequence[list[int]]) -> list[list[JointFacts]]:
    """The joints of each cluster."""
    paths = list(setup.bodies)
    numbers = {paths[row]: number for number, rows in enumerate(clusters) for row in rows}
    joints: list[list[JointFacts]] = [[] for _ in clusters]
    for facts in setup.joints:
        number = numbers.get(facts.body0, numbers.get(facts.body1, -1))
        if number >= 0:
            joints[number].append(facts)
    return joints


class Needs(NamedTuple):
    """What clusters that share a world have in common: all settings of that world follow from it.

    is_busy: has joints, or bounces. breaks_in_loop, has_wheels, has_armature, has_stops, has_bonds, breaks: of the
    joints.
    contacts: how they yield. length: m, the size of the bodies.
    """

    is_busy: bool
    bounces: bool
    is_jointed: bool
    breaks: bool
    breaks_in_loop: bool
    has_wheels: bool
    has_armature: bool
    has_stops: bool
    has_bonds: bool
    contacts: ContactSteps
    length: float


def needs_of(
    setup: Setup, stock: Stock, rows: Rows, joints: Sequence[JointFacts], positions: Matrix
) -> Needs:  # fmt: skip
    """What the dynamic bodies in these rows need as one cluster. positions (n, 3): of all bodies of the scene."""
    quality = QUALITIES[setup.quality]
    bounces = stock.bounces(rows)
    is_busy = bounces or any(not facts.bond for facts in joints)
    breaks = any(facts.breaks for facts in joints)
    kinds, counts = np.unique(stock.template_of[rows], return_counts=True)
    sized = stock.sizes[kinds] > 0.0
    kinds, counts = kinds[sized], counts[sized]
    contacts = contact_steps(
        quality, setup.time_step / quality.steps_in(setup.time_step, is_busy, setup.substeps),
        math.hypot(*setup.gravity), stock.masses[kinds].tolist(), stock.sizes[kinds].tolist(),
        _column(setup, stock, rows, joints, positions), int(counts.sum()),
    )  # fmt: skip
    extents = [
        (longer, number) for kind, number in zip(kinds.tolist(), counts.tolist(), strict=True)
        for _, longer in stock.templates[kind].sides
    ]  # fmt: skip
    return Needs(
        is_busy, bounces, bool(joints), breaks, breaks and _has_loop(joints), any(map(is_axle, joints)),
        any(map(_has_armature, joints)), any(facts.has_stops for facts in joints), any(facts.bond for facts in joints),
        contacts,
        _unit(_median(extents), len(rows)),
    )  # fmt: skip


def _unit(length: float, number: int) -> float:
    """A length (m) within the limits of the solver's length unit; of few bodies the nearest power of two."""
    if not length > 0.0:
        return 1.0
    rounded = 2.0 ** round(math.log2(length)) if number <= FEW else length
    return float(min(max(rounded, tuning.SMALLEST), LARGEST))


def _median(counted: Sequence[tuple[float, int]]) -> float:
    """The median of values that are there so many times each; 1 without any."""
    if not counted:
        return 1.0
    values, counts = np.array(sorted(counted), float).T
    ends = np.cumsum(counts)
    middle = [float(values[np.searchsorted(ends, place, "right")]) for place in ((ends[-1] - 1) // 2, ends[-1] // 2)]
    return 0.5 * (middle[0] + middle[1])


def _column(
    setup: Setup, stock: Stock, rows: Rows, joints: Sequence[JointFacts], positions: Matrix
) -> float:  # fmt: skip
    """`column_load` of the bodies without joints."""
    up = -np.asarray(setup.gravity, float)
    jointed = {path for facts in joints for path in (facts.body0, facts.body1)}
    if len(rows) > tuning.CROWD + len(jointed) or not up.any():
        return 0.0
    kinds = stock.template_of[rows]
    sizes, masses = stock.sizes[kinds], stock.masses[kinds]
    free = (sizes > 0.0) & (masses > 0.0)
    if jointed:
        paths = list(setup.bodies)
        free &= [paths[row] not in jointed for row in rows.tolist()]
    if not 0 < int(free.sum()) <= tuning.CROWD:
        return 0.0
    places = positions[rows[free]]
    height = places @ up / np.linalg.norm(up)
    return column_load(np.column_stack((_across(places, -up), height)), sizes[free], masses[free])


def _has_loop(joints: Iterable[JointFacts]) -> bool:
    """True if joints hold bodies in a loop; what does not move is one body."""
    listed = [facts for facts in joints if facts.enabled]
    ends = dict.fromkeys(path for facts in listed for path in (facts.body0, facts.body1))
    numbers = {path: number for number, path in enumerate(ends)}
    sets = _Sets(len(numbers))
    for facts in listed:
        first, second = sets.find(numbers[facts.body0]), sets.find(numbers[facts.body1])
        if first == second:
            return True
        sets.unite(first, second)
    return False


def _has_armature(facts: JointFacts) -> bool:
    return any(freedom.settings.armature > 0.0 for freedom in facts.freedoms)
