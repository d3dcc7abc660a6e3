# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports and return values of finished and refused operators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def finish(operator: Any, text: str, notes: Iterable[str] = ()) -> set[Any]:
    """Report the notes as warnings and the result as information."""
    for note in notes:
        operator.report({"WARNING"}, note)
    operator.report({"INFO"}, text)
    return {"FINISHED"}


def refuse(operator: Any, error: Exception) -> set[Any]:
    """Report the reason as an error, and cancel."""
    operator.report({"ERROR"}, str(error))
    return {"CANCELLED"}
