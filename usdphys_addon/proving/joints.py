# SPDX-License-Identifier: GPL-3.0-or-later
"""Small experiments with each joint, whose motion an ordinary differential equation tells (see `answers`).

The moving body of each joint is taken out of its asset, with its mass and inertia and without colliders; the other side
of the joint is the world, or a base that is fixed to it: a joint of an articulation is one of an articulation here.
All joints of an experiment are one model: nothing there touches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import frames, mass, vendor_schemas
from ..core.frames import Matrix
from ..core.joint_settings import OLD_SCHEMAS, following, gearing_of
from ..core.model import PhysicsModel, Prim
from ..core.schema import attribute_of, split_applied
from ..core.schemas import usd_physics
from ..simulation.articulations import joints_by_root
from ..simulation.joint_facts import NO_LIMIT, JointFacts
from ..simulation.joint_poses import position_of, relative_pose, whole_turns
from .failures import gap_of
from .runs import STEP, Motion, Subject, ends_of

Floats = NDArray[np.float64]
BENCH = "/Bench"
#: Seconds of each experiment, and what it asks, as words for a report.
EXPERIMENTS: dict[str, tuple[float, str]] = {
    "swing": (1.0, "free swing under gravity"),
    "step": (2.0, "step of the drive"),
    "up": (2.0, "push to the upper limit"),
    "down": (2.0, "push to the lower limit"),
    "coast": (1.0, "stop by friction"),
    "force": (0.5, "largest force of the drive"),
    "speed": (1.0, "push beyond the largest speed"),
}
#: Share of the way, and metres or radians, by which an engine may miss the answer.
SHARE, LEAST = 0.06, 0.004
#: rad/s or m/s of a push, and of a joint that coasts.
PUSH, COAST = 3.5, 2.0
#: rad/s2 or m/s2: the largest acceleration by the largest force; what a stronger drive moves is made heavier.
FASTEST = 8.0
#: 1/s: how fast a push reaches its speed.
_FIRM = 40.0
#: By how much a push is faster than the largest speed; that in radians or metres of a frame that can be followed.
_BEYOND, _FOLLOWED = 1.5, 1.0
#: rad: how far a drive that swings its link comes in a frame, of 2 pi for there and back; and the damping ratio below
#: which it goes on to swing. Which of its ends a frame shows, steps of the solver decide.
_SWIFT, _UNDAMPED = 2.0, 0.1
#: rad/s or m/s: the target of a drive that uses its largest force. What it moves does not become as fast; and an engine
#: that moves a target by a part of it in each frame does not lose count of turns.
_FAR = 3.0 * PUSH
#: Damping or friction that would stop a link so many times in a frame: steps of the solver decide what it does then.
#: Explicit damping is stable up to two times in a step, and at most 16 steps in a frame are tried.
_STIFF = 32.0
#: Terms that experiments do not ask about, and leave out: keys of `_SAID`. Each has an experiment of its own, and some
#: engines have no friction beside a drive.
UNASKED = {
    "up": ("friction", "largest speed"), "down": ("friction", "largest speed"), "speed": ("friction",),
    "force": ("friction",),
}  # fmt: skip


@dataclass(slots=True)
class Probe:
    """One joint of the bench.

    facts: in the asset. name: of the bench. axis: of its only degree of freedom, 0 or 3. dof: its instance name.
    is_first: it is body 0 that moves. mass: kg. matter: kg, or inertia about the axis (kg m2) without armature.
    direction (in which the position grows), anchor, center (3,): in the world at the start, where the joint is at
    `start` (m or rad). link: (4, 4) of the moving body. inertia: (3, 3) about its centre of mass, along its axes.
    is_articulated: it belongs to an articulation.
    """

    facts: JointFacts
    name: str
    axis: int
    dof: str
    mass: float
    matter: float
    direction: Matrix
    anchor: Matrix
    center: Matrix
    start: float
    link: Matrix
    inertia: Matrix
    is_first: bool
    is_articulated: bool = False

    @property
    def path(self) -> str:
        """Of the moving body on the bench."""
        return f"{BENCH}/{self.name}/Link"

    @property
    def moved(self) -> str:
        """Path of the moving body in the asset."""
        return self.facts.body0 if self.is_first else self.facts.body1

    @property
    def base(self) -> str:
        """Path of the other body on the bench; empty for the world."""
        return f"{BENCH}/{self.name}/Base" if self.is_articulated else ""

    @property
    def joint(self) -> str:
        """Path of the joint on the bench."""
        return f"{BENCH}/{self.name}/Joint"


def probes_of(subject: Subject) -> tuple[list[Probe], dict[str, str]]:
    """The joints with one degree of freedom; and why others are left out, by path."""
    found, left_out = [], {}
    articulated = {facts.path for joints in joints_by_root(subject.model).values() for facts in joints}
    for number, facts in enumerate(subject.joints):
        free = [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
        if not free:
            continue
        if free not in ([0], [3]) or facts.distance is not None or facts.bond:
            left_out[facts.path] = "it has more than one degree of freedom"
        elif following(facts.prim) is not None or gearing_of(facts.prim) is not None:
            left_out[facts.path] = "it follows another joint"
        elif gap_of(subject, facts)[2] > 1.0:
            left_out[facts.path] = "its bodies start apart"
        else:
            probe = _probe(subject, facts, number, free[0])
            if probe is None:
                left_out[facts.path] = "no mass moves with it"
            elif not _is_inside(probe):
                left_out[facts.path] = "it starts outside of its limits"
            else:
                probe.is_articulated = facts.path in articulated
                found.append(probe)
    return found, left_out


def _is_inside(probe: Probe) -> bool:
    freedom = probe.facts.freedoms[probe.axis]
    return freedom.low - LEAST <= probe.start <= freedom.high + LEAST


def _probe(subject: Subject, facts: JointFacts, number: int, axis: int) -> Probe | None:
    bodies = subject.layout.bodies
    moves = [path for path in (facts.body1, facts.body0) if path in bodies and not bodies[path].is_kinematic]
    names = [name for name, place in facts.names.items() if place == axis]
    if not moves or not names:
        return None
    body, is_first = bodies[moves[0]], moves[0] != facts.body1
    ends = ends_of(subject, facts)
    weight = mass.mass_properties(subject.model, moves[0])
    direction = ends[0][:3, 0] * (-1.0 if is_first else 1.0)
    anchor = ends[0][:3, 3]
    center = (body.pose @ np.append(weight.center_of_mass, 1.0))[:3]
    inertia = body.rotation @ weight.inertia @ body.rotation.T
    arm = center - anchor
    across = arm - (arm @ direction) * direction
    matter = weight.mass if axis == 0 else float(direction @ inertia @ direction + weight.mass * across @ across)
    if not 0.0 < matter < math.inf or not 0.0 < weight.mass < math.inf:
        return None
    driven = {split_applied(name)[1] for name in facts.prim.schemas if name.startswith("PhysicsDriveAPI:")}
    dof = next((name for name in names if name in driven), names[0])
    start = position_of(facts, relative_pose(ends[0], ends[1]), axis)
    if axis == 3:
        start = whole_turns(facts.freedoms[axis], start)
    return Probe(
        facts, f"J{number}", axis, dof, weight.mass, matter, direction, anchor, center, start, body.pose,
        weight.inertia, is_first,
    )  # fmt: skip


# --------------------------------------------------------------------------- the bench


#: (3, 3), from gravity to one that leans.
LEAN = frames.matrix_of(frames.turn_by(np.array((0.4, 0.3, 0.2))))


def bench(
    subject: Subject, probes: Iterable[Probe], experiment: str, *, push: dict[str, float] | None = None,
    leans: bool = False, hurry: float = 1.0,
) -> PhysicsModel:  # fmt: skip
    """A model of an experiment with these joints. push: other speeds of pushes, by the path of the joint.

    leans: gravity is not that of the asset, so that what is balanced there swings, too. hurry: by how much faster than
    its target the engine runs a drive to a velocity; the pushes are so much slower, so that it makes the same ones.
    """
    model = PhysicsModel()
    gravity = subject.gravity if experiment == "swing" else np.zeros(3)
    if leans:
        gravity = LEAN @ gravity
    size = float(np.linalg.norm(gravity))
    scene = Prim(f"{BENCH}/Scene", "PhysicsScene", is_xformable=False)
    direction = frames.vector(gravity / size) if size else (0.0, 0.0, -1.0)
    scene.add(usd_physics.PhysicsScene(gravity_direction=direction, gravity_magnitude=size))
    model.add(scene)
    for probe in probes:
        for prim in _prims(subject, probe, experiment, (push or {}).get(probe.facts.path, PUSH), hurry):
            model.add(prim)
    return model


def _prims(subject: Subject, probe: Probe, experiment: str, push: float, hurry: float) -> list[Prim]:
    facts = probe.facts
    link = Prim(probe.path, "Xform", probe.link.copy())
    body = usd_physics.RigidBodyAPI(starts_asleep=False)
    if experiment == "coast":
        speed = coasting(probe) * probe.direction
        turn = probe.link[:3, :3].T
        if probe.axis == 0:
            body = body.copy(velocity=frames.vector(turn @ speed))
        else:
            # Of the centre of mass, as UsdPhysics has it.
            moved = np.cross(speed, probe.center - probe.anchor)
            body = body.copy(
                velocity=frames.vector(turn @ moved), angular_velocity=frames.vector(turn @ speed)
            )  # fmt: skip
    link.add(body)
    # PhysX puts to sleep what is slow for half a second, and the answer does not know of that.
    link.add(vendor_schemas.made("PhysxRigidBodyAPI", {"physxRigidBody:sleepThreshold": 0.0}))
    heavier = burden(probe) if experiment == "force" else 1.0
    moments, axes = mass.diagonalized(probe.inertia * heavier)
    center = np.linalg.solve(probe.link, np.append(probe.center, 1.0))[:3]
    link.add(usd_physics.MassAPI(
        mass=probe.mass * heavier, center_of_mass=frames.vector(center), diagonal_inertia=moments, principal_axes=axes
    ))  # fmt: skip
    joint = replace(facts.prim, path=probe.joint, schemas=facts.prim.schemas.copy(), materials=(), label="")
    _place(subject, probe, joint)
    drives = [name for name in joint.schemas if name.startswith("PhysicsDriveAPI:")]
    if experiment in ("swing", "coast", "up", "down", "speed"):
        for name in drives:
            del joint.schemas[name]
    for words in UNASKED.get(experiment, ()):
        for name, value in list(joint.schemas.items()):
            fields = [field for base, field in _SAID[words] if split_applied(name)[0] == base]
            joint.schemas[name] = value.copy(**dict.fromkeys(fields)) if fields else value
    if experiment == "speed":
        push = _BEYOND * facts.freedoms[probe.axis].settings.max_speed
    if experiment in ("up", "down", "speed"):
        goal = {"up": push, "down": -push, "speed": _freer_side(probe) * push}[experiment] / hurry
        joint.add(usd_physics.DriveAPI(type="force", damping=_FIRM * probe.matter, target_velocity=goal), probe.dof)
    drive: Any = joint.schemas.get(f"PhysicsDriveAPI:{probe.dof}")
    if experiment == "step" and drive is not None and (drive.resolved("stiffness") or 0.0) > 0.0:
        target = probe.start + step_of(probe)
        joint.add(drive.copy(target_position=target, target_velocity=0.0), probe.dof)
    if experiment == "force" and drive is not None:
        most = drive.decided("max_force") or 0.0
        far = math.copysign(_FAR / hurry, _freer_side(probe))
        joint.add(
            drive.copy(stiffness=0.0, damping=10.0 * most / PUSH, target_velocity=far, type="force"), probe.dof
        )  # fmt: skip
    if probe.is_articulated:
        # PhysX takes neither the poses nor the velocities of the links of an articulation for its joints.
        values = {"position": probe.start, "velocity": coasting(probe) if experiment == "coast" else 0.0}
        said = {f"state:__INSTANCE_NAME__:physics:{name}": value for name, value in values.items()}
        joint.add(vendor_schemas.made("PhysicsJointStateAPI", said), probe.dof)
    return [link, *_base(probe, heavier), joint]


def _base(probe: Probe, heavier: float) -> list[Prim]:
    """The prims that make an articulation of a joint on the bench. heavier: by how much its link is made heavier."""
    if not probe.is_articulated:
        return []
    place = frames.transform(probe.anchor)
    above, base = (Prim(path, "Xform", place) for path in (f"{BENCH}/{probe.name}", probe.base))
    above.add(usd_physics.ArticulationRootAPI())
    still = {f"physxArticulation:{name}Threshold": 0.0 for name in ("sleep", "stabilization")}
    above.add(vendor_schemas.made("PhysxArticulationAPI", still))
    base.add(usd_physics.RigidBodyAPI(starts_asleep=False))
    # As heavy as what it holds: joints of Havok yield where a heavy body hangs on a light one.
    weight = heavier * probe.mass
    moment = weight * max(1e-4, float(np.trace(probe.inertia)) / probe.mass)
    base.add(usd_physics.MassAPI(mass=weight, center_of_mass=(0.0, 0.0, 0.0), diagonal_inertia=(moment,) * 3))
    fix = Prim(f"{BENCH}/{probe.name}/Fix", "PhysicsFixedJoint", is_xformable=False)
    fix.add(usd_physics.FixedJoint(body1=(probe.base,), local_pos0=frames.vector(probe.anchor)))
    return [above, base, fix]


def _rooms(probe: Probe) -> tuple[float, float]:
    """(up, down), m or rad, that a joint may go."""
    freedom = probe.facts.freedoms[probe.axis]
    return freedom.high - probe.start, probe.start - freedom.low


def _freer_side(probe: Probe) -> float:
    """1 or -1: away from the nearer limit; 1 where rounding alone decides."""
    up, down = _rooms(probe)
    return 1.0 if up >= down or math.isclose(up, down, rel_tol=1e-6) else -1.0


def burden(probe: Probe) -> float:
    """By how much heavier a link is made for its largest force: it meets neither a limit nor its largest speed."""
    drive: Any = probe.facts.prim.schemas.get(f"PhysicsDriveAPI:{probe.dof}")
    most = (drive.decided("max_force") if drive is not None else None) or 0.0
    seconds = EXPERIMENTS["force"][0]
    speed = probe.facts.freedoms[probe.axis].settings.max_speed
    wanted = min(FASTEST, 0.8 * speed / seconds, 0.8 * 2.0 * max(_rooms(probe)) / seconds**2)
    if not 0.0 < most < NO_LIMIT or not wanted > 0.0:
        return 1.0
    return max(1.0, float(most / (probe.matter * wanted)))


def coasting(probe: Probe) -> float:
    """rad/s or m/s with which a joint begins to coast: away from the nearer limit, and not as far as to the other."""
    return _freer_side(probe) * min(COAST, 0.8 * max(_rooms(probe)) / EXPERIMENTS["coast"][0])


def step_of(probe: Probe) -> float:
    """By how much a drive has to move, m or rad: 0.3 or a tenth of a metre, or half of the way to the nearer limit."""
    wish = 0.3 if probe.axis == 3 else 0.1
    return _freer_side(probe) * max(0.0, min(wish, 0.5 * max(_rooms(probe))))


def _place(subject: Subject, probe: Probe, joint: Prim) -> None:
    """Tie a joint to the link of the bench, and on its other side to the world where that is now."""
    facts = probe.facts
    back = np.eye(4)
    back[:3, :3] = np.eye(3)[:, [(facts.first + step) % 3 for step in range(3)]].T
    value = next(one for one in joint.schemas.values() if isinstance(one, usd_physics.Joint))
    name = next(key for key, one in joint.schemas.items() if one is value)
    changes: dict[str, Any] = {
        "exclude_from_articulation": not probe.is_articulated, "break_force": None, "break_torque": None,
    }  # fmt: skip
    standing = frames.transform(probe.anchor) if probe.is_articulated else None
    for side, world in enumerate(ends_of(subject, facts)):
        is_link = (side == 0) == probe.is_first
        place, turn = frames.local_frame(probe.link if is_link else standing, world @ back)
        body = probe.path if is_link else probe.base
        changes |= {f"body{side}": (body,) if body else (), f"local_pos{side}": place, f"local_rot{side}": turn}
    joint.schemas[name] = value.copy(**changes)


def applies(probe: Probe, experiment: str) -> bool:
    """Whether a joint has what an experiment asks about."""
    freedom = probe.facts.freedoms[probe.axis]
    drive: Any = probe.facts.prim.schemas.get(f"PhysicsDriveAPI:{probe.dof}")
    if experiment == "step":
        return drive is not None and (drive.resolved("stiffness") > 0.0 or drive.resolved("damping") > 0.0)
    if experiment == "force":
        most = drive.decided("max_force") if drive is not None else None
        return most is not None and 0.0 < most < NO_LIMIT and max(_rooms(probe)) > LEAST
    if experiment == "speed":
        # Where it can be reached.
        speed = freedom.settings.max_speed
        return 0.0 < speed * STEP < _FOLLOWED and max(_rooms(probe)) > max(LEAST, 0.3 * speed)
    if experiment in ("up", "down"):
        return freedom.is_limited and not freedom.has_bounce
    if experiment == "coast":
        is_slowed = freedom.settings.friction > 0.0 or freedom.settings.resistance > 0.0
        return is_slowed and max(_rooms(probe)) > LEAST
    # Where the centre of mass is on the axis, or along a slide that lies, nothing swings.
    return True


def is_resolved(probe: Probe, experiment: str) -> bool:
    """False where the link alone is so light that damping or friction stops it within a small part of a frame, or that
    its drive swings it, with little damping, faster than frames show."""
    freedom = probe.facts.freedoms[probe.axis]
    damping, matter = freedom.settings.resistance, probe.matter + freedom.settings.armature
    drive: Any = probe.facts.prim.schemas.get(f"PhysicsDriveAPI:{probe.dof}")
    if experiment == "step" and drive is not None:
        gain = matter if drive.resolved("type") == "acceleration" else 1.0
        damping += gain * drive.resolved("damping")
        rate = math.sqrt(gain * drive.resolved("stiffness") / matter)
        if rate * STEP > _SWIFT and damping < 2.0 * _UNDAMPED * matter * rate:
            return False
    friction = 0.0 if "friction" in UNASKED.get(experiment, ()) else freedom.settings.friction
    return experiment == "force" or max(damping, friction / PUSH) / matter * STEP < _STIFF


def positions(probe: Probe, motion: Motion) -> Floats:
    """(f,), m or rad: where a joint of the bench is in a motion of the bench; angles go on beyond half a turn."""
    fixed, own = _frames(probe, np.asarray(np.linalg.inv(probe.link)))
    found = np.empty(len(motion.positions))
    for number in range(len(found)):
        moving = motion.pose(probe.path, number) @ own
        pair = (moving, fixed) if probe.is_first else (fixed, moving)
        found[number] = position_of(probe.facts, relative_pose(*pair), probe.axis)
    if probe.axis != 3:
        return found
    turn = 2.0 * math.pi
    return np.asarray(np.unwrap(found) + turn * round((probe.start - found[0]) / turn))


def _frames(probe: Probe, inverse: Matrix) -> tuple[Matrix, Matrix]:
    """(frame of the world's side, of the link's side in the link), (4, 4) each, with the axis along X."""
    sign = -1.0 if probe.is_first else 1.0
    x = sign * probe.direction
    y = np.cross(np.eye(3)[int(np.argmin(np.abs(x)))], x)
    y /= np.linalg.norm(y)
    fixed = frames.transform(probe.anchor, np.stack([x, y, np.cross(x, y)], axis=1))
    # At the start, the link's side is at the start of the joint.
    moved = fixed.copy()
    angle = sign * probe.start
    if probe.axis == 0:
        moved[:3, 3] = fixed[:3, 3] + angle * x
    else:
        moved[:3, :3] = frames.matrix_of(frames.turn_by(angle * x)) @ fixed[:3, :3]
    return fixed, inverse @ moved


# --------------------------------------------------------------------------- what a joint says


#: Terms that only simulators have words for, and that one without these loses together.
UNKNOWN = ("friction", "damping of the joint", "armature", "softness of the limits")
#: What a drive says of its gains: whether they are of a force.
TYPE = "type of the drive"
#: Where the terms are said: schema without instance, and field, the first that is authored.
_SAID: dict[str, tuple[tuple[str, str], ...]] = {
    "friction": (
        ("NewtonJointAPI", "friction"), ("PhysxJointAxisAPI", "dynamic_friction_effort"),
        ("MjcJointAPI", "frictionloss"),
    ),
    "damping of the joint": (
        ("NewtonJointAPI", "damping"), ("PhysxJointAxisAPI", "viscous_friction_coefficient"),
        ("MjcJointAPI", "damping"),
    ),
    "armature": (("NewtonJointAPI", "armature"), ("PhysxJointAxisAPI", "armature"), ("MjcJointAPI", "armature")),
    "largest speed": (
        ("NewtonJointAPI", "velocity_limit"), ("PhysxJointAxisAPI", "max_joint_velocity"),
        ("PhysxJointAPI", "max_joint_velocity"),
    ),
    "limits": (
        ("PhysicsRevoluteJoint", "lower_limit"), ("PhysicsPrismaticJoint", "lower_limit"),
        ("PhysicsRevoluteJoint", "upper_limit"), ("PhysicsPrismaticJoint", "upper_limit"), ("PhysicsLimitAPI", "low"),
    ),
    "softness of the limits": (("NewtonJointAPI", "limit_stiffness"), ("PhysxLimitAPI", "stiffness")),
    "stiffness of the drive": (("PhysicsDriveAPI", "stiffness"),),
    "damping of the drive": (("PhysicsDriveAPI", "damping"),),
    "largest force": (("PhysicsDriveAPI", "max_force"),), TYPE: (("PhysicsDriveAPI", "type"),),
}  # fmt: skip


def said_at(prim: Prim, words: str) -> tuple[str, str] | None:
    """(schema with instance, field) of the opinion that says a term of a joint; None where nobody says it."""
    for base, field in _SAID.get(words, ()):
        for name, value in prim.schemas.items():
            if split_applied(name)[0] == base and getattr(value, field, None) is not None:
                return name, field
    return None


def renamed_at(probe: Probe, words: str) -> tuple[str, str] | None:
    """(USD name of an attribute in an older schema, that of its maker's newer one) where only the older one says a term
    of a joint; None else."""
    place = said_at(probe.facts.prim, words)
    for (base, field), old in OLD_SCHEMAS.items():
        if place == (old, field):
            newer = vendor_schemas.made(base, {})
            older = probe.facts.prim.schemas[old]
            return attribute_of(type(older), field).usd_name(), attribute_of(type(newer), field).usd_name(probe.dof)
    return None


def softened_at(prim: Prim) -> tuple[str, str] | None:
    """Where a joint says how softly MuJoCo, and Newton with its solver, hold its limits; None where nobody does."""
    name = "MjcJointAPI"
    return (name, "solreflimit") if getattr(prim.schemas.get(name), "solreflimit", None) is not None else None


def said_beyond(prim: Prim) -> dict[str, tuple[str, str]]:
    """Where a joint says what only simulators have words for, see `said_at`, by the words of UNKNOWN."""
    return {words: place for words in UNKNOWN if (place := said_at(prim, words)) is not None}
