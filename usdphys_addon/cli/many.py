# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `batch`, and what its children run."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, UsageError, UsdPhysError
from ..core.words import counted
from ..system import blender, interrupts, isolate
from ..system.console import say, warn
from ..system.files import checked, clean_work_folders
from .output import folders_made, summarise

if TYPE_CHECKING:
    from ..batch.jobs import Job


def serve_jobs(perform: Callable[[list[str]], dict[str, Any]], _options: argparse.Namespace) -> int:
    """Do jobs for a batch until it says no more. perform: runs one command."""
    from ..batch import serve

    with _ready_for_jobs():
        return serve.serve(perform)


@contextmanager
def _ready_for_jobs() -> Iterator[None]:
    """Load what takes time, and register our properties once for all jobs. Without Blender, some jobs are refused."""
    if not blender.is_here():
        yield
        return
    from .. import formats
    from ..exchange import blend_file

    with suppress(UsdPhysError):
        formats.expose_pxr()
    with blend_file.properties_registered():
        yield


def require_network(scheduler: str | None, files: Iterable[str]) -> None:
    """Raise InputError where a scheduler or a file of a job needs the network and Blender works offline."""
    from ..batch import online
    from ..batch.worker import is_url

    if scheduler:
        online.require(f"The scheduler '{scheduler}'")
    for name in files:
        if is_url(name) and not name.startswith("file:"):
            online.require(f"'{name}'")


def run_batch(options: argparse.Namespace) -> int:
    """Run the jobs of a file, those that are not done yet. Returns the exit status."""
    from ..batch import jobs

    if options.failed:
        return _list_failed(options)
    if not options.jobs:
        raise UsageError("batch needs JOBS, a file of jobs, or --failed with a file of results.")
    if options.dask and options.workers:
        raise UsageError("--workers is for this machine, and --dask has workers of its own; drop one.")
    todo = jobs.read(Path(options.jobs))
    part = ""
    if options.shard:
        todo = jobs.shard(todo, options.shard)
        part = f".{options.shard.replace('/', '-of-')}"
    results = Path(options.out or Path(options.jobs).with_suffix(f".results{part}.jsonl"))
    if options.dry_run:
        return _list_pending(options, todo, results)
    with folders_made(options, str(results)):
        checked(results, [options.jobs])
        if os.path.normpath(results.absolute()) in {os.path.normpath(name) for job in todo for name in job.files}:
            raise UsageError(f"'{results}' is a file of the jobs themselves; choose another name for --out.")
        return _run_jobs(options, todo, results)


def _list_pending(options: argparse.Namespace, jobs: Sequence[Job], results: Path) -> int:
    """Print the jobs that a batch would do. Returns the exit status."""
    from ..batch import drive

    todo = drive.pending(jobs, results)
    for job in todo:
        say(job.id)
    summarise(options, f"{results}: {len(todo)} of {counted(len(jobs), 'job')} to do")
    return 0


def _list_failed(options: argparse.Namespace) -> int:
    """Print the jobs whose last result is not good. Returns the exit status."""
    from ..batch import journal

    others = ("jobs", "workers", "dask", "shard", "timeout", "memory", "retries", "out", "dry_run")
    if any(getattr(options, name) != options.fallbacks[name] for name in others):
        raise UsageError("--failed lists what is in files of results; drop JOBS and the options of a batch.")
    known: dict[str, dict[str, Any]] = {}
    for name in options.failed:
        if not Path(name).is_file():
            raise InputError(f"There is no file '{name}'; check the name.")
        known |= journal.done(Path(name))
    bad = [found for found in known.values() if found.get("status") != "ok"]
    for found in bad:
        why = f": {found['error']}" if found.get("error") else ""
        say(f"{found.get('status')} {found['id']}{why}")
    summarise(options, f"{', '.join(options.failed)}: {len(bad)} of {counted(len(known), 'job')} not ok")
    return 1 if bad else 0


def _run_jobs(options: argparse.Namespace, jobs: Sequence[Job], results: Path) -> int:
    """Run the jobs that have no good result yet. Returns the exit status."""
    from ..batch import drive, executors, progress, worker

    clean_work_folders()
    todo = drive.pending(jobs, results)
    require_network(options.dask, (name for job in todo for name in job.files))
    settings = worker.Settings(
        (*isolate.program(), "serve"), isolate.ROOT if blender.has_rooms() else "", options.timeout, options.retries,
        memory=options.memory,
    )  # fmt: skip
    workers = min(options.workers or isolate.processors(), max(1, len(todo)))
    display = progress.Progress(len(todo), is_quiet=options.quiet)
    try:
        with interrupts.raised(signal.SIGINT, signal.SIGTERM):
            if todo:
                crew = executors.dask(settings, options.dask) if options.dask else executors.local(settings, workers)
                with crew as members:
                    drive.run(todo, members, results, display.told)
    except KeyboardInterrupt:
        warn(f"usdphys: error: Interrupted; '{results}' has what is done, and the same command goes on with the rest.")
        return interrupts.STATUS
    finally:
        display.end()
    summarise(options, progress.summary(str(results), display.counts, len(jobs) - len(todo)))
    return 0 if display.counts["ok"] == display.counts.total() else 1
