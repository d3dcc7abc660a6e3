# SPDX-License-Identifier: GPL-3.0-or-later
"""Small experiments with each joint, whose motion an ordinary differential equation tells.

The moving body of each joint is taken out of its asset, with its mass and inertia and without colliders; the other side
of the joint is the world, or a base that is fixed to it: a joint of an articulation is one of an articulation here.
All joints of an experiment are one model: nothing there touches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import frames, mass, vendor_schemas
from ..core.frames import Matrix
from ..core.joint_settings import following, gearing_of
from ..core.model import PhysicsModel, Prim
from ..core.schema import split_applied
from ..core.schemas import usd_physics
from ..simulation.articulations import joints_by_root
from ..simulation.engine import Habit
from ..simulation.joint_facts import NO_LIMIT, Drive, JointFacts
from ..simulation.joint_poses import position_of, relative_pose, whole_turns
from .budget import check_time
from .certificate import measure
from .plain import gap_of
from .runs import STEP, Motion, Subject, ends_of, subject_of

Floats = NDArray[np.float64]
BENCH = "/Bench"
#: Steps of the integration in each frame.
_FINE = 64
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
#: rad/s or m/s: the target of a drive that uses its largest force. What it moves does not become as fast; and an engine
#: that moves a target by a part of it in each frame does not lose count of turns.
_FAR = 3.0 * PUSH
#: Damping or friction that would stop a link so many times in a frame: steps of the solver decide what it does then.
#: Explicit damping is stable up to two times in a step, and at most 16 steps in a frame are tried.
_STIFF = 32.0
#: Part of the time that has passed by which an engine may be behind.
_LATE = 0.01
#: Terms that experiments do not ask about, and leave out: keys of `_SAID`. Each has an experiment of its own, and some
#: engines have no friction beside a drive.
_UNASKED = {
    "up": ("friction", "largest speed"), "down": ("friction", "largest speed"), "speed": ("friction",),
    "force": ("friction",),
}  # fmt: skip
#: s: friction that holds a load may yield, so many m/s for each m/s2 that it holds back. Solvers whose friction is a
#: soft constraint need it: 1 ms in MuJoCo, as it is by default.
_YIELDING = 2e-3
#: rad/s or m/s: what is slower may be put to sleep by an engine, and is compared until then.
_RESTING = 0.02
#: From which imbalance on, and how much more bending than turning, the habits of an engine count. Havok turned a hinge
#: by 2 % of what bent it.
_UNBALANCED, _BENT = 0.03, 2.0
#: Seconds in which a drive has to arrive.
PATIENCE = 5.0


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
    for words in _UNASKED.get(experiment, ()):
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
    """False where the link alone is so light that damping or friction stops it within a small part of a frame."""
    freedom = probe.facts.freedoms[probe.axis]
    damping, matter = freedom.settings.resistance, probe.matter + freedom.settings.armature
    drive: Any = probe.facts.prim.schemas.get(f"PhysicsDriveAPI:{probe.dof}")
    if experiment == "step" and drive is not None:
        damping += drive.resolved("damping") * (matter if drive.resolved("type") == "acceleration" else 1.0)
    friction = 0.0 if "friction" in _UNASKED.get(experiment, ()) else freedom.settings.friction
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


# --------------------------------------------------------------------------- the answer


@dataclass(slots=True)
class Terms:
    """What decides the motion of a joint: SI, of force and metres or torque and radians. gravity: (3,), m/s2."""

    matter: float
    armature: float
    friction: float
    resistance: float
    max_speed: float
    low: float
    high: float
    limit_stiffness: float
    limit_damping: float
    stiffness: float
    damping: float
    target: float
    target_velocity: float
    max_force: float
    is_acceleration: bool
    gravity: Matrix
    speed: float

    def without(self, *words: str) -> Terms:
        """The terms of an engine that loses some. words: keys of LOSABLE."""
        changes: dict[str, Any] = {name: value for one in words for name, value in LOSABLE[one].items()}
        return replace(self, **changes)

    def has(self, words: str) -> bool:
        """Whether the joint has a term. words: a key of LOSABLE."""
        return any(getattr(self, name) != value for name, value in LOSABLE[words].items())


#: Terms that an engine may lose: their fields with what stands for their absence, by the words of a report.
LOSABLE: dict[str, dict[str, float]] = {
    "friction": {"friction": 0.0}, "damping of the joint": {"resistance": 0.0}, "armature": {"armature": 0.0},
    "largest speed": {"max_speed": math.inf}, "limits": {"low": -math.inf, "high": math.inf},
    "softness of the limits": {"limit_stiffness": 0.0, "limit_damping": 0.0},
    "stiffness of the drive": {"stiffness": 0.0}, "damping of the drive": {"damping": 0.0},
    "largest force": {"max_force": math.inf},
}  # fmt: skip


#: Terms that are of the bench, by the experiment: what the asset says of them is not tried there.
_PUSHED = ("stiffness of the drive", "damping of the drive", "largest force")
_OF_BENCH = {"up": _PUSHED, "down": _PUSHED, "speed": _PUSHED, "force": _PUSHED[:2]}
#: Terms that only simulators have words for, and that one without these loses together.
UNKNOWN = ("friction", "damping of the joint", "armature", "softness of the limits")
_AND = " and no "


def joined_by(words: Sequence[str]) -> str:
    """Several keys of LOSABLE as one text, which `terms_in` takes apart."""
    return _AND.join(words)


def terms_in(lost: str) -> list[str]:
    """The keys of LOSABLE in what an outcome has lost."""
    return lost.split(_AND) if lost else []


def terms_of(probe: Probe, model: PhysicsModel, experiment: str) -> Terms:
    """The terms of a joint in an experiment. model: of the bench."""
    own = subject_of(model)
    facts = next(one for one in own.joints if one.path == probe.joint)
    freedom = facts.freedoms[probe.axis]
    settings = freedom.settings
    drive = Drive()
    authored: Any = facts.prim.schemas.get(f"PhysicsDriveAPI:{probe.dof}")
    if authored is not None and freedom.drive is not None:
        # As authored: the facts have the damping of the joint in it, and as a drive of its own where there is no other.
        drive = Drive(
            authored.resolved("stiffness"), authored.resolved("damping"), authored.resolved("target_position"),
            authored.resolved("target_velocity"), freedom.drive.max_force, freedom.drive.acceleration,
        )  # fmt: skip
    matter = probe.matter * (burden(probe) if experiment == "force" else 1.0)
    return Terms(
        matter, settings.armature, settings.friction, settings.resistance, settings.max_speed, freedom.low,
        freedom.high, settings.stiffness, settings.damping, drive.stiffness, drive.damping, drive.target_position,
        drive.target_velocity, drive.max_force, drive.acceleration, own.gravity,
        coasting(probe) if experiment == "coast" else 0.0,
    )  # fmt: skip


def answer(probe: Probe, terms: Terms, seconds: float) -> Floats:
    """(f,), m or rad, at the frames: the solution of m x'' = drive + gravity - damping - friction between limits."""
    check_time()
    count, h = round(seconds / STEP), STEP / _FINE
    place, speed = probe.start, terms.speed
    found = np.empty(count + 1)
    found[0] = place
    matter = terms.matter + terms.armature
    gain = matter if terms.is_acceleration else 1.0
    weights = _weights(probe, terms)
    for frame in range(1, count + 1):
        for _ in range(_FINE):
            # Of an arm that turns about the axis: cosine and sine of the way since the start.
            way = place - probe.start if probe.axis == 3 else 0.0
            force = weights[0] * math.cos(way) + weights[1] * math.sin(way)
            stiff, damped = gain * terms.stiffness, gain * terms.damping
            pulls = stiff * (terms.target - place) + damped * (terms.target_velocity - speed)
            implicit = h * damped + h * h * stiff
            after = (pulls - h * stiff * speed) / (1.0 + implicit / matter)
            if abs(after) > terms.max_force:
                force += math.copysign(terms.max_force, after)
                implicit = 0.0
            else:
                force += pulls - h * stiff * speed
            implicit += h * terms.resistance
            force -= terms.resistance * speed
            beyond = place - min(max(place, terms.low), terms.high)
            if terms.limit_stiffness > 0.0 and beyond:
                force -= terms.limit_stiffness * beyond + terms.limit_damping * speed
                implicit += h * terms.limit_damping + h * h * terms.limit_stiffness
            speed += h * force / (matter + implicit)
            speed -= math.copysign(min(abs(speed), h * terms.friction / (matter + implicit)), speed)
            speed = min(max(speed, -terms.max_speed), terms.max_speed)
            place += h * speed
            if terms.limit_stiffness <= 0.0 and not terms.low <= place <= terms.high:
                place = min(max(place, terms.low), terms.high)
                speed = 0.0
        found[frame] = place
    return found


def _weights(probe: Probe, terms: Terms) -> tuple[float, float]:
    """N or N m: what gravity does to a joint at the start, and after a quarter of a turn."""
    pull = probe.mass * terms.gravity
    if probe.axis == 0:
        return float(probe.direction @ pull), 0.0
    arm = probe.center - probe.anchor
    return (
        float(np.cross(arm, pull) @ probe.direction),
        float(np.cross(np.cross(probe.direction, arm), pull) @ probe.direction),
    )


def _yielded(probe: Probe, terms: Terms) -> float:
    """m/s or rad/s with which friction may yield to a load."""
    load = min(abs(_weights(probe, terms)[0]), terms.friction)
    return _YIELDING * load / (terms.matter + terms.armature)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One joint in one experiment and engine. wanted, got: m or rad, at the end. error: largest share of what is
    allowed. lost: words of LOSABLE for what the engine moves without, see `terms_in`; empty if nothing of these
    explains it. time: s, when it parts from the answer. rate: with so many times the steps, the engine does what the
    numbers say; 0 where it does not, or where that was not tried. beyond: m or rad, how far it goes beyond its limits
    and the answer; 0 for what is allowed.
    """

    joint: str
    experiment: str
    engine: str
    wanted: float
    got: float
    error: float
    lost: str = ""
    time: float = 0.0
    rate: int = 0
    beyond: float = 0.0

    @property
    def is_kept(self) -> bool:
        """True if the engine does what the numbers say."""
        return self.error <= 1.0


def judged(probe: Probe, experiment: str, engine: str, model: PhysicsModel, motion: Motion) -> Outcome:
    """How an engine does in an experiment. model: of the bench. motion: of that."""
    terms = terms_of(probe, model, experiment)
    seconds = EXPERIMENTS[experiment][0]
    wanted, got = answer(probe, terms, seconds), positions(probe, motion)
    if experiment not in ("up", "down"):
        # Whether a joint bounces off a hard limit, nobody says.
        got = got[: _free_frames(probe, terms, wanted, seconds)]
    yielded = _yielded(probe, terms)
    error, time = _error(wanted, got, terms.speed, yielded)
    lost = ""
    if error > 1.0:
        said = [words for words in LOSABLE if terms.has(words) and words not in _OF_BENCH.get(experiment, ())]
        # One term, before several of those that an engine without settings of its own for joints loses together.
        own = [words for words in UNKNOWN if words in said]
        several = [those for count in range(2, len(own) + 1) for those in combinations(own, count)]
        for trials in ([(words,) for words in said], several):
            errors = {
                those: _error(answer(probe, terms.without(*those), seconds), got, terms.speed, yielded)[0]
                for those in trials
            }  # fmt: skip
            best = min(errors, key=lambda those: errors[those], default=())
            if best and errors[best] < min(1.0, 0.5 * error):
                lost = joined_by(best)
                break
    beyond = 0.0 if lost or error <= 1.0 else _beyond(terms, wanted, got)
    return Outcome(
        probe.facts.path, experiment, engine, float(wanted[-1]), float(got[-1]), error, lost, time, beyond=beyond
    )  # fmt: skip


def _beyond(terms: Terms, wanted: Floats, got: Floats) -> float:
    """m or rad, how far a joint goes beyond its limits and the answer; 0 for what is allowed."""
    wanted = wanted[: len(got)]
    past = np.maximum(got - np.maximum(wanted, terms.high), np.minimum(wanted, terms.low) - got)
    farthest = float(past.max())
    return farthest if farthest > LEAST else 0.0


def _free_frames(probe: Probe, terms: Terms, wanted: Floats, seconds: float) -> int:
    """Number of frames until a joint meets a limit without softness, and at least two; all, where it meets none."""
    if terms.limit_stiffness > 0.0 or not terms.has("limits"):
        return len(wanted)
    # It may meet it between two frames.
    met = np.flatnonzero(answer(probe, terms.without("limits"), seconds) != wanted)
    return max(2, int(met[0])) if len(met) else len(wanted)


def _error(wanted: Floats, got: Floats, first: float, yielded: float) -> tuple[float, float]:
    """(largest share of what is allowed, first time (s) when it is more than that).

    first: speed at the start. yielded: with which friction may yield.
    """
    count = _awake(wanted, got)
    ways = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(wanted[:count])))])
    # An engine may be a frame behind, and later or earlier by a part of the time.
    speeds = np.maximum.accumulate(np.abs(np.gradient(wanted[:count])))
    allowed = LEAST + SHARE * ways + np.maximum(speeds, abs(first) * STEP) * (1.0 + _LATE * np.arange(count))
    allowed += yielded * STEP * np.arange(count)
    share = np.abs(wanted[:count] - got[:count]) / allowed
    share = np.where(np.isfinite(share), share, np.inf)
    late = np.flatnonzero(share > 1.0)
    return float(share.max()), float(late[0]) * STEP if len(late) else 0.0


def _awake(wanted: Floats, got: Floats) -> int:
    """Number of frames until a joint is put to sleep that is as slow as that; all, where none is."""
    count = min(len(wanted), len(got))
    moves = np.flatnonzero(np.diff(got[:count]) != 0.0)
    last = int(moves[-1]) + 1 if len(moves) else 0
    is_slow = 1 < last < count - 1 and abs(float(wanted[last] - wanted[last - 1])) < _RESTING * STEP
    return last + 1 if is_slow else count


def imbalance(probe: Probe) -> float:
    """The part of the matter of a hinge that its link alone would not set against a torque about the axis: 0 where that
    is a principal axis through the centre of mass, up to 1."""
    inertia = probe.link[:3, :3] @ probe.inertia @ probe.link[:3, :3].T
    return 1.0 - 1.0 / (probe.matter * float(probe.direction @ np.linalg.solve(inertia, probe.direction)))


def bending(probe: Probe, gravity: Matrix) -> float:
    """How many times more gravity (3,), m/s2, bends a hinge at the start than it turns it."""
    torque = np.cross(probe.center - probe.anchor, probe.mass * gravity)
    along = float(torque @ probe.direction)
    across = float(np.linalg.norm(torque - along * probe.direction))
    return across / max(abs(along), 1e-9 * across, 1e-30)


def habit_of(probe: Probe, experiment: str, gravity: Matrix) -> Habit | None:
    """What shows in an experiment if an engine has it. gravity: (3,), m/s2, of the bench where something swings."""
    drive = probe.facts.freedoms[probe.axis].drive
    if experiment == "step" and drive is not None and drive.stiffness * abs(step_of(probe)) > drive.max_force:
        return Habit.CLIPPED
    if probe.axis != 3:
        return None
    if experiment == "force" and imbalance(probe) > _UNBALANCED:
        return Habit.UNBALANCED
    return Habit.BENT if experiment == "swing" and bending(probe, gravity) > _BENT else None


def left_of(probe: Probe, terms: Terms) -> float:
    """m or rad, that a drive is away from its target when patience ends."""
    return abs(terms.target - float(answer(probe, terms, PATIENCE)[-1]))


def arrives(probe: Probe, terms: Terms, part: float = 0.1) -> bool:
    """Whether the drive is within a part of its step of its target when patience ends."""
    return left_of(probe, terms) <= part * abs(terms.target - probe.start) + 1e-6


def response(probe: Probe, model: PhysicsModel) -> str:
    """What a step of a drive with a spring does, without gravity; empty without one. model: of the bench, "step"."""
    terms = terms_of(probe, model, "step")
    if not terms.stiffness > 0.0:
        return ""
    matter = terms.matter + terms.armature
    gain = matter if terms.is_acceleration else 1.0
    rate = math.sqrt(gain * terms.stiffness / matter)
    ratio = (gain * terms.damping + terms.resistance) / (2.0 * matter * rate)
    way = abs(terms.target - probe.start)
    if way < 1e-6:
        return f"{rate / math.tau:.3g} Hz, damping ratio {ratio:.3g}"
    apart = np.abs(answer(probe, terms, PATIENCE) - terms.target)
    late = np.flatnonzero(apart > 0.1 * way)
    end = "does not arrive" if late[-1] + 1 >= len(apart) else f"arrives in {(late[-1] + 1) * STEP:.2f} s"
    return f"{rate / math.tau:.3g} Hz, damping ratio {ratio:.3g}, {end} (step of {measure(way, probe.axis)})"


def blocking(probe: Probe, terms: Terms) -> str:
    """Words of LOSABLE for what keeps a drive from its target; empty if nothing alone does."""
    for words in LOSABLE:
        if words.startswith(("stiffness", "damping of the drive")):
            continue
        if terms.has(words) and arrives(probe, terms.without(words)):
            return words
    return ""


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
    "largest force": (("PhysicsDriveAPI", "max_force"),),
}  # fmt: skip


def said_at(prim: Prim, words: str) -> tuple[str, str] | None:
    """(schema with instance, field) of the opinion that says a term of a joint; None where nobody says it."""
    for base, field in _SAID.get(words, ()):
        for name, value in prim.schemas.items():
            if split_applied(name)[0] == base and getattr(value, field, None) is not None:
                return name, field
    return None


def softened_at(prim: Prim) -> tuple[str, str] | None:
    """Where a joint says how softly MuJoCo, and Newton with its solver, hold its limits; None where nobody does."""
    name = "MjcJointAPI"
    return (name, "solreflimit") if getattr(prim.schemas.get(name), "solreflimit", None) is not None else None


def said_beyond(prim: Prim) -> dict[str, tuple[str, str]]:
    """Where a joint says what only simulators have words for, see `said_at`, by the words of UNKNOWN."""
    return {words: place for words in UNKNOWN if (place := said_at(prim, words)) is not None}
