"""The runner of the suites: nothing that went wrong is lost, and what runs side by side is read one after the other."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def run_of(suite, tmp_path, text, name="run"):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "test_it.py").write_text(text)
    return suite.Run(name, lambda: suite.pytest(name, "usd", str(folder)), 0)


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


def test_a_run_that_hangs_is_ended_with_all_that_it_started(suite, monkeypatch):
    """Its child writes into a pipe and stays. The pipe ends when nothing of the run is left."""
    read, write = os.pipe()

    class Hanging(subprocess.Popen):
        def __init__(self, *args, **more):
            super().__init__(*args, **more, pass_fds=[write])

        def wait(self, timeout=None):
            if timeout is None:
                return super().wait()
            assert os.read(read, 1) == b"x"
            return super().wait(0)

    monkeypatch.setattr(suite.subprocess, "Popen", Hanging)
    child = f"import os, threading; os.write({write}, b'x'); threading.Event().wait()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], pass_fds=[{write}])"
    with pytest.raises(subprocess.TimeoutExpired):
        suite.call("run", [sys.executable, "-c", parent])
    os.close(write)
    assert os.read(read, 1) == b""
    os.close(read)


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

    def run(name, order):
        def work():
            done.append(name)
            suite.record(name, "passed")

        return suite.Run(name, work, order)

    suite.side_by_side([run("site", suite.AFTER_LAST), run("docs", suite.LAST), run("ui", 1), run("blender", 0)], 1)
    assert done == ["blender", "ui", "docs", "site"]


@pytest.mark.parametrize(("ci", "outcome"), [("", "2 skipped"), ("true", "2 errors")])
def test_a_missing_folder_of_test_assets_is_a_failure_where_nobody_looks(tmp_path, ci, outcome):
    """And so is a missing environment with usd-core."""
    missing = str(tmp_path / "missing")
    environment = {**os.environ, "CI": ci, "SHARED_DIR": missing, "USDPHYS_USD_PYTHON": missing,
                   "PYTHONPATH": str(ROOT / "tests")}  # fmt: skip
    (tmp_path / "test_it.py").write_text("def test_one(shared): pass\ndef test_two(usd_python): pass\n")
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "tests" / "pytest.ini", "-p", "conftest", tmp_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert outcome in done.stdout.splitlines()[-1], done.stdout + done.stderr
