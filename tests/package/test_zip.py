"""The published zips: what is in them, and that Blender installs, enables, uses, disables and removes them."""

import hashlib
import io
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLATFORMS = {"linux_x64", "linux_arm64", "windows_x64", "macos_arm64"}


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
    allowed_folders = {"docs", "usdphys_addon", "operators", "panels", "wheels", "library"}
    strangers = [n for n in names(zips[kind]) if n not in allowed and n.split("/")[0] not in allowed_folders]
    strangers += [n for n in names(zips[kind]) if "__pycache__" in n or "/." in n or n.endswith(("ruff.toml", ".pyc"))]
    strangers += [n for n in names(zips[kind]) if n.startswith("docs/") and not n.endswith((".md", ".webp", "/"))]
    assert not strangers
    needed = {
        "__init__.py",
        "blender_manifest.toml",
        "LICENSE",
        "THIRD_PARTY_NOTICES.md",
        "docs/index.md",
        "library/physics_library.blend",
        "library/blender_assets.cats.txt",
    }
    assert needed <= set(names(zips[kind]))


@pytest.mark.parametrize("kind", sorted(PLATFORMS))
def test_platform_zip_has_its_own_wheel_only(zips, kind):
    marks = {"linux_x64": ("manylinux", "x86_64.whl"), "linux_arm64": ("manylinux", "aarch64.whl"),
             "windows_x64": ("win_amd64", ".whl"), "macos_arm64": ("macosx", "arm64.whl")}  # fmt: skip
    wheels = [name for name in names(zips[kind]) if name.endswith(".whl")]
    assert len(wheels) == 1 and marks[kind][0] in wheels[0] and wheels[0].endswith(marks[kind][1])


@pytest.mark.parametrize("kind", sorted(PLATFORMS))
def test_notices_name_all_that_a_wheel_is_made_of(script, zips, kind):
    notices = script("notices")
    with zipfile.ZipFile(zips[kind]) as archive:
        text = archive.read("THIRD_PARTY_NOTICES.md").decode()
        (wheel,) = [name for name in archive.namelist() if name.endswith(".whl")]
        parts = notices.parts(io.BytesIO(archive.read(wheel)))
    assert len(parts) > 50
    assert [part for part in parts if notices.row(part) not in text] == []


def manifest_of(path):
    with zipfile.ZipFile(path) as archive:
        return tomllib.loads(archive.read("blender_manifest.toml").decode())


def test_zip_without_wheels_is_for_the_platforms_that_have_none(zips):
    manifest, other = manifest_of(zips["no_wheels"]), manifest_of(zips["linux_x64"])
    assert "wheels" not in manifest and manifest["platforms"] == ["windows-arm64", "macos-x64"]
    assert (manifest["id"], manifest["version"]) == (other["id"], other["version"])
    assert not [name for name in names(zips["no_wheels"]) if name.endswith(".whl")]


@pytest.fixture
def bare_here(zips, here, tmp_path):
    """The zip without wheels, for the platform of this machine."""
    made = tmp_path / "bare.zip"
    with zipfile.ZipFile(zips["no_wheels"]) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "blender_manifest.toml":
                content = content.replace(b'"windows-arm64"', f'"{here.replace("_", "-")}"'.encode())
            new.writestr(name, content)
    return made


@pytest.mark.parametrize("kind", ["here", "no_wheels"])
def test_install_enable_export_disable(zips, here, bare_here, blender, tmp_path, kind):
    usd = tmp_path / "cube.usda"
    facts = blender("enable_export_disable", zips[here] if kind == "here" else bare_here, usd)
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


def test_enabling_and_disabling_50_times_leaves_nothing(zips, here, blender):
    assert blender("enable_and_disable", zips[here], 50) == []


def test_uninstalling_leaves_nothing(zips, here, blender):
    assert blender("remove", zips[here]) == {"traces": [], "files": []}


def test_blender_ends_by_itself_with_the_extension_enabled(zips, here, blender):
    """A USD hook that stays registered can keep Blender from ending."""
    assert blender("enable_and_stay", zips[here]) is True


@pytest.mark.slow
def test_two_builds_of_one_tree_are_the_same_bytes(zips, tmp_path):
    subprocess.run(
        [sys.executable, ROOT / "scripts" / "build.py", "addon", "--out", tmp_path], check=True, capture_output=True
    )
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
    """The network is for URLs and Dask in a batch, the clipboard for bug reports; no camera, no microphone."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert set(manifest["permissions"]) == {"files", "network", "clipboard"}


LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)#\s]+)[^)]*\)|<(?:img|a) [^>]*(?:src|href)=\"([^\"#]+)")


@pytest.mark.parametrize("kind", [*sorted(PLATFORMS), "no_wheels"])
def test_pages_in_a_zip_link_to_what_is_there(zips, kind):
    """What the repository alone has is between marks, and left out. Films of the manual stand still there."""
    held, broken, links = set(names(zips[kind])), [], 0
    with zipfile.ZipFile(zips[kind]) as archive:
        pages = {name: archive.read(name).decode() for name in held if name.endswith(".md")}
    for name, text in pages.items():
        for picture, markdown, tag in LINK.findall(text):
            target = markdown or tag
            if "://" in target or target.startswith("mailto:"):
                continue
            target = target.replace("films/", "stills/") if picture and name.startswith("docs/") else target
            links += 1
            if posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) not in held:
                broken.append(f"{name}: {target}")
    assert broken == [] and links > 20
    for name in pages:
        # A mark that is not closed would take the page to its next mark, or nothing.
        source = (ROOT / name).read_text(encoding="utf-8")
        assert re.findall("^<!-- (/?)not in the zip", source, re.MULTILINE) == ["", "/"] * (
            source.count("in the zip -->") // 2
        )
        assert "in the zip -->" not in pages[name], name


@pytest.mark.parametrize("part", ["architecture.md", "recipes.md", "releasing.md", "farm/"])
def test_what_artists_do_not_need_is_not_in_their_zip(zips, here, part):
    assert (ROOT / "docs" / part).exists()
    assert [name for name in names(zips[here]) if f"docs/{part}" in name] == []


def test_addresses_reach_the_manifest_and_blender_takes_it(script, zips, here, tmp_path):
    build = script("build")
    known = {
        "website": "https://example.org/usdphys",
        "tracker": "https://example.org/issues",
        "contact": "a@example.org",
    }
    shutil.copy(zips[here], tmp_path)
    build.repack(tmp_path / zips[here].name, known)
    build.package("validate", str(tmp_path / zips[here].name))
    manifest = manifest_of(tmp_path / zips[here].name)
    assert manifest["website"] == known["website"] and manifest["addresses"] == known
    assert manifest["maintainer"].endswith(" <a@example.org>")


def test_placeholders_do_not_reach_users(script, zips):
    build = script("build")
    assert build.addresses().keys() == {"website", "tracker", "contact"}
    given = {name: value for name, value in build.addresses().items() if not build.is_placeholder(value)}
    for path in zips.values():
        manifest = manifest_of(path)
        assert manifest.get("addresses", {}) == given and ".invalid" not in str(manifest)


@pytest.mark.parametrize(
    ("address", "is_one"),
    [("https://website.placeholder.invalid", True), ("a@b.invalid", True), ("https://x.invalid/issues", True),
     (" ", True),
     ("https://invalid.example.org", False), ("https://example.org/x.invalid.html", False), ("a@example.org", False)],
)  # fmt: skip
def test_a_placeholder_is_an_address_that_cannot_be(script, address, is_one):
    assert script("build").is_placeholder(address) == is_one
