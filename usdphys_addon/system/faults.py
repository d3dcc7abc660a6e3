# SPDX-License-Identifier: GPL-3.0-or-later
"""The last errors of the add-on in this session, for a bug report. Kept in memory, and nowhere else."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable
from functools import wraps
from pathlib import Path
from typing import Any

from ..core.errors import UsdPhysError

_ROOT = str(Path(__file__).resolve().parents[2])
#: Characters that are kept: the end of a traceback, which says most.
_MOST = 8000
#: The last traceback, and the last sentence by which the user was refused: the second does not replace the first.
_last = {"fault": "", "refusal": ""}


def note(error: BaseException) -> None:
    """Remember an error: what the user is told in a sentence as that, others with their traceback."""
    if isinstance(error, UsdPhysError):
        _last["refusal"] = without_home(str(error))[-_MOST:]
    else:
        _last["fault"] = without_home("".join(traceback.format_exception(error)).strip())[-_MOST:]


def tell() -> None:
    """Remember the exception that is being handled, and print its traceback."""
    error = sys.exception()
    if error is not None:
        note(error)
    traceback.print_exc()


def last_fault() -> str:
    """The traceback of the last error that nobody foresaw; empty if there was none."""
    return _last["fault"]


def last_refusal() -> str:
    """The last sentence that said why something was not done; empty if there was none."""
    return _last["refusal"]


def forget() -> None:
    _last.update(fault="", refusal="")


def without_home(text: str) -> str:
    """A text that names neither the folder of the add-on nor that of the user: reports are read by strangers."""
    return text.replace(_ROOT, "usdphys_addon").replace(str(Path.home()), "~")


def watch(cls: Any, names: Iterable[str]) -> None:
    """Remember what these methods of a class of Blender raise, which goes on as it is. Methods it lacks are skipped."""
    for name in names:
        method = getattr(cls, name, None)
        if method is not None:
            setattr(cls, name, _with_event(method) if name in ("invoke", "modal") else _without_event(method))


# Blender counts the parameters of methods when it registers a class: *arguments would be none.


def _without_event(method: Any) -> Any:
    @wraps(method)
    def watched(self: Any, context: Any) -> Any:
        try:
            return method(self, context)
        except Exception as error:
            note(error)
            raise

    return watched


def _with_event(method: Any) -> Any:
    @wraps(method)
    def watched(self: Any, context: Any, event: Any) -> Any:
        try:
            return method(self, context, event)
        except Exception as error:
            note(error)
            raise

    return watched
