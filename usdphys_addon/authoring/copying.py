# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics copied from one object to others: whole parts, or one property. What is not set is not set in the copy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

import bpy

from ..bridge import property_values, props
from ..core.errors import InputError
from ..core.words import counted, named
from .tagging import LINKED, Outcome, has_any, has_faces, sentences

#: Properties by what is copied together.
PARTS: dict[str, tuple[str, ...]] = {
    "BODY": ("rigid_body", "articulation_root", "vendor"),
    "MASS": ("mass",),
    "COLLIDERS": ("colliders", "active_collider_index"),
    "MATERIAL": ("physics_material", "physics_material_path"),
    "GROUPS": ("collision_groups", "active_group_index"),
    "PAIRS": ("filtered_pairs",),
    "JOINT": ("joint",),
}
#: What belongs to one joint alone.
_JOINT_OWN = frozenset({
    "is_applied", "body0", "body1", "body0_name", "body1_name", "body0_path", "body1_path", "has_remembered_frames",
    *props.LOCAL_FRAME_FIELDS, *(f"remembered_{name}" for name in props.LOCAL_FRAME_FIELDS),
})  # fmt: skip
#: What makes a collider the object's own geometry, which only an import can tell.
_GEOMETRY = frozenset({"is_geometry"})

_OVERRIDE = "The physics comes from a library file and is not replaced: {names}"
_NO_FACES = "A mesh collider needs faces, so there are no colliders copied to {names}"
_NO_JOINT = "The settings of a joint go to joints only, so they are not copied to {names}"
_NOT_THERE = "There is no such thing on {names}"


def copy_physics(source: Any, targets: Iterable[Any], parts: Collection[str]) -> Outcome:
    """Make the parts of the physics of other objects those of one object, what is not set included."""
    if not parts:
        raise InputError("There is nothing to copy; choose at least one part")
    if not has_any(source):
        raise InputError(f"'{source.name}' has no physics to copy; make an object with physics the active one")
    left_out: dict[str, list[str]] = defaultdict(list)
    chosen = _editable(source, targets, left_out)
    written = []
    for obj in chosen:
        override = obj.override_library
        if override is not None and override.reference is not None and props.is_physical(override.reference):
            left_out[_OVERRIDE].append(obj.name)
            continue
        wanted = [part for part in PARTS if part in parts and _suits(source, obj, part, left_out)]
        if wanted:
            written.append((obj, wanted))
    notes = sentences(left_out)
    if not written:
        raise InputError(". ".join(notes) or f"There is nothing of the chosen parts to copy from '{source.name}'")
    for obj, wanted in written:
        for part in wanted:
            _copy_part(source, obj, part)
    text = f"Copied the physics of '{source.name}' to {counted(len(written), 'object')}"
    return Outcome(text, notes, [obj.name for obj, _ in written])


def _editable(source: Any, targets: Iterable[Any], left_out: dict[str, list[str]]) -> list[Any]:
    chosen = []
    for obj in targets:
        if obj == source:
            continue
        if obj.library is not None:
            left_out[LINKED].append(obj.name)
        else:
            chosen.append(obj)
    if not chosen and not left_out:
        raise InputError(f"There is nothing to copy to; select other objects beside '{source.name}'")
    return chosen


def _suits(source: Any, obj: Any, part: str, left_out: dict[str, list[str]]) -> bool:
    physics = source.usdphys
    if part == "JOINT":
        if not physics.joint.is_applied:
            return False
        if not obj.usdphys.joint.is_applied:
            left_out[_NO_JOINT].append(obj.name)
            return False
    needs_faces = part == "COLLIDERS" and any(item.shape in ("MESH", "AUTO") for item in physics.colliders)
    if needs_faces and not has_faces(obj, bpy.context.evaluated_depsgraph_get()):
        left_out[_NO_FACES].append(obj.name)
        return False
    return True


def _copy_part(source: Any, obj: Any, part: str) -> None:
    for name in PARTS[part]:
        # Objects have vendor properties where vendor schemas are declared.
        if name not in source.usdphys.bl_rna.properties:
            continue
        property_values.copy_property(source.usdphys, obj.usdphys, name, _left_out)
    if part == "PAIRS":
        _without_itself(obj.usdphys.filtered_pairs, obj)
    elif part == "COLLIDERS":
        for item in obj.usdphys.colliders:
            _without_itself(item.filtered_pairs, obj)


def _left_out(group: Any) -> Collection[str]:
    """Properties of a group that are never copied to another object."""
    kind = group.bl_rna.identifier
    if kind == props.JointProperties.__name__:
        return _JOINT_OWN
    if kind == props.ColliderProperties.__name__:
        return _GEOMETRY | {"has_mesh_collision"} if group.is_geometry else _GEOMETRY
    return ()


def _without_itself(group: Any, obj: Any) -> None:
    """An object does not filter the pair with itself."""
    for index in reversed(range(len(group.filtered_pairs))):
        if group.filtered_pairs[index].object == obj:
            group.filtered_pairs.remove(index)


# --------------------------------------------------------------------------- one property


def copy_property(source: Any, targets: Iterable[Any], data_path: str) -> Outcome:
    """Copy one property, or one group of them; its path is seen from the physics of an object."""
    path = data_path.removeprefix("object.").removeprefix("usdphys.")
    owner, name = _resolved(source, path)
    if owner is None:
        raise InputError(f"'{source.name}' has no physics property '{data_path}'; choose one that it has")
    is_memory = isinstance(owner, props.RememberedPrim) or name == "prim" or name.startswith("remembered_")
    if is_memory or name == "has_remembered_frames":
        raise InputError(f"'{data_path}' belongs to the file that an object was imported from; choose another property")
    left_out: dict[str, list[str]] = defaultdict(list)
    written = []
    for obj in _editable(source, targets, left_out):
        if _resolved(obj, path)[0] is None:
            left_out[_NOT_THERE].append(obj.name)
        else:
            written.append(obj)
    notes = sentences(left_out)
    if not written:
        raise InputError(". ".join(notes))
    label = owner.bl_rna.properties[name].name or name
    is_set = owner.is_property_set(name)
    for obj in written:
        property_values.copy_property(owner, _resolved(obj, path)[0], name, _left_out)
    idle = [obj.name for obj in written if not _applies(obj, path)]
    if is_set and idle and _applies(source, path):
        notes.append(f"It is not applied, and so without effect, on {named(idle)}")
    text = f"Copied {label}" if is_set else f"Cleared {label}, which is not set on '{source.name}',"
    return Outcome(f"{text} {'to' if is_set else 'on'} {counted(len(written), 'object')}", notes,
                   [obj.name for obj in written])  # fmt: skip


def _resolved(obj: Any, path: str) -> tuple[Any, str]:
    """(group, name) of a path; (None, "") where an object has no such property."""
    owner_path, _, name = path.rpartition(".")
    try:
        owner = obj.usdphys.path_resolve(owner_path) if owner_path else obj.usdphys
    except ValueError:
        return None, ""
    if not isinstance(owner, bpy.types.PropertyGroup) or owner.id_data != obj:
        return None, ""
    if name not in owner.bl_rna.properties or name == "rna_type":
        return None, ""
    return owner, name


def _applies(obj: Any, path: str) -> bool:
    """False where one of the groups on the way is there but not applied."""
    steps = path.split(".")[:-1]
    for end in range(1, len(steps) + 1):
        group = obj.usdphys.path_resolve(".".join(steps[:end]))
        if not getattr(group, "is_applied", True):
            return False
    return True
