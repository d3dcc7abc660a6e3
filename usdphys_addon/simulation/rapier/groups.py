# SPDX-License-Identifier: GPL-3.0-or-later
"""One physics scene in Rapier, as groups of bodies that each have a world of the solver with settings of their own.

Static colliders and kinematic bodies, which nothing moves, are in all worlds. Two groups become one before bodies of
both can touch; they do not part again.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...core.frames import Matrix
from ...core.model import Prim
from ...core.schema import Vector
from ..engine import Engine, JointPose, Setup, Step
from ..joint_facts import Drive, JointFacts
from .decomposition import decompose
from .grab import Grab
from .grouping import Rows, grouped, needs_of
from .panics import panics_named
from .shapes import box_of, surfaces_of
from .space import SavedSpace, SolverSpace
from .stock import Stock

Floats = NDArray[np.float64]
#: Bodies of two groups are near each other from this part of their sizes on, or where they are after so many steps.
MARGIN, AHEAD = 0.1, 2.0
#: Time steps, at most, in which groups far from each other are not compared; a speed (m/s) that a body may gain.
LONGEST, KICK = 6, 20.0
#: Rows of distances that are computed together.
BLOCK = 256


@dataclass(slots=True)
class SavedGroups:
    """State of a GroupedSpace. spaces: with what each has saved. rows: of their bodies."""

    spaces: list[tuple[SolverSpace, SavedSpace]]
    rows: list[Rows]
    surfaces: dict[str, tuple[float, float | None, float | None]]
    broken: list[str]


class GroupedSpace(Engine):
    """A physics scene. What has no docstring is described in `Engine`."""

    box_of = staticmethod(box_of)
    surfaces_of = staticmethod(surfaces_of)
    decompose = staticmethod(decompose)

    def __init__(self, setup: Setup) -> None:
        self._setup, self._stock = setup, Stock(setup)
        self.paths = tuple(setup.bodies)
        self.spaces: list[SolverSpace] = []
        #: Of the bodies of each space, in the order of the setup.
        self._rows: list[Rows] = []
        self.broken: list[str] = []
        self._joints: list[str] = []
        self._owners: dict[str, SolverSpace] = {}
        self._measures_impulses = False
        #: Time steps until each pair of groups is compared again.
        self._due: dict[tuple[int, int], int] = {}

    def build(self) -> Iterator[float]:
        with panics_named():
            yield from self._stock.fill()
        self._still = np.flatnonzero(~self._stock.is_dynamic)
        for rows, needs in grouped(self._setup, self._stock):
            own, setup = self._part(rows)
            space = SolverSpace(setup, self._stock, own, needs)
            yield from space.build()
            self.spaces.append(space)
            self._rows.append(own)
        self.is_moved_at_start = any(space.is_moved_at_start for space in self.spaces)
        self._changed()
        made = set(self._owners)
        self._joints = [facts.path for facts in self._setup.joints if facts.path in made]

    def _part(self, dynamic: Rows) -> tuple[Rows, Setup]:
        """The rows of these dynamic bodies and of all kinematic ones, and the part of the scene that concerns them."""
        rows, setup = np.sort(np.concatenate((dynamic, self._still))), self._setup
        if len(rows) == len(setup.bodies):
            return rows, setup
        listed = list(setup.bodies.items())
        moving = {listed[row][0] for row in dynamic.tolist()}
        joints = [facts for facts in setup.joints if not moving.isdisjoint((facts.body0, facts.body1))]
        trees = [tree for tree in setup.trees if any(not moving.isdisjoint((link.parent, link.child))
                                                     for link in tree.links)]  # fmt: skip
        return rows, replace(setup, bodies=dict(map(listed.__getitem__, rows.tolist())), joints=joints, trees=trees)

    def _changed(self) -> None:
        """Other spaces than before."""
        self._owners = {path: space for space in self.spaces for path in space.joints}
        self._body_owners: dict[str, SolverSpace] | None = None
        self._due = {}
        self.weights = ChainMap(*(space.weights for space in self.spaces))

    def _owner(self, body: str) -> SolverSpace:
        if self._body_owners is None:
            self._body_owners = {
                self.paths[row]: space for space, rows in zip(self.spaces, self._rows, strict=True)
                for row in rows[self._stock.is_dynamic[rows]].tolist()
            }  # fmt: skip
        return self._body_owners[body]

    def _with(self, body: str) -> Iterator[SolverSpace]:
        """The spaces that have a body: one, or all for a kinematic one."""
        return (space for space in self.spaces if body in space.handles)

    # ----------------------------------------------------------------------- running

    @property
    def substeps(self) -> int:  # type: ignore[override]
        return max(space.substeps for space in self.spaces)

    def step(self, positions: Floats, rotations: Floats) -> Step:
        if len(self.spaces) == 1:
            done = self.spaces[0].step(positions, rotations)
            self._note_broken()
            return done
        self._meet(positions)
        awake = np.zeros(len(positions), bool)
        lost: list[str] = []
        gaining = ""
        for space, rows in zip(self.spaces, self._rows, strict=True):
            places, turns = positions[rows], rotations[rows]
            done = space.step(places, turns)
            positions[rows], rotations[rows] = places, turns
            awake[rows] |= done.awake
            lost += done.lost
            gaining = gaining or done.gaining
        self._note_broken()
        return Step(awake, lost, gaining)

    def _note_broken(self) -> None:
        if sum(len(space.broken) for space in self.spaces) > len(self.broken):
            known = set(self.broken)
            self.broken += [path for space in self.spaces for path in space.broken if path not in known]

    def read_poses(self, positions: Floats, rotations: Floats) -> None:
        for space, rows in zip(self.spaces, self._rows, strict=True):
            places, turns = positions[rows], rotations[rows]
            space.read_poses(places, turns)
            positions[rows], rotations[rows] = places, turns

    def velocities(self) -> Floats:
        if len(self.spaces) == 1:
            return self.spaces[0].velocities()
        found = np.zeros((len(self.paths), 6))
        for space, rows in zip(self.spaces, self._rows, strict=True):
            found[rows] = space.velocities()
        return found

    # ----------------------------------------------------------------------- groups that meet

    def _meet(self, positions: Floats) -> None:
        """Make one group of those whose bodies may touch in the next time step."""
        number = 0
        while number < len(self.spaces):
            other = next((other for other in range(number) if self._comes_near(other, number, positions)), -1)
            if other < 0:
                number += 1
                continue
            self._unite(other, number, positions)
            number = 1

    def _comes_near(self, first: int, second: int, positions: Floats) -> bool:
        due = self._due.get((first, second), 0)
        if due > 0:
            self._due[first, second] = due - 1
            return False
        step, gravity = self._setup.time_step, math.hypot(*self.gravity)
        sides = []
        for number in (first, second):
            rows = self._rows[number]
            speeds = np.linalg.norm(self.spaces[number].velocities()[:, :3], axis=1)
            radii = self._stock.radii[rows]
            reach = (1.0 + MARGIN) * radii + AHEAD * step * (speeds + gravity * step)
            solid = self._stock.is_dynamic[rows] & (radii > 0.0)
            solid &= np.isfinite(positions[rows]).all(axis=1) & np.isfinite(reach)
            sides.append((positions[rows[solid]], reach[solid], float(speeds[solid].max(initial=0.0))))
        gap = _gap(*sides[0][:2], *sides[1][:2])
        if gap <= 0.0:
            return True
        # In so many steps no body of one comes to the other, unless it is kicked hard.
        fastest = sides[0][2] + sides[1][2] + KICK + 2.0 * gravity * LONGEST * step
        steps = gap / (fastest * step)
        self._due[first, second] = int(steps) if steps < LONGEST else LONGEST
        return False

    def _unite(self, first: int, second: int, positions: Floats) -> None:
        rows = np.union1d(self._rows[first], self._rows[second])
        dynamic = rows[self._stock.is_dynamic[rows]]
        own, setup = self._part(dynamic)
        needs = needs_of(self._setup, self._stock, dynamic, setup.joints, positions)
        space = SolverSpace(setup, self._stock, own, needs, (self.spaces[first], self.spaces[second]))
        for _ in space.build():
            pass
        if self._measures_impulses:
            space.contact_impulses()
        self.spaces[first], self._rows[first] = space, own
        del self.spaces[second], self._rows[second]
        self._changed()

    # ----------------------------------------------------------------------- state

    def save(self) -> SavedGroups:
        return SavedGroups(
            [(space, space.save()) for space in self.spaces], list(self._rows), dict(self._stock.surfaces),
            list(self.broken),
        )  # fmt: skip

    def load(self, saved: SavedGroups) -> None:
        self.spaces, self._rows = [space for space, _ in saved.spaces], list(saved.rows)
        for space, state in saved.spaces:
            space.load(state)
        self._stock.surfaces = dict(saved.surfaces)
        self.broken = list(saved.broken)
        self._changed()

    @property
    def gravity(self) -> Vector:
        return self.spaces[0].gravity

    @gravity.setter
    def gravity(self, value: Vector) -> None:
        for space in self.spaces:
            space.gravity = value

    def set_kinematic_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        for space in self._with(path):
            space.set_kinematic_pose(path, position, rotation)

    def expect_kinematic_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        for space in self._with(path):
            space.expect_kinematic_pose(path, position, rotation)

    def set_static_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        for space in self.spaces:
            space.set_static_pose(path, position, rotation)

    def set_surface(
        self, material: str, friction: float, restitution: float | None, static: float | None = None
    ) -> None:  # fmt: skip
        before = self._stock.surfaces.get(material, (friction, None, static))
        kept = before[1] if restitution is None else restitution
        self._stock.surfaces[material] = friction, kept, static
        for space in self.spaces:
            space.set_surface(material, friction, restitution, static)

    def set_led(self, path: str, velocity: tuple[Vector, Vector] | None) -> None:
        self._due = {}
        self._owner(path).set_led(path, velocity)

    def set_collider_enabled(self, path: str, enabled: bool) -> None:
        for space in self.spaces:
            space.set_collider_enabled(path, enabled)

    def set_surface_velocity(self, path: str, prim: Prim) -> None:
        for space in self._with(path):
            space.set_surface_velocity(path, prim)

    def set_mass(self, path: str, mass: float) -> None:
        self._owner(path).set_mass(path, mass)

    # ----------------------------------------------------------------------- contacts and hands

    def contact_count(self) -> int:
        return sum(space.contact_count() for space in self.spaces)

    def contact_counts(self) -> Mapping[str, int]:
        return {path: count for space in self.spaces for path, count in space.contact_counts().items()}

    def contact_points(self, most: int) -> Sequence[tuple[float, ...]]:
        points: list[tuple[float, ...]] = []
        for space in self.spaces:
            if len(points) < most:
                points += space.contact_points(most - len(points))
        return points

    def contact_impulses(self) -> Mapping[tuple[str, str], float]:
        self._measures_impulses = True
        return {pair: impulse for space in self.spaces for pair, impulse in space.contact_impulses().items()}

    @property
    def grabs(self) -> Mapping[int, Grab]:  # type: ignore[override]
        return {number: held for space in self.spaces for number, held in space.grabs.items()}

    def grab(self, number: int, path: str, point: Matrix) -> None:
        self._owner(path).grab(number, path, point)

    def release(self, number: int) -> None:
        next(space for space in self.spaces if number in space.grabs).release(number)

    @property
    def statics(self) -> Collection[str]:
        return self.spaces[0].statics

    # ----------------------------------------------------------------------- joints

    @property
    def joints(self) -> Collection[str]:
        return self._joints

    def joint_frames(self, path: str) -> tuple[Matrix, Matrix]:
        return self._owners[path].joint_frames(path)

    def is_holding(self, path: str) -> bool:
        return self._owners[path].is_holding(path)

    def is_reduced(self, path: str) -> bool:
        return self._owners[path].is_reduced(path)

    def pose_joint(self, pose: JointPose) -> None:
        self._due = {}
        self._owners[pose.path].pose_joint(pose)

    def drive(self, path: str, dof: str) -> Drive:
        return self._owners[path].drive(path, dof)

    def set_drive(self, path: str, dof: str, drive: Drive) -> None:
        self._owners[path].set_drive(path, dof, drive)

    def lead_drive(self, path: str, dof: str, start: float) -> None:
        self._owners[path].lead_drive(path, dof, start)

    def set_joint_enabled(self, path: str, enabled: bool) -> None:
        self._owners[path].set_joint_enabled(path, enabled)

    def set_joint_ranges(self, path: str, facts: JointFacts) -> None:
        self._owners[path].set_joint_ranges(path, facts)

    def joint_load(self, path: str) -> tuple[float, float]:
        return self._owners[path].joint_load(path)

    def joint_wrench(self, path: str) -> tuple[Vector, Vector]:
        return self._owners[path].joint_wrench(path)


def _gap(places: Matrix, reaches: Matrix, others: Matrix, others_reach: Matrix) -> float:
    """The smallest distance (m) between bodies of two groups, less their reaches."""
    if not len(places) or not len(others):
        return math.inf
    low, high = (places - reaches[:, None]).min(axis=0), (places + reaches[:, None]).max(axis=0)
    lower, upper = (others - others_reach[:, None]).min(axis=0), (others + others_reach[:, None]).max(axis=0)
    apart = float(np.linalg.norm(np.maximum(np.maximum(lower - high, low - upper), 0.0)))
    if apart > 0.0:
        return apart
    gap = math.inf
    for start in range(0, len(places), BLOCK):
        chosen = slice(start, start + BLOCK)
        away = np.linalg.norm(places[chosen, None] - others[None], axis=2)
        gap = min(gap, float((away - reaches[chosen, None] - others_reach[None]).min()))
    return gap
