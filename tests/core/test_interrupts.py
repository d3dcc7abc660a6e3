# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl C ends a command between what Blender does, and at once while Blender is being loaded."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.system import interrupts

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """A shell lets what it runs in the background ignore Ctrl C, and what that starts, too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def wait_for_the_interrupt() -> None:
    for _ in range(1000):
        threading.Event().wait(0.01)


def test_ctrl_c_is_an_exception_of_python_in_code_of_ours() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts.between_operators(lambda: None):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_waits_for_the_end_of_an_operator() -> None:
    """Blender prints an exception in a script that an operator runs, and goes on."""
    done: list[int] = []
    code = compile("import signal\nsignal.raise_signal(signal.SIGINT)\ndone.append(1)", "/x/bpy/ops.py", "exec")
    with pytest.raises(KeyboardInterrupt), interrupts.between_operators(lambda: None):
        exec(code, {"done": done})
        wait_for_the_interrupt()
    assert done == [1]


def test_ctrl_c_waits_for_the_end_of_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is imported by half is missed by what comes after it."""
    (tmp_path / "half_of_it.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\nwhole = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(KeyboardInterrupt), interrupts.between_operators(lambda: None):
        importlib.import_module("half_of_it")
        wait_for_the_interrupt()
    assert sys.modules.pop("half_of_it").whole


def test_ctrl_c_while_blender_is_loaded_ends_the_command_with_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bpy.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint('not reached')\n")
    (tmp_path / "a.usda").write_text("#usda 1.0\n")
    done = subprocess.run(
        [sys.executable, "-m", "usdphys_addon", "convert", tmp_path / "a.usda", tmp_path / "b.usda"], cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (interrupts.STATUS, "")
    assert done.stderr == "usdphys: error: Interrupted; no output was written.\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the system ends a child with its parent on Linux only")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_isolated_command_ends_with_the_one_that_has_started_it(tmp_path: Path, number: int) -> None:
    """A scheduler ends the process that it knows: the other must not write its output minutes later."""
    (tmp_path / "a.usda").write_text("#usda 1.0\n")
    # The child says that it is there, and does not end by itself.
    (tmp_path / "bpy.py").write_text("import threading\nprint('ready', flush=True)\nthreading.Event().wait()\n")
    with subprocess.Popen(
        [sys.executable, "-m", "usdphys_addon", "convert", tmp_path / "a.usda", tmp_path / "b.usda", "--isolate"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(tmp_path)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as parent:  # fmt: skip
        assert parent.stdout is not None and parent.stdout.readline() == b"ready\n"
        parent.send_signal(number)
        # The end of the stream comes when the child, too, is gone.
        assert parent.stdout.read() == b""
    assert [path.name for path in tmp_path.glob("*b.usda*")] == []
