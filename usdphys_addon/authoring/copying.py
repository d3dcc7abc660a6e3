# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy physics from one object to others: whole parts, or one property. Unset properties become unset."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

import bpy
from bpy.types import Object, PropertyGroup

from ..bridge import property_values, props
from ..core.errors import InputError
from ..core.schema import Place
from ..core.words import counted, named
from . import vendor_edits
from .clearing import has_any
from .collider_choice import exports_faces
from .edit_report import LINKED, EditReport, sentences

#: Properties that are copied together, by the identifier of the part.
PARTS: dict[str, tuple[str, ...]] = {
    "BODY": ("rigid_body", "articulation_root"),
    "MASS": ("mass",),
    "COLLIDERS": ("colliders", "active_collider_index"),
    "MATERIAL": ("physics_material", "physics_material_path"),
    "GROUPS": ("collision_groups", "active_group_index"),
    "PAIRS": ("filtered_pairs",),
    "JOINT": ("joint",),
}
#: Vendor schemas that are copied with a part, by what they belong to. Those of colliders are in the colliders.
_VENDOR_PLACES: dict[str, tuple[Place, ...]] = {"BODY": ("body", "articulation"), "JOINT": ("joint", "dof")}
#: Properties that are never copied to another joint: its bodies and frames.
_JOINT_OWN = frozenset({
    "is_applied", "body0", "body1", "body0_name", "body1_name", "body0_path", "body1_path", "has_remembered_frames",
    *props.LOCAL_FRAME_FIELDS, *(f"remembered_{name}" for name in props.LOCAL_FRAME_FIELDS),
})  # fmt: skip
#: Only an import can tell that a collider is the object's own geometry.
_GEOMETRY = frozenset({"is_geometry"})

_OVERRIDE = "The physics comes from a library file and is not replaced; edit it there: {names}"
_NO_FACES = "A mesh collider needs faces, so no colliders are copied to {names}"
_NO_JOINT = "Joint settings can be copied to joints only, so they are not copied to {names}"
_NOT_THERE = "The property does not exist on {names}"


def copy_physics(source: Any, targets: Iterable[Object], parts: Collection[str]) -> EditReport:
    """Replace parts of the physics of other objects by those of one object. parts: keys of `PARTS`.

    Raises InputError, with nothing changed, if there is nothing to copy or no object to copy to.
    """
    if not parts:
        raise InputError("Nothing is chosen to copy; choose at least one part")
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
        raise InputError(". ".join(notes) or f"'{source.name}' has none of the chosen parts; choose others")
    for obj, wanted in written:
        for part in wanted:
            _copy_part(source, obj, part)
    text = f"Copied the physics of '{source.name}' to {counted(len(written), 'object')}"
    return EditReport(text, notes, [obj.name for obj, _ in written])


def _editable(source: Any, targets: Iterable[Object], left_out: dict[str, list[str]]) -> list[Any]:
    chosen = []
    for obj in targets:
        if obj == source:
            continue
        if obj.library is not None:
            left_out[LINKED].append(obj.name)
        else:
            chosen.append(obj)
    if not chosen and not left_out:
        raise InputError(f"There is no object to copy to; select others besides '{source.name}'")
    return chosen


def _suits(source: Any, obj: Object, part: str, left_out: dict[str, list[str]]) -> bool:
    physics = source.usdphys
    if part == "JOINT":
        if not physics.joint.is_applied:
            return False
        if not obj.usdphys.joint.is_applied:
            left_out[_NO_JOINT].append(obj.name)
            return False
    needs_faces = part == "COLLIDERS" and any(item.shape in ("MESH", "AUTO") for item in physics.colliders)
    if needs_faces and not exports_faces(obj, bpy.context.evaluated_depsgraph_get()):
        left_out[_NO_FACES].append(obj.name)
        return False
    return True


def _copy_part(source: Any, obj: Object, part: str) -> None:
    for name in PARTS[part]:
        property_values.copy_property(source.usdphys, obj.usdphys, name, _left_out)
    if part in _VENDOR_PLACES:
        vendor_edits.copy_rows(source.usdphys, obj.usdphys, *_VENDOR_PLACES[part])
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


def _without_itself(group: PropertyGroup, obj: Object) -> None:
    """Remove pairs of an object with itself."""
    for index in reversed(range(len(group.filtered_pairs))):
        if group.filtered_pairs[index].object == obj:
            group.filtered_pairs.remove(index)


# --------------------------------------------------------------------------- one property


def copy_one_property(source: Any, targets: Iterable[Object], data_path: str) -> EditReport:
    """Copy one property, or one property group, to other objects.

    data_path: from `object.usdphys`, such as "mass.mass". Raises InputError, with nothing changed, if no object has it.
    """
    path = data_path.removeprefix("object.").removeprefix("usdphys.")
    owner, name = _resolved(source, path)
    if owner is None:
        raise InputError(f"'{source.name}' has no physics property '{data_path}'; choose another")
    is_memory = isinstance(owner, props.RememberedPrim) or name == "prim" or name.startswith("remembered_")
    if is_memory or name == "has_remembered_frames":
        raise InputError(
            f"'{data_path}' describes the file that the object was imported from and is not copied; "
            "choose another property"
        )
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
        notes.append(f"It has no effect yet, because its schema is not applied, on {named(idle)}")
    text = f"Copied {label}" if is_set else f"Cleared {label}, which is not set on '{source.name}',"
    return EditReport(f"{text} {'to' if is_set else 'on'} {counted(len(written), 'object')}", notes,
                   [obj.name for obj in written])  # fmt: skip


def _resolved(obj: Object, path: str) -> tuple[Any, str]:
    """(property group, name) of a path; (None, "") if the object has no such property."""
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


def _applies(obj: Object, path: str) -> bool:
    """False if a property group along the path has `is_applied` and it is off."""
    steps = path.split(".")[:-1]
    for end in range(1, len(steps) + 1):
        group = obj.usdphys.path_resolve(".".join(steps[:end]))
        if not getattr(group, "is_applied", True):
            return False
    return True
