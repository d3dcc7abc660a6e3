# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: draw properties and cached results, compute nothing."""

from __future__ import annotations

from typing import Any

import bpy

from . import (
    material_physics,
    object_physics,
    preview,
    scene_physics,
)

CLASSES: tuple[Any, ...] = (
    *object_physics.CLASSES,
    *scene_physics.CLASSES,
    *material_physics.CLASSES,
    *preview.CLASSES,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
