# SPDX-License-Identifier: GPL-3.0-or-later
"""What of scenes differs from their sources, as it was last compared: what a panel shows. Plain values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..worker.handlers import Handlers
from . import scene_watch

Kind = Literal[
    "value", "schema", "type", "purpose", "material", "frame", "new", "deleted", "place", "path", "mesh", "slots",
    "look", "properties",
]  # fmt: skip


class Key(NamedTuple):
    """Which edit. path: of a prim, in the source or as it is new. name: of a schema, or "schema field"; else empty."""

    kind: Kind
    path: str
    name: str = ""


class SourceChange(NamedTuple):
    """label: name of the object, material or item in Blender, or of the prim that is gone. text: the sentence."""

    key: Key
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """What differed when it was compared. stamp: of the scene then."""

    changes: tuple[SourceChange, ...]
    stamp: scene_watch.Stamp


_reports: dict[str, Report] = {}


def report(scene_name: str) -> Report | None:
    """The last comparison of a scene; None if it was never compared."""
    return _reports.get(scene_name)


def keep(scene_name: str, changes: tuple[SourceChange, ...]) -> Report:
    """Keep what was found now."""
    made = _reports[scene_name] = Report(changes, scene_watch.stamp_of(scene_name))
    return made


def is_outdated(scene_name: str) -> bool:
    """True if Blender has reported a change of the scene since it was compared."""
    known = _reports.get(scene_name)
    return known is not None and known.stamp.edits != scene_watch.stamp_of(scene_name).edits


def _forget(*_: Any) -> None:
    _reports.clear()


_handlers = Handlers(("load_post", _forget))
register, unregister = _handlers.register, _handlers.unregister
