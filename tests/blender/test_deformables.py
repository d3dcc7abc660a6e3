# SPDX-License-Identifier: GPL-3.0-or-later
"""Deformables through Blender: counted, left out of the preview, and of the same weight in any units and form."""

from collections.abc import Callable
from pathlib import Path

import bpy
import pytest
from deformable_stages import KINDS, SYSTEMS
from pxr import Usd
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.core import deformables, summary
from usdphys_ext.usdphys_addon.exchange import usd_import
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.usd import read, unit_conversion


def weighed(path: Path) -> float:
    (found,) = read.read_stage(Usd.Stage.Open(str(path))).deformables()[0]
    return deformables.mass_of(found).value


def stiffness(path: Path) -> float:
    stage = Usd.Stage.Open(str(path))
    return stage.GetAttributeAtPath("/World/Stuff.physics:youngsModulus").Get()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["copy", "flat", "composed"])
@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_units_and_forms_leave_the_mass(make: Callable[[], Usd.Stage], form: str, tmp_path: Path) -> None:
    for index, (source, target) in enumerate(zip(SYSTEMS, (*SYSTEMS[1:], SYSTEMS[0]), strict=True)):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        stage = make()
        unit_conversion.convert(stage, source)
        given, written = tmp_path / f"given{index}.usda", tmp_path / f"written{index}.usda"
        stage.GetRootLayer().Export(str(given))
        usd_import.import_usd(bpy.context, str(given), usd_import.ImportOptions())
        formats.USD.write(str(written), formats.WriteOptions(*target[:3], form=form))
        assert weighed(written) == pytest.approx(KINDS[make], rel=1e-5)
        factor = source.meters_per_unit / target.meters_per_unit
        mass = target.kilograms_per_unit / source.kilograms_per_unit
        assert stiffness(written) == pytest.approx(stiffness(given) / factor / mass, rel=1e-5)


def test_a_scene_counts_deformables_and_simulates_none(tmp_path: Path) -> None:
    for make in KINDS:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        given = tmp_path / f"{make.__name__}.usda"
        stage = make()
        stage.GetRootLayer().Export(str(given))
        usd_import.import_usd(bpy.context, str(given), usd_import.ImportOptions())
        model = scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model
        assert summary.counts(model)["deformables"] == 1
        assert [notice.code for notice in World(model).notices].count("Deformable") == 1
