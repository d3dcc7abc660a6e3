# SPDX-License-Identifier: GPL-3.0-or-later
"""Concepts of artists over the schemas of several simulators: one field in the panels, one attribute for each runtime.

The scene chooses its targets. "Neutral" takes the first attribute that there is in the order of NEUTRAL_ORDER: those of
Newton are read by PhysX, too, and PhysX and MuJoCo mark their own twins as outdated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from . import schema, tables
from .joint_kinds import BY_TYPE_NAME
from .schema import INSTANCE, Place

NEUTRAL = "Neutral"
#: The degree of freedom of a ball joint that has a limit; PhysX has one for its two angles.
CONE = "cone"
NEUTRAL_ORDER = ("Newton", "PhysX", "MuJoCo")
#: What the scene can be written for.
TARGETS = (NEUTRAL, "Newton", "PhysX", "MuJoCo")


@dataclass(frozen=True, slots=True)
class Twin:
    """An attribute of a runtime. name: USD name, with INSTANCE for a degree of freedom; empty: the schema itself."""

    runtime: str
    applied: str
    name: str


@dataclass(frozen=True, slots=True)
class Concept:
    """One field of the panels. dofs: it is set for each degree of freedom of a joint."""

    identifier: str
    place: Place
    label: str
    doc: str
    twins: tuple[Twin, ...]

    def twins_for(self, targets: Collection[str]) -> tuple[Twin, ...]:
        """The attributes that the targets of a scene want; empty if none of them has a word for it."""
        wanted: dict[Twin, None] = {}
        by_runtime = {twin.runtime: twin for twin in self.twins}
        for target in targets:
            # PhysX and MuJoCo read the words of Newton where they have none of their own.
            order = NEUTRAL_ORDER if target == NEUTRAL else (target,) if target == "Newton" else (target, "Newton")
            twins = next((by_runtime[name] for name in order if name in by_runtime), None)
            if twins is not None:
                wanted[twins] = None
        return tuple(wanted)


#: PhysX refuses the friction and the damping of a joint whose dynamic friction is above its static one, which is 0.
_DYNAMIC, _STATIC = (f"physxJointAxis:{INSTANCE}:{kind}FrictionEffort" for kind in ("dynamic", "static"))


@cache
def concepts() -> dict[str, Concept]:
    """All concepts by identifier, in the order of the panels; concepts.tsv has "SchemaAPI attribute" by runtime."""
    by_identifier = {}
    for row in tables.rows(Path(__file__).with_suffix(".tsv")):
        words = ((runtime, *row[runtime].partition(" ")) for runtime in NEUTRAL_ORDER if row[runtime])
        twins = tuple(Twin(runtime, applied, name) for runtime, applied, _, name in words)
        place = cast(Place, row["place"])
        by_identifier[row["identifier"]] = Concept(row["identifier"], place, row["label"], row["doc"], twins)
    return by_identifier


def concepts_of(*places: Place) -> list[Concept]:
    """The concepts that belong to one of these places."""
    return [concept for concept in concepts().values() if concept.place in places]


def dofs_of(type_name: str) -> tuple[str, ...]:
    """Degrees of freedom that vendors can say something about, by USD type of a joint."""
    kind = BY_TYPE_NAME.get(type_name)
    if kind is None:
        return ()
    if kind.identifier == "SPHERICAL":
        return (CONE, "rotX", "rotY", "rotZ")
    return tuple(dof for dof in kind.drives if dof != "distance" or len(kind.drives) == 1)


@cache
def _by_name() -> dict[tuple[str, str], Concept]:
    return {(twin.applied, twin.name): concept for concept in concepts().values() for twin in concept.twins}


def concept_of(applied: str, name: str) -> tuple[Concept, str] | None:
    """(concept, degree of freedom) of an attribute of an applied schema; None if it belongs to none."""
    base, instance = schema.split_applied(applied)
    concept = _by_name().get((applied, name))
    if concept is not None or not instance:
        return (concept, "") if concept is not None else None
    concept = _by_name().get((f"{base}:{INSTANCE}", name.replace(f":{instance}:", f":{INSTANCE}:", 1)))
    return (concept, instance) if concept is not None else None


def dofs_for(applied: str, dofs: Collection[str]) -> list[str]:
    """Those of a joint's degrees of freedom that a schema is for: the limit of a ball joint is that of its cone."""
    is_limit = applied.startswith("PhysxLimitAPI")
    return [dof for dof in dofs if (dof == CONE) == is_limit] if CONE in dofs else list(dofs)


def placed(twin: Twin, dofs: Collection[str]) -> Iterator[tuple[str, str]]:
    """(applied schema, attribute) of a twin: one, or one for each degree of freedom."""
    if INSTANCE not in twin.applied:
        yield twin.applied, twin.name
        return
    for dof in dofs_for(twin.applied, dofs):
        yield twin.applied.replace(INSTANCE, dof), twin.name.replace(INSTANCE, dof)


def floor_of(applied: str, name: str) -> str:
    """The attribute of the same schema whose value must be at least that of this one; empty if there is none."""
    instance = schema.split_applied(applied)[1]
    return _STATIC.replace(INSTANCE, instance) if name == _DYNAMIC.replace(INSTANCE, instance) else ""


def replacement(applied: str, name: str, dofs: Collection[str]) -> tuple[str, str] | None:
    """(applied schema, attribute) of Newton for an attribute of another simulator; None where Newton has no word."""
    known = concept_of(applied, name)
    for twin in known[0].twins if known is not None else ():
        if twin.runtime == "Newton" and twin.name:
            return next(placed(twin, (known[1],) if known is not None and known[1] else dofs), None)
    return None
