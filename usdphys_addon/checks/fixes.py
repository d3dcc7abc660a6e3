# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes in one click for issues of a check: one function for each code that Blender can fix.

A safe fix changes nothing that works: it only removes or corrects values that are invalid, dangling or without effect.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..core.errors import InputError
from . import body_fixes, collider_fixes, filter_fixes, joint_fixes, value_fixes  # noqa: F401 (they register)
from .fix_table import FIXES as FIXES
from .report import FoundIssue


def apply_fix(scene: bpy.types.Scene, issue: FoundIssue) -> None:
    """Fix one issue. Raises InputError, with nothing changed, if that is not possible."""
    fix = FIXES.get(issue.code)
    if fix is None:
        raise InputError(f"This issue has no automatic fix. {issue.fix}")
    fix.apply(scene, issue)


def apply_safe(scene: bpy.types.Scene, issues: Iterable[FoundIssue]) -> tuple[int, list[str]]:
    """Apply all safe fixes. Returns (number of fixes, reasons why others could not be applied)."""
    done, refused = 0, []
    # One fix covers all issues of one code on one object, such as those of a body and its collider.
    distinct = {(issue.code, issue.kind, issue.name): issue for issue in issues}
    for issue in distinct.values():
        fix = FIXES.get(issue.code)
        if fix is None or not fix.safe:
            continue
        try:
            fix.apply(scene, issue)
            done += 1
        except InputError as error:
            refused.append(str(error))
    return done, refused
