# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints made from selected objects, and what a person does to them: frames, bodies, limits."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import mathutils
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from ..bridge import mesh as meshes
from ..bridge import physics_collections, props, scene_read, scene_write
from ..bridge.naming import prim_name
from ..bridge.roles import applies, is_body
from ..core import frames
from ..core.errors import InputError
from ..core.frames import Matrix
from ..core.schemas import usd_physics

Array = NDArray[np.float64]

#: Size of a joint's axes as a multiple of what an import gives joints.
_SHOWN = 5.0
#: Of the size of two bodies: points that are as near are equally near.
_TIE = 1e-5
#: Pairs of edges above which meshes are so dense that their vertices are near enough.
_MOST_PAIRS = 30_000_000
#: Relative difference, and radians, up to which an object still stands where an imported frame is.
_IN_PLACE = 1e-4
#: Angles and lengths below this are noise of Blender's 32 bits.
_NOISE = 1e-6
_SIDE = re.compile(r"^(?P<stem>.*?)(?P<side>[._ -](?:l|r|left|right)(?:\.\d+)?)$", re.IGNORECASE)
_WITH_AXIS = frozenset(
    kind for kind, cls in props.JOINT_TYPES.items() if any(item.field == "axis" for item in cls.attributes)
)
_ANGULAR_DRIVE = props.AngularDriveProperties
_DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


@dataclass(frozen=True, slots=True)
class Choice:
    """How joints are made.

    kind: of props.JOINT_TYPES. place: CURSOR, MIDPOINT, CHILD_ORIGIN, CLOSEST, FACE, or AUTO: CLOSEST between two
    objects, CURSOR for one. axis: AUTO, CURSOR, or an axis
    of the world (WORLD_X) or of the second body (BODY_X). makes_bodies: objects without physics get what the joint
    needs. moves_first: the first body, too, becomes a dynamic one.
    """

    kind: str = "REVOLUTE"
    place: str = "AUTO"
    axis: str = "AUTO"
    makes_bodies: bool = True
    moves_first: bool = False


class Face(NamedTuple):
    """center, normal (3,) of a picked face in the world, Blender units."""

    center: Array
    normal: Array


# --------------------------------------------------------------------------- selection


#: True for an Empty that is there to be a joint: to move it moves nothing else.
is_bare = scene_read._is_bare


def is_joint(obj: Any) -> bool:
    return applies(obj, "joint")


def bodies_of(context: Any) -> list[tuple[Any, Any]]:
    """(body 0, body 1) of each joint: the active object with every other one; (None, object) where it is alone."""
    chosen, active = list(context.selected_objects), context.active_object
    if not chosen:
        raise InputError("Select the objects to join, the active one is body 0; or one, to join it to the world.")
    if len(chosen) == 1:
        return [(None, chosen[0])]
    if active not in chosen:
        raise InputError("None of the selected objects is active; click the one that is to be body 0.")
    others = sorted((obj for obj in chosen if obj != active), key=lambda obj: _natural(obj.name))
    return [(active, obj) for obj in others]


def group_of(context: Any) -> tuple[Any, list[Any]]:
    """(active object, other selected objects)."""
    active = context.active_object
    others = [obj for obj in context.selected_objects if obj != active]
    if active is None or active not in context.selected_objects or not others:
        raise InputError("Select several objects; the active one is the first.")
    return active, others


def joints_of(context: Any) -> list[Any]:
    """The selected joints; where only bodies are selected, the joints that hold them as body 1, else as body 0."""
    chosen = list(context.selected_objects)
    found = [obj for obj in chosen if is_joint(obj)]
    if found:
        return found
    held: list[Any] = [obj for obj in context.scene.objects if is_joint(obj)]
    for side in (1, 0):
        found = [obj for obj in held if getattr(obj.usdphys.joint, f"body{side}") in chosen]
        if found:
            return found
    raise InputError("No joint is selected, and no joint holds what is selected; select a joint.")


def editable(objects: Iterable[Any]) -> tuple[list[Any], list[str]]:
    """(those that can be changed, a note about each of the others)."""
    own, notes = [], []
    for obj in objects:
        if obj.library is None:
            own.append(obj)
        else:
            notes.append(f"'{obj.name}' is linked and was left alone; make a library override of it first.")
    if not own and notes:
        raise InputError(notes[0])
    return own, notes


def picked_face(context: Any) -> Face:
    """The active face of the active mesh, or its only selected one."""
    obj = context.active_object
    if obj is None or obj.type != "MESH":
        raise InputError("The active object is no mesh; make the mesh active of which a face is to be the place.")
    chosen = _edited_face(obj) if obj.mode == "EDIT" else _kept_face(obj)
    if chosen is None:
        raise InputError(f"'{obj.name}' has no picked face; select one face in Edit Mode and try again.")
    world = np.array(obj.matrix_world)
    normal = np.linalg.solve(world[:3, :3].T, chosen[1]) if frames.determinant(world) else np.zeros(3)
    length = float(np.linalg.norm(normal))
    if not length:
        raise InputError(f"The picked face of '{obj.name}' has no area, so it has no axis; pick another.")
    return Face(world[:3, :3] @ chosen[0] + world[:3, 3], normal / length)


def _edited_face(obj: Any) -> tuple[Array, Array] | None:
    import bmesh

    mesh = bmesh.from_edit_mesh(obj.data)
    face: Any = mesh.faces.active
    if face is None or not face.select:
        chosen = [face for face in mesh.faces if face.select]
        if len(chosen) != 1:
            return None
        face = chosen[0]
    return np.array(face.calc_center_median()), np.array(face.normal)


def _kept_face(obj: Any) -> tuple[Array, Array] | None:
    polygons = obj.data.polygons
    chosen = np.zeros(len(polygons), bool)
    polygons.foreach_get("select", chosen)
    index = polygons.active
    # A new mesh has all of its faces selected, which is no choice.
    if chosen.sum() == 1:
        index = int(chosen.argmax())
    elif not 0 <= index < len(chosen) or not chosen[index] or chosen.all():
        return None
    corners = np.array([obj.data.vertices[number].co for number in polygons[index].vertices])
    return corners.mean(axis=0), np.array(polygons[index].normal)


# --------------------------------------------------------------------------- making joints


def make_body(parts: Sequence[Any], *, moves: bool) -> None:
    """Give an object, first of its parts, a collider where none has one; a body that moves, too, is a rigid body.

    What a collider is made of is left to the automatic choice.
    """
    if moves:
        parts[0].usdphys.rigid_body.is_applied = True
    if not any(len(part.usdphys.colliders) for part in parts):
        for part in parts:
            if part.type in meshes.GEOMETRY_TYPES:
                part.usdphys.colliders.add().shape = "AUTO"


class JointMaker:
    """Makes joints between objects. All that can go wrong is found by `plan`; `make` then writes."""

    def __init__(self, context: Any, choice: Choice, face: Face | None = None) -> None:
        self.context, self.choice, self.face = context, choice, face
        self.depsgraph = context.evaluated_depsgraph_get()
        self.planned: list[tuple[Any, Any, Matrix, str]] = []
        #: By name: (object, whether it becomes a body that moves).
        self.to_tag: dict[str, tuple[Any, bool]] = {}
        self.below: dict[str, list[Any]] = {}
        for obj in bpy.data.objects:
            if obj.parent is not None:
                self.below.setdefault(obj.parent.name_full, []).append(obj)
        self._surfaces: dict[str, tuple[Array, Array]] = {}

    def world(self, obj: Any) -> Matrix:
        return world_of(obj, self.depsgraph)

    def parts(self, body: Any) -> list[Any]:
        """An object and what is below it and moves with it."""
        found = [body]
        for obj in found:
            found += [
                child for child in self.below.get(obj.name_full, ())
                if not is_joint(child) and not self.is_body(child)
            ]  # fmt: skip
        return found

    def is_body(self, obj: Any) -> bool:
        """True for what is, or is going to be, a rigid body."""
        return is_body(obj) or self.to_tag.get(obj.name_full, (obj, False))[1]

    # ------------------------------------------------------------------ planning

    def plan(self, body0: Any | None, body1: Any) -> None:
        """Note a joint between two objects; None is the world."""
        for body in (body0, body1):
            if body is None:
                continue
            if is_joint(body):
                raise InputError(f"'{body.name}' is a joint; select the objects that are to be joined.")
            if not abs(frames.determinant(self.world(body))) > 1e-18:
                raise InputError(f"'{body.name}' is scaled to nothing, so no joint can hold it; give it a scale.")
        if self.choice.makes_bodies:
            self.plan_bodies(body0, body1)
        where = self.choice.place
        if where == "AUTO":
            where = "CURSOR" if body0 is None else "CLOSEST"
        place, axis = self.orientation(body1, where)
        place[:3, 3] = self.position(body0, body1, where)
        self.planned.append((body0, body1, place, axis))

    def plan_bodies(self, body0: Any | None, body1: Any) -> None:
        """Note what becomes a body: the second moves, the first holds still unless it does already."""
        carrier0, carrier1 = self.carrier(body0), self.carrier(body1)
        if carrier1 is None:
            self.note_tag(body1, moves=True)
        elif carrier1 in (body0, carrier0) and carrier1 != body1:
            # What is part of the other body so far can only move against it as a body of its own.
            self.note_tag(body1, moves=True)
        if body0 is None:
            return
        if carrier0 is None:
            self.note_tag(body0, moves=self.choice.moves_first and not self.is_static(body0))
        elif carrier0 == body1 and carrier0 != body0:
            self.note_tag(body0, moves=True)

    def note_tag(self, obj: Any, *, moves: bool) -> None:
        known = self.to_tag.get(obj.name_full)
        if known is not None and (known[1] or not moves):
            return
        parts = self.parts(obj)
        if not moves and any(len(part.usdphys.colliders) for part in parts):
            return
        for part in parts:
            if part.library is not None:
                raise InputError(
                    f"'{part.name}' is linked and is no rigid body; make a library override of it, or switch "
                    "Make Bodies off."
                )  # fmt: skip
        self.to_tag[obj.name_full] = (obj, moves)

    def is_static(self, obj: Any) -> bool:
        return any(len(part.usdphys.colliders) for part in self.parts(obj))

    def carrier(self, obj: Any | None) -> Any | None:
        """The object or the nearest one above that is, or is going to be, a rigid body."""
        while obj is not None:
            if self.is_body(obj):
                return obj
            obj = obj.parent
        return None

    def orientation(self, body1: Any, where: str) -> tuple[Matrix, str]:
        """Frame (4, 4) at the origin, and the joint's axis in it."""
        axis = self.choice.axis
        if axis == "AUTO" and where == "FACE":
            assert self.face is not None
            turn = mathutils.Vector(self.face.normal.tolist()).to_track_quat("Z", "Y")
            return frames.transform((0, 0, 0), np.array(turn.to_matrix())), "Z"
        if axis == "CURSOR" or (axis == "AUTO" and where == "CURSOR"):
            return frames.transform((0, 0, 0), frames.rotation_of(self.context.scene.cursor.matrix)), "Z"
        if axis.startswith("BODY"):
            return frames.transform((0, 0, 0), frames.rotation_of(self.world(body1))), axis[-1]
        return np.eye(4), axis[-1] if axis != "AUTO" else "Z"

    def position(self, body0: Any | None, body1: Any, where: str) -> Array:
        if where == "CURSOR":
            return np.array(self.context.scene.cursor.location)
        if where == "FACE":
            assert self.face is not None
            return self.face.center
        if where == "CHILD_ORIGIN":
            return self.world(body1)[:3, 3].copy()
        if where == "MIDPOINT":
            centers = [self.center(body) for body in (body0, body1) if body is not None]
            return np.asarray(np.mean(centers, axis=0))
        if body0 is None:
            raise InputError(
                f"'{body1.name}' alone has no closest point to another surface; select a second object, or choose "
                "another place."
            )  # fmt: skip
        return closest_point(self.surface(body0), self.surface(body1))

    def center(self, body: Any) -> Array:
        """Centre of the bounding box in the world; that of an object without extent is its origin."""
        corners = []
        for part in self.parts(body):
            if part.type in meshes.GEOMETRY_TYPES:
                box = np.array(part.evaluated_get(self.depsgraph).bound_box)
                world = self.world(part)
                corners.append(box @ world[:3, :3].T + world[:3, 3])
        if not corners:
            return self.world(body)[:3, 3]
        points = np.concatenate(corners)
        return np.asarray((points.min(axis=0) + points.max(axis=0)) / 2)

    def surface(self, body: Any) -> tuple[Array, Array]:
        """Points (n, 3) in the world and triangles (m, 3); the origin where there is no surface."""
        known = self._surfaces.get(body.name_full)
        if known is not None:
            return known
        points, triangles, count = [], [], 0
        for part in self.parts(body):
            if part.type not in meshes.GEOMETRY_TYPES:
                continue
            mesh = meshes.read_mesh(part.evaluated_get(self.depsgraph), 1.0)
            if mesh is not None:
                world = self.world(part)
                points.append(mesh.points @ world[:3, :3].T + world[:3, 3])
                triangles.append(mesh.triangles + count)
                count += len(mesh.points)
        if points:
            known = np.concatenate(points), np.concatenate(triangles)
        else:
            known = self.world(body)[None, :3, 3], np.zeros((0, 3), np.int64)
        self._surfaces[body.name_full] = known
        return known

    # ------------------------------------------------------------------ making

    def make(self) -> list[Any]:
        """The joints, selected, the last of them active."""
        for obj, moves in self.to_tag.values():
            make_body(self.parts(obj), moves=moves)
        made = [self.make_one(*plan) for plan in self.planned]
        for obj in list(self.context.selected_objects):
            obj.select_set(False)
        layer = self.context.view_layer
        for obj in made:
            # The collection of the joints may be switched off.
            if obj.name in layer.objects:
                obj.select_set(True)
                layer.objects.active = obj
        return made

    def make_one(self, body0: Any | None, body1: Any, place: Matrix, axis: str) -> Any:
        anchor = body1 if body0 is None else body0
        obj: Any = bpy.data.objects.new(joint_name(body1, anchor), None)
        root = self.context.scene.collection
        inside = {root, *root.children_recursive}
        home = next(
            (
                home for home in body1.users_collection
                if home in inside and home.library is None and home.override_library is None
            ),
            root,
        )  # fmt: skip
        home.objects.link(obj)
        physics_collections.move(obj, physics_collections.JOINTS)
        hang(obj, anchor, self.world(anchor), place)
        shown = [part for body in (body0, body1) if body is not None for part in self.parts(body)]
        physics_collections.show_joint(obj, _SHOWN * physics_collections.joint_size(shown))
        joint = obj.usdphys.joint
        joint.is_applied = True
        joint.type = self.choice.kind
        if body0 is not None:
            joint.body0 = body0
        joint.body1 = body1
        if self.choice.kind in _WITH_AXIS:
            joint.axis = axis
        return obj


def joint_name(body1: Any, parent: Any) -> str:
    """Name of a joint of a body; "Arm Joint.L" for "Arm.L", so that it can be mirrored by its name."""
    found = _SIDE.match(body1.name)
    name = f"{found['stem']} Joint{found['side']}" if found else f"{body1.name} Joint"
    if parent.data is not None and prim_name(parent.data.name) == prim_name(name):
        # The mesh of the parent becomes a prim of that name.
        name = f"{name} Frame"
    return name


def hang(obj: Any, parent: Any | None, world: Matrix, place: Matrix) -> None:
    """Parent an object to one that stands at `world`, and put it at a place in the world, exactly."""
    obj.parent = parent
    obj.matrix_parent_inverse = mathutils.Matrix(np.linalg.inv(world).tolist())
    obj.matrix_basis = mathutils.Matrix(place.tolist())


def add_joint(context: Any, choice: Choice, face: Face | None = None) -> list[Any]:
    """Joints between the active object and the other selected ones, or of one object to the world."""
    maker = JointMaker(context, choice, face)
    for body0, body1 in bodies_of(context):
        maker.plan(body0, body1)
    return maker.make()


def add_chain(context: Any, choice: Choice, order: str) -> list[Any]:
    """Joints from the active object on, each to the next. order: NEAREST walks to the nearest, NAME goes by name."""
    active, others = group_of(context)
    maker = JointMaker(context, choice)
    chain = [active]
    if order == "NAME":
        chain = sorted([active, *others], key=lambda obj: _natural(obj.name))
        if chain[-1] == active:
            chain.reverse()
    else:
        centers = {obj.name_full: maker.center(obj) for obj in (active, *others)}
        left = list(others)
        while left:
            here = centers[chain[-1].name_full]
            apart = [float(np.linalg.norm(centers[obj.name_full] - here)) for obj in left]
            chain.append(left.pop(apart.index(min(apart))))
    for body0, body1 in itertools.pairwise(chain):
        maker.plan(body0, body1)
    return maker.make()


def _natural(name: str) -> list[tuple[int, str]]:
    """Key that sorts Link2 before Link10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def weld(context: Any, choice: Choice) -> list[Any]:
    """Fixed joints from the active object to all other selected ones."""
    active, others = group_of(context)
    maker = JointMaker(context, choice)
    for obj in sorted(others, key=lambda obj: _natural(obj.name)):
        maker.plan(active, obj)
    return maker.make()


# --------------------------------------------------------------------------- where two surfaces are closest


def closest_point(one: tuple[Array, Array], other: tuple[Array, Array]) -> Array:
    """Midpoint of the closest points of two surfaces; the middle of where they are equally close.

    A surface: points (n, 3) and triangles (m, 3); without triangles its points. Where they cut each other, the middle
    of the cut.
    """
    corners = np.concatenate([one[0], other[0]])
    tie = _TIE * max(float(np.linalg.norm(np.ptp(corners, axis=0))), 1e-9)
    found: list[tuple[Array, Array]] = [_crossings(one, other)]
    best = 0.0 if len(found[0][0]) else math.inf
    for first, second in ((one, other), (other, one)):
        pairs = _vertex_pairs(first[0], second, best + tie)
        found.append(pairs)
        best = min(best, float(pairs[1].min(initial=math.inf)))
    found.append(_edge_pairs(one, other, best + tie))
    places = np.concatenate([pair[0] for pair in found])
    distances = np.concatenate([pair[1] for pair in found])
    chosen = places[distances <= distances.min() + tie]
    return np.asarray((chosen.min(axis=0) + chosen.max(axis=0)) / 2)


def _tree(surface: tuple[Array, Array]) -> BVHTree:
    return BVHTree.FromPolygons(surface[0].tolist(), surface[1].tolist(), all_triangles=True)


def _vertex_pairs(points: Array, surface: tuple[Array, Array], within: float) -> tuple[Array, Array]:
    """(midpoints, distances) from points to the nearest place of a surface, as far as they are near enough to count."""
    if not len(surface[1]):
        apart = np.linalg.norm(points[:, None] - surface[0][None], axis=2)
        nearest = apart.argmin(axis=1)
        return (points + surface[0][nearest]) / 2, apart[np.arange(len(points)), nearest]
    tree = _tree(surface)
    places, distances = [], []
    for point in points.tolist():
        reach = within if math.isfinite(within) else 1e30
        location, _, _, distance = tree.find_nearest(point, reach)
        if location is None or distance is None:
            continue
        places.append((np.array(point) + np.array(location)) / 2)
        distances.append(distance)
        within = min(within, distance * (1 + _TIE) + 1e-9)
    return np.array(places).reshape(-1, 3), np.array(distances, float)


def _edges(surface: tuple[Array, Array]) -> tuple[Array, Array]:
    """Ends (n, 3), (n, 3) of the edges of triangles."""
    points, triangles = surface
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    return points[pairs[:, 0]], points[pairs[:, 1]]


def _near_box(edges: tuple[Array, Array], box: Array, within: float) -> tuple[Array, Array]:
    """The edges that can be within a distance of a box of points."""
    low, high = np.minimum(*edges), np.maximum(*edges)
    gap = np.maximum(0.0, np.maximum(low - box.max(axis=0), box.min(axis=0) - high))
    near = np.linalg.norm(gap, axis=1) <= within
    return edges[0][near], edges[1][near]


def _edge_pairs(one: tuple[Array, Array], other: tuple[Array, Array], within: float) -> tuple[Array, Array]:
    """(midpoints, distances) of pairs of edges that are near enough to count."""
    nothing = np.zeros((0, 3)), np.zeros(0)
    if not len(one[1]) or not len(other[1]):
        return nothing
    first = _near_box(_edges(one), other[0], within)
    second = _near_box(_edges(other), one[0], within)
    if len(first[0]) * len(second[0]) > _MOST_PAIRS or not len(first[0]) or not len(second[0]):
        return nothing
    low, high = np.minimum(*second), np.maximum(*second)
    places, distances = [nothing[0]], [nothing[1]]
    for start, end in zip(*first, strict=True):
        gap = np.maximum(0.0, np.maximum(low - np.maximum(start, end), np.minimum(start, end) - high))
        near = np.einsum("ni,ni->n", gap, gap) <= within * within
        if near.any():
            place, distance = _between_segments(start, end, second[0][near], second[1][near])
            counts = distance <= within
            places.append(place[counts])
            distances.append(distance[counts])
    return np.concatenate(places), np.concatenate(distances)


def _between_segments(start: Array, end: Array, starts: Array, ends: Array) -> tuple[Array, Array]:
    """(midpoints, distances) of the closest points of one segment and each of many.

    Those that are parallel give one of their closest pairs; the others come with their ends.
    """
    along, across, apart = end - start, ends - starts, start - starts
    a = max(float(along @ along), 1e-300)
    e = np.maximum(np.einsum("ni,ni->n", across, across), 1e-300)
    b, c, f = across @ along, apart @ along, np.einsum("ni,ni->n", across, apart)
    denominator = a * e - b * b
    is_skew = denominator > 1e-12 * a * e
    s = np.where(is_skew, np.clip((b * f - c * e) / np.where(is_skew, denominator, 1.0), 0.0, 1.0), 0.0)
    t = (b * s + f) / e
    clipped = np.clip(t, 0.0, 1.0)
    s = np.where(t != clipped, np.clip((b * clipped - c) / a, 0.0, 1.0), s)
    one, other = start + s[:, None] * along, starts + clipped[:, None] * across
    return (one + other) / 2, np.linalg.norm(one - other, axis=1)


def _crossings(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    """(points, zeros) where edges of one surface go through triangles of the other."""
    if not len(one[1]) or not len(other[1]):
        return np.zeros((0, 3)), np.zeros(0)
    pairs = np.array(_tree(one).overlap(_tree(other)), np.int64).reshape(-1, 2)
    found = [np.zeros((0, 3))]
    for edges_of, faces_of, order in ((one, other, pairs), (other, one, pairs[:, ::-1])):
        corners = edges_of[0][edges_of[1][order[:, 0]]]
        faces = faces_of[0][faces_of[1][order[:, 1]]]
        for start, end in ((0, 1), (1, 2), (2, 0)):
            found.append(_through(corners[:, start], corners[:, end], faces))
    points = np.concatenate(found)
    return points, np.zeros(len(points))


def _through(starts: Array, ends: Array, faces: Array) -> Array:
    """Points where segments (n, 3), (n, 3) go through triangles (n, 3, 3), those that do."""
    u, v = faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0]
    ray = ends - starts
    p = np.cross(ray, v)
    determinant = np.einsum("ni,ni->n", u, p)
    size = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1) * np.linalg.norm(ray, axis=1)
    is_crossing = np.abs(determinant) > 1e-9 * size
    inverse = 1.0 / np.where(is_crossing, determinant, 1.0)
    w = starts - faces[:, 0]
    first = np.einsum("ni,ni->n", w, p) * inverse
    q = np.cross(w, u)
    second = np.einsum("ni,ni->n", ray, q) * inverse
    along = np.einsum("ni,ni->n", v, q) * inverse
    inside = is_crossing & (first >= 0) & (second >= 0) & (first + second <= 1) & (along >= 0) & (along <= 1)
    return np.asarray(starts[inside] + along[inside, None] * ray[inside])


# --------------------------------------------------------------------------- frames


def world_of(obj: Any, depsgraph: Any) -> Matrix:
    """Object space to world (4, 4), Blender units, as it is evaluated."""
    return np.array(obj.evaluated_get(depsgraph).matrix_world)


def body_world(obj: Any, side: int, depsgraph: Any) -> Matrix | None:
    """Place of a joint's body, Blender units; None for the world. Raises InputError where nobody knows it."""
    joint = obj.usdphys.joint
    body = getattr(joint, f"body{side}")
    if body is None:
        if getattr(joint, f"body{side}_name") or getattr(joint, f"body{side}_path"):
            raise InputError(f"Body {side} of the joint '{obj.name}' is gone; choose another one, or clear it.")
        return None
    world = world_of(body, depsgraph)
    if not abs(frames.determinant(world)) > 1e-18:
        raise InputError(f"'{body.name}' is scaled to nothing, so '{obj.name}' has no place in it; give it a scale.")
    return world


def side_frames(obj: Any, depsgraph: Any) -> tuple[Matrix, Matrix]:
    """World frames (4, 4) of both sides of a joint, Blender units, as an export would have them."""
    place = rigid(world_of(obj, depsgraph))
    joint, found = obj.usdphys.joint, []
    for side in (0, 1):
        world = body_world(obj, side, depsgraph)
        if not is_fixed(joint, side):
            found.append(place)
            continue
        position, rotation = frames.local_frame(world, place)
        if joint.is_property_set(f"local_pos{side}"):
            position = tuple(getattr(joint, f"local_pos{side}"))
        if joint.is_property_set(f"local_rot{side}"):
            rotation = tuple(getattr(joint, f"local_rot{side}"))
        found.append(frames.world_frame(world, position, rotation))
    return found[0], found[1]


def rigid(matrix: Matrix) -> Matrix:
    """A frame without its scale."""
    return frames.transform(matrix[:3, 3], frames.rotation_of(matrix))


def is_fixed(joint: Any, side: int) -> bool:
    """True where a side of a joint does not follow the joint object."""
    return any(joint.is_property_set(f"local_{what}{side}") for what in ("pos", "rot"))


def imported_frames(obj: Any, depsgraph: Any) -> tuple[Matrix, Matrix] | None:
    """World frames as the file had them in the bodies, wherever the bodies are now.

    None where there are none, or where the joint object was moved from them, so that its place counts.
    """
    joint = obj.usdphys.joint
    if not joint.has_remembered_frames or is_fixed(joint, 0):
        return None
    place, found, is_in_place = rigid(world_of(obj, depsgraph)), [], False
    for side in (0, 1):
        texts = [getattr(joint, f"remembered_local_{what}{side}") for what in ("pos", "rot")]
        position = tuple(map(float, texts[0].split())) or (0.0, 0.0, 0.0)
        rotation = tuple(map(float, texts[1].split())) or frames.IDENTITY_ROTATION
        frame = frames.world_frame(body_world(obj, side, depsgraph), position, rotation)
        found.append(frame)
        size = max(1.0, float(np.abs(frame[:3, 3]).max()))
        is_in_place |= bool(
            np.abs(frame[:3, 3] - place[:3, 3]).max() <= _IN_PLACE * size
            and np.abs(frame[:3, :3] - place[:3, :3]).max() <= _IN_PLACE
        )
    if is_fixed(joint, 1):
        found[1] = side_frames(obj, depsgraph)[1]
    return (found[0], found[1]) if is_in_place else None


def store_frame(obj: Any, side: int, frame: Matrix, depsgraph: Any) -> None:
    """Keep a world frame, Blender units, in the body of one side."""
    position, rotation = frames.local_frame(body_world(obj, side, depsgraph), frame)
    setattr(obj.usdphys.joint, f"local_pos{side}", position)
    setattr(obj.usdphys.joint, f"local_rot{side}", rotation)


def place_joint(
    obj: Any, both: tuple[Matrix, Matrix], depsgraph: Any, stored: tuple[bool, bool] = (False, False)
) -> None:  # fmt: skip
    """Give a joint these world frames, Blender units: it goes to that of body 0, unless more than a joint hangs on it.

    Frames are stored in the bodies only where the joint object does not stand there, or where it is asked for.
    """
    joint = obj.usdphys.joint
    for name in props.LOCAL_FRAME_FIELDS:
        joint.property_unset(name)
    place = both[0]
    if is_bare(obj):
        scale = obj.matrix_world.to_scale() if obj.matrix_world.determinant() > 0 else (1.0, 1.0, 1.0)
        scale_matrix = frames.transform((0, 0, 0), None, tuple(scale))
        scene_write.put(obj, mathutils.Matrix((place @ scale_matrix).tolist()))
    else:
        place = rigid(world_of(obj, depsgraph))
    for side in (0, 1):
        if stored[side] or not same_frame(both[side], place):
            store_frame(obj, side, both[side], depsgraph)


def same_frame(one: Matrix, other: Matrix) -> bool:
    size = max(1.0, float(np.abs(one[:3, 3]).max()))
    apart = float(np.abs(one[:3, 3] - other[:3, 3]).max())
    return apart <= _NOISE * size and float(np.abs(one[:3, :3] - other[:3, :3]).max()) <= 1e-5


def align(context: Any, objects: Sequence[Any], side: int) -> None:
    """Bring both frames of joints to where the frame of one side is; the joint object goes there, too."""
    depsgraph = context.evaluated_depsgraph_get()
    wanted = [side_frames(obj, depsgraph)[side] for obj in objects]
    for obj, frame in zip(objects, wanted, strict=True):
        place_joint(obj, (frame, frame), depsgraph)


def fix_frames(context: Any, objects: Sequence[Any]) -> None:
    """Store both frames of joints in their bodies, where they are now."""
    depsgraph = context.evaluated_depsgraph_get()
    wanted = [side_frames(obj, depsgraph) for obj in objects]
    for obj, both in zip(objects, wanted, strict=True):
        for side in (0, 1):
            store_frame(obj, side, both[side], depsgraph)


# --------------------------------------------------------------------------- the two bodies swapped


def _taken(group: Any, name: str) -> Any:
    """Value of a property, None where it is not authored."""
    if not group.is_property_set(name):
        return None
    value = getattr(group, name)
    return value if isinstance(value, str | float | bool | int | bpy.types.ID) or value is None else tuple(value)


def _put(group: Any, name: str, value: Any) -> None:
    if value is None:
        group.property_unset(name)
    else:
        setattr(group, name, value)


def exchange(group: Any, one: str, other: str, change: Callable[[Any], Any] = lambda value: value) -> None:
    """Exchange two properties, each changed, and what is not authored."""
    first, second = _taken(group, one), _taken(group, other)
    _put(group, one, None if second is None else change(second))
    _put(group, other, None if first is None else change(first))


def negate(group: Any, name: str) -> None:
    """Negate a property where it is authored."""
    if group.is_property_set(name):
        setattr(group, name, -getattr(group, name))


def turn_round(joint: Any, names: Iterable[str]) -> None:
    """Negate degrees of freedom of a joint: limits and drive targets. names: of drives and generic limits."""
    for name in names:
        limit, drive = getattr(joint.limits, name, None), getattr(joint.drives, name)
        if limit is not None:
            exchange(limit, "low", "high", lambda value: -value)
        negate(drive, "target_position")
        negate(drive, "target_velocity")


def swap_bodies(obj: Any) -> str:
    """Exchange body 0 and body 1 so that the joint does the same; returns a note where that is not exactly possible."""
    joint = obj.usdphys.joint
    bodies = [getattr(joint, f"body{side}") for side in (0, 1)]
    names = [getattr(joint, f"body{side}_name") for side in (0, 1)]
    for side in (0, 1):
        _put(joint, f"body{side}", bodies[1 - side])
        _put(joint, f"body{side}_name", names[1 - side] or None)
    for what in ("body{}_path", "local_pos{}", "local_rot{}", "remembered_local_pos{}", "remembered_local_rot{}"):
        exchange(joint, what.format(0), what.format(1))
    for own in (joint.revolute, joint.prismatic):
        exchange(own, "lower_limit", "upper_limit", lambda value: -value)
    # Distances have no direction.
    turn_round(joint, (name for name in usd_physics.DriveAPI.instances if name != "distance"))
    return "" if _swaps_exactly(joint) else (
        f"'{obj.name}' turns about several axes; with its bodies swapped its limits are about the same, not exactly."
    )  # fmt: skip


def _swaps_exactly(joint: Any) -> bool:
    """False where limits are of directions that the rotation of the joint itself turns."""
    if joint.type == "SPHERICAL":
        cone = joint.spherical
        return bool(cone.cone_angle0_limit == cone.cone_angle1_limit)
    if joint.type != "GENERIC":
        return True
    limits = [getattr(joint.limits, name) for name in _DOFS]
    is_locked = [limit.is_applied and limit.low >= limit.high for limit in limits]
    free = [index for index in range(3) if not is_locked[3 + index]]
    if not free:
        return True
    is_said = [limits[index].is_applied or getattr(joint.drives, name).is_applied for index, name in enumerate(_DOFS)]
    if len(free) > 1:
        is_turning_said = any(is_said[3 + index] for index in range(3))
        moves = any(is_said[index] and not _is_pinned(limits[index]) for index in range(3))
        return not is_turning_said and not moves and len({*is_locked[:3]}) == 1
    # About one axis: what is along it stays, what is across it turns, unless it is held.
    across = [index for index in range(3) if index != free[0]]
    moved = [index for index in across if not _is_pinned(limits[index])]
    return not moved or (len(moved) == 2 and not any(is_said[index] for index in moved))


def _is_pinned(limit: Any) -> bool:
    """True for a translation that is held at zero."""
    return bool(limit.is_applied and (limit.low > limit.high or limit.low == limit.high == 0.0))


# --------------------------------------------------------------------------- limits from poses


def coordinate(first: Matrix, second: Matrix, dof: str) -> float:
    """Where the second frame is along or about an axis of the first: length, or angle within half a turn, radians."""
    move = first[:3, :3].T @ (second[:3, 3] - first[:3, 3])
    if dof == "distance":
        return float(np.linalg.norm(move))
    index = "XYZ".index(dof[-1])
    if dof.startswith("trans"):
        return float(move[index])
    w, *imaginary = frames.quaternion_of(first[:3, :3].T @ second[:3, :3])
    return 2 * math.atan2(imaginary[index], w)


def limit_of(obj: Any, dof: str) -> tuple[Any, str, str, str]:
    """(group, lower, upper, degree of freedom) that a pose can limit."""
    joint = obj.usdphys.joint
    if joint.type == "REVOLUTE":
        return joint.revolute, "lower_limit", "upper_limit", f"rot{joint.axis}"
    if joint.type == "PRISMATIC":
        return joint.prismatic, "lower_limit", "upper_limit", f"trans{joint.axis}"
    if joint.type == "DISTANCE":
        return joint.distance, "min_distance", "max_distance", "distance"
    if joint.type == "GENERIC":
        return getattr(joint.limits, dof), "low", "high", dof
    kind = joint.type.lower()
    raise InputError(f"'{obj.name}' is a {kind} joint, which has no lower and upper limit; choose another joint.")


def limits_from_pose(context: Any, objects: Sequence[Any], which: str, dof: str) -> list[str]:
    """Make the pose of the bodies a limit of their joints. which: LOWER or UPPER. dof: of generic joints.

    Frames that follow the joint object are stored in the bodies first: the pose of now is then their zero. Returns
    what became of each joint, as a sentence.
    """
    depsgraph = context.evaluated_depsgraph_get()
    plans, notes = [], []
    for obj in objects:
        group, *names, name = limit_of(obj, dof)
        joint = obj.usdphys.joint
        both = imported_frames(obj, depsgraph) or side_frames(obj, depsgraph)
        value = coordinate(*both, name)
        value = 0.0 if abs(value) < _NOISE else value
        own, other = names if which == "LOWER" else names[::-1]
        shown = f"{math.degrees(value):.4g}°" if name.startswith("rot") else f"{value:.4g}"
        is_free = name == "distance" and getattr(group, other) < 0
        if group.is_property_set(other) and not is_free:
            limit = getattr(group, other)
            if (limit < value) if which == "LOWER" else (limit > value):
                word, end = ("below", "lower") if which == "UPPER" else ("above", "upper")
                raise InputError(
                    f"'{obj.name}' is at {shown}, {word} its {end} limit; set that one from a pose first, or pose it "
                    "on the other side."
                )  # fmt: skip
        was_fixed = is_fixed(joint, 0) and is_fixed(joint, 1)
        plans.append((obj, group, own, value, both, was_fixed))
        note = f"{own.replace('_', ' ').capitalize()} of '{obj.name}' is {shown}."
        if not was_fixed:
            note += " From now on its bodies keep its frames: pose them, and set the other limit."
        notes.append(note)
    for obj, group, own, value, both, was_fixed in plans:
        if not was_fixed:
            for side in (0, 1):
                store_frame(obj, side, both[side], depsgraph)
        if hasattr(group, "is_applied"):
            group.is_applied = True
        setattr(group, own, value)
    return notes


# --------------------------------------------------------------------------- motors


def drive_of(obj: Any, dof: str) -> Any:
    """The drive that turns or shifts a joint. dof: of joints that have several. Raises InputError."""
    joint = obj.usdphys.joint
    dofs = props.DRIVE_DOFS[joint.type]
    if not dofs:
        raise InputError(f"'{obj.name}' is a {joint.type.lower()} joint, which nothing drives; choose another type.")
    if len(dofs) > 1 and dof not in dofs:
        raise InputError(f"'{obj.name}' has no degree of freedom {dof} to drive; choose one of {', '.join(dofs)}.")
    return getattr(joint.drives, dofs[0] if len(dofs) == 1 else dof)


def add_motors(objects: Sequence[Any], *, holds: bool, target: float, response: float, dof: str = "rotZ") -> None:
    """Give joints a drive that goes to a position, or keeps a velocity, whatever the masses are.

    holds: a position, else a velocity. target: rad, rad/s, or lengths of Blender. response: seconds in which two
    thirds of an error are gone.
    """
    drives = [drive_of(obj, dof) for obj in objects]
    for drive in drives:
        drive.is_applied = True
        drive.type = "acceleration"
        # Gains are per degree where the drive turns something.
        per_unit = 1.0 / math.degrees(1.0) if isinstance(drive, _ANGULAR_DRIVE) else 1.0
        rate = 1.0 / response
        if holds:
            drive.target_position = target
            # Critically damped.
            drive.stiffness, drive.damping = rate**2 * per_unit, 2.0 * rate * per_unit
            drive.property_unset("target_velocity")
        else:
            drive.target_velocity = target
            drive.damping = rate * per_unit
            for name in ("target_position", "stiffness"):
                drive.property_unset(name)
