# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks that Blender's glTF importer and exporter call, and how one call gets hooks of its own.

Blender looks for `glTF2ImportUserExtension` and `glTF2ExportUserExtension` in the root module of every add-on, at each
run, and makes one instance of each. An exception in a hook is only logged on export, and stops Blender's import; so
each hook catches everything and keeps the error.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType, ModuleType
from typing import Any, Protocol

import bpy
from bpy.types import Context, Menu, Object, Scene

from ..bridge.language import tr
from ..core.errors import UsdPhysError
from ..core.lines import lines as in_lines
from ..core.validate import Issue
from ..core.words import joined, phrase, tally
from ..system import faults
from ..system.collector import age_objects, gc_paused
from ..system.console import note
from ..worker import jobs
from ..worker.queue import Job

IMPORTER, EXPORTER = "glTF2ImportUserExtension", "glTF2ExportUserExtension"
#: Not empty while one call has its own hooks, so that those of the add-on rest.
_suspended: list[str] = []
#: Not empty while the garbage collector rests because of us.
_resting: list[bool] = []
#: The package of Blender's importer and exporter.
_BLENDERS_GLTF = "io_scene_gltf2"
#: Messages, and letters of a line, that a window shows after an export.
_MOST_SHOWN, _LINE = 8, 100


def has_main_loop() -> bool:
    """True where jobs go on once an operator has ended, however it ends."""
    return not bpy.app.background


def rest_collector() -> None:
    """Have the garbage collector rest while Blender imports or exports, until `wake_collector`.

    It would traverse the file's dictionaries again and again, which costs more than all of the physics. An importer
    that fails calls no hook: then a job wakes it, or, without a window, the next update of a scene.
    """
    if not gc.isenabled():
        return
    gc.disable()
    _resting.append(True)
    if has_main_loop():
        jobs.add(wake_collector_later, survives=True)
    else:
        bpy.app.handlers.depsgraph_update_post.append(_wake_after_import)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _wake_after_import(*_scene_and_depsgraph: Any) -> None:
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(_BLENDERS_GLTF):
            return  # an update that the importer itself has asked for
        frame = frame.f_back
    wake_collector()


def wake_collector_later() -> Job:
    """Job: wake the collector when the operator has ended, or when the add-on is disabled before."""
    try:
        yield 0.0
    finally:
        wake_collector()


def wake_collector() -> None:
    """Let the garbage collector work again if it rests because of us."""
    if _resting:
        _resting.clear()
        age_objects()
        gc.enable()
    if _wake_after_import in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.remove(_wake_after_import)


class GltfResult(Protocol):
    """Outcome of an import."""

    issues: list[Issue]
    counts: dict[str, int]


class ExportJob(Protocol):
    """An export: what the hooks tell it, in this order, and its outcome."""

    issues: list[Issue]

    def mend_instances(self, vtree: Any) -> None: ...
    def watch_scene(self, vtree: Any, settings: dict[str, Any]) -> None: ...
    def is_guide(self, obj: Object) -> bool: ...
    def number_nodes(self, gltf: Any) -> None: ...
    def write(self, file: str) -> None: ...


def _guarded(hook: Callable[..., None]) -> Callable[..., None]:
    """Keep what a hook raises, and tell Blender's log of it."""

    @wraps(hook)
    def guarded(self: Any, *args: Any) -> None:
        if self.error is not None:
            return
        try:
            hook(self, *args)
        except Exception as error:
            self.error = error
            if not isinstance(error, UsdPhysError):
                faults.tell()
            note(f"USD Physics: error: the physics of the glTF file could not be handled: {error}")

    return guarded


class ImportExtension:
    """Hooks on Blender's glTF import: the physics is read from the file once all objects are there."""

    def __init__(self, put: Callable[[Any, Any], GltfResult | None], prepare: Callable[[Any], Container[int]]) -> None:
        """put: gives the objects of an importer (first) in a scene (second) their physics.

        prepare: changes what the importer (its argument) has read, before it makes objects; returns indices of nodes
        without children that need none.
        """
        from io_scene_gltf2.io.com.gltf2_io_extensions import Extension  # type: ignore[import-not-found]

        from ..gltf import names

        # Without them Blender refuses a file that requires one of these.
        self.extensions = [Extension(name, {}, required=True) for name in names.ALL]
        self.is_critical = False
        self.error: Exception | None = None
        self.put, self.prepare = put, prepare
        self.unmade: Container[int] = ()
        # Blender reads the file right after this.
        rest_collector()

    def gather_import_gltf_before_hook(self, gltf: Any) -> None:
        self.error, self.unmade = None, ()
        # The second of several files.
        rest_collector()
        self._prepare(gltf)

    @_guarded
    def _prepare(self, gltf: Any) -> None:
        self.unmade = self.prepare(gltf)

    def gather_import_node_before_hook(self, vnode: Any, _node: Any, gltf: Any) -> None:
        """The importer makes the children of a node after it."""
        if self.unmade and (unmade := [child for child in vnode.children if child in self.unmade]):
            vnode.children = [child for child in vnode.children if child not in self.unmade]
            for child in unmade:
                # As the root that the importer puts above all: it is made into nothing, and is not selected.
                gltf.vnodes[child].type, gltf.vnodes[child].blender_object = type(vnode).DummyRoot, None

    def gather_import_scene_after_nodes_hook(self, _gltf_scene: Any, scene: Scene, gltf: Any) -> None:
        self._put(gltf, scene)
        if self.error is not None and not is_suspended():
            gltf.log.warning(tr(phrase("The physics was not read: {error}", error=self.error)), popup=True)

    def gather_import_scene_after_animation_hook(self, *_arguments: Any) -> None:
        wake_collector()

    @_guarded
    def _put(self, gltf: Any, scene: Scene) -> None:
        with gc_paused(ages=True):
            result = self.put(gltf, scene)
        if result is None or is_suspended():
            return
        # Blender's importer reports these where the user sees them.
        numbers = joined(", ", (tally(result.counts.get(kind, 0), kind) for kind in ("bodies", "colliders", "joints")))
        gltf.log.info(f"USD Physics: {tr(numbers)}", popup=True)
        for text in _texts(result.issues):
            gltf.log.warning(tr(text), popup=True)


class ExportExtension:
    """Hooks on Blender's glTF export: they watch which object becomes which node; the finished file gets physics."""

    def __init__(self, make_job: Callable[[], ExportJob | None]) -> None:
        """make_job: called when an export begins; returns None if the physics is not wanted."""
        self.is_critical = True
        self.error: Exception | None = None
        self.job: ExportJob | None = None
        self.make_job = make_job
        rest_collector()

    @_guarded
    def pre_export_hook(self, _settings: Any) -> None:
        self.job = self.make_job()
        if self.job is None or not any(map(self.job.is_guide, bpy.data.objects)):
            # Blender calls it for each node.
            self.__dict__["gather_node_mesh_hook"] = None

    @_guarded
    def vtree_before_filter_hook(self, vtree: Any, _settings: dict[str, Any]) -> None:
        if self.job is not None:
            self.job.mend_instances(vtree)

    @_guarded
    def vtree_after_filter_hook(self, vtree: Any, settings: dict[str, Any]) -> None:
        if self.job is not None:
            self.job.watch_scene(vtree, settings)

    @_guarded
    def gather_node_mesh_hook(self, choice: Any, obj: Object, _settings: Any) -> None:
        if self.job is not None and self.job.is_guide(obj):
            choice.export_mesh = False

    @_guarded
    def gather_gltf_extensions_hook(self, gltf: Any, settings: dict[str, Any]) -> None:
        if self.job is not None:
            self.job.number_nodes(gltf)
        if self.error is not None:
            # Later messages are not shown any more.
            message = tr(phrase("The physics was not written: {error}", error=self.error))
            settings["log"].error(message, popup=True)

    def post_export_hook(self, settings: dict[str, Any]) -> None:
        self._write(settings)
        wake_collector()

    @_guarded
    def _write(self, settings: dict[str, Any]) -> None:
        if self.job is not None:
            self.job.write(settings["gltf_filepath"])
            if not is_suspended():
                _show(_texts(self.job.issues))


def _texts(issues: list[Issue]) -> list[str]:
    """What a user has to know of an import or export."""
    return [joined(" ", (issue.message, issue.fix)) for issue in issues if issue.severity != "info"]


def _show(texts: list[str]) -> None:
    """Print what was left out of a file, and show it: Blender's exporter takes no messages any more."""
    for text in texts:
        note(f"USD Physics: {text}")
    if not texts or bpy.app.background:
        return
    lines = [line for text in texts[:_MOST_SHOWN] for line in in_lines(tr(text), _LINE)]
    if len(texts) > _MOST_SHOWN:
        lines.append(tr(phrase("{count} more in the console", count=len(texts) - _MOST_SHOWN)))

    def draw(menu: Menu, _context: Context) -> None:
        for line in lines:
            menu.layout.label(text=line, translate=False)

    def show() -> None:
        manager: Any = bpy.context.window_manager
        if manager.windows:
            with bpy.context.temp_override(window=manager.windows[0]):
                manager.popup_menu(draw, title="USD Physics", icon="ERROR")

    # A menu that opens before the file browser has closed keeps it open.
    jobs.call_later(show, 0.1)


def is_suspended() -> bool:
    """True while one call has its own hooks."""
    return bool(_suspended)


@contextmanager
def called_by(name: str, made: Callable[[], Any]) -> Iterator[None]:
    """Within the block, Blender's importer or exporter calls the hooks of an instance that `made` returns."""
    module = ModuleType("usdphys_gltf_call")
    setattr(module, name, made)
    sys.modules[module.__name__] = module
    addons: Any = bpy.context.preferences.addons
    entry = addons.new()
    entry.module = module.__name__
    _suspended.append(name)
    try:
        yield
    finally:
        _suspended.pop()
        addons.remove(entry)
        del sys.modules[module.__name__]
