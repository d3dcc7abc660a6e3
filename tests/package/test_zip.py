"""The published zips: what is in them, and that Blender installs, enables, uses, disables and removes them."""

import hashlib
import importlib.util
import io
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = "linux_x64"
PLATFORMS = {"linux_x64", "windows_x64", "macos_arm64"}


def names(path):
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def test_one_zip_for_each_platform_and_one_for_the_others(zips):
    assert set(zips) == {*PLATFORMS, "no_wheels"}


@pytest.mark.parametrize("kind", [*sorted(PLATFORMS), "no_wheels"])
def test_zip_holds_the_extension_and_nothing_else(zips, kind):
    allowed = {
        "__init__.py",
        "preferences.py",
        "keymap.py",
        "blender_manifest.toml",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "THIRD_PARTY_NOTICES.md",
    }
    allowed_folders = {"docs", "usdphys_addon", "operators", "panels", "wheels"}
    strangers = [n for n in names(zips[kind]) if n not in allowed and n.split("/")[0] not in allowed_folders]
    strangers += [n for n in names(zips[kind]) if "__pycache__" in n or "/." in n or n.endswith(("ruff.toml", ".pyc"))]
    strangers += [n for n in names(zips[kind]) if n.startswith("docs/") and not n.endswith((".md", ".webp", "/"))]
    assert not strangers
    needed = {"__init__.py", "blender_manifest.toml", "LICENSE", "THIRD_PARTY_NOTICES.md", "docs/index.md"}
    assert needed <= set(names(zips[kind]))


@pytest.mark.parametrize("kind", sorted(PLATFORMS))
def test_platform_zip_has_its_own_wheel_only(zips, kind):
    mark = {"linux_x64": "manylinux", "windows_x64": "win_amd64", "macos_arm64": "macosx"}[kind]
    wheels = [name for name in names(zips[kind]) if name.endswith(".whl")]
    assert len(wheels) == 1 and mark in wheels[0]


@pytest.mark.parametrize("kind", sorted(PLATFORMS))
def test_notices_name_all_that_a_wheel_is_made_of(zips, kind):
    spec = importlib.util.spec_from_file_location("notices", ROOT / "scripts" / "notices.py")
    notices = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(notices)
    with zipfile.ZipFile(zips[kind]) as archive:
        text = archive.read("THIRD_PARTY_NOTICES.md").decode()
        (wheel,) = [name for name in archive.namelist() if name.endswith(".whl")]
        parts = notices.parts(io.BytesIO(archive.read(wheel)))
    assert len(parts) > 50
    assert [part for part in parts if notices.row(part) not in text] == []


def test_zip_without_wheels_is_for_every_platform(zips):
    with zipfile.ZipFile(zips["no_wheels"]) as archive:
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
        with zipfile.ZipFile(zips[HERE]) as other:
            same = tomllib.loads(other.read("blender_manifest.toml").decode())
    assert "wheels" not in manifest and "platforms" not in manifest
    assert (manifest["id"], manifest["version"]) == (same["id"], same["version"])
    assert not [name for name in archive.namelist() if name.endswith(".whl")]


@pytest.mark.parametrize("kind", [HERE, "no_wheels"])
def test_install_enable_export_disable(zips, blender, tmp_path, kind):
    usd = tmp_path / "cube.usda"
    facts = blender("enable_export_disable", zips[kind], usd)
    assert facts["before"] == []
    assert facts["enabled"] and facts["while_enabled"]
    if kind == "no_wheels":
        assert facts["rapier3d"] is None
    else:
        assert str(tmp_path / "resources") in facts["rapier3d"]
    assert facts["export"] == ["FINISHED"]
    assert "PhysicsRigidBodyAPI" in usd.read_text(encoding="utf-8")
    assert not facts["still_enabled"]
    assert facts["after"] == []


def test_enabling_and_disabling_50_times_leaves_nothing(zips, blender):
    assert blender("enable_and_disable", zips[HERE], 50) == []


def test_uninstalling_leaves_nothing(zips, blender):
    assert blender("remove", zips[HERE]) == {"traces": [], "files": []}


def test_blender_ends_by_itself_with_the_extension_enabled(zips, blender):
    """A USD hook that stays registered can keep Blender from ending."""
    assert blender("enable_and_stay", zips[HERE]) is True


def test_two_builds_of_one_tree_are_the_same_bytes(zips, tmp_path):
    subprocess.run([sys.executable, ROOT / "scripts" / "build.py", "--out", tmp_path], check=True, capture_output=True)
    for path in zips.values():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


@pytest.mark.parametrize("kind", sorted(PLATFORMS))
def test_the_wheel_in_a_zip_is_the_one_with_the_recorded_checksum(zips, kind):
    lines = (ROOT / "scripts" / "wheels.sha256").read_text(encoding="utf-8").splitlines()
    recorded = {name: checksum for checksum, name in map(str.split, lines)}
    with zipfile.ZipFile(zips[kind]) as archive:
        (wheel,) = [name for name in archive.namelist() if name.endswith(".whl")]
        assert hashlib.sha256(archive.read(wheel)).hexdigest() == recorded[wheel.rpartition("/")[2]]


def test_permissions_are_those_of_the_code():
    """The add-on reads and writes files. It opens no network, clipboard, camera or microphone."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert set(manifest["permissions"]) == {"files"}
