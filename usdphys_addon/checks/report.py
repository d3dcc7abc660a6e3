# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of checks as plain values, which hold no Blender data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

#: Scenes with more joints are checked on demand only.
MAX_JOINTS = 200


class TooLargeError(Exception):
    """A step would take longer than a slice; the message says why."""


class FoundIssue(NamedTuple):
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


class Report(NamedTuple):
    """What is wrong with a scene, errors first. counts: by severity."""

    issues: tuple[FoundIssue, ...] = ()
    counts: Mapping[str, int] = MappingProxyType({})
