# SPDX-License-Identifier: GPL-3.0-or-later
"""What a URDF holds beyond its specification: unknown attributes and elements, as notes and prims that keep them.

Names follow "URDF to USD Conceptual Data Mapping", appendix F: strings in the namespace `urdf`. The prims have no type,
because Blender shows a Scope as an object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .markup import Element

Known = tuple[set[str], dict[str, Any]]
_POSE: dict[str, Known] = {"origin": ({"xyz", "rpy", "quat_xyzw"}, {})}
_LOOK: dict[str, Known] = {"color": ({"rgba"}, {}), "texture": ({"filename"}, {})}
_GEOMETRY: dict[str, Known] = {
    "geometry": (set(), {
        "box": ({"size"}, {}), "sphere": ({"radius"}, {}), "cylinder": ({"radius", "length"}, {}),
        "capsule": ({"radius", "length"}, {}), "mesh": ({"filename", "scale"}, {}),
    }),
}  # fmt: skip
#: Attributes and children of the elements that are read, by tag.
MATERIAL: Known = ({"name"}, _LOOK)
LINK: Known = ({"name"}, {
    "inertial": (set(), {
        **_POSE, "mass": ({"value"}, {}), "inertia": ({"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}, {}),
    }),
    "visual": ({"name"}, {**_POSE, **_GEOMETRY, "material": MATERIAL}),
    "collision": ({"name"}, {**_POSE, **_GEOMETRY}),
})  # fmt: skip
JOINT: Known = ({"name", "type"}, {
    **_POSE, "parent": ({"link"}, {}), "child": ({"link"}, {}), "axis": ({"xyz"}, {}),
    "limit": ({"lower", "upper", "effort", "velocity"}, {}), "dynamics": ({"damping", "friction"}, {}),
    "mimic": ({"joint", "multiplier", "offset"}, {}),
    "calibration": ({"rising", "falling", "reference_position"}, {}),
    "safety_controller": ({"soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"}, {}),
})  # fmt: skip
ROBOT: Known = ({"name", "version"}, {})
_NO_WORD = re.compile(r"[^A-Za-z0-9_]")


def attributes(element: Element, known: Known, above: str = "") -> Iterator[tuple[str, str]]:
    """(name such as urdf:axis:foo, text) of the unknown attributes in an element and its known children."""
    for name, value in element.attributes.items():
        if name not in known[0] and not name.startswith("xmlns"):
            yield f"urdf:{above}{_NO_WORD.sub('_', name)}", value
    for child in element.children:
        if child.tag in known[1]:
            yield from attributes(child, known[1][child.tag], f"{above}{child.tag}:")


def known_texts(element: Element, known: Known) -> Iterator[str]:
    """The texts of the known attributes in an element and its known children."""
    yield from (value for name, value in element.attributes.items() if name in known[0])
    for child in element.children:
        if child.tag in known[1]:
            yield from known_texts(child, known[1][child.tag])


def elements(element: Element, known: Known) -> Iterator[Element]:
    """The unknown elements in an element and in its known children."""
    for child in element.children:
        if child.tag in known[1]:
            yield from elements(child, known[1][child.tag])
        else:
            yield child


def strings(element: Element) -> Iterator[tuple[str, str]]:
    """(name, text) of all attributes and of the text of an unknown element."""
    for name, value in element.attributes.items():
        yield f"urdf:{_NO_WORD.sub('_', name)}", value
    if element.text.strip():
        yield "urdf:text", element.text.strip()
