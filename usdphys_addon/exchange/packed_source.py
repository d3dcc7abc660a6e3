# SPDX-License-Identifier: GPL-3.0-or-later
"""The imported USD and the files that it names, packed into the .blend: for when they are gone from the disk."""

from __future__ import annotations

import os
import zlib
from io import BytesIO
from pathlib import Path, PurePosixPath
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import bpy
from bpy.types import Scene

from ..core.errors import InputError
from ..system.files import regular, replacing

#: The archive in the memory of a scene. Its first file is the USD that was imported.
_KEY = "packed"
#: Comment of an archive whose USD names no other file.
_ALONE = b"alone"
UNPACK = "Unpack it with File > External Data > Unpack Imported USD."


def pack(scene: Scene, source: Path) -> list[Path]:
    """Pack the USD that a scene was imported from, and the layers and textures that it names.

    Returns the files that are left out, because they lie on another drive. Raises InputError where one cannot be read.
    """
    from pxr import UsdUtils

    layers, assets, unresolved = UsdUtils.ComputeAllDependencies(str(source))
    named = {Path(name) for name in (*[layer.realPath for layer in layers], *assets)} - {source, source.resolve()}
    others = sorted(file for file in named if file.is_file())
    near = [file for file in others if file.drive == source.drive]
    above = Path(os.path.commonpath([file.parent for file in (source, *near)]))
    data = BytesIO()
    try:
        with ZipFile(data, "w", ZIP_DEFLATED, compresslevel=1) as archive:
            for file in (source, *near):
                archive.write(file, file.relative_to(above).as_posix())
            archive.comment = b"" if others or unresolved else _ALONE
    except OSError as error:
        raise InputError(f"'{error.filename or source}' cannot be packed: {error.strerror or error}.") from error
    drop(scene)  # Blender cuts bytes at a zero where they take the place of others
    scene.usdphys.source[_KEY] = data.getvalue()
    return [file for file in others if file.drive != source.drive]


def drop(scene: Scene) -> None:
    """Take the files out of the .blend."""
    scene.usdphys.source.pop(_KEY, None)


def is_packed(scene: Scene) -> bool:
    """True where the scene has packed files; `size` copies them to find that out."""
    return _KEY in scene.usdphys.source


def size(scene: Scene) -> int:
    """Bytes that the packed files of a scene take in the .blend; 0 where it has none."""
    return len(scene.usdphys.source.get(_KEY, b""))


def unpack(scene: Scene, folder: Path) -> Path:
    """Write the packed files below a folder, which stand to each other as they did, and have the scene refer to them.

    Returns the USD. Raises InputError where one of them exists with another content, and OutputError.
    """
    source = _extract(scene, folder)
    scene.usdphys.source.filepath = str(source)
    drop(scene)
    return source


def stand_in(scene: Scene) -> Path | None:
    """A copy of the packed USD in the folder of this Blender's temporary files; None where it names other files.

    Their paths would lead into that folder, in what is written from it.
    """
    data = scene.usdphys.source.get(_KEY, b"")
    if not data or (archive := _archive(data)).comment != _ALONE:
        return None
    folder = _temporary() / f"{zlib.crc32(data):08x}"
    made = folder / _names(archive)[0]
    # An export asks several times.
    return made if made.is_file() else _extract(scene, folder)


def is_stand_in(source: Path) -> bool:
    return source.is_relative_to(_temporary())


def _temporary() -> Path:
    return Path(bpy.app.tempdir, "usdphys_packed")


def _archive(data: bytes) -> ZipFile:
    try:
        return ZipFile(BytesIO(data))
    except BadZipFile as error:
        raise InputError(f"The imported USD that is packed in the .blend is damaged: {error}.") from error


def _names(archive: ZipFile) -> list[str]:
    """The paths of the packed files, that of the USD first. Raises InputError where one leads out of a folder."""
    names = archive.namelist()
    for name in names:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
            raise InputError(f"'{name}' is packed in the .blend under a path that leads out of the folder.")
    return names


def _extract(scene: Scene, folder: Path) -> Path:
    archive = _archive(scene.usdphys.source.get(_KEY, b""))
    names = _names(archive)
    try:
        contents = {folder / name: archive.read(name) for name in names}
    except (BadZipFile, zlib.error, NotImplementedError) as error:
        raise InputError(f"The imported USD that is packed in the .blend is damaged: {error}.") from error
    for file, content in contents.items():
        if file.exists() and regular(file).read_bytes() != content:
            raise InputError(f"'{file}' exists and is another file; choose an empty folder to unpack to.")
    for file, content in contents.items():
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file) as part:
                part.write_bytes(content)
    return folder / names[0]
