# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the edits of the physics of a source into a layer: a copy of its root layer, or one over it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pxr import Sdf, Usd

from ..core import frames, gprims, paths, schema, vendor_schemas
from ..core.animation import Samples
from ..core.difference import Difference, PrimEdit
from ..core.model import Prim
from ..core.schema import Attribute, Schema
from ..core.schemas import usd_geom, usd_physics
from ..core.units import StageUnits
from . import read as usd_read
from . import write as usd_write
from .carry_fields import alike
from .opinions import BINDING, BINDING_API, PHYSICS_BINDING
from .rest_time import place_cache
from .targets import LISTS

#: Fields without further information: a spec with no other field is removed with its value.
_DECLARATION = frozenset({"custom", "typeName", "variability", "default", "timeSamples", "spline"})
_GROUP_COLLECTION = "CollectionAPI:colliders"


class Editor:
    """Writes a difference into a layer.

    own: the original of which `layer` is a copy, or None. copied: paths of new prims that are in the layer already.
    moved: old paths of moved prims by their new paths, so far.
    """

    def __init__(self, layer: Sdf.Layer, stage: Usd.Stage, units: StageUnits, own: Sdf.Layer | None) -> None:
        self.layer = layer
        self.stage = stage
        self.units = units
        self.own = own
        self.writer = usd_write.SpecWriter(layer, units)
        self.uninstanced: dict[str, None] = {}
        self.missing: list[str] = []
        self.over_variants: dict[str, None] = {}
        self.made: dict[str, Prim] = {}
        self.copied: set[str] = set()
        self.moved: dict[str, str] = {}

    def apply(self, difference: Difference) -> None:
        for path in difference.removed:
            self.remove(path)
        for prim in difference.added.values():
            self.add(prim)
        for path, edit in difference.edits.items():
            if self.stage.GetPrimAtPath(path):
                self.edit(edit)
            else:
                self.missing.append(path)
        for key, samples in difference.animated.items():
            prim = difference.added[key.path]
            self.samples(self.spec(key.path), prim, key.schema, key.field, samples)

    def samples(self, spec: Sdf.PrimSpec, prim: Prim, name: str, field: str, samples: Samples) -> None:
        """Author the time samples of a value of a prim. name: of the schema."""
        value = prim.schemas[name]
        instance = usd_write.instance_of(value, name, prim.type_name)
        home = self.home(spec, schema.attribute_of(type(value), field).usd_name(instance))
        self.writer.samples(home, value, instance, field, samples, self.stage.GetTimeCodesPerSecond())

    def spec(self, path: str) -> Sdf.PrimSpec:
        """The spec of a prim in the layer, created as `over` if missing; instances above it become uninstanced."""
        self.make_unique_above(path)
        return Sdf.CreatePrimInLayer(self.layer, path)

    def make_unique_above(self, path: str) -> None:
        """Make the instances above a path unique: USD ignores what is below an instance."""
        for prefix in Sdf.Path(path).GetPrefixes()[:-1]:
            above = self.stage.GetPrimAtPath(paths.followed(str(prefix), self.moved))
            if above and above.IsInstance():
                Sdf.CreatePrimInLayer(self.layer, prefix).SetInfo("instanceable", False)
                self.uninstanced[str(prefix)] = None

    def home(self, spec: Sdf.PrimSpec, name: str) -> Sdf.PrimSpec:
        """The spec that gets a new value of a property: that of the chosen variant if the value is from there.

        Else `spec`, whose value is stronger than those of all variants.
        """
        item = self.stage.GetPropertyAtPath(spec.path.AppendProperty(name))
        weakest = next(iter(item.GetPropertyStack()), None) if item else None
        if weakest is None or not weakest.path.ContainsPrimVariantSelection():
            return spec
        place = weakest.path.GetPrimPath()
        if weakest.layer == self.own and place.StripAllVariantSelections() == spec.path:
            return self.layer.GetPrimAtPath(place) or spec
        self.over_variants[str(spec.path)] = None
        return spec

    def is_own(self, spec: Sdf.Spec, path: str) -> bool:
        return self.own is not None and spec.layer == self.own and str(spec.path) == path

    # ------------------------------------------------------------------ whole prims

    def remove(self, path: str, place: str = "") -> None:
        """Remove a prim of the source. place: its path in the layer, where it has moved there."""
        usd_prim = self.stage.GetPrimAtPath(path)
        if not usd_prim:
            self.missing.append(path)
            return
        stack = usd_prim.GetPrimStack()
        if len(stack) == 1 and self.is_own(stack[0], path):
            spec = self.layer.GetPrimAtPath(place or path)
            siblings = spec.nameParent.nameChildren if spec.nameParent else self.layer.rootPrims
            del siblings[spec.name]
        else:
            self.spec(place or path).active = False

    def add(self, prim: Prim) -> None:
        usd_prim = self.stage.GetPrimAtPath(prim.path)
        if usd_prim and usd_prim.IsDefined():
            if not usd_prim.IsActive():
                self.spec(prim.path).active = True
            self.edit(_as_edit(prim))
            return
        spec = self.spec(prim.path)
        self.made[prim.path] = prim
        if paths.nearest(prim.path, self.copied) and spec.specifier == Sdf.SpecifierDef:
            if spec.typeName == "Xform" and prim.get(usd_geom.Gprim) is not None:
                self.become_gprim(spec, prim)
            elif spec.typeName == "Xform" and prim.type_name == "Mesh":
                self.become_mesh(spec)
            self.writer.write(prim)
            return
        spec.specifier, spec.typeName = Sdf.SpecifierDef, prim.type_name
        self.define_parents(spec)
        if _gets_transform(prim):
            local = self.local(prim) if prim.local is None else prim.local
            usd_write.write_local(spec, local, self.units.local, reset=prim.resets_xform_stack)
            self.geometry(spec, prim)
        self.writer.write(prim)

    def become_gprim(self, spec: Sdf.PrimSpec, prim: Prim) -> None:
        """Make a new prim, below which Blender has written its mesh, the gprim that the object is."""
        spec.typeName = prim.type_name
        for mesh in [child for child in spec.nameChildren if child.typeName == "Mesh"]:
            bound = mesh.relationships.get(BINDING)
            if str(mesh.path) in self.copied or str(mesh.path) in self.made:
                continue
            if bound is not None:
                self.writer.relationship(spec, BINDING, list(bound.targetPathList.explicitItems))
                usd_write.apply_schemas(spec, [BINDING_API])
            del spec.nameChildren[mesh.name]
        self.geometry(spec, prim)

    def become_mesh(self, spec: Sdf.PrimSpec) -> None:
        """Make a new prim the mesh that Blender has written below it: the object is a copy of such a prim."""
        meshes = (child for child in spec.nameChildren if child.typeName == "Mesh")
        mesh = next((one for one in meshes if not {str(one.path)} & (self.copied | self.made.keys())), None)
        if mesh is None:
            return
        # A subset of the faces can have the name of its mesh, and takes its place.
        apart, source = Sdf.Layer.CreateAnonymous(), Sdf.Path("/Mesh")
        Sdf.CopySpec(spec.layer, mesh.path, apart, source)
        del spec.nameChildren[mesh.name]
        mesh = apart.GetPrimAtPath(source)
        for name in set(mesh.properties.keys()) - set(spec.properties.keys()):
            Sdf.CopySpec(apart, mesh.properties[name].path, spec.layer, spec.path.AppendProperty(name))
        for child in mesh.nameChildren:
            Sdf.CopySpec(apart, child.path, spec.layer, spec.path.AppendChild(child.name))
        if mesh.HasInfo("apiSchemas"):
            usd_write.apply_schemas(spec, mesh.GetInfo("apiSchemas").GetAddedOrExplicitItems())
        spec.typeName = "Mesh"

    def define_parents(self, spec: Sdf.PrimSpec, *, itself: bool = False) -> None:
        """Define the prims above a new one that the source has not. itself: the prim, too."""
        parent = spec if itself else spec.nameParent
        while parent is not None and parent.path != Sdf.Path.absoluteRootPath:
            origin = paths.followed(str(parent.path), self.moved)
            if not self.stage.GetPrimAtPath(origin) and parent.specifier != Sdf.SpecifierDef:
                parent.specifier, parent.typeName = Sdf.SpecifierDef, "Scope"
            parent = parent.nameParent

    def local(self, prim: Prim) -> frames.Matrix:
        """Pose (4, 4) of a new prim in the space of its parent, metres, in the axes of the file."""
        world = self.in_file(prim.world)
        if prim.resets_xform_stack:
            return world
        parent = Sdf.Path(prim.path).GetParentPath()
        while not parent.IsAbsoluteRootPath():
            if str(parent) in self.made:
                return np.asarray(np.linalg.solve(self.in_file(self.made[str(parent)].world), world))
            if usd_prim := self.stage.GetPrimAtPath(parent):
                find = place_cache(usd_prim).GetLocalToWorldTransform
                above = np.array(usd_read.despite_broken_ops(find, usd_prim)).T
                # In Blender, the unit of the file is a scale.
                above[:3, :3] *= self.units.meters_per_unit / self.units.local
                above[:3, 3] *= self.units.meters_per_unit
                return np.asarray(np.linalg.solve(above, world))
            parent = parent.GetParentPath()
        return world

    def in_file(self, world: frames.Matrix) -> frames.Matrix:
        turned = world.copy()
        turned[:3] = self.units.to_z_up.T @ world[:3]
        return turned

    def geometry(self, spec: Sdf.PrimSpec, prim: Prim) -> None:
        """Extent of a new gprim; points and faces of a new mesh."""
        gprim = prim.get(usd_geom.Gprim)
        if isinstance(gprim, usd_geom.Gprim):
            half = np.array(gprims.half_extent(gprim)) / self.units.local
            self.writer.set(spec, "extent", "float3[]", usd_write.vectors([-half, half]))
        self.writer.mesh(spec, prim)

    # ------------------------------------------------------------------ one prim

    def edit(self, edit: PrimEdit) -> None:
        prim = edit.prim
        spec = self.spec(prim.path)
        usd_prim = self.stage.GetPrimAtPath(prim.path)
        if edit.type_name is not None:
            usd_write.retype(spec, edit.type_name)
        for name in edit.removed:
            self.unapply(spec, usd_prim, name, prim)
        applied = [name for name in edit.added if prim.schemas[name].kind != "typed"]
        if usd_physics.CollisionGroup.usd_name in edit.added:
            applied.append(_GROUP_COLLECTION)
        if edit.binding:
            applied.append(BINDING_API)
        usd_write.apply_schemas(spec, applied, last=self.own is None)
        for (name, field), content in edit.values.items():
            value = prim.schemas[name]
            self.put(spec, value, usd_write.instance_of(value, name, prim.type_name), field, content)
            if (samples := edit.samples.get((name, field))) is not None:
                self.samples(spec, prim, name, field, samples)
        for name, field in (*edit.cleared, *_unset(edit)):
            attribute = schema.attribute_of(type(prim.schemas[name]), field)
            self.clear(spec, usd_prim, attribute.usd_name(_instance(name)), attribute)
        if any(name == usd_physics.RigidBodyAPI.usd_name for name, _ in edit.values):
            self.writer.velocity_space(spec, prim)
        if any(field == "radius" for _, field in (*edit.values, *edit.cleared)):
            self.writer.taper(spec, prim)
        self.world_frames(spec, edit)
        if edit.purpose is not None:
            self.writer.set(spec, "purpose", "token", edit.purpose, uniform=True)
        if edit.binding:
            self.writer.relationship(spec, PHYSICS_BINDING, [Sdf.Path(edit.binding)])
        elif edit.binding is not None:
            self.clear(spec, usd_prim, PHYSICS_BINDING, None)

    def put(self, spec: Sdf.PrimSpec, value: Schema, instance: str, field: str, content: Any) -> None:
        attribute = schema.attribute_of(type(value), field)
        name = attribute.usd_name(instance)
        spec = self.home(spec, name)
        if attribute.is_relationship:
            if content:
                self.writer.relationship(spec, name, [Sdf.Path(path) for path in content])
            else:
                _empty_targets(spec, name)
            return
        if attribute.type == "opaque":
            return
        self.drop_animation(spec, name, attribute)
        stage_value = self.writer.translator.stage_value(attribute, content, instance, value)
        self.writer.set(spec, name, attribute.type, stage_value, uniform=attribute.uniform)

    def drop_animation(self, spec: Sdf.PrimSpec, name: str, attribute: Attribute) -> None:
        """Remove time samples and splines, which are stronger than a default; remove a spec of an incompatible type."""
        animated = spec.attributes.get(name)
        if animated is None:
            return
        if not alike(str(animated.typeName), attribute.type):
            spec.RemoveProperty(animated)
            return
        _clear_animation(animated)

    def world_frames(self, spec: Sdf.PrimSpec, edit: PrimEdit) -> None:
        """Write the frames of joint sides without a body: the up axis couples their position and rotation."""
        if self.units.up_axis == "Z" and self.units.local == self.units.meters_per_unit:
            return
        fields = {field for _, field in (*edit.values, *edit.cleared)}
        joint = edit.prim.get(usd_physics.Joint)
        if not isinstance(joint, usd_physics.Joint):
            return
        # Only the changed sides: the other gets a dummy body, so that the translator skips it.
        sides = usd_physics.Joint(body0=("/",), body1=("/",))
        for side in (0, 1):
            names = (f"body{side}", f"local_pos{side}", f"local_rot{side}")
            if not getattr(joint, names[0]) and not fields.isdisjoint(names):
                for name in names:
                    setattr(sides, name, getattr(joint, name))
        for item in self.writer.translator.world_frames(sides):
            self.writer.put(spec, item)

    def clear(self, spec: Sdf.PrimSpec, usd_prim: Usd.Prim, name: str, attribute: Attribute | None) -> None:
        """Remove the opinion of the layer; block weaker opinions, if there are any."""
        property_spec = spec.properties.get(name)
        if property_spec is not None:
            _clear_value(spec, property_spec)
        if not self.has_weaker(usd_prim, name):
            return
        if attribute is None or attribute.is_relationship:
            _empty_targets(spec, name)
        elif attribute.type != "opaque":
            self.drop_animation(spec, name, attribute)
            self.writer.set(spec, name, attribute.type, Sdf.ValueBlock(), uniform=attribute.uniform)

    def has_weaker(self, usd_prim: Usd.Prim, name: str) -> bool:
        item = usd_prim.GetProperty(name)
        if not item or not item.IsAuthored():
            return False
        path = str(usd_prim.GetPath().AppendProperty(name))
        return any(_has_value(spec) for spec in item.GetPropertyStack() if not self.is_own(spec, path))

    # ------------------------------------------------------------------ API schemas

    def unapply(self, spec: Sdf.PrimSpec, usd_prim: Usd.Prim, name: str, prim: Prim) -> None:
        cls = vendor_schemas.find(schema.split_applied(name)[0])
        assert cls is not None
        if cls.kind == "typed":
            if cls is usd_physics.CollisionGroup:
                self.delete_schema(spec, usd_prim, _GROUP_COLLECTION)
        else:
            self.delete_schema(spec, usd_prim, name)
        if self.own is None:
            return
        used = {
            attribute.usd_name(_instance(other))
            for other, value in prim.schemas.items()
            for attribute in value.attributes
        }
        for attribute in cls.attributes:
            property_spec = spec.properties.get(attribute.usd_name(_instance(name)))
            if property_spec is not None and property_spec.name not in used and not issubclass(cls, usd_geom.Gprim):
                spec.RemoveProperty(property_spec)

    def delete_schema(self, spec: Sdf.PrimSpec, usd_prim: Usd.Prim, name: str) -> None:
        path = str(usd_prim.GetPath())
        weaker = any(
            name in one.GetInfo("apiSchemas").GetAddedOrExplicitItems()
            for one in usd_prim.GetPrimStack()
            if one.HasInfo("apiSchemas") and not self.is_own(one, path)
        )
        listed = spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else Sdf.TokenListOp()
        for kind in LISTS:
            items = list(getattr(listed, kind))
            if name in items:
                setattr(listed, kind, [item for item in items if item != name])
        if weaker and not listed.isExplicit:
            listed.deletedItems = [*listed.deletedItems, name]
        if listed.isExplicit or any(getattr(listed, kind) for kind in LISTS):
            spec.SetInfo("apiSchemas", listed)
        else:
            spec.ClearInfo("apiSchemas")


def _as_edit(prim: Prim) -> PrimEdit:
    """A prim as the edit that adds all its physics."""
    values = {
        (name, attribute.field): content
        for name, value in prim.schemas.items()
        for attribute, content in value.authored()
    }
    typed = any(value.kind == "typed" for value in prim.schemas.values())
    return PrimEdit(
        prim, prim.type_name if typed else None, tuple(prim.schemas), (), values,
        binding=prim.physics_binding or None,
    )  # fmt: skip


def _unset(edit: PrimEdit) -> Iterator[tuple[str, str]]:
    """Unauthored fields of added schemas: an existing property of that name must not provide a value."""
    names = {
        attribute.usd_name(_instance(name))
        for name, value in edit.prim.schemas.items()
        for attribute, _ in value.authored()
    }
    for name in edit.added:
        value = edit.prim.schemas[name]
        for attribute in value.attributes:
            is_taken = attribute.usd_name(_instance(name)) in names
            if getattr(value, attribute.field) is None and not is_taken and attribute.type != "opaque":
                yield name, attribute.field


def _instance(name: str) -> str:
    return schema.split_applied(name)[1]


def _gets_transform(prim: Prim) -> bool:
    """Whether a new prim gets a transform: physics prims, materials and scopes do not."""
    cls = schema.SCHEMAS.get(prim.type_name)
    if cls is not None and not issubclass(cls, usd_geom.Gprim):
        return False
    return prim.is_xformable and prim.type_name not in ("", "Scope", "Material")


# --------------------------------------------------------------------------- specs


def _has_value(spec: Sdf.PropertySpec) -> bool:
    if isinstance(spec, Sdf.RelationshipSpec):
        return bool(spec.HasInfo("targetPaths"))
    return bool(
        (spec.HasDefaultValue() and not isinstance(spec.default, Sdf.ValueBlock))
        or spec.layer.GetNumTimeSamplesForPath(spec.path)
        or (hasattr(spec, "HasSpline") and spec.HasSpline())
    )


def _clear_value(owner: Sdf.PrimSpec, spec: Sdf.PropertySpec) -> None:
    """Remove the value of a property, and the whole spec if it has no other fields."""
    if isinstance(spec, Sdf.RelationshipSpec) or not set(spec.ListInfoKeys()) - _DECLARATION:
        owner.RemoveProperty(spec)
        return
    spec.ClearDefaultValue()
    _clear_animation(spec)


def _clear_animation(spec: Sdf.AttributeSpec) -> None:
    for time in spec.layer.ListTimeSamplesForPath(spec.path):
        spec.layer.EraseTimeSample(spec.path, time)
    if hasattr(spec, "ClearSpline"):
        spec.ClearSpline()


def _empty_targets(spec: Sdf.PrimSpec, name: str) -> None:
    relationship = spec.relationships.get(name) or Sdf.RelationshipSpec(spec, name, custom=False)
    relationship.targetPathList.ClearEditsAndMakeExplicit()
