# SPDX-License-Identifier: GPL-3.0-or-later
"""What a studio demands of an asset: a TOML file beside it, such as `door.expect.toml` for `door.usda`.

TOML, because Python reads it without a further package. Angles are in degrees, all else is SI.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core import mass, summary
from ..core.errors import InputError, UsdPhysError
from ..core.model import PhysicsModel
from ..core.nearest import did_you_mean
from ..core.schema import split_applied
from ..core.schemas import usd_physics
from ..simulation.joint_poses import position_of, relative_pose, whole_turns
from . import opinions
from .budget import Budget
from .certificate import Check, measure
from .opinions import Opinion
from .runs import Motion, Subject, ends_of, simulated, subject_of, with_floor

SECTION = "expectations"
#: s, that an expectation may simulate.
LONGEST = 600.0
#: Keys of each kind, which the first key decides: those that are needed, and those that may be there.
KINDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "reaches": (frozenset({"joint", "reaches"}), frozenset({"force", "torque", "lever", "within"})),
    "limits": (frozenset({"joint", "limits"}), frozenset()),
    "holds": (frozenset({"joint", "holds"}), frozenset({"within"})),
    "mass": (frozenset({"body", "mass"}), frozenset()),
    "moves_at_most": (frozenset({"body", "moves_at_most"}), frozenset({"within"})),
    "moves_at_least": (frozenset({"body", "moves_at_least"}), frozenset({"within"})),
    "attribute": (frozenset({"prim", "attribute"}), frozenset({"value", "range"})),
}
_KEYS = frozenset(KINDS).union(*(needed | possible for needed, possible in KINDS.values()))


@dataclass(frozen=True, slots=True)
class Expectation:
    """name: of the user. kind: a key of KINDS. values: of the file."""

    name: str
    kind: str
    values: dict[str, Any]

    @property
    def prim(self) -> str:
        """Path of the prim that it is about."""
        return str(next(self.values[key] for key in ("joint", "body", "prim") if key in self.values))


def beside(file: Path) -> Path:
    """Where the expectations of a file are. Raises InputError for those in a format that is not read."""
    place = file.with_name(f"{file.stem}.expect.toml")
    for end in (".yaml", ".yml", ".json"):
        if (other := place.with_suffix(end)).is_file() and not place.is_file():
            raise InputError(f"'{other}' is not read; write the expectations as TOML, in '{place.name}'.")
    return place


def read(file: Path) -> list[Expectation]:
    """The expectations of a file. Raises InputError."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"'{file}' cannot be read ({error.strerror}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"'{file}' is no TOML: {error}. Write tables [[expect]].") from error
    rows = table.get("expect", [])
    if set(table) - {"expect"} or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"'{file}' must hold tables [[expect]] and nothing else.")
    return [_row(file, number, row) for number, row in enumerate(rows, 1)]


def _row(file: Path, number: int, row: dict[str, Any]) -> Expectation:
    values = {key: value for key, value in row.items() if key != "name"}
    where = f"Expectation {number} of '{file.name}'"
    kind = next((name for name in KINDS if name in values), "")
    if misspelt := sorted(set(values) - _KEYS):
        raise InputError(f"{where} has '{misspelt[0]}', which is no key{did_you_mean(misspelt[0], sorted(_KEYS), '.')}")
    if not kind:
        raise InputError(f"{where} demands nothing; give it one of {', '.join(KINDS)}.")
    needed, possible = KINDS[kind]
    if missing := sorted(needed - set(values)):
        raise InputError(f"{where} needs '{missing[0]}'.")
    if kind == "attribute" and not possible & values.keys():
        raise InputError(f"{where} needs 'value' or 'range'.")
    if unknown := sorted(set(values) - needed - possible):
        raise InputError(f"{where} has '{unknown[0]}', which does not go with '{kind}'.")
    for key, value in values.items():
        is_text, is_pair = key in ("joint", "body", "prim", "attribute"), key in ("limits", "range")
        if is_text and not isinstance(value, str):
            raise InputError(f"{where}: '{key}' must be a text.")
        if is_pair or (key == "mass" and isinstance(value, list)):
            if not (isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))):
                raise InputError(f"{where}: '{key}' must be two numbers, the least and the largest.")
            if value[0] > value[1]:
                raise InputError(f"{where}: '{key}' has the largest number first; write [{value[1]}, {value[0]}].")
        elif not is_text and key != "value" and not _is_number(value):
            raise InputError(f"{where}: '{key}' must be a number.")
        if key == "within" and not 0.0 < value <= LONGEST:
            raise InputError(f"{where}: '{key}' must be above 0 and at most {LONGEST:g} s.")
    name = row.get("name", f"{kind} of {next(values[key] for key in ('joint', 'body', 'prim') if key in values)}")
    return Expectation(str(name), kind, values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _meant(subject: Subject, row: Expectation) -> str:
    """The end of a sentence about a prim that there is not: the nearest of its kind, or some of them."""
    model = subject.model
    known = model.joints if "joint" in row.values else model.bodies if "body" in row.values else model.prims
    some = ", ".join(list(known)[:3])
    return did_you_mean(row.prim, known, f"; it has {some}." if some else ".")


def checks_of(subject: Subject, rows: Sequence[Expectation], budget: Budget, share: float) -> Iterator[Check]:
    """Whether each expectation is met; where a motion is, with the opinions without each of which it would be met."""
    for row in rows:
        if row.prim not in subject.model.prims:
            message = f"{row.name}: the asset has no physics at '{row.prim}'{_meant(subject, row)}"
            yield Check(SECTION, row.name, "fail", message, row.prim)
            continue
        if not budget.has(share):
            yield Check(SECTION, row.name, "skipped", f"{row.name}: there was no time.", row.prim)
            continue
        try:
            problem = _TESTS[row.kind](subject, row)
        except UsdPhysError as error:
            problem = str(error)
        if not problem:
            yield Check(SECTION, row.name, "pass", f"{row.name}: met.", row.prim)
            continue
        causes = _static_causes(subject.model, row)
        if row.kind in ("reaches", "holds", "moves_at_most", "moves_at_least"):
            causes = _causes(subject, row, budget, share)
        found = tuple(opinions.cause_alone(subject.model, one) for one in causes)
        yield Check(SECTION, row.name, "fail", f"{row.name}: {problem}", row.prim, found)


def _causes(subject: Subject, row: Expectation, budget: Budget, share: float) -> list[Opinion]:
    parts = [part for part in subject.parts if row.prim in (*part.bodies, *(facts.path for facts in part.joints))]
    candidates = [one for part in parts for one in opinions.removable(subject.model, part.prims(subject.model))]

    def heals(chosen: Sequence[Opinion]) -> bool:
        return not _TESTS[row.kind](subject_of(opinions.removed(subject.model, chosen)), row)

    return opinions.alone(candidates[:60], heals, lambda: budget.has(share))


def _static_causes(model: PhysicsModel, row: Expectation) -> list[Opinion]:
    prim = model.prims[row.prim]
    fields = {"mass": ("mass", "density"), "limits": ("lower_limit", "upper_limit", "low", "high")}.get(row.kind, ())
    found = [
        Opinion(row.prim, name, field) for name, value in prim.schemas.items() for field in fields
        if getattr(value, field, None) is not None and not _is_meant(row, field, getattr(value, field))
    ]  # fmt: skip
    if row.kind == "attribute":
        for name, value in prim.schemas.items():
            instance = split_applied(name)[1]
            found += [
                Opinion(row.prim, name, attribute.field) for attribute in value.attributes
                if attribute.usd_name(instance) == row.values["attribute"]
            ]  # fmt: skip
    return found


def _is_meant(row: Expectation, field: str, value: float) -> bool:
    """Whether one of two limits is the one that is demanded."""
    if row.kind != "limits":
        return False
    wanted = row.values["limits"][field in ("upper_limit", "high")]
    return any(math.isclose(one, wanted, abs_tol=1e-4) for one in (value, math.degrees(value)))


# --------------------------------------------------------------------------- tests: what is wrong, or ""


def _reaches(subject: Subject, row: Expectation) -> str:
    """Push a joint with a force (N) at a lever (m), or a torque (N m), to a position."""
    facts, axis, dof = _joint(subject, row)
    goal = _si(float(row.values["reaches"]), axis)
    strength = row.values.get("torque")
    if strength is not None and (axis == 0 or "force" in row.values):
        return "a slide is pushed by a force, and a hinge by a torque, or by a force at a lever."
    if strength is None:
        strength = float(row.values.get("force", 0.0)) * float(row.values.get("lever", 1.0) if axis == 3 else 1.0)
    if not float(strength) > 0.0:
        return "it says no force (with a lever) and no torque that is above 0."
    model = subject.model.copied()
    prim = model.prims[row.prim]
    start = _place(subject, facts, axis, None, 0)
    if axis == 3:
        start = whole_turns(facts.freedoms[axis], start)
    speed = math.copysign(10.0, goal - start)
    for name in [key for key in prim.schemas if key.startswith("PhysicsDriveAPI:")]:
        del prim.schemas[name]
    push = usd_physics.DriveAPI(type="force", damping=1e3 * float(strength), target_velocity=speed,
                                max_force=float(strength))  # fmt: skip
    prim.add(push, dof)
    motion = _run(model, row)
    places = [_place(subject, facts, axis, motion, frame) for frame in range(len(motion.positions))]
    if axis == 3:
        places = (np.unwrap(places) + (start - places[0])).tolist()
    best = max(places) if goal >= start else min(places)
    if (best >= goal - 1e-3) if goal >= start else (best <= goal + 1e-3):
        return ""
    return f"it gets to {measure(best, axis)}, and should to {measure(goal, axis)}."


def _limits(subject: Subject, row: Expectation) -> str:
    facts, axis, _ = _joint(subject, row)
    freedom = facts.freedoms[axis]
    wanted = [_si(float(value), axis) for value in row.values["limits"]]
    if np.allclose([freedom.low, freedom.high], wanted, atol=1e-4):
        return ""
    told, meant = (
        f"{measure(low, axis)} to {measure(high, axis)}" for low, high in ((freedom.low, freedom.high), wanted)
    )
    return f"its limits are {told}, and should be {meant}."


def _holds(subject: Subject, row: Expectation) -> str:
    """The drive of a joint keeps it within so many degrees or metres of its target."""
    facts, axis, _ = _joint(subject, row)
    drive = facts.freedoms[axis].drive
    if drive is None or drive.is_friction:
        return "the joint has no drive."
    motion = _run(subject.model, row)
    error = _place(subject, facts, axis, motion, len(motion.positions) - 1) - drive.target_position
    if axis == 3:
        # A place is within half a turn, and a target may be beyond it.
        error = math.remainder(error, 2.0 * math.pi)
    return "" if abs(error) <= _si(float(row.values["holds"]), axis) else (
        f"it is {measure(abs(error), axis)} from its target."
    )  # fmt: skip


def _mass(subject: Subject, row: Expectation) -> str:
    found = mass.mass_properties(subject.model, row.prim).mass
    wanted = row.values["mass"]
    low, high = wanted if isinstance(wanted, list) else (0.999 * wanted, 1.001 * wanted)
    if low <= found <= high:
        return ""
    meant = f"{low:.4g} to {high:.4g} kg" if isinstance(wanted, list) else f"{wanted:.4g} kg"
    return f"it weighs {found:.4g} kg, and should weigh {meant}."


def _moves_at_most(subject: Subject, row: Expectation) -> str:
    found = _way(subject, row)
    return "" if found <= float(row.values["moves_at_most"]) else f"it moves by {found:.3g} m."


def _moves_at_least(subject: Subject, row: Expectation) -> str:
    found = _way(subject, row)
    return "" if found >= float(row.values["moves_at_least"]) else f"it moves by {found:.3g} m."


def _way(subject: Subject, row: Expectation) -> float:
    motion = _run(subject.model, row)
    if row.prim not in motion.paths:
        raise InputError("it is no enabled body.")
    moved = motion.positions[:, motion.paths.index(row.prim)] - motion.positions[0, motion.paths.index(row.prim)]
    return float(np.linalg.norm(moved, axis=1).max())


def _attribute(subject: Subject, row: Expectation) -> str:
    prim = subject.model.prims[row.prim]
    for name, value in prim.schemas.items():
        instance = split_applied(name)[1]
        for attribute in value.attributes:
            if attribute.usd_name(instance) != row.values["attribute"]:
                continue
            content = getattr(value, attribute.field)
            if content is None:
                return "nothing is said there."
            shown = summary.shown(attribute, content, instance, value.unit_mode)
            if "range" in row.values:
                low, high = row.values["range"]
                is_met = isinstance(shown, int | float) and low <= shown <= high
            elif isinstance(shown, int | float) and _is_number(row.values["value"]):
                is_met = math.isclose(shown, row.values["value"], rel_tol=1e-4, abs_tol=1e-9)
            else:
                is_met = bool(shown == row.values["value"])
            meant = "{} to {}".format(*row.values["range"]) if "range" in row.values else row.values["value"]
            return "" if is_met else f"it is {shown}, and should be {meant}."
    names = [
        attribute.usd_name(split_applied(name)[1]) for name, value in prim.schemas.items()
        for attribute in value.attributes
    ]  # fmt: skip
    return f"no schema there has this attribute{did_you_mean(row.values['attribute'], names, '.')}"


_TESTS: dict[str, Callable[[Subject, Expectation], str]] = {
    "reaches": _reaches, "limits": _limits, "holds": _holds, "mass": _mass, "moves_at_most": _moves_at_most,
    "moves_at_least": _moves_at_least, "attribute": _attribute,
}  # fmt: skip


def _run(model: PhysicsModel, row: Expectation) -> Motion:
    motion = simulated(with_floor(subject_of(model)), float(row.values.get("within", 5.0)))
    if motion.problem:
        raise InputError(motion.problem)
    return motion


def _joint(subject: Subject, row: Expectation) -> tuple[Any, int, str]:
    """(facts, axis, instance name) of a joint with one degree of freedom. Raises InputError."""
    facts = next((one for one in subject.joints if one.path == row.prim), None)
    free = [] if facts is None else [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
    if facts is None or free not in ([0], [3]):
        raise InputError("it is no joint with one degree of freedom.")
    return facts, free[0], next(name for name, axis in facts.names.items() if axis == free[0])


def _place(subject: Subject, facts: Any, axis: int, motion: Motion | None, frame: int) -> float:
    return position_of(facts, relative_pose(*ends_of(subject, facts, motion, frame)), axis)


def _si(value: float, axis: int) -> float:
    return math.radians(value) if axis == 3 else value
