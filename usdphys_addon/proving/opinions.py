# SPDX-License-Identifier: GPL-3.0-or-later
"""Which attribute is the cause: opinions of a model are removed or swapped until a finding goes away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core import summary
from ..core.difference import same_value
from ..core.errors import UsdPhysError
from ..core.model import PhysicsModel, Prim
from ..core.schema import Schema, attribute_of, split_applied
from ..core.schemas import usd_geom, usd_physics

#: Fields of joints that say where they are and what they hold: without them there is another joint.
_STRUCTURE = frozenset({"body0", "body1", "local_pos0", "local_pos1", "local_rot0", "local_rot1", "axis"})
#: Kinds of difference that are no values of a schema.
PLACE, MATERIAL, POINTS, PRIM = "place", "material", "points", "prim"
#: What they are called.
NAMES = {PLACE: "xformOp", MATERIAL: "material:binding", POINTS: "points", PRIM: ""}
#: Causes that are looked for one after the other, and that are told at most.
MOST_CAUSES = 6
#: Shares by which the words of two files may differ by rounding.
_ROUNDING = 1e-5


class Statements(NamedTuple):
    """Two models of the same asset, with words for the second, as in "as MuJoCo reads it"."""

    one: PhysicsModel
    other: PhysicsModel
    words: str
    section: str
    name: str


class Opinion(NamedTuple):
    """What one prim says: a field of a schema (with instance), the whole schema if `field` is empty, or with an empty
    schema one of PLACE, MATERIAL, POINTS and PRIM.
    """

    path: str
    schema: str
    field: str


@dataclass(frozen=True, slots=True)
class Cause:
    """path: of a prim. attribute: USD names, with commas where a whole schema is meant. said, other: the values, SI and
    degrees, as text; empty where nothing is said. hint: what the two numbers have to do with each other.
    """

    path: str
    attribute: str
    said: str = ""
    other: str = ""
    hint: str = ""

    def __str__(self) -> str:
        values = self.said or "not said"
        if self.other:
            values += f"; {self.other} in the other"
        return f"{self.attribute} of {self.path} ({values}{'; ' + self.hint if self.hint else ''})"


def name_of(model: PhysicsModel, opinion: Opinion) -> str:
    """USD name of what an opinion is about; of a whole schema, those of its values, or its own."""
    if not opinion.schema:
        prim = model.prims.get(opinion.path)
        return NAMES[opinion.field] or (_kind_of(prim) if prim is not None else "the prim")
    value, instance = _schema(model, opinion), split_applied(opinion.schema)[1]
    if opinion.field and value is not None:
        return attribute_of(type(value), opinion.field).usd_name(instance)
    authored = [attribute.usd_name(instance) for attribute, _ in value.authored()] if value is not None else []
    return ", ".join(authored) or opinion.schema


def _kind_of(prim: Prim) -> str:
    """What makes a prim one of physics: its type, or, as shapes and links are also there without, its API schemas."""
    applied = [name for name, value in prim.schemas.items() if value.kind != "typed"]
    is_physics = any(value.kind == "typed" and not isinstance(value, usd_geom.Gprim) for value in prim.schemas.values())
    return prim.type_name if is_physics or not applied else ", ".join(applied)


def text_of(model: PhysicsModel, opinion: Opinion) -> str:
    """What a model says there, as text; empty where it says nothing."""
    prim = model.prims.get(opinion.path)
    if prim is None:
        return ""
    if opinion.field == MATERIAL and not opinion.schema:
        return ", ".join(_material_text(model, path) for path in prim.materials)
    if not opinion.schema:
        return np.array2string(prim.world[:3, 3], precision=4) if opinion.field == PLACE else "there"
    value, instance = prim.schemas.get(opinion.schema), split_applied(opinion.schema)[1]
    if value is None:
        return ""
    if not opinion.field:
        return ", ".join(f"{name} {content}" for name, content in summary.authored(value, instance).items()) or "there"
    content = getattr(value, opinion.field)
    if content is None:
        return ""
    return str(summary.shown(attribute_of(type(value), opinion.field), content, instance, value.unit_mode))


def _material_text(model: PhysicsModel, path: str) -> str:
    """A material with what it says, which counts where it is bound."""
    prim = model.prims.get(path)
    value = prim.get(usd_physics.MaterialAPI) if prim is not None else None
    said = summary.authored(value) if value is not None else {}
    listed = ", ".join(f"{name} {content}" for name, content in said.items())
    return f"{path}: {listed}" if listed else path


def _schema(model: PhysicsModel, opinion: Opinion) -> Schema | None:
    prim = model.prims.get(opinion.path)
    return None if prim is None else prim.schemas.get(opinion.schema)


# --------------------------------------------------------------------------- swapping


def differences(one: PhysicsModel, other: PhysicsModel) -> list[Opinion]:
    """Where two models say different things about the same prims, and prims that one of them has alone."""
    found: list[Opinion] = []
    for path in {**one.prims, **other.prims}:
        here, there = one.prims.get(path), other.prims.get(path)
        if here is None or there is None:
            known = here or there
            assert known is not None
            if known.schemas:
                found.append(Opinion(path, "", PRIM))
            continue
        found += _of_prims(path, here, there)
    return found


def _of_prims(path: str, here: Prim, there: Prim) -> Iterator[Opinion]:
    for name in {**here.schemas, **there.schemas}:
        own, others = here.schemas.get(name), there.schemas.get(name)
        if own is None or others is None or type(own) is not type(others):
            # Without a value it says nothing, unless that it is there does.
            known: Any = own or others
            if any(True for _ in known.authored()) or known.on in ("body", "collider", "articulation"):
                yield Opinion(path, name, "")
            continue
        for attribute in own.attributes:
            was, now = getattr(own, attribute.field), getattr(others, attribute.field)
            if not same_value(attribute, was, now) and not _close(was, now):
                yield Opinion(path, name, attribute.field)
    if here.materials != there.materials:
        yield Opinion(path, "", MATERIAL)
    moves = here.get(usd_physics.RigidBodyAPI) or here.get(usd_physics.CollisionAPI)
    size = max(1.0, float(np.abs(here.world).max()))
    if moves and not np.allclose(here.world, there.world, atol=_ROUNDING * size):
        yield Opinion(path, "", PLACE)
    if here.mesh is not None and there.mesh is not None and here.get(usd_physics.CollisionAPI):
        points = [np.asarray(getattr(prim.mesh(), "points", ())) for prim in (here, there) if prim.mesh is not None]
        if points[0].shape != points[1].shape or not np.allclose(points[0], points[1], atol=_ROUNDING * size):
            yield Opinion(path, "", POINTS)


def _close(was: Any, now: Any) -> bool:
    pairs = [(was, now)] if isinstance(was, float) and isinstance(now, float) else []
    if isinstance(was, tuple) and isinstance(now, tuple) and len(was) == len(now):
        pairs = list(zip(was, now, strict=True))
    numbers = [pair for pair in pairs if all(isinstance(part, float) for part in pair)]
    if not numbers or len(numbers) < len(pairs):
        return False
    size = max(abs(part) for pair in numbers for part in pair if np.isfinite(part)) if np.isfinite(numbers).any() else 0
    return all(a == b or abs(a - b) <= _ROUNDING * max(size, 1e-9) for a, b in numbers)


def swapped(one: PhysicsModel, other: PhysicsModel, chosen: Iterable[Opinion]) -> PhysicsModel:
    """A copy of the first model that says what the second one does in the chosen places."""
    result = one.copied()
    for opinion in chosen:
        there = other.prims.get(opinion.path)
        if opinion.field == PRIM and not opinion.schema:
            if there is None:
                result.prims.pop(opinion.path, None)
            else:
                result.prims[opinion.path] = other.copied().prims[opinion.path]
            continue
        here = result.prims.get(opinion.path)
        if here is None or there is None:
            continue
        if not opinion.schema:
            if opinion.field == MATERIAL:
                here.materials, here.physics_binding = there.materials, there.physics_binding
            elif opinion.field == PLACE:
                here.world = there.world
            else:
                here.mesh = there.mesh
        elif not opinion.field:
            here.schemas.pop(opinion.schema, None)
            if opinion.schema in there.schemas:
                here.schemas[opinion.schema] = there.schemas[opinion.schema]
        else:
            value = getattr(there.schemas[opinion.schema], opinion.field)
            here.schemas[opinion.schema] = here.schemas[opinion.schema].copy(**{opinion.field: value})
    return result


def cause_between(one: PhysicsModel, other: PhysicsModel, opinion: Opinion) -> Cause:
    """The opinion in words, with what both models say."""
    known = one if _schema(one, opinion) is not None or opinion.path in one.prims else other
    if opinion.schema and _schema(one, opinion) is None:
        known = other
    said, others = text_of(one, opinion), text_of(other, opinion)
    return Cause(opinion.path, name_of(known, opinion), said, others or "not said", hint_of(said, others))


#: What a number may have been multiplied with by mistake.
FACTORS = (
    (180.0 / np.pi, "degrees and radians"), (100.0, "metres and centimetres, or per cent"), (1000.0, "a thousand"),
    (1e4, "square metres and square centimetres"), (1e6, "a million"), (9.81, "kilograms and newtons"),
    (0.0254, "metres and inches"), (2.2046, "kilograms and pounds"), (-1.0, "the sign"),
    ((180.0 / np.pi) ** 2, "degrees and radians, twice"),
)  # fmt: skip


#: What a joint that starts apart would have to say.
EXCHANGED, OTHER_ORDER, INVERSE = "they fit exchanged", "its numbers fit in the order x, y, z, w", "its inverse fits"


def hint_of(said: str, other: str) -> str:
    """What the ratio of two numbers looks like; empty where it looks like nothing."""
    try:
        ratio = float(said) / float(other)
    except (ValueError, ZeroDivisionError):
        return ""
    for factor, what in FACTORS:
        if np.isclose(ratio, factor, rtol=2e-3) or np.isclose(ratio, 1.0 / factor, rtol=2e-3):
            return f"the ratio is that of {what}"
    return ""


# --------------------------------------------------------------------------- removing


def removable(model: PhysicsModel, prims: Iterable[str]) -> list[Opinion]:
    """Opinions of prims that may be missing: words of simulators, then filters, then values of UsdPhysics."""
    found: list[tuple[int, Opinion]] = []
    for path in prims:
        prim = model.prims[path]
        for name, value in prim.schemas.items():
            is_own = value.family == "UsdPhysics"
            if isinstance(value, usd_geom.Gprim):
                continue
            authored = [attribute for attribute, _ in value.authored() if attribute.field not in _STRUCTURE]
            if not is_own and not authored:
                found.append((0, Opinion(path, name, "")))
            for attribute in authored:
                is_filter = attribute.is_relationship and is_own
                found.append((1 if is_filter else 2 if is_own else 0, Opinion(path, name, attribute.field)))
        if prim.materials:
            found.append((3, Opinion(path, "", MATERIAL)))
    return [opinion for _, opinion in sorted(found, key=lambda pair: pair[0])]


def removed(model: PhysicsModel, chosen: Iterable[Opinion]) -> PhysicsModel:
    """A copy without some opinions."""
    result = model.copied()
    for opinion in chosen:
        prim = result.prims[opinion.path]
        if not opinion.schema:
            prim.materials, prim.physics_binding = (), ""
        elif not opinion.field:
            prim.schemas.pop(opinion.schema, None)
        elif opinion.schema in prim.schemas:
            prim.schemas[opinion.schema] = prim.schemas[opinion.schema].copy(**{opinion.field: None})
    return result


def without_bindings(model: PhysicsModel, found: Sequence[Opinion]) -> list[Opinion]:
    """Opinions without those that bind a material, where a value of the material is among them."""
    paths = {one.path for one in found}
    return [
        one for one in found if one.schema or one.field != MATERIAL or paths.isdisjoint(model.prims[one.path].materials)
    ]


def cause_alone(model: PhysicsModel, opinion: Opinion) -> Cause:
    """The opinion in words."""
    return Cause(opinion.path, name_of(model, opinion), text_of(model, opinion))


# --------------------------------------------------------------------------- bisection


def heals_with(chosen: Sequence[Opinion], heals: Callable[[Sequence[Opinion]], bool]) -> bool:
    """A model without some of its opinions may be none that runs: then they are no cause."""
    try:
        return heals(chosen)
    except (UsdPhysError, ValueError, KeyError, ArithmeticError, np.linalg.LinAlgError):
        return False


def smallest(
    candidates: Sequence[Opinion], heals: Callable[[Sequence[Opinion]], bool], has_time: Callable[[], bool]
) -> list[Opinion]:
    """A set of opinions that together heal, and none of which can be left out; empty where even all of them do not.

    heals: whether a finding goes away with them; a set with which it raises does not heal.
    Halves are tried first, so that one cause among n takes about 2 log2 n runs. has_time: False ends the search early;
    then the set may be too large.
    """
    current = list(candidates)
    if not current or not heals_with(current, heals):
        return []
    parts = 2
    while len(current) > 1 and has_time():
        size = -(-len(current) // parts)
        chunks = [current[start : start + size] for start in range(0, len(current), size)]
        smaller = next((chunk for chunk in chunks if len(chunk) < len(current) and heals_with(chunk, heals)), None)
        if smaller is None and len(chunks) > 2:
            rests = ([one for one in current if one not in chunk] for chunk in chunks)
            smaller = next((rest for rest in rests if heals_with(rest, heals)), None)
            if smaller is not None:
                current, parts = smaller, max(parts - 1, 2)
                continue
        if smaller is not None:
            current, parts = smaller, 2
        elif parts >= len(current):
            break
        else:
            parts = min(2 * parts, len(current))
    return current


def alone(
    candidates: Sequence[Opinion], heals: Callable[[Sequence[Opinion]], bool], has_time: Callable[[], bool]
) -> list[Opinion]:
    """The opinions each of which heals alone: all are tried, one at a time; else the smallest set that does."""
    found: list[Opinion] = []
    for opinion in candidates:
        if not has_time():
            return found
        if heals_with([opinion], heals):
            found.append(opinion)
    return found or smallest(candidates, heals, has_time)


def narrowed(found: list[Opinion], has_time: Callable[[], bool]) -> tuple[list[Opinion], str]:
    """(causes, sentence): of a search that ended early, whose set is too large to be called a cause, none."""
    if len(found) <= MOST_CAUSES or has_time():
        return found, ""
    return [], f"There was no time to find the cause among {len(found)} attributes."
