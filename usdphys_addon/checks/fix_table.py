# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fix of an issue is, and the registry of fixes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .report import FoundIssue

FixFunction = Callable[[Any, FoundIssue], None]


class Fix(NamedTuple):
    """apply(scene, issue): raises InputError, with nothing changed, if the issue cannot be fixed."""

    apply: FixFunction
    safe: bool
    #: Label of the button, in the imperative.
    label: str


#: Fixes by the code of the issue.
FIXES: dict[str, Fix] = {}


def fix(*codes: str, safe: bool, label: str) -> Callable[[FixFunction], FixFunction]:
    """Register a function as the fix of issues. Raises ValueError if a code has one already."""

    def register(function: FixFunction) -> FixFunction:
        for code in codes:
            if code in FIXES:
                raise ValueError(f"{code} has a fix already")
            FIXES[code] = Fix(function, safe, label)
        return function

    return register
