# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of a stage before it is opened: USD waits for ever for a pipe, and reads a device without end."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pxr import Ar, Sdf, Tf, Usd, UsdUtils

from ...core.errors import InputError
from ...system import arcs
from ...system.files import regular


def reload(files: Iterable[Path]) -> None:
    """Read layers again that USD has open and that were replaced on the disk."""
    for file in files:
        cached = Sdf.Layer.Find(str(file))
        if cached:
            cached.Reload(force=True)


def modify_asset_paths(layer: Sdf.Layer, moved: Callable[[str], str]) -> None:
    """Replace all asset paths of a layer. UsdUtils.ModifyAssetPaths drops the offsets of sublayers; this keeps them."""
    offsets = list(layer.subLayerOffsets)
    UsdUtils.ModifyAssetPaths(layer, moved)
    for index, offset in enumerate(offsets):
        layer.subLayerOffsets[index] = offset


@contextmanager
def in_memory(files: Iterable[str]) -> Iterator[None]:
    """Within the block, USD reads these files whole and maps none of them: Windows replaces no file that is mapped."""
    before = Sdf.Layer.GetDetachedLayerRules()
    Sdf.Layer.SetDetachedLayerRules(Sdf.Layer.GetDetachedLayerRules().Include([str(Path(file)) for file in files]))
    try:
        yield
    finally:
        Sdf.Layer.SetDetachedLayerRules(before)


def open_all(path: str, cached: Collection[str]) -> list[Sdf.Layer]:
    """Open the layers that name others, in all variants. Kept, they are not opened again by a stage.

    A layer that cannot be read is left to the stage, which says so, and so is one that names no other. cached:
    identifiers of the layers that USD had before. Raises InputError where a layer or a value clip is a device or pipe.
    """
    layers: list[Sdf.Layer] = []
    waiting, known = [path], {path}
    while waiting:
        name = waiting.pop()
        file = regular(_file(name))
        has_arcs, has_clips = (True, True) if Ar.IsPackageRelativePath(name) else arcs.named(file)
        if not has_arcs and not has_clips:
            continue
        try:
            layer = Sdf.Layer.FindOrOpen(name)
        except Tf.ErrorException:
            continue
        if not layer:
            continue
        layers.append(layer)
        now = _as_on_disk(layer, cached)
        if now and has_clips:
            # Without a manifest, USD opens the clips as soon as the stage.
            now.Traverse(Sdf.Path.absoluteRootPath, partial(_check_clips_at, now, layer))
        for asset in dependencies(now) if now and has_arcs else ():
            below = Sdf.ComputeAssetPathRelativeToLayer(layer, asset) if asset else ""
            if below and below not in known:
                known.add(below)
                waiting.append(below)
    return layers


def dependencies(layer: Sdf.Layer) -> set[str]:
    """The paths of sublayers, references and payloads as a layer has them. Raises InputError as `check_roots`."""
    check_roots(layer, layer.GetDisplayName())
    return layer.GetCompositionAssetDependencies()  # type: ignore[no-any-return]


def check_roots(layer: Sdf.Layer, name: str) -> None:
    """Raise InputError where a damaged crate names a root prim that it does not hold; name: for the message.

    USD checks only the children of prims when it opens a crate, and ends the process when it goes through the roots.
    """
    if not all(layer.rootPrims.values()):
        raise InputError(f"'{name}' is damaged: it names a root prim that it does not hold.")


def _as_on_disk(layer: Sdf.Layer, cached: Collection[str]) -> Sdf.Layer | None:
    if layer.identifier in cached and not layer.anonymous:
        try:
            return Sdf.Layer.OpenAsAnonymous(layer.identifier)
        except Tf.ErrorException:
            return None
    return layer


def _check_clips_at(layer: Sdf.Layer, named: Sdf.Layer, path: Sdf.Path) -> None:
    """named: the layer to which the paths are relative."""
    if path.IsPrimPath() or path.IsPrimVariantSelectionPath():
        spec = layer.GetPrimAtPath(path)
        if spec is not None and spec.HasInfo("clips"):
            _check_clips(named, spec.GetInfo("clips"))


def check_clips(usd_prim: Usd.Prim) -> None:
    """Raise InputError where a value clip of a prim is a device or a pipe, before its values are asked for."""
    for spec in usd_prim.GetPrimStack():
        if spec.HasInfo("clips"):
            _check_clips(spec.layer, spec.GetInfo("clips"))


def _check_clips(layer: Sdf.Layer, clips: dict[str, Any]) -> None:
    for one in clips.values():
        for asset in filter(None, _clip_assets(one) if isinstance(one, dict) else ()):
            file = _file(Sdf.ComputeAssetPathRelativeToLayer(layer, asset))
            # In a template, # stands for a digit of a frame.
            for clip in file.parent.glob(re.sub("#+", "*", glob.escape(file.name))):
                regular(clip)


def _clip_assets(clips: dict[str, Any]) -> Iterator[str]:
    assets = [clips.get("manifestAssetPath"), *(clips.get("assetPaths") or ())]
    yield from (asset.path for asset in assets if isinstance(asset, Sdf.AssetPath))
    if isinstance(template := clips.get("templateAssetPath"), str):
        yield template


def _file(identifier: str) -> Path:
    """The file that a layer comes from, or the package that it lies in."""
    name = Sdf.Layer.SplitIdentifier(identifier)[0]
    resolved = Ar.GetResolver().Resolve(name).GetPathString() or name
    return Path(Ar.SplitPackageRelativePathOuter(resolved)[0])
