# SPDX-License-Identifier: GPL-3.0-or-later
"""Cables that deform: written in the proposal's words in all forms and units, held where they were, and weighed."""

import math
import random
from pathlib import Path

import bpy
import numpy as np
import pytest
from pxr import Usd, UsdGeom
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.core import deformables, summary
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.exchange import usd_import
from usdphys_ext.usdphys_addon.usd import read

from . import scenes

SYSTEMS = [{}, {"meters_per_unit": 0.01, "up_axis": "Y"}, {"meters_per_unit": 0.001, "kilograms_per_unit": 0.001}]


@pytest.fixture(autouse=True)
def empty() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)


def cable(points: int = 11, length: float = 1.0, **values: object) -> bpy.types.Object:
    data = bpy.data.curves.new("Line", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(points - 1)
    for number, point in enumerate(spline.points):
        point.co = (length * number / (points - 1), 0.0, 0.0, 1.0)
    obj = bpy.data.objects.new("Hose", data)
    bpy.context.collection.objects.link(obj)
    group = obj.usdphys.cable
    group.is_applied = True
    for name, value in values.items():
        setattr(group, name, value)
    return obj


def write(path: Path, form: str = "auto", **more: object) -> list[str]:
    bpy.context.view_layer.update()
    return [issue.code for issue in formats.USD.write(str(path), formats.WriteOptions(form=form, **more)).issues]


def only(path: Path) -> tuple[Usd.Stage, deformables.Deformable]:
    stage = Usd.Stage.Open(str(path))
    (found,) = read.read_stage(stage).deformables()[0]
    return stage, found


def gaps(stage: Usd.Stage, found: deformables.Deformable) -> list[float]:
    """How far each held point is from where it is held, m."""
    cache, meters, gap = UsdGeom.XformCache(), UsdGeom.GetStageMetersPerUnit(stage), []
    curve = stage.GetPrimAtPath(found.path)
    points = curve.GetAttribute("points").Get()
    for prim in stage.Traverse():
        if prim.GetTypeName() != "PhysicsAttachment":
            continue
        (holder,) = prim.GetRelationship("physics:src1").GetTargets()
        place = cache.GetLocalToWorldTransform(stage.GetPrimAtPath(holder)).Transform(
            prim.GetAttribute("physics:coords1").Get()[0]
        )
        own = cache.GetLocalToWorldTransform(curve).Transform(points[prim.GetAttribute("physics:indices0").Get()[0]])
        gap.append((place - own).GetLength() * meters)
    return gap


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS, ids=["metres", "centimetres", "grams"])
@pytest.mark.parametrize("seed", range(3))
def test_a_cable_is_held_where_it_is_and_weighs_the_same_in_all_units(
    seed: int, system: dict[str, object], tmp_path: Path
) -> None:
    rng = random.Random(seed)
    box = scenes.solid("Weight")
    box.location = [rng.uniform(-2, 2) for _ in range(3)]
    box.rotation_euler = [rng.uniform(-3, 3) for _ in range(3)]
    box.scale = [rng.uniform(0.5, 2)] * 3
    hose = cable(9, 1.5, thickness=0.03, density=900.0, youngs_modulus=2e6, start_is_held=True, end_is_held=True)
    hose.location = [rng.uniform(-2, 2) for _ in range(3)]
    hose.rotation_euler = [rng.uniform(-3, 3) for _ in range(3)]
    hose.usdphys.cable.end = box
    assert "FileDiffers" not in write(tmp_path / "out.usda", **system)
    stage, found = only(tmp_path / "out.usda")
    mass = deformables.mass_of(found)
    assert mass.value == pytest.approx(900.0 * math.pi * 0.015**2 * 1.5, rel=1e-5)
    assert mass.source == "density of the material" and found.kind == "curves" and len(found.elements) == 8
    assert gaps(stage, found) == pytest.approx([0.0, 0.0], abs=1e-6)
    kilograms = system.get("kilograms_per_unit", 1.0)
    pascal = kilograms / system.get("meters_per_unit", 1.0)
    material = stage.GetPrimAtPath("/root/Hose/cable_material")
    assert material.GetAttribute("physics:youngsModulus").Get() * pascal == pytest.approx(2e6, rel=1e-5)
    widths = UsdGeom.BasisCurves(stage.GetPrimAtPath(found.path)).GetWidthsAttr().Get()
    assert np.array(widths) * system.get("meters_per_unit", 1.0) == pytest.approx([0.03], rel=1e-5)


def test_a_thick_curve_is_written_once(tmp_path: Path) -> None:
    cable(5)
    other = cable(5)
    other.name = "Second"
    write(tmp_path / "out.usda")
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    curves = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.BasisCurves)]
    assert len(curves) == 2 and len(read.read_stage(stage).deformables()[0]) == 2
    assert bpy.data.objects["Hose"].data.bevel_depth == 0.0  # nobody has set a thickness
    other.usdphys.cable.thickness = 0.05
    assert other.data.bevel_depth == pytest.approx(0.025)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["copy", "layer", "flat", "composed"])
def test_a_new_cable_in_an_imported_scene_is_written_in_every_form(form: str, tmp_path: Path) -> None:
    given, out = tmp_path / "given.usda", tmp_path / "out.usda"
    scenes.solid("Weight").location = (1.0, 0.0, 3.0)
    write(given, meters_per_unit=0.01, up_axis="Y")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    usd_import.import_usd(bpy.context, str(given), usd_import.ImportOptions())
    hose = cable(7, 1.2, thickness=0.04, density=800.0, start_is_held=True, end_is_held=True)
    hose.location = (0.2, 0.3, 2.0)
    hose.usdphys.cable.end = bpy.data.objects["Weight"]
    assert not {"FileDiffers"} & set(write(out, form))
    stage, found = only(out)
    assert deformables.mass_of(found).value == pytest.approx(800.0 * math.pi * 0.02**2 * 1.2, rel=1e-4)
    assert gaps(stage, found) == pytest.approx([0.0, 0.0], abs=1e-5)


def test_what_cannot_be_a_cable_is_named(tmp_path: Path) -> None:
    hose = cable(5, end_is_held=True)
    holder = scenes.solid("Holder")
    hose.usdphys.cable.end = holder
    holder.hide_set(True)
    assert "CableHolderMissing" in write(tmp_path / "out.usda")
    hose.data.splines[0].use_cyclic_u = True
    assert "CableNotALine" in write(tmp_path / "out.usda")
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    assert not any(prim.GetTypeName() == "PhysicsAttachment" for prim in stage.Traverse())


@pytest.mark.parametrize("suffix", ["usda", "usdc"])
def test_a_cable_that_has_no_spline_is_named_and_the_rest_is_written(suffix: str, tmp_path: Path) -> None:
    cable().data.splines.clear()
    scenes.make_body(scenes.solid("Box"))
    if bpy.app.version < (5, 2, 0):
        with pytest.raises(InputError, match="crashes when it exports 'Hose', which has no points"):
            write(tmp_path / f"out.{suffix}")
        return
    assert "CableNotALine" in write(tmp_path / f"out.{suffix}")
    assert summary.counts(read.read_stage(Usd.Stage.Open(str(tmp_path / f"out.{suffix}"))))["bodies"] == 1


def test_the_scene_counts_and_weighs_its_cables() -> None:
    cable(5, 2.0, thickness=0.1, density=1000.0, start_is_held=True)
    bpy.context.view_layer.update()
    model = scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model
    assert summary.counts(model)["deformables"] == 1
    (row,) = summary.summarise(model)["deformables"]
    assert row["mass"] == pytest.approx(1000.0 * math.pi * 0.05**2 * 2.0, rel=1e-5)


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_rope_makes_a_cable_between_two_objects(scale: float, tmp_path: Path) -> None:
    bpy.context.scene.unit_settings.scale_length = scale
    holders = []
    for number in (0, 1):
        bpy.ops.mesh.primitive_cube_add(size=0.2 / scale, location=(1.2 / scale * number, 0.0, 2.0 / scale))
        holders.append(bpy.context.object)
    for holder in holders:
        holder.select_set(True)
    assert bpy.ops.usdphys.rope(
        kind="CURVE", segments=10, radius=0.01 / scale, mass=0.5, stiffness=0.2, slack=0.2
    ) == {"FINISHED"}  # fmt: skip
    (made,) = bpy.context.selected_objects
    group = made.usdphys.cable
    assert {group.start, group.end} == set(holders) and group.start_is_held and group.end_is_held
    assert write(tmp_path / "out.usda") == []
    stage, found = only(tmp_path / "out.usda")
    assert len(found.elements) == 10
    assert deformables.mass_of(found).value == pytest.approx(0.5 * 1.0 * 1.2, rel=1e-2)  # the chords of a catenary
    material = stage.GetPrimAtPath(f"{found.path.rsplit('/', 1)[0]}/cable_material")
    assert material.GetAttribute("physics:curvesBendStiffness").Get() == pytest.approx(0.2, rel=1e-4)
    assert gaps(stage, found) == pytest.approx([0.0, 0.0], abs=1e-6)
