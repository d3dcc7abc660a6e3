# SPDX-License-Identifier: GPL-3.0-or-later
"""A vehicle from a chassis and wheels: hubs on springs, steering, and wheels that are driven."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import mathutils
import numpy as np
from bpy.types import Collection, Context, Object, Scene

from ..authoring.joint_maker import JointMaker, JointOptions
from ..authoring.material_presets import apply_material_preset
from ..authoring.tagging import Tagging
from ..bridge import scene_read
from ..bridge.joint_frames import is_joint
from ..bridge.roles import is_body, parents_of
from ..bridge.writing import unit_length
from ..core import frames, mass
from ..core.errors import InputError
from ..core.words import named
from ..playback.session import PreviewSession
from . import joints, shapes

_WHEEL = re.compile(r"wheel|tire|tyre|\brad\b|^rad[ ._-]|reifen|roue|rueda", re.IGNORECASE)
_NO_WHEEL = re.compile(r"steer|spare|lenk|volant|ersatz|reserve", re.IGNORECASE)
_FRONT = re.compile(r"front|vorn|avant|(?:^|[ ._-])f[lr]?(?:[ ._-]|$)", re.IGNORECASE)
#: Properties of joint objects: the largest speed of a driven wheel, rad/s, and the largest angle of a steered one, rad.
SPEED, STEERING = "vehicle_speed", "vehicle_steering"
_GRAVITY = 9.81
#: Largest pull of the driven wheels, as a part of the weight.
_PULL = 0.5
_ROUND = 0.05
#: Round parts whose centres are apart by at most this part of the radius of a wheel turn with it.
_CENTERED = 0.25


@dataclass(frozen=True, slots=True)
class VehicleOptions:
    """frequency: of the springs, Hz. ratio: their damping ratio. travel: of a wheel up and down, Blender units.

    driven: FRONT, REAR, ALL, or NONE, which neither drives nor steers, as a trailer. steering: largest angle, rad; 0
    for none. speed: Blender units a second. drives: the drives turn the wheels from the start. shape: of the colliders
    that wheels get, SPHERE or CYLINDER. articulation: the chassis is the root of one, which Newton needs.
    """

    frequency: float = 2.0
    ratio: float = 0.5
    travel: float = 0.1
    driven: str = "ALL"
    steering: float = math.radians(30.0)
    speed: float = 3.0
    drives: bool = True
    shape: str = "SPHERE"
    articulation: bool = False


@dataclass(frozen=True, slots=True)
class Vehicle:
    chassis: Any
    wheels: list[Any]
    joints: list[Any]
    notes: list[str]


@dataclass(slots=True)
class Wheel:
    """center (3,) and radius, Blender units; axis (3,), in the world. load: mass that it carries, kg.

    is_narrow: narrower than high, which balls and cubes are not. width: Blender units.
    """

    obj: Any
    center: frames.Matrix
    radius: float
    axis: Any
    is_narrow: bool
    width: float = 0.0
    is_front: bool = False
    load: float = 0.0


class _Found(NamedTuple):
    """carriers: (part, wheel or chassis that it goes with). others: objects that do not belong to the vehicle."""

    chassis: Any
    wheels: list[Wheel]
    carriers: list[tuple[Any, Any]]
    others: list[Any]


def make_vehicle(context: Context, options: VehicleOptions) -> Vehicle:
    """Make a vehicle of the selected objects. Raises InputError, with nothing changed."""
    context.view_layer.update()
    chassis, wheels, carriers, others = _found(context)
    joints.check_free(context, [wheel.obj for wheel in wheels])
    meters = unit_length(context.scene)
    left, forward = _directions(wheels)
    _check_in_line(wheels, left)
    _find_front(wheels, forward)
    depsgraph = context.evaluated_depsgraph_get()
    bare = [wheel for wheel in wheels if not len(wheel.obj.usdphys.colliders)]
    Tagging(depsgraph, [chassis], "DYNAMIC").apply()
    Tagging(depsgraph, [wheel.obj for wheel in wheels], "DYNAMIC").apply()
    _reparent(context, wheels, carriers)
    apply_material_preset([wheel.obj for wheel in wheels], "RUBBER")
    context.view_layer.update()
    model = scene_read.read_scene(context.evaluated_depsgraph_get()).model
    weights = {prim.label: mass.mass_properties(model, path) for path, prim in model.bodies.items()}
    for wheel in bare if options.shape == "SPHERE" else ():
        _make_sphere(wheel, weights[wheel.obj.name].mass, _inset(wheel, wheels, left))
    body = weights[chassis.name]
    place = next(prim.world for prim in model.bodies.values() if prim.label == chassis.name)
    center = frames.rotation_of(place) @ np.array(body.center_of_mass) + place[:3, 3]
    _share_load(wheels, body.mass, center, meters)
    made: list[Any] = []
    collection = (chassis.users_collection or (context.collection,))[0]
    turn = np.stack((left, np.cross((0.0, 0.0, 1.0), left), (0.0, 0.0, 1.0)), axis=1)
    hubs = [_hub(collection, wheel, weights[wheel.obj.name].mass, turn, meters) for wheel in wheels]
    joiner = joints.Joiner(context)
    driven = [
        wheel for wheel in wheels
        if options.driven == "ALL" or (options.driven != "NONE" and wheel.is_front == (options.driven == "FRONT"))
    ]  # fmt: skip
    total = body.mass + sum(weights[wheel.obj.name].mass for wheel in wheels)
    for wheel, hub in zip(wheels, hubs, strict=True):
        frame = frames.transform(wheel.center, turn)
        made.append(_suspension(joiner, chassis, hub, wheel, frame, options, meters))
        made.append(_axle(joiner, hub, wheel, frame, options, total, len(driven) if wheel in driven else 0, meters))
    pairs = chassis.usdphys.filtered_pairs
    pairs.is_applied = True
    for wheel in wheels:
        pairs.filtered_pairs.add().object = wheel.obj
    if options.articulation:
        chassis.usdphys.articulation_root.is_applied = True
    notes = [f"Neither the chassis nor wheels, so left alone: {named(obj.name for obj in others)}"] if others else []
    return Vehicle(chassis, [wheel.obj for wheel in wheels], made, notes)


# --------------------------------------------------------------------------- what is a wheel


def _found(context: Context) -> _Found:
    """What the selection holds, by name, else by form. Raises InputError."""
    chosen = [
        obj for obj in context.selected_objects
        if obj.type == "MESH" and obj.library is None and not is_joint(obj)
    ]  # fmt: skip
    if not chosen:
        raise InputError("Select the chassis and the wheels.")
    maker = JointMaker(context, JointOptions())
    forms = _forms(maker, chosen)
    active = context.active_object
    wheels = _wheels(forms, active)
    rest = [obj for obj in chosen if obj not in [wheel.obj for wheel in wheels]]
    if len(wheels) < 2 or not rest:
        raise InputError(
            "No chassis with two or more wheels is selected; select them, with the chassis as the active one."
        )
    boxes = {obj: _box(maker.surface(obj)[0]) for obj in chosen}
    chassis = active if active in rest else max(rest, key=lambda obj: float(np.prod(np.ptp(boxes[obj], axis=0))))
    own = np.concatenate([boxes[obj] for obj in (chassis, *(wheel.obj for wheel in wheels))])
    parts = _Found(chassis, wheels, [], [])
    for obj in rest:
        hub = next((wheel.obj for wheel in wheels if obj in forms and _is_part(forms[obj], wheel)), None)
        carrier = hub or chassis
        follows = carrier in parents_of(obj) or (obj.parent in rest and obj.parent != chassis)
        if obj == chassis or follows:
            continue
        if is_body(obj) or obj in parents_of(chassis) or (hub is None and not _is_inside(boxes[obj], own)):
            parts.others.append(obj)
        else:
            parts.carriers.append((obj, carrier))
    return parts


def _forms(maker: JointMaker, objects: Sequence[Object]) -> dict[Any, Wheel]:
    """Objects that may be wheels or parts of wheels, by name."""
    forms = {obj: form_of(maker, obj) for obj in sorted(objects, key=lambda obj: str(obj.name))}
    return {obj: form for obj, form in forms.items() if form is not None and not _NO_WHEEL.search(obj.name)}


def _wheels(forms: dict[Any, Wheel], active: Object) -> list[Wheel]:
    """Round objects named like a wheel, or, without two of them, narrow ones; not their rims and discs."""
    wheels = [form for obj, form in forms.items() if _WHEEL.search(obj.name)]
    if len(wheels) < 2:
        wheels = [form for obj, form in forms.items() if form.is_narrow and obj != active]
    return [wheel for wheel in wheels if not any(_is_part(wheel, other) for other in wheels)]


def _is_part(form: Wheel, wheel: Wheel) -> bool:
    """True for a rim or a disc in the middle of a wheel."""
    apart = float(np.linalg.norm(form.center - wheel.center))
    is_smaller = (form.radius, form.obj.name) < (wheel.radius, wheel.obj.name)
    return is_smaller and apart < _CENTERED * wheel.radius and abs(float(form.axis @ wheel.axis)) > 0.9


def _box(points: frames.Matrix) -> Any:
    """Corners (2, 3) of the box around points."""
    return np.stack((points.min(axis=0), points.max(axis=0))) if len(points) else np.zeros((2, 3))


def _is_inside(box: Any, corners: frames.Matrix) -> bool:
    """True if the middle of a box is in that around a vehicle, with the same height again for a cabin or a load."""
    middle, low, high = box.mean(axis=0), corners.min(axis=0), corners.max(axis=0)
    top = high + np.array((0.0, 0.0, high[2] - low[2]))
    return bool((middle >= low).all() and (middle <= top).all())


def smallest_wheel(context: Context) -> float:
    """Radius of the smallest wheel of the selected vehicle, Blender units. Raises InputError."""
    return min(wheel.radius for wheel in _found(context).wheels)


def form_of(maker: JointMaker, obj: Object) -> Wheel | None:
    """An object as a wheel, as high as it is long; None if it is not."""
    points = maker.surface(obj)[0]
    if len(points) < 8:
        return None
    turn = frames.rotation_of(maker.world(obj))
    local = points @ turn
    low, high = local.min(axis=0), local.max(axis=0)
    size = high - low
    for axis in np.argsort(size):
        across = np.delete(size, axis)
        if abs(across[0] - across[1]) <= _ROUND * across.max() and abs(turn[2, axis]) < 0.3:
            is_narrow = bool(size[axis] < (1.0 - _ROUND) * across.max())
            return Wheel(
                obj, turn @ ((low + high) / 2.0), float(across.max()) / 2.0, turn[:, axis], is_narrow, float(size[axis])
            )
    return None


def _check_in_line(wheels: Sequence[Wheel], left: frames.Matrix) -> None:
    """Raises InputError for a wheel whose axis is not the common one."""
    for wheel in wheels:
        if abs(float(wheel.axis @ left)) <= 0.9:
            raise InputError(f"'{wheel.obj.name}' does not stand in line with the other wheels; turn it.")


def _reparent(context: Context, wheels: Sequence[Wheel], carriers: Sequence[tuple[Any, Any]]) -> None:
    """Free the wheels from their parents, and put the parts below what carries them; all stay where they are."""
    for wheel in wheels:
        if wheel.obj.parent is not None:
            world = wheel.obj.matrix_world.copy()
            wheel.obj.parent = None
            wheel.obj.matrix_world = world
    context.view_layer.update()
    for part, carrier in carriers:
        part.parent = carrier
        part.matrix_parent_inverse = carrier.matrix_world.inverted_safe()


def _directions(wheels: Sequence[Wheel]) -> tuple[Any, Any]:
    """(left, forward) of a vehicle on level ground. Forwards is where wheels named front are, else -Y or +X."""
    axis = wheels[0].axis * (1.0, 1.0, 0.0)
    axis = axis / np.linalg.norm(axis)
    forward = np.cross(axis, (0.0, 0.0, 1.0))
    named_front = [wheel.center for wheel in wheels if _FRONT.search(wheel.obj.name)]
    middle = np.mean([wheel.center for wheel in wheels], axis=0)
    if named_front and len(named_front) < len(wheels):
        is_forward = float((np.mean(named_front, axis=0) - middle) @ forward) > 0.0
    else:
        is_forward = float(forward @ (1.0, -1.0, 0.0)) > 0.0
    forward = forward if is_forward else -forward
    return np.cross((0.0, 0.0, 1.0), forward), forward


def _find_front(wheels: Sequence[Wheel], forward: frames.Matrix) -> None:
    along = [float(wheel.center @ forward) for wheel in wheels]
    middle = (min(along) + max(along)) / 2.0
    for wheel, place in zip(wheels, along, strict=True):
        wheel.is_front = place > middle + 1e-6


def _share_load(wheels: Sequence[Wheel], weight: float, center: frames.Matrix, meters: float) -> None:
    """Set the masses (kg) that the wheels carry: moments about the centre of mass vanish, and no wheel stands out."""
    places = np.array([wheel.center[:2] * meters - center[:2] for wheel in wheels])
    rows = np.concatenate((np.ones((1, len(wheels))), places.T))
    loads = np.linalg.lstsq(rows, np.array([weight, 0.0, 0.0]), rcond=None)[0]
    for wheel, load in zip(wheels, loads, strict=True):
        wheel.load = max(float(load), 0.02 * weight)


# --------------------------------------------------------------------------- hubs and joints


def _inset(wheel: Wheel, wheels: Sequence[Wheel], left: frames.Matrix) -> Any:
    """How far the sphere of a wheel is moved inwards (3,): a sphere is wider than the wheel, and the car is not.

    Not over the middle of the vehicle, where that of the other side is.
    """
    sides = [float(one.center @ left) for one in wheels]
    side = float(wheel.center @ left) - (min(sides) + max(sides)) / 2.0
    reach = min(max(wheel.radius - wheel.width / 2.0, 0.0), max(abs(side) - wheel.radius, 0.0))
    return -math.copysign(reach, side) * left


def _make_sphere(wheel: Wheel, weight: float, inset: frames.Matrix) -> None:
    """Make the collider of a wheel a sphere that is as high, and keep its mass (kg) and where that is."""
    physics = wheel.obj.usdphys
    inverse = wheel.obj.matrix_world.inverted_safe()
    for item in physics.colliders:
        item.shape, item.location = "SPHERE", inverse @ mathutils.Vector((wheel.center + inset).tolist())
        item.radius = wheel.radius / max(map(abs, wheel.obj.matrix_world.to_scale()))
    if not physics.mass.is_applied:
        physics.mass.is_applied = True
        physics.mass.mass = weight
    if inset.any():
        physics.mass.center_of_mass = inverse @ mathutils.Vector(wheel.center.tolist())


def _hub(collection: Collection, wheel: Wheel, weight: float, turn: frames.Matrix, meters: float) -> Any:
    """An Empty that carries a wheel: it moves on the spring, and is steered."""
    hub = shapes.add_object(collection, f"{wheel.obj.name} Hub", None, frames.transform(wheel.center, turn))
    hub.empty_display_size = wheel.radius / 2.0
    hub.usdphys.rigid_body.is_applied = True
    own = hub.usdphys.mass
    own.is_applied = True
    own.mass = max(weight / 2.0, 0.02 * wheel.load)
    own.diagonal_inertia = (0.4 * own.mass * (wheel.radius * meters) ** 2,) * 3
    own.principal_axes = (1.0, 0.0, 0.0, 0.0)
    own.center_of_mass = (0.0, 0.0, 0.0)
    return hub


def _suspension(
    joiner: joints.Joiner, chassis: Object, hub: Object, wheel: Wheel, frame: frames.Matrix, options: VehicleOptions,
    meters: float,
) -> Any:  # fmt: skip
    joint = joiner.add("GENERIC", chassis, hub, frame)
    joints.lock(joint, ("transX", "transY", "rotX", "rotY"))
    joints.limit(joint, "transZ", -options.travel, options.travel)
    rate = 2.0 * math.pi * options.frequency
    joints.damp(joint, "transZ", 2.0 * options.ratio * wheel.load * rate, wheel.load * rate**2)
    # The spring is compressed by the weight: in its present pose the vehicle stands still.
    joint.usdphys.joint.drives.transZ.target_position = -_GRAVITY / rate**2 / meters
    if wheel.is_front and options.steering > 0.0 and options.driven != "NONE":
        joints.limit(joint, "rotZ", -options.steering, options.steering)
        stiffness = 15.0 * wheel.load * _GRAVITY * wheel.radius * meters
        inertia = wheel.load * 0.1 * (wheel.radius * meters) ** 2
        joints.damp(joint, "rotZ", 2.0 * math.sqrt(stiffness * inertia), stiffness)
        joint[STEERING] = options.steering
    else:
        joints.lock(joint, ("rotZ",))
    return joint


def _axle(
    joiner: joints.Joiner, hub: Object, wheel: Wheel, frame: frames.Matrix, options: VehicleOptions, total: float,
    driven: int, meters: float,
) -> Any:  # fmt: skip
    joint = joiner.add("REVOLUTE", hub, wheel.obj, frame, axis="X")
    if driven:
        turns = options.speed / wheel.radius
        radius = wheel.radius * meters
        # The velocity is reached in about a second, by no more than the tyres can pull.
        joints.damp(joint, "angular", total * radius**2 / driven / 0.3)
        drive = joint.usdphys.joint.drives.angular
        drive.max_force = _PULL * total * _GRAVITY * radius / driven
        drive.target_velocity = turns if options.drives else 0.0
        joint[SPEED] = turns
    return joint


# --------------------------------------------------------------------------- driving


def is_there(scene: Scene) -> bool:
    """True if a scene has a vehicle that can be driven."""
    return any(SPEED in obj.keys() or STEERING in obj.keys() for obj in scene.objects if is_joint(obj))


def drive(session: PreviewSession, throttle: float, steering: float) -> None:
    """Drive all vehicles of a running preview. throttle: -1 to 1, backwards and forwards. steering: 1 to the left."""
    world = session.world
    for path in world.joints:
        obj = bpy.data.objects.get(session.model.prims[path].label)
        if obj is None:
            continue
        if SPEED in obj.keys():
            world.set_drive(path, "angular", target_velocity=throttle * float(obj[SPEED]))
        if STEERING in obj.keys():
            world.set_drive(path, "rotZ", target_position=steering * float(obj[STEERING]))
