# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks: hinges and slides that hold the same two bodies by different axes.

By the letter of UsdPhysics all of them hold at once, so that nothing moves, and PhysX does so. MuJoCo writes a joint of
several axes in this way, and takes it for one; Newton does where an articulation has it. Each joint of a stack moves
what the joints after it move: the first one is on body 0, the last one on body 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from . import frames, mass, paths
from .frames import Matrix
from .mass import BodyMassProperties
from .model import PhysicsModel, Prim
from .schemas import usd_physics
from .ties import Ties

#: Types of the joints of a stack.
OF_ONE_AXIS = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")
_LETTERS = "XYZ"
#: Angle, rad, within which the axes of two joints are one, as those of the hinges of a door.
_ALIGNED = 0.02
#: Sine of the angle between two hinges, or two slides, from which on they are meant to be two. Below it, it is more
#: likely that the hinges of a door do not fit, and then nothing moves.
_MEANT = 0.3
#: m: how far two places may be apart that are one.
_NEAR = 1e-5
#: How far the joints of a stack may differ in where they want body 1: m per m of their arms, and rad.
_AGREED = 1e-3


@dataclass(frozen=True, slots=True)
class Line:
    """The axis of a hinge or a slide in the world, (3,) each: a place on it and its direction."""

    type_name: str
    place: Matrix
    axis: Matrix

    def allows_motion_of(self, other: Line) -> bool:
        """True if both joints may hold the same two bodies, and these still move: hinges of a door, or two rails."""
        between = other.place - self.place
        distance = float(np.linalg.norm(between))
        is_along = float(np.linalg.norm(np.cross(self.axis, other.axis))) < _ALIGNED
        is_on_line = distance < _NEAR or float(np.linalg.norm(np.cross(self.axis, between))) < _ALIGNED * distance
        is_same = self.type_name == other.type_name
        return is_same and is_along and (is_on_line or self.type_name == "PhysicsPrismaticJoint")


def are_meant(lines: Sequence[Line]) -> bool:
    """True for joints of the same two bodies that nobody takes for one: each turns or slides another way."""
    return all(
        one.type_name != other.type_name or float(np.linalg.norm(np.cross(one.axis, other.axis))) > _MEANT
        for one, other in combinations(lines, 2)
    )


def locks(lines: Sequence[Line]) -> bool:
    """True for joints of the same two bodies that allow no common motion."""
    return not all(lines[0].allows_motion_of(line) for line in lines[1:])


@dataclass(frozen=True, slots=True)
class Stack:
    """joints: in the order of the model. base, body: paths of the bodies of side 0 and 1; base is "" for what stands
    still. starts: frames (4, 4) of side 0 of each joint in the world. back: the matrix (4, 4) of the world that brings
    body 1 to where all the joints are at zero.
    """

    joints: tuple[Prim, ...]
    base: str
    body: str
    starts: tuple[Matrix, ...]
    back: Matrix

    @property
    def is_at_zero(self) -> bool:
        """True where body 1 is where all the joints are at zero."""
        return float(np.abs(self.back - np.eye(4)).max()) < _AGREED

    def carried(self, by_base: Matrix, by_body: Matrix) -> Stack:
        """The stack after both bodies have been moved by matrices (4, 4) of the world."""
        starts = tuple(np.asarray(by_base @ start) for start in self.starts)
        return replace(self, starts=starts, back=np.asarray(by_base @ self.back @ np.linalg.inv(by_body)))

    def moved(self, values: Iterable[float]) -> list[Matrix]:
        """Matrices (4, 4) of the world, from zero, of what is behind each joint at these values, rad or m."""
        total, found = np.eye(4), []
        for prim, start, value in zip(self.joints, self.starts, values, strict=True):
            along = np.eye(3)[_number(prim)] * value
            is_hinge = prim.type_name == "PhysicsRevoluteJoint"
            own = frames.transform((0, 0, 0), frames.matrix_of(frames.turn_by(along))) if is_hinge else (
                frames.transform(along)
            )  # fmt: skip
            total = total @ start @ own @ np.linalg.inv(start)
            found.append(total)
        return found

    def values(self) -> list[float]:
        """The values of the joints, rad or m, at which body 1 is nearest to where it is."""
        values = np.zeros(len(self.joints))
        if self.is_at_zero:
            return values.tolist()
        for _ in range(30):
            left = self._left(values)
            step = 1e-6
            slopes = np.stack([(self._left(values + step * row) - left) / step for row in np.eye(len(values))], axis=1)
            change = np.linalg.lstsq(slopes, -left, rcond=1e-9)[0]
            # A half turn may be found from either side: no step is longer than a third of that.
            values = values + change * min(1.0, 1.0 / max(1e-12, float(np.abs(change).max())))
            if float(np.abs(change).max()) < 1e-10:
                break
        return values.tolist()

    def _left(self, values: Iterable[float]) -> Matrix:
        """(6,): how far body 1 is from where the joints have it at these values, seen from the first joint."""
        frame = np.linalg.inv(self.starts[0])
        wrong = frame @ self.moved(values)[-1] @ self.back @ self.starts[0]
        return np.array([*wrong[:3, 3], *frames.rotation_vector(wrong[:3, :3])])


def stacks(model: PhysicsModel) -> list[Stack]:
    """The stacks of the articulations of a model, whose body 1 physics moves."""
    if not model.articulations:
        return []
    by_ends: dict[tuple[str, str], list[Prim]] = defaultdict(list)
    inside = _in_articulations(model)
    for prim in model.joints.values():
        if prim.type_name in OF_ONE_AXIS and prim.path in inside:
            by_ends[_ends(model, prim)].append(prim)
    found = []
    for (base, body), prims in by_ends.items():
        if len(prims) > 1 and base != body and model.is_simulated(body):
            made = _stack(model, base, body, prims)
            if made is not None:
                found.append(made)
    return found


def _stack(model: PhysicsModel, base: str, body: str, prims: Sequence[Prim]) -> Stack | None:
    """The stack of joints; None where some are nearly one, or where they want body 1 in different places."""
    starts, ends = ([_frame(model, prim, side) for prim in prims] for side in (0, 1))
    lines = [Line(prim.type_name, end[:3, 3], end[:3, _number(prim)]) for prim, end in zip(prims, ends, strict=True)]
    if not np.isfinite([*starts, *ends]).all() or not are_meant(lines):
        return None
    back = [start @ np.linalg.inv(end) for start, end in zip(starts, ends, strict=True)]
    place = model.prims[body].world[:3, 3]
    arm = max(float(np.linalg.norm(end[:3, 3] - place)) for end in ends)
    for other in back[1:]:
        apart = np.linalg.inv(back[0]) @ other
        turn = float(np.linalg.norm(frames.rotation_vector(apart[:3, :3])))
        wrong = float(np.linalg.norm(apart[:3, :3] @ place + apart[:3, 3] - place))
        if not turn < _AGREED or not wrong < _NEAR + _AGREED * arm:
            return None
    return Stack(tuple(prims), base, body, tuple(starts), back[0])


def _number(prim: Prim) -> int:
    return _LETTERS.index(prim.schemas[prim.type_name].resolved("axis"))


def _frame(model: PhysicsModel, prim: Prim, side: int) -> Matrix:
    """The frame (4, 4) of a side of a joint in the world."""
    joint = prim.schemas[prim.type_name]
    targets = getattr(joint, f"body{side}")
    target = model.prims.get(targets[0]) if targets else None
    return np.asarray(frames.world_frame(
        None if target is None else target.world, joint.resolved(f"local_pos{side}"),
        joint.resolved(f"local_rot{side}"),
    ))  # fmt: skip


def _ends(model: PhysicsModel, prim: Prim) -> tuple[str, str]:
    """Paths of the bodies of a joint, "" for what stands still."""
    joint = prim.get(usd_physics.Joint)
    bodies = [model.body_of(targets[0]) if (targets := getattr(joint, f"body{side}")) else None for side in (0, 1)]
    first, second = ("" if body is None else body.path for body in bodies)
    return first, second


def _in_articulations(model: PhysicsModel) -> set[str]:
    """Paths of the joints that articulations have: that hang on their root, or lie below it."""
    held = dict(_tied(model))
    ties = Ties()
    for ends in held.values():
        if any(ends):
            ties.tie(filter(None, ends))
    roots, above = set(), []
    for path, prim in model.articulations.items():
        if prim.get(usd_physics.RigidBodyAPI) is not None:
            roots.add(ties.root(path))
        elif path in held:
            roots.update(ties.root(end) for end in held[path] if end)
        else:
            above.append(path)
    return {
        path for path, ends in held.items()
        if any(end and ties.root(end) in roots for end in ends) or any(paths.is_below(path, root) for root in above)
    }  # fmt: skip


def _tied(model: PhysicsModel) -> Iterator[tuple[str, tuple[str, str]]]:
    """(path, ends) of the joints that hold, and that no articulation leaves out."""
    for path, prim in model.joints.items():
        joint = prim.get(usd_physics.Joint)
        if joint is not None and joint.resolved("joint_enabled") and not joint.resolved("exclude_from_articulation"):
            yield path, _ends(model, prim)


# --------------------------------------------------------------------------- as chains

#: Mass and moments of a link, relative to those of the body that the stack moves.
LIGHT = 1e-3


def chained(model: PhysicsModel, found: Sequence[Stack] | None = None) -> tuple[PhysicsModel, dict[str, str]]:
    """A model whose stacks are chains, with a light link between two joints of a stack; and by path of each link, the
    body that its stack moves. The model itself where there is no stack. found: the stacks, where they are known."""
    found = stacks(model) if found is None else found
    if not found:
        return model, {}
    made, links = replace(model, prims=dict(model.prims)), dict[str, str]()
    for stack in found:
        _chain(made, stack, mass.mass_properties(model, stack.body), links)
    return made, links


def _chain(made: PhysicsModel, stack: Stack, weight: BodyMassProperties, links: dict[str, str]) -> None:
    """Hang the joints of a stack on each other."""
    body, before = made.prims[stack.body], ""
    poses = stack.moved(stack.values())
    for number, (prim, pose) in enumerate(zip(stack.joints, poses, strict=True)):
        joint: Any = prim.schemas[prim.type_name]
        changes: dict[str, Any] = {}
        if before:
            # The link is where the body would be without the joints from here on.
            changes |= {"body0": (before,), "local_pos0": joint.local_pos1, "local_rot0": joint.local_rot1}
        if number < len(stack.joints) - 1:
            before = paths.free(f"{prim.path}_link", made.prims.__contains__)
            links[before] = stack.body
            changes["body1"] = (before,)
            made.add(_link(before, prim, body, pose @ stack.back @ body.world, weight, joint.resolved("local_pos1")))
        own = replace(prim, schemas={**prim.schemas, prim.type_name: joint.copy(**changes)})
        made.prims[prim.path] = own
    schemas: list[Any] = [prim.schemas[prim.type_name] for prim in stack.joints]
    # Also with what stands still.
    others = (stack.base,) if stack.base else schemas[0].body0 or ()
    if others and not any(schema.resolved("collision_enabled") for schema in schemas):
        pairs = body.get(usd_physics.FilteredPairsAPI) or usd_physics.FilteredPairsAPI()
        filtered = pairs.copy(filtered_pairs=(*(pairs.filtered_pairs or ()), *others))
        made.prims[stack.body] = replace(body, schemas={**body.schemas, filtered.usd_name: filtered})


def _link(path: str, joint: Prim, body: Prim, world: Any, weight: BodyMassProperties, place: Any) -> Prim:
    """A link at a pose (4, 4) of the world. place: of the joint that holds it, in its space."""
    link = Prim(path, world=np.asarray(world), label=f"{joint.label or joint.name} link")
    own = body.get(usd_physics.RigidBodyAPI)
    assert own is not None
    link.add(own.copy())
    moment = LIGHT * sum(weight.diagonal_inertia) / 3.0
    link.add(usd_physics.MassAPI(
        mass=LIGHT * weight.mass, center_of_mass=place, diagonal_inertia=(moment,) * 3,
        principal_axes=frames.IDENTITY_ROTATION,
    ))  # fmt: skip
    return link
