# SPDX-License-Identifier: GPL-3.0-or-later
"""Python's garbage collector: paused while very many objects are made, and told what it need not look at again."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Not empty once `freeze` was called.
_frozen: list[bool] = []


@contextmanager
def gc_paused(*, ages: bool = False) -> Iterator[None]:
    """Pause the garbage collector: it would traverse ten thousand prims again and again, all of them in use.

    ages: see `age_objects`.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if ages:
                age_objects()
            gc.enable()


def age_objects() -> None:
    """Have all objects count as old, after a pause in which very many were made.

    Else the collector traverses them as one young generation as soon as it works again, which takes longer than what
    the pause has saved. Not for what happens many times a minute: it also puts off the next look at the old ones.
    """
    if not is_frozen():
        gc.freeze()
        gc.unfreeze()


def freeze() -> None:
    """Have the collector leave out what is alive now, until `unfreeze` or the end of the process."""
    if not _frozen:
        _frozen.append(True)
        # Blender 4.5 as a module hangs at exit where the collector does not free what holds it.
        atexit.register(unfreeze)
    gc.freeze()


def unfreeze() -> None:
    """Have the collector look at all objects again."""
    _frozen.clear()
    gc.unfreeze()


def is_frozen() -> bool:
    """Whether the collector leaves out objects. Asking Python counts all of them: 12 ms once Blender is loaded."""
    return bool(_frozen) or gc.get_freeze_count() > 0
