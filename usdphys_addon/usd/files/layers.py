# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of a stage before it is opened: USD waits for ever for a pipe, and reads a device without end."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pxr import Ar, Sdf, Tf

from ...system.files import regular


def open_all(path: str, cached: Collection[str]) -> list[Sdf.Layer]:
    """Open a layer and all that it depends on, in all variants. Kept, they are not opened again by a stage.

    A layer that cannot be read is left to the stage, which says so. cached: identifiers of the layers that USD had
    before. Raises InputError where one of them is a device or a pipe.
    """
    found: list[Sdf.Layer] = []
    waiting, known = [path], {path}
    while waiting:
        name = waiting.pop()
        regular(_file(name))
        try:
            layer = Sdf.Layer.FindOrOpen(name)
        except Tf.ErrorException:
            continue
        if not layer:
            continue
        found.append(layer)
        for asset in _dependencies(layer, cached):
            below = Sdf.ComputeAssetPathRelativeToLayer(layer, asset)
            if below and below not in known:
                known.add(below)
                waiting.append(below)
    return found


def _dependencies(layer: Sdf.Layer, cached: Collection[str]) -> list[str]:
    """Asset paths of the sublayers, references and payloads of a layer, as its file is now."""
    if layer.identifier in cached and not layer.anonymous:
        try:
            layer = Sdf.Layer.OpenAsAnonymous(layer.identifier)
        except Tf.ErrorException:
            return []
    return [asset for asset in layer.GetCompositionAssetDependencies() if asset] if layer else []


def _file(identifier: str) -> Path:
    """The file that a layer comes from, or the package that it lies in."""
    name = Sdf.Layer.SplitIdentifier(identifier)[0]
    resolved = Ar.GetResolver().Resolve(name).GetPathString() or name
    return Path(Ar.SplitPackageRelativePathOuter(resolved)[0])
