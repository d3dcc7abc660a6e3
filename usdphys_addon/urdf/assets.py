# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes and images that a robot names: found once, read once, and missing ones reported once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..core import pointers
from ..core.errors import InputError, PointerError
from ..core.validate import Issue
from . import meshes
from .markup import Element
from .mesh_data import MeshData
from .packages import IMAGE_SUFFIXES, MESH_SUFFIXES, Packages
from .robot import Shape


@dataclass(slots=True)
class Assets:
    """found: file by URI. read: mesh by file."""

    packages: Packages
    issues: list[Issue] = field(default_factory=list)
    found: dict[str, Path | None] = field(default_factory=dict)
    read: dict[Path, MeshData | None] = field(default_factory=dict)

    def file(self, uri: str, element: Element, suffixes: frozenset[str], what: str) -> Path | None:
        if uri not in self.found:
            self.found[uri] = self.packages.file(uri, suffixes)
            if self.found[uri] is None:
                self.issues.append(Issue(
                    "UrdfMeshMissing" if what == "mesh" else "UrdfTextureMissing", "warning", "", "",
                    f"{element.file}:{element.line}: The {what} '{uri[:200]}' is not found, so it is left out.",
                    _hint(uri),
                ))  # fmt: skip
        return self.found[uri]

    def mesh(self, shape: Shape) -> tuple[Path, MeshData] | None:
        """The file of a mesh and what is in it; None if it is missing or cannot be read, which is reported."""
        if shape.mesh is not None:
            return Path(shape.uri), shape.mesh
        file = self.file(shape.uri, shape.element, MESH_SUFFIXES, "mesh")
        if file is None:
            return None
        if file not in self.read:
            try:
                self.read[file] = meshes.read_mesh(file)
            except InputError as error:
                self.read[file] = None
                place = f"{shape.element.file}:{shape.element.line}"
                fix = pointers.FIX if isinstance(error, PointerError) else "Repair the mesh."
                self.issues.append(Issue("UrdfMeshUnread", "warning", "", "", f"{place}: {error}", fix))
        known = self.read[file]
        return None if known is None else (file, known)

    def image(self, uri: str, element: Element) -> Path | None:
        return self.file(uri, element, IMAGE_SUFFIXES, "texture")


def _hint(uri: str) -> str:
    scheme, mark, rest = uri.partition("://")
    if scheme in ("http", "https", "ftp"):
        return "Download it: nothing is read from the network."
    if mark and scheme in ("package", "model"):
        name = rest.lstrip("/").partition("/")[0]
        return f"Say where the package is (--package {name}=FOLDER)."
    return "Put the file there, or correct its name."
