"""A batch on a Dask cluster of two workers, in an environment of its own: Dask and fsspec are needed nowhere else."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.batch import journal

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""
#: In children, jobs by the name of their output: one that crashes, one that hangs, one that kills its Dask worker once.
HOOKS = """
import os, pathlib, signal
def write_text(self, *arguments, **options):
    if "crash" in self.name:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "deadly" in self.name and not (mark := self.parent / "killed").exists():
        mark.touch()
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(self, *arguments, **options)
if "USDPHYS_FAULT_LOG" in os.environ:
    plain, pathlib.Path.write_text = pathlib.Path.write_text, write_text
"""
PART = """#usda 1.0
(
    defaultPrim = "Crate"
    metersPerUnit = 1
    upAxis = "Z"
)
def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
    double size = 1
}
"""
WHOLE = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def "World" (references = @./parts/crate.usda@)
{
}
"""
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals end processes of POSIX systems only")


@pytest.fixture(scope="module")
def dask_python(monkeypatch_module: pytest.MonkeyPatch) -> Path:
    monkeypatch_module.syspath_prepend(str(ROOT / "scripts"))
    venvs = importlib.import_module("venvs")
    try:
        return venvs.make("dask")
    except venvs.EnvError as error:
        pytest.skip(f"no environment with Dask can be made here: {error}")


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture
def cluster(dask_python: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a scheduler with two workers, whose children run in the Python of this test."""
    (hooks := tmp_path / "hooks").mkdir()
    hooks.joinpath("sitecustomize.py").write_text(HOOKS)
    (program := tmp_path / "cluster.py").write_text(CLUSTER)
    environment = {**os.environ, "USDPHYS_BLENDER": sys.executable, "PYTHONPATH": str(hooks)}
    with subprocess.Popen(
        [dask_python, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    ) as running:  # fmt: skip
        yield running.stdout.readline().strip()
        running.stdin.close()


def batch(python: Path, address: str, jobs: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "usdphys_addon", "batch", jobs, "--dask", address, *more]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)


@pytest.mark.slow
def test_on_two_workers_exactly_the_bad_job_fails_and_a_dead_worker_costs_nothing(dask_python, cluster, tmp_path):
    (tmp_path / "crate.usda").write_text(PART)
    names = [*(f"ok{number}" for number in range(8)), "crash", "deadly", "last"]
    job = {"op": "simulate", "in": str(tmp_path / "crate.usda"), "options": {"seconds": 0.1}}
    lines = [{"id": name, "json": str(tmp_path / "out" / f"{name}.json"), **job} for name in names]
    (jobs := tmp_path / "jobs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = batch(dask_python, cluster, jobs, "--retries", "0")
    found = journal.done(tmp_path / "jobs.results.jsonl")
    assert done.returncode == 1, done.stderr
    assert Counter(each["status"] for each in found.values()) == {"ok": 10, "crashed": 1}, done.stderr
    assert "segmentation fault" in found["crash"]["error"]
    poses = {path.read_text() for path in (tmp_path / "out").glob("[!.]*.json")}
    assert len(poses) == 1 and not (tmp_path / "out" / "crash.json").exists()
    again = batch(dask_python, cluster, jobs, "--retries", "0")
    assert "11 jobs: 1 crashed, 10 done before" in again.stdout


@pytest.mark.slow
def test_files_come_and_go_by_url_with_all_that_they_refer_to(dask_python, cluster, tmp_path):
    (tmp_path / "asset" / "parts").mkdir(parents=True)
    (tmp_path / "asset" / "parts" / "crate.usda").write_text(PART)
    (tmp_path / "asset" / "whole.usda").write_text(WHOLE)
    url = (tmp_path / "asset" / "whole.usda").as_uri()
    target = f"{tmp_path.as_uri()}/remote/new/poses.json"
    lines = [
        {"id": "good", "op": "simulate", "in": url, "json": target, "options": {"seconds": 0.1}},
        {"id": "missing", "op": "inspect", "in": f"{tmp_path.as_uri()}/nowhere/none.usda"},
    ]
    (jobs := tmp_path / "jobs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert batch(dask_python, cluster, jobs).returncode == 1
    found = journal.done(tmp_path / "jobs.results.jsonl")
    assert (found["good"]["status"], found["missing"]["status"]) == ("ok", "failed"), found
    assert found["good"]["outputs"][0]["path"] == target
    assert "/World" in json.loads((tmp_path / "remote" / "new" / "poses.json").read_text())["bodies"]
    assert "nowhere/none.usda" in found["missing"]["error"]


def test_a_scheduler_that_is_not_there_is_one_sentence(dask_python, tmp_path):
    (jobs := tmp_path / "jobs.jsonl").write_text('{"op": "inspect", "in": "/a.usda"}')
    done = batch(dask_python, "none://nowhere", jobs)
    lines = [line for line in done.stderr.splitlines() if line.startswith("usdphys: error: ")]
    assert done.returncode == 1 and len(lines) == 1 and "none://nowhere" in lines[0], done.stderr
