# SPDX-License-Identifier: GPL-3.0-or-later
"""Image files that Blender's exporter writes beside a stage: made in a temporary folder, then brought to the target.

Blender writes into `textures` itself, where a full disk leaves torn files and a file of another scene stays in use.
"""

from __future__ import annotations

import filecmp
import os
from functools import partial
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Any

import bpy

from ..core.errors import OutputError
from ..system.files import add
from ..urdf.packages import IMAGE_SUFFIXES, is_file


def are_expected(target: Path) -> bool:
    """True if Blender may write images beside a target."""
    return target.suffix.lower() != ".usdz" and bool(len(bpy.data.images) or len(bpy.data.volumes))


def bring_all(layer: Any, folder: Path, target: Path, *, others: bool = False) -> None:
    """Bring the images that Blender has written to a folder beside the target. The paths in the layer follow.

    folder: directly in that of the target; paths to files outside of it are written as seen from the target. others:
    images with absolute paths are copied beside the target, too.
    """
    from ..usd.files.layers import modify_asset_paths

    modify_asset_paths(layer, partial(_seen_from_target, folder, target, others))


def take_along(layer: Any) -> None:
    """Copy images with absolute paths to a folder beside a layer that Blender saves itself."""
    from ..usd.files.layers import modify_asset_paths

    home = Path(layer.realPath).parent
    modify_asset_paths(layer, lambda asset: f"./{made}" if (made := _copied(home, asset)) else asset)


def _copied(folder: Path, asset: str) -> str:
    """Path below a folder of a copy of an image with an absolute path, packed ones too; empty if there is none."""
    file = Path(asset)
    if not file.is_absolute() or file.suffix.lower() not in IMAGE_SUFFIXES:
        return ""
    packed = _packed(file)
    if packed is None and not is_file(file):
        return ""
    data = packed if packed is not None else file.read_bytes()
    home, count = folder / "textures", 0
    home.mkdir(exist_ok=True)
    made = home / file.name
    while made.exists() and made.read_bytes() != data:
        count += 1
        made = home / f"{file.stem}_{count}{file.suffix}"
    made.write_bytes(data)
    return f"textures/{made.name}"


def _packed(file: Path) -> bytes | None:
    """What the scene has packed of an image file. The .blend may have moved since, so the end of the path decides.

    None where the image with the most alike path is not packed: one of the same name elsewhere is another one.
    """
    packed, most = None, (0, False)
    for image in bpy.data.images:
        pairs = zip(reversed(file.parts), reversed(PurePath(image.filepath.lstrip("/")).parts), strict=False)
        alike = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
        if alike and (alike, bool(image.packed_file)) > most:
            packed, most = image.packed_file, (alike, bool(image.packed_file))
    return packed.data if packed is not None else None


def pack_all() -> None:
    """Pack the images of the scene that are files, so that a .blend has them wherever it goes."""
    for image in bpy.data.images:
        if image.source == "FILE" and not image.packed_file and is_file(Path(bpy.path.abspath(image.filepath))):
            image.pack()


def _seen_from_target(folder: Path, target: Path, others: bool, asset: str) -> str:
    if others and (made := _copied(folder, asset)):
        return brought(folder, target, made)
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
