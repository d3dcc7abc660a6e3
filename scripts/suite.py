"""Run test suites, each in the environments that it belongs to, and sum the JUnit files that they leave in build/junit.

`suite.py SUITE...` with check, core, blender, package, ui, docs; `suite.py report STATUS` prints the sum of all that
ran, and counts one failure when STATUS is not 0 but no report says why.
A run that crashes, hangs, or collects nothing counts as one failure.
"""

import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import venvs

ROOT = venvs.ROOT
JUNIT = ROOT / "build" / "junit"
PYTEST_SECONDS = 1200


def record(name: str, outcome: str, message: str = "") -> None:
    """Write a JUnit file of one case; outcome is passed, failure or skipped."""
    if outcome != "passed":
        print(f"{name}: {outcome}: {message}", flush=True)
    suite = ET.Element("testsuite", name=name)
    case = ET.SubElement(suite, "testcase", classname=name, name=name)
    if outcome != "passed":
        ET.SubElement(case, outcome, message=message)
    ET.ElementTree(suite).write(JUNIT / f"{name}.xml", encoding="utf-8")


def count(path: Path) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for case in ET.parse(path).iter("testcase"):
        tags = {child.tag for child in case}
        outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        outcomes[outcome] += 1
    return outcomes


def pytest(name: str, group: str, folder: str) -> None:
    """One pytest process; its own report is kept only when the process ended in an orderly way."""
    report = JUNIT / f"{name}.xml"
    try:
        python = venvs.make(group)
    except venvs.EnvError as error:
        return record(name, "failure", str(error))
    print(f"== {name}", flush=True)
    command = [str(python), "-m", "pytest", folder, f"--junitxml={report}"]
    try:
        status = subprocess.run(command, cwd=ROOT, check=False, timeout=PYTEST_SECONDS).returncode
    except subprocess.TimeoutExpired:
        return record(name, "failure", f"did not end within {PYTEST_SECONDS} s")
    if status not in (0, 1):
        return record(name, "failure", "collected no test" if status == 5 else f"ended with status {status}")
    outcomes = count(report) if report.exists() else Counter()
    if not outcomes or (status == 1 and not outcomes["failed"]):
        return record(name, "failure", f"ended with status {status} and left no such report")
    return None


def check() -> None:
    try:
        tools = venvs.make("check").parent
    except venvs.EnvError as error:
        return record("check", "failure", str(error))
    # The name of the checkout's folder may be no Python name: give mypy the package under the name that tests use.
    package = ROOT / "build" / "types" / "usdphys_ext"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for part in [*ROOT.glob("*.py"), *(ROOT / name for name in ("usdphys_addon", "operators", "panels"))]:
        (package / part.name).symlink_to(part)
    commands = {
        "ruff": [tools / "ruff", "check", "."],
        "format": [tools / "ruff", "format", "--check", "."],
        "mypy": [tools / "mypy", "--config-file", ROOT / "pyproject.toml", "-p", package.name],
    }
    for name, command in commands.items():
        print(f"== {name}", flush=True)
        cwd = package.parent if name == "mypy" else ROOT
        status = subprocess.run(list(map(str, command)), cwd=cwd, check=False).returncode
        record(name, "failure" if status else "passed", f"ended with status {status}")
    return None


def core() -> None:
    pytest("core", "usd", "tests/core")
    pytest("core-simulation", "usd", "tests/simulation")


def on_every_bpy(suite: str) -> None:
    for group in venvs.BPY_GROUPS:
        if venvs.python_for(group):
            pytest(f"{suite}-{group}", group, f"tests/{suite}")
        else:
            record(f"{suite}-{group}", "skipped", f"no Python {venvs.PYTHON_OF[group]} on this machine")


def ui() -> None:
    """Skipped where the Debian tree cannot be made; once it is there, every failure counts."""
    made = subprocess.run(["bash", str(ROOT / "scripts" / "ui_tree.sh")], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        reason = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
        return record("ui", "skipped", f"the tree with a real Blender cannot be made here: {reason}")
    try:
        venvs.make(venvs.runnable_bpy()[-1])  # for Blender's packager
    except (IndexError, venvs.EnvError) as error:
        return record("ui", "failure", f"no bpy to build the zip with: {error}")
    return pytest("ui", "usd", "tests/ui")


def docs() -> None:
    """The manual, with the pictures of the last window tests; a link that leads nowhere fails."""
    try:
        python = venvs.make("docs")
    except venvs.EnvError as error:
        return record("docs", "failure", str(error))
    command = [str(python), "-m", "mkdocs", "build", "--strict", "--quiet"]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    for picture in (ROOT / "build" / "site" / "pictures").glob("*.png"):
        taken = ROOT / "build" / "ui" / picture.name
        if taken.exists():
            shutil.copyfile(taken, picture)
    print("build/site/index.html", flush=True)
    return record("docs", "failure" if status else "passed", f"ended with status {status}")


def report(paths: list[Path], status: int = 0) -> int:
    total: Counter[str] = Counter()
    for path in sorted(paths):
        outcomes = count(path)
        total += outcomes
        print(f"{path.stem:24}" + ", ".join(f"{outcomes[k]} {k}" for k in ("passed", "failed", "skipped")))
    if not total or (status and not total["failed"]):
        total["failed"] += 1
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped", flush=True)
    return 1 if total["failed"] else 0


def main(names: list[str]) -> int:
    suites = {
        "check": check,
        "core": core,
        "blender": lambda: on_every_bpy("blender"),
        "package": lambda: on_every_bpy("package"),
        "ui": ui,
        "docs": docs,
    }
    if names[:1] == ["report"]:
        return report(list(JUNIT.glob("*.xml")), *map(int, names[1:]))
    if not names or not set(names) <= suites.keys():
        sys.exit(__doc__)
    JUNIT.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name in names:
        for old in JUNIT.glob("*.xml"):
            if old.stem.split("-")[0] in ({"ruff", "format", "mypy", "check"} if name == "check" else {name}):
                old.unlink()
        before, start = set(JUNIT.glob("*.xml")), time.monotonic()
        suites[name]()
        written += set(JUNIT.glob("*.xml")) - before
        print(f"== {name} took {time.monotonic() - start:.0f} s", flush=True)
    return report(written)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
