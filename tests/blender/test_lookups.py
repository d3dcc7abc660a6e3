# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects are not sought by name, nor for their children, once for each object: Blender visits all objects for that."""

import contextlib
import sys
from collections import Counter

import bpy
import pytest
from usdphys_ext.usdphys_addon.exchange import scene_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.generators import settle
from usdphys_ext.usdphys_addon.playback import bake

from . import scenes

MANY = 60
#: Visits of all objects that any number of objects may cost.
FEW = 20


@contextlib.contextmanager
def visits():
    """Counts the calls that visit all objects of the file, or all prims of a model."""
    found: Counter[str] = Counter()

    def look(frame, event, argument):
        held = getattr(argument, "__self__", None) if event == "c_call" and argument.__name__ == "get" else None
        if isinstance(held, bpy.types.bpy_prop_collection) and isinstance(next(iter(held), None), bpy.types.Object):
            found[f"get in {frame.f_code.co_name}"] += 1
        elif event == "call" and frame.f_code.co_name in ("children", "children_recursive", "having"):
            found[f"{frame.f_code.co_name} in {frame.f_back.f_code.co_name}"] += 1

    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(None)
    assert not {name: count for name, count in found.items() if count > FEW}


def crates(side: str = "") -> list[bpy.types.Object]:
    """Crates in a row, each on a hinge to the next."""
    last, made = None, []
    for index in range(MANY):
        crate = scenes.solid(f"Crate {index}{side}", location=(3 + 3 * index if side != ".R" else -3 - 3 * index, 0, 5))
        scenes.make_body(crate)
        if last is not None and side != ".R":
            scenes.add_joint(f"Hinge {index}{side}", "REVOLUTE", last, crate, location=crate.location)
        last = crate
        made.append(crate)
    bpy.context.view_layer.update()
    return made


@pytest.fixture
def imported(tmp_path):
    """A scene that was imported and then edited."""
    crates()
    usd_export.export_usd(bpy.context, tmp_path / "source.usda", usd_export.ExportOptions())
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    usd_import.import_usd(bpy.context, tmp_path / "source.usda", usd_import.ImportOptions())
    for obj in bpy.data.objects[:10]:
        obj.location.x += 0.5
    for obj in bpy.data.objects[10:20]:
        obj.name = f"New {obj.name}"
    bpy.context.view_layer.update()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["auto", "layer", "flat", "composed"])
def test_an_export_of_an_imported_scene_visits_all_objects_a_few_times(imported, tmp_path, form):
    with visits():
        scene_export.export_scene(bpy.context, tmp_path / "out.usda", usd_export.ExportOptions(), form)


@pytest.mark.slow
def test_a_mirror_visits_all_objects_a_few_times():
    left = crates(".L")
    crates(".R")
    scenes.select(*left)
    with visits():
        assert bpy.ops.usdphys.mirror_physics() == {"FINISHED"}


@pytest.mark.slow
def test_settling_visits_all_objects_a_few_times():
    crates()
    scenes.select(*bpy.data.objects)
    with visits():
        settle.settle(bpy.context, bpy.context.selected_objects, settle.SettleOptions(seconds=0.1))


@pytest.mark.slow
def test_a_bake_visits_all_objects_a_few_times():
    crates()
    with visits():
        bake.bake(bpy.context, 1, 3)
        bake.clear_bake(bpy.context.scene)
