# SPDX-License-Identifier: GPL-3.0-or-later
"""Atomic file writing: write beside the target, then replace it in one step."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import OutputError

USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


def note_of(files: Iterable[Path], folder: Path) -> str:
    """Digests of files, one a line, with their paths relative to a folder."""
    lines = []
    for file in files:
        try:
            name = os.path.relpath(file, folder)
        except ValueError:  # on another drive of Windows
            name = str(file)
        lines.append(f"{_digest(file)} {name}")
    return "\n".join(sorted(lines))


def first_changed(note: str, folder: Path) -> str:
    """The first file of `note_of` that is not as it was; empty if all are."""
    for line in note.splitlines():
        digest, _, name = line.partition(" ")
        if _digest(folder / name) != digest:
            return name
    return ""


def _digest(file: Path) -> str:
    """Digest of the content of a file; "-" if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=12)).hexdigest()
    except OSError:
        return "-"


@contextmanager
def scratch_file(target: Path) -> Iterator[Path]:
    """Yield an unused path beside the target; a file that is still there on exit is deleted.

    A .usdz gets a temporary folder, because the names inside the package come from its file name. Other files must be
    in the folder of the target, because they hold paths relative to it. Raises OutputError if it takes no files.
    """
    if target.suffix.lower() == ".usdz":
        with scratch_folder(target) as folder:
            yield folder / target.name
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent)
    except OSError as error:
        raise _unwritable(target, error) from error
    os.close(handle)
    scratch = Path(name)
    scratch.unlink()
    try:
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary folder beside the target. Raises OutputError if nothing can be written there."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=".usdphys-", dir=target.parent))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unwritable(target: Path, error: OSError) -> OutputError:
    reason = error.strerror or type(error).__name__
    return OutputError(f"'{target}' could not be written: its folder takes no files ({reason}); choose another folder.")
