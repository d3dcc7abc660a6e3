# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes below an Xform of their own, with their colliders, so that copies of the Xform can be instances.

An instance hides what a file says below it, and a mesh has nothing below it: so the Xform has the place and the
material, and the mesh below, which all instances share, the shape and how it collides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from pxr import Sdf

from ..core import schema, vendor_schemas
from ..core.schemas import usd_physics
from .opinions import BINDING_API

#: Name of the mesh below its Xform.
MESH = "mesh"


def wrap(layer: Sdf.Layer, is_shape: Callable[[str], bool]) -> set[str]:
    """Put Xforms above the meshes of a layer that can be instances. Returns the paths of these Xforms.

    is_shape: whether a property of this name is the mesh's. Meshes that stay: those with objects below, materials by
    face, relationships of their colliders, schemas that nobody here knows, and those that come from elsewhere.
    """
    paths: list[Sdf.Path] = []

    def visit(path: Sdf.Path) -> None:
        spec = layer.GetPrimAtPath(path) if path.IsPrimPath() else None
        if spec is not None and _can_be_shared(spec):
            paths.append(path)

    layer.Traverse(Sdf.Path.absoluteRootPath, visit)
    with Sdf.ChangeBlock():
        for path in paths:
            _wrap(layer.GetPrimAtPath(path), is_shape)
    return {str(path) for path in paths}


def _can_be_shared(spec: Sdf.PrimSpec) -> bool:
    if spec.typeName != "Mesh" or spec.specifier != Sdf.SpecifierDef or "points" not in spec.attributes:
        return False
    if any(child.typeName != "GeomSubset" or len(child.relationships) for child in spec.nameChildren):
        return False
    applied = _applied(spec)
    if applied is None or not all(name == BINDING_API or _class_of(name) is not None for name in applied):
        return False
    names = _collision_properties(applied)
    return not any(name in names and isinstance(item, Sdf.RelationshipSpec) for name, item in spec.properties.items())


def _applied(spec: Sdf.PrimSpec) -> list[str] | None:
    """The applied schemas of a prim, in any form in which one layer lists them; None for one that takes some away."""
    listed = spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else Sdf.TokenListOp()
    if listed.appendedItems or listed.addedItems or listed.deletedItems:
        return None
    # A flattened file has explicit lists.
    return list(listed.explicitItems if listed.isExplicit else listed.prependedItems)


def _class_of(applied: str) -> type[schema.Schema] | None:
    return vendor_schemas.find(schema.split_applied(applied)[0])


def collision_schemas(applied: Collection[str]) -> list[str]:
    """The schemas of a collider; its mass is one, unless the mesh is a body."""
    is_body = usd_physics.RigidBodyAPI.usd_name in applied
    own_mass = () if is_body else (usd_physics.MassAPI.usd_name,)
    return [
        name for name in applied if name in own_mass or ((cls := _class_of(name)) is not None and cls.on == "collider")
    ]


def _collision_properties(applied: list[str]) -> set[str]:
    names = set()
    for name in collision_schemas(applied):
        cls, (_, instance) = _class_of(name), schema.split_applied(name)
        names |= {attribute.usd_name(instance) for attribute in (cls.attributes if cls is not None else ())}
    return names


def _wrap(spec: Sdf.PrimSpec, is_shape: Callable[[str], bool]) -> None:
    layer, path = spec.layer, spec.path
    applied = _applied(spec) or []
    collides, names = collision_schemas(applied), _collision_properties(applied)
    subsets = [child.name for child in spec.nameChildren]
    mesh = Sdf.CreatePrimInLayer(layer, path.AppendChild(MESH))
    mesh.specifier, mesh.typeName, spec.typeName = Sdf.SpecifierDef, "Mesh", "Xform"
    for name in list(spec.properties.keys()):
        if name in names or is_shape(name):
            Sdf.CopySpec(layer, path.AppendProperty(name), layer, mesh.path.AppendProperty(name))
            spec.RemoveProperty(spec.properties[name])
    for name in subsets:
        Sdf.CopySpec(layer, path.AppendChild(name), layer, mesh.path.AppendChild(name))
        del spec.nameChildren[name]
    rest = [name for name in applied if name not in collides]
    for one, schemas in ((mesh, collides), (spec, rest)):
        if schemas:
            one.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=schemas))
        else:
            one.ClearInfo("apiSchemas")
