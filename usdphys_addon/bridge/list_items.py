# SPDX-License-Identifier: GPL-3.0-or-later
"""Items of the lists of properties, which animation names by their numbers."""

from __future__ import annotations

from typing import Any


def remove_item(items: Any, index: int) -> None:
    """Remove an item of a list of ours, and its animation; that of later items follows them to their new places."""
    item = items[index]
    owner, home = item.id_data, item.path_from_id().rpartition("[")[0]
    items.remove(index)
    data = owner.animation_data
    if data is None:
        return
    collections = [data.drivers]
    pairs = {(strip.action, strip.action_slot) for track in data.nla_tracks for strip in track.strips}
    for action, slot in pairs | {(data.action, data.action_slot)}:
        for layer in action.layers if action is not None and slot is not None and action.is_editable else ():
            bags = (strip.channelbag(slot) for strip in layer.strips)
            collections += [bag.fcurves for bag in bags if bag is not None]
    for curves in collections:
        for curve in list(curves):
            number, end, rest = curve.data_path.removeprefix(f"{home}[").partition("]")
            if not end or not curve.data_path.startswith(f"{home}[") or not number.isdecimal():
                continue
            if int(number) == index:
                curves.remove(curve)
            elif int(number) > index:
                curve.data_path = f"{home}[{int(number) - 1}]{rest}"
