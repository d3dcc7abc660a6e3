# SPDX-License-Identifier: GPL-3.0-or-later
"""Children and properties of prim specs by name.

Iterating over the views `nameChildren` and `properties` takes five to ten times as long.
"""

from __future__ import annotations

from pxr import Sdf


def child_names(spec: Sdf.PrimSpec) -> list[str]:
    """Names of the children of a prim, in their order."""
    return list(spec.GetInfo("primChildren"))


def property_names(spec: Sdf.PrimSpec) -> list[str]:
    """Names of the properties of a prim, in their order."""
    return list(spec.GetInfo("properties"))


def children_of(spec: Sdf.PrimSpec) -> list[Sdf.PrimSpec]:
    """The children of a prim, in their order."""
    names = spec.GetInfo("primChildren")
    if not names:
        return []
    at, path = spec.layer.GetPrimAtPath, spec.path
    return [at(path.AppendChild(name)) for name in names]
