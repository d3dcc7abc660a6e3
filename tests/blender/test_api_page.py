"""The scripts of docs/api.md in a fresh Python with bpy, as a person would run them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import api_page
import bpy
import pytest
from usdphys_ext.usdphys_addon import api

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A warehouse as .blend, and crates as USD."""
    for name, place in (("Floor", (0, 0, -0.5)), ("Crate", (0, 0, 3)), ("Crate.001", (2, 0, 3)), ("Lift", (4, 0, 3)),
                        ("Door", (6, 0, 1)), ("Frame", (7, 0, 1))):  # fmt: skip
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
        bpy.context.object.name = name
    for name, material in (("Crate", "Oak"), ("Crate.001", "Steel.002"), ("Door", "Paper")):
        made: Any = bpy.data.materials.new(material)
        bpy.data.objects[name].data.materials.append(made)
    bpy.data.objects["Floor"].scale = (20.0, 20.0, 1.0)
    api.export(tmp_path / "warehouse.blend")
    stages = tmp_path / "stages"
    stages.mkdir()
    (stages / "crates.usda").write_text(api_page.STAGE, encoding="utf-8")
    (tmp_path / "wrong.usda").write_text(api_page.WRONG, encoding="utf-8")
    return tmp_path


def run(folder: Path, name: str, *arguments: str, status: int = 0) -> Any:
    done = api_page.run(name, folder, *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def test_ten_lines_tag_set_and_export(folder: Path) -> None:
    run(folder, "tag_set_export.py")
    with api.open_stage(folder / "warehouse.usda") as stage:
        assert len(stage.bodies) == 2
        (crate,) = [path for path in stage.bodies if path.endswith("Crate_001")]
        assert stage.get_value(crate, "physics:mass") == 12.5
        assert stage.get_value(crate, "physxRigidBody:linearDamping") == pytest.approx(0.2)
        assert any("Floor" in path for path in stage.colliders)


def test_tag_by_name(folder: Path) -> None:
    done = run(folder, "tag_by_name.py", "warehouse.blend", "out.usda")
    assert "Made 2 objects dynamic" in done.stdout
    with api.open_stage(folder / "out.usda") as stage:
        kinematic = [path for path in stage.bodies if stage.get_value(path, "physics:kinematicEnabled")]
        assert len(stage.bodies) == 4 and [path.rsplit("/", 1)[1] for path in kinematic] == ["Lift"]
        (joint,) = stage.joints
        assert stage.get_value(joint, "physics:upperLimit") == pytest.approx(110.0)


def test_batch_convert_goes_on_after_a_bad_file(folder: Path) -> None:
    run(folder, "batch_convert.py", "stages", "made")
    assert (folder / "made" / "crates.glb").is_file()
    (folder / "stages" / "broken.usda").write_text("no USD", encoding="utf-8")
    done = run(folder, "batch_convert.py", "stages", "again", status=1)
    assert "broken.usda: " in done.stderr and "crates.glb: 2 bodies" in done.stdout


def test_the_gate_in_blender(folder: Path) -> None:
    run(folder, "ci_gate.py", "stages/crates.usda")
    done = run(folder, "ci_gate.py", "stages/crates.usda", "wrong.usda", status=1)
    assert "MassInvalidValues" in done.stdout


def test_density_by_material(folder: Path) -> None:
    # Materials are written for colliders.
    api.open_scene(folder / "warehouse.blend")
    api.tag("*", "static")
    api.export(folder / "tagged.blend")
    done = run(folder, "density_by_material.py", "tagged.blend", "out.usda")
    assert "Steel.002: 7850 kg/m³" in done.stdout and "Paper: no density is known" in done.stdout
    with api.open_stage(folder / "out.usda") as stage:
        found = {path.rsplit("/", 1)[1]: stage.get_value(path, "physics:density") for path in stage.materials}
    assert found == {"Oak": pytest.approx(700.0), "Steel_002": pytest.approx(7850.0)}


def test_one_file_for_each_variant(folder: Path) -> None:
    run(folder, "one_file_per_variant.py", "stages/crates.usda", "made")
    assert sorted(file.name for file in (folder / "made").iterdir()) == [
        "crates_paint_blue.glb",
        "crates_paint_red.glb",
    ]


def test_simulate_and_bake(folder: Path) -> None:
    from pxr import Usd, UsdGeom

    done = run(folder, "simulate_and_bake.py", "stages/crates.usda", "poses.json", "baked.usda")
    (height,) = re.findall(r"^Red comes to -?0\.0\d+, -?0\.0\d+, ([\d.]+) m$", done.stdout, re.M)
    assert float(height) == pytest.approx(0.5, abs=0.01)
    assert json.loads((folder / "poses.json").read_text(encoding="utf-8"))["frames"] == 49
    stage = Usd.Stage.Open(str(folder / "baked.usda"))
    assert any(len(UsdGeom.Xformable(prim).GetTimeSamples()) > 20 for prim in stage.Traverse())


def test_scripts_on_files_alone_run_with_bpy_as_well(folder: Path) -> None:
    assert run(folder, "cache.py", "stages/crates.usda", "cache.usda").stdout.endswith("2 bodies, 2 s\n")
    run(folder, "edit_stage.py", "stages/crates.usda", "edits.usda")
    with api.open_stage(folder / "edits.usda") as stage:
        assert [stage.get_value(path, "physics:mass") for path in stage.bodies] == [3.0, pytest.approx(0.8)]
