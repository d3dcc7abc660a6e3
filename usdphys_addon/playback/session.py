# SPDX-License-Identifier: GPL-3.0-or-later
"""One preview session: simulate the scene, show it on the objects, and restore them exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ..bridge import joint_frames, reading, scene_read
from ..bridge.naming import objects_by_name
from ..bridge.placements import Placement
from ..core import clock, frames, schema
from ..core.errors import InputError, MissingDependencyError, UsdPhysError
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..core.steps import Steps, finished, part
from ..core.validate import Issue
from ..core.vendors import is_vendor
from ..core.words import phrase
from ..simulation import load_history
from ..simulation.vendor_settings import is_simulated
from .poses import PoseWriter, Transform, applied, freed, restored, saved

if TYPE_CHECKING:
    from ..core.difference import Difference
    from ..simulation.world import Motion, World

#: Largest number of steps in one redraw, so that a slow scene runs slower instead of hanging.
CATCH_UP = 4
#: Seconds that the steps of one redraw may take together, but for the last of them.
CATCH_UP_SECONDS = 0.2
#: Milliseconds of a time step from which playing ends.
SLOWEST = 1000.0
#: Seconds to simulate per redraw if the preview runs as fast as it can.
FAST_BUDGET = 0.03
#: Changes up to this are not shown: metres, and components of a unit quaternion.
_UNSEEN = 2e-5
#: Part of the time to start a session that goes into reading the scene.
_READ = 0.4


class UnstableError(UsdPhysError):
    """The simulation has reached NaN or infinity; the authored transforms were restored."""


class SlowStepError(UsdPhysError):
    """A time step took so long that Blender would seem to hang."""


class Break(NamedTuple):
    """A broken joint, Blender units: its place (3,) on its first body, places of its bodies, size of its longer arm."""

    place: Any
    bodies: list[Any]
    size: float


class PreviewSession:
    """A simulated world and the objects that show it.

    The objects hold the simulated poses until `stop` or `apply`. They are looked up by name every time, because a
    reference would not survive undo.
    """

    def __init__(self, context: bpy.types.Context, *, frequency: float = 0.0) -> None:
        """frequency: time steps per second, Hz; 0 for that of the scene.

        Raises MissingDependencyError if the solver is missing, InputError if nothing can move.
        """
        finished(self._start(context, frequency))

    @classmethod
    def steps(cls, context: bpy.types.Context, *, frequency: float = 0.0) -> Steps[PreviewSession]:
        """Start a session in steps. The last one alone changes the scene.

        No step may follow a change of the scene: the steps hold evaluated objects.
        """
        session = cls.__new__(cls)
        yield from session._start(context, frequency)
        return session

    def _start(self, context: bpy.types.Context, frequency: float) -> Steps[None]:
        scene: Any = context.scene
        self.scene_name = str(scene.name)
        self._frequency = frequency
        #: Seconds to show in place of the time of the world; None for that.
        self.time_shown: float | None = None
        time_step = 1.0 / (frequency or scene.usdphys.preview.frequency)
        reading = yield from part(scene_read.read_steps(context.evaluated_depsgraph_get()), 0.0, _READ)
        for prim in reading.model.prims.values():
            if prim.mesh is not None:
                # The loader keeps it: from here on no evaluated object is needed.
                prim.mesh()
                yield _READ
        yield from part(self._begin(context, reading, time_step), _READ, 1.0)

    def _begin(
        self, context: bpy.types.Context, reading: reading.SceneReading, time_step: float,
        before: World | None = None, old_paths: Mapping[str, str] | None = None, motion: Motion | None = None,
    ) -> Steps[None]:  # fmt: skip
        """Build the world from a reading of the authored scene, and let the objects follow it.

        before: a world whose bodies keep their current states, or those of `motion`. old_paths: of the bodies that have
        another path in it, that path. time_step: s.
        """
        world_type = _world_type()
        settings = context.scene.usdphys.preview  # type: ignore[union-attr]
        self.model: PhysicsModel = reading.model
        self.meters = self.model.units.meters_per_unit
        start = self.model if before is None else before.moved_copy(self.model, old_paths, motion)
        self.world = yield from world_type.steps(
            start, time_step=time_step, substeps=settings.substeps, quality=settings.quality
        )
        self.issues: list[Issue] = [issue for issue in reading.issues if issue.severity != "info"]
        moving = self._find_shown(reading)
        known = objects_by_name()
        self.authored: dict[str, Transform] = {name: saved(known[name]) for name in moving}
        #: Session-wide identifiers of the moving objects, by which a renamed one is found again.
        self._uids = {name: int(known[name].session_uid) for name in moving}
        self._kinematic_places: dict[str, Any] = {}
        #: Goals of kinematic bodies: position (3,), m, quaternion (4,), and the steps left to reach them.
        self._ways: dict[str, tuple[Any, Any, int]] = {}
        self._frame = float(context.scene.frame_current_final)  # type: ignore[union-attr]
        self._kinematic = [
            (path, name) for path, name, held in zip(self.world.paths, self.names, self.world.kinematic, strict=True)
            if held and name
        ]  # fmt: skip
        self._writer = PoseWriter(moving)
        for name in moving:
            freed(known[name])
        self._was_awake = np.ones(len(self.names), bool)
        self._shown = (self.world.positions.copy(), self.world.rotations.copy())
        if before is not None:
            self.world.frame = before.frame
            # The objects show the authored poses now, so all of them must be written.
            for poses in self._shown:
                poses[:] = np.inf
        self._history = load_history.LoadHistory(self.world)
        #: Paths of the simulated joints by the names of their objects.
        self._joint_names = {self.model.prims[path].label: path for path in self.world.joints}
        self._edited = False
        self._is_writing = False
        self._debt = 0.0
        self._counted, self._contacts = 0.0, 0
        self._unseen_before = self._unseen()
        self._time = clock.now()
        self.is_playing = False
        self._is_restarted = before is not None
        self.real_time_factor = 0.0
        self._mark(True)

    def _find_shown(self, reading: reading.SceneReading) -> list[str]:
        """Find the objects that show the bodies of the world. Returns the names of those that the preview moves.

        Raises InputError if there is none.
        """
        simulated = set(self.world.paths)
        sites = {path: site for path, site in reading.sites.items() if path in simulated}
        shown = {path: str(site.obj.name) for path, site in sites.items() if _is_own(site)}
        instances = self._movable_instances(reading, sites)
        shown |= instances
        self._say_unshown({path: site for path, site in sites.items() if path not in shown})
        self.names = [shown.get(path, "") for path in self.world.paths]
        self._written = np.array([bool(name) for name in self.names], bool) & ~self.world.kinematic
        #: Rows of bodies that are shown by their collection instance, and (n, 4, 4) from those bodies to instancers.
        self._instanced = np.array([row for row, path in enumerate(self.world.paths) if path in instances], int)
        if not self._written.any():
            hidden = next((path for path in self.world.paths if path in sites and not _is_own(sites[path])), "")
            if hidden:
                raise InputError(
                    f"All rigid bodies that can move, such as '{sites[hidden].obj.name}', are linked, or inside of "
                    "collection instances with more than one body, where a preview cannot move them; make the instance "
                    "itself dynamic, or make it real (Object > Apply > Make Instances Real)."
                )
            raise InputError("No rigid body can move; give a visible object a rigid body and a collider.")
        self._to_instancer = self._instancer_offsets([self.names[row] for row in self._instanced])
        return [name for name, written in zip(self.names, self._written, strict=True) if written]

    def _say_unshown(self, sites: dict[str, Placement]) -> None:
        for path, site in sites.items():
            why = "is linked" if site.instance is None else "is in a collection instance that holds more than one body"
            self.issues.append(Issue(
                "PreviewUnshown", "warning", path, site.obj.name,
                f"'{site.obj.name}' {why}: it is simulated, but not shown moving.",
                "Make it local, or the instance itself dynamic, or real (Object > Apply > Make Instances Real).",
            ))  # fmt: skip

    def _movable_instances(self, reading: reading.SceneReading, sites: dict[str, Placement]) -> dict[str, str]:
        """Bodies that are shown by moving the collection instance around them: path -> name of the instancer.

        Only instancers of the scene that show one dynamic body and no other collider: all else would move along.
        """
        held: dict[str, set[str]] = defaultdict(set)
        colliders = self.model.colliders
        for path, site in reading.sites.items():
            if site.instance is not None and (path in sites or path in colliders):
                body = self.model.body_of(path)
                held[site.instance[0]].add(path if body is None else body.path)
        known = objects_by_name()
        found = {}
        for name, owners in held.items():
            (path,) = owners if len(owners) == 1 else ("",)
            obj = known.get(name)
            if path not in sites or obj is None or obj.library is not None or len(obj.children):
                continue
            site = sites[path]
            is_direct = site.instance is not None and not site.instance[1]
            if is_direct and site.obj.library is None and not self.world.kinematic[self.world.index(path)]:
                found[path] = name
        return found

    @property
    def notices(self) -> list[Issue]:
        """Issues about physics that the preview simulates differently or does not show."""
        return [*self.issues, *self.world.notices]

    @property
    def is_led(self) -> bool:
        """True if there are kinematic bodies, which follow their objects."""
        return bool(self._kinematic)

    @property
    def scene(self) -> Any:
        """The simulated scene; None if it is gone."""
        return bpy.data.scenes.get(self.scene_name)

    # ------------------------------------------------------------------ running

    def play(self) -> None:
        self.is_playing, self._time, self._debt = True, clock.now(), 0.0

    def pause(self) -> None:
        self.is_playing = False

    def advance(self, context: bpy.types.Context) -> int:
        """Simulate the time that has passed since the last call, and show it. Returns the number of steps.

        Raises UnstableError and SlowStepError, after which the caller ends the session.
        """
        now = clock.now()
        passed, self._time = now - self._time, now
        if not self.is_playing:
            return 0
        settings = context.scene.usdphys.preview  # type: ignore[union-attr]
        step = self.world.time_step
        made = 0
        if settings.is_fast:
            while clock.now() - now < FAST_BUDGET:
                self.play_on(context)
                made += 1
        else:
            self._debt = min(self._debt + passed * settings.speed, CATCH_UP * step)
            while self._debt >= step:
                self.play_on(context)
                self._debt -= step
                made += 1
                if clock.now() - now > CATCH_UP_SECONDS:
                    self._debt = 0.0
        if made:
            self.show(context)
            if now - self._counted > 0.25:
                self._counted, self._contacts = now, self.world.contact_count()
        if passed > 0:
            self.real_time_factor += 0.1 * (made * step / passed - self.real_time_factor)
        return made

    def play_on(self, context: bpy.types.Context) -> None:
        """Simulate one time step of many. Raises SlowStepError, and UnstableError."""
        self.simulate(context)
        if self.world.step_milliseconds > SLOWEST:
            path = self.world.busiest()
            label = self.model.prims[path].label or path if path else ""
            raise SlowStepError(
                f"A time step took {self.world.step_milliseconds / 1e3:.1f} s, most of the contacts are those of "
                f"'{label}': the preview was stopped. Give it a simpler collider, move bodies that overlap apart, or "
                "choose the quality Draft."
            )

    def step_once(self, context: bpy.types.Context) -> None:
        """Simulate and show one time step."""
        self.simulate(context)
        self.show(context)

    def simulate(self, context: bpy.types.Context) -> None:
        """Simulate one time step without showing it. Raises UnstableError."""
        if self.has_edits:
            self.take_edits(context)
        self._lead_kinematic(context)
        self.world.step()
        self._history.note()
        lost = [path for path, why in self.world.unstable.items() if "not a number" in why]
        if lost:
            label = self.model.prims[lost[0]].label or lost[0]
            self.stop()
            raise UnstableError(
                f"The simulation of '{label}' gave NaN, and the scene was restored; check its mass, its scale and "
                "the gains of its joints."
            )

    @property
    def kinematic_names(self) -> list[str]:
        """Names of the objects of the kinematic bodies, in the order of `animated_places`."""
        return [name for _, name in self._kinematic]

    def animated_places(self, context: bpy.types.Context) -> Any:
        """World matrices (k, 4, 4) of the objects of the kinematic bodies, Blender units."""
        depsgraph = context.evaluated_depsgraph_get()
        found = [bpy.data.objects.get(name) for _, name in self._kinematic]
        places = [np.eye(4) if obj is None else obj.evaluated_get(depsgraph).matrix_world for obj in found]
        return np.array(places, np.float32).reshape(-1, 4, 4)

    def animate(self, context: bpy.types.Context, steps: int) -> None:
        """Let kinematic bodies reach their evaluated objects in so many time steps, instead of those of one frame."""
        self._kinematic_places.clear()
        self._frame = float(context.scene.frame_current_final)  # type: ignore[union-attr]
        self._find_goals(context, steps)

    def _find_goals(self, context: bpy.types.Context, steps: int) -> None:
        """Set the goals of the kinematic bodies whose evaluated objects have moved."""
        if not self._kinematic:
            return
        depsgraph = context.evaluated_depsgraph_get()
        for path, name in self._kinematic:
            obj = bpy.data.objects.get(name)
            if obj is None:
                continue
            matrix = obj.evaluated_get(depsgraph).matrix_world
            if self._kinematic_places.get(path) != matrix:
                self._kinematic_places[path] = matrix.copy()
                world = np.array(matrix)
                goal = np.array(frames.quaternion_of(frames.rotation_of(world)))
                self._ways[path] = (world[:3, 3] * self.meters, goal, steps)

    def _lead_kinematic(self, context: bpy.types.Context) -> None:
        """Move kinematic bodies to their evaluated objects: moved by hand, by animation or by constraints.

        The movement of one frame of the timeline is spread evenly over its time steps; all of it in the first step
        would give a speed that is not the animated one.
        """
        if not self._kinematic:
            return
        scene: Any = context.scene
        turned, self._frame = abs(scene.frame_current_final - self._frame), scene.frame_current_final
        lasts = min(turned, 1.0) * scene.render.fps_base / scene.render.fps
        steps = max(1, round(lasts / self.world.time_step))
        self._find_goals(context, steps)
        for path, (place, goal, left) in list(self._ways.items()):
            del self._ways[path]
            row = self.world.index(path)
            here, now = self.world.positions[row], self.world.rotations[row]
            part = 1.0 / left
            turn = now * (1.0 - part) + goal * (part if now @ goal >= 0.0 else -part)
            self.world.set_kinematic_pose(path, here + (place - here) * part, turn)
            if left > 1:
                self._ways[path] = (place, goal, left - 1)

    # ------------------------------------------------------------------ showing

    def show(self, context: bpy.types.Context) -> None:
        """Move the objects to their bodies."""
        world = self.world
        fell_asleep = self._was_awake & ~world.awake
        self._was_awake = world.awake.copy()
        # Skip invisible jitter, which costs a depsgraph evaluation; write bodies that fall asleep at their final pose.
        moved = np.abs(world.positions - self._shown[0]).max(axis=1) > _UNSEEN
        moved |= np.abs(world.rotations - self._shown[1]).max(axis=1) > _UNSEEN
        self._show(context, (world.awake & moved) | fell_asleep)

    def show_all(self, context: bpy.types.Context) -> None:
        """Move all objects to their bodies while the frame changes: animation may have moved them elsewhere."""
        self._contacts = self.world.contact_count()
        self._show(context, np.ones(len(self.names), bool))

    def _show(self, context: bpy.types.Context, changed: Any) -> None:
        self._is_writing = True
        try:
            for shown, now in zip(self._shown, (self.world.positions, self.world.rotations), strict=True):
                shown[changed] = now[changed]
            rows = self._written
            if self._writer.are_plain and not len(self._instanced):
                gone = self._writer.write_plain(
                    self.world.positions[rows] / self.meters, self.world.rotations[rows], changed[rows]
                )
            else:
                gone = self._writer.write(self._scaled_matrices()[rows], changed[rows])
            context.view_layer.update()  # type: ignore[union-attr]
        finally:
            self._is_writing = False
        if gone:
            self._follow_renames()
            for name in gone:
                self.authored.pop(name, None)

    def _follow_renames(self) -> None:
        """Find moving objects again whose names have changed."""
        known = objects_by_name()
        if all(name in known and known[name].session_uid == uid for name, uid in self._uids.items()):
            return
        by_uid = {int(obj.session_uid): name for name, obj in known.items()}
        renamed = {name: by_uid[uid] for name, uid in self._uids.items() if by_uid.get(uid, name) != name}
        # All at once: two objects may have exchanged their names.
        self.authored = {renamed.get(name, name): before for name, before in self.authored.items()}
        self._uids = {renamed.get(name, name): uid for name, uid in self._uids.items()}
        self.names = [renamed.get(name, name) for name in self.names]
        self._writer.rename(renamed)

    def _scaled_matrices(self, worlds: Any = None) -> Any:
        """World matrices (n, 4, 4) of the objects that show the bodies, Blender units. worlds: see `local_poses`."""
        matrices = self.world.matrices() if worlds is None else worlds.copy()
        if self.meters != 1.0:
            matrices[:, :3, 3] /= self.meters
        matrices[self._instanced] = matrices[self._instanced] @ self._to_instancer
        return matrices

    def _instancer_offsets(self, names: list[str]) -> Any:
        """Matrices (n, 4, 4) from the authored frames of the instanced bodies to those of their instancers."""
        known = objects_by_name()
        offsets = np.empty((len(names), 4, 4))
        for row, (body, name) in enumerate(zip(self._instanced, names, strict=True)):
            authored = self.model.prims[self.world.paths[body]].world.copy()
            authored[:3, 3] /= self.meters
            offsets[row] = np.linalg.solve(authored, np.array(known[name].matrix_world))
        return offsets

    @property
    def moving(self) -> list[str]:
        """Names of the moving objects, in the order of `local_poses`."""
        return list(self._writer.names)

    def local_poses(self, worlds: Any = None) -> tuple[Any, Any]:
        """Locations (n, 3), Blender units, and quaternions (n, 4), w first, of the moving objects.

        worlds: (n, 4, 4), m, of all bodies of the world; by default as they are now.
        """
        matrices = self._scaled_matrices(worlds)[self._written]
        return self._writer.local(matrices, np.arange(len(matrices)))

    def body_at(self, name: str) -> str:
        """Path of the body of an object or of its nearest ancestor with one; empty if there is none."""
        obj = bpy.data.objects.get(name)
        while obj is not None:
            if obj.name in self.names:
                return str(self.world.paths[self.names.index(obj.name)])
            obj = obj.parent
        return ""

    # ------------------------------------------------------------------ grabbing, joints, read-outs

    def grab(self, path: str, point: Any) -> int:
        """Grab a body at a world point (3,), Blender units. Returns the number of the grab.

        Raises KeyError for a body that is not dynamic.
        """
        return int(self.world.grab(path, np.array(point) * self.meters))

    def drag(self, number: int, point: Any) -> None:
        self.world.move_grab(number, np.array(point) * self.meters)

    def release(self, number: int) -> None:
        self.world.release(number)

    @property
    def grabs(self) -> list[tuple[Any, Any]]:
        """(held point, its target) of each grab, (3,) each, Blender units."""
        return [(point / self.meters, target / self.meters) for point, target in self.world.grabs]

    def joint_positions(self) -> dict[str, dict[str, float]]:
        """Values of the degrees of freedom of all movable joints, by path: Blender units and radians."""
        return {
            path: {dof: value / self._unit_of(dof) for dof, value in values.items()}
            for path, values in self.world.joint_positions().items()
        }

    def set_joint(self, path: str, dof: str, value: float, *, physics: bool) -> None:
        """Bring a degree of freedom to a value, Blender units or radians, clamped to its limits.

        physics: by a drive, over time; a joint without a position drive gets a stiff one until the reset. Otherwise at
        once, by forward kinematics: the bodies beyond the joint move along, at rest. Raises KeyError if there is no
        such joint or movable degree of freedom, InputError for a joint of a closed loop.
        """
        value *= self._unit_of(dof)
        if physics:
            self.world.aim_joint(path, dof, value)
            return
        self.world.pose_joint(path, dof, value)
        self.show(bpy.context)

    def joint_range(self, path: str, dof: str) -> tuple[float, float]:
        """Limits (low, high) of a degree of freedom, Blender units or radians; infinite if there are none."""
        low, high = self.world.joint_range(path, dof)
        return low / self._unit_of(dof), high / self._unit_of(dof)

    def _unit_of(self, dof: str) -> float:
        return 1.0 if dof == "angular" or dof.startswith("rot") else self.meters

    @property
    def broken_places(self) -> list[Break]:
        """The broken joints, for drawing."""
        return [
            Break(place / self.meters, [end / self.meters for end in ends], size / self.meters)
            for place, ends, size in map(self.world.joint_ends, self.world.broken_joints)
        ]

    @property
    def readout(self) -> list[tuple[str, str]]:
        """State of the simulation as texts (name, value)."""
        world = self.world
        return [
            ("Time", f"{world.time if self.time_shown is None else self.time_shown:.2f} s"),
            ("Awake", phrase("{awake} of {count} bodies", awake=world.awake_count, count=len(self.names))),
            ("Contacts", str(self._contacts)),
            ("Step", f"{world.step_milliseconds:.2f} ms"),
            *([("Real time", f"{self.real_time_factor:.2f}x")] if self.time_shown is None else []),
        ]

    @property
    def has_joints(self) -> bool:
        return bool(self._joint_names)

    def loads_of(self, name: str) -> load_history.JointLoads | None:
        """What the joint of an object has borne; None if it has none. It is measured from the first call on."""
        path = self._joint_names.get(name)
        return None if path is None else self._history.loads_of(path)

    @property
    def broken(self) -> dict[str, load_history.JointBreak]:
        """When and under which load joints broke, by label, in that order."""
        return {self.model.prims[path].label or path: found for path, found in self._history.breaks.items()}

    @property
    def warnings(self) -> list[str]:
        """Sentences about unstable bodies, with the reason."""
        return [f"Unstable: {self.model.prims[path].label or path}, {why}" for path, why in self.world.unstable.items()]

    # ------------------------------------------------------------------ edits while it plays

    def note_updates(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Handle a depsgraph update: a change that the session has not made may be an edit of the physics."""
        if self._is_writing:
            return
        for update in depsgraph.updates:
            if isinstance(update.id, bpy.types.Object | bpy.types.Scene | bpy.types.Material):
                self._edited = True
                return

    def _unseen(self) -> list[Any]:
        """Values whose changes cause no depsgraph update: physics scenes, and materials that only physics uses."""
        scene = self.scene
        values: list[Any] = [] if scene is None else [bool(scene.use_gravity), *scene.gravity]
        for item in () if scene is None else scene.usdphys.physics_scenes:
            values += [item.name, item.gravity_magnitude, *item.gravity_direction]
        for material in bpy.data.materials:
            group = material.usdphys.physics_material  # type: ignore[attr-defined]
            if group.is_applied:
                values += [material.name, group.dynamic_friction, group.restitution, group.density]
        return values

    @property
    def has_edits(self) -> bool:
        """True if something has changed that may be an edit of the physics."""
        return self._edited or self._unseen() != self._unseen_before

    def take_edits(self, context: bpy.types.Context, motion: Motion | None = None) -> bool:
        """Apply edits to the running world if it can change them; otherwise rebuild the world in its current state.

        Returns True if there were any. motion: of an earlier moment, from which a rebuilt world goes on in any case.
        """
        from ..core import difference

        self._edited, self._unseen_before = False, self._unseen()
        reading = self._reread(context)
        new = reading.model
        fresh = self._keep_frames(new)
        have_moved = self._move_statics(new)
        edits = difference.difference(self.model, new)
        if not edits and (motion is None or not have_moved):
            self.model = new
            return have_moved
        if motion is None and _are_live(edits):
            self._apply_live(edits)
            self.model = new
        else:
            for joint, values in fresh:
                for name, value in values.items():
                    setattr(joint, name, value)
            self._rebuild(context, reading, motion)
        return True

    def go_on_from(self, context: bpy.types.Context, motion: Motion) -> None:
        """Rebuild the world from the scene as it is now, with the bodies as they moved at an earlier moment."""
        reading = self._reread(context)
        self._keep_frames(reading.model)
        self._rebuild(context, reading, motion)

    def led_motion(self, motion: Motion, places: Any) -> Motion:
        """A motion in which kinematic bodies are at world matrices (k, 4, 4), Blender units, as `animated_places`."""
        positions, rotations = motion.positions.copy(), motion.rotations.copy()
        for (path, _), place in zip(self._kinematic, places, strict=True):
            row = self.world.index(path)
            positions[row] = place[:3, 3] * self.meters
            rotations[row] = frames.quaternion_of(frames.rotation_of(place.astype(float)))
        return motion._replace(positions=positions, rotations=rotations)

    def carriers(self) -> dict[str, Any]:
        """Where the parents of bodies are that move by themselves: see `PoseWriter.carried`."""
        return self._writer.carried

    def carried_motion(self, motion: Motion, carriers: Mapping[str, Any]) -> Motion:
        """A motion in which bodies are where their parents carry them that are, in place of now, at `carriers`."""
        positions, rotations = motion.positions.copy(), motion.rotations.copy()
        linear, angular = motion.linear.copy(), motion.angular.copy()
        now = self.carriers()
        rows = {name: row for row, name in enumerate(self.names) if name}
        for name, row in rows.items():
            # Of the nearest body above that a parent carries.
            obj: Any = bpy.data.objects.get(name)
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

    def _reread(self, context: bpy.types.Context) -> reading.SceneReading:
        """Read the authored scene: with the authored transforms, while the objects show simulated ones."""
        shown = self.put_authored()
        try:
            return scene_read.read_scene(context.evaluated_depsgraph_get())
        finally:
            self.put_shown(shown)

    def _keep_frames(self, new: PhysicsModel) -> list[tuple[usd_physics.Joint, dict[str, Any]]]:
        """Replace the joint frames of a new model by those of the old one, so that a moved body takes its joints along.

        Returns (joint, replaced values) for each joint.
        """
        fresh = []
        for path, prim in new.joints.items():
            before = self.model.prims.get(path)
            old, joint = before and before.get(usd_physics.Joint), prim.get(usd_physics.Joint)
            if old is not None and joint is not None:
                fresh.append((joint, {name: getattr(joint, name) for name in _FRAMES}))
                for name in _FRAMES:
                    setattr(joint, name, getattr(old, name))
        return fresh

    def _move_statics(self, new: PhysicsModel) -> bool:
        """Move static colliders whose objects were moved. Returns True if there were any."""
        have_moved = False
        for path, prim in new.colliders.items():
            before = self.model.prims.get(path)
            if before is None or np.array_equal(before.world, prim.world) or self.model.body_of(path) is not None:
                continue
            try:
                rotation = frames.quaternion_of(frames.rotation_of(prim.world))
                self.world.set_static_pose(path, prim.world[:3, 3], rotation)
                have_moved = True
            except KeyError:
                continue
        return have_moved

    def _apply_live(self, edits: Difference) -> None:
        """Change values of the running world."""
        joints = frozenset(self.world.joints)
        for path, edit in edits.edits.items():
            prim = edit.prim
            for name in {name for name, _ in (*edit.values, *edit.cleared)}:
                _, instance = schema.split_applied(name)
                value = prim.schemas[name]
                if isinstance(value, usd_physics.DriveAPI):
                    settings = {item.field: value.resolved(item.field) for item in value.attributes}
                    if path in joints:
                        self.world.set_drive(path, instance, **settings)
                elif isinstance(value, usd_physics.MaterialAPI):
                    self.world.set_friction(
                        path, value.resolved("dynamic_friction"), value.resolved("restitution"),
                        value.resolved("static_friction"),
                    )  # fmt: skip
                elif isinstance(value, usd_physics.MassAPI):
                    self.world.set_mass(path, value.resolved("mass"))
                elif isinstance(value, usd_physics.Joint):
                    if path in joints:
                        self.world.set_joint_enabled(path, bool(value.resolved("joint_enabled")))
                elif isinstance(value, usd_physics.PhysicsScene):
                    from ..simulation.layout import gravity_of

                    self.world.set_gravity(gravity_of(value), path)

    def _rebuild(self, context: Any, reading: reading.SceneReading, motion: Motion | None = None) -> None:
        """Build a new world, because the structure has changed; bodies in both worlds keep their states."""
        old, was_playing = self.world, self.is_playing
        self.stop()
        by_name = {name: path for path, name in zip(old.paths, self.names, strict=True) if name}
        old_paths = {}
        for path, site in reading.sites.items():
            name = site.obj.name if _is_own(site) else site.instance[0] if site.instance is not None else ""
            if path in reading.model.bodies and by_name.get(name, path) != path:
                old_paths[path] = by_name[name]
        finished(self._begin(context, reading, old.time_step, old, old_paths, motion))
        if was_playing:
            self.play()

    # ------------------------------------------------------------------ ending

    def reset(self, context: bpy.types.Context) -> None:
        """Back to the start, ready to play again."""
        if self._is_restarted:
            self.restart(context)
        self.world.reset()
        self._history.forget()
        self._was_awake[:] = True
        self._show(context, self._was_awake)

    def restart(self, context: bpy.types.Context) -> None:
        """Begin anew with the scene as it is now. Raises InputError if nothing can move any more."""
        self.stop()
        self.__init__(context, frequency=self._frequency)  # type: ignore[misc]

    def stop(self) -> None:
        """End the session and restore the authored transform of every object exactly."""
        self.is_playing = False
        self._follow_renames()
        known = objects_by_name()
        for name, before in self.authored.items():
            if name in known:
                restored(known[name], before)
        self.authored.clear()
        self._mark(False)

    def apply(self, context: bpy.types.Context) -> None:
        """End the session and keep the current poses as authored; joint objects move with their first body."""
        self.is_playing = False
        self._follow_renames()
        self._show(context, np.ones(len(self.names), bool))
        after = dict(zip(self.world.paths, self.world.matrices(), strict=True))
        known = objects_by_name()
        for name, before in self.authored.items():
            if name in known:
                applied(known[name], before)
        self.authored.clear()
        self._mark(False)
        context.view_layer.update()  # type: ignore[union-attr]
        joint_frames.keep(self.model, after, self.meters)

    def put_authored(self) -> dict[str, Transform]:
        """Restore the authored transforms for a moment. Returns the simulated ones, for `put_shown`."""
        self._is_writing = True
        self._follow_renames()
        shown: dict[str, Transform] = {}
        known = objects_by_name()
        for name, before in self.authored.items():
            if name in known:
                shown[name] = saved(known[name])
                restored(known[name], before)
        self._mark(False)
        return shown

    def put_shown(self, shown: dict[str, Transform]) -> None:
        """Undo `put_authored`."""
        known = objects_by_name()
        for name, transform in shown.items():
            if name in known:
                freed(known[name])
                restored(known[name], transform)
        self._mark(True)
        self._is_writing = False

    def _mark(self, is_running: bool) -> None:
        scene = self.scene
        if scene is None:
            return
        if is_running:
            scene.usdphys.preview.is_running = True
        else:
            scene.usdphys.preview.property_unset("is_running")


def _is_own(site: Placement) -> bool:
    """True for a local object that is not in a collection instance."""
    return site.instance is None and site.obj.library is None


def _world_type() -> type[World]:
    try:
        from ..simulation.world import World
    except ImportError as error:
        raise MissingDependencyError(
            f"The physics engine is missing ({error}); install the zip of the extension for this platform."
        ) from error
    return World


_FRAMES = ("local_pos0", "local_rot0", "local_pos1", "local_rot1")


def _is_vendors(name: str) -> bool:
    """True for the name of a vendor API schema."""
    return schema.split_applied(name)[0] not in schema.SCHEMAS


def _are_live(edits: Difference) -> bool:
    """True if a running world can apply all edits."""
    if edits.added or edits.removed:
        return False
    for edit in edits.edits.values():
        applied = [name for name in (*edit.added, *edit.removed) if not _is_vendors(name) or is_simulated(name)]
        if applied or edit.type_name is not None or edit.binding is not None:
            return False
        for name, field in (*edit.values, *edit.cleared):
            value = edit.prim.schemas[name]
            if is_vendor(type(value)):
                if is_simulated(name, field):
                    return False
            elif not schema.attribute_of(type(value), field).live:
                return False
            if isinstance(value, usd_physics.MassAPI) and not (value.mass or 0.0) > 0.0:
                return False
    return True
