# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of Blender data as prim names, and the paths of imported data that was renamed or moved. Without Blender."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core import paths

_NOT_ASCII_WORD = re.compile(r"[^A-Za-z0-9_]")
_NOT_ASCII_PATH = re.compile(rb"[^A-Za-z0-9_/]")
#: A name that was taken, with the number that Blender appends.
_NUMBERED = re.compile(r"(.+)\.\d{3,}")


def prim_name(name: str) -> str:
    """A valid prim name: letters of any script, digits and underscores, no digit first; as Blender's exporter does."""
    if not name:
        return "_"
    if name.isascii():
        if name.isidentifier():
            return name
        made = _NOT_ASCII_WORD.sub("_", name)
    else:
        made = "".join(letter if letter.isidentifier() or letter in "0123456789" else "_" for letter in name)
    return f"_{made}" if made[0].isdigit() else made


def ascii_path(path: str) -> str:
    """A path as Blender's exporter writes it where it does not allow other letters."""
    return _NOT_ASCII_PATH.sub(b"_", path.encode()).decode()


def numbered(path: str, taken: Collection[str]) -> str:
    """The path itself, or with a number of three digits, counted on from its own: as Blender's exporter does."""
    if path not in taken:
        return path
    head, _, digits = path.rpartition("_")
    number = int(digits) if digits.isdecimal() and digits.isascii() else 0
    if not number:
        head = path
    while (candidate := f"{head}_{number + 1:03d}") in taken:
        number += 1
    return candidate


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name itself, or with the first free number, as Blender numbers copies: "Name.001"."""
    names, number, candidate = set(taken), 0, name
    while candidate in names:
        number += 1
        candidate = f"{name}.{number:03d}"
    return candidate


def copied_name(name: str) -> str:
    """The name without the number that Blender appends to copies; empty if it has none."""
    copied = _NUMBERED.fullmatch(name)
    return copied[1] if copied else ""


def is_other_name(name: str, imported: str, taken: Collection[str]) -> bool:
    """True if data has another name than the import gave it, and not only a number because that name is taken."""
    if name == imported:
        return False
    return imported not in taken or (copied_name(imported) or imported) != (copied_name(name) or name)


class Moves:
    """New paths of the prims of a source, by the paths there. No two prims end at one path.

    taken: paths of all prims of the source. changed: (name, wanted, path) of what got another path than it should.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self.new: dict[str, str] = {}
        self.changed: list[tuple[str, str, str]] = []
        self._old: dict[str, str] = {}
        self._taken = set(taken)

    def followed(self, path: str) -> str:
        """Where a prim of the source ends, which moves with those above it."""
        return paths.followed(path, self.new)

    def add(self, origin: str, wanted: str, name: str) -> str:
        """Move a prim to a path, or the next one that is free. name: of the data."""
        path = self.new[origin] = paths.free(wanted, self._is_taken)
        self._old[path] = origin
        self._taken.add(path)
        if path != wanted:
            self.changed.append((name, wanted, path))
        return path

    def _is_taken(self, path: str) -> bool:
        """True if a prim of the source is or ends there."""
        return path in self._taken or paths.followed(path, self._old) in self._taken


@dataclass(slots=True)
class SourcePaths:
    """Paths in the source of a scene. Renamed and moved things keep the path that they came from.

    home: of the prim that new things without a parent are put below. looks: of the scope of new materials. objects,
    materials: path that each came from, by name. imported: paths of all prims that became objects. reserved: paths of
    prims that new things must not take. placeless: names of the objects of joints and other prims without a transform.
    """

    home: str
    looks: str
    objects: dict[str, str]
    materials: dict[str, str]
    imported: frozenset[str]
    reserved: frozenset[str] = field(default_factory=frozenset)
    placeless: frozenset[str] = field(default_factory=frozenset)

    def parent_of(self, obj: Any) -> Any | None:
        """The object above one in the file: a prim without a transform holds only what the file has below it."""
        above, origin = obj.parent, self.objects.get(obj.name, "")
        while above is not None and above.name in self.placeless:
            if paths.is_below(origin, self.objects[above.name]):
                break
            above = above.parent
        return above

    def path_above(self, obj: Any) -> str:
        """Path of the prim above a new object whose parent, if it has one, is not shown."""
        above = self.parent_of(obj)
        names: list[str] = []
        while above is not None and above.name not in self.objects:
            names.insert(0, prim_name(above.name))
            above = self.parent_of(above)
        return "/".join([self.home if above is None else self.objects[above.name], *names])

    def moves(
        self, objects: Mapping[str, Any], new: Mapping[str, str], is_renamed: Callable[[Any], bool],
        taken: Iterable[str],
    ) -> Moves:  # fmt: skip
        """The moves of imported objects that were renamed or given another parent.

        objects: by name. new: paths of the other ones that are shown, by name. taken: paths of all prims of the source.
        """
        moves = Moves(taken)
        settled: dict[str, str] = {}

        def settle(obj: Any) -> str:
            """The new path of an object, after that of its parent."""
            origin = self.objects.get(obj.name)
            if origin is None:
                return moves.followed(new.get(obj.name, self.home))
            if origin not in settled:
                above = paths.parent_of(origin)
                if (parent := self.parent_of(obj)) is not None:
                    place = settle(parent)
                else:
                    place = moves.followed(self.home if above in self.imported else above)
                path = f"{place}/{prim_name(obj.name) if is_renamed(obj) else paths.name_of(origin)}"
                settled[origin] = path if path == moves.followed(origin) else moves.add(origin, path, obj.name)
            return settled[origin]

        for name, _ in sorted(self.objects.items(), key=lambda item: item[1].count("/")):
            settle(objects[name])
        return moves
