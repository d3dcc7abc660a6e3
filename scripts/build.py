"""Build the extension zips into dist/, `build.py [addon] [engines]`; by default both.

addon: one per platform with its wheel, and one without wheels for the other platforms. engines: an extension of its own
for each platform (`--platform`: for this one alone), in which there are only the wheels of further engines.

Blender's own packager does the work; it comes with the bpy wheel and needs no Blender. Run with a Python that has bpy
installed (it is not imported), or with any Python after `make env`.
"""

import argparse
import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import venvs

ROOT = venvs.ROOT
sys.path.insert(0, str(ROOT))
from usdphys_addon.system.manual import bundled  # noqa: E402

WHEELS = ROOT / "wheels"
MANIFEST = "blender_manifest.toml"
ENGINES = ROOT / "engines"
#: Marks of the platforms in the names of wheels: how the tag begins, and how it ends.
MARKS = {
    "linux-x64": ("manylinux", "x86_64"), "linux-arm64": ("manylinux", "aarch64"), "windows-x64": ("win", "amd64"),
    "macos-arm64": ("macosx", "arm64"),
}  # fmt: skip
#: Time of all files in the zips, the earliest that a zip can hold: the same tree gives the same bytes.
EPOCH = (1980, 1, 1, 0, 0, 0)
#: Platforms for which the solver has no wheel. In a repository Blender takes the first zip that fits its platform, so a
#: zip for all platforms would be taken where there is one with the solver.
WITHOUT_SOLVER = ("windows-arm64", "macos-x64")
#: The top-level domain that never exists (RFC 2606): an address in it is a placeholder.
_PLACEHOLDER = re.compile(r"\.invalid(?![\w.-])")


def addresses() -> dict[str, str]:
    """website, tracker and contact of `pyproject.toml`, with placeholders."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(pyproject["tool"]["usdphys"]["addresses"])


def is_placeholder(address: str) -> bool:
    return not address.strip() or bool(_PLACEHOLDER.search(address))


def manifest_with(known: dict[str, str], manifest: str) -> str:
    """The manifest of a zip: the tree's with the addresses that are known. Blender takes further tables as they are."""
    quoted = {name: json.dumps(address) for name, address in known.items() if not is_placeholder(address)}
    if "contact" in quoted:
        manifest = re.sub(r'^(maintainer = "[^"]*)"', rf'\1 <{known["contact"]}>"', manifest, flags=re.MULTILINE)
    if "website" in quoted:
        manifest = re.sub(r"^(type = .*\n)", rf"\1website = {quoted['website']}\n", manifest, flags=re.MULTILINE)
    if quoted:
        manifest += "\n[addresses]\n" + "".join(f"{name} = {address}\n" for name, address in quoted.items())
    return manifest


def wheels_of(manifest: str, platform: str = "") -> list[str]:
    """The files of the wheels that a manifest lists: all, or those of a platform."""
    listed = [Path(wheel).name for wheel in tomllib.loads(manifest)["wheels"]]
    start, end = MARKS.get(platform, ("", ""))
    return [wheel for wheel in listed if (tag := wheel[:-4].split("-")[-1]).startswith(start) and tag.endswith(end)]


def fetch_wheels(wanted: list[str]) -> None:
    """Download the wheels that are missing; stop when one has another checksum than in scripts/wheels.sha256."""
    WHEELS.mkdir(exist_ok=True)
    lines = (ROOT / "scripts" / "wheels.sha256").read_text(encoding="utf-8").splitlines()
    checksums = {filename: checksum for checksum, filename in map(str.split, lines)}
    for filename in wanted:
        wheel = WHEELS / filename
        if not wheel.exists():
            name, version, python, abi, platform = wheel.stem.split("-")
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
            # One of the stable interface serves all later versions.
            python = "3.11" if abi == "abi3" else f"{python[2]}.{python[3:]}"
            command += ["--only-binary=:all:", "--platform", platform.split(".")[-1], "--python-version", python]
            # Suites that run side by side may build at the same time: a wheel is there whole, or not at all.
            with tempfile.TemporaryDirectory(prefix=".", dir=WHEELS) as folder:
                done = subprocess.run(
                    [*command, "--dest", folder, f"{name}=={version}"], capture_output=True, text=True, check=False
                )
                if done.returncode != 0 or not (Path(folder) / filename).exists():
                    sys.exit(f"{done.stderr}\nCould not download {filename}.")
                (Path(folder) / filename).replace(wheel)
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != checksums[filename]:
            sys.exit(f"{filename} has not the recorded checksum; remove it from wheels/ and build again.")


def find_packager() -> tuple[Path, Path]:
    """(blender_ext.py, tags.py) of this Python's bpy, else of the newest bpy in the tree's environments."""
    spec = importlib.util.find_spec("bpy")
    folders = [Path(spec.origin).parent] if spec and spec.origin else []
    folders += sorted((venvs.packages_in(venvs.folder(group)) / "bpy" for group in venvs.BPY_GROUPS), reverse=True)
    for folder in folders:
        for packager in folder.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"):
            return packager, packager.parents[3] / "modules" / "_bpy_internal" / "extensions" / "tags.py"
    sys.exit("Blender's packager comes with bpy, which is not installed: run 'make env' first.")


def package(*arguments: str, tags: bool = True) -> None:
    """Run a command of Blender's packager. tags: the command checks them. Ends the process where it refuses."""
    packager, known = find_packager()
    command = [sys.executable, str(packager), *arguments, *(["--valid-tags", str(known)] if tags else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nBlender's packager refused: {arguments[0]}")


def repack(path: Path, known: dict[str, str]) -> None:
    """Write a zip again: its pages and manifest as users get them, its bytes depending on its contents only.

    Files are sorted and have one time, one mode, and no other fields. known: see `addresses`.
    """
    with zipfile.ZipFile(path) as built:
        files = {name: built.read(name) for name in sorted(built.namelist()) if not name.endswith("/")}
    files[MANIFEST] = manifest_with(known, files[MANIFEST].decode()).encode()
    files |= {name: bundled(page.decode()).encode() for name, page in files.items() if name.endswith(".md")}
    with zipfile.ZipFile(path, "w") as made:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
            made.writestr(entry, content, compresslevel=9)


def build(out: Path) -> list[Path]:
    """Build and validate all zips of the add-on; the ones of an earlier build are removed first."""
    manifest = (ROOT / MANIFEST).read_text(encoding="utf-8")
    fetch_wheels(wheels_of(manifest))
    fields = tomllib.loads(manifest)
    stem = _begin(out, fields)

    package("build", "--source-dir", str(ROOT), "--output-dir", str(out), "--split-platforms")
    with tempfile.TemporaryDirectory() as staging:
        with zipfile.ZipFile(next(out.glob(f"{stem}-*.zip"))) as built:
            built.extractall(staging, [name for name in built.namelist() if not name.startswith("wheels/")])
        bare = _with(manifest, r"wheels = \[[^]]*\]", "")
        bare = _with(bare, r"platforms = .*", f"platforms = {json.dumps(WITHOUT_SOLVER)}\n")
        (Path(staging) / MANIFEST).write_text(bare, encoding="utf-8")
        package("build", "--source-dir", staging, "--output-filepath", str(out / f"{stem}-no_wheels.zip"))

    zips = sorted(out.glob(f"{stem}-*.zip"))
    expected = len(fields["platforms"]) + 1
    if len(zips) != expected:
        sys.exit(f"{expected} zips were expected, {len(zips)} were made.")
    return _published(zips)


def build_engines(out: Path, platform: str = "") -> list[Path]:
    """Build and validate the zips of the engines, with wheels for each Python of Blender; platform: this one alone."""
    manifest = (ENGINES / MANIFEST).read_text(encoding="utf-8")
    fields = tomllib.loads(manifest)
    stem = _begin(out, fields)
    zips = []
    for name in [platform] if platform else fields["platforms"]:
        wheels = wheels_of(manifest, name)
        fetch_wheels(wheels)
        own = _with(
            manifest, r"wheels = \[[^]]*\]", f"wheels = {json.dumps([f'./wheels/{wheel}' for wheel in wheels])}\n"
        )
        own = _with(own, r"platforms = .*", f"platforms = {json.dumps([name])}\n")
        with tempfile.TemporaryDirectory() as staging:
            shutil.copytree(ENGINES, staging, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(ROOT / "LICENSE", staging)
            Path(staging, "wheels").mkdir()
            for wheel in wheels:
                shutil.copy(WHEELS / wheel, Path(staging, "wheels"))
            Path(staging, MANIFEST).write_text(own, encoding="utf-8")
            zips.append(out / f"{stem}-{name.replace('-', '_')}.zip")
            package("build", "--source-dir", staging, "--output-filepath", str(zips[-1]))
    return _published(zips)


def _begin(out: Path, fields: dict[str, Any]) -> str:
    """Remove the zips of an earlier build. Returns how the names of the new ones begin."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob(f"{fields['id']}-*.zip"):
        old.unlink()
    return f"{fields['id']}-{fields['version']}"


def _with(manifest: str, entry: str, other: str) -> str:
    return re.sub(rf"^{entry}\n", other, manifest, flags=re.MULTILINE)


def _published(zips: list[Path]) -> list[Path]:
    known = addresses()
    for path in zips:
        repack(path, known)
        package("validate", str(path))
    return zips


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", default=["addon", "engines"])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--platform", choices=MARKS, default="", help="of the engines")
    options = parser.parse_args()
    if unknown := set(options.parts) - {"addon", "engines"}:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; take addon or engines")
    out = options.out.resolve()
    made = build(out) if "addon" in options.parts else []
    made += build_engines(out, options.platform) if "engines" in options.parts else []
    for path in made:
        print(f"{path.name}  {path.stat().st_size / 1024:,.0f} KiB")


if __name__ == "__main__":
    main()
