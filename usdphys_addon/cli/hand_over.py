# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands a command line that needs Blender to the one that the environment variable USDPHYS_BLENDER names."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence

from ..batch.worker import BLENDER, program
from ..core.errors import NeedsBlenderError
from ..system import blender, interrupts, isolate

#: Environment variable of a child: the Blender that it runs in, which hands over to no other one.
_HANDED = "USDPHYS_HANDED_TO"
#: What a Blender writes that is asked for its commands, see `_has_command`.
_COMMAND = "usdphys"


def run(arguments: Sequence[str], refusal: NeedsBlenderError) -> int:
    """Run a command line in another Blender, with the streams of this process. Returns its exit status.

    refusal: says what needs Blender. It is raised where no Blender is named, and where the child is none.
    """
    named = os.environ.get(BLENDER, "")
    if _HANDED in os.environ:
        raise NeedsBlenderError(
            f"'{os.environ[_HANDED]}', which {BLENDER} names, is a Python without bpy; name one with bpy, or a Blender."
        )
    if not named:
        raise refusal
    command = [*program(named, isolate.ROOT if blender.has_rooms() else ""), *arguments]
    try:
        with interrupts.raised(signal.SIGINT, signal.SIGTERM):
            status = subprocess.run(command, env={**os.environ, _HANDED: named}, check=False).returncode
    except OSError as error:
        raise NeedsBlenderError(f"'{named}', which {BLENDER} names, cannot be started ({error.strerror}).") from error
    if status == 1 and command[1] == "--command" and not _has_command(named):
        raise NeedsBlenderError(f"'{named}', which {BLENDER} names, lacks the command usdphys; install the extension.")
    return status if status >= 0 else 128 - status


def _has_command(binary: str) -> bool:
    """False if a Blender that can be started does not know our command, as where the extension is not enabled."""
    done = subprocess.run([binary, "--command", "help"], capture_output=True, text=True, check=False)
    return _COMMAND in (done.stdout + done.stderr).split()
