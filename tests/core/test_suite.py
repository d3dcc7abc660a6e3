"""The runner of the suites: nothing that went wrong is lost, and what runs side by side is read one after the other."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
import shares

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def suite(monkeypatch, tmp_path):
    """scripts/suite.py, with reports and logs of its own, and this Python as every environment."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    spec = importlib.util.spec_from_file_location("suite", ROOT / "scripts" / "suite.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("JUNIT", "LOGS"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(module, name, tmp_path / name)
    monkeypatch.setattr(module, "environment", lambda group: Path(sys.executable))
    return module


def run_of(suite, tmp_path, text, name="run", chosen=""):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "test_it.py").write_text(text)
    return suite.Run(name, lambda: suite.pytest(name, "usd", str(folder), chosen), 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import os\ndef test_one(): pass\ndef test_two(): os._exit(7)\n", "ended with status 7"),
        ("import os\ndef test_one(): pass\ndef test_two(): os.abort()\n", "ended with status -6"),
        ("", "collected no test"),
        ("def test_one(): assert 0\n", ""),
    ],
    ids=["leaves", "crashes", "empty", "fails"],
)
def test_a_run_that_does_not_end_well_is_a_failure(suite, tmp_path, capfd, text, reason):
    run = run_of(suite, tmp_path, text)
    suite.side_by_side([run], 1)
    assert suite.count(suite.report_of("run"))["failed"] == 1
    assert reason in suite.report_of("run").read_text() and reason in capfd.readouterr().out


def test_a_run_that_is_silent_is_ended_with_all_that_it_started(suite, monkeypatch):
    """Its child writes into a pipe and stays. The pipe ends when nothing of the run is left."""
    read, write = os.pipe()
    looks = []

    class Silent(subprocess.Popen):
        def __init__(self, *args, **more):
            super().__init__(*args, **more, pass_fds=[write])

        def wait(self, timeout=None):
            if timeout is None:
                return super().wait()
            assert looks or os.read(read, 1) == b"x"
            looks.append(timeout)
            return super().wait(0)

    monkeypatch.setattr(suite.subprocess, "Popen", Silent)
    child = f"import os, threading; os.write({write}, b'x'); threading.Event().wait()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], pass_fds=[{write}])"
    with pytest.raises(subprocess.TimeoutExpired):
        suite.call("run", [sys.executable, "-c", parent])
    # The first look only sees how long the log is.
    assert looks == [suite.LOOK] * (suite.SILENT_LOOKS + 1)
    assert suite.LOOK * suite.SILENT_LOOKS >= 1200, "a slow machine may take minutes for one test"
    os.close(write)
    assert os.read(read, 1) == b""
    os.close(read)


def test_a_run_whose_tests_end_is_let_run_however_long_it_takes(suite, monkeypatch):
    """A mark comes into its log just before each limit, ten times; then it ends with its own status."""
    looks = []

    class Slow(subprocess.Popen):
        def wait(self, timeout=None):
            looks.append(timeout)
            if len(looks) > 10 * suite.SILENT_LOOKS:
                self.terminate()
                return super().wait()
            if len(looks) % suite.SILENT_LOOKS == 0:
                with suite.log_of("run").open("a") as log:
                    log.write(".")
            raise subprocess.TimeoutExpired("run", timeout)

    monkeypatch.setattr(suite.subprocess, "Popen", Slow)
    assert suite.call("run", [sys.executable, "-c", "import threading; threading.Event().wait()"]) == -signal.SIGTERM
    assert looks == [suite.LOOK] * len(looks)


def test_pytest_leaves_a_mark_in_the_log_when_a_test_ends(suite, tmp_path):
    """Not when its file ends, or the output is long enough: the second test reads the mark of the first."""
    reading = f"assert 'test_it.py .' in open({str(suite.log_of('run'))!r}).read()"
    text = f"def test_one(): pass\ndef test_two(): {reading}\n"
    suite.side_by_side([run_of(suite, tmp_path, text)], 1)
    assert suite.count(suite.report_of("run")) == {"passed": 2}


def test_beside_a_run_that_waits_one_more_goes_on(suite):
    """Each of three waits for the other two."""
    together = threading.Barrier(3)

    def work(name: str) -> None:
        together.wait(120)
        suite.record(name, "passed")

    runs = [suite.Run(name, partial(work, name), 0, waits=name == "one") for name in ("one", "two", "three")]
    suite.side_by_side(runs, 2)
    assert [suite.count(suite.report_of(run.name)) for run in runs] == [{"passed": 1}] * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("import pytest\n@pytest.mark.one\ndef test_one(): assert 0\ndef test_two(): pass\n", "failed"),
        ("import pytest\n@pytest.mark.one\ndef test_one(): pass\ndef test_two(): assert 0\n", "passed"),
        ("def test_two(): assert 0\n", "passed"),
        ("import nothing\n", "failed"),
        ("", "failed"),
    ],
    ids=["fails", "passes", "none chosen", "not collected", "empty"],
)
def test_where_no_test_is_chosen_all_have_to_be_collected(suite, tmp_path, text, outcome):
    run = run_of(suite, tmp_path, text, chosen="one")
    suite.side_by_side([run], 1)
    assert suite.count(suite.report_of("run")) == {outcome: 1}


@pytest.mark.parametrize(("link", "group"), [("bpy-4.5.15", "bpy-4.5.15"), ("", "bpy-5.0.1")])
def test_the_fast_tests_run_in_the_chosen_blender_or_in_the_newest(suite, monkeypatch, tmp_path, link, group):
    asked = []
    monkeypatch.setattr(suite, "ROOT", tmp_path)
    monkeypatch.setattr(suite.venvs, "runnable_bpy", lambda: ["bpy-4.5.15", "bpy-5.0.1"])
    monkeypatch.setattr(suite, "pytest", lambda *arguments: asked.append(arguments[1]))
    if link:
        (tmp_path / ".venvs" / link).mkdir(parents=True)
        (tmp_path / ".venv").symlink_to(Path(".venvs", link))
    suite.run_quick_blender()
    assert asked == [group]


def test_a_stranger_has_neither_files_of_others_nor_ci(suite, monkeypatch):
    """In every suite, on the last bpy; more skipped tests than agreed are a failure."""
    monkeypatch.setenv("CI", "true")
    asked = []
    monkeypatch.setattr(suite, "pytest", lambda *arguments: asked.append(arguments))
    *runs, last = suite.stranger()
    for run in runs:
        run.work()
    for name, _group, _folder, chosen, variables in asked:
        assert chosen == "shared" and "CI" not in variables and not Path(variables["SHARED_DIR"]).exists()
        assert name.startswith("stranger-")
    blenders = suite.venvs.runnable_bpy()[-1:]
    folders = [("usd", f"tests/{name}") for name in ("simulation", "ui", "core")]
    folders += [(group, f"tests/{name}") for group in blenders for name in ("package", "blender")]
    assert [(group, folder) for _, group, folder, *_ in asked] == folders
    for number, outcome in ((suite.MOST_SKIPPED, "passed"), (suite.MOST_SKIPPED + 1, "failed")):
        cases = "<testcase><skipped/></testcase>" * number
        suite.report_of("stranger-core").write_text(f"<testsuite>{cases}</testsuite>")
        last.work()
        assert suite.count(suite.report_of(last.name)) == {outcome: 1}


@pytest.mark.slow
def test_output_of_runs_side_by_side_is_not_mixed(suite, tmp_path, capfd):
    text = "def test_one():\n    for line in range(200): print('{0}')\n    assert 0\n"
    runs = [run_of(suite, tmp_path, text.format(name), name) for name in ("first", "second", "third")]
    suite.side_by_side(runs, 3)
    lines = re.findall(r"^(first|second|third)$", capfd.readouterr().out, re.MULTILINE)
    assert len(lines) == 600
    assert [name for name, before in zip(lines, ["", *lines], strict=False) if name != before] == list(
        dict.fromkeys(lines)
    )


def test_what_uses_the_results_of_others_runs_after_them(suite):
    done = []

    def run(name, order, after=""):
        def work():
            done.append(name)
            suite.record(name, "passed")

        return suite.Run(name, work, order, after)

    runs = [run("site", -1, "docs"), run("docs", -1, "ui"), run("ui-window", 0), run("blender", 1)]
    for number in (1, 2, 4):
        done.clear()
        suite.side_by_side(runs, number)
        order = [name for name in done if name != "blender"]
        assert order == ["ui-window", "docs", "site"] and len(done) == 4
    done.clear()
    suite.side_by_side(runs, 1)
    assert done == ["ui-window", "docs", "site", "blender"]
    # What is not among the runs has ended before.
    done.clear()
    suite.side_by_side(runs[:1], 1)
    assert done == ["site"]


def test_a_run_that_raises_is_counted_and_the_others_go_on(suite):
    def fail():
        raise OSError("no room")

    done = []

    def work():
        done.append("other")
        suite.record("other", "passed")

    suite.side_by_side([suite.Run("first", fail, 0), suite.Run("other", work, 1, "first")], 2)
    assert done == ["other"] and suite.count(suite.report_of("first"))["failed"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(("ci", "outcome"), [("", "1 passed, 2 skipped"), ("true", "3 errors")])
def test_missing_files_of_others_are_a_failure_where_nobody_looks(tmp_path, ci, outcome):
    """Elsewhere twins stand for them. A missing environment with usd-core is a failure, too."""
    missing = str(tmp_path / "missing")
    environment = {**os.environ, "CI": ci, "SHARED_DIR": missing, "USDPHYS_USD_PYTHON": missing,
                   "PYTHONPATH": str(ROOT / "tests")}  # fmt: skip
    (tmp_path / "test_it.py").write_text(
        "def test_one(shared): assert list(shared.glob('devset/usd/*.usda'))\n"
        "def test_two(files_of_others): pass\ndef test_three(usd_python): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "tests" / "pytest.ini", "-p", "conftest", tmp_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert outcome in done.stdout.splitlines()[-1], done.stdout + done.stderr


def test_what_is_compiled_is_kept_apart_from_the_tree_for_all_processes_of_a_run(suite, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "")
    suite.keep_compiled()
    code = "import sys; print(sys.dont_write_bytecode, sys.pycache_prefix)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", str(suite.ROOT / "build" / "pycache")]


def runs_of(kind: shares.Kind, start: int, blenders: int) -> list[int]:
    """In how many of three turns of so many Blenders each case of a test runs."""
    parts = [(shares.Part(blender, blenders), shares.Part(turn, 3)) for blender in range(blenders) for turn in range(3)]
    return [sum(shares.runs(start + case, kind, *both) for both in parts) for case in range(kind.cases)]


@pytest.mark.parametrize("start", [0, 7, 2**31 + 5])
@pytest.mark.parametrize("cases", [1, 2, 3, 20])
@pytest.mark.parametrize("blenders", [1, 2, 3])
def test_three_turns_take_a_slow_case_once_and_a_fast_one_always_in_outer_blenders(start, cases, blenders):
    slow, slow_for_some = shares.Kind(True, False, cases), shares.Kind(True, True, cases)
    assert runs_of(slow, start, blenders) == [1] * cases
    assert runs_of(slow_for_some, start, blenders) == [blenders] * cases
    between = max(blenders - 2, 0)
    fast = 3 * (blenders - between) + between if cases <= shares.FEW else 3
    assert runs_of(shares.Kind(False, False, cases), start, blenders) == [fast] * cases
    assert runs_of(shares.Kind(False, True, cases), start, blenders) == [3 * blenders] * cases


def test_all_is_one_part_without_a_variable_and_where_every_test_is_asked_for(monkeypatch):
    monkeypatch.delenv("EVERY_TEST", raising=False)
    assert (shares.Part.read(None), shares.Part.read(""), shares.Part.read("2/3")) == ((0, 1), (0, 1), (2, 3))
    monkeypatch.setenv("EVERY_TEST", "1")
    assert shares.Part.read("2/3") == (0, 1)


@pytest.mark.slow
def test_a_run_takes_its_turn_of_the_slow_tests_of_a_file():
    """Of this one: the five cases of a slow test, each in one of three runs."""
    command = [sys.executable, "-m", "pytest", __file__, "--collect-only", "-q", "-p", "no:cacheprovider"]
    environ = {key: value for key, value in os.environ.items() if key not in ("SLOW_SHARE", "EVERY_TEST")}
    lines = []
    for turn in range(3):
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**environ, "TURN": f"{turn}/3"}, cwd=ROOT
        )
        lines += done.stdout.splitlines()
    assert len([line for line in lines if "::test_where_no_test_is_chosen" in line]) == 5
    assert len([line for line in lines if "::test_a_file_that_cannot_be_imported" in line]) == 3


def test_a_file_that_cannot_be_imported_hides_no_other(suite, tmp_path):
    run = run_of(suite, tmp_path, "import nothing\n")
    (tmp_path / "run" / "test_other.py").write_text("def test_one(): pass\n")
    suite.side_by_side([run], 1)
    assert suite.count(suite.report_of("run")) == {"passed": 1, "failed": 1}
