# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the jobs of a batch: gives them to an executor, writes each result down as it comes, goes on with a rerun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, as_completed
from pathlib import Path
from typing import Any

from ..core.errors import InputError, UsdPhysError
from ..system import files, isolate
from . import journal
from .executors import Crew
from .jobs import Job
from .worker import is_url

#: What can become of a job, the good one first.
STATUSES = ("ok", "failed", "crashed", "timeout")
#: Told after each job: the job, its result.
Told = Callable[[Job, Mapping[str, Any]], None]


def pending(jobs: Sequence[Job], results: Path) -> list[Job]:
    """The jobs that are not done yet, as far as a file of results says."""
    known = journal.done(results)
    return [job for job in jobs if not journal.is_done(job, known.get(job.id))]


def run(jobs: Iterable[Job], crew: Crew, results: Path, told: Told) -> Counter[str]:
    """Do the jobs and write their results. Returns how often each status occurred.

    Raises InputError where no worker can be started, and OutputError where a result cannot be written. Whatever is
    raised, what is written stays, and a rerun goes on with it.
    """
    counts: Counter[str] = Counter()
    with journal.Journal(results) as book:
        futures: dict[Future[dict[str, Any]], Job] = {}
        stamps: dict[str, list[int] | None] = {}
        try:
            for job in jobs:
                stamps[job.id] = job.stamp()
                futures[crew.executor.submit(crew.work, job.as_table())] = job
            for future in as_completed(futures):
                job = futures.pop(future)
                line = _result(job, future, stamps.pop(job.id))
                book.add(line)
                counts[line["status"]] += 1
                told(job, line)
        except BaseException:
            crew.close()
            raise
    return counts


def _result(job: Job, future: Future[dict[str, Any]], stamp: list[int] | None) -> dict[str, Any]:
    """The line for a finished job. Raises InputError where it was not done for want of a worker."""
    try:
        outcome = future.result()
    except UsdPhysError:
        raise
    except Exception as error:
        # Dask gives up a job whose worker processes have died several times.
        outcome = {"status": "crashed", "error": f"The worker was lost ({type(error).__name__})."}
    if outcome["status"] == "no worker":
        raise InputError(f"No process with Blender can be started: {outcome['error']}.")
    line = {"id": job.id, "op": job.op, "in": job.source, **outcome}
    faults, number = str(line.pop("faults", "")), int(line.pop("signal", 0))
    if outcome["status"] in ("crashed", "timeout"):
        line.setdefault("error", _ended(job, outcome["status"], number, faults))
    if exceeded := line.pop("exceeded", ""):
        line["error"] = f"'{job.source}' could not be done: {exceeded}; no output was written."
    if line.get("attempts", 1) > 1 or exceeded or outcome["status"] in ("crashed", "timeout"):
        _clean(job)
    return {**line, "job": job.digest, "input": stamp}


def _ended(job: Job, status: str, number: int, faults: str) -> str:
    if status == "timeout":
        step = isolate.step_of(faults)
        return f"'{job.source}' took too long{', ' if step else ''}{step}; no output was written."
    return f"'{job.source}' makes Blender crash ({isolate.cause(number, faults)}); no output was written."


def _clean(job: Job) -> None:
    """Delete the temporary files of a job, a process of which has died; no other job writes the same outputs."""
    for output in job.outputs:
        if not is_url(output):
            for path in files.temporary_files(Path(output)):
                files.delete(path)
