# SPDX-License-Identifier: GPL-3.0-or-later
"""USD in this Blender, and redraws."""

from __future__ import annotations

from typing import Any

import bpy

from ..core.errors import MissingDependencyError

NO_USD = "This Blender was built without USD: it reads and writes no USD and URDF files; use a Blender from blender.org"


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
