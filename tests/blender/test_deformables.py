# SPDX-License-Identifier: GPL-3.0-or-later
"""Deformables through Blender: counted, left out of the preview, and of the same weight in any units and form."""

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
from deformable_stages import KINDS, SYSTEMS, random_stage
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


@pytest.mark.slow
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


def said(path: Path) -> dict[str, object]:
    """Everything that a file says of deformables: schemas, values and targets by path and name."""
    stage, found = Usd.Stage.Open(str(path)), dict[str, object]()
    for prim in stage.Traverse():
        schemas = prim.GetMetadata("apiSchemas")
        names = sorted(name for name in (schemas.GetAppliedItems() if schemas else []) if "Deformable" in name)
        if not names and prim.GetTypeName() not in ("PhysicsAttachment", "PhysicsElementCollisionFilter"):
            continue
        found[str(prim.GetPath())] = (prim.GetTypeName(), names)
        for attribute in prim.GetAuthoredAttributes():
            name = attribute.GetName()
            if (
                name.startswith("physics:")
                or name in ("points", "tetVertexIndices", "curveVertexCounts", "widths")
                or (name == "normals" and prim.GetTypeName() == "BasisCurves")
            ):
                found[f"{prim.GetPath()}.{name}"] = (str(attribute.GetTypeName()), attribute.Get())
        for relationship in prim.GetAuthoredRelationships():
            if relationship.GetName().startswith("physics:"):
                found[f"{prim.GetPath()}.{relationship.GetName()}"] = relationship.GetTargets()
    return found


def assert_alike(one: dict[str, object], other: dict[str, object]) -> None:
    assert one.keys() == other.keys()
    for key, value in one.items():
        if "." not in key or not isinstance(value, tuple):
            assert value == other[key], key
            continue
        (type_, first), (other_type, second) = value, other[key]
        assert type_ == other_type, key
        numbers = np.array(first), np.array(second)
        if numbers[0].dtype.kind == "f":
            # Numbers of 32 bits, once through other units and back.
            assert numbers[1] == pytest.approx(numbers[0], rel=2e-6, abs=2e-6 * float(np.abs(numbers[0]).max())), key
        else:
            assert numbers[0].tolist() == numbers[1].tolist(), key


@pytest.mark.slow
@pytest.mark.parametrize("form", ["copy", "flat", "composed"])
@pytest.mark.parametrize("seed", range(10))
def test_everything_said_of_deformables_comes_back_through_other_units(seed: int, form: str, tmp_path: Path) -> None:
    stage = random_stage(seed)
    start, other = SYSTEMS[seed % 3], SYSTEMS[(seed + 1 + seed // 3 % 2) % 3]
    unit_conversion.convert(stage, start)
    files = [tmp_path / name for name in ("given.usda", "other.usda", "back.usda")]
    stage.GetRootLayer().Export(str(files[0]))
    for source, target, units in zip(files, files[1:], (other, start), strict=False):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        usd_import.import_usd(bpy.context, str(source), usd_import.ImportOptions())
        formats.USD.write(str(target), formats.WriteOptions(*units[:3], form=form))
    before = said(files[0])
    assert len(before) > 10
    assert_alike(before, said(files[2]))
