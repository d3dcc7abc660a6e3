"""`validate --fix` in Blender: a .blend is saved with safe fixes, and scales are applied to meshes of a USD file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import bpy
import pytest
from pxr import Usd
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.checks import fixes
from usdphys_ext.usdphys_addon.core import model_fixes
from usdphys_ext.usdphys_addon.core.errors import OutputError
from usdphys_ext.usdphys_addon.exchange import blend_file
from usdphys_ext.usdphys_addon.system import blender

from . import scenes

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
import compare_composed

MIRRORED = """#usda 1.0
(
    upAxis = "Z"
    metersPerUnit = 1
)
# Two wedges.
def Xform "World"
{
    def Mesh "Right" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
    {
        uniform token physics:approximation = "convexHull"
        uniform token subdivisionScheme = "none"
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]
    }
    def Mesh "Left" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
    {
        uniform token physics:approximation = "convexHull"  # as the other one
        uniform token subdivisionScheme = "none"
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]
        double3 xformOp:scale = (-1, 1, 1)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
}
"""


def run(*arguments: Any) -> int:
    return cli.main(["validate", *map(str, arguments)])


def test_a_blend_is_saved_with_its_safe_fixes(tmp_path, capfd) -> None:
    crate = scenes.solid("Crate")
    crate.usdphys.mass.is_applied, crate.usdphys.mass.mass = True, -3.0
    file = tmp_path / "a.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert run(file) == 1
    assert run(file, "--fix", "--select", "KinematicVelocity") == 0
    said = capfd.readouterr().out
    assert "0 fixed" in said.splitlines()[-1], said
    assert run(file, "--fix") == 0
    assert "fixed: MassInvalidValues" in capfd.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(file))
    mass = bpy.data.objects["Crate"].usdphys.mass
    assert mass.is_applied and not mass.is_property_set("mass")
    before = file.read_bytes()
    assert run(file, "--fix") == 0
    assert file.read_bytes() == before


def test_a_blend_that_cannot_be_saved_is_not_called_fixed(tmp_path, capfd, monkeypatch) -> None:
    def full(_file: str) -> None:
        raise OutputError("The disk is full.")

    crate = scenes.solid("Crate")
    crate.usdphys.mass.is_applied, crate.usdphys.mass.mass = True, -3.0
    file = tmp_path / "a.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    monkeypatch.setattr(blend_file, "save_blend", full)
    assert run(file, "--fix", "--output", tmp_path / "report.txt") == 1
    assert "fixed: " not in capfd.readouterr().out
    text = (tmp_path / "report.txt").read_text()
    assert "The disk is full." in text and "fixed: " not in text and "0 fixed" in text


def test_a_blend_of_a_newer_blender_is_not_saved_by_this_one(tmp_path, capfd) -> None:
    crate = scenes.solid("Crate")
    crate.usdphys.mass.is_applied, crate.usdphys.mass.mass = True, -3.0
    file = tmp_path / "a.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file), compress=False)
    # The version is the number that ends the header, such as "BLENDER-v405" or "BLENDER17-01v0500".
    start = file.read_bytes()[:20]
    number = re.match(rb"BLENDER.*?v(\d+)", start)[1]
    newer = file.read_bytes().replace(b"v" + number, b"v" + str(int(number) + 1).zfill(len(number)).encode(), 1)
    file.write_bytes(newer)
    assert run(file, "--fix") == 1
    said = capfd.readouterr().out
    assert "(Not fixed: a newer Blender has saved the file" in said and said.splitlines()[-1].endswith("0 fixed"), said
    assert file.read_bytes() == newer


def test_a_mirrored_mesh_of_a_usd_file_gets_its_scale_applied_and_the_other_stays(tmp_path, capfd) -> None:
    before, file = tmp_path / "before.usda", tmp_path / "a.usda"
    for path in (before, file):
        path.write_text(MIRRORED)
    assert run(file, "--fix") == 0
    said = capfd.readouterr().out
    assert "fixed: NegativeScale: /World/Left: Apply the scale to the geometry." in said
    assert "points, faces and extent, and the normals that they had" in said
    right, left = MIRRORED.partition('def Mesh "Left"')[0], file.read_text().partition('def Mesh "Left"')
    assert left[0] == right and "# as the other one" in left[2]
    stages = Usd.Stage.Open(str(before)), Usd.Stage.Open(str(file))
    found = {line.partition(": ")[0] for line in compare_composed.differences(*stages)}
    names = ("points", "faceVertexIndices", "extent", "xformOp:orient", "xformOp:scale", "xformOpOrder")
    assert found == {f"/World/Left.{name}" for name in names}, "no normals, which the mesh did not have"


def test_without_blender_the_sentence_says_that_it_is_needed(tmp_path, capfd, monkeypatch) -> None:
    monkeypatch.setattr(blender, "is_here", lambda: False)
    file = tmp_path / "a.usda"
    file.write_text(MIRRORED)
    run(file, "--fix")
    assert (
        "Not fixed: the scale has to be applied to the geometry, for which Blender is needed" in capfd.readouterr().out
    )
    assert file.read_text() == MIRRORED


@pytest.mark.parametrize("code", sorted(model_fixes.FIXES))
def test_a_file_gets_the_fixes_that_the_panel_calls_safe_by_the_same_name(code) -> None:
    """One code has another one in Blender, where a name stands for the prim."""
    known = fixes.FIXES[{"GroupMissingTarget": "GroupTargetMissing"}.get(code, code)]
    assert known.safe and known.label == model_fixes.FIXES[code].label
