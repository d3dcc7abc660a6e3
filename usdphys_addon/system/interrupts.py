# SPDX-License-Identifier: GPL-3.0-or-later
"""What ends a command before its time: Ctrl C, and the request of the system to end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

#: Exit status of a command that was interrupted.
STATUS = 130
#: Seconds until it is looked again whether an operator or an import has ended.
_AGAIN = 0.05


@contextmanager
def raised(*numbers: int) -> Iterator[None]:
    """Have these signals raise KeyboardInterrupt. Blender has handlers of its own."""

    def stop(_number: int, _frame: Any) -> NoReturn:
        raise KeyboardInterrupt

    with _handled(stop, numbers):
        yield


@contextmanager
def between_operators(say: Callable[[], None]) -> Iterator[None]:
    """Have Ctrl C raise KeyboardInterrupt, but in a script that Blender itself runs, where it would be lost.

    While Blender is loaded, it ends the process at once: nothing is written yet, and an exception crashes Blender.
    While an operator runs or a module is imported, it waits for the end of that. say: tells the user.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        while frame is not None:
            code = frame.f_code
            is_import = code.co_name == "_find_and_load"
            if is_import and frame.f_locals.get("name") == "bpy":
                say()
                os._exit(STATUS)
            if is_import or Path(code.co_filename).parts[-2:] == ("bpy", "ops.py"):
                again = threading.Timer(_AGAIN, signal.raise_signal, (number,))
                again.daemon = True
                again.start()
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    # A handler that is not Python's own was set by whom this process belongs to.
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with _handled(stop, (signal.SIGINT,) if is_ours else ()):
        yield


@contextmanager
def _handled(stop: Callable[[int, FrameType | None], None], numbers: tuple[int, ...]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: a handler that Python does not know.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
