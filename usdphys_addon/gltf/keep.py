# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole model beside the physics of glTF, in `extras.usdphys` of the document: what glTF cannot say comes back.

It is used while the physics and the nodes of the file are as we have written them, which a digest tells. A file that
another program has saved differently is read from its extensions alone.

`prims` has an entry by the path of each prim: what is authored, as an object, or the index in `kinds` of what several
prims share. `below` of an entry are prims below that have no node. A label is there where it is not the name of the
node, or the label of the prim above. In version 1 each entry is an object, with a label.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Container, Hashable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any

import numpy as np

from ..core import paths, schema, vendor_schemas
from ..core.joint_kinds import BY_TYPE_NAME
from ..core.model import PhysicsModel, Prim
from ..core.prototypes import schemas_key
from ..core.schema import Attribute, Schema
from ..core.schemas import usd_geom, usd_physics
from . import names, vehicles
from .document import Document, is_number, is_numbers

_VERSION = 2
_INFINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
#: Schemas of a collider or of a body.
_OF_COLLIDERS = (usd_physics.MassAPI.usd_name, usd_physics.FilteredPairsAPI.usd_name)
#: Schemas of objects that are written one by one.
_ALONE = frozenset({
    usd_physics.ArticulationRootAPI.usd_name, usd_physics.PhysicsScene.usd_name, usd_physics.CollisionGroup.usd_name,
    usd_physics.MaterialAPI.usd_name,
    *BY_TYPE_NAME,
})  # fmt: skip
#: Remembered texts, by path and by the names of their properties.
Texts = Mapping[str, Mapping[str, str]]


@dataclass(slots=True)
class Beside:
    """What is kept beside a model.

    nodes: index of the node of each object, by path. texts: of objects, materials, physics scenes and groups. source:
    of the USD file that the scene was imported from, by the names of its properties; empty if it was not. origins: type
    and place in the order of that file of each prim, by path. faces: of colliders that are meshes; see
    `bridge.polygons`. made: index of the first node that stands for no object.
    """

    nodes: dict[str, int] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    source: dict[str, str] = field(default_factory=dict)
    origins: dict[str, tuple[str, int]] = field(default_factory=dict)
    faces: dict[str, Any] = field(default_factory=dict)
    made: int = 0


def digest(document: Document, version: int = _VERSION) -> str:
    """Digest of the nodes of a document, and of its physics. version: of the extras."""
    made = hashlib.blake2b(digest_size=16)
    root = _physics(document.json.get("extensions"))
    if version == 1:
        # Of numbers as they are in the file: 1 is not 1.0.
        keys = ("name", "children", "matrix", "translation", "rotation", "scale")
        nodes = [[[node.get(key) for key in keys], _physics(node.get("extensions"))] for node in document.nodes]
        made.update(json.dumps([nodes, root], sort_keys=True).encode())
        return made.hexdigest()
    runs: list[list[Any]] = []
    extensions, start = document.column("extensions"), 0
    for count in Counter(document.runs()).values():
        text = json.dumps(_physics(extensions[start]), sort_keys=True)
        start += count
        if runs and runs[-1][0] == text:
            runs[-1][1] += count
        else:
            runs.append([text, count])
    made.update(json.dumps([root, runs, *map(document.column, ("name", "children"))], sort_keys=True).encode())
    for key in ("matrix", "translation", "rotation", "scale"):
        values = document.column(key)
        made.update(np.array([len(one or ()) for one in values]).astype("<i4").tobytes())
        made.update(np.fromiter(chain.from_iterable(filter(None, values)), "<f8").tobytes())
    return made.hexdigest()


def _physics(extensions: Any) -> dict[str, Any]:
    by_name = extensions if isinstance(extensions, dict) else {}
    return {name: value for name, value in by_name.items() if name in names.ALL or name in vehicles.KINDS}


# --------------------------------------------------------------------------- writing


def put(document: Document, model: PhysicsModel, beside: Beside) -> None:
    """Put a model into a finished document. A collider that is the geometry of its object gets a pose."""
    there = np.eye(4)
    for prim in model.colliders.values():
        if prim.local is None and prim.path not in beside.nodes:
            prim.local = there
    extras = document.json.get("extras")
    if not isinstance(extras, dict):
        extras = document.json["extras"] = {}
    prims, kinds = _entries(document, model, beside.nodes)
    extras[names.EXTRAS] = {
        "version": _VERSION, "digest": digest(document), "kinds": kinds, "prims": prims,
        **{item.name: value for item in fields(beside) if (value := getattr(beside, item.name))},
    }  # fmt: skip


def _entries(document: Document, model: PhysicsModel, nodes: Mapping[str, int]) -> tuple[dict[str, Any], list[Any]]:
    """(`prims`, `kinds`); see above."""
    contents: list[dict[str, Any]] = []
    pool: dict[str, int] = {}
    # Prims without extras, by all that a content says of them.
    numbers: dict[Hashable, int] = {}
    # Path -> index of its content, and of those of the prims below by name.
    entries: dict[str, tuple[int, tuple[tuple[str, int], ...]]] = {}
    last, label = "", ""
    for path, prim in model.prims.items():
        index = nodes.get(path)
        is_below = index is None and bool(last) and paths.parent_of(path) == last
        known = document.node_name(index) if index is not None else label if is_below else ""
        kind = (schemas_key(prim), id(prim.local), prim.purpose, prim.physics_binding, prim.is_xformable)
        is_plain = prim.label == known and not prim.extras
        number = numbers.get(kind) if is_plain else None
        if number is None:
            content = _prim_out(prim)
            if prim.label != known:
                content["label"] = prim.label
            number = pool.setdefault(repr(content), len(contents))
            if number == len(contents):
                contents.append(content)
            if is_plain:
                numbers[kind] = number
        if is_below:
            own, below = entries[last]
            entries[last] = own, (*below, (paths.name_of(path), number))
        else:
            entries[path] = number, ()
            last, label = path, prim.label
    uses = Counter(entries.values())
    shared = {entry: index for index, entry in enumerate(entry for entry, count in uses.items() if count > 1)}
    whole = {}
    for entry in uses:
        whole[entry] = dict(contents[entry[0]])
        if entry[1]:
            whole[entry]["below"] = {name: contents[number] for name, number in entry[1]}
    return {path: shared.get(entry, whole[entry]) for path, entry in entries.items()}, [
        whole[entry] for entry in shared
    ]


def _prim_out(prim: Prim) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": prim.type_name,
        "schemas": {
            name: {item.field: _value_out(value) for item, value in one.authored()}
            for name, one in prim.schemas.items()
        },
    }
    optional: tuple[tuple[str, Any, Any], ...] = (
        ("purpose", prim.purpose, "default"), ("binding", prim.physics_binding, ""),
        ("xformable", prim.is_xformable, True), ("extras", prim.extras, {}),
    )  # fmt: skip
    entry.update({key: value for key, value, default in optional if value != default})
    if prim.local is not None:
        entry["local"] = np.asarray(prim.local, float).ravel().tolist()
    return entry


def _value_out(value: object) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, tuple | list):
        return [_value_out(item) for item in value]
    return value


# --------------------------------------------------------------------------- reading


@dataclass(slots=True)
class Kept:
    """A model that was kept. copies: objects with all the physics of another one, whose path this is; not in the model.

    No copy is above another object, and no relationship names one, so nothing of the model is about one.
    """

    model: PhysicsModel
    beside: Beside
    copies: dict[str, str] = field(default_factory=dict)


_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)


def take(document: Document) -> tuple[Kept | None, bool]:
    """(the kept model if it is still that of the file, True if there is one that is not)."""
    kept_extras = _extras(document)
    if not kept_extras:
        return None, False
    try:
        if kept_extras.get("digest") != digest(document, kept_extras["version"]):
            return None, True
        return _kept(document, kept_extras), False
    except _DAMAGED:
        return None, True


def _extras(document: Document) -> dict[str, Any]:
    """What a version that is known here has kept; empty if there is nothing."""
    extras = document.json.get("extras")
    found = extras.get(names.EXTRAS) if isinstance(extras, dict) else None
    version = found.get("version") if isinstance(found, dict) else None
    return found if isinstance(found, dict) and type(version) is int and 1 <= version <= _VERSION else {}


def ends_of_joints(document: Document) -> frozenset[int]:
    """Indices of nodes that only say where a joint is on its other body, if the kept model says it, too.

    They stand for no object, and nothing is at or below them.
    """
    kept_extras = _extras(document)
    if not kept_extras:
        return frozenset()
    try:
        made = range(kept_extras["made"], len(document.nodes))
        keys = ("children", "extensions", "mesh", "camera", "skin")
        full = {i for key in keys for i, value in enumerate(document.column(key)) if value not in (None, [], {})}
        ends = frozenset(made).difference(full, kept_extras.get("nodes", {}).values())
        return ends if ends and kept_extras.get("digest") == digest(document, kept_extras["version"]) else frozenset()
    except _DAMAGED:
        return frozenset()


class _Kind:
    """What an entry says of a prim, and of those below it."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.type_name, self.label = str(value["type"]), value.get("label")
        self.schemas = {
            str(name): made for name, values in value["schemas"].items()
            if (made := _schema_in(str(name), values)) is not None
        }  # fmt: skip
        self.purpose, self.binding = str(value.get("purpose", "default")), str(value.get("binding", ""))
        self.is_xformable, self.extras = bool(value.get("xformable", True)), dict(value.get("extras", {}))
        self.local = None
        if "local" in value:
            if not is_numbers(value["local"], 16):
                raise ValueError("a pose is not 16 numbers")
            self.local = np.array(value["local"], float).reshape(4, 4)
        self.below = {str(name): _Kind(one) for name, one in value.get("below", {}).items()}

    def prim(self, path: str, label: str) -> Prim:
        prim = Prim(path, self.type_name, schemas=dict(self.schemas), extras=dict(self.extras), local=self.local)
        prim.purpose, prim.physics_binding, prim.is_xformable = self.purpose, self.binding, self.is_xformable
        prim.label = label if self.label is None else str(self.label)
        return prim

    def named(self) -> Iterator[str]:
        """Paths that relationships name."""
        for one in self.schemas.values():
            for _, value in one.authored():
                if _is_paths(value):
                    yield from value
        for below in self.below.values():
            yield from below.named()

    def may_be_copied(self) -> bool:
        """False for what is more than properties of one object."""
        is_plain = self.type_name == "Xform" and self.purpose == "default" and not self.extras
        return is_plain and self.schemas.keys().isdisjoint(_ALONE) and all(
            usd_physics.CollisionAPI.usd_name in one.schemas and one.local is not None and not (one.extras or one.below)
            for one in self.below.values()
        )  # fmt: skip


def _kept(document: Document, found: dict[str, Any]) -> Kept:
    beside = _beside(document, found)
    kept = Kept(PhysicsModel(source=str(document.path)), beside)
    model, nodes = kept.model, beside.nodes
    kinds = [_Kind(value) for value in found.get("kinds", ())]
    entries = {
        str(path): kinds[range(len(kinds)).index(value)] if type(value) is int else _Kind(value)
        for path, value in found["prims"].items()
    }  # fmt: skip
    # What a file of USD says of its prims is remembered with each object.
    alike = {kind for kind in kinds if kind.may_be_copied()} if not beside.source else set()
    special = set(map(paths.parent_of, nodes)) if alike else set()
    for path in {one for kind in set(entries.values()) for one in kind.named()} if alike else ():
        while path and path not in special:
            special.add(path)
            path = paths.parent_of(path)
    firsts: dict[_Kind, str] = {}
    count = 0
    for path, kind in entries.items():
        model.order[path] = count
        count += 1 + len(kind.below)
        if kind in alike and path in nodes and path not in special and firsts.setdefault(kind, path) != path:
            kept.copies[path] = firsts[kind]
            continue
        prim = model.add(kind.prim(path, document.node_name(nodes[path]) if path in nodes else ""))
        for number, (name, below) in enumerate(kind.below.items(), model.order[path] + 1):
            model.order[f"{path}/{name}"] = number
            model.add(below.prim(f"{path}/{name}", prim.label))
    for path, prim in model.prims.items():
        above = paths.nearest(path, nodes)
        if above:
            prim.world = document.world(nodes[above])
            if above != path and prim.local is not None:
                prim.world = prim.world @ prim.local
    for path, (type_name, number) in beside.origins.items():
        model.order[path] = number
        if path not in model.prims:
            model.other_types[path] = type_name
    return kept


def _beside(document: Document, found: dict[str, Any]) -> Beside:
    count = len(document.nodes)
    # Each node stands for one object.
    owners: dict[int, str] = {}
    for path, index in found.get("nodes", {}).items():
        if type(index) is int and 0 <= index < count:
            owners.setdefault(index, str(path))
    return Beside(
        {path: index for index, path in owners.items()},
        {str(path): _texts(one) for path, one in found.get("texts", {}).items()}, _texts(found.get("source", {})),
        {str(path): (str(one[0]), int(one[1])) for path, one in found.get("origins", {}).items()},
        {
            str(path): (int(points), tuple((int(size), int(number)) for size, number in runs))
            for path, (points, runs) in found.get("faces", {}).items()
        },
        int(found.get("made", count)),
    )  # fmt: skip


def _texts(found: dict[str, Any]) -> dict[str, str]:
    return {str(name): str(text) for name, text in found.items()}


def with_own_colliders(model: PhysicsModel, objects: Container[str]) -> PhysicsModel:
    """The model, with colliders that were gprims themselves as primitives of the objects that show them."""
    model_with = replace(model, prims={})
    for path, prim in model.prims.items():
        gprim = prim.get(usd_geom.Gprim)
        if path not in objects or gprim is None or prim.get(usd_physics.CollisionAPI) is None:
            model_with.add(prim)
            continue
        names_ = [
            name for name, one in prim.schemas.items()
            if one is gprim or one.on == "collider" or one.usd_name in _OF_COLLIDERS
        ]  # fmt: skip
        if prim.get(usd_physics.RigidBodyAPI) is not None:
            names_ = [name for name in names_ if name not in _OF_COLLIDERS]
        below = copy(prim)
        below.path, below.local = f"{path}/{paths.name_of(path)}", np.eye(4)
        below.schemas = {name: prim.schemas[name] for name in names_}
        rest = copy(prim)
        rest.type_name, rest.physics_binding, rest.materials, rest.purpose = "Xform", "", (), "default"
        rest.schemas = {name: one for name, one in prim.schemas.items() if name not in names_}
        model_with.add(rest)
        model_with.add(below)
    return model_with


def _schema_in(name: str, values: dict[str, Any]) -> Schema | None:
    cls = vendor_schemas.find(schema.split_applied(name)[0])
    if cls is None:
        return None
    known = {item.field: item for item in cls.attributes}
    read = {field: _value_in(known[field], value) for field, value in values.items() if field in known}
    return cls(**{field: value for field, value in read.items() if known[field].accepts(value) or _is_paths(value)})


def _is_paths(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


def _value_in(attribute: Attribute, value: object) -> Any:
    """A value of a file. Raises ValueError for a number that Blender cannot hold."""
    if isinstance(value, list):
        return tuple(_value_in(attribute, item) for item in value)
    if isinstance(value, str) and attribute.value.base != "text":
        return _INFINITE.get(value, value)
    if type(value) in (int, float) and not is_number(value):
        raise ValueError("a number is too large")
    return value
