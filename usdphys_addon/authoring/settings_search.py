# SPDX-License-Identifier: GPL-3.0-or-later
"""All attributes, of UsdPhysics and of simulators, and where the selection has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from bpy.types import Context, Object

from ..bridge import vendor_rows
from ..bridge.choices import items_of
from ..core import concepts, schema, vendor_schemas
from ..core.joint_kinds import BY_IDENTIFIER
from ..core.schema import Attribute, Place, Schema
from ..core.schemas import usd_physics
from . import selected, vendor_edits

#: What the box of the selection calls an attribute, by its field.
_OTHER_LABELS = {
    "dynamic_friction": "Friction", "static_friction": "Friction", "restitution": "Bounce", "stiffness": "Strength",
    "max_force": "Max Force", "target_position": "Goes To", "target_velocity": "Speed", "lower_limit": "From",
    "upper_limit": "Up To",
    "kinematic_enabled": "Animated", "rigid_body_enabled": "Dynamic",
}  # fmt: skip
#: What has to be selected for an attribute, by the place of its schema: (key of `selected.NEEDS`, name).
NEEDED: dict[str, tuple[str, str]] = {
    "body": ("body", "a rigid body"), "collider": ("collider", "an object with a collider"),
    "joint": ("joint", "a joint"), "dof": ("joint", "a joint"),
    "articulation": ("articulation", "an articulation root"), "material": ("collider", "an object with a collider"),
}  # fmt: skip
_OF_TYPE = {
    usd_physics.RevoluteJoint: "REVOLUTE", usd_physics.PrismaticJoint: "PRISMATIC",
    usd_physics.SphericalJoint: "SPHERICAL", usd_physics.DistanceJoint: "DISTANCE",
}  # fmt: skip
_OF_OBJECT = {
    usd_physics.RigidBodyAPI: "rigid_body", usd_physics.MassAPI: "mass", usd_physics.Joint: "joint",
    usd_physics.CollisionAPI: "collider", usd_physics.MeshCollisionAPI: "collider",
}  # fmt: skip


class Setting(NamedTuple):
    """An attribute of a schema. key: of `settings`. text: by which it is found."""

    key: str
    text: str
    cls: type[Schema]
    attribute: Attribute

    @property
    def is_own(self) -> bool:
        """True for an attribute of UsdPhysics, which has a property of its own."""
        return self.cls.family == "UsdPhysics"


class Spot(NamedTuple):
    """Where the selection has an attribute.

    thing: the owner; None for a physics scene that is not made yet. path: data path to it from "object" or "scene".
    applied: name of a vendor's schema, empty for UsdPhysics. label: which of several it is.
    """

    thing: Any
    path: str
    applied: str = ""
    label: str = ""


@cache
def settings() -> dict[str, Setting]:
    """All attributes that can be set, by their keys, in the order of their schemas."""
    own = [cls for cls in schema.SCHEMAS.values() if cls.family == "UsdPhysics" and cls.on != "group"]
    vendors = vendor_schemas.all_schemas(*(place for places in vendor_rows.PLACES.values() for place in places))
    found: dict[str, Setting] = {}
    for cls in (*own, *(cls for cls in vendors if cls.on != "prim" and cls.family != "UsdPhysics")):
        inherited = {one.field for one in usd_physics.Joint.attributes} if cls in _OF_TYPE else set()
        for attribute in cls.attributes:
            if not attribute.is_editable or attribute.field in inherited or (cls.kind == "typed" and not _home(cls)):
                continue
            name = attribute.usd_name("*" if cls.kind == "multiple" else "")
            key = f"{cls.usd_name} {attribute.field}"
            found[key] = Setting(key, _text(cls, attribute, name), cls, attribute)
    numbers = Counter(one.text for one in found.values())
    return {
        key: one if numbers[one.text] == 1 else one._replace(text=f"{one.text} ({one.cls.usd_name})")
        for key, one in found.items()
    }


def _home(cls: type[Schema]) -> bool:
    """True if objects or scenes have the attributes of a type of prims."""
    return cls in _OF_TYPE or cls in _OF_OBJECT or cls.on == "scene"


def _text(cls: type[Schema], attribute: Attribute, name: str) -> str:
    labels = [attribute.label]
    if cls.family == "UsdPhysics":
        labels.append(_OTHER_LABELS.get(attribute.field, ""))
    known = concepts.concept_of(cls.usd_name, name) if cls.kind != "multiple" else None
    labels.append(known[0].label if known is not None else "")
    said = " / ".join(dict.fromkeys(label for label in labels if label))
    return f"{said} \N{MIDDLE DOT} {name}"


def type_of(setting: Setting) -> str:
    """Label of the type of joint that alone has an attribute; empty for others."""
    kind = _OF_TYPE.get(setting.cls)
    return next((label for identifier, label, *_ in items_of("type of a joint") if identifier == kind), "")


def spots_of(context: Context, setting: Setting) -> list[Spot]:
    """Where the selection has an attribute; empty if it cannot have it."""
    cls, obj = setting.cls, context.object
    if cls.on == "scene":
        scenes = context.scene.usdphys.physics_scenes
        index = max(context.scene.usdphys.active_scene_index, 0)
        path = f"scene.usdphys.physics_scenes[{index if index < len(scenes) else 0}]"
        return [Spot(scenes[index] if index < len(scenes) else None, path, "" if setting.is_own else cls.usd_name)]
    need = NEEDED.get(cls.on)
    if obj is None or need is None or not selected.NEEDS[need[0]](obj):
        return []
    if setting.is_own:
        return list(_own_spots(obj, cls))
    thing, path = _owner(obj, cls.on)
    if thing is None:
        return []
    names = vendor_edits.applied_to(cls, thing)
    return [Spot(thing, path, applied, schema.split_applied(applied)[1]) for applied in names]


def _owner(obj: Object, place: Place) -> tuple[Any, str]:
    if place == "material":
        material, path = selected.surface_of(obj)
        return (None, "") if material is None else (material.usdphys, path)
    if place == "collider":
        return selected.group_at(obj, "collider"), f"object.usdphys.colliders[{obj.usdphys.active_collider_index}]"
    return obj.usdphys, "object.usdphys"


def _own_spots(obj: Object, cls: type[Schema]) -> Iterator[Spot]:
    if cls is usd_physics.MaterialAPI:
        thing, path = _owner(obj, "material")
        if thing is not None:
            yield Spot(thing.physics_material, f"{path}.physics_material")
    elif cls in _OF_TYPE:
        kind = _OF_TYPE[cls]
        if obj.usdphys.joint.type == kind:
            yield Spot(getattr(obj.usdphys.joint, kind.lower()), f"object.usdphys.joint.{kind.lower()}")
    elif cls in (usd_physics.DriveAPI, usd_physics.LimitAPI):
        name = "drives" if cls is usd_physics.DriveAPI else "limits"
        groups = getattr(obj.usdphys.joint, name)
        for dof in getattr(BY_IDENTIFIER[obj.usdphys.joint.type], name):
            yield Spot(getattr(groups, dof), f"object.usdphys.joint.{name}.{dof}", label=dof)
    elif cls in _OF_OBJECT:
        name = _OF_OBJECT[cls]
        if name == "collider":
            yield Spot(*_owner(obj, "collider"))
        else:
            yield Spot(getattr(obj.usdphys, name), f"object.usdphys.{name}")
