# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of SDF as scopes of names: where each link, joint, frame and model is, whatever its pose is relative to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..core import frames
from ..core.errors import InputError
from ..core.frames import Matrix
from ..urdf.markup import Element

#: The frame of a model itself.
OWN = "__model__"
#: The outermost frame, by two names.
WORLD, ROOT = "world", "__root__"
#: Among pending names: the pose of the model itself.
_POSE = "(pose)"
#: Most frames that are attached to each other in a row.
_DEEPEST = 10_000


@dataclass(slots=True)
class Item:
    """A link, joint or frame. pose: (4, 4) relative to what `base` names. tag: of its element."""

    tag: str
    element: Element
    pose: Matrix
    base: str
    folder: Path


@dataclass(slots=True)
class Scope:
    """A model, or the world. name: empty for the outermost. pose: (4, 4) relative to what `base` names above.

    merged: its parts have names of the scope above. placement: frame that the pose is of. version: of its file.
    """

    name: str
    element: Element
    folder: Path
    version: tuple[int, ...]
    above: Scope | None = None
    pose: Matrix = field(default_factory=lambda: np.eye(4))
    base: str = ""
    placement: str = ""
    is_merged: bool = False
    is_static: bool = False
    self_collides: bool = False
    canonical: str = ""
    items: dict[str, Item] = field(default_factory=dict)
    models: dict[str, Scope] = field(default_factory=dict)
    placed: dict[str, Matrix] = field(default_factory=dict)
    #: The link that a frame or joint is part of, where it was asked for.
    links_of: dict[str, tuple[Scope, str]] = field(default_factory=dict)
    #: Names whose places are being found.
    pending: dict[str, None] = field(default_factory=dict)

    @property
    def is_world(self) -> bool:
        return self.element.tag == "world"

    def prefix(self) -> str:
        """What stands before the names of its parts, seen from the outermost scope."""
        if self.above is None:
            return ""
        return self.above.prefix() + ("" if self.is_merged else f"{self.name}::")

    def scopes(self) -> Iterator[Scope]:
        yield self
        for model in self.models.values():
            yield from model.scopes()

    # ------------------------------------------------------------------ names

    def find(self, name: str) -> tuple[Scope, str]:
        """(scope, name in it) of a link, joint or frame, or OWN for a model. Raises KeyError."""
        if name in self.items or name in (OWN, ""):
            return self, name or OWN
        if name in (WORLD, ROOT) and self.is_world:
            return self, OWN
        if name in self.models:
            return self.models[name], OWN
        first, mark, rest = name.partition("::")
        while mark:
            # A model's own name can hold the mark, too.
            if first in self.models:
                return self.models[first].find(rest)
            more, mark, rest = rest.partition("::")
            first = f"{first}::{more}"
        for model in self.models.values():
            if model.is_merged:
                try:
                    return model.find(name)
                except KeyError:
                    continue
        raise KeyError(name)

    def link_of(self, name: str) -> tuple[Scope, str] | None:
        """(scope, name) of the link that a link, frame, joint or model is part of; None for the world."""
        scope, own = self.find(name)
        passed: list[tuple[Scope, str]] = []
        for _ in range(_DEEPEST):
            if own == OWN:
                if scope.is_world:
                    return None
                scope, own = scope.canonical_link()
                continue
            item = scope.items[own]
            found = (scope, own) if item.tag == "link" else scope.links_of.get(own)
            if found is not None:
                for one, frame in passed:
                    one.links_of[frame] = found
                return found
            passed.append((scope, own))
            if item.tag == "joint":
                child = item.element.find("child")
                scope, own = scope.find((child.text if child is not None else "").strip())
            else:
                scope, own = scope.find(item.element.get("attached_to") or OWN)
        raise KeyError(name)

    def canonical_link(self) -> tuple[Scope, str]:
        """The link that carries the frame of the model. Raises KeyError if it has none."""
        if self.canonical:
            return self.find(self.canonical)
        for name, item in self.items.items():
            if item.tag == "link":
                return self, name
        for model in self.models.values():
            try:
                return model.canonical_link()
            except KeyError:
                continue
        raise KeyError(OWN)

    # ------------------------------------------------------------------ places

    def place(self, name: str) -> Matrix:
        """Pose (4, 4) of a link, joint, frame or model in the frame of this scope.

        Raises KeyError for a name that there is not, and InputError for poses that are relative to each other.
        """
        if name in (OWN, ""):
            return np.eye(4)
        scope, own = self.find(name)
        made = self.placed[own] if scope is self and own in self.placed else scope.own_place(own)
        while scope is not self:
            made = scope.model_place() @ made
            assert scope.above is not None
            scope = scope.above
        return made

    def own_place(self, name: str) -> Matrix:
        if name == OWN:
            return np.eye(4)
        # Poses along a chain of links are no calls in calls: robots have hundreds of them.
        chain: list[str] = []
        while name not in self.placed and name not in self.pending and name in self.items:
            self.enter(name)
            chain.append(name)
            name = self.items[name].base
        if name in self.pending and name not in self.placed:
            self.enter(name)
        above = self.place(name)
        for name in reversed(chain):
            above = self.placed[name] = above @ self.items[name].pose
            del self.pending[name]
        return above

    def model_place(self) -> Matrix:
        """Pose (4, 4) of this model in the scope above."""
        if OWN not in self.placed:
            assert self.above is not None
            self.enter(_POSE)
            made = self.above.place(self.base) @ self.pose
            if self.placement:
                made = made @ frames.inverse_pose(self.place(self.placement))
            self.placed[OWN] = made
            del self.pending[_POSE]
        return self.placed[OWN]

    def enter(self, name: str) -> None:
        if name in self.pending:
            what = f"'{self.prefix()}{name}'" if name != _POSE else f"the model '{self.name}'"
            raise InputError(f"'{self.element.file}': the pose of {what} is relative to itself, by way of others.")
        self.pending[name] = None

    def world_place(self) -> Matrix:
        """Pose (4, 4) of the frame of this scope in the outermost one."""
        made, scope = np.eye(4), self
        while scope.above is not None:
            made = scope.model_place() @ made
            scope = scope.above
        return made
