# SPDX-License-Identifier: GPL-3.0-or-later
"""Cached vertices of the scenes on screen: a draw requests a scene, and a job reads it a moment later.

A draw gets the last vertices at once, moved with their objects. Scenes that no view shows are not read. No reference to
a Blender object is kept: objects are indices into the list of all objects, and a change of its names is detected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, ViewLayer

from ..bridge import props, scene_watch
from ..bridge.environment import redraw
from ..core import clock
from ..playback import guard as preview_guard
from ..system import faults
from ..system.collector import gc_paused
from ..worker import jobs
from ..worker.queue import Job

if TYPE_CHECKING:
    from numpy.typing import NDArray

    # Imported late: enabling the add-on must not wait for modules that only a draw needs.
    from ..core.model import PhysicsModel, Prim
    from .draw_data import Drawing, Vertices
    from .scene_shapes import Carriers, Options

#: QUIET: seconds without a change before a scene is read. KEEP: seconds after a reading before a redraw alone makes the
#: scene be read again, or SHARE times what that reading took if this is longer.
QUIET, KEEP, SHARE = 0.15, 0.5, 10.0
#: Name of a scene, name of its view layer, and the view whose own choice of objects counts; 0 for none.
Key = tuple[str, str, int]


@dataclass(slots=True, eq=False, repr=False)
class _SceneContents:
    """A scene as it was read, or as its preview has it.

    carriers: what moves the vertices: the objects of the scene, or the bodies of the preview. meters: length of a
    Blender unit. edits: count of the scene's edits when it was read; -1 to have it read again. rows: indices of the
    carriers in the list of all objects. names: of all objects in that list. visible: names of the visible objects.
    origin, world: model and solver world of the preview. at: time at which the reading ended. took: its seconds.
    """

    model: PhysicsModel
    carriers: Carriers
    meters: float = 1.0
    edits: int = -1
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    names: list[str] = field(default_factory=list)
    visible: frozenset[str] = frozenset()
    origin: Any = None
    world: Any = None
    at: float = 0.0
    took: float = 0.0


class _Inputs(NamedTuple):
    """All that a drawing is computed from, except for the places of objects. When they differ, it is outdated.

    stamp: of the scene, without edits while its preview runs. preview: identity of the preview's model; 0 without one.
    """

    options: Options
    stamp: scene_watch.Stamp
    preview: int

    def with_edits_of(self, other: _Inputs) -> _Inputs:
        return self._replace(stamp=self.stamp._replace(edits=other.stamp.edits))


@dataclass(slots=True, eq=False, repr=False)
class ViewDrawing:
    """The drawing of a scene in a view, and the positions of its vertices.

    known: the contents of the scene that it shows. inputs: those at the time when it was made. moved: the positions
    have changed since the code that draws has uploaded them to the GPU. batch, look, extra: of that code; nothing here
    reads them.
    """

    drawing: Drawing
    known: _SceneContents
    inputs: _Inputs
    positions: Vertices = field(default_factory=lambda: np.zeros((0, 3), np.float32))
    colors: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    moved: bool = True
    batch: Any = None
    look: Any = None
    extra: Any = None
    _marks: Any = None
    _last: dict[int, Any] = field(default_factory=dict)

    def move(self, session: Any) -> bool:
        """Move the vertices with their carriers; False if the list of objects has changed since the scene was read."""
        if session is not None:
            return self._follow(session.world)
        # Blender does not notify about every object that is added or removed.
        if len(bpy.data.objects) != len(self.known.names):
            return False
        moves = scene_watch.moves()
        if self._marks == moves:
            return True
        if bpy.data.objects.keys() != self.known.names:
            return False
        self._marks = moves
        self.colors = self.drawing.colors
        self.positions = self.drawing.positions(_matrices(self.known), self.known.meters)
        self.moved = True
        return True

    def _follow(self, world: Any) -> bool:
        from . import scene_shapes

        now = (world.positions, world.rotations, world.awake)
        if self._marks is not None and all(map(np.array_equal, self._marks, now)):
            return True
        self._marks = tuple(values.copy() for values in now)
        drawing = self.drawing
        asleep = (drawing.owners > 0) & (drawing.colors == scene_shapes.DYNAMIC)
        asleep[asleep] = ~world.awake[drawing.owners[asleep] - 1]
        self.colors = np.where(asleep, scene_shapes.ASLEEP, drawing.colors)
        matrices = np.concatenate((np.eye(4)[None], world.matrices()))
        self.positions = drawing.positions(matrices, self.known.meters)
        self.moved = True
        return True


_scenes: dict[tuple[str, str], _SceneContents] = {}
#: The last drawing of each view.
views: dict[Key, ViewDrawing] = {}
#: What is to be read: the options of the view, and True to read it even while the scene is being edited.
_wanted: dict[Key, tuple[Options, bool]] = {}


def forget() -> None:
    """Drop all scenes: after loading a file or an undo."""
    _scenes.clear()
    views.clear()
    _wanted.clear()


def session_of(name: str) -> Any:
    """The preview of a scene, if there is one."""
    session = preview_guard.current()
    return session if session is not None and session.scene_name == name else None


# --------------------------------------------------------------------------- for a draw


def view_of(key: Key, options: Options, region: int = 0, perspective: Any = None) -> ViewDrawing | None:
    """The drawing of a view, moved with its objects; None if the scene is not read yet or has nothing to draw.

    region, perspective: the region that is drawn, and its view matrix. Blender does not report every change. If it
    draws a region again with the same matrix, something unreported may have changed, so the scene is read again.
    """
    name = key[0]
    session = session_of(name)
    scene_watch.look_at_operators()
    view, inputs = views.get(key), _inputs(key, options)
    if view is None or view.inputs != inputs:
        # Only edits may go on for a while.
        _ask(key, options, view is None or view.inputs.with_edits_of(inputs) != inputs)
    elif session is None and perspective is not None:
        known = view.known
        if view._last.get(region) == perspective and clock.now() - known.at > max(KEEP, SHARE * known.took):
            known.edits = -1
            _ask(key, options, False)
        view._last[region] = perspective
    if view is None or not view.drawing.total or view.known.world is not (session and session.world):
        return None
    if not view.move(session):
        # An object was added, removed or renamed.
        scene_watch.note_edit(name)
        _ask(key, options, True)
        return None
    return view


def _inputs(key: Key, options: Options) -> _Inputs:
    """What a drawing of a view is to be computed from now."""
    stamp, session = scene_watch.stamp_of(key[0]), session_of(key[0])
    if session is None:
        return _Inputs(options, stamp, 0)
    return _Inputs(options, stamp._replace(edits=-1), id(session.model))


def _ask(key: Key, options: Options, soon: bool) -> None:
    """Have a drawing made. soon: even while the scene is being edited."""
    _wanted[key] = (options, soon or _wanted.get(key, (options, False))[1])
    jobs.add(read_wanted)


def _matrices(known: _SceneContents) -> NDArray[np.float64]:
    """World matrices of the carriers, (n, 4, 4), metres; row 0 is the world."""
    flat = np.empty(16 * len(bpy.data.objects), np.float32)
    bpy.data.objects.foreach_get("matrix_world", flat)
    matrices = np.empty((len(known.rows) + 1, 4, 4))
    matrices[0] = np.eye(4)
    # foreach_get returns matrices in column order.
    matrices[1:] = flat.reshape(-1, 4, 4)[known.rows].transpose(0, 2, 1)
    matrices[1:, :3, 3] *= known.meters
    return matrices


# --------------------------------------------------------------------------- reading


def read_wanted() -> Job:
    """Job: read the requested scenes, each once it has not changed for a while."""
    wait = 0.0
    while _wanted:
        yield wait
        wait = max(0.02, _read_quiet_ones())


def _read_quiet_ones() -> float:
    """Read the requested scenes that may be read by now. Returns the seconds until the others may be."""
    waits = 0.0
    for key, (options, soon) in list(_wanted.items()):
        known = _scenes.get(key[:2])
        quiet = scene_watch.seconds_quiet(key[0])
        pause = QUIET if known is None else max(QUIET, min(1.0, known.took))
        if not soon and known is not None and quiet < pause:
            waits = max(waits, pause - quiet)
            continue
        del _wanted[key]
        try:
            if renew(key, options):
                redraw("VIEW_3D")
        except Exception:  # tell it here: only here it is known which scene has nothing to draw
            faults.tell()
            views[key] = ViewDrawing(_no_drawing(), _nothing(), _inputs(key, options))
    return waits


def renew(key: Key, options: Options, layer: Any = None) -> bool:
    """Read a scene if needed, and build its drawing. Returns True if the drawing has changed.

    layer: the view layer; needed only if no window shows it.
    """
    if layer is None:
        layer = next((window.view_layer for window in bpy.context.window_manager.windows
                      if (window.scene.name, window.view_layer.name) == key[:2]), None)  # fmt: skip
    if layer is None:
        views.pop(key, None)
        return False
    session = session_of(key[0])
    if session is None:
        # Update the depsgraph before taking the change counters.
        layer.update()
    inputs = _inputs(key, options)
    known, drawing = _nothing(), _no_drawing()
    if _is_wanted(options, layer):
        if session is not None:
            known = _of_session(key, session, layer)
            drawing = _built(key, options, known, layer)
        else:
            known, drawing = _of_scene(key, options, layer)
    for other in [other for other in views if other[2] and not _is_own(_space(other[2]))]:
        del views[other]
    old = views.get(key)
    if old is not None and old.known.world is known.world and old.drawing.is_same(drawing):
        # The drawing is the same, but its objects may have other rows in the list of all objects.
        old.known, old.inputs, old._marks = known, inputs, None
        return False
    views[key] = ViewDrawing(drawing, known, inputs)
    return True


def _is_wanted(options: Options, layer: ViewLayer) -> bool:
    """False if nothing would be drawn: overlays are off, or limited to selected objects without physics."""
    scopes = options.scopes
    if "ALL" in scopes:
        return True
    return "SELECTED" in scopes and any(props.is_physical(obj) for obj in layer.objects.selected)


def _no_drawing() -> Drawing:
    from .draw_data import Drawing

    return Drawing().finish()


def _nothing() -> _SceneContents:
    from ..core.model import PhysicsModel
    from .scene_shapes import Carriers

    return _SceneContents(PhysicsModel(), Carriers(), names=bpy.data.objects.keys(), at=clock.now())


def _is_own(space: Any) -> bool:
    """True for a view with local view or its own visible collections."""
    return space is not None and (space.local_view is not None or space.use_local_collections)


def view_key(context: Context, space: Any) -> Key:
    """The key of the drawing for a 3D view. Views share a drawing unless they have a visibility of their own."""
    return context.scene.name, context.view_layer.name, space.as_pointer() if _is_own(space) else 0


def _visible(layer: ViewLayer, space: Any = None) -> frozenset[str]:
    """Names of the visible objects of a view layer, or of one 3D view."""
    if space is not None:
        return frozenset(obj.name for obj in layer.objects if obj.visible_in_viewport_get(space))
    return frozenset(obj.name for obj in layer.objects if obj.visible_get(view_layer=layer))


def _built(key: Key, options: Options, known: _SceneContents, layer: ViewLayer) -> Drawing:
    """The drawing of a scene that was read, for the present selection and visibility."""
    from . import scene_shapes

    hidden = known.visible - _visible(layer, _space(key[2]) if key[2] else None)
    seen = scene_shapes.Seen(frozenset(obj.name for obj in layer.objects.selected), hidden)
    return scene_shapes.build(known.model, options, seen, known.carriers)


def _space(pointer: int) -> Any:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            for space in area.spaces if area.type == "VIEW_3D" else ():
                if space.as_pointer() == pointer:
                    return space
    return None


def _of_scene(key: Key, options: Options, layer: ViewLayer) -> tuple[_SceneContents, Drawing]:
    """Contents and drawing of a scene. It is read only if the contents at hand are outdated or not enough."""
    from .scene_shapes import NotLoadedError

    known = _scenes.get(key[:2])
    if known is not None and known.world is None and known.names == bpy.data.objects.keys():
        active = layer.objects.active
        # A mesh in edit mode has no faces to read: keep its last ones.
        is_edited = active is not None and active.mode == "EDIT"
        if is_edited or (known.edits == scene_watch.stamp_of(key[0]).edits and _visible(layer) <= known.visible):
            try:
                return known, _built(key, options, known, layer)
            except NotLoadedError:
                pass
    return _read(key, options, layer)


class _Loader:
    """Loads the mesh of a prim once, while the evaluated scene is available: until `end`."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._known: list[Any] = []

    def __call__(self) -> Any:
        if not self._known:
            self._known.append(self._load())
        return self._known[0]

    def end(self) -> None:
        self._load = _gone


def _gone() -> Any:
    from .scene_shapes import NotLoadedError

    raise NotLoadedError


def _read(key: Key, options: Options, layer: ViewLayer) -> tuple[_SceneContents, Drawing]:
    from ..bridge import scene_read
    from . import scene_shapes

    start = clock.now()
    with gc_paused():
        reading = scene_read.read_scene(layer.depsgraph)
        loaders = []

        def loader(prim: Prim) -> _Loader | None:
            if prim.mesh is None:
                return None
            loaders.append(_Loader(prim.mesh))
            return loaders[-1]

        model = scene_shapes.with_meshes(reading.model, loader)
        places: dict[int, int] = {}
        rows, starts, by_path = [], [np.eye(4)], {}
        numbers = {obj.session_uid: row for row, obj in enumerate(bpy.data.objects)}
        meters = model.units.meters_per_unit
        for path, site in reading.sites.items():
            obj = site.obj
            if site.instance is not None:
                obj = bpy.data.objects.get(site.instance[0]) or obj
            row = numbers.get(obj.session_uid)
            if row is None:
                continue
            if row not in places:
                places[row] = len(starts)
                rows.append(row)
                matrix = np.array(obj.matrix_world, float)
                matrix[:3, 3] *= meters
                starts.append(matrix)
            by_path[path] = places[row]
        carriers = scene_shapes.Carriers(by_path, np.array(starts), holds_joints=True)
        known = _scenes[key[:2]] = _SceneContents(
            model, carriers, meters, scene_watch.stamp_of(key[0]).edits, np.array(rows, np.int64),
            bpy.data.objects.keys(), _visible(layer),
        )  # fmt: skip
        try:
            return known, _built(key, options, known, layer)
        finally:
            for one in loaders:
                one.end()
            known.at = clock.now()
            known.took = known.at - start


def _of_session(key: Key, session: Any, layer: ViewLayer) -> _SceneContents:
    """The model of a preview, whose bodies carry everything."""
    from . import scene_shapes

    known = _scenes.get(key[:2])
    if known is not None and known.origin is session.model and known.world is session.world:
        return known
    model = scene_shapes.with_meshes(session.model, lambda prim: partial(_mesh_now, prim, key, session.meters))
    rows = {path: row + 1 for row, path in enumerate(session.world.paths)}
    starts = np.array([np.eye(4), *(model.prims[path].world for path in session.world.paths)], float)
    known = _scenes[key[:2]] = _SceneContents(
        model, scene_shapes.Carriers(rows, starts), session.meters, origin=session.model, world=session.world,
        visible=frozenset(obj.name for obj in layer.objects),
    )  # fmt: skip
    return known


def contents_of_session(context: Context, session: Any) -> _SceneContents:
    """The model of a preview and what carries it, for drawings beside those of the views."""
    layer: Any = context.view_layer
    return _of_session((context.scene.name, layer.name, 0), session, layer)


def _mesh_now(prim: Prim, key: Key, meters: float) -> Any:
    """The mesh of a prim of a preview: the loaded one, else that of the object with the name of the prim."""
    from . import scene_shapes

    mesh = scene_shapes.known_mesh(prim)
    obj, layer = bpy.data.objects.get(prim.label), _layer(key)
    if mesh is None and obj is not None and layer is not None:
        evaluated = obj.evaluated_get(layer.depsgraph)
        from ..bridge import mesh as meshes

        mesh = meshes.read_mesh(evaluated, meters) if obj.type in meshes.GEOMETRY_TYPES else None
    return mesh


def _layer(key: Key) -> Any:
    """The view layer of a key, if there is one."""
    scene = bpy.data.scenes.get(key[0])
    return scene.view_layers.get(key[1]) if scene is not None else None


def register() -> None:
    jobs.on_load.append(forget)
    jobs.on_undo.append(forget)


def unregister() -> None:
    jobs.on_load.remove(forget)
    jobs.on_undo.remove(forget)
    jobs.cancel(read_wanted)
    forget()
