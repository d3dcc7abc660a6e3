# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that the panel of the selection shows of one object: authored, computed, or those of its material."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import bpy
from bpy.types import Object

from ..authoring import selected, value_keys
from ..authoring.selected import BEHIND, LIMITED, MOVER, TYPE, Value, at
from ..bridge import props
from ..bridge.roles import applies
from . import readout

_OF_DRIVE = ("target_position", "target_velocity", "stiffness", "damping", "max_force")
#: What an object must have, path of the group, class of the group, names of its properties.
SAME = (
    ("body", "rigid_body", props.RigidBodyProperties, ("velocity", "angular_velocity", "starts_asleep")),
    ("body", "mass", props.MassProperties, ("center_of_mass", "diagonal_inertia")),
    ("collider", "collider", props.ColliderProperties, ("shape", "approximation")),
    ("joint", "joint", props.JointProperties, ("type", "axis", "break_force", "break_torque", "collision_enabled")),
    ("joint", "joint.revolute", props.RevoluteProperties, ("lower_limit", "upper_limit")),
    ("joint", "joint.prismatic", props.PrismaticProperties, ("lower_limit", "upper_limit")),
    ("joint", "joint.spherical", props.SphericalProperties, ("cone_angle0_limit", "cone_angle1_limit")),
    ("joint", "joint.distance", props.DistanceProperties, ("min_distance", "max_distance")),
    *(
        ("joint", f"joint.drives.{dof}", cls, _OF_DRIVE)
        for dof, cls in (("angular", props.AngularDriveProperties), ("linear", props.LinearDriveProperties))
    ),
)  # fmt: skip


def name_of(path: str, name: str) -> str:
    """Name of the property of the selection for a property of the objects."""
    return f"{path.replace('.', '_')}_{name}"


#: (path, name) of the values that are properties of the objects, by the name of the property of the selection.
PLACES: dict[str, tuple[str, str]] = {
    "mass": ("mass", "mass"),
    **{name_of(path, field): (path, field) for _, path, _, fields in SAME for field in fields},
}
#: All values, by the same names.
VALUES: dict[str, Value] = {
    **BEHIND, "mover": MOVER, "is_limited": LIMITED,
    **{name_of(path, field): at(need, path, field) for need, path, _, fields in SAME for field in fields},
    "joint_type": TYPE,
}  # fmt: skip
#: Values of the physics material.
SURFACE = frozenset({"friction", "bounce"})
#: Values that are computed where they are not authored.
COMPUTED = {"mass": "mass", "mass_center_of_mass": "center_of_mass", "mass_diagonal_inertia": "diagonal_inertia"}
#: What a field says in place of a number that is infinite, by the name of the property: "inf" says little.
INFINITE = {"break_force": "Never", "break_torque": "Never", "max_force": "No Limit"}
#: The same in place of a negative number, which limits nothing.
NEGATIVE = dict.fromkeys(("min_distance", "max_distance", "cone_angle0_limit", "cone_angle1_limit"), "No Limit")
#: What a field says in place of a number that is being computed, and of one that cannot be.
_COMPUTING, _UNKNOWN = "\N{HORIZONTAL ELLIPSIS}", "Unknown"


class Typed(NamedTuple):
    """In place of a number that is not computed or is infinite: the property of a text, and what it says when empty."""

    name: str
    placeholder: str


def text_name(name: str) -> str:
    """Name of the property of a text that stands in place of a value."""
    return f"{name}_text"


class Shown:
    """The values of an object. Each is read once: Blender asks up to four times for one whose field it draws."""

    def __init__(self, obj: Any) -> None:
        """obj: None stands for no object, which has no values."""
        self.obj = obj
        self._has: dict[str, bool] = {}
        self._values: dict[str, Any] = {}
        self._curves: dict[int, Any] = {}

    def has(self, need: str) -> bool:
        """True if the object has what a value needs. need: a key of `NEEDS`."""
        known = self._has.get(need)
        if known is None:
            known = self._has[need] = self.obj is not None and selected.NEEDS[need](self.obj)
        return known

    def is_authored(self, name: str) -> bool:
        """True where the object has a value of its own, for a property of the objects."""
        place = PLACES.get(name)
        group = None if self.obj is None or place is None else selected.group_at(self.obj, place[0])
        return group is not None and place is not None and bool(group.is_property_set(place[1]))

    def value(self, name: str) -> Any:
        """The value that applies, authored or not; None where the object has none or none is known yet."""
        if name not in self._values:
            self._values[name] = self._read(name) if self.has(VALUES[name].need) else None
        return self._values[name]

    def _read(self, name: str) -> Any:
        if name not in COMPUTED or (applies(self.obj, "mass") and self.is_authored(name)):
            value = VALUES[name].read(self.obj)
            if name not in COMPUTED or any_of(value):
                return value
        computed = self._computed
        return None if computed is None or computed.problem else getattr(computed, COMPUTED[name])

    @cached_property
    def _computed(self) -> readout.MassReadout | None:
        """Mass, centre and inertia as last computed."""
        return readout.mass_of(self.obj.name)

    def is_unknown(self, name: str) -> bool:
        """True while a computed value is not there yet, or cannot be computed."""
        return name in COMPUTED and self.value(name) is None

    def problem(self, name: str) -> str:
        """Why a value is not computed; "" where it is, or will be in a moment."""
        if self.obj is None or not self.is_unknown(name):
            return ""
        if self._computed is not None:
            return self._computed.problem
        return "It could not be computed; the console says why" if readout.has_failed("mass", self.obj.name) else ""

    def typed_over(self, name: str) -> Typed | None:
        """What takes the place of a value, so that one can be typed; None where there is a number."""
        if name in COMPUTED:
            if not self.is_unknown(name):
                return None
            return Typed(text_name(name), _UNKNOWN if self.problem(name) else _COMPUTING)
        field = PLACES.get(name, ("", ""))[1]
        value = self.value(name) if field in INFINITE or field in NEGATIVE else None
        if value is None:
            return None
        word = INFINITE.get(field) if value == math.inf else NEGATIVE.get(field)
        if word is None or (field in NEGATIVE and value >= 0.0):
            return None
        return Typed(text_name(name), word)

    def key_state(self, name: str) -> str:
        """What animates a value, see `value_keys.state_of`; empty where nothing can."""
        value = VALUES[name]
        places = value.places(self.obj) if self.has(value.need) else []
        if not places:
            return value_keys.STILL if name in SURFACE and self.obj is not None else ""
        owner = places[0].owner
        if owner.session_uid not in self._curves:
            self._curves[owner.session_uid] = value_keys.curves_by_path(owner)
        known = self._curves[owner.session_uid]
        return value_keys.state_of(places[0], bpy.context.scene.frame_current, known) if known else value_keys.STILL


#: That of the panel which is being drawn.
_drawn: Shown | None = None


@contextmanager
def drawing(obj: Object) -> Iterator[Shown]:
    """While a panel is drawn for an object, the properties of the selection have the values of what this yields."""
    global _drawn
    _drawn = Shown(obj)
    try:
        with selected.one_material(obj):
            yield _drawn
    finally:
        _drawn = None


def of_active() -> Shown:
    """The values of the active object."""
    if _drawn is not None:
        return _drawn
    layer = bpy.context.view_layer
    return Shown(None if layer is None else layer.objects.active)


def any_of(value: Any) -> bool:
    """True for a number that is not 0, or several of which one is not."""
    return any(value) if isinstance(value, tuple) else bool(value)
