# SPDX-License-Identifier: GPL-3.0-or-later
"""URIs of meshes, textures and xacro includes -> files, without ROS. Nothing is read but what has a known suffix."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

MESH_SUFFIXES = frozenset({".stl", ".obj", ".ply", ".dae", ".gltf", ".glb"})
IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tga", ".tif", ".tiff", ".webp"})
_NAME = re.compile(rb"<name>\s*([^<\s]+)\s*</name>")


@dataclass(slots=True)
class Packages:
    """Finds files. folder: of the URDF. known: folder by name of package, as the user gave them.

    Order: what the user gave; folders above the URDF that are the package, or hold it; ROS_PACKAGE_PATH and
    AMENT_PREFIX_PATH; the longest part of the path that exists beside or above the URDF.
    """

    folder: Path
    known: Mapping[str, Path] = field(default_factory=dict)
    found: dict[str, Path | None] = field(default_factory=dict)
    #: Files that were found so far.
    used: set[Path] = field(default_factory=set)

    def file(self, uri: str, suffixes: frozenset[str] | None = None) -> Path | None:
        """The file of a URI; None if there is none, or if its suffix is not one of these."""
        for text in dict.fromkeys((unquote(uri), uri)):
            for path in self._candidates(text.replace("\\", "/")):
                if suffixes is not None and path.suffix.lower() not in suffixes:
                    continue
                if is_file(path):
                    self.used.add(path)
                    return path
        return None

    def package(self, name: str) -> Path | None:
        """The folder of a package."""
        if name not in self.found:
            self.found[name] = next((folder for folder in self._folders(name) if is_folder(folder)), None)
        return self.found[name]

    def _candidates(self, uri: str) -> Iterator[Path]:
        scheme, mark, rest = uri.partition("://")
        if not mark:
            yield self.folder / uri
            return
        if scheme == "file":
            yield Path(rest)
            yield self.folder / rest.lstrip("/")
            return
        if scheme not in ("package", "model"):
            return
        name, _, inside = rest.lstrip("/").partition("/")
        inside = inside.lstrip("/")
        folder = self.package(name)
        if folder is not None:
            yield folder / inside
        # The longest part of the path that exists: packages are often copied without their outer folders.
        parts = PurePosixPath(inside).parts
        for above in (self.folder, *self.folder.parents):
            if above == above.parent:
                break
            for start in range(len(parts)):
                yield above.joinpath(*parts[start:])

    def _folders(self, name: str) -> Iterator[Path]:
        if not name or "/" in name or name in (".", ".."):
            return
        if name in self.known:
            given = Path(self.known[name])
            yield given if given.is_absolute() else Path.cwd() / given
        for above in (self.folder, *self.folder.parents):
            if above.name == name or package_name(above) == name:
                yield above
            yield above / name
            if above != above.parent:
                yield from _siblings(above, name)
        for variable, inside in (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share")):
            for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
                base = Path(entry) / inside
                if base.name == name:
                    yield base
                yield base / name


def is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def package_name(folder: Path) -> str:
    """The name in the package.xml of a folder; empty if there is none."""
    file = folder / "package.xml"
    try:
        match = _NAME.search(file.read_bytes()[:100_000]) if file.is_file() else None
    except OSError:
        return ""
    return match[1].decode("utf-8", "replace") if match else ""


def _siblings(folder: Path, name: str) -> Iterator[Path]:
    """Folders in a folder that are the package by their package.xml, whatever they are called."""
    if not (folder / "package.xml").is_file():
        return
    try:
        beside = sorted(folder.parent.iterdir())
    except OSError:
        return
    for one in beside[:200]:
        if is_folder(one) and package_name(one) == name:
            yield one
