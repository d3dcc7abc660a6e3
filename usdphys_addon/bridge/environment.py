# SPDX-License-Identifier: GPL-3.0-or-later
"""What this Blender can do."""

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

#: Seconds after which a thread that waits for Python asks for it with force, while others work beside Blender.
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


def beside_blender(threads: ThreadPoolExecutor, work: Callable[..., _Result], *arguments: Any) -> Future[_Result]:
    """Do work in a thread while Blender imports or exports, which lets others run meanwhile; call right before it.

    USD lets go of Python and takes it back so often that Python never notices that Blender's thread waits for it, so
    that one would hardly ever get its turn: it has to ask with force, and soon.
    """

    def work_politely() -> _Result:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_INTERVAL)
        try:
            return work(*arguments)
        finally:
            sys.setswitchinterval(interval)

    return threads.submit(work_politely)


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Python's cycle collector does not run: it would look again and again at ten thousand prims that all stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
