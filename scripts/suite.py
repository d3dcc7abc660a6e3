"""Run test suites, each in the environments that it belongs to, and sum the JUnit files that they leave in build/junit.

`suite.py [-j N] SUITE...` with check, core, blender, package, ui, docs, site; quick: the fast tests of core and, in one
Blender, of blender; stranger: every suite as it is for who has no files of others. Up to N runs, by default as many as
there are processors, go on side by side, and one more beside the window tests, which often wait; each is a process of
its own, whose output is printed whole when it ends, and kept in build/log. `suite.py report STATUS` prints the sum of
all that ran, and counts one failure when STATUS is not 0 but no report says why.
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
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import venvs

ROOT = venvs.ROOT
JUNIT = ROOT / "build" / "junit"
LOGS = ROOT / "build" / "log"
#: A run hangs when so many looks at its log, so many seconds apart, find nothing new: pytest writes a mark there when a
#: test ends. So neither a busy machine nor more tests end a run. The longest test takes two minutes on a slow machine.
LOOK, SILENT_LOOKS = 10.0, 150
#: As many tests may skip for want of files of others.
MOST_SKIPPED = 20
#: Names of Chromium, in which the pages of the manual are opened.
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

_printing, _environments = threading.Lock(), threading.Lock()
_running: set[subprocess.Popen[bytes]] = set()


class Run(NamedTuple):
    """name: of its report and its log. work: does it, and leaves both. order: long runs start first. after: how the
    names of runs begin whose results it uses, so that it begins when these have ended. waits: it leaves a third of a
    processor idle, so one more run goes on beside it.
    """

    name: str
    work: Callable[[], None]
    order: int
    after: str = ""
    waits: bool = False


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


def call(
    name: str, command: list[str | Path], cwd: Path = ROOT, variables: Mapping[str, str] | None = None
) -> int:  # fmt: skip
    """Run a command, its output in the log. Returns its status.

    variables: its environment, by default that of this process. Raises TimeoutExpired when nothing has come into the
    log for long; then nothing of the command is left.
    """
    with log_of(name).open("ab") as log:
        # A session of its own: a hung run is ended with all processes that it has started.
        process = subprocess.Popen(
            list(map(str, command)), cwd=cwd, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True, env=variables,
        )  # fmt: skip
        _running.add(process)
        try:
            return wait(process, log_of(name))
        finally:
            end(process)


def wait(process: subprocess.Popen[bytes], log: Path) -> int:
    """The status of a process when it has ended. Raises TimeoutExpired when it is silent for too many looks."""
    size, silent = -1, 0
    while True:
        try:
            return process.wait(LOOK)
        except subprocess.TimeoutExpired:
            before, size = size, log.stat().st_size
            silent = silent + 1 if size == before else 0
            if silent >= SILENT_LOOKS:
                raise


def keep_compiled() -> None:
    """Have every Python compile a file once for all processes to come, in a folder apart from the tree.

    Some machines tell Python to keep nothing: then each short process compiles all that it imports, and pytest rewrites
    the same tests in every run.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(ROOT / "build" / "pycache")


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


def pytest(
    name: str, group: str, folder: str, chosen: str = "", variables: Mapping[str, str] | None = None
) -> None:  # fmt: skip
    """One pytest process; its own report is kept only when the process ended in an orderly way.

    chosen: an expression of markers. Where none of the tests has them, it counts that all can be collected.
    """
    report = report_of(name)
    try:
        environment("usd")  # tests in every group ask the judges that run there
        python = environment(group)
    except venvs.EnvError as error:
        return record(name, "failure", str(error))
    # A file that cannot be imported fails, and hides nothing of the others.
    command: list[str | Path] = [python, "-m", "pytest", folder, "--continue-on-collection-errors"]
    try:
        status = call(name, [*command, "-m", chosen, f"--junitxml={report}"], variables=variables)
        if status == 5 and chosen and call(name, [*command, "--collect-only", "-qq"], variables=variables) == 0:
            return record(name, "passed")
    except subprocess.TimeoutExpired:
        return record(name, "failure", f"was ended: no test has ended in {LOOK * SILENT_LOOKS / 60:.0f} minutes")
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
    with_bpy = [venvs.python_in(venvs.folder(group)) for group in venvs.runnable_bpy()]
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
    yield Run("core-simulation", lambda: pytest("core-simulation", "usd", "tests/simulation"), -1)
    yield Run("core", lambda: pytest("core", "usd", "tests/core"), 2)
    yield Run("core-wheel", lambda: pytest("core-wheel", "usd", "tests/wheel"), 2)


def on_every_bpy(suite: str, order: int) -> Iterator[Run]:
    """A suite in each Blender; a slow test, and each of many cases of one, in one of them, as three times they take too
    long. With EVERY_TEST all run in all."""
    groups = venvs.runnable_bpy()
    for group in venvs.BPY_GROUPS:
        name = f"{suite}-{group}"
        if group in groups:
            variables = {**os.environ, "SLOW_SHARE": f"{groups.index(group)}/{len(groups)}"}
            work = partial(pytest, name, group, f"tests/{suite}", variables=variables)
            yield Run(name, work, order)
        else:
            reason = f"no Python {venvs.PYTHON_OF[group]} on this machine"
            yield Run(name, lambda name=name, reason=reason: record(name, "skipped", reason), order)


def quick() -> Iterator[Run]:
    """Who changed a rule, a panel or a page: without the tests that are marked slow."""
    yield Run("quick-core", lambda: pytest("quick-core", "usd", "tests/core", "not slow"), 1)
    yield Run("quick-blender", run_quick_blender, 0)


def run_quick_blender() -> None:
    """In the Blender of `.venv`, else in the last one that runs here."""
    group = (ROOT / ".venv").resolve().name
    if group not in venvs.runnable_bpy():
        group = ["", *venvs.runnable_bpy()][-1]
    if not group:
        return record("quick-blender", "skipped", "no Python on this machine runs Blender as a module")
    return pytest("quick-blender", group, "tests/blender", "not slow")


def stranger() -> Iterator[Run]:
    """Every suite is collected, and what uses files of others runs with the twins, as nobody has these files or CI.

    In one Blender: the files are tried, not the Blenders.
    """
    variables = {**os.environ, "SHARED_DIR": str(ROOT / "build" / "nowhere")}
    variables.pop("CI", None)
    folders = [("usd", name) for name in ("simulation", "ui", "core")]
    folders += [(group, name) for group in venvs.runnable_bpy()[-1:] for name in ("package", "blender")]
    for group, folder in folders:
        name = f"stranger-{folder}" if group == "usd" else f"stranger-{folder}-{group}"
        yield Run(name, lambda name=name, group=group, folder=folder: pytest(
            name, group, f"tests/{folder}", "shared", variables), int(folder != "blender"))  # fmt: skip
    yield Run("stranger-skipped", count_skipped, 3, "stranger-")


def count_skipped() -> None:
    """Most tests have a twin."""
    reports = [path for path in JUNIT.glob("stranger-*.xml") if path.stem != "stranger-skipped"]
    skipped = sum(count(path)["skipped"] for path in reports)
    outcome = "failure" if skipped > MOST_SKIPPED else "passed"
    record("stranger-skipped", outcome, f"{skipped} tests skip without files of others, more than {MOST_SKIPPED}")


def ui() -> Iterator[Run]:
    yield Run("ui", run_ui, -1, waits=True)


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
    yield Run("docs", run_docs, -1, "ui")


def run_docs() -> None:
    """The manual, with the pictures of the last window tests; a link that leads nowhere fails."""
    try:
        python = environment("docs")
    except venvs.EnvError as error:
        return record("docs", "failure", str(error))
    site = ROOT / "build" / "site"
    status = call("docs", [python, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site])
    cutter = ROOT / "scripts" / "pictures.py"
    status = status or call("docs", [python, cutter, "cut", ROOT / "build" / "ui", site / "pictures"])
    with log_of("docs").open("a", encoding="utf-8") as log:
        log.write("build/site/index.html\n")
    return record("docs", "failure" if status else "passed", f"ended with status {status}")


def site() -> Iterator[Run]:
    yield Run("site", run_site, -1, "docs")


def run_site() -> None:
    """The pages of the manual in a browser. Skipped where there is none and none can be installed; fails with CI."""
    if not any(map(shutil.which, BROWSERS)):
        done = subprocess.run(
            ["sh", str(ROOT / "scripts" / "sysdeps.sh"), "chromium"], capture_output=True, text=True, check=False
        )
        if not any(map(shutil.which, BROWSERS)):
            said = (done.stderr.strip().splitlines() or ["install it yourself"])[-1]
            return record("site", "failure" if os.environ.get("CI") else "skipped", f"there is no Chromium: {said}")
    try:
        environment("docs")  # the pages are built anew where only this suite runs
    except venvs.EnvError as error:
        return record("site", "failure", str(error))
    return pytest("site", "site", "tests/site")


SUITES: dict[str, Callable[[], Iterator[Run]]] = {
    "check": check,
    "core": core,
    "blender": lambda: on_every_bpy("blender", 0),
    "package": lambda: on_every_bpy("package", 3),
    "ui": ui,
    "docs": docs,
    "site": site,
    "quick": quick,
    "stranger": stranger,
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
    """So many runs at a time, each after those that it names."""
    waiting = sorted(runs, key=lambda run: run.order)
    running: dict[Future[None], Run] = {}
    with ThreadPoolExecutor(number + 1) as threads:
        try:
            while waiting or running:
                for run in list(waiting):
                    others = [other.name for other in (*waiting, *running.values()) if other is not run]
                    is_early = run.after and any(name.startswith(run.after) for name in others)
                    has_more = number > 1 and any(other.waits for other in running.values())
                    if len(running) < number + has_more and not is_early:
                        waiting.remove(run)
                        running[threads.submit(carry_out, run)] = run
                for done in futures.wait(running, return_when=futures.FIRST_COMPLETED).done:
                    del running[done]
                    done.result()
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
        print(f"{path.stem:30}{words(outcomes)}")
    if not total or (status and not total["failed"]):
        total["failed"] += 1
    print(words(total), flush=True)
    return 1 if total["failed"] else 0


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["report"]:
        return report(list(JUNIT.glob("*.xml")), *map(int, arguments[1:]))
    keep_compiled()
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
    if os.environ.get("TURN"):
        say(f"== TURN={os.environ['TURN']} of the slow tests; without it, or with EVERY_TEST=1, all run")
    start = time.monotonic()
    side_by_side(runs, number)
    print(f"== all took {time.monotonic() - start:.0f} s, {number} side by side", flush=True)
    return report([report_of(run.name) for run in runs])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
