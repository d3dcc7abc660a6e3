# SPDX-License-Identifier: GPL-3.0-or-later
"""Damping of bodies, which the preview reads as well, and iterations, as attributes of PhysX: UsdPhysics has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bpy.types import Object

from ..authoring import vendor_edits
from ..core import vendor_schemas

_SCHEMA, _ARTICULATION = "PhysxRigidBodyAPI", "PhysxArticulationAPI"
#: Iterations for positions that PhysX has where nothing is said, and at most.
_USUAL, MOST_ITERATIONS = 16, 255


def set_rows(obj: Object, values: dict[str, Any]) -> None:
    """Give a body attributes of PhysxRigidBodyAPI. values: by name without the prefix, in the units of the rows."""
    for name, value in values.items():
        attribute = vendor_schemas.attribute_named(_SCHEMA, f"physxRigidBody:{name}")
        assert attribute is not None, name
        vendor_edits.apply_row(obj.usdphys, _SCHEMA, attribute, value)


def iterate(objects: Iterable[Object], count: float) -> None:
    """Have PhysX iterate so often, at least, where these bodies are: joints that bear each other give way without."""
    for obj in objects:
        set_rows(obj, {"solverPositionIterationCount": max(_USUAL, min(round(count), MOST_ITERATIONS))})


def iterate_articulation(root: Object, count: int) -> None:
    """Have PhysX iterate so often for an articulation."""
    attribute = vendor_schemas.attribute_named(_ARTICULATION, "physxArticulation:solverPositionIterationCount")
    assert attribute is not None
    vendor_edits.apply_row(root.usdphys, _ARTICULATION, attribute, count)


def damp_body(obj: Object, linear: float, angular: float) -> None:
    """linear, angular: share of its speed that a body loses in each second, 1/s."""
    set_rows(obj, {"linearDamping": linear, "angularDamping": angular})
