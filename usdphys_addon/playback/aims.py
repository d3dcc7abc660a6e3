# SPDX-License-Identifier: GPL-3.0-or-later
"""Aims and variations in a Blender scene: values that are searched, or chosen at random, and written to the objects."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Object, Scene

from ..aiming import aim
from ..aiming.beside import BesideSearch
from ..aiming.freedoms import PLACE, Freedom, with_values
from ..aiming.parts import connected
from ..bridge import joint_frames, scene_read
from ..bridge.property_units import PropertyWriter
from ..bridge.reading import SceneReading
from ..bridge.writing import unit_length
from ..core import clock, schema
from ..core.animation import Key
from ..core.errors import EngineError, InputError, OutputError
from ..core.model import Prim
from ..core.schemas import usd_physics
from ..core.steps import Next
from ..core.words import phrase
from ..simulation.engine import ENGINES, Program
from ..simulation.record import engine_silenced, refuse_lost
from . import ghosts, guard
from .scene_motion import animation_of
from .timeline import frame_rate, time_steps_per_frame

#: The faces of a body, and the axes through them.
FACES = {"X": (1, 0, 0), "-X": (-1, 0, 0), "Y": (0, 1, 0), "-Y": (0, -1, 0), "Z": (0, 0, 1), "-Z": (0, 0, -1)}
_RIGID, _MATTER = usd_physics.RigidBodyAPI.usd_name, usd_physics.MaterialAPI.usd_name
#: Seconds after which a search may go on in a process of its own.
SOON = 1.0
#: Angle between a face and the Z axis of its target, rad, that is still met.
_ANGLE = math.radians(5.0)


@dataclass(frozen=True, slots=True)
class Wish:
    """A body that is to be at an Empty at a frame. tolerance: Blender units; None: the facing alone counts.

    face: of `FACES`, which then points along the Z axis of the Empty; empty for any.
    """

    body: Object
    target: Object
    frame: int
    tolerance: float | None = 0.02
    face: str = ""
    at_rest: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """How far values may change from those that are authored, up and down; 0 for not at all.

    speed (Blender units a second), spin (rad/s), place (Blender units): of bodies, along or about each axis. friction,
    restitution: of the materials of bodies, within 0 and 1. drive_angle (rad), drive_distance (Blender units): targets
    of drives that have a stiffness. motor_spin (rad/s), motor_speed (Blender units a second): velocities of drives
    that have a damping. limit_angle (rad), limit_distance (Blender units): both ends of limits.
    """

    speed: float = 0.0
    spin: float = 0.0
    place: float = 0.0
    friction: float = 0.0
    restitution: float = 0.0
    drive_angle: float = 0.0
    drive_distance: float = 0.0
    motor_spin: float = 0.0
    motor_speed: float = 0.0
    limit_angle: float = 0.0
    limit_distance: float = 0.0


@dataclass(slots=True)
class Aimed:
    """runs: that were made. misses: of the authored scene after the search, by target, in tolerances."""

    runs: int
    misses: list[float]

    @property
    def met(self) -> int:
        return sum(miss <= 1.0 for miss in self.misses)


def wishes_of(scene: Scene, targets: Iterable[Object] = ()) -> list[Wish]:
    """The wishes of the Empties of a scene that have *Land Here*; of these targets alone if any is one."""
    chosen: list[Any] = [obj for obj in targets if is_target(obj)] or [obj for obj in scene.objects if is_target(obj)]
    wishes = []
    for obj in chosen:
        own = obj.usdphys.land_here
        if own.body is None:
            raise InputError(phrase("'{target}' has Land Here without a body; choose one.", target=obj.name))
        wishes.append(Wish(
            own.body, obj, own.frame or scene.frame_end, own.tolerance if own.use_place else None,
            "" if own.face == "NONE" else own.face, own.at_rest,
        ))  # fmt: skip
    if not wishes:
        raise InputError("There is no target: select a body and an Empty, and choose Land Here.")
    return wishes


def is_target(obj: Any) -> bool:
    """True for an object with *Land Here*."""
    physics = obj.usdphys
    return "land_here" in physics and physics.land_here.is_applied


class AimedScene:
    """A scene whose runs begin at the current frame: its model, how it is simulated, and where its values are."""

    def __init__(self, context: Context) -> None:
        """Raises InputError for what cannot be simulated again and again."""
        guard.stop()
        context.view_layer.update()
        scene: Any = context.scene
        row = ENGINES.get(scene.usdphys.preview.engine)
        if isinstance(row, Program):
            raise InputError(
                phrase("{engine} does not run a scene again and again; choose an engine in Blender.", engine=row.name)
            )
        self.context, self.meters, self.first = context, unit_length(scene), int(scene.frame_current)
        self.reading: SceneReading = scene_read.read_scene(context.evaluated_depsgraph_get())
        self.model = self.reading.model
        refuse_lost(self.model)
        substeps = time_steps_per_frame(scene)
        self.setup = aim.Setup(
            self.model, 1.0 / (frame_rate(scene) * substeps), substeps, scene.usdphys.preview.substeps,
            scene.usdphys.preview.quality, scene.usdphys.preview.engine,
        )  # fmt: skip

    def path_of(self, body: Object) -> str:
        bodies = self.model.bodies
        for path, site in self.reading.sites.items():
            if path in bodies and site.instance is None and site.obj.name_full == body.name_full:
                return path
        raise InputError(phrase("'{name}' is no rigid body; make it dynamic.", name=body.name))

    def follow(self, last: int) -> None:
        """Have runs of so many frames follow what is animated. Frames are set for that."""
        steps = self.setup.steps_per_frame
        moments = [self.first + step / steps for step in range(last * steps + 1)]
        animation = animation_of(self.context.scene, self.model, self.reading.animated, moments)
        blend = self.context.scene.usdphys.preview.blend_frames * steps
        self.setup = replace(self.setup, animation=animation, blend=blend)

    def steps_until(self, frame: int) -> int:
        """Frames from the current one on."""
        if frame <= self.first:
            raise InputError(
                phrase("The simulation begins at the current frame; choose a frame after {frame}.", frame=self.first)
            )
        return frame - self.first

    def target(self, wish: Wish) -> aim.Target:
        matrix = np.array(wish.target.matrix_world)
        place = None if wish.tolerance is None else tuple((matrix[:3, 3] * self.meters).tolist())
        facing = tuple((matrix[:3, 2] / np.linalg.norm(matrix[:3, 2])).tolist()) if wish.face else None
        axis: Any = FACES[wish.face] if wish.face else None
        if place is None and axis is None and not wish.at_rest:
            raise InputError("Aim at a place, a facing, or both.")
        tolerance = (wish.tolerance or 1.0) * self.meters
        return aim.Target(
            self.path_of(wish.body), self.steps_until(wish.frame), place, tolerance, axis, facing, _ANGLE, wish.at_rest
        )

    def freedoms(self, paths: Sequence[str], changes: Changes) -> list[list[Freedom]]:
        """What may change of bodies, of their materials, and of joints that move them. Those of a list change alike.

        Raises InputError if nothing may.
        """
        groups = [group for path in dict.fromkeys(paths) for group in self._of_body(path, changes)]
        bodies = connected(self.model, paths)
        for prim, ends in bodies.joints.values():
            if ends & bodies.paths:
                groups += [[one] for one in self._of_joint(prim, changes)]
        groups = list({
            group[0].text: group for group in groups
            if group[0].high > group[0].low and not self._is_animated(group[0])
        }.values())  # fmt: skip
        if not groups:
            names = ", ".join(f"'{self.model.prims[path].label}'" for path in dict.fromkeys(paths))
            raise InputError(
                phrase("Nothing may change; allow a speed, a spin or a place of {names}, or its material.", names=names)
            )
        return groups

    def _is_animated(self, freedom: Freedom) -> bool:
        """True for a value that its animation decides."""
        if freedom.field == PLACE:
            return self.model.prims[freedom.path].is_animated
        return Key(freedom.path, freedom.name, freedom.field) in self.model.animated

    def _of_body(self, path: str, changes: Changes) -> list[list[Freedom]]:
        prim, meters = self.model.prims[path], self.model.units.meters_per_unit
        api = prim.get(usd_physics.RigidBodyAPI)
        assert api is not None
        groups = []
        for field, reach in (("velocity", changes.speed * meters), ("angular_velocity", changes.spin)):
            for axis, value in enumerate(api.resolved(field)):
                groups.append([Freedom(path, _RIGID, field, axis, value - reach, value + reach)])
        for axis in range(3):
            value, reach = float(prim.world[axis, 3]), changes.place * meters
            groups.append([Freedom(path, "", PLACE, axis, value - reach, value + reach)])
        colliders = self.model.colliders_of(path)
        for name in sorted({name for one in colliders for name in one.materials if name in self.model.materials}):
            matter = self.model.prims[name].schemas[_MATTER]
            for fields, reach in (
                (("dynamic_friction", "static_friction"), changes.friction), (("restitution",), changes.restitution),
            ):  # fmt: skip
                value = matter.resolved(fields[0])
                low, high = max(0.0, value - reach), max(value, min(1.0, value + reach))
                groups.append([Freedom(name, _MATTER, field, -1, low, high) for field in fields if reach])
        return [group for group in groups if group]

    def _of_joint(self, prim: Prim, changes: Changes) -> list[Freedom]:
        meters = self.model.units.meters_per_unit
        freedoms = []
        for name, value in prim.schemas.items():
            base, instance = schema.split_applied(name)
            turns = instance in schema.ANGULAR_DOFS or isinstance(value, usd_physics.RevoluteJoint)
            angles, lengths = (1.0, 0.0) if turns else (0.0, meters)
            fields: tuple[str, ...] = ()
            if isinstance(value, usd_physics.DriveAPI):
                if value.resolved("stiffness"):
                    reach = changes.drive_angle * angles + changes.drive_distance * lengths
                    freedoms.append(_about(prim, name, value, "target_position", reach))
                if value.resolved("damping"):
                    reach = changes.motor_spin * angles + changes.motor_speed * lengths
                    freedoms.append(_about(prim, name, value, "target_velocity", reach))
            elif base == usd_physics.LimitAPI.usd_name:
                fields = ("low", "high")
            elif isinstance(value, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
                fields = ("lower_limit", "upper_limit")
            reach = changes.limit_angle * angles + changes.limit_distance * lengths
            freedoms += [_about(prim, name, value, field, reach) for field in fields]
        return [one for one in freedoms if math.isfinite(one.low)]

    # ----------------------------------------------------------------------- back to Blender

    def author(self, freedoms: Sequence[Freedom], values: Any) -> None:
        """Write values to the objects and materials that have them."""
        changed = with_values(self.model, freedoms, values)
        writer = PropertyWriter(self.meters, self.meters)
        for path, applied in dict.fromkeys((one.path, one.name) for one in freedoms):
            fields = {one.field for one in freedoms if (one.path, one.name) == (path, applied)}
            prim = changed.prims[path]
            if PLACE in fields:
                obj = self._object(path)
                matrix = obj.matrix_world.copy()
                matrix.translation = (prim.world[:3, 3] / self.meters).tolist()
                joint_frames.set_world_matrix(obj, matrix)
                continue
            value = prim.schemas[applied]
            others = frozenset(item.field for item in value.attributes) - fields
            writer.write(self._group(path, applied), value, skip=others, instance=schema.split_applied(applied)[1])
        self.context.view_layer.update()

    def _object(self, path: str) -> Any:
        return bpy.data.objects[self.reading.sites[path].obj.name]

    def _group(self, path: str, applied: str) -> Any:
        """The property group that holds a schema."""
        if applied == _MATTER:
            names = {material: name for name, material in self.reading.materials.items()}
            return bpy.data.materials[names[path]].usdphys.physics_material
        if applied == _RIGID:
            return self._object(path).usdphys.rigid_body
        base, instance = schema.split_applied(applied)
        joint = bpy.data.objects[self.model.prims[path].label].usdphys.joint
        if not instance:
            return getattr(joint, joint.type.lower())
        return getattr(joint.drives if base == usd_physics.DriveAPI.usd_name else joint.limits, instance)

    def again(self, last: int) -> aim.Run:
        """A run of what is authored now: that is what counts."""
        model = scene_read.read_scene(self.context.evaluated_depsgraph_get()).model
        return aim.run_with(replace(self.setup, model=model), [], np.zeros(0), last)


def _about(prim: Prim, name: str, value: Any, field: str, reach: float) -> Freedom:
    now = float(value.resolved(field))
    return Freedom(prim.path, name, field, -1, now - reach, now + reach)


def aim_steps(
    context: Context, wishes: Sequence[Wish], changes: Changes, most_runs: int = 200, seed: int = 0, *,
    is_beside: bool = False,
) -> Generator[float, None, Aimed]:  # fmt: skip
    """Search values with which all wishes come true, and author them. Yields the completed fraction.

    is_beside: a search that takes longer than `SOON` goes on in a process beside Blender. The simulation begins at the
    current frame. The paths of the bodies are ghosts meanwhile. Closing the generator authors the best values found
    until then. Raises InputError, with nothing changed.
    """
    scene = AimedScene(context)
    targets = [scene.target(wish) for wish in wishes]
    paths = [target.path for target in targets]
    freedoms = [group[0] for group in scene.freedoms(paths, changes)]
    scene.follow(max(target.frame for target in targets))
    search = _runs(scene.setup, freedoms, targets, most_runs, seed, is_beside)
    best: aim.Run | None = None
    count, about = 0, ""
    family = ghosts.begin(context.scene.name, scene.meters)
    try:
        with engine_silenced():
            for run in search:
                if run is None:
                    yield Next(count / most_runs, about)
                    continue
                count += 1
                is_better = best is None or run.miss < best.miss
                best = run if is_better else best
                assert best is not None
                family.add(run, paths, is_best=is_better)
                about = phrase(
                    "run {run} of {runs}, {met} of {targets} met", run=count, runs=most_runs,
                    met=sum(miss <= 1.0 for miss in run.misses), targets=len(targets),
                )  # fmt: skip
                last = run
                yield Next(count / most_runs, about)
    finally:
        search.close()
        ghosts.drop()
        if count:
            scene.author(freedoms, last.best)
    again = scene.again(max(target.frame for target in targets))
    return Aimed(count, [again.miss_of(target) for target in targets])


def _runs(
    setup: aim.Setup, freedoms: Sequence[Freedom], targets: Sequence[aim.Target], most_runs: int, seed: int,
    is_beside: bool,
) -> Generator[aim.Run | None, None, None]:  # fmt: skip
    """The runs of a search; None while a process beside Blender makes the next one."""
    search = aim.aim_steps(setup, freedoms, targets, most_runs=most_runs, seed=seed)
    began, count = clock.now(), 0
    for run in search:
        count += 1
        yield run
        if is_beside and clock.now() - began > SOON:
            break
    else:
        return
    try:
        other = BesideSearch(setup, freedoms, targets, most_runs, seed)
    except OutputError:
        yield from search
        return
    number = 0
    try:
        while True:
            is_over, new = not other.is_running(), other.runs()
            for run in new:
                # It begins anew, with the same runs.
                number += 1
                if number > count:
                    yield run
            if is_over and not new:
                break
            yield None
    finally:
        other.close()
    if not other.is_done:
        for run in search:
            count += 1
            if count > number:
                yield run


# --------------------------------------------------------------------------- variations


def vary_steps(
    context: Context, bodies: Sequence[Object], changes: Changes, frame: int, runs: int, seed: int = 0
) -> Generator[float, None, int]:
    """Simulate bodies with values at random until a frame; nothing is authored. Yields the completed fraction.

    The paths are ghosts until one is chosen, or `drop` is called. Closing the generator keeps the runs until then.
    Returns the number of runs. Raises InputError.
    """
    ghosts.drop()
    scene = AimedScene(context)
    last = scene.steps_until(frame)
    paths = [scene.path_of(body) for body in bodies]
    groups = scene.freedoms(paths, changes)
    freedoms = [one for group in groups for one in group]
    scene.follow(last)
    variations = ghosts.begin(context.scene.name, scene.meters, freedoms)
    with engine_silenced():
        for number in range(runs):
            try:
                run = aim.run_with(scene.setup, freedoms, aim.random_values(groups, seed, number), last)
            except (InputError, EngineError):
                continue  # a run that the engine loses costs no other
            variations.add(run, paths, is_best=not variations.ways)
            yield (number + 1) / runs
    if not variations.ways:
        ghosts.drop()
        raise InputError("No run could be simulated; allow less to change.")
    return len(variations.ways)


def author_chosen(context: Context) -> int:
    """Author the values of the chosen variation, and drop the others. Returns its number, from 1 on.

    Raises InputError.
    """
    variations = ghosts.variations()
    if variations is None:
        raise InputError("There are no variations; vary values first.")
    scene = AimedScene(context)
    prims = scene.model.prims
    if not all(
        one.path in prims and (not one.name or one.name in prims[one.path].schemas) for one in variations.freedoms
    ):
        raise InputError("The objects of the variations have changed; vary them again.")
    scene.author(variations.freedoms, variations.values[variations.best])
    ghosts.drop()
    return variations.best + 1
