# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of the add-on in each scene, object and material with physics: a stamp. See `migrations` for its use.

A stamp says which version wrote the stored names, so a newer one is never lowered. An override has that of its library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import bpy
from bpy.types import PropertyGroup

from ...core.words import named
from ...system.version import Order, addon_version, order

#: The property of the stamp, in the groups of objects, scenes and materials.
STAMP = "version"
#: The group of our properties on a data-block.
GROUP = "usdphys"
#: The version of data from before there were stamps.
OLDEST = "0.0.0-0"


def owners() -> Iterator[Any]:
    """The data-blocks of the open file whose properties of ours were ever touched, linked ones too.

    There is none while the properties are not registered: at its end, Python unregisters them first.
    """
    if not hasattr(bpy.types.Object, GROUP):
        return
    kinds: tuple[Any, ...] = (bpy.data.scenes, bpy.data.objects, bpy.data.materials)
    for kind in kinds:
        for owner in kind:
            # Reading an unset group creates it.
            if owner.is_property_set(GROUP):
                yield owner


def stamp_of(owner: Any) -> str:
    """The version in a data-block; empty without one, and for text that is no version."""
    version = str(owner.usdphys.version) if owner.is_property_set(GROUP) else ""
    return version if _order_of(version) is not None else ""


@cache
def _order_of(version: str) -> Order | None:
    try:
        return order(version)
    except ValueError:
        return None


@cache
def is_newer(version: str) -> bool:
    """True for the version of an add-on that is newer than this one."""
    own_order = _order_of(version)
    return own_order is not None and own_order > order(addon_version())


def newer_message(found: Mapping[str, str]) -> str:
    """What a user is told of data-blocks that newer versions have saved. found: version by name."""
    return (
        f"{named(found)}: saved by USD Physics {newest(found.values())}, which is newer than this {addon_version()}; "
        "settings that only the newer one knows are kept and have no effect."
    )


def newest(versions: Iterable[str]) -> str:
    """The newest of some versions; the oldest of all if there is none."""
    return max((version for version in versions if version), key=order, default=OLDEST)


def mark(owner: Any) -> None:
    """Stamp a data-block with the version of this add-on, unless a newer one has saved it.

    Linked data and overrides keep the stamp of their library.
    """
    if owner.library is not None or owner.override_library is not None:
        return
    if not is_newer(owner.usdphys.version):
        owner.usdphys.version = addon_version()


def mark_all() -> None:
    """Stamp all of the open file that has physics."""
    now = addon_version()
    for owner in owners():
        if owner.usdphys.version != now and holds_values(owner.usdphys):
            mark(owner)


def holds_values(group: PropertyGroup) -> bool:
    """True if a property is set in a group or in the groups and lists below it, other than a stamp.

    A panel that shows an object makes empty groups, which are no physics.
    """
    for name in group.keys():
        if name == STAMP:
            continue
        value = group[name]
        if hasattr(value, "keys") and not isinstance(value, bpy.types.ID):
            if holds_values(value):
                return True
        elif not isinstance(value, list) or value:
            return True
    return False
