# SPDX-License-Identifier: GPL-3.0-or-later
"""What a generator has made and changed, kept in the scene, so that it can be removed later.

Made objects are known by pointers: copies of them are the user's. Of what was there before, the state before and after
is kept; what the user has edited since then stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
import mathutils
import numpy as np
from bpy.types import Context, Material, Object, Scene

from ..authoring.material_presets import is_preset
from ..bridge import constructions as constructions_of
from ..bridge import property_values
from ..bridge.joint_frames import is_joint
from ..core.errors import InputError
from ..core.words import named, phrase
from . import ragdoll

#: Key of a reference in the JSON of a state.
_REFERENCE = "$"


class Removed(NamedTuple):
    """kinds: of the constructions. number: of removed objects. notes: what was kept, in sentences."""

    kinds: list[str]
    number: int
    notes: list[str]


class Settings(NamedTuple):
    """How a construction was made. operator: idname. values: of its properties, as JSON has them."""

    operator: str
    values: dict[str, Any]


@contextmanager
def recorded(
    context: Context, kind: str, *, settings: Callable[[], Settings] | None = None, is_at_cursor: bool = False
) -> Iterator[None]:
    """Note what the body of the `with` makes of the selection.

    kind: name of the generator. settings: called afterwards; without it the construction can be removed, but not made
    again. is_at_cursor: it is made at the 3D cursor, whatever is selected.
    """
    scene = context.scene
    chosen = [] if is_at_cursor else list(context.selected_objects)
    active = context.view_layer.objects.active
    cursor = _flat(scene.cursor.matrix)
    objects = {obj.session_uid for obj in bpy.data.objects}
    collections = {one.session_uid for one in bpy.data.collections}
    before = [(data, _state(data)) for data in _concerned(chosen)]
    wholes = {obj.session_uid: obj.data for obj in chosen if obj.type == "MESH"}
    yield
    made = [obj for obj in scene.objects if obj.session_uid not in objects]
    changes = [(data, old, _state(data)) for data, old in before if _is_there(data)]
    changes = [change for change in changes if change[1] != change[2]]
    broken = {
        data.session_uid for data, _, _ in changes
        if isinstance(data, Object) and wholes.get(data.session_uid, data.data) != data.data
    }  # fmt: skip
    if not made and not changes:
        return
    item: Any = scene.usdphys.constructions.add()
    item.kind = kind
    if settings is not None:
        item.settings = json.dumps({**settings()._asdict(), "cursor": cursor})
        for obj in sorted(chosen, key=lambda one: one != active):
            item.selected.add().object = obj
    if is_at_cursor:
        context.view_layer.update()
    for obj in made:
        one = item.made.add()
        one.object = obj
        if is_at_cursor:
            one.place = json.dumps(_flat(obj.matrix_world))
    for data, old, new in changes:
        one = item.changed.add()
        setattr(one, "material" if isinstance(data, Material) else "object", data)
        if data.session_uid in broken:
            one.whole = wholes[data.session_uid]
        one.before, one.after = (json.dumps(_encoded(state, item.references)) for state in (old, new))
    for one in bpy.data.collections:
        if one.session_uid not in collections:
            item.collections.add().collection = one


def remove(context: Context, objects: Sequence[Object]) -> Removed:
    """Remove the constructions that the objects belong to. Raises InputError without any.

    Objects that others have hung on what goes keep their places.
    """
    return _take_back(context, _chosen(context, objects))


def number_of(context: Context, objects: Sequence[Object]) -> int:
    """The number of the construction that the objects belong to. Raises InputError without any, and for several."""
    chosen = _chosen(context, objects)
    if len(chosen) > 1:
        kinds = named([item.kind for item in chosen])
        raise InputError(phrase("The selection belongs to {kinds}; select one of them.", kinds=kinds))
    return int(context.scene.usdphys.constructions.values().index(chosen[0]))


def settings_of(scene: Scene, number: int) -> Settings:
    """How a construction was made. Raises InputError where that is not known any more."""
    constructions: Any = scene.usdphys.constructions
    if number >= len(constructions):
        raise InputError("Nothing that Make has made is selected; select a part of it, such as a plank of a bridge.")
    item = constructions[number]
    if not item.settings:
        raise InputError(phrase("The settings of '{kind}' were not kept; remove it, and make it again.",
                                kind=item.kind))  # fmt: skip
    found = json.loads(item.settings)
    return Settings(found["operator"], found["values"])


def select_sources(context: Context, number: int) -> None:
    """Select what a construction was made of. Raises InputError where some of it is gone or hidden."""
    item: Any = context.scene.usdphys.constructions[number]
    held = [one.object for one in item.selected]
    if any(obj is None or obj.name not in context.view_layer.objects or not obj.visible_get() for obj in held):
        raise InputError(phrase(
            "Objects of which '{kind}' was made are deleted or hidden; bring them back first.", kind=item.kind
        ))  # fmt: skip
    for obj in context.selected_objects:
        obj.select_set(False)
    for obj in held:
        obj.select_set(True)
    if held:
        context.view_layer.objects.active = held[0]


@contextmanager
def begun_again(context: Context, number: int) -> Iterator[list[str]]:
    """Remove a construction, and select what it was made of, to make it anew in the body of the `with`.

    The 3D cursor is where it was then, moved as what was made has been since. Yields notes on what was kept. Raises
    InputError, with nothing changed.
    """
    scene: Any = context.scene
    settings_of(scene, number)
    constructions_of.forget_deleted(scene)
    select_sources(context, number)
    item = scene.usdphys.constructions[number]
    sources = [one.object for one in item.selected]
    cursor = scene.cursor.matrix.copy()
    then = _moved_since(context, item) @ _matrix(json.loads(item.settings)["cursor"])
    notes = _take_back(context, [item]).notes
    for obj in sources:
        obj.select_set(True)
    if sources:
        context.view_layer.objects.active = sources[0]
    scene.cursor.matrix = then
    try:
        yield notes
    finally:
        scene.cursor.matrix = cursor


def _moved_since(context: Context, item: Any) -> Any:
    """How the user has moved most of what was made at the 3D cursor, (4, 4); the identity where it is where it was."""
    context.view_layer.update()
    moves = np.array([
        np.array(one.object.matrix_world @ _matrix(json.loads(one.place)).inverted_safe())
        for one in item.made if one.place
    ])  # fmt: skip
    if not len(moves):
        return mathutils.Matrix()
    # Of what has been moved together, each part has the same.
    return mathutils.Matrix(np.median(moves, axis=0).tolist())


def _chosen(context: Context, objects: Sequence[Object]) -> list[Any]:
    """The constructions that objects belong to. Raises InputError without any."""
    scene = context.scene
    constructions_of.forget_deleted(scene)
    constructions: Any = scene.usdphys.constructions
    wanted = {obj.session_uid for obj in objects}
    rigs = [obj for obj in objects if obj.type == "ARMATURE"] + [
        modifier.object for obj in objects for modifier in obj.modifiers if modifier.type == "ARMATURE"
    ]
    wanted |= {target.session_uid for rig in rigs if rig is not None for target in ragdoll.followed(rig)}
    chosen = [item for item in constructions if any(one.object.session_uid in wanted for one in item.made)]
    chosen = chosen or [
        item for item in constructions
        if any(one.object is not None and one.object.session_uid in wanted for one in item.changed)
    ]  # fmt: skip
    if not chosen:
        raise InputError("Nothing that Make has made is selected; select a part of it, such as a plank of a bridge.")
    return chosen


def _take_back(context: Context, chosen: Sequence[Any]) -> Removed:
    """Remove constructions."""
    scene = context.scene
    constructions: Any = scene.usdphys.constructions
    notes: list[str] = []
    kinds = [item.kind for item in chosen]
    going = {one.object.session_uid: one.object for item in chosen for one in item.made}
    concerned = [*going.values(), *(one.object for item in chosen for one in item.changed if one.object is not None)]
    unused = {obj.usdphys.physics_material for obj in concerned} | {obj.data for obj in concerned}
    others = [item for item in constructions if item not in chosen]
    holders = _holders(scene, going)
    # The last made first: it may have changed what an earlier one made.
    for item in reversed(chosen):
        edited, needed = _give_back(item, others, holders)
        if edited:
            notes.append(phrase("{names} was edited since then; these edits are kept.", names=named(edited)))
        if needed:
            notes.append(phrase("{names} keeps its physics, which another joint needs.", names=named(needed)))
    collections = [one.collection for item in chosen for one in item.collections if one.collection is not None]
    notes += _delete(context, going)
    while empty := [one for one in collections if not one.objects and not one.children]:
        collections.remove(empty[0])
        bpy.data.collections.remove(empty[0])
    for index in sorted((constructions.values().index(item) for item in chosen), reverse=True):
        constructions.remove(index)
    # What nothing uses would keep its name from what is made next. Materials that the user has made or edited stay.
    bpy.data.batch_remove([
        data for data in unused if data is not None and data.library is None and not data.users
        and (not isinstance(data, Material) or is_preset(data))
    ])  # fmt: skip
    context.view_layer.update()
    return Removed(kinds, len(going), notes)


def _is_there(data: Any) -> bool:
    try:
        return bool(data.name)
    except ReferenceError:
        return False


# --------------------------------------------------------------------------- states


def _concerned(selected: Iterable[Object]) -> list[Any]:
    """Objects that a generator may change, and their materials. What is linked cannot change."""
    objects = dict.fromkeys(one for obj in selected for one in (obj, *obj.children_recursive) if one.library is None)
    materials = dict.fromkeys(
        slot.material for obj in objects for slot in obj.material_slots
        if slot.material is not None and slot.material.library is None
    )  # fmt: skip
    return [*objects, *materials]


def _state(data: Any) -> dict[str, Any]:
    """What a generator may change of an object or a material, by parts that come back each for itself."""
    physics = property_values.snapshot(data.usdphys) if data.usdphys.keys() else {}
    if isinstance(data, Material):
        return {"physics": physics}
    return {
        "physics": physics,
        "parent": [data.parent, data.parent_type, data.parent_bone, _flat(data.matrix_parent_inverse)],
        "place": _flat(data.matrix_basis),
        "materials": [slot.material for slot in data.material_slots],
    }


def _flat(matrix: Any) -> list[float]:
    return [value for row in matrix for value in row]


def _matrix(values: Sequence[float]) -> Any:
    return mathutils.Matrix([values[row : row + 4] for row in range(0, 16, 4)])


def _encoded(value: Any, references: Any) -> Any:
    """A state as JSON has it: data-blocks are numbers of references, which are added where they are missing."""
    if isinstance(value, bpy.types.ID):
        field = "material" if isinstance(value, Material) else "object"
        if not isinstance(value, Object | Material):
            return None
        for number, one in enumerate(references):
            if getattr(one, field) == value:
                return {_REFERENCE: number}
        setattr(references.add(), field, value)
        return {_REFERENCE: len(references) - 1}
    if isinstance(value, dict):
        return {key: _encoded(item, references) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(item, references) for item in value]
    return sorted(value) if isinstance(value, set | frozenset) else value


def _decoded(value: Any, references: Any) -> Any:
    if isinstance(value, dict):
        if _REFERENCE in value:
            one = references[value[_REFERENCE]]
            return one.object or one.material
        return {key: _decoded(item, references) for key, item in value.items()}
    return [_decoded(item, references) for item in value] if isinstance(value, list) else value


def _holders(scene: Scene, going: Container[int]) -> dict[int, int]:
    """By `session_uid` of bodies, that of a joint that stays and needs them."""
    holders = {}
    for obj in scene.objects:
        if is_joint(obj) and obj.session_uid not in going:
            for body in (obj.usdphys.joint.body0, obj.usdphys.joint.body1):
                if body is not None:
                    holders[body.session_uid] = obj.session_uid
    return holders


def _hand_over(one: Any, item: Any, heir: Any) -> None:
    """Let another construction, which needs the changed data as it is, give it back later."""
    data = one.object
    own = next((each for each in heir.changed if each.object == data), None)
    if own is None:
        own = heir.changed.add()
        own.object = data
        own.after = json.dumps(_encoded(_decoded(json.loads(one.after), item.references), heir.references))
    own.before = json.dumps(_encoded(_decoded(json.loads(one.before), item.references), heir.references))


def _give_back(item: Any, others: Sequence[Any], holders: Mapping[int, int]) -> tuple[list[str], list[str]]:
    """Give changed data their former states back. Returns the names of (those with edits, which stay; those that a
    joint of the user needs as they are).

    What a joint of another construction needs, that one will give back. holders: see `_holders`.
    """
    edited, needed = [], []
    for one in item.changed:
        data = one.object or one.material
        if one.object is not None and (holder := holders.get(data.session_uid)) is not None:
            if one.whole is not None:
                _make_whole(one)
            heir = next((each for each in others if any(made.object.session_uid == holder for made in each.made)), None)
            if heir is None:
                needed.append(data.name)
            else:
                _hand_over(one, item, heir)
            continue
        before, after = json.loads(one.before), json.loads(one.after)
        now = json.loads(json.dumps(_encoded(_state(data), item.references)))
        is_edited = _restore_physics(data, before["physics"], after["physics"], now["physics"], item.references)
        if isinstance(data, Object):
            if now["parent"] == after["parent"] != before["parent"]:
                _put_below(data, _decoded(before["parent"], item.references))
            if one.whole is not None:
                _make_whole(one)
            elif now["place"] == after["place"] != before["place"]:
                data.matrix_basis = _matrix(before["place"])
            if now["materials"] == after["materials"]:
                _restore_materials(data, _decoded(before["materials"], item.references))
        if is_edited:
            edited.append(data.name)
    return edited, needed


def _restore_physics(data: Any, before: Any, after: Any, now: Any, references: Any) -> bool:
    """Give each group of properties back that is as the generator has left it. Returns whether others were edited."""
    group, is_edited = data.usdphys, False
    for key in {*before, *after}:
        if before.get(key) == after.get(key):
            continue
        if now.get(key) != after.get(key):
            is_edited = True
            continue
        child = getattr(group, key)
        if isinstance(child, bpy.types.PropertyGroup):
            property_values.unset_all(child)
        group.property_unset(key)
        if key in before:
            property_values.restore(group, {key: _tuples(_decoded(before[key], references))})
    property_values.drop_lone_stamp(group)
    return is_edited


def _tuples(value: Any) -> Any:
    """Lists of values as `property_values.restore` takes vectors; lists of groups stay lists."""
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tuples(item) for item in value] if all(isinstance(item, dict) for item in value) else tuple(value)
    return value


def _make_whole(one: Any) -> None:
    """Give an object that was broken its mesh back, where it is now the piece that it has become."""
    obj = one.object
    before, after = (json.loads(text)["place"] for text in (one.before, one.after))
    is_moved = _flat(obj.matrix_basis) != after
    moved = obj.matrix_basis @ _matrix(after).inverted_safe() if is_moved else mathutils.Matrix()
    obj.data, obj.matrix_basis = one.whole, moved @ _matrix(before)


def _put_below(obj: Any, parent: Any) -> None:
    world = obj.matrix_world.copy()
    obj.parent = parent[0]
    if parent[0] is not None:
        obj.parent_type, obj.parent_bone = parent[1], parent[2]
        obj.matrix_parent_inverse = _matrix(parent[3])
    obj.matrix_world = world


def _restore_materials(obj: Any, before: Any) -> None:
    if [slot.material for slot in obj.material_slots] == before:
        return
    for number, slot in enumerate(obj.material_slots):
        slot.material = before[number] if number < len(before) else None
    if obj.data is not None:
        while len(obj.data.materials) > len(before):
            obj.data.materials.pop()


# --------------------------------------------------------------------------- deletion


def _delete(context: Context, going: Mapping[int, Object]) -> list[str]:
    """Delete objects. Bones let go of them, and others that hang on them stay in their places."""
    bereft = []
    for obj in context.scene.objects:
        if obj.session_uid in going:
            continue
        if obj.type == "ARMATURE":
            ragdoll.let_go(obj, going.keys())
        if obj.parent is not None and obj.parent.session_uid in going:
            _put_below(obj, (None,))
        if is_joint(obj) and any(
            body is not None and body.session_uid in going
            for body in (obj.usdphys.joint.body0, obj.usdphys.joint.body1)
        ):
            bereft.append(obj.name)
        pairs: Any = obj.usdphys.filtered_pairs.filtered_pairs if "filtered_pairs" in obj.usdphys.keys() else ()
        for place in reversed(range(len(pairs))):
            if pairs[place].object is not None and pairs[place].object.session_uid in going:
                pairs.remove(place)
    for obj in going.values():
        bpy.data.objects.remove(obj)
    if bereft:
        return [phrase("{names} has lost a body, which the generator had made.", names=named(bereft))]
    return []
