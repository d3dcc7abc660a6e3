# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles of the active object's physics in the 3D view: collider, mass, joint limits, drives and frames.

This module reads the properties and writes the result of a drag. `handles` computes positions and values.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..bridge import joint_frames, props
from ..bridge.language import tr
from ..bridge.property_values import decided
from ..core import frames, joint_kinds, schema, units
from ..core.schema import Schema
from ..core.schemas import usd_physics
from ..core.words import phrase
from ..playback import guard as preview_guard
from . import handles, overlay_settings
from .handles import Handle, View

if TYPE_CHECKING:
    from .handles import Array

#: Operator that starts when a handle is pressed.
DRAG_OPERATOR = "usdphys.drag_handle"
#: Labels of the handles that a view has shown, by key, for their tooltips.
labels: dict[str, str] = {}
#: Pixels: radius of the dials of limits, drives and frames; distance of a linear limit that is not set; radius of a
#: handle; distance at which the mouse hits it.
_DIAL, _DRIVE_DIAL, _FRAME_DIAL, _REST, _DOT, _REACH = 80.0, 100.0, 48.0, 90.0, 5.5, 12.0
_MASS_LIFT, _INERTIA_LIFT = 24.0, 26.0
#: Where the handle of an angular limit that is not set is drawn, radians.
_REST_ANGLE = math.radians(150.0)
#: Smallest size that a drag leaves, Blender units in the world.
_SMALLEST = 1e-4
#: Tools of Blender that have gizmos themselves; start of the names of Blender's transform operators.
_OTHER_TOOLS = frozenset({"builtin.move", "builtin.rotate", "builtin.scale", "builtin.scale_cage", "builtin.transform"})
_TRANSFORM = "TRANSFORM_OT_"
#: Red, green, blue by role.
COLOURS: dict[str, tuple[float, float, float]] = {
    "size": (0.1, 0.88, 0.74), "offset": (1.0, 0.93, 0.55), "mass": (0.86, 0.42, 1.0), "lower": (0.96, 0.24, 0.27),
    "upper": (0.36, 0.82, 0.25), "cone": (0.2, 0.74, 0.95), "cone2": (0.38, 0.52, 1.0), "drive": (1.0, 0.8, 0.1),
    "frame": (0.95, 0.55, 0.75), "inertia": (0.78, 0.62, 1.0), "plain": (0.85, 0.85, 0.85),
}  # fmt: skip
#: Shapes by role; the others are round.
_SHAPES = {"offset": "diamond", "mass": "diamond", "frame": "diamond", "drive": "square", "inertia": "square"}
_AXIS_NAMES = "XYZ"
#: Authored together with the moments of inertia: neither has a meaning without the other.
_AXES = "mass.principal_axes"


@dataclass(eq=False, repr=False)
class Guide:
    """Lines, or a surface of triangles, beside the handles. points (n, 3)."""

    points: Array
    role: str
    is_surface: bool = False


@dataclass(eq=False, repr=False)
class Shown:
    """handles: can be dragged. guides: lines and surfaces that explain them. pixel: the user interface scale."""

    view: View
    pixel: float = 1.0
    handles: list[Handle] = field(default_factory=list)
    guides: list[Guide] = field(default_factory=list)

    def length(self, pixels: float, place: Array) -> float:
        """World length of a number of pixels at a place."""
        return pixels * self.pixel * self.view.pixel_size(place)

    def line(self, points: Array, role: str) -> None:
        self.guides.append(Guide(handles.segments(points), role))


def view_of(context: Any) -> View:
    """The 3D view of a context; a view from above if the context has none."""
    data, region = getattr(context, "region_data", None), getattr(context, "region", None)
    if data is None or region is None or not region.width or not region.height:
        return View(np.eye(4), np.diag([0.1, 0.1, -0.01, 1.0]), 200.0, 200.0)
    return View(np.array(data.view_matrix), np.array(data.window_matrix), float(region.width), float(region.height))


def shown_for(context: Any, obj: Any, view: View, mass_of: Callable[[str], Any] | None = None) -> Shown:
    """All handles of an object. mass_of: gives the computed mass of a body by name; by default the cached one."""
    depsgraph = context.evaluated_depsgraph_get()
    # ui_scale is 0 without a window.
    shown = Shown(view, (context.preferences.system.ui_scale if context.preferences else 0.0) or 1.0)
    physics = obj.usdphys
    touched = physics.keys()
    if "colliders" in touched and 0 <= physics.active_collider_index < len(physics.colliders):
        _add_collider(shown, obj, depsgraph)
    if "mass" in touched and physics.mass.is_applied:
        from . import readout

        _add_mass(shown, obj, depsgraph, mass_of or readout.mass_of, _wants_inertia(context, obj))
    if "joint" in touched and physics.joint.is_applied:
        _add_joint(shown, obj, depsgraph)
    shown.handles = [handle for handle in shown.handles if np.isfinite(handle.point(view)).all()]
    return shown


# --------------------------------------------------------------------------- collider


@cache
def _bounding_shapes() -> Any:
    """ColliderShapes that fit colliders to Blender's cached bounding box: fast enough for every redraw."""
    from ..bridge import mesh
    from ..bridge.collider_shapes import ColliderShapes
    from ..bridge.placements import Placement

    class BoundingShapes(ColliderShapes):
        #: The bounding box is along the object's axes: a rotated collider has to be fitted to the vertices.
        is_turned = False

        def points(self, placement: Placement) -> Any:
            if self.is_turned or placement.obj.type not in mesh.GEOMETRY_TYPES:
                return super().points(placement)
            return np.array(placement.evaluated.bound_box, float)

    return BoundingShapes


def shape_of(item: Any, obj: Any, depsgraph: Any) -> Any:
    """The primitive of a collider in the object's space; None for the object's own geometry or a flat object."""
    from ..bridge.placements import Placement

    if item.is_geometry or item.shape not in props.GPRIM_SHAPES:
        return None
    placement = Placement(obj, obj.evaluated_get(depsgraph), obj.usdphys, obj.usdphys.keys(), None, obj.name)
    if frames.is_flat(placement.volume):
        return None
    shapes = _bounding_shapes()()
    shapes.is_turned = item.is_property_set("rotation")
    return shapes.shape(item, placement)


def _add_collider(shown: Shown, obj: Any, depsgraph: Any) -> None:
    item = obj.usdphys.colliders[obj.usdphys.active_collider_index]
    shape = shape_of(item, obj, depsgraph)
    if shape is None:
        return
    world = np.array(obj.evaluated_get(depsgraph).matrix_world)
    linear = world[:3, :3]
    axes = linear @ shape.rotation
    # A round primitive is not scaled unevenly: the largest scale counts, and its axes stay at right angles.
    directions, lengths = handles.directions_of(axes), np.linalg.norm(axes, axis=0)
    center = linear @ shape.center + world[:3, 3]
    inverse = np.linalg.inv(linear)
    kind = item.shape

    def face(key: str, label: str, name: str, sign: float, axis: int, value: float, cap: float = 0.0) -> None:
        way, length = directions[:, axis] * sign, float(lengths[axis])
        shown.handles.append(Handle(
            key, label, "LINE", center - way * (value * length / 2.0 - cap), value, axis=way, scale=length,
            whole=shape.size.copy(), center=shape.center.copy(), shift=inverse @ way * (length / 2.0),
            low=0.0 if kind == "CAPSULE" else _SMALLEST / length, is_set=item.is_property_set(name),
        ))  # fmt: skip

    def radius(origin: Array, way: Array, length: float) -> None:
        shown.handles.append(Handle(
            "collider.radius", "Radius", "LINE", origin, shape.radius, axis=way, scale=length,
            low=_SMALLEST / length, is_set=item.is_property_set("radius"),
        ))  # fmt: skip

    if kind == "CUBE":
        shown.guides.append(Guide(handles.box(center, directions, shape.size * lengths), "size"))
        for axis, name in enumerate(_AXIS_NAMES):
            for sign, mark in ((1.0, "+"), (-1.0, "-")):
                face(
                    f"collider.size:{mark}{name}",
                    phrase("Size {axis}", axis=name),
                    "size",
                    sign,
                    axis,
                    float(shape.size[axis]),
                )
    elif kind == "SPHERE":
        length = float(lengths.max())
        radius(center, shown.view.right, length)
        outline = handles.round_lines(kind, center, directions, shape.radius * length, 0.0, 2, shown.view)
        shown.guides.append(Guide(outline, "size"))
    elif kind != "PLANE":
        axis, around = shape.axis, float(np.delete(lengths, shape.axis).max())
        spine, height = directions[:, axis], float(shape.height * lengths[axis])
        base = center - spine * (height / 2.0) if kind == "CONE" else center
        radius(base, handles.beside(spine, shown.view, base), around)
        for sign, mark in ((1.0, "+"), (-1.0, "-")):
            cap = shape.radius * around if kind == "CAPSULE" else 0.0
            face(f"collider.height:{mark}", "Height", "height", sign, axis, float(shape.height), cap)
        outline = handles.round_lines(kind, center, directions, shape.radius * around, height, axis, shown.view)
        shown.guides.append(Guide(outline, "size"))
    shown.handles.append(Handle(
        "collider.location", "Offset", "FREE", center, shape.center.copy(), basis=linear, role="offset",
        is_set=item.is_property_set("location"),
    ))  # fmt: skip


# --------------------------------------------------------------------------- mass


def _add_mass(shown: Shown, obj: Any, depsgraph: Any, mass_of: Callable[[str], Any], wants_inertia: bool) -> None:
    mass = obj.usdphys.mass
    found: Any = None
    if obj.usdphys.rigid_body.is_applied and (wants_inertia or not _has_center(mass)):
        found = mass_of(obj.name)
        if found is not None and found.problem:
            found = None
    is_set = _has_center(mass)
    if not is_set and found is None:
        return
    value: Any = np.array(mass.center_of_mass if is_set else found.center_of_mass, float)
    world = np.array(obj.evaluated_get(depsgraph).matrix_world)
    linear = world[:3, :3]
    if frames.is_flat(frames.determinant(world)):
        return
    place = linear @ value + world[:3, 3]
    # The handle of the collider's offset is often at the same place: move this one aside.
    is_alone = all(handle.key != "collider.location" for handle in shown.handles)
    handle = Handle(
        "mass.center_of_mass", "Centre of Mass", "FREE", place, value, basis=linear, role="mass", is_set=is_set,
        lift=0.0 if is_alone else _MASS_LIFT * shown.pixel,
    )  # fmt: skip
    shown.handles.append(handle)
    shown.line(np.array([place, handle.point(shown.view)]), "mass")
    size = shown.length(12.0, place)
    for way in handles.directions_of(linear).T:
        shown.guides.append(Guide(np.array([place - way * size, place + way * size]), "mass"))
    if wants_inertia:
        _add_inertia(shown, mass, found, place, frames.rotation_of(world), depsgraph.scene)


def _has_center(mass: Any) -> bool:
    """True if a valid centre of mass is authored."""
    return decided(mass, usd_physics.MassAPI, "center_of_mass") is not None


def _wants_inertia(context: Any, obj: Any) -> bool:
    """True if the inertia is authored or the overlay shows it; otherwise its handles would hide the collider's."""
    mass = obj.usdphys.mass
    if decided(mass, usd_physics.MassAPI, "diagonal_inertia") is not None:
        return True
    overlay = overlay_settings.current(context)
    if overlay is None or not overlay.show:
        return False
    return overlay.mass == "ALL" or (overlay.mass == "SELECTED" and bool(obj.select_get()))


def _add_inertia(shown: Shown, mass: Any, found: Any, place: Array, space: Array, scene: Any) -> None:
    """Add the homogeneous box with a body's mass and moments. found: computed mass, or None. space (3, 3): of the body.

    Authored values are read from the properties: they change during a drag, and need no body.
    """
    is_set = decided(mass, usd_physics.MassAPI, "diagonal_inertia") is not None
    has_axes = decided(mass, usd_physics.MassAPI, "principal_axes") is not None
    kilograms = float(mass.mass) if mass.is_property_set("mass") and mass.mass > 0.0 and is_set else None
    if found is None and (kilograms is None or not has_axes):
        return
    meters = float(scene.unit_settings.scale_length) or 1.0
    weight = (found.mass if kilograms is None else kilograms) * meters**2
    moments = tuple(mass.diagonal_inertia) if is_set else found.diagonal_inertia
    axes = tuple(mass.principal_axes) if has_axes else found.principal_axes
    size = handles.even_box(weight, moments)
    if size is None:
        return
    directions = space @ frames.matrix_of(axes)
    shown.guides.append(Guide(handles.box(place, directions, size), "inertia"))
    # The handles of a collider's faces are often at the same place.
    is_alone = not any(handle.key.startswith("collider.") for handle in shown.handles)
    for axis, name in enumerate(_AXIS_NAMES):
        others = np.delete(size, axis)
        handle = Handle(
            f"mass.diagonal_inertia:{name}", phrase("Inertia, box along {axis}", axis=name), "LINE", place,
            float(size[axis]),
            axis=directions[:, axis], scale=0.5, whole=size, weight=weight, axes=None if has_axes else axes,
            low=float(others.max()) * handles.THINNEST, high=float(others.min()) / handles.THINNEST,
            lift=0.0 if is_alone else _INERTIA_LIFT * shown.pixel, role="inertia", is_set=is_set,
        )  # fmt: skip
        shown.handles.append(handle)
        face = place + handle.axis * (size[axis] / 2.0)
        shown.guides.append(Guide(np.array([face, handle.point(shown.view)]), "inertia"))


# --------------------------------------------------------------------------- joint


def _add_joint(shown: Shown, obj: Any, depsgraph: Any) -> None:
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
        first = _AXIS_NAMES.index(axis)
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
            is_apart = bool(np.linalg.norm(places[0] - places[1]) > 2.0 * _REACH * self.shown.pixel)
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
            for index, name in enumerate(_AXIS_NAMES):
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


# --------------------------------------------------------------------------- writing the values of a drag


def _resolve(obj: Any, path: str) -> tuple[Any, str]:
    """(group, property) of a path below `object.usdphys`; `collider` is the active one."""
    *way, name = path.split(".")
    group = obj.usdphys
    for part in way:
        group = group.colliders[group.active_collider_index] if part == "collider" else getattr(group, part)
    return group, name


def _resized(handle: Handle, amount: float) -> list[float]:
    """Edge lengths of a box, with the length that a handle drags replaced."""
    assert handle.whole is not None
    size: list[float] = handle.whole.tolist()
    size[_AXIS_NAMES.index(handle.key[-1])] = amount
    return size


class Edit:
    """The properties that a drag of one handle changes, and their values before it."""

    def __init__(self, obj: Any, handle: Handle) -> None:
        self.handle = handle
        self.path, _, self.part = handle.key.partition(":")
        self.paths = [self.path]
        if handle.shift is not None:
            self.paths.append("collider.location")
        if handle.weight:
            self.paths.append(_AXES)
        self.before = {path: _value(*_resolve(obj, path)) for path in self.paths}

    def set(self, obj: Any, value: float | Array, both: bool = False) -> None:
        """Write a value. both: a size changes on both sides, so the centre stays."""
        handle = self.handle
        group, name = _resolve(obj, self.path)
        if handle.motion == "FREE":
            setattr(group, name, tuple(np.asarray(value, float).tolist()))
            return
        amount = float(np.asarray(value))
        if handle.motion == "TURN" and self.part:
            setattr(group, name, self.turned(amount))
            return
        if handle.weight:
            setattr(group, name, handles.box_moments(handle.weight, _resized(handle, amount)).tolist())
            if handle.axes is not None:
                group.principal_axes = handle.axes
            return
        if name == "size":
            setattr(group, name, _resized(handle, amount))
        else:
            setattr(group, name, amount)
        if handle.shift is None:
            return
        if both:
            self.put_back(obj, "collider.location")
        else:
            assert handle.center is not None
            moved = handle.center + handle.shift * (amount - float(np.asarray(handle.value)))
            _resolve(obj, "collider.location")[0].location = moved.tolist()

    def turned(self, angle: float) -> schema.Quaternion:
        """The quaternion from before the drag, rotated about one of its own axes."""
        axis = np.eye(3)[_AXIS_NAMES.index(self.part)]
        turn = frames.matrix_of((math.cos(angle / 2.0), *(math.sin(angle / 2.0) * axis)))
        return frames.quaternion_of(frames.matrix_of(self.handle.whole) @ turn)  # type: ignore[arg-type]

    def unset(self, obj: Any) -> None:
        """Unset all values that the handle changes."""
        self.restore(obj)
        # Moments and principal axes have no meaning without each other.
        for path in (self.path, _AXES) if self.handle.weight else (self.path,):
            group, name = _resolve(obj, path)
            group.property_unset(name)

    def put_back(self, obj: Any, path: str) -> None:
        group, name = _resolve(obj, path)
        before = self.before[path]
        if before is None:
            group.property_unset(name)
        else:
            setattr(group, name, before)

    def restore(self, obj: Any) -> None:
        """Restore the values from before the drag; values that were not authored are unset."""
        for path in self.paths:
            self.put_back(obj, path)


def _value(group: Any, name: str) -> Any:
    """Value of a property; None if it is not authored."""
    if not group.is_property_set(name):
        return None
    value = getattr(group, name)
    return value if isinstance(value, float) else tuple(value)


def find(context: Any, key: str, view: View) -> Handle | None:
    """A handle of the active object by its key."""
    obj = context.object
    if obj is None or not is_editable(obj):
        return None
    mass_of = None
    if key.startswith("mass."):
        from . import readout

        # Compute it once per drag: the cached value may be outdated, or removed by an undo.
        known = readout.compute_mass(context, obj.name)
        mass_of = {obj.name: known}.get
    return next((handle for handle in shown_for(context, obj, view, mass_of).handles if handle.key == key), None)


def text_of(context: Any, handle: Handle, value: float | Array) -> str:
    """The text of a drag in the header of the 3D view."""
    if handle.motion == "TURN":
        return f"{tr(handle.label)}: {math.degrees(float(np.asarray(value))):.4g}°"
    settings = context.scene.unit_settings
    if handle.weight:
        edge = float(np.asarray(value))
        moments = handles.box_moments(handle.weight, _resized(handle, edge))
        numbers = "  ".join(f"{part:.4g}" for part in moments.tolist())
        return tr(phrase(
            "Inertia: {moments} kg·m²    box along {axis}: {length}",
            moments=numbers, axis=handle.key[-1], length=_length(settings, edge),
        ))  # fmt: skip
    shown = [_length(settings, part) for part in np.atleast_1d(np.asarray(value, float)).tolist()]
    return f"{tr(handle.label)}: {'  '.join(shown)}"


def _length(settings: Any, value: float) -> str:
    if settings.system == "NONE":
        return f"{value:.4g}"
    return str(bpy.utils.units.to_string(settings.system, "LENGTH", value * settings.scale_length, precision=5))


# --------------------------------------------------------------------------- when they are shown


def is_editable(obj: Any) -> bool:
    """False for linked objects, and for library overrides that are not editable."""
    override = obj.override_library
    return obj.library is None and not (override is not None and override.is_system_override)


def is_wanted(context: Any) -> bool:
    """True if the handles of the active object should be visible: no other tool, playback or preview is active."""
    obj = context.object
    if obj is None or context.mode != "OBJECT" or preview_guard.current() is not None:
        return False
    if not props.is_physical(obj) or not is_editable(obj) or not obj.visible_get():
        return False
    space = context.space_data
    if (
        space is not None
        and space.type == "VIEW_3D"
        and not (space.show_gizmo and space.show_gizmo_context and obj.visible_in_viewport_get(space))
    ):
        return False
    window, screen = context.window, context.screen
    if screen is not None and screen.is_animation_playing:
        return False
    if window is not None and any(running.bl_idname.startswith(_TRANSFORM) for running in window.modal_operators):
        return False
    tool = context.workspace.tools.from_space_view3d_mode("OBJECT", create=False) if context.workspace else None
    return tool is None or tool.idname not in _OTHER_TOOLS


# --------------------------------------------------------------------------- drawing


def _vertices(points: Array) -> Any:
    return np.ascontiguousarray(points, np.float32)


def _draw_lines(points: Array, colour: tuple[float, ...], width: float) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": _vertices(points)})
    _, _, across, along = gpu.state.viewport_get()
    shader.bind()
    shader.uniform_float("viewportSize", (across, along))
    shader.uniform_float("lineWidth", width)
    shader.uniform_float("color", colour)
    batch.draw(shader)


def _draw_surface(points: Array, colour: tuple[float, ...]) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    batch = batch_for_shader(shader, "TRIS", {"pos": _vertices(points)})
    shader.bind()
    shader.uniform_float("color", colour)
    batch.draw(shader)


def _draw_guides(shown: Shown) -> None:
    for guide in shown.guides:
        if guide.is_surface:
            _draw_surface(guide.points, (*COLOURS[guide.role], 0.12))
    pixel = shown.pixel
    for guide in shown.guides:
        if not guide.is_surface:
            # A dark line below a light one is visible on any background.
            _draw_lines(guide.points, (0.0, 0.0, 0.0, 0.65), 3.2 * pixel)
    for guide in shown.guides:
        if not guide.is_surface:
            _draw_lines(guide.points, (*COLOURS[guide.role], 1.0), 1.4 * pixel)


_DARK = (0.06, 0.06, 0.06, 1.0)
_OUTLINES = {
    "round": [(math.cos(turn), math.sin(turn)) for turn in np.linspace(0.0, 2.0 * math.pi, 25)],
    "square": [(0.85, 0.85), (-0.85, 0.85), (-0.85, -0.85), (0.85, -0.85), (0.85, 0.85)],
    "diamond": [(1.15, 0.0), (0.0, 1.15), (-1.15, 0.0), (0.0, -1.15), (1.15, 0.0)],
}


def _draw_handle(shown: Shown, handle: Handle, is_hot: bool) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    view, place = shown.view, handle.point(shown.view)
    colour = np.array(COLOURS[handle.role])
    if is_hot:
        colour = colour + (1.0 - colour) * 0.45
    size = _DOT * (1.3 if is_hot else 1.0)
    # A dark rim is visible on any background. A value that is not authored is drawn as a ring.
    layers = [(size + 1.6, _DARK), (size, (*colour.tolist(), 1.0))]
    if not handle.is_set and not is_hot:
        layers.append((size - 2.2, _DARK))
    pixel, outline = shown.length(1.0, place), np.array(_OUTLINES[_SHAPES.get(handle.role, "round")])
    points, colours = [], []
    for radius, filled in layers:
        where, alphas = handles.blob(place, view, outline, radius * pixel, view.pixel_size(place))
        points.append(where)
        colours.append(np.concatenate((np.broadcast_to(filled[:3], (len(where), 3)), alphas[:, None]), axis=1))
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    content = {"pos": _vertices(np.concatenate(points)), "color": _vertices(np.concatenate(colours))}
    batch = batch_for_shader(shader, "TRIS", content)
    shader.bind()
    batch.draw(shader)


class _Drawn:
    """Mix-in of the add-on's gizmos."""

    #: Set by the gizmo group before each drawing.
    shown: Shown | None = None
    key = ""

    def paint(self, shown: Shown) -> None:
        raise NotImplementedError

    def draw(self, _context: Any) -> None:
        shown = self.shown
        if shown is None or failures.has_failed:
            return
        import gpu

        depth: Any = gpu.state.depth_test_get()
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("ALPHA")
        try:
            self.paint(shown)
        except Exception:
            failures.fail("")
        finally:
            gpu.state.blend_set("NONE")
            gpu.state.depth_test_set(depth)


class USDPHYS_GT_guides(_Drawn, bpy.types.Gizmo):
    """The lines between the handles; they cannot be selected."""

    bl_idname = "USDPHYS_GT_guides"

    def paint(self, shown: Shown) -> None:
        _draw_guides(shown)

    def test_select(self, _context: Any, _location: Any) -> int:
        return -1


class USDPHYS_GT_handle(_Drawn, bpy.types.Gizmo):
    """One handle."""

    bl_idname = "USDPHYS_GT_handle"

    def paint(self, shown: Shown) -> None:
        for handle in shown.handles:
            if handle.key == self.key:
                _draw_handle(shown, handle, self.is_highlight or self.is_modal)

    def test_select(self, _context: Any, location: Any) -> int:
        shown = self.shown
        if shown is None or failures.has_failed:
            return -1
        free = [handle for handle in shown.handles if not handle.faces_viewer(shown.view)]
        found = handles.nearest(free, shown.view, location, _REACH * shown.pixel)
        return 0 if found is not None and found.key == self.key else -1


class _Failures:
    """Objects whose handles failed: the traceback is printed once, and they are not tried again."""

    def __init__(self) -> None:
        self.has_failed = False
        self.objects: set[str] = set()

    def fail(self, name: str) -> None:
        """Print the current exception. name: of the object; empty if drawing itself failed, which hides all handles."""
        traceback.print_exc()
        if name:
            self.objects.add(name)
        else:
            self.has_failed = True


#: Failures since the handles were registered.
failures = _Failures()


class USDPHYS_GGT_handles(bpy.types.GizmoGroup):
    """The handles of the active object's physics."""

    bl_idname = "USDPHYS_GGT_handles"
    bl_label = "USD Physics Handles"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return not failures.has_failed and is_wanted(context) and context.object.name not in failures.objects

    def setup(self, _context: Any) -> None:
        self.by_key: dict[str, Any] = {}
        guides: Any = self.gizmos.new(USDPHYS_GT_guides.bl_idname)
        guides.use_draw_modal, guides.shown = True, None
        self.guides: Any = guides

    def draw_prepare(self, context: Any) -> None:
        shown = None
        try:
            shown = shown_for(context, context.object, view_of(context))
        except Exception:
            failures.fail(context.object.name)
        self.guides.shown = shown
        seen = [] if shown is None else [item for item in shown.handles if not item.faces_viewer(shown.view)]
        for handle in seen:
            if handle.key not in self.by_key:
                self.by_key[handle.key] = self.add(handle)
        keys = {handle.key for handle in seen}
        for key, gizmo in self.by_key.items():
            gizmo.shown, gizmo.hide = shown, key not in keys

    def add(self, handle: Handle) -> Any:
        gizmo: Any = self.gizmos.new(USDPHYS_GT_handle.bl_idname)
        gizmo.use_draw_modal = True
        gizmo.shown, gizmo.key = None, handle.key
        gizmo.target_set_operator(DRAG_OPERATOR).handle = handle.key
        labels[handle.key] = handle.label
        return gizmo


CLASSES = (USDPHYS_GT_guides, USDPHYS_GT_handle, USDPHYS_GGT_handles)


def register() -> None:
    global failures
    failures = _Failures()
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
