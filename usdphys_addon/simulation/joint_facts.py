# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint prims -> normalized joints: bodies, frames, and limits and drives of six degrees of freedom. No solver.

Degrees of freedom are those of the joint frame: 0-2 along, 3-5 about X, Y and Z, body 1 seen from body 0. The frames
are turned so that the axis of a joint that has one is X.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..core import frames, joint_kinds
from ..core.frames import Matrix
from ..core.joint_kinds import AXIS_DOFS, DISTANCE
from ..core.joint_settings import PLAIN_AXIS, AxisSettings, axis_settings, distance_spring
from ..core.model import Prim
from ..core.schema import INF, Schema
from ..core.schemas import usd_physics
from ..core.schemas.usd_physics import DriveAPI, LimitAPI
from .layout import Body, Layout
from .notices import Notices

#: Larger numbers mean "no limit".
NO_LIMIT = 1e9


#: Index of a degree of freedom by instance name of a drive or limit; 6 is the distance.
_INDEX = {**{name: index for index, name in enumerate(AXIS_DOFS)}, "linear": 0, "angular": 3, DISTANCE: 6}
_CYCLE = ("X", "Y", "Z")


@dataclass(slots=True)
class Drive:
    """Gains in SI and radians. acceleration: the gains produce an acceleration instead of a force.

    is_friction: it is the friction of the joint, not a drive of the user.
    """

    stiffness: float = 0.0
    damping: float = 0.0
    target_position: float = 0.0
    target_velocity: float = 0.0
    max_force: float = INF
    acceleration: bool = False
    is_friction: bool = False


@dataclass(slots=True)
class Freedom:
    """One degree of freedom: m or rad. Locked if low > high.

    resistances: friction and damping that are not in the drive.
    """

    low: float = -INF
    high: float = INF
    drive: Drive | None = None
    settings: AxisSettings = PLAIN_AXIS
    resistances: tuple[Drive, ...] = ()

    @property
    def is_locked(self) -> bool:
        return joint_kinds.is_locked(self.low, self.high)

    @property
    def is_limited(self) -> bool:
        return not self.is_locked and (self.low > -NO_LIMIT or self.high < NO_LIMIT)

    @property
    def has_soft_limit(self) -> bool:
        """True for limits that are springs."""
        return self.settings.is_soft and self.is_limited

    @property
    def has_bounce(self) -> bool:
        """True for hard limits that give speed back."""
        return self.settings.bounce > 0.0 and self.is_limited and not self.settings.is_soft


def locked() -> Freedom:
    """A degree of freedom that does not move."""
    return Freedom(1.0, -1.0)


@dataclass(slots=True)
class JointFacts:
    """body0, body1: paths of the moving bodies, or "". static0, static1: static target on that side, or "".

    frame0, frame1: joint frames (4, 4) in the body's frame, or in the world without a body. names: index of the degree
    of freedom by instance name. distance: limits and drive of the distance of the anchors. cone: largest tilt of the
    X axis towards Y and towards Z, rad. first: the axis of the authored frames, 0 for X, that is X of these frames.
    """

    prim: Prim
    kind: str
    scene: str
    body0: str
    body1: str
    static0: str
    static1: str
    frame0: Matrix
    frame1: Matrix
    freedoms: list[Freedom]
    names: dict[str, int] = field(default_factory=dict)
    distance: Freedom | None = None
    cone: tuple[float, float] | None = None
    enabled: bool = True
    collides: bool = False
    excluded: bool = False
    break_force: float = INF
    break_torque: float = INF
    first: int = 0
    #: Of a bond: its axis, and the sign of the motion that it holds back; the bodies bear the pressure.
    pull: tuple[int, float] | None = None
    #: Of a bond that yields, by translation: the limits, m, beyond which it breaks, and their stiffness, N/m.
    bond: list[tuple[float, float, float]] = field(default_factory=list)

    @property
    def path(self) -> str:
        return self.prim.path

    @property
    def breaks(self) -> bool:
        """True for a joint whose load decides. A bond that yields breaks by its way."""
        return not self.bond and (self.break_force < NO_LIMIT or self.break_torque < NO_LIMIT)

    @property
    def moving(self) -> dict[str, Freedom]:
        """The degrees of freedom that have a name and can move. Their drives are those of the start."""
        freedoms = {name: self.freedoms[axis] for name, axis in self.names.items() if axis < 6}
        if self.distance is not None:
            freedoms |= {name: self.distance for name, axis in self.names.items() if axis == 6}
        return {name: freedom for name, freedom in freedoms.items() if not freedom.is_locked}

    @property
    def has_stops(self) -> bool:
        """True for a joint between two bodies that move, with limits that are no springs."""
        hard = [freedom.is_limited and not freedom.settings.is_soft for freedom in self.freedoms]
        return bool(self.body0 and self.body1 and not self.bond and (any(hard) or self.cone is not None))

    @property
    def turns(self) -> bool:
        """True for a hinge: it turns about X alone."""
        return [axis for axis, freedom in enumerate(self.freedoms) if axis >= 3 and not freedom.is_locked] == [3]

    def ends(self, *, is_reversed: bool) -> tuple[Matrix, Matrix]:
        """The frames (4, 4) on parent and child. is_reversed: body 1 is the parent."""
        return (self.frame1, self.frame0) if is_reversed else (self.frame0, self.frame1)

    @property
    def drives(self) -> list[Drive]:
        driven = [freedom.drive for freedom in self.freedoms if freedom.drive is not None]
        if self.distance is not None and self.distance.drive is not None:
            driven.append(self.distance.drive)
        return driven


def read_joints(layout: Layout, notices: Notices) -> list[JointFacts]:
    """The joints that can be simulated, in the order of the model."""
    if joint_kinds.BY_TYPE_NAME.keys().isdisjoint(layout.names):
        return []
    result = []
    in_instancers = layout.model.in_instancers()
    for path, prim in layout.model.joints.items():
        if path in in_instancers:
            continue  # as what it holds is
        joint = prim.get(usd_physics.Joint)
        assert isinstance(joint, usd_physics.Joint)
        facts = _read(layout, prim, joint, notices)
        if facts is not None:
            result.append(facts)
    return result


def ranges_of(layout: Layout, prim: Prim) -> JointFacts | None:
    """The facts of another state of a joint prim, of which limits, cone and breaking load count."""
    joint = prim.get(usd_physics.Joint)
    return _read(layout, prim, joint, Notices()) if isinstance(joint, usd_physics.Joint) else None


def _read(layout: Layout, prim: Prim, joint: usd_physics.Joint, notices: Notices) -> JointFacts | None:
    sides: list[tuple[Body | None, str, Matrix]] = []
    for side, targets in enumerate((joint.body0, joint.body1)):
        target = targets[0] if targets else ""
        known = layout.model.prims.get(target)
        if target and known is None:
            notices.add("JointUnusable", prim, f"{prim.display} is attached to {target}, which does not exist.")
            return None
        body = layout.body_of(target) if target else None
        position, rotation = joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}")
        world = frames.world_frame(None if known is None else known.world, position, rotation)
        if not np.isfinite(world).all():
            notices.add("JointUnusable", prim, f"{prim.display} has a frame with NaN or infinity.")
            return None
        sides.append((body, target, world if body is None else np.linalg.inv(body.pose) @ world))
    (body0, target0, frame0), (body1, target1, frame1) = sides
    scene = _scene(prim, body0, body1, notices)
    if scene is None:
        return None
    facts = JointFacts(
        prim, type(joint).__name__, scene,
        "" if body0 is None else body0.prim.path, "" if body1 is None else body1.prim.path,
        target0 if body0 is None else "", target1 if body1 is None else "", frame0, frame1, [],
        enabled=joint.resolved("joint_enabled"), collides=joint.resolved("collision_enabled"),
        excluded=joint.resolved("exclude_from_articulation"),
        break_force=_at_most(joint.decided("break_force")), break_torque=_at_most(joint.decided("break_torque")),
    )  # fmt: skip
    _shape(facts, joint)
    _apply_limits(facts, notices)
    _apply_drives(facts, notices)
    _apply_settings(facts)
    if facts.kind == "Joint":
        _single_axis_first(facts)
        _hold_bond(facts)
        _let_yield(facts)
    return facts


def _let_yield(facts: JointFacts) -> None:
    """Let a bond yield: drives hold it by no more than their largest forces, and soft limits only tell when it breaks.

    As in PhysX, where drives do not count for the breaking force, and the limits bear next to nothing until then. The
    bodies bear the pressure, which one limit lets through.
    """
    moves, turns = facts.freedoms[:3], facts.freedoms[3:]
    if not (
        facts.breaks and facts.collides and facts.break_torque >= NO_LIMIT
        and all(_holds(freedom) and freedom.has_soft_limit for freedom in moves)
        and all(_holds(freedom) and not freedom.is_limited for freedom in turns)
    ):  # fmt: skip
        return
    facts.bond = [(freedom.low, freedom.high, freedom.settings.stiffness) for freedom in moves]
    for freedom in moves:
        freedom.low, freedom.high, freedom.settings = -INF, INF, PLAIN_AXIS


def _holds(freedom: Freedom) -> bool:
    """True if a drive alone keeps a degree of freedom where it is, up to a largest force."""
    drive = freedom.drive
    return (
        drive is not None and not drive.is_friction and drive.stiffness > 0.0 and 0.0 < drive.max_force < NO_LIMIT
        and drive.target_position == drive.target_velocity == 0.0 and not freedom.resistances
        and not freedom.settings.friction and freedom.settings.max_speed == INF
    )  # fmt: skip


def _hold_bond(facts: JointFacts) -> None:
    """Lock the one axis on which a bond can only be pressed together, and leave out the contacts of its bodies.

    They touch there, so contact and lock bear the same pressure, and the lock takes no small steps. It counts as pull
    and shear only do.
    """
    free = [row for row, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
    if not (facts.breaks and facts.collides and len(free) == 1 and free[0] < 3) or facts.drives:
        return
    freedom = facts.freedoms[free[0]]
    if (
        freedom.settings != PLAIN_AXIS
        or not {freedom.low, freedom.high} & {0.0}
        or freedom.high - freedom.low < NO_LIMIT
    ):
        return
    facts.pull = (free[0], 1.0 if freedom.high == 0.0 else -1.0)
    facts.freedoms[free[0]] = locked()
    facts.collides = False


def _at_most(value: float | None) -> float:
    """The largest force or distance; INF for None, and for values that make no sense."""
    return value if value is not None and value >= 0.0 else INF


def _range(limits: Schema, names: tuple[str, str], instance: str = "") -> Freedom:
    """Limits that are not authored, or no numbers, do not limit."""
    low, high = (limits.decided(name, instance) for name in names)
    return Freedom(-INF if low is None or low != low else low, INF if high is None or high != high else high)


def _distance(limits: Schema, names: tuple[str, str]) -> Freedom:
    freedom = _range(limits, names, DISTANCE)
    return Freedom(max(freedom.low, 0.0), freedom.high)


def _scene(prim: Prim, body0: Body | None, body1: Body | None, notices: Notices) -> str | None:
    bodies = [body for body in (body0, body1) if body is not None]
    if all(body.is_kinematic for body in bodies):
        notices.add("JointUnusable", prim, f"{prim.display} holds no dynamic body.")
        return None
    if body0 is not None and body0 is body1:
        notices.add("JointUnusable", prim, f"{prim.display} has {body0.prim.display} on both sides.")
        return None
    if len({body.scene for body in bodies}) > 1:
        notices.add("SceneMixed", prim, f"{prim.display} ties bodies of different physics scenes; it does nothing.")
        return None
    return bodies[0].scene


# --------------------------------------------------------------------------- degrees of freedom


def _shape(facts: JointFacts, joint: usd_physics.Joint) -> None:
    """Set locked and limited degrees of freedom by joint type; the joint axis becomes X."""
    axis = joint.resolved("axis") if hasattr(joint, "axis") else "X"
    moves, turns = (_from_axis(locks, axis) for locks in joint_kinds.locked_axes(joint))
    facts.freedoms = [locked() if is_locked else Freedom() for is_locked in (*moves, *turns)]
    _turn(facts, axis)
    facts.names = {name: _INDEX[name] for name in joint_kinds.driven_dofs(joint.usd_name)}
    if isinstance(joint, usd_physics.RevoluteJoint):
        facts.freedoms[3] = _range(joint, ("lower_limit", "upper_limit"))
    elif isinstance(joint, usd_physics.PrismaticJoint):
        facts.freedoms[0] = _range(joint, ("lower_limit", "upper_limit"))
    elif isinstance(joint, usd_physics.SphericalJoint):
        facts.cone = joint_kinds.cone_angles(joint)
    elif isinstance(joint, usd_physics.DistanceJoint):
        facts.distance = _distance(joint, ("min_distance", "max_distance"))


def _from_axis(values: joint_kinds.Locks, axis: str) -> list[bool]:
    """Values of (X, Y, Z), rotated so that an axis comes first."""
    first = _CYCLE.index(axis)
    return [values[(first + step) % 3] for step in range(3)]


def _turn(facts: JointFacts, axis: str) -> None:
    """Turn both frames so that their X is this axis, Y the next and Z the third."""
    first = _CYCLE.index(axis)
    turn = np.eye(4)
    turn[:3, :3] = np.eye(3)[:, [(first + step) % 3 for step in range(3)]]
    facts.frame0, facts.frame1 = facts.frame0 @ turn, facts.frame1 @ turn
    facts.first = (facts.first + first) % 3


def _single_axis_first(facts: JointFacts) -> None:
    """Rotate the frames of a generic joint with one free rotation so that it is about X; permute its dofs too."""
    free = [index for index in range(3) if not facts.freedoms[3 + index].is_locked]
    if len(free) != 1 or free[0] == 0:
        return
    first = free[0]
    _turn(facts, _CYCLE[first])
    order = [(first + step) % 3 for step in range(3)]
    facts.freedoms = [facts.freedoms[index] for index in order] + [facts.freedoms[3 + index] for index in order]
    names = [AXIS_DOFS[index] for index in order] + [AXIS_DOFS[3 + index] for index in order]
    facts.names = {**{name: index for index, name in enumerate(names)}, DISTANCE: 6}


def _apply_limits(facts: JointFacts, notices: Notices) -> None:
    for name, limit in facts.prim.instances(LimitAPI):
        assert isinstance(limit, LimitAPI)
        if facts.kind != "Joint" or name not in facts.names:
            notices.add(
                "DriveIgnored", facts.prim, f"The limit '{name}' has no meaning for the type of {facts.prim.display}."
            )
        elif name == DISTANCE:
            facts.distance = _distance(limit, ("low", "high"))
        else:
            facts.freedoms[facts.names[name]] = _range(limit, ("low", "high"), name)


#: Damping of a friction, 1/s: the solver holds still with it, up to the force of the friction.
_STICKS = 1e6


def _apply_settings(facts: JointFacts) -> None:
    """Set what simulators beside UsdPhysics say about the degrees of freedom.

    Friction and damping are drives towards rest. The solver has one drive for each degree of freedom: where the joint
    has one, its damping is added to that, if it is a force without limit; all else is a further drive.
    """
    if facts.distance is not None:
        facts.distance.settings = distance_spring(facts.prim)
    for index, freedom in enumerate(facts.freedoms):
        by_axis = [axis_settings(facts.prim, name) for name, place in facts.names.items() if place == index]
        settings = next((one for one in by_axis if one != PLAIN_AXIS), None)
        if settings is None or freedom.is_locked:
            continue
        freedom.settings = settings
        wanted = []
        if settings.friction > 0.0:
            wanted.append(Drive(damping=_STICKS, max_force=settings.friction, acceleration=True, is_friction=True))
        drive, damping = freedom.drive, settings.resistance
        if damping > 0.0 and drive is not None and not drive.acceleration and drive.max_force >= NO_LIMIT:
            total = drive.damping + damping
            drive.target_velocity *= drive.damping / total
            drive.damping = total
        elif damping > 0.0:
            wanted.append(Drive(damping=damping))
        if freedom.drive is None and wanted:
            freedom.drive = wanted.pop(0)
        freedom.resistances = tuple(wanted)


def _apply_drives(facts: JointFacts, notices: Notices) -> None:
    for name, drive in facts.prim.instances(DriveAPI):
        assert isinstance(drive, DriveAPI)
        index = facts.names.get(name)
        if index is None:
            notices.add(
                "DriveIgnored", facts.prim, f"The drive '{name}' has no meaning for the type of {facts.prim.display}."
            )
            continue
        value = Drive(
            drive.resolved("stiffness"), drive.resolved("damping"), drive.resolved("target_position"),
            drive.resolved("target_velocity"), _at_most(drive.decided("max_force")),
            drive.resolved("type") == "acceleration",
        )  # fmt: skip
        if index == 6:
            if facts.distance is None:
                facts.distance = Freedom(0.0, INF)
            facts.distance.drive = value
        elif facts.freedoms[index].is_locked:
            notices.add("DriveIgnored", facts.prim, f"The drive '{name}' of {facts.prim.display} is on a locked axis.")
        else:
            facts.freedoms[index].drive = value
