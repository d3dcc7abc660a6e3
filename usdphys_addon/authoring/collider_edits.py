# SPDX-License-Identifier: GPL-3.0-or-later
"""Make one body of several objects, colliders as objects of their own, and fitted primitives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import mathutils
import numpy as np
from bpy.types import Context, Depsgraph, Object, PropertyGroup, Scene

from ..bridge import mesh as meshes
from ..bridge import physics_collections, props
from ..bridge.property_values import restore, snapshot, unset_all
from ..bridge.roles import is_body, is_moved, parents_of, physics_material_of
from ..core import fitting, frames, primitives
from ..core.errors import InputError, MissingDependencyError
from ..core.fitting import Surface
from ..core.primitives import Primitive
from ..core.schemas import usd_geom
from ..core.steps import Steps
from ..simulation import convex_parts

#: Values of a collider's `shape` by their schema.
_SHAPE_OF = {kind: shape for shape, kind in props.GPRIM_SHAPES.items()}
#: Properties of a collider's geometry; all others are kept when the geometry is replaced.
_FORM = frozenset(
    {"name", "shape", "approximation", "location", "rotation", "size", "radius", "height", "axis", "purpose",
     "is_geometry", "has_mesh_collision", "other_approximation"}
)  # fmt: skip
_PLACED = ("location", "size", "radius", "height")
#: Properties of MassAPI that are in the space of its prim.
_IN_SPACE = ("center_of_mass", "diagonal_inertia", "principal_axes")


@dataclass(slots=True)
class EditCounts:
    """count: colliders made or changed. body: name of the body. replaced: objects removed. notes: sentences.

    fits: of each decomposition, how well its parts fit. suggested: how many parts errors need.
    """

    count: int = 0
    body: str = ""
    replaced: int = 0
    notes: list[str] = field(default_factory=list)
    fits: list[str] = field(default_factory=list)
    suggested: list[str] = field(default_factory=list)


# --------------------------------------------------------------------------- selection


def editable(objects: Iterable[Object], outcome: EditCounts) -> list[Any]:
    """The objects that are not linked; adds a note for each linked one. Raises InputError if there are none."""
    chosen: list[Any] = []
    linked: list[Any] = []
    for obj in objects:
        (chosen if obj.is_editable else linked).append(obj)
    outcome.notes += [f"'{obj.name}' is linked and stays as it is." for obj in linked]
    if linked and not chosen:
        raise InputError(f"'{linked[0].name}' is linked and cannot be changed; make a library override of it.")
    if not chosen:
        raise InputError("Nothing is selected; select the objects first.")
    return chosen


def _with_surface(
    context: Context, objects: Iterable[Object], outcome: EditCounts
) -> list[tuple[Any, Surface, frames.Matrix]]:
    """(object, evaluated surface in object space, world matrix) of the objects with faces; notes for the others.

    Raises InputError if none has faces, or one is scaled to zero or holds NaN or infinity.
    """
    context.view_layer.update()
    depsgraph = context.evaluated_depsgraph_get()
    surfaces = []
    chosen = editable(objects, outcome)
    for obj in chosen:
        made = None
        if obj.type in meshes.GEOMETRY_TYPES:
            made = meshes.read_mesh(obj.evaluated_get(depsgraph), 1.0)
        if made is None:
            outcome.notes.append(f"'{obj.name}' has no faces and stays as it is.")
            continue
        world = np.array(obj.matrix_world)
        if frames.is_flat(frames.determinant(world)):
            raise InputError(f"'{obj.name}' is scaled to nothing; give it and its parents a scale that is not zero.")
        if not np.isfinite(made.points).all():
            raise InputError(f"'{obj.name}' has vertices at NaN or infinity; repair the mesh.")
        surfaces.append((obj, Surface(made.points, made.triangles), world))
    if not surfaces:
        raise InputError(f"'{chosen[0].name}' has no faces; select mesh objects.")
    return surfaces


# --------------------------------------------------------------------------- properties as values


def _settings(obj: Object, outcome: EditCounts) -> dict[str, Any]:
    """All properties of the first collider of an object except its geometry."""
    items = list(obj.usdphys.colliders)
    if not items:
        return {}
    if len(items) > 1:
        outcome.notes.append(f"'{obj.name}' had {len(items)} colliders; the settings of the first are kept.")
    return {name: value for name, value in snapshot(items[0]).items() if name not in _FORM}


def _shared(settings: dict[str, Any], share: float, name: str, outcome: EditCounts) -> dict[str, Any]:
    """The settings for one of several colliders that replace one. share: its fraction of the mass."""
    mass = settings.get("mass")
    if not mass:
        return settings
    return settings | {"mass": _mass_share(mass, share, False, name, outcome)}


def _mass_share(mass: dict[str, Any], share: float, same_space: bool, name: str, outcome: EditCounts) -> dict[str, Any]:
    values = {key: value for key, value in mass.items() if same_space or key not in _IN_SPACE}
    if len(values) < len(mass):
        text = f"The centre of mass or inertia of '{name}' does not fit its new colliders and is removed."
        if text not in outcome.notes:
            outcome.notes.append(text)
    if "mass" in values:
        values["mass"] = values["mass"] * share
    return values


def _shares(volumes: Sequence[float]) -> list[float]:
    total = sum(volumes)
    return [volume / total if total > 0 else 1.0 / len(volumes) for volume in volumes]


# --------------------------------------------------------------------------- compounds


def compound(context: Context, objects: Sequence[Object], active: Object, *, target: str, role: str) -> EditCounts:
    """Make the objects one rigid body (role DYNAMIC) or one static compound (STATIC) by parenting.

    target: ACTIVE parents them to the active object, EMPTY to a new Empty. Raises InputError before anything is
    changed.
    """
    outcome = EditCounts()
    chosen = editable(objects, outcome)
    context.view_layer.update()
    for obj in chosen:
        if obj.usdphys.joint.is_applied:
            outcome.notes.append(f"'{obj.name}' is a joint and is left out.")
    parts = [obj for obj in chosen if not obj.usdphys.joint.is_applied]
    depsgraph = context.evaluated_depsgraph_get()
    solid = _solid(parts, depsgraph)
    if not solid and not any(len(obj.usdphys.colliders) for obj in parts):
        raise InputError(f"'{chosen[0].name}' has no faces to collide with; select mesh objects as well.")
    names = {obj.name for obj in parts}
    if target == "ACTIVE":
        _check_active(active, names, role)
    for obj in parts:
        if frames.is_flat(obj.matrix_world.determinant()):
            raise InputError(f"'{obj.name}' is scaled to nothing; give it and its parents a scale that is not zero.")
    roots = [obj for obj in parts if not _is_carried(obj, names)]
    # Nothing below raises, so the scene may be changed from here on.
    if target == "ACTIVE":
        body = active
    else:
        body = _new_empty(
            context, active if active in parts else parts[0], parts, _common_parent(roots, role), depsgraph
        )
    removed = [obj for obj in parts if is_body(obj) and (obj != body or role == "STATIC")]
    _parent_all([obj for obj in roots if obj != body], body)
    for obj in parts:
        if not len(obj.usdphys.colliders) and obj.name in solid:
            obj.usdphys.colliders.add()
            outcome.count += 1
    # If other bodies bring their mass, that of the active body becomes its own part of the total.
    with_mass = [*removed, body] if removed and body not in removed else removed
    for obj in with_mass:
        _move_mass_to_colliders(obj, depsgraph, outcome)
    for obj in removed:
        unset_all(obj.usdphys.rigid_body)
    if role == "DYNAMIC":
        _make_dynamic(body)
        _retarget_joints(context.scene, {obj.name for obj in removed}, body, outcome)
    context.view_layer.update()
    outcome.body = body.name
    return outcome


def _solid(parts: Sequence[Any], depsgraph: Any) -> set[str]:
    """Names of the objects that have faces."""
    return {
        obj.name for obj in parts
        if obj.type in meshes.GEOMETRY_TYPES and meshes.has_faces(obj.evaluated_get(depsgraph))
    }  # fmt: skip


def _parent_all(objects: Sequence[Any], body: Any) -> None:
    """Parent objects to a body, where they are."""
    body_world = np.array(body.matrix_world)
    # Parenting one may move another.
    places = [_parent_space(obj) for obj in objects]
    for obj, place in zip(objects, places, strict=True):
        _parent(obj, body, np.linalg.solve(body_world, place))


def _make_dynamic(body: Any) -> None:
    """Make an object an enabled rigid body that moves."""
    rigid_body = body.usdphys.rigid_body
    rigid_body.is_applied = True
    for name, moves in (("rigid_body_enabled", True), ("kinematic_enabled", False)):
        if getattr(rigid_body, name) is not moves:
            rigid_body.property_unset(name)


def _check_active(active: Any, names: set[str], role: str) -> None:
    if active is None or active.name not in names:
        raise InputError("The active object cannot be part of the body; select another one last, or use an Empty.")
    for above in parents_of(active):
        if above.name in names:
            raise InputError(
                f"'{above.name}' is a parent of '{active.name}' and cannot go below it; make '{above.name}' the active "
                "object, or use an Empty."
            )
        if role == "STATIC" and is_body(above):
            raise InputError(
                f"'{active.name}' is below the body '{above.name}' and would move with it; clear its parent, or use an "
                "Empty."
            )


def _is_carried(obj: Object, names: set[str]) -> bool:
    """True if the object is below another part, with no rigid body in between."""
    for above in parents_of(obj):
        if above.name in names:
            return True
        if is_body(above):
            return False
    return False


def _common_parent(roots: list[Object], role: str) -> Any:
    """The common parent of all roots; None if they have none, or the compound must not be below it."""
    parents = {obj.parent for obj in roots}
    common = parents.pop() if len(parents) == 1 else None
    if common is None or any(obj.parent_type != "OBJECT" for obj in roots):
        return None
    if role == "STATIC" and any(is_body(above) for above in (common, *parents_of(common))):
        return None
    return None if frames.is_flat(common.matrix_world.determinant()) else common


def _new_empty(context: Context, named_by: Any, parts: list[Object], common: Any, depsgraph: Depsgraph) -> Object:
    """Create the Empty of a compound, at the centre of mass of the bounding boxes of its parts."""
    centers, volumes = [], []
    for obj in parts:
        corners = np.array(obj.evaluated_get(depsgraph).bound_box) if obj.type in meshes.GEOMETRY_TYPES else None
        world = np.array(obj.matrix_world)
        if corners is None:
            centers.append(world[:3, 3])
            volumes.append(0.0)
            continue
        middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
        centers.append(world[:3, :3] @ middle + world[:3, 3])
        volumes.append(float(np.prod(np.ptp(corners, axis=0))) * abs(frames.determinant(world)))
    weights = volumes if sum(volumes) > 0 else None
    center = np.average(centers, axis=0, weights=weights)
    empty: Any = bpy.data.objects.new(f"{named_by.name}_body", None)
    _home(context.scene, named_by).objects.link(empty)
    if common is None:
        empty.location = center
    else:
        # It takes over the rotation and scale of the common parent, so its parts keep their own.
        _parent(empty, common, np.eye(4))
        empty.location = np.linalg.solve(np.array(common.matrix_world), np.append(center, 1.0))[:3]
    context.view_layer.update()
    return empty  # type: ignore[no-any-return]


def _home(scene: Scene, obj: Object) -> Any:
    """The collection for new objects: the first editable one of an object in the scene, else that of the scene."""
    inside = {scene.collection, *scene.collection.children_recursive}
    for collection in obj.users_collection:
        if collection in inside and collection.is_editable:
            return collection
    return scene.collection


def _parent_space(obj: Object) -> frames.Matrix:
    """World matrix (4, 4) of the space that the object's `matrix_basis` is in."""
    if obj.parent is None:
        return np.eye(4)
    follows = obj.parent.type == "CURVE" and obj.parent.data.use_path
    if obj.parent_type == "OBJECT" and not follows:
        return np.asarray(np.array(obj.parent.matrix_world) @ np.array(obj.matrix_parent_inverse), float)
    return np.asarray(np.array(obj.matrix_world) @ np.linalg.pinv(np.array(obj.matrix_basis)), float)


def _parent(obj: Object, parent: Object, inverse: Any) -> None:
    """Parent an object to another. inverse: its `matrix_parent_inverse` (4, 4)."""
    obj.parent = parent
    obj.parent_type = "OBJECT"
    obj.matrix_parent_inverse = mathutils.Matrix(np.asarray(inverse, float).tolist())


def _move_mass_to_colliders(obj: Object, depsgraph: Depsgraph, outcome: EditCounts) -> None:
    """Move the mass of a body to its colliders, in proportion to their volumes."""
    mass, items = obj.usdphys.mass, list(obj.usdphys.colliders)
    if not mass.is_applied:
        return
    values = snapshot(mass)
    if not items:
        outcome.notes.append(
            f"'{obj.name}' has a mass but no collider to take it; add one or set the mass of the whole body."
        )
        return
    # The mass of a body overrides those of its colliders, so nothing is lost by replacing these.
    shares = _shares([_volume(obj, item, depsgraph) for item in items])
    for item, share in zip(items, shares, strict=True):
        same_space = len(items) == 1 and item.shape == "MESH"
        part = _mass_share(values, share, same_space, obj.name, outcome)
        if "mass" not in part and item.mass.is_applied:
            part = part | snapshot(item.mass)
        unset_all(item.mass)
        restore(item.mass, part)
        item.mass.is_applied = True
    unset_all(mass)


def _volume(obj: Object, item: PropertyGroup, depsgraph: Depsgraph) -> float:
    """Volume of a collider in its object's space; of the convex hull for a mesh."""
    evaluated = obj.evaluated_get(depsgraph)
    if item.shape in props.GPRIM_SHAPES:
        shape = _as_written(item, meshes.vertices_of(evaluated), np.array(obj.matrix_world))
        return fitting.volume(shape)
    hull = fitting.hull(meshes.vertices_of(evaluated))
    return hull.volume if hull is not None else 0.0


def _retarget_joints(scene: Scene, removed: set[str], body: Object, outcome: EditCounts) -> None:
    """Attach the joints of removed bodies to the body that replaces them, or add a note about them."""
    inside = removed | {body.name}
    for obj in scene.objects:
        joint = obj.usdphys.joint
        if not joint.is_applied:
            continue
        ends = [joint.body0, joint.body1]
        hit = [side for side in (0, 1) if ends[side] is not None and ends[side].name in removed]
        if not hit:
            continue
        if all(end is not None and end.name in inside for end in ends):
            outcome.notes.append(f"The joint '{obj.name}' now joins two parts of one body; remove it.")
            continue
        for side in hit:
            if any(joint.is_property_set(f"local_{part}{side}") for part in ("pos", "rot")) or not obj.is_editable:
                outcome.notes.append(
                    f"The joint '{obj.name}' still refers to '{ends[side].name}', which is no longer a body; choose "
                    "its body again."
                )
                continue
            setattr(joint, f"body{side}", body)
            joint.has_remembered_frames = False


# --------------------------------------------------------------------------- colliders as objects


@dataclass(slots=True)
class _Part:
    """A collider object to be made: a shape or a surface, in world lengths along the axes of the visible object."""

    shape: Primitive | None = None
    surface: Surface | None = None
    is_hull: bool = True

    @property
    def volume(self) -> float:
        if self.shape is not None:
            return fitting.volume(self.shape)
        return self.surface.volume if self.surface is not None else 0.0


def make_collider_objects(
    context: Context, objects: Sequence[Object], kind: str, *, margin: float = 0.0, axis: str = "AUTO",
    turned: bool = False, replace: bool = True,
) -> EditCounts:  # fmt: skip
    """Make collider objects, drawn as wires, below the visible objects.

    kind: one of `fitting.PRIMITIVE_KINDS`, or "HULL". margin: Blender units. axis: of a primitive, or AUTO. turned:
    allow primitives that are not aligned with the object. replace: remove collider objects of an earlier call. Raises
    InputError before anything is changed.
    """
    outcome = EditCounts()
    planned = []
    for obj, surface, world in _with_surface(context, objects, outcome):
        seen = surface.moved(fitting.stretch(world))
        planned.append((obj, world, _parts_of(obj, seen, kind, margin, axis, turned and _keeps(world))))
    _make(context, planned, replace, outcome)
    return outcome


def decompose_steps(
    context: Context, objects: Sequence[Object], wanted: convex_parts.Wanted, *, margin: float = 0.0,
    replace: bool = True,
) -> Steps[EditCounts]:  # fmt: skip
    """Make collider objects of the convex parts of meshes, step by step.

    margin: Blender units. replace: remove collider objects of an earlier call. Raises InputError and
    MissingDependencyError before anything is changed; closing the steps changes nothing.
    """
    outcome = EditCounts()
    planned = []
    scale = float(context.scene.unit_settings.scale_length) or 1.0
    for obj, surface, world in _with_surface(context, objects, outcome):
        try:
            parts, misfit, fewest = yield from convex_parts.split(surface.moved(fitting.stretch(world)), wanted)
        except MissingDependencyError as error:
            raise MissingDependencyError(
                f"The decomposition needs the physics engine, which is missing ({error.__cause__}); install the zip of "
                "the extension for this platform."
            ) from error
        except InputError as error:
            reason = str(error).rstrip(".")
            raise InputError(f"'{obj.name}' cannot be decomposed: {reason}.") from error
        fits = misfit._replace(distance=misfit.distance * scale)
        outcome.fits.append(f"'{obj.name}': {convex_parts.described(parts, fits)}")
        outcome.suggested.append(convex_parts.suggested(fewest))
        if 0.0 < wanted.error < misfit.error:
            outcome.notes.append(
                f"The parts of '{obj.name}' have an error of {misfit.error:.1%}, more than the {wanted.error:.1%} that "
                "are allowed."
            )
        grown = [fitting.hull(part.points, margin) or part for part in parts] if margin else parts
        planned.append((obj, world, [_Part(surface=part) for part in grown]))
    _make(context, planned, replace, outcome)
    return outcome


def _parts_of(obj: Object, seen: Surface, kind: str, margin: float, axis: str, turned: bool) -> list[_Part]:
    if kind in fitting.PRIMITIVE_KINDS:
        return [_Part(fitting.contain(seen.points, [kind], axis=axis, turned=turned, margin=margin))]
    whole = fitting.hull(seen.points, margin)
    if whole is None:
        raise InputError(f"'{obj.name}' is flat and has no convex hull; choose a box.")
    return [_Part(surface=whole)]


def split_loose(
    context: Context, objects: Sequence[Object], *, mode: str, limit: int = 64, margin: float = 0.0,
    turned: bool = True,
    replace: bool = True,
) -> EditCounts:  # fmt: skip
    """Make one collider for each loose part: child objects (mode OBJECTS) or primitives of the object (PRIMITIVES).

    limit: largest number of parts. margin: Blender units. turned: allow primitives that are not aligned with the
    object. Raises InputError before anything is changed.
    """
    outcome = EditCounts()
    split = []
    for obj, surface, world in _with_surface(context, objects, outcome):
        parts = fitting.loose_parts(surface.moved(fitting.stretch(world)))
        if len(parts) > limit:
            raise InputError(f"'{obj.name}' has {len(parts)} loose parts; raise the limit of {limit}, or join some.")
        split.append((obj, world, parts))
    if mode == "OBJECTS":
        planned = []
        for obj, world, parts in split:
            moves = is_moved(obj)
            made = []
            for part in parts:
                outer = fitting.hull(part.points, margin) if moves or margin > 0.0 else None
                made.append(_Part(surface=outer or part, is_hull=moves or outer is not None))
            planned.append((obj, world, made))
        _make(context, planned, replace, outcome)
        return outcome
    fits = [
        (obj, world, [fitting.contain(part.points, turned=turned and _keeps(world), margin=margin) for part in parts])
        for obj, world, parts in split
    ]
    for obj, world, shapes in fits:
        _replace_by_primitives(obj, world, shapes, outcome)
    return outcome


def _keeps(world: frames.Matrix) -> bool:
    """True if the world matrix scales uniformly, so that rotated primitives keep their proportions."""
    return frames.is_uniform(np.linalg.norm(world[:3, :3], axis=0), 1e-4) and not frames.is_sheared(world)


def _replace_by_primitives(obj: Object, world: frames.Matrix, shapes: list[Primitive], outcome: EditCounts) -> None:
    settings = _settings(obj, outcome)
    colliders = obj.usdphys.colliders
    colliders.clear()
    for shape, share in zip(shapes, _shares([fitting.volume(shape) for shape in shapes]), strict=True):
        item = colliders.add()
        restore(item, _shared(settings, share, obj.name, outcome))
        _set_primitive(item, fitting.to_object(shape, world))
        outcome.count += 1
    obj.usdphys.active_collider_index = 0


def _set_primitive(item: PropertyGroup, shape: Primitive) -> None:
    """Author shape, place and size of a collider. shape: in object space, Blender units."""
    for name in ("approximation", "other_approximation", "has_mesh_collision", "rotation", "axis", *_PLACED):
        item.property_unset(name)
    item.shape = _SHAPE_OF[shape.kind]
    item.location = shape.center.tolist()
    if not shape.is_aligned:
        item.rotation = frames.quaternion_of(shape.rotation)
    for name, value in fitting.sizes_of(shape).items():
        setattr(item, name, value)


def _make(
    context: Context, planned: list[tuple[Any, frames.Matrix, list[_Part]]], replace: bool, outcome: EditCounts
) -> None:
    for obj, world, parts in planned:
        settings = _settings(obj, outcome)
        material = settings.pop("physics_material", None) or physics_material_of(obj)
        earlier = _earlier(obj) if replace else []
        if earlier and not settings:
            settings = {
                name: value for name, value in snapshot(earlier[0].usdphys.colliders[0]).items() if name not in _FORM
            }
            settings.pop("mass", None)
        for old in earlier:
            _remove(old)
        outcome.replaced += len(earlier)
        home = _home(context.scene, obj)
        for number, (part, share) in enumerate(zip(parts, _shares([part.volume for part in parts]), strict=True), 1):
            name = f"{obj.name}_collider{f'_{number}' if len(parts) > 1 else ''}"
            child = _collider_object(name, part, obj, world, home)
            item = child.usdphys.colliders.add()
            restore(item, _shared(settings, share, obj.name, outcome))
            item.purpose = "GUIDE"
            if part.shape is not None:
                # Place and size stay automatic, so that the collider follows edits of the wire mesh.
                item.shape = _SHAPE_OF[part.shape.kind]
                if frames.is_sheared(world):
                    _set_primitive(item, fitting.to_object(part.shape, world))
                elif part.shape.kind in (usd_geom.Capsule, usd_geom.Cylinder):
                    item.axis = "XYZ"[part.shape.axis]
            else:
                item.shape = "MESH"
                if part.is_hull:
                    item.approximation = "convexHull"
            if material is not None:
                child.usdphys.physics_material = material
            outcome.count += 1
        obj.usdphys.colliders.clear()
    context.view_layer.update()


def _collider_object(name: str, part: _Part, obj: Object, world: frames.Matrix, home: Any) -> Any:
    """Create a child object that is drawn as a wire, is not rendered and has no scale in the world.

    The mesh of a primitive has only edges. Below a sheared object, the child is sheared like it, because its own
    location, rotation and scale cannot undo a shear.
    """
    data = bpy.data.meshes.new(name)
    place = frames.unscaled(world)
    if part.shape is not None:
        points, edges = fitting.wire_of(part.shape)
        inner = frames.transform(part.shape.center, part.shape.rotation)
        faces: Any = []
    else:
        assert part.surface is not None
        points, edges, inner = part.surface.points, [], np.eye(4)
        faces = part.surface.triangles.tolist()
    if frames.is_sheared(world):
        seen = points @ inner[:3, :3].T + inner[:3, 3]
        points, place, inner = seen @ np.linalg.inv(fitting.stretch(world)).T, world, np.eye(4)
    data.from_pydata(points.tolist(), edges, faces)
    data.update()
    child: Any = bpy.data.objects.new(name, data)
    _parent(child, obj, np.eye(4))
    child.matrix_basis = mathutils.Matrix(np.linalg.solve(world, place @ inner).tolist())
    child.display_type = "WIRE"
    child.hide_render = True
    home.objects.link(child)
    physics_collections.move(child, physics_collections.COLLIDERS)
    return child


def _earlier(obj: Object) -> list[Any]:
    """Collider objects that an earlier call made for an object, recognised by name, type and visibility."""
    return [
        child for child in obj.children
        if child.name.startswith(f"{obj.name}_collider") and child.type == "MESH" and child.hide_render
        and child.is_editable and len(child.usdphys.colliders) and not child.children
    ]  # fmt: skip


def _remove(obj: Object) -> None:
    data = obj.data
    bpy.data.objects.remove(obj)
    if data is not None and not data.users:
        bpy.data.meshes.remove(data)


# --------------------------------------------------------------------------- fitted primitives


def _as_written(item: PropertyGroup, points: Any, world: frames.Matrix) -> Primitive:
    """The primitive, in object space, that an export writes for a collider. points: (n, 3) in object space."""
    shape = _fitted(item, points, world)
    if item.is_property_set("location"):
        shape.center = np.array(item.location, float)
    if item.is_property_set("size"):
        shape.size = np.array(item.size, float)
    for name in ("radius", "height"):
        if item.is_property_set(name):
            setattr(shape, name, getattr(item, name))
    return shape


def _fitted(item: PropertyGroup, points: Any, world: frames.Matrix) -> Primitive:
    rotation = frames.matrix_of(item.rotation) if item.is_property_set("rotation") else np.eye(3)
    return primitives.fit_in(props.GPRIM_SHAPES[item.shape], points, "XYZ".index(item.axis), rotation, world)


def _items(obj: Object, only_active: bool) -> list[Any]:
    items = list(obj.usdphys.colliders)
    if not only_active:
        return items
    index = obj.usdphys.active_collider_index
    return items[index : index + 1]


def fit_colliders(
    context: Context, objects: Sequence[Object], *, explicit: bool, only_active: bool = False
) -> EditCounts:
    """Fit primitive colliders to the mesh again: automatically, or by setting place and size if `explicit`.

    Raises InputError if there is no primitive collider or no mesh to fit it to.
    """
    outcome = EditCounts()
    context.view_layer.update()
    depsgraph = context.evaluated_depsgraph_get()
    planned: list[tuple[Any, Primitive | None]] = []
    chosen = editable(objects, outcome)
    for obj in chosen:
        items = [item for item in _items(obj, only_active) if item.shape in props.GPRIM_SHAPES]
        if not items:
            outcome.notes.append(f"'{obj.name}' has no primitive collider.")
            continue
        points = meshes.vertices_of(obj.evaluated_get(depsgraph))
        if not len(points):
            outcome.notes.append(f"'{obj.name}' has no mesh to fit its colliders to.")
            continue
        world = np.array(obj.matrix_world)
        for item in items:
            shape = _fitted(item, points, world)
            if item.is_geometry and not _is_plain(shape):
                outcome.notes.append(
                    f"'{obj.name}' is itself the collider and is not centred on its origin; set the origin to "
                    "the geometry and apply the scale, or make the collider again."
                )
                continue
            planned.append((item, shape if explicit or item.is_geometry else None))
    if not planned:
        raise InputError(outcome.notes[-1])
    for item, primitive in planned:
        for name in _PLACED:
            if primitive is None or not item.is_geometry:
                item.property_unset(name)
        if primitive is None:
            pass
        elif item.is_geometry:
            for name, value in fitting.sizes_of(primitive).items():
                setattr(item, name, value)
        else:
            item.location = primitive.center.tolist()
            for name, value in fitting.sizes_of(primitive).items():
                if name != "axis":
                    setattr(item, name, value)
        outcome.count += 1
    return outcome


def _is_plain(shape: Primitive) -> bool:
    """True if a USD gprim without a transform can be this primitive: centred, aligned, and a cube if a box."""
    least = 1e-4 * float(shape.size.max())
    if float(np.abs(shape.center).max()) > least or not shape.is_aligned:
        return False
    return shape.kind is not usd_geom.Cube or float(np.ptp(shape.size)) <= least


def to_primitives(
    context: Context, objects: Sequence[Object], *, turned: bool = False, margin: float = 0.0
) -> EditCounts:
    """Replace automatic and mesh colliders by the primitive of least volume that contains the mesh.

    turned: allow primitives that are not aligned with the object. margin: Blender units. Raises InputError if there is
    no such collider.
    """
    outcome = EditCounts()
    planned = []
    for obj, surface, world in _with_surface(context, objects, outcome):
        items = [item for item in obj.usdphys.colliders if item.shape in ("AUTO", "MESH") and not item.is_geometry]
        if not items:
            outcome.notes.append(f"'{obj.name}' has no automatic or mesh collider.")
            continue
        seen = surface.moved(fitting.stretch(world))
        shape = fitting.contain(seen.points, turned=turned and _keeps(world), margin=margin)
        planned.append((items[0], fitting.to_object(shape, world)))
        if len(items) > 1:
            outcome.notes.append(f"'{obj.name}' has several colliders of its own mesh; the first is replaced.")
    if not planned:
        raise InputError(outcome.notes[-1])
    for item, primitive in planned:
        _set_primitive(item, primitive)
        outcome.count += 1
    return outcome
