# SPDX-License-Identifier: GPL-3.0-or-later
"""A base of property groups that refuses unknown names: without it Python takes any, and a script loses its value."""

from __future__ import annotations

from typing import Any

import bpy

from ..core.nearest import nearest

_set_attribute = bpy.types.bpy_struct.__setattr__


class KnownNames:
    """Base of every property group, before PropertyGroup: a name that is no property raises AttributeError.

    A group needs `__slots__ = ()` as well. Python gives a class without it a `__dict__`, which takes any name and is
    lost with the Python object. Only setting is checked here, for 0.1 µs each: reading an unknown name raises anyway,
    and a `__getattr__` would cost every reading as much.
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            _set_attribute(self, name, value)
        except AttributeError as error:
            rna: Any = type(self).bl_rna  # type: ignore[attr-defined]
            if name in rna.properties or hasattr(type(self), name):
                raise
            inner = _names_within(rna)
            meant = inner.get(name) or nearest(name, _shown(rna)) or inner.get(nearest(name, inner))
            raise AttributeError(
                f"{type(self).__name__} has no property '{name}'" + (f"; did you mean '{meant}'?" if meant else ""),
                name=name,
                obj=self,
            ) from error


def _shown(rna: Any) -> list[str]:
    return [prop.identifier for prop in rna.properties if prop.identifier != "rna_type" and not prop.is_hidden]


def _names_within(rna: Any) -> dict[str, str]:
    """Names of the properties of nested groups, with their paths: {"density": "physics_material.density"}."""
    names: dict[str, str] = {}
    for prop in rna.properties:
        base = prop.fixed_type.base if prop.type == "POINTER" else None
        if base is not None and base.identifier == "PropertyGroup" and not prop.is_hidden:
            for name in _shown(prop.fixed_type):
                names.setdefault(name, f"{prop.identifier}.{name}")
    return names
