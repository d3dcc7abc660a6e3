# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in a file that no schema declares and that are almost declared ones, and attributes whose schema is missing.

Simulators and USD pass over both without a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from . import schema, vendor_data
from .schema import INSTANCE
from .schemas import usd_physics

_OWN = usd_physics.RigidBodyAPI.family
#: Distinct unknown names of a file that are compared: each with hundreds of declared ones.
_MOST = 500
_LONGEST = 100
#: Letters of a word that says enough as a part of another one.
_SHORTEST = 6
#: (length of a declared word, edits up to which another word is meant to be it).
_EDITS = ((8, 2), (4, 1), (0, 0))


class Misnamed(NamedTuple):
    """name: in the file. meant: the declared name that is nearest, "" where the name itself is declared.

    schema: what declares it and is missing on the prim, several with "or"; "" where the name is misspelt.
    """

    name: str
    meant: str
    schema: str


class Names:
    """Finds the misnamed of a file. One instance for each file: it looks at a limited number of unknown names."""

    def __init__(self) -> None:
        self._meant: dict[tuple[str, str], str] = {}

    def misnamed(self, type_name: str, schemas: Iterable[str], names: Iterable[str]) -> tuple[Misnamed, ...]:
        """schemas: applied API schemas of a prim, with instances. names: of its properties."""
        mistakes = []
        held = set()
        for kind, one in (("type", type_name), *(("schema", one) for one in schemas)):
            meant = self._nearest(kind, one)
            held.add(meant or one)
            if meant:
                mistakes.append(Misnamed(one, meant, ""))
        for name in names:
            if ":" not in name:
                continue
            if meant := self._nearest("name", name):
                mistakes.append(Misnamed(name, meant, ""))
            elif (homes := _homes(name)) and held.isdisjoint(homes):
                own = (one for one in homes if schema.split_applied(one)[0] in schema.SCHEMAS)
                mistakes.append(Misnamed(name, "", " or ".join(own)))
        return tuple(mistakes)

    def _nearest(self, kind: str, name: str) -> str:
        known = self._meant.get((kind, name))
        if known is None:
            is_full = len(self._meant) >= _MOST
            known = "" if is_full or len(name) > _LONGEST else _NEAREST[kind](name)
            # What is declared is found quickly, and takes no place.
            if not is_full and (known or not _is_declared(kind, name)):
                self._meant[kind, name] = known
        return known


# --------------------------------------------------------------------------- what is declared


@vendor_data.follows
@cache
def _schemas() -> dict[str, tuple[str, tuple[str, ...]]]:
    """(kind, instances) of all schemas of UsdPhysics and of the tables, by name."""
    own = {name: (cls.kind, cls.instances) for name, cls in schema.schemas_of(_OWN).items()}
    rows = (row for table in vendor_data.tables() for row in table["schemas"])
    return {**{row["name"]: (row["kind"], tuple(row.get("instances", ()))) for row in rows}, **own}


@vendor_data.follows
@cache
def _declaring() -> dict[str, tuple[str, ...]]:
    """Schemas that have an attribute, those of UsdPhysics first, by its name with INSTANCE."""
    schemas: dict[str, tuple[str, ...]] = {}
    pairs = [(name, item.usd) for name, cls in schema.schemas_of(_OWN).items() for item in cls.attributes]
    rows = (row for table in vendor_data.tables() for row in table["schemas"])
    for name, usd in (*pairs, *((row["name"], item["usd"]) for row in rows for item in row["attributes"])):
        schemas[usd] = (*schemas.get(usd, ()), name)
    return schemas


@cache
def _own_attributes() -> frozenset[str]:
    """Names of the attributes of UsdPhysics, with INSTANCE."""
    return frozenset(item.usd for cls in schema.schemas_of(_OWN).values() for item in cls.attributes)


@vendor_data.follows
@cache
def _attributes() -> frozenset[str]:
    """Names of all attributes, with INSTANCE."""
    return frozenset(_declaring())


@vendor_data.follows
@cache
def _patterns() -> dict[int, list[list[str]]]:
    """The names of attributes as lists of words, by the number of words."""
    patterns: dict[int, list[list[str]]] = {}
    for name in sorted(_attributes()):
        words = name.split(":")
        patterns.setdefault(len(words), []).append(words)
    return patterns


@vendor_data.follows
@cache
def _roots() -> frozenset[str]:
    """First words of all names of attributes but `collection`, which all of USD uses."""
    return frozenset(name.partition(":")[0] for name in _attributes() if ":" in name) - {"collection"}


def _general(name: str) -> Iterator[tuple[str, str]]:
    """(name with INSTANCE in place of its second word, that word), and (name, "")."""
    yield name, ""
    first, _, rest = name.partition(":")
    instance, _, rest = rest.partition(":")
    if rest:
        yield f"{first}:{INSTANCE}:{rest}", instance


def _is_declared(kind: str, name: str) -> bool:
    if kind != "name":
        return schema.split_applied(name)[0] in _schemas()
    return any(general in _attributes() for general, _ in _general(name))


def _homes(name: str) -> tuple[str, ...]:
    """The schemas, with instance, that have an attribute of UsdPhysics; empty for all other names."""
    for general, instance in _general(name):
        if general in _own_attributes() and "physics:" in name:
            return tuple(f"{home}:{instance}" if instance else home for home in _declaring()[general])
    return ()


# --------------------------------------------------------------------------- what is meant


def _schema_meant(name: str) -> str:
    base, instance = schema.split_applied(name)
    declared = _schemas()
    if base in declared:
        kind, instances = declared[base]
        if kind != "multiple" or not instances or instance in instances:
            return ""
        meant = _best(instance, instances) if instance else ""
        return f"{base}:{meant}" if meant else ""
    apis = [one for one, (kind, _) in declared.items() if kind != "typed"]
    meant = _best(base, apis) or next((one for one in apis if _bare(one) == _bare(base)), "")
    return meant and (f"{meant}:{instance}" if instance else meant)


def _type_meant(name: str) -> str:
    declared = _schemas()
    if not name or name in declared:
        return ""
    types = [one for one, (kind, _) in declared.items() if kind == "typed"]
    # "Joint" and "Scene" are words of others, too.
    bare = _bare(name)
    return _best(name, types) or next((one for one in types if len(bare) > 5 and _bare(one) == bare), "")


def _bare(name: str) -> str:
    """A name of a schema without what is forgotten easily, as in "RigidBodyAPI" and "UsdPhysicsMass"."""
    return name.lower().removeprefix("usd").removeprefix("physics").removesuffix("api")


def _attribute_meant(name: str) -> str:
    words = name.split(":")
    if words[0].lower() in _OTHERS or _is_declared("name", name):
        return ""
    if not _best(words[0], _roots()) and words[0] not in _roots():
        return ""
    candidates = []
    for pattern in _patterns().get(len(words), ()):
        edits = 0
        for word, known in zip(reversed(words), reversed(pattern), strict=True):  # the last ones differ most
            edits += 0 if known == INSTANCE else _edits(word, known)
            if edits > 2:
                break
        else:
            candidates.append((edits, pattern))
    edits, nearest = min(candidates, default=(0, []))
    if not edits:
        return _part_meant(words) if len(words) == 2 else ""
    return ":".join(word if known == INSTANCE else known for word, known in zip(words, nearest, strict=True))


def _part_meant(words: list[str]) -> str:
    """The attribute of UsdPhysics that has a word more or less, as in "physics:linearVelocity"; "" for all others."""
    root, word = words
    for name in sorted(_own_attributes()) if root == "physics" else ():
        known = name.removeprefix("physics:")
        short, long = sorted((word, known), key=len)
        starts = long.startswith(short) and long[len(short) : len(short) + 1].isupper()
        ends = long.endswith(short[:1].upper() + short[1:])
        if len(short) >= _SHORTEST and (starts or ends):
            return name
    return ""


#: First words of the names that most files have, of which none is near one of ours.
_OTHERS = frozenset(("xformop", "primvars", "inputs", "outputs", "info", "material", "userproperties", "skel", "ui"))
_NEAREST = {"type": _type_meant, "schema": _schema_meant, "name": _attribute_meant}


def _best(name: str, known: Iterable[str]) -> str:
    """The known word that is meant by another one; "" for a known one, and where none is."""
    candidates = [(edits, one) for one in sorted(known) if (edits := _edits(name, one)) <= 2]
    return min(candidates)[1] if candidates and name not in known else ""


def _edits(name: str, known: str) -> int:
    """Edits that make a word a known one, as far as these are so few that it is meant; else many.

    Case and underscores do not count. Words that differ in a number are different ones on purpose.
    """
    if name == known:
        return 0
    first, second = name.lower().replace("_", ""), known.lower()
    if first == second:
        return 1
    most = next(edits for length, edits in _EDITS if len(second) >= length)
    if abs(len(first) - len(second)) > most or not most:
        return 99
    numbers = [("".join(filter(str.isdigit, one)), one.strip("0123456789")) for one in (first, second)]
    if all(number for number, _ in numbers) and numbers[0][1] == numbers[1][1]:
        return 99
    # An edit adds or removes two letters at most.
    if len(set(first) ^ set(second)) > 2 * most:
        return 99
    edits = _distance(first, second)
    return edits if edits <= most else 99


def _distance(first: str, second: str) -> int:
    """Insertions, removals, replacements, and swaps of neighbours, that make a word of another."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for at, letter in enumerate(first, 1):
        before, above, row = row, before, [at]
        for column, other in enumerate(second, 1):
            edits = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != other))
            if at > 1 and column > 1 and letter == second[column - 2] and first[at - 2] == other:
                edits = min(edits, above[column - 2] + 1)
            row.append(edits)
    return row[-1]
