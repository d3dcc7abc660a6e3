"""The scripts of docs/api.md that need no Blender, with usd-core alone; and that the page names all that there is."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import api_page
import pytest
from pxr import Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon import api

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "crates.usda").write_text(api_page.STAGE, encoding="utf-8")
    (tmp_path / "wrong.usda").write_text(api_page.WRONG, encoding="utf-8")
    return tmp_path


def test_blender_is_not_here() -> None:
    assert importlib.util.find_spec("bpy") is None


def test_the_page_has_the_scripts() -> None:
    assert {
        "tag_set_export.py", "tag_by_name.py", "batch_convert.py", "ci_gate.py", "density_by_material.py",
        "one_file_per_variant.py", "simulate_and_bake.py", "cache.py", "edit_stage.py",
    } == set(api_page.scripts())  # fmt: skip
    assert len(api_page.scripts()["tag_set_export.py"].strip().splitlines()) <= 10


def test_the_gate_passes_good_files_and_stops_bad_ones(folder: Path) -> None:
    good = api_page.run("ci_gate.py", folder, "crates.usda")
    assert good.returncode == 0, good.stdout + good.stderr
    bad = api_page.run("ci_gate.py", folder, "crates.usda", "wrong.usda")
    assert bad.returncode == 1
    assert "wrong.usda: error: MassInvalidValues" in bad.stdout
    missing = api_page.run("ci_gate.py", folder, "nowhere.usda")
    assert missing.returncode == 1 and "There is no file 'nowhere.usda'" in missing.stdout


def test_the_cache_has_the_motion(folder: Path) -> None:
    done = api_page.run("cache.py", folder, "crates.usda", "cache.usda")
    assert done.stdout == "2 bodies, 2 s\n", done.stdout + done.stderr
    stage = Usd.Stage.Open(str(folder / "cache.usda"))
    prim = UsdGeom.Xformable(stage.GetPrimAtPath("/World/Red"))
    assert prim.GetTimeSamples()[0] == 0.0 and prim.GetTimeSamples()[-1] == 48.0
    heights = [prim.ComputeLocalToWorldTransform(time).ExtractTranslation()[1] for time in (0, 48)]
    # It falls to the floor: its half size is 50 units, the floor ends at 0.
    assert heights[0] == pytest.approx(300.0) and heights[1] == pytest.approx(50.0, abs=1.0)


def test_the_edits_are_a_layer_over_the_stage(folder: Path) -> None:
    done = api_page.run("edit_stage.py", folder, "crates.usda", "edits.usda")
    assert done.returncode == 0, done.stderr
    stage = Usd.Stage.Open(str(folder / "edits.usda"))
    masses = {
        name: UsdPhysics.MassAPI(stage.GetPrimAtPath(f"/World/{name}")).GetMassAttr().Get() for name in ("Red", "Plain")
    }
    assert masses["Red"] == 3.0 and masses["Plain"] == pytest.approx(0.8)
    assert stage.GetPrimAtPath("/World/Plain").HasAPI(UsdPhysics.MassAPI)
    assert (folder / "crates.usda").read_text(encoding="utf-8") == api_page.STAGE
    assert "size" not in (folder / "edits.usda").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("tag_set_export.py", ()),
        ("tag_by_name.py", ("crates.usda", "out.usda")),
        ("batch_convert.py", (".", "out")),
        ("one_file_per_variant.py", ("crates.usda", "out")),
        ("simulate_and_bake.py", ("crates.usda", "poses.json", "out.usda")),
    ],
)
def test_other_scripts_say_that_they_need_blender(folder: Path, name: str, arguments: tuple[str, ...]) -> None:
    found = api_page.run(name, folder, *arguments)
    assert found.returncode == 1
    assert "() needs Blender, which is not here; run the script in" in found.stderr


def test_the_page_names_everything_public() -> None:
    text = api_page.PAGE.read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", text))
    assert set(api.__all__) - words == set()
    assert set(api.generate.__all__) - words == set()


def test_messages_on_the_page_are_those_that_are_raised() -> None:
    text = api_page.PAGE.read_text(encoding="utf-8")
    with pytest.raises(api.InputError) as unknown:
        api.describe("physics:maas")
    assert str(unknown.value) in text
    assert api.describe("drive:angular:physics:stiffness")[0].unit == "N·m/°" and "'N·m/°'" in text
