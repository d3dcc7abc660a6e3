# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of many long cases run by default, in each Blender and in each turn. With EVERY_TEST in the environment, all
run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

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


#: Cases of one test that all run in every Blender.
FEW = 2


class Part(NamedTuple):
    """One of so many equal parts of something."""

    number: int
    count: int

    @classmethod
    def read(cls, text: str | None) -> Part:
        """1/3 is the second of three; without a text, or with EVERY_TEST, all is one part."""
        number, _, count = (text or "").partition("/")
        return cls(0, 1) if not count or is_every() else cls(int(number), int(count))


class Kind(NamedTuple):
    """is_for_some: not for every Blender. cases: how many the test has."""

    is_slow: bool
    is_for_some: bool
    cases: int


def runs(place: int, kind: Kind, blender: Part, turn: Part) -> bool:
    """Whether a case, the `place`-th from some start, runs in such a Blender and such a turn.

    Each case of a slow test, and of a test of many, runs in one of the Blenders; the cases go round, so that each gets
    some. What is for some Blenders only runs wherever it can. In one of the turns only run a slow case, wherever it
    does, and a fast one in Blenders that are neither the first nor the last: what works in both works in these.
    """
    if kind.is_slow or kind.cases > FEW:
        is_in_one_turn, is_in_one_blender = kind.is_slow, not kind.is_for_some
    else:
        is_in_one_turn, is_in_one_blender = 0 < blender.number < blender.count - 1 and not kind.is_for_some, False
    if is_in_one_blender and place % blender.count != blender.number:
        return False
    return not is_in_one_turn or place // blender.count % turn.count == turn.number
