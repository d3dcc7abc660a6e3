# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of jointed bodies, and the mass that hangs on each body, which decides how hard they are to simulate."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .joint_facts import JointFacts

#: Mass that hangs on a body of an articulation, relative to its own, up to which reduced coordinates hold it.
BEARABLE_REDUCED = 100.0


class Hanging(NamedTuple):
    """A group of jointed bodies. ratio: the largest of the mass that hangs on one of them to its own; on `body`.

    is_loop: joints hold some of them in a loop; what does not move is one body. spread: the largest of their masses,
    relative to that of the lightest one.
    """

    bodies: tuple[str, ...]
    body: str
    ratio: float
    is_loop: bool = False
    spread: float = 1.0
    lightest: str = ""


def hanging(ends: Iterable[tuple[str, str]], masses: Mapping[str, float]) -> list[Hanging]:
    """The groups of bodies that joints connect. ends: the two bodies of each joint; one without a mass is fixed.

    What hangs on a body is what it holds on all its sides but the heaviest, or but that of the fixed end. Joints that
    close a loop are left out.
    """
    at: dict[str, list[str]] = defaultdict(list)
    fixed: dict[str, int] = defaultdict(int)
    for first, second in ends:
        for path, other in ((first, second), (second, first)):
            if path not in masses:
                continue
            if other in masses:
                at[path].append(other)
            else:
                fixed[path] += 1
                at.setdefault(path, [])
    groups: list[Hanging] = []
    seen: set[str] = set()
    for start in [*sorted(fixed), *sorted(at, key=lambda path: -masses[path])]:
        if start in seen:
            continue
        seen.add(start)
        order, parents = [start], {start: ""}
        for path in order:
            for other in at[path]:
                if other not in seen:
                    seen.add(other)
                    parents[other] = path
                    order.append(other)
        below = {path: masses[path] for path in order}
        sides: dict[str, list[float]] = defaultdict(list)
        for path in reversed(order):
            parent = parents[path]
            if parent:
                below[parent] += below[path]
                sides[parent].append(below[path])
        total, is_held = below[start], start in fixed
        worst, ratio = start, 0.0
        for path in order:
            around = sides[path] if is_held else [*sides[path], total - below[path]]
            hangs = sum(around) - (0.0 if is_held else max(around, default=0.0))
            if hangs > ratio * masses[path]:
                worst, ratio = path, hangs / masses[path] if masses[path] > 0.0 else math.inf
        held = sum(fixed[path] for path in order if path in fixed)
        number = sum(len(at[path]) for path in order) // 2 + held
        lightest = min(order, key=lambda path: masses[path])
        heaviest = max(masses[path] for path in order)
        spread = heaviest / masses[lightest] if masses[lightest] > 0.0 else math.inf
        groups.append(Hanging(tuple(order), worst, ratio, number > len(order) - (not held), spread, lightest))
    return groups


def in_loops(ends: Sequence[tuple[str, str]], masses: Mapping[str, float]) -> list[bool]:
    """Which joints are part of a loop. ends: the two bodies of each joint; those without a mass are one that is fixed.

    A joint that hangs two loops on each other is part of neither.
    """
    nodes = [[path if path in masses else "" for path in pair] for pair in ends]
    at: dict[str, list[int]] = defaultdict(list)
    for number, pair in enumerate(nodes):
        for node in pair:
            at[node].append(number)
    #: The joint by which each body is first reached, the body on its other side, and how many joints that takes.
    up: dict[str, tuple[int, str, int]] = {}
    for start in at:
        if start in up:
            continue
        up[start] = -1, start, 0
        queue = [start]
        for node in queue:
            for number in at[node]:
                other = nodes[number][nodes[number][0] == node]
                if other not in up:
                    up[other] = number, node, up[node][2] + 1
                    queue.append(other)
    tree = {number for number, _, _ in up.values()}
    result = [number not in tree for number in range(len(nodes))]
    for number in [number for number, is_closing in enumerate(result) if is_closing]:
        low, high = nodes[number]
        while low != high:
            if up[low][2] < up[high][2]:
                low, high = high, low
            result[up[low][0]] = True
            low = up[low][1]
    return result


def hand_mass(path: str, joints: Iterable[JointFacts], masses: Mapping[str, float]) -> float:
    """By which the strength of a hand goes that holds a body, kg: of the body, and of all that servos hold with it.

    masses: of bodies that move. A servo would hold an arm against a hand that is as strong as its last link is heavy.
    """
    ties: dict[str, list[str]] = defaultdict(list)
    driven: set[str] = set()
    for facts in joints:
        ends = [end for end in (facts.body0, facts.body1) if end in masses]
        if not facts.enabled:
            continue
        if len(ends) == 2:
            ties[ends[0]].append(ends[1])
            ties[ends[1]].append(ends[0])
        if any(drive.stiffness or drive.damping for drive in facts.drives):
            driven.update(ends)
    found, waiting = {path}, [path]
    while waiting:
        for other in ties[waiting.pop()]:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return sum(masses[each] for each in found) if found & driven else masses.get(path, 0.0)
