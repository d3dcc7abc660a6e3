# SPDX-License-Identifier: GPL-3.0-or-later
"""Make joints from selected objects, and the colliders and rigid bodies that they need."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import mathutils
import numpy as np
from bpy.types import Context, Object
from numpy.typing import NDArray

from ..bridge import mesh as meshes
from ..bridge import physics_collections
from ..bridge.identity.names import prim_name
from ..bridge.joint_frames import is_joint, world_of
from ..bridge.roles import is_body
from ..core import frames, joint_kinds
from ..core.building import joint_guess
from ..core.errors import InputError
from ..core.frames import Matrix
from .closest_point import closest, closest_point

Array = NDArray[np.float64]

#: Size of a joint's axes, as a multiple of the size that an import gives them.
_SHOWN = 5.0
_SIDE = re.compile(r"^(?P<stem>.*?)(?P<side>[._ -](?:l|r|left|right)(?:\.\d+)?)$", re.IGNORECASE)
_WITH_AXIS = frozenset(
    kind.identifier for kind in joint_kinds.JOINT_KINDS if any(item.field == "axis" for item in kind.cls.attributes)
)


@dataclass(frozen=True, slots=True)
class JointOptions:
    """How joints are made.

    kind: key of joint_kinds.BY_IDENTIFIER. place: CURSOR, MIDPOINT, CHILD_ORIGIN, CLOSEST, FACE, CENTER_0, CENTER_1, or
    AUTO: CURSOR for one object; between two, from their forms for hinges and slides, else CLOSEST. axis: AUTO, CURSOR,
    SYMMETRY (of the second body), or an axis of the world (WORLD_X) or of the second body (BODY_X).
    makes_bodies: give objects without physics colliders, and make the second a rigid body. moves_first: make
    the first a rigid body too, unless it has colliders. keeps_static: leave a second one that has colliders as it is
    where the first is a dynamic body, or has no physics and becomes one.
    """

    kind: str = "REVOLUTE"
    place: str = "AUTO"
    axis: str = "AUTO"
    makes_bodies: bool = True
    moves_first: bool = False
    keeps_static: bool = False


class Face(NamedTuple):
    """center (3,), Blender units, and unit normal (3,) of a picked face, in the world."""

    center: Array
    normal: Array


# --------------------------------------------------------------------------- selection


def bodies_of(context: Context) -> list[tuple[Any, Any]]:
    """(body 0, body 1) of each joint: the active object and each other one; (None, object) if only one is selected.

    Raises InputError if no object is selected, or none of several is active.
    """
    chosen, active = list(context.selected_objects), context.active_object
    if not chosen:
        raise InputError(
            "Select the objects to join, with body 0 as the active one; or one object, to join it to the world."
        )
    if len(chosen) == 1:
        return [(None, chosen[0])]
    if active not in chosen:
        raise InputError("None of the selected objects is active; click the object that is to be body 0.")
    others = sorted((obj for obj in chosen if obj != active), key=lambda obj: _natural(obj.name))
    return [(active, obj) for obj in others]


def group_of(context: Context) -> tuple[Any, list[Any]]:
    """(active object, other selected objects). Raises InputError unless there are both."""
    active = context.active_object
    others = [obj for obj in context.selected_objects if obj != active]
    if active is None or active not in context.selected_objects or not others:
        raise InputError("Select several objects; the active one is the first.")
    return active, others


def joints_of(context: Context) -> list[Any]:
    """The selected joints; without any, the joints whose body 1 is selected, else those whose body 0 is.

    Raises InputError if there are none.
    """
    chosen = list(context.selected_objects)
    joints = [obj for obj in chosen if is_joint(obj)]
    if joints:
        return joints
    held: list[Any] = [obj for obj in context.scene.objects if is_joint(obj)]
    for side in (1, 0):
        joints = [obj for obj in held if getattr(obj.usdphys.joint, f"body{side}") in chosen]
        if joints:
            return joints
    raise InputError("Neither a joint nor a body of one is selected; select a joint.")


def without_linked(objects: Iterable[Object]) -> tuple[list[Any], list[str]]:
    """(objects of this file, a note about each linked one). Raises InputError if all are linked."""
    own, notes = [], []
    for obj in objects:
        if obj.library is None:
            own.append(obj)
        else:
            notes.append(f"'{obj.name}' is linked and was left alone; make a library override of it first.")
    if not own and notes:
        raise InputError(notes[0])
    return own, notes


def picked_face(context: Context) -> Face:
    """The active face of the active mesh if it is selected, else its only selected face. Raises InputError."""
    obj = context.active_object
    if obj is None or obj.type != "MESH":
        raise InputError("The active object is not a mesh; make the mesh with the face active.")
    chosen = _edited_face(obj) if obj.mode == "EDIT" else _kept_face(obj)
    if chosen is None:
        raise InputError(f"'{obj.name}' has no picked face; select one face in Edit Mode and try again.")
    world = np.array(obj.matrix_world)
    normal = np.linalg.solve(world[:3, :3].T, chosen[1]) if frames.determinant(world) else np.zeros(3)
    length = float(np.linalg.norm(normal))
    if not length:
        raise InputError(f"The picked face of '{obj.name}' has no area, so it gives no axis; pick another face.")
    return Face(world[:3, :3] @ chosen[0] + world[:3, 3], normal / length)


def _edited_face(obj: Object) -> tuple[Array, Array] | None:
    import bmesh

    mesh = bmesh.from_edit_mesh(obj.data)
    face: Any = mesh.faces.active
    if face is None or not face.select:
        chosen = [face for face in mesh.faces if face.select]
        if len(chosen) != 1:
            return None
        face = chosen[0]
    return np.array(face.calc_center_median()), np.array(face.normal)


def _kept_face(obj: Object) -> tuple[Array, Array] | None:
    polygons = obj.data.polygons
    chosen = np.zeros(len(polygons), bool)
    polygons.foreach_get("select", chosen)
    index = polygons.active
    # A new mesh has all faces selected, so that does not count as a choice.
    if chosen.sum() == 1:
        index = int(chosen.argmax())
    elif not 0 <= index < len(chosen) or not chosen[index] or chosen.all():
        return None
    corners = np.array([obj.data.vertices[number].co for number in polygons[index].vertices])
    return corners.mean(axis=0), np.array(polygons[index].normal)


# --------------------------------------------------------------------------- making joints


def make_body(parts: Sequence[Object], *, moves: bool) -> None:
    """Add an automatic collider to each part with geometry, unless any part has one. moves: make parts[0] a body."""
    if moves:
        parts[0].usdphys.rigid_body.is_applied = True
    if not any(len(part.usdphys.colliders) for part in parts):
        for part in parts:
            if part.type in meshes.GEOMETRY_TYPES:
                part.usdphys.colliders.add().shape = "AUTO"


class JointMaker:
    """Makes joints between objects. `plan` raises all errors; `make` then changes the scene."""

    def __init__(self, context: Context, choice: JointOptions, face: Face | None = None) -> None:
        self.context, self.choice, self.face = context, choice, face
        self.depsgraph = context.evaluated_depsgraph_get()
        self.planned: list[tuple[Any, Any, Matrix, str]] = []
        #: (object, becomes a rigid body) by full name, for objects that get colliders.
        self.to_tag: dict[str, tuple[Any, bool]] = {}
        self.below: dict[str, list[Any]] = {}
        for obj in bpy.data.objects:
            if obj.parent is not None:
                self.below.setdefault(obj.parent.name_full, []).append(obj)
        self._surfaces: dict[str, tuple[Array, Array]] = {}

    def world(self, obj: Object) -> Matrix:
        return world_of(obj, self.depsgraph)

    def parts(self, body: Object) -> list[Any]:
        """An object and all below it, except joints and other rigid bodies with what is below them."""
        objects = [body]
        for obj in objects:
            objects += [
                child for child in self.below.get(obj.name_full, ())
                if not is_joint(child) and not self.is_body(child)
            ]  # fmt: skip
        return objects

    def is_body(self, obj: Object) -> bool:
        """True if an object is a rigid body or is planned to become one."""
        return is_body(obj) or self.to_tag.get(obj.name_full, (obj, False))[1]

    # ------------------------------------------------------------------ planning

    def plan(self, body0: Object | None, body1: Object) -> None:
        """Plan a joint between two objects; None is the world. Raises InputError."""
        for body in (body0, body1):
            if body is None:
                continue
            if is_joint(body):
                raise InputError(f"'{body.name}' is a joint; select the objects that are to be joined.")
            if frames.is_flat(frames.determinant(self.world(body))):
                raise InputError(f"'{body.name}' is scaled to nothing, so no joint can hold it; give it a scale.")
        if self.choice.makes_bodies:
            self.plan_bodies(body0, body1)
        where = self.choice.place
        guess = self.guess(body0, body1) if where == "AUTO" and body0 is not None else None
        if where == "AUTO":
            where = "CURSOR" if body0 is None else "CLOSEST"
        place, axis = self.orientation(body1, where, guess)
        place[:3, 3] = self.position(body0, body1, where) if guess is None else guess.position
        self.planned.append((body0, body1, place, axis))

    def plan_bodies(self, body0: Object | None, body1: Object) -> None:
        """Plan which objects become bodies: body 1 a rigid one, body 0 a static one unless it is rigid already."""
        carrier0, carrier1 = self.carrier(body0), self.carrier(body1)
        moves_first = self.choice.moves_first
        if carrier1 is None:
            is_held = (
                self.choice.keeps_static and carrier0 is not None and not carrier0.usdphys.rigid_body.kinematic_enabled
            )
            is_bare = self.choice.keeps_static and body0 is not None and carrier0 is None and not self.is_static(body0)
            if not self.is_static(body1) or not (is_held or is_bare):
                self.note_tag(body1, moves=True)
            elif is_bare:
                moves_first = True
        elif carrier1 in (body0, carrier0) and carrier1 != body1:
            # A part of the other body must become a body of its own to move against it.
            self.note_tag(body1, moves=True)
        if body0 is None:
            return
        if carrier0 is None:
            self.note_tag(body0, moves=moves_first and not self.is_static(body0))
        elif carrier0 == body1 and carrier0 != body0:
            self.note_tag(body0, moves=True)

    def note_tag(self, obj: Object, *, moves: bool) -> None:
        known = self.to_tag.get(obj.name_full)
        if known is not None and (known[1] or not moves):
            return
        parts = self.parts(obj)
        if not moves and any(len(part.usdphys.colliders) for part in parts):
            return
        for part in parts:
            if part.library is not None:
                raise InputError(
                    f"'{part.name}' is linked and is not a rigid body; make a library override of it, or switch "
                    "Make Bodies off."
                )  # fmt: skip
        self.to_tag[obj.name_full] = (obj, moves)

    def is_static(self, obj: Object) -> bool:
        return any(len(part.usdphys.colliders) for part in self.parts(obj))

    def carrier(self, obj: Object | None) -> Any | None:
        """The nearest object at or above one that is, or is planned to become, a rigid body."""
        while obj is not None:
            if self.is_body(obj):
                return obj
            obj = obj.parent
        return None

    def guess(self, body0: Object, body1: Object) -> joint_guess.Guess | None:
        """Place and axis of a hinge or slide from the forms of the bodies; None if they say nothing."""
        (points0, triangles0), (points1, triangles1) = self.surface(body0), self.surface(body1)
        if not len(triangles1):
            return None
        axes = frames.rotation_of(self.world(body1))
        if self.choice.kind == "REVOLUTE":
            return joint_guess.hinge(points0, points1, axes)
        if self.choice.kind == "PRISMATIC":
            return joint_guess.slide(points0, triangles0, points1, axes)
        return None

    def orientation(self, body1: Object, where: str, guess: joint_guess.Guess | None = None) -> tuple[Matrix, str]:
        """(frame (4, 4) at the origin of the world, axis of the joint in it: X, Y or Z)."""
        axis = self.choice.axis
        if axis == "SYMMETRY":
            guess = joint_guess.symmetry_axis(self.surface(body1)[0], frames.rotation_of(self.world(body1)))
            if guess is None:
                raise InputError(f"'{body1.name}' is not round about an axis; choose another axis.")
        if guess is not None and axis in ("AUTO", "SYMMETRY"):
            return frame_along(guess.axis)
        if axis == "AUTO" and where == "FACE":
            assert self.face is not None
            turn = mathutils.Vector(self.face.normal.tolist()).to_track_quat("Z", "Y")
            return frames.transform((0, 0, 0), np.array(turn.to_matrix())), "Z"
        if axis == "CURSOR" or (axis == "AUTO" and where == "CURSOR"):
            return frames.transform((0, 0, 0), frames.rotation_of(self.context.scene.cursor.matrix)), "Z"
        if axis.startswith("BODY"):
            return frames.transform((0, 0, 0), frames.rotation_of(self.world(body1))), axis[-1]
        return np.eye(4), axis[-1] if axis != "AUTO" else "Z"

    def position(self, body0: Object | None, body1: Object, where: str) -> Array:
        if where == "CURSOR":
            return np.array(self.context.scene.cursor.location)
        if where == "FACE":
            assert self.face is not None
            return self.face.center
        if where == "CENTER_0" and body0 is None:
            raise InputError(f"'{body1.name}' is the only body; select a second object, or choose another place.")
        if where in ("CENTER_0", "CENTER_1"):
            return self.center(body0 if where == "CENTER_0" else body1)
        if where == "CHILD_ORIGIN":
            return self.world(body1)[:3, 3].copy()
        if where == "MIDPOINT":
            centers = [self.center(body) for body in (body0, body1) if body is not None]
            return np.asarray(np.mean(centers, axis=0))
        if body0 is None:
            raise InputError(
                f"'{body1.name}' has no other surface to be close to; select a second object, or choose another "
                "place."
            )  # fmt: skip
        return closest_point(self.surface(body0), self.surface(body1))

    def center(self, body: Any) -> Array:
        """Centre (3,) of the world bounding box of an object and its parts; its origin if none has geometry."""
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

    def gaps(self, body: Object, others: Sequence[Object]) -> list[float]:
        """Distances of surfaces from that of a body; for those that are not the nearest, at least the least one."""
        box = self.box(body)
        # What the boxes leave between them is the least that the surfaces can.
        least = [float(np.linalg.norm(np.maximum(0.0, np.maximum(one[0] - box[1], box[0] - one[1]))))
                 for one in map(self.box, others)]  # fmt: skip
        distances, best = [math.inf] * len(others), math.inf
        for at in sorted(range(len(others)), key=least.__getitem__):
            if least[at] > best:
                break
            distances[at] = closest(self.surface(body), self.surface(others[at]))[1]
            best = min(best, distances[at])
        return distances

    def box(self, body: Object) -> tuple[Array, Array]:
        """Least and largest corner (3,), (3,) of the surface of a body."""
        points = self.surface(body)[0]
        return points.min(axis=0), points.max(axis=0)

    def surface(self, body: Object) -> tuple[Array, Array]:
        """World points (n, 3) and triangles (m, 3) of an object and its parts; its origin alone if none has faces."""
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
        """Make the planned joints and select them; the last becomes active."""
        for obj, moves in self.to_tag.values():
            make_body(self.parts(obj), moves=moves)
        made = [self.make_one(*plan) for plan in self.planned]
        for obj in list(self.context.selected_objects):
            obj.select_set(False)
        layer = self.context.view_layer
        for obj in made:
            # The collection of the joints may be excluded from the view layer.
            if obj.name in layer.objects:
                obj.select_set(True)
                layer.objects.active = obj
        return made

    def make_one(self, body0: Object | None, body1: Object, place: Matrix, axis: str) -> Any:
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
        parts = [part for body in (body0, body1) if body is not None for part in self.parts(body)]
        physics_collections.show_joint(obj, _SHOWN * physics_collections.joint_size(parts))
        joint = obj.usdphys.joint
        joint.is_applied = True
        joint.type = self.choice.kind
        if body0 is not None:
            joint.body0 = body0
        joint.body1 = body1
        if self.choice.kind in _WITH_AXIS:
            joint.axis = axis
        self.part_from_static(body0, body1)
        return obj

    def part_from_static(self, body0: Object | None, body1: Object | None) -> bool:
        """Filter the contacts of a body with the static collider that it is joined to. Returns whether it did.

        The joint alone does that in the preview and for UsdPhysics. PhysX takes what has no body for the world, and a
        door rubs against its frame.
        """
        done = False
        for body, other in ((self.carrier(body1), body0), (self.carrier(body0), body1)):
            if body is None or other is None or self.carrier(other) is not None or not self.is_static(other):
                continue
            pairs = body.usdphys.filtered_pairs
            if body.library is None and all(pair.object != other for pair in pairs.filtered_pairs):
                pairs.is_applied = True
                pairs.filtered_pairs.add().object = other
                done = True
        return done


def frame_along(axis: Array) -> tuple[Matrix, str]:
    """(frame (4, 4) without a place, axis of the joint in it). An axis of the world keeps the world's frame."""
    row = int(np.abs(axis).argmax())
    if abs(axis[row]) > 1.0 - 1e-6:
        return np.eye(4), "XYZ"[row]
    turn = mathutils.Vector(axis.tolist()).to_track_quat("Z", "Y")
    return frames.transform((0, 0, 0), np.array(turn.to_matrix())), "Z"


def joint_name(body1: Object, parent: Object) -> str:
    """Name for a joint of a body; "Arm Joint.L" for "Arm.L", so that Blender can flip its side."""
    side = _SIDE.match(body1.name)
    name = f"{side['stem']} Joint{side['side']}" if side else f"{body1.name} Joint"
    if parent.data is not None and prim_name(parent.data.name) == prim_name(name):
        # The mesh of the parent would become a sibling prim of the same name.
        name = f"{name} Frame"
    return name


def hang(obj: Object, parent: Object | None, world: Matrix, place: Matrix) -> None:
    """Parent an object whose parent has the matrix `world`, so that `place` is both its basis and its world matrix."""
    obj.parent = parent
    obj.matrix_parent_inverse = mathutils.Matrix(np.linalg.inv(world).tolist())
    obj.matrix_basis = mathutils.Matrix(place.tolist())


def add_joint(context: Context, choice: JointOptions, face: Face | None = None) -> list[Any]:
    """Join the active object to each other selected one, or a single object to the world. Raises InputError."""
    maker = JointMaker(context, choice, face)
    for body0, body1 in bodies_of(context):
        maker.plan(body0, body1)
    return maker.make()


def add_chain(context: Context, choice: JointOptions, order: str) -> list[Any]:
    """Join the selected objects in a chain from the active one. order: NEAREST, or NAME (natural order).

    By name, the chain starts at the first name, or at the last if the active object has it. Raises InputError.
    """
    maker = JointMaker(context, choice)
    for body0, body1 in itertools.pairwise(chain_of(context, order)):
        maker.plan(body0, body1)
    return maker.make()


def chain_of(context: Context, order: str, maker: JointMaker | None = None) -> list[Any]:
    """The selected objects in order; see `add_chain`. Raises InputError unless several are selected.

    maker: to let the gaps between surfaces say which object is nearest, and the centres only among equal ones.
    """
    active, others = group_of(context)
    by_surface = maker is not None
    maker = maker or JointMaker(context, JointOptions())
    chain = [active]
    if order == "NAME":
        chain = sorted([active, *others], key=lambda obj: _natural(obj.name))
        if chain[-1] == active:
            chain.reverse()
    else:
        centers = {obj.name_full: maker.center(obj) for obj in (active, *others)}
        left = list(others)
        while left:
            here = chain[-1]
            apart = [float(np.linalg.norm(centers[obj.name_full] - centers[here.name_full])) for obj in left]
            gaps = maker.gaps(here, left) if by_surface else [0.0] * len(left)
            chain.append(left.pop(min(range(len(left)), key=lambda at: (gaps[at], apart[at]))))
    return chain


def _natural(name: str) -> list[tuple[int, str]]:
    """Key that sorts Link2 before Link10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def weld(context: Context, choice: JointOptions) -> list[Any]:
    """Join the active object to each other selected one. Raises InputError."""
    active, others = group_of(context)
    maker = JointMaker(context, choice)
    for obj in sorted(others, key=lambda obj: _natural(obj.name)):
        maker.plan(active, obj)
    return maker.make()
