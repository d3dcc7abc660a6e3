# SPDX-License-Identifier: GPL-3.0-or-later
"""What one physics scene of the solver is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...core.frames import Matrix
from ...core.model import Prim
from ..articulations import Tree
from ..joint_facts import JointFacts
from ..layout import Body


@dataclass(slots=True)
class Setup:
    """Input of a SolverSpace: bodies, static colliders, joints and trees of its scene."""

    scene: str
    gravity: Matrix
    bodies: dict[str, Body]
    statics: list[Prim]
    joints: list[JointFacts] = field(default_factory=list)
    trees: list[Tree] = field(default_factory=list)
