# SPDX-License-Identifier: GPL-3.0-or-later
"""Each row of the tuning is needed: the scene that it names stands with it, and falls without."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from usdphys_ext.usdphys_addon.simulation.rapier import tuning

from .author import METERS, File
from .helpers import world_of
from .measures import MEASURES, Measure
from .measuring import moved


def _measured(case: Measure) -> None:
    file = File(METERS)
    case.fill(file)
    assert case.value(moved(world_of(file), case)) == pytest.approx(case.expected, abs=case.tolerance + 1e-9)


def _cases(test: Callable[..., None]) -> Iterator[dict[str, Any]]:
    """The arguments of each case of a test."""
    columns = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names, values = mark.args
            names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
            rows = [getattr(value, "values", value) for value in values]
            columns.append([dict(zip(names, row if len(names) > 1 else [row], strict=True)) for row in rows])
    for chosen in itertools.product(*columns):
        yield {name: value for part in chosen for name, value in part.items()}


def scene_of(name: str) -> Callable[[], None]:
    """What a row names: `measures::NAME`, or `FILE::TEST` with all of its cases."""
    file, _, name = name.partition("::")
    if file == "measures":
        (case,) = [case for case in MEASURES if case.name == name]
        return lambda: _measured(case)
    test = getattr(importlib.import_module(f".{file}", __package__), name)

    def all_cases() -> None:
        for arguments in _cases(test):
            test(**arguments)

    return all_cases


#: What falls here takes long.
SLOW: set[str] = set()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name, row in tuning.ROWS.items() if row.scene
    ],
)  # fmt: skip
def test_the_scene_of_a_row_falls_without_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = tuning.ROWS[name]
    scene = scene_of(row.scene)
    scene()
    monkeypatch.setattr(tuning, name, row.neutral)
    # A test that unpacks the one notice that it expects falls with a ValueError.
    with pytest.raises((AssertionError, ValueError)):
        scene()


def test_every_row_has_a_scene_but_for_four_that_say_why() -> None:
    unproven = {name: row.why for name, row in tuning.ROWS.items() if not row.scene}
    assert list(unproven) == ["SMALL_STEPS", "DAMPING_RATIO", "WHEEL_DAMPING", "RIGID_DAMPING"]
    assert all(why.startswith("Not proven") for why in unproven.values())


def test_the_code_reads_the_table() -> None:
    for name, row in tuning.ROWS.items():
        assert getattr(tuning, name) == row.value != row.neutral
        assert row.what.endswith(".") and row.why.endswith(".")
