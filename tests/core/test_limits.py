# SPDX-License-Identifier: GPL-3.0-or-later
"""Children that take too much memory or time are ended, and the sentence says what and how to allow it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.simulation.engines import external
from usdphys_ext.usdphys_addon.system import isolate, limits

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux says what a process takes")
GROW = "taken = []\nwhile True: taken.append(b'x' * (1 << 20))"
SLEEP = "import time\ntime.sleep(1000)"


@pytest.mark.parametrize(
    ("code", "variable", "value", "words"),
    [pytest.param(GROW, limits.MEMORY, "0.2", "more than 0.2 GB of memory", marks=linux_only),
     (SLEEP, limits.SECONDS, "1", "too long")],
)  # fmt: skip
class TestChild:
    def test_isolate_ends_it_with_a_sentence_and_status_1(
        self, tmp_path, monkeypatch, capsys, code, variable, value, words
    ):
        monkeypatch.setenv(variable, value)
        monkeypatch.setattr(isolate, "program", lambda: [sys.executable, "-c", code])
        assert cli.main(["inspect", "--isolate", str(tmp_path / "bomb.usda")]) == 1
        said = capsys.readouterr().err
        assert words in said
        assert variable in said
        assert "bomb.usda" in said

    def test_a_simulator_is_ended_with_a_sentence(self, tmp_path, monkeypatch, code, variable, value, words):
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code.replace(chr(39), chr(34))}'\n")
        program.chmod(0o755)
        monkeypatch.setenv(variable, value)
        with external.Run("newton", str(program), tmp_path / "bomb.usda", 1, 0.1) as run:
            run.wait()
            with pytest.raises(InputError, match=words):
                run.poses(StageUnits())


def test_the_limit_is_a_share_of_the_machine_or_of_its_container(tmp_path, monkeypatch):
    monkeypatch.delenv(limits.MEMORY, raising=False)
    file = tmp_path / "memory.max"
    monkeypatch.setattr(limits, "CONTAINER", (file,))
    whole = limits.memory()
    file.write_text("max\n")
    assert limits.memory() == whole
    file.write_text(f"{1 << 28}\n")
    assert limits.memory() == int(0.8 * (1 << 28))
    monkeypatch.setenv(limits.MEMORY, "nonsense")
    assert limits.memory() == int(0.8 * (1 << 28))


def test_a_child_within_the_limits_ends_as_it_does():
    with (
        subprocess.Popen([sys.executable, "-c", "import sys; sys.exit(7)"]) as child,
        limits.Watch(child.pid, child.kill, 1 << 40, 1e6) as watch,
    ):
        status = child.wait()
    assert (status, watch.exceeded) == (7, "")
