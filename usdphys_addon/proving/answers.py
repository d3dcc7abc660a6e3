# SPDX-License-Identifier: GPL-3.0-or-later
"""What the differential equation of a joint on the bench says, and whether an engine does it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..core.frames import Matrix
from ..core.model import PhysicsModel
from ..simulation.engine import Habit
from ..simulation.joint_facts import Drive
from .budget import check_time
from .certificate import measure
from .joints import EXPERIMENTS, LEAST, SHARE, UNKNOWN, Floats, Probe, burden, coasting, positions, step_of
from .runs import STEP, Motion, subject_of

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
#: Part of the time that has passed by which an engine may be behind.
_LATE = 0.01
#: Steps of the integration in each frame.
_FINE = 64


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


#: The experiment that asks about a term alone, if there is one, by the words of LOSABLE.
ASKED_BY = {"largest speed": "speed", "largest force": "force"}
#: Terms that are of the bench, by the experiment: what the asset says of them is not tried there.
_PUSHED = ("stiffness of the drive", "damping of the drive", "largest force")
_OF_BENCH = {"up": _PUSHED, "down": _PUSHED, "speed": _PUSHED, "force": _PUSHED[:2]}
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
            # Half of a spring's change is known: otherwise its swings would lose energy.
            implicit = h * damped + h * h * stiff / 4.0
            pulls -= h * stiff * speed / 2.0
            after = pulls / (1.0 + implicit / matter)
            if abs(after) > terms.max_force:
                force += math.copysign(terms.max_force, after)
                implicit = 0.0
            else:
                force += pulls
            implicit += h * terms.resistance
            force -= terms.resistance * speed
            beyond = place - min(max(place, terms.low), terms.high)
            if terms.limit_stiffness > 0.0 and beyond:
                force -= terms.limit_stiffness * beyond + terms.limit_damping * speed
                implicit += h * terms.limit_damping + h * h * terms.limit_stiffness
            before = speed
            speed += h * force / (matter + implicit)
            speed -= math.copysign(min(abs(speed), h * terms.friction / (matter + implicit)), speed)
            speed = min(max(speed, -terms.max_speed), terms.max_speed)
            place += h * (0.5 * (before + speed) if stiff else speed)
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


def habits_of(probe: Probe, experiment: str, gravity: Matrix) -> Iterator[Habit]:
    """What shows in an experiment if an engine has it. gravity: (3,), m/s2, of the bench where something swings."""
    drive = probe.facts.freedoms[probe.axis].drive
    if experiment == "step" and drive is not None:
        if drive.acceleration and (drive.stiffness or drive.damping):
            yield Habit.FORCES_ONLY
        if drive.damping > 0.0 and drive.stiffness * abs(step_of(probe)) > drive.max_force:
            yield Habit.CLIPPED
    if probe.axis == 3 and experiment == "force" and imbalance(probe) > _UNBALANCED:
        yield Habit.UNBALANCED
    if probe.axis == 3 and experiment == "swing" and bending(probe, gravity) > _BENT:
        yield Habit.BENT


def left_of(probe: Probe, terms: Terms) -> float:
    """m or rad, that a drive is away from its target when patience ends."""
    return abs(terms.target - float(answer(probe, terms, PATIENCE)[-1]))


def arrives(probe: Probe, terms: Terms, part: float = 0.1) -> bool:
    """Whether the drive is within a part of its step of its target when patience ends."""
    return left_of(probe, terms) <= part * abs(terms.target - probe.start) + 1e-6


def passes(probe: Probe, terms: Terms) -> bool:
    """Whether the drive takes the joint beyond its target before patience ends: it swings about it."""
    way = terms.target - probe.start
    return bool((math.copysign(1.0, way) * (answer(probe, terms, PATIENCE) - terms.target)).max() > 0.1 * abs(way))


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
    """Words of LOSABLE for what keeps a drive from its target; empty if nothing alone does. Its damping does where it
    arrives with the least one with which it does not swing."""
    for words in LOSABLE:
        if words.startswith(("stiffness", "damping of the drive")):
            continue
        if terms.has(words) and arrives(probe, terms.without(words)):
            return words
    matter = terms.matter + terms.armature
    critical = 2.0 * math.sqrt(terms.stiffness * matter / (matter if terms.is_acceleration else 1.0))
    if terms.damping > critical and arrives(probe, replace(terms, damping=critical)):
        return "damping of the drive"
    return ""
