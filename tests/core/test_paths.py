"""Prim paths as text."""

from usdphys_ext.usdphys_addon.core import paths


def test_paths_above_end_before_the_pseudo_root():
    assert list(paths.paths_above("/World/Car/Wheel")) == ["/World/Car", "/World"]
    assert list(paths.paths_above("/World")) == []
    assert list(paths.paths_above("/")) == []


def test_a_prim_is_not_below_itself_nor_below_a_name_that_begins_alike():
    assert paths.is_below_any("/World/Car/Wheel", {"/World"})
    assert not paths.is_below_any("/World", {"/World"})
    assert not paths.is_below_any("/World/Carts", {"/World/Car"})
