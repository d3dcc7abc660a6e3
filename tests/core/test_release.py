# SPDX-License-Identifier: GPL-3.0-or-later
"""What stops a release, and what the tree says after one."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PureWindowsPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
KNOWN = {"website": "https://example.org", "tracker": "https://example.org/issues", "contact": "a@example.org"}
CHANGES = "# Changelog\n\n## 0.2.0 — 2026-11-24\n\n- New.\n\n## 0.1.0 — 2026-10-01\n"


@pytest.fixture(scope="module")
def release(script):
    return script("release")


@pytest.fixture(scope="module")
def venvs(script):
    return script("venvs")


def found(release, version="0.2.0", changelog=CHANGES, addresses=KNOWN, tags=("v0.1.0",), changed=()):
    return release.problems(version, changelog, addresses, tags, list(changed))


@pytest.mark.parametrize("tags", [(), ("v0.1.0",), ("v0.1.0", "v0.2.0-rc.1", "nightly", "wheel-7.0.0")])
def test_a_tree_that_is_ready_is_released(release, tags):
    assert found(release, tags=tags) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": "0.2"}, "0.2"),
        ({"version": ""}, "version"),
        ({"version": "0.2.0-dev"}, "between releases"),
        ({"tags": ["v0.2.0"]}, "not higher than the tag v0.2.0"),
        ({"tags": ["v0.10.0", "v0.9.0"]}, "not higher than the tag v0.10.0"),
        ({"changelog": CHANGES.replace("2026-11-24", "unreleased")}, "no date for 0.2.0 but 'unreleased'"),
        ({"changelog": CHANGES.replace("2026-11-24", "2026-13-24")}, "'2026-13-24'"),
        ({"changelog": CHANGES.replace("## 0.2.0", "## 0.2.01")}, "does not have 0.2.0"),
        ({"addresses": KNOWN | {"tracker": "https://tracker.placeholder.invalid"}}, "tracker is a placeholder"),
        ({"changed": ["README.md"]}, "README.md"),
    ],
)
def test_what_stops_a_release_is_said_with_what_to_do(release, change, words):
    (text,) = (text for text in found(release, **change) if not text.startswith("CHANGELOG") or "changelog" in change)
    assert words in text and text.endswith("."), text


def test_all_that_is_missing_is_said_at_once(release):
    everything = found(release, version="0.1.0", changelog="", addresses=dict.fromkeys(KNOWN, ""), changed=["a"])
    assert len(everything) == 6


@pytest.mark.parametrize(
    ("version", "following"), [("0.1.0", "0.2.0-dev"), ("0.1.3", "0.2.0-dev"), ("1.9.0-rc.1", "1.10.0-dev")]
)
def test_the_next_version_is_higher_and_below_its_release(release, version, following):
    assert release.next_of(version) == following
    assert release.order(version) < release.order(following) < release.order(following.removesuffix("-dev"))


@pytest.fixture
def tree(release, tmp_path, monkeypatch):
    for name, path in (("MANIFEST", ROOT / "blender_manifest.toml"), ("CHANGELOG", ROOT / "CHANGELOG.md")):
        shutil.copy(path, tmp_path)
        monkeypatch.setattr(release, name, tmp_path / path.name)
    (tmp_path / "blender_manifest.toml").write_text(
        'id = "usdphys_addon"\nversion = "0.1.0"\nschema_version = "1.0.0"\n'
    )
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\nWords.\n\n## 0.1.0 — 2026-11-24\n\n- New.\n")
    return tmp_path


def test_after_a_release_the_tree_has_the_next_version_and_a_place_for_its_changes(release, tree):
    assert release.open_next("0.2.0-dev") == 0
    manifest, changelog = (tree / "blender_manifest.toml").read_text(), (tree / "CHANGELOG.md").read_text()
    assert manifest == 'id = "usdphys_addon"\nversion = "0.2.0-dev"\nschema_version = "1.0.0"\n'
    assert changelog == "# Changelog\n\nWords.\n\n## 0.2.0 — unreleased\n\n## 0.1.0 — 2026-11-24\n\n- New.\n"
    # The version of the release itself comes later, and has its place already.
    assert release.open_next("0.2.0") == 0
    assert (tree / "CHANGELOG.md").read_text() == changelog


@pytest.mark.parametrize("version", ["0.1.0", "0.1.0-dev", "next", ""])
def test_the_next_version_is_a_higher_one(release, tree, version):
    before = [path.read_text() for path in sorted(tree.iterdir())]
    with pytest.raises(SystemExit):
        release.open_next(version)
    assert [path.read_text() for path in sorted(tree.iterdir())] == before


def test_checksums_are_what_other_tools_read(release, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a b.txt").write_text("a")
    (tmp_path / "b.bin").write_bytes(b"\0")
    release.write_sums(tmp_path)
    lines = (tmp_path / "SHA256SUMS").read_text().splitlines()
    assert [line.split("  ", 1)[1] for line in lines] == ["b.bin", "folder/a b.txt"]
    if tool := shutil.which("sha256sum"):
        subprocess.run([tool, "-c", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)


@pytest.fixture
def made(venvs, monkeypatch, tmp_path):
    """The commands by which environments are made, which do nothing here but put a file in the place of Python."""
    commands = []

    def run(command):
        commands.append(command[1:3])
        if command[2] == "venv":
            python = venvs.python_in(Path(command[-1]))
            python.parent.mkdir(parents=True, exist_ok=True)
            python.touch()

    monkeypatch.setattr(venvs, "ROOT", tmp_path)
    monkeypatch.setattr(venvs, "GROUPS", {"some": ["package==1"]})
    monkeypatch.setattr(venvs, "run_quietly", run)
    return commands


def test_suites_side_by_side_make_an_environment_once(venvs, made):
    with ThreadPoolExecutor(8) as threads:
        pythons = set(threads.map(lambda _: venvs.make("some"), range(8)))
    assert len(pythons) == 1 and made == [["-m", "venv"], ["-m", "pip"]]


def test_an_environment_is_remade_for_other_packages_and_not_for_another_name_of_its_python(venvs, made, monkeypatch):
    venvs.make("some")
    monkeypatch.setattr(venvs, "python_for", lambda group: "/another/name/of/python3")
    venvs.make("some")
    assert len(made) == 2
    monkeypatch.setattr(venvs, "GROUPS", {"some": ["package==2"]})
    venvs.make("some")
    assert len(made) == 4


def test_an_environment_has_its_python_where_the_system_puts_it(venvs, monkeypatch, tmp_path):
    assert venvs.python_in(tmp_path).relative_to(tmp_path).as_posix() == (
        "Scripts/python.exe" if venvs.os.name == "nt" else "bin/python"
    )
    monkeypatch.setattr(venvs, "IS_WINDOWS", True)
    place = PureWindowsPath("C:/code/.venv")
    assert venvs.python_in(place) == PureWindowsPath(r"C:\code\.venv\Scripts\python.exe")
    assert venvs.packages_in(place) == PureWindowsPath(r"C:\code\.venv\Lib\site-packages")
    # Another way to write a path of an environment would be wrong on one of the systems.
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "scripts").glob("*.py")}
    code = {path.name: text.split('"""', 2)[-1] for path, text in texts.items()}
    places = ('" / "bin" / "python"', "venv/bin/python", "venv-usd/bin/python")
    assert [name for name, text in code.items() if any(place in text for place in places)] == []


def test_a_link_to_an_environment_is_told_from_a_folder(venvs, tmp_path):
    (tmp_path / "target").mkdir()
    venvs.link_folder(tmp_path / "link", tmp_path / "target")
    assert venvs.is_link(tmp_path / "link") and not venvs.is_link(tmp_path / "target")
    assert not venvs.is_link(tmp_path / "none")
    (tmp_path / "link").unlink()
    assert (tmp_path / "target").is_dir()
