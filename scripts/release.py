"""Make a release from nothing into dist/release/VERSION: zips, extension repository, manual, wheel, checksums.

`release.py` refuses a tree that is not ready. `release.py --dry` makes the same of any tree, into
dist/release/dry-VERSION, and says what would be refused. `release.py --next 0.2.0-dev` opens the next version after a
release. No tag is set and nothing is published. docs/releasing.md goes through it. Run it after `make env`.
"""

import argparse
import datetime
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import build
import venvs

ROOT = build.ROOT
sys.path.insert(0, str(ROOT))
from usdphys_addon.system.version import order  # noqa: E402 - the rules of semver are the product's own

MANIFEST = ROOT / build.MANIFEST
CHANGELOG = ROOT / "CHANGELOG.md"
PAGE = ROOT / "scripts" / "repository_page.html"
SUMS = "SHA256SUMS"
#: Scripts that make parts of a release, and which.
PARTS = {"wheel.py": "The wheel", "store_blend.py": "The stored .blend"}
_HEADING = "## {} — {}"
_UNRELEASED = "unreleased"


# --------------------------------------------------------------------------- is the tree ready


def version_of(manifest: str) -> str:
    found = re.search(r'^version = "([^"]*)"', manifest, re.MULTILINE)
    return found[1] if found else ""


def problems(
    version: str, changelog: str, addresses: dict[str, str], tags: Iterable[str], changed: list[str]
) -> list[str]:
    """What stops a release, each in a sentence that says what to do.

    tags: of the repository. changed: files that git does not have as they are.
    """
    found = [*_version_problems(version, tags), *_changelog_problems(version, changelog)]
    for name, address in addresses.items():
        if build.is_placeholder(address):
            found.append(f"{name} is a placeholder; fill it in [tool.usdphys.addresses] of pyproject.toml.")
    if changed:
        found.append(f"The tree has changes that are not committed, such as {changed[0]}; commit them first.")
    return found


def _version_problems(version: str, tags: Iterable[str]) -> list[str]:
    try:
        this = order(version)
    except ValueError as error:
        return [f"blender_manifest.toml: {error}."]
    if re.search(r"-dev\b", version):
        return [f"'{version}' is of a tree between releases; set the one to release in blender_manifest.toml."]
    released = {}
    for tag in tags:
        try:
            released[order(tag.removeprefix("v"))] = tag
        except ValueError:
            continue  # a tag of something else
    last = max(released, default=None)
    if last is not None and last >= this:
        return [f"'{version}' is not higher than the tag {released[last]}; set a higher one in blender_manifest.toml."]
    return []


def _changelog_problems(version: str, changelog: str) -> list[str]:
    found = re.search(rf"^## {re.escape(version)} — (.+)$", changelog, re.MULTILINE)
    wanted = f"give it the line '{_HEADING.format(version, 'YEAR-MONTH-DAY')}'"
    if found is None:
        return [f"CHANGELOG.md does not have {version}; {wanted}."]
    try:
        datetime.date.fromisoformat(found[1].strip())
    except ValueError:
        return [f"CHANGELOG.md has no date for {version} but '{found[1].strip()}'; {wanted}."]
    return []


def git(*arguments: str) -> list[str]:
    """The lines that git prints."""
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"git {arguments[0]} failed; a release is made in a clone of the repository: {done.stderr.strip()}")
    return done.stdout.splitlines()


# --------------------------------------------------------------------------- the extension repository


def make_repository(folder: Path) -> None:
    """index.json and index.html for the zips in a folder, by Blender's packager; the same bytes for the same zips."""
    build.package("server-generate", "--repo-dir", str(folder), "--html", "--html-template", str(PAGE), tags=False)
    index = folder / "index.json"
    # The packager goes by the order in which the disk lists the files.
    listed = json.loads(index.read_text(encoding="utf-8"))
    listed["data"].sort(key=lambda entry: entry["archive_url"])
    index.write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    page = folder / "index.html"
    text = page.read_text(encoding="utf-8")
    rows = re.findall(r"  <tr>\n    <td>.*?  </tr>\n", text, re.DOTALL)
    page.write_text(text.replace("".join(rows), "".join(sorted(rows))), encoding="utf-8")
    zips = len(list(folder.glob("*.zip")))
    if len(listed["data"]) != zips:
        sys.exit(f"Blender's packager lists {len(listed['data'])} of {zips} zips in {folder}.")
    if shared := overlapping(listed["data"]):
        sys.exit(f"{shared[0]} and {shared[1]} fit the same platform: Blender would take the first, whichever that is.")


def overlapping(entries: list[dict[str, Any]]) -> tuple[str, str] | None:
    """Two packages of one extension that one platform could take, as the names of their files."""
    takes: dict[Any, dict[str, str]] = {}
    for entry in entries:
        own = takes.setdefault(entry.get("id"), {})
        # A package that names no platforms fits all.
        for platform in entry.get("platforms") or [*own, "*"]:
            other = own.get(platform) or own.get("*")
            if other is not None:
                return other, entry["archive_url"]
            own[platform] = entry["archive_url"]
    return None


# --------------------------------------------------------------------------- the other parts


def make_site(folder: Path, version: str) -> None:
    """The manual as web pages, built from nothing."""
    built = ROOT / "build" / "site"
    shutil.rmtree(built, ignore_errors=True)
    known = {name: value for name, value in build.addresses().items() if not build.is_placeholder(value)}
    footer = f"USD Physics {version}"
    if "tracker" in known:
        footer += f' · <a href="{known["tracker"]}">Report a bug</a>'
    if "contact" in known:
        footer += f" · {known['contact']}"
    told = {"USDPHYS_WEBSITE": known.get("website", ""), "USDPHYS_FOOTER": footer}
    command = [sys.executable, str(ROOT / "scripts" / "suite.py"), "docs"]
    done = subprocess.run(command, env=os.environ | told, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not (built / "index.html").exists():
        sys.exit(f"{done.stdout}{done.stderr}\nThe manual could not be built.")
    shutil.copytree(built, folder, dirs_exist_ok=True)


def script(name: str) -> Any:
    """A script of this folder as a module; None where the tree has none of the name."""
    path = ROOT / "scripts" / f"{name}.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location(f"usdphys_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_wheel(folder: Path) -> None:
    if wheel := script("wheel"):
        wheel.build_wheel(folder)


def store_scene() -> None:
    """Write the .blend by which later versions see that they still read this one. It goes to tests/stored."""
    # The oldest Blender: its files open in all others.
    command = [venvs.make(venvs.BPY_GROUPS[0]), "scripts/store_blend.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}\nThe .blend of the release could not be stored.")


def write_sums(folder: Path) -> None:
    """SHA-256 of all files below, in the form that `sha256sum -c` reads."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    (folder / SUMS).write_text("".join(f"{value}  {name}\n" for name, value in sums.items()), encoding="utf-8")


# --------------------------------------------------------------------------- the whole


def make(folder: Path, version: str) -> None:
    """Everything that is published, in an empty folder."""
    repository = folder / "website" / "repository"
    step("zips", lambda: (build.build(repository), build.build_engines(repository)))
    step("extension repository", lambda: make_repository(repository))
    step("manual", lambda: make_site(folder / "website", version))
    step("wheel", lambda: make_wheel(folder))
    step("checksums", lambda: write_sums(folder))


def step(name: str, work: Callable[[], object]) -> None:
    print(f"== {name}", flush=True)
    work()


def release(out: Path, *, dry: bool) -> int:
    version = version_of(MANIFEST.read_text(encoding="utf-8"))
    changed = [line[3:] for line in git("status", "--porcelain")]
    found = problems(version, CHANGELOG.read_text(encoding="utf-8"), build.addresses(), git("tag"), changed)
    found += [f"{name} is not made: this tree has no scripts/{file}." for file, name in PARTS.items()
              if not Path(ROOT, "scripts", file).exists()]  # fmt: skip
    if found and not dry:
        sys.exit("Not ready for a release:\n" + "".join(f"- {text}\n" for text in found))
    target = out / (f"dry-{version}" if dry else version)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=out) as work:
        folder = Path(work, "made")
        folder.mkdir()
        make(folder, version)
        if not dry:
            step("stored .blend", store_scene)
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)
    for path in sorted(target.rglob("*")):
        if path.is_file() and path.suffix in (".zip", ".whl", ".json"):
            print(f"{path.relative_to(target)}  {path.stat().st_size / 1024:,.0f} KiB")
    print(f"{target} has {sum(path.is_file() for path in target.rglob('*'))} files; {SUMS} lists them.")
    print(_after(version) if not dry else _refusals(found), flush=True)
    return 0


def _refusals(found: list[str]) -> str:
    if not found:
        return "A dry run. Nothing would stop a release."
    return "A dry run. A release would be refused:\n" + "".join(f"- {text}\n" for text in found).rstrip()


def _after(version: str) -> str:
    return (
        "Next, by hand (docs/releasing.md):\n"
        f"- commit tests/stored, then: git tag -a v{version} -m 'USD Physics {version}'\n"
        "- publish the folder, and push the tag\n"
        f"- make next VERSION={next_of(version)}, and commit that"
    )


def next_of(version: str) -> str:
    """The version of the tree after a release: the next minor one, in development."""
    (major, minor, _), *_ = order(version)
    return f"{major}.{minor + 1}.0-dev"


# --------------------------------------------------------------------------- after a release


def open_next(version: str) -> int:
    """Set the version of the tree, and begin its part of the changelog."""
    manifest, changelog = MANIFEST.read_text(encoding="utf-8"), CHANGELOG.read_text(encoding="utf-8")
    now = version_of(manifest)
    try:
        if order(version) <= order(now):
            sys.exit(f"'{version}' is not higher than {now}, which the tree has.")
    except ValueError as error:
        sys.exit(f"{error}.")
    heading = _HEADING.format(version.partition("-")[0], _UNRELEASED)
    if heading not in changelog.splitlines():
        changelog = changelog.replace("\n## ", f"\n{heading}\n\n## ", 1)
    CHANGELOG.write_text(changelog, encoding="utf-8")
    MANIFEST.write_text(manifest.replace(f'version = "{now}"', f'version = "{version}"', 1), encoding="utf-8")
    print(f"The tree is {version}; CHANGELOG.md has '{heading}'. Commit both.")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true", help="make it of any tree, and say what would be refused")
    parser.add_argument("--next", metavar="VERSION", help="open this version, such as 0.2.0-dev")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "release", help="folder for the releases")
    options = parser.parse_args(arguments)
    if options.next:
        return open_next(options.next)
    try:
        return release(options.out.resolve(), dry=options.dry)
    except venvs.EnvError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.exit(main())
