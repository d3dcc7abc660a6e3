# SPDX-License-Identifier: GPL-3.0-or-later
"""USD in this Blender, redraws, threads and the garbage collector."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import bpy

from ..core.errors import MissingDependencyError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_Result = TypeVar("_Result")

#: Seconds after which a waiting thread requests the GIL, while another works; Python's default is 5 ms.
_SWITCH_INTERVAL = 5e-6

NO_USD = "This Blender was built without USD, so nothing can be exported; use a Blender from blender.org"


def redraw(*area_types: str) -> None:
    """Have Blender draw all editors of these types again, in every window."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type in area_types:
                area.tag_redraw()


def usd_is_supported() -> bool:
    app: Any = bpy.app
    return bool(app.usd.supported)


def expose_pxr() -> None:
    """Make the Python modules of USD that Blender bundles importable."""
    if hasattr(bpy.utils, "expose_bundled_modules"):
        bpy.utils.expose_bundled_modules()


def require_usd() -> None:
    """Raise MissingDependencyError where this Blender was built without USD; make its pxr importable."""
    if not usd_is_supported():
        raise MissingDependencyError(f"{NO_USD}.")
    expose_pxr()
    try:
        import pxr.Usd  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            f"The Python modules of USD are missing from this Blender ({error}); use a Blender from blender.org."
        ) from error


def run_in_thread(threads: ThreadPoolExecutor, work: Callable[..., _Result], *arguments: Any) -> Future[_Result]:
    """Work in a thread while Blender imports or exports, which releases the GIL; call this right before.

    pxr releases and retakes the GIL so often that Blender's thread would starve: each release restarts the interval
    after which a waiting thread requests the GIL. So the interval is shortened while the work lasts.
    """

    def with_short_switch_interval() -> _Result:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_INTERVAL)
        try:
            return work(*arguments)
        finally:
            sys.setswitchinterval(interval)

    return threads.submit(with_short_switch_interval)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector: it would traverse ten thousand prims again and again, all of them in use."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
