# SPDX-License-Identifier: GPL-3.0-or-later
"""Atomic file writing: write beside the target, then replace it in one step."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


@contextmanager
def scratch_file(target: Path) -> Iterator[Path]:
    """Yield an unused path beside the target; a file that is still there on exit is deleted.

    A .usdz gets a temporary folder, because the names inside the package come from its file name. Other files must be
    in the folder of the target, because they hold paths relative to it.
    """
    if target.suffix.lower() == ".usdz":
        folder = Path(tempfile.mkdtemp(prefix=f".{target.stem}-", dir=target.parent))
        try:
            yield folder / target.name
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    scratch = Path(name)
    scratch.unlink()
    try:
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)
