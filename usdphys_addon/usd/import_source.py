# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads from a stage everything that Blender's importer does not read. Thread-safe: imports no bpy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pxr import Tf, Usd, UsdGeom, UsdShade, Vt

from ..core import paths
from ..core.model import PhysicsModel
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue
from . import carry, composition, looks
from . import opinions as usd_opinions
from . import read as usd_read
from .opinions import PHYSICS_BINDING, Opinions

_COLLISION = usd_physics.CollisionAPI.usd_name


@dataclass(slots=True)
class ImportSource:
    """Data of a stage for an import.

    missing: issues about missing files and schemas. instancers, instances: paths of point instancers and of instances.
    carried, transforms: results of `carry.capture` and `opinions.transform_text` by prim path, without empty ones.
    resets: paths of prims that reset the transform stack. materials: paths. looks: of all materials, see
    `looks.capture_looks`.
    visible_materials: by path of a collider or gprim, the render material
    that Blender's importer does not bind. face_materials: by path of a mesh, (face indices or None, path of the physics
    material) of its subsets.
    """

    model: PhysicsModel
    missing: list[Issue]
    instancers: list[str]
    instances: list[str]
    carried: dict[str, str] = field(default_factory=dict)
    transforms: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    bindings: dict[str, str] = field(default_factory=dict)
    resets: list[str] = field(default_factory=list)
    visible_materials: dict[str, str] = field(default_factory=dict)
    face_materials: dict[str, list[tuple[Any, str]]] = field(default_factory=dict)
    materials: list[str] = field(default_factory=list)
    looks: str = ""


def read_source(stage: Usd.Stage, opinions: list[Opinions]) -> ImportSource:
    """Read a stage for an import. opinions: of all its prims."""
    source = ImportSource(
        PhysicsModel(usd_read.stage_units(stage)), composition.missing_assets(stage, opinions),
        composition.instancer_paths(opinions), composition.instance_paths(stage),
    )  # fmt: skip
    divided: set[str] = set()
    unusual: list[Opinions] = []
    source.model = usd_read.read_stage(stage, _noted(source, opinions, divided, unusual))
    # Blender's importer binds the materials of meshes without subsets.
    _read_visible_materials(source, [
        one for one in opinions
        if one.type_name in usd_geom.GPRIM_TYPES
        or (_COLLISION in one.schemas and (one.path in divided or not one.kind.is_mesh))
    ])  # fmt: skip
    source.missing += composition.unapplied_bindings(opinions) + composition.mistyped_values(stage, unusual)
    source.looks = looks.capture_looks(stage, source.materials, source.materials)
    return source


def _noted(
    source: ImportSource, opinions: list[Opinions], divided: set[str], unusual: list[Opinions]
) -> Iterator[Opinions]:
    """Yield the opinions; after each, read the rest of the prim while its properties are cached, then clear that cache.

    divided: set to which the paths of prims with subsets are added. unusual: list to which those are added of which the
    model does not hold everything.
    """
    for one in opinions:
        yield one
        _read_rest(source, one, divided, unusual)
        one.forget()


def _read_rest(source: ImportSource, one: Opinions, divided: set[str], unusual: list[Opinions]) -> None:
    """Read the data of a prim that the model does not hold."""
    kind = one.kind
    if kind.is_subset:
        divided.add(paths.parent_of(one.path))
        _read_subset(source, one)
        return
    if kind.is_node or one.path == "/":
        return
    if kind.is_material and not (source.materials and paths.is_below(one.path, source.materials[-1])):
        source.materials.append(one.path)
    if not carry.is_plain(one):
        unusual.append(one)
        if text := carry.capture_unusual(one, source.model.units):
            source.carried[one.path] = text
    if text := carry.capture_shape(one):
        source.shapes[one.path] = text
    if text := carry.capture_binding(one):
        source.bindings[one.path] = text
    if not kind.is_xformable and (kind.type_name or not kind.operations):
        return
    if text := usd_opinions.transform_text(one):
        source.transforms[one.path] = text
    if kind.is_xformable and one.resets_xform_stack():
        source.resets.append(one.path)


def _read_subset(source: ImportSource, opinions: Opinions) -> None:
    for target in usd_read.targets(opinions.usd_prim.GetRelationship(PHYSICS_BINDING))[:1]:
        value = UsdGeom.Subset(opinions.usd_prim).GetIndicesAttr().Get()
        faces = np.asarray(value, np.int64) if isinstance(value, Vt.IntArray) else None
        source.face_materials.setdefault(paths.parent_of(opinions.path), []).append((faces, target))


def _read_visible_materials(source: ImportSource, colliders: list[Opinions]) -> None:
    try:
        bound, _ = UsdShade.MaterialBindingAPI.ComputeBoundMaterials([one.usd_prim for one in colliders])
    except Tf.ErrorException:  # a binding somewhere is no relationship
        return
    for one, material in zip(colliders, bound, strict=True):
        if material:
            source.visible_materials[one.path] = str(material.GetPath())
