# SPDX-License-Identifier: GPL-3.0-or-later
"""How an operator ends: with what was done and all that the author should know, or with why nothing was done."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def finish(operator: Any, text: str, notes: Iterable[str] = ()) -> set[Any]:
    """Say the notes, and what was done."""
    for note in notes:
        operator.report({"WARNING"}, note)
    operator.report({"INFO"}, text)
    return {"FINISHED"}


def refuse(operator: Any, error: Exception) -> set[Any]:
    """Say why nothing was done."""
    operator.report({"ERROR"}, str(error))
    return {"CANCELLED"}
