# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fix of an issue is, and how a module lists its own."""

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
FixTable = dict[str, Fix]


def into(table: FixTable) -> Callable[..., Callable[[FixFunction], FixFunction]]:
    """A decorator that lists a function in a table: `(*codes, safe, label)`."""

    def fix(*codes: str, safe: bool, label: str) -> Callable[[FixFunction], FixFunction]:
        def register(function: FixFunction) -> FixFunction:
            for code in codes:
                table[code] = Fix(function, safe, label)
            return function

        return register

    return fix
