# SPDX-License-Identifier: GPL-3.0-or-later
"""Ropes, chains, cables and bridges along a curve or between two objects: bodies in a row with joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import mathutils
import numpy as np
from bpy.types import Collection, Context, Object
from mathutils.bvhtree import BVHTree

from ..authoring.joint_maker import JointMaker, JointOptions, make_body
from ..authoring.selected import has_colliders
from ..bridge import mesh as meshes
from ..bridge.joint_frames import is_joint
from ..bridge.roles import is_body, parents_of
from ..bridge.writing import unit_length
from ..core import frames
from ..core.building import rope_shapes
from ..core.errors import InputError
from . import cables, damping, joints, shapes, weights

Array = Any
_LABELS = {"ROPE": "Rope", "CABLE": "Cable", "CHAIN": "Chain", "BRIDGE": "Bridge", "CURVE": "Deformable Cable"}
#: Largest angle that two segments of a rope may bend and twist against each other, rad.
_BEND, _TWIST = math.radians(80.0), math.radians(10.0)
#: Slack below which a bridge is as stiff as with this.
_LEAST_SLACK = 0.01
#: Gap between two planks, as a part of their length.
_GAP = 0.08
#: Longest time step (s) at which PhysX is to hold an articulated row, and least sine of the slope of its ends.
_STEP, _LEAST_SLOPE = 1.0 / 60.0, 0.1
#: How fast joints of an articulated row may turn, rad/s, by how light their segments are for what pulls at them.
_SPEEDS = ((2.0, math.radians(400.0)), (math.inf, math.radians(150.0)))
#: Iterations of PhysX for each segment, and at least: 50 of a rope of 6 m were 4 mm apart with the usual 16, and 0.1 mm
#: so. A load makes short ones give way, too.
_ITERATIONS, _LEAST_ITERATIONS = 4.0, 64.0
#: PhysX loses segments that are lighter in steps of `_STEP`.
_LIGHTEST = 4.0


@dataclass(frozen=True, slots=True)
class RopeOptions:
    """How a row is made.

    kind: ROPE, CABLE, CHAIN, BRIDGE, or CURVE for a single curve that deforms. segments: number of bodies; 0 for as
    many as fit its radius. radius: Blender units; of a bridge, half of the thickness. width: of a bridge. slack:
    how much longer it is than the distance of its ends. mass: kg for each metre. ends: of a curve that are fixed to
    the world, NONE, START or BOTH; a row between two objects is fixed to both. stiffness: of a cable, N m² against
    bending. damping: ratio of the swing of the whole; 1 is without a swing. articulation: the bodies are one
    articulation. skin: a curve follows it. load: kg that an articulated bridge bears.
    """

    kind: str = "ROPE"
    segments: int = 20
    radius: float = 0.02
    width: float = 1.0
    slack: float = 0.1
    mass: float = 1.0
    ends: str = "START"
    stiffness: float = 1.0
    damping: float = 0.1
    articulation: bool = False
    skin: bool = False
    load: float = 100.0


@dataclass(slots=True)
class _Path:
    points: Array
    start: Object | None
    end: Object | None
    is_start_fixed: bool
    is_end_fixed: bool
    idle: frozenset[str] = frozenset()


class Row(NamedTuple):
    """steps: time steps a second with which PhysX holds an articulation of the bodies; 60 is what simulators take.

    idle: which of the options `ends` and `slack` do not matter for the selection. stilled: objects without physics
    that hold an end, and are static now.
    """

    bodies: list[Any]
    steps: int
    idle: frozenset[str]
    stilled: tuple[Object, ...] = ()


def make_row(context: Context, options: RopeOptions) -> Row:
    """Make a rope, cable, chain or bridge from the selection, and select its bodies. Raises InputError."""
    return _make(context, options, _path(context, options))


def make_between(context: Context, options: RopeOptions, points: Array, start: Object, end: Object) -> Row:
    """Make a row along points (n, 3) in the world that is fixed to two objects, and select its bodies."""
    return _make(context, options, _Path(points, start, end, True, True))


def _make(context: Context, options: RopeOptions, path: _Path) -> Row:
    if options.articulation:
        path.start, path.end = _carrier(path.start), _carrier(path.end)
    if options.articulation and path.is_end_fixed and _moves(path.start) and not _moves(path.end):
        # What stands still is the root.
        path = _Path(path.points[::-1], path.end, path.start, True, True)
    lengths = np.linalg.norm(np.diff(path.points, axis=0), axis=1)
    if lengths.min() <= 0.0:
        raise InputError("Two points of the row are in one place; use fewer segments.")
    collection = shapes.new_collection(context, _LABELS[options.kind])
    if options.kind == "CURVE":
        return _make_curve(context, collection, options, path)
    turned = rope_shapes.frames_along(path.points)
    stilled = _still(path.start, path.end)
    bodies = _bodies(context, collection, options, path.points, turned, lengths)
    steps = _joints(context, options, path, bodies, turned, lengths)
    if options.skin and options.kind in ("ROPE", "CABLE"):
        _skin(context, collection, options, path.points, bodies)
    shapes.select_only(context, bodies)
    return Row(bodies, steps, path.idle, stilled)


def _still(*holders: Object | None) -> tuple[Object, ...]:
    """Give the holders of ends that have no physics a collider, and return those that stand still by that."""
    bare = tuple(
        obj for obj in holders
        if obj is not None and not is_body(obj) and obj.type in meshes.GEOMETRY_TYPES and not has_colliders(obj)
    )  # fmt: skip
    for obj in bare:
        make_body([obj], moves=False)
    return tuple(obj for obj in bare if not any(map(is_body, parents_of(obj))))


def _make_curve(context: Context, collection: Collection, options: RopeOptions, path: _Path) -> Row:
    held = (("start", path.is_start_fixed, path.start), ("end", path.is_end_fixed, path.end))
    holders = {side: holder for side, is_held, holder in held if is_held}
    curve = cables.make(context, collection, path.points, options.radius, options.mass, options.stiffness, holders)
    shapes.select_only(context, [curve])
    return Row([curve], round(1.0 / _STEP), path.idle)


# --------------------------------------------------------------------------- where it runs


def _path(context: Context, options: RopeOptions) -> _Path:
    """The points between the bodies of a row. Raises InputError."""
    chosen = [obj for obj in context.selected_objects if not is_joint(obj)]
    maker = JointMaker(context, JointOptions())
    for obj in chosen:
        joints.check_holder(obj, maker)
    curves = [obj for obj in chosen if obj.type == "CURVE"]
    if len(curves) == 1:
        return _along_curve(context, options, curves[0], [obj for obj in chosen if obj is not curves[0]])
    if curves or len(chosen) != 2:
        raise InputError("Select a curve, or the two objects that hold the ends.")
    active = context.active_object if context.active_object in chosen else chosen[0]
    return _between(context, options, active, next(obj for obj in chosen if obj is not active))


def _along_curve(context: Context, options: RopeOptions, curve: Object, holders: Sequence[Object]) -> _Path:
    """holders: hold the end that they are next to."""
    points, is_closed = _curve_points(context, curve)
    count = options.segments or _fitting(rope_shapes.length_of(points, is_closed=is_closed), options)
    line = rope_shapes.resampled(points, count, is_closed=is_closed)
    ends: dict[bool, list[Any]] = {True: [], False: []}
    for obj in holders:
        place: Array = np.array(obj.matrix_world.translation)
        ends[bool(np.linalg.norm(place - line[0]) <= np.linalg.norm(place - line[-1]))].append(obj)
    start, end = (ends[side][0] if ends[side] else None for side in (True, False))
    idle = frozenset(("slack",) if start is None or end is None else ("slack", "ends"))
    is_start_fixed = start is not None or options.ends in ("START", "BOTH")
    is_end_fixed = end is not None or options.ends == "BOTH"
    # What an end is inside of holds it: joined to the world, it would be pushed out of there.
    if start is None and is_start_fixed:
        start = _around(context, line[0])
    if end is None and is_end_fixed:
        end = _around(context, line[-1])
    return _Path(line, start, end, is_start_fixed, is_end_fixed, idle)


def _around(context: Context, place: Array) -> Object | None:
    """The smallest visible mesh with a collider that a place in the world is inside of."""
    depsgraph, found = context.evaluated_depsgraph_get(), []
    for obj in context.visible_objects:
        if obj.type != "MESH" or not has_colliders(obj):
            continue
        evaluated = obj.evaluated_get(depsgraph)
        local = evaluated.matrix_world.inverted_safe() @ mathutils.Vector(place.tolist())
        box = np.array([tuple(corner) for corner in evaluated.bound_box])
        if (np.array(local) < box.min(axis=0)).any() or (np.array(local) > box.max(axis=0)).any():
            continue
        if meshes.is_inside(BVHTree.FromObject(obj, depsgraph), np.array(local)):
            found.append((float(np.prod(evaluated.dimensions)), obj.name, obj))
    return min(found)[2] if found else None


def _between(context: Context, options: RopeOptions, start: Object, end: Object) -> _Path:
    ends = [_hold(context, start, end), _hold(context, end, start)]
    if options.kind == "BRIDGE":
        ends = [_at_edge(context, obj, place, options.radius) for obj, place in zip((start, end), ends, strict=True)]
    straight = float(np.linalg.norm(ends[1] - ends[0]))
    if straight <= 0.0:
        raise InputError(f"'{start.name}' and '{end.name}' touch; move them apart.")
    length = straight * (1.0 + max(options.slack, 0.0))
    count = options.segments or _fitting(length, options)
    line = rope_shapes.catenary(ends[0], ends[1], length, count)
    if options.kind != "BRIDGE":
        line = _above_ground(context, line, 2.0 * options.radius)
    return _Path(line, start, end, True, True, frozenset(["ends"]))


def _above_ground(context: Context, line: Array, radius: float) -> Array:
    """A hanging row (n, 3), swung sideways about the line of its ends as far as it would start in the ground.

    In the preview it falls onto it. A row whose ends are above each other stays.
    """
    chord = line[-1] - line[0]
    if np.linalg.norm(chord[:2]) < 1e-3 * np.linalg.norm(chord):
        return line
    for angle in np.radians((0.0, 30.0, -30.0, 60.0, -60.0, 90.0, -90.0, 135.0, -135.0)).tolist():
        turn = np.array(mathutils.Matrix.Rotation(angle, 3, mathutils.Vector(chord.tolist())))
        swung = (line - line[0]) @ turn.T + line[0]
        if _is_clear(context, swung, radius):
            return swung
    return line


def _is_clear(context: Context, line: Array, radius: float) -> bool:
    """True if no surface is between the height of the ends of a row and what is inside of it."""
    depsgraph, top = context.evaluated_depsgraph_get(), line[[0, -1], 2]
    # The ends are on what holds them.
    for place, height in zip(line[1:-1], np.linspace(top[0], top[1], len(line))[1:-1], strict=True):
        start = mathutils.Vector((*place[:2], max(height, place[2])))
        deep = start.z - float(place[2]) + radius
        if context.scene.ray_cast(depsgraph, start, (0.0, 0.0, -1.0), distance=deep)[0]:
            return False
    return True


def length_of(context: Context, slack: float) -> float:
    """Length of a row along the selection, Blender units. Raises InputError."""
    return float(np.linalg.norm(np.diff(_path(context, RopeOptions(slack=slack)).points, axis=0), axis=1).sum())


def _fitting(length: float, options: RopeOptions) -> int:
    """Number of segments that are four radii long; of a bridge, a third of its width."""
    part = options.width / 3.0 if options.kind == "BRIDGE" else 4.0 * options.radius
    return max(2, min(200, round(length / max(part, 1e-9))))


def _curve_points(context: Context, obj: Object) -> tuple[Array, bool]:
    """World points (n, 3) of the first spline of a curve, and whether it is closed."""
    if not obj.data.splines:
        raise InputError(f"'{obj.name}' has no points.")
    spline = obj.data.splines[0]
    # A copy without thickness: its edges are the line.
    copy = obj.data.copy()
    copy.bevel_depth = copy.extrude = copy.offset = 0.0
    copy.bevel_mode = "ROUND"
    for other in list(copy.splines)[1:]:
        copy.splines.remove(other)
    holder: Any = bpy.data.objects.new("Line", copy)
    try:
        mesh = holder.to_mesh()
        points = meshes.points_of(mesh)
    finally:
        holder.to_mesh_clear()
        bpy.data.objects.remove(holder)
        bpy.data.curves.remove(copy)
    world = np.array(obj.evaluated_get(context.evaluated_depsgraph_get()).matrix_world)
    return points @ world[:3, :3].T + world[:3, 3], bool(spline.use_cyclic_u)


def _hold(context: Context, obj: Object, other: Object) -> Array:
    """Where a row leaves an object towards another one: its surface, or the origin of an object without one."""
    depsgraph = context.evaluated_depsgraph_get()
    evaluated = obj.evaluated_get(depsgraph)
    origin: Array = np.array(evaluated.matrix_world.translation)
    points = meshes.vertices_of(evaluated) if obj.type in meshes.GEOMETRY_TYPES else np.zeros((0, 3))
    if not len(points):
        return origin
    world = evaluated.matrix_world
    box = [world @ mathutils.Vector(corner) for corner in evaluated.bound_box]
    middle = sum(box, mathutils.Vector()) / 8.0
    towards = JointMaker(context, JointOptions()).center(other)
    if obj.type == "MESH":
        inverse = world.inverted_safe()
        outside = mathutils.Vector(towards.tolist())
        direction = inverse.to_3x3() @ (middle - outside)
        hit, place, _, _ = evaluated.ray_cast(inverse @ outside, direction)
        if hit:
            return np.array(world @ place)
    return np.array(middle)


def _at_edge(context: Context, obj: Object, place: Array, half: float) -> Array:
    """The place on the upper edge of an object above a place on its side. half: of the thickness of what hangs there.

    What lies there is level with the top, so that one can walk on. A place on the top, or on a thin post, which has no
    top to walk on, stays as it is.
    """
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    if obj.type not in meshes.GEOMETRY_TYPES or not len(meshes.vertices_of(evaluated)):
        return place
    box = np.array([evaluated.matrix_world @ mathutils.Vector(corner) for corner in evaluated.bound_box])
    size = np.ptp(box, axis=0)
    top = float(box[:, 2].max()) - half
    if top <= place[2] or size[2] > 2.0 * size[:2].max():
        return place
    return np.array((place[0], place[1], top))


# --------------------------------------------------------------------------- bodies and joints


def _bodies(
    context: Context, collection: Collection, options: RopeOptions, points: Array, turned: Array, lengths: Array
) -> list[Any]:  # fmt: skip
    meters = unit_length(context.scene)
    label = collection.name.split(".")[0]
    data: dict[tuple[str, float], Any] = {}
    bodies = []
    for row, length in enumerate(lengths.tolist()):
        turn = turned[row]
        if options.kind == "CHAIN" and row % 2:
            turn = turn[:, (0, 2, 1)] * (1.0, 1.0, -1.0)
        key = (options.kind, round(length, 6))
        if key not in data:
            data[key] = _mesh(label, options, length)
        place = frames.transform((points[row] + points[row + 1]) / 2.0, turn)
        obj = shapes.add_object(collection, f"{label} {row + 1}", data[key], place)
        obj.usdphys.rigid_body.is_applied = True
        obj.usdphys.mass.is_applied = True
        obj.usdphys.mass.mass = options.mass * length * meters
        if options.kind == "BRIDGE":
            shapes.give_box(obj, _plank(options, length))
        else:
            radius = options.radius * (2.0 if options.kind == "CHAIN" else 1.0)
            radius = min(radius, 0.45 * length)
            shapes.give_capsule(obj, radius, max(length - 2.0 * radius, 0.0))
        bodies.append(obj)
    return bodies


def _plank(options: RopeOptions, length: float) -> tuple[float, float, float]:
    return (length * (1.0 - _GAP), options.width, 2.0 * options.radius)


def _mesh(label: str, options: RopeOptions, length: float) -> Any:
    if options.kind == "BRIDGE":
        return shapes.box(label, _plank(options, length))
    if options.kind == "CHAIN":
        # Neighbours reach into each other by the thickness of the wire.
        return shapes.link(label, options.radius, length + 2.0 * options.radius, min(5.0 * options.radius, length))
    return shapes.capsule(label, options.radius, length)


class _Gains(NamedTuple):
    """Of the joints of a row. resistance: N m s against its swing, without that against pulls. stiffness: N m.

    pulls: (n + 1,), N, of an articulation, else zeros. part: mean length of a segment, m. lightness: how far the
    largest pull moves a segment in a time step, by its length.
    """

    resistance: float
    stiffness: float
    pulls: Array
    part: float
    lightness: float

    def damping_of(self, place: int) -> float:
        """N m s, of the joint before a segment."""
        return float(self.resistance + 2.0 * _STEP * self.pulls[place] * self.part)


def _gains(context: Context, options: RopeOptions, path: _Path, lengths: Array) -> _Gains:
    """lengths: (n,), m."""
    part = float(lengths.mean())
    # Critical for a segment that swings like the whole row: inertia times angular frequency.
    resistance = options.damping * options.mass * part * part**2 * _frequency(lengths) * 2.0
    stiffness = options.stiffness / part if options.kind == "CABLE" else 0.0
    # Critical for a segment on its spring: without, an articulation of PhysX at 60 steps a second swings up.
    resistance += 2.0 * math.sqrt(stiffness * options.mass * part * part**2 / 3.0)
    pulls = _pulls(context, options, path, lengths) if options.articulation else np.zeros(len(lengths) + 1)
    lightness = float(pulls.max()) * _STEP**2 / (options.mass * part**2)
    return _Gains(resistance, stiffness, pulls, part, lightness)


def _frequency(lengths: Array) -> float:
    """Angular frequency, rad/s, with which a row of segments swings as a whole."""
    return math.sqrt(9.81 / max(float(lengths.sum()), 1e-6))


def _wave(lengths: Array, slack: float) -> float:
    """Angular frequency, rad/s, of the first wave of a row that hangs between its ends, which are not far below.

    A parabola that is longer than its span by a part s has a sag of span * sqrt(3 s / 8), and bears its weight by the
    pull m g span / 8 sag: a wave runs along it and back in 2 pi / that.
    """
    sag = math.sqrt(0.375 * max(slack, _LEAST_SLACK)) * float(lengths.sum()) / (1.0 + slack)
    return math.pi * math.sqrt(9.81 / (8.0 * max(sag, 1e-6)))


def _joints(
    context: Context, options: RopeOptions, path: _Path, bodies: Sequence[Object], turned: Array, lengths: Array
) -> int:  # fmt: skip
    """Join a row. Returns the time steps a second with which PhysX holds it."""
    hangs = options.articulation and path.is_start_fixed and not _moves(path.start)
    anchor = joints.anchor(bodies[0], sum(body.usdphys.mass.mass for body in bodies)) if hangs else None
    joiner = joints.Joiner(context)
    lengths = lengths * unit_length(context.scene)
    if options.damping:
        # The row loses its swing as an oscillator of this damping ratio.
        # A load as heavy as a bridge, which is not damped itself, halves its damping.
        swing = 2.0 * _wave(lengths, options.slack) if options.kind == "BRIDGE" else _frequency(lengths)
        rate = 2.0 * options.damping * swing
        for body in bodies:
            damping.damp_body(body, rate, rate)
    gains = _gains(context, options, path, lengths)
    row = _RowJoiner(context, options, path, bodies, turned, gains, anchor, joiner)
    for place in range(0 if path.is_start_fixed else 1, len(bodies) + int(path.is_end_fixed)):
        row.join(place)
    if options.articulation:
        root = row.root()
        root.usdphys.articulation_root.is_applied = True
        # With 64 a bridge of 23 planks, as heavy as half its load, was torn; with 128 it held.
        damping.iterate_articulation(root, damping.MOST_ITERATIONS)
    else:
        # What falls on a bridge makes it give way, too.
        is_bridge = options.kind == "BRIDGE"
        count = damping.MOST_ITERATIONS if is_bridge else max(_LEAST_ITERATIONS, _ITERATIONS * len(bodies))
        damping.iterate(bodies, count)
    least = round(1.0 / _STEP)
    return least if gains.lightness <= _LIGHTEST else least * math.ceil(math.sqrt(gains.lightness))


class _Ends(NamedTuple):
    """The bodies that a joint holds. is_link: the outer one of them becomes a link of the articulation."""

    before: Any | None
    own: Any
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class _RowJoiner:
    """Makes the joints of a row: joint 0 holds its start, joint n, of n bodies, its end.

    anchor: holds the start of an articulation in the world.
    """

    context: Any
    options: RopeOptions
    path: _Path
    bodies: Sequence[Object]
    turned: Array
    gains: _Gains
    anchor: Any | None
    joiner: joints.Joiner

    def join(self, place: int) -> None:
        """Make a joint."""
        articulation, is_last = self.options.articulation, place == len(self.bodies)
        before, own, is_link = self.ends(place)
        one, other, bend = self.frames(place)
        closes_loop = articulation and is_last and not is_link
        if closes_loop:
            # Of joints that close a loop, Newton takes these and hinges, and hinges with the world do not hold there.
            joint = self.joiner.add("SPHERICAL", before, own, one, other)
            # An articulation is a tree without loops.
            joint.usdphys.joint.exclude_from_articulation = True
            return
        if self.options.kind == "BRIDGE":
            joint = self.joiner.add("REVOLUTE", before, own, one, other, "Y")
            if resists := self.gains.damping_of(place):
                joints.damp(joint, "angular", resists)
        else:
            joint = self.joiner.add("GENERIC", before, own, one, other)
            self.restrain(joint, place, bend)
        if articulation:
            speed = next(speed for most, speed in _SPEEDS if self.gains.lightness <= most)
            for dof in ("angular",) if self.options.kind == "BRIDGE" else joints.ROTATIONS:
                joints.slow(joint, dof, speed)

    def ends(self, place: int) -> _Ends:
        """Which bodies a joint holds."""
        if 0 < place < len(self.bodies):
            return _Ends(self.bodies[place - 1], self.bodies[place])
        holder, own = (self.path.end, self.bodies[-1]) if place else (self.path.start, self.bodies[0])
        if not self.options.articulation:
            return _Ends(holder, own)
        if _can_be_link(self.context, holder, self.bodies):
            return _Ends(own, holder, True) if place else _Ends(holder, own, True)
        if _moves(holder):
            return _Ends(holder, own)
        if holder is not None:
            # The joint is with the world, and does not keep the body from colliding with what holds it.
            joints.let_through(own, holder)
        return _Ends(self.anchor, own)

    def frames(self, place: int) -> tuple[Array, Array, Array]:
        """World frames of both sides of a joint, and how far it is bent (3,), rad."""
        count = len(self.bodies)
        before, after = self.turned[max(place - 1, 0)], self.turned[min(place, count - 1)]
        one, other = (frames.transform(self.path.points[place], way) for way in (before, after))
        if place == count:
            return other, other, np.zeros(3)
        if self.options.articulation:
            # PhysX starts with the joints of an articulation at zero, whatever the poses are, so that these must be it.
            return one, one, np.array(frames.rotation_vector(after.T @ before))
        return one, other, np.zeros(3)

    def restrain(self, joint: Object, place: int, bend: Array) -> None:
        """Limit and drive the rotations of a generic joint; bend: rad, in its zero pose."""
        joints.lock(joint, joints.TRANSLATIONS)
        is_inner, resists = 0 < place < len(self.bodies), self.gains.damping_of(place)
        for dof, widest, straight in zip(joints.ROTATIONS, (_TWIST, _BEND, _BEND), bend.tolist(), strict=True):
            if is_inner and self.options.kind != "CHAIN":
                joints.limit(joint, dof, min(straight - widest, 0.0), max(straight + widest, 0.0))
            elif self.options.articulation:
                joints.free(joint, dof)
            stiffness = self.gains.stiffness if is_inner and dof != "rotX" else 0.0
            if resists or stiffness:
                joints.damp(joint, dof, resists, stiffness, straight if stiffness else 0.0)

    def root(self) -> Any:
        """What becomes the root of the articulation: PhysX lets a body float that is a root and fixed."""
        if self.anchor is not None:
            return self.joiner.add("FIXED", None, self.anchor, np.eye(4))
        start = self.path.start
        is_link = start is not None and start.name not in moving_ends(self.context, self.bodies)
        return start if is_link else self.bodies[0]


def _pulls(context: Context, options: RopeOptions, path: _Path, lengths: Array) -> Array:
    """Pull (n + 1,), N, at the joints of a row of lengths (n,), m.

    PhysX takes the joints of an articulation as coordinates, so that a pull T on a segment of length l acts as a spring
    T l between angles, one step late: light segments swing up. A damping of T l / 8 times the time step stops that at
    rest; `_Gains.damping_of` gives 16 times as much, for what falls onto the row. A bent joint then straightens in two
    steps.
    """
    masses = options.mass * lengths
    carried = [
        weights.mass_of(context, end) if end is not None and is_body(end) else 0.0 for end in (path.start, path.end)
    ]
    is_held = (path.is_start_fixed and not _moves(path.start), path.is_end_fixed and not _moves(path.end))
    if all(is_held):
        weight = float(masses.sum()) + (options.load if options.kind == "BRIDGE" else 0.0)
        span = float(np.linalg.norm(path.points[-1] - path.points[0])) * unit_length(context.scene)
        slope = max(math.sqrt(max(1.0 - (span / float(lengths.sum())) ** 2, 0.0)), _LEAST_SLOPE)
        return np.full(len(lengths) + 1, 9.81 * weight * max(1.0, 0.5 / slope))
    beyond = np.append(np.cumsum(masses[::-1])[::-1], 0.0) + carried[1]
    before = np.append(0.0, np.cumsum(masses)) + carried[0]
    return 9.81 * (beyond if is_held[0] else before if is_held[1] else np.minimum(beyond, before))


def _moves(obj: Object | None) -> bool:
    return obj is not None and is_body(obj)


def _carrier(obj: Object | None) -> Any | None:
    """The body at or above an object; the object itself if there is none."""
    above = obj
    while above is not None and not is_body(above):
        above = above.parent
    return above or obj


def _can_be_link(context: Context, obj: Object | None, bodies: Sequence[Object]) -> bool:
    """True for a dynamic body that no other joint holds: the tree of an articulation may end in it."""
    if obj is None or not is_body(obj) or obj.usdphys.rigid_body.kinematic_enabled:
        return False
    joined = (other.usdphys.joint for other in context.scene.objects if is_joint(other))
    return not any(obj in (joint.body0, joint.body1) and not {joint.body0, joint.body1} & {*bodies} for joint in joined)


def moving_ends(context: Context, bodies: Sequence[Object]) -> list[str]:
    """Names of the moving bodies that hold an articulated row without being links of it."""
    joined = [obj.usdphys.joint for obj in context.scene.objects if is_joint(obj)]
    still = {joint.body1 for joint in joined if joint.type == "FIXED" and joint.body0 is None}
    own = {*bodies} | still
    names: dict[str, None] = {}
    for joint in joined:
        ends = {joint.body0, joint.body1}
        if joint.exclude_from_articulation and not ends.isdisjoint(bodies):
            names.update((end.name, None) for end in ends - own if _moves(end))
    return list(names)


def _skin(
    context: Context,
    collection: Collection,
    options: RopeOptions,
    points: Array,
    bodies: Sequence[Object],
) -> None:
    """A curve with thickness whose points follow the bodies; these are not rendered."""
    data = bpy.data.curves.new(f"{collection.name} Skin", "CURVE")
    data.dimensions, data.bevel_depth, data.bevel_resolution = "3D", options.radius, 3
    spline = data.splines.new("POLY")
    spline.points.add(len(points) - 1)
    spline.points.foreach_set("co", np.concatenate((points, np.ones((len(points), 1))), axis=1).ravel())
    spline.use_smooth = True
    skin: Any = bpy.data.objects.new(data.name, data)
    collection.objects.link(skin)
    for row in range(len(points)):
        hook: Any = skin.modifiers.new(f"Point {row + 1}", "HOOK")
        body = bodies[min(row, len(bodies) - 1)]
        hook.object = body
        hook.vertex_indices_set([row])
        hook.matrix_inverse = body.matrix_basis.inverted()
    for body in bodies:
        body.hide_render, body.display_type = True, "WIRE"
