# SPDX-License-Identifier: GPL-3.0-or-later
"""Who schedules the jobs: threads of this process, or Dask. Both are `concurrent.futures.Executor`s."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ..core import clock
from ..core.errors import InputError, MissingDependencyError
from ..system import files, limits
from . import worker
from .worker import Settings, Workers

#: The name of `worker` on a cluster, where this package is unknown.
_SENT = "usdphys_worker"
#: What is sent there, in the order in which they need each other.
_MODULES = {"usdphys_limits": limits, _SENT: worker}


class Crew(NamedTuple):
    """executor: takes calls of `work` with a job, and returns futures of results. close: ends all at once."""

    executor: Executor
    work: Callable[[Mapping[str, Any]], dict[str, Any]]
    close: Callable[[], None]


@contextmanager
def local(settings: Settings, count: int) -> Iterator[Crew]:
    """So many children of this process, each supervised by a thread."""
    workers = Workers(settings, now=clock.now)
    executor = ThreadPoolExecutor(count, thread_name_prefix="USD Physics batch")
    try:
        yield Crew(executor, workers.run, workers.close)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        workers.close()
        executor.shutdown(wait=True)


@contextmanager
def dask(settings: Settings, address: str) -> Iterator[Crew]:
    """The workers of a Dask scheduler. Raises MissingDependencyError without Dask, InputError without a scheduler."""
    try:
        from distributed import Client
        from distributed.comm import resolve_address
    except ImportError as error:
        raise MissingDependencyError(
            f"--dask needs the Python package distributed, which is not in '{sys.executable}'; have its pip install it."
        ) from error
    try:
        # A client for an address of no known form fails only after it holds up the end of the process for a minute.
        resolve_address(address)
        client = Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"There is no Dask scheduler at '{address}' ({error}).") from error
    with client:
        with tempfile.TemporaryDirectory(prefix=files.WORK) as folder:
            # Also workers that join later get the file.
            for name, module in _MODULES.items():
                client.upload_file(str(shutil.copy(str(module.__file__), Path(folder, f"{name}.py"))))
        executor = client.get_executor(pure=False)
        work = partial(_sent_module().run_on_cluster, asdict(settings))
        try:
            yield Crew(executor, work, lambda: None)
        finally:
            with suppress(Exception):
                executor.shutdown(wait=False, cancel_futures=True)


def _sent_module() -> ModuleType:
    """`worker` under the name that it has on a cluster, so that its functions are found there."""
    for name, module in _MODULES.items():
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, str(module.__file__))
            assert spec is not None and spec.loader is not None
            sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
    return sys.modules[_SENT]
