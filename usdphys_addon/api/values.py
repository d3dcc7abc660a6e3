# SPDX-License-Identifier: GPL-3.0-or-later
"""Get and set attributes of things of the open scene by their names in USD."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core import joint_kinds, schema, units, vendor_schemas
from ..core.errors import InputError
from ..core.nearest import did_you_mean
from ..core.schema import Schema
from ..core.schemas import usd_physics
from . import blender
from .names import Declared, declared, from_model, to_model, unknown_schema

if TYPE_CHECKING:
    from .blender import Thing

#: Where the groups of the schemas of an object are.
_PARTS: dict[type[Schema], str] = {
    usd_physics.RigidBodyAPI: "rigid_body", usd_physics.MassAPI: "mass",
    usd_physics.ArticulationRootAPI: "articulation_root", usd_physics.FilteredPairsAPI: "filtered_pairs",
}  # fmt: skip
_OF = {
    "scene": "physics scenes", "body": "objects", "collider": "colliders", "material": "materials",
    "group": "collision groups", "articulation": "objects", "joint": "joints", "dof": "joints", "prim": "objects",
}  # fmt: skip
_KINDS = {
    "ColliderProperties": "collider", "PhysicsSceneProperties": "scene", "CollisionGroupProperties": "group",
}  # fmt: skip


@dataclass(slots=True)
class _Owner:
    """kind: object, collider, material, scene or group. thing: the ID. group: the properties that hold its physics."""

    kind: str
    thing: Any
    group: Any
    scene: Any

    @property
    def name(self) -> str:
        return f"'{self.group.name or self.thing.name}'" if self.kind != "object" else f"'{self.thing.name}'"

    @property
    def joint(self) -> Any:
        """The joint of an object; None if it is none."""
        is_joint = self.kind == "object" and self.group.is_property_set("joint") and self.group.joint.is_applied
        return self.group.joint if is_joint else None

    @property
    def joint_type(self) -> str:
        return joint_kinds.BY_IDENTIFIER[self.joint.type].cls.usd_name if self.joint is not None else ""


def _owner(thing: Any, context: Any, *, edits: bool) -> _Owner:
    import bpy

    scene = context.scene
    if isinstance(thing, bpy.types.Material):
        owner = _Owner("material", thing, thing.usdphys, scene)
    elif isinstance(thing, bpy.types.Scene):
        scenes = thing.usdphys.physics_scenes
        if len(scenes) > 1:
            raise InputError(
                f"'{thing.name}' has {len(scenes)} physics scenes; give one of its usdphys.physics_scenes instead."
            )
        if not scenes and edits:
            scenes.add().name = "PhysicsScene"
        owner = _Owner("scene", thing, scenes[0] if scenes else None, thing)
    elif isinstance(thing, bpy.types.PropertyGroup):
        kind = _KINDS.get(type(thing).__name__)
        if kind is None:
            raise InputError(f"{type(thing).__name__} has no attributes; give an object, a material or a scene.")
        owner = _Owner(kind, thing.id_data, thing, scene)
    else:
        obj = blender.object_of(thing, scene)
        owner = _Owner("object", obj, obj.usdphys, scene)
    if edits and not owner.thing.is_editable:
        raise InputError(f"'{owner.thing.name}' is linked from a library; make a library override of it first.")
    return owner


# --------------------------------------------------------------------------- which attribute is meant


def _places(owner: _Owner) -> tuple[str, ...]:
    if owner.kind == "object":
        return ("joint", "dof", "body", "articulation", "prim", "collider") if owner.joint is not None else (
            "body", "articulation", "prim", "collider",
        )  # fmt: skip
    return ("collider", "body") if owner.kind == "collider" else (owner.kind,)


def _meant(owner: _Owner, name: str) -> Declared:
    """The attribute of a thing that has a name. Raises InputError where no schema of the thing has it."""
    known = declared(name)
    for place in _places(owner):
        for one in known:
            if one.cls.on == place and _suits(owner, one):
                return one
    homes = sorted({_OF[one.cls.on] for one in known})
    if owner.joint is not None and any(one.cls.on in ("joint", "dof") for one in known):
        kind = joint_kinds.BY_TYPE_NAME[owner.joint_type]
        raise InputError(f"{owner.name} is a {kind.identifier.lower()} joint, which has no '{name}'.")
    more = "; give its material" if homes == ["materials"] and owner.kind == "object" else ""
    more = "; make it one with join()" if homes == ["joints"] and owner.kind == "object" else more
    raise InputError(f"'{name}' is for {' and '.join(homes)}, and {owner.name} is none of these{more}.")


def _suits(owner: _Owner, one: Declared) -> bool:
    if one.is_vendors:
        return one.cls.kind != "typed" or (owner.kind == "scene" or _is_typed(owner, one.cls.usd_name))
    if owner.joint is not None and issubclass(one.cls, usd_physics.Joint):
        return one.cls.usd_name == owner.joint_type
    if owner.joint is not None and one.cls.on == "dof":
        kind = joint_kinds.BY_TYPE_NAME[owner.joint_type]
        return one.instance in (kind.limits if one.cls is usd_physics.LimitAPI else kind.drives)
    if owner.kind == "collider" and one.cls.on == "body":
        return one.cls in (usd_physics.MassAPI, usd_physics.FilteredPairsAPI)
    return not (one.attribute.field == "simulation_owner" and one.cls.on == "body" and not _is_body(owner))


def _is_typed(owner: _Owner, name: str) -> bool:
    from ..bridge import vendor_rows

    return owner.kind == "object" and vendor_rows.typed_schema(owner.group) == name


def _is_body(owner: _Owner) -> bool:
    physics = owner.group
    return owner.kind == "object" and physics.is_property_set("rigid_body") and physics.rigid_body.is_applied


def _collider(owner: _Owner, name: str) -> Any:
    """The only collider of an object, or the collider itself; None without any. Raises InputError for several."""
    if owner.kind == "collider":
        return owner.group
    items = owner.group.colliders
    if len(items) > 1:
        raise InputError(
            f"{owner.name} has {len(items)} colliders; set '{name}' of one of its usdphys.colliders instead."
        )
    return items[0] if items else None


def _home(owner: _Owner, one: Declared, *, edits: bool) -> Any:
    """The property group that holds an attribute of UsdPhysics; None where it is not made yet."""
    cls, group = one.cls, owner.group
    if cls.on == "collider":
        item = _collider(owner, one.name)
        if item is None and edits:
            raise InputError(f"{owner.name} has no collider for '{one.name}'; make one with tag() first.")
        return item
    if cls.on == "material":
        return group.physics_material
    if cls.on in ("scene", "group"):
        return group
    if issubclass(cls, usd_physics.Joint):
        is_shared = any(item is one.attribute for item in usd_physics.Joint.attributes) or one.attribute.field == "axis"
        return group.joint if is_shared else getattr(group.joint, group.joint.type.lower())
    if cls.on == "dof":
        return getattr(group.joint.limits if cls is usd_physics.LimitAPI else group.joint.drives, one.instance)
    part = _PARTS[cls]
    return getattr(group, part) if edits or group.is_property_set(part) else None


# --------------------------------------------------------------------------- get


def get_value(thing: Thing, name: str) -> Any:
    """The authored value of an attribute; None where nobody has authored one.

    thing: an object or its name; a material; a scene, for its physics scene; or an item of one of their lists, such as
    `obj.usdphys.colliders[1]` and `scene.usdphys.collision_groups["Wheels"]`. name: in USD, such as "physics:mass" or
    "drive:angular:physics:stiffness". Numbers are SI with angles in degrees, see `describe`. A relationship gives the
    objects that it leads to, or their names for physics scenes and collision groups.

    Raises InputError, with the nearest name, for a name that no schema has, and for one that the thing cannot have.
    """
    owner = _owner(thing, blender.require("get_value"), edits=False)
    one = _meant(owner, name)
    if owner.group is None:
        return None
    if one.is_vendors:
        return _get_vendors(owner, one)
    group = _home(owner, one, edits=False)
    if group is None or not getattr(group, "is_applied", True):
        return None
    if one.attribute.is_relationship:
        return _get_relationship(group, one)
    from ..bridge.property_units import PropertyReader
    from ..bridge.writing import unit_length

    keys = [key for key in (one.attribute.field, one.cls.mode_field) if key and group.is_property_set(key)]
    if one.attribute.field not in keys:
        return None
    reader = PropertyReader(unit_length(owner.scene))
    value = reader.read(group, one.cls, angular=one.instance in schema.ANGULAR_DOFS, keys=keys)
    if reader.unreadable:
        raise InputError(f"'{name}' of {owner.name} cannot be read: {reader.unreadable[0][1]}.")
    authored = getattr(value, one.attribute.field)
    return from_model(one, authored, one.dimension(value.unit_mode))


def _get_vendors(owner: _Owner, one: Declared) -> Any:
    from ..bridge import vendor_rows
    from ..bridge.property_units import property_factor
    from ..bridge.writing import unit_length
    from ..core.value_types import with_elements

    group = _collider(owner, one.name) if one.cls.on == "collider" else owner.group
    rows = [row for row in (group.vendor if group is not None else ()) if (row.applied, row.name) == _key(one)]
    if not rows:
        return None
    if one.attribute.is_relationship:
        return tuple(row.target if row.target is not None else row.text for row in rows)
    value, dimension = vendor_rows.value_of(rows[0]), vendor_rows.dimension_of(rows[0], one.attribute)
    if value is None or not one.attribute.value.has_unit or one.attribute.is_sentinel(value):
        return value
    factor = property_factor(dimension, unit_length(owner.scene))
    value = with_elements(one.attribute.value, value, lambda part: units.scaled(part, factor))
    return from_model(one, value, dimension)


def _key(one: Declared) -> tuple[str, str]:
    return one.applied, one.name


def _get_relationship(group: Any, one: Declared) -> Any:
    name = one.attribute.field
    if name in ("body0", "body1"):
        return getattr(group, name)
    if name == "simulation_owner":
        return group.simulation_owner or None
    if name == "filtered_pairs":
        return tuple(item.object if item.object is not None else item.path for item in group.filtered_pairs)
    if name == "filtered_groups":
        return tuple(item.name for item in group.filtered_groups)
    raise InputError(f"'{one.name}' follows from the members of the group; see group().")


# --------------------------------------------------------------------------- set


def set_value(thing: Thing, name: str, value: Any, *, unit: str | None = None) -> None:
    """Author an attribute, which applies its schema, too. value: None removes the authored value.

    thing, name: as for `get_value`. Numbers are SI with angles in degrees, as `describe` says, or in a unit such as
    "g", "cm", "rad", "N·m/rad". A relationship takes objects or their names, physics scenes and groups by name.

    Raises InputError for an unknown name (with the nearest one), a value of another type, a number that is none, a unit
    that measures something else, a thing that has no such attribute, and one that is linked. Nothing is changed then.
    """
    _set(thing, {name: value}, "set_value", unit)


def set_values(thing: Thing, values: Mapping[str, Any]) -> None:
    """`set_value` for several attributes of one thing: all of them are set, or none."""
    if not isinstance(values, Mapping):
        raise InputError("set_values() takes a dictionary of values by name, such as {'physics:mass': 2.0}.")
    _set(thing, values, "set_values", None)


@dataclass(slots=True)
class _Edit:
    """One group of properties with the values that it gets."""

    group: Any
    one: Declared
    values: dict[str, Any] = field(default_factory=dict)
    unset: list[str] = field(default_factory=list)


def _set(thing: Any, values: Mapping[str, Any], function: str, unit: str | None) -> None:
    context = blender.require(function)
    for name in values:
        declared(name)  # before a physics scene is made for them
    _check_before_making(thing, values, context, unit)
    owner = _owner(thing, context, edits=True)
    edits: dict[Any, _Edit] = {}
    later: list[Callable[[], None]] = []
    for name, value in values.items():
        one = _meant(owner, name)
        if one.is_vendors:
            later.append(_plan_vendors(owner, one, value, unit))
        elif one.attribute.is_relationship:
            later.append(_plan_relationship(owner, one, value))
        elif not one.attribute.is_editable:
            raise InputError(f"'{name}' is no value; the members of a group are set with group().")
        else:
            group = _home(owner, one, edits=True)
            edit = edits.setdefault((group.path_from_id(), one.cls), _Edit(group, one))
            if value is None:
                edit.unset.append(one.attribute.field)
            else:
                edit.values[one.attribute.field] = to_model(one, value, one.dimension(_mode(owner, one, values)), unit)
    for edit in edits.values():
        _write(owner, edit)
    for act in later:
        act()


def _check_before_making(thing: Any, values: Mapping[str, Any], context: Any, unit: str | None) -> None:
    """Check the values for a scene without a physics scene, which is made only for values that are right."""
    import bpy

    if not isinstance(thing, bpy.types.Scene) or len(thing.usdphys.physics_scenes):
        return
    owner = _Owner("scene", thing, thing.usdphys, context.scene)
    for name, value in values.items():
        one = _meant(owner, name)
        if value is not None and not one.attribute.is_relationship:
            to_model(one, value, one.dimension(), unit)


def _mode(owner: _Owner, one: Declared, values: Mapping[str, Any]) -> Any:
    """The value that decides about the unit of an attribute of UsdPhysics: the type of its drive."""
    if not one.cls.mode_field:
        return None
    decider = Declared(one.cls, schema.attribute_of(one.cls, one.cls.mode_field), one.instance)
    return values.get(decider.name) or _home(owner, one, edits=True).type


def _write(owner: _Owner, edit: _Edit) -> None:
    from ..bridge.property_units import PropertyWriter
    from ..bridge.writing import unit_length

    group, one, meters = edit.group, edit.one, unit_length(owner.scene)
    for name in edit.unset:
        group.property_unset(name)
    if not edit.values:
        return
    value = one.cls(**edit.values)
    given = frozenset[str]()
    if one.cls.mode_field and one.cls.mode_field not in edit.values:
        # It decides about the units of the gains, and stays as it is.
        setattr(value, one.cls.mode_field, group.type)
        given = frozenset({one.cls.mode_field})
    if "is_applied" in group.bl_rna.properties and not group.is_applied:
        group.is_applied = True
    PropertyWriter(meters, meters).write(group, value, instance=one.instance, skip=given)


def _plan_vendors(owner: _Owner, one: Declared, value: Any, unit: str | None) -> Callable[[], None]:
    from ..authoring import vendor_edits
    from ..bridge import vendor_rows
    from ..bridge.property_units import property_factor
    from ..bridge.writing import unit_length
    from ..core.value_types import with_elements

    group = _collider(owner, one.name) if one.cls.on == "collider" else owner.group
    if group is None:
        raise InputError(f"{owner.name} has no collider for '{one.name}'; make one with tag() first.")
    if value is None:
        return lambda: vendor_edits.remove_attribute(group, *_key(one))
    if one.attribute.is_relationship:
        targets = blender.objects_of(value, owner.scene)
        return lambda: _lead(owner, group, one, targets)
    if not one.attribute.is_editable:
        raise InputError(f"'{one.name}' is no value that can be set.")
    checked = to_model(one, value, one.dimension(joint_type=owner.joint_type), unit)

    def write() -> None:
        row = vendor_edits.add_attribute(group, *_key(one), owner.scene)
        content = checked
        if one.attribute.value.has_unit and not one.attribute.is_sentinel(content):
            # The row is there now, with those that decide about its unit.
            dimension = vendor_rows.dimension_of(row, one.attribute)
            content = to_model(one, value, dimension, unit)
            factor = 1.0 / property_factor(dimension, unit_length(owner.scene))
            content = with_elements(one.attribute.value, content, lambda part: units.scaled(part, factor))
        vendor_rows.put(row, content)

    return write


def _lead(owner: _Owner, group: Any, one: Declared, targets: list[Any]) -> None:
    from ..authoring import vendor_edits, vendor_prims

    vendor_edits.remove_rows(group, *_key(one))
    for number, target in enumerate(targets):
        if not number:
            vendor_edits.add_attribute(group, *_key(one), owner.scene).target = target
        else:
            vendor_prims.add_target(group, *_key(one)).target = target


def _plan_relationship(owner: _Owner, one: Declared, value: Any) -> Callable[[], None]:
    name = one.attribute.field
    if name not in ("body0", "body1", "simulation_owner", "filtered_pairs", "filtered_groups"):
        raise InputError(f"'{one.name}' follows from the members of the group; see group().")
    group = _home(owner, one, edits=True)
    if name in ("body0", "body1"):
        body = None if value is None else blender.object_of(value, owner.scene)
        return lambda: setattr(group, name, body)
    if name == "simulation_owner":
        wanted = "" if value is None else _named(value, owner.scene.usdphys.physics_scenes, "physics scene")
        return lambda: setattr(group, name, wanted)
    if name == "filtered_pairs":
        targets = blender.objects_of(value, owner.scene) if value else []
        return lambda: _fill_pairs(group, targets)
    names = [_named(each, owner.scene.usdphys.collision_groups, "collision group") for each in value or ()]
    return lambda: _fill_names(group.filtered_groups, names)


def _named(value: Any, items: Any, what: str) -> str:
    if not isinstance(value, str) or value not in items:
        raise InputError(f"There is no {what} {value!r}{did_you_mean(value, items.keys())}")
    return value


def _fill_pairs(group: Any, targets: list[Any]) -> None:
    group.is_applied = True
    group.filtered_pairs.clear()
    for target in targets:
        group.filtered_pairs.add().object = target


def _fill_names(items: Any, names: list[str]) -> None:
    items.clear()
    for name in names:
        items.add().name = name


# --------------------------------------------------------------------------- schemas


def applied(thing: Thing) -> tuple[str, ...]:
    """The applied schemas of a thing, with their instances: ("PhysicsRigidBodyAPI", "PhysicsMassAPI")."""
    from ..bridge import vendor_rows

    owner = _owner(thing, blender.require("applied"), edits=False)
    group, schemas = owner.group, []
    if group is None:
        return ()
    if owner.kind == "material":
        schemas += ["PhysicsMaterialAPI"] if group.physics_material.is_applied else []
    elif owner.kind == "object":
        schemas += [cls.usd_name for cls, part in _PARTS.items() if _is_on(group, part)]
        schemas += ["PhysicsCollisionAPI"] if len(group.colliders) else []
        if owner.joint is not None:
            schemas.append(owner.joint_type)
            schemas += [name for name, _ in _dofs(owner) if _dof(owner, name).is_applied]
    elif owner.kind == "collider":
        schemas.append("PhysicsCollisionAPI")
        schemas += [name for name, part in (("PhysicsMassAPI", "mass"),) if _is_on(group, part)]
    else:
        schemas.append("PhysicsScene" if owner.kind == "scene" else "PhysicsCollisionGroup")
    return (*schemas, *(vendor_rows.applied_names(group) if "vendor" in group.bl_rna.properties else ()))


def _is_on(group: Any, part: str) -> bool:
    return bool(group.is_property_set(part) and getattr(group, part).is_applied)


def _dofs(owner: _Owner) -> list[tuple[str, str]]:
    """(name of a schema with its instance, degree of freedom) of all limits and drives that a joint can have."""
    kind = joint_kinds.BY_TYPE_NAME[owner.joint_type]
    dofs = [(f"PhysicsLimitAPI:{dof}", dof) for dof in kind.limits]
    return dofs + [(f"PhysicsDriveAPI:{dof}", dof) for dof in kind.drives]


def _dof(owner: _Owner, name: str) -> Any:
    base, dof = schema.split_applied(name)
    return getattr(owner.joint.limits if base == "PhysicsLimitAPI" else owner.joint.drives, dof)


def apply_schema(thing: Thing, name: str) -> None:
    """Apply a schema that needs no value, such as "PhysicsArticulationRootAPI", "PhysicsDriveAPI:angular" or one of a
    simulator. Setting a value applies its schema by itself; colliders and joints are made with `tag` and `join`.

    Raises InputError for an unknown schema (with the nearest name), and for one that the thing cannot have.
    """
    _switch(thing, name, "apply_schema", is_on=True)


def remove_schema(thing: Thing, name: str) -> None:
    """Take back what `apply_schema` or `set_value` has applied. Its values are not written any more.

    Raises InputError as `apply_schema` does.
    """
    _switch(thing, name, "remove_schema", is_on=False)


def _switch(thing: Any, name: str, function: str, *, is_on: bool) -> None:
    from ..authoring import vendor_edits

    context = blender.require(function)
    base, instance = schema.split_applied(name)
    cls = vendor_schemas.find(base)
    if cls is None or cls.family == "UsdGeom" or (cls.instances and instance not in cls.instances):
        raise unknown_schema(name)
    owner = _owner(thing, context, edits=True)
    if cls.on not in _places(owner):
        raise InputError(f"'{name}' is for {_OF[cls.on]}, and {owner.name} is none of these.")
    if cls.family not in schema.OWN_FAMILIES:
        group = _collider(owner, name) if cls.on == "collider" else owner.group
        if group is None:
            raise InputError(f"{owner.name} has no collider for '{name}'; make one with tag() first.")
        if is_on:
            vendor_edits.apply_row(group, name)
        else:
            vendor_edits.remove_rows(group, name)
        return
    if cls in _PARTS:
        getattr(owner.group, _PARTS[cls]).is_applied = is_on
    elif cls is usd_physics.MaterialAPI:
        owner.group.physics_material.is_applied = is_on
    elif cls.on == "dof":
        if (name, instance) not in _dofs(owner):
            kind = joint_kinds.BY_TYPE_NAME[owner.joint_type]
            raise InputError(f"{owner.name} is a {kind.identifier.lower()} joint, which has no '{name}'.")
        _dof(owner, name).is_applied = is_on
    else:
        raise InputError(f"'{name}' is made with tag(), join() or group(), and removed with tag(..., 'clear').")
