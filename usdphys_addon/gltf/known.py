# SPDX-License-Identifier: GPL-3.0-or-later
"""A document that Blender's importer has read: reading a file again takes longer than all the rest of its physics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from ..core.model import Mesh
from . import names
from .document import Document


class _Nodes(list[Any]):
    """Nodes as the importer has them; one that is asked for becomes a node of a document, and is checked."""

    document: KnownDocument

    def __getitem__(self, index: Any) -> Any:
        node = super().__getitem__(index)
        if not isinstance(node, dict):
            node = self[index] = {key: value for key, value in vars(node).items() if value is not None}
            self.document.check_node(index, node)
        return node

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))


class KnownDocument(Document):
    """What an importer has read. The file is read again where a collider is a mesh."""

    def __init__(self, data: Any, path: Path, decoded: Callable[[int], Mesh | None]) -> None:
        """data: `gltf2_io.Gltf`. decoded: gives a mesh that the importer has made. Raises InputError."""
        self.read, self.whole, self.decoded = data.nodes or [], None, decoded
        self.columns: dict[str, list[Any]] = {}
        nodes = _Nodes(self.read)
        nodes.document = self
        content: dict[str, Any] = {
            "extensions": data.extensions or {}, "extensionsUsed": data.extensions_used or [], "nodes": nodes,
            "scenes": [{"nodes": one.nodes or []} for one in data.scenes or ()], "scene": data.scene or 0,
            "meshes": [{}] * len(data.meshes or ()), "skins": [{}] * len(data.skins or ()), "extras": data.extras,
        }  # fmt: skip
        super().__init__(content, path)

    read: list[Any]
    whole: Document | None

    def _check(self) -> None:
        """The importer has checked the types; each node is checked when it is used."""
        for index, children in enumerate(self.column("children")):
            if children:
                self.nodes[index]
        self._check_scenes()

    def column(self, key: str) -> list[Any]:
        if key not in self.columns:
            self.columns[key] = list(map(attrgetter(key), self.read))
        return self.columns[key]

    @cached_property
    def _runs(self) -> list[int]:
        return super().runs()

    def runs(self) -> list[int]:
        return self._runs

    def mesh(self, index: Any) -> Mesh | None:
        if self.whole is None:
            self.whole = Document.load(self.path)
        read_mesh = self.whole.mesh(index)
        return self.decoded(index) if read_mesh is None and self.is_compressed(index) else read_mesh

    def is_compressed(self, index: object) -> bool:
        return self.whole is not None and self.whole.is_compressed(index)


def part_lenses(data: Any) -> None:
    """Give cameras and lamps of nodes with physics a node of their own below: Blender turns the nodes that have one.

    data: `gltf2_io.Gltf`, before the importer makes objects of it.
    """
    for node in list(data.nodes or ()):
        extensions = node.extensions or {}
        if node.mesh is not None or (node.camera is None and names.LIGHTS not in extensions):
            continue
        if extensions.keys().isdisjoint(names.ALL):
            continue
        lights = {name: value for name, value in extensions.items() if name == names.LIGHTS}
        lens = copy(node)
        lens.name = f"{node.name or 'node'}_{'light' if node.camera is None else 'camera'}"
        lens.children = lens.matrix = lens.translation = lens.rotation = lens.scale = lens.extras = None
        lens.extensions = lights or None
        node.camera, node.extensions = None, {name: one for name, one in extensions.items() if name not in lights}
        node.children = [*(node.children or ()), len(data.nodes)]
        data.nodes.append(lens)


def document_of(data: Any, path: Path, decoded: Callable[[int], Mesh | None]) -> Document:
    """The document that an importer (`gltf2_io.Gltf`) has read from a file. Raises InputError.

    decoded: gives a mesh that the importer has made, by its index; None for one that it has not.
    """
    kept_extras = data.extras.get(names.EXTRAS) if isinstance(data.extras, dict) else None
    if isinstance(kept_extras, dict) and kept_extras.get("version") == 1:
        # Their digest is one of the numbers as they are in the file.
        return Document.load(path)
    return KnownDocument(data, path, decoded)
