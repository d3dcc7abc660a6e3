# SPDX-License-Identifier: GPL-3.0-or-later
"""Mesh files of robots -> arrays: STL, OBJ and PLY here, COLLADA and glTF in modules of their own.

Points are metres along the axes of the link, as ROS reads the files: their up axis is ignored, their unit is not.
"""

from __future__ import annotations

import re
import struct
import warnings
from collections.abc import Callable
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import pointers
from ..core.errors import InputError
from .mesh_data import Floats, Ints, MeshData, MeshMaterial, linear, sibling

#: Larger files are refused.
_LARGEST = 1 << 30
#: Odd numbers that spread the bits of three coordinates over one number.
MIXERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9))


def read_mesh(path: Path, *, is_bare: bool = False) -> MeshData:
    """Read a mesh file. Raises InputError, naming the file, if it is damaged, empty or of an unknown type.

    is_bare: nobody needs its normals and materials, so those of an OBJ file, half of its numbers, are not read.
    """
    reader = _READERS.get(path.suffix.lower())
    if is_bare and reader is _read_obj:
        reader = partial(_read_obj, is_bare=True)
    if reader is None:
        raise InputError(f"'{path.name}' is no mesh that can be read; these are {', '.join(_READERS)}.")
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"'{path.name}' is larger than {_LARGEST >> 20} MB.")
        pointers.refuse_file(path)
        with np.errstate(all="ignore"):
            mesh = reader(path)
    except OSError as error:
        raise InputError(f"'{path.name}' cannot be read ({error.strerror}).") from error
    except (ValueError, IndexError, KeyError, TypeError, struct.error, OverflowError, RecursionError) as error:
        raise InputError(f"'{path.name}' is damaged, so its mesh is left out ({_reason(error)}).") from error
    return _checked(mesh, path)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:80] or type(error).__name__


def _checked(mesh: MeshData, path: Path) -> MeshData:
    """The mesh without faces that are none. Raises InputError if nothing is left of it."""
    if _is_sound(mesh):
        return mesh
    count = len(mesh.points)
    bad_corner: NDArray[np.bool_] = np.asarray((mesh.corners < 0) | (mesh.corners >= count))
    if count and not bad_corner.all():
        finite = np.asarray(np.isfinite(mesh.points).all(axis=1))
        bad_corner = bad_corner | ~finite[np.clip(mesh.corners, 0, count - 1)]
    starts = np.concatenate([[0], np.cumsum(mesh.counts)[:-1]]).astype(np.int64) if len(mesh.counts) else mesh.counts
    if not len(mesh.counts) or not len(mesh.corners):
        raise InputError(f"'{path.name}' holds no faces, so it is left out.")
    keep = np.asarray((np.add.reduceat(bad_corner, starts) == 0) & (mesh.counts >= 3))
    if not keep.all():
        by_corner = np.repeat(keep, mesh.counts)
        mesh.corners, mesh.counts = mesh.corners[by_corner], mesh.counts[keep]
        mesh.uvs = None if mesh.uvs is None else mesh.uvs[by_corner]
        mesh.normals = None if mesh.normals is None else mesh.normals[by_corner]
        mesh.faces = None if mesh.faces is None else mesh.faces[keep]
    if not len(mesh.counts):
        raise InputError(f"'{path.name}' holds no faces, so it is left out.")
    used = np.zeros(count, np.bool_)
    used[mesh.corners] = True
    if not used.all():
        mesh.points, mesh.corners = mesh.points[used], (np.cumsum(used) - 1)[mesh.corners]
    return mesh


def _is_sound(mesh: MeshData) -> bool:
    """True if all faces and points are used and valid: the usual case, told apart quickly."""
    corners, count = mesh.corners, len(mesh.points)
    if not len(mesh.counts) or mesh.counts.min() < 3 or corners.min() < 0 or corners.max() >= count:
        return False
    used = np.zeros(count, np.bool_)
    used[corners] = True
    return bool(used.all() and np.isfinite(mesh.points).all())


# --------------------------------------------------------------------------- STL


def _read_stl(path: Path) -> MeshData:
    data = path.read_bytes()
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    is_binary = len(data) >= 84 + 50 * count if count > 0 else False
    if is_binary and not (data[:5] == b"solid" and b"facet" in data[:400] and len(data) != 84 + 50 * count):
        rows = np.frombuffer(data, np.uint8, 50 * count, 84).reshape(count, 50)[:, 12:48]
        corners = np.ascontiguousarray(rows).view("<f4").reshape(-1, 3)
    else:
        lines = data.decode("latin-1").lower().split("vertex")[1:]
        corners = np.array([line.split(None, 3)[:3] for line in lines], np.float32).reshape(-1, 3)
    corners = corners[: len(corners) // 3 * 3]
    first, index = welded(corners)
    index = index.reshape(-1, 3)
    one, two, three = index.T
    flat = (one == two) | (two == three) | (three == one)
    if flat.any():
        index = index[~flat]
    return MeshData(corners[first].astype(float), np.full(len(index), 3), index.reshape(-1).astype(np.int64))


def welded(corners: NDArray[np.float32]) -> tuple[Ints, Ints]:
    """Corners at the same place are one point: (corner (n,) of each point, point (k,) of each corner).

    corners: (k, 3).
    """
    bits = np.ascontiguousarray(corners + np.float32(0.0)).view(np.uint32)
    if not len(bits):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    # Sorting one number of each is six times faster than sorting three; two places of one number are looked for below.
    x, y, z = (bits[:, axis].astype(np.uint64) * factor for axis, factor in enumerate(MIXERS))
    mixed = (x ^ y) * MIXERS[2] + z
    # With the number of the corner in the last bits, a sort does what a sort of indices does in several times the time.
    count = len(bits)
    last = np.uint64((count - 1).bit_length())
    mixed = (mixed >> last << last) | np.arange(count, dtype=np.uint64)
    mixed.sort()
    order = (mixed & ((np.uint64(1) << last) - np.uint64(1))).astype(np.int64)
    mixed >>= last
    is_new = np.append(True, mixed[1:] != mixed[:-1])
    starts = order[is_new]  # the first corner of each place
    is_first = np.zeros(count, bool)
    is_first[starts] = True
    rank = np.cumsum(is_first) - 1
    point = np.empty(count, np.int64)
    point[order] = rank[starts][np.cumsum(is_new) - 1]
    first = np.flatnonzero(is_first)
    if not np.array_equal(bits[first[point]], bits):
        _, first, point = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    return first, point.reshape(-1)


# --------------------------------------------------------------------------- OBJ


#: Faces whose corners all have the same numbers: of the point, the texture, the normal.
_FACES = {
    kind: re.compile(f"{kind.replace('N', '[0-9]{1,9}')}(?: {kind.replace('N', '[0-9]{1,9}')})*")
    for kind in ("N", "N/N", "N//N", "N/N/N")
}


class _Obj(NamedTuple):
    """The numbers of an OBJ file. counts (f,), corners, uvs, normals (c,): from 0, -1 where a corner has none. faces
    (f,): number of the material, in names."""

    points: Floats
    coordinates: Floats
    directions: Floats
    counts: Ints
    corners: Ints
    uvs: Ints
    normals: Ints
    faces: Ints
    names: list[str]
    libraries: list[str]


def _read_obj(path: Path, *, is_bare: bool = False) -> MeshData:
    text = path.read_bytes().decode("utf-8", "replace").replace("\\\r\n", " ").replace("\\\n", " ")
    lines = text.splitlines()
    found = _plain_obj(lines, is_bare=is_bare) or _any_obj(lines)
    if is_bare:
        return MeshData(found.points, found.counts, found.corners)
    known: dict[str, MeshMaterial] = {}
    for library in found.libraries:
        for name in dict.fromkeys((library, *library.split())):
            file = path.parent / name.replace("\\", "/")
            if file.suffix.lower() == ".mtl" and file.is_file():
                known.update(_read_mtl(file))
    materials = [known.get(name) or MeshMaterial(name) for name in found.names]
    return MeshData(
        found.points, found.counts, found.corners, by_corner(found.coordinates, found.uvs, 2),
        by_corner(found.directions, found.normals, 3), materials, found.faces,
    )  # fmt: skip


def _plain_obj(lines: list[str], *, is_bare: bool) -> _Obj | None:
    """The numbers of a file as programs write it, whose lines of a kind are alike; None for another one.

    In less than half of the time of `_any_obj`, because numbers are not read one by one.
    """
    points: list[str] = []
    coordinates: list[str] = []
    directions: list[str] = []
    faces: list[str] = []
    libraries: list[str] = []
    slots: dict[str, int] = {}
    changes, chosen = [0], [-1]
    for line in lines:
        kind = line[:2]
        if kind == "v ":
            points.append(line[2:])
        elif kind == "f ":
            faces.append(line[2:])
        elif is_bare and kind in ("vn", "vt"):
            continue
        elif line[:3] == "vn ":
            directions.append(line[3:])
        elif line[:3] == "vt ":
            coordinates.append(line[3:])
        elif kind and kind[0] != "#":
            word, _, rest = line.strip().partition(" ")
            if word == "usemtl":
                changes.append(len(faces))
                chosen.append(slots.setdefault(rest.strip(), len(slots)))
            elif word == "mtllib":
                libraries.append(rest.strip())
            elif word in ("v", "vt", "vn", "f"):
                return None
    places, textures, normals = _table(points, 3), _table(coordinates, 2), _table(directions, 3)
    joined = " ".join(faces)
    kind = re.sub("[0-9]+", "N", joined.partition(" ")[0])
    if places is None or textures is None or normals is None:
        return None
    if kind not in _FACES or not _FACES[kind].fullmatch(joined):
        return None
    counts = np.fromiter(map(str.count, faces, repeat(" ")), np.int64, len(faces)) + 1
    numbers = _numbers(joined.replace("//", " ").replace("/", " "), np.int64).reshape(int(counts.sum()), -1) - 1
    if numbers.min() < 0:
        return None
    none = np.full(len(numbers), -1)
    return _Obj(
        places, textures, normals, counts, numbers[:, 0].copy(),
        numbers[:, 1] if kind in ("N/N", "N/N/N") else none, numbers[:, -1] if kind in ("N//N", "N/N/N") else none,
        np.repeat(chosen, np.diff([*changes, len(faces)])), list(slots), libraries,
    )  # fmt: skip


def _table(rows: list[str], size: int) -> Floats | None:
    """The first numbers (n, size) of rows; None if these have different lengths."""
    if not rows:
        return np.zeros((0, size))
    spaces = set(map(str.count, rows, repeat(" ")))
    joined, width = " ".join(rows), spaces.pop() + 1
    if spaces or width < size or "  " in joined:
        return None
    numbers = _numbers(joined, np.float64)
    return numbers.reshape(-1, width)[:, :size].copy() if len(numbers) == len(rows) * width else None


def _numbers(text: str, kind: Any) -> NDArray[Any]:
    """Numbers that are separated by spaces, up to the first word that is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return np.fromstring(text, kind, sep=" ")


def _any_obj(lines: list[str]) -> _Obj:
    points: list[list[float]] = []
    coordinates: list[list[float]] = []
    directions: list[list[float]] = []
    counts: list[int] = []
    corners: list[int] = []
    uvs: list[int] = []
    normals: list[int] = []
    faces: list[int] = []
    slots: dict[str, int] = {}
    libraries: list[str] = []
    current = -1
    for line in lines:
        word, _, rest = line.strip().partition(" ")
        if word == "v":
            points.append([float(part) for part in rest.split()[:3]])
        elif word == "vt":
            coordinates.append([float(part) for part in rest.split()[:2]])
        elif word == "vn":
            directions.append([float(part) for part in rest.split()[:3]])
        elif word == "f":
            parts = rest.split()
            counts.append(len(parts))
            faces.append(current)
            for part in parts:
                numbers = part.split("/")
                at = int(numbers[0])
                corners.append(at - 1 if at > 0 else len(points) + at)
                at = int(numbers[1]) if len(numbers) > 1 and numbers[1] else 0
                uvs.append(at - 1 if at > 0 else len(coordinates) + at if at else -1)
                at = int(numbers[2]) if len(numbers) > 2 and numbers[2] else 0
                normals.append(at - 1 if at > 0 else len(directions) + at if at else -1)
        elif word == "usemtl":
            current = slots.setdefault(rest.strip(), len(slots))
        elif word == "mtllib":
            libraries.append(rest.strip())
    return _Obj(
        np.array(points, float).reshape(-1, 3), np.array(coordinates, float), np.array(directions, float),
        np.array(counts, np.int64), np.array(corners, np.int64), np.array(uvs, np.int64), np.array(normals, np.int64),
        np.array(faces, np.int64), list(slots), libraries,
    )  # fmt: skip


def by_corner(table: Floats, chosen: Ints, size: int) -> Floats | None:
    """Values (k, size) by corner; None if a corner has none. chosen: row (k,) of the table."""
    if not len(table) or not len(chosen):
        return None
    if table.ndim != 2 or table.shape[1] != size or chosen.min() < 0 or chosen.max() >= len(table):
        return None
    picked: Floats = table[chosen]
    return picked if np.isfinite(picked).all() else None


def _read_mtl(path: Path) -> dict[str, MeshMaterial]:
    materials: dict[str, MeshMaterial] = {}
    material, alpha = MeshMaterial(""), 1.0
    for line in path.read_bytes().decode("utf-8", "replace").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "newmtl":
            material, alpha = MeshMaterial(rest.strip()), 1.0
            materials[material.name] = material
        elif word == "Kd":
            parts = [float(part) for part in rest.split()[:3]]
            if len(parts) == 3:
                material.color = linear((*parts, alpha))
        elif word == "Ke":
            parts = [float(part) for part in rest.split()[:3]]
            if len(parts) == 3:
                material.emission = linear(tuple(parts))[:3]
        elif word in ("d", "Tr") and rest.split():
            value = float(rest.split()[-1])
            alpha = min(1.0, max(0.0, value if word == "d" else 1.0 - value))
            if material.color is not None:
                material.color = (*material.color[:3], alpha)
        elif word in ("map_Kd", "map_Ke") and rest.strip():
            image = sibling(path.parent, rest.strip()) or sibling(path.parent, rest.split()[-1])
            if word == "map_Kd":
                material.texture = image
            else:
                material.glow = image
    for material in materials.values():
        if material.glow is not None and not any(material.emission):
            material.emission = (1.0, 1.0, 1.0)
    return materials


# --------------------------------------------------------------------------- PLY

_PLY_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip


def _read_ply(path: Path) -> MeshData:
    data = path.read_bytes()
    end = data.find(b"end_header")
    if not data.startswith(b"ply") or end < 0:
        raise ValueError("no PLY header")
    header = data[:end].decode("latin-1").split("\n")
    at = data.index(b"\n", end) + 1
    form = ""
    elements: list[tuple[str, int, list[list[str]]]] = []
    for line in header:
        words = line.split()
        if words[:1] == ["format"]:
            form = words[1]
        elif words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][2].append(words[1:])
    if form == "ascii":
        return _ply_mesh(_AsciiPly(data[at:]), elements)
    return _ply_mesh(_BinaryPly(data, at, ">" if "big" in form else "<"), elements)


class _AsciiPly:
    def __init__(self, data: bytes) -> None:
        self.words = data.split()
        self.at = 0

    def rows(self, count: int, types: list[str]) -> Floats:
        size = count * len(types)
        values = np.array(self.words[self.at : self.at + size], float).reshape(count, len(types))
        self.at += size
        return values

    def list_of(self, _count_type: str, _type: str) -> list[float]:
        count = int(self.words[self.at])
        values = [float(word) for word in self.words[self.at + 1 : self.at + 1 + count]]
        self.at += 1 + count
        return values

    def number(self, _type: str) -> float:
        self.at += 1
        return float(self.words[self.at - 1])


class _BinaryPly:
    def __init__(self, data: bytes, at: int, order: str) -> None:
        self.data, self.at, self.order = data, at, order

    def rows(self, count: int, types: list[str]) -> Floats:
        row = np.dtype([(str(index), self.order + _PLY_TYPES[name]) for index, name in enumerate(types)])
        values = np.frombuffer(self.data, row, count, self.at)
        self.at += row.itemsize * count
        return np.stack([values[name].astype(float) for name in row.names or ()], axis=1)

    def list_of(self, count_type: str, type_: str) -> list[float]:
        count = int(self.number(count_type))
        kind = np.dtype(self.order + _PLY_TYPES[type_])
        values = np.frombuffer(self.data, kind, count, self.at)
        self.at += kind.itemsize * count
        return [float(value) for value in values]

    def number(self, type_: str) -> float:
        kind = np.dtype(self.order + _PLY_TYPES[type_])
        self.at += kind.itemsize
        return float(np.frombuffer(self.data, kind, 1, self.at - kind.itemsize)[0])


def _ply_mesh(source: _AsciiPly | _BinaryPly, elements: list[tuple[str, int, list[list[str]]]]) -> MeshData:
    points, counts, corners = np.zeros((0, 3)), [], []
    for name, count, properties in elements:
        if not any(words[0] == "list" for words in properties):
            rows = source.rows(count, [words[0] for words in properties])
            if name == "vertex":
                names = [words[-1] for words in properties]
                points = rows[:, [names.index(axis) for axis in "xyz"]]
            continue
        for _ in range(count):
            for words in properties:
                if words[0] != "list":
                    source.number(words[0])
                    continue
                listed = source.list_of(words[1], words[2])
                if name == "face" and words[-1] in ("vertex_indices", "vertex_index"):
                    counts.append(len(listed))
                    corners += [int(value) for value in listed]
    return MeshData(points, np.array(counts, np.int64), np.array(corners, np.int64))


# --------------------------------------------------------------------------- COLLADA, glTF


def _read_collada(path: Path) -> MeshData:
    from . import collada

    return collada.read_collada(path)


def _read_gltf(path: Path) -> MeshData:
    from . import gltf_mesh

    return gltf_mesh.read_gltf(path)


_READERS: dict[str, Callable[[Path], MeshData]] = {
    ".stl": _read_stl, ".obj": _read_obj, ".ply": _read_ply, ".dae": _read_collada,
    ".gltf": _read_gltf, ".glb": _read_gltf,
}  # fmt: skip
