# SPDX-License-Identifier: GPL-3.0-or-later
"""Children that take too much memory or time are ended, and the sentence says what and how to allow it."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import subprocess
import sys
import threading

import pytest
from assets import ROOT
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.simulation.engines import external
from usdphys_ext.usdphys_addon.system import isolate, limits

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux says what a process takes")
GROW = "taken = []\nwhile True: taken.append(b'x' * (1 << 20))"
SLEEP = "import time\ntime.sleep(1000)"


def test_a_watch_that_nobody_closes_does_not_keep_its_process_alive() -> None:
    code = "import os\nfrom usdphys_addon.system.limits import Watch\nWatch(os.getpid(), print, 1 << 60)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=100, check=False)
    assert done.returncode == 0


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


def test_what_a_wrapper_starts_is_counted_with_it(tmp_path):
    """A shell between the two takes nothing itself."""
    page = os.sysconf("SC_PAGE_SIZE")
    for pid, pages, children in ((7, 3, "8 9 "), (8, 20, ""), (9, 100, "10"), (10, 1000, "")):
        task = tmp_path / f"{pid}" / "task" / f"{pid}"
        task.mkdir(parents=True)
        (task / "children").write_text(children)
        (tmp_path / f"{pid}" / "statm").write_text(f"5000 {pages} 1 1 0 1 0\n")
    assert limits.LinuxGauge(7, tmp_path).taken() == 1123 * page
    assert limits.LinuxGauge(11, tmp_path).taken() == 0


@linux_only
def test_a_child_of_a_child_is_ended(monkeypatch):
    script = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {GROW!r}])"
    with subprocess.Popen([sys.executable, "-c", script], start_new_session=True) as child:
        with limits.Watch(child.pid, lambda: os.killpg(child.pid, signal.SIGKILL), 1 << 28) as watch:
            child.wait()
        assert "more than 0.25 GB" in watch.exceeded


class Libproc:
    """What macOS answers. taken: bytes by process. children: by process."""

    def __init__(self, taken: dict[int, int], children: dict[int, list[int]]) -> None:
        self.taken, self.children = taken, children

    def proc_pid_rusage(self, pid, flavor, buffer):
        assert flavor.value == 0
        if pid.value not in self.taken:
            return -1
        # rusage_info_v0: 16 bytes, ten numbers of eight bytes; the eighth is the footprint, the seventh the resident.
        numbers = struct.pack("=10Q", 1, 2, 3, 4, 5, 6, 7, self.taken[pid.value], 9, 10)
        ctypes.memmove(buffer, bytes(16) + numbers, 96)
        return 0

    def proc_listpids(self, kind, pid, buffer, size):
        assert kind.value == 6 and size.value == 4096
        found = struct.pack(f"={len(self.children.get(pid.value, []))}i", *self.children.get(pid.value, []))
        ctypes.memmove(buffer, found, len(found))
        return len(found)


def test_macos_says_what_a_process_and_its_children_take():
    library = Libproc({7: 1000, 8: 20, 9: 3}, {7: [8], 8: [9, 99]})
    assert limits.MacGauge(library, 7).taken() == 1023
    assert limits.MacGauge(library, 99).taken() == 0


class Kernel:
    """What Windows does with jobs: it counts only in those with a limit, and ends their processes with the last."""

    def __init__(self, *, allows: bool = True) -> None:
        self.allows, self.jobs, self.handles, self.ended, self.taken = allows, {}, {}, [], 0

    def CreateJobObjectW(self, _attributes, _name):  # noqa: N802 - as Windows has it, like those below
        self.handles[100] = "job"
        self.jobs[100] = {"limits": None, "processes": []}
        return 100

    def OpenProcess(self, rights, _inherits, pid):  # noqa: N802
        assert rights == 0x101
        self.handles[200] = pid
        return 200

    def SetInformationJobObject(self, job, kind, limits_, size):  # noqa: N802
        found = limits_.contents
        assert kind == 9 and size == ctypes.sizeof(found) == 144
        self.jobs[job]["limits"] = found
        return 1

    def AssignProcessToJobObject(self, job, process):  # noqa: N802
        if self.allows:
            self.jobs[job]["processes"].append(self.handles[process])
        return int(self.allows)

    def QueryInformationJobObject(self, job, kind, answer, _size, _length):  # noqa: N802
        assert kind == 9
        held = self.jobs[job]["limits"]
        answer.contents.peak_job_memory = min(self.taken, held.job_memory) if held.basic.flags & 0x200 else 0
        return 1

    def CloseHandle(self, handle):  # noqa: N802
        if self.handles.pop(handle) == "job" and self.jobs[handle]["limits"].basic.flags & 0x2000:
            self.ended += self.jobs[handle]["processes"]
        return 1

    def GlobalMemoryStatusEx(self, status):  # noqa: N802
        assert status.contents.size == 64
        status.contents.sizes[0] = 1 << 35
        return 1


def test_a_job_of_windows_counts_what_a_process_takes_and_ends_it_with_this_one():
    kernel = Kernel()
    job = limits.WindowsJob(kernel, 7, 1000)
    assert kernel.jobs[100]["processes"] == [7]
    kernel.taken = 900
    assert job.taken() == 900
    # What fills the job is above the limit of ours, so that its end is seen.
    kernel.taken = 1 << 40
    assert 1000 < job.taken() < 2000
    job.close()
    job.close()
    assert kernel.handles == {} and kernel.ended == [7]


def test_a_windows_that_allows_no_job_leaves_no_handle():
    kernel = Kernel(allows=False)
    with pytest.raises(OSError, match="job"):
        limits.WindowsJob(kernel, 7, 1000)
    assert kernel.handles == {}


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_a_watch_ends_a_child_by_what_other_systems_say(monkeypatch, system):
    kernel = Kernel()
    kernel.taken = 2000
    monkeypatch.setattr(limits, "SYSTEM", system)
    monkeypatch.setattr(limits, "kernel", lambda: kernel)
    monkeypatch.setattr(limits, "libproc", lambda: Libproc({os.getpid(): 2000}, {}))
    ended = threading.Event()
    with limits.Watch(os.getpid(), ended.set, 1500) as watch:
        ended.wait(60)
    assert watch.exceeded and ended.is_set()
    assert not kernel.handles


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_a_system_that_refuses_to_say_sets_no_limit(monkeypatch, system):
    def refuse():
        raise OSError("not here")

    monkeypatch.setattr(limits, "SYSTEM", system)
    monkeypatch.setattr(limits, "kernel", refuse)
    monkeypatch.setattr(limits, "libproc", refuse)
    assert limits.gauge(os.getpid(), 1000).taken() == 0


def test_the_memory_of_a_machine_with_windows_is_asked_of_windows(monkeypatch):
    monkeypatch.setattr(limits, "SYSTEM", "win32")
    monkeypatch.setattr(limits, "kernel", Kernel)
    monkeypatch.setattr(limits, "CONTAINER", ())
    monkeypatch.setattr(os, "sysconf", lambda name: (_ for _ in ()).throw(AttributeError(name)))
    monkeypatch.delenv(limits.MEMORY, raising=False)
    assert limits.memory() == int(0.8 * (1 << 35))
