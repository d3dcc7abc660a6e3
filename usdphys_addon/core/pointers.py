# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that Git LFS keeps elsewhere: a checkout without them has three lines of text in place of each."""

from __future__ import annotations

import stat
from pathlib import Path

from .errors import PointerError

_START = b"version https://git-lfs.github.com/spec/"
#: Bytes that a pointer has at most.
_LONGEST = 1024
FIX = "Run 'git lfs pull' in its repository."


def is_pointer(data: bytes | str) -> bool:
    """True if the content of a file is that of a pointer."""
    return len(data) <= _LONGEST and (data.encode() if isinstance(data, str) else data).startswith(_START)


def is_pointer_file(path: str | Path) -> bool:
    """The same of a file; False where it cannot be read, or is a device or a pipe, whose end would never come."""
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST:
            return False
        return is_pointer(Path(path).read_bytes())
    except (OSError, ValueError):
        return False


def refuse(data: bytes | str, name: str) -> None:
    """Raise PointerError, naming the file, where its content is a pointer."""
    if is_pointer(data):
        raise PointerError(
            f"'{name}' is a pointer of Git LFS, and not the file itself; run 'git lfs pull' in its repository."
        )


def refuse_file(path: Path) -> None:
    """The same for a file."""
    if is_pointer_file(path):
        refuse(_START, path.name)
