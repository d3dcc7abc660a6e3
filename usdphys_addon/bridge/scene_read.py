# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender scene -> PhysicsModel. Reads properties and evaluated objects; changes nothing.

Paths are those that Blender's USD exporter is expected to give; `exchange.usd_export` corrects them against the stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any

import bpy
from bpy.types import Depsgraph, LayerCollection, Object

from ..core import frames
from ..core.coasting import set_kept
from ..core.model import Prim
from ..core.prototypes import SharedSchemas
from ..core.schemas import usd_physics
from ..core.steps import Steps, finished
from ..system.files import ROBOT_SUFFIXES
from . import animated, cable_read, group_read, joint_read, material_read, props, vendor_rows
from .authored_poses import moved_by_bullet
from .collider_read import ColliderReader
from .collider_shapes import ColliderShapes
from .copied import Copies
from .identity import remembered
from .identity.names import SourcePaths, prim_name
from .placements import Placement, ScenePlacements
from .reading import DEFAULT_ROOT, ReadingContext, SceneReading
from .roles import is_animated, is_body, is_moved
from .seen_read import seen_of
from .stored import stamps


def read_scene(
    depsgraph: Depsgraph,
    *,
    root: str = DEFAULT_ROOT,
    keep: Callable[[Object], bool] | None = None,
    meters: float | None = None,
    sources: SourcePaths | None = None,
    hidden_among: Depsgraph | None = None,
) -> SceneReading:
    """The physics of all objects that a depsgraph shows, or of those that `keep` accepts.

    meters: length of a Blender unit; by default that of the scene. sources: give imported things their paths in the
    source of the scene. hidden_among: see `ScenePlacements.gather`.
    """
    return finished(
        read_steps(depsgraph, root=root, keep=keep, meters=meters, sources=sources, hidden_among=hidden_among)
    )


def read_steps(
    depsgraph: Depsgraph,
    *,
    root: str = DEFAULT_ROOT,
    keep: Callable[[Object], bool] | None = None,
    meters: float | None = None,
    sources: SourcePaths | None = None,
    hidden_among: Depsgraph | None = None,
) -> Steps[SceneReading]:
    """`read_scene` in steps. They hold evaluated objects: no step may follow a change of the scene."""
    scene: Any = depsgraph.scene.original
    placements = ScenePlacements(root.rstrip("/"), keep, sources)
    placements.gather(depsgraph, hidden_among)
    context = ReadingContext(lambda: scene, placements, root, meters)
    reader = SceneReader(context, ColliderReader(context, ColliderShapes()), keep=keep)
    most = 2 * len(context.placements.all) + 10
    for number, _ in enumerate(reader.steps()):
        yield min(number / most, 1.0)
    if not reader.has_physics():
        material_read.read_imported_materials(context)
    result = context.result
    context.animated.resolve(result.model.prims.values())
    result.animated = animated.AnimatedValues(context.animated.sources, context.meters)
    result.model.animated = result.animated.samples()
    result.model.seen = partial(seen_of, context.placements.all, context.meters, frozenset(result.model.bodies))
    result.placements = context.placements.all
    result.paths_are_certain = context.placements.are_certain and not context.scene.usdphys.source.filepath
    return result


class SceneReader:
    """Reads a scene in steps.

    hidden_steps: looks, in steps, for physics of objects that are not shown, and passes each to the given function.
    """

    def __init__(
        self, context: ReadingContext, colliders: ColliderReader, *,
        keep: Callable[[Object], bool] | None = None,
        hidden_steps: Callable[[Callable[[Any], None]], Iterator[None]] | None = None,
    ) -> None:  # fmt: skip
        self.context, self.colliders, self.keep = context, colliders, keep
        self.hidden_steps = hidden_steps
        self.physical: list[Placement] = []
        self.shared = SharedSchemas()

    def has_physics(self) -> bool:
        """True if an object or the scene has physics; valid after the first steps."""
        physics = self.context.scene.usdphys
        return bool(self.physical or len(physics.physics_scenes) or len(physics.collision_groups))

    def steps(self) -> Iterator[None]:
        """Read in steps. Yields after each piece of work, when no reference to Blender data is held here."""
        copies = Copies(self.context)
        self.watch_animation()
        for placement in self.context.placements.all:
            if placement.touched and self.is_physical(placement, copies):
                self.physical.append(placement)
            yield
        self.context.result.object_paths.update(placement.path for placement in self.context.placements.all)
        self.context.taken.update(self.context.result.object_paths)
        if not self.has_physics():
            material_read.read_other_materials(self.context)
            yield from self.search_hidden()
            return
        self.context.taken.update(placement.geometry for placement in self.physical)
        yield
        self.read_physics_scenes()
        yield
        yield from self.search_hidden()
        for placement in self.physical:
            if placement.group is None or not placement.group.path:
                yield from self.colliders.heavy_steps(placement)
            self.read_or_copy(placement, copies)
            yield
        joint_read.add_joint_targets(self.context)
        yield
        group_read.read_groups(self.context)
        yield
        material_read.read_other_materials(self.context)
        self.report_newer()
        self.report_bullet()
        yield

    def watch_animation(self) -> None:
        """Have the values noted that are animated, if any are."""
        objects = (placement.obj for placement in self.context.placements.all if placement.touched)
        groups = animated.AnimatedGroups((self.context.scene, *objects, *bpy.data.materials))
        if groups.paths:
            self.context.animated, self.context.properties.note = groups, groups.note

    def report_newer(self) -> None:
        """Report data-blocks that a newer version of the add-on has saved: this one may not know all of their data."""
        objects: list[Any] = [it.obj for it in self.context.placements.all if stamps.STAMP in it.touched]
        owners: list[Any] = [self.context.scene, *objects, *bpy.data.materials]
        newer = {owner.name: version for owner in owners if stamps.is_newer(version := stamps.stamp_of(owner))}
        if newer:
            name, fix = next(iter(newer)), f"Update the add-on to {stamps.newest(newer.values())}."
            self.context.issue("NewerVersion", "warning", "", name, stamps.newer_message(newer), fix)

    def report_bullet(self) -> None:
        """Report bodies that Blender's own rigid body world moves as well."""
        moved = moved_by_bullet(self.context.scene) if self.physical else set()
        for placement in self.physical if moved else ():
            obj = placement.obj
            if obj.name_full in moved and is_body(obj) and is_moved(obj):
                self.context.issue(
                    "BlenderSimulatesToo", "warning", placement.path, obj.name,
                    f"'{obj.name}' is in Blender's rigid body world, too, which moves it in the timeline, in renders "
                    "and in exports with animation; the preview and bakes switch that off for it.",
                    "Take it out of Blender's rigid body world.",
                )  # fmt: skip

    def is_physical(self, placement: Placement, copies: Copies) -> bool:
        """True if an object has physics. Sets the group of the placement, and the path of its geometry."""
        group = placement.group = copies.group_of(placement, _look)
        if group is None:
            is_physical, placement.geometry = _look(placement)
            return is_physical
        placement.geometry = placement.path + group.geometry if group.geometry else ""
        return group.is_physical

    def read_or_copy(self, placement: Placement, copies: Copies) -> None:
        """Read an object with its colliders, or copy what was read of one that differs only in its place."""
        group = placement.group
        if group is not None and copies.add(placement, group):
            return
        prims, issues = self.context.model.prims, self.context.result.issues
        before = len(prims), len(issues)
        self.colliders.read(placement, self.read_object(placement))
        self.context.animated.resolve(chain(
            islice(reversed(prims.values()), len(prims) - before[0]), filter(None, [prims.get(placement.path)])
        ))  # fmt: skip
        for prim in islice(reversed(prims.values()), len(prims) - before[0]):
            self.shared.share(prim)
        if group is not None and not group.path and len(issues) == before[1]:
            copies.learn(placement, group, len(prims) - before[0])

    def search_hidden(self) -> Iterator[None]:
        # Not stored in the constructor: a reader that holds its own bound method is a cycle, which would keep the model
        # alive until a garbage collection.
        return (self.hidden_steps or self.find_hidden)(self.report_hidden)

    def find_hidden(self, report: Callable[[Any], None]) -> Iterator[None]:
        for obj in dict.fromkeys(filter(props.is_physical, self.context.placements.unplaced)):
            self.report_hidden_in_renders(obj)
        self.report_unseen()
        plain = [placement for placement in self.context.placements.all if placement.instance is None]
        objects = self.context.scene.objects
        if len(plain) == len(objects):
            return
        placed = {placement.obj.name_full for placement in plain}
        for obj in objects:
            if obj.name_full not in placed and (self.keep is None or self.keep(obj)) and props.is_physical(obj):
                report(obj)
        yield

    def report_hidden(self, obj: Object) -> None:
        """Report physics that is left out because its object is hidden."""
        if self.context.hidden_path(obj):
            self.context.issue(
                "NotExported", "warning", "", obj.name, f"'{obj.name}' is hidden, so it is written as it was imported.",
                f"Show '{obj.name}' to write its edits.",
            )  # fmt: skip
            return
        if obj.hide_render and obj.visible_get():
            self.report_hidden_in_renders(obj)
            return
        self.context.issue(
            "NotExported", "warning", "", obj.name, f"'{obj.name}' is hidden, so its physics is left out.",
            f"Show '{obj.name}', or remove its physics.",
        )  # fmt: skip

    def report_unseen(self) -> None:
        """Report physics in collections whose eye is closed: Blender evaluates and exports it, and does not show it."""
        layer: Any = self.context.scene.view_layers.get(self.context.placements.view_layer)
        if layer is None or not _has_closed_eye(layer.layer_collection):
            return
        for placement in self.context.placements.all:
            obj = placement.obj
            if placement.instance is None and props.is_physical(obj) and not obj.visible_get(view_layer=layer):
                self.context.issue(
                    "NotShown", "info", "", obj.name,
                    f"'{obj.name}' is in a collection that is hidden by its eye: it is simulated and exported all the "
                    "same.",
                    "Show the collection, or exclude it from the view layer.",
                )  # fmt: skip

    def report_hidden_in_renders(self, obj: Object) -> None:
        """Report physics that only an export with the settings for renders leaves out."""
        self.context.issue(
            "NotExported", "warning", "", obj.name,
            f"'{obj.name}' is hidden in renders, so an export with the settings for renders leaves it out.",
            "Choose Viewport in Use Settings For, or File > Export > USD Physics.",
        )  # fmt: skip

    def read_physics_scenes(self) -> None:
        for item in self.context.scene.usdphys.physics_scenes:
            path = self.context.made_path(item.name or "PhysicsScene", "physics scene", item=item)
            self.context.scene_paths.setdefault(item.name, path)
            prim = self.context.model.add(Prim(path, "PhysicsScene", is_xformable=False, label=item.name))
            prim.add(self.context.properties.read(item, usd_physics.PhysicsScene))
            vendor_rows.read_vendor(self.context, item, prim, "scene")
        gravity = animated.gravity_of(self.context.scene, self.context.meters)
        # A USD file that had no physics scene is written back without one, unless Blender's scene has a gravity of its
        # own. The files of robots cannot have one, so a scene that they were imported into gives its own.
        is_edited = gravity.gravity_magnitude is not None
        source = str(self.context.scene.usdphys.source.filepath).lower()
        if not self.context.scene_paths and (is_edited or not source or source.endswith(ROBOT_SUFFIXES)):
            path = self.context.made_path("PhysicsScene", "physics scene")
            self.context.model.add(Prim(path, "PhysicsScene", is_xformable=False)).add(gravity)
            self.context.animated.note_gravity(self.context.scene, gravity)
        self.context.animated.resolve(self.context.model.prims.values())

    def read_object(self, placement: Placement) -> frames.Matrix:
        """Read all but the colliders of an object. Returns its world matrix (4, 4), metres."""
        obj, physics, touched = placement.obj, placement.physics, placement.touched
        label = placement.chain[-1]
        self.context.result.sites[placement.path] = placement
        self.check_name(placement)
        world = self.context.metric(placement.matrix)
        if "joint" in touched and physics.joint.is_applied:
            joint_read.read_joint(self.context, placement, world)
        if "vendor" in touched and (type_name := vendor_rows.typed_schema(physics)):
            joint_read.read_typed(self.context, placement, type_name)
        if "cable" in touched and physics.cable.is_applied:
            cable_read.read_cable(self.context, placement, world)
        prim = Prim(placement.path, "Xform", world, label=label)
        # Only a changed transform can animate a body: its own, or that of something above it.
        prim.is_animated = is_animated(obj)
        if placement.parent is not None:
            prim.is_animated |= any(is_animated(above.obj) for above in placement.ancestors())
            prim.sheared_local = _sheared_local(placement)
        if "prim" in touched:
            prim.extras.update(remembered.extras_of(physics.prim.extras))
        self._read_body(placement, prim)
        has_colliders = "colliders" in touched and len(physics.colliders) > 0
        if not has_colliders:
            # Prims below inherit the binding. Colliders of the object itself bind it each.
            if "physics_material" in touched and physics.physics_material is not None:
                prim.physics_binding = material_read.material_path(self.context, physics.physics_material)
            elif "physics_material_path" in touched and physics.physics_material_path:
                prim.physics_binding = self.context.root + physics.physics_material_path
        existing = self.context.model.prims.get(prim.path)
        if not prim.schemas and not prim.extras:
            if has_colliders and prim.sheared_local is not None:
                self.context.model.add(prim)
        elif existing is None:
            self.context.model.add(prim)
        else:
            existing.schemas.update(prim.schemas)
            existing.extras.update(prim.extras)
        return world

    def _read_body(self, placement: Placement, prim: Prim) -> None:
        """Add the schemas of a body: itself, articulation root, mass, filtered pairs and those of vendors."""
        physics, touched = placement.physics, placement.touched
        group = physics.rigid_body if "rigid_body" in touched else None
        if group is not None and group.is_applied:
            keys = group.keys()
            body = self.context.properties.read(group, usd_physics.RigidBodyAPI, keys=keys)
            if "simulation_owner" in keys:
                body.simulation_owner = self.context.owner(group.simulation_owner, prim.path, prim.label)
            prim.add(body)
            if "keeps_velocity" in keys and group.keeps_velocity:
                set_kept(prim)
        if "articulation_root" in touched and physics.articulation_root.is_applied:
            prim.add(usd_physics.ArticulationRootAPI())
        group_read.read_mass_and_filters(self.context, physics, touched, prim, placement)
        if "vendor" in touched:
            vendor_rows.read_vendor(self.context, physics, prim, "body", "articulation")

    def check_name(self, placement: Placement) -> None:
        """Report a child with the name of its parent's mesh: Blender writes both to one prim."""
        parent = placement.parent
        if parent is not None and geometry_path(parent) == placement.path:
            name, other = placement.obj.name, parent.obj.name
            self.context.issue(
                "NameClash", "error", placement.path, name,
                f"The object '{name}' has the name of the mesh of its parent '{other}': both would be one prim.",
                f"Rename the object '{name}', or the mesh of '{other}'.",
            )  # fmt: skip


def _sheared_local(placement: Placement) -> frames.Matrix | None:
    """Transform (4, 4) relative to the parent if it is sheared, so that location, rotation and scale cannot hold it."""
    obj = placement.obj
    if placement.parent is None or obj.parent is None or obj.matrix_parent_inverse.is_identity:
        return None
    return frames.sheared_below(placement.parent.matrix, placement.matrix)


def _look(placement: Placement) -> tuple[bool, str]:
    """(True if an object has physics, expected path of its geometry)."""
    is_physical = props.holds_physics(placement.physics, placement.touched)
    return is_physical, geometry_path(placement) if is_physical else ""


def geometry_path(placement: Placement) -> str:
    """Expected path of the geometry of an object; empty if it has none."""
    data: Any = placement.obj.data
    if data is not None and "prim" in placement.touched and remembered.is_geometry(placement.obj):
        return placement.path
    return "" if data is None else f"{placement.path}/{prim_name(data.name)}"


def _has_closed_eye(collection: LayerCollection) -> bool:
    """True if the eye of a collection of a view layer, or of one below it, is closed."""
    return any(not one.exclude and (one.hide_viewport or _has_closed_eye(one)) for one in collection.children)
