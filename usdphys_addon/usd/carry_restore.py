# SPDX-License-Identifier: GPL-3.0-or-later
"""Restores opinions captured by `carry` on the prims of an exported layer."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from pxr import Sdf, Tf

from ..core.difference import same_value
from ..core.schema import SCHEMAS, Attribute
from ..core.units import StageUnits
from . import write as usd_write
from .carry_fields import (
    LAYER_FIELDS,
    NOTES_KEY,
    PRIM_FIELDS,
    PROPERTY_FIELDS,
    Convert,
    alike,
    converted,
    copy_fields,
    folder,
    is_asset,
    listed_schemas,
    parsed,
    relative_path,
    set_paths,
    set_type,
    table_properties,
    with_assets,
)
from .opinions import BINDING_API, PHYSICS_BINDING
from .read import plain_value


def restore(text: str, spec: Sdf.PrimSpec, moved: Moved, stage_units: StageUnits | None = None) -> None:
    """Add the opinions that `capture` returned to a prim of the exported layer, after Blender and `usd.write`.

    moved: maps old to new paths of relationship targets and connections. stage_units: of the layer; by default from
    its metadata. Existing values win; carried time samples, connections and metadata are added to them. Table
    attributes are restored only if their schema is still applied. API schemas keep their original order. Raises
    InputError if the text cannot be parsed. Do not call it for many prims inside one Sdf.ChangeBlock, which slows the
    parser down.
    """
    if not text.strip():
        return
    source = parsed(text)
    if not source.rootPrims:
        return
    carried = source.rootPrims[0]
    back = Restorer(source, spec.layer, moved, stage_units or layer_units(spec.layer))
    back.schemas(carried, spec)
    back.metadata(carried, spec, PRIM_FIELDS)
    back.properties(carried, spec)


def restore_shape(text: str, spec: Sdf.PrimSpec, *, collides: bool = False) -> None:
    """Give a prim the shape that `carry.capture_shape` returned, in place of what Blender wrote about it.

    collides: the model has written a size, which stays if it is another one: Blender holds 32 bits of the file's.
    """
    carried = parsed(text).rootPrims[0]
    back = Restorer(parsed(text), spec.layer, str, layer_units(spec.layer))
    colors_only = collides and not _are_alike(carried, spec)
    if not collides:
        back.schemas(carried, spec)
    for item in carried.properties:
        if colors_only and not item.name.startswith("primvars:"):
            continue
        if item.name in spec.properties.keys():
            spec.RemoveProperty(spec.properties[item.name])
        back.add(item, spec, None)


def _are_alike(one: Sdf.PrimSpec, other: Sdf.PrimSpec) -> bool:
    """Whether two gprims of a type have the same size up to 32-bit rounding."""
    kind = SCHEMAS.get(other.typeName)
    if kind is None:
        return False
    for attribute in kind.attributes:
        values = [
            plain_value(spec.attributes[attribute.usd].default, 1.0) if attribute.usd in spec.attributes
            else attribute.fallback for spec in (one, other)
        ]  # fmt: skip
        if not same_value(attribute, *values):
            return False
    return True


def restore_binding(text: str, spec: Sdf.PrimSpec, moved: Moved, *, keep_physics: bool) -> None:
    """Give a prim the bindings that `carry.capture_binding` returned, and no others.

    keep_physics: keep its binding for physics, with the metadata of the source if it has still the same material.
    """
    kept = {PHYSICS_BINDING} if keep_physics else set()
    for name in [name for name in spec.properties.keys() if name.startswith("material:binding") and name not in kept]:
        spec.RemoveProperty(spec.properties[name])
    source = parsed(text) if text else None
    is_applied, now = False, spec.properties.get(PHYSICS_BINDING)
    if source is not None:
        carried = source.rootPrims[0]
        is_applied = BINDING_API in listed_schemas(carried)
        back = Restorer(source, spec.layer, moved, layer_units(spec.layer))
        back.schemas(carried, spec)
        for item in carried.properties:
            if item.name != PHYSICS_BINDING:
                back.add(item, spec, None)
            elif now and _targets(now) == [moved(path) for path in _targets(item)]:
                spec.RemoveProperty(now)
                back.add(item, spec, None)
                now = None
    if not is_applied and not now:
        usd_write.remove_schema(spec, BINDING_API)


def _targets(item: Sdf.PropertySpec) -> list[str]:
    """Targets of a relationship."""
    return [str(path) for path in item.targetPathList.GetAppliedItems()]


class Restorer:
    """Copies carried opinions into a layer."""

    def __init__(self, source: Sdf.Layer, layer: Sdf.Layer, moved: Moved, units: StageUnits) -> None:
        notes = source.customLayerData.get(NOTES_KEY, {})
        self.layer = layer
        self.units = units
        self.moved = moved
        self.table = frozenset(notes.get("table", ()))
        self.mistyped = frozenset(notes.get("mistyped", ()))
        self.order = list(notes.get("schemas", ()))
        self.prims = frozenset(notes.get("prims", ()))
        self.from_folder = str(notes.get("folder", ""))
        self.to_folder = folder(layer)

    def schemas(self, carried: Sdf.PrimSpec, spec: Sdf.PrimSpec) -> None:
        listed = listed_schemas(carried)
        if not listed:
            return
        current = spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else Sdf.TokenListOp()
        present = listed_schemas(spec)
        known = {*present, *listed}
        ordered = [name for name in self.order if name in known]
        ordered += [name for name in (*present, *listed) if name not in ordered]
        if current.isExplicit:
            current.explicitItems = ordered
        else:
            current.appendedItems = []
            current.addedItems = []
            current.prependedItems = list(dict.fromkeys(ordered))
        spec.SetInfo("apiSchemas", current)

    def metadata(self, source: Sdf.Spec, spec: Sdf.Spec, ignored: Collection[str]) -> None:
        """Add fields. Existing fields win; dictionaries are merged."""
        fields: dict[str, bool] = {}

        def wanted(name: str, is_there: bool) -> bool:
            if name not in ignored:
                fields[name] = is_there
            return name not in ignored and not is_there

        copy_fields(source, spec, wanted)
        for name in fields.keys() & set(source.ListInfoKeys()):
            new = source.GetInfo(name)
            if not isinstance(new, dict | Sdf.AssetPath):
                continue
            if not fields[name]:
                spec.SetInfo(name, self.here(new))
            elif isinstance(old := spec.GetInfo(name), dict):
                spec.SetInfo(name, _merged(old, self.here(new)))

    def properties(self, carried: Sdf.PrimSpec, spec: Sdf.PrimSpec) -> None:
        names = self.table | self.mistyped
        table = table_properties(spec.typeName, tuple(listed_schemas(spec))) if names else {}
        for item in carried.properties:
            if item.name in self.mistyped:
                self.retype(item, spec, table.get(item.name))
                continue
            existing = spec.properties.get(item.name)
            is_table = item.name in self.table
            if is_table and (item.name not in table or (existing is None and not _has_opinion(item))):
                continue
            if existing is None:
                self.add(item, spec, table.get(item.name) if is_table else None)
            elif type(existing) is type(item):
                if isinstance(item, Sdf.AttributeSpec):
                    self.add_animation(item, existing, table.get(item.name) if is_table else None)
                self.metadata(item, existing, PROPERTY_FIELDS)

    def add(self, item: Sdf.PropertySpec, spec: Sdf.PrimSpec, row: tuple[Attribute, str] | None) -> None:
        path = spec.path.AppendProperty(item.name)
        Sdf.CopySpec(item.layer, item.path, self.layer, path)
        added = spec.properties[item.name]
        if isinstance(item, Sdf.RelationshipSpec):
            self.retarget(item.targetPathList, added.targetPathList)
            return
        self.retarget(item.connectionPathList, added.connectionPathList)
        if is_asset(item.typeName) and item.HasDefaultValue():
            added.default = self.here(item.default)
        self.samples(item, path, row)

    def retype(self, item: Sdf.AttributeSpec, spec: Sdf.PrimSpec, row: tuple[Attribute, str] | None) -> None:
        """Give a table property that nobody has edited the type that it had: programs may ask for one type only."""
        existing = spec.attributes.get(item.name)
        if existing is None or row is None:
            return
        now, value = plain_value(existing.default, 1.0), self.to_layer(row, existing.path)(item.default)
        if same_value(row[0], now, plain_value(value, 1.0)):
            spec.RemoveProperty(existing)
            made = Sdf.AttributeSpec(spec, item.name, item.typeName, item.variability)
            made.default = value
            self.metadata(item, made, PROPERTY_FIELDS)

    def to_layer(self, row: tuple[Attribute, str], path: Sdf.Path) -> Convert:
        """Converts values of a table property from SI. path: of the property in the layer."""
        drive = self.layer.GetAttributeAtPath(path.GetPrimPath().AppendProperty(f"drive:{row[1]}:physics:type"))
        return _from_si(*row, str(drive.default) if drive else None, self.units)

    def add_animation(self, item: Sdf.AttributeSpec, found: Sdf.AttributeSpec, row: Any) -> None:
        """Add time samples, splines and connections to an existing attribute that has none."""
        try:
            if not self.layer.GetNumTimeSamplesForPath(found.path):
                self.samples(item, found.path, row)
            if hasattr(item, "HasSpline") and item.HasSpline() and not found.HasSpline():
                found.SetSpline(item.GetSpline())
        except Tf.ErrorException:
            # An attribute of another type has this name now.
            return
        if item.HasInfo("connectionPaths") and not found.HasInfo("connectionPaths"):
            self.retarget(item.connectionPathList, found.connectionPathList)

    def samples(self, item: Sdf.AttributeSpec, path: Sdf.Path, row: tuple[Attribute, str] | None) -> None:
        convert: Convert = self.here
        if row is not None and alike(str(item.typeName), row[0].type):
            convert = self.to_layer(row, path)
        elif not is_asset(item.typeName) and self.layer.GetNumTimeSamplesForPath(path):
            return
        for time in item.layer.ListTimeSamplesForPath(item.path):
            value = item.layer.QueryTimeSample(item.path, time)
            self.layer.SetTimeSample(path, time, value if isinstance(value, Sdf.ValueBlock) else convert(value))

    def retarget(self, source: Any, target: Any) -> None:
        if source.isExplicit:
            set_paths(target, [self.moved_path(path) for path in source.explicitItems])

    def moved_path(self, path: Sdf.Path) -> Sdf.Path:
        """The new path of a prim or property, from `moved` of the prim."""
        prim = Sdf.Path(self.moved(str(path.GetPrimPath())))
        return path.ReplacePrefix(path.GetPrimPath(), prim)

    def here(self, value: Any) -> Any:
        """A value with relative asset paths re-anchored to this layer; absolute if the layer is anonymous."""
        return with_assets(value, self.asset)

    def asset(self, asset: Sdf.AssetPath) -> Sdf.AssetPath:
        if not self.from_folder or not asset.path.startswith(("./", "../")):
            return Sdf.AssetPath(asset.path)
        absolute = Path(os.path.normpath(Path(self.from_folder, asset.path))).as_posix()
        return Sdf.AssetPath(relative_path(absolute, self.to_folder) if self.to_folder else absolute)


def restore_prims(text: str, layer: Sdf.Layer, moved: Moved) -> list[str]:
    """Create the prims that `capture_prims` returned in the exported layer. Returns the paths of the created prims.

    moved: maps old to new paths of prims and targets. Existing prims and fields are not changed; missing ancestors are
    created. Raises InputError if the text cannot be parsed.
    """
    if not text.strip():
        return []
    source = parsed(text)
    back = Restorer(source, layer, moved, layer_units(layer))
    made: list[str] = []
    with Sdf.ChangeBlock():
        for carried in source.rootPrims:
            _restore_prim(back, carried, made)
    _restore_layer(back, source)
    return made


def restore_trees(text: str, layer: Sdf.Layer, moved: Moved) -> list[str]:
    """Replace subtrees of the layer by those that `capture_trees` returned. Returns the paths of their root prims.

    The roots keep their transform in the layer, so that they can be moved in Blender. Roots that are missing in the
    layer are not restored. Raises InputError if the text cannot be parsed.
    """
    if not text.strip():
        return []
    source = parsed(text)
    back = Restorer(source, layer, moved, layer_units(layer))
    replaced = []
    for path in sorted(back.prims):
        old = layer.GetPrimAtPath(moved(path))
        is_topmost = str(Sdf.Path(path).GetParentPath()) not in back.prims
        if not is_topmost or old is None:
            continue
        at = old.path
        aside = Sdf.Layer.CreateAnonymous(".usda")
        Sdf.CopySpec(layer, at, aside, Sdf.CreatePrimInLayer(aside, at).path)
        del (old.nameParent or layer.pseudoRoot).nameChildren[old.name]
        _restore_prim(back, source.GetPrimAtPath(path), [])
        usd_write.clear_local(layer.GetPrimAtPath(at))
        for name in aside.GetPrimAtPath(at).properties.keys():
            if name.startswith("xformOp"):
                Sdf.CopySpec(aside, at.AppendProperty(name), layer, at.AppendProperty(name))
        replaced.append(str(at))
    return replaced


def _restore_layer(back: Restorer, source: Sdf.Layer) -> None:
    root = back.layer.pseudoRoot
    back.metadata(source.pseudoRoot, root, LAYER_FIELDS)
    data = source.customLayerData.get("layer")
    if data:
        back.layer.customLayerData = _merged(back.layer.customLayerData, data)


def _restore_prim(back: Restorer, carried: Sdf.PrimSpec, made: list[str]) -> None:
    if str(carried.path) in back.prims:
        path = Sdf.Path(back.moved(str(carried.path)))
        if back.layer.GetPrimAtPath(path) is None:
            spec = made_prim(back, path, carried)
            spec.specifier = carried.specifier
            back.schemas(carried, spec)
            back.metadata(carried, spec, PRIM_FIELDS - {"active"})
            back.properties(carried, spec)
            made.append(str(path))
    for child in carried.nameChildren:
        _restore_prim(back, child, made)


def made_prim(back: Restorer, path: Sdf.Path, carried: Sdf.PrimSpec) -> Sdf.PrimSpec:
    """Create a prim. Missing ancestors become an Xform or untyped if they were that, else a Scope."""
    above = carried.nameParent
    parent = path.GetParentPath()
    if not parent.IsAbsoluteRootPath() and back.layer.GetPrimAtPath(parent) is None and above is not None:
        made = made_prim(back, parent, above)
        made.specifier = Sdf.SpecifierDef
        if made.typeName not in ("", "Xform", "Scope"):
            made.typeName = "Scope"
    spec = Sdf.CreatePrimInLayer(back.layer, path)
    set_type(spec, carried.typeName)
    return spec


def _from_si(attribute: Attribute, instance: str, drive_type: str | None, units: StageUnits) -> Convert:
    factor = 1.0 / units.factor(attribute.dimension_for(instance, drive_type), local=attribute.space == "local")
    turn = units.to_z_up.T if attribute.space == "world" else None
    return lambda raw: converted(attribute, raw, factor, turn)


def _has_opinion(item: Sdf.PropertySpec) -> bool:
    """True if a property has a value, time samples, a spline, connections or targets."""
    if not isinstance(item, Sdf.AttributeSpec):
        return bool(item.HasInfo("targetPaths"))
    return bool(
        item.HasDefaultValue()
        or item.layer.GetNumTimeSamplesForPath(item.path)
        or item.HasInfo("connectionPaths")
        or (hasattr(item, "HasSpline") and item.HasSpline())
    )


def _merged(strong: dict[str, Any], weak: dict[str, Any]) -> dict[str, Any]:
    """Both dictionaries, merged recursively; `strong` wins."""
    result = {**weak, **strong}
    for key in strong.keys() & weak.keys():
        if isinstance(strong[key], dict) and isinstance(weak[key], dict):
            result[key] = _merged(strong[key], weak[key])
    return result


Moved = Callable[[str], str]


def layer_units(layer: Sdf.Layer) -> StageUnits:
    """Units metadata of a layer, with USD's fallbacks."""
    root = layer.pseudoRoot
    meters, kilograms, axis = (
        root.GetInfo(name) if root.HasInfo(name) else fallback
        for name, fallback in (("metersPerUnit", 0.01), ("kilogramsPerUnit", 1.0), ("upAxis", "Y"))
    )
    return StageUnits(float(meters), float(kilograms), "Z" if axis == "Z" else "Y")
