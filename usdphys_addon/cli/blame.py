# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is to blame for an error that no command foresaw: the disk, the machine, or this program."""

from __future__ import annotations

import sys

from ..system import blender
from ..system.files import trouble_of_the_disk


def judged(error: BaseException, subject: str) -> tuple[str, bool]:
    """(a sentence, whether it is a fault of this program). subject: name of a file, in quotes."""
    if isinstance(error, MemoryError):
        return f"{subject} needs more memory than there is.", False
    if trouble := trouble_of_the_disk(error):
        return f"{subject} could not be handled ({trouble}); no output was written.", False
    if isinstance(error, ImportError) and (missing := blender.trouble()):
        return (
            f"{subject} needs Blender, and the bpy of '{sys.executable}' cannot be loaded ({missing}); install what it "
            "needs, or name another Blender in USDPHYS_BLENDER."
        ), False
    reason = " ".join(str(error).split())[:200]
    return (
        f"{subject} could not be handled, which is a fault of this program ({type(error).__name__}: {reason}); run it "
        "again with --debug and report what it says."
    ), True
