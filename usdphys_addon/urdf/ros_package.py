# SPDX-License-Identifier: GPL-3.0-or-later
"""A package of ROS around a URDF: package.xml, CMakeLists.txt, and copies of meshes with what they refer to."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from ..core.errors import InputError
from .packages import IMAGE_SUFFIXES, MESH_SUFFIXES, is_file, package_name

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
#: Files that a mesh can be read from besides images.
_PARTS = IMAGE_SUFFIXES | {".mtl", ".bin"}
#: Where the formats of meshes name other files.
_REFERENCES = {
    ".obj": re.compile(r"^[ \t]*mtllib[ \t]+(.+?)[ \t]*\r?$", re.MULTILINE),
    ".mtl": re.compile(r"^[ \t]*(?:map_\w+|bump|disp|decal|refl|norm)[ \t]+(.+?)[ \t]*\r?$", re.MULTILINE),
    ".dae": re.compile(r"<(?:init_from|ref)>\s*([^<]+?)\s*</"),
}
_MANIFEST = """<?xml version="1.0"?>
<package format="3">
  <name>{name}</name>
  <version>0.1.0</version>
  <description>Description of the robot {name}</description>
  <maintainer email="user@example.com">Maintainer</maintainer>
  <license>Proprietary</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <export>
    <build_type>ament_cmake</build_type>
  </export>
</package>
"""
_BUILD = """cmake_minimum_required(VERSION 3.8)
project({name})
find_package(ament_cmake REQUIRED)
foreach(part urdf meshes)
  if(IS_DIRECTORY ${{CMAKE_CURRENT_SOURCE_DIR}}/${{part}})
    install(DIRECTORY ${{part}} DESTINATION share/${{PROJECT_NAME}})
  endif()
endforeach()
ament_package()
"""


@dataclass(slots=True)
class RosPackage:
    """name: in the URIs of the meshes. folder: of package.xml. robot: the file name of the URDF without its suffix.

    copied: place in the folder by file.
    """

    name: str
    folder: Path
    robot: str
    copied: dict[Path, str] = field(default_factory=dict)

    @property
    def meshes(self) -> str:
        """Folder of the meshes, seen from that of the package: each URDF of a package has its own."""
        return f"meshes/{self.robot}"

    def write(self, folder: Path) -> None:
        """Write what makes a folder a package, unless the package has it already, and the copies of `take`."""
        for name, text in (("package.xml", _MANIFEST), ("CMakeLists.txt", _BUILD)):
            if not (self.folder / name).exists():
                (folder / name).write_text(text.format(name=self.name), encoding="utf-8", newline="\n")
        for file, place in self.copied.items():
            target = folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)

    def take(self, files: list[Path]) -> dict[Path, str]:
        """Note meshes and images, with what they refer to, to be copied by `write`. Returns the URI of each."""
        wanted = [Path(os.path.realpath(file)) for file in files]
        root = Path(os.path.realpath(self.folder))
        everything = dict.fromkeys(part for file in wanted for part in (file, *parts_of(file)))
        outside = [file for file in everything if not file.is_relative_to(root)]
        # One relative place for all: what a mesh refers to is found from the copy as from the original.
        drives = {file.anchor for file in outside}
        common = {
            drive: Path(os.path.commonpath([file.parent for file in outside if file.anchor == drive]))
            for drive in drives
        }
        for file in outside:
            self.copied[file] = (self.meshes / file.relative_to(common[file.anchor])).as_posix()
        return {
            original: f"package://{self.name}/{self.copied.get(file) or file.relative_to(root).as_posix()}"
            for original, file in zip(files, wanted, strict=True)
        }


def package_around(target: Path, name: str) -> RosPackage:
    """The package that a URDF will be in: the folder of the file, or the one above a folder `urdf`, which is made.

    Raises InputError for a name that ROS does not take, and for a folder that is another package.
    """
    if not _NAME.match(name):
        raise InputError(f"'{name}' is no name of a package of ROS; use letters, digits and underscores.")
    folder = target.parent.parent if target.parent.name == "urdf" else target.parent
    there = package_name(folder)
    if there and there != name:
        raise InputError(f"'{folder / 'package.xml'}' is of the package '{there}'; use this name, or another folder.")
    if target.parent.name == "urdf" and folder.parent.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
    return RosPackage(name, folder, target.stem)


def parts_of(file: Path) -> Iterator[Path]:
    """The files that a mesh refers to, itself or by an MTL, as real paths, where they exist. Each comes once."""
    waiting, seen = [file], {file}
    while waiting:
        one = waiting.pop()
        for text in _references(one):
            words = text.split(" ")
            # A name can have spaces; an OBJ names several MTL in a line, and an MTL has options before the name.
            wholes = (text, *(" ".join(words[start:]) for start in range(1, len(words))))
            whole = next(filter(None, (_part(one, name) for name in wholes)), None)
            for part in (whole, *(_part(one, word) for word in words)):
                if part is not None and part not in seen:
                    seen.add(part)
                    yield part
                    if part.suffix.lower() == ".mtl":
                        waiting.append(part)


def _part(file: Path, name: str) -> Path | None:
    """The file that another one names, if it is there and of a known kind."""
    part = file.parent / unquote(name.removeprefix("file://")).replace("\\", "/")
    return Path(os.path.realpath(part)) if part.suffix.lower() in _PARTS and is_file(part) else None


def _references(file: Path) -> list[str]:
    suffix = file.suffix.lower()
    if suffix not in MESH_SUFFIXES | {".mtl"}:
        return []
    try:
        if suffix in _REFERENCES:
            return _REFERENCES[suffix].findall(file.read_text("utf-8", "replace"))
        if suffix == ".gltf":
            document = json.loads(file.read_bytes())
            return [str(one["uri"]) for key in ("buffers", "images") for one in document.get(key, ()) if "uri" in one]
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return []
    return []
