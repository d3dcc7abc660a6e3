# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of export, one row for each program that reads the file: options, checks of the written file, further steps.

`docs/tasks/readers.md` has a section for each row, with what was tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .rules.base import Target

_USD = (".usda", ".usd", ".usdc")
_GLTF = (".glb", ".gltf")
_METRES: Mapping[str, Any] = {"meters_per_unit": 1.0, "kilograms_per_unit": 1.0}


class Reader(NamedTuple):
    """label: name of the program. suffixes: of the files that it gets, the usual one first. options: values of
    `formats.WriteOptions` that nobody has set otherwise. target: whose rules a written USD or glTF file is checked by;
    None where it has no physics that could be read again. adds: what is added to a USD file, see `usd.for_reader`.
    """

    label: str
    suffixes: tuple[str, ...]
    options: Mapping[str, Any] = MappingProxyType({})
    target: Target | None = None
    adds: tuple[str, ...] = ()


READERS: Mapping[str, Reader] = {
    "isaac": Reader(
        "Isaac / Omniverse", _USD, {**_METRES, "up_axis": "Z", "physx_attributes": True}, "physx", ("isaac_robot",)
    ),
    "newton": Reader("Newton", _USD, {**_METRES, "up_axis": "Z"}, "newton"),
    "mujoco": Reader("MuJoCo", (".xml", *_USD), {**_METRES, "up_axis": "Z"}, "mujoco"),
    "houdini": Reader("Houdini", _USD, {**_METRES, "up_axis": "Y"}, "usd"),
    "godot": Reader(
        "Godot", _GLTF, {"families": "OMI", "hierarchy": "flat", "godot_capsules": True}, "godot"
    ),
    "web": Reader("Web (KHR)", _GLTF, {"families": "KHR", "hierarchy": "flat"}, "havok"),
    "unreal": Reader("Unreal", (".fbx", ".glb")),
    "apple": Reader("Apple AR", (".usdz", *_USD), {**_METRES, "up_axis": "Y"}, "usd", ("apple",)),
}  # fmt: skip
