# SPDX-License-Identifier: GPL-3.0-or-later
"""What a stage says of physics where nobody listens: below instances, and materials that are bound for pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from pxr import Sdf, Usd, UsdShade

from ..core.validate import Issue
from ..core.words import counted
from . import opinions as usd_opinions
from .read import bound_materials, targets

INSTANCES, PURPOSES = "InstanceEdited", "MaterialOtherPurpose"
#: Purposes of materials that are those of pictures.
_PICTURES = ("full", "preview")
#: What the names of properties and schemas of physics begin with.
_PHYSICS = ("physics:", "physx", "newton:", "mjc:", "limit:", "drive:", "material:binding", "xformOp")
_SCHEMAS = ("Physics", "Physx", "Newton", "Mjc")


class Unheard(NamedTuple):
    """What is said without an effect. code: INSTANCES or PURPOSES. path: of the prim. attribute, said: that say it."""

    code: str
    path: str
    attribute: str
    said: str
    message: str
    fix: str


def unheard(stage: Usd.Stage) -> list[Unheard]:
    """All of it."""
    return [*_below_instances(stage), *_for_pictures(stage)]


def issues(stage: Usd.Stage) -> list[Issue]:
    """The same as warnings: one for each instance, and one for all materials."""
    by_kind: dict[tuple[str, str], list[Unheard]] = {}
    for one in unheard(stage):
        by_kind.setdefault((one.code, one.message if one.code == INSTANCES else ""), []).append(one)
    return [Issue(group[0].code, "warning", group[0].path, "", group[0].message, group[0].fix)
            for group in by_kind.values()]  # fmt: skip


def says(stage: Usd.Stage, path: str, name: str) -> bool:
    """Whether a property has targets, or a value that is not zero."""
    prop = stage.GetPropertyAtPath(f"{path}.{name}")
    if isinstance(prop, Usd.Relationship):
        return bool(targets(prop))
    value = prop.Get() if isinstance(prop, Usd.Attribute) else None
    return value is not None and bool(np.any(np.asarray(value, dtype=object) != 0))


def _below_instances(stage: Usd.Stage) -> Iterator[Unheard]:
    """Opinions about prims below an instance that are not those of what it references: USD leaves them out."""
    for prim in stage.Traverse():
        if not prim.IsInstance():
            continue
        found = list(dict.fromkeys(
            (spec.path, name, value) for layer, path in _sites_around(prim) if (own := layer.GetPrimAtPath(path))
            for spec in _below(own) for name, value in _physics_of(spec)
        ))  # fmt: skip
        if not found:
            continue
        values = counted(len(found), "value")
        message = (
            f"'{prim.GetPath()}' is an instance, so USD leaves out {values} that the file says of prims below it, such "
            f"as {found[0][1]}."
        )
        fix = f"Make '{prim.GetPath()}' not instanceable, or say it in the file that it references."
        for path, name, said in found:
            yield Unheard(INSTANCES, str(path), name, said, message, fix)


def _sites_around(prim: Usd.Prim) -> Iterator[tuple[Sdf.Layer, Sdf.Path]]:
    """(layer, path) of the specs of an instance whose children do not count: those beside what it references."""
    root = prim.GetPrimIndex().rootNode
    for node in (root, *(each for each in root.children if each.IsDueToAncestor())):
        yield from ((layer, node.path) for layer in node.layerStack.layers)


def _below(spec: Sdf.PrimSpec) -> Iterator[Sdf.PrimSpec]:
    for child in spec.nameChildren:
        yield child
        yield from _below(child)


def _physics_of(spec: Sdf.PrimSpec) -> Iterator[tuple[str, str]]:
    """(name, value as text) of what a spec says of physics, places and bindings."""
    for name, prop in spec.properties.items():
        if name.startswith(_PHYSICS):
            is_value = isinstance(prop, Sdf.AttributeSpec)
            yield name, _text(prop.default if is_value else prop.targetPathList.GetAddedOrExplicitItems())
    applied = spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else Sdf.TokenListOp()
    for name in applied.GetAddedOrExplicitItems():
        if name.startswith(_SCHEMAS):
            yield "apiSchemas", name


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _for_pictures(stage: Usd.Stage) -> Iterator[Unheard]:
    """Physics materials of colliders that are bound for a purpose of pictures alone."""
    prims = list(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()))
    said = {name for prim in prims for name in prim.GetAuthoredPropertyNames() if name.startswith("material:binding:")}
    purposes = [one for one in _PICTURES if f"material:binding:{one}" in said]
    colliders = [prim for prim in prims if "PhysicsCollisionAPI" in usd_opinions.applied_schemas(prim)]
    if not purposes or not colliders:
        return
    heard = bound_materials(colliders)
    silent = [prim for prim, material in zip(colliders, heard, strict=True) if not material]
    found: dict[tuple[str, str, str], None] = {}
    for purpose in purposes:
        bound, relations = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(silent, purpose)
        for material, relation in zip(bound, relations, strict=True):
            if not material or relation.GetName() == "material:binding":
                continue
            if "PhysicsMaterialAPI" in usd_opinions.applied_schemas(material.GetPrim()):
                found[str(relation.GetPrim().GetPath()), relation.GetName(), str(material.GetPath())] = None
    if not found:
        return
    path, name, material = next(iter(found))
    others = "" if len(found) == 1 else f" ({counted(len(found), 'such prim')})"
    message = f"'{path}' binds the physics material '{material}' for pictures alone{others}: no simulator uses it."
    fix = "Bind it as material:binding:physics."
    for path, name, material in found:
        yield Unheard(PURPOSES, path, name, material, message, fix)
