# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlays, handles and read-outs. Vertex arrays are computed without Blender; a thin layer draws them on the GPU."""

from __future__ import annotations


def register() -> None:
    """Register what draws. Without windows do nothing: it would slow the start of a background process."""
    import bpy

    if not bpy.app.background:
        from . import contact_forces, energy_plot, gizmos, joint_loads, overlay, twin_overlay

        overlay.register()
        joint_loads.register()
        contact_forces.register()
        energy_plot.register()
        twin_overlay.register()
        gizmos.register()


def unregister() -> None:
    import bpy

    if not bpy.app.background:
        from . import contact_forces, energy_plot, gizmos, joint_loads, overlay, twin_overlay

        gizmos.unregister()
        twin_overlay.unregister()
        energy_plot.unregister()
        contact_forces.unregister()
        joint_loads.unregister()
        overlay.unregister()
