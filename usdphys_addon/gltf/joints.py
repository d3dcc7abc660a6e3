# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits and drives of glTF joints <-> joint types, limits and drives of UsdPhysics."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..core import vendor_schemas
from ..core.joint_settings import axis_settings
from ..core.model import Prim
from ..core.schema import attribute_of
from ..core.schemas import usd_physics
from . import axes, vendor
from .document import is_number

INF = math.inf
LINEAR, ANGULAR = "linear", "angular"
_DOFS = {LINEAR: ("transX", "transY", "transZ"), ANGULAR: ("rotX", "rotY", "rotZ")}
_KEYS = {LINEAR: "linearAxes", ANGULAR: "angularAxes"}
#: What limits of two and three axes with a range bound: none of it is a limit of one axis.
_ROUND = {(LINEAR, 2): "cylinder", (LINEAR, 3): "distance", (ANGULAR, 2): "cone", (ANGULAR, 3): "ball"}


class Range(NamedTuple):
    """A limit. stiffness: infinite if it is hard."""

    low: float
    high: float
    stiffness: float = INF
    damping: float = 0.0

    @property
    def is_soft(self) -> bool:
        return math.isfinite(self.stiffness)


class RoundLimit(NamedTuple):
    """A limit of two or three axes together. axis: the one that it leaves out; -1 if it leaves out none."""

    kind: str
    axis: int
    range: Range


class Freedom(NamedTuple):
    """What a joint leaves free, by axes of the model: each is locked, has a range, or is free.

    softer: soft ranges within a hard range of the same axis, or without effect on a locked one.
    """

    locked: dict[tuple[str, int], Range]
    ranges: dict[tuple[str, int], Range]
    rounds: tuple[RoundLimit, ...]
    softer: dict[tuple[str, int], Range]

    def locks(self, kind: str) -> list[int]:
        return sorted(axis for one, axis in self.locked if one == kind)


# --------------------------------------------------------------------------- reading


#: Values of limits and drives that are numbers.
_NUMBERS = frozenset({"min", "max", "stiffness", "damping", "positionTarget", "velocityTarget", "maxForce"})


def _number(value: object, default: float) -> float:
    return float(value) if is_number(value) else default


def _axes(limit: dict[str, Any], kind: str) -> list[int]:
    values = limit.get(_KEYS[kind])
    axes = values if isinstance(values, list) else []
    return sorted({axis for axis in axes if isinstance(axis, int) and not isinstance(axis, bool) and 0 <= axis < 3})


def items(settings: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The limits or the drives of a joint; what is no object is left out."""
    items_of_key = settings.get(key)
    return [item for item in items_of_key if isinstance(item, dict)] if isinstance(items_of_key, list) else []


def well_formed(settings: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The limits and drives of a joint, without values of a wrong type: these count as absent."""
    return {
        key: [{name: value for name, value in item.items() if _is_valid(name, value)} for item in items(settings, key)]
        for key in ("limits", "drives")
    }


def _is_valid(name: str, value: object) -> bool:
    if name in _KEYS.values():
        return isinstance(value, list) and all(type(axis) is int and 0 <= axis < 3 for axis in value)
    if name == "axis":
        return type(value) is int and 0 <= value < 3
    return name not in _NUMBERS or is_number(value)


def freedom(limits: Iterable[dict[str, Any]]) -> Freedom:
    """The limits of a joint together. Several of one axis intersect; a missing bound is none."""
    merged = Freedom({}, {}, (), {})
    rounds: list[RoundLimit] = []
    for limit in limits:
        low, high, stiffness, damping = _range(limit)
        is_soft = math.isfinite(stiffness)
        for kind in _KEYS:
            named = _axes(limit, kind)
            if not named:
                continue
            if low == 0.0 == high and not is_soft:
                for axis in named:
                    merged.locked[kind, axes.TO_MODEL[axis][0]] = Range(0.0, 0.0, stiffness, damping)
            elif len(named) == 1 or low == 0.0 == high:
                for axis in named:
                    into = merged.softer if is_soft else merged.ranges
                    _intersect(into, kind, axis, Range(low, high, stiffness, damping))
            elif (low, high) != (-INF, INF):
                left = -1 if len(named) == 3 else axes.TO_MODEL[({0, 1, 2} - set(named)).pop()][0]
                bounds = Range(max(low, 0.0), high, stiffness, damping)
                rounds.append(RoundLimit(_ROUND[kind, len(named)], left, bounds))
    for key in merged.locked.keys() & merged.ranges.keys():
        del merged.ranges[key]
    for ranges in (merged.ranges, merged.softer):
        for key in [key for key, one in ranges.items() if (one.low, one.high) == (-INF, INF)]:
            del ranges[key]
    for key, soft in list(merged.softer.items()):
        hard = merged.locked.get(key) or merged.ranges.get(key)
        if hard is None:
            merged.ranges[key] = merged.softer.pop(key)
        elif soft.low <= hard.low and hard.high <= soft.high:
            del merged.softer[key]
    return merged._replace(rounds=tuple(sorted(rounds)))


def _range(limit: dict[str, Any]) -> Range:
    low, high = _number(limit.get("min"), -INF), _number(limit.get("max"), INF)
    stiffness = _number(limit.get("stiffness"), INF)
    stiffness = INF if stiffness < 0.0 else stiffness
    return Range(low, high, stiffness, _number(limit.get("damping"), 0.0) if math.isfinite(stiffness) else 0.0)


def with_springs(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a joint with a drive for each soft limit of one place: it is a spring towards that.

    One of an axis that has a drive stays a limit; one of a locked axis has no effect and is left out.
    """
    drives = items(settings, "drives")
    driven = {(drive.get("type"), drive.get("axis")) for drive in drives}
    locked = freedom(items(settings, "limits")).locked
    limits: list[dict[str, Any]] = []
    for limit in items(settings, "limits"):
        low, high, stiffness, damping = _range(limit)
        named = [(kind, axis) for kind in _KEYS for axis in _axes(limit, kind)]
        if low != high or not math.isfinite(stiffness) or (low != 0.0 and len(named) > 1):
            limits.append(limit)
            continue
        for kind, axis in named:
            if (kind, axes.TO_MODEL[axis][0]) in locked:
                continue
            if (kind, axis) in driven:
                limits.append(
                    {_KEYS[kind]: [axis], **{key: item for key, item in limit.items() if key not in _KEYS.values()}}
                )
                continue
            driven.add((kind, axis))
            drives.append({
                "type": kind, "mode": "force", "axis": axis, "positionTarget": low, "stiffness": stiffness,
                "velocityTarget": 0.0, "damping": damping,
            })  # fmt: skip
    return {"limits": limits, "drives": drives}


def _intersect(ranges: dict[tuple[str, int], Range], kind: str, axis: int, new: Range) -> None:
    mine, sign = axes.TO_MODEL[axis]
    if sign < 0:
        new = new._replace(low=-new.high, high=-new.low)
    old = ranges.get((kind, mine), Range(-INF, INF))
    ranges[kind, mine] = Range(
        max(old.low, new.low), min(old.high, new.high), min(old.stiffness, new.stiffness),
        max(old.damping, new.damping),
    )  # fmt: skip


def _cone(free: Freedom) -> tuple[int, float, float] | None:
    """(axis, half angle about the next axis, about the third) of a joint that swings in a cone and turns freely."""
    swings = {axis: one for (kind, axis), one in free.ranges.items() if kind == ANGULAR}
    cones = [one for one in free.rounds if one.kind == "cone"]
    if len(cones) != len(free.rounds) or any(one.is_soft for one in swings.values()):
        return None
    if not swings and not cones:
        return (0, -1.0, -1.0)
    if len(cones) == 1 and not swings and cones[0].range.low == 0.0 and not cones[0].range.is_soft:
        angle = cones[0].range.high
        return (cones[0].axis, angle, angle) if math.isfinite(angle) else None
    # Two symmetric ranges of the axes beside the free one: an ellipse.
    if cones or len(swings) != 2 or not all(math.isclose(one.low, -one.high) for one in swings.values()):
        return None
    axis = ({0, 1, 2} - swings.keys()).pop()
    return (axis, swings[(axis + 1) % 3].high, swings[(axis + 2) % 3].high)


def read_settings(prim: Prim, settings: dict[str, Any]) -> None:
    """Set the type of a joint prim, its limits and drives. The fields of `Joint` are left to the caller."""
    settings = with_springs(settings)
    _read_limits(prim, settings)
    _read_drives(prim, settings)


def _read_limits(prim: Prim, settings: dict[str, Any]) -> None:
    free = freedom(items(settings, "limits"))
    is_driven = bool(items(settings, "drives"))
    lin, ang = free.locks(LINEAR), free.locks(ANGULAR)
    linear_ranges = [axis for kind, axis in free.ranges if kind == LINEAR]
    angular_ranges = [axis for kind, axis in free.ranges if kind == ANGULAR]
    joint: usd_physics.Joint
    if len(lin) == 3 and len(ang) == 3:
        joint = usd_physics.FixedJoint()
    elif len(lin) == 3 and len(ang) == 2 and not free.rounds:
        axis = ({0, 1, 2} - set(ang)).pop()
        joint = usd_physics.RevoluteJoint(axis="XYZ"[axis])
        _set_range(prim, joint, free.ranges.get((ANGULAR, axis)), ANGULAR)
    elif len(ang) == 3 and len(lin) == 2 and not free.rounds:
        axis = ({0, 1, 2} - set(lin)).pop()
        joint = usd_physics.PrismaticJoint(axis="XYZ"[axis])
        _set_range(prim, joint, free.ranges.get((LINEAR, axis)), LINEAR)
    elif len(lin) == 3 and not ang and not is_driven and (cone := _cone(free)) is not None:
        joint = usd_physics.SphericalJoint(axis="XYZ"[cone[0]])
        if cone[1] >= 0.0:
            joint.cone_angle0_limit, joint.cone_angle1_limit = cone[1], cone[2]
    elif not (lin or ang or linear_ranges or angular_ranges or is_driven) and _is_distance(free.rounds):
        bounds = free.rounds[0].range
        joint = usd_physics.DistanceJoint(
            min_distance=bounds.low if bounds.low > 0.0 else None,
            max_distance=bounds.high if math.isfinite(bounds.high) else None,
        )
    else:
        joint = usd_physics.Joint()
        _add_limits(prim, free)
    prim.type_name = joint.usd_name
    prim.add(joint)
    _soften_for_newton(prim, free)


def _is_distance(rounds: tuple[RoundLimit, ...]) -> bool:
    return len(rounds) == 1 and rounds[0].kind == "distance" and not rounds[0].range.is_soft


def _set_range(prim: Prim, joint: Any, bounds: Range | None, instance: str) -> None:
    if bounds is None:
        return
    joint.lower_limit = bounds.low if math.isfinite(bounds.low) else None
    joint.upper_limit = bounds.high if math.isfinite(bounds.high) else None
    _soften(prim, bounds, instance)


def _soften(prim: Prim, bounds: Range, instance: str) -> None:
    """Write a limit that is a spring with the numbers of PhysX, which takes those of turns per radian."""
    if bounds.is_soft:
        cls: Any = vendor_schemas.find(vendor.LIMIT)
        factor = vendor_schemas.number_for_simulator(attribute_of(cls, "stiffness"), instance)
        vendor.apply(
            prim, vendor.LIMIT, instance, stiffness=factor * bounds.stiffness, damping=factor * bounds.damping
        )  # fmt: skip


def _soften_for_newton(prim: Prim, free: Freedom) -> None:
    """Newton's word for all turns of a joint, without which those of PhysX look as if they were per degree."""
    kinds = {kind for kind, _ in free.ranges}
    springs = {(one.stiffness, one.damping) for one in free.ranges.values() if one.is_soft}
    if kinds == {ANGULAR} and len(springs) == 1 and all(one.is_soft for one in free.ranges.values()):
        ((stiffness, damping),) = springs
        vendor.apply(prim, vendor.NEWTON, limitStiffness=stiffness, limitDamping=damping)


def _add_limits(prim: Prim, free: Freedom) -> None:
    for (kind, axis), _ in sorted(free.locked.items()):
        prim.add(usd_physics.LimitAPI(low=1.0, high=-1.0), _DOFS[kind][axis])
    ranges = dict(free.ranges)
    for one in free.rounds:
        if one.kind == "distance":
            low, high = one.range.low, one.range.high
            prim.add(usd_physics.LimitAPI(low=low, high=high if math.isfinite(high) else None), "distance")
        elif math.isfinite(one.range.high):
            # UsdPhysics has no disc: the square around it.
            kind = LINEAR if one.kind == "cylinder" else ANGULAR
            for axis in {0, 1, 2} - {one.axis}:
                ranges.setdefault((kind, axis), one.range._replace(low=-one.range.high))
    for (kind, axis), bounds in sorted(ranges.items()):
        limit = usd_physics.LimitAPI()
        limit.low = bounds.low if math.isfinite(bounds.low) else None
        limit.high = bounds.high if math.isfinite(bounds.high) else None
        prim.add(limit, _DOFS[kind][axis])
        _soften(prim, bounds, _DOFS[kind][axis])


def _read_drives(prim: Prim, settings: dict[str, Any]) -> None:
    joint = prim.get(usd_physics.Joint)
    for drive in items(settings, "drives"):
        kind, axis = drive.get("type"), drive.get("axis")
        if kind not in _DOFS or axis not in (0, 1, 2) or isinstance(axis, bool):
            continue
        mine, sign = axes.TO_MODEL[axis]
        dof = _DOFS[kind][mine]
        if isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
            own = ANGULAR if isinstance(joint, usd_physics.RevoluteJoint) else LINEAR
            if kind == own and joint.resolved("axis") == "XYZ"[mine]:
                dof = kind
        drive_api = usd_physics.DriveAPI(type="acceleration" if drive.get("mode") == "acceleration" else "force")
        if is_number(drive.get("positionTarget")):
            drive_api.target_position = _signed(sign, drive["positionTarget"])
            if is_number(drive.get("stiffness")):
                drive_api.stiffness = float(drive["stiffness"])
        if is_number(drive.get("velocityTarget")):
            drive_api.target_velocity = _signed(sign, drive["velocityTarget"])
        if is_number(drive.get("damping")):
            drive_api.damping = float(drive["damping"])
        most = drive.get("maxForce")
        if is_number(most) and most >= 0.0:
            drive_api.max_force = float(most)
        prim.add(drive_api, dof)


def _signed(sign: float, value: float) -> float:
    return float(sign * value) + 0.0


# --------------------------------------------------------------------------- writing


def _limit(kind: str, named: Iterable[int], bounds: Range) -> dict[str, Any]:
    """A limit of these axes of the model, as in a file."""
    turned = [axes.TO_GLTF[axis] for axis in named]
    low, high = bounds.low, bounds.high
    if len(turned) == 1 and turned[0][1] < 0.0:
        low, high = -high, -low
    limit: dict[str, Any] = {_KEYS[kind]: sorted(axis for axis, _ in turned)}
    if math.isfinite(low):
        limit["min"] = low + 0.0
    if math.isfinite(high):
        limit["max"] = high + 0.0
    if bounds.is_soft:
        limit["stiffness"] = bounds.stiffness
        if bounds.damping:
            limit["damping"] = bounds.damping
    return limit


_ZERO = Range(0.0, 0.0)


def _softness(prim: Prim, instance: str, low: float, high: float) -> Range:
    settings = axis_settings(prim, instance)
    return Range(low, high, settings.stiffness, settings.damping) if settings.is_soft else Range(low, high)


def _bound(value: float | None, default: float) -> float:
    return default if value is None or not math.isfinite(value) or abs(value) >= 1e37 else value


def limits_of(prim: Prim, joint: usd_physics.Joint) -> list[dict[str, Any]]:
    """The limits of a joint prim, as in a file."""
    everything = (0, 1, 2)
    if isinstance(joint, usd_physics.FixedJoint):
        return [_limit(LINEAR, everything, _ZERO), _limit(ANGULAR, everything, _ZERO)]
    if isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
        own, other = (ANGULAR, LINEAR) if isinstance(joint, usd_physics.RevoluteJoint) else (LINEAR, ANGULAR)
        axis = "XYZ".index(joint.resolved("axis"))
        limits = [_limit(other, everything, _ZERO), _limit(own, [one for one in everything if one != axis], _ZERO)]
        bounds = _softness(prim, own, _bound(joint.lower_limit, -INF), _bound(joint.upper_limit, INF))
        if (bounds.low, bounds.high) != (-INF, INF):
            limits.append(_limit(own, [axis], bounds))
        return limits
    if isinstance(joint, usd_physics.SphericalJoint):
        limits = [_limit(LINEAR, everything, _ZERO)]
        axis = "XYZ".index(joint.resolved("axis"))
        angles = [joint.decided("cone_angle0_limit"), joint.decided("cone_angle1_limit")]
        beside = [(axis + 1) % 3, (axis + 2) % 3]
        if angles[0] is not None and angles[1] is not None and math.isclose(angles[0], angles[1], rel_tol=1e-6):
            limits.append(_limit(ANGULAR, beside, Range(0.0, angles[0])))
        else:
            limits += [
                _limit(ANGULAR, [one], Range(-angle, angle))
                for one, angle in zip(beside, angles, strict=True) if angle is not None
            ]  # fmt: skip
        return limits
    if isinstance(joint, usd_physics.DistanceJoint):
        low, high = joint.decided("min_distance"), joint.decided("max_distance")
        if low is None and high is None:
            return []
        return [_limit(LINEAR, everything, Range(low or 0.0, INF if high is None else high))]
    return _generic_limits(prim)


def _generic_limits(prim: Prim) -> list[dict[str, Any]]:
    locked: dict[str, list[int]] = {LINEAR: [], ANGULAR: []}
    ranges: dict[tuple[str, int], Range] = {}
    limits = []
    for dof, limit in prim.instances(usd_physics.LimitAPI):
        low, high = _bound(limit.low, -INF), _bound(limit.high, INF)
        if dof == "distance":
            low = max(low, 0.0)
            if (low, high) != (0.0, INF) and high >= 0.0:
                limits.append(_limit(LINEAR, (0, 1, 2), Range(low, high)))
            continue
        kind, axis = (LINEAR if dof.startswith("trans") else ANGULAR), "XYZ".index(dof[-1])
        if low > high or low == 0.0 == high:
            locked[kind].append(axis)
        elif (low, high) != (-INF, INF):
            ranges[kind, axis] = _softness(prim, dof, low, high)
    limits = [_limit(kind, named, _ZERO) for kind, named in locked.items() if named] + limits
    return limits + [_limit(kind, [axis], bounds) for (kind, axis), bounds in sorted(ranges.items())]


def drives_of(prim: Prim, joint: usd_physics.Joint) -> list[dict[str, Any]]:
    """The drives of a joint prim, as in a file. Drives of a distance have no place there."""
    drives = []
    for dof, drive in prim.instances(usd_physics.DriveAPI):
        if dof == "distance":
            continue
        if dof in (LINEAR, ANGULAR):
            kind, axis = dof, "XYZ".index(getattr(joint, "axis", None) or "X")
        else:
            kind, axis = (LINEAR if dof.startswith("trans") else ANGULAR), "XYZ".index(dof[-1])
        theirs, sign = axes.TO_GLTF[axis]
        made: dict[str, Any] = {"type": kind, "mode": drive.resolved("type"), "axis": theirs}
        most = _bound(drive.resolved("max_force"), INF)
        if math.isfinite(most):
            made["maxForce"] = most
        # KHR pairs a target with its gain: both or neither.
        if drive.stiffness or drive.target_position is not None:
            made["positionTarget"] = _signed(sign, drive.resolved("target_position"))
            made["stiffness"] = drive.resolved("stiffness")
        if drive.damping or drive.target_velocity is not None or "stiffness" not in made:
            made["velocityTarget"] = _signed(sign, drive.resolved("target_velocity"))
            made["damping"] = drive.resolved("damping")
        drives.append(made)
    return drives


def settings_of(prim: Prim, joint: usd_physics.Joint) -> dict[str, Any]:
    """Limits and drives of a joint, as in the list of a document."""
    settings: dict[str, Any] = {"limits": limits_of(prim, joint)}
    if drives := drives_of(prim, joint):
        settings["drives"] = drives
    return settings


def is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """True if two settings leave a joint the same freedom and drive it alike."""
    return bool(_digest(one) == _digest(other))


_DRIVE_DEFAULTS = (
    ("positionTarget", 0.0), ("velocityTarget", 0.0), ("stiffness", 0.0), ("damping", 0.0), ("maxForce", INF),
)  # fmt: skip


def _digest(settings: dict[str, Any]) -> Any:
    free = freedom(items(settings, "limits"))
    drives = [
        (
            *(_rounded(_number(drive.get(key), default)) for key, default in _DRIVE_DEFAULTS),
            str(drive.get("type")), str(drive.get("mode", "force")), str(drive.get("axis")),
        ) for drive in items(settings, "drives")
    ]  # fmt: skip
    return (
        {key: tuple(map(_rounded, one)) for key, one in free.locked.items()},
        {key: tuple(map(_rounded, one)) for key, one in free.ranges.items()},
        [(one.kind, one.axis, tuple(map(_rounded, one.range))) for one in free.rounds], sorted(drives),
        {key: tuple(map(_rounded, one)) for key, one in free.softer.items()},
    )  # fmt: skip


def _rounded(value: float) -> float:
    """A number as 32-bit properties of Blender keep it."""
    return float(f"{value:.5g}")


def swapped(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a joint whose two bodies have changed places. Exact for joints with one degree of freedom."""
    turned_settings: dict[str, Any] = {"limits": []}
    for limit in items(settings, "limits"):
        turned = dict(limit)
        if len(_axes(limit, LINEAR)) + len(_axes(limit, ANGULAR)) == 1:
            for key, other in (("min", "max"), ("max", "min")):
                turned.pop(key, None)
                if other in limit:
                    turned[key] = -limit[other] + 0.0
        turned_settings["limits"].append(turned)
    drives = items(settings, "drives")
    if drives:
        turned_settings["drives"] = [
            {key: -value + 0.0 if key in ("positionTarget", "velocityTarget") else value for key, value in one.items()}
            for one in drives
        ]
    return turned_settings
