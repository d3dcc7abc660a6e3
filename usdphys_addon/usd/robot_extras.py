# SPDX-License-Identifier: GPL-3.0-or-later
"""What a stage says about a robot beside its bodies and joints, for a URDF: frames, efforts, and what is left out.

The stage is in SI units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from pxr import Usd, UsdGeom, UsdLux

from ..core import frames, paths
from ..core.model import PhysicsModel, Prim
from ..core.schema import Schema, attribute_of, split_applied
from ..core.schemas import usd_physics
from ..core.validate import Issue
from ..core.words import named
from ..urdf.build import Frame
from ..urdf.read import NUMBERS
from . import read as usd_read

#: Xforms that other programs put below a link to hold its shapes, in small letters.
_HOLDERS = frozenset({"visual", "visuals", "collision", "collisions", "geometry", "meshes", "looks"})
#: Fields of schemas that a URDF has words for; of schemas that are not here nothing is written.
_WRITTEN: dict[str, frozenset[str]] = {
    "NewtonJointAPI": frozenset({"damping", "friction", "velocity_limit"}),
    "PhysxJointAxisAPI": frozenset({"viscous_friction_coefficient", "dynamic_friction_effort", "max_joint_velocity"}),
    "PhysxJointAPI": frozenset({"max_joint_velocity"}),
    "MjcJointAPI": frozenset({
        "frictionloss", "actuatorfrclimited", "actuatorfrcrange_max", "actuatorfrcrange_min"
    }),
    "NewtonMassAPI": frozenset({"inertia"}),
    # Their leaders are in the followers; see `build`, which names the gains of drives itself.
    "NewtonMimicAPI": frozenset({"mimic_joint", "mimic_coef0", "mimic_coef1", "mimic_enabled"}),
    "PhysxMimicJointAPI": frozenset({"reference_joint", "gearing", "offset", "reference_joint_axis"}),
}  # fmt: skip
#: Fields of UsdPhysics that a URDF has no words for, and what they are where they mean nothing.
_UNWRITTEN: tuple[tuple[type[Schema], str, tuple[object, ...]], ...] = (
    (usd_physics.RigidBodyAPI, "kinematic_enabled", (False,)),
    (usd_physics.RigidBodyAPI, "velocity", ((0.0, 0.0, 0.0),)),
    (usd_physics.RigidBodyAPI, "angular_velocity", ((0.0, 0.0, 0.0),)),
    (usd_physics.FilteredPairsAPI, "filtered_pairs", ((),)),
    (usd_physics.DriveAPI, "target_position", (0.0,)),
    (usd_physics.DriveAPI, "target_velocity", (0.0,)),
    (usd_physics.Joint, "break_force", (math.inf,)),
    (usd_physics.Joint, "break_torque", (math.inf,)),
)


def _prims(stage: Usd.Stage) -> Iterable[Usd.Prim]:
    prims: Iterable[Usd.Prim] = Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate))
    return prims


def frames_of(stage: Usd.Stage, model: PhysicsModel) -> list[Frame]:
    """The links without a body, parents first: Xforms at a body that hold no shape, and those that a URDF had.

    Xforms between the default prim and a body are such links, too: roots that stand on the ground.
    """
    bodies, holders = set(model.bodies), _holders(stage, set(model.bodies))
    above = {path for body in bodies for path in paths.ancestors_of(body)}
    home = stage.GetDefaultPrim()
    above -= {"/", *((str(home.GetPath()), *paths.ancestors_of(str(home.GetPath()))) if home else ())}
    links = []
    for prim in stage.TraverseAll():
        path = str(prim.GetPath())
        if path in bodies:
            continue
        was_link = prim.GetAttribute("urdf:joint:type").Get() == "fixed"
        is_frame = prim.GetTypeName() == "Xform" and path not in holders and prim.GetName().lower() not in _HOLDERS
        if not was_link and not (is_frame and (path in above or paths.nearest(path, bodies))):
            continue
        world = model.locate(path) if model.locate is not None else None
        if world is not None:
            pose = frames.unscaled(world)
            name = prim.GetAttribute("urdf:joint:name").Get()
            links.append(Frame(path, pose, str(name) if was_link else f"{prim.GetName()}_joint"))
    return links


def _holders(stage: Usd.Stage, bodies: set[str]) -> set[str]:
    """Paths of prims with shapes or lights, up to the bodies that these are of."""
    holders: set[str] = set()
    for prim in _prims(stage):
        if prim.IsA(UsdGeom.Gprim) or prim.HasAPI(UsdLux.LightAPI):
            path = str(prim.GetPath())
            while path not in holders and path not in bodies and path != "/":
                holders.add(path)
                path = paths.parent_of(path)
    return holders


def notes_of(stage: Usd.Stage, model: PhysicsModel) -> dict[str, dict[str, str]]:
    """Numbers of a URDF that UsdPhysics has no words for, by path of a joint and "element:attribute"."""
    names = [f"{tag}:{name}" for tag in ("calibration", "safety_controller") for name in NUMBERS[tag]]
    names += [f"limit:{name}" for name in ("acceleration", "deceleration", "jerk")]
    notes: dict[str, dict[str, str]] = {}
    for path in model.joints:
        prim = stage.GetPrimAtPath(path)
        for name in names:
            value = prim.GetAttribute(f"urdf:{name}").Get()
            if isinstance(value, float | str) and value != "":
                notes.setdefault(path, {})[name] = value if isinstance(value, str) else f"{value:.9g}"
    return notes


# --------------------------------------------------------------------------- efforts


def efforts_of(stage: Usd.Stage, model: PhysicsModel) -> dict[str, float]:
    """Largest forces or torques by path of a joint, from what is not a drive: notes of a URDF, and actuators."""
    efforts: dict[str, float] = {}
    joints = model.joints

    def limit(path: str, effort: float | None) -> None:
        if effort is not None and 0.0 < effort < math.inf and path in joints:
            efforts[path] = min(effort, efforts.get(path, math.inf))

    for path in joints:
        prim = stage.GetPrimAtPath(path)
        limit(path, _number(prim, "urdf:limit:effort"))
        if prim.GetAttribute("mjc:actuatorfrclimited").Get() != "false":
            limit(path, _range(prim, "mjc:actuatorfrcrange"))
    for prim in stage.TraverseAll():
        kind = prim.GetTypeName()
        if kind == "MjcActuator":
            _each(prim, "mjc:target", limit, _mujoco_effort(prim))
        elif kind == "NewtonActuator":
            _each(prim, "newton:targets", limit, _number(prim, "newton:maxMotorEffort"))
    return efforts


def _each(prim: Usd.Prim, name: str, limit: Callable[[str, float | None], None], effort: float | None) -> None:
    for path in usd_read.targets(prim.GetRelationship(name)):
        limit(path, effort)


def _mujoco_effort(prim: Usd.Prim) -> float | None:
    """What an actuator can do at most at its joint: its range of forces, else a motor's range of controls."""
    gear = next(iter(prim.GetAttribute("mjc:gear").Get() or ()), 1.0)
    force = None
    if prim.GetAttribute("mjc:forceLimited").Get() != "false":
        force = _range(prim, "mjc:forceRange")
    is_motor = all((prim.GetAttribute(f"mjc:{name}").Get() or plain) == plain
                   for name, plain in (("gainType", "fixed"), ("biasType", "none"), ("dynType", "none")))  # fmt: skip
    if force is None and is_motor and prim.GetAttribute("mjc:ctrlLimited").Get() != "false":
        control = _range(prim, "mjc:ctrlRange")
        gain = next(iter(prim.GetAttribute("mjc:gainPrm").Get() or ()), 1.0)
        force = None if control is None else control * abs(gain)
    return None if force is None else force * abs(gear)


def _range(prim: Usd.Prim, name: str) -> float | None:
    ends = [_number(prim, f"{name}:{end}") for end in ("min", "max")]
    return max((abs(end) for end in ends if end), default=None)


def _number(prim: Usd.Prim, name: str) -> float | None:
    value = prim.GetAttribute(name).Get()
    return float(value) if isinstance(value, float | int) else None


# --------------------------------------------------------------------------- what is left out


def left_out(stage: Usd.Stage, model: PhysicsModel) -> list[Issue]:
    """One issue for each kind of thing that a URDF has no place for."""
    names_left_out: dict[str, list[str]] = {}
    for path, prim in model.prims.items():
        for what in _unwritten(prim):
            names_left_out.setdefault(what, []).append(path)
    bodies = set(model.bodies)
    for seen in _prims(stage):
        if not seen.IsA(UsdGeom.Camera) and not seen.HasAPI(UsdLux.LightAPI) and not _is_odd(seen):
            continue
        if paths.nearest(str(seen.GetPath()), bodies):
            names_left_out.setdefault(str(seen.GetTypeName()), []).append(str(seen.GetPath()))
    if model.groups:
        names_left_out["collision groups"] = list(model.groups)
    return [
        Issue("UrdfNotWritten", "info", owners[0], "",
              f"URDF has no place for {what}, which is left out of {named(list(map(paths.name_of, owners)))}.",
              "Write USD for programs that read it.")
        for what, owners in names_left_out.items()
    ]  # fmt: skip


def _is_odd(prim: Usd.Prim) -> bool:
    """True for something visible that is no shape of a URDF, nor a mesh."""
    return bool(
        prim.IsA(UsdGeom.Curves) or prim.IsA(UsdGeom.Points) or prim.IsA(UsdGeom.NurbsPatch)
        or prim.IsA(UsdGeom.PointInstancer)
    )  # fmt: skip


def _unwritten(prim: Prim) -> Iterator[str]:
    """What a prim has that no URDF says: attributes, or whole schemas."""
    for kind, field, plain in _UNWRITTEN:
        for name, value in prim.schemas.items():
            if isinstance(value, kind) and (got := getattr(value, field)) is not None and got not in plain:
                yield attribute_of(type(value), field).usd_name(split_applied(name)[1])
    for name, value in prim.schemas.items():
        base, instance = split_applied(name)
        if base.startswith(("Physics", "MassAPI")) or value.kind == "typed":
            continue
        written = _WRITTEN.get(base)
        extra = [one.usd_name(instance) for one, _ in value.authored() if one.field not in (written or ())]
        if extra:
            yield f"{base} ({named(extra)})" if written is None else named(extra)
