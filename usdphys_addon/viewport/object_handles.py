# SPDX-License-Identifier: GPL-3.0-or-later
"""Which handles an object has, from its properties: of its active collider, its mass and its joint."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bridge import props
from ..bridge.property_values import decided
from ..core import frames
from ..core.schemas import usd_physics
from ..core.words import phrase
from . import handles, overlay_settings
from .handles import Handle, View
from .joint_handles import add_joint
from .shown_handles import AXIS_NAMES, Guide, Shown

if TYPE_CHECKING:
    from .handles import Array

#: Pixels between a handle and its place, where another handle may be.
_MASS_LIFT, _INERTIA_LIFT = 24.0, 26.0
#: Smallest size that a drag leaves, Blender units in the world.
_SMALLEST = 1e-4


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
        add_joint(shown, obj, depsgraph)
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
        for axis, name in enumerate(AXIS_NAMES):
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
    readout_of_mass: Any = None
    if obj.usdphys.rigid_body.is_applied and (wants_inertia or not _has_center(mass)):
        readout_of_mass = mass_of(obj.name)
        if readout_of_mass is not None and readout_of_mass.problem:
            readout_of_mass = None
    is_set = _has_center(mass)
    if not is_set and readout_of_mass is None:
        return
    value: Any = np.array(mass.center_of_mass if is_set else readout_of_mass.center_of_mass, float)
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
        _add_inertia(shown, mass, readout_of_mass, place, frames.rotation_of(world), depsgraph.scene)


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
    for axis, name in enumerate(AXIS_NAMES):
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
