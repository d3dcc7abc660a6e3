# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of many long cases run by default. With EVERY_TEST in the environment, all run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Case, Form = TypeVar("Case"), TypeVar("Form")


def is_every() -> bool:
    return bool(os.environ.get("EVERY_TEST"))


def each_of(cases: Sequence[Case], step: int) -> Sequence[Case]:
    """Each `step`-th of many cases that are alike."""
    return cases if is_every() else cases[::step]


def in_turn(cases: Sequence[Case], forms: Sequence[Form]) -> list[tuple[Case, Form]]:
    """Each case in one of its forms, which go round."""
    return [
        (case, form)
        for row, case in enumerate(cases)
        for place, form in enumerate(forms)
        if is_every() or place == row % len(forms)
    ]
