# SPDX-License-Identifier: GPL-3.0-or-later
"""Issue, registry of rules, and the cached facts about a model that rules share."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter
from pathlib import Path
from types import NoneType
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast, get_args

from .. import deformables, paths, schema, tables
from ..collision_groups import collides_with_itself
from ..deformables import Deformable, Pin
from ..frames import Matrix
from ..model import Mesh, PhysicsModel, Prim, SpherePoints
from ..schema import Attribute, Schema, SchemaT
from ..schemas import usd_physics
from .placement import WorldScales

T = TypeVar("T")
Severity = Literal["error", "warning", "info"]
Target = Literal["usd", "physx", "newton", "mujoco", "havok", "godot"]
#: Those that read glTF, which has no articulations.
OF_GLTF: frozenset[Target] = frozenset({"havok", "godot"})
Hierarchy = Literal["nested", "flat", "reset"]
_NAMED_PATH = re.compile(r" \(/[^()]*\)")
_TUPLES = {tuple, NoneType}
#: Python types of plain values, and of those that are not authored.
_PLAIN: dict[str, set[type]] = {
    "bool": {bool, NoneType}, "int": {int, float, NoneType}, "float": {int, float, NoneType}, "text": {str, NoneType},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Issue:
    """One problem. path: of the prim. label: name of the Blender object, or "". message, fix: one sentence each."""

    code: str
    severity: Severity
    path: str
    label: str
    message: str
    fix: str

    @property
    def short(self) -> str:
        """The message without the paths that follow names of objects."""
        return _NAMED_PATH.sub("", self.message)


def alike(issues: Iterable[Issue]) -> list[tuple[Issue, int]]:
    """The first of the issues that say the same of different prims, and how many say it; in their order."""
    by_words: dict[tuple[str, ...], tuple[Issue, int]] = {}
    for issue in issues:
        said = issue.message
        for name in (f"'{issue.label}' ({issue.path})", f"'{issue.label}'", issue.path):
            said = said.replace(name, "")
        key = (issue.code, issue.severity, said)
        by_words[key] = (by_words[key][0], by_words[key][1] + 1) if key in by_words else (issue, 1)
    return list(by_words.values())


class Finding(NamedTuple):
    """Result of a rule function. words: placeholders of the rule's fix, without {X}. prim: None is the whole file."""

    prim: Prim | None
    message: str
    words: Mapping[str, str] = {}


RuleCheck = Callable[["Facts"], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """meaning: text for the table of codes. severities: by target; the rule is skipped for missing targets."""

    code: str
    meaning: str
    fix: str
    severities: Mapping[Target, Severity]
    check: RuleCheck


RULES: list[Rule] = []


@cache
def _table() -> dict[str, dict[str, str]]:
    return {row["code"]: row for row in tables.rows(Path(__file__).with_name("rules.tsv"))}


@cache
def _of_gltf() -> dict[str, dict[str, str]]:
    """Severities for readers of glTF, where they are not those for usd."""
    return {row["code"]: row for row in tables.rows(Path(__file__).with_name("gltf_readers.tsv"))}


def rule(code: str) -> Callable[[RuleCheck], RuleCheck]:
    """Register the function of a code of rules.tsv, which has the severities and the texts.

    Severities: a target with an empty column skips the rule. mujoco is the reader of USD that MuJoCo has, mujoco-usd
    4.0.0, havok and godot read glTF; "usd" there means that nothing was measured, and it is as for usd; so it is for
    codes that gltf_readers.tsv lacks. fix: one imperative sentence; {X}: name of the prim; others: `Finding.words`.
    """
    row = _table()[code]
    by_target = row | {"havok": "usd", "godot": "usd"} | _of_gltf().get(code, {})
    named = {target: row["usd"] if by_target[target] == "usd" else by_target[target] for target in get_args(Target)}
    severities = {target: cast(Severity, named[target]) for target in get_args(Target) if named[target]}

    def register(check: RuleCheck) -> RuleCheck:
        RULES.append(Rule(code, row["meaning"], row["fix"], severities, check))
        return check

    return register


def kind(prim: Prim) -> str:
    """Type of a prim, for messages."""
    return prim.type_name or "prim without a type"


def name(prim: Prim) -> str:
    """Quoted name of the Blender object or prim, for messages."""
    return f"'{prim.label or prim.name}'"


class Above:
    """Finds the nearest of some prims at or above a path. Results are cached, so that n queries cost O(n).

    cuts: paths at which a search ends, unless the path itself is wanted.
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
        nearest = known[path]
        for below in passed:
            known[below] = nearest
        return nearest

    def over(self, path: str) -> Prim | None:
        """The nearest prim strictly above the path."""
        return self.at(paths.parent_of(path))


@dataclass(slots=True)
class Entries(Generic[SchemaT]):
    """The schemas of a class in a model, in parallel lists: many small tuples would trigger the garbage collector.

    instance: instance name of a multiple-apply schema, or "".
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
    """One attribute of all prims with its schema. name: property name. values: None if not authored."""

    attribute: Attribute
    name: str
    prims: list[Prim]
    values: list[Any]

    def authored(self) -> Iterator[tuple[Prim, Any]]:
        """(prim, value)"""
        return ((prim, value) for prim, value in zip(self.prims, self.values, strict=True) if value is not None)


@dataclass
class Facts:
    """Facts about a model that the rules need, collected once.

    Values of a wrong type are listed in `mistyped` and replaced by None, so that the rules need not handle them.
    """

    model: PhysicsModel
    target: Target = "usd"
    hierarchy: Hierarchy = "nested"
    check_geometry: bool = True
    #: Vertices (n, 3) of mesh colliders, m, in the space of the prim, where meshes are not loaded.
    points: Mapping[str, Matrix] = field(default_factory=dict)
    #: Corners (8, 3) of the bounds of those that are too many to read.
    bounds: Mapping[str, Matrix] = field(default_factory=dict)
    #: Meshes of colliders that take their hull, where meshes are not loaded.
    hulls: Mapping[str, Mesh] = field(default_factory=dict)
    #: Bounds of what is seen, as `PhysicsModel.seen`; None: the model says.
    seen: Mapping[str, Matrix] | None = None
    #: (prim, property name, attribute)
    mistyped: list[tuple[Prim, str, Attribute]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._computed: dict[Callable[[Facts], Any], Any] = {}
        # By class, too: schemas that no table has get a class for the attributes that they have.
        named: dict[tuple[str, type[Schema]], list[Prim]] = defaultdict(list)
        for prim in self.model.prims.values():
            for applied, value in prim.schemas.items():
                named[applied, type(value)].append(prim)
        self._entries: list[Entries[Any]] = []
        #: One for each attribute that is authored on any prim.
        self.columns: list[Column] = []
        for (applied, _), prims in named.items():
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
        kind, types = attribute.value, set(map(type, values))
        if attribute.is_relationship or (kind.size > 1 and not kind.is_array):
            parts = {str} if attribute.is_relationship else _PLAIN[kind.base]
            tuples = [value for value in values if value is not None] if types <= _TUPLES else [()]
            is_right = set(map(type, chain.from_iterable(tuples))) <= parts
            if is_right and (attribute.is_relationship or set(map(len, tuples)) <= {kind.size}):
                return
        elif not kind.is_array and types <= _PLAIN[kind.base]:
            return
        for row, value in enumerate(values):
            if value is not None and not attribute.accepts(value):
                self.mistyped.append((entries.prims[row], column.name, attribute))
                values[row] = None
                entries.values[row] = entries.values[row].copy(**{attribute.field: None})

    def once(self, compute: Callable[[Facts], T]) -> T:
        """The cached result of a function of these facts, for results that several rules need."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        result: T = self._computed[compute]
        return result

    def remember(self, compute: Callable[[Facts], T], value: T) -> None:
        """Keep a value as the result of `once`, where a caller computes it in steps."""
        self._computed[compute] = value

    def all(self, cls: type[SchemaT]) -> Entries[SchemaT]:
        """The schemas of a class and of classes derived from it; all instances together."""
        of_class = self.instances(cls)
        if len(of_class) == 1:
            return of_class[0]
        prims = [prim for entries in of_class for prim in entries.prims]
        return Entries(prims, [value for entries in of_class for value in entries.values])

    def instances(self, cls: type[SchemaT]) -> list[Entries[SchemaT]]:
        """Like `all`, with separate entries for each schema name and instance."""
        return [entries for entries in self._entries if isinstance(entries.values[0], cls)]

    def applied(self, cls: type[SchemaT]) -> Iterator[tuple[Prim, str, SchemaT]]:
        """(prim, instance name, schema) of a multiple-apply schema."""
        return ((prim, entries.instance, value) for entries in self.instances(cls) for prim, value in entries)

    @cached_property
    def bodies(self) -> Entries[usd_physics.RigidBodyAPI]:
        return self.all(usd_physics.RigidBodyAPI)

    @cached_property
    def colliders(self) -> Entries[usd_physics.CollisionAPI]:
        """Of rigid bodies and static ones: the shape of a deformable is its own."""
        entries = self.all(usd_physics.CollisionAPI)
        if not any(map(deformables.kind_of, entries.prims)):
            return entries
        rigid = [(prim, value) for prim, value in entries if not deformables.kind_of(prim)]
        return Entries([prim for prim, _ in rigid], [value for _, value in rigid])

    @cached_property
    def deformables(self) -> tuple[list[Deformable], list[Pin]]:
        """Deformables and their pins; empty if `check_geometry` is False."""
        return self.model.deformables() if self.model.deformables is not None and self.check_geometry else ([], [])

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
        """Enabled bodies, including kinematic ones."""
        return {prim.path: prim for prim, body in self.bodies if body.rigid_body_enabled is not False}

    @cached_property
    def dynamic(self) -> dict[str, Prim]:
        """Enabled bodies that are not kinematic."""
        kinematic = {prim.path for prim, body in self.bodies if body.kinematic_enabled is True}
        return {path: prim for path, prim in self.enabled.items() if path not in kinematic}

    @cached_property
    def in_instancers(self) -> dict[str, str]:
        """As `PhysicsModel.in_instancers`."""
        return self.model.in_instancers()

    @cached_property
    def resets(self) -> set[str]:
        return self.model.resets

    @cached_property
    def owner(self) -> Above:
        """The body of a prim, including disabled ones; same result as `PhysicsModel.body_of`."""
        return Above({prim.path: prim for prim, _ in self.bodies}, self.resets)

    @cached_property
    def mover(self) -> Above:
        """The enabled body at or above a prim, as in OpenUSD's validators: resets and disabled bodies are ignored."""
        return Above(self.enabled)

    @cached_property
    def carrier(self) -> Above:
        """The enabled body that carries a prim; the search ends at a reset transform stack."""
        return Above(self.enabled, self.resets)

    @cached_property
    def articulated(self) -> frozenset[str]:
        """Paths of the joints that belong to an articulation: those that hang on a root through other joints."""
        roots = {prim.path for prim in self.all(usd_physics.ArticulationRootAPI).prims}
        if not roots:
            return frozenset()
        hubs: dict[str, list[str]] = defaultdict(list)
        bodies: dict[str, list[str]] = {}
        for prim, joint in self.joints:
            if joint.exclude_from_articulation is True:
                continue
            owners = [self.owner.at(targets[0]) for targets in (joint.body0, joint.body1) if targets]
            bodies[prim.path] = [owner.path for owner in owners if owner is not None]
            for body in bodies[prim.path]:
                hubs[body].append(prim.path)
        pending = [path for path in (*hubs, *bodies) if paths.nearest(path, roots)]
        seen: set[str] = set()
        while pending:
            path = pending.pop()
            if path not in seen:
                seen.add(path)
                pending += hubs.get(path, ())
                pending += bodies.get(path, ())
        return frozenset(seen & bodies.keys())

    @cached_property
    def apart_links(self) -> dict[str, frozenset[str]]:
        """By path of a body, the roots of its articulations whose links do not collide with each other."""
        roots = {
            prim.path: prim
            for prim in self.all(usd_physics.ArticulationRootAPI).prims
            if not collides_with_itself(prim)
        }
        if not roots:
            return {}
        links: dict[str, set[str]] = defaultdict(set)
        ends: dict[str, list[str]] = {}
        for prim, joint in self.joints:
            if joint.joint_enabled is False or joint.exclude_from_articulation is True:
                continue
            owners = [self.carrier.at(targets[0]) for targets in (joint.body0, joint.body1) if targets]
            ends[prim.path] = own = [owner.path for owner in owners if owner is not None]
            for body in own:
                links[body].update(own)
        found: dict[str, set[str]] = defaultdict(set)
        for path, root in roots.items():
            # A body or a joint: all that hangs on it. Else the joints below it.
            is_above = path not in ends and not self.is_body(root)
            pending = [path, *ends.get(path, ())]
            if is_above:
                pending = [body for joint, own in ends.items() if paths.is_below(joint, path) for body in own]
            while pending:
                body = pending.pop()
                if path not in found[body]:
                    found[body].add(path)
                    pending += () if is_above else links.get(body, ())
        return {body: frozenset(own) for body, own in found.items()}

    @cached_property
    def shapes(self) -> list[tuple[Prim, Mesh | SpherePoints | None]]:
        """Geometry of the mesh and point colliders; empty if `check_geometry` is False."""
        if not self.check_geometry:
            return []
        return [(prim, prim.mesh()) for prim, _ in self.colliders if prim.mesh is not None]

    @cached_property
    def seen_bounds(self) -> Mapping[str, Matrix]:
        """Bounds of what is seen, by path; empty where nobody looks."""
        if self.seen is not None:
            return self.seen
        return self.model.seen() if self.model.seen is not None and self.check_geometry else {}

    @cached_property
    def placements(self) -> WorldScales:
        """Scale and shear of all bodies and colliders."""
        placed = self.bodies.prims + [prim for prim in self.colliders.prims if not self.is_body(prim)]
        return WorldScales(placed, self.model.units.up_axis, self.model.angular_precision)

    def is_body(self, prim: Prim) -> bool:
        return usd_physics.RigidBodyAPI.usd_name in prim.schemas

    def exists(self, path: str) -> bool:
        """False if no prim has this path. True also if the other paths of the stage are unknown."""
        others = self.model.other_paths
        return path in self.model.prims or others is None or path in others
