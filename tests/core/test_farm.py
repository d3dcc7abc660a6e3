# SPDX-License-Identifier: GPL-3.0-or-later
"""The files for farms do what they say without the farm: their command lines are run by the command, part by part."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon import cli

#: Files for schedulers, which pipelines copy from the manual; the zips have none.
FARM = Path(__file__).resolve().parents[2] / "docs" / "farm"
PARTS = 3

pytestmark = pytest.mark.skipif(os.name != "posix", reason="scripts of a POSIX shell")


@pytest.fixture
def jobs(tmp_path) -> Path:
    """A file of jobs whose name has a space."""
    file = tmp_path / "all jobs.jsonl"
    lines = [{"op": "inspect", "in": f"scene{number}.usda", "id": f"job{number}"} for number in range(20)]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def in_shell(script: str, *arguments: str, **variables: str) -> str:
    done = subprocess.run(
        ["/bin/sh", FARM / script, *arguments], capture_output=True, text=True, check=True,
        env={**os.environ, **variables},
    )  # fmt: skip
    return done.stdout


def printing(folder: Path, name: str) -> Path:
    """A program that prints its arguments, one a line."""
    program = folder / name
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    return program


def of_deadline(jobs: Path, part: int) -> list[str]:
    """Deadline makes one text of the arguments, in which it puts quotes and the number of the frame."""
    printing(jobs.parent, "deadlinecommand")
    said = in_shell("deadline_batch.sh", str(jobs), str(PARTS), DEADLINE_PATH=str(jobs.parent)).splitlines()
    options = dict(zip(said[1::2], said[2::2], strict=True))
    assert said[0] == "-SubmitCommandLineJob"
    assert options["-frames"] == f"1-{PARTS}" and options["-chunksize"] == "1"
    return shlex.split(options["-arguments"].replace("<QUOTE>", '"').replace("<STARTFRAME>", str(part)))


def of_opencue(jobs: Path, part: int) -> list[str]:
    spec = importlib.util.spec_from_file_location("opencue_batch", FARM / "opencue_batch.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [word.replace("#IFRAME#", str(part)) for word in module.command(str(jobs), PARTS)[1:]]


def of_slurm(jobs: Path, part: int) -> list[str]:
    program = printing(jobs.parent, "blender")
    numbers = {"ID": part, "MIN": 1, "MAX": PARTS, "COUNT": PARTS}
    array = {f"SLURM_ARRAY_TASK_{name}": str(number) for name, number in numbers.items()}
    return in_shell("slurm_batch.sh", str(jobs), BLENDER=str(program), **array).splitlines()


def of_flamenco(jobs: Path, part: int) -> list[str]:
    if shutil.which("node") is None:
        pytest.skip("needs node")
    script = (
        (FARM / "usdphys_batch.js").read_text(encoding="utf-8")
        + "const author = {Task: (name) => ({name, commands: [], addCommand(one) { this.commands.push(one); }}),"
        "Command: (name, options) => options};"
        f"const job = {{settings: {{jobs: {json.dumps(str(jobs))}, parts: {PARTS}, workers: 2, timeout: 60}}, "
        "tasks: [],"
        "addTask(one) { this.tasks.push(one); }};"
        "compileJob(job); console.log(JSON.stringify(job.tasks.map((task) => task.commands[0].args)));"
    )
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    found: list[list[str]] = json.loads(done.stdout)
    assert len(found) == PARTS
    return found[part - 1]


@pytest.mark.parametrize("made", [of_deadline, of_opencue, of_slurm, of_flamenco])
def test_the_parts_of_a_farm_are_all_jobs_each_once(jobs, capfd, made: Callable[[Path, int], list[str]]):
    found = []
    for part in range(1, PARTS + 1):
        arguments = made(jobs, part)
        assert arguments[:2] == ["--command", "usdphys"]
        capfd.readouterr()
        assert cli.main([*arguments[2:], "--dry-run"]) == 0
        found += re.findall(r"job\d+", capfd.readouterr().out)
    assert sorted(found) == sorted(f"job{number}" for number in range(20))


# --------------------------------------------------------------------------- the container


def steps() -> list[str]:
    """The commands of RUN in the Dockerfile."""
    text = (FARM / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.removeprefix("RUN ") for line in text.splitlines() if line.startswith("RUN ")]


def installed(tmp_path: Path, digest: str) -> subprocess.CompletedProcess[str]:
    """Run the step that installs the extension, with folders of its own and a pip that writes down what it is given."""
    (step,) = (one for one in steps() if "usdphys.zip" in one)
    package = tmp_path / "usdphys.zip"
    with zipfile.ZipFile(package, "w") as archive:
        wheels = [f"wheels/a-1-cp{version}-cp{version}-linux.whl" for version in (311, 313)]
        for name in ("usdphys_addon/__init__.py", *wheels):
            archive.writestr(name, "")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "pip").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/pip.txt\n')
    (programs / "python").write_text('#!/bin/sh\nexec python3 "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    step = step.replace("/tmp/usdphys.zip", str(package)).replace("/opt/usdphys", str(tmp_path / "opt"))
    return subprocess.run(
        ["/bin/sh", "-c", step], capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "SHA256": digest},
    )  # fmt: skip


def test_the_container_has_the_extension_and_the_wheels_of_its_python(tmp_path):
    assert installed(tmp_path, "").returncode == 0
    assert (tmp_path / "opt" / "usdphys_addon" / "__init__.py").is_file()
    given = (tmp_path / "pip.txt").read_text().splitlines()
    assert [Path(one).name for one in given if one.endswith(".whl")] == ["a-1-cp311-cp311-linux.whl"]
    assert not (tmp_path / "usdphys.zip").exists()


def test_a_zip_of_another_digest_makes_no_container(tmp_path):
    assert installed(tmp_path, "0" * 64).returncode != 0
    assert not (tmp_path / "opt").exists()
