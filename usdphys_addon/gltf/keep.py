# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole model beside the physics of glTF, in `extras.usdphys` of the document: what glTF cannot say comes back.

It is used while the physics and the nodes of the file are as we have written them, which a digest tells. A file that
another program has saved differently is read from its extensions alone.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Container, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..core import paths, schema, vendor_schemas
from ..core.model import PhysicsModel, Prim
from ..core.schema import Attribute, Schema
from ..core.schemas import usd_geom, usd_physics
from . import names
from .document import Document, is_number, is_numbers

_VERSION = 1
_INFINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
#: Schemas of a collider or of a body.
_OF_COLLIDERS = (usd_physics.MassAPI.usd_name, usd_physics.FilteredPairsAPI.usd_name)
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


def digest(document: Document) -> str:
    """Digest of the nodes of a document, and of its physics."""
    keys = ("name", "children", "matrix", "translation", "rotation", "scale")
    nodes = [
        [[node.get(key) for key in keys], _physics(node.get("extensions"))] for node in document.nodes
    ]  # fmt: skip
    text = json.dumps([nodes, _physics(document.json.get("extensions"))], sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).hexdigest()


def _physics(extensions: Any) -> dict[str, Any]:
    found = extensions if isinstance(extensions, dict) else {}
    return {name: value for name, value in found.items() if name in names.ALL}


# --------------------------------------------------------------------------- writing


def put(document: Document, model: PhysicsModel, beside: Beside) -> None:
    """Put a model into a finished document. A collider that is the geometry of its object gets a pose."""
    for prim in model.colliders.values():
        if prim.local is None and prim.path not in beside.nodes:
            prim.local = np.eye(4)
    extras = document.json.get("extras")
    if not isinstance(extras, dict):
        extras = document.json["extras"] = {}
    extras[names.EXTRAS] = {
        "version": _VERSION, "digest": digest(document),
        "prims": {path: _prim_out(prim) for path, prim in model.prims.items()},
        **{item.name: value for item in fields(beside) if (value := getattr(beside, item.name))},
    }  # fmt: skip


def _prim_out(prim: Prim) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": prim.type_name,
        "schemas": {
            name: {item.field: _value_out(value) for item, value in one.authored()}
            for name, one in prim.schemas.items()
        },
    }
    optional: tuple[tuple[str, Any, Any], ...] = (
        ("purpose", prim.purpose, "default"), ("binding", prim.physics_binding, ""), ("label", prim.label, ""),
        ("xformable", prim.is_xformable, True), ("extras", prim.extras, {}),
    )  # fmt: skip
    found.update({key: value for key, value, default in optional if value != default})
    if prim.local is not None:
        found["local"] = np.asarray(prim.local, float).ravel().tolist()
    return found


def _value_out(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, tuple | list):
        return [_value_out(item) for item in value]
    return value


# --------------------------------------------------------------------------- reading


@dataclass(slots=True)
class Kept:
    """A model that was kept."""

    model: PhysicsModel
    beside: Beside


def take(document: Document) -> tuple[Kept | None, bool]:
    """(the kept model if it is still that of the file, True if there is one that is not)."""
    extras = document.json.get("extras")
    found = extras.get(names.EXTRAS) if isinstance(extras, dict) else None
    if not isinstance(found, dict) or found.get("version") != _VERSION:
        return None, False
    if found.get("digest") != digest(document):
        return None, True
    try:
        return _kept(document, found), False
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        return None, True


def _kept(document: Document, found: dict[str, Any]) -> Kept:
    beside = _beside(document, found)
    model = PhysicsModel(source=str(document.path))
    for path, value in found["prims"].items():
        prim = Prim(str(path), str(value["type"]))
        for name, values in value["schemas"].items():
            made = _schema_in(str(name), values)
            if made is not None:
                prim.schemas[str(name)] = made
        prim.purpose, prim.physics_binding = str(value.get("purpose", "default")), str(value.get("binding", ""))
        prim.label, prim.is_xformable = str(value.get("label", "")), bool(value.get("xformable", True))
        prim.extras = dict(value.get("extras", {}))
        if "local" in value:
            if not is_numbers(value["local"], 16):
                raise ValueError("a pose is not 16 numbers")
            prim.local = np.array(value["local"], float).reshape(4, 4)
        model.add(prim)
    model.order = {path: number for number, path in enumerate(model.prims)}
    for path, prim in model.prims.items():
        above = paths.nearest(path, beside.nodes)
        if above:
            prim.world = document.world(beside.nodes[above])
            if above != path and prim.local is not None:
                prim.world = prim.world @ prim.local
    for path, (type_name, number) in beside.origins.items():
        model.order[path] = number
        if path not in model.prims:
            model.other_types[path] = type_name
    return Kept(model, beside)


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
    found = replace(model, prims={})
    for path, prim in model.prims.items():
        gprim = prim.get(usd_geom.Gprim)
        if path not in objects or gprim is None or prim.get(usd_physics.CollisionAPI) is None:
            found.add(prim)
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
        found.add(rest)
        found.add(below)
    return found


def _schema_in(name: str, values: dict[str, Any]) -> Schema | None:
    cls = vendor_schemas.find(schema.split_applied(name)[0])
    if cls is None:
        return None
    known = {item.field: item for item in cls.attributes}
    read = {field: _value_in(known[field], value) for field, value in values.items() if field in known}
    return cls(**{field: value for field, value in read.items() if known[field].accepts(value) or _is_paths(value)})


def _is_paths(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


def _value_in(attribute: Attribute, value: Any) -> Any:
    """A value of a file. Raises ValueError for a number that Blender cannot hold."""
    if isinstance(value, list):
        return tuple(_value_in(attribute, item) for item in value)
    if isinstance(value, str) and attribute.value.base != "text":
        return _INFINITE.get(value, value)
    if type(value) in (int, float) and not is_number(value):
        raise ValueError("a number is too large")
    return value
