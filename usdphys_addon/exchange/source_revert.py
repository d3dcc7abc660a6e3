# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes edits of an imported scene back: what was edited becomes what a new import of the source gives.

The source is imported into a scene of its own, from which values, data and whole objects are taken. So the rules of the
import are nowhere a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.types import Context, PropertyGroup

from ..bridge import import_notes, scene_watch
from ..bridge.identity import remembered
from ..bridge.identity.names import copied_name, prim_name
from ..bridge.property_values import copy_property
from ..bridge.source_report import Key, SourceChange
from ..core import paths, schema
from ..core.errors import InputError
from ..core.schemas import usd_geom, usd_physics
from ..core.words import phrase
from . import robot_source, source_changes, urdf_import, usd_import
from .blend_file import is_robot
from .fresh_import import Fresh, imported_anew
from .gltf_comparison import GltfComparison
from .source_changes import Compared
from .source_export import Comparison

#: Groups of an object, by the schema that they hold.
_PARTS: dict[str, str] = {
    usd_physics.RigidBodyAPI.usd_name: "rigid_body", usd_physics.MassAPI.usd_name: "mass",
    usd_physics.ArticulationRootAPI.usd_name: "articulation_root",
    usd_physics.FilteredPairsAPI.usd_name: "filtered_pairs",
}  # fmt: skip
_DOFS = {usd_physics.LimitAPI.usd_name: "limits", usd_physics.DriveAPI.usd_name: "drives"}
#: Properties that say the shape of a collider, and how its mesh is taken.
_SHAPE = ("shape", "is_geometry", "location", "rotation", "size", "radius", "height", "axis")
_APPROXIMATION = ("has_mesh_collision", "approximation", "other_approximation")
#: Properties of a joint that say where it is on its bodies.
_FRAMES = ("local_pos0", "local_rot0", "local_pos1", "local_rot1", "has_remembered_frames", "remembered_local_pos0",
           "remembered_local_rot0", "remembered_local_pos1", "remembered_local_rot1")  # fmt: skip
#: How often all edits are taken back, until none is left.
_PASSES = 3
_TRANSFORM = ("rotation_mode", *(name for name, _ in import_notes.TRANSFORM))


def revert(context: Context, wanted: Iterable[Key]) -> list[SourceChange]:
    """Take edits back. Returns those of them that are still there, because another edit holds them.

    Raises InputError where the scene cannot be compared with its source, and where it has no such edit; nothing is
    changed then.
    """
    keys = list(dict.fromkeys(wanted))
    with source_changes.comparison_of(context) as comparison:
        known = {change.key for change in source_changes.changes_of(comparison)}
        for key in keys:
            if key not in known:
                raise InputError(phrase("'{path}' has no such edit any more; compare again.", path=key.path))
        _take_back(context, comparison, keys)
    left = {change.key: change for change in source_changes.compare(context).changes}
    return [left[key] for key in keys if key in left]


def _take_back(context: Context, comparison: Compared, keys: list[Key]) -> None:
    """Take these edits of a comparison back."""
    # Names and parents last: the comparison finds things by the names that they have now.
    order: dict[str, int] = {"deleted": 0, "look": 1, "slots": 3, "place": 4, "new": 5, "path": 6}
    with _fresh_import(context, comparison) as fresh:
        work = _Reverter(comparison, fresh)
        for key in sorted(keys, key=lambda key: (order.get(key.kind, 2), key.path)):
            work.revert(key)
    scene_watch.note_edit(context.scene.name)
    context.view_layer.update()


def revert_all(context: Context) -> tuple[int, list[SourceChange]]:
    """Take all edits back. Returns (number of edits, those that are left). Raises InputError as `revert` does.

    An edit can hide or hold others, such as the type of a joint its frames: what shows up then is taken back, too.
    """
    number = 0
    for count in range(_PASSES + 1):
        with source_changes.comparison_of(context) as comparison:
            left = source_changes.changes_of(comparison)
            number = number or len(left)
            if not left or count == _PASSES:
                break
            _take_back(context, comparison, [change.key for change in left])
    source_changes.kept(context, left)
    return number, list(left)


# --------------------------------------------------------------------------- the source, imported anew


@contextmanager
def _fresh_import(context: Context, comparison: Compared) -> Iterator[Fresh]:
    """The source of a scene in a scene of its own, with the variants and options with which it was imported."""
    if isinstance(comparison, GltfComparison):
        yield comparison.fresh
        return
    scene: Any = context.scene
    memory = scene.usdphys.source
    before = {item.session_uid for item in bpy.data.materials}

    def run(fresh: Fresh) -> None:
        if isinstance(comparison, Comparison) and not is_robot(scene):
            options = usd_import.ImportOptions(variants=tuple(memory.variants.splitlines()))
            usd_import.import_usd(context, comparison.source, options)
        else:
            urdf_import.import_urdf(context, memory.filepath, robot_source.options_of(scene))
        fresh.objects = {remembered.path_of(obj): obj for obj in fresh.scene.objects}
        new = [item for item in bpy.data.materials if item.session_uid not in before]
        fresh.materials = {remembered.path_of(item): item for item in new}
        fresh.items = comparison.items_of(fresh.scene)

    with imported_anew(context, float(memory.meters), run) as fresh:
        yield fresh


# --------------------------------------------------------------------------- taking back


class _Reverter:
    """Gives things of the open scene what the fresh import has in their place."""

    def __init__(self, comparison: Compared, fresh: Fresh) -> None:
        self.comparison, self.fresh = comparison, fresh
        scene = self.scene = comparison.scene
        self.objects = {path: scene.objects[name] for name, path in comparison.sources.objects.items()}
        self.materials = {path: bpy.data.materials[name] for name, path in comparison.sources.materials.items()}
        self.items = comparison.items_of(scene)
        # What the fresh import refers to is what the scene has, where it has it.
        pairs: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
            (fresh.objects, self.objects), (fresh.materials, self.materials)
        )  # fmt: skip
        for new, old in pairs:
            for path in new.keys() & old.keys():
                new[path].user_remap(old[path])

    def revert(self, key: Key) -> None:
        reverters: dict[str, Callable[[Key], None]] = {
            "deleted": self.bring_back, "new": self.remove, "path": self.move_back, "place": self.place,
            "mesh": self.take_data, "slots": self.take_slots, "look": self.take_look,
            "properties": self.take_properties, "frame": self.take_frame,
        }  # fmt: skip
        reverters.get(key.kind, self.take_physics)(key)

    # ------------------------------------------------------------------ whole things

    def bring_back(self, key: Key) -> None:
        """Take a deleted object with those below it, a material, or an item of the scene."""
        if (item := self.fresh.items.get(key.path)) is not None:
            physics, own = self.scene.usdphys, item.path_from_id().rpartition(".")[2].partition("[")[0]
            _copy_all(item, getattr(physics, own).add())
            return
        if key.path in self.objects:
            mine: Any = self.objects[key.path].usdphys
            for part in mine.bl_rna.properties.keys():
                if part not in ("rna_type", "prim"):
                    copy_property(self.fresh.objects[key.path].usdphys, mine, part)
            return
        if key.path in self.fresh.materials and key.path not in self.materials:
            self.keep_material(self.fresh.materials[key.path])
            return
        for path, obj in self.fresh.objects.items():
            if not paths.is_at_or_below(path, key.path) or path in self.objects:
                continue
            above: Any = obj.parent
            collections = above.users_collection if above is not None else ()
            for collection in [one for one in collections if one in self.scene.collection.children_recursive] or [
                self.scene.collection
            ]:
                if obj.name not in collection.objects:
                    collection.objects.link(obj)
            self.keep(obj, path)
            self.objects[path] = obj
        # Objects below it had lost their parent, and joints on it their body.
        for path, obj in self.objects.items():
            twin: Any = self.fresh.objects.get(path)
            if twin is not None and twin is not obj and obj.parent is None and twin.parent in self.fresh.kept:
                obj.parent = twin.parent
                self.place(Key("place", path))
            joint: Any = obj.usdphys.joint if obj.usdphys.is_property_set("joint") else None
            for side in ("body0", "body1") if twin is not None and joint is not None and twin is not obj else ():
                body = getattr(twin.usdphys.joint, side)
                if getattr(joint, side) is None and body in self.fresh.kept:
                    setattr(joint, side, body)

    def keep(self, item: Any, path: str) -> None:
        """Let the open scene have something of the fresh import, under the name that it has in the source."""
        leaf = paths.name_of(path)
        # Names of Blender may hold what those of prims cannot, and have a number while another thing has the name.
        item.name = next((name for name in (item.name, copied_name(item.name)) if prim_name(name) == leaf), leaf)
        item.usdphys.prim.id_name = item.name
        self.fresh.kept.append(item)

    def remove(self, key: Key) -> None:
        """Remove what is new: an object; a collider or a joint on an object; an item of the scene."""
        placement = self.comparison.placements.get(key.path)
        if placement is not None and key.path not in self.objects:
            obj: Any = placement.obj
            for child in obj.children:
                world = child.matrix_world.copy()
                child.parent = None
                child.matrix_world = world
            bpy.data.objects.remove(obj)
            return
        prim = self.comparison.new.prims[key.path]
        physics = self.scene.usdphys
        for items in (physics.physics_scenes, physics.collision_groups):
            for number, item in enumerate(items):
                if item.name == prim.label or (not item.prim.path and item.name == prim.name):
                    items.remove(number)
                    return
        if prim.type_name == "Material":
            bpy.data.materials[prim.label].usdphys.property_unset("physics_material")
            return
        owner = self.objects.get(paths.parent_of(key.path)) or self.scene.objects[prim.label]
        if prim.get(usd_physics.Joint) is not None:
            path = self.comparison.sources.objects.get(owner.name, "")
            if path in self.fresh.objects:
                copy_property(self.fresh.objects[path].usdphys, owner.usdphys, "joint")
            else:
                owner.usdphys.property_unset("joint")
        elif (item := _collider(owner, key.path, is_own=False)) is not None:
            owner.usdphys.colliders.remove(list(owner.usdphys.colliders).index(item))

    def move_back(self, key: Key) -> None:
        """Give an object its old name and parent, or another thing its old name."""
        thing: Any = self.objects.get(key.path) or self.materials.get(key.path) or self.items.get(key.path)
        twin: Any = self.fresh.objects.get(key.path)
        if remembered.is_renamed(thing):
            name = remembered.memory_of(thing).id_name
            known = [*self.fresh.objects.values(), *self.fresh.materials.values()]
            other: Any = next((one for one in known if one.name == name and one is not thing), None)
            if other is not None and other not in self.fresh.kept:
                other.name = f"{name} "
            thing.name = name
        if twin is not None and twin.parent is not thing.parent:
            thing.parent, thing.parent_type = twin.parent, twin.parent_type
            self.place(key)

    def place(self, key: Key) -> None:
        obj, twin = self.objects[key.path], self.fresh.objects[key.path]
        for name in _TRANSFORM:
            setattr(obj, name, getattr(twin, name))

    # ------------------------------------------------------------------ geometry and materials

    def take_data(self, key: Key) -> None:
        obj, twin = self.objects[key.path], self.fresh.objects[key.path]
        known = [modifier.type for modifier in twin.modifiers]
        for modifier in list(obj.modifiers):
            if modifier.type not in known:
                obj.modifiers.remove(modifier)
        old: Any = obj.data
        if old is None or twin.data is None or import_notes.has_new_data(obj) is False:
            return
        slots = [slot.material for slot in obj.material_slots]
        new: Any = twin.data
        obj.data = new
        if hasattr(new, "materials") and len(new.materials) == len(slots):
            for slot, material in zip(obj.material_slots, slots, strict=True):
                slot.material = material
        if not old.users:
            name = old.name
            bpy.data.batch_remove([old])
            new.name = name

    def take_slots(self, key: Key) -> None:
        obj, twin = self.objects[key.path], self.fresh.objects[key.path]
        materials: Any = obj.data.materials if obj.data is not None else None
        if materials is None:
            return
        wanted = [(slot.material, slot.link) for slot in twin.material_slots]
        materials.clear()
        for material, _ in wanted:
            materials.append(material)
        for slot, (material, link) in zip(obj.material_slots, wanted, strict=True):
            slot.link, slot.material = link, material
            if material is not None and material in self.fresh.materials.values():
                self.keep_material(material)

    def keep_material(self, material: Any) -> None:
        path = next(path for path, one in self.fresh.materials.items() if one is material)
        if self.materials.get(path) is not material and material not in self.fresh.kept:
            self.keep(material, path)
            self.materials[path] = material

    def take_look(self, key: Key) -> None:
        """Put the material of the import in the place of an edited one, whose physics it gets."""
        old: Any = self.materials[key.path]
        new: Any = self.fresh.materials[key.path]
        for name in ("physics_material", "vendor"):
            if name in old.usdphys.bl_rna.properties:
                copy_property(old.usdphys, new.usdphys, name)
        new.use_fake_user = old.use_fake_user
        old.user_remap(new)
        name = old.name
        bpy.data.materials.remove(old)
        self.keep(new, key.path)
        new.name = name
        new.usdphys.prim.id_name = name
        self.materials[key.path] = new

    def take_properties(self, key: Key) -> None:
        obj, twin = self.objects[key.path], self.fresh.objects[key.path]
        for mine, theirs in ((obj, twin), (obj.data, twin.data)):
            if mine is None or theirs is None:
                continue
            for name in [name for name in mine.keys() if _is_simple(mine[name])]:
                del mine[name]
            for name in theirs.keys():
                if _is_simple(theirs[name]):
                    mine[name] = theirs[name]

    # ------------------------------------------------------------------ physics

    def take_frame(self, key: Key) -> None:
        if (homes := self._homes(key.path)) is None:
            return
        obj, twin = homes
        for name in _FRAMES:
            copy_property(twin.usdphys.joint, obj.usdphys.joint, name)
        if key.path in self.objects:
            self.place(key)

    def _homes(self, path: str) -> tuple[Any, Any] | None:
        """The object that holds the physics of a prim, in the scene and in the fresh import; None if it is gone."""
        for place in (path, paths.parent_of(path)):
            if place in self.objects and place in self.fresh.objects:
                return self.objects[place], self.fresh.objects[place]
        return None

    def take_physics(self, key: Key) -> None:
        """Take a value, a schema, a type, a purpose or a material of the physics."""
        name, _, attribute = key.name.partition(" ")
        if key.path in self.items and key.path in self.fresh.items:
            return self._take_item(key.path, name, attribute)
        if key.path in self.fresh.materials:
            return self._take_material(key.path, name, attribute)
        if (homes := self._homes(key.path)) is None:
            return None
        obj, twin = homes
        base, instance = schema.split_applied(name)
        prims = (self.comparison.old.prims.get(key.path), self.comparison.new.prims.get(key.path))
        is_joint = any(prim is not None and prim.get(usd_physics.Joint) is not None for prim in prims)
        own = obj.usdphys, twin.usdphys
        if key.kind == "material" or (key.kind in ("type", "purpose") and not is_joint):
            return self._take_collider(key, obj, twin)
        if key.kind == "type":
            for part in own[1].joint.bl_rna.properties.keys():
                copy_property(own[1].joint, own[0].joint, part)
        elif base in _PARTS and not self._is_of_item(key, base):
            self._take(*own, _PARTS[base], attribute)
        elif base in _DOFS:
            groups = [getattr(one.joint, _DOFS[base]) for one in own]
            self._take(groups[0], groups[1], instance, attribute)
        elif is_joint and base in schema.SCHEMAS and schema.SCHEMAS[base].family == "UsdPhysics":
            self._take_of_joint(*own, attribute)
        elif not _is_vendors(name) or self._is_of_item(key, base):
            self._take_collider(key, obj, twin)
        else:
            _take_rows(own[0], own[1], name, attribute)
            self._take_collider(key, obj, twin)

    @staticmethod
    def _take(mine: PropertyGroup, theirs: PropertyGroup, part: str, attribute: str) -> None:
        """Take one value of a part of a group, or the whole part."""
        if not attribute:
            copy_property(theirs, mine, part)
            return
        for name in _properties_of(getattr(mine, part), attribute):
            copy_property(getattr(theirs, part), getattr(mine, part), name)

    @staticmethod
    def _take_of_joint(mine: Any, theirs: Any, attribute: str) -> None:
        for name in _properties_of(mine.joint, attribute):
            copy_property(theirs.joint, mine.joint, name)
        kind = theirs.joint.type.lower()
        if hasattr(theirs.joint, kind) and attribute in getattr(theirs.joint, kind).bl_rna.properties:
            copy_property(getattr(theirs.joint, kind), getattr(mine.joint, kind), attribute)

    def _is_of_item(self, key: Key, base: str) -> bool:
        """True for a mass or filtered pairs of a collider that is an item of an object."""
        return key.path not in self.objects and base in _PARTS

    def _take_collider(self, key: Key, obj: Any, twin: Any) -> None:
        is_own = key.path in self.objects
        mine, theirs = (_collider(one, key.path, is_own=is_own) for one in (obj, twin))
        name, _, attribute = key.name.partition(" ")
        base = schema.split_applied(name)[0]
        if key.kind == "material":
            for owner, other in ((obj.usdphys, twin.usdphys), (mine, theirs)):
                for part in ("physics_material", "physics_material_path") if owner is not None and other else ():
                    if part in owner.bl_rna.properties:
                        copy_property(other, owner, part)
            return
        if base == usd_physics.CollisionAPI.usd_name and not attribute and (mine is None or theirs is None):
            if theirs is not None:
                _copy_all(theirs, obj.usdphys.colliders.add())
            elif mine is not None:
                obj.usdphys.colliders.remove(list(obj.usdphys.colliders).index(mine))
            return
        if mine is None or theirs is None:
            return
        if key.kind == "purpose":
            copy_property(theirs, mine, "purpose")
            obj.hide_render = twin.hide_render
        elif key.kind == "type" or _is_shape(base):
            for part in _SHAPE:
                copy_property(theirs, mine, part)
            if import_notes.has_new_shape(obj):
                self.take_data(key)
        elif base == usd_physics.MeshCollisionAPI.usd_name:
            for part in _APPROXIMATION:
                copy_property(theirs, mine, part)
        elif base in _PARTS:
            self._take(mine, theirs, _PARTS[base], attribute)
        elif _is_vendors(name):
            _take_rows(mine, theirs, name, attribute)
        else:
            for part in _properties_of(mine, attribute):
                copy_property(theirs, mine, part)

    def _take_item(self, path: str, name: str, attribute: str) -> None:
        """Take a value of a physics scene or a collision group."""
        mine, theirs = self.items[path], self.fresh.items[path]
        if attribute in ("includes", "excludes"):
            self._take_members(mine, theirs)
        elif _is_vendors(name):
            _take_rows(mine, theirs, name, attribute)
        else:
            for part in _properties_of(mine, attribute):
                copy_property(theirs, mine, part)

    def _take_members(self, mine: Any, theirs: Any) -> None:
        for part in ("other_includes", "other_excludes"):
            copy_property(theirs, mine, part)
        for path, obj in self.objects.items():
            twin = self.fresh.objects.get(path)
            if twin is None or twin is obj:
                continue
            owners: list[tuple[Any, Any]] = [(obj.usdphys, twin.usdphys)]
            owners += zip(obj.usdphys.colliders, twin.usdphys.colliders, strict=False)
            for own, other in owners:
                rows = own.collision_groups
                for number in reversed(range(len(rows))):
                    if rows[number].name == mine.name:
                        rows.remove(number)
                for row in other.collision_groups:
                    if row.name == theirs.name:
                        made = rows.add()
                        made.name, made.exclude = mine.name, row.exclude

    def _take_material(self, path: str, name: str, attribute: str) -> None:
        new: Any = self.fresh.materials[path]
        old: Any = self.materials.get(path)
        if old is None:
            self.keep(new, path)
            self.materials[path] = new
        elif _is_vendors(name):
            _take_rows(old.usdphys, new.usdphys, name, attribute)
        else:
            self._take(old.usdphys, new.usdphys, "physics_material", attribute)


def _copy_all(source: PropertyGroup, target: PropertyGroup) -> None:
    for name in source.bl_rna.properties.keys():
        if name != "rna_type":
            copy_property(source, target, name)


def _properties_of(group: PropertyGroup, attribute: str) -> list[str]:
    """The properties of a group that hold an attribute: a relationship may be a pointer, a name and a path."""
    known = group.bl_rna.properties
    return [name for name in (attribute, f"{attribute}_name", f"{attribute}_path") if name in known]


def _collider(obj: Any, path: str, *, is_own: bool) -> Any:
    """The collider of an object that a prim is: the one of its own geometry, or one below it; None without it."""
    for item in obj.usdphys.colliders:
        is_geometry = item.is_geometry or item.shape in ("MESH", "AUTO")
        given = item.name or f"{item.shape.title()}_collider"
        if is_geometry if is_own else given == paths.name_of(path):
            return item
    return None


def _take_rows(mine: Any, theirs: Any, applied: str, attribute: str) -> None:
    """Take the rows of a schema of a vendor, or those of one attribute of it."""
    from ..bridge import vendor_rows

    def is_meant(row: Any) -> bool:
        if row.applied != applied:
            return False
        known = vendor_rows.attribute_of(row)
        field = known.field if known is not None else row.name.rpartition(":")[2]
        return not attribute or field == attribute

    for number in reversed(range(len(mine.vendor))):
        if is_meant(mine.vendor[number]):
            mine.vendor.remove(number)
    for row in theirs.vendor:
        if is_meant(row):
            _copy_all(row, mine.vendor.add())


def _is_vendors(applied: str) -> bool:
    known = schema.SCHEMAS.get(schema.split_applied(applied)[0])
    return known is None or known.family not in schema.OWN_FAMILIES


def _is_shape(base: str) -> bool:
    known = schema.SCHEMAS.get(base)
    return known is not None and issubclass(known, usd_geom.Gprim)


def _is_simple(value: Any) -> bool:
    """True for a custom property that a file can hold; add-ons keep groups of values as others."""
    return isinstance(value, bool | int | float | str) or hasattr(value, "typecode")
