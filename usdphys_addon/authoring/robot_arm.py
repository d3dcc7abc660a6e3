# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot arm from its parts: hinges with limits and servos, an articulation, and a base that is fixed to the world."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from bpy.types import Context, Object

from ..bridge import reading
from ..core import frames
from ..core.words import length_text
from . import joint_edits, joint_maker
from .joint_maker import Array, JointMaker, JointOptions

#: A part that leans less than this (sine) against the vertical stands upright.
_UPRIGHT = 0.2
#: Parts that are farther from each other than this part of the size of the smaller one do not touch.
_APART = 0.25


def add_arm(
    context: Context, *, order: str, limits: tuple[float, float], response: float, armature: bool = True
) -> tuple[list[Any], joint_edits.Servos]:  # fmt: skip
    """Make the selected parts an arm, starting with the active object, its base.

    order: NEAREST or NAME, as in `joint_maker.add_chain`. limits: of each hinge, rad. response: settling time of the
    servos, s. armature: give the hinges one where PhysX needs it. Returns (hinges, their servos); among the notes are
    parts that follow each other and do not touch. Raises InputError, with nothing changed.
    """
    maker = JointMaker(context, JointOptions("REVOLUTE", "CLOSEST"))
    parts = joint_maker.chain_of(context, order, maker)
    base = JointMaker(context, JointOptions("FIXED", "CHILD_ORIGIN"))
    base.plan(None, parts[0])
    apart = []
    for body0, body1 in itertools.pairwise(parts):
        maker.plan(body0, body1)
        (gap,) = maker.gaps(body0, [body1])
        if gap > _APART * min(float(np.ptp(maker.box(body), axis=0).max()) for body in (body0, body1)):
            apart.append(_apart_text(context, body0, body1, gap))
        *_, place, _ = maker.planned[-1]
        frame, axis = joint_maker.frame_along(_hinge_axis(maker.center(body1) - place[:3, 3]))
        maker.planned[-1] = (body0, body1, frames.transform(place[:3, 3], frame[:3, :3]), axis)
    (fixed,) = base.make()
    hinges = maker.make()
    for hinge in hinges:
        joint_edits.set_limits(hinge, *limits)
    # PhysX fixes the base only where the root is on the joint: a root on the base floats on it, and the arm overshoots.
    joint_edits.move_root(parts[0], fixed)
    servos = joint_edits.add_servos(
        context, [(hinge, "angular", 0.0) for hinge in hinges], response=response, may_add=armature
    )
    return hinges, servos._replace(notes=[*apart, *servos.notes])


def _apart_text(context: Context, body0: Object, body1: Object, gap: float) -> str:
    first, second = body0.name, body1.name
    length = length_text(gap * reading.scene_units(context.scene).meters_per_unit, 2)
    return f"'{first}' and '{second}' are {length} apart: is the base active, and the order right?"


def _hinge_axis(link: Array) -> Array:
    """Horizontal axis (3,) across a part that leads away from its hinge by `link`; Y for an upright one."""
    across = np.array([-link[1], link[0], 0.0])
    length = float(np.linalg.norm(across))
    if length <= _UPRIGHT * float(np.linalg.norm(link)):
        return np.array([0.0, 1.0, 0.0])
    return across / length
