# SPDX-License-Identifier: GPL-3.0-or-later
"""Make objects dynamic, static, kinematic or colliders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import bpy
from bpy.types import Context, Depsgraph, Object, PropertyGroup

from ..bridge.roles import applies, is_body, is_moved
from ..core.errors import InputError
from ..core.words import NAMED, and_more, counted, joined, named, phrase
from .clearing import clear_physics
from .collider_choice import (
    ColliderChoice,
    Form,
    choose,
    exports_faces,
    is_written_as_lines,
    shows_instances,
    write_collider,
)  # fmt: skip
from .edit_report import LINKED, NOT_JOINTS, EditReport, sentences

_TRIANGLES = ("none", "meshSimplification")

#: Sentences about objects that are left out; {names} is replaced by their names.
_NOTHING = "There are no faces to collide with in {names}; select meshes, or Empties with meshes below them"
_INSTANCES = "What is shown of {names} are instances, without faces to collide with; realize them in the geometry nodes"
_LINES = "Curves and surfaces are exported without faces; convert to meshes (Object > Convert): {names}"
_PLANE = "An infinite plane cannot move; choose another collider shape for {names} first"
_HAS = "There already is a collider on {names}"
_CHANGED = "Solvers do not move triangle meshes well, so Collides As was changed for {names}"
_ANIMATED = "A dynamic body ignores its animation; make {names} kinematic to keep it"
_BARE = "A body needs a collider or a mass; give one to {names}"
_CARRIED = "Objects below a rigid body are part of it and move with it: {names}"
_NO_MATCH = "No object in the scene matches '{pattern}'; use * for any text and ? for any character"
_NO_MATCH_IN = (
    "No object in the collection '{collection}' matches '{pattern}'; use * for any text and ? for any character"
)
_GROUND = "The ground stays static; select it alone to make it a body: {names}"
_MADE = {
    "DYNAMIC": "Made {objects} dynamic", "STATIC": "Made {objects} static", "KINEMATIC": "Made {objects} kinematic",
}  # fmt: skip
_MAKE = {
    "DYNAMIC": "Make {objects} dynamic", "STATIC": "Make {objects} static", "KINEMATIC": "Make {objects} kinematic",
}  # fmt: skip

# --------------------------------------------------------------------------- plan


def is_ground(obj: Object) -> bool:
    """True for a ground that the add-on has made, as long as it is static."""
    return obj.usdphys.is_property_set("is_ground") and obj.usdphys.is_ground and not is_body(obj)


@dataclass(slots=True)
class _Step:
    """One object that gets a role. parts: objects that get a collider. below: the object and all that moves with it."""

    obj: Any
    parts: list[Any]
    below: list[Any]


class Tagging:
    """Plan for giving objects a role; `apply` carries it out.

    role: "DYNAMIC", "STATIC", "KINEMATIC", or "COLLIDER" for a collider alone.

    For an object without faces, the meshes below it, down to the next bodies, get the colliders. If objects are
    selected together with such a parent, only the parent becomes a body; with `separate`, each of them does and the
    parent does not.
    """

    def __init__(self, depsgraph: Depsgraph, objects: Iterable[Object], role: str, *, separate: bool = False) -> None:
        self.depsgraph = depsgraph
        self.role = role
        self.has_body = role in ("DYNAMIC", "KINEMATIC")
        self.left_out: dict[str, list[str]] = defaultdict(list)
        self.steps: list[_Step] = []
        self._children: dict[str, list[Any]] = defaultdict(list)
        for obj in bpy.data.objects:
            if obj.parent is not None:
                self._children[obj.parent.name_full].append(obj)
        #: The Empty that shows an object of a collection, by full name.
        self._instancers: dict[str, Any] = {}
        self._faces: dict[str, bool] = {}
        self._choices: dict[str, ColliderChoice | None] = {}
        self._forms: dict[str, Form | None] = {}
        chosen = [obj for obj in objects if self._can_be(obj)]
        if separate and self.has_body:
            chosen = [obj for obj in chosen if self.has_faces(obj)] or chosen
        if self.has_body and not all(map(is_ground, chosen)):
            grounds = [obj for obj in chosen if is_ground(obj)]
            chosen = [obj for obj in chosen if obj not in grounds]
            if grounds:
                self.left_out[_GROUND] += [obj.name for obj in grounds]
        self._chosen = {obj.name_full for obj in chosen}
        if self.has_body:
            chosen = [obj for obj in chosen if not self._is_part(obj)]
        self._owners = {obj.name_full for obj in chosen}
        for obj in chosen:
            self._add(obj)

    # ------------------------------------------------------------------ objects

    def _can_be(self, obj: Object) -> bool:
        if obj.library is not None:
            self.left_out[LINKED].append(obj.name)
        elif obj.type == "EMPTY" and applies(obj, "joint"):
            self.left_out[NOT_JOINTS].append(obj.name)
        else:
            return True
        return False

    def _is_part(self, obj: Object) -> bool:
        """True if an object will belong to a chosen parent without faces, which becomes the body."""
        if is_body(obj):
            return False
        above = obj.parent
        while above is not None:
            if above.name_full in self._chosen and not self.has_faces(above):
                return True
            if is_body(above):
                return False
            above = above.parent
        return False

    def has_faces(self, obj: Object) -> bool:
        key = obj.name_full
        if key not in self._faces:
            self._faces[key] = exports_faces(obj, self.depsgraph)
        return self._faces[key]

    def _below(self, obj: Object) -> list[Any]:
        """An object and the visible or chosen objects below it, down to other bodies."""
        objects = [obj]
        for child in self._children.get(obj.name_full, ()):
            if not self._will_be_body(child) and (child.name_full in self._chosen or child.visible_get()):
                objects += self._below(child)
        return objects + self._instanced(obj)

    def _instanced(self, obj: Object) -> list[Any]:
        """The objects that a collection instance shows, except other bodies, what is below them, and joints."""
        if obj.type != "EMPTY" or obj.instance_type != "COLLECTION" or obj.instance_collection is None:
            return []
        objects = []
        for part in obj.instance_collection.all_objects:
            above: Any = part
            while above is not None and not is_body(above):
                above = above.parent
            if above is None and not applies(part, "joint"):
                self._instancers[part.name_full] = obj
                objects.append(part)
        return objects

    def _will_be_body(self, obj: Object) -> bool:
        if obj.name_full in self._owners and self.role != "COLLIDER":
            return self.has_body
        return is_body(obj)

    def _add(self, obj: Object) -> None:
        below = self._below(obj)
        lines = [part.name for part in below if is_written_as_lines(part) and not len(part.usdphys.colliders)]
        candidates = [obj] if self.has_faces(obj) else [part for part in below if self.has_faces(part)]
        colliding = [part for part in below if len(part.usdphys.colliders)]
        if self.role == "COLLIDER":
            parts = [part for part in candidates if not len(part.usdphys.colliders)]
            if not parts:
                self.left_out[_HAS if candidates else self._why_nothing(obj, lines)].append(obj.name)
                return
        else:
            # Existing colliders are kept as the user made them.
            parts = [] if colliding else candidates
            is_empty_body = (obj.type == "EMPTY" and self.has_body) or is_body(obj)
            if not parts and not colliding and not is_empty_body:
                self.left_out[self._why_nothing(obj, lines)].append(obj.name)
                return
        shapes = {item.shape for part in colliding for item in part.usdphys.colliders}
        if self.role == "DYNAMIC" and "PLANE" in shapes:
            self.left_out[_PLANE].append(obj.name)
            return
        if parts and parts != [obj]:
            self.left_out[_LINES] += lines
        editable = [part for part in parts if part.library is None]
        if len(editable) < len(parts):
            self.left_out[LINKED] += [part.name for part in parts if part.library is not None]
        self.steps.append(_Step(obj, editable, below))

    # ------------------------------------------------------------------ in words

    def choice(self, part: Object) -> ColliderChoice | None:
        """The collider that an object gets; None if it has no faces."""
        key = part.name_full
        if key not in self._choices:
            self._choices[key] = choose(part, self.role, self.depsgraph, moves=self._will_move(part), forms=self._forms)
        return self._choices[key]

    def _will_move(self, obj: Object | None) -> bool:
        while obj is not None:
            if self.role != "COLLIDER" and obj.name_full in self._owners:
                if self.has_body:
                    return self.role == "DYNAMIC"
            elif is_body(obj):
                return is_moved(obj)
            obj = obj.parent if obj.parent is not None else self._instancers.get(obj.name_full)
        return False

    def parts(self) -> list[Any]:
        """All objects that get a collider, each once."""
        return list({part.name_full: part for step in self.steps for part in step.parts}.values())

    def text(self, is_done: bool) -> str:
        """Sentence about what the plan has done, or will do."""
        if self.role == "COLLIDER":
            number = counted(len(self.parts()), "object")
            start = phrase("Added colliders to {objects}" if is_done else "Add colliders to {objects}", objects=number)
        else:
            number = counted(len(self.steps), "object")
            start = phrase((_MADE if is_done else _MAKE)[self.role], objects=number)
        details = and_more((self._detail(step) for step in self.steps[:NAMED]), len(self.steps))
        return joined(": ", (start, details))

    def _detail(self, step: _Step) -> str:
        name = f"'{step.obj.name}'"
        if not step.parts:
            collides = any(len(part.usdphys.colliders) for part in step.below)
            return phrase("{name} as it collides", name=name) if collides else name
        if step.parts == [step.obj]:
            return joined(" ", (name, self._words(step.obj)))
        shown = (joined(" ", (f"'{part.name}'", self._words(part))) for part in step.parts[:NAMED])
        parts = counted(len(step.parts), "part")
        return phrase("{name} with {parts} ({shown})", name=name, parts=parts, shown=and_more(shown, len(step.parts)))

    def _words(self, part: Object) -> str:
        choice = self.choice(part)
        if choice is None:
            return phrase("nothing")
        if choice.shape == "AUTO":
            return phrase(choice.words)
        return phrase("{shape} because {reason}", shape=phrase(choice.words), reason=choice.reason)

    def _why_nothing(self, obj: Object, lines: Sequence[str]) -> str:
        if lines:
            return _LINES
        return _INSTANCES if shows_instances(obj, self.depsgraph) else _NOTHING

    def refusals(self) -> list[str]:
        """One sentence per reason to leave objects out."""
        return sentences(self.left_out)

    # ------------------------------------------------------------------ writing

    def apply(self) -> EditReport:
        """Carry out the plan. Raises InputError, with nothing changed, if there is nothing to do."""
        if not self.steps:
            raise InputError(joined(". ", self.refusals() or ["There is no object to work on; select some"]))
        parts = [(part, self.choice(part)) for part in self.parts()]
        text, notes = self.text(True), self.refusals()
        changed = self._triangles() if self.role == "DYNAMIC" else []
        written = {}
        for step in self.steps:
            self._write_body(step.obj)
            written[step.obj.name] = True
        for part, choice in parts:
            if choice is not None:
                write_collider(part, choice)
                written[part.name] = True
        for part, index, approximation in changed:
            part.usdphys.colliders[index].approximation = approximation
            written[part.name] = True
        notes += self._notes(changed)
        return EditReport(text, notes, list(written))

    def _triangles(self) -> list[tuple[Any, int, str]]:
        """(object, index, approximation) of the colliders whose triangles no solver should move."""
        triangle_colliders = []
        for step in self.steps:
            for part in step.below:
                if part.library is not None:
                    continue
                for index, item in enumerate(part.usdphys.colliders):
                    collides = item.shape == "MESH" or (item.shape == "AUTO" and item.is_property_set("approximation"))
                    if collides and not item.is_geometry and item.approximation in _TRIANGLES:
                        choice = choose(part, "DYNAMIC", self.depsgraph, forms=self._forms)
                        if choice is not None:
                            triangle_colliders.append((part, index, choice.approximation or "convexHull"))
        return triangle_colliders

    def _write_body(self, obj: Object) -> None:
        if self.role == "COLLIDER":
            return
        if not self.has_body and not is_body(obj):
            return
        body = obj.usdphys.rigid_body
        if not self.has_body:
            _take_back(obj, body, "is_applied")
            return
        body.is_applied = True
        if not body.rigid_body_enabled:
            _take_back(obj, body, "rigid_body_enabled", True)
        if self.role == "KINEMATIC":
            body.kinematic_enabled = True
        elif body.kinematic_enabled:
            _take_back(obj, body, "kinematic_enabled")

    def _notes(self, changed: Sequence[tuple[Any, int, str]]) -> list[str]:
        notes: list[str] = []
        if changed:
            names = named(part.name for part, _, _ in changed)
            notes.append(phrase(_CHANGED, names=names))
        if self.role == "DYNAMIC":
            animated = [step.obj.name for step in self.steps if is_animated(step.obj)]
            if animated:
                notes.append(phrase(_ANIMATED, names=named(animated)))
        if self.has_body:
            bare = [
                step.obj.name for step in self.steps
                if not any(len(part.usdphys.colliders) for part in step.below) and not _has_mass(step.obj)
            ]  # fmt: skip
            if bare:
                notes.append(phrase(_BARE, names=named(bare)))
        if self.role == "STATIC":
            carried = [step.obj.name for step in self.steps if _is_carried(step.obj.parent)]
            if carried:
                notes.append(phrase(_CARRIED, names=named(carried)))
        return notes


def _is_carried(obj: Object | None) -> bool:
    while obj is not None:
        if is_body(obj):
            return True
        obj = obj.parent
    return False


def _has_mass(obj: Object) -> bool:
    return applies(obj, "mass") and obj.usdphys.mass.mass > 0.0


def _take_back(obj: Object, group: PropertyGroup, name: str, value: bool = False) -> None:
    """Unset a flag, or on a library override set it to `value`: unsetting would bring back the library's value."""
    if obj.override_library is None:
        group.property_unset(name)
    else:
        setattr(group, name, value)


def is_animated(obj: Object) -> bool:
    """True if keyframes, NLA strips or drivers animate the transform of an object."""
    data = obj.animation_data
    if data is None:
        return False
    paths = [curve.data_path for curve in data.drivers]
    paths += _paths(data.action, data.action_slot)
    for track in data.nla_tracks:
        for strip in track.strips:
            paths += _paths(strip.action, strip.action_slot)
    places = ("location", "rotation", "scale", "delta_")
    return any(path.startswith(places) for path in paths)


def _paths(action: Any, slot: Any) -> list[str]:
    if action is None or slot is None:
        return []
    bags = (strip.channelbag(slot) for layer in action.layers for strip in layer.strips)
    return [curve.data_path for bag in bags if bag is not None for curve in bag.fcurves]


# --------------------------------------------------------------------------- actions


def tag(context: Context, objects: Iterable[Object], role: str, *, separate: bool = False) -> EditReport:
    """Give objects a role (see `Tagging`), or remove all physics with "CLEAR". Raises InputError."""
    if role == "CLEAR":
        return clear_physics(objects)
    return Tagging(context.evaluated_depsgraph_get(), objects, role, separate=separate).apply()


def tag_by_name(
    context: Context, pattern: str, role: str, collection: str = "", *, match_case: bool = False
) -> EditReport:
    """Give a role to objects of the scene, or of a collection, by a pattern of names (*, ?). Raises InputError."""
    if not pattern.strip():
        raise InputError("No name is given; type one, with * for any text")
    candidates = _objects_of(collection) if collection else list(context.scene.objects)
    wanted = pattern if match_case else pattern.lower()
    matching = [obj for obj in candidates if fnmatchcase(obj.name if match_case else obj.name.lower(), wanted)]
    if not matching:
        raise InputError(phrase(_NO_MATCH_IN if collection else _NO_MATCH, collection=collection, pattern=pattern))
    outcome = tag(context, matching, role)
    found_text = phrase("{objects} like '{pattern}'", objects=counted(len(matching), "object"), pattern=pattern)
    outcome.text = joined(". ", (found_text, outcome.text))
    return outcome


def tag_collection(context: Context, name: str, role: str) -> EditReport:
    """Give a role to all objects of a collection and of its child collections. Raises InputError."""
    if not name:
        raise InputError("No collection is chosen; choose one")
    objects = _objects_of(name)
    if not objects:
        raise InputError(phrase("There are no objects in the collection '{name}'; choose another", name=name))
    outcome = tag(context, objects, role)
    found_text = phrase("{objects} in '{name}'", objects=counted(len(objects), "object"), name=name)
    outcome.text = joined(". ", (found_text, outcome.text))
    return outcome


def _objects_of(collection: str) -> list[Any]:
    source = bpy.data.collections.get(collection)
    if source is None:
        raise InputError(phrase("There is no collection '{name}'; choose one of the file", name=collection))
    return list(source.all_objects)


def describe(context: Context, role: str) -> str:
    """Sentence about what giving the selection a role would do; empty if nothing is selected."""
    objects = getattr(context, "selected_objects", None)
    if not objects:
        return ""
    planned = Tagging(context.evaluated_depsgraph_get(), objects, role)
    return planned.text(False) if planned.steps else joined(". ", planned.refusals())
