# SPDX-License-Identifier: GPL-3.0-or-later
"""The selection as one thing: its role, and values that are read from the active object and set on all of its role."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
from bpy.types import Context, Object

from ..bridge import vendor_rows
from ..bridge.property_types import apply_schema
from ..bridge.property_values import restore, snapshot
from ..bridge.roles import applies, is_body, parents_of, physics_material_of
from . import group_edits, value_keys
from .value_keys import KeyPlace

#: Roles of an object in the panel of the selection.
DYNAMIC, STATIC, KINEMATIC, JOINT, NONE = "DYNAMIC", "STATIC", "KINEMATIC", "JOINT", "NONE"


def has_colliders(obj: Object) -> bool:
    return obj.usdphys.is_property_set("colliders") and len(obj.usdphys.colliders) > 0


def role_of(obj: Object) -> str:
    """DYNAMIC, STATIC, KINEMATIC, JOINT or NONE: what an object is before anything else."""
    if applies(obj, "joint"):
        return JOINT
    if is_body(obj):
        body = obj.usdphys.rigid_body
        if not body.rigid_body_enabled:
            return STATIC
        return KINEMATIC if body.kinematic_enabled else DYNAMIC
    return STATIC if has_colliders(obj) else NONE


#: What an object must have for a value.
NEEDS: dict[str, Callable[[Object], bool]] = {
    "any": lambda _obj: True, "body": is_body, "collider": has_colliders, "joint": lambda obj: applies(obj, "joint"),
    "physics": lambda obj: is_body(obj) or has_colliders(obj),
    "articulation": lambda obj: applies(obj, "articulation_root"),
}  # fmt: skip


def having(context: Context, need: str) -> list[Any]:
    """The selected objects that have what a value needs, and can be changed; the active one first.

    An active object that is not selected stands alone. need: a key of `NEEDS`.
    """
    active = context.view_layer.objects.active if context.view_layer is not None else None
    if active is None:
        return []
    chosen = [active, *(obj for obj in context.selected_objects if obj != active)] if active.select_get() else [active]
    return [obj for obj in chosen if obj.is_editable and NEEDS[need](obj)]


def of_kind(context: Context, kind: str) -> list[Object]:
    """The shown objects of the scene that are BODIES, STATIC colliders, JOINTS or roots of ARTICULATIONS."""
    tests: dict[str, Callable[[Object], bool]] = {
        "BODIES": is_body, "JOINTS": NEEDS["joint"], "ARTICULATIONS": NEEDS["articulation"],
        "STATIC": lambda obj: has_colliders(obj) and not is_body(obj) and not any(map(is_body, parents_of(obj))),
    }  # fmt: skip
    return [obj for obj in context.view_layer.objects if obj.visible_get() and tests[kind](obj)]


class Value(NamedTuple):
    """One value of an object. need: a key of `NEEDS`. read: None where there is none.

    write: (context, objects, value). places: where its keyframes are, in the order of their weight; empty if its
    animation is not simulated.
    """

    need: str
    read: Callable[[Object], Any]
    write: Callable[[Context, list[Any], Any], None]
    places: Callable[[Object], list[KeyPlace]] = lambda _obj: []


def group_at(obj: Object, path: str) -> Any:
    """The property group at a path below an object's physics, such as "joint.drives.angular"; None if there is none.

    "collider" is the active collider.
    """
    group = obj.usdphys
    for name in path.split("."):
        if name == "collider":
            index = group.active_collider_index
            group = group.colliders[index] if 0 <= index < len(group.colliders) else None
        else:
            group = getattr(group, name)
        if group is None:
            return None
    return group


def at(need: str, path: str, name: str) -> Value:
    """A value that is a property of the objects. path: see `group_at`."""

    def read(obj: Object) -> Any:
        group = group_at(obj, path)
        value: Any = None if group is None else getattr(group, name)
        return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value

    def write(_context: Context, objects: list[Any], value: Any) -> None:
        for obj in objects:
            group = group_at(obj, path)
            if group is not None:
                setattr(group, name, value)

    return Value(need, read, write, lambda obj: value_keys.place_on(obj, path, name))


# --------------------------------------------------------------------------- the surface


#: (object, its material) while it cannot change.
_kept_material: tuple[Object, Any] | None = None


@contextmanager
def one_material(obj: Object) -> Iterator[None]:
    """While a panel is drawn, the material of an object is looked for once: a draw asks a dozen times."""
    global _kept_material
    _kept_material = obj, material_of(obj)
    try:
        yield
    finally:
        _kept_material = None


def material_of(obj: Object) -> Any:
    """The material whose friction an object has: that of its active collider, else of the object, else of a slot."""
    if _kept_material is not None and _kept_material[0] == obj:
        return _kept_material[1]
    return own_material(group_at(obj, "collider")) or physics_material_of(obj)


def own_material(group: Any) -> Any:
    """The physics material that a collider or an object points to; None without one."""
    # is_property_set first: reading an unset pointer creates it.
    return group.physics_material if group is not None and group.is_property_set("physics_material") else None


def surface_of(obj: Object) -> tuple[Any, str]:
    """(`material_of`, data path of its physics from "object"); (None, "") without one."""
    material = material_of(obj)
    if material is None:
        return None, ""
    if own_material(obj.usdphys) == material:
        return material, "object.usdphys.physics_material.usdphys"
    if own_material(group_at(obj, "collider")) == material:
        index = obj.usdphys.active_collider_index
        return material, f"object.usdphys.colliders[{index}].physics_material.usdphys"
    slot = next(number for number, one in enumerate(obj.material_slots) if one.material == material)
    return material, f"object.material_slots[{slot}].material.usdphys"


def _users(material: Any) -> Iterator[Any]:
    """All objects whose surface a material is."""
    return (obj for obj in bpy.data.objects if has_colliders(obj) and material_of(obj) == material)


def is_shared(material: Any, objects: Iterable[Object]) -> bool:
    """True if other objects than these have the surface of a material."""
    own = {obj.name_full for obj in objects}
    return any(obj.name_full not in own for obj in _users(material))


def _own_material(material: Any, objects: list[Any]) -> Any:
    """A material with the same physics that only these objects have, for physics only."""
    made = bpy.data.materials.new(f"{objects[0].name} Surface" if material is None else material.name)
    if material is not None:
        values = snapshot(material.usdphys)
        # What it was imported from stays that of the other one.
        values.pop("prim", None)
        restore(made.usdphys, values)
    return made


def _assumed() -> dict[str, float]:
    """What the preview assumes of a surface without a material."""
    from ..simulation.layout import DEFAULT_FRICTION, DEFAULT_RESTITUTION

    return {
        "static_friction": DEFAULT_FRICTION, "dynamic_friction": DEFAULT_FRICTION, "restitution": DEFAULT_RESTITUTION
    }  # fmt: skip


def _author_surface(material: Any, values: dict[str, float]) -> None:
    group = material.usdphys.physics_material
    apply_schema(group, bpy.context)
    for name, value in values.items():
        setattr(group, name, value)


def _write_surface(objects: list[Any], values: dict[str, float]) -> None:
    """Set values of the material of objects. A material that others share, or that is linked, is made single first."""
    groups: dict[str, list[Any]] = {}
    for obj in objects:
        material = material_of(obj)
        groups.setdefault("" if material is None else material.name_full, []).append(obj)
    for members in groups.values():
        material = material_of(members[0])
        if material is None or not material.is_editable or is_shared(material, members):
            made = _own_material(material, members)
            for obj in members:
                collider = group_at(obj, "collider")
                holder: Any = obj.usdphys if own_material(collider) is None else collider
                holder.physics_material = made
            if material is None:
                # What the preview has assumed so far stays as it was.
                values = _assumed() | values
            material = made
        _author_surface(material, values)


def _surface(name: str, *others: str) -> Value:
    """A number of the material. others: those that follow it."""

    def read(obj: Object) -> float:
        material = material_of(obj)
        if material is None:
            return _assumed()[name]
        return float(getattr(material.usdphys.physics_material, name))

    def write(_context: Context, objects: list[Any], value: Any) -> None:
        _write_surface(objects, dict.fromkeys((name, *others), value))

    return Value("collider", read, write, lambda obj: value_keys.surface_places(material_of(obj), name, *others))


def own_surfaces(context: Context, objects: list[Any], value: Value) -> None:
    """Give objects a physics material that only they have, with the value of the surface that they have now."""
    kept: dict[str, list[Any]] = {}
    for obj in objects:
        material = material_of(obj)
        kept.setdefault("" if material is None else material.name_full, []).append(obj)
    for members in kept.values():
        material = material_of(members[0])
        if not value_keys.surface_places(material, "restitution") or is_shared(material, members):
            value.write(context, members, value.read(members[0]))


def _read_surface(obj: Object) -> str:
    material = material_of(obj)
    return "" if material is None else str(material.name)


def _write_material(_context: Context, objects: list[Any], name: Any) -> None:
    """The material by its name for physics only; an empty name gives the surface back to the materials of the slots."""
    material = bpy.data.materials.get(name) if name else None
    if name and material is None:
        return
    if material is not None and material.is_editable and not applies(material, "physics_material"):
        # A schema without values would be a surface without friction.
        _author_surface(material, _assumed())
    for obj in objects:
        collider = group_at(obj, "collider")
        holder = obj.usdphys if own_material(collider) is None else collider
        holder.physics_material = material


# --------------------------------------------------------------------------- damping and group


def _read_damping(obj: Object) -> float:
    if "vendor" not in obj.usdphys.keys():
        return 0.0
    from ..core import concepts
    from . import vendor_edits

    rows = vendor_edits.rows_of(obj.usdphys, concepts.concepts()["linear_damping"])
    return float(vendor_rows.value_of(rows[0]) or 0.0) if rows else 0.0


def _write_damping(context: Context, objects: list[Any], value: Any) -> None:
    from . import vendor_edits

    for obj in objects:
        vendor_edits.put_concept(context.scene, obj.usdphys, "linear_damping", value, "")


def _read_group(obj: Object) -> str:
    physics = obj.usdphys
    return physics.collision_groups[0].name if "collision_groups" in physics.keys() and physics.collision_groups else ""


def _write_group(context: Context, objects: list[Any], name: Any) -> None:
    """Put objects into one group in place of the first that they have; an empty name takes them out of it.

    A group that is not there is made.
    """
    is_new = bool(name) and name not in context.scene.usdphys.collision_groups
    if is_new and context.scene.library is not None:
        return
    for obj in objects:
        before = _read_group(obj)
        if before:
            group_edits.remove_members(before, [obj])
    if is_new:
        group_edits.add_group(context.scene, objects, name)
    elif name:
        group_edits.add_members(name, objects)


def _read_self_collision(obj: Object) -> bool:
    if "vendor" not in obj.usdphys.keys():
        return True
    from ..core import concepts
    from . import vendor_edits

    rows = vendor_edits.rows_of(obj.usdphys, concepts.concepts()["self_collision"])
    return bool(vendor_rows.value_of(rows[0])) if rows else True


def _write_self_collision(context: Context, objects: list[Any], value: Any) -> None:
    from . import vendor_edits

    for obj in objects:
        vendor_edits.put_concept(context.scene, obj.usdphys, "self_collision", value, "")


def _read_mass(obj: Object) -> float:
    """The authored mass, kg; 0 where it is computed."""
    return float(obj.usdphys.mass.mass) if applies(obj, "mass") else 0.0


#: Values that are no property of the objects themselves, by their name in the panel.
BEHIND: dict[str, Value] = {
    "mass": Value("body", _read_mass, *at("body", "mass", "mass")[2:]),
    "surface": Value("collider", _read_surface, _write_material),
    "friction": _surface("dynamic_friction", "static_friction"),
    "bounce": _surface("restitution"),
    "damping": Value("body", _read_damping, _write_damping),
    "group": Value("physics", _read_group, _write_group),
    "self_collision": Value("articulation", _read_self_collision, _write_self_collision),
}

# --------------------------------------------------------------------------- what moves a joint

NOTHING, SPRING, MOTOR, SERVO = ("NOTHING", "SPRING", "MOTOR", "SERVO")


def dof_of(joint: Any) -> str:
    """The degree of freedom that a panel shows the drive of: of a hinge or slide; else empty."""
    return {"REVOLUTE": "angular", "PRISMATIC": "linear"}.get(joint.type, "")


def drive_of(obj: Object) -> Any:
    """The drive of a hinge or a slide; None without one."""
    joint = obj.usdphys.joint
    dof = dof_of(joint)
    drive = getattr(joint.drives, dof) if dof else None
    return drive if drive is not None and drive.is_applied else None


def has_idle_drive(obj: Object) -> bool:
    """True for a hinge or a slide whose drive has neither stiffness nor damping: whatever its target, no force acts."""
    drive = drive_of(obj)
    return drive is not None and drive.stiffness <= 0.0 and drive.damping <= 0.0


def mover_of(obj: Object) -> str:
    """What moves a hinge or a slide: a spring has stiffness, a servo has a largest force too, a motor has a speed."""
    drive = drive_of(obj)
    if drive is None or has_idle_drive(obj):
        return NOTHING
    if drive.stiffness <= 0.0:
        return MOTOR
    return SERVO if drive.is_property_set("max_force") else SPRING


#: s, after which a spring is at rest, and in which a servo or a motor is there.
_RESPONSES = {SPRING: 1.0, MOTOR: 0.5, SERVO: 0.5}
#: Speed of a new motor: rad/s, Blender units/s.
_SPEEDS = {"angular": math.tau, "linear": 1.0}
#: Error at which a new servo is at its largest force: degrees, Blender units.
_REACHES = {"angular": 90.0, "linear": 1.0}


def _write_mover(context: Context, objects: list[Any], mover: Any) -> None:
    """The gains follow from the masses and the load, unless a drive to a position has some."""
    from . import joint_edits

    fitted = []
    for obj in objects:
        dof = dof_of(obj.usdphys.joint)
        if not dof or (mover_of(obj) == mover and not has_idle_drive(obj)):
            continue
        drive = getattr(obj.usdphys.joint.drives, dof)
        if mover == NOTHING:
            drive.is_applied = False
        elif mover == MOTOR or not drive.is_applied or drive.stiffness <= 0.0:
            speed = drive.target_velocity if drive.is_applied and drive.target_velocity else _SPEEDS[dof]
            fitted.append((obj, dof, speed if mover == MOTOR else drive.target_position))
    if fitted:
        joint_edits.add_motors(context, fitted, holds=mover != MOTOR, response=_RESPONSES[mover])
    for obj in objects:
        dof = dof_of(obj.usdphys.joint)
        if not dof or mover == NOTHING:
            continue
        drive = getattr(obj.usdphys.joint.drives, dof)
        if mover != SERVO:
            drive.property_unset("max_force")
        elif not drive.is_property_set("max_force"):
            drive.max_force = drive.stiffness * _REACHES[dof]


MOVER = Value("joint", mover_of, _write_mover)


def is_limited(obj: Object) -> bool:
    """True if a hinge or a slide has a limit."""
    limits = _limits_of(obj)
    return limits is not None and (limits.is_property_set("lower_limit") or limits.is_property_set("upper_limit"))


def _limits_of(obj: Object) -> Any:
    joint = obj.usdphys.joint
    return getattr(joint, joint.type.lower()) if dof_of(joint) else None


#: What a hinge gets to both sides with its limits, rad. A slide gets as much as what slides is long.
_SWING = math.pi / 4.0


def _write_limited(context: Context, objects: list[Any], limited: Any) -> None:
    from .joint_edits import travel

    for obj in objects:
        limits = _limits_of(obj)
        if limits is None or is_limited(obj) == bool(limited):
            continue
        if limited:
            is_slide = obj.usdphys.joint.type == "PRISMATIC"
            limits.lower_limit, limits.upper_limit = travel(context, obj) if is_slide else (-_SWING, _SWING)
        else:
            limits.property_unset("lower_limit")
            limits.property_unset("upper_limit")


LIMITED = Value("joint", is_limited, _write_limited)


def _write_type(context: Context, objects: list[Any], kind: Any) -> None:
    from .joint_type import set_type

    set_type(context, objects, kind)


TYPE = Value("joint", lambda obj: obj.usdphys.joint.type, _write_type)
