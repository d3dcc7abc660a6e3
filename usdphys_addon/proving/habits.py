# SPDX-License-Identifier: GPL-3.0-or-later
"""What engines do with a whole asset in their own way: it is seen in their motions, and tried before it is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..core import frames, mass, paths
from ..core.frames import Matrix
from ..core.model import PhysicsModel
from ..core.schemas import usd_geom, usd_physics
from ..simulation.articulations import joints_by_root, trees_of
from ..simulation.filters import filters_of
from ..simulation.joint_facts import JointFacts
from ..simulation.joint_poses import position_of, relative_pose, whole_turns
from ..simulation.notices import Notices
from . import at_start, opinions
from .certificate import measure
from .experiments import Experiment, Parting
from .opinions import Cause, Opinion
from .partings import touching, where_of
from .runs import STEP, Motion, Subject, angles, ends_of, radius_of, simulated, subject_of

#: s after a body parts, in which what engines do there is looked at.
_AFTER = 0.25
#: m or rad, by which a joint goes further beyond its limit in an engine than in the preview; the part of what a body is
#: apart that this has to make.
_SOFT, _PART = 3e-4, 0.5
#: What to do about an engine that holds limits by springs.
SOFT_LIMIT = "Say how stiff the limit is, or keep the joint away from it."
#: What to do about an engine that has no drives of type acceleration.
FORCE = "Use type force, with gains for the inertia that the drive moves."
#: m, and how many times further, that a body slides in the preview.
_SLID, _TIMES = 1e-3, 4.0
#: Frames after which it is looked anew what a body touches.
_LOOKED = 6
#: How many times the moments of inertia are tried, where an engine does not hold what is light.
_HEAVIER = (10.0, 100.0, 1000.0)


class Beyond(NamedTuple):
    """A joint that goes beyond its limits. far: m or rad. opinions: that say the limits."""

    facts: JointFacts
    axis: int
    far: float
    opinions: tuple[Opinion, ...]

    @property
    def words(self) -> str:
        """How far, with its unit."""
        return measure(self.far, self.axis)


def beyond_limits(model: PhysicsModel, first: Parting, here: Motion, there: Motion) -> list[Beyond]:
    """The joints that hang together with a body and go beyond their limits in an engine, and not in the preview, until
    it parts: the farthest first. None where that moves the body by less than half of what it is apart then."""
    subject, frame = subject_of(model), round(first.time / STEP)
    last = min(frame, len(here.positions) - 1, len(there.positions) - 1)
    found = []
    for facts in _joints_of(subject, first.body):
        axes = [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
        if axes not in ([0], [3]) or not facts.freedoms[axes[0]].is_limited or facts.freedoms[axes[0]].has_soft_limit:
            continue
        if not {facts.body0, facts.body1} - {""} <= set(here.paths) & set(there.paths):
            continue
        pasts = _past(subject, facts, axes[0], there, last) - _past(subject, facts, axes[0], here, last)
        side = int(np.argmax(pasts))
        if pasts[side] > _SOFT and (said := _limits_of(facts, side)):
            found.append(Beyond(facts, axes[0], float(pasts[side]), said))
    radius = radius_of(model, first.body)
    moved = sum(_moved(subject, one, here.pose(first.body, last)[:3, 3], here, last, radius) for one in found)
    if moved < _PART * _apart(first.body, here, there, last, radius):
        return []
    return sorted(found, key=lambda one: -one.far)


def _moved(subject: Subject, one: Beyond, place: Matrix, motion: Motion, frame: int, radius: float) -> float:
    """m by which the edge of a body moves, at most, where a joint goes so far."""
    if one.axis < 3:
        return one.far
    anchor = ends_of(subject, one.facts, motion, frame)[0][:3, 3]
    return one.far * (float(np.linalg.norm(place - anchor)) + radius)


def _apart(body: str, here: Motion, there: Motion, frame: int, radius: float) -> float:
    """m between the edges of a body in two motions."""
    one, other = (motion.paths.index(body) for motion in (here, there))
    turned = float(angles(here.rotations[frame, one], there.rotations[frame, other]))
    return float(np.linalg.norm(here.positions[frame, one] - there.positions[frame, other])) + radius * turned


def _joints_of(subject: Subject, body: str) -> Sequence[JointFacts]:
    """The joints of all that hangs together with a body."""
    return next((part.joints for part in subject.parts if body in part.bodies), ())


def _limits_of(facts: JointFacts, side: int) -> tuple[Opinion, ...]:
    """side: 0 for the lower limit, 1 for the upper one."""
    fields = (("lower_limit", "low"), ("upper_limit", "high"))[side]
    return tuple(
        Opinion(facts.path, name, field) for name, value in facts.prim.schemas.items() for field in fields
        if value.family == "UsdPhysics" and getattr(value, field, None) is not None
    )  # fmt: skip


def _past(subject: Subject, facts: JointFacts, axis: int, motion: Motion, last: int) -> Matrix:
    """(2,), m or rad, how far a joint goes past its lower and upper limit until a frame; 0 where it does not."""
    freedom, worst = facts.freedoms[axis], np.zeros(2)
    for frame in range(last + 1):
        place = position_of(facts, relative_pose(*ends_of(subject, facts, motion, frame)), axis)
        place = whole_turns(freedom, place) if axis == 3 else place
        worst = np.maximum(worst, (freedom.low - place, place - freedom.high))
    return np.asarray(worst)


class Slide(NamedTuple):
    """A body that slides in the preview and stands in an engine. far: m. roots: of the articulation that it is in."""

    far: float
    roots: tuple[Opinion, ...]


def sliding(model: PhysicsModel, first: Parting, here: Motion, there: Motion) -> Slide | None:
    """Where a body of an articulation slides in the preview, stands in an engine, and stands in the preview, too, if
    the articulation is none: friction of reduced coordinates acts after the links have moved."""
    subject = subject_of(model)
    kind, _ = where_of(subject, here, first)
    own = {facts.path for facts in _joints_of(subject, first.body)}
    roots = tuple(
        Opinion(root, usd_physics.ArticulationRootAPI.usd_name, "")
        for root, joints in joints_by_root(model).items() if own & {facts.path for facts in joints}
    )  # fmt: skip
    if kind != "contact" or not roots:
        return None
    last = min(round((first.time + _AFTER) / STEP), len(here.positions) - 1, len(there.positions) - 1)
    far, stays = (_way(subject, motion, first.body, last) for motion in (here, there))
    if far < _SLID or far < _TIMES * stays:
        return None
    free = simulated(opinions.removed(model, roots), last * STEP)
    if free.problem or far < _TIMES * _way(subject, free, first.body, last):
        return None
    return Slide(far, roots)


def _way(subject: Subject, motion: Motion, body: str, last: int) -> float:
    """m that a body has gone across gravity until a frame."""
    row, size = motion.paths.index(body), float(np.linalg.norm(subject.gravity))
    moved = motion.positions[last, row] - motion.positions[0, row]
    down = subject.gravity / size if size else np.zeros(3)
    return float(np.linalg.norm(moved - (moved @ down) * down))


def forced(model: PhysicsModel, first: Parting, experiment: Experiment, slack: float) -> tuple[Opinion, ...]:
    """The types of drives of what hangs together with a body, where these are acceleration, and the preview, too, moves
    that body otherwise with drives of type force."""
    found = tuple(
        Opinion(facts.path, name, "type") for facts in _joints_of(subject_of(model), first.body)
        for name, value in facts.prim.schemas.items()
        if isinstance(value, usd_physics.DriveAPI) and value.type == "acceleration"
        and (value.resolved("stiffness") or value.resolved("damping"))
    )  # fmt: skip
    if not found:
        return ()
    motion = simulated(opinions.removed(model, found), experiment.seconds)
    moves = motion.problem or any(one.body == first.body for one in experiment.parting(motion, slack))
    return found if moves else ()


class Light(NamedTuple):
    """A link that is too light for an engine. moment: its largest moment of inertia, kg m2. times: as many times of it
    the engine holds. opinions: that say the moments, or the mass that they follow from."""

    body: str
    moment: float
    times: float
    opinions: tuple[Opinion, ...]


def too_light(
    model: PhysicsModel, first: Parting, is_alike: Callable[[PhysicsModel], bool], has_time: Callable[[], bool]
) -> Light | None:
    """The lightest link of what hangs together with a body, where an engine moves all as the preview does when their
    moments of inertia are larger. is_alike: whether both move that body alike in a model."""
    part = next((part for part in subject_of(model).parts if first.body in part.bodies), None)
    if part is None or not part.joints:
        return None
    found = {path: mass.mass_properties(model, path) for path in part.bodies}
    for times in _HEAVIER:
        if not has_time():
            return None
        if is_alike(_heavier(model, found, times)):
            lightest = min(found, key=lambda path: max(found[path].diagonal_inertia))
            said = model.prims[lightest].get(usd_physics.MassAPI)
            names = [name for name in ("diagonal_inertia", "mass", "density") if getattr(said, name, None) is not None]
            name = usd_physics.MassAPI.usd_name
            return Light(lightest, max(found[lightest].diagonal_inertia), times,
                         tuple(Opinion(lightest, name, field) for field in names[:1]))  # fmt: skip
    return None


def _heavier(model: PhysicsModel, found: dict[str, mass.BodyMassProperties], times: float) -> PhysicsModel:
    """A copy with larger moments of inertia of some bodies."""
    result = model.copied()
    for path, own in found.items():
        said = model.prims[path].get(usd_physics.MassAPI) or usd_physics.MassAPI()
        moments = tuple(times * moment for moment in own.diagonal_inertia)
        result.prims[path].add(said.copy(
            mass=own.mass, center_of_mass=own.center_of_mass, diagonal_inertia=moments,
            principal_axes=own.principal_axes,
        ))  # fmt: skip
    return result


def in_parts(model: PhysicsModel, first: Parting, motion: Motion) -> list[Opinion]:
    """The approximations of meshes that are taken to pieces, where a body parts at their contact."""
    kind, other = where_of(subject_of(model), motion, first)
    ends = (first.body, other) if kind == "contact" else ()
    return [
        Opinion(prim.path, name, "approximation") for path in ends for prim in model.colliders.values()
        if paths.is_at_or_below(prim.path, path)
        for name, value in prim.schemas.items()
        if isinstance(value, usd_physics.MeshCollisionAPI) and value.approximation == "convexDecomposition"
    ]  # fmt: skip


def lost(motion: Motion) -> str:
    """The first body that an engine gives no numbers for, or stopped because it would not; "" without one."""
    rows = np.flatnonzero(~np.isfinite(motion.positions).all(axis=(0, 2)))
    lost = [*motion.unstable, *(motion.paths[row] for row in rows.tolist())]
    return next((path for path in lost if path in motion.paths), "")


def unbroken(model: PhysicsModel, first: Parting, here: Motion, there: Motion) -> tuple[Cause, ...]:
    """What breaks the joints of a body in the preview, where an engine says that it cannot break them."""
    limited = there.limits()
    found = []
    for facts in _joints_of(subject_of(model), first.body):
        if facts.path in here.broken and facts.path in limited:
            found += [
                opinions.cause_alone(model, Opinion(facts.path, name, field))
                for name, value in facts.prim.schemas.items() for field in ("break_force", "break_torque")
                if getattr(value, field, None) is not None
            ]  # fmt: skip
    return tuple(found)


def following(motion: Motion, causes: Sequence[Cause]) -> str:
    """What the preview says of a joint that follows another, where that is a cause; "" else."""
    about = {cause.path for cause in causes if "mimic" in cause.attribute}
    notices = (one for one in motion.notices if one.code == "JointFollows" and one.path in about)
    return next((one.message for one in notices), "")


def passing(model: PhysicsModel, first: Parting, motion: Motion) -> tuple[str, ...]:
    """Two that the preview lets pass through each other, of which one hangs together with the body that parts first."""
    part = next((part for part in subject_of(model).parts if first.body in part.bodies), None)
    for notice in motion.notices:
        ends = at_start.named_prims(model, notice.message) if notice.code == "ContactJammed" else ()
        if part is not None and len(ends) == 2 and not set(part.bodies).isdisjoint(ends):
            return tuple(ends)
    return ()


def rolling(model: PhysicsModel, found: Sequence[Parting], experiment: Experiment) -> str:
    """A body with a cylinder that turns by more than a radian about its axis while it touches something, of those that
    part first and of what hangs on them; "" without one."""
    first = {one.body for one in found if one.time <= found[0].time + 0.1}
    near = [body for part in subject_of(model).parts if first & set(part.bodies) for body in part.bodies]
    for body in near:
        for prim in model.colliders_of(body):
            shape = prim.get(usd_geom.Gprim)
            if isinstance(shape, usd_geom.Cylinder) and body in experiment.motion.paths:
                axis = frames.rotation_of(prim.world)[:, "XYZ".index(shape.resolved("axis"))]
                if _rolled_about(experiment, body, axis) > 1.0:
                    return body
    return ""


def _rolled_about(experiment: Experiment, body: str, axis: Matrix) -> float:
    """rad, by which a body turns there and back about an axis (3,) that it has at the start, where it touches another
    body that no joint ties to it, or what stands still."""
    motion = experiment.motion
    row = motion.paths.index(body)
    turns = np.array([frames.matrix_of(turn) for turn in motion.rotations[:, row]])
    along = turns @ (turns[0].T @ axis)
    ways = np.abs((along * motion.velocities[:, row, 3:]).sum(axis=1)) * STEP
    if ways.sum() <= 1.0:
        return 0.0
    starts = range(0, len(ways), _LOOKED)
    return float(sum(
        ways[frame : frame + _LOOKED].sum() for frame in starts if touching(experiment.model, motion, frame, row)
    ))  # fmt: skip


class Kept(NamedTuple):
    """A static collider that a body does not collide with, and where a joint says so."""

    other: str
    cause: Cause


def kept_apart(model: PhysicsModel, first: Parting, motion: Motion) -> Kept | None:
    """Where a body parts at the contact with what is below the static side of one of its joints."""
    subject = subject_of(model)
    kind, other = where_of(subject, motion, first)
    if kind != "contact" or other not in subject.layout.statics:
        return None
    for facts in subject.joints:
        for side, body, static in ((1, facts.body0, facts.static1), (0, facts.body1, facts.static0)):
            if body != first.body or not static or facts.collides or not paths.is_below(other, static):
                continue
            # What filters keep apart, too, no joint is needed for.
            found = filters_of(subject.layout, trees_of(model), Notices())
            if not found.keep_apart(body, [prim.path for prim in model.colliders_of(body)], other):
                return Kept(other, Cause(facts.path, f"physics:body{side}", static))
    return None
