# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender for the functions of the API that need it, and the objects that their callers name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeAlias

from ..core.errors import InputError
from ..core.nearest import did_you_mean
from ..system import blender

if TYPE_CHECKING:
    import bpy

    #: An object, or its name.
    Obj: TypeAlias = bpy.types.Object | str
    #: Objects: one, several, or a pattern of names such as "Crate*".
    Objects: TypeAlias = Obj | Iterable[Obj]
    #: What has attributes: an object or its name, a material, a scene, or an item of a list of these.
    Thing: TypeAlias = bpy.types.Object | bpy.types.Material | bpy.types.Scene | bpy.types.PropertyGroup | str


def require(function: str, option: str = "") -> Any:
    """The context of Blender. Registers our properties where the add-on is not enabled, as in the module bpy.

    option: the parameter that makes the function need Blender, if it is one. Raises NeedsBlenderError, naming the
    function of the API, without Blender.
    """
    blender.require(
        f"{function}() with {option}" if option else f"{function}()",
        "run the script in a Blender with this extension, or with its source code in a Python that has the package bpy",
    )
    import bpy

    from ..bridge import props

    if not props.is_registered():
        props.register()
    return bpy.context


def object_of(obj: Any, scene: Any) -> Any:
    """An object of the scene, by itself or its name. Raises InputError with the nearest name."""
    import bpy

    if isinstance(obj, bpy.types.Object):
        return obj
    if not isinstance(obj, str):
        raise InputError(f"{obj!r} is no object; give an object of Blender or the name of one.")
    named = scene.objects.get(obj)
    if named is None:
        raise InputError(f"The scene has no object '{obj}'{did_you_mean(obj, scene.objects.keys())}")
    return named


def objects_of(objects: Any, scene: Any) -> list[Any]:
    """The objects of an argument of type `Objects`, each once. Raises InputError where there are none."""
    if isinstance(objects, str):
        exact = scene.objects.get(objects)
        matching = [exact] if exact is not None else [obj for obj in scene.objects if fnmatchcase(obj.name, objects)]
        if not matching and not set(objects) & set("*?["):
            return [object_of(objects, scene)]
        if not matching:
            raise InputError(f"No object of the scene has a name like '{objects}'.")
        return matching
    chosen = list(objects) if isinstance(objects, Iterable) else [objects]
    matching = [object_of(obj, scene) for obj in chosen]
    if not matching:
        raise InputError("There are no objects to work on; the list is empty.")
    return list({obj.name_full: obj for obj in matching}.values())


@contextmanager
def selected(context: Any, objects: Iterable[Any], active: Any = None) -> Iterator[None]:
    """Select objects while a block runs that works on the selection. Its own selection stays afterwards."""
    layer = context.view_layer
    chosen = list(objects)
    absent = next((obj for obj in chosen if obj.name not in layer.objects), None)
    if absent is not None:
        raise InputError(f"'{absent.name}' is not in the view layer; link it to a collection of the scene.")
    for obj in layer.objects:
        obj.select_set(False)
    for obj in chosen:
        obj.select_set(True)
        if not obj.select_get():
            raise InputError(f"'{obj.name}' is hidden and cannot be worked on; show it first.")
    layer.objects.active = active if active is not None else (chosen[-1] if chosen else None)
    layer.update()
    yield
