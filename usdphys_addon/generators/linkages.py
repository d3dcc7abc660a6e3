# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms of many parts: a scissor lift between two objects, and a rope over a pulley."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bmesh
import bpy
import mathutils
import numpy as np
from bpy.types import Collection, Context, Object

from ..authoring.joint_maker import JointMaker, JointOptions
from ..authoring.tagging import Tagging
from ..bridge.writing import unit_length
from ..core import frames
from ..core.building import rope_shapes
from ..core.errors import InputError
from . import damping, joints, ropes, shapes, vehicle, weights

_GRAVITY = 9.81
#: Part of the length of base and platform that the bars of a scissor lift take, and thickness of a bar by its length.
_SPAN, _THICK = 0.8, 0.04
#: Least and largest height of a stage by the length of its bars: near to flat no force lifts it.
_FLATTEST, _STEEPEST = 0.15, 0.98
#: kg/m³, of aluminium.
_DENSITY = 2700.0
#: Hz, of the platform on the drive; and the largest force by the force that holds it.
_FREQUENCY, _STRENGTH = 2.0, 2.0


def make_scissor_lift(context: Context, stages: int, rise: float) -> list[Any]:
    """Make crossed bars between the active object, the base, and the other selected one, the platform above it.

    rise: how far the drive at the base lifts the platform, Blender units. Returns the joints, the driven one first.
    Raises InputError, with nothing changed.
    """
    base, platform, maker = _parts(context)
    joints.check_free(context, [platform])
    below, above = maker.surface(base)[0], maker.surface(platform)[0]
    bottom, top, along, low, high = _room(below, above)
    span, stage = _SPAN * float(high - low), (top - bottom) / stages
    length = math.hypot(span, stage)
    wanted = stage + rise / stages
    if span <= 0.0 or not _FLATTEST * length < wanted < _STEEPEST * length:
        least, most = (part * length * stages - (top - bottom) for part in (_FLATTEST, _STEEPEST))
        raise InputError(f"{stages} stages cannot lift by {rise:.3g}, but by {least:.3g} to {most:.3g}.")
    turn = np.eye(3) if along == 0 else np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    across = 1 - along
    start = np.array([0.0, 0.0, bottom])
    start[along] = (low + high) / 2.0 - span / 2.0
    start[across] = (above[:, across].min() + above[:, across].max()) / 2.0
    width = 0.9 * float(np.ptp(above[:, across]))

    def at(x: float, z: float, way: Any = None) -> Any:
        return frames.transform(start + turn @ (x, 0.0, z), turn if way is None else way)

    depsgraph = context.evaluated_depsgraph_get()
    Tagging(depsgraph, [platform], "DYNAMIC").apply()
    maker.plan_bodies(None, platform)
    if not maker.is_body(base) and not maker.is_static(base):
        Tagging(depsgraph, [base], "STATIC").apply()
    meters = unit_length(context.scene)
    collection = bpy.data.collections.new("Scissor Lift")
    context.collection.children.link(collection)
    rising: list[Any] = []
    falling: list[Any] = []
    for number in range(stages):
        for bars, sign, inset in ((rising, 1.0, 0.0), (falling, -1.0, 2.0 * _THICK * length)):
            angle = math.atan2(stage, sign * span)
            c, s = math.cos(angle), math.sin(angle)
            way = turn @ np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
            place = at(span / 2.0, (number + 0.5) * stage, way)
            bars.append(_bar(collection, f"Bar {len(rising) + len(falling) + 1}", place, length, width - inset, meters))
    # PhysX tears loops apart with fewer.
    damping.iterate((*rising, *falling, platform), damping.MOST_ITERATIONS)
    joiner = joints.Joiner(context)
    made = [_slide(joiner, base, falling[0], at(span, 0.0), span, length)]
    made.append(joiner.add("REVOLUTE", base, rising[0], at(0.0, 0.0), axis="Y"))
    for number in range(stages):
        middle = at(span / 2.0, (number + 0.5) * stage)
        made.append(joiner.add("REVOLUTE", rising[number], falling[number], middle, axis="Y"))
        if number:
            place = number * stage
            made.append(joiner.add("REVOLUTE", falling[number - 1], rising[number], at(0.0, place), axis="Y"))
            made.append(joiner.add("REVOLUTE", rising[number - 1], falling[number], at(span, place), axis="Y"))
    made.append(joiner.add("REVOLUTE", falling[-1], platform, at(0.0, top - bottom), axis="Y"))
    made.append(_slide(joiner, platform, rising[-1], at(span, top - bottom), span, length))
    load = weights.mass_of(context, platform) + sum(bar.usdphys.mass.mass for bar in (*rising, *falling)) / 2.0
    _lift(made[0], load, stages, (span * meters, stage * meters, wanted * meters), meters)
    return made


def highest(context: Context, stages: int) -> float:
    """How far a lift between the selected objects can lift at most, Blender units. Raises InputError."""
    base, platform, maker = _parts(context)
    bottom, top, _, low, high = _room(maker.surface(base)[0], maker.surface(platform)[0])
    return _STEEPEST * stages * math.hypot(_SPAN * (high - low), (top - bottom) / stages) - (top - bottom)


def _parts(context: Context) -> tuple[Any, Any, JointMaker]:
    """(base, platform, maker) of the selection. Raises InputError where the platform is not above the base."""
    base, platform = _pair(context)
    maker = JointMaker(context, JointOptions())
    for obj in (base, platform):
        joints.check_holder(obj, maker, moves=True)
    if maker.surface(platform)[0][:, 2].min() <= maker.surface(base)[0][:, 2].max():
        raise InputError(f"'{platform.name}' is not above '{base.name}'; the active object is the base.")
    return base, platform, maker


def _room(below: frames.Matrix, above: frames.Matrix) -> tuple[float, float, int, float, float]:
    """(bottom, top, axis along which the bars run, its lowest and its highest value) between two surfaces (n, 3)."""
    along = int(np.argmax(np.ptp(above, axis=0)[:2]))
    low = max(below[:, along].min(), above[:, along].min())
    high = min(below[:, along].max(), above[:, along].max())
    return float(below[:, 2].max()), float(above[:, 2].min()), along, float(low), float(high)


def _pair(context: Context) -> tuple[Any, Any]:
    chosen, active = list(context.selected_objects), context.active_object
    if len(chosen) != 2 or active not in chosen:
        raise InputError("Select the platform, and then the base below it, so that this is the active object.")
    return active, next(obj for obj in chosen if obj != active)


def _bar(collection: Collection, name: str, place: frames.Matrix, length: float, width: float, meters: float) -> Any:
    """A bar along X of two rails, without a collider."""
    thick = _THICK * length
    made = bmesh.new()
    for side in (-0.5, 0.5):
        matrix = mathutils.Matrix.Translation((0.0, side * (width - thick), 0.0))
        bmesh.ops.create_cube(made, size=1.0, matrix=matrix @ mathutils.Matrix.Diagonal((length, thick, thick, 1.0)))
    data = bpy.data.meshes.new("Bar")
    made.to_mesh(data)
    made.free()
    obj = shapes.add_object(collection, name, data, place)
    obj.usdphys.rigid_body.is_applied = True
    own = obj.usdphys.mass
    own.is_applied = True
    own.mass = 2.0 * length * thick**2 * meters**3 * _DENSITY
    squares = (np.array([length**2 / 12.0, width**2 / 4.0, thick**2 / 12.0])) * meters**2
    own.diagonal_inertia = tuple(own.mass * (squares.sum() - squares))
    own.principal_axes = (1.0, 0.0, 0.0, 0.0)
    own.center_of_mass = (0.0, 0.0, 0.0)
    return obj


def _slide(
    joiner: joints.Joiner, body0: Object, body1: Object, frame: frames.Matrix, span: float, length: float
) -> Any:
    """A joint that turns about Y and slides along X."""
    joint = joiner.add("GENERIC", body0, body1, frame)
    joints.lock(joint, ("transY", "transZ", "rotX", "rotZ"))
    joints.limit(joint, "transX", 0.05 * length - span, 0.999 * length - span)
    return joint


def _lift(joint: Object, load: float, stages: int, sizes: Sequence[float], meters: float) -> None:
    """Drive the slide of a lift to where the platform is at its height. sizes: span, stage and wanted stage, m."""
    span, stage, wanted = sizes
    end = math.sqrt(span**2 + stage**2 - wanted**2)
    # The platform moves by so much for each metre of the slide.
    gears = [stages * x / z for x, z in ((span, stage), (end, wanted))]
    rate, moved = 2.0 * math.pi * _FREQUENCY, load * max(gears) ** 2
    joints.damp(joint, "transX", 2.0 * moved * rate, moved * rate**2)
    drive = joint.usdphys.joint.drives.transX
    # In its place the spring bears the load.
    drive.target_position = (end - span - load * _GRAVITY * gears[1] / (moved * rate**2)) / meters
    drive.max_force = _STRENGTH * load * _GRAVITY * max(gears)


# --------------------------------------------------------------------------- a pulley

#: Length of a segment of the rope over a pulley by its radius (longer ones lose energy as they bend over the wheel),
#: radius of the rope by that of the pulley, and its mass by that of the lighter load.
_PART, _THIN, _ROPE_MASS = 0.25, 0.08, 0.1


def make_pulley(context: Context) -> list[Any]:
    """Let the two other selected objects hang from a rope over the active one, a wheel. Returns the bodies of the rope.

    Raises InputError, with nothing changed.
    """
    active = context.active_object
    loads = [obj for obj in context.selected_objects if obj != active]
    if len(loads) != 2 or active not in context.selected_objects:
        raise InputError("Select the two loads, and then the wheel between them, so that this is the active object.")
    maker = JointMaker(context, JointOptions())
    joints.check_free(context, [active])
    wheel = vehicle.form_of(maker, active)
    if wheel is None:
        raise InputError(f"'{active.name}' is no upright wheel; it must be as high as it is long, and narrower.")
    axis = wheel.axis * (1.0, 1.0, 0.0)
    axis = axis / np.linalg.norm(axis)
    plane = np.array([np.cross((0.0, 0.0, 1.0), axis), (0.0, 0.0, 1.0)])
    ends = []
    for load in loads:
        points = maker.surface(load)[0]
        low, high = points.min(axis=0), points.max(axis=0)
        ends.append(np.append(((low + high) / 2.0)[:2], high[2]))
    radius = _THIN * wheel.radius
    one, other = (plane @ (end - wheel.center) for end in ends)
    line = rope_shapes.over_pulley(one, other, wheel.radius + radius, _PART)
    points = wheel.center + line @ plane
    # The ends may be beside the plane of the wheel.
    points[0], points[-1] = ends
    depsgraph = context.evaluated_depsgraph_get()
    Tagging(depsgraph, [active, *loads], "DYNAMIC").apply()
    meters = unit_length(context.scene)
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) * meters
    lighter = min(weights.mass_of(context, load) for load in loads)
    turn = np.stack((axis, plane[0], plane[1]), axis=1)
    joints.Joiner(context).add("REVOLUTE", None, active, frames.transform(wheel.center, turn))
    options = ropes.RopeOptions(radius=radius, mass=_ROPE_MASS * lighter / length, damping=0.0)
    made = ropes.make_between(context, options, points, *loads).bodies
    damping.iterate((*made, *loads), damping.MOST_ITERATIONS)
    return made
