# SPDX-License-Identifier: GPL-3.0-or-later
"""Computed values for panels: a draw requests a value, and a job computes it a moment later.

A draw gets the last value at once. Values of closed panels are not requested and not computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy

from ..authoring import group_edits
from ..bridge import scene_watch
from ..bridge.environment import redraw
from ..bridge.roles import parents_of
from ..core import clock
from ..core.schemas import usd_geom, usd_physics
from ..playback import guard as preview_guard
from ..worker import jobs
from ..worker.queue import Job

if TYPE_CHECKING:
    from ..core.model import PhysicsModel, Prim

#: Seconds between a request and its computation.
PAUSE = 0.1
#: A value is valid for this many seconds or until an edit, and at least this many times as long as it took to compute.
KEEP = 0.3
SHARE = 20.0


class MassReadout(NamedTuple):
    """The computed mass of a body: kg, Blender units in the object's space, kg m2; sources as phrases.

    problem: the reason if no mass can be computed, else empty.
    """

    mass: float = 0.0
    center_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    diagonal_inertia: tuple[float, float, float] = (0.0, 0.0, 0.0)
    principal_axes: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    sources: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""


class Matter(NamedTuple):
    """What is computed of an object. shapes: what each of its colliders is, such as "Box"."""

    mass: MassReadout
    shapes: tuple[str, ...]


def matter_of(context: bpy.types.Context, objects: Sequence[bpy.types.Object]) -> Iterator[Matter]:
    """What is computed of each of some objects, from one model. Mass and shapes do not depend on poses."""
    from ..core import mass

    families = {obj: (obj, *obj.children_recursive, *parents_of(obj)) for obj in objects}
    # The mesh of what is edited cannot be read meanwhile.
    edited = {obj for obj, family in families.items() if any(one.mode == "EDIT" for one in family)}
    played = _played(context, objects)
    if played is None:
        model, paths = _read(context, {one.name_full for obj in objects if obj not in edited for one in families[obj]})
    else:
        model, paths = played
    colliders = mass.colliders_by_body(model, paths.values())
    for obj in objects:
        if obj in edited:
            yield Matter(MassReadout(problem="It is computed in Object Mode"), ())
        else:
            path = paths.get(obj.name_full, "")
            yield Matter(_mass_in(model, obj, path, colliders.get(path, [])), _shapes_in(model, obj))


def _read(context: bpy.types.Context, names: Collection[str]) -> tuple[PhysicsModel, dict[str, str]]:
    """A model of the objects with these full names, and the paths of objects in it by full name."""
    from ..bridge import scene_read

    reading = scene_read.read_scene(context.evaluated_depsgraph_get(), keep=lambda other: other.name_full in names)
    return reading.model, {site.obj.name_full: path for path, site in reading.sites.items() if site.instance is None}


def _played(
    context: bpy.types.Context, objects: Iterable[bpy.types.Object]
) -> tuple[PhysicsModel, dict[str, str]] | None:  # fmt: skip
    """The model that a preview of this scene has read, and the paths of objects in it by full name.

    Reading the scene again would make the preview stutter. None without a preview, and where it has not read an edit.
    """
    session = preview_guard.current()
    if session is None or session.scene_name != context.scene.name or session.has_edits:
        return None
    paths = {prim.label: path for path, prim in session.model.bodies.items() if prim.label}
    paths |= {name: path for path, name in zip(session.world.paths, session.shown.names, strict=True) if name}
    return session.model, {obj.name_full: paths[obj.name] for obj in objects if obj.name in paths}


def compute_mass(context: bpy.types.Context, name: str) -> MassReadout:
    """The computed mass of the rigid body of an object."""
    obj = bpy.data.objects.get(name)
    if obj is None:
        return MassReadout(problem=f"There is no object '{name}'")
    return next(matter_of(context, [obj])).mass


def _mass_in(model: PhysicsModel, obj: bpy.types.Object, path: str, colliders: list[Prim]) -> MassReadout:
    from ..core import frames, mass

    prim = model.prims.get(path)
    if prim is None and not obj.visible_get():
        return MassReadout(problem="The object is hidden, and hidden bodies are not simulated")
    if prim is None or prim.get(usd_physics.RigidBodyAPI) is None:
        return MassReadout(problem="Only a rigid body has a mass")
    properties = mass.mass_properties(model, path, colliders)
    # The body's frame has no scale; the object's space has one.
    scale = frames.scale_of(prim.world) * model.units.meters_per_unit
    x, y, z = (part / (size or 1.0) for part, size in zip(properties.center_of_mass, scale.tolist(), strict=True))
    return MassReadout(
        properties.mass, (x, y, z), properties.diagonal_inertia, properties.principal_axes,
        (("mass", _short(properties.mass_source.text)), ("center_of_mass", _short(properties.center_source.text)),
         ("diagonal_inertia", _short(properties.inertia_source.text)),
         ("principal_axes", _short(properties.axes_source.text))),
        properties.notes,
    )  # fmt: skip


def _short(text: str) -> str:
    """A phrase without the prim paths that follow object names."""
    return re.sub(r"(?<=') \(/[^()]*\)", "", text)


def compute_members(_context: bpy.types.Context, name: str) -> tuple[str, ...]:
    """Names of the objects that belong to a collision group."""
    return tuple(obj.name for obj in group_edits.members(name))


_APPROXIMATIONS = {
    "none": "Triangle Mesh", "convexHull": "Convex Hull", "convexDecomposition": "Convex Parts",
    "boundingCube": "Box", "boundingSphere": "Sphere", "meshSimplification": "Simplified Mesh",
}  # fmt: skip


def compute_shapes(context: bpy.types.Context, name: str) -> tuple[str, ...]:
    """What each collider of an object is, such as "Box"; empty if it has none that can be read."""
    obj: Any = bpy.data.objects.get(name)
    if obj is None:
        return ()
    played = _played(context, [obj])
    model, _ = _read(context, {one.name_full for one in (obj, *parents_of(obj))}) if played is None else played
    return _shapes_in(model, obj)


def _shapes_in(model: PhysicsModel, obj: Any) -> tuple[str, ...]:
    names = [_shape_name(prim) for prim in model.colliders.values() if prim.label == obj.name]
    return tuple(names) if len(names) == len(obj.usdphys.colliders) else ()


def _shape_name(prim: Prim) -> str:
    if prim.get(usd_geom.Gprim) is not None:
        return "Box" if prim.type_name == "Cube" else prim.type_name
    mesh = prim.get(usd_physics.MeshCollisionAPI)
    return _APPROXIMATIONS.get("none" if mesh is None else mesh.resolved("approximation"), "Mesh")


_KINDS: dict[str, Callable[[bpy.types.Context, str], Any]] = {
    "mass": compute_mass, "members": compute_members, "shapes": compute_shapes,
}  # fmt: skip


#: Kinds that simulated poses do not change: they are computed while a preview runs, too.
_WITHOUT_POSES = {"members", "mass", "shapes"}


def know(kind: str, computed: Callable[[bpy.types.Context, str], Any], *, needs_poses: bool = True) -> None:
    """Compute one more kind of values for panels: (context, name) -> value.

    needs_poses: of the authored poses, so that it waits while a preview runs.
    """
    _KINDS[kind] = computed
    if not needs_poses:
        _WITHOUT_POSES.add(kind)


class _Known(NamedTuple):
    """A computed value, its time, the duration of its computation in seconds, and the count of edits it is for."""

    value: Any
    at: float
    took: float
    edits: int


class _Key(NamedTuple):
    """What is asked for. scene, layer: what the window shows that asks; another one may show another scene."""

    kind: str
    name: str
    scene: str
    layer: str


_known: dict[_Key, _Known] = {}
_asked: list[_Key] = []


def _key(kind: str, name: str) -> _Key:
    scene, layer = bpy.context.scene, bpy.context.view_layer
    return _Key(kind, name, "" if scene is None else scene.name, "" if layer is None else layer.name)


def shapes_of(name: str) -> tuple[str, ...] | None:
    """For a draw: what the colliders of an object are, as last computed; None where it is not known yet."""
    shapes: tuple[str, ...] | None = ask("shapes", name)
    return shapes


def mass_of(name: str) -> MassReadout | None:
    """For a draw: the mass of an object's body as last computed; None where it is not known yet."""
    readout_known: MassReadout | None = ask("mass", name)
    return readout_known


def has_failed(kind: str, name: str) -> bool:
    """True if the last computation of a value ended by an error."""
    known = _known.get(_key(kind, name))
    return known is not None and known.value is None


def members_of(name: str) -> tuple[str, ...] | None:
    """For a draw: the members of a collision group as last computed; None where they are not known yet."""
    members: tuple[str, ...] | None = ask("members", name)
    return members


def ask(kind: str, name: str) -> Any:
    """For a draw: what is known of a kind (see `know`) for a name; None where it is not known yet."""
    key = _key(kind, name)
    known = _known.get(key)
    scene_watch.look_at_operators()
    # No handler runs when a script changes a property, but the panels are drawn.
    is_due = known is None or clock.now() - known.at >= max(
        KEEP if known.edits == scene_watch.stamp_of(key.scene).edits else 0.0, SHARE * known.took
    )
    if is_due and (kind in _WITHOUT_POSES or preview_guard.current() is None):
        if key not in _asked:
            _asked.append(key)
        jobs.add(compute)
    return known.value if known is not None else None


def compute() -> Job:
    """Job: compute the requested values, and redraw the panels where one has changed."""
    yield PAUSE
    while _asked:
        key = _asked.pop(0)
        if _key(key.kind, key.name) == key:
            _compute(key)
        else:
            _compute_in_window(key)
        yield 0.0


def _compute_in_window(key: _Key) -> None:
    """In the window that has asked; not at all where it shows something else by now."""
    for window in bpy.context.window_manager.windows:
        with bpy.context.temp_override(window=window):
            if _key(key.kind, key.name) == key:
                _compute(key)
                return


def _compute(key: _Key) -> None:
    kind, name = key.kind, key.name
    if len(_known) > 64:
        _known.clear()
    start = clock.now()
    try:
        value = _KINDS[kind](bpy.context, name)
    except Exception as error:  # a panel has nobody to tell it to
        from ..system.console import note

        note(f"USD Physics: the {kind} of '{name}' could not be computed: {type(error).__name__}: {error}")
        value = None
    is_new = key not in _known or _known[key].value != value
    now = clock.now()
    _known[key] = _Known(value, now, now - start, scene_watch.stamp_of(key.scene).edits)
    if is_new:
        redraw("VIEW_3D", "PROPERTIES")


def forget() -> None:
    """Drop all values and requests: another file is loaded, or a step undone."""
    _known.clear()
    _asked.clear()


def register() -> None:
    jobs.on_load.append(forget)
    jobs.on_undo.append(forget)


def unregister() -> None:
    jobs.on_load.remove(forget)
    jobs.on_undo.remove(forget)
    jobs.cancel(compute)
    forget()
