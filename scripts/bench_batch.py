"""Many files: throughput of `usdphys batch` against a process per file, with jobs that crash and hang, and kills.

    .venv/bin/python scripts/bench_batch.py [--check] [--jobs 2000] [--devset FOLDER] [--folder FOLDER]

1. Some small generated files are converted, checked and simulated by two workers. A sample of these jobs, one process
   per file, is done before and after.
2. So many small files, and those of the devset. 10 jobs among them crash Blender, and 10 hang.
3. The same again: meanwhile children, and the whole batch with its children, are killed at random moments, and started
   again until it completes.

What crashes and hangs is the file: a hook in `sitecustomize.py`, which only this script puts into the path.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import bench

Job = dict[str, Any]
SAMPLE = 24
SECONDS_OF_A_JOB = 20
HOOKS = """
import os, signal, sys
if "USDPHYS_FAULT_LOG" in os.environ:
    import pathlib
    plain = pathlib.Path.absolute
    def absolute(self):
        if self.name.startswith("crash"):
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.name.startswith("hang"):
            while True:
                signal.pause()
        return plain(self)
    pathlib.Path.absolute = absolute
"""
STAGE = """#usda 1.0
(defaultPrim = "World"; metersPerUnit = {meters}; upAxis = "{up}")
def Xform "World" {{
    def PhysicsScene "Physics" {{}}
{prims}}}
"""
BODY = """    def Cube "Body{number}" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"]
    ) {{
        double size = {size}
        float physics:mass = {mass}
        double3 xformOp:translate = ({x}, {y}, {z})
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
"""
MOST = {"wrongly_lost": 0, "failed_small": 0, "torn": 0, "different": 0, "lost_after_kills": 0, "memory_growth": 1.1}


def stage(chance: random.Random) -> str:
    """A small stage in units and axes of its own."""
    meters, up = chance.choice((1.0, 0.01, 0.001)), chance.choice("YZ")
    bodies = [
        BODY.format(
            number=number, size=chance.uniform(0.1, 2) / meters, mass=chance.uniform(0.1, 50),
            **{axis: chance.uniform(-5, 5) / meters for axis in "xyz"},
        )
        for number in range(chance.randint(1, 8))
    ]  # fmt: skip
    return STAGE.format(meters=meters, up=up, prims="".join(bodies))


def make_jobs(folder: Path, count: int, devset: Path | None) -> list[Job]:
    """The jobs, those that crash and hang among them."""
    chance = random.Random(20)
    sources = folder / "sources"
    sources.mkdir(parents=True, exist_ok=True)
    jobs: list[Job] = []
    suffixes = (".usda", ".usdc", ".blend", ".glb")
    for number in range(count):
        path = sources / f"small{number}.usda"
        path.write_text(stage(chance))
        target = folder / "out" / f"{number % 50}" / f"{number}{suffixes[number // 4 % 4]}"
        op = ("convert", "convert", "validate", "simulate")[number % 4]
        job: Job = {"id": f"{op} {number}", "op": op, "in": str(path)}
        if op == "convert":
            job["out"] = str(target)
        elif op == "simulate":
            job |= {"json": str(target.with_suffix(".json")), "options": {"seconds": 0.1}}
        jobs.append(job)
    for path in sorted((devset / "usd").rglob("*")) if devset else ():
        if path.suffix in (".usda", ".usd", ".usdc", ".usdz"):
            real = path.relative_to(devset / "usd")
            target = folder / "real" / f"{real}.usda"
            jobs.append({"id": f"devset {real}", "op": "convert", "in": str(path), "out": str(target)})
    for kind in ("crash", "hang"):
        for number in range(10):
            path = sources / f"{kind}{number}.usda"
            path.write_text(stage(chance))
            target = folder / f"{kind}{number}.usda"
            job = {"id": f"{kind} {number}", "op": "convert", "in": str(path), "out": str(target)}
            jobs.insert(chance.randrange(len(jobs)), job)
    return jobs


def program() -> list[str]:
    return [sys.executable, "-m", "usdphys_addon"]


def environment(folder: Path) -> dict[str, str]:
    (hooks := folder / "hooks").mkdir(exist_ok=True)
    (hooks / "sitecustomize.py").write_text(HOOKS)
    return {**os.environ, "PYTHONPATH": f"{hooks}{os.pathsep}{bench.ROOT}"}


def one_by_one(jobs: list[Job], folder: Path, at_once: int) -> float:
    """Jobs per second with a process per file, so many of them at the same time."""
    running: list[subprocess.Popen[bytes]] = []
    begin = time.perf_counter()
    for number, job in enumerate(jobs):
        names = [str(job["in"])]
        flags: list[str] = []
        if job["op"] == "convert":
            names.append(str(folder / f"single{number}{Path(str(job['out'])).suffix}"))
        elif job["op"] == "simulate":
            flags = ["--seconds=0.1", f"--json={folder / f'single{number}.json'}"]
        command = [*program(), str(job["op"]), *flags, *names]
        running.append(
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(folder))
        )
        if len(running) >= at_once:
            running.pop(0).wait()
    for process in running:
        process.wait()
    return len(jobs) / (time.perf_counter() - begin)


def start(folder: Path, workers: int, results: str, jobs: str = "jobs.jsonl") -> subprocess.Popen[bytes]:
    command = [*program(), "batch", jobs, "--workers", str(workers), "--retries", "1", "--out", results]
    command += ["--timeout", str(SECONDS_OF_A_JOB)]
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, env=environment(folder), start_new_session=True
        )


def results_of(file: Path) -> dict[str, Job]:
    found = {}
    for line in file.read_bytes().split(b"\n") if file.exists() else []:
        with contextlib.suppress(ValueError):
            each = json.loads(line)
            found[each["id"]] = each
    return found


def children(pid: int) -> list[int]:
    done = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True, check=False)
    return [int(word) for word in done.stdout.split()]


def killed(folder: Path, workers: int, kills: int) -> int:
    """Run the batch, with so many kills at random moments. Returns how often the whole batch was killed."""
    chance, ended = random.Random(7), 0
    process = start(folder, workers, "killed.jsonl")
    for number in range(kills):
        wait = chance.uniform(1.0, 8.0)
        try:
            process.wait(wait)
            break
        except subprocess.TimeoutExpired:
            pass
        found = children(process.pid)
        if number % 2 and found:
            os.kill(chance.choice(found), signal.SIGKILL)
            continue
        process.kill()
        process.wait()
        ended += 1
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process = start(folder, workers, "killed.jsonl")
    process.wait()
    return ended


def measure(wanted: Any) -> bench.Rows:
    folder = Path(wanted.folder or tempfile.mkdtemp(prefix="usdphys-batch-")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    devset, workers = Path(wanted.devset), wanted.workers
    jobs = make_jobs(folder, wanted.jobs, devset if devset.is_dir() else None)
    (folder / "jobs.jsonl").write_text("\n".join(map(json.dumps, jobs)) + "\n")
    small = [job for job in jobs if str(job["id"]).split()[0] in ("convert", "validate", "simulate")]
    sample = small[:: max(1, len(small) // SAMPLE)][:SAMPLE]
    half, warm, times = SAMPLE // 2, 0.0, []
    for part in (sample[:half], sample[half:]):
        times.append([one_by_one(part, folder, number) for number in (1, workers)])
        warm = warm or throughput(folder, workers, small[: wanted.timed])
    single, pair = (sum(both) / 2 for both in zip(*times, strict=True))
    memory, statuses = whole(folder, workers)
    yield "jobs", len(jobs), "jobs"
    yield "batch", warm, "small jobs a second"
    yield "process_per_file", single, "jobs a second"
    yield "process_per_file_at_once", pair, f"jobs a second, {workers} at a time"
    yield "faster_than_process_per_file", warm / single, "times"
    yield "faster_than_at_once", warm / pair, "times"
    yield "memory_growth", memory, "of a child, last quarter against second"
    ill = {str(job["id"]) for job in jobs if str(job["id"]).split()[0] in ("crash", "hang")}
    bad = {name for name, status in statuses.items() if status in ("crashed", "timeout")}
    yield "wrongly_lost", len(bad ^ ill), "jobs"
    failed = [name for name, status in statuses.items() if status == "failed" and "devset" not in name]
    yield "failed_small", len(failed), "jobs"
    print(f"statuses {dict(Counter(statuses.values()))}", flush=True)
    if wanted.kills:
        yield from kills_and_torn(folder, workers, wanted.kills, ill)


def throughput(folder: Path, workers: int, jobs: list[Job]) -> float:
    """Jobs per second of a batch, the start of its children included."""
    (folder / "small.jsonl").write_text("\n".join(map(json.dumps, jobs)))
    begin = time.perf_counter()
    start(folder, workers, "small.results.jsonl", "small.jsonl").wait()
    return len(jobs) / (time.perf_counter() - begin)


def whole(folder: Path, workers: int) -> tuple[float, dict[str, str]]:
    """(growth of the memory of children, status of each job) of all jobs."""
    start(folder, workers, "results.jsonl").wait()
    found = results_of(folder / "results.jsonl")
    memory = [each["memory"] for each in found.values() if each.get("memory")]
    quarter = len(memory) // 4
    growth = max(memory[-quarter:]) / max(memory[quarter : 2 * quarter])
    return growth, {name: str(each["status"]) for name, each in found.items()}


def kills_and_torn(folder: Path, workers: int, kills: int, ill: set[str]) -> bench.Rows:
    """Do the whole again with kills, and compare: no result is lost, no output is torn or another one."""
    before = results_of(folder / "results.jsonl")
    yield "batches_killed", killed(folder, workers, kills), "times"
    after = results_of(folder / "killed.jsonl")
    lost = {name for name in before if before[name]["status"] != after.get(name, {}).get("status")} - ill
    yield "lost_after_kills", len(lost), "jobs"
    torn = different = 0
    for name, each in after.items():
        for output in each.get("outputs") or ():
            torn += Path(output["path"]).stat().st_size != output["bytes"]
            first = [known["sha256"] for known in before[name]["outputs"] if known["path"] == output["path"]]
            # A .blend holds addresses of memory.
            different += first != [output["sha256"]] and not output["path"].endswith(".blend")
    yield from (("torn", torn, "outputs"), ("different", different, "outputs"))


if __name__ == "__main__":
    bench.main(
        __doc__, measure, MOST, lambda _: {"faster_than_process_per_file": 15.0}, jobs=(2000, "small jobs"),
        workers=(2, "children of a batch"), kills=(12, "kills"), timed=(400, "small jobs in the batch that is timed"),
        devset=(str(bench.ROOT.parent / "shared" / "devset"), "a folder of files of others"),
        folder=("", "an empty folder for all that is made"),
    )  # fmt: skip
