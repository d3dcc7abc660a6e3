# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which a solver that goes from joint to joint holds best: outward from what bears the others."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

from .joint_facts import JointFacts


def outward(joints: Iterable[JointFacts], masses: Mapping[str, float]) -> list[JointFacts]:
    """Joints in the order of a walk: from what no mass has, such as the world, then from the heaviest bodies.

    masses: kg, of dynamic bodies by path. The order of the joints changes nothing.
    """
    at: dict[str, list[JointFacts]] = defaultdict(list)
    for joint in sorted(joints, key=lambda joint: joint.path):
        for path in dict.fromkeys((joint.body0, joint.body1)):
            at[path].append(joint)
    found: dict[str, JointFacts] = {}
    seen: set[str] = set()
    for start in sorted(at, key=lambda path: (path in masses, -masses.get(path, 0.0), path)):
        pending = deque([start])
        while pending:
            path = pending.popleft()
            if path in seen:
                continue
            seen.add(path)
            for joint in at[path]:
                found.setdefault(joint.path, joint)
                other = joint.body1 if joint.body0 == path else joint.body0
                if other in masses:
                    pending.append(other)
    return list(found.values())
