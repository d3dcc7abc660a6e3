# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of prims: above, below, after moves, and free ones."""

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
