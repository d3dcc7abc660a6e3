# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets of relationships and connections, brought to the new paths of prims that have moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pxr import Sdf

from ..core import paths

#: The lists of a list operation.
LISTS = ("explicitItems", "prependedItems", "appendedItems", "addedItems", "deletedItems")
Follow = Callable[[Sdf.Path], Sdf.Path]


def followed(path: Sdf.Path, moves: Mapping[str, str]) -> Sdf.Path:
    """The new path of a prim or property after moves of prims (old -> new); the longest moved prefix decides."""
    if not path.IsAbsolutePath():
        return path
    prim, dot, rest = str(path).partition(".")
    return Sdf.Path(f"{paths.followed(prim, moves)}{dot}{rest}")


def _lists_of(spec: Sdf.PropertySpec) -> Any:
    """The targets of a property; None for an attribute without connections."""
    if isinstance(spec, Sdf.RelationshipSpec):
        return spec.targetPathList
    # Most attributes have none, and asking for the five lists takes a hundred times as long.
    return spec.connectionPathList if spec.HasInfo("connectionPaths") else None


def targets_of(spec: Sdf.PropertySpec) -> list[Sdf.Path]:
    """All targets that a property names, also those that it deletes."""
    items = _lists_of(spec)
    return [path for name in LISTS for path in getattr(items, name)] if items is not None else []


def retarget(spec: Sdf.PropertySpec, follow: Follow) -> None:
    """Bring the targets of a property elsewhere. follow: gives the new path of a path."""
    items = _lists_of(spec)
    for name in LISTS if items is not None else ():
        old = list(getattr(items, name))
        new = [follow(path) for path in old]
        if new != old:
            setattr(items, name, new)


def retarget_layer(layer: Sdf.Layer, follow: Follow) -> None:
    """Bring the targets of all properties of a layer elsewhere."""
    with Sdf.ChangeBlock():
        for spec in properties_of(layer):
            retarget(spec, follow)


def properties_of(layer: Sdf.Layer) -> Iterator[Sdf.PropertySpec]:
    """All property specs of a layer, also those in variants."""
    paths: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, paths.append)
    for path in paths:
        if path.IsPropertyPath():
            yield layer.GetPropertyAtPath(path)
