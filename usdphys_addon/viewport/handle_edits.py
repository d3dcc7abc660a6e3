# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties that a drag of a handle writes, and its text in the header."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from bpy.types import Context, Object, PropertyGroup

from ..bridge.language import tr
from ..core import frames, schema
from ..core.words import phrase
from . import handles
from .handles import Handle, View
from .lengths import length_text
from .object_handles import shown_for
from .shown_handles import AXES, AXIS_NAMES

if TYPE_CHECKING:
    from .handles import Array


def _resolve(obj: Object, path: str) -> tuple[Any, str]:
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
    size[AXIS_NAMES.index(handle.key[-1])] = amount
    return size


class Edit:
    """The properties that a drag of one handle changes, and their values before it."""

    def __init__(self, obj: Object, handle: Handle) -> None:
        self.handle = handle
        self.path, _, self.part = handle.key.partition(":")
        self.paths = [self.path]
        if handle.shift is not None:
            self.paths.append("collider.location")
        if handle.weight:
            self.paths.append(AXES)
        self.before = {path: _value(*_resolve(obj, path)) for path in self.paths}

    def set(self, obj: Object, value: float | Array, both: bool = False) -> None:
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
        axis = np.eye(3)[AXIS_NAMES.index(self.part)]
        turn = frames.matrix_of((math.cos(angle / 2.0), *(math.sin(angle / 2.0) * axis)))
        return frames.quaternion_of(frames.matrix_of(self.handle.whole) @ turn)  # type: ignore[arg-type]

    def unset(self, obj: Object) -> None:
        """Unset all values that the handle changes."""
        self.restore(obj)
        # Moments and principal axes have no meaning without each other.
        for path in (self.path, AXES) if self.handle.weight else (self.path,):
            group, name = _resolve(obj, path)
            group.property_unset(name)

    def put_back(self, obj: Object, path: str) -> None:
        group, name = _resolve(obj, path)
        before = self.before[path]
        if before is None:
            group.property_unset(name)
        else:
            setattr(group, name, before)

    def restore(self, obj: Object) -> None:
        """Restore the values from before the drag; values that were not authored are unset."""
        for path in self.paths:
            self.put_back(obj, path)


def _value(group: PropertyGroup, name: str) -> Any:
    """Value of a property; None if it is not authored."""
    if not group.is_property_set(name):
        return None
    value = getattr(group, name)
    return value if isinstance(value, float) else tuple(value)


def find(context: Context, key: str, view: View) -> Handle | None:
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


def text_of(context: Context, handle: Handle, value: float | Array) -> str:
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
            moments=numbers, axis=handle.key[-1], length=length_text(settings, edge),
        ))  # fmt: skip
    lengths = [length_text(settings, part) for part in np.atleast_1d(np.asarray(value, float)).tolist()]
    return f"{tr(handle.label)}: {'  '.join(lengths)}"


def is_editable(obj: Object) -> bool:
    """False for linked objects, and for library overrides that are not editable."""
    override = obj.override_library
    return obj.library is None and not (override is not None and override.is_system_override)
