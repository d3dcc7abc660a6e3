# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the 3D view: vertex arrays without Blender, and the thin shell that hands them to the GPU."""

from __future__ import annotations


def register() -> None:
    """Handles are neither loaded nor registered without windows: a pipeline starts Blender for every file."""
    import bpy

    if not bpy.app.background:
        from . import gizmos

        gizmos.register()


def unregister() -> None:
    import bpy

    if not bpy.app.background:
        from . import gizmos

        gizmos.unregister()
