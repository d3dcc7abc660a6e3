# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own files without a window: open one, save the open one, use our properties without the add-on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Scene

from ..bridge import props
from ..bridge.stored import handlers
from ..core import pointers
from ..core.errors import InputError, OutputError
from ..core.validate import Issue
from ..system import blend_parts
from ..system.files import ROBOT_SUFFIXES, is_endless, regular, replacing
from . import image_files, kept_layers


@contextmanager
def properties_registered() -> Iterator[None]:
    """Register our properties, and what keeps the stored ones right, unless the enabled add-on has done so."""
    was_registered = props.is_registered()
    if not was_registered:
        props.register()
        handlers.register()
    try:
        yield
    finally:
        if not was_registered:
            handlers.unregister()
            props.unregister()


def empty_scene() -> None:
    """An empty scene in place of the open one."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def open_blend(file: str) -> list[Issue]:
    """Open a .blend; returns a warning if it holds scripts, none of which is run, whatever the preferences say.

    Raises InputError, also for one whose libraries are missing.
    """
    path = regular(Path(file)).absolute()
    if not path.is_file():
        raise InputError(f"There is no file '{file}'; check the name.")
    pointers.refuse_file(path)
    blend_parts.check_libraries(path)
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise InputError(f"'{file}' cannot be opened by this Blender ({str(error).strip()}).") from error
    for library in bpy.data.libraries:
        if not Path(bpy.path.abspath(library.filepath)).is_file():
            raise InputError(f"'{file}' links to the library '{library.filepath}', which is missing; restore it.")
    for item in _with_files():
        if is_endless(Path(bpy.path.abspath(item.filepath, library=item.library))):
            raise InputError(f"'{file}' reads '{item.filepath}', which is a device or a pipe; copy it into a file.")
    app: Any = bpy.app
    if not app.autoexec_fail:
        return []
    return [Issue(
        "ScriptsNotRun", "warning", "", "",
        f"'{path.name}' has Python scripts that were not run ({app.autoexec_fail_message}): values that depend on "
        "them may be out of date.",
        "Bake the values that scripts drive, or open the file in Blender if you trust it.",
    )]  # fmt: skip


def is_newer() -> bool:
    """True if a newer Blender has saved the open file: this one knows only a part of it, and would save only that."""
    data: Any = bpy.data
    app: Any = bpy.app
    return tuple(data.version) > tuple(app.version_file)


def _with_files() -> Iterator[Any]:
    """What has a file beside the .blend, which Blender reads when it is drawn or written."""
    data: Any = bpy.data
    for kind in (data.images, data.sounds, data.volumes, data.movieclips, data.cache_files, data.fonts):
        yield from (item for item in kind if item.filepath)


def select_collection(name: str) -> None:
    """Select the objects of a collection and of those in it, and no others. Raises InputError where there is none."""
    collection: Any = bpy.data.collections.get(name)
    layer: Any = bpy.context.view_layer
    objects = [obj for obj in collection.all_objects if obj.name in layer.objects] if collection is not None else []
    if not objects:
        raise InputError(f"The scene has no collection '{name}' with objects in its view layer; check the name.")
    for obj in layer.objects:
        obj.select_set(False)
    for obj in objects:
        # What is hidden cannot be selected, and is exported like the rest.
        obj.hide_set(False)
        obj.select_set(True)


def refuse_own_files(target: Path) -> Path:
    """The target itself. Raises OutputError where the open file reads it, as a cache or a library."""
    for block in (*bpy.data.cache_files, *bpy.data.libraries):
        file = bpy.path.abspath(block.filepath, library=block.library)
        if os.path.realpath(file) == os.path.realpath(target):
            raise OutputError(f"'{target}' is read by the scene, as '{block.name}'; choose another name.")
    return target


def is_robot(scene: Scene) -> bool:
    """Whether a scene was imported from a URDF or an SDF."""
    return str(scene.usdphys.source.filepath).lower().endswith(ROBOT_SUFFIXES)


def save_blend(file: str) -> None:
    """Save the open file under a name. The target is replaced at the end, in one step.

    If a scene is a robot, all images of the file are packed; else they stay where the user has them.
    """
    target = refuse_own_files(Path(file).absolute())
    if any(is_robot(scene) for scene in bpy.data.scenes):
        image_files.pack_all()
    with kept_layers.kept(target), replacing(target) as scratch:
        try:
            bpy.ops.wm.save_as_mainfile(filepath=str(scratch), copy=True, check_existing=False)
        except RuntimeError as error:
            raise OutputError(
                f"'{target}' could not be saved ({str(error).strip()}); the old file is untouched."
            ) from error
