# SPDX-License-Identifier: GPL-3.0-or-later
"""One preview session: simulate the scene, show it on the objects, and restore them exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, Depsgraph

from ..bridge import authored_poses, environment, joint_frames, reading, scene_read, stand_ins
from ..bridge.roles import parents_of
from ..core import animation, clock
from ..core.animation import Key
from ..core.coasting import coasting_paths
from ..core.errors import UsdPhysError
from ..core.model import PhysicsModel
from ..core.steps import Steps, advance, finished, part
from ..core.validate import Issue
from ..core.words import phrase
from ..simulation import load_history
from ..simulation.contact_history import ContactHistory
from ..simulation.energies import Energies
from ..simulation.engine import ENGINES, Ability, NotLiveError, Program
from ..simulation.live_values import LiveValues
from ..simulation.world import World
from . import beside, falling, live_edits, others_held
from .led_bodies import LedBodies
from .shown_bodies import ShownBodies, is_own

if TYPE_CHECKING:
    from ..proving.twins import Twins
    from ..simulation.world import Motion

#: Largest number of steps in one redraw, so that a slow scene runs slower instead of hanging.
CATCH_UP = 4
#: Seconds that the steps of one redraw may take together, but for the last of them.
CATCH_UP_SECONDS = 0.2
#: Seconds that they may take with twins, so that Blender draws 30 frames a second: a slow scene runs slower.
BESIDE_SECONDS = 0.016
#: Seconds of building twins per redraw.
BUILD_SECONDS = 0.02
#: Milliseconds of a time step from which playing ends: those that the solver works, or of an engine in a process of its
#: own those until it answers.
SLOWEST = 1000.0
#: So many time steps after each other may an engine in a process of its own be so late: it makes ready what it needs,
#: or other programs have the processor.
MOST_LATE = 3
#: Seconds to simulate per redraw if the preview runs as fast as it can.
FAST_BUDGET = 0.03
#: Modes of an object in which its mesh is changed.
_SHAPING = ("EDIT", "SCULPT")
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


@dataclass(slots=True)
class _Ramp:
    """Animated values on their way from start to goals, over so many time steps."""

    start: dict[Key, Any]
    goals: dict[Key, Any]
    steps: int
    done: int = 0


class PreviewSession:
    """A simulated world and the objects that show it.

    The objects hold the simulated poses until `stop` or `apply`. shown: those objects. led: the kinematic bodies.
    """

    def __init__(self, context: Context, *, frequency: float = 0.0, only: frozenset[str] = frozenset()) -> None:
        """frequency: time steps per second, Hz; 0 for that of the scene. only: see `others_held.hold`; empty: all move.

        Raises MissingDependencyError if the engine is missing, InputError if nothing can move.
        """
        finished(self._start(context, frequency, only))

    @classmethod
    def steps(
        cls, context: Context, *, frequency: float = 0.0, only: frozenset[str] = frozenset()
    ) -> Steps[PreviewSession]:
        """Start a session in steps. The last one alone changes the scene, once `stand_ins.make` has.

        No step may follow a change of the scene: the steps hold evaluated objects.
        """
        session = cls.__new__(cls)
        yield from session._start(context, frequency, only)
        return session

    def _start(self, context: Context, frequency: float, only: frozenset[str]) -> Steps[None]:
        self._only = only
        try:
            stand_ins.make(context)
            yield from self._read_and_begin(context, frequency)
        except BaseException:
            stand_ins.remove()
            raise

    def _read_and_begin(self, context: Context, frequency: float) -> Steps[None]:
        scene: Any = context.scene
        self._scene_uid = int(scene.session_uid)
        self._frequency = frequency
        #: Seconds to show in place of the time of the world; None for that.
        self.time_shown: float | None = None
        #: The joints that are broken in the frame that is shown; None for those of the world.
        self.broken_shown: tuple[str, ...] | None = None
        time_step = 1.0 / (frequency or scene.usdphys.preview.frequency)
        reading = yield from part(scene_read.read_steps(context.evaluated_depsgraph_get()), 0.0, _READ)
        if self._only:
            others_held.hold(reading, self._only)
        for prim in reading.model.prims.values():
            if prim.mesh is not None:
                # The loader keeps it: from here on no evaluated object is needed.
                prim.mesh()
                yield _READ
        yield from part(self._begin(context, reading, time_step), _READ, 1.0)

    def _begin(
        self, context: Context, reading: reading.SceneReading, time_step: float,
        before: World | None = None, old_paths: Mapping[str, str] | None = None, motion: Motion | None = None,
    ) -> Steps[None]:  # fmt: skip
        """Build the world from a reading of the authored scene, and let the objects follow it.

        before: a world whose bodies keep their current states, or those of `motion`. old_paths: of the bodies that have
        another path in it, that path. time_step: s.
        """
        settings = context.scene.usdphys.preview
        self.model: PhysicsModel = reading.model
        self.meters = self.model.units.meters_per_unit
        if isinstance(ENGINES.get(settings.engine), Program):
            # It gets a USD file.
            environment.require_usd()
        start = self.model if before is None else before.moved_copy(self.model, old_paths, motion)
        self._quality, self._engine = {"substeps": settings.substeps, "quality": settings.quality}, settings.engine
        wanted, kinds = beside.wanted(), beside.kinds(settings.engine)
        of_world = World.steps(start, time_step=time_step, engine=settings.engine, **self._quality)
        self.world = yield from part(of_world, 0.0, 0.5 if kinds else 1.0)
        #: What runs beside the world; None where nothing is asked for, or it is being built.
        self.twins: Twins | None = None
        self._beside = wanted
        self._building: Steps[Twins] | None = None
        if kinds:
            self.twins = yield from part(self._twins_of(start, kinds, is_late=False), 0.5, 1.0)
        self.issues: list[Issue] = [issue for issue in reading.issues if issue.severity != "info"]
        self.shown = ShownBodies(self.world, reading)
        self.issues += self.shown.issues
        #: True where all bodies fall for ever.
        self.is_bottomless = falling.is_bottomless(self.world, self.model)
        #: The values that change over time.
        self.animated = reading.animated
        self._coasting = coasting_paths(self.model)
        rate = context.scene.render.fps / context.scene.render.fps_base
        blend = round(settings.blend_frames / rate / time_step)
        self.live = LiveValues(self.world, self.model, blend, context.scene.frame_current_final / rate)
        self.led = LedBodies(context, self.world, self.shown, self.live.hand_over)
        self._ramp: _Ramp | None = None
        if before is not None:
            self.world.frame = before.frame
            self.world.hold_on(before, old_paths or {})
            # The objects show the authored poses now, so all of them must be written.
            self.shown.forget_poses()
        self._history = load_history.LoadHistory(self.world)
        self._energies: Energies | None = None
        self._contact_history: ContactHistory | None = None
        #: Paths of the simulated joints by the names of their objects.
        self._joint_names = {self.model.prims[path].label: path for path in self.world.joints}
        self._edited = self._reshaped = False
        #: What has changed beside the bodies when their poses were written last.
        self._changed_with_poses: set[tuple[str, str]] | None = None
        self._late = 0
        self._debt = 0.0
        self._counted, self._contacts = 0.0, 0
        self._silent = live_edits.silent_values(self.scene)
        self._time = clock.now()
        self.is_playing = False
        self._is_restarted = before is not None
        self.real_time_factor = 0.0
        self.mark(True)

    @property
    def notices(self) -> list[Issue]:
        """Issues about physics that the preview simulates differently or does not show.

        Without a physics scene the gravity is that of Blender's scene, which Blender shows: no notice says so.
        """
        own = (notice for notice in self.world.notices if notice.code != "SceneMissing")
        return [*self.issues, *self.shown.moved_by_others, *own]

    @property
    def scene(self) -> Any:
        """The simulated scene, whatever its name is now; None if it is gone."""
        return next((scene for scene in bpy.data.scenes if scene.session_uid == self._scene_uid), None)

    @property
    def scene_name(self) -> str:
        """Name of the simulated scene; empty if it is gone."""
        scene = self.scene
        return "" if scene is None else str(scene.name)

    # ------------------------------------------------------------------ running

    def play(self) -> None:
        self.is_playing, self._time, self._debt = True, clock.now(), 0.0

    def pause(self) -> None:
        self.is_playing = False

    def advance(self, context: Context) -> int:
        """Simulate the time that has passed since the last call, and show it. Returns the number of steps.

        Raises UnstableError and SlowStepError, after which the caller ends the session.
        """
        now = clock.now()
        passed, self._time = now - self._time, now
        if self.time_shown is None and (self.builds_twins or self._beside != beside.wanted()):
            if self.has_edits:
                self.take_edits(context)
            if self._tend_twins(context, BUILD_SECONDS):
                return 0
        if not self.is_playing:
            return 0
        settings = context.scene.usdphys.preview
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
                if clock.now() - now > (CATCH_UP_SECONDS if self.twins is None else BESIDE_SECONDS):
                    self._debt = 0.0
        if made:
            self.show(context)
            if now - self._counted > 0.25:
                self._counted = now
                self._count_contacts()
        if passed > 0:
            self.real_time_factor += 0.1 * (made * step / passed - self.real_time_factor)
        return made

    def play_on(self, context: Context) -> None:
        """Simulate one time step of many. Raises SlowStepError, and UnstableError."""
        self.simulate(context)
        if self.world.step_milliseconds > SLOWEST and self.world.delay > 0.0:
            self._late += 1
            if self._late > MOST_LATE:
                raise SlowStepError(
                    f"A time step took {self.world.step_milliseconds / 1e3:.1f} s in {self.world.engine_name}: the "
                    "preview was stopped. Choose another engine, or bake, which may take long."
                )
        elif self.world.worked_milliseconds > SLOWEST:
            path = self.world.busiest()
            label = self.model.prims[path].label or path if path else ""
            raise SlowStepError(
                f"A time step took {self.world.worked_milliseconds / 1e3:.1f} s, most of the contacts are those of "
                f"'{label}': the preview was stopped. Give it a simpler collider, move bodies that overlap apart, or "
                "choose the quality Draft."
            )
        else:
            self._late = 0

    def step_once(self, context: Context) -> None:
        """Simulate and show one time step."""
        self.simulate(context)
        self.show(context)

    def simulate(self, context: Context) -> None:
        """Simulate one time step without showing it. Raises UnstableError."""
        if self.has_edits:
            self.take_edits(context)
        self._tend_twins(context, float("inf"))
        self._take_values(context)
        self.led.move(context)
        self.world.step()
        if self.twins is not None:
            self.twins.step()
        self._history.note()
        if self._energies is not None:
            self._energies.note()
        if self._contact_history is not None:
            self._contact_history.note()
        lost = [path for path, why in self.world.unstable.items() if "not a number" in why]
        if lost:
            label = self.model.prims[lost[0]].label or lost[0]
            self.stop()
            raise UnstableError(
                f"The simulation of '{label}' gave NaN, and the scene was restored; check its mass, its scale and "
                "the gains of its joints."
            )

    def values(self, context: Context) -> dict[Key, Any]:
        """The animated values as they are now, SI."""
        return self.animated.now(context.evaluated_depsgraph_get()) if self.animated else {}

    def aim(self, context: Context, steps: int) -> None:
        """Let animated bodies and values reach what they are now in so many time steps."""
        # What was switched leaves its animation as that was until now.
        self.live.begin()
        goals = self.values(context)
        self.live.expect(goals)
        self.led.aim(context, steps)
        if self.animated:
            self._ramp = _Ramp({key: self.live.end(key) for key in goals}, goals, steps)

    def _take_values(self, context: Context) -> None:
        """Hand the animated values at the end of the next time step to the world."""
        if not self.animated:
            return
        ramp = self._ramp
        if ramp is None:
            self.live.begin()
            self.live.take(self.values(context))
            return
        ramp.done += 1
        part = ramp.done / ramp.steps
        self.live.take({key: goal if animation.is_switch(goal) else animation.between(ramp.start[key], goal, part)
                       for key, goal in ramp.goals.items()})  # fmt: skip
        if ramp.done == ramp.steps:
            self._ramp = None

    # ------------------------------------------------------------------ what runs beside it

    @property
    def builds_twins(self) -> bool:
        """True while the world waits for what is to run beside it."""
        return self._building is not None

    def _twins_of(self, model: PhysicsModel, kinds: Any, *, is_late: bool) -> Steps[Twins]:
        from ..proving.twins import Twins

        return Twins.steps(self.world, model, kinds, is_late=is_late, **self._quality)

    def _tend_twins(self, context: Context, seconds: float) -> bool:
        """Have beside the world what is asked for now, built within some seconds. True while that is not done."""
        if self._beside != beside.wanted() or (self.twins is not None and self.twins.is_stale):
            self._drop_twins()
            self._beside = beside.wanted()
            kinds = beside.kinds(self._engine)
            if kinds:
                self._building = self._twins_of(self._model_now(context), kinds, is_late=True)
        if self._building is None:
            return False
        try:
            advance(self._building, seconds)
        except StopIteration as done:
            self.twins, self._building = done.value, None
            return False
        return True

    def _drop_twins(self) -> None:
        if self._building is not None:
            self._building.close()
        if self.twins is not None:
            self.twins.end()
        self.twins = self._building = None

    def _model_now(self, context: Context) -> PhysicsModel:
        """The model with the bodies as they are in the world, and all meshes loaded."""
        model = self._reread(context).model
        live_edits.keep_frames(self.model, model)
        model.put({key: self.live.value(key) for key in self.model.animated.keys() & model.animated.keys()})
        for prim in model.prims.values():
            if prim.mesh is not None:
                # No evaluated object is needed from here on.
                prim.mesh()
        return self.world.moved_copy(model)

    # ------------------------------------------------------------------ showing

    def show(self, context: Context) -> None:
        """Move the objects to their bodies."""
        self.shown.show(context)

    def show_all(self, context: Context) -> None:
        """Move all objects to their bodies while the frame changes: animation may have moved them elsewhere."""
        self._count_contacts()
        self.shown.show_all(context)

    def _count_contacts(self) -> None:
        if self.world.can(Ability.TOUCHES):
            self._contacts = self.world.contact_count()

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
    def broken_joints(self) -> tuple[str, ...]:
        """Paths of the joints that are broken in what is shown: the world, or a frame that the timeline has kept."""
        return self.world.broken_joints if self.broken_shown is None else self.broken_shown

    @property
    def broken_places(self) -> list[Break]:
        """The broken joints, for drawing."""
        return [
            Break(place / self.meters, [end / self.meters for end in ends], size / self.meters)
            for place, ends, size in map(self.world.joint_ends, self.broken_joints)
        ]

    @property
    def readout(self) -> list[tuple[str, str]]:
        """State of the simulation as texts (name, value)."""
        world, count = self.world, len(self.shown.names)
        awake = phrase("{awake} of {count} bodies", awake=world.awake_count, count=count)
        if count == 1:
            awake = phrase("{awake} of 1 body", awake=world.awake_count)
        return [
            ("Time", f"{world.time if self.time_shown is None else self.time_shown:.2f} s"),
            ("Awake", awake),
            *([("Contacts", str(self._contacts))] if world.can(Ability.TOUCHES) else []),
            ("Step", f"{world.step_milliseconds:.2f} ms"),
            *(
                [(world.engine_name, phrase("{delay} ms for an answer", delay=f"{world.delay:.2f}"))]
                if world.delay
                else []
            ),
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
    def energies(self) -> Energies:
        """The energy of the scene over the last seconds. It is measured from the first call on."""
        if self._energies is None:
            self._energies = Energies(self.world)
        return self._energies

    @property
    def broken(self) -> dict[str, load_history.JointBreak]:
        """When and under which load joints broke, by label, in that order."""
        return {self.model.prims[path].label or path: joint_break for path, joint_break in self._history.breaks.items()}

    def watch_contacts(self, least: float) -> None:
        """Keep from the next time step on which contacts begin with an impulse, N s. Others need not measure them."""
        self._contact_history = ContactHistory(self.world, least) if self.world.can(Ability.TOUCHES) else None

    @property
    def contacts(self) -> list[tuple[float, str, str]]:
        """When contacts began that are watched, s, and the labels of both, first that of a body that moves."""
        found = () if self._contact_history is None else self._contact_history.contacts
        world, prims = self.world, self.model.prims
        still = {path for path, kinematic in zip(world.paths, world.kinematic, strict=True) if kinematic}
        still |= set(world.static_colliders)
        pairs = [sorted((each.first, each.second), key=still.__contains__) for each in found]
        return [
            (each.seconds, prims[first].label or first, prims[second].label or second)
            for each, (first, second) in zip(found, pairs, strict=True)
        ]

    @property
    def warnings(self) -> list[str]:
        """Sentences about unstable bodies, with the reason."""
        return [f"Unstable: {self.model.prims[path].label or path}, {why}" for path, why in self.world.unstable.items()]

    # ------------------------------------------------------------------ edits while it plays

    def note_updates(self, depsgraph: Depsgraph) -> None:
        """Handle a depsgraph update: a change that the session has not made may be an edit of the physics."""
        if authored_poses.are_put():
            return
        if self.shown.is_writing:
            self._note_with_poses(depsgraph)
            return
        for update in depsgraph.updates:
            if isinstance(update.id, bpy.types.Object | bpy.types.Scene | bpy.types.Material):
                self._edited = True
                # In Object Mode a change of any property is told as one of the geometry.
                self._reshaped |= update.is_updated_geometry and getattr(update.id, "mode", "") in _SHAPING

    def _note_with_poses(self, depsgraph: Depsgraph) -> None:
        """Find edits that Blender evaluates along with the poses, as in a window that is slow.

        A deleted or added object is told as a change of the scene, a value as one of the geometry. What follows the
        bodies by constraints and modifiers changes at each step, and is no edit while it does.
        """
        moved, changed = set(self.shown.moving), set()
        for update in depsgraph.updates:
            changes = update.id
            if isinstance(changes, bpy.types.Scene | bpy.types.Material):
                self._edited = True
            elif isinstance(changes, bpy.types.Object):
                name = changes.name
                is_moved = update.is_updated_transform and name not in moved
                if update.is_updated_geometry:
                    changed.add((name, "geometry"))
                    self._reshaped |= changes.mode in _SHAPING
                elif is_moved and moved.isdisjoint(above.name for above in parents_of(changes)):
                    changed.add((name, "place"))
        self._edited |= self._changed_with_poses not in (None, changed)
        self._changed_with_poses = changed

    @property
    def has_edits(self) -> bool:
        """True if something has changed that may be an edit of the physics."""
        return self._edited or live_edits.silent_values(self.scene) != self._silent

    def take_edits(self, context: Context, motion: Motion | None = None) -> bool:
        """Apply edits to the running world if it can change them; otherwise rebuild the world in its current state.

        Returns True if there were any. motion: of an earlier moment, from which a rebuilt world goes on in any case.
        """
        from ..core import difference

        self._edited, self._silent = False, live_edits.silent_values(self.scene)
        has_new_mesh = self._reshaped and context.mode == "OBJECT"
        self._reshaped &= not has_new_mesh
        reading = self._reread(context)
        new = reading.model
        is_animated_anew = self.model.animated.keys() != new.animated.keys() or self._coasting != coasting_paths(new)
        # What is animated is no edit: the world gets it in the next time step.
        new.put({key: self.live.value(key) for key in self.model.animated.keys() & new.animated.keys()})
        fresh = live_edits.keep_frames(self.model, new)
        is_resized = has_new_mesh or live_edits.are_resized(self.model, new)
        is_live = motion is None and not is_animated_anew and not is_resized
        try:
            have_moved = live_edits.move_statics(self.world, self.model, new)
        except NotLiveError:
            have_moved, is_live = True, False
        edits = difference.difference(self.model, new)
        if not is_animated_anew and not is_resized and not edits and (is_live or not have_moved):
            self.model = self.live.model = new
            return have_moved
        if is_live and self._takes(edits):
            self.model = self.live.model = new
        else:
            for joint, values in fresh:
                for name, value in values.items():
                    setattr(joint, name, value)
            self._rebuild(context, reading, motion)
        return True

    def _takes(self, edits: Any) -> bool:
        """Apply edits to the running world; False if it has to be built anew."""
        if not self.world.can(Ability.EDITS) or not live_edits.are_live(edits):
            return False
        try:
            live_edits.apply_live(self.world, edits)
        except NotLiveError:
            return False
        return True

    def go_on_from(self, context: Context, motion: Motion) -> None:
        """Rebuild the world from the scene as it is now, with the bodies as they moved at an earlier moment."""
        reading = self._reread(context)
        live_edits.keep_frames(self.model, reading.model)
        self._rebuild(context, reading, motion)

    def _reread(self, context: Context) -> reading.SceneReading:
        """Read the authored scene: with the authored transforms, while the objects show simulated ones."""
        shown = authored_poses.put()
        try:
            found = scene_read.read_scene(context.evaluated_depsgraph_get())
            if self._only:
                others_held.hold(found, self._only)
            return found
        finally:
            authored_poses.put_back(shown)

    def _rebuild(self, context: Context, reading: reading.SceneReading, motion: Motion | None = None) -> None:
        """Build a new world, because the structure has changed; bodies in both worlds keep their states."""
        old, was_playing = self.world, self.is_playing
        self._restore()
        by_name = {name: path for path, name in zip(old.paths, self.shown.names, strict=True) if name}
        old_paths, bodies = {}, reading.model.bodies
        for path, site in reading.sites.items():
            name = site.obj.name if is_own(site) else site.instance[0] if site.instance is not None else ""
            if path in bodies and by_name.get(name, path) != path:
                old_paths[path] = by_name[name]
        # What it knows of its bodies it still tells, and the new world may take its process.
        old.close()
        finished(self._begin(context, reading, old.time_step, old, old_paths, motion))
        if was_playing:
            self.play()

    # ------------------------------------------------------------------ ending

    def reset(self, context: Context) -> None:
        """Back to the start, ready to play again."""
        if self._is_restarted:
            self.restart(context)
        self.world.reset()
        if self.twins is not None and self.twins.is_late:
            # They have no start: they are built anew.
            self._drop_twins()
            self._beside = frozenset()
        elif self.twins is not None:
            self.twins.reset()
        self.live.hand_again()
        self._history.forget()
        if self._energies is not None:
            self._energies.forget()
        self.shown.show_all(context)

    def restart(self, context: Context) -> None:
        """Begin anew with the scene as it is now. Raises InputError if nothing can move any more."""
        self.stop()
        self.__init__(context, frequency=self._frequency, only=self._only)  # type: ignore[misc]

    def stop(self) -> None:
        """End the session and restore the authored transform of every object, and every instance, exactly."""
        self._restore()
        stand_ins.remove()
        self.world.close()

    def _restore(self) -> None:
        self.is_playing = False
        self.shown.restore()
        self.mark(False)

    def apply(self, context: Context, *, makes_real: bool = True) -> None:
        """End the session and keep the current poses as authored; joint objects move with their first body.

        makes_real: what stands in for instances stays, with its poses; else the instances are as they were.
        """
        self.is_playing = False
        after = dict(zip(self.world.paths, self.world.matrices(), strict=True))
        self.shown.apply(context)
        self.mark(False)
        self.world.close()
        context.view_layer.update()
        joint_frames.keep(self.model, after, self.meters)
        if makes_real:
            stand_ins.keep()
        else:
            stand_ins.remove()

    def mark(self, is_running: bool) -> None:
        """Note in the scene whether it is simulated."""
        scene = self.scene
        if scene is None:
            return
        if is_running:
            scene.usdphys.preview.is_running = True
        else:
            scene.usdphys.preview.property_unset("is_running")
