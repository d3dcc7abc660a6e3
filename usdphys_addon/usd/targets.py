# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets of relationships and connections, brought to the new paths of prims that have moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

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


def retarget(spec: Sdf.PropertySpec, follow: Follow) -> None:
    """Bring the targets of a property elsewhere. follow: gives the new path of a path."""
    # Most attributes have none, and asking for the five lists takes a hundred times as long.
    if not isinstance(spec, Sdf.RelationshipSpec) and not spec.HasInfo("connectionPaths"):
        return
    items = spec.targetPathList if isinstance(spec, Sdf.RelationshipSpec) else spec.connectionPathList
    for name in LISTS:
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
