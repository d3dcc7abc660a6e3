# SPDX-License-Identifier: GPL-3.0-or-later
"""Generators: whole constructions from objects of the open scene, with the physics that they need.

Lengths are in metres, angles in degrees, masses in kilograms. A size that is None is fitted to the objects, as in the
panel of the last operation. Everything raises InputError, with nothing changed, where it cannot be made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from ..core.errors import InputError
from ..core.words import counted, named
from . import blender
from .actions import chosen
from .results import Report

if TYPE_CHECKING:
    import bpy

    from .blender import Obj, Objects

__all__ = [
    "add", "break_apart", "mechanism", "net", "pulley", "ragdoll", "ragdoll_bake", "remove", "rope", "sample",
    "scissor_lift", "settle", "vehicle", "wall",
]  # fmt: skip

Vector = tuple[float, float, float]


def _start(function: str) -> tuple[Any, float]:
    """(context, length of a Blender unit in metres)."""
    context = blender.require(f"generate.{function}")
    from ..bridge.writing import unit_length
    from ..playback import guard

    guard.stop()
    return context, unit_length(context.scene)


@contextmanager
def _making(context: Any, kind: str, *chosen: Any) -> Iterator[None]:
    """Select objects, and the active one, and note what is made of them, for `remove`. kind: as in the window."""
    from ..generators import records

    with blender.selected(context, *chosen), records.recorded(context, kind):
        yield


def _units(metres: float | None, fitted: Any, meters: float) -> float:
    """A length in Blender units: the given one, or that which `fitted` computes."""
    return float(fitted()) if metres is None else metres / meters


def _names(objects: Any) -> tuple[str, ...]:
    return tuple(obj if isinstance(obj, str) else obj.name for obj in objects)


def add(
    kind: Literal["ground", "ramp", "stack", "ball", "dominoes"], *, at: Vector | None = None, count: int = 5,
    velocity: Vector = (0.0, 0.0, 0.0), scale: float = 1.0,
) -> Report:  # fmt: skip
    """Add a ground or a ramp, which are static, or a stack of boxes, a ball or dominoes, which are dynamic.

    at: where they stand, m; None is the 3D cursor. count: of boxes or dominoes. velocity: of a ball, m/s. scale: of the
    sizes.
    """
    context, meters = _start("add")
    wanted = chosen(kind, ("ground", "ramp", "stack", "ball", "dominoes"), "kind")
    from ..authoring import generators

    cursor = context.scene.cursor
    before = tuple(cursor.location)
    try:
        if at is not None:
            cursor.location = tuple(part / meters for part in at)
        speed = (velocity[0] / meters, velocity[1] / meters, velocity[2] / meters)
        made = generators.add(context, wanted, count=count, velocity=speed, scale=scale)
    finally:
        cursor.location = before
    return Report(f"Added {counted(len(made), 'object')}", (), _names(made))


def settle(
    objects: Objects, *, seconds: float = 10.0, copies: int = 0, spread: float | None = None, turns: bool = True,
    seed: int = 0, keep_physics: bool = False,
) -> Report:  # fmt: skip
    """Drop objects, or scattered copies of them, onto the scene and keep the poses in which they come to rest.

    seconds: the longest simulated time. copies: of each object; 0 for the objects themselves. spread: radius in which
    copies are scattered above the 3D cursor, m. turns: turn copies at random. seed: of the random numbers.
    """
    context, meters = _start("settle")
    targets = blender.objects_of(objects, context.scene)
    from ..generators import fitting
    from ..generators import settle as settling

    with blender.selected(context, targets):
        width = _units(spread, lambda: fitting.spread(context) if copies else 0.0, meters)
        options = settling.SettleOptions(seconds, copies, width, turns, seed, keep_physics)
        done = settling.settle(context, targets, options)
    return Report(done.text, tuple(done.notes), tuple(done.objects))


def rope(
    objects: Objects, kind: Literal["rope", "cable", "chain", "bridge"] = "rope", *, segments: int = 20,
    radius: float | None = None, width: float | None = None, slack: float = 0.1, mass: float | None = None,
    ends: Literal["none", "start", "both"] = "start", stiffness: float | None = None, damping: float = 0.1,
    articulation: bool = False, skin: bool = False, load: float | None = None,
) -> Report:  # fmt: skip
    """Make a rope, cable, chain or bridge between two objects, or along a curve.

    segments: number of bodies; 0 for as many as fit the radius. radius: m; of a bridge, half of the thickness. width:
    of a bridge, m. slack: how much longer it is than the distance of its ends, as a share. mass: kg for each metre.
    ends: of a curve that are fixed. stiffness: of a cable, N·m². damping: ratio of the swing. articulation:
    one articulation. skin: a curve follows it. load: kg that an articulated bridge bears.
    """
    context, meters = _start("rope")
    wanted = chosen(kind, ("rope", "cable", "chain", "bridge"), "kind")
    fixed = chosen(ends, ("none", "start", "both"), "choice of ends")
    from ..generators import fitting, ropes

    with _making(context, "Rope, Chain or Bridge", blender.objects_of(objects, context.scene)):
        thin, wide = fitting.row(context, slack)
        thin, wide = _units(radius, lambda: thin, meters), _units(width, lambda: wide, meters)
        weight = fitting.weight(context, wanted, thin, wide) if mass is None else mass
        stiff = fitting.stiffness(context, thin) if stiffness is None else stiffness
        bears = fitting.load(context, slack, thin, wide) if load is None else load
        made = ropes.make_row(context, ropes.RopeOptions(
            wanted, segments, thin, wide, slack, weight, fixed, stiff, damping, articulation, skin, bears
        ))  # fmt: skip
    return Report(f"Made a {kind} of {len(made.bodies)} bodies", (), _names(made.bodies))


def net(
    *, size: tuple[float, float] = (2.0, 2.0), knots: tuple[int, int] = (8, 8),
    held: Literal["corners", "edges", "none"] = "corners", radius: float = 0.01, mass: float = 0.5,
) -> Report:  # fmt: skip
    """Make a net at the 3D cursor. size: along X and Y, m. knots: along X and Y. held: what is fixed to the world.

    radius: of the strings, m. mass: kg for each square metre.
    """
    context, meters = _start("net")
    fixed = chosen(held, ("corners", "edges", "none"), "choice of what is held")
    from ..generators import nets

    options = nets.NetOptions((size[0] / meters, size[1] / meters), knots, fixed, radius / meters, mass)
    with _making(context, "Net", []):
        made = nets.make_net(context, options)
    return Report(f"Made a net of {len(made)} knots", (), _names(made))


def wall(
    brick: Obj, kind: Literal["wall", "stack", "pyramid", "chimney"] = "wall", *,
    counts: tuple[int, int, int] = (8, 1, 6), gap: float = 0.0, shift: float = 0.0, turn: float = 0.0, seed: int = 0,
    bonded: bool = False,
) -> Report:  # fmt: skip
    """Make a wall, a stack, a pyramid or a chimney of copies of an object.

    counts: bricks along X and Y, and courses; of a chimney, counts[0] is the bricks of a course. gap: between bricks,
    m. shift, turn: largest random offset, m, and turn about Z, °. seed: of the random numbers. bonded: bricks that
    touch are joined by bonds that break.
    """
    context, meters = _start("wall")
    wanted = chosen(kind, ("wall", "stack", "pyramid", "chimney"), "kind")
    from ..generators import bonds, walls

    with _making(context, "Wall or Stack", [blender.object_of(brick, context.scene)]):
        made = walls.make_wall(context, walls.WallOptions(
            wanted, counts, gap / meters, shift / meters, math.radians(turn), seed
        ))  # fmt: skip
        if not bonded:
            return Report(f"Made {len(made)} bricks", (), _names(made))
        try:
            done = bonds.bond(context, made, bonds.BondOptions(gap=(gap + 0.001) / meters))
        except InputError as error:
            # The bricks are there, and stand without bonds.
            return Report(f"Made {len(made)} bricks", (str(error),), _names(made))
    return Report(f"Made {len(made)} bricks with {len(done.joints)} bonds", (), _names(made))


def break_apart(
    objects: Objects, *, material: str = "brick", strength: float = 1.0, gap: float | None = None, pieces: int = 20,
    seed: int = 0,
) -> Report:  # fmt: skip
    """Make pieces, or those that one mesh is broken into, bodies with joints that break where they touch.

    A mesh of loose parts is split into these; one of a single part is broken into so many `pieces`. material: a
    preset, such as "brick" or "glass", which says density, friction and strength. strength: factor of it. gap: largest
    distance of faces that touch, m. seed: another number breaks it elsewhere.
    """
    context, meters = _start("break_apart")
    from ..core.common_materials import BY_KEY
    from ..generators import bonds, fracture

    key = chosen(material, tuple(each.lower() for each in BY_KEY), "preset of a material")
    targets = blender.objects_of(objects, context.scene)
    # Cell Fracture leaves 0.002 between its pieces, in scenes of any unit.
    width = _units(gap, lambda: 0.0025 / min(meters, 1.0), meters)
    with (
        blender.selected(context, targets),
        fracture.in_pieces(context, targets, pieces, seed) as parts,
        _making(context, "Break Apart", parts.objects),
    ):
        done = bonds.bond(context, parts.objects, bonds.BondOptions(key, strength, width))
    return Report(f"Joined {len(done.pieces)} pieces by {len(done.joints)} bonds", (), _names(done.pieces))


def ragdoll(
    armature: Obj, *, detail: Literal["low", "medium", "high"] = "medium", mass: float = 0.0, damping: float = 0.5,
    articulation: bool = False, follows: bool = True, frequency: float = 0.0,
) -> Report:  # fmt: skip
    """Make a ragdoll of an armature, or of the one that moves a mesh, in its present pose.

    mass: kg; 0 for that of its size. damping: 0 to 1. articulation: one articulation. follows: the bones follow the
    bodies. frequency: Hz, of drives that pull the bodies after the animation; 0 for none.
    """
    context, _ = _start("ragdoll")
    wanted = chosen(detail, ("low", "medium", "high"), "detail")
    from ..generators import ragdoll as ragdolls

    with _making(context, "Ragdoll", [blender.object_of(armature, context.scene)]):
        made = ragdolls.make_ragdoll(
            context, ragdolls.RagdollOptions(wanted, mass, damping, articulation, follows, frequency)
        )
    return Report(f"Made a ragdoll of {len(made.bodies)} bodies", (), _names(made.bodies))


def ragdoll_bake(armature: Obj, start: int | None = None, end: int | None = None) -> int:
    """Simulate frames and insert keyframes for the bones that follow a ragdoll. None: as the scene says.

    Returns the number of bones.
    """
    context, _ = _start("ragdoll_bake")
    from ..generators import ragdoll as ragdolls

    scene = context.scene
    frames = (scene.frame_start if start is None else start, scene.frame_end if end is None else end)
    with blender.selected(context, [blender.object_of(armature, scene)]):
        return ragdolls.bake_bones(context, *frames)[0]


def vehicle(
    chassis: Obj, wheels: Objects, *, frequency: float = 2.0, ratio: float = 0.5, travel: float | None = None,
    driven: Literal["front", "rear", "all"] = "all", steering: float = 30.0, speed: float | None = None,
    drives: bool = True, shape: Literal["sphere", "cylinder"] = "sphere", articulation: bool = False,
) -> Report:  # fmt: skip
    """Make a vehicle of a chassis and its wheels.

    frequency: of the springs, Hz. ratio: their damping ratio. travel: of a wheel up and down, m. driven: which wheels.
    steering: largest angle, °; 0 for none. speed: m/s. drives: the wheels turn from the start. shape: of the colliders
    of wheels that have none. articulation: one articulation.
    """
    context, meters = _start("vehicle")
    which = chosen(driven, ("front", "rear", "all"), "choice of wheels")
    form = chosen(shape, ("sphere", "cylinder"), "shape")
    from ..generators import fitting
    from ..generators import vehicle as vehicles

    body = blender.object_of(chassis, context.scene)
    rims = blender.objects_of(wheels, context.scene)
    with _making(context, "Vehicle", [*rims, body], body):
        way, pace = fitting.car(context)
        made = vehicles.make_vehicle(context, vehicles.VehicleOptions(
            frequency, ratio, _units(travel, lambda: way, meters), which, math.radians(steering),
            _units(speed, lambda: pace, meters), drives, form, articulation,
        ))  # fmt: skip
    text = f"Made a vehicle of '{made.chassis.name}' and {len(made.wheels)} wheels"
    notes = [*made.notes]
    if left := [obj.name for obj in rims if obj not in made.wheels]:
        notes.append(f"These are no wheels by their form, and are part of the rest: {named(left)}")
    return Report(text, tuple(notes), _names([made.chassis, *made.wheels, *made.joints]))


def mechanism(
    objects: Objects,
    kind: Literal["door", "drawer", "lid", "wheel", "lever", "button", "turntable", "conveyor"],
    holder: Obj | None = None, *, speed: float | None = None, articulation: bool = False,
) -> Report:  # fmt: skip
    """Make objects doors, drawers, lids and the like.

    holder: what holds them; None is the world, for a button, a turntable and a conveyor.
    speed: of a turntable, °/s, or of the surface of a conveyor, m/s. articulation: one that hangs on the world.
    """
    context, meters = _start("mechanism")
    kinds = ("door", "drawer", "lid", "wheel", "lever", "button", "turntable", "conveyor")
    wanted = chosen(kind, kinds, "mechanism")
    targets = blender.objects_of(objects, context.scene)
    base = None if holder is None else blender.object_of(holder, context.scene)
    if base is not None and base in targets:
        raise InputError(f"'{base.name}' cannot hold itself; leave it out of the objects.")
    if base is None and wanted not in ("BUTTON", "TURNTABLE", "CONVEYOR"):
        raise InputError(f"A {kind} needs an object that holds it; give one as `holder`.")
    if base is None and len(targets) > 1 and wanted != "CONVEYOR":
        raise InputError("Several objects need a holder; give one, or call mechanism() for each of them.")
    from ..generators import fitting, mechanisms

    with _making(context, "Mechanism", [*targets, *([base] if base is not None else [])], base or targets[0]):
        if wanted == "CONVEYOR":
            pace = _units(speed, lambda: fitting.run(context), meters)
        else:
            pace = math.radians(60.0 if speed is None else speed)
        made = mechanisms.make_mechanism(context, wanted, pace, articulation=articulation)
    return Report(f"Made a {kind} of {counted(len(targets), 'object')}", (), _names(made))


def pulley(wheel: Obj, loads: tuple[Obj, Obj]) -> Report:
    """Let two loads hang from a rope over a wheel. The report names the bodies of the rope."""
    context, _ = _start("pulley")
    hub = blender.object_of(wheel, context.scene)
    from ..generators import linkages

    with _making(context, "Mechanism", [*blender.objects_of(loads, context.scene), hub], hub):
        made = linkages.make_pulley(context)
    return Report(f"Made a pulley with a rope of {len(made)} bodies", (), _names(made))


def scissor_lift(base: Obj, platform: Obj, *, stages: int = 2, rise: float | None = None) -> Report:
    """Make crossed bars that lift a platform above a base. stages: pairs of bars. rise: how far, m."""
    context, meters = _start("scissor_lift")
    ground = blender.object_of(base, context.scene)
    from ..generators import fitting, linkages

    with _making(context, "Mechanism", [blender.object_of(platform, context.scene), ground], ground):
        height = _units(rise, lambda: fitting.rise(context, stages), meters)
        made = linkages.make_scissor_lift(context, stages, height)
    return Report(f"Made a scissor lift with {len(made)} joints", (), _names(made))


def remove(objects: Objects) -> Report:
    """Remove what generators have made with these objects, and give them back what they were before.

    Names in the report are those of the generators. Edits of the objects since then are kept, and named.
    """
    context, _ = _start("remove")
    from ..generators import records

    gone = records.remove(context, blender.objects_of(objects, context.scene))
    return Report(f"Removed {counted(gone.number, 'object')}", tuple(gone.notes), tuple(gone.kinds))


def sample(kind: str) -> bpy.types.Scene:
    """Make a sample in a scene of its own, which the window shows then. kind: "car", "arm", "dominoes", ..."""
    context, _ = _start("sample")
    from ..authoring.generator_kinds import SAMPLES
    from ..generators import samples

    sample_scene: Any = samples.make(context, chosen(kind, tuple(name.lower() for name, *_ in SAMPLES), "sample"))
    return sample_scene  # type: ignore[no-any-return]
