# SPDX-License-Identifier: GPL-3.0-or-later
"""The data of Blender that an issue of a check is about; InputError where it is gone or linked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.types import ID, Object, PropertyGroup, Scene

from ..core.errors import InputError
from .report import FoundIssue


def find_object(scene: Scene, name: str) -> Any:
    """The object with a full name in a scene; None if there is none."""
    return next((obj for obj in scene.objects if obj.name_full == name), None)


def culprits(scene: Scene, issue: FoundIssue) -> list[Any]:
    """The objects that an issue is about: the object or its instances, users of the material, members of the group."""
    if issue.kind == "object":
        obj = find_object(scene, issue.name)
        return [other for other in scene.objects if _instanced(other, issue.name)] if obj is None else [obj]
    if issue.kind == "material":
        return [obj for obj in scene.objects if _uses(obj, issue.name)]
    if issue.kind == "group":
        return [obj for obj in scene.objects if any(row.name == issue.name for _, row in memberships(obj))]
    return []


def _uses(obj: Object, name: str) -> bool:
    physics = obj.usdphys
    bound = [physics.physics_material, *(item.physics_material for item in physics.colliders)]
    bound += [slot.material for slot in obj.material_slots]
    return any(material is not None and material.name_full == name for material in bound)


def memberships(obj: Object) -> Iterator[tuple[Any, Any]]:
    """(memberships, membership) for each group membership of an object and of its colliders."""
    for rows in (obj.usdphys.collision_groups, *(item.collision_groups for item in obj.usdphys.colliders)):
        for row in rows:
            yield rows, row


def editable(thing: ID) -> Any:
    """The same thing; InputError if it is linked from a library."""
    if thing.library is not None:
        raise InputError(f"'{thing.name}' is linked from a library; fix it there, or make a library override of it.")
    return thing


def _instanced(instancer: Any, name: str) -> Any:
    """The object with a full name in the collection that an object instances, or None."""
    if instancer.instance_type != "COLLECTION" or instancer.instance_collection is None:
        return None
    for obj in instancer.instance_collection.all_objects:
        inside = obj if obj.name_full == name else _instanced(obj, name)
        if inside is not None:
            return inside
    return None


def object_of(scene: Scene, issue: FoundIssue, *, places: bool = False) -> Any:
    """The object that an issue names, also in an instanced collection.

    places: where it is or how it is scaled is to be changed, which would change all instances. Raises InputError.
    """
    obj = find_object(scene, issue.name) if issue.kind == "object" else None
    if obj is None and issue.kind == "object":
        pairs = ((instancer, _instanced(instancer, issue.name)) for instancer in scene.objects)
        instancer, obj = next((pair for pair in pairs if pair[1] is not None), (None, None))
        if places and instancer is not None:
            raise InputError(
                f"'{issue.name}' is in the collection that '{instancer.name}' and maybe others instance; move or scale "
                "the instance."
            )
    if obj is None:
        raise InputError(f"The object '{issue.name}' is no longer in the scene; check again.")
    return editable(obj)


def joint_of(scene: Scene, issue: FoundIssue) -> Any:
    """The joint properties of the object that an issue names."""
    return object_of(scene, issue).usdphys.joint


def material_of(issue: FoundIssue) -> Any:
    """The physics of the material that an issue names."""
    material = next((item for item in bpy.data.materials if item.name_full == issue.name), None)
    if material is None or issue.kind != "material":
        raise InputError(f"The material '{issue.name}' is no longer in the file; check again.")
    return editable(material).usdphys.physics_material


def group_of(scene: Scene, issue: FoundIssue) -> tuple[int, Any]:
    """(index, collision group) that an issue names."""
    editable(scene)
    for row, item in enumerate(scene.usdphys.collision_groups):
        if item.name == issue.name:
            return row, item
    raise InputError(f"The collision group '{issue.name}' is no longer in the scene; check again.")


def unset(group: PropertyGroup, *names: str) -> None:
    """Unset properties that are set."""
    for name in names:
        if group.is_property_set(name):
            group.property_unset(name)


def nothing_to_do(issue: FoundIssue) -> InputError:
    """What a fix raises that finds nothing to change."""
    return InputError(f"'{issue.name}' no longer has this problem, or it cannot be fixed automatically. {issue.fix}")


def require(found: object, issue: FoundIssue) -> None:
    """Raise what `nothing_to_do` makes where a fix has found nothing to change."""
    if not found:
        raise nothing_to_do(issue)
