# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of the quality levels of a simulation, and what each costs; the figures are in `simulation.quality`."""

from __future__ import annotations

from typing import NamedTuple

DRAFT, NORMAL, EXACT = "draft", "normal", "exact"


class QualityText(NamedTuple):
    """label, cost: for the user."""

    label: str
    cost: str


#: By name, from fast to exact.
QUALITY_TEXTS: dict[str, QualityText] = {
    DRAFT: QualityText("Draft", "Half to all of the time of Normal; tall stacks and heavy chains give way"),
    NORMAL: QualityText("Normal", "Right for most scenes, and quick enough to play"),
    EXACT: QualityText("Exact", "1.2 to 5 times the time of Normal; contacts and joints hardly give way"),
}
