# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension of further engines: its zips, and that the add-on finds what Blender installs of it."""

import tomllib
import zipfile

import pytest


@pytest.fixture(scope="module")
def build(script):
    return script("build")


def test_a_platform_has_a_wheel_for_each_python_of_blender(build):
    manifest = (build.ENGINES / build.MANIFEST).read_text(encoding="utf-8")
    platforms = tomllib.loads(manifest)["platforms"]
    assert sorted(platforms) == sorted(build.MARKS)
    for platform in platforms:
        tags = [wheel.split("-")[2] for wheel in build.wheels_of(manifest, platform)]
        assert sorted(tags) == ["cp311", "cp313", "cp39"]
    assert len(build.wheels_of(manifest)) == sum(len(build.wheels_of(manifest, platform)) for platform in platforms)


def test_all_wheels_have_a_checksum(build):
    lines = (build.ROOT / "scripts" / "wheels.sha256").read_text(encoding="utf-8").splitlines()
    listed = [wheel for folder in (build.ROOT, build.ENGINES)
              for wheel in build.wheels_of((folder / build.MANIFEST).read_text(encoding="utf-8"))]  # fmt: skip
    assert sorted(line.split()[1] for line in lines) == sorted(listed)


def test_the_zip_holds_wheels_of_this_platform_alone(engines, here, build):
    with zipfile.ZipFile(engines) as archive:
        manifest = archive.read(build.MANIFEST).decode()
        names = archive.namelist()
    wheels = [name.removeprefix("wheels/") for name in names if name.endswith(".whl")]
    platform = here.replace("_", "-")
    assert tomllib.loads(manifest)["platforms"] == [platform]
    assert sorted(wheels) == sorted(build.wheels_of(manifest)) == sorted(build.wheels_of(manifest, platform))
    assert {name for name in names if "/" not in name} == {"LICENSE", "README.md", "__init__.py", build.MANIFEST}


def test_the_add_on_simulates_and_decomposes_with_them(zips, engines, here, blender, tmp_path):
    facts = blender("engines", zips[here], engines)
    assert facts["before"] == {"mujoco": False, "automatic": False}
    assert facts["engine"] == "MuJoCo" and str(tmp_path / "resources") in facts["mujoco"]
    assert 10.0 - facts["height"] == pytest.approx(0.5 * 9.81 * facts["seconds"] ** 2, rel=0.03)
    # By the child of a Python that does not know Blender's folder of wheels.
    assert 4 <= facts["pieces"] <= 8
    assert facts["left"] == []
