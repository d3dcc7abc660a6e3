# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of checks as plain values, which hold no Blender data."""

from __future__ import annotations

from dataclasses import dataclass, field

#: Scenes with more joints are checked on demand only.
MAX_JOINTS = 200


class TooLargeError(Exception):
    """A step would take longer than a slice; the message says why."""


@dataclass(slots=True, repr=False)
class FoundIssue:
    """One issue as plain values. kind: of what `name` names: object, material, group, scene, or "" for nothing.

    short: the message without the paths of prims. can_be_fixed: there is a fix for it.
    """

    severity: str
    code: str
    message: str
    fix: str
    kind: str
    name: str
    path: str
    short: str = ""
    can_be_fixed: bool = False


@dataclass(slots=True, repr=False)
class Report:
    """What is wrong with a scene, errors first. counts: by severity."""

    issues: tuple[FoundIssue, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
