"""The version of the add-on, and the order of versions."""

from __future__ import annotations

import tomllib
from email.message import Message
from importlib import metadata
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.system import addresses, version

ROOT = Path(__file__).resolve().parents[2]


def test_the_version_is_that_of_the_manifest() -> None:
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert version.addon_version() == manifest["version"]
    version.order(manifest["version"])


@pytest.mark.parametrize(
    ("packaged", "wanted"),
    [("0.1.0", "0.1.0"), ("0.2.0.dev0", "0.2.0-dev"), ("0.2.0.dev3", "0.2.0-dev.3"), ("1.10.2", "1.10.2")],
)
def test_without_a_manifest_it_is_that_of_the_package(
    packaged: str, wanted: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(version, "MANIFEST", tmp_path / "blender_manifest.toml")
    monkeypatch.setattr(metadata, "version", {"usdphys": packaged}.__getitem__)
    assert version.addon_version.__wrapped__() == wanted
    # Somebody else's manifest beside the package says nothing.
    (tmp_path / "blender_manifest.toml").write_text('id = "other"\nversion = "9.9.9"\n', encoding="utf-8")
    assert version.addon_version.__wrapped__() == wanted


def test_addresses_are_those_that_a_release_has_filled_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "blender_manifest.toml"
    monkeypatch.setattr(version, "MANIFEST", file)
    file.write_text('id = "usdphys_addon"\nversion = "1.0.0"\n', encoding="utf-8")
    assert addresses.addresses() == {}
    file.write_text('id = "usdphys_addon"\n[addresses]\nwebsite = "https://example.org"\n', encoding="utf-8")
    assert addresses.addresses() == {"website": "https://example.org"}
    file.unlink()
    facts = Message()
    monkeypatch.setattr(metadata, "metadata", {"usdphys": facts}.__getitem__)
    assert addresses.addresses() == {}
    facts["Project-URL"] = "Website, https://example.org/a,b"
    facts["Project-URL"] = "Tracker, https://example.org/issues"
    assert addresses.addresses() == {"website": "https://example.org/a,b", "tracker": "https://example.org/issues"}


def test_versions_are_sorted_as_semver_sorts_them() -> None:
    rising = [
        "0.0.0-0", "0.0.9", "0.1.0-alpha", "0.1.0-alpha.1", "0.1.0-alpha.beta", "0.1.0-dev", "0.1.0-dev.2",
        "0.1.0-dev.11", "0.1.0-rc.1", "0.1.0", "0.1.1-dev", "0.2.0-dev", "0.2.0", "0.10.0", "1.0.0-1", "1.0.0",
    ]  # fmt: skip
    assert [*map(version.order, rising)] == sorted(map(version.order, rising))
    assert version.order("1.0.0+a") == version.order("1.0.0+b")


@pytest.mark.parametrize("text", ["", "1.0", "v1.0.0", "1.0.0-", "stored", "1.0.0 "])
def test_text_that_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no version"):
        version.order(text)
