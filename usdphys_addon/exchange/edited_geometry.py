# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry, materials and images that Blender's exporter writes for an export of edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Context, Material, Object

from ..bridge import import_notes
from ..bridge.identity.names import SourcePaths
from ..bridge.mesh import options_to_write_as_shown
from ..bridge.placements import Placement
from ..core import paths
from ..core.errors import OutputError
from ..core.schemas.usd_geom import CURVE_TYPES
from ..core.validate import Issue
from . import curve_prims, materialx, tet_prims
from .hook_calls import handled_by
from .usd_export import refuse_crash

if TYPE_CHECKING:
    from pxr import Sdf

    from ..usd.scene_edits import SceneEdits


@dataclass(slots=True)
class Chosen:
    """Objects that Blender has to write, by path in the source.

    merged: paths of objects whose mesh is a collider and one prim with them, as in the source. faces: paths of new
    objects whose faces collide in a prim below them. changed: their geometry. looks: only for their materials.
    properties: only for their custom properties.
    """

    new: dict[str, Placement] = field(default_factory=dict)
    merged: frozenset[str] = frozenset()
    faces: frozenset[str] = frozenset()
    changed: dict[str, Placement] = field(default_factory=dict)
    looks: dict[str, Placement] = field(default_factory=dict)
    properties: dict[str, Placement] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.looks or self.properties)

    def as_shown(self) -> dict[str, Any]:
        """Options of Blender's exporter with which colliders have the shape that is shown."""
        shaped = [placement for path, placement in {**self.new, **self.changed}.items() if path in self.merged]
        options = [options_to_write_as_shown(placement.obj) for placement in shaped]
        return {"export_subdivision": "TESSELLATE"} if any("export_subdivision" in one for one in options) else {}


class Geometry:
    """Has Blender write chosen objects to a temporary file, and finds the prims in it."""

    def __init__(
        self, context: Context, placements: Iterable[Placement], sources: SourcePaths,
        material_path: Callable[[Material], str], chosen: Chosen, edits: SceneEdits,
    ) -> None:  # fmt: skip
        self.context, self.placements, self.sources = context, placements, sources
        self.material_path, self.chosen, self.edits = material_path, chosen, edits
        self.issues: list[Issue] = []

    def add(self, folder: Path, *, has_materialx: bool = False) -> None:
        from pxr import Sdf

        from ..usd.scene_edits import MeshEdit

        file = folder / "geometry.usdc"
        chosen = self.chosen
        placements = {**chosen.new, **chosen.changed, **chosen.looks, **chosen.properties}
        objects = [placement.obj for placement in placements.values()]
        refuse_crash(objects)
        with selected(self.context, objects):
            _write_geometry(file, {**chosen.as_shown(), **materialx.options(wanted=has_materialx)})
        layer = Sdf.Layer.OpenAsAnonymous(str(file)) if file.is_file() else None
        if layer is None:
            raise OutputError("Blender's USD exporter wrote no geometry; see the console for its reason.")
        self.issues += tet_prims.write(layer)
        if has_materialx:
            self.issues += materialx.issues_of(layer)
        curve_prims.write(layer)
        self.edits.geometry = layer
        specs = _object_specs(layer, objects)
        for placement in self.placements:
            if placement.obj.name in specs:
                self.edits.places[str(specs[placement.obj.name].path)] = placement.path
        above = {placement.parent.path for placement in self.placements if placement.parent is not None}
        for path, placement in self.chosen.new.items():
            if placement.obj.name in specs:
                spec = specs[placement.obj.name]
                self.edits.objects[path] = str(spec.path)
                line = _data_spec(spec) if path in chosen.faces else None
                if line is not None and line.typeName in CURVE_TYPES:
                    # Blender writes no faces of curves. Those that collide are written with the physics.
                    del spec.nameChildren[line.name]
            elif placement.instance is None and path in above:
                # Blender writes no prim of an armature or a lattice without objects below it that it writes.
                spec = Sdf.CreatePrimInLayer(layer, paths.free("/Space", layer.GetPrimAtPath))
                spec.specifier, spec.typeName = Sdf.SpecifierDef, "Xform"
                self.edits.objects[path] = str(spec.path)
        changed = [placement.obj for placement in self.chosen.changed.values()]
        edits = import_notes.edits_of(changed, self.sources.materials)
        for path, obj, edited in zip(self.chosen.changed, changed, edits, strict=True):
            mesh = _data_spec(specs.get(obj.name))
            if mesh is not None and mesh.typeName in ("Mesh", "TetMesh"):
                self.edits.meshes[path] = MeshEdit(str(mesh.path), edited.parts)
        for path, placement in self.chosen.properties.items():
            spec = specs.get(placement.obj.name)
            present = [one for one in (spec, _data_spec(spec)) if one is not None]
            self.edits.properties[path] = tuple(str(one.path) for one in present)
        self.add_materials(layer, are_whole=has_materialx)

    def add_materials(self, layer: Sdf.Layer, *, are_whole: bool) -> None:
        """are_whole: write all of an edited material, not only the inputs that have changed."""
        from ..usd.scene_edits import DATA_NAME, MaterialEdit

        sources = self.sources
        for spec in _prims_of_type(layer, "Material"):
            name = spec.attributes.get(DATA_NAME)
            material = bpy.data.materials.get(str(name.default)) if name is not None else None
            if material is None:
                continue
            path = self.material_path(material)
            self.edits.places[str(spec.path)] = path
            inputs = import_notes.edited_inputs(material) if material.name in sources.materials else None
            if inputs is None or inputs:
                self.edits.materials[path] = MaterialEdit(str(spec.path), None if are_whole else inputs)


def _object_specs(layer: Sdf.Layer, written: Iterable[Object]) -> dict[str, Any]:
    """Specs of plain objects by name, without the copies that instances bring.

    Copies have the name of their object, too. Those of children that are instanced on vertices or faces are below the
    same parent, beside the object itself or without it. written: objects that Blender had to write.
    """
    specs: dict[str, Any] = {}
    objects: dict[str, Object] = {}
    for one in written:
        above: Object | None = one
        while above is not None and above.name not in objects:
            objects[above.name], above = above, above.parent
    pending = [(list(layer.rootPrims), "")]
    while pending:
        children, parent = pending.pop()
        found: dict[str, list[Any]] = {}
        for spec in children:
            name = _object_name(spec)
            obj = objects.get(name)
            if not name:
                pending.append((list(spec.nameChildren), parent))
            elif obj is not None and (obj.parent.name if obj.parent else "") == parent:
                found.setdefault(name, []).append(spec)
        for name, alike in found.items():
            if name not in specs:
                specs[name] = alike[0] if len(alike) == 1 else _plain_one(alike, objects[name])
                pending.append((list(specs[name].nameChildren), name))
    return specs


def _object_name(spec: Sdf.PrimSpec) -> str:
    """The name of the object that a prim is; empty for others."""
    from ..usd.scene_edits import OBJECT_NAME

    attribute = spec.attributes.get(OBJECT_NAME)
    return str(attribute.default) if attribute is not None else ""


def _plain_one(specs: list[Any], obj: Object) -> Any:
    """Of the prims of an object and of its copies below the same parent, that of the object: the one at its place."""
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(specs[0].layer)
    above = np.array(obj.parent.matrix_world if obj.parent else np.eye(4), float)

    def distance(spec: Any) -> tuple[float, int]:
        local = UsdGeom.XformCache().GetLocalTransformation(stage.GetPrimAtPath(spec.path))[0]
        difference = np.abs(above @ np.array(local, float).T - np.array(obj.matrix_world, float)).max()
        return round(float(difference), 5), len(spec.name)

    return min(specs, key=distance)


def _data_spec(spec: Sdf.PrimSpec) -> Any | None:
    """The prim with the data of an object, below the one with its transform; None for an empty."""
    from ..usd.scene_edits import DATA_NAME

    return next((child for child in spec.nameChildren if DATA_NAME in child.attributes), None) if spec else None


def _prims_of_type(layer: Sdf.Layer, type_name: str) -> Iterator[Any]:
    pending = list(layer.rootPrims)
    while pending:
        spec = pending.pop()
        if spec.typeName == type_name:
            yield spec
        pending.extend(spec.nameChildren)


@contextmanager
def selected(context: Context, objects: list[Object]) -> Iterator[None]:
    """Within the block, only these objects are selected."""
    view_layer: Any = context.view_layer
    before = [obj for obj in view_layer.objects if obj.select_get()]
    active = view_layer.objects.active
    try:
        for obj in before:
            obj.select_set(False)
        for obj in objects:
            obj.select_set(True)
        yield
    finally:
        for obj in objects:
            obj.select_set(False)
        for obj in before:
            obj.select_set(True)
        view_layer.objects.active = active


def _write_geometry(file: Path, options: dict[str, Any]) -> None:
    """Have Blender write the selected objects with plain local transforms and lengths in Blender units.

    options: further ones of its exporter.
    """
    with handled_by("on_export", lambda _context: True):
        try:
            bpy.ops.wm.usd_export(
                filepath=str(file), check_existing=False, selected_objects_only=True, export_animation=False,
                evaluation_mode="VIEWPORT", use_instancing=False, root_prim_path="", export_custom_properties=True,
                author_blender_name=True, allow_unicode=True, rename_uvmaps=False, convert_world_material=False,
                export_shapekeys=False, export_armatures=False, **options,
            )  # fmt: skip
        except RuntimeError as error:
            raise OutputError(f"Blender's USD exporter failed: {str(error).strip()}") from error
