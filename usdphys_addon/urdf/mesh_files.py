# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes -> files beside a URDF: OBJ and MTL for what is seen, STL for what collides. Equal meshes share one."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from ..core import paths
from ..system.files import work_folder
from .edit import number_text
from .mesh_data import Floats, Ints, MeshData, MeshMaterial, srgb

_SUFFIXES = {"visual": ".obj", "collision": ".stl"}
_NO_WORD = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(slots=True)
class MeshFiles:
    """Collects meshes. prefix: of the URIs, such as "arm_meshes/" or "package://arm/meshes/arm/".

    folder: that the files will be in. kept: files that are there and are not replaced: another mesh gets another name.
    """

    prefix: str
    folder: Path
    kept: frozenset[Path] = frozenset()
    #: (name of the file below the folder, mesh) by content.
    found: dict[bytes, tuple[str, MeshData]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def uri(self, mesh: MeshData, name: str, kind: str) -> str:
        """The URI of the file that a mesh will be in. kind: "visual" or "collision"."""
        key = _digest(mesh, kind)
        if key not in self.found:
            stem = paths.free(
                f"{kind}/{_NO_WORD.sub('_', name) or 'mesh'}",
                lambda one: one.lower() in self.taken or self._is_kept(one, mesh, kind),
            )
            self.taken.add(stem.lower())
            self.found[key] = (f"{stem}{_SUFFIXES[kind]}", mesh)
        return self.prefix + self.found[key][0]

    def _is_kept(self, stem: str, mesh: MeshData, kind: str) -> bool:
        """True if a name is that of a kept file with another content."""
        name = f"{stem}{_SUFFIXES[kind]}"
        if not any(self._of(file).with_suffix("").as_posix().lower() == stem.lower() for file in self.kept):
            return False
        with work_folder() as scratch:
            self._write_one(mesh, scratch, name)
            made = [file for file in scratch.rglob("*") if file.is_file()]
            return not all(_are_same(file, self.folder / file.relative_to(scratch)) for file in made)

    def _of(self, file: Path) -> Path:
        return file.relative_to(self.folder)

    def clear(self) -> None:
        self.found.clear()
        self.taken.clear()

    def write(self, folder: Path) -> None:
        """Write all files."""
        for name, mesh in self.found.values():
            self._write_one(mesh, folder, name)

    def _write_one(self, mesh: MeshData, folder: Path, name: str) -> None:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".stl":
            write_stl(mesh, file)
        else:
            home = (self.folder / name).parent
            write_obj(mesh, file, {kept.name.lower(): kept for kept in self.kept if kept.parent == home})


def _are_same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()


def _digest(mesh: MeshData, kind: str) -> bytes:
    made = hashlib.sha256(kind.encode())
    for part in (mesh.points, mesh.counts, mesh.corners, mesh.uvs, mesh.normals, mesh.faces):
        made.update(b"-" if part is None else np.ascontiguousarray(part).tobytes() + str(part.shape).encode())
    made.update(repr(mesh.materials).encode())
    return made.digest()


def triangles(mesh: MeshData) -> Ints:
    """Corners (m, 3), as indices of `corners`, of the fans that the faces are split into."""
    starts = np.cumsum(mesh.counts) - mesh.counts
    fans = []
    for size in np.unique(mesh.counts):
        first = starts[mesh.counts == size]
        fans += [np.stack([first, first + at, first + at + 1], axis=1) for at in range(1, int(size) - 1)]
    corners_found = np.concatenate(fans) if fans else np.zeros((0, 3), np.int64)
    return np.asarray(corners_found[np.argsort(corners_found[:, 0], kind="stable")], np.int64)


def write_stl(mesh: MeshData, file: Path) -> None:
    """Write a binary STL."""
    places = mesh.points[mesh.corners[triangles(mesh)]]
    normals = np.cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    rows = np.zeros(len(places), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")]))
    rows["normal"], rows["corners"] = normals, places
    file.write_bytes(b"binary STL".ljust(80) + len(rows).to_bytes(4, "little") + rows.tobytes())


def write_obj(mesh: MeshData, file: Path, kept: Mapping[str, Path] = MappingProxyType({})) -> None:
    """Write an OBJ, and an MTL with copies of its images where the mesh has materials.

    kept: files by names in small letters, which no other image gets.
    """
    names = _material_names(mesh.materials)
    lines = []
    if names:
        file.with_suffix(".mtl").write_text(
            _mtl(mesh.materials, names, file.parent, kept), encoding="utf-8", newline="\n"
        )
        lines.append(f"mtllib {file.stem}.mtl")
    lines += _rows("v", mesh.points)
    parts = [mesh.corners + 1]
    for word, values in (("vt", mesh.uvs), ("vn", mesh.normals)):
        if values is None:
            parts.append(np.zeros(0, np.int64))
            continue
        unique, index = np.unique(np.asarray(values, np.float32), axis=0, return_inverse=True)
        lines += _rows(word, unique.astype(float))
        parts.append(index.reshape(-1) + 1)
    lines += _faces(mesh, parts, names)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _rows(word: str, values: Floats) -> list[str]:
    return [f"{word} " + " ".join(map(number_text, row)) for row in np.asarray(values, float).tolist()]


def _faces(mesh: MeshData, parts: list[Ints], names: list[str]) -> list[str]:
    points, uvs, normals = (part.tolist() for part in parts)
    if uvs and normals:
        texts = [f"{a}/{b}/{c}" for a, b, c in zip(points, uvs, normals, strict=True)]
    elif uvs:
        texts = [f"{a}/{b}" for a, b in zip(points, uvs, strict=True)]
    elif normals:
        texts = [f"{a}//{b}" for a, b in zip(points, normals, strict=True)]
    else:
        texts = [str(point) for point in points]
    materials = mesh.faces if mesh.faces is not None and names else np.zeros(len(mesh.counts), np.int64)
    starts = np.cumsum(mesh.counts) - mesh.counts
    lines = []
    current = None
    for face in np.argsort(materials, kind="stable").tolist():
        material = int(materials[face])
        if names and material != current:
            current = material
            if 0 <= material < len(names):
                lines.append(f"usemtl {names[material]}")
        start = int(starts[face])
        lines.append("f " + " ".join(texts[start : start + int(mesh.counts[face])]))
    return lines


def _material_names(materials: list[MeshMaterial]) -> list[str]:
    taken: set[str] = set()
    names = []
    for material in materials:
        name = paths.free(_NO_WORD.sub("_", material.name) or "material", taken.__contains__)
        taken.add(name)
        names.append(name)
    return names


def _mtl(materials: list[MeshMaterial], names: list[str], folder: Path, kept: Mapping[str, Path]) -> str:
    lines = []
    for material, name in zip(materials, names, strict=True):
        lines.append(f"newmtl {name}")
        red, green, blue, alpha = material.color or (0.5, 0.5, 0.5, 1.0)
        if material.texture is not None and material.color is None:
            red = green = blue = 1.0
        lines.append("Kd " + " ".join(f"{value:.6g}" for value in srgb((red, green, blue))))
        if any(material.emission):
            lines.append("Ke " + " ".join(f"{value:.6g}" for value in srgb(material.emission)))
        lines.append(f"d {alpha:.6g}")
        if material.texture is not None and material.texture.is_file():
            lines.append(f"map_Kd {_copied(material.texture, folder, kept)}")
        if material.glow is not None and material.glow.is_file():
            lines.append(f"map_Ke {_copied(material.glow, folder, kept)}")
    return "\n".join(lines) + "\n"


def _copied(image: Path, folder: Path, kept: Mapping[str, Path]) -> str:
    """Name of the copy of an image in a folder; another image of the same name keeps its own."""

    def is_other(stem: str) -> bool:
        there = (folder / f"{stem}{image.suffix}", kept.get(f"{stem}{image.suffix}".lower()))
        return any(file is not None and file.is_file() and not _are_same(file, image) for file in there)

    name = paths.free(_NO_WORD.sub("_", image.stem), is_other)
    target = folder / f"{name}{image.suffix}"
    if not target.is_file():
        shutil.copyfile(image, target)
    return target.name
