"""The extension repository: a stranger adds it, gets the package of the platform, and is given updates."""

import json
import shutil
import zipfile
from functools import partial

import pytest


@pytest.fixture(scope="session")
def release(script):
    return script("release")


@pytest.fixture(scope="session")
def repository(zips, release, tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    for path in zips.values():
        shutil.copy(path, folder)
    release.make_repository(folder)
    return folder


@pytest.fixture
def published(zips, release, tmp_path, here):
    """Call with a version; returns a repository with the package of this platform in that version."""

    def publish(version):
        folder = tmp_path / version
        folder.mkdir()
        with zipfile.ZipFile(zips[here]) as old, zipfile.ZipFile(folder / f"usdphys_addon-{version}.zip", "w") as new:
            for name in old.namelist():
                content = old.read(name)
                if name == "blender_manifest.toml":
                    said = release.version_of(content.decode())
                    content = content.replace(f'version = "{said}"'.encode(), f'version = "{version}"'.encode(), 1)
                new.writestr(name, content)
        release.make_repository(folder)
        return folder

    return publish


def entries(folder):
    return json.loads((folder / "index.json").read_text(encoding="utf-8"))["data"]


def test_a_stranger_gets_the_package_with_the_solver_and_simulates(repository, blender, tmp_path):
    """Blender takes the first package that fits: one for all platforms was taken, which has no solver."""
    facts = blender("step_from_repository", (repository / "index.json").as_uri())
    assert str(tmp_path / "resources") in facts["rapier3d"]
    # A fall of a second from rest; the solver goes by steps of 1/60 s.
    fallen = 0.5 * 9.81 * facts["seconds"] ** 2
    assert 10.0 - facts["height"] == pytest.approx(fallen, rel=0.03)


def test_no_platform_fits_two_packages_and_those_without_a_solver_have_one(repository, release):
    found = entries(repository)
    assert release.overlapping(found) is None
    platforms = {platform for entry in found for platform in entry["platforms"]}
    assert platforms == {"linux-x64", "linux-arm64", "windows-x64", "windows-arm64", "macos-x64", "macos-arm64"}
    (bare,) = [entry for entry in found if "no_wheels" in entry["archive_url"]]
    assert bare["platforms"] == list(release.build.WITHOUT_SOLVER)


@pytest.mark.parametrize(
    "platforms", [[["linux-x64"], None], [None, ["linux-x64"]], [["a", "linux-x64"], ["linux-x64", "b"]], [None, None]]
)
def test_packages_for_one_platform_are_seen(platforms, release):
    named = [{"platforms": names} if names else {} for names in platforms]
    found = [{"archive_url": f"{number}.zip", **entry} for number, entry in enumerate(named)]
    assert release.overlapping(found) == ("0.zip", "1.zip")


def test_the_same_zips_give_the_same_repository(repository, release, tmp_path):
    for path in sorted(repository.glob("*.zip"), reverse=True):
        shutil.copy(path, tmp_path)
    release.make_repository(tmp_path)
    for name in ("index.json", "index.html"):
        assert (tmp_path / name).read_bytes() == (repository / name).read_bytes()
    assert [entry["archive_url"] for entry in entries(tmp_path)] == sorted(
        entry["archive_url"] for entry in entries(tmp_path)
    )


def test_the_page_of_the_repository_links_each_package_for_a_drag_into_blender(repository):
    page = (repository / "index.html").read_text(encoding="utf-8")
    for path in repository.glob("*.zip"):
        assert f'href="./{path.name}?repository=.%2Findex.json' in page


def test_blender_updates_to_any_other_version_so_that_releases_must_rise(published, blender):
    """Blender only asks whether versions differ: a lower one replaces a higher one, too. `make release` refuses it."""
    versions = ("0.1.0", "0.2.0-dev", "0.2.0", "0.1.0")
    folders = [published(version) for version in versions[:3]]
    again = folders[0].with_name("again")
    shutil.copytree(folders[0], again)
    assert blender("versions_after_updates", *folders, again) == list(versions)


@pytest.mark.slow
def test_a_dry_run_makes_the_whole_of_any_tree_and_says_what_is_missing(release, here, tmp_path, monkeypatch, capsys):
    def site(folder, _version):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "index.html").write_text("the manual has a suite of its own")

    monkeypatch.setattr(release, "make_site", site)
    # The wheels of other platforms take a long time to come.
    engines = partial(release.build.build_engines, platform=here.replace("_", "-"))
    monkeypatch.setattr(release.build, "build_engines", engines)
    monkeypatch.setattr(release, "git", lambda *arguments: [" M README.md"] if arguments[0] == "status" else [])
    assert release.main(["--dry", "--out", str(tmp_path)]) == 0
    (made,) = tmp_path.iterdir()
    assert made.name.startswith("dry-")
    files = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    sums = {line.split("  ", 1)[1] for line in (made / "SHA256SUMS").read_text().splitlines()}
    assert sums == files - {"SHA256SUMS"}
    assert {"website/index.html", "website/repository/index.json", "website/repository/index.html"} < files
    assert len([name for name in files if name.endswith(".zip")]) == 6
    # The wheel is there exactly where its script is.
    assert any(name.endswith(".whl") for name in files) == (release.ROOT / "scripts" / "wheel.py").exists()
    assert "such as README.md; commit" in capsys.readouterr().out


def test_a_tree_that_is_not_ready_makes_nothing(release, tmp_path, monkeypatch):
    monkeypatch.setattr(release, "git", lambda *arguments: [" M README.md"] if arguments[0] == "status" else [])
    with pytest.raises(SystemExit, match="Not ready for a release"):
        release.main(["--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()
