# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands a command line that needs Blender to the one that the environment variable USDPHYS_BLENDER names."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..batch.worker import BLENDER, program
from ..core.errors import NeedsBlenderError
from ..system import blender, interrupts, isolate

#: Environment variable of a child: the Blender that it runs in, which hands over to no other one.
_HANDED = "USDPHYS_HANDED_TO"
#: What a Blender writes that is asked for its commands, see `_has_command`.
_COMMAND = "usdphys"


def run_in_blender(arguments: Sequence[str], outputs: Sequence[str], refusal: NeedsBlenderError) -> int:
    """Run a command line in another Blender, with the streams of this process. Returns its exit status.

    outputs: the files that it writes; a success without one of them is none, and raises NeedsBlenderError.
    refusal: says what needs Blender. It is raised where no Blender is named, and where the child is none.
    """
    named = os.environ.get(BLENDER, "")
    if _HANDED in os.environ:
        raise NeedsBlenderError(
            f"'{os.environ[_HANDED]}', which {BLENDER} names, is a Python without bpy; name one with bpy, or a Blender."
        )
    if not named:
        raise refusal
    before = [_written(output) for output in outputs]
    command = [*program(named, isolate.ROOT if blender.has_rooms() else ""), *arguments]
    try:
        with interrupts.raised(signal.SIGINT, signal.SIGTERM):
            status = subprocess.run(command, env={**os.environ, _HANDED: named}, check=False).returncode
    except OSError as error:
        raise NeedsBlenderError(f"'{named}', which {BLENDER} names, cannot be started ({error.strerror}).") from error
    if status == 1 and command[1] == "--command" and not _has_command(named):
        raise NeedsBlenderError(f"'{named}', which {BLENDER} names, lacks the command usdphys; install the extension.")
    for output, old in zip(outputs, before, strict=True):
        if status == 0 and _written(output) in (old, None):
            raise NeedsBlenderError(
                f"'{named}', which {BLENDER} names, ended without writing '{output}'; name a Blender with this "
                "extension."
            )
    return status if status >= 0 else 128 - status


def _written(file: str) -> tuple[int, int] | None:
    """What changes when a file is written anew; None where there is none."""
    try:
        state = Path(file).stat()
    except OSError:
        return None
    return state.st_ino, state.st_mtime_ns


def _has_command(binary: str) -> bool:
    """False if a Blender that can be started does not know our command, as where the extension is not enabled."""
    done = subprocess.run([binary, "--command", "help"], capture_output=True, text=True, check=False)
    return _COMMAND in (done.stdout + done.stderr).split()
