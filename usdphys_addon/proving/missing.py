# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an asset is not there: layers that cannot be read, and meshes that a description of a robot names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..core.rules.base import Issue
from .certificate import Check

#: Codes of issues about meshes that are left out.
_MESHES = ("MjcfMeshMissing", "SdfMeshMissing", "UrdfMeshMissing", "UrdfMeshUnread")


def checks_of(stage: Any, issues: Sequence[Issue]) -> Iterator[Check]:
    """stage: of the file, or None. issues: those of reading it.

    Without a layer it is another asset that is proven. A mesh may be there for pictures alone.
    """
    parts: Sequence[Issue] = ()
    if stage is not None:
        from ..usd import composition

        parts = composition.missing_parts(stage)
    if parts:
        # What is missing within a layer may be so because of a layer that is.
        first, message, count = parts[0], parts[0].message, len(parts)
        if count > 1:
            message += " " + f"In all, {count} parts are missing."
        yield Check("asset", "missing", "fail", message, first.path, fix=first.fix)
    meshes = [issue for issue in issues if issue.code in _MESHES]
    if meshes:
        first, message, count = meshes[0], meshes[0].message, len(meshes)
        if count > 1:
            message += " " + f"In all, {count} meshes are left out."
        yield Check("asset", "missing", "doubtful", message, first.path, fix=first.fix)
    if not parts and not meshes:
        yield Check("asset", "missing", "pass", "All files that it names are there.")
