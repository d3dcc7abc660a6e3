"""The API of the installed extension: every way of the page to import it, with scripts of the page."""

import re

import api_page
import pytest

HERE = "linux_x64"
MODULE = "bl_ext.user_default.usdphys_addon.usdphys_addon.api"


def snippet() -> str:
    """The three lines of the page that find the extension in any repository."""
    (found,) = re.findall(
        r"^```python\n(import importlib, bpy\n.*?)^```", api_page.PAGE.read_text(encoding="utf-8"), re.M | re.S
    )
    assert len(list(filter(None, found.splitlines()))) == 3
    return found


def short_line() -> str:
    (found,) = re.findall(r"`(from bl_ext\.\S+ import api)`", api_page.PAGE.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("way", [short_line, snippet])
def test_a_script_of_the_page_runs_in_the_installed_extension(zips, blender, tmp_path, way):
    (tmp_path / "crates.usda").write_text(api_page.STAGE, encoding="utf-8")
    script = api_page.write("simulate_and_bake.py", tmp_path, way())
    found = blender("run_script", zips[HERE], script, "crates.usda", "poses.json", "baked.usda")
    assert MODULE in found["modules"].split()
    # The properties of the enabled add-on are used: no second copy of it is loaded.
    assert found["modules"].split() == [MODULE]
    assert (tmp_path / "poses.json").is_file()
    assert "timeSamples" in (tmp_path / "baked.usda").read_text(encoding="utf-8")


def test_the_zip_says_that_it_is_typed(zips):
    import zipfile

    with zipfile.ZipFile(zips[HERE]) as archive:
        assert "usdphys_addon/py.typed" in archive.namelist()
