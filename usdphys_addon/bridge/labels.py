# SPDX-License-Identifier: GPL-3.0-or-later
"""What panels call a property, by its data path."""

from __future__ import annotations

from typing import Any

from bpy.types import ID

from .vendor_rows import VendorRow, attribute_of


def label_of(owner: ID, path: str) -> str:
    """The English label of a property of a data-block; of the attribute that a row of a vendor holds. The last part of
    a path that leads nowhere."""
    home, _, field = path.rpartition(".")
    try:
        group: Any = owner.path_resolve(home) if home else owner
        attribute = attribute_of(group) if isinstance(group, VendorRow) else None
        return str(attribute.label if attribute is not None else group.bl_rna.properties[field].name)
    except (ValueError, KeyError):
        return field
