# SPDX-License-Identifier: GPL-3.0-or-later
"""A glTF file: its JSON, its buffers, its nodes and meshes. Whatever a file says is checked before it is used."""

from __future__ import annotations

import base64
import binascii
import json
import math
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from operator import ne
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from ..core import frames, pointers
from ..core.errors import InputError
from ..core.frames import Matrix
from ..core.model import Mesh
from ..system.files import regular, replacing
from . import axes

_GLB, _JSON, _BIN = b"glTF", 0x4E4F534A, 0x004E4942
#: Bytes of a file or a buffer that are read.
MOST_BYTES = 1 << 31
MOST_NODES = 1_000_000
#: Nodes below each other; Blender's importer calls itself for each.
MOST_LEVELS = 200
#: Elements of an accessor.
_MOST_ELEMENTS = 100_000_000
#: Elements of accessors without bytes of their own, and elements that meshes and animations read. Files with so many
#: bytes for each are read as well: compression leaves few.
_MOST_UNBACKED, _MOST_READ, _ELEMENTS_PER_BYTE = 10_000_000, 50_000_000, 16
_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_ALL_WIDTHS = {**_WIDTHS, "MAT2": 4, "MAT3": 9, "MAT4": 16}
#: Beginnings of images that glTF and its extensions know: PNG, JPEG, WebP, KTX 2, DDS.
_IMAGES = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"\xabKTX 20", b"DDS ")
_NUMBERS = frozenset({int, float})
_MOST_FLOAT = float(np.finfo(np.float32).max)
#: Divisors of normalised integers.
_NORMALS = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}
TRIANGLES = 4
_INSTANCES = "EXT_mesh_gpu_instancing"
_TRANSFORMS = (("matrix", 16), ("translation", 3), ("rotation", 4), ("scale", 3))
_OF_NODES = {**{key: list for key, _ in _TRANSFORMS}, "children": list, "extensions": dict, "name": str, "mesh": int}
_LISTS = ("nodes", "scenes", "meshes", "accessors", "bufferViews", "buffers", "images", "materials", "skins")


class Document:
    """A glTF document. `json`: as in the file. Node indices stay as they are; new nodes are appended."""

    def __init__(self, content: dict[str, Any], path: Path, binary: bytes | None = None) -> None:
        """Raises InputError where the structure of the document is not that of glTF 2.0."""
        self.json, self.path, self.binary = content, path, binary
        self._buffers: dict[int, bytes | bytearray] = {}
        self._is_changed = False
        self._meshes: dict[int, Mesh | None] = {}
        self._worlds: dict[int, Matrix] = {}
        self._added = bytearray()
        #: Families of extensions that we have written: each scene of a file adds to them.
        self.written: set[str] = set()
        self._check()
        self.parents = self._find_parents()

    # ------------------------------------------------------------------ reading

    @classmethod
    def load(cls, file: str | Path) -> Document:
        """Read a .gltf or .glb. Raises InputError with one sentence for one that cannot be used."""
        path = Path(file)
        try:
            if regular(path).stat().st_size > MOST_BYTES:
                raise InputError(f"'{path.name}' has more than {MOST_BYTES >> 30} GB, which is not read.")
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise InputError(f"There is no file '{path}'; check the name.") from error
        except OSError as error:
            raise InputError(f"'{path}' cannot be read ({error.strerror or type(error).__name__}).") from error
        pointers.refuse(data, path.name)
        binary = None
        if data[:4] == _GLB:
            data, binary = _chunks(data, path)
        try:
            content = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())[:120]
            raise InputError(f"'{path.name}' is no glTF file: its JSON cannot be read ({reason}).") from error
        if not isinstance(content, dict):
            raise InputError(f"'{path.name}' is no glTF file: its JSON is no object.")
        return cls(content, path, binary)

    def _wrong(self, reason: str) -> InputError:
        return InputError(f"'{self.path.name}' is no valid glTF file: {reason}.")

    def _check(self) -> None:
        content = self.json
        asset = content.get("asset")
        if not isinstance(asset, dict) or not str(asset.get("version", "")).startswith("2."):
            raise self._wrong("it does not say that it is of version 2")
        for name in _LISTS:
            items = content.get(name, [])
            if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
                raise self._wrong(f"its {name} are no list of objects")
        if len(self.nodes) > MOST_NODES:
            raise self._wrong(f"it has more than {MOST_NODES} nodes")
        for key in ("extensions", "extras"):
            if key == "extensions" and not isinstance(content.get(key, {}), dict):
                raise self._wrong("its extensions are no object")
        if not self._are_nodes_fine():
            for index, node in enumerate(self.nodes):
                self.check_node(index, node)
        self._check_scenes()
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Raise InputError where few bytes stand for more elements than fit into memory."""
        counts = [_count(item) for item in self.json.get("accessors", [])]
        unbacked = sum(
            count for item, count in zip(self.json.get("accessors", []), counts, strict=True)
            if "bufferView" not in item
        )  # fmt: skip
        if unbacked > _MOST_UNBACKED and unbacked > _ELEMENTS_PER_BYTE * self._bytes():
            raise self._wrong(f"it has {unbacked:,} elements without bytes in a buffer")
        read = sum(counts[one] for one in self._read_accessors() if _is_index(one, len(counts)))
        if read > _MOST_READ and read > _ELEMENTS_PER_BYTE * self._bytes():
            raise self._wrong(f"its meshes and animations repeat the same bytes to {read:,} elements")
        nodes = [
            index
            for index, extensions in enumerate(self.column("extensions"))
            if extensions and _INSTANCES in extensions
        ]
        instances = [self.node_extension(index, _INSTANCES).get("attributes") for index in nodes]
        made = sum(
            max((counts[one] for one in each.values() if _is_index(one, len(counts))), default=0)
            for each in instances if isinstance(each, dict)
        )  # fmt: skip
        if made > MOST_NODES:
            raise self._wrong(f"its nodes have {made:,} instances, of {MOST_NODES:,} at most")

    def _bytes(self) -> int:
        """Bytes of its buffers, as they are and not as it says."""
        size = len(self.binary or b"")
        for uri in {buffer.get("uri") for buffer in self.json.get("buffers", []) if isinstance(buffer.get("uri"), str)}:
            with suppress(OSError, ValueError):
                size += len(uri) if uri.startswith("data:") else self.neighbour(uri).stat().st_size
        return size

    def _read_accessors(self) -> Iterator[Any]:
        """The accessors that meshes and animations read, as often as they do."""
        for mesh in self.json.get("meshes", []):
            for primitive in _dicts(mesh.get("primitives")):
                yield primitive.get("indices")
                for attributes in (primitive.get("attributes"), *_dicts(primitive.get("targets"))):
                    yield from attributes.values() if isinstance(attributes, dict) else ()
        for animation in _dicts(self.json.get("animations")):
            samplers = _dicts(animation.get("samplers"))
            for channel in _dicts(animation.get("channels")):
                if _is_index(channel.get("sampler"), len(samplers)):
                    sampler = samplers[channel["sampler"]]
                    yield from (sampler.get("input"), sampler.get("output"))

    def _check_scenes(self) -> None:
        content = self.json
        for scene in content.get("scenes", []):
            if not _are_indices(scene.get("nodes", []), len(self.nodes)):
                raise self._wrong("a scene names a node that does not exist")
        start = content.get("scene", 0)
        if not _is_index(start, max(len(content.get("scenes", [])), 1)):
            raise self._wrong("its scene does not exist")

    def _are_nodes_fine(self) -> bool:
        """What `check_node` asks, of all nodes at once: one by one takes several times as long."""
        nodes, meshes = self.nodes, self.json.get("meshes", [])
        there = set().union(*nodes)
        columns = {key: [node[key] for node in nodes if key in node] if key in there else [] for key in _OF_NODES}
        if any(not {kind}.issuperset(map(type, columns[key])) for key, kind in _OF_NODES.items()):
            return False
        for key, width in _TRANSFORMS:
            if not {width}.issuperset(map(len, columns[key])) or not are_numbers(_flat(columns[key])):
                return False
        return _are_indices(_flat(columns["children"]), len(nodes)) and _are_indices(columns["mesh"], len(meshes))

    def check_node(self, index: int, node: dict[str, Any]) -> None:
        """Raises InputError for a node whose values are not those of glTF."""
        if "children" in node and not _are_indices(node["children"], len(self.nodes)):
            raise self._wrong(f"node {index} names a child that does not exist")
        for key, width in _TRANSFORMS:
            if key in node and not is_numbers(node[key], width):
                raise self._wrong(f"the {key} of node {index} is not {width} finite numbers")
        if "extensions" in node and not isinstance(node["extensions"], dict):
            raise self._wrong(f"the extensions of node {index} are no object")
        if "name" in node and not isinstance(node["name"], str):
            raise self._wrong(f"the name of node {index} is no text")
        if "mesh" in node and not _is_index(node["mesh"], len(self.json.get("meshes", []))):
            raise self._wrong(f"node {index} names a mesh that does not exist")

    def _find_parents(self) -> list[int | None]:
        """Raises InputError for circles, for nodes with two parents and for too many levels."""
        parents: list[int | None] = [None] * len(self.nodes)
        below = self.column("children")
        above = [(index, children) for index, children in enumerate(below) if children]
        if not above:
            return parents
        for index, children in above:
            for child in children:
                if parents[child] is not None or child == index:
                    raise self._wrong(f"node {child} has two parents or is its own child")
                parents[child] = index
        levels = [0] * len(parents)
        todo = [index for index, parent in enumerate(parents) if parent is None]
        seen = len(todo)
        while todo:
            index = todo.pop()
            for child in below[index] or ():
                levels[child] = levels[index] + 1
                if levels[child] > MOST_LEVELS:
                    raise self._wrong(f"it has more than {MOST_LEVELS} nodes below each other")
                todo.append(child)
                seen += 1
        if seen < len(parents):
            raise self._wrong("nodes are below themselves")
        return parents

    # ------------------------------------------------------------------ nodes

    @property
    def nodes(self) -> list[dict[str, Any]]:
        nodes: list[dict[str, Any]] = self.json.get("nodes", [])
        return nodes

    def column(self, key: str) -> list[Any]:
        """One value of each node; None for those that do not have it."""
        return [node.get(key) for node in self.nodes]

    def runs(self) -> list[int]:
        """A number of each node, the same for neighbours whose extensions are equal."""
        extensions = self.column("extensions")
        return list(accumulate(map(ne, extensions[1:], extensions), initial=0)) if extensions else []

    @property
    def extensions(self) -> dict[str, Any]:
        """Extensions of the document, by name."""
        return {name: value for name, value in self.json.get("extensions", {}).items() if isinstance(value, dict)}

    def node_extension(self, index: int, name: str) -> dict[str, Any]:
        """An extension of a node; empty if it has none."""
        extensions = self.json["nodes"][index].get("extensions")
        settings = extensions.get(name) if extensions else None
        return settings if isinstance(settings, dict) else {}

    def pool(self, extension: str, name: str) -> list[dict[str, Any]]:
        """A list of the document, such as the shapes. Items of the wrong type are empty objects."""
        listed = self.json.get("extensions", {}).get(extension)
        items = listed.get(name, []) if isinstance(listed, dict) else []
        return [item if isinstance(item, dict) else {} for item in items] if isinstance(items, list) else []

    def node_name(self, index: int) -> str:
        return str(self.json["nodes"][index].get("name") or "")

    def ancestors(self, index: int | None) -> Iterator[int]:
        """A node and the nodes above it, nearest first."""
        while index is not None:
            yield index
            index = self.parents[index]

    def is_below(self, index: int, above: int) -> bool:
        return above in self.ancestors(index)

    def animated(self) -> set[int]:
        """Nodes that animations move."""
        return {
            channel.get("target", {}).get("node") for animation in self.json.get("animations", [])
            for channel in animation.get("channels", [])
        }  # fmt: skip

    def roots(self) -> list[int]:
        """The roots of the scene that is shown; of all nodes if there is no scene."""
        scenes = self.json.get("scenes", [])
        if scenes:
            return list(scenes[self.json.get("scene", 0)].get("nodes", []))
        return [index for index, parent in enumerate(self.parents) if parent is None]

    def live(self) -> list[int]:
        """Nodes of the scene that is shown, parents first."""
        below, todo = self.column("children"), list(reversed(self.roots()))
        nodes: dict[int, None] = {}
        while todo:
            index = todo.pop()
            if index not in nodes:
                nodes[index] = None
                if below[index]:
                    todo += reversed(below[index])
        return list(nodes)

    def local(self, index: int) -> Matrix:
        """Matrix (4, 4) of a node relative to its parent, in the axes of the model."""
        node = self.nodes[index]
        if "matrix" in node:
            return axes.matrix_in(np.array(node["matrix"], float).reshape(4, 4).T)
        x, y, z = node.get("translation", _ORIGIN)
        width, height, depth = node.get("scale", _ONES)
        place = (x, -z, y)
        if "rotation" not in node:
            return np.array(_rows(place, (width, depth, height)))
        return frames.transform(place, frames.matrix_of(axes.rotation_in(node["rotation"])), (width, depth, height))

    def world(self, index: int) -> Matrix:
        """World matrix (4, 4) of a node, metres, in the axes of the model."""
        known = self._worlds.get(index)
        if known is not None:
            return known
        chain, matrix = [], None
        for one in self.ancestors(index):
            matrix = self._worlds.get(one)
            if matrix is not None:
                break
            chain.append(one)
        for one in reversed(chain):
            local = self.local(one)
            matrix = self._worlds[one] = local if matrix is None else matrix @ local
        assert matrix is not None
        return matrix

    # ------------------------------------------------------------------ meshes

    def mesh(self, index: Any) -> Mesh | None:
        """The triangles of a mesh, in the axes of the model; None if it has none. Raises InputError."""
        if not _is_index(index, len(self.json.get("meshes", []))):
            return None
        if index not in self._meshes:
            self._meshes[index] = self._read_mesh(self.json["meshes"][index])
        return self._meshes[index]

    def is_compressed(self, index: object) -> bool:
        """True for a mesh with Draco or meshopt compression, which only Blender reads, without a plain copy."""
        if not _is_index(index, len(self.json.get("meshes", []))):
            return False
        primitives = self.json["meshes"][index].get("primitives", [])
        return isinstance(primitives, list) and any(
            isinstance(one, dict) and self._is_packed(one) for one in primitives
        )

    def _is_packed(self, primitive: dict[str, Any]) -> bool:
        """True for a primitive whose positions or corners are only there in compression."""
        attributes, accessors = primitive.get("attributes"), self.json.get("accessors", [])
        used = [primitive.get("indices"), attributes.get("POSITION") if isinstance(attributes, dict) else None]
        views = [accessors[one].get("bufferView") for one in used if _is_index(one, len(accessors))]
        return _is_draco(primitive) or any(map(self._is_packed_view, views))

    def _is_packed_view(self, index: object) -> bool:
        """True for a view in meshopt compression whose buffer has no plain bytes to fall back to."""
        views, buffers = self.json.get("bufferViews", []), self.json.get("buffers", [])
        if not _is_index(index, len(views)) or not _names_meshopt(views[index]):
            return False
        number = views[index].get("buffer")
        buffer = buffers[number] if _is_index(number, len(buffers)) else {}
        return "uri" not in buffer and (number != 0 or not self.binary or _names_meshopt(buffer))

    def _read_mesh(self, mesh: dict[str, Any]) -> Mesh | None:
        points: list[NDArray[np.float64]] = []
        triangles: list[NDArray[np.int64]] = []
        first = 0
        primitives = mesh.get("primitives", [])
        for primitive in primitives if isinstance(primitives, list) else ():
            if not isinstance(primitive, dict) or not isinstance(primitive.get("attributes"), dict):
                raise self._wrong("a primitive of a mesh has no attributes")
            if "POSITION" not in primitive["attributes"]:
                continue
            if self._is_packed(primitive):
                return None
            corners = _corners(primitive.get("mode", TRIANGLES))
            if corners is None:
                continue
            places = self.accessor(primitive["attributes"]["POSITION"], "VEC3")
            if not np.isfinite(places).all():
                raise self._wrong("a mesh has positions that are no finite numbers")
            if "indices" in primitive:
                order = self.accessor(primitive["indices"], "SCALAR")[:, 0].astype(np.int64)
                if len(order) and order.max() >= len(places):
                    raise self._wrong("a mesh names a vertex that does not exist")
            else:
                order = np.arange(len(places))
            points.append(places)
            triangles.append(corners(order) + first)
            first += len(places)
        if not points or not sum(map(len, triangles)):
            return None
        return Mesh(axes.points_in(np.concatenate(points)), np.concatenate(triangles))

    def accessor(self, index: object, type_: str) -> NDArray[np.float64]:
        """Values (count, width) of an accessor. Raises InputError for one that leads out of its buffer."""
        accessors = self.json.get("accessors", [])
        if not _is_index(index, len(accessors)):
            raise self._wrong("a mesh names an accessor that does not exist")
        item = accessors[index]
        kind, count, width = item.get("componentType"), item.get("count"), _WIDTHS.get(str(item.get("type")))
        if not _is_type(kind) or width != _WIDTHS[type_] or not _is_index(count, _MOST_ELEMENTS):
            raise self._wrong(f"accessor {index} has no known type or count")
        dtype = np.dtype(_TYPES[kind])
        if "bufferView" in item:
            values = self._viewed(item["bufferView"], item.get("byteOffset", 0), count, width, dtype)
        else:
            values = np.zeros((count, width), dtype)
        if "sparse" in item:
            values = self._with_sparse(item["sparse"], values, width, dtype)
        numbers = values.astype(float)
        return np.maximum(numbers / _NORMALS[kind], -1.0) if item.get("normalized") and kind in _NORMALS else numbers

    def _with_sparse(self, sparse: Any, values: NDArray[Any], width: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        try:
            count, at, new = sparse["count"], sparse["indices"], sparse["values"]
            kind = np.dtype(_TYPES[at["componentType"]])
            places = self._viewed(at["bufferView"], at.get("byteOffset", 0), count, 1, kind)[:, 0]
            changed = self._viewed(new["bufferView"], new.get("byteOffset", 0), count, width, dtype)
        except (KeyError, TypeError, AttributeError) as error:
            raise self._wrong("a sparse accessor is incomplete") from error
        if len(places) and int(places.max()) >= len(values):
            raise self._wrong("a sparse accessor names an element that does not exist")
        values = values.copy()
        values[places.astype(np.int64)] = changed
        return values

    def _viewed(self, index: object, offset: Any, count: Any, width: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        views = self.json.get("bufferViews", [])
        if not _is_index(index, len(views)):
            raise self._wrong("an accessor names a buffer view that does not exist")
        view = views[index]
        if self._is_packed_view(index):
            raise InputError(
                f"'{self.path.name}' has a collider mesh with meshopt compression, which is not read; save it without "
                "compression (gltfpack without -c)."
            )
        size = dtype.itemsize * width
        start, length, stride = view.get("byteOffset", 0), view.get("byteLength", 0), view.get("byteStride", size)
        if not all(_is_index(value, MOST_BYTES) for value in (start, length, stride, offset, count)):
            raise self._wrong(f"buffer view {index} has no valid length or offset")
        data = self.buffer(view.get("buffer"))
        needed = offset + (count - 1) * stride + size if count else 0
        if stride < size or start + length > len(data) or needed > length:
            raise self._wrong(f"buffer view {index} leads out of its buffer")
        if not count:
            return np.zeros((0, width), dtype)
        return np.ndarray((count, width), dtype, data, start + offset, (stride, dtype.itemsize))

    def buffer(self, index: Any) -> bytes | bytearray:
        """The bytes of a buffer: of the file, of a data URI, or of a file in the same folder or below it."""
        buffers = self.json.get("buffers", [])
        if not _is_index(index, len(buffers)):
            raise self._wrong("a buffer view names a buffer that does not exist")
        if index not in self._buffers:
            uri = buffers[index].get("uri")
            same = next((one for one in self._buffers if uri and buffers[one].get("uri") == uri), None)
            self._buffers[index] = self._read_buffer(uri) if same is None else self._buffers[same]
        return self._buffers[index]

    def _read_buffer(self, uri: Any) -> bytes:
        if uri is None:
            return self.binary or b""
        if not isinstance(uri, str):
            raise self._wrong("the URI of a buffer is no text")
        if uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2], validate=True)
            except (binascii.Error, ValueError) as error:
                raise self._wrong("a buffer is no valid base64") from error
        path = self.neighbour(uri)
        try:
            if regular(path).stat().st_size > MOST_BYTES:
                raise self._wrong(f"'{path.name}' has more than {MOST_BYTES >> 30} GB, which is not read")
            data = path.read_bytes()
        except (OSError, ValueError) as error:
            raise InputError(
                f"'{self.path.name}' needs the file '{uri[:80]}', which cannot be read; put it into the same folder."
            ) from error
        pointers.refuse(data, path.name)
        return data

    def files(self) -> list[Path]:
        """The files that its buffers and images name. Raises InputError for one that is not below its folder."""
        uris = [one.get("uri") for name in ("buffers", "images") for one in self.json.get(name, [])]
        return [self.neighbour(uri) for uri in uris if isinstance(uri, str) and not uri.startswith("data:")]

    def check_assets(self) -> None:
        """Check all that Blender's importer reads: accessors lie in their buffers, and images are images.

        Raises InputError. An image that is missing, empty or a pointer of Git LFS is no error: the importer goes on
        without it.
        """
        views: list[dict[str, Any]] = self.json.get("bufferViews", [])
        for index, item in enumerate(self.json.get("accessors", [])):
            if "bufferView" not in item:
                continue
            kind, count, width = item.get("componentType"), item.get("count"), _ALL_WIDTHS.get(str(item.get("type")))
            if not _is_type(kind) or width is None or not _is_index(count, _MOST_ELEMENTS):
                raise self._wrong(f"accessor {index} has no known type or count")
            dtype, view = np.dtype(_TYPES[kind]), item["bufferView"]
            if not (_is_index(view, len(views)) and views[view].get("extensions")):
                self._viewed(view, item.get("byteOffset", 0), count, width, dtype)
        for index, view in enumerate(views):
            start, length = view.get("byteOffset", 0), view.get("byteLength", 0)
            if not (_is_index(start, MOST_BYTES) and _is_index(length, MOST_BYTES)):
                raise self._wrong(f"buffer view {index} has no valid length or offset")
            if not view.get("extensions") and start + length > len(self.buffer(view.get("buffer"))):
                raise self._wrong(f"buffer view {index} leads out of its buffer")
        for image in self.json.get("images", []):
            uri = image.get("uri")
            if isinstance(uri, str) and not uri.startswith("data:"):
                self._check_image(uri)

    def _check_image(self, uri: str) -> None:
        """Refuse a file that is no image: its bytes would become a part of the scene."""
        path = self.neighbour(uri)
        try:
            if not path.exists() or (path.is_file() and not path.stat().st_size) or pointers.is_pointer_file(path):
                return
            with regular(path).open("rb") as stream:
                is_image = stream.read(16).startswith(_IMAGES)
        except (OSError, ValueError) as error:
            raise self._wrong(f"the image '{uri[:80]}' cannot be read") from error
        if not is_image:
            raise self._wrong(f"its image '{uri[:80]}' is a file of another kind")

    def neighbour(self, uri: str) -> Path:
        """The file that a relative URI names. Raises InputError for one that is not below the folder of the file."""
        name = unquote(uri)
        folder = self.path.absolute().parent
        if "://" in name or name.startswith(("/", "\\")) or "\0" in name or Path(name).is_absolute():
            raise self._wrong(f"it names '{uri[:80]}', which is not in its folder")
        try:
            path = (folder / name).resolve()
            if path.is_relative_to(folder.resolve()):
                return path
        except (OSError, RuntimeError, ValueError):
            pass
        raise self._wrong(f"it names '{uri[:80]}', which is not in its folder")

    # ------------------------------------------------------------------ changing

    def add_node(self, node: dict[str, Any], parent: int | None, scene: int | None = None) -> int:
        """Append a node below another, or to the roots of a scene (by default the one that is shown)."""
        index = len(self.nodes)
        self.json.setdefault("nodes", []).append(node)
        self.parents.append(None)
        self.put_below(index, parent, scene)
        return index

    def put_below(self, index: int, parent: int | None, scene: int | None = None) -> None:
        """Hang a node without parent below another one, or at the top of a scene."""
        self._worlds.clear()
        self.parents[index] = parent
        if parent is not None:
            self.nodes[parent].setdefault("children", []).append(index)
            return
        scenes = self.json.setdefault("scenes", [{"nodes": []}])
        self.json.setdefault("scene", 0)
        scenes[self.json["scene"] if scene is None else scene].setdefault("nodes", []).append(index)

    def detach(self, index: int) -> None:
        """Take a node from its parent and from the roots of all scenes."""
        self._worlds.clear()
        parent = self.parents[index]
        holders = [*self.json.get("scenes", []), *([self.nodes[parent]] if parent is not None else [])]
        for holder in holders:
            for key in ("children", "nodes"):
                if index in holder.get(key, ()):
                    holder[key].remove(index)
                    if not holder[key] and key == "children":
                        del holder[key]
        self.parents[index] = None

    def place(self, index: int, local: Matrix) -> bool:
        """Set the transform of a node, in the axes of the model. False if it is sheared, and so only near to it."""
        node = self.nodes[index]
        for key in ("matrix", "translation", "rotation", "scale"):
            node.pop(key, None)
        node.update(transform_of(local))
        self._worlds.clear()
        return not frames.is_sheared(local)

    def use(self, extension: str) -> None:
        """Declare an extension as used."""
        used = self.json.setdefault("extensionsUsed", [])
        if extension not in used:
            used.append(extension)

    def put_extension(self, index: int, name: str, value: dict[str, Any]) -> None:
        """Set an extension of a node, merged with what it has of the same name."""
        extensions = self.json["nodes"][index].setdefault("extensions", {})
        extensions[name] = {**extensions[name], **value} if name in extensions else value
        self.use(name)

    def root_extension(self, name: str) -> dict[str, Any]:
        """The extension of the document; made if it is not there."""
        self.use(name)
        extension: dict[str, Any] = self.json.setdefault("extensions", {}).setdefault(name, {})
        return extension

    def drop_extras(self, key: str) -> bool:
        """Take an entry out of the extras of nodes, scenes, meshes and materials. True if there was one."""
        is_changed = False
        for name in ("nodes", "scenes", "meshes", "materials"):
            for item in self.json.get(name, []):
                extras = item.get("extras")
                if isinstance(extras, dict) and key in extras:
                    is_changed = True
                    del extras[key]
                    if not extras:
                        del item["extras"]
        return is_changed

    def add_mesh(self, name: str, mesh: Mesh) -> int:
        """Append a mesh of triangles, without a material."""
        points = axes.points_out(mesh.points).astype("<f4")
        order = np.asarray(mesh.triangles, np.int64).ravel()
        kind = 5123 if len(points) < 65536 else 5125
        accessors = self.json.setdefault("accessors", [])
        position = len(accessors)
        accessors.append({
            "bufferView": self._add_bytes(points.tobytes(), 34962), "componentType": 5126, "count": len(points),
            "type": "VEC3", "min": points.min(axis=0).tolist(), "max": points.max(axis=0).tolist(),
        })  # fmt: skip
        accessors.append({
            "bufferView": self._add_bytes(order.astype(_TYPES[kind]).tobytes(), 34963), "componentType": kind,
            "count": len(order), "type": "SCALAR",
        })  # fmt: skip
        meshes: list[Any] = self.json.setdefault("meshes", [])
        meshes.append({
            "name": name, "primitives": [{"attributes": {"POSITION": position}, "indices": position + 1, "mode": 4}],
        })  # fmt: skip
        return len(meshes) - 1

    def _add_bytes(self, data: bytes, target: int) -> int:
        """Append bytes to the first buffer; returns the number of the view."""
        self._added += b"\0" * (-(self._old_length() + len(self._added)) % 4)
        views: list[Any] = self.json.setdefault("bufferViews", [])
        views.append({
            "buffer": 0, "byteOffset": self._old_length() + len(self._added), "byteLength": len(data),
            "target": target,
        })  # fmt: skip
        self._added += data
        return len(views) - 1

    def scale_accessor(self, index: int, factor: float, columns: slice = slice(None)) -> None:
        """Multiply columns of the values of an accessor with floats in the first buffer. Raises InputError."""
        item = self.json["accessors"][index]
        width = _ALL_WIDTHS.get(str(item.get("type")), 0)
        parts = [(item.get("bufferView"), item.get("byteOffset", 0), item["count"])]
        if "sparse" in item:
            values = item["sparse"]["values"]
            parts.append((values["bufferView"], values.get("byteOffset", 0), item["sparse"]["count"]))
        if item.get("componentType") != 5126 or not width:
            raise self._wrong(f"accessor {index} has no floats, so it cannot be scaled")
        for view, offset, count in parts:
            if view is None:
                continue
            if self.json["bufferViews"][view].get("buffer", 0) != 0:
                raise self._wrong(f"accessor {index} is not in the first buffer, so it cannot be scaled")
            if not isinstance(self.buffer(0), bytearray):
                self._buffers[0] = bytearray(self.buffer(0))
            self._viewed(view, offset, count, width, np.dtype("<f4"))[:, columns] *= factor
            self._is_changed = True
        for key in ("min", "max"):
            if key in item:
                item[key][columns] = [factor * value for value in item[key][columns]]

    def forget(self) -> None:
        """Forget what was read of places and meshes: they have changed."""
        self._worlds.clear()
        self._meshes.clear()

    def _old_length(self) -> int:
        return len(self.buffer(0)) if self.json.get("buffers") else 0

    # ------------------------------------------------------------------ writing

    def save(self, file: str | Path) -> None:
        """Write the document. The file, and the .bin that it names, are replaced at the end, or stay as they were."""
        target = Path(file).absolute()
        is_glb = target.suffix.lower() == ".glb"
        beside = self._merge_added(target, is_glb=is_glb)
        try:
            text = json.dumps(self.json, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        except ValueError as error:
            place = " > ".join(_not_finite(self.json) or ())[:200]
            raise InputError(f"'{target.name}' was not written: its value {place} is no finite number.") from error
        if beside is not None:
            with replacing(beside[0]) as scratch:
                scratch.write_bytes(beside[1])
        # Bytes that are no text are lone surrogates, which JSON has as escapes.
        data = text.encode("utf-8", "backslashreplace")
        parts = [data]
        if is_glb:
            data += b" " * (-len(data) % 4)
            binary = self.binary or b""
            binary += b"\0" * (-len(binary) % 4)
            chunks = 20 + len(data) + (8 + len(binary) if binary else 0)
            parts = [struct.pack("<4sIIII", _GLB, 2, chunks, len(data), _JSON), data]
            if binary:
                parts += [struct.pack("<II", len(binary), _BIN), binary]
        with replacing(target) as scratch, scratch.open("wb") as stream:
            stream.writelines(parts)

    def _merge_added(self, target: Path, *, is_glb: bool) -> tuple[Path, bytes] | None:
        """Put the appended bytes into the first buffer; returns a file to be written beside the document."""
        if not self._added and not self._is_changed:
            return None
        buffers: list[Any] = self.json.setdefault("buffers", [])
        data = bytes(self.buffer(0) if buffers else b"") + bytes(self._added)
        if not buffers:
            buffers.append({} if is_glb else {"uri": f"{target.stem}.bin"})
        buffers[0]["byteLength"] = len(data)
        self._buffers[0] = data
        self._added, self._is_changed = bytearray(), False
        uri = buffers[0].get("uri")
        if uri is None:
            self.binary = data
        elif uri.startswith("data:"):
            buffers[0]["uri"] = f"data:application/octet-stream;base64,{base64.b64encode(data).decode('ascii')}"
        else:
            return self.neighbour(uri) if target.parent == self.path.absolute().parent else target.parent / uri, data
        return None


# --------------------------------------------------------------------------- values


def is_number(value: Any) -> TypeGuard[float]:
    """True for a number that Blender can hold: its properties are floats of 32 bits."""
    return type(value) in _NUMBERS and -_MOST_FLOAT <= value <= _MOST_FLOAT


def is_numbers(value: object, count: int) -> TypeGuard[list[float]]:
    """True for a list of so many of them."""
    return isinstance(value, list) and len(value) == count and are_numbers(value)


def are_numbers(values: list[Any]) -> bool:
    """True for a list of numbers that Blender can hold."""
    if not values or not _NUMBERS.issuperset(map(type, values)):
        return not values
    # The sum tells of what is no number.
    return min(values) >= -_MOST_FLOAT and max(values) <= _MOST_FLOAT and not math.isnan(sum(values))


def _not_finite(value: object) -> tuple[str, ...] | None:
    """Keys that lead to a number that is not finite; None if there is none. Items of lists have names or numbers."""
    if isinstance(value, float):
        return None if math.isfinite(value) else ()
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        keys = _not_finite(item)
        if keys is not None:
            name = item.get("name") if isinstance(item, dict) else None
            return (f"'{name}'" if isinstance(name, str) and name else str(key), *keys)
    return None


def _is_index(value: object, count: int) -> bool:
    return type(value) is int and 0 <= value < count


def _count(accessor: dict[str, Any]) -> int:
    """Elements of an accessor, as it says; 0 for one that is refused when it is read."""
    count = accessor.get("count")
    return count if type(count) is int and count > 0 else 0


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _names_meshopt(item: dict[str, Any]) -> bool:
    extensions = item.get("extensions")
    return isinstance(extensions, dict) and any("meshopt" in str(name) for name in extensions)


def _is_draco(primitive: dict[str, Any]) -> bool:
    extensions = primitive.get("extensions")
    return isinstance(extensions, dict) and "KHR_draco_mesh_compression" in extensions


def _is_type(kind: object) -> TypeGuard[int]:
    return type(kind) is int and kind in _TYPES


def _are_indices(values: object, count: int) -> bool:
    if not isinstance(values, list) or not {int}.issuperset(map(type, values)):
        return False
    return not values or 0 <= min(values) <= max(values) < count


def _flat(lists: list[list[Any]]) -> list[Any]:
    return [one for values in lists for one in values]


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}")


def _chunks(data: bytes, path: Path) -> tuple[bytes, bytes | None]:
    """(JSON, binary chunk) of a GLB. Raises InputError."""
    try:
        _, version, length = struct.unpack_from("<4sII", data)
        size, kind = struct.unpack_from("<II", data, 12)
        if version != 2 or length > len(data) or kind != _JSON or 20 + size > len(data):
            raise ValueError
        text, position, binary = data[20 : 20 + size], 20 + size, None
        while position + 8 <= length:
            size, kind = struct.unpack_from("<II", data, position)
            if position + 8 + size > len(data):
                raise ValueError
            if kind == _BIN and binary is None:
                binary = data[position + 8 : position + 8 + size]
            position += 8 + size
    except (struct.error, ValueError) as error:
        raise InputError(f"'{path.name}' is no valid .glb file: it is truncated or damaged.") from error
    return text, binary


def _corners(mode: object) -> Any:
    """Function that makes triangles (n, 3) of the vertices of a primitive; None for points and lines."""
    if mode == TRIANGLES:
        return lambda order: order[: len(order) // 3 * 3].reshape(-1, 3)
    if mode == 5:
        return lambda order: np.array(
            [(order[i], order[i + 1 + i % 2], order[i + 2 - i % 2]) for i in range(len(order) - 2)], np.int64
        ).reshape(-1, 3)
    if mode == 6:
        return lambda order: np.array(
            [(order[0], order[i + 1], order[i + 2]) for i in range(len(order) - 2)], np.int64
        ).reshape(-1, 3)
    return None


_ORIGIN, _ONES = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


def _rows(place: Sequence[float], scale: Sequence[float]) -> list[list[float]]:
    return [
        [scale[0], 0.0, 0.0, place[0]], [0.0, scale[1], 0.0, place[1]], [0.0, 0.0, scale[2], place[2]],
        [0.0, 0.0, 0.0, 1.0],
    ]  # fmt: skip


def transform_of(local: Matrix) -> dict[str, Any]:
    """Translation, rotation and scale of a node, as in a file, without those that change nothing."""
    matrix = axes.matrix_out(local)
    transform: dict[str, Any] = {}
    if np.abs(matrix[:3, 3]).max() > 0.0:
        transform["translation"] = matrix[:3, 3].tolist()
    w, x, y, z = frames.quaternion_of(frames.rotation_of(matrix))
    if not frames.is_identity((w, x, y, z)):
        transform["rotation"] = [x, y, z, w]
    scale = frames.scale_of(matrix)
    if np.abs(scale - 1.0).max() > 1e-7:
        transform["scale"] = scale.tolist()
    return transform
