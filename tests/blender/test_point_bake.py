# SPDX-License-Identifier: GPL-3.0-or-later
"""Points of cloth and cables come back from another simulator as files that a modifier plays.

A program stands for the simulator.
"""

import sys
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest
from deformable_stages import cloth
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.exchange import usd_import
from usdphys_ext.usdphys_addon.playback import bake, point_bake
from usdphys_ext.usdphys_addon.simulation.engine import ENGINES
from usdphys_ext.usdphys_addon.usd import unit_conversion

from .test_cables import cable

#: Drops all points of meshes by 0.1 m in each step, and turns no segment of a cable but drops it.
PROGRAM = """
import sys
import numpy as np
import bpy
bpy.utils.expose_bundled_modules()
from pxr import Usd, UsdGeom
stage = Usd.Stage.Open(sys.argv[1])
meters = UsdGeom.GetStageMetersPerUnit(stage)
steps = int(sys.argv[2])
cache = UsdGeom.XformCache()
down = -0.1 / meters * np.arange(steps + 1)
deformables, counts, points, names, poses, cables, spans = [], [], [], [], [], [], []
for prim in stage.Traverse():
    if not prim.HasAttribute("physics:thicknesses"):
        continue
    matrix = np.array(cache.GetLocalToWorldTransform(prim))
    world = np.array(prim.GetAttribute("points").Get()) @ matrix[:3, :3] + matrix[3, :3]
    if prim.GetTypeName() == "BasisCurves":
        cables.append(str(prim.GetPath()))
        spans.append((len(names), len(names) + len(world) - 1))
        for number in range(len(world) - 1):
            names.append(f"{prim.GetPath()}/{number}")
            pose = np.zeros((steps + 1, 7))
            pose[:, :3] = (world[number] + world[number + 1]) / 2
            pose[:, 2] += down
            pose[:, 6] = 1
            poses.append(pose)
    else:
        deformables.append(str(prim.GetPath()))
        counts.append(len(world))
        moved = np.repeat(world[None], steps + 1, axis=0)
        moved[..., 2] += down[:, None]
        points.append(moved)
poses = np.stack(poses, 1) if poses else np.zeros((steps + 1, 0, 7))
points = np.concatenate(points, 1) if points else np.zeros((steps + 1, 0, 3))
np.savez(sys.argv[4], names=np.array(names, str), poses=poses, is_z_up=False, deformables=np.array(deformables, str),
         counts=np.array(counts, int), points=points, cables=np.array(cables, str),
         spans=np.array(spans, int).reshape(-1, 2))
"""


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    program = tmp_path / "engine.py"
    program.write_text(PROGRAM, encoding="utf-8")
    found = replace(ENGINES["newton"], program=str(program))
    monkeypatch.setitem(ENGINES, "newton", found)
    monkeypatch.setenv(found.variable, sys.executable)


def shown(obj: bpy.types.Object, frame: int) -> np.ndarray:
    """World points (n, 3) of an object as it is shown."""
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    found = np.array([evaluated.matrix_world @ vertex.co for vertex in mesh.vertices])
    evaluated.to_mesh_clear()
    return found


def simulated() -> set[str]:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 5, 9
    scene.usdphys.preview.engine = "newton"
    return bpy.ops.usdphys.preview_bake()


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_a_cable_plays_its_points_and_clear_bake_removes_them(scale: float, tmp_path: Path) -> None:
    bpy.context.scene.unit_settings.scale_length = scale
    hose = cable(6, 1.0 / scale)
    hose.location, hose.rotation_euler, hose.scale = (1.0, 2.0, 3.0), (0.3, 0.5, 0.7), (1.5, 1.5, 1.5)
    hose.data.bevel_depth = 0.0
    bpy.context.view_layer.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hose.blend"))
    start = shown(hose, 5)
    assert simulated() == {"FINISHED"}
    for frame in (5, 6, 9):
        assert shown(hose, frame) == pytest.approx(start - (0, 0, 0.1 * (frame - 5) / scale), abs=1e-5 / scale)
    assert (tmp_path / "hose_points" / "Hose.pc2").is_file()
    assert bake.baked(bpy.context.scene) == ["Hose"]
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hose.blend"))
    hose = bpy.data.objects["Hose"]
    assert shown(hose, 9) == pytest.approx(start - (0, 0, 0.4 / scale), abs=1e-5 / scale)
    assert bake.clear_bake(bpy.context.scene) == 1
    assert shown(hose, 9) == pytest.approx(start, abs=1e-5 / scale)
    assert not len(hose.modifiers) and not (tmp_path / "hose_points").exists()


@pytest.mark.slow
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_an_imported_cloth_plays_its_points_below_its_modifiers(meters: float, tmp_path: Path) -> None:
    stage = cloth()
    given = tmp_path / "cloth.usda"
    if meters != 1.0:
        unit_conversion.convert(stage, StageUnits(meters, 1.0, "Y"))
    stage.GetRootLayer().Export(str(given))
    usd_import.import_usd(bpy.context, str(given), usd_import.ImportOptions())
    obj = next(one for one in bpy.data.objects if one.type == "MESH" and len(one.data.vertices) == 25)
    start = shown(obj, 5)
    obj.modifiers.new("Thick", "SOLIDIFY").show_viewport = False
    assert simulated() == {"FINISHED"}
    assert [one.type for one in obj.modifiers] == ["MESH_CACHE", "SOLIDIFY"]
    unit = bpy.context.scene.unit_settings.scale_length
    assert shown(obj, 9) == pytest.approx(start - (0, 0, 0.4 / unit), abs=1e-4)


@pytest.mark.slow
def test_what_cannot_play_points_is_named_and_a_second_bake_replaces_the_first(tmp_path: Path) -> None:
    hose = cable(6, 1.0)
    reports: list[str] = []
    assert simulated() == {"FINISHED"} and simulated() == {"FINISHED"}
    assert len(hose.modifiers) == 1
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    found = point_bake.key([point_bake.Points(cube, np.zeros((2, 5, 3)))], 1)
    reports += found.notes
    assert found.objects == 0 and not len(cube.modifiers)
    assert reports == [
        "'Cube' has 8 points of its own, so it cannot play the 5 points of the simulation; "
        "hide its modifiers before the simulation"
    ]
