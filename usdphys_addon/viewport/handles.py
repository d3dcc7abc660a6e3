# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles in the 3D view: their positions, the values that drags give, and guide lines. No Blender, no GPU."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

#: LINE: along an axis. TURN: about an axis. FREE: in the plane of the view.
Motion = Literal["LINE", "TURN", "FREE"]

#: Steps of snapped angles, normal and precise, radians.
ANGLE_STEP, FINE_ANGLE_STEP = math.radians(5.0), math.radians(1.0)
#: A precise drag multiplies the mouse movement by this factor.
FINE = 0.1
#: Sine of the angle to the line of sight below which an axis counts as pointing at the viewer. For a dial, the cosine
#: below which it counts as seen edge-on.
EDGE_ON = 0.15
#: Smallest step of snapped lengths, pixels.
_STEP_PIXELS = 8.0
#: Smallest ratio of the edges of a box that its moments, in single precision, can represent.
THINNEST = 1e-3
#: Limits that differ by less than this, radians, are drawn with different radii.
_CLOSE = math.radians(14.0)


@dataclass(eq=False, repr=False)
class View:
    """A 3D view: world to camera (4, 4), camera to clip space (4, 4), size in pixels."""

    view: Array
    window: Array
    width: float
    height: float
    inverse: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inverse", np.linalg.inv(self.window @ self.view))

    @property
    def right(self) -> Array:
        return unit(self.view[0, :3])

    @property
    def up(self) -> Array:
        return unit(self.view[1, :3])

    @property
    def back(self) -> Array:
        """Unit direction towards the viewer."""
        return unit(self.view[2, :3])

    @property
    def is_perspective(self) -> bool:
        return bool(abs(self.window[3, 3]) < 0.5)

    def _clip(self, point: ArrayLike) -> Array:
        return np.asarray(self.window @ (self.view @ np.append(np.asarray(point, float), 1.0)))

    def project(self, point: ArrayLike) -> Array | None:
        """Pixel (2,) of a world point; None if it is behind the viewer."""
        x, y, _, w = self._clip(point)
        if w <= 1e-9:
            return None
        return np.array([(x / w + 1.0) * self.width / 2.0, (y / w + 1.0) * self.height / 2.0])

    def ray(self, pixel: ArrayLike) -> tuple[Array, Array]:
        """(origin, unit direction) of the line of sight through a pixel."""
        x, y = np.asarray(pixel, float).tolist()
        corner = [2.0 * x / self.width - 1.0, 2.0 * y / self.height - 1.0]
        if self.is_perspective:
            # Not from the inverse: where the end of the view is far away, that has no digits left for it.
            x, y = ((corner[axis] + self.window[axis, 2]) / self.window[axis, axis] for axis in (0, 1))
            turn = self.view[:3, :3].T
            return -turn @ self.view[:3, 3], unit(turn @ np.array([x, y, -1.0]))
        near, far = (self.inverse @ np.array([*corner, depth, 1.0]) for depth in (-1.0, 1.0))
        start = near[:3] / near[3]
        return start, unit(far[:3] / far[3] - start)

    def pixel_size(self, point: ArrayLike) -> float:
        """Width of a pixel at the depth of a world point."""
        return float(2.0 * abs(self._clip(point)[3]) / (self.width * abs(self.window[0, 0])))

    def sight(self, point: ArrayLike) -> Array:
        """Unit direction in which a world point is seen."""
        if not self.is_perspective:
            return -self.back
        eye = -self.view[:3, :3].T @ self.view[:3, 3]
        return unit(np.asarray(point, float) - eye)


@dataclass(eq=False, repr=False)
class Handle:
    """A point that can be dragged. Places and directions are in world space.

    key: path of the property that it changes, with a part of it after a colon. motion: LINE, TURN or FREE.
    origin (3,): place of the value 0 of a LINE, centre of a TURN, place of a FREE handle.
    value: along a LINE; radians of a TURN; (3,) of a FREE handle. low, high: its range.
    axis (3,): unit direction of a LINE, rotation axis of a TURN. zero (3,): unit direction of the angle 0 of a TURN.
    scale: world length of the value 1 of a LINE, radius of a TURN.
    basis (3, 3): columns are the world vectors of the components of a FREE handle's value.
    whole: the complete vector that a LINE changes one component of, or the quaternion that a TURN starts from.
    center, shift (3,): if a size grows to one side, its centre, and the movement of the centre if the value grows by 1;
    both in the space of the object.
    weight: mass of a box whose edges stand for moments of inertia, kg m2 per square of Blender's unit of length.
    axes: quaternion (w, x, y, z) that is written with these moments; None if it is authored.
    lift: pixels by which the handle is drawn beside its axis, or beside the place of a FREE handle.
    role: gives the colour. is_set: False if the value is not authored.
    """

    key: str
    label: str
    motion: Motion
    origin: Array
    value: float | Array
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    zero: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    scale: float = 1.0
    basis: Array = field(default_factory=lambda: np.eye(3))
    whole: Array | None = None
    center: Array | None = None
    shift: Array | None = None
    weight: float = 0.0
    axes: tuple[float, float, float, float] | None = None
    low: float = -math.inf
    high: float = math.inf
    lift: float = 0.0
    role: str = "size"
    is_set: bool = True

    def point(self, view: View) -> Array:
        """Place in the world."""
        if self.motion == "FREE":
            return np.asarray(self.origin + view.right * (self.lift * view.pixel_size(self.origin)))
        amount = float(np.asarray(self.value))
        if self.motion == "TURN":
            return self.origin + direction_at(self.axis, self.zero, amount) * self.scale
        place = self.origin + self.axis * (amount * self.scale)
        if not self.lift:
            return place
        return np.asarray(place + beside(self.axis, view, place) * (self.lift * view.pixel_size(place)))

    def faces_viewer(self, view: View) -> bool:
        """True if a LINE points at the viewer: a drag then has no defined length along it."""
        if self.motion != "LINE":
            return False
        return bool(np.linalg.norm(np.cross(self.axis, view.sight(self.point(view)))) < EDGE_ON)


def unit(vector: ArrayLike) -> Array:
    """The vector with a length of 1; zero stays zero."""
    values = np.asarray(vector, float)
    length = float(np.linalg.norm(values))
    return values / length if length else values


def direction_at(axis: Array, zero: Array, angle: float) -> Array:
    """`zero` rotated about a unit axis that is perpendicular to it."""
    return np.asarray(zero * math.cos(angle) + np.cross(axis, zero) * math.sin(angle))


def beside(axis: Array, view: View, place: Array) -> Array:
    """Unit direction perpendicular to an axis and to the line of sight: towards the silhouette of a round shape."""
    across = np.cross(axis, view.sight(place))
    if np.linalg.norm(across) < 1e-6:
        across = np.cross(axis, view.up)
    return unit(across)


def directions_of(linear: ArrayLike) -> Array:
    """The orthogonal matrix (3, 3) nearest to a scaled one; it mirrors if that does."""
    left, _, right = np.linalg.svd(np.asarray(linear, float)[:3, :3])
    return np.asarray(left @ right)


# --------------------------------------------------------------------------- drags


def along_line(origin: Array, axis: Array, ray: tuple[Array, Array]) -> float | None:
    """Distance from the origin of a line to its point that is nearest to a ray; None if they are parallel."""
    start, direction = ray
    apart, cosine = origin - start, float(axis @ direction)
    sine = 1.0 - cosine * cosine
    if sine < 1e-6:
        return None
    return float((cosine * (direction @ apart) - axis @ apart) / sine)


def on_plane(origin: Array, normal: Array, ray: tuple[Array, Array]) -> Array | None:
    """Intersection of a ray with a plane; None if there is none or they are nearly parallel."""
    start, direction = ray
    slope = float(normal @ direction)
    if abs(slope) < 1e-3:
        return None
    way = float(normal @ (origin - start)) / slope
    return np.asarray(start + direction * way) if way > 0.0 else None


def angle_on(origin: Array, axis: Array, zero: Array, ray: tuple[Array, Array]) -> float | None:
    """Angle, between -pi and pi, at which a ray meets the plane of a dial; None if it does not."""
    place = on_plane(origin, axis, ray)
    if place is None:
        return None
    arm = place - origin
    return math.atan2(float(arm @ np.cross(axis, zero)), float(arm @ zero))


def length_step(pixel: float) -> float:
    """Step of snapped lengths: 1, 2 or 5 times a power of ten, at least a few pixels. pixel: length of a pixel."""
    least = max(pixel, 1e-12) * _STEP_PIXELS
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1.0, 2.0, 5.0, 10.0) if power * factor >= least * (1.0 - 1e-9))


def snapped(value: float, step: float) -> float:
    return round(value / step) * step


def differs(one: float | ArrayLike, other: float | ArrayLike) -> bool:
    """True if a drag has changed a value by more than rounding errors."""
    first, second = np.asarray(one, float), np.asarray(other, float)
    return bool((np.abs(first - second) > 1e-9 * np.maximum(1.0, np.abs(second))).any())


class Drag:
    """One drag of a handle. mouse: pixel at which it starts."""

    def __init__(self, handle: Handle, view: View, mouse: ArrayLike) -> None:
        self.handle, self.view = handle, view
        self._mouse = np.asarray(mouse, float)
        #: Position of the mouse, with its precise movements scaled down.
        self._pointer = self._mouse.copy()
        point = handle.point(view)
        # The mouse hits a handle a few pixels off its centre; keep this offset.
        place = view.project(point)
        self._offset = np.zeros(2) if place is None else place - self._mouse
        self._turned, self._at = 0.0, 0.0
        self._line: tuple[Array, Array] | None = None
        if handle.motion == "LINE":
            self._line = point, handle.axis
        elif handle.motion == "TURN":
            radial = unit(point - handle.origin)
            if abs(float(handle.axis @ view.sight(handle.origin))) < EDGE_ON:
                # A dial that is seen edge-on is dragged like a line.
                self._line = point, np.cross(handle.axis, radial)
            else:
                self._at = angle_on(handle.origin, handle.axis, handle.zero, self._ray()) or 0.0
        self._point = point
        scale = float(np.linalg.norm(handle.basis, axis=0).max()) if handle.motion == "FREE" else handle.scale
        self._step = length_step(view.pixel_size(point) / (scale or 1.0))
        self.value: float | Array = handle.value

    def _ray(self) -> tuple[Array, Array]:
        return self.view.ray(self._pointer + self._offset)

    def move(
        self, mouse: ArrayLike, *, fine: bool = False, snap: bool = False, both: bool = False, axis: int | None = None
    ) -> float | Array:  # fmt: skip
        """The value with the mouse at a pixel.

        both: a size changes on both sides. axis: only this component of a FREE handle changes; None: all.
        """
        now = np.asarray(mouse, float)
        self._pointer += (now - self._mouse) * (FINE if fine else 1.0)
        self._mouse = now
        if self.handle.motion == "FREE":
            self.value = self._moved(fine, snap, axis)
        else:
            start = float(np.asarray(self.handle.value))
            if self.handle.motion == "TURN":
                value, step = start + self._turn(), FINE_ANGLE_STEP if fine else ANGLE_STEP
            else:
                value, step = start + self._slid() * (2.0 if both else 1.0), self._fine_step(fine)
            if snap:
                value = snapped(value, step)
            self.value = min(max(value, self.handle.low), self.handle.high)
        return self.value

    def _fine_step(self, fine: bool) -> float:
        return self._step * FINE if fine else self._step

    def _slid(self) -> float:
        assert self._line is not None
        slid = along_line(*self._line, self._ray())
        return 0.0 if slid is None else slid / (self.handle.scale or 1.0)

    def _turn(self) -> float:
        if self._line is not None:
            return self._slid()
        angle = angle_on(self.handle.origin, self.handle.axis, self.handle.zero, self._ray())
        if angle is not None:
            # Add up the differences, so that more than half a turn is possible.
            self._turned += math.remainder(angle - self._at, 2.0 * math.pi)
            self._at = angle
        return self._turned

    def _moved(self, fine: bool, snap: bool, axis: int | None) -> Array:
        start, basis = np.asarray(self.handle.value, float), self.handle.basis
        if axis is None:
            place = on_plane(self._point, self.view.back, self._ray())
            if place is None:
                return np.asarray(self.value, float)
            change = np.linalg.solve(basis, place - self._point)
        else:
            length = float(np.linalg.norm(basis[:, axis]))
            moved = along_line(self._point, basis[:, axis] / length, self._ray())
            change = np.zeros(3)
            change[axis] = (moved or 0.0) / length
        value = start + change
        if snap:
            step = self._fine_step(fine)
            changed = np.abs(change) > 1e-9 * step
            value = np.where(changed, np.round(value / step) * step, start)
        return np.asarray(value)


def nearest(handles: list[Handle], view: View, pixel: ArrayLike, reach: float) -> Handle | None:
    """The handle nearest to a pixel within `reach` pixels; of several at one pixel, the nearest to the viewer."""
    at = np.asarray(pixel, float)
    nearest_rank: tuple[float, float] | None = None
    best = None
    for handle in handles:
        point = handle.point(view)
        place = view.project(point)
        if place is None:
            continue
        away = float(np.linalg.norm(place - at))
        if away > reach:
            continue
        rank = (round(away), -float(view.back @ point))
        if nearest_rank is None or rank < nearest_rank:
            nearest_rank, best = rank, handle
    return best


# --------------------------------------------------------------------------- limits


def at_rest(low: float | None, high: float | None, rest: tuple[float, float]) -> tuple[float, float]:
    """Values at which the handles of two limits are drawn. A limit that is None, not set, is drawn at its `rest` value.

    If that would be on the wrong side of the other limit, it is drawn beyond that limit.
    """
    span = (rest[1] - rest[0]) / 4.0
    if low is None and high is None:
        return rest
    if low is None:
        assert high is not None
        return (rest[0] if rest[0] < high else high - span), high
    if high is None:
        return low, (rest[1] if rest[1] > low else low + span)
    return low, high


def bounds_of(low: float | None, high: float | None) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ranges (low, high) of a lower and an upper limit that keep them in order; unlimited if they are not in order."""
    if low is None or high is None:
        return (-math.inf, math.inf if high is None else high), (-math.inf if low is None else low, math.inf)
    if low > high:
        return (-math.inf, math.inf), (-math.inf, math.inf)
    return (-math.inf, high), (low, math.inf)


def draw_apart(low: Handle, high: Handle) -> tuple[Handle, Handle]:
    """Two limits of a dial, the lower one with a smaller radius if they are close to each other."""
    apart = abs(math.remainder(float(np.asarray(low.value)) - float(np.asarray(high.value)), 2.0 * math.pi))
    return replace(low, scale=low.scale * (1.0 - 0.28 * max(0.0, 1.0 - apart / _CLOSE))), high


# --------------------------------------------------------------------------- inertia


def box_moments(weight: float, size: ArrayLike) -> Array:
    """Principal moments (3,), kg m2, of a homogeneous box with edges (3,). weight: see Handle."""
    squares = np.asarray(size, float) ** 2
    return np.asarray(weight / 12.0 * (squares.sum() - squares))


def even_box(weight: float, moments: ArrayLike) -> Array | None:
    """Edges (3,) of the homogeneous box with principal moments (3,), kg m2; None if there is none. weight: see Handle.

    No edge is shorter than THINNEST times the longest one.
    """
    values = np.asarray(moments, float)
    if not (math.isfinite(weight) and weight > 0.0 and np.isfinite(values).all() and (values > 0.0).all()):
        return None
    edges = np.sqrt(np.maximum(6.0 * (values.sum() - 2.0 * values) / weight, 0.0))
    return np.asarray(np.maximum(edges, THINNEST * edges.max()))


# --------------------------------------------------------------------------- lines


def arc(origin: Array, axis: Array, zero: Array, radius: float, start: float, end: float) -> Array:
    """Points (n, 3) of an arc, one every 4 degrees."""
    count = max(2, math.ceil(abs(end - start) / math.radians(4.0)) + 1)
    angles = np.linspace(start, end, count)[:, None]
    return np.asarray(origin + radius * (np.cos(angles) * zero + np.sin(angles) * np.cross(axis, zero)))


def circle(origin: Array, axis: Array, zero: Array, radius: float) -> Array:
    return arc(origin, axis, zero, radius, 0.0, 2.0 * math.pi)


def segments(points: ArrayLike) -> Array:
    """Ends (2 n - 2, 3) of the lines between consecutive points (n, 3)."""
    line = np.asarray(points, float)
    return np.stack((line[:-1], line[1:]), axis=1).reshape(-1, 3)


def fan(origin: Array, rim: Array) -> Array:
    """Triangles (3 n - 3, 3) between a point and a rim (n, 3)."""
    middle = np.broadcast_to(origin, rim[:-1].shape)
    return np.stack((middle, rim[:-1], rim[1:]), axis=1).reshape(-1, 3)


def blob(place: Array, view: View, outline: Array, radius: float, pixel: float) -> tuple[Array, Array]:
    """(triangles (n, 3), opacity of their corners (n,)) of a flat shape that faces the viewer, with a soft edge.

    outline (m, 2): closed and convex, around (0, 0). radius, pixel: world lengths.
    """
    reach = outline[:, :1] * view.right + outline[:, 1:] * view.up
    away = reach / np.linalg.norm(reach, axis=1)[:, None] * (pixel / 2.0)
    inner, outer = place + reach * radius - away, place + reach * radius + away
    quads = np.stack((inner[:-1], outer[:-1], outer[1:], inner[:-1], outer[1:], inner[1:]), axis=1).reshape(-1, 3)
    inside = fan(place, inner)
    edge = np.tile([1.0, 0.0, 0.0, 1.0, 0.0, 1.0], len(outline) - 1)
    return np.concatenate((inside, quads)), np.concatenate((np.ones(len(inside)), edge))


def cone_rim(origin: Array, frame: Array, radius: float, angles: tuple[float, float]) -> Array:
    """Rim (n, 3) of the cone limit of a joint. frame (3, 3): the axis and the directions of both angles."""
    turns = np.linspace(0.0, 2.0 * math.pi, 73)
    y, z = np.cos(turns), np.sin(turns)
    tilt = 1.0 / np.hypot(y / max(angles[0], 1e-4), z / max(angles[1], 1e-4))
    rim = np.cos(tilt) * frame[:, :1] + np.sin(tilt) * (y * frame[:, 1:2] + z * frame[:, 2:])
    return np.asarray(origin + radius * rim.T)


def box(center: Array, directions: Array, size: Array) -> Array:
    """Ends (24, 3) of the edges of a box."""
    half = directions * (size / 2.0)
    ends = []
    for axis in range(3):
        one, other = (half[:, (axis + step) % 3] for step in (1, 2))
        for first in (-1.0, 1.0):
            for second in (-1.0, 1.0):
                middle = center + first * one + second * other
                ends += [middle - half[:, axis], middle + half[:, axis]]
    return np.array(ends)


def round_lines(
    kind: str, center: Array, directions: Array, radius: float, height: float, axis: int, view: View
) -> Array:  # fmt: skip
    """Ends (n, 3) of lines along the silhouette of a sphere, capsule, cylinder or cone. axis: index of its axis."""
    if kind == "SPHERE":
        return segments(circle(center, view.back, view.right, radius))
    spine, side = directions[:, axis], directions[:, (axis + 1) % 3]
    ends = [center - spine * (height / 2.0), center + spine * (height / 2.0)]
    across = beside(spine, view, center) * radius
    if kind == "CONE":
        sides = [ends[0] - across, ends[1], ends[0] + across, ends[1]]
        return np.concatenate((segments(circle(ends[0], spine, side, radius)), np.array(sides)))
    parts = [segments(circle(end, spine, side, radius)) for end in ends]
    parts += [np.array([ends[0] + sign * across, ends[1] + sign * across]) for sign in (-1.0, 1.0)]
    if kind == "CAPSULE":
        normal, start = np.cross(unit(across), spine), unit(across)
        parts += [
            segments(arc(end, normal, start, radius, 0.0, sign * math.pi))
            for end, sign in zip(ends, (-1.0, 1.0), strict=True)
        ]
    return np.concatenate(parts)
