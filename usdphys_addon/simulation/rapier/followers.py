# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that follow another one: the solver has no such row, so a firm drive is aimed anew before each of its steps.

The other joint does not feel what the follower pushes against.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from rapier3d import PhysicsWorld

from ...core.joint_settings import Following, following
from ..joint_facts import Drive
from .constraints import Constraint

#: Of the drive: acceleration per rad or m, and per their change in a second; critically damped at 30 Hz.
STIFFNESS, DAMPING = 35_500.0, 377.0


class Follower:
    """One joint that follows another."""

    def __init__(self, constraint: Constraint, leader: Constraint, rule: Following) -> None:
        self.constraint, self.leader, self.rule = constraint, leader, rule

    def aim(self, physics: PhysicsWorld, seconds: float) -> None:
        """Aim the drive at where the joint should be after a step of the solver that takes so long."""
        drive = _drive(self.constraint)
        if drive is None or not self.constraint.active:
            return
        is_led = self.leader.active
        if is_led != (drive.stiffness > 0.0):
            drive.stiffness, drive.damping = (STIFFNESS, DAMPING) if is_led else (0.0, 0.0)
            self.constraint.state.aimed = self.constraint.state.led = None
            self.constraint.apply_drives(physics)
        if not is_led:
            return
        state = self.constraint.state
        state.led = _gone_on(state.led, _where(self.leader, physics), is_turn=_axis(self.leader) == 3)
        wanted = self.rule.offset + self.rule.ratio * state.led
        drive.target_position = wanted
        drive.target_velocity = 0.0 if state.aimed is None else (wanted - state.aimed) / seconds
        state.aimed = wanted
        self.constraint.apply_drives(physics)


def followers_of(constraints: Iterable[Constraint]) -> list[Follower]:
    """The joints that follow another, leaders first. Gives each its drive; call it before they are in the world.

    A joint that follows itself, directly or through others, or one that there is not, follows nothing.
    """
    by_path = {constraint.facts.path: constraint for constraint in constraints}
    rules = {path: following(constraint.facts.prim) for path, constraint in by_path.items()}
    _let_driven_lead(rules, {path for path, constraint in by_path.items() if _is_driven(constraint)})
    depths = {path: _depth(path, rules) for path in by_path}
    followers = []
    for path in sorted((path for path in by_path if depths[path] > 0), key=lambda path: depths[path]):
        rule = rules[path]
        assert rule is not None
        constraint, leader = by_path[path], by_path.get(rule.leader)
        if leader is None or _axis(constraint) is None or _axis(leader) is None:
            continue
        axis = _axis(constraint)
        assert axis is not None
        constraint.state.freedoms[axis].drive = Drive(STIFFNESS, DAMPING, acceleration=True)
        constraint.follows = True
        followers.append(Follower(constraint, leader, rule))
    return followers


def _let_driven_lead(rules: dict[str, Following | None], driven: Collection[str]) -> None:
    """Turn the rules around of joints that have a drive and follow one without: as no force acts back on a leader, that
    drive would move neither."""
    for path, rule in list(rules.items()):
        if rule is None or path not in driven or rule.leader in driven or not rule.ratio:
            continue
        if rules.get(rule.leader, rule) is None:
            rules[path], rules[rule.leader] = None, Following(path, -rule.offset / rule.ratio, 1.0 / rule.ratio)


def _is_driven(constraint: Constraint) -> bool:
    """True for a joint with a drive that has a target; damping alone has none."""
    drive = _drive(constraint)
    return drive is not None and (drive.stiffness > 0.0 or drive.target_velocity != 0.0)


def _depth(path: str, rules: Mapping[str, Following | None]) -> int:
    """Number of joints that a joint follows in a row; 0 for none, and in a circle."""
    seen = {path}
    while (rule := rules.get(path)) is not None:
        path = rule.leader
        if path in seen:
            return 0
        seen.add(path)
    return len(seen) - 1


def _axis(constraint: Constraint) -> int | None:
    """The only degree of freedom of a hinge or a slide; None for other joints."""
    moving = [axis for axis, freedom in enumerate(constraint.state.freedoms) if not freedom.is_locked]
    return moving[0] if moving in ([0], [3]) else None


def _drive(constraint: Constraint) -> Drive | None:
    axis = _axis(constraint)
    return None if axis is None else constraint.state.freedoms[axis].drive


def _gone_on(before: float | None, place: float, *, is_turn: bool) -> float:
    """A place, rad or m, with the whole turns that were made until the one before: most hinges know none."""
    return place if before is None or not is_turn else before + math.remainder(place - before, 2.0 * math.pi)


def _where(constraint: Constraint, physics: PhysicsWorld) -> float:
    """Position of a hinge, rad, or a slide, m."""
    return constraint.turned(physics) if _axis(constraint) == 3 else constraint.position(physics, 0)
