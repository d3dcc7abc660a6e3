# SPDX-License-Identifier: GPL-3.0-or-later
"""Make objects dynamic, static, kinematic or colliders; choose colliders for meshes; make groups; remove physics."""

from __future__ import annotations

import hashlib
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..bridge import mesh as meshes
from ..bridge import props, vendor_rows
from ..bridge.roles import applies, is_body, is_moved
from ..core import mass, paths, primitives
from ..core.errors import InputError
from ..core.hull import convex_hull
from ..core.primitives import Primitive
from ..core.schemas import usd_geom
from ..core.words import NAMED, and_more, counted, joined, named, phrase

#: A mesh that fills at least this fraction of its convex hull collides as its hull.
CONVEX = 0.95
#: Meshes with more triangles are not measured, so that a click or a tooltip stays fast.
DENSE_TRIANGLES = 20_000
#: With more points, a hull is approximated by the points that are extreme in as many directions.
HULL_POINTS = 500
_TRIANGLES = ("none", "meshSimplification")
_WORDS: dict[type[usd_geom.Gprim], str] = {
    usd_geom.Cube: "a box", usd_geom.Sphere: "a sphere", usd_geom.Cylinder: "a cylinder", usd_geom.Cone: "a cone",
    usd_geom.Capsule: "a capsule",
}  # fmt: skip
#: All physics properties of an object, without the remembered prim of an import. An object has `vendor` only if vendor
#: schemas are declared.
PHYSICS_PARTS = (
    "rigid_body", "mass", "colliders", "joint", "articulation_root", "filtered_pairs", "collision_groups",
    "physics_material", "physics_material_path", "vendor",
)  # fmt: skip
_INDICES = ("active_collider_index", "active_group_index")

#: Sentences about objects that are left out; {names} is replaced by their names.
LINKED = "Linked objects cannot be edited; make library overrides of them first: {names}"
_JOINT = "Joints are not bodies and do not collide; select the objects that they join instead of {names}"
_NOTHING = "There are no faces to collide with in {names}; select meshes, or Empties with meshes below them"
_LINES = "Curves and surfaces are exported without faces; convert to meshes (Object > Convert): {names}"
_PLANE = "An infinite plane cannot move; choose another collider shape for {names} first"
_HAS = "There already is a collider on {names}"
_CHANGED = "Solvers do not move triangle meshes well, so the approximation was changed for {names}"
_ANIMATED = "A dynamic body ignores its animation; make {names} kinematic to keep it"
_BARE = "A body needs a collider or a mass; give one to {names}"
_CARRIED = "Objects below a rigid body are part of it and move with it: {names}"
_NO_MATCH = "No object in the scene matches '{pattern}'; use * for any text and ? for any character"
_NO_MATCH_IN = (
    "No object in the collection '{collection}' matches '{pattern}'; use * for any text and ? for any character"
)
_LINKED_SCENE = "The scene '{name}' is linked and cannot get a collision group; work in a scene of this file"
_MADE = {
    "DYNAMIC": "Made {objects} dynamic", "STATIC": "Made {objects} static", "KINEMATIC": "Made {objects} kinematic",
}  # fmt: skip
_MAKE = {
    "DYNAMIC": "Make {objects} dynamic", "STATIC": "Make {objects} static", "KINEMATIC": "Make {objects} kinematic",
}  # fmt: skip
_FROM_LIBRARY = "The physics comes from a library file and has to be removed there: {names}"

Floats = NDArray[np.float64]


def sentences(left_out: dict[str, list[str]]) -> list[str]:
    """One sentence per reason to leave objects out. left_out: names of the objects by sentence with {names}."""
    return [phrase(text, names=named(names)) for text, names in left_out.items() if names]


@dataclass(slots=True)
class EditReport:
    """text: what was done, as a sentence. notes: further sentences for the user."""

    text: str
    notes: list[str] = field(default_factory=list)
    #: Names of the objects that were written to.
    objects: list[str] = field(default_factory=list)


# --------------------------------------------------------------------------- colliders for meshes


@dataclass(frozen=True, slots=True)
class ColliderChoice:
    """shape, approximation: values of the collider's properties; an empty approximation is not set.

    words: the collider in words. reason: why it was chosen, as a clause.
    """

    shape: str
    approximation: str
    words: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Form:
    """Form of a mesh. fill: fraction of its convex hull that it fills; 0 if `problem` prevents measuring it."""

    primitive: Primitive | None = None
    fill: float = 0.0
    problem: str = ""


#: Cache of forms by a hash of the mesh, in order of last use.
_KNOWN: OrderedDict[bytes, _Form] = OrderedDict()
_KNOWN_MESHES = 128


def choose(
    obj: Any, role: str, depsgraph: Any, *, moves: bool | None = None, forms: dict[str, _Form | None] | None = None
) -> ColliderChoice | None:
    """The best collider for an object in a role; None if it has no faces.

    moves: whether the solver will move it; None to derive it from the role and the bodies above. forms: cache of forms
    by mesh, shared by the objects of one operation.
    """
    if moves is None:
        moves = role == "DYNAMIC" or (role != "KINEMATIC" and is_moved(obj.parent if role == "STATIC" else obj))
    evaluated = obj.evaluated_get(depsgraph)
    forms = {} if forms is None else forms
    key = _mesh_key(obj)
    if key not in forms:
        forms[key] = None if is_written_as_lines(obj) else _form_of(evaluated)
    form = forms[key]
    if form is None:
        return None
    if form.primitive is not None and form.primitive.survives(np.array(evaluated.matrix_world)):
        return ColliderChoice("AUTO", "", _WORDS[form.primitive.kind], "its mesh is one")
    if not moves:
        return ColliderChoice("MESH", "none", "its triangles", phrase("it is no primitive and no solver moves it"))
    if form.fill >= CONVEX:
        is_convex = form.fill > 0.999
        nearly = phrase("it is nearly convex ({fill:.0%} of its hull)", fill=form.fill)
        reason = phrase("it is convex") if is_convex else nearly
        return ColliderChoice("MESH", "convexHull", "its convex hull", reason)
    concave = phrase("it is concave ({fill:.0%} of its hull)", fill=form.fill)
    reason = phrase(form.problem) if form.problem else concave
    return ColliderChoice("MESH", "convexDecomposition", "a convex decomposition", reason)


def _mesh_key(obj: Any) -> str:
    """Cache key of an object's form: its mesh, or the object itself if modifiers or shape keys change the mesh."""
    if obj.data is None or obj.modifiers or getattr(obj.data, "shape_keys", None) is not None:
        return f"object {obj.name_full}"
    return f"{obj.type} {obj.data.name_full}"


def is_written_as_lines(obj: Any) -> bool:
    """True if Blender's USD export writes an object as curves, without faces, even if it is shown with faces."""
    return obj.type == "CURVE" or (obj.type == "SURFACE" and bpy.app.version < (5, 2, 0))


def exports_faces(obj: Any, depsgraph: Any) -> bool:
    """True if an object is exported with faces, so that its mesh can collide."""
    if is_written_as_lines(obj) or obj.type not in meshes.GEOMETRY_TYPES:
        return False
    evaluated = obj.evaluated_get(depsgraph)
    if isinstance(evaluated.data, bpy.types.Mesh):
        return len(evaluated.data.polygons) > 0
    return meshes.has_faces(evaluated)


def _form_of(evaluated: Any) -> _Form | None:
    """Form of an evaluated object; None if it has no faces. Cached by the content of the mesh."""
    if evaluated.type not in meshes.GEOMETRY_TYPES:
        return None
    if isinstance(evaluated.data, bpy.types.Mesh):
        # Counts are known without reading any vertex.
        if not len(evaluated.data.polygons):
            return None
        if _is_dense(len(evaluated.data.loops), len(evaluated.data.polygons)):
            return _Form(problem="it has too many triangles to measure")
    coordinates, corners, sizes = meshes.surface_of(evaluated)
    if not len(sizes):
        return None
    if _is_dense(len(corners), len(sizes)):
        return _Form(problem="it has too many triangles to measure")
    digest = hashlib.blake2b(coordinates.tobytes())
    digest.update(corners.tobytes() + sizes.tobytes())
    key = digest.digest()
    found = _KNOWN.get(key)
    if found is None:
        found = _KNOWN[key] = _form(coordinates.reshape(-1, 3).astype(float), corners, sizes)
        if len(_KNOWN) > _KNOWN_MESHES:
            _KNOWN.popitem(last=False)
    _KNOWN.move_to_end(key)
    return found


def _is_dense(corners: int, faces: int) -> bool:
    return corners - 2 * faces > DENSE_TRIANGLES


def _form(points: Floats, corners: NDArray[np.int32], sizes: NDArray[np.int32]) -> _Form:
    found = primitives.recognise(points)
    if found is not None and primitives.is_closed(points, corners, sizes):
        return _Form(found, 1.0)
    used = np.unique(corners)
    hull = _hull_volume(points[used])
    if hull <= 0.0:
        return _Form(problem="it is flat")
    solid = mass.solid(points, _fans(corners, sizes))
    if solid is None:
        return _Form(problem="it is not closed, so it has no volume")
    return _Form(None, min(1.0, solid.volume / hull))


def _fans(corners: NDArray[np.int32], sizes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Fan triangles (m, 3) of faces. They may overlap in concave faces, but their signed volumes still add up."""
    starts = np.cumsum(sizes) - sizes
    counts = np.maximum(sizes - 2, 0)
    first = np.repeat(starts, counts)
    step = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1).astype(np.int64)


def _hull_volume(points: Floats) -> float:
    """Volume of the convex hull of points (n, 3); 0 if coplanar. Above HULL_POINTS, a few percent too small."""
    size = np.ptp(points, axis=0)
    if len(points) > HULL_POINTS and size.min() > 0:
        unit = (points - points.mean(axis=0)) / size
        points = points[np.unique((unit @ _directions(HULL_POINTS).T).argmax(axis=0))]
    faces = convex_hull(points)
    hull = None if faces is None else mass.solid(points, faces)
    return 0.0 if hull is None else hull.volume


def _directions(count: int) -> Floats:
    """Unit vectors (n, 3), spread evenly over the sphere: a Fibonacci spiral."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    across = np.sqrt(1.0 - height**2)
    return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)


# --------------------------------------------------------------------------- plan


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

    def __init__(self, depsgraph: Any, objects: Iterable[Any], role: str, *, separate: bool = False) -> None:
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
        self._forms: dict[str, _Form | None] = {}
        chosen = [obj for obj in objects if self._can_be(obj)]
        if separate and self.has_body:
            chosen = [obj for obj in chosen if self.has_faces(obj)] or chosen
        self._chosen = {obj.name_full for obj in chosen}
        if self.has_body:
            chosen = [obj for obj in chosen if not self._is_part(obj)]
        self._owners = {obj.name_full for obj in chosen}
        for obj in chosen:
            self._add(obj)

    # ------------------------------------------------------------------ objects

    def _can_be(self, obj: Any) -> bool:
        if obj.library is not None:
            self.left_out[LINKED].append(obj.name)
        elif obj.type == "EMPTY" and applies(obj, "joint"):
            self.left_out[_JOINT].append(obj.name)
        else:
            return True
        return False

    def _is_part(self, obj: Any) -> bool:
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

    def has_faces(self, obj: Any) -> bool:
        key = obj.name_full
        if key not in self._faces:
            self._faces[key] = exports_faces(obj, self.depsgraph)
        return self._faces[key]

    def _below(self, obj: Any) -> list[Any]:
        """An object and the visible or chosen objects below it, down to other bodies."""
        found = [obj]
        for child in self._children.get(obj.name_full, ()):
            if not self._will_be_body(child) and (child.name_full in self._chosen or child.visible_get()):
                found += self._below(child)
        return found + self._instanced(obj)

    def _instanced(self, obj: Any) -> list[Any]:
        """The objects that a collection instance shows, except other bodies, what is below them, and joints."""
        if obj.type != "EMPTY" or obj.instance_type != "COLLECTION" or obj.instance_collection is None:
            return []
        found = []
        for part in obj.instance_collection.all_objects:
            above: Any = part
            while above is not None and not is_body(above):
                above = above.parent
            if above is None and not applies(part, "joint"):
                self._instancers[part.name_full] = obj
                found.append(part)
        return found

    def _will_be_body(self, obj: Any) -> bool:
        if obj.name_full in self._owners and self.role != "COLLIDER":
            return self.has_body
        return is_body(obj)

    def _add(self, obj: Any) -> None:
        below = self._below(obj)
        lines = [part.name for part in below if is_written_as_lines(part) and not len(part.usdphys.colliders)]
        candidates = [obj] if self.has_faces(obj) else [part for part in below if self.has_faces(part)]
        colliding = [part for part in below if len(part.usdphys.colliders)]
        if self.role == "COLLIDER":
            parts = [part for part in candidates if not len(part.usdphys.colliders)]
            if not parts:
                self.left_out[_HAS if candidates else _LINES if lines else _NOTHING].append(obj.name)
                return
        else:
            # Existing colliders are kept as the user made them.
            parts = [] if colliding else candidates
            is_empty_body = (obj.type == "EMPTY" and self.has_body) or is_body(obj)
            if not parts and not colliding and not is_empty_body:
                self.left_out[_LINES if lines else _NOTHING].append(obj.name)
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

    def choice(self, part: Any) -> ColliderChoice | None:
        """The collider that an object gets; None if it has no faces."""
        key = part.name_full
        if key not in self._choices:
            self._choices[key] = choose(part, self.role, self.depsgraph, moves=self._will_move(part), forms=self._forms)
        return self._choices[key]

    def _will_move(self, obj: Any) -> bool:
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

    def _words(self, part: Any) -> str:
        choice = self.choice(part)
        if choice is None:
            return phrase("nothing")
        if choice.shape == "AUTO":
            return phrase(choice.words)
        return phrase("{shape} because {reason}", shape=phrase(choice.words), reason=choice.reason)

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
        found = []
        for step in self.steps:
            for part in step.below:
                if part.library is not None:
                    continue
                for index, item in enumerate(part.usdphys.colliders):
                    collides = item.shape == "MESH" or (item.shape == "AUTO" and item.is_property_set("approximation"))
                    if collides and not item.is_geometry and item.approximation in _TRIANGLES:
                        choice = choose(part, "DYNAMIC", self.depsgraph, forms=self._forms)
                        if choice is not None:
                            found.append((part, index, choice.approximation or "convexHull"))
        return found

    def _write_body(self, obj: Any) -> None:
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


def write_collider(obj: Any, choice: ColliderChoice) -> None:
    """Add a collider to an object. Shape AUTO and an empty approximation are not set, but left at their defaults."""
    item = obj.usdphys.colliders.add()
    if choice.shape != "AUTO":
        item.shape = choice.shape
    if choice.approximation:
        item.approximation = choice.approximation


def _is_carried(obj: Any) -> bool:
    while obj is not None:
        if is_body(obj):
            return True
        obj = obj.parent
    return False


def _has_mass(obj: Any) -> bool:
    return applies(obj, "mass") and obj.usdphys.mass.mass > 0.0


def _take_back(obj: Any, group: Any, name: str, value: bool = False) -> None:
    """Unset a flag, or on a library override set it to `value`: unsetting would bring back the library's value."""
    if obj.override_library is None:
        group.property_unset(name)
    else:
        setattr(group, name, value)


def is_animated(obj: Any) -> bool:
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


def tag(context: Any, objects: Iterable[Any], role: str, *, separate: bool = False) -> EditReport:
    """Give objects a role (see `Tagging`), or remove all physics with "CLEAR". Raises InputError."""
    if role == "CLEAR":
        return clear_physics(objects)
    return Tagging(context.evaluated_depsgraph_get(), objects, role, separate=separate).apply()


def tag_by_name(context: Any, pattern: str, role: str, collection: str = "", *, match_case: bool = False) -> EditReport:
    """Give a role to objects of the scene, or of a collection, by a pattern of names (*, ?). Raises InputError."""
    if not pattern.strip():
        raise InputError("No name is given; type one, with * for any text")
    candidates = _objects_of(collection) if collection else list(context.scene.objects)
    wanted = pattern if match_case else pattern.lower()
    found = [obj for obj in candidates if fnmatchcase(obj.name if match_case else obj.name.lower(), wanted)]
    if not found:
        raise InputError(phrase(_NO_MATCH_IN if collection else _NO_MATCH, collection=collection, pattern=pattern))
    outcome = tag(context, found, role)
    found_text = phrase("{objects} like '{pattern}'", objects=counted(len(found), "object"), pattern=pattern)
    outcome.text = joined(". ", (found_text, outcome.text))
    return outcome


def tag_collection(context: Any, name: str, role: str) -> EditReport:
    """Give a role to all objects of a collection and of its child collections. Raises InputError."""
    if not name:
        raise InputError("No collection is chosen; choose one")
    found = _objects_of(name)
    if not found:
        raise InputError(phrase("There are no objects in the collection '{name}'; choose another", name=name))
    outcome = tag(context, found, role)
    found_text = phrase("{objects} in '{name}'", objects=counted(len(found), "object"), name=name)
    outcome.text = joined(". ", (found_text, outcome.text))
    return outcome


def _objects_of(collection: str) -> list[Any]:
    found = bpy.data.collections.get(collection)
    if found is None:
        raise InputError(phrase("There is no collection '{name}'; choose one of the file", name=collection))
    return list(found.all_objects)


def describe(context: Any, role: str) -> str:
    """Sentence about what giving the selection a role would do; empty if nothing is selected."""
    objects = getattr(context, "selected_objects", None)
    if not objects:
        return ""
    planned = Tagging(context.evaluated_depsgraph_get(), objects, role)
    return planned.text(False) if planned.steps else joined(". ", planned.refusals())


def add_group(scene: Any, objects: Iterable[Any], name: str, *, ignores_itself: bool = False) -> EditReport:
    """Make a collision group with these members. A taken name gets a number. Raises InputError."""
    if scene.library is not None:
        raise InputError(phrase(_LINKED_SCENE, name=scene.name))
    left_out: dict[str, list[str]] = defaultdict(list)
    members = []
    for obj in objects:
        if obj.library is not None:
            left_out[LINKED].append(obj.name)
        elif obj.type == "EMPTY" and applies(obj, "joint"):
            left_out[_JOINT].append(obj.name)
        else:
            members.append(obj)
    notes = sentences(left_out)
    if not members:
        raise InputError(joined(". ", notes or ["There are no objects to make a group of; select some"]))
    free = _free_group_name(name)
    colliding = {obj.name_full for obj in bpy.data.objects if len(obj.usdphys.colliders)}  # type: ignore[attr-defined]
    reached = set()
    for key in colliding:
        above: Any = bpy.data.objects.get(key)
        while above is not None and above.name_full not in reached:
            reached.add(above.name_full)
            above = above.parent
    idle = [obj.name for obj in members if obj.name_full not in reached and obj.instance_type != "COLLECTION"]
    group = scene.usdphys.collision_groups.add()
    group.name = free
    if ignores_itself:
        group.filtered_groups.add().name = free
    scene.usdphys.active_group_index = len(scene.usdphys.collision_groups) - 1
    for obj in members:
        obj.usdphys.collision_groups.add().name = free
    if idle:
        notes.append(phrase("Groups affect colliders only, and there are none on {names}", names=named(idle)))
    number = counted(len(members), "object")
    text = phrase("Made the collision group '{group}' of {objects}", group=free, objects=number)
    return EditReport(text, notes, [obj.name for obj in members])


def _free_group_name(name: str) -> str:
    """The name, with a number appended if a group of any scene or a membership uses it."""
    owners: list[Any] = [*bpy.data.scenes, *bpy.data.objects]
    taken = {item.name for owner in owners for item in owner.usdphys.collision_groups}
    taken |= {item.name for obj in bpy.data.objects for collider in obj.usdphys.colliders  # type: ignore[attr-defined]
              for item in collider.collision_groups}  # fmt: skip
    return paths.free(name.strip() or "Group", taken.__contains__, "{}", 2)


# --------------------------------------------------------------------------- removal


def clear_physics(objects: Iterable[Any]) -> EditReport:
    """Remove all `PHYSICS_PARTS` of objects. Raises InputError, with nothing changed, if there are none."""
    left_out: dict[str, list[str]] = defaultdict(list)
    chosen = []
    for obj in objects:
        if not has_any(obj):
            continue
        override = obj.override_library
        if obj.library is not None:
            left_out[LINKED].append(obj.name)
        elif override is not None and override.reference is not None and props.is_physical(override.reference):
            left_out[_FROM_LIBRARY].append(obj.name)
        else:
            chosen.append(obj)
    notes = sentences(left_out)
    if not chosen:
        raise InputError(joined(". ", notes or ["There is no physics on these objects; select some that have any"]))
    counts = {"body": 0, "collider": 0, "joint": 0, "mass": 0, "articulation root": 0, "group membership": 0,
              "filtered pair": 0, "vendor schema": 0}  # fmt: skip
    for obj in chosen:
        physics = obj.usdphys
        counts["body"] += applies(obj, "rigid_body")
        counts["collider"] += len(physics.colliders)
        counts["joint"] += applies(obj, "joint")
        counts["mass"] += applies(obj, "mass")
        counts["articulation root"] += applies(obj, "articulation_root")
        counts["group membership"] += len(physics.collision_groups)
        if applies(obj, "filtered_pairs"):
            counts["filtered pair"] += len(physics.filtered_pairs.filtered_pairs)
        if "vendor" in physics.keys():
            counts["vendor schema"] += len(vendor_rows.applied_names(physics))
    names = {obj.name_full for obj in chosen}
    for obj in chosen:
        for part in (*PHYSICS_PARTS, *_INDICES):
            if part in obj.usdphys.bl_rna.properties:
                obj.usdphys.property_unset(part)
    joints = [obj.name for obj in bpy.data.objects if _joins(obj, names)]
    if joints:
        notes.append(phrase("These joints hold objects that now have no physics: {names}", names=named(joints)))
    text: str = phrase("Removed the physics of {objects}", objects=counted(len(chosen), "object"))
    listed = [counted(number, what) for what, number in counts.items() if number]
    if listed:
        text = joined(": ", (text, joined(", ", listed)))
    return EditReport(text, notes, [obj.name for obj in chosen])


def _joins(obj: Any, names: set[str]) -> bool:
    if not applies(obj, "joint"):
        return False
    joint = obj.usdphys.joint
    return any(body is not None and body.name_full in names for body in (joint.body0, joint.body1))


def has_any(obj: Any) -> bool:
    """True if any physics property of an object is set."""
    physics = obj.usdphys
    return any(part in physics.bl_rna.properties and _is_set(physics, part) for part in PHYSICS_PARTS)


def _is_set(group: Any, name: str) -> bool:
    if not group.is_property_set(name):
        return False
    value = getattr(group, name)
    if isinstance(value, bpy.types.PropertyGroup):
        return any(_is_set(value, item.identifier) for item in value.bl_rna.properties if item.identifier != "rna_type")
    kind = group.bl_rna.properties[name].type
    if kind == "COLLECTION":
        return len(value) > 0
    return value is not None and value != "" if kind in ("POINTER", "STRING") else True
