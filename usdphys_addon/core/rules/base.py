# SPDX-License-Identifier: GPL-3.0-or-later
"""What rules are made of: the issue, the registry, and the facts about a model that all rules share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from types import NoneType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from .. import paths, schema
from ..model import Mesh, PhysicsModel, Prim, SpherePoints
from ..schema import Attribute, SchemaT
from ..schemas import usd_physics
from .placement import Placements

T = TypeVar("T")
Severity = Literal["error", "warning", "info"]
Target = Literal["usd", "physx", "newton"]
Hierarchy = Literal["nested", "flat", "reset"]


#: Python types of plain values, and of those that are not authored.
_PLAIN: dict[str, set[type]] = {
    "bool": {bool, NoneType}, "int": {int, float, NoneType}, "float": {int, float, NoneType}, "text": {str, NoneType},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong: the prim (its path, and the object's name where there is one), what, and what to do."""

    code: str
    severity: Severity
    path: str
    label: str
    message: str
    fix: str


class Finding(NamedTuple):
    """What a check yields. words: fill the places in the rule's fix; X is the prim. prim: None is the whole file."""

    prim: Prim | None
    message: str
    words: Mapping[str, str] = {}


Check = Callable[["Facts"], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """meaning: one sentence for the table of codes. severities: by target; a target that is missing has no issue."""

    code: str
    meaning: str
    fix: str
    severities: Mapping[Target, Severity]
    check: Check


RULES: list[Rule] = []


def rule(
    code: str,
    usd: Severity | None,
    physx: Severity | None,
    newton: Severity | None,
    *,
    meaning: str,
    fix: str,
) -> Callable[[Check], Check]:
    """Register a check. fix: one imperative sentence; {X} becomes the name of the prim, other words the finding's."""
    named: dict[Target, Severity | None] = {"usd": usd, "physx": physx, "newton": newton}
    severities = {target: severity for target, severity in named.items() if severity is not None}

    def register(check: Check) -> Check:
        RULES.append(Rule(code, meaning, fix, severities, check))
        return check

    return register


def kind(prim: Prim) -> str:
    """Type of a prim for a sentence."""
    return prim.type_name or "prim without a type"


def name(prim: Prim) -> str:
    """Short name of a prim for a sentence: the object's where there is one."""
    return f"'{prim.label or prim.name}'"


class Above:
    """Finds the nearest of some prims at or above a path; remembers every path, so that all questions cost O(n).

    cuts: paths that no search passes, unless the wanted prim is right there.
    """

    def __init__(self, wanted: Mapping[str, Prim], cuts: Collection[str] = ()) -> None:
        self.wanted, self.cuts = wanted, cuts
        self.known: dict[str, Prim | None] = {"": None}

    def at(self, path: str) -> Prim | None:
        known = self.known
        if path in known:
            return known[path]
        passed = []
        while path not in known:
            prim = self.wanted.get(path)
            if prim is not None or path in self.cuts:
                known[path] = prim
                break
            passed.append(path)
            path = paths.parent_of(path)
        found = known[path]
        for below in passed:
            known[below] = found
        return found

    def over(self, path: str) -> Prim | None:
        """The nearest above the path itself."""
        return self.at(paths.parent_of(path))


@dataclass(slots=True)
class Entries(Generic[SchemaT]):
    """The values of a class in a model, in parallel lists: many small tuples would wake the garbage collector.

    instance: of a multiple-apply schema.
    """

    prims: list[Prim]
    values: list[SchemaT]
    instance: str = ""

    def __iter__(self) -> Iterator[tuple[Prim, SchemaT]]:
        return zip(self.prims, self.values, strict=True)

    def __len__(self) -> int:
        return len(self.prims)


@dataclass(slots=True)
class Column:
    """One attribute of all the prims that have it, under its name on the prims; None where it is not authored."""

    attribute: Attribute
    name: str
    prims: list[Prim]
    values: list[Any]

    def authored(self) -> Iterator[tuple[Prim, Any]]:
        """(prim, value)"""
        return ((prim, value) for prim, value in zip(self.prims, self.values, strict=True) if value is not None)


@dataclass
class Facts:
    """What the rules need to know of a model, collected once.

    Values of a wrong type are listed in `mistyped` and read as not authored, so that no rule trips over them.
    """

    model: PhysicsModel
    target: Target = "usd"
    hierarchy: Hierarchy = "nested"
    check_geometry: bool = True
    #: (prim, property name, attribute)
    mistyped: list[tuple[Prim, str, Attribute]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._computed: dict[Callable[[Facts], Any], Any] = {}
        named: dict[str, list[Prim]] = defaultdict(list)
        for prim in self.model.prims.values():
            for applied in prim.schemas:
                named[applied].append(prim)
        self._entries: list[Entries[Any]] = []
        #: Every attribute that is authored somewhere.
        self.columns: list[Column] = []
        for applied, prims in named.items():
            entries = Entries(prims, [prim.schemas[applied] for prim in prims], schema.split_applied(applied)[1])
            self._entries.append(entries)
            for attribute in type(entries.values[0]).attributes:
                self._collect(attribute, entries)

    def _collect(self, attribute: Attribute, entries: Entries[Any]) -> None:
        values = list(map(attrgetter(attribute.field), entries.values))
        if values.count(None) == len(values):
            return
        column = Column(attribute, attribute.usd_name(entries.instance), entries.prims, values)
        self.columns.append(column)
        # The types of all values at once: quicker than to ask for each.
        kind = attribute.value
        if kind.size == 1 and not kind.is_array and set(map(type, values)) <= _PLAIN[kind.base]:
            return
        for row, value in enumerate(values):
            if value is not None and not attribute.accepts(value):
                self.mistyped.append((entries.prims[row], column.name, attribute))
                values[row] = None
                entries.values[row] = entries.values[row].copy(**{attribute.field: None})

    def once(self, compute: Callable[[Facts], T]) -> T:
        """The result of a function of these facts that several rules need."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        result: T = self._computed[compute]
        return result

    def all(self, cls: type[SchemaT]) -> Entries[SchemaT]:
        """The values of a class and of the classes derived from it."""
        found = self.instances(cls)
        if len(found) == 1:
            return found[0]
        prims = [prim for entries in found for prim in entries.prims]
        return Entries(prims, [value for entries in found for value in entries.values])

    def instances(self, cls: type[SchemaT]) -> list[Entries[SchemaT]]:
        """The same, apart by instance of a multiple-apply schema."""
        return [entries for entries in self._entries if isinstance(entries.values[0], cls)]

    @cached_property
    def bodies(self) -> Entries[usd_physics.RigidBodyAPI]:
        return self.all(usd_physics.RigidBodyAPI)

    @cached_property
    def colliders(self) -> Entries[usd_physics.CollisionAPI]:
        return self.all(usd_physics.CollisionAPI)

    @cached_property
    def joints(self) -> Entries[usd_physics.Joint]:
        return self.all(usd_physics.Joint)

    @cached_property
    def masses(self) -> Entries[usd_physics.MassAPI]:
        return self.all(usd_physics.MassAPI)

    @cached_property
    def groups(self) -> Entries[usd_physics.CollisionGroup]:
        return self.all(usd_physics.CollisionGroup)

    @cached_property
    def enabled(self) -> dict[str, Prim]:
        """Bodies that are enabled, kinematic ones among them."""
        return {prim.path: prim for prim, body in self.bodies if body.rigid_body_enabled is not False}

    @cached_property
    def dynamic(self) -> dict[str, Prim]:
        """Bodies that forces move."""
        kinematic = {prim.path for prim, body in self.bodies if body.kinematic_enabled is True}
        return {path: prim for path, prim in self.enabled.items() if path not in kinematic}

    @cached_property
    def resets(self) -> set[str]:
        return {prim.path for prim in self.model.prims.values() if prim.resets_xform_stack}

    @cached_property
    def owner(self) -> Above:
        """The body that a prim belongs to, disabled bodies among them; the same as `PhysicsModel.body_of`."""
        return Above({prim.path: prim for prim, _ in self.bodies}, self.resets)

    @cached_property
    def mover(self) -> Above:
        """The enabled body that moves a prim, as OpenUSD's validators search it: past resets and disabled bodies."""
        return Above(self.enabled)

    @cached_property
    def carrier(self) -> Above:
        """The enabled body that carries a prim; a reset transform stack cuts the tie."""
        return Above(self.enabled, self.resets)

    @cached_property
    def shapes(self) -> list[tuple[Prim, Mesh | SpherePoints | None]]:
        """Geometry of the colliders that can load it; nothing where geometry is not to be loaded."""
        if not self.check_geometry:
            return []
        return [(prim, prim.mesh()) for prim, _ in self.colliders if prim.mesh is not None]

    @cached_property
    def placements(self) -> Placements:
        """Scale and shear of all bodies and colliders."""
        placed = self.bodies.prims + [prim for prim in self.colliders.prims if not self.is_body(prim)]
        return Placements(placed, self.model.units.up_axis, self.model.angular_precision)

    def is_body(self, prim: Prim) -> bool:
        return usd_physics.RigidBodyAPI.usd_name in prim.schemas

    def exists(self, path: str) -> bool:
        """False where a target is surely missing."""
        others = self.model.other_paths
        return path in self.model.prims or others is None or path in others
