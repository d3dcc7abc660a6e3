# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that show the bodies of a preview: moved with them, and restored exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..bridge import authored_poses, reading
from ..bridge.identity.remembered import objects_by_name
from ..bridge.placements import Placement
from ..core import frames, paths
from ..core.errors import InputError
from ..core.validate import Issue
from .other_movers import OtherMovers, issues_of_muted
from .poses import PoseWriter

if TYPE_CHECKING:
    from ..simulation.world import Motion, World

#: Changes up to this are not shown: metres, and components of a unit quaternion.
_UNSEEN = 2e-5


class ShownBodies:
    """Objects that hold the poses of the bodies of a world, from the start until `restore` or `apply`.

    They are looked up by name every time, because a reference would not survive undo.
    """

    def __init__(self, world: World, scene: reading.SceneReading) -> None:
        """scene: of which the world was built. Raises InputError, before it changes an object, if nothing can move."""
        self._world, self._model = world, scene.model
        self.meters = scene.model.units.meters_per_unit
        sites = {path: scene.sites[path] for path in world.paths if path in scene.sites}
        shown = {path: str(site.obj.name) for path, site in sites.items() if is_own(site)}
        instances = self._movable_instances(scene, sites)
        shown |= instances
        self.issues = [_unshown(path, site) for path, site in sites.items() if path not in shown]
        #: Names of the objects by row of the world; "" for none.
        self.names = [shown.get(path, "") for path in world.paths]
        moves = world.switching | world.coasting.keys()
        by_itself = ~world.kinematic | np.array([path in moves for path in world.paths], bool)
        self._written = np.array([bool(name) for name in self.names], bool) & by_itself
        #: Paths of the bodies that animation and physics move in turn, and whose objects something moves.
        self.animated = frozenset(path for path in world.switching if scene.model.prims[path].is_animated)
        #: Rows of bodies that are shown by their collection instance, and (n, 4, 4) from those bodies to instancers.
        self._instanced = np.array([row for row, path in enumerate(world.paths) if path in instances], int)
        if not self._written.any():
            raise _nothing_moves(next((site for site in sites.values() if not is_own(site)), None))
        moving = [name for name, written in zip(self.names, self._written, strict=True) if written]
        known = objects_by_name()
        #: Session-wide identifiers of the moving objects, by which a renamed one is found again.
        self._uids = {name: int(known[name].session_uid) for name in moving}
        self._to_instancer = self._instancer_offsets([instances[world.paths[row]] for row in self._instanced])
        self._writer = PoseWriter(moving)
        path_of = {name: path for path, name in shown.items()}
        self._others = OtherMovers(moving, path_of)
        for name in moving:
            authored_poses.freed(known[name])
        self.issues += issues_of_muted(moving, path_of)
        self._was_awake = np.ones(len(self.names), bool)
        self._poses = (world.positions.copy(), world.rotations.copy())
        #: True while the session itself changes the objects.
        self.is_writing = False

    @property
    def moved_by_others(self) -> list[Issue]:
        """Which objects are not where they were written."""
        return self._others.issues

    @property
    def uids(self) -> frozenset[int]:
        """Session-wide identifiers of the moving objects."""
        return frozenset(self._uids.values())

    @property
    def authored(self) -> dict[str, authored_poses.Transform]:
        """The authored transforms of the moving objects, by name."""
        transforms = {obj.name: authored_poses.stored(obj) for obj in self._still_there()}
        return {name: before for name, before in transforms.items() if before is not None}

    @property
    def moving(self) -> list[str]:
        """Names of the moving objects, in the order of `local_poses`."""
        return list(self._writer.names)

    def body_at(self, name: str) -> str:
        """Path of the body of an object or of its nearest ancestor with one; empty if there is none."""
        obj = bpy.data.objects.get(name)
        while obj is not None:
            if obj.name in self.names:
                return str(self._world.paths[self.names.index(obj.name)])
            obj = obj.parent
        return ""

    def _movable_instances(self, scene: reading.SceneReading, sites: dict[str, Placement]) -> dict[str, str]:
        """Bodies that are shown by moving the collection instance around them: path -> name of the instancer.

        Only instancers of the scene that show one dynamic body and no other collider: all else would move along.
        """
        held: dict[str, set[str]] = defaultdict(set)
        # The prim of a collider is that of an object, or of its mesh or shape below.
        for path in dict.fromkeys((*sites, *self._model.colliders)):
            own = path if path in scene.sites else paths.parent_of(path)
            site = scene.sites.get(own)
            if site is not None and site.instance is not None:
                body = self._model.body_of(path)
                held[site.instance[0]].add(own if body is None else body.path)
        known = objects_by_name()
        instances = {}
        for name, owners in held.items():
            (path,) = owners if len(owners) == 1 else ("",)
            obj = known.get(name)
            if path not in sites or obj is None or obj.library is not None or len(obj.children):
                continue
            site = sites[path]
            is_direct = site.instance is not None and not site.instance[1]
            if is_direct and site.obj.library is None and not self._world.kinematic[self._world.index(path)]:
                instances[path] = name
        return instances

    # ------------------------------------------------------------------ showing

    def show(self, context: bpy.types.Context) -> None:
        """Move the objects to their bodies, where that can be seen."""
        world = self._world
        fell_asleep = self._was_awake & ~world.awake
        self._was_awake = world.awake.copy()
        # Skip invisible jitter, which costs a depsgraph evaluation; write bodies that fall asleep at their final pose.
        moved = np.abs(world.positions - self._poses[0]).max(axis=1) > _UNSEEN
        moved |= np.abs(world.rotations - self._poses[1]).max(axis=1) > _UNSEEN
        self._show(context, (world.awake & moved) | fell_asleep)

    def show_all(self, context: bpy.types.Context) -> None:
        """Move all objects to their bodies: something else may have moved them."""
        self._was_awake[:] = True
        self._show(context, np.ones(len(self.names), bool))

    def animated_places(self, context: bpy.types.Context, names: Iterable[str]) -> dict[str, Any]:
        """World matrices (4, 4), Blender units, that the animation now has for objects that show bodies."""
        wanted = frozenset(names)
        chosen = [obj for obj in self._still_there() if obj.name in wanted]
        self.is_writing = True
        shown = authored_poses.put(chosen)
        try:
            for obj in chosen:
                # Else Blender keeps the authored values, not those of the curves at this frame.
                obj.update_tag(refresh={"OBJECT", "TIME"})
            context.view_layer.update()
            graph = context.evaluated_depsgraph_get()
            return {obj.name: np.array(obj.evaluated_get(graph).matrix_world) for obj in chosen}
        finally:
            authored_poses.put_back(shown)
            self.is_writing = False

    def forget_poses(self) -> None:
        """Let the next `show` move every awake body, wherever its object is."""
        for poses in self._poses:
            poses[:] = np.inf

    def _show(self, context: bpy.types.Context, changed: Any) -> None:
        world = self._world
        self.is_writing = True
        try:
            for shown, now in zip(self._poses, (world.positions, world.rotations), strict=True):
                shown[changed] = now[changed]
            rows = self._written
            if self._writer.are_plain and not len(self._instanced):
                gone = self._writer.write_plain(
                    world.positions[rows] / self.meters, world.rotations[rows], changed[rows]
                )
            else:
                gone = self._writer.write(self._scaled_matrices()[rows], changed[rows])
            context.view_layer.update()
            if changed.any() and self._others.is_due():
                self._others.look(context.evaluated_depsgraph_get(), self._writer.names, self._scaled_matrices()[rows])
        finally:
            self.is_writing = False
        if gone:
            self._follow_renames()
            for name in gone:
                self._uids.pop(name, None)

    def _follow_renames(self) -> None:
        """Find moving objects again whose names have changed."""
        known = objects_by_name()
        if all(name in known and known[name].session_uid == uid for name, uid in self._uids.items()):
            return
        by_uid = {int(obj.session_uid): name for name, obj in known.items()}
        renamed = {name: by_uid[uid] for name, uid in self._uids.items() if by_uid.get(uid, name) != name}
        # All at once: two objects may have exchanged their names.
        self._uids = {renamed.get(name, name): uid for name, uid in self._uids.items()}
        self.names = [renamed.get(name, name) for name in self.names]
        self._writer.rename(renamed)

    # ------------------------------------------------------------------ poses

    def local_poses(self, worlds: Any = None) -> tuple[Any, Any]:
        """Locations (n, 3), Blender units, and quaternions (n, 4), w first, of the moving objects.

        worlds: (n, 4, 4), m, of all bodies of the world; by default as they are now.
        """
        matrices = self._scaled_matrices(worlds)[self._written]
        return self._writer.local(matrices, np.arange(len(matrices)))

    def _scaled_matrices(self, worlds: Any = None) -> Any:
        """World matrices (n, 4, 4) of the objects that show the bodies, Blender units. worlds: see `local_poses`."""
        matrices = self._world.matrices() if worlds is None else worlds.copy()
        if self.meters != 1.0:
            matrices[:, :3, 3] /= self.meters
        matrices[self._instanced] = matrices[self._instanced] @ self._to_instancer
        return matrices

    def _instancer_offsets(self, names: list[str]) -> Any:
        """Matrices (n, 4, 4) from the authored frames of the instanced bodies to those of their instancers."""
        known = objects_by_name()
        offsets = np.empty((len(names), 4, 4))
        for row, (body, name) in enumerate(zip(self._instanced, names, strict=True)):
            authored = self._model.prims[self._world.paths[body]].world.copy()
            authored[:3, 3] /= self.meters
            offsets[row] = np.linalg.solve(authored, np.array(known[name].matrix_world))
        return offsets

    def carriers(self) -> dict[str, Any]:
        """Where the parents of bodies are that move by themselves: see `PoseWriter.carried`."""
        return self._writer.carried

    def carried(self, motion: Motion, carriers: Mapping[str, Any]) -> Motion:
        """A motion in which bodies are where their parents carry them that are, in place of now, at `carriers`."""
        positions, rotations = motion.positions.copy(), motion.rotations.copy()
        linear, angular = motion.linear.copy(), motion.angular.copy()
        now = self.carriers()
        rows = {name: row for row, name in enumerate(self.names) if name}
        known = objects_by_name() if now else {}
        for name, row in rows.items():
            # Of the nearest body above that a parent carries.
            obj: Any = known.get(name)
            while obj is not None and obj.name not in now:
                obj = obj.parent
            before = carriers.get(obj.name) if obj is not None else None
            if before is None or not self._written[row]:
                continue
            matrix = np.eye(4)
            matrix[:3, :3] = frames.matrix_of(rotations[row])
            matrix[:3, 3] = positions[row] / self.meters
            place = before @ np.linalg.solve(now[obj.name], matrix)
            positions[row] = place[:3, 3] * self.meters
            turned = frames.rotation_of(place)
            rotations[row] = frames.quaternion_of(turned)
            # Velocities are along the axes of the body.
            back = turned @ matrix[:3, :3].T
            linear[row], angular[row] = back @ linear[row], back @ angular[row]
        return motion._replace(positions=positions, rotations=rotations, linear=linear, angular=angular)

    # ------------------------------------------------------------------ ending

    def restore(self) -> None:
        """Restore the authored transform of every object exactly."""
        for obj in self._still_there():
            authored_poses.restore(obj)

    def apply(self, context: bpy.types.Context) -> None:
        """Keep the current poses as the authored ones."""
        self._follow_renames()
        self._show(context, np.ones(len(self.names), bool))
        for obj in self._still_there():
            authored_poses.keep(obj)

    def _still_there(self) -> list[Any]:
        """The moving objects that were not deleted."""
        self._follow_renames()
        known = objects_by_name()
        return [known[name] for name in self._uids if name in known]


def is_own(site: Placement) -> bool:
    """True for a local object that is not in a collection instance."""
    return site.instance is None and site.obj.library is None


def _unshown(path: str, site: Placement) -> Issue:
    if site.instance is None:
        why, fix = "is linked", "Make a library override of it (Object > Library Override > Make), or make it local."
    else:
        why = "is in a collection instance that holds more than one body"
        fix = "Make the instance itself dynamic, or real (Object > Apply > Make Instances Real)."
    return Issue(
        "PreviewUnshown", "warning", path, site.obj.name,
        f"'{site.obj.name}' {why}: it is simulated, but not shown moving.",
        fix,
    )  # fmt: skip


def _nothing_moves(hidden: Placement | None) -> InputError:
    """hidden: a body that is simulated, but cannot be shown."""
    if hidden is None:
        return InputError("No rigid body can move; select a visible object and press Dynamic.")
    if hidden.instance is None:
        return InputError(
            f"All rigid bodies that can move, such as '{hidden.obj.name}', are linked, so that a preview cannot move "
            "them; make library overrides of them (Object > Library Override > Make), or make them local."
        )
    return InputError(
        f"All rigid bodies that can move, such as '{hidden.obj.name}', are inside of collection instances with more "
        "than one body, where a preview cannot move them; make the instance itself dynamic, or make it real (Object > "
        "Apply > Make Instances Real)."
    )
