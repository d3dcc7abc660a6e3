# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions of `bpy.props` as a type checker wants them: a property has the type of its values.

A class declares each property once, `speed = FloatProperty(name="Speed")`, and `self.speed` is a float. Blender wants
an annotation instead; `annotate` makes it before the class is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import bpy

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _typed(declare: Callable[_P, object], _values: type[_T]) -> Callable[_P, _T]:
    return cast(Callable[_P, _T], declare)


def _as_written(declare: Callable[_P, object]) -> Callable[_P, Any]:
    """The declaration says the type, as `size: tuple[float, float] = FloatVectorProperty(size=2)`."""
    return declare


BoolProperty = _typed(bpy.props.BoolProperty, bool)
IntProperty = _typed(bpy.props.IntProperty, int)
FloatProperty = _typed(bpy.props.FloatProperty, float)
StringProperty = _typed(bpy.props.StringProperty, str)
EnumProperty = _typed(bpy.props.EnumProperty, str)
#: With the option ENUM_FLAG.
EnumFlagProperty = _typed(bpy.props.EnumProperty, set[str])
IntVectorProperty = _as_written(bpy.props.IntVectorProperty)
FloatVectorProperty = _as_written(bpy.props.FloatVectorProperty)
CollectionProperty = _as_written(bpy.props.CollectionProperty)


#: Modules of the classes that Blender's own modules define in C and in Python.
_BLENDER = ("bpy_types", "builtins")


def annotate(cls: type) -> None:
    """Turn the properties that a class and its bases declare into annotations."""
    for base in cls.__mro__:
        if base.__module__.endswith(_BLENDER):
            continue  # it declares none, and has very many names
        declared = {name: value for name, value in vars(base).items() if isinstance(value, bpy.props._PropertyDeferred)}
        for name, value in declared.items():
            base.__annotations__[name] = value
            delattr(base, name)
