# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked to run beside the preview: for *Compare* other engines, for *Confidence* smaller time steps as well.

It is a choice of the window, not of a file, and outlives sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Imported late: panels ask what is on, and must not wait for what compares.
    from ..proving.twins import Kind

COMPARE, CONFIDENCE = "compare", "confidence"
_wanted: set[str] = set()


def wanted() -> frozenset[str]:
    """Which of both are on."""
    return frozenset(_wanted)


def switch(name: str, on: bool) -> None:
    """Switch one of both."""
    (_wanted.add if on else _wanted.discard)(name)


def kinds(engine: str) -> list[Kind]:
    """What is to run beside a preview in an engine; empty if nothing is asked for."""
    if not _wanted:
        return []
    from ..proving import twins

    return twins.kinds_beside(engine, has_steps=CONFIDENCE in _wanted)
