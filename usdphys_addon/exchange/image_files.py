# SPDX-License-Identifier: GPL-3.0-or-later
"""Image files that Blender's exporter writes beside a stage: made in a temporary folder, then brought to the target.

Blender writes into `textures` itself, where a full disk leaves torn files and a file of another scene stays in use.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from ..core import paths
from ..core.errors import OutputError
from ..system.files import add


def are_expected(target: Path) -> bool:
    """True if Blender may write images beside a target."""
    return target.suffix.lower() != ".usdz" and bool(len(bpy.data.images) or len(bpy.data.volumes))


def bring_all(layer: Any, folder: Path, target: Path, *, absolute: bool = False) -> None:
    """Bring the images that Blender has written to a folder beside the target. The paths in the layer follow.

    folder: directly in that of the target; paths to files outside of it are written as seen from the target. absolute:
    bring images with absolute paths, too, which are nowhere else than on this machine.
    """
    from ..usd.edit_layer import modify_asset_paths

    copied: dict[str, str] = {}
    if absolute:
        modify_asset_paths(layer, partial(_copied, folder, copied))
    modify_asset_paths(layer, partial(_seen_from_target, folder, target))


def _copied(folder: Path, copied: dict[str, str], asset: str) -> str:
    """The path of an image with an absolute path after it was copied to a folder; others as they are."""
    if not Path(asset).is_absolute() or not Path(asset).is_file():
        return asset
    if asset not in copied:
        name = paths.free(Path(asset).stem, lambda stem: (folder / "textures" / f"{stem}{Path(asset).suffix}").exists())
        copied[asset] = f"./textures/{name}{Path(asset).suffix}"
        try:
            (folder / "textures").mkdir(exist_ok=True)
            shutil.copyfile(asset, folder / copied[asset])
        except OSError as error:
            raise OutputError(f"'{asset}' could not be copied beside the file ({error.strerror}).") from error
    return copied[asset]


def _seen_from_target(folder: Path, target: Path, asset: str) -> str:
    if asset and Path(os.path.normpath(folder / asset)).is_relative_to(folder):
        return brought(folder, target, asset)
    if asset.startswith("../"):
        return asset[3:] if asset.startswith("../../") else f"./{asset[3:]}"
    return asset


def brought(folder: Path, target: Path, asset: str) -> str:
    """Path of an image file, which Blender has written below a folder, seen from the target; copies it there.

    A package takes it from that folder. A file of that name with another content stays.
    """
    file = folder / asset
    tiles = sorted(file.parent.glob(file.name.replace("<UDIM>", "[0-9]*"))) if "<" in file.name else [file]
    if not asset or not all(tile.is_file() for tile in tiles):
        return asset
    if target.suffix.lower() == ".usdz":
        return f"./{file.relative_to(target.parent).as_posix()}"
    place, count = file.relative_to(folder).parent, 0
    home = target.parent / place

    def named(tile: Path) -> Path:
        return home / (f"{tile.stem}_{count}{tile.suffix}" if count else tile.name)

    def is_there(tile: Path) -> bool:
        return filecmp.cmp(tile, named(tile), shallow=False)

    try:
        home.mkdir(parents=True, exist_ok=True)
        # Another process may take a name between the two.
        while any(named(tile).exists() and not is_there(tile) for tile in tiles) or not all(
            named(tile).exists() or add(tile, named(tile)) for tile in tiles
        ):
            count += 1
    except OSError as error:
        raise OutputError(f"'{named(file)}' could not be written ({error.strerror}).") from error
    return f"./{(place / named(file).name).as_posix()}"
