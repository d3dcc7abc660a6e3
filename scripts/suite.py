"""Run test suites, each in the environments that it belongs to, and sum the JUnit files that they leave in build/junit.

`suite.py [-j N] SUITE...` with check, core, blender, package, ui, docs. Up to N runs, by default as many as there are
processors, go on side by side; each is a process of its own, whose output is printed whole when it ends, and kept in
build/log. `suite.py report STATUS` prints the sum of all that ran, and counts one failure when STATUS is not 0 but no
report says why.
A run that crashes, hangs, or collects nothing counts as one failure.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import venvs

ROOT = venvs.ROOT
JUNIT = ROOT / "build" / "junit"
LOGS = ROOT / "build" / "log"
#: Seconds after which a run hangs: several times what it takes on two slow processors.
SECONDS = 1500
#: The order of runs that use what others leave.
LAST = 9

_printing, _environments = threading.Lock(), threading.Lock()
_running: set[subprocess.Popen[bytes]] = set()


class Run(NamedTuple):
    """name: of its report and its log. work: does it, and leaves both. order: long runs start first."""

    name: str
    work: Callable[[], None]
    order: int


# --------------------------------------------------------------------------- processes and their reports


def record(name: str, outcome: str, message: str = "") -> None:
    """Write a JUnit file of one case; outcome is passed, failure or skipped."""
    if outcome != "passed":
        with log_of(name).open("a", encoding="utf-8") as log:
            log.write(f"{name}: {outcome}: {message}\n")
    suite = ET.Element("testsuite", name=name)
    case = ET.SubElement(suite, "testcase", classname=name, name=name)
    if outcome != "passed":
        ET.SubElement(case, outcome, message=message)
    ET.ElementTree(suite).write(report_of(name), encoding="utf-8")


def report_of(name: str) -> Path:
    return JUNIT / f"{name}.xml"


def log_of(name: str) -> Path:
    return LOGS / f"{name}.log"


def count(path: Path) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for case in ET.parse(path).iter("testcase"):
        tags = {child.tag for child in case}
        outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        outcomes[outcome] += 1
    return outcomes


def words(outcomes: Counter[str]) -> str:
    return ", ".join(f"{outcomes[key]} {key}" for key in ("passed", "failed", "skipped"))


def call(name: str, command: list[str | Path], cwd: Path = ROOT) -> int:
    """Run a command, its output in the log. Returns its status. Raises TimeoutExpired; then nothing of it is left."""
    with log_of(name).open("ab") as log:
        # A session of its own: a hung run is ended with all processes that it has started.
        process = subprocess.Popen(
            list(map(str, command)), cwd=cwd, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        _running.add(process)
        try:
            return process.wait(SECONDS)
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    _running.discard(process)


def environment(group: str) -> Path:
    """The Python of a group's environment; one is made after the other."""
    with _environments:
        return venvs.make(group)


def pytest(name: str, group: str, folder: str) -> None:
    """One pytest process; its own report is kept only when the process ended in an orderly way."""
    report = report_of(name)
    try:
        environment("usd")  # tests in every group ask the judges that run there
        python = environment(group)
    except venvs.EnvError as error:
        return record(name, "failure", str(error))
    try:
        status = call(name, [python, "-m", "pytest", folder, f"--junitxml={report}"])
    except subprocess.TimeoutExpired:
        return record(name, "failure", f"did not end within {SECONDS} s")
    if status not in (0, 1):
        return record(name, "failure", "collected no test" if status == 5 else f"ended with status {status}")
    outcomes = count(report) if report.exists() else Counter()
    if not outcomes or (status == 1 and not outcomes["failed"]):
        return record(name, "failure", f"ended with status {status} and left no such report")
    return None


# --------------------------------------------------------------------------- suites


def check() -> Iterator[Run]:
    try:
        tools = environment("check").parent
    except venvs.EnvError as error:
        reason = str(error)
        yield Run("check", lambda: record("check", "failure", reason), 0)
        return
    # The name of the checkout's folder may be no Python name: give mypy the package under the name that tests use.
    package = ROOT / "build" / "types" / "usdphys_ext"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for part in [*ROOT.glob("*.py"), *(ROOT / name for name in ("usdphys_addon", "operators", "panels"))]:
        (package / part.name).symlink_to(part)
    yield tool("mypy", [tools / "mypy", "--config-file", ROOT / "pyproject.toml", "-p", package.name], package.parent)
    yield tool("ruff", [tools / "ruff", "check", "."])
    yield tool("format", [tools / "ruff", "format", "--check", "."])
    # Fails for nothing that it lists. Labels are read from bpy, if an environment with it is there.
    with_bpy = [venvs.folder(group) / "bin" / "python" for group in venvs.runnable_bpy()]
    python = next((path for path in reversed(with_bpy) if path.exists()), sys.executable)
    yield tool("untranslated", [python, ROOT / "scripts" / "untranslated.py"])


def tool(name: str, command: list[str | Path], cwd: Path = ROOT) -> Run:
    def work() -> None:
        try:
            status = call(name, command, cwd)
        except subprocess.TimeoutExpired:
            status = -1
        record(name, "failure" if status else "passed", f"ended with status {status}")

    return Run(name, work, 0)


def core() -> Iterator[Run]:
    yield Run("core-simulation", lambda: pytest("core-simulation", "usd", "tests/simulation"), 2)
    yield Run("core", lambda: pytest("core", "usd", "tests/core"), 2)


def on_every_bpy(suite: str, order: int) -> Iterator[Run]:
    for group in venvs.BPY_GROUPS:
        name = f"{suite}-{group}"
        if venvs.python_for(group):
            yield Run(name, lambda name=name, group=group: pytest(name, group, f"tests/{suite}"), order)
        else:
            reason = f"no Python {venvs.PYTHON_OF[group]} on this machine"
            yield Run(name, lambda name=name, reason=reason: record(name, "skipped", reason), order)


def ui() -> Iterator[Run]:
    yield Run("ui", run_ui, 1)


def run_ui() -> None:
    """Skipped where the Debian tree cannot be made; once it is there, every failure counts."""
    made = subprocess.run(["bash", str(ROOT / "scripts" / "ui_tree.sh")], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        reason = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
        return record("ui", "skipped", f"the tree with a real Blender cannot be made here: {reason}")
    try:
        environment(venvs.runnable_bpy()[-1])  # for Blender's packager
    except (IndexError, venvs.EnvError) as error:
        return record("ui", "failure", f"no bpy to build the zip with: {error}")
    return pytest("ui", "usd", "tests/ui")


def docs() -> Iterator[Run]:
    yield Run("docs", run_docs, LAST)


def run_docs() -> None:
    """The manual, with the pictures of the last window tests; a link that leads nowhere fails."""
    try:
        python = environment("docs")
    except venvs.EnvError as error:
        return record("docs", "failure", str(error))
    status = call("docs", [python, "-m", "mkdocs", "build", "--strict", "--quiet"])
    for picture in (ROOT / "build" / "site" / "pictures").glob("*.png"):
        taken = ROOT / "build" / "ui" / picture.name
        if taken.exists():
            shutil.copyfile(taken, picture)
    with log_of("docs").open("a", encoding="utf-8") as log:
        log.write("build/site/index.html\n")
    return record("docs", "failure" if status else "passed", f"ended with status {status}")


SUITES: dict[str, Callable[[], Iterator[Run]]] = {
    "check": check,
    "core": core,
    "blender": lambda: on_every_bpy("blender", 0),
    "package": lambda: on_every_bpy("package", 3),
    "ui": ui,
    "docs": docs,
}


# --------------------------------------------------------------------------- side by side


def carry_out(run: Run) -> None:
    """Do a run and print its output, which no other run interrupts."""
    start = time.monotonic()
    say(f"== {run.name} begins")
    try:
        run.work()
    except Exception as error:  # of this script; the other runs go on
        record(run.name, "failure", f"{type(error).__name__}: {error}")
    log = log_of(run.name).read_text(encoding="utf-8", errors="replace") if log_of(run.name).exists() else ""
    say(f"== {run.name}\n{log.rstrip()}\n== {run.name} took {time.monotonic() - start:.0f} s: "
        f"{words(count(report_of(run.name)))}")  # fmt: skip


def say(text: str) -> None:
    with _printing:
        print(text, flush=True)


def side_by_side(runs: list[Run], number: int) -> None:
    """So many runs at a time; those of order LAST when all others have ended."""
    for some in ([run for run in runs if run.order != LAST], [run for run in runs if run.order == LAST]):
        with ThreadPoolExecutor(number) as threads:
            try:
                list(threads.map(carry_out, sorted(some, key=lambda run: run.order)))
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                for process in list(_running):
                    end(process)
                raise


def report(paths: list[Path], status: int = 0) -> int:
    total: Counter[str] = Counter()
    for path in sorted(paths):
        outcomes = count(path)
        total += outcomes
        print(f"{path.stem:24}{words(outcomes)}")
    if not total or (status and not total["failed"]):
        total["failed"] += 1
    print(words(total), flush=True)
    return 1 if total["failed"] else 0


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["report"]:
        return report(list(JUNIT.glob("*.xml")), *map(int, arguments[1:]))
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if arguments[:1] == ["-j"] and len(arguments) > 1 and arguments[1].isdecimal():
        number, arguments = int(arguments[1]), arguments[2:]
    if not arguments or not set(arguments) <= SUITES.keys() or number < 1:
        sys.exit(__doc__)
    names = {"check", "mypy", "ruff", "format", "untranslated", *arguments} if "check" in arguments else set(arguments)
    for folder in (JUNIT, LOGS):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if old.stem.split("-")[0] in names:
                old.unlink()
    runs = [run for name in dict.fromkeys(arguments) for run in SUITES[name]()]
    start = time.monotonic()
    side_by_side(runs, number)
    print(f"== all took {time.monotonic() - start:.0f} s, {number} side by side", flush=True)
    return report([report_of(run.name) for run in runs])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
