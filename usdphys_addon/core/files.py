# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are made beside their target, so that the target is replaced in one step or stays as it was."""

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
    """A file beside the target to write into; whatever is left of it at the end is removed.

    A .usdz is made in a folder of its own, because the names inside the package come from its file name; all other
    files must lie where the target will, because they hold paths relative to it.
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
