# SPDX-License-Identifier: GPL-3.0-or-later
"""The library in the preferences, what is dropped fitted to an object, and the selection by kind."""

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.authoring import asset_library

from . import scenes
from .scenes import select


def test_the_library_is_added_once_and_removed_again():
    libraries = bpy.context.preferences.filepaths.asset_libraries
    before = len(libraries)
    bpy.ops.usdphys.library_add()
    bpy.ops.usdphys.library_add()
    assert len(libraries) == before + 1
    (entry,) = asset_library.entries()
    assert entry.name == "Physics" and (asset_library.FOLDER / "physics_library.blend").exists()
    bpy.ops.usdphys.library_remove()
    bpy.ops.usdphys.library_remove()
    assert len(libraries) == before


def test_the_entry_of_an_older_place_is_replaced(tmp_path):
    libraries = bpy.context.preferences.filepaths.asset_libraries
    (tmp_path / "library").mkdir()
    libraries.new(name="Physics", directory=str(tmp_path / "library"))
    libraries.new(name="Mine", directory=str(tmp_path / "library"))
    bpy.ops.usdphys.library_add()
    assert [one.path for one in asset_library.entries()] == [str(asset_library.FOLDER)]
    bpy.ops.usdphys.library_remove()
    assert "Mine" in libraries
    libraries.remove(libraries["Mine"])


def test_an_instance_is_fitted_to_the_object_below_it():
    held = scenes.new_collection("Held")
    scenes.add_box("Part", (1, 0.5, 0.5), collection=held, location=(3, 0, 2))
    table = scenes.add_box("Table", (0.25, 0.1, 0.5), location=(5, 1, 0.5))
    empty = scenes.add_instance("Asset", held, location=(0, 7, 0))
    select(empty, table)
    bpy.ops.usdphys.fit_asset()
    assert tuple(empty.scale) == pytest.approx((0.25,) * 3)
    low, high = asset_library.box_of(bpy.context, empty)
    assert tuple(low) == pytest.approx((4.75, 0.875, 1.0), abs=1e-5)
    assert tuple(high - low) == pytest.approx((0.5, 0.25, 0.25), abs=1e-5)
    assert np.allclose(table.location, (5, 1, 0.5))


def test_what_has_no_width_is_named_and_nothing_changes():
    table, empty = scenes.add_box("Table", (1, 1, 1)), scenes.add("Nothing", location=(0, 7, 0))
    select(empty, table)
    with pytest.raises(RuntimeError, match="Nothing"):
        bpy.ops.usdphys.fit_asset()
    assert tuple(empty.scale) == (1, 1, 1)


def test_select_physics_finds_each_kind():
    body, other = scenes.solid("Body"), scenes.solid("Other", location=(3, 0, 0))
    part = scenes.add_box("Part", (0.1,) * 3, parent=body)
    floor = scenes.add_box("Floor", (5, 5, 0.1), location=(0, 0, -2))
    for obj in (part, floor):
        scenes.make_collider(obj)
    hinge = scenes.add_joint("Hinge", "REVOLUTE", body, other)
    other.usdphys.articulation_root.is_applied = True
    bpy.context.view_layer.update()
    kinds = {"BODIES": {body, other}, "STATIC": {floor}, "JOINTS": {hinge}, "ARTICULATIONS": {other}}
    for kind, expected in kinds.items():
        bpy.ops.usdphys.select_kind(kind=kind)
        assert set(bpy.context.selected_objects) == expected
