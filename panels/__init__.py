# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: draw properties and cached results, compute nothing."""

from __future__ import annotations

from typing import Any

import bpy

from . import (
    action_bar,
    checks,
    inspector,
    joint_tools,
    material_physics,
    object_physics,
    overlays,
    preview,
    scene_physics,
    structure,
)

CLASSES: tuple[Any, ...] = (
    *action_bar.CLASSES,
    *checks.CLASSES,
    *object_physics.CLASSES,
    *scene_physics.CLASSES,
    *material_physics.CLASSES,
    *preview.CLASSES,
    *joint_tools.CLASSES,
    *overlays.CLASSES,
    *inspector.CLASSES,
    *structure.CLASSES,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    action_bar.register()
    overlays.register()


def unregister() -> None:
    overlays.unregister()
    action_bar.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
