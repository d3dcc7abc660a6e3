# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of prims: above, below, after moves, and free ones."""

import random

import pytest
from pxr import Sdf
from usdphys_ext.usdphys_addon.core import paths

SOME = ["/", "/World", "/World/Arm", "/World/Arm2", "/World/Arm/Hand", "/Wor"]


@pytest.mark.parametrize("path", SOME)
@pytest.mark.parametrize("above", SOME)
def test_below_is_what_usd_calls_a_prefix(path, above) -> None:
    """A path that only begins with the letters of another one is not below it."""
    wanted = Sdf.Path(path).HasPrefix(above)
    assert paths.is_at_or_below(path, above) == wanted
    assert paths.is_below(path, above) == (wanted and path != above)


def test_the_empty_path_is_above_all() -> None:
    assert paths.is_below("/World", "") and paths.is_at_or_below("/World/Arm", "")


def test_parent_name_and_ancestors_end_at_the_topmost_prim() -> None:
    assert (paths.parent_of("/World/Arm"), paths.name_of("/World/Arm")) == ("/World", "Arm")
    assert (paths.parent_of("/World"), paths.parent_of("")) == ("", "")
    assert list(paths.ancestors_of("/World/Arm/Hand")) == ["/World/Arm", "/World"]
    assert not list(paths.ancestors_of("/World"))


def test_below_any_leaves_out_the_paths_themselves() -> None:
    found = [path for path in SOME if paths.is_below_any(path, {"/World/Arm", "/Wor"})]
    assert found == ["/World/Arm/Hand"]


def test_the_nearest_is_the_path_itself_or_above_it() -> None:
    wanted = {"/World", "/World/Arm"}
    found = [paths.nearest(path, wanted) for path in ("/World/Arm/Hand", "/World/Arm", "/World/Arm2", "/Other")]
    assert found == ["/World/Arm", "/World/Arm", "/World", ""]


def test_a_path_follows_the_longest_part_that_has_moved() -> None:
    moves = {"/World": "/Root", "/World/Arm": "/Arm"}
    found = [paths.followed(path, moves) for path in ("/World/Arm/Hand", "/World/Arm2", "/World", "/Other", "")]
    assert found == ["/Arm/Hand", "/Root/Arm2", "/Root", "/Other", ""]


def test_a_free_path_has_the_first_number_that_nothing_has() -> None:
    taken = {"/A", "/A_1", "Group", "Group2"}
    assert paths.free("/B", taken.__contains__) == "/B"
    assert paths.free("/A", taken.__contains__) == "/A_2"
    assert paths.free("Group", taken.__contains__, "{}", 2) == "Group3"
    assert paths.free("Group", taken.__contains__, ".{:03d}") == "Group.001"


@pytest.mark.parametrize("seed", range(40))
def test_a_free_path_is_free_and_the_first_of_few(seed) -> None:
    chance = random.Random(seed)
    taken = {"A", *(f"A_{number}" for number in range(1, 200) if chance.random() < 0.9)}
    for _ in range(100):
        numbers = range(1, 16)
        found = paths.free("A", taken.__contains__)
        assert found not in taken
        first = next((f"A_{number}" for number in numbers if f"A_{number}" not in taken), None)
        assert first is None or found == first
        taken.add(found)


def test_the_steps_to_a_free_path_grow_with_the_digits_of_its_number() -> None:
    taken = {"A", *(f"A_{number}" for number in range(1, 100_000))}
    tried: list[str] = []
    assert paths.free("A", lambda path: (tried.append(path), path in taken)[1]) == "A_100000"
    assert len(tried) < 80


def test_many_of_one_name_are_numbered_without_a_gap() -> None:
    taken: set[str] = set()
    for _ in range(500):
        taken.add(paths.free("A", taken.__contains__))
    assert taken == {"A", *(f"A_{number}" for number in range(1, 500))}
