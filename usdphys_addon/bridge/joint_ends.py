# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies know their joints, so that these travel with them: appended, linked, copied, moved to another collection.

Blender brings along what an object refers to, and lets copies refer to copies. A joint refers to its bodies; each of
these refers to its joints here. What it refers to follows the joints' own properties and is written by `sync` alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import bpy
from bpy.types import Collection, Object, Scene

from ..worker import jobs
from ..worker.handlers import Handlers
from . import props, stand_ins
from .property_types import make_group
from .roles import applies

#: Property of objects with their joints.
_ENDS = "usdphys_joint_ends"
#: Seconds until a job looks again whether the user still moves the copies.
_AGAIN = 0.2


JointEnd = make_group(
    "JointEnd",
    "A joint, and which of its sides the object is: 0 or 1.",
    {
        "joint": bpy.props.PointerProperty(type=bpy.types.Object, options={"HIDDEN"}),
        "side": bpy.props.IntProperty(min=0, max=1, options={"HIDDEN"}),
    },
)

_Collections = dict[Object, list[Collection]]


class _Home(NamedTuple):
    """Where a joint and its bodies were, as names of collections."""

    own: frozenset[str]
    of_bodies: frozenset[str]


class _Seen:
    """objects: session-wide identifiers of all at the last look. homes: of the joints that were with their bodies."""

    def __init__(self) -> None:
        self.objects: frozenset[int] = frozenset()
        self.homes: dict[int, _Home] = {}
        self.count = 0
        self.is_due = False


_seen = _Seen()


def sync(*, makes_joints: bool = True) -> list[str]:
    """Let each body refer to its joints, and joints follow bodies that were appended, copied or moved.

    makes_joints: copied bodies get copies of their joints. Returns the names of the joints that were copied, moved or
    put into a collection.
    """
    _seen.is_due = False
    homes = _collections()
    objects = [obj for obj in bpy.data.objects if _is_joint_or_end(obj)]
    new = {obj for obj in objects if obj.session_uid not in _seen.objects}
    changed = []
    ends = {obj: [(end.joint, end.side) for end in _ends_of(obj)] for obj in objects}
    for obj in new:
        for joint, side in ends[obj]:
            is_own = joint is not None and _is_joint(joint) and _body(joint, side) == obj
            if is_own and not homes.get(joint) and homes.get(obj) and _move(joint, homes):
                changed.append(joint.name)
    if makes_joints:
        changed += _copy_joints({obj: ends[obj] for obj in new if homes.get(obj)}, homes)
    objects = [obj for obj in bpy.data.objects if _is_joint_or_end(obj)]
    joints = [obj for obj in objects if _is_joint(obj) and homes.get(obj)]
    changed += [joint.name for joint in joints if joint.library is None and _follow(joint, homes)]
    wanted: dict[Object, list[tuple[Object, int]]] = defaultdict(list)
    for joint in joints:
        for side in (0, 1):
            if (body := _body(joint, side)) is not None:
                wanted[body].append((joint, side))
    for obj in {*wanted, *objects}:
        if obj.library is None and obj.override_library is None:
            _write(obj, wanted.get(obj, []))
    _note(homes)
    return changed


def _is_joint_or_end(obj: Object) -> bool:
    """True for joints, and for objects that refer to joints, but for what stands in for an instance."""
    if stand_ins.is_stand_in(obj):
        return False  # it is removed, and would be written into files by what refers to it
    return obj.is_property_set(_ENDS) or _is_joint(obj)


def _is_joint(obj: Any) -> bool:
    return bool(obj.is_property_set("usdphys") and applies(obj, "joint"))


def _ends_of(obj: Any) -> Any:
    return obj.usdphys_joint_ends if obj.is_property_set(_ENDS) else ()


def _body(joint: Any, side: int) -> Any:
    return getattr(joint.usdphys.joint, f"body{side}")


def _write(obj: Any, wanted: list[tuple[Object, int]]) -> None:
    if [(end.joint, end.side) for end in _ends_of(obj)] == wanted:
        return
    if not wanted:
        obj.property_unset(_ENDS)
        return
    obj.usdphys_joint_ends.clear()
    for joint, side in wanted:
        end = obj.usdphys_joint_ends.add()
        end.joint, end.side = joint, side


def forget(obj: Any) -> None:
    """Let a copy refer to no joint."""
    if obj.is_property_set(_ENDS):
        obj.property_unset(_ENDS)


# --------------------------------------------------------------------------- collections


def _collections() -> _Collections:
    """The collections of each object that is in one; `users_collection` visits all collections for each object."""
    found: _Collections = defaultdict(list)
    for one in (*bpy.data.collections, *(scene.collection for scene in bpy.data.scenes)):
        for obj in one.objects:
            found[obj].append(one)
    return found


def _home_of(collections: Iterable[Collection]) -> frozenset[str]:
    """Names of collections; for one of joints, of those that it is in."""
    from . import physics_collections

    names = set()
    for one in collections:
        names.add(one.name)
        if one.name.startswith(physics_collections.JOINTS):
            names |= {above.name for above in bpy.data.collections if one.name in above.children}
            names |= {scene.collection.name for scene in bpy.data.scenes if one.name in scene.collection.children}
    return frozenset(names)


def _homes(joint: Object, homes: _Collections) -> _Home:
    bodies = [body for side in (1, 0) if (body := _body(joint, side)) is not None]
    return _Home(_home_of(homes.get(joint, ())), frozenset(one.name for body in bodies for one in homes.get(body, ())))


def _follow(joint: Object, homes: _Collections) -> bool:
    """Move a joint after its bodies, where these alone have left the collection in which they were together."""
    before, now = _seen.homes.get(joint.session_uid), _homes(joint, homes)
    if before is None or now.own != before.own or now.own & now.of_bodies or now.of_bodies == before.of_bodies:
        return False
    return _move(joint, homes)


def bring_home(joint: Object) -> bool:
    """Move a joint to its second body, else its first. Returns False where a linked collection prevents that."""
    return _move(joint, _collections())


def _move(joint: Object, homes: _Collections) -> bool:
    """Put a joint into the collection of joints below that of its second body, else of its first."""
    from . import physics_collections

    bodies = [body for side in (1, 0) if (body := _body(joint, side)) is not None]
    home = next((one for body in bodies for one in homes.get(body, ()) if _is_editable(one)), None)
    if home is None:
        return False
    for one in list(homes.get(joint, ())):
        if not _is_editable(one):
            return False
        one.objects.unlink(joint)
    home.objects.link(joint)
    physics_collections.move(joint, physics_collections.JOINTS)
    homes[joint] = list(joint.users_collection)
    return True


def _is_editable(one: Collection) -> bool:
    return one.library is None and one.override_library is None


def _note(homes: _Collections) -> None:
    """Remember where everything is."""
    _seen.objects = frozenset(obj.session_uid for obj in bpy.data.objects)
    _seen.count = len(bpy.data.objects)
    _seen.homes = {}
    for joint in homes:
        if _is_joint(joint) and (home := _homes(joint, homes)).own & home.of_bodies:
            _seen.homes[joint.session_uid] = home


# --------------------------------------------------------------------------- copies


def _copy_joints(new: dict[Object, list[tuple[Object, int]]], homes: _Collections) -> list[str]:
    """Copy the joints of which all bodies were copied, without the joint. new: ends of new objects."""
    copies: dict[Object, tuple[list[Object], list[Object]]] = {}
    for obj in sorted(new, key=lambda one: one.session_uid):
        for joint, side in new[obj]:
            if joint is not None and _is_joint(joint) and _body(joint, side) not in (obj, None):
                copies.setdefault(joint, ([], []))[side].append(obj)
    joined = {(_body(obj, 0), _body(obj, 1)) for obj in homes if _is_joint(obj)} if copies else set()
    made = []
    for joint, sides in copies.items():
        if not homes.get(joint):
            continue
        made += [_copy(joint, pair, homes) for pair in _pairs(joint, sides) if pair not in joined]
    return made


def _pairs(joint: Any, sides: tuple[list[Object], list[Object]]) -> list[tuple[Any, Any]]:
    """(body 0, body 1) for each copy of a joint; None for the world."""
    group = joint.usdphys.joint
    is_world = [_body(joint, side) is None and not getattr(group, f"body{side}_name") for side in (0, 1)]
    if is_world[0]:
        return [(None, body) for body in sides[1]]
    if is_world[1]:
        return [(body, None) for body in sides[0]]
    return list(zip(*sides, strict=False))


def _copy(joint: Any, pair: Sequence[Any], homes: _Collections) -> str:
    copy = joint.copy()
    forget(copy)
    group = copy.usdphys.joint
    for side, body in enumerate(pair):
        if body is None:
            continue
        if joint.parent == _body(joint, side):
            copy.parent = body
            copy.matrix_parent_inverse = joint.matrix_parent_inverse  # a new parent resets it
        setattr(group, f"body{side}", body)
    if copy.parent == joint.parent:
        # It hangs on nothing that was copied: it is where it was, seen from its body.
        body, old = next((new, _body(joint, side)) for side, new in enumerate(pair) if new is not None)
        world = body.matrix_world @ old.matrix_world.inverted_safe() @ joint.matrix_world
        space = joint.matrix_world @ joint.matrix_basis.inverted_safe()
        copy.matrix_basis = space.inverted_safe() @ world
    _move(copy, homes)
    return str(copy.name)


# --------------------------------------------------------------------------- when


def _job() -> Any:
    """Look at what has changed, when the user has put down what he copies."""
    yield 0.0
    while _is_moving():
        yield _AGAIN
    if sync() and not bpy.app.background and bpy.context.window_manager is not None:
        bpy.ops.ed.undo_push(message="Joints Follow Bodies")


def _is_moving() -> bool:
    manager = bpy.context.window_manager
    windows: Any = manager.windows if manager is not None else ()
    return any(one.bl_idname.startswith("TRANSFORM_OT") for window in windows for one in window.modal_operators)


def look_later() -> None:
    """Have `sync` called when the running operator has ended. Without a window only `turn` does it."""
    _seen.is_due = True
    if not bpy.app.background:
        jobs.add(_job)


def turn() -> None:
    """Do at once what waits for Blender's timer. For tests, and for scripts without a window."""
    if _seen.is_due:
        jobs.cancel(_job)
        sync()


def _after_update(scene: Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if len(bpy.data.objects) != _seen.count or depsgraph.id_type_updated("COLLECTION"):
        _seen.count = len(bpy.data.objects)
        look_later()


def _after_load(*_: Any) -> None:
    _seen.objects = frozenset(obj.session_uid for obj in bpy.data.objects)
    _seen.homes = {}
    sync(makes_joints=False)


def _after_undo(*_: Any) -> None:
    """What undo brings back is no copy that was just made."""
    _note(_collections())


def _before_save(*_: Any) -> None:
    if not bpy.app.background:
        turn()
    sync(makes_joints=False)


def _after_import(*_: Any) -> None:
    sync()


_handlers = Handlers(
    ("load_post", _after_load), ("undo_post", _after_undo), ("redo_post", _after_undo), ("save_pre", _before_save),
    ("blend_import_post", _after_import), ("depsgraph_update_post", _after_update),
)  # fmt: skip


def register() -> None:
    bpy.utils.register_class(JointEnd)
    owner: Any = bpy.types.Object
    owner.usdphys_joint_ends = bpy.props.CollectionProperty(type=JointEnd, options={"HIDDEN"})
    _handlers.register()
    props.after_joining.append(look_later)
    look_later()


def unregister() -> None:
    jobs.cancel(_job)
    props.after_joining.remove(look_later)
    _handlers.unregister()
    owner: Any = bpy.types.Object
    del owner.usdphys_joint_ends
    bpy.utils.unregister_class(JointEnd)
