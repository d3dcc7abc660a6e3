# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles of a joint: its limits, drives and frames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bridge import joint_frames
from ..bridge.property_values import decided
from ..core import joint_kinds, units
from ..core.schema import Schema
from ..core.schemas import usd_physics
from ..core.words import phrase
from . import handles
from .handles import Handle
from .shown_handles import AXIS_NAMES, REACH, Guide, Shown

if TYPE_CHECKING:
    from .handles import Array

#: Pixels: radius of the dials of limits, drives and frames; distance of a linear limit that is not set.
_DIAL, _DRIVE_DIAL, _FRAME_DIAL, _REST = 80.0, 100.0, 48.0, 90.0
#: Where the handle of an angular limit that is not set is drawn, radians.
_REST_ANGLE = math.radians(150.0)


def add_joint(shown: Shown, obj: Any, depsgraph: Any) -> None:
    from ..core.errors import InputError

    joint = obj.usdphys.joint
    try:
        both = joint_frames.imported_frames(obj, depsgraph) or joint_frames.side_frames(obj, depsgraph)
    except InputError:
        # A body was deleted; the checks report it.
        return
    reader = _JointHandles(shown, joint, both)
    kind = joint.type
    cls = joint_kinds.BY_IDENTIFIER[kind].cls
    if kind == "REVOLUTE":
        reader.limits("joint.revolute", joint.revolute, cls, ("lower_limit", "upper_limit"), f"rot{joint.axis}")
    elif kind == "PRISMATIC":
        reader.limits("joint.prismatic", joint.prismatic, cls, ("lower_limit", "upper_limit"), f"trans{joint.axis}")
    elif kind == "DISTANCE":
        reader.limits("joint.distance", joint.distance, cls, ("min_distance", "max_distance"), "distance")
    elif kind == "SPHERICAL":
        reader.cone()
    elif kind == "GENERIC":
        for dof in joint_kinds.BY_IDENTIFIER[kind].limits:
            limit = getattr(joint.limits, dof)
            if limit.is_applied and not joint_kinds.is_locked(limit.low, limit.high):
                reader.limits(f"joint.limits.{dof}", limit, usd_physics.LimitAPI, ("low", "high"), dof, names_dof=True)
    for dof in joint_kinds.BY_IDENTIFIER[kind].drives:
        if getattr(joint.drives, dof).is_applied:
            reader.drive(dof)
    reader.frames(obj, depsgraph)


def _label_of_dof(dof: str, name: str) -> str:
    """Name of a property of one degree of freedom."""
    if dof == "distance":
        return phrase("Distance: {name}", name=phrase(name))
    if dof.startswith("rot"):
        return phrase("About {axis}: {name}", axis=dof[-1], name=phrase(name))
    return phrase("Along {axis}: {name}", axis=dof[-1], name=phrase(name))


def _label(group: Any, name: str) -> str:
    return str(group.bl_rna.properties[name].name)


class _JointHandles:
    """Adds the handles of one joint. both: world frames (4, 4) on body 0 and body 1."""

    def __init__(self, shown: Shown, joint: Any, both: tuple[Array, Array]) -> None:
        self.shown, self.joint, self.both = shown, joint, both
        self.origin = both[0][:3, 3].copy()

    def axes(self, axis: str) -> Array:
        """Axes (3, 3) of the frame on body 0, as columns, in cyclic order from the given one."""
        first = AXIS_NAMES.index(axis)
        return np.asarray(self.both[0][:3, [(first + step) % 3 for step in range(3)]])

    def limits(
        self, path: str, group: Any, cls: type[Schema], names: tuple[str, str], dof: str, *, names_dof: bool = False
    ) -> None:
        """Handles of a lower and an upper limit. cls: schema of the group. names_dof: labels name the degree of
        freedom."""
        sign_counts = dof == "distance"
        low, high = (_limit(group, cls, name, dof) for name in names)
        is_angle = dof.startswith("rot")
        rest = self.rest(dof)
        values, bounds = handles.at_rest(low, high, rest), handles.bounds_of(low, high)
        made: list[Handle] = []
        for name, value, (least, most), role, is_set in zip(
            names, values, bounds, ("lower", "upper"), (low is not None, high is not None), strict=True
        ):
            text = _label_of_dof(dof, _label(group, name)) if names_dof else _label(group, name)
            least = max(least, 0.0) if sign_counts else least
            if is_angle:
                made.append(self.dial(f"{path}.{name}", text, dof, value, _DIAL, role, (least, most), is_set))
            else:
                lift = -7.0 if role == "lower" else 7.0
                made.append(self.slider(f"{path}.{name}", text, dof, value, lift, role, (least, most), is_set))
        if is_angle:
            made = list(handles.draw_apart(*made))
            self.dial_guides(made, values, low is not None or high is not None)
        elif sign_counts:
            self.distance_guides(made)
        else:
            self.slider_guides(made)
        self.shown.handles += made

    def rest(self, dof: str) -> tuple[float, float]:
        """Values at which the handles of limits that are not set are drawn."""
        if dof.startswith("rot"):
            return -_REST_ANGLE, _REST_ANGLE
        far = self.shown.length(_REST, self.origin)
        return (far / 2.0, far) if dof == "distance" else (-far, far)

    def dial(
        self, key: str, label: str, dof: str, value: float, pixels: float, role: str,
        bounds: tuple[float, float], is_set: bool,
    ) -> Handle:  # fmt: skip
        axes = self.axes(dof[-1])
        return Handle(
            key, label, "TURN", self.origin, value, axis=axes[:, 0], zero=axes[:, 1],
            scale=self.shown.length(pixels, self.origin), low=bounds[0], high=bounds[1], role=role, is_set=is_set,
        )  # fmt: skip

    def slider(
        self, key: str, label: str, dof: str, value: float, lift: float, role: str,
        bounds: tuple[float, float], is_set: bool,
    ) -> Handle:  # fmt: skip
        return Handle(
            key, label, "LINE", self.origin, value, axis=self.direction(dof), low=bounds[0], high=bounds[1],
            lift=lift * self.shown.pixel, role=role, is_set=is_set,
        )  # fmt: skip

    def direction(self, dof: str) -> Array:
        """Unit direction of a translation; for a distance, from anchor to anchor."""
        if dof != "distance":
            return self.axes(dof[-1])[:, 0]
        apart = self.both[1][:3, 3] - self.origin
        return handles.unit(apart) if np.linalg.norm(apart) > 1e-6 else self.axes("X")[:, 0]

    def cone(self) -> None:
        """Handles of the two half angles of a cone."""
        group, axes = self.joint.spherical, self.axes(self.joint.axis)
        names = ("cone_angle0_limit", "cone_angle1_limit")
        angles = [_limit(group, usd_physics.SphericalJoint, name) for name in names]
        radius = self.shown.length(_DIAL, self.origin)
        for index, (name, angle) in enumerate(zip(names, angles, strict=True)):
            value = _REST_ANGLE if angle is None else min(angle, math.pi)
            self.shown.handles.append(Handle(
                f"joint.spherical.{name}", _label(group, name), "TURN", self.origin, value,
                axis=np.cross(axes[:, 0], axes[:, 1 + index]), zero=axes[:, 0], scale=radius, low=0.0, high=math.pi,
                role=("cone", "cone2")[index], is_set=angle is not None,
            ))  # fmt: skip
            role, start = ("cone", "cone2")[index], 0.0 if angle is None else -value
            rim = handles.arc(self.origin, np.cross(axes[:, 0], axes[:, 1 + index]), axes[:, 0], radius, start, value)
            self.shown.line(rim, role)
            if angle is not None:
                self.shown.guides.append(Guide(handles.fan(self.origin, rim), role, is_surface=True))
        if angles[0] is not None and angles[1] is not None:
            rim = handles.cone_rim(self.origin, axes, radius, (min(angles[0], math.pi), min(angles[1], math.pi)))
            self.shown.line(rim, "cone")
            spokes = np.stack((np.broadcast_to(self.origin, (4, 3)), rim[:-1:18]), axis=1).reshape(-1, 3)
            self.shown.guides.append(Guide(spokes, "plain"))
        self.shown.line(np.array([self.origin, self.origin + axes[:, 0] * radius * 1.15]), "plain")

    def drive(self, dof: str) -> None:
        """The handle of the target of a drive."""
        group = getattr(self.joint.drives, dof)
        moved = f"rot{self.joint.axis}" if dof == "angular" else f"trans{self.joint.axis}" if dof == "linear" else dof
        label = "Drive Target" if moved != dof else _label_of_dof(dof, "Drive Target")
        key, value, free = f"joint.drives.{dof}.target_position", float(group.target_position), (-math.inf, math.inf)
        is_set = group.is_property_set("target_position")
        if moved.startswith("rot"):
            made = self.dial(key, label, moved, value, _DRIVE_DIAL, "drive", free, is_set)
        else:
            made = self.slider(key, label, moved, value, 20.0, "drive", free, is_set)
        self.shown.handles.append(made)
        start = self.origin if moved.startswith("rot") else self.origin + made.axis * value
        self.shown.line(np.array([start, made.point(self.shown.view)]), "drive")

    def dial_guides(self, made: list[Handle], values: tuple[float, float], is_limited: bool) -> None:
        low, high = made
        radius = high.scale
        self.shown.line(handles.circle(self.origin, high.axis, high.zero, radius), "plain")
        if is_limited:
            end = min(values[1], values[0] + 2.0 * math.pi)
            rim = handles.arc(self.origin, high.axis, high.zero, radius * 0.96, values[0], end)
            self.shown.guides.append(Guide(handles.fan(self.origin, rim), "plain", is_surface=True))
        for handle in (low, high):
            self.shown.line(np.array([self.origin, handle.point(self.shown.view)]), handle.role)
        # A mark at the current angle of the joint.
        turn = self.both[0][:3, :3].T @ self.both[1][:3, :3]
        axis, zero = self.both[0][:3, :3].T @ high.axis, self.both[0][:3, :3].T @ high.zero
        turned = turn @ zero
        angle = math.atan2(float(turned @ np.cross(axis, zero)), float(turned @ zero))
        needle = handles.direction_at(high.axis, high.zero, angle) * radius
        self.shown.line(np.array([self.origin + needle * 0.82, self.origin + needle * 1.08]), "plain")

    def slider_guides(self, made: list[Handle]) -> None:
        view, tick = self.shown.view, self.shown.length(7.0, self.origin)
        ends = [handle.origin + handle.axis * float(np.asarray(handle.value)) for handle in made]
        self.shown.line(np.array(ends), "plain")
        for end, handle in zip(ends, made, strict=True):
            self.shown.line(np.array([end, handle.point(view)]), handle.role)
        across = handles.beside(made[0].axis, view, self.origin) * tick
        self.shown.line(np.array([self.origin - across, self.origin + across]), "plain")

    def distance_guides(self, made: list[Handle]) -> None:
        view = self.shown.view
        for handle in made:
            value = float(np.asarray(handle.value))
            end = handle.origin + handle.axis * value
            self.shown.line(np.array([self.origin, end, handle.point(view)]), handle.role)
            if handle.is_set:
                self.shown.line(handles.circle(self.origin, view.back, view.right, value), handle.role)

    def frames(self, obj: Any, depsgraph: Any) -> None:
        """Handles of the frames that are stored in the bodies. Of two frames at one place, only that of body 1."""
        places = [self.shown.view.project(frame[:3, 3]) for frame in self.both]
        is_apart = True
        if places[0] is not None and places[1] is not None:
            is_apart = bool(np.linalg.norm(places[0] - places[1]) > 2.0 * REACH * self.shown.pixel)
        sides = [side for side in (1, 0) if joint_frames.is_fixed(self.joint, side)]
        for side in sides if is_apart else sides[:1]:
            frame, body = self.both[side], joint_frames.body_world(obj, side, depsgraph)
            center = frame[:3, 3].copy()
            if self.joint.is_property_set(f"local_pos{side}"):
                self.shown.handles.append(Handle(
                    f"joint.local_pos{side}", phrase("Anchor in Body {side}", side=side), "FREE", center,
                    np.array(getattr(self.joint, f"local_pos{side}"), float),
                    basis=np.eye(3) if body is None else body[:3, :3], role="frame",
                ))  # fmt: skip
            if not self.joint.is_property_set(f"local_rot{side}"):
                continue
            radius = self.shown.length(_FRAME_DIAL, center)
            for index, name in enumerate(AXIS_NAMES):
                axis, zero = frame[:3, index].copy(), frame[:3, (index + 1) % 3].copy()
                self.shown.handles.append(Handle(
                    f"joint.local_rot{side}:{name}", phrase("Frame in Body {side} about {axis}", side=side, axis=name),
                    "TURN", center, 0.0,
                    axis=axis, zero=handles.direction_at(axis, zero, math.pi / 4.0), scale=radius,
                    whole=np.array(getattr(self.joint, f"local_rot{side}"), float), role="frame",
                ))  # fmt: skip
                self.shown.line(handles.arc(center, axis, zero, radius, 0.0, math.pi / 2.0), "frame")


def _limit(group: Any, cls: type[Schema], name: str, dof: str = "") -> float | None:
    """The value of a limit that is authored and finite, else None."""
    value = decided(group, cls, name, dof)
    return None if value is None or units.is_infinite(value) else float(value)
