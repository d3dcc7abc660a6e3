# SPDX-License-Identifier: GPL-3.0-or-later
"""Library overrides of physics survive saving.

In a saved override, Blender 5.0 and later loses the values of property groups that the library's object never had.
So these groups are created there, which reading them does.
"""

from __future__ import annotations

from typing import Any

import bpy

from ...worker.handlers import Handlers


def _make_groups(local: Any, reference: Any) -> None:
    """Make, on the object of the library, every group that the override has set."""
    for item in local.bl_rna.properties:
        if item.identifier == "rna_type" or item.type != "POINTER" or not local.is_property_set(item.identifier):
            continue
        value = getattr(reference, item.identifier)
        if isinstance(value, bpy.types.PropertyGroup):
            _make_groups(getattr(local, item.identifier), value)


def keep_overrides(*_: Any) -> None:
    """Runs before every save."""
    owners: tuple[Any, ...] = (bpy.data.objects, bpy.data.materials, bpy.data.scenes)
    for blender_ids in owners:
        for local in blender_ids:
            override = local.override_library
            if override is not None and override.reference is not None:
                _make_groups(local.usdphys, override.reference.usdphys)


_handlers = Handlers(("save_pre", keep_overrides))
register, unregister = _handlers.register, _handlers.unregister
